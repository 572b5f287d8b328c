#!/bin/sh
# What configures the driver counts: variables by Mesa's own names for its
# options, and its files of options. Going back finds the earlier results.
. "$SRCDIR/tests/lib.sh"
need_egl

mkdir -p settings-home
HOME=$PWD/settings-home
export HOME
unset XDG_CONFIG_HOME DRIRC_CONFIGDIR
cat > stbuild.json <<'X'
{ "format": 1, "project": { "name": "d" },
  "render": { "width": 8, "height": 4 },
  "pass": [{ "name": "image", "kind": "image", "source": "image.frag" }],
  "trace": [{ "name": "t", "frame": 0 }] }
X
echo 'void mainImage(out vec4 c, in vec2 p) { c = vec4(p / 8.0, 0.5, 1.0); }' > image.frag
expect_status 0 "$STBUILD"
sleep 2.2
expect_status 0 "$STBUILD"
expect_status 0 "$STBUILD" -q

for name in force_glsl_abs_sqrt mesa_some_future_option __GL_SOMETHING \
	SOME_DRIVER_DEBUG; do
	expect_status 1 env "$name=true" "$STBUILD" -q
	expect_status 0 env "$name=true" "$STBUILD"
	expect_text err "env.$name"
	expect_status 0 env "$name=true" "$STBUILD" -q
	capture 0 0
done
for name in http_proxy npm_config_cache LP_NUM_THREADS EDITOR; do
	expect_status 0 env "$name=1" "$STBUILD" -q
done

for file in settings-home/.drirc settings-home/.config/drirc; do
	mkdir -p "${file%/*}"
	cat > "$file" <<'X'
<driconf><device><application name="all">
<option name="force_glsl_abs_sqrt" value="true"/>
</application></device></driconf>
X
	expect_status 1 "$STBUILD" -q
	expect_status 0 "$STBUILD"
	expect_status 0 "$STBUILD" -q
	rm "$file"
	capture 0 0
done

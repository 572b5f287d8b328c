#!/bin/sh
# A bundle renders again from itself alone, bit for bit.

. "$SRCDIR/tests/lib.sh"
need_egl
need_tool sha256sum

# A picture to use as a texture.
mkdir texture && cd texture
cat >stbuild.json <<'JSON'
{ "format": 1, "project": { "name": "texture" },
  "render": { "width": 8, "height": 4 },
  "pass": [ { "name": "image", "kind": "image", "source": "image.frag" } ] }
JSON
cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = vec4(p / vec2(8.0, 4.0), 0.5, 1.0);
}
GLSL
capture 0 1 --frame 0
cd ..

mkdir -p project/lib && cd project
cp ../texture/target/traces/default@0.sttrace/final.png texture.png
cat >stbuild.json <<'JSON'
{
	"format": 1,
	"project": { "name": "replay me" },
	"render": { "width": 20, "height": 10, "fps": 24, "date": "2020-02-29T12:00:00" },
	"shader": { "common": "lib/common.glsl" },
	"uniform": [
		{ "name": "gain", "type": "float", "default": 0.25 },
		{ "name": "on", "type": "bool", "default": true },
		{ "name": "shift", "type": "vec3", "default": [ 0.1, 0.2, 0.3 ] }
	],
	"asset": [ { "name": "t", "kind": "texture", "path": "texture.png", "vflip": true } ],
	"pass": [
		{ "name": "Image", "kind": "image", "source": "image.frag", "input": [
			{ "channel": 0, "source": "sim", "filter": "nearest", "wrap": "clamp" },
			{ "channel": 1, "source": "t", "filter": "mipmap" },
			{ "channel": 2, "source": "small b", "output": 1 },
			{ "channel": 3, "source": "music" } ] },
		{ "name": "sim", "kind": "buffer", "source": "sim.frag", "input": [
			{ "channel": 0, "source": "sim", "frame": "previous" },
			{ "channel": 1, "source": "keyboard" } ] },
		{ "name": "small b", "kind": "buffer", "source": "b.frag", "width": 7,
			"height": 5, "format": "rgba16f", "extra_outputs": [ "r32f" ],
			"input": [ { "channel": 2, "source": "sim" } ] }
	],
	"preset": { "tiny": { "render_scale": 0.5, "pass": { "small b": { "width": 3, "height": 3 } } } },
	"trace": [
		{ "name": "hero", "frames": [ 0, 7 ], "include_intermediates": true },
		{ "name": "tiny", "frame": 3, "preset": "tiny", "set": { "gain": 1, "on": false } },
		{ "name": "led", "frame": 5, "timeline": [
			{ "frame": 2, "mouse": [ 5, 5, 5, 5 ], "set": { "gain": 0.5 } } ] }
	]
}
JSON
cat >lib/common.glsl <<'GLSL'
#define SCALE 0.125
float wave(vec2 p) { return 0.5 + 0.5 * sin(p.x * 1.7 + p.y * 2.3); }
GLSL
cat >lib/more.glsl <<'GLSL'
vec3 more(vec3 x) { return x * 0.5 + shift; }
GLSL
cat >image.frag <<'GLSL'
#include "lib/more.glsl"
void mainImage(out vec4 c, in vec2 p)
{
	vec2 uv = p / iResolution.xy;
	c.rgb = texture(iChannel0, uv).rgb * SCALE + texture(iChannel1, uv * 3.0).rgb * gain;
	c.rgb += more(texture(iChannel2, uv).rrr) + texture(iChannel3, uv).rrr * 0.1;
	c.rgb *= on ? 1.0 : 0.5;
	c.b = fract(iDate.w / 100.0) + iMouse.x / 100.0;
}
GLSL
cat >sim.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = texelFetch(iChannel0, ivec2(p), 0) * 0.9 + wave(p + iTime) + texelFetch(iChannel1, ivec2(65, 0), 0);
}
GLSL
cat >b.frag <<'GLSL'
layout(location = 1) out vec4 second;
void mainImage(out vec4 c, in vec2 p)
{
	c = texture(iChannel2, p / iResolution.xy);
	second = c.gggg;
}
GLSL
expect_status 0 "$STBUILD" --json
expect_json out counts.traces_built 4
cd ..

# Elsewhere, without the project, its store, and from a folder of no project.
mkdir away
mv project/target/traces away/traces
rm -r project texture
cd away
for name in hero@0 hero@7 tiny@3 led@5; do
	expect_status 0 "$STBUILD" replay traces/$name.sttrace --json
	expect_json out ok true
	expect_json out action replay
	expect_json out exact true
	expect_json out rmse 0
	expect_json out state_valid true
	expect_json out state_difference null
	expect_json out driver_equal true
	expect_json out output null
	expect_json out frame ${name#*@}
	[ "$("$JSONQ" traces/$name.sttrace/trace.json git)" = null ] ||
		fail 'a git section without git'
done
expect_status 0 "$STBUILD" replay traces/hero@7.sttrace/trace.json
expect_text out 'picture bit-exact, state equal, same driver'
expect_equal "$(ls -A)" 'err
out
traces' 'a replay leaves nothing behind'

# The picture.
expect_status 0 "$STBUILD" replay traces/led@5.sttrace -o again.png --json
expect_json out output again.png
expect_same again.png traces/led@5.sttrace/final.png

# In folders that are made for it; one that cannot be written costs no verdict.
expect_status 0 "$STBUILD" replay traces/led@5.sttrace -o deep/er/x.png
expect_same deep/er/x.png again.png
expect_status 3 "$STBUILD" replay traces/led@5.sttrace -o again.png/x.png
expect_text out 'picture bit-exact, state equal, same driver'
expect_text err again.png
expect_status 3 "$STBUILD" replay traces/led@5.sttrace -o deep --json
expect_json out ok false
expect_json out exact true
expect_json out output null
expect_text err deep
[ -n "$("$JSONQ" out error.message)" ] || fail 'no reason'

# An import of it is that project again.
expect_status 0 "$STBUILD" import traces/hero@7.sttrace -o imported
expect_status 0 "$STBUILD" -C imported check
expect_status 0 "$STBUILD" -C imported --json --frame 7
expect_same imported/target/traces/default@7.sttrace/final.png traces/hero@7.sttrace/final.png
expect_status 0 "$STBUILD" inspect imported/target/traces/default@7.sttrace

# Another driver: told, and no failure by itself.
bundle=traces/hero@7.sttrace
cp -R $bundle kept
identity=$("$JSONQ" $bundle/trace.json driver.identity)
edit $bundle/trace.json "s/$identity/0000000000000000000000000000000000000000000000000000000000000000/"
expect_status 0 "$STBUILD" replay $bundle --json
expect_json out driver_equal false
expect_json out exact true
expect_status 0 "$STBUILD" replay $bundle
expect_text out 'different driver'

# Bytes that are not as recorded.
for file in final.png project.sttf state.ststate passes/sim-output-0.rgba32f; do
	rm -r $bundle && cp -R kept $bundle
	size=$(wc -c <$bundle/$file)
	head -c $((size - 1)) kept/$file >$bundle/$file
	printf x >>$bundle/$file
	expect_status 1 "$STBUILD" inspect $bundle
	expect_text err $file
	expect_status 1 "$STBUILD" replay $bundle --json
	expect_json out ok false
	rm $bundle/$file
	expect_status 1 "$STBUILD" replay $bundle
	expect_text err $file
done

hash_of()
{
	sha256sum <"$1" | cut -d' ' -f1
}

# forge FILE: the document says of it what it is now.
forge()
{
	edit $bundle/trace.json "s/$(hash_of "kept/$1")/$(hash_of $bundle/"$1")/"
	old=$(wc -c <"kept/$1") new=$(wc -c <$bundle/"$1")
	[ "$old" = "$new" ] || edit $bundle/trace.json \
		"s/\(\"bytes\":[^0-9]*\)$old\([^0-9]\)/\1$new\2/"
}

# A picture of something else, verified as it is: it differs.
rm -r $bundle && cp -R kept $bundle
cp traces/hero@0.sttrace/final.png $bundle/final.png
forge final.png
expect_status 0 "$STBUILD" inspect $bundle
expect_status 1 "$STBUILD" replay $bundle --json
expect_json out ok false
expect_json out exact false
expect_json out state_valid true
[ "$("$JSONQ" out rmse)" != 0 ] || fail "no difference: $(cat out)"
# A state with another content under the same header.
rm -r $bundle && cp -R kept $bundle
head -c $(($(wc -c <kept/state.ststate) - 1)) kept/state.ststate >$bundle/state.ststate
printf '\001' >>$bundle/state.ststate
forge state.ststate
expect_status 0 "$STBUILD" inspect $bundle
expect_status 1 "$STBUILD" replay $bundle --json
expect_json out exact true
expect_json out state_valid false
expect_text out "small b"

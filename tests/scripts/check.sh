#!/bin/sh
# Everything that is wrong is told, with its place; nothing is drawn.

. "$SRCDIR/tests/lib.sh"
need_egl

mkdir s
write_manifest()
{
	cat >stbuild.json <<JSON
{
	"format": 1,
	"project": { "name": "c" },
	"uniform": [ { "name": "level", "type": "float", "default": 1 } ],
	$1
	"pass": [
		{ "name": "image", "kind": "image", "source": "s/image.frag",
			"input": [ { "channel": 0, "source": "a" } ] },
		{ "name": "a", "kind": "buffer", "source": "s/a.frag" }
	]
}
JSON
}
write_manifest ''
cat >s/image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = level * texelFetch(iChannel0, ivec2(p), 0);
}
GLSL
cat >s/a.frag <<'GLSL'
#include "lib.glsl"
void mainImage(out vec4 c, in vec2 p)
{
	c = vec4(shade(p), 1.0);
}
GLSL
cat >s/lib.glsl <<'GLSL'
vec3 shade(vec2 p)
{
	return vec3(p, 0.0);
}
GLSL

expect_status 0 "$STBUILD" check
expect_text out 'c: 2 passes, 0 assets, 0 warnings'
[ ! -e .stbuild ] || fail 'check made a store'
expect_status 0 "$STBUILD" check --json
expect_json out ok true
expect_json out counts.programs_compiled 2

# A store that is there remembers, good and bad.
mkdir .stbuild
expect_status 0 "$STBUILD" check --json
expect_json out counts.programs_compiled 2
expect_status 0 "$STBUILD" check --json
expect_json out counts.programs_compiled 0
printf '// a comment\n' >>s/image.frag
expect_status 0 "$STBUILD" check --json
expect_json out counts.programs_compiled 0

# Every shader at fault, in the included file, with the line quoted.
printf 'vec3 shade(vec2 p)\n{\n\treturn vec3(p, nothing);\n}\n' >s/lib.glsl
sed 's/level/absent/' s/image.frag >image && cp image s/image.frag
for _ in first again; do
	expect_status 1 "$STBUILD" check --json
	expect_json out ok false
	expect_json out 'errors#' 2
	expect_json out 'errors[0].file' s/image.frag
	expect_json out 'errors[0].line' 3
	expect_json out 'errors[1].file' s/lib.glsl
	expect_json out 'errors[1].line' 3
	expect_text err 'return vec3(p, nothing);'
	expect_text err 's/lib.glsl:3'
done
sed 's/absent/level/' s/image.frag >image && cp image s/image.frag

# Broken sources are found without the machine: status 2, all of them.
cat >s/a.frag <<'GLSL'
#include "gone.glsl"
GLSL
printf '#include <angled>\n' >s/image.frag
expect_status 2 "$STBUILD" check --json
expect_json out 'errors#' 2
expect_json out 'errors[0].file' s/image.frag
expect_json out 'errors[1].file' s/a.frag
expect_json out 'errors[1].line' 1

# Assets are decoded.
printf 'void mainImage(out vec4 c, in vec2 p) { c = vec4(1.0); }\n' >s/a.frag
printf 'void mainImage(out vec4 c, in vec2 p) { c = texture(iChannel0, p); }\n' >s/image.frag
echo 'no picture' >t.png
write_manifest '"asset": [ { "name": "t", "kind": "texture", "path": "t.png" } ],'
expect_status 2 "$STBUILD" check
expect_text err 't.png'
write_manifest ''

# Warnings fail under --pedantic only.
expect_status 0 "$STBUILD" check
expect_text err 'stbuild: warning: [unused-uniform] '
expect_text out ', 1 warning'
expect_status 1 "$STBUILD" check --pedantic --json
expect_json out ok false
expect_text err '[unused-uniform] '
expect_status 1 "$STBUILD" check --pedantic -q
expect_equal "$(wc -c <out)" 0

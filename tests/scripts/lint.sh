#!/bin/sh
# What compiles and is a mistake all the same: places, levels, and silence.

. "$SRCDIR/tests/lib.sh"
need_egl

cat >stbuild.json <<'JSON'
{
	"format": 1,
	"project": { "name": "lint" },
	"shader": { "dialect": "glsl", "common": "common.glsl" },
	"pass": [
		{ "name": "image", "kind": "image", "source": "image.frag",
			"input": [ { "channel": 0, "source": "a" } ] },
		{ "name": "a", "kind": "buffer", "source": "a.frag" }
	]
}
JSON
echo 'float twice(float x) { return x * 2.0; }' >common.glsl
cat >image.frag <<'GLSL'
#include "lib.glsl"
void mainImage(out vec4 c, in vec2 p)
{
	c = vec4(twice(shade(p)));
}
GLSL
cp image.frag a.frag
cat >lib.glsl <<'GLSL'
float shade(vec2 p)
{
	return p.x;
}
GLSL
expect_status 0 "$STBUILD" check --pedantic
expect_text out '0 warnings'
expect_equal "$(wc -c <err)" 0

# One place, both passes; with --pedantic a failure.
edit common.glsl 's/2\.0/float(2) + 1.0 * 2/'
expect_status 0 "$STBUILD" check
expect_text err 'common.glsl:1:52: warning: [site-refuses] '
expect_text out ', 1 warning'
expect_status 0 "$STBUILD" check --json
expect_json out ok true
expect_json out 'diagnostics#' 1
expect_json out 'diagnostics[0].level' warning
expect_json out 'diagnostics[0].code' site-refuses
expect_json out 'diagnostics[0].passes#' 2
expect_json out 'diagnostics[0].file' common.glsl
expect_json out 'diagnostics[0].line' 1
expect_json out 'diagnostics[0].column' 52
expect_status 1 "$STBUILD" check --pedantic --json
expect_json out ok false
expect_json out 'diagnostics[0].code' site-refuses
expect_json out 'errors#' 1
expect_json out 'errors[0].file' common.glsl
expect_json out 'errors[0].line' 1
expect_status 1 "$STBUILD" check --pedantic -q
expect_text err 'common.glsl:1:52: [site-refuses] '
edit common.glsl 's/ + 1\.0 \* 2//'

# In an included file, behind what is not compiled.
cat >lib.glsl <<'GLSL'
#if 0
float dead = 1;
#endif
float shade(vec2 p)
{
	float sum;
	for (int i = 0; i < 300; i++)
		for (int j = 0; j < 300; j++)
			p.y += 0.1;
	sum += p.y;
	if (sum > 1.0)
		return sum;
}
GLSL
expect_status 0 "$STBUILD" check --json
expect_json out 'diagnostics#' 3
expect_text err 'lib.glsl:4:7: warning: [undefined-value] '
expect_text err 'lib.glsl:7:2: warning: [long-loop] '
expect_text err 'lib.glsl:10:2: warning: [undefined-value] '

# What does not compile is not linted.
echo 'oops' >>lib.glsl
expect_status 1 "$STBUILD" check
expect_no_text err 'warning: ['

# What was captured: the first of each trace that is no number.
cat >lib.glsl <<'GLSL'
float shade(vec2 p)
{
	return p.x;
}
GLSL
cat >a.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = vec4(1.0);
	if (iFrame >= 2 && ivec2(p) == ivec2(3, 1))
		c.b = log(-float(iFrame));
	if (iFrame >= 4 && ivec2(p) == ivec2(2, 1))
		c.a = 1.0 / float(iFrame - 4);
}
GLSL
sed 's/shade(p)/texelFetch(iChannel0, ivec2(p), 0).r/' image.frag >i
mv i image.frag
"$STBUILD" -s --frames 0,1 --width 8 --height 4
expect_status 0 "$STBUILD" check --pedantic
"$STBUILD" -s --frames 2,3,4 --width 8 --height 4
expect_status 0 "$STBUILD" check --json
expect_json out 'diagnostics#' 1
expect_json out 'diagnostics[0].code' nan-output
expect_json out 'diagnostics[0].passes[0]' a
expect_text out "NaN in pass 'a' at frame 2: output 0, pixel (3, 1), channel b"
expect_status 1 "$STBUILD" check --pedantic
rm -r target/captures/default@2-* target/captures/default@3-*
expect_status 0 "$STBUILD" check
expect_text err "[nan-output] infinity in pass 'a' at frame 4: output 0, pixel (2, 1), channel a"

# What llvmpipe leaves out is told by the capture that draws it, once a pass.
rm -r target
cat >stbuild.json <<'JSON'
{
	"format": 1,
	"project": { "name": "loops" },
	"render": { "width": 4, "height": 4 },
	"uniform": [ { "name": "rounds", "type": "int", "default": 10 } ],
	"pass": [ { "name": "image", "kind": "image", "source": "loop.frag" } ]
}
JSON
# loop BOUND [STATEMENT]: a loop up to that, perhaps behind a statement.
loop()
{
	cat >loop.frag <<GLSL
void mainImage(out vec4 c, in vec2 p)
{
	float x = 0.0;
	${2-}
	for (int i = 0; i < $1; i++)
		x += fract(p.x * float(i));
	c = vec4(x);
}
GLSL
}
loop 70000
"$STBUILD" --frames 0,1 >out 2>err || fail "$(cat err)"
if grep -q 'llvmpipe' err; then
	expect_equal "$(grep -c llvmpipe err)" 1
	expect_text err "loop.frag:5:2: pass 'image' at frame 0: its loops run 70000"
	"$STBUILD" --frames 0,1 >out 2>err
	expect_no_text err llvmpipe
	loop rounds
	expect_status 0 "$STBUILD" --frame 0
	expect_no_text err llvmpipe
	expect_status 0 "$STBUILD" --frame 0 --set rounds=70000
	expect_text err 'run 70000'
	loop 'int(iResolution.x) * 4'
	expect_status 0 "$STBUILD" --frame 0
	expect_no_text err llvmpipe
	loop 70000 'if (p.y > 2.0) return;'
	expect_status 0 "$STBUILD" --frame 0
	expect_no_text err llvmpipe
	loop 70000 'if (p.y > 9.0)'
	expect_status 0 "$STBUILD" --frame 0
	expect_no_text err llvmpipe
elif "$STBUILD" --frame 2 -v 2>&1 | grep -q llvmpipe; then
	fail 'llvmpipe runs no 70000 iterations, and nothing is said'
fi

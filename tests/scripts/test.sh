#!/bin/sh
# The regression suite: what passes and fails, by which numbers, what is drawn
# for it, and that a verdict is kept until something it rests on changes.

. "$SRCDIR/tests/lib.sh"
need_egl
need_tool git
unset CI

cat >stbuild.json <<'JSON'
{
	"format": 1,
	"project": { "name": "a <suite>" },
	"render": { "width": 8, "height": 4, "fps": 10, "preview_time": 0.1 },
	"store": { "checkpoint": "off" },
	"uniform": [ { "name": "level", "type": "float", "default": 0.25 } ],
	"pass": [
		{ "name": "image", "kind": "image", "source": "image.frag",
			"input": [ { "channel": 0, "source": "a" } ] },
		{ "name": "a", "kind": "buffer", "source": "a.frag", "width": 4, "height": 4,
			"format": "rgba16f", "input": [ { "channel": 0, "source": "a", "frame": "previous" } ] }
	],
	"trace": [ { "name": "t", "frame": 2 } ],
	"test": [
		{ "name": "picture", "frame": 2, "reference": "ref/p.png" },
		{ "name": "sums", "frames": [2, 0], "resolutions": [[8, 4], [16, 8]], "pass": "a",
			"assert_no_nan": true, "assert_no_inf": true, "assert_deterministic": true,
			"assert_resolution_independent": true, "assert_state_roundtrip": true,
			"mean_range": [0.1875, 0.5625] },
		{ "name": "level matters", "reference_uniforms": { "level": 0.5 }, "min_rmse": 0.1 },
		{ "name": "budget", "max_gpu_ms": 1e9, "max_pass_gpu_ms": { "a": 1e9 }, "assert_no_nan": true }
	]
}
JSON
cp stbuild.json first.json
# The red channel is (frame + 1) x level, alpha half of (frame + 1).
cat >a.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = texelFetch(iChannel0, ivec2(p), 0) + vec4(level, 0.0, 0.0, 0.5);
}
GLSL
cp a.frag first.frag
cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = vec4(texelFetch(iChannel0, ivec2(0), 0).rgb, 1.0);
}
GLSL

# suite STATUS PASSED FAILED CACHED DRAWN [OPERAND..]
suite()
{
	want_status=$1 want_sum=$2/$3/$4/$5
	shift 5
	expect_status "$want_status" "$STBUILD" test --json "$@"
	sum=$("$JSONQ" out counts.passed)/$("$JSONQ" out counts.failed)
	sum=$sum/$("$JSONQ" out counts.cached)/$("$JSONQ" out counts.nodes_drawn)
	expect_equal "$sum" "$want_sum" "passed/failed/cached/drawn: $* $(cat out)"
}

# Nothing is there yet. a and the image in three frames, once more with level 0.5
# (frame 1), and the image at 16x8 (frames 0 and 2): a is of its own size, and at
# frames that nobody looks at no image is drawn. The two images of 8x4 at frame 2
# and at frame 1 are shared by tests: 3 + 3, 2 + 1, 2 draws.
suite 1 6 1 0 11
expect_json out counts.replays 4
expect_status 1 "$STBUILD" test
expect_text out 'TAP version 13'
expect_text out '1..7'
expect_text out 'not ok 1 - picture 8x4@2'
expect_text out "there is no picture ref/p.png; 'stbuild approve' writes one"
expect_text out 'ok 2 - sums 8x4@0'
expect_text out 'ok 5 - sums 16x8@2'
expect_text out 'ok 6 - level matters 8x4@1'
expect_text out '# nan: the image has 8 bits a channel'
expect_text err '6 passed, 1 failed, 0 errors (7 cached, 0 draws)'
expect_pixel target/tests/picture/8x4@2-actual.png 0 0 '191 0 0 255'
suite 1 6 1 7 0
expect_json out counts.replays 0
expect_json out 'tests#' 7

# A trace of the same variant has all that it needs.
capture 0 0
expect_bundles assembled

# Approved, it passes; the picture of the failure is gone.
expect_status 2 env CI=true "$STBUILD" approve
# shellcheck disable=SC2016
expect_text err '$CI is set'
[ ! -e ref ] || fail 'approved under CI'
expect_status 0 "$STBUILD" approve -n --force
expect_equal "$(cat out)" 'picture: would write ref/p.png (new)'
[ ! -e ref ] || fail 'approved by -n'
expect_status 0 "$STBUILD" approve -q
[ ! -e ref ] || fail 'approved by -q'
expect_status 0 "$STBUILD" approve --force
expect_equal "$(cat out)" 'picture: ref/p.png written (new)'
expect_pixel ref/p.png 7 3 '191 0 0 255'
suite 0 7 0 6 0
expect_json out ok true
[ ! -e target/tests/picture/8x4@2-actual.png ] || fail 'a picture of a failure stays'
suite 0 7 0 7 0
expect_json out 'tests[0].name' picture
expect_json out 'tests[0].variant' 8x4@2
expect_json out 'tests[0].status' passed
expect_json out 'tests[0].metric' rmse
expect_json out 'tests[0].value' 0
expect_json out 'tests[0].limit' 0.002
expect_json out 'tests[0].cached' true
expect_json out 'tests[1].metric' mean
expect_json out 'tests[1].value' 0.1875
expect_json out 'tests[4].value' 0.5625
expect_json out 'tests[5].limit[0]' 0.1
expect_json out 'tests[6].checks[1].metric' gpu_ms
expect_json out 'tests[6].checks[2].metric' gpu_ms:a
expect_status 0 "$STBUILD" approve --json
expect_json out 'tests[0].status' unchanged
expect_status 0 "$STBUILD" test -q
expect_equal "$(wc -c <out)" 0

# Without a comment's weight: keys stay, and so do verdicts (the bundle of what is
# rendered twice has another source in it).
sed 's/^void/\/\/ A comment.\nvoid/' first.frag >a.frag
suite 0 7 0 3 0
expect_json out counts.replays 4
cp first.frag a.frag
suite 0 7 0 7 0

# Another level: pictures, sums and the difference change; the render with 0.5 is
# known.
edit stbuild.json 's/"default": 0.25/"default": 0.125/'
expect_status 1 "$STBUILD" test -q
expect_status 0 "$STBUILD" test -n
expect_text out 'target/tests/picture/8x4@2.sttrace: stale'
suite 1 4 3 0 8
expect_json out 'tests[0].status' failed
expect_json out 'tests[0].message' 'the pictures differ by up to 95 of 255'
t=target/tests/picture/8x4@2
expect_pixel $t-actual.png 0 0 '96 0 0 255'
expect_pixel $t-expected.png 0 0 '191 0 0 255'
expect_pixel $t-diff.png 0 0 '255 0 0 255'
expect_json out 'tests[1].status' failed
expect_json out 'tests[1].value' 0.15625
expect_json out 'tests[3].status' passed
suite 1 4 3 7 0
# A kept failure is judged again when its pictures were removed.
rm $t-actual.png
suite 1 4 3 6 0
[ -e $t-actual.png ] || fail 'no picture of a failure'
expect_status 1 "$STBUILD" test pict --junit report.xml
expect_text report.xml '<testsuite name="a &lt;suite&gt;" tests="1" failures="1" errors="0" skipped="0" time="'
expect_text report.xml '<testcase classname="picture" name="8x4@2" time="'
expect_text report.xml '<failure type="mismatch" message="rmse is 0.2'
expect_status 0 "$STBUILD" approve pict
expect_text out 'picture: ref/p.png written (RMSE 0.21'
expect_text out ', max 95/255 vs the old one)'
suite 0 1 0 0 0 pict
# Back again: known verdicts, but for the picture, whose reference is another now.
cp first.json stbuild.json
suite 1 6 1 6 0

# Selection.
suite 0 4 0 4 0 sum
suite 0 5 0 5 0 sum matters
expect_status 2 "$STBUILD" test sum pictore
expect_text err "no test has 'pictore' in its name; did you mean 'picture'?"
expect_status 2 "$STBUILD" approve sums
expect_text err 'none of these tests has a reference picture'

# -B draws and judges all again: a in 3 frames, the image in 2 of each size.
suite 0 4 0 0 7 -B sums
expect_json out counts.replays 4

# What a buffer may hold: NaN, infinities, sizes that leak in, a clock.
cat >a.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = vec4(1.0);
	if (ivec2(p) == ivec2(2, 1))
		c.g = uintBitsToFloat(0x7fc00000u);
	if (ivec2(p) == ivec2(3, 3))
		c.ba = vec2(uintBitsToFloat(0x7f800000u));
}
GLSL
expect_status 1 "$STBUILD" test sums --json
expect_json out 'tests[0].value' 1
expect_json out 'tests[0].checks[1].metric' nan
expect_json out 'tests[0].checks[1].value' 1
expect_json out 'tests[0].checks[1].message' '1 values are NaN, the first is channel g of pixel (2, 1)'
expect_json out 'tests[0].checks[2].value' 2
expect_json out 'tests[0].checks[2].message' '2 values are infinite, the first is channel b of pixel (3, 3)'
expect_json out 'tests[0].checks[3].status' passed
expect_json out 'tests[0].checks[4].status' passed

cat >stbuild.toml <<'TOML'
format = 1
project.name = "suite"
render = { width = 8, height = 4 }
shader.dialect = "glsl"
[[pass]]
name = "image"
kind = "image"
source = "image.frag"
input = [ { channel = 0, source = "a" }, { channel = 1, source = "b" }, { channel = 2, source = "c" } ]
[[pass]]
name = "a"
kind = "buffer"
source = "clock.frag"
width = 4
height = 4
[[pass]]
name = "b"
kind = "buffer"
source = "size.frag"
width = 4
height = 4
input = [ { channel = 0, source = "d" } ]
[[pass]]
name = "d"
kind = "buffer"
source = "a.frag"
[[pass]]
name = "c"
kind = "compute"
source = "c.comp"
width = 4
height = 4
storage = [ { binding = 0, name = "four", size = 4 } ]
[[test]]
name = "clock"
pass = "a"
assert_deterministic = true
[[test]]
name = "loose clock"
pass = "a"
assert_deterministic = true
raw_tolerance = 1e9
[[test]]
name = "leak"
pass = "b"
resolutions = [[8, 4], [12, 4]]
assert_resolution_independent = true
[[test]]
name = "slack"
pass = "b"
resolutions = [[8, 4], [12, 4]]
assert_resolution_independent = true
raw_tolerance = 4
[[test]]
name = "stored"
storage = [ { name = "four", reference = "four.bin" } ]
[[test]]
name = "budget"
max_gpu_ms = 0
[[test]]
name = "unlike"
frame = 0
reference = "other.png"
TOML
cat >clock.frag <<'GLSL'
#extension GL_ARB_shader_clock : enable
void mainImage(out vec4 c, in vec2 p)
{
	c = vec4(0.0);
#ifdef GL_ARB_shader_clock
	c.r = float(clock2x32ARB().x & 0xffffffu);
#endif
}
GLSL
cat >size.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = vec4(textureSize(iChannel0, 0), 0, 0);
}
GLSL
cat >c.comp <<'GLSL'
layout(std430, binding = 0) buffer Four { uint four; };
void mainCompute(ivec2 p)
{
	if (p == ivec2(0))
		four = 0x64636261u;
	imageStore(iOutput, p, vec4(0.5));
}
GLSL
cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = texelFetch(iChannel2, ivec2(0), 0) * (texelFetch(iChannel0, ivec2(0), 0).r >= 0.0 &&
		texelFetch(iChannel1, ivec2(0), 0).r > 0.0 ? 1.0 : 0.0);
}
GLSL
printf abcd >four.bin
cp ref/p.png other.png
expect_status 1 "$STBUILD" -f stbuild.toml test -k --json
expect_json out 'tests[1].name' 'loose clock'
expect_json out 'tests[1].status' passed
expect_json out 'tests[2].status' passed
expect_json out 'tests[3].name' leak
expect_json out 'tests[3].status' failed
expect_json out 'tests[3].metric' resolution_independent
expect_json out 'tests[3].value' 4
expect_json out 'tests[3].message' 'against the first resolution: 16 values differ, the first is channel r of pixel (0, 0)'
expect_json out 'tests[5].name' slack
expect_json out 'tests[5].status' passed
expect_json out 'tests[6].metric' storage:four
expect_json out 'tests[6].status' passed
expect_json out 'tests[7].metric' gpu_ms
expect_json out 'tests[7].status' failed
expect_json out 'tests[8].status' failed
# llvmpipe has the clock; elsewhere the first test cannot fail.
if [ "$("$PIXEL" target/tests/clock/8x4@60.sttrace/final.png 0 0)" ] &&
	[ "$("$JSONQ" out 'tests[1].value')" != 0 ]; then
	expect_json out 'tests[0].status' failed
	expect_json out 'tests[0].metric' deterministic
fi
printf abXd >four.bin
expect_status 1 "$STBUILD" -f stbuild.toml test stored --json
expect_json out 'tests[0].message' '1 bytes differ from four.bin, the first is byte 2'
printf abcde >four.bin
expect_status 1 "$STBUILD" -f stbuild.toml test stored
expect_text out 'it has 4 bytes, and four.bin has 5'
rm four.bin
expect_status 1 "$STBUILD" -f stbuild.toml test stored
expect_text out 'there is no file four.bin'
edit stbuild.toml 's/^frame = 0$/frame = 0\nwidth = 16\nheight = 4/'
expect_status 1 "$STBUILD" -f stbuild.toml test unlike
expect_text out 'the picture is 16x4, and the reference 8x4'

# References go nowhere outside.
mkdir ../outside.$$
ln -s ../outside.$$ link
edit stbuild.toml 's|"other.png"|"link/new.png"|'
expect_status 2 "$STBUILD" -f stbuild.toml approve --force unlike
[ -z "$(ls ../outside.$$)" ] || fail 'written outside the project'
rmdir ../outside.$$
rm link stbuild.toml

# Commits: good, bad, broken; for git bisect run.
cp first.frag a.frag
cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = vec4(texelFetch(iChannel0, ivec2(0), 0).rgb, 1.0);
}
GLSL
"$STBUILD" approve -s --force
git init -q .
git config user.name t
git config user.email t@example.org
printf '/out\n/err\n/bisected\n/.stbuild\n' >.gitignore
git add .
git commit -qm good
git tag good
expect_status 0 "$STBUILD" test --bisect picture
edit a.frag 's/vec4(level/vec4(0.5 * level/'
git commit -qam bad
expect_status 1 "$STBUILD" test --bisect picture
edit a.frag '1s/^/\/\/ More.\n/'
git commit -qam more
edit a.frag '1s/^/\/\/ Still more.\n/'
git commit -qam 'still more'
expect_status 0 "$STBUILD" test --rev good picture
expect_status 1 "$STBUILD" test --rev HEAD picture
git bisect start HEAD good >bisected 2>&1
git bisect run "$STBUILD" test --bisect -s picture >bisected 2>&1 || fail "$(cat bisected)"
expect_text bisected 'is the first bad commit'
expect_equal "$(git log -1 --format=%s refs/bisect/bad)" bad
git bisect reset >bisected 2>&1
# The same by ourselves, without a checkout: two classes, both known by now.
expect_status 0 "$STBUILD" bisect --good good --bad HEAD picture --json
expect_json out test picture
expect_json out first_bad "$(git rev-parse HEAD~2)"
expect_json out counts.classes 2
expect_json out counts.commits_judged 2
expect_json out counts.nodes_drawn 0
expect_json out "changed[0]" "pass 'a'"
expect_status 2 "$STBUILD" bisect --good HEAD~1 --bad HEAD 'level matters'
expect_text err "test 'level matters' does not differ between HEAD~1 and HEAD"
expect_status 2 "$STBUILD" bisect --good good --bad HEAD budget
expect_text err "test 'budget' passes at HEAD as well"
edit a.frag 's/texelFetch/no_such_function/'
expect_status 1 "$STBUILD" test picture
expect_text out 'no_such_function'
expect_status 125 "$STBUILD" test --bisect picture
rm a.frag
expect_status 125 "$STBUILD" test --bisect picture
git checkout -q a.frag
echo '{' >stbuild.json
expect_status 125 "$STBUILD" test --bisect picture
expect_status 129 "$STBUILD" test --bisect --no-such-option
git checkout -q stbuild.json
expect_status 125 "$STBUILD" test --bisect no-such-test
expect_status 129 "$STBUILD" test --bisect --device 99 -B picture

# A project without tests.
edit stbuild.json '/"test": \[/,999d'
printf '\t"preset": {} }\n' >>stbuild.json
expect_status 2 "$STBUILD" test
expect_text err 'stbuild.json has no tests'

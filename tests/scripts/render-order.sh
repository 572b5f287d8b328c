#!/bin/sh
# Who is drawn when, and what "previous" finds: numbers that only one order
# gives.

. "$SRCDIR/tests/lib.sh"
need_egl
here=$PWD

# raw FRAME PASS: one of the capture's 1x1 buffers.
expect_value()
{
	expect_pixel "target/traces/t@$1.sttrace/passes/$2-output-0.rgba32f" 1 0 0 "$3"
}

# The body's X is what channel 0 has in r.
pass()
{
	cat >"$1.frag" <<GLSL
void mainImage(out vec4 c, in vec2 p)
{
	float x = texelFetch(iChannel0, ivec2(0), 0).r;
	c = vec4($2, 0.0, 0.0, 1.0);
}
GLSL
}

# a reads b, which reads what a was: b is first, though a stands first. The
# same with q in front, whose reader r looks back at it. v and w look back
# at each other; s looks back at itself.
pass a 'x + 10.0'
pass b 'x * 2.0 + 1.0'
pass q 'x * 2.0'
pass r 'x * 3.0 + 1.0'
pass s 'x * 2.0 + float(iFrame + 1)'
pass v 'x + 1.0'
pass w 'x + 100.0'
cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = texelFetch(iChannel0, ivec2(0), 0) + texelFetch(iChannel1, ivec2(0), 0)
		+ texelFetch(iChannel2, ivec2(0), 0) + texelFetch(iChannel3, ivec2(0), 0);
	c /= 255.0;
}
GLSL
small='"kind": "buffer", "width": 1, "height": 1'
cat >stbuild.json <<JSON
{
	"format": 1, "project": { "name": "order" },
	"render": { "width": 8, "height": 4 },
	"pass": [
		{ "name": "a", "source": "a.frag", $small, "input": [ { "channel": 0, "source": "b" } ] },
		{ "name": "b", "source": "b.frag", $small, "input": [ { "channel": 0, "source": "a", "frame": "previous" } ] },
		{ "name": "image", "kind": "image", "source": "image.frag", "input": [
			{ "channel": 0, "source": "a" }, { "channel": 1, "source": "q", "frame": "previous" },
			{ "channel": 2, "source": "s" }, { "channel": 3, "source": "v" } ] },
		{ "name": "q", "source": "q.frag", $small, "input": [ { "channel": 0, "source": "r" } ] },
		{ "name": "r", "source": "r.frag", $small, "input": [ { "channel": 0, "source": "q", "frame": "previous" } ] },
		{ "name": "s", "source": "s.frag", $small, "input": [ { "channel": 0, "source": "s", "frame": "previous" } ] },
		{ "name": "v", "source": "v.frag", $small, "input": [ { "channel": 0, "source": "w", "frame": "previous" } ] },
		{ "name": "w", "source": "w.frag", $small, "input": [ { "channel": 0, "source": "v", "frame": "previous" } ] }
	],
	"trace": [ { "name": "t", "frames": [0, 1, 2], "include_intermediates": true } ]
}
JSON
capture 0 24
# b = 2 a(t-1) + 1, a = b + 10
expect_value 0 b '1 0 0 1'
expect_value 0 a '11 0 0 1'
expect_value 1 b '23 0 0 1'
expect_value 1 a '33 0 0 1'
expect_value 2 b '67 0 0 1'
expect_value 2 a '77 0 0 1'
# r = 3 q(t-1) + 1, q = 2 r
expect_value 0 q '2 0 0 1'
expect_value 1 r '7 0 0 1'
expect_value 1 q '14 0 0 1'
expect_value 2 r '43 0 0 1'
expect_value 2 q '86 0 0 1'
# s = 2 s(t-1) + t + 1
expect_value 0 s '1 0 0 1'
expect_value 1 s '4 0 0 1'
expect_value 2 s '11 0 0 1'
# v = w(t-1) + 1, w = v(t-1) + 100: neither sees the other's new value
expect_value 0 v '1 0 0 1'
expect_value 0 w '100 0 0 1'
expect_value 1 v '101 0 0 1'
expect_value 1 w '101 0 0 1'
expect_value 2 v '102 0 0 1'
expect_value 2 w '201 0 0 1'
# The image: 11 + 0 + 1 + 1, 33 + 2 + 4 + 101, 77 + 14 + 11 + 102.
expect_pixel target/traces/t@0.sttrace/final.png 3 2 '13 0 0 255'
expect_pixel target/traces/t@1.sttrace/final.png 3 2 '140 0 0 255'
expect_pixel target/traces/t@2.sttrace/final.png 3 2 '204 0 0 255'

# Passes that nothing orders are drawn as the manifest has them, the image too,
# and what is read at the previous frame only stays in its place. Each takes a
# number from a counter, in its first texel.
cd "$here" && mkdir ties && cd ties
cat >take.glsl <<'GLSL'
layout(std430, binding = 0) buffer Counter { uint next; };
float take(vec2 p)
{
	return ivec2(p) == ivec2(0) ? float(atomicAdd(next, 1u)) : 0.0;
}
GLSL
cat >buffer.frag <<'GLSL'
#include "take.glsl"
void mainImage(out vec4 c, in vec2 p) { c = vec4(take(p), 0.0, 0.0, 1.0); }
GLSL
cat >image.frag <<'GLSL'
#include "take.glsl"
void mainImage(out vec4 c, in vec2 p)
{
	float last = texelFetch(iChannel0, ivec2(0), 0).r;
	c = vec4(take(p) / 255.0, last / 255.0, texelFetch(iChannel1, ivec2(0), 0).r / 255.0, 0.0);
}
GLSL
storage='"storage": [ { "binding": 0, "name": "counter", "size": 4 } ]'
cat >stbuild.json <<JSON
{
	"format": 1, "project": { "name": "ties" },
	"render": { "width": 8, "height": 4 },
	"pass": [
		{ "name": "m2", "source": "buffer.frag", $small, $storage },
		{ "name": "image", "kind": "image", "source": "image.frag", $storage, "input": [
			{ "channel": 0, "source": "m1", "frame": "previous" },
			{ "channel": 1, "source": "m2" } ] },
		{ "name": "m3", "source": "buffer.frag", $small, $storage },
		{ "name": "m1", "source": "buffer.frag", $small, $storage }
	],
	"trace": [ { "name": "t", "frames": [0, 1], "include_intermediates": true } ]
}
JSON
capture 0 8
expect_value 0 m2 '0 0 0 1'
expect_pixel target/traces/t@0.sttrace/final.png 0 3 '1 0 0 255'
expect_value 0 m3 '2 0 0 1'
expect_value 0 m1 '3 0 0 1'
expect_value 1 m2 '4 0 0 1'
expect_pixel target/traces/t@1.sttrace/final.png 0 3 '5 3 4 255'
expect_value 1 m3 '6 0 0 1'
expect_value 1 m1 '7 0 0 1'

# What never changes is drawn once; at frame 0 its reader at the previous frame
# finds zeros all the same, so that one has two pictures.
cd "$here" && mkdir still && cd still
echo 'void mainImage(out vec4 c, in vec2 p) { c = vec4(5.0, 0.0, 0.0, 1.0); }' >still.frag
cat >last.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p) { c = texelFetch(iChannel0, ivec2(0), 0) + 1.0; }
GLSL
cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p) { c = texelFetch(iChannel0, ivec2(0), 0) / 255.0; }
GLSL
cat >stbuild.json <<JSON
{
	"format": 1, "project": { "name": "still" },
	"render": { "width": 8, "height": 4 },
	"pass": [
		{ "name": "last", "source": "last.frag", $small, "input": [ { "channel": 0, "source": "still", "frame": "previous" } ] },
		{ "name": "still", "source": "still.frag", $small },
		{ "name": "image", "kind": "image", "source": "image.frag", "input": [ { "channel": 0, "source": "last" } ] }
	],
	"trace": [ { "name": "t", "frames": [0, 1, 2, 9], "include_intermediates": true } ]
}
JSON
capture 0 5
expect_value 0 last '1 1 1 1'
expect_pixel target/traces/t@0.sttrace/final.png 0 0 '1 1 1 255'
for t in 1 2 9; do
	expect_value $t still '5 0 0 1'
	expect_value $t last '6 1 1 2'
	expect_pixel target/traces/t@$t.sttrace/final.png 0 0 '6 1 1 255'
done

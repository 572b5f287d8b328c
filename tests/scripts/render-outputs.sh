#!/bin/sh
# What a draw leaves: formats, several targets, history under discard, zeros
# before frame 0, and the 8 bits of the image.

. "$SRCDIR/tests/lib.sh"
need_egl
here=$PWD

expect_value()
{
	expect_pixel "target/traces/t@$1.sttrace/passes/$2.rgba32f" 8 "$3" "$4" "$5"
}

# In the right half nothing is drawn from frame 2 on: a buffer has two halves
# there, of which it draws over that of t - 2, and the image one.
cat >kept.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	if (iFrame >= 2 && p.x > 4.0)
		discard;
	c = vec4(iFrame + 1, 0.0, 0.0, 1.0);
}
GLSL
cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	if ((iFrame == 0 || iFrame >= 2) && p.x > 4.0)
		discard;
	c = vec4(iFrame + 1, texelFetch(iChannel0, ivec2(p), 0).r, 0.0, 255.0) / 255.0;
}
GLSL
cat >stbuild.json <<'JSON'
{
	"format": 1, "project": { "name": "kept" },
	"render": { "width": 8, "height": 4 },
	"shader": { "dialect": "glsl" },
	"pass": [
		{ "name": "kept", "kind": "buffer", "source": "kept.frag" },
		{ "name": "image", "kind": "image", "source": "image.frag", "input": [
			{ "channel": 0, "source": "kept" } ] }
	],
	"trace": [ { "name": "t", "frames": [0, 1, 2, 3, 4], "include_intermediates": true } ]
}
JSON
capture 0 10
for t in 0 1 2 3 4; do
	expect_value $t kept-output-0 3 1 "$((t + 1)) 0 0 1"
	expect_pixel target/traces/t@$t.sttrace/final.png 3 2 "$((t + 1)) $((t + 1)) 0 255"
done
# 1, 2, then what was there two frames before.
expect_value 0 kept-output-0 4 1 '1 0 0 1'
expect_value 1 kept-output-0 4 1 '2 0 0 1'
expect_value 2 kept-output-0 4 1 '1 0 0 1'
expect_value 3 kept-output-0 4 1 '2 0 0 1'
expect_value 4 kept-output-0 4 1 '1 0 0 1'
# Black before frame 0; then what was drawn at frame 1 stays.
expect_pixel target/traces/t@0.sttrace/final.png 4 2 '0 0 0 255'
for t in 1 2 3 4; do
	expect_pixel target/traces/t@$t.sttrace/final.png 4 2 '2 2 0 255'
done
# The same from the store alone, out of order and for a frame between.
rm -r target
capture 0 0
expect_value 4 kept-output-0 4 1 '1 0 0 1'

# Zeros before frame 0 have a size and all outputs; what is written first, is
# read at frame 1.
cd "$here" && mkdir zeros && cd zeros
cat >fed.frag <<'GLSL'
layout(location = 1) out vec4 one;
void mainImage(out vec4 c, in vec2 p)
{
	vec4 x = texelFetch(iChannel0, ivec2(p), 0);
	c = p.x < 4.0 ? x : vec4(textureSize(iChannel0, 0), iChannelResolution[0].xy);
	if (p.x < 4.0 && iFrame == 1)
		c = x * 2.0;
	else if (p.x < 4.0 && x == vec4(0.0))
		c = vec4(3.0, 4.0, 5.0, 6.0);
	one = x + 10.0;
}
GLSL
echo 'void mainImage(out vec4 c, in vec2 p) { c = texelFetch(iChannel0, ivec2(0), 0) / 255.0; }' >image.frag
cat >stbuild.json <<'JSON'
{
	"format": 1, "project": { "name": "zeros" },
	"render": { "width": 8, "height": 4 },
	"pass": [
		{ "name": "fed", "kind": "buffer", "source": "fed.frag", "extra_outputs": ["rgba32f"], "input": [
			{ "channel": 0, "source": "fed", "frame": "previous" } ] },
		{ "name": "image", "kind": "image", "source": "image.frag", "input": [
			{ "channel": 0, "source": "fed", "output": 1 } ] }
	],
	"trace": [ { "name": "t", "frames": [0, 1], "include_intermediates": true } ]
}
JSON
capture 0 4
expect_value 0 fed-output-0 0 0 '3 4 5 6'
expect_value 0 fed-output-1 0 0 '10 10 10 10'
expect_value 0 fed-output-0 7 3 '8 4 8 4'
expect_value 1 fed-output-0 0 0 '6 8 10 12'
expect_value 1 fed-output-1 0 0 '13 14 15 16'
expect_pixel target/traces/t@0.sttrace/final.png 0 0 '10 10 10 255'
expect_pixel target/traces/t@1.sttrace/final.png 0 0 '13 14 15 255'

# Four formats of the same colour, and the targets of one draw by number.
# 1/3 is 0x3eaaaaab; as a half 0x3555 = 1365/4096 = 0.333251953125; halves have
# no 2049. Channels that are not there read 0, 0, 1.
cd "$here" && mkdir formats && cd formats
cat >colour.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p) { c = vec4(1.0 / 3.0, -2.0, 2049.0, 0.25); }
GLSL
cat >many.frag <<'GLSL'
layout(location = 2) out vec4 two;
layout(location = 1) out vec4 one;
layout(location = 3) out vec4 three;
void mainImage(out vec4 c, in vec2 p)
{
	c = vec4(1.0, 2.0, 3.0, 4.0);
	one = vec4(10.0, 20.0, 30.0, 40.0);
	two = vec4(11.0, 21.0, 31.0, 41.0);
	three = vec4(1.0 / 3.0, p, 7.0);
}
GLSL
cat >look.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	ivec2 at = ivec2(2, 1);
	int x = int(p.x);
	c = x == 0 ? texelFetch(iChannel0, at, 0) : x == 1 ? texelFetch(iChannel1, at, 0)
		: x == 2 ? texelFetch(iChannel2, at, 0) : x == 3 ? texelFetch(iChannel3, at, 0)
		: x == 4 ? texelFetch(iChannel4, at, 0) : x == 5 ? texelFetch(iChannel5, at, 0)
		: x == 6 ? texelFetch(iChannel6, at, 0) : texelFetch(iChannel7, at, 0);
}
GLSL
echo 'void mainImage(out vec4 c, in vec2 p) { c = texelFetch(iChannel0, ivec2(1, 0), 0) / 255.0; }' >image.frag
for dialect in essl glsl; do
	cat >stbuild.json <<JSON
{
	"format": 1, "project": { "name": "formats" },
	"render": { "width": 8, "height": 4 },
	"shader": { "dialect": "$dialect" },
	"pass": [
		{ "name": "r", "kind": "buffer", "source": "colour.frag", "format": "r32f" },
		{ "name": "rg", "kind": "buffer", "source": "colour.frag", "format": "rg32f" },
		{ "name": "half", "kind": "buffer", "source": "colour.frag", "format": "rgba16f" },
		{ "name": "full", "kind": "buffer", "source": "colour.frag" },
		{ "name": "many", "kind": "buffer", "source": "many.frag", "format": "rg32f",
			"extra_outputs": ["r32f", "rgba32f", "rgba16f"] },
		{ "name": "look", "kind": "buffer", "source": "look.frag", "input": [
			{ "channel": 0, "source": "r" }, { "channel": 1, "source": "rg" },
			{ "channel": 2, "source": "half" }, { "channel": 3, "source": "full" },
			{ "channel": 4, "source": "many" },
			{ "channel": 5, "source": "many", "output": 1 },
			{ "channel": 6, "source": "many", "output": 2 },
			{ "channel": 7, "source": "many", "output": 3 } ] },
		{ "name": "image", "kind": "image", "source": "image.frag", "input": [
			{ "channel": 0, "source": "many", "output": 2 },
			{ "channel": 1, "source": "look" } ] }
	],
	"trace": [ { "name": "t", "frames": [0], "include_intermediates": true } ]
}
JSON
	capture 0 7
	capture 0 0
done
for look in 'r-output-0 0 0.333333343 0 0 1' 'rg-output-0 1 0.333333343 -2 0 1' \
	'half-output-0 2 0.333251953 -2 2048 0.25' \
	'full-output-0 3 0.333333343 -2 2049 0.25' \
	'many-output-0 4 1 2 0 1' 'many-output-1 5 10 0 0 1' \
	'many-output-2 6 11 21 31 41' 'many-output-3 7 0.333251953 2.5 1.5 7'; do
	stem=${look%% *} look=${look#* }
	expect_value 0 "$stem" 2 1 "${look#* }"
	expect_value 0 look-output-0 "${look%% *}" 0 "${look#* }"
done
expect_pixel target/traces/t@0.sttrace/final.png 0 0 '11 21 31 255'

# To 8 bits: clamped, NaN is 0, alpha is 1 whatever was written; a buffer's
# PNG rounds (int)(v * 255 + 0.5), so 0.5 becomes 128.
cd "$here" && mkdir bits && cd bits
cat >value.glsl <<'GLSL'
vec4 value(float x)
{
	float nan = intBitsToFloat(0x7fc00001), inf = intBitsToFloat(0x7f800000);
	return x < 1.0 ? vec4(nan, -nan, nan, nan) : x < 2.0 ? vec4(inf, -inf, 1e20, -1.0)
		: x < 3.0 ? vec4(0.4, 1.2, -0.3, 0.0) : x < 4.0 ? vec4(0.5, 0.1, 0.999, 0.5)
		: vec4(1.0 / 255.0, 254.0 / 255.0, 0.0, 9.0);
}
GLSL
cat >values.frag <<'GLSL'
#include "value.glsl"
void mainImage(out vec4 c, in vec2 p) { c = value(p.x); }
GLSL
cat >image.frag <<'GLSL'
#include "value.glsl"
void mainImage(out vec4 c, in vec2 p)
{
	c = p.y < 1.0 ? value(p.x) : texelFetch(iChannel0, ivec2(p.x, 0), 0);
}
GLSL
for dialect in essl glsl; do
	cat >stbuild.json <<JSON
{
	"format": 1, "project": { "name": "bits" },
	"render": { "width": 8, "height": 4 },
	"shader": { "dialect": "$dialect" },
	"pass": [
		{ "name": "values", "kind": "buffer", "source": "values.frag" },
		{ "name": "image", "kind": "image", "source": "image.frag", "input": [
			{ "channel": 0, "source": "values" } ] }
	],
	"trace": [ { "name": "t", "frames": [0], "include_intermediates": true } ]
}
JSON
	capture 0 2
	for y in 0 1; do
		final=target/traces/t@0.sttrace/final.png
		expect_pixel $final 0 $((3 - y)) '0 0 0 255'
		expect_pixel $final 1 $((3 - y)) '255 0 255 255'
		expect_pixel $final 2 $((3 - y)) '102 255 0 255'
		expect_pixel $final 4 $((3 - y)) '1 254 0 255'
	done
	png=target/traces/t@0.sttrace/passes/values-output-0.png
	expect_pixel $png 0 0 '0 0 0 255'
	expect_pixel $png 1 0 '255 0 255 255'
	expect_pixel $png 2 3 '102 255 0 255'
	expect_pixel $png 3 0 '128 26 255 255'
	expect_pixel $png 4 0 '1 254 0 255'
	# Payloads live on: bits 0x7fc00001, little-endian.
	expect_equal "$(od -An -tx1 -N4 target/traces/t@0.sttrace/passes/values-output-0.rgba32f |
		tr -d ' ')" 0100c07f
	expect_value 0 values-output-0 2 0 '0.400000006 1.20000005 -0.300000012 0'
	expect_value 0 values-output-0 4 3 '0.00392156886 0.996078432 0 9'
done

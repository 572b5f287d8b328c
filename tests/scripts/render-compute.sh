#!/bin/sh
# Compute passes and storage buffers.

. "$SRCDIR/tests/lib.sh"
need_egl
here=$PWD

# out FRAME STEM WIDTH X Y 'R G B A'
expect_value()
{
	expect_pixel "target/traces/t@$1.sttrace/passes/$2.rgba32f" "$3" "$4" "$5" "$6"
}

# 7 x 5 in groups of 4 x 3: every texel once an iteration, none beyond. r gets
# the iterations as digits, and keeps what it had: 12, 12012, 12012012. g adds
# iFrame, once. The counter has all invocations, its second word those of
# iteration 0.
cat >digits.comp <<'GLSL'
layout(std430, binding = 3) buffer Counter { uint all, first; uint size[2]; };
void mainCompute(ivec2 p)
{
	vec4 old = imageLoad(iOutput, p);
	imageStore(iOutput, p, vec4(old.r * 10.0 + float(iIteration),
		old.g + (iIteration == 0 ? float(iFrame) : 0.0),
		gl_WorkGroupSize.x * 10u + gl_WorkGroupSize.y, iResolution.x));
	imageStore(iOutput1, p, vec4(p, 5.0, 6.0));
	imageStore(iOutput2, p, vec4(1.0 / 3.0, p, 7.0));
	atomicAdd(all, 1u);
	if (iIteration == 0)
		atomicAdd(first, 1u);
	atomicMax(size[0], uint(p.x + 1));
	atomicMax(size[1], uint(p.y + 1));
}
GLSL
# A fragment pass that reads the counter, of another binding, and its texels.
cat >read.frag <<'GLSL'
layout(std430, binding = 0) readonly buffer Counter { uint all, first; uint size[2]; };
void mainImage(out vec4 c, in vec2 p)
{
	c = p.x < 1.0 ? vec4(all, first, size[0], size[1])
		: p.x < 2.0 ? texelFetch(iChannel0, ivec2(6, 4), 0)
		: p.x < 3.0 ? texelFetch(iChannel1, ivec2(6, 4), 0)
		: p.x < 4.0 ? texelFetch(iChannel2, ivec2(6, 4), 0)
		: texelFetch(iChannel3, ivec2(6, 4), 0);
}
GLSL
cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p) { c = texelFetch(iChannel0, ivec2(0), 0) / 255.0; }
GLSL
for dialect in essl glsl; do
	cat >stbuild.json <<JSON
{
	"format": 1, "project": { "name": "compute" },
	"render": { "width": 8, "height": 4 },
	"shader": { "dialect": "$dialect" },
	"pass": [
		{ "name": "image", "kind": "image", "source": "image.frag", "input": [
			{ "channel": 0, "source": "read" } ] },
		{ "name": "read", "kind": "buffer", "source": "read.frag",
			"storage": [ { "binding": 0, "name": "counter", "size": 16 } ], "input": [
			{ "channel": 0, "source": "digits" },
			{ "channel": 1, "source": "digits", "output": 1 },
			{ "channel": 2, "source": "digits", "output": 2 },
			{ "channel": 3, "source": "digits", "frame": "previous" } ] },
		{ "name": "digits", "kind": "compute", "source": "digits.comp", "width": 7, "height": 5,
			"local_size": [4, 3, 1], "iterations": 3, "extra_outputs": ["rg32f", "rgba16f"],
			"storage": [ { "binding": 3, "name": "counter", "size": 16 } ] }
	],
	"preset": { "twice": { "pass": { "digits": { "iterations": 2, "local_size": [16, 1, 1],
		"width": 9, "height": 8 } } } },
	"trace": [ { "name": "t", "frames": [0, 1, 2], "include_intermediates": true },
		{ "name": "twice", "frame": 1, "preset": "twice", "include_intermediates": true } ]
}
JSON
	expect_status 0 "$STBUILD" --json t
	expect_json out counts.failures 0
	# 7 x 5 x 3 = 105 invocations a frame, 35 at iteration 0.
	expect_value 0 read-output-0 8 0 0 '105 35 7 5'
	expect_value 1 read-output-0 8 0 0 '210 70 7 5'
	expect_value 2 read-output-0 8 0 0 '315 105 7 5'
	expect_value 0 digits-output-0 7 6 4 '12 0 43 7'
	expect_value 1 digits-output-0 7 6 4 '12012 1 43 7'
	expect_value 2 digits-output-0 7 0 0 '12012012 3 43 7'
	expect_value 2 read-output-0 8 1 0 '12012012 3 43 7'
	expect_value 2 digits-output-1 7 6 4 '6 4 0 1'
	expect_value 2 digits-output-2 7 6 4 '0.333251953 6 4 7'
	expect_value 2 read-output-0 8 2 0 '6 4 0 1'
	expect_value 2 read-output-0 8 3 0 '0.333251953 6 4 7'
	# At the previous frame; iOutput held frame t - 1 all the same.
	expect_value 0 read-output-0 8 4 0 '0 0 0 0'
	expect_value 1 read-output-0 8 4 0 '12 0 43 7'
	expect_value 2 read-output-0 8 4 0 '12012 1 43 7'
	expect_pixel target/traces/t@1.sttrace/final.png 0 0 '210 70 7 255'
	# The preset: 9 x 8 in groups of 16 x 1, iterations 0 and 1: 01, 0101.
	expect_status 0 "$STBUILD" --json twice
	passes=target/traces/twice@1.sttrace/passes
	expect_pixel $passes/digits-output-0.rgba32f 9 8 7 '101 1 161 9'
	expect_pixel $passes/read-output-0.rgba32f 8 0 0 '288 144 9 8'
done

# Barriers: each iteration reads what its neighbour wrote in the one before,
# from the other image, so that after 8 iterations texel x has x + 8 (of 16).
# A buffer does the same in storage.
cd "$here" && mkdir shift && cd shift
cat >shift.comp <<'GLSL'
layout(std430, binding = 0) buffer Line { float even[16]; float odd[16]; };
void mainCompute(ivec2 p)
{
	ivec2 next = ivec2((p.x + 1) % 16, p.y);
	if (iIteration == 0) {
		imageStore(iOutput, p, vec4(p.x));
		even[p.x] = float(p.x);
	} else if ((iIteration & 1) == 1) {
		imageStore(iOutput1, p, imageLoad(iOutput, next));
		odd[p.x] = even[next.x];
	} else {
		imageStore(iOutput, p, imageLoad(iOutput1, next));
		even[p.x] = odd[next.x];
	}
}
GLSL
cat >look.frag <<'GLSL'
layout(std430, binding = 0) buffer Line { float even[16]; float odd[16]; };
void mainImage(out vec4 c, in vec2 p)
{
	int x = int(p.x);
	c = vec4(texelFetch(iChannel0, ivec2(x, 0), 0).r, even[x], odd[x],
		texture(iChannel0, vec2((p.x + 1.0) / 16.0, 0.5)).g);
}
GLSL
cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p) { c = texelFetch(iChannel0, ivec2(p.x, 0), 0) / 255.0; }
GLSL
cat >stbuild.json <<'JSON'
{
	"format": 1, "project": { "name": "shift" },
	"render": { "width": 16, "height": 1 },
	"pass": [
		{ "name": "shift", "kind": "compute", "source": "shift.comp", "width": 16, "height": 1,
			"local_size": [4, 1, 1], "iterations": 9, "extra_outputs": ["rgba32f"],
			"storage": [ { "binding": 0, "name": "line", "size": 128 } ] },
		{ "name": "look", "kind": "buffer", "source": "look.frag",
			"storage": [ { "binding": 0, "name": "line", "size": 128 } ], "input": [
			{ "channel": 0, "source": "shift", "filter": "nearest" } ] },
		{ "name": "image", "kind": "image", "source": "image.frag", "input": [
			{ "channel": 0, "source": "look" } ] }
	],
	"trace": [ { "name": "t", "frames": [0, 3], "include_intermediates": true } ]
}
JSON
expect_status 0 "$STBUILD"
for t in 0 3; do
	expect_value $t look-output-0 16 0 0 '8 8 7 9'
	expect_value $t look-output-0 16 3 0 '11 11 10 12'
	expect_value $t look-output-0 16 12 0 '4 4 3 5'
	expect_value $t shift-output-1 16 0 0 '7 7 7 7'
done

# Storage both ways: a fragment pass writes what the compute pass of the next
# frame finds, the image writes as well, and zeros are first.
cd "$here" && mkdir both && cd both
cat >add.comp <<'GLSL'
layout(std430, binding = 1) buffer Shared { int sum; int seen; };
void mainCompute(ivec2 p)
{
	seen = sum;
	sum = sum * 2 + 1;
	imageStore(iOutput, p, vec4(sum, seen, 0.0, 1.0));
}
GLSL
cat >more.frag <<'GLSL'
layout(std430, binding = 0) buffer Shared { int sum; int seen; };
void mainImage(out vec4 c, in vec2 p)
{
	float ready = texelFetch(iChannel0, ivec2(0), 0).a;
	c = vec4(atomicAdd(sum, 10), seen, 0.0, ready);
}
GLSL
cat >image.frag <<'GLSL'
layout(std430, binding = 7) buffer Shared { int sum; int seen; };
void mainImage(out vec4 c, in vec2 p)
{
	float last = texelFetch(iChannel0, ivec2(0), 0).r;
	if (ivec2(p) == ivec2(0))
		atomicAdd(sum, 100);
	c = vec4(last, seen, 0.0, 0.0) / 255.0;
}
GLSL
cat >stbuild.json <<'JSON'
{
	"format": 1, "project": { "name": "both" },
	"render": { "width": 8, "height": 4 },
	"pass": [
		{ "name": "add", "kind": "compute", "source": "add.comp", "width": 1, "height": 1,
			"local_size": [1, 1, 1],
			"storage": [ { "binding": 1, "name": "shared", "size": 8 } ] },
		{ "name": "more", "kind": "buffer", "source": "more.frag", "width": 1, "height": 1,
			"storage": [ { "binding": 0, "name": "shared", "size": 8 } ],
			"input": [ { "channel": 0, "source": "add" } ] },
		{ "name": "image", "kind": "image", "source": "image.frag",
			"storage": [ { "binding": 7, "name": "shared", "size": 8 } ],
			"input": [ { "channel": 0, "source": "more" } ] }
	],
	"trace": [ { "name": "t", "frames": [0, 1], "include_intermediates": true } ]
}
JSON
capture 0 6
# 0 -> 1 -> 11 -> 111 -> 223 -> 233 -> 333
expect_value 0 add-output-0 1 0 0 '1 0 0 1'
expect_value 0 more-output-0 1 0 0 '1 0 0 1'
expect_value 1 add-output-0 1 0 0 '223 111 0 1'
expect_value 1 more-output-0 1 0 0 '223 111 0 1'
expect_pixel target/traces/t@0.sttrace/final.png 0 0 '1 0 0 255'
expect_pixel target/traces/t@1.sttrace/final.png 0 0 '223 111 0 255'
# The state has the buffer's bytes last: sum 333 = 0x14d and seen 111 = 0x6f.
for t in 0 1; do
	tail -c 8 target/traces/t@$t.sttrace/state.ststate | od -An -tx1 | tr -d ' ' >bytes.$t
done
expect_equal "$(cat bytes.0)" 6f00000000000000
expect_equal "$(cat bytes.1)" 4d0100006f000000

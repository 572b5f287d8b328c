#!/bin/sh
# A simulation whose frame 0 is what it was before an edit: that is found out
# when frame 0 is stored, which may be long after a later frame was. What is
# current stays so.
. "$SRCDIR/tests/lib.sh"
need_egl

cat >stbuild.json <<'JSON'
{
	"format": 1,
	"project": { "name": "alias" },
	"render": { "width": 8, "height": 4 },
	"pass": [
		{ "name": "sim", "kind": "buffer", "source": "sim.frag",
			"width": 8, "height": 8, "input": [
			{ "channel": 0, "source": "sim", "frame": "previous" } ] },
		{ "name": "image", "kind": "image", "source": "image.frag",
			"input": [ { "channel": 0, "source": "sim" } ] }
	],
	"trace": [
		{ "name": "end", "frame": 30 },
		{ "name": "small", "frames": [ 0, 10 ], "width": 4 }
	]
}
JSON
cat >sim.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = texelFetch(iChannel0, ivec2(p), 0) * 0.5 + float(iFrame + 1) / 64.0;
}
GLSL
cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = texelFetch(iChannel0, ivec2(p), 0);
}
GLSL

expect_status 0 "$STBUILD"
edit sim.frag 's/0\.5/0.25/'
expect_status 0 "$STBUILD"
# In one run: "end" was drawn before "small" stored frame 0.
expect_status 0 "$STBUILD" -q
capture 0 0
expect_bundles current current current

# In two runs.
edit sim.frag 's/0\.25/0.75/'
capture 0 32 end
capture 0 1 small@0
expect_status 0 "$STBUILD" -q end
capture 0 0 end
expect_bundles current
# Frame 10 of it: 10 of the simulation behind frame 0, 1 picture.
capture 0 11
expect_status 0 "$STBUILD" -q
expect_status 0 "$STBUILD" stats
expect_text out 'aliases '
expect_no_text out 'aliases      0'

# A feedback pass shared by traces, with another one behind it that each trace
# has of its own: what one trace finds out leaves the others as they stand.
# shared NAME A B: traces a and b at these frames, before and after another
# text for the same.
shared()
{
	rm -rf .stbuild target
	cat >stbuild.json <<JSON
{
	"format": 1,
	"project": { "name": "shared" },
	"render": { "width": 4, "height": 4 },
	"uniform": [ { "name": "k", "type": "float", "default": 1 } ],
	"pass": [
		{ "name": "sim", "kind": "buffer", "source": "sim.frag", "input": [
			{ "channel": 0, "source": "sim", "frame": "previous" } ] },
		{ "name": "own", "kind": "$1", "source": "own.$1", "width": 4,
			"height": 4, $2 "input": [
			{ "channel": 0, "source": "sim" },
			{ "channel": 1, "source": "own", "frame": "previous" } ] },
		{ "name": "image", "kind": "image", "source": "image.frag",
			"input": [ { "channel": 0, "source": "own" } ] }
	],
	"trace": [
		{ "name": "a", "frames": [ $3 ] },
		{ "name": "b", "frames": [ $4 ], "set": { "k": 2 } },
		{ "name": "c", "frames": [ $4 ], "width": 8 }
	]
}
JSON
	cat >sim.frag <<-'GLSL'
	void mainImage(out vec4 c, in vec2 p)
	{
		vec4 was = texelFetch(iChannel0, ivec2(p), 0);
		c = was + 1.0;
	}
	GLSL
	cat >own.buffer <<-'GLSL'
	void mainImage(out vec4 c, in vec2 p)
	{
		c = texelFetch(iChannel1, ivec2(p), 0) +
			k * texelFetch(iChannel0, ivec2(p), 0);
	}
	GLSL
	cat >own.compute <<-'GLSL'
	layout(std430, binding = 0) buffer Sum { float sum[]; };
	void mainCompute(ivec2 p)
	{
		uint i = uint(p.y * 4 + p.x);
		sum[i] += k * texelFetch(iChannel0, p, 0).x;
		imageStore(iOutput, p, vec4(sum[i]));
	}
	GLSL
	expect_status 0 "$STBUILD"
	expect_status 0 "$STBUILD" -q
	edit sim.frag 's/was/before/'
	expect_status 0 "$STBUILD"
	expect_status 0 "$STBUILD" -q
	capture 0 0
	# The store alone gives all of it back.
	rm -rf target
	capture 0 0
	edit own.buffer 's/c = /c = 0.0 + /'
	edit own.compute 's/sum.i. += /sum[i] += 0.0 + /'
	expect_status 0 "$STBUILD" b
	expect_status 0 "$STBUILD"
	expect_status 0 "$STBUILD" -q
	rm -rf target
	capture 0 0
	mv target kept
	rm -rf .stbuild
	expect_status 0 "$STBUILD"
	for trace in target/traces/*; do
		for file in final.png state.ststate; do
			cmp "$trace/$file" "kept/${trace#target/}/$file" ||
				fail "$trace: $file is not that of a fresh capture"
		done
	done
	rm -rf kept
}

storage='"storage": [ { "binding": 0, "name": "sum", "size": 64 } ],'
shared buffer '' '0, 5, 12' '3, 5'
shared buffer '' '4' '0, 2, 9'
shared buffer '' '7, 8' '1'
shared compute "$storage" '0, 3, 6' '2, 5'
shared compute "$storage" '5' '0, 4'

# With -B a buffer that an earlier text filled with the same bytes is of this
# run, too: nothing is drawn twice.
rm -rf .stbuild target
cat >stbuild.json <<'JSON'
{
	"format": 1,
	"project": { "name": "written" },
	"render": { "width": 4, "height": 4 },
	"pass": [
		{ "name": "sim", "kind": "buffer", "source": "sim.frag", "storage": [
			{ "binding": 1, "name": "count", "size": 16 } ] },
		{ "name": "image", "kind": "image", "source": "image.frag",
			"input": [ { "channel": 0, "source": "sim" } ] }
	],
	"trace": [ { "name": "a", "frames": [ 0, 3 ] } ]
}
JSON
cat >sim.frag <<'GLSL'
layout(std430, binding = 1) buffer Count { int n; };
void mainImage(out vec4 c, in vec2 p)
{
	int one = 1;
	if (ivec2(p) == ivec2(0))
		n += one;
	c = vec4(iFrame, 0.0, 0.0, 1.0);
}
GLSL
capture 0 6
edit sim.frag 's/one/step1/g'
capture 0 6 -B
expect_status 0 "$STBUILD" -q
capture 0 6 -B

#!/bin/sh
# What follows from how keys are made, each with its number of draws. Where the
# store has no say, checkpoints are off.

. "$SRCDIR/tests/lib.sh"
need_egl

# project NAME: a folder of its own, and its manifest from the standard input:
# the part behind the name, the size (8x8 at 60 fps) and the store.
project()
{
	mkdir "$top/$1"
	cd "$top/$1"
	{
		printf '{\n"format": 1, "project": { "name": "%s" },\n' "$1"
		printf '"render": { "width": 8, "height": 8 },\n'
		printf '"store": { "checkpoint": "off" },\n'
		cat
		printf '}\n'
	} >stbuild.json
}

top=$PWD
frame=target/traces/t@

# A simulation that adds its push, in 4096ths, and the picture of it.
simulation()
{
	project "$1" <<'JSON'
"uniform": [ { "name": "push", "type": "float", "default": 1 } ],
"pass": [
	{ "name": "image", "kind": "image", "source": "image.frag",
		"input": [ { "channel": 0, "source": "sim" } ] },
	{ "name": "sim", "kind": "buffer", "source": "sim.frag", "width": 4, "height": 4,
		"input": [ { "channel": 0, "source": "sim", "frame": "previous" } ] }
],
"trace": [ { "name": "t", "frame": 320 } ]
JSON
	cat >sim.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = texelFetch(iChannel0, ivec2(p), 0) + vec4(push / 4096.0);
}
GLSL
	cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = texelFetch(iChannel0, ivec2(0), 0) * 4.0;
}
GLSL
}

# A timeline that changes at frame 300, with state stored at 50, 100, .. 300.
# Frames 0 to 320 are 321, and the picture. 321 x 4 / 4096 x 255 = 79.9.
simulation timeline
edit stbuild.json 's/"off"/50/'
capture 0 322
expect_pixel ${frame}320.sttrace/final.png 0 0 '80 80 80 255'
# 0..299 are as they were: of what is stored, frame 250 is the last. 251..320
# are 70, and the picture. 300 + 2 x 21 = 342; 342 x 4 / 4096 x 255 = 85.2.
cp stbuild.json none.json
edit stbuild.json 's/^"pass"/"timeline": [ { "frame": 300, "set": { "push": 2 } } ],\n&/'
cp stbuild.json two.json
capture 0 71
expect_pixel ${frame}320.sttrace/final.png 0 0 '85 85 85 255'
# The value alone: the same. 300 + 4 x 21 = 384; 384 x 4 / 4096 x 255 = 95.6.
edit stbuild.json 's/"push": 2/"push": 4/'
capture 0 71
expect_pixel ${frame}320.sttrace/final.png 0 0 '96 96 96 255'
# A later change keeps what is stored at 300, which is before it: 301..320 are
# 20, and the picture. 310 + 4 x 11 = 354; 354 x 4 / 4096 x 255 = 88.2.
edit stbuild.json 's/"frame": 300/"frame": 310/'
capture 0 21
expect_pixel ${frame}320.sttrace/final.png 0 0 '88 88 88 255'
# Each of them is known by now.
cp none.json stbuild.json
capture 0 0
cp two.json stbuild.json
capture 0 0
expect_pixel ${frame}320.sttrace/final.png 0 0 '85 85 85 255'

# From frame 120 to 180: 60 of the simulation, and the picture once.
simulation extended
edit stbuild.json 's/320/120/'
capture 0 122
edit stbuild.json 's/120/180/'
capture 0 61
expect_json out counts.nodes_loaded 1
# 181 x 4 / 4096 x 255 = 45.1.
expect_pixel ${frame}180.sttrace/final.png 0 0 '45 45 45 255'
# Both, and what lies between them: 149 from 120, 29 and a picture.
edit stbuild.json 's/"frame": 180/"frames": [120, 149, 180]/'
capture 0 30

# Several results of one node: none replaces another.
simulation results
edit stbuild.json 's/320/4/'
capture 0 6
for push in 2 3; do
	edit stbuild.json "s/\"default\": [0-9]/\"default\": $push/"
	capture 0 6
done
for push in 1 3 2; do
	edit stbuild.json "s/\"default\": [0-9]/\"default\": $push/"
	capture 0 0
	# 5 frames: 5 x 4 / 4096 x 255 = 1.2, twice and three times as much.
	case $push in 1) value=1 ;; 2) value=2 ;; 3) value=4 ;; esac
	expect_pixel ${frame}4.sttrace/final.png 0 0 "$value $value $value 255"
done
# Anew, whatever is stored: as many as at first.
capture 0 6 -B
expect_json out counts.nodes_reused 0
expect_json out counts.nodes_loaded 0
capture 0 0
expect_bundles current

# Branches.
if command -v git >/dev/null; then
	simulation branches
	edit stbuild.json 's/320/4/'
	printf '/.stbuild\n/target\n/out\n/err\n' >.gitignore
	git init -q -b one . && git add . && git commit -q -m one
	capture 0 6
	pictures ${frame}4.sttrace >"$top/one"
	git checkout -q -b two
	edit sim.frag 's/push/& * 2.0/'
	git commit -q -a -m two
	capture 0 6
	for branch in one two one; do
		git checkout -q $branch
		capture 0 0
	done
	pictures ${frame}4.sttrace >now
	expect_same "$top/one" now
fi

# A generator that does not vary, behind it a simulation, and the picture.
generator()
{
	project "$1" <<'JSON'
"pass": [
	{ "name": "image", "kind": "image", "source": "image.frag",
		"input": [ { "channel": 0, "source": "sim" } ] },
	{ "name": "sim", "kind": "buffer", "source": "sim.frag", "width": 4, "height": 4,
		"input": [ { "channel": 0, "source": "sim", "frame": "previous" },
			{ "channel": 1, "source": "gen" } ] },
	{ "name": "gen", "kind": "buffer", "source": "gen.frag", "width": 4, "height": 4 }
],
"trace": [ { "name": "t", "frame": 60 } ]
JSON
	cat >gen.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = vec4(0.5);
}
GLSL
	cat >sim.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = texelFetch(iChannel0, ivec2(p), 0) + texelFetch(iChannel1, ivec2(p), 0) / 64.0;
}
GLSL
	cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = texelFetch(iChannel0, ivec2(0), 0);
}
GLSL
}

# 1 of the generator, 61 of the simulation, 1 picture: 61 / 128 x 255 = 121.5.
generator alias
capture 0 63
pictures ${frame}60.sttrace >first
# Another text that makes the same bytes is drawn once, and nothing behind it;
# before that, nobody can know.
edit gen.frag 's/0.5/0.25 + 0.25/'
capture 0 63 -n
capture 0 1
expect_bundles built
pictures ${frame}60.sttrace >now
expect_same first now
capture 0 0
expect_bundles current
# What is found for one size serves the other, and the next edit as well.
edit stbuild.json 's/"frame": 60 }/&, { "name": "u", "frame": 60, "width": 16 }/'
capture 0 1
edit gen.frag 's/0.25 + 0.25/0.75 - 0.25/'
capture 0 1
expect_bundles built built
edit gen.frag 's/0.75 - 0.25/0.5 * 1.0/'
capture 0 1 -j 2
capture 0 0
expect_bundles current current
# Other bytes: all of it, and both pictures.
edit gen.frag 's/0.5 \* 1.0/0.25/'
capture 0 64

# An edit that shows in no picture: one draw each, and as many bundles.
generator unseen
edit stbuild.json 's/"frame": 60/"frames": [0, 3, 6]/'
capture 0 11
edit image.frag 's/0);/0) + vec4(0.0001);/'
capture 0 3
expect_bundles built built built
capture 0 0
expect_bundles current current current
# Nor does one in the simulation at frame 0. The picture of frame 0 is spared,
# frames 1 to 6 and their two are drawn, and frame 0 not once more: 7 + 2.
edit sim.frag 's/64.0/64.0 + float(iFrame) \/ 256.0/'
capture 0 9
capture 0 0
expect_bundles current current current

# A compute pass that keeps a number, and a picture that reads it.
project compute <<'JSON'
"pass": [
	{ "name": "image", "kind": "image", "source": "image.frag",
		"input": [ { "channel": 0, "source": "count" } ],
		"storage": [ { "binding": 0, "name": "n", "size": 16 } ] },
	{ "name": "count", "kind": "compute", "source": "count.comp", "width": 4, "height": 4,
		"storage": [ { "binding": 0, "name": "n", "size": 16 } ] }
],
"trace": [ { "name": "t", "frame": 10 } ]
JSON
cat >count.comp <<'GLSL'
layout(std430, binding = 0) buffer N { int n; int hidden; };
void mainCompute(ivec2 p)
{
	if (p == ivec2(0))
		n += 2;
	imageStore(iOutput, p, vec4(0.5));
}
GLSL
cat >image.frag <<'GLSL'
layout(std430, binding = 0) readonly buffer N { int n; };
void mainImage(out vec4 c, in vec2 p)
{
	c = vec4(float(n) / 255.0, texelFetch(iChannel0, ivec2(0), 0).g, 0.0, 1.0);
}
GLSL
# Who only reads has no effect on anything: 11, and the picture once.
capture 0 12
expect_pixel ${frame}10.sttrace/final.png 0 0 '22 128 0 255'
# The same bytes in the picture and in the buffer: the reader is spared.
edit count.comp 's/n += 2/n += 1 + 1/'
capture 0 11
capture 0 0
expect_bundles current
# Other bytes in the buffer alone: it is not.
edit count.comp 's/n += 1 + 1;/{ n += 2; hidden++; }/'
capture 0 12
expect_pixel ${frame}10.sttrace/final.png 0 0 '22 128 0 255'
# The picture's edit: itself alone, whatever the buffer went through.
edit image.frag 's/0.0, 1.0/1.0, 1.0/'
capture 0 1
expect_pixel ${frame}10.sttrace/final.png 0 0 '22 128 255 255'
# Once the picture may write, too, it is drawn at every frame: 11 and 11.
edit image.frag 's/ readonly / /'
capture 0 22
expect_pixel ${frame}10.sttrace/final.png 0 0 '22 128 255 255'

# A new program is compiled before anything is called current, even where no
# picture can tell.
generator programs
edit stbuild.json 's/60/2/'
capture 0 5
printf 'float spare(float x) { return x + 1.0; }\n' >>gen.frag
capture 0 0
expect_json out counts.programs_compiled 1
expect_bundles assembled
edit gen.frag 's/x + 1.0/x + 2.0/'
capture 0 0
expect_json out counts.programs_compiled 1
edit gen.frag 's/x + 2.0/x + /'
capture 1 0
expect_text err gen.frag
edit gen.frag 's/x + /x + 2.0/'
capture 0 0
expect_json out counts.programs_compiled 0

#!/bin/sh
# Two captures against each other: where they part first, and why.

. "$SRCDIR/tests/lib.sh"
need_egl
need_tool git

git init -q .
git config user.name t
git config user.email t@example.org
cat >stbuild.json <<'JSON'
{
	"format": 1,
	"project": { "name": "diff" },
	"render": { "width": 8, "height": 4 },
	"uniform": [ { "name": "step", "type": "float", "default": 0.25 } ],
	"pass": [
		{ "name": "image", "kind": "image", "source": "image.frag",
			"input": [ { "channel": 0, "source": "b" } ] },
		{ "name": "a", "kind": "buffer", "source": "a.frag",
			"input": [ { "channel": 0, "source": "a",
				"frame": "previous" } ] },
		{ "name": "b", "kind": "buffer", "source": "b.frag",
			"input": [ { "channel": 0, "source": "a" } ] }
	],
	"trace": [ { "name": "t", "frames": [0, 2] } ]
}
JSON
cat >a.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = texelFetch(iChannel0, ivec2(p), 0) + vec4(step, 0.0, 0.0, 1.0);
}
GLSL
cat >b.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = texelFetch(iChannel0, ivec2(p), 0);
}
GLSL
cp b.frag image.frag
git add .
git commit -qm one
"$STBUILD" -s
t=target/traces
cp -R $t/t@2.sttrace old.sttrace

expect_status 0 "$STBUILD" diff old.sttrace $t/t@2.sttrace
expect_text out 'are equal'
expect_status 0 "$STBUILD" diff old.sttrace/trace.json $t/t@2.sttrace --json
expect_json out ok true
expect_json out equal true
expect_json out first null
expect_json out 'causes#' 0
expect_json out 'parts#' 3
expect_json out differs.source false
expect_json out differs.driver false

# One texel of the second pass; a runs before b, and image last.
cat >b.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = texelFetch(iChannel0, ivec2(p), 0);
	if (ivec2(p) == ivec2(5, 1))
		c.r -= 0.5;
}
GLSL
"$STBUILD" -s
expect_status 1 "$STBUILD" diff old.sttrace $t/t@2.sttrace --json
expect_json out ok false
expect_json out equal false
expect_json out first.kind output
expect_json out first.frame 2
expect_json out first.pass b
expect_json out first.output 0
expect_json out 'first.pixel[0]' 5
expect_json out 'first.pixel[1]' 1
expect_json out first.channel r
expect_json out first.a 0.75
expect_json out first.b 0.25
expect_json out first.a_bits 0x3f400000
expect_json out 'parts[0].pass' a
expect_json out 'parts[0].equal' true
expect_json out 'parts[1].pixels_differing' 1
expect_json out 'parts[1].max' 0.5
expect_json out picture.pixels_differing 1
expect_json out picture.max 127
expect_json out differs.source true
expect_json out differs.input false
expect_json out 'causes#' 1
expect_json out 'causes[0].name' "pass 'b'"
expect_status 1 "$STBUILD" diff old.sttrace $t/t@2.sttrace
expect_text out "first: frame 2, pass 'b' output 0, pixel (5, 1), channel r: 0.75, 0.25"
expect_text out "source differs: pass 'b': "
expect_text out "pass 'a' output 0: equal"
expect_status 1 "$STBUILD" diff -q old.sttrace $t/t@2.sttrace
expect_equal "$(wc -c <out)" 0

# Pictures: old, new and their difference, the largest white.
expect_status 1 "$STBUILD" diff old.sttrace $t/t@2.sttrace -o d
expect_pixel d/difference.png 5 2 '255 0 0 255'
expect_pixel d/difference.png 4 2 '0 0 0 255'
expect_pixel d/side-by-side.png 5 2 '191 0 0 255'
expect_pixel d/side-by-side.png 13 2 '64 0 0 255'
expect_pixel d/side-by-side.png 21 2 '255 0 0 255'
expect_status 1 "$STBUILD" diff old.sttrace $t/t@2.sttrace -o one.png
expect_same one.png d/side-by-side.png
expect_status 0 "$STBUILD" diff one.png d/side-by-side.png
expect_status 1 "$STBUILD" diff old.sttrace/final.png $t/t@2.sttrace --json
expect_json out first.kind picture
expect_json out 'first.pixel[0]' 5
expect_json out 'first.pixel[1]' 2
expect_json out differs.source null

# Names of traces, at a revision and in the work tree, from a folder below.
mkdir below
(cd below && expect_status 1 "$STBUILD" diff HEAD:t@2 t@2 --json &&
	expect_json out first.pass b && expect_json out first.b 0.25)
expect_status 0 "$STBUILD" diff HEAD:t@2 old.sttrace
expect_status 1 "$STBUILD" diff HEAD:t@0 HEAD:t@2 --json
expect_json out first.pass a
expect_json out differs.input true
expect_json out 'causes[0].name' frame
expect_status 2 "$STBUILD" diff HEAD:t@2 HEAD:lost@2
expect_text err "for 'HEAD:lost@2'"
expect_status 2 "$STBUILD" diff lost:t@2 t@2

# An input.
git checkout -q b.frag
"$STBUILD" -s t@2 --set step=0.5 -o set.sttrace
expect_status 1 "$STBUILD" diff old.sttrace set.sttrace --json
expect_json out first.pass a
expect_json out 'first.pixel[0]' 0
expect_json out first.a 0.75
expect_json out first.b 1.5
expect_json out differs.source false
expect_json out differs.input true
expect_json out 'causes[0].name' "uniform 'step'"
expect_json out 'causes[0].a' 0.25
expect_json out 'causes[0].b' 0.5
"$STBUILD" -s t@2 --width 4 -o narrow.sttrace
expect_status 1 "$STBUILD" diff old.sttrace narrow.sttrace --json -o d
expect_json out picture.same_size false
expect_json out first.pass a
[ ! -e d/difference.png ] || fail 'a difference of two sizes'

# What cannot be read.
expect_status 2 "$STBUILD" diff t t
expect_text err "'t' is a trace: add a frame, for example t@"
expect_status 2 "$STBUILD" diff old.sttrace
expect_status 2 "$STBUILD" diff old.sttrace lost.sttrace
expect_status 2 "$STBUILD" diff old.sttrace stbuild.json
printf x >>narrow.sttrace/final.png
expect_status 2 "$STBUILD" diff old.sttrace narrow.sttrace
expect_text err 'narrow.sttrace'

# A pass that comes from a checkpoint has its place and its time all the same.
mkdir checkpoint && cd checkpoint
cat >stbuild.json <<'JSON'
{
	"format": 1,
	"project": { "name": "checkpoint" },
	"render": { "width": 4, "height": 2 },
	"pass": [
		{ "name": "sim", "kind": "buffer", "source": "sim.frag", "input": [
			{ "channel": 0, "source": "sim", "frame": "previous" } ] },
		{ "name": "blur", "kind": "buffer", "source": "copy.frag",
			"input": [ { "channel": 0, "source": "sim" } ] },
		{ "name": "image", "kind": "image", "source": "copy.frag",
			"input": [ { "channel": 0, "source": "blur" } ] }
	],
	"store": { "checkpoint": 2 },
	"trace": [ { "name": "t", "frames": [ 4, 6 ] } ],
	"test": [ { "name": "budget", "frame": 4, "max_gpu_ms": 1e9,
		"max_pass_gpu_ms": { "sim": 1e9, "blur": 1e9, "image": 1e9 } } ]
}
JSON
cat >sim.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p) { c = texelFetch(iChannel0, ivec2(p), 0) + 0.0625; }
GLSL
cat >copy.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p) { c = texelFetch(iChannel0, ivec2(p), 0); }
GLSL
"$STBUILD" -s t@6
capture 0 2 t@4 -o a.sttrace
expect_json a.sttrace/trace.json 'pass_timings#' 3
expect_json a.sttrace/trace.json 'pass_timings[0].name' sim
expect_status 0 "$STBUILD" test
edit sim.frag 's/0\.0625/0.125/'
"$STBUILD" -s t@4 -o b.sttrace
for both in 'a b' 'b a'; do
	expect_status 1 "$STBUILD" diff "${both% *}.sttrace" "${both#* }.sttrace" --json
	expect_json out first.pass sim
done
cd ..

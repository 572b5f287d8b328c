#!/bin/sh
# Cases worked out by hand: the draws of each capture, and what it shows.

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

# paint FILE STATEMENT..: an image or buffer that does so.
paint()
{
	file=$1
	shift
	{
		printf 'void mainImage(out vec4 c, in vec2 p)\n{\n'
		printf '\t%s;\n' "$@"
		printf '}\n'
	} >"$file"
}

show()
{
	expect_pixel "target/traces/t@$1.sttrace/final.png" 0 0 "$2"
}

top=$PWD

# A cubemap that reads its own previous frame: 1/8 more a frame. Frames 0, 1, 2
# and the picture: 3/8 x 255 = 95.6.
project cubemap <<'JSON'
"pass": [
	{ "name": "image", "kind": "image", "source": "image.frag",
		"input": [ { "channel": 0, "source": "cube" } ] },
	{ "name": "cube", "kind": "cubemap", "source": "cube.frag",
		"input": [ { "channel": 0, "source": "cube", "frame": "previous" } ] }
],
"trace": [ { "name": "t", "frame": 2 } ]
JSON
cat >cube.frag <<'GLSL'
void mainCubemap(out vec4 c, in vec2 p, in vec3 from, in vec3 to)
{
	c = textureLod(iChannel0, to, 0.0) + vec4(0.125);
}
GLSL
paint image.frag 'c = textureLod(iChannel0, vec3(0.0, 0.0, 1.0), 0.0)'
capture 0 4
show 2 '96 96 96 255'
# From what is stored: its faces are state. Frame 3 of it, the picture: 127.5.
edit stbuild.json 's/"frame": 2/"frame": 3/'
capture 0 2
show 3 '128 128 128 255'
# The picture's edit, at another face: itself.
edit image.frag 's/1.0)/-1.0)/'
capture 0 1
show 3 '128 128 128 255'

# A buffer reads the previous frame of a pass that does not vary, in frames 0
# to 4: 1 of that pass; 2 of the buffer, with zeros and without; 2 pictures.
project still <<'JSON'
"pass": [
	{ "name": "image", "kind": "image", "source": "image.frag",
		"input": [ { "channel": 0, "source": "late" } ] },
	{ "name": "late", "kind": "buffer", "source": "late.frag", "width": 4, "height": 4,
		"input": [ { "channel": 0, "source": "still", "frame": "previous" } ] },
	{ "name": "still", "kind": "buffer", "source": "still.frag", "width": 4, "height": 4 }
],
"trace": [ { "name": "t", "frames": [ "0:4" ] } ]
JSON
paint image.frag 'c = texelFetch(iChannel0, ivec2(0), 0)'
paint late.frag 'c = texelFetch(iChannel0, ivec2(p), 0) + vec4(0.2)'
paint still.frag 'c = vec4(0.4)'
capture 0 5
show 0 '51 51 51 255'
show 1 '153 153 153 255'
show 4 '153 153 153 255'
# Frame 9 alone is known by now; from nothing it is 1 of each.
edit stbuild.json 's/\[ "0:4" \]/9/; s/frames/frame/'
capture 0 0
rm -r .stbuild target
capture 0 3
# What the still pass makes: that, late behind it, the picture; at frame 0 late
# has not seen it, so there are 2 pictures and not 4 in all.
edit stbuild.json 's/"frame": 9/"frames": [0, 9]/'
capture 0 2
edit still.frag 's/0.4/0.6/'
capture 0 3
show 0 '51 51 51 255'
show 9 '204 204 204 255'

# Compute iterations add to a buffer that a fragment pass reads. Frames 0 to 4
# of the compute pass, what reads it at frame 4, the picture: 7. 3 x 5 = 15.
project iterations <<'JSON'
"pass": [
	{ "name": "image", "kind": "image", "source": "image.frag",
		"input": [ { "channel": 0, "source": "view" } ] },
	{ "name": "view", "kind": "buffer", "source": "view.frag", "width": 4, "height": 4,
		"input": [ { "channel": 0, "source": "count" } ],
		"storage": [ { "binding": 2, "name": "n", "size": 4 } ] },
	{ "name": "count", "kind": "compute", "source": "count.comp", "iterations": 3,
		"width": 4, "height": 4,
		"storage": [ { "binding": 0, "name": "n", "size": 4 } ] }
],
"trace": [ { "name": "t", "frame": 4 } ]
JSON
cat >count.comp <<'GLSL'
layout(std430, binding = 0) buffer N { int n; };
void mainCompute(ivec2 p)
{
	if (p == ivec2(0))
		n++;
}
GLSL
{
	printf 'layout(std430, binding = 2) readonly buffer N { int n; };\n'
	paint view.body 'c = vec4(float(n) / 255.0, 0.0, 0.0, 1.0)'
	cat view.body
} >view.frag
paint image.frag 'c = texelFetch(iChannel0, ivec2(0), 0)'
capture 0 7
show 4 '15 0 0 255'
edit stbuild.json 's/"iterations": 3/"iterations": 2/'
capture 0 7
show 4 '10 0 0 255'
edit stbuild.json 's/"iterations": 2/"iterations": 3/'
capture 0 0
show 4 '15 0 0 255'
# A writer among them is drawn at every frame: 5 of each, and the picture. It
# adds 100 behind the 3 of each frame: 15 + 4 x 100 before its last, 164 modulo
# 251.
edit view.frag 's/ readonly//; s/float(n)/float(n % 251)/; s/^}/	if (ivec2(p) == ivec2(0)) n += 100;\n}/'
capture 0 11
show 4 '164 0 0 255'

# Outputs are lost, buffers are not, and there are earlier nodes whose bytes the
# new ones might have: 11 of the compute pass, as none is stored, and 1 picture.
project lost <<'JSON'
"pass": [
	{ "name": "image", "kind": "image", "source": "image.frag",
		"input": [ { "channel": 0, "source": "count" } ] },
	{ "name": "count", "kind": "compute", "source": "count.comp",
		"width": 4, "height": 4,
		"storage": [ { "binding": 0, "name": "n", "size": 4 } ] }
],
"trace": [ { "name": "t", "frame": 10 } ]
JSON
cat >count.comp <<'GLSL'
layout(std430, binding = 0) buffer N { int n; };
void mainCompute(ivec2 p)
{
	imageStore(iOutput, p, vec4(0.5));
	if (p == ivec2(0))
		n++;
}
GLSL
paint image.frag 'c = texelFetch(iChannel0, ivec2(0), 0)'
capture 0 12
edit count.comp 's/0.5/0.25/'
capture 0 12
find .stbuild/objects -type f -size 256c -exec rm {} +
capture 0 0
expect_bundles current
edit image.frag 's/$/ /; s/0);/0) * 2.0;/'
capture 0 12
show 10 '128 128 128 255'

# A buffer that one pass knows at two bindings: it is one buffer.
project twice <<'JSON'
"pass": [
	{ "name": "image", "kind": "image", "source": "image.frag",
		"input": [ { "channel": 0, "source": "count" } ] },
	{ "name": "count", "kind": "compute", "source": "count.comp",
		"width": 4, "height": 4,
		"storage": [ { "binding": 0, "name": "n", "size": 4 },
			{ "binding": 1, "name": "n", "size": 4 } ] }
],
"trace": [ { "name": "t", "frame": 3 } ]
JSON
cat >count.comp <<'GLSL'
layout(std430, binding = 0) buffer N { int n; };
layout(std430, binding = 1) readonly buffer M { int m; };
void mainCompute(ivec2 p)
{
	imageStore(iOutput, p, vec4(float(m) / 255.0));
	barrier();
	if (p == ivec2(0))
		n += 10;
}
GLSL
paint image.frag 'c = texelFetch(iChannel0, ivec2(0), 0)'
capture 0 5
show 3 '30 30 30 255'

# A preset that makes the simulation larger: all of it, and the picture. Both
# stay: going from one to the other is nothing.
project preset <<'JSON'
"pass": [
	{ "name": "image", "kind": "image", "source": "image.frag",
		"input": [ { "channel": 0, "source": "sim" } ] },
	{ "name": "sim", "kind": "buffer", "source": "sim.frag", "width": 4, "height": 4,
		"input": [ { "channel": 0, "source": "sim", "frame": "previous" } ] }
],
"preset": { "large": { "pass": { "sim": { "width": 8, "height": 8 } } } },
"trace": [ { "name": "t", "frame": 12 } ]
JSON
paint image.frag 'c = texelFetch(iChannel0, ivec2(0), 0)'
paint sim.frag 'c = texelFetch(iChannel0, ivec2(p), 0) + vec4(iResolution.x / 1024.0)'
# 13 x 4 / 1024 x 255 = 12.9, and twice that.
capture 0 14
show 12 '13 13 13 255'
edit stbuild.json 's/"frame": 12/&, "preset": "large"/'
capture 0 14
show 12 '26 26 26 255'
edit stbuild.json 's/, "preset": "large"//'
capture 0 0
show 12 '13 13 13 255'

# Two sizes of the picture share the simulation, with two workers as with one:
# 13 of it and 2 pictures.
edit stbuild.json 's/"frame": 12 }/&, { "name": "u", "frame": 12, "width": 16 }/'
rm -r .stbuild target
capture 0 15 -j 2
expect_bundles built built
show 12 '13 13 13 255'
capture 0 0 -j 2
expect_bundles current current
# The second at frame 20: the 8 behind what the first stored, and a picture.
rm -r .stbuild target
edit stbuild.json 's/"u", "frame": 12/"u", "frame": 20/'
capture 0 23 -j 2

# An object that is gone while its row stands. What is current needs none; the
# picture's edit needs the simulation at frame 12, and that all before it.
find .stbuild/objects -type f -exec rm {} +
capture 0 0
expect_bundles current current
edit image.frag 's/0);/0) * 2.0;/'
capture 0 23
show 12 '26 26 26 255'
# Where checkpoints are and frame 12 alone is lost, which looks like nothing
# else: it is drawn from 11, the other half of its pair.
rm -r .stbuild target
edit stbuild.json 's/"off"/5/; s/, { "name": "u".*}/ ]/; s/\] \]/]/; s/"frame": 12/&, "include_intermediates": true/'
capture 0 14
sha=$(sha256sum <target/traces/t@12.sttrace/passes/sim-output-0.rgba32f | cut -c1-64)
rm ".stbuild/objects/$(printf %.2s "$sha")/${sha#??}"
edit image.frag 's/2[.]0/3.0/'
capture 0 2
show 12 '39 39 39 255'
edit stbuild.json 's/, "include_intermediates": true//'
capture 0 0

# With and without intermediates in turn: what they show is stored in any case.
edit stbuild.json 's/"frame": 12/&, "include_intermediates": true/'
capture 0 0
expect_bundles assembled
test -f target/traces/t@12.sttrace/passes/sim-output-0.rgba32f || fail 'no intermediate'
edit stbuild.json 's/, "include_intermediates": true//'
capture 0 0
expect_bundles assembled
test ! -e target/traces/t@12.sttrace/passes || fail 'intermediates'
edit stbuild.json 's/"frame": 12/&, "include_intermediates": true/'
capture 0 0

# A comment, while the bundle is gone: it comes back, with the new text.
pictures target/traces/t@12.sttrace >first
rm -r target/traces/t@12.sttrace
printf '// why\n' >>sim.frag
capture 0 0
expect_bundles assembled
pictures target/traces/t@12.sttrace >now
expect_same first now
expect_text target/traces/t@12.sttrace/project.sttf why
rm target/traces/t@12.sttrace/final.png
capture 0 0
expect_bundles restored
pictures target/traces/t@12.sttrace >now
expect_same first now
cp target/traces/t@12.sttrace/final.png "$top/asset.png"

# A texture turned upside down: who reads it, once each way.
project vflip <<'JSON'
"asset": [ { "name": "a", "kind": "texture", "path": "a.png", "vflip": false } ],
"pass": [
	{ "name": "image", "kind": "image", "source": "image.frag",
		"input": [ { "channel": 0, "source": "copy" } ] },
	{ "name": "copy", "kind": "buffer", "source": "copy.frag",
		"input": [ { "channel": 0, "source": "a" } ] }
],
"trace": [ { "name": "t", "frame": 0 } ]
JSON
paint image.frag 'c = texelFetch(iChannel0, ivec2(p), 0)'
paint copy.frag 'c = vec4(p.y / 8.0)'
cp "$top/asset.png" a.png
capture 0 2
cp target/traces/t@0.sttrace/final.png a.png
paint copy.frag 'c = texelFetch(iChannel0, ivec2(p), 0)'
capture 0 2
pictures target/traces/t@0.sttrace >first
edit stbuild.json 's/"vflip": false/"vflip": true/'
capture 0 2
pictures target/traces/t@0.sttrace >now
! cmp -s first now || fail 'vflip has no effect'
edit stbuild.json 's/"vflip": true/"vflip": false/'
capture 0 0
pictures target/traces/t@0.sttrace >now
expect_same first now

# Another output of the same pass: who reads it.
project output <<'JSON'
"pass": [
	{ "name": "image", "kind": "image", "source": "image.frag",
		"input": [ { "channel": 0, "source": "two", "output": 0 } ] },
	{ "name": "two", "kind": "buffer", "source": "two.frag", "width": 4, "height": 4,
		"extra_outputs": [ "rgba16f" ] }
],
"trace": [ { "name": "t", "frame": 3 } ]
JSON
{
	printf 'layout(location = 1) out vec4 second;\n'
	paint two.body 'c = vec4(0.2)' 'second = vec4(0.4)'
	cat two.body
} >two.frag
paint image.frag 'c = texelFetch(iChannel0, ivec2(0), 0)'
capture 0 2
show 3 '51 51 51 255'
edit stbuild.json 's/"output": 0/"output": 1/'
capture 0 1
expect_json out counts.nodes_loaded 1
show 3 '102 102 102 255'
edit stbuild.json 's/"output": 1/"output": 0/'
capture 0 0
show 3 '51 51 51 255'

# One reader's mipmap gives the picture a chain that another sees: both are
# drawn, what they read is not.
project mipmap <<'JSON'
"pass": [
	{ "name": "image", "kind": "image", "source": "image.frag",
		"input": [ { "channel": 0, "source": "half", "filter": "linear" },
			{ "channel": 1, "source": "other" } ] },
	{ "name": "half", "kind": "buffer", "source": "half.frag", "width": 4, "height": 4 },
	{ "name": "other", "kind": "buffer", "source": "other.frag", "width": 4, "height": 4,
		"input": [ { "channel": 0, "source": "half", "filter": "nearest" } ] }
],
"trace": [ { "name": "t", "frame": 0 } ]
JSON
paint half.frag 'c = vec4(p.x < 1.0 ? 1.0 : 0.0)'
paint other.frag 'c = vec4(float(textureSize(iChannel0, 1).x) / 255.0, texelFetch(iChannel0, ivec2(0), 1).r, 0.0, 1.0)'
paint image.frag 'c = vec4(texelFetch(iChannel1, ivec2(0), 0).rg, texelFetch(iChannel0, ivec2(0), 0).r, 1.0)'
capture 0 3
edit stbuild.json 's/"linear"/"mipmap"/'
capture 0 2
expect_json out counts.nodes_loaded 1
show 0 '2 128 255 255'

# Two passes that are the same but for it: each has its own chain, or none.
project alike <<'JSON'
"pass": [
	{ "name": "image", "kind": "image", "source": "image.frag",
		"input": [ { "channel": 0, "source": "plain", "filter": "nearest" },
			{ "channel": 1, "source": "chain", "filter": "mipmap" } ] },
	{ "name": "plain", "kind": "buffer", "source": "half.frag", "width": 4, "height": 4 },
	{ "name": "chain", "kind": "buffer", "source": "half.frag", "width": 4, "height": 4 }
],
"trace": [ { "name": "t", "frame": 0 } ]
JSON
paint half.frag 'c = vec4(p.x < 1.0 ? 1.0 : 0.0)'
paint image.frag 'c = vec4(textureLod(iChannel1, vec2(0.5), 2.0).r, texelFetch(iChannel0, ivec2(0), 0).r, 0.0, 1.0)'
capture 0 3
show 0 '64 255 0 255'
# Without it they are one, and the picture is new.
edit stbuild.json 's/"mipmap"/"linear"/'
capture 0 1
show 0 '0 255 0 255'
rm -r .stbuild target
capture 0 2

# Passes that are the same at first, and draw over what they drew before: each
# over its own. The first column is of frame 0.
project over <<'JSON'
"pass": [
	{ "name": "image", "kind": "image", "source": "image.frag",
		"input": [ { "channel": 0, "source": "a" }, { "channel": 1, "source": "b" } ] },
	{ "name": "one", "kind": "buffer", "source": "one.frag", "width": 4, "height": 4 },
	{ "name": "two", "kind": "buffer", "source": "two.frag", "width": 4, "height": 4 },
	{ "name": "a", "kind": "buffer", "source": "over.frag", "width": 4, "height": 4,
		"input": [ { "channel": 0, "source": "one", "frame": "previous" } ] },
	{ "name": "b", "kind": "buffer", "source": "over.frag", "width": 4, "height": 4,
		"input": [ { "channel": 0, "source": "two", "frame": "previous" } ] }
],
"trace": [ { "name": "t", "frame": 2 } ]
JSON
paint one.frag 'c = vec4(0.2)'
paint two.frag 'c = vec4(0.4)'
paint over.frag 'if (p.x < 1.0 && iFrame > 0) discard' \
	'c = texelFetch(iChannel0, ivec2(p), 0) + vec4(iFrame == 0 ? 0.6 : 0.0)'
paint image.frag 'vec4 a = texelFetch(iChannel0, ivec2(1, 0), 0)' \
	'vec4 b = texelFetch(iChannel1, ivec2(1, 0), 0)' \
	'c = vec4(a.r, b.r, texelFetch(iChannel1, ivec2(0), 0).r, 1.0)'
# one, two; a and b as one at frame 0; both over it at 2; the picture. What odd
# frames draw over each other is nothing that frame 2 needs.
capture 0 6
show 2 '51 102 153 255'

# What a reader finds before frame 0 is zeros, but for what its format lacks:
# the alpha of r32f is 1.
project zeros <<'JSON'
"pass": [
	{ "name": "image", "kind": "image", "source": "image.frag",
		"input": [ { "channel": 0, "source": "b", "frame": "previous" } ] },
	{ "name": "b", "kind": "buffer", "source": "b.frag", "format": "rgba32f" }
],
"trace": [ { "name": "t", "frame": 0 } ]
JSON
paint b.frag 'c = vec4(1.0)'
paint image.frag 'c = vec4(texelFetch(iChannel0, ivec2(0), 0).a)'
capture 0 2
show 0 '0 0 0 255'
edit stbuild.json 's/rgba32f/r32f/'
capture 0 2
show 0 '255 255 255 255'

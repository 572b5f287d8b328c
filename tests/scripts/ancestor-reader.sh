#!/bin/sh
# What is written is what the ancestor's readers take: tests/tool/ancestor.c
# holds bundles to its rules, and no reader of ours is asked.

. "$SRCDIR/tests/lib.sh"
need_egl

ANCESTOR=$BUILDDIR/tests/tool/ancestor

mkdir maker
cat >maker/image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p) { c = vec4(p.x / 12.0, 0.5, 0.25, 1.0); }
GLSL
cat >maker/stbuild.json <<'JSON'
{ "format": 1, "project": { "name": "maker" }, "render": { "width": 12, "height": 2 },
	"pass": [ { "name": "image", "kind": "image", "source": "image.frag" } ] }
JSON
expect_status 0 "$STBUILD" -C maker --frame 0 -o ../strip.sttrace
cp strip.sttrace/final.png strip.png
expect_status 0 "$ANCESTOR" strip.sttrace
printf 'vol\0\2\0\0\0\2\0\0\0\2\0\0\0\1\0\0\0\1\2\3\4\5\6\7\10' >volume.bin

# project DIALECT: all that a bundle can hold. Names are not kind to anybody.
project()
{
	cat >stbuild.json <<JSON
{
	"format": 1,
	"project": { "name": "All \"of\" it", "author": "me" },
	"render": { "width": 20, "height": 10, "fps": 29.97 },
	"shader": { "dialect": "$1", "common": "common.glsl" },
	"uniform": [
		{ "name": "zeal", "type": "float", "default": 0.1, "min": 0, "max": 1 },
		{ "name": "count", "type": "int", "default": 3 },
		{ "name": "on", "type": "bool", "default": true },
		{ "name": "two", "type": "vec2", "default": [ 1, 0.5 ] },
		{ "name": "four", "type": "vec4", "default": [ 1, 2, 3, 4 ] }
	],
	"asset": [
		{ "name": "volume", "kind": "volume", "path": "volume.bin" },
		{ "name": "sky", "kind": "cubemap", "path": "strip.png" },
		{ "name": "red", "kind": "texture", "path": "strip.png", "channels": 1 },
		{ "name": "strip", "kind": "texture", "path": "strip.png", "vflip": true }
	],
	"pass": [
		{ "name": "Output", "kind": "image", "source": "image.frag", "input": [
			{ "channel": 0, "source": "__feedback_0" },
			{ "channel": 1, "source": "cube" },
			{ "channel": 2, "source": "sim", "output": 1, "filter": "nearest" },
			{ "channel": 3, "source": "music" },
			{ "channel": 15, "source": "strip", "filter": "mipmap", "wrap": "clamp" } ] },
		{ "name": "__feedback_0", "kind": "buffer", "source": "buffer.frag", "input": [
			{ "channel": 0, "source": "__feedback_0", "frame": "previous" },
			{ "channel": 1, "source": "sky" },
			{ "channel": 2, "source": "volume" },
			{ "channel": 3, "source": "keyboard" },
			{ "channel": 4, "source": "red" },
			{ "channel": 5, "source": "sim", "frame": "previous" } ] },
		{ "name": "cube", "kind": "cubemap", "source": "cube.frag" },
		{ "name": "sim", "kind": "compute", "source": "sim.comp", "width": 6, "height": 4,
			"format": "rg32f", "extra_outputs": [ "rgba16f", "r32f" ], "iterations": 2,
			"local_size": [ 4, 4, 1 ],
			"storage": [ { "binding": 3, "name": "cells", "size": 64 } ] },
		{ "name": "small / b", "kind": "buffer", "source": "small.frag", "width": 3, "height": 2,
			"format": "rgba16f", "extra_outputs": [ "r32f" ],
			"storage": [ { "binding": 0, "name": "cells", "size": 64 } ] },
		{ "name": "small : b", "kind": "buffer", "source": "plain.frag" },
		{ "name": "song", "kind": "sound", "source": "song.glsl", "duration": 0.1 }
	],
	"preset": { "tiny": { "render_scale": 0.5, "pass": { "sim": { "width": 3, "height": 3, "iterations": 1 } } } },
	"trace": [
		{ "name": "hero", "frames": [ 0, 5 ], "include_intermediates": true },
		{ "name": "led", "frame": 4, "preset": "tiny", "set": { "on": false, "count": -7 }, "timeline": [
			{ "frame": 2, "mouse": [ 5, 5, 5, 5 ], "set": { "zeal": 0.5 }, "keys": { "down": [ "A" ] } } ] }
	]
}
JSON
}
echo 'float twice(float x) { return 2.0 * x; }' >common.glsl
cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	vec2 uv = p / iResolution.xy;
	c = texture(iChannel0, uv) * zeal + texture(iChannel1, vec3(uv, 1.0)) + texture(iChannel2, uv)
		+ texture(iChannel3, uv) + texture(iChannel15, uv) * four * float(count);
	c *= on ? twice(two.x) : 0.5;
}
GLSL
cat >buffer.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = texelFetch(iChannel0, ivec2(p), 0) * 0.5 + texture(iChannel1, vec3(1.0, 0.0, 0.0))
		+ texture(iChannel2, vec3(0.5)) + texelFetch(iChannel3, ivec2(65, 0), 0)
		+ texture(iChannel4, p / 20.0) + texture(iChannel5, vec2(0.5));
}
GLSL
cat >cube.frag <<'GLSL'
void mainCubemap(out vec4 c, in vec2 p, in vec3 o, in vec3 d) { c = vec4(d, zeal); }
GLSL
cat >sim.comp <<'GLSL'
layout(std430, binding = 3) buffer Cells { float cell[16]; };
void mainCompute(ivec2 p)
{
	imageStore(iOutput, p, vec4(p, float(iFrame), 1.0));
	imageStore(iOutput1, p, vec4(0.25));
	imageStore(iOutput2, p, vec4(zeal));
	if (p == ivec2(0))
		cell[iIteration] += 1.0;
}
GLSL
cat >small.frag <<'GLSL'
layout(std430, binding = 0) buffer Cells { float cell[16]; };
layout(location = 1) out vec4 second;
void mainImage(out vec4 c, in vec2 p) { c = vec4(cell[0]); second = vec4(2.0); }
GLSL
echo 'void mainImage(out vec4 c, in vec2 p) { c = vec4(p, 0.0, 1.0); }' >plain.frag
echo 'vec2 mainSound(int i, float t) { return vec2(0.0); }' >song.glsl

for dialect in essl glsl; do
	project $dialect
	expect_status 0 "$STBUILD" capture --json hero led
	expect_json out 'traces#' 3
	for bundle in target/traces/*.sttrace; do
		expect_status 0 "$ANCESTOR" "$bundle"
		# And it renders from itself.
		expect_status 0 "$STBUILD" replay "$bundle" --json
		expect_json out exact true
		expect_json out conventions '[]'
	done
done
trace=target/traces/hero@5.sttrace/trace.json
# Stems; what is not reached is left out, unless storage joins it.
expect_json $trace 'artifacts["pass:small / b:output:1:raw"].path' passes/small---b-output-1.rgba32f
"$JSONQ" $trace 'artifacts["pass:small : b:output:0:raw"]' >/dev/null 2>&1 &&
	fail 'a pass that is not reached is in the bundle'
expect_json $trace state_header.storage_buffers.cells 64
expect_json $trace 'state_header.buffers#' 3
# Of output size, of a size of their own, and what compute passes draw.
expect_json $trace 'state_header.buffer_dimensions#' 3
expect_json $trace state_header.buffer_dimensions.sim.width 6
expect_json $trace state_header.buffer_dimensions.sim.height 4
expect_json $trace 'state_header.buffer_dimensions["small / b"].width' 3
expect_json $trace state_header.buffer_dimensions.__feedback_0.width 20
expect_json $trace state_header.buffer_dimensions.__feedback_0.height 10
expect_json $trace 'source_sha256#' 7
expect_json $trace 'synchronization.storage_users.cells[1].binding' 0

# The checker sees what is wrong: a size, a hash, a link, a key.
cp -R target/traces/hero@0.sttrace bad.sttrace
printf x >>bad.sttrace/final.png
expect_status 1 "$ANCESTOR" bad.sttrace
expect_text err 'final.png is not as recorded'
edit bad.sttrace/project.sttf 's/"slot":15/"slot":16/; s/"Clamp"/"clamp"/g; s/"size":2}/"size":3}/'
expect_status 1 "$ANCESTOR" bad.sttrace
expect_text err 'slot is no integer'
expect_text err 'wrapMode is none of'
expect_text err 'is no base64'
edit bad.sttrace/trace.json 's/"preset"/"presets"/'
expect_status 1 "$ANCESTOR" bad.sttrace
expect_text err "no 'preset'"

# What is renamed or declared at compile time here is in the document's text, and
# the state has the size of each buffer.
mkdir words
cat >words/stbuild.json <<'JSON'
{ "format": 1, "project": { "name": "words" }, "render": { "width": 8, "height": 4 },
	"shader": { "dialect": "glsl" },
	"pass": [ { "name": "b", "kind": "buffer", "source": "b.frag" },
		{ "name": "image", "kind": "image", "source": "image.frag",
			"input": [ { "channel": 0, "source": "b" } ] } ] }
JSON
echo 'void mainImage(out vec4 c, in vec2 p) { float sample = iSampleRate / 44100.0; c = vec4(sample); }' >words/b.frag
echo 'void mainImage(out vec4 c, in vec2 p) { c = texture(iChannel0, p / iResolution.xy); }' >words/image.frag
expect_status 0 "$STBUILD" -C words --frame 0 -o ../words.sttrace
expect_text words.sttrace/project.sttf '#define sample sample_'
expect_text words.sttrace/project.sttf '#define iSampleRate 44100.0'
tr -d ' \n\t' <words.sttrace/trace.json >packed
expect_text packed '"buffer_dimensions":{"b":{"width":8,"height":4}}'
expect_status 0 "$STBUILD" replay words.sttrace
expect_status 0 "$ANCESTOR" words.sttrace

# A volume that the document cannot hold is told at each capture that draws, with
# its name; one that it can hold is not.
mkdir volumes
printf 'vol\0\2\0\0\0\1\0\0\0\2\0\0\0\1\0\0\0\1\2\3\4' >volumes/flat.bin
printf 'vol\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\12\0\0\0\200\77' >volumes/float.bin
cp volume.bin volumes/cubic.bin
echo 'void mainImage(out vec4 c, in vec2 p) { c = texture(iChannel0, vec3(p, 0.5)); }' \
	>volumes/image.frag
for volume in flat float cubic; do
	cat >volumes/stbuild.json <<JSON
{ "format": 1, "project": { "name": "v" }, "render": { "width": 4, "height": 4 },
	"asset": [ { "name": "the $volume one", "kind": "volume", "path": "$volume.bin" } ],
	"pass": [ { "name": "image", "kind": "image", "source": "image.frag",
		"input": [ { "channel": 0, "source": "the $volume one" } ] } ] }
JSON
	expect_status 0 "$STBUILD" -C volumes --frame 0 -o ../$volume.sttrace
	if [ $volume = cubic ]; then
		expect_no_text err warning
		expect_status 0 "$ANCESTOR" $volume.sttrace
	else
		expect_text err "warning: asset 'the $volume one': project.sttf cannot"
		expect_status 1 "$ANCESTOR" $volume.sttrace
	fi
done

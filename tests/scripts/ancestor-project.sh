#!/bin/sh
# ShaderToy.toml as people have it: loaded unchanged, drawn as its dialect says,
# and the same picture after an import.

. "$SRCDIR/tests/lib.sh"
need_egl

here=$PWD

# A picture of four colours: red and green above blue and white, 2 x 2.
mkdir maker
cat >maker/ShaderToy.toml <<'TOML'
format = 1
[project]
name = "maker"
[render]
width = 2
height = 2
[[pass]]
name = "main"
kind = "image"
source = "main.frag"
TOML
cat >maker/main.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = p.y > 1.0 ? (p.x < 1.0 ? vec4(1, 0, 0, 1) : vec4(0, 1, 0, 1))
		: (p.x < 1.0 ? vec4(0, 0, 1, 1) : vec4(1, 1, 1, 1));
}
GLSL
expect_status 0 "$STBUILD" -C maker --frame 0 -o ../four.sttrace
expect_pixel four.sttrace/final.png 0 0 '255 0 0 255'
expect_pixel four.sttrace/final.png 1 1 '255 255 255 255'

# All keys at once.
mkdir -p all/shaders/lib all/media all/empty && cd all
cp ../four.sttrace/final.png media/four.png
cat >ShaderToy.toml <<'TOML'
format = 1

[project]
name = "All of it"
author = "somebody"
description = """
Two
lines"""
source_url = 'https://example.org/view/x'
source_id = "x"

[render]
width = 16
height = 5
fps = 10
preview_time = 0.25

[shader]
include_dirs = ["shaders/lib", "empty"]

[[uniform]]
name = "gain"
type = "float"
default = 1
min = 0
max = 2.0
step = 0.25

[[uniform]]
name = "steps"
type = "int"
default = 3
min = -4
max = 9
step = 1

[[uniform]]
name = "on"
type = "bool"
default = true

[[uniform]]
name = "tint"
type = "vec3"
default = [1, 0.5, 0.25]
min = [0, 0, 0]
max = [1, 1, 1]

[[asset]]
name = "Four colours"
kind = "texture"
path = 'media\four.png'

[[pass]]
name = "main"
kind = "image"
source = " shaders/main.frag "
format = "rgba32f"

  [[pass.input]]
  channel = 0
  source = "values"
  filter = "nearest"
  wrap = "clamp"

  [[pass.input]]
  channel = 1
  source = "Four colours"
  filter = "nearest"

  [[pass.input]]
  channel = 2
  source = "sim"
  output = 1

[[pass]]
name = "values"
kind = "buffer"
source = "shaders/values.frag"

  [[pass.input]]
  channel = 0
  source = "values"
  kind = "pass"
  frame = "previous"

  [[pass.input]]
  channel = 1
  source = "keyboard"

  [[pass.input]]
  channel = 4
  source = "music"
  filter = "nearest"

[[pass]]
name = "sim"
kind = "compute"
source = "shaders/sim.comp"
width = 3
height = 2
format = "r32f"
extra_outputs = ["rgba16f"]
iterations = 2
local_size = [2, 2, 1]
storage = [{ binding = 1, name = "cells", size = 8 }]

[preset.half]
render_scale = 0.5

[preset.half.pass.sim]
iterations = 1
width = 1
height = 1
local_size = [1, 1, 1]

[[test]]
name = "still"
time = 0.5
pass = "values"
assert_no_nan = true
assert_no_inf = true
assert_deterministic = true
mean_range = [-10, 1000]
uniforms = { gain = 0.5, steps = 1, on = false, tint = [0, 0, 0] }
max_gpu_ms = 1e6
max_pass_gpu_ms = { sim = 1e6 }

[[test]]
name = "picture"
frames = [0, 3]
resolutions = [[8, 4], [16, 5]]
max_rmse = 1
assert_state_roundtrip = true
reference_uniforms = { gain = 1 }

[[test]]
name = "fixture"
frame = 1
width = 8
height = 4
reference = "reference.png"
tolerance = 0.1
raw_tolerance = 0.5
storage = [{ name = "cells", reference = "cells.bin" }]
TOML
cat >shaders/lib/words.glsl <<'GLSL'
#define COUNT(a, b, c, d) vec4(a, b, c, d)
GLSL
# Every audio word, by its place; the numbers are those of silence.
cat >shaders/values.frag <<'GLSL'
  #  include "words.glsl" // by include_dirs
#ifdef SHADERTOY_CLAMP_OUTPUT
#error only the image is clamped
#endif
/*
#include "nowhere.glsl"
*/
void mainImage(out vec4 c, in vec2 p)
{
	int x = int(p.x);
	c = x == 0 ? vec4(iResolution, iTimeDelta)
		: x == 1 ? vec4(iTime, iFrameRate, float(iFrame), iSampleRate)
		: x == 2 ? iMouse : x == 3 ? iDate
		: x == 4 ? COUNT(iAudioLoudness, iAudioBass, iAudioMid, iAudioTreble) + iMusicBands
		: x == 5 ? vec4(iAudioOnset, iAudioKick, iAudioSnare, iAudioHihat) + iMusicHits
		: x == 6 ? vec4(iAudioBpm, iAudioBeatPhase, iAudioBeatConfidence, iAudioBeatStrength) + iMusicBeat
		: x == 7 ? vec4(iAudioStereoWidth, iAudioStereoBalance, iAudioStereoCorrelation, iAudioEnergyTrend)
			+ iMusicStereo
		: x == 8 ? vec4(iAudioDrop, iAudioSectionChange, iAudioSpectralCentroid, iAudioSpectralFlux)
			+ iMusicStructure
		: x == 9 ? vec4(iAudioAvailable, iAudioSilence, iAudioSampleRate, 5.0) + iMusicMeta
		: x == 10 ? vec4(iChannelResolution[1], iChannelTime[1])
		: x == 11 ? texelFetch(iChannel1, ivec2(65, 0), 0) + vec4(iChannelTime[0], 0.0, 0.0, 2.0)
		: x == 12 ? vec4(sampleAudioSpectrum(iChannel4, 0.5), sampleAudioWaveform(iChannel4, 0.5) * 255.0,
			texelFetch(iChannel4, ivec2(3, 0), 0).a, iIteration)
		: x == 13 ? vec4(texelFetch(iChannel0, ivec2(p), 0).r + 1.0, -5.0, 1e9, 7.0)
		: vec4(gain, float(steps), on ? 1.0 : 0.0, tint.y);
}
GLSL
cat >shaders/main.frag <<'GLSL'
#ifndef SHADERTOY_CLAMP_OUTPUT
#error the image is clamped
#endif
void mainImage(out vec4 c, in vec2 p)
{
	vec2 uv = p / iResolution.xy;
	if (p.y < 4.0)
		c = texture(iChannel1, uv);
	else
		c = p.x < 1.0 ? vec4(-3.0, 0.5, 9.0, 0.0) : p.x < 2.0 ? texture(iChannel2, uv)
			: p.x < 3.0 ? vec4(texture(iChannel0, uv).r * 0.1) : vec4(gain, float(steps) * 0.2, tint.z, 0.0);
}
GLSL
cat >shaders/sim.comp <<'GLSL'
layout(std430, binding = 1) buffer Cells { uint cell[2]; };
void mainCompute(ivec2 p)
{
	imageStore(iOutput, p, vec4(7.0));
	if (p == ivec2(0))
		cell[0] += 1u;
	imageStore(iOutput1, p, vec4(0.2, 0.4, float(iIteration), 1.0));
}
GLSL
expect_status 0 "$STBUILD" check
# preview_time x fps = 2.5 is frame 3, as is each other way to say it.
expect_status 0 "$STBUILD" --json --include-intermediates
expect_json out 'traces[0].frame' 3
bundle=$("$JSONQ" out 'traces[0].path')
final=$bundle/final.png
values=$bundle/passes/values-output-0.rgba32f
# Frame 3: ours is iTime = t / fps, iTimeDelta 1 / fps, z 1, no mouse, a fixed date.
expect_pixel "$values" 16 0 0 '16 5 1 0.100000001'
expect_pixel "$values" 16 1 0 '0.300000012 10 3 44100'
expect_pixel "$values" 16 2 0 '0 0 0 0'
expect_pixel "$values" 16 3 0 '2000 0 1 0.300000012'
for x in 4 5 6 7 8; do
	expect_pixel "$values" 16 $x 0 '0 0 0 0'
done
expect_pixel "$values" 16 9 0 '0 2 0 5'
expect_pixel "$values" 16 10 0 '256 3 1 0'
expect_pixel "$values" 16 11 0 '0 0 0 2'
value=$("$PIXEL" "$values" 16 12 0)
case $value in
'0 1 1 0' | '0 1.0000'*' 1 0' | '0 0.9999'*' 1 0') ;;
*) fail "silence is '$value'" ;;
esac
# Buffers are as written, and count frames.
expect_pixel "$values" 16 13 0 '4 -5 1e+09 7'
expect_pixel "$values" 16 14 0 '1 3 1 0.5'
# v = 0 is the top row of the file: the texture stands on its head.
expect_pixel "$final" 0 4 '255 0 0 255'
expect_pixel "$final" 15 4 '0 255 0 255'
expect_pixel "$final" 0 1 '0 0 255 255'
expect_pixel "$final" 15 1 '255 255 255 255'
# The image is clamped, with alpha 1.
expect_pixel "$final" 0 0 '0 128 255 255'
expect_pixel "$final" 1 0 '51 102 255 255'
expect_pixel "$final" 5 0 '255 153 64 255'
expect_json "$bundle"/trace.json state_header.storage_buffers.cells 8
expect_json "$bundle"/trace.json resolved_manifest.project.author somebody

# Halves go away from zero: 5 x 0.5 is 3; then --width and --height win.
expect_status 0 "$STBUILD" --preset half --frame 1 -o half.sttrace --json
expect_json half.sttrace/trace.json width 8
expect_json half.sttrace/trace.json height 3
expect_json half.sttrace/trace.json preset half
expect_json half.sttrace/trace.json 'resolved_manifest.pass[2].width' 1
expect_json half.sttrace/trace.json resolved_manifest.preset.half.render_scale 0.5
expect_status 0 "$STBUILD" --height 7 --preset half --frame 1 -o half.sttrace
expect_json half.sttrace/trace.json width 8
expect_json half.sttrace/trace.json height 7
expect_status 2 "$STBUILD" --preset hal
expect_text err 'half'

# Target frames: rounded, of one option only, finite and not negative.
for time in 0.25 0.349 0.3 0.25000001; do
	expect_status 0 "$STBUILD" --time $time --json
	expect_json out 'traces[0].frame' 3
done
expect_status 0 "$STBUILD" --time 0.1 --fps 25 --json
expect_json out 'traces[0].frame' 3
expect_status 2 "$STBUILD" --frame 1 --time 0.1
expect_text err "--"
expect_status 2 "$STBUILD" --time 0.1 --frame 1
for time in -1 nan inf -inf 1e400 '' x 1s; do
	expect_status 2 "$STBUILD" --time "$time"
	expect_status 2 "$STBUILD" --fps "$time"
done
for frame in -1 1.5 2147483648 '' x 1e3; do
	expect_status 2 "$STBUILD" --frame "$frame"
done
for size in 0 16385 -1 1.5; do
	expect_status 2 "$STBUILD" --width $size
	expect_status 2 "$STBUILD" --height $size
done
for fps in 0 1000.5; do
	expect_status 2 "$STBUILD" --fps $fps
done
expect_status 2 "$STBUILD" -o target/x.trace --frame 0

# Values of uniforms.
value_of()
{
	expect_status 0 "$STBUILD" --frame 0 "$@" -o set.sttrace
	"$JSONQ" set.sttrace/trace.json uniforms
}
expect_equal "$(value_of --set ' on = off ' --set 'tint= 1 ,0, 0.5' --set gain=2)" \
	'{"gain":2,"steps":3,"on":false,"tint":[1,0,0.5]}'
for no in false 0 off; do
	expect_equal "$(value_of --set on=1 --set on=$no)" \
		'{"gain":1,"steps":3,"on":false,"tint":[1,0.5,0.25]}'
done
for yes in true 1 on; do
	expect_equal "$(value_of --set on=0 --set=on=$yes --set steps=-4)" \
		'{"gain":1,"steps":-4,"on":true,"tint":[1,0.5,0.25]}'
done
for bad in gain gain= =1 gain=2.1 gain=-0.1 gain=nan steps=1.5 steps=10 tint=1,2 \
	tint=1,1,1.5 tint=1,1,1,1 on=yes on=2 none=1 gain=1,1; do
	expect_status 2 "$STBUILD" --frame 0 --set "$bad"
done
cd ..

# Imported: a manifest of ours, the dialect said, and the same bits.
expect_status 0 "$STBUILD" -C all --include-intermediates -o ../before.sttrace
expect_status 0 "$STBUILD" import all/ShaderToy.toml -o imported --json
expect_json out dialect glsl
[ ! -e imported/ShaderToy.toml ] || fail 'the old manifest is there, too'
expect_text imported/stbuild.json '"glsl"'
expect_status 0 "$STBUILD" -C imported check
expect_status 0 "$STBUILD" -C imported --include-intermediates -o ../after.sttrace
expect_equal "$(pictures after.sttrace)" "$(pictures before.sttrace)"
for key in name author description source_url source_id; do
	expect_equal "$("$JSONQ" after.sttrace/trace.json resolved_manifest.project.$key)" \
		"$("$JSONQ" before.sttrace/trace.json resolved_manifest.project.$key)"
done
expect_json imported/stbuild.json 'test#' 3
expect_json imported/stbuild.json 'test[1].resolutions[1][0]' 16
# So is the bundle.
expect_status 0 "$STBUILD" import before.sttrace -o restored
expect_status 0 "$STBUILD" -C restored --frame 3 --include-intermediates -o ../restored.sttrace
expect_equal "$(pictures restored.sttrace)" "$(pictures before.sttrace)"

# The manifest is looked for upwards, the nearest folder wins, and within one
# the first in order; what is passed over is named.
cd "$here" && mkdir -p outer/inner/deep/er && cd outer
project()
{
	cat >ShaderToy.toml <<TOML
format = 1
[project]
name = "$1"
[render]
width = 4
height = 4
[[pass]]
name = "main"
kind = "image"
source = "main.frag"
TOML
	echo 'void mainImage(out vec4 c, in vec2 p) { c = vec4(1); }' >main.frag
}
project outer
(cd inner && project inner)
expect_status 0 "$STBUILD" -C inner/deep/er graph --json
expect_json out project inner
rm inner/ShaderToy.toml
expect_status 0 "$STBUILD" -C inner/deep/er graph --json
expect_json out project outer
expect_status 0 "$STBUILD" -C inner/deep/er --frame 0
[ -d target/traces/default@0.sttrace ] || fail 'a project found upwards builds in its own folder'
# Up to the root of the repository, and no further.
if command -v git >/dev/null; then
	git -c init.defaultBranch=main init -q inner
	expect_status 2 "$STBUILD" -C inner/deep graph
	rm -rf inner/.git
fi
cat >stbuild.json <<'JSON'
{ "format": 1, "project": { "name": "json" },
	"pass": [ { "name": "main", "kind": "image", "source": "main.frag" } ] }
JSON
sed 's/outer/toml/' ShaderToy.toml >stbuild.toml
expect_status 0 "$STBUILD" graph --json
expect_json out project json
expect_text err 'ignoring stbuild.toml'
expect_text err 'ignoring ShaderToy.toml'
expect_status 0 "$STBUILD" -f ShaderToy.toml graph --json
expect_json out project outer

# Video and webcam, used or not.
cd "$here" && mkdir video && cd video
project video
cp ShaderToy.toml plain.toml
: >film.mp4
printf '[[asset]]\nname = "film"\nkind = "video"\npath = "film.mp4"\n' >>ShaderToy.toml
expect_status 2 "$STBUILD"
expect_text err video
{
	cat plain.toml
	printf '[[pass.input]]\nchannel = 0\nsource = "webcam"\n'
} >ShaderToy.toml
expect_status 2 "$STBUILD"
expect_text err webcam

# What is broken where.
cp plain.toml ShaderToy.toml
printf '#include "lost.glsl"\n' >main.frag
expect_status 2 "$STBUILD"
expect_text err 'main.frag:1'
printf 'void mainImage(out vec4 c, in vec2 p) { c = vec4(1); } // \377\n' >main.frag
expect_status 2 "$STBUILD"
expect_text err 'main.frag:1'
echo 'void mainImage(out vec4 c, in vec2 p) { c = vec4(nobody); }' >main.frag
expect_status 1 "$STBUILD"
expect_text err 'main.frag:1'
rm main.frag
expect_status 2 "$STBUILD"
expect_text err 'ShaderToy.toml:10'

# A branch that is not taken hides no lines; ".." stays inside.
cd "$here" && mkdir -p lines/a/b lines/c && cd lines
project lines
edit ShaderToy.toml 's,"main.frag","a/b/main.frag",'
printf 'float one() { return 1.0; }\n\n\n' >c/one.glsl
cat >a/b/main.frag <<'GLSL'
#if 0
#include "../../c/one.glsl"
#endif
#include "../../c/one.glsl"
void mainImage(out vec4 c, in vec2 p) { c = vec4(one()); }
int wrong = nothing;
GLSL
expect_status 1 "$STBUILD" --frame 0
expect_text err 'a/b/main.frag:6'
edit a/b/main.frag '/wrong/d'
expect_status 0 "$STBUILD" --frame 0
echo 'float one() { return 0.5; }' >../outside.glsl
edit a/b/main.frag 's,../../c/one.glsl,../../../outside.glsl,'
expect_status 2 "$STBUILD" --frame 0
expect_text err 'outside'

# 64 names of storage at most; more than memory allows is refused.
cd "$here" && mkdir many && cd many
project many
cp ShaderToy.toml plain.toml
storage()
{
	cp plain.toml ShaderToy.toml
	i=0
	while [ $i -lt "$1" ]; do
		printf '[[pass.storage]]\nbinding = %d\nname = "s%d"\nsize = %s\n' $i $i "$2"
		i=$((i + 1))
	done >>ShaderToy.toml
}
storage 64 4
expect_status 0 "$STBUILD" graph
storage 65 4
expect_status 2 "$STBUILD" graph
storage 1 9007199254740992
cat >main.frag <<'GLSL'
layout(std430, binding = 0) buffer Cells { uint cell[]; };
void mainImage(out vec4 c, in vec2 p) { c = vec4(1); cell[0] = 1u; }
GLSL
expect_status 3 "$STBUILD" --frame 0
expect_text err 'shader storage of 9007199254740992 bytes'

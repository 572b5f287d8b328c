#!/bin/sh
# Sound passes: samples to the bit, WAV files as targets of their own.

. "$SRCDIR/tests/lib.sh"
need_egl

# manifest GAIN SECONDS
manifest()
{
	cat >stbuild.json <<JSON
{
	"format": 1,
	"project": { "name": "tones" },
	"render": { "width": 16, "height": 16 },
	"shader": { "common": "common.glsl" },
	"uniform": [
		{ "name": "gain", "type": "float", "default": $1 },
		{ "name": "spare", "type": "float", "default": 1 }
	],
	"asset": [ { "name": "table", "kind": "volume", "path": "table.bin" } ],
	"pass": [
		{ "name": "i", "kind": "image", "source": "i.glsl" },
		{ "name": "half", "kind": "sound", "source": "half.glsl", "duration": 0.01 },
		{ "name": "ramp", "kind": "sound", "source": "ramp.glsl", "duration": $2 },
		{ "name": "edge!", "kind": "sound", "source": "edge.glsl", "duration": 0.001 },
		{ "name": "edge?", "kind": "sound", "source": "sine.glsl", "duration": 1e-9,
			"input": [ { "channel": 0, "source": "table", "filter": "nearest" } ] }
	],
	"trace": [ { "name": "t", "frame": 0 } ]
}
JSON
}
manifest 0.5 6
echo 'float shift(float x) { return x; }' >common.glsl
echo 'void mainImage(out vec4 c, in vec2 p) { c = vec4(1); }' >i.glsl
echo 'vec2 mainSound(int n, float t) { return vec2(gain, -shift(gain)); }' >half.glsl
# The samples' own numbers, by n and by t.
cat >ramp.glsl <<'GLSL'
vec2 mainSound(int n, float t)
{
	return vec2(float(n % 30000), mod(floor(t * iSampleRate + 0.5), 30000.0)) / 32767.0;
}
GLSL
cat >edge.glsl <<'GLSL'
vec2 mainSound(int n, float t)
{
	float special[6] = float[6](uintBitsToFloat(0x7fc00000u), uintBitsToFloat(0x7f800000u),
		3.0, -3.0, 1.0, 0.25);
	float x = special[n % 6];
	return vec2(x, n % 6 == 1 ? -x : x);
}
GLSL
cat >sine.glsl <<'GLSL'
vec2 mainSound(int n, float t)
{
	return vec2(texelFetch(iChannel0, ivec3(1, 0, 0), 0).r, 0.25 * iChannelResolution[0].y);
}
GLSL
# 2 x 2 x 2 bytes, one channel.
printf 'BIN\0\2\0\0\0\2\0\0\0\2\0\0\0\1\0\0\0' >table.bin
printf '\0\377\0\0\0\0\0\0' >>table.bin

# sample NAME N: left and right of a sample.
sample()
{
	od -An -v -t u1 -j $((44 + 4 * $2)) -N 4 "target/sounds/$1.wav" | awk '
		function s(n) { return n < 32768 ? n : n - 65536 }
		{ print s($1 + 256 * $2), s($3 + 256 * $4) }'
}
# counts DRAWN COMPILED BUILT CURRENT
counts()
{
	expect_json out counts.nodes_drawn "$1"
	expect_json out counts.programs_compiled "$2"
	expect_json out counts.traces_built "$3"
	expect_json out counts.traces_current "$4"
	expect_json out counts.nodes_loaded 0
}

# check compiles them; a run makes them, and a second one nothing.
expect_status 0 "$STBUILD" check --json
expect_json out counts.programs_compiled 5
expect_status 0 "$STBUILD" status --json
expect_json out 'traces[1].name' sound:half
expect_json out 'traces[1].status' stale
expect_json out 'traces[1].reason' 'was never captured'
expect_json out 'traces[1].draws' 1
expect_status 1 "$STBUILD" -q sound:half
[ ! -e target ] || fail 'status wrote something'
expect_status 0 "$STBUILD" --json
counts 5 5 5 0
expect_json out 'traces#' 5
expect_json out 'traces[2].name' sound:ramp
expect_json out 'traces[2].frame' null
expect_json out 'traces[2].path' target/sounds/ramp.wav
expect_json out 'traces[2].status' built
expect_json out 'traces[4].path' target/sounds/edge-2.wav
cp -R target first
expect_status 0 "$STBUILD" --json
counts 0 0 0 5
expect_status 0 "$STBUILD" -q
expect_status 0 "$STBUILD" status
expect_text out 'sound:ramp: current'

# The header, and samples worked out by hand.
expect_equal "$(wc -c <target/sounds/half.wav | tr -d ' ')" $((44 + 4 * 441))
expect_equal "$(od -An -v -t x1 -N 44 target/sounds/half.wav | tr -d ' \n')" \
	524946460807000057415645666d7420100000000100020044ac000010b102000400100064617461e4060000
expect_equal "$(sample half 0)" '16384 -16384'
expect_equal "$(sample half 440)" '16384 -16384'
# Two chunks, and their seam. The last is sample 264599.
expect_equal "$(wc -c <target/sounds/ramp.wav | tr -d ' ')" $((44 + 4 * 264600))
for n in 0 1 511 512 513 29999 30000 262143 262144 262145 264599; do
	expect_equal "$(sample ramp $n)" "$((n % 30000)) $((n % 30000))" "sample $n"
done
expect_equal "$(sample edge 0)" '0 0'
expect_equal "$(sample edge 1)" '0 0'
expect_equal "$(sample edge 2)" '32767 32767'
expect_equal "$(sample edge 3)" '-32767 -32767'
expect_equal "$(sample edge 4)" '32767 32767'
expect_equal "$(sample edge 5)" '8192 8192'
# However short: a sample. Its asset is read, its size known.
expect_equal "$(wc -c <target/sounds/edge-2.wav | tr -d ' ')" 48
expect_equal "$(sample edge-2 0)" '32767 16384'

# The trace knows their sources, and has nothing else of them.
"$JSONQ" target/traces/t@0.sttrace/trace.json source_sha256.half >sha ||
	fail 'no source_sha256 of a sound'
expect_no_text target/traces/t@0.sttrace/project.sttf mainSound

# What is missing or altered comes back without drawing.
rm target/sounds/ramp.wav
printf 'x' >>target/sounds/half.wav
expect_status 0 "$STBUILD" --json
counts 0 0 2 3
expect_json out 'traces[1].status' restored
expect_json out 'traces[2].status' restored
expect_json out counts.nodes_reused 2
expect_same target/sounds/ramp.wav first/sounds/ramp.wav
expect_same target/sounds/half.wav first/sounds/half.wav
touch target/sounds/half.wav
expect_status 0 "$STBUILD" --json sound:half
counts 0 0 0 1

# With files old enough to trust, a run looks at them and at nothing else.
sleep 2.1
expect_status 0 "$STBUILD" --json
counts 0 0 0 5
expect_status 0 "$STBUILD" -v --json
expect_text err 'nothing changed since the last run'
counts 0 0 0 5
expect_json out 'traces[2].name' sound:ramp
expect_json out 'traces[2].frame' null
rm target/sounds/half.wav
expect_status 0 "$STBUILD" --json
counts 0 0 1 4
echo '// a comment' >>sine.glsl
expect_status 0 "$STBUILD" -v --json
expect_no_text err 'nothing changed since the last run'
counts 0 0 1 4
expect_json out 'traces[0].status' assembled

# Edits that sounds do not see, and those that one of them does.
echo 'void mainImage(out vec4 c, in vec2 p) { c = vec4(0); }' >i.glsl
echo '// more' >>half.glsl
sed 's/"spare", "type": "float", "default": 1/"spare", "type": "float", "default": 2/' \
	stbuild.json >new && mv new stbuild.json
expect_status 0 "$STBUILD" --json
counts 1 1 1 4
expect_json out 'traces[0].status' built
manifest 0.25 6
expect_status 0 "$STBUILD" --json sound:half sound:ramp sound:half
expect_json out 'traces#' 2
counts 1 1 1 1
expect_equal "$(sample half 7)" '8192 -8192'
printf '\377' | dd of=table.bin bs=1 seek=20 conv=notrunc 2>dd.err
expect_status 0 "$STBUILD" --json 'sound:edge?'
expect_json out counts.nodes_drawn 1
# The same samples: the file stays as it is.
expect_json out 'traces[0].status' current
expect_status 0 "$STBUILD" --json 'sound:edge?'
counts 0 0 0 1

# Back again: nothing is drawn.
manifest 0.5 6
expect_status 0 "$STBUILD" --json sound:half
counts 0 0 1 0
expect_json out 'traces[0].status' assembled
expect_same target/sounds/half.wav first/sounds/half.wav

# Shorter is cut off, longer goes on.
manifest 0.5 5.999
expect_status 0 "$STBUILD" --json sound:ramp
counts 0 0 1 0
expect_equal "$(wc -c <target/sounds/ramp.wav | tr -d ' ')" $((44 + 4 * 264556))
manifest 0.5 7
expect_status 0 "$STBUILD" --json -n sound:ramp
counts 1 0 1 0
expect_json out 'traces[0].reason' 'its source, inputs or settings changed'
expect_status 0 "$STBUILD" --json sound:ramp
counts 1 1 1 0
expect_equal "$(sample ramp 308699)" '8699 8699'

# A chunk that is damaged in the store is drawn again.
for object in .stbuild/objects/*/*; do
	[ "$(wc -c <"$object")" = 1764 ] || continue
	chmod u+w "$object"
	printf 'x' | dd of="$object" bs=1 seek=5 conv=notrunc 2>dd.err
done
rm target/sounds/half.wav
expect_status 0 "$STBUILD" --json sound:half
expect_json out 'traces[0].status' built
expect_json out counts.nodes_drawn 1
expect_same target/sounds/half.wav first/sounds/half.wav
expect_status 0 "$STBUILD" --json -B sound:half
expect_json out counts.nodes_drawn 1

# Who is meant.
expect_status 0 "$STBUILD" --json --frame 0
expect_json out 'traces#' 1
expect_status 0 "$STBUILD" --json t
expect_json out 'traces#' 1
expect_status 2 "$STBUILD" sound:hal
expect_text err "unknown sound 'sound:hal'; did you mean 'sound:half'?"
expect_status 2 "$STBUILD" sound:i
expect_status 2 "$STBUILD" soundhalf
expect_text err "did you mean 'sound:half'?"
expect_status 2 "$STBUILD" sound:half --width 8
expect_text err "'sound:half' takes no options of one-off captures"
expect_status 2 "$STBUILD" sound:half@3

# A sound that fails is named; others go on with -k.
echo 'vec2 mainSound(int n, float t) { return vec3(n); }' >half.glsl
expect_status 1 "$STBUILD" --json -k
expect_json out counts.failures 1
expect_json out 'traces[1].status' failed
expect_json out 'traces[1].error.file' half.glsl
expect_json out 'traces[1].error.line' 1
expect_json out 'traces[4].status' current
# llvmpipe ends each loop early: some of them, in the second chunk.
cat >half.glsl <<'GLSL'
float f(float x) { for (int i = 0; i < 60000; i++) x = sin(x) + gain; return x; }
float g(float x) { return f(f(f(f(f(f(f(f(x)))))))); }
vec2 mainSound(int n, float t)
{
	if (n < 262144)
		return vec2(0);
	return vec2(g(t));
}
GLSL
sed 's/0\.01 }/11 }/' stbuild.json >new && mv new stbuild.json
expect_status 1 "$STBUILD" --timeout 5 sound:half
expect_text err "sound:half: pass 'half' at sample 262144 took longer than 5 s"
expect_same target/sounds/half.wav first/sounds/half.wav

# Clean knows them, and leaves what somebody has changed.
printf 'x' >>target/sounds/ramp.wav
expect_status 1 "$STBUILD" clean
expect_text err "keeping 'target/sounds/ramp.wav': it was changed after it was written"
expect_equal "$(ls target/sounds)" ramp.wav
rm target/sounds/ramp.wav
expect_status 0 "$STBUILD" clean
[ ! -e target ] || fail "target is left: $(find target)"

# The manifest.
sed 's/"source": "i.glsl"/"source": "i.glsl", "duration": 1/' stbuild.json >new && mv new stbuild.json
expect_status 2 "$STBUILD"
expect_text err 'only sound passes have a duration'
manifest 0.5 3600.5
expect_status 2 "$STBUILD"
expect_text err 'stbuild.json:14:73: pass[2].duration: expected a finite number above 0 and at most 3600'

#!/bin/sh
# Bundles as the ancestor writes them, made by hand: no tool, git or driver, no
# fields of ours in project.sttf, states of all formats. They are inspected,
# replayed with the ancestor's rules, and imported.

. "$SRCDIR/tests/lib.sh"
need_egl
need_tool sha256sum

# octal HEX: bytes of it for printf, backwards: little-endian.
octal()
{
	hex=$1
	while [ -n "$hex" ]; do
		rest=${hex%??}
		printf '\\%03o' "0x${hex#"$rest"}"
		hex=$rest
	done
}

# le HEX..: each as bytes, the last one first.
le()
{
	for word; do
		# shellcheck disable=SC2059
		printf "$(octal "$word")"
	done
}

# Pictures to compare with: 8 x 4, of one colour.
mkdir maker
cat >maker/stbuild.json <<'JSON'
{ "format": 1, "project": { "name": "maker" }, "render": { "width": 8, "height": 4 },
	"uniform": [ { "name": "tint", "type": "vec3", "default": [ 0, 1, 0 ] } ],
	"pass": [ { "name": "image", "kind": "image", "source": "image.frag" } ] }
JSON
echo 'void mainImage(out vec4 c, in vec2 p) { c = vec4(tint, 1.0); }' >maker/image.frag
expect_status 0 "$STBUILD" -C maker --frame 0 -o ../green.sttrace

artifact()
{
	printf '"%s": {"path": "%s", "bytes": %d, "sha256": "%s"}' "$1" "$2" \
		"$(wc -c <"$bundle/$2")" \
		"$(sha256sum "$bundle/$2" | cut -d' ' -f1)"
}

# state HEADER: header and what is on stdin.
state()
{
	{
		printf STSTATE1
		le "$(printf %08x ${#1})"
		printf %s "$1"
		cat
	} >"$bundle"/state.ststate
}

# finish FPS FRAME TIME STATE_HEADER
finish()
{
	cat >"$bundle"/trace.json <<JSON
{
  "format": 1,
  "cli_version": "2.5.1",
  "project": "Theirs",
  "preset": null,
  "width": 8,
  "height": 4,
  "fps": $1,
  "frame": $2,
  "time": $3,
  "uniforms": {"gain": 0.5, "on": true},
  "resolved_manifest": {"format": 1, "project": {"name": "Theirs"}, "pass": []},
  "source_sha256": {"main": "$(printf 'x' | sha256sum | cut -d' ' -f1)"},
  "asset_sha256": {},
  "pass_timings": [{"name": "main", "width": 8, "height": 4, "gpu_nanoseconds": 12000}],
  "graph_diagnostics": [],
  "state_header": $4,
  "synchronization": {"runtime": "native", "current_frame_edges": [],
    "previous_frame_edges": [], "storage_users": {}},
  "artifacts": {
    $(artifact final_image final.png),
    $(artifact project_sttf project.sttf),
    $(artifact state state.ststate)
  }
}
JSON
}

# document DECLARATIONS TEST [KEYS]: the picture is green where TEST, an expression
# of x, holds. A buffer, whose node has KEYS as well, counts frames, so that the
# state has content.
document()
{
	front='uniform float gain;\nuniform int on;\n#line 1\n'
	main='void mainImage(out vec4 c, in vec2 p)\n{\n\tint x = int(p.x);\n\tbool ok = '
	main=$main$(printf %s "$2" | tr -d '\n\t')
	main=$main';\n\tc = ok ? vec4(0.0, 1.0, 0.0, 1.0) : vec4(1.0, 0.0, 0.0, 1.0);\n}\n'
	count='void mainImage(out vec4 c, in vec2 p)\n{\n'
	count=$count'\tfloat n = texelFetch(iChannel0, ivec2(p), 0).r;\n'
	count=$count'\tc = vec4(n + 1.0, iTime, iTimeDelta, 1.0);\n}\n'
	cat >"$bundle"/project.sttf <<JSON
{"links":[
{"end":"main","filter":"Nearest","slot":0,"start":"count","wrapMode":"Repeat"},
{"end":"count","filter":"Linear","slot":0,"start":"__feedback_0","wrapMode":"Repeat"},
{"end":"main","filter":"Linear","slot":2,"start":"keyboard","wrapMode":"Repeat"},
{"end":"main","filter":"Linear","slot":3,"start":"music","wrapMode":"Repeat"},
{"end":"Output","filter":"Linear","slot":0,"start":"main","wrapMode":"Clamp"}],
"metadata":{"Name":"Theirs"},"nodes":[
{"class":"GLSLShader","name":"main","source":"$front$1$main","type":"Image"},
{"class":"GLSLShader","name":"count","source":"$front$count","type":"Image"${3:-}},
{"class":"Keyboard","name":"keyboard"},
{"class":"LastFrame","name":"__feedback_0","ref":"count","type":"Image"},
{"class":"Music","name":"music"},{"class":"RenderOutput","name":"Output"}],
"uniforms":{"gain":{"type":"Float","value":0.5},"on":{"type":"Int","value":1}}}
JSON
}

# header FORMAT FPS TIME FRAME [KEYS]
header()
{
	header='{"format":'$1',"project":"Theirs","width":8,"height":4,"fps":'$2
	header=$header',"time":'$3',"frame":'$4',"buffers":["count"]'${5:-}'}'
}

begin()
{
	bundle=$1
	rm -rf "$bundle"
	mkdir "$bundle"
	cp green.sttrace/final.png "$bundle/final.png"
}

# expect_replay: both ways to name it, and all equal.
expect_replay()
{
	expect_status 0 "$STBUILD" inspect "$bundle"
	expect_status 0 "$STBUILD" inspect "$bundle"/trace.json --json
	expect_json out verified true
	expect_status 0 "$STBUILD" replay "$bundle" --json
	expect_json out exact true
	expect_json out state_valid true
	expect_json out driver_equal null
	expect_json out conventions '[]'
	expect_status 0 "$STBUILD" replay "$bundle"/trace.json
	expect_text out 'bit-exact'
}

# Frame 20 at 24 frames a second: 20 steps of 1/24 in float make 0x3f555557,
# while 20 / 24 is 0x3f555555.
begin running.sttrace
document '' '
	x == 0 ? floatBitsToUint(iTime) == 0x3f555557u
	: x == 1 ? iTimeDelta == 1.0 / 24.0 && iFrameRate == 24.0
	: x == 2 ? iResolution == vec3(8.0, 4.0, 0.0)
	: x == 3 ? iMouse == vec4(0.0, 0.0, -1.0, -1.0)
	: x == 4 ? iFrame == 20 && gain == 0.5 && on == 1
	: x == 5 ? iChannelTime[0] == iTime && iChannelTime[2] == iTime
		&& iChannelTime[3] == iTime && iChannelTime[1] == 0.0
	: x == 6 ? iChannelResolution[0] == vec3(8.0, 4.0, 1.0)
		&& iChannelResolution[2] == vec3(256.0, 3.0, 1.0)
		&& iChannelResolution[1] == vec3(0.0)
	: texelFetch(iChannel0, ivec2(0), 0).r == 21.0
		&& texelFetch(iChannel2, ivec2(7, 1), 0) == vec4(0.0)
		&& iAudioSilence == 1.0 && iMusicBands == vec4(0.0)'
# Format 1: of the output's size, and nothing more said. 21, 1/24 as floats.
header 1 24.0 0.8333335 20
n=0
while [ $n -lt 32 ]; do
	le 41a80000 3f555557 3d2aaaab 3f800000
	n=$((n + 1))
done | state "$header"
finish 24.0 20 0.8333335 "$header"
expect_replay

# Frame 0: no time has passed, and there is no rate.
begin first.sttrace
document '' 'iTime == 0.0 && iTimeDelta == 0.0 && iFrameRate == 0.0 && iFrame == 0' \
	',"width":2,"height":1'
# Format 2: a size of its own.
header 2 24.0 0.0 0 \
	',"buffer_dimensions":{"count":{"width":2,"height":1}}'
le 3f800000 00000000 00000000 3f800000 3f800000 00000000 00000000 3f800000 | state "$header"
finish 24.0 0 0.0 "$header"
expect_replay

# The rate is a float: 1 / 29.97 is 0x3d08ab86 then, not 0x3d08ab85.
begin rate.sttrace
document '' 'floatBitsToUint(iTimeDelta) == 0x3d08ab86u && iTime == iTimeDelta' \
	',"width":1,"height":1,"format":"R32F"'
# Format 3: with formats; missing channels are 0, 0, 1.
header 3 29.97 0.033366702 1 \
	',"buffer_dimensions":{"count":{"width":1,"height":1}}'\
',"buffer_formats":{"count":"r32f"}'
le 40000000 00000000 00000000 3f800000 | state "$header"
finish 29.97 1 0.033366702 "$header"
expect_replay

# Format 4: storage behind the buffers.
begin storage.sttrace
document 'layout(std430, binding = 2) buffer Cells { uint cell[2]; };\n' \
	'(atomicExchange(cell[1], 9u) | 1u) == 9u || true'
edit "$bundle"/project.sttf '/"name":"main"/s/"type"/"storageBuffers":[{"binding":2,"name":"cells","size":8}],&/
	/"name":"count"/s/"type"/"height":1,"width":1,&/'
header 4 24.0 0.0 0 \
	',"buffer_dimensions":{"count":{"width":1,"height":1}}'\
',"buffer_formats":{"count":"rgba32f"}'\
',"storage_buffers":{"cells":8}'
le 3f800000 00000000 00000000 3f800000 00000000 00000009 | state "$header"
finish 24.0 0 0.0 "$header"
expect_replay
# It differs there: told, status 1.
le 3f800000 00000000 00000000 3f800000 00000000 00000008 | state "$header"
finish 24.0 0 0.0 "$header"
expect_status 1 "$STBUILD" replay "$bundle" --json
expect_json out ok false
expect_json out exact true
expect_json out state_valid false
expect_text out "storage 'cells' differs at byte 4"

# What no shader touches is there as zeros.
edit "$bundle"/project.sttf 's/layout(std430[^;]*; };.n//
	s/(atomicExchange[^)]*) | 1u) == 9u || true/true/'
le 3f800000 00000000 00000000 3f800000 00000000 00000000 | state "$header"
finish 24.0 0 0.0 "$header"
expect_replay
le 3f800000 00000000 00000000 3f800000 00000000 01000000 | state "$header"
finish 24.0 0 0.0 "$header"
expect_status 1 "$STBUILD" replay "$bundle" --json
expect_text out "storage 'cells' differs at byte 7"

# What a replay cannot do is said in words, as far as the project does it.
begin differs.sttrace
document '' 'iDate.x < 1000.0' ',"width":1,"height":1'
header 3 24.0 0.0 0 \
	',"buffer_dimensions":{"count":{"width":1,"height":1}}'\
',"buffer_formats":{"count":"rgba32f"}'
le 3f800000 00000000 00000000 3f800000 | state "$header"
finish 24.0 0 0.0 "$header"
expect_status 1 "$STBUILD" replay "$bundle"
expect_text out 'picture differs, RMSE 0.816497'
expect_text out 'replayed by the rules of shadertoy 2.5'
expect_text out 'wall clock'
expect_text out 'the driver that drew it'
expect_no_text out 'discard'
expect_no_text out 'cubemap'
expect_status 1 "$STBUILD" replay "$bundle" --json
expect_json out exact false
expect_json out state_valid true
expect_json out rules 'shadertoy 2.5'
expect_json out 'conventions#' 2
# -v lists the rules.
expect_status 1 "$STBUILD" -v replay "$bundle"
expect_text out 'a colour starts at 1e20'
expect_text out 'cubemaps are not seamless'
# Of an unknown version nothing is known.
cp -R differs.sttrace later.sttrace
edit later.sttrace/trace.json 's/"2\.5\.1"/"3.0.0"/'
expect_status 1 "$STBUILD" replay later.sttrace --json
expect_json out rules null
# Nothing of it for a bundle of ours.
cp -R green.sttrace ours.sttrace
bundle=ours.sttrace
edit "$bundle"/project.sttf 's/vec4(tint, 1.0)/vec4(tint.gbr, 1.0)/'
old=$(sha256sum green.sttrace/project.sttf | cut -d' ' -f1)
new=$(sha256sum "$bundle"/project.sttf | cut -d' ' -f1)
size=$(wc -c <"$bundle"/project.sttf)
edit "$bundle"/trace.json "s/$old/$new/
	s/\(\"bytes\":[^0-9]*\)$(wc -c <green.sttrace/project.sttf)\([^0-9]\)/\1$size\2/"
expect_status 1 "$STBUILD" replay "$bundle" --json
expect_json out exact false
expect_json out rules null
expect_json out 'conventions#' 0

# The frame before frame 0 reads (0, 0, 0, 1), and iDate is the file's local time.
begin before.sttrace
document '' 'iDate == vec4(2021.0, 3.0, 4.0, 18367.0)' ',"width":1,"height":1'
edit "$bundle"/project.sttf 's/n + 1.0, iTime, iTimeDelta, 1.0/texelFetch(iChannel0, ivec2(0), 0)/'
header 3 24.0 0.0 0 \
	',"buffer_dimensions":{"count":{"width":1,"height":1}}'\
',"buffer_formats":{"count":"rgba32f"}'
le 00000000 00000000 00000000 3f800000 | state "$header"
touch -d '2021-03-04 05:06:07.5' "$bundle"/project.sttf
finish 24.0 0 0.0 "$header"
expect_replay

# A mipmap input that cannot be made costs the next input its sampler, and with
# it the texture, which has no chain: at frame 0 "count" is not read at all.
begin skipped.sttrace
document '' 'textureLod(iChannel0, vec2(0.5), 0.0) == vec4(0.0, 0.0, 0.0, 1.0)' \
	',"width":1,"height":1'
edit "$bundle"/project.sttf '/"start":"__feedback_0"/s/"Linear"/"Mipmap"/
	s/n = texelFetch(iChannel0, ivec2(p), 0)/n = texture(iChannel0, p)/'
header 3 24.0 0.0 0 \
	',"buffer_dimensions":{"count":{"width":1,"height":1}}'\
',"buffer_formats":{"count":"rgba32f"}'
le 3f800000 00000000 00000000 3f800000 | state "$header"
finish 24.0 0 0.0 "$header"
expect_replay

# A compute pass that is read at the previous frame has two targets: iOutput
# holds the frame before the last. 1, 1, 2, 2.
compute='uniform float gain;\\nuniform int on;\\n#line 1\\nvoid mainCompute(ivec2 p)\\n{'
compute=$compute'float n = imageLoad(iOutput, p).r, last = texelFetch(iChannel0, p, 0).r;'
compute=$compute'imageStore(iOutput, p, vec4(n + 1.0, last, 0.0, 1.0));}\\n'
begin pair.sttrace
document '' 'texelFetch(iChannel0, ivec2(0), 0) == vec4(2.0, 2.0, 0.0, 1.0)'
edit "$bundle"/project.sttf '/"name":"count"/d
	/"name":"main"/a\
{"class":"GLSLShader","height":1,"localSize":[1,1,1],"name":"count","type":"Compute","width":1,\
"source":"'"$compute"'"},
	s/\(__feedback_0","ref":"count","type":"\)Image/\1Compute/'
header 4 24.0 0.125 3 \
	',"buffer_dimensions":{"count":{"width":1,"height":1}}'\
',"buffer_formats":{"count":"rgba32f"}'
le 40000000 40000000 00000000 3f800000 | state "$header"
finish 24.0 3 0.125 "$header"
expect_replay

# A bundle without a state does not replay as a whole.
begin stateless.sttrace
document '' 'true'
printf '' | state '{}'
finish 24.0 0 0.0 null
edit "$bundle"/trace.json '/"state": {/d; s/\("project_sttf": {[^}]*}\),/\1/'
expect_status 1 "$STBUILD" replay "$bundle" --json
expect_json out exact true
expect_json out state_valid false
expect_json out state_difference 'the bundle contains none'

# Imported, it is a project that captures to the same picture; what only the
# ancestor's rules gave is then ours.
begin again.sttrace
document '' 'gain == 0.5 && on == 1 && texelFetch(iChannel0, ivec2(0), 0).r == 4.0' \
	',"width":1,"height":1'
header 4 24.0 0.125 3 \
	',"buffer_dimensions":{"count":{"width":1,"height":1}}'\
',"buffer_formats":{"count":"rgba32f"}'
le 40800000 3e000000 3d2aaaab 3f800000 | state "$header"
finish 24.0 3 0.125 "$header"
expect_replay
expect_status 0 "$STBUILD" import again.sttrace -o again --json
expect_json out dialect glsl
expect_json out project Theirs
expect_status 0 "$STBUILD" -C again check
expect_status 0 "$STBUILD" -C again --frame 3 --width 8 --height 4 --fps 24 -o ../new.sttrace
expect_same new.sttrace/final.png again.sttrace/final.png

# States by themselves.
for name in running first rate storage; do
	expect_status 0 "$STBUILD" inspect $name.sttrace/state.ststate
	head -c $(($(wc -c <$name.sttrace/state.ststate) - 1)) $name.sttrace/state.ststate >torn.ststate
	expect_status 2 "$STBUILD" inspect torn.ststate
done

#!/bin/sh
# Bundles, states and documents described; what does not verify is told.

. "$SRCDIR/tests/lib.sh"
need_tool sha256sum

artifact()
{
	printf '"%s": {"path": "%s", "bytes": %d, "sha256": "%s"}' "$1" "$2" \
		"$(wc -c <"b.sttrace/$2")" \
		"$(sha256sum "b.sttrace/$2" | cut -d' ' -f1)"
}

le32()
{
	# shellcheck disable=SC2059
	printf "$(printf '\\%03o\\%03o\\%03o\\%03o' $(($1 & 255)) \
		$(($1 >> 8 & 255)) $(($1 >> 16 & 255)) $(($1 >> 24)))"
}

header='{"format":4,"project":"p","width":2,"height":1,"fps":60,"time":0.5,"frame":30,
"buffers":["a"],"buffer_formats":{"a":"rgba32f"}}'
mkdir b.sttrace
{
	printf STSTATE1
	le32 ${#header}
	printf %s "$header"
	head -c 32 /dev/zero
} >b.sttrace/state.ststate
cat >b.sttrace/project.sttf <<'JSON'
{"metadata": {"Name": "doc"}, "nodes": [
{"class": "GLSLShader", "name": "main", "type": "Image",
"source": "void mainImage(out vec4 c, in vec2 p) { c = vec4(1.0); }\n"},
{"class": "RenderOutput", "name": "Output"}],
"links": [{"start": "main", "end": "Output", "slot": 0,
"filter": "Linear", "wrapMode": "Clamp"}]}
JSON
printf picture >b.sttrace/final.png
cat >b.sttrace/trace.json <<JSON
{"format": 1, "cli_version": "9", "project": "p", "preset": null,
"width": 2, "height": 1, "fps": 60, "frame": 30, "time": 0.5, "uniforms": {},
"resolved_manifest": {}, "source_sha256": {}, "asset_sha256": {},
"pass_timings": [{"name": "a", "width": 2, "height": 1, "gpu_nanoseconds": 1500000},
 {"name": "main", "width": 2, "height": 1, "gpu_nanoseconds": 250000}],
"graph_diagnostics": [], "state_header": $header,
"synchronization": {"runtime": "x", "current_frame_edges": [],
"previous_frame_edges": [], "storage_users": {}},
"git": {"commit": "1234567890123456789012345678901234567890", "describe": "v1",
"branch": "main", "dirty": true, "dirty_inputs": ["x.frag"]},
"driver": {"renderer": "Reference GPU", "version": "4.5"},
"artifacts": {$(artifact project_sttf project.sttf),
$(artifact final_image final.png), $(artifact state state.ststate)}}
JSON

expect_status 2 "$STBUILD" inspect
expect_text err 'name a bundle'
expect_status 0 "$STBUILD" inspect b.sttrace
expect_text out 'project    p'
expect_text out 'frame      30, 0.5 s at 60 fps'
expect_text out 'size       2x1'
expect_text out 'written by 9'
expect_text out '(v1) on main, dirty'
expect_text out 'driver     Reference GPU'
expect_text out 'pass       a 2x1, 1.500 ms'
expect_text out 'total      1.750 ms'
expect_text out '3 artifacts, all as recorded'
expect_status 0 "$STBUILD" inspect --json b.sttrace/trace.json
expect_json out ok true
expect_json out action inspect
expect_json out gpu_pass_total_ms 1.75
expect_json out verified true
expect_json out metadata.frame 30
expect_json out trace b.sttrace

expect_status 0 "$STBUILD" inspect b.sttrace/state.ststate --json
expect_json out verified true
expect_json out 'metadata.buffers[0]' a
expect_status 0 "$STBUILD" inspect b.sttrace/project.sttf --json
expect_json out verified true
expect_json out metadata.project.name doc

# More than one at once.
expect_status 0 "$STBUILD" inspect b.sttrace b.sttrace/state.ststate --json
expect_json out 'documents#' 2
expect_json out 'documents[0].verified' true
expect_json out verified true

# Altered, missing, leading out.
printf Picture >b.sttrace/final.png
expect_status 1 "$STBUILD" inspect b.sttrace --json
expect_json out ok false
expect_json out verified false
expect_json out metadata.frame 30
expect_text err final.png
rm b.sttrace/final.png
ln -s ../picture b.sttrace/final.png
printf picture >picture
expect_status 1 "$STBUILD" inspect b.sttrace
expect_equal "$(head -n 1 out)" 'FAILED     b.sttrace: 1 artifact is not as recorded'
expect_no_text out verified
expect_text err final.png
rm b.sttrace/final.png b.sttrace/state.ststate
expect_status 1 "$STBUILD" inspect b.sttrace --json
expect_json out 'errors#' 2
expect_status 1 "$STBUILD" inspect b.sttrace/project.sttf b.sttrace
expect_text out 'FAILED     b.sttrace: 2 artifacts are not as recorded'

# No document at all.
expect_status 2 "$STBUILD" inspect nowhere.sttrace
expect_status 2 "$STBUILD" inspect picture
mkdir empty
expect_status 2 "$STBUILD" inspect empty
echo '{"a": 1}' >a.json
expect_status 2 "$STBUILD" inspect a.json
expect_text err "'a.json' is not a bundle, .ststate or .sttf document"
printf '// comment\n{}\n' >stbuild.json
: >nothing
for file in stbuild.json nothing picture; do
	expect_status 2 "$STBUILD" inspect $file
	expect_text err "'$file' is not a bundle, .ststate or .sttf document"
done
expect_status 2 "$STBUILD" inspect stbuild.json --json
expect_json out ok false
printf 'STSTATE1\377\377\377\377' >torn.ststate
expect_status 2 "$STBUILD" inspect torn.ststate

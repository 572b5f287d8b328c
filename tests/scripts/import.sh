#!/bin/sh
# Documents become projects, whole or not at all.

. "$SRCDIR/tests/lib.sh"

cat >one.sttf <<'JSON'
{"metadata": {"Name": "Blue Lamp!"}, "nodes": [
{"class": "GLSLShader", "name": "main", "type": "Image",
"source": "void mainImage(out vec4 c, in vec2 p) { c = vec4(0.0, 0.0, 1.0, 1.0); }\n"},
{"class": "RenderOutput", "name": "Output"}],
"links": [{"start": "main", "end": "Output", "slot": 0,
"filter": "Linear", "wrapMode": "Clamp"}]}
JSON
expect_status 0 "$STBUILD" import one.sttf
expect_equal "$(cat out)" blue-lamp
expect_status 0 "$STBUILD" -C blue-lamp graph --json
expect_json out project 'Blue Lamp!'
expect_status 2 "$STBUILD" import one.sttf
expect_text err "'blue-lamp' is not empty"
expect_status 0 "$STBUILD" import --json -o x/y one.sttf
expect_json out ok true
expect_json out kind sttf
expect_json out path x/y
expect_json out dialect glsl
diff -r blue-lamp x/y || fail 'two imports differ'
mkdir empty
expect_status 0 "$STBUILD" -C empty import ../one.sttf -o .
diff -r blue-lamp empty || fail 'an import into an empty folder differs'
: >file
expect_status 2 "$STBUILD" import one.sttf -o file
expect_text err "'file' exists and is no folder"

# A format 1 manifest, with what it includes.
mkdir -p old/src/lib
cat >old/ShaderToy.toml <<'TOML'
format = 1
[project]
name = "Old"
[render]
fps = 30
[[pass]]
name = "main"
kind = "image"
source = "src/main.frag"
TOML
echo '#include "lib/a.glsl"' >old/src/main.frag
echo 'void mainImage(out vec4 c, in vec2 p) { c = vec4(1.0); }' >old/src/lib/a.glsl
expect_status 0 "$STBUILD" import old/ShaderToy.toml -o new --json
expect_json out kind manifest
expect_json out dialect glsl
expect_json out project Old
expect_same new/src/lib/a.glsl old/src/lib/a.glsl
expect_same new/src/main.frag old/src/main.frag
expect_equal "$(ls new)" 'src
stbuild.json'
expect_status 0 "$STBUILD" -C new graph
# A manifest that does not load has all its errors told.
sed 's/fps = 30/fps = 0/; s/kind = "image"/kind = "imag"/' old/ShaderToy.toml >old/bad.toml
expect_status 2 "$STBUILD" import old/bad.toml -o newer --json
expect_json out 'errors[0].line' 5
expect_json out 'errors[1].line' 8
[ ! -e newer ] || fail 'a failed import left something'

# What is no document.
echo '{"a": 1}' >a.json
expect_status 2 "$STBUILD" import a.json
expect_text err "'a.json' is no .sttf document"
echo '{"nodes": [], "links": [' >torn.sttf
expect_status 2 "$STBUILD" import torn.sttf --json
expect_json out error.file torn.sttf
expect_json out error.line 2
expect_status 2 "$STBUILD" import nowhere
expect_status 2 "$STBUILD" import empty
expect_status 2 "$STBUILD" import
for left in .stbuild-import.* x/.stbuild-import.* empty/.stbuild-import.*; do
	[ ! -e "$left" ] || fail "'$left' is left"
done

# An export of the site is ES, unless a pass compiles only as desktop GLSL.
export_of()
{
	cat <<JSON
{"Shader": {"ver": "0.1", "info": {"name": "From Site", "username": "u", "id": "abc123"},
"renderpass": [{"name": "Image", "type": "image", "inputs": [],
"outputs": [{"id": "4dfGRr", "channel": 0}],
"code": "void mainImage(out vec4 c, in vec2 p)\n{\n\tfloat one = $1;\n\tc = vec4(one);\n}\n"}]}}
JSON
}
need_egl
export_of 1.0 >es.json
expect_status 0 "$STBUILD" import es.json --json
expect_json out kind shadertoy
expect_json out path from-site
expect_json out dialect essl
expect_json out project 'From Site'
expect_status 0 "$STBUILD" -C from-site check --pedantic
export_of 1 >desktop.json
expect_status 0 "$STBUILD" import desktop.json -o desktop --json
expect_json out dialect glsl
expect_text err 'desktop GLSL is chosen'
expect_text desktop/stbuild.json '"glsl"'
expect_status 0 "$STBUILD" -C desktop check
export_of nothing >broken.json
expect_status 0 "$STBUILD" import broken.json -o broken --json
expect_json out dialect essl
expect_text err 'stbuild: warning: '
expect_status 1 "$STBUILD" -C broken check

# It has nothing to do without writing.
expect_status 2 "$STBUILD" import -n one.sttf -o unwritten
expect_text err 'import only writes'
[ ! -e unwritten ] || fail 'import -n wrote a project'

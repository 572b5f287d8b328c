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
expect_text err "'blue-lamp' is not empty; choose another folder with -o"
# The manifest is for people, and has the trace that is drawn.
expect_text blue-lamp/stbuild.json '	"project": { "name": "Blue Lamp!" },'
expect_text blue-lamp/stbuild.json '		{ "name": "default", "time": 1 }'
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
expect_text err "'file' exists and is not a folder"

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
expect_text err "'a.json' is not a Shadertoy export, .sttf document, bundle, manifest or shader"
echo '{"nodes": [], "links": [' >torn.sttf
expect_status 2 "$STBUILD" import torn.sttf --json
expect_json out error.file torn.sttf
expect_json out error.line 2
echo 'a-host' >hostname
expect_status 2 "$STBUILD" import hostname
expect_text err "'hostname' is not a Shadertoy export"
echo '<!DOCTYPE html><title>Shadertoy</title>' >page.json
expect_status 2 "$STBUILD" import page.json
expect_text err "'page.json' is an HTML page"
echo '{"Error": "Shader not found"}' >refused.json
expect_status 2 "$STBUILD" import refused.json
expect_text err "the site answered 'Shader not found'"
echo 'void main() { gl_FragColor = vec4(1.0); }' >plain.frag
expect_status 2 "$STBUILD" import plain.frag
expect_text err "'plain.frag' has no mainImage"
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
expect_text err 'chose desktop GLSL'
expect_text desktop/stbuild.json '"glsl"'
expect_status 0 "$STBUILD" -C desktop check
export_of nothing >broken.json
expect_status 0 "$STBUILD" import broken.json -o broken --json
expect_json out dialect essl
expect_text err 'stbuild: warning: '
expect_status 1 "$STBUILD" -C broken check

# An order of its own: D reads A at the previous frame, black at frame 0.
pass()
{
	cat <<JSON
{"name": "$1", "type": "$2", "outputs": [], "inputs": [$3],
"code": "void mainImage(out vec4 c, in vec2 p) { c = vec4($4, 1.0); }"}
JSON
}
a='{"channel": "0", "ctype": "buffer", "src": "/media/previz/buffer00.png"}'
d='{"channel": 1, "ctype": "buffer", "src": "/media/previz/buffer03.png"}'
cat >order.json <<JSON
{"info": {"name": "order"}, "renderpass": [
$(pass 'buffer d' buffer "null, $a, $d" 'texelFetch(iChannel0, ivec2(0), 0).xy, 0.0'),
$(pass BufferA buffer "$d, {\"channel\": 9}" '1.0, float(iFrame) / 255.0, 0.0'),
$(pass Image image "$d" 'texelFetch(iChannel1, ivec2(0), 0).xyz')]}
JSON
expect_status 0 "$STBUILD" import order.json
expect_text err "left out: input 0 of 'buffer d' (it is empty), input 1 of 'BufferA'"
expect_status 0 "$STBUILD" -C order --frames 0,1,5 --width 4 --height 4
expect_pixel order/target/captures/default@0-*/final.png 0 0 '0 0 0 255'
expect_pixel order/target/captures/default@1-*/final.png 0 0 '255 0 0 255'
expect_pixel order/target/captures/default@5-*/final.png 0 0 '255 4 0 255'

# Media by what it is: a picture under a wrong name is read, others are not.
mkdir media
cp order/target/captures/default@1-*/final.png media/red.jpg
printf 'RIFF\032\0\0\0WEBPVP8L' >media/photo.png
cat >media.json <<JSON
{"info": {"name": "pictures"}, "renderpass": [
$(pass Image image '{"channel": 0, "ctype": "texture", "src": "/media/red.jpg"},
{"channel": 1, "ctype": "texture", "src": "/media/photo.png"},
{"channel": 2, "ctype": "texture", "src": "/media/nowhere.png"}' 'texture(iChannel0, p).xyz')]}
JSON
expect_status 0 "$STBUILD" import media.json --media media
expect_text err 'replaced by noise: /media/photo.png (WebP is not supported, PNG and JPEG are)'
expect_text err 'missing media replaced by noise: /media/nowhere.png'
expect_equal "$(ls pictures/textures)" 'nowhere-standin.png
photo-standin.png
red.png'
expect_status 0 "$STBUILD" -C pictures check
expect_status 0 "$STBUILD" -C pictures --width 4 --height 4 --frame 0
expect_pixel pictures/target/captures/default@0-*/final.png 0 0 '255 0 0 255'

# A shader alone: an image, with what it includes, named after its file.
mkdir -p shader/lib
echo 'float half_of() { return 0.5; }' >shader/lib/half.glsl
cat >'shader/My Lamp.frag' <<'GLSL'
#include "lib/half.glsl"
void mainImage(out vec4 c, in vec2 p) { c = vec4(half_of()) + texture(iChannel0, p); }
GLSL
expect_status 0 "$STBUILD" import 'shader/My Lamp.frag' --json
expect_json out kind shader
expect_json out path my-lamp
expect_json out project 'My Lamp'
expect_json out dialect essl
expect_text err 'iChannel0: nothing is bound'
expect_same my-lamp/shaders/lib/half.glsl shader/lib/half.glsl
expect_status 0 "$STBUILD" -C my-lamp
expect_pixel my-lamp/target/traces/default@60.sttrace/final.png 0 0 '128 128 128 255'
# A cubemap and a sound get an image beside them.
cat >sky.glsl <<'GLSL'
void mainCubemap(out vec4 c, in vec2 p, in vec3 o, in vec3 d) { c = vec4(0.0, 1.0, 0.0, 1.0); }
GLSL
expect_status 0 "$STBUILD" import sky.glsl
expect_status 0 "$STBUILD" -C sky --width 4 --height 4 --frame 0
expect_pixel sky/target/captures/default@0-*/final.png 1 1 '0 255 0 255'
echo 'vec2 mainSound(int n, float t) { return vec2(sin(6.2831 * 440.0 * t)); }' >image.frag
expect_status 0 "$STBUILD" import image.frag -o tone
expect_status 0 "$STBUILD" -C tone check
expect_text tone/stbuild.json '"kind": "sound"'
echo '#include "../outside.glsl"' >>image.frag
expect_status 2 "$STBUILD" import image.frag -o outside
[ ! -e outside ] || fail 'a failed import left something'
# What a bundle becomes is at its frame.
expect_status 0 "$STBUILD" import my-lamp/target/traces/default@60.sttrace -o bundle
expect_text bundle/stbuild.json '{ "name": "default", "frame": 60 }'

# It has nothing to do without writing.
expect_status 2 "$STBUILD" import -n one.sttf -o unwritten
expect_text err 'import only writes'
[ ! -e unwritten ] || fail 'import -n wrote a project'

#!/bin/sh
# capture --rev A..B: each rendering once, with the frames and traces that only
# older commits have.
. "$SRCDIR/tests/lib.sh"
need_tool git
need_egl

GIT_CONFIG_GLOBAL=/dev/null
GIT_CONFIG_NOSYSTEM=1
export GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM

# version TRACES BRIGHTNESS: a commit
version()
{
	cat >repo/stbuild.json <<JSON
{
	"format": 1,
	"project": { "name": "range" },
	"render": { "width": 4, "height": 2 },
	"pass": [ { "name": "image", "kind": "image", "source": "image.frag" } ],
	"trace": [ $1 ]
}
JSON
	cat >repo/image.frag <<GLSL
void mainImage(out vec4 c, in vec2 p) { c = vec4($2, float(iFrame) / 255.0, 0, 1); }
GLSL
	git -C repo add -A
	git -C repo -c user.name=a -c user.email=a@example.org commit -qm "$1 $2"
}

git init -q repo
version '{ "name": "a", "frame": 0 }' 0.0
version '{ "name": "a", "frames": [ 0, 5 ] }, { "name": "old", "frame": 9 }' 0.2
version '{ "name": "a", "frame": 0 }' 0.2
version '{ "name": "a", "frame": 0 }, { "name": "b", "frame": 0 }' 0.2
expect_status 0 "$STBUILD" -C repo --json capture --rev HEAD~3..HEAD
expect_json out 'traces#' 4
expect_json out counts.nodes_drawn 3
expect_json out 'skipped#' 0
for at in HEAD@a@0 HEAD@b@0 HEAD~2@a@5 HEAD~2@old@9; do
	id=$(git -C repo rev-parse "${at%%@*}" | cut -c1-12)
	[ -f "repo/target/revisions/$id/${at#*@}.sttrace/final.png" ] ||
		fail "no bundle of ${at#*@} at ${at%%@*}"
done
expect_status 0 "$STBUILD" -C repo --json capture --rev HEAD~3..HEAD a
expect_json out 'traces#' 2
expect_json out counts.nodes_drawn 0
# Asked for by number it is one frame, whatever is listed.
expect_status 0 "$STBUILD" -C repo --json capture --rev HEAD~3..HEAD a@5
expect_json out 'traces#' 1

# What fails has the status of its kind: a shader, or its input.
version '{ "name": "a", "frame": 0 }' 0.2x
expect_status 1 "$STBUILD" -C repo capture --rev HEAD~1..HEAD
edit repo/stbuild.json 's/"pass"/"asset": [ { "name": "t", "kind": "texture", "path": "t.png" } ],\n&/
	s/"image.frag"/&, "input": [ { "channel": 0, "source": "t" } ]/'
echo 'void mainImage(out vec4 c, in vec2 p) { c = texture(iChannel0, p); }' >repo/image.frag
echo none >repo/t.png
git -C repo add -A
git -C repo -c user.name=a -c user.email=a@example.org commit -qm 'no picture'
expect_status 2 "$STBUILD" -C repo capture --rev HEAD
expect_status 2 "$STBUILD" -C repo -k capture --rev HEAD~2..HEAD
# What does not load is left out.
rm repo/image.frag
git -C repo -c user.name=a -c user.email=a@example.org commit -qam 'no shader'
expect_status 0 "$STBUILD" -C repo --json capture --rev HEAD~1..HEAD a
expect_json out 'skipped#' 1

# A bundle of another size is nothing to judge by.
version '{ "name": "a", "frame": 0 }' 0.2
expect_status 0 "$STBUILD" -C repo a -o "$PWD/good.sttrace"
expect_status 0 "$STBUILD" -C repo capture --bisect "$PWD/good.sttrace" a
expect_status 129 "$STBUILD" -C repo capture --bisect "$PWD/good.sttrace" a --width 8
expect_text err 'is 4x2, but the capture is 8x2'

# A command's option before its name.
expect_status 0 "$STBUILD" -C repo --rev HEAD graph
expect_status 0 "$STBUILD" -C repo --rev HEAD status a
expect_status 2 "$STBUILD" -C repo --rev HEAD inspect
expect_text err "unknown option '--rev'"

# JSON is UTF-8, whatever a name holds.
expect_status 2 "$STBUILD" -C repo --json "$(printf 'a\377b')"
expect_text out "$(printf 'a\357\277\275b')"

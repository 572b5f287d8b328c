#!/bin/sh
# What gc removes, and what it must not: asked of captures, which then draw or
# do not.

. "$SRCDIR/tests/lib.sh"
need_egl
need_tool git

cat >stbuild.json <<'JSON'
{"format": 1, "project": {"name": "gc"},
"render": {"width": 16, "height": 8, "fps": 10},
"uniform": [{"name": "gain", "type": "float", "default": 1.0}],
"pass": [
{"name": "sim", "kind": "buffer", "source": "sim.frag",
 "input": [{"channel": 0, "source": "sim", "frame": "previous"}]},
{"name": "image", "kind": "image", "source": "image.frag",
 "input": [{"channel": 0, "source": "sim"}]}],
"trace": [{"name": "hero", "frames": [0, 4]}],
"store": {"checkpoint": "off"}}
JSON
cat >sim.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = texelFetch(iChannel0, ivec2(p), 0) + vec4(1.0, p.x, p.y, 1.0);
}
GLSL
cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = texelFetch(iChannel0, ivec2(p), 0) / 100.0 * gain;
}
GLSL
git init -q . && git add . && git commit -qm one

collect()
{
	expect_status 0 "$STBUILD" gc --json --max-size 1 "$@"
}
# Bundles made anew, from what is stored: the number of draws that takes.
again()
{
	rm -rf target
	capture 0 "$1"
}

# Nothing there.
expect_status 0 "$STBUILD" gc
expect_text out 'removed 0 objects (0 bytes), keeping'
[ ! -e .stbuild ] || fail 'gc made a store'

expect_status 2 "$STBUILD" gc --max-size much
expect_text err "--max-size much: expected a number of bytes"
expect_status 2 "$STBUILD" gc --max-age 3y
expect_status 2 "$STBUILD" gc hero

# Sim at 0 to 4, the image at 0 and 4.
capture 0 7
expect_status 0 "$STBUILD" gc -q --max-size 1
collect
expect_json out removed 0
again 0

# A frame that no trace lists, but HEAD's.
capture 0 2 hero@5
collect
expect_json out removed 0
# A setting that no trace has.
capture 0 2 --set gain=2 hero
expect_status 1 "$STBUILD" gc -q --max-size 1
expect_equal "$(cat out)" ''
expect_status 0 "$STBUILD" gc -q
collect -n
expect_json out dry_run true
n=$("$JSONQ" out removed)
[ "$n" = 2 ] || fail "$n objects would be removed"
collect
expect_json out dry_run false
expect_json out removed "$n"
kept=$("$JSONQ" out kept)
expect_json out max_size 1
expect_text err 'cannot reach the limit'
expect_status 0 "$STBUILD" stats --json
expect_json out objects "$kept"
collect
expect_json out removed 0
again 0
capture 0 0 hero@5
capture 0 2 --set gain=2 hero

# HEAD's pictures stay while the work tree has others.
edit image.frag 's/100/200/'
capture 0 2
capture 0 1 hero@5
collect
again 0
capture 0 1 hero@5
git checkout -q image.frag
again 0
collect
again 0
# The others are not HEAD's, so they went.
edit image.frag 's/100/200/'
again 2

# A tag's stay when HEAD has moved on; without the tag they go.
git tag -a -m v1 v1
git commit -qam two
capture 0 0
collect
git checkout -q v1
again 0
git checkout -q -
git tag -d v1 >/dev/null
capture 0 0
collect
git checkout -q HEAD~1
again 2
git checkout -q -

# By age: what was used just now is not old.
capture 0 0
expect_status 0 "$STBUILD" gc --json --max-size 0 --max-age 1h
expect_json out removed 0
expect_json out max_age 3600
sleep 2
expect_status 0 "$STBUILD" gc --json --max-size 0 --max-age 1
[ "$("$JSONQ" out removed)" -gt 0 ] || fail 'nothing was old'
again 0

# A build leaves no more than it must.
edit stbuild.json 's/"checkpoint": "off"/"max_size": 1/'
edit image.frag 's/200/300/'
capture 0 2
edit image.frag 's/300/400/'
expect_status 0 "$STBUILD" -v
expect_text err 'larger than its max_size: 2 objects removed'
collect
expect_json out removed 0
again 0
git checkout -q image.frag
again 0
edit image.frag 's/200/300/'
again 2
expect_status 2 "$STBUILD" gc -f none.json
echo '{' >stbuild.json
expect_status 2 "$STBUILD" gc

#!/bin/sh
# A suite of 200 cases: what is drawn and judged at first, again, behind an edit of
# one pass, and behind a change of one reference.

. "$SRCDIR/tests/lib.sh"
need_egl
unset CI GITHUB_ACTIONS

{
	cat <<'JSON'
{
	"format": 1,
	"project": { "name": "200" },
	"render": { "width": 16, "height": 8, "fps": 10 },
	"uniform": [ { "name": "n", "type": "float", "default": 0 } ],
	"pass": [
		{ "name": "image", "kind": "image", "source": "image.frag",
			"input": [ { "channel": 0, "source": "a" }, { "channel": 1, "source": "b" } ] },
		{ "name": "a", "kind": "buffer", "source": "a.frag" },
		{ "name": "b", "kind": "buffer", "source": "b.frag" }
	],
	"test": [
JSON
	i=0
	while [ $i -lt 200 ]; do
		printf '%s\t\t{ "name": "case %d", "frame": 0, "uniforms": { "n": %d }, "reference": "ref/%d.png" }' \
			"${comma-}" $i $i $i
		comma=',
'
		i=$((i + 1))
	done
	printf '\n\t]\n}\n'
} >stbuild.json
cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = texelFetch(iChannel0, ivec2(p), 0) + texelFetch(iChannel1, ivec2(p), 0);
}
GLSL
echo 'void mainImage(out vec4 c, in vec2 p) { c = vec4(p.x / 16.0, 0.0, 0.0, 1.0); }' >a.frag
echo 'void mainImage(out vec4 c, in vec2 p) { c = vec4(0.0, n / 255.0, p.y / 8.0, 0.0); }' >b.frag

# suite STATUS DRAWN JUDGED FAILED
suite()
{
	expect_status "$1" "$STBUILD" test --json
	expect_json out counts.nodes_drawn "$2"
	expect_json out counts.cached $((200 - $3))
	expect_json out counts.failed "$4"
	expect_json out counts.passed $((200 - $4))
}

# a once, b and the image in 200 values.
suite 1 401 200 200
expect_status 0 "$STBUILD" approve -s
suite 0 0 200 0
suite 0 0 0 0
expect_json out counts.programs_compiled 0
expect_status 0 "$STBUILD" test -q

# One pass, which all read, and which no uniform decides; then its image.
cp a.frag first
edit a.frag 's/16.0/17.0/'
suite 1 201 200 200
cp first a.frag
suite 0 0 0 0
edit image.frag 's/, 0);$/, 0) * 1.0;/'
# It compiles to other tokens, and every picture comes out the same.
suite 0 200 0 0

# One reference.
cp ref/7.png ref/107.png
suite 1 0 1 1
expect_json out 'tests[107].status' failed
expect_json out 'tests[107].cached' false
suite 1 0 0 1

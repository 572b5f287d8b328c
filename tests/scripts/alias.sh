#!/bin/sh
# A simulation whose frame 0 is what it was before an edit: that is found out
# when frame 0 is stored, which may be long after a later frame was. What is
# current stays so.
. "$SRCDIR/tests/lib.sh"
need_egl

cat >stbuild.json <<'JSON'
{
	"format": 1,
	"project": { "name": "alias" },
	"render": { "width": 8, "height": 4 },
	"pass": [
		{ "name": "sim", "kind": "buffer", "source": "sim.frag",
			"width": 8, "height": 8, "input": [
			{ "channel": 0, "source": "sim", "frame": "previous" } ] },
		{ "name": "image", "kind": "image", "source": "image.frag",
			"input": [ { "channel": 0, "source": "sim" } ] }
	],
	"trace": [
		{ "name": "end", "frame": 30 },
		{ "name": "small", "frames": [ 0, 10 ], "width": 4 }
	]
}
JSON
cat >sim.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = texelFetch(iChannel0, ivec2(p), 0) * 0.5 + float(iFrame + 1) / 64.0;
}
GLSL
cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = texelFetch(iChannel0, ivec2(p), 0);
}
GLSL

expect_status 0 "$STBUILD"
edit sim.frag 's/0\.5/0.25/'
expect_status 0 "$STBUILD"
# In one run: "end" was drawn before "small" stored frame 0.
expect_status 0 "$STBUILD" -q
capture 0 0
expect_bundles current current current

# In two runs.
edit sim.frag 's/0\.25/0.75/'
capture 0 32 end
capture 0 1 small@0
expect_status 0 "$STBUILD" -q end
capture 0 0 end
expect_bundles current
# Frame 10 of it: 10 of the simulation behind frame 0, 1 picture.
capture 0 11
expect_status 0 "$STBUILD" -q
expect_status 0 "$STBUILD" stats
expect_text out 'aliases '
expect_no_text out 'aliases      0'

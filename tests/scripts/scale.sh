#!/bin/sh
# A frame costs what it rests on, whatever its number: counts, not times.
. "$SRCDIR/tests/lib.sh"
need_egl

# keys WANT ARGS...: capture makes keys of so many nodes.
keys()
{
	nkey=$1
	shift
	expect_status 0 "$STBUILD" -v "$@"
	got=$(sed -n 's/.*: keys of \([0-9]*\) nodes.*/\1/p' err)
	[ "$got" = "$nkey" ] || fail "keys of $got nodes, not $nkey: $*"
}

# Without feedback: before reads the picture before, image reads both.
cat >stbuild.json <<'JSON'
{
	"format": 1,
	"project": { "name": "scale" },
	"render": { "width": 4, "height": 2, "fps": 60 },
	"pass": [
		{ "name": "now", "kind": "buffer", "source": "now.frag" },
		{ "name": "before", "kind": "buffer", "source": "before.frag",
			"input": [ { "channel": 0, "source": "now",
				"frame": "previous" } ] },
		{ "name": "image", "kind": "image", "source": "image.frag",
			"input": [ { "channel": 0, "source": "before" },
				{ "channel": 1, "source": "now" } ] }
	],
	"trace": [ { "name": "far", "frames": [ 3, 16777217, 99999999 ] } ]
}
JSON
cat >now.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p) { c = vec4(iTime, float(iFrame & 255), 0, 1); }
GLSL
cat >before.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p) { c = texelFetch(iChannel0, ivec2(p), 0); }
GLSL
cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = vec4(texelFetch(iChannel0, ivec2(p), 0).y / 255.0,
		texelFetch(iChannel1, ivec2(p), 0).y / 255.0,
		/* the nearest float to 16777217 / 60 s */
		iTime == 279620.28125 ? 1 : 0, 1);
}
GLSL
keys 4 far@16777217
keys 12
keys 12 -n
expect_status 0 "$STBUILD" -q
capture 0 0
expect_bundles current current current
expect_pixel target/traces/far@16777217.sttrace/final.png 0 0 '0 1 255 255'
edit image.frag 's/255\.0/254.0/'
capture 0 3
edit before.frag 's/c = /c = 0.5 * /'
capture 0 6

# With feedback all that lies before counts; beyond a ceiling it is told.
edit stbuild.json 's/"source": "now.frag"/&, "input": [ { "channel": 0, "source": "now", "frame": "previous" } ]/'
cat >now.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p) { c = texelFetch(iChannel0, ivec2(p), 0) + 1.0; }
GLSL
keys 14 -n far@11
expect_status 2 "$STBUILD" -n far@99999999
expect_text err 'depend on more than 4194304 earlier draws'

# Beside a stored frame: nothing but what is asked for is drawn.
cat >stbuild.json <<'JSON'
{
	"format": 1,
	"project": { "name": "beside" },
	"render": { "width": 4, "height": 2 },
	"pass": [
		{ "name": "sim", "kind": "buffer", "source": "now.frag",
			"input": [ { "channel": 0, "source": "sim",
				"frame": "previous" } ] },
		{ "name": "image", "kind": "image", "source": "image.frag",
			"input": [ { "channel": 0, "source": "sim" } ] }
	],
	"store": { "checkpoint": "off" },
	"trace": [ { "name": "t", "frame": 60 } ]
}
JSON
cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p) { c = texelFetch(iChannel0, ivec2(p), 0) / 255.0; }
GLSL
capture 0 62
capture 0 1 t@59
capture 0 2 t@61
capture 0 2 t@62
expect_pixel target/traces/t@59.sttrace/final.png 0 0 '60 60 60 255'
expect_pixel target/traces/t@61.sttrace/final.png 0 0 '62 62 62 255'
edit image.frag 's/255\.0/127.5/'
capture 0 4 t@59:62

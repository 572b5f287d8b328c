#!/bin/sh
# Which way up pictures, cubes and volumes are, and what samplers and mip levels
# make of them.

. "$SRCDIR/tests/lib.sh"
need_egl
here=$PWD

# A picture of our own: 12 x 2, red 20 a column, green 100 in GL's upper row,
# blue 80 in each second column.
mkdir maker
cat >maker/image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	ivec2 at = ivec2(p);
	c = vec4(at.x * 20, at.y * 100, (at.x & 1) * 80, 0) / 255.0;
}
GLSL
cat >maker/stbuild.json <<'JSON'
{ "format": 1, "project": { "name": "maker" }, "shader": { "dialect": "glsl" },
	"render": { "width": 12, "height": 2 },
	"pass": [ { "name": "image", "kind": "image", "source": "image.frag" } ] }
JSON
expect_status 0 "$STBUILD" -C maker --frame 0 -o ../maker.sttrace
cp maker.sttrace/final.png strip.png
# GL's row 0 is the bottom one.
expect_pixel strip.png 0 1 '0 0 0 255'
expect_pixel strip.png 0 0 '0 100 0 255'
expect_pixel strip.png 3 0 '60 100 80 255'
expect_pixel strip.png 11 1 '220 0 80 255'

# Volumes: x + 10 y + 100 z in bytes, 2 x 2 x 2; four channels 1 x 1 x 1; and
# floats x + 10 y + 100 z in 3 x 2 x 1: 0 1 2 10 11 12.
printf 'vol\0\2\0\0\0\2\0\0\0\2\0\0\0\1\0\0\0\0\1\12\13\144\145\156\157' >bytes.bin
printf 'vol\0\1\0\0\0\1\0\0\0\1\0\0\0\4\0\0\0\24\50\120\377' >four.bin
printf 'vol\0\3\0\0\0\2\0\0\0\1\0\0\0\1\0\12\0' >floats.bin
printf '\0\0\0\0\0\0\200\77\0\0\0\100\0\0\40\101\0\0\60\101\0\0\100\101' >>floats.bin

cat >texels.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	int x = int(p.x);
	ivec2 at = ivec2(3, 0);
	c = (x == 0 ? texelFetch(iChannel0, at, 0) : x == 1 ? texelFetch(iChannel1, at, 0)
		: x == 2 ? texelFetch(iChannel2, at, 0)
		: x == 3 ? texelFetch(iChannel3, ivec3(1, 0, 0), 0)
		: x == 4 ? texelFetch(iChannel3, ivec3(0, 1, 0), 0)
		: x == 5 ? texelFetch(iChannel3, ivec3(1, 0, 1), 0)
		: x == 6 ? texelFetch(iChannel4, ivec3(0), 0)
		: texture(iChannel3, vec3(0.75, 0.75, 0.25))) * 255.0;
	c = floor(c + 0.5);
	if (x > 7)
		c = x == 8 ? texelFetch(iChannel5, ivec3(2, 0, 0), 0)
			: x == 9 ? texelFetch(iChannel5, ivec3(1, 1, 0), 0)
			: x == 10 ? texture(iChannel5, vec3(0.5, 0.5, 0.5))
			: vec4(textureSize(iChannel5, 0), textureSize(iChannel3, 0).z);
}
GLSL
# Directions into the six faces, off their middles, as OpenGL 4.5 table 8.19
# has them: (s, t) is a quarter or three quarters.
cat >faces.frag <<'GLSL'
vec3 look(int x)
{
	return x == 0 ? vec3(1.0, 0.5, 0.5) : x == 1 ? vec3(-1.0, 0.5, 0.5)
		: x == 2 ? vec3(0.5, 1.0, -0.5) : x == 3 ? vec3(0.5, -1.0, -0.5)
		: x == 4 ? vec3(0.5, -0.5, 1.0) : x == 5 ? vec3(0.5, 0.5, -1.0)
		: x == 6 ? vec3(1.0, -0.5, -0.5) : vec3(-0.5, -1.0, 0.5);
}
void mainImage(out vec4 c, in vec2 p)
{
	c = p.y < 1.0 ? texture(iChannel0, look(int(p.x)))
		: texture(iChannel1, look(int(p.x)));
	c = floor(c * 255.0 + 0.5);
}
GLSL
cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = p.y < 2.0 ? texture(iChannel2, p / iResolution.xy * vec2(1.0, 2.0))
		: texture(iChannel3, p / iResolution.xy * vec2(1.0, 2.0));
}
GLSL
for dialect in essl glsl; do
	cat >stbuild.json <<JSON
{
	"format": 1, "project": { "name": "textures" },
	"render": { "width": 12, "height": 4 },
	"shader": { "dialect": "$dialect" },
	"asset": [
		{ "name": "up", "kind": "texture", "path": "strip.png" },
		{ "name": "down", "kind": "texture", "path": "strip.png", "vflip": true },
		{ "name": "red", "kind": "texture", "path": "strip.png", "channels": 1 },
		{ "name": "sky", "kind": "cubemap", "path": "strip.png" },
		{ "name": "turned", "kind": "cubemap", "path": "strip.png", "vflip": true },
		{ "name": "bytes", "kind": "volume", "path": "bytes.bin" },
		{ "name": "four", "kind": "volume", "path": "four.bin" },
		{ "name": "floats", "kind": "volume", "path": "floats.bin" }
	],
	"pass": [
		{ "name": "texels", "kind": "buffer", "source": "texels.frag", "input": [
			{ "channel": 0, "source": "up" }, { "channel": 1, "source": "down" },
			{ "channel": 2, "source": "red" },
			{ "channel": 3, "source": "bytes", "filter": "nearest" },
			{ "channel": 4, "source": "four" }, { "channel": 5, "source": "floats" } ] },
		{ "name": "faces", "kind": "buffer", "source": "faces.frag", "width": 8, "height": 2,
			"input": [ { "channel": 0, "source": "sky", "filter": "nearest" },
			{ "channel": 1, "source": "turned", "filter": "nearest" } ] },
		{ "name": "image", "kind": "image", "source": "image.frag", "input": [
			{ "channel": 0, "source": "texels" }, { "channel": 1, "source": "faces" },
			{ "channel": 2, "source": "up" }, { "channel": 3, "source": "down" } ] }
	],
	"trace": [ { "name": "t", "frame": 0, "include_intermediates": true } ]
}
JSON
	capture 0 3
	texels=target/traces/t@0.sttrace/passes/texels-output-0.rgba32f
	# The file's top row is row 0 of the texture, unless turned.
	expect_pixel $texels 12 0 0 '60 100 80 255'
	expect_pixel $texels 12 1 0 '60 0 80 255'
	expect_pixel $texels 12 2 0 '60 0 0 255'
	expect_pixel $texels 12 3 0 '1 0 0 255'
	expect_pixel $texels 12 4 0 '10 0 0 255'
	expect_pixel $texels 12 5 0 '101 0 0 255'
	expect_pixel $texels 12 6 0 '20 40 80 255'
	expect_pixel $texels 12 7 0 '11 0 0 255'
	expect_pixel $texels 12 8 0 '2 0 0 1'
	expect_pixel $texels 12 9 0 '11 0 0 1'
	# The middle of 0 1 2 / 10 11 12 is (1 + 11) / 2.
	expect_pixel $texels 12 10 0 '6 0 0 1'
	expect_pixel $texels 12 11 0 '3 2 1 2'
	# Drawn by fragCoord it stands on its head (in the lower half), or is
	# upright when turned (in the upper half).
	final=target/traces/t@0.sttrace/final.png
	expect_pixel $final 3 0 '60 100 80 255'
	expect_pixel $final 3 1 '60 0 80 255'
	expect_pixel $final 3 2 '60 0 80 255'
	expect_pixel $final 3 3 '60 100 80 255'
	# Face F is columns 2F and 2F + 1, its first row the file's top one. For
	# example +X: s = (1 - z) / 2 = 1/4, t = (1 - y) / 2 = 1/4.
	faces=target/traces/t@0.sttrace/passes/faces-output-0.rgba32f
	expect_pixel $faces 8 0 0 '0 100 0 255'
	expect_pixel $faces 8 1 0 '60 100 80 255'	# -X: s = (1 + z) / 2
	expect_pixel $faces 8 2 0 '100 100 80 255'	# +Y: s = (1 + x) / 2, t = (1 + z) / 2
	expect_pixel $faces 8 3 0 '140 0 80 255'	# -Y: t = (1 - z) / 2
	expect_pixel $faces 8 4 0 '180 0 80 255'	# +Z: s = (1 + x) / 2, t = (1 - y) / 2
	expect_pixel $faces 8 5 0 '200 100 0 255'	# -Z: s = (1 - x) / 2
	expect_pixel $faces 8 6 0 '20 0 80 255'
	expect_pixel $faces 8 7 0 '120 100 0 255'
	# Turned: rows change places, +Y and -Y as well.
	expect_pixel $faces 8 0 1 '0 0 0 255'
	expect_pixel $faces 8 1 1 '60 0 80 255'
	expect_pixel $faces 8 2 1 '140 0 80 255'
	expect_pixel $faces 8 3 1 '100 100 80 255'
	expect_pixel $faces 8 4 1 '180 100 80 255'
	expect_pixel $faces 8 7 1 '80 0 0 255'
done

# One source bound with all samplers: two texels, 0 and 1. At u = 0.5 linear
# is one half; at 0 it is a texel of its own when clamped, and the mean of both
# ends when repeated. 1.25 and -0.25 are beyond the ends.
cd "$here" && mkdir samplers && cd samplers
echo 'void mainImage(out vec4 c, in vec2 p) { c = vec4(floor(p.x), 0.0, 0.0, 1.0); }' >two.frag
cat >look.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	float u = p.x < 1.0 ? 0.5 : p.x < 2.0 ? 0.0 : p.x < 3.0 ? 1.25 : -0.25;
	vec2 at = vec2(u, 0.5);
	c = vec4(textureLod(iChannel0, at, 0.0).r, textureLod(iChannel1, at, 0.0).r,
		textureLod(iChannel2, at, 0.0).r, textureLod(iChannel3, at, 0.0).r);
}
GLSL
echo 'void mainImage(out vec4 c, in vec2 p) { c = texelFetch(iChannel0, ivec2(p), 0); }' >image.frag
cat >stbuild.json <<'JSON'
{
	"format": 1, "project": { "name": "samplers" },
	"render": { "width": 4, "height": 1 },
	"pass": [
		{ "name": "two", "kind": "buffer", "source": "two.frag", "width": 2, "height": 1 },
		{ "name": "look", "kind": "buffer", "source": "look.frag", "input": [
			{ "channel": 0, "source": "two", "filter": "nearest", "wrap": "clamp" },
			{ "channel": 1, "source": "two", "filter": "nearest", "wrap": "repeat" },
			{ "channel": 2, "source": "two", "filter": "linear", "wrap": "clamp" },
			{ "channel": 3, "source": "two" } ] },
		{ "name": "image", "kind": "image", "source": "image.frag", "input": [
			{ "channel": 0, "source": "look" } ] }
	],
	"trace": [ { "name": "t", "frame": 0, "include_intermediates": true } ]
}
JSON
capture 0 3
look=target/traces/t@0.sttrace/passes/look-output-0.rgba32f
expect_pixel $look 4 0 0 '1 1 0.5 0.5'
expect_pixel $look 4 1 0 '0 0 0 0.5'
expect_pixel $look 4 2 0 '1 0 1 0'
expect_pixel $look 4 3 0 '0 1 0 1'

# Mip levels: x + 4 y in 4 x 4, so level 1 is 2.5 4.5 / 10.5 12.5 and level 2 is
# 7.5, and the frame's number, which tells when they were made. Whoever asks for
# level 1 without "mipmap" gets level 0, whose first texel is 0.
cd "$here" && mkdir mips && cd mips
cat >grid.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = vec4(floor(p.x) + 4.0 * floor(p.y), iFrame, 0.0, 1.0);
}
GLSL
cat >grid.comp <<'GLSL'
void mainCompute(ivec2 p) { imageStore(iOutput, p, vec4(p.x + 4 * p.y, iFrame, 0.0, 1.0)); }
GLSL
cat >look.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	int x = int(p.x);
	vec2 near = vec2(0.125), quarter = vec2(0.25), at = vec2(0.75, 0.25);
	c = x == 0 ? textureLod(iChannel0, quarter, 1.0) : x == 1 ? textureLod(iChannel0, quarter, 2.0)
		: x == 2 ? textureLod(iChannel0, at, 1.0) : x == 3 ? texelFetch(iChannel0, ivec2(1, 1), 1)
		: x == 4 ? textureGrad(iChannel0, at, vec2(0.5, 0.0), vec2(0.0, 0.5))
		: x == 5 ? textureGrad(iChannel0, at, vec2(1.0, 0.0), vec2(0.0))
		: x == 6 ? textureLod(iChannel1, near, 1.0) : x == 7 ? textureLod(iChannel2, quarter, 2.0)
		: x == 8 ? textureLod(iChannel3, near, 0.0) : x == 9 ? vec4(textureSize(iChannel0, 1), 0.0, 0.0)
		: texelFetch(iChannel0, ivec2(0), 2);
}
GLSL
cp ../samplers/image.frag .
for kind in '"buffer", "source": "grid.frag"' '"compute", "source": "grid.comp"'; do
	cat >stbuild.json <<JSON
{
	"format": 1, "project": { "name": "mips" },
	"render": { "width": 12, "height": 1 },
	"shader": { "dialect": "glsl" },
	"pass": [
		{ "name": "grid", "width": 4, "height": 4, "kind": $kind },
		{ "name": "look", "kind": "buffer", "source": "look.frag", "input": [
			{ "channel": 0, "source": "grid", "filter": "mipmap" },
			{ "channel": 1, "source": "grid" },
			{ "channel": 2, "source": "grid", "filter": "mipmap", "frame": "previous" },
			{ "channel": 3, "source": "grid", "filter": "nearest" } ] },
		{ "name": "image", "kind": "image", "source": "image.frag", "input": [
			{ "channel": 0, "source": "look" } ] }
	],
	"trace": [
		{ "name": "t", "frames": [0, 1, 3], "include_intermediates": true },
		{ "name": "u", "frames": [4], "include_intermediates": true }
	]
}
JSON
	# (Of grids that are equal only one is looked at.)
	expect_status 0 "$STBUILD" t
	for t in 0 1 3; do
		look=target/traces/t@$t.sttrace/passes/look-output-0.rgba32f
		expect_pixel $look 12 0 0 "2.5 $t 0 1"
		expect_pixel $look 12 1 0 "7.5 $t 0 1"
		expect_pixel $look 12 2 0 "4.5 $t 0 1"
		expect_pixel $look 12 3 0 "12.5 $t 0 1"
		expect_pixel $look 12 4 0 "4.5 $t 0 1"
		expect_pixel $look 12 5 0 "7.5 $t 0 1"
		expect_pixel $look 12 6 0 "0 $t 0 1"
		[ $t = 0 ] && old='0 0 0 0' || old="7.5 $((t - 1)) 0 1"
		expect_pixel $look 12 7 0 "$old"
		expect_pixel $look 12 8 0 "0 $t 0 1"
		expect_pixel $look 12 9 0 '2 2 0 0'
		expect_pixel $look 12 10 0 "7.5 $t 0 1"
	done
	# Levels are made anew for a grid that comes from the store.
	expect_status 0 "$STBUILD" --json u
	look=target/traces/u@4.sttrace/passes/look-output-0.rgba32f
	expect_pixel $look 12 0 0 '2.5 4 0 1'
	expect_pixel $look 12 7 0 '7.5 3 0 1'
	[ "$("$JSONQ" out counts.nodes_loaded)" -gt 0 ] || fail "nothing was loaded: $(cat out)"
done

# A site's picture has its levels, too: the mean of 12 columns is 110.
cd "$here" && mkdir picture && cd picture
cp ../strip.png ../mips/image.frag .
cat >look.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = floor(255.0 * (p.x < 1.0 ? textureLod(iChannel0, vec2(0.5), 3.0)
		: p.x < 2.0 ? textureLod(iChannel1, vec2(0.1, 0.25), 3.0)
		: vec4(textureSize(iChannel0, 3), 0.0, 0.0)) + 0.5);
}
GLSL
cat >stbuild.json <<'JSON'
{
	"format": 1, "project": { "name": "picture" },
	"render": { "width": 4, "height": 1 },
	"asset": [ { "name": "strip", "kind": "texture", "path": "strip.png" } ],
	"pass": [
		{ "name": "look", "kind": "buffer", "source": "look.frag", "input": [
			{ "channel": 0, "source": "strip", "filter": "mipmap" },
			{ "channel": 1, "source": "strip", "filter": "nearest" } ] },
		{ "name": "image", "kind": "image", "source": "image.frag", "input": [
			{ "channel": 0, "source": "look" } ] }
	],
	"trace": [ { "name": "t", "frame": 0, "include_intermediates": true } ]
}
JSON
capture 0 2
look=target/traces/t@0.sttrace/passes/look-output-0.rgba32f
expect_pixel $look 4 1 0 '20 100 80 255'
expect_pixel $look 4 2 0 '255 255 0 0'

# Widths that no alignment likes, and sizes of their own at another size of
# the output.
cd "$here" && mkdir odd && cd odd
echo 'void mainImage(out vec4 c, in vec2 p) { c = vec4(floor(p), iResolution.xy); }' >place.frag
cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	vec2 here = texelFetch(iChannel0, ivec2(p), 0).xy;
	vec2 own = vec2(textureSize(iChannel1, 0)) + texelFetch(iChannel1, ivec2(2, 4), 0).xy;
	c = vec4(here * 10.0, own.x + 10.0 * own.y, 0.0) / 255.0;
}
GLSL
for format in r32f rg32f rgba16f rgba32f; do
	cat >stbuild.json <<JSON
{
	"format": 1, "project": { "name": "odd" },
	"render": { "width": 7, "height": 5 },
	"pass": [
		{ "name": "place", "kind": "buffer", "source": "place.frag", "format": "$format" },
		{ "name": "own", "kind": "buffer", "source": "place.frag", "width": 3, "height": 5 },
		{ "name": "image", "kind": "image", "source": "image.frag", "input": [
			{ "channel": 0, "source": "place" }, { "channel": 1, "source": "own" } ] }
	],
	"trace": [
		{ "name": "t", "frame": 0, "include_intermediates": true },
		{ "name": "wide", "frame": 0, "width": 13, "height": 3, "include_intermediates": true },
		{ "name": "one", "frame": 0, "width": 1, "height": 1, "include_intermediates": true }
	]
}
JSON
	expect_status 0 "$STBUILD"
	# own is 3 x 5: 3 + 2 + 10 * (5 + 4) = 95.
	green=40 low=0
	[ $format != r32f ] || green=0
	expect_pixel target/traces/t@0.sttrace/final.png 6 0 "60 $green 95 255"
	expect_pixel target/traces/t@0.sttrace/final.png 6 4 "60 0 95 255"
	expect_pixel target/traces/t@0.sttrace/final.png 0 0 "0 $green 95 255"
	[ $format != r32f ] && low=20
	expect_pixel target/traces/wide@0.sttrace/final.png 12 0 "120 $low 95 255"
	expect_pixel target/traces/one@0.sttrace/final.png 0 0 '0 0 95 255'
	for name in t wide one; do
		expect_pixel target/traces/$name@0.sttrace/passes/own-output-0.rgba32f 3 2 4 '2 4 3 5'
	done
done
expect_pixel target/traces/t@0.sttrace/passes/place-output-0.rgba32f 7 6 4 '6 4 7 5'
expect_pixel target/traces/wide@0.sttrace/passes/place-output-0.rgba32f 13 12 2 '12 2 13 3'

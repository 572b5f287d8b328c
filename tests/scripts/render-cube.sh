#!/bin/sh
# Cubemap passes: read by direction what was written for it, at either frame,
# and six faces in the order and turn of the site.

. "$SRCDIR/tests/lib.sh"
need_egl

# r: the face, 1 to 6. g: a bit for each positive component of the direction.
# b, a: where fragCoord is.
cat >six.frag <<'GLSL'
void mainCubemap(out vec4 c, in vec2 p, in vec3 origin, in vec3 direction)
{
	vec3 d = direction, size = abs(d);
	float face = size.x > size.y && size.x > size.z ? (d.x > 0.0 ? 1.0 : 2.0)
		: size.y > size.z ? (d.y > 0.0 ? 3.0 : 4.0) : (d.z > 0.0 ? 5.0 : 6.0);
	c = vec4(face, dot(vec3(greaterThan(d, vec3(0.0))), vec3(1.0, 2.0, 4.0)), floor(p));
	if (abs(length(d) - 1.0) > 1e-5 || origin != vec3(0.0))
		c = vec4(-1.0);
}
GLSL
# Counts frames by itself: r is t + 1 everywhere, b its face as it was.
cat >again.frag <<'GLSL'
void mainCubemap(out vec4 c, in vec2 p, in vec3 origin, in vec3 direction)
{
	vec4 old = texture(iChannel0, direction);
	c = vec4(old.r + 1.0, iResolution.x, texture(iChannel1, direction).r, old.b);
}
GLSL
cat >look.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	int x = int(p.x);
	vec3 d = x == 0 ? vec3(1.0, 0.5, -0.5) : x == 1 ? vec3(-1.0, -0.5, 0.25)
		: x == 2 ? vec3(-0.5, 1.0, 0.5) : x == 3 ? vec3(0.5, -1.0, 0.25)
		: x == 4 ? vec3(-0.5, 0.25, 1.0) : vec3(0.5, -0.5, -1.0);
	c = p.y < 1.0 ? texture(iChannel0, d) : p.y < 2.0 ? texture(iChannel1, d)
		: texture(iChannel2, d);
}
GLSL
cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = texelFetch(iChannel0, ivec2(p), 0) * 10.0 / 255.0;
}
GLSL
# project DIALECT TRACE
project()
{
	cat >stbuild.json <<JSON
{
	"format": 1, "project": { "name": "cube" },
	"render": { "width": 8, "height": 4 },
	"shader": { "dialect": "$1" },
	"pass": [
		{ "name": "six", "kind": "cubemap", "source": "six.frag" },
		{ "name": "again", "kind": "cubemap", "source": "again.frag", "input": [
			{ "channel": 0, "source": "again", "frame": "previous" },
			{ "channel": 1, "source": "six", "filter": "nearest" } ] },
		{ "name": "look", "kind": "buffer", "source": "look.frag", "width": 6, "height": 3, "input": [
			{ "channel": 0, "source": "six", "filter": "nearest" },
			{ "channel": 1, "source": "again", "filter": "nearest" },
			{ "channel": 2, "source": "again", "frame": "previous", "filter": "nearest" } ] },
		{ "name": "image", "kind": "image", "source": "image.frag", "input": [
			{ "channel": 0, "source": "look" } ] }
	],
	"trace": [ $2 ]
}
JSON
}

project essl '{ "name": "t", "frame": 0, "include_intermediates": true }'
capture 0 4
bundle=target/traces/t@0.sttrace
# "again" is counted from zeros; b of "again" is the face.
# Columns are directions (+,+,-) (-,-,+) (-,+,+) (+,-,+) (-,+,+) (+,-,-).
x=0
for bits in 3 4 6 5 6 1; do
	value=$("$PIXEL" $bundle/passes/look-output-0.rgba32f 6 $x 0)
	expect_equal "${value% * *}" "$((x + 1)) $bits" "$value"
	expect_pixel $bundle/passes/look-output-0.rgba32f 6 $x 1 "1 1024 $((x + 1)) 0"
	expect_pixel $bundle/passes/look-output-0.rgba32f 6 $x 2 '0 0 0 0'
	x=$((x + 1))
done
# fragCoord of (1, 1/2, -1/2) on +X: s = (1 - z) / 2 = 3/4, t = (1 - y) / 2 = 1/4,
# of 1024; a texel's edge, which belongs to the texel behind it.
expect_pixel $bundle/passes/look-output-0.rgba32f 6 0 0 '1 3 768 256'
# (1/2, -1, 1/4) on -Y: s = (1 + x) / 2, t = (1 - z) / 2 = 3/8.
expect_pixel $bundle/passes/look-output-0.rgba32f 6 3 0 '4 5 768 384'
# The faces as they are kept: corners (0, 0) and (1023, 0), where t is 0.
corner()
{
	file=$bundle/passes/six-face-$1.rgba32f
	expect_pixel "$file" 1024 0 0 "$2 $3 0 0"
	expect_pixel "$file" 1024 1023 0 "$2 $4 1023 0"
	expect_pixel "$file" 1024 0 1023 "$2 $5 0 1023"
}
corner px 1 7 3 5	# (+,+,+) (+,+,-) (+,-,+)
corner nx 2 2 6 0	# (-,+,-) (-,+,+) (-,-,-)
corner py 3 2 3 6	# (-,+,-) (+,+,-) (-,+,+)
corner ny 4 4 5 0	# (-,-,+) (+,-,+) (-,-,-)
corner pz 5 6 7 4	# (-,+,+) (+,+,+) (-,-,+)
corner nz 6 3 2 1	# (+,+,-) (-,+,-) (+,-,-)
expect_json $bundle/trace.json 'artifacts["pass:six:face:pz:raw"].path' passes/six-face-pz.rgba32f
expect_pixel $bundle/final.png 0 3 '10 30 255 255'
expect_pixel $bundle/final.png 4 2 '10 255 50 255'

# Later frames: every face sees its own past.
project glsl '{ "name": "t", "frames": [0, 1, 3] }'
expect_status 0 "$STBUILD"
for t in 0 1 3; do
	for x in 0 1 2 3 4 5; do
		last=$((t > 0 ? (x + 1) * 10 : 0))
		expect_pixel target/traces/t@$t.sttrace/final.png $x 2 \
			"$(((t + 1) * 10)) 255 $(((x + 1) * 10)) 255"
		expect_pixel target/traces/t@$t.sttrace/final.png $x 1 \
			"$((t * 10)) $((t > 0 ? 255 : 0)) $last 255"
	done
done

# Levels of a cubemap pass are made after its draw: a face is 10 in one half, 30
# in the other, and the whole level 10 its mean and the frame's number. With
# discard each half of the pair keeps its own: what frame t - 2 left.
mkdir levels && cd levels
cat >half.frag <<'GLSL'
void mainCubemap(out vec4 c, in vec2 p, in vec3 origin, in vec3 direction)
{
	if (iFrame > 1 && p.y > 512.0)
		discard;
	c.r = p.x < 512.0 ? 10.0 : 30.0;
	c.g = float(iFrame);
}
GLSL
cat >look.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	vec3 d = vec3(0.25, -1.0, 0.5);
	c = p.x < 1.0 ? floor(textureLod(iChannel0, d, 10.0) + 0.5) : p.x < 2.0 ? textureLod(iChannel1, d, 10.0)
		: textureLod(iChannel1, vec3(1.0, p.x < 3.0 ? 0.5 : -0.5, 0.5), 0.0);
}
GLSL
echo 'void mainImage(out vec4 c, in vec2 p) { c = texelFetch(iChannel0, ivec2(p), 0); }' >image.frag
cat >stbuild.json <<'JSON'
{
	"format": 1, "project": { "name": "levels" },
	"render": { "width": 4, "height": 1 },
	"pass": [
		{ "name": "half", "kind": "cubemap", "source": "half.frag" },
		{ "name": "look", "kind": "buffer", "source": "look.frag", "input": [
			{ "channel": 0, "source": "half", "filter": "mipmap" },
			{ "channel": 1, "source": "half", "filter": "nearest" } ] },
		{ "name": "image", "kind": "image", "source": "image.frag", "input": [
			{ "channel": 0, "source": "look" } ] }
	],
	"trace": [ { "name": "t", "frames": [3] } ]
}
JSON
# Frames 1 and 3 of half: the other half of the pair is nobody's input.
capture 0 4
expect_status 0 "$STBUILD" t@3 -o look.sttrace --include-intermediates
look=look.sttrace/passes/look-output-0.rgba32f
# Frame 3 draws the lower rows, over what frame 1 left: (3 + 1) / 2.
expect_pixel $look 4 0 0 '20 2 0 0'
# -Y at (1/4, 1/2): s = 5/8. +X: s = (1 - z) / 2 = 1/4, t = (1 - y) / 2 = 1/4, 3/4.
expect_pixel $look 4 1 0 '30 3 0 0'
expect_pixel $look 4 2 0 '10 3 0 0'
expect_pixel $look 4 3 0 '10 1 0 0'

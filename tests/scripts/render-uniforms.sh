#!/bin/sh
# Builtin uniforms, from frame 0 on, to the last bit.

. "$SRCDIR/tests/lib.sh"
need_egl

cat >values.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	int x = int(p.x);
	c = x == 0 ? vec4(iResolution, iSampleRate)
		: x == 1 ? vec4(iTime, iTimeDelta, iFrameRate, float(iFrame))
		: x == 2 ? iDate : x == 3 ? iMouse
		: x == 4 ? vec4(iChannelTime[0], iChannelTime[1], iChannelTime[2], iChannelTime[3])
		: vec4(p, 0.0, 0.0);
}
GLSL
echo 'void mainImage(out vec4 c, in vec2 p) { c = texelFetch(iChannel0, ivec2(p), 0); }' >image.frag

# write_project FPS DATE FRAMES
write_project()
{
	cat >stbuild.json <<JSON
{
	"format": 1, "project": { "name": "uniforms" },
	"render": { "width": 8, "height": 4, "fps": $1, "date": "$2" },
	"pass": [
		{ "name": "values", "kind": "buffer", "source": "values.frag", "input": [
			{ "channel": 1, "source": "keyboard" },
			{ "channel": 2, "source": "music" } ] },
		{ "name": "image", "kind": "image", "source": "image.frag", "input": [
			{ "channel": 0, "source": "values" } ] }
	],
	"trace": [ { "name": "t", "frames": [$3], "include_intermediates": true } ]
}
JSON
}

# expect_values FRAME TEXEL 'R G B A'
expect_values()
{
	expect_pixel "target/traces/t@$1.sttrace/passes/values-output-0.rgba32f" 8 "$2" 0 "$3"
}

# iTime is the float next to t / 29.97 in double: 1 / 29.97 is 0.0333667000...,
# of which floats are 0.0333666988 and 0.0333667025. A division of floats gives
# the second, since 29.97 as a float is 29.9699993.
write_project 29.97 2000-01-01T00:00:00 '0, 1, 30'
capture 0 6
expect_values 0 0 '8 4 1 44100'
expect_values 0 1 '0 0.0333666988 29.9699993 0'
expect_values 1 1 '0.0333666988 0.0333666988 29.9699993 1'
# 30 / 29.97 = 1.001001001...
expect_values 30 1 '1.001001 0.0333666988 29.9699993 30'
expect_values 0 2 '2000 0 1 0'
expect_values 1 2 '2000 0 1 0.0333666988'
expect_values 30 3 '0 0 0 0'
# The clock of a sound runs, silent as it is; no other channel has one.
expect_values 0 4 '0 0 0 0'
expect_values 1 4 '0 0 0.0333666988 0'
expect_values 30 4 '0 0 1.001001 0'
# fragCoord is the middle of the pixel.
expect_values 0 5 '5.5 0.5 0 0'
expect_values 0 7 '7.5 0.5 0 0'

# At two frames a second, the last day but one of a leap year's February.
write_project 2 2024-02-28T23:59:59 '0, 1, 2'
capture 0 6
expect_values 0 2 '2024 1 28 86399'
expect_values 1 2 '2024 1 28 86399.5'
expect_values 2 1 '1 0.5 2 2'
expect_values 2 2 '2024 1 29 0'
# A year's end, and a day without a leap year's.
write_project 1 2023-12-31T23:59:59 '0, 1'
capture 0 4
expect_values 0 2 '2023 11 31 86399'
expect_values 1 2 '2024 0 1 0'
write_project 0.5 2100-02-28T23:59:59 '0, 1'
capture 0 4
expect_values 0 2 '2100 1 28 86399'
expect_values 1 2 '2100 2 1 1'

# The image pass's other name of it; half a second is 128 of 255.
mkdir clock
cat >clock/image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p) { c = vec4(iCh1.time, iCh0.time, iChannelTime[1], 1.0); }
GLSL
cat >clock/stbuild.json <<'JSON'
{ "format": 1, "project": { "name": "clock" }, "render": { "width": 2, "height": 2, "fps": 4 },
	"pass": [ { "name": "image", "kind": "image", "source": "image.frag", "input": [
		{ "channel": 1, "source": "music" }, { "channel": 0, "source": "keyboard" } ] } ],
	"trace": [ { "name": "t", "frames": [0, 2] } ] }
JSON
capture 0 2 -C clock
expect_pixel clock/target/traces/t@0.sttrace/final.png 0 0 '0 0 0 255'
expect_pixel clock/target/traces/t@2.sttrace/final.png 0 0 '128 0 128 255'
sed -i 's/"fps": 4/"fps": 8/' clock/stbuild.json
expect_status 0 "$STBUILD" -C clock why t@2
expect_text out 'fps'
expect_no_text out 'iCh1.time'

# Sixteen channels, in both dialects: iChannelResolution is the size of what is
# bound, and each sampler reads its own.
mkdir channels && cd channels
# Volumes, one byte a texel: 2 x 2 x 2.
printf 'vol\0\2\0\0\0\2\0\0\0\2\0\0\0\1\0\0\0\1\2\3\4\5\6\7\10' >volume.bin
mkdir maker
cat >maker/image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p) { c = vec4(20.0, 40.0, 80.0, 255.0) / 255.0; }
GLSL
cat >maker/stbuild.json <<'JSON'
{ "format": 1, "project": { "name": "maker" }, "render": { "width": 12, "height": 2 },
	"pass": [ { "name": "image", "kind": "image", "source": "image.frag" } ] }
JSON
expect_status 0 "$STBUILD" -C maker --frame 0 -o ../strip.sttrace
cp strip.sttrace/final.png strip.png
cat >one.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p) { c = vec4(iResolution, 7.0); }
GLSL
cat >cube.frag <<'GLSL'
void mainCubemap(out vec4 c, in vec2 p, in vec3 origin, in vec3 direction)
{
	c = vec4(iResolution, 9.0);
}
GLSL
cat >values.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	int x = int(p.x);
	vec3 at = vec3(0.5, 0.25, 0.5);
	if (p.y < 1.0)
		c = vec4(iChannelResolution[x], iChannelTime[x]);
	else
		c = x == 0 ? texture(iChannel0, at.xy) : x == 1 ? texture(iChannel1, at.xy)
			: x == 2 ? texture(iChannel2, at.xy) : x == 3 ? texture(iChannel3, at.xy)
			: x == 4 ? texture(iChannel4, vec3(0.0)) : x == 5 ? texture(iChannel5, at)
			: x == 7 ? texture(iChannel7, at) : x == 8 ? texture(iChannel8, at.xy)
			: x == 9 ? texture(iChannel9, at.xy) : x == 10 ? texture(iChannel10, at.xy)
			: x == 11 ? texture(iChannel11, at.xy) : x == 12 ? texture(iChannel12, at.xy)
			: x == 13 ? texture(iChannel13, at.xy) : x == 14 ? texture(iChannel14, at.xy)
			: x == 15 ? texture(iChannel15, at.xy) : vec4(-1.0);
}
GLSL
cp ../image.frag .
for dialect in essl glsl; do
	cat >stbuild.json <<JSON
{
	"format": 1, "project": { "name": "channels" },
	"render": { "width": 16, "height": 4 },
	"shader": { "dialect": "$dialect" },
	"asset": [
		{ "name": "strip", "kind": "texture", "path": "strip.png" },
		{ "name": "sky", "kind": "cubemap", "path": "strip.png" },
		{ "name": "red", "kind": "texture", "path": "strip.png", "channels": 1 },
		{ "name": "volume", "kind": "volume", "path": "volume.bin" }
	],
	"pass": [
		{ "name": "image", "kind": "image", "source": "image.frag", "input": [
			{ "channel": 0, "source": "values" } ] },
		{ "name": "one", "kind": "buffer", "source": "one.frag", "width": 5, "height": 3 },
		{ "name": "wide", "kind": "buffer", "source": "one.frag" },
		{ "name": "cube", "kind": "cubemap", "source": "cube.frag" },
		{ "name": "values", "kind": "buffer", "source": "values.frag", "input": [
			{ "channel": 0, "source": "one" },
			{ "channel": 1, "source": "strip", "filter": "nearest" },
			{ "channel": 2, "source": "keyboard" },
			{ "channel": 3, "source": "music" },
			{ "channel": 4, "source": "volume", "wrap": "clamp" },
			{ "channel": 5, "source": "sky", "filter": "nearest" },
			{ "channel": 7, "source": "cube" },
			{ "channel": 8, "source": "wide" },
			{ "channel": 9, "source": "red", "filter": "nearest" },
			{ "channel": 10, "source": "one", "frame": "previous" },
			{ "channel": 11, "source": "strip", "filter": "nearest" },
			{ "channel": 12, "source": "one" },
			{ "channel": 13, "source": "one" },
			{ "channel": 14, "source": "wide" },
			{ "channel": 15, "source": "one" } ] }
	],
	"trace": [ { "name": "t", "frame": 1, "include_intermediates": true } ]
}
JSON
	expect_status 0 "$STBUILD"
	values=target/traces/t@1.sttrace/passes/values-output-0.rgba32f
	expect_pixel $values 16 0 0 '5 3 1 0'
	expect_pixel $values 16 1 0 '12 2 1 0'
	expect_pixel $values 16 2 0 '256 3 1 0'
	expect_pixel $values 16 3 0 '512 2 1 0.0166666675'
	expect_pixel $values 16 4 0 '2 2 2 0'
	expect_pixel $values 16 5 0 '0 0 0 0'
	expect_pixel $values 16 6 0 '0 0 0 0'
	expect_pixel $values 16 7 0 '1024 1024 1 0'
	expect_pixel $values 16 8 0 '16 4 1 0'
	expect_pixel $values 16 9 0 '12 2 1 0'
	expect_pixel $values 16 10 0 '5 3 1 0'
	expect_pixel $values 16 15 0 '5 3 1 0'
	# What they read: 20, 40, 80 of 255 are 0.0784313753, 0.156862751, 0.313725501.
	colour='0.0784313753 0.156862751 0.313725501 1'
	expect_pixel $values 16 0 1 '5 3 1 7'
	expect_pixel $values 16 1 1 "$colour"
	expect_pixel $values 16 4 1 '0.00392156886 0 0 1'
	expect_pixel $values 16 5 1 "$colour"
	expect_pixel $values 16 7 1 '1024 1024 1 9'
	expect_pixel $values 16 8 1 '16 4 1 7'
	expect_pixel $values 16 9 1 '0.0784313753 0 0 1'
	expect_pixel $values 16 10 1 '5 3 1 7'
	expect_pixel $values 16 11 1 "$colour"
	expect_pixel $values 16 12 1 '5 3 1 7'
	expect_pixel $values 16 14 1 '16 4 1 7'
	expect_pixel $values 16 15 1 '5 3 1 7'
	# Silence and no key, as the dialect has them; v = 0.25 is the first row
	# of music, and between the first two of the keyboard.
	if [ $dialect = essl ]; then
		expect_pixel $values 16 2 1 '0 0 0 1'
		expect_pixel $values 16 3 1 '0 0 0 1'
	else
		expect_pixel $values 16 2 1 '0 0 0 0'
		expect_pixel $values 16 3 1 '0 0 0 1'
	fi
done

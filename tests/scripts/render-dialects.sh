#!/bin/sh
# What a pass may say in each dialect, and what it finds where nothing was said.

. "$SRCDIR/tests/lib.sh"
need_egl
here=$PWD

# project DIALECT [INPUTS]: one buffer "values" of 8 x 1, values.frag.
project()
{
	cat >stbuild.json <<JSON
{
	"format": 1, "project": { "name": "dialects" },
	"render": { "width": 8, "height": 1 },
	"shader": { "dialect": "$1" },
	"pass": [
		{ "name": "values", "kind": "buffer", "source": "values.frag", "input": [ ${2:-} ] },
		{ "name": "image", "kind": "image", "source": "image.frag", "input": [
			{ "channel": 0, "source": "values" } ${3:-} ] }
	],
	"trace": [ { "name": "t", "frame": 0, "include_intermediates": true } ]
}
JSON
}
values=target/traces/t@0.sttrace/passes/values-output-0.rgba32f
echo 'void mainImage(out vec4 c, in vec2 p) { c = texelFetch(iChannel0, ivec2(p), 0) / 255.0; }' >image.frag

# Nothing undefined is read: the colour, out parameters, locals, what lies
# outside of a texture; unbound channels are (0, 0, 0, 1); a path without
# return compiles.
cat >values.frag <<'GLSL'
struct Pair { float a; vec2 b; };
void one(float x, out float a, out vec3 b) { if (x > 0.0) { a = x; b = vec3(x); } }
void two(inout float a, out bool b, out ivec2 d) { a += 1.0; }
float maybe(float x) { if (x > 100.0) return 1.0; }
void mainImage(out vec4 c, in vec2 p)
{
	int x = int(p.x);
	if (x == 0) {
		c.g = 1.0;
		return;
	}
	if (x == 1)
		return;
	float a = 7.0;
	vec3 b = vec3(8.0);
	one(x == 2 ? 0.0 : 5.0, a, b);
	if (x < 4) {
		c = vec4(a, b);
		return;
	}
	if (x == 4) {
		float z;
		vec4 v;
		Pair pair;
		float list[3];
		if (iFrame > 100) {
			z = 1.0;
			v = vec4(1.0);
			list[1] = 2.0;
			pair.b = vec2(3.0);
		}
		c = vec4(z, v.y, list[1], pair.b.y);
		return;
	}
	if (x == 5) {
		bool q = true;
		ivec2 d = ivec2(9);
		two(a, q, d);
		c = vec4(a, q ? 1.0 : 0.0, d);
		return;
	}
	c = x == 6 ? texture(iChannel2, p) + texelFetch(iChannel1, ivec2(0), 0)
		: texelFetch(iChannel3, ivec2(9, 0), 0) + texelFetch(iChannel3, ivec2(-1, 0), 0)
			+ vec4(min(maybe(p.x), 0.0), 0.0, 0.0, 1.0);
}
GLSL
for dialect in essl glsl; do
	project $dialect '{ "channel": 3, "source": "values", "frame": "previous" }'
	capture 0 2
	expect_pixel $values 8 0 0 '0 1 0 0'
	expect_pixel $values 8 1 0 '0 0 0 0'
	expect_pixel $values 8 2 0 '0 0 0 0'
	expect_pixel $values 8 3 0 '5 5 5 5'
	expect_pixel $values 8 4 0 '0 0 0 0'
	expect_pixel $values 8 5 0 '6 0 0 0'
	expect_pixel $values 8 6 0 '0 0 0 2'
	expect_pixel $values 8 7 0 '0 0 0 1'
done

# What is not bound has no size, is not loaded, and reads black in all kinds.
cd "$here" && mkdir bound && cd bound
cp ../image.frag .
cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	int x = int(p.x);
	c = x == 0 ? vec4(iCh0.size, 255.0) : x == 1 ? vec4(iCh0.loaded, iCh1.loaded, iCh2.loaded, iCh3.loaded)
		: x == 2 ? vec4(iCh0.time + 3.0, iCh1.size.xy, 0.0)
		: x == 3 ? texture(iCh0.sampler, vec2(0.0625, 0.5)) : x == 4 ? texture(iCh2.sampler, vec2(0.5))
		: x == 5 ? vec4(HW_PERFORMANCE, iChannelResolution[0].x, 0.0, 0.0)
		: vec4(textureSize(iCh0.sampler, 0), 0.0, 0.0);
	c /= 255.0;
}
GLSL
echo 'void mainImage(out vec4 c, in vec2 p) { c = vec4(floor(p.x) + 20.0); }' >values.frag
project essl
capture 0 2
final=target/traces/t@0.sttrace/final.png
expect_pixel $final 0 0 '8 1 1 255'
expect_pixel $final 1 0 '1 0 0 255'
expect_pixel $final 2 0 '3 0 0 255'
expect_pixel $final 3 0 '20 20 20 255'
expect_pixel $final 4 0 '0 0 0 255'
expect_pixel $final 5 0 '1 8 0 255'
expect_pixel $final 6 0 '8 1 0 255'
# glsl has neither of both.
project glsl
expect_status 1 "$STBUILD" capture
expect_text err 'image.frag:4'

# ES as browsers take it: extensions that it has in itself are no macros, their
# lines are dropped wherever they stand, precision is said and does nothing,
# and words that only desktops reserve are names.
cd "$here" && mkdir es && cd es
cp ../image.frag .
cat >values.frag <<'GLSL'
#extension GL_OES_standard_derivatives : enable
#ifdef GL_OES_standard_derivatives
#error it is no extension here
#endif
#if defined(GL_EXT_shader_texture_lod) || defined(GL_ARB_gpu_shader5)
#error nor this
#endif
#ifndef GL_ES
#error this is ES
#endif
#if __VERSION__ != 300
#error this is ES 3.00
#endif
#ifdef GL_ES
precision mediump float;
#endif
#extension GL_EXT_shader_texture_lod : enable
lowp float third(mediump float noise) { return noise / 3.0; }
float packed(float buffer, float shared) { return buffer * shared; }
#define texture2D texture
float char = 2.0;
#extension GL_OES_standard_derivatives : require
void mainImage(out vec4 c, in vec2 p)
{
	float dmat2 = 4.0, readonly = 1.0, sampler1D = 0.5;
	mediump vec4 image2DMS = texelFetch(iChannel0, ivec2(0), 0);
	c = p.x < 1.0 ? vec4(third(1.0), packed(2.0, 3.0), char, dmat2 + readonly + sampler1D)
		: p.x < 2.0 ? vec4(dFdx(p.x), texture2D(iChannel1, p).a, mat2x3(1.0)[0].x, image2DMS.a)
		: vec4(1e20, 16777216.0 * third(3.0) - 1.0, 1.0 / 3.0, 65519.0);
}
GLSL
project essl
# readonly, sampler1D are reserved in ES, too: a browser says so.
expect_status 1 "$STBUILD" capture
expect_text err 'values.frag:25'
edit values.frag 's/readonly/writes/g; s/sampler1D/half_/g'
capture 0 2
# 1/3 and 2^24 - 1 in 32 bits.
expect_pixel $values 8 0 0 '0.333333343 6 2 5.5'
expect_pixel $values 8 1 0 '1 1 1 1'
expect_pixel $values 8 2 0 '1.00000002e+20 16777215 0.333333343 65519'

# Desktop GLSL: words of ES and of older desktops are names, where the pass
# does not mean what GLSL means by them; audio words are there and silent.
cd "$here" && mkdir desktop && cd desktop
cp ../image.frag .
cat >values.frag <<'GLSL'
#if __VERSION__ < 410
#error desktop GLSL of 410 or later
#endif
#ifdef GL_ES
#error no ES
#endif
float char = 2.0, noise = 3.0;
float sample(float buffer) { float packed = buffer, shared = 1.0; return packed + shared; }
vec2 precise(vec2 patch) { return patch * 2.0; }
void mainImage(out vec4 c, in vec2 p)
{
	int i = 2;
	float half_ = 1 / 2.0;
	double exact = 1.0lf / 4.0lf;
	c = p.x < 1.0 ? vec4(char, noise, sample(4.0), precise(vec2(i)).y)
		: p.x < 2.0 ? vec4(iAudioBass, iAudioSilence, iAudioBpm, iMusicMeta.y)
		: p.x < 3.0 ? vec4(sampleAudioSpectrum(iChannel1, 0.5),
			sampleAudioWaveform(iChannel1, 0.5) * 255.0, iAudioAvailable, half_)
		: vec4(texelFetch(iChannel1, ivec2(7, 1), 0).rg * 255.0, float(exact),
			texelFetch(iChannel1, ivec2(7, 0), 0).a);
}
GLSL
project glsl '{ "channel": 1, "source": "music", "filter": "nearest" }'
capture 0 2
expect_pixel $values 8 0 0 '2 3 5 4'
expect_pixel $values 8 1 0 '0 1 0 1'
# The wave is at 128: 128 / 255 * 2 - 1 = 1 / 255.
value=$("$PIXEL" $values 8 2 0)
case $value in
'0 1 0 0.5'|'0 1.0000'*' 0 0.5'|'0 0.9999'*' 0 0.5') ;;
*) fail "silence is '$value'" ;;
esac
expect_pixel $values 8 3 0 '128 128 0.25 1'
# Where the pass does mean them they stay: storage, and interpolation words.
cat >values.frag <<'GLSL'
layout(std430, binding = 0) buffer Counter { uint n; };
void mainImage(out vec4 c, in vec2 p)
{
	precise float x = p.x * 2.0;
	c = vec4(x, float(n), 0.0, 1.0);
}
GLSL
edit stbuild.json 's/"source": "values.frag",/& "storage": [ { "binding": 0, "name": "n", "size": 4 } ],/'
capture 0 2
expect_pixel $values 8 1 0 '3 0 0 1'
# Audio words are reserved there, and not in ES.
project essl
expect_status 1 "$STBUILD" capture
cat >values.frag <<'GLSL'
uniform float unset;
float iAudioBass() { return 3.0; }
void mainImage(out vec4 c, in vec2 p) { c = vec4(iAudioBass(), unset, 0.0, 1.0); }
GLSL
capture 0 2
expect_pixel $values 8 0 0 '3 0 0 1'

# A common file stands before every pass, in both.
cd "$here" && mkdir common && cd common
cp ../image.frag .
echo 'float twice(float x) { return 2.0 * x; }' >common.glsl
echo 'void mainImage(out vec4 c, in vec2 p) { c = vec4(twice(p.x), 0.0, 0.0, 1.0); }' >values.frag
for dialect in essl glsl; do
	project $dialect
	edit stbuild.json 's/"dialect"/"common": "common.glsl", &/'
	expect_status 0 "$STBUILD"
	expect_pixel $values 8 3 0 '7 0 0 1'
done

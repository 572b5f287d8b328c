#include "format/pixel.h"

#include <math.h>

#include "test.h"

static uint32_t bits_of(float f)
{
	uint32_t b;
	memcpy(&b, &f, sizeof b);
	return b;
}

static float of_bits(uint32_t b)
{
	float f;
	memcpy(&f, &b, sizeof f);
	return f;
}

/* binary16 by its definition. */
static uint32_t half_reference(uint16_t h)
{
	uint32_t sign = (uint32_t)(h >> 15) << 31;
	int e = h >> 10 & 31, m = h & 1023;
	if (e == 31)
		return sign | 0x7f800000u | (uint32_t)m << 13;
	double v = e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);
	return sign | bits_of((float)v);
}

static void test_half(void)
{
	int wrong = 0;
	for (uint32_t h = 0; h < 65536; h++) {
		uint32_t want = half_reference((uint16_t)h);
		uint16_t texel[4] = { (uint16_t)h, 0x3c00, 0x8000, (uint16_t)h };
		uint32_t out[4], expect[4] = { want, 0x3f800000, 0x80000000, want };
		float f[4];
		pixel_to_rgba32f(FORMAT_RGBA16F, texel, 1, f);
		memcpy(out, f, sizeof out);
		wrong += memcmp(out, expect, sizeof out) != 0;
	}
	CHECK_INT(wrong, 0);
}

static void test_rgba32f(void)
{
	/* A signalling NaN with a payload, a denormal, minus zero, infinity. */
	uint32_t word[4] = { 0x7f812345, 0x00000001, 0x80000000, 0xff800000 };
	uint32_t out[16];
	float f[16];
	pixel_to_rgba32f(FORMAT_RGBA32F, word, 1, f);
	CHECK(memcmp(f, word, 16) == 0);
	pixel_to_rgba32f(FORMAT_R32F, word, 4, f);
	memcpy(out, f, sizeof out);
	for (int i = 0; i < 4; i++) {
		CHECK_INT(out[i * 4], word[i]);
		CHECK_INT(out[i * 4 + 1], 0);
		CHECK_INT(out[i * 4 + 2], 0);
		CHECK_INT(out[i * 4 + 3], 0x3f800000);
	}
	pixel_to_rgba32f(FORMAT_RG32F, word, 2, f);
	memcpy(out, f, sizeof out);
	for (int i = 0; i < 2; i++) {
		CHECK_INT(out[i * 4], word[i * 2]);
		CHECK_INT(out[i * 4 + 1], word[i * 2 + 1]);
		CHECK_INT(out[i * 4 + 2], 0);
		CHECK_INT(out[i * 4 + 3], 0x3f800000);
	}
	uint8_t byte[8] = { 0, 1, 127, 255, 128, 64, 2, 3 };
	pixel_to_rgba32f(FORMAT_RGBA8, byte, 2, f);
	for (int i = 0; i < 8; i++)
		CHECK(f[i] == (float)byte[i] / 255.0f);
}

/* The byte of a value, as the manual writes it. */
static int byte_reference(float v)
{
	if (!(v > 0))
		return 0;
	if (v > 1)
		v = 1;
	float p = v * 255;
	return (int)((double)p + 0.5);
}

static void test_rgb8(void)
{
	/* Around every rounding edge, in each of the float formats. */
	int wrong = 0;
	for (int k = 0; k < 255; k++) {
		float edge = ((float)k + 0.5f) / 255.0f;
		float v[4] = { edge, nextafterf(edge, 0), nextafterf(edge, 1),
			(float)k / 255.0f };
		uint8_t rgb[12];
		pixel_to_rgb8(FORMAT_R32F, v, 4, 1, rgb);
		for (int i = 0; i < 4; i++)
			wrong += rgb[i * 3] != byte_reference(v[i]) || rgb[i * 3 + 1] ||
			    rgb[i * 3 + 2];
		pixel_to_rgb8(FORMAT_RG32F, v, 2, 1, rgb);
		for (int i = 0; i < 4; i++)
			wrong += rgb[i / 2 * 3 + i % 2] != byte_reference(v[i]);
		pixel_to_rgb8(FORMAT_RGBA32F, v, 1, 1, rgb);
		for (int i = 0; i < 3; i++)
			wrong += rgb[i] != byte_reference(v[i]);
		wrong += rgb[0] != k && rgb[0] != k + 1;
	}
	CHECK_INT(wrong, 0);
	for (uint32_t h = 0; h < 65536; h++) {
		uint16_t texel[4] = { 0, (uint16_t)h, 0, 0 };
		uint8_t rgb[3];
		pixel_to_rgb8(FORMAT_RGBA16F, texel, 1, 1, rgb);
		wrong += rgb[1] != byte_reference(of_bits(half_reference((uint16_t)h)));
	}
	CHECK_INT(wrong, 0);

	float odd[4] = { of_bits(0x7fc00001), INFINITY, -INFINITY, 1 };
	uint8_t rgb[3];
	pixel_to_rgb8(FORMAT_RGBA32F, odd, 1, 1, rgb);
	CHECK_INT(rgb[0], 0);
	CHECK_INT(rgb[1], 255);
	CHECK_INT(rgb[2], 0);
	odd[0] = of_bits(0xffc00001);
	odd[1] = -0.25f;
	odd[2] = 1.0000001f;
	pixel_to_rgb8(FORMAT_RGBA32F, odd, 1, 1, rgb);
	CHECK_INT(rgb[0], 0);
	CHECK_INT(rgb[1], 0);
	CHECK_INT(rgb[2], 255);
}

static void test_rows(void)
{
	/* Bottom row first in, top row first out, alpha dropped. */
	uint8_t in[2 * 3 * 4], out[2 * 3 * 3];
	for (int i = 0; i < 24; i++)
		in[i] = (uint8_t)i;
	pixel_to_rgb8(FORMAT_RGBA8, in, 2, 3, out);
	static const uint8_t want[18] = {
		16,
		17,
		18,
		20,
		21,
		22,
		8,
		9,
		10,
		12,
		13,
		14,
		0,
		1,
		2,
		4,
		5,
		6,
	};
	CHECK(memcmp(out, want, sizeof want) == 0);
}

int main(void)
{
	test_half();
	test_rgba32f();
	test_rgb8();
	test_rows();
	return test_done();
}

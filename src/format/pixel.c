#include "format/pixel.h"

#include <string.h>

#define ONE 0x3f800000u /* 1.0f */

/*
 * Floats that may be NaN travel as bits: moving a signalling NaN through a
 * float register is allowed to quiet it.
 */
static inline uint32_t half_bits(uint32_t h)
{
	uint32_t sign = (h & 0x8000) << 16;
	uint32_t rest = (h & 0x7fff) << 13;
	uint32_t exponent = rest & 0x0f800000;
	uint32_t normal = rest + (112u << 23);
	uint32_t special = rest | 0x7f800000;
	/* A denormal is its mantissa behind 2^-14's exponent, minus 2^-14. */
	uint32_t base = 113u << 23, scaled = rest + base;
	float a, b;
	memcpy(&a, &base, sizeof a);
	memcpy(&b, &scaled, sizeof b);
	b -= a;
	uint32_t tiny;
	memcpy(&tiny, &b, sizeof tiny);
	return sign | (exponent == 0 ? tiny : exponent == 0x0f800000 ? special : normal);
}

/* One texel of 1 or 2 words as four: missing ones are 0, 0, 1. */
static inline void widen(const unsigned char *texel, size_t nchannel, unsigned char *out)
{
	uint32_t word[4] = { 0, 0, 0, ONE };
	memcpy(word, texel, nchannel * 4);
	memcpy(out, word, sizeof word);
}

void pixel_to_rgba32f(enum format format, const void *texel, size_t n, float *out)
{
	const unsigned char *in = texel;
	unsigned char *to = (unsigned char *)out;
	switch (format) {
	case FORMAT_RGBA32F:
		memcpy(to, in, n * 16);
		break;
	case FORMAT_R32F:
		for (size_t i = 0; i < n; i++)
			widen(in + i * 4, 1, to + i * 16);
		break;
	case FORMAT_RG32F:
		for (size_t i = 0; i < n; i++)
			widen(in + i * 8, 2, to + i * 16);
		break;
	case FORMAT_RGBA16F:
		for (size_t i = 0; i < n * 4; i++) {
			uint16_t h;
			memcpy(&h, in + i * 2, sizeof h);
			uint32_t bits = half_bits(h);
			memcpy(to + i * 4, &bits, sizeof bits);
		}
		break;
	case FORMAT_RGBA8:
		for (size_t i = 0; i < n * 4; i++)
			out[i] = (float)in[i] / 255.0f;
		break;
	}
}

/*
 * (int)(v * 255 + 0.5) with the product in float and the sum exact, as C reads
 * it, but without doubles: what is cut off is compared with one half.
 */
static inline uint8_t to_byte(uint32_t bits)
{
	float v;
	memcpy(&v, &bits, sizeof v);
	v = v > 0 ? v : 0; /* NaN, too */
	v = v < 1 ? v : 1;
	v *= 255;
	int whole = (int)v;
	return (uint8_t)(whole + (v - (float)whole >= 0.5f));
}

static inline uint8_t word_byte(const unsigned char *p)
{
	uint32_t bits;
	memcpy(&bits, p, sizeof bits);
	return to_byte(bits);
}

static inline uint8_t half_byte(const unsigned char *p)
{
	uint16_t h;
	memcpy(&h, p, sizeof h);
	return to_byte(half_bits(h));
}

static void row_rgb8(enum format format, const unsigned char *in, size_t n, uint8_t *to)
{
	switch (format) {
	case FORMAT_RGBA32F:
		for (size_t i = 0; i < n; i++)
			for (int c = 0; c < 3; c++)
				to[i * 3 + c] = word_byte(in + i * 16 + c * 4);
		break;
	case FORMAT_R32F:
		for (size_t i = 0; i < n; i++) {
			to[i * 3] = word_byte(in + i * 4);
			to[i * 3 + 1] = to[i * 3 + 2] = 0;
		}
		break;
	case FORMAT_RG32F:
		for (size_t i = 0; i < n; i++) {
			to[i * 3] = word_byte(in + i * 8);
			to[i * 3 + 1] = word_byte(in + i * 8 + 4);
			to[i * 3 + 2] = 0;
		}
		break;
	case FORMAT_RGBA16F:
		for (size_t i = 0; i < n; i++)
			for (int c = 0; c < 3; c++)
				to[i * 3 + c] = half_byte(in + i * 8 + c * 2);
		break;
	case FORMAT_RGBA8:
		for (size_t i = 0; i < n; i++)
			for (int c = 0; c < 3; c++)
				to[i * 3 + c] = in[i * 4 + c];
		break;
	}
}

void pixel_to_rgb8(enum format format, const void *texel, int width, int height,
    uint8_t *rgb)
{
	size_t n = (size_t)width, stride = n * format_bytes(format);
	const unsigned char *in = texel;
	for (int y = 0; y < height; y++)
		row_rgb8(format, in + (size_t)(height - 1 - y) * stride, n,
		    rgb + (size_t)y * n * 3);
}

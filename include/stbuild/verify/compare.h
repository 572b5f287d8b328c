#ifndef STBUILD_VERIFY_COMPARE_H
#define STBUILD_VERIFY_COMPARE_H

/* Pictures and raw texels against each other. */

#include <stddef.h>
#include <stdint.h>

struct comparison {
	int is_equal;   /* every byte */
	double rmse;    /* sqrt(mean of squared byte differences) / 255 */
	int max;        /* largest difference of a byte */
	size_t first;   /* index of the first byte that differs */
	size_t ndiffer; /* bytes that differ */
};

/* n bytes each: RGB of two pictures of one size. */
void compare_bytes(const uint8_t *a, const uint8_t *b, size_t n, struct comparison *out);

/* How many of n pixels of "channels" bytes differ. */
size_t compare_pixels(const uint8_t *a, const uint8_t *b, size_t n, int channels);

struct texel_comparison {
	int is_equal;      /* every bit */
	double rmse, max;  /* over values that are numbers in both */
	size_t first;      /* index of the first value that differs */
	size_t npixel;     /* pixels that differ */
	size_t nnonfinite; /* values that differ and are no number in one */
};

/* n pixels of RGBA32F each, by their bits; they need not be aligned. */
void compare_texels(const void *a, const void *b, size_t n, struct texel_comparison *out);

#endif

#include "verify/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void compare_bytes(const uint8_t *a, const uint8_t *b, size_t n, struct comparison *out)
{
	uint64_t sum = 0;

	memset(out, 0, sizeof *out);
	for (size_t i = 0; i < n; i++) {
		int d = abs(a[i] - b[i]);
		if (d == 0)
			continue;
		if (out->ndiffer++ == 0)
			out->first = i;
		if (d > out->max)
			out->max = d;
		sum += (uint64_t)(d * d);
	}
	out->is_equal = out->ndiffer == 0;
	if (n > 0)
		out->rmse = sqrt((double)sum / (double)n) / 255;
}

size_t compare_pixels(const uint8_t *a, const uint8_t *b, size_t n, int channels)
{
	size_t c = (size_t)channels, ndiffer = 0;

	for (size_t i = 0; i < n; i++)
		ndiffer += memcmp(a + i * c, b + i * c, c) != 0;
	return ndiffer;
}

void compare_texels(const void *a, const void *b, size_t n, struct texel_comparison *out)
{
	const char *x = a, *y = b;
	double sum = 0;

	*out = (struct texel_comparison){ .is_equal = 1 };
	for (size_t i = 0; i < n; i++) {
		if (memcmp(x + 16 * i, y + 16 * i, 16) == 0)
			continue;
		out->npixel++;
		for (size_t c = 0; c < 4; c++) {
			float u, v;
			memcpy(&u, x + 16 * i + 4 * c, 4);
			memcpy(&v, y + 16 * i + 4 * c, 4);
			if (memcmp(&u, &v, 4) == 0)
				continue;
			if (out->is_equal)
				out->first = 4 * i + c;
			out->is_equal = 0;
			if (!isfinite(u) || !isfinite(v)) {
				out->nnonfinite++;
				continue;
			}
			double d = fabs((double)u - v);
			if (d > out->max)
				out->max = d;
			sum += d * d;
		}
	}
	if (n > 0)
		out->rmse = sqrt(sum / (4 * (double)n));
}

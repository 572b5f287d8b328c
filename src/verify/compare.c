#include "verify/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void compare_bytes(const uint8_t *a, const uint8_t *b, size_t n,
	struct comparison *out)
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

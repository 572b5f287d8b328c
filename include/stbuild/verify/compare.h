#ifndef STBUILD_VERIFY_COMPARE_H
#define STBUILD_VERIFY_COMPARE_H

/* Pictures and raw texels against each other. */

#include <stddef.h>
#include <stdint.h>

struct comparison {
	int is_equal;		/* every byte */
	double rmse;		/* sqrt(mean of squared byte differences) / 255 */
	int max;		/* largest difference of a byte */
	size_t first;		/* index of the first byte that differs */
	size_t ndiffer;		/* bytes that differ */
};

/* n bytes each: RGB of two pictures of one size (ANCESTOR 85). */
void compare_bytes(const uint8_t *a, const uint8_t *b, size_t n,
	struct comparison *out);

#endif

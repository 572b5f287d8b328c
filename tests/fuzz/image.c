/* Assets: pictures and volumes, as each kind that a manifest can call them. */

#include <stdint.h>

#include "project/image.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum asset_kind kind[] = {
		ASSET_TEXTURE,
		ASSET_CUBEMAP,
		ASSET_VOLUME,
	};
	for (size_t i = 0; i < 2 * sizeof kind / sizeof *kind; i++) {
		struct err err = ERR_INIT;
		struct image image;
		struct asset asset = { .kind = kind[i / 2],
			.vflip = i % 2,
			.channels = i % 2 };
		int rc = image_decode(&asset, "asset", data, size, &image, &err);
		if ((rc < 0) != (err.message != NULL))
			BUG("status %d, message %s", rc, err.message);
		err_release(&err);
		if (rc < 0)
			continue;
		size_t n = (size_t)image.width * (size_t)image.height *
		    (size_t)image.depth * (size_t)image.nface * (size_t)image.channels *
		    (image.is_float ? 4 : 1);
		if (n != image.ndata)
			BUG("%zu bytes, not %zu", image.ndata, n);
		/* All of it is there and written. */
		unsigned sum = 0;
		for (size_t k = 0; k < n; k++)
			sum += image.data[k];
		if (sum > n * 255)
			BUG("a sum of %u", sum);
		image_release(&image);
	}
	(void)image_content(data, size);
	return 0;
}

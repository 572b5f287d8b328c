#include "verify/picture.h"

#include <stdlib.h>
#include <string.h>

#include "format/png.h"
#include "project/image.h"
#include "util/buf.h"
#include "util/fs.h"
#include "util/limits.h"
#include "util/mem.h"
#include "verify/compare.h"

void picture_release(struct picture *p)
{
	free(p->rgb);
	*p = (struct picture){ 0 };
}

size_t picture_size(const struct picture *p)
{
	return 3 * (size_t)p->width * (size_t)p->height;
}

int picture_is_same_size(const struct picture *a, const struct picture *b)
{
	return a->width == b->width && a->height == b->height;
}

int picture_decode(const char *name, const void *bytes, size_t n, struct picture *out,
    struct err *err)
{
	uint8_t *rgba = NULL;

	*out = (struct picture){ 0 };
	if (image_decode_rgba8(name, bytes, n, &out->width, &out->height, &rgba, err))
		return -1;
	size_t npixel = picture_size(out) / 3;
	out->rgb = xmalloc(3 * npixel + 1);
	for (size_t i = 0; i < npixel; i++)
		memcpy(out->rgb + 3 * i, rgba + 4 * i, 3);
	free(rgba);
	return 0;
}

int picture_read(const char *path, struct picture *out, struct err *err)
{
	struct buf bytes = BUF_INIT;
	int rc;

	*out = (struct picture){ 0 };
	rc = fs_read(path, LIMIT_ASSET_BYTES, &bytes, err);
	if (rc == 0)
		rc = picture_decode(path, bytes.data, bytes.len, out, err);
	buf_release(&bytes);
	return rc;
}

int picture_of_bundle(const struct bundle *b, struct picture *out, struct err *err)
{
	struct buf bytes = BUF_INIT;
	int rc;

	*out = (struct picture){ 0 };
	rc = bundle_read(b, "final_image", &bytes, err);
	if (rc == 0)
		rc = picture_decode("final.png", bytes.data, bytes.len, out, err);
	if (rc != 0)
		err_wrap(err, "in %s", b->dir);
	buf_release(&bytes);
	return rc;
}

int picture_write(const struct picture *p, const char *path, struct err *err)
{
	struct buf png = BUF_INIT;
	char *folder = fs_dirname(path);
	int rc = png_encode(p->rgb, p->width, p->height, &png, err);

	if (rc == 0)
		rc = fs_mkdirs(folder, err);
	if (rc == 0)
		rc = fs_write(path, png.data, png.len, 0, err);
	free(folder);
	buf_release(&png);
	return rc;
}

double picture_difference(const struct picture *a, const struct picture *b,
    struct picture *out)
{
	size_t n = picture_size(a);
	struct comparison c;

	compare_bytes(a->rgb, b->rgb, n, &c);
	*out = (struct picture){
		.width = a->width,
		.height = a->height,
		.rgb = xcalloc(n + 1, 1),
	};
	if (c.max == 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		out->rgb[i] =
		    (uint8_t)((abs(a->rgb[i] - b->rgb[i]) * 255 + c.max / 2) / c.max);
	return 255.0 / c.max;
}

void picture_side_by_side(const struct picture *a, const struct picture *b,
    struct picture *out)
{
	struct picture difference = { 0 };
	const struct picture *part[] = { a, b, &difference };
	size_t at = 0;

	if (picture_is_same_size(a, b))
		picture_difference(a, b, &difference);
	*out = (struct picture){
		.width = a->width + b->width + difference.width,
		.height = a->height > b->height ? a->height : b->height,
	};
	size_t stride = 3 * (size_t)out->width;
	out->rgb = xcalloc((size_t)out->height, stride);
	for (int i = 0; i < 3; i++) {
		size_t row = 3 * (size_t)part[i]->width;
		for (size_t y = 0; y < (size_t)part[i]->height; y++)
			memcpy(out->rgb + y * stride + at, part[i]->rgb + y * row, row);
		at += row;
	}
	picture_release(&difference);
}

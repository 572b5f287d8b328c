#include "format/png.h"

#include <png.h>

#include "util/mem.h"

#include "test.h"

/* Decodes with libpng's simplified reader. */
static int same_pixels(const struct buf *file, const uint8_t *texel, int width,
    int height, int nchannel)
{
	png_image image = { .version = PNG_IMAGE_VERSION };
	if (!png_image_begin_read_from_memory(&image, file->data, file->len))
		return 0;
	image.format = nchannel == 4 ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB;
	size_t n = (size_t)width * (size_t)height * (size_t)nchannel;
	int holds =
	    image.width == (png_uint_32)width && image.height == (png_uint_32)height;
	uint8_t *got = xmalloc(n);
	holds = png_image_finish_read(&image, NULL, got, 0, NULL) && holds &&
	    memcmp(got, texel, n) == 0;
	free(got);
	png_image_free(&image);
	return holds;
}

static void test_size(int width, int height)
{
	size_t n = (size_t)width * (size_t)height * 4;
	uint8_t *texel = xmalloc(n);
	uint32_t seed = 1;
	for (size_t i = 0; i < n; i++) {
		seed = seed * 1664525 + 1013904223;
		texel[i] = i % 7 ? (uint8_t)(i / 5) : (uint8_t)(seed >> 24);
	}
	struct err err = ERR_INIT;
	struct buf a = BUF_INIT, b = BUF_INIT;
	buf_addstr(&b, "xyz");
	CHECK(!png_encode(texel, width, height, &a, &err));
	CHECK(!png_encode(texel, width, height, &b, &err));
	CHECK(same_pixels(&a, texel, width, height, 3));
	CHECK(b.len == a.len + 3 && memcmp(b.data + 3, a.data, a.len) == 0);
	buf_reset(&a);
	CHECK(!png_encode_rgba(texel, width, height, &a, &err));
	CHECK(same_pixels(&a, texel, width, height, 4));
	buf_release(&a);
	buf_release(&b);
	free(texel);
}

/* Only what the picture needs: IHDR, IDATs, IEND; no time, no text. */
static void test_chunks(void)
{
	static const uint8_t rgb[12] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
	struct err err = ERR_INIT;
	struct buf file = BUF_INIT;
	CHECK(!png_encode(rgb, 2, 2, &file, &err));
	size_t at = 8;
	int nother = 0, nend = 0;
	while (at + 12 <= file.len) {
		const unsigned char *p = (unsigned char *)file.data + at;
		size_t n =
		    (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
		nother += memcmp(p + 4, "IHDR", 4) && memcmp(p + 4, "IDAT", 4) != 0 &&
		    memcmp(p + 4, "IEND", 4);
		nend += memcmp(p + 4, "IEND", 4) == 0;
		at += n + 12;
	}
	CHECK_INT(at, file.len);
	CHECK_INT(nother, 0);
	CHECK_INT(nend, 1);
	buf_release(&file);
}

/* libpng's complaints come back as errors, and nothing is left behind. */
static void test_error(void)
{
	static const uint8_t rgb[3] = { 0 };
	struct err err = ERR_INIT;
	struct buf out = BUF_INIT;
	buf_addstr(&out, "kept");
	CHECK_INT(png_encode(rgb, 0, 1, &out, &err), -1);
	CHECK(err.message && strstr(err.message, "PNG"));
	CHECK_STR(buf_str(&out), "kept");
	err_release(&err);
	CHECK_INT(png_encode(rgb, 1, -1, &out, &err), -1);
	CHECK_INT(out.len, 4);
	err_release(&err);
	buf_release(&out);
}

int main(void)
{
	test_size(1, 1);
	test_size(5, 3);
	test_size(640, 361);
	test_chunks();
	test_error();
	return test_done();
}

#include "format/png.h"

#include <setjmp.h>
#include <stdio.h>
#include <png.h>

#include "util/mem.h"

struct sink {
	struct buf *out;
	struct err *err;
	jmp_buf bail;
};

static void on_error(png_structp png, png_const_charp message)
{
	struct sink *sink = png_get_error_ptr(png);
	err_set(sink->err, STATUS_MACHINE, "cannot encode a PNG: %s", message);
	longjmp(sink->bail, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
	(void)png;
	(void)message;
}

static void on_write(png_structp png, png_bytep data, png_size_t n)
{
	struct sink *sink = png_get_io_ptr(png);
	buf_add(sink->out, data, n);
}

static void on_flush(png_structp png)
{
	(void)png;
}

static png_voidp on_malloc(png_structp png, png_alloc_size_t n)
{
	(void)png;
	return xmalloc(n);
}

static void on_free(png_structp png, png_voidp p)
{
	(void)png;
	free(p);
}

/* Between setjmp and longjmp: no local of this function changes after it. */
static int encode(const uint8_t *texel, int width, int height, int is_rgba,
    struct sink *sink)
{
	png_structp png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, sink, on_error,
	    on_warning, NULL, on_malloc, on_free);
	if (!png)
		return err_set(sink->err, STATUS_MACHINE,
		    "cannot encode a PNG: libpng does not start");
	png_infop info = png_create_info_struct(png);
	if (setjmp(sink->bail)) {
		png_destroy_write_struct(&png, &info);
		return -1;
	}
	size_t stride = (size_t)width * (is_rgba ? 4 : 3);
	png_set_write_fn(png, sink, on_write, on_flush);
	png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, 8,
	    is_rgba ? PNG_COLOR_TYPE_RGB_ALPHA : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
	    PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	/* One filter for all rows: choosing costs more than it saves. */
	png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB);
	png_set_compression_level(png, 1);
	png_write_info(png, info);
	for (int y = 0; y < height; y++)
		png_write_row(png, texel + (size_t)y * stride);
	png_write_end(png, NULL);
	png_destroy_write_struct(&png, &info);
	return 0;
}

static int encode_to(const uint8_t *texel, int width, int height, int is_rgba,
    struct buf *out, struct err *err)
{
	size_t start = out->len;
	struct sink sink = { .out = out, .err = err };
	if (encode(texel, width, height, is_rgba, &sink) == 0)
		return 0;
	out->len = start;
	if (out->data)
		out->data[start] = 0;
	return -1;
}

int png_encode(const uint8_t *rgb, int width, int height, struct buf *out,
    struct err *err)
{
	return encode_to(rgb, width, height, 0, out, err);
}

int png_encode_rgba(const uint8_t *rgba, int width, int height, struct buf *out,
    struct err *err)
{
	return encode_to(rgba, width, height, 1, out, err);
}

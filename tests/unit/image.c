#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>
#include <png.h>

#include "project/image.h"
#include "util/limits.h"
#include "util/buf.h"
#include "util/mem.h"
#include "test.h"

/* Writers ------------------------------------------------------------------ */

static void put_png(png_structp png, png_bytep data, size_t n)
{
	buf_add(png_get_io_ptr(png), data, n);
}

static void flush_png(png_structp png)
{
	(void)png;
}

struct png_options {
	int depth, type, is_interlaced;
	double gamma; /* 0: none told */
	const png_color *palette;
	int npalette;
	const png_byte *alpha; /* of the palette */
	int nalpha;
	const png_color_16 *key; /* transparent colour */
	const struct buf *exif;
};

/* rows: packed as PNG has them. */
static void write_png(struct buf *out, int width, int height, const struct png_options *o,
    const uint8_t *rows)
{
	png_structp png =
	    png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	png_infop info = png_create_info_struct(png);
	buf_reset(out);
	png_set_write_fn(png, out, put_png, flush_png);
	png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, o->depth,
	    o->type, o->is_interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
	    PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	if (o->gamma > 0)
		png_set_gAMA(png, info, o->gamma);
	if (o->palette)
		png_set_PLTE(png, info, o->palette, o->npalette);
	if (o->alpha || o->key)
		png_set_tRNS(png, info, o->alpha, o->nalpha, o->key);
	if (o->exif)
		png_set_eXIf_1(png, info, (png_uint_32)o->exif->len,
		    (png_bytep)o->exif->data);
	size_t stride = png_get_rowbytes(png, info);
	png_bytep *row = xcalloc((size_t)height, sizeof *row);
	for (int y = 0; y < height; y++)
		row[y] = (png_bytep)rows + stride * (size_t)y;
	png_set_rows(png, info, row);
	png_write_png(png, info, PNG_TRANSFORM_IDENTITY, NULL);
	png_destroy_write_struct(&png, &info);
	free(row);
}

/* 16000 x 16000 in a hundred bytes. */
static void write_png_bomb(struct buf *out)
{
	png_structp png =
	    png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	png_infop info = png_create_info_struct(png);
	buf_reset(out);
	png_set_write_fn(png, out, put_png, flush_png);
	png_set_IHDR(png, info, 16000, 16000, 8, PNG_COLOR_TYPE_RGBA, PNG_INTERLACE_NONE,
	    PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	png_write_info(png, info);
	png_write_chunk(png, (png_const_bytep) "IDAT", (png_const_bytep) "x", 1);
	png_destroy_write_struct(&png, &info);
}

static void write_jpeg(struct buf *out, int width, int height, int channels,
    J_COLOR_SPACE in, J_COLOR_SPACE file, const uint8_t *pixels)
{
	struct jpeg_compress_struct c;
	struct jpeg_error_mgr error;
	unsigned char *data = NULL;
	unsigned long n = 0;
	c.err = jpeg_std_error(&error);
	jpeg_create_compress(&c);
	jpeg_mem_dest(&c, &data, &n);
	c.image_width = (JDIMENSION)width;
	c.image_height = (JDIMENSION)height;
	c.input_components = channels;
	c.in_color_space = in;
	jpeg_set_defaults(&c);
	jpeg_set_colorspace(&c, file);
	jpeg_set_quality(&c, 100, TRUE);
	jpeg_start_compress(&c, TRUE);
	while (c.next_scanline < c.image_height) {
		JSAMPROW row = (JSAMPROW)pixels +
		    (size_t)c.next_scanline * (size_t)(width * channels);
		jpeg_write_scanlines(&c, &row, 1);
	}
	jpeg_finish_compress(&c);
	jpeg_destroy_compress(&c);
	buf_reset(out);
	buf_add(out, data, n);
	free(data);
}

/* Checks ------------------------------------------------------------------- */

static void decodes(const struct buf *file, int width, int height, const char *hex)
{
	int w, h;
	uint8_t *rgba;
	struct err err = ERR_INIT;
	if (!CHECK_INT(image_decode_rgba8("f", file->data, file->len, &w, &h, &rgba,
			   &err),
		0)) {
		fprintf(stderr, "\t%s\n", err.message);
		err_release(&err);
		return;
	}
	CHECK(w == width && h == height);
	struct buf got = BUF_INIT;
	for (int i = 0; i < w * h * 4; i++)
		buf_addf(&got, "%s%02x", i && i % 4 == 0 ? " " : "", rgba[i]);
	CHECK_STR(buf_str(&got), hex);
	buf_release(&got);
	free(rgba);
}

static void fails(enum asset_kind kind, const void *bytes, size_t n, const char *want)
{
	struct asset asset = { .kind = kind };
	struct image image;
	struct err err = ERR_INIT;
	char *copy = xmemdup(bytes, n); /* so that a checker sees its end */
	if (!CHECK_INT(image_decode(&asset, "the file", copy, n, &image, &err), -1))
		image_release(&image);
	else if (!CHECK(strstr(err.message, want) && strstr(err.message, "the file") &&
		     err.status == STATUS_INPUT && !image.data))
		fprintf(stderr, "\t%s\n", err.message);
	err_release(&err);
	free(copy);
}

static void pngs(void)
{
	struct buf f = BUF_INIT;
	static const uint8_t rgba[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		16 };
	const char *plain = "01020304 05060708 090a0b0c 0d0e0f10";
	write_png(&f, 2, 2,
	    &(struct png_options){ .depth = 8, .type = PNG_COLOR_TYPE_RGBA }, rgba);
	decodes(&f, 2, 2, plain);
	write_png(&f, 2, 2,
	    &(struct png_options){ .depth = 8,
		.type = PNG_COLOR_TYPE_RGBA,
		.is_interlaced = 1,
		.gamma = 1.0 },
	    rgba);
	decodes(&f, 2, 2, plain);
	write_png(&f, 2, 2,
	    &(struct png_options){ .depth = 8, .type = PNG_COLOR_TYPE_RGB }, rgba);
	decodes(&f, 2, 2, "010203ff 040506ff 070809ff 0a0b0cff");
	write_png(&f, 2, 2,
	    &(struct png_options){ .depth = 8, .type = PNG_COLOR_TYPE_GRAY }, rgba);
	decodes(&f, 2, 2, "010101ff 020202ff 030303ff 040404ff");
	write_png(&f, 2, 2,
	    &(struct png_options){ .depth = 8, .type = PNG_COLOR_TYPE_GRAY_ALPHA }, rgba);
	decodes(&f, 2, 2, "01010102 03030304 05050506 07070708");
	write_png(&f, 2, 1,
	    &(struct png_options){ .depth = 16, .type = PNG_COLOR_TYPE_GRAY },
	    (const uint8_t[]){ 0x12, 0xff, 0x34, 0x00 });
	decodes(&f, 2, 1, "121212ff 343434ff");
	write_png(&f, 1, 1,
	    &(struct png_options){ .depth = 16, .type = PNG_COLOR_TYPE_RGBA },
	    (const uint8_t[]){ 0x12, 0xff, 0x34, 0x00, 0xff, 0xfe, 0x80, 0x7f });
	decodes(&f, 1, 1, "1334ff80");
	write_png(&f, 4, 1,
	    &(struct png_options){ .depth = 2, .type = PNG_COLOR_TYPE_GRAY },
	    (const uint8_t[]){ 0x1b });
	decodes(&f, 4, 1, "000000ff 555555ff aaaaaaff ffffffff");
	write_png(&f, 4, 1,
	    &(struct png_options){ .depth = 2,
		.type = PNG_COLOR_TYPE_GRAY,
		.key = &(png_color_16){ .gray = 1 } },
	    (const uint8_t[]){ 0x1b });
	decodes(&f, 4, 1, "000000ff 55555500 aaaaaaff ffffffff");
	write_png(&f, 2, 1,
	    &(struct png_options){ .depth = 8,
		.type = PNG_COLOR_TYPE_RGB,
		.key = &(png_color_16){ .red = 4, .green = 5, .blue = 6 } },
	    rgba);
	decodes(&f, 2, 1, "010203ff 04050600");
	static const png_color palette[] = { { 1, 2, 3 }, { 4, 5, 6 } };
	write_png(&f, 4, 1,
	    &(struct png_options){ .depth = 1,
		.type = PNG_COLOR_TYPE_PALETTE,
		.palette = palette,
		.npalette = 2 },
	    (const uint8_t[]){ 0x60 });
	decodes(&f, 4, 1, "010203ff 040506ff 040506ff 010203ff");
	write_png(&f, 2, 1,
	    &(struct png_options){ .depth = 8,
		.type = PNG_COLOR_TYPE_PALETTE,
		.palette = palette,
		.npalette = 2,
		.alpha = (const png_byte[]){ 9 },
		.nalpha = 1 },
	    (const uint8_t[]){ 0, 1 });
	decodes(&f, 2, 1, "01020309 040506ff");

	/* Every shorter file fails, and so does one whose pixels are damaged. */
	write_png(&f, 2, 2,
	    &(struct png_options){ .depth = 8, .type = PNG_COLOR_TYPE_RGBA }, rgba);
	for (size_t n = 0; n < f.len; n++)
		fails(ASSET_TEXTURE, f.data, n,
		    !n          ? "is empty"
			: n < 8 ? "neither"
				: "ends early");
	f.data[45] ^= 1;
	fails(ASSET_TEXTURE, f.data, f.len, "cannot decode");
	write_png_bomb(&f);
	fails(ASSET_TEXTURE, f.data, f.len, "fewer bytes");
	uint8_t *wide = xcalloc(LIMIT_SIZE + 1, 1);
	write_png(&f, LIMIT_SIZE + 1, 1,
	    &(struct png_options){ .depth = 8, .type = PNG_COLOR_TYPE_GRAY }, wide);
	fails(ASSET_TEXTURE, f.data, f.len, "cannot decode");
	free(wide);
	buf_release(&f);
}

/* What Chromium reads of colours of 16 bits; grey is cut. */
static void wide_pngs(void)
{
	static const struct {
		int wide, colour;
	} row[] = {
		{ 0, 0 },
		{ 128, 0 },
		{ 129, 1 },
		{ 384, 1 },
		{ 0x12c8, 19 },
		{ 0x4381, 67 },
		{ 0x7fff, 128 },
		{ 0x80ff, 128 },
		{ 65535 - 0x80ff, 127 },
		{ 0xff00, 254 },
		{ 0xff7e, 255 },
		{ 65535 - 257, 254 },
		{ 0xffff, 255 },
	};
	struct buf f = BUF_INIT;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		uint8_t high = (uint8_t)(row[i].wide >> 8), low = (uint8_t)row[i].wide;
		const uint8_t bytes[] = { high, low, 0, 0, 0xff, 0xff, high, low };
		char hex[16];
		snprintf(hex, sizeof hex, "%02x00ff%02x", row[i].colour, row[i].colour);
		write_png(&f, 1, 1,
		    &(struct png_options){ .depth = 16,
			.type = PNG_COLOR_TYPE_RGBA,
			.gamma = 1.0 },
		    bytes);
		decodes(&f, 1, 1, hex);
		snprintf(hex, sizeof hex, "%02x00ffff", row[i].colour);
		write_png(&f, 1, 1,
		    &(struct png_options){ .depth = 16,
			.type = PNG_COLOR_TYPE_RGB,
			.is_interlaced = 1 },
		    bytes);
		decodes(&f, 1, 1, hex);
		/* A key is compared before anything is lost. */
		write_png(&f, 1, 1,
		    &(struct png_options){ .depth = 16,
			.type = PNG_COLOR_TYPE_RGB,
			.key = &(png_color_16){ .red = (png_uint_16)row[i].wide,
			    .blue = 0xffff } },
		    bytes);
		snprintf(hex, sizeof hex, "%02x00ff00", row[i].colour);
		decodes(&f, 1, 1, hex);
		write_png(&f, 1, 1,
		    &(struct png_options){ .depth = 16,
			.type = PNG_COLOR_TYPE_GRAY_ALPHA },
		    (const uint8_t[]){ high, low, 0x12, 0xff });
		snprintf(hex, sizeof hex, "%02x%02x%02x12", high, high, high);
		decodes(&f, 1, 1, hex);
	}
	buf_release(&f);
}

/* EXIF: a header, and a directory with entries of (tag, type, count, value). */
static void exif_begin(struct buf *b, int is_little, int nentry)
{
	buf_reset(b);
	buf_add(b, is_little ? "II*\0\x08\0\0\0" : "MM\0*\0\0\0\x08", 8);
	buf_add(b,
	    (char[]){ is_little ? (char)nentry : '\0', is_little ? '\0' : (char)nentry },
	    2);
}

static void exif_entry(struct buf *b, int is_little, int tag, int type, int count,
    int value)
{
	uint8_t e[12] = { 0 };
	e[is_little ? 0 : 1] = (uint8_t)tag, e[is_little ? 1 : 0] = (uint8_t)(tag >> 8);
	e[is_little ? 2 : 3] = (uint8_t)type;
	e[is_little ? 4 : 7] = (uint8_t)count;
	e[is_little ? 8 : 9] = (uint8_t)value;
	buf_add(b, e, sizeof e);
}

static void exif_of(struct buf *b, int is_little, int orientation)
{
	exif_begin(b, is_little, 1);
	exif_entry(b, is_little, 0x112, 3, 1, orientation);
	buf_add(b, "\0\0\0\0", 4);
}

/* Puts a segment behind the first of a JPEG. */
static void add_app1(struct buf *jpeg, const char *head, const struct buf *exif)
{
	struct buf out = BUF_INIT;
	size_t n = 2 + 6 + exif->len;
	buf_add(&out, jpeg->data, 2);
	buf_add(&out, "\xff\xe1", 2);
	buf_addch(&out, (char)(n >> 8));
	buf_addch(&out, (char)n);
	buf_add(&out, head, 6);
	buf_add(&out, exif->data, exif->len);
	buf_add(&out, jpeg->data + 2, jpeg->len - 2);
	buf_release(jpeg);
	*jpeg = out;
}

/* 16 x 8: white top left, red top right, green bottom left, black. */
static void write_quarters(struct buf *f)
{
	uint8_t rgb[8][16][3] = { { { 0 } } };
	for (int y = 0; y < 8; y++)
		for (int x = 0; x < 16; x++) {
			rgb[y][x][0] = y < 4 ? 255 : 0;
			rgb[y][x][1] = x < 8 ? 255 : 0;
			rgb[y][x][2] = x < 8 && y < 4 ? 255 : 0;
		}
	write_jpeg(f, 16, 8, 3, JCS_RGB, JCS_RGB, rgb[0][0]);
}

/* Which quarter is where: top left, top right, bottom left, bottom right. */
static void check_quarters(const struct buf *f, int is_turned, const char *want, int line)
{
	int w, h;
	uint8_t *rgba;
	struct err err = ERR_INIT;
	if (!test_int(image_decode_rgba8("f", f->data, f->len, &w, &h, &rgba, &err), 0,
		"decode", __FILE__, line)) {
		err_release(&err);
		return;
	}
	test_int(w, is_turned ? 8 : 16, "width", __FILE__, line);
	test_int(h, is_turned ? 16 : 8, "height", __FILE__, line);
	char got[5] = "";
	for (int i = 0; i < 4; i++) {
		int x = i % 2 ? w - 2 : 1, y = i / 2 ? h - 2 : 1;
		const uint8_t *p = rgba + 4 * (y * w + x);
		got[i] = p[2] > 128 ? 'w' : p[0] > 128 ? 'r' : p[1] > 128 ? 'g' : 'k';
	}
	test_str(got, want, __FILE__, line);
	free(rgba);
}
#define QUARTERS(is_turned, want) check_quarters(&f, is_turned, want, __LINE__)

/* As browsers turn pictures, and as little as they do. */
static void orientations(void)
{
	static const char *const want[10] = { "wrgk", "wrgk", "rwkg", "kgrw", "gkwr",
		"wgrk", "gwkr", "krgw", "rkwg", "wrgk" };
	struct buf f = BUF_INIT, exif = BUF_INIT, eight = BUF_INIT;
	for (int o = 0; o < 10; o++) {
		for (int is_little = 0; is_little < 2; is_little++) {
			exif_of(&exif, is_little, o);
			write_quarters(&f);
			add_app1(&f, "Exif\0", &exif);
			QUARTERS(o >= 5 && o <= 8, want[o]);
			write_png(&f, 3, 2,
			    &(struct png_options){ .depth = 8,
				.type = PNG_COLOR_TYPE_GRAY,
				.exif = &exif },
			    (const uint8_t[]){ 1, 2, 3, 4, 5, 6 });
			int w = 0, h;
			uint8_t *rgba = NULL;
			struct err err = ERR_INIT;
			CHECK_INT(image_decode_rgba8("f", f.data, f.len, &w, &h, &rgba,
				      &err),
			    0);
			CHECK_INT(w, o >= 5 && o <= 8 ? 2 : 3);
			static const int corner[10] = { 1, 1, 3, 6, 4, 1, 4, 6, 3, 1 };
			CHECK_INT(rgba ? rgba[0] : 0, corner[o]);
			free(rgba);
			err_release(&err);
		}
	}
	/* The first block counts, whatever it says; others are not EXIF. */
	exif_of(&exif, 1, 6);
	exif_of(&eight, 0, 8);
	write_quarters(&f);
	add_app1(&f, "Exif\0", &eight);
	add_app1(&f, "Exif\0", &exif);
	QUARTERS(1, want[6]);
	exif_begin(&eight, 0, 0);
	add_app1(&f, "Exif\0", &eight);
	QUARTERS(0, want[1]);
	write_quarters(&f);
	add_app1(&f, "Exif\0", &exif);
	add_app1(&f, "http:/", &eight);
	QUARTERS(1, want[6]);
	/* One short within 1..8, the first such; a torn directory has what it has. */
	static const struct {
		int type, count, turned;
	} row[] = {
		{ 3, 1, 1 },
		{ 4, 1, 0 },
		{ 1, 1, 0 },
		{ 8, 1, 0 },
		{ 3, 2, 0 },
		{ 3, 0, 0 },
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		exif_begin(&exif, 1, 200);
		exif_entry(&exif, 1, 0x100, 3, 1, 8);
		exif_entry(&exif, 1, 0x112, 3, 1, 9);
		exif_entry(&exif, 1, 0x112, row[i].type, row[i].count, 6);
		exif_entry(&exif, 1, 0x111, 3, 1, 3);
		write_quarters(&f);
		add_app1(&f, "Exif\0", &exif);
		QUARTERS(row[i].turned, want[row[i].turned ? 6 : 1]);
	}
	exif_of(&exif, 1, 6);
	for (size_t n = 0; n < exif.len; n++) {
		exif.len = n;
		write_quarters(&f);
		add_app1(&f, "Exif\0", &exif);
		QUARTERS(n >= 22, want[n >= 22 ? 6 : 1]);
		exif_of(&exif, 1, 6);
	}
	exif.data[4] = (char)0xff, exif.data[7] = (char)0xff; /* far behind the end */
	write_quarters(&f);
	add_app1(&f, "Exif\0", &exif);
	QUARTERS(0, want[1]);
	buf_release(&exif);
	buf_release(&eight);
	buf_release(&f);
}

static void contents(void)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *want;
	} row[] = {
		{ "RIFF\x10\0\0\0WEBPVP8 ", 16, "WebP" },
		{ "GIF89a", 6, "GIF" },
		{ "\0\0\0\x20"
		  "ftypavif",
		    12, "AVIF" },
		{ "\0\0\0\x20"
		  "ftypheic",
		    12, "HEIC" },
		{ "BM\x46\0\0\0\0\0\0\0\x36\0\0\0", 14, "BMP" },
		{ "<svg xmlns=''/>", 15, "SVG" },
		{ "<?xml version='1.0'?>\n<svg/>", 28, "SVG" },
		{ "\xef\xbb\xbf\n<!DOCTYPE HTML><p>", 22, "HTML" },
		{ "<!-- a --><html>", 16, "HTML" },
		{ "MM\0*", 4, "TIFF" },
		{ "", 0, "empty" },
		{ "\0\0\2\0\0\0\0\0\0\0\0\0\0\0\0\0TRUEVISION-XFILE.", 34, "TGA" },
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		CHECK_STR(image_content(row[i].bytes, row[i].n), row[i].want);
		fails(ASSET_TEXTURE, row[i].bytes, row[i].n, row[i].want);
		/* Shorter ones are read no further than they go. */
		for (size_t n = 0; n < row[i].n; n++) {
			char *part = xmemdup(row[i].bytes, n);
			(void)image_content(part, n);
			free(part);
		}
	}
	CHECK(!image_content("RIFF....WAVE", 12) &&
	    !image_content("BMW is a car..", 14) && !image_content("void main() {}", 14));
}

static int near(int a, int b)
{
	return abs(a - b) <= 3;
}

static void jpegs(void)
{
	struct buf f = BUF_INIT;
	uint8_t pixels[16 * 16 * 4];
	static const uint8_t color[4] = { 200, 100, 50, 220 };
	static const struct {
		int channels;
		J_COLOR_SPACE in, file;
		int is_adobe; /* the writer tells so */
	} row[] = {
		{ 3, JCS_RGB, JCS_YCbCr, 0 },
		{ 3, JCS_RGB, JCS_RGB, 1 },
		{ 1, JCS_GRAYSCALE, JCS_GRAYSCALE, 0 },
		{ 4, JCS_CMYK, JCS_CMYK, 1 },
		{ 4, JCS_CMYK, JCS_YCCK, 1 },
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		int channels = row[i].channels;
		for (int k = 0; k < 16 * 16 * channels; k++)
			pixels[k] = color[k % channels];
		write_jpeg(&f, 16, 16, channels, row[i].in, row[i].file, pixels);
		int w, h;
		uint8_t *rgba;
		struct err err = ERR_INIT;
		if (!CHECK_INT(image_decode_rgba8("f", f.data, f.len, &w, &h, &rgba,
				   &err),
			0)) {
			err_release(&err);
			continue;
		}
		CHECK(w == 16 && h == 16);
		for (int c = 0; c < 3; c++) {
			int want = channels == 4 ? color[c] * color[3] / 255
						 : color[channels == 1 ? 0 : c];
			CHECK(near(rgba[c], want));
			CHECK(near(rgba[16 * 16 * 4 - 4 + c], want));
		}
		CHECK_INT(rgba[3], 255);
		free(rgba);
	}
	/* Ink is inverted without Adobe's marker, too, and products are cut. */
	for (int k = 0; k < 16 * 16 * 4; k++)
		pixels[k] = (uint8_t)(k % 4 == 3 ? 100 : 77);
	write_jpeg(&f, 16, 16, 4, JCS_CMYK, JCS_CMYK, pixels);
	for (int has_marker = 1; has_marker >= 0; has_marker--) {
		int w, h;
		uint8_t *rgba = NULL;
		struct err err = ERR_INIT;
		CHECK_INT(image_decode_rgba8("f", f.data, f.len, &w, &h, &rgba, &err), 0);
		CHECK_INT(rgba ? rgba[0] : 0, 77 * 100 / 255);
		free(rgba);
		err_release(&err);
		CHECK_INT(memcmp(f.data + 6, "Adobe", 5) == 0, has_marker);
		memmove(f.data + 2, f.data + 18, f.len - 18);
		f.len -= 16;
	}
	write_jpeg(&f, 16, 16, 3, JCS_RGB, JCS_YCbCr, pixels);
	for (size_t n = 3; n < f.len; n += 7)
		fails(ASSET_TEXTURE, f.data, n, "cannot decode");
	/* The frame header's height is blown up. */
	for (size_t i = 0; i + 9 < f.len; i++) {
		if ((uint8_t)f.data[i] == 0xff && (uint8_t)f.data[i + 1] == 0xc0) {
			f.data[i + 5] = f.data[i + 7] = 0x3f;
			break;
		}
	}
	fails(ASSET_TEXTURE, f.data, f.len, "fewer bytes");
	fails(ASSET_TEXTURE, "GIF89a", 6, "neither PNG nor JPEG, but GIF");
	const char *lfs = "version https://git-lfs.github.com/spec/v1\noid sha256:0";
	fails(ASSET_TEXTURE, lfs, strlen(lfs), "git lfs pull");
	buf_release(&f);
}

static void assets(void)
{
	struct buf f = BUF_INIT;
	struct err err = ERR_INIT;
	struct image image;
	/* Each texel tells face and row: 16 face + row, second channel column. */
	uint8_t strip[2 * 12 * 3];
	for (int y = 0; y < 2; y++) {
		for (int x = 0; x < 12; x++) {
			uint8_t *t = strip + (y * 12 + x) * 3;
			t[0] = (uint8_t)(x / 2 * 16 + y);
			t[1] = (uint8_t)(x % 2);
			t[2] = 7;
		}
	}
	write_png(&f, 12, 2,
	    &(struct png_options){ .depth = 8, .type = PNG_COLOR_TYPE_RGB }, strip);
	for (int vflip = 0; vflip < 2; vflip++) {
		struct asset cube = { .kind = ASSET_CUBEMAP, .vflip = vflip };
		if (!CHECK(!image_decode(&cube, "c", f.data, f.len, &image, &err)))
			return;
		CHECK(image.width == 2 && image.height == 2 && image.depth == 1 &&
		    image.nface == 6 && image.channels == 4 && !image.is_float &&
		    image.ndata == 6 * 2 * 2 * 4);
		for (int i = 0; i < 24; i++) {
			int face = i / 4, y = i / 2 % 2;
			if (vflip && (face == 2 || face == 3))
				face = 5 - face;
			CHECK_INT(image.data[i * 4], face * 16 + (vflip ? 1 - y : y));
			CHECK_INT(image.data[i * 4 + 1], i % 2);
			CHECK_INT(image.data[i * 4 + 3], 255);
		}
		image_release(&image);
		CHECK(!image.data);
	}
	struct asset red = { .kind = ASSET_TEXTURE, .vflip = 1, .channels = 1 };
	if (CHECK(!image_decode(&red, "t", f.data, f.len, &image, &err))) {
		CHECK(image.channels == 1 && image.ndata == 24 && image.nface == 1);
		CHECK_INT(image.data[0], 1);
		CHECK_INT(image.data[12], 0);
		CHECK_INT(image.data[23], 5 * 16);
		image_release(&image);
	}
	write_png(&f, 6, 2,
	    &(struct png_options){ .depth = 8, .type = PNG_COLOR_TYPE_RGB }, strip);
	fails(ASSET_CUBEMAP, f.data, f.len, "6 x 2");
	fails(ASSET_VIDEO, f.data, f.len, "video");
	buf_release(&f);
}

static void header(struct buf *b, uint32_t x, uint32_t y, uint32_t z, uint32_t meta)
{
	buf_reset(b);
	buf_addstr(b, "BIN");
	buf_addch(b, '\0');
	buf_u32le(b, x);
	buf_u32le(b, y);
	buf_u32le(b, z);
	buf_u32le(b, meta);
}

static void volumes(void)
{
	struct buf f = BUF_INIT;
	struct err err = ERR_INIT;
	struct image image;
	struct asset volume = { .kind = ASSET_VOLUME };
	header(&f, 1, 2, 3, 1);
	buf_add(&f, "abcdef", 6);
	if (CHECK(!image_decode(&volume, "v", f.data, f.len, &image, &err))) {
		CHECK(image.width == 1 && image.height == 2 && image.depth == 3 &&
		    image.channels == 1 && image.ndata == 6 && image.nface == 1);
		CHECK(memcmp(image.data, "abcdef", 6) == 0);
		image_release(&image);
	}
	volume.vflip = 1;
	if (CHECK(!image_decode(&volume, "v", f.data, f.len, &image, &err))) {
		CHECK(memcmp(image.data, "badcfe", 6) == 0);
		image_release(&image);
	}
	volume.vflip = 0;
	fails(ASSET_VOLUME, f.data, f.len - 1, "25 bytes");
	fails(ASSET_VOLUME, f.data, 19, "the header alone");
	buf_addch(&f, 'g');
	fails(ASSET_VOLUME, f.data, f.len, "has 26");
	header(&f, 1, 1, 2, 3);
	buf_add(&f, "abcdef", 6);
	if (CHECK(!image_decode(&volume, "v", f.data, f.len, &image, &err))) {
		CHECK_INT(image.channels, 4);
		CHECK(memcmp(image.data,
			  "abc\xff"
			  "def\xff",
			  8) == 0);
		image_release(&image);
	}
	header(&f, 1, 1, 1, 2 | 10 << 16);
	buf_u32le(&f, 0x3f800000);
	buf_u32le(&f, 0x7fc00001); /* a NaN with a payload */
	if (CHECK(!image_decode(&volume, "v", f.data, f.len, &image, &err))) {
		uint32_t bits[4];
		CHECK(image.is_float && image.channels == 4 && image.ndata == 16);
		memcpy(bits, image.data, sizeof bits);
		CHECK(bits[0] == 0x3f800000 && bits[1] == 0x7fc00001 && !bits[2] &&
		    bits[3] == 0x3f800000);
		image_release(&image);
	}
	volume.channels = 1;
	if (CHECK(!image_decode(&volume, "v", f.data, f.len, &image, &err))) {
		CHECK(image.channels == 1 && image.ndata == 4);
		image_release(&image);
	}
	header(&f, 0, 1, 1, 1);
	fails(ASSET_VOLUME, f.data, f.len, "0 x 1 x 1");
	header(&f, 0xffffffff, 0xffffffff, 0xffffffff, 4);
	fails(ASSET_VOLUME, f.data, f.len, "sides are");
	header(&f, 2048, 2048, 2048, 4 | 10 << 16);
	fails(ASSET_VOLUME, f.data, f.len, "20 bytes");
	static const uint32_t odd[] = { 0, 5, 1 | 1 << 8, 1 | 1 << 16, 1 | 11 << 16 };
	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
		header(&f, 1, 1, 1, odd[i]);
		buf_add(&f, "abcdefgh", 8);
		fails(ASSET_VOLUME, f.data, f.len, "supported are");
	}
	buf_release(&f);
	err_release(&err);
}

int main(void)
{
	pngs();
	wide_pngs();
	jpegs();
	orientations();
	contents();
	assets();
	volumes();
	return test_done();
}

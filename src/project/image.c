#include "project/image.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>
#include <png.h>

#include "util/limits.h"
#include "util/buf.h"
#include "util/mem.h"

#define MAX_SCANS 256 /* of a progressive JPEG; real ones have about ten */

/* A picture while it is decoded; lives beyond the libraries' longjmps. */
struct picture {
	const char *name;
	const unsigned char *bytes;
	size_t nbyte, at;
	int max_width, max_height;
	int width, height;
	int orientation; /* of EXIF: 1 to 8 */
	uint8_t *rgba;
	uint8_t *line; /* of four CMYK channels */
	uint8_t *wide; /* RGBA of 16 bits, of the machine's byte order */
	png_bytep *row;
	jmp_buf escape;
	char message[JMSG_LENGTH_MAX + 80];
};

static int check_size(struct picture *p, unsigned long width, unsigned long height)
{
	if (!width || !height || width > (unsigned long)p->max_width ||
	    height > (unsigned long)p->max_height ||
	    (uint64_t)width * height * 4 > LIMIT_ASSET_BYTES) {
		snprintf(p->message, sizeof p->message,
		    "a picture of %lu x %lu; the limit is %d x %d and %u MiB", width,
		    height, p->max_width, p->max_height, LIMIT_ASSET_BYTES >> 20);
		return -1;
	}
	p->width = (int)width;
	p->height = (int)height;
	return 0;
}

/* Orientation -------------------------------------------------------------- */

static unsigned tiff_u16(const uint8_t *b, int is_little)
{
	return is_little ? (unsigned)(b[0] | b[1] << 8) : (unsigned)(b[0] << 8 | b[1]);
}

/*
 * The orientation in an EXIF block (a TIFF: CIPA DC-008, 4.6.4), taken as
 * browsers take it: of the first directory the first entry that is one short
 * within 1..8. Without any: 1, as it stands.
 */
static int exif_orientation(const uint8_t *b, size_t n)
{
	if (n < 8 || (memcmp(b, "II*\0", 4) != 0 && memcmp(b, "MM\0*", 4) != 0))
		return 1;
	int is_little = *b == 'I';
	size_t at = is_little ? get_u32le(b + 4)
			      : (size_t)tiff_u16(b + 4, 0) << 16 | tiff_u16(b + 6, 0);
	if (at > n || n - at < 2)
		return 1;
	unsigned nentry = tiff_u16(b + at, is_little);
	at += 2;
	for (; nentry && n - at >= 12; nentry--, at += 12) {
		const uint8_t *e = b + at;
		unsigned count_word = tiff_u16(e + (is_little ? 4 : 6), is_little);
		unsigned other_word = tiff_u16(e + (is_little ? 6 : 4), is_little);
		unsigned value = tiff_u16(e + 8, is_little);
		if (tiff_u16(e, is_little) == 0x112 && tiff_u16(e + 2, is_little) == 3 &&
		    count_word == 1 && !other_word && value >= 1 && value <= 8)
			return (int)value;
	}
	return 1;
}

/*
 * Turns the picture as its orientation says: 2, 4, 5 and 7 are mirrored, 5 to 8
 * have rows for columns.
 */
static void orient(struct picture *p)
{
	int o = p->orientation;
	if (o <= 1)
		return;
	int is_turned = o >= 5;
	int width = is_turned ? p->height : p->width;
	int height = is_turned ? p->width : p->height;
	/* Whether the source is walked from the right, and from below. */
	int from_right = o == 2 || o == 3 || o == 7 || o == 8;
	int from_below = o == 3 || o == 4 || o == 6 || o == 7;
	uint8_t *to = xmalloc((size_t)width * (size_t)height * 4);
	for (int y = 0; y < height; y++) {
		for (int x = 0; x < width; x++) {
			int column = is_turned ? y : x, row = is_turned ? x : y;
			if (from_right)
				column = p->width - 1 - column;
			if (from_below)
				row = p->height - 1 - row;
			memcpy(to + ((size_t)y * (size_t)width + (size_t)x) * 4,
			    p->rgba +
				((size_t)row * (size_t)p->width + (size_t)column) * 4,
			    4);
		}
	}
	free(p->rgba);
	p->rgba = to;
	p->width = width;
	p->height = height;
}

/* PNG ---------------------------------------------------------------------- */

static void png_fault(png_structp png, png_const_charp text)
{
	struct picture *p = png_get_error_ptr(png);
	if (!p->message[0])
		snprintf(p->message, sizeof p->message, "%s", text);
	longjmp(p->escape, 1);
}

static void png_quiet(png_structp png, png_const_charp text)
{
	(void)png;
	(void)text;
}

static void png_take(png_structp png, png_bytep to, size_t n)
{
	struct picture *p = png_get_io_ptr(png);
	if (n > p->nbyte - p->at)
		png_error(png, "the file ends early");
	memcpy(to, p->bytes + p->at, n);
	p->at += n;
}

static int is_little_endian(void)
{
	const uint16_t one = 1;
	return *(const uint8_t *)&one;
}

/*
 * 16 bits a channel become 8 as in Chromium, whose decoder goes by half floats
 * for colour: v / 65535 to the nearest half, that times 255 to the nearest
 * integer. Grey pictures keep their high bytes there.
 */
static void narrow(struct picture *p)
{
	uint8_t *of = xmalloc(65536);
	for (int v = 0; v < 65536; v++) {
		int exponent;
		float whole = (float)v / 65535.0f;
		(void)frexpf(whole, &exponent);
		/* A half has 11 significant bits. */
		float half = ldexpf(rintf(ldexpf(whole, 11 - exponent)), exponent - 11);
		of[v] = (uint8_t)(half * 255.0f + 0.5f);
	}
	size_t n = (size_t)p->width * (size_t)p->height * 4;
	p->rgba = xmalloc(n);
	for (size_t i = 0; i < n; i++) {
		uint16_t v;
		memcpy(&v, p->wide + 2 * i, sizeof v);
		p->rgba[i] = of[v];
	}
	free(of);
}

static void png_take_orientation(struct picture *p, png_structp png, png_infop info)
{
#ifdef PNG_eXIf_SUPPORTED
	png_bytep exif;
	png_uint_32 n;
	if (png_get_eXIf_1(png, info, &n, &exif))
		p->orientation = exif_orientation(exif, n);
#else
	(void)p, (void)png, (void)info;
#endif
}

static void png_decode(struct picture *p, png_structp png, png_infop info)
{
	png_set_read_fn(png, p, png_take);
	png_set_user_limits(png, (png_uint_32)p->max_width, (png_uint_32)p->max_height);
	png_set_chunk_cache_max(png, 64);
	png_set_chunk_malloc_max(png, 8u << 20);
	/* Of what is beside the pixels only tRNS, PLTE and eXIf matter. */
	png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, 0);
	png_read_info(png, info);
	int depth = png_get_bit_depth(png, info);
	int type = png_get_color_type(png, info);
	if (check_size(p, png_get_image_width(png, info),
		png_get_image_height(png, info)))
		png_error(png, p->message);
	/* Behind the pixels it does not count. */
	png_take_orientation(p, png, info);
	/* Deflate gives at most 1032 bytes for one. */
	uint64_t raw = (uint64_t)png_get_rowbytes(png, info) * (uint64_t)p->height;
	if (raw / 1100 > p->nbyte)
		png_error(png, "fewer bytes than its size needs");
	int is_wide = depth == 16 && type & PNG_COLOR_MASK_COLOR;
	if (is_wide && raw > LIMIT_ASSET_BYTES / 2) {
		snprintf(p->message, sizeof p->message,
		    "a picture of 16 bits and more than %u MiB", LIMIT_ASSET_BYTES >> 21);
		longjmp(p->escape, 1);
	}
	if (depth == 16 && !is_wide)
		png_set_strip_16(png);
	else if (is_wide && is_little_endian())
		png_set_swap(png);
	if (type == PNG_COLOR_TYPE_PALETTE)
		png_set_palette_to_rgb(png);
	if (type == PNG_COLOR_TYPE_GRAY && depth < 8)
		png_set_expand_gray_1_2_4_to_8(png);
	if (png_get_valid(png, info, PNG_INFO_tRNS))
		png_set_tRNS_to_alpha(png);
	if (!(type & PNG_COLOR_MASK_COLOR))
		png_set_gray_to_rgb(png);
	png_set_add_alpha(png, is_wide ? 0xffff : 0xff, PNG_FILLER_AFTER);
	png_set_interlace_handling(png);
	png_read_update_info(png, info);
	size_t stride = (size_t)p->width * (is_wide ? 8 : 4);
	if (png_get_rowbytes(png, info) != stride)
		png_error(png, "an unknown pixel layout");
	uint8_t *pixels = xmalloc(stride * (size_t)p->height);
	if (is_wide)
		p->wide = pixels;
	else
		p->rgba = pixels;
	p->row = xcalloc((size_t)p->height, sizeof *p->row);
	for (int y = 0; y < p->height; y++)
		p->row[y] = pixels + stride * (size_t)y;
	png_read_image(png, p->row);
	png_read_end(png, NULL);
	if (is_wide)
		narrow(p);
}

static int decode_png(struct picture *p)
{
	volatile int result = -1;
	png_structp png =
	    png_create_read_struct(PNG_LIBPNG_VER_STRING, p, png_fault, png_quiet);
	png_infop info = png ? png_create_info_struct(png) : NULL;
	if (!info)
		BUG("libpng %s gives no reader", PNG_LIBPNG_VER_STRING);
	if (setjmp(p->escape))
		goto out;
	png_decode(p, png, info);
	result = 0;
out:
	png_destroy_read_struct(&png, &info, NULL);
	return result;
}

/* JPEG --------------------------------------------------------------------- */

struct jpeg {
	struct jpeg_decompress_struct d; /* client_data is the picture */
	struct jpeg_error_mgr error;
	struct jpeg_progress_mgr progress;
};

static void jpeg_fault(j_common_ptr d)
{
	struct picture *p = d->client_data;
	if (!p->message[0])
		d->err->format_message(d, p->message);
	longjmp(p->escape, 1);
}

static void jpeg_quiet(j_common_ptr d, int level)
{
	struct picture *p = d->client_data;
	if (level >= 0 || d->err->msg_code != JWRN_JPEG_EOF)
		return;
	snprintf(p->message, sizeof p->message, "the file ends early");
	longjmp(p->escape, 1);
}

static void jpeg_count_scans(j_common_ptr d)
{
	struct picture *p = d->client_data;
	if (((j_decompress_ptr)d)->input_scan_number <= MAX_SCANS)
		return;
	snprintf(p->message, sizeof p->message, "more than %d scans", MAX_SCANS);
	longjmp(p->escape, 1);
}

/* The first block counts, whatever it says. */
static void jpeg_take_orientation(struct picture *p,
    const struct jpeg_decompress_struct *d)
{
	for (const struct jpeg_marker_struct *m = d->marker_list; m; m = m->next) {
		if (m->marker != JPEG_APP0 + 1 || m->data_length < 6 ||
		    memcmp(m->data, "Exif", 5) != 0)
			continue;
		p->orientation = exif_orientation(m->data + 6, m->data_length - 6);
		return;
	}
}

static void jpeg_decode(struct picture *p, struct jpeg *jpeg)
{
	struct jpeg_decompress_struct *d = &jpeg->d;
	jpeg_create_decompress(d);
	d->client_data = p;
	d->progress = &jpeg->progress;
	d->mem->max_memory_to_use = 0;
	jpeg_mem_src(d, (unsigned char *)p->bytes, (unsigned long)p->nbyte);
	jpeg_save_markers(d, JPEG_APP0 + 1, 0xffff);
	jpeg_read_header(d, TRUE);
	jpeg_take_orientation(p, d);
	if (check_size(p, d->image_width, d->image_height))
		longjmp(p->escape, 1);
	/* Each block of 8 x 8 costs a bit at least. */
	if ((uint64_t)p->width * (uint64_t)p->height / 1024 > p->nbyte) {
		snprintf(p->message, sizeof p->message,
		    "fewer bytes than its size needs");
		longjmp(p->escape, 1);
	}
	int is_cmyk = d->jpeg_color_space == JCS_CMYK || d->jpeg_color_space == JCS_YCCK;
	d->out_color_space = is_cmyk ? JCS_CMYK : JCS_RGB;
	/* Bit for bit the same whatever the processor. */
	d->dct_method = JDCT_ISLOW;
	jpeg_start_decompress(d);
	size_t stride = (size_t)p->width * 4;
	p->rgba = xmalloc(stride * (size_t)p->height);
	p->line = xmalloc(stride);
	while (d->output_scanline < d->output_height) {
		uint8_t *to = p->rgba + stride * d->output_scanline;
		JSAMPROW row = p->line;
		jpeg_read_scanlines(d, &row, 1);
		for (int x = 0; x < p->width; x++, to += 4) {
			const uint8_t *from = p->line + (is_cmyk ? 4 : 3) * x;
			for (int c = 0; c < 3; c++) {
				/* Ink is written the other way round, as browsers take
				 * it, Adobe's marker or not. */
				int ink = from[c], black = is_cmyk ? from[3] : 255;
				to[c] = (uint8_t)(ink * black / 255);
			}
			to[3] = 255;
		}
	}
	jpeg_finish_decompress(d);
}

static int decode_jpeg(struct picture *p)
{
	volatile int result = -1;
	struct jpeg *jpeg = xcalloc(1, sizeof *jpeg);
	jpeg->d.err = jpeg_std_error(&jpeg->error);
	jpeg->d.client_data = p;
	jpeg->error.error_exit = jpeg_fault;
	jpeg->error.emit_message = jpeg_quiet;
	jpeg->progress.progress_monitor = jpeg_count_scans;
	if (setjmp(p->escape))
		goto out;
	jpeg_decode(p, jpeg);
	result = 0;
out:
	jpeg_destroy_decompress(&jpeg->d);
	free(jpeg);
	return result;
}

/* Either ------------------------------------------------------------------- */

static void refuse_content(struct picture *p, const char *content)
{
	static const char lfs[] = "version https://git-lfs.github.com/spec/";
	if (p->nbyte >= sizeof lfs - 1 && memcmp(p->bytes, lfs, sizeof lfs - 1) == 0)
		snprintf(p->message, sizeof p->message,
		    "a Git LFS pointer; "
		    "fetch the file itself with 'git lfs pull'");
	else if (content && strcmp(content, "empty") == 0)
		snprintf(p->message, sizeof p->message, "the file is empty");
	else
		snprintf(p->message, sizeof p->message, "neither PNG nor JPEG%s%s",
		    content ? ", but " : "", content ? content : "");
}

static int decode(const char *name, const void *bytes, size_t n, int max_width,
    int max_height, int *width, int *height, uint8_t **rgba, struct err *err)
{
	*rgba = NULL;
	struct picture *p = xcalloc(1, sizeof *p);
	p->name = name;
	p->bytes = bytes;
	p->nbyte = n;
	p->max_width = max_width;
	p->max_height = max_height;
	const char *content = image_content(bytes, n);
	int result = -1;
	if (content && strcmp(content, "PNG") == 0)
		result = decode_png(p);
	else if (content && strcmp(content, "JPEG") == 0)
		result = decode_jpeg(p);
	else
		refuse_content(p, content);
	free(p->row);
	free(p->line);
	free(p->wide);
	if (!result)
		orient(p);
	if (result) {
		free(p->rgba);
		err_set(err, STATUS_INPUT, "cannot decode '%s': %s", name, p->message);
		err_place(err, name, 0, 0, NULL);
	} else {
		*width = p->width;
		*height = p->height;
		*rgba = p->rgba;
	}
	free(p);
	return result;
}

int image_decode_rgba8(const char *name, const void *bytes, size_t n, int *width,
    int *height, uint8_t **rgba, struct err *err)
{
	return decode(name, bytes, n, LIMIT_SIZE, LIMIT_SIZE, width, height, rgba, err);
}

/* Assets ------------------------------------------------------------------- */

static int decode_texture(const char *name, const void *bytes, size_t n,
    struct image *out, struct err *err)
{
	if (decode(name, bytes, n, LIMIT_SIZE, LIMIT_SIZE, &out->width, &out->height,
		&out->data, err))
		return -1;
	out->ndata = (size_t)out->width * (size_t)out->height * 4;
	return 0;
}

/* A strip of six squares becomes six pictures. */
static int decode_cubemap(const char *name, const void *bytes, size_t n,
    struct image *out, struct err *err)
{
	int width, size;
	uint8_t *strip;
	if (decode(name, bytes, n, 6 * LIMIT_SIZE, LIMIT_SIZE, &width, &size, &strip,
		err))
		return -1;
	if (width != 6 * size) {
		free(strip);
		err_set(err, STATUS_INPUT,
		    "'%s' is %d x %d; a cubemap is a strip of "
		    "six square faces, 6N x N",
		    name, width, size);
		err_place(err, name, 0, 0, NULL);
		return -1;
	}
	size_t row = (size_t)size * 4;
	out->width = out->height = size;
	out->nface = 6;
	out->ndata = row * (size_t)size * 6;
	out->data = xmalloc(out->ndata);
	uint8_t *to = out->data;
	for (size_t face = 0; face < 6; face++)
		for (size_t y = 0; y < (size_t)size; y++, to += row)
			memcpy(to, strip + (y * 6 + face) * row, row);
	free(strip);
	return 0;
}

/*
 * A volume: 4 bytes that nobody reads, width, height and depth, and a word of
 * channels (bits 0..7), layout (8..15, always 0) and format (16 and up: 0 for
 * bytes, 10 for 32-bit floats), all u32 little-endian; then the texels, x
 * fastest, then y, then z.
 */
static int decode_volume(const char *name, const void *bytes, size_t n, struct image *out,
    struct err *err)
{
	const uint8_t *b = bytes;
	uint32_t size[3], meta;
	int result = -1;
	if (n < 20) {
		err_set(err, STATUS_INPUT,
		    "'%s' is not a volume: it has %zu "
		    "bytes, and the header alone has 20",
		    name, n);
		goto out;
	}
	for (int i = 0; i < 3; i++)
		size[i] = get_u32le(b + 4 + 4 * i);
	meta = get_u32le(b + 16);
	uint32_t channels = meta & 0xff, layout = meta >> 8 & 0xff, format = meta >> 16;
	if (channels < 1 || channels > 4 || layout || (format && format != 10)) {
		err_set(err, STATUS_INPUT,
		    "'%s': a volume of %u channels, "
		    "layout %u, format %u; supported are 1 to 4 channels, "
		    "layout 0, format 0 (bytes) and 10 (floats)",
		    name, channels, layout, format);
		goto out;
	}
	for (int i = 0; i < 3; i++) {
		if (size[i] >= 1 && size[i] <= LIMIT_VOLUME)
			continue;
		err_set(err, STATUS_INPUT,
		    "'%s': a volume of %u x %u x %u; sides are "
		    "1 to %d",
		    name, size[0], size[1], size[2], LIMIT_VOLUME);
		goto out;
	}
	size_t bytes_each = format ? 4 : 1;
	uint64_t ntexel = (uint64_t)size[0] * size[1] * size[2];
	uint64_t want = 20 + ntexel * channels * bytes_each;
	if (want != n) {
		err_set(err, STATUS_INPUT,
		    "'%s': %zu bytes, but a volume of "
		    "%u x %u x %u with %u %s has %llu",
		    name, n, size[0], size[1], size[2], channels,
		    format ? "floats" : "bytes", (unsigned long long)want);
		goto out;
	}
	out->channels = channels == 1 ? 1 : 4;
	uint64_t ndata = ntexel * (uint64_t)out->channels * bytes_each;
	if (ndata > LIMIT_ASSET_BYTES) {
		err_set(err, STATUS_INPUT, "'%s': a volume of more than %u MiB", name,
		    LIMIT_ASSET_BYTES >> 20);
		goto out;
	}
	out->width = (int)size[0];
	out->height = (int)size[1];
	out->depth = (int)size[2];
	out->is_float = format != 0;
	out->ndata = (size_t)ndata;
	out->data = xmalloc(out->ndata);
	const uint8_t *from = b + 20;
	uint8_t *to = out->data;
	for (uint64_t i = 0; i < ntexel; i++) {
		for (int c = 0; c < out->channels; c++, to += bytes_each) {
			int is_there = c < (int)channels;
			if (format) {
				float missing = c == 3 ? 1 : 0;
				uint32_t bits = is_there ? get_u32le(from) : 0;
				memcpy(to, is_there ? (void *)&bits : (void *)&missing,
				    4);
			} else {
				*to = is_there ? *from : c == 3 ? 255 : 0;
			}
			if (is_there)
				from += bytes_each;
		}
	}
	result = 0;
out:
	if (result)
		err_place(err, name, 0, 0, NULL);
	return result;
}

/* Turns the rows of every face and slice; on a cubemap top is bottom then. */
static void flip(struct image *image)
{
	size_t row =
	    (size_t)image->width * (size_t)image->channels * (image->is_float ? 4 : 1);
	size_t plane = row * (size_t)image->height;
	uint8_t *spare = xmalloc(plane);
	for (size_t at = 0; at < image->ndata; at += plane) {
		uint8_t *data = image->data + at;
		memcpy(spare, data, plane);
		for (int y = 0; y < image->height; y++)
			memcpy(data + row * (size_t)y,
			    spare + row * (size_t)(image->height - 1 - y), row);
	}
	if (image->nface == 6) {
		memcpy(spare, image->data + 2 * plane, plane);
		memcpy(image->data + 2 * plane, image->data + 3 * plane, plane);
		memcpy(image->data + 3 * plane, spare, plane);
	}
	free(spare);
}

static void keep_red(struct image *image)
{
	size_t bytes = image->is_float ? 4 : 1;
	size_t n = image->ndata / ((size_t)image->channels * bytes);
	for (size_t i = 0; i < n; i++)
		memmove(image->data + i * bytes,
		    image->data + i * bytes * (size_t)image->channels, bytes);
	image->channels = 1;
	image->ndata = n * bytes;
	image->data = xreallocarray(image->data, image->ndata, 1);
}

int image_decode(const struct asset *asset, const char *name, const void *bytes, size_t n,
    struct image *out, struct err *err)
{
	*out = (struct image){ .depth = 1, .nface = 1, .channels = 4 };
	int result = -1;
	switch (asset->kind) {
	case ASSET_TEXTURE:
		result = decode_texture(name, bytes, n, out, err);
		break;
	case ASSET_CUBEMAP:
		result = decode_cubemap(name, bytes, n, out, err);
		break;
	case ASSET_VOLUME:
		result = decode_volume(name, bytes, n, out, err);
		break;
	case ASSET_VIDEO:
		err_set(err, STATUS_INPUT, "'%s' is a video, which is not decoded", name);
		err_place(err, name, 0, 0, NULL);
		break;
	}
	if (result)
		return -1;
	if (asset->vflip)
		flip(out);
	if (asset->channels == 1 && out->channels != 1)
		keep_red(out);
	return 0;
}

void image_release(struct image *image)
{
	if (!image)
		return;
	free(image->data);
	*image = (struct image){ 0 };
}

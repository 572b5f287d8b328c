#ifndef STBUILD_PROJECT_IMAGE_H
#define STBUILD_PROJECT_IMAGE_H

/*
 * Assets decoded: PNG and JPEG to raw bytes (no colour management), six-face
 * strips to faces, volumes with the 20-byte header. Pictures are turned as their
 * EXIF orientation says, and those of 16 bits a channel become 8 as in Chromium
 * (colour rounded, grey cut). Rows are in upload order: the top row first,
 * unless vflip.
 */

#include <stddef.h>
#include <stdint.h>

#include "project/manifest.h"
#include "util/err.h"

/* Changes when decoded bytes of the same file may: part of keys. */
#define IMAGE_DECODER "stbuild-image-2"

struct image {
	int width, height, depth; /* of a face; depth 1 unless a volume */
	int nface;                /* 6 for a cubemap, else 1 */
	int channels;             /* 1 (volumes, channels = 1) or 4 */
	int is_float;             /* float32 instead of u8 texels */
	uint8_t *data;            /* faces, slices, rows, texels */
	size_t ndata;
};

/* Decodes a file's bytes as the asset says. name is for messages. */
int image_decode(const struct asset *asset, const char *name, const void *bytes, size_t n,
    struct image *out, struct err *err) WARN_UNUSED;
void image_release(struct image *image);

/*
 * What bytes are, by their content: "PNG" and "JPEG", which are decoded,
 * "WebP", "GIF", "SVG", "HTML", "volume" and more, which are not pictures that
 * are, "empty", or null when nobody knows.
 */
const char *image_content(const void *bytes, size_t n);

/* Any PNG or JPEG to RGBA8, top row first. */
int image_decode_rgba8(const char *name, const void *bytes, size_t n, int *width,
    int *height, uint8_t **rgba, struct err *err) WARN_UNUSED;

#endif

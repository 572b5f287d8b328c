#ifndef STBUILD_VERIFY_PICTURE_H
#define STBUILD_VERIFY_PICTURE_H

/*
 * Pictures as they are compared, shown and written: 8-bit RGB, top row first.
 * Alpha of a file is not looked at. A zeroed picture is an empty one.
 */

#include <stddef.h>
#include <stdint.h>

#include "format/bundle.h"
#include "util/err.h"

struct picture {
	int width, height;
	uint8_t *rgb; /* 3 x width x height bytes, owned */
};

void picture_release(struct picture *p);
/* A PNG or JPEG of n bytes; name is for messages. */
int picture_decode(const char *name, const void *bytes, size_t n, struct picture *out,
    struct err *err) WARN_UNUSED;
/* The PNG or JPEG at path. */
int picture_read(const char *path, struct picture *out, struct err *err) WARN_UNUSED;
/* A bundle's final image. The message names the bundle. */
int picture_of_bundle(const struct bundle *b, struct picture *out,
    struct err *err) WARN_UNUSED;
/* Writes a PNG; folders on the way are made. */
int picture_write(const struct picture *p, const char *path, struct err *err) WARN_UNUSED;
/* Bytes of its rgb. */
size_t picture_size(const struct picture *p);
int picture_is_same_size(const struct picture *a, const struct picture *b);
/*
 * Of two pictures of one size: |a - b| of each byte, multiplied so that the
 * largest becomes 255, and rounded to the nearest. Returns that factor (0: they
 * are equal, and out is black). out is the caller's.
 */
double picture_difference(const struct picture *a, const struct picture *b,
    struct picture *out);
/*
 * a, b and their difference beside each other; the last is left out where
 * sizes differ, and what a smaller one does not cover is black. out is the
 * caller's.
 */
void picture_side_by_side(const struct picture *a, const struct picture *b,
    struct picture *out);

#endif

#ifndef STBUILD_FORMAT_PIXEL_H
#define STBUILD_FORMAT_PIXEL_H

/* Texels as the store holds them, turned into what bundles hold. */

#include <stddef.h>
#include <stdint.h>

#include "project/manifest.h"

/*
 * n texels of a format to RGBA32F: missing channels are 0, 0, 1; RGBA8 is
 * v / 255; NaN payloads of 32-bit formats survive. out may not overlap.
 */
void pixel_to_rgba32f(enum format format, const void *texel, size_t n, float *out);
/*
 * One picture to 8-bit RGB with the top row first: NaN 0, clamped, (int)(v *
 * 255 + 0.5). texel has its bottom row first. rgb has 3 x w x h bytes.
 */
void pixel_to_rgb8(enum format format, const void *texel, int width, int height,
    uint8_t *rgb);

#endif

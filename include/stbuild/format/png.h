#ifndef STBUILD_FORMAT_PNG_H
#define STBUILD_FORMAT_PNG_H

#include <stdint.h>

#include "util/buf.h"
#include "util/err.h"

/* Changes when encoded bytes of the same pixels may: part of derived keys. */
#define PNG_ENCODER "stbuild-png-1"

/* 8-bit RGB, top row first, as PNG level 1 without time stamps. Any thread. */
int png_encode(const uint8_t *rgb, int width, int height, struct buf *out,
    struct err *err) WARN_UNUSED;
/* 8-bit RGBA, for textures of imported documents. */
int png_encode_rgba(const uint8_t *rgba, int width, int height, struct buf *out,
    struct err *err) WARN_UNUSED;

#endif

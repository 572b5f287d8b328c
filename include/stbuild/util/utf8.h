#ifndef STBUILD_UTIL_UTF8_H
#define STBUILD_UTIL_UTF8_H

/* UTF-8 (RFC 3629): no overlong forms, no surrogates, at most U+10FFFF. */

#include <stddef.h>

struct buf;

/* Offset of the first byte that is not UTF-8; n when all of it is. */
size_t utf8_invalid(const char *text, size_t n);
/* Line and column (in bytes), from 1, of an offset; a BOM has no width. */
void text_position(const char *text, size_t offset, int *line, int *column);
/*
 * Appends a code point. U+0000 becomes the two bytes C0 80, which UTF-8 never
 * holds, since strings of ours end at the first NUL.
 */
void utf8_add(struct buf *out, unsigned long code);
/* 1 when a string holds a NUL in that form. */
int utf8_has_nul(const char *s);

#endif

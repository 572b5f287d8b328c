#ifndef STBUILD_FORMAT_BASE64_H
#define STBUILD_FORMAT_BASE64_H

/* RFC 4648, section 4. */

#include <stddef.h>

#include "util/buf.h"

/* Appends the text, padded, without line breaks. */
void base64_encode(const void *data, size_t n, struct buf *out);
/* Bytes that a text of that form holds, padding optional; -1 for no form. */
long long base64_size(const char *text, size_t n);
/* Appends the bytes: 0, or -1 for other characters (out is as before). */
int base64_decode(const char *text, size_t n, struct buf *out);

#endif

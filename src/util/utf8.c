#include "util/utf8.h"

#include <string.h>

#include "util/buf.h"

/* Bytes of the sequence at p, or 0 when it is none. */
static size_t sequence(const unsigned char *p, size_t n)
{
	static const unsigned long least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len = p[0] < 0x80 ? 1
	    : p[0] < 0xc0        ? 0
	    : p[0] < 0xe0        ? 2
	    : p[0] < 0xf0        ? 3
	    : p[0] < 0xf8        ? 4
				 : 0;
	if (len < 2)
		return len;
	if (len > n)
		return 0;
	unsigned long code = p[0] & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3f);
	}
	if (code < least[len] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	return len;
}

size_t utf8_invalid(const char *text, size_t n)
{
	const unsigned char *p = (const unsigned char *)text;
	for (size_t i = 0; i < n;) {
		if (p[i] < 0x80) {
			i++;
			continue;
		}
		size_t len = sequence(p + i, n - i);
		if (!len)
			return i;
		i += len;
	}
	return n;
}

void text_position(const char *text, size_t offset, int *line, int *column)
{
	size_t start = offset >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	*line = 1;
	for (size_t i = 0; i < offset; i++) {
		if (text[i] == '\n') {
			(*line)++;
			start = i + 1;
		}
	}
	*column = (int)(offset - start) + 1;
}

void utf8_add(struct buf *out, unsigned long code)
{
	if (code && code < 0x80) {
		buf_addch(out, (char)code);
	} else if (code < 0x800) {
		buf_addch(out, (char)(0xc0 | code >> 6));
		buf_addch(out, (char)(0x80 | (code & 0x3f)));
	} else if (code < 0x10000) {
		buf_addch(out, (char)(0xe0 | code >> 12));
		buf_addch(out, (char)(0x80 | (code >> 6 & 0x3f)));
		buf_addch(out, (char)(0x80 | (code & 0x3f)));
	} else {
		buf_addch(out, (char)(0xf0 | code >> 18));
		buf_addch(out, (char)(0x80 | (code >> 12 & 0x3f)));
		buf_addch(out, (char)(0x80 | (code >> 6 & 0x3f)));
		buf_addch(out, (char)(0x80 | (code & 0x3f)));
	}
}

int utf8_has_nul(const char *s)
{
	return strstr(s, "\xc0\x80") != NULL;
}

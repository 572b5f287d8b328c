#include "util/buf.h"

#include <stdio.h>
#include <string.h>

#include "util/mem.h"

void buf_release(struct buf *buf)
{
	if (!buf)
		return;
	free(buf->data);
	*buf = (struct buf)BUF_INIT;
}

void buf_reset(struct buf *buf)
{
	buf->len = 0;
	if (buf->data)
		buf->data[0] = '\0';
}

char *buf_reserve(struct buf *buf, size_t n)
{
	/* Sizes beyond PTRDIFF_MAX end in xreallocarray, so clamping is enough. */
	size_t need = n < SIZE_MAX - buf->len - 1 ? buf->len + n + 1 : SIZE_MAX;
	if (need > buf->cap) {
		size_t cap = buf->cap < 64 ? 64 : buf->cap;
		while (cap < need)
			cap = cap < SIZE_MAX / 2 ? cap * 2 : SIZE_MAX;
		buf->data = xreallocarray(buf->data, cap, 1);
		buf->cap = cap;
		buf->data[buf->len] = '\0';
	}
	return buf->data + buf->len;
}

void buf_add(struct buf *buf, const void *data, size_t n)
{
	char *to = buf_reserve(buf, n);
	if (n)
		memcpy(to, data, n);
	to[n] = '\0';
	buf->len += n;
}

void buf_addstr(struct buf *buf, const char *s)
{
	buf_add(buf, s, strlen(s));
}

void buf_addch(struct buf *buf, char c)
{
	buf_add(buf, &c, 1);
}

void buf_addf(struct buf *buf, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	buf_vaddf(buf, fmt, ap);
	va_end(ap);
}

void buf_vaddf(struct buf *buf, const char *fmt, va_list ap)
{
	va_list again;
	va_copy(again, ap);
	char *to = buf_reserve(buf, 0);
	size_t room = buf->cap - buf->len;
	int n = vsnprintf(to, room, fmt, ap);
	if (n < 0)
		BUG("cannot format '%s'", fmt);
	if ((size_t)n >= room) {
		to = buf_reserve(buf, (size_t)n);
		vsnprintf(to, (size_t)n + 1, fmt, again);
	}
	va_end(again);
	buf->len += (size_t)n;
}

void buf_u32le(struct buf *buf, uint32_t v)
{
	unsigned char byte[4];
	for (int i = 0; i < 4; i++)
		byte[i] = (unsigned char)(v >> 8 * i);
	buf_add(buf, byte, sizeof byte);
}

void buf_u64le(struct buf *buf, uint64_t v)
{
	buf_u32le(buf, (uint32_t)v);
	buf_u32le(buf, (uint32_t)(v >> 32));
}

void buf_tame(struct buf *buf)
{
	for (size_t i = 0; i < buf->len; i++) {
		unsigned char *c = (unsigned char *)buf->data + i;
		if ((*c < ' ' && *c != '\t' && *c != '\n') || *c == 127)
			*c = '?';
		/* U+0080 .. U+009F in UTF-8. */
		else if (*c >= 0x80 && *c < 0xa0 && i > 0 && c[-1] == 0xc2)
			c[-1] = *c = '?';
	}
}

const char *buf_str(const struct buf *buf)
{
	return buf->data ? buf->data : "";
}

char *buf_detach(struct buf *buf)
{
	buf_reserve(buf, 0);
	char *data = buf->data;
	*buf = (struct buf)BUF_INIT;
	return data;
}

uint32_t get_u32le(const void *p)
{
	const unsigned char *byte = p;
	return byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 |
	    (uint32_t)byte[3] << 24;
}

uint64_t get_u64le(const void *p)
{
	return get_u32le(p) | (uint64_t)get_u32le((const char *)p + 4) << 32;
}

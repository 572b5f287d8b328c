#ifndef STBUILD_UTIL_BUF_H
#define STBUILD_UTIL_BUF_H

/*
 * A growing run of bytes. data is always NUL-terminated behind len once
 * something was added, so a text in it is a string. Zeroed is empty.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdarg.h>

struct buf {
	char *data; /* owned; null while nothing was ever added */
	size_t len; /* bytes in use, without the NUL */
	size_t cap; /* bytes allocated */
};

#define BUF_INIT \
	{ \
		NULL, 0, 0 \
	}

void buf_release(struct buf *buf);
/* Empties the buffer, keeping its memory. */
void buf_reset(struct buf *buf);
/* Makes room for n more bytes and the NUL. Returns where they go. */
char *buf_reserve(struct buf *buf, size_t n);
void buf_add(struct buf *buf, const void *data, size_t n);
void buf_addstr(struct buf *buf, const char *s);
void buf_addch(struct buf *buf, char c);
__attribute__((format(printf, 2, 3))) void buf_addf(struct buf *buf, const char *fmt,
    ...);
__attribute__((format(printf, 2, 0))) void buf_vaddf(struct buf *buf, const char *fmt,
    va_list ap);
/* Little-endian integers, as the file formats want them. */
void buf_u32le(struct buf *buf, uint32_t v);
void buf_u64le(struct buf *buf, uint64_t v);
/*
 * Puts '?' for control characters but tabs and line ends: what others wrote
 * must not reach a terminal as commands.
 */
void buf_tame(struct buf *buf);
/* The text, never null; borrowed until the next change. */
const char *buf_str(const struct buf *buf);
/* Hands the memory over; the buffer is empty afterwards. Never null. */
char *buf_detach(struct buf *buf);

uint32_t get_u32le(const void *p);
uint64_t get_u64le(const void *p);

#endif

#include "format/base64.h"

#include <stdint.h>

static const char digit[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(const void *data, size_t n, struct buf *out)
{
	const unsigned char *in = data;
	char *to = buf_reserve(out, n / 3 * 4 + 4);
	size_t used = 0;
	for (size_t i = 0; i < n; i += 3) {
		size_t left = n - i;
		uint32_t v = (uint32_t)in[i] << 16;
		if (left > 1)
			v |= (uint32_t)in[i + 1] << 8;
		if (left > 2)
			v |= in[i + 2];
		to[used++] = digit[v >> 18];
		to[used++] = digit[v >> 12 & 63];
		to[used++] = left > 1 ? digit[v >> 6 & 63] : '=';
		to[used++] = left > 2 ? digit[v & 63] : '=';
	}
	to[used] = '\0';
	out->len += used;
}

/* Digits without the padding; -1 when the length cannot be. */
static long long digits(const char *text, size_t n)
{
	size_t padded = n;
	while (n && text[n - 1] == '=' && padded - n < 2)
		n--;
	if (n % 4 == 1 || (n < padded && padded % 4))
		return -1;
	return (long long)n;
}

long long base64_size(const char *text, size_t n)
{
	long long count = digits(text, n);
	return count < 0 ? -1 : count / 4 * 3 + (count % 4 ? count % 4 - 1 : 0);
}

static int value_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

int base64_decode(const char *text, size_t n, struct buf *out)
{
	signed char table[256];
	long long size = base64_size(text, n), count = digits(text, n);
	if (size < 0)
		return -1;
	for (int c = 0; c < 256; c++)
		table[c] = (signed char)value_of((char)c);
	unsigned char *to = (unsigned char *)buf_reserve(out, (size_t)size + 3);
	uint32_t v = 0;
	int bad = 0, held = 0;
	size_t used = 0;
	for (long long i = 0; i < count; i++) {
		int d = table[(unsigned char)text[i]];
		bad |= d;
		v = v << 6 | ((uint32_t)d & 63);
		held += 6;
		if (held >= 8) {
			held -= 8;
			to[used++] = (unsigned char)(v >> held);
		}
	}
	if (bad < 0) {
		to[0] = '\0';
		return -1;
	}
	out->len += used;
	out->data[out->len] = '\0';
	return 0;
}

#include "util/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

void bug_at(const char *file, int line, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fprintf(stderr, "stbuild: bug at %s:%d: ", file, line);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	abort();
}

/* _Exit: atexit handlers could need the memory that is not there. */
__attribute__((noreturn)) static void out_of_memory(size_t n, size_t size)
{
	fprintf(stderr, "stbuild: out of memory (%zu times %zu bytes)\n", n, size);
	_Exit(3);
}

static size_t multiply(size_t n, size_t size)
{
	if (size && n > PTRDIFF_MAX / size)
		out_of_memory(n, size);
	return n * size;
}

void *xmalloc(size_t size)
{
	return xreallocarray(NULL, size, 1);
}

void *xcalloc(size_t n, size_t size)
{
	size_t total = multiply(n, size);
	void *p = calloc(total ? total : 1, 1);
	if (!p)
		out_of_memory(n, size);
	return p;
}

void *xreallocarray(void *p, size_t n, size_t size)
{
	size_t total = multiply(n, size);
	p = realloc(p, total ? total : 1);
	if (!p)
		out_of_memory(n, size);
	return p;
}

char *xstrdup(const char *s)
{
	return s ? xstrndup(s, strlen(s)) : NULL;
}

char *xstrndup(const char *s, size_t n)
{
	if (n == SIZE_MAX)
		out_of_memory(n, 1);
	char *copy = xmalloc(n + 1);
	if (n)
		memcpy(copy, s, n);
	copy[n] = '\0';
	return copy;
}

void *xmemdup(const void *p, size_t n)
{
	void *copy = xmalloc(n);
	if (n)
		memcpy(copy, p, n);
	return copy;
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		BUG("cannot format '%s'", fmt);
	char *s = xmalloc((size_t)n + 1);
	va_start(ap, fmt);
	vsnprintf(s, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return s;
}

void *array_grow(void *p, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return p;
	size_t grown = *cap < 8 ? 8 : multiply(*cap, 2);
	p = xreallocarray(p, grown, size);
	*cap = grown;
	return p;
}

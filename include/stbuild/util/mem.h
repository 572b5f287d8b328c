#ifndef STBUILD_UTIL_MEM_H
#define STBUILD_UTIL_MEM_H

/*
 * Allocation that cannot fail. When memory is gone, or a size overflows, the
 * process says so on stderr and exits with status 3. Only this module calls
 * malloc; what it returns is freed with free().
 */

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* A broken invariant of ours: says where, and aborts. Never a user's fault. */
#define BUG(...) bug_at(__FILE__, __LINE__, __VA_ARGS__)
__attribute__((noreturn, format(printf, 3, 4))) void bug_at(const char *file, int line,
    const char *fmt, ...);

void *xmalloc(size_t size);
/* n zeroed elements of the given size. */
void *xcalloc(size_t n, size_t size);
/* Grows or shrinks p to n elements; the new ones are not zeroed. */
void *xreallocarray(void *p, size_t n, size_t size);
/* A copy of the string, or null for null. */
char *xstrdup(const char *s);
/* A NUL-terminated copy of the n bytes at s. */
char *xstrndup(const char *s, size_t n);
void *xmemdup(const void *p, size_t n);
__attribute__((format(printf, 1, 2))) char *xasprintf(const char *fmt, ...);

/*
 * Makes room for one more element in a growing array: p holds n elements, *cap
 * is its capacity. Returns the array, perhaps moved. Use it as
 *	a->item = array_grow(a->item, a->nitem, &a->cap, sizeof *a->item);
 */
void *array_grow(void *p, size_t n, size_t *cap, size_t size);

#endif

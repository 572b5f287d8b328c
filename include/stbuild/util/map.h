#ifndef STBUILD_UTIL_MAP_H
#define STBUILD_UTIL_MAP_H

/*
 * A hash map from runs of bytes to numbers (often an array's index). Keys are
 * copied. Insertion order is kept: entry[] can be walked. Zeroed is empty.
 */

#include <stddef.h>
#include <stdint.h>

struct map_entry {
	void *key; /* owned copy, NUL-terminated behind len */
	size_t len;
	size_t value;
	uint64_t hash;
};

struct map {
	struct map_entry *entry; /* in the order of first insertion */
	size_t nentry, cap;
	size_t *slot; /* open addressing; index + 1, 0 empty */
	size_t nslot; /* a power of two */
};

#define MAP_INIT \
	{ \
		NULL, 0, 0, NULL, 0 \
	}
#define MAP_NONE ((size_t)-1)

void map_release(struct map *map);
/* Sets key to value. Returns 1 when the key is new, 0 when it was replaced. */
int map_put(struct map *map, const void *key, size_t len, size_t value);
/* The value, or MAP_NONE. */
size_t map_get(const struct map *map, const void *key, size_t len);
int map_puts(struct map *map, const char *key, size_t value);
size_t map_gets(const struct map *map, const char *key);

#endif

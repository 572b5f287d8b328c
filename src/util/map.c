#include "util/map.h"

#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util/buf.h"
#include "util/mem.h"

static uint64_t seed[2];
static pthread_once_t seed_once = PTHREAD_ONCE_INIT;

/* Unlike from run to run, so that no document can be made to collide. */
static void choose_seed(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	seed[0] = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec;
	seed[1] = (uint64_t)(uintptr_t)&now ^ (uint64_t)getpid() << 48;
}

static uint64_t rotate(uint64_t v, int n)
{
	return v << n | v >> (64 - n);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[0] = rotate(v[0], 32);
	v[2] += v[3];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[2] = rotate(v[2], 32);
}

/* SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF"). */
static uint64_t hash_bytes(const void *data, size_t len)
{
	pthread_once(&seed_once, choose_seed);
	const unsigned char *p = data;
	uint64_t v[4] = {
		seed[0] ^ 0x736f6d6570736575,
		seed[1] ^ 0x646f72616e646f6d,
		seed[0] ^ 0x6c7967656e657261,
		seed[1] ^ 0x7465646279746573,
	};
	for (size_t n = len / 8; n; n--, p += 8) {
		uint64_t word = get_u64le(p);
		v[3] ^= word;
		sip_round(v);
		v[0] ^= word;
	}
	uint64_t last = (uint64_t)len << 56;
	for (size_t i = 0; i < len % 8; i++)
		last |= (uint64_t)p[i] << 8 * i;
	v[3] ^= last;
	sip_round(v);
	v[0] ^= last;
	v[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

void map_release(struct map *map)
{
	if (!map)
		return;
	for (size_t i = 0; i < map->nentry; i++)
		free(map->entry[i].key);
	free(map->entry);
	free(map->slot);
	*map = (struct map)MAP_INIT;
}

/* The slot that holds the key, or the empty one where it belongs. */
static size_t find_slot(const struct map *map, const void *key, size_t len, uint64_t hash)
{
	size_t mask = map->nslot - 1;
	size_t i = (size_t)hash & mask;
	for (; map->slot[i]; i = (i + 1) & mask) {
		const struct map_entry *e = &map->entry[map->slot[i] - 1];
		if (e->hash == hash && e->len == len &&
		    (!len || memcmp(e->key, key, len) == 0))
			break;
	}
	return i;
}

static void grow_slots(struct map *map)
{
	size_t nslot = map->nslot ? map->nslot * 2 : 16;
	free(map->slot);
	map->slot = xcalloc(nslot, sizeof *map->slot);
	map->nslot = nslot;
	for (size_t i = 0; i < map->nentry; i++) {
		size_t j = (size_t)map->entry[i].hash & (nslot - 1);
		while (map->slot[j])
			j = (j + 1) & (nslot - 1);
		map->slot[j] = i + 1;
	}
}

int map_put(struct map *map, const void *key, size_t len, size_t value)
{
	if (map->nentry >= map->nslot / 2)
		grow_slots(map);
	uint64_t hash = hash_bytes(key, len);
	size_t slot = find_slot(map, key, len, hash);
	if (map->slot[slot]) {
		map->entry[map->slot[slot] - 1].value = value;
		return 0;
	}
	map->entry = array_grow(map->entry, map->nentry, &map->cap, sizeof *map->entry);
	map->entry[map->nentry++] = (struct map_entry){
		xstrndup(key, len),
		len,
		value,
		hash,
	};
	map->slot[slot] = map->nentry;
	return 1;
}

size_t map_get(const struct map *map, const void *key, size_t len)
{
	if (!map->nentry)
		return MAP_NONE;
	size_t slot = find_slot(map, key, len, hash_bytes(key, len));
	return map->slot[slot] ? map->entry[map->slot[slot] - 1].value : MAP_NONE;
}

int map_puts(struct map *map, const char *key, size_t value)
{
	return map_put(map, key, strlen(key), value);
}

size_t map_gets(const struct map *map, const char *key)
{
	return map_get(map, key, strlen(key));
}

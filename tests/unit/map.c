#include "util/map.h"
#include "util/mem.h"
#include "test.h"

static void holds_many(void)
{
	struct map map = MAP_INIT;
	char key[32];
	CHECK_INT(map_gets(&map, "absent"), MAP_NONE);
	int is_new = 0, is_found = 0;
	for (size_t i = 0; i < 5000; i++) {
		sprintf(key, "key %zu", i);
		is_new += map_puts(&map, key, i * 3);
	}
	CHECK_INT(is_new, 5000);
	for (size_t i = 0; i < 5000; i++) {
		sprintf(key, "key %zu", i);
		is_found +=
		    map_gets(&map, key) == i * 3 && strcmp(map.entry[i].key, key) == 0;
	}
	CHECK_INT(is_found, 5000);
	CHECK_INT(map_gets(&map, "key 5000"), MAP_NONE);
	CHECK_INT(map_puts(&map, "key 17", 1), 0);
	CHECK_INT(map_gets(&map, "key 17"), 1);
	CHECK_INT(map.nentry, 5000);
	map_release(&map);
	CHECK_INT(map_gets(&map, "key 17"), MAP_NONE);
}

/* Keys are bytes: every length around the hash's words, NULs within. */
static void keys_are_bytes(void)
{
	struct map map = MAP_INIT;
	static const char zeros[40];
	for (size_t len = 0; len < sizeof zeros; len++)
		CHECK_INT(map_put(&map, zeros, len, len), 1);
	for (size_t len = 0; len < sizeof zeros; len++)
		CHECK_INT(map_get(&map, zeros, len), len);
	CHECK_INT(map_put(&map, NULL, 0, 99), 0);
	CHECK_INT(map_get(&map, NULL, 0), 99);
	CHECK_INT(map_put(&map, "a\0b", 3, 1), 1);
	CHECK_INT(map_put(&map, "a\0c", 3, 2), 1);
	CHECK_INT(map_get(&map, "a\0b", 3), 1);
	map_release(&map);
}

int main(void)
{
	holds_many();
	keys_are_bytes();
	return test_done();
}

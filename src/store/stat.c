#include "store/db.h"

#include <string.h>
#include <time.h>

#include "util/mem.h"

/*
 * Clocks of file systems are coarse: a file may change twice under one stamp.
 * So a hash counts only when the stamp had been left alone for this long.
 */
#define YOUNG_NS INT64_C(2000000000)

static int64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int is_old(int64_t stamp_ns, int64_t now)
{
	return stamp_ns < now && now - stamp_ns >= YOUNG_NS;
}

/* The row of the stamp's file, from memory or the database; or null. */
static struct stat_row *find(struct store *s, const struct fs_stamp *stamp)
{
	uint64_t key[2] = { stamp->dev, stamp->ino };
	size_t i = map_get(&s->stat_index, key, sizeof key);
	if (i != MAP_NONE)
		return &s->stat[i];
	sqlite3_stmt *stmt;
	if (!sql_get(s, SQL_STAT_GET, &stmt, "uu", stamp->dev, stamp->ino))
		return NULL;
	struct stat_row r = {
		.stamp = { stamp->dev, stamp->ino, column_u64(stmt, 0),
		    sqlite3_column_int64(stmt, 1), sqlite3_column_int64(stmt, 2) },
		.is_trusted = sqlite3_column_int(stmt, 4),
		.hashed_ns = sqlite3_column_int64(stmt, 5),
		.is_written = 1,
	};
	int is_sound = !column_sha(stmt, 3, &r.sha);
	sql_end(stmt);
	if (!is_sound)
		return NULL;
	map_put(&s->stat_index, key, sizeof key, s->nstat);
	s->stat = array_grow(s->stat, s->nstat, &s->stat_cap, sizeof *s->stat);
	s->stat[s->nstat] = r;
	return &s->stat[s->nstat++];
}

static int cache_get(void *data, const struct fs_stamp *stamp, struct sha256 *out)
{
	const struct stat_row *r = find(data, stamp);
	if (!r || !r->is_trusted || !fs_stamp_equal(&r->stamp, stamp))
		return -1;
	*out = r->sha;
	return 0;
}

static void cache_put(void *data, const struct fs_stamp *stamp, const struct sha256 *sha)
{
	struct store *s = data;
	int64_t now = now_ns();
	struct stat_row *r = find(s, stamp);
	int is_trusted = is_old(stamp->mtime_ns, now) && is_old(stamp->ctime_ns, now);
	/* A stamp from a clock ahead of ours never ages; its bytes may. */
	if (r && fs_stamp_equal(&r->stamp, stamp) && sha256_equal(&r->sha, sha) &&
	    is_old(r->hashed_ns, now))
		is_trusted = 1;
	if (!r) {
		uint64_t key[2] = { stamp->dev, stamp->ino };
		map_put(&s->stat_index, key, sizeof key, s->nstat);
		s->stat = array_grow(s->stat, s->nstat, &s->stat_cap, sizeof *s->stat);
		r = &s->stat[s->nstat++];
	}
	*r = (struct stat_row){ .stamp = *stamp,
		.sha = *sha,
		.is_trusted = is_trusted,
		.hashed_ns = now };
}

const struct tree_cache *store_stat_cache(struct store *s)
{
	s->cache = (struct tree_cache){ cache_get, cache_put, s };
	return &s->cache;
}

int stat_is_pending(const struct store *s)
{
	for (size_t i = 0; i < s->nstat; i++)
		if (!s->stat[i].is_written)
			return 1;
	return 0;
}

int stat_flush(struct store *s, struct err *err)
{
	for (size_t i = 0; i < s->nstat; i++) {
		const struct stat_row *r = &s->stat[i];
		if (!r->is_written &&
		    sql_run(s, SQL_STAT_ADD, err, "uuunnhin", r->stamp.dev, r->stamp.ino,
			r->stamp.size, r->stamp.mtime_ns, r->stamp.ctime_ns, &r->sha,
			r->is_trusted, r->hashed_ns) < 0)
			return -1;
	}
	return 0;
}

void stat_committed(struct store *s)
{
	for (size_t i = 0; i < s->nstat; i++)
		s->stat[i].is_written = 1;
}

int store_blob(struct store *s, const unsigned char oid[20], struct sha256 *out)
{
	sqlite3_stmt *stmt;
	if (!sql_get(s, SQL_BLOB_GET, &stmt, "b", oid, (size_t)20))
		return 0;
	int is_sound = !column_sha(stmt, 0, out);
	sql_end(stmt);
	return is_sound;
}

int store_add_blob(struct store *s, const unsigned char oid[20], const struct sha256 *sha,
    struct err *err)
{
	return sql_run(s, SQL_BLOB_ADD, err, "bhn", oid, (size_t)20, sha, store_now());
}

#include "store/gc.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/db.h"
#include "util/folder.h"
#include "util/mem.h"
#include "util/proc.h"

#define RUN_AGE (30 * (int64_t)STORE_DAY)  /* of records of null runs */
#define BATCH 256                          /* LIMIT of OBJECT_OLDEST */
#define ROW_AGE (180 * (int64_t)STORE_DAY) /* of rows nothing refers to */

struct victim {
	int64_t id;
	struct sha256 sha;
	uint64_t size;
	int64_t used;
};

struct gc {
	struct store *s;
	const struct gc_options *o;
	struct gc_result *r;
	long long deadline_ns; /* 0: none */
};

static int is_late(const struct gc *g)
{
	return g->deadline_ns && proc_now_ns() >= g->deadline_ns;
}

/* SQLite asks this now and then; non-0 ends the statement. */
static int on_progress(void *data)
{
	return is_late(data);
}

/* The objects used longest ago, behind the one given. How many, or -1. */
static int next_batch(struct gc *g, struct victim v[BATCH], int64_t used, int64_t id,
    struct err *err)
{
	sqlite3_stmt *stmt;
	int n = 0;
	int rc = sql_row(g->s, SQL_OBJECT_OLDEST, &stmt, err, "nn", used, id);
	while (rc > 0) {
		v[n].id = sqlite3_column_int64(stmt, 0);
		/* A name that is none cannot have a file. */
		if (column_sha(stmt, 1, &v[n].sha) < 0)
			memset(&v[n].sha, 0, sizeof v[n].sha);
		v[n].size = column_u64(stmt, 2);
		v[n].used = sqlite3_column_int64(stmt, 3);
		n++;
		rc = sql_next(g->s, SQL_OBJECT_OLDEST, stmt, err);
	}
	sql_end(stmt);
	return rc < 0 ? -1 : n;
}

/*
 * After its row: killed in between, gc leaves a file that no row names, which
 * is no damage and goes at the next one.
 */
static int drop_file(struct gc *g, const struct victim *v, struct err *err)
{
	char *path = object_path(g->s, &v->sha);
	int rc = 0;
	if (unlink(path) < 0 && errno != ENOENT)
		rc = err_errno(err, STATUS_MACHINE, "cannot remove '%s'", path);
	free(path);
	return rc;
}

/* Removes by age and size, oldest first, a transaction a batch. */
static int remove_old(struct gc *g, struct err *err)
{
	const struct gc_options *o = g->o;
	struct gc_result *r = g->r;
	struct victim v[BATCH] = { { 0 } }, gone[BATCH];
	int64_t used = INT64_MIN, id = INT64_MIN;
	double oldest = (double)store_now() - o->max_age_s;
	for (;;) {
		int n = next_batch(g, v, used, id, err);
		if (n <= 0)
			return n;
		if (!o->dry_run && store_begin(g->s, err) < 0)
			return -1;
		int i, is_done = 0, rc = 0, ngone = 0;
		for (i = 0; i < n && !rc && !is_done; i++) {
			is_done = !(o->max_bytes && r->kept_bytes > o->max_bytes) &&
			    !(o->max_age_s > 0 && (double)v[i].used < oldest);
			if (!is_done && is_late(g)) {
				r->is_complete = 0;
				is_done = 1;
			}
			if (is_done || (o->is_kept && o->is_kept(o->data, &v[i].sha)))
				continue;
			if (!o->dry_run)
				rc = sql_run(g->s, SQL_OBJECT_REMOVE, err, "n", v[i].id);
			if (rc < 0)
				break;
			gone[ngone++] = v[i];
			r->nremoved++;
			r->removed_bytes += v[i].size;
			r->nkept--;
			r->kept_bytes -= v[i].size;
		}
		if (rc < 0) {
			store_rollback(g->s);
			return -1;
		}
		if (!o->dry_run && store_commit(g->s, err) < 0)
			return -1;
		for (int k = 0; k < ngone && !o->dry_run; k++)
			if (drop_file(g, &gone[k], err) < 0)
				return -1;
		if (is_done)
			return 0;
		used = v[n - 1].used;
		id = v[n - 1].id;
	}
}

/* object.c's "PID-N", and the files that upgrades and repairs begin with. */
static int is_leftover(const char *name)
{
	size_t npid = strspn(name, "0123456789");
	if (npid && name[npid] == '-') {
		const char *n = name + npid + 1;
		return *n && !n[strspn(n, "0123456789")];
	}
	return strncmp(name, "upgrade-v", 9) == 0 || strncmp(name, "repair", 6) == 0;
}

/*
 * Removes what killed processes left: nobody else has the store now. Only our
 * own names: a store's folder may be a link to a folder with another use.
 */
static int empty_tmp(struct gc *g, struct err *err)
{
	char *path = fs_join(g->s->dir, "tmp");
	DIR *dir = opendir(path);
	const struct dirent *d;
	int rc = 0;
	while (dir && !rc && (d = readdir(dir))) {
		if (g->o->dry_run || !is_leftover(d->d_name))
			continue;
		char *name = fs_join(path, d->d_name);
		if (unlink(name) < 0 && errno != ENOENT && errno != EISDIR &&
		    errno != EPERM)
			rc = err_errno(err, STATUS_MACHINE, "cannot remove '%s'", name);
		free(name);
	}
	if (dir)
		closedir(dir);
	free(path);
	return rc;
}

/* Records of null runs that nobody has renewed for long. */
static void remove_runs(struct gc *g)
{
	char *path = fs_join(g->s->dir, "runs");
	DIR *dir = opendir(path);
	int64_t age = g->o->max_age_s > 0 && g->o->max_age_s < RUN_AGE
	    ? (int64_t)g->o->max_age_s
	    : RUN_AGE;
	for (const struct dirent *d; dir && (d = readdir(dir));) {
		struct sha256 sha;
		struct stat st;
		char *name = fs_join(path, d->d_name);
		/* A lost record only costs a longer run. */
		if (!sha256_parse(d->d_name, &sha) && !lstat(name, &st) &&
		    (int64_t)st.st_mtime < store_now() - age)
			unlink(name);
		free(name);
	}
	if (dir)
		closedir(dir);
	folder_clean(path);
	free(path);
}

static int is_recorded(struct gc *g, const struct sha256 *sha, struct err *err)
{
	sqlite3_stmt *stmt;
	int rc = sql_row(g->s, SQL_OBJECT_GET, &stmt, err, "h", sha);
	sql_end(stmt);
	return rc;
}

static int drop_orphan(void *data, const char *path, const struct sha256 *sha,
    uint64_t size, struct err *err)
{
	struct gc *g = data;
	if (is_late(g)) {
		g->r->is_complete = 0;
		return 1;
	}
	int rc = is_recorded(g, sha, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	if (g->o->is_kept && g->o->is_kept(g->o->data, sha))
		return 0;
	g->r->nremoved++;
	g->r->removed_bytes += size;
	return g->o->dry_run ? 0 : fs_remove(path, err);
}

/*
 * What takes a look at everything: object files without a row, and rows that
 * nothing led to for long. Once a day is enough; a run without a time limit
 * was asked for, and looks.
 */
static int sweep(struct gc *g, struct err *err)
{
	static const enum sql statement[] = { SQL_NODE_SWEEP, SQL_ALIAS_SWEEP,
		SQL_COST_SWEEP, SQL_PROGRAM_SWEEP, SQL_BLOB_SWEEP, SQL_MEMO_SWEEP,
		SQL_STAT_SWEEP };
	sqlite3_stmt *stmt;
	int64_t now = store_now(), age = ROW_AGE, swept = 0;
	int rc = sql_row(g->s, SQL_SWEPT_GET, &stmt, err, "");
	if (rc > 0)
		swept = sqlite3_column_int64(stmt, 0);
	sql_end(stmt);
	if (rc < 0)
		return -1;
	rc = 0;
	if (g->deadline_ns && swept > now - STORE_DAY && swept <= now)
		return 0;
	if (is_late(g)) {
		g->r->is_complete = 0;
		return 0;
	}
	if (objects_walk(g->s, drop_orphan, g, err) < 0)
		return -1;
	if (g->o->dry_run)
		return 0;
	remove_runs(g);
	/* Set also when time runs out: it does not get less by trying again. */
	if (sql_run(g->s, SQL_SWEPT_SET, err, "n", now) < 0)
		return -1;
	if (g->o->max_age_s > (double)age)
		age = g->o->max_age_s < 1e9 ? (int64_t)g->o->max_age_s : now;
	sqlite3_progress_handler(g->s->db, 10000, on_progress, g);
	for (size_t i = 0; i < sizeof statement / sizeof *statement && !rc; i++) {
		/* The stat table counts in nanoseconds. */
		int64_t before = now - age;
		if (statement[i] == SQL_STAT_SWEEP)
			before *= 1000000000;
		rc = sql_run(g->s, statement[i], err, "n", before);
	}
	sqlite3_progress_handler(g->s->db, 0, NULL, NULL);
	if (rc < 0 && is_late(g)) {
		err_release(err);
		g->r->is_complete = 0;
		rc = 0;
	}
	return rc;
}

static int total(struct store *s, uint64_t *n, uint64_t *bytes, struct err *err)
{
	sqlite3_stmt *stmt;
	int rc = sql_row(s, SQL_OBJECT_TOTAL, &stmt, err, "");
	*n = *bytes = 0;
	if (rc > 0) {
		*n = column_u64(stmt, 0);
		*bytes = column_u64(stmt, 1);
	}
	sql_end(stmt);
	return rc < 0 ? -1 : 0;
}

int gc_size(struct store *s, uint64_t *out, struct err *err)
{
	uint64_t n;
	return total(s, &n, out, err);
}

int gc_run(struct store *s, const struct gc_options *options, struct gc_result *out,
    struct err *err)
{
	*out = (struct gc_result){ .is_complete = 1 };
	struct gc g = { s, options, out, 0 };
	if (s->is_damaged)
		return err_set(err, STATUS_MACHINE,
		    "database '%s' is damaged;"
		    " run 'stbuild fsck --repair' first",
		    s->db_path);
	if (!s->db)
		return 0;
	if (!options->dry_run && s->mode != STORE_EXCLUSIVE &&
	    s->mode != STORE_TRY_EXCLUSIVE)
		BUG("gc_run on a store that is not open exclusively");
	if (options->time_limit_s > 0)
		g.deadline_ns = proc_now_ns() + (long long)(options->time_limit_s * 1e9);
	if (total(s, &out->nkept, &out->kept_bytes, err) < 0 || empty_tmp(&g, err) < 0 ||
	    remove_old(&g, err) < 0 || sweep(&g, err) < 0)
		return err_wrap(err, "while collecting garbage in '%s'", s->dir);
	/* What is free goes back to the file system when it was asked for. */
	if (!g.deadline_ns && !options->dry_run)
		return sql_exec(s, "PRAGMA incremental_vacuum", err);
	return 0;
}

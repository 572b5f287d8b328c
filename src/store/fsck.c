#include "store/gc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/db.h"
#include "util/buf.h"
#include "util/limits.h"
#include "util/log.h"
#include "util/mem.h"

#define READ_IN_DOUBT (64u << 20) /* of an object whose row has another size */

struct fsck {
	struct store *s;
	int repair;
	struct fsck_result *r;
	int has_rows;    /* the database can be asked */
	struct map torn; /* their hashes */
	struct map gone; /* files to remove once the rows are gone */
};

/* Adds the findings of a pragma: its rows, but for a single "ok". */
static void count_findings(struct fsck *f, const char *text)
{
	sqlite3_stmt *stmt = NULL;
	int code = sqlite3_prepare_v2(f->s->db, text, -1, &stmt, NULL);
	if (code == SQLITE_OK)
		while ((code = sqlite3_step(stmt)) == SQLITE_ROW) {
			const char *what = (const char *)sqlite3_column_text(stmt, 0);
			if (what && strcmp(what, "ok") == 0)
				continue;
			log_verbose("%s: %s", f->s->db_path, what ? what : "damaged");
			f->r->nbad_row++;
		}
	/* What cannot even be asked is one finding. */
	if (code != SQLITE_DONE)
		f->r->nbad_row++;
	sqlite3_finalize(stmt);
}

/*
 * Copies the rows of a table that can be read, from both ends: damage in the
 * middle stops either walk.
 */
static int salvage(sqlite3 *from, struct store *to, const char *table, const char *order,
    struct err *err)
{
	sqlite3_stmt *stmt;
	int rc = sql_row(to, SQL_COLUMNS, &stmt, err, "t", table);
	if (rc <= 0)
		return rc;
	char *columns = column_text(stmt, 0);
	sql_end(stmt);
	rc = 0;
	for (int is_back = 0; is_back < 2 && !rc; is_back++) {
		char *get = xasprintf("SELECT %s FROM %s ORDER BY %s %s", columns, table,
		    order, is_back ? "DESC" : "ASC");
		sqlite3_stmt *in = NULL, *out = NULL;
		if (sqlite3_prepare_v2(from, get, -1, &in, NULL) == SQLITE_OK) {
			int n = sqlite3_column_count(in);
			struct buf put = BUF_INIT;
			buf_addf(&put, "INSERT OR IGNORE INTO %s (%s) VALUES (?", table,
			    columns);
			for (int i = 1; i < n; i++)
				buf_addstr(&put, ", ?");
			buf_addch(&put, ')');
			int code = sqlite3_prepare_v2(to->db, put.data, -1, &out, NULL);
			if (code != SQLITE_OK)
				rc = sql_failed(to, code, put.data, err);
			buf_release(&put);
			while (!rc && sqlite3_step(in) == SQLITE_ROW) {
				for (int i = 0; i < n; i++)
					sqlite3_bind_value(out, i + 1,
					    sqlite3_column_value(in, i));
				code = sqlite3_step(out);
				sqlite3_reset(out);
				/* A row that breaks a rule is a damaged one. */
				if (code != SQLITE_DONE &&
				    (code & 0xff) != SQLITE_CONSTRAINT)
					rc = sql_failed(to, code, table, err);
			}
		}
		sqlite3_finalize(in);
		sqlite3_finalize(out);
		free(get);
	}
	free(columns);
	return rc;
}

static void remove_with_log(const char *path)
{
	static const char *const end[] = { "", "-wal", "-shm", "-journal" };
	for (int i = 0; i < 4; i++) {
		char *name = xasprintf("%s%s", path, end[i]);
		unlink(name);
		free(name);
	}
}

/* Puts a new database in the place of the damaged one. */
static int rebuild(struct store *s, struct err *err)
{
	char *path = fs_join(s->dir, "tmp/repair");
	char *aside = xasprintf("%s.damaged", s->db_path);
	struct store fresh = { .dir = s->dir,
		.db_path = path,
		.mode = STORE_EXCLUSIVE,
		.lock_fd = -1 };
	sqlite3 *old = s->db;
	int rc = -1;
	remove_with_log(path);
	if (db_connect(&fresh, err) < 0 ||
	    schema_apply(&fresh, schema_upgrade, schema_version, err) < 0 ||
	    sql_exec(&fresh, "BEGIN", err) < 0)
		goto out;
	if (old &&
	    (salvage(old, &fresh, "history", "id", err) < 0 ||
		salvage(old, &fresh, "bundle", "path", err) < 0))
		goto out;
	if (sql_exec(&fresh, "COMMIT", err) < 0)
		goto out;
	/* Closing moves everything from the log into the file. */
	db_disconnect(&fresh);
	db_disconnect(s);
	remove_with_log(aside);
	if (rename(s->db_path, aside) < 0) {
		err_errno(err, STATUS_MACHINE, "cannot write '%s'", aside);
		goto out;
	}
	/* A log of the old database would be taken for the new one's. */
	remove_with_log(s->db_path);
	if (rename(path, s->db_path) < 0) {
		err_errno(err, STATUS_MACHINE, "cannot write '%s'", s->db_path);
		goto out;
	}
	s->is_damaged = 0;
	log_warn("the damaged database is kept as '%s'", aside);
	rc = db_connect(s, err);
out:
	db_disconnect(&fresh);
	remove_with_log(path);
	free(path);
	free(aside);
	return rc < 0 ? err_wrap(err, "while repairing the database") : 0;
}

static int remove_file(const char *path, struct err *err)
{
	if (unlink(path) < 0 && errno != ENOENT)
		return err_errno(err, STATUS_MACHINE, "cannot remove '%s'", path);
	return 0;
}

static int check_file(void *data, const char *path, const struct sha256 *sha,
    uint64_t size, struct err *err)
{
	struct fsck *f = data;
	struct err unread = ERR_INIT;
	struct sha256 got;
	sqlite3_stmt *stmt;
	int64_t id = 0;
	uint64_t recorded = size;
	f->r->nobject++;
	if (f->has_rows) {
		int rc = sql_row(f->s, SQL_OBJECT_GET, &stmt, err, "h", sha);
		if (rc < 0)
			return -1;
		if (rc) {
			id = sqlite3_column_int64(stmt, 0);
			recorded = column_u64(stmt, 1);
		}
		sql_end(stmt);
	}
	/*
	 * A row may be wrong and its file whole, but a large one is not read for
	 * that: a sparse file without end costs nothing to make.
	 */
	int is_torn = size > LIMIT_ARTIFACT_BYTES ||
	    (size != recorded && size > READ_IN_DOUBT) ||
	    fs_hash(path, &got, NULL, &unread) < 0 || !sha256_equal(&got, sha);
	if (is_torn) {
		f->r->ntorn++;
		log_verbose("'%s' is damaged%s%s", path, unread.message ? ": " : "",
		    unread.message ? unread.message : "");
		map_put(&f->torn, sha->byte, SHA256_SIZE, 0);
	} else if (f->has_rows && !id) {
		f->r->norphan++;
	}
	err_release(&unread);
	if (!f->has_rows)
		return 0;
	if (!f->repair || (!is_torn && id))
		return 0;
	map_puts(&f->gone, path, 1);
	return id ? sql_run(f->s, SQL_OBJECT_REMOVE, err, "n", id) : 0;
}

/* Every row of objects has its file, of its size. */
static int check_rows(struct fsck *f, struct err *err)
{
	sqlite3_stmt *stmt;
	if (sql_open(f->s, SQL_OBJECT_ALL, &stmt, err, "") < 0)
		return -1;
	int rc;
	while ((rc = sql_next(f->s, SQL_OBJECT_ALL, stmt, err)) > 0) {
		int64_t id = sqlite3_column_int64(stmt, 0);
		struct sha256 sha;
		struct stat st;
		if (column_sha(stmt, 1, &sha) < 0) {
			f->r->nbad_row++;
		} else {
			char *path = object_path(f->s, &sha);
			int is_there = !lstat(path, &st) && S_ISREG(st.st_mode);
			free(path);
			/* A torn file's size is not the row's fault. */
			if (is_there &&
			    ((uint64_t)st.st_size == column_u64(stmt, 2) ||
				map_get(&f->torn, sha.byte, SHA256_SIZE) != MAP_NONE))
				continue;
			if (is_there)
				f->r->nbad_row++;
			else
				f->r->nmissing++;
		}
		if (f->repair && sql_run(f->s, SQL_OBJECT_REMOVE, err, "n", id) < 0) {
			rc = -1;
			break;
		}
	}
	sqlite3_finalize(stmt);
	return rc;
}

/* Rows that do not say what was written there. */
static int check_sums(struct fsck *f, struct err *err)
{
	static const struct {
		const char *table, *sum, *where;
	} list[] = {
		/* Rows that lead nowhere are counted by foreign_key_check. */
		{ "product", SUM_PRODUCT, " AND object IN (SELECT id FROM object)" },
		{ "node", SUM_NODE, "" },
		{ "alias", SUM_ALIAS, "" },
		{ "program", SUM_PROGRAM, "" },
		{ "driver", SUM_DRIVER, "" },
		{ "stat", SUM_STAT, "" },
		{ "blob", SUM_BLOB, "" },
		{ "memo", SUM_MEMO, "" },
		{ "bundle", SUM_BUNDLE, "" },
	};
	int rc = 0;
	for (size_t i = 0; i < sizeof list / sizeof *list && !rc; i++) {
		char *where = xasprintf("FROM %s WHERE sum <> %s%s", list[i].table,
		    list[i].sum, list[i].where);
		char *count = xasprintf("SELECT count(*) %s", where);
		char *drop = xasprintf("DELETE %s", where);
		int64_t n = 0;
		rc = sql_number(f->s, count, &n, err);
		if (!rc && n)
			log_verbose("%s: %lld rows of '%s' are not as they were"
				    " written",
			    f->s->db_path, (long long)n, list[i].table);
		f->r->nbad_row += (uint64_t)n;
		if (!rc && n && f->repair)
			rc = sql_exec(f->s, drop, err);
		free(where);
		free(count);
		free(drop);
	}
	return rc;
}

static int check_bundles(struct fsck *f, struct err *err)
{
	sqlite3_stmt *stmt;
	if (sql_open(f->s, SQL_BUNDLE_ALL, &stmt, err, "") < 0)
		return -1;
	int rc;
	while ((rc = sql_next(f->s, SQL_BUNDLE_ALL, stmt, err)) > 0) {
		const void *file = sqlite3_column_blob(stmt, 8);
		if (!bundle_files_check(file, (size_t)sqlite3_column_bytes(stmt, 8)))
			continue;
		f->r->nbad_row++;
		char *path = column_text(stmt, 0);
		int failed = f->repair && store_remove_bundle(f->s, path, err) < 0;
		free(path);
		if (failed) {
			rc = -1;
			break;
		}
	}
	sqlite3_finalize(stmt);
	return rc;
}

static int check_all(struct fsck *f, struct err *err)
{
	if (objects_walk(f->s, check_file, f, err) < 0)
		return -1;
	if (!f->has_rows)
		return 0;
	if (check_sums(f, err) < 0 || check_rows(f, err) < 0 || check_bundles(f, err) < 0)
		return -1;
	if (!f->repair)
		return 0;
	return sql_run(f->s, SQL_PRODUCT_LOST, err, "") < 0 ||
		sql_run(f->s, SQL_CONTENT_LOST, err, "") < 0
	    ? -1
	    : 0;
}

int fsck_run(struct store *s, int repair, struct fsck_result *out, struct err *err)
{
	struct fsck f = { .s = s, .repair = repair, .r = out };
	int rc = -1;
	*out = (struct fsck_result){ 0 };
	if (repair && s->mode != STORE_EXCLUSIVE && s->mode != STORE_TRY_EXCLUSIVE)
		BUG("fsck_run repairs a store that is not open exclusively");
	if (!s->db && !s->is_damaged)
		return 0;
	if (s->db)
		count_findings(&f, "PRAGMA integrity_check");
	else
		out->nbad_row = 1;
	f.has_rows = !out->nbad_row;
	if (!f.has_rows && repair) {
		if (rebuild(s, err) < 0)
			goto out;
		f.has_rows = 1;
	}
	if (f.has_rows)
		count_findings(&f, "PRAGMA foreign_key_check");
	if (!repair) {
		rc = check_all(&f, err);
		goto out;
	}
	if (store_begin(s, err) < 0)
		goto out;
	rc = check_all(&f, err);
	if (rc < 0)
		store_rollback(s);
	else
		rc = store_commit(s, err);
	/* Killed before this, it leaves files that no row names: no damage. */
	for (size_t i = 0; i < f.gone.nentry && rc == 0; i++)
		rc = remove_file(f.gone.entry[i].key, err);
out:
	map_release(&f.torn);
	map_release(&f.gone);
	return rc < 0 ? err_wrap(err, "while checking the store '%s'", s->dir) : 0;
}

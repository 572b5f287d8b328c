#include "store/db.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "util/buf.h"
#include "util/log.h"
#include "util/mem.h"

int64_t store_now(void)
{
	return (int64_t)time(NULL);
}

static int connect_to(struct store *s, const char *name, int flags, struct err *err)
{
	int code = sqlite3_open_v2(name, &s->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
	if (code != SQLITE_OK)
		return s->db ? sql_failed(s, code, "open", err)
			     : err_set(err, STATUS_MACHINE, "database '%s': %s",
				   s->db_path, sqlite3_errstr(code));
	return schema_connect(s, err);
}

int db_connect(struct store *s, struct err *err)
{
	return connect_to(s, s->db_path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err);
}

void db_disconnect(struct store *s)
{
	sql_close_all(s);
	sqlite3_close(s->db);
	s->db = NULL;
}

#define READ_BYTES (64 << 20) /* of a database that is read whole */

/* 1 when nothing stands in the log: all is in the database itself. */
static int has_no_log(const struct store *s)
{
	char *wal = xasprintf("%s-wal", s->db_path);
	struct stat st;
	int has_none = lstat(wal, &st) < 0 || !S_ISREG(st.st_mode) || !st.st_size;
	free(wal);
	return has_none;
}

/*
 * Reads the database into memory: 1, or 0 when that cannot be done here. To
 * open a file in WAL mode SQLite writes beside it, which who only looks must
 * not, nor can in a folder of somebody else's. Nobody has written meanwhile
 * when there is no log before and after, and the stamps are the same.
 */
static int open_copy(struct store *s, struct err *err)
{
	struct fs_stamp before, after;
	struct buf bytes = BUF_INIT;
	int ok = has_no_log(s) && !fs_stamp(s->db_path, &before) &&
	    before.size <= READ_BYTES && before.size > 100 &&
	    !fs_read(s->db_path, READ_BYTES, &bytes, err) && has_no_log(s) &&
	    !fs_stamp(s->db_path, &after) && fs_stamp_equal(&before, &after);
	err_release(err);
	unsigned char *data = ok ? sqlite3_malloc64(bytes.len) : NULL;
	if (data) {
		memcpy(data, bytes.data, bytes.len);
		/* Versions of reading and writing (fileformat2): no WAL in memory. */
		if (data[18] == 2 && data[19] == 2)
			data[18] = data[19] = 1;
		ok = sqlite3_open_v2(":memory:", &s->db,
			 SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK;
		/* The bytes are SQLite's from here on, also when it fails. */
		if (!ok)
			sqlite3_free(data);
		else
			ok = sqlite3_deserialize(s->db, "main", data,
				 (sqlite3_int64)bytes.len, (sqlite3_int64)bytes.len,
				 SQLITE_DESERIALIZE_FREEONCLOSE |
				     SQLITE_DESERIALIZE_READONLY) == SQLITE_OK &&
			    schema_connect(s, err) == 0;
	}
	buf_release(&bytes);
	err_release(err);
	if (data && ok)
		return 1;
	db_disconnect(s);
	return 0;
}

/* Somebody's log in a folder that is not ours to write to cannot be read. */
static int is_out_of_reach(const struct store *s)
{
	int code = s->db ? sqlite3_errcode(s->db) & 0xff : SQLITE_OK;
	return (code == SQLITE_CANTOPEN || code == SQLITE_READONLY) &&
	    access(s->dir, W_OK) < 0;
}

static int open_read(struct store *s, struct err *err)
{
	enum schema_state state;
	int rc =
	    open_copy(s, err) ? 0 : connect_to(s, s->db_path, SQLITE_OPEN_READWRITE, err);
	if (!rc)
		rc = schema_check(s, schema_version, &state, NULL, err);
	if (rc < 0 && is_out_of_reach(s)) {
		log_info("stbuild: the store '%s' has a log of an unfinished run,"
			 " which cannot be read where nothing may be written; it"
			 " reads as empty",
		    s->dir);
		err_release(err);
		db_disconnect(s);
		return 0;
	}
	if (rc < 0)
		return -1;
	if (state == SCHEMA_OLD)
		log_info("stbuild: the store '%s' is of an older stbuild and reads as"
			 " empty until the next capture upgrades it",
		    s->dir);
	if (state != SCHEMA_CURRENT) {
		db_disconnect(s);
		return 0;
	}
	return sql_exec(s, "PRAGMA query_only = ON", err);
}

static int create_folders(struct store *s, struct err *err)
{
	static const char *const name[] = { "objects", "tmp" };
	int rc = 0;
	for (size_t i = 0; i < 2 && !rc; i++) {
		char *path = fs_join(s->dir, name[i]);
		rc = fs_mkdirs(path, err);
		free(path);
	}
	char *path = fs_join(s->dir, ".gitignore");
	if (!rc && !fs_exists(path))
		rc = fs_write(path, "*\n", 2, 0, err);
	free(path);
	return rc;
}

static int is_same_file(int fd, const char *path)
{
	struct stat open, there;
	return !fstat(fd, &open) && !stat(path, &there) && open.st_dev == there.st_dev &&
	    open.st_ino == there.st_ino;
}

/*
 * What stands in the place of SQLite's own files and is none: a link, a folder,
 * a pipe. No process has it open as a log, so under the exclusive lock it goes;
 * without that another's new log might go with it. How many there are, or -1.
 */
static int foreign_logs(const struct store *s, int remove, struct err *err)
{
	static const char *const end[] = { "-wal", "-shm", "-journal" };
	int n = 0;
	for (size_t i = 0; i < sizeof end / sizeof *end && n >= 0; i++) {
		char *name = xasprintf("%s%s", s->db_path, end[i]);
		struct stat st;
		if (!lstat(name, &st) && !S_ISREG(st.st_mode)) {
			n++;
			if (remove) {
				log_warn("'%s' is no file of a database; it is removed",
				    name);
				n = fs_remove(name, err) < 0 ? -1 : n;
			}
		}
		free(name);
	}
	return n;
}

static int open_locked(struct store *s, const char *command, struct err *err)
{
	int is_exclusive = s->mode != STORE_BUILD;
	enum schema_state state;
	char *path = fs_join(s->dir, "lock");
	int rc = 0, is_stale = 1, has_foreign = 0;
	/* "clean --store" may have taken the file away while we waited. */
	while (!rc && is_stale) {
		if (s->lock_fd >= 0)
			close(s->lock_fd);
		if (s->mode == STORE_BUILD)
			rc = create_folders(s, err);
		if (!rc)
			rc = lock_open(path, &s->lock_fd, err);
		has_foreign = foreign_logs(s, 0, err);
		if (!rc)
			rc = lock_take(s->lock_fd, path, is_exclusive || has_foreign,
			    s->mode == STORE_TRY_EXCLUSIVE, command, err);
		is_stale = !rc && !is_same_file(s->lock_fd, path);
	}
	if (!rc && has_foreign && foreign_logs(s, 1, err) < 0)
		rc = -1;
	if (rc < 0)
		goto out;
	if (has_foreign && !is_exclusive)
		lock_share(s->lock_fd);
	rc = db_connect(s, err);
	if (!rc)
		rc = schema_check(s, schema_version, &state, NULL, err);
	if (rc < 0 && is_exclusive && s->db) {
		int code = sqlite3_errcode(s->db) & 0xff;
		s->is_damaged = code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
	}
	if (s->is_damaged) {
		log_warn("%s", err->message);
		err_release(err);
		db_disconnect(s);
		rc = 0;
		goto out;
	}
	if (!rc && state != SCHEMA_CURRENT) {
		if (!is_exclusive) {
			lock_drop(s->lock_fd);
			rc = lock_take(s->lock_fd, path, 1, 0, command, err);
		}
		if (!rc)
			rc = schema_apply(s, schema_upgrade, schema_version, err);
		if (!rc && !is_exclusive)
			lock_share(s->lock_fd);
	}
out:
	free(path);
	return rc;
}

int store_open(const char *dir, enum store_mode mode, const char *command,
    struct store **out, struct err *err)
{
	struct store *s = xcalloc(1, sizeof *s);
	int rc = 0;
	*out = NULL;
	s->dir = xstrdup(dir);
	s->db_path = fs_join(dir, "stbuild.db");
	s->mode = mode;
	s->lock_fd = -1;
	int is_there = fs_exists(s->db_path);
	/* What may not be looked at is not empty. */
	if (!is_there && errno != ENOENT && errno != ENOTDIR)
		rc = err_errno(err, STATUS_MACHINE, "cannot look at '%s'", s->db_path);
	if (!rc && mode == STORE_BUILD && !is_there)
		rc = create_folders(s, err);
	if (!rc && mode == STORE_READ && is_there)
		rc = open_read(s, err);
	else if (!rc && (mode == STORE_BUILD || is_there))
		rc = open_locked(s, command, err);
	if (rc < 0) {
		err_wrap(err, "while opening the store '%s'", dir);
		store_close(s);
		return -1;
	}
	*out = s;
	return 0;
}

int store_can_write(const struct store *s)
{
	return s->db && s->mode != STORE_READ;
}

/* What gathered since the last commit; lost facts only cost time. */
static void write_pending(struct store *s)
{
	struct err err = ERR_INIT;
	if (!store_can_write(s) || (!s->ntouch && !stat_is_pending(s)))
		return;
	if (store_begin(s, &err) < 0 || store_commit(s, &err) < 0)
		log_warn("%s; the hashes of files are not remembered", err.message);
	err_release(&err);
}

void store_close(struct store *s)
{
	if (!s)
		return;
	while (s->depth)
		store_rollback(s);
	write_pending(s);
	db_disconnect(s);
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	map_release(&s->stat_index);
	map_release(&s->touch_index);
	map_release(&s->checked);
	free(s->stat);
	free(s->touch);
	free(s->node_pass);
	free(s->node_shape);
	free(s->dir);
	free(s->db_path);
	free(s);
}

int store_remove(struct store *s, struct err *err)
{
	char *aside;
	/* SQLite removes its log by name, which may be another's then. */
	db_disconnect(s);
	s->mode = STORE_READ;
	if (fs_set_aside(s->dir, &aside, err) == 0) {
		int rc = fs_remove(aside, err);
		free(aside);
		return rc;
	}
	/* Its folder cannot be moved: without a database nothing is missing. */
	err_release(err);
	static const char *const end[] = { "", "-wal", "-shm", "-journal" };
	for (size_t i = 0; i < sizeof end / sizeof *end; i++) {
		char *name = xasprintf("%s%s", s->db_path, end[i]);
		int rc = fs_remove(name, err);
		free(name);
		if (rc < 0)
			return -1;
	}
	return fs_remove(s->dir, err);
}

const char *store_dir(const struct store *s)
{
	return s->dir;
}

void store_hold(struct store *s)
{
	struct err err = ERR_INIT;
	if (!s->db || s->depth || s->is_held)
		return;
	/* Without it look-ups are only slower. */
	s->is_held = sql_exec(s, "BEGIN", &err) == 0;
	err_release(&err);
}

void store_unhold(struct store *s)
{
	struct err err = ERR_INIT;
	if (s->is_held && sql_exec(s, "COMMIT", &err) < 0)
		log_verbose("%s", err.message);
	s->is_held = 0;
	err_release(&err);
}

int store_begin(struct store *s, struct err *err)
{
	if (s->is_held)
		BUG("store_begin while look-ups hold the database");
	if (!s->depth && sql_run(s, SQL_BEGIN, err, "") < 0)
		return -1;
	s->depth++;
	return 0;
}

void store_used(struct store *s, enum touch_table table, int64_t id, int64_t used)
{
	int64_t now = store_now(), key[2] = { table, id };
	if (!store_can_write(s) || (used > now - STORE_DAY && used < now + STORE_DAY) ||
	    !map_put(&s->touch_index, key, sizeof key, 0))
		return;
	s->touch = array_grow(s->touch, s->ntouch, &s->touch_cap, sizeof *s->touch);
	s->touch[s->ntouch++] = (struct touch){ table, id };
}

static int touch_flush(struct store *s, struct err *err)
{
	static const enum sql statement[] = {
		[TOUCH_OBJECT] = SQL_OBJECT_USED,
		[TOUCH_PROGRAM] = SQL_PROGRAM_USED,
		[TOUCH_MEMO] = SQL_MEMO_USED,
	};
	for (size_t i = 0; i < s->ntouch; i++)
		if (sql_run(s, statement[s->touch[i].table], err, "nn", store_now(),
			s->touch[i].id) < 0)
			return -1;
	return 0;
}

int store_commit(struct store *s, struct err *err)
{
	if (!s->depth)
		BUG("store_commit without store_begin");
	if (s->is_broken) {
		store_rollback(s);
		return err_set(err, STATUS_MACHINE,
		    "database '%s': a part of the"
		    " transaction had failed",
		    s->db_path);
	}
	if (s->depth > 1) {
		s->depth--;
		return 0;
	}
	if (touch_flush(s, err) < 0 || stat_flush(s, err) < 0 ||
	    sql_run(s, SQL_COMMIT, err, "") < 0) {
		store_rollback(s);
		return -1;
	}
	s->depth = 0;
	s->ntouch = 0;
	map_release(&s->touch_index);
	stat_committed(s);
	return 0;
}

void store_rollback(struct store *s)
{
	if (!s->depth)
		return;
	if (--s->depth) {
		s->is_broken = 1;
		return;
	}
	s->is_broken = 0;
	if (!sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, sql_text(SQL_ROLLBACK), NULL, NULL, NULL);
}

int store_stats(struct store *s, struct store_stats *out, struct err *err)
{
	sqlite3_stmt *stmt;
	struct stat st;
	char *wal = xasprintf("%s-wal", s->db_path);
	*out = (struct store_stats){ 0 };
	if (s->db && !stat(s->db_path, &st))
		out->db_bytes = (uint64_t)st.st_size;
	if (s->db && !stat(wal, &st))
		out->db_bytes += (uint64_t)st.st_size;
	free(wal);
	int rc = sql_row(s, SQL_STATS, &stmt, err, "");
	if (rc > 0) {
		uint64_t *const field[] = { &out->nnode, &out->nproduct, &out->nobject,
			&out->object_bytes, &out->nprogram, &out->nbundle, &out->nhistory,
			&out->nalias, &out->product_bytes };
		for (int i = 0; i < 9; i++)
			*field[i] = column_u64(stmt, i);
		sql_end(stmt);
	}
	return rc < 0 ? -1 : 0;
}

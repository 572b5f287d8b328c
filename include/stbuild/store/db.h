#ifndef STBUILD_STORE_DB_H
#define STBUILD_STORE_DB_H

/*
 * What the files of store/ share: the open store, its lock, its schema and
 * its statements (sql.def). For them and their tests only; nobody else sees
 * SQLite.
 */

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"
#include "util/map.h"

enum sql {
#define SQL(name, text) SQL_##name,
#define SQL_SCAN(name, text) SQL_##name,
#include "store/sql.def"
#undef SQL
#undef SQL_SCAN
	SQL_COUNT,
};

/* A row of the stat table that waits to be written (stat.c). */
struct stat_row {
	struct fs_stamp stamp;
	struct sha256 sha;
	int is_trusted;
	int64_t hashed_ns; /* wall clock, when hashed; 0: before this run */
	int is_written;    /* stands in the database as it is here */
};

/* Tables of which reads are remembered for gc. */
enum touch_table { TOUCH_OBJECT, TOUCH_PROGRAM, TOUCH_MEMO };

struct touch {
	enum touch_table table;
	int64_t id;
};

struct store {
	char *dir, *db_path;
	enum store_mode mode;
	sqlite3 *db;                       /* null: absent, reads as empty */
	long long busy_since, busy_logged; /* lock_busy */
	int is_damaged;                    /* db is null for this reason */
	sqlite3_stmt *stmt[SQL_COUNT];     /* prepared at first use */
	int lock_fd;                       /* -1: none */
	int depth;                         /* of store_begin */
	int is_broken;                     /* an inner unit was rolled back */
	int has_warned;                    /* of a database that cannot be read */
	struct tree_cache cache;
	struct stat_row *stat;
	size_t nstat, stat_cap;
	struct map stat_index; /* dev, ino -> stat[] */
	struct touch *touch;
	size_t ntouch, touch_cap;
	struct map touch_index;
	int is_held; /* store_hold */
	/*
	 * What was found out about objects since the store was opened: 1 whole,
	 * 0 its file can be neither read nor removed.
	 */
	struct map checked;
	size_t nunread;               /* files that could not be read */
	char *node_pass, *node_shape; /* behind store_node's row */
};

/* Sums of rows (sql.c) ---------------------------------------------------- */

/*
 * Pages of a database have no checksums: bits that flip there are read like
 * any others. So each row that decides over pictures has a sum over what it
 * says, by the function row_sum of our connections, and one that fails it is
 * not found; fsck counts it. What only orders rows by their use is left out.
 * A product's sum is over its object's name, not over the number of its row.
 */
#define SUM_PRODUCT \
	"row_sum(key, output," \
	" (SELECT sha FROM object WHERE id = object))"
#define SUM_NODE "row_sum(key, pass, width, height, gpu_ns, bytes, frame, shape)"
#define SUM_ALIAS "row_sum(key, earlier)"
#define SUM_PROGRAM "row_sum(program_id, driver, ok, log, reflection)"
#define SUM_DRIVER \
	"row_sum(option, identity, identity_text, vendor, renderer," \
	" version, glsl_version, device, gl_version, has_es3, is_software," \
	" max_texture_size, max_storage_bindings, max_storage_bytes, mapped, stamp)"
#define SUM_STAT "row_sum(dev, ino, size, mtime_ns, ctime_ns, sha, is_trusted)"
#define SUM_BLOB "row_sum(oid, sha)"
#define SUM_MEMO "row_sum(kind, key, data)"
#define SUM_BUNDLE \
	"row_sum(path, trace, frame, variant, stable_id, content_id," \
	" commit_id, is_dirty, file, inputs_id)"

/* Gives the connection its row_sum. */
int sql_add_sum(struct store *s, struct err *err) WARN_UNUSED;

/* Statements -------------------------------------------------------------- */

const char *sql_text(enum sql id);

/*
 * fmt names the values, one letter each: 'h' const struct sha256 *, 'i' int,
 * 'n' int64_t, 'u' uint64_t (its bits), 't' const char *, 'b' const void * and
 * size_t. What they point to must stay until the statement has ended.
 */
/* Runs a statement that gives no rows. Refused in a store opened for reading. */
int sql_run(struct store *s, enum sql id, struct err *err, const char *fmt,
    ...) WARN_UNUSED;
/*
 * First row of a query: 1 and *out until sql_end, 0 when there is none, -1 on
 * trouble. Without a database there are no rows.
 */
int sql_row(struct store *s, enum sql id, sqlite3_stmt **out, struct err *err,
    const char *fmt, ...) WARN_UNUSED;
/* The same where a row that cannot be read is a miss: warns once. 1 or 0. */
int sql_get(struct store *s, enum sql id, sqlite3_stmt **out, const char *fmt,
    ...) WARN_UNUSED;
/* The next row of a query: 1, 0 behind the last, -1. */
int sql_next(struct store *s, enum sql id, sqlite3_stmt *stmt,
    struct err *err) WARN_UNUSED;
void sql_end(sqlite3_stmt *stmt);
/*
 * A statement of its own, for a loop whose body may use the same one. The
 * caller finalizes it. Null without a database (0) or on trouble (-1).
 */
int sql_open(struct store *s, enum sql id, sqlite3_stmt **out, struct err *err,
    const char *fmt, ...) WARN_UNUSED;
/* Text of no use twice: pragmas, schema. */
int sql_exec(struct store *s, const char *text, struct err *err) WARN_UNUSED;
/* One number from such a text. */
int sql_number(struct store *s, const char *text, int64_t *out,
    struct err *err) WARN_UNUSED;
void sql_close_all(struct store *s);
/* Describes what SQLite last said, with a remedy where there is one. -1. */
int sql_failed(struct store *s, int code, const char *what, struct err *err);

/* Columns. A hash of another size is a damaged row: -1. */
int column_sha(sqlite3_stmt *stmt, int i, struct sha256 *out) WARN_UNUSED;
uint64_t column_u64(sqlite3_stmt *stmt, int i);
/* Never null; the caller's. */
char *column_text(sqlite3_stmt *stmt, int i);

/* Schema (schema.c) ------------------------------------------------------- */

#define STORE_APPLICATION_ID 0x53544264 /* "STBd" */

/* What leads from version i to i + 1. Only ever appended to. */
extern const char *const schema_upgrade[];
extern const int schema_version;

enum schema_state {
	SCHEMA_CURRENT,
	SCHEMA_FRESH, /* an empty file */
	SCHEMA_OLD,
};

/* Newer and foreign databases are errors. *version may be null. */
int schema_check(struct store *s, int latest, enum schema_state *out, int *version,
    struct err *err) WARN_UNUSED;
/*
 * Creates or upgrades under the exclusive lock, after a copy to
 * stbuild.db.vN.bak.
 */
int schema_apply(struct store *s, const char *const upgrade[], int latest,
    struct err *err) WARN_UNUSED;
/* Settings of a connection. */
int schema_connect(struct store *s, struct err *err) WARN_UNUSED;

/* Opens s->db_path for building, whatever is in it (store.c). */
int db_connect(struct store *s, struct err *err) WARN_UNUSED;
/* Closes the database; the lock stays. */
void db_disconnect(struct store *s);

/* Lock (lock.c) ----------------------------------------------------------- */

/*
 * Record locks of fcntl, which POSIX has and network file systems honour. They
 * belong to the process: one store under lock a process, and nobody else may
 * open the lock file.
 */
int lock_open(const char *path, int *fd, struct err *err) WARN_UNUSED;
/*
 * Waits, saying for whom, or with is_try fails at once. A signal caught by
 * proc.h ends the wait.
 */
int lock_take(int fd, const char *path, int is_exclusive, int is_try, const char *command,
    struct err *err) WARN_UNUSED;
/* Makes the exclusive lock a shared one, without a gap. */
void lock_share(int fd);
void lock_drop(int fd);
/*
 * For sqlite3_busy_handler, with the struct store: waits for whoever writes to
 * the database, for as long as it takes, and says so. A signal caught by
 * proc.h ends the wait.
 */
int lock_busy(void *data, int ntry);

/* Objects (object.c) ------------------------------------------------------ */

/* 1 when the object's file can be neither read nor removed: a miss. */
int object_is_lost(const struct store *s, const struct sha256 *sha);

/*
 * Calls each for every file below objects/ that has an object's name, in no
 * order; stops on non-0 and returns it. Other names are left alone: they may
 * be somebody's, where a link leads out of the store.
 */
int objects_walk(struct store *s,
    int (*each)(void *data, const char *path, const struct sha256 *sha, uint64_t size,
	struct err *err),
    void *data, struct err *err) WARN_UNUSED;

/* Rest --------------------------------------------------------------------- */

#define STORE_DAY 86400

/* Seconds since 1970. */
int64_t store_now(void);
/* Remembers that a row was used, when its last use is a day ago. */
void store_used(struct store *s, enum touch_table table, int64_t id, int64_t used);
/* Writes the stats that wait, inside a transaction. */
int stat_flush(struct store *s, struct err *err) WARN_UNUSED;
/* The transaction stands: nothing waits any more. */
void stat_committed(struct store *s);
int stat_is_pending(const struct store *s);
/* Test of a packed list of files (bundle.c): 0 or -1. */
int bundle_files_check(const void *data, size_t n);

#endif

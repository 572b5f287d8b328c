#include "store/db.h"

#include <stdarg.h>
#include <string.h>

#include "util/log.h"
#include "util/mem.h"

static const struct {
	const char *name, *text;
} list[] = {
#define SQL(name, text) { #name, text },
#define SQL_SCAN SQL
#include "store/sql.def"
#undef SQL
#undef SQL_SCAN
};

const char *sql_text(enum sql id)
{
	return list[id].text;
}

int sql_failed(struct store *s, int code, const char *what, struct err *err)
{
	int error = sqlite3_system_errno(s->db);
	err_set(err, STATUS_MACHINE, "database '%s': %s", s->db_path,
	    sqlite3_extended_errcode(s->db) == code ? sqlite3_errmsg(s->db)
						    : sqlite3_errstr(code));
	switch (code & 0xff) {
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		err_wrap(err,
		    "the file is damaged: 'stbuild fsck --repair' saves the"
		    " history that can be read, 'stbuild clean --store' starts anew");
		break;
	case SQLITE_BUSY:
		err_wrap(err, "another process holds it");
		break;
	case SQLITE_IOERR:
	case SQLITE_FULL:
	case SQLITE_CANTOPEN:
		if (error)
			err_wrap(err, "%s", strerror(error));
		break;
	}
	return err_wrap(err, "in %s", what);
}

static uint64_t add_bytes(uint64_t sum, const void *data, size_t n)
{
	const unsigned char *p = data;
	while (n--)
		sum = (sum ^ *p++) * UINT64_C(0x100000001b3);
	return sum;
}

/* FNV-1a over type, length and bytes of each value. */
static void row_sum(sqlite3_context *context, int n, sqlite3_value **value)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325);
	for (int i = 0; i < n; i++) {
		unsigned char head[9] = { (unsigned char)sqlite3_value_type(value[i]) };
		const void *data = NULL;
		size_t size = 0;
		uint64_t number = 0;
		if (head[0] == SQLITE_INTEGER) {
			number = (uint64_t)sqlite3_value_int64(value[i]);
		} else if (head[0] != SQLITE_NULL) {
			data = sqlite3_value_blob(value[i]);
			number = size = (size_t)sqlite3_value_bytes(value[i]);
		}
		for (int k = 0; k < 8; k++)
			head[1 + k] = (unsigned char)(number >> 8 * k);
		sum = add_bytes(sum, head, sizeof head);
		if (data)
			sum = add_bytes(sum, data, size);
	}
	sqlite3_result_int64(context, (sqlite3_int64)sum);
}

int sql_add_sum(struct store *s, struct err *err)
{
	int code = sqlite3_create_function_v2(s->db, "row_sum", -1,
	    SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL, row_sum, NULL,
	    NULL, NULL);
	return code == SQLITE_OK ? 0 : sql_failed(s, code, "row_sum", err);
}

/* 0 and the statement ready for values, or -1. */
static int prepare(struct store *s, enum sql id, unsigned flags, sqlite3_stmt **out,
    struct err *err)
{
	int code = sqlite3_prepare_v3(s->db, list[id].text, -1, flags, out, NULL);
	return code == SQLITE_OK ? 0 : sql_failed(s, code, list[id].name, err);
}

static int bind(struct store *s, enum sql id, sqlite3_stmt *stmt, const char *fmt,
    va_list ap, struct err *err)
{
	int code = SQLITE_OK;
	if ((size_t)sqlite3_bind_parameter_count(stmt) != strlen(fmt))
		BUG("statement %s takes %d values, not '%s'", list[id].name,
		    sqlite3_bind_parameter_count(stmt), fmt);
	for (int i = 1; *fmt && code == SQLITE_OK; fmt++, i++) {
		const void *data;
		size_t n;
		switch (*fmt) {
		case 'h':
			data = va_arg(ap, const struct sha256 *)->byte;
			code =
			    sqlite3_bind_blob(stmt, i, data, SHA256_SIZE, SQLITE_STATIC);
			break;
		case 'i':
			code = sqlite3_bind_int(stmt, i, va_arg(ap, int));
			break;
		case 'n':
			code = sqlite3_bind_int64(stmt, i, va_arg(ap, int64_t));
			break;
		case 'u':
			code = sqlite3_bind_int64(stmt, i, (int64_t)va_arg(ap, uint64_t));
			break;
		case 't':
			data = va_arg(ap, const char *);
			code = sqlite3_bind_text(stmt, i, data ? data : "", -1,
			    SQLITE_STATIC);
			break;
		case 'b':
			data = va_arg(ap, const void *);
			n = va_arg(ap, size_t);
			code =
			    sqlite3_bind_blob64(stmt, i, n ? data : "", n, SQLITE_STATIC);
			break;
		default:
			BUG("sql format '%c'", *fmt);
		}
	}
	return code == SQLITE_OK ? 0 : sql_failed(s, code, list[id].name, err);
}

int sql_next(struct store *s, enum sql id, sqlite3_stmt *stmt, struct err *err)
{
	int code = sqlite3_step(stmt);
	if (code == SQLITE_ROW)
		return 1;
	if (code == SQLITE_DONE)
		return 0;
	return sql_failed(s, code, list[id].name, err);
}

static int start(struct store *s, enum sql id, sqlite3_stmt **out, struct err *err,
    const char *fmt, va_list ap)
{
	*out = NULL;
	if (!s->stmt[id] &&
	    prepare(s, id, SQLITE_PREPARE_PERSISTENT, &s->stmt[id], err) < 0)
		return -1;
	*out = s->stmt[id];
	if (sqlite3_stmt_busy(*out))
		BUG("statement %s is in use", list[id].name);
	return bind(s, id, *out, fmt, ap, err);
}

void sql_end(sqlite3_stmt *stmt)
{
	if (stmt) {
		sqlite3_reset(stmt);
		sqlite3_clear_bindings(stmt);
	}
}

int sql_run(struct store *s, enum sql id, struct err *err, const char *fmt, ...)
{
	if (!s->db || s->mode == STORE_READ)
		return err_set(err, STATUS_MACHINE,
		    "the store '%s' is open for reading only", s->dir);
	/* SQLite rolls back by itself when the disk is full, for one. */
	if (s->depth && id != SQL_BEGIN && sqlite3_get_autocommit(s->db))
		return err_set(err, STATUS_MACHINE,
		    "database '%s': the transaction"
		    " was given up after an earlier failure",
		    s->db_path);
	va_list ap;
	va_start(ap, fmt);
	sqlite3_stmt *stmt;
	int rc = start(s, id, &stmt, err, fmt, ap);
	va_end(ap);
	if (!rc)
		rc = sql_next(s, id, stmt, err);
	if (rc > 0)
		BUG("statement %s gives rows", list[id].name);
	sql_end(stmt);
	return rc;
}

static int row(struct store *s, enum sql id, sqlite3_stmt **out, struct err *err,
    const char *fmt, va_list ap)
{
	*out = NULL;
	if (!s->db)
		return 0;
	int rc = start(s, id, out, err, fmt, ap);
	if (!rc)
		rc = sql_next(s, id, *out, err);
	if (rc <= 0) {
		sql_end(*out);
		*out = NULL;
	}
	return rc;
}

int sql_row(struct store *s, enum sql id, sqlite3_stmt **out, struct err *err,
    const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int rc = row(s, id, out, err, fmt, ap);
	va_end(ap);
	return rc;
}

int sql_get(struct store *s, enum sql id, sqlite3_stmt **out, const char *fmt, ...)
{
	struct err err = ERR_INIT;
	va_list ap;
	va_start(ap, fmt);
	int rc = row(s, id, out, &err, fmt, ap);
	va_end(ap);
	if (rc < 0 && !s->has_warned) {
		s->has_warned = 1;
		log_warn("%s; taken as not stored", err.message);
	}
	err_release(&err);
	return rc > 0;
}

int sql_open(struct store *s, enum sql id, sqlite3_stmt **out, struct err *err,
    const char *fmt, ...)
{
	*out = NULL;
	if (!s->db)
		return 0;
	if (prepare(s, id, 0, out, err) < 0)
		return -1;
	va_list ap;
	va_start(ap, fmt);
	int rc = bind(s, id, *out, fmt, ap, err);
	va_end(ap);
	if (rc < 0) {
		sqlite3_finalize(*out);
		*out = NULL;
	}
	return rc;
}

int sql_exec(struct store *s, const char *text, struct err *err)
{
	int code = sqlite3_exec(s->db, text, NULL, NULL, NULL);
	if (code == SQLITE_OK)
		return 0;
	char *what = xasprintf("\"%.60s\"", text);
	sql_failed(s, code, what, err);
	free(what);
	return -1;
}

int sql_number(struct store *s, const char *text, int64_t *out, struct err *err)
{
	sqlite3_stmt *stmt = NULL;
	int code = sqlite3_prepare_v2(s->db, text, -1, &stmt, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_step(stmt);
	if (code == SQLITE_ROW)
		*out = sqlite3_column_int64(stmt, 0);
	int rc = code == SQLITE_ROW ? 0 : sql_failed(s, code, text, err);
	sqlite3_finalize(stmt);
	return rc;
}

void sql_close_all(struct store *s)
{
	for (int i = 0; i < SQL_COUNT; i++) {
		sqlite3_finalize(s->stmt[i]);
		s->stmt[i] = NULL;
	}
}

int column_sha(sqlite3_stmt *stmt, int i, struct sha256 *out)
{
	const void *data = sqlite3_column_blob(stmt, i);
	if (!data || sqlite3_column_bytes(stmt, i) != SHA256_SIZE)
		return -1;
	memcpy(out->byte, data, SHA256_SIZE);
	return 0;
}

uint64_t column_u64(sqlite3_stmt *stmt, int i)
{
	return (uint64_t)sqlite3_column_int64(stmt, i);
}

char *column_text(sqlite3_stmt *stmt, int i)
{
	const unsigned char *text = sqlite3_column_text(stmt, i);
	return xstrdup(text ? (const char *)text : "");
}

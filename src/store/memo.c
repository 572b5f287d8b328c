#include "store/db.h"

#include "util/buf.h"

int store_memo(struct store *s, const char *kind, const struct sha256 *key,
    struct buf *out)
{
	sqlite3_stmt *stmt;
	if (!sql_get(s, SQL_MEMO_GET, &stmt, "th", kind, key))
		return 0;
	store_used(s, TOUCH_MEMO, sqlite3_column_int64(stmt, 0),
	    sqlite3_column_int64(stmt, 2));
	const void *data = sqlite3_column_blob(stmt, 1);
	buf_add(out, data ? data : "", (size_t)sqlite3_column_bytes(stmt, 1));
	sql_end(stmt);
	return 1;
}

int store_add_memo(struct store *s, const char *kind, const struct sha256 *key,
    const void *data, size_t n, struct err *err)
{
	return sql_run(s, SQL_MEMO_ADD, err, "thbn", kind, key, data, n, store_now());
}

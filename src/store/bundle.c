#include "store/db.h"

#include <string.h>

#include "util/buf.h"
#include "util/mem.h"

/*
 * The files of a bundle, packed: for each u32 length and bytes of its key, the
 * same of its path, u64 size, 32 bytes of SHA-256 and of its origin, u64 dev,
 * ino, size, mtime and ctime in ns of its stamp; little-endian. One blob instead of a row a
 * file: all are read at every run.
 */
#define FIXED (8 + 2 * SHA256_SIZE + 5 * 8)

static void pack_text(struct buf *out, const char *text)
{
	size_t n = strlen(text);
	buf_u32le(out, (uint32_t)n);
	buf_add(out, text, n);
}

static void pack(struct buf *out, const struct bundle_row *row)
{
	for (size_t i = 0; i < row->nfile; i++) {
		const struct bundle_file *f = &row->file[i];
		pack_text(out, f->key);
		pack_text(out, f->path);
		buf_u64le(out, f->size);
		buf_add(out, f->sha.byte, SHA256_SIZE);
		buf_add(out, f->origin.byte, SHA256_SIZE);
		buf_u64le(out, f->stamp.dev);
		buf_u64le(out, f->stamp.ino);
		buf_u64le(out, f->stamp.size);
		buf_u64le(out, (uint64_t)f->stamp.mtime_ns);
		buf_u64le(out, (uint64_t)f->stamp.ctime_ns);
	}
}

/* Moves *p over a text within n bytes: its start and length, or null. */
static const char *skip_text(const char **p, size_t *n, size_t *len)
{
	if (*n < 4)
		return NULL;
	*len = get_u32le(*p);
	if (*len > *n - 4 || memchr(*p + 4, '\0', *len))
		return NULL;
	const char *text = *p + 4;
	*p += 4 + *len;
	*n -= 4 + *len;
	return text;
}

/* One file from the front of *p; null out only checks. 0, or -1. */
static int unpack_file(const char **p, size_t *n, struct bundle_file *out)
{
	size_t nkey, npath;
	const char *key = skip_text(p, n, &nkey);
	const char *path = key ? skip_text(p, n, &npath) : NULL;
	if (!path || *n < FIXED)
		return -1;
	if (out) {
		const char *at = *p;
		out->key = xstrndup(key, nkey);
		out->path = xstrndup(path, npath);
		out->size = get_u64le(at);
		memcpy(out->sha.byte, at + 8, SHA256_SIZE);
		at += 8 + SHA256_SIZE;
		memcpy(out->origin.byte, at, SHA256_SIZE);
		at += SHA256_SIZE;
		out->is_intact = 0;
		out->stamp = (struct fs_stamp){ get_u64le(at), get_u64le(at + 8),
			get_u64le(at + 16), (int64_t)get_u64le(at + 24),
			(int64_t)get_u64le(at + 32) };
	}
	*p += FIXED;
	*n -= FIXED;
	return 0;
}

int bundle_files_check(const void *data, size_t n)
{
	const char *p = data;
	while (n)
		if (unpack_file(&p, &n, NULL) < 0)
			return -1;
	return 0;
}

static void copy_commit(char commit[41], sqlite3_stmt *stmt, int i)
{
	const unsigned char *text = sqlite3_column_text(stmt, i);
	int n = sqlite3_column_bytes(stmt, i);
	if (text && n == 40)
		memcpy(commit, text, 41);
	else
		commit[0] = '\0';
}

/* 0 and the row, or -1 when it is damaged. */
static int take(sqlite3_stmt *stmt, struct bundle_row *out)
{
	*out = (struct bundle_row){ .frame = sqlite3_column_int(stmt, 2),
		.dirty = sqlite3_column_int(stmt, 7) };
	const char *data = sqlite3_column_blob(stmt, 8);
	size_t n = (size_t)sqlite3_column_bytes(stmt, 8), cap = 0;
	if (column_sha(stmt, 3, &out->variant) < 0 ||
	    column_sha(stmt, 4, &out->stable_id) < 0 ||
	    column_sha(stmt, 5, &out->content_id) < 0 ||
	    column_sha(stmt, 9, &out->inputs_id) < 0 || bundle_files_check(data, n) < 0)
		return -1;
	out->path = column_text(stmt, 0);
	out->trace = column_text(stmt, 1);
	copy_commit(out->commit, stmt, 6);
	while (n) {
		out->file = array_grow(out->file, out->nfile, &cap, sizeof *out->file);
		if (unpack_file(&data, &n, &out->file[out->nfile++]) < 0)
			BUG("a checked list of files");
	}
	return 0;
}

int store_bundle(struct store *s, const char *path, struct bundle_row *out)
{
	sqlite3_stmt *stmt;
	if (!sql_get(s, SQL_BUNDLE_GET, &stmt, "t", path))
		return 0;
	int is_sound = !take(stmt, out);
	sql_end(stmt);
	return is_sound;
}

int store_add_bundle(struct store *s, const struct bundle_row *row, struct err *err)
{
	struct buf file = BUF_INIT;
	pack(&file, row);
	int rc = sql_run(s, SQL_BUNDLE_ADD, err, "ttihhhtibh", row->path, row->trace,
	    row->frame, &row->variant, &row->stable_id, &row->content_id, row->commit,
	    row->dirty, file.data, file.len, &row->inputs_id);
	buf_release(&file);
	return rc;
}

int store_remove_bundle(struct store *s, const char *path, struct err *err)
{
	return sql_run(s, SQL_BUNDLE_REMOVE, err, "t", path);
}

void bundle_row_release(struct bundle_row *row)
{
	if (!row)
		return;
	for (size_t i = 0; i < row->nfile; i++) {
		free(row->file[i].key);
		free(row->file[i].path);
	}
	free(row->file);
	free(row->path);
	free(row->trace);
	memset(row, 0, sizeof *row);
}

int store_each_bundle(struct store *s,
    int (*each)(void *data, const struct bundle_row *row), void *data, struct err *err)
{
	sqlite3_stmt *stmt;
	if (sql_open(s, SQL_BUNDLE_ALL, &stmt, err, "") < 0)
		return -1;
	int rc = 0, stop = 0;
	while (stmt && !stop && (rc = sql_next(s, SQL_BUNDLE_ALL, stmt, err)) > 0) {
		struct bundle_row row;
		if (take(stmt, &row) < 0)
			continue;
		stop = each(data, &row);
		bundle_row_release(&row);
	}
	sqlite3_finalize(stmt);
	return rc < 0 ? -1 : 0;
}

int store_add_history(struct store *s, const struct history_row *row, struct err *err)
{
	return sql_run(s, SQL_HISTORY_ADD, err, "tihhtin", row->trace, row->frame,
	    &row->variant, &row->content_id, row->commit, row->dirty, row->time);
}

int store_each_history(struct store *s, const char *trace, int frame,
    int (*each)(void *data, const struct history_row *row), void *data, struct err *err)
{
	enum sql id = !trace ? SQL_HISTORY_ALL
	    : frame < 0      ? SQL_HISTORY_TRACE
			     : SQL_HISTORY_FRAME;
	sqlite3_stmt *stmt;
	int rc = !trace ? sql_open(s, id, &stmt, err, "")
	    : frame < 0 ? sql_open(s, id, &stmt, err, "t", trace)
			: sql_open(s, id, &stmt, err, "ti", trace, frame);
	if (rc < 0)
		return -1;
	int stop = 0;
	while (stmt && !stop && (rc = sql_next(s, id, stmt, err)) > 0) {
		struct history_row row = { .frame = sqlite3_column_int(stmt, 1),
			.dirty = sqlite3_column_int(stmt, 5),
			.time = sqlite3_column_int64(stmt, 6) };
		if (column_sha(stmt, 2, &row.variant) < 0 ||
		    column_sha(stmt, 3, &row.content_id) < 0)
			continue;
		row.trace = column_text(stmt, 0);
		copy_commit(row.commit, stmt, 4);
		stop = each(data, &row);
		free(row.trace);
	}
	sqlite3_finalize(stmt);
	return rc < 0 ? -1 : 0;
}

int store_add_content(struct store *s, const struct sha256 *content_id,
    const struct sha256 *key, struct err *err)
{
	return sql_run(s, SQL_CONTENT_ADD, err, "hh", content_id, key);
}

int store_each_content_object(struct store *s, const struct sha256 *content_id,
    void (*each)(void *data, const struct sha256 *object), void *data, struct err *err)
{
	sqlite3_stmt *stmt;
	int rc = sql_row(s, SQL_CONTENT_OBJECTS, &stmt, err, "h", content_id);
	while (rc > 0) {
		struct sha256 object;
		if (!column_sha(stmt, 0, &object))
			each(data, &object);
		rc = sql_next(s, SQL_CONTENT_OBJECTS, stmt, err);
	}
	sql_end(stmt);
	return rc;
}

#include "store/db.h"

#include <string.h>

#include "util/mem.h"

/* A copy of a blob, the caller's; null and 0 when it is empty. */
static void *column_copy(sqlite3_stmt *stmt, int i, size_t *n)
{
	const void *data = sqlite3_column_blob(stmt, i);
	*n = (size_t)sqlite3_column_bytes(stmt, i);
	return data && *n ? xmemdup(data, *n) : NULL;
}

int store_program(struct store *s, const struct sha256 *program_id,
    const struct sha256 *driver, struct program_row *out)
{
	sqlite3_stmt *stmt;
	if (!sql_get(s, SQL_PROGRAM_GET, &stmt, "hh", program_id, driver))
		return 0;
	store_used(s, TOUCH_PROGRAM, sqlite3_column_int64(stmt, 0),
	    sqlite3_column_int64(stmt, 4));
	*out = (struct program_row){
		.program_id = *program_id,
		.driver = *driver,
		.ok = sqlite3_column_int(stmt, 1),
		.log = column_text(stmt, 2),
	};
	out->reflection = column_copy(stmt, 3, &out->nreflection);
	sql_end(stmt);
	return 1;
}

int store_add_program(struct store *s, const struct program_row *row, struct err *err)
{
	return sql_run(s, SQL_PROGRAM_ADD, err, "hhitbn", &row->program_id, &row->driver,
	    row->ok, row->log, row->reflection, row->nreflection, store_now());
}

void program_row_release(struct program_row *row)
{
	if (!row)
		return;
	free(row->log);
	free(row->reflection);
	memset(row, 0, sizeof *row);
}

int store_driver(struct store *s, const char *option, struct driver_row *out)
{
	sqlite3_stmt *stmt;
	struct driver_row d = { 0 };
	if (!sql_get(s, SQL_DRIVER_GET, &stmt, "t", option))
		return 0;
	int is_sound =
	    !column_sha(stmt, 0, &d.identity) && !column_sha(stmt, 14, &d.stamp);
	if (is_sound) {
		char **const text[] = { &d.identity_text, &d.vendor, &d.renderer,
			&d.version, &d.glsl_version, &d.device };
		for (int i = 0; i < 6; i++)
			*text[i] = column_text(stmt, 1 + i);
		d.gl_version = sqlite3_column_int(stmt, 7);
		d.has_es3 = sqlite3_column_int(stmt, 8);
		d.is_software = sqlite3_column_int(stmt, 9);
		d.max_texture_size = sqlite3_column_int(stmt, 10);
		d.max_storage_bindings = sqlite3_column_int(stmt, 11);
		d.max_storage_bytes = column_u64(stmt, 12);
		d.mapped = column_text(stmt, 13);
		d.option = xstrdup(option);
		*out = d;
	}
	sql_end(stmt);
	return is_sound;
}

int store_add_driver(struct store *s, const struct driver_row *row, struct err *err)
{
	return sql_run(s, SQL_DRIVER_ADD, err, "thttttttiiiiiuth", row->option,
	    &row->identity, row->identity_text, row->vendor, row->renderer, row->version,
	    row->glsl_version, row->device, row->gl_version, row->has_es3,
	    row->is_software, row->max_texture_size, row->max_storage_bindings,
	    row->max_storage_bytes, row->mapped, &row->stamp);
}

void driver_row_release(struct driver_row *row)
{
	if (!row)
		return;
	free(row->identity_text);
	free(row->vendor);
	free(row->renderer);
	free(row->version);
	free(row->glsl_version);
	free(row->device);
	free(row->mapped);
	free(row->option);
	memset(row, 0, sizeof *row);
}

#include "store/db.h"

#include <string.h>

#include "util/buf.h"
#include "util/mem.h"

#define NSAMPLE 9 /* GPU times a median is taken of */

static int find(struct store *s, enum sql id, const struct sha256 *key, int index,
    struct product *out)
{
	sqlite3_stmt *stmt;
	if (!sql_get(s, id, &stmt, "hi", key, index))
		return 0;
	struct product p = { .key = *key, .index = index, .size = column_u64(stmt, 1) };
	int is_sound = !column_sha(stmt, 0, &p.object);
	int64_t object = sqlite3_column_int64(stmt, 2);
	int64_t used = sqlite3_column_int64(stmt, 3);
	sql_end(stmt);
	if (!is_sound || !object_has(s, &p.object, p.size))
		return 0;
	store_used(s, TOUCH_OBJECT, object, used);
	*out = p;
	return 1;
}

/* The id of the object's row, which is made where there is none. */
static int add_object(struct store *s, const struct product *p, int64_t *id,
    struct err *err)
{
	sqlite3_stmt *stmt;
	int rc = sql_row(s, SQL_OBJECT_GET, &stmt, err, "h", &p->object);
	if (rc < 0)
		return -1;
	if (!rc) {
		rc = sql_run(s, SQL_OBJECT_ADD, err, "hun", &p->object, p->size,
		    store_now());
		*id = sqlite3_last_insert_rowid(s->db);
		return rc;
	}
	*id = sqlite3_column_int64(stmt, 0);
	uint64_t size = column_u64(stmt, 1);
	store_used(s, TOUCH_OBJECT, *id, sqlite3_column_int64(stmt, 2));
	sql_end(stmt);
	return size == p->size ? 0 : sql_run(s, SQL_OBJECT_SIZE, err, "un", p->size, *id);
}

static int add(struct store *s, enum sql id, const struct product *p, struct err *err)
{
	int64_t object;
	if (store_begin(s, err) < 0)
		return -1;
	/* It was written just now, over what could not be read. */
	if (object_is_lost(s, &p->object))
		object_checked(s, &p->object, 1);
	if (add_object(s, p, &object, err) < 0 ||
	    sql_run(s, id, err, "hin", &p->key, p->index, object) < 0) {
		store_rollback(s);
		return -1;
	}
	return store_commit(s, err);
}

int store_product(struct store *s, const struct sha256 *key, int index,
    struct product *out)
{
	return find(s, SQL_PRODUCT_GET, key, index, out);
}

int store_add_product(struct store *s, const struct product *p, struct err *err)
{
	return add(s, SQL_PRODUCT_ADD, p, err);
}

int store_touch(struct store *s, const struct sha256 *key, struct err *err)
{
	sqlite3_stmt *stmt;
	int rc = sql_row(s, SQL_PRODUCT_USED, &stmt, err, "h", key);
	while (rc > 0) {
		store_used(s, TOUCH_OBJECT, sqlite3_column_int64(stmt, 0),
		    sqlite3_column_int64(stmt, 1));
		rc = sql_next(s, SQL_PRODUCT_USED, stmt, err);
	}
	sql_end(stmt);
	return rc;
}

int store_node(struct store *s, const struct sha256 *key, struct node_row *out)
{
	sqlite3_stmt *stmt;
	if (!sql_get(s, SQL_NODE_GET, &stmt, "h", key))
		return 0;
	free(s->node_pass);
	free(s->node_shape);
	s->node_pass = column_text(stmt, 0);
	s->node_shape = column_text(stmt, 6);
	*out = (struct node_row){
		.key = *key,
		.pass = s->node_pass,
		.frame = sqlite3_column_int(stmt, 5),
		.shape = s->node_shape,
		.width = sqlite3_column_int(stmt, 1),
		.height = sqlite3_column_int(stmt, 2),
		.gpu_ns = column_u64(stmt, 3),
		.bytes = column_u64(stmt, 4),
	};
	sql_end(stmt);
	return 1;
}

int store_add_node(struct store *s, const struct node_row *node, struct err *err)
{
	return sql_run(s, SQL_NODE_ADD, err, "htiiuunit", &node->key, node->pass,
	    node->width, node->height, node->gpu_ns, node->bytes, store_now(),
	    node->frame, node->shape);
}

size_t store_candidates(struct store *s, const struct node_row *node, struct sha256 *out,
    size_t max)
{
	sqlite3_stmt *stmt;
	struct err err = ERR_INIT;
	size_t n = 0;
	int rc = sql_row(s, SQL_NODE_RIVALS, &stmt, &err, "tithi", node->pass,
	    node->frame, node->shape, &node->key, (int)max);
	while (rc > 0 && n < max) {
		if (!column_sha(stmt, 0, &out[n]))
			n++;
		rc = sql_next(s, SQL_NODE_RIVALS, stmt, &err);
	}
	sql_end(stmt);
	/* A node whose candidates cannot be read is just new. */
	err_release(&err);
	return n;
}

/* Sizes within a quarter of an octave share their times. */
static int size_class(uint64_t npixel)
{
	int log2 = 0;
	while (log2 < 63 && npixel >> (log2 + 1))
		log2++;
	return log2 * 4 +
	    (log2 < 2 ? (int)(npixel & 3) : (int)(npixel >> (log2 - 2) & 3));
}

/* The times on record, oldest first; how many. */
static size_t samples(struct store *s, const struct sha256 *static_part, uint64_t npixel,
    uint64_t sample[NSAMPLE])
{
	sqlite3_stmt *stmt;
	if (!sql_get(s, SQL_COST_GET, &stmt, "hi", static_part, size_class(npixel)))
		return 0;
	const char *data = sqlite3_column_blob(stmt, 0);
	size_t n = (size_t)sqlite3_column_bytes(stmt, 0) / 8;
	if (n > NSAMPLE)
		n = NSAMPLE;
	for (size_t i = 0; i < n; i++)
		sample[i] = get_u64le(data + 8 * i);
	sql_end(stmt);
	return n;
}

int store_add_cost(struct store *s, const struct sha256 *static_part, uint64_t npixel,
    uint64_t gpu_ns, struct err *err)
{
	uint64_t sample[NSAMPLE];
	size_t n = samples(s, static_part, npixel, sample);
	size_t first = n == NSAMPLE ? 1 : 0;
	struct buf packed = BUF_INIT;
	for (size_t i = first; i < n; i++)
		buf_u64le(&packed, sample[i]);
	buf_u64le(&packed, gpu_ns);
	int rc = sql_run(s, SQL_COST_ADD, err, "hibn", static_part, size_class(npixel),
	    packed.data, packed.len, store_now());
	buf_release(&packed);
	return rc;
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

uint64_t store_cost(struct store *s, const struct sha256 *static_part, uint64_t npixel)
{
	uint64_t sample[NSAMPLE];
	size_t n = samples(s, static_part, npixel, sample);
	if (!n)
		return 0;
	qsort(sample, n, sizeof *sample, compare_u64);
	return sample[n / 2];
}

static int get_sha(struct store *s, enum sql id, const struct sha256 *key,
    struct sha256 *out)
{
	sqlite3_stmt *stmt;
	if (!sql_get(s, id, &stmt, "h", key))
		return 0;
	int is_sound = !column_sha(stmt, 0, out);
	sql_end(stmt);
	return is_sound;
}

int store_alias(struct store *s, const struct sha256 *key, struct sha256 *out)
{
	return get_sha(s, SQL_ALIAS_GET, key, out);
}

int store_add_alias(struct store *s, const struct sha256 *key,
    const struct sha256 *earlier, struct err *err)
{
	return sql_run(s, SQL_ALIAS_ADD, err, "hhn", key, earlier, store_now());
}

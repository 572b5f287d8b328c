#include <stdio.h>

#include "cmd/cmd.h"
#include "cmd/output.h"
#include "cmd/session.h"
#include "util/buf.h"

static int add_files(void *data, const struct bundle_row *row)
{
	uint64_t *bytes = data;
	for (size_t i = 0; i < row->nfile; i++)
		*bytes += row->file[i].size;
	return 0;
}

static void line(const char *label, uint64_t n, uint64_t bytes)
{
	struct buf text = BUF_INIT;
	buf_addf(&text, "%-12s %llu, ", label, (unsigned long long)n);
	bytes_print(bytes, &text);
	puts(buf_str(&text));
	buf_release(&text);
}

static void part(const char *label, uint64_t bytes)
{
	struct buf text = BUF_INIT;
	bytes_print(bytes, &text);
	printf("%-12s %s\n", label, buf_str(&text));
	buf_release(&text);
}

static void count(const char *label, uint64_t n)
{
	printf("%-12s %llu\n", label, (unsigned long long)n);
}

static void print_text(const char *dir, const struct store_stats *st,
    uint64_t bundle_bytes)
{
	printf("%-12s %s\n", "store", dir);
	count("nodes", st->nnode);
	count("aliases", st->nalias);
	line("objects", st->nobject, st->object_bytes);
	part("  products", st->product_bytes);
	part("  unused", st->object_bytes - st->product_bytes);
	count("products", st->nproduct);
	count("programs", st->nprogram);
	line("bundles", st->nbundle, bundle_bytes);
	count("history", st->nhistory);
	part("database", st->db_bytes);
	if (st->nnode)
		part("  a node", st->db_bytes / st->nnode);
}

static void print_json(const char *dir, const struct store_stats *st,
    uint64_t bundle_bytes)
{
	const struct {
		const char *key;
		uint64_t n;
	} row[] = {
		{ "nodes", st->nnode },
		{ "products", st->nproduct },
		{ "aliases", st->nalias },
		{ "objects", st->nobject },
		{ "object_bytes", st->object_bytes },
		{ "product_bytes", st->product_bytes },
		{ "programs", st->nprogram },
		{ "bundles", st->nbundle },
		{ "bundle_bytes", bundle_bytes },
		{ "history", st->nhistory },
		{ "database_bytes", st->db_bytes },
		{ "bytes_per_node", st->nnode ? st->db_bytes / st->nnode : 0 },
	};
	cJSON *document = json_start("stats");
	cJSON_AddStringToObject(document, "store", dir);
	for (size_t i = 0; i < sizeof row / sizeof *row; i++)
		cJSON_AddNumberToObject(document, row[i].key, (double)row[i].n);
	json_print(document);
}

int cmd_stats(struct options *o, const struct args_list *operand, struct err *err)
{
	struct session s;
	struct store *store;
	struct store_stats stats;
	uint64_t bundle_bytes = 0;
	int rc = -1;
	(void)operand;
	if (session_find(&s, o, "stats", SESSION_READ, err) < 0 ||
	    session_store(&s, &store, err) < 0 || store_stats(store, &stats, err) < 0 ||
	    store_each_bundle(store, add_files, &bundle_bytes, err) < 0)
		goto out;
	if (o->json)
		print_json(session_store_dir(&s), &stats, bundle_bytes);
	else if (!o->silent && !o->question)
		print_text(session_store_dir(&s), &stats, bundle_bytes);
	rc = STATUS_OK;
out:
	session_close(&s);
	return rc;
}

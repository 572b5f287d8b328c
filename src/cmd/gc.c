#include <stdio.h>

#include "cmd/cmd.h"
#include "cmd/collect.h"
#include "cmd/output.h"
#include "util/buf.h"
#include "util/log.h"

static const char *max_size, *max_age;

const struct args_option gc_option[] = {
	{ 0, "max-size", ARGS_STRING, &max_size, 0, 0, "S",
	    "keep the store below S, \"10GiB\"; 0: no limit" },
	{ 0, "max-age", ARGS_STRING, &max_age, 0, 0, "T",
	    "remove objects unused for longer than T, \"30d\"; 0: no limit" },
	OPTION_END,
};

/* The manifest's limits, unless the command line has others. */
static int set_limits(const struct manifest *m, struct gc_options *o, struct err *err)
{
	o->max_bytes = m->store_max_size;
	o->max_age_s = m->store_max_age_s;
	if (max_size && bytes_parse(max_size, &o->max_bytes) < 0)
		return err_set(err, STATUS_INPUT,
		    "--max-size %s: expected a "
		    "number of bytes, or one with a unit such as 10GiB",
		    max_size);
	if (max_age && age_parse(max_age, &o->max_age_s) < 0)
		return err_set(err, STATUS_INPUT,
		    "--max-age %s: expected a "
		    "number of seconds, or one with a unit such as 30d",
		    max_age);
	return 0;
}

static void print_json(const struct gc_options *o, const struct gc_result *r)
{
	cJSON *document = json_start("gc");
	cJSON_AddNumberToObject(document, "removed", (double)r->nremoved);
	cJSON_AddNumberToObject(document, "removed_bytes", (double)r->removed_bytes);
	cJSON_AddNumberToObject(document, "kept", (double)r->nkept);
	cJSON_AddNumberToObject(document, "kept_bytes", (double)r->kept_bytes);
	cJSON_AddNumberToObject(document, "max_size", (double)o->max_bytes);
	cJSON_AddNumberToObject(document, "max_age", o->max_age_s);
	cJSON_AddBoolToObject(document, "dry_run", o->dry_run);
	json_print(document);
}

static void print_text(const struct gc_options *o, const struct gc_result *r)
{
	struct buf text = BUF_INIT;
	buf_addf(&text, "%s %llu %s (", o->dry_run ? "would remove" : "removed",
	    (unsigned long long)r->nremoved, r->nremoved == 1 ? "object" : "objects");
	bytes_print(r->removed_bytes, &text);
	buf_addf(&text, "), keeping %llu (", (unsigned long long)r->nkept);
	bytes_print(r->kept_bytes, &text);
	buf_addch(&text, ')');
	puts(buf_str(&text));
	buf_release(&text);
}

int cmd_gc(struct options *o, const struct args_list *operand, struct err *err)
{
	struct session s;
	struct store *store = NULL;
	struct gc_options options = { .dry_run = o->dry_run || o->question };
	struct gc_result r;
	int rc = -1;
	(void)operand;
	if (session_open(&s, o, "gc", SESSION_READ, err) < 0 ||
	    set_limits(&s.manifest, &options, err) < 0)
		goto out;
	session_close_store(&s);
	if (!options.dry_run)
		session_clean(&s);
	if (store_open(session_store_dir(&s),
		options.dry_run ? STORE_READ : STORE_EXCLUSIVE, "gc", &store, err) < 0 ||
	    collect_run(&s, store, &options, &r, err) < 0)
		goto out;
	if (options.max_bytes && r.kept_bytes > options.max_bytes)
		log_info("cannot reach the limit: current traces, HEAD and "
			 "tags are protected");
	if (o->json)
		print_json(&options, &r);
	else if (!o->silent && !o->question)
		print_text(&options, &r);
	rc = o->question && r.nremoved ? STATUS_FAILED : STATUS_OK;
out:
	store_close(store);
	session_close(&s);
	return rc;
}

#include "cmd/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"
#include "project/manifest.h"
#include "store/store.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/utf8.h"

/* Documents ------------------------------------------------------------------- */

cJSON *json_start(const char *action)
{
	cJSON *document = cJSON_CreateObject();
	cJSON_AddBoolToObject(document, "ok", 1);
	cJSON_AddStringToObject(document, "action", action);
	return document;
}

/* JSON is UTF-8, whatever a path or a driver's message holds. */
static void put_utf8(const char *text)
{
	size_t n = strlen(text);
	while (n > 0) {
		size_t good = utf8_invalid(text, n);
		fwrite(text, 1, good, stdout);
		if (good < n) {
			fputs("\xef\xbf\xbd", stdout);
			good++;
		}
		text += good;
		n -= good;
	}
	putchar('\n');
}

void json_print(cJSON *document)
{
	char *text = cJSON_PrintUnformatted(document);
	put_utf8(text);
	cJSON_free(text);
	cJSON_Delete(document);
}

void json_fail(cJSON *document)
{
	cJSON_ReplaceItemInObjectCaseSensitive(document, "ok", cJSON_CreateFalse());
}

static void add_string(cJSON *json, const char *name, const char *value)
{
	if (value)
		cJSON_AddStringToObject(json, name, value);
}

cJSON *error_json(const struct err *e)
{
	cJSON *json = cJSON_CreateObject();
	cJSON_AddStringToObject(json, "message", e->message);
	if (e->file)
		cJSON_AddStringToObject(json, "file", e->file);
	if (e->line)
		cJSON_AddNumberToObject(json, "line", e->line);
	if (e->line && e->column)
		cJSON_AddNumberToObject(json, "column", e->column);
	if (e->key)
		cJSON_AddStringToObject(json, "key", e->key);
	return json;
}

void json_add_errors(cJSON *document, const struct errs *errs)
{
	cJSON_ReplaceItemInObject(document, "ok", cJSON_CreateFalse());
	cJSON_AddItemToObject(document, "error", error_json(&errs->err[0]));
	cJSON *list = cJSON_AddArrayToObject(document, "errors");
	for (size_t i = 0; i < errs->nerr; i++)
		cJSON_AddItemToArray(list, error_json(&errs->err[i]));
}

/* Diagnostics ----------------------------------------------------------------- */

cJSON *diagnostics_to_json(const struct manifest *m, const struct diagnostics *d)
{
	cJSON *list = cJSON_CreateArray();
	for (size_t i = 0; i < d->nitem; i++) {
		const struct diagnostic *item = &d->item[i];
		cJSON *json = cJSON_CreateObject();
		cJSON_AddStringToObject(json, "level",
		    item->level == DIAGNOSTIC_ERROR ? "error" : "warning");
		cJSON_AddStringToObject(json, "code", item->code);
		cJSON_AddStringToObject(json, "message", item->message);
		if (item->npass) {
			cJSON *pass = cJSON_AddArrayToObject(json, "passes");
			for (size_t p = 0; p < item->npass; p++)
				cJSON_AddItemToArray(pass,
				    cJSON_CreateString(m->pass[item->pass[p]].name));
		}
		if (item->file) {
			cJSON_AddStringToObject(json, "file", item->file);
			cJSON_AddNumberToObject(json, "line", item->line);
			cJSON_AddNumberToObject(json, "column", item->column);
		}
		cJSON_AddItemToArray(list, json);
	}
	return list;
}

void diagnostics_print(const struct diagnostics *d)
{
	for (size_t i = 0; i < d->nitem; i++) {
		const struct diagnostic *item = &d->item[i];
		if (item->file)
			log_error("%s:%d:%d: warning: [%s] %s", item->file, item->line,
			    item->column, item->code, item->message);
		else
			log_warn("[%s] %s", item->code, item->message);
	}
}

/* Runs: names and causes ------------------------------------------------------ */

char *target_name(const struct capture_bundle *b)
{
	return b->frame < 0 ? xstrdup(b->name) : xasprintf("%s@%d", b->name, b->frame);
}

cJSON *reasons_to_json(const struct reasons *list)
{
	cJSON *array = cJSON_CreateArray();

	for (size_t i = 0; i < list->nreason; i++) {
		const struct reason *r = &list->reason[i];
		cJSON *json = cJSON_CreateObject();
		add_string(json, "kind", reason_word(r->kind));
		add_string(json, "what", r->what);
		add_string(json, "old", r->was);
		add_string(json, "new", r->now);
		if (r->npass > 0) {
			add_string(json, "pass", r->pass[0]);
			cJSON *passes = cJSON_AddArrayToObject(json, "passes");
			for (size_t p = 0; p < r->npass; p++)
				cJSON_AddItemToArray(passes,
				    cJSON_CreateString(r->pass[p]));
		}
		add_string(json, "file", r->file);
		if (r->line > 0)
			cJSON_AddNumberToObject(json, "line", r->line);
		if (r->frame >= 0)
			cJSON_AddNumberToObject(json, "frame", r->frame);
		if (r->nof > 0 && r->of[0] >= 0)
			cJSON_AddItemToObject(json, "frames",
			    cJSON_CreateIntArray(r->of, (int)r->nof));
		cJSON_AddItemToArray(array, json);
	}
	return array;
}

/* The first one; that the driver is another one was said already. */
static char *first_reason(const struct reasons *list)
{
	if (list->nreason == 0)
		return xstrdup("for no known reason");
	return list->reason[0].kind == REASON_DRIVER
	    ? xstrdup("captured with a different driver")
	    : reason_text(&list->reason[0]);
}

/* Runs: JSON ------------------------------------------------------------------ */

void counts_add(struct capture_counts *to, const struct capture_counts *c)
{
	to->nodes_drawn += c->nodes_drawn;
	to->nodes_loaded += c->nodes_loaded;
	to->nodes_reused += c->nodes_reused;
	to->programs_compiled = c->programs_compiled;
	to->traces_built += c->traces_built;
	to->traces_current += c->traces_current;
	to->failures += c->failures;
}

void json_add_draws(cJSON *json, const struct capture_counts *c)
{
	cJSON_AddNumberToObject(json, "nodes_drawn", (double)c->nodes_drawn);
	cJSON_AddNumberToObject(json, "nodes_loaded", (double)c->nodes_loaded);
	cJSON_AddNumberToObject(json, "nodes_reused", (double)c->nodes_reused);
	cJSON_AddNumberToObject(json, "programs_compiled", (double)c->programs_compiled);
}

cJSON *counts_json(const struct capture_counts *c)
{
	cJSON *json = cJSON_CreateObject();

	json_add_draws(json, c);
	cJSON_AddNumberToObject(json, "traces_built", (double)c->traces_built);
	cJSON_AddNumberToObject(json, "traces_current", (double)c->traces_current);
	cJSON_AddNumberToObject(json, "failures", (double)c->failures);
	return json;
}

cJSON *bundle_json(const struct capture_bundle *b, int plan)
{
	cJSON *json = cJSON_CreateObject();

	cJSON_AddStringToObject(json, "name", b->name);
	if (b->frame >= 0)
		cJSON_AddNumberToObject(json, "frame", b->frame);
	else
		cJSON_AddNullToObject(json, "frame");
	cJSON_AddStringToObject(json, "path", b->path);
	cJSON_AddStringToObject(json, "status", capture_status_name(b->status));
	if (b->reasons.nreason > 0) {
		char *text = reason_text(&b->reasons.reason[0]);
		cJSON_AddStringToObject(json, "reason", text);
		cJSON_AddItemToObject(json, "reasons", reasons_to_json(&b->reasons));
		free(text);
	}
	if (b->status == CAPTURE_STALE && plan) {
		cJSON_AddNumberToObject(json, "draws", (double)b->ndraw);
		cJSON_AddNumberToObject(json, "loads", (double)b->nload);
		cJSON_AddNumberToObject(json, "expected_ms",
		    (double)b->expected_ns / 1e6);
	}
	if (b->err.message)
		cJSON_AddItemToObject(json, "error", error_json(&b->err));
	return json;
}

cJSON *driver_json(const struct driver_row *driver)
{
	cJSON *json = cJSON_CreateObject();
	char hex[SHA256_HEX + 1];

	cJSON_AddStringToObject(json, "vendor", driver->vendor);
	cJSON_AddStringToObject(json, "renderer", driver->renderer);
	cJSON_AddStringToObject(json, "version", driver->version);
	cJSON_AddStringToObject(json, "identity", sha256_hex(&driver->identity, hex));
	return json;
}

static void copy_error(struct errs *errs, const struct err *e)
{
	errs_add(errs, e->status, e->file, e->line, e->column, e->key, "%s", e->message);
}

void json_add_failures(cJSON *json, const struct capture_result *r)
{
	struct errs all = ERRS_INIT;

	for (size_t i = 0; i < r->nbundle; i++) {
		const struct err *e = &r->bundle[i].err;
		if (r->bundle[i].status == CAPTURE_FAILED &&
		    (all.nerr == 0 ||
			strcmp(all.err[all.nerr - 1].message, e->message) != 0))
			copy_error(&all, e);
	}
	for (size_t i = 0; i < r->more.nerr; i++)
		copy_error(&all, &r->more.err[i]);
	if (r->signal != 0)
		errs_add(&all, STATUS_FAILED, NULL, 0, 0, NULL,
		    "interrupted by signal %d", r->signal);
	json_add_errors(json, &all);
	errs_release(&all);
}

/* Runs: text ------------------------------------------------------------------ */

static void print_cost(uint64_t ndraw, uint64_t nload, uint64_t expected_ns)
{
	printf("%llu draw%s", (unsigned long long)ndraw, ndraw == 1 ? "" : "s");
	if (nload > 0)
		printf(", %llu load%s", (unsigned long long)nload, nload == 1 ? "" : "s");
	if (ndraw > 0 && expected_ns == 0)
		printf(", time unknown\n");
	else if (ndraw > 0)
		printf(", about %.1f s\n", (double)expected_ns / 1e9);
	else
		putchar('\n');
}

void report_plan(const struct capture_result *r)
{
	size_t nstale = 0;

	for (size_t i = 0; i < r->nbundle; i++) {
		const struct capture_bundle *b = &r->bundle[i];
		char *name = target_name(b);
		char *why = first_reason(&b->reasons);
		nstale += b->status == CAPTURE_STALE || b->status == CAPTURE_RETAGGED;
		if (b->status == CAPTURE_STALE) {
			printf("%s: stale: %s", name, why);
			if (b->reasons.nreason == 0 || b->ndraw + b->nload > 0 ||
			    !reason_is_free(b->reasons.reason[0].kind)) {
				printf("; ");
				print_cost(b->ndraw, b->nload, b->expected_ns);
			} else {
				putchar('\n');
			}
		} else {
			printf("%s: %s\n", name,
			    b->status == CAPTURE_RETAGGED
				? why
				: capture_status_name(b->status));
		}
		free(why);
		free(name);
	}
	printf("%zu of %zu trace%s stale; ", nstale, r->nbundle,
	    r->nbundle == 1 ? "" : "s");
	print_cost(r->counts.nodes_drawn, r->counts.nodes_loaded, r->expected_ns);
}

/* "built hero@60 (1.000 s, 960x540): target/traces/hero@60.sttrace" */
static void print_bundle(const struct capture_bundle *b)
{
	char *name = target_name(b);

	printf("%s %s", capture_status_name(b->status), name);
	if (b->frame >= 0)
		printf(" (%.3f s, %dx%d)", b->time, b->width, b->height);
	printf(": %s\n", b->path);
	free(name);
}

void report_done(const struct capture_result *r, double seconds)
{
	const struct capture_counts *c = &r->counts;

	for (size_t i = 0; i < r->nbundle; i++) {
		const struct capture_bundle *b = &r->bundle[i];
		if (b->status != CAPTURE_CURRENT && b->status != CAPTURE_FAILED &&
		    b->status != CAPTURE_STALE && b->path)
			print_bundle(b);
	}
	if (c->traces_built == 0 && c->failures == 0 && r->signal == 0)
		log_info("all %llu up to date", (unsigned long long)c->traces_current);
	else
		log_info("%llu written, %llu up to date, %llu failed (%llu %s "
			 "drawn, %llu loaded, %llu reused, %.1f s)",
		    (unsigned long long)c->traces_built,
		    (unsigned long long)c->traces_current,
		    (unsigned long long)c->failures, (unsigned long long)c->nodes_drawn,
		    c->nodes_drawn == 1 ? "pass" : "passes",
		    (unsigned long long)c->nodes_loaded,
		    (unsigned long long)c->nodes_reused, seconds);
}

void report_failures(const struct capture_result *r)
{
	if (r->signal != 0)
		log_error("interrupted by signal %d", r->signal);
	for (size_t i = 0; i < r->nbundle; i++) {
		const struct capture_bundle *b = &r->bundle[i];
		if (b->status != CAPTURE_FAILED)
			continue;
		/* Frames of one trace often fail for one reason: once. */
		int was_logged = i > 0 && r->bundle[i - 1].status == CAPTURE_FAILED &&
		    strcmp(r->bundle[i - 1].err.message, b->err.message) == 0;
		char *text = err_text(&b->err), *name = target_name(b);
		if (was_logged)
			log_verbose("%s: %s", name, text);
		else
			log_error("%s: %s", name, text);
		free(name);
		free(text);
	}
	for (size_t i = 0; i < r->more.nerr; i++) {
		char *text = err_text(&r->more.err[i]);
		log_error("%s", text);
		free(text);
	}
}

void report_driver(const struct capture_result *r)
{
	for (size_t i = 0; i < r->driver.nreason; i++) {
		char *text = reason_text(&r->driver.reason[i]);
		log_info("%s", text);
		free(text);
	}
}

int failure_status(const struct capture_result *r)
{
	int status = STATUS_FAILED;

	for (size_t i = 0; i < r->nbundle; i++)
		if (r->bundle[i].status == CAPTURE_FAILED &&
		    (int)r->bundle[i].err.status > status)
			status = (int)r->bundle[i].err.status;
	return status;
}

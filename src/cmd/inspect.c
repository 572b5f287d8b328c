#include <string.h>

#include "cmd/cmd.h"
#include "cmd/output.h"
#include "project/doc.h"
#include "util/limits.h"
#include "store/store.h"
#include "format/bundle.h"
#include "format/ststate.h"
#include "format/sttf.h"
#include "util/buf.h"
#include "util/fs.h"
#include "util/log.h"
#include "util/mem.h"

/*
 * One document of each kind that we know, told by its content. Each describer
 * adds its members to json, prints lines to text, and collects what does not
 * verify in errs; -1 is for what is no document at all.
 */

static const char *string_of(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
	return cJSON_IsString(item) ? item->valuestring : NULL;
}

static double number_of(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
	return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

static void add_line(struct buf *text, const char *label, const char *value)
{
	if (value && *value)
		buf_addf(text, "%-10s %s\n", label, value);
}

static void describe_git(const cJSON *git, struct buf *text)
{
	if (!cJSON_IsObject(git))
		return;
	const char *describe = string_of(git, "describe");
	const char *branch = string_of(git, "branch");
	const char *commit = string_of(git, "commit");
	buf_addf(text, "%-10s %s", "commit", commit ? commit : "none");
	if (describe)
		buf_addf(text, " (%s)", describe);
	if (branch)
		buf_addf(text, " on %s", branch);
	if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(git, "dirty")))
		buf_addstr(text, ", dirty");
	buf_addch(text, '\n');
	const cJSON *item;
	cJSON_ArrayForEach (item, cJSON_GetObjectItemCaseSensitive(git, "dirty_inputs"))
		if (cJSON_IsString(item))
			add_line(text, "  dirty", item->valuestring);
}

/* trace.json's "tool" is ours; other programs write "cli_version" alone. */
static void describe_tool(const struct bundle *b, struct buf *text)
{
	const char *name = string_of(b->tool, "name");
	const char *version = string_of(b->tool, "version");
	if (name)
		buf_addf(text, "%-10s %s%s%s\n", "written by", name, version ? " " : "",
		    version ? version : "");
	else
		add_line(text, "written by", b->cli_version);
}

/* Returns the sum in milliseconds. */
static double describe_timings(const cJSON *timings, struct buf *text)
{
	double total = 0;
	const cJSON *item;
	cJSON_ArrayForEach (item, timings) {
		const char *name = string_of(item, "name");
		double ms = number_of(item, "gpu_nanoseconds") / 1e6;
		total += ms;
		buf_addf(text, "%-10s %s %.0fx%.0f, %.3f ms\n", "pass", name ? name : "?",
		    number_of(item, "width"), number_of(item, "height"), ms);
	}
	return total;
}

struct seen {
	struct sha256 content;
	cJSON *list;
	struct buf *text;
};

static int add_seen(void *data, const struct history_row *row)
{
	struct seen *s = data;
	if (!sha256_equal(&row->content_id, &s->content) || !row->commit[0])
		return 0;
	cJSON *json = cJSON_CreateObject();
	cJSON_AddItemToArray(s->list, json);
	cJSON_AddStringToObject(json, "trace", row->trace);
	cJSON_AddStringToObject(json, "commit", row->commit);
	cJSON_AddBoolToObject(json, "dirty", row->dirty);
	buf_addf(s->text, "%-10s %s%s\n", "seen at", row->commit,
	    row->dirty ? ", dirty" : "");
	return 0;
}

/* The store that knows a bundle: named, or of a folder above it. Owned. */
static char *find_store(const char *named, const char *dir)
{
	char *at = xstrdup(dir), *store = named ? xstrdup(named) : NULL;
	for (int i = 0; i < 5 && !store; i++) {
		char *up = fs_dirname(at);
		free(at);
		at = up;
		store = fs_join(at, ".stbuild");
		char *db = fs_join(store, "stbuild.db");
		if (!fs_exists(db)) {
			free(store);
			store = NULL;
		}
		free(db);
	}
	free(at);
	return store;
}

/* Commits at which captures had this content. Without a store there are none. */
static void describe_history(const char *named, const struct bundle *b, cJSON *json,
    struct buf *text)
{
	struct seen s = { .text = text };
	struct err err = ERR_INIT;
	struct store *store = NULL;
	char *dir = find_store(named, b->dir);
	s.list = cJSON_AddArrayToObject(json, "seen");
	bundle_content_id(b->artifact, b->nartifact, &s.content);
	if (dir &&
	    (store_open(dir, STORE_READ, "inspect", &store, &err) < 0 ||
		store_each_history(store, NULL, -1, add_seen, &s, &err) < 0))
		log_verbose("%s", err.message);
	store_close(store);
	err_release(&err);
	free(dir);
}

static int describe_bundle(const char *path, const char *store, cJSON *json,
    struct buf *text, struct errs *errs, struct err *err)
{
	struct bundle b = { 0 };
	if (bundle_open(path, &b, err) < 0)
		return -1;
	size_t before = errs->nerr, start = text->len;
	int verified = !bundle_verify(&b, errs);
	cJSON_AddStringToObject(json, "trace", b.dir);
	cJSON_AddItemToObject(json, "metadata", cJSON_Duplicate(b.json, 1));

	const cJSON *driver = cJSON_GetObjectItemCaseSensitive(b.json, "driver");
	buf_addf(text, "%-10s %s\n", "bundle", b.dir);
	add_line(text, "project", b.project);
	add_line(text, "preset", b.preset);
	buf_addf(text, "%-10s %d, %.6g s at %.6g fps\n", "frame", b.frame, b.time, b.fps);
	buf_addf(text, "%-10s %dx%d\n", "size", b.width, b.height);
	describe_tool(&b, text);
	describe_git(cJSON_GetObjectItemCaseSensitive(b.json, "git"), text);
	add_line(text, "driver", string_of(driver, "renderer"));
	add_line(text, "version", string_of(driver, "version"));
	const cJSON *item;
	cJSON_ArrayForEach (item, cJSON_GetObjectItemCaseSensitive(b.json, "keys"))
		if (cJSON_IsString(item))
			buf_addf(text, "%-10s %s %s\n", "key", item->string,
			    item->valuestring);
	double total =
	    describe_timings(cJSON_GetObjectItemCaseSensitive(b.json, "pass_timings"),
		text);
	buf_addf(text, "%-10s %.3f ms\n", "total", total);
	cJSON_ArrayForEach (item,
	    cJSON_GetObjectItemCaseSensitive(b.json, "graph_diagnostics")) {
		const char *code = string_of(item, "code");
		const char *message = string_of(item, "message");
		buf_addf(text, "%-10s %s: %s\n", "diagnostic", code ? code : "?",
		    message ? message : "");
	}
	cJSON_AddNumberToObject(json, "gpu_pass_total_ms", total);
	cJSON_AddBoolToObject(json, "verified", verified);
	describe_history(store, &b, json, text);
	if (!verified && errs->nerr == before)
		errs_add(errs, STATUS_FAILED, path, 0, 0, NULL,
		    "the bundle does not verify");
	if (verified) {
		buf_addf(text, "%-10s %zu artifacts, all as recorded\n", "verified",
		    b.nartifact);
	} else {
		/* What matters most stands first. */
		struct buf rest = BUF_INIT;
		buf_addf(&rest, "%-10s %s: %zu %s not as recorded\n", "FAILED", b.dir,
		    errs->nerr - before,
		    errs->nerr - before == 1 ? "artifact is" : "artifacts are");
		buf_add(&rest, buf_str(text) + start, text->len - start);
		text->len = start;
		buf_add(text, buf_str(&rest), rest.len);
		buf_release(&rest);
	}
	bundle_release(&b);
	return 0;
}

static int describe_state(const char *path, const struct buf *bytes, cJSON *json,
    struct buf *text, struct err *err)
{
	struct state st = { 0 };
	if (state_read(path, bytes->data, bytes->len, &st, err) < 0)
		return -1;
	cJSON_AddStringToObject(json, "state", path);
	cJSON_AddItemToObject(json, "metadata", cJSON_Parse(st.header));
	cJSON_AddBoolToObject(json, "verified", 1);
	buf_addf(text, "%-10s %s, format %d\n", "state", path, st.version);
	add_line(text, "project", st.project);
	buf_addf(text, "%-10s %d, %.6g s at %.6g fps\n", "frame", st.frame, st.time,
	    st.fps);
	buf_addf(text, "%-10s %dx%d\n", "size", st.width, st.height);
	for (size_t i = 0; i < st.nbuffer; i++)
		buf_addf(text, "%-10s %s %dx%d %s\n", "buffer", st.buffer[i].name,
		    st.buffer[i].width, st.buffer[i].height,
		    format_name(st.buffer[i].format));
	for (size_t i = 0; i < st.nstorage; i++)
		buf_addf(text, "%-10s %s %llu bytes\n", "storage", st.storage[i].name,
		    (unsigned long long)st.storage[i].bytes);
	buf_addf(text, "%-10s complete\n", "verified");
	state_release(&st);
	return 0;
}

/* A document is verified by reading it into a project that loads. */
static int describe_sttf(const char *path, const struct buf *bytes, cJSON *json,
    struct buf *text, struct errs *errs, struct err *err)
{
	struct tree *tree = NULL;
	struct manifest m;
	if (sttf_read(path, bytes->data, bytes->len, "project", &tree, err) < 0)
		return -1;
	int verified = !manifest_load(tree, "stbuild.json", NULL, &m, errs);
	cJSON_AddStringToObject(json, "document", path);
	buf_addf(text, "%-10s %s\n", "document", path);
	if (verified) {
		cJSON_AddItemToObject(json, "metadata",
		    manifest_to_json(&m, MANIFEST_ALL));
		add_line(text, "project", m.name);
		add_line(text, "author", m.author);
		buf_addf(text, "%-10s %dx%d at %.6g fps\n", "size", m.width, m.height,
		    m.fps);
		add_line(text, "dialect", dialect_name(m.dialect));
		for (size_t i = 0; i < m.npass; i++)
			buf_addf(text, "%-10s %s, %s\n", "pass", m.pass[i].name,
			    pass_kind_name(m.pass[i].kind));
		for (size_t i = 0; i < m.nasset; i++)
			buf_addf(text, "%-10s %s, %s\n", "asset", m.asset[i].name,
			    asset_kind_name(m.asset[i].kind));
		buf_addf(text, "%-10s complete\n", "verified");
		manifest_release(&m);
	}
	cJSON_AddBoolToObject(json, "verified", verified);
	tree_free(tree);
	return 0;
}

static int describe(const char *path, const char *store, cJSON *json, struct buf *text,
    struct errs *errs, struct err *err)
{
	static const char magic[] = "STSTATE1";
	static const char unknown[] = "not a bundle, .ststate or .sttf document";
	struct buf bytes = BUF_INIT;
	cJSON *parsed = NULL;
	int rc = -1;
	if (fs_is_dir(path) || strcmp(fs_basename(path), "trace.json") == 0)
		return describe_bundle(path, store, json, text, errs, err);
	if (fs_read(path, LIMIT_DOCUMENT_BYTES, &bytes, err) < 0)
		goto out;
	if (bytes.len >= 8 && memcmp(bytes.data, magic, 8) == 0) {
		rc = describe_state(path, &bytes, json, text, err);
		goto out;
	}
	size_t start = strspn(buf_str(&bytes), " \t\r\n");
	if (start >= bytes.len || bytes.data[start] != '{') {
		err_set(err, STATUS_INPUT, "'%s' is %s", path, unknown);
		goto out;
	}
	if (json_parse(path, buf_str(&bytes), bytes.len, &parsed, err) < 0)
		goto out;
	if (cJSON_GetObjectItemCaseSensitive(parsed, "nodes"))
		rc = describe_sttf(path, &bytes, json, text, errs, err);
	else
		rc = err_set(err, STATUS_INPUT, "'%s' is %s", path, unknown);
out:
	cJSON_Delete(parsed);
	buf_release(&bytes);
	return rc;
}

int cmd_inspect(struct options *o, const struct args_list *operand, struct err *err)
{
	struct errs errs = ERRS_INIT;
	struct buf text = BUF_INIT;
	cJSON *document = NULL, *list = NULL;
	int rc = -1;
	if (!operand->nitem)
		return err_set(err, STATUS_INPUT,
		    "name a bundle, its "
		    "trace.json, a .ststate or a .sttf document");
	/* One is described by the document itself, more in a list of it. */
	document = json_start("inspect");
	if (operand->nitem > 1)
		list = cJSON_AddArrayToObject(document, "documents");
	for (size_t i = 0; i < operand->nitem; i++) {
		cJSON *json = document;
		if (list) {
			json = cJSON_CreateObject();
			cJSON_AddItemToArray(list, json);
		}
		if (i)
			buf_addch(&text, '\n');
		if (describe(operand->item[i], o->store, json, &text, &errs, err) < 0) {
			/* The status of the worst wins, but all are seen. */
			if (operand->nitem == 1)
				goto out;
			errs_take(&errs, err);
		}
	}
	rc = STATUS_OK;
	for (size_t i = 0; i < errs.nerr; i++) {
		char *line = err_text(&errs.err[i]);
		log_error("%s", line);
		free(line);
		if ((int)errs.err[i].status > rc)
			rc = errs.err[i].status;
	}
	if (o->json) {
		if (list)
			cJSON_AddBoolToObject(document, "verified", !errs.nerr);
		if (errs.nerr)
			json_add_errors(document, &errs);
		json_print(document);
		document = NULL;
	} else if (!o->silent && !o->question) {
		buf_tame(&text);
		fputs(buf_str(&text), stdout);
	}
out:
	cJSON_Delete(document);
	buf_release(&text);
	errs_release(&errs);
	return rc;
}

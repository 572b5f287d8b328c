#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/output.h"
#include "cmd/session.h"
#include "graph/graph.h"
#include "glsl/lint.h"
#include "glsl/shader.h"
#include "project/image.h"
#include "format/bundle.h"
#include "util/buf.h"
#include "util/fs.h"
#include "util/log.h"
#include "util/mem.h"
#include "verify/outputs.h"

static int pedantic;
static const char *rev;

const struct args_option check_option[] = {
	{ 0, "pedantic", ARGS_FLAG, &pedantic, 0, 0, NULL,
	    "exit with status 1 on warnings" },
	{ 0, "rev", ARGS_STRING, &rev, 0, 0, "REV",
	    "use the files of a revision, without a checkout" },
	OPTION_END,
};

static int decode_asset(struct session *s, const struct asset *asset, struct err *err)
{
	enum tree_kind kind;
	char *resolved = NULL;
	struct buf bytes = BUF_INIT;
	struct image image = { 0 };
	int rc = -1;
	if (tree_lookup(s->tree, asset->path, &kind, &resolved, err) < 0)
		goto out;
	if (kind != TREE_FILE) {
		err_set(err, STATUS_INPUT, "asset '%s' is not a file", asset->name);
		err_place(err, asset->path, 0, 0, NULL);
		goto out;
	}
	if (tree_read(s->tree, resolved, LIMIT_ASSET_BYTES, &bytes, err) < 0)
		goto out;
	rc = image_decode(asset, asset->path, bytes.data, bytes.len, &image, err);
out:
	image_release(&image);
	buf_release(&bytes);
	free(resolved);
	return rc;
}

/* What can be judged without GL: assets, and sources with their includes. */
static void check_inputs(struct session *s, struct errs *errs)
{
	struct manifest *m = &s->manifest;
	struct err err = ERR_INIT;
	for (size_t i = 0; i < m->nasset; i++)
		if (m->asset[i].kind != ASSET_VIDEO &&
		    decode_asset(s, &m->asset[i], &err) < 0)
			errs_take(errs, &err);
	for (size_t i = 0; i < m->npass; i++) {
		struct source source = { 0 };
		if (shader_expand(s->tree, m, (int)i, 0, &s->inputs, &source, &err) < 0)
			errs_take(errs, &err);
		source_release(&source);
	}
}

/* A finding in a file that several passes share is one, about them all. */
static void add_finding(struct diagnostics *d, const struct lint_finding *f, int pass)
{
	for (size_t i = 0; i < d->nitem; i++) {
		const struct diagnostic *item = &d->item[i];
		if (!item->file || strcmp(item->file, f->file) != 0 ||
		    item->line != f->line || item->column != f->column ||
		    strcmp(item->code, f->code) != 0)
			continue;
		if (item->pass[item->npass - 1] != pass)
			diagnostics_about(d, i, pass);
		return;
	}
	size_t i = diagnostics_add(d, f->code, "%s", f->message);
	diagnostics_about(d, i, pass);
	d->item[i].file = xstrdup(f->file);
	d->item[i].line = f->line;
	d->item[i].column = f->column;
}

/* Lints all sources; they were read before, and without fault. */
static int lint(struct session *s, struct diagnostics *d, struct err *err)
{
	const struct manifest *m = &s->manifest;
	struct lint_uniform *uniform = lint_uniforms(m);
	int rc = 0;
	for (size_t i = 0; i < m->npass && !rc; i++) {
		struct source source = { 0 };
		struct lint_findings found = { 0 };
		struct lint_facts facts;
		lint_facts_of(m, (int)i, uniform, &facts);
		rc = shader_expand(s->tree, m, (int)i, 0, NULL, &source, err);
		if (!rc)
			lint_source(&facts, &source, &found);
		for (size_t k = 0; k < found.nitem; k++)
			add_finding(d, &found.item[k], (int)i);
		lint_findings_release(&found);
		source_release(&source);
	}
	free(uniform);
	return rc;
}

/* Bundles ----------------------------------------------------------------- */

struct captured { /* TRACE@FRAME.sttrace, TRACE@FRAME-ID.sttrace */
	char *path;
	size_t ntrace; /* bytes up to the "@" */
	long frame;
	char *id; /* borrowed from path: "-ID.sttrace" */
};

struct captures {
	struct captured *item;
	size_t nitem, cap;
};

static int by_frame(const void *a, const void *b)
{
	const struct captured *x = a, *y = b;
	size_t n = x->ntrace < y->ntrace ? x->ntrace : y->ntrace;
	int order = memcmp(x->path, y->path, n);
	if (!order)
		order = (x->ntrace > y->ntrace) - (x->ntrace < y->ntrace);
	if (!order)
		order = strcmp(x->id, y->id);
	return order ? order : (x->frame > y->frame) - (x->frame < y->frame);
}

static void find_captures(const struct session *s, const char *folder,
    struct captures *out)
{
	char *dir = fs_join(s->root, folder);
	DIR *d = opendir(dir);
	const struct dirent *e;
	while (d && (e = readdir(d))) {
		const char *at = strchr(e->d_name, '@');
		const char *end = strstr(e->d_name, ".sttrace");
		if (!at || !end || end[strlen(".sttrace")])
			continue;
		char *path = fs_join(dir, e->d_name), *id;
		size_t ntrace = strlen(path) - strlen(at);
		long frame = strtol(path + ntrace + 1, &id, 10);
		out->item =
		    array_grow(out->item, out->nitem, &out->cap, sizeof *out->item);
		out->item[out->nitem++] = (struct captured){ path, ntrace, frame, id };
	}
	if (d)
		closedir(d);
	free(dir);
}

static void report_nonfinite(const struct manifest *m, const struct bundle *b,
    const struct nonfinite *n, struct diagnostics *d)
{
	char *what = n->face < 0 ? xasprintf("output %d", n->output)
				 : xasprintf("face %s", output_face(n->face));
	size_t i = diagnostics_add(d, "nan-output",
	    "%s in pass '%s' at frame "
	    "%d: %s, pixel (%d, %d), channel %c, in %s",
	    n->value != n->value ? "NaN" : "infinity", n->pass, b->frame, what, n->x,
	    n->y, "rgba"[n->channel], b -> dir);
	int pass = manifest_pass(m, n->pass);
	if (pass >= 0)
		diagnostics_about(d, i, pass);
	free(what);
}

/*
 * Looks at what was captured: the first value of each trace that is no number,
 * by frame, then in the order of drawing.
 */
static void check_captures(const struct session *s, struct diagnostics *d)
{
	struct captures c = { 0 };
	size_t is_found = 0; /* index + 1 of the bundle with the last one */
	find_captures(s, "target/traces", &c);
	find_captures(s, "target/captures", &c);
	if (c.nitem)
		qsort(c.item, c.nitem, sizeof *c.item, by_frame);
	for (size_t i = 0; i < c.nitem; i++) {
		struct captured *it = &c.item[i];
		struct bundle b = { 0 };
		struct nonfinite n = { 0 };
		struct err err = ERR_INIT;
		const struct captured *last = is_found ? &c.item[is_found - 1] : NULL;
		if (last && last->ntrace == it->ntrace &&
		    memcmp(last->path, it->path, it->ntrace) == 0 &&
		    strcmp(last->id, it->id) == 0)
			continue;
		if (bundle_open(it->path, &b, &err) || nonfinite_find(&b, &n, &err)) {
			/* Capture puts it right; see inspect. */
			char *text = err_text(&err);
			log_verbose("not checked: %s", text);
			free(text);
		} else if (n.is_found) {
			report_nonfinite(&s->manifest, &b, &n, d);
			is_found = i + 1;
		}
		nonfinite_release(&n);
		bundle_release(&b);
		err_release(&err);
	}
	for (size_t i = 0; i < c.nitem; i++)
		free(c.item[i].path);
	free(c.item);
}

/* Marks the uniforms that a program uses. */
static void mark_used(const struct manifest *m, const struct program *p, int *used)
{
	for (size_t i = 0; i < m->nuniform; i++)
		used[i] |= reflection_uniform(&p->reflection, m->uniform[i].name) != NULL;
}

/* Presets change the text of a pass by its local size alone. */
static int is_other_text(const struct preset *preset, int p)
{
	for (size_t i = 0; i < preset->npass; i++)
		if (preset->pass[i].pass == p && preset->pass[i].local_size[0])
			return 1;
	return 0;
}

/*
 * Compiles the passes by the manifest, or (preset not null) those that a
 * preset changes. Shaders at fault go to errs; -1 is for the machine.
 */
static int check_variant(struct session *s, const struct program_env *env,
    const struct preset *preset, int *used, struct errs *errs, struct err *err)
{
	struct variant_options options = {
		.preset = preset ? preset->name : NULL,
	};
	struct variant v = { 0 };
	int rc = -1;
	if (variant_init(&v, &s->manifest, NULL, &options, err) < 0)
		goto out;
	for (size_t i = 0; i < s->manifest.npass; i++) {
		struct program p = { 0 };
		if (preset && !is_other_text(preset, (int)i))
			continue;
		int failed = program_load(env, &v, (int)i, &p, err) < 0;
		if (!failed)
			mark_used(&s->manifest, &p, used);
		program_release(&p);
		if (!failed)
			continue;
		if (preset)
			err_wrap(err, "with preset '%s'", preset->name);
		if (err->status == STATUS_MACHINE)
			goto out;
		errs_take(errs, err);
	}
	rc = 0;
out:
	variant_release(&v);
	return rc;
}

static int check_programs(struct session *s, int *used, struct errs *errs,
    struct err *err)
{
	struct manifest *m = &s->manifest;
	struct program_env env;
	if (session_programs(s, &env, err) < 0)
		return -1;
	int rc = check_variant(s, &env, NULL, used, errs, err);
	for (size_t i = 0; i < m->npreset && !rc; i++)
		rc = check_variant(s, &env, &m->preset[i], used, errs, err);
	return rc;
}

/* errs: warnings that are errors. */
static void report(const struct session *s, const struct diagnostics *d,
    const struct errs *errs)
{
	const struct manifest *m = &s->manifest;
	const struct options *o = s->options;
	if (o->json) {
		cJSON *document = json_start("check");
		cJSON_AddStringToObject(document, "project", m->name);
		cJSON_AddNumberToObject(document, "passes", (double)m->npass);
		cJSON_AddNumberToObject(document, "assets", (double)m->nasset);
		cJSON_AddItemToObject(document, "diagnostics", diagnostics_to_json(m, d));
		cJSON *counts = cJSON_AddObjectToObject(document, "counts");
		cJSON_AddNumberToObject(counts, "programs_compiled",
		    s->programs_compiled);
		if (errs->nerr)
			json_add_errors(document, errs);
		json_print(document);
	} else if (!o->silent && !o->question) {
		printf("%s: %zu pass%s, %zu asset%s, %zu warning%s\n", m->name, m->npass,
		    m->npass == 1 ? "" : "es", m->nasset, m->nasset == 1 ? "" : "s",
		    d->nitem, d->nitem == 1 ? "" : "s");
	}
}

int cmd_check(struct options *o, const struct args_list *operand, struct err *err)
{
	(void)operand;
	struct session s;
	struct graph g = { 0 };
	struct diagnostics d = { 0 };
	struct errs errs = ERRS_INIT;
	int *used = NULL;
	int rc = -1;
	if (session_open_rev(&s, o, "check", SESSION_USE, rev, err) < 0)
		goto out;
	check_inputs(&s, &errs);
	if (errs.nerr) {
		errors_end(o, &errs, err);
		goto out;
	}
	used = xcalloc(s.manifest.nuniform + 1, sizeof *used);
	if (check_programs(&s, used, &errs, err) < 0) {
		/* Keep what was found out before the machine gave up. */
		errs_take(&errs, err);
		errors_end(o, &errs, err);
		goto out;
	}
	graph_init(&g, &s.manifest);
	graph_diagnose(&g, &d);
	/* Which uniforms are used is known when everything has compiled. */
	if (!errs.nerr)
		diagnose_uniforms(&s.manifest, used, &d);
	if (!errs.nerr && lint(&s, &d, err) < 0)
		goto out;
	if (!errs.nerr && !rev)
		check_captures(&s, &d);
	if (errs.nerr) {
		if (!o->question)
			diagnostics_print(&d);
		errors_end(o, &errs, err);
		goto out;
	}
	if (!pedantic && !o->question)
		diagnostics_print(&d);
	for (size_t i = 0; i < d.nitem && pedantic; i++) {
		errs_add(&errs, STATUS_FAILED,
		    d.item[i].file ? d.item[i].file : s.manifest.path, d.item[i].line,
		    d.item[i].column, NULL, "[%s] %s", d.item[i].code, d.item[i].message);
		char *text = err_text(&errs.err[i]);
		log_error("%s", text);
		free(text);
	}
	report(&s, &d, &errs);
	rc = errs.nerr ? STATUS_FAILED : STATUS_OK;
out:
	free(used);
	errs_release(&errs);
	diagnostics_release(&d);
	graph_release(&g);
	session_close(&s);
	return rc;
}

#include "capture_impl.h"

#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "graph/facts.h"
#include "util/mem.h"

/*
 * A record is kept as a memo "facts" by the bundle's path: a list of
 * what is the frame's own. It has the hash of its shape, which the bundles of a
 * variant share; that has the hashes of the longer lists. Shapes and lists are
 * memos "facts-list", by their hash. So 10,000 frames cost some hundred bytes
 * each. The memo is
 *
 *	SHAPE, FRAME, INTERMEDIATES
 *	PASS	for each pass of the shape, in order: its key; then the facts
 *		of its recipe that are not those of its base; or, where they are
 *		not of the same kinds, the whole recipe
 *
 * and a shape
 *
 *	SHAPE	three times: driver, settings, files
 *	PASS	for each pass, with its name: the hash of its fixed list; then
 *		the facts of its base
 */
#define LIST_MAX (1 << 20) /* a longer list is not kept: causes are named less well */
#define RECORD_MAX (64 << 10)

/* Making -------------------------------------------------------------------------- */

static void add_files(const struct group *g, struct facts *out)
{
	const struct manifest *m = g->variant.manifest;
	const struct inputs *inputs = &g->set->inputs;

	facts_begin(out, "files");
	for (size_t i = 0; i < inputs->ninput; i++) {
		const struct input *in = &inputs->input[i];
		uint32_t kind = FACT_NONE;
		if (in->is_absent || strcmp(in->path, m->path) == 0)
			continue;
		for (size_t a = m->nasset; a-- > 0;)
			if (strcmp(m->asset[a].path, in->path) == 0)
				kind = m->asset[a].kind;
		facts_add_hash(out, FACT_FILE, in->path, kind, &in->sha);
	}
}

/* The first frame whose node of the pass matters. */
static uint32_t first_node(const struct group *g, int p)
{
	uint32_t node = 0;

	while (keys_node_pass(&g->keys, node) != p)
		node++;
	return node;
}

/* What all bundles of a group have in common: made once. */
static void make_common(struct capture *c, struct group *g)
{
	struct record *a = &g->record;
	const struct graph *graph = &g->graph;
	const char *identity = c->env->programs.driver->identity_text;

	if (a->pass)
		return;
	facts_begin(&a->driver, "driver");
	facts_of_identity(identity ? identity : "", &a->driver);
	facts_begin(&a->settings, "settings");
	facts_add_text(&a->settings, FACT_TOOL, "", FACT_NONE, STBUILD_VERSION);
	facts_of_settings(&g->variant, &a->settings);
	group_settings(&g->variant, &a->settings);
	add_files(g, &a->files);
	a->pass = xcalloc(graph->norder + 1, sizeof *a->pass);
	for (size_t i = 0; i < graph->norder; i++) {
		int p = graph->order[i];
		if (!graph->is_reached[p])
			continue;
		struct record_pass *pass = &a->pass[a->npass++];
		pass->name = xstrdup(g->variant.manifest->pass[p].name);
		facts_of_static(&g->scene, &g->set->key_program[p], p, &c->driver,
		    &pass->fixed);
		facts_of_node(&g->keys, first_node(g, p), &pass->base);
	}
}

/* The group's record, with what is a job's own. Borrowed until the next. */
static const struct record *make_record(struct capture *c, struct group *g,
    const struct job *job)
{
	struct record *a = &g->record;
	const struct graph *graph = &g->graph;
	size_t n = 0;

	make_common(c, g);
	a->frame = job->frame;
	a->has_intermediates = job->request->include_intermediates;
	for (size_t i = 0; i < graph->norder; i++) {
		int p = graph->order[i];
		uint32_t node = keys_node(&g->keys, p, job->frame);
		if (!graph->is_reached[p])
			continue;
		facts_of_node(&g->keys, node, &a->pass[n].recipe);
		a->pass[n++].key = g->keys.key[node];
	}
	return a;
}

/* Records --------------------------------------------------------------------------- */

static void path_key(const struct job *job, struct sha256 *out)
{
	sha256_of(job->path, strlen(job->path), out);
}

/* Adds the hash of a list, which is stored unless it is known to be. */
static int add_list(struct capture *c, enum fact_kind kind, const char *subject,
    const struct facts *list, struct facts *memo, struct err *err)
{
	struct sha256 sha;

	sha256_of(buf_str(&list->bytes), list->bytes.len, &sha);
	facts_add_hash(memo, kind, subject, FACT_NONE, &sha);
	if (list->bytes.len > LIST_MAX ||
	    !map_put(&c->known_list, sha.byte, SHA256_SIZE, 1))
		return 0;
	return store_add_memo(c->env->programs.store, "facts-list", &sha,
	    list->bytes.data, list->bytes.len, err);
}

/* What makes the recipe out of the base. */
struct difference {
	struct facts facts;
	int is_other; /* a fact that the other has not */
};

static void add_difference(void *data, const struct fact *was, const struct fact *now)
{
	struct difference *d = data;

	if (was && now)
		facts_add(&d->facts, now);
	else
		d->is_other = 1;
}

static void add_recipe(const struct record_pass *pass, struct facts *memo)
{
	struct difference d = { .is_other = 0 };

	facts_compare(&pass->base, &pass->recipe, add_difference, &d);
	facts_add_hash(memo, FACT_PASS, "", FACT_NONE, &pass->key);
	facts_append(memo, d.is_other ? &pass->recipe : &d.facts);
	facts_release(&d.facts);
}

/* What the bundles of a group share, with the lists it names. */
static int add_shape(struct capture *c, const struct record *a, struct facts *memo,
    struct err *err)
{
	struct facts shape = { .is_terse = 0 };
	int rc = add_list(c, FACT_SHAPE, "", &a->driver, &shape, err) ||
		add_list(c, FACT_SHAPE, "", &a->settings, &shape, err) ||
		add_list(c, FACT_SHAPE, "", &a->files, &shape, err)
	    ? -1
	    : 0;

	for (size_t i = 0; i < a->npass && rc == 0; i++) {
		rc = add_list(c, FACT_PASS, a->pass[i].name, &a->pass[i].fixed, &shape,
		    err);
		facts_append(&shape, &a->pass[i].base);
	}
	if (rc == 0)
		rc = add_list(c, FACT_SHAPE, "", &shape, memo, err);
	facts_release(&shape);
	return rc;
}

int capture_record_why(struct capture *c, struct group *g, const struct job *job,
    struct err *err)
{
	const struct record *a = make_record(c, g, job);
	struct facts memo = { .is_terse = 0 };
	struct sha256 key;
	int rc = add_shape(c, a, &memo, err);

	facts_add_number(&memo, FACT_FRAME, "", FACT_NONE, (uint64_t)a->frame);
	facts_add_number(&memo, FACT_INTERMEDIATES, "", FACT_NONE,
	    (uint64_t)a->has_intermediates);
	for (size_t i = 0; i < a->npass; i++)
		add_recipe(&a->pass[i], &memo);
	path_key(job, &key);
	if (rc == 0 && memo.bytes.len <= RECORD_MAX)
		rc = store_add_memo(c->env->programs.store, "facts", &key,
		    memo.bytes.data, memo.bytes.len, err);
	facts_release(&memo);
	return rc;
}

/* 1 with the list of that hash; 0 when it is lost or damaged. */
static int find_list(struct capture *c, const struct fact *hash, struct facts *out)
{
	struct sha256 sha, now;

	if (hash->n != SHA256_SIZE)
		return 0;
	memcpy(sha.byte, hash->bytes, SHA256_SIZE);
	facts_release(out);
	if (!store_memo(c->env->programs.store, "facts-list", &sha, &out->bytes))
		return 0;
	sha256_of(buf_str(&out->bytes), out->bytes.len, &now);
	return sha256_equal(&sha, &now);
}

static int read_shape(struct capture *c, const struct facts *shape, struct record *a)
{
	struct facts *const part[] = { &a->driver, &a->settings, &a->files };
	struct fact f;
	size_t n = 0;
	int ok = 1;

	for (size_t at = 0; ok && facts_next(shape, &at, &f);)
		if (f.kind == FACT_SHAPE) {
			ok = n < 3 && find_list(c, &f, part[n]);
			n++;
		} else if (f.kind == FACT_PASS) {
			a->pass = array_grow(a->pass, a->npass, &a->cap, sizeof *a->pass);
			struct record_pass *pass = &a->pass[a->npass++];
			*pass = (struct record_pass){ .name = xstrdup(f.subject) };
			ok = find_list(c, &f, &pass->fixed);
		} else if (a->npass > 0) {
			facts_add(&a->pass[a->npass - 1].base, &f);
		}
	return ok && n == 3 && a->npass > 0;
}

/* The base with some of its facts replaced. */
static void add_replaced(const struct facts *base, const struct facts *other,
    struct facts *out)
{
	struct fact f, now;

	for (size_t at = 0; facts_next(base, &at, &f);)
		facts_add(out, facts_find(other, &f, &now) ? &now : &f);
}

/* 1 with the record of the bundle as it was recorded; to be released anyway. */
static int find_record(struct capture *c, const struct job *job, struct record *a)
{
	struct facts memo = { .is_terse = 0 }, shape = { .is_terse = 0 };
	struct facts *other = NULL;
	struct sha256 key;
	struct fact f;
	size_t n = 0;
	int ok;

	*a = (struct record){ .npass = 0 };
	path_key(job, &key);
	ok = store_memo(c->env->programs.store, "facts", &key, &memo.bytes) &&
	    facts_get(&memo, FACT_SHAPE, "", FACT_NONE, &f) && find_list(c, &f, &shape) &&
	    read_shape(c, &shape, a);
	other = xcalloc(a->npass + 1, sizeof *other);
	for (size_t at = 0; ok && facts_next(&memo, &at, &f);)
		if (f.kind == FACT_PASS) {
			ok = n < a->npass && f.n == SHA256_SIZE;
			if (ok)
				memcpy(a->pass[n].key.byte, f.bytes, f.n);
			n++;
		} else if (f.kind == FACT_FRAME && n == 0) {
			a->frame = (int)fact_number(&f);
		} else if (f.kind == FACT_INTERMEDIATES && n == 0) {
			a->has_intermediates = fact_number(&f) != 0;
		} else if (n > 0) {
			facts_add(&other[n - 1], &f);
		}
	for (size_t i = 0; i < a->npass; i++) {
		struct record_pass *pass = &a->pass[i];
		/* A whole recipe begins as one. */
		if (facts_get(&other[i], FACT_LIST, "recipe", FACT_NONE, &f))
			facts_append(&pass->recipe, &other[i]);
		else
			add_replaced(&pass->base, &other[i], &pass->recipe);
		facts_release(&other[i]);
	}
	free(other);
	facts_release(&shape);
	facts_release(&memo);
	return ok && n == a->npass;
}

/* Explaining --------------------------------------------------------------------------- */

/* Files of the bundle that are not as they were recorded. */
static void explain_outputs(struct capture *c, const struct job *job, struct reasons *out)
{
	char *dir = fs_join(c->env->root, job->path);

	if (!fs_exists(dir))
		reasons_add(out, REASON_MISSING, "the bundle is missing", NULL, NULL,
		    NULL);
	for (size_t i = 0; i < job->row.nfile && fs_exists(dir); i++) {
		const struct bundle_file *f = &job->row.file[i];
		char *path = fs_join(dir, f->path), *what;
		struct sha256 sha;
		struct err err = ERR_INIT;
		if (!fs_exists(path)) {
			what = xasprintf("%s is missing", f->path);
			reasons_add_at(out, REASON_MISSING, what, NULL, NULL, NULL,
			    f->path, 0, -1);
			free(what);
		} else if (fs_hash(path, &sha, NULL, &err) ||
		    !sha256_equal(&sha, &f->sha)) {
			what = xasprintf("%s was altered on disk", f->path);
			reasons_add_at(out, REASON_ALTERED, what, NULL, NULL, NULL,
			    f->path, 0, -1);
			free(what);
		}
		err_release(&err);
		free(path);
	}
	free(dir);
}

void capture_explain(struct capture *c, struct group *g, struct job *job)
{
	struct reasons *out = &job->result->reasons;
	struct record was;

	if (!job->row.path) {
		reasons_add(out, REASON_NEVER, "was never captured", NULL, NULL, NULL);
		return;
	}
	if (job->is_retagged) {
		reasons_add(out, REASON_COMMIT,
		    job->row.dirty ? "tagged dirty, and clean now"
				   : "made without a commit, and committed now",
		    NULL, NULL, NULL);
		return;
	}
	if (!sha256_equal(&job->inputs_id, &job->row.inputs_id)) {
		if (find_record(c, job, &was) && c->env->compare)
			c->env->compare(&was, make_record(c, g, job), out);
		record_release(&was);
		if (out->nreason == 0)
			reasons_add(out, REASON_UNKNOWN,
			    "its sources, assets "
			    "or settings changed",
			    NULL, NULL, NULL);
	}
	if (!job->is_intact)
		explain_outputs(c, job, out);
	if (out->nreason == 0 && c->env->always)
		reasons_add(out, REASON_FORCED, "everything is made anew (-B)", NULL,
		    NULL, NULL);
}

void capture_note_driver(struct capture *c, struct group *g)
{
	struct reasons *out = &c->result->driver;
	struct record was;

	for (size_t i = 0; i < g->njob && out->nreason == 0; i++) {
		const struct job *job = &g->job[i];
		if (!job->row.path || sha256_equal(&job->inputs_id, &job->row.inputs_id))
			continue;
		if (find_record(c, job, &was) && c->env->compare_drivers) {
			make_common(c, g);
			c->env->compare_drivers(&was.driver, &g->record.driver, out);
		}
		record_release(&was);
		return;
	}
}

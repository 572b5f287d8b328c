#include "why/declared.h"

#include <stdlib.h>
#include <string.h>

#include "graph/encoder.h"
#include "graph/facts.h"
#include "graph/graph.h"
#include "glsl/shader.h"
#include "util/log.h"
#include "util/map.h"
#include "util/mem.h"
#include "vcs/paths.h"

#define LISTS_MAX 32 /* lists of paths tried for a commit, the last used first */

/* Texts are built for one context, so that no driver is needed. */
static const struct shader_target target = { .gl_version = 450, .has_es3 = 1 };

static const char *const manifest_name[] = {
	"stbuild.json",
	"stbuild.toml",
	"ShaderToy.toml",
};

/* The paths that some commit's files were read by. */
struct list {
	char **path;
	size_t npath;
	struct paths *paths;
	struct map class; /* paths_hash -> class */
};

/*
 * What the store knows of single commits, by declarer and git's settings: u32
 * count and as many hashes of lists (memo_key), u32 count and as many commits,
 * sorted: id (20 bytes), u32 index of its hash. Little-endian.
 */
#define COMMIT_SIZE 24
#define COMMITS_MAX 200000

struct commit_row {
	unsigned char id[20];
	uint32_t hash;
};

struct commit_table {
	struct sha256 key; /* of the memo */
	struct buf memo;
	const char *hash, *commit; /* in the memo */
	size_t nhash, ncommit;
	int *class;       /* a hash each; -1: not asked for yet */
	struct map fresh; /* id -> class, of this run */
};

struct declarer {
	struct commit_table commits;
	struct sha256 *memo; /* a class each: hash of a list that stands for it */
	struct declared_request request;
	struct sha256 id; /* of the request: whose memos these are */
	struct declared *class;
	size_t nclass, cap;
	struct map index;   /* key -> class */
	struct list **list; /* the last used first */
	size_t nlist, list_cap;
	size_t nread;
};

static void declared_release(struct declared *d)
{
	facts_release(&d->facts);
	free(d->fault);
	*d = (struct declared){ .fault = NULL };
}

/* What follows from the facts. */
static void declared_finish(struct declared *d)
{
	struct facts drawn = { .is_terse = 0 };
	struct fact f;

	for (size_t at = 0; facts_next(&d->facts, &at, &f);)
		if (f.kind == FACT_FAULT)
			d->fault = xstrndup((const char *)f.bytes, f.n);
		else if (f.kind == FACT_VARIANT && f.n == SHA256_SIZE)
			memcpy(d->variant.byte, f.bytes, f.n);
		else if (f.kind != FACT_PROGRAM)
			facts_add(&drawn, &f);
	facts_hash(&d->facts, FACT_IS_DECLARED, &d->key);
	facts_hash(&drawn, FACT_IS_DECLARED, &d->drawn);
	if (d->fault)
		d->drawn = d->key;
	facts_release(&drawn);
}

/* Reading a commit ------------------------------------------------------------- */

static int hash_asset(struct tree *tree, const struct asset *a, struct sha256 *out,
    struct err *err)
{
	enum tree_kind kind;
	char *resolved;

	if (tree_lookup(tree, a->path, &kind, &resolved, err))
		return -1;
	int rc = kind == TREE_FILE
	    ? tree_hash(tree, resolved, out, err)
	    : err_set(err, STATUS_INPUT, "asset '%s': there is no file %s", a->name,
		  a->path);
	free(resolved);
	return rc;
}

static int hash_assets(struct tree *tree, const struct graph *g, struct asset_info *asset,
    struct err *err)
{
	const struct manifest *m = g->manifest;

	for (size_t p = 0; p < m->npass; p++)
		for (size_t i = 0; i < m->pass[p].ninput; i++) {
			int a = m->pass[p].input[i].asset;
			if (a >= 0 && g->is_reached[p] &&
			    hash_asset(tree, &m->asset[a], &asset[a].sha, err))
				return -1;
		}
	return 0;
}

/* The PASS and PROGRAM facts of one pass. */
static int read_pass(struct tree *tree, const struct scene *scene, int p,
    struct inputs *inputs, struct facts *out, struct err *err)
{
	const struct manifest *m = scene->variant->manifest;
	const char *name = m->pass[p].name;
	struct source source = { 0 };
	struct shader shader = { 0 };
	struct facts list = { .is_terse = 0 };
	struct sha256 sha;
	int rc = -1;

	if (shader_expand(tree, m, p, 0, inputs, &source, err) ||
	    shader_build(scene->variant, p, &source, &target, &shader, err))
		goto out;
	struct key_program program = { .tokens = &shader.tokens };
	facts_of_static(scene, &program, p, NULL, &list);
	facts_of_inputs(scene, p, &list);
	facts_hash(&list, FACT_IS_DECLARED, &sha);
	facts_add_hash(out, FACT_PASS, name, FACT_NONE, &sha);
	facts_add_hash(out, FACT_PROGRAM, name, FACT_NONE, &shader.program_id);
	rc = 0;
out:
	facts_release(&list);
	shader_release(&shader);
	source_release(&source);
	return rc;
}

static void add_settings(const struct variant *v, const struct trace *trace,
    struct facts *out)
{
	struct facts list = { .is_terse = 0 };
	struct sha256 sha;

	facts_begin(&list, "settings");
	facts_of_settings(v, &list);
	facts_add_number(&list, FACT_INTERMEDIATES, "", FACT_NONE,
	    trace && trace->include_intermediates);
	facts_hash(&list, FACT_IS_DECLARED, &sha);
	facts_add_hash(out, FACT_SETTINGS, "", FACT_NONE, &sha);
	variant_id(v, &sha);
	facts_add_hash(out, FACT_VARIANT, "", FACT_NONE, &sha);
	facts_release(&list);
}

/* The files that a test compares with. */
static int add_references(struct tree *tree, const struct test *test,
    struct inputs *inputs, struct facts *out, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i <= test->nstorage && rc == 0; i++) {
		const char *path =
		    i < test->nstorage ? test->storage[i].reference : test->reference;
		enum tree_kind kind = TREE_ABSENT;
		char *resolved = NULL;
		struct sha256 sha;
		if (!path)
			continue;
		rc = tree_lookup(tree, path, &kind, &resolved, err);
		if (rc == 0 && kind == TREE_FILE)
			rc = tree_hash(tree, resolved, &sha, err);
		if (rc == 0) {
			int is_file = kind == TREE_FILE;
			inputs_add(inputs, path, is_file ? &sha : NULL);
			facts_add_bytes(out, FACT_REFERENCE, path, FACT_NONE, sha.byte,
			    is_file ? SHA256_SIZE : 0);
		}
		free(resolved);
	}
	return rc;
}

/* A test: its keys, and its references. */
static int add_test(struct tree *tree, const struct manifest *m, size_t t,
    struct inputs *inputs, struct facts *out, struct err *err)
{
	cJSON *json = manifest_to_json(m, MANIFEST_TESTS);
	char *text = cJSON_PrintUnformatted(
	    cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(json, "test"), (int)t));
	struct facts list = { .is_terse = 0 };
	struct sha256 sha;

	facts_begin(&list, "test");
	facts_add_text(&list, FACT_TEST, m->test[t].name, FACT_NONE, text);
	facts_add_double(&list, FACT_PREVIEW, m->preview_time);
	int rc = add_references(tree, &m->test[t], inputs, &list, err);
	facts_hash(&list, FACT_IS_DECLARED, &sha);
	facts_add_hash(out, FACT_TEST, m->test[t].name, FACT_NONE, &sha);
	facts_release(&list);
	cJSON_free(text);
	cJSON_Delete(json);
	return rc;
}

/* Index of the trace or test; -1 and the error. */
static int find_target(const struct declarer *d, const struct manifest *m,
    struct err *err)
{
	const char *test = d->request.test;
	int t = test ? -1 : manifest_trace(m, d->request.trace);

	for (size_t i = 0; test && i < m->ntest && t < 0; i++)
		if (strcmp(m->test[i].name, test) == 0)
			t = (int)i;
	return t >= 0 ? t
		      : err_set(err, STATUS_INPUT, "it has no %s '%s'",
			    test ? "test" : "trace", test ? test : d->request.trace);
}

/* Everything declared, or -1 and why it cannot be. */
static int read_manifest(const struct declarer *d, struct tree *tree,
    const struct manifest *m, struct inputs *inputs, struct declared *out,
    struct err *err)
{
	struct variant v = { 0 };
	struct graph g = { 0 };
	struct asset_info *asset = xcalloc(m->nasset + 1, sizeof *asset);
	struct scene scene = { &v, &g, asset, &rules_ours, 0 };
	int rc = -1, t = find_target(d, m, err);
	const struct trace *trace = d->request.test || t < 0 ? NULL : &m->trace[t];

	facts_begin(&out->facts, "declared");
	if (t < 0 || variant_init(&v, m, trace, d->request.options, err))
		goto out;
	graph_init(&g, m);
	if (hash_assets(tree, &g, asset, err))
		goto out;
	for (size_t i = 0; i < g.norder; i++)
		if (g.is_reached[g.order[i]] &&
		    read_pass(tree, &scene, g.order[i], inputs, &out->facts, err))
			goto out;
	add_settings(&v, trace, &out->facts);
	if (d->request.test && add_test(tree, m, (size_t)t, inputs, &out->facts, err))
		goto out;
	declared_finish(out);
	rc = 0;
out:
	free(asset);
	graph_release(&g);
	variant_release(&v);
	return rc;
}

/* A fault is that of all commits of its class, so it names none. */
static char *without_commit(const char *text, const char *commit)
{
	struct buf out = BUF_INIT;
	char *name = xasprintf("commit %.7s", commit);
	for (const char *at; (at = strstr(text, name)); text = at + strlen(name)) {
		buf_add(&out, text, (size_t)(at - text));
		buf_addstr(&out, "the commit");
	}
	buf_addstr(&out, text);
	free(name);
	return buf_detach(&out);
}

static void take_fault(struct declared *out, const char *text, const char *commit)
{
	char *fault = without_commit(text, commit);

	declared_release(out);
	facts_begin(&out->facts, "declared");
	facts_add_text(&out->facts, FACT_FAULT, "", FACT_NONE, fault);
	declared_finish(out);
	free(fault);
}

static int read_commit(struct declarer *d, const char *commit, struct inputs *inputs,
    struct declared *out, struct err *err)
{
	struct tree *tree = NULL;
	struct manifest m;
	struct errs errs = ERRS_INIT;
	struct err cause = ERR_INIT;
	char *path = NULL;
	int has_manifest = 0, rc = -1;

	d->nread++;
	*out = (struct declared){ .fault = NULL };
	if (repo_tree(d->request.repo, commit, &tree, &cause)) {
		if (cause.status == STATUS_INPUT)
			err_set(&cause, STATUS_INPUT,
			    "the commit does not "
			    "contain the project folder, which may have "
			    "had a different name then (-f FILE)");
		goto fault;
	}
	if (d->request.manifest)
		path = xstrdup(d->request.manifest);
	else if (manifest_find(tree, &path, &cause))
		goto fault;
	if (!path) {
		err_set(&cause, STATUS_INPUT, "it has no manifest");
		goto fault;
	}
	if (manifest_load(tree, path, inputs, &m, &errs)) {
		err_move(&cause, &errs.err[0]);
		goto fault;
	}
	has_manifest = 1;
	if (read_manifest(d, tree, &m, inputs, out, &cause))
		goto fault;
	rc = 0;
	goto out;
fault:
	if (cause.status == STATUS_MACHINE) {
		declared_release(out);
		err_move(err, &cause);
		goto out;
	}
	char *text = err_text(&cause);
	take_fault(out, text, commit);
	free(text);
	rc = 0;
out:
	if (has_manifest)
		manifest_release(&m);
	errs_release(&errs);
	err_release(&cause);
	free(path);
	tree_free(tree);
	return rc;
}

/* Classes ------------------------------------------------------------------------ */

/* Takes the class over, unless it is known already. hash is of its list. */
static int add_class(struct declarer *d, struct declared *declared,
    const struct sha256 *hash)
{
	size_t known = map_get(&d->index, declared->key.byte, SHA256_SIZE);
	if (known != MAP_NONE) {
		declared_release(declared);
		return (int)known;
	}
	d->class = array_grow(d->class, d->nclass, &d->cap, sizeof *d->class);
	d->memo = xreallocarray(d->memo, d->cap, sizeof *d->memo);
	d->memo[d->nclass] = *hash;
	d->class[d->nclass] = *declared;
	map_put(&d->index, declared->key.byte, SHA256_SIZE, d->nclass);
	return (int)d->nclass++;
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list_free(struct list *l)
{
	for (size_t i = 0; i < l->npath; i++)
		free(l->path[i]);
	free(l->path);
	paths_free(l->paths);
	map_release(&l->class);
	free(l);
}

/* Puts list i in front. */
static struct list *use_list(struct declarer *d, size_t i)
{
	struct list *l = d->list[i];
	memmove(d->list + 1, d->list, i * sizeof *d->list);
	d->list[0] = l;
	return l;
}

/* The list of these paths, which are taken over. */
static struct list *find_list(struct declarer *d, char **path, size_t npath)
{
	struct list *l = xcalloc(1, sizeof *l);
	l->path = path;
	l->npath = npath;
	qsort(path, npath, sizeof *path, compare_paths);
	for (size_t i = 0; i < d->nlist; i++) {
		size_t k = 0;
		if (d->list[i]->npath != npath)
			continue;
		while (k < npath && strcmp(d->list[i]->path[k], path[k]) == 0)
			k++;
		if (k == npath) {
			list_free(l);
			return use_list(d, i);
		}
	}
	l->paths = paths_new(d->request.repo, (const char *const *)path, npath);
	d->list = array_grow(d->list, d->nlist, &d->list_cap, sizeof *d->list);
	d->list[d->nlist++] = l;
	return use_list(d, d->nlist - 1);
}

/*
 * What a commit was read by. A fault may be about what no input shows (a
 * submodule in place of a file): it holds for the very same folder.
 */
static struct list *list_of(struct declarer *d, const struct inputs *inputs, int is_fault)
{
	size_t n = 0;
	char **path = xcalloc(inputs->ninput + 4, sizeof *path);
	if (is_fault) {
		path[n++] = xstrdup("");
		return find_list(d, path, n);
	}
	for (size_t i = 0; i < 3 && !d->request.manifest; i++)
		path[n++] = xstrdup(manifest_name[i]);
	for (size_t i = 0; i < inputs->ninput; i++) {
		int is_name = 0;
		for (size_t k = 0; k < 3 && !d->request.manifest; k++)
			is_name |= strcmp(inputs->input[i].path, manifest_name[k]) == 0;
		if (!is_name)
			path[n++] = xstrdup(inputs->input[i].path);
	}
	return find_list(d, path, n);
}

/* Memory --------------------------------------------------------------------------- */

/* The store's name for what a list's hash stands for. */
static void memo_key(const struct declarer *d, const struct sha256 *hash,
    struct sha256 *out)
{
	struct encoder e = { BUF_INIT };
	encoder_begin(&e, "declared-memo");
	encoder_sha(&e, TAG_STATIC, &d->id);
	encoder_sha(&e, TAG_INPUT, hash);
	encoder_end(&e, out);
	encoder_release(&e);
}

static void remember(struct declarer *d, const char *kind, const struct sha256 *key,
    const void *data, size_t n)
{
	struct err err = ERR_INIT;

	if (!d->request.store || !d->request.may_write)
		return;
	if (store_add_memo(d->request.store, kind, key, data, n, &err))
		log_verbose("%s", err.message);
	err_release(&err);
}

static void remember_class(struct declarer *d, const struct sha256 *hash,
    const struct declared *c)
{
	struct sha256 key;

	memo_key(d, hash, &key);
	remember(d, "declared", &key, c->facts.bytes.data, c->facts.bytes.len);
}

/* 1 when the store knows the class; a damaged row is a miss. */
static int recall_class(const struct declarer *d, const struct sha256 *hash,
    struct declared *out)
{
	struct sha256 key;
	struct fact f;

	memo_key(d, hash, &key);
	if (!d->request.store ||
	    !store_memo(d->request.store, "declared", &key, &out->facts.bytes))
		return 0;
	size_t end = 0;
	while (facts_next(&out->facts, &end, &f))
		;
	if (end != out->facts.bytes.len ||
	    !facts_get(&out->facts, FACT_LIST, "declared", FACT_NONE, &f)) {
		declared_release(out);
		return 0;
	}
	declared_finish(out);
	return 1;
}

static void remember_lists(struct declarer *d)
{
	struct buf all = BUF_INIT;

	/* Paths end with a NUL, lists with a path that no file has. */
	for (size_t i = 0; i < d->nlist && i < LISTS_MAX; i++) {
		for (size_t k = 0; k < d->list[i]->npath; k++)
			buf_add(&all, d->list[i]->path[k],
			    strlen(d->list[i]->path[k]) + 1);
		buf_add(&all, "\1", 2);
	}
	remember(d, "declared-paths", &d->id, all.data, all.len);
	buf_release(&all);
}

static void recall_lists(struct declarer *d)
{
	struct buf all = BUF_INIT;
	char **path = NULL;
	size_t n = 0, cap = 0;

	if (d->request.store)
		store_memo(d->request.store, "declared-paths", &d->id, &all);
	/* Cut off at the last NUL: what a damaged row has is tried in vain. */
	for (size_t at = 0; at < all.len && memchr(all.data + at, '\0', all.len - at);) {
		const char *s = all.data + at;
		at += strlen(s) + 1;
		if (strcmp(s, "\1") != 0) {
			path = array_grow(path, n, &cap, sizeof *path);
			path[n++] = xstrdup(s);
		} else if (n > 0) {
			find_list(d, path, n);
			path = NULL;
			n = cap = 0;
		}
	}
	for (size_t i = 0; i < n; i++)
		free(path[i]);
	free(path);
	buf_release(&all);
}

static void load_commits(struct declarer *d)
{
	struct commit_table *t = &d->commits;
	struct sha256 settings;
	struct encoder e = { BUF_INIT };

	paths_settings(d->request.repo, &settings);
	encoder_begin(&e, "declared-commits");
	encoder_sha(&e, TAG_STATIC, &d->id);
	encoder_sha(&e, TAG_INPUT, &settings);
	encoder_end(&e, &t->key);
	encoder_release(&e);
	if (!d->request.store ||
	    !store_memo(d->request.store, "declared-commits", &t->key, &t->memo) ||
	    t->memo.len < 8)
		return;
	const char *p = t->memo.data;
	size_t nhash = get_u32le(p);
	if (nhash > (t->memo.len - 8) / SHA256_SIZE)
		return;
	size_t at = 4 + nhash * SHA256_SIZE;
	size_t ncommit = get_u32le(p + at);
	if ((t->memo.len - at - 4) / COMMIT_SIZE != ncommit)
		return;
	t->hash = p + 4;
	t->commit = p + at + 4;
	t->nhash = nhash;
	t->ncommit = ncommit;
	t->class = xcalloc(nhash + 1, sizeof *t->class);
	for (size_t i = 0; i < nhash; i++)
		t->class[i] = -1;
}

static int compare_ids(const void *a, const void *b)
{
	return memcmp(a, b, 20);
}

/* 1 when the commit was read, in this run or an earlier one. */
static int find_commit(struct declarer *d, const unsigned char id[20], int *class)
{
	struct commit_table *t = &d->commits;
	size_t known = map_get(&t->fresh, id, 20);
	const char *row = known != MAP_NONE || !t->ncommit
	    ? NULL
	    : bsearch(id, t->commit, t->ncommit, COMMIT_SIZE, compare_ids);

	if (known != MAP_NONE)
		*class = (int)known;
	if (!row)
		return known != MAP_NONE;
	size_t i = get_u32le(row + 20);
	struct declared declared = { .fault = NULL };
	struct sha256 hash;
	if (i >= t->nhash)
		return 0;
	if (t->class[i] < 0) {
		memcpy(hash.byte, t->hash + i * SHA256_SIZE, SHA256_SIZE);
		if (!recall_class(d, &hash, &declared))
			return 0;
		t->class[i] = add_class(d, &declared, &hash);
	}
	*class = t->class[i];
	return 1;
}

/* Those known before, and those of this run. */
static void remember_commits(struct declarer *d)
{
	struct commit_table *t = &d->commits;
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;
	size_t n = 0, nhash = d->nclass;
	struct commit_row *row;
	uint32_t *place; /* of an old hash, in the new table */

	if (!t->fresh.nentry || !d->request.store || !d->request.may_write ||
	    t->ncommit + t->fresh.nentry > COMMITS_MAX)
		return;
	row = xcalloc(t->ncommit + t->fresh.nentry, sizeof *row);
	place = xcalloc(t->nhash + 1, sizeof *place);
	for (size_t i = 0; i < t->nhash; i++)
		place[i] = (uint32_t)(t->class[i] >= 0 ? (size_t)t->class[i] : nhash++);
	for (size_t i = 0; i < t->ncommit; i++) {
		const char *p = t->commit + i * COMMIT_SIZE;
		if (map_get(&t->fresh, p, 20) != MAP_NONE)
			continue;
		memcpy(row[n].id, p, 20);
		size_t old = get_u32le(p + 20);
		if (old < t->nhash)
			row[n++].hash = place[old];
	}
	for (size_t i = 0; i < t->fresh.nentry; i++) {
		memcpy(row[n].id, t->fresh.entry[i].key, 20);
		row[n++].hash = (uint32_t)t->fresh.entry[i].value;
	}
	qsort(row, n, sizeof *row, compare_ids);
	buf_u32le(&out, (uint32_t)nhash);
	if (d->nclass)
		buf_add(&out, d->memo, d->nclass * sizeof *d->memo);
	for (size_t i = 0; i < t->nhash; i++)
		if (t->class[i] < 0)
			buf_add(&out, t->hash + i * SHA256_SIZE, SHA256_SIZE);
	buf_u32le(&out, (uint32_t)n);
	for (size_t i = 0; i < n; i++) {
		buf_add(&out, row[i].id, 20);
		buf_u32le(&out, row[i].hash);
	}
	if (store_add_memo(d->request.store, "declared-commits", &t->key, out.data,
		out.len, &err))
		log_verbose("%s", err.message);
	err_release(&err);
	buf_release(&out);
	free(place);
	free(row);
}

/* The module ----------------------------------------------------------------------- */

struct declarer *declarer_new(const struct declared_request *request)
{
	const struct variant_options *o = request->options;
	struct encoder e = { BUF_INIT };
	struct declarer *d = xcalloc(1, sizeof *d);

	d->request = *request;
	encoder_begin(&e, "declared-request");
	encoder_u64(&e, TAG_HEADER_VERSION, SHADER_HEADER_VERSION);
	encoder_string(&e, request->test ? TAG_WHAT : TAG_NAME,
	    request->test ? request->test : request->trace);
	encoder_string(&e, TAG_INPUT, request->manifest ? request->manifest : "");
	if (o) {
		char *text = xasprintf("%s %d %d %a", o->preset ? o->preset : "",
		    o->width, o->height, o->fps);
		encoder_string(&e, TAG_SIZE, text);
		free(text);
		for (size_t i = 0; i < o->nset; i++)
			encoder_string(&e, TAG_UNIFORM, o->set[i]);
	}
	encoder_end(&e, &d->id);
	encoder_release(&e);
	recall_lists(d);
	load_commits(d);
	return d;
}

void declarer_free(struct declarer *d)
{
	if (!d)
		return;
	remember_commits(d);
	buf_release(&d->commits.memo);
	map_release(&d->commits.fresh);
	free(d->commits.class);
	free(d->memo);
	for (size_t i = 0; i < d->nclass; i++)
		declared_release(&d->class[i]);
	for (size_t i = 0; i < d->nlist; i++)
		list_free(d->list[i]);
	free(d->class);
	free(d->list);
	map_release(&d->index);
	free(d);
}

/* 1 when a commit is told by its trees. */
static int find_class(struct declarer *d, const char *commit, int *class, struct err *err)
{
	for (size_t i = 0; i < d->nlist && i < LISTS_MAX; i++) {
		struct list *l = d->list[i];
		struct sha256 hash;
		struct declared declared = { .fault = NULL };
		if (paths_hash(l->paths, commit, &hash, err))
			return -1;
		size_t known = map_get(&l->class, hash.byte, SHA256_SIZE);
		if (known == MAP_NONE) {
			if (!recall_class(d, &hash, &declared))
				continue;
			known = (size_t)add_class(d, &declared, &hash);
			map_put(&l->class, hash.byte, SHA256_SIZE, known);
		}
		*class = (int)known;
		use_list(d, i);
		return 1;
	}
	return 0;
}

/* By what the commit holds. */
static int class_of(struct declarer *d, const char *commit, int *class, struct err *err)
{
	struct inputs inputs = { 0 };
	struct declared declared = { .fault = NULL };
	struct sha256 hash;
	int rc = find_class(d, commit, class, err);

	if (rc)
		return rc < 0 ? -1 : 0;
	rc = read_commit(d, commit, &inputs, &declared, err);
	if (rc == 0) {
		size_t before = d->nlist;
		struct list *l = list_of(d, &inputs, declared.fault != NULL);
		if (d->nlist > before)
			remember_lists(d);
		rc = paths_hash(l->paths, commit, &hash, err);
		if (rc == 0) {
			remember_class(d, &hash, &declared);
			*class = add_class(d, &declared, &hash);
			map_put(&l->class, hash.byte, SHA256_SIZE, (size_t) * class);
		} else {
			declared_release(&declared);
		}
	}
	inputs_release(&inputs);
	return rc;
}

int declarer_class(struct declarer *d, const char *commit, int *class, struct err *err)
{
	unsigned char id[20];

	if (repo_parse_hex(commit, id, err))
		return -1;
	if (find_commit(d, id, class))
		return 0;
	if (class_of(d, commit, class, err))
		return -1;
	map_put(&d->commits.fresh, id, sizeof id, (size_t) * class);
	return 0;
}

const struct declared *declarer_get(const struct declarer *d, int class)
{
	return &d->class[class];
}

size_t declarer_count(const struct declarer *d)
{
	return d->nclass;
}

size_t declarer_reads(const struct declarer *d)
{
	return d->nread;
}

#include "why/declared.h"

#include <string.h>
#include <cjson/cJSON.h>

#include "graph/encoder.h"
#include "graph/graph.h"
#include "project/image.h"
#include "glsl/shader.h"
#include "util/log.h"
#include "util/map.h"
#include "util/mem.h"
#include "vcs/paths.h"

#define LISTS_MAX 32	/* lists of paths tried for a commit, the last used first */

/* Texts are built for one context, so that no driver is needed. */
static const struct shader_target target = { .gl_version = 450, .has_es3 = 1 };

static const char *const manifest_name[] = {
	"stbuild.json", "stbuild.toml", "ShaderToy.toml"
};

/* The paths that some commit's files were read by. */
struct list {
	char **path;
	size_t npath;
	struct paths *paths;
	struct map class;	/* paths_hash -> class */
};

struct declarer {
	struct declared_request request;
	struct sha256 id;	/* of the request: whose memos these are */
	struct declared *class;
	size_t nclass, cap;
	struct map index;	/* key -> class */
	struct list **list;	/* the last used first */
	size_t nlist, list_cap;
	size_t nread;
};

static void declared_release(struct declared *d)
{
	for (size_t i = 0; i < d->npart; i++)
		free(d->part[i].name);
	free(d->part);
	free(d->fault);
	*d = (struct declared) { .npart = 0 };
}

/* Reading a commit ------------------------------------------------------------- */

static void add_part(struct declared *d, char *name, const struct sha256 *sha)
{
	d->part = xreallocarray(d->part, d->npart + 1, sizeof *d->part);
	d->part[d->npart++] = (struct declared_part) { name, *sha };
}

/* All that decides what a pass draws, but for what it reads of others. */
static int encode_pass(struct encoder *e, struct tree *tree,
	const struct variant *v, const struct graph *g, int p,
	const struct shader *shader, struct err *err)
{
	const struct pass *pass = &v->manifest->pass[p];
	const struct variant_pass *vp = &v->pass[p];

	encoder_begin(e, "declared-pass");
	encoder_string(e, TAG_NAME, pass->name);
	encoder_u64(e, TAG_DIALECT, v->manifest->dialect);
	encoder_u64(e, TAG_HEADER_VERSION, SHADER_HEADER_VERSION);
	encoder_bytes(e, TAG_TOKENS, shader->tokens.data, shader->tokens.len);
	encoder_u64(e, TAG_KIND, pass->kind);
	encoder_u64(e, TAG_OWN_SIZE, vp->is_output_sized ? 0 :
		(uint64_t)vp->width << 32 | (uint64_t)vp->height);
	encoder_u64(e, TAG_FORMAT, pass->format);
	for (int i = 0; i < pass->nextra_output; i++)
		encoder_u64(e, TAG_FORMAT, pass->extra_output[i]);
	encoder_u64(e, TAG_ITERATIONS, (uint64_t)vp->iterations);
	for (int i = 0; i < 3; i++)
		encoder_u64(e, TAG_LOCAL_SIZE, (uint64_t)vp->local_size[i]);
	encoder_u64(e, TAG_MIPS, g->mips[p]);
	for (size_t i = 0; i < pass->ninput; i++) {
		const struct input_ref *in = &pass->input[i];
		encoder_u64(e, TAG_CHANNEL, (uint64_t)in->channel);
		encoder_u64(e, TAG_KIND, in->kind);
		encoder_u64(e, TAG_SAMPLER,
			(uint64_t)in->filter << 8 | (uint64_t)in->wrap);
		if (in->pass >= 0) {
			encoder_string(e, TAG_INPUT,
				v->manifest->pass[in->pass].name);
			encoder_u64(e, TAG_OUTPUT, (uint64_t)in->output);
			encoder_u64(e, TAG_HISTORY, (uint64_t)in->is_previous);
		}
		if (in->asset < 0)
			continue;
		const struct asset *a = &v->manifest->asset[in->asset];
		enum tree_kind kind;
		char *resolved;
		struct sha256 sha;
		if (tree_lookup(tree, a->path, &kind, &resolved, err))
			return -1;
		int rc = kind == TREE_FILE ? tree_hash(tree, resolved, &sha, err) :
			err_set(err, STATUS_INPUT, "asset '%s': there is no "
				"file %s", a->name, a->path);
		free(resolved);
		if (rc)
			return -1;
		encoder_sha(e, TAG_ASSET, &sha);
		encoder_u64(e, TAG_KIND, a->kind);
		encoder_u64(e, TAG_OUTPUT,
			(uint64_t)a->vflip << 8 | (uint64_t)a->channels);
		encoder_string(e, TAG_DECODER, IMAGE_DECODER);
	}
	for (size_t i = 0; i < pass->nstorage; i++) {
		encoder_u64(e, TAG_STORAGE, pass->storage[i].binding);
		encoder_string(e, TAG_NAME, pass->storage[i].name);
		encoder_u64(e, TAG_SIZE, pass->storage[i].size);
	}
	return 0;
}

/* Reads one pass: its part, and its program into programs. */
static int read_pass(struct tree *tree, const struct variant *v,
	const struct graph *g, int p, struct inputs *inputs,
	struct declared *out, struct buf *programs, struct err *err)
{
	const struct manifest *m = v->manifest;
	struct source source = { 0 };
	struct shader shader = { 0 };
	struct encoder e = { BUF_INIT, NULL };
	struct sha256 sha;
	int rc = -1;

	if (shader_expand(tree, m, p, 0, inputs, &source, err) ||
	    shader_build(v, p, &source, &target, &shader, err) ||
	    encode_pass(&e, tree, v, g, p, &shader, err))
		goto out;
	encoder_end(&e, &sha);
	add_part(out, xasprintf("pass '%s'", m->pass[p].name), &sha);
	buf_add(programs, shader.program_id.byte, SHA256_SIZE);
	rc = 0;
out:
	encoder_release(&e);
	shader_release(&shader);
	source_release(&source);
	return rc;
}

static void encode_settings(struct encoder *e, const struct variant *v,
	const struct trace *trace, struct sha256 *variant)
{
	const struct date *date = &v->manifest->date;
	struct buf text = BUF_INIT;

	variant_id(v, variant);
	encoder_begin(e, "declared-settings");
	encoder_sha(e, TAG_STATIC, variant);
	buf_addf(&text, "%d %d %d %d %d %a", date->year, date->month, date->day,
		date->hour, date->minute, date->second);
	encoder_string(e, TAG_VALUE, buf_str(&text));
	encoder_u64(e, TAG_OUTPUT,
		(uint64_t)(trace && trace->include_intermediates));
	buf_release(&text);
}

/* A test: its keys, and the files that it compares with. */
static int encode_test(struct encoder *e, struct tree *tree,
	const struct manifest *m, size_t t, struct inputs *inputs,
	struct err *err)
{
	const struct test *test = &m->test[t];
	cJSON *json = manifest_to_json(m, MANIFEST_TESTS);
	char *text = cJSON_PrintUnformatted(cJSON_GetArrayItem(
		cJSON_GetObjectItemCaseSensitive(json, "test"), (int)t));
	int rc = 0;

	encoder_string(e, TAG_VALUE, text);
	encoder_bytes(e, TAG_FRAME, &m->preview_time, sizeof m->preview_time);
	cJSON_free(text);
	cJSON_Delete(json);
	for (size_t i = 0; i <= test->nstorage && rc == 0; i++) {
		const char *path = i < test->nstorage ?
			test->storage[i].reference : test->reference;
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
			if (is_file)
				encoder_sha(e, TAG_INPUT, &sha);
			else
				encoder_string(e, TAG_UNBOUND, path);
		}
		free(resolved);
	}
	return rc;
}

/* Index of the trace or test; -1 and the error. */
static int find_target(const struct declarer *d, const struct manifest *m,
	struct err *err)
{
	const char *test = d->request.test;
	int t = test ? -1 : manifest_trace(m, d->request.trace);

	for (size_t i = 0; test && i < m->ntest && t < 0; i++)
		if (!strcmp(m->test[i].name, test))
			t = (int)i;
	return t >= 0 ? t : err_set(err, STATUS_INPUT, "there is no %s '%s'",
		test ? "test" : "trace", test ? test : d->request.trace);
}

/* Everything declared, or -1 and why it cannot be. */
static int read_manifest(const struct declarer *d, struct tree *tree,
	const struct manifest *m, struct inputs *inputs, struct declared *out,
	struct err *err)
{
	struct variant v = { 0 };
	struct graph g = { 0 };
	struct encoder e = { BUF_INIT, NULL };
	struct buf programs = BUF_INIT;
	struct sha256 sha;
	int rc = -1, t = find_target(d, m, err);
	const struct trace *trace = d->request.test || t < 0 ? NULL :
		&m->trace[t];

	if (t < 0 || variant_init(&v, m, trace, d->request.options, err))
		goto out;
	graph_init(&g, m);
	for (size_t i = 0; i < g.norder; i++)
		if (g.is_reached[g.order[i]] && read_pass(tree, &v, &g,
		    g.order[i], inputs, out, &programs, err))
			goto out;
	encode_settings(&e, &v, trace, &out->variant);
	encoder_end(&e, &sha);
	add_part(out, xstrdup("settings"), &sha);
	if (d->request.test) {
		encoder_begin(&e, "declared-test");
		if (encode_test(&e, tree, m, (size_t)t, inputs, err))
			goto out;
		encoder_end(&e, &sha);
		add_part(out, xasprintf("test '%s'", d->request.test), &sha);
	}
	encoder_begin(&e, "declared-drawn");
	for (size_t i = 0; i < out->npart; i++)
		encoder_sha(&e, TAG_STATIC, &out->part[i].sha);
	encoder_end(&e, &out->drawn);
	encoder_begin(&e, "declared");
	encoder_sha(&e, TAG_STATIC, &out->drawn);
	encoder_bytes(&e, TAG_TOKENS, programs.data, programs.len);
	encoder_end(&e, &out->key);
	rc = 0;
out:
	buf_release(&programs);
	encoder_release(&e);
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

static void take_fault(struct declared *out, const char *text,
	const char *commit)
{
	struct encoder e = { BUF_INIT, NULL };
	declared_release(out);
	out->fault = without_commit(text, commit);
	text = out->fault;
	encoder_begin(&e, "declared-fault");
	encoder_string(&e, TAG_VALUE, text);
	encoder_end(&e, &out->key);
	out->drawn = out->key;
	encoder_release(&e);
}

static int read_commit(struct declarer *d, const char *commit,
	struct inputs *inputs, struct declared *out, struct err *err)
{
	struct tree *tree = NULL;
	struct manifest m;
	struct errs errs = ERRS_INIT;
	struct err cause = ERR_INIT;
	char *path = NULL;
	int has_manifest = 0, rc = -1;

	d->nread++;
	*out = (struct declared) { .npart = 0 };
	if (repo_tree(d->request.repo, commit, &tree, &cause)) {
		if (cause.status == STATUS_INPUT)
			err_set(&cause, STATUS_INPUT, "the commit has no "
				"folder of the project, which may have had "
				"another name then (-f FILE)");
		goto fault;
	}
	if (d->request.manifest)
		path = xstrdup(d->request.manifest);
	else if (manifest_find(tree, &path, &cause))
		goto fault;
	if (!path) {
		err_set(&cause, STATUS_INPUT, "there is no manifest");
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

/* Takes the class over, unless it is known already. */
static int add_class(struct declarer *d, struct declared *declared)
{
	size_t known = map_get(&d->index, declared->key.byte, SHA256_SIZE);
	if (known != MAP_NONE) {
		declared_release(declared);
		return (int)known;
	}
	d->class = array_grow(d->class, d->nclass, &d->cap, sizeof *d->class);
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
		while (k < npath && !strcmp(d->list[i]->path[k], path[k]))
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
 * What a commit was read by. A fault may be about what no input tells (a
 * submodule in place of a file): it holds for the very same folder.
 */
static struct list *list_of(struct declarer *d, const struct inputs *inputs,
	int is_fault)
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
			is_name |= !strcmp(inputs->input[i].path,
				manifest_name[k]);
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
	struct encoder e = { BUF_INIT, NULL };
	encoder_begin(&e, "declared-memo");
	encoder_sha(&e, TAG_STATIC, &d->id);
	encoder_sha(&e, TAG_INPUT, hash);
	encoder_end(&e, out);
	encoder_release(&e);
}

static void remember(struct declarer *d, const char *kind,
	const struct sha256 *key, cJSON *json)
{
	struct err err = ERR_INIT;
	char *text = cJSON_PrintUnformatted(json);
	if (store_add_memo(d->request.store, kind, key, text, strlen(text), &err))
		log_verbose("%s", err.message);
	err_release(&err);
	cJSON_free(text);
	cJSON_Delete(json);
}

static cJSON *recall(const struct declarer *d, const char *kind,
	const struct sha256 *key)
{
	struct buf text = BUF_INIT;
	cJSON *json = NULL;
	if (d->request.store && store_memo(d->request.store, kind, key, &text))
		json = cJSON_ParseWithLength(buf_str(&text), text.len);
	buf_release(&text);
	return json;
}

static void add_hex(cJSON *json, const char *name, const struct sha256 *sha)
{
	char hex[SHA256_HEX + 1];
	cJSON_AddStringToObject(json, name, sha256_hex(sha, hex));
}

static int get_hex(const cJSON *json, const char *name, struct sha256 *out)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, name);
	return cJSON_IsString(item) ? sha256_parse(item->valuestring, out) : -1;
}

static void remember_class(struct declarer *d, const struct sha256 *hash,
	const struct declared *c)
{
	struct sha256 key;
	if (!d->request.store || !d->request.may_write)
		return;
	cJSON *json = cJSON_CreateObject();
	add_hex(json, "key", &c->key);
	add_hex(json, "drawn", &c->drawn);
	add_hex(json, "variant", &c->variant);
	if (c->fault)
		cJSON_AddStringToObject(json, "fault", c->fault);
	cJSON *parts = cJSON_AddArrayToObject(json, "parts");
	for (size_t i = 0; i < c->npart; i++) {
		cJSON *part = cJSON_CreateObject();
		cJSON_AddStringToObject(part, "name", c->part[i].name);
		add_hex(part, "sha", &c->part[i].sha);
		cJSON_AddItemToArray(parts, part);
	}
	memo_key(d, hash, &key);
	remember(d, "declared", &key, json);
}

/* 1 when the store knows the class; a damaged row is a miss. */
static int recall_class(const struct declarer *d, const struct sha256 *hash,
	struct declared *out)
{
	struct sha256 key;
	memo_key(d, hash, &key);
	cJSON *json = recall(d, "declared", &key);
	const cJSON *part, *fault =
		cJSON_GetObjectItemCaseSensitive(json, "fault");
	int ok = json && !get_hex(json, "key", &out->key) &&
		!get_hex(json, "drawn", &out->drawn) &&
		!get_hex(json, "variant", &out->variant);
	out->fault = ok && cJSON_IsString(fault) ?
		xstrdup(fault->valuestring) : NULL;
	cJSON_ArrayForEach(part, cJSON_GetObjectItemCaseSensitive(json, "parts")) {
		const cJSON *name = cJSON_GetObjectItemCaseSensitive(part, "name");
		struct sha256 sha;
		ok = ok && cJSON_IsString(name) && !get_hex(part, "sha", &sha);
		if (ok)
			add_part(out, xstrdup(name->valuestring), &sha);
	}
	if (!ok)
		declared_release(out);
	cJSON_Delete(json);
	return ok;
}

static void remember_lists(struct declarer *d)
{
	if (!d->request.store || !d->request.may_write)
		return;
	cJSON *json = cJSON_CreateArray();
	for (size_t i = 0; i < d->nlist && i < LISTS_MAX; i++)
		cJSON_AddItemToArray(json, cJSON_CreateStringArray(
			(const char *const *)d->list[i]->path,
			(int)d->list[i]->npath));
	remember(d, "declared-paths", &d->id, json);
}

static void recall_lists(struct declarer *d)
{
	const cJSON *list, *item;
	cJSON *json = recall(d, "declared-paths", &d->id);
	cJSON_ArrayForEach(list, json) {
		char **path = NULL;
		size_t n = 0, cap = 0;
		cJSON_ArrayForEach(item, list) {
			path = array_grow(path, n, &cap, sizeof *path);
			path[n++] = xstrdup(cJSON_IsString(item) ?
				item->valuestring : "");
		}
		if (n)
			find_list(d, path, n);
	}
	cJSON_Delete(json);
}

/* The module ----------------------------------------------------------------------- */

struct declarer *declarer_new(const struct declared_request *request)
{
	const struct variant_options *o = request->options;
	struct encoder e = { BUF_INIT, NULL };
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
	return d;
}

void declarer_free(struct declarer *d)
{
	if (!d)
		return;
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
static int find_class(struct declarer *d, const char *commit, int *class,
	struct err *err)
{
	for (size_t i = 0; i < d->nlist && i < LISTS_MAX; i++) {
		struct list *l = d->list[i];
		struct sha256 hash;
		struct declared declared = { .npart = 0 };
		if (paths_hash(l->paths, commit, &hash, err))
			return -1;
		size_t known = map_get(&l->class, hash.byte, SHA256_SIZE);
		if (known == MAP_NONE) {
			if (!recall_class(d, &hash, &declared))
				continue;
			known = (size_t)add_class(d, &declared);
			map_put(&l->class, hash.byte, SHA256_SIZE, known);
		}
		*class = (int)known;
		use_list(d, i);
		return 1;
	}
	return 0;
}

int declarer_class(struct declarer *d, const char *commit, int *class,
	struct err *err)
{
	struct inputs inputs = { 0 };
	struct declared declared = { .npart = 0 };
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
			*class = add_class(d, &declared);
			map_put(&l->class, hash.byte, SHA256_SIZE,
				(size_t)*class);
		} else {
			declared_release(&declared);
		}
	}
	inputs_release(&inputs);
	return rc;
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

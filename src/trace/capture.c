#include "trace/capture.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "group.h"
#include "project/image.h"
#include "render/sweep.h"
#include "trace/assembly.h"
#include "trace/sttf.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/pool.h"
#include "util/proc.h"

#define PROGRESS_NS 100000000LL	/* between two calls of env->progress */

/* A worker and the group it renders. */
struct runner {
	struct capture *capture;
	struct worker *worker;		/* null: not started */
	int is_session_worker;
	struct group *group;		/* null: idle */
	struct sweep *sweep;
	int nstoring;			/* products on their way to the store */
	int nassembling;
	uint32_t **program;		/* a set each: ids a pass, in this worker */
};

struct capture {
	const struct capture_env *env;
	struct capture_result *result;
	struct sha256 driver;		/* identity that keys were made with */
	struct asset_set assets;
	struct program_set **set;
	size_t nset;
	struct group **group;		/* in request order */
	size_t ngroup;
	size_t next_group;		/* the first that was not started */
	struct runner *runner;
	int nrunner;
	struct pool *pool;
	struct map drawn;		/* keys drawn in this run */
	struct map failed;		/* keys that cannot be: index in fault */
	struct errs fault;
	uint64_t ndraw_planned;
	long long progress_at;
	int is_stopping;		/* a target failed without keep_going */
	int driver_changed;
};

/* A product's bytes on their way to an object. */
struct store_job {
	struct pool_job job;
	struct runner *runner;
	struct slab *slab;
	size_t n;
	char *store_dir;
	struct sha256 key;
	int index;
	uint32_t node;
	struct sha256 object;
	struct err err;
	int rc;
};

struct assembly_job {
	struct pool_job job;
	struct runner *runner;
	struct job *bundle;
	struct assembly assembly;
};

const char *capture_status_name(enum capture_status s)
{
	static const char *const name[] = {
		[CAPTURE_CURRENT] = "current",
		[CAPTURE_RETAGGED] = "retagged",
		[CAPTURE_RESTORED] = "restored",
		[CAPTURE_ASSEMBLED] = "assembled",
		[CAPTURE_BUILT] = "built",
		[CAPTURE_FAILED] = "failed",
		[CAPTURE_STALE] = "stale",
	};

	return name[s];
}

/* Assets ----------------------------------------------------------------------- */

static int read_asset(struct capture *c, size_t a, struct err *err)
{
	const struct asset *asset = &c->env->manifest->asset[a];
	struct buf bytes = BUF_INIT;
	int rc;

	if (c->assets.image[a].data)
		return 0;
	rc = tree_read(c->env->tree, c->assets.resolved[a], LIMIT_ASSET_BYTES,
		&bytes, err);
	if (rc == 0)
		rc = image_decode(asset, asset->path, bytes.data, bytes.len,
			&c->assets.image[a], err);
	buf_release(&bytes);
	if (rc != 0)
		err_wrap(err, "while reading asset '%s'", asset->name);
	return rc;
}

/* Sizes are remembered, so that keys need no decoding. */
static int find_asset_size(struct capture *c, size_t a, struct err *err)
{
	const struct asset *asset = &c->env->manifest->asset[a];
	struct asset_info *info = &c->assets.info[a];
	struct encoder e = { BUF_INIT, NULL };
	struct buf memo = BUF_INIT;
	struct sha256 key;
	int rc = 0;

	encoder_begin(&e, "asset-size");
	encoder_sha(&e, TAG_ASSET, &info->sha);
	encoder_u64(&e, TAG_KIND, asset->kind);
	encoder_string(&e, TAG_DECODER, IMAGE_DECODER);
	encoder_end(&e, &key);
	encoder_release(&e);
	if (store_memo(c->env->programs.store, "asset-size", &key, &memo) &&
	    memo.len == 12) {
		for (int i = 0; i < 3; i++)
			info->size[i] = (int)get_u32le(memo.data + 4 * i);
	} else if (asset->kind != ASSET_VIDEO) {
		rc = read_asset(c, a, err);
		buf_reset(&memo);
		if (rc == 0) {
			const struct image *image = &c->assets.image[a];
			info->size[0] = image->width;
			info->size[1] = image->height;
			info->size[2] = image->depth;
			for (int i = 0; i < 3; i++)
				buf_u32le(&memo, (uint32_t)info->size[i]);
			rc = store_add_memo(c->env->programs.store,
				"asset-size", &key, memo.data, memo.len, err);
		}
	}
	buf_release(&memo);
	return rc;
}

static int load_assets(struct capture *c, struct err *err)
{
	const struct manifest *m = c->env->manifest;

	c->assets.info = xcalloc(m->nasset + 1, sizeof *c->assets.info);
	c->assets.image = xcalloc(m->nasset + 1, sizeof *c->assets.image);
	c->assets.resolved = xcalloc(m->nasset + 1,
		sizeof *c->assets.resolved);
	for (size_t a = 0; a < m->nasset; a++) {
		const struct asset *asset = &m->asset[a];
		enum tree_kind kind;
		if (asset->kind == ASSET_VIDEO)
			return err_set(err, STATUS_INPUT, "asset '%s' is a "
				"video, which has no frames to capture "
				"reproducibly: use a texture", asset->name);
		if (tree_lookup(c->env->tree, asset->path, &kind,
		    &c->assets.resolved[a], err))
			return -1;
		if (kind != TREE_FILE)
			return err_set(err, STATUS_INPUT, "asset '%s': there "
				"is no file %s", asset->name, asset->path);
		if (tree_hash(c->env->tree, c->assets.resolved[a],
		    &c->assets.info[a].sha, err) ||
		    find_asset_size(c, a, err))
			return -1;
	}
	return 0;
}

static int refuse_live_inputs(const struct manifest *m, struct err *err)
{
	for (size_t p = 0; p < m->npass; p++)
		for (size_t i = 0; i < m->pass[p].ninput; i++) {
			const struct input_ref *in = &m->pass[p].input[i];
			if (in->kind != INPUT_WEBCAM)
				continue;
			err_set(err, STATUS_INPUT, "pass '%s' reads the "
				"webcam, which cannot be captured "
				"reproducibly: use a texture",
				m->pass[p].name);
			err_place(err, m->path, in->line, in->column, NULL);
			return -1;
		}
	return 0;
}

/* Programs ---------------------------------------------------------------------- */

static void set_free(struct program_set *set)
{
	if (!set)
		return;
	free(set->preset);
	programs_release(&set->programs);
	free(set->key_program);
	free(set->source_sha);
	inputs_release(&set->inputs);
	git_state_release(&set->git);
	errs_release(&set->errs);
	free(set);
}

/* HEAD, and which of the inputs differ from it. */
static int find_git_state(const struct capture_env *env, const struct inputs *inputs,
	struct git_state *out, struct err *err)
{
	memset(out, 0, sizeof *out);
	if (!env->repo)
		return 0;
	if (repo_head(env->repo, &out->head, err))
		return -1;
	out->has_head = out->head.id[0] != '\0';
	if (!out->has_head)
		return 0;
	for (size_t i = 0; i < inputs->ninput; i++) {
		int dirty = repo_is_dirty(env->repo, &inputs->input[i], err);
		if (dirty < 0)
			return -1;
		if (!dirty)
			continue;
		out->dirty = xreallocarray(out->dirty, out->ndirty + 1,
			sizeof *out->dirty);
		out->dirty[out->ndirty++] = xstrdup(inputs->input[i].path);
	}
	return 0;
}

static void hash_sources(struct program_set *set, const struct manifest *m)
{
	set->source_sha = xcalloc(m->npass, sizeof *set->source_sha);
	for (size_t p = 0; p < m->npass; p++) {
		struct buf text = BUF_INIT;
		const struct program *program = &set->programs.program[p];
		if (!program->source.text)
			continue;
		shader_portable(m, (int)p, &program->source, &text);
		sha256_of(text.data, text.len, &set->source_sha[p]);
		buf_release(&text);
	}
}

static int set_load(struct capture *c, struct program_set *set, const struct variant *v,
	struct err *err)
{
	const struct manifest *m = c->env->manifest;
	struct program_env env = c->env->programs;
	struct graph graph;
	int rc;

	graph_init(&graph, m);
	for (size_t i = 0; i < c->env->manifest_inputs->ninput; i++) {
		const struct input *in = &c->env->manifest_inputs->input[i];
		inputs_add(&set->inputs, in->path,
			in->is_absent ? NULL : &in->sha);
	}
	env.inputs = &set->inputs;
	set->ok = programs_load(&env, v, graph.is_reached, &set->programs,
		&set->errs) == 0;
	for (size_t a = 0; a < m->nasset; a++)
		inputs_add(&set->inputs, m->asset[a].path,
			&c->assets.info[a].sha);
	graph_release(&graph);
	set->key_program = xcalloc(m->npass, sizeof *set->key_program);
	for (size_t p = 0; p < m->npass; p++)
		set->key_program[p] = (struct key_program){
			&set->programs.program[p].shader.tokens,
			set->programs.program[p].shader.has_discard,
			&set->programs.program[p].reflection };
	hash_sources(set, m);
	rc = find_git_state(c->env, &set->inputs, &set->git, err);
	return rc;
}

static int same_preset(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static int find_set(struct capture *c, const struct variant *v, struct program_set **out,
	struct err *err)
{
	for (size_t i = 0; i < c->nset; i++)
		if (same_preset(c->set[i]->preset, v->preset)) {
			*out = c->set[i];
			return 0;
		}
	c->set = xreallocarray(c->set, c->nset + 1, sizeof *c->set);
	struct program_set *set = c->set[c->nset++] = xcalloc(1, sizeof *set);
	set->preset = xstrdup(v->preset);
	*out = set;
	return set_load(c, set, v, err);
}

/* Groups ------------------------------------------------------------------------- */

static char *bundle_path(const struct capture_request *r, const struct variant *v,
	int frame)
{
	struct sha256 id;
	char hex[SHA256_HEX + 1];

	if (r->path)
		return xstrdup(r->path);
	if (!r->is_one_off)
		return xasprintf("target/traces/%s@%d.sttrace", r->name,
			frame);
	variant_id(v, &id);
	return xasprintf("target/captures/%s@%d-%.8s.sttrace", r->name, frame,
		sha256_hex(&id, hex));
}

static void add_job(struct group *g, const struct capture_request *r, int frame,
	struct capture_bundle *result)
{
	g->job = array_grow(g->job, g->njob, &g->job_cap, sizeof *g->job);
	struct job *job = &g->job[g->njob++];
	memset(job, 0, sizeof *job);
	job->request = r;
	job->frame = frame;
	job->path = bundle_path(r, &g->variant, frame);
	job->result = result;
	result->name = xstrdup(r->name);
	result->frame = frame;
	result->path = xstrdup(job->path);
}

static int make_groups(struct capture *c, const struct capture_request *request,
	size_t nrequest, struct err *err)
{
	struct capture_bundle *bundle = c->result->bundle;
	struct map ids = MAP_INIT;
	int rc = 0;

	c->group = xcalloc(nrequest + 1, sizeof *c->group);
	for (size_t i = 0; i < nrequest && rc == 0; i++) {
		const struct capture_request *r = &request[i];
		struct group *g = xcalloc(1, sizeof *g);
		struct sha256 id;
		if (variant_init(&g->variant, c->env->manifest, r->trace,
		    r->options, err)) {
			free(g);
			rc = -1;
			break;
		}
		variant_id(&g->variant, &id);
		size_t known = map_get(&ids, id.byte, sizeof id.byte);
		if (known != MAP_NONE) {
			group_release(g);
			free(g);
			g = c->group[known];
		} else {
			map_put(&ids, id.byte, sizeof id.byte, c->ngroup);
			c->group[c->ngroup++] = g;
			rc = find_set(c, &g->variant, &g->set, err);
		}
		for (size_t f = 0; f < r->nframe && rc == 0; f++)
			add_job(g, r, r->frame[f], bundle++);
	}
	map_release(&ids);
	return rc;
}

/* Results ------------------------------------------------------------------------ */

static void fail_job(struct capture *c, struct job *job, const struct err *cause)
{
	struct err *err = &job->result->err;

	if (job->is_done)
		return;
	job->is_done = 1;
	job->result->status = CAPTURE_FAILED;
	err_set(err, cause->status, "%s", cause->message);
	err_place(err, cause->file, cause->line, cause->column, cause->key);
	c->result->counts.failures++;
	if (!c->env->keep_going)
		c->is_stopping = 1;
}

static int was_drawn(const struct capture *c, const struct sha256 *key)
{
	return map_get(&c->drawn, key->byte, sizeof key->byte) != MAP_NONE;
}

struct drawn_check {
	const struct capture *capture;
	const struct group *group;
	int is_drawn;
};

static void check_drawn(void *data, uint32_t node)
{
	struct drawn_check *d = data;

	d->is_drawn |= was_drawn(d->capture, &d->group->keys.key[node]);
}

static void check_written(void *data, uint32_t version)
{
	struct drawn_check *d = data;

	check_drawn(data, d->group->keys.version[version].writer);
}

static void count_reused(struct capture *c, const struct group *g, int frame)
{
	for (size_t i = 0; i < g->graph.norder; i++) {
		int p = g->graph.order[i];
		if (g->graph.is_reached[p] && !was_drawn(c,
		    &g->keys.key[keys_node(&g->keys, p, frame)]))
			c->result->counts.nodes_reused++;
	}
}

static enum capture_status content_status(const struct capture *c, const struct group *g,
	const struct job *job)
{
	struct drawn_check d = { c, g, 0 };

	plan_wanted(&g->keys, job->frame, check_drawn, check_written, &d);
	if (d.is_drawn)
		return CAPTURE_BUILT;
	if (job->row.path && sha256_equal(&job->row.inputs_id,
	    &job->inputs_id))
		return CAPTURE_RESTORED;
	return CAPTURE_ASSEMBLED;
}

static int add_history(struct capture *c, const struct group *g, const struct job *job,
	const struct sha256 *content, struct err *err)
{
	const struct git_state *git = &g->set->git;
	struct history_row row = { .trace = job->result->name,
		.frame = job->frame, .content_id = *content,
		.dirty = git->ndirty > 0, .time = (int64_t)time(NULL) };

	variant_id(&g->variant, &row.variant);
	if (git->has_head)
		memcpy(row.commit, git->head.id, sizeof row.commit);
	return store_add_history(c->env->programs.store, &row, err);
}

/* Records a bundle that stands at its path. file[] moves into the row. */
static int record_bundle(struct capture *c, const struct group *g, struct job *job,
	struct assembly *a, struct err *err)
{
	const struct git_state *git = &g->set->git;
	struct store *store = c->env->programs.store;
	struct bundle_row row = { .path = job->path,
		.trace = job->request->is_one_off ? "" : job->result->name,
		.frame = job->frame, .inputs_id = job->inputs_id,
		.stable_id = a->stable_id, .content_id = a->content_id };

	variant_id(&g->variant, &row.variant);
	if (a->is_same || job->keeps_git) {
		memcpy(row.commit, job->row.commit, sizeof row.commit);
		row.dirty = job->row.dirty;
	} else {
		if (git->has_head)
			memcpy(row.commit, git->head.id, sizeof row.commit);
		row.dirty = git->ndirty > 0;
	}
	row.file = a->is_same ? job->row.file : a->file;
	row.nfile = a->is_same ? job->row.nfile : a->nfile;
	if (store_add_bundle(store, &row, err))
		return -1;
	return add_history(c, g, job, &a->content_id, err);
}

/* Retagging: trace.json alone, its git section alone. */
static int retag(struct capture *c, const struct group *g, struct job *job,
	struct err *err)
{
	char *dir = fs_join(c->env->root, job->path);
	char *path = fs_join(dir, "trace.json");
	struct buf text = BUF_INIT;
	cJSON *json = NULL;
	int rc = fs_read(path, LIMIT_MANIFEST_BYTES, &text, err);

	if (rc == 0)
		rc = json_parse(path, text.data, text.len, &json, err);
	if (rc == 0) {
		cJSON_ReplaceItemInObjectCaseSensitive(json, "git",
			git_json(&g->set->git));
		char *out = cJSON_Print(json);
		rc = fs_write(path, out, strlen(out), 1, err);
		cJSON_free(out);
	}
	for (size_t i = 0; i < job->row.nfile && rc == 0; i++) {
		struct bundle_file *f = &job->row.file[i];
		if (strcmp(f->key, "trace") != 0)
			continue;
		rc = fs_hash(path, &f->sha, &f->size, err);
		if (rc == 0 && fs_stamp(path, &f->stamp))
			rc = err_errno(err, STATUS_MACHINE, "%s", path);
	}
	if (rc == 0) {
		memcpy(job->row.commit, g->set->git.head.id,
			sizeof job->row.commit);
		job->row.dirty = 0;
		rc = store_add_bundle(c->env->programs.store, &job->row, err);
	}
	if (rc == 0)
		rc = add_history(c, g, job, &job->row.content_id, err);
	cJSON_Delete(json);
	buf_release(&text);
	free(path);
	free(dir);
	return rc;
}

/* A job that needs no content: current, or retagged. */
static int settle_job(struct capture *c, const struct group *g, struct job *job,
	struct err *err)
{
	const struct git_state *git = &g->set->git;

	job->is_done = 1;
	if (job->is_retagged) {
		job->result->status = CAPTURE_RETAGGED;
		c->result->counts.traces_built++;
		return c->env->dry_run ? 0 : retag(c, g, job, err);
	}
	job->result->status = CAPTURE_CURRENT;
	c->result->counts.traces_current++;
	if (!c->env->dry_run && git->has_head &&
	    strcmp(git->head.id, job->row.commit) != 0)
		return add_history(c, g, job, &job->row.content_id, err);
	return 0;
}

/* Assembling ---------------------------------------------------------------------- */

static void run_assembly(struct pool_job *job)
{
	struct assembly_job *a = job->data;

	assembly_run(&a->assembly);
}

static int make_sttf(struct capture *c, struct group *g, struct err *err)
{
	const struct manifest *m = c->env->manifest;
	struct source *source;
	int rc = 0;

	if (g->sttf.data)
		return 0;
	for (size_t a = 0; a < m->nasset && rc == 0; a++)
		rc = read_asset(c, a, err);
	if (rc != 0)
		return rc;
	source = xcalloc(m->npass, sizeof *source);
	for (size_t p = 0; p < m->npass; p++)
		source[p] = g->set->programs.program[p].source;
	rc = sttf_write(&g->variant, source, c->assets.image, &g->sttf, err);
	free(source);
	return rc;
}

/* 1 with the piece, 0 when its object is not there. */
static int find_piece(struct capture *c, const struct group *g, const char *name,
	const struct sha256 *key, int index, struct piece *out)
{
	struct product product;

	(void)g;
	if (!store_product(c->env->programs.store, key, index, &product))
		return 0;
	memset(out, 0, sizeof *out);
	out->name = xstrdup(name);
	out->path = object_path(c->env->programs.store, &product.object);
	out->sha = product.object;
	out->bytes = product.size;
	out->output = index;
	out->nface = 1;
	return 1;
}

static int find_picture(struct capture *c, const struct group *g, int p, int frame,
	int output, struct piece *out)
{
	const struct pass *pass = &c->env->manifest->pass[p];
	const struct sha256 *key =
		&g->keys.key[keys_node(&g->keys, p, frame)];

	if (!find_piece(c, g, pass->name, key, output, out))
		return 0;
	target_size(&g->variant, p, &out->width, &out->height);
	out->format = output == 0 ? pass->format :
		pass->extra_output[output - 1];
	out->nface = pass->kind == PASS_CUBEMAP ? 6 : 1;
	return 1;
}

static int find_pieces(struct capture *c, const struct group *g, int frame,
	int with_intermediates, struct assembly *a)
{
	const struct manifest *m = c->env->manifest;
	size_t max = 0;

	for (size_t p = 0; p < m->npass; p++)
		max += 1 + (size_t)m->pass[p].nextra_output;
	a->state = xcalloc(max + g->graph.nstorage + 1, sizeof *a->state);
	a->intermediate = xcalloc(max + 1, sizeof *a->intermediate);
	if (!find_picture(c, g, m->image, frame, 0, &a->final))
		return 0;
	for (size_t p = 0; p < m->npass; p++) {
		const struct pass *pass = &m->pass[p];
		if (!g->graph.is_reached[p] || (int)p == m->image)
			continue;
		if (pass->kind != PASS_CUBEMAP && !find_picture(c, g, (int)p,
		    frame, 0, &a->state[a->nstate++]))
			return a->nstate--, 0;
		for (int k = 0; with_intermediates &&
		    k <= pass->nextra_output; k++)
			if (!find_picture(c, g, (int)p, frame, k,
			    &a->intermediate[a->nintermediate++]))
				return a->nintermediate--, 0;
	}
	for (size_t s = 0; s < g->graph.nstorage; s++) {
		uint32_t v = keys_version_after(&g->keys, (int)s, frame);
		if (g->keys.version[v].writer == NODE_NONE)
			continue;
		struct piece *piece = &a->state[a->nstate];
		if (!find_piece(c, g, g->graph.storage[s],
		    &g->keys.version[v].key, 0, piece))
			return 0;
		piece->is_storage = 1;
		a->nstate++;
	}
	return 1;
}

static void find_timings(struct capture *c, const struct group *g, int frame,
	struct trace_timing *timing, size_t *n)
{
	*n = 0;
	for (size_t i = 0; i < g->graph.norder; i++) {
		int p = g->graph.order[i];
		struct node_row row;
		if (!g->graph.is_reached[p] || !store_node(
		    c->env->programs.store,
		    &g->keys.key[keys_node(&g->keys, p, frame)], &row))
			continue;
		timing[(*n)++] = (struct trace_timing){ p, row.gpu_ns };
	}
}

/* 1 when these are the bytes that the bundle's row has for the file. */
static int is_recorded(const struct job *job, const char *key, const struct buf *bytes)
{
	struct sha256 sha;

	sha256_of(bytes->data, bytes->len, &sha);
	for (size_t i = 0; i < job->row.nfile; i++)
		if (strcmp(job->row.file[i].key, key) == 0)
			return sha256_equal(&sha, &job->row.file[i].sha);
	return 0;
}

/*
 * The git section of a bundle whose files are put back stays as it was, unless
 * trace.json itself is one of those files. 1 when it stays.
 */
static int keep_git(struct capture *c, const struct job *job, cJSON *json)
{
	int is_kept = 0;
	char *dir = fs_join(c->env->root, job->path);
	char *path = fs_join(dir, "trace.json");
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;
	cJSON *old = NULL;

	if (fs_read(path, LIMIT_MANIFEST_BYTES, &text, &err) == 0 &&
	    is_recorded(job, "trace", &text) &&
	    json_parse(path, text.data, text.len, &old, &err) == 0) {
		cJSON *git = cJSON_DetachItemFromObjectCaseSensitive(old,
			"git");
		is_kept = git != NULL;
		if (git)
			cJSON_ReplaceItemInObjectCaseSensitive(json, "git",
				git);
	}
	cJSON_Delete(old);
	err_release(&err);
	buf_release(&text);
	free(path);
	free(dir);
	return is_kept;
}

/* Starts writing a bundle whose products are all stored. 0 when some is not. */
static int start_assembly(struct runner *r, struct job *job, struct err *err)
{
	struct capture *c = r->capture;
	struct group *g = r->group;
	struct trace_timing *timing;
	size_t ntiming;

	if (make_sttf(c, g, err))
		return -1;
	struct assembly_job *aj = xcalloc(1, sizeof *aj);
	struct assembly *a = &aj->assembly;
	if (!find_pieces(c, g, job->frame,
	    job->request->include_intermediates, a)) {
		assembly_release(a);
		free(aj);
		return 0;
	}
	timing = xcalloc(g->graph.norder + 1, sizeof *timing);
	find_timings(c, g, job->frame, timing, &ntiming);
	struct trace_facts facts = { &g->keys, job->frame, g->set->source_sha,
		&g->set->inputs, c->env->programs.driver, &g->set->git,
		timing, ntiming };
	a->json = trace_json(&facts);
	free(timing);
	if (job->row.path && sha256_equal(&job->row.inputs_id,
	    &job->inputs_id))
		job->keeps_git = keep_git(c, job, a->json);
	a->path = fs_join(c->env->root, job->path);
	a->sttf = g->sttf.data;
	a->nsttf = g->sttf.len;
	a->project = xstrdup(c->env->manifest->name);
	a->width = g->variant.width;
	a->height = g->variant.height;
	a->fps = g->variant.fps;
	a->frame = job->frame;
	a->is_on_record = job->row.path != NULL;
	a->has_stable = job->is_intact && !c->env->always;
	a->stable = job->row.stable_id;
	aj->bundle = job;
	aj->runner = r;
	aj->job.run = run_assembly;
	aj->job.data = aj;
	job->is_under_way = 1;
	r->nassembling++;
	pool_add(c->pool, &aj->job);
	return 1;
}

/* Starts all bundles whose products have arrived, in frame order. */
static int assemble_ready(struct runner *r, struct err *err)
{
	struct group *g = r->group;

	for (size_t i = 0; i < g->njob; i++) {
		struct job *job = &g->job[i];
		uint32_t which;
		if (job->is_done || job->is_under_way)
			continue;
		if (group_frame_has_failed(g, job->frame, &which)) {
			size_t at = map_get(&r->capture->failed,
				g->keys.key[which].byte, SHA256_SIZE);
			struct err lost = ERR_INIT;
			if (at == MAP_NONE)
				err_set(&lost, STATUS_FAILED, "what pass '%s' "
					"reads could not be rendered",
					g->variant.manifest->pass[
					keys_node_pass(&g->keys, which)].name);
			fail_job(r->capture, job, at == MAP_NONE ? &lost :
				&r->capture->fault.err[at]);
			err_release(&lost);
			continue;
		}
		if (!group_frame_is_stored(g, job->frame))
			continue;
		if (start_assembly(r, job, err) < 0)
			return -1;
	}
	return 0;
}

static int end_assembly(struct assembly_job *aj, struct err *err)
{
	struct runner *r = aj->runner;
	struct capture *c = r->capture;
	struct job *job = aj->bundle;
	struct assembly *a = &aj->assembly;
	int rc = 0;

	r->nassembling--;
	job->is_under_way = 0;
	if (a->ok) {
		job->is_done = 1;
		job->result->status = a->is_same ? CAPTURE_CURRENT :
			content_status(c, r->group, job);
		if (a->is_same) {
			c->result->counts.traces_current++;
		} else {
			c->result->counts.traces_built++;
			count_reused(c, r->group, job->frame);
		}
		rc = record_bundle(c, r->group, job, a, err);
	} else if (a->is_torn) {
		/* The next plan finds the object missing, and draws again. */
		log_warn("%s; it is rendered again", a->err.message);
		for (size_t i = 0; i <= a->nstate + a->nintermediate; i++) {
			const struct piece *p = i == 0 ? &a->final :
				i <= a->nstate ? &a->state[i - 1] :
				&a->intermediate[i - 1 - a->nstate];
			struct buf whole = BUF_INIT;
			object_read(c->env->programs.store, &p->sha,
				buf_reserve(&whole, p->bytes), p->bytes);
			buf_release(&whole);
		}
	} else {
		fail_job(c, job, &a->err);
		if (a->err.status == STATUS_MACHINE) {
			err_move(err, &a->err);
			rc = -1;
		}
	}
	assembly_release(a);
	free(aj);
	return rc;
}

/* Products on their way to the store ------------------------------------------------ */

static void run_store(struct pool_job *job)
{
	struct store_job *s = job->data;

	s->rc = object_write(s->store_dir, s->slab->data, s->n, &s->object,
		&s->err);
}

static int hook_take(void *data, const struct sha256 *key, int index, uint32_t node,
	struct slab *slab, struct err *err)
{
	struct runner *r = data;
	struct store_job *s = xcalloc(1, sizeof *s);

	(void)err;
	s->runner = r;
	s->slab = slab;
	s->n = slab->size;
	s->store_dir = xstrdup(store_dir(r->capture->env->programs.store));
	s->key = *key;
	s->index = index;
	s->node = node;
	s->job.run = run_store;
	s->job.data = s;
	r->nstoring++;
	pool_add(r->capture->pool, &s->job);
	return 0;
}

static void note_stored(struct group *g, const struct store_job *s)
{
	const struct pass *pass = &g->variant.manifest->pass[
		keys_node_pass(&g->keys, s->node)];

	if (!sha256_equal(&s->key, &g->keys.key[s->node])) {
		for (size_t v = 0; v < g->keys.nversion; v++)
			if (sha256_equal(&g->keys.version[v].key, &s->key))
				g->is_version_stored[v] = 1;
		return;
	}
	if (++g->noutput_stored[s->node] == 1 + pass->nextra_output)
		g->is_stored[s->node] = 1;
}

static int end_store(struct store_job *s, struct err *err)
{
	struct runner *r = s->runner;
	int rc = s->rc;

	r->nstoring--;
	worker_slab_put(r->worker, s->slab);
	if (rc == 0) {
		struct product product = { s->key, s->index, s->object, s->n };
		rc = store_add_product(r->capture->env->programs.store,
			&product, err);
		if (rc == 0)
			note_stored(r->group, s);
	} else {
		err_move(err, &s->err);
	}
	err_release(&s->err);
	free(s->store_dir);
	free(s);
	return rc;
}

/*
 * Collects finished jobs: bytes that are stored, bundles that are written; in
 * one transaction.
 */
static int collect(struct capture *c, int wait, struct err *err)
{
	struct store *store = c->env->programs.store;
	struct pool_job *job = pool_take(c->pool, wait);
	int rc = 0;

	if (!job)
		return 0;
	rc = store_begin(store, err);
	for (; job; job = pool_take(c->pool, wait)) {
		struct err now = ERR_INIT;
		int one = job->run == run_store ? end_store(job->data, &now) :
			end_assembly(job->data, &now);
		if (one != 0 && rc == 0)
			err_move(err, &now);
		err_release(&now);
		rc = rc != 0 ? rc : one;
	}
	if (rc == 0)
		return store_commit(store, err);
	/* What did arrive before the fault is kept. */
	struct err late = ERR_INIT;
	if (store_commit(store, &late))
		store_rollback(store);
	err_release(&late);
	return -1;
}

/* Hooks of plans and sweeps ---------------------------------------------------------- */

static int hook_has_node(void *data, const struct sha256 *key, int pass)
{
	struct capture *c = data;
	const struct pass *p = &c->env->manifest->pass[pass];
	struct product product;

	if (c->env->always && !was_drawn(c, key))
		return 0;
	for (int k = 0; k <= p->nextra_output; k++)
		if (!store_product(c->env->programs.store, key, k, &product))
			return 0;
	return 1;
}

static int hook_has_version(void *data, const struct sha256 *key, int storage)
{
	struct capture *c = data;
	struct product product;

	(void)storage;
	if (c->env->always && !was_drawn(c, key))
		return 0;
	return store_product(c->env->programs.store, key, 0, &product);
}

static int hook_is_failed(void *data, const struct sha256 *key, int pass)
{
	struct capture *c = data;

	(void)pass;
	return map_get(&c->failed, key->byte, sizeof key->byte) != MAP_NONE;
}

static int hook_load(void *data, const struct sha256 *key, int index, void *dst, size_t n)
{
	struct runner *r = data;
	struct product product;

	return store_product(r->capture->env->programs.store, key, index,
		&product) && product.size == n &&
		object_read(r->capture->env->programs.store, &product.object,
		dst, n);
}

static void hook_loaded(void *data, uint32_t node)
{
	struct runner *r = data;

	(void)node;
	r->capture->result->counts.nodes_loaded++;
}

static int hook_drew(void *data, uint32_t node, uint64_t gpu_ns, struct err *err)
{
	struct runner *r = data;
	struct capture *c = r->capture;
	struct group *g = r->group;
	int p = keys_node_pass(&g->keys, node), w, h;
	const struct sha256 *key = &g->keys.key[node];
	struct node_row row = { .key = *key, .pass =
		c->env->manifest->pass[p].name, .gpu_ns = gpu_ns };

	c->result->counts.nodes_drawn++;
	map_put(&c->drawn, key->byte, sizeof key->byte, 1);
	target_size(&g->variant, p, &w, &h);
	/* Frames between captured ones are never read back: no row for them. */
	if (!g->plan.node[node].is_wanted)
		return 0;
	row.width = w;
	row.height = h;
	if (store_add_node(c->env->programs.store, &row, err))
		return -1;
	return store_add_cost(c->env->programs.store, &g->keys.static_part[p],
		(uint64_t)w * (uint64_t)h, gpu_ns, err);
}

static int runner_worker(void *data, struct worker **out, struct err *err)
{
	struct runner *r = data;

	(void)err;
	*out = r->worker;
	return 0;
}

static int hook_program(void *data, struct worker *w, int p, uint32_t *id,
	struct err *err)
{
	struct runner *r = data;
	struct capture *c = r->capture;
	struct program_env env = c->env->programs;
	size_t set = 0;

	(void)w;
	while (c->set[set] != r->group->set)
		set++;
	uint32_t *known = &r->program[set][p];
	if (*known == 0) {
		struct program *program = &c->set[set]->programs.program[p];
		env.worker = runner_worker;
		env.data = r;
		program->id = 0;
		if (program_link(&env, &r->group->variant, program, err))
			return -1;
		*known = program->id;
	}
	*id = *known;
	return 0;
}

static int hook_image(void *data, int asset, const struct image **out, struct err *err)
{
	struct runner *r = data;

	if (read_asset(r->capture, (size_t)asset, err))
		return -1;
	*out = &r->capture->assets.image[asset];
	return 0;
}

/* Running ------------------------------------------------------------------------------ */

static void make_plan(struct capture *c, struct group *g)
{
	struct plan_hooks hooks = { hook_has_node, hook_has_version,
		hook_is_failed, c };
	int *frame = xcalloc(g->nwanted + 1, sizeof *frame);
	size_t n = 0;

	for (size_t i = 0; i < g->nwanted; i++)
		for (size_t j = 0; j < g->njob; j++)
			if (g->job[j].frame == g->wanted[i] &&
			    !g->job[j].is_done) {
				frame[n++] = g->wanted[i];
				break;
			}
	if (g->has_plan)
		plan_release(&g->plan);
	plan_make(&g->keys, frame, n, &hooks, &g->plan);
	g->has_plan = 1;
	free(frame);
}

static int start_worker(struct runner *r, struct err *err)
{
	const struct capture_env *env = r->capture->env;
	const struct gl_info *info;

	if (r->worker && worker_is_dead(r->worker)) {
		if (!r->is_session_worker)
			worker_close(r->worker);
		r->worker = NULL;
	}
	if (r->worker)
		return 0;
	for (size_t i = 0; i < r->capture->nset; i++)
		memset(r->program[i], 0, env->manifest->npass *
			sizeof *r->program[i]);
	if (r->is_session_worker ?
	    env->programs.worker(env->programs.data, &r->worker, err) :
	    env->new_worker(env->data, &r->worker, err))
		return -1;
	info = worker_info(r->worker);
	if (!sha256_equal(&info->identity, &r->capture->driver)) {
		r->capture->driver_changed = 1;
		return err_set(err, STATUS_MACHINE, "the driver changed while "
			"stbuild was running; run it again");
	}
	if (r->is_session_worker)
		for (size_t i = 0; i < r->capture->nset; i++)
			for (size_t p = 0; p < env->manifest->npass; p++) {
				struct program *program = &r->capture->set[i]
					->programs.program[p];
				if (program->is_compiled_now)
					r->program[i][p] = program->id;
			}
	return 0;
}

/* Plans what is left of a group and sends it off. */
static int start_sweep(struct runner *r, struct err *err)
{
	struct sweep_hooks hooks = { r, hook_load, hook_loaded, hook_take,
		hook_drew, hook_program, hook_image };

	make_plan(r->capture, r->group);
	if (r->group->plan.ndraw == r->group->plan.nfailed)
		return 0;
	r->capture->ndraw_planned = r->capture->result->counts.nodes_drawn +
		r->group->plan.ndraw - r->group->plan.nfailed;
	if (start_worker(r, err))
		return -1;
	memset(r->group->noutput_stored, 0, (size_t)r->group->keys.nframe *
		(size_t)r->group->keys.norder);
	r->sweep = sweep_new(&r->group->plan, r->worker, &hooks);
	return 0;
}

/* 1 when the group would draw what another runner is drawing and will store. */
static int must_wait(struct capture *c, const struct group *g)
{
	for (int i = 0; i < c->nrunner; i++) {
		const struct group *other = c->runner[i].group;
		struct map theirs = MAP_INIT;
		int is_shared = 0;
		if (!other || other == g)
			continue;
		for (uint32_t n = 0; n < other->plan.end; n++)
			if (other->plan.node[n].action == ACTION_DRAW &&
			    other->plan.node[n].is_wanted)
				map_put(&theirs, other->keys.key[n].byte,
					SHA256_SIZE, 1);
		for (uint32_t n = 0; n < g->plan.end && !is_shared; n++)
			is_shared = g->plan.node[n].action == ACTION_DRAW &&
				map_get(&theirs, g->keys.key[n].byte,
				SHA256_SIZE) != MAP_NONE;
		map_release(&theirs);
		if (is_shared)
			return 1;
	}
	return 0;
}

static int needs_content(const struct group *g)
{
	for (size_t i = 0; i < g->njob; i++)
		if (!g->job[i].is_done)
			return 1;
	return 0;
}

/* Gives idle runners the next groups, in order. */
static int start_groups(struct capture *c, struct err *err)
{
	for (int i = 0; i < c->nrunner && !c->is_stopping; i++) {
		struct runner *r = &c->runner[i];
		if (r->group)
			continue;
		while (c->next_group < c->ngroup &&
		    !needs_content(c->group[c->next_group]))
			c->next_group++;
		if (c->next_group == c->ngroup)
			return 0;
		struct group *g = c->group[c->next_group];
		make_plan(c, g);
		if (must_wait(c, g))
			return 0;
		c->next_group++;
		r->group = g;
		if (start_sweep(r, err) || assemble_ready(r, err))
			return -1;
	}
	return 0;
}

static void end_sweep(struct runner *r)
{
	sweep_free(r->sweep);
	r->sweep = NULL;
}

/*
 * A draw failed or the worker died. What was stored stays; the node at fault
 * is not tried again in this run.
 */
static int sweep_failed(struct runner *r, struct err *cause, struct err *err)
{
	struct capture *c = r->capture;
	uint32_t node = sweep_fault(r->sweep);

	end_sweep(r);
	if (cause->status == STATUS_MACHINE || node == NODE_NONE) {
		err_move(err, cause);
		return -1;
	}
	const struct sha256 *key = &r->group->keys.key[node];
	map_put(&c->failed, key->byte, sizeof key->byte, c->fault.nerr);
	errs_take(&c->fault, cause);
	/* Slabs must be back before the worker goes. */
	while (r->nstoring > 0)
		if (collect(c, 1, err))
			return -1;
	if (!c->env->keep_going) {
		make_plan(c, r->group);
		return 0;
	}
	return start_sweep(r, err);
}

/* One turn of a runner: 1 when its group is done. */
static int runner_step(struct runner *r, struct err *err)
{
	struct err cause = ERR_INIT;
	int rc = 0;

	if (r->sweep) {
		enum sweep_state state = sweep_step(r->sweep, &cause);
		if (state == SWEEP_DONE && r->nstoring == 0) {
			end_sweep(r);
		} else if (state == SWEEP_MISS) {
			end_sweep(r);
			while (r->nstoring > 0 && rc == 0)
				rc = collect(r->capture, 1, err);
			if (rc == 0)
				rc = start_sweep(r, err);
		} else if (state == SWEEP_FAILED) {
			rc = sweep_failed(r, &cause, err);
		}
		err_release(&cause);
	}
	if (rc == 0)
		rc = assemble_ready(r, err);
	if (rc != 0)
		return -1;
	if (r->sweep || r->nstoring > 0 || r->nassembling > 0)
		return 0;
	if (needs_content(r->group) && !r->capture->is_stopping) {
		/* An object was torn: what is missing is drawn again. */
		return start_sweep(r, err) || assemble_ready(r, err) ? -1 : 0;
	}
	r->group = NULL;
	return 1;
}

static void report_progress(struct capture *c)
{
	long long now = proc_now_ns();
	struct capture_progress p = { c->result->counts.nodes_drawn,
		c->ndraw_planned, 0, NULL };

	if (!c->env->progress || now - c->progress_at < PROGRESS_NS)
		return;
	c->progress_at = now;
	for (int i = 0; i < c->nrunner; i++)
		if (c->runner[i].group)
			p.what = c->runner[i].group->job[0].result->name;
	c->env->progress(c->env->data, &p);
}

static void wait_for_something(struct capture *c)
{
	struct pollfd *fd = xcalloc((size_t)c->nrunner + 2, sizeof *fd);
	nfds_t n = 0;

	fd[n++] = (struct pollfd){ pool_fd(c->pool), POLLIN, 0 };
	if (proc_signal_fd() >= 0)
		fd[n++] = (struct pollfd){ proc_signal_fd(), POLLIN, 0 };
	for (int i = 0; i < c->nrunner; i++)
		if (c->runner[i].sweep)
			fd[n++] = (struct pollfd){
				worker_fd(c->runner[i].worker), POLLIN, 0 };
	poll(fd, n, 100);
	free(fd);
}

static int is_busy(const struct capture *c)
{
	for (int i = 0; i < c->nrunner; i++)
		if (c->runner[i].group)
			return 1;
	return 0;
}

static int run_groups(struct capture *c, struct err *err)
{
	int rc = 0;

	while (rc == 0 && proc_signal() == 0) {
		rc = start_groups(c, err);
		if (rc != 0 || !is_busy(c))
			break;
		int has_ended = 0;
		for (int i = 0; i < c->nrunner && rc >= 0; i++)
			if (c->runner[i].group) {
				rc = runner_step(&c->runner[i], err);
				has_ended |= rc == 1;
			}
		if (rc >= 0)
			rc = collect(c, 0, err);
		report_progress(c);
		if (rc == 0 && !has_ended)
			wait_for_something(c);
	}
	c->result->signal = proc_signal();
	/* Finished work is kept whatever ended the loop. */
	for (int i = 0; i < c->nrunner; i++)
		if (c->runner[i].sweep)
			end_sweep(&c->runner[i]);
	struct err late = ERR_INIT;
	if (collect(c, 1, &late) && rc == 0) {
		err_move(err, &late);
		rc = -1;
	}
	err_release(&late);
	return rc;
}

/* What a run would do: an upper bound, since aliases may shorten it. */
static void describe_group(struct capture *c, struct group *g)
{
	struct store *store = c->env->programs.store;

	make_plan(c, g);
	for (size_t i = 0; i < g->njob; i++) {
		struct job *job = &g->job[i];
		uint32_t from = 0, to = keys_node(&g->keys, g->graph.order[0],
			job->frame) + (uint32_t)g->keys.norder;
		if (job->is_done)
			continue;
		for (size_t w = 0; w < g->nwanted; w++)
			if (g->wanted[w] < job->frame)
				from = keys_node(&g->keys, g->graph.order[0],
					g->wanted[w]) + (uint32_t)g->keys.norder;
		for (uint32_t n = from; n < to && n < g->plan.end; n++) {
			int p = keys_node_pass(&g->keys, n), width, height;
			target_size(&g->variant, p, &width, &height);
			if (g->plan.node[n].action == ACTION_LOAD)
				job->result->nload++;
			if (g->plan.node[n].action != ACTION_DRAW)
				continue;
			job->result->ndraw++;
			job->result->expected_ns += store_cost(store,
				&g->keys.static_part[p],
				(uint64_t)width * (uint64_t)height);
		}
		job->result->status = CAPTURE_STALE;
		job->result->reason = job_reason(job);
		c->result->counts.nodes_drawn += job->result->ndraw;
		c->result->counts.nodes_loaded += job->result->nload;
		c->result->expected_ns += job->result->expected_ns;
		c->result->counts.traces_built++;
	}
}

/* Keys, and what needs no content. */
static int prepare_groups(struct capture *c, struct err *err)
{
	for (size_t i = 0; i < c->ngroup; i++) {
		struct group *g = c->group[i];
		if (!g->set->ok) {
			for (size_t j = 0; j < g->njob; j++)
				fail_job(c, &g->job[j], &g->set->errs.err[0]);
			continue;
		}
		if (group_prepare(g, c->env, c->env->programs.driver,
		    &c->assets, err))
			return -1;
		for (size_t j = 0; j < g->njob; j++)
			if (!g->job[j].needs_content &&
			    settle_job(c, g, &g->job[j], err))
				return -1;
		if (c->env->dry_run && needs_content(g))
			describe_group(c, g);
	}
	return 0;
}

static void make_runners(struct capture *c)
{
	int n = c->env->jobs > 0 ? c->env->jobs : 1;

	if ((size_t)n > c->ngroup)
		n = c->ngroup > 0 ? (int)c->ngroup : 1;
	c->nrunner = n;
	c->runner = xcalloc((size_t)n, sizeof *c->runner);
	for (int i = 0; i < n; i++) {
		struct runner *r = &c->runner[i];
		r->capture = c;
		r->is_session_worker = i == 0;
		r->program = xcalloc(c->nset + 1, sizeof *r->program);
		for (size_t s = 0; s < c->nset; s++)
			r->program[s] = xcalloc(c->env->manifest->npass,
				sizeof *r->program[s]);
	}
	c->pool = pool_new(proc_ncpu());
}

static void capture_release(struct capture *c)
{
	const struct manifest *m = c->env->manifest;

	for (int i = 0; i < c->nrunner; i++) {
		struct runner *r = &c->runner[i];
		if (r->worker && !r->is_session_worker)
			worker_close(r->worker);
		for (size_t s = 0; s < c->nset; s++)
			free(r->program[s]);
		free(r->program);
	}
	free(c->runner);
	if (c->pool)
		pool_free(c->pool);
	for (size_t i = 0; i < c->ngroup; i++) {
		group_release(c->group[i]);
		free(c->group[i]);
	}
	free(c->group);
	for (size_t i = 0; i < c->nset; i++)
		set_free(c->set[i]);
	free(c->set);
	for (size_t a = 0; c->assets.image && a < m->nasset; a++) {
		image_release(&c->assets.image[a]);
		free(c->assets.resolved[a]);
	}
	free(c->assets.info);
	free(c->assets.image);
	free(c->assets.resolved);
	map_release(&c->drawn);
	map_release(&c->failed);
	errs_release(&c->fault);
}

int capture_run(const struct capture_env *env,
	const struct capture_request *request, size_t nrequest,
	struct capture_result *result, struct err *err)
{
	struct capture c = { .env = env, .result = result };
	int rc;

	memset(result, 0, sizeof *result);
	for (size_t i = 0; i < nrequest; i++)
		result->nbundle += request[i].nframe;
	result->bundle = xcalloc(result->nbundle + 1, sizeof *result->bundle);
	c.driver = env->programs.driver->identity;
	rc = refuse_live_inputs(env->manifest, err);
	if (rc == 0)
		rc = load_assets(&c, err);
	if (rc == 0)
		rc = make_groups(&c, request, nrequest, err);
	if (rc == 0)
		rc = prepare_groups(&c, err);
	if (rc == 0 && !env->dry_run && !c.is_stopping) {
		make_runners(&c);
		rc = run_groups(&c, err);
	}
	if (env->programs.ncompiled)
		result->counts.programs_compiled =
			(uint64_t)*env->programs.ncompiled;
	capture_release(&c);
	return rc;
}

void capture_result_release(struct capture_result *r)
{
	for (size_t i = 0; i < r->nbundle; i++) {
		free(r->bundle[i].name);
		free(r->bundle[i].path);
		free(r->bundle[i].reason);
		err_release(&r->bundle[i].err);
	}
	free(r->bundle);
	memset(r, 0, sizeof *r);
}

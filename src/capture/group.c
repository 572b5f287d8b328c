#include "group.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config.h"
#include "graph/facts.h"
#include "util/log.h"
#include "util/mem.h"

static void job_release(struct job *job)
{
	free(job->path);
	bundle_row_release(&job->row);
}

static void release_keys(struct group *g)
{
	if (g->has_plan)
		plan_release(&g->plan);
	if (g->has_keys)
		keys_release(&g->keys);
	free(g->is_stored);
	free(g->noutput_stored);
	free(g->alias_search);
	free(g->gpu_ns);
	free(g->is_version_stored);
	g->is_stored = g->noutput_stored = g->alias_search = NULL;
	g->gpu_ns = NULL;
	g->is_version_stored = NULL;
	g->has_plan = g->has_keys = 0;
}

void group_release(struct group *g)
{
	for (size_t i = 0; i < g->njob; i++)
		job_release(&g->job[i]);
	free(g->job);
	release_keys(g);
	buf_release(&g->sttf);
	record_release(&g->record);
	graph_release(&g->graph);
	variant_release(&g->variant);
	memset(g, 0, sizeof *g);
}

/* Sections that no bundle depends on, and the timeline, of which each has a part. */
static int is_no_matter(const char *path)
{
	return strcmp(path, "trace") == 0 || strcmp(path, "test") == 0 ||
	    strcmp(path, "store") == 0 || strcmp(path, "timeline") == 0;
}

void group_settings(const struct variant *v, struct facts *out)
{
	cJSON *json = variant_manifest(v);

	facts_of_json(json, "", is_no_matter, out);
	cJSON_Delete(json);
}

/* What its files say of where the content comes from. */
static void add_files(const struct group *g, struct facts *out)
{
	const struct manifest *m = g->variant.manifest;

	for (size_t p = 0; p < m->npass; p++)
		facts_add_hash(out, FACT_SOURCE, m->pass[p].name, FACT_NONE,
		    &g->set->source_sha[p]);
	for (size_t a = 0; a < m->nasset; a++)
		facts_add_hash(out, FACT_ASSET_FILE, m->asset[a].name, FACT_NONE,
		    &g->scene.asset[a].sha);
	for (size_t i = 0; i < g->set->inputs.ninput; i++) {
		const struct input *in = &g->set->inputs.input[i];
		if (strcmp(in->path, m->path) != 0 && !in->is_absent)
			facts_add_hash(out, FACT_FILE, in->path, FACT_NONE, &in->sha);
	}
}

void group_timeline(const struct group *g, int frame, struct timeline_part *out)
{
	int from = g->reach < 0 || g->reach > frame ? -1 : frame - g->reach;

	timeline_cut(g->variant.timeline, g->variant.manifest->nuniform, from, frame,
	    out);
}

/* How far back pictures look, where that matters to a timeline. */
static int find_reach(struct group *g, struct err *err)
{
	int last = g->job[g->njob - 1].frame;
	struct nodes nodes;

	g->reach = -1;
	if (g->variant.timeline->nstep < 2)
		return 0;
	int rc = nodes_list(&g->scene, g->set->key_program, &last, 1, &nodes, err);
	if (rc == 0 && nodes.row[0].frame > 0)
		g->reach = last - nodes.row[0].frame;
	nodes_release(&nodes);
	return rc;
}

/* Adds a step to a hash over those before it. */
static void chain_step(const struct variant *v, const struct timeline_step *step,
    struct sha256 *sha)
{
	struct buf bytes = BUF_INIT;

	buf_add(&bytes, sha->byte, SHA256_SIZE);
	variant_step(v, step, &bytes);
	sha256_of(bytes.data, bytes.len, sha);
	buf_release(&bytes);
}

/* Each job's part of the timeline; where none is cut off, each adds to the last. */
static void hash_timelines(struct group *g)
{
	struct sha256 sha = { { 0 } };
	size_t done = 0;

	for (size_t i = 0; i < g->njob; i++) {
		struct timeline_part part;
		group_timeline(g, g->job[i].frame, &part);
		if (part.step) {
			memset(&sha, 0, sizeof sha);
			done = 0;
		}
		for (; done < part.timeline.nstep; done++)
			chain_step(&g->variant, &part.timeline.step[done], &sha);
		g->job[i].timeline = sha;
		timeline_part_release(&part);
	}
}

/*
 * Of plain keys: a bundle stays current whatever aliases are found later.
 */
static void find_inputs_id(const struct group *g, struct job *job,
    const struct sha256 *settings, struct facts *list)
{
	const struct keys *k = &g->keys;
	const struct variant *v = &g->variant;
	const struct manifest *m = v->manifest;

	facts_begin(list, "bundle");
	facts_add_text(list, FACT_TOOL, "", FACT_NONE, STBUILD_VERSION);
	facts_add_hash(list, FACT_SETTINGS, "", FACT_NONE, settings);
	facts_add_hash(list, FACT_STEPS, "", FACT_NONE, &job->timeline);
	facts_add_number(list, FACT_FRAME, "", FACT_NONE, (uint64_t)job->frame);
	facts_add_number(list, FACT_INTERMEDIATES, "", FACT_NONE,
	    (uint64_t)job->request->include_intermediates);
	facts_add_size(list, FACT_SIZE, v->width, v->height);
	facts_add_double(list, FACT_FPS, v->fps);
	facts_of_values(v, job->frame, list);
	add_files(g, list);
	for (size_t i = 0; i < g->graph.norder; i++) {
		int p = g->graph.order[i];
		if (g->graph.is_reached[p])
			facts_add_hash(list, FACT_PASS, m->pass[p].name, FACT_NONE,
			    keys_plain(k, keys_node(k, p, job->frame)));
	}
	for (size_t s = 0; s < g->graph.nstorage; s++)
		facts_add_hash(list, FACT_BUFFER, g->graph.storage[s], FACT_NONE,
		    keys_plain_version(k, keys_version_after(k, (int)s, job->frame)));
	facts_hash(list, FACT_IS_KEY, &job->inputs_id);
}

/* 1 when the file stands as recorded; a new stamp costs a hash. */
static int file_is_intact(const char *dir, struct bundle_file *f, int *has_new_stamp)
{
	char *path = fs_join(dir, f->path);
	struct fs_stamp now;
	struct sha256 sha;
	struct err err = ERR_INIT;
	struct stat st;
	/* A link in its place is none of ours, whatever it leads to. */
	int ok = lstat(path, &st) == 0 && S_ISREG(st.st_mode);

	if (ok)
		fs_stamp_of(&st, &now);
	if (ok && !fs_stamp_equal(&now, &f->stamp)) {
		ok = now.size == f->size && fs_hash(path, &sha, NULL, &err) == 0 &&
		    sha256_equal(&sha, &f->sha);
		f->stamp = now;
		*has_new_stamp |= ok;
		err_release(&err);
	}
	free(path);
	return ok;
}

static int check_outputs(const struct capture_env *env, struct job *job, struct err *err)
{
	int has_new_stamp = 0, rc = 0;

	if (!store_bundle(env->programs.store, job->path, &job->row))
		return 0;
	char *dir = fs_join(env->root, job->path);
	job->is_intact = 1;
	for (size_t i = 0; i < job->row.nfile; i++) {
		struct bundle_file *f = &job->row.file[i];
		f->is_intact = file_is_intact(dir, f, &has_new_stamp);
		job->is_intact &= f->is_intact;
	}
	if (job->is_intact && has_new_stamp && !env->dry_run)
		rc = store_add_bundle(env->programs.store, &job->row, err);
	free(dir);
	return rc;
}

/*
 * A bundle tagged dirty, or made when there was no commit that could be read,
 * whose inputs are those of HEAD now.
 */
static int wants_retag(const struct group *g, const struct job *job)
{
	return (job->row.dirty || !job->row.commit[0]) && g->set->git.has_head &&
	    g->set->git.ndirty == 0;
}

/* Keys ------------------------------------------------------------------------- */

static int find_alias(void *data, const struct sha256 *key, struct sha256 *earlier)
{
	return store_alias(data, key, earlier);
}

static int is_kept(void *data, const struct sha256 *key)
{
	struct product product;

	return store_product(data, key, 0, &product);
}

static int bind_node(struct group *g, struct store *store, uint32_t node, struct err *err)
{
	const struct sha256 *plain, *key;
	struct sha256 other;

	if (node == NODE_NONE)
		return 0;
	plain = keys_plain(&g->keys, node);
	key = &g->keys.key[node];
	if (sha256_equal(plain, key) || store_alias(store, plain, &other))
		return 0;
	return store_add_alias(store, plain, key, err);
}

int group_bind_like(struct group *g, struct store *store, uint32_t node, struct err *err)
{
	const struct sha256 *last = NULL;

	for (; node != NODE_NONE; node = g->keys.next_same[node]) {
		const struct sha256 *plain = keys_plain(&g->keys, node);
		if (last && sha256_equal(plain, last))
			continue;
		last = plain;
		if (bind_node(g, store, node, err))
			return -1;
	}
	return 0;
}

int group_bind_frame(struct group *g, struct store *store, int frame, struct err *err)
{
	for (size_t i = 0; i < g->graph.norder; i++) {
		int p = g->graph.order[i];
		if (bind_node(g, store, keys_node(&g->keys, p, frame), err) ||
		    bind_node(g, store, keys_node(&g->keys, p, frame - 1), err))
			return -1;
	}
	for (size_t s = 0; s < g->graph.nstorage; s++) {
		uint32_t v = keys_version_after(&g->keys, (int)s, frame);
		if (bind_node(g, store, g->keys.version[v].maker, err))
			return -1;
	}
	return 0;
}

static int compare_jobs(const void *a, const void *b)
{
	const struct job *x = a, *y = b;

	return (x->frame > y->frame) - (x->frame < y->frame);
}

/* Keys of what all jobs rest on, with the aliases known now. */
static int find_keys(struct group *g, const struct capture_env *env,
    const struct sha256 *driver, struct err *err)
{
	struct store *store = env->programs.store;
	struct key_hooks hooks = { find_alias, is_kept, store };
	int *frame = xcalloc(g->njob + 1, sizeof *frame);

	for (size_t i = 0; i < g->njob; i++)
		frame[i] = g->job[i].frame;
	store_hold(store);
	int rc = keys_compute(&g->scene, g->set->key_program, driver, frame, g->njob,
	    &hooks, &g->keys, err);
	store_unhold(store);
	free(frame);
	g->has_keys = 1;
	size_t nnode = g->keys.nodes.n;
	log_verbose("%s@%d: keys of %zu nodes at %zu frames", g->job[0].request->name,
	    g->job[g->njob - 1].frame, nnode, g->keys.nodes.nrow);
	g->is_stored = xcalloc(nnode + 1, 1);
	g->noutput_stored = xcalloc(nnode + 1, 1);
	g->alias_search = xcalloc(nnode + 1, 1);
	g->gpu_ns = xcalloc(nnode + 1, sizeof *g->gpu_ns);
	g->is_version_stored = xcalloc(g->keys.nversion + 1, 1);
	return rc;
}

static void judge_jobs(struct group *g, const struct capture_env *env)
{
	struct facts list = { .is_terse = 1 };
	struct sha256 settings;

	facts_begin(&list, "settings");
	group_settings(&g->variant, &list);
	facts_hash(&list, FACT_IS_KEY, &settings);

	for (size_t i = 0; i < g->njob; i++) {
		struct job *job = &g->job[i];
		find_inputs_id(g, job, &settings, &list);
		if (job->is_done || job->is_under_way)
			continue;
		job->needs_content = env->always || !job->is_intact ||
		    !sha256_equal(&job->inputs_id, &job->row.inputs_id);
		job->is_retagged = !job->needs_content && wants_retag(g, job);
	}
	facts_release(&list);
}

int group_prepare(struct group *g, const struct capture_env *env,
    const struct driver_row *driver, const struct asset_set *assets, struct err *err)
{
	qsort(g->job, g->njob, sizeof *g->job, compare_jobs);
	graph_init(&g->graph, env->manifest);
	g->scene = (struct scene){ &g->variant, &g->graph, assets->info, &rules_ours, 0 };
	if (find_reach(g, err) || find_keys(g, env, &driver->identity, err))
		return -1;
	hash_timelines(g);
	for (size_t i = 0; i < g->njob; i++)
		if (check_outputs(env, &g->job[i], err))
			return -1;
	judge_jobs(g, env);
	return 0;
}

int group_rekey(struct group *g, const struct capture_env *env,
    const struct driver_row *driver, struct err *err)
{
	release_keys(g);
	if (find_keys(g, env, &driver->identity, err))
		return -1;
	judge_jobs(g, env);
	g->needs_rekey = 0;
	return 0;
}

int group_is_open(const struct group *g)
{
	for (size_t i = 0; i < g->njob; i++)
		if (!g->job[i].is_done)
			return 1;
	return 0;
}

size_t group_frames(const struct group *g, int **frame)
{
	size_t n = 0;

	*frame = xcalloc(g->njob + 1, sizeof **frame);
	for (size_t i = 0; i < g->njob; i++) {
		const struct job *job = &g->job[i];
		if (!job->needs_content || job->is_done ||
		    (n > 0 && (*frame)[n - 1] == job->frame))
			continue;
		(*frame)[n++] = job->frame;
	}
	return n;
}

struct frame_check {
	const struct group *g;
	int is_missing;
	uint32_t failed;
};

static void check_node(void *data, uint32_t node)
{
	struct frame_check *c = data;
	const struct plan_node *n = &c->g->plan.node[node];

	if (n->is_failed)
		c->failed = node;
	if (n->action == ACTION_DRAW && !c->g->is_stored[node])
		c->is_missing = 1;
}

static void check_version(void *data, uint32_t version)
{
	struct frame_check *c = data;
	uint32_t writer = c->g->keys.version[version].writer;

	if (c->g->plan.version[version].action != ACTION_DRAW)
		return;
	if (c->g->plan.node[writer].is_failed)
		c->failed = writer;
	if (!c->g->is_version_stored[version])
		c->is_missing = 1;
}

int group_frame_is_stored(const struct group *g, int frame)
{
	struct frame_check c = { g, 0, NODE_NONE };

	plan_wanted(&g->keys, frame, check_node, NULL, check_version, &c);
	return !c.is_missing;
}

int group_frame_has_failed(const struct group *g, int frame, uint32_t *which)
{
	struct frame_check c = { g, 0, NODE_NONE };

	plan_wanted(&g->keys, frame, check_node, NULL, check_version, &c);
	*which = c.failed;
	return c.failed != NODE_NONE;
}

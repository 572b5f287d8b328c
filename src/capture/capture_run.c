#include "capture_impl.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/log.h"
#include "util/mem.h"
#include "util/proc.h"

/*
 * What storing state costs: a read-back, a hash and a file. Measured on a
 * machine without GPU at 4 ns a byte, 2 ms a file.
 */
#define CHECKPOINT_BYTE_NS 4
#define CHECKPOINT_NS 2000000
#define CHECKPOINT_RATIO 16

#define MISSES_MAX 100	/* in a run: more are no accident, but a store that cannot be read */
#define PROGRESS_NS 100000000LL	/* between two calls of env->progress */

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
	struct store_job *next;		/* runner.held */
};

/*
 * The hash of an object that was loaded: checked beside the draws, and waited
 * for before anything is recorded that came of them.
 */
struct verify_job {
	struct pool_job job;
	struct runner *runner;
	int fd;
	struct sha256 object;
	uint64_t n;
	int is_whole;
};

/* Rivals -------------------------------------------------------------------------- */

/*
 * An edit that changes no pixel is found out here: a node whose products are
 * those of an earlier node at the same place becomes its alias, and what reads
 * it is planned again with the earlier key.
 */

static char *node_shape(const struct group *g, int p)
{
	const struct pass *pass = &g->variant.manifest->pass[p];
	struct buf text = BUF_INIT;
	int w, h;

	target_size(&g->variant, p, &w, &h);
	buf_addf(&text, "%dx%d %s %s", w, h, pass_kind_name(pass->kind),
		format_name(pass->format));
	for (int i = 0; i < pass->nextra_output; i++)
		buf_addf(&text, " %s", format_name(pass->extra_output[i]));
	return buf_detach(&text);
}

static size_t find_rivals(const struct runner *r, uint32_t node,
	struct sha256 *out, size_t max)
{
	const struct group *g = r->group;
	int p = keys_node_pass(&g->keys, node);
	char *shape = node_shape(g, p);
	struct node_row place = { .key = g->keys.key[node],
		.pass = g->variant.manifest->pass[p].name,
		.frame = keys_node_frame(&g->keys, node), .shape = shape };
	size_t n = store_rivals(r->capture->env->programs.store, &place, out,
		max);

	free(shape);
	return n;
}

static int same_product(struct store *store, const struct sha256 *a,
	const struct sha256 *b, int index)
{
	struct product x, y;

	return store_product(store, a, index, &x) &&
		store_product(store, b, index, &y) && x.size == y.size &&
		sha256_equal(&x.object, &y.object);
}

/* 1 when everything the node made is what the rival has. */
static int is_same_node(const struct runner *r, uint32_t node,
	const struct sha256 *rival)
{
	struct store *store = r->capture->env->programs.store;
	const struct keys *k = &r->group->keys;
	const struct pass *pass = &r->group->variant.manifest->pass[
		keys_node_pass(k, node)];
	struct take take[TAKE_MAX];
	size_t n = keys_takes(k, node, take);

	for (int i = 0; i <= pass->nextra_output; i++)
		if (!same_product(store, &k->key[node], rival, i))
			return 0;
	for (size_t i = 0; i < n; i++) {
		struct sha256 theirs;
		if (take[i].kind != TAKE_STORAGE || !take[i].is_written)
			continue;
		const struct version *v = &k->version[take[i].next_version];
		keys_version_key(rival, k->scene->graph->storage[v->storage],
			&theirs);
		if (!same_product(store, &v->key, &theirs, 0))
			return 0;
	}
	return 1;
}

/* With -B: the rival's bytes are of this run, as the node's are. */
static void note_rival(struct runner *r, uint32_t node, const struct sha256 *rival)
{
	const struct keys *k = &r->group->keys;
	struct take take[TAKE_MAX];
	size_t n = keys_takes(k, node, take);

	map_put(&r->capture->drawn, rival->byte, SHA256_SIZE, 1);
	for (size_t i = 0; i < n; i++) {
		struct sha256 theirs;
		if (take[i].kind != TAKE_STORAGE || !take[i].is_written)
			continue;
		const struct version *v = &k->version[take[i].next_version];
		keys_version_key(rival, k->scene->graph->storage[v->storage],
			&theirs);
		map_put(&r->capture->drawn, theirs.byte, SHA256_SIZE, 1);
	}
}

/* 1 when all that the node makes and the plan wants has arrived. */
static int has_arrived(const struct group *g, uint32_t node)
{
	struct take take[TAKE_MAX];
	size_t n = keys_takes(&g->keys, node, take);

	if (!g->is_stored[node])
		return 0;
	for (size_t i = 0; i < n; i++)
		if (take[i].kind == TAKE_STORAGE && take[i].is_written &&
		    g->plan.version[take[i].next_version].is_wanted &&
		    g->plan.version[take[i].next_version].action ==
		    ACTION_DRAW &&
		    !g->is_version_stored[take[i].next_version])
			return 0;
	return 1;
}

static int is_taken(const struct group *g, uint32_t node)
{
	return keys_is_taken(&g->keys, node);
}

/* Called whenever something of the node has arrived. */
static int rivalry_judge(struct runner *r, uint32_t node, struct err *err)
{
	struct store *store = r->capture->env->programs.store;
	struct group *g = r->group;
	struct sha256 rival[16];

	/* Once: a checkpoint may bring more of it when others were drawn on it. */
	if (!g->plan.node[node].is_wanted ||
	    g->rivalry[node] == RIVALRY_CLOSED || !has_arrived(g, node))
		return 0;
	size_t n = find_rivals(r, node, rival, sizeof rival / sizeof *rival);
	g->rivalry[node] = RIVALRY_CLOSED;
	for (size_t i = 0; i < n; i++) {
		struct sha256 earlier;
		if (store_alias(store, &rival[i], &earlier))
			rival[i] = earlier;
		if (sha256_equal(&rival[i], &g->keys.key[node]) ||
		    !is_same_node(r, node, &rival[i]))
			continue;
		note_rival(r, node, &rival[i]);
		r->capture->nalias++;
		const struct sha256 *plain = keys_plain(&g->keys, node);
		if (store_add_alias(store, &g->keys.key[node], &rival[i], err) ||
		    (!sha256_equal(plain, &g->keys.key[node]) &&
		    store_add_alias(store, plain, &rival[i], err)))
			return -1;
		if (is_taken(g, node))
			g->needs_rekey = 1;
		else
			keys_replace(&g->keys, node, &rival[i]);
		return 0;
	}
	return 0;
}

static int hook_is_settled(void *data, uint32_t node)
{
	struct runner *r = data;
	struct group *g = r->group;
	struct sha256 rival;

	/* Nothing that follows hangs on a node that nobody takes. */
	if (!is_taken(g, node))
		return !g->needs_rekey;
	if (g->rivalry[node] == RIVALRY_UNKNOWN)
		g->rivalry[node] = find_rivals(r, node, &rival, 1) ?
			RIVALRY_OPEN : RIVALRY_NONE;
	return g->rivalry[node] != RIVALRY_OPEN && !g->needs_rekey;
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

/* The row of a node that was drawn: its place, and the time it took. */
static int record_node(struct runner *r, uint32_t node, const char *shape,
	struct err *err)
{
	const struct group *g = r->group;
	int p = keys_node_pass(&g->keys, node);
	struct node_row row = { .key = g->keys.key[node],
		.pass = g->variant.manifest->pass[p].name,
		.gpu_ns = g->gpu_ns[node], .shape = shape,
		.frame = keys_node_frame(&g->keys, node) };

	target_size(&g->variant, p, &row.width, &row.height);
	return store_add_node(r->capture->env->programs.store, &row, err);
}

static int note_stored(struct runner *r, const struct store_job *s,
	struct err *err)
{
	struct group *g = r->group;
	const struct pass *pass = &g->variant.manifest->pass[
		keys_node_pass(&g->keys, s->node)];

	if (sha256_equal(&s->key, &g->keys.key[s->node])) {
		if (++g->noutput_stored[s->node] == 1 + pass->nextra_output)
			g->is_stored[s->node] = 1;
		/* Of a checkpoint: nobody's rival, so it has no shape. */
		if (g->is_stored[s->node] &&
		    !g->plan.node[s->node].is_wanted &&
		    record_node(r, s->node, "", err))
			return -1;
	} else {
		struct take take[TAKE_MAX];
		size_t n = keys_takes(&g->keys, s->node, take);
		for (size_t i = 0; i < n; i++)
			if (take[i].kind == TAKE_STORAGE && sha256_equal(
			    &g->keys.version[take[i].next_version].key,
			    &s->key))
				g->is_version_stored[take[i].next_version] = 1;
	}
	if (group_bind_like(g, r->capture->env->programs.store, s->node, err))
		return -1;
	return rivalry_judge(r, s->node, err);
}

static int record_stored(struct store_job *s, struct err *err)
{
	struct runner *r = s->runner;
	struct product product = { s->key, s->index, s->object, s->n };
	int rc = s->rc;

	r->nstoring--;
	if (rc == 0)
		map_put(&r->capture->written, s->object.byte, SHA256_SIZE, 1);
	if (rc < 0) {
		err_move(err, &s->err);
	} else if (r->has_rotten) {
		rc = 0;		/* drawn from other bytes than its key says */
	} else {
		rc = store_add_product(r->capture->env->programs.store,
			&product, err);
		if (rc == 0)
			rc = note_stored(r, s, err);
	}
	err_release(&s->err);
	free(s->store_dir);
	free(s);
	return rc;
}

static int end_store(struct store_job *s, struct err *err)
{
	struct runner *r = s->runner;

	worker_slab_put(r->worker, s->slab);
	if (r->nverifying == 0)
		return record_stored(s, err);
	s->next = r->held;
	r->held = s;
	return 0;
}

static void run_verify(struct pool_job *job)
{
	struct verify_job *v = job->data;

	v->is_whole = object_hash(v->fd, &v->object, v->n);
}

static int end_verify(struct verify_job *v, struct err *err)
{
	struct runner *r = v->runner;
	int rc = 0;

	object_checked(r->capture->env->programs.store, &v->object,
		v->is_whole);
	r->has_rotten |= !v->is_whole;
	close(v->fd);
	free(v);
	if (--r->nverifying > 0)
		return 0;
	while (r->held) {
		struct store_job *s = r->held;
		struct err now = ERR_INIT;
		r->held = s->next;
		if (record_stored(s, &now) && rc == 0) {
			err_move(err, &now);
			rc = -1;
		}
		err_release(&now);
	}
	return rc;
}

/* The bytes behind fd are used from now on; it stays the caller's. 0 or -1. */
static int verify_later(struct runner *r, int fd,
	const struct product *product)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	/* Too many files are open: at once, then. */
	if (own < 0) {
		int is_whole = object_hash(fd, &product->object,
			product->size);
		object_checked(r->capture->env->programs.store,
			&product->object, is_whole);
		return is_whole ? 0 : -1;
	}
	struct verify_job *v = xcalloc(1, sizeof *v);
	v->runner = r;
	v->fd = own;
	v->object = product->object;
	v->n = product->size;
	v->job.run = run_verify;
	v->job.data = v;
	r->nverifying++;
	pool_add(r->capture->pool, &v->job);
	return 0;
}

static int end_job(struct pool_job *job, struct err *err)
{
	return job->run == run_store ? end_store(job->data, err) :
		job->run == run_verify ? end_verify(job->data, err) :
		capture_end_assembly(job, err);
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
	int has_begun = store_begin(store, err) == 0;
	rc = has_begun ? 0 : -1;
	for (; job; job = pool_take(c->pool, wait)) {
		struct err now = ERR_INIT;
		int one = end_job(job, &now);
		if (one != 0 && rc == 0)
			err_move(err, &now);
		err_release(&now);
		rc = rc != 0 ? rc : one;
	}
	c->ncollected++;
	if (rc == 0)
		return store_commit(store, err);
	/* What did arrive before the fault is kept, if the fault lets it. */
	struct err late = ERR_INIT;
	if (has_begun && store_commit(store, &late))
		log_verbose("%s", late.message);
	err_release(&late);
	return -1;
}

/* Hooks of plans and sweeps ---------------------------------------------------------- */

static int hook_has_node(void *data, const struct sha256 *key, int pass)
{
	struct capture *c = data;
	const struct pass *p = &c->env->manifest->pass[pass];
	struct product product;

	if (c->env->always && !capture_was_drawn(c, key))
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
	if (c->env->always && !capture_was_drawn(c, key))
		return 0;
	return store_product(c->env->programs.store, key, 0, &product);
}

static int hook_is_failed(void *data, const struct sha256 *key, int pass)
{
	struct capture *c = data;

	(void)pass;
	return map_get(&c->failed, key->byte, sizeof key->byte) != MAP_NONE;
}

static int hook_open(void *data, const struct sha256 *key, int index, size_t n)
{
	struct runner *r = data;
	struct store *store = r->capture->env->programs.store;
	struct product product;

	int is_whole;

	if (!store_product(store, key, index, &product) || product.size != n)
		return -1;
	int fd = object_open(store, &product.object, n, &is_whole);
	if (fd >= 0 && !is_whole && verify_later(r, fd, &product)) {
		close(fd);
		return -1;
	}
	return fd;
}

static void hook_loaded(void *data, uint32_t node)
{
	struct runner *r = data;

	(void)node;
	r->capture->result->counts.nodes_loaded++;
}

/* With -B, what a buffer holds counts as stored only if it is of this run, too. */
static void note_written(struct runner *r, uint32_t node)
{
	const struct keys *k = &r->group->keys;
	struct take take[TAKE_MAX];
	size_t n = keys_takes(k, node, take);

	for (size_t i = 0; i < n; i++)
		if (take[i].kind == TAKE_STORAGE && take[i].is_written)
			map_put(&r->capture->drawn, k->version[
				take[i].next_version].key.byte, SHA256_SIZE, 1);
}

static int hook_drew(void *data, uint32_t node, uint64_t gpu_ns, struct err *err)
{
	struct runner *r = data;
	struct capture *c = r->capture;
	struct group *g = r->group;
	int p = keys_node_pass(&g->keys, node), w, h;
	const struct sha256 *key = &g->keys.key[node];

	g->gpu_ns[node] = gpu_ns;
	r->unsaved_ns += gpu_ns;
	c->result->counts.nodes_drawn++;
	map_put(&c->drawn, key->byte, sizeof key->byte, 1);
	if (c->env->always)
		note_written(r, node);
	target_size(&g->variant, p, &w, &h);
	capture_tell_loops(c, g, p, keys_node_frame(&g->keys, node),
		g->plan.node[node].is_wanted);
	/* Frames between captured ones are never read back: no row for them. */
	if (!g->plan.node[node].is_wanted)
		return 0;
	char *shape = node_shape(g, p);
	int rc = record_node(r, node, shape, err);
	free(shape);
	if (rc != 0)
		return -1;
	return store_add_cost(c->env->programs.store, &g->keys.static_part[p],
		(uint64_t)w * (uint64_t)h, gpu_ns, err);
}

static int is_captured(const struct group *g, int t)
{
	size_t lo = 0, hi = g->njob;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (g->job[mid].frame < t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < g->njob && g->job[lo].frame == t;
}

/*
 * Where state is stored between captured frames. With "auto": when the draws
 * since the last time cost CHECKPOINT_RATIO times what storing does, so that
 * storing costs a small share, and any later frame is at most that many draws
 * from a stored one.
 */
static int hook_checkpoint(void *data, int t, uint64_t nbytes)
{
	struct runner *r = data;
	const struct manifest *m = r->capture->env->manifest;
	uint64_t store_ns = CHECKPOINT_NS + nbytes * CHECKPOINT_BYTE_NS;
	int is_due = 0;

	if (is_captured(r->group, t)) {
		r->unsaved_ns = 0;
		return 0;
	}
	switch (m->checkpoint) {
	case CHECKPOINT_OFF:
		break;
	case CHECKPOINT_EVERY:
		is_due = t > 0 && t % m->checkpoint_every == 0;
		break;
	case CHECKPOINT_AUTO:
		is_due = r->unsaved_ns > CHECKPOINT_RATIO * store_ns;
		break;
	}
	if (is_due)
		r->unsaved_ns = 0;
	return is_due;
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
	struct program *program = &r->group->set->programs.program[p];
	const unsigned char *key = program->shader.program_id.byte;
	size_t known = map_get(&r->program, key, SHA256_SIZE);

	(void)w;
	if (known == MAP_NONE) {
		env.worker = runner_worker;
		env.data = r;
		program->id = 0;
		if (program_link(&env, &r->group->variant, program, err))
			return -1;
		known = program->id;
		map_put(&r->program, key, SHA256_SIZE, known);
	}
	*id = (uint32_t)known;
	return 0;
}

static int hook_image(void *data, int asset, const struct image **out, struct err *err)
{
	struct runner *r = data;

	if (capture_read_asset(r->capture, (size_t)asset, err))
		return -1;
	*out = &r->capture->assets.image[asset];
	return 0;
}

/* Running ------------------------------------------------------------------------------ */

void capture_make_plan(struct capture *c, struct group *g)
{
	struct plan_hooks hooks = { hook_has_node, hook_has_version,
		hook_is_failed, c };
	int *frame;
	size_t n = group_frames(g, &frame);

	if (g->has_plan)
		plan_release(&g->plan);
	store_hold(c->env->programs.store);
	plan_make(&g->keys, frame, n, &hooks, &g->plan);
	store_unhold(c->env->programs.store);
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
	map_release(&r->program);
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
	/* It may have been asked to compile before this. */
	for (size_t i = 0; i < r->capture->nset; i++)
		for (size_t p = 0; p < env->manifest->npass; p++) {
			struct program *program =
				&r->capture->set[i]->programs.program[p];
			if (program->id && program->worker ==
			    worker_serial(r->worker))
				map_put(&r->program,
					program->shader.program_id.byte,
					SHA256_SIZE, program->id);
		}
	return 0;
}

static int give_up_store(struct runner *r, struct err *err)
{
	return err_set(err, STATUS_MACHINE, "objects of the store '%s' cannot "
		"be read, or do not stay as they are written; 'stbuild fsck "
		"--repair' removes them", store_dir(
		r->capture->env->programs.store));
}

/* Plans what is left of a group and sends it off. */
static int start_sweep(struct runner *r, struct err *err)
{
	struct sweep_hooks hooks = { r, hook_open, hook_loaded, hook_take,
		hook_is_settled, hook_checkpoint, hook_drew, hook_program, hook_image };

	if (r->nround++ == MISSES_MAX)
		return give_up_store(r, err);
	capture_make_plan(r->capture, r->group);
	if (r->group->plan.ndraw == r->group->plan.nfailed)
		return 0;
	r->capture->ndraw_planned = r->capture->result->counts.nodes_drawn +
		r->group->plan.ndraw - r->group->plan.nfailed;
	if (start_worker(r, err))
		return -1;
	memset(r->group->noutput_stored, 0, r->group->keys.nodes.n);
	r->sweep = sweep_new(&r->group->plan, r->worker, &hooks);
	return 0;
}

/* 1 when the group would draw what another runner is drawing and may store. */
static int must_wait(struct capture *c, const struct group *g)
{
	int has_checkpoints = c->env->manifest->checkpoint != CHECKPOINT_OFF;

	for (int i = 0; i < c->nrunner; i++) {
		const struct group *other = c->runner[i].group;
		struct map theirs = MAP_INIT;
		int is_shared = 0;
		if (!other || other == g)
			continue;
		for (uint32_t n = 0; n < other->plan.end; n++)
			if (other->plan.node[n].action == ACTION_DRAW &&
			    (other->plan.node[n].is_wanted || has_checkpoints))
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

/* Keys with the aliases found; jobs that are current with them are settled. */
static int rekey(struct capture *c, struct group *g, struct err *err)
{
	if (group_rekey(g, c->env, c->env->programs.driver, err))
		return -1;
	g->nalias = c->nalias;
	g->first_open = 0;
	for (size_t i = 0; i < g->njob; i++) {
		struct job *job = &g->job[i];
		if (!job->is_done && !job->is_under_way &&
		    !job->needs_content &&
		    capture_settle_job(c, g, job, err))
			return -1;
	}
	return 0;
}

/* Goes to the next group that has something to do, with aliases found since. */
static int next_group(struct capture *c, struct err *err)
{
	for (; c->next_group < c->ngroup; c->next_group++) {
		struct group *g = c->group[c->next_group];
		if (!group_is_open(g))
			continue;
		if (g->nalias != c->nalias && rekey(c, g, err))
			return -1;
		if (group_is_open(g))
			return 0;
	}
	return 0;
}

/* Gives idle runners the next groups, in order. */
static int start_groups(struct capture *c, struct err *err)
{
	for (int i = 0; i < c->nrunner && !c->is_stopping && !c->is_waiting;
	    i++) {
		struct runner *r = &c->runner[i];
		if (r->group)
			continue;
		if (next_group(c, err))
			return -1;
		if (c->next_group == c->ngroup)
			return 0;
		struct group *g = c->group[c->next_group];
		capture_make_plan(c, g);
		c->is_waiting = must_wait(c, g);
		if (c->is_waiting)
			return 0;
		c->next_group++;
		r->group = g;
		if (start_sweep(r, err) || capture_assemble_ready(r, err))
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
	/* A pass too large for this machine says nothing about the others. */
	if (node == NODE_NONE || (cause->status == STATUS_MACHINE &&
	    !(c->env->keep_going && cause->kind == ERR_MEMORY))) {
		err_move(err, cause);
		return -1;
	}
	const struct sha256 *key = &r->group->keys.key[node];
	r->nround = 0;
	map_put(&c->failed, key->byte, sizeof key->byte, c->fault.nerr);
	errs_take(&c->fault, cause);
	/* Slabs must be back before the worker goes. */
	while (r->nstoring > 0 || r->nverifying > 0)
		if (collect(c, 1, err))
			return -1;
	if (!c->env->keep_going) {
		capture_make_plan(c, r->group);
		return 0;
	}
	return start_sweep(r, err);
}

/* An object was not there, or not what its name says: all is planned anew. */
static int sweep_again(struct runner *r, struct err *err)
{
	if (r->sweep)
		end_sweep(r);
	while (r->nstoring > 0 || r->nverifying > 0)
		if (collect(r->capture, 1, err))
			return -1;
	r->has_rotten = 0;
	if (r->nmiss++ == MISSES_MAX)
		return give_up_store(r, err);
	return start_sweep(r, err);
}

static int step_sweep(struct runner *r, struct err *err)
{
	struct err cause = ERR_INIT;
	int rc = 0;

	if (r->group->needs_rekey)
		sweep_stop(r->sweep);
	switch (sweep_step(r->sweep, &cause)) {
	case SWEEP_BUSY:
		break;
	case SWEEP_DONE:
		if (r->nstoring == 0 && r->nverifying == 0)
			end_sweep(r);
		break;
	case SWEEP_MISS:
		rc = sweep_again(r, err);
		break;
	case SWEEP_FAILED:
		rc = sweep_failed(r, &cause, err);
		break;
	}
	err_release(&cause);
	return rc;
}

/* One turn of a runner: 1 when its group is done. */
static int runner_step(struct runner *r, struct err *err)
{
	/* What the worker is at ends first. */
	if (r->has_rotten && r->sweep)
		sweep_stop(r->sweep);
	if (r->sweep && step_sweep(r, err))
		return -1;
	if (!r->sweep && r->has_rotten && sweep_again(r, err))
		return -1;
	if (!r->sweep && r->nstoring == 0 && r->group->needs_rekey &&
	    (rekey(r->capture, r->group, err) || start_sweep(r, err)))
		return -1;
	if (capture_assemble_ready(r, err))
		return -1;
	if (r->sweep || r->nstoring > 0 || r->nverifying > 0 ||
	    r->nassembling > 0)
		return 0;
	if (group_is_open(r->group) && !r->capture->is_stopping) {
		/* An object was torn: what is missing is drawn again. */
		return start_sweep(r, err) || capture_assemble_ready(r, err) ?
			-1 : 0;
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

int capture_run_groups(struct capture *c, struct err *err)
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
		c->is_waiting &= !has_ended;
		size_t before = c->ncollected;
		if (rc >= 0)
			rc = collect(c, 0, err);
		report_progress(c);
		/* What has come in may be what a runner waits for. */
		if (rc == 0 && !has_ended && c->ncollected == before)
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

#include "capture_impl.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "candidates.h"
#include "products.h"
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

#define MISSES_MAX \
	100 /* in a run: more are no accident, but a store that cannot be read */
#define PROGRESS_NS 100000000LL /* between two calls of env->progress */

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
	if (fd >= 0 && !is_whole && product_check_later(r, fd, &product)) {
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
			map_put(&r->capture->drawn,
			    k->version[take[i].next_version].key.byte, SHA256_SIZE, 1);
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
	capture_report_loops(c, g, p, keys_node_frame(&g->keys, node),
	    g->plan.node[node].is_wanted);
	/* Frames between captured ones are never read back: no row for them. */
	if (!g->plan.node[node].is_wanted)
		return 0;
	char *shape = candidates_shape(g, p);
	int rc = product_record_node(r, node, shape, err);
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
	struct plan_hooks hooks = { hook_has_node, hook_has_version, hook_is_failed, c };
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
	if (r->is_session_worker
		? env->programs.worker(env->programs.data, &r->worker, err)
		: env->new_worker(env->data, &r->worker, err))
		return -1;
	info = worker_info(r->worker);
	if (!sha256_equal(&info->identity, &r->capture->driver)) {
		r->capture->driver_changed = 1;
		return err_set(err, STATUS_MACHINE,
		    "the driver changed while "
		    "stbuild was running; run it again");
	}
	/* It may have been asked to compile before this. */
	for (size_t i = 0; i < r->capture->nset; i++)
		for (size_t p = 0; p < env->manifest->npass; p++) {
			struct program *program =
			    &r->capture->set[i]->programs.program[p];
			if (program->id && program->worker == worker_serial(r->worker))
				map_put(&r->program, program->shader.program_id.byte,
				    SHA256_SIZE, program->id);
		}
	return 0;
}

static int give_up_store(struct runner *r, struct err *err)
{
	return err_set(err, STATUS_MACHINE,
	    "objects of the store '%s' cannot "
	    "be read, or do not stay as they are written; 'stbuild fsck "
	    "--repair' removes them",
	    store_dir(r->capture->env->programs.store));
}

/* Plans what is left of a group and sends it off. */
static int start_sweep(struct runner *r, struct err *err)
{
	struct sweep_hooks hooks = { r, hook_open, hook_loaded, product_take,
		candidates_are_known, hook_checkpoint, hook_drew, hook_program,
		hook_image };

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
				map_put(&theirs, other->keys.key[n].byte, SHA256_SIZE, 1);
		for (uint32_t n = 0; n < g->plan.end && !is_shared; n++)
			is_shared = g->plan.node[n].action == ACTION_DRAW &&
			    map_get(&theirs, g->keys.key[n].byte, SHA256_SIZE) !=
				MAP_NONE;
		map_release(&theirs);
		if (is_shared)
			return 1;
	}
	return 0;
}

/* Keys with the aliases found; jobs that are current with them are finished. */
static int rekey(struct capture *c, struct group *g, struct err *err)
{
	if (group_rekey(g, c->env, c->env->programs.driver, err))
		return -1;
	g->nalias = c->nalias;
	g->first_open = 0;
	for (size_t i = 0; i < g->njob; i++) {
		struct job *job = &g->job[i];
		if (!job->is_done && !job->is_under_way && !job->needs_content &&
		    capture_finish_job(c, g, job, err))
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
	for (int i = 0; i < c->nrunner && !c->is_stopping && !c->is_waiting; i++) {
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
	if (node == NODE_NONE ||
	    (cause->status == STATUS_MACHINE &&
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
		if (product_collect(c, 1, err))
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
		if (product_collect(r->capture, 1, err))
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
	if (r->sweep || r->nstoring > 0 || r->nverifying > 0 || r->nassembling > 0)
		return 0;
	if (group_is_open(r->group) && !r->capture->is_stopping) {
		/* An object was torn: what is missing is drawn again. */
		return start_sweep(r, err) || capture_assemble_ready(r, err) ? -1 : 0;
	}
	r->group = NULL;
	return 1;
}

static void report_progress(struct capture *c)
{
	long long now = proc_now_ns();
	struct capture_progress p = { c->result->counts.nodes_drawn, c->ndraw_planned, 0,
		NULL };

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
			fd[n++] =
			    (struct pollfd){ worker_fd(c->runner[i].worker), POLLIN, 0 };
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
			rc = product_collect(c, 0, err);
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
	if (product_collect(c, 1, &late) && rc == 0) {
		err_move(err, &late);
		rc = -1;
	}
	err_release(&late);
	return rc;
}

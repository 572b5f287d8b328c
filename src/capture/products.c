#include "products.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "candidates.h"
#include "util/log.h"
#include "util/mem.h"

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
	struct store_job *next; /* runner.held */
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

static void run_store(struct pool_job *job)
{
	struct store_job *s = job->data;

	s->rc = object_write(s->store_dir, s->slab->data, s->n, &s->object, &s->err);
}

int product_take(void *data, const struct sha256 *key, int index, uint32_t node,
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

int product_record_node(struct runner *r, uint32_t node, const char *shape,
    struct err *err)
{
	const struct group *g = r->group;
	int p = keys_node_pass(&g->keys, node);
	struct node_row row = { .key = g->keys.key[node],
		.pass = g->variant.manifest->pass[p].name,
		.gpu_ns = g->gpu_ns[node],
		.shape = shape,
		.frame = keys_node_frame(&g->keys, node) };

	target_size(&g->variant, p, &row.width, &row.height);
	return store_add_node(r->capture->env->programs.store, &row, err);
}

static int note_stored(struct runner *r, const struct store_job *s, struct err *err)
{
	struct group *g = r->group;
	const struct pass *pass =
	    &g->variant.manifest->pass[keys_node_pass(&g->keys, s->node)];

	if (sha256_equal(&s->key, &g->keys.key[s->node])) {
		if (++g->noutput_stored[s->node] == 1 + pass->nextra_output)
			g->is_stored[s->node] = 1;
		/* Of a checkpoint: no candidate, so it has no shape. */
		if (g->is_stored[s->node] && !g->plan.node[s->node].is_wanted &&
		    product_record_node(r, s->node, "", err))
			return -1;
	} else {
		struct take take[TAKE_MAX];
		size_t n = keys_takes(&g->keys, s->node, take);
		for (size_t i = 0; i < n; i++)
			if (take[i].kind == TAKE_STORAGE &&
			    sha256_equal(&g->keys.version[take[i].next_version].key,
				&s->key))
				g->is_version_stored[take[i].next_version] = 1;
	}
	if (group_bind_like(g, r->capture->env->programs.store, s->node, err))
		return -1;
	return candidates_judge(r, s->node, err);
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
		rc = 0; /* drawn from other bytes than its key says */
	} else {
		rc = store_add_product(r->capture->env->programs.store, &product, err);
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

	object_checked(r->capture->env->programs.store, &v->object, v->is_whole);
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

int product_check_later(struct runner *r, int fd, const struct product *product)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	/* Too many files are open: at once, then. */
	if (own < 0) {
		int is_whole = object_hash(fd, &product->object, product->size);
		object_checked(r->capture->env->programs.store, &product->object,
		    is_whole);
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
	return job->run == run_store ? end_store(job->data, err)
	    : job->run == run_verify ? end_verify(job->data, err)
				     : capture_end_assembly(job, err);
}

int product_collect(struct capture *c, int wait, struct err *err)
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

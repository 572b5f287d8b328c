#include "graph/plan.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

void plan_wanted(const struct keys *k, int frame,
    void (*each_node)(void *data, uint32_t node),
    void (*each_half)(void *data, uint32_t node),
    void (*each_version)(void *data, uint32_t version), void *data)
{
	const struct graph *g = k->scene->graph;

	for (size_t i = 0; i < g->norder; i++) {
		int p = g->order[i];
		if (!g->is_reached[p])
			continue;
		each_node(data, k->canon[keys_node(k, p, frame)]);
		if (each_half && frame > 0 && nodes_is_pair(k->scene, k->program, p))
			each_half(data, k->canon[keys_node(k, p, frame - 1)]);
	}
	for (size_t s = 0; s < g->nstorage; s++) {
		uint32_t version = keys_version_after(k, (int)s, frame);
		if (k->version[version].writer != NODE_NONE)
			each_version(data, version);
	}
}

static void want_node(void *data, uint32_t node)
{
	struct plan *plan = data;

	plan->node[node].is_wanted = 1;
}

static void want_half(void *data, uint32_t node)
{
	struct plan *plan = data;

	plan->node[node].is_half = 1;
}

static void want_version(void *data, uint32_t version)
{
	struct plan *plan = data;

	plan->version[version].is_wanted = 1;
}

/* Marks what a drawn node reads; it is the last reader seen so far, or not. */
static void use_takes(struct plan *plan, uint32_t node)
{
	struct take take[TAKE_MAX];
	size_t n = keys_takes(plan->keys, node, take);

	for (size_t i = 0; i < n; i++) {
		if (take[i].kind == TAKE_STORAGE) {
			struct plan_version *v = &plan->version[take[i].version];
			if (!v->is_used)
				v->last_use = node;
			v->is_used = 1;
		} else if (take[i].node != NODE_NONE) {
			struct plan_node *in = &plan->node[take[i].node];
			if (!in->is_used)
				in->last_use = node;
			in->is_used = 1;
		}
	}
}

/* Decides about the versions a node makes: 1 when one has to be made. */
static int needs_write(struct plan *plan, uint32_t node, const struct plan_hooks *hooks)
{
	const struct keys *k = plan->keys;
	struct take take[TAKE_MAX];
	size_t n = keys_takes(k, node, take);
	int needs = 0;

	for (size_t i = 0; i < n; i++) {
		if (take[i].kind != TAKE_STORAGE || !take[i].is_written)
			continue;
		struct plan_version *v = &plan->version[take[i].next_version];
		const struct version *version = &k->version[take[i].next_version];
		if (!v->is_wanted && !v->is_used)
			continue;
		if (hooks->has_version(hooks->data, &version->key, version->storage)) {
			v->action = v->is_used ? ACTION_LOAD : ACTION_REUSE;
		} else {
			v->action = ACTION_DRAW;
			needs = 1;
		}
	}
	return needs;
}

/* What needs the picture of a node that cannot be drawn cannot be drawn. */
static void spread_failures(struct plan *plan)
{
	struct take take[TAKE_MAX];

	for (uint32_t node = 0; node < plan->end; node++) {
		struct plan_node *n = &plan->node[node];
		if (n->action != ACTION_DRAW || n->is_failed)
			continue;
		size_t ntake = keys_takes(plan->keys, node, take);
		for (size_t i = 0; i < ntake && !n->is_failed; i++) {
			if (take[i].node == NODE_NONE)
				continue;
			int is_drawn = take[i].kind == TAKE_STORAGE
			    ? plan->version[take[i].version].action == ACTION_DRAW
			    : 1;
			n->is_failed = is_drawn && plan->node[take[i].node].is_failed;
			n->cause = plan->node[take[i].node].cause;
		}
		plan->nfailed += n->is_failed;
	}
}

/*
 * Walks back from the last node. Every reader of a node has a larger number,
 * so when the walk is at a node, all that ask for it have spoken.
 */
void plan_make(const struct keys *keys, const int *frame, size_t nframe,
    const struct plan_hooks *hooks, struct plan *out)
{
	size_t nnode = keys->nodes.n;

	memset(out, 0, sizeof *out);
	out->keys = keys;
	out->node = xcalloc(nnode + 1, sizeof *out->node);
	out->version = xcalloc(keys->nversion + 1, sizeof *out->version);
	for (size_t i = 0; i < nframe; i++)
		plan_wanted(keys, frame[i], want_node, want_half, want_version, out);
	for (size_t i = nnode; i-- > 0;) {
		uint32_t node = (uint32_t)i;
		struct plan_node *n = &out->node[node];
		int p = keys_node_pass(keys, node);
		if (keys->canon[node] != node)
			continue;
		int must_write = needs_write(out, node, hooks);
		int is_needed = n->is_wanted || n->is_used;
		if (!is_needed && !must_write && !n->is_half)
			continue;
		int is_stored =
		    !must_write && hooks->has_node(hooks->data, &keys->key[node], p);
		if (!is_needed && !must_write && !is_stored)
			continue;
		n->is_wanted |= n->is_half;
		if (out->end == 0)
			out->end = node + 1;
		if (is_stored) {
			n->action = n->is_used ? ACTION_LOAD : ACTION_REUSE;
			out->nload += n->is_used;
			out->nreuse += !n->is_used;
			continue;
		}
		n->action = ACTION_DRAW;
		out->ndraw++;
		if (hooks->is_failed &&
		    hooks->is_failed(hooks->data, &keys->key[node], p)) {
			n->is_failed = 1;
			n->cause = node;
			out->nfailed++;
			continue;
		}
		use_takes(out, node);
	}
	if (out->nfailed > 0)
		spread_failures(out);
}

void plan_release(struct plan *p)
{
	free(p->node);
	free(p->version);
	memset(p, 0, sizeof *p);
}

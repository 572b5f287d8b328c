#include "candidates.h"

#include <stdlib.h>

char *candidates_shape(const struct group *g, int p)
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

static size_t find_candidates(const struct runner *r, uint32_t node, struct sha256 *out,
    size_t max)
{
	const struct group *g = r->group;
	int p = keys_node_pass(&g->keys, node);
	char *shape = candidates_shape(g, p);
	struct node_row place = { .key = g->keys.key[node],
		.pass = g->variant.manifest->pass[p].name,
		.frame = keys_node_frame(&g->keys, node),
		.shape = shape };
	size_t n = store_candidates(r->capture->env->programs.store, &place, out, max);

	free(shape);
	return n;
}

static int same_product(struct store *store, const struct sha256 *a,
    const struct sha256 *b, int index)
{
	struct product x, y;

	return store_product(store, a, index, &x) && store_product(store, b, index, &y) &&
	    x.size == y.size && sha256_equal(&x.object, &y.object);
}

/* 1 when everything the node made is what the candidate has. */
static int is_same_node(const struct runner *r, uint32_t node,
    const struct sha256 *candidate)
{
	struct store *store = r->capture->env->programs.store;
	const struct keys *k = &r->group->keys;
	const struct pass *pass =
	    &r->group->variant.manifest->pass[keys_node_pass(k, node)];
	struct take take[TAKE_MAX];
	size_t n = keys_takes(k, node, take);

	for (int i = 0; i <= pass->nextra_output; i++)
		if (!same_product(store, &k->key[node], candidate, i))
			return 0;
	for (size_t i = 0; i < n; i++) {
		struct sha256 theirs;
		if (take[i].kind != TAKE_STORAGE || !take[i].is_written)
			continue;
		const struct version *v = &k->version[take[i].next_version];
		keys_version_key(candidate, k->scene->graph->storage[v->storage],
		    &theirs);
		if (!same_product(store, &v->key, &theirs, 0))
			return 0;
	}
	return 1;
}

/* With -B: the candidate's bytes are of this run, as the node's are. */
static void note_candidate(struct runner *r, uint32_t node,
    const struct sha256 *candidate)
{
	const struct keys *k = &r->group->keys;
	struct take take[TAKE_MAX];
	size_t n = keys_takes(k, node, take);

	map_put(&r->capture->drawn, candidate->byte, SHA256_SIZE, 1);
	for (size_t i = 0; i < n; i++) {
		struct sha256 theirs;
		if (take[i].kind != TAKE_STORAGE || !take[i].is_written)
			continue;
		const struct version *v = &k->version[take[i].next_version];
		keys_version_key(candidate, k->scene->graph->storage[v->storage],
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
		    g->plan.version[take[i].next_version].action == ACTION_DRAW &&
		    !g->is_version_stored[take[i].next_version])
			return 0;
	return 1;
}

static int is_read(const struct group *g, uint32_t node)
{
	return keys_is_read(&g->keys, node);
}

int candidates_judge(struct runner *r, uint32_t node, struct err *err)
{
	struct store *store = r->capture->env->programs.store;
	struct group *g = r->group;
	struct sha256 candidate[16];

	/* Once: a checkpoint may bring more of it when others were drawn on it. */
	if (!g->plan.node[node].is_wanted ||
	    g->alias_search[node] == ALIAS_SEARCH_CLOSED || !has_arrived(g, node))
		return 0;
	size_t n =
	    find_candidates(r, node, candidate, sizeof candidate / sizeof *candidate);
	g->alias_search[node] = ALIAS_SEARCH_CLOSED;
	for (size_t i = 0; i < n; i++) {
		struct sha256 earlier;
		if (store_alias(store, &candidate[i], &earlier))
			candidate[i] = earlier;
		if (sha256_equal(&candidate[i], &g->keys.key[node]) ||
		    !is_same_node(r, node, &candidate[i]))
			continue;
		note_candidate(r, node, &candidate[i]);
		r->capture->nalias++;
		const struct sha256 *plain = keys_plain(&g->keys, node);
		if (store_add_alias(store, &g->keys.key[node], &candidate[i], err) ||
		    (!sha256_equal(plain, &g->keys.key[node]) &&
			store_add_alias(store, plain, &candidate[i], err)))
			return -1;
		if (is_read(g, node))
			g->needs_rekey = 1;
		else
			keys_replace(&g->keys, node, &candidate[i]);
		return 0;
	}
	return 0;
}

int candidates_are_known(void *data, uint32_t node)
{
	struct runner *r = data;
	struct group *g = r->group;
	struct sha256 candidate;

	/* Nothing that follows hangs on a node that nobody takes. */
	if (!is_read(g, node))
		return !g->needs_rekey;
	if (g->alias_search[node] == ALIAS_SEARCH_UNKNOWN)
		g->alias_search[node] = find_candidates(r, node, &candidate, 1)
		    ? ALIAS_SEARCH_OPEN
		    : ALIAS_SEARCH_NONE;
	return g->alias_search[node] != ALIAS_SEARCH_OPEN && !g->needs_rekey;
}

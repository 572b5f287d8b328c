#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

static void add_edges(struct graph *g)
{
	const struct manifest *m = g->manifest;
	size_t n = 0;

	for (size_t p = 0; p < m->npass; p++)
		n += m->pass[p].ninput;
	g->edge = xcalloc(n, sizeof *g->edge);
	for (size_t p = 0; p < m->npass; p++) {
		const struct pass *pass = &m->pass[p];
		for (size_t i = 0; i < pass->ninput; i++) {
			const struct input_ref *in = &pass->input[i];
			if (in->kind != INPUT_PASS)
				continue;
			g->edge[g->nedge++] = (struct edge){ in->pass, (int)p,
				in->channel, in->output, in->is_previous };
		}
	}
}

/* Kahn's algorithm, always taking the first pass of the manifest that is free. */
static void sort_passes(struct graph *g)
{
	size_t npass = g->manifest->npass;
	int *waits = xcalloc(npass, sizeof *waits);
	int *is_out = xcalloc(npass, sizeof *is_out);

	for (size_t i = 0; i < g->nedge; i++)
		if (!g->edge[i].is_previous)
			waits[g->edge[i].to]++;
	for (;;) {
		size_t p = 0;
		while (p < npass &&
		    (is_out[p] || waits[p] > 0 ||
			g->manifest->pass[p].kind == PASS_SOUND))
			p++;
		if (p == npass)
			break;
		is_out[p] = 1;
		g->position[p] = (int)g->norder;
		g->order[g->norder++] = (int)p;
		for (size_t i = 0; i < g->nedge; i++)
			if (!g->edge[i].is_previous && g->edge[i].from == (int)p)
				waits[g->edge[i].to]--;
	}
	for (size_t p = 0; p < npass; p++)
		if (!is_out[p] && g->manifest->pass[p].kind != PASS_SOUND)
			BUG("a manifest with a current-frame cycle");
	free(waits);
	free(is_out);
}

static int shares_storage(const struct pass *a, const struct pass *b)
{
	for (size_t i = 0; i < a->nstorage; i++)
		for (size_t j = 0; j < b->nstorage; j++)
			if (strcmp(a->storage[i].name, b->storage[j].name) == 0)
				return 1;
	return 0;
}

/* From the image back over edges, and across storage names both ways. */
static void mark_reached(struct graph *g)
{
	const struct manifest *m = g->manifest;
	int *todo = xcalloc(m->npass, sizeof *todo);
	size_t ntodo = 0;

	g->is_reached[m->image] = 1;
	todo[ntodo++] = m->image;
	while (ntodo > 0) {
		int p = todo[--ntodo];
		for (size_t i = 0; i < g->nedge; i++) {
			int from = g->edge[i].from;
			if (g->edge[i].to == p && !g->is_reached[from]) {
				g->is_reached[from] = 1;
				todo[ntodo++] = from;
			}
		}
		for (size_t q = 0; q < m->npass; q++)
			if (!g->is_reached[q] && m->pass[q].kind != PASS_SOUND &&
			    shares_storage(&m->pass[p], &m->pass[q])) {
				g->is_reached[q] = 1;
				todo[ntodo++] = (int)q;
			}
	}
	free(todo);
}

static void mark_readers(struct graph *g)
{
	const struct manifest *m = g->manifest;

	for (size_t p = 0; p < m->npass; p++) {
		const struct pass *pass = &m->pass[p];
		if (!g->is_reached[p])
			continue;
		for (size_t i = 0; i < pass->ninput; i++) {
			const struct input_ref *in = &pass->input[i];
			if (in->kind != INPUT_PASS)
				continue;
			if (in->is_previous)
				g->has_previous_reader[in->pass] = 1;
			if (in->filter == FILTER_MIPMAP)
				g->mips[in->pass] |= 1u << in->output;
		}
	}
}

static void collect_storage(struct graph *g)
{
	const struct manifest *m = g->manifest;

	for (size_t p = 0; p < m->npass; p++)
		for (size_t i = 0; i < m->pass[p].nstorage; i++) {
			const struct storage *s = &m->pass[p].storage[i];
			if (graph_storage(g, s->name) >= 0)
				continue;
			size_t n = g->nstorage++;
			g->storage = xreallocarray(g->storage, n + 1, sizeof *g->storage);
			g->storage_size = xreallocarray(g->storage_size, n + 1,
			    sizeof *g->storage_size);
			g->storage[n] = xstrdup(s->name);
			g->storage_size[n] = s->size;
		}
}

void graph_init(struct graph *g, const struct manifest *m)
{
	memset(g, 0, sizeof *g);
	g->manifest = m;
	g->order = xcalloc(m->npass, sizeof *g->order);
	g->position = xcalloc(m->npass, sizeof *g->position);
	g->is_reached = xcalloc(m->npass, sizeof *g->is_reached);
	g->has_previous_reader = xcalloc(m->npass, sizeof *g->has_previous_reader);
	g->mips = xcalloc(m->npass, sizeof *g->mips);
	for (size_t p = 0; p < m->npass; p++)
		g->position[p] = -1;
	add_edges(g);
	sort_passes(g);
	mark_reached(g);
	mark_readers(g);
	collect_storage(g);
}

void graph_release(struct graph *g)
{
	for (size_t i = 0; i < g->nstorage; i++)
		free(g->storage[i]);
	free(g->storage);
	free(g->storage_size);
	free(g->edge);
	free(g->order);
	free(g->position);
	free(g->is_reached);
	free(g->has_previous_reader);
	free(g->mips);
	memset(g, 0, sizeof *g);
}

int graph_storage(const struct graph *g, const char *name)
{
	for (size_t i = 0; i < g->nstorage; i++)
		if (strcmp(g->storage[i], name) == 0)
			return (int)i;
	return -1;
}

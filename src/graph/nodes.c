#include "graph/nodes.h"

#include <stdlib.h>
#include <string.h>

#include "graph/keys.h"
#include "util/mem.h"

/* Half a gibibyte of keys and plans: 19 hours of one pass at 60 fps. */
#define NODES_MAX (UINT32_C(4) << 20)

#define LOOK_BACK 3 /* rows under way: a frame and the two before it */

int nodes_history(const struct scene *scene, const struct key_program *program, int p)
{
	switch (scene->variant->manifest->pass[p].kind) {
	case PASS_COMPUTE:
		return 1;
	case PASS_IMAGE:
		return program[p].has_discard ? 1 : 0;
	case PASS_BUFFER:
	case PASS_CUBEMAP:
		return program[p].has_discard ? 2 : 0;
	case PASS_SOUND:
		break;
	}
	return 0;
}

int nodes_is_pair(const struct scene *scene, const struct key_program *program, int p)
{
	return scene->graph->has_previous_reader[p] ||
	    (program[p].has_discard &&
		scene->variant->manifest->pass[p].kind != PASS_IMAGE);
}

int nodes_storage(const struct scene *scene, int p, uint32_t binding)
{
	const struct pass *pass = &scene->variant->manifest->pass[p];

	for (size_t i = 0; i < pass->nstorage; i++)
		if (pass->storage[i].binding == binding)
			return graph_storage(scene->graph, pass->storage[i].name);
	return -1;
}

/* What a pass takes, by places in the order; made once a pass. */
struct need {
	unsigned char *now, *before; /* a place each: read at t, at t - 1 */
	int history;
	unsigned char *storage; /* a buffer each: 1 read, 2 written */
};

struct walk {
	const struct scene *scene;
	const struct key_program *program;
	struct need *need;             /* a place each */
	unsigned char *row[LOOK_BACK]; /* a place each: needed at t, t-1, t-2 */
	unsigned char *is_open;        /* a buffer each: somebody later takes it */
	int nopen;
	struct nodes *out; /* filled from the last node to the first */
	size_t cap, place_cap;
};

static void find_need(const struct walk *w, size_t place, struct need *out)
{
	const struct graph *g = w->scene->graph;
	int p = g->order[place];
	const struct pass *pass = &w->scene->variant->manifest->pass[p];
	const struct reflection *r = w->program[p].reflection;

	out->now = xcalloc(g->norder, 1);
	out->before = xcalloc(g->norder, 1);
	out->storage = xcalloc(g->nstorage + 1, 1);
	out->history = nodes_history(w->scene, w->program, p);
	for (size_t i = 0; i < pass->ninput; i++) {
		const struct input_ref *in = &pass->input[i];
		if (in->kind != INPUT_PASS || !channel_is_active(r, in->channel))
			continue;
		unsigned char *row = in->is_previous ? out->before : out->now;
		row[g->position[in->pass]] = 1;
	}
	for (size_t i = 0; i < r->nblock; i++) {
		int s = nodes_storage(w->scene, p, r->block[i].binding);
		if (s >= 0)
			out->storage[s] |= r->block[i].is_written ? 3 : 1;
	}
}

static int writes_open(const struct walk *w, const struct need *need)
{
	size_t n = w->nopen ? w->scene->graph->nstorage : 0;

	for (size_t s = 0; s < n; s++)
		if (w->is_open[s] && need->storage[s] & 2)
			return 1;
	return 0;
}

static void push(struct walk *w, int t, size_t place)
{
	struct nodes *o = w->out;

	o->frame = array_grow(o->frame, o->n, &w->cap, sizeof *o->frame);
	o->place = array_grow(o->place, o->n, &w->place_cap, sizeof *o->place);
	o->frame[o->n] = t;
	o->place[o->n++] = (unsigned short)place;
}

/* Lists the needed nodes of frame t, last first, and marks what they take. */
static void walk_frame(struct walk *w, int t)
{
	const struct graph *g = w->scene->graph;

	for (size_t i = g->norder; i-- > 0;) {
		const struct need *need = &w->need[i];
		if (!need->now || (!w->row[0][i] && !writes_open(w, need)))
			continue;
		push(w, t, i);
		for (size_t k = 0; k < g->norder; k++) {
			w->row[0][k] |= need->now[k];
			w->row[1][k] |= need->before[k];
		}
		if (need->history)
			w->row[need->history][i] = 1;
		for (size_t s = 0; s < g->nstorage; s++)
			if (need->storage[s] && !w->is_open[s]) {
				w->is_open[s] = 1;
				w->nopen++;
			}
	}
}

static void want_frame(struct walk *w)
{
	const struct graph *g = w->scene->graph;

	for (size_t i = 0; i < g->norder; i++) {
		int p = g->order[i];
		if (!g->is_reached[p])
			continue;
		w->row[0][i] = 1;
		w->row[1][i] |= (unsigned char)nodes_is_pair(w->scene, w->program, p);
	}
}

/* The row of t is done; those before it move up. 1 when none is under way. */
static int next_row(struct walk *w)
{
	size_t n = w->scene->graph->norder;
	unsigned char *done = w->row[0];

	w->row[0] = w->row[1];
	w->row[1] = w->row[2];
	w->row[2] = done;
	memset(done, 0, n);
	return w->nopen == 0 && !memchr(w->row[0], 1, n) && !memchr(w->row[1], 1, n);
}

static int walk_back(struct walk *w, const int *frame, size_t nframe, struct err *err)
{
	const struct graph *g = w->scene->graph;
	uint64_t each = 1 + g->nstorage / 8;
	int t = nframe > 0 ? frame[nframe - 1] : -1;

	while (t >= 0) {
		if (nframe > 0 && frame[nframe - 1] == t) {
			want_frame(w);
			while (nframe > 0 && frame[nframe - 1] == t)
				nframe--;
		}
		walk_frame(w, t);
		if (w->out->n * each > NODES_MAX)
			return err_set(err, STATUS_INPUT,
			    "the requested "
			    "frames depend on more than %lu earlier draws, "
			    "because passes read previous frames; this is "
			    "more than can be planned at once: request an "
			    "earlier frame, or fewer",
			    (unsigned long)(NODES_MAX / each));
		t = !next_row(w) ? t - 1 : nframe > 0 ? frame[nframe - 1] : -1;
	}
	return 0;
}

/* Turns the list round, and finds where frames begin. */
static void finish(struct nodes *o)
{
	size_t cap = 0;

	for (uint32_t i = 0; i < o->n / 2; i++) {
		uint32_t k = o->n - 1 - i;
		int frame = o->frame[i];
		unsigned short place = o->place[i];
		o->frame[i] = o->frame[k];
		o->place[i] = o->place[k];
		o->frame[k] = frame;
		o->place[k] = place;
	}
	for (uint32_t i = 0; i <= o->n; i++) {
		if (i < o->n && i > 0 && o->frame[i] == o->frame[i - 1])
			continue;
		o->row = array_grow(o->row, o->nrow, &cap, sizeof *o->row);
		o->row[o->nrow++] = (struct node_span){ i < o->n ? o->frame[i] : -1, i };
	}
	o->nrow--;
}

int nodes_list(const struct scene *scene, const struct key_program *program,
    const int *frame, size_t nframe, struct nodes *out, struct err *err)
{
	const struct graph *g = scene->graph;
	struct walk w = { .scene = scene, .program = program, .out = out };

	memset(out, 0, sizeof *out);
	out->graph = g;
	w.need = xcalloc(g->norder + 1, sizeof *w.need);
	w.is_open = xcalloc(g->nstorage + 1, 1);
	for (int i = 0; i < LOOK_BACK; i++)
		w.row[i] = xcalloc(g->norder + 1, 1);
	for (size_t i = 0; i < g->norder; i++)
		if (g->is_reached[g->order[i]])
			find_need(&w, i, &w.need[i]);
	int rc = walk_back(&w, frame, nframe, err);
	if (rc == 0)
		finish(out);
	for (size_t i = 0; i < g->norder; i++) {
		free(w.need[i].now);
		free(w.need[i].before);
		free(w.need[i].storage);
	}
	for (int i = 0; i < LOOK_BACK; i++)
		free(w.row[i]);
	free(w.is_open);
	free(w.need);
	return rc;
}

void nodes_release(struct nodes *n)
{
	free(n->frame);
	free(n->place);
	free(n->row);
	memset(n, 0, sizeof *n);
}

/* The first row whose frame is t or later. */
static size_t row_at(const struct nodes *n, int t)
{
	size_t lo = 0, hi = n->nrow;

	/* Where feedback needs all frames, row t is that of frame t. */
	if ((size_t)t < n->nrow && n->row[t].frame == t)
		return (size_t)t;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (n->row[mid].frame < t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

uint32_t nodes_find(const struct nodes *n, int p, int t)
{
	int place = n->graph->position[p];

	if (t < 0 || place < 0)
		return NODE_NONE;
	size_t row = row_at(n, t);
	if (row == n->nrow || n->row[row].frame != t)
		return NODE_NONE;
	uint32_t first = n->row[row].first, end = n->row[row + 1].first;
	uint32_t i = first + (uint32_t)place;
	for (i = i < end ? i : end - 1; n->place[i] > place && i > first;)
		i--;
	return n->place[i] == place ? i : NODE_NONE;
}

uint32_t nodes_behind(const struct nodes *n, int t)
{
	return n->row[row_at(n, t + 1)].first;
}

#include "project/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

struct value_at {
	int frame;
	const struct value *value;
};

struct keys_at { /* behind a step with keys: a bit a key */
	int frame;
	uint8_t held[32], pressed[32], toggled[32];
};

struct timeline_index {
	size_t *first; /* a uniform each, and one more: in value[] */
	struct value_at *value;
	const struct timeline_step **mouse;
	size_t nmouse;
	struct keys_at *keys;
	size_t nkeys;
};

static void index_values(struct timeline_index *x, const struct timeline *t,
    size_t nuniform)
{
	size_t *next = xcalloc(nuniform + 1, sizeof *next);

	x->first = xcalloc(nuniform + 1, sizeof *x->first);
	for (size_t i = 0; i < t->nstep; i++)
		for (size_t k = 0; k < t->step[i].nset; k++)
			x->first[t->step[i].set[k].uniform + 1]++;
	for (size_t u = 0; u < nuniform; u++) {
		x->first[u + 1] += x->first[u];
		next[u] = x->first[u];
	}
	x->value = xcalloc(x->first[nuniform] + 1, sizeof *x->value);
	for (size_t i = 0; i < t->nstep; i++)
		for (size_t k = 0; k < t->step[i].nset; k++) {
			const struct assignment *a = &t->step[i].set[k];
			x->value[next[a->uniform]++] =
			    (struct value_at){ t->step[i].frame, &a->value };
		}
	free(next);
}

static void index_keys(struct timeline_index *x, const struct timeline_step *step)
{
	struct keys_at *now = &x->keys[x->nkeys];

	memset(now, 0, sizeof *now);
	now->frame = step->frame;
	for (size_t k = 0; k < step->nkey; k++)
		now->held[step->key[k] / 8] |= (uint8_t)(1 << step->key[k] % 8);
	for (int i = 0; i < 32; i++) {
		const struct keys_at *was = x->nkeys ? now - 1 : NULL;
		now->pressed[i] = now->held[i] & (uint8_t) ~(was ? was->held[i] : 0);
		now->toggled[i] = (was ? was->toggled[i] : 0) ^ now->pressed[i];
	}
	x->nkeys++;
}

struct timeline_index *timeline_index_new(const struct timeline *t, size_t nuniform)
{
	struct timeline_index *x = xcalloc(1, sizeof *x);
	size_t nkeys = 0;

	index_values(x, t, nuniform);
	x->mouse = xcalloc(t->nstep + 1, sizeof *x->mouse);
	for (size_t i = 0; i < t->nstep; i++) {
		if (t->step[i].has_mouse)
			x->mouse[x->nmouse++] = &t->step[i];
		nkeys += (size_t)(t->step[i].has_keys != 0);
	}
	x->keys = xcalloc(nkeys + 1, sizeof *x->keys);
	for (size_t i = 0; i < t->nstep; i++)
		if (t->step[i].has_keys)
			index_keys(x, &t->step[i]);
	return x;
}

void timeline_index_free(struct timeline_index *x)
{
	if (!x)
		return;
	free(x->first);
	free(x->value);
	free(x->mouse);
	free(x->keys);
	free(x);
}

/* How many of n items, sorted by the frame they begin with, are not behind it. */
static size_t count(const void *item, size_t n, size_t size, int frame)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int at;
		memcpy(&at, (const char *)item + mid * size, sizeof at);
		if (at <= frame)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* How many steps are not after the frame. */
static size_t count_steps(const struct timeline *t, int frame)
{
	return count(t->step, t->nstep, sizeof *t->step, frame);
}

const struct value *timeline_value(const struct timeline_index *x, size_t u, int frame)
{
	const struct value_at *first = &x->value[x->first[u]];
	size_t n = count(first, x->first[u + 1] - x->first[u], sizeof *first, frame);

	return n > 0 ? first[n - 1].value : NULL;
}

const float *timeline_mouse(const struct timeline_index *x, int frame)
{
	size_t lo = 0, hi = x->nmouse;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (x->mouse[mid]->frame <= frame)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo > 0 ? x->mouse[lo - 1]->mouse : NULL;
}

void timeline_keys(const struct timeline_index *x, int frame, uint8_t out[3][256])
{
	size_t n = count(x->keys, x->nkeys, sizeof *x->keys, frame);

	memset(out, 0, 3 * 256);
	if (n == 0)
		return;
	const struct keys_at *k = &x->keys[n - 1];
	for (int i = 0; i < 256; i++) {
		out[0][i] = k->held[i / 8] >> i % 8 & 1;
		out[1][i] = k->frame == frame && (k->pressed[i / 8] >> i % 8 & 1);
		out[2][i] = k->toggled[i / 8] >> i % 8 & 1;
	}
}

/* Parts -------------------------------------------------------------------------- */

/* Makes one step of what n steps have set. */
static void merge(const struct timeline *t, size_t n, size_t nuniform,
    struct timeline_step *to, struct assignment *set)
{
	unsigned char *is_set = xcalloc(nuniform + 1, 1);

	to->frame = t->step[n - 1].frame;
	to->set = set;
	for (size_t i = n; i-- > 0;) {
		const struct timeline_step *step = &t->step[i];
		for (size_t k = 0; k < step->nset; k++) {
			if (is_set[step->set[k].uniform])
				continue;
			is_set[step->set[k].uniform] = 1;
			set[to->nset++] = step->set[k];
		}
		if (step->has_mouse && !to->has_mouse) {
			to->has_mouse = 1;
			memcpy(to->mouse, step->mouse, sizeof to->mouse);
		}
	}
	free(is_set);
}

static int compare_sets(const void *a, const void *b)
{
	const struct assignment *x = a, *y = b;

	return (x->uniform > y->uniform) - (x->uniform < y->uniform);
}

void timeline_cut(const struct timeline *t, size_t nuniform, int from, int to,
    struct timeline_part *out)
{
	size_t end = count_steps(t, to), n = count_steps(t, from), k = 0;

	memset(out, 0, sizeof *out);
	if (n < 2) {
		out->timeline = (struct timeline){ t->step, end };
		return;
	}
	out->set = xcalloc(nuniform + 1, sizeof *out->set);
	out->step = xcalloc(end + 1, sizeof *out->step);
	for (size_t i = 0; i + 1 < n; i++)
		if (t->step[i].has_keys) {
			struct timeline_step *step = &out->step[k++];
			step->frame = t->step[i].frame;
			step->has_keys = 1;
			step->key = t->step[i].key;
			step->nkey = t->step[i].nkey;
		}
	struct timeline_step *made = &out->step[k++];
	merge(t, n, nuniform, made, out->set);
	if (made->nset > 0)
		qsort(made->set, made->nset, sizeof *made->set, compare_sets);
	made->has_keys = t->step[n - 1].has_keys;
	made->key = t->step[n - 1].key;
	made->nkey = t->step[n - 1].nkey;
	for (size_t i = n; i < end; i++)
		out->step[k++] = t->step[i];
	out->timeline = (struct timeline){ out->step, k };
}

void timeline_part_release(struct timeline_part *p)
{
	free(p->set);
	free(p->step);
	memset(p, 0, sizeof *p);
}

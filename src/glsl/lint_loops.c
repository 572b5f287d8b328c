#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lint_text.h"
#include "util/mem.h"

/*
 * Iterations are counted from below: a loop whose bounds are no constants
 * counts as one, a call of a function that is not sure as none, and a short
 * loop only through what it repeats, since compilers unroll it.
 */

#define UNROLLED 32		/* Mesa's limit */
#define NEST 64

struct loops {
	struct lint *l;
	double *cost;		/* a function each; < 0: not known yet */
	unsigned char *is_open;	/* being counted: it recurses */
	struct map constant;	/* names to index of value[]; see MANY */
	double *value;
	size_t nvalue, cap;
	double worst;
	size_t worst_at;
};

#define MANY ((size_t)-2)	/* declared with more than one value */

static int evaluate(const struct loops *s, const struct glsl *g, size_t from,
	size_t to, int depth, double *out);

static int evaluate_name(const struct loops *s, const struct glsl *g,
	size_t token, int depth, double *out)
{
	const struct lint *l = s->l;
	struct buf scratch = BUF_INIT;
	size_t n;
	const char *text = glsl_token_text(g, token, &scratch, &n);
	size_t m = map_get(&l->macro, text, n);
	size_t c = map_get(&s->constant, text, n);
	buf_release(&scratch);
	if (m != MAP_NONE)
		return !l->macro_at[m].is_unsure && !l->macro_at[m].has_parameters
			&& evaluate(s, &l->whole, l->macro_at[m].first,
				l->macro_at[m].last, depth + 1, out);
	if (c == MAP_NONE || c == MANY)
		return 0;
	*out = s->value[c];
	return 1;
}

/* A number, perhaps in parentheses, by name, or as min(iFrame, 0). */
static int evaluate(const struct loops *s, const struct glsl *g, size_t from,
	size_t to, int depth, double *out)
{
	if (depth > 8)
		return 0;
	while (to >= from + 2 && glsl_is(g, from, "(")
		&& glsl_is(g, to - 1, ")")) {
		from++;
		to--;
	}
	if (to == from + 6 && (glsl_is(g, from, "min") || glsl_is(g, from, "max"))
		&& glsl_is(g, from + 1, "(") && glsl_is(g, from + 5, ")")
		&& glsl_is(g, from + 3, ",")) {
		/* iFrame is never below zero. */
		*out = 0;
		return glsl_is(g, from, "min")
			&& ((glsl_is(g, from + 2, "iFrame")
				&& glsl_is(g, from + 4, "0"))
			|| (glsl_is(g, from + 2, "0")
				&& glsl_is(g, from + 4, "iFrame")));
	}
	int is_negative = to > from + 1 && glsl_is(g, from, "-");
	from += (size_t)is_negative;
	if (to != from + 1)
		return 0;
	if (g->token[from].kind == GLSL_WORD) {
		if (!evaluate_name(s, g, from, depth, out))
			return 0;
	} else {
		char text[32], *end;
		size_t n = g->token[from].len;
		if (g->token[from].kind != GLSL_NUMBER || n >= sizeof text)
			return 0;
		memcpy(text, g->text + g->token[from].at, n);
		text[n] = '\0';
		*out = text[0] == '0' && n > 1 && text[1] != '.'
			? (double)strtoul(text, &end, 0) : strtod(text, &end);
		if (*end && strcmp(end, "u") && strcmp(end, "f"))
			return 0;
	}
	if (is_negative)
		*out = -*out;
	return 1;
}

/* const int N = 100; anywhere: a name that has another value too counts not. */
static void find_constants(struct loops *s)
{
	struct lint *l = s->l;
	struct buf scratch = BUF_INIT;
	for (size_t i = 0; i + 1 < l->code.ntoken; i++) {
		if (!lint_is_word(l, i) || !lint_is_word(l, i + 1)
			|| lint_is(l, i, "return"))
			continue;
		/* "TYPE NAME": whatever is no constant spoils the name. */
		size_t n, end = i + 2;
		double value;
		int is_constant = i > 0 && lint_is(l, i - 1, "const")
			&& (lint_is(l, i, "int") || lint_is(l, i, "float"))
			&& lint_is(l, i + 2, "=");
		while (is_constant && end < l->code.ntoken
			&& !lint_is(l, end, ";"))
			end++;
		is_constant = is_constant && !l->is_unsure[i]
			&& evaluate(s, &l->code, i + 3, end, 0, &value);
		const char *text = glsl_token_text(&l->code, i + 1, &scratch,
			&n);
		if (!is_constant || map_get(&s->constant, text, n) != MAP_NONE) {
			map_put(&s->constant, text, n, MANY);
			continue;
		}
		s->value = array_grow(s->value, s->nvalue, &s->cap,
			sizeof *s->value);
		s->value[s->nvalue] = value;
		map_put(&s->constant, text, n, s->nvalue++);
	}
	buf_release(&scratch);
}

static int is_same(const struct lint *l, size_t a, size_t b)
{
	const struct glsl_token *x = &l->code.token[a], *y = &l->code.token[b];
	return x->kind == GLSL_WORD && y->kind == GLSL_WORD && x->len == y->len
		&& !memcmp(l->code.text + x->at, l->code.text + y->at, x->len);
}

/* The step of "i++", "++i", "i += 2" and their like. */
static int find_step(const struct loops *s, size_t name, size_t from,
	size_t to, double *step)
{
	struct lint *l = s->l;
	if (to == from + 2) {
		size_t op = is_same(l, from, name) ? from + 1 : from;
		if (!is_same(l, from, name) && !is_same(l, from + 1, name))
			return 0;
		*step = lint_is(l, op, "++") ? 1 : -1;
		return lint_is(l, op, "++") || lint_is(l, op, "--");
	}
	if (to < from + 3 || !is_same(l, from, name)
		|| (!lint_is(l, from + 1, "+=") && !lint_is(l, from + 1, "-=")))
		return 0;
	if (!evaluate(s, &l->code, from + 2, to, 0, step))
		return 0;
	if (lint_is(l, from + 1, "-="))
		*step = -*step;
	return 1;
}

static int is_changed(const struct lint *l, size_t name, size_t from, size_t to)
{
	static const char *const change[] = {
		"=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "++", "--"
	};
	for (size_t i = from; i < to; i++)
		if (is_same(l, i, name) && (lint_is_one_of(l, i + 1, change,
			LINT_COUNT(change)) || lint_is(l, i - 1, "++")
			|| lint_is(l, i - 1, "--")))
			return 1;
	return 0;
}

/* How often the loop with this header runs its body; 1 when nobody knows. */
static double count_trips(const struct loops *s, size_t open, size_t close,
	size_t end)
{
	static const char *const below[] = { "<", "<=" }, *const above[] = { ">", ">=" };
	struct lint *l = s->l;
	size_t part[2], npart = 0;
	for (size_t i = open + 1; i < close; i++)
		if (lint_is(l, i, ";")) {
			if (npart == 2)
				return 1;
			part[npart++] = i;
		}
	double first, bound, step;
	size_t name = open + 2;
	if (npart != 2 || (!lint_is(l, open + 1, "int")
		&& !lint_is(l, open + 1, "float")
		&& !lint_is(l, open + 1, "uint"))
		|| !lint_is(l, name + 1, "=") || !is_same(l, part[0] + 1, name)
		|| !evaluate(s, &l->code, name + 2, part[0], 0, &first)
		|| !evaluate(s, &l->code, part[0] + 3, part[1], 0, &bound)
		|| !find_step(s, name, part[1] + 1, close, &step)
		|| is_changed(l, name, close, end))
		return 1;
	size_t op = part[0] + 2;
	double n;
	if (step > 0 && lint_is_one_of(l, op, below, 2))
		n = (bound - first) / step;
	else if (step < 0 && lint_is_one_of(l, op, above, 2))
		n = (first - bound) / -step;
	else
		return 1;
	n = lint_is(l, op, "<=") || lint_is(l, op, ">=")
		? floor(n) + 1 : ceil(n);
	return n > 0 ? n : 0;
}

static double count_function(struct loops *s, size_t f);

/* The cheapest function of that name that has a body. */
static double count_call(struct loops *s, size_t name)
{
	size_t first = lint_find(s->l, &s->l->function_name, name);
	double least = -1;
	for (size_t f = first; first != MAP_NONE && f < s->l->nfunction; f++) {
		const struct glsl_function *fn = &s->l->function[f];
		if (!fn->body || lint_find(s->l, &s->l->function_name,
			fn->name) != first)
			continue;
		double cost = count_function(s, f);
		if (least < 0 || cost < least)
			least = cost;
	}
	return least > 0 ? least : 0;
}

static double count_range(struct loops *s, size_t from, size_t to, int depth)
{
	struct lint *l = s->l;
	double sum = 0;
	for (size_t i = from; i < to; i++) {
		if (lint_is(l, i, "for") && lint_is(l, i + 1, "(")
			&& depth < NEST) {
			int completes;
			size_t close = lint_skip(l, i + 1);
			size_t end = lint_statement(l, i, to, &completes);
			if (!end)
				return sum;
			double n = count_trips(s, i + 1, close - 1, end);
			double body = count_range(s, close, end, depth + 1);
			double cost = n * ((n > UNROLLED) + body);
			if (cost > s->worst) {
				s->worst = cost;
				s->worst_at = i;
			}
			sum += cost;
			i = end - 1;
		} else if (lint_is_word(l, i) && lint_is(l, i + 1, "(")) {
			sum += count_call(s, i);
		}
	}
	return sum;
}

static double count_function(struct loops *s, size_t f)
{
	const struct glsl_function *fn = &s->l->function[f];
	if (s->cost[f] < 0 && !s->is_open[f]) {
		s->is_open[f] = 1;
		s->cost[f] = lint_is_sure(s->l, fn)
			? count_range(s, fn->body, fn->last, 0) : 0;
		s->is_open[f] = 0;
	}
	return s->cost[f] > 0 ? s->cost[f] : 0;
}

void lint_loops(struct lint *l)
{
	static const char *const entry[] = {
		"mainImage", "mainCubemap", "mainCompute", "mainSound"
	};
	struct loops s = { .l = l };
	s.cost = xcalloc(l->nfunction + 1, sizeof *s.cost);
	s.is_open = xcalloc(l->nfunction + 1, 1);
	for (size_t f = 0; f < l->nfunction; f++)
		s.cost[f] = -1;
	find_constants(&s);
	for (size_t f = 0; f < l->nfunction; f++) {
		if (!l->function[f].body || !lint_is_one_of(l,
			l->function[f].name, entry, LINT_COUNT(entry)))
			continue;
		double n = count_function(&s, f);
		if (n > LINT_LOOP_BUDGET && s.worst > 0)
			lint_add(l, "long-loop", s.worst_at, "loops can come to "
				"%.0f iterations for a pixel, of which llvmpipe "
				"runs %d in all", n, LINT_LOOP_BUDGET);
	}
	map_release(&s.constant);
	free(s.value);
	free(s.is_open);
	free(s.cost);
}

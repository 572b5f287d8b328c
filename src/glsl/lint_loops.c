#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lint_text.h"
#include "util/mem.h"

/*
 * Iterations are counted from below: a loop whose bounds are neither constants
 * nor grow from frame to frame counts as one, a call of a function that is not
 * sure as none, and a short loop only through what it repeats, since compilers
 * unroll it.
 */

#define UNROLLED 32 /* Mesa's limit */
#define NEST 64

struct loops {
	struct lint *l;
	double *cost;           /* a function each; < 0: not known yet */
	unsigned char *is_open; /* being counted: it recurses */
	struct map constant;    /* names to index of value[]; see MANY */
	double *value;
	size_t nvalue, cap;
	double worst;
	size_t worst_at;
	/* Not null: what is certain then is counted, not what can be. */
	const struct lint_moment *moment;
	int *varies;
};

#define MANY ((size_t)-2) /* declared with more than one value */

struct reader { /* of a constant expression */
	const struct loops *s;
	size_t i, to;
	int depth;
};

static int read_sum(struct reader *r, double *out);

/* What a name comes to at most; what grows from frame to frame has no most. */
static int read_name(const struct loops *s, size_t token, double *out)
{
	const struct lint *l = s->l;
	size_t c = lint_find(l, &s->constant, token);
	if (c != MAP_NONE) {
		*out = c == MANY ? 0 : s->value[c];
		return c != MANY;
	}
	const struct lint_facts *facts = l->facts;
	const struct lint_moment *moment = s->moment;
	*out = INFINITY;
	if (lint_is(l, token, "iFrame") || lint_is(l, token, "iTime")) {
		if (moment) {
			*s->varies = 1;
			*out = lint_is(l, token, "iTime") ? moment->time : moment->frame;
		}
		return 1;
	}
	for (size_t u = 0; u < facts->nuniform; u++) {
		const struct lint_uniform *is = &facts->uniform[u];
		if (!lint_is(l, token, is->name) ||
		    (strcmp(is->type, "int") != 0 && strcmp(is->type, "float") != 0))
			continue;
		if (moment) {
			*s->varies = 1;
			*out = moment->uniform[u];
		} else if (is->has_max) {
			*out = is->max;
		}
		return 1;
	}
	return 0;
}

static int read_number(const struct lint *l, size_t token, double *out)
{
	char text[32], *end;
	size_t n = l->code.token[token].len;
	if (n >= sizeof text)
		return 0;
	memcpy(text, l->code.text + l->code.token[token].at, n);
	text[n] = '\0';
	*out = text[0] == '0' && n > 1 && !strpbrk(text, ".eE")
	    ? (double)strtoul(text, &end, 0)
	    : strtod(text, &end);
	return !*end || strcmp(end, "u") == 0 || strcmp(end, "U") == 0 ||
	    strcmp(end, "f") == 0 || strcmp(end, "F") == 0;
}

/* int(x), min(x, y) and their like. */
static int read_call(struct reader *r, double *out)
{
	static const char *const same[] = { "int", "float", "uint" };
	const struct lint *l = r->s->l;
	size_t name = r->i;
	double a[3];
	size_t n = 0;
	r->i += 2;
	do {
		if (n == 3 || !read_sum(r, &a[n++]))
			return 0;
	} while (r->i < r->to && lint_is(l, r->i++, ","));
	if (!lint_is(l, r->i - 1, ")"))
		return 0;
	if (n == 1 && lint_is_one_of(l, name, same, LINT_COUNT(same)))
		*out = lint_is(l, name, "float") ? a[0] : trunc(a[0]);
	else if (n == 1 && (lint_is(l, name, "floor") || lint_is(l, name, "ceil")))
		*out = lint_is(l, name, "ceil") ? ceil(a[0]) : floor(a[0]);
	else if (n == 2 && lint_is(l, name, "min"))
		*out = a[0] < a[1] ? a[0] : a[1];
	else if (n == 2 && lint_is(l, name, "max"))
		*out = a[0] > a[1] ? a[0] : a[1];
	else if (n == 3 && lint_is(l, name, "clamp"))
		*out = a[0] < a[1] ? a[1] : a[0] > a[2] ? a[2] : a[0];
	else
		return 0;
	return 1;
}

static int read_operand(struct reader *r, double *out)
{
	const struct lint *l = r->s->l;
	if (r->i >= r->to || r->depth > NEST)
		return 0;
	if (lint_is(l, r->i, "-")) {
		r->i++;
		r->depth++;
		int rc = read_operand(r, out);
		r->depth--;
		*out = -*out;
		return rc;
	}
	if (lint_is(l, r->i, "(")) {
		r->i++;
		return read_sum(r, out) && lint_is(l, r->i++, ")");
	}
	if (lint_is_word(l, r->i) && lint_is(l, r->i + 1, "("))
		return read_call(r, out);
	if (lint_is(l, r->i, "iResolution") && r->s->moment &&
	    lint_is(l, r->i + 1, ".") && r->i + 2 < r->to) {
		const struct lint_moment *moment = r->s->moment;
		*out = lint_is(l, r->i + 2, "x") ? moment->width : moment->height;
		int is_known = lint_is(l, r->i + 2, "x") || lint_is(l, r->i + 2, "y");
		r->i += 3;
		return is_known;
	}
	if (lint_is_word(l, r->i))
		return read_name(r->s, r->i++, out);
	return l->code.token[r->i].kind == GLSL_NUMBER && read_number(l, r->i++, out);
}

static int read_product(struct reader *r, double *out)
{
	const struct lint *l = r->s->l;
	if (!read_operand(r, out))
		return 0;
	while (r->i < r->to &&
	    (lint_is(l, r->i, "*") || lint_is(l, r->i, "/") || lint_is(l, r->i, "%"))) {
		size_t op = r->i++;
		double b;
		if (!read_operand(r, &b))
			return 0;
		if (lint_is(l, op, "*"))
			*out *= b;
		else if (lint_is(l, op, "/") && b != 0)
			*out /= b;
		else if (lint_is(l, op, "%") && isinf(*out))
			*out = b - 1;
		else
			return 0;
	}
	return 1;
}

static int read_sum(struct reader *r, double *out)
{
	const struct lint *l = r->s->l;
	if (++r->depth > NEST || !read_product(r, out))
		return 0;
	while (r->i < r->to && (lint_is(l, r->i, "+") || lint_is(l, r->i, "-"))) {
		size_t op = r->i++;
		double b;
		if (!read_product(r, &b))
			return 0;
		*out += lint_is(l, op, "+") ? b : -b;
	}
	r->depth--;
	return 1;
}

/* A constant, or what is no more than one: iFrame is without bound. */
static int evaluate(const struct loops *s, size_t from, size_t to, double *out)
{
	struct reader r = { s, from, to, 0 };
	return read_sum(&r, out) && r.i == to && !isnan(*out);
}

/* const int N = 100; anywhere: a name that has another value too counts not. */
static void find_constants(struct loops *s)
{
	struct lint *l = s->l;
	struct buf scratch = BUF_INIT;
	for (size_t i = 0; i + 1 < l->code.ntoken; i++) {
		if (!lint_is_word(l, i) || !lint_is_word(l, i + 1) ||
		    lint_is(l, i, "return"))
			continue;
		/* "TYPE NAME": whatever is no constant spoils the name. */
		size_t n, end = i + 2;
		double value;
		int is_constant = i > 0 && lint_is(l, i - 1, "const") &&
		    (lint_is(l, i, "int") || lint_is(l, i, "float")) &&
		    lint_is(l, i + 2, "=");
		while (is_constant && end < l->code.ntoken && !lint_is(l, end, ";"))
			end++;
		is_constant = is_constant && evaluate(s, i + 3, end, &value);
		const char *text = glsl_token_text(&l->code, i + 1, &scratch, &n);
		if (!is_constant || map_get(&s->constant, text, n) != MAP_NONE) {
			map_put(&s->constant, text, n, MANY);
			continue;
		}
		s->value = array_grow(s->value, s->nvalue, &s->cap, sizeof *s->value);
		s->value[s->nvalue] = value;
		map_put(&s->constant, text, n, s->nvalue++);
	}
	buf_release(&scratch);
}

static int is_same(const struct lint *l, size_t a, size_t b)
{
	const struct glsl_token *x = &l->code.token[a], *y = &l->code.token[b];
	return x->kind == GLSL_WORD && y->kind == GLSL_WORD && x->len == y->len &&
	    memcmp(l->code.text + x->at, l->code.text + y->at, x->len) == 0;
}

/* The step of "i++", "++i", "i += 2" and their like. */
static int find_step(const struct loops *s, size_t name, size_t from, size_t to,
    double *step)
{
	struct lint *l = s->l;
	if (to == from + 2) {
		size_t op = is_same(l, from, name) ? from + 1 : from;
		if (!is_same(l, from, name) && !is_same(l, from + 1, name))
			return 0;
		*step = lint_is(l, op, "++") ? 1 : -1;
		return lint_is(l, op, "++") || lint_is(l, op, "--");
	}
	if (to < from + 3 || !is_same(l, from, name) ||
	    (!lint_is(l, from + 1, "+=") && !lint_is(l, from + 1, "-=")))
		return 0;
	if (!evaluate(s, from + 2, to, step))
		return 0;
	if (lint_is(l, from + 1, "-="))
		*step = -*step;
	return 1;
}

static int is_changed(const struct lint *l, size_t name, size_t from, size_t to)
{
	static const char *const change[] = {
		"=",
		"+=",
		"-=",
		"*=",
		"/=",
		"%=",
		"<<=",
		">>=",
		"++",
		"--",
	};
	for (size_t i = from; i < to; i++)
		if (is_same(l, i, name) &&
		    (lint_is_one_of(l, i + 1, change, LINT_COUNT(change)) ||
			lint_is(l, i - 1, "++") || lint_is(l, i - 1, "--")))
			return 1;
	return 0;
}

static int has_exit(const struct lint *l, size_t from, size_t to)
{
	static const char *const exit[] = { "break", "return", "discard" };
	for (size_t i = from; i < to; i++)
		if (lint_is_one_of(l, i, exit, LINT_COUNT(exit)))
			return 1;
	return 0;
}

/* How often the loop with this header runs its body; 1 when nobody knows. */
static double count_trips(const struct loops *s, size_t open, size_t close, size_t end)
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
	if (npart != 2 ||
	    (!lint_is(l, open + 1, "int") && !lint_is(l, open + 1, "float") &&
		!lint_is(l, open + 1, "uint")) ||
	    !lint_is(l, name + 1, "=") || !is_same(l, part[0] + 1, name) ||
	    !evaluate(s, name + 2, part[0], &first) ||
	    !evaluate(s, part[0] + 3, part[1], &bound) ||
	    !find_step(s, name, part[1] + 1, close, &step) ||
	    is_changed(l, name, close, end) || isinf(first) || isinf(step) || step == 0)
		return 1;
	size_t op = part[0] + 2;
	double n;
	if (step > 0 && lint_is_one_of(l, op, below, 2))
		n = (bound - first) / step;
	else if (step < 0 && lint_is_one_of(l, op, above, 2))
		n = (first - bound) / -step;
	else
		return 1;
	/* What ends by itself may do so in time. */
	if (isinf(n) && has_exit(l, close, end))
		return 1;
	n = lint_is(l, op, "<=") || lint_is(l, op, ">=") ? floor(n) + 1 : ceil(n);
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
		if (!fn->body || lint_find(s->l, &s->l->function_name, fn->name) != first)
			continue;
		double cost = count_function(s, f);
		if (least < 0 || cost < least)
			least = cost;
	}
	return least > 0 ? least : 0;
}

static int ends_function(const struct lint *l, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (lint_is(l, i, "return") || lint_is(l, i, "discard"))
			return 1;
	return 0;
}

/*
 * Behind what not every pixel is certain to run, from token i on: 0 when it is
 * certain, the end when nothing behind it is.
 */
static size_t skip_uncertain(const struct lint *l, size_t i, size_t to)
{
	static const char *const statement[] = { "if", "while", "do", "switch" };
	static const char *const operator[] = { "?", "&&", "||" };
	int completes;
	size_t end = 0;
	if (lint_is_one_of(l, i, statement, LINT_COUNT(statement))) {
		end = lint_statement(l, i, to, &completes);
		if (!end)
			return to;
	} else if (lint_is_one_of(l, i, operator, LINT_COUNT(operator))) {
		for (end = i; end < to && !lint_is(l, end, ";"); end++)
			;
		return end;
	} else if (lint_is(l, i, "for")) {
		end = lint_statement(l, i, to, &completes);
		if (!end || !has_exit(l, i, end))
			return 0;
	}
	return end && ends_function(l, i, end) ? to : end;
}

static double count_range(struct loops *s, size_t from, size_t to, int depth)
{
	struct lint *l = s->l;
	double sum = 0;
	for (size_t i = from; i < to; i++) {
		size_t behind = s->moment ? skip_uncertain(l, i, to) : 0;
		if (behind) {
			i = behind - 1;
		} else if (lint_is(l, i, "for") && lint_is(l, i + 1, "(") &&
		    depth < NEST) {
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
		s->cost[f] =
		    lint_is_sure(s->l, fn) ? count_range(s, fn->body, fn->last, 0) : 0;
		s->is_open[f] = 0;
	}
	return s->cost[f] > 0 ? s->cost[f] : 0;
}

/* Counts from the entry point on. */
static double count(struct loops *s)
{
	struct lint *l = s->l;
	double n = 0;
	s->cost = xcalloc(l->nfunction + 1, sizeof *s->cost);
	s->is_open = xcalloc(l->nfunction + 1, 1);
	for (size_t f = 0; f < l->nfunction; f++)
		s->cost[f] = -1;
	find_constants(s);
	for (size_t f = 0; f < l->nfunction; f++)
		if (l->function[f].body &&
		    lint_is(l, l->function[f].name, l->facts->entry))
			n = count_function(s, f);
	map_release(&s->constant);
	free(s->value);
	free(s->is_open);
	free(s->cost);
	return n;
}

double lint_loops_at(struct lint *l, const struct lint_moment *moment, int *varies,
    size_t *worst_at)
{
	struct loops s = { .l = l, .moment = moment, .varies = varies };
	double n = count(&s);
	*worst_at = s.worst_at;
	return s.worst > 0 ? n : 0;
}

void lint_loops(struct lint *l)
{
	struct loops s = { .l = l };
	double n = count(&s);
	if (isinf(n))
		lint_add(l, "long-loop", s.worst_at,
		    "the iterations of this loop "
		    "grow without bound; llvmpipe runs %d of all loops for a "
		    "pixel",
		    LINT_LOOP_BUDGET);
	else if (n > LINT_LOOP_BUDGET && s.worst > 0)
		lint_add(l, "long-loop", s.worst_at,
		    "loops can come to %.0f "
		    "iterations for a pixel, of which llvmpipe runs %d in all",
		    n, LINT_LOOP_BUDGET);
}

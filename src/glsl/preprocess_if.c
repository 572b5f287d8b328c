#include "preprocess_impl.h"

#include <stdlib.h>
#include <string.h>

#include "util/limits.h"
#include "util/mem.h"

/*
 * Conditions: C's integer expressions without assignments, commas and ?:. What
 * && and || leave out is read and not judged.
 */
struct expression {
	struct preprocessor *pp;
	struct pp_tokens list;
	size_t at;
	uint32_t raw;
	int depth;
	int is_dead; /* && and || have decided: nothing is a fault of value */
};

static const struct operator
{
	const char *text;
	int level;
}
operators[] = {
	{ "||", 1 },
	{ "&&", 2 },
	{ "|", 3 },
	{ "^", 4 },
	{ "&", 5 },
	{ "==", 6 },
	{ "!=", 6 },
	{ "<", 7 },
	{ ">", 7 },
	{ "<=", 7 },
	{ ">=", 7 },
	{ "<<", 8 },
	{ ">>", 8 },
	{ "+", 9 },
	{ "-", 9 },
	{ "*", 10 },
	{ "/", 10 },
	{ "%", 10 },
};

static const struct pp_token *now(const struct expression *e)
{
	return e->at < e->list.n ? &e->list.at[e->at] : NULL;
}

static int is_now(const struct expression *e, const char *text)
{
	return e->at < e->list.n && pp_is(&e->list.at[e->at], text);
}

static int binary(struct expression *e, int level, int64_t *value);

static int number(struct expression *e, const struct pp_token *t, int64_t *value)
{
	char text[32], *end;
	if (t->len < sizeof text) {
		memcpy(text, t->text, t->len);
		text[t->len] = '\0';
		unsigned long long v = strtoull(text, &end, 0);
		if (*end == 'u' || *end == 'U')
			end++;
		if (!*end) {
			*value = (int64_t)v;
			return 0;
		}
	}
	return pp_fault(e->pp, e->raw, "'%.*s' is not an integer for #if",
	    (int)(t->len < 64 ? t->len : 64), t->text);
}

static int primary(struct expression *e, int64_t *value)
{
	const struct pp_token *t = now(e);
	if (!t)
		return pp_fault(e->pp, e->raw, "the condition ends too early");
	e->at++;
	if (pp_is(t, "(")) {
		if (++e->depth > LIMIT_MACRO_NESTING)
			return pp_fault(e->pp, e->raw,
			    "the condition is nested "
			    "more than %d deep",
			    LIMIT_MACRO_NESTING);
		if (binary(e, 1, value))
			return -1;
		e->depth--;
		if (!is_now(e, ")"))
			return pp_fault(e->pp, e->raw,
			    "a ')' is missing in the "
			    "condition");
		e->at++;
		return 0;
	}
	if (t->kind == GLSL_NUMBER)
		return number(e, t, value);
	if (t->kind != GLSL_WORD)
		return pp_fault(e->pp, e->raw, "unexpected '%.*s' in the condition",
		    (int)t->len, t->text);
	*value = 0;
	if (e->pp->options.is_essl && !e->is_dead)
		return pp_fault(e->pp, e->raw,
		    "'%.*s' is not defined, which "
		    "GLSL ES 3.00 refuses in #if",
		    (int)t->len, t->text);
	return 0;
}

static int unary(struct expression *e, int64_t *value)
{
	char stack[64];
	size_t n = 0;
	while (n < sizeof stack &&
	    (is_now(e, "-") || is_now(e, "+") || is_now(e, "!") || is_now(e, "~")))
		stack[n++] = *e->list.at[e->at++].text;
	if (primary(e, value))
		return -1;
	while (n > 0) {
		switch (stack[--n]) {
		case '-':
			*value = (int64_t)(0 - (uint64_t)*value);
			break;
		case '!':
			*value = !*value;
			break;
		case '~':
			*value = ~*value;
			break;
		default:
			break;
		}
	}
	return 0;
}

static int divide(struct expression *e, char op, int64_t *a, int64_t b)
{
	if (!b) {
		*a = 0;
		return e->is_dead
		    ? 0
		    : pp_fault(e->pp, e->raw, "division by zero in the condition");
	}
	if (b == -1) /* the one quotient that does not fit */
		*a = op == '/' ? (int64_t)(0 - (uint64_t)*a) : 0;
	else
		*a = op == '/' ? *a / b : *a % b;
	return 0;
}

static int shift(struct expression *e, char op, int64_t *a, int64_t b)
{
	if (b < 0 || b > 31) {
		*a = 0;
		return e->is_dead ? 0
				  : pp_fault(e->pp, e->raw,
					"a shift by %lld in the condition", (long long)b);
	}
	*a = op == '<' ? (int64_t)((uint64_t)*a << b) : *a >> b;
	return 0;
}

static int apply(struct expression *e, const char *op, int64_t *a, int64_t b)
{
	uint64_t x = (uint64_t)*a, y = (uint64_t)b;
	int is_double = op[1] != '\0';
	switch (op[0]) {
	case '|':
		*a = is_double ? *a || b : (int64_t)(x | y);
		return 0;
	case '&':
		*a = is_double ? *a && b : (int64_t)(x & y);
		return 0;
	case '^':
		*a = (int64_t)(x ^ y);
		return 0;
	case '=':
		*a = *a == b;
		return 0;
	case '!':
		*a = *a != b;
		return 0;
	case '<':
		if (op[1] == '<')
			return shift(e, '<', a, b);
		*a = is_double ? *a <= b : *a < b;
		return 0;
	case '>':
		if (op[1] == '>')
			return shift(e, '>', a, b);
		*a = is_double ? *a >= b : *a > b;
		return 0;
	case '+':
		*a = (int64_t)(x + y);
		return 0;
	case '-':
		*a = (int64_t)(x - y);
		return 0;
	case '*':
		*a = (int64_t)(x * y);
		return 0;
	default:
		return divide(e, op[0], a, b);
	}
}

/* Precedence climbing. */
static int binary(struct expression *e, int level, int64_t *value)
{
	if (unary(e, value))
		return -1;
	for (;;) {
		const struct operator* op = NULL;
		for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
			if (is_now(e, operators[i].text))
				op = &operators[i];
		if (!op || op->level < level)
			return 0;
		e->at++;
		int was_dead = e->is_dead;
		if ((op->level == 1 && *value) || (op->level == 2 && !*value))
			e->is_dead = 1;
		int64_t right;
		int result = binary(e, op->level + 1, &right);
		e->is_dead = was_dead;
		if (result || apply(e, op->text, value, right))
			return -1;
	}
}

int pp_condition(struct preprocessor *pp, size_t first, size_t end, uint32_t raw)
{
	struct expression e = { .pp = pp, .raw = raw };
	struct pp_tokens line = { 0 };
	struct pp_token t;
	int result = -1, got;
	int64_t value = 0;
	for (size_t i = first; i < end; i++) {
		t = pp_raw_token(pp, i);
		t.raw = raw;
		pp_add(&line, &t);
	}
	if (!line.n) {
		pp_fault(pp, raw, "#if without a condition");
		return -1;
	}
	struct pp_stream s = { .list = line.at, .nlist = line.n };
	pp->in_condition++;
	while ((got = pp_expand(pp, &s, &t)) > 0)
		pp_add(&e.list, &t);
	pp->in_condition--;
	pp_stream_release(&s);
	if (got < 0 || binary(&e, 1, &value))
		goto out;
	if (e.at < e.list.n) {
		const struct pp_token *rest = &e.list.at[e.at];
		pp_fault(pp, raw, "unexpected '%.*s' after the condition", (int)rest->len,
		    rest->text);
		goto out;
	}
	result = value != 0;
out:
	free(line.at);
	free(e.list.at);
	return result;
}

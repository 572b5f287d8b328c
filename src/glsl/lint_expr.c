#include <stdlib.h>
#include <string.h>

#include "lint_types.h"
#include "util/mem.h"

/* GLSL ES 3.00, 5.1 and 9: one function a level, those of two operands by rank. */

#define NESTING 256

static const struct term nothing;

static struct term lost(struct typing *t)
{
	t->is_lost = 1;
	return nothing;
}

static int is_scalar(const struct type *type)
{
	return type->rows == 1 && !type->cols && !type->array;
}

static int is_numeric(const struct type *type)
{
	return type->base == BASE_INT || type->base == BASE_UINT ||
	    type->base == BASE_FLOAT;
}

/* Primaries ---------------------------------------------------------------- */

static struct term literal(struct typing *t)
{
	const struct glsl_token *k = &t->l->code.token[t->i];
	const char *s = t->l->code.text + k->at;
	struct term v = { .is_const = 1, .at = t->i++ };
	int is_hex = k->len > 2 && s[0] == '0' && (s[1] | 0x20) == 'x';
	int is_float = 0;
	for (size_t i = 0; i < k->len; i++) {
		if (s[i] == '\\')
			return v;
		is_float |= !is_hex && (s[i] == '.' || (s[i] | 0x20) == 'e');
	}
	char last = s[k->len - 1] | 0x20;
	if (!is_hex && last == 'f' && !is_float)
		return v; /* "1f" is neither */
	v.type = (struct type){ .rows = 1,
		.base = is_float  ? BASE_FLOAT
		    : last == 'u' ? BASE_UINT
				  : BASE_INT };
	if (!is_hex && k->len > 2 && (last == 'f') && (s[k->len - 2] | 0x20) == 'l')
		lint_add(t->l, "site-refuses", v.at,
		    "ES 3.00 has no numbers "
		    "that end with lf");
	return v;
}

#define MAX_ARGUMENTS 64

/* "(a, b)" at t->i; how many. */
static size_t arguments(struct typing *t, struct term *out)
{
	size_t n = 0;
	t->i++;
	if (lint_is(t->l, t->i, "void") && lint_is(t->l, t->i + 1, ")"))
		t->i++;
	while (!t->is_lost && !lint_is(t->l, t->i, ")")) {
		struct term v = typing_assignment(t);
		if (n < MAX_ARGUMENTS)
			out[n++] = v;
		if (lint_is(t->l, t->i, ","))
			t->i++;
		else if (!lint_is(t->l, t->i, ")"))
			lost(t);
	}
	t->i++;
	return n;
}

/* A constructor of the type, its arguments at t->i. */
static struct term construct(struct typing *t, size_t at, struct type type)
{
	struct term argument[MAX_ARGUMENTS];
	struct term v = { .type = type, .is_const = 1, .at = at };
	size_t n = arguments(t, argument);
	for (size_t i = 0; i < n; i++)
		v.is_const &= argument[i].is_const;
	if (type.array) {
		struct type element = type;
		element.array = 0;
		if (type.array < 0 && n < MAX_ARGUMENTS)
			v.type.array = (int)n;
		for (size_t i = 0; i < n; i++)
			typing_expect(t, &argument[i], &element,
			    "as element of an array of %s", base_name(type.base));
	} else if (type.base == BASE_STRUCT) {
		const struct record *r = &t->record[type.index];
		for (size_t i = 0; i < n && i < r->nfield; i++)
			typing_expect(t, &argument[i], &r->field[i].type,
			    "as value of '%.*s'", (int)r->field[i].n, r->field[i].name);
	}
	return v;
}

static void check_variable(struct typing *t, size_t token)
{
	static const char *const known[] = {
		"gl_MaxVertexAttribs",
		"gl_MaxVertexUniformVectors",
		"gl_MaxVertexOutputVectors",
		"gl_MaxFragmentInputVectors",
		"gl_MaxVertexTextureImageUnits",
		"gl_MaxCombinedTextureImageUnits",
		"gl_MaxTextureImageUnits",
		"gl_MaxFragmentUniformVectors",
		"gl_MaxDrawBuffers",
		"gl_MinProgramTexelOffset",
		"gl_MaxProgramTexelOffset",
		"gl_DepthRange",
	};
	const struct glsl_token *k = &t->l->code.token[token];
	const char *s = t->l->code.text + k->at;
	if (k->len > 3 && strncmp(s, "gl_", 3) == 0 && !t->is_lost &&
	    !lint_is_one_of(t->l, token, known, LINT_COUNT(known)))
		lint_add(t->l, "site-refuses", token, "ES 3.00 has no %.*s", (int)k->len,
		    s);
}

static struct term named(struct typing *t)
{
	size_t at = t->i++;
	struct term v = { .at = at, .is_const = 1 };
	struct type type;
	if (typing_of_word(t, at, &type)) {
		while (lint_is(t->l, t->i, "["))
			typing_array(t, &type);
		return lint_is(t->l, t->i, "(") ? construct(t, at, type) : lost(t);
	}
	if (lint_is(t->l, at, "true") || lint_is(t->l, at, "false")) {
		v.type = (struct type){ .base = BASE_BOOL, .rows = 1 };
		return v;
	}
	if (lint_is(t->l, t->i, "(")) {
		struct term argument[MAX_ARGUMENTS];
		size_t n = arguments(t, argument);
		return typing_call(t, at, argument, n);
	}
	const struct symbol *s = typing_find(t, at);
	if (!s) {
		check_variable(t, at);
		return v;
	}
	v.type = s->type;
	v.is_const = s->is_const;
	return v;
}

static struct term primary(struct typing *t)
{
	struct lint *l = t->l;
	if (t->i >= t->end)
		return lost(t);
	if (l->code.token[t->i].kind == GLSL_NUMBER)
		return literal(t);
	if (lint_is_word(l, t->i))
		return named(t);
	if (!lint_is(l, t->i, "("))
		return lost(t);
	size_t at = t->i++;
	struct term v = typing_expression(t);
	v.at = at;
	if (!lint_is(l, t->i, ")"))
		return lost(t);
	t->i++;
	return v;
}

/* Behind them -------------------------------------------------------------- */

static struct term select_field(struct typing *t, struct term v, size_t name)
{
	const struct glsl_token *k = &t->l->code.token[name];
	const char *s = t->l->code.text + k->at;
	struct term out = { .at = v.at, .is_const = v.is_const };
	if (v.type.base == BASE_UNKNOWN || v.type.array)
		return out;
	if (v.type.base == BASE_STRUCT) {
		const struct record *r = &t->record[v.type.index];
		for (size_t i = 0; i < r->nfield; i++)
			if (r->field[i].n == k->len &&
			    memcmp(r->field[i].name, s, k->len) == 0)
				out.type = r->field[i].type;
		return out;
	}
	if (!is_numeric(&v.type) && v.type.base != BASE_BOOL)
		return out;
	if (is_scalar(&v.type) && !t->is_lost)
		lint_add(t->l, "site-refuses", name, "ES 3.00 has no .%.*s of %s",
		    (int)k->len, s, base_article(v.type.base));
	if (k->len <= 4 && !v.type.cols)
		out.type = (struct type){ .base = v.type.base, .rows = (int)k->len };
	return out;
}

static struct term length_of(struct typing *t, struct term v, size_t name)
{
	struct term out = { .at = v.at, .is_const = 1 };
	if (!t->is_lost && v.type.base != BASE_UNKNOWN && !v.type.array)
		lint_add(t->l, "site-refuses", name,
		    "ES 3.00 has .length() of "
		    "arrays alone");
	out.type = (struct type){ .base = BASE_INT, .rows = 1 };
	return out;
}

static struct term element(struct typing *t, struct term v)
{
	t->i++;
	struct term index = typing_expression(t);
	if (!lint_is(t->l, t->i, "]"))
		return lost(t);
	t->i++;
	v.is_const &= index.is_const;
	if (v.type.array)
		v.type.array = 0;
	else if (v.type.cols)
		v.type.cols = 0;
	else if (v.type.rows > 1 && v.type.base != BASE_STRUCT)
		v.type.rows = 1;
	else
		v.type = TYPE_UNKNOWN;
	return v;
}

static struct term postfix(struct typing *t)
{
	struct lint *l = t->l;
	struct term v = primary(t);
	while (!t->is_lost) {
		if (lint_is(l, t->i, ".") && lint_is_word(l, t->i + 1)) {
			size_t name = t->i + 1;
			t->i += 2;
			if (lint_is(l, t->i, "(") && lint_is(l, t->i + 1, ")")) {
				t->i += 2;
				v = length_of(t, v, name);
			} else {
				v = select_field(t, v, name);
			}
		} else if (lint_is(l, t->i, "[")) {
			v = element(t, v);
		} else if (lint_is(l, t->i, "++") || lint_is(l, t->i, "--")) {
			t->i++;
			v.is_const = 0;
		} else {
			break;
		}
	}
	return v;
}

static struct term unary(struct typing *t)
{
	struct lint *l = t->l;
	static const char *const sign[] = { "+", "-", "~" };
	if (++t->nesting > NESTING) {
		t->nesting--;
		return lost(t);
	}
	size_t at = t->i;
	struct term v;
	if (lint_is_one_of(l, at, sign, LINT_COUNT(sign))) {
		t->i++;
		v = unary(t);
	} else if (lint_is(l, at, "!")) {
		t->i++;
		v = unary(t);
		v.type = (struct type){ .base = BASE_BOOL, .rows = 1 };
	} else if (lint_is(l, at, "++") || lint_is(l, at, "--")) {
		t->i++;
		v = unary(t);
		v.is_const = 0;
	} else {
		v = postfix(t);
	}
	t->nesting--;
	v.at = at;
	return v;
}

/* Operators ---------------------------------------------------------------- */

/* 0 for what is none of two operands; "<" binds stronger than "==". */
static int rank_of(const struct lint *l, size_t i)
{
	static const char *const level[][4] = {
		{ "||" },
		{ "^^" },
		{ "&&" },
		{ "|" },
		{ "^" },
		{ "&" },
		{ "==", "!=" },
		{ "<", ">", "<=", ">=" },
		{ "<<", ">>" },
		{ "+", "-" },
		{ "*", "/", "%" },
	};
	if (i >= l->code.ntoken || l->code.token[i].kind != GLSL_PUNCT)
		return 0;
	for (size_t k = 0; k < LINT_COUNT(level); k++)
		for (size_t m = 0; m < 4 && level[k][m]; m++)
			if (lint_is(l, i, level[k][m]))
				return (int)k + 1;
	return 0;
}

enum {
	RANK_OR = 1,
	RANK_AND = 3,
	RANK_BITS = 4,
	RANK_EQUAL = 7,
	RANK_ORDER = 8,
	RANK_SHIFT = 9,
	RANK_SUM = 10,
	RANK_PRODUCT = 11
};

/* Operands of two bases: the lesser one is told, and counts as the other. */
static void expect_same_base(struct typing *t, struct term *a, struct term *b)
{
	if (!is_numeric(&a->type) || !is_numeric(&b->type) || a->type.array ||
	    b->type.array || a->type.base == b->type.base)
		return;
	struct term *lesser = a->type.base < b->type.base ? a : b;
	const struct term *other = lesser == a ? b : a;
	if (!t->is_lost)
		lint_add(t->l, "site-refuses", lesser->at, "%s with %s: " NO_CONVERSION,
		    base_article(lesser->type.base), base_article(other->type.base),
		    base_name(lesser->type.base), base_name(other->type.base));
	lesser->type.base = other->type.base;
}

/* GLSL ES 3.00, 5.9. */
static struct type product_of(const struct type *a, const struct type *b, int is_product)
{
	struct type out = *a;
	if (a->array || b->array || !is_numeric(a) || !is_numeric(b))
		return TYPE_UNKNOWN;
	if (is_scalar(a))
		return *b;
	if (is_scalar(b))
		return *a;
	if (is_product && a->cols && b->cols) {
		out.cols = b->cols;
		return a->cols == b->rows ? out : TYPE_UNKNOWN;
	}
	if (is_product && a->cols) {
		out.cols = 0;
		return a->cols == b->rows ? out : TYPE_UNKNOWN;
	}
	if (is_product && b->cols) {
		out.cols = 0;
		out.rows = b->cols;
		return a->rows == b->rows ? out : TYPE_UNKNOWN;
	}
	return a->rows == b->rows && a->cols == b->cols ? out : TYPE_UNKNOWN;
}

static struct term operate(struct typing *t, size_t op, int rank, struct term a,
    struct term b)
{
	struct term v = { .at = a.at, .is_const = a.is_const && b.is_const };
	static const struct type a_bool = { .base = BASE_BOOL, .rows = 1 };
	if (rank <= RANK_AND) {
		v.type = a_bool;
		return v;
	}
	if (rank != RANK_SHIFT)
		expect_same_base(t, &a, &b);
	if (rank == RANK_EQUAL || rank == RANK_ORDER)
		v.type = a_bool;
	else if (rank == RANK_SHIFT)
		v.type = a.type;
	else
		v.type = product_of(&a.type, &b.type, lint_is(t->l, op, "*"));
	return v;
}

static struct term binary(struct typing *t, int least)
{
	struct term v = unary(t);
	int rank;
	while (!t->is_lost && (rank = rank_of(t->l, t->i)) >= least) {
		size_t op = t->i++;
		struct term right = binary(t, rank + 1);
		v = operate(t, op, rank, v, right);
	}
	return v;
}

static struct term conditional(struct typing *t)
{
	size_t at = t->i;
	struct term v = binary(t, 1);
	if (t->is_lost || !lint_is(t->l, t->i, "?"))
		return v;
	size_t mark = t->i++;
	struct term yes = typing_expression(t);
	if (t->is_lost || !lint_is(t->l, t->i, ":"))
		return lost(t);
	t->i++;
	struct term no = typing_assignment(t);
	if (!t->is_lost && (yes.type.array || yes.type.base == BASE_STRUCT))
		lint_add(t->l, "site-refuses", mark,
		    "the site's browsers have "
		    "no ?: for %s",
		    yes.type.array ? "arrays" : "structs");
	expect_same_base(t, &yes, &no);
	v = (struct term){ .type = yes.type.base ? yes.type : no.type,
		.is_const = v.is_const && yes.is_const && no.is_const,
		.at = at };
	return v;
}

struct term typing_assignment(struct typing *t)
{
	static const char *const change[] = {
		"=",
		"+=",
		"-=",
		"*=",
		"/=",
		"%=",
		"&=",
		"|=",
		"^=",
	};
	if (++t->nesting > NESTING) {
		t->nesting--;
		return lost(t);
	}
	struct term v = conditional(t);
	if (!t->is_lost && (lint_is(t->l, t->i, "<<=") || lint_is(t->l, t->i, ">>="))) {
		t->i++;
		typing_assignment(t);
		v.is_const = 0;
	} else if (!t->is_lost &&
	    lint_is_one_of(t->l, t->i, change, LINT_COUNT(change))) {
		int is_plain = lint_is(t->l, t->i++, "=");
		struct term right = typing_assignment(t);
		struct type want = v.type;
		/* Scalars are added to vectors, and matrices multiply them. */
		if (!is_plain && want.base != BASE_STRUCT) {
			want.rows = right.type.rows;
			want.cols = right.type.cols;
		}
		typing_expect(t, &right, &want, "is given to %s",
		    base_article(want.base));
		v.is_const = 0;
	}
	t->nesting--;
	return v;
}

struct term typing_expression(struct typing *t)
{
	struct term v = typing_assignment(t);
	while (!t->is_lost && lint_is(t->l, t->i, ",")) {
		struct term left = v;
		t->i++;
		v = typing_assignment(t);
		v.at = left.at;
		v.is_const &= left.is_const;
	}
	return v;
}

#include <string.h>

#include "lint_types.h"

static const struct {
	const char *name, *form;
} builtin[] = {
#define FUNCTION(name, form) { #name, form },
#include "function.def"
#undef FUNCTION
};

/* Those that read textures: samplers decide what they give. */
static const char *const lookup[] = {
	"texelFetch",
	"texelFetchOffset",
	"texture",
	"textureGrad",
	"textureGradOffset",
	"textureLod",
	"textureLodOffset",
	"textureOffset",
	"textureProj",
	"textureProjGrad",
	"textureProjGradOffset",
	"textureProjLod",
	"textureProjLodOffset",
	"textureProjOffset",
	"textureSize",
};

int typing_is_builtin(const struct lint *l, size_t token)
{
	for (size_t i = 0; i < LINT_COUNT(builtin); i++)
		if (lint_is(l, token, builtin[i].name))
			return 1;
	return 0;
}

/* Forms -------------------------------------------------------------------- */

struct binding {
	int rows; /* of the vectors of a row; 0: not bound yet */
	struct type matrix;
};

/* What a letter of a form means for this argument; its size may be bound by it. */
static int type_of_letter(char letter, struct binding *b, const struct type *argument,
    struct type *out)
{
	static const char letters[] = "fiubGIUBFJVC";
	static const enum base base[] = {
		BASE_FLOAT,
		BASE_INT,
		BASE_UINT,
		BASE_BOOL,
	};
	if (letter == '?') {
		*out = TYPE_UNKNOWN;
		return 1;
	}
	if (letter >= '2' && letter <= '4') {
		*out = (struct type){ .base = BASE_FLOAT, .rows = letter - '0' };
		return 1;
	}
	if (letter == 'M') {
		if (argument && !b->matrix.base && argument->cols)
			b->matrix = *argument;
		*out = b->matrix;
		return !argument || argument->cols != 0 || argument->base == BASE_UNKNOWN;
	}
	size_t at = (size_t)(strchr(letters, letter) - letters);
	*out = (struct type){ .base = base[at % 4], .rows = 1 };
	if (at < 4)
		return 1;
	if (argument && !b->rows && argument->base != BASE_UNKNOWN)
		b->rows = argument->rows;
	if (!b->rows) {
		*out = TYPE_UNKNOWN;
		return 1;
	}
	out->rows = b->rows;
	return at < 8 || b->rows > 1;
}

/* -1: the form has no place for these; else how many have to be converted. */
static int match_form(const char *form, const struct term *argument, size_t n,
    struct binding *b)
{
	int nconversion = 0;
	if (strlen(form) != n + 1)
		return -1;
	*b = (struct binding){ 0 };
	for (size_t i = 0; i < n; i++) {
		struct type want;
		if (!type_of_letter(form[i + 1], b, &argument[i].type, &want))
			return -1;
		int fits = typing_fit(&argument[i].type, &want);
		if (!fits)
			return -1;
		nconversion += fits < 0;
	}
	return nconversion;
}

static void expect_form(struct typing *t, size_t name, const char *form,
    const struct term *argument, size_t n)
{
	const struct glsl_token *k = &t->l->code.token[name];
	struct binding b = { 0 };
	for (size_t i = 0; i < n; i++) {
		struct type want;
		if (type_of_letter(form[i + 1], &b, &argument[i].type, &want))
			typing_expect(t, &argument[i], &want, "as argument of %.*s()",
			    (int)k->len, t->l->code.text + k->at);
	}
}

static int is_known(const struct term *argument, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (argument[i].type.base == BASE_UNKNOWN)
			return 0;
	return 1;
}

static struct term call_builtin(struct typing *t, size_t name,
    const struct term *argument, size_t n)
{
	struct term v = { .at = name, .is_const = 1 };
	const char *best = NULL;
	int least = -1;
	struct binding b;
	for (size_t i = 0; i < LINT_COUNT(builtin); i++) {
		if (!lint_is(t->l, name, builtin[i].name))
			continue;
		int m = match_form(builtin[i].form, argument, n, &b);
		if (m < 0 || (least >= 0 && m >= least))
			continue;
		least = m;
		best = builtin[i].form;
	}
	for (size_t i = 0; i < n; i++)
		v.is_const &= argument[i].is_const;
	if (lint_is(t->l, name, "dFdx") || lint_is(t->l, name, "dFdy") ||
	    lint_is(t->l, name, "fwidth"))
		v.is_const = 0;
	if (!best) {
		const struct glsl_token *k = &t->l->code.token[name];
		if (!t->is_lost && is_known(argument, n))
			lint_add(t->l, "site-refuses", name,
			    "ES 3.00 has no "
			    "%.*s() for these arguments",
			    (int)k->len, t->l->code.text + k->at);
		return v;
	}
	expect_form(t, name, best, argument, n);
	match_form(best, argument, n, &b);
	type_of_letter(best[0], &b, NULL, &v.type);
	return v;
}

/* Textures ----------------------------------------------------------------- */

static struct term call_lookup(struct typing *t, size_t name, const struct term *argument,
    size_t n)
{
	static const struct type a_float = { .base = BASE_FLOAT, .rows = 1 };
	struct term v = { .at = name };
	int is_integral = lint_is(t->l, name, "texelFetch") ||
	    lint_is(t->l, name, "texelFetchOffset") || lint_is(t->l, name, "textureSize");
	for (size_t i = 1; i < n && !is_integral; i++) {
		struct type want = a_float;
		if (i == 1)
			want.rows = argument[i].type.rows;
		else if (argument[i].type.rows != 1)
			continue;
		typing_expect(t, &argument[i], &want, "as argument of %.*s()",
		    (int)t->l->code.token[name].len,
		    t->l->code.text + t->l->code.token[name].at);
	}
	if (n && argument[0].type.base == BASE_SAMPLER && !argument[0].type.array &&
	    !lint_is(t->l, name, "textureSize"))
		v.type = (struct type){ .base = argument[0].type.texel,
			.rows = argument[0].type.ntexel };
	return v;
}

/* The user's --------------------------------------------------------------- */

/* -1: no call of f; else how many arguments have to be converted. */
static int match_function(const struct typing *t, const struct symbol *f,
    const struct term *argument, size_t n)
{
	int nconversion = 0;
	if (f->nparameter != n)
		return -1;
	for (size_t i = 0; i < n; i++) {
		int fits = typing_fit(&argument[i].type, &t->parameter[f->first + i]);
		if (!fits)
			return -1;
		nconversion += fits < 0;
	}
	return nconversion;
}

static int is_same_name(const struct symbol *a, const struct symbol *b)
{
	return a->n == b->n && memcmp(a->name, b->name, a->n) == 0;
}

static struct term call_function(struct typing *t, const struct symbol *f, size_t name,
    const struct term *argument, size_t n)
{
	struct term v = { .at = name };
	const struct symbol *best = NULL;
	int least = -1, is_one_type = 1;
	for (size_t i = 0; i < t->nsymbol; i++) {
		const struct symbol *s = &t->symbol[i];
		if (s->kind != SYMBOL_FUNCTION || !is_same_name(s, f))
			continue;
		int m = match_function(t, s, argument, n);
		if (m < 0 || (least >= 0 && m > least))
			continue;
		is_one_type =
		    m != least || (is_one_type && typing_fit(&s->type, &best->type) == 1);
		least = m;
		best = s;
	}
	if (!best)
		return v;
	for (size_t i = 0; i < n; i++)
		typing_expect(t, &argument[i], &t->parameter[best->first + i],
		    "as argument of %.*s()", (int)f->n, f->name);
	if (is_one_type)
		v.type = best->type;
	return v;
}

/* What older texts say, and what ES 3.00 has instead. */
static const char *instead_of(const struct lint *l, size_t token)
{
	static const struct {
		const char *name, *instead;
	} old[] = {
		{ "texture1D", "texture" },
		{ "texture2D", "texture" },
		{ "texture3D", "texture" },
		{ "textureCube", "texture" },
		{ "texture2DLod", "textureLod" },
		{ "textureCubeLod", "textureLod" },
		{ "texture2DLodEXT", "textureLod" },
		{ "textureCubeLodEXT", "textureLod" },
		{ "texture2DProj", "textureProj" },
		{ "texture2DProjLod", "textureProjLod" },
		{ "texture2DGradEXT", "textureGrad" },
		{ "textureCubeGradEXT", "textureGrad" },
		{ "texture2DGradARB", "textureGrad" },
	};
	for (size_t i = 0; i < LINT_COUNT(old); i++)
		if (lint_is(l, token, old[i].name))
			return old[i].instead;
	return NULL;
}

struct term typing_call(struct typing *t, size_t name, const struct term *argument,
    size_t nargument)
{
	struct term v = { .at = name };
	const struct symbol *symbol = typing_find(t, name);
	if (symbol)
		return symbol->kind == SYMBOL_FUNCTION
		    ? call_function(t, symbol, name, argument, nargument)
		    : v;
	if (lint_is_one_of(t->l, name, lookup, LINT_COUNT(lookup)))
		return call_lookup(t, name, argument, nargument);
	if (typing_is_builtin(t->l, name))
		return call_builtin(t, name, argument, nargument);
	if (t->is_lost)
		return v;
	const struct glsl_token *k = &t->l->code.token[name];
	const char *instead = instead_of(t->l, name);
	if (instead)
		lint_add(t->l, "site-refuses", name,
		    "ES 3.00 has no %.*s(), but "
		    "%s()",
		    (int)k->len, t->l->code.text + k->at, instead);
	else
		lint_add(t->l, "site-refuses", name, "ES 3.00 has no %.*s()", (int)k->len,
		    t->l->code.text + k->at);
	return v;
}

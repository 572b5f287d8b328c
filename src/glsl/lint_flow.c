#include <string.h>

#include "lint_text.h"
#include "util/limits.h"
#include "util/mem.h"

/* What is certain ------------------------------------------------------------ */

int lint_is_sure(const struct lint *l, const struct glsl_function *f)
{
	return f->body && f->last && l->code.is_kept[f->name];
}

/* Statements ----------------------------------------------------------------- */

struct flow {
	const struct lint *l;
	size_t end;
	int depth;
};

enum { FALLS = 1, BREAKS = 2 }; /* reaches what follows; has a break */

/* Returns the place behind the statement, 0 when it makes no sense. */
static size_t statement(struct flow *f, size_t i, int *how);

static size_t behind_semicolon(const struct flow *f, size_t i)
{
	const struct lint *l = f->l;
	for (; i < f->end && !lint_is(l, i, ";"); i++) {
		if (lint_is(l, i, "}") || lint_is(l, i, ")"))
			return 0;
		if (lint_is(l, i, "(") || lint_is(l, i, "[") || lint_is(l, i, "{"))
			i = lint_skip(l, i) - 1;
	}
	return i < f->end ? i + 1 : 0;
}

static size_t block(struct flow *f, size_t i, int *how)
{
	int breaks = 0, live = 1;
	for (i++; i < f->end && !lint_is(f->l, i, "}");) {
		int one;
		if (!(i = statement(f, i, &one)))
			return 0;
		if (live)
			breaks |= one & BREAKS;
		live &= (one & FALLS) != 0;
	}
	*how = breaks | (live ? FALLS : 0);
	return i < f->end ? i + 1 : 0;
}

static size_t switch_body(struct flow *f, size_t i, int *how)
{
	const struct lint *l = f->l;
	int has_default = 0, breaks = 0, live = 1;
	if (!lint_is(l, i, "{"))
		return 0;
	for (i++; i < f->end && !lint_is(l, i, "}");) {
		int one;
		if (lint_is(l, i, "case") || lint_is(l, i, "default")) {
			has_default |= lint_is(l, i, "default");
			while (i < f->end && !lint_is(l, i, ":"))
				i++;
			i++;
			live = 1;
			continue;
		}
		if (!(i = statement(f, i, &one)))
			return 0;
		if (live)
			breaks |= one & BREAKS;
		live &= (one & FALLS) != 0;
	}
	*how = !has_default || breaks || live ? FALLS : 0;
	return i < f->end ? i + 1 : 0;
}

static size_t if_else(struct flow *f, size_t i, int *how)
{
	int one, other = FALLS;
	if (!lint_is(f->l, i, "(") || !(i = statement(f, lint_skip(f->l, i), &one)))
		return 0;
	if (lint_is(f->l, i, "else") && !(i = statement(f, i + 1, &other)))
		return 0;
	*how = one | other;
	return i;
}

static size_t loop(struct flow *f, size_t i, int *how)
{
	const struct lint *l = f->l;
	int is_for = lint_is(l, i, "for"), is_endless = 0;
	size_t open = i + 1;
	if (!lint_is(l, open, "("))
		return 0;
	size_t close = lint_skip(l, open);
	size_t condition = open + 1;
	if (is_for) {
		while (condition < close && !lint_is(l, condition, ";"))
			condition++;
		condition++;
		is_endless = lint_is(l, condition, ";");
	}
	is_endless |= lint_is(l, condition, "true") &&
	    (lint_is(l, condition + 1, ";") || condition + 2 == close);
	int body;
	i = statement(f, close, &body);
	*how = !is_endless || (body & BREAKS) ? FALLS : 0;
	return i;
}

static size_t do_while(struct flow *f, size_t i, int *how)
{
	const struct lint *l = f->l;
	int body;
	i = statement(f, i + 1, &body);
	if (!i || !lint_is(l, i, "while") || !lint_is(l, i + 1, "("))
		return 0;
	int is_endless = lint_is(l, i + 2, "true") && lint_is(l, i + 3, ")");
	*how = (body & BREAKS) || ((body & FALLS) && !is_endless) ? FALLS : 0;
	i = lint_skip(l, i + 1);
	return lint_is(l, i, ";") ? i + 1 : 0;
}

static size_t statement(struct flow *f, size_t i, int *how)
{
	const struct lint *l = f->l;
	*how = FALLS;
	if (i >= f->end || f->depth > LIMIT_NESTING)
		return 0;
	f->depth++;
	size_t behind;
	if (lint_is(l, i, "{")) {
		behind = block(f, i, how);
	} else if (lint_is(l, i, "if")) {
		behind = if_else(f, i + 1, how);
	} else if (lint_is(l, i, "for") || lint_is(l, i, "while")) {
		behind = loop(f, i, how);
	} else if (lint_is(l, i, "do")) {
		behind = do_while(f, i, how);
	} else if (lint_is(l, i, "switch")) {
		behind =
		    lint_is(l, i + 1, "(") ? switch_body(f, lint_skip(l, i + 1), how) : 0;
	} else if (lint_is(l, i, "else") || lint_is(l, i, "case") ||
	    lint_is(l, i, "default")) {
		behind = 0;
	} else {
		if (lint_is(l, i, "break"))
			*how = BREAKS;
		else if (lint_is(l, i, "return") || lint_is(l, i, "discard") ||
		    lint_is(l, i, "continue"))
			*how = 0;
		behind = behind_semicolon(f, i);
	}
	f->depth--;
	return behind;
}

size_t lint_statement(const struct lint *l, size_t token, size_t end, int *completes)
{
	struct flow f = { l, end, 0 };
	int how;
	size_t behind = statement(&f, token, &how);
	*completes = (how & FALLS) != 0;
	return behind;
}

/* Reads before writes -------------------------------------------------------- */

enum mention { MENTION_NONE, MENTION_READ, MENTION_OTHER };

struct variable {
	struct lint *l;
	const char *name;
	size_t nname;
};

static int is_variable(const struct variable *v, size_t i)
{
	const struct glsl_token *t = &v->l->code.token[i];
	return t->kind == GLSL_WORD && t->len == v->nname &&
	    memcmp(v->l->code.text + t->at, v->name, v->nname) == 0 &&
	    !(i && lint_is(v->l, i - 1, "."));
}

static int has_out(const struct lint *l, const struct glsl_function *f)
{
	for (size_t i = f->open; i < f->close; i++)
		if (lint_is(l, i, "out") || lint_is(l, i, "inout"))
			return 1;
	return 0;
}

static const char *const basic_type[] = {
	"float",
	"int",
	"uint",
	"bool",
	"vec2",
	"vec3",
	"vec4",
	"ivec2",
	"ivec3",
	"ivec4",
	"uvec2",
	"uvec3",
	"uvec4",
	"bvec2",
	"bvec3",
	"bvec4",
	"mat2",
	"mat3",
	"mat4",
};

/*
 * What stands before the parenthesis at open, if anything, is known to give
 * nothing to its argument. A function that is not known may: a directive may
 * cut through its head.
 */
static int only_reads(const struct lint *l, size_t open)
{
	static const char *const builtin[] = {
		"if",
		"return",
		"switch",
		"abs",
		"acos",
		"all",
		"any",
		"asin",
		"atan",
		"ceil",
		"clamp",
		"cos",
		"cross",
		"degrees",
		"distance",
		"dot",
		"equal",
		"exp",
		"exp2",
		"floor",
		"fract",
		"inversesqrt",
		"length",
		"log",
		"log2",
		"max",
		"min",
		"mix",
		"mod",
		"normalize",
		"not",
		"pow",
		"radians",
		"reflect",
		"refract",
		"round",
		"sign",
		"sin",
		"smoothstep",
		"sqrt",
		"step",
		"tan",
		"texelFetch",
		"texture",
		"textureLod",
	};
	if (!open || !lint_is_word(l, open - 1))
		return 1;
	size_t callee = open - 1;
	size_t f = lint_find(l, &l->function_name, callee);
	if (f == MAP_NONE)
		return lint_is_one_of(l, callee, builtin, LINT_COUNT(builtin)) ||
		    lint_is_one_of(l, callee, basic_type, LINT_COUNT(basic_type));
	for (size_t k = f; k < l->nfunction; k++)
		if (lint_find(l, &l->function_name, l->function[k].name) == f &&
		    has_out(l, &l->function[k]))
			return 0;
	return 1;
}

/* What the mention at token does; the statement starts behind "from". */
static enum mention classify(const struct variable *v, size_t token, size_t from)
{
	static const char *const compound[] = {
		"+=",
		"-=",
		"*=",
		"/=",
		"%=",
		"++",
		"--",
	};
	const struct lint *l = v->l;
	if (token && lint_is_word(l, token - 1) && !lint_is(l, token - 1, "return") &&
	    !lint_is(l, token - 1, "else"))
		return MENTION_OTHER; /* declared anew */
	size_t next = token + 1;
	while (lint_is(l, next, "["))
		next = lint_skip(l, next);
	while (lint_is(l, next, ".") && lint_is_word(l, next + 1)) {
		if (lint_is(l, next + 1, "length"))
			return MENTION_OTHER;
		next += 2;
	}
	if (lint_is(l, next, "="))
		return MENTION_OTHER;
	if (lint_is_one_of(l, next, compound, LINT_COUNT(compound)))
		return MENTION_READ;
	/* Outwards through the brackets that are open here. */
	int depth = 0;
	for (size_t i = token; i-- > from;) {
		if (lint_is(l, i, ")") || lint_is(l, i, "]"))
			depth++;
		else if ((lint_is(l, i, "(") || lint_is(l, i, "[")) && --depth < 0) {
			depth = 0;
			if (lint_is(l, i, "(") && !only_reads(l, i))
				return MENTION_OTHER;
		} else if (!depth &&
		    (lint_is(l, i, ";") || lint_is(l, i, "{") || lint_is(l, i, "}"))) {
			break;
		}
	}
	return MENTION_READ;
}

/*
 * Looks for the first mention from token on, up to the end of the block. What
 * a loop holds may come in another order.
 */
static enum mention first_mention(const struct variable *v, size_t token, size_t end,
    size_t *at)
{
	const struct lint *l = v->l;
	size_t from = token;
	int depth = 0, completes;
	for (size_t i = token; i < end; i++) {
		if (lint_is(l, i, "{")) {
			depth++;
		} else if (lint_is(l, i, "}")) {
			if (--depth < 0)
				return MENTION_NONE;
		} else if (lint_is(l, i, "for") || lint_is(l, i, "while") ||
		    lint_is(l, i, "do")) {
			size_t behind = lint_statement(l, i, end, &completes);
			if (!behind)
				return MENTION_OTHER;
			for (size_t k = i; k < behind; k++)
				if (is_variable(v, k))
					return MENTION_OTHER;
			i = behind - 1;
		} else if (is_variable(v, i)) {
			*at = i;
			enum mention is = classify(v, i, from);
			/* a = a + 1.0: the right side comes first. */
			size_t k = i + 1;
			if (is == MENTION_OTHER && lint_is(l, i + 1, "."))
				k += 2;
			if (is != MENTION_OTHER || !lint_is(l, k, "="))
				return is;
			for (int nest = 0; k < end && nest >= 0; k++) {
				if (lint_is(l, k, "(") || lint_is(l, k, "["))
					nest++;
				else if (lint_is(l, k, ")") || lint_is(l, k, "]"))
					nest--;
				else if (lint_is(l, k, ";") ||
				    (!nest && lint_is(l, k, ",")))
					break;
				if (!is_variable(v, k))
					continue;
				*at = k;
				return classify(v, k, i);
			}
			return is;
		}
	}
	return MENTION_NONE;
}

static int variable_at(struct lint *l, size_t token, struct variable *out)
{
	*out = (struct variable){ l, l->code.text + l->code.token[token].at,
		l->code.token[token].len };
	return lint_is_word(l, token);
}

/* Declarators of the locals of basic type that start at token. */
static void find_locals(struct lint *l, const struct glsl_function *f, size_t token)
{
	size_t i = token;
	struct variable v;
	while (lint_is_word(l, ++i)) {
		size_t name = i++, at;
		while (lint_is(l, i, "["))
			i = lint_skip(l, i);
		int is_set = lint_is(l, i, "=");
		for (; i < f->last && !lint_is(l, i, ",") && !lint_is(l, i, ";"); i++)
			if (lint_is(l, i, "(") || lint_is(l, i, "[") ||
			    lint_is(l, i, "{"))
				i = lint_skip(l, i) - 1;
		if (!is_set && variable_at(l, name, &v) &&
		    first_mention(&v, i, f->last, &at) == MENTION_READ)
			lint_add(l, "undefined-value", at,
			    "'%.*s' is read "
			    "before it is written",
			    (int)v.nname, v.name);
		if (!lint_is(l, i, ","))
			return;
	}
}

static int has_word(const struct lint *l, const struct glsl_function *f, const char *word)
{
	for (size_t i = f->body; i < f->last; i++)
		if (lint_is(l, i, word))
			return 1;
	return 0;
}

static void find_out_parameters(struct lint *l, const struct glsl_function *f)
{
	size_t first = f->open + 1;
	struct variable v;
	for (size_t i = first; i <= f->close; i++) {
		if (!lint_is(l, i, ",") && i != f->close)
			continue;
		int is_out = 0;
		size_t name = first, at = 0;
		for (size_t k = first; k < i; k++) {
			is_out |= lint_is(l, k, "out");
			if (lint_is(l, k, "["))
				break;
			name = k;
		}
		first = i + 1;
		if (!is_out ||
		    !lint_is_one_of(l, name - 1, basic_type, LINT_COUNT(basic_type)) ||
		    !variable_at(l, name, &v))
			continue;
		switch (first_mention(&v, f->body + 1, f->last, &at)) {
		case MENTION_NONE:
			if (!has_word(l, f, "discard"))
				lint_add(l, "undefined-value", name,
				    "the out parameter '%.*s' is never "
				    "written",
				    (int)v.nname, v.name);
			break;
		case MENTION_READ:
			lint_add(l, "undefined-value", at,
			    "the out parameter "
			    "'%.*s' is read before it is written",
			    (int)v.nname, v.name);
			break;
		case MENTION_OTHER:
			break;
		}
	}
}

static void find_missing_return(struct lint *l, const struct glsl_function *f)
{
	int completes;
	for (size_t i = f->first; i < f->name; i++)
		if (lint_is(l, i, "void"))
			return;
	if (lint_statement(l, f->body, f->last + 1, &completes) && completes)
		lint_add(l, "undefined-value", f->name,
		    "'%.*s' can end without "
		    "a return",
		    (int)l->code.token[f->name].len,
		    l->code.text + l->code.token[f->name].at);
}

void lint_flow(struct lint *l)
{
	for (size_t k = 0; k < l->nfunction; k++) {
		const struct glsl_function *f = &l->function[k];
		if (!lint_is_sure(l, f))
			continue;
		find_missing_return(l, f);
		find_out_parameters(l, f);
		for (size_t i = f->body + 1; i < f->last; i++)
			if (lint_is_one_of(l, i, basic_type, LINT_COUNT(basic_type)) &&
			    (lint_is(l, i - 1, "{") || lint_is(l, i - 1, "}") ||
				lint_is(l, i - 1, ";")))
				find_locals(l, f, i);
	}
}

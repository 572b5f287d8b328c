#include <string.h>

#include "lint_text.h"
#include "util/mem.h"

/*
 * What GLSL ES 3.00 refuses and desktop GLSL takes. Operands are told by their
 * own form alone: a literal, a constructor, a builtin function or uniform that
 * the text does not name anew. Whatever stands around "2 * 1.0", the whole is
 * refused, since no operator of ES mixes int and float.
 */

/* GLSL ES 3.00, 3.8: keywords of the future, but for those of all versions. */
static const char *const reserved[] = {
	"active", "atomic_uint", "attribute", "coherent", "common", "double",
	"dvec2", "dvec3", "dvec4", "filter", "image1D", "image2D", "image3D",
	"imageBuffer", "imageCube", "noperspective", "partition", "patch",
	"readonly", "resource", "restrict", "sample", "sampler1D",
	"sampler1DShadow", "sampler2DRect", "samplerBuffer", "subroutine",
	"varying", "volatile", "writeonly"
};

static const struct {
	const char *name, *instead;
} old_function[] = {
	{ "texture1D", "texture" }, { "texture2D", "texture" },
	{ "texture3D", "texture" }, { "textureCube", "texture" },
	{ "texture2DLod", "textureLod" }, { "textureCubeLod", "textureLod" },
	{ "texture2DLodEXT", "textureLod" },
	{ "textureCubeLodEXT", "textureLod" },
	{ "texture2DProj", "textureProj" },
	{ "texture2DProjLod", "textureProjLod" },
	{ "texture2DGradEXT", "textureGrad" },
	{ "textureCubeGradEXT", "textureGrad" },
	{ "texture2DGradARB", "textureGrad" }
};

static const char *const float_type[] = {
	"float", "vec2", "vec3", "vec4", "mat2", "mat3", "mat4"
};

/* Builtin functions without parameters of type int, that give floats. */
static const char *const float_function[] = {
	"acos", "asin", "atan", "ceil", "cos", "cross", "degrees", "distance",
	"dot", "exp", "exp2", "floor", "fract", "inversesqrt", "length", "log",
	"log2", "mod", "normalize", "pow", "radians", "reflect", "sin",
	"smoothstep", "sqrt", "step", "tan"
};

/* Those that have an int and a float form, but none of both. */
static const char *const either_function[] = { "clamp", "max", "min" };

static const char *const float_uniform[] = {
	"iFrameRate", "iSampleRate", "iTime", "iTimeDelta"
};

static const char *const vector_uniform[] = {
	"iDate", "iMouse", "iResolution"
};

static const char *const mixing[] = {
	"*", "/", "+", "-", "<", ">", "<=", ">=", "==", "!="
};

enum literal { LITERAL_NONE, LITERAL_INT, LITERAL_FLOAT };

static enum literal literal_at(const struct lint *l, size_t i)
{
	if (i >= l->code.ntoken || l->code.token[i].kind != GLSL_NUMBER)
		return LITERAL_NONE;
	const char *s = l->code.text + l->code.token[i].at;
	size_t n = l->code.token[i].len;
	int is_hex = n > 2 && s[0] == '0' && (s[1] | 0x20) == 'x';
	for (size_t k = 0; k < n; k++) {
		if (s[k] == '\\')
			return LITERAL_NONE;
		if (!is_hex && (s[k] == '.' || (s[k] | 0x20) == 'e'))
			return LITERAL_FLOAT;
	}
	/* "1f" is neither. */
	return !is_hex && (s[n - 1] | 0x20) == 'f' ? LITERAL_NONE : LITERAL_INT;
}

/* Names that are declared in the text: behind a type or a qualifier. */
static int is_shadowed(const struct lint *l, const char *name)
{
	static const char *const no_type[] = { "return", "else", "case", "in" };
	for (size_t i = 1; i < l->code.ntoken; i++)
		if (lint_is(l, i, name) && lint_is_word(l, i - 1)
			&& !lint_is_one_of(l, i - 1, no_type,
				LINT_COUNT(no_type)))
			return 1;
	return 0;
}

struct site {
	struct lint *l;
	unsigned char *is_float;	/* a token each: a float word, see below */
};

enum { FLOAT_CALL = 1, FLOAT_VALUE, FLOAT_VECTOR };

static void mark_words(struct site *s)
{
	const struct lint *l = s->l;
	for (size_t i = 0; i < l->code.ntoken; i++) {
		int is_call = lint_is(l, i + 1, "(");
		if (!lint_is_word(l, i) || (i && lint_is(l, i - 1, ".")))
			continue;
		unsigned char kind = 0;
		if (is_call && (lint_is_one_of(l, i, float_type,
			LINT_COUNT(float_type)) || lint_is_one_of(l, i,
			float_function, LINT_COUNT(float_function))))
			kind = FLOAT_CALL;
		else if (lint_is_one_of(l, i, float_uniform,
			LINT_COUNT(float_uniform)))
			kind = FLOAT_VALUE;
		else if (lint_is_one_of(l, i, vector_uniform,
			LINT_COUNT(vector_uniform)))
			kind = FLOAT_VECTOR;
		if (kind && !lint_is_taken(l, i))
			s->is_float[i] = kind;
	}
	for (size_t u = 0; u < LINT_COUNT(float_uniform)
		+ LINT_COUNT(vector_uniform); u++) {
		const char *name = u < LINT_COUNT(float_uniform)
			? float_uniform[u]
			: vector_uniform[u - LINT_COUNT(float_uniform)];
		if (!is_shadowed(l, name))
			continue;
		for (size_t i = 0; i < l->code.ntoken; i++)
			if (lint_is(l, i, name))
				s->is_float[i] = 0;
	}
}

/* Behind the float operand that starts at token, or 0. */
static size_t float_operand(const struct site *s, size_t i)
{
	const struct lint *l = s->l;
	if (literal_at(l, i) == LITERAL_FLOAT)
		return i + 1;
	if (i >= l->code.ntoken || !s->is_float[i])
		return 0;
	if (s->is_float[i] == FLOAT_CALL)
		i = lint_skip(l, i + 1);
	else
		i++;
	/* Fields of what has some are floats, too. */
	if (lint_is(l, i, ".") && lint_is_word(l, i + 1)
		&& !lint_is(l, i + 2, "("))
		i += 2;
	return lint_is(l, i, "[") || lint_is(l, i, ".") ? 0 : i;
}

static int is_certain(const struct lint *l, size_t from, size_t to)
{
	for (size_t i = from; i < to && i < l->code.ntoken; i++)
		if (l->is_unsure[i])
			return 0;
	return 1;
}

#define NO_MIXING "ES 3.00 does not turn int into float"

static void find_mixed(const struct site *s, size_t i)
{
	struct lint *l = s->l;
	size_t end = float_operand(s, i);
	if (end && lint_is_one_of(l, end, mixing, LINT_COUNT(mixing))
		&& literal_at(l, end + 1) == LITERAL_INT
		&& is_certain(l, i, end + 2))
		lint_add(l, "site-refuses", end + 1, "%.*s with a float: "
			NO_MIXING, (int)l->code.token[end + 1].len,
			l->code.text + l->code.token[end + 1].at);
	if (literal_at(l, i) == LITERAL_INT
		&& lint_is_one_of(l, i + 1, mixing, LINT_COUNT(mixing))
		&& (end = float_operand(s, i + 2)) && is_certain(l, i, end))
		lint_add(l, "site-refuses", i, "%.*s with a float: " NO_MIXING,
			(int)l->code.token[i].len,
			l->code.text + l->code.token[i].at);
}

/* Tokens from.. to the next one of "," ";" ")" are int literals and their sums. */
static size_t int_expression(const struct lint *l, size_t from)
{
	static const char *const sums[] = { "+", "-", "*", "/" };
	int has_literal = 0;
	size_t i = from;
	for (; i < l->code.ntoken; i++) {
		if (literal_at(l, i) == LITERAL_INT)
			has_literal = 1;
		else if (!lint_is_one_of(l, i, sums, LINT_COUNT(sums)))
			break;
	}
	int is_end = lint_is(l, i, ",") || lint_is(l, i, ";")
		|| lint_is(l, i, ")");
	return has_literal && is_end && is_certain(l, from, i) ? i : 0;
}

/* float a = 1, b = 2; */
static void find_initialisers(struct lint *l, size_t i)
{
	if (!lint_is(l, i, "float"))
		return;
	for (i++; lint_is_word(l, i) && lint_is(l, i + 1, "="); i++) {
		if (int_expression(l, i + 2))
			lint_add(l, "site-refuses", i + 2, "an int as value of "
				"the float '%.*s': " NO_MIXING,
				(int)l->code.token[i].len,
				l->code.text + l->code.token[i].at);
		for (i += 2; i < l->code.ntoken && !lint_is(l, i, ",")
			&& !lint_is(l, i, ";"); i++)
			if (lint_is(l, i, "(") || lint_is(l, i, "[")
				|| lint_is(l, i, "{"))
				i = lint_skip(l, i) - 1;
		if (!lint_is(l, i, ","))
			return;
	}
}

static void find_returns(struct lint *l)
{
	for (size_t f = 0; l->is_plain && f < l->nfunction; f++) {
		const struct glsl_function *fn = &l->function[f];
		if (!fn->body || !lint_is(l, fn->name - 1, "float"))
			continue;
		for (size_t i = fn->body; i < fn->last; i++)
			if (lint_is(l, i, "return")
				&& int_expression(l, i + 1))
				lint_add(l, "site-refuses", i + 1, "an int as "
					"result of the float '%.*s': " NO_MIXING,
					(int)l->code.token[fn->name].len,
					l->code.text
					+ l->code.token[fn->name].at);
	}
}

/* Whole arguments of a builtin that are literals. */
static void find_arguments(struct lint *l, size_t i)
{
	int is_float = lint_is_one_of(l, i, float_function,
		LINT_COUNT(float_function));
	int is_lod = lint_is(l, i, "textureLod");
	if ((!is_float && !is_lod && !lint_is_one_of(l, i, either_function,
		LINT_COUNT(either_function))) || !lint_is(l, i + 1, "(")
		|| (i && lint_is(l, i - 1, ".")) || lint_is_taken(l, i))
		return;
	size_t end = lint_skip(l, i + 1), an_int = 0;
	int has_float = is_float, argument = 0;
	for (size_t k = i + 2; k < end; k++, argument++) {
		size_t first = k;
		while (lint_is(l, k, "-") || lint_is(l, k, "+"))
			k++;
		enum literal is = literal_at(l, k);
		int is_whole = lint_is(l, k + 1, ",") || k + 2 == end;
		if (is_whole && is == LITERAL_FLOAT)
			has_float = 1;
		if (is_whole && is == LITERAL_INT && !an_int
			&& (!is_lod || argument == 2))
			an_int = k;
		if (is_lod && argument == 2)
			has_float = 1;
		for (k = first; k + 1 < end && !lint_is(l, k, ","); k++)
			if (lint_is(l, k, "(") || lint_is(l, k, "[")) {
				k = lint_skip(l, k) - 1;
			}
	}
	if (an_int && has_float && is_certain(l, i, end))
		lint_add(l, "site-refuses", an_int, "an int as argument of "
			"%.*s(): " NO_MIXING, (int)l->code.token[i].len,
			l->code.text + l->code.token[i].at);
}

static void find_words(struct lint *l, size_t i)
{
	if (!lint_is_word(l, i) || l->is_unsure[i]
		|| lint_find(l, &l->macro, i) != MAP_NONE)
		return;
	const char *name = l->code.text + l->code.token[i].at;
	int n = (int)l->code.token[i].len;
	if (lint_is_one_of(l, i, reserved, LINT_COUNT(reserved)))
		lint_add(l, "site-refuses", i,
			"'%.*s' is a reserved word of ES 3.00", n, name);
	if (n > 6 && !strncmp(name, "webgl_", 6))
		lint_add(l, "site-refuses", i, "'%.*s': WebGL keeps names "
			"that start with webgl_", n, name);
	if (!lint_is(l, i + 1, "(") || (i && lint_is(l, i - 1, "."))
		|| lint_is_taken(l, i))
		return;
	for (size_t k = 0; k < LINT_COUNT(old_function); k++)
		if (lint_is(l, i, old_function[k].name))
			lint_add(l, "site-refuses", i, "ES 3.00 has no %s(), "
				"but %s()", old_function[k].name,
				old_function[k].instead);
}

void lint_site(struct lint *l)
{
	struct site s = { l, xcalloc(l->code.ntoken + 1, 1) };
	mark_words(&s);
	for (size_t i = 0; i < l->code.ntoken; i++) {
		if (l->code.token[i].is_directive)
			continue;
		find_words(l, i);
		find_mixed(&s, i);
		find_initialisers(l, i);
		find_arguments(l, i);
	}
	find_returns(l);
	free(s.is_float);
}

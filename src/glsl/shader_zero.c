#include "glsl/shader_zero.h"

#include <stdlib.h>
#include <string.h>

#include "edit.h"
#include "shader_types.h"
#include "util/mem.h"

#define TOTAL_MAX (1 << 20) /* bytes of all zeros: hostile texts end there */
#define DEPTH_MAX 200       /* of statements in statements; deeper ones stay */

/* Where a declaration stands: what may follow it. */
enum place { IN_FILE, IN_BLOCK, IN_HEAD }; /* IN_HEAD: no statement */

struct zeros {
	struct types types;
	struct edits *edits;
	struct buf *statements; /* of globals */
	size_t ninserted;       /* bytes */
	int depth;
};

static int is(const struct zeros *z, size_t i, const char *word)
{
	return types_is(&z->types, i, word);
}

static void insert(struct zeros *z, size_t i, enum edit_kind kind, const struct buf *text)
{
	if (!text->len || text->len > TOTAL_MAX - z->ninserted)
		return;
	z->ninserted += text->len;
	edits_add(z->edits, z->types.at[i], kind, xstrdup(text->data));
}

/* Behind the ";" or "," at this level, from i; before a bracket that closes. */
static size_t value_end(const struct zeros *z, size_t i, int at_comma)
{
	while (i < z->types.n) {
		if (is(z, i, "(") || is(z, i, "[") || is(z, i, "{")) {
			i = types_skip(&z->types, i);
			continue;
		}
		if (is(z, i, ";") || (at_comma && is(z, i, ",")) || is(z, i, ")") ||
		    is(z, i, "}"))
			return i;
		i++;
	}
	return i;
}

static size_t behind_semicolon(const struct zeros *z, size_t i)
{
	i = value_end(z, i, 0);
	return is(z, i, ";") ? i + 1 : i;
}

/* Declarations ------------------------------------------------------------- */

struct declaration {
	struct type type;
	int is_const, is_stored; /* is_stored: a storage qualifier */
	int is_out;              /* of a parameter */
};

static int is_one_of(const struct zeros *z, size_t i, const char *const *word)
{
	for (; *word; word++)
		if (is(z, i, *word))
			return 1;
	return 0;
}

/* Qualifiers at i: words with another word behind them, and layout(...). */
static size_t read_qualifiers(const struct zeros *z, size_t i, struct declaration *d)
{
	static const char *const plain[] = {
		"highp",
		"mediump",
		"lowp",
		"precise",
		"invariant",
		NULL,
	};
	static const char *const stored[] = {
		"uniform",
		"in",
		"out",
		"inout",
		"attribute",
		"varying",
		"buffer",
		"shared",
		"patch",
		"centroid",
		"flat",
		"smooth",
		"noperspective",
		"sample",
		"coherent",
		"volatile",
		"restrict",
		"readonly",
		"writeonly",
		NULL,
	};
	for (;;) {
		if (is(z, i, "layout") && is(z, i + 1, "(")) {
			i = types_skip(&z->types, i + 1);
			d->is_stored = 1;
			continue;
		}
		if (!types_is_word(&z->types, i + 1))
			return i;
		if (is(z, i, "const"))
			d->is_const = 1;
		else if (is_one_of(z, i, stored))
			d->is_stored = 1;
		else if (!is_one_of(z, i, plain))
			return i;
		d->is_out |= is(z, i, "out");
		i++;
	}
}

/*
 * The qualifiers and the type at i. Returns the position of the first
 * declarator, or i when nothing is declared there.
 */
static size_t read_type(struct zeros *z, size_t i, struct declaration *d)
{
	struct types *t = &z->types;
	size_t at = read_qualifiers(z, i, d), end;
	if (is(z, at, "struct")) {
		size_t object;
		end = types_struct(t, at, &object);
		d->type = (struct type){ .of = object };
	} else {
		if (!types_is_word(t, at))
			return i;
		if (is(z, at + 1, "{")) /* a block */
			return types_skip(t, at + 1);
		d->type = types_find(t, at);
		end = at + 1;
	}
	end = types_dims(t, end, &d->type);
	if (types_is_word(t, end) || (is(z, at, "struct") && is(z, end, ";")))
		return end;
	return i;
}

/* A declarator without a value, name and dims read. */
static void zero_variable(struct zeros *z, size_t name, size_t last,
    const struct type *type, enum place place, int needs_value, struct buf *behind)
{
	struct types *t = &z->types;
	struct buf text = BUF_INIT;
	if (!types_is_zeroable(t, type) || type->is_unsized)
		return;
	buf_addch(&text, '=');
	/* Loops are shorter, and what drivers like. */
	int has_loop = type->ndim || (!type->basic && t->object[type->of].has_array);
	int is_loop = place == IN_BLOCK && has_loop && !needs_value;
	if (!is_loop && types_value(t, type, &text)) {
		insert(z, last, EDIT_AFTER, &text);
	} else if (place != IN_HEAD) {
		char *word = types_word(t, name);
		types_statements(t, word, type, behind);
		free(word);
	}
	buf_release(&text);
}

/* A later declarator of the list has a value, which may read this one. */
static int has_later_value(const struct zeros *z, size_t i)
{
	for (; i < z->types.n && !is(z, i, ";") && !is(z, i, ")"); i++) {
		if (is(z, i, "="))
			return 1;
		if (is(z, i, "["))
			i = types_skip(&z->types, i) - 1;
	}
	return 0;
}

/*
 * The declarators at i up to ";", which is behind the result. A function's
 * head, or what is no declaration, is left at its "(".
 */
static size_t read_declarators(struct zeros *z, size_t i, const struct declaration *d,
    enum place place)
{
	struct types *t = &z->types;
	struct buf behind = BUF_INIT;
	while (types_is_word(t, i)) {
		size_t name = i++;
		struct type type = d->type;
		i = types_dims(t, i, &type);
		size_t last = i - 1, first = i + 1;
		long value;
		int is_known = 0;
		if (is(z, i, "(")) {
			i = value_end(z, i, 0);
		} else if (is(z, i, "=")) {
			i = value_end(z, i, 1);
			is_known = d->is_const && !type.ndim && type.basic &&
			    strstr(type.basic, "int") &&
			    types_constant(t, first, i, &value);
		} else if (!d->is_const && !d->is_stored) {
			zero_variable(z, name, last, &type, place, has_later_value(z, i),
			    place == IN_FILE ? z->statements : &behind);
		}
		types_name(t, name, TYPES_NONE, is_known ? &value : NULL);
		if (!is(z, i, ","))
			break;
		i++;
	}
	if (is(z, i, ";"))
		insert(z, i, EDIT_AFTER, &behind);
	buf_release(&behind);
	return behind_semicolon(z, i);
}

/* Statements --------------------------------------------------------------- */

static size_t statement(struct zeros *z, size_t i, enum place place);

/* Up to the "}" that ends the block; *last is where its last statement began. */
static size_t statements(struct zeros *z, size_t i, size_t *last)
{
	while (i < z->types.n && !is(z, i, "}")) {
		size_t next = statement(z, i, IN_BLOCK);
		if (last)
			*last = i;
		i = next > i ? next : i + 1;
	}
	return i;
}

static size_t block(struct zeros *z, size_t i)
{
	size_t mark = types_begin(&z->types);
	i = statements(z, i + 1, NULL);
	types_end(&z->types, mark);
	return is(z, i, "}") ? i + 1 : i;
}

/* A statement with a scope of its own, in which none may be put behind. */
static size_t substatement(struct zeros *z, size_t i)
{
	size_t mark = types_begin(&z->types);
	i = statement(z, i, IN_HEAD);
	types_end(&z->types, mark);
	return i;
}

static size_t for_statement(struct zeros *z, size_t i)
{
	size_t mark = types_begin(&z->types);
	size_t close = types_skip(&z->types, i + 1);
	statement(z, i + 2, IN_HEAD);
	i = substatement(z, close);
	types_end(&z->types, mark);
	return i;
}

static size_t if_statement(struct zeros *z, size_t i)
{
	i = substatement(z, types_skip(&z->types, i + 1));
	return is(z, i, "else") ? substatement(z, i + 1) : i;
}

/* Behind the ":" of a label. */
static size_t label(const struct zeros *z, size_t i)
{
	int nquestion = 0;
	for (; i < z->types.n && !is(z, i, ";") && !is(z, i, "}"); i++) {
		nquestion += is(z, i, "?");
		if (is(z, i, ":") && !nquestion--)
			return i + 1;
	}
	return i;
}

/* What begins with no word of its own: a declaration or an expression. */
static size_t other_statement(struct zeros *z, size_t i, enum place place)
{
	struct declaration d = { .type = { .of = TYPES_NONE } };
	static const char *const plain[] = {
		"return",
		"break",
		"continue",
		"discard",
		"precision",
		NULL,
	};
	if (is_one_of(z, i, plain))
		return behind_semicolon(z, i);
	size_t name = read_type(z, i, &d);
	return name == i ? behind_semicolon(z, i) : read_declarators(z, name, &d, place);
}

/* The statement at i; returns the position behind it. */
static size_t statement(struct zeros *z, size_t i, enum place place)
{
	if (z->depth >= DEPTH_MAX)
		return is(z, i, "{") ? types_skip(&z->types, i) : behind_semicolon(z, i);
	z->depth++;
	if (is(z, i, "{"))
		i = block(z, i);
	else if (is(z, i, "for") && is(z, i + 1, "("))
		i = for_statement(z, i);
	else if (is(z, i, "if") && is(z, i + 1, "("))
		i = if_statement(z, i);
	else if ((is(z, i, "while") || is(z, i, "switch")) && is(z, i + 1, "("))
		i = substatement(z, types_skip(&z->types, i + 1));
	else if (is(z, i, "do"))
		i = behind_semicolon(z, substatement(z, i + 1));
	else if (is(z, i, "case") || is(z, i, "default"))
		i = label(z, i);
	else
		i = other_statement(z, i, place);
	z->depth--;
	return i;
}

/* Functions ---------------------------------------------------------------- */

/* One without a name, whose type ends at last: Mesa wants one. */
static void name_parameter(struct zeros *z, size_t last)
{
	struct buf text = BUF_INIT;
	if (!is(z, last, "void")) {
		buf_addf(&text, " stb_p%zu", last);
		insert(z, last, EDIT_AFTER, &text);
	}
	buf_release(&text);
}

/* Names the parameters between i and the ")", and sets what is out to zero. */
static void read_parameters(struct zeros *z, size_t i, size_t close, struct buf *zeros)
{
	struct types *t = &z->types;
	while (i < close) {
		struct declaration d = { .type = { .of = TYPES_NONE } };
		i = read_qualifiers(z, i, &d);
		d.type = types_find(t, i);
		i = types_dims(t, i + 1, &d.type);
		if (types_is_word(t, i)) {
			size_t name = i;
			i = types_dims(t, i + 1, &d.type);
			types_name(t, name, TYPES_NONE, NULL);
			char *word = types_word(t, name);
			if (d.is_out)
				types_statements(t, word, &d.type, zeros);
			free(word);
		} else if (types_is_word(t, i - 1) || is(z, i - 1, "]")) {
			name_parameter(z, i - 1);
		}
		i = value_end(z, i, 1) + 1;
	}
}

/* "return" of the type's zero, for the end of a function. */
static void zero_result(const struct zeros *z, const struct type *type, struct buf *out)
{
	const struct types *t = &z->types;
	struct buf value = BUF_INIT;
	if (types_value(t, type, &value)) {
		buf_addf(out, "return %s;", value.data);
	} else if (types_is_zeroable(t, type) && !type->is_unsized &&
	    (type->basic || t->object[type->of].name)) {
		buf_addf(out, "%s stb_r",
		    type->basic ? type->basic : t->object[type->of].name);
		for (size_t i = 0; i < type->ndim; i++)
			buf_addf(out, "[%ld]", type->dim[i]);
		buf_addch(out, ';');
		types_statements(t, "stb_r", type, out);
		buf_addstr(out, "return stb_r;");
	}
	for (size_t i = 0; i < type->ndim; i++)
		if (type->dim[i] < 0)
			buf_reset(out);
	buf_release(&value);
}

/* A function's definition whose "(" is at open; returns behind its "}". */
static size_t function(struct zeros *z, const struct declaration *d, size_t open,
    size_t close)
{
	struct types *t = &z->types;
	struct buf zeros = BUF_INIT, result = BUF_INIT;
	size_t mark = types_begin(t), last = 0;
	zero_result(z, &d->type, &result);
	read_parameters(z, open + 1, close, &zeros);
	insert(z, close + 1, EDIT_AFTER, &zeros);
	size_t end = statements(z, close + 2, &last);
	if (end < t->n && !(last && is(z, last, "return")))
		insert(z, end, EDIT_BEFORE, &result);
	types_end(t, mark);
	buf_release(&zeros);
	buf_release(&result);
	return end + 1;
}

/* What stands at i outside of functions; returns the position behind it. */
static size_t external(struct zeros *z, size_t i)
{
	struct declaration d = { .type = { .of = TYPES_NONE } };
	struct types *t = &z->types;
	if (is(z, i, "precision") || is(z, i, ";"))
		return behind_semicolon(z, i);
	size_t name = read_type(z, i, &d);
	if (name == i || !types_is_word(t, name))
		return is(z, i, "{") ? types_skip(t, i) : behind_semicolon(z, name);
	if (!is(z, name + 1, "("))
		return read_declarators(z, name, &d, IN_FILE);
	types_name(t, name, TYPES_NONE, NULL);
	size_t close = types_skip(t, name + 1) - 1;
	if (is(z, close + 1, "{"))
		return function(z, &d, name + 1, close);
	return behind_semicolon(z, close);
}

void shader_zero(const struct glsl *g, const struct map *renamed, struct edits *edits,
    struct buf *statements)
{
	struct zeros z = { .edits = edits, .statements = statements };
	size_t *at = xreallocarray(NULL, g->ntoken + 1, sizeof *at), n = 0;
	for (size_t i = 0; i < g->ntoken; i++)
		if (!g->token[i].is_directive)
			at[n++] = i;
	z.types = (struct types){ .g = g, .at = at, .n = n, .renamed = renamed };
	for (size_t i = 0; i < n;) {
		size_t next = external(&z, i);
		i = next > i ? next : i + 1;
	}
	types_release(&z.types);
	free(at);
}

#include <stdlib.h>
#include <string.h>

#include "lint_types.h"
#include "util/mem.h"

#define NESTING 256

static int is_at(const struct typing *t, const char *text)
{
	return t->i < t->end && lint_is(t->l, t->i, text);
}

static void lost(struct typing *t)
{
	t->is_lost = 1;
}

static void expect(struct typing *t, const char *text)
{
	if (is_at(t, text))
		t->i++;
	else
		lost(t);
}

/* Behind the next ";" at this level, or behind the braces that come first. */
static void recover(struct typing *t, size_t from)
{
	t->is_lost = 0;
	for (t->i = from; t->i < t->end;) {
		if (is_at(t, ";")) {
			t->i++;
			return;
		}
		if (is_at(t, "}"))
			return;
		int is_brace = is_at(t, "{");
		if (is_brace || is_at(t, "(") || is_at(t, "["))
			t->i = lint_skip(t->l, t->i);
		else
			t->i++;
		if (is_brace && !is_at(t, ";") && !is_at(t, ",") &&
		    !lint_is_word(t->l, t->i))
			return;
	}
}

static void refuse(struct typing *t, size_t token, const char *what)
{
	lint_add(t->l, "site-refuses", token, "%s", what);
}

/* Qualifiers --------------------------------------------------------------- */

struct qualifiers {
	size_t first;
	int is_const, is_uniform, is_out, has_location, has_precision;
};

static int is_qualifier(const struct typing *t, size_t i)
{
	static const char *const word[] = {
		"const",
		"uniform",
		"in",
		"out",
		"inout",
		"highp",
		"mediump",
		"lowp",
		"flat",
		"smooth",
		"centroid",
		"invariant",
		"layout",
		"precise",
		"shared",
		"buffer",
		"coherent",
		"volatile",
		"restrict",
		"readonly",
		"writeonly",
		"noperspective",
		"sample",
		"patch",
		"varying",
		"attribute",
	};
	/* "sample = 1.0": desktop GLSL has some of these as names, renamed. */
	return lint_is_one_of(t->l, i, word, LINT_COUNT(word)) &&
	    (lint_is_word(t->l, i + 1) || lint_is(t->l, i + 1, "(") ||
		lint_is(t->l, i + 1, ";"));
}

/* Those of a block, those of a variable, none else. */
static void read_layout(struct typing *t, struct qualifiers *q)
{
	static const char *const known[] = {
		"std140",
		"shared",
		"packed",
		"row_major",
		"column_major",
		"location",
	};
	size_t end;
	t->i++;
	if (!is_at(t, "(")) {
		lost(t);
		return;
	}
	end = lint_skip(t->l, t->i);
	for (size_t i = t->i + 1; i + 1 < end; i++) {
		if (!lint_is_word(t->l, i))
			continue;
		q->has_location |= lint_is(t->l, i, "location");
		if (!lint_is_one_of(t->l, i, known, LINT_COUNT(known)))
			lint_add(t->l, "site-refuses", i,
			    "ES 3.00 has no layout "
			    "'%.*s'",
			    (int)t->l->code.token[i].len,
			    t->l->code.text + t->l->code.token[i].at);
	}
	t->i = end;
}

static void read_qualifiers(struct typing *t, struct qualifiers *q)
{
	*q = (struct qualifiers){ .first = t->i };
	while (t->i < t->end && !t->is_lost && is_qualifier(t, t->i)) {
		if (is_at(t, "layout")) {
			read_layout(t, q);
			continue;
		}
		q->is_const |= is_at(t, "const");
		q->is_uniform |= is_at(t, "uniform");
		q->is_out |= is_at(t, "out");
		q->has_precision |=
		    is_at(t, "highp") || is_at(t, "mediump") || is_at(t, "lowp");
		t->i++;
	}
}

/* Types -------------------------------------------------------------------- */

void typing_array(struct typing *t, struct type *type)
{
	size_t at = t->i++;
	int n = -1;
	if (!is_at(t, "]")) {
		if (t->l->code.token[t->i].kind == GLSL_NUMBER &&
		    lint_is(t->l, t->i + 1, "]"))
			n = (int)strtol(t->l->code.text + t->l->code.token[t->i].at, NULL,
			    0);
		typing_expression(t);
	}
	expect(t, "]");
	if (t->is_lost)
		return;
	if (type->array)
		refuse(t, at, "ES 3.00 has no arrays of arrays");
	type->array = n > 0 ? n : -1;
}

static void read_record(struct typing *t, struct type *out);

/* A type at t->i; 0 when there is none. */
static int read_type(struct typing *t, struct type *out)
{
	if (is_at(t, "struct")) {
		read_record(t, out);
	} else {
		if (!lint_is_word(t->l, t->i))
			return 0;
		if (!typing_of_word(t, t->i, out))
			*out = TYPE_UNKNOWN;
		t->i++;
	}
	while (!t->is_lost && is_at(t, "["))
		typing_array(t, out);
	return !t->is_lost;
}

static void add_field(struct typing *t, size_t record, size_t name, struct type type)
{
	struct record *r = &t->record[record];
	const struct glsl_token *k = &t->l->code.token[name];
	r->field = array_grow(r->field, r->nfield, &r->cap, sizeof *r->field);
	r->field[r->nfield++] = (struct field){ t->l->code.text + k->at, k->len, type };
}

/* "struct S { float a, b; }", all of it. */
static void read_record(struct typing *t, struct type *out)
{
	struct qualifiers q;
	size_t name = 0, index = t->nrecord;
	t->i++;
	if (lint_is_word(t->l, t->i))
		name = t->i++;
	expect(t, "{");
	t->record = array_grow(t->record, t->nrecord, &t->record_cap, sizeof *t->record);
	t->record[t->nrecord++] = (struct record){ 0 };
	*out = (struct type){ .base = BASE_STRUCT, .rows = 1, .index = (int)index };
	while (!t->is_lost && !is_at(t, "}")) {
		struct type base, type;
		read_qualifiers(t, &q);
		if (t->i >= t->end || !read_type(t, &base)) {
			lost(t);
			return;
		}
		do {
			if (is_at(t, ","))
				t->i++;
			size_t field = t->i;
			type = base;
			if (!lint_is_word(t->l, t->i++)) {
				lost(t);
				return;
			}
			while (!t->is_lost && is_at(t, "["))
				typing_array(t, &type);
			add_field(t, index, field, type);
		} while (!t->is_lost && is_at(t, ","));
		expect(t, ";");
	}
	expect(t, "}");
	if (name && !t->is_lost)
		typing_add(t, name, SYMBOL_RECORD, *out, 0);
}

/* Declarations ------------------------------------------------------------- */

static int is_declaration(const struct typing *t)
{
	struct type type;
	if (is_qualifier(t, t->i) || is_at(t, "struct"))
		return 1;
	if (!lint_is_word(t->l, t->i) || is_at(t, "return") || is_at(t, "else") ||
	    is_at(t, "case") || is_at(t, "do"))
		return 0;
	if (lint_is_word(t->l, t->i + 1))
		return 1;
	/* "float[2] a", not "float[2](...)". */
	if (!lint_is(t->l, t->i + 1, "[") || !typing_of_word(t, t->i, &type))
		return 0;
	return lint_is_word(t->l, lint_skip(t->l, t->i + 1));
}

static const char *name_at(const struct typing *t, size_t token, int *n)
{
	*n = (int)t->l->code.token[token].len;
	return t->l->code.text + t->l->code.token[token].at;
}

/* A variable that the site's own text declares already. */
static void check_taken(struct typing *t, size_t name)
{
	static const char *const taken[] = {
#define UNIFORM(name, type, is_array, value, why) #name,
#define AUDIO(name, value)
#include "glsl/uniform.def"
#undef UNIFORM
#undef AUDIO
		"iChannel0",
		"iChannel1",
		"iChannel2",
		"iChannel3",
		"iCh0",
		"iCh1",
		"iCh2",
		"iCh3",
		"shadertoy_out_color",
	};
	int n;
	const char *s = name_at(t, name, &n);
	if (!t->depth && lint_is_one_of(t->l, name, taken, LINT_COUNT(taken)))
		lint_add(t->l, "site-refuses", name, "the site declares '%.*s' itself", n,
		    s);
}

static void read_initialiser(struct typing *t, const struct qualifiers *q, size_t name,
    struct type *type, int *is_const)
{
	int n;
	const char *s = name_at(t, name, &n);
	size_t at = ++t->i;
	if (is_at(t, "{")) {
		refuse(t, at,
		    "ES 3.00 has no values in braces, but "
		    "constructors");
		t->i = lint_skip(t->l, t->i);
		return;
	}
	if (q->is_uniform)
		refuse(t, at, "ES 3.00 has no values of uniforms");
	struct term v = typing_assignment(t);
	if (t->is_lost)
		return;
	typing_expect(t, &v, type, "as value of the %s '%.*s'", base_name(type->base), n,
	    s);
	if (type->array < 0 && v.type.array > 0)
		type->array = v.type.array;
	if (!v.is_const && !q->is_uniform && (!t->depth || q->is_const))
		lint_add(t->l, "site-refuses", at,
		    "the value of the %s '%.*s' "
		    "is not a constant expression, which ES 3.00 requires",
		    q->is_const ? "constant" : "global variable", n, s);
	*is_const = q->is_const && v.is_const;
}

/* The site and the language give one to these. */
static int needs_precision(const struct typing *t, const struct type *type, size_t token)
{
	return type->base == BASE_SAMPLER && !lint_is(t->l, token, "sampler2D") &&
	    !lint_is(t->l, token, "sampler3D") && !lint_is(t->l, token, "samplerCube");
}

/* "a, b[2] = ..., c;" behind the type. */
static void read_declarators(struct typing *t, const struct qualifiers *q,
    struct type base)
{
	while (!t->is_lost) {
		struct type type = base;
		int is_const = 0;
		size_t name = t->i;
		if (!lint_is_word(t->l, name)) {
			lost(t);
			return;
		}
		t->i++;
		check_taken(t, name);
		size_t array = t->i;
		while (!t->is_lost && is_at(t, "["))
			typing_array(t, &type);
		int is_sized =
		    lint_is(t->l, array, "[") && !lint_is(t->l, array + 1, "]");
		if (is_at(t, "="))
			read_initialiser(t, q, name, &type, &is_const);
		else if (!t->is_lost && type.array < 0 && !is_sized &&
		    lint_is(t->l, array, "["))
			refuse(t, array, "ES 3.00 has no arrays without a size");
		if (t->is_lost)
			return;
		typing_add(t, name, SYMBOL_VARIABLE, type, is_const);
		if (!is_at(t, ","))
			break;
		t->i++;
	}
	expect(t, ";");
}

/* What the site's place for a text refuses, though the language may not. */
static void check_interface(struct typing *t, const struct qualifiers *q,
    const struct type *type, size_t type_at)
{
	int n;
	const char *s = name_at(t, type_at, &n);
	if (t->depth)
		return;
	if (q->is_out)
		refuse(t, q->first,
		    "the site already has an out variable, and "
		    "rejects a second one");
	if (q->has_location && q->is_uniform)
		refuse(t, q->first, "ES 3.00 has no locations of uniforms");
	if (q->is_uniform && needs_precision(t, type, type_at) && !q->has_precision &&
	    !t->is_lost)
		lint_add(t->l, "site-refuses", type_at,
		    "ES 3.00 has no "
		    "precision for '%.*s' unless the text gives one",
		    n, s);
}

/* A uniform block from its "{" on. */
static void read_block(struct typing *t)
{
	struct qualifiers q;
	int depth = t->depth;
	t->i++;
	while (!t->is_lost && !is_at(t, "}")) {
		struct type base;
		read_qualifiers(t, &q);
		if (t->i >= t->end || !read_type(t, &base)) {
			lost(t);
			break;
		}
		t->depth = 1; /* so that nothing is said of fields */
		q = (struct qualifiers){ 0 };
		size_t before = t->nsymbol;
		read_declarators(t, &q, base);
		t->depth = depth;
		for (size_t i = before; i < t->nsymbol; i++)
			t->symbol[i].depth = depth;
	}
	expect(t, "}");
	if (lint_is_word(t->l, t->i)) {
		typing_add(t, t->i++, SYMBOL_VARIABLE, TYPE_UNKNOWN, 0);
		while (!t->is_lost && is_at(t, "["))
			typing_array(t, &(struct type){ 0 });
	}
	expect(t, ";");
}

/* Functions ---------------------------------------------------------------- */

static void statement(struct typing *t);

static int is_entry(const struct typing *t, size_t name)
{
	return lint_is(t->l, name, t->l->facts->entry);
}

/* The site's own prototype is "void mainImage(out vec4 c, in vec2 f)". */
static void check_entry(struct typing *t, const struct qualifiers *q, size_t inout)
{
	if (inout)
		refuse(t, inout,
		    "the site's entry point has no 'inout' in its "
		    "head, and it rejects any other head");
	else if (q->is_const)
		refuse(t, q->first,
		    "the site's entry point has no 'const' in "
		    "its head, and it rejects any other head");
}

/* One parameter; its name is added to the scope of the function. */
static void read_parameter(struct typing *t, int is_main)
{
	struct qualifiers q;
	struct type type;
	size_t inout = 0;
	read_qualifiers(t, &q);
	for (size_t i = q.first; i < t->i; i++)
		if (lint_is(t->l, i, "inout"))
			inout = i;
	if (t->i >= t->end || !read_type(t, &type)) {
		lost(t);
		return;
	}
	size_t name = lint_is_word(t->l, t->i) ? t->i++ : 0;
	while (!t->is_lost && is_at(t, "["))
		typing_array(t, &type);
	if (t->is_lost)
		return;
	if (is_main)
		check_entry(t, &q, inout);
	if (name)
		typing_add(t, name, SYMBOL_VARIABLE, type, 0);
	t->parameter = array_grow(t->parameter, t->nparameter, &t->parameter_cap,
	    sizeof *t->parameter);
	t->parameter[t->nparameter++] = type;
}

/* From "(" on: a prototype, or a definition with its body. */
static void read_function(struct typing *t, struct type result, size_t name)
{
	int n;
	const char *s = name_at(t, name, &n);
	struct symbol *symbol = typing_add(t, name, SYMBOL_FUNCTION, result, 0);
	size_t at = (size_t)(symbol - t->symbol), first = t->nparameter;
	/* Its parameters are below it, until they are known. */
	symbol->nparameter = (size_t)-1;
	t->depth = 1;
	t->i++;
	if (is_at(t, "void") && lint_is(t->l, t->i + 1, ")"))
		t->i++;
	while (!t->is_lost && !is_at(t, ")")) {
		read_parameter(t, is_entry(t, name));
		if (is_at(t, ","))
			t->i++;
		else if (!is_at(t, ")"))
			lost(t);
	}
	t->i++;
	t->symbol[at].first = first;
	t->symbol[at].nparameter = t->is_lost ? (size_t)-1 : t->nparameter - first;
	if (t->is_lost)
		return;
	/* mix is one that browsers let pass. */
	if (typing_is_builtin(t->l, name) && !lint_is(t->l, name, "mix"))
		lint_add(t->l, "site-refuses", name,
		    "ES 3.00 has a function "
		    "'%.*s', and no other may have its name",
		    n, s);
	if (is_at(t, ";")) {
		t->i++;
		return;
	}
	t->result = result;
	t->function = &t->l->code.token[name];
	statement(t);
}

/* Statements --------------------------------------------------------------- */

static void read_variables(struct typing *t)
{
	struct qualifiers q;
	struct type type;
	read_qualifiers(t, &q);
	if (is_at(t, ";")) { /* "layout(...) in;" */
		t->i++;
		return;
	}
	if (is_at(t, "precision"))
		lost(t);
	size_t type_at = t->i;
	if (t->is_lost || !read_type(t, &type)) {
		lost(t);
		return;
	}
	if (is_at(t, ";")) { /* "struct S { ... };", "invariant x;" */
		t->i++;
		return;
	}
	if (is_at(t, "{")) {
		read_block(t);
		return;
	}
	if (lint_is_word(t->l, t->i) && lint_is(t->l, t->i + 1, "(")) {
		size_t name = t->i++;
		if (t->depth)
			lost(t);
		else
			read_function(t, type, name);
		return;
	}
	check_interface(t, &q, &type, type_at);
	read_declarators(t, &q, type);
}

static void read_for(struct typing *t)
{
	int depth = t->depth++;
	t->i++;
	expect(t, "(");
	statement(t);
	if (!is_at(t, ";")) {
		if (is_declaration(t))
			lost(t);
		typing_expression(t);
	}
	expect(t, ";");
	if (!is_at(t, ")"))
		typing_expression(t);
	expect(t, ")");
	if (!t->is_lost)
		statement(t);
	typing_leave(t, depth);
}

static void read_return(struct typing *t)
{
	t->i++;
	if (!is_at(t, ";")) {
		struct term v = typing_expression(t);
		if (t->function)
			typing_expect(t, &v, &t->result,
			    "as result of the %s "
			    "'%.*s'",
			    base_name(t->result.base), (int)t->function->len,
			    t->l->code.text + t->function->at);
	}
	expect(t, ";");
}

static void read_condition(struct typing *t)
{
	t->i++;
	expect(t, "(");
	if (is_declaration(t))
		lost(t);
	else
		typing_expression(t);
	expect(t, ")");
}

static void read_block_statement(struct typing *t)
{
	int depth = t->depth++;
	t->i++;
	while (t->i < t->end && !is_at(t, "}"))
		statement(t);
	t->i += t->i < t->end;
	typing_leave(t, depth);
}

static void simple_statement(struct typing *t)
{
	if (is_at(t, "if")) {
		read_condition(t);
		if (!t->is_lost)
			statement(t);
		if (!t->is_lost && is_at(t, "else")) {
			t->i++;
			statement(t);
		}
	} else if (is_at(t, "for")) {
		read_for(t);
	} else if (is_at(t, "while")) {
		read_condition(t);
		if (!t->is_lost)
			statement(t);
	} else if (is_at(t, "do")) {
		t->i++;
		statement(t);
		read_condition(t);
		expect(t, ";");
	} else if (is_at(t, "switch")) {
		read_condition(t);
		if (!t->is_lost)
			statement(t);
	} else if (is_at(t, "case")) {
		t->i++;
		typing_expression(t);
		expect(t, ":");
	} else if (is_at(t, "default")) {
		t->i++;
		expect(t, ":");
	} else if (is_at(t, "return")) {
		read_return(t);
	} else if (is_at(t, "break") || is_at(t, "continue") || is_at(t, "discard")) {
		t->i++;
		expect(t, ";");
	} else if (is_declaration(t)) {
		read_variables(t);
	} else {
		typing_expression(t);
		expect(t, ";");
	}
}

static void statement(struct typing *t)
{
	size_t from = t->i;
	if (t->i >= t->end)
		return;
	if (is_at(t, ";")) {
		t->i++;
		return;
	}
	if (++t->nesting > NESTING) {
		recover(t, from);
	} else if (is_at(t, "{")) {
		read_block_statement(t);
	} else {
		simple_statement(t);
		if (t->is_lost) {
			recover(t, from);
			t->i += t->i == from;
		}
	}
	t->nesting--;
}

/* The whole ---------------------------------------------------------------- */

void typing_check(struct typing *t)
{
	while (t->i < t->end) {
		size_t from = t->i;
		if (is_at(t, ";")) {
			refuse(t, t->i++,
			    "a lone ';' is a syntax error in "
			    "ES 3.00");
			continue;
		}
		if (is_at(t, "precision"))
			lost(t);
		else if (is_at(t, "}"))
			t->i++;
		else
			read_variables(t);
		typing_leave(t, 0);
		t->nesting = 0;
		if (t->is_lost) {
			recover(t, from);
			t->i += t->i == from;
		}
	}
}

#include "shader_types.h"

#include <stdlib.h>
#include <string.h>

#include "glsl/shader_rewrite.h"
#include "glsl/shader_zero.h"
#include "util/mem.h"

#define VALUE_MAX 64       /* parts of a zero that is written out */
#define TEXT_MAX (1 << 16) /* bytes of one variable's zeros: hostile texts end there */
#define DEPTH_MAX 64       /* of structs in structs, of parentheses in a size */

/* Sorted as people think of them. */
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
	"mat2x2",
	"mat2x3",
	"mat2x4",
	"mat3x2",
	"mat3x3",
	"mat3x4",
	"mat4x2",
	"mat4x3",
	"mat4x4",
	"double",
	"dvec2",
	"dvec3",
	"dvec4",
};

const char *shader_basic_type(const struct glsl *g, size_t token)
{
	if (token >= g->ntoken || g->token[token].kind != GLSL_WORD)
		return NULL;
	for (size_t i = 0; i < sizeof basic_type / sizeof *basic_type; i++)
		if (glsl_is(g, token, basic_type[i]))
			return basic_type[i];
	return NULL;
}

/* Tokens ------------------------------------------------------------------- */

int types_is(const struct types *t, size_t i, const char *word)
{
	return i < t->n && glsl_is(t->g, t->at[i], word);
}

int types_is_word(const struct types *t, size_t i)
{
	return i < t->n && t->g->token[t->at[i]].kind == GLSL_WORD;
}

static char *text_at(const struct types *t, size_t i)
{
	const struct glsl_token *token = &t->g->token[t->at[i]];
	return xstrndup(t->g->text + token->at, token->len);
}

char *types_word(const struct types *t, size_t i)
{
	char *word = text_at(t, i);
	if (map_gets(t->renamed, word) == MAP_NONE)
		return word;
	char *renamed = xasprintf("%s%s", REWRITE_PREFIX, word);
	free(word);
	return renamed;
}

size_t types_skip(const struct types *t, size_t i)
{
	size_t depth = 0;
	for (; i < t->n; i++) {
		const struct glsl_token *token = &t->g->token[t->at[i]];
		if (token->kind != GLSL_PUNCT || token->len != 1)
			continue;
		char c = t->g->text[token->at];
		if (c == '(' || c == '[' || c == '{')
			depth++;
		else if ((c == ')' || c == ']' || c == '}') && (!depth || !--depth))
			return i + 1;
	}
	return t->n;
}

/* Names -------------------------------------------------------------------- */

size_t types_begin(const struct types *t)
{
	return t->nnamed;
}

void types_end(struct types *t, size_t mark)
{
	while (t->nnamed > mark) {
		struct named *n = &t->named[--t->nnamed];
		map_puts(&t->name, n->name, n->hidden);
		free(n->name);
	}
}

void types_name(struct types *t, size_t i, size_t object, const long *value)
{
	char *name = text_at(t, i);
	size_t hidden = map_gets(&t->name, name);
	t->named = array_grow(t->named, t->nnamed, &t->named_cap, sizeof *t->named);
	t->named[t->nnamed++] = (struct named){
		name,
		object,
		value != NULL,
		value ? *value : 0,
		hidden == MAP_NONE ? 0 : hidden,
	};
	map_puts(&t->name, name, t->nnamed);
}

static const struct named *find(const struct types *t, size_t i)
{
	const struct glsl_token *token = &t->g->token[t->at[i]];
	size_t at = map_get(&t->name, t->g->text + token->at, token->len);
	return at == MAP_NONE || !at ? NULL : &t->named[at - 1];
}

struct type types_find(const struct types *t, size_t i)
{
	struct type type = { .of = TYPES_NONE };
	if (!types_is_word(t, i))
		return type;
	const struct named *n = find(t, i);
	if (n)
		type.of = n->object;
	else
		type.basic = shader_basic_type(t->g, t->at[i]);
	return type;
}

/* Constants ---------------------------------------------------------------- */

struct constant {
	const struct types *t;
	size_t at, end;
	int depth;
};

static int sum(struct constant *c, long *value);

static int number_at(struct constant *c, long *value)
{
	char *text = text_at(c->t, c->at++), *end;
	*value = strtol(text, &end, 0);
	if (*end == 'u' || *end == 'U')
		end++;
	int is_number = !*end && *value >= 0 && *value < 1 << 24;
	free(text);
	return is_number;
}

static int primary(struct constant *c, long *value)
{
	const struct types *t = c->t;
	if (c->at >= c->end || c->depth > DEPTH_MAX)
		return 0;
	if (t->g->token[t->at[c->at]].kind == GLSL_NUMBER)
		return number_at(c, value);
	if (types_is(t, c->at, "-") || types_is(t, c->at, "+")) {
		int is_minus = types_is(t, c->at++, "-");
		c->depth++;
		if (!primary(c, value))
			return 0;
		c->depth--;
		*value = is_minus ? -*value : *value;
		return 1;
	}
	if (types_is(t, c->at, "int") || types_is(t, c->at, "uint"))
		c->at++;
	if (types_is(t, c->at, "(")) {
		c->at++;
		c->depth++;
		if (!sum(c, value) || !types_is(t, c->at++, ")"))
			return 0;
		c->depth--;
		return 1;
	}
	if (!types_is_word(t, c->at) || types_is(t, c->at + 1, "(") ||
	    types_is(t, c->at + 1, ".") || types_is(t, c->at + 1, "["))
		return 0;
	const struct named *n = find(t, c->at++);
	if (!n || !n->has_value)
		return 0;
	*value = n->value;
	return 1;
}

static int product(struct constant *c, long *value)
{
	if (!primary(c, value))
		return 0;
	while (c->at < c->end) {
		int is_times = types_is(c->t, c->at, "*");
		int is_divide = types_is(c->t, c->at, "/");
		long right;
		if (!is_times && !is_divide && !types_is(c->t, c->at, "%"))
			break;
		c->at++;
		if (!primary(c, &right) || (!is_times && !right))
			return 0;
		if (is_times && labs(*value) > (1 << 24) / (labs(right) + 1))
			return 0;
		*value = is_times ? *value * right
		    : is_divide   ? *value / right
				  : *value % right;
	}
	return 1;
}

static int sum(struct constant *c, long *value)
{
	if (!product(c, value))
		return 0;
	while (c->at < c->end &&
	    (types_is(c->t, c->at, "+") || types_is(c->t, c->at, "-"))) {
		int is_plus = types_is(c->t, c->at++, "+");
		long right;
		if (!product(c, &right) || labs(*value) > 1 << 24)
			return 0;
		*value += is_plus ? right : -right;
	}
	return 1;
}

int types_constant(const struct types *t, size_t first, size_t end, long *value)
{
	struct constant c = { t, first, end, 0 };
	return sum(&c, value) && c.at == end;
}

/* Types -------------------------------------------------------------------- */

size_t types_dims(const struct types *t, size_t i, struct type *type)
{
	long found[TYPES_DIMS];
	size_t n = 0;
	while (types_is(t, i, "[")) {
		size_t end = types_skip(t, i);
		long value;
		if (end == i + 2)
			type->is_unsized = 1;
		int is_known = types_constant(t, i + 1, end - 1, &value) && value > 0;
		if (n < TYPES_DIMS)
			found[n] = is_known ? value : -1;
		n++;
		i = end;
	}
	if (!n)
		return i;
	if (n + type->ndim > TYPES_DIMS) { /* nobody has that many */
		type->basic = NULL;
		type->of = TYPES_NONE;
		return i;
	}
	/* float[2] a[3] is three of float[2]. */
	memmove(type->dim + n, type->dim, type->ndim * sizeof *type->dim);
	memcpy(type->dim, found, n * sizeof *found);
	type->ndim += n;
	return i;
}

static int is_precision(const struct types *t, size_t i)
{
	return types_is(t, i, "highp") || types_is(t, i, "mediump") ||
	    types_is(t, i, "lowp") || types_is(t, i, "precise");
}

/* The members between i and the "}" at end. */
static void read_members(struct types *t, size_t i, size_t end, size_t object)
{
	int is_sound = 1;
	while (i < end && is_sound) {
		while (is_precision(t, i))
			i++;
		struct type base = types_find(t, i++);
		i = types_dims(t, i, &base);
		do {
			struct type type = base;
			size_t name = i++;
			if (name >= end || !types_is_word(t, name)) {
				is_sound = 0;
				break;
			}
			i = types_dims(t, i, &type);
			struct object *o = &t->object[object];
			o->member =
			    array_grow(o->member, o->nmember, &o->cap, sizeof *o->member);
			o->member[o->nmember++] = (struct member){
				types_word(t, name),
				type,
			};
			if (!types_is_zeroable(t, &type) || type.is_unsized)
				is_sound = 0;
			if (type.ndim ||
			    (!type.basic && type.of != TYPES_NONE &&
				(t->object[type.of].has_array ||
				    !t->object[type.of].name)))
				o->has_array = 1;
		} while (types_is(t, i, ",") && ++i < end);
		if (!types_is(t, i++, ";"))
			is_sound = 0;
	}
	t->object[object].is_zeroable = is_sound && t->object[object].nmember > 0;
}

size_t types_struct(struct types *t, size_t i, size_t *object)
{
	size_t name = types_is_word(t, i + 1) ? i + 1 : 0;
	size_t open = name ? i + 2 : i + 1;
	*object = TYPES_NONE;
	if (!types_is(t, open, "{"))
		return open;
	size_t end = types_skip(t, open);
	t->object = array_grow(t->object, t->nobject, &t->object_cap, sizeof *t->object);
	*object = t->nobject++;
	t->object[*object] = (struct object){
		.name = name ? types_word(t, name) : NULL,
	};
	read_members(t, open + 1, end - 1, *object);
	if (name)
		types_name(t, name, *object, NULL);
	return end;
}

void types_release(struct types *t)
{
	types_end(t, 0);
	for (size_t i = 0; i < t->nobject; i++) {
		for (size_t k = 0; k < t->object[i].nmember; k++)
			free(t->object[i].member[k].name);
		free(t->object[i].member);
		free(t->object[i].name);
	}
	free(t->object);
	free(t->named);
	map_release(&t->name);
}

/* Zeros -------------------------------------------------------------------- */

int types_is_zeroable(const struct types *t, const struct type *type)
{
	return type->basic || (type->of != TYPES_NONE && t->object[type->of].is_zeroable);
}

static void add_type(const struct types *t, const struct type *type, struct buf *out)
{
	buf_addstr(out, type->basic ? type->basic : t->object[type->of].name);
	for (size_t i = 0; i < type->ndim; i++)
		buf_addf(out, "[%ld]", type->dim[i]);
}

static int add_value(const struct types *t, const struct type *type, size_t *nleft,
    struct buf *out)
{
	if (!*nleft)
		return 0;
	if (type->ndim) {
		struct type element = *type;
		element.ndim--;
		memmove(element.dim, type->dim + 1, element.ndim * sizeof *element.dim);
		for (size_t i = 0; i < type->ndim; i++)
			if (type->dim[i] < 0)
				return 0;
		if (!type->basic && !t->object[type->of].name)
			return 0;
		add_type(t, type, out);
		for (long i = 0; i < type->dim[0]; i++) {
			buf_addch(out, i ? ',' : '(');
			if (!add_value(t, &element, nleft, out))
				return 0;
		}
		buf_addch(out, ')');
		return 1;
	}
	--*nleft;
	if (type->basic) {
		buf_addf(out, "%s(0)", type->basic);
		return 1;
	}
	const struct object *o = &t->object[type->of];
	if (!o->name)
		return 0;
	buf_addstr(out, o->name);
	for (size_t i = 0; i < o->nmember; i++) {
		buf_addch(out, i ? ',' : '(');
		if (!add_value(t, &o->member[i].type, nleft, out))
			return 0;
	}
	buf_addch(out, ')');
	return 1;
}

int types_value(const struct types *t, const struct type *type, struct buf *out)
{
	size_t before = out->len, nleft = VALUE_MAX;
	if (types_is_zeroable(t, type) && !type->is_unsized &&
	    add_value(t, type, &nleft, out))
		return 1;
	out->len = before;
	if (out->data)
		out->data[before] = '\0';
	return 0;
}

static void add_statements(const struct types *t, const char *variable,
    const struct type *type, int depth, struct buf *out)
{
	struct buf value = BUF_INIT, name = BUF_INIT;
	if (out->len > TEXT_MAX || depth > DEPTH_MAX)
		goto out;
	if (type->ndim) {
		struct type element = *type;
		element.ndim--;
		memmove(element.dim, type->dim + 1, element.ndim * sizeof *element.dim);
		buf_addf(out, "for(int stb_i%d=0;stb_i%d<", depth, depth);
		if (type->dim[0] > 0)
			buf_addf(out, "%ld", type->dim[0]);
		else
			buf_addf(out, "int(%s.length())", variable);
		buf_addf(out, ";stb_i%d++){", depth);
		buf_addf(&name, "%s[stb_i%d]", variable, depth);
		add_statements(t, buf_str(&name), &element, depth + 1, out);
		buf_addch(out, '}');
	} else if (type->basic ||
	    (!t->object[type->of].has_array && types_value(t, type, &value))) {
		if (type->basic)
			buf_addf(&value, "%s(0)", type->basic);
		buf_addf(out, "%s=%s;", variable, buf_str(&value));
	} else {
		const struct object *o = &t->object[type->of];
		for (size_t i = 0; i < o->nmember; i++) {
			buf_reset(&name);
			buf_addf(&name, "%s.%s", variable, o->member[i].name);
			add_statements(t, buf_str(&name), &o->member[i].type, depth + 1,
			    out);
		}
	}
out:
	buf_release(&value);
	buf_release(&name);
}

void types_statements(const struct types *t, const char *variable,
    const struct type *type, struct buf *out)
{
	size_t before = out->len;
	if (!types_is_zeroable(t, type) || type->is_unsized)
		return;
	add_statements(t, variable, type, 0, out);
	if (out->len - before <= TEXT_MAX)
		return;
	out->len = before; /* rather nothing than a part */
	out->data[before] = '\0';
}

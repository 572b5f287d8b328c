#include "lint_types.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

static const char *text_of(const struct typing *t, size_t token, size_t *n)
{
	const struct glsl_token *k = &t->l->code.token[token];
	*n = k->len;
	return t->l->code.text + k->at;
}

/* Words of types ----------------------------------------------------------- */

static int is_text(const char *s, size_t n, const char *word)
{
	return strlen(word) == n && memcmp(s, word, n) == 0;
}

/* "vec3" behind a prefix of one letter or none; its base. */
static int vector_of(const char *s, size_t n, struct type *out)
{
	static const struct {
		const char *prefix;
		enum base base;
	} row[] = {
		{ "vec", BASE_FLOAT },
		{ "ivec", BASE_INT },
		{ "uvec", BASE_UINT },
		{ "bvec", BASE_BOOL },
	};
	for (size_t i = 0; i < LINT_COUNT(row); i++) {
		size_t np = strlen(row[i].prefix);
		if (n != np + 1 || memcmp(s, row[i].prefix, np) != 0 || s[np] < '2' ||
		    s[np] > '4')
			continue;
		*out = (struct type){ .base = row[i].base, .rows = s[np] - '0' };
		return 1;
	}
	return 0;
}

static int matrix_of(const char *s, size_t n, struct type *out)
{
	if ((n != 4 && n != 6) || memcmp(s, "mat", 3) != 0 || s[3] < '2' || s[3] > '4' ||
	    (n == 6 && (s[4] != 'x' || s[5] < '2' || s[5] > '4')))
		return 0;
	*out = (struct type){ .base = BASE_FLOAT,
		.cols = s[3] - '0',
		.rows = s[n - 1] - '0' };
	return 1;
}

static int sampler_of(const char *s, size_t n, struct type *out)
{
	static const char *const shape[] = { "2D", "3D", "Cube", "2DArray" };
	static const char *const shadow[] = {
		"2DShadow",
		"CubeShadow",
		"2DArrayShadow",
	};
	enum base texel = *s == 'i' ? BASE_INT : *s == 'u' ? BASE_UINT : BASE_FLOAT;
	size_t skip = texel != BASE_FLOAT;
	if (n < skip + 7 || memcmp(s + skip, "sampler", 7) != 0)
		return 0;
	s += skip + 7;
	n -= skip + 7;
	*out = (struct type){ .base = BASE_SAMPLER, .texel = texel, .ntexel = 4 };
	for (size_t i = 0; i < LINT_COUNT(shape); i++)
		if (is_text(s, n, shape[i]))
			return 1;
	out->ntexel = 1;
	for (size_t i = 0; !skip && i < LINT_COUNT(shadow); i++)
		if (is_text(s, n, shadow[i]))
			return 1;
	return 0;
}

int typing_of_word(const struct typing *t, size_t token, struct type *out)
{
	static const struct {
		const char *word;
		enum base base;
	} scalar[] = {
		{ "void", BASE_VOID },
		{ "bool", BASE_BOOL },
		{ "int", BASE_INT },
		{ "uint", BASE_UINT },
		{ "float", BASE_FLOAT },
	};
	*out = TYPE_UNKNOWN;
	if (!lint_is_word(t->l, token))
		return 0;
	size_t n;
	const char *s = text_of(t, token, &n);
	for (size_t i = 0; i < LINT_COUNT(scalar); i++)
		if (is_text(s, n, scalar[i].word)) {
			*out = (struct type){ .base = scalar[i].base, .rows = 1 };
			return 1;
		}
	if (vector_of(s, n, out) || matrix_of(s, n, out) || sampler_of(s, n, out))
		return 1;
	const struct symbol *symbol = typing_find(t, token);
	if (!symbol || symbol->kind != SYMBOL_RECORD) {
		*out = TYPE_UNKNOWN;
		return 0;
	}
	*out = symbol->type;
	return 1;
}

/* Names -------------------------------------------------------------------- */

static struct symbol *add_symbol(struct typing *t, const char *name, size_t n,
    enum symbol_kind kind, struct type type, int is_const)
{
	t->symbol = array_grow(t->symbol, t->nsymbol, &t->symbol_cap, sizeof *t->symbol);
	struct symbol *s = &t->symbol[t->nsymbol++];
	*s = (struct symbol){ .name = name,
		.n = n,
		.kind = kind,
		.type = type,
		.is_const = is_const,
		.depth = t->depth };
	return s;
}

struct symbol *typing_add(struct typing *t, size_t name, enum symbol_kind kind,
    struct type type, int is_const)
{
	size_t n;
	const char *s = text_of(t, name, &n);
	for (size_t i = 0; i + 1 < n; i++)
		if (s[i] == '_' && s[i + 1] == '_') {
			lint_add(t->l, "site-refuses", name,
			    "'%.*s': ES 3.00 "
			    "reserves names with two underscores in a row",
			    (int)n, s);
			break;
		}
	return add_symbol(t, s, n, kind, type, is_const);
}

const struct symbol *typing_find(const struct typing *t, size_t token)
{
	size_t n;
	const char *s = text_of(t, token, &n);
	for (size_t i = t->nsymbol; i-- > 0;)
		if (t->symbol[i].n == n && memcmp(t->symbol[i].name, s, n) == 0)
			return &t->symbol[i];
	return NULL;
}

void typing_leave(struct typing *t, int depth)
{
	while (t->nsymbol && t->symbol[t->nsymbol - 1].depth > depth)
		t->nsymbol--;
	t->depth = depth;
}

/* What the site declares, and the language. */
static void add_known(struct typing *t)
{
	static const struct {
		const char *name;
		struct type type;
		int is_const;
	} row[] = {
#define VECTOR(n) { .base = BASE_FLOAT, .rows = (n) }
#define CHANNEL \
	{ \
		.base = BASE_SAMPLER, .texel = BASE_FLOAT, .ntexel = 4 \
	}
#define OF_float .base = BASE_FLOAT, .rows = 1
#define OF_int .base = BASE_INT, .rows = 1
#define OF_vec3 .base = BASE_FLOAT, .rows = 3
#define OF_vec4 .base = BASE_FLOAT, .rows = 4
#define UNIFORM(name, type, is_array, value, why) \
	{ #name, { OF_##type, .array = 4 * (is_array) }, 0 },
#define AUDIO(name, value)
#include "glsl/uniform.def"
#undef UNIFORM
#undef AUDIO
#undef OF_float
#undef OF_int
#undef OF_vec3
#undef OF_vec4
		{ "iChannel0", CHANNEL, 0 }, { "iChannel1", CHANNEL, 0 },
		{ "iChannel2", CHANNEL, 0 }, { "iChannel3", CHANNEL, 0 },
		{ "gl_FragCoord", VECTOR(4), 0 }, { "gl_PointCoord", VECTOR(2), 0 },
		{ "gl_FragDepth", VECTOR(1), 0 },
		{ "gl_FrontFacing", { .base = BASE_BOOL, .rows = 1 }, 0 },
		{ "iCh0", { .base = BASE_UNKNOWN }, 0 },
		{ "iCh1", { .base = BASE_UNKNOWN }, 0 },
		{ "iCh2", { .base = BASE_UNKNOWN }, 0 },
		{ "iCh3", { .base = BASE_UNKNOWN }, 0 }
#undef VECTOR
#undef CHANNEL
	};
	for (size_t i = 0; i < LINT_COUNT(row); i++)
		add_symbol(t, row[i].name, strlen(row[i].name), SYMBOL_VARIABLE,
		    row[i].type, row[i].is_const);
	const struct lint_facts *facts = t->l->facts;
	for (size_t i = 0; i < facts->nuniform; i++) {
		const char *type = facts->uniform[i].type;
		struct type is = { .base = strcmp(type, "int") == 0 ? BASE_INT
			    : strcmp(type, "bool") == 0             ? BASE_BOOL
								    : BASE_FLOAT,
			.rows = 1 };
		vector_of(type, strlen(type), &is);
		add_symbol(t, facts->uniform[i].name, strlen(facts->uniform[i].name),
		    SYMBOL_VARIABLE, is, 0);
	}
}

void typing_init(struct typing *t, struct lint *l)
{
	*t = (struct typing){ .l = l, .end = l->code.ntoken };
	add_known(t);
}

void typing_release(struct typing *t)
{
	for (size_t i = 0; i < t->nrecord; i++)
		free(t->record[i].field);
	free(t->record);
	free(t->parameter);
	free(t->symbol);
	map_release(&t->seen_word);
}

/* Conversions -------------------------------------------------------------- */

const char *base_name(enum base base)
{
	static const char *const name[] = {
		"something",
		"void",
		"bool",
		"int",
		"uint",
		"float",
		"a sampler",
		"a struct",
	};
	return name[base];
}

const char *base_article(enum base base)
{
	return base == BASE_INT  ? "an int"
	    : base == BASE_UINT  ? "a uint"
	    : base == BASE_FLOAT ? "a float"
	    : base == BASE_BOOL  ? "a bool"
				 : base_name(base);
}

int typing_fit(const struct type *from, const struct type *to)
{
	if (from->base == BASE_UNKNOWN || to->base == BASE_UNKNOWN)
		return 1;
	if (!from->array != !to->array ||
	    (from->array > 0 && to->array > 0 && from->array != to->array))
		return 0;
	if (from->base == BASE_SAMPLER || to->base == BASE_SAMPLER)
		return from->base == to->base;
	if (from->base == BASE_STRUCT || to->base == BASE_STRUCT)
		return from->base == to->base && from->index == to->index;
	if (from->rows != to->rows || from->cols != to->cols)
		return 0;
	if (from->base == to->base)
		return 1;
	/* GLSL 4.30, 4.1.10. */
	return (from->base == BASE_INT &&
		   (to->base == BASE_UINT || to->base == BASE_FLOAT)) ||
		(from->base == BASE_UINT && to->base == BASE_FLOAT)
	    ? -1
	    : 0;
}

void typing_expect(struct typing *t, const struct term *value, const struct type *to,
    const char *fmt, ...)
{
	if (t->is_lost || typing_fit(&value->type, to) >= 0)
		return;
	va_list ap;
	va_start(ap, fmt);
	struct buf what = BUF_INIT;
	buf_vaddf(&what, fmt, ap);
	va_end(ap);
	lint_add(t->l, "site-refuses", value->at, "%s %s: " NO_CONVERSION,
	    base_article(value->type.base), buf_str(&what), base_name(value->type.base),
	    base_name(to->base));
	buf_release(&what);
}

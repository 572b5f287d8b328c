#include "glsl/shader_zero.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#define ZERO_MAX 4096	/* bytes of a struct's zero: beyond that it stays as it is */
#define ARRAY_MAX 64	/* elements of an array in a struct, likewise */
#define SIZE_MAX_TOKENS 16	/* of a local array's size, likewise */
#define TOTAL_MAX (1 << 20)	/* bytes of all zeros: hostile texts end there */

static const char *const basic_type[] = {
	"float", "int", "uint", "bool", "vec2", "vec3", "vec4", "ivec2", "ivec3",
	"ivec4", "uvec2", "uvec3", "uvec4", "bvec2", "bvec3", "bvec4", "mat2",
	"mat3", "mat4", "mat2x2", "mat2x3", "mat2x4", "mat3x2", "mat3x3",
	"mat3x4", "mat4x2", "mat4x3", "mat4x4"
};

const char *shader_basic_type(const struct glsl *g, size_t token)
{
	for (size_t i = 0; i < sizeof basic_type / sizeof *basic_type; i++)
		if (glsl_is(g, token, basic_type[i]))
			return basic_type[i];
	return NULL;
}

struct zero {			/* of a struct type */
	char *name;
	char *text;		/* null: not known */
};

struct zeros {
	const struct glsl *g;
	struct zero *zero;
	size_t nzero, cap;
	struct buf *out;
	size_t at;		/* bytes of the text that are in out */
	size_t ninserted;	/* bytes beside them */
};

static int is_word(const struct glsl *g, size_t i)
{
	return i < g->ntoken && g->token[i].kind == GLSL_WORD
		&& !g->token[i].is_directive;
}

static char *word_at(const struct glsl *g, size_t i)
{
	struct buf scratch = BUF_INIT;
	size_t n;
	const char *text = glsl_token_text(g, i, &scratch, &n);
	char *word = xstrndup(text, n);
	buf_release(&scratch);
	return word;
}

static int is_precision(const struct glsl *g, size_t i)
{
	return glsl_is(g, i, "highp") || glsl_is(g, i, "mediump")
		|| glsl_is(g, i, "lowp");
}

/* Behind the bracket or brace that closes the one at i, or ntoken. */
static size_t skip(const struct glsl *g, size_t i, const char *open,
	const char *close)
{
	int depth = 0;
	for (; i < g->ntoken; i++) {
		if (g->token[i].is_directive)
			continue;
		depth += glsl_is(g, i, open);
		depth -= glsl_is(g, i, close);
		if (!depth)
			return i + 1;
	}
	return i;
}

static struct zero *find_zero(const struct zeros *z, size_t token)
{
	for (size_t i = 0; i < z->nzero; i++)
		if (glsl_is(z->g, token, z->zero[i].name))
			return &z->zero[i];
	return NULL;
}

/* Appends the zero of the type at a token; 0 when it is not known. */
static int add_zero(const struct zeros *z, size_t token, struct buf *out)
{
	const char *basic = shader_basic_type(z->g, token);
	if (basic) {
		buf_addf(out, "%s(0)", basic);
		return 1;
	}
	const struct zero *known = find_zero(z, token);
	if (!known || !known->text)
		return 0;
	buf_addstr(out, known->text);
	return 1;
}

/* Structs ------------------------------------------------------------------ */

/* The size of "[N]" at i; 1 when there is none, 0 when it is no number. */
static unsigned long array_size(const struct glsl *g, size_t *i)
{
	if (!glsl_is(g, *i, "["))
		return 1;
	if (*i + 2 >= g->ntoken || g->token[*i + 1].kind != GLSL_NUMBER
		|| !glsl_is(g, *i + 2, "]"))
		return 0;
	char *number = word_at(g, *i + 1), *end;
	unsigned long n = strtoul(number, &end, 10);
	if (*end || n > ARRAY_MAX || number[0] == '0')
		n = 0;
	free(number);
	*i += 3;
	return n;
}

/* The members between i and last as arguments of a constructor. */
static int add_members(const struct zeros *z, size_t i, size_t last,
	struct buf *out)
{
	const struct glsl *g = z->g;
	size_t before = out->len;
	while (i < last) {
		if (is_precision(g, i))
			i++;
		size_t type = i++;
		unsigned long nouter = array_size(g, &i);
		do {
			if (!is_word(g, i))
				return 0;
			i++;
			unsigned long n = array_size(g, &i);
			int is_array = nouter != 1 || glsl_is(g, i - 1, "]");
			if (!n || !nouter || (n > 1 && nouter > 1))
				return 0;
			n *= nouter;
			if (out->len > before)
				buf_addch(out, ',');
			if (is_array) {
				char *word = word_at(g, type);
				buf_addf(out, "%s[%lu](", word, n);
				free(word);
			}
			for (unsigned long k = 0; k < n; k++) {
				if (k)
					buf_addch(out, ',');
				if (!add_zero(z, type, out) || out->len > ZERO_MAX)
					return 0;
			}
			if (is_array)
				buf_addch(out, ')');
		} while (glsl_is(g, i, ",") && ++i < last);
		if (!glsl_is(g, i++, ";"))
			return 0;
	}
	return out->len > before;
}

static void find_structs(struct zeros *z)
{
	const struct glsl *g = z->g;
	for (size_t i = 0; i + 2 < g->ntoken; i++) {
		if (g->token[i].is_directive || !glsl_is(g, i, "struct")
			|| !is_word(g, i + 1) || !glsl_is(g, i + 2, "{"))
			continue;
		size_t end = skip(g, i + 2, "{", "}") - 1;
		struct zero *known = find_zero(z, i + 1);
		if (known) {	/* in another branch, or another block */
			free(known->text);
			known->text = NULL;
			continue;
		}
		struct buf text = BUF_INIT;
		char *name = word_at(g, i + 1);
		buf_addf(&text, "%s(", name);
		int ok = add_members(z, i + 3, end, &text);
		for (size_t k = i; k < end; k++)
			ok &= !g->token[k].is_directive;
		buf_addch(&text, ')');
		z->zero = array_grow(z->zero, z->nzero, &z->cap, sizeof *z->zero);
		z->zero[z->nzero++] = (struct zero) {
			name, ok ? xstrdup(buf_str(&text)) : NULL
		};
		buf_release(&text);
	}
}

/* Declarations ------------------------------------------------------------- */

/* Inserts text behind a token. */
static void insert(struct zeros *z, size_t token, const struct buf *text)
{
	const struct glsl_token *t = &z->g->token[token];
	size_t end = (size_t)t->at + t->len;
	if (text->len > TOTAL_MAX - z->ninserted)
		return;
	z->ninserted += text->len;
	buf_add(z->out, z->g->text + z->at, end - z->at);
	buf_add(z->out, buf_str(text), text->len);
	z->at = end;
}

/* "for (...) NAME[i] = T(0);" for the size between two brackets. */
static void add_loop(const struct zeros *z, size_t name, size_t open,
	const char *type, struct buf *out)
{
	const struct glsl *g = z->g;
	size_t close = skip(g, open, "[", "]") - 1;
	if (close - open > SIZE_MAX_TOKENS || out->len > TOTAL_MAX)
		return;
	char *word = word_at(g, name);
	buf_addstr(out, "for(int stb_i=0;stb_i<int(");
	for (size_t i = open + 1; i < close; i++) {
		char *part = word_at(g, i);
		buf_addf(out, "%s ", part);
		free(part);
	}
	buf_addf(out, ");stb_i++)%s[stb_i]=%s(0);", word, type);
	free(word);
}

/* The comma or semicolon that ends the value at i, or 0. */
static size_t value_end(const struct glsl *g, size_t i)
{
	for (int depth = 0; i < g->ntoken; i++) {
		if (g->token[i].is_directive)
			return 0;
		if (!depth && (glsl_is(g, i, ",") || glsl_is(g, i, ";")))
			return i;
		depth += glsl_is(g, i, "(") || glsl_is(g, i, "[") || glsl_is(g, i, "{");
		depth -= glsl_is(g, i, ")") || glsl_is(g, i, "]") || glsl_is(g, i, "}");
		if (depth < 0)
			return 0;
	}
	return 0;
}

/*
 * A statement that begins at i: when it is a declaration, zeros for what has
 * no value. can_loop: statements may follow.
 */
static void zero_statement(struct zeros *z, size_t i, int can_loop)
{
	const struct glsl *g = z->g;
	struct buf loops = BUF_INIT, value = BUF_INIT;
	if (is_precision(g, i))
		i++;
	size_t type = i++;
	size_t outer = glsl_is(g, i, "[") ? i : 0;
	if (!is_word(g, type) || !add_zero(z, type, &value))
		goto out;
	if (outer)
		i = skip(g, i, "[", "]");
	for (;;) {
		size_t name = i++, inner = 0;
		if (!is_word(g, name) || i >= g->ntoken || g->token[i].is_directive)
			break;
		if (glsl_is(g, i, "[")) {
			inner = i;
			i = skip(g, i, "[", "]");
		}
		if (i >= g->ntoken)
			break;
		if (glsl_is(g, i, "=")) {
			i = value_end(g, i + 1);
		} else if (!glsl_is(g, i, ",") && !glsl_is(g, i, ";")) {
			break;
		} else if (!inner && !outer) {
			struct buf text = BUF_INIT;
			buf_addf(&text, "=%s", buf_str(&value));
			insert(z, name, &text);
			buf_release(&text);
		} else if (can_loop && !(inner && outer)
			&& shader_basic_type(g, type)) {
			add_loop(z, name, inner ? inner : outer,
				shader_basic_type(g, type), &loops);
		}
		if (!i || glsl_is(g, i, ";"))
			break;
		i++;
	}
	if (loops.len && i && i < g->ntoken && glsl_is(g, i, ";"))
		insert(z, i, &loops);
out:
	buf_release(&loops);
	buf_release(&value);
}

/* All statements between two tokens; blocks of the outermost level are not. */
static void zero_range(struct zeros *z, size_t i, size_t last, int is_body)
{
	const struct glsl *g = z->g;
	int is_start = 1, is_for = 0;
	while (i < last) {
		if (g->token[i].is_directive) {
			i++;
			continue;
		}
		if (glsl_is(g, i, "struct") || (!is_body && glsl_is(g, i, "{"))) {
			while (i < last && !glsl_is(g, i, "{"))
				i++;
			i = skip(g, i, "{", "}");
			is_start = 0;
			continue;
		}
		if (is_start)
			zero_statement(z, i, is_body && !is_for);
		is_for = glsl_is(g, i, "(") && i && glsl_is(g, i - 1, "for");
		is_start = is_for || glsl_is(g, i, ";") || glsl_is(g, i, "{")
			|| glsl_is(g, i, "}") || glsl_is(g, i, ":");
		i++;
	}
}

void shader_zero(const struct glsl *g, struct buf *out)
{
	struct zeros z = { .g = g, .out = out };
	struct glsl_function *fn;
	size_t nfn, at = 0;
	find_structs(&z);
	glsl_functions(g, &fn, &nfn);
	for (size_t i = 0; i < nfn; i++) {
		if (!fn[i].last || fn[i].first < at)
			continue;
		zero_range(&z, at, fn[i].first, 0);
		if (fn[i].body)
			zero_range(&z, fn[i].body + 1, fn[i].last, 1);
		at = fn[i].last + 1;
	}
	zero_range(&z, at, g->ntoken, 0);
	buf_add(out, g->text + z.at, g->ntext - z.at);
	for (size_t i = 0; i < z.nzero; i++) {
		free(z.zero[i].name);
		free(z.zero[i].text);
	}
	free(z.zero);
	free(fn);
}

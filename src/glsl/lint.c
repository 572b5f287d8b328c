#include "glsl/lint.h"

#include <stdarg.h>
#include <string.h>

#include "lint_text.h"
#include "util/limits.h"
#include "util/buf.h"
#include "util/mem.h"

/* Findings ----------------------------------------------------------------- */

static int column_of(const struct lint *l, const struct glsl_token *t)
{
	size_t start = t->at;
	while (start && l->code.text[start - 1] != '\n')
		start--;
	return (int)(t->at - start) + 1;
}

void lint_add(struct lint *l, const char *code, size_t token, const char *fmt,
	...)
{
	const struct glsl_token *t = &l->code.token[token];
	int file, line, column = column_of(l, t);
	if (l->nfinding++ >= LIMIT_ERRORS
		|| source_place(l->source, (int)t->line, &file, &line))
		return;
	const char *path = l->source->file[file];
	for (size_t i = 0; i < l->out->nitem; i++) {
		struct diagnostic *d = &l->out->item[i];
		if (!d->file || strcmp(d->file, path) || d->line != line
			|| d->column != column || strcmp(d->code, code))
			continue;
		if (d->pass[d->npass - 1] != l->pass)
			diagnostics_about(l->out, i, l->pass);
		return;
	}
	va_list ap;
	va_start(ap, fmt);
	size_t i = diagnostics_vadd(l->out, code, fmt, ap);
	va_end(ap);
	diagnostics_about(l->out, i, l->pass);
	l->out->item[i].file = xstrdup(path);
	l->out->item[i].line = line;
	l->out->item[i].column = column;
}

/* Tokens ------------------------------------------------------------------- */

int lint_is(const struct lint *l, size_t token, const char *text)
{
	return glsl_is(&l->code, token, text);
}

int lint_is_one_of(const struct lint *l, size_t token,
	const char *const *word, size_t nword)
{
	for (size_t i = 0; i < nword; i++)
		if (glsl_is(&l->code, token, word[i]))
			return 1;
	return 0;
}

int lint_is_word(const struct lint *l, size_t token)
{
	return token < l->code.ntoken
		&& l->code.token[token].kind == GLSL_WORD;
}

static size_t find(const struct glsl *g, const struct map *map, size_t token)
{
	struct buf scratch = BUF_INIT;
	size_t n;
	const char *text = glsl_token_text(g, token, &scratch, &n);
	size_t value = map_get(map, text, n);
	buf_release(&scratch);
	return value;
}

size_t lint_find(const struct lint *l, const struct map *map, size_t token)
{
	return lint_is_word(l, token) ? find(&l->code, map, token) : MAP_NONE;
}

size_t lint_skip(const struct lint *l, size_t token)
{
	size_t depth = 0;
	for (; token < l->code.ntoken; token++) {
		const struct glsl_token *t = &l->code.token[token];
		if (t->kind != GLSL_PUNCT || t->len != 1)
			continue;
		char c = l->code.text[t->at];
		if (c == '(' || c == '[' || c == '{')
			depth++;
		else if ((c == ')' || c == ']' || c == '}') && !--depth)
			return token + 1;
	}
	return token;
}

int lint_is_taken(const struct lint *l, size_t token)
{
	return lint_find(l, &l->macro, token) != MAP_NONE
		|| lint_find(l, &l->function_name, token) != MAP_NONE;
}

/* Preprocessing ------------------------------------------------------------ */

enum taken { TAKEN_NOT, TAKEN, TAKEN_UNSURE };

struct branch {
	enum taken outer;
	enum taken seen;	/* whether one of its branches was taken */
	int is_shown;		/* its directives are in code */
};

struct branches {
	struct branch *branch;
	size_t nbranch, cap;
	enum taken now;
};

/* Names that compilers, or we, define. */
static int is_predefined(const struct glsl *g, size_t token)
{
	const char *s = g->text + g->token[token].at;
	size_t n = g->token[token].len;
	return (n > 3 && !strncmp(s, "GL_", 3))
		|| (n > 2 && !strncmp(s, "__", 2))
		|| glsl_is(g, token, "HW_PERFORMANCE");
}

static enum taken is_defined(const struct lint *l, size_t token)
{
	const struct glsl *g = &l->whole;
	if (g->token[token].kind != GLSL_WORD || is_predefined(g, token))
		return TAKEN_UNSURE;
	size_t m = find(g, &l->macro, token);
	if (m == MAP_NONE)
		return TAKEN_NOT;
	return l->macro_at[m].is_unsure ? TAKEN_UNSURE : TAKEN;
}

/* An integer, or a macro that is one. */
static int number_of(const struct lint *l, size_t token, long *out)
{
	const struct glsl *g = &l->whole;
	if (g->token[token].kind == GLSL_WORD) {
		if (is_predefined(g, token))
			return 0;
		size_t m = find(g, &l->macro, token);
		if (m == MAP_NONE || l->macro_at[m].is_unsure
			|| l->macro_at[m].has_parameters
			|| l->macro_at[m].last != l->macro_at[m].first + 1)
			return 0;
		token = l->macro_at[m].first;
	}
	if (g->token[token].kind != GLSL_NUMBER || g->token[token].len > 9)
		return 0;
	char *end, text[10] = "";
	memcpy(text, g->text + g->token[token].at, g->token[token].len);
	*out = strtol(text, &end, 0);
	return !*end;
}

static enum taken compare(const struct lint *l, size_t at)
{
	const struct glsl *g = &l->whole;
	long a, b;
	if (!number_of(l, at, &a) || !number_of(l, at + 2, &b))
		return TAKEN_UNSURE;
	if (glsl_is(g, at + 1, "=="))
		return a == b ? TAKEN : TAKEN_NOT;
	if (glsl_is(g, at + 1, "!="))
		return a != b ? TAKEN : TAKEN_NOT;
	if (glsl_is(g, at + 1, "<"))
		return a < b ? TAKEN : TAKEN_NOT;
	if (glsl_is(g, at + 1, ">"))
		return a > b ? TAKEN : TAKEN_NOT;
	if (glsl_is(g, at + 1, "<="))
		return a <= b ? TAKEN : TAKEN_NOT;
	if (glsl_is(g, at + 1, ">="))
		return a >= b ? TAKEN : TAKEN_NOT;
	return TAKEN_UNSURE;
}

/* The condition of the directive whose name is at word. */
static enum taken condition(const struct lint *l, size_t word, size_t end)
{
	static const enum taken not[] = { TAKEN, TAKEN_NOT, TAKEN_UNSURE };
	const struct glsl *g = &l->whole;
	size_t at = word + 1, n = end - at;
	long value;
	if (glsl_is(g, word, "ifdef"))
		return n == 1 ? is_defined(l, at) : TAKEN_UNSURE;
	if (glsl_is(g, word, "ifndef"))
		return n == 1 ? not[is_defined(l, at)] : TAKEN_UNSURE;
	int is_not = n > 1 && glsl_is(g, at, "!");
	at += (size_t)is_not;
	n -= (size_t)is_not;
	enum taken is = TAKEN_UNSURE;
	if (n == 1 && number_of(l, at, &value))
		is = value ? TAKEN : TAKEN_NOT;
	else if (n == 2 && glsl_is(g, at, "defined"))
		is = is_defined(l, at + 1);
	else if (n == 4 && glsl_is(g, at, "defined")
		&& glsl_is(g, at + 1, "(") && glsl_is(g, at + 3, ")"))
		is = is_defined(l, at + 2);
	else if (n == 3 && !is_not)
		is = compare(l, at);
	return is_not ? not[is] : is;
}

static enum taken within(enum taken outer, enum taken inner)
{
	if (outer == TAKEN_NOT || inner == TAKEN_NOT)
		return TAKEN_NOT;
	return outer == TAKEN && inner == TAKEN ? TAKEN : TAKEN_UNSURE;
}

/* A directive of conditions. Returns whether it is to be in code. */
static int branch_on(struct lint *l, struct branches *b, size_t word,
	size_t end)
{
	const struct glsl *g = &l->whole;
	if (!strncmp(g->text + g->token[word].at, "if", 2)) {
		enum taken is = b->now == TAKEN_NOT ? TAKEN_NOT
			: condition(l, word, end);
		struct branch new = { b->now, is, is == TAKEN_UNSURE };
		b->branch = array_grow(b->branch, b->nbranch, &b->cap,
			sizeof *b->branch);
		b->branch[b->nbranch++] = new;
		b->now = within(b->now, is);
		return new.is_shown;
	}
	if (!b->nbranch) {
		l->is_plain = 0;
		return 0;
	}
	struct branch *top = &b->branch[b->nbranch - 1];
	if (glsl_is(g, word, "endif")) {
		b->now = top->outer;
		b->nbranch--;
		return top->is_shown;
	}
	enum taken is = TAKEN;
	if (glsl_is(g, word, "elif") && top->seen != TAKEN)
		is = top->outer == TAKEN_NOT ? TAKEN_NOT
			: condition(l, word, end);
	if (top->seen == TAKEN)
		is = TAKEN_NOT;
	else if (top->seen == TAKEN_UNSURE)
		is = TAKEN_UNSURE;
	if (is == TAKEN_UNSURE && !top->is_shown)
		l->is_plain = 0;	/* its braces are in nobody's branch */
	if (is != TAKEN_NOT)
		top->seen = is;
	b->now = within(top->outer, is);
	return top->is_shown;
}

static void add_macro(struct lint *l, size_t name, size_t end, int is_unsure)
{
	const struct glsl *g = &l->whole;
	if (g->token[name].kind != GLSL_WORD)
		return;
	struct lint_macro m = { .first = name + 1, .last = end,
		.is_unsure = is_unsure };
	if (glsl_is(g, name + 1, "(") && !g->token[name + 1].is_spaced) {
		m.has_parameters = 1;
		while (m.first < end && !glsl_is(g, m.first, ")"))
			m.first++;
		m.first += m.first < end;
	}
	struct buf scratch = BUF_INIT;
	size_t n;
	struct map parameter = MAP_INIT;
	for (size_t i = name + 1; i < m.last; i++) {
		if (g->token[i].kind != GLSL_WORD)
			continue;
		const char *text = glsl_token_text(g, i, &scratch, &n);
		if (i < m.first)
			map_put(&parameter, text, n, 1);
		else if (map_get(&parameter, text, n) == MAP_NONE)
			map_put(&l->macro_word, text, n, 1);
	}
	map_release(&parameter);
	const char *text = glsl_token_text(g, name, &scratch, &n);
	m.is_unsure |= map_get(&l->macro, text, n) != MAP_NONE;
	map_put(&l->macro, text, n, l->nmacro);
	buf_release(&scratch);
	l->macro_at = array_grow(l->macro_at, l->nmacro, &l->macro_cap,
		sizeof *l->macro_at);
	l->macro_at[l->nmacro++] = m;
}

static void copy_tokens(struct lint *l, size_t from, size_t to, int is_unsure)
{
	struct glsl *code = &l->code;
	for (size_t i = from; i < to; i++) {
		l->origin[code->ntoken] = i;
		l->is_unsure[code->ntoken] = (unsigned char)is_unsure;
		code->token[code->ntoken++] = l->whole.token[i];
	}
}

static void preprocess(struct lint *l)
{
	const struct glsl *g = &l->whole;
	struct branches b = { .now = TAKEN };
	size_t version = MAP_NONE;
	l->code = (struct glsl) { .text = g->text, .ntext = g->ntext };
	l->code.token = xcalloc(g->ntoken + 1, sizeof *g->token);
	l->origin = xcalloc(g->ntoken + 1, sizeof *l->origin);
	l->is_unsure = xcalloc(g->ntoken + 1, 1);
	for (size_t i = 0; i < g->ntoken; i++) {
		if (g->token[i].kind != GLSL_HASH) {
			if (b.now != TAKEN_NOT)
				copy_tokens(l, i, i + 1, b.now == TAKEN_UNSURE);
			continue;
		}
		size_t end = i, word = i + 1;
		while (g->token[end].kind != GLSL_LINE_END)
			end++;
		if (glsl_is(g, word, "if") || glsl_is(g, word, "ifdef")
			|| glsl_is(g, word, "ifndef") || glsl_is(g, word, "elif")
			|| glsl_is(g, word, "else") || glsl_is(g, word, "endif")) {
			if (branch_on(l, &b, word, end))
				copy_tokens(l, i, end + 1, 1);
		} else if (b.now != TAKEN_NOT && word + 1 < end) {
			size_t m;
			if (glsl_is(g, word, "define"))
				add_macro(l, word + 1, end,
					b.now == TAKEN_UNSURE);
			else if (glsl_is(g, word, "undef")
				&& (m = find(g, &l->macro, word + 1)) != MAP_NONE)
				l->macro_at[m].is_unsure = 1;
			else if (glsl_is(g, word, "version")
				&& b.now == TAKEN)
				version = i;
		}
		i = end;
	}
	free(b.branch);
	l->code.is_kept = xcalloc(l->code.ntoken + 1, 1);
	if (version == MAP_NONE)
		return;
	/* Of directives this one alone is a finding: at the place it has. */
	struct glsl_token *spare = &l->code.token[l->code.ntoken];
	*spare = g->token[version];
	if (!l->manifest->pass[l->pass].nstorage
		&& l->manifest->pass[l->pass].kind != PASS_COMPUTE)
		lint_add(l, "site-refuses", l->code.ntoken,
			"the site writes #version itself, and refuses another");
}

/* -------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
	const struct diagnostic *x = a, *y = b;
	int order = strcmp(x->file, y->file);
	if (!order)
		order = (x->line > y->line) - (x->line < y->line);
	return order ? order
		: (x->column > y->column) - (x->column < y->column);
}

static const char *entry_name(enum pass_kind kind)
{
	switch (kind) {
	case PASS_CUBEMAP:
		return "mainCubemap";
	case PASS_COMPUTE:
		return "mainCompute";
	case PASS_SOUND:
		return "mainSound";
	default:
		return "mainImage";
	}
}

void lint_source(const struct manifest *m, int p, const struct source *source,
	struct diagnostics *out)
{
	struct lint l = { .manifest = m, .pass = p, .source = source,
		.out = out, .is_plain = 1 };
	const struct pass *pass = &m->pass[p];
	struct buf scratch = BUF_INIT;
	size_t nbefore = out->nitem;
	glsl_lex(&l.whole, source->text, source->ntext);
	preprocess(&l);
	/* What nothing calls is compiled, but has no values. */
	glsl_drop_unused(&l.whole, entry_name(pass->kind));
	for (size_t i = 0; i < l.code.ntoken; i++)
		l.code.is_kept[i] = l.whole.is_kept[l.origin[i]];
	l.is_plain &= glsl_functions(&l.code, &l.function, &l.nfunction);
	for (size_t i = l.nfunction; i-- > 0;) {
		size_t n;
		const char *name = glsl_token_text(&l.code,
			l.function[i].name, &scratch, &n);
		map_put(&l.function_name, name, n, i);
	}
	/* The site has neither compute passes nor storage. */
	if (pass->kind != PASS_COMPUTE && !pass->nstorage)
		lint_site(&l);
	if (l.is_plain) {
		lint_flow(&l);
		lint_loops(&l);
	}
	if (out->nitem > nbefore)
		qsort(out->item + nbefore, out->nitem - nbefore,
			sizeof *out->item, by_place);
	buf_release(&scratch);
	map_release(&l.function_name);
	map_release(&l.macro_word);
	map_release(&l.macro);
	free(l.function);
	free(l.macro_at);
	free(l.is_unsure);
	free(l.origin);
	glsl_release(&l.code);
	glsl_release(&l.whole);
}

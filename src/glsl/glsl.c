#include "glsl/glsl.h"

#include <string.h>

#include "util/mem.h"

/* Lexer -------------------------------------------------------------------- */

struct cursor {
	const char *p, *end;
	uint32_t line;
};

static int is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static int is_letter(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static size_t newline_at(const char *p, const char *end)
{
	if (p < end && *p == '\n')
		return 1;
	if (p < end && *p == '\r')
		return p + 1 < end && p[1] == '\n' ? 2 : 1;
	return 0;
}

/* The byte that counts at or behind the cursor, -1 at the end. */
static int peek(struct cursor *c)
{
	size_t n;
	while (c->p < c->end && *c->p == '\\' && (n = newline_at(c->p + 1, c->end))) {
		c->p += 1 + n;
		c->line++;
	}
	return c->p < c->end ? (unsigned char)*c->p : -1;
}

/* The byte behind the one at the cursor; *after stands on it. */
static int peek_next(const struct cursor *c, struct cursor *after)
{
	*after = *c;
	after->p++;
	return peek(after);
}

static void skip_line_comment(struct cursor *c)
{
	while (peek(c) >= 0 && !newline_at(c->p, c->end))
		c->p++;
}

/* Returns 0 when the text ends before the comment does. */
static int skip_block_comment(struct cursor *c)
{
	struct cursor next;
	int byte;
	while ((byte = peek(c)) >= 0) {
		if (byte == '*' && peek_next(c, &next) == '/') {
			*c = next;
			c->p++;
			return 1;
		}
		size_t n = newline_at(c->p, c->end);
		c->line += n > 0;
		c->p += n ? n : 1;
	}
	return 0;
}

/* Moves behind the digits and letters that may belong to a word. */
static void take_word(struct cursor *c)
{
	struct cursor next;
	int byte;
	while (is_letter(byte = peek_next(c, &next)) || is_digit(byte))
		*c = next;
	c->p++;
}

/*
 * Digits, letters and points, as the preprocessor sees numbers; a sign belongs
 * to it behind a decimal exponent only (0xE+1 is a sum).
 */
static void take_number(struct cursor *c)
{
	struct cursor next, digit;
	int is_hex = *c->p == '0' && ((peek_next(c, &next) | 0x20) == 'x');
	for (;;) {
		int was = (unsigned char)*c->p;
		int byte = peek_next(c, &next);
		if (is_digit(byte) || is_letter(byte) || byte == '.')
			*c = next;
		else if (!is_hex && (was | 0x20) == 'e' && (byte == '+' || byte == '-') &&
		    is_digit(peek_next(&next, &digit)))
			*c = digit;
		else
			break;
	}
	c->p++;
}

static void take_punct(struct cursor *c)
{
	struct cursor second, third;
	int a = (unsigned char)*c->p;
	int b = peek_next(c, &second);
	if ((a == '<' || a == '>') && b == a && peek_next(&second, &third) == '=')
		*c = third;
	else if (b >= 0 &&
	    ((b == '=' && strchr("+-*/%<>=!&|^", a)) ||
		(b == a && strchr("+-<>&|^#", a))))
		*c = second;
	c->p++;
}

static void add_token(struct glsl *g, enum glsl_kind kind, const struct cursor *from,
    const struct cursor *to, int is_directive, int is_spaced)
{
	g->token = array_grow(g->token, g->ntoken, &g->cap, sizeof *g->token);
	g->token[g->ntoken++] = (struct glsl_token){
		.at = (uint32_t)(from->p - g->text),
		.len = (uint32_t)(to->p - from->p),
		.line = from->line,
		.kind = (unsigned char)kind,
		.is_directive = (unsigned char)is_directive,
		.is_spaced = (unsigned char)is_spaced,
	};
}

void glsl_lex(struct glsl *g, const char *text, size_t n)
{
	if (n >= UINT32_MAX)
		BUG("a GLSL text of %zu bytes", n);
	*g = (struct glsl){ .text = text, .ntext = n };
	struct cursor c = { text, text + n, 1 }, next;
	int is_spaced = 0, is_directive = 0, is_line_start = 1;
	int byte;
	while ((byte = peek(&c)) >= 0) {
		size_t newline = newline_at(c.p, c.end);
		if (newline) {
			if (is_directive)
				add_token(g, GLSL_LINE_END, &c, &c, 1, is_spaced);
			c.p += newline;
			c.line++;
			is_directive = 0;
			is_line_start = is_spaced = 1;
			continue;
		}
		if (byte == ' ' || (byte >= '\t' && byte <= '\f')) {
			c.p++;
			is_spaced = 1;
			continue;
		}
		if (byte == '/') {
			int second = peek_next(&c, &next);
			if (second == '/' || second == '*') {
				struct cursor start = c, mark;
				c = next;
				c.p++;
				mark = c;
				if (second == '/')
					skip_line_comment(&c);
				else if (!skip_block_comment(&c))
					add_token(g, GLSL_PUNCT, &start, &mark,
					    is_directive, is_spaced);
				is_spaced = 1;
				continue;
			}
		}
		struct cursor from = c;
		enum glsl_kind kind = GLSL_PUNCT;
		if (is_letter(byte)) {
			kind = GLSL_WORD;
			take_word(&c);
		} else if (is_digit(byte) ||
		    (byte == '.' && is_digit(peek_next(&c, &next)))) {
			kind = GLSL_NUMBER;
			take_number(&c);
		} else if (byte == '#' && is_line_start) {
			kind = GLSL_HASH;
			is_directive = 1;
			c.p++;
		} else {
			take_punct(&c);
		}
		add_token(g, kind, &from, &c, is_directive, is_spaced);
		is_spaced = is_line_start = 0;
	}
	if (is_directive)
		add_token(g, GLSL_LINE_END, &c, &c, 1, is_spaced);
	g->is_kept = xmalloc(g->ntoken + 1);
	memset(g->is_kept, 1, g->ntoken + 1);
}

void glsl_release(struct glsl *g)
{
	if (!g)
		return;
	free(g->token);
	free(g->is_kept);
	*g = (struct glsl){ 0 };
}

/* Tokens ------------------------------------------------------------------- */

const char *glsl_token_text(const struct glsl *g, size_t token, struct buf *scratch,
    size_t *n)
{
	const struct glsl_token *t = &g->token[token];
	const char *text = g->text + t->at;
	if (t->len < 2 || !memchr(text, '\\', t->len)) {
		*n = t->len;
		return text;
	}
	buf_reset(scratch);
	struct cursor c = { text, text + t->len, 1 };
	int byte;
	while ((byte = peek(&c)) >= 0) {
		buf_addch(scratch, (char)byte);
		c.p++;
	}
	*n = scratch->len;
	return scratch->data;
}

int glsl_is(const struct glsl *g, size_t token, const char *word)
{
	if (token >= g->ntoken || g->token[token].kind == GLSL_LINE_END)
		return 0;
	size_t nword = strlen(word);
	const struct glsl_token *t = &g->token[token];
	if (t->len < nword)
		return 0;
	if (t->len == nword)
		return memcmp(g->text + t->at, word, nword) == 0;
	if (g->text[t->at] != word[0])
		return 0;
	struct buf scratch = BUF_INIT;
	size_t n;
	const char *text = glsl_token_text(g, token, &scratch, &n);
	int is_equal = n == nword && memcmp(text, word, n) == 0;
	buf_release(&scratch);
	return is_equal;
}

int glsl_mentions(const struct glsl *g, const char *word, int kept_only)
{
	for (size_t i = 0; i < g->ntoken; i++)
		if ((!kept_only || g->is_kept[i]) && glsl_is(g, i, word))
			return 1;
	return 0;
}

int glsl_knows_lines(const struct glsl *g)
{
	return glsl_mentions(g, "__LINE__", 0) || glsl_mentions(g, "__FILE__", 0);
}

void glsl_uniforms(const struct glsl *g, struct map *names)
{
	struct buf scratch = BUF_INIT;
	int depth = 0, nesting = 0, is_uniform = 0;
	for (size_t i = 0; i < g->ntoken; i++) {
		const struct glsl_token *t = &g->token[i];
		if (t->is_directive)
			continue;
		if (t->kind == GLSL_PUNCT && t->len == 1) {
			char c = g->text[t->at];
			if (c == '{')
				depth++;
			else if (c == '}')
				depth -= depth > 0;
			else if (c == '(' || c == '[')
				nesting++;
			else if (c == ')' || c == ']')
				nesting -= nesting > 0;
			else if (c == ';' && !depth)
				is_uniform = nesting = 0;
			continue;
		}
		if (depth || nesting || t->kind != GLSL_WORD)
			continue;
		if (glsl_is(g, i, "uniform")) {
			is_uniform = 1;
		} else if (is_uniform) {
			size_t n, next = i + 1;
			while (next < g->ntoken && g->token[next].is_directive)
				next++;
			if (!glsl_is(g, next, ";") && !glsl_is(g, next, ",") &&
			    !glsl_is(g, next, "[") && !glsl_is(g, next, "="))
				continue;
			const char *name = glsl_token_text(g, i, &scratch, &n);
			map_put(names, name, n, 1);
		}
	}
	buf_release(&scratch);
}

/* Functions ---------------------------------------------------------------- */

struct scan {               /* where in a top-level declaration we are */
	size_t first;       /* its first token */
	int is_open;        /* first is valid */
	int is_cut;         /* by a directive, before its braces */
	size_t open, close; /* its first parentheses at the top */
	size_t function;    /* index + 1 of the function whose body we are in */
	int depth, nesting; /* of braces, of parentheses */
};

struct scans {
	struct scan *scan;
	size_t nscan, cap;
};

static int is_head(const struct glsl *g, const struct scan *s, size_t end)
{
	if (!s->is_open || s->is_cut || !s->open || s->close + 1 != end ||
	    s->open < s->first + 2 || g->token[s->open - 1].kind != GLSL_WORD)
		return 0;
	for (size_t i = s->first; i + 1 < s->open; i++)
		if (g->token[i].kind == GLSL_PUNCT && !glsl_is(g, i, "[") &&
		    !glsl_is(g, i, "]"))
			return 0;
	return !glsl_is(g, s->first, "struct");
}

int glsl_functions(const struct glsl *g, struct glsl_function **out, size_t *n)
{
	struct glsl_function *list = NULL;
	size_t nlist = 0, cap = 0;
	struct scan s = { 0 };
	struct scans branch = { 0 }; /* the state at each open #if */
	int is_plain = 1;
	int macro_depth = 0; /* braces within the directive */
	for (size_t i = 0; i < g->ntoken; i++) {
		const struct glsl_token *t = &g->token[i];
		char c = t->kind == GLSL_PUNCT && t->len == 1 ? g->text[t->at] : 0;
		if (t->is_directive) {
			if (s.is_open && !s.depth)
				s.is_cut = 1;
			if (t->kind == GLSL_HASH)
				macro_depth = 0;
			macro_depth += (c == '{' || c == '(') - (c == '}' || c == ')');
			if (macro_depth < 0 || (t->kind == GLSL_LINE_END && macro_depth))
				is_plain = 0;
			if (t->kind != GLSL_HASH)
				continue;
			if (glsl_is(g, i + 1, "if") || glsl_is(g, i + 1, "ifdef") ||
			    glsl_is(g, i + 1, "ifndef")) {
				branch.scan = array_grow(branch.scan, branch.nscan,
				    &branch.cap, sizeof *branch.scan);
				branch.scan[branch.nscan++] = s;
				continue;
			}
			int is_end = glsl_is(g, i + 1, "endif");
			if (!is_end && !glsl_is(g, i + 1, "else") &&
			    !glsl_is(g, i + 1, "elif"))
				continue;
			if (!branch.nscan) {
				is_plain = 0;
				continue;
			}
			const struct scan *start = &branch.scan[branch.nscan - 1];
			if (s.depth != start->depth || s.nesting != start->nesting)
				is_plain = 0;
			if (is_end)
				branch.nscan--;
			else
				s = *start;
			continue;
		}
		if (!s.is_open)
			s = (struct scan){ .first = i, .is_open = 1 };
		switch (c) {
		case '(':
			if (!s.depth && !s.nesting && !s.open)
				s.open = i;
			s.nesting++;
			break;
		case ')':
			if (!s.nesting) {
				is_plain = 0;
				break;
			}
			s.nesting--;
			if (!s.depth && !s.nesting && !s.close)
				s.close = i;
			break;
		case '{':
			if (!s.depth && !s.nesting && is_head(g, &s, i)) {
				list = array_grow(list, nlist, &cap, sizeof *list);
				list[nlist++] = (struct glsl_function){
					s.first,
					s.open - 1,
					s.open,
					s.close,
					i,
					0,
				};
				s.function = nlist;
			}
			s.depth++;
			break;
		case '}':
			if (!s.depth || (s.depth == 1 && s.nesting))
				is_plain = 0;
			s.depth -= s.depth > 0;
			if (branch.nscan && s.depth < branch.scan[branch.nscan - 1].depth)
				is_plain = 0;
			if (s.depth)
				break;
			if (s.function)
				list[s.function - 1].last = i;
			s = (struct scan){ 0 };
			break;
		case ';':
			if (s.depth || s.nesting)
				break;
			if (is_head(g, &s, i)) {
				list = array_grow(list, nlist, &cap, sizeof *list);
				list[nlist++] = (struct glsl_function){
					s.first,
					s.open - 1,
					s.open,
					s.close,
					0,
					i,
				};
			}
			s = (struct scan){ 0 };
			break;
		default:
			break;
		}
	}
	if (s.depth || s.nesting || branch.nscan)
		is_plain = 0;
	free(branch.scan);
	*out = list;
	*n = nlist;
	return is_plain;
}

struct drop {
	struct glsl *g;
	struct glsl_function *function;
	size_t nfunction;
	size_t *next;    /* index + 1 of the next function of that name */
	struct map name; /* to index + 1 of the first; 0 once they are kept */
	size_t *work;    /* functions whose tokens are to be read */
	size_t nwork;
	struct buf scratch;
};

/* Keeps the functions of that name, if they were dropped so far. */
static void keep(struct drop *d, const char *name, size_t n)
{
	size_t i = map_get(&d->name, name, n);
	if (i == MAP_NONE || !i)
		return;
	map_put(&d->name, name, n, 0);
	for (; i; i = d->next[i - 1])
		d->work[d->nwork++] = i - 1;
}

static void keep_mentioned(struct drop *d, size_t first, size_t last)
{
	for (size_t i = first; i < last; i++) {
		if (!d->g->is_kept[i] || d->g->token[i].kind != GLSL_WORD)
			continue;
		size_t n;
		const char *text = glsl_token_text(d->g, i, &d->scratch, &n);
		keep(d, text, n);
	}
}

void glsl_drop_unused(struct glsl *g, const char *root)
{
	struct drop d = { .g = g };
	struct map macro = MAP_INIT;
	size_t n;
	if (!glsl_functions(g, &d.function, &d.nfunction))
		goto out;
	for (size_t i = 0; i < g->ntoken; i++) {
		if (glsl_is(g, i, "##"))
			goto out;
		if (g->token[i].kind == GLSL_HASH && glsl_is(g, i + 1, "define") &&
		    g->token[i + 2].kind == GLSL_WORD) {
			const char *text = glsl_token_text(g, i + 2, &d.scratch, &n);
			map_put(&macro, text, n, 1);
		}
	}
	d.next = xcalloc(d.nfunction + 1, sizeof *d.next);
	d.work = xcalloc(d.nfunction + 1, sizeof *d.work);
	for (size_t f = 0; f < d.nfunction; f++) {
		struct glsl_function *fn = &d.function[f];
		int is_sure = 1;
		const char *text;
		for (size_t i = fn->first; i <= fn->close && is_sure; i++) {
			if (g->token[i].kind != GLSL_WORD)
				continue;
			text = glsl_token_text(g, i, &d.scratch, &n);
			is_sure = map_get(&macro, text, n) == MAP_NONE;
		}
		if (!is_sure)
			continue;
		text = glsl_token_text(g, fn->name, &d.scratch, &n);
		size_t first = map_get(&d.name, text, n);
		d.next[f] = first == MAP_NONE ? 0 : first;
		map_put(&d.name, text, n, f + 1);
		for (size_t i = fn->first; i <= fn->last; i++)
			g->is_kept[i] = g->token[i].is_directive;
	}
	keep(&d, root, strlen(root));
	keep_mentioned(&d, 0, g->ntoken);
	while (d.nwork) {
		struct glsl_function *fn = &d.function[d.work[--d.nwork]];
		memset(g->is_kept + fn->first, 1, fn->last - fn->first + 1);
		keep_mentioned(&d, fn->first, fn->last);
	}
out:
	buf_release(&d.scratch);
	map_release(&macro);
	map_release(&d.name);
	free(d.next);
	free(d.work);
	free(d.function);
}

/* Canonical form ----------------------------------------------------------- */

void glsl_add_token(const struct glsl *g, size_t i, struct buf *scratch, struct buf *out)
{
	const struct glsl_token *t = &g->token[i];
	if (t->kind == GLSL_LINE_END) {
		buf_addch(out, '\n');
		return;
	}
	/* Separators are white space, which is in no token. */
	size_t n;
	const char *text = glsl_token_text(g, i, scratch, &n);
	buf_add(out, text, n);
	int is_macro_name = i >= 2 && t->kind == GLSL_WORD &&
	    g->token[i - 2].kind == GLSL_HASH && glsl_is(g, i - 1, "define");
	int has_parameters =
	    is_macro_name && glsl_is(g, i + 1, "(") && !g->token[i + 1].is_spaced;
	buf_addch(out, has_parameters ? '\t' : ' ');
}

void glsl_canonical(const struct glsl *g, int kept_only, struct buf *out)
{
	if (glsl_knows_lines(g)) {
		buf_addstr(out, "raw\n");
		buf_add(out, g->text, g->ntext);
		return;
	}
	struct buf scratch = BUF_INIT;
	buf_addstr(out, "tokens\n");
	for (size_t i = 0; i < g->ntoken; i++) {
		const struct glsl_token *t = &g->token[i];
		if (t->kind == GLSL_HASH && glsl_is(g, i + 1, "line")) {
			while (g->token[i].kind != GLSL_LINE_END)
				i++;
			continue;
		}
		if (kept_only && !g->is_kept[i])
			continue;
		glsl_add_token(g, i, &scratch, out);
	}
	buf_release(&scratch);
}

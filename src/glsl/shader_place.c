#include "shader_place.h"

#include <stdlib.h>
#include <string.h>

#include "util/map.h"
#include "util/mem.h"

static int place_of_byte(const struct glsl *g, const struct source *source, size_t at,
    int text_line, struct place *out)
{
	size_t start = at;
	while (start && g->text[start - 1] != '\n')
		start--;
	out->column = (int)(at - start) + 1;
	return source_place(source, text_line, &out->file, &out->line);
}

static int place_of_token(const struct glsl *g, const struct source *source, size_t token,
    struct place *out)
{
	return place_of_byte(g, source, g->token[token].at, (int)g->token[token].line,
	    out);
}

/* What messages name ------------------------------------------------------- */

static int is_word_byte(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	    (c >= 'A' && c <= 'Z') || c == '_';
}

/* The name in the quotes at *at: "x", or "f" of "int f(int)". 0 when none. */
static size_t quoted_name(const char *text, size_t n, size_t *at, const char **name)
{
	while (*at < n && !strchr("`'\"", text[*at]))
		(*at)++;
	size_t from = ++*at, end = from;
	while (end < n && !strchr("'\"(", text[end]))
		end++;
	if (from >= n || end >= n)
		return 0;
	size_t start = end;
	while (start > from && is_word_byte(text[start - 1]))
		start--;
	while (*at < n && !strchr("'\"", text[*at]))
		(*at)++;
	++*at;
	*name = text + start;
	return end - start;
}

static int is_named(const struct glsl *g, size_t token, const char *name, size_t n)
{
	const struct glsl_token *t = &g->token[token];
	return t->kind == GLSL_WORD && t->len == n &&
	    memcmp(g->text + t->at, name, n) == 0;
}

/* A function's name where it is defined; the number of tokens when nowhere. */
static size_t find_definition(const struct glsl *g, const char *name, size_t n)
{
	struct glsl_function *f;
	size_t nf, found = g->ntoken;
	glsl_functions(g, &f, &nf);
	for (size_t i = nf; i-- > 0;)
		if (f[i].body && is_named(g, f[i].name, name, n))
			found = f[i].name;
	free(f);
	return found;
}

static size_t find_call(const struct glsl *g, const char *name, size_t n)
{
	for (size_t i = 1; i < g->ntoken; i++)
		if (is_named(g, i, name, n) && glsl_is(g, i + 1, "(") &&
		    (g->token[i - 1].kind != GLSL_WORD || glsl_is(g, i - 1, "return") ||
			glsl_is(g, i - 1, "else")))
			return i;
	return g->ntoken;
}

static size_t find_mention(const struct glsl *g, const char *name, size_t n)
{
	for (size_t i = 0; i < g->ntoken; i++)
		if (is_named(g, i, name, n))
			return i;
	return g->ntoken;
}

static int has_words(const char *text, size_t n, const char *words)
{
	size_t nwords = strlen(words);
	for (size_t i = 0; i + nwords <= n; i++)
		if (strncmp(text + i, words, nwords) == 0)
			return 1;
	return 0;
}

/* The uniform of the largest array, else the first. */
static size_t find_uniforms(const struct glsl *g)
{
	size_t found = g->ntoken;
	long most = -1;
	for (size_t i = 0; i < g->ntoken; i++) {
		if (!glsl_is(g, i, "uniform") || g->token[i].is_directive)
			continue;
		long count = 0;
		for (size_t k = i; k + 1 < g->ntoken && !glsl_is(g, k, ";"); k++)
			if (glsl_is(g, k, "[") && g->token[k + 1].kind == GLSL_NUMBER)
				count = atol(g->text + g->token[k + 1].at);
		if (count > most) {
			most = count;
			found = i;
		}
	}
	return found;
}

int place_of_message(const struct glsl *g, const struct source *source, const char *entry,
    const char *text, size_t n, struct place *out)
{
	size_t token = g->ntoken, at = 0;
	int is_recursion = has_words(text, n, "recursi");
	int is_unresolved =
	    has_words(text, n, "unresolved") || has_words(text, n, "undefined");
	while (at < n && token == g->ntoken) {
		const char *name;
		size_t nname = quoted_name(text, n, &at, &name);
		if (!nname)
			continue;
		if (is_recursion)
			token = find_definition(g, name, nname);
		else if (is_unresolved)
			token = find_call(g, name, nname);
		if (token == g->ntoken)
			token = find_mention(g, name, nname);
	}
	if (token == g->ntoken && has_words(text, n, "uniform"))
		token = find_uniforms(g);
	if (token == g->ntoken)
		token = find_definition(g, entry, strlen(entry));
	if (token == g->ntoken)
		token = find_mention(g, entry, strlen(entry));
	return token == g->ntoken ? -1 : place_of_token(g, source, token, out);
}

/* Characters --------------------------------------------------------------- */

static const struct {
	unsigned long first, last;
	const char *name;
} character[] = {
	{ 0x0000, 0x001f, "control character" },
	{ 0x007f, 0x009f, "control character" },
	{ 0x00a0, 0x00a0, "no-break space" },
	{ 0x00ad, 0x00ad, "soft hyphen" },
	{ 0x00b4, 0x00b4, "acute accent" },
	{ 0x00d7, 0x00d7, "multiplication sign" },
	{ 0x00f7, 0x00f7, "division sign" },
	{ 0x034f, 0x034f, "combining grapheme joiner" },
	{ 0x037e, 0x037e, "Greek question mark" },
	{ 0x061c, 0x061c, "direction mark" },
	{ 0x1680, 0x1680, "space of a different width" },
	{ 0x180e, 0x180e, "Mongolian vowel separator" },
	{ 0x2000, 0x200a, "space of a different width" },
	{ 0x200b, 0x200b, "zero width space" },
	{ 0x200c, 0x200c, "zero width non-joiner" },
	{ 0x200d, 0x200d, "zero width joiner" },
	{ 0x200e, 0x200f, "direction mark" },
	{ 0x2010, 0x2015, "hyphen or dash" },
	{ 0x2018, 0x201f, "curly quote" },
	{ 0x2024, 0x2026, "ellipsis" },
	{ 0x2028, 0x2028, "line separator" },
	{ 0x2029, 0x2029, "paragraph separator" },
	{ 0x202a, 0x202e, "direction mark" },
	{ 0x202f, 0x202f, "narrow no-break space" },
	{ 0x205f, 0x205f, "space of a different width" },
	{ 0x2060, 0x2060, "word joiner" },
	{ 0x2061, 0x2064, "invisible operator" },
	{ 0x2066, 0x206f, "direction mark" },
	{ 0x2212, 0x2212, "minus sign" },
	{ 0x2215, 0x2215, "division slash" },
	{ 0x2217, 0x2217, "asterisk operator" },
	{ 0x2800, 0x2800, "blank pattern" },
	{ 0x3000, 0x3000, "ideographic space" },
	{ 0x3164, 0x3164, "blank letter" },
	{ 0xfe00, 0xfe0f, "variation selector" },
	{ 0xfeff, 0xfeff, "byte order mark" },
	{ 0xff01, 0xff5e, "full-width form" },
	{ 0xffa0, 0xffa0, "blank letter" },
	{ 0xe0000, 0xe0fff, "invisible tag" },
};

/* The UTF-8 sequence at s, which is valid; *n bytes. */
static unsigned long code_at(const char *s, size_t *n)
{
	unsigned char c = (unsigned char)*s;
	*n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
	unsigned long code = *n == 1 ? c : c & (0x7fu >> *n);
	for (size_t i = 1; i < *n; i++)
		code = code << 6 | ((unsigned char)s[i] & 0x3f);
	return code;
}

/* GLSL 4.30, 3.1: what may stand outside of comments. */
static int is_odd(const struct glsl *g, size_t token)
{
	const struct glsl_token *t = &g->token[token];
	unsigned char c = (unsigned char)g->text[t->at];
	return t->kind == GLSL_PUNCT &&
	    (c < ' ' || c >= 0x7f || strchr("$@`\"'", (char)c) ||
		(c == '\\' && t->len == 1));
}

static void describe(const struct glsl *g, size_t token, struct buf *words)
{
	size_t n, at = g->token[token].at;
	unsigned long code = code_at(g->text + at, &n);
	const char *name = NULL;
	for (size_t i = 0; i < sizeof character / sizeof *character; i++)
		if (code >= character[i].first && code <= character[i].last)
			name = character[i].name;
	buf_addf(words, "U+%04lX", code);
	if (name)
		buf_addf(words, " (%s)", name);
	if (code > ' ' && code != 0x7f &&
	    (!name || code >= 0xff01 || (code >= 0x2010 && code <= 0x2026) ||
		code == 0x2212)) {
		buf_addstr(words, " '");
		buf_add(words, g->text + at, n);
		buf_addstr(words, "'");
	}
	buf_addstr(words, ": a character that GLSL does not have");
	if (code >= 0xff01 && code <= 0xff5e)
		buf_addf(words, "; write '%c'", (char)(code - 0xff01 + '!'));
	else if (name && !strstr(name, "zero") &&
	    (strstr(name, "space") || strstr(name, "blank")))
		buf_addstr(words, "; write a space");
	else if (code == 0x2212 || (code >= 0x2010 && code <= 0x2015))
		buf_addstr(words, "; write '-'");
	else if (name && code >= 0x7f)
		buf_addstr(words, "; remove it");
}

/* Names of the macros that hold the token, if a #define does. */
static int is_in_macro(const struct glsl *g, size_t token, size_t *name)
{
	while (token && g->token[token].is_directive && g->token[token].kind != GLSL_HASH)
		token--;
	*name = token + 2;
	return g->token[token].kind == GLSL_HASH && glsl_is(g, token + 1, "define") &&
	    *name < g->ntoken;
}

static int line_mentions(const struct glsl *g, int text_line, size_t name)
{
	const struct glsl_token *t = &g->token[name];
	for (size_t i = 0; i < g->ntoken; i++)
		if ((int)g->token[i].line == text_line && i != name &&
		    is_named(g, i, g->text + t->at, t->len))
			return 1;
	return 0;
}

int place_of_odd_character(const struct glsl *g, const struct source *source,
    int text_line, struct place *out, struct buf *words)
{
	for (size_t i = 0; i < g->ntoken; i++) {
		if (!is_odd(g, i))
			continue;
		size_t name;
		if (text_line && (int)g->token[i].line != text_line &&
		    !(g->token[i].is_directive && is_in_macro(g, i, &name) &&
			line_mentions(g, text_line, name)))
			continue;
		if (place_of_token(g, source, i, out))
			continue;
		describe(g, i, words);
		return 0;
	}
	return -1;
}

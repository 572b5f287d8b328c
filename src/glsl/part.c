#include "glsl/part.h"

#include <stdlib.h>
#include <string.h>

#include "util/map.h"
#include "util/mem.h"

#define TEXT_MAX 60 /* of a macro that is shown as it stands */

struct finder {
	const struct preprocess *p;
	const struct glsl *g; /* its raw tokens */
	const struct source *source;
	size_t *function;       /* a raw token each: index + 1 of the one it is in */
	size_t *name;           /* a function each: the raw token */
	unsigned char *is_used; /* a function each */
	unsigned char *is_macro_used;
	size_t macro; /* of those, the next one in the text */
	struct part *part;
	struct buf *tokens; /* a part each */
	size_t npart, cap, tokens_cap;
	struct map index; /* kind, file and name, to the index of part */
	struct buf scratch, key;
	/* Of the text behind the last seam. */
	size_t file;
	int line, text_line;
};

/* Functions among the tokens that are compiled, by raw tokens. */
static void find_functions(struct finder *f)
{
	const struct glsl *g = f->g;
	struct glsl active = { .text = g->text, .ntext = g->ntext };
	size_t *raw = xcalloc(g->ntoken + 1, sizeof *raw), nfunction = 0;
	struct glsl_function *function;
	active.token = xcalloc(g->ntoken + 1, sizeof *active.token);
	for (size_t i = 0; i < g->ntoken; i++) {
		if (!f->p->is_active[i] || g->token[i].is_directive)
			continue;
		raw[active.ntoken] = i;
		active.token[active.ntoken++] = g->token[i];
	}
	if (!glsl_functions(&active, &function, &nfunction))
		nfunction = 0;
	f->name = xcalloc(nfunction + 1, sizeof *f->name);
	f->is_used = xcalloc(nfunction + 1, 1);
	f->function = xcalloc(g->ntoken + 1, sizeof *f->function);
	for (size_t k = 0; k < nfunction; k++) {
		f->name[k] = raw[function[k].name];
		for (size_t i = raw[function[k].first]; i <= raw[function[k].last]; i++)
			f->function[i] = k + 1;
	}
	free(function);
	free(active.token);
	free(raw);
}

static void find_used(struct finder *f)
{
	const struct preprocess *p = f->p;
	for (size_t i = 0; i < p->code.ntoken; i++) {
		size_t in = f->function[p->origin[i]];
		if (in && p->code.is_kept[i])
			f->is_used[in - 1] = 1;
	}
	f->is_macro_used = xcalloc(p->nmacro + 1, 1);
	for (size_t i = 0; i < p->nuse; i++) {
		size_t in = f->function[p->use[i].raw];
		if (!in || f->is_used[in - 1])
			f->is_macro_used[p->use[i].macro] = 1;
	}
}

/* The macro that the directive defines; asked in the order of the text. */
static int is_used_macro(struct finder *f, size_t hash)
{
	const struct preprocess *p = f->p;
	while (f->macro < p->nmacro && p->macro[f->macro].raw < hash)
		f->macro++;
	return f->macro == p->nmacro || p->macro[f->macro].raw != hash ||
	    f->is_macro_used[f->macro];
}

/* "#line N S", which is ours: what follows is line N of file S. */
static void note_seam(struct finder *f, size_t hash)
{
	const struct glsl *g = f->g;
	if (hash + 3 >= g->ntoken || !glsl_is(g, hash + 1, "line") ||
	    g->token[hash + 2].kind != GLSL_NUMBER ||
	    g->token[hash + 3].kind != GLSL_NUMBER)
		return;
	f->line = atoi(g->text + g->token[hash + 2].at);
	f->file = (size_t)atoi(g->text + g->token[hash + 3].at);
	f->text_line = (int)g->token[hash].line + 1;
}

static size_t find_part(struct finder *f, enum part_kind kind, int is_used, size_t name,
    size_t token)
{
	const char *text = "";
	size_t n = 0;
	const char *file = f->file < f->source->nfile ? f->source->file[f->file] : "";
	if (kind != PART_REST)
		text = glsl_token_text(f->g, name, &f->scratch, &n);
	buf_reset(&f->key);
	buf_addf(&f->key, "%d %d %zu ", (int)kind, is_used, f->file);
	buf_add(&f->key, text, n);
	size_t at = map_get(&f->index, f->key.data, f->key.len);
	if (at != MAP_NONE)
		return at;
	map_put(&f->index, f->key.data, f->key.len, f->npart);
	f->part = array_grow(f->part, f->npart, &f->cap, sizeof *f->part);
	f->tokens = array_grow(f->tokens, f->npart, &f->tokens_cap, sizeof *f->tokens);
	f->tokens[f->npart] = (struct buf)BUF_INIT;
	f->part[f->npart] = (struct part){
		.kind = kind,
		.is_used = is_used,
		.name = xstrndup(text, n),
		.file = xstrdup(file),
		.line = f->line + (int)f->g->token[token].line - f->text_line,
	};
	return f->npart++;
}

/* Index of the token behind a directive. */
static size_t directive_end(const struct glsl *g, size_t hash)
{
	while (hash < g->ntoken && g->token[hash].kind != GLSL_LINE_END)
		hash++;
	return hash < g->ntoken ? hash + 1 : hash;
}

static void add_tokens(struct finder *f, size_t part, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		glsl_add_token(f->g, i, &f->scratch, &f->tokens[part]);
}

static void read_directive(struct finder *f, size_t hash, size_t end)
{
	const struct glsl *g = f->g;
	int is_macro = glsl_is(g, hash + 1, "define") && hash + 2 < end &&
	    g->token[hash + 2].kind == GLSL_WORD;
	size_t part = is_macro
	    ? find_part(f, PART_MACRO, is_used_macro(f, hash), hash + 2, hash)
	    : find_part(f, PART_REST, 1, hash, hash);
	struct buf *tokens = &f->tokens[part];
	size_t body = tokens->len;
	/* What an #ifdef chooses from may be defined twice. */
	int is_first = tokens->len == 0;
	add_tokens(f, part, is_macro ? hash + 2 : hash, end);
	if (!is_macro)
		return;
	struct part *p = &f->part[part];
	free(p->text);
	p->text = NULL;
	size_t skip = body + strlen(p->name) + 1;
	if (!is_first || skip > tokens->len || tokens->len - skip > TEXT_MAX)
		return;
	p->text = xstrndup(tokens->data + skip, tokens->len - skip);
	p->text[strcspn(p->text, "\n")] = '\0';
	size_t n = strlen(p->text);
	while (n > 0 && p->text[n - 1] == ' ')
		p->text[--n] = '\0';
}

/* Directives whose meaning is in what they let through. */
static int is_condition(const struct glsl *g, size_t hash)
{
	static const char *const word[] = { "if", "ifdef", "ifndef", "elif", "else",
		"endif", "version" };
	for (size_t i = 0; i < sizeof word / sizeof *word; i++)
		if (glsl_is(g, hash + 1, word[i]))
			return 1;
	return g->token[hash + 1].kind == GLSL_LINE_END;
}

void parts_find(const struct preprocess *p, const struct source *source,
    struct part **out, size_t *n)
{
	const struct glsl *g = &p->raw;
	struct finder f = { .p = p, .g = g, .source = source, .line = 1, .text_line = 1 };
	find_functions(&f);
	find_used(&f);
	for (size_t i = 0; i < g->ntoken;) {
		const struct glsl_token *t = &g->token[i];
		size_t in = f.function[i];
		if (t->kind == GLSL_HASH) {
			size_t end = directive_end(g, i);
			if (glsl_is(g, i + 1, "line"))
				note_seam(&f, i);
			else if (p->is_active[i] && !is_condition(g, i))
				read_directive(&f, i, end);
			i = end;
			continue;
		}
		if (p->is_active[i]) {
			size_t part = in ? find_part(&f, PART_FUNCTION, f.is_used[in - 1],
					       f.name[in - 1], i)
					 : find_part(&f, PART_REST, 1, i, i);
			add_tokens(&f, part, i, i + 1);
		}
		i++;
	}
	for (size_t i = 0; i < f.npart; i++) {
		sha256_of(buf_str(&f.tokens[i]), f.tokens[i].len, &f.part[i].sha);
		buf_release(&f.tokens[i]);
	}
	free(f.tokens);
	free(f.function);
	free(f.name);
	free(f.is_used);
	free(f.is_macro_used);
	map_release(&f.index);
	buf_release(&f.scratch);
	buf_release(&f.key);
	*out = f.part;
	*n = f.npart;
}

void parts_free(struct part *part, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(part[i].name);
		free(part[i].file);
		free(part[i].text);
	}
	free(part);
}

#include "glsl/part.h"

#include <stdlib.h>
#include <string.h>

#include "util/map.h"
#include "util/mem.h"

#define TEXT_MAX 60	/* of a macro that is shown as it stands */

struct finder {
	const struct glsl *g;
	const struct source *source;
	size_t *function;	/* a token each: index + 1 of the one it is in */
	struct part *part;
	struct buf *tokens;	/* a part each */
	size_t npart, cap, tokens_cap;
	struct map index;	/* kind, file and name, to the index of part */
	struct buf scratch, key;
	/* Of the text behind the last seam. */
	size_t file;
	int line, text_line;
};

/* "#line N S", which is ours: what follows is line N of file S. */
static void note_seam(struct finder *f, size_t hash)
{
	const struct glsl *g = f->g;
	if (hash + 3 >= g->ntoken || !glsl_is(g, hash + 1, "line")
		|| g->token[hash + 2].kind != GLSL_NUMBER
		|| g->token[hash + 3].kind != GLSL_NUMBER)
		return;
	f->line = atoi(g->text + g->token[hash + 2].at);
	f->file = (size_t)atoi(g->text + g->token[hash + 3].at);
	f->text_line = (int)g->token[hash].line + 1;
}

static size_t find_part(struct finder *f, enum part_kind kind, size_t name,
	size_t token)
{
	const char *text = "";
	size_t n = 0;
	const char *file = f->file < f->source->nfile
		? f->source->file[f->file] : "";
	if (kind != PART_REST)
		text = glsl_token_text(f->g, name, &f->scratch, &n);
	int is_used = f->g->is_kept[name];
	buf_reset(&f->key);
	buf_addf(&f->key, "%d %d %zu ", (int)kind, is_used, f->file);
	buf_add(&f->key, text, n);
	size_t at = map_get(&f->index, f->key.data, f->key.len);
	if (at != MAP_NONE)
		return at;
	map_put(&f->index, f->key.data, f->key.len, f->npart);
	f->part = array_grow(f->part, f->npart, &f->cap, sizeof *f->part);
	f->tokens = array_grow(f->tokens, f->npart, &f->tokens_cap,
		sizeof *f->tokens);
	f->tokens[f->npart] = (struct buf)BUF_INIT;
	f->part[f->npart] = (struct part) {
		.kind = kind, .is_used = is_used,
		.name = xstrndup(text, n), .file = xstrdup(file),
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
	int is_macro = glsl_is(g, hash + 1, "define") && hash + 2 < end
		&& g->token[hash + 2].kind == GLSL_WORD;
	size_t part = is_macro ? find_part(f, PART_MACRO, hash + 2, hash)
		: find_part(f, PART_REST, hash, hash);
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

void parts_find(const struct glsl *g, const struct source *source,
	struct part **out, size_t *n)
{
	struct finder f = { .g = g, .source = source, .line = 1, .text_line = 1 };
	struct glsl_function *function = NULL;
	size_t nfunction = 0;
	if (!glsl_functions(g, &function, &nfunction))
		nfunction = 0;
	f.function = xcalloc(g->ntoken + 1, sizeof *f.function);
	for (size_t k = 0; k < nfunction; k++)
		for (size_t i = function[k].first; i <= function[k].last; i++)
			f.function[i] = k + 1;
	for (size_t i = 0; i < g->ntoken; ) {
		const struct glsl_token *t = &g->token[i];
		size_t in = f.function[i];
		if (t->kind == GLSL_HASH) {
			size_t end = directive_end(g, i);
			if (glsl_is(g, i + 1, "line"))
				note_seam(&f, i);
			else if (in)
				add_tokens(&f, find_part(&f, PART_FUNCTION,
					function[in - 1].name, i), i, end);
			else
				read_directive(&f, i, end);
			i = end;
			continue;
		}
		size_t part = in ? find_part(&f, PART_FUNCTION,
			function[in - 1].name, i) : find_part(&f, PART_REST, i, i);
		add_tokens(&f, part, i, i + 1);
		i++;
	}
	for (size_t i = 0; i < f.npart; i++) {
		sha256_of(buf_str(&f.tokens[i]), f.tokens[i].len, &f.part[i].sha);
		buf_release(&f.tokens[i]);
	}
	free(f.tokens);
	free(f.function);
	free(function);
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

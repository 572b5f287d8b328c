#include "glsl/shader_rewrite.h"

#include <string.h>

#include "edit.h"
#include "glsl/shader_zero.h"
#include "glsl/word.h"
#include "util/map.h"
#include "util/mem.h"

static size_t line_end(const struct glsl *g, size_t hash)
{
	while (g->token[hash].kind != GLSL_LINE_END)
		hash++;
	return hash;
}

void shader_drop_version(const struct glsl *g, struct buf *out)
{
	size_t at = 0;
	for (size_t i = 0; i < g->ntoken; i++) {
		if (g->token[i].kind != GLSL_HASH || !glsl_is(g, i + 1, "version"))
			continue;
		buf_add(out, g->text + at, g->token[i].at - at);
		at = g->token[i].at;
		for (size_t end = g->token[line_end(g, i)].at; at < end; at++)
			buf_addch(out, g->text[at] == '\n' ? '\n' : ' ');
	}
	buf_add(out, g->text + at, g->ntext - at);
}

/* Words -------------------------------------------------------------------- */

/* Words in layout(...) are names of their own, and those of directives. */
static void find_exempt(const struct glsl *g, unsigned char *is_exempt)
{
	for (size_t i = 0; i < g->ntoken; i++) {
		is_exempt[i] |= g->token[i].is_directive;
		if (!glsl_is(g, i, "layout") || !glsl_is(g, i + 1, "("))
			continue;
		for (; i < g->ntoken && !glsl_is(g, i, ")"); i++)
			is_exempt[i] = 1;
	}
}

/* Which words the text uses for what GLSL means by them. */
static void find_needed(const struct glsl *g, const unsigned char *is_exempt,
    const struct rewrite_options *options, unsigned char *is_needed)
{
	unsigned char *is_named = xcalloc(nword, 1);
	for (size_t i = 0; i < g->ntoken; i++) {
		if (g->token[i].kind != GLSL_WORD || is_exempt[i])
			continue;
		size_t w = word_find(g->text + g->token[i].at, g->token[i].len);
		if (w == nword || words[w].role == WORD_NONE ||
		    words[w].role == WORD_PLAIN)
			continue;
		int is_type = words[w].role == WORD_TYPE;
		if (options->has_storage)
			is_needed[w] = 1;
		if (is_type && i && shader_basic_type(g, i - 1))
			is_named[w] = 1;
		if (i + 1 == g->ntoken)
			continue;
		if (g->token[i + 1].kind == GLSL_WORD || glsl_is(g, i + 1, "{") ||
		    ((is_type || glsl_is(g, i, "subroutine")) && glsl_is(g, i + 1, "(")))
			is_needed[w] = 1;
	}
	for (size_t w = 0; w < nword; w++)
		if (is_named[w])
			is_needed[w] = 0;
	free(is_named);
}

/*
 * Functions of GLSL ES 1.00, desktop GLSL and extensions that ES 3.00 does not
 * have: a user may define them there, but not every compiler knows that.
 */
static int is_foreign_function(const char *name, size_t n)
{
	static const char *const prefix[] = { "texture", "shadow", "noise", "ftransform",
		"textureQuery" };
	static const char *const es_300[] = { "texture", "textureProj", "textureLod",
		"textureOffset", "texelFetch", "texelFetchOffset", "textureProjOffset",
		"textureLodOffset", "textureProjLod", "textureProjLodOffset",
		"textureGrad", "textureGradOffset", "textureProjGrad",
		"textureProjGradOffset", "textureSize" };
	for (size_t i = 0; i < sizeof es_300 / sizeof *es_300; i++)
		if (strlen(es_300[i]) == n && memcmp(es_300[i], name, n) == 0)
			return 0;
	for (size_t i = 0; i < sizeof prefix / sizeof *prefix; i++)
		if (n > strlen(prefix[i]) &&
		    memcmp(prefix[i], name, strlen(prefix[i])) == 0)
			return 1;
	return 0;
}

/* Names of our own that may stand in the text around the user's. */
static int is_generated(const char *name, size_t n)
{
	static const char *const names[] = { "stb_color", "stb_face", "stb_sample",
		"stb_width", "stb_r", ZERO_FUNCTION };
	if (n > 5 && (memcmp(name, "stb_i", 5) == 0 || memcmp(name, "stb_p", 5) == 0))
		return 1;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strlen(names[i]) == n && memcmp(names[i], name, n) == 0)
			return 1;
	return 0;
}

/* All words of the text that get another name, as keys of renamed. */
static void find_renamed(const struct glsl *g, const unsigned char *is_exempt,
    const struct rewrite_options *options, struct map *renamed)
{
	unsigned char *is_needed = xcalloc(nword, 1);
	if (!options->is_essl)
		find_needed(g, is_exempt, options, is_needed);
	for (size_t i = 0; i < g->ntoken; i++) {
		if (g->token[i].kind != GLSL_WORD || is_exempt[i])
			continue;
		const char *text = g->text + g->token[i].at;
		size_t n = g->token[i].len, w = word_find(text, n);
		int is_renamed = w < nword && words[w].role != WORD_NONE &&
		    (options->is_essl ? words[w].essl == WORD_LATER : !is_needed[w]);
		if (is_renamed || is_generated(text, n))
			map_put(renamed, text, n, 1);
	}
	free(is_needed);
	if (!options->is_essl)
		return;
	struct glsl_function *fn;
	size_t nfn;
	glsl_functions(g, &fn, &nfn);
	for (size_t i = 0; i < nfn; i++) {
		const struct glsl_token *t = &g->token[fn[i].name];
		if (is_foreign_function(g->text + t->at, t->len))
			map_put(renamed, g->text + t->at, t->len, 1);
	}
	free(fn);
}

static void rename_words(struct edits *e, const struct glsl *g,
    const struct rewrite_options *options, struct map *renamed)
{
	unsigned char *is_exempt = xcalloc(g->ntoken + 1, 1);
	find_exempt(g, is_exempt);
	find_renamed(g, is_exempt, options, renamed);
	for (size_t i = 0; i < g->ntoken; i++) {
		if (g->token[i].kind != GLSL_WORD || is_exempt[i])
			continue;
		const char *text = g->text + g->token[i].at;
		size_t n = g->token[i].len;
		/* See stage_text in shader.c. */
		if (options->is_essl &&
		    (glsl_is(g, i, "lowp") || glsl_is(g, i, "mediump")))
			edits_add(e, i, EDIT_WITH, xstrdup("highp"));
		else if (map_get(renamed, text, n) != MAP_NONE)
			edits_add(e, i, EDIT_WITH,
			    xasprintf("%s%.*s", REWRITE_PREFIX, (int)n, text));
	}
	free(is_exempt);
}

/* Directives --------------------------------------------------------------- */

/* Extensions of GLSL ES 1.00 that 3.00 has in core. */
static const char *const core_extension[] = {
	"GL_OES_standard_derivatives",
	"GL_EXT_shader_texture_lod",
	"GL_EXT_frag_depth",
	"GL_EXT_draw_buffers",
	"GL_OES_texture_3D",
	"GL_ARB_shader_texture_lod",
	"GL_EXT_shadow_samplers",
};

/* The directive at hash as one that may stand behind #version. */
static void hoist(const struct glsl *g, size_t hash, unsigned line, struct map *seen,
    struct buf *out)
{
	struct buf text = BUF_INIT;
	const struct glsl_token *name = &g->token[hash + 2];
	const struct glsl_token *what = &g->token[hash + 4];
	buf_addf(&text, "#extension %.*s : %.*s\n", (int)name->len, g->text + name->at,
	    (int)what->len, g->text + what->at);
	if (map_puts(seen, buf_str(&text), 1)) {
		buf_addf(out, "#line %u 1\n", line + REWRITE_LINE_BASE);
		buf_add(out, text.data, text.len);
	}
	buf_release(&text);
}

static void edit_directives(struct edits *e, const struct preprocess *p,
    struct buf *extensions)
{
	const struct glsl *g = &p->code;
	struct map seen = MAP_INIT;
	for (size_t i = 0; i < g->ntoken; i++) {
		if (g->token[i].kind != GLSL_HASH || !glsl_is(g, i + 1, "extension") ||
		    line_end(g, i) != i + 5 || g->token[i + 2].kind != GLSL_WORD ||
		    !glsl_is(g, i + 3, ":") || g->token[i + 4].kind != GLSL_WORD)
			continue;
		int is_core = 0;
		for (size_t k = 0; k < sizeof core_extension / sizeof *core_extension;
		     k++)
			is_core |= glsl_is(g, i + 2, core_extension[k]);
		if (!is_core)
			hoist(g, i, p->raw.token[p->origin[i]].line, &seen, extensions);
		for (size_t k = i; k < i + 5; k++)
			edits_add(e, k, EDIT_WITH, xstrdup(""));
	}
	map_release(&seen);
}

/* The result --------------------------------------------------------------- */

struct writer {
	const struct preprocess *p;
	struct rewrite *out;
	uint32_t line;
	size_t line_at;  /* bytes in front of it */
	size_t start_at; /* of the last line of the user's that a raw token was in */
	uint32_t start_line;
};

static void note_place(struct writer *w, size_t token)
{
	struct rewrite *out = w->out;
	const struct glsl_token *raw = &w->p->raw.token[w->p->origin[token]];
	size_t at = raw->at;
	if (!w->start_line || raw->line != w->start_line || at < w->start_at) {
		const char *text = w->p->raw.text;
		while (at && text[at - 1] != '\n')
			at--;
		w->start_at = at;
		w->start_line = raw->line;
	}
	struct rewrite_place place = {
		w->line,
		(uint32_t)(out->text.len - w->line_at) + 1,
		raw->line,
		(uint32_t)(raw->at - w->start_at) + 1,
	};
	const struct rewrite_place *last =
	    out->nplace ? &out->place[out->nplace - 1] : NULL;
	if (last && last->line == place.line && last->text_line == place.text_line &&
	    place.column - last->column == place.text_column - last->text_column)
		return;
	out->place =
	    array_grow(out->place, out->nplace, &out->place_cap, sizeof *out->place);
	out->place[out->nplace++] = place;
}

static void add_token(struct writer *w, size_t token, const char *before,
    const char *with)
{
	const struct glsl *g = &w->p->code;
	const struct glsl_token *t = &g->token[token];
	struct buf *text = &w->out->text;
	for (; w->line < t->line; w->line++) {
		buf_addch(text, '\n');
		w->line_at = text->len;
	}
	buf_addstr(text, before);
	if (t->is_spaced && text->len > w->line_at && (!with || *with))
		buf_addch(text, ' ');
	note_place(w, token);
	if (with)
		buf_addstr(text, with);
	else
		buf_add(text, g->text + t->at, t->len);
}

/* The code with the edits made; they are sorted. */
static void write_code(struct writer *w, const struct edits *e)
{
	size_t k = 0;
	for (size_t i = 0; i < w->p->code.ntoken; i++) {
		const char *before = "", *with = NULL;
		for (; k < e->nedit && e->edit[k].token == i &&
		     e->edit[k].kind != EDIT_AFTER;
		     k++) {
			if (e->edit[k].kind == EDIT_WITH)
				with = e->edit[k].text;
			else
				before = e->edit[k].text;
		}
		add_token(w, i, before, with);
		for (; k < e->nedit && e->edit[k].token == i; k++)
			buf_addstr(&w->out->text, e->edit[k].text);
	}
	buf_addch(&w->out->text, '\n');
}

void shader_rewrite(const struct preprocess *p, const struct rewrite_options *options,
    struct rewrite *out)
{
	struct edits e = { .nedit = 0 };
	struct map renamed = MAP_INIT;
	*out = (struct rewrite){ .nplace = 0 };
	edit_directives(&e, p, &out->extensions);
	rename_words(&e, &p->code, options, &renamed);
	shader_zero(&p->code, &renamed, &e, &out->zeros);
	edits_sort(&e);
	struct writer w = { .p = p, .out = out, .line = 1 };
	write_code(&w, &e);
	map_release(&renamed);
	edits_release(&e);
}

void rewrite_release(struct rewrite *r)
{
	if (!r)
		return;
	buf_release(&r->text);
	buf_release(&r->extensions);
	buf_release(&r->zeros);
	free(r->place);
	*r = (struct rewrite){ .nplace = 0 };
}

void rewrite_find_place(const struct rewrite_place *place, size_t nplace, int *line,
    int *column)
{
	uint32_t at_line = (uint32_t)*line;
	uint32_t at_column = *column > 0 ? (uint32_t)*column : 1;
	size_t low = 0, high = nplace;
	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct rewrite_place *p = &place[middle];
		if (p->line < at_line || (p->line == at_line && p->column <= at_column))
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return;
	const struct rewrite_place *p = &place[low - 1];
	if (p->line == at_line && *column > 0)
		*column = (int)(p->text_column + (at_column - p->column));
	*line = (int)(p->text_line + (at_line - p->line));
}

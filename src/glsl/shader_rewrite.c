#include "glsl/shader_rewrite.h"

#include <string.h>

#include "glsl/shader_zero.h"
#include "glsl/word.h"
#include "util/map.h"
#include "util/mem.h"

/* Edits -------------------------------------------------------------------- */

struct edit {
	size_t at, len;
	char *with;	/* null: blanks, newlines stay */
};

struct edits {
	struct edit *edit;
	size_t nedit, cap;
};

static void add_edit(struct edits *e, size_t at, size_t len, char *with)
{
	e->edit = array_grow(e->edit, e->nedit, &e->cap, sizeof *e->edit);
	e->edit[e->nedit++] = (struct edit) { at, len, with };
}

static int by_place(const void *a, const void *b)
{
	const struct edit *x = a, *y = b;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (x->len > 0) - (y->len > 0);
}

/* Applies and releases. No two edits overlap. */
static void apply(struct edits *e, const struct glsl *g, struct buf *out)
{
	size_t at = 0;
	if (e->nedit)
		qsort(e->edit, e->nedit, sizeof *e->edit, by_place);
	for (size_t i = 0; i < e->nedit; i++) {
		struct edit *edit = &e->edit[i];
		buf_add(out, g->text + at, edit->at - at);
		at = edit->at + edit->len;
		if (edit->with) {
			buf_addstr(out, edit->with);
			free(edit->with);
			continue;
		}
		for (size_t j = edit->at; j < at; j++)
			buf_addch(out, g->text[j] == '\n' ? '\n' : ' ');
	}
	buf_add(out, g->text + at, g->ntext - at);
	free(e->edit);
	*e = (struct edits) { 0 };
}

/* The token with its spliced lines kept, so that lines stay where they are. */
static void replace_token(struct edits *e, const struct glsl *g, size_t token,
	const char *prefix, const char *text, size_t n)
{
	const struct glsl_token *t = &g->token[token];
	struct buf with = BUF_INIT;
	buf_addstr(&with, prefix);
	buf_add(&with, text, n);
	for (size_t i = t->at; i < (size_t)t->at + t->len; i++)
		if (g->text[i] == '\n')
			buf_addstr(&with, "\\\n");
	add_edit(e, t->at, t->len, buf_detach(&with));
}

static size_t line_end(const struct glsl *g, size_t hash)
{
	while (g->token[hash].kind != GLSL_LINE_END)
		hash++;
	return hash;
}

static void blank_directive(struct edits *e, const struct glsl *g, size_t hash)
{
	size_t end = line_end(g, hash);
	size_t at = g->token[hash].at;
	add_edit(e, at, g->token[end].at - at, NULL);
}

void shader_drop_version(const struct glsl *g, struct buf *out)
{
	struct edits e = { 0 };
	for (size_t i = 0; i < g->ntoken; i++)
		if (g->token[i].kind == GLSL_HASH && glsl_is(g, i + 1, "version"))
			blank_directive(&e, g, i);
	apply(&e, g, out);
}

/* Words -------------------------------------------------------------------- */

/* Words in layout(...) are names of their own, directives of some kinds too. */
static void find_exempt(const struct glsl *g, unsigned char *is_exempt)
{
	for (size_t i = 0; i < g->ntoken; i++) {
		if (g->token[i].kind == GLSL_HASH
			&& (glsl_is(g, i + 1, "version")
				|| glsl_is(g, i + 1, "extension")
				|| glsl_is(g, i + 1, "pragma")
				|| glsl_is(g, i + 1, "error")
				|| glsl_is(g, i + 1, "line"))) {
			size_t end = line_end(g, i);
			memset(is_exempt + i, 1, end - i);
			i = end;
		} else if (glsl_is(g, i, "layout") && glsl_is(g, i + 1, "(")) {
			while (i < g->ntoken && !glsl_is(g, i, ")")
				&& g->token[i].kind != GLSL_LINE_END)
				is_exempt[i++] = 1;
		}
	}
}

/* Which words the text uses for what GLSL means by them. */
static void find_needed(const struct glsl *g, const unsigned char *is_exempt,
	const struct rewrite_options *options, unsigned char *is_needed)
{
	struct buf scratch = BUF_INIT;
	unsigned char *is_named = xcalloc(nword, 1);
	for (size_t i = 0; i < g->ntoken; i++) {
		if (g->token[i].kind != GLSL_WORD || is_exempt[i])
			continue;
		size_t n;
		const char *text = glsl_token_text(g, i, &scratch, &n);
		size_t w = word_find(text, n);
		if (w == nword || words[w].role == WORD_NONE
			|| words[w].role == WORD_PLAIN)
			continue;
		int is_type = words[w].role == WORD_TYPE;
		if (options->has_storage)
			is_needed[w] = 1;
		if (is_type && i && shader_basic_type(g, i - 1))
			is_named[w] = 1;
		if (g->token[i].is_directive || i + 1 == g->ntoken)
			continue;
		if (g->token[i + 1].kind == GLSL_WORD || glsl_is(g, i + 1, "{")
			|| ((is_type || glsl_is(g, i, "subroutine"))
				&& glsl_is(g, i + 1, "(")))
			is_needed[w] = 1;
	}
	for (size_t w = 0; w < nword; w++)
		if (is_named[w])
			is_needed[w] = 0;
	free(is_named);
	buf_release(&scratch);
}

static void rename_words(struct edits *e, const struct glsl *g,
	const struct rewrite_options *options)
{
	unsigned char *is_exempt = xcalloc(g->ntoken + 1, 1);
	unsigned char *is_needed = xcalloc(nword, 1);
	struct buf scratch = BUF_INIT;
	find_exempt(g, is_exempt);
	if (!options->is_essl)
		find_needed(g, is_exempt, options, is_needed);
	for (size_t i = 0; i < g->ntoken; i++) {
		if (g->token[i].kind != GLSL_WORD || is_exempt[i])
			continue;
		/* See stage_text; a macro of that name is left alone. */
		if (options->is_essl && (glsl_is(g, i, "lowp")
			|| glsl_is(g, i, "mediump"))
			&& !(i > 1 && g->token[i - 2].kind == GLSL_HASH)) {
			replace_token(e, g, i, "", "highp", 5);
			continue;
		}
		size_t n;
		const char *text = glsl_token_text(g, i, &scratch, &n);
		size_t w = word_find(text, n);
		int is_renamed = w < nword
			&& words[w].role != WORD_NONE && (options->is_essl
			? words[w].essl == WORD_LATER : !is_needed[w]);
		if (options->is_essl && g->token[i].is_directive && n > 3
			&& !memcmp(text, "GL_", 3) && !glsl_is(g, i, "GL_ES")
			&& !glsl_is(g, i, "GL_FRAGMENT_PRECISION_HIGH"))
			is_renamed = 1;
		if (is_renamed)
			replace_token(e, g, i, REWRITE_PREFIX, text, n);
	}
	buf_release(&scratch);
	free(is_needed);
	free(is_exempt);
}

/* Directives --------------------------------------------------------------- */

/* Extensions of GLSL ES 1.00 that 3.00 has in core. */
static const char *const core_extension[] = {
	"GL_OES_standard_derivatives", "GL_EXT_shader_texture_lod",
	"GL_EXT_frag_depth", "GL_EXT_draw_buffers", "GL_OES_texture_3D",
	"GL_ARB_shader_texture_lod", "GL_EXT_shadow_samplers"
};

/* The directive at hash as one that may stand behind #version. */
static void hoist(const struct glsl *g, size_t hash, int is_conditional,
	struct map *seen, struct buf *out)
{
	struct buf scratch = BUF_INIT, text = BUF_INIT;
	size_t n;
	const char *name = glsl_token_text(g, hash + 2, &scratch, &n);
	buf_addstr(&text, "#extension ");
	buf_add(&text, name, n);
	/* Whether its branch is taken nobody knows here. */
	if (is_conditional && glsl_is(g, hash + 4, "require")) {
		buf_addstr(&text, " : enable\n");
	} else {
		name = glsl_token_text(g, hash + 4, &scratch, &n);
		buf_addstr(&text, " : ");
		buf_add(&text, name, n);
		buf_addch(&text, '\n');
	}
	if (map_puts(seen, buf_str(&text), 1)) {
		buf_addf(out, "#line %u 1\n",
			g->token[hash].line + REWRITE_LINE_BASE);
		buf_add(out, text.data, text.len);
	}
	buf_release(&scratch);
	buf_release(&text);
}

/* A #line: what follows keeps its number in the whole, and can tell its own. */
static void replace_line(struct edits *e, const struct glsl *g, size_t hash)
{
	size_t end = line_end(g, hash), at = g->token[hash].at;
	long next = (long)g->token[end].line + 1 + REWRITE_LINE_BASE;
	if (g->token[hash + 2].kind != GLSL_NUMBER) {
		blank_directive(e, g, hash);
		return;
	}
	long line = atol(g->text + g->token[hash + 2].at);
	add_edit(e, at, g->token[end].at - at, xasprintf("#undef "
		REWRITE_OFFSET "\n#define " REWRITE_OFFSET " (%ld)\n#line %ld 1",
		next - line, next));
}

/* __LINE__ and __FILE__, but for the operands of ##. */
static void edit_places(struct edits *e, const struct glsl *g)
{
	static const char line[] = "(__LINE__-" REWRITE_OFFSET ")";
	for (size_t i = 0; i < g->ntoken; i++) {
		if (g->token[i].kind == GLSL_HASH && !glsl_is(g, i + 1, "define")
			&& !glsl_is(g, i + 1, "if") && !glsl_is(g, i + 1, "elif"))
			i = line_end(g, i);
		if (glsl_is(g, i + 1, "##") || (i && glsl_is(g, i - 1, "##")))
			continue;
		if (glsl_is(g, i, "__LINE__"))
			replace_token(e, g, i, "", line, sizeof line - 1);
		else if (glsl_is(g, i, "__FILE__"))
			replace_token(e, g, i, "", "0", 1);
	}
}

static void edit_directives(struct edits *e, const struct glsl *g,
	struct buf *extensions)
{
	struct map seen = MAP_INIT;
	int knows_lines = glsl_knows_lines(g);
	int depth = 0;
	for (size_t i = 0; i < g->ntoken; i++) {
		if (g->token[i].kind != GLSL_HASH)
			continue;
		if (glsl_is(g, i + 1, "if") || glsl_is(g, i + 1, "ifdef")
			|| glsl_is(g, i + 1, "ifndef")) {
			depth++;
		} else if (glsl_is(g, i + 1, "endif")) {
			depth -= depth > 0;
		} else if (glsl_is(g, i + 1, "version")) {
			blank_directive(e, g, i);
		} else if (glsl_is(g, i + 1, "line")) {
			if (knows_lines)
				replace_line(e, g, i);
			else
				blank_directive(e, g, i);
		} else if (glsl_is(g, i + 1, "extension")
			&& g->token[i + 2].kind == GLSL_WORD
			&& glsl_is(g, i + 3, ":")
			&& g->token[i + 4].kind == GLSL_WORD
			&& g->token[i + 5].kind == GLSL_LINE_END) {
			int is_core = 0;
			for (size_t k = 0; k < sizeof core_extension
				/ sizeof *core_extension; k++)
				is_core |= glsl_is(g, i + 2, core_extension[k]);
			if (!is_core)
				hoist(g, i, depth > 0, &seen, extensions);
			blank_directive(e, g, i);
		}
	}
	map_release(&seen);
}

/* Parameters --------------------------------------------------------------- */

/* "out" to "inout" in the first parameter of each head of the entry point. */
static int edit_entry(struct edits *e, const struct glsl *g, const char *entry)
{
	int is_inout = 0;
	for (size_t i = 0; i + 1 < g->ntoken; i++) {
		if (!glsl_is(g, i, entry) || !glsl_is(g, i + 1, "("))
			continue;
		for (size_t j = i + 2; j < g->ntoken
			&& g->token[j].kind == GLSL_WORD; j++) {
			if (glsl_is(g, j, "out")) {
				replace_token(e, g, j, "", "inout", 5);
				is_inout = 1;
			} else if (glsl_is(g, j, "inout")) {
				is_inout = 1;
			}
		}
	}
	return is_inout;
}

/*
 * Assignments of zero for the out parameters of a function. A parameter is
 * words alone: qualifiers, a basic type, its name; arrays are left out.
 */
static void zero_parameters(const struct glsl *g,
	const struct glsl_function *fn, struct buf *out)
{
	struct buf scratch = BUF_INIT;
	size_t first = fn->open + 1;
	for (size_t i = first; i <= fn->close; i++) {
		if (g->token[i].kind == GLSL_WORD)
			continue;
		int is_end = glsl_is(g, i, ",") || i == fn->close;
		if (is_end && i >= first + 3) {
			int is_out = 0;
			for (size_t j = first; j + 2 < i; j++)
				is_out |= glsl_is(g, j, "out");
			const char *type = shader_basic_type(g, i - 2);
			if (is_out && type) {
				size_t n;
				const char *name = glsl_token_text(g, i - 1, &scratch, &n);
				buf_add(out, name, n);
				buf_addf(out, "=%s(0);", type);
			}
		}
		/* Anything else spoils the parameter up to the next comma. */
		while (!is_end && i < fn->close && !glsl_is(g, i + 1, ","))
			i++;
		if (!is_end)
			i++;
		first = i + 1;
	}
	buf_release(&scratch);
}

static void edit_parameters(struct edits *e, const struct glsl *g,
	const struct rewrite_options *options)
{
	struct glsl_function *fn;
	size_t nfn;
	glsl_functions(g, &fn, &nfn);
	for (size_t i = 0; i < nfn; i++) {
		if (!fn[i].body || glsl_is(g, fn[i].name, options->entry))
			continue;
		struct buf zeros = BUF_INIT;
		zero_parameters(g, &fn[i], &zeros);
		if (zeros.len)
			add_edit(e, g->token[fn[i].body].at + 1, 0,
				buf_detach(&zeros));
		buf_release(&zeros);
	}
	free(fn);
}

void shader_rewrite(const struct glsl *g, const struct rewrite_options *options,
	struct rewrite *out)
{
	struct edits e = { 0 };
	struct buf renamed = BUF_INIT;
	*out = (struct rewrite) { .is_inout = 0 };
	edit_directives(&e, g, &out->extensions);
	edit_places(&e, g);
	out->is_inout = edit_entry(&e, g, options->entry);
	rename_words(&e, g, options);
	apply(&e, g, &renamed);
	/* A second time, since parameters may have been renamed. */
	struct glsl again;
	glsl_lex(&again, buf_str(&renamed), renamed.len);
	struct buf begun = BUF_INIT;
	edit_parameters(&e, &again, options);
	apply(&e, &again, &begun);
	glsl_release(&again);
	glsl_lex(&again, buf_str(&begun), begun.len);
	shader_zero(&again, &out->text);
	glsl_release(&again);
	buf_release(&renamed);
	buf_release(&begun);
}

void rewrite_release(struct rewrite *r)
{
	if (!r)
		return;
	buf_release(&r->text);
	buf_release(&r->extensions);
}

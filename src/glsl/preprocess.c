#include "preprocess_impl.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "util/limits.h"
#include "util/mem.h"

/* Tokens ------------------------------------------------------------------- */

int pp_fault(struct preprocessor *pp, uint32_t raw, const char *fmt, ...)
{
	if (pp->is_failed)
		return -1;
	pp->is_failed = 1;
	va_list ap;
	va_start(ap, fmt);
	struct buf text = BUF_INIT;
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	if (pp->out)
		pp->out->fault = raw;
	if (pp->err)
		err_set(pp->err, STATUS_FAILED, "%s", buf_str(&text));
	buf_release(&text);
	return -1;
}

int pp_is(const struct pp_token *t, const char *text)
{
	size_t n = strlen(text);
	return t->len == n && memcmp(t->text, text, n) == 0;
}

const char *pp_keep(struct preprocessor *pp, char *text)
{
	pp->made = array_grow(pp->made, pp->nmade, &pp->made_cap, sizeof *pp->made);
	return pp->made[pp->nmade++] = text;
}

struct pp_token pp_raw_token(struct preprocessor *pp, size_t raw)
{
	const struct glsl_token *t = &pp->g->token[raw];
	struct buf scratch = BUF_INIT;
	size_t n;
	const char *text = glsl_token_text(pp->g, raw, &scratch, &n);
	if (scratch.data)
		text = pp_keep(pp, buf_detach(&scratch));
	return (struct pp_token){
		.text = text,
		.len = (uint32_t)n,
		.raw = (uint32_t)raw,
		.kind = t->kind,
		.is_spaced = t->is_spaced,
	};
}

void pp_add(struct pp_tokens *list, const struct pp_token *t)
{
	list->at = array_grow(list->at, list->n, &list->cap, sizeof *list->at);
	list->at[list->n++] = *t;
}

uint32_t pp_line_of(const struct preprocessor *pp, uint32_t raw)
{
	return pp->g->token[raw].line - pp->seam_text + pp->seam_line;
}

/* Code --------------------------------------------------------------------- */

/* A token behind those that are there, on its line if that is still possible. */
static void add_code(struct preprocess *p, const struct pp_token *t, int is_directive)
{
	struct glsl *code = &p->code;
	const struct glsl_token *last =
	    code->ntoken ? &code->token[code->ntoken - 1] : NULL;
	uint32_t now = last ? last->line : 1;
	uint32_t line = p->raw.token[t->raw].line;
	int is_line_start = !last;
	if (last && last->kind == GLSL_LINE_END) {
		buf_addch(&p->text, '\n');
		now++;
		is_line_start = 1;
	}
	if (t->kind == GLSL_HASH && !is_line_start && line <= now)
		line = now + 1;
	if (is_directive && t->kind != GLSL_HASH)
		line = now; /* one that goes on in the next line */
	for (; now < line; now++) {
		buf_addch(&p->text, '\n');
		is_line_start = 1;
	}
	/* Neighbours in the text need no space; others might grow together. */
	int is_spaced = t->is_spaced || t->is_made || !last ||
	    p->is_made[code->ntoken - 1] || p->origin[code->ntoken - 1] + 1 != t->raw;
	if (is_spaced && !is_line_start && t->kind != GLSL_LINE_END)
		buf_addch(&p->text, ' ');
	p->origin =
	    array_grow(p->origin, code->ntoken, &p->origin_cap, sizeof *p->origin);
	p->is_made =
	    array_grow(p->is_made, code->ntoken, &p->made_cap, sizeof *p->is_made);
	p->origin[code->ntoken] = t->raw;
	p->is_made[code->ntoken] = t->is_made;
	code->token =
	    array_grow(code->token, code->ntoken, &code->cap, sizeof *code->token);
	code->token[code->ntoken++] = (struct glsl_token){
		.at = (uint32_t)p->text.len,
		.len = t->len,
		.line = now,
		.kind = t->kind,
		.is_directive = (unsigned char)is_directive,
		.is_spaced = (unsigned char)(is_spaced || is_line_start),
	};
	buf_add(&p->text, t->text, t->len);
}

/* Macros ------------------------------------------------------------------- */

struct pp_macro *pp_find(const struct preprocessor *pp, const struct pp_token *name)
{
	size_t i = map_get(&pp->name, name->text, name->len);
	return i == MAP_NONE || !i ? NULL : pp->macro[i - 1];
}

void pp_note_use(struct preprocessor *pp, const struct pp_macro *m, uint32_t raw)
{
	struct preprocess *out = pp->out;
	if (!out || pp->g != &out->raw || m->index == PREPROCESS_NONE)
		return;
	if (out->nuse && out->use[out->nuse - 1].macro == m->index &&
	    out->use[out->nuse - 1].raw == raw)
		return;
	out->use = array_grow(out->use, out->nuse, &out->use_cap, sizeof *out->use);
	out->use[out->nuse++] = (struct preprocess_use){ m->index, raw };
}

static void macro_free(struct pp_macro *m)
{
	free(m->name);
	free(m->param.at);
	free(m->body.at);
	free(m);
}

/* Takes it over. */
static void add_macro(struct preprocessor *pp, struct pp_macro *m)
{
	pp->macro = array_grow(pp->macro, pp->nmacro, &pp->macro_cap, sizeof *pp->macro);
	pp->macro[pp->nmacro++] = m;
	map_puts(&pp->name, m->name, pp->nmacro);
}

static void add_builtin(struct preprocessor *pp, const char *name, enum pp_kind kind,
    char *value)
{
	struct pp_macro *m = xcalloc(1, sizeof *m);
	m->name = xstrdup(name);
	m->kind = kind;
	m->is_builtin = 1;
	m->index = PREPROCESS_NONE;
	if (value) {
		struct pp_token t = { .kind = GLSL_NUMBER,
			.text = value,
			.len = (uint32_t)strlen(value) };
		pp_add(&m->body, &t);
		pp_keep(pp, value);
	}
	add_macro(pp, m);
}

static int is_same(const struct pp_tokens *a, const struct pp_tokens *b)
{
	if (a->n != b->n)
		return 0;
	for (size_t i = 0; i < a->n; i++)
		if (a->at[i].len != b->at[i].len ||
		    memcmp(a->at[i].text, b->at[i].text, a->at[i].len) != 0 ||
		    (i && a->at[i].is_spaced != b->at[i].is_spaced))
			return 0;
	return 1;
}

/* The names between the parentheses; *at stands on "(" and moves behind ")". */
static int read_parameters(struct preprocessor *pp, struct pp_macro *m, size_t *at,
    size_t end, uint32_t raw)
{
	size_t i = *at + 1;
	*at = i + 1;
	if (i < end && glsl_is(pp->g, i, ")"))
		return 0;
	struct map seen = MAP_INIT;
	int result = -1;
	for (; i < end; i += 2) {
		if (pp->g->token[i].kind != GLSL_WORD)
			break;
		struct pp_token t = pp_raw_token(pp, i);
		if (!map_put(&seen, t.text, t.len, 1)) {
			pp_fault(pp, raw, "the macro '%s' has two parameters '%.*s'",
			    m->name, (int)t.len, t.text);
			goto out;
		}
		pp_add(&m->param, &t);
		if (i + 1 < end && glsl_is(pp->g, i + 1, ")")) {
			*at = i + 2;
			result = 0;
			goto out;
		}
		if (!glsl_is(pp->g, i + 1, ","))
			break;
	}
	pp_fault(pp, raw,
	    "the parameters of the macro '%s' are not a list of "
	    "names",
	    m->name);
out:
	map_release(&seen);
	return result;
}

static int read_body(struct preprocessor *pp, struct pp_macro *m, size_t at, size_t end,
    uint32_t raw)
{
	struct map names = MAP_INIT;
	for (size_t i = 0; i < m->param.n; i++)
		map_put(&names, m->param.at[i].text, m->param.at[i].len, i);
	for (; at < end; at++) {
		struct pp_token t = pp_raw_token(pp, at);
		size_t param =
		    t.kind == GLSL_WORD ? map_get(&names, t.text, t.len) : MAP_NONE;
		if (param != MAP_NONE && param < 0xffff)
			t.param = (unsigned short)(param + 1);
		pp_add(&m->body, &t);
	}
	map_release(&names);
	size_t n = m->body.n;
	if (n && (pp_is(&m->body.at[0], "##") || pp_is(&m->body.at[n - 1], "##")))
		return pp_fault(pp, raw, "'##' at an end of the macro '%s'", m->name);
	return 0;
}

/* The name of #define or #undef: one that may be. */
static int check_name(struct preprocessor *pp, size_t at, size_t end,
    const char *directive, uint32_t raw)
{
	if (at >= end || pp->g->token[at].kind != GLSL_WORD)
		return pp_fault(pp, raw, "#%s wants a name", directive);
	struct pp_token t = pp_raw_token(pp, at);
	const struct pp_macro *m = pp_find(pp, &t);
	if (m && m->is_builtin)
		return pp_fault(pp, raw, "#%s of %s, which is built in", directive,
		    m->name);
	if (pp_is(&t, "defined"))
		return pp_fault(pp, raw, "#%s of 'defined'", directive);
	if (t.len >= 3 && memcmp(t.text, "GL_", 3) == 0 &&
	    strcmp(directive, "define") == 0)
		return pp_fault(pp, raw,
		    "#define of %.*s: names that begin with "
		    "GL_ are reserved",
		    (int)t.len, t.text);
	return 0;
}

static int define(struct preprocessor *pp, size_t at, size_t end, uint32_t raw)
{
	if (check_name(pp, at, end, "define", raw))
		return -1;
	struct pp_token name = pp_raw_token(pp, at++);
	struct pp_macro *m = xcalloc(1, sizeof *m);
	m->name = xstrndup(name.text, name.len);
	m->index = PREPROCESS_NONE;
	if (at < end && glsl_is(pp->g, at, "(") && !pp->g->token[at].is_spaced) {
		m->kind = PP_FUNCTION;
		if (read_parameters(pp, m, &at, end, raw))
			goto fail;
	}
	if (read_body(pp, m, at, end, raw))
		goto fail;
	const struct pp_macro *old = pp_find(pp, &name);
	if (old &&
	    (old->kind != m->kind || !is_same(&old->param, &m->param) ||
		!is_same(&old->body, &m->body))) {
		pp_fault(pp, raw,
		    "the macro '%s' is defined already, as something "
		    "else",
		    m->name);
		goto fail;
	}
	struct preprocess *out = pp->out;
	if (out && pp->g == &out->raw) {
		m->index = out->nmacro;
		out->macro = array_grow(out->macro, out->nmacro, &out->macro_cap,
		    sizeof *out->macro);
		out->macro[out->nmacro++] = (struct preprocess_macro){
			xstrdup(m->name),
			raw,
		};
	}
	add_macro(pp, m);
	return 0;
fail:
	macro_free(m);
	return -1;
}

static int undefine(struct preprocessor *pp, size_t at, size_t end, uint32_t raw)
{
	if (check_name(pp, at, end, "undef", raw))
		return -1;
	struct pp_token name = pp_raw_token(pp, at);
	if (pp_find(pp, &name))
		map_put(&pp->name, name.text, name.len, 0);
	return 0;
}

/* Directives --------------------------------------------------------------- */

static int is_defined(struct preprocessor *pp, size_t at, size_t end, uint32_t raw)
{
	if (at >= end || pp->g->token[at].kind != GLSL_WORD)
		return pp_fault(pp, raw, "#ifdef and #ifndef want a name");
	struct pp_token name = pp_raw_token(pp, at);
	const struct pp_macro *m = pp_find(pp, &name);
	if (m)
		pp_note_use(pp, m, raw);
	return m != NULL;
}

static int begin_branch(struct preprocessor *pp, size_t word, size_t end, uint32_t raw)
{
	struct pp_branch b = { .is_outer_active = pp->is_active, .raw = raw };
	int holds = 0;
	if (pp->nbranch >= LIMIT_MACRO_BRANCHES)
		return pp_fault(pp, raw, "more than %d #ifs are open",
		    LIMIT_MACRO_BRANCHES);
	if (pp->is_active)
		holds = glsl_is(pp->g, word, "if") ? pp_condition(pp, word + 1, end, raw)
						   : is_defined(pp, word + 1, end, raw);
	if (holds >= 0 && pp->is_active && glsl_is(pp->g, word, "ifndef"))
		holds = !holds;
	pp->branch =
	    array_grow(pp->branch, pp->nbranch, &pp->branch_cap, sizeof *pp->branch);
	b.was_taken = holds > 0;
	pp->branch[pp->nbranch++] = b;
	pp->is_active = b.is_outer_active && holds > 0;
	return holds < 0 ? -1 : 0;
}

/* #else, #elif, #endif. */
static int next_branch(struct preprocessor *pp, size_t word, size_t end, uint32_t raw)
{
	int is_end = glsl_is(pp->g, word, "endif");
	int is_else = glsl_is(pp->g, word, "else");
	if (!pp->nbranch)
		return pp_fault(pp, raw, "#%s without #if",
		    is_end        ? "endif"
			: is_else ? "else"
				  : "elif");
	struct pp_branch *b = &pp->branch[pp->nbranch - 1];
	if (is_end) {
		pp->is_active = b->is_outer_active;
		pp->nbranch--;
		return 0;
	}
	if (b->has_else)
		return pp_fault(pp, raw, "#%s after #else", is_else ? "else" : "elif");
	b->has_else = is_else;
	int holds = 1;
	pp->is_active = 0;
	if (!b->is_outer_active || b->was_taken)
		return 0;
	if (!is_else)
		holds = pp_condition(pp, word + 1, end, raw);
	b = &pp->branch[pp->nbranch - 1];
	b->was_taken = holds > 0;
	pp->is_active = holds > 0;
	return holds < 0 ? -1 : 0;
}

/* A seam of source.h, or the user's own, which moves __LINE__ only. */
static int set_line(struct preprocessor *pp, size_t word, size_t end, uint32_t raw)
{
	size_t n = end - word - 1;
	const struct glsl *g = pp->g;
	uint32_t next_line = g->token[end].line + 1;
	int is_seam = n == 2 && g->token[word + 1].kind == GLSL_NUMBER &&
	    g->token[word + 2].kind == GLSL_NUMBER;
	if (!is_seam && !pp->is_active)
		return 0;
	struct pp_tokens line = { 0 };
	struct pp_token t;
	for (size_t i = word + 1; i < end; i++) {
		t = pp_raw_token(pp, i);
		t.raw = raw;
		pp_add(&line, &t);
	}
	struct pp_stream s = { .list = line.at, .nlist = line.n };
	int got = line.n ? pp_expand(pp, &s, &t) : 0;
	uint32_t value = 0;
	if (got > 0 && t.kind == GLSL_NUMBER && t.len < 10)
		value = (uint32_t)strtoul(t.text, NULL, 10);
	else if (got >= 0)
		got = pp_fault(pp, raw, "#line wants a number");
	pp_stream_release(&s);
	free(line.at);
	pp->seam_text = next_line;
	pp->seam_line = value;
	return got < 0 ? -1 : 0;
}

static void copy_directive(struct preprocessor *pp, size_t hash, size_t end)
{
	if (!pp->out || pp->g != &pp->out->raw)
		return;
	for (size_t i = hash; i <= end; i++) {
		struct pp_token t = pp_raw_token(pp, i);
		add_code(pp->out, &t, 1);
	}
}

static int refuse(struct preprocessor *pp, size_t word, size_t end, uint32_t raw)
{
	const struct glsl_token *t = &pp->g->token[word];
	if (!glsl_is(pp->g, word, "error"))
		return pp_fault(pp, raw, "unknown directive #%.*s",
		    (int)(t->len < 64 ? t->len : 64), pp->g->text + t->at);
	size_t from = t->at + t->len, to = pp->g->token[end].at;
	struct buf text = BUF_INIT;
	buf_add(&text, pp->g->text + from, to - from);
	buf_tame(&text);
	pp_fault(pp, raw, "#error%s", buf_str(&text));
	buf_release(&text);
	return -1;
}

/* What the directive between '#' and its end does. */
static int obey(struct preprocessor *pp, size_t hash, size_t end)
{
	const struct glsl *g = pp->g;
	size_t word = hash + 1;
	uint32_t raw = (uint32_t)hash;
	pp->raw_at = raw;
	if (word == end)
		return 0;
	if (glsl_is(g, word, "if") || glsl_is(g, word, "ifdef") ||
	    glsl_is(g, word, "ifndef"))
		return begin_branch(pp, word, end, raw);
	if (glsl_is(g, word, "else") || glsl_is(g, word, "elif") ||
	    glsl_is(g, word, "endif"))
		return next_branch(pp, word, end, raw);
	if (glsl_is(g, word, "line"))
		return set_line(pp, word, end, raw);
	if (!pp->is_active)
		return 0;
	if (glsl_is(g, word, "define"))
		return define(pp, word + 1, end, raw);
	if (glsl_is(g, word, "undef"))
		return undefine(pp, word + 1, end, raw);
	if (glsl_is(g, word, "version"))
		return 0;
	if (glsl_is(g, word, "extension") ||
	    (glsl_is(g, word, "pragma") && !glsl_is(g, word + 1, "once")))
		copy_directive(pp, hash, end);
	else if (!glsl_is(g, word, "pragma"))
		return refuse(pp, word, end, raw);
	return 0;
}

static size_t line_end(const struct glsl *g, size_t hash)
{
	while (g->token[hash].kind != GLSL_LINE_END)
		hash++;
	return hash;
}

static void mark(struct preprocessor *pp, size_t first, size_t last)
{
	if (pp->out && pp->g == &pp->out->raw)
		memset(pp->out->is_active + first, 1, last - first + 1);
}

int pp_next_of_text(struct preprocessor *pp, struct pp_token *t)
{
	const struct glsl *g = pp->g;
	while (pp->next < g->ntoken) {
		size_t i = pp->next;
		if (g->token[i].kind == GLSL_HASH) {
			size_t end = line_end(g, i);
			int was_active = pp->is_active;
			pp->next = end + 1;
			if (obey(pp, i, end))
				return -1;
			if (was_active || pp->is_active)
				mark(pp, i, end);
			continue;
		}
		pp->next++;
		if (!pp->is_active)
			continue;
		mark(pp, i, i);
		*t = pp_raw_token(pp, i);
		return 1;
	}
	return 0;
}

/* Begin and end ------------------------------------------------------------ */

/* Macros of extensions that desktop drivers of today define. */
static const char *const desktop_macro[] = {
	"GL_core_profile",
	"GL_ARB_arrays_of_arrays",
	"GL_ARB_compute_shader",
	"GL_ARB_conservative_depth",
	"GL_ARB_derivative_control",
	"GL_ARB_draw_buffers",
	"GL_ARB_enhanced_layouts",
	"GL_ARB_explicit_attrib_location",
	"GL_ARB_explicit_uniform_location",
	"GL_ARB_fragment_coord_conventions",
	"GL_ARB_gpu_shader5",
	"GL_ARB_gpu_shader_fp64",
	"GL_ARB_shader_atomic_counters",
	"GL_ARB_shader_bit_encoding",
	"GL_ARB_shader_image_load_store",
	"GL_ARB_shader_image_size",
	"GL_ARB_shader_precision",
	"GL_ARB_shader_storage_buffer_object",
	"GL_ARB_shader_texture_lod",
	"GL_ARB_shading_language_420pack",
	"GL_ARB_shading_language_packing",
	"GL_ARB_texture_cube_map_array",
	"GL_ARB_texture_gather",
	"GL_ARB_texture_query_levels",
	"GL_ARB_texture_query_lod",
	"GL_ARB_texture_rectangle",
	"GL_ARB_uniform_buffer_object",
	"GL_EXT_texture_array",
};

static int run_define(struct preprocessor *pp)
{
	if (!pp->options.define)
		return 0;
	struct glsl g;
	struct pp_token t;
	glsl_lex(&g, pp->options.define, strlen(pp->options.define));
	pp->g = &g;
	int got;
	while ((got = pp_next_of_text(pp, &t)) > 0)
		;
	glsl_release(&g);
	pp->g = NULL;
	pp->next = 0;
	pp->seam_text = pp->seam_line = 1;
	return got;
}

struct preprocessor *preprocessor_new(const struct preprocess_options *options)
{
	struct preprocessor *pp = xcalloc(1, sizeof *pp);
	pp->options = *options;
	pp->is_active = 1;
	pp->seam_text = pp->seam_line = 1;
	add_builtin(pp, "__LINE__", PP_LINE, NULL);
	add_builtin(pp, "__FILE__", PP_FILE, NULL);
	add_builtin(pp, "__VERSION__", PP_OBJECT, xasprintf("%d", options->version));
	if (options->is_essl) {
		add_builtin(pp, "GL_ES", PP_OBJECT, xstrdup("1"));
		add_builtin(pp, "GL_FRAGMENT_PRECISION_HIGH", PP_OBJECT, xstrdup("1"));
	} else {
		for (size_t i = 0; i < sizeof desktop_macro / sizeof *desktop_macro; i++)
			add_builtin(pp, desktop_macro[i], PP_OBJECT, xstrdup("1"));
	}
	if (run_define(pp))
		pp->is_failed = 1;
	return pp;
}

void preprocessor_directive(struct preprocessor *pp, const struct glsl *g, size_t hash)
{
	pp->g = g;
	pp->is_failed = 0;
	pp->nesting = 0;
	pp->in_condition = 0;
	if (obey(pp, hash, line_end(g, hash)))
		pp->is_failed = 0;
}

int preprocessor_is_active(const struct preprocessor *pp)
{
	return pp->is_active;
}

size_t preprocessor_depth(const struct preprocessor *pp)
{
	return pp->nbranch;
}

void preprocessor_free(struct preprocessor *pp)
{
	if (!pp)
		return;
	for (size_t i = 0; i < pp->nmacro; i++)
		macro_free(pp->macro[i]);
	for (size_t i = 0; i < pp->nmade; i++)
		free(pp->made[i]);
	free(pp->macro);
	free(pp->made);
	free(pp->branch);
	map_release(&pp->name);
	free(pp);
}

/* The comment that goes on to the end of the text, wherever it starts. */
static int check_comments(struct preprocessor *pp)
{
	size_t last = pp->g->ntoken;
	while (last && pp->g->token[last - 1].kind == GLSL_LINE_END)
		last--;
	if (!last)
		return 0;
	const struct glsl_token *t = &pp->g->token[last - 1];
	/* Before a '*' a '/' is part of no other token. */
	if (t->kind != GLSL_PUNCT || t->len < 2 || pp->g->text[t->at] != '/' ||
	    pp->g->text[t->at + t->len - 1] != '*')
		return 0;
	return pp_fault(pp, (uint32_t)last - 1,
	    "this comment has no end: '*/' is missing");
}

int preprocess(const struct preprocess_options *options, const char *text, size_t n,
    struct preprocess *out, struct err *err)
{
	*out = (struct preprocess){ .fault = PREPROCESS_NONE };
	glsl_lex(&out->raw, text, n);
	out->is_active = xcalloc(out->raw.ntoken + 1, 1);
	struct preprocessor *pp = preprocessor_new(options);
	struct pp_stream s = { .list = NULL };
	struct pp_token t;
	int got;
	pp->out = out;
	pp->err = err;
	pp->g = &out->raw;
	if (pp->is_failed) {
		err_set(err, STATUS_FAILED, "a macro of the dialect is no macro");
		got = -1;
		goto out;
	}
	if ((got = check_comments(pp)))
		goto out;
	while ((got = pp_expand(pp, &s, &t)) > 0) {
		if (++pp->ntoken > LIMIT_MACRO_TOKENS) {
			got = pp_fault(pp, t.raw, "macros expand to more than %u tokens",
			    LIMIT_MACRO_TOKENS);
			break;
		}
		add_code(out, &t, 0);
	}
	if (!got && pp->nbranch)
		got = pp_fault(pp, pp->branch[pp->nbranch - 1].raw,
		    "this #if has no #endif");
out:
	pp_stream_release(&s);
	preprocessor_free(pp);
	out->code.text = buf_str(&out->text);
	out->code.ntext = out->text.len;
	out->code.is_kept = xmalloc(out->code.ntoken + 1);
	memset(out->code.is_kept, 1, out->code.ntoken + 1);
	return got < 0 ? -1 : 0;
}

void preprocess_release(struct preprocess *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->nmacro; i++)
		free(p->macro[i].name);
	free(p->macro);
	free(p->use);
	free(p->origin);
	free(p->is_made);
	free(p->is_active);
	glsl_release(&p->raw);
	glsl_release(&p->code);
	buf_release(&p->text);
	*p = (struct preprocess){ .fault = PREPROCESS_NONE };
}

void preprocess_place(const struct preprocess *p, size_t raw, int *line, int *column)
{
	*line = *column = 1;
	if (raw >= p->raw.ntoken)
		return;
	size_t at = p->raw.token[raw].at, start = at;
	while (start && p->raw.text[start - 1] != '\n')
		start--;
	*line = (int)p->raw.token[raw].line;
	*column = (int)(at - start) + 1;
}

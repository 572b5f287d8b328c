#include "glsl/lint.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lint_text.h"
#include "util/limits.h"
#include "util/buf.h"
#include "util/mem.h"

/* Findings ----------------------------------------------------------------- */

__attribute__((format(printf, 4, 0))) static void add(struct lint *l, const char *code,
    size_t raw, const char *fmt, va_list ap)
{
	int text_line, file, line, column;
	preprocess_place(&l->pp, raw, &text_line, &column);
	if (l->nfinding++ >= LIMIT_ERRORS ||
	    source_place(l->source, text_line, &file, &line))
		return;
	const char *path = l->source->file[file];
	struct lint_findings *out = l->out;
	for (size_t i = 0; i < out->nitem; i++)
		if (out->item[i].line == line && out->item[i].column == column &&
		    strcmp(out->item[i].code, code) == 0 &&
		    strcmp(out->item[i].file, path) == 0)
			return;
	struct buf message = BUF_INIT;
	buf_vaddf(&message, fmt, ap);
	out->item = array_grow(out->item, out->nitem, &out->cap, sizeof *out->item);
	out->item[out->nitem++] = (struct lint_finding){ code, buf_detach(&message),
		xstrdup(path), line, column };
}

void lint_add(struct lint *l, const char *code, size_t token, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	add(l, code, l->pp.origin[token], fmt, ap);
	va_end(ap);
}

void lint_add_raw(struct lint *l, const char *code, size_t raw, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	add(l, code, raw, fmt, ap);
	va_end(ap);
}

void lint_findings_release(struct lint_findings *f)
{
	for (size_t i = 0; i < f->nitem; i++) {
		free(f->item[i].message);
		free(f->item[i].file);
	}
	free(f->item);
	*f = (struct lint_findings){ 0 };
}

static int by_place(const void *a, const void *b)
{
	const struct lint_finding *x = a, *y = b;
	int order = strcmp(x->file, y->file);
	if (!order)
		order = (x->line > y->line) - (x->line < y->line);
	if (!order)
		order = (x->column > y->column) - (x->column < y->column);
	return order ? order : strcmp(x->code, y->code);
}

/* Tokens ------------------------------------------------------------------- */

int lint_is(const struct lint *l, size_t token, const char *text)
{
	return glsl_is(&l->code, token, text);
}

int lint_is_one_of(const struct lint *l, size_t token, const char *const *word,
    size_t nword)
{
	for (size_t i = 0; i < nword; i++)
		if (glsl_is(&l->code, token, word[i]))
			return 1;
	return 0;
}

int lint_is_word(const struct lint *l, size_t token)
{
	return token < l->code.ntoken && l->code.token[token].kind == GLSL_WORD;
}

size_t lint_find(const struct lint *l, const struct map *map, size_t token)
{
	if (!lint_is_word(l, token))
		return MAP_NONE;
	struct buf scratch = BUF_INIT;
	size_t n;
	const char *text = glsl_token_text(&l->code, token, &scratch, &n);
	size_t value = map_get(map, text, n);
	buf_release(&scratch);
	return value;
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

/* Views -------------------------------------------------------------------- */

/* Directives that are left in are for drivers. */
static void drop_directives(struct lint *l)
{
	size_t n = 0;
	for (size_t i = 0; i < l->pp.code.ntoken; i++) {
		if (l->pp.code.token[i].is_directive)
			continue;
		l->pp.origin[n] = l->pp.origin[i];
		l->pp.is_made[n] = l->pp.is_made[i];
		l->pp.code.token[n++] = l->pp.code.token[i];
	}
	l->pp.code.ntoken = n;
}

/* The text as the site, or this program, preprocesses it; -1 at its fault. */
static int view(struct lint *l, int is_essl, struct err *err)
{
	struct preprocess_options options = { .is_essl = is_essl,
		.version = is_essl ? 300 : 430,
		.define = is_essl        ? "#define HW_PERFORMANCE 1\n"
		    : l->facts->is_image ? "#define SHADERTOY_CLAMP_OUTPUT 1\n"
					 : NULL };
	struct buf scratch = BUF_INIT;
	int rc = preprocess(&options, l->source->text, l->source->ntext, &l->pp, err);
	drop_directives(l);
	/* What nothing calls is compiled, but has no values. */
	glsl_drop_unused(&l->pp.code, l->facts->entry);
	l->code = l->pp.code;
	l->is_plain = glsl_functions(&l->code, &l->function, &l->nfunction) && !rc;
	for (size_t i = l->nfunction; i-- > 0;) {
		size_t n;
		const char *name =
		    glsl_token_text(&l->code, l->function[i].name, &scratch, &n);
		map_put(&l->function_name, name, n, i);
	}
	buf_release(&scratch);
	return rc;
}

static void leave(struct lint *l)
{
	free(l->function);
	map_release(&l->function_name);
	preprocess_release(&l->pp);
	l->function = NULL;
	l->nfunction = 0;
}

void lint_source(const struct lint_facts *facts, const struct source *source,
    struct lint_findings *out)
{
	struct lint l = { .facts = facts, .source = source, .out = out };
	struct err err = ERR_INIT;
	size_t nbefore = out->nitem;
	if (facts->is_site) {
		if (view(&l, 1, &err) < 0)
			lint_add_raw(&l, "site-refuses", l.pp.fault, "%s", err.message);
		lint_site(&l);
		leave(&l);
		err_release(&err);
		err = (struct err)ERR_INIT;
	}
	if (!view(&l, facts->is_essl, &err) && l.is_plain) {
		lint_flow(&l);
		lint_loops(&l);
	}
	leave(&l);
	if (out->nitem > nbefore)
		qsort(out->item + nbefore, out->nitem - nbefore, sizeof *out->item,
		    by_place);
	err_release(&err);
}

double lint_iterations(const struct lint_facts *facts, const struct source *source,
    const struct lint_moment *moment, int *varies, struct lint_findings *where)
{
	struct lint l = { .facts = facts, .source = source, .out = where };
	struct err err = ERR_INIT;
	double n = 0;
	size_t worst_at;
	*varies = 0;
	if (!view(&l, facts->is_essl, &err) && l.is_plain) {
		n = lint_loops_at(&l, moment, varies, &worst_at);
		if (n > 0)
			lint_add(&l, "long-loop", worst_at, "%s", "");
	}
	leave(&l);
	err_release(&err);
	return n;
}

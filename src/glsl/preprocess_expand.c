#include "preprocess_impl.h"

#include <string.h>

#include "util/limits.h"
#include "util/mem.h"

/*
 * A macro is disabled while its replacement is being read, and its name, seen
 * meanwhile, is painted: it stays a plain word for good (C11, 6.10.3.4).
 */

static int count(struct preprocessor *pp, uint32_t raw, size_t n)
{
	pp->ntoken += n;
	if (pp->ntoken > LIMIT_MACRO_TOKENS)
		return pp_fault(pp, raw, "macros expand to more than %u tokens",
		    LIMIT_MACRO_TOKENS);
	return 0;
}

/* Streams ------------------------------------------------------------------ */

static void pop(struct pp_stream *s)
{
	struct pp_context *c = &s->context[--s->ncontext];
	if (c->macro)
		c->macro->is_disabled = 0;
	free(c->at);
}

void pp_stream_release(struct pp_stream *s)
{
	while (s->ncontext)
		pop(s);
	free(s->context);
	*s = (struct pp_stream){ .next = 0 };
}

/*
 * Takes the tokens over. What was read to its end stays below: the last name
 * of a macro's body is within it.
 */
static void push(struct pp_stream *s, struct pp_tokens *list, struct pp_macro *macro)
{
	s->context = array_grow(s->context, s->ncontext, &s->cap, sizeof *s->context);
	s->context[s->ncontext++] = (struct pp_context){
		list->at,
		list->n,
		0,
		macro,
	};
	macro->is_disabled = 1;
	*list = (struct pp_tokens){ 0 };
}

/* Next token as it is; 0 at the end, -1 for a fault. */
static int next(struct preprocessor *pp, struct pp_stream *s, struct pp_token *t)
{
	if (s->has_ahead) {
		s->has_ahead = 0;
		*t = s->ahead;
		return 1;
	}
	for (; s->ncontext; pop(s)) {
		struct pp_context *c = &s->context[s->ncontext - 1];
		if (c->next == c->n)
			continue;
		*t = c->at[c->next++];
		return 1;
	}
	if (!s->list)
		return pp_next_of_text(pp, t);
	if (s->next == s->nlist)
		return 0;
	*t = s->list[s->next++];
	return 1;
}

static int peek(struct preprocessor *pp, struct pp_stream *s, struct pp_token *t)
{
	int got = next(pp, s, t);
	if (got > 0) {
		s->ahead = *t;
		s->has_ahead = 1;
	}
	return got;
}

/* Calls -------------------------------------------------------------------- */

struct argument {
	struct pp_tokens raw, full;
	int is_full;
};

struct call {
	struct pp_macro *macro;
	struct pp_token name;
	struct argument *argument;
	size_t n, cap;
};

static void call_release(struct call *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->argument[i].raw.at);
		free(c->argument[i].full.at);
	}
	free(c->argument);
}

static void add_argument(struct call *c)
{
	c->argument = array_grow(c->argument, c->n, &c->cap, sizeof *c->argument);
	c->argument[c->n++] = (struct argument){ .is_full = 0 };
}

/* The arguments behind "(", up to the ")" of the call. */
static int read_arguments(struct preprocessor *pp, struct pp_stream *s, struct call *c)
{
	struct pp_token t;
	int depth = 0, got;
	add_argument(c);
	while ((got = next(pp, s, &t)) > 0) {
		if (count(pp, c->name.raw, 1))
			return -1;
		if (t.kind == GLSL_PUNCT && t.len == 1) {
			if (*t.text == '(')
				depth++;
			if (*t.text == ')' && !depth--)
				break;
			if (*t.text == ',' && !depth) {
				add_argument(c);
				continue;
			}
		} else if (t.kind == GLSL_WORD && !t.is_painted) {
			const struct pp_macro *m = pp_find(pp, &t);
			t.is_painted = m && m->is_disabled;
		}
		pp_add(&c->argument[c->n - 1].raw, &t);
	}
	if (got < 0)
		return -1;
	if (!got)
		return pp_fault(pp, c->name.raw,
		    "the call of the macro '%s' is not terminated", c->macro->name);
	size_t want = c->macro->param.n;
	if (c->n == 1 && !want && !c->argument[0].raw.n)
		return 0;
	if (c->n == want)
		return 0;
	return pp_fault(pp, c->name.raw, "the macro '%s' wants %zu argument%s, not %zu",
	    c->macro->name, want, want == 1 ? "" : "s", c->n);
}

static int expand_argument(struct preprocessor *pp, struct argument *a, uint32_t raw)
{
	if (a->is_full)
		return 0;
	if (++pp->nesting > LIMIT_MACRO_NESTING)
		return pp_fault(pp, raw,
		    "calls of macros are nested more than "
		    "%d deep",
		    LIMIT_MACRO_NESTING);
	static const struct pp_token none;
	struct pp_stream s = { .list = a->raw.at ? a->raw.at : &none, .nlist = a->raw.n };
	struct pp_token t;
	int got;
	while ((got = pp_expand(pp, &s, &t)) > 0)
		pp_add(&a->full, &t);
	pp_stream_release(&s);
	pp->nesting--;
	a->is_full = 1;
	return got;
}

/* a ## b into *a. */
static int paste(struct preprocessor *pp, struct pp_token *a, const struct pp_token *b,
    uint32_t raw)
{
	struct glsl g;
	char *text = xmalloc((size_t)a->len + b->len + 1);
	memcpy(text, a->text, a->len);
	memcpy(text + a->len, b->text, b->len);
	text[a->len + b->len] = '\0';
	pp_keep(pp, text);
	glsl_lex(&g, text, (size_t)a->len + b->len);
	int is_one = g.ntoken == 1 && g.token[0].len == a->len + b->len;
	if (is_one) {
		a->text = text;
		a->len += b->len;
		a->kind = g.token[0].kind;
		a->is_painted = 0;
		a->is_made = 1;
		pp->ntoken += a->len / 16; /* a long one is dear */
	}
	glsl_release(&g);
	if (is_one)
		return 0;
	return pp_fault(pp, raw, "'##' of '%.*s' and '%.*s' does not form a token",
	    (int)a->len, a->text, (int)b->len, b->text);
}

static int is_paste(const struct pp_tokens *body, size_t i)
{
	return i < body->n && !body->at[i].param && pp_is(&body->at[i], "##");
}

/* The body with its arguments in place. */
static int substitute(struct preprocessor *pp, struct call *c, struct pp_tokens *out)
{
	const struct pp_tokens *body = &c->macro->body;
	uint32_t raw = c->name.raw;
	int has_left = 0, is_pasting = 0;
	for (size_t i = 0; i < body->n; i++) {
		struct pp_token t = body->at[i];
		if (is_paste(body, i)) {
			is_pasting = 1;
			continue;
		}
		const struct pp_token *from = &t;
		size_t n = 1, first = 0;
		t.raw = raw;
		t.is_made = 1;
		if (t.param) {
			struct argument *a = &c->argument[t.param - 1];
			int is_operand = is_pasting || is_paste(body, i + 1);
			if (!is_operand && expand_argument(pp, a, raw))
				return -1;
			from = is_operand ? a->raw.at : a->full.at;
			n = is_operand ? a->raw.n : a->full.n;
		}
		if (count(pp, raw, n))
			return -1;
		if (is_pasting && has_left && n) {
			if (paste(pp, &out->at[out->n - 1], from, raw))
				return -1;
			first = 1;
		}
		for (size_t k = first; k < n; k++) {
			pp_add(out, &from[k]);
			if (!k)
				out->at[out->n - 1].is_spaced = t.is_spaced;
			out->at[out->n - 1].param = 0;
		}
		has_left = (is_pasting && has_left) || n;
		is_pasting = 0;
	}
	return 0;
}

/* Expansion ---------------------------------------------------------------- */

static void number(struct preprocessor *pp, struct pp_token *t, uint32_t value)
{
	char *text = xasprintf("%u", value);
	t->text = pp_keep(pp, text);
	t->len = (uint32_t)strlen(text);
	t->kind = GLSL_NUMBER;
	t->is_made = 1;
}

/* Replaces the call or the name: 1 when it did, 0 for a word that stays. */
static int replace(struct preprocessor *pp, struct pp_stream *s, struct pp_macro *m,
    struct pp_token *t)
{
	struct call c = { .macro = m, .name = *t };
	struct pp_tokens list = { 0 };
	struct pp_token ahead;
	int result = -1;
	if (m->kind == PP_FUNCTION) {
		int got = peek(pp, s, &ahead);
		if (got < 0)
			return -1;
		if (!got || !pp_is(&ahead, "("))
			return 0;
		s->has_ahead = 0;
	}
	pp_note_use(pp, m, t->raw);
	if ((m->kind == PP_FUNCTION && read_arguments(pp, s, &c)) ||
	    substitute(pp, &c, &list))
		goto out;
	if (list.n)
		list.at[0].is_spaced = t->is_spaced;
	push(s, &list, m);
	result = 1;
out:
	free(list.at);
	call_release(&c);
	return result;
}

/* "defined X" and "defined(X)" behind their first word. */
static int replace_defined(struct preprocessor *pp, struct pp_stream *s,
    struct pp_token *t)
{
	struct pp_token name;
	int got = next(pp, s, &name);
	int is_open = got > 0 && pp_is(&name, "(");
	if (is_open)
		got = next(pp, s, &name);
	if (got <= 0 || name.kind != GLSL_WORD)
		return pp_fault(pp, t->raw, "'defined' wants a name");
	struct pp_token close;
	if (is_open && (next(pp, s, &close) <= 0 || !pp_is(&close, ")")))
		return pp_fault(pp, t->raw, "'defined(' has no ')'");
	const struct pp_macro *m = pp_find(pp, &name);
	if (m)
		pp_note_use(pp, m, t->raw);
	number(pp, t, m != NULL);
	return 1;
}

int pp_expand(struct preprocessor *pp, struct pp_stream *s, struct pp_token *t)
{
	int got;
	while ((got = next(pp, s, t)) > 0) {
		if (t->kind != GLSL_WORD || t->is_painted)
			return 1;
		if (pp->in_condition && pp_is(t, "defined"))
			return replace_defined(pp, s, t);
		struct pp_macro *m = pp_find(pp, t);
		if (!m)
			return 1;
		if (m->kind == PP_LINE || m->kind == PP_FILE) {
			number(pp, t, m->kind == PP_LINE ? pp_line_of(pp, t->raw) : 0);
			return 1;
		}
		if (m->is_disabled) {
			t->is_painted = 1;
			return 1;
		}
		got = replace(pp, s, m, t);
		if (got <= 0)
			return got < 0 ? -1 : 1;
	}
	return got;
}

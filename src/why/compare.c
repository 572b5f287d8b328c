#include "why/compare.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "graph/builtin.h"
#include "graph/facts.h"
#include "util/mem.h"

struct span {
	int lo, hi;
}; /* frames whose nodes count; hi -1: none */

struct compare {
	const struct record *was, *now;
	struct span *span; /* a pass of now each */
	int *nwidened, *is_queued;
	size_t *order; /* passes, as they were come to */
	size_t norder;
	int with_followed;     /* nothing else says more */
	size_t p, q;           /* the pass that is looked at, and as it was */
	int has_tokens;        /* its tokens differ */
	enum reason_kind kind; /* of its source */
	size_t max;            /* reasons */
	struct reasons *out;
};

#define PASS_NONE ((size_t)-1)

static size_t find_pass(const struct record *a, const char *name)
{
	for (size_t i = 0; i < a->npass; i++)
		if (strcmp(a->pass[i].name, name) == 0)
			return i;
	return PASS_NONE;
}

static int same_key(const struct compare *c, size_t p)
{
	size_t q = find_pass(c->was, c->now->pass[p].name);

	return q != PASS_NONE && sha256_equal(&c->was->pass[q].key, &c->now->pass[p].key);
}

static char *value_of(const struct fact *f)
{
	struct buf text = BUF_INIT;

	if (f)
		fact_print_value(f, &text);
	else
		buf_addstr(&text, "none");
	return buf_detach(&text);
}

/* "sampler 0", and both values. */
static void report_as(struct compare *c, enum reason_kind kind, const char *before,
    const struct fact *was, const struct fact *now, const char *pass, int frame)
{
	struct buf name = BUF_INIT;
	char *a = value_of(was), *b = value_of(now);

	buf_addstr(&name, before);
	fact_print_name(now ? now : was, &name);
	reasons_add_at(c->out, kind, buf_str(&name), a, b, pass, NULL, 0, frame);
	buf_release(&name);
	free(a);
	free(b);
}

static void report(struct compare *c, enum reason_kind kind, const struct fact *was,
    const struct fact *now, const char *pass)
{
	report_as(c, kind, "", was, now, pass, -1);
}

/* A fact of both variants, when it is not the same in them. */
static int report_setting(struct compare *c, enum fact_kind kind, const char *pass)
{
	struct fact was, now;

	if (!facts_get(&c->was->settings, kind, "", FACT_NONE, &was) ||
	    !facts_get(&c->now->settings, kind, "", FACT_NONE, &now) ||
	    fact_equal(&was, &now))
		return 0;
	report(c, fact_reason(kind), &was, &now, pass);
	return 1;
}

static int same_fact(const struct facts *a, const struct facts *b, enum fact_kind kind,
    uint32_t index)
{
	struct fact x, y;
	int has_x = facts_get(a, kind, "", index, &x);
	int has_y = facts_get(b, kind, "", index, &y);

	return has_x && has_y ? fact_equal(&x, &y) : has_x == has_y;
}

/* Which frames of which passes count ------------------------------------------------ */

static void visit(struct compare *c, size_t p, int lo, int hi)
{
	struct span *s = &c->span[p];

	if (hi < 0)
		return;
	if (lo < 0)
		lo = 0;
	if (s->hi < 0) {
		c->order[c->norder++] = p;
		*s = (struct span){ lo, hi };
	} else if (lo >= s->lo && hi <= s->hi) {
		return;
	} else {
		/* Feedback: after some turns, all frames. */
		if (lo < s->lo)
			s->lo = lo;
		if (hi > s->hi)
			s->hi = hi;
		if ((size_t)++c->nwidened[p] > 2 * c->now->npass) {
			s->lo = 0;
			s->hi = c->now->frame;
		}
	}
	c->is_queued[p] = 1;
}

/* The name in a STORAGE fact: behind the size. */
static int same_buffer(const struct fact *a, const struct fact *b)
{
	return a->n >= 8 && a->n == b->n &&
	    memcmp(a->bytes + 8, b->bytes + 8, a->n - 8) == 0;
}

/* All that may write a storage buffer. */
static void visit_writers(struct compare *c, const struct fact *storage, int hi)
{
	struct fact f, written;

	for (size_t p = 0; p < c->now->npass; p++) {
		const struct facts *list = &c->now->pass[p].recipe;
		for (size_t at = 0; facts_next(list, &at, &f);)
			if (f.kind == FACT_STORAGE && same_buffer(&f, storage) &&
			    facts_get(list, FACT_WRITTEN, "", f.index, &written) &&
			    fact_number(&written) != 0)
				visit(c, p, 0, hi);
	}
}

/* What is bound to a channel is where a path goes on, unless it is another. */
static void visit_channel(struct compare *c, size_t p, size_t q, uint32_t channel)
{
	const struct span s = c->span[p];
	struct fact was, now;

	if (!facts_get(&c->now->pass[p].recipe, FACT_BOUND, "", channel, &now) ||
	    !facts_get(&c->was->pass[q].recipe, FACT_BOUND, "", channel, &was) ||
	    !fact_equal(&was, &now))
		return;
	char *name = fact_bound_pass(&now);
	size_t from = name ? find_pass(c->now, name) : PASS_NONE;
	int is_previous = fact_bound_previous(&now);
	if (from != PASS_NONE)
		visit(c, from, s.lo - is_previous, s.hi - is_previous);
	free(name);
}

static void visit_inputs(struct compare *c, size_t p)
{
	const struct span s = c->span[p];
	const struct facts *list = &c->now->pass[p].recipe;
	size_t q = find_pass(c->was, c->now->pass[p].name);
	int is_exact = s.lo == c->now->frame;
	struct fact now, was, storage;

	if (q == PASS_NONE)
		return;
	for (size_t at = 0; facts_next(list, &at, &now);) {
		if (now.kind != FACT_INPUT && now.kind != FACT_HISTORY &&
		    now.kind != FACT_CONTENT)
			continue;
		if (!facts_find(&c->was->pass[q].recipe, &now, &was) ||
		    (is_exact && fact_equal(&was, &now)))
			continue;
		int back = (int)(now.index & 0xff);
		if (now.kind == FACT_INPUT)
			visit_channel(c, p, q, now.index);
		else if (now.kind == FACT_HISTORY)
			visit(c, p, s.lo - back, s.hi - back);
		else if (facts_get(list, FACT_STORAGE, "", now.index, &storage))
			visit_writers(c, &storage, s.hi);
	}
}

static void visit_all(struct compare *c)
{
	for (int is_busy = 1; is_busy;) {
		is_busy = 0;
		for (size_t i = 0; i < c->norder; i++) {
			size_t p = c->order[i];
			if (!c->is_queued[p])
				continue;
			c->is_queued[p] = 0;
			is_busy = 1;
			visit_inputs(c, p);
		}
	}
}

/* A pass at all frames ------------------------------------------------------------ */

static int is_part(const struct fact *f)
{
	return f->kind == FACT_FUNCTION || f->kind == FACT_MACRO || f->kind == FACT_REST;
}

/* "step() in a.glsl changed"; a short macro is shown as it stands. */
static void report_part(struct compare *c, enum reason_kind kind, const struct fact *was,
    const struct fact *now)
{
	const struct fact *f = now ? now : was;
	int has_values = kind == REASON_SOURCE && was && now && was->n > 0 &&
	    was->bytes[0] == '=' && now->n > 0 && now->bytes[0] == '=';
	char *a = has_values ? value_of(was) : NULL;
	char *b = has_values ? value_of(now) : NULL;
	struct buf what = BUF_INIT;

	fact_print_name(f, &what);
	buf_addf(&what, " in %s", f->file);
	if (!has_values)
		buf_addf(&what, " %s", !was ? "added" : !now ? "removed" : "changed");
	buf_addstr(&what,
	    kind == REASON_EQUAL        ? ", with the same result"
		: kind == REASON_UNUSED ? ", but nothing uses it"
					: "");
	reasons_add_at(c->out, kind, buf_str(&what), a, b,
	    kind == REASON_UNUSED ? NULL : c->now->pass[c->p].name, f->file,
	    now ? now->line : 0, -1);
	buf_release(&what);
	free(a);
	free(b);
}

static void compare_part(void *data, const struct fact *was, const struct fact *now)
{
	struct compare *c = data;
	const struct fact *f = now ? now : was;

	if (is_part(f) && (f->index != 0) == (c->kind == REASON_UNUSED))
		report_part(c, c->kind, was, now);
}

/* Parts that differ: of used code, when its tokens do. */
static void compare_source(struct compare *c, enum reason_kind kind)
{
	const struct record_pass *pass = &c->now->pass[c->p];
	const struct facts *was = &c->was->pass[c->q].fixed;
	size_t before = c->out->nreason;
	struct fact f;

	c->kind = kind;
	if (kind != REASON_UNUSED && same_fact(was, &pass->fixed, FACT_TOKENS, FACT_NONE))
		return;
	facts_compare(was, &pass->fixed, compare_part, c);
	if (kind == REASON_UNUSED || c->out->nreason > before)
		return;
	/* A reason that another pass gave as well is no more. */
	for (size_t i = 0; i < c->out->nreason; i++)
		for (size_t n = 0; n < c->out->reason[i].npass; n++)
			if (c->out->reason[i].kind == kind &&
			    strcmp(c->out->reason[i].pass[n], pass->name) == 0)
				return;
	f.file = "";
	for (size_t at = 0; !*f.file && facts_next(&pass->fixed, &at, &f);)
		;
	char *what = xasprintf("the text%s%s was reordered%s", *f.file ? " of " : "",
	    f.file, kind == REASON_EQUAL ? ", with the same result" : "");
	reasons_add_at(c->out, kind, what, NULL, NULL, pass->name,
	    *f.file ? f.file : NULL, 0, -1);
	free(what);
}

static int has_other_preset(const struct compare *c)
{
	return !same_fact(&c->was->settings, &c->now->settings, FACT_PRESET_NAME,
	    FACT_NONE);
}

static void compare_fixed(void *data, const struct fact *was, const struct fact *now)
{
	struct compare *c = data;
	const struct fact *f = now ? now : was;
	const char *pass = c->now->pass[c->p].name;

	if (is_part(f))
		return;
	if (fact_flags(f->kind) & FACT_IS_FOLLOWED) {
		if (c->with_followed)
			report(c, fact_reason(f->kind), was, now, pass);
		return;
	}
	/* What is bound for the first time is told as that. */
	if (f->kind == FACT_SAMPLER && (!was || !now))
		return;
	if ((fact_flags(f->kind) & FACT_IS_PRESET) && has_other_preset(c) &&
	    report_setting(c, FACT_PRESET_NAME, pass))
		return;
	report(c, fact_reason(f->kind), was, now, pass);
}

/* Values over time ---------------------------------------------------------------------- */

/* A name's value in a variant, followed from step to step. */
struct follow {
	const struct facts *settings;
	enum fact_kind kind;
	const char *subject;
	size_t at; /* behind the fact that is next */
	int has_next;
	struct fact next, value;
	int since; /* frame of the step that set it, or -1 */
};

static void look_ahead(struct follow *f)
{
	do
		f->has_next = facts_next(f->settings, &f->at, &f->next);
	while (f->has_next &&
	    (f->next.kind != f->kind || strcmp(f->next.subject, f->subject) != 0 ||
		f->next.index == FACT_NONE || f->next.index > INT_MAX));
}

static int follow_init(struct follow *f, const struct facts *settings,
    enum fact_kind kind, const char *subject)
{
	*f = (struct follow){ .settings = settings,
		.kind = kind,
		.subject = subject,
		.since = -1 };
	look_ahead(f);
	return facts_get(settings, kind, subject, FACT_NONE, &f->value);
}

static void follow_to(struct follow *f, long frame)
{
	while (f->has_next && (long)f->next.index <= frame) {
		f->value = f->next;
		f->since = (int)f->next.index;
		look_ahead(f);
	}
}

/* The first frame of the span at which the values differ: 1, and both there. */
static int first_difference(const struct compare *c, enum fact_kind kind,
    const char *subject, struct span s, struct follow *was, struct follow *now)
{
	long at = s.lo;

	if (!follow_init(was, &c->was->settings, kind, subject) ||
	    !follow_init(now, &c->now->settings, kind, subject))
		return 0;
	for (;;) {
		follow_to(was, at);
		follow_to(now, at);
		if (!fact_equal(&was->value, &now->value))
			return 1;
		if (!was->has_next && !now->has_next)
			return 0;
		at =
		    !now->has_next || (was->has_next && was->next.index < now->next.index)
		    ? (long)was->next.index
		    : (long)now->next.index;
		if (at > s.hi)
			return 0;
	}
}

static void report_keys(struct compare *c, const struct fact *was, const struct fact *now,
    int frame, const char *pass)
{
	char *a = value_of(was), *b = value_of(now);
	const char *key = *a ? a : b;

	if ((*a && *b) || strchr(key, ' ')) {
		reasons_add_at(c->out, REASON_TIMELINE, "timeline: keys", *a ? a : "none",
		    *b ? b : "none", pass, NULL, 0, frame);
	} else {
		char *what = xasprintf("timeline: key %s %s", key, *b ? "down" : "up");
		reasons_add_at(c->out, REASON_TIMELINE, what, NULL, NULL, pass, NULL, 0,
		    frame);
		free(what);
	}
	free(a);
	free(b);
}

/* 1 when the values differ in the span, and it was told. */
static int compare_values(struct compare *c, enum fact_kind kind, const char *subject,
    struct span s, const char *pass)
{
	struct follow was, now;

	if (!first_difference(c, kind, subject, s, &was, &now))
		return 0;
	int since = was.since > now.since ? was.since : now.since;
	if (kind == FACT_KEYS)
		report_keys(c, &was.value, &now.value, since < 0 ? 0 : since, pass);
	else if (since < 0)
		report(c, REASON_UNIFORM, &was.value, &now.value, pass);
	else
		report_as(c, REASON_TIMELINE, "timeline: ", &was.value, &now.value, pass,
		    since);
	return 1;
}

/* A pass at one frame -------------------------------------------------------------------- */

static void compare_uniform(struct compare *c, const struct fact *was,
    const struct fact *now, struct span s, const char *pass)
{
	struct fact value;
	int differs = was && !fact_equal(was, now);

	if (facts_get(&c->now->settings, FACT_VALUE, now->subject, FACT_NONE, &value)) {
		/* Used for the first time: the source says so. */
		if (was && !compare_values(c, FACT_VALUE, now->subject, s, pass) &&
		    differs)
			report(c, REASON_UNIFORM, was, now, pass);
		return;
	}
	switch (uniform_reason(now->subject)) {
	case REASON_TIMELINE:
		compare_values(c, FACT_MOUSE, "", s, pass);
		break;
	case REASON_DATE:
		if (differs)
			report_setting(c, FACT_DATE, pass);
		/* fall through */
	case REASON_FPS:
		if (differs)
			report_setting(c, FACT_FPS, pass);
		break;
	case REASON_SIZE:
		/* Sizes are told where they come from. */
		break;
	default:
		if (differs)
			report(c, REASON_UNIFORM, was, now, pass);
	}
}

/* How a channel is bound: told by what is bound, where that differs. */
static void compare_channel(struct compare *c, const struct fact *was,
    const struct fact *now, const char *pass)
{
	struct fact a, b;
	int has_a = facts_get(&c->was->pass[c->q].recipe, FACT_BOUND, "", now->index, &a);
	int has_b = facts_get(&c->now->pass[c->p].recipe, FACT_BOUND, "", now->index, &b);

	if (has_a && has_b && !fact_equal(&a, &b))
		return;
	report(c, REASON_CHANNEL, has_a && !has_b ? &a : was, has_b && !has_a ? &b : now,
	    pass);
}

static void compare_asset(struct compare *c, uint32_t channel, const char *pass)
{
	struct fact bound;
	char *what, *path;

	if (!same_fact(&c->was->pass[c->q].recipe, &c->now->pass[c->p].recipe, FACT_BOUND,
		channel))
		return;
	if (!facts_get(&c->now->pass[c->p].recipe, FACT_BOUND, "", channel, &bound) ||
	    bound.n <= 3) {
		reasons_add(c->out, REASON_ASSET, "an asset changed", NULL, NULL, pass);
		return;
	}
	char *value = value_of(&bound);
	what = xasprintf("%s changed", value);
	path = xstrndup((const char *)bound.bytes + 3, bound.n - 3);
	reasons_add_at(c->out, REASON_ASSET, what, NULL, NULL, pass, path, 0, -1);
	free(value);
	free(what);
	free(path);
}

static void compare_size(struct compare *c, const struct fact *was,
    const struct fact *now, const char *pass)
{
	if (!same_fact(&c->was->pass[c->q].fixed, &c->now->pass[c->p].fixed,
		FACT_OWN_SIZE, FACT_NONE))
		return;
	if (!(has_other_preset(c) && report_setting(c, FACT_PRESET_NAME, pass)) &&
	    !report_setting(c, FACT_SIZE, pass) && c->with_followed)
		report(c, REASON_SIZE, was, now, pass);
}

static void compare_recipe(void *data, const struct fact *was, const struct fact *now)
{
	struct compare *c = data;
	const struct fact *f = now ? now : was;
	const char *pass = c->now->pass[c->p].name;

	switch (f->kind) {
	case FACT_UNIFORM:
		if (c->with_followed)
			report(c, REASON_UNIFORM, was, now, pass);
		return; /* else see compare_pass */
	case FACT_KEYBOARD:
		if (c->with_followed)
			report(c, REASON_TIMELINE, was, now, pass);
		return;
	case FACT_CHANNEL:
		if (was && now)
			compare_channel(c, was, now, pass);
		return;
	case FACT_ASSET:
		if (was && now)
			compare_asset(c, f->index, pass);
		return;
	case FACT_SIZE:
		if (was && now)
			compare_size(c, was, now, pass);
		return;
	default:
		break;
	}
	if (fact_flags(f->kind) & FACT_IS_FOLLOWED ? c->with_followed : was && now)
		report(c, fact_reason(f->kind), was, now, pass);
}

static void compare_pass(struct compare *c, size_t p)
{
	const struct record_pass *pass = &c->now->pass[p], *old;
	struct span s = c->span[p];
	struct fact was, now;

	c->p = p;
	c->q = find_pass(c->was, pass->name);
	if (c->q == PASS_NONE) {
		char *what = xasprintf("pass '%s' is new", pass->name);
		reasons_add(c->out, REASON_PASS, what, NULL, NULL, NULL);
		free(what);
		return;
	}
	old = &c->was->pass[c->q];
	compare_source(c, REASON_SOURCE);
	facts_compare(&old->fixed, &pass->fixed, compare_fixed, c);
	/* Values may differ at an earlier frame of the span alone. */
	for (size_t at = 0; facts_next(&pass->recipe, &at, &now);) {
		int has_was = facts_find(&old->recipe, &now, &was);
		if (now.kind == FACT_UNIFORM)
			compare_uniform(c, has_was ? &was : NULL, &now, s, pass->name);
		/* What was pressed long ago stays toggled. */
		else if (now.kind == FACT_KEYBOARD && has_was &&
		    (!fact_equal(&was, &now) || s.lo < c->now->frame))
			compare_values(c, FACT_KEYS, "", (struct span){ 0, s.hi },
			    pass->name);
	}
	facts_compare(&old->recipe, &pass->recipe, compare_recipe, c);
}

/* What draws nothing ---------------------------------------------------------------------- */

static int has_reason_in(const struct reasons *r, const char *file)
{
	for (size_t i = 0; i < r->nreason; i++)
		if (r->reason[i].file && strcmp(r->reason[i].file, file) == 0)
			return 1;
	return 0;
}

static void compare_file(void *data, const struct fact *was, const struct fact *now)
{
	struct compare *c = data;

	if (!was || !now || has_reason_in(c->out, now->subject))
		return;
	int is_source = now->index == FACT_NONE;
	char *what = is_source
	    ? xasprintf("only comments or white space changed "
			"in %s",
		  now->subject)
	    : xasprintf("%s %s changed, but nothing uses it",
		  asset_kind_name(now->index <= ASSET_VIDEO ? (enum asset_kind)now->index
							    : ASSET_TEXTURE),
		  now->subject);
	reasons_add_at(c->out, is_source ? REASON_COMMENT : REASON_INACTIVE, what, NULL,
	    NULL, NULL, now->subject, 0, -1);
	free(what);
}

/* Files, uniforms and steps that no drawn pass uses. */
static void compare_unused(struct compare *c)
{
	struct span s = { 0, c->now->frame };
	struct follow was, now;
	struct fact f;

	for (c->p = 0; c->p < c->now->npass; c->p++) {
		c->q = find_pass(c->was, c->now->pass[c->p].name);
		if (c->q == PASS_NONE)
			continue;
		compare_source(c, REASON_EQUAL);
		compare_source(c, REASON_UNUSED);
	}
	facts_compare(&c->was->files, &c->now->files, compare_file, c);
	for (size_t at = 0; facts_next(&c->now->settings, &at, &f);)
		if (f.kind == FACT_VALUE && f.index == FACT_NONE &&
		    first_difference(c, FACT_VALUE, f.subject, s, &was, &now))
			report(c, REASON_INACTIVE, &was.value, &now.value, NULL);
}

static void compare_setting(void *data, const struct fact *was, const struct fact *now)
{
	struct compare *c = data;
	const struct fact *f = now ? now : was;

	if (f->kind != FACT_SETTING || c->out->nreason >= c->max)
		return;
	struct buf name = BUF_INIT;
	char *a = value_of(was), *b = value_of(now);
	fact_print_name(f, &name);
	reasons_add(c->out, REASON_SETTING, buf_str(&name), strlen(a) > 60 ? "..." : a,
	    strlen(b) > 60 ? "..." : b, NULL);
	buf_release(&name);
	free(a);
	free(b);
}

/* Any other fact of the settings, where nothing else was said. */
static void compare_rest(void *data, const struct fact *was, const struct fact *now)
{
	struct compare *c = data;

	if (c->out->nreason < c->max)
		report(c, fact_reason((now ? now : was)->kind), was, now, NULL);
}

/* Drivers ------------------------------------------------------------------------------ */

enum { DRIVER_SHOWN = 4 };

struct driver_compare {
	const char *order; /* what the names begin with */
	struct reasons *out;
	size_t max;
};

/* "Mesa 22.3.6" and "23.1.0": what differs, and a word before it. */
static void report_driver(void *data, const struct fact *was_fact,
    const struct fact *now_fact)
{
	const struct driver_compare *c = data;
	const char *name = (now_fact ? now_fact : was_fact)->subject;
	size_t same = 0, word = 0, before = 0;

	if (strncmp(name, c->order, strlen(c->order)) != 0 || c->out->nreason >= c->max)
		return;
	char *was = value_of(was_fact), *now = value_of(now_fact);
	for (; was[same] && was[same] == now[same]; same++)
		if (was[same] == ' ') {
			before = word;
			word = same + 1;
		}
	int has_word = word > 0 && strncmp(name, "gl.", 3) == 0;
	char *what = has_word
	    ? xasprintf("driver: %.*s", (int)(word - before - 1), was + before)
	    : xasprintf("driver: %s", name);
	reasons_add(c->out, REASON_DRIVER, what, was + (has_word ? word : 0),
	    now + (has_word ? word : 0), NULL);
	free(what);
	free(was);
	free(now);
}

static int same_lists(const struct facts *a, const struct facts *b)
{
	return a->bytes.len == b->bytes.len &&
	    memcmp(buf_str(&a->bytes), buf_str(&b->bytes), a->bytes.len) == 0;
}

void record_compare_drivers(const struct facts *was, const struct facts *now,
    struct reasons *out)
{
	/* What the driver says of itself comes first, its libraries last. */
	static const char *const order[] = { "gl.", "env.", "cpu.", "" };
	size_t first = out->nreason;

	if (same_lists(was, now))
		return;
	for (size_t o = 0;
	     o < sizeof order / sizeof *order && (o < 3 || out->nreason == first); o++) {
		struct driver_compare c = { order[o], out, first + DRIVER_SHOWN };
		facts_compare(was, now, report_driver, &c);
	}
	if (out->nreason == first)
		reasons_add(out, REASON_DRIVER, "the driver changed", NULL, NULL, NULL);
}

/* All of it ----------------------------------------------------------------------------- */

static void compare_drawn(struct compare *c)
{
	size_t n = c->now->npass;

	for (size_t p = 0; p < n; p++)
		c->span[p] = (struct span){ 0, -1 };
	/* The image is last; what does not lead to it comes after. */
	for (size_t i = n; i-- > 0;)
		if (!same_key(c, i) && c->span[i].hi < 0) {
			visit(c, i, c->now->frame, c->now->frame);
			visit_all(c);
		}
	for (size_t i = 0; i < c->norder; i++)
		compare_pass(c, c->order[i]);
}

void record_compare(const struct record *was, const struct record *now,
    struct reasons *out)
{
	struct compare c = { .was = was, .now = now, .out = out };
	size_t n = now->npass + 1, first = out->nreason;
	int has_driver = !same_lists(&was->driver, &now->driver);
	struct fact a, b;

	c.span = xcalloc(n, sizeof *c.span);
	c.nwidened = xcalloc(n, sizeof *c.nwidened);
	c.is_queued = xcalloc(n, sizeof *c.is_queued);
	c.order = xcalloc(n, sizeof *c.order);
	compare_drawn(&c);
	if (out->nreason == first && c.norder > 0 && !has_driver) {
		c.with_followed = 1;
		for (size_t i = 0; i < c.norder; i++)
			compare_pass(&c, c.order[i]);
	}
	if (has_driver)
		record_compare_drivers(&was->driver, &now->driver, out);
	if (facts_get(&was->settings, FACT_TOOL, "", FACT_NONE, &a) &&
	    facts_get(&now->settings, FACT_TOOL, "", FACT_NONE, &b) &&
	    !fact_equal(&a, &b))
		report(&c, REASON_TOOL, &a, &b, NULL);
	if (was->has_intermediates != now->has_intermediates)
		reasons_add(out, REASON_INTERMEDIATES,
		    now->has_intermediates ? "intermediates are requested"
					   : "intermediates are no longer requested",
		    NULL, NULL, NULL);
	c.max = first + 8;
	if (out->nreason == first)
		compare_unused(&c);
	if (out->nreason == first)
		facts_compare(&was->settings, &now->settings, compare_setting, &c);
	if (out->nreason == first)
		facts_compare(&was->settings, &now->settings, compare_rest, &c);
	free(c.span);
	free(c.nwidened);
	free(c.is_queued);
	free(c.order);
}

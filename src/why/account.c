#include "why/account.h"

#include <stdlib.h>
#include <string.h>

#include "project/doc.h"
#include "util/map.h"
#include "util/mem.h"

void account_release(struct account *a)
{
	for (size_t i = 0; i < a->npass; i++) {
		free(a->pass[i].name);
		free(a->pass[i].key);
		free(a->pass[i].fixed);
		free(a->pass[i].recipe);
		free(a->pass[i].base);
	}
	free(a->pass);
	free(a->tool);
	free(a->driver);
	free(a->settings);
	free(a->variant);
	free(a->files);
	memset(a, 0, sizeof *a);
}

/* Fields ------------------------------------------------------------------------ */

struct field {
	char *name, *value;
	char *tail;		/* behind a tab, or "" */
};

/* The lines of a text, cut in place. */
struct fields {
	char *text;		/* owned */
	struct field *field;
	size_t nfield, cap;
	struct map index;	/* by name; of parts by name, tab, file */
};

/* Parts of sources may have one name in several files. */
static int is_part(const char *name)
{
	static const char *const word[] = { "function ", "macro ",
		"declarations" };

	if (strncmp(name, "unused ", 7) == 0)
		name += 7;
	for (size_t i = 0; i < sizeof word / sizeof *word; i++)
		if (strncmp(name, word[i], strlen(word[i])) == 0)
			return 1;
	return 0;
}

static char *index_key(const struct field *f)
{
	return is_part(f->name) ? xasprintf("%s\t%s", f->name, f->tail) :
		xstrdup(f->name);
}

static void fields_init(struct fields *f, const char *text)
{
	memset(f, 0, sizeof *f);
	f->text = xstrdup(text ? text : "");
	for (char *line = f->text, *next; *line; line = next) {
		size_t n = strcspn(line, "\n");
		next = line + n + (line[n] == '\n');
		line[n] = '\0';
		char *colon = strstr(line, ": ");
		if (!colon)
			continue;
		*colon = '\0';
		char *value = colon + 2, *tab = strrchr(value, '\t');
		if (tab)
			*tab = '\0';
		f->field = array_grow(f->field, f->nfield, &f->cap,
			sizeof *f->field);
		f->field[f->nfield] = (struct field){ line, value,
			tab ? tab + 1 : value + strlen(value) };
		char *key = index_key(&f->field[f->nfield]);
		map_puts(&f->index, key, f->nfield++);
		free(key);
	}
}

static void fields_release(struct fields *f)
{
	free(f->text);
	free(f->field);
	map_release(&f->index);
}

static const struct field *fields_get(const struct fields *f, const char *name)
{
	size_t i = map_gets(&f->index, name);

	return i == MAP_NONE ? NULL : &f->field[i];
}

static const struct field *fields_like(const struct fields *f, const struct field *like)
{
	char *key = index_key(like);
	const struct field *found = fields_get(f, key);

	free(key);
	return found;
}

static int starts(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

static int same_field(const struct fields *a, const struct fields *b, const char *name)
{
	const struct field *x = fields_get(a, name), *y = fields_get(b, name);

	return x && y ? strcmp(x->value, y->value) == 0 : !x && !y;
}

/* Comparing ---------------------------------------------------------------------- */

struct span { int lo, hi; };	/* frames whose nodes count; hi -1: none */

struct side {			/* an account, taken apart */
	const struct account *account;
	struct fields variant;
	struct fields *fixed, *recipe;	/* a pass each */
};

struct compare {
	struct side was, now;
	struct span *span;	/* a pass of now each */
	int *nwidened, *is_queued;
	size_t *order;		/* passes, as they were come to */
	size_t norder;
	int with_derived;	/* take what mostly follows from something else */
	struct reasons *out;
};

static void side_init(struct side *s, const struct account *a)
{
	s->account = a;
	fields_init(&s->variant, a->variant);
	s->fixed = xcalloc(a->npass + 1, sizeof *s->fixed);
	s->recipe = xcalloc(a->npass + 1, sizeof *s->recipe);
	for (size_t i = 0; i < a->npass; i++) {
		fields_init(&s->fixed[i], a->pass[i].fixed);
		fields_init(&s->recipe[i], a->pass[i].recipe);
	}
}

static void side_release(struct side *s)
{
	fields_release(&s->variant);
	for (size_t i = 0; i < s->account->npass; i++) {
		fields_release(&s->fixed[i]);
		fields_release(&s->recipe[i]);
	}
	free(s->fixed);
	free(s->recipe);
}

#define PASS_NONE ((size_t)-1)

static size_t find_pass(const struct account *a, const char *name)
{
	for (size_t i = 0; i < a->npass; i++)
		if (strcmp(a->pass[i].name, name) == 0)
			return i;
	return PASS_NONE;
}

static int same_key(const struct compare *c, size_t p)
{
	size_t q = find_pass(c->was.account, c->now.account->pass[p].name);

	return q != PASS_NONE && strcmp(c->was.account->pass[q].key,
		c->now.account->pass[p].key) == 0;
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
		if ((size_t)++c->nwidened[p] > 2 * c->now.account->npass) {
			s->lo = 0;
			s->hi = c->now.account->frame;
		}
	}
	c->is_queued[p] = 1;
}

/* The pass that a channel's value names: "pass 'NAME' output 0 previous". */
static size_t named_pass(const struct compare *c, const char *value, int *is_previous)
{
	const char *end = NULL;

	if (!starts(value, "pass '"))
		return PASS_NONE;
	for (const char *at = value; (at = strstr(at, "' output ")); at++)
		end = at;
	if (!end)
		return PASS_NONE;
	char *name = xstrndup(value + 6, (size_t)(end - value) - 6);
	size_t p = find_pass(c->now.account, name);
	*is_previous = strstr(end, " previous") != NULL;
	free(name);
	return p;
}

/* All that may write the storage buffer of a "'NAME' of 64 bytes". */
static void visit_writers(struct compare *c, const char *value, int hi)
{
	size_t n = strcspn(value, "\n");

	for (size_t k = n; k > 0; k--)
		if (starts(value + k, "' of ")) {
			n = k;
			break;
		}
	for (size_t p = 0; p < c->now.account->npass; p++)
		for (size_t i = 0; i < c->now.recipe[p].nfield; i++) {
			const struct field *f = &c->now.recipe[p].field[i];
			if (starts(f->name, "storage ") &&
			    strncmp(f->value, value, n) == 0 &&
			    starts(f->value + n, "' of ") &&
			    strstr(f->value + n, ", written"))
				visit(c, p, 0, hi);
		}
}

static void visit_inputs(struct compare *c, size_t p)
{
	const struct span s = c->span[p];
	size_t q = find_pass(c->was.account, c->now.account->pass[p].name);
	int is_exact = s.lo == c->now.account->frame;

	if (q == PASS_NONE)
		return;
	for (size_t i = 0; i < c->now.recipe[p].nfield; i++) {
		const struct field *now = &c->now.recipe[p].field[i];
		const struct field *was = fields_get(&c->was.recipe[q],
			now->name);
		int is_previous = 0;
		if (!was || (is_exact && strcmp(was->tail, now->tail) == 0))
			continue;
		if (starts(now->name, "channel ")) {
			size_t from = named_pass(c, now->value, &is_previous);
			/* Something else that is bound is where the path ends. */
			if (from != PASS_NONE && strcmp(was->value,
			    now->value) == 0)
				visit(c, from, s.lo - is_previous,
					s.hi - is_previous);
		} else if (starts(now->name, "history ")) {
			int back = atoi(now->name + 8);
			visit(c, p, s.lo - back, s.hi - back);
		} else if (starts(now->name, "storage ")) {
			visit_writers(c, now->value, s.hi);
		}
	}
}

static void visit_all(struct compare *c)
{
	for (int is_busy = 1; is_busy; ) {
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

/* Sources -------------------------------------------------------------------------- */

static int line_of(const struct account_pass *pass, const char *name, const char *file)
{
	static const char *const kind[] = {
		[PART_FUNCTION] = "function ",
		[PART_MACRO] = "macro ",
		[PART_REST] = "declarations",
	};

	for (size_t i = 0; i < pass->npart; i++) {
		const struct part *part = &pass->part[i];
		size_t n = strlen(kind[part->kind]);
		if (strncmp(name, kind[part->kind], n) == 0 &&
		    strcmp(name + n, part->name) == 0 &&
		    strcmp(file, part->file) == 0)
			return part->line;
	}
	return 0;
}

/* 1 for a hash as texts have it; a macro's short body is shown as it stands. */
static int is_hash(const char *value)
{
	return strlen(value) == 16 && strspn(value, "0123456789abcdef") == 16;
}

struct part_change { const struct field *was, *now; };	/* one of them at least */

/* What a line of a part is to people: "function step() changed". */
static void tell_part(struct reasons *out, enum reason_kind kind,
	const struct account_pass *pass, struct part_change how)
{
	const struct field *f = how.now ? how.now : how.was;
	const char *name = starts(f->name, "unused ") ? f->name + 7 : f->name;
	int is_rest = starts(name, "declarations");
	/* A short macro is shown as it stands. */
	int has_values = kind == REASON_SOURCE && how.was && how.now &&
		starts(name, "macro ") && !is_hash(how.was->value) &&
		!is_hash(how.now->value);
	struct buf what = BUF_INIT;

	if (kind != REASON_SOURCE)
		buf_addf(&what, "%s: ", f->tail);
	buf_addf(&what, "%s%s", is_rest ? "top-level declarations" : name,
		starts(name, "function ") ? "()" : "");
	if (!has_values)
		buf_addf(&what, " %s", !how.was ? "added" : !how.now ?
			"removed" : "changed");
	buf_addstr(&what, kind == REASON_EQUAL ? " and gives the same" :
		kind == REASON_UNUSED ? ", which nothing uses" : "");
	reasons_add_at(out, kind, buf_str(&what), has_values ? how.was->value :
		NULL, has_values ? how.now->value : NULL,
		kind == REASON_UNUSED ? NULL : pass->name, f->tail,
		line_of(pass, name, f->tail), -1);
	buf_release(&what);
}

/* Parts that differ, of used code or unused; how many. */
static size_t compare_parts(const struct fields *was, const struct fields *now,
	int of_unused, enum reason_kind kind, const struct account_pass *pass,
	struct reasons *out)
{
	size_t n = 0;

	for (size_t i = 0; i < now->nfield; i++) {
		const struct field *f = &now->field[i];
		const struct field *old = fields_like(was, f);
		if (!is_part(f->name) ||
		    starts(f->name, "unused ") != of_unused ||
		    (old && strcmp(old->value, f->value) == 0))
			continue;
		tell_part(out, kind, pass, (struct part_change){ old, f });
		n++;
	}
	for (size_t i = 0; i < was->nfield; i++) {
		const struct field *f = &was->field[i];
		if (!is_part(f->name) ||
		    starts(f->name, "unused ") != of_unused ||
		    fields_like(now, f))
			continue;
		tell_part(out, kind, pass, (struct part_change){ f, NULL });
		n++;
	}
	return n;
}

static void compare_source(const struct fields *was, const struct fields *now,
	enum reason_kind kind, const struct account_pass *pass,
	struct reasons *out)
{
	if (same_field(was, now, "tokens") ||
	    compare_parts(was, now, 0, kind, pass, out) > 0)
		return;
	reasons_add_at(out, kind, kind == REASON_EQUAL ?
		"the order of its text changed and gives the same" :
		"the order of its text changed", NULL, NULL, pass->name,
		pass->npart > 0 ? pass->part[0].file : NULL, 0, -1);
}

/* The rest of a static part ---------------------------------------------------------- */

static int has_other_preset(const struct compare *c)
{
	return fields_get(&c->was.variant, "preset") &&
		fields_get(&c->now.variant, "preset") &&
		!same_field(&c->was.variant, &c->now.variant, "preset");
}

static void tell_preset(struct compare *c, const char *pass)
{
	const struct field *was = fields_get(&c->was.variant, "preset");
	const struct field *now = fields_get(&c->now.variant, "preset");

	if (was && now)
		reasons_add(c->out, REASON_PRESET, "preset", was->value,
			now->value, pass);
}

static enum reason_kind fixed_kind(const char *name)
{
	return starts(name, "sampler ") ? REASON_SAMPLER :
		starts(name, "header") ? REASON_TOOL : REASON_PASS;
}

static void compare_fixed(struct compare *c, const struct fields *was,
	const struct fields *now, const struct account_pass *pass)
{
	compare_source(was, now, REASON_SOURCE, pass, c->out);
	for (size_t i = 0; i < now->nfield; i++) {
		const struct field *f = &now->field[i];
		const struct field *old = fields_like(was, f);
		if (is_part(f->name) || starts(f->name, "driver") ||
		    starts(f->name, "tokens") ||
		    (old && strcmp(old->value, f->value) == 0))
			continue;
		/* What is bound for the first time is told as that. */
		if (!old && starts(f->name, "sampler "))
			continue;
		if (has_other_preset(c) && (starts(f->name, "own size") ||
		    starts(f->name, "iterations") ||
		    starts(f->name, "local size")))
			tell_preset(c, pass->name);
		else
			reasons_add(c->out, fixed_kind(f->name), f->name,
				old ? old->value : "none", f->value, pass->name);
	}
	for (size_t i = 0; i < was->nfield; i++) {
		const struct field *f = &was->field[i];
		if (!is_part(f->name) && !starts(f->name, "sampler ") &&
		    !fields_like(now, f))
			reasons_add(c->out, REASON_PASS, f->name, f->value,
				"none", pass->name);
	}
}

/* Values over time ---------------------------------------------------------------------- */

/* A step's line is "step FRAME NAME"; the frame, or -1 when it is no step of name. */
static int step_frame(const struct field *f, const char *name)
{
	char *rest;

	if (!starts(f->name, "step "))
		return -1;
	long frame = strtol(f->name + 5, &rest, 10);
	return *rest == ' ' && strcmp(rest + 1, name) == 0 ? (int)frame : -1;
}

/* A name's value, followed from step to step. */
struct follow {
	const struct fields *variant;
	const char *name;
	size_t next;		/* field to look at next */
	const char *value;
	int since;		/* frame of the step that set it, or -1 */
};

static void follow_init(struct follow *f, const struct fields *variant, const char *name)
{
	const struct field *base = fields_get(variant, name);

	*f = (struct follow){ variant, name, 0, base ? base->value : "", -1 };
}

/* Frame of the next step; INT_MAX-like when there is none. */
static long next_step(struct follow *f)
{
	for (; f->next < f->variant->nfield; f->next++) {
		int frame = step_frame(&f->variant->field[f->next], f->name);
		if (frame >= 0)
			return frame;
	}
	return (long)1 << 30;
}

static void follow_to(struct follow *f, long frame)
{
	while (next_step(f) <= frame) {
		f->value = f->variant->field[f->next].value;
		f->since = (int)next_step(f);
		f->next++;
	}
}

/* The first frame of the span at which the values differ: 1, and both there. */
static int first_difference(const struct compare *c, const char *name, struct span s,
	struct follow *was, struct follow *now)
{
	long at = s.lo;

	follow_init(was, &c->was.variant, name);
	follow_init(now, &c->now.variant, name);
	for (;;) {
		follow_to(was, at);
		follow_to(now, at);
		if (strcmp(was->value, now->value) != 0)
			return 1;
		long a = next_step(was), b = next_step(now);
		at = a < b ? a : b;
		if (at > s.hi)
			return 0;
	}
}

static int is_one_key(const char *value)
{
	return *value && !strchr(value, ' ');
}

static void tell_keys(struct compare *c, const struct follow *was,
	const struct follow *now, int frame, const char *pass)
{
	const char *key = *was->value ? was->value : now->value;
	char *what = NULL;

	if ((*was->value && *now->value) || !is_one_key(key)) {
		reasons_add_at(c->out, REASON_TIMELINE, "timeline: keys",
			*was->value ? was->value : "none",
			*now->value ? now->value : "none", pass, NULL, 0,
			frame);
		return;
	}
	what = xasprintf("timeline: key %s %s", key,
		*now->value ? "down" : "up");
	reasons_add_at(c->out, REASON_TIMELINE, what, NULL, NULL, pass, NULL,
		0, frame);
	free(what);
}

/* 1 when the name's values differ in the span, and it was told. */
static int compare_values(struct compare *c, const char *name, struct span s,
	const char *pass)
{
	struct follow was, now;

	if (!first_difference(c, name, s, &was, &now))
		return 0;
	int since = was.since > now.since ? was.since : now.since;
	if (strcmp(name, "keys") == 0) {
		tell_keys(c, &was, &now, since < 0 ? 0 : since, pass);
	} else if (since < 0) {
		reasons_add(c->out, REASON_UNIFORM, name, was.value, now.value,
			pass);
	} else {
		char *what = xasprintf("timeline: %s", name);
		reasons_add_at(c->out, REASON_TIMELINE, what, was.value,
			now.value, pass, NULL, 0, since);
		free(what);
	}
	return 1;
}

/* Recipes ------------------------------------------------------------------------------- */

static void tell_variant(struct compare *c, enum reason_kind kind, const char *name,
	const char *pass)
{
	const struct field *was = fields_get(&c->was.variant, name);
	const struct field *now = fields_get(&c->now.variant, name);

	if (was && now && strcmp(was->value, now->value) != 0)
		reasons_add(c->out, kind, name, was->value, now->value, pass);
}

/* "iCh0.time", the other name of iChannelTime[0]. */
static int is_channel_time(const char *name)
{
	return !strncmp(name, "iCh", 3) && name[3] && !strcmp(name + 4, ".time");
}

static void compare_uniform(struct compare *c, const struct field *was,
	const struct field *now, struct span s, const char *pass)
{
	static const char *const of_time[] = { "iTime", "iTimeDelta",
		"iFrameRate", "iChannelTime" };
	const char *name = now->name + 8;
	int differs = !was || strcmp(was->value, now->value) != 0;

	if (strcmp(name, "iMouse") == 0) {
		compare_values(c, "mouse", s, pass);
		return;
	}
	if (fields_get(&c->now.variant, now->name)) {
		if (!was)
			return;		/* used for the first time: the source */
		if (!compare_values(c, now->name, s, pass) && differs)
			reasons_add(c->out, REASON_UNIFORM, now->name,
				was->value, now->value, pass);
		return;
	}
	if (!differs || !was)
		return;
	for (size_t i = 0; i < sizeof of_time / sizeof *of_time; i++)
		if (strcmp(name, of_time[i]) == 0 || is_channel_time(name)) {
			tell_variant(c, REASON_FPS, "fps", pass);
			return;
		}
	if (strcmp(name, "iDate") == 0) {
		tell_variant(c, REASON_DATE, "date", pass);
		tell_variant(c, REASON_FPS, "fps", pass);
		return;
	}
	/* Sizes are told where they come from. */
	if ((strcmp(name, "iResolution") != 0 &&
	    strcmp(name, "iChannelResolution") != 0) || c->with_derived)
		reasons_add(c->out, REASON_UNIFORM, now->name, was->value,
			now->value, pass);
}

static void compare_channel(struct compare *c, const struct field *was,
	const struct field *now, struct span s, const char *pass)
{
	int is_same = was && strcmp(was->value, now->value) == 0;

	if (was && starts(was->value, "keyboard") &&
	    starts(now->value, "keyboard")) {
		/* What was pressed long ago stays toggled. */
		if (!is_same || s.lo < c->now.account->frame)
			compare_values(c, "keys", (struct span){ 0, s.hi },
				pass);
		return;
	}
	if (!was)
		return;			/* used for the first time: the source */
	if (!is_same) {
		reasons_add(c->out, REASON_CHANNEL, now->name, was->value,
			now->value, pass);
		return;
	}
	if (starts(now->value, "pass '") || strcmp(was->tail, now->tail) == 0)
		return;
	const char *path = strchr(now->value, ' ');
	char *what = xasprintf("%s changed", now->value);
	reasons_add_at(c->out, REASON_ASSET, what, NULL, NULL, pass,
		path ? path + 1 : NULL, 0, -1);
	free(what);
}

static void compare_recipe(struct compare *c, size_t p, size_t q)
{
	const struct fields *was = &c->was.recipe[q], *now = &c->now.recipe[p];
	const char *pass = c->now.account->pass[p].name;
	struct span s = c->span[p];

	for (size_t i = 0; i < now->nfield; i++) {
		const struct field *f = &now->field[i];
		const struct field *old = fields_get(was, f->name);
		int differs = !old || strcmp(old->value, f->value) != 0;
		if (starts(f->name, "uniform "))
			compare_uniform(c, old, f, s, pass);
		else if (starts(f->name, "channel "))
			compare_channel(c, old, f, s, pass);
		else if (starts(f->name, "storage ") && differs && old)
			reasons_add(c->out, REASON_STORAGE, f->name,
				old->value, f->value, pass);
		else if (starts(f->name, "decoder") && differs && old)
			reasons_add(c->out, REASON_TOOL, f->name, old->value,
				f->value, pass);
		else if (strcmp(f->name, "size") == 0 && differs &&
		    same_field(&c->was.fixed[q], &c->now.fixed[p],
		    "own size")) {
			if (has_other_preset(c))
				tell_preset(c, pass);
			else
				tell_variant(c, REASON_SIZE, "size", pass);
		}
	}
}

static void compare_pass(struct compare *c, size_t p)
{
	const struct account_pass *pass = &c->now.account->pass[p];
	size_t q = find_pass(c->was.account, pass->name);

	if (q == PASS_NONE) {
		char *what = xasprintf("pass '%s' is new", pass->name);
		reasons_add(c->out, REASON_PASS, what, NULL, NULL, NULL);
		free(what);
		return;
	}
	compare_fixed(c, &c->was.fixed[q], &c->now.fixed[p], pass);
	compare_recipe(c, p, q);
}

/* What draws nothing ---------------------------------------------------------------------- */

/* "pass.sim.format", and both values, where two documents first differ. */
static void compare_json(const cJSON *was, const cJSON *now, const char *path,
	struct reasons *out, size_t max)
{
	if (out->nreason >= max || cJSON_Compare(was, now, 1))
		return;
	int is_deep = was && now && was->type == now->type &&
		(cJSON_IsObject(now) || (cJSON_IsArray(now) &&
		cJSON_IsObject(now->child)));
	if (!is_deep) {
		char *a = was ? cJSON_PrintUnformatted(was) : NULL;
		char *b = now ? cJSON_PrintUnformatted(now) : NULL;
		char *what = xasprintf("setting %s", path);
		reasons_add(out, REASON_SETTING, what,
			!a ? "none" : strlen(a) > 60 ? "..." : a,
			!b ? "none" : strlen(b) > 60 ? "..." : b, NULL);
		cJSON_free(a);
		cJSON_free(b);
		free(what);
		return;
	}
	const cJSON *w = was->child, *n = now->child;
	if (cJSON_IsArray(now))
		for (size_t i = 0; w || n; i++) {
			const cJSON *name = cJSON_GetObjectItemCaseSensitive(
				n ? n : w, "name");
			char *at = cJSON_IsString(name) ? xasprintf("%s.%s",
				path, name->valuestring) :
				xasprintf("%s[%zu]", path, i);
			compare_json(w, n, at, out, max);
			free(at);
			w = w ? w->next : NULL;
			n = n ? n->next : NULL;
		}
	else
		for (int is_was = 0; is_was < 2; is_was++) {
			const cJSON *i = is_was ? was->child : now->child;
			for (; i; i = i->next) {
				const cJSON *other =
					cJSON_GetObjectItemCaseSensitive(
					is_was ? now : was, i->string);
				char *at = xasprintf("%s%s%s", path,
					*path ? "." : "", i->string);
				if (!is_was)
					compare_json(other, i, at, out, max);
				else if (!other)
					compare_json(i, NULL, at, out, max);
				free(at);
			}
		}
}

static void compare_settings(const struct account *was, const struct account *now,
	struct reasons *out)
{
	cJSON *a = was->settings ? cJSON_Parse(was->settings) : NULL;
	cJSON *b = now->settings ? cJSON_Parse(now->settings) : NULL;

	if (a && b)
		compare_json(a, b, "", out, out->nreason + 8);
	cJSON_Delete(a);
	cJSON_Delete(b);
}

/* Uniforms and steps that no drawn pass uses. */
static void compare_inactive(struct compare *c)
{
	const struct fields *now = &c->now.variant;
	struct span s = { 0, c->now.account->frame };

	for (size_t i = 0; i < now->nfield; i++) {
		const char *name = now->field[i].name;
		struct follow a, b;
		if (starts(name, "uniform ") &&
		    fields_get(&c->was.variant, name) &&
		    first_difference(c, name, s, &a, &b))
			reasons_add(c->out, REASON_INACTIVE, name, a.value,
				b.value, NULL);
	}
}

static int has_reason_in(const struct reasons *r, const char *file)
{
	for (size_t i = 0; i < r->nreason; i++)
		if (r->reason[i].file && strcmp(r->reason[i].file, file) == 0)
			return 1;
	return 0;
}

static void compare_files(struct compare *c)
{
	struct fields was, now;

	for (size_t p = 0; p < c->now.account->npass; p++) {
		const struct account_pass *pass = &c->now.account->pass[p];
		size_t q = find_pass(c->was.account, pass->name);
		if (q == PASS_NONE)
			continue;
		compare_source(&c->was.fixed[q], &c->now.fixed[p],
			REASON_EQUAL, pass, c->out);
		compare_parts(&c->was.fixed[q], &c->now.fixed[p], 1,
			REASON_UNUSED, pass, c->out);
	}
	fields_init(&was, c->was.account->files);
	fields_init(&now, c->now.account->files);
	for (size_t i = 0; i < now.nfield; i++) {
		const struct field *f = &now.field[i];
		const struct field *old = fields_get(&was, f->name);
		if (!old || strcmp(old->value, f->value) == 0 ||
		    has_reason_in(c->out, f->tail))
			continue;
		int is_source = starts(f->name, "source ");
		char *what = is_source ? xasprintf("%s: comment or white space "
			"only", f->tail) : xasprintf("%s changed, which "
			"nothing uses", f->name);
		reasons_add_at(c->out, is_source ? REASON_COMMENT :
			REASON_INACTIVE, what, NULL, NULL, NULL, f->tail, 0, -1);
		free(what);
	}
	fields_release(&was);
	fields_release(&now);
}

/* Drivers ------------------------------------------------------------------------------ */

/* "Mesa 22.3.6" and "23.1.0": what differs, and a word before it. */
static void tell_driver(struct reasons *out, const char *was, const char *now,
	const char *name)
{
	size_t same = 0, word = 0, before = 0;

	for (; was[same] && was[same] == now[same]; same++)
		if (was[same] == ' ') {
			before = word;
			word = same + 1;
		}
	char *what = word > 0 && starts(name, "gl.") ?
		xasprintf("driver: %.*s", (int)(word - before - 1),
		was + before) : xasprintf("driver: %s", name);
	int has_word = word > 0 && starts(name, "gl.");
	reasons_add(out, REASON_DRIVER, what, was + (has_word ? word : 0),
		now + (has_word ? word : 0), NULL);
	free(what);
}

/* Identity texts have lines "NAME VALUE". */
static void identity_fields(struct fields *f, const char *text)
{
	struct buf lines = BUF_INIT;

	for (; text && *text; text += strcspn(text, "\n"),
	    text += *text == '\n') {
		int name = (int)strcspn(text, " \n");
		int line = (int)strcspn(text, "\n");
		if (line > name)
			buf_addf(&lines, "%.*s: %.*s\n", name, text,
				line - name - 1, text + name + 1);
	}
	fields_init(f, buf_str(&lines));
	buf_release(&lines);
}

void account_compare_drivers(const char *was, const char *now, struct reasons *out)
{
	enum { SHOWN = 4 };
	/* What the driver says of itself comes first, its libraries last. */
	static const char *const order[] = { "gl.", "env.", "cpu.", "" };
	size_t first = out->nreason;
	struct fields a, b;

	identity_fields(&a, was);
	identity_fields(&b, now);
	for (size_t o = 0; o < sizeof order / sizeof *order &&
	    (o < 3 || out->nreason == first); o++) {
		for (size_t i = 0; i < b.nfield; i++) {
			const struct field *f = &b.field[i];
			const struct field *old = fields_get(&a, f->name);
			if (starts(f->name, order[o]) && (!old ||
			    strcmp(old->value, f->value) != 0) &&
			    out->nreason < first + SHOWN)
				tell_driver(out, old ? old->value : "none",
					f->value, f->name);
		}
		for (size_t i = 0; i < a.nfield; i++) {
			const struct field *f = &a.field[i];
			if (starts(f->name, order[o]) &&
			    !fields_get(&b, f->name) &&
			    out->nreason < first + SHOWN)
				tell_driver(out, f->value, "none", f->name);
		}
	}
	if (out->nreason == first)
		reasons_add(out, REASON_DRIVER, "the driver changed", NULL,
			NULL, NULL);
	fields_release(&a);
	fields_release(&b);
}

/* All of it ----------------------------------------------------------------------------- */

static void compare_drawn(struct compare *c)
{
	size_t n = c->now.account->npass;

	if (n == 0)
		return;
	for (size_t p = 0; p < n; p++)
		c->span[p] = (struct span){ 0, -1 };
	/* The image is last; what does not lead to it comes after. */
	for (size_t i = n; i-- > 0; )
		if (!same_key(c, i) && c->span[i].hi < 0) {
			visit(c, i, c->now.account->frame,
				c->now.account->frame);
			visit_all(c);
		}
	for (size_t i = 0; i < c->norder; i++)
		compare_pass(c, c->order[i]);
}

void account_compare(const struct account *was, const struct account *now,
	struct reasons *out)
{
	struct compare c = { .out = out };
	size_t n = now->npass + 1;
	int has_driver = was->driver && now->driver &&
		strcmp(was->driver, now->driver) != 0;

	side_init(&c.was, was);
	side_init(&c.now, now);
	c.span = xcalloc(n, sizeof *c.span);
	c.nwidened = xcalloc(n, sizeof *c.nwidened);
	c.is_queued = xcalloc(n, sizeof *c.is_queued);
	c.order = xcalloc(n, sizeof *c.order);
	compare_drawn(&c);
	if (out->nreason == 0 && c.norder > 0 && !has_driver) {
		c.with_derived = 1;
		for (size_t i = 0; i < c.norder; i++)
			compare_pass(&c, c.order[i]);
	}
	if (has_driver)
		account_compare_drivers(was->driver, now->driver, out);
	if (was->tool && now->tool && strcmp(was->tool, now->tool) != 0)
		reasons_add(out, REASON_TOOL, "stbuild", was->tool, now->tool,
			NULL);
	if (was->has_intermediates != now->has_intermediates)
		reasons_add(out, REASON_INTERMEDIATES, now->has_intermediates ?
			"intermediates are asked for" :
			"intermediates are no longer asked for", NULL, NULL,
			NULL);
	if (out->nreason == 0) {
		compare_files(&c);
		compare_inactive(&c);
	}
	if (out->nreason == 0)
		compare_settings(was, now, out);
	free(c.span);
	free(c.nwidened);
	free(c.is_queued);
	free(c.order);
	side_release(&c.was);
	side_release(&c.now);
}

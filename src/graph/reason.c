#include "graph/reason.h"

#include <stdlib.h>
#include <string.h>

#include "util/buf.h"
#include "util/mem.h"

const char *reason_word(enum reason_kind kind)
{
	static const char *const word[] = {
#define REASON(name, word, is_free) [REASON_##name] = word,
#include "graph/reason.def"
#undef REASON
	};

	return word[kind];
}

int reason_is_free(enum reason_kind kind)
{
	static const unsigned char is_free[] = {
#define REASON(name, word, is_free) [REASON_##name] = is_free,
#include "graph/reason.def"
#undef REASON
	};

	return is_free[kind];
}

char *reason_text(const struct reason *r)
{
	struct buf text = BUF_INIT;

	buf_addstr(&text, r->what);
	if (r->was && r->now)
		buf_addf(&text, " %s -> %s", r->was, r->now);
	if (r->frame >= 0)
		buf_addf(&text, " at frame %d", r->frame);
	for (size_t i = 0; i < r->npass; i++)
		buf_addf(&text, "%s%s",
		    i > 0               ? ", "
			: r->npass == 1 ? " (pass "
					: " (passes ",
		    r->pass[i]);
	if (r->npass > 0)
		buf_addch(&text, ')');
	if (reason_is_free(r->kind))
		buf_addstr(&text, "; nothing to draw");
	return buf_detach(&text);
}

static int same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static void add_pass(struct reason *r, const char *pass)
{
	for (size_t i = 0; i < r->npass; i++)
		if (strcmp(r->pass[i], pass) == 0)
			return;
	r->pass = xreallocarray(r->pass, r->npass + 1, sizeof *r->pass);
	r->pass[r->npass++] = xstrdup(pass);
}

/* The reason of that content; made when there is none. */
static struct reason *find(struct reasons *list, const struct reason *like)
{
	for (size_t i = 0; i < list->nreason; i++) {
		struct reason *r = &list->reason[i];
		if (r->kind == like->kind && r->frame == like->frame &&
		    same_text(r->what, like->what) && same_text(r->was, like->was) &&
		    same_text(r->now, like->now) && same_text(r->file, like->file))
			return r;
	}
	list->reason =
	    array_grow(list->reason, list->nreason, &list->cap, sizeof *list->reason);
	struct reason *r = &list->reason[list->nreason++];
	*r = (struct reason){ .kind = like->kind,
		.what = xstrdup(like->what),
		.was = xstrdup(like->was),
		.now = xstrdup(like->now),
		.file = xstrdup(like->file),
		.line = like->line,
		.frame = like->frame };
	return r;
}

struct reason *reasons_add(struct reasons *list, enum reason_kind kind, const char *what,
    const char *was, const char *now, const char *pass)
{
	return reasons_add_at(list, kind, what, was, now, pass, NULL, 0, -1);
}

struct reason *reasons_add_at(struct reasons *list, enum reason_kind kind,
    const char *what, const char *was, const char *now, const char *pass,
    const char *file, int line, int frame)
{
	/* Not written to: find copies. */
	struct reason like = { .kind = kind,
		.what = (char *)what,
		.was = (char *)was,
		.now = (char *)now,
		.file = (char *)file,
		.line = line,
		.frame = frame };
	struct reason *r = find(list, &like);

	if (pass)
		add_pass(r, pass);
	return r;
}

void reasons_merge(struct reasons *list, const struct reasons *from, int frame)
{
	for (size_t i = 0; i < from->nreason; i++) {
		struct reason *r = find(list, &from->reason[i]);
		for (size_t p = 0; p < from->reason[i].npass; p++)
			add_pass(r, from->reason[i].pass[p]);
		r->of = array_grow(r->of, r->nof, &r->of_cap, sizeof *r->of);
		r->of[r->nof++] = frame;
	}
}

void reasons_release(struct reasons *list)
{
	for (size_t i = 0; i < list->nreason; i++) {
		struct reason *r = &list->reason[i];
		free(r->what);
		free(r->was);
		free(r->now);
		free(r->file);
		for (size_t p = 0; p < r->npass; p++)
			free(r->pass[p]);
		free(r->pass);
		free(r->of);
	}
	free(list->reason);
	memset(list, 0, sizeof *list);
}

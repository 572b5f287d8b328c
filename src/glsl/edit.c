#include "edit.h"

#include <stdlib.h>

#include "util/mem.h"

void edits_add(struct edits *e, size_t token, enum edit_kind kind, char *text)
{
	e->edit = array_grow(e->edit, e->nedit, &e->cap, sizeof *e->edit);
	e->edit[e->nedit] = (struct edit){ token, e->nedit, kind, text };
	e->nedit++;
}

static int by_place(const void *a, const void *b)
{
	const struct edit *x = a, *y = b;
	if (x->token != y->token)
		return x->token < y->token ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

void edits_sort(struct edits *e)
{
	if (e->nedit)
		qsort(e->edit, e->nedit, sizeof *e->edit, by_place);
}

void edits_release(struct edits *e)
{
	for (size_t i = 0; i < e->nedit; i++)
		free(e->edit[i].text);
	free(e->edit);
	*e = (struct edits){ .nedit = 0 };
}

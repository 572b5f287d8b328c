#include "project/doc.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

static void set_hooks(void)
{
	cJSON_Hooks hooks = { xmalloc, free };
	cJSON_InitHooks(&hooks);
}

void json_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, set_hooks);
}

static size_t first_slot(const struct doc *doc, const cJSON *item)
{
	uint64_t hash = (uint64_t)(uintptr_t)item * 0x9e3779b97f4a7c15;
	return (size_t)(hash >> 32) & (doc->nslot - 1);
}

const struct doc_mark *doc_mark(const struct doc *doc, const cJSON *item)
{
	if (!doc->nslot)
		BUG("document '%s' has no marks", doc->name ? doc->name : "");
	size_t i = first_slot(doc, item);
	for (; doc->slot[i]; i = (i + 1) & (doc->nslot - 1))
		if (doc->mark[doc->slot[i] - 1].item == item)
			return &doc->mark[doc->slot[i] - 1];
	BUG("an item is not of document '%s'", doc->name);
}

/* Both syntaxes: "-12", "+1_000", "0xff_ff", "0o17", "0b1010". */
long long doc_integer(const struct doc *doc, const cJSON *item)
{
	const struct doc_mark *mark = doc_mark(doc, item);
	if (mark->kind != DOC_INTEGER)
		BUG("not an integer");
	char digits[80];
	size_t n = 0;
	int base = 10;
	const char *p = doc->text + mark->raw, *end = p + mark->nraw;
	if (end - p > 2 && p[0] == '0' && p[1] > '9') {
		base = p[1] == 'x' ? 16 : p[1] == 'o' ? 8 : 2;
		p += 2;
	}
	/* Leading zeros may be many, but not more than 64 digits count. */
	for (; p < end; p++) {
		if (*p == '_' || (*p == '0' && n == 0 && p + 1 < end))
			continue;
		if (n + 1 == sizeof digits)
			BUG("integer token too long");
		digits[n++] = *p;
	}
	digits[n] = '\0';
	errno = 0;
	long long v = strtoll(digits, NULL, base);
	if (errno)
		BUG("integer token beyond 64 bits");
	return v;
}

void doc_release(struct doc *doc)
{
	if (!doc)
		return;
	free(doc->name);
	free(doc->text);
	cJSON_Delete(doc->root);
	free(doc->mark);
	free(doc->slot);
	*doc = (struct doc){ 0 };
}

void doc_add_mark(struct doc *doc, const struct doc_mark *mark)
{
	doc->mark = array_grow(doc->mark, doc->nmark, &doc->cap, sizeof *doc->mark);
	doc->mark[doc->nmark++] = *mark;
}

void doc_finish(struct doc *doc)
{
	doc->nslot = 16;
	while (doc->nslot < doc->nmark * 2)
		doc->nslot *= 2;
	free(doc->slot);
	doc->slot = xcalloc(doc->nslot, sizeof *doc->slot);
	for (size_t m = 0; m < doc->nmark; m++) {
		size_t i = first_slot(doc, doc->mark[m].item);
		while (doc->slot[i])
			i = (i + 1) & (doc->nslot - 1);
		doc->slot[i] = m + 1;
	}
}

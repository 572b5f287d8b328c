/* From a struct manifest back to JSON, by the tables of manifest_keys.c. */
#include "manifest_keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/buf.h"
#include "util/mem.h"

struct writer {
	const struct manifest *m;
	unsigned sections;
};

static cJSON *write_table(const struct writer *w, const struct table *table,
    const void *from, const void *defaults);

static int int_of(const void *from, const struct key *key)
{
	return *(const int *)const_member(from, key->to);
}

static const void *pointer_of(const void *from, const struct key *key)
{
	const void *p;
	memcpy(&p, const_member(from, key->to), sizeof p);
	return p;
}

static size_t count_of(const void *from, const struct key *key)
{
	return *(const size_t *)const_member(from, key->count);
}

static cJSON *write_date(const struct date *d)
{
	struct buf text = BUF_INIT, second = BUF_INIT;
	int whole = (int)d->second;
	buf_addf(&text, "%04d-%02d-%02dT%02d:%02d:%02d", d->year, d->month, d->day,
	    d->hour, d->minute, whole);
	if (d->second > whole) {
		/* "0.25" without its zero */
		char digits[32];
		snprintf(digits, sizeof digits, "%.9f", d->second - whole);
		size_t n = strlen(digits);
		while (digits[n - 1] == '0')
			n--;
		buf_add(&second, digits, n);
		if (second.len > 2)
			buf_addstr(&text, buf_str(&second) + 1);
	}
	buf_addch(&text, 'Z');
	cJSON *json = cJSON_CreateString(buf_str(&text));
	buf_release(&text);
	buf_release(&second);
	return json;
}

static cJSON *write_set(const struct writer *w, const struct assignment *set, size_t n)
{
	cJSON *json = cJSON_CreateObject();
	for (size_t i = 0; i < n; i++)
		cJSON_AddItemToObject(json, w->m->uniform[set[i].uniform].name,
		    value_to_json(&set[i].value));
	return json;
}

static cJSON *write_source(const struct writer *w, const struct input_ref *input)
{
	return cJSON_CreateString(input->pass >= 0 ? w->m->pass[input->pass].name
		: input->asset >= 0                ? w->m->asset[input->asset].name
						   : input_kind_name(input->kind));
}

static cJSON *write_tables(const struct writer *w, const struct key *key,
    const void *from)
{
	cJSON *json = cJSON_CreateArray();
	const char *array = pointer_of(from, key);
	for (size_t i = 0; i < count_of(from, key); i++)
		cJSON_AddItemToArray(json,
		    write_table(w, key->table, array + i * key->table->size,
			key->table->defaults));
	return json;
}

static cJSON *write_presets(const struct writer *w, const struct key *key,
    const void *from)
{
	cJSON *json = cJSON_CreateObject();
	const struct preset *preset = pointer_of(from, key);
	for (size_t i = 0; i < count_of(from, key); i++)
		cJSON_AddItemToObject(json, preset[i].name,
		    write_table(w, key->table, &preset[i], key->table->defaults));
	return json;
}

static cJSON *write_preset_passes(const struct writer *w, const struct key *key,
    const void *from)
{
	cJSON *json = cJSON_CreateObject();
	const struct preset_pass *pass = pointer_of(from, key);
	for (size_t i = 0; i < count_of(from, key); i++)
		cJSON_AddItemToObject(json, w->m->pass[pass[i].pass].name,
		    write_table(w, key->table, &pass[i], key->table->defaults));
	return json;
}

static cJSON *write_list(const struct key *key, const void *from)
{
	cJSON *json = cJSON_CreateArray();
	size_t n = count_of(from, key);
	const void *list = pointer_of(from, key);
	for (size_t i = 0; i < n; i++)
		cJSON_AddItemToArray(json,
		    key->kind == KEY_PATHS ? cJSON_CreateString(((char *const *)list)[i])
			: key->kind == KEY_KEYS
			? cJSON_CreateNumber(((const uint8_t *)list)[i])
			: cJSON_CreateIntArray((const int *)list + 2 * i, 2));
	return json;
}

static cJSON *write_budgets(const struct writer *w, const struct key *key,
    const void *from)
{
	cJSON *json = cJSON_CreateObject();
	const struct test_budget *budget = pointer_of(from, key);
	for (size_t i = 0; i < count_of(from, key); i++)
		cJSON_AddNumberToObject(json, w->m->pass[budget[i].pass].name,
		    budget[i].ms);
	return json;
}

/* Tells whether a key holds anything but its default. */
static int is_default(const struct key *key, const void *from, const void *defaults)
{
	switch (key->kind) {
	case KEY_INT:
	case KEY_WORD:
	case KEY_BOOL:
	case KEY_PASS:
		return int_of(from, key) == int_of(defaults, key);
	case KEY_NUMBER:
	case KEY_AGE:
		return *(const double *)const_member(from, key->to) ==
		    *(const double *)const_member(defaults, key->to);
	case KEY_TRIPLE:
		return memcmp(const_member(from, key->to),
			   const_member(defaults, key->to), sizeof(int[3])) == 0;
	case KEY_BYTES:
		return *(const uint64_t *)const_member(from, key->to) ==
		    *(const uint64_t *)const_member(defaults, key->to);
	case KEY_DATE: {
		const struct date *a = const_member(from, key->to);
		const struct date *b = const_member(defaults, key->to);
		return a->year == b->year && a->month == b->month && a->day == b->day &&
		    a->hour == b->hour && a->minute == b->minute &&
		    a->second == b->second;
	}
	case KEY_CHECKPOINT:
		return ((const struct manifest *)from)->checkpoint == CHECKPOINT_AUTO;
	case KEY_FORMATS:
		return !((const struct pass *)from)->nextra_output;
	case KEY_TABLE:
		return 0;
	default:
		return key->count ? !count_of(from, key) : !pointer_of(from, key);
	}
}

static cJSON *write_simple(const struct key *key, const void *from)
{
	const void *at = const_member(from, key->to);
	switch (key->kind) {
	case KEY_INT:
		return cJSON_CreateNumber(int_of(from, key));
	case KEY_U32:
		return cJSON_CreateNumber(*(const uint32_t *)at);
	case KEY_U64:
	case KEY_BYTES:
		return cJSON_CreateNumber((double)*(const uint64_t *)at);
	case KEY_NUMBER:
		return cJSON_CreateNumber(*(const double *)at);
	case KEY_BOOL:
		return cJSON_CreateBool(int_of(from, key));
	case KEY_WORD:
		return cJSON_CreateString(key->word[int_of(from, key)]);
	case KEY_TRIPLE:
		return cJSON_CreateIntArray(at, 3);
	case KEY_RANGE:
		return cJSON_CreateDoubleArray(at, 2);
	case KEY_MOUSE:
		return cJSON_CreateFloatArray(at, 4);
	case KEY_VALUE:
		return value_to_json(at);
	case KEY_DATE:
		return write_date(at);
	default:
		return cJSON_CreateString(pointer_of(from, key));
	}
}

/* A string, as a number would have to be an integer. */
static cJSON *write_age(double seconds)
{
	struct buf text = BUF_INIT;
	buf_addf(&text, "%.9f", seconds);
	char *s = buf_detach(&text);
	size_t n = strlen(s);
	while (s[n - 1] == '0')
		n--;
	n -= s[n - 1] == '.';
	s[n] = '\0';
	char *unit = xasprintf("%ss", s);
	cJSON *json = cJSON_CreateString(unit);
	free(unit);
	free(s);
	return json;
}

static cJSON *write_formats(const struct key *key, const struct pass *pass)
{
	cJSON *json = cJSON_CreateArray();
	for (int i = 0; i < pass->nextra_output; i++)
		cJSON_AddItemToArray(json,
		    cJSON_CreateString(key->word[pass->extra_output[i]]));
	return json;
}

static cJSON *write_key(const struct writer *w, const struct key *key, const void *from,
    const void *defaults)
{
	switch (key->kind) {
	case KEY_TABLE:
		return write_table(w, key->table, from, defaults);
	case KEY_TABLES:
		return write_tables(w, key, from);
	case KEY_PRESETS:
		return write_presets(w, key, from);
	case KEY_PRESET_PASSES:
		return write_preset_passes(w, key, from);
	case KEY_SET:
		return write_set(w, pointer_of(from, key), count_of(from, key));
	case KEY_SOURCE:
		return write_source(w, from);
	case KEY_PASS:
		return cJSON_CreateString(w->m->pass[int_of(from, key)].name);
	case KEY_FRAMES:
		return frames_to_json(pointer_of(from, key), count_of(from, key));
	case KEY_PATHS:
	case KEY_KEYS:
	case KEY_RESOLUTIONS:
		return write_list(key, from);
	case KEY_BUDGETS:
		return write_budgets(w, key, from);
	case KEY_FORMATS:
		return write_formats(key, from);
	case KEY_AGE:
		return write_age(*(const double *)const_member(from, key->to));
	case KEY_CHECKPOINT: {
		const struct manifest *m = from;
		return m->checkpoint == CHECKPOINT_EVERY
		    ? cJSON_CreateNumber(m->checkpoint_every)
		    : cJSON_CreateString("off");
	}
	default:
		return write_simple(key, from);
	}
}

/* The format of these is the kind's, and not spelt. */
static int is_fixed_format(const struct key *key, const void *from)
{
	if (key->kind != KEY_WORD || strcmp(key->name, "format") != 0)
		return 0;
	const struct pass *pass = from;
	return pass->kind != PASS_BUFFER && pass->kind != PASS_COMPUTE;
}

static cJSON *write_table(const struct writer *w, const struct table *table,
    const void *from, const void *defaults)
{
	cJSON *json = cJSON_CreateObject();
	for (int i = 0; i < table->nkey; i++) {
		const struct key *key = &table->key[i];
		if (key->section && !(key->section & w->sections))
			continue;
		if (key->kind != KEY_TABLE && key->to == KEY_NOWHERE)
			continue;
		int must = key->flags & (KEY_REQUIRED | KEY_ALWAYS);
		if (key->has ? !*(const int *)const_member(from, key->has)
			     : !must && is_default(key, from, defaults))
			continue;
		if (is_fixed_format(key, from))
			continue;
		cJSON *child = write_key(w, key, from, defaults);
		if (key->kind == KEY_TABLE && !child->child && !key->has && !must) {
			cJSON_Delete(child);
			continue;
		}
		cJSON_AddItemToObject(json, key->name, child);
	}
	return json;
}

cJSON *manifest_to_json(const struct manifest *m, unsigned sections)
{
	struct writer w = { m, sections };
	json_init();
	cJSON *json = write_table(&w, &manifest_root, m, &manifest_defaults);
	/* "format" is kept nowhere: there is one. It comes first. */
	cJSON_InsertItemInArray(json, 0, cJSON_CreateNumber(1));
	json->child->string = xstrdup("format");
	return json;
}

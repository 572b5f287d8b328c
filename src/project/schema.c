/* JSON Schema (draft 2020-12) from the tables that the loader works with. */
#include "manifest_keys.h"

#include <math.h>
#include <string.h>

#include "util/limits.h"
#include "util/mem.h"

static cJSON *typed(const char *type)
{
	cJSON *json = cJSON_CreateObject();
	cJSON_AddStringToObject(json, "type", type);
	return json;
}

static cJSON *ranged(const char *type, double min, double max, int is_above)
{
	cJSON *json = typed(type);
	if (isfinite(min))
		cJSON_AddNumberToObject(json,
			is_above ? "exclusiveMinimum" : "minimum", min);
	if (isfinite(max))
		cJSON_AddNumberToObject(json, "maximum", max);
	return json;
}

static cJSON *matching(const char *pattern)
{
	cJSON *json = typed("string");
	cJSON_AddStringToObject(json, "pattern", pattern);
	return json;
}

/* min or max below 0: no bound. */
static cJSON *list_of(cJSON *item, double min, double max)
{
	cJSON *json = typed("array");
	cJSON_AddItemToObject(json, "items", item);
	if (min >= 0)
		cJSON_AddNumberToObject(json, "minItems", min);
	if (max >= 0)
		cJSON_AddNumberToObject(json, "maxItems", max);
	return json;
}

static cJSON *table_of(cJSON *item)
{
	cJSON *json = typed("object");
	cJSON_AddItemToObject(json, "additionalProperties", item);
	return json;
}

static cJSON *words(const struct key *key)
{
	cJSON *json = cJSON_CreateObject();
	cJSON_AddItemToObject(json, "enum",
		cJSON_CreateStringArray(key->word, key->nword));
	return json;
}

static cJSON *either(cJSON *a, cJSON *b, cJSON *c)
{
	cJSON *json = cJSON_CreateObject();
	cJSON *list = cJSON_AddArrayToObject(json, "anyOf");
	cJSON_AddItemToArray(list, a);
	cJSON_AddItemToArray(list, b);
	if (c)
		cJSON_AddItemToArray(list, c);
	return json;
}

static cJSON *value(void)
{
	return either(typed("number"), typed("boolean"),
		list_of(typed("number"), 2, 4));
}

static cJSON *describe_table(const struct table *table, const void *defaults);

static cJSON *describe_text(const struct key *key)
{
	switch (key->kind) {
	case KEY_NAME:
	case KEY_NODE_NAME:
	case KEY_TEST_NAME:
		return matching("[^ \\t\\r\\n]");
	case KEY_UNIFORM_NAME:
		return matching("^[A-Za-z_][A-Za-z0-9_]*$");
	case KEY_TRACE_NAME:
		return matching("^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$");
	case KEY_DATE:
		return matching("^[0-9]{4}-[0-9]{2}-[0-9]{2}"
			"([Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]+)?)?"
			"([Zz]|[+-]00:00)?)?$");
	default:
		return typed("string");
	}
}

static cJSON *describe_kind(const struct key *key, const void *defaults)
{
	double most = key->max > 0 ? key->max : -1;
	switch (key->kind) {
	case KEY_INT:
	case KEY_U32:
	case KEY_U64:
		return ranged("integer", key->min, key->max, 0);
	case KEY_NUMBER:
		return ranged("number", key->min, key->max,
			key->flags & KEY_ABOVE);
	case KEY_BOOL:
		return typed("boolean");
	case KEY_WORD:
		return words(key);
	case KEY_PATHS:
		return list_of(typed("string"), -1, most);
	case KEY_FORMATS:
		return list_of(words(key), -1, most);
	case KEY_TRIPLE:
		return list_of(ranged("integer", 1, LIMIT_LOCAL_INVOCATIONS, 0),
			3, 3);
	case KEY_RANGE:
		return list_of(typed("number"), 2, 2);
	case KEY_VALUE:
		return value();
	case KEY_SET:
		return table_of(value());
	case KEY_TABLE:
		return describe_table(key->table, defaults);
	case KEY_TABLES:
		return list_of(describe_table(key->table, key->table->defaults),
			key->flags & KEY_REQUIRED ? 1 : -1, most);
	case KEY_PRESETS:
	case KEY_PRESET_PASSES:
		return table_of(describe_table(key->table,
			key->table->defaults));
	case KEY_FRAMES:
		return list_of(either(ranged("integer", 0, LIMIT_FRAME, 0),
			matching("^[0-9:, ]+$"), NULL), 1, most);
	case KEY_RESOLUTIONS:
		return list_of(list_of(ranged("integer", 1, LIMIT_SIZE, 0), 2, 2),
			1, most);
	case KEY_BUDGETS:
		return table_of(ranged("number", 0, HUGE_VAL, 0));
	case KEY_BYTES:
		return either(ranged("integer", 0, HUGE_VAL, 0),
			matching("^[0-9]+(\\.[0-9]*)? *"
			"(([KkMmGgTt][Ii]?)?[Bb])?$"), NULL);
	case KEY_AGE:
		return either(ranged("integer", 0, HUGE_VAL, 0),
			matching("^[0-9]+(\\.[0-9]*)? *[SsMmHhDdWw]$"), NULL);
	case KEY_CHECKPOINT:
		return either(ranged("integer", 1, LIMIT_FRAME, 0),
			matching("^(auto|off)$"), NULL);
	case KEY_MOUSE:
		return list_of(typed("number"), 4, 4);
	case KEY_KEYS:
		return list_of(either(ranged("integer", 0, 255, 0),
			typed("string"), NULL), -1, most);
	default:
		return describe_text(key);
	}
}

/* The default as it would be written, where there is one that may be. */
static void add_default(cJSON *json, const struct key *key,
	const void *defaults)
{
	if (key->flags & KEY_REQUIRED || key->to == KEY_NOWHERE || !defaults)
		return;
	const void *at = const_member(defaults, key->to);
	if (key->kind == KEY_INT && *(const int *)at >= key->min)
		cJSON_AddNumberToObject(json, "default", *(const int *)at);
	else if (key->kind == KEY_NUMBER && (key->flags & KEY_ABOVE
		? *(const double *)at > key->min
		: isfinite(key->min) && !key->has))
		cJSON_AddNumberToObject(json, "default", *(const double *)at);
	else if (key->kind == KEY_BOOL)
		cJSON_AddBoolToObject(json, "default", *(const int *)at);
	else if (key->kind == KEY_WORD && !(key->flags & KEY_ALWAYS))
		cJSON_AddStringToObject(json, "default",
			key->word[*(const int *)at]);
	else if (key->kind == KEY_TRIPLE && *(const int *)at)
		cJSON_AddItemToObject(json, "default",
			cJSON_CreateIntArray(at, 3));
	else if (key->kind == KEY_BYTES)
		cJSON_AddNumberToObject(json, "default",
			(double)*(const uint64_t *)at);
}

static cJSON *describe_table(const struct table *table, const void *defaults)
{
	cJSON *json = typed("object");
	cJSON *properties = cJSON_AddObjectToObject(json, "properties");
	cJSON *required = cJSON_CreateArray();
	for (int i = 0; i < table->nkey; i++) {
		const struct key *key = &table->key[i];
		cJSON *one = describe_kind(key, defaults);
		cJSON_AddStringToObject(one, "description", key->help);
		add_default(one, key, defaults);
		cJSON_AddItemToObject(properties, key->name, one);
		if (key->flags & KEY_REQUIRED)
			cJSON_AddItemToArray(required,
				cJSON_CreateString(key->name));
	}
	if (required->child)
		cJSON_AddItemToObject(json, "required", required);
	else
		cJSON_Delete(required);
	cJSON_AddBoolToObject(json, "additionalProperties", 0);
	return json;
}

cJSON *manifest_schema(void)
{
	json_init();
	cJSON *json = describe_table(&manifest_root, &manifest_defaults);
	cJSON *dialect = cJSON_CreateString(
		"https://json-schema.org/draft/2020-12/schema");
	cJSON_InsertItemInArray(json, 0, dialect);
	dialect->string = xstrdup("$schema");
	cJSON_AddStringToObject(json, "title",
		"Manifest of stbuild, format 1");
	return json;
}

/* JSON Schema (draft 2020-12) from the tables that the loader works with. */
#include "schema_impl.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "util/buf.h"
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
		cJSON_AddNumberToObject(json, is_above ? "exclusiveMinimum" : "minimum",
		    min);
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

/* What a float holds. */
static cJSON *number(void)
{
	return ranged("number", -FLT_MAX, FLT_MAX, 0);
}

static cJSON *value(void)
{
	return either(number(), typed("boolean"), list_of(number(), 2, 4));
}

/* Keys that are names. */
static cJSON *named(cJSON *json, const char *pattern)
{
	cJSON_AddItemToObject(json, "propertyNames", matching(pattern));
	return json;
}

/*
 * [x, y, 1] with x * y within the limit: for some a, x is at most a and y at
 * most what a leaves. One a for each value that is left is enough.
 */
static cJSON *local_size(void)
{
	const int limit = LIMIT_LOCAL_INVOCATIONS;
	cJSON *json = list_of(ranged("integer", 1, limit, 0), 3, 3);
	cJSON *part = cJSON_AddArrayToObject(json, "prefixItems");
	for (int i = 0; i < 3; i++)
		cJSON_AddItemToArray(part, ranged("integer", 1, i == 2 ? 1 : limit, 0));
	cJSON *any = cJSON_AddArrayToObject(json, "anyOf");
	for (int y = limit; y; y = limit / (limit / y + 1)) {
		cJSON *one = cJSON_CreateObject();
		part = cJSON_AddArrayToObject(one, "prefixItems");
		cJSON *x = cJSON_CreateObject();
		cJSON_AddNumberToObject(x, "maximum", limit / y);
		cJSON_AddItemToArray(part, x);
		cJSON *rest = cJSON_CreateObject();
		cJSON_AddNumberToObject(rest, "maximum", y);
		cJSON_AddItemToArray(part, rest);
		cJSON_AddItemToArray(any, one);
	}
	return json;
}

/* Two that are equal have the same name, channel, binding or frame. */
static cJSON *distinct(cJSON *list)
{
	cJSON_AddBoolToObject(list, "uniqueItems", 1);
	return list;
}

static cJSON *describe_table(const struct table *table, const void *defaults);

#define NAME_TAIL "[^\\u0000]*[^ \\t\\r\\n\\u0000][^\\u0000]*$"
#define NAME "^" NAME_TAIL
/* Blanks around it do not count; relative, no drive, no "..". */
#define PATH \
	"^(?!\\s*([/\\\\]|[A-Za-z]:|([^\\u0000]*[/\\\\])?\\.\\.\\s*([/\\\\]|$)))" NAME_TAIL
/* Months of their lengths, leap years, and a time of the day. */
#define LEAP_YEAR \
	"([0-9]{2}(0[48]|[2468][048]|[13579][26])|" \
	"([02468][048]|[13579][26])00)"
#define DATE \
	"^([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|" \
	"(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|" LEAP_YEAR \
	"-02-29)([Tt ]([01][0-9]|2[0-3]):[0-5][0-9]" \
	"(:[0-5][0-9](\\.[0-9]+)?)?([Zz]|[+-]00:00)?)?$"
#define RANGE " *[0-9]+(:[0-9]+(:0*[1-9][0-9]*)?)? *"

/* Names of keys, in any case. */
static cJSON *key_names(void)
{
	struct buf text = BUF_INIT;
	buf_addstr(&text, "^([A-Za-z0-9]|[Ff]([1-9]|1[0-2])");
	for (size_t i = 0; key_name(i); i++) {
		buf_addch(&text, '|');
		for (const char *p = key_name(i); *p; p++)
			buf_addf(&text, isalpha((unsigned char)*p) ? "[%c%c]" : "[\\%c]",
			    toupper((unsigned char)*p), *p);
	}
	buf_addstr(&text, ")$");
	cJSON *json = matching(buf_str(&text));
	buf_release(&text);
	return json;
}

static cJSON *describe_text(const struct key *key)
{
	switch (key->kind) {
	case KEY_NAME:
	case KEY_TEST_NAME:
		return matching(NAME);
	case KEY_NODE_NAME:
		return matching("^(?!(keyboard|music|webcam)$)" NAME_TAIL);
	case KEY_UNIFORM_NAME:
		return matching("^(?!gl_|GL_|stb_|stbw_)(?!.*__)"
				"[A-Za-z_][A-Za-z0-9_]*$");
	case KEY_PATH:
	case KEY_FILE:
		return matching(PATH);
	case KEY_TRACE_NAME:
		return matching("^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$");
	case KEY_DATE:
		return matching(DATE);
	default:
		return matching("^[^\\u0000]*$");
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
		return ranged("number", key->min, key->max, key->flags & KEY_ABOVE);
	case KEY_BOOL:
		return typed("boolean");
	case KEY_WORD:
		return words(key);
	case KEY_PATHS:
		return list_of(matching(PATH), -1, most);
	case KEY_FORMATS:
		return list_of(words(key), -1, most);
	case KEY_TRIPLE:
		return local_size();
	case KEY_RANGE:
		return list_of(typed("number"), 2, 2);
	case KEY_VALUE:
		return value();
	case KEY_SET:
		return named(table_of(value()), "^[A-Za-z_][A-Za-z0-9_]*$");
	case KEY_TABLE:
		return describe_table(key->table, defaults);
	case KEY_TABLES:
		return distinct(list_of(describe_table(key->table, key->table->defaults),
		    key->flags & KEY_REQUIRED ? 1 : -1, most));
	case KEY_PRESETS:
	case KEY_PRESET_PASSES:
		return named(table_of(describe_table(key->table, key->table->defaults)),
		    NAME);
	case KEY_FRAMES: {
		cJSON *list = list_of(either(ranged("integer", 0, LIMIT_FRAME, 0),
					  matching("^" RANGE "(," RANGE ")*$"), NULL),
		    1, most);
		return most > 0 ? distinct(list) : list;
	}
	case KEY_RESOLUTIONS:
		return list_of(list_of(ranged("integer", 1, LIMIT_SIZE, 0), 2, 2), 1,
		    most);
	case KEY_BUDGETS:
		return named(table_of(ranged("number", 0, HUGE_VAL, 0)), NAME);
	case KEY_BYTES:
		return either(ranged("integer", 0, HUGE_VAL, 0),
		    matching("^[0-9]+(\\.[0-9]*)? *"
			     "(([KkMmGgTt][Ii]?)?[Bb])?$"),
		    NULL);
	case KEY_AGE:
		return either(ranged("integer", 0, HUGE_VAL, 0),
		    matching("^[0-9]+(\\.[0-9]*)? *[SsMmHhDdWw]?$"), NULL);
	case KEY_CHECKPOINT:
		return either(ranged("integer", 1, LIMIT_FRAME, 0),
		    matching("^(auto|off)$"), NULL);
	case KEY_MOUSE:
		return list_of(number(), 4, 4);
	case KEY_KEYS:
		return list_of(either(ranged("integer", 0, 255, 0), key_names(), NULL),
		    -1, most);
	default:
		return describe_text(key);
	}
}

/* The default as it would be written, where there is one that may be. */
static void add_default(cJSON *json, const struct key *key, const void *defaults)
{
	if (key->flags & KEY_REQUIRED || key->to == KEY_NOWHERE || !defaults)
		return;
	const void *at = const_member(defaults, key->to);
	if (key->kind == KEY_INT && *(const int *)at >= key->min)
		cJSON_AddNumberToObject(json, "default", *(const int *)at);
	else if (key->kind == KEY_NUMBER &&
	    (key->flags & KEY_ABOVE ? *(const double *)at > key->min
				    : isfinite(key->min) && !key->has))
		cJSON_AddNumberToObject(json, "default", *(const double *)at);
	else if (key->kind == KEY_BOOL)
		cJSON_AddBoolToObject(json, "default", *(const int *)at);
	else if (key->kind == KEY_WORD && !(key->flags & KEY_ALWAYS))
		cJSON_AddStringToObject(json, "default", key->word[*(const int *)at]);
	else if (key->kind == KEY_TRIPLE && *(const int *)at)
		cJSON_AddItemToObject(json, "default", cJSON_CreateIntArray(at, 3));
	else if (key->kind == KEY_BYTES)
		cJSON_AddNumberToObject(json, "default", (double)*(const uint64_t *)at);
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
			cJSON_AddItemToArray(required, cJSON_CreateString(key->name));
	}
	if (required->child)
		cJSON_AddItemToObject(json, "required", required);
	else
		cJSON_Delete(required);
	cJSON_AddBoolToObject(json, "additionalProperties", 0);
	schema_add_rules(json, table);
	return json;
}

cJSON *manifest_schema(void)
{
	json_init();
	cJSON *json = describe_table(&manifest_root, &manifest_defaults);
	cJSON *dialect =
	    cJSON_CreateString("https://json-schema.org/draft/2020-12/schema");
	cJSON_InsertItemInArray(json, 0, dialect);
	dialect->string = xstrdup("$schema");
	cJSON_AddStringToObject(json, "title", "Manifest of stbuild, format 1");
	return json;
}

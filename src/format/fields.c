#include "format/fields.h"

#include <math.h>
#include <string.h>

#include "project/value.h"
#include "util/mem.h"
#include "util/suggest.h"

#define EXACT 9007199254740992.0 /* 2^53: integers below are exact */

static char *path_of(const struct fields *f, const char *key)
{
	if (!key)
		return xstrdup(f->where);
	return xasprintf("%s%s%s", f->where, f->where[0] ? "." : "", key);
}

int fields_fail(const struct fields *f, const cJSON *item, const char *key,
    const char *fmt, ...)
{
	struct buf text = BUF_INIT;
	va_list ap;
	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	char *path = path_of(f, key);
	const struct doc_mark *mark = doc_mark(f->doc, item);
	err_set(f->err, STATUS_INPUT, "%s", buf_str(&text));
	err_place(f->err, f->doc->name, mark->line, mark->column, path[0] ? path : NULL);
	free(path);
	buf_release(&text);
	return -1;
}

const cJSON *fields_get(const struct fields *f, const char *key, int needed)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(f->object, key);
	if (!item && needed)
		fields_fail(f, f->object, NULL, "the key '%s' is missing", key);
	return item;
}

static enum doc_kind kind_of(const struct fields *f, const cJSON *item)
{
	return doc_mark(f->doc, item)->kind;
}

int fields_string(const struct fields *f, const char *key, int needed, const char **out)
{
	const cJSON *item = fields_get(f, key, needed);
	if (!item)
		return needed ? -1 : 0;
	if (kind_of(f, item) != DOC_STRING)
		return fields_fail(f, item, key, "'%s' must be a string", key);
	*out = item->valuestring;
	return 0;
}

int fields_int(const struct fields *f, const char *key, int needed, long long min,
    long long max, long long *out)
{
	const cJSON *item = fields_get(f, key, needed);
	if (!item)
		return needed ? -1 : 0;
	if (kind_of(f, item) != DOC_INTEGER)
		return fields_fail(f, item, key, "'%s' must be an integer", key);
	long long v = doc_integer(f->doc, item);
	if (v < min || v > max)
		return fields_fail(f, item, key,
		    "'%s' is %lld, but must be in %lld..%lld", key, v, min, max);
	*out = v;
	return 0;
}

int fields_number(const struct fields *f, const char *key, int needed, double min,
    double max, double *out)
{
	const cJSON *item = fields_get(f, key, needed);
	if (!item)
		return needed ? -1 : 0;
	enum doc_kind kind = kind_of(f, item);
	if (kind != DOC_INTEGER && kind != DOC_FLOAT)
		return fields_fail(f, item, key, "'%s' must be a number", key);
	double v = item->valuedouble;
	if (!(v >= min && v <= max))
		return fields_fail(f, item, key, "'%s' is %g, but must be in %g..%g", key,
		    v, min, max);
	*out = v;
	return 0;
}

int fields_container(const struct fields *f, const char *key, int needed,
    enum doc_kind kind, const cJSON **out)
{
	const cJSON *item = fields_get(f, key, needed);
	if (!item)
		return needed ? -1 : 0;
	if (kind_of(f, item) != kind)
		return fields_fail(f, item, key, "'%s' must be %s", key,
		    kind == DOC_ARRAY ? "an array" : "an object");
	*out = item;
	return 0;
}

int fields_choice(const struct fields *f, const char *key, int needed,
    const char *const *choice, int *out)
{
	const char *s = NULL;
	if (fields_string(f, key, needed, &s) < 0)
		return -1;
	if (!s)
		return 0;
	size_t n = 0;
	for (; choice[n]; n++) {
		if (strcmp(choice[n], s) == 0) {
			*out = (int)n;
			return 0;
		}
	}
	const char *near = suggest(s, choice, n);
	return fields_fail(f, fields_get(f, key, 1), key, "unknown %s '%.64s'%s%s%s", key,
	    s, near ? "; is it '" : "", near ? near : "", near ? "'?" : "");
}

int fields_is_blank(const char *s)
{
	return !s[strspn(s, " \t\r\n\f\v")];
}

/* Writing ------------------------------------------------------------------ */

static void print_string(const char *s, struct buf *out)
{
	buf_addch(out, '"');
	for (;;) {
		size_t n = 0;
		while ((unsigned char)s[n] >= 0x20 && s[n] != '"' && s[n] != '\\')
			n++;
		buf_add(out, s, n);
		s += n;
		if (!*s)
			break;
		switch (*s) {
		case '"':
			buf_addstr(out, "\\\"");
			break;
		case '\\':
			buf_addstr(out, "\\\\");
			break;
		case '\b':
			buf_addstr(out, "\\b");
			break;
		case '\f':
			buf_addstr(out, "\\f");
			break;
		case '\n':
			buf_addstr(out, "\\n");
			break;
		case '\r':
			buf_addstr(out, "\\r");
			break;
		case '\t':
			buf_addstr(out, "\\t");
			break;
		default:
			buf_addf(out, "\\u%04x", (unsigned)(unsigned char)*s);
			break;
		}
		s++;
	}
	buf_addch(out, '"');
}

/*
 * cJSON's printer takes a neighbour for the number itself, and %g writes 60 as
 * 6e+01, which readers that ask for an integer refuse.
 */
static void print_number(double v, struct buf *out)
{
	if (!isfinite(v))
		buf_addstr(out, "null");
	else if (v == floor(v) && fabs(v) <= EXACT)
		buf_addf(out, "%.0f", v);
	else
		print_double(v, out);
}

static int by_key(const void *a, const void *b)
{
	const cJSON *const *x = a, *const *y = b;
	return strcmp((*x)->string, (*y)->string);
}

static void print_line(int style, int depth, struct buf *out)
{
	if (!(style & FIELDS_INDENTED))
		return;
	buf_addch(out, '\n');
	for (int i = 0; i < depth; i++)
		buf_addch(out, '\t');
}

static void print_item(const cJSON *json, int style, int depth, struct buf *out);

static void print_object(const cJSON *json, int style, int depth, struct buf *out)
{
	size_t n = 0, cap = 0;
	const cJSON **item = NULL;
	for (const cJSON *c = json->child; c; c = c->next) {
		item = array_grow(item, n, &cap, sizeof *item);
		item[n++] = c;
	}
	if (style & FIELDS_SORTED && n)
		qsort(item, n, sizeof *item, by_key);
	buf_addch(out, '{');
	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_addch(out, ',');
		print_line(style, depth + 1, out);
		print_string(item[i]->string, out);
		buf_addch(out, ':');
		if (style & FIELDS_INDENTED)
			buf_addch(out, ' ');
		print_item(item[i], style, depth + 1, out);
	}
	if (n)
		print_line(style, depth, out);
	buf_addch(out, '}');
	free(item);
}

static void print_array(const cJSON *json, int style, int depth, struct buf *out)
{
	int is_flat = 1;
	for (const cJSON *c = json->child; c; c = c->next)
		is_flat &= !cJSON_IsArray(c) && !cJSON_IsObject(c);
	buf_addch(out, '[');
	for (const cJSON *c = json->child; c; c = c->next) {
		if (!is_flat)
			print_line(style, depth + 1, out);
		print_item(c, style, depth + 1, out);
		if (c->next)
			buf_addstr(out, is_flat && style & FIELDS_INDENTED ? ", " : ",");
	}
	if (!is_flat)
		print_line(style, depth, out);
	buf_addch(out, ']');
}

static void print_item(const cJSON *json, int style, int depth, struct buf *out)
{
	if (cJSON_IsObject(json))
		print_object(json, style, depth, out);
	else if (cJSON_IsArray(json))
		print_array(json, style, depth, out);
	else if (cJSON_IsString(json))
		print_string(json->valuestring, out);
	else if (cJSON_IsNumber(json))
		print_number(json->valuedouble, out);
	else
		buf_addstr(out,
		    cJSON_IsTrue(json)        ? "true"
			: cJSON_IsFalse(json) ? "false"
					      : "null");
}

void fields_print(const cJSON *json, int style, struct buf *out)
{
	print_item(json, style, 0, out);
	if (style & FIELDS_INDENTED)
		buf_addch(out, '\n');
}

/* What the loader says, and the checked reading of single values. */
#include "manifest_keys.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/limits.h"
#include "util/utf8.h"
#include "util/buf.h"
#include "util/mem.h"
#include "util/suggest.h"

static int is_bare(const char *key)
{
	return *key &&
	    strspn(key,
		"abcdefghijklmnopqrstuvwxyz"
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == strlen(key);
}

static void print_at(const struct at *at, struct buf *out)
{
	if (!at)
		return;
	print_at(at->up, out);
	if (!at->key) {
		buf_addf(out, "[%zu]", at->index);
		return;
	}
	if (out->len)
		buf_addch(out, '.');
	buf_addf(out, is_bare(at->key) ? "%s" : "\"%s\"", at->key);
}

/* What a manifest spells must not reach a terminal as commands. */
static void make_printable(struct buf *text)
{
	for (size_t i = 0; i < text->len; i++)
		if (iscntrl((unsigned char)text->data[i]))
			text->data[i] = '?';
}

__attribute__((format(printf, 5, 0))) static void report(struct loader *l,
    const struct at *at, int line, int column, const char *fmt, va_list ap)
{
	if (l->nfault++ >= LIMIT_ERRORS)
		return;
	struct buf key = BUF_INIT, text = BUF_INIT;
	print_at(at, &key);
	buf_vaddf(&text, fmt, ap);
	make_printable(&key);
	make_printable(&text);
	errs_add(l->errs, STATUS_INPUT, l->doc->name, line, column,
	    key.len ? buf_str(&key) : NULL, "%s", buf_str(&text));
	buf_release(&key);
	buf_release(&text);
}

void fault(struct loader *l, const struct at *at, const cJSON *item, const char *fmt, ...)
{
	const struct doc_mark *mark = doc_mark(l->doc, item);
	va_list ap;
	va_start(ap, fmt);
	report(l, at, mark->line, mark->column, fmt, ap);
	va_end(ap);
}

void fault_key(struct loader *l, const struct at *at, const cJSON *item, const char *fmt,
    ...)
{
	const struct doc_mark *mark = doc_mark(l->doc, item);
	int has_key = mark->key_line > 0;
	va_list ap;
	va_start(ap, fmt);
	report(l, at, has_key ? mark->key_line : mark->line,
	    has_key ? mark->key_column : mark->column, fmt, ap);
	va_end(ap);
}

void fault_in(struct loader *l, const struct at *at, const cJSON *table, const char *key,
    const char *fmt, ...)
{
	const cJSON *child = child_of(table, key);
	const struct doc_mark *mark = doc_mark(l->doc, child ? child : table);
	struct at here = { at, key, 0 };
	va_list ap;
	va_start(ap, fmt);
	report(l, &here, mark->line, mark->column, fmt, ap);
	va_end(ap);
}

void expected(struct loader *l, const struct at *at, const cJSON *item, const char *what)
{
	static const char *const kind[] = {
		[DOC_NULL] = "null",
		[DOC_BOOL] = "a boolean",
		[DOC_INTEGER] = "an integer",
		[DOC_FLOAT] = "a float",
		[DOC_STRING] = "a string",
		[DOC_DATE] = "a date",
		[DOC_ARRAY] = "a list",
		[DOC_TABLE] = "a table",
	};
	const struct doc_mark *mark = doc_mark(l->doc, item);
	if (mark->kind >= DOC_ARRAY || mark->nraw > 40 ||
	    memchr(l->doc->text + mark->raw, '\n', mark->nraw))
		fault(l, at, item, "expected %s, got %s", what, kind[mark->kind]);
	else
		fault(l, at, item, "expected %s, got %.*s", what, (int)mark->nraw,
		    l->doc->text + mark->raw);
}

void unknown(struct loader *l, const struct at *at, const cJSON *item, int at_key,
    const char *what, const char *word, const void *array, size_t n, size_t size)
{
	const char *near = NULL;
	if (l->nfault < LIMIT_ERRORS) {
		const char **name = xcalloc(n, sizeof *name);
		for (size_t i = 0; i < n; i++)
			memcpy(&name[i], (const char *)array + i * size, sizeof *name);
		near = suggest(word, name, n);
		free(name);
	}
	(at_key ? fault_key : fault)(l, at, item, "unknown %s '%s'%s%s%s", what, word,
	    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

enum doc_kind kind_of(const struct loader *l, const cJSON *item)
{
	return doc_mark(l->doc, item)->kind;
}

const cJSON *child_of(const cJSON *table, const char *key)
{
	const cJSON *c = table->child;
	while (c && strcmp(c->string, key) != 0)
		c = c->next;
	return c;
}

int load_integer(struct loader *l, const struct at *at, const cJSON *item, long long min,
    long long max, long long *out)
{
	if (kind_of(l, item) == DOC_INTEGER) {
		*out = doc_integer(l->doc, item);
		if (*out >= min && *out <= max)
			return 0;
	}
	char what[80];
	if (min == max)
		snprintf(what, sizeof what, "the integer %lld", min);
	else
		snprintf(what, sizeof what, "an integer from %lld to %lld", min, max);
	expected(l, at, item, what);
	return -1;
}

int load_number(struct loader *l, const struct at *at, const cJSON *item, double min,
    double max, int is_above, double *out)
{
	if (cJSON_IsNumber(item) && isfinite(item->valuedouble)) {
		*out = item->valuedouble;
		if ((is_above ? *out > min : *out >= min) && *out <= max)
			return 0;
	}
	struct buf what = BUF_INIT;
	buf_addstr(&what, "a finite number");
	if (isfinite(min)) {
		buf_addstr(&what, is_above ? " above " : " of at least ");
		print_double(min, &what);
	}
	if (isfinite(max)) {
		buf_addstr(&what, isfinite(min) ? " and at most " : " of at most ");
		print_double(max, &what);
	}
	expected(l, at, item, buf_str(&what));
	buf_release(&what);
	return -1;
}

const char *load_text(struct loader *l, const struct at *at, const cJSON *item)
{
	if (kind_of(l, item) != DOC_STRING) {
		expected(l, at, item, "a string");
		return NULL;
	}
	if (utf8_has_nul(item->valuestring)) {
		fault(l, at, item, "a NUL character is not allowed here");
		return NULL;
	}
	return item->valuestring;
}

int load_list(struct loader *l, const struct at *at, const cJSON *item, double max,
    size_t *n)
{
	*n = 0;
	if (!cJSON_IsArray(item)) {
		expected(l, at, item, "a list");
		return -1;
	}
	for (const cJSON *c = item->child; c; c = c->next)
		++*n;
	if ((double)*n > max) {
		fault(l, at, item, "too many elements (%zu, at most %.0f)", *n, max);
		return -1;
	}
	return 0;
}

/*
 * A list of the right length has a wrong element: that one is told. Of another
 * length, the length is.
 */
static void expected_numbers(struct loader *l, const struct at *at, const cJSON *item,
    const char *what, int n)
{
	int length = 0;
	if (!cJSON_IsArray(item)) {
		expected(l, at, item, what);
		return;
	}
	for (const cJSON *c = item->child; c; c = c->next)
		length++;
	if (n == 1 || length != n) {
		fault(l, at, item,
		    n == 1 ? "expected %s, got a list of %d" : "expected %s, got %d",
		    what, length);
		return;
	}
	for (const cJSON *c = item->child; c; c = c->next)
		if (!cJSON_IsNumber(c) || !(fabs(c->valuedouble) <= FLT_MAX)) {
			expected(l, at, c, what);
			return;
		}
	expected(l, at, item, what);
}

int load_value(struct loader *l, const struct at *at, const cJSON *item,
    enum value_type type, struct value *out)
{
	struct err err = ERR_INIT;
	if (value_from_json(item, type, out, &err) ||
	    (type == VALUE_INT && kind_of(l, item) != DOC_INTEGER)) {
		static const char *const shape[] = {
			"a number for a float",
			"an integer for an int",
			"true or false for a bool",
			"2 numbers for a vec2",
			"3 numbers for a vec3",
			"4 numbers for a vec4",
		};
		expected_numbers(l, at, item, shape[type], value_components(type));
		err_release(&err);
		return -1;
	}
	return 0;
}

int check_range(struct loader *l, const struct at *at, const cJSON *item,
    const struct uniform *u, const struct value *v)
{
	struct buf text = BUF_INIT;
	int is_beyond = uniform_beyond(u, v, &text) != NULL;

	if (is_beyond)
		fault(l, at, item, "%s of uniform '%s'", buf_str(&text), u->name);
	buf_release(&text);
	return is_beyond ? -1 : 0;
}

int load_pass_name(struct loader *l, const struct at *at, const cJSON *item, int at_key,
    const char *name)
{
	size_t i = map_gets(&l->pass, name);
	if (i != MAP_NONE)
		return (int)i;
	unknown(l, at, item, at_key, "pass", name, l->pass.entry, l->pass.nentry,
	    sizeof *l->pass.entry);
	return -1;
}

/*
 * A decoder for the toml-test suite: TOML on stdin, its tagged JSON on stdout;
 * status 1 and a message for what is no TOML. Everything comes from the
 * document's marks, so they are tested as well. With a file of tagged JSON as
 * its argument it compares instead, by value: status 2 when they differ.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "project/doc.h"
#include "util/buf.h"
#include "util/fs.h"
#include "util/mem.h"

/* The reader keeps NUL as C0 80. */
static void print_string(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		if (c == 0xc0 && (unsigned char)s[1] == 0x80) {
			printf("\\u0000");
			s++;
		} else if (c == '"' || c == '\\') {
			printf("\\%c", c);
		} else if (c < 0x20) {
			printf("\\u%04x", c);
		} else {
			putchar(c);
		}
	}
	putchar('"');
}

static void print_float(double v)
{
	if (isnan(v))
		printf("nan");
	else if (isinf(v))
		printf(v < 0 ? "-inf" : "inf");
	else
		printf("%.17g", v);
}

static const char *date_type(const char *s)
{
	if (s[2] == ':')
		return "time-local";
	if (strlen(s) == 10)
		return "date-local";
	return strpbrk(s + 11, "Zz+-") ? "datetime" : "datetime-local";
}

static void print_item(const struct doc *doc, const cJSON *item)
{
	const struct doc_mark *mark = doc_mark(doc, item);
	switch (mark->kind) {
	case DOC_TABLE:
		putchar('{');
		for (const cJSON *c = item->child; c; c = c->next) {
			print_string(c->string);
			putchar(':');
			print_item(doc, c);
			if (c->next)
				putchar(',');
		}
		putchar('}');
		break;
	case DOC_ARRAY:
		putchar('[');
		for (const cJSON *c = item->child; c; c = c->next) {
			print_item(doc, c);
			if (c->next)
				putchar(',');
		}
		putchar(']');
		break;
	case DOC_STRING:
		printf("{\"type\":\"string\",\"value\":");
		print_string(item->valuestring);
		putchar('}');
		break;
	case DOC_DATE:
		printf("{\"type\":\"%s\",\"value\":\"%s\"}", date_type(item->valuestring),
		    item->valuestring);
		break;
	case DOC_INTEGER:
		printf("{\"type\":\"integer\",\"value\":\"%lld\"}",
		    doc_integer(doc, item));
		break;
	case DOC_FLOAT:
		printf("{\"type\":\"float\",\"value\":\"");
		print_float(item->valuedouble);
		printf("\"}");
		break;
	case DOC_BOOL:
		printf("{\"type\":\"bool\",\"value\":\"%s\"}",
		    cJSON_IsTrue(item) ? "true" : "false");
		break;
	case DOC_NULL:
		BUG("TOML has no null");
	}
}

static int differs(const char *where, const char *got, const char *want)
{
	fprintf(stderr, "%s: got %s, expected %s\n", where, got, want);
	return 1;
}

/* One spelling of a date: T, Z, no zeros at the end of a fraction. */
static char *plain_date(const char *s)
{
	struct buf out = BUF_INIT;
	for (size_t i = 0; s[i];) {
		if (s[i] == '.') {
			size_t n = 1 + strspn(s + i + 1, "0123456789");
			size_t kept = n;
			while (kept > 1 && s[i + kept - 1] == '0')
				kept--;
			if (kept > 1)
				buf_add(&out, s + i, kept);
			i += n;
		} else if (strcmp(s + i, "+00:00") == 0 || strcmp(s + i, "-00:00") == 0) {
			buf_addch(&out, 'Z');
			break;
		} else {
			buf_addch(&out,
			    s[i] == ' ' ? 'T' : (char)toupper((unsigned char)s[i]));
			i++;
		}
	}
	return buf_detach(&out);
}

/* hide_nuls replaced a NUL in the expected text by U+E000. */
static int same_string(const char *got, const char *want)
{
	for (; *got && *want; got++, want++) {
		if (strncmp(got, "\xc0\x80", 2) == 0 &&
		    strncmp(want, "\xee\x80\x80", 3) == 0)
			got++, want += 2;
		else if (*got != *want)
			return 0;
	}
	return *got == *want;
}

static int same_scalar(const struct doc *doc, const cJSON *item, const char *type,
    const char *want)
{
	char number[32];
	switch (doc_mark(doc, item)->kind) {
	case DOC_STRING:
		return strcmp(type, "string") == 0 &&
		    same_string(item->valuestring, want);
	case DOC_INTEGER:
		snprintf(number, sizeof number, "%lld", doc_integer(doc, item));
		return strcmp(type, "integer") == 0 && strcmp(number, want) == 0;
	case DOC_FLOAT: {
		double v = strtod(want, NULL);
		return strcmp(type, "float") == 0 &&
		    (v == item->valuedouble || (isnan(v) && isnan(item->valuedouble)));
	}
	case DOC_BOOL:
		return strcmp(type, "bool") == 0 &&
		    strcmp(want, cJSON_IsTrue(item) ? "true" : "false") == 0;
	case DOC_DATE: {
		char *a = plain_date(item->valuestring), *b = plain_date(want);
		int is_same =
		    strcmp(type, date_type(item->valuestring)) == 0 && strcmp(a, b) == 0;
		free(a);
		free(b);
		return is_same;
	}
	default:
		return 0;
	}
}

static int compare(const struct doc *doc, const char *where, const cJSON *item,
    const cJSON *want)
{
	enum doc_kind kind = doc_mark(doc, item)->kind;
	if (kind == DOC_ARRAY) {
		if (!cJSON_IsArray(want))
			return differs(where, "an array", "something else");
		const cJSON *a = item->child, *b = want->child;
		for (; a && b; a = a->next, b = b->next)
			if (compare(doc, where, a, b))
				return 1;
		return a || b ? differs(where, "an array", "another length") : 0;
	}
	const cJSON *type = cJSON_GetObjectItemCaseSensitive(want, "type");
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(want, "value");
	if (kind == DOC_TABLE) {
		int n = 0;
		for (const cJSON *a = item->child; a; a = a->next, n++) {
			const cJSON *b = want->child;
			while (b && !same_string(a->string, b->string))
				b = b->next;
			if (!b)
				return differs(where, a->string, "no such key");
			if (compare(doc, a->string, a, b))
				return 1;
		}
		return n == cJSON_GetArraySize(want) && cJSON_IsObject(want)
		    ? 0
		    : differs(where, "a table", "more keys");
	}
	if (!cJSON_IsString(type) || !cJSON_IsString(value))
		return differs(where, "a scalar", "something else");
	return same_scalar(doc, item, type->valuestring, value->valuestring)
	    ? 0
	    : differs(where, "another value", value->valuestring);
}

/* Our JSON reader takes no NUL: \u0000 becomes \ue000, but not \\u0000. */
static void hide_nuls(char *text)
{
	for (char *p = text; p && *p; p++) {
		if (*p != '\\')
			continue;
		if (strncmp(p, "\\u0000", 6) == 0)
			memcpy(p, "\\ue000", 6);
		p += p[1] != '\0';
	}
}

static int compare_file(const struct doc *doc, const char *path, struct err *err)
{
	struct buf text = BUF_INIT;
	cJSON *want = NULL;
	int result = -1;
	if (!fs_read(path, 1 << 20, &text, err)) {
		hide_nuls(text.data);
		if (!json_parse(path, buf_str(&text), text.len, &want, err))
			result = compare(doc, path, doc->root, want) ? 2 : 0;
	}
	cJSON_Delete(want);
	buf_release(&text);
	return result;
}

static int fail(struct err *err, int status)
{
	char *message = err_text(err);
	fprintf(stderr, "%s\n", message);
	free(message);
	err_release(err);
	return status;
}

int main(int argc, char **argv)
{
	struct buf text = BUF_INIT;
	struct doc doc;
	struct err err = ERR_INIT;
	size_t n;
	do {
		n = fread(buf_reserve(&text, 65536), 1, 65536, stdin);
		text.len += n;
	} while (n);
	int status = toml_read("stdin", buf_str(&text), text.len, &doc, &err);
	buf_release(&text);
	if (status)
		return fail(&err, 1);
	if (argc > 1) {
		status = compare_file(&doc, argv[1], &err);
		if (status < 0)
			status = fail(&err, 3);
	} else {
		print_item(&doc, doc.root);
		putchar('\n');
	}
	doc_release(&doc);
	return status;
}

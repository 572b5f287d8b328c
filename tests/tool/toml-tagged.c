/*
 * A decoder for the toml-test suite: TOML on stdin, its tagged JSON on stdout;
 * status 1 and a message for what is no TOML. Everything comes from the
 * document's marks, so they are tested as well.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "project/doc.h"
#include "util/buf.h"
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
		printf("{\"type\":\"%s\",\"value\":\"%s\"}",
			date_type(item->valuestring), item->valuestring);
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

int main(void)
{
	struct buf text = BUF_INIT;
	struct doc doc;
	struct err err = ERR_INIT;
	size_t n;
	do {
		n = fread(buf_reserve(&text, 65536), 1, 65536, stdin);
		text.len += n;
	} while (n);
	if (toml_read("stdin", buf_str(&text), text.len, &doc, &err)) {
		char *message = err_text(&err);
		fprintf(stderr, "%s\n", message);
		free(message);
		err_release(&err);
		buf_release(&text);
		return 1;
	}
	print_item(&doc, doc.root);
	putchar('\n');
	doc_release(&doc);
	buf_release(&text);
	return 0;
}

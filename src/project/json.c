/*
 * RFC 8259, read strictly, into a cJSON tree and (for a struct doc) the marks
 * beside it. cJSON's own reader takes numbers and strings that are none, keys
 * given twice and bytes that are no UTF-8, and forgets where things stood.
 */
#include "project/doc.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/limits.h"
#include "util/utf8.h"
#include "util/buf.h"
#include "util/map.h"
#include "util/mem.h"

struct parser {
	const char *name, *text;
	size_t n, at;
	int line;
	size_t line_start; /* offset of the first byte of the line */
	int depth;
	size_t nvalue;
	struct doc *doc; /* null: no marks are wanted */
	struct err *err;
};

static int fault_at(struct parser *p, size_t at, const char *message)
{
	int line, column;
	text_position(p->text, at, &line, &column);
	err_set(p->err, STATUS_INPUT, "%s", message);
	err_place(p->err, p->name, line, column, NULL);
	return -1;
}

static int fault(struct parser *p, const char *message)
{
	return fault_at(p, p->at, p->at < p->n ? message : "unexpected end of file");
}

/* -1 at the end. */
static int peek(const struct parser *p)
{
	return p->at < p->n ? (unsigned char)p->text[p->at] : -1;
}

static void skip_blanks(struct parser *p)
{
	for (; p->at < p->n; p->at++) {
		char c = p->text[p->at];
		if (c == '\n') {
			p->line++;
			p->line_start = p->at + 1;
		} else if (c != ' ' && c != '\t' && c != '\r') {
			return;
		}
	}
}

static int hex4(struct parser *p, unsigned long *code)
{
	*code = 0;
	for (int i = 0; i < 4; i++, p->at++) {
		int c = peek(p);
		int digit = c >= '0' && c <= '9' ? c - '0'
		    : c >= 'a' && c <= 'f'       ? c - 'a' + 10
		    : c >= 'A' && c <= 'F'       ? c - 'A' + 10
						 : -1;
		if (digit < 0)
			return fault(p, "\\u needs four hexadecimal digits");
		*code = *code << 4 | (unsigned long)digit;
	}
	return 0;
}

static int unicode_escape(struct parser *p, struct buf *out)
{
	size_t start = p->at - 2;
	unsigned long code, low;
	if (hex4(p, &code))
		return -1;
	if (!code)
		return fault_at(p, start, "a string cannot contain a NUL character");
	if (code >= 0xd800 && code <= 0xdbff) {
		if (p->n - p->at < 2 || memcmp(p->text + p->at, "\\u", 2) != 0)
			return fault_at(p, start, "half of a surrogate pair");
		p->at += 2;
		if (hex4(p, &low))
			return -1;
		if (low < 0xdc00 || low > 0xdfff)
			return fault_at(p, start, "half of a surrogate pair");
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
	} else if (code >= 0xdc00 && code <= 0xdfff) {
		return fault_at(p, start, "half of a surrogate pair");
	}
	utf8_add(out, code);
	return 0;
}

/* Behind a backslash. */
static int escape(struct parser *p, struct buf *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	int c = peek(p);
	if (c == 'u') {
		p->at++;
		return unicode_escape(p, out);
	}
	const char *found = c > 0 ? strchr(from, c) : NULL;
	if (!found)
		return fault(p, "unknown escape in a string");
	buf_addch(out, to[found - from]);
	p->at++;
	return 0;
}

/* At the opening quote. *out is the caller's. */
static int string(struct parser *p, char **out)
{
	struct buf text = BUF_INIT;
	size_t start = ++p->at;
	for (; p->at < p->n;) {
		unsigned char c = (unsigned char)p->text[p->at];
		if (c == '"') {
			size_t tail = p->at++ - start;
			if (!text.data) {
				*out = xstrndup(p->text + start, tail);
			} else {
				buf_add(&text, p->text + start, tail);
				*out = buf_detach(&text);
			}
			return 0;
		}
		if (c < 0x20) {
			fault(p,
			    "a control character in a string must be "
			    "written as an escape");
			goto fail;
		}
		p->at++;
		if (c == '\\') {
			buf_add(&text, p->text + start, p->at - 1 - start);
			if (escape(p, &text))
				goto fail;
			start = p->at;
		}
	}
	fault(p, "");
fail:
	buf_release(&text);
	return -1;
}

static size_t digits(struct parser *p)
{
	size_t start = p->at;
	while (peek(p) >= '0' && peek(p) <= '9')
		p->at++;
	return p->at - start;
}

static int number(struct parser *p, cJSON *item, enum doc_kind *kind)
{
	size_t start = p->at;
	*kind = DOC_INTEGER;
	if (peek(p) == '-')
		p->at++;
	if (peek(p) == '0')
		p->at++;
	else if (!digits(p))
		return fault(p, "expected a value");
	if (peek(p) == '.') {
		*kind = DOC_FLOAT;
		p->at++;
		if (!digits(p))
			return fault(p, "a digit must follow the point");
	}
	if (peek(p) == 'e' || peek(p) == 'E') {
		*kind = DOC_FLOAT;
		p->at++;
		if (peek(p) == '+' || peek(p) == '-')
			p->at++;
		if (!digits(p))
			return fault(p, "an exponent needs a digit");
	}
	int next = peek(p);
	if (next == '.' || (next >= '0' && next <= '9'))
		return fault(p, "not a number (leading zero?)");
	char *token = xstrndup(p->text + start, p->at - start);
	double v = strtod(token, NULL);
	errno = 0;
	if (*kind == DOC_INTEGER && (strtoll(token, NULL, 10), errno == ERANGE))
		*kind = DOC_FLOAT;
	free(token);
	if (!isfinite(v))
		return fault_at(p, start, "the number is too large");
	item->type = cJSON_Number;
	cJSON_SetNumberHelper(item, v);
	return 0;
}

static int word(struct parser *p, cJSON *item, enum doc_kind *kind)
{
	static const struct {
		const char *text;
		size_t n;
		int type;
		enum doc_kind kind;
	} known[] = {
		{ "true", 4, cJSON_True, DOC_BOOL },
		{ "false", 5, cJSON_False, DOC_BOOL },
		{ "null", 4, cJSON_NULL, DOC_NULL },
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (p->n - p->at < known[i].n ||
		    memcmp(p->text + p->at, known[i].text, known[i].n) != 0)
			continue;
		item->type = known[i].type;
		item->valueint = item->type == cJSON_True;
		*kind = known[i].kind;
		p->at += known[i].n;
		return 0;
	}
	return fault(p, "expected a value");
}

static int value(struct parser *p, cJSON *parent, char *key, int key_line,
    int key_column);

/* Keys seen so far: a walk while they are few, a map beyond. */
struct keys {
	struct map map;
	size_t n;
};

static int is_known(struct keys *keys, const cJSON *object, const char *key)
{
	enum { FEW = 16 };
	if (keys->n++ < FEW) {
		for (const cJSON *c = object->child; c; c = c->next)
			if (strcmp(c->string, key) == 0)
				return 1;
		return 0;
	}
	if (keys->n == FEW + 1)
		for (const cJSON *c = object->child; c; c = c->next)
			map_puts(&keys->map, c->string, 0);
	return !map_puts(&keys->map, key, 0);
}

static int member(struct parser *p, cJSON *object, struct keys *keys)
{
	char *key;
	int line = p->line, column = (int)(p->at - p->line_start) + 1;
	if (peek(p) != '"')
		return fault(p, "expected a key in quotes");
	if (string(p, &key))
		return -1;
	if (is_known(keys, object, key)) {
		err_set(p->err, STATUS_INPUT, "key '%s' is given twice", key);
		err_place(p->err, p->name, line, column, key);
		free(key);
		return -1;
	}
	skip_blanks(p);
	if (peek(p) != ':') {
		free(key);
		return fault(p, "expected ':' after the key");
	}
	p->at++;
	return value(p, object, key, line, column);
}

static int container(struct parser *p, cJSON *item, int is_object)
{
	char end = is_object ? '}' : ']';
	struct keys keys = { MAP_INIT, 0 };
	int result = -1;
	item->type = is_object ? cJSON_Object : cJSON_Array;
	if (++p->depth > LIMIT_NESTING) {
		fault(p, "values are nested too deeply (more than 64 levels)");
		goto out;
	}
	p->at++;
	skip_blanks(p);
	if (peek(p) != end) {
		for (;;) {
			skip_blanks(p);
			if (is_object ? member(p, item, &keys)
				      : value(p, item, NULL, 0, 0))
				goto out;
			skip_blanks(p);
			if (peek(p) != ',')
				break;
			p->at++;
		}
		if (peek(p) != end) {
			fault(p,
			    is_object ? "expected ',' or '}'" : "expected ',' or ']'");
			goto out;
		}
	}
	p->at++;
	p->depth--;
	result = 0;
out:
	map_release(&keys.map);
	return result;
}

/* Reads a value and appends it to parent. Takes key. */
static int value(struct parser *p, cJSON *parent, char *key, int key_line, int key_column)
{
	skip_blanks(p);
	if (++p->nvalue > LIMIT_VALUES) {
		free(key);
		return fault(p, "the document has too many values");
	}
	cJSON *item = cJSON_CreateNull();
	item->string = key;
	cJSON_AddItemToArray(parent, item);
	size_t mark = 0;
	if (p->doc) {
		mark = p->doc->nmark;
		doc_add_mark(p->doc,
		    &(struct doc_mark){
			.item = item,
			.line = p->line,
			.column = (int)(p->at - p->line_start) + 1,
			.key_line = key_line,
			.key_column = key_column,
			.kind = DOC_NULL,
			.raw = p->at,
			.nraw = 1,
		    });
	}
	size_t start = p->at;
	enum doc_kind kind = DOC_NULL;
	int c = peek(p), result;
	if (c == '{' || c == '[') {
		kind = c == '{' ? DOC_TABLE : DOC_ARRAY;
		result = container(p, item, c == '{');
	} else if (c == '"') {
		kind = DOC_STRING;
		item->type = cJSON_String;
		result = string(p, &item->valuestring);
	} else if (c == '-' || (c >= '0' && c <= '9')) {
		result = number(p, item, &kind);
	} else {
		result = word(p, item, &kind);
	}
	if (result)
		return -1;
	if (p->doc) {
		p->doc->mark[mark].kind = kind;
		if (kind != DOC_TABLE && kind != DOC_ARRAY)
			p->doc->mark[mark].nraw = p->at - start;
	}
	return 0;
}

/* Comments become blanks; their line ends stay. */
static int blank_comments(struct parser *p, char *text)
{
	int in_string = 0;
	for (size_t i = 0; i < p->n; i++) {
		if (in_string) {
			if (text[i] == '\\')
				i++;
			else if (text[i] == '"' || text[i] == '\n')
				in_string = 0;
			continue;
		}
		if (text[i] == '"') {
			in_string = 1;
		} else if (text[i] == '/' && i + 1 < p->n && text[i + 1] == '/') {
			for (; i < p->n && text[i] != '\n'; i++)
				text[i] = ' ';
		} else if (text[i] == '/' && i + 1 < p->n && text[i + 1] == '*') {
			size_t start = i;
			text[i] = text[i + 1] = ' ';
			for (i += 2;; i++) {
				if (i + 1 >= p->n)
					return fault_at(p, start, "unterminated comment");
				if (text[i] == '*' && text[i + 1] == '/')
					break;
				if (text[i] != '\n')
					text[i] = ' ';
			}
			text[i] = text[i + 1] = ' ';
			i++;
		}
	}
	return 0;
}

/* The bytes as such: UTF-8, no NUL. */
static int check_bytes(struct parser *p)
{
	const char *nul = p->n ? memchr(p->text, 0, p->n) : NULL;
	if (nul)
		return fault_at(p, (size_t)(nul - p->text),
		    "the document contains a NUL byte");
	size_t bad = utf8_invalid(p->text, p->n);
	if (bad < p->n)
		return fault_at(p, bad, "the document is not UTF-8 here");
	return 0;
}

/* The root on success, for the caller; else null. */
static cJSON *document(struct parser *p)
{
	json_init();
	if (p->n >= 3 && memcmp(p->text, "\xef\xbb\xbf", 3) == 0)
		p->at = p->line_start = 3;
	/* Everything hangs from an array while it grows, so one call frees it. */
	cJSON *holder = cJSON_CreateArray();
	cJSON *root = NULL;
	if (!value(p, holder, NULL, 0, 0)) {
		skip_blanks(p);
		if (p->at < p->n)
			fault(p, "unexpected text after the end of the document");
		else
			root = cJSON_DetachItemFromArray(holder, 0);
	}
	cJSON_Delete(holder);
	return root;
}

int json_read(const char *name, const char *text, size_t n, enum json_flags flags,
    struct doc *out, struct err *err)
{
	struct doc doc = {
		.name = xstrdup(name),
		.text = xstrndup(text, n),
		.ntext = n,
	};
	struct parser p = {
		.name = name,
		.text = doc.text,
		.n = n,
		.line = 1,
		.doc = &doc,
		.err = err,
	};
	if (check_bytes(&p) || (flags & JSON_COMMENTS && blank_comments(&p, doc.text)) ||
	    !(doc.root = document(&p))) {
		doc_release(&doc);
		return -1;
	}
	doc_finish(&doc);
	*out = doc;
	return 0;
}

int json_parse(const char *name, const char *text, size_t n, cJSON **out, struct err *err)
{
	struct parser p = {
		.name = name,
		.text = text,
		.n = n,
		.line = 1,
		.err = err,
	};
	if (check_bytes(&p))
		return -1;
	cJSON *root = document(&p);
	if (!root)
		return -1;
	*out = root;
	return 0;
}

/*
 * TOML 1.0.0: keys, tables and the rules about defining them once. Tables are
 * found through one map from (table, key) to the value's number, which is the
 * index of its mark; beside each mark stands how the value came to be, which
 * decides what may be added to it later.
 */
#include "project/doc.h"

#include <stdlib.h>
#include <string.h>

#include "toml_scan.h"
#include "util/limits.h"
#include "util/utf8.h"
#include "util/buf.h"
#include "util/map.h"
#include "util/mem.h"

enum origin {
	VALUE,    /* a scalar or an array in brackets: complete */
	INLINE,   /* a table in braces: complete */
	IMPLICIT, /* a table that [a.b.c] made for a and b */
	HEADER,   /* a table of a [header] of its own */
	DOTTED,   /* a table that the key a.b made for a */
	ELEMENTS  /* an array of [[tables]] */
};

struct node {
	enum origin origin;
	int depth;
	size_t last; /* ELEMENTS: its last table */
};

struct part { /* of a dotted key */
	char *name;
	size_t at;
	int line, column;
};

struct key {
	struct part *part;
	size_t npart, cap;
};

struct parser {
	struct toml_scan s;
	struct doc *doc;
	struct node *node; /* a mark each */
	size_t nnode, cap;
	struct map child; /* table's number and key, to number */
};

#define NONE MAP_NONE

static int name_fault(struct parser *p, const struct part *part, const char *message)
{
	err_set(p->s.err, STATUS_INPUT, message, part->name);
	err_place(p->s.err, p->s.name, part->line, part->column, part->name);
	return -1;
}

static cJSON *item_of(const struct parser *p, size_t number)
{
	/* The marks are ours and so is the tree. */
	return (cJSON *)p->doc->mark[number].item;
}

/* The bytes that lead to a table's child in the map. */
static void child_key(size_t table, const char *name, struct buf *out)
{
	buf_u64le(out, table);
	buf_addstr(out, name);
}

static size_t find_child(const struct parser *p, size_t table, const char *name)
{
	struct buf bytes = BUF_INIT;
	child_key(table, name, &bytes);
	size_t number = map_get(&p->child, bytes.data, bytes.len);
	buf_release(&bytes);
	return number;
}

/*
 * Adds an empty item to a table (with its key) or an array (without). The
 * number, or NONE after a fault.
 */
static size_t add_item(struct parser *p, size_t parent, const struct part *part,
    enum origin origin, enum doc_kind kind)
{
	int depth = p->node[parent].depth + 1;
	size_t number = p->doc->nmark;
	if (depth > LIMIT_NESTING) {
		toml_fault(&p->s,
		    "values are nested too deeply (more than 64 "
		    "levels)");
		return NONE;
	}
	if (number >= LIMIT_VALUES) {
		toml_fault(&p->s, "the document has too many values");
		return NONE;
	}
	cJSON *item = cJSON_CreateNull();
	item->type = kind == DOC_TABLE ? cJSON_Object
	    : kind == DOC_ARRAY        ? cJSON_Array
				       : cJSON_NULL;
	item->string = part ? xstrdup(part->name) : NULL;
	cJSON_AddItemToArray(item_of(p, parent), item);
	struct doc_mark mark = {
		.item = item,
		.line = p->s.line,
		.column = toml_column(&p->s),
		.kind = kind,
		.raw = p->s.at,
		.nraw = 1,
	};
	if (part) {
		mark.key_line = part->line;
		mark.key_column = part->column;
		struct buf bytes = BUF_INIT;
		child_key(parent, part->name, &bytes);
		map_put(&p->child, bytes.data, bytes.len, number);
		buf_release(&bytes);
	}
	doc_add_mark(p->doc, &mark);
	p->node = array_grow(p->node, p->nnode, &p->cap, sizeof *p->node);
	p->node[p->nnode++] = (struct node){ origin, depth, NONE };
	return number;
}

/* A table's place is where its header or key stands. */
static void set_place(struct parser *p, size_t number, size_t at, int line, int column)
{
	struct doc_mark *mark = &p->doc->mark[number];
	mark->raw = at;
	mark->line = line;
	mark->column = column;
}

static void release_key(struct key *key)
{
	for (size_t i = 0; i < key->npart; i++)
		free(key->part[i].name);
	free(key->part);
}

static int is_bare(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '_' || c == '-';
}

static int read_part(struct parser *p, struct key *key)
{
	struct toml_scan *s = &p->s;
	struct part part = {
		.at = s->at,
		.line = s->line,
		.column = toml_column(s),
	};
	struct buf name = BUF_INIT;
	if (toml_peek(s) == '"' || toml_peek(s) == '\'') {
		if (toml_string(s, 1, &name)) {
			buf_release(&name);
			return -1;
		}
	} else {
		while (is_bare(toml_peek(s)))
			s->at++;
		if (s->at == part.at)
			return toml_fault(s, "expected a key");
		buf_add(&name, s->text + part.at, s->at - part.at);
	}
	part.name = buf_detach(&name);
	key->part = array_grow(key->part, key->npart, &key->cap, sizeof *key->part);
	key->part[key->npart++] = part;
	return 0;
}

/* Parts with dots between them, blanks around both. */
static int read_key(struct parser *p, struct key *key)
{
	for (;;) {
		toml_blanks(&p->s);
		if (read_part(p, key))
			return -1;
		if (key->npart > LIMIT_NESTING)
			return toml_fault(&p->s, "the key has too many parts");
		toml_blanks(&p->s);
		if (toml_peek(&p->s) != '.')
			return 0;
		p->s.at++;
	}
}

static int read_value(struct parser *p, size_t parent, const struct part *part);

/* "a.b.c = value" within a table. */
static int read_pair(struct parser *p, size_t table)
{
	struct key key = { 0 };
	int result = -1;
	if (read_key(p, &key))
		goto out;
	if (toml_peek(&p->s) != '=') {
		toml_fault(&p->s, "expected '=' after the key");
		goto out;
	}
	for (size_t i = 0; i + 1 < key.npart; i++) {
		const struct part *part = &key.part[i];
		size_t next = find_child(p, table, part->name);
		if (next == NONE) {
			next = add_item(p, table, part, DOTTED, DOC_TABLE);
			if (next == NONE)
				goto out;
			set_place(p, next, part->at, part->line, part->column);
		} else if (p->node[next].origin == IMPLICIT) {
			p->node[next].origin = DOTTED;
		} else if (p->node[next].origin != DOTTED) {
			name_fault(p, part,
			    "'%s' is defined already, a dotted key "
			    "cannot add to it");
			goto out;
		}
		table = next;
	}
	const struct part *last = &key.part[key.npart - 1];
	if (find_child(p, table, last->name) != NONE) {
		name_fault(p, last, "key '%s' is given twice");
		goto out;
	}
	p->s.at++;
	toml_blanks(&p->s);
	result = read_value(p, table, last);
out:
	release_key(&key);
	return result;
}

static int read_array(struct parser *p, size_t array)
{
	struct toml_scan *s = &p->s;
	s->at++;
	for (;;) {
		if (toml_space(s))
			return -1;
		if (toml_peek(s) == ']')
			break;
		if (read_value(p, array, NULL) || toml_space(s))
			return -1;
		if (toml_peek(s) == ']')
			break;
		if (toml_peek(s) != ',')
			return toml_fault(s, "expected ',' or ']'");
		s->at++;
	}
	s->at++;
	return 0;
}

static int read_inline_table(struct parser *p, size_t table)
{
	struct toml_scan *s = &p->s;
	s->at++;
	toml_blanks(s);
	if (toml_peek(s) != '}') {
		for (;;) {
			if (read_pair(p, table))
				return -1;
			toml_blanks(s);
			if (toml_peek(s) != ',')
				break;
			s->at++;
		}
		if (toml_peek(s) != '}')
			return toml_fault(s, "expected ',' or '}'");
	}
	s->at++;
	return 0;
}

static int read_value(struct parser *p, size_t parent, const struct part *part)
{
	struct toml_scan *s = &p->s;
	int c = toml_peek(s);
	enum doc_kind kind = c == '[' ? DOC_ARRAY
	    : c == '{'                ? DOC_TABLE
	    : c == '"' || c == '\''   ? DOC_STRING
				      : DOC_NULL;
	size_t number = add_item(p, parent, part, c == '{' ? INLINE : VALUE, kind);
	if (number == NONE)
		return -1;
	if (c == '[')
		return read_array(p, number);
	if (c == '{')
		return read_inline_table(p, number);
	cJSON *item = item_of(p, number);
	size_t start = s->at;
	if (kind == DOC_STRING) {
		struct buf text = BUF_INIT;
		if (toml_string(s, 0, &text)) {
			buf_release(&text);
			return -1;
		}
		item->type = cJSON_String;
		item->valuestring = buf_detach(&text);
	} else if (toml_scalar(s, item, &kind)) {
		return -1;
	}
	p->doc->mark[number].kind = kind;
	p->doc->mark[number].nraw = s->at - start;
	return 0;
}

/* The table that a header's last part belongs to; NONE after a fault. */
static size_t walk_header(struct parser *p, const struct key *key)
{
	size_t table = 0;
	for (size_t i = 0; i + 1 < key->npart; i++) {
		const struct part *part = &key->part[i];
		size_t next = find_child(p, table, part->name);
		if (next == NONE) {
			next = add_item(p, table, part, IMPLICIT, DOC_TABLE);
			if (next == NONE)
				return NONE;
			set_place(p, next, part->at, part->line, part->column);
		}
		if (p->node[next].origin == VALUE || p->node[next].origin == INLINE) {
			name_fault(p, part,
			    "'%s' is a complete value, a header "
			    "cannot add to it");
			return NONE;
		}
		table = p->node[next].origin == ELEMENTS ? p->node[next].last : next;
	}
	return table;
}

/* Makes the table of a header: [key] or [[key]]. */
static size_t define_header(struct parser *p, const struct key *key, int is_element,
    size_t at, int line, int column)
{
	const struct part *last = &key->part[key->npart - 1];
	size_t parent = walk_header(p, key);
	if (parent == NONE)
		return NONE;
	size_t number = find_child(p, parent, last->name);
	if (is_element) {
		if (number == NONE) {
			number = add_item(p, parent, last, ELEMENTS, DOC_ARRAY);
			if (number == NONE)
				return NONE;
			set_place(p, number, at, line, column);
		} else if (p->node[number].origin != ELEMENTS) {
			name_fault(p, last,
			    "'%s' is defined already, and not as an "
			    "array of tables");
			return NONE;
		}
		size_t element = add_item(p, number, NULL, HEADER, DOC_TABLE);
		p->node[number].last = element;
		number = element;
	} else if (number == NONE) {
		number = add_item(p, parent, last, HEADER, DOC_TABLE);
	} else if (p->node[number].origin == IMPLICIT) {
		p->node[number].origin = HEADER;
		p->doc->mark[number].key_line = last->line;
		p->doc->mark[number].key_column = last->column;
	} else {
		name_fault(p, last, "table '%s' is defined twice");
		return NONE;
	}
	if (number != NONE)
		set_place(p, number, at, line, column);
	return number;
}

static int read_header(struct parser *p, size_t *table)
{
	struct toml_scan *s = &p->s;
	struct key key = { 0 };
	size_t at = s->at;
	int line = s->line, column = toml_column(s), result = -1;
	s->at++;
	int is_element = toml_peek(s) == '[';
	s->at += (size_t)is_element;
	if (read_key(p, &key))
		goto out;
	for (int i = 0; i <= is_element; i++, s->at++) {
		if (toml_peek(s) != ']') {
			toml_fault(s, is_element ? "expected ']]'" : "expected ']'");
			goto out;
		}
	}
	*table = define_header(p, &key, is_element, at, line, column);
	result = *table == NONE ? -1 : 0;
out:
	release_key(&key);
	return result;
}

static int read_lines(struct parser *p)
{
	struct toml_scan *s = &p->s;
	size_t table = 0;
	for (;;) {
		if (toml_space(s))
			return -1;
		if (s->at == s->n)
			return 0;
		if (toml_peek(s) == '[' ? read_header(p, &table) : read_pair(p, table))
			return -1;
		toml_blanks(s);
		if (toml_peek(s) == '#' && toml_comment(s))
			return -1;
		if (s->at < s->n && !toml_newline(s))
			return toml_fault(s, "expected the end of the line");
	}
}

/* The bytes as such: UTF-8, no NUL. */
static int check_bytes(struct toml_scan *s)
{
	const char *nul = s->n ? memchr(s->text, 0, s->n) : NULL;
	size_t bad = nul ? (size_t)(nul - s->text) : utf8_invalid(s->text, s->n);
	if (bad == s->n)
		return 0;
	int line, column;
	text_position(s->text, bad, &line, &column);
	err_set(s->err, STATUS_INPUT,
	    nul ? "the document contains a NUL byte" : "the document is not UTF-8 here");
	err_place(s->err, s->name, line, column, NULL);
	return -1;
}

int toml_read(const char *name, const char *text, size_t n, struct doc *out,
    struct err *err)
{
	json_init();
	struct doc doc = {
		.name = xstrdup(name),
		.text = xstrndup(text, n),
		.ntext = n,
		.root = cJSON_CreateObject(),
	};
	struct parser p = {
		.s = { .name = name, .text = doc.text, .n = n, .line = 1, .err = err },
		.doc = &doc,
	};
	doc_add_mark(&doc,
	    &(struct doc_mark){ .item = doc.root,
		.line = 1,
		.column = 1,
		.kind = DOC_TABLE });
	p.node = array_grow(p.node, 0, &p.cap, sizeof *p.node);
	p.node[p.nnode++] = (struct node){ HEADER, 0, NONE };
	if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		p.s.at = p.s.line_start = 3;
	int result = check_bytes(&p.s) || read_lines(&p) ? -1 : 0;
	map_release(&p.child);
	free(p.node);
	if (result) {
		doc_release(&doc);
		return -1;
	}
	doc_finish(&doc);
	*out = doc;
	return 0;
}

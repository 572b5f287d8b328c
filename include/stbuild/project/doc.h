#ifndef STBUILD_PROJECT_DOC_H
#define STBUILD_PROJECT_DOC_H

/*
 * A parsed document, whatever its syntax: a cJSON tree and, beside it, where
 * each value stood and how it was written, since cJSON keeps neither positions
 * nor number kinds. Walk children by ->next, never by index (that is
 * quadratic).
 */

#include <stddef.h>
#include <cjson/cJSON.h>

#include "util/err.h"

enum doc_kind {
	DOC_NULL,
	DOC_BOOL,
	DOC_INTEGER, /* fits 64 bits; the exact digits are in raw */
	DOC_FLOAT,
	DOC_STRING,
	DOC_DATE, /* TOML's four date and time types; a string in the tree */
	DOC_ARRAY,
	DOC_TABLE,
};

struct doc_mark {
	const cJSON *item;
	int line, column;         /* of the value, from 1; bytes */
	int key_line, key_column; /* of its key; 0 in arrays and at the root */
	enum doc_kind kind;
	size_t raw, nraw; /* the token as written, in text; containers: first byte */
};

struct doc {
	char *name; /* file name for messages */
	char *text; /* the bytes read, NUL-terminated */
	size_t ntext;
	cJSON *root;
	struct doc_mark *mark; /* in the order met, parents before children */
	size_t nmark, cap;
	size_t *slot; /* hash table of marks by item: index + 1, or 0 */
	size_t nslot; /* a power of two */
};

/*
 * Makes cJSON allocate with xmalloc, so that none of its constructors fails.
 * The readers do it; whoever builds a tree of his own does it first.
 */
void json_init(void);

/* Where the item stood; BUG when it is not of this document. */
const struct doc_mark *doc_mark(const struct doc *doc, const cJSON *item);
/* The exact integer of a DOC_INTEGER. */
long long doc_integer(const struct doc *doc, const cJSON *item);
void doc_release(struct doc *doc);

/*
 * Building, for the readers: marks are added parents first, then doc_finish
 * makes them findable.
 */
void doc_add_mark(struct doc *doc, const struct doc_mark *mark);
void doc_finish(struct doc *doc);

/* JSON_COMMENTS takes // and block comments, blanked in place. */
enum json_flags { JSON_PLAIN = 0, JSON_COMMENTS = 1 };

/*
 * RFC 8259, strictly: UTF-8, no NUL, no control characters in strings, no key
 * twice, numbers within double and exact integers within 64 bits marked as
 * such, LIMIT_NESTING. Leading UTF-8 BOM is skipped. Faults are STATUS_INPUT
 * and have their place.
 */
int json_read(const char *name, const char *text, size_t n, enum json_flags flags,
    struct doc *out, struct err *err) WARN_UNUSED;
/* The same, when only the tree is wanted. */
int json_parse(const char *name, const char *text, size_t n, cJSON **out,
    struct err *err) WARN_UNUSED;
/*
 * Adds a tree as text for people: tabs, "key": value, an entry a line, what is
 * short and below the first level on one line; the last line ends, too.
 */
struct buf;
void json_write(const cJSON *root, struct buf *out);
/*
 * TOML 1.0.0 in full (toml.io/en/v1.0.0). A NUL that a string or key spells
 * with an escape stands in the tree as in utf8.h. inf and nan are numbers.
 */
int toml_read(const char *name, const char *text, size_t n, struct doc *out,
    struct err *err) WARN_UNUSED;

#endif

#ifndef STBUILD_GRAPH_FACT_H
#define STBUILD_GRAPH_FACT_H

/*
 * What decides a result is a list of facts, whose kinds are the rows of
 * fact.def. The hash of a list is a key, its bytes are what the store
 * remembers, and two of them compared say what changed: what is explained
 * cannot differ from what was hashed.
 *
 * A fact is known within its list by kind, subject, index and file. In bytes,
 * numbers little-endian:
 *
 *	u32 tag, u32 index, u32 length of subject, u32 length of value,
 *	subject, NUL, value; if PLACED: u32 line, u32 length of file, file, NUL
 */

#include <stddef.h>
#include <stdint.h>

#include "graph/encoder.h"
#include "graph/reason.h"
#include "util/buf.h"
#include "util/sha256.h"

enum fact_kind {
#define FACT(name, tag, label, form, reason, flags) FACT_##name,
#include "graph/fact.def"
#undef FACT
	NFACT,
};

enum fact_flags {
	FACT_IS_KEY = 1,
	FACT_IS_DECLARED = 2,
	FACT_IS_FOLLOWED = 4,
	FACT_IS_PLACED = 8,
	FACT_IS_PRESET = 16,
};

#define FACT_NONE ((uint32_t)-1) /* no index */

struct fact {
	enum fact_kind kind;
	const char *subject; /* a name, or "" */
	uint32_t index;
	const unsigned char *bytes;
	size_t n;
	const char *file; /* where it comes from, or "" */
	int line;         /* does not count in comparisons */
};

struct facts { /* zeroed: none */
	struct buf bytes;
	int is_terse; /* only what is part of the key is taken */
};

/* Starts a list: KEY_VERSION, and what it is the list of. */
void facts_begin(struct facts *list, const char *what);
void facts_add(struct facts *list, const struct fact *fact);
void facts_add_bytes(struct facts *list, enum fact_kind kind, const char *subject,
    uint32_t index, const void *bytes, size_t n);
void facts_add_number(struct facts *list, enum fact_kind kind, const char *subject,
    uint32_t index, uint64_t v);
void facts_add_text(struct facts *list, enum fact_kind kind, const char *subject,
    uint32_t index, const char *text);
void facts_add_hash(struct facts *list, enum fact_kind kind, const char *subject,
    uint32_t index, const struct sha256 *sha);
void facts_add_size(struct facts *list, enum fact_kind kind, int width, int height);
void facts_add_double(struct facts *list, enum fact_kind kind, double v);
/* All of another list. */
void facts_append(struct facts *list, const struct facts *more);
void facts_release(struct facts *list);

/*
 * Reads the fact at *at and moves on: 1, or 0 at the end. It points into the
 * list. What a damaged store gives is no fact: it is the end.
 */
int facts_next(const struct facts *list, size_t *at, struct fact *out);
/* The fact of the same kind, subject, index and file: 1, or 0. */
int facts_find(const struct facts *list, const struct fact *like, struct fact *out);
/* The same for a kind, with subject "" where it has none. */
int facts_get(const struct facts *list, enum fact_kind kind, const char *subject,
    uint32_t index, struct fact *out);
/* The hash over the facts that have the flag. */
void facts_hash(const struct facts *list, enum fact_flags flag, struct sha256 *out);

/*
 * Two lists beside each other: each fact that is not the same in both, first
 * those of now, then those of was that now has no more. was or now is null
 * where there is none.
 */
typedef void facts_differ(void *data, const struct fact *was, const struct fact *now);
void facts_compare(const struct facts *was, const struct facts *now, facts_differ *each,
    void *data);
int fact_equal(const struct fact *a, const struct fact *b);

/* For people: "sampler 0", "linear, repeat". */
void fact_print_name(const struct fact *fact, struct buf *out);
void fact_print_value(const struct fact *fact, struct buf *out);
enum reason_kind fact_reason(enum fact_kind kind);
unsigned fact_flags(enum fact_kind kind);
/* The value as a number; 0 when it is none. */
uint64_t fact_number(const struct fact *fact);

#endif

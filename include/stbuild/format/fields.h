#ifndef STBUILD_FORMAT_FIELDS_H
#define STBUILD_FORMAT_FIELDS_H

/*
 * JSON documents of trace/: keys of objects read one by one with their types
 * checked, and trees written so that numbers read back as they were.
 */

#include "project/doc.h"
#include "util/buf.h"

/* One object of a document being read. */
struct fields {
	const struct doc *doc;
	const cJSON *object;
	char where[48]; /* its path: "nodes[3]"; empty for the root */
	struct err *err;
};

/*
 * The value of a key. Absent: null, and an error if needed. A null in the
 * document is a value.
 */
const cJSON *fields_get(const struct fields *f, const char *key, int needed);
/* STATUS_INPUT at the item's position. Returns -1. */
__attribute__((format(printf, 4, 5))) int fields_fail(const struct fields *f,
    const cJSON *item, const char *key, const char *fmt, ...);

/*
 * These leave *out alone when the key is absent and not needed; -1 when it is
 * needed, has another type, or is out of its range (ends included).
 */
int fields_string(const struct fields *f, const char *key, int needed,
    const char **out) WARN_UNUSED;
int fields_int(const struct fields *f, const char *key, int needed, long long min,
    long long max, long long *out) WARN_UNUSED;
int fields_number(const struct fields *f, const char *key, int needed, double min,
    double max, double *out) WARN_UNUSED;
/* kind is DOC_ARRAY or DOC_TABLE. */
int fields_container(const struct fields *f, const char *key, int needed,
    enum doc_kind kind, const cJSON **out) WARN_UNUSED;
/* Index of the string in the list, which ends with null. */
int fields_choice(const struct fields *f, const char *key, int needed,
    const char *const *choice, int *out) WARN_UNUSED;
/* 1 when the string has nothing but blanks. */
int fields_is_blank(const char *s);

enum fields_style {
	FIELDS_COMPACT = 0,
	FIELDS_SORTED = 1,  /* keys in byte order */
	FIELDS_INDENTED = 2 /* for people; arrays of scalars on one line */
};

/* Appends the tree as JSON. Numbers that are not finite become null. */
void fields_print(const cJSON *json, int style, struct buf *out);

#endif

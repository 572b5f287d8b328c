#ifndef STBUILD_GRAPH_ENCODER_H
#define STBUILD_GRAPH_ENCODER_H

/*
 * How keys are written: a sequence of fields, each tag, length, bytes, so that
 * no two different things give one byte string. What decides a result that is to
 * be explained is a list of facts instead (graph/fact.h).
 */

#include <stddef.h>
#include <stdint.h>

#include "util/buf.h"
#include "util/sha256.h"

/* Changes whenever a field is added, dropped or means something else. */
#define KEY_VERSION 4

enum key_tag { /* never renumbered */
	TAG_KEY_VERSION = 1,
	TAG_WHAT = 2,
	TAG_HEADER_VERSION = 4,
	TAG_KIND = 6,
	TAG_FORMAT = 8,
	TAG_DRIVER = 12,
	TAG_STATIC = 13,
	TAG_SIZE = 14,
	TAG_UNIFORM = 15,
	TAG_VALUE = 16,
	TAG_INPUT = 18,
	TAG_OUTPUT = 19,
	TAG_ASSET = 21,
	TAG_DECODER = 22,
	TAG_ZERO = 24,
	TAG_UNBOUND = 25,
	TAG_NAME = 28,
	TAG_OBJECT = 29,
};

struct encoder {
	struct buf bytes; /* reset by encoder_begin */
};

/* Starts a key: KEY_VERSION, then what it is the key of. */
void encoder_begin(struct encoder *e, const char *what);
void encoder_bytes(struct encoder *e, enum key_tag tag, const void *data, size_t n);
void encoder_string(struct encoder *e, enum key_tag tag, const char *s);
void encoder_u64(struct encoder *e, enum key_tag tag, uint64_t v);
void encoder_sha(struct encoder *e, enum key_tag tag, const struct sha256 *sha);
/* The hash of all fields since encoder_begin. */
void encoder_end(struct encoder *e, struct sha256 *out);
void encoder_release(struct encoder *e);

#endif

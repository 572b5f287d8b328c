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

enum key_tag {			/* never renumbered */
	TAG_KEY_VERSION = 1,
	TAG_WHAT,		/* "static", "recipe", "storage", ... */
	TAG_DIALECT,
	TAG_HEADER_VERSION,
	TAG_TOKENS,
	TAG_KIND,
	TAG_OWN_SIZE,
	TAG_FORMAT,
	TAG_ITERATIONS,
	TAG_LOCAL_SIZE,
	TAG_SAMPLER,
	TAG_DRIVER,
	TAG_STATIC,
	TAG_SIZE,
	TAG_UNIFORM,
	TAG_VALUE,
	TAG_CHANNEL,
	TAG_INPUT,
	TAG_OUTPUT,
	TAG_MIPS,
	TAG_ASSET,
	TAG_DECODER,
	TAG_TEXELS,
	TAG_ZERO,
	TAG_UNBOUND,
	TAG_STORAGE,
	TAG_HISTORY,
	TAG_NAME,
	TAG_OBJECT,
	TAG_FRAME
};

struct encoder {
	struct buf bytes;	/* reset by encoder_begin */
};

/* Starts a key: KEY_VERSION, then what it is the key of. */
void encoder_begin(struct encoder *e, const char *what);
void encoder_bytes(struct encoder *e, enum key_tag tag, const void *data,
	size_t n);
void encoder_string(struct encoder *e, enum key_tag tag, const char *s);
void encoder_u64(struct encoder *e, enum key_tag tag, uint64_t v);
void encoder_sha(struct encoder *e, enum key_tag tag,
	const struct sha256 *sha);
/* The hash of all fields since encoder_begin. */
void encoder_end(struct encoder *e, struct sha256 *out);
void encoder_release(struct encoder *e);

#endif

#ifndef STBUILD_FORMAT_STSTATE_H
#define STBUILD_FORMAT_STSTATE_H

/*
 * state.ststate (ststate(5)): "STSTATE1", u32 LE header length,
 * JSON header, RGBA32F payloads in header order, storage bytes by name.
 */

#include <stddef.h>
#include <stdint.h>

#include "project/manifest.h"
#include "util/buf.h"
#include "util/err.h"

struct state_buffer {
	char *name;
	int width, height;
	int has_size; /* written in the header; else the output's */
	enum format format;
	size_t at;    /* offset of its payload in the file */
	size_t bytes; /* width x height x 16 */
};

struct state_storage {
	char *name;
	uint64_t bytes;
	size_t at;
};

struct state {
	int version; /* 1..4 as read; 4 is written */
	char *project;
	int width, height;
	double fps, time;
	int frame;
	struct state_buffer *buffer; /* written sorted by name */
	size_t nbuffer;
	struct state_storage *storage; /* in byte order of names */
	size_t nstorage;
	char *header; /* the JSON text, as in the file */
};

/*
 * Makes the magic, length and header for a state (sorts its lists, sets at and
 * bytes and header); the payloads follow in the order of the lists.
 */
int state_begin(struct state *state, struct buf *out, struct err *err) WARN_UNUSED;
/*
 * Reads and validates the header of a whole file in memory; payloads are found
 * at their offsets. The length must be exact.
 */
int state_read(const char *name, const void *data, size_t n, struct state *out,
    struct err *err) WARN_UNUSED;
void state_release(struct state *state);

#endif

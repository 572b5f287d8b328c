#ifndef STBUILD_RENDER_FLIGHT_H
#define STBUILD_RENDER_FLIGHT_H

/*
 * What was given to the GPU and is not yet known to be finished: draws with
 * their timer queries, and read-backs. A fence stands behind each; finished
 * ones are reported as events, in order. Bounded: the oldest is waited for.
 *
 * Read-backs go through pixel pack buffers, so that later draws run beside
 * them. Software GL draws with the very processor that would copy, and has no
 * transfer to hide: there the bytes are read into the slab at once, which
 * saves a copy.
 */

#include <stddef.h>
#include <stdint.h>

#include "render/buffer.h"
#include "render/gl.h"
#include "render/stream.h"
#include "render/texture.h"

#define FLIGHT_MAX 64                      /* commands */
#define FLIGHT_MAX_READS 8                 /* of them read-backs */
#define FLIGHT_MAX_READ_BYTES (256u << 20) /* together, unless it is one alone */

struct flight_item {
	GLsync fence;
	uint64_t tag;
	int has_query;
	long long start_ns; /* of the call, by our clock */
	int pbo;            /* index; -1 for a draw */
	uint32_t slab;
	void *to; /* the slab's bytes */
	size_t n;
};

struct flight {
	struct gl *gl;
	struct stream *stream;
	int use_pbo;
	struct flight_item item[FLIGHT_MAX]; /* a ring */
	GLuint query[FLIGHT_MAX];            /* of the same place */
	unsigned first, n;
	struct {
		GLuint name;
		size_t size; /* allocated */
		int is_busy;
	} pbo[FLIGHT_MAX_READS];
	size_t read_bytes;    /* in flight */
	int has_query;        /* the draw being issued */
	long long start_ns;   /* and when it began */
	long long retired_ns; /* when the last one was seen finished */
};

void flight_init(struct flight *f, struct gl *gl, struct stream *stream, int use_pbo);
void flight_release(struct flight *f);

/*
 * Around a draw, whatever GL calls it takes; its first target is bound. With
 * use_query the GPU's timer is asked, where there is one, else the clock.
 */
int flight_begin(struct flight *f, int use_query, struct err *err) WARN_UNUSED;
int flight_end(struct flight *f, uint64_t tag, struct err *err) WARN_UNUSED;

/* The slab has room for the texture, for n bytes of the buffer. */
int flight_read_texture(struct flight *f, const struct texture *t, uint32_t slab,
    void *to, uint64_t tag, struct err *err) WARN_UNUSED;
int flight_read_buffer(struct flight *f, const struct buffer *b, uint32_t slab, void *to,
    uint64_t n, uint64_t tag, struct err *err) WARN_UNUSED;

/* Reports what is finished, waiting up to wait_ns for the oldest. */
int flight_poll(struct flight *f, uint64_t wait_ns, struct err *err) WARN_UNUSED;
/* Waits until nothing is in flight. */
int flight_drain(struct flight *f, struct err *err) WARN_UNUSED;

#endif

#ifndef STBUILD_RENDER_STREAM_H
#define STBUILD_RENDER_STREAM_H

/*
 * What parent and worker say to each other, over a stream socket between two
 * processes of one program.
 *
 * A message is a type and a payload length, 32 bits each, then the payload:
 * little-endian integers of 32 and 64 bits, floats as their bits, strings as
 * their length without the NUL, the bytes and a NUL. Fields stand in the order
 * that the table of types below names. Both sides check every length, count
 * and number they read; what does not fit ends the connection.
 *
 * Descriptors of slabs travel beside the first byte of their CMD_SLAB. Both
 * ends are non-blocking and keep what the socket does not take.
 */

#include <stddef.h>
#include <stdint.h>

#include "util/limits.h"
#include "render/worker.h"
#include "util/buf.h"
#include "util/err.h"

#define STREAM_VERSION 3
/* The largest message: a compile with two texts. */
#define STREAM_MAX_MESSAGE (2 * LIMIT_EXPANDED_BYTES + (1u << 20))
#define STREAM_MAX_UNIFORMS 4096  /* of a draw */
#define STREAM_MAX_ID 65536       /* of textures, buffers, programs, slabs */
#define STREAM_MAX_LOG (1u << 20) /* bytes of a compiler's log */

enum stream_type {
	/* Parent to worker. */
	CMD_HELLO = 1, /* u32 version, str device, u32 use_pbo */
	CMD_QUIT,
	CMD_SLAB,           /* u32 id, u64 size; with a descriptor */
	CMD_SLAB_FREE,      /* u32 id */
	CMD_COMPILE,        /* u32 program, u32 has_vertex, str vertex, str stage */
	CMD_TEXTURE_NEW,    /* u32 id, see stream_put_desc */
	CMD_TEXTURE_UPLOAD, /* u32 id, u32 slab */
	CMD_TEXTURE_CLEAR,  /* u32 id */
	CMD_TEXTURE_COPY,   /* u32 dst, u32 src */
	CMD_TEXTURE_MIPS,   /* u32 id */
	CMD_TEXTURE_FREE,   /* u32 id */
	CMD_TEXTURE_READ,   /* u32 id, u32 slab, u64 tag */
	CMD_BUFFER_NEW,     /* u32 id, u64 size */
	CMD_BUFFER_UPLOAD,  /* u32 id, u32 slab, u64 size */
	CMD_BUFFER_CLEAR,   /* u32 id */
	CMD_BUFFER_COPY,    /* u32 dst, u32 src, u64 size */
	CMD_BUFFER_FREE,    /* u32 id */
	CMD_BUFFER_READ,    /* u32 id, u32 slab, u64 size, u64 tag */
	CMD_DRAW,           /* see stream_put_draw */

	/* Worker to parent. */
	EV_LOG = 100, /* str line */
	EV_READY,     /* see stream_put_info */
	EV_COMPILED,  /* u32 program, see stream_put_result */
	EV_DREW,      /* u64 tag, u64 gpu_ns */
	EV_READ,      /* u64 tag, u32 slab */
	EV_UPLOADED,  /* u32 slab */
	EV_FATAL      /* u32 status, u32 kind, str message; the last message */
};

/* A message as received; the reading functions move on. */
struct message {
	uint32_t type;
	const unsigned char *p; /* what is not read yet; borrowed */
	size_t n;               /* bytes of it */
	int is_bad;             /* something did not fit; everything reads as 0 */
};

uint32_t message_u32(struct message *m);
uint64_t message_u64(struct message *m);
/* Borrowed and NUL-terminated; "" when bad. len may be null. */
const char *message_str(struct message *m, size_t *len);
/* -1 unless the message was read to its very end without fault. */
int message_end(const struct message *m, struct err *err) WARN_UNUSED;

struct stream {
	int fd;        /* owned; -1 when closed */
	struct buf in; /* received, from in_at on not yet taken */
	size_t in_at;
	struct buf out; /* to be sent from out_at on */
	size_t out_at;
	uint64_t sent; /* bytes sent since the start */
	struct stream_fd {
		uint64_t at; /* goes with the byte at this position */
		int fd;
	} * pass; /* descriptors to be sent, in order */
	size_t npass, pass_at, pass_cap;
	int got[16]; /* descriptors received and not yet taken */
	int ngot;
	size_t begin; /* of the message being written */
	int is_eof;   /* the other end is gone */
};

/* Takes the descriptor over. */
int stream_open(struct stream *s, int fd, struct err *err) WARN_UNUSED;
void stream_close(struct stream *s);

/* Writing: begin, fields, end. Nothing is sent before stream_send. */
void stream_begin(struct stream *s, enum stream_type type);
void stream_u32(struct stream *s, uint32_t v);
void stream_u64(struct stream *s, uint64_t v);
/* n bytes at text, which may be null when n is 0. */
void stream_text(struct stream *s, const char *text, size_t n);
void stream_str(struct stream *s, const char *text);
/* The descriptor goes with the message being written, and is closed then. */
void stream_pass_fd(struct stream *s, int fd);
void stream_end(struct stream *s);
/* Position behind everything written so far, comparable with sent. */
uint64_t stream_written(const struct stream *s);
/* Bytes written and not yet sent. */
size_t stream_unsent(const struct stream *s);

/* Sends what the socket takes now. -1 when the other end is gone. */
int stream_send(struct stream *s, struct err *err) WARN_UNUSED;
/*
 * Receives some of what there is now: 1, or 0 when there was nothing, also at
 * the end, which sets is_eof. -1 on an error.
 */
int stream_recv(struct stream *s, struct err *err) WARN_UNUSED;
/*
 * 1: *out is the next message, good until the next stream_recv. 0: none is
 * complete. -1: a length that cannot be.
 */
int stream_next(struct stream *s, struct message *out, struct err *err) WARN_UNUSED;
/* The next descriptor received, the caller's; -1 when there is none. */
int stream_take_fd(struct stream *s);

/* Draws. The worker reads them into memory that it uses again. */
struct draw_room {
	struct draw_uniform *uniform;
	size_t cap;
	struct draw_storage storage[LIMIT_STORAGE_NAMES];
};
void draw_room_release(struct draw_room *room);

void stream_put_draw(struct stream *s, const struct draw *draw, const char *label);
/* out borrows from room and the message. Checks every count and enum. */
int message_draw(struct message *m, struct draw_room *room, struct draw *out,
    const char **label, struct err *err) WARN_UNUSED;

void stream_put_info(struct stream *s, const struct gl_info *info);
int message_info(struct message *m, struct gl_info *out, struct err *err) WARN_UNUSED;

void stream_put_result(struct stream *s, uint32_t program,
    const struct compile_result *result);
int message_result(struct message *m, struct compile_result *out,
    struct err *err) WARN_UNUSED;

void stream_put_desc(struct stream *s, const struct texture_desc *desc);
int message_desc(struct message *m, struct texture_desc *out,
    struct err *err) WARN_UNUSED;

#endif

#ifndef STBUILD_RENDER_GL_H
#define STBUILD_RENDER_GL_H

/*
 * The worker's context: what it can do, and the tables of objects by the
 * numbers that the parent gave them.
 */

#include <epoxy/gl.h>
#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

struct buffer;
struct program;
struct texture;

struct gl {
	int version; /* 450, 430 or 410 */
	int has_es3;
	int has_compute; /* and shader storage */
	int has_clear_texture, has_clear_buffer, has_copy_image;
	int has_debug, has_reset_status, has_timer;
	int is_software;
	int max_texture_size, max_3d_size, max_cube_size;
	int max_storage_bindings, max_image_units, max_draw_buffers;
	int max_units; /* of textures in a fragment shader */
	uint64_t max_storage_bytes;

	struct texture **texture; /* by id; null where there is none */
	struct buffer **buffer;
	struct program **program;
	size_t ntexture, nbuffer, nprogram;

	GLuint vao;           /* without attributes, always bound */
	GLuint sampler[3][2]; /* [enum filter][enum wrap] */
	GLuint unbound[3];    /* [enum texture_kind], (0,0,0,1) */
};

/*
 * Learns the context's limits and sets the state that never changes. -1 when
 * it lacks what nothing here can do without.
 */
int gl_init(struct gl *gl, int is_robust, struct err *err) WARN_UNUSED;
void gl_release(struct gl *gl);

/*
 * Ends each function that calls GL: -1 when there was a GL error, which is
 * named with the function and what it worked on. Running out of memory and a
 * lost context say so.
 */
__attribute__((format(printf, 4, 5))) int gl_check(struct gl *gl, struct err *err,
    const char *function, const char *fmt, ...) WARN_UNUSED;

/* A group in the driver's debug stream, where there is one. */
void gl_push_group(struct gl *gl, const char *label);
void gl_pop_group(struct gl *gl);

/* Takes the driver's pending messages; appends a line each. */
struct buf;
void gl_take_messages(struct buf *out);

/*
 * Makes room for an id in a table of pointers to structs; new rows are null.
 * Use it as gl->texture = gl_room(gl->texture, &gl->ntexture, id).
 */
void *gl_room(void *table, size_t *n, uint32_t id);

#endif

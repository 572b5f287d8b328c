#ifndef STBUILD_RENDER_BUFFER_H
#define STBUILD_RENDER_BUFFER_H

/* Shader storage of the worker. */

#include "render/gl.h"

struct buffer {
	GLuint name;
	uint64_t size; /* bytes */
};

struct buffer *buffer_get(struct gl *gl, uint32_t id, struct err *err);
/* Zeroed. */
int buffer_new(struct gl *gl, uint32_t id, uint64_t size, struct err *err) WARN_UNUSED;
int buffer_upload(struct gl *gl, uint32_t id, const void *data, uint64_t size,
    struct err *err) WARN_UNUSED;
int buffer_clear(struct gl *gl, uint32_t id, struct err *err) WARN_UNUSED;
int buffer_copy(struct gl *gl, uint32_t dst, uint32_t src, uint64_t size,
    struct err *err) WARN_UNUSED;
void buffer_free(struct gl *gl, uint32_t id);

#endif

#include "render/buffer.h"

#include <string.h>

#include "util/mem.h"

#define CLEAR_STEP 65536

struct buffer *buffer_get(struct gl *gl, uint32_t id, struct err *err)
{
	if (id < gl->nbuffer && gl->buffer[id])
		return gl->buffer[id];
	err_set(err, STATUS_FAILED, "the renderer has no buffer %lu", (unsigned long)id);
	return NULL;
}

static int check(struct gl *gl, const char *function, uint64_t size, struct err *err)
{
	return gl_check(gl, err, function, "shader storage of %llu bytes",
	    (unsigned long long)size);
}

static int in_range(const struct buffer *b, uint64_t size, struct err *err)
{
	if (size <= b->size)
		return 0;
	return err_set(err, STATUS_FAILED, "%llu bytes do not fit shader storage of %llu",
	    (unsigned long long)size, (unsigned long long)b->size);
}

static void clear(struct gl *gl, const struct buffer *b)
{
	glBindBuffer(GL_COPY_WRITE_BUFFER, b->name);
	if (gl->has_clear_buffer) {
		glClearBufferData(GL_COPY_WRITE_BUFFER, GL_R8, GL_RED, GL_UNSIGNED_BYTE,
		    NULL);
		return;
	}
	static const char zero[CLEAR_STEP];
	for (uint64_t at = 0; at < b->size; at += CLEAR_STEP)
		glBufferSubData(GL_COPY_WRITE_BUFFER, (GLintptr)at,
		    (GLsizeiptr)(b->size - at < CLEAR_STEP ? b->size - at : CLEAR_STEP),
		    zero);
}

int buffer_new(struct gl *gl, uint32_t id, uint64_t size, struct err *err)
{
	if (!gl->has_compute)
		return err_set(err, STATUS_MACHINE,
		    "shader storage needs OpenGL 4.3, but this context has "
		    "less");
	if (!size || size > gl->max_storage_bytes || size > PTRDIFF_MAX)
		return err_set(err, STATUS_MACHINE,
		    "shader storage of %llu bytes does not fit this OpenGL's limit of %llu",
		    (unsigned long long)size, (unsigned long long)gl->max_storage_bytes);
	buffer_free(gl, id);
	struct buffer *b = xcalloc(1, sizeof *b);
	b->size = size;
	gl->buffer = gl_room(gl->buffer, &gl->nbuffer, id);
	gl->buffer[id] = b;
	glGenBuffers(1, &b->name);
	glBindBuffer(GL_COPY_WRITE_BUFFER, b->name);
	glBufferData(GL_COPY_WRITE_BUFFER, (GLsizeiptr)size, NULL, GL_DYNAMIC_COPY);
	if (check(gl, "glBufferData", size, err) < 0)
		return -1;
	clear(gl, b);
	return check(gl, "buffer_new", size, err);
}

int buffer_upload(struct gl *gl, uint32_t id, const void *data, uint64_t size,
    struct err *err)
{
	struct buffer *b = buffer_get(gl, id, err);
	if (!b || in_range(b, size, err) < 0)
		return -1;
	glBindBuffer(GL_COPY_WRITE_BUFFER, b->name);
	glBufferSubData(GL_COPY_WRITE_BUFFER, 0, (GLsizeiptr)size, data);
	return check(gl, "buffer_upload", size, err);
}

int buffer_clear(struct gl *gl, uint32_t id, struct err *err)
{
	struct buffer *b = buffer_get(gl, id, err);
	if (!b)
		return -1;
	clear(gl, b);
	return check(gl, "buffer_clear", b->size, err);
}

int buffer_copy(struct gl *gl, uint32_t dst, uint32_t src, uint64_t size, struct err *err)
{
	struct buffer *to = buffer_get(gl, dst, err);
	struct buffer *from = buffer_get(gl, src, err);
	if (!to || !from || in_range(to, size, err) < 0 || in_range(from, size, err) < 0)
		return -1;
	if (to == from)
		return 0;
	glBindBuffer(GL_COPY_READ_BUFFER, from->name);
	glBindBuffer(GL_COPY_WRITE_BUFFER, to->name);
	glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, 0,
	    (GLsizeiptr)size);
	return check(gl, "buffer_copy", size, err);
}

void buffer_free(struct gl *gl, uint32_t id)
{
	if (id < gl->nbuffer && gl->buffer[id]) {
		glDeleteBuffers(1, &gl->buffer[id]->name);
		free(gl->buffer[id]);
		gl->buffer[id] = NULL;
	}
}

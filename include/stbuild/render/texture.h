#ifndef STBUILD_RENDER_TEXTURE_H
#define STBUILD_RENDER_TEXTURE_H

/* Textures of the worker, and the framebuffers that draw into them. */

#include "render/gl.h"
#include "render/worker.h"

struct framebuffer {
	uint32_t target[8]; /* texture ids */
	int ntarget;
	int face; /* of a cubemap; 0 otherwise */
	GLuint name;
};

struct texture {
	GLuint name;
	struct texture_desc desc;
	int nlevel;
	struct framebuffer *fb; /* those whose first target this is */
	size_t nfb, fb_cap;
};

/* How GL spells a texel, and how its bytes come and go unchanged. */
struct texel_format {
	GLenum internal, format, type;
	size_t bytes;
	const char *name;
};
const struct texel_format *texel_format(enum texel texel);
/* GL_TEXTURE_2D and so on. */
GLenum texture_bind_point(enum texture_kind kind);

/* "1280 x 720 rgba32f"; the caller's to free. */
char *texture_words(const struct texture_desc *desc);

/* The texture, or null and an error. */
struct texture *texture_get(struct gl *gl, uint32_t id, struct err *err);
/* Refuses sizes that the context has not. */
int texture_new(struct gl *gl, uint32_t id, const struct texture_desc *desc,
    struct err *err) WARN_UNUSED;
/* n is at least texture_bytes. */
int texture_upload(struct gl *gl, uint32_t id, const void *data, size_t n,
    struct err *err) WARN_UNUSED;
int texture_clear(struct gl *gl, uint32_t id, struct err *err) WARN_UNUSED;
int texture_copy(struct gl *gl, uint32_t dst, uint32_t src, struct err *err) WARN_UNUSED;
int texture_mips(struct gl *gl, uint32_t id, struct err *err) WARN_UNUSED;
void texture_free(struct gl *gl, uint32_t id);

/*
 * Level 0 to memory, or to an offset of the bound pixel pack buffer. Waits for
 * what draws into it when it is memory.
 */
void texture_get_image(const struct texture *t, void *to);

/* The framebuffer with these targets, made when there is none yet. */
int texture_framebuffer(struct gl *gl, const uint32_t *target, int ntarget, int face,
    GLuint *out, struct err *err) WARN_UNUSED;

#endif

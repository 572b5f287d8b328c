#include "render/texture.h"

#include <string.h>

#include "util/mem.h"

static const struct texel_format texel_table[] = {
#define FORMAT(name, word, document, bytes, channels, internal, format, type) \
	[TEXEL_##name] = { internal, format, type, bytes, word },
#include "project/format.def"
	[TEXEL_R8] = { GL_R8, GL_RED, GL_UNSIGNED_BYTE, 1, "r8" },
};

static const GLenum bind_point[] = {
	[TEXTURE_2D] = GL_TEXTURE_2D,
	[TEXTURE_3D] = GL_TEXTURE_3D,
	[TEXTURE_CUBE] = GL_TEXTURE_CUBE_MAP,
};

GLenum texture_bind_point(enum texture_kind kind)
{
	return bind_point[kind];
}

const struct texel_format *texel_format(enum texel texel)
{
	return &texel_table[texel];
}

static int nface(const struct texture_desc *desc)
{
	return desc->kind == TEXTURE_CUBE ? 6 : 1;
}

static int depth(const struct texture_desc *desc)
{
	return desc->kind == TEXTURE_3D ? desc->depth : 1;
}

size_t texture_bytes(const struct texture_desc *desc)
{
	/* LIMIT_SIZE cubed times 16 stays below 2^46. */
	return (size_t)desc->width * (size_t)desc->height * (size_t)depth(desc) *
	    (size_t)nface(desc) * texel_table[desc->texel].bytes;
}

char *texture_words(const struct texture_desc *desc)
{
	const char *name = texel_table[desc->texel].name;
	if (desc->kind == TEXTURE_3D)
		return xasprintf("a volume of %d x %d x %d %s", desc->width, desc->height,
		    desc->depth, name);
	return xasprintf("a %s of %d x %d %s",
	    desc->kind == TEXTURE_CUBE ? "cubemap" : "texture", desc->width, desc->height,
	    name);
}

static int check(struct gl *gl, const char *function, const struct texture_desc *desc,
    struct err *err)
{
	char *words = texture_words(desc);
	int rc = gl_check(gl, err, function, "%s", words);
	free(words);
	return rc;
}

struct texture *texture_get(struct gl *gl, uint32_t id, struct err *err)
{
	if (id < gl->ntexture && gl->texture[id])
		return gl->texture[id];
	err_set(err, STATUS_FAILED, "the renderer has no texture %lu", (unsigned long)id);
	return NULL;
}

static int level_size(int size, int level)
{
	size >>= level;
	return size ? size : 1;
}

static void sub_image(const struct texture *t, int level, int face, const void *data)
{
	const struct texel_format *f = &texel_table[t->desc.texel];
	int w = level_size(t->desc.width, level), h = level_size(t->desc.height, level);
	if (t->desc.kind == TEXTURE_3D)
		glTexSubImage3D(GL_TEXTURE_3D, level, 0, 0, 0, w, h,
		    level_size(t->desc.depth, level), f->format, f->type, data);
	else if (t->desc.kind == TEXTURE_CUBE)
		glTexSubImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + (GLenum)face, level, 0,
		    0, w, h, f->format, f->type, data);
	else
		glTexSubImage2D(GL_TEXTURE_2D, level, 0, 0, w, h, f->format, f->type,
		    data);
}

static void clear(struct gl *gl, const struct texture *t)
{
	const struct texel_format *f = &texel_table[t->desc.texel];
	if (gl->has_clear_texture) {
		for (int level = 0; level < t->nlevel; level++)
			glClearTexImage(t->name, level, f->format, f->type, NULL);
		return;
	}
	size_t face = texture_bytes(&t->desc) / (size_t)nface(&t->desc);
	void *zero = xcalloc(face, 1);
	glBindTexture(bind_point[t->desc.kind], t->name);
	for (int level = 0; level < t->nlevel; level++)
		for (int k = 0; k < nface(&t->desc); k++)
			sub_image(t, level, k, zero);
	free(zero);
}

int texture_new(struct gl *gl, uint32_t id, const struct texture_desc *desc,
    struct err *err)
{
	int max = desc->kind == TEXTURE_3D ? gl->max_3d_size
	    : desc->kind == TEXTURE_CUBE   ? gl->max_cube_size
					   : gl->max_texture_size;
	if (desc->width < 1 || desc->height < 1 || depth(desc) < 1 ||
	    (desc->kind == TEXTURE_CUBE && desc->width != desc->height) ||
	    desc->width > max || desc->height > max || depth(desc) > max) {
		char *words = texture_words(desc);
		err_set(err, STATUS_MACHINE, "%s does not fit this OpenGL's limit of %d",
		    words, max);
		free(words);
		return -1;
	}
	texture_free(gl, id);
	struct texture *t = xcalloc(1, sizeof *t);
	t->desc = *desc;
	t->nlevel = 1;
	int size = desc->width > desc->height ? desc->width : desc->height;
	if (depth(desc) > size)
		size = depth(desc);
	while (desc->has_mips && size >> t->nlevel)
		t->nlevel++;
	gl->texture = gl_room(gl->texture, &gl->ntexture, id);
	gl->texture[id] = t;

	const struct texel_format *f = &texel_table[desc->texel];
	GLenum bind = bind_point[desc->kind];
	glActiveTexture(GL_TEXTURE0);
	glGenTextures(1, &t->name);
	glBindTexture(bind, t->name);
	if (desc->kind == TEXTURE_3D)
		glTexStorage3D(bind, t->nlevel, f->internal, desc->width, desc->height,
		    desc->depth);
	else
		glTexStorage2D(bind, t->nlevel, f->internal, desc->width, desc->height);
	/* Without storage there is nothing to clear; the first error counts. */
	if (check(gl, "glTexStorage", desc, err) < 0)
		return -1;
	if (desc->is_red_only && f->format != GL_RED) {
		glTexParameteri(bind, GL_TEXTURE_SWIZZLE_G, GL_ZERO);
		glTexParameteri(bind, GL_TEXTURE_SWIZZLE_B, GL_ZERO);
		glTexParameteri(bind, GL_TEXTURE_SWIZZLE_A, GL_ONE);
	}
	clear(gl, t);
	return check(gl, "texture_new", desc, err);
}

int texture_upload(struct gl *gl, uint32_t id, const void *data, size_t n,
    struct err *err)
{
	struct texture *t = texture_get(gl, id, err);
	if (!t)
		return -1;
	if (n < texture_bytes(&t->desc))
		return err_set(err, STATUS_FAILED,
		    "the renderer got %zu bytes for a texture of %zu", n,
		    texture_bytes(&t->desc));
	size_t face = texture_bytes(&t->desc) / (size_t)nface(&t->desc);
	glActiveTexture(GL_TEXTURE0);
	glBindTexture(bind_point[t->desc.kind], t->name);
	for (int k = 0; k < nface(&t->desc); k++)
		sub_image(t, 0, k, (const char *)data + (size_t)k * face);
	return check(gl, "texture_upload", &t->desc, err);
}

int texture_clear(struct gl *gl, uint32_t id, struct err *err)
{
	struct texture *t = texture_get(gl, id, err);
	if (!t)
		return -1;
	glActiveTexture(GL_TEXTURE0);
	clear(gl, t);
	return check(gl, "texture_clear", &t->desc, err);
}

/* Attaches one face or slice, or the whole of a 2D texture. */
static void attach(GLenum target, int index, const struct texture *t, int layer)
{
	GLenum point = GL_COLOR_ATTACHMENT0 + (GLenum)index;
	if (t->desc.kind == TEXTURE_3D)
		glFramebufferTextureLayer(target, point, t->name, 0, layer);
	else
		glFramebufferTexture2D(target, point,
		    t->desc.kind == TEXTURE_CUBE
			? GL_TEXTURE_CUBE_MAP_POSITIVE_X + (GLenum)layer
			: GL_TEXTURE_2D,
		    t->name, 0);
}

/* For OpenGL without glCopyImageSubData. */
static void copy_by_framebuffer(const struct texture *to, const struct texture *from)
{
	const struct texture_desc *d = &to->desc;
	GLuint fb;
	glGenFramebuffers(1, &fb);
	glBindFramebuffer(GL_READ_FRAMEBUFFER, fb);
	glReadBuffer(GL_COLOR_ATTACHMENT0);
	glBindTexture(bind_point[d->kind], to->name);
	for (int i = 0; i < depth(d) * nface(d); i++) {
		attach(GL_READ_FRAMEBUFFER, 0, from, i);
		if (d->kind == TEXTURE_3D)
			glCopyTexSubImage3D(GL_TEXTURE_3D, 0, 0, 0, i, 0, 0, d->width,
			    d->height);
		else
			glCopyTexSubImage2D(d->kind == TEXTURE_CUBE
				? GL_TEXTURE_CUBE_MAP_POSITIVE_X + (GLenum)i
				: GL_TEXTURE_2D,
			    0, 0, 0, 0, 0, d->width, d->height);
	}
	glDeleteFramebuffers(1, &fb);
}

int texture_copy(struct gl *gl, uint32_t dst, uint32_t src, struct err *err)
{
	struct texture *to = texture_get(gl, dst, err);
	struct texture *from = texture_get(gl, src, err);
	if (!to || !from)
		return -1;
	const struct texture_desc *a = &to->desc, *b = &from->desc;
	if (a->kind != b->kind || a->width != b->width || a->height != b->height ||
	    depth(a) != depth(b) || a->texel != b->texel)
		return err_set(err, STATUS_FAILED,
		    "the renderer cannot copy texture %lu to %lu: they differ",
		    (unsigned long)src, (unsigned long)dst);
	if (dst == src)
		return 0;
	glActiveTexture(GL_TEXTURE0);
	if (gl->has_copy_image)
		glCopyImageSubData(from->name, bind_point[a->kind], 0, 0, 0, 0, to->name,
		    bind_point[a->kind], 0, 0, 0, 0, a->width, a->height,
		    depth(a) * nface(a));
	else
		copy_by_framebuffer(to, from);
	return check(gl, "texture_copy", a, err);
}

int texture_mips(struct gl *gl, uint32_t id, struct err *err)
{
	struct texture *t = texture_get(gl, id, err);
	if (!t)
		return -1;
	glActiveTexture(GL_TEXTURE0);
	glBindTexture(bind_point[t->desc.kind], t->name);
	if (t->nlevel > 1)
		glGenerateMipmap(bind_point[t->desc.kind]);
	return check(gl, "texture_mips", &t->desc, err);
}

void texture_get_image(const struct texture *t, void *to)
{
	const struct texel_format *f = &texel_table[t->desc.texel];
	size_t face = texture_bytes(&t->desc) / (size_t)nface(&t->desc);
	glActiveTexture(GL_TEXTURE0);
	glBindTexture(bind_point[t->desc.kind], t->name);
	for (int k = 0; k < nface(&t->desc); k++)
		glGetTexImage(t->desc.kind == TEXTURE_CUBE
			? GL_TEXTURE_CUBE_MAP_POSITIVE_X + (GLenum)k
			: bind_point[t->desc.kind],
		    0, f->format, f->type, (char *)to + (size_t)k * face);
}

static void drop_framebuffers(struct texture *t, uint32_t id)
{
	size_t kept = 0;
	for (size_t i = 0; i < t->nfb; i++) {
		int uses = 0;
		for (int k = 0; k < t->fb[i].ntarget; k++)
			uses |= t->fb[i].target[k] == id;
		if (uses)
			glDeleteFramebuffers(1, &t->fb[i].name);
		else
			t->fb[kept++] = t->fb[i];
	}
	t->nfb = kept;
}

void texture_free(struct gl *gl, uint32_t id)
{
	if (id < gl->ntexture && gl->texture[id]) {
		/* As a further target it may be in the framebuffers of others. */
		for (size_t i = 0; i < gl->ntexture; i++)
			if (gl->texture[i] && gl->texture[i]->nfb)
				drop_framebuffers(gl->texture[i], id);
		glDeleteTextures(1, &gl->texture[id]->name);
		free(gl->texture[id]->fb);
		free(gl->texture[id]);
		gl->texture[id] = NULL;
	}
}

static const char *status_words(GLenum status)
{
	switch (status) {
	case GL_FRAMEBUFFER_UNSUPPORTED:
		return "this combination of formats is not supported";
	case GL_FRAMEBUFFER_INCOMPLETE_ATTACHMENT:
		return "a target cannot be drawn to";
	case GL_FRAMEBUFFER_INCOMPLETE_MISSING_ATTACHMENT:
		return "no target";
	default:
		return "incomplete framebuffer";
	}
}

int texture_framebuffer(struct gl *gl, const uint32_t *target, int ntarget, int face,
    GLuint *out, struct err *err)
{
	struct texture *first = ntarget ? texture_get(gl, target[0], err) : NULL;
	if (!first)
		return ntarget ? -1
			       : err_set(err, STATUS_FAILED, "a draw without target");
	for (size_t i = 0; i < first->nfb; i++) {
		const struct framebuffer *fb = &first->fb[i];
		if (fb->ntarget == ntarget && fb->face == face &&
		    memcmp(fb->target, target, (size_t)ntarget * sizeof *target) == 0) {
			*out = fb->name;
			return 0;
		}
	}
	struct framebuffer fb = { .ntarget = ntarget, .face = face };
	GLenum point[8] = { 0 };
	glGenFramebuffers(1, &fb.name);
	glBindFramebuffer(GL_FRAMEBUFFER, fb.name);
	for (int i = 0; i < ntarget; i++) {
		struct texture *t = texture_get(gl, target[i], err);
		if (!t) {
			glDeleteFramebuffers(1, &fb.name);
			return -1;
		}
		fb.target[i] = target[i];
		point[i] = GL_COLOR_ATTACHMENT0 + (GLenum)i;
		attach(GL_FRAMEBUFFER, i, t, face);
	}
	glDrawBuffers(ntarget, point);
	first->fb = array_grow(first->fb, first->nfb, &first->fb_cap, sizeof *first->fb);
	first->fb[first->nfb++] = fb;
	*out = fb.name;
	GLenum status = glCheckFramebufferStatus(GL_FRAMEBUFFER);
	if (status != GL_FRAMEBUFFER_COMPLETE)
		return err_set(err, STATUS_MACHINE,
		    "cannot draw to %d targets, %s first: %s", ntarget,
		    texel_table[first->desc.texel].name, status_words(status));
	return check(gl, "texture_framebuffer", &first->desc, err);
}

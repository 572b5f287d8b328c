#ifndef STBUILD_GLSL_REFLECTION_H
#define STBUILD_GLSL_REFLECTION_H

/*
 * What a linked program really uses: found by the worker once, remembered by
 * the store per program and driver, read by keys.
 */

#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

struct buf;

enum gl_type { /* of an active uniform */
	GL_T_FLOAT,
	GL_T_VEC2,
	GL_T_VEC3,
	GL_T_VEC4,
	GL_T_INT,
	GL_T_BOOL,
	GL_T_UINT,
	GL_T_SAMPLER_2D,
	GL_T_SAMPLER_3D,
	GL_T_SAMPLER_CUBE,
	GL_T_IMAGE_2D,
	GL_T_OTHER /* left at its default */
};

struct active_uniform {
	char *name; /* "iTime", "iChannelResolution" (without [0]) */
	enum gl_type type;
	int count; /* array elements; 1 otherwise */
};

/* A uniform with its value, as a draw gets it and a key counts it. */
struct draw_uniform {
	const char *name; /* as in the reflection; others are ignored */
	enum gl_type type;
	int count;
	float f[64]; /* count x components, packed */
	int i[4];    /* INT, BOOL */
};

struct active_block { /* shader storage */
	char *name;
	uint32_t binding;
	int is_written; /* not known to be readonly */
};

struct reflection { /* both sorted by name */
	struct active_uniform *uniform;
	size_t nuniform;
	struct active_block *block;
	size_t nblock;
};

void reflection_release(struct reflection *r);
/* Null when the name is not active. */
const struct active_uniform *reflection_uniform(const struct reflection *r,
    const char *name);
/* A compact form for the database and the stream, and back (checked). */
void reflection_encode(const struct reflection *r, struct buf *out);
int reflection_decode(const void *data, size_t n, struct reflection *out,
    struct err *err) WARN_UNUSED;

#endif

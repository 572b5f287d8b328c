#ifndef STBUILD_GLSL_SHADER_ZERO_H
#define STBUILD_GLSL_SHADER_ZERO_H

/*
 * Variables that are declared without a value get zeros, as in browsers (WebGL
 * 1.0 specification, 4.3): locals and globals of basic types and of structs of
 * them, and local arrays of basic types. Drivers that offer the like do not
 * see all of it: Mesa makes "float x; if (c) x = 1.0;" a constant first.
 */

#include "glsl/glsl.h"
#include "util/buf.h"

/* Appends the text with the zeros in it. Lines stay where they are. */
void shader_zero(const struct glsl *g, struct buf *out);

/* "float", "mat4x3", ...: the token's word when it is such a type, or null. */
const char *shader_basic_type(const struct glsl *g, size_t token);

#endif

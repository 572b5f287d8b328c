#ifndef STBUILD_GLSL_SHADER_ZERO_H
#define STBUILD_GLSL_SHADER_ZERO_H

/*
 * What nothing has written is zero, as in browsers (WebGL 1.0 specification,
 * 4.3): variables that are declared without a value, globals and locals, of
 * basic types, structs and arrays of them; "out" parameters where the function
 * begins; and what a function gives that ends without a return. Drivers that
 * offer the like do not see all of it: Mesa makes "float x; if (c) x = 1.0;" a
 * constant first. Parameters of definitions that have no name get one, which
 * Mesa insists on.
 *
 * The text is one after preprocessing: declarations are read as the language
 * has them (GLSL ES 3.00, 9; GLSL 4.30, 9), with scopes. What has a storage
 * qualifier (uniform, in, out, buffer, shared) is left alone.
 */

#include "glsl/glsl.h"
#include "util/buf.h"
#include "util/map.h"

struct edits;

/* A function whose statements set what a global's declaration cannot. */
#define ZERO_FUNCTION "stb_zero"

/*
 * Adds the edits for all of g. renamed has the words that get REWRITE_PREFIX.
 * statements gets those for globals that need some: the body of ZERO_FUNCTION,
 * to be called before everything else.
 */
void shader_zero(const struct glsl *g, const struct map *renamed, struct edits *edits,
    struct buf *statements);

/* "float", "mat4x3", ...: the token's word when it is such a type, or null. */
const char *shader_basic_type(const struct glsl *g, size_t token);

#endif

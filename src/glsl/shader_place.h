#ifndef SHADER_PLACE_H
#define SHADER_PLACE_H

/*
 * Places that a driver does not say: of what it names in a message that has
 * none, as linkers do, and of characters that nobody can see.
 */

#include <stddef.h>

#include "glsl/glsl.h"
#include "glsl/source.h"
#include "util/buf.h"

struct place {
	int file, line, column;
};

/*
 * The place in the user's text of what a message of n bytes is about: a name in
 * quotes, uniforms of which there are too many, else the entry point. g is the
 * lexed text of source. 0 when there is one, else -1.
 */
int place_of_message(const struct glsl *g, const struct source *source, const char *entry,
    const char *text, size_t n, struct place *out);

/*
 * The first character that GLSL does not have in a line of the expanded text
 * (from 1), or in a macro that the line uses; in any line when it is 0.
 * Comments may have all. Appends what is to be said about it. 0 when there is
 * one, else -1.
 */
int place_of_odd_character(const struct glsl *g, const struct source *source,
    int text_line, struct place *out, struct buf *words);

#endif

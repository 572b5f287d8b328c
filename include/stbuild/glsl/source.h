#ifndef STBUILD_GLSL_SOURCE_H
#define STBUILD_GLSL_SOURCE_H

/*
 * A pass's source with its includes put in place:
 * "#include" lines are expanded, CRLF becomes LF, the last line ends, the text
 * is UTF-8. Conditions are followed: an include in a branch that is not taken
 * leaves an empty line, and its file is no input. A file with an active
 * "#pragma once" is put in place once; one that is being expanded may be
 * included again where conditions can end that. Positions survive: "#line N S"
 * directives stand at each seam, S an index of file[], and once more behind
 * #else, #elif and #endif where a branch that may not be taken holds seams. A
 * "#line" that the user wrote keeps its line number alone, so that one with two
 * numbers is always ours.
 */

#include <stddef.h>

#include "glsl/preprocess.h"
#include "util/err.h"
#include "util/tree.h"

struct source {
	char *text; /* expanded; starts with a #line directive */
	size_t ntext;
	char **file; /* paths by source number; [0] is our own text */
	size_t nfile;
};

struct source_request {
	const char *path;
	const char *common; /* expanded in front; or null */
	char *const *include_dir;
	size_t ninclude_dir;
	struct preprocess_options macros; /* what conditions begin with */
	int notes_inactive; /* files that a branch not taken includes are inputs,
				   if they are there: for who copies a project */
};

/*
 * Expands the file at path. Every file read and every path probed is noted in
 * inputs (may be null). Faults are STATUS_INPUT and have their place.
 */
int source_expand(struct tree *tree, const struct source_request *request,
    struct inputs *inputs, struct source *out, struct err *err) WARN_UNUSED;
void source_release(struct source *s);

/*
 * The file and line of a line of the expanded text (from 1): -1 when it is a
 * seam or beyond the end.
 */
int source_place(const struct source *source, int text_line, int *file, int *line);
/*
 * Line "line" (from 1) of file[file], for quoting: without its end, owned by
 * the caller; null when it is not there.
 */
char *source_line(const struct source *source, int file, int line);

#endif

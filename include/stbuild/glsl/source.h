#ifndef STBUILD_GLSL_SOURCE_H
#define STBUILD_GLSL_SOURCE_H

/*
 * A pass's source with its includes put in place (ANCESTOR 2, decisions 10 and
 * 11): "#include" lines are expanded, CRLF becomes LF, the last line ends, the
 * text is UTF-8. Positions survive: "#line N S" directives stand at each seam,
 * S an index of file[], and once more behind #else, #elif and #endif where a
 * branch that may not be taken holds seams. A "#line" that the user wrote keeps
 * its line number alone, so that one with two numbers is always ours.
 */

#include <stddef.h>

#include "project/manifest.h"
#include "util/tree.h"
#include "util/buf.h"

struct source {
	char *text;		/* expanded; starts with a #line directive */
	size_t ntext;
	char **file;		/* paths by source number; [0] is our own text */
	size_t nfile;
};

/*
 * Expands the file at path. Every file read and every path probed is noted in
 * inputs (may be null). With common not null, that file is expanded in front.
 * Faults are STATUS_INPUT and have their place.
 */
int source_expand(struct tree *tree, const char *path, const char *common,
	char *const *include_dir, size_t ninclude_dir, struct inputs *inputs,
	struct source *out, struct err *err) WARN_UNUSED;
void source_release(struct source *s);

/*
 * The file and line of a line of the expanded text (from 1): -1 when it is a
 * seam or beyond the end.
 */
int source_place(const struct source *source, int text_line, int *file,
	int *line);
/*
 * Line "line" (from 1) of file[file], for quoting: without its end, owned by
 * the caller; null when it is not there.
 */
char *source_line(const struct source *source, int file, int line);

#endif

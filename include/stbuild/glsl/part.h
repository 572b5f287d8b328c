#ifndef STBUILD_GLSL_PART_H
#define STBUILD_GLSL_PART_H

/*
 * What a source is made of, for naming what changed in it: a part for each name
 * of a top-level function, for each macro, and for all the rest of each file.
 * Branches that are not taken, and conditions, are in none.
 */

#include <stddef.h>

#include "glsl/preprocess.h"
#include "glsl/source.h"
#include "util/sha256.h"

enum part_kind { PART_FUNCTION, PART_MACRO, PART_REST };

struct part {
	enum part_kind kind;
	int is_used; /* 0: a function that glsl_drop_unused left out, a macro
				   that nothing else has */
	char *name;  /* "" for the rest of a file */
	char *file;
	int line;          /* of its first token in that file, from 1 */
	struct sha256 sha; /* of its tokens in canonical form */
	char *text;        /* of a short macro: what it stands for; else null */
};

/*
 * In the order of first tokens; overloads and prototypes of a function within a
 * file are one part. p is the preprocessed text of source, with is_kept of its
 * code decided. Where braces are in doubt there are no functions. *out is the
 * caller's.
 */
void parts_find(const struct preprocess *p, const struct source *source,
    struct part **out, size_t *n);
void parts_free(struct part *part, size_t n);

#endif

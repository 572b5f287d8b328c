#ifndef STBUILD_GLSL_SHADER_REWRITE_H
#define STBUILD_GLSL_SHADER_REWRITE_H

/*
 * What has to change in the user's own text before a compiler of today sees
 * it. It is preprocessed here: no macro and no condition is left for the
 * compiler. A line of the result is that of the text wherever that can be; the
 * text is numbered from REWRITE_LINE_BASE + 1 on, since Mesa forgets the source
 * number in most of its messages, so that the line alone has to say which file
 * is meant.
 *
 * - #extension lines go, and come back behind the version where they are
 *   allowed, but for those that ES 3.00 has in core.
 * - What nothing has written is zero: see shader_zero.h.
 * - In desktop GLSL, words that are reserved there but free in ES 3.00 or
 *   before it are renamed (with REWRITE_PREFIX) where the pass does not need
 *   them. In ES, words that only its later versions reserve, and the user's own
 *   functions with the name of one that ES 3.00 does not have (texture2D), but
 *   that compilers know. In both, names that the generated text has.
 * - In ES, lowp and mediump become highp.
 */

#include "glsl/glsl.h"
#include "glsl/preprocess.h"
#include "util/buf.h"

#define REWRITE_PREFIX "stbw_"
#define REWRITE_LINE_BASE 1000 /* generated text in front has fewer lines */

struct rewrite_options {
	int is_essl;
	int has_storage; /* keeps "buffer", "shared", ... */
};

/* From here on, text has what was at another line and column. */
struct rewrite_place {
	uint32_t line, column;           /* of the result, from 1 */
	uint32_t text_line, text_column; /* of the user's text, from 1 */
};

struct rewrite {
	struct buf text;
	/* Directives to stand behind #version, each behind its own #line. */
	struct buf extensions;
	struct buf zeros;            /* statements for globals: see shader_zero.h */
	struct rewrite_place *place; /* in order */
	size_t nplace, place_cap;
};

/* The code of p, rewritten. */
void shader_rewrite(const struct preprocess *p, const struct rewrite_options *options,
    struct rewrite *out);
void rewrite_release(struct rewrite *r);
/* From a place in the result to that in the user's text; column 0: none. */
void rewrite_find_place(const struct rewrite_place *place, size_t nplace, int *line,
    int *column);

/* Only the #version lines go: for a document that others read. */
void shader_drop_version(const struct glsl *g, struct buf *out);

#endif

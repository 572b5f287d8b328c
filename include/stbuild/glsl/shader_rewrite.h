#ifndef STBUILD_GLSL_SHADER_REWRITE_H
#define STBUILD_GLSL_SHADER_REWRITE_H

/*
 * What has to change in the user's own text before a compiler of today sees
 * it. Every edit stays within its line, so lines never shift.
 *
 * - #version lines go; #extension lines go, and come back behind the version
 *   where they are allowed, but for those that ES 3.00 has in core.
 * - #line directives go, and the text is numbered from REWRITE_LINE_BASE + 1
 *   on: Mesa forgets the source number in most of its messages, so the line
 *   alone has to tell which file is meant. __LINE__ stays the line in its file,
 *   or what the user's own #line makes of it: at each #line, REWRITE_OFFSET is
 *   defined as the difference. __FILE__ is 0, as on the site.
 * - The entry point's "out" becomes "inout": it is given zeros.
 * - "out" parameters of basic types of all other functions are set to zero
 *   where the function begins.
 * - Variables without a value are set to zero: see shader_zero.h.
 * - In desktop GLSL, words that are reserved there but free in ES 3.00 or
 *   before it are renamed (with REWRITE_PREFIX) where the pass does not need
 *   them. In ES, words that only its later versions reserve.
 * - In ES, lowp and mediump become highp.
 * - In ES, macros of extensions read as undefined, as in browsers.
 */

#include "glsl/glsl.h"
#include "util/buf.h"

#define REWRITE_PREFIX "stbw_"
#define REWRITE_OFFSET "stb_line"
#define REWRITE_LINE_BASE 1000	/* generated text in front has fewer lines */

struct rewrite_options {
	int is_essl;
	int has_storage;	/* keeps "buffer", "shared", ... */
	const char *entry;	/* "mainImage" */
};

struct rewrite {
	struct buf text;
	/* Directives to stand behind #version, each behind its own #line. */
	struct buf extensions;
	/* How the entry point's first parameter is qualified now. */
	int is_inout;		/* else "out": we could not see it */
};

void shader_rewrite(const struct glsl *g, const struct rewrite_options *options,
	struct rewrite *out);
void rewrite_release(struct rewrite *r);

/* Only the #version lines go: for a document that others read. */
void shader_drop_version(const struct glsl *g, struct buf *out);

#endif

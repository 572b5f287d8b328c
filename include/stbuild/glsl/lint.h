#ifndef STBUILD_GLSL_LINT_H
#define STBUILD_GLSL_LINT_H

/*
 * What a source says that compiles here and is a mistake all the same, told by
 * its tokens alone (stbuild-check(1)):
 *
 *	site-refuses	GLSL ES 3.00, or the site's place for it, has no such
 *			thing: words it reserves, old texture functions, int
 *			where float is needed, #version
 *	undefined-value	no return at a function's end; a local or an out
 *			parameter that is read before it can have been
 *			written, or never written
 *	long-loop	constant bounds of loops that come to more iterations
 *			than llvmpipe runs for a pixel
 *
 * Only what is certain: branches of #if that nobody here can decide, and
 * functions that a macro with statements goes through, are left alone.
 */

#include "graph/graph.h"
#include "glsl/source.h"

/* Iterations of all loops of an invocation: gallivm's loop limiter. */
#define LINT_LOOP_BUDGET 65535

/*
 * Lints the expanded source of pass p. Places are those of the user's files; a
 * finding that is in out already (a file that several passes share) gets the
 * pass added. At most LIMIT_ERRORS findings a pass.
 */
void lint_source(const struct manifest *m, int p, const struct source *source,
	struct diagnostics *out);

#endif

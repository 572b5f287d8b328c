#ifndef STBUILD_GLSL_LINT_H
#define STBUILD_GLSL_LINT_H

/*
 * What a source says that compiles here and is a mistake all the same, told by
 * its text alone (stbuild-check(1)):
 *
 *	site-refuses	GLSL ES 3.00 as browsers have it, or the site's place for
 *			a text, has no such thing
 *	undefined-value	no return at a function's end; a local or an out
 *			parameter that is read before it can have been
 *			written, or never written
 *	long-loop	bounds of loops that come to more iterations than
 *			llvmpipe runs for a pixel, or that grow with time
 *
 * The site's view of a text has GL_ES defined, whatever the dialect; the rest
 * is told of what is compiled here. Only what is certain: a type or a value
 * that is not known is passed over.
 */

#include <stddef.h>

#include "glsl/source.h"

/* Iterations of all loops of an invocation: gallivm's loop limiter. */
#define LINT_LOOP_BUDGET 65535

struct lint_uniform {            /* of the project's own */
	const char *name, *type; /* "float", "vec2" */
	int has_max;
	double max;
};

struct lint_facts {
	const char *entry; /* "mainImage" */
	int is_site;       /* the site has passes like it */
	int is_essl;       /* dialect */
	int is_image;
	const struct lint_uniform *uniform;
	size_t nuniform;
};

struct lint_finding {
	const char *code; /* static */
	char *message;
	char *file;
	int line, column; /* from 1 */
};

struct lint_findings {
	struct lint_finding *item;
	size_t nitem, cap;
};

/*
 * Adds what is found in an expanded source, by place, no place twice with one
 * code. At most LIMIT_ERRORS findings a call.
 */
void lint_source(const struct lint_facts *facts, const struct source *source,
    struct lint_findings *out);

struct lint_moment { /* a draw, and what uniforms are in it */
	double frame, time;
	double width, height;  /* iResolution */
	const double *uniform; /* a uniform of facts each: scalars only */
};

/*
 * Iterations of loops that every pixel is certain to run at that moment: what
 * stands behind a condition, or in a loop that may end early, is not counted.
 * *varies: another moment may have another number. Where they are most is added
 * to where, without a message.
 */
double lint_iterations(const struct lint_facts *facts, const struct source *source,
    const struct lint_moment *moment, int *varies, struct lint_findings *where);
void lint_findings_release(struct lint_findings *f);

#endif

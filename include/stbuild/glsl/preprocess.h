#ifndef STBUILD_GLSL_PREPROCESS_H
#define STBUILD_GLSL_PREPROCESS_H

/*
 * The GLSL preprocessor (GLSL ES 3.00 specification, 3.4; GLSL 4.30, 3.3) over
 * the tokens of glsl.h: object and function macros, conditions, ##, __LINE__,
 * __FILE__, __VERSION__, defined. Every token that comes out knows the token of
 * the text that it stands for, so that places stay those of the user's file.
 *
 * Where compilers differ: ## works in every dialect; a name that no macro has
 * is 0 in #if of desktop GLSL and a fault in ES, unless || or && decide before;
 * "defined" may come from a macro; directives within arguments of a call are
 * obeyed. "#line N S" with two plain numbers is a seam of source.h: it moves
 * __LINE__ wherever it stands. __FILE__ is 0.
 */

#include <stddef.h>
#include <stdint.h>

#include "glsl/glsl.h"
#include "util/err.h"

struct preprocess_options {
	int is_essl;
	int version;        /* __VERSION__ */
	const char *define; /* directives in front of the text, or null */
};

/* An active #define. */
struct preprocess_macro {
	char *name;
	size_t raw; /* its '#'; PREPROCESS_NONE for those of define */
};

/* A macro was replaced, or asked for by a condition. */
struct preprocess_use {
	size_t macro; /* index of macro[] */
	uint32_t raw; /* the name in the text, or '#' of the condition */
};

#define PREPROCESS_NONE ((size_t)-1)

struct preprocess {
	struct glsl raw;          /* the text as it is, all branches */
	unsigned char *is_active; /* a raw token each: not in a branch left out */
	/*
	 * What is compiled. No directives but #extension and #pragma that count
	 * (not #pragma once). Lines are those of the text as far as can be: what
	 * a call over several lines gives stands where the call begins.
	 */
	struct glsl code;
	struct buf text; /* of code */
	/*
	 * A code token each: the raw token it stands for. That is itself, or what
	 * an argument was written as, or for what a macro's body gives the name
	 * in the text that was replaced.
	 */
	uint32_t *origin;
	unsigned char *is_made; /* a code token each: from a macro's body */
	size_t origin_cap, made_cap;

	struct preprocess_macro *macro;
	size_t nmacro, macro_cap;
	struct preprocess_use *use; /* in order; a run of equal ones is one */
	size_t nuse, use_cap;
	size_t fault; /* after -1: the raw token at fault */
};

/*
 * Preprocesses the text, which is borrowed until the release. On -1 err has
 * what is wrong (STATUS_FAILED, without a place), fault the raw token, and
 * code what came before it; release out in either case. Faults are #error, bad
 * directives and conditions, calls of macros that do not fit, and more than
 * LIMIT_MACRO_TOKENS or LIMIT_MACRO_NESTING.
 */
int preprocess(const struct preprocess_options *options, const char *text, size_t n,
    struct preprocess *out, struct err *err) WARN_UNUSED;
void preprocess_release(struct preprocess *p);
/* Line of a raw token in the text, from 1, and column in bytes, from 1. */
void preprocess_place(const struct preprocess *p, size_t raw, int *line, int *column);

/*
 * The same as it goes, for who has to know which branches are taken before all
 * of the text is there. Directives are given one by one; what they mean comes
 * from g, which is borrowed until the end. Faults count as conditions that do
 * not hold: preprocess reports them later.
 */
struct preprocessor *preprocessor_new(const struct preprocess_options *options);
/* The directive whose '#' is token hash of g. */
void preprocessor_directive(struct preprocessor *p, const struct glsl *g, size_t hash);
int preprocessor_is_active(const struct preprocessor *p);
/* Number of #ifs that are open. */
size_t preprocessor_depth(const struct preprocessor *p);
void preprocessor_free(struct preprocessor *p);

#endif

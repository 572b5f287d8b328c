#ifndef LINT_TEXT_H
#define LINT_TEXT_H

/* A source as graph/lint.h looks at it. */

#include "glsl/lint.h"
#include "glsl/glsl.h"
#include "util/map.h"

struct lint_macro {
	size_t first, last;	/* its replacement: tokens of whole, last excluded */
	int has_parameters;
	int is_unsure;		/* defined twice, undefined, or in an undecided #if */
	int is_judged, is_wild;	/* of lint_is_sure: more than an expression */
};

struct lint {
	const struct manifest *manifest;
	int pass;
	const struct source *source;
	struct diagnostics *out;
	size_t nfinding;

	struct glsl whole;	/* all tokens */
	/*
	 * What is compiled: no directives and no branches that are not taken,
	 * but for #if that nobody can decide, with all its branches.
	 */
	struct glsl code;
	size_t *origin;			/* of a code token: its index in whole */
	unsigned char *is_unsure;	/* of a code token: in such a branch */
	struct map macro;		/* name to index in macro_at */
	struct lint_macro *macro_at;
	size_t nmacro, macro_cap;
	struct map macro_word;		/* all words of replacements */
	int is_plain;			/* function[] is all there is */
	struct glsl_function *function;
	size_t nfunction;
	struct map function_name;	/* to the index of the first of that name */
};

__attribute__((format(printf, 4, 5)))
void lint_add(struct lint *l, const char *code, size_t token, const char *fmt,
	...);

/* Code tokens. */
int lint_is(const struct lint *l, size_t token, const char *text);
int lint_is_one_of(const struct lint *l, size_t token,
	const char *const *word, size_t nword);
int lint_is_word(const struct lint *l, size_t token);
/* Value in a map of words, or MAP_NONE. */
size_t lint_find(const struct lint *l, const struct map *map, size_t token);
/* Behind the bracket that closes the one at token; the end when none does. */
size_t lint_skip(const struct lint *l, size_t token);
/* A name that the text itself makes a macro or a function. */
int lint_is_taken(const struct lint *l, size_t token);

void lint_site(struct lint *l);
void lint_flow(struct lint *l);
void lint_loops(struct lint *l);

/* What is certain about a function's body, for lint_flow and lint_loops. */
int lint_is_sure(const struct lint *l, const struct glsl_function *f);
/*
 * Behind the statement at token, or 0 when it is no statement as GLSL has
 * them. *completes: what follows it may be reached.
 */
size_t lint_statement(const struct lint *l, size_t token, size_t end,
	int *completes);

#define LINT_COUNT(array) (sizeof (array) / sizeof *(array))

#endif

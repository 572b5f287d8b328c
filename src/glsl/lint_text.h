#ifndef LINT_TEXT_H
#define LINT_TEXT_H

/* A source as glsl/lint.h looks at it: preprocessed, in one of two views. */

#include "glsl/glsl.h"
#include "glsl/lint.h"
#include "glsl/preprocess.h"
#include "util/map.h"

struct lint {
	const struct lint_facts *facts;
	const struct source *source;
	struct lint_findings *out;
	size_t nfinding;

	struct preprocess pp;
	struct glsl code; /* pp.code: what is compiled */
	int is_plain;     /* function[] is all there is */
	struct glsl_function *function;
	size_t nfunction;
	struct map function_name; /* to the index of the first of that name */
};

/* At a code token, or at a raw one of pp. */
__attribute__((format(printf, 4, 5))) void lint_add(struct lint *l, const char *code,
    size_t token, const char *fmt, ...);
__attribute__((format(printf, 4, 5))) void lint_add_raw(struct lint *l, const char *code,
    size_t raw, const char *fmt, ...);

/* Code tokens. */
int lint_is(const struct lint *l, size_t token, const char *text);
int lint_is_one_of(const struct lint *l, size_t token, const char *const *word,
    size_t nword);
int lint_is_word(const struct lint *l, size_t token);
/* Value in a map of words, or MAP_NONE. */
size_t lint_find(const struct lint *l, const struct map *map, size_t token);
/* Behind the bracket that closes the one at token; the end when none does. */
size_t lint_skip(const struct lint *l, size_t token);

void lint_site(struct lint *l);
void lint_flow(struct lint *l);
void lint_loops(struct lint *l);
/* The certain iterations at a moment, see lint.h; *worst_at: a code token. */
double lint_loops_at(struct lint *l, const struct lint_moment *moment, int *varies,
    size_t *worst_at);

/* A function with a body that is called. */
int lint_is_sure(const struct lint *l, const struct glsl_function *f);
/*
 * Behind the statement at token, or 0 when it is no statement as GLSL has
 * them. *completes: what follows it may be reached.
 */
size_t lint_statement(const struct lint *l, size_t token, size_t end, int *completes);

#define LINT_COUNT(array) (sizeof(array) / sizeof *(array))

#endif

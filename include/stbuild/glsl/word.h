#ifndef STBUILD_GLSL_WORD_H
#define STBUILD_GLSL_WORD_H

/*
 * The words of GLSL (word.def), and the names that a text around a pass needs
 * for itself: no variable of the user's may have them.
 */

#include <stddef.h>

enum word_class { WORD_FREE, WORD_KEYWORD, WORD_RESERVED, WORD_LATER };

/* What the rewriting of desktop texts does with it (word.def). */
enum word_role { WORD_NONE, WORD_PLAIN, WORD_QUALIFIER, WORD_TYPE };

struct word {
	const char *text;
	enum word_class essl, glsl; /* in GLSL ES 3.00, in GLSL 4.30 */
	enum word_role role;
};

extern const struct word words[]; /* sorted by text */
extern const size_t nword;

/* Index in words[]; nword when it is none. */
size_t word_find(const char *text, size_t n);

enum { WORD_IN_ESSL = 1, WORD_IN_GLSL = 2 };

/*
 * Why a uniform cannot have this name in the dialects of the mask: a phrase
 * such as "is a reserved word of GLSL ES 3.00". Null when it can.
 */
const char *word_fault(const char *name, unsigned dialects);

/* The i-th of the names that the generated text needs; then null. */
const char *word_generated(size_t i);

#endif

#ifndef STBUILD_GLSL_GLSL_H
#define STBUILD_GLSL_GLSL_H

/*
 * GLSL as tokens (GLSL 4.30 spec, chapter 3): what counts for keys, and the
 * questions the pipeline asks of a source. No preprocessing: every branch
 * counts.
 */

#include <stddef.h>
#include <stdint.h>

#include "util/buf.h"
#include "util/map.h"

enum glsl_kind {
	GLSL_WORD, /* identifier or keyword */
	GLSL_NUMBER,
	GLSL_PUNCT,   /* longest operator, or one byte we do not know */
	GLSL_HASH,    /* '#' that starts a directive */
	GLSL_LINE_END /* end of a directive; no bytes */
};

struct glsl_token {
	uint32_t at, len;           /* in the text */
	uint32_t line;              /* from 1 */
	unsigned char kind;         /* enum glsl_kind */
	unsigned char is_directive; /* between HASH and LINE_END, both included */
	unsigned char is_spaced;    /* white space or a comment stands before it */
};

struct glsl {
	const char
	    *text; /* borrowed; spliced lines (\ newline) are skipped within tokens */
	size_t ntext;
	struct glsl_token *token;
	size_t ntoken, cap;
	unsigned char *is_kept; /* a token each: 0 for those of unused functions */
};

/*
 * Never fails: a comment that nothing ends goes on to the end of the text, and
 * its opening is a GLSL_PUNCT token. n < 4 GiB.
 */
void glsl_lex(struct glsl *g, const char *text, size_t n);
void glsl_release(struct glsl *g);

/* Token text equals word. */
int glsl_is(const struct glsl *g, size_t token, const char *word);
/* Token text without spliced lines. Borrowed, from the text or scratch. */
const char *glsl_token_text(const struct glsl *g, size_t token, struct buf *scratch,
    size_t *n);

/* A top-level function whose head no directive cuts through. Token indices. */
struct glsl_function {
	size_t first; /* of its type */
	size_t name;
	size_t open, close; /* parentheses of the parameters */
	size_t body;        /* "{"; 0 for a prototype */
	size_t last;        /* "}" or ";"; 0 when the text ends before */
};

/*
 * All of them in order, owned by the caller. Of #if branches each starts at
 * the brace depth of its #if. Returns 1 when the braces are plain, 0 in doubt:
 * unbalanced, or a directive cuts through them.
 */
int glsl_functions(const struct glsl *g, struct glsl_function **out, size_t *n);

/*
 * Clears is_kept on top-level functions (definitions and prototypes) whose
 * name occurs nowhere in what is kept, starting from root (the entry point)
 * and everything that is no function. In doubt, keeps: names that a directive
 * mentions, overloads of a kept name, unbalanced braces, ## in a macro.
 */
void glsl_drop_unused(struct glsl *g, const char *root);

/*
 * Appends the tokens that count, in a form where equal token streams give
 * equal bytes: each token's bytes and a separator, ends of directives, and the
 * space that tells #define F (x) from #define F(x). #line does not count. With
 * kept_only, unused functions are left out. A text that mentions __LINE__ or
 * __FILE__ is appended raw.
 */
void glsl_canonical(const struct glsl *g, int kept_only, struct buf *out);

/* Appends one token in that form. scratch is room for it to work in. */
void glsl_add_token(const struct glsl *g, size_t token, struct buf *scratch,
    struct buf *out);

/* 1 when the word occurs as a token (kept ones only if asked). */
int glsl_mentions(const struct glsl *g, const char *word, int kept_only);
/* Names of all "uniform TYPE name" at top level, as keys of names. */
void glsl_uniforms(const struct glsl *g, struct map *names);
/* 1 when positions are part of its meaning: __LINE__ or __FILE__. */
int glsl_knows_lines(const struct glsl *g);

#endif

#ifndef PREPROCESS_IMPL_H
#define PREPROCESS_IMPL_H

/* Parts of the preprocessor: the text and directives, macros, conditions. */

#include "glsl/preprocess.h"
#include "util/map.h"

struct pp_token {
	const char *text; /* of the source, of pp.made or static */
	uint32_t len;
	uint32_t raw;       /* the raw token it stands for */
	unsigned char kind; /* enum glsl_kind */
	unsigned char is_spaced;
	unsigned char is_painted; /* the name of a macro that stays */
	unsigned char is_made;    /* from a macro's body */
	unsigned short param;     /* in a body: index + 1 of a parameter */
};

struct pp_tokens {
	struct pp_token *at;
	size_t n, cap;
};

enum pp_kind { PP_OBJECT, PP_FUNCTION, PP_LINE, PP_FILE };

struct pp_macro {
	char *name;
	enum pp_kind kind;
	int is_builtin;  /* not to be defined or undefined */
	int is_disabled; /* being expanded */
	struct pp_tokens param, body;
	size_t index; /* in preprocess.macro */
};

/* A run of tokens to be read, and the macro whose expansion it is. */
struct pp_context {
	struct pp_token *at; /* owned */
	size_t n, next;
	struct pp_macro *macro;
};

/* Where tokens come from: contexts, then a list or the text. */
struct pp_stream {
	struct pp_context *context;
	size_t ncontext, cap;
	const struct pp_token *list; /* null: the text */
	size_t nlist, next;
	struct pp_token ahead;
	int has_ahead;
};

struct pp_branch {
	int is_outer_active;
	int was_taken;
	int has_else;
	uint32_t raw; /* its '#' */
};

struct preprocessor {
	struct preprocess_options options;
	const struct glsl *g;    /* the text, or the define in front */
	size_t next;             /* of its tokens */
	struct preprocess *out;  /* null: directives only */
	struct map name;         /* to index + 1 of macro[]; 0: undefined */
	struct pp_macro **macro; /* all there ever were */
	size_t nmacro, macro_cap;
	struct pp_branch *branch;
	size_t nbranch, branch_cap;
	int is_active;
	char **made; /* texts of tokens that are in no source */
	size_t nmade, made_cap;
	size_t ntoken; /* that expansion has made */
	int nesting;
	int in_condition;
	uint32_t raw_at;               /* of directives: what tokens stand for */
	uint32_t seam_text, seam_line; /* line seam_line is that of the text */
	struct err *err;
	int is_failed;
};

/* Sets the error unless there is one. Returns -1. */
__attribute__((format(printf, 3, 4))) int pp_fault(struct preprocessor *pp, uint32_t raw,
    const char *fmt, ...);
int pp_is(const struct pp_token *t, const char *text);
struct pp_token pp_raw_token(struct preprocessor *pp, size_t raw);
void pp_add(struct pp_tokens *list, const struct pp_token *t);
/* Keeps the text until the end; takes it over. */
const char *pp_keep(struct preprocessor *pp, char *text);
/* The macro of that name, or null. */
struct pp_macro *pp_find(const struct preprocessor *pp, const struct pp_token *name);
void pp_note_use(struct preprocessor *pp, const struct pp_macro *m, uint32_t raw);
uint32_t pp_line_of(const struct preprocessor *pp, uint32_t raw);
/* Next token of the text that is in no directive; 0 at the end, -1 a fault. */
int pp_next_of_text(struct preprocessor *pp, struct pp_token *t);

/* Next token with macros replaced; 0 at the end, -1 a fault. */
int pp_expand(struct preprocessor *pp, struct pp_stream *s, struct pp_token *t);
void pp_stream_release(struct pp_stream *s);

/* The condition in the tokens first..end of pp->g: 0, 1, or -1 for a fault. */
int pp_condition(struct preprocessor *pp, size_t first, size_t end, uint32_t raw);

#endif

#ifndef LINT_TYPES_H
#define LINT_TYPES_H

/*
 * Types and names of a source as GLSL ES 3.00 has them. What is not known is
 * BASE_UNKNOWN: nothing is ever said about that.
 */

#include "lint_text.h"

enum base {
	BASE_UNKNOWN,
	BASE_VOID,
	BASE_BOOL,
	BASE_INT,
	BASE_UINT,
	BASE_FLOAT,
	BASE_SAMPLER,
	BASE_STRUCT,
};

struct type {
	enum base base;
	int rows;        /* components of a vector or column; 1 a scalar */
	int cols;        /* of a matrix, else 0 */
	int array;       /* elements; 0 no array, -1 their number is not known */
	int index;       /* BASE_STRUCT: in record[] */
	enum base texel; /* BASE_SAMPLER: what it gives */
	int ntexel;      /* components of that */
};

struct field {
	const char *name;
	size_t n;
	struct type type;
};

struct record { /* a struct */
	struct field *field;
	size_t nfield, cap;
};

enum symbol_kind { SYMBOL_VARIABLE, SYMBOL_RECORD, SYMBOL_FUNCTION };

struct symbol {
	const char *name;
	size_t n;
	enum symbol_kind kind;
	struct type type;         /* of a function: what it gives */
	int is_const;             /* a constant expression */
	int depth;                /* of its scope; 0 the outermost */
	size_t first, nparameter; /* in parameter[] */
};

struct term { /* of an expression */
	struct type type;
	int is_const;
	size_t at; /* its first token */
};

struct typing {
	struct lint *l;
	struct symbol *symbol;
	size_t nsymbol, symbol_cap;
	struct type *parameter;
	size_t nparameter, parameter_cap;
	struct record *record;
	size_t nrecord, record_cap;
	struct map seen_word; /* what is told once */

	size_t i, end;                     /* the token to be read, the end */
	int depth;                         /* of scopes */
	int nesting;                       /* of the reader's own calls */
	int is_lost;                       /* this statement makes no sense here */
	struct type result;                /* of the function that is read */
	const struct glsl_token *function; /* its name */
};

#define TYPE_UNKNOWN ((struct type){ .base = BASE_UNKNOWN })

/* lint_types.c */
void typing_init(struct typing *t, struct lint *l);
void typing_release(struct typing *t);
/* A basic type's word, with a struct's name; 0 when it is none. */
int typing_of_word(const struct typing *t, size_t token, struct type *out);
struct symbol *typing_add(struct typing *t, size_t name, enum symbol_kind kind,
    struct type type, int is_const);
/* The innermost symbol of a name, or null. */
const struct symbol *typing_find(const struct typing *t, size_t token);
/* Forgets the names of scopes deeper than depth. */
void typing_leave(struct typing *t, int depth);

/* 1 the same, as far as is known; 0 not; -1 what desktop GLSL would convert. */
int typing_fit(const struct type *from, const struct type *to);
/* "float", "an int": of the base alone. */
const char *base_name(enum base base);
const char *base_article(enum base base);
#define NO_CONVERSION "ES 3.00 does not turn %s into %s"
/* Says that a value stands where another type is wanted, if desktop GLSL allows. */
__attribute__((format(printf, 4, 5))) void typing_expect(struct typing *t,
    const struct term *value, const struct type *to, const char *fmt, ...);

/* lint_calls.c: a call of the function named by token, its arguments read. */
struct term typing_call(struct typing *t, size_t name, const struct term *argument,
    size_t nargument);
/* "a function of ES 3.00 that nobody may define anew" */
int typing_is_builtin(const struct lint *l, size_t token);

/* lint_expr.c: from t->i on. */
struct term typing_expression(struct typing *t); /* with commas */
struct term typing_assignment(struct typing *t); /* without */

/* lint_decl.c: the whole text. */
void typing_check(struct typing *t);
/* "[2]" and the like at t->i, added to type; the places of a second is told. */
void typing_array(struct typing *t, struct type *type);

#endif

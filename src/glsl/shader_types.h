#ifndef SHADER_TYPES_H
#define SHADER_TYPES_H

/* Types and names of a text after preprocessing, and zeros of the types. */

#include "glsl/glsl.h"
#include "util/buf.h"
#include "util/map.h"

#define TYPES_DIMS 4 /* of an array: more are left alone */
#define TYPES_NONE ((size_t)-1)

/* A type: basic, or a struct, or neither; an array when there are dims. */
struct type {
	const char *basic;    /* static; null for a struct */
	size_t of;            /* index of types.object; TYPES_NONE when unknown */
	size_t ndim;          /* outermost first */
	long dim[TYPES_DIMS]; /* -1: a constant that we do not know */
	int is_unsized;       /* "[]": its value decides */
};

struct member {
	char *name;
	struct type type;
};

struct object {     /* a struct type */
	char *name; /* null: it has none */
	struct member *member;
	size_t nmember, cap;
	int is_zeroable; /* all members are */
	int has_array;   /* somewhere within, or a struct without name */
};

/* A name in a scope, and what it hid. */
struct named {
	char *name;
	size_t object; /* a type, or TYPES_NONE: something else */
	int has_value; /* a constant integer */
	long value;
	size_t hidden; /* index + 1 of the one it hides */
};

struct types {
	const struct glsl *g;
	const size_t *at; /* tokens that are in no directive */
	size_t n;
	const struct map *renamed; /* words that get REWRITE_PREFIX */
	struct object *object;
	size_t nobject, object_cap;
	struct named *named;
	size_t nnamed, named_cap;
	struct map name; /* to index + 1 of named[] */
};

/* Positions are indices of at[]. */
int types_is(const struct types *t, size_t i, const char *word);
int types_is_word(const struct types *t, size_t i);
/* The word as it will be, owned by the caller. */
char *types_word(const struct types *t, size_t i);
/* Behind the bracket that closes the one at i; n when none does. */
size_t types_skip(const struct types *t, size_t i);

/* A scope begins, and ends with what begin returned. */
size_t types_begin(const struct types *t);
void types_end(struct types *t, size_t mark);
void types_name(struct types *t, size_t i, size_t object, const long *value);
/* The type that the word at i names; neither basic nor known otherwise. */
struct type types_find(const struct types *t, size_t i);
/* Reads "[..][..]" at i into dims behind those that are there. */
size_t types_dims(const struct types *t, size_t i, struct type *type);
/* A constant integer expression. Returns 1 when it is one. */
int types_constant(const struct types *t, size_t first, size_t end, long *value);
/*
 * "struct", its name and members at i. Returns the position behind "}"; *object
 * is the new type's index. The name is put into the scope.
 */
size_t types_struct(struct types *t, size_t i, size_t *object);
void types_release(struct types *t);

int types_is_zeroable(const struct types *t, const struct type *type);
/* An expression that is its zero. Returns 0 when there is none (in short). */
int types_value(const struct types *t, const struct type *type, struct buf *out);
/* Statements that set the variable to zero. */
void types_statements(const struct types *t, const char *variable,
    const struct type *type, struct buf *out);

#endif

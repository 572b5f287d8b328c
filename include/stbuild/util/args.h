#ifndef STBUILD_UTIL_ARGS_H
#define STBUILD_UTIL_ARGS_H

/*
 * Command line options from tables: "--name VALUE", "--name=VALUE", "-x
 * VALUE", "-xVALUE", bundled flags "-kq", "--" ends options. Options and
 * operands come in any order. An unknown option is an error with a suggestion.
 */

#include <stddef.h>

#include "util/err.h"

enum args_kind {
	ARGS_FLAG,   /* *(int *)to = 1; counts up when given again */
	ARGS_STRING, /* *(const char **)to = the value; the last one wins */
	ARGS_LIST,   /* appends to *(struct args_list *)to */
	ARGS_INT,    /* *(long *)to, decimal, within min..max */
	ARGS_NUMBER, /* *(double *)to, finite, within min..max */
	ARGS_OPTINT  /* as INT, but the value may be missing: then 0.
			   It is the next word only when that is all digits. */
};

struct args_list {
	const char **item; /* borrowed strings, owned array */
	size_t nitem, cap;
};

struct args_option {
	char letter;      /* 0 for none */
	const char *name; /* without dashes; null for none */
	enum args_kind kind;
	void *to;
	double min, max;     /* INT and NUMBER; both 0: no bound */
	const char *metavar; /* "FILE"; null for flags */
	const char *help;    /* one line for -h */
};

/*
 * Parses argv[1..]; option tables are searched in order and end with a row
 * that is all zero. Operands are appended to operands in order.
 */
int args_parse(int argc, char *const argv[], const struct args_option *const *table,
    size_t ntable, struct args_list *operands, struct err *err) WARN_UNUSED;
void args_list_release(struct args_list *list);
/* Prints a table's rows as aligned help lines on stdout. */
void args_print(const struct args_option *table);

#endif

#ifndef EDIT_H
#define EDIT_H

/* Edits of a text of tokens, collected by token and made in one go. */

#include <stddef.h>

enum edit_kind { EDIT_BEFORE, EDIT_WITH, EDIT_AFTER };

struct edit {
	size_t token, number; /* number: of equal ones, the order of coming */
	enum edit_kind kind;
	char *text; /* owned; for EDIT_WITH "" leaves the token out */
};

struct edits {
	struct edit *edit;
	size_t nedit, cap;
};

/* Takes the text over. */
void edits_add(struct edits *e, size_t token, enum edit_kind kind, char *text);
/* By token and kind; those of one place stay in order. */
void edits_sort(struct edits *e);
void edits_release(struct edits *e);

#endif

#ifndef STBUILD_PROJECT_TOML_SCAN_H
#define STBUILD_PROJECT_TOML_SCAN_H

/* The parts of TOML below its tables: blanks, strings, numbers, dates. */

#include <stddef.h>

#include "project/doc.h"

struct buf;

struct toml_scan {
	const char *name, *text;
	size_t n, at;
	int line;
	size_t line_start; /* offset of the first byte of the line */
	struct err *err;
};

/* Sets the error at the current place. */
int toml_fault(struct toml_scan *s, const char *message);
/* The byte ahead, -1 at the end. */
int toml_peek(const struct toml_scan *s);
int toml_column(const struct toml_scan *s);
/* Blanks and tabs. */
void toml_blanks(struct toml_scan *s);
/* At LF or CRLF: moves behind it, 1; else 0. */
int toml_newline(struct toml_scan *s);
/* At '#': to the end of the line. */
int toml_comment(struct toml_scan *s) WARN_UNUSED;
/* Blanks, comments and line ends, as arrays may hold. */
int toml_space(struct toml_scan *s) WARN_UNUSED;
/* At a quote. is_key: one line only. */
int toml_string(struct toml_scan *s, int is_key, struct buf *out) WARN_UNUSED;
/* A number, date, true or false into an item. */
int toml_scalar(struct toml_scan *s, cJSON *item, enum doc_kind *kind) WARN_UNUSED;

#endif

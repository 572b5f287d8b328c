#ifndef STBUILD_GRAPH_REASON_H
#define STBUILD_GRAPH_REASON_H

/* Why a bundle is not up to date: kinds are the rows of reason.def. */

#include <stddef.h>

enum reason_kind {
#define REASON(name, word, is_free) REASON_##name,
#include "graph/reason.def"
#undef REASON
	NREASON,
};

struct reason {
	enum reason_kind kind;
	char *what;      /* "uniform gain", "step() in a.glsl changed" */
	char *was, *now; /* values; null where there is none to show */
	char *file;      /* at fault, or null */
	int line;        /* in it as it is now; 0: not known */
	int frame;       /* from which on, or -1 */
	char **pass;     /* names of those that use it, in order found */
	size_t npass;
	int *of; /* frames that it concerns: reasons_merge */
	size_t nof, of_cap;
};

struct reasons { /* zeroed: none */
	struct reason *reason;
	size_t nreason, cap;
};

const char *reason_word(enum reason_kind kind);
/* 1 when the change alone makes nothing be drawn. */
int reason_is_free(enum reason_kind kind);
/* "uniform gain 0.5 -> 0.7 (pass image)". Owned by the caller. */
char *reason_text(const struct reason *r);
/*
 * Adds one. Texts are copied; pass may be null. One that is there already only
 * gets one more pass. The result is valid until the next is added.
 */
struct reason *reasons_add(struct reasons *list, enum reason_kind kind, const char *what,
    const char *was, const char *now, const char *pass);
/* The same with its place, and the frame or -1. */
struct reason *reasons_add_at(struct reasons *list, enum reason_kind kind,
    const char *what, const char *was, const char *now, const char *pass,
    const char *file, int line, int frame);
/*
 * Adds copies of all of from, which are of a frame: one that is there already
 * concerns that frame as well.
 */
void reasons_merge(struct reasons *list, const struct reasons *from, int frame);
void reasons_release(struct reasons *list);

#endif

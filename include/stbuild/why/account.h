#ifndef STBUILD_WHY_ACCOUNT_H
#define STBUILD_WHY_ACCOUNT_H

/*
 * An account says in texts what decided a bundle's content. One is kept for
 * each recorded bundle; a later one beside it tells what changed, and in which
 * pass, file and line. The texts of passes are those of the encoder that makes
 * the keys (graph/keys.h).
 */

#include <stddef.h>

#include "glsl/part.h"
#include "why/reason.h"

struct account_pass {
	char *name;
	char *key;		/* of its node, hexadecimal, or the begin of it */
	char *fixed;		/* keys_explain_static's text */
	char *recipe;		/* keys_explain's text */
	char *base;		/* the same at an earlier frame: records keep what differs */
	const struct part *part;	/* borrowed, for lines; null on record */
	size_t npart;
};

/*
 * Texts may be null where a record has lost them. All but settings and driver
 * are lines "FIELD: VALUE".
 */
struct account {
	int frame;
	int has_intermediates;
	char *tool;		/* version of stbuild */
	char *driver;		/* identity text, a line a fact */
	char *settings;		/* the manifest as JSON, traces and tests left out */
	char *variant;		/* size, fps, date, preset, uniforms, timeline */
	char *files;		/* hashes of sources and assets */
	struct account_pass *pass;	/* those that reach the image, which is last */
	size_t npass, cap;
};

void account_release(struct account *a);

/*
 * Why the bundle of an account is not what another account would give: the
 * first things that differ on each path back from the image, and no more than
 * one reason for one cause. What only makes files be written anew is told when
 * there is nothing else. None when the accounts are equal.
 */
void account_compare(const struct account *was, const struct account *now,
	struct reasons *out);
/* What differs between two drivers' identity texts. */
void account_compare_drivers(const char *was, const char *now,
	struct reasons *out);

#endif

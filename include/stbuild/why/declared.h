#ifndef STBUILD_WHY_DECLARED_H
#define STBUILD_WHY_DECLARED_H

/*
 * What commits say a trace is, without compiling or drawing: commits with equal
 * declared keys draw the same, as everything declared counts as active.
 * So history falls into classes, of which each is drawn once at most.
 *
 * A commit is told to be of a known class by the ids in its trees alone
 * (vcs/paths.h). Only where those of the paths that matter are new, its
 * manifest, sources and assets are read. The store remembers all of it.
 */

#include "graph/fact.h"
#include "project/variant.h"
#include "store/store.h"
#include "util/err.h"
#include "util/sha256.h"
#include "vcs/repo.h"

struct declared {
	struct sha256 key;     /* of the class */
	struct sha256 drawn;   /* without what only the compiler sees: PROGRAM */
	struct sha256 variant; /* variant_id, for rows of history */
	char *fault;           /* why it cannot be drawn; null: it may be */
	struct facts facts;    /* PASS, SETTINGS, TEST, PROGRAM, VARIANT, FAULT */
};

struct declared_request { /* all borrowed */
	struct repo *repo;
	struct store *store;  /* or null: nothing is remembered */
	int may_write;        /* the store is not open for reading only */
	const char *manifest; /* path from the project's root; null: the usual */
	const char *trace;
	const char *test;                      /* or null; then trace is */
	const struct variant_options *options; /* or null */
};

struct declarer;
struct declarer *declarer_new(const struct declared_request *request);
void declarer_free(struct declarer *d);
/*
 * The class of a commit, numbered from 0 in the order met. Faults of the
 * commit's files are a class of their own, and no error.
 */
int declarer_class(struct declarer *d, const char *commit, int *class,
    struct err *err) WARN_UNUSED;
/* A class (borrowed until the next call of declarer_class), and how many. */
const struct declared *declarer_get(const struct declarer *d, int class);
size_t declarer_count(const struct declarer *d);
/* How many commits had their files read. */
size_t declarer_reads(const struct declarer *d);

#endif

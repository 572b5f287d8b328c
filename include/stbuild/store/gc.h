#ifndef STBUILD_STORE_GC_H
#define STBUILD_STORE_GC_H

#include "store/store.h"

/*
 * Collection and repair of a store opened exclusively; what only
 * looks, a dry run or a check, can do so beside builds, in one opened to read.
 */

struct gc_options {
	uint64_t max_bytes; /* of objects; 0: no limit */
	double max_age_s;   /* since last use; 0: no limit */
	/* Objects that must stay; may be null. */
	int (*is_kept)(void *data, const struct sha256 *object);
	void *data;
	double time_limit_s; /* stops early, the rest is for the next time; 0: none */
	int dry_run;
};

struct gc_result {
	uint64_t nremoved, removed_bytes, nkept, kept_bytes;
	int is_complete;
};

/* Bytes of all objects that rows name: what max_bytes is compared with. */
int gc_size(struct store *s, uint64_t *out, struct err *err) WARN_UNUSED;
/*
 * Least recently used first. Also removes leftovers in tmp/ and, once a day or
 * without a time limit, object files that no row names (they count as removed)
 * and rows that lead nowhere and are older than half a year or max_age_s.
 */
int gc_run(struct store *s, const struct gc_options *options, struct gc_result *out,
    struct err *err) WARN_UNUSED;

struct fsck_result {
	uint64_t nobject;  /* files */
	uint64_t ntorn;    /* of them, with other bytes than their name says */
	uint64_t nmissing; /* rows without a file */
	uint64_t norphan;  /* files without a row: no damage, only waste */
	uint64_t nbad_row; /* damage in the database */
};

/*
 * Checks every object against its name, every row against its object, and the
 * database's integrity. With repair (exclusive), what is damaged and what is
 * an orphan is removed; a damaged database is set aside as stbuild.db.damaged
 * and a new one takes over the history and bundles that can be read.
 */
int fsck_run(struct store *s, int repair, struct fsck_result *out,
    struct err *err) WARN_UNUSED;

#endif

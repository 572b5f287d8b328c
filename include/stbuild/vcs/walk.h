#ifndef STBUILD_VCS_WALK_H
#define STBUILD_VCS_WALK_H

/*
 * History as a graph: the commits of a range, and the search for the one that
 * changed something.
 */

#include <stddef.h>

#include "vcs/repo.h"

struct walk_commit {
	char id[41];
	char before[41]; /* its first parent, in the walk or not; or "" */
	size_t parent;   /* its parents are walk->parent[parent ..], */
	size_t nparent;  /* those that are in the walk */
	int is_cut;      /* its parents are not in this shallow clone */
};

struct walk {                       /* zeroed: empty */
	struct walk_commit *commit; /* as git log --date-order: newest first,
					   none before all its children */
	size_t ncommit, cap;
	int *parent; /* indices of commit[] */
	size_t nparent, parent_cap;
	int is_cut; /* a shallow clone's end was reached */
};

struct walk_options {
	const char *range; /* "A..B", "B": all of B's history; null: of HEAD */
	int first_parent;  /* of merges, only the first parent counts */
	size_t max;        /* the newest so many; 0: all */
};

/* Every fault of a range is STATUS_INPUT. */
int walk_open(struct repo *r, const struct walk_options *o, struct walk *out,
    struct err *err) WARN_UNUSED;
void walk_release(struct walk *w);

/* "" when it has none, or none in this clone. parent may be id itself. */
int walk_first_parent(struct repo *r, const char *id, char parent[41],
    struct err *err) WARN_UNUSED;
/* 1 when the text is a range, "A..B". */
int walk_is_range(const char *text);
/*
 * The best common ancestors of two commits, in no order: several after
 * criss-cross merges, none for histories that have nothing in common.
 */
struct merge_bases {
	char (*id)[41];
	size_t nid;
	int is_cut; /* a shallow clone's end was reached */
};
int walk_merge_bases(struct repo *r, const char *a, const char *b,
    struct merge_bases *out, struct err *err) WARN_UNUSED;
void merge_bases_release(struct merge_bases *b);

/* A commit for people: all of its message, and what it changed. */
struct walk_change {
	char how;   /* as git log --name-status: A D M T R */
	char *path; /* from the repository's top */
};
struct walk_details {
	char *author, *date; /* "Name <mail>", ISO 8601 */
	char *summary, *message;
	struct walk_change *change; /* against the first parent */
	size_t nchange;
};
/* with_changes 0 leaves change[] empty. */
int walk_details(struct repo *r, const char *id, int with_changes,
    struct walk_details *out, struct err *err) WARN_UNUSED;
/* The summary alone, in a fraction of the time. Null on trouble. */
char *walk_summary(struct repo *r, const char *id, struct err *err);
void walk_details_release(struct walk_details *d);

/* Bisection ----------------------------------------------------------------- */

enum verdict {
	VERDICT_NONE, /* not judged yet */
	VERDICT_GOOD,
	VERDICT_BAD,
	VERDICT_SKIP /* cannot be judged */
};

/*
 * The search for the first bad commit of a walk whose first commit is bad and
 * whose missing parents are good. Commits of one class are judged together. As
 * git bisect does, the next to be judged is the one that splits what remains
 * best, merges included; only that classes are counted instead of commits, as
 * a class costs one judgement.
 */
struct bisect {
	const struct walk *walk; /* borrowed */
	const int *class;        /* a commit each; borrowed */
	size_t nclass;
	unsigned char *verdict;    /* enum verdict, a class each */
	unsigned char *is_suspect; /* a commit each: may be the first bad one */
	size_t nsuspect;
	int bad;        /* a bad commit: all other suspects are its ancestors */
	unsigned nskip; /* skips since the last verdict */
};

void bisect_init(struct bisect *b, const struct walk *walk, const int *class,
    size_t nclass);
void bisect_release(struct bisect *b);
/* A class was judged. What is said of the class of "bad" is ignored. */
void bisect_judge(struct bisect *b, int class, enum verdict verdict);
/*
 * The commit to judge next; -1 at the end: b->bad is then the first bad commit
 * if it is the only suspect, else one of the suspects is.
 */
int bisect_next(struct bisect *b);
/* Judgements that remain at most, when none is a skip. */
int bisect_left(const struct bisect *b);

#endif

#ifndef STBUILD_VCS_VIEW_H
#define STBUILD_VCS_VIEW_H

/*
 * The project's files as of one commit. Folders that were seen are kept, so
 * that looking up hundreds of paths parses each folder once. Links are
 * followed within the commit's tree; the prefix is the project's root.
 *
 * Bytes are those of a checkout: blobs go through git's filters, with the
 * attributes of the commit itself. Filters that run programs, and
 * working-tree-encoding, are not applied (libgit2 has neither): view_filter.
 */

#include <git2.h>

#include "util/tree.h"
#include "util/map.h"
#include "vcs/repo.h"

struct view {
	struct repo *repo;              /* borrowed */
	git_repository *git;            /* its bare handle, with an empty index */
	const struct repo_cache *cache; /* borrowed, or null */
	git_oid commit;
	char *prefix;      /* from the repository's top; "" or "a/b" */
	int has_root;      /* the commit has a folder at prefix */
	struct map folder; /* path from the top -> index of tree[] */
	git_tree **tree;
	size_t ntree, cap;
	char *what; /* of view_filter's last answer */
};

struct view_entry {
	enum tree_kind kind;
	const char *what; /* of TREE_OTHER: "a submodule" */
	char *path;       /* from the repository's top, links resolved; or null */
	git_oid id;       /* of files, folders and submodules */
	char *rest;       /* of what is in a submodule (at path): where, in it */
};

/* Sets err from libgit2's last error, after the text. Returns -1. */
__attribute__((format(printf, 3, 4))) int view_fail(struct err *err, enum status status,
    const char *fmt, ...);

/* Of the project's folder in a commit. */
int view_open(struct repo *r, const git_oid *commit, struct view **out,
    struct err *err) WARN_UNUSED;
void view_free(struct view *v);

/* What stands at a path below the project's root. LFS pointers are files. */
int view_find(struct view *v, const char *path, struct view_entry *out,
    struct err *err) WARN_UNUSED;
void view_entry_release(struct view_entry *e);

/*
 * 1 when the blob is a Git LFS pointer: *out is the SHA-256 of the bytes it
 * stands for. 0 when not, -1 on trouble.
 */
int view_lfs(struct view *v, const struct view_entry *e, struct sha256 *out,
    struct err *err);
/*
 * What stands between the blob and a checkout's bytes and is not applied here,
 * in words (borrowed until the next call); null for nothing. path is from the top.
 */
const char *view_filter(struct view *v, const char *path);
/* Appends the filtered bytes of a file. */
int view_read(struct view *v, const struct view_entry *e, size_t max, struct buf *out,
    struct err *err) WARN_UNUSED;
/*
 * SHA-256 of the same. *is_filtered (may be null) says whether a filter
 * stands between these bytes and the blob's.
 */
int view_hash(struct view *v, const struct view_entry *e, struct sha256 *out,
    int *is_filtered, struct err *err) WARN_UNUSED;
/* SHA-256 of the blob's own bytes. */
int view_hash_raw(struct view *v, const git_oid *id, struct sha256 *out,
    struct err *err) WARN_UNUSED;

#endif

#ifndef STBUILD_VCS_REPO_H
#define STBUILD_VCS_REPO_H

/*
 * Git, read-only: nothing of the user's repository is ever written (DESIGN 8).
 * Paths are relative to the project's root, which may be a folder inside the
 * repository.
 */

#include <stddef.h>
#include <stdint.h>

#include "project/tree.h"
#include "util/err.h"
#include "util/sha256.h"

struct repo;

/* A memory of blob id -> SHA-256 of the filtered bytes; kept by the store. */
struct repo_cache {
	int (*get)(void *data, const unsigned char oid[20], struct sha256 *out);
	void (*put)(void *data, const unsigned char oid[20],
		const struct sha256 *sha);
	void *data;
};

/*
 * Finds the repository that holds project_root. 0 with *out null when there is
 * none. -1 with the reason and remedy when it cannot be opened (another
 * owner: safe.directory; SHA-256; unknown extension). cache may be null.
 */
int repo_open(const char *project_root, const struct repo_cache *cache,
	struct repo **out, struct err *err) WARN_UNUSED;
void repo_close(struct repo *r);
/* Folder where looking for a manifest in parents stops; null when bare. */
const char *repo_workdir(const struct repo *r);

struct repo_commit {
	char id[41];		/* hex; "" while there is no commit */
	char *describe;		/* "v1.2-3-g1a2b3c4", or the short id */
	char *branch;		/* null when detached */
	char *committed_at;	/* ISO 8601 with the committer's offset */
	char *summary;		/* first line of the message */
};
/* HEAD; id "" without commits (branch is then the unborn one). */
int repo_head(struct repo *r, struct repo_commit *out, struct err *err)
	WARN_UNUSED;
/* Any revision as git rev-parse takes it, peeled to a commit. */
int repo_resolve(struct repo *r, const char *rev, struct repo_commit *out,
	struct err *err) WARN_UNUSED;
void repo_commit_release(struct repo_commit *c);

/*
 * Compares what was read with HEAD: 1 when the input differs from HEAD's
 * file (or is untracked, or is absent but in HEAD), else 0. An absent probe
 * that HEAD has not is clean. -1 on trouble.
 */
int repo_is_dirty(struct repo *r, const struct input *input, struct err *err);

/*
 * The project's files as of a commit (hex id). Submodules, LFS pointers and
 * links are recognised: TREE_OTHER, or followed within the tree.
 */
int repo_tree(struct repo *r, const char *commit_id, struct tree **out,
	struct err *err) WARN_UNUSED;
/*
 * Id of what the tree of a commit has at a path (blob or folder, unfiltered):
 * 1, or 0 when absent. Cheap: for classing commits without reading blobs.
 */
int repo_entry_id(struct repo *r, const char *commit_id, const char *path,
	unsigned char oid[20], struct err *err);

#endif

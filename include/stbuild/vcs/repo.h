#ifndef STBUILD_VCS_REPO_H
#define STBUILD_VCS_REPO_H

/*
 * Git, read-only: nothing of the user's repository is ever written.
 * Paths are relative to the project's root, which may be a folder inside the
 * repository.
 */

#include <stddef.h>
#include <stdint.h>

#include "util/tree.h"
#include "util/err.h"
#include "util/sha256.h"

struct repo;

/*
 * A memory of blob id -> SHA-256, kept by the store. Where a filter stands
 * between a blob and its bytes in a checkout (line endings), the id is one made
 * from the blob's and the filter's settings. Either function may be null.
 */
struct repo_cache {
	/* 0 and *out when known, else -1. */
	int (*get)(void *data, const unsigned char oid[20], struct sha256 *out);
	void (*put)(void *data, const unsigned char oid[20], const struct sha256 *sha);
	void *data;
};

/*
 * Finds the repository that holds project_root. 0 with *out null when there is
 * none, or when the folder is outside its work tree. A bare repository serves
 * when project_root is its own folder, or has it as .git: the project's root is
 * then the top of each commit. -1 with the reason and remedy when it cannot be
 * opened (another owner: safe.directory; SHA-256; unknown extension). GIT_DIR,
 * GIT_WORK_TREE, GIT_CEILING_DIRECTORIES, GIT_CONFIG_GLOBAL and GIT_CONFIG_SYSTEM
 * count as for git. cache may be null; it is borrowed.
 */
int repo_open(const char *project_root, const struct repo_cache *cache, struct repo **out,
    struct err *err) WARN_UNUSED;
/*
 * HEAD's id in a fraction of the time that opening a repository takes (5 ms:
 * libgit2 starts with the machine's certificates). 0 when it cannot be told
 * this way: no repository or commits, a bare one, another format. For the digest
 * of runs in which nothing changed; a caller compares it with itself only.
 */
int repo_peek_id(const char *project_root, char id[41]);
void repo_close(struct repo *r);
/*
 * From here on the project is in another folder, told from the one it is in
 * ("..", "old/name"), which a work tree need not have. STATUS_INPUT when it is
 * outside the repository.
 */
int repo_enter(struct repo *r, const char *folder, struct err *err) WARN_UNUSED;
/* Folder where looking for a manifest in parents stops; null when bare. */
const char *repo_workdir(const struct repo *r);

struct repo_commit {
	char id[41];        /* hex; "" while there is no commit */
	char *describe;     /* "v1.2-3-g1a2b3c4", or the short id */
	char *branch;       /* null when detached */
	char *committed_at; /* ISO 8601 with the committer's offset */
	char *summary;      /* first line of the message */
};
/* HEAD; id "" without commits (branch is then the unborn one). */
int repo_head(struct repo *r, struct repo_commit *out, struct err *err) WARN_UNUSED;
/* Its id alone ("" without commits), without describe's walk. */
int repo_head_id(struct repo *r, char id[41], struct err *err) WARN_UNUSED;
/* 40 hex digits as bytes; STATUS_INPUT when that is not what they are. */
int repo_parse_hex(const char *commit_id, unsigned char id[20],
    struct err *err) WARN_UNUSED;
/*
 * Any revision as git rev-parse takes it (gitrevisions(7)), peeled to a commit;
 * what names several commits, or none, is STATUS_INPUT. branch stays null.
 */
int repo_resolve(struct repo *r, const char *rev, struct repo_commit *out,
    struct err *err) WARN_UNUSED;
/*
 * Calls each with the commit (40 hex digits) of every tag, in no order.
 * Tags of what is no commit are passed over.
 */
int repo_each_tag(struct repo *r, void (*each)(void *data, const char *commit),
    void *data, struct err *err) WARN_UNUSED;
void repo_commit_release(struct repo_commit *c);

/*
 * Compares what was read with HEAD (as of the last call of repo_head or
 * repo_head_id, else of the first call of this): 1 when the input differs from
 * HEAD's file (or is untracked, or is absent but in HEAD), else 0. An absent
 * probe that HEAD has not is clean. So are the blob's own bytes where a
 * checkout has other line endings, and bytes whose LFS pointer HEAD has. A
 * submodule's file is compared with the commit that HEAD pins; where a filter is
 * a program, git's index decides. -1 on trouble.
 */
int repo_is_dirty(struct repo *r, const struct input *input, struct err *err);

/*
 * The project's files as of a commit (40 hex digits), as a checkout has them.
 * Links are followed within the commit. Submodules, LFS pointers and links that
 * lead nowhere are TREE_OTHER, with what they are in words; so are files behind
 * filters that are programs, or in a working-tree-encoding; so is the error of
 * tree_read for a path that is no file. The repository outlives the tree.
 */
int repo_tree(struct repo *r, const char *commit_id, struct tree **out,
    struct err *err) WARN_UNUSED;

#endif

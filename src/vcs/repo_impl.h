#ifndef REPO_IMPL_H
#define REPO_IMPL_H

/* Private to vcs/: an open repository. */

#include <git2.h>

#include "view.h"
#include "util/map.h"

struct repo {
	git_repository *git;
	git_repository *bare; /* the same for objects and attributes: no work tree's
				   nor index's .gitattributes get in */
	char *workdir;        /* null when bare */
	char *prefix;         /* project's root from the repository's top */
	const struct repo_cache *cache;
	struct view *head;   /* of the commit that HEAD was at last, or null */
	int has_head;        /* head is up to date; null without commits */
	struct view *recent; /* of paths.c's last commit, or null */
	git_odb *odb;        /* or null: not asked for yet */
	int is_shallow;
	struct map shallow;  /* ids of commits whose parents are cut off */
	struct map replaced; /* id -> index of replacement[] */
	git_oid *replacement;
	struct submodule *submodule; /* those that were asked for */
	size_t nsubmodule;
	int has_warned; /* of a filter that is a program */
};

/* What a walk wants of a commit. Zeroed at first, then used again and again. */
struct commit_info {
	git_oid tree;
	git_time_t time;
	git_oid *parent; /* without those that a shallow clone is cut off at */
	size_t nparent, cap;
	int is_cut; /* it has parents, and the clone has not */
};

/* As repo_open; has_env: GIT_DIR and GIT_WORK_TREE count. */
int repo_open_at(const char *project_root, int has_env, const struct repo_cache *cache,
    struct repo **out, struct err *err) WARN_UNUSED;
/* The commit that HEAD is at: 1, or 0 without commits. ref may be null. */
int repo_find_head(struct repo *r, git_oid *id, git_reference **ref, struct err *err);
/* trust.c: git's environment. libgit2's error codes, but for the first. */
int repo_is_trusted(const char *folder); /* by safe.directory */
void repo_set_search_paths(void);
int repo_open_git(const char *root, int has_env, git_repository **out);
int repo_add_config(git_repository *git);
/* dirty.c */
void repo_close_submodules(struct repo *r);

/* commits.c */
void repo_load_grafts(struct repo *r);
/* The object that stands for this one: itself, most often. */
const git_oid *repo_replaced(const struct repo *r, const git_oid *id);
int repo_read_commit(struct repo *r, const git_oid *id, struct commit_info *out,
    struct err *err) WARN_UNUSED;
void commit_info_release(struct commit_info *c);
/* The first paragraph of its message, as one line. Owned by the caller. */
char *repo_read_summary(struct repo *r, const git_oid *id, struct err *err);
int repo_lookup_commit(struct repo *r, const git_oid *id, git_commit **out,
    struct err *err) WARN_UNUSED;
/* revision.c: as repo_resolve, the id alone. */
int repo_find_commit(struct repo *r, const char *rev, git_oid *out,
    struct err *err) WARN_UNUSED;
/* "WHAT ID is not there", with the remedy for a clone of this kind. -1. */
int repo_missing(struct repo *r, struct err *err, const char *what, const git_oid *id);

/* A copy as UTF-8: git keeps bytes, what we write is JSON. */
char *repo_clean_text(const char *text);
char *repo_iso8601(git_time_t seconds, int offset);
int repo_parse_id(const char *commit_id, git_oid *out, struct err *err) WARN_UNUSED;

#endif

#ifndef REPO_IMPL_H
#define REPO_IMPL_H

/* Private to vcs/: an open repository. */

#include <git2.h>

#include "view.h"

struct repo {
	git_repository *git;
	git_repository *bare;	/* the same for objects and attributes: no work tree's
				   nor index's .gitattributes get in */
	char *workdir;		/* null when bare */
	char *prefix;		/* project's root from the repository's top */
	const struct repo_cache *cache;
	struct view *head;	/* of the commit that HEAD was at last, or null */
	int has_head;		/* head is up to date; null without commits */
	struct view *recent;	/* of repo_entry_id's last commit, or null */
};

/* A copy as UTF-8: git keeps bytes, what we write is JSON. */
char *repo_clean_text(const char *text);
char *repo_iso8601(git_time_t seconds, int offset);
int repo_parse_id(const char *commit_id, git_oid *out, struct err *err)
	WARN_UNUSED;

#endif

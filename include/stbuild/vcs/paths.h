#ifndef STBUILD_VCS_PATHS_H
#define STBUILD_VCS_PATHS_H

/*
 * One hash over what a commit has at a set of paths, by the ids in its trees:
 * equal hashes mean that reading these paths gives equal bytes, or finds them
 * missing alike. Nothing is read but trees, and no folder twice, so thousands
 * of commits take no time to speak of.
 */

#include "util/sha256.h"
#include "vcs/repo.h"

struct paths;

/* Paths are as in struct input, from the project's root. r outlives it. */
struct paths *paths_new(struct repo *r, const char *const *path, size_t npath);
void paths_free(struct paths *p);
/*
 * What decides about a commit's bytes besides the commit: the project's folder,
 * git's settings for line endings and filters, replaced objects.
 */
void paths_settings(struct repo *r, struct sha256 *out);
int paths_hash(struct paths *p, const char *commit_id, struct sha256 *out,
    struct err *err) WARN_UNUSED;

#endif

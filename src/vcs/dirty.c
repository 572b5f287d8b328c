#include "repo_impl.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/fs.h"
#include "util/log.h"
#include "util/mem.h"

/* A submodule that was asked for: its own repository, at the pinned commit. */
struct submodule {
	char *path;        /* from the top */
	struct repo *repo; /* null: it is not checked out, or cannot be read */
};

void repo_close_submodules(struct repo *r)
{
	for (size_t i = 0; i < r->nsubmodule; i++) {
		free(r->submodule[i].path);
		repo_close(r->submodule[i].repo);
	}
	free(r->submodule);
}

static struct repo *find_submodule(struct repo *r, const char *path)
{
	struct err err = ERR_INIT;
	struct repo *sub = NULL;
	for (size_t i = 0; i < r->nsubmodule; i++)
		if (strcmp(r->submodule[i].path, path) == 0)
			return r->submodule[i].repo;
	if (r->workdir) {
		char *root = fs_join(r->workdir, path);
		char *git = fs_join(root, ".git");
		/* Without one of its own, the search would end with ours. */
		if (fs_exists(git) && repo_open_at(root, 0, r->cache, &sub, &err) < 0)
			log_verbose("submodule '%s': %s", path, err.message);
		free(git);
		free(root);
	}
	err_release(&err);
	r->submodule =
	    xreallocarray(r->submodule, r->nsubmodule + 1, sizeof *r->submodule);
	r->submodule[r->nsubmodule++] = (struct submodule){ xstrdup(path), sub };
	return sub;
}

/* Against the commit that the superproject's HEAD pins, not the one checked out. */
static int is_dirty_in_submodule(struct repo *r, const struct view_entry *e,
    const struct input *input, struct err *err)
{
	struct err lost = ERR_INIT;
	struct repo *sub = find_submodule(r, e->path);
	if (!sub)
		return 1;
	if (!sub->head || !git_oid_equal(&sub->head->commit, &e->id)) {
		view_free(sub->head);
		sub->head = NULL;
		int rc = view_open(sub, &e->id, &sub->head, &lost);
		err_release(&lost);
		if (rc < 0)
			return 1;
		sub->has_head = 1;
	}
	struct input inside = *input;
	inside.path = e->rest;
	return repo_is_dirty(sub, &inside, err);
}

/*
 * Whether git's index vouches for the file: it was as HEAD has it when git
 * looked, and nothing has touched it since (as git itself decides).
 */
static int index_vouches(struct repo *r, const struct view_entry *e)
{
	git_index *index;
	struct stat st, own;
	int ok = 0;
	if (!r->workdir || git_repository_index(&index, r->git) < 0)
		return 0;
	const git_index_entry *entry = git_index_get_bypath(index, e->path, 0);
	char *path = fs_join(r->workdir, e->path);
	const char *file = git_index_path(index);
	if (entry && file && git_oid_equal(&entry->id, &e->id) && lstat(path, &st) == 0 &&
	    stat(file, &own) == 0)
		ok = entry->file_size == (uint32_t)st.st_size &&
		    entry->mtime.seconds == (int32_t)st.st_mtim.tv_sec &&
		    (!entry->mtime.nanoseconds ||
			entry->mtime.nanoseconds == (uint32_t)st.st_mtim.tv_nsec)
		    /* written in the same moment as the index: nobody knows */
		    && (own.st_mtim.tv_sec > st.st_mtim.tv_sec ||
			   (own.st_mtim.tv_sec == st.st_mtim.tv_sec &&
			       own.st_mtim.tv_nsec > st.st_mtim.tv_nsec));
	free(path);
	git_index_free(index);
	return ok;
}

/* The bytes differ; where a program stands between, that says nothing. */
static int is_dirty_by_filter(struct repo *r, const struct view_entry *e)
{
	const char *what = view_filter(r->head, e->path);
	if (!what)
		return 1;
	if (index_vouches(r, e))
		return 0;
	if (!r->has_warned)
		log_warn("'%s' is %s: it counts as changed unless git's index "
			 "says otherwise ('git status' brings it up to date)",
		    e->path, what);
	r->has_warned = 1;
	return 1;
}

int repo_is_dirty(struct repo *r, const struct input *input, struct err *err)
{
	int rc = -1, is_filtered;
	git_oid id;
	struct sha256 sha;
	struct view_entry e = { 0 };

	if (!r->has_head) {
		int found = repo_find_head(r, &id, NULL, err);
		if (found < 0)
			goto out;
		if (found && view_open(r, &id, &r->head, err) < 0)
			goto out;
		r->has_head = 1;
	}
	if (!r->head) {
		rc = !input->is_absent;
		goto out;
	}
	if (view_find(r->head, input->path, &e, err) < 0)
		goto out;
	if (e.rest) {
		rc = is_dirty_in_submodule(r, &e, input, err);
		goto out;
	}
	if (input->is_absent || e.kind != TREE_FILE) {
		rc = !input->is_absent || e.kind != TREE_ABSENT;
		goto out;
	}
	if (view_hash(r->head, &e, &sha, &is_filtered, err) < 0)
		goto out;
	rc = !sha256_equal(&sha, &input->sha);
	/* Git takes the blob's own line endings as unchanged, too. */
	if (rc && is_filtered) {
		if (view_hash_raw(r->head, &e.id, &sha, err) < 0) {
			rc = -1;
			goto out;
		}
		rc = !sha256_equal(&sha, &input->sha);
	}
	if (rc) {
		int is_lfs = view_lfs(r->head, &e, &sha, err);
		if (is_lfs)
			rc = is_lfs < 0 ? -1 : !sha256_equal(&sha, &input->sha);
		else
			rc = is_dirty_by_filter(r, &e);
	}
out:
	view_entry_release(&e);
	return rc;
}

#ifndef STBUILD_UTIL_TREE_H
#define STBUILD_UTIL_TREE_H

/*
 * Where a project's files come from: the work tree, a commit (vcs/), or memory
 * (an STTF document). Every reader of sources and assets goes through here, so
 * a capture of a commit needs no checkout.
 *
 * Paths are relative to the project's root, "/" between parts. They may hold
 * ".." as long as the file they name, links resolved, is inside the root.
 */

#include <stddef.h>

#include "util/err.h"
#include "util/fs.h"
#include "util/map.h"
#include "util/sha256.h"

struct buf;
struct tree;

enum tree_kind {
	TREE_ABSENT,
	TREE_FILE,
	TREE_FOLDER,
	TREE_OUTSIDE, /* exists, but resolves outside the root */
	TREE_OTHER    /* device, socket, submodule, unresolvable link, LFS pointer */
};

struct tree_ops {
	/*
	 * What stands at path. For files and folders *resolved is the path
	 * inside the root with links and ".." resolved, owned by the caller
	 * ("" for the root). For TREE_OTHER it is null or says in words what
	 * stands there ("a submodule"). Else null. -1 only for I/O trouble.
	 */
	int (*lookup)(struct tree *tree, const char *path, enum tree_kind *kind,
	    char **resolved, struct err *err);
	/* Appends the bytes of a file by its resolved path. */
	int (*read)(struct tree *tree, const char *resolved, size_t max, struct buf *out,
	    struct err *err);
	/* SHA-256 of the same bytes, from a cache where one is trusted. */
	int (*hash)(struct tree *tree, const char *resolved, struct sha256 *out,
	    struct err *err);
	void (*free)(struct tree *tree);
};

/* Implementations embed this as their first member. */
struct tree {
	const struct tree_ops *ops;
	char *name; /* for messages: the root's path, or "commit 1a2b3c4" */
};

int tree_lookup(struct tree *tree, const char *path, enum tree_kind *kind,
    char **resolved, struct err *err) WARN_UNUSED;
int tree_read(struct tree *tree, const char *resolved, size_t max, struct buf *out,
    struct err *err) WARN_UNUSED;
int tree_hash(struct tree *tree, const char *resolved, struct sha256 *out,
    struct err *err) WARN_UNUSED;
/*
 * The same bytes with their hash, of one reading: whoever uses bytes under a
 * hash that was found earlier asks for them with one of these, since a file
 * may be saved at any moment. *sha is that of what was appended to out.
 */
int tree_read_hashed(struct tree *tree, const char *resolved, size_t max, struct buf *out,
    struct sha256 *sha, struct err *err) WARN_UNUSED;
/* Fails (STATUS_FAILED) when the bytes are not those of sha any more. */
int tree_read_as(struct tree *tree, const char *resolved, size_t max,
    const struct sha256 *sha, struct buf *out, struct err *err) WARN_UNUSED;
void tree_free(struct tree *tree);

/* A memory of file hashes, kept by the store. Either function may be null. */
struct tree_cache {
	/* 0 and *out when the stamp is known and trusted, else -1. */
	int (*get)(void *data, const struct fs_stamp *stamp, struct sha256 *out);
	void (*put)(void *data, const struct fs_stamp *stamp, const struct sha256 *sha);
	void *data;
};

/* The files below root (a folder that exists). cache may be null; borrowed. */
int tree_open_dir(const char *root, const struct tree_cache *cache, struct tree **out,
    struct err *err) WARN_UNUSED;

/* Files in memory. */
struct tree *tree_new_memory(const char *name);
/* Adds a file; data is copied. A path given again replaces the file. */
void tree_memory_add(struct tree *tree, const char *path, const void *data, size_t n);
/* Walks the files in the order added: null past the end. Borrowed. */
const char *tree_memory_file(const struct tree *tree, size_t i, const void **data,
    size_t *n);

/*
 * Everything a load has looked at: files with the hash of their bytes, and
 * paths that were probed and absent (a file that appears there later would
 * shadow another).
 */
struct input {
	char *path; /* as probed, normalised ("a/../b" is "b") */
	int is_absent;
	struct sha256 sha; /* of the bytes; zero when absent */
};

struct inputs {
	struct input *input; /* in the order of first use, no path twice */
	size_t ninput, cap;
	struct map index; /* path to index of input[] */
	/*
	 * Paths as they were spelt, where ".." or a link may lead elsewhere than
	 * input[] says: which links they go through counts (capture/unchanged.h).
	 */
	char **probe;
	size_t nprobe, probe_cap;
	struct map probe_index;
	char *changed; /* the first path found in two states, or null */
};

/*
 * sha null: absent. What a path was first is what counts; another state later
 * sets inputs->changed.
 */
void inputs_add(struct inputs *inputs, const char *path,
    const struct sha256 *sha_or_null);
/* Notes a path as spelt. inputs may be null. */
void inputs_add_probe(struct inputs *inputs, const char *path);
/* Adds all that from has. */
void inputs_merge(struct inputs *to, const struct inputs *from);
/* Fails (STATUS_FAILED) when a path was found in two states. */
int inputs_check(const struct inputs *inputs, struct err *err) WARN_UNUSED;
void inputs_release(struct inputs *inputs);

/*
 * "a/./b/../c" -> "a/c"; leading ".." stay, the root is "". By spelling alone:
 * where "b" is a link, "b/.." is another folder. Owned by the caller.
 */
char *path_normalise(const char *path);

#endif

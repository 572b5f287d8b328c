#ifndef STBUILD_UTIL_FS_H
#define STBUILD_UTIL_FS_H

/*
 * Files. Everything that is written is written aside and renamed, so a reader
 * never sees half a file. Linux calls (renameat2, FICLONE) are behind
 * configure's probes, with fallbacks.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/stat.h>

#include "util/err.h"

struct buf;
struct sha256;

/* What a stat says that a cache may trust. */
struct fs_stamp {
	uint64_t dev, ino, size;
	int64_t mtime_ns, ctime_ns;
};

/* "a/b" from "a" and "b"; b alone when it is absolute or a is empty or ".". */
char *fs_join(const char *a, const char *b);
/* Folder part of a path, "." when there is none. Owned by the caller. */
char *fs_dirname(const char *path);
/* Borrowed pointer into path, behind the last slash. */
const char *fs_basename(const char *path);
int fs_exists(const char *path);
int fs_is_dir(const char *path);
/* 0, or -1 when the file cannot be stat'ed (errno is kept). Follows links. */
int fs_stamp(const char *path, struct fs_stamp *out);
void fs_stamp_of(const struct stat *st, struct fs_stamp *out);
int fs_stamp_equal(const struct fs_stamp *a, const struct fs_stamp *b);

/*
 * Appends the file to buf. More than max bytes is an error that names the
 * limit. A missing file is STATUS_INPUT, other trouble STATUS_MACHINE.
 */
int fs_read(const char *path, size_t max, struct buf *buf, struct err *err) WARN_UNUSED;
/* Writes path anew: aside, then rename; fsync'ed first when durable. */
int fs_write(const char *path, const void *data, size_t n, int durable,
    struct err *err) WARN_UNUSED;
/*
 * The same in pieces: after fs_begin comes one fs_end, which puts the file in
 * its place, or one fs_abandon, which removes what was written.
 */
struct fs_writer {
	int fd;
	char *path, *aside;
};
int fs_begin(const char *path, struct fs_writer *out, struct err *err) WARN_UNUSED;
int fs_add(struct fs_writer *w, const void *data, size_t n, struct err *err) WARN_UNUSED;
int fs_end(struct fs_writer *w, int durable, struct err *err) WARN_UNUSED;
void fs_abandon(struct fs_writer *w);
/* SHA-256 of the file's bytes, streamed. size may be null. */
int fs_hash(const char *path, struct sha256 *out, uint64_t *size,
    struct err *err) WARN_UNUSED;
/* Creates the folder and its parents; existing ones are fine. */
int fs_mkdirs(const char *path, struct err *err) WARN_UNUSED;
/* Removes the file or folder, links not followed; absent is fine. */
int fs_remove(const char *path, struct err *err) WARN_UNUSED;
/*
 * Renames a file or folder to a name beside it by which leftovers are known
 * (folder.h): *aside, the caller's. What is removed under that name is never
 * half there under its own.
 */
int fs_set_aside(const char *path, char **aside, struct err *err) WARN_UNUSED;
/* Copies a file by reflink where the file system can, else its bytes. */
int fs_copy(const char *from, const char *to, int durable, struct err *err) WARN_UNUSED;
/*
 * Puts the folder or file at "from" in the place of "to", atomically where the
 * system can (renameat2 RENAME_EXCHANGE), else by two renames; what stood at
 * "to" is removed afterwards. "to" may be absent.
 */
int fs_exchange(const char *from, const char *to, struct err *err) WARN_UNUSED;
/* fsync of a folder's entry list. Failure is ignored where unsupported. */
int fs_sync_dir(const char *path, struct err *err) WARN_UNUSED;

/*
 * Anonymous shared memory of the given size (memfd, else an unlinked file),
 * close-on-exec. Returns the descriptor, or -1.
 */
int fs_shm(size_t size, struct err *err) WARN_UNUSED;

#endif

#ifndef STBUILD_FORMAT_BUNDLE_WRITE_H
#define STBUILD_FORMAT_BUNDLE_WRITE_H

/*
 * Makes a .sttrace folder: its files are written aside, then the folder is
 * exchanged with what stands in its place. bundle_begin, artifacts in any
 * order, then bundle_finish or bundle_abandon.
 */

#include <stddef.h>
#include <stdint.h>

#include "format/bundle.h"
#include "util/fs.h"

/*
 * Writers of different bundles may be filled on different threads. What stands
 * at path may be an earlier bundle or an empty folder, nothing else; when the
 * path is on record as a bundle of ours, also a folder without trace.json.
 * Folders that killed processes were filling are removed.
 */
struct bundle_writer {
	char *path;  /* where it will stand */
	char *aside; /* the folder being filled, beside it */
	int claim;   /* its lock, -1: none */
	int is_on_record;
	struct artifact *artifact;
	size_t nartifact, cap;
};

/*
 * Whether what stands at path may go: nothing, an empty folder, or a bundle.
 * One that is on record is a bundle even when its trace.json was lost.
 */
int bundle_check_place(const char *path, int is_on_record, struct err *err) WARN_UNUSED;
/* Removes what killed processes left beside the bundle. */
void bundle_clean_place(const char *path);
int bundle_begin(const char *path, int is_on_record, struct bundle_writer *out,
    struct err *err) WARN_UNUSED;
/* Adds a file with these bytes. */
int bundle_add(struct bundle_writer *w, const char *key, const char *path,
    const void *data, size_t n, struct err *err) WARN_UNUSED;
/* Adds a file by reflink or copy; its hash and size are known, and trusted. */
int bundle_add_copy(struct bundle_writer *w, const char *key, const char *path,
    const char *from, const struct sha256 *sha, uint64_t bytes,
    struct err *err) WARN_UNUSED;
/*
 * Takes over a file of the bundle that stands at the path now, which is as
 * good as moved: 1, or 0 when that cannot be done here, or when the file there
 * is not the one that had that stamp and hash.
 */
int bundle_keep(struct bundle_writer *w, const char *key, const char *path,
    const char *old_path, const struct sha256 *sha, const struct fs_stamp *stamp);
/* Starts a file that is written in pieces; then bundle_end_file. */
struct bundle_stream;
int bundle_begin_file(struct bundle_writer *w, const char *key, const char *path,
    struct bundle_stream **out, struct err *err) WARN_UNUSED;
int bundle_write(struct bundle_stream *s, const void *data, size_t n,
    struct err *err) WARN_UNUSED;
/* Closes the file; frees s whatever happens. */
int bundle_end_file(struct bundle_stream *s, struct err *err) WARN_UNUSED;
/*
 * Adds "artifacts" to json, writes trace.json, fsyncs, and exchanges the
 * folder with what stands at path. The writer is released. note, which may be
 * null, is called while the bundle surely stands there: runs that write in one
 * folder put their bundles in place one after the other.
 */
int bundle_finish(struct bundle_writer *w, cJSON *json,
    int (*note)(void *data, struct err *err), void *data, struct err *err) WARN_UNUSED;
/* Removes what was written aside. */
void bundle_abandon(struct bundle_writer *w);

/*
 * File stem of a pass: characters outside [A-Za-z0-9_-] become '-', none at
 * either end, "pass" when nothing is left, at most 200 bytes; "-2", "-3" ...
 * keep it apart from taken[], those given out.
 */
char *bundle_stem(const char *pass_name, char *const *taken, size_t ntaken);

#endif

#ifndef STBUILD_FORMAT_BUNDLE_H
#define STBUILD_FORMAT_BUNDLE_H

/*
 * .sttrace folders (sttrace(5)), read without trust, and the hashes over what
 * they hold. bundle_write.h makes them.
 */

#include <stddef.h>
#include <stdint.h>

#include "project/doc.h"
#include "store/store.h"
#include "util/err.h"
#include "util/sha256.h"

struct artifact {
	char *key;  /* "final_image", "pass:a:output:0:raw" */
	char *path; /* relative to the bundle */
	uint64_t bytes;
	struct sha256 sha;
};

/* Frees n artifacts and the array. */
void artifacts_release(struct artifact *artifact, size_t n);
/*
 * 1 when a path stays inside a bundle: relative, and each part a name, not
 * empty, not "." and not "..".
 */
int artifact_is_inside(const char *path);

struct bundle {
	char *dir;
	cJSON *json; /* trace.json, whole */
	struct artifact *artifact;
	size_t nartifact;
	/* Borrowed from json: */
	const char *project, *preset, *cli_version;
	const cJSON *tool; /* null: not written by us */
	int width, height, frame;
	double fps, time;
};

/* path is the folder or its trace.json. Nothing but trace.json is read. */
int bundle_open(const char *path, struct bundle *out, struct err *err) WARN_UNUSED;
void bundle_release(struct bundle *b);
/* Artifact by key, or null. */
const struct artifact *bundle_artifact(const struct bundle *b, const char *key);
/* Checks sizes and hashes of every artifact; all faults go to errs. */
int bundle_verify(const struct bundle *b, struct errs *errs) WARN_UNUSED;
/* Reads an artifact, checked against its hash. */
int bundle_read(const struct bundle *b, const char *key, struct buf *out,
    struct err *err) WARN_UNUSED;

/*
 * Replaces the "git" section of the trace.json that stands there, and not a
 * byte besides. Read as bundle_open does, written as bundle_finish does
 * (bundle_write.h).
 */
int bundle_set_git(const char *path, const cJSON *git, struct err *err) WARN_UNUSED;

/*
 * The hash that decides about rewriting (sttrace(5)): over artifacts and over
 * trace.json without git, pass_timings and the manifest's trace, test, store
 * and project sections.
 */
void bundle_stable_id(const cJSON *json, const struct artifact *artifact,
    size_t nartifact, struct sha256 *out);
/* The hash over pictures, state and intermediates. */
void bundle_content_id(const struct artifact *artifact, size_t nartifact,
    struct sha256 *out);

#endif

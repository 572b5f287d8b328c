#ifndef STBUILD_CAPTURE_ASSEMBLY_H
#define STBUILD_CAPTURE_ASSEMBLY_H

/*
 * Writing one bundle from objects of the store: everything a thread needs is
 * in the struct, so that encoding and copying run beside the draws.
 */

#include <cjson/cJSON.h>

#include "project/manifest.h"
#include "store/store.h"
#include "format/ststate.h"
#include "util/err.h"
#include "util/sha256.h"

/* One output of a node, or a storage buffer, as an object. */
struct piece {
	char *name; /* pass or storage name */
	char *path; /* of the object's file */
	struct sha256 sha;
	uint64_t bytes;
	enum format format;
	int width, height;
	int nface; /* 6 for a cubemap pass, else 1 */
	int output;
	int is_trusted;      /* written by this run: not hashed again */
	int is_output_sized; /* follows the size asked for */
	int is_storage;
};

struct assembly {
	/* Set by the owner; strings and lists are the assembly's. */
	char *path; /* of the bundle */
	char *sttf; /* project.sttf */
	size_t nsttf;
	struct piece final;  /* the image's target, RGBA8 */
	struct piece *state; /* output 0 of buffers, and storage */
	size_t nstate;
	struct piece *intermediate; /* all outputs of buffer, compute, cube */
	size_t nintermediate;
	char *project;
	int width, height, frame;
	double fps;
	cJSON *json;      /* trace.json without artifacts; null for state_header */
	int is_on_record; /* what stands at path is ours */
	/* Its files as recorded; those that are intact and would be made from
	   the same again are kept. Borrowed. */
	const struct bundle_file *old;
	size_t nold;
	int has_stable;       /* an intact bundle stands at path ... */
	struct sha256 stable; /* ... with this id: left alone if equal */

	/* Set by assembly_run. */
	struct bundle_file *made; /* key and origin of what was added */
	size_t nmade, made_cap;
	int ok;
	int is_same; /* nothing was written */
	int is_torn; /* an object was missing or torn: plan again */
	struct err err;
	struct sha256 stable_id, content_id;
	struct bundle_file *file; /* artifacts and "trace", with stamps */
	size_t nfile;
};

/* Any thread. */
void assembly_run(struct assembly *a);
void assembly_release(struct assembly *a);

#endif

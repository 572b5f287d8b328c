#ifndef STBUILD_CAPTURE_UNCHANGED_H
#define STBUILD_CAPTURE_UNCHANGED_H

/*
 * The shortest way to "nothing changed": a run that found
 * everything up to date leaves a record of all that this rested on. As long as
 * every stat, the driver's stamp and the id of HEAD are the same, so is the
 * answer: no database is opened, no manifest read, no GL started.
 *
 * A record is one file, runs/<64 hex> in the store, named by the request. It
 * may be lost or deleted at any time.
 */

#include <stddef.h>
#include <stdint.h>

#include "store/store.h"
#include "capture/capture.h"
#include "util/sha256.h"

struct unchanged_request {
	const char *root; /* the project's folder */
	const char *store_dir;
	const char *device; /* --device, or null */
	struct sha256 id;   /* over all that was asked for, and the tool */
};

/*
 * 1 when the record of an equal request holds; *result then says of each of
 * its bundles that it is current. Else 0, and *result is empty.
 */
int unchanged_check(const struct unchanged_request *r, struct capture_result *result);

/*
 * Records a run that began at started_ns (CLOCK_REALTIME) and found every
 * bundle current. Nothing is recorded when a file is too young to trust its
 * stamp, or when what stands there now is not what the run read: the stamp must
 * be that under which the store remembers the hash the run used. Links on the
 * way to inputs count as inputs of their own. Failures are silent: the next run
 * is just slower. head is repo_peek_id's from before the run.
 */
void unchanged_record(const struct unchanged_request *r, struct store *store,
    const struct driver_row *driver, const char head[41], int64_t started_ns,
    const struct inputs *inputs, const struct capture_result *result);

#endif

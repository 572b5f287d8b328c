#ifndef STBUILD_CMD_COLLECT_H
#define STBUILD_CMD_COLLECT_H

/*
 * Garbage collection for a project. What is never dropped, however old it is
 * and however small the store is to be:
 *
 * - what the bundles of the manifest's traces, at the frames that the manifest
 *   lists, were last written from, whether they still stand or not;
 * - what those were written from that were recorded at HEAD or at a tag's
 *   commit with clean inputs; at any commit when git cannot be asked.
 *
 * One-off captures and checkpoints may go, and of work in progress the frames
 * that no trace lists. So may everything else: it costs time only.
 */

#include "cmd/session.h"
#include "store/gc.h"
#include "util/err.h"

/* gc_run with what must stay. is_kept of the options is filled in. */
int collect_run(struct session *s, struct store *store, const struct gc_options *options,
    struct gc_result *out, struct err *err) WARN_UNUSED;
/*
 * At the end of a build: when the store is larger than the manifest's max_size,
 * and nobody else builds, for two seconds at most. What fails here is no
 * failure of the build. Closes the session's store.
 */
void collect_after_build(struct session *s);

#endif

#ifndef STBUILD_CMD_HISTORY_H
#define STBUILD_CMD_HISTORY_H

/*
 * A trace over commits, for log, bisect and captures of ranges: which commits
 * draw the same, what is known of their pictures, and drawing what is not.
 */

#include <cjson/cJSON.h>

#include "cmd/session.h"
#include "util/args.h"
#include "capture/capture.h"
#include "why/declared.h"
#include "verify/compare.h"

struct history {
	struct session session;
	char *trace; /* or null: a test */
	char *test;
	int *frame; /* the same at every commit */
	size_t nframe;
	struct declarer *declarer;
	struct capture_counts counts; /* of all renderings */
	int nrendered;                /* renderings for which something was drawn */
};

/* What a trace shows at one commit, or a class of them. */
struct rendering {
	int is_known;
	char *fault;            /* why it cannot be drawn, or null */
	struct sha256 *content; /* a frame each */
	char **path;            /* bundles, from the root; null where none stands */
};

/*
 * Opens the session, and the trace of target (NAME or NAME@FRAMES); without
 * frames those are the trace's at the commit.
 */
int history_open(struct history *h, struct options *o, const char *command,
    enum session_store use, struct err *err) WARN_UNUSED;
int history_target(struct history *h, const char *target, const char *commit,
    struct err *err) WARN_UNUSED;
/* The same for a test: history_class works then, and nothing that renders. */
int history_test(struct history *h, const char *test, const char *commit,
    struct err *err) WARN_UNUSED;
/* Adds the counts of a run. */
void history_count(struct history *h, const struct capture_counts *c);
/* Of all runs, over ncommit commits. The caller's. */
cJSON *history_counts_json(const struct history *h, size_t ncommit);
void history_close(struct history *h);

/*
 * Between these what is learned of commits is written in one transaction. rc is
 * of what was done meanwhile, and is returned, or -1.
 */
int history_hold(struct history *h, struct err *err) WARN_UNUSED;
int history_unhold(struct history *h, int rc, struct err *err) WARN_UNUSED;
/* The class of a commit. */
int history_class(struct history *h, const char *commit, int *class,
    struct err *err) WARN_UNUSED;

/*
 * Brings the bundles of a commit up to date. A commit that does not load or
 * compile is a fault in out, which is to be released whatever happens.
 */
int history_render(struct history *h, const char *commit, struct rendering *out,
    struct err *err) WARN_UNUSED;
/*
 * What captures have recorded, a class each (classes that are met on the way
 * are appended): nothing is drawn. *out has *n elements and is the caller's.
 */
int history_recall(struct history *h, struct rendering **out, size_t *n,
    struct err *err) WARN_UNUSED;
void rendering_release(struct rendering *r);
int rendering_is_equal(const struct history *h, const struct rendering *a,
    const struct rendering *b);
/* One hash over the contents of all frames. */
void rendering_id(const struct history *h, const struct rendering *r, struct sha256 *out);

/*
 * Compares the pictures of bundles. Pictures of two sizes differ by all:
 * rmse 1, max 255.
 */
int pictures_compare(const char *bundle_a, const char *bundle_b, struct comparison *out,
    struct err *err) WARN_UNUSED;
/* The worst over all frames: 1, or 0 when a picture does not stand any more. */
int rendering_compare(const struct history *h, const struct rendering *a,
    const struct rendering *b, struct comparison *out);

/* Names of what differs, in order: "pass 'image'", "settings". */
cJSON *declared_changes(const struct declared *a, const struct declared *b);

#endif

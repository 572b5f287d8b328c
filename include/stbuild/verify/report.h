#ifndef STBUILD_VERIFY_REPORT_H
#define STBUILD_VERIFY_REPORT_H

/*
 * One HTML page that shows cases: pictures expected and actual, what they were
 * held to, what made them. It needs no server and no network: small pictures
 * are in index.html, and where they come to more than LIMIT_REPORT_INLINE all
 * are in files data/HASH.js beside it, loaded when they are looked at (a page
 * that was opened as a file may not read the pixels of other pictures, but it
 * may load scripts).
 *
 * A case is a JSON object, which report_case makes and the others add to. What
 * the page reads of it is in report_page.html:
 *
 *	name, variant, status, message, metric, value, limit
 *	expected, actual	names of pictures
 *	frames [{frame, picture}]	instead of these: one picture a frame
 *	layers [{name, width, height, expected, actual}]	float outputs
 *	checks [{metric, value, limit, margin, ok, message}]
 *	first {frame, what, x, y, channel, a, b}	the first difference
 *	reasons [text], timings [{name, ms, base}], facts [[name, value]]
 */

#include <cjson/cJSON.h>

#include "capture/capture.h"
#include "format/bundle.h"
#include "util/err.h"
#include "verify/diff.h"
#include "verify/picture.h"
#include "verify/suite.h"

struct report;

/*
 * Begins a report in the folder dir, which is made. A folder that holds
 * something else than an earlier report is STATUS_INPUT.
 */
int report_open(const char *dir, const char *title, struct report **out,
    struct err *err) WARN_UNUSED;
/* Drops what was not finished; takes null. */
void report_close(struct report *r);
/* A few words below the title: the commit, the driver. */
void report_meta(struct report *r, const char *text);
/* The passes and what they read. */
void report_graph(struct report *r, const struct manifest *m);
/* Writes index.html; *path (may be null) is the caller's. */
int report_finish(struct report *r, char **path, struct err *err) WARN_UNUSED;

/* A new case, borrowed. variant may be "". */
cJSON *report_case(struct report *r, const char *name, const char *variant,
    const char *status);
/* Puts a picture at "key" of a case or of one of its frames. */
int report_picture(struct report *r, cJSON *item, const char *key,
    const struct picture *picture, struct err *err) WARN_UNUSED;
/* The final image of a bundle, as it is. */
int report_final(struct report *r, cJSON *item, const char *key, const struct bundle *b,
    struct err *err) WARN_UNUSED;
/* Float outputs that "actual" has, and "expected" (may be null) beside them. */
int report_layers(struct report *r, cJSON *item, const struct bundle *expected,
    const struct bundle *actual, struct err *err) WARN_UNUSED;
/* Pass timings, and commit, driver and tool of a bundle; base may be null. */
void report_made(cJSON *item, const struct bundle *b, const struct bundle *base);
/* The first difference of two bundles or pictures, if there is one. */
void report_first(cJSON *item, const struct diff *d);

/* A case for each of the suite's, judged before. */
int report_suite(struct report *r, const struct suite_env *env, const struct suite *s,
    const struct capture_result *result, struct err *err) WARN_UNUSED;

#endif

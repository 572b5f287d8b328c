#ifndef STBUILD_CMD_OUTPUT_H
#define STBUILD_CMD_OUTPUT_H

/*
 * What commands print, in JSON and in words side by side: documents, errors,
 * diagnostics, and of a run its counts, bundles, costs, failures and driver.
 * JSON that is returned is the caller's.
 */

#include <cjson/cJSON.h>

#include "capture/capture.h"
#include "util/err.h"

struct diagnostics;
struct driver_row;
struct manifest;
struct reasons;

/* Documents --------------------------------------------------------------- */

/*
 * {"ok": true, "action": name}, for a command to add to. Owned by the caller,
 * until json_print prints it as one line on stdout and deletes it.
 */
cJSON *json_start(const char *action);
void json_print(cJSON *document);
/* Sets ok to false. */
void json_fail(cJSON *document);
/* {"message", "file", "line", "column", "key"}: an error as --json has it. */
cJSON *error_json(const struct err *err);
/* Sets ok to false, "error" to the first error, and "errors" to all. */
void json_add_errors(cJSON *document, const struct errs *errs);

/* Diagnostics of a graph -------------------------------------------------- */

cJSON *diagnostics_to_json(const struct manifest *m, const struct diagnostics *d);
/* Warnings on stderr: "FILE:LINE:COLUMN: warning: [CODE] MESSAGE". */
void diagnostics_print(const struct diagnostics *d);

/* Runs -------------------------------------------------------------------- */

/* "hero@120", "sound:chime". Owned by the caller. */
char *target_name(const struct capture_bundle *b);

/* Adds the counts of one more run; programs are counted over all by the run. */
void counts_add(struct capture_counts *to, const struct capture_counts *c);
cJSON *counts_json(const struct capture_counts *c);
/* Those of nodes and programs alone, into an object. */
void json_add_draws(cJSON *json, const struct capture_counts *c);
/* With what it will cost when it was only planned. */
cJSON *bundle_json(const struct capture_bundle *b, int plan);
/* {"kind", "what", "old", "new", "pass", "passes", "file", "line", "frame"} each. */
cJSON *reasons_to_json(const struct reasons *list);
cJSON *driver_json(const struct driver_row *driver);
/* json_add_errors of a run where targets failed or were not reached. */
void json_add_failures(cJSON *document, const struct capture_result *r);

/* On stdout: each target with its cause and cost; what was written. */
void report_plan(const struct capture_result *r);
void report_done(const struct capture_result *r, double seconds);
/* Log what failed, and how the driver is not the one before. */
void report_failures(const struct capture_result *r);
void report_driver(const struct capture_result *r);
/* Of a run in which some targets failed: the worst of theirs. */
int failure_status(const struct capture_result *r);

#endif

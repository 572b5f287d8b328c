#ifndef STBUILD_CMD_TARGETS_H
#define STBUILD_CMD_TARGETS_H

/*
 * What the command line asks for, as capture requests: NAME, NAME@FRAMES, or
 * nothing (all traces), with the options of one-off captures; and sounds,
 * sound:NAME, which nothing means as well as long as no such option is given.
 */

#include "project/manifest.h"
#include "project/variant.h"
#include "capture/capture.h"
#include "util/args.h"
#include "util/err.h"

struct target_options {                    /* zeroed: none given */
	const char *frame, *time, *frames; /* as written, or null */
	long width, height;                /* 0: not given */
	double fps;                        /* 0: not given */
	const char *preset;
	struct args_list set;
	int include_intermediates;
	const char *output; /* -o */
};

struct targets {
	struct capture_request *request;
	size_t nrequest;
	int **frame; /* owned lists of the requests */
	int *sound;  /* sound passes, none twice */
	size_t nsound;
	struct variant_options variant;
	char *output; /* absolute path, or null */
};

/*
 * Every fault is STATUS_INPUT; an unknown name gets a suggestion. Request
 * names are borrowed from the manifest.
 */
int targets_find(const struct manifest *m, const struct target_options *o,
    const struct args_list *operand, struct targets *out, struct err *err) WARN_UNUSED;
/*
 * Brings them up to date, or only plans it: capture_run for a session, at its
 * commit if it is at one. A driver that proves to be another than recorded
 * starts the run anew. progress may be null.
 */
struct session;
int targets_capture(struct session *s, const struct targets *t, int plan,
    void (*progress)(void *data, const struct capture_progress *p),
    struct capture_result *result, struct err *err) WARN_UNUSED;
void targets_release(struct targets *t);

#endif

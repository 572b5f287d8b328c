#ifndef STBUILD_CAPTURE_CAPTURE_H
#define STBUILD_CAPTURE_CAPTURE_H

/*
 * Brings bundles up to date: the whole pipeline, from requests to folders on
 * disk. One call handles all requests of a run; those of one variant share one
 * plan and one sweep.
 */

#include <stddef.h>
#include <stdint.h>

#include "graph/record.h"
#include "graph/reason.h"
#include "project/manifest.h"
#include "project/variant.h"
#include "store/store.h"
#include "capture/programs.h"
#include "util/err.h"
#include "vcs/repo.h"

struct capture_progress {
	uint64_t ndone, ntotal; /* draws */
	uint64_t left_ns;       /* expected; 0 when not known */
	const char *what;       /* "hero@120" */
};

/* What a capture works with. All borrowed. */
struct capture_env {
	const char *root; /* the project's folder */
	const struct manifest *manifest;
	struct tree *tree;
	const struct inputs *manifest_inputs; /* of the manifest itself */
	struct program_env programs;          /* store, driver, worker */
	/* Starts one more worker for -j; owned by the capture. */
	int (*new_worker)(void *data, struct worker **out, struct err *err);
	void *data;
	struct repo *repo;  /* or null */
	const char *commit; /* tree is of this one; null: the work tree */
	int jobs;
	int keep_going;
	int always;  /* -B */
	int dry_run; /* -n, status: plans only */
	/*
	 * What two records of a bundle (under dry_run), and two drivers, say of
	 * the change between them: why/compare.h. Null: nobody asks.
	 */
	void (*compare)(const struct record *was, const struct record *now,
	    struct reasons *out);
	void (*compare_drivers)(const struct facts *was, const struct facts *now,
	    struct reasons *out);
	/* Called now and then; null for none. */
	void (*progress)(void *data, const struct capture_progress *p);
};

struct capture_request {
	const struct trace *trace; /* or null: the project's own defaults */
	const char *name;          /* of the bundle: "hero" */
	const int *frame;          /* ascending */
	size_t nframe;
	const struct variant_options *options;
	int include_intermediates;
	int is_one_off;   /* goes to target/captures */
	const char *path; /* -o; null: the usual place */
};

enum capture_status {
	CAPTURE_CURRENT,
	CAPTURE_RETAGGED,
	CAPTURE_RESTORED,
	CAPTURE_ASSEMBLED,
	CAPTURE_BUILT,
	CAPTURE_FAILED,
	CAPTURE_STALE /* under dry_run; else the run ended before it */
};
const char *capture_status_name(enum capture_status s);

struct capture_bundle { /* one a request and frame, in order */
	char *name;
	int frame;         /* -1: a sound has none (trace/sound.h) */
	int width, height; /* of its picture; 0 for a sound */
	double time;       /* of its frame, seconds */
	char *path;
	enum capture_status status;
	struct sha256 inputs_id; /* CURRENT: over all that it was judged by */
	struct err err;          /* FAILED */
	/* Under dry_run: */
	struct reasons reasons; /* why it is not current; one at least */
	uint64_t ndraw, nload;  /* of its variant's plan up to here */
	uint64_t expected_ns;
};

struct capture_counts {
	uint64_t nodes_drawn, nodes_loaded, nodes_reused, programs_compiled;
	uint64_t traces_built, traces_current, failures;
};

struct capture_result {
	struct capture_bundle *bundle;
	size_t nbundle;
	struct capture_counts counts;
	struct errs more;      /* of sources, behind each bundle's first */
	uint64_t expected_ns;  /* under dry_run: of all draws */
	struct reasons driver; /* what differs, when it is another one */
	struct inputs inputs;  /* all that the bundles rest on */
	int has_git_fault;     /* the repository could not be read (a warning said so) */
	int signal;            /* the run was interrupted by it; else 0 */
};

/*
 * Returns 0 when every bundle is up to date (or was planned), -1 when the run
 * as a whole failed (err). A target that failed is in its bundle's err; the
 * run then ends there unless keep_going. result is to be released either way.
 */
int capture_run(const struct capture_env *env, const struct capture_request *request,
    size_t nrequest, struct capture_result *result, struct err *err) WARN_UNUSED;
void capture_result_release(struct capture_result *r);

#endif

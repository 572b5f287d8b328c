#ifndef STBUILD_VERIFY_SUITE_H
#define STBUILD_VERIFY_SUITE_H

/*
 * The regression suite: tests of the manifest, the captures that they rest on,
 * and verdicts from the bundles (stbuild.json(5)). A test has
 * a case for each of its frames in each of its sizes. A verdict rests on the
 * test's own keys and the content of what was judged, and is kept in the store
 * under their hash; budgets alone are judged each time, by recorded timings.
 */

#include <cjson/cJSON.h>

#include "util/tree.h"
#include "store/store.h"
#include "capture/capture.h"
#include "verify/baseline.h"
#include "verify/replay.h"

/* What is wrong, in a word for programs: suite_code_name. */
enum suite_code {
	SUITE_PASSED,
	SUITE_MISMATCH,          /* a value is beyond its limit */
	SUITE_MISSING_REFERENCE, /* the file to compare with is not there */
	SUITE_NO_BASELINE,       /* nobody accepted a picture yet */
	SUITE_COMPILE,
	SUITE_TIMEOUT,
	SUITE_CRASH,
	SUITE_MEMORY,
	SUITE_ERROR /* anything else kept it from being judged */
};

enum { SUITE_EXPECTED, SUITE_ACTUAL, SUITE_DIFFERENCE, SUITE_PICTURES };

/* What a case was held to, one thing each. */
struct suite_check {
	char *metric; /* "rmse", "nan", "storage:NAME" */
	int is_ok;
	enum suite_code code; /* of one that fails */
	int has_value;
	double value;
	int nlimit; /* 1, or 2: lowest and highest */
	double limit[2];
	char *message; /* what is wrong, or a note; or null */
};

struct suite_case {
	const struct test *test;
	char *variant;               /* "320x180@10" */
	char *path, *reference_path; /* bundles, from the root; or null */
	int frame, width, height;    /* of the output */
	size_t base;                 /* the same frame in the first size */
	/* Behind suite_judge: */
	struct err fault; /* why it could not be judged; or empty */
	struct suite_check *check;
	size_t ncheck;
	int is_ok, is_cached;
	char *picture[SUITE_PICTURES]; /* of one that fails, from the root; or null */
	double seconds;                /* its bundles' last draws, and judging */
	/* Private. */
	size_t owner;
	struct variant_options option[2];
};

struct suite {
	const struct manifest *manifest; /* borrowed */
	struct suite_case *item;
	size_t ncase;
	struct capture_request *request; /* for capture_run, in one go */
	size_t nrequest;
	uint64_t nreplay; /* renderings for determinism */
	/* Private. */
	struct suite_test *test;
	size_t ntest;
};

/*
 * The tests whose name has one of name[n] in it, or with is_exact is one of
 * them; all for n = 0. A name that no test has is STATUS_INPUT, with a
 * suggestion. folder is where their bundles and pictures go, from the root: a
 * folder for each test.
 */
int suite_open(const struct manifest *m, const char *const *name, size_t n, int is_exact,
    const char *folder, struct suite *out, struct err *err) WARN_UNUSED;
void suite_close(struct suite *s);

struct suite_env { /* all borrowed */
	const char *root;
	struct tree *tree; /* references and fixtures */
	struct store *store;
	const struct sha256 *driver;
	const char *driver_class;
	const struct baselines *baselines;
	struct replay_env replay; /* a fresh worker at each call */
	int always;               /* -B: no kept verdict counts */
};

/*
 * Judges all cases, from what capture_run made of the requests. -1 when the run
 * as a whole ended; a case that cannot be judged has its fault.
 */
int suite_judge(const struct suite_env *env, struct suite *s,
    const struct capture_result *result, struct err *err) WARN_UNUSED;

/*
 * The picture of a case as PNG, and what speaks for and against taking it as the
 * reference.
 */
struct suite_picture {
	struct buf png;
	/*
	 * known: the reference is there, in this size; or something is accepted,
	 * this picture with is_equal.
	 */
	int is_known, is_equal;
	struct sha256 sha; /* for baselines */
	double rmse;       /* to the reference */
	int max;           /* difference, of 255 */
	int is_plain;      /* one colour, which rgb is; the reference is not */
	unsigned char rgb[3];
	char *nan; /* the pass that has NaN at this frame; or null */
};
void suite_picture_release(struct suite_picture *p);
/* 1 when a check against the reference fails, or nothing could be judged. */
int suite_is_other_picture(const struct suite_case *c);
int suite_picture(const struct suite_env *env, const struct suite *s,
    const struct suite_case *c, struct suite_picture *out, struct err *err) WARN_UNUSED;

/* Baselines ------------------------------------------------------------------- */

/* The first of the manifest's classes that fits, else one of our own: owned. */
char *suite_driver_class(const struct manifest *m, const char *renderer);
/* The file of a tree; empty when there is none. */
int suite_read_baselines(struct tree *tree, struct baselines *out,
    struct err *err) WARN_UNUSED;
/* A case's name, frame, size and class, borrowed. */
void suite_baseline(const struct suite_env *env, const struct suite_case *c,
    struct baseline *out);
/* Where the picture of an accepted hash is kept to be shown; owned. */
char *suite_baseline_path(const char *root, const struct sha256 *sha);

/* Reports ------------------------------------------------------------------- */

/* SUITE_PASSED, or why it did not. */
enum suite_code suite_code(const struct suite_case *c);
/* "mismatch"; null for SUITE_PASSED. */
const char *suite_code_name(enum suite_code code);
/* "passed", "failed", "no-baseline" or "error". */
const char *suite_status_name(const struct suite_case *c);
/* "rmse is 0.2, limit 0.002: the pictures differ"; of a fault its text. */
char *suite_explain(const struct suite_case *c);
/* What decides: the first check that fails, else the first; null: none. */
const struct suite_check *suite_deciding(const struct suite_case *c);
/*
 * TAP version 13, appended. With allow_new, cases without a baseline are marked
 * TODO: they fail without the run failing.
 */
void suite_tap(const struct suite *s, int allow_new, struct buf *out);
/*
 * root is the absolute path of the project, for attachments. With allow_new,
 * cases without a baseline were skipped.
 */
void suite_junit(const struct suite *s, const char *root, int allow_new, struct buf *out);
/*
 * For GitHub: a line for each failure, and a table in Markdown. prefix is the
 * path of the project in its repository, with a slash at its end, or "".
 */
void suite_annotations(const struct suite *s, const char *prefix, struct buf *out);
void suite_summary(const struct suite *s, const char *prefix, struct buf *out);
/* "tests": owned by the caller. */
cJSON *suite_json(const struct suite *s);

#endif

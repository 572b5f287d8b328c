#ifndef STBUILD_VERIFY_SUITE_IMPL_H
#define STBUILD_VERIFY_SUITE_IMPL_H

/*
 * Private to the suite. suite.c selects tests and keeps verdicts; suite_judge.c
 * judges one case; suite_report.c writes reports.
 */

#include "format/ststate.h"
#include "verify/picture.h"
#include "verify/suite.h"

/* A test that was selected. */
struct suite_test {
	const struct test *test;
	char *name;                  /* of its captures: "test:NAME" */
	char *folder;                /* from the root */
	char *text;                  /* its keys, as JSON */
	char **set, **reference_set; /* "NAME=VALUE" */
};

struct judging;

/* Checks: a new one that holds, and what is wrong. */
struct suite_check *judge_check(struct suite_case *c, const char *metric);
__attribute__((format(printf, 2, 3))) void judge_fail(struct suite_check *check,
    const char *fmt, ...);
int judge_is_image(const struct manifest *m, int pass);
/*
 * Writes what a failure looks like; of an earlier one nothing stays. expected
 * may be empty.
 */
int judge_show(const struct judging *j, const struct picture *expected, int is_ok,
    struct err *err) WARN_UNUSED;

/* A bundle as tests look at it. */
struct judged {
	struct bundle bundle;
	struct buf file; /* state.ststate; empty: not read, or none */
	struct state state;
	struct picture picture; /* of the tested pass */
	float *texel;           /* RGBA, bottom row first (the image: top) */
	size_t at;              /* in the state; 0: the image */
};

struct judging {
	const struct suite_env *env;
	struct suite *suite;
	struct suite_case *item;
	const struct suite_test *owner;
	struct judged self;
	/* Read when it comes to them. */
	struct judged other; /* of reference_uniforms */
	struct judged base;  /* in the first size */
	struct inputs files; /* it compares with, as the key has them */
};

/* Opens the bundle; the rest is read by judged_load. */
int judged_open(const char *root, const char *path, struct judged *out,
    struct err *err) WARN_UNUSED;
/*
 * Picture, state and texels of a pass (an index, or -1 for the image). What the
 * bundle does not have leaves the fields null.
 */
int judged_load(struct judged *v, const struct manifest *m, int pass,
    struct err *err) WARN_UNUSED;
void judged_close(struct judged *v);

/* Of the values: of 8-bit RGB for the image, else of floats. */
void judge_hash(const struct judged *v, struct sha256 *out);
int judge_baseline(struct judging *j, struct err *err) WARN_UNUSED;
/*
 * The accepted picture that v is, else the last one; empty when there is none,
 * or it was not seen here.
 */
void judge_accepted(const struct suite_env *env, const struct suite_case *c,
    const struct judged *v, struct picture *out);
struct encoder;
/* What is accepted goes into the verdict's key. */
void judge_encode_baseline(struct encoder *e, const struct judging *j);

/* Appends all checks but budgets. */
int judge_case(struct judging *j, struct err *err) WARN_UNUSED;
/* Appends those of budgets. */
void judge_budgets(struct judging *j);
/* Recorded milliseconds of a pass (null: of all); -1 when there are none. */
double judge_timing(const struct bundle *b, const char *pass);
/* "expected", "actual", "diff": of SUITE_PICTURES. */
extern const char *const judge_picture_name[SUITE_PICTURES];
/* "FOLDER/VARIANT-what.png", from the current folder. */
char *judge_picture_path(const struct judging *j, const char *what);

/*
 * The reference of a test, noted in files (may be null): 0, with an empty *out
 * and *why when there is none.
 */
int judge_read_reference(const struct suite_env *env, const char *name,
    struct inputs *files, struct picture *out, char **why, struct err *err) WARN_UNUSED;

/* Checks as JSON, for kept verdicts and reports. */
cJSON *suite_checks_json(const struct suite_case *c);
void suite_add_check(cJSON *json, const struct suite_check *c);

/* A file of the tree: 1 and its hash, 0 when it is not there or no file. */
int suite_file(struct tree *tree, const char *path, char **resolved, struct sha256 *sha,
    struct err *err) WARN_UNUSED;

#endif

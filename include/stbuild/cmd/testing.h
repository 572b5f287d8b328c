#ifndef STBUILD_CMD_TESTING_H
#define STBUILD_CMD_TESTING_H

/* A session's tests, captured: for test, approve and bisect. */

#include "cmd/session.h"
#include "capture/capture.h"
#include "verify/suite.h"

struct testing {
	struct session *session; /* open; borrowed */
	struct suite suite;
	struct capture_result result;
	char *driver_class; /* behind testing_env */
	struct baselines baselines;
	/* The worker of a second rendering, a new one each. */
	struct worker *worker;
};

/* The tests that the names select, as in suite_open. */
int testing_open(struct testing *t, struct session *s, const struct args_list *name,
    int is_exact, struct err *err) WARN_UNUSED;
/* Brings all that they rest on up to date, in one run, or only plans it. */
int testing_capture(struct testing *t, int plan, struct err *err) WARN_UNUSED;
int testing_judge(struct testing *t, struct err *err) WARN_UNUSED;
/* For suite_picture. */
int testing_env(struct testing *t, struct suite_env *out, struct err *err) WARN_UNUSED;
void testing_close(struct testing *t);

#endif

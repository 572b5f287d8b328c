#include "cmd/testing.h"

#include <stdlib.h>

#include "cmd/targets.h"
#include "util/mem.h"

int testing_open(struct testing *t, struct session *s, const struct args_list *name,
    int is_exact, struct err *err)
{
	char *folder = s->commit[0] ? xasprintf("target/revisions/%.12s/tests", s->commit)
				    : xstrdup("target/tests");
	int rc;

	*t = (struct testing){ .session = s };
	rc = suite_open(&s->manifest, name->item, name->nitem, is_exact, folder,
	    &t->suite, err);
	free(folder);
	return rc;
}

int testing_capture(struct testing *t, int plan, struct err *err)
{
	struct targets targets = { .request = t->suite.request,
		.nrequest = t->suite.nrequest };

	/* One test that cannot be drawn says nothing about the next. */
	t->session->options->keep_going = 1;
	return targets_capture(t->session, &targets, plan, NULL, &t->result, err);
}

static int fresh_worker(void *data, struct worker **out, struct err *err)
{
	struct testing *t = data;
	struct worker_options options;

	worker_close(t->worker);
	t->worker = NULL;
	session_worker_options(t->session, &options);
	if (worker_open(&options, &t->worker, err))
		return -1;
	*out = t->worker;
	return 0;
}

static int driver(void *data, const struct driver_row **out, struct err *err)
{
	struct testing *t = data;

	return session_driver(t->session, out, err);
}

int testing_env(struct testing *t, struct suite_env *out, struct err *err)
{
	struct session *s = t->session;
	const struct driver_row *row;
	struct store *store;

	if (session_driver(s, &row, err) || session_store(s, &store, err))
		return -1;
	if (!t->driver_class) {
		if (suite_read_baselines(s->tree, &t->baselines, err))
			return -1;
		t->driver_class = suite_driver_class(&s->manifest, row->renderer);
	}
	*out = (struct suite_env){ .root = s->root,
		.tree = s->tree,
		.store = store,
		.driver = &row->identity,
		.driver_class = t->driver_class,
		.baselines = &t->baselines,
		.replay = { fresh_worker, driver, t, NULL, 1 },
		.always = s->options->always };
	return 0;
}

int testing_judge(struct testing *t, struct err *err)
{
	struct suite_env env;

	return testing_env(t, &env, err) ? -1
					 : suite_judge(&env, &t->suite, &t->result, err);
}

void testing_close(struct testing *t)
{
	worker_close(t->worker);
	capture_result_release(&t->result);
	suite_close(&t->suite);
	free(t->driver_class);
	baselines_release(&t->baselines);
	*t = (struct testing){ .session = NULL };
}

#include "cmd/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/output.h"
#include "config.h"
#include "cmd/targets.h"
#include "cmd/testing.h"
#include "util/fs.h"
#include "util/map.h"
#include "util/mem.h"
#include "util/proc.h"
#include "verify/report.h"

static int traces, tests;
static const char *output;

const struct args_option report_option[] = {
	{ 0, "traces", ARGS_FLAG, &traces, 0, 0, NULL,
	    "show the bundles of all traces (the default without tests)" },
	{ 0, "tests", ARGS_FLAG, &tests, 0, 0, NULL,
	    "run the tests and show them (the default where there are some)" },
	{ 'o', "output", ARGS_STRING, &output, 0, 0, "DIR",
	    "where to write it [target/report]" },
	OPTION_END,
};

/* The commit and the driver, in a line below the title. */
static int add_meta(struct session *s, struct report *r, struct err *err)
{
	struct repo *repo = session_repo(s);
	struct repo_commit head = { 0 };
	const struct driver_row *driver;

	if (s->commit[0]) {
		report_meta(r, s->commit);
	} else if (repo) {
		if (repo_head(repo, &head, err))
			return -1;
		if (head.id[0])
			report_meta(r, head.describe);
		repo_commit_release(&head);
	}
	if (session_driver(s, &driver, err))
		return -1;
	report_meta(r, driver->renderer);
	report_meta(r, "stbuild " STBUILD_VERSION);
	return 0;
}

/* dir null: the usual place. */
static int begin(struct session *s, const char *dir, const char *what,
    struct report **out, struct err *err)
{
	char *title = xasprintf("%s: %s", s->manifest.name, what);
	char *usual = fs_join(s->root, "target/report");
	int rc = report_open(dir ? dir : usual, title, out, err);

	free(title);
	free(usual);
	if (rc)
		return -1;
	report_graph(*out, &s->manifest);
	return add_meta(s, *out, err);
}

static int end(struct options *o, struct report *r, int status, struct err *err)
{
	char *path;

	if (report_finish(r, &path, err))
		return -1;
	if (o->json) {
		cJSON *json = json_start("report");
		if (status != STATUS_OK)
			json_fail(json);
		cJSON_AddStringToObject(json, "output", path);
		json_print(json);
	} else if (!o->silent) {
		printf("%s\n", path);
	}
	free(path);
	return status;
}

/* Tests --------------------------------------------------------------------------- */

int report_tests(struct testing *t, const char *dir, struct err *err)
{
	struct suite_env env;
	struct report *r = NULL;
	int rc = begin(t->session, dir, "tests", &r, err);

	if (rc == 0)
		rc = testing_env(t, &env, err)
		    ? -1
		    : report_suite(r, &env, &t->suite, &t->result, err);
	if (rc == 0)
		rc = report_finish(r, NULL, err);
	report_close(r);
	return rc;
}

static int show_tests(struct session *s, struct report *r, struct err *err)
{
	static const struct args_list all = { NULL, 0, 0 };
	struct testing t = { 0 };
	struct suite_env env;
	int rc = -1;

	if (testing_open(&t, s, &all, 0, err) || testing_capture(&t, 0, err))
		goto out;
	if (t.result.signal) {
		rc = 128 + t.result.signal;
		goto out;
	}
	if (testing_judge(&t, err) || testing_env(&t, &env, err) ||
	    report_suite(r, &env, &t.suite, &t.result, err))
		goto out;
	rc = STATUS_OK;
	for (size_t i = 0; i < t.suite.ncase; i++)
		if (t.suite.item[i].fault.message || !t.suite.item[i].is_ok)
			rc = STATUS_FAILED;
out:
	testing_close(&t);
	return rc;
}

/* Traces -------------------------------------------------------------------------- */

static int capture_all(struct session *s, struct capture_result *result, struct err *err)
{
	static const struct args_list all = { NULL, 0, 0 };
	const struct target_options none = { 0 };
	struct targets targets = { 0 };
	int rc = targets_find(&s->manifest, &none, &all, &targets, err);

	s->options->keep_going = 1;
	if (rc == 0)
		rc = targets_capture(s, &targets, 0, NULL, result, err);
	targets_release(&targets);
	return rc;
}

static cJSON *frames_of(cJSON *item)
{
	cJSON *list = cJSON_GetObjectItemCaseSensitive(item, "frames");

	return list ? list : cJSON_AddArrayToObject(item, "frames");
}

static int show_frame(struct report *r, cJSON *item, const struct session *s,
    const struct capture_bundle *b, struct err *err)
{
	struct bundle bundle = { 0 };
	char *path = fs_join(s->root, b->path);
	cJSON *frame = cJSON_CreateObject();
	int rc = bundle_open(path, &bundle, err);

	cJSON_AddNumberToObject(frame, "frame", b->frame);
	cJSON_AddItemToArray(frames_of(item), frame);
	if (rc == 0)
		rc = report_final(r, frame, "picture", &bundle, err);
	if (rc == 0 && !cJSON_GetObjectItemCaseSensitive(item, "facts"))
		report_made(item, &bundle, NULL);
	bundle_release(&bundle);
	free(path);
	return rc;
}

/* A case for each trace, with a picture for each of its frames. */
static int show_traces(struct session *s, struct report *r, struct err *err)
{
	struct capture_result result = { 0 };
	cJSON *item = NULL;
	const char *name = NULL;
	int rc = -1, status = STATUS_OK;

	if (capture_all(s, &result, err))
		goto out;
	if (result.signal) {
		rc = 128 + result.signal;
		goto out;
	}
	for (size_t i = 0; i < result.nbundle; i++) {
		const struct capture_bundle *b = &result.bundle[i];
		int is_failed = b->status == CAPTURE_FAILED;
		if (b->frame < 0)
			continue;
		if (is_failed)
			status = STATUS_FAILED;
		if (is_failed || !name || strcmp(name, b->name) != 0)
			item =
			    report_case(r, b->name, "", is_failed ? "error" : "current");
		name = is_failed ? NULL : b->name;
		if (is_failed) {
			char *text = err_text(&b->err);
			cJSON_AddStringToObject(item, "message", text);
			free(text);
		} else if (show_frame(r, item, s, b, err)) {
			goto out;
		}
	}
	rc = status;
out:
	capture_result_release(&result);
	return rc;
}

/* Two revisions -------------------------------------------------------------------- */

struct side {
	struct session session;
	struct capture_result result;
	struct map at; /* "NAME@FRAME": index of its bundle */
};

static int side_open(struct side *side, struct options *o, const char *rev,
    struct err *err)
{
	if (session_open_rev(&side->session, o, "report", SESSION_BUILD, rev, err) ||
	    capture_all(&side->session, &side->result, err))
		return -1;
	for (size_t i = 0; i < side->result.nbundle; i++) {
		const struct capture_bundle *b = &side->result.bundle[i];
		char *name = target_name(b);
		if (b->frame >= 0)
			map_puts(&side->at, name, i);
		free(name);
	}
	/* The next revision's session writes to the same store. */
	session_close_store(&side->session);
	return 0;
}

static void side_close(struct side *side)
{
	map_release(&side->at);
	capture_result_release(&side->result);
	session_close(&side->session);
}

/* The path of a bundle that was made, or null. Owned by the caller. */
static char *side_path(const struct side *side, const char *name)
{
	size_t i = map_gets(&side->at, name);

	return i == MAP_NONE || side->result.bundle[i].status == CAPTURE_FAILED
	    ? NULL
	    : fs_join(side->session.root, side->result.bundle[i].path);
}

static void show_causes(cJSON *item, const struct diff *d)
{
	cJSON *list = cJSON_AddArrayToObject(item, "reasons");

	for (size_t i = 0; i < d->ncause; i++) {
		char *text = xasprintf("%s: %s", d->cause[i].kind, d->cause[i].name);
		cJSON_AddItemToArray(list, cJSON_CreateString(text));
		free(text);
	}
}

static int show_pair(struct report *r, const char *name, const char *a, const char *b,
    struct err *err)
{
	struct diff d = { 0 };
	struct bundle one = { 0 };
	int rc = -1;

	if (!a || !b) {
		cJSON *item = report_case(r, name, "",
		    !a && !b ? "error"
			: b  ? "new"
			     : "gone");
		if (!a && !b)
			return 0;
		rc = bundle_open(a ? a : b, &one, err)
		    ? -1
		    : report_final(r, item, a ? "expected" : "actual", &one, err);
		bundle_release(&one);
		return rc;
	}
	if (diff_open(a, b, &d, err))
		return -1;
	cJSON *item = report_case(r, name, "", d.is_equal ? "equal" : "changed");
	struct comparison c = { .is_equal = 1 };
	if (picture_is_same_size(&d.a.picture, &d.b.picture))
		compare_bytes(d.a.picture.rgb, d.b.picture.rgb,
		    picture_size(&d.a.picture), &c);
	cJSON_AddStringToObject(item, "metric", "rmse");
	cJSON_AddNumberToObject(item, "value", c.rmse);
	report_first(item, &d);
	show_causes(item, &d);
	report_made(item, &d.b.bundle, &d.a.bundle);
	if (report_final(r, item, "expected", &d.a.bundle, err) == 0 &&
	    report_final(r, item, "actual", &d.b.bundle, err) == 0)
		rc = report_layers(r, item, &d.a.bundle, &d.b.bundle, err);
	diff_close(&d);
	return rc;
}

static int show_range(struct options *o, const char *range, struct err *err)
{
	const char *dots = strstr(range, "..");
	char *rev_a = xstrndup(range, (size_t)(dots - range));
	const char *rev_b = dots[2] ? dots + 2 : NULL;
	struct side a = { .result = { 0 } }, b = { .result = { 0 } };
	struct report *r = NULL;
	int rc = -1;

	if (side_open(&a, o, *rev_a ? rev_a : "HEAD", err) ||
	    side_open(&b, o, rev_b, err))
		goto out;
	if (a.result.signal || b.result.signal) {
		rc = 128 + (a.result.signal ? a.result.signal : b.result.signal);
		goto out;
	}
	if (begin(&b.session, output, range, &r, err))
		goto out;
	char *made = xasprintf("expected is %s, actual is %s", *rev_a ? rev_a : "HEAD",
	    rev_b ? rev_b : "the work tree");
	report_meta(r, made);
	free(made);
	for (size_t i = 0; i < a.at.nentry; i++)
		map_puts(&b.at, a.at.entry[i].key, map_gets(&b.at, a.at.entry[i].key));
	for (size_t i = 0; i < b.at.nentry; i++) {
		const char *name = b.at.entry[i].key;
		char *path_a = side_path(&a, name), *path_b = side_path(&b, name);
		int failed = show_pair(r, name, path_a, path_b, err);
		free(path_a);
		free(path_b);
		if (failed)
			goto out;
	}
	rc = end(o, r, STATUS_OK, err);
out:
	report_close(r);
	side_close(&a);
	side_close(&b);
	free(rev_a);
	return rc;
}

int cmd_report(struct options *o, const struct args_list *operand, struct err *err)
{
	struct session s = { 0 };
	struct report *r = NULL;
	const char *range = operand->nitem ? operand->item[0] : NULL;
	int rc = -1;

	if (traces + tests + (range != NULL) > 1)
		return err_set(err, STATUS_INPUT,
		    "--traces, --tests and a range "
		    "are mutually exclusive");
	if (range && !strstr(range, ".."))
		return err_set(err, STATUS_INPUT,
		    "'%s' is not a range of "
		    "revisions, such as HEAD~1..HEAD",
		    range);
	if (proc_catch_signals(err))
		return -1;
	if (range)
		return show_range(o, range, err);
	if (session_open(&s, o, "report", SESSION_BUILD, err))
		goto out;
	int is_suite = tests || (!traces && s.manifest.ntest > 0);
	if (begin(&s, output, is_suite ? "tests" : "traces", &r, err))
		goto out;
	rc = is_suite ? show_tests(&s, r, err) : show_traces(&s, r, err);
	if (rc >= 0 && rc < 128)
		rc = end(o, r, rc, err);
out:
	report_close(r);
	session_close(&s);
	return rc;
}

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/testing.h"
#include "project/value.h"
#include "util/buf.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/proc.h"

/*
 * Where a reference is written, from the current folder: links within the root
 * are followed, and nothing is written outside it.
 */
static int find_place(const struct session *s, const char *reference,
	char **out, struct err *err)
{
	enum tree_kind kind;
	char *resolved = NULL, *folder = fs_dirname(reference);
	int rc = tree_lookup(s->tree, reference, &kind, &resolved, err);

	if (rc == 0 && kind != TREE_FILE && kind != TREE_ABSENT)
		rc = err_set(err, STATUS_INPUT, "reference %s is no file "
			"inside the project", reference);
	*out = rc == 0 ? fs_join(s->root, resolved ? resolved : reference) :
		NULL;
	free(resolved);
	/* The nearest folder that is there must be in the project. */
	while (rc == 0 && kind == TREE_ABSENT) {
		resolved = NULL;
		rc = tree_lookup(s->tree, folder, &kind, &resolved, err);
		free(resolved);
		if (rc == 0 && kind != TREE_FOLDER && kind != TREE_ABSENT)
			rc = err_set(err, STATUS_INPUT, "reference %s is not "
				"in a folder of the project", reference);
		char *up = fs_dirname(folder);
		free(folder);
		folder = up;
	}
	free(folder);
	if (rc != 0) {
		free(*out);
		*out = NULL;
	}
	return rc;
}

static int write_reference(const struct session *s, const char *reference,
	const struct buf *png, struct err *err)
{
	char *path = NULL, *folder = NULL;
	int rc = find_place(s, reference, &path, err);

	if (rc == 0) {
		folder = fs_dirname(path);
		rc = fs_mkdirs(folder, err);
	}
	if (rc == 0)
		rc = fs_write(path, png->data, png->len, 1, err);
	free(folder);
	free(path);
	return rc;
}

static cJSON *case_json(const struct suite_case *c, const char *status,
	const struct suite_picture *p)
{
	cJSON *json = cJSON_CreateObject();

	cJSON_AddStringToObject(json, "name", c->test->name);
	cJSON_AddStringToObject(json, "variant", c->variant);
	cJSON_AddStringToObject(json, "reference", c->test->reference);
	cJSON_AddStringToObject(json, "status", status);
	cJSON_AddItemToObject(json, "rmse", p->is_known ?
		cJSON_CreateNumber(p->rmse) : cJSON_CreateNull());
	return json;
}

static int approve(struct testing *t, const struct suite_env *env,
	const struct suite_case *c, cJSON *list, struct err *err)
{
	const struct options *o = t->session->options;
	struct suite_picture p = { .is_known = 0 };
	struct buf text = BUF_INIT;
	int rc = suite_picture(env, &t->suite, c, &p, err);
	int is_equal = p.is_known && p.is_equal;

	if (rc == 0 && !is_equal && !o->dry_run)
		rc = write_reference(t->session, c->test->reference, &p.png,
			err);
	if (rc == 0) {
		cJSON_AddItemToArray(list, case_json(c, is_equal ? "unchanged" :
			o->dry_run ? "stale" : "written", &p));
		if (p.is_known)
			print_double(p.rmse, &text);
		if (!o->json && !o->silent)
			printf("%s: %s %s%s%s%s\n", c->test->name,
				c->test->reference, is_equal ? "is unchanged" :
				o->dry_run ? "would be written" : "written",
				is_equal ? "" : p.is_known ?
				", rmse to the old one " :
				", there was none of this size",
				is_equal ? "" : buf_str(&text), "");
	}
	if (rc != 0)
		err_wrap(err, "while approving '%s'", c->test->name);
	buf_release(&text);
	buf_release(&p.png);
	return rc;
}

/* The tests among those selected that have a picture; the rest are left out. */
static int has_reference(const struct suite *s)
{
	for (size_t i = 0; i < s->ncase; i++)
		if (s->item[i].test->reference)
			return 1;
	return 0;
}

/* A capture that failed: nothing is written for any test. */
static int check_captures(const struct testing *t, struct err *err)
{
	const struct capture_result *r = &t->result;

	for (size_t i = 0; i < r->nbundle; i++) {
		const struct err *e = &r->bundle[i].err;
		if (r->bundle[i].status != CAPTURE_FAILED)
			continue;
		err_set(err, e->status, "%s", e->message);
		err_place(err, e->file, e->line, e->column, e->key);
		return err_wrap(err, "nothing is approved");
	}
	return 0;
}

static int run(struct testing *t, struct err *err)
{
	const struct options *o = t->session->options;
	struct suite_env env;
	cJSON *json = json_start("approve");
	cJSON *list = cJSON_AddArrayToObject(json, "tests");
	int rc = testing_env(t, &env, err);

	for (size_t i = 0; i < t->suite.ncase && rc == 0; i++)
		if (t->suite.item[i].test->reference)
			rc = approve(t, &env, &t->suite.item[i], list, err);
	if (rc == 0 && o->json) {
		json_print(json);
		json = NULL;
	}
	cJSON_Delete(json);
	return rc;
}

int cmd_approve(struct options *o, const struct args_list *operand,
	struct err *err)
{
	const char *ci = getenv("CI");
	struct session s = { 0 };
	struct testing t = { 0 };
	int rc = -1;

	if (ci && *ci && strcmp(ci, "0") != 0 && strcmp(ci, "false") != 0)
		return err_set(err, STATUS_INPUT, "CI is set: references are "
			"approved by people who have looked at them");
	if (session_open(&s, o, "approve", SESSION_BUILD, err) ||
	    testing_open(&t, &s, operand, 0, err))
		goto out;
	if (!has_reference(&t.suite)) {
		err_set(err, STATUS_INPUT, "none of these tests has a "
			"reference picture");
		goto out;
	}
	if (proc_catch_signals(err) || testing_capture(&t, 0, err))
		goto out;
	if (t.result.signal)
		rc = 128 + t.result.signal;
	else if (check_captures(&t, err) == 0)
		rc = run(&t, err);
out:
	testing_close(&t);
	session_close(&s);
	return rc;
}

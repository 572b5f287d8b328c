#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/output.h"
#include "cmd/testing.h"
#include "util/buf.h"
#include "util/fs.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/proc.h"

static int all, add, force, interactive;
static const char *why_accepted;

const struct args_option approve_option[] = {
	{ 0, "all", ARGS_FLAG, &all, 0, 0, NULL,
	    "also rewrite references whose tests pass" },
	{ 0, "force", ARGS_FLAG, &force, 0, 0, NULL,
	    "write even pictures of one colour or with NaN" },
	{ 0, "add", ARGS_FLAG, &add, 0, 0, NULL, "keep what baselines accept already" },
	{ 'm', "message", ARGS_STRING, &why_accepted, 0, 0, "REASON",
	    "why, for the file of baselines" },
	{ 'i', "interactive", ARGS_FLAG, &interactive, 0, 0, NULL,
	    "ask for each picture" },
	OPTION_END,
};

struct approval {
	struct testing testing;
	int nrefused;
	struct baselines baselines; /* as they will be written */
	int has_new;                /* they differ from the file */
	char commit[41];            /* HEAD, or "" */
	char answer;                /* 'a', 'q': what follows is answered */
};

/*
 * Where a reference is written, from the current folder: links within the root
 * are followed, and nothing is written outside it.
 */
static int find_place(const struct session *s, const char *reference, char **out,
    struct err *err)
{
	enum tree_kind kind;
	char *resolved = NULL, *folder = fs_dirname(reference);
	int rc = tree_lookup(s->tree, reference, &kind, &resolved, err);

	if (rc == 0 && kind != TREE_FILE && kind != TREE_ABSENT)
		rc = err_set(err, STATUS_INPUT,
		    "reference %s is not a file "
		    "inside the project",
		    reference);
	*out = rc == 0 ? fs_join(s->root, resolved ? resolved : reference) : NULL;
	free(resolved);
	/* The nearest folder that is there must be in the project. */
	while (rc == 0 && kind == TREE_ABSENT) {
		resolved = NULL;
		rc = tree_lookup(s->tree, folder, &kind, &resolved, err);
		free(resolved);
		if (rc == 0 && kind != TREE_FOLDER && kind != TREE_ABSENT)
			rc = err_set(err, STATUS_INPUT,
			    "reference %s is not "
			    "in a folder of the project",
			    reference);
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

/* What a case's picture is accepted in. */
static const char *place_of(const struct suite_case *c)
{
	return c->test->baseline ? BASELINE_FILE : c->test->reference;
}

/* Notes a baseline, and keeps its picture to be shown. */
static int accept_baseline(struct approval *a, const struct suite_env *env,
    const struct suite_case *c, const struct suite_picture *p, struct err *err)
{
	struct baseline item;
	char *path = suite_baseline_path(env->root, &p->sha);
	char *folder = fs_dirname(path);

	suite_baseline(env, c, &item);
	item.sha = p->sha;
	item.reason = (char *)(uintptr_t)why_accepted;
	memcpy(item.commit, a->commit, sizeof item.commit);
	if (!add)
		baselines_remove(&a->baselines, &item);
	baselines_add(&a->baselines, &item);
	a->has_new = 1;
	int rc = fs_mkdirs(folder, err) || fs_write(path, p->png.data, p->png.len, 0, err)
	    ? -1
	    : 0;
	free(folder);
	free(path);
	return rc;
}

/* All that was accepted, in one go. */
static int write_baselines(const struct approval *a, struct err *err)
{
	struct buf text = BUF_INIT;

	if (!a->has_new)
		return 0;
	baselines_print(&a->baselines, &text);
	int rc = write_reference(a->testing.session, BASELINE_FILE, &text, err);
	buf_release(&text);
	return rc;
}

/* What happens to a reference. */
enum fate { FATE_UNCHANGED, FATE_KEPT, FATE_REFUSED, FATE_STALE, FATE_WRITTEN };

static const char *const fate_name[] = { "unchanged", "kept", "refused", "stale",
	"written" };

static cJSON *case_json(const struct suite_case *c, enum fate fate,
    const struct suite_picture *p, const char *reason)
{
	cJSON *json = cJSON_CreateObject();

	cJSON_AddStringToObject(json, "name", c->test->name);
	cJSON_AddStringToObject(json, "variant", c->variant);
	cJSON_AddStringToObject(json, "reference", place_of(c));
	cJSON_AddStringToObject(json, "status", fate_name[fate]);
	cJSON_AddItemToObject(json, "rmse",
	    p->is_known && !c->test->baseline ? cJSON_CreateNumber(p->rmse)
					      : cJSON_CreateNull());
	cJSON_AddItemToObject(json, "max",
	    p->is_known && !c->test->baseline ? cJSON_CreateNumber(p->max)
					      : cJSON_CreateNull());
	cJSON_AddItemToObject(json, "reason",
	    reason ? cJSON_CreateString(reason) : cJSON_CreateNull());
	return json;
}

/* Why nobody should take this for a reference unseen; or null. */
static char *find_objection(const struct suite_picture *p)
{
	if (p->nan)
		return xasprintf("pass '%s' has NaN at this frame", p->nan);
	if (p->is_plain)
		return xasprintf("the picture is of one colour, (%d, %d, %d)", p->rgb[0],
		    p->rgb[1], p->rgb[2]);
	return NULL;
}

/* "new", or "RMSE 0.1554, max 95/255 vs the old one". */
static char *numbers(const struct suite_case *c, const struct suite_picture *p)
{
	if (p->is_known && c->test->baseline)
		return xasprintf("%s at %s is another picture", c->test->name,
		    c->variant);
	if (c->test->baseline)
		return xasprintf("new, %s", c->variant);
	return p->is_known
	    ? xasprintf("RMSE %.4g, max %d/255 vs the old one", p->rmse, p->max)
	    : xstrdup("new");
}

/* On the terminal: 1 for yes; no more is asked after 'a' and 'q'. */
static int ask(struct approval *a, const struct suite_case *c,
    const struct suite_picture *p, const char *objection)
{
	char line[64], *number = numbers(c, p);

	while (!a->answer) {
		fprintf(stderr, "%s %s: write %s (%s)%s%s? [y,n,a,q] ", c->test->name,
		    c->variant, place_of(c), number, objection ? ", although " : "",
		    objection ? objection : "");
		fflush(stderr);
		if (!fgets(line, sizeof line, stdin))
			line[0] = 'q';
		if (line[0] == 'a' || line[0] == 'q')
			a->answer = line[0];
		if (line[0] == 'y' || line[0] == 'n' || a->answer)
			break;
		fprintf(stderr,
		    "y: write it, n: keep the old one, a: write it and "
		    "all that follow, q: write no more\n");
	}
	free(number);
	return a->answer ? a->answer == 'a' : line[0] == 'y';
}

static enum fate decide(struct approval *a, const struct suite_case *c,
    const struct suite_picture *p, const char *objection)
{
	const struct options *o = a->testing.session->options;

	if (p->is_known && p->is_equal)
		return FATE_UNCHANGED;
	if (!all && p->is_known && !suite_is_other_picture(c))
		return FATE_KEPT;
	if (o->dry_run)
		return objection && !force ? FATE_REFUSED : FATE_STALE;
	if (interactive)
		return ask(a, c, p, objection) ? FATE_WRITTEN : FATE_KEPT;
	return objection && !force ? FATE_REFUSED : FATE_WRITTEN;
}

static void print_fate(const struct suite_case *c, enum fate fate,
    const struct suite_picture *p, const char *objection)
{
	const char *name = c->test->name, *reference = place_of(c);
	char *number = numbers(c, p);

	switch (fate) {
	case FATE_UNCHANGED:
		printf("%s: %s is unchanged\n", name, reference);
		break;
	case FATE_KEPT:
		printf("%s: %s is kept (%s)%s\n", name, reference, number,
		    interactive ? "" : ": the test passes, --all rewrites it");
		break;
	case FATE_REFUSED:
		printf("%s: %s is refused (%s): %s; --force writes it\n", name, reference,
		    number, objection);
		break;
	case FATE_STALE:
		printf("%s: would write %s (%s)\n", name, reference, number);
		break;
	case FATE_WRITTEN:
		printf("%s: %s written (%s)\n", name, reference, number);
		break;
	}
	free(number);
}

static int approve(struct approval *a, const struct suite_env *env,
    const struct suite_case *c, cJSON *list, struct err *err)
{
	struct testing *t = &a->testing;
	const struct options *o = t->session->options;
	struct suite_picture p = { .is_known = 0 };
	char *objection = NULL;
	enum fate fate = FATE_REFUSED;
	int rc = suite_picture(env, &t->suite, c, &p, err);

	if (rc == 0) {
		objection = find_objection(&p);
		fate = decide(a, c, &p, objection);
	}
	if (rc == 0 && fate == FATE_WRITTEN)
		rc = c->test->baseline
		    ? accept_baseline(a, env, c, &p, err)
		    : write_reference(t->session, c->test->reference, &p.png, err);
	if (rc == 0) {
		a->nrefused += fate == FATE_REFUSED && !o->dry_run;
		cJSON_AddItemToArray(list,
		    case_json(c, fate, &p, fate == FATE_REFUSED ? objection : NULL));
		if (!o->json && !o->silent)
			print_fate(c, fate, &p, objection);
	}
	if (rc != 0)
		err_wrap(err, "while approving '%s'", c->test->name);
	free(objection);
	suite_picture_release(&p);
	return rc;
}

/* The tests among those selected that have a picture; the rest are left out. */
static int has_reference(const struct suite *s)
{
	for (size_t i = 0; i < s->ncase; i++)
		if (place_of(&s->item[i]))
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
		err_copy(err, e);
		return err_wrap(err, "nothing was approved");
	}
	return 0;
}

static int run(struct approval *a, struct err *err)
{
	struct testing *t = &a->testing;
	const struct options *o = t->session->options;
	struct suite_env env;
	cJSON *json = json_start("approve");
	cJSON *list = cJSON_AddArrayToObject(json, "tests");
	struct repo *repo = session_repo(t->session);
	int rc = testing_env(t, &env, err);

	if (rc == 0)
		rc = suite_read_baselines(env.tree, &a->baselines, err);
	if (rc == 0 && repo)
		rc = repo_head_id(repo, a->commit, err);
	for (size_t i = 0; i < t->suite.ncase && rc == 0; i++) {
		const struct suite_case *c = &t->suite.item[i];
		if (!place_of(c))
			continue;
		if (force && c->fault.message) {
			log_error("%s: %s was not written: %s", c->test->name,
			    place_of(c), c->fault.message);
			a->nrefused++;
			continue;
		}
		rc = approve(a, &env, c, list, err);
	}
	if (rc == 0)
		rc = write_baselines(a, err);
	if (rc == 0 && a->nrefused) {
		json_fail(json);
		rc = STATUS_FAILED;
	}
	if (rc >= 0 && o->json) {
		json_print(json);
		json = NULL;
	}
	cJSON_Delete(json);
	return rc;
}

int cmd_approve(struct options *o, const struct args_list *operand, struct err *err)
{
	const char *ci = getenv("CI");
	struct session s = { 0 };
	struct approval a = { .answer = 0 };
	struct testing *t = &a.testing;
	int rc = -1;

	if (ci && *ci && strcmp(ci, "0") != 0 && strcmp(ci, "false") != 0)
		return err_set(err, STATUS_INPUT,
		    "refusing to approve in CI "
		    "($CI is set); run it locally after looking at the "
		    "images");
	if (interactive && !isatty(STDIN_FILENO))
		return err_set(err, STATUS_INPUT,
		    "-i needs a terminal, but "
		    "standard input is not one");
	if (session_open(&s, o, "approve", SESSION_BUILD, err) ||
	    testing_open(t, &s, operand, 0, err))
		goto out;
	if (!has_reference(&t->suite)) {
		err_set(err, STATUS_INPUT,
		    "none of these tests has a "
		    "reference picture");
		goto out;
	}
	if (proc_catch_signals(err) || testing_capture(t, 0, err))
		goto out;
	if (t->result.signal)
		rc = 128 + t->result.signal;
	else if ((force || check_captures(t, err) == 0) && testing_judge(t, err) == 0)
		rc = run(&a, err);
out:
	baselines_release(&a.baselines);
	testing_close(t);
	session_close(&s);
	return rc;
}

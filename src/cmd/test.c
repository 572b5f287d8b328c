#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/output.h"
#include "cmd/report.h"
#include "cmd/testing.h"
#include "util/buf.h"
#include "util/fs.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/proc.h"

static const char *rev, *junit, *report;
static int bisect, github, allow_new;

const struct args_option test_option[] = {
	{ 0, "allow-new", ARGS_FLAG, &allow_new, 0, 0, NULL,
	    "cases without a baseline do not make the run fail" },
	{ 0, "github", ARGS_FLAG, &github, 0, 0, NULL,
	    "annotations and a summary for GitHub" },
	{ 0, "junit", ARGS_STRING, &junit, 0, 0, "FILE", "also write a JUnit report" },
	{ 0, "report", ARGS_STRING, &report, 0, 0, "DIR",
	    "also write a page that shows all cases" },
	{ 0, "rev", ARGS_STRING, &rev, 0, 0, "REV",
	    "test a revision, without a checkout" },
	{ 0, "bisect", ARGS_FLAG, &bisect, 0, 0, NULL,
	    "exit as git bisect run expects: 0, 1, 125 or 129" },
	OPTION_END,
};

/* What the cases come to. */
struct tally {
	int npassed, nfailed, nerror, nnew, ncached;
	enum status status; /* the worst */
};

static void count(const struct suite *s, struct tally *out)
{
	*out = (struct tally){ .status = STATUS_OK };
	for (size_t i = 0; i < s->ncase; i++) {
		const struct suite_case *c = &s->item[i];
		enum status status = STATUS_OK;
		out->ncached += c->is_cached;
		if (c->fault.message) {
			/* What needs too much is at fault, not the machine. */
			out->nerror++;
			status =
			    c->fault.status > STATUS_FAILED && c->fault.kind != ERR_MEMORY
			    ? c->fault.status
			    : STATUS_FAILED;
		} else if (c->is_ok) {
			out->npassed++;
		} else if (suite_code(c) == SUITE_NO_BASELINE) {
			out->nnew++;
			status = allow_new ? STATUS_OK : STATUS_FAILED;
		} else {
			out->nfailed++;
			status = STATUS_FAILED;
		}
		if (status > out->status)
			out->status = status;
	}
}

static cJSON *tally_json(const struct testing *t, const struct tally *n)
{
	const struct capture_counts *c = &t->result.counts;
	cJSON *json = cJSON_CreateObject();

	cJSON_AddNumberToObject(json, "passed", n->npassed);
	cJSON_AddNumberToObject(json, "failed", n->nfailed);
	cJSON_AddNumberToObject(json, "errors", n->nerror);
	cJSON_AddNumberToObject(json, "no_baseline", n->nnew);
	cJSON_AddNumberToObject(json, "cached", n->ncached);
	cJSON_AddNumberToObject(json, "replays", (double)t->suite.nreplay);
	json_add_draws(json, c);
	return json;
}

static void print_json(const struct testing *t, const struct tally *n)
{
	cJSON *json = json_start("test");
	struct errs all = ERRS_INIT;

	for (size_t i = 0; i < t->suite.ncase; i++) {
		const struct err *e = &t->suite.item[i].fault;
		if (e->message)
			errs_add(&all, e->status, e->file, e->line, e->column, e->key,
			    "%s", e->message);
	}
	if (all.nerr > 0)
		json_add_errors(json, &all);
	else if (n->status != STATUS_OK)
		json_fail(json);
	cJSON_AddItemToObject(json, "tests", suite_json(&t->suite));
	cJSON_AddItemToObject(json, "counts", tally_json(t, n));
	json_print(json);
	errs_release(&all);
}

static void report_faults(const struct testing *t)
{
	for (size_t i = 0; i < t->suite.ncase; i++) {
		const struct suite_case *c = &t->suite.item[i];
		if (!c->fault.message)
			continue;
		char *text = err_text(&c->fault);
		log_error("test '%s' at %s: %s", c->test->name, c->variant, text);
		free(text);
	}
	for (size_t i = 0; i < t->result.more.nerr; i++) {
		char *text = err_text(&t->result.more.err[i]);
		log_error("%s", text);
		free(text);
	}
}

static int write_junit(const struct testing *t, struct err *err)
{
	struct buf xml = BUF_INIT;

	char *root = realpath(t->session->root, NULL);
	suite_junit(&t->suite, root ? root : t->session->root, allow_new, &xml);
	free(root);
	int rc = fs_write(junit, xml.data, xml.len, 0, err);
	buf_release(&xml);
	return rc;
}

/* Where the project is in what GitHub has checked out: "sub/", or "". */
static char *find_prefix(const char *folder)
{
	const char *workspace = getenv("GITHUB_WORKSPACE");
	char *real = workspace && *workspace ? realpath(workspace, NULL) : NULL;
	char *root = realpath(folder, NULL);
	size_t n = real ? strlen(real) : 0;
	char *prefix = n > 0 && root && strncmp(root, real, n) == 0 && root[n] == '/'
	    ? xasprintf("%s/", root + n + 1)
	    : xstrdup("");

	free(real);
	free(root);
	return prefix;
}

/* Steps add to the summary's file; those before this one may have. */
static int write_summary(const char *path, const struct buf *text, struct err *err)
{
	FILE *f = fopen(path, "a");

	if (!f)
		return err_errno(err, STATUS_MACHINE, "%s", path);
	int is_written = fwrite(text->data, 1, text->len, f) == text->len;
	if (fclose(f) != 0 || !is_written)
		return err_errno(err, STATUS_MACHINE, "%s", path);
	return 0;
}

static int write_github(const struct testing *t, const struct options *o, struct err *err)
{
	const char *path = getenv("GITHUB_STEP_SUMMARY");
	char *prefix = find_prefix(t->session->root);
	struct buf text = BUF_INIT;
	int rc = 0;

	suite_annotations(&t->suite, prefix, &text);
	/* A document stays one; GitHub reads both streams. */
	if (text.len > 0)
		fputs(buf_str(&text), o->json ? stderr : stdout);
	buf_reset(&text);
	suite_summary(&t->suite, prefix, &text);
	if (path && *path)
		rc = write_summary(path, &text, err);
	buf_release(&text);
	free(prefix);
	return rc;
}

static void print_tap(const struct testing *t, const struct tally *n)
{
	struct buf tap = BUF_INIT;

	suite_tap(&t->suite, allow_new, &tap);
	fputs(buf_str(&tap), stdout);
	buf_release(&tap);
	unsigned long long ndraw = t->result.counts.nodes_drawn;
	char *fresh =
	    n->nnew ? xasprintf(", %d without a baseline", n->nnew) : xstrdup("");
	log_info("%d passed, %d failed, %d %s%s (%d cached, %llu %s)", n->npassed,
	    n->nfailed, n->nerror, n->nerror == 1 ? "error" : "errors", fresh, n->ncached,
	    ndraw, ndraw == 1 ? "draw" : "draws");
	free(fresh);
}

/* -n, -q: what would be drawn, without a verdict. */
static int print_plan(const struct testing *t, const struct options *o)
{
	const struct capture_result *r = &t->result;
	cJSON *list = cJSON_CreateArray();
	int nstale = 0;

	for (size_t i = 0; i < r->nbundle; i++) {
		const struct capture_bundle *b = &r->bundle[i];
		cJSON *json = cJSON_CreateObject();
		nstale += b->status != CAPTURE_CURRENT;
		cJSON_AddStringToObject(json, "path", b->path);
		cJSON_AddStringToObject(json, "status", capture_status_name(b->status));
		cJSON_AddNumberToObject(json, "draws", (double)b->ndraw);
		cJSON_AddItemToArray(list, json);
		if (!o->json && !o->question && !o->silent)
			printf("%s: %s, %llu draws\n", b->path,
			    capture_status_name(b->status), (unsigned long long)b->ndraw);
	}
	if (o->json) {
		cJSON *json = json_start("test");
		cJSON_AddItemToObject(json, "captures", list);
		json_print(json);
	} else {
		cJSON_Delete(list);
	}
	if (r->counts.failures > 0)
		return STATUS_FAILED;
	return o->question && nstale > 0 ? STATUS_FAILED : STATUS_OK;
}

/* Good and bad are the suite's; a commit that does not compile is neither. */
static int bisect_status(const struct tally *n)
{
	if (n->status == STATUS_MACHINE)
		return STATUS_BISECT_STOP;
	return n->nerror > 0 ? STATUS_BISECT_SKIP : n->nfailed + n->nnew > 0;
}

static int run(struct testing *t, struct options *o, struct err *err)
{
	struct tally n;
	int plan = o->dry_run || o->question;

	if (proc_catch_signals(err) || testing_capture(t, plan, err))
		return -1;
	if (t->result.signal)
		return 128 + t->result.signal;
	if (plan)
		return print_plan(t, o);
	if (testing_judge(t, err))
		return -1;
	count(&t->suite, &n);
	report_faults(t);
	if (junit && write_junit(t, err))
		return -1;
	if (report && report_tests(t, report, err))
		return -1;
	if (o->json)
		print_json(t, &n);
	else if (!o->silent)
		print_tap(t, &n);
	const char *actions = getenv("GITHUB_ACTIONS");
	if ((github || (actions && strcmp(actions, "true") == 0)) &&
	    write_github(t, o, err))
		return -1;
	return bisect ? bisect_status(&n) : (int)n.status;
}

int cmd_test(struct options *o, const struct args_list *operand, struct err *err)
{
	struct session s = { 0 };
	struct testing t = { 0 };
	enum session_store use = o->dry_run || o->question ? SESSION_PLAN : SESSION_BUILD;
	int rc = -1;

	if (session_open_rev(&s, o, "test", use, rev, err)) {
		/* A manifest that does not load: another commit may be judged. */
		o->cannot_judge = err->status == STATUS_INPUT && s.root;
		goto out;
	}
	if (testing_open(&t, &s, operand, 0, err)) {
		/* This work tree may not have the test yet. */
		o->cannot_judge = 1;
		goto out;
	}
	rc = run(&t, o, err);
out:
	testing_close(&t);
	session_close(&s);
	return rc;
}

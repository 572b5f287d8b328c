#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/collect.h"
#include "cmd/judge.h"
#include "cmd/output.h"
#include "cmd/range.h"
#include "cmd/session.h"
#include "cmd/targets.h"
#include "util/limits.h"
#include "config.h"
#include "graph/encoder.h"
#include "format/trace_json.h"
#include "capture/unchanged.h"
#include "util/buf.h"
#include "util/fs.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/proc.h"
#include "vcs/walk.h"

static struct target_options target;
static const char *rev, *reference;
static double threshold = -1;

const struct args_option capture_option[] = {
	{ 0, "frame", ARGS_STRING, &target.frame, 0, 0, "N", "capture this frame" },
	{ 0, "time", ARGS_STRING, &target.time, 0, 0, "S",
	    "capture the frame at this time" },
	{ 0, "frames", ARGS_STRING, &target.frames, 0, 0, "LIST",
	    "capture these frames: 0,3,10:20:5" },
	{ 0, "width", ARGS_INT, &target.width, 1, LIMIT_SIZE, "N",
	    "width of the output" },
	{ 0, "height", ARGS_INT, &target.height, 1, LIMIT_SIZE, "N",
	    "height of the output" },
	{ 0, "fps", ARGS_NUMBER, &target.fps, 1e-3, LIMIT_FPS, "N", "frames per second" },
	{ 0, "preset", ARGS_STRING, &target.preset, 0, 0, "NAME",
	    "use this preset of the manifest" },
	{ 0, "set", ARGS_LIST, &target.set, 0, 0, "NAME=VALUE", "set a uniform" },
	{ 0, "include-intermediates", ARGS_FLAG, &target.include_intermediates, 0, 0,
	    NULL, "also write the outputs of each pass" },
	{ 'o', "output", ARGS_STRING, &target.output, 0, 0, "DIR.sttrace",
	    "write the one bundle here" },
	{ 0, "rev", ARGS_STRING, &rev, 0, 0, "REV",
	    "capture a revision, or a range A..B, without a checkout" },
	{ 0, "bisect", ARGS_STRING, &reference, 0, 0, "BUNDLE",
	    "for git bisect run: exit with 0 if the content is that of "
	    "BUNDLE, else 1" },
	{ 0, "threshold", ARGS_NUMBER, &threshold, 0, 1, "M",
	    "with --bisect: count it as bad only if the RMSE exceeds M" },
	OPTION_END,
};

const struct args_option status_option[] = {
	{ 0, "rev", ARGS_STRING, &rev, 0, 0, "REV",
	    "ask about a revision, without a checkout" },
	OPTION_END,
};

/* Progress -------------------------------------------------------------------- */

struct bar {
	int is_shown;
	long long start_ns;
};

static struct bar bar;

static void wipe_bar(void *data)
{
	struct bar *b = data;

	if (!b->is_shown)
		return;
	fputs("\r\033[K", stderr);
	b->is_shown = 0;
}

static void show_progress(void *data, const struct capture_progress *p)
{
	enum { WIDTH = 24 };
	char cells[WIDTH + 1];

	(void)data;
	if (p->ntotal == 0)
		return;
	int full = (int)(p->ndone * WIDTH / p->ntotal);
	if (full > WIDTH)
		full = WIDTH;
	memset(cells, '.', WIDTH);
	memset(cells, '#', (size_t)full);
	cells[WIDTH] = '\0';
	fprintf(stderr, "\r\033[K[%s] %llu/%llu draws", cells,
	    (unsigned long long)p->ndone, (unsigned long long)p->ntotal);
	if (p->ndone > 0) {
		double s = (double)(proc_now_ns() - bar.start_ns) / 1e9 *
		    (double)(p->ntotal - p->ndone) / (double)p->ndone;
		fprintf(stderr, ", %.0f s left", s);
	}
	if (p->what)
		fprintf(stderr, " (%s)", p->what);
	fflush(stderr);
	bar.is_shown = 1;
}

/* Results --------------------------------------------------------------------- */

static void print_json(struct session *s, const char *action, int plan,
    const struct capture_result *r)
{
	cJSON *json = json_start(action);
	struct repo *repo = session_repo(s);
	struct git_state git = { 0 };
	const struct driver_row *driver;
	struct err err = ERR_INIT;

	if (r->counts.failures > 0 || r->signal != 0)
		json_add_failures(json, r);
	cJSON *traces = cJSON_AddArrayToObject(json, "traces");
	for (size_t i = 0; i < r->nbundle; i++)
		cJSON_AddItemToArray(traces, bundle_json(&r->bundle[i], plan));
	cJSON_AddItemToObject(json, "counts", counts_json(&r->counts));
	if (r->driver.nreason > 0)
		cJSON_AddItemToObject(json, "driver_changes",
		    reasons_to_json(&r->driver));
	if (repo &&
	    (s->commit[0] ? repo_resolve(repo, s->commit, &git.head, &err)
			  : repo_head(repo, &git.head, &err)) == 0)
		git.has_head = git.head.id[0] != '\0';
	cJSON *git_section = git_json(&git);
	cJSON_DeleteItemFromObjectCaseSensitive(git_section, "dirty");
	cJSON_DeleteItemFromObjectCaseSensitive(git_section, "dirty_inputs");
	cJSON_AddItemToObject(json, "git", git_section);
	if (session_driver(s, &driver, &err) == 0)
		cJSON_AddItemToObject(json, "driver", driver_json(driver));
	git_state_release(&git);
	err_release(&err);
	json_print(json);
}

/* The run ----------------------------------------------------------------------- */

static int is_stale(const struct capture_result *r)
{
	for (size_t i = 0; i < r->nbundle; i++)
		if (r->bundle[i].status != CAPTURE_CURRENT)
			return 1;
	return 0;
}

/* All that decides what a run has to do, but for files. */
static void identify_request(const struct session *s, const struct args_list *operand,
    struct sha256 *out)
{
	struct encoder e = { BUF_INIT };
	struct fs_stamp tool = { 0 };
	const char *const text[] = { STBUILD_VERSION, s->root, s->path, target.frame,
		target.time, target.frames, target.preset, target.output };

	fs_stamp(proc_self(), &tool);
	encoder_begin(&e, "request");
	encoder_u64(&e, TAG_OBJECT, tool.size);
	encoder_u64(&e, TAG_OBJECT, (uint64_t)tool.mtime_ns);
	for (size_t i = 0; i < sizeof text / sizeof *text; i++)
		encoder_string(&e, text[i] ? TAG_VALUE : TAG_ZERO,
		    text[i] ? text[i] : "");
	encoder_bytes(&e, TAG_SIZE, &target.width, sizeof target.width);
	encoder_bytes(&e, TAG_SIZE, &target.height, sizeof target.height);
	encoder_bytes(&e, TAG_SIZE, &target.fps, sizeof target.fps);
	encoder_u64(&e, TAG_OUTPUT, (uint64_t)target.include_intermediates);
	for (size_t i = 0; i < target.set.nitem; i++)
		encoder_string(&e, TAG_UNIFORM, target.set.item[i]);
	for (size_t i = 0; i < operand->nitem; i++)
		encoder_string(&e, TAG_NAME, operand->item[i]);
	encoder_end(&e, out);
	encoder_release(&e);
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Captures, or plans to, unless a record says that nothing changed. */
static int bring_up_to_date(struct session *s, struct options *o,
    const struct args_list *operand, int plan, struct capture_result *result,
    struct err *err)
{
	struct unchanged_request request = { .root = s->root,
		.store_dir = s->store_dir,
		.device = o->device };
	struct targets targets = { 0 };
	int64_t started_ns = now_ns();
	char head[41] = "";
	int can_skip = !rev && !o->always;
	int rc = -1;

	if (can_skip) {
		identify_request(s, operand, &request.id);
		if (unchanged_check(&request, result)) {
			log_verbose("nothing changed since the last run");
			return 0;
		}
		repo_peek_id(s->root, head);
	}
	if ((!rev && session_load(s, err)) ||
	    targets_find(&s->manifest, &target, operand, &targets, err) ||
	    proc_catch_signals(err) ||
	    targets_capture(s, &targets, plan,
		!plan && isatty(STDERR_FILENO) && !o->silent && !o->json ? show_progress
									 : NULL,
		result, err))
		goto out;
	/* What cannot be read today may be read tomorrow, and tag the bundles. */
	if (can_skip && !plan && s->store && !s->has_repo_fault && !result->has_git_fault)
		unchanged_record(&request, s->store, &s->driver, head, started_ns,
		    &result->inputs, result);
	rc = 0;
out:
	targets_release(&targets);
	return rc;
}

static int capture_or_plan(struct options *o, const struct args_list *operand,
    const char *action, int plan, struct err *err)
{
	struct session s = { 0 };
	struct capture_result result = { 0 };
	int rc = -1;

	bar.start_ns = proc_now_ns();
	log_set_hook(wipe_bar, &bar);
	enum session_store use = plan ? SESSION_PLAN : SESSION_BUILD;
	if (rev ? session_open_rev(&s, o, action, use, rev, err)
		: session_find(&s, o, action, use, err))
		goto out;
	if (bring_up_to_date(&s, o, operand, plan, &result, err))
		goto out;
	wipe_bar(&bar);
	report_driver(&result);
	report_failures(&result);
	if (o->json)
		print_json(&s, action, plan, &result);
	else if (o->question || o->silent)
		;
	else if (plan)
		report_plan(&result);
	else
		report_done(&result, (double)(proc_now_ns() - bar.start_ns) / 1e9);
	if (result.signal != 0)
		rc = 128 + result.signal;
	else if (result.counts.failures > 0)
		rc = failure_status(&result);
	else
		rc = o->question && is_stale(&result) ? STATUS_FAILED : STATUS_OK;
	/* Of another revision's manifest are not the traces that matter. */
	if (!plan && !rev && result.counts.traces_built > 0)
		collect_after_build(&s);
out:
	wipe_bar(&bar);
	log_set_hook(NULL, NULL);
	capture_result_release(&result);
	session_close(&s);
	args_list_release(&target.set);
	return rc;
}

int cmd_capture(struct options *o, const struct args_list *operand, struct err *err)
{
	int is_plan = o->dry_run || o->question;

	if (reference || threshold >= 0 || (rev && walk_is_range(rev))) {
		int rc = reference && !rev && !is_plan
		    ? capture_judge(o, operand, &target, reference, threshold, err)
		    : reference ? err_set(err, STATUS_INPUT,
				      "--bisect "
				      "judges the work tree: omit --rev, -n and -q")
		    : threshold >= 0
		    ? err_set(err, STATUS_INPUT, "--threshold needs --bisect")
		    : is_plan ? err_set(err, STATUS_INPUT,
				    "the cost of a "
				    "range is unknown until it is drawn: omit -n and -q")
			      : capture_range(o, operand, &target, rev, err);
		args_list_release(&target.set);
		return rc;
	}
	return capture_or_plan(o, operand, "capture", is_plan, err);
}

int cmd_status(struct options *o, const struct args_list *operand, struct err *err)
{
	return capture_or_plan(o, operand, "status", 1, err);
}

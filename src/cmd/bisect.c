#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/history.h"
#include "cmd/output.h"
#include "cmd/testing.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/proc.h"
#include "vcs/walk.h"

static const char *good_rev, *bad_rev;
static double threshold = -1;
static int first_parent;

const struct args_option bisect_option[] = {
	{ 0, "good", ARGS_STRING, &good_rev, 0, 0, "REV",
	    "a revision before the change" },
	{ 0, "bad", ARGS_STRING, &bad_rev, 0, 0, "REV", "a revision after it" },
	{ 0, "threshold", ARGS_NUMBER, &threshold, 0, 1, "M",
	    "count a commit as bad only if the RMSE exceeds M" },
	{ 0, "first-parent", ARGS_FLAG, &first_parent, 0, 0, NULL,
	    "follow only the first parent of merges" },
	OPTION_END,
};

struct search {
	struct history history;
	struct walk walk;
	struct bisect bisect;
	int *class; /* a commit of the walk each */
	char good[41], bad[41];
	struct rendering reference; /* of the good commit */
	struct map skipped;         /* ids, in the order found */
	int ntried;                 /* commits that were judged by a capture */
};

/* Judging ------------------------------------------------------------------------ */

/* By its pictures: bad when they are not the good commit's. */
static int judge_pictures(struct search *s, const char *commit, enum verdict *out,
    struct err *err)
{
	struct history *h = &s->history;
	struct rendering now = { .is_known = 0 };
	struct comparison c;
	int rc = history_render(h, commit, &now, err);

	s->ntried++;
	if (rc == 0 && now.fault) {
		*out = VERDICT_SKIP;
		log_info("%.7s cannot be judged: %.*s", commit,
		    (int)strcspn(now.fault, "\n"), now.fault);
	} else if (rc == 0 && threshold < 0) {
		*out = rendering_is_equal(h, &now, &s->reference) ? VERDICT_GOOD
								  : VERDICT_BAD;
	} else if (rc == 0 && !rendering_compare(h, &s->reference, &now, &c)) {
		rc = err_set(err, STATUS_MACHINE,
		    "the pictures of %.7s and "
		    "%.7s cannot be read",
		    s->good, commit);
	} else if (rc == 0) {
		*out = c.rmse > threshold ? VERDICT_BAD : VERDICT_GOOD;
	}
	rendering_release(&now);
	return rc;
}

/* The verdict of a test; a case that cannot be judged leaves the commit out. */
static enum verdict verdict_of(const struct suite *suite)
{
	enum verdict verdict = VERDICT_GOOD;

	for (size_t i = 0; i < suite->ncase; i++) {
		const struct suite_case *c = &suite->item[i];
		if (c->fault.message) {
			log_info("%s at %s cannot be judged: %.*s", c->test->name,
			    c->variant, (int)strcspn(c->fault.message, "\n"),
			    c->fault.message);
			return VERDICT_SKIP;
		}
		if (!c->is_ok)
			verdict = VERDICT_BAD;
	}
	return verdict;
}

static int run_test(struct search *s, enum verdict *out, struct err *err)
{
	struct history *h = &s->history;
	const char *name = h->test;
	const struct args_list list = { &name, 1, 0 };
	struct testing t = { 0 };
	int rc = -1;

	if (testing_open(&t, &h->session, &list, 1, err) || testing_capture(&t, 0, err))
		goto out;
	history_count(h, &t.result.counts);
	if (t.result.signal)
		err_set(err, STATUS_MACHINE, "interrupted");
	else
		rc = testing_judge(&t, err);
	if (rc == 0)
		*out = verdict_of(&t.suite);
out:
	testing_close(&t);
	return rc;
}

/* By the test: a commit without it, or that does not load, is left out. */
static int judge_test(struct search *s, const char *commit, enum verdict *out,
    struct err *err)
{
	struct errs errs = ERRS_INIT;
	struct err cause = ERR_INIT;
	int rc = 0;

	s->ntried++;
	if (session_at(&s->history.session, commit, &errs))
		err_move(&cause, &errs.err[0]);
	else if (run_test(s, out, &cause) == 0)
		goto out;
	if (cause.status == STATUS_MACHINE) {
		err_move(err, &cause);
		rc = err_wrap(err, "while testing commit %.7s", commit);
		goto out;
	}
	*out = VERDICT_SKIP;
	log_info("%.7s cannot be judged: %.*s", commit, (int)strcspn(cause.message, "\n"),
	    cause.message);
out:
	err_release(&cause);
	errs_release(&errs);
	return rc;
}

/* The one place that says what "bad" is. */
static int judge(struct search *s, const char *commit, enum verdict *out, struct err *err)
{
	return s->history.test ? judge_test(s, commit, out, err)
			       : judge_pictures(s, commit, out, err);
}

/* The two ends --------------------------------------------------------------------- */

static int resolve(struct repo *r, const char *rev, const char *option, char id[41],
    struct err *err)
{
	struct repo_commit c;
	int rc = repo_resolve(r, rev, &c, err);
	if (rc)
		err_wrap(err, "in %s", option);
	else
		memcpy(id, c.id, 41);
	repo_commit_release(&c);
	return rc;
}

/* A trace, or else a test, that the good commit has. */
static int find_target(struct search *s, const char *target, struct err *err)
{
	struct history *h = &s->history;
	struct session *session = &h->session;
	struct errs errs = ERRS_INIT;
	char *name = xstrndup(target, strcspn(target, "@"));
	int is_test = 0;

	if (session_at(session, s->good, &errs) == 0 &&
	    manifest_trace(&session->manifest, name) < 0)
		for (size_t i = 0; i < session->manifest.ntest; i++)
			is_test |= strcmp(session->manifest.test[i].name, target) == 0;
	errs_release(&errs);
	free(name);
	if (is_test && threshold >= 0)
		return err_set(err, STATUS_INPUT,
		    "--threshold is for traces: "
		    "test '%s' has its own",
		    target);
	return is_test ? history_test(h, target, s->good, err)
		       : history_target(h, target, s->good, err);
}

static int check_good(struct search *s, struct err *err)
{
	struct history *h = &s->history;
	enum verdict verdict;

	if (!h->test) {
		if (history_render(h, s->good, &s->reference, err))
			return -1;
		s->ntried++;
		return s->reference.fault ? err_set(err, STATUS_INPUT,
						"the "
						"good commit %.7s cannot be rendered: %s",
						s->good, s->reference.fault)
					  : 0;
	}
	if (judge(s, s->good, &verdict, err))
		return -1;
	return verdict == VERDICT_GOOD
	    ? 0
	    : err_set(err, STATUS_INPUT, "test '%s' %s at the good commit %.7s", h->test,
		  verdict == VERDICT_BAD ? "fails" : "cannot be judged", s->good);
}

/* The two commits can be the ends of a search, as far as history says. */
static int check_order(struct search *s, struct merge_bases *bases, struct err *err)
{
	struct repo *repo = s->history.session.repo;

	if (strcmp(s->good, s->bad) == 0)
		return err_set(err, STATUS_INPUT,
		    "--good and --bad are the "
		    "same commit, %.7s",
		    s->good);
	if (walk_merge_bases(repo, s->good, s->bad, bases, err))
		return -1;
	if (!bases->nid)
		return err_set(err, STATUS_INPUT,
		    "%s and %s have no commit in "
		    "common%s",
		    good_rev, bad_rev,
		    bases->is_cut ? " in this "
				    "shallow clone; 'git fetch --unshallow' gets the rest"
				  : "");
	if (strcmp(bases->id[0], s->bad) == 0)
		return err_set(err, STATUS_INPUT,
		    "%s is an ancestor of %s: are "
		    "--good and --bad swapped?",
		    bad_rev, good_rev);
	return 0;
}

static int check_bad(struct search *s, int class, const char *target, struct err *err)
{
	struct history *h = &s->history;
	const char *fault = declarer_get(h->declarer, class)->fault;
	enum verdict verdict;

	if (judge(s, s->bad, &verdict, err))
		return -1;
	if (verdict == VERDICT_BAD)
		return 0;
	if (verdict == VERDICT_SKIP)
		return err_set(err, STATUS_INPUT,
		    "the bad commit %.7s cannot "
		    "be rendered: %s",
		    s->bad, fault ? fault : "a shader does not compile");
	if (h->test)
		return err_set(err, STATUS_INPUT,
		    "test '%s' passes at %s as "
		    "well",
		    h->test, bad_rev);
	return err_set(err, STATUS_INPUT,
	    "trace '%s' looks the same at %s and "
	    "%s%s",
	    target, good_rev, bad_rev, threshold < 0 ? "" : " within this threshold");
}

/*
 * Where the two parted must be good as well, or good was a repair and what is
 * searched for lies before it. After criss-cross merges that is several commits.
 */
static int check_bases(struct search *s, const struct merge_bases *bases, struct err *err)
{
	for (size_t i = 0; i < bases->nid; i++) {
		enum verdict verdict;
		if (strcmp(bases->id[i], s->good) == 0)
			continue;
		if (judge(s, bases->id[i], &verdict, err))
			return -1;
		if (verdict == VERDICT_BAD)
			return err_set(err, STATUS_INPUT,
			    "the merge base %.7s "
			    "of %s and %s is already bad: it was fixed in "
			    "%s",
			    bases->id[i], good_rev, bad_rev, good_rev);
		if (verdict == VERDICT_SKIP)
			log_warn("the merge base %.7s cannot be judged: if it "
				 "is bad, the result is wrong",
			    bases->id[i]);
	}
	return 0;
}

/* Good and bad differ, and the good one is good. */
static int check_ends(struct search *s, const char *target, struct err *err)
{
	struct history *h = &s->history;
	struct repo *repo = h->session.repo;
	struct merge_bases bases = { .nid = 0 };
	int good, bad, rc = -1;

	if (resolve(repo, good_rev, "--good", s->good, err) ||
	    resolve(repo, bad_rev, "--bad", s->bad, err) || check_order(s, &bases, err))
		goto out;
	if (find_target(s, target, err)) {
		err_wrap(err, "in the good commit");
		goto out;
	}
	if (history_class(h, s->good, &good, err) || history_class(h, s->bad, &bad, err))
		goto out;
	if (good == bad) {
		err_set(err, STATUS_INPUT,
		    "%s '%s' does not differ between %s "
		    "and %s",
		    h->test ? "test" : "trace", target, good_rev, bad_rev);
		goto out;
	}
	if (check_good(s, err) || check_bad(s, bad, target, err) ||
	    check_bases(s, &bases, err))
		goto out;
	rc = 0;
out:
	merge_bases_release(&bases);
	return rc;
}

/* The search ------------------------------------------------------------------------- */

static void note_skips(struct search *s, int class)
{
	for (size_t i = 0; i < s->walk.ncommit; i++)
		if (s->class[i] == class)
			map_puts(&s->skipped, s->walk.commit[i].id, 1);
}

static int classify(struct search *s, struct err *err)
{
	struct history *h = &s->history;
	int good;

	s->class = xcalloc(s->walk.ncommit + 1, sizeof *s->class);
	for (size_t i = 0; i < s->walk.ncommit; i++)
		if (history_class(h, s->walk.commit[i].id, &s->class[i], err))
			return -1;
	if (history_class(h, s->good, &good, err))
		return -1;
	size_t n = declarer_count(h->declarer);
	bisect_init(&s->bisect, &s->walk, s->class, n);
	bisect_judge(&s->bisect, good, VERDICT_GOOD);
	for (size_t c = 0; c < n; c++)
		if (declarer_get(h->declarer, (int)c)->fault) {
			bisect_judge(&s->bisect, (int)c, VERDICT_SKIP);
			note_skips(s, (int)c);
		}
	s->bisect.nskip = 0;
	return 0;
}

static int search(struct search *s, struct err *err)
{
	static const char *const word[] = { "", "good", "bad", "skipped" };
	int i;
	while ((i = bisect_next(&s->bisect)) >= 0) {
		const char *id = s->walk.commit[i].id;
		enum verdict verdict;
		log_info("%zu commit%s left, at most %d to render: %.7s",
		    s->bisect.nsuspect, s->bisect.nsuspect == 1 ? "" : "s",
		    bisect_left(&s->bisect), id);
		if (judge(s, id, &verdict, err))
			return -1;
		log_verbose("%.7s is %s", id, word[verdict]);
		bisect_judge(&s->bisect, s->class[i], verdict);
		if (verdict == VERDICT_SKIP)
			note_skips(s, s->class[i]);
	}
	return 0;
}

/* What was found ----------------------------------------------------------------------- */

static cJSON *skipped_json(const struct search *s)
{
	cJSON *list = cJSON_CreateArray();
	for (size_t i = 0; i < s->skipped.nentry; i++)
		cJSON_AddItemToArray(list, cJSON_CreateString(s->skipped.entry[i].key));
	return list;
}

/*
 * How the pictures differ from those of the commit before, drawn from the
 * store as its class was judged, and which passes are others.
 */
static int add_differences(struct search *s, const struct walk_commit *c, cJSON *json,
    struct err *err)
{
	struct history *h = &s->history;
	struct rendering before = { .is_known = 0 }, now = { .is_known = 0 };
	int old, new, rc = -1;

	if (!c->before[0])
		return 0;
	if (history_class(h, c->before, &old, err) || history_class(h, c->id, &new, err))
		return -1;
	if (declarer_get(h->declarer, old)->fault)
		return 0;
	cJSON_AddItemToObject(json, "changed",
	    declared_changes(declarer_get(h->declarer, old),
		declarer_get(h->declarer, new)));
	if (h->test)
		return 0; /* its bundles are in target/revisions */
	if (history_render(h, c->before, &before, err) ||
	    history_render(h, c->id, &now, err))
		goto out;
	cJSON *frames = cJSON_AddArrayToObject(json, "frames");
	for (size_t i = 0; i < h->nframe && before.is_known && now.is_known; i++) {
		struct comparison compared;
		char *a = fs_join(h->session.root, before.path[i]);
		char *b = fs_join(h->session.root, now.path[i]);
		int failed = pictures_compare(a, b, &compared, err);
		free(a);
		free(b);
		if (failed)
			goto out;
		cJSON *frame = cJSON_CreateObject();
		cJSON_AddItemToArray(frames, frame);
		cJSON_AddNumberToObject(frame, "frame", h->frame[i]);
		cJSON_AddStringToObject(frame, "before", before.path[i]);
		cJSON_AddStringToObject(frame, "after", now.path[i]);
		cJSON_AddNumberToObject(frame, "rmse", compared.rmse);
		cJSON_AddNumberToObject(frame, "max", compared.max);
	}
	rc = 0;
out:
	rendering_release(&before);
	rendering_release(&now);
	return rc;
}

static int add_first(struct search *s, cJSON *json, struct err *err)
{
	const struct walk_commit *c = &s->walk.commit[s->bisect.bad];
	struct walk_details d;

	cJSON_AddStringToObject(json, "first_bad", c->id);
	if (walk_details(s->history.session.repo, c->id, 1, &d, err))
		return -1;
	cJSON_AddStringToObject(json, "author", d.author);
	cJSON_AddStringToObject(json, "date", d.date);
	cJSON_AddStringToObject(json, "summary", d.summary);
	cJSON_AddStringToObject(json, "message", d.message);
	cJSON *files = cJSON_AddArrayToObject(json, "files");
	for (size_t i = 0; i < d.nchange; i++) {
		char how[2] = { d.change[i].how, '\0' };
		cJSON *file = cJSON_CreateObject();
		cJSON_AddStringToObject(file, "status", how);
		cJSON_AddStringToObject(file, "path", d.change[i].path);
		cJSON_AddItemToArray(files, file);
	}
	walk_details_release(&d);
	return add_differences(s, c, json, err);
}

static void add_suspects(const struct search *s, cJSON *json)
{
	json_fail(json);
	cJSON_AddNullToObject(json, "first_bad");
	cJSON *list = cJSON_AddArrayToObject(json, "suspects");
	for (size_t i = 0; i < s->walk.ncommit; i++)
		if (s->bisect.is_suspect[i])
			cJSON_AddItemToArray(list,
			    cJSON_CreateString(s->walk.commit[i].id));
}

static const char *text_of(const cJSON *json, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(json, name)->valuestring;
}

static void print_text(const cJSON *json)
{
	const cJSON *item;
	const char *separator = "changed: ";

	if (!cJSON_IsString(cJSON_GetObjectItemCaseSensitive(json, "first_bad"))) {
		printf("the first bad commit is one of these, as some cannot "
		       "be judged:\n");
		cJSON_ArrayForEach (item,
		    cJSON_GetObjectItemCaseSensitive(json, "suspects")) {
			printf("%s\n", item->valuestring);
		}
		return;
	}
	printf("%s is the first bad commit\nAuthor: %s\nDate:   %s\n\n",
	    text_of(json, "first_bad"), text_of(json, "author"), text_of(json, "date"));
	for (const char *line = text_of(json, "message"); *line;) {
		size_t n = strcspn(line, "\n");
		printf("%s%.*s\n", n ? "    " : "", (int)n, line);
		line += n + (line[n] == '\n');
	}
	putchar('\n');
	cJSON_ArrayForEach (item, cJSON_GetObjectItemCaseSensitive(json, "files")) {
		printf("%s\t%s\n", text_of(item, "status"), text_of(item, "path"));
	}
	putchar('\n');
	cJSON_ArrayForEach (item, cJSON_GetObjectItemCaseSensitive(json, "changed")) {
		printf("%s%s", separator, item->valuestring);
		separator = ", ";
	}
	if (*separator == ',')
		putchar('\n');
	cJSON_ArrayForEach (item, cJSON_GetObjectItemCaseSensitive(json, "frames")) {
		printf("frame %d: rmse %.6f, max %d\n\t%s\n\t%s\n",
		    cJSON_GetObjectItemCaseSensitive(item, "frame")->valueint,
		    cJSON_GetObjectItemCaseSensitive(item, "rmse")->valuedouble,
		    cJSON_GetObjectItemCaseSensitive(item, "max")->valueint,
		    text_of(item, "before"), text_of(item, "after"));
	}
}

static int report(struct search *s, const struct options *o, struct err *err)
{
	struct history *h = &s->history;
	int is_found = s->bisect.nsuspect == 1;
	cJSON *json = json_start("bisect");

	cJSON_AddStringToObject(json, h->test ? "test" : "trace",
	    h->test ? h->test : h->trace);
	cJSON_AddStringToObject(json, "good", s->good);
	cJSON_AddStringToObject(json, "bad", s->bad);
	if (is_found && add_first(s, json, err)) {
		cJSON_Delete(json);
		return -1;
	}
	if (!is_found)
		add_suspects(s, json);
	cJSON_AddItemToObject(json, "skipped", skipped_json(s));
	cJSON *counts = history_counts_json(h, s->walk.ncommit);
	cJSON_AddItemToObject(json, "counts", counts);
	cJSON_AddNumberToObject(counts, "commits_judged", s->ntried);
	cJSON_AddNumberToObject(counts, "programs_compiled",
	    (double)h->counts.programs_compiled);
	if (is_found && s->walk.commit[s->bisect.bad].is_cut)
		log_warn("this shallow clone ends at %.7s: an earlier commit "
			 "may have made the change; 'git fetch --unshallow' "
			 "gets the rest",
		    s->walk.commit[s->bisect.bad].id);
	if (!o->silent)
		log_info("%zu commit%s, %zu distinct rendering%s, %d newly rendered, "
			 "%zu skipped",
		    s->walk.ncommit, s->walk.ncommit == 1 ? "" : "s",
		    declarer_count(h->declarer),
		    declarer_count(h->declarer) == 1 ? "" : "s", h->nrendered,
		    s->skipped.nentry);
	if (o->json) {
		json_print(json);
	} else {
		if (!o->question)
			print_text(json);
		cJSON_Delete(json);
	}
	return is_found ? STATUS_OK : STATUS_FAILED;
}

/* The only trace of a commit, when none is named. */
static char *only_trace(struct search *s, struct err *err)
{
	struct session *session = &s->history.session;
	struct errs errs = ERRS_INIT;
	char *name = NULL;

	if (resolve(session->repo, bad_rev, "--bad", s->bad, err))
		return NULL;
	if (session_at(session, s->bad, &errs))
		errors_end(session->options, &errs, err);
	else if (session->manifest.ntrace != 1)
		err_set(err, STATUS_INPUT,
		    "the project has %zu traces: name "
		    "one",
		    session->manifest.ntrace);
	else
		name = xstrdup(session->manifest.trace[0].name);
	errs_release(&errs);
	return name;
}

int cmd_bisect(struct options *o, const struct args_list *operand, struct err *err)
{
	struct search s = { .ntried = 0 };
	char *target = NULL, *range = NULL;
	int rc = -1;

	if (o->dry_run)
		return err_set(err, STATUS_INPUT,
		    "bisect renders commits to "
		    "judge them: omit -n and -q");
	if (!good_rev || !bad_rev)
		return err_set(err, STATUS_INPUT,
		    "bisect needs --good REV "
		    "and --bad REV");
	if (history_open(&s.history, o, "bisect", SESSION_BUILD, err) ||
	    proc_catch_signals(err))
		goto out;
	target = operand->nitem ? xstrdup(operand->item[0]) : only_trace(&s, err);
	if (!target || check_ends(&s, target, err))
		goto out;
	range = xasprintf("%s..%s", s.good, s.bad);
	struct walk_options walk = { .range = range, .first_parent = first_parent };
	if (walk_open(s.history.session.repo, &walk, &s.walk, err) ||
	    history_hold(&s.history, err) ||
	    history_unhold(&s.history, classify(&s, err), err) || search(&s, err))
		goto out;
	rc = report(&s, o, err);
out:
	rendering_release(&s.reference);
	bisect_release(&s.bisect);
	walk_release(&s.walk);
	map_release(&s.skipped);
	free(s.class);
	free(target);
	free(range);
	history_close(&s.history);
	return rc;
}

#include "cmd/range.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/output.h"
#include "cmd/session.h"
#include "cmd/targets.h"
#include "util/log.h"
#include "util/map.h"
#include "util/mem.h"
#include "util/proc.h"
#include "vcs/walk.h"
#include "why/declared.h"

/* A target over the commits of a range. */
struct target {
	char *word; /* NAME or NAME@FRAMES */
	char *name;
	struct declarer *declarer;
	struct map drawn; /* what was captured: declared->drawn, frame */
};

struct range {
	struct session session;
	const struct target_options *options;
	struct variant_options variant;
	struct walk walk;
	struct target *target;
	size_t ntarget;
	struct capture_counts counts;
	cJSON *traces, *skipped;
	int signal;
	int status; /* the worst of what failed */
	int is_all; /* all traces, of whichever commit */
};

static void add_target(struct range *r, const char *word)
{
	struct session *s = &r->session;
	r->target = xreallocarray(r->target, r->ntarget + 1, sizeof *r->target);
	struct target *t = &r->target[r->ntarget++];
	*t = (struct target){ .word = xstrdup(word),
		.name = xstrndup(word, strcspn(word, "@")) };
	struct declared_request request = { .repo = s->repo,
		.store = s->store,
		.may_write = 1,
		.manifest = s->commit_path,
		.trace = t->name,
		.options = &r->variant };
	t->declarer = declarer_new(&request);
}

/* All traces are those of each commit: an older one may have had more. */
static void add_traces(struct range *r)
{
	const struct manifest *m = &r->session.manifest;

	for (size_t i = 0; i < m->ntrace; i++) {
		size_t k = 0;
		while (k < r->ntarget && strcmp(r->target[k].name, m->trace[i].name) != 0)
			k++;
		if (k == r->ntarget)
			add_target(r, m->trace[i].name);
	}
}

/* Those named, or all traces of the newest commit that loads. */
static int find_targets(struct range *r, const struct args_list *operand, struct err *err)
{
	struct errs errs = ERRS_INIT;
	int is_loaded = 0;

	r->is_all = !operand->nitem;
	for (size_t i = 0; i < operand->nitem; i++)
		add_target(r, operand->item[i]);
	for (size_t i = 0; i < r->walk.ncommit && r->is_all && !is_loaded; i++) {
		errs_release(&errs);
		is_loaded = !session_at(&r->session, r->walk.commit[i].id, &errs);
	}
	if (is_loaded)
		add_traces(r);
	if (errs.nerr && !is_loaded)
		return errors_end(r->session.options, &errs, err);
	errs_release(&errs);
	return 0;
}

static void report(struct range *r, const char *commit,
    const struct capture_result *result)
{
	const struct options *o = r->session.options;
	for (size_t i = 0; i < result->nbundle; i++) {
		const struct capture_bundle *b = &result->bundle[i];
		if (b->status == CAPTURE_FAILED) {
			char *text = err_text(&b->err), *name = target_name(b);
			log_error("%.7s: %s: %s", commit, name, text);
			free(name);
			free(text);
		} else if (!o->json && !o->silent) {
			printf("%s %s\n", capture_status_name(b->status), b->path);
		}
		cJSON *json = bundle_json(b, 0);
		cJSON_AddStringToObject(json, "commit", commit);
		cJSON_AddItemToArray(r->traces, json);
	}
}

static void skip(struct range *r, const char *commit, const char *fault)
{
	log_warn("skipping %.7s: %.*s", commit, (int)strcspn(fault, "\n"), fault);
	cJSON_AddItemToArray(r->skipped, cJSON_CreateString(commit));
}

/* Leaves of the requests those frames that show something new at this commit. */
static int keep_new(struct range *r, const char *commit, const size_t *index,
    struct targets *targets, struct err *err)
{
	size_t nrequest = 0;

	for (size_t i = 0; i < targets->nrequest; i++) {
		struct capture_request *request = &targets->request[i];
		struct target *t = &r->target[index[i]];
		unsigned char key[SHA256_SIZE + sizeof(int)];
		int *frame = targets->frame[i], class;
		size_t n = 0;
		if (declarer_class(t->declarer, commit, &class, err))
			return -1;
		memcpy(key, declarer_get(t->declarer, class)->drawn.byte, SHA256_SIZE);
		for (size_t k = 0; k < request->nframe; k++) {
			memcpy(key + SHA256_SIZE, &frame[k], sizeof *frame);
			if (map_put(&t->drawn, key, sizeof key, 1))
				frame[n++] = frame[k];
		}
		request->nframe = n;
		targets->frame[i] = NULL;
		if (n == 0) {
			free(frame);
			continue;
		}
		targets->frame[nrequest] = frame;
		targets->request[nrequest++] = *request;
	}
	targets->nrequest = nrequest;
	return 0;
}

/* The targets that a commit has, in operand; which they are in index[]. */
static int list_targets(struct range *r, const char *commit, struct args_list *operand,
    size_t *index, char **fault, struct err *err)
{
	const struct manifest *m = &r->session.manifest;

	for (size_t i = 0; i < r->ntarget; i++) {
		struct target *t = &r->target[i];
		int class;
		if (r->is_all && r->session.has_manifest &&
		    manifest_trace(m, t->name) < 0)
			continue;
		if (declarer_class(t->declarer, commit, &class, err))
			return -1;
		const struct declared *d = declarer_get(t->declarer, class);
		if (d->fault) {
			free(*fault);
			*fault = xstrdup(d->fault);
			continue;
		}
		operand->item = array_grow(operand->item, operand->nitem, &operand->cap,
		    sizeof *operand->item);
		index[operand->nitem] = i;
		operand->item[operand->nitem++] = t->word;
	}
	return 0;
}

/* Captures what a commit shows that no newer one did. */
static int capture_commit(struct range *r, const char *commit, struct err *err)
{
	struct args_list operand = { NULL, 0, 0 };
	struct errs errs = ERRS_INIT;
	struct targets targets = { 0 };
	struct capture_result result = { 0 };
	char *fault = NULL;
	size_t *index = NULL;
	int rc = -1;

	/* A commit that does not load is told by the fault of its class. */
	if (!session_at(&r->session, commit, &errs) && r->is_all)
		add_traces(r);
	index = xcalloc(r->ntarget + 1, sizeof *index);
	if (list_targets(r, commit, &operand, index, &fault, err))
		goto out;
	rc = 0;
	if (fault)
		skip(r, commit, fault);
	if (!operand.nitem)
		goto out;
	if (errs.nerr) {
		rc = errors_end(r->session.options, &errs, err);
		goto out;
	}
	rc = targets_find(&r->session.manifest, r->options, &operand, &targets, err);
	if (rc == 0)
		rc = keep_new(r, commit, index, &targets, err);
	if (rc == 0 && targets.nrequest > 0)
		rc = targets_capture(&r->session, &targets, 0, NULL, &result, err);
	if (rc) {
		err_wrap(err, "at commit %.7s", commit);
		goto out;
	}
	counts_add(&r->counts, &result.counts);
	report(r, commit, &result);
	r->signal = result.signal;
	if (result.counts.failures && r->status < failure_status(&result))
		r->status = failure_status(&result);
out:
	capture_result_release(&result);
	targets_release(&targets);
	errs_release(&errs);
	free(operand.item);
	free(index);
	free(fault);
	return rc;
}

static void print_json(struct range *r)
{
	cJSON *json = json_start("capture");
	if (r->counts.failures)
		json_fail(json);
	cJSON_AddItemToObject(json, "traces", r->traces);
	cJSON_AddItemToObject(json, "skipped", r->skipped);
	r->traces = r->skipped = NULL;
	cJSON_AddItemToObject(json, "counts", counts_json(&r->counts));
	json_print(json);
}

int capture_range(struct options *o, const struct args_list *operand,
    const struct target_options *target, const char *range, struct err *err)
{
	struct range r = { .options = target };
	struct walk_options walk = { .range = range };
	struct store *store;
	int rc = -1;

	if (target->output)
		return err_set(err, STATUS_INPUT,
		    "-o takes one bundle, but a range has many");
	if (!operand->nitem && (target->frame || target->time || target->frames))
		return err_set(err, STATUS_INPUT,
		    "name the traces to take these frames from");
	r.variant = (struct variant_options){ .preset = target->preset,
		.width = (int)target->width,
		.height = (int)target->height,
		.fps = target->fps,
		.set = target->set.item,
		.nset = target->set.nitem };
	r.traces = cJSON_CreateArray();
	r.skipped = cJSON_CreateArray();
	if (session_open_history(&r.session, o, "capture", SESSION_BUILD, err) ||
	    session_store(&r.session, &store, err) || proc_catch_signals(err) ||
	    walk_open(r.session.repo, &walk, &r.walk, err) ||
	    find_targets(&r, operand, err))
		goto out;
	for (size_t i = 0; i < r.walk.ncommit && !r.signal; i++)
		if (capture_commit(&r, r.walk.commit[i].id, err))
			goto out;
	if (o->json)
		print_json(&r);
	log_info("%zu commit%s, %llu bundle%s written, %llu up to date; %llu draw%s",
	    r.walk.ncommit, r.walk.ncommit == 1 ? "" : "s",
	    (unsigned long long)r.counts.traces_built,
	    r.counts.traces_built == 1 ? "" : "s",
	    (unsigned long long)r.counts.traces_current,
	    (unsigned long long)r.counts.nodes_drawn,
	    r.counts.nodes_drawn == 1 ? "" : "s");
	rc = r.signal ? 128 + r.signal : r.status;
out:
	cJSON_Delete(r.traces);
	cJSON_Delete(r.skipped);
	for (size_t i = 0; i < r.ntarget; i++) {
		declarer_free(r.target[i].declarer);
		map_release(&r.target[i].drawn);
		free(r.target[i].word);
		free(r.target[i].name);
	}
	free(r.target);
	walk_release(&r.walk);
	session_close(&r.session);
	return rc;
}

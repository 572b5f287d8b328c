#include "cmd/judge.h"

#include <stdio.h>
#include <string.h>

#include "cmd/history.h"
#include "cmd/output.h"
#include "cmd/targets.h"
#include "format/bundle.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/proc.h"

/* What git bisect run makes of a status (git-bisect(1)). */
enum { GOOD = 0, BAD = 1, CANNOT_JUDGE = 125, STOP = 129 };

/* Says why there is no verdict. Work trees that are broken are skipped. */
static int give_up(struct err *err, int at_fault)
{
	char *text = err_text(err);
	int status = err->status == STATUS_MACHINE ? STOP : at_fault;
	log_error("%s", text);
	free(text);
	err_release(err);
	return status;
}

static int give_up_all(struct errs *errs)
{
	int status = CANNOT_JUDGE;
	for (size_t i = 0; i < errs->nerr; i++)
		if (give_up(&errs->err[i], CANNOT_JUDGE) == STOP)
			status = STOP;
	errs_release(errs);
	return status;
}

/* The target: as named, at the reference's frame unless it says another. */
static char *target_word(const struct manifest *m, const char *named,
    const struct target_options *o, int frame)
{
	const char *name = named ? named : m->ntrace == 1 ? m->trace[0].name : NULL;
	if (!name)
		return NULL;
	if (strchr(name, '@') || o->frame || o->time || o->frames)
		return xstrdup(name);
	return xasprintf("%s@%d", name, frame);
}

static int print_verdict(const struct options *o, int status, const struct comparison *c)
{
	const char *word = status == GOOD ? "good" : "bad";
	if (o->json) {
		cJSON *json = json_start("capture");
		cJSON_AddStringToObject(json, "verdict", word);
		cJSON_AddNumberToObject(json, "rmse", c->rmse);
		cJSON_AddNumberToObject(json, "max", c->max);
		json_print(json);
	} else if (!o->silent) {
		printf("%s: rmse %.6f, max %d\n", word, c->rmse, c->max);
	}
	return status;
}

static int compare(struct session *s, const struct capture_bundle *b,
    const struct bundle *reference, double threshold, struct err *err)
{
	struct bundle_row row;
	struct sha256 content;
	struct comparison c;
	/* -o gives a path of its own, the usual ones are from the root. */
	char *path = b->path[0] == '/' ? xstrdup(b->path) : fs_join(s->root, b->path);
	struct bundle now = { 0 };
	int rc = bundle_open(path, &now, err), is_bad;

	/* Of another size no commit could be good. */
	if (rc == 0 && (now.width != reference->width || now.height != reference->height))
		rc = err_set(err, STATUS_INPUT,
		    "%s is %dx%d, but the capture "
		    "is %dx%d; capture at the bundle's size (--width, "
		    "--height)",
		    reference->dir, reference->width, reference->height, now.width,
		    now.height);
	if (rc == 0)
		rc = pictures_compare(reference->dir, path, &c, err);
	bundle_release(&now);
	free(path);
	if (rc)
		return give_up(err, STOP);
	if (threshold >= 0) {
		is_bad = c.rmse > threshold;
	} else if (!store_bundle(s->store, b->path, &row)) {
		err_set(err, STATUS_MACHINE, "%s is not in the store", b->path);
		return give_up(err, STOP);
	} else {
		bundle_content_id(reference->artifact, reference->nartifact, &content);
		is_bad = !sha256_equal(&content, &row.content_id);
		bundle_row_release(&row);
	}
	return print_verdict(s->options, is_bad ? BAD : GOOD, &c);
}

int capture_judge(struct options *o, const struct args_list *operand,
    const struct target_options *target, const char *reference, double threshold,
    struct err *err)
{
	struct session s = { 0 };
	struct bundle bundle = { 0 };
	struct errs errs = ERRS_INIT;
	struct targets targets = { 0 };
	struct capture_result result = { 0 };
	char *word = NULL;
	int rc = -1;

	if (operand->nitem > 1) {
		err_set(err, STATUS_INPUT, "--bisect judges one target");
		goto out;
	}
	if (bundle_open(reference, &bundle, err)) {
		err_wrap(err, "in --bisect");
		goto out;
	}
	if (proc_catch_signals(err))
		goto out;
	if (session_find(&s, o, "capture", SESSION_BUILD, err) || session_load(&s, err)) {
		for (size_t i = 0; i < o->error.nerr; i++)
			errs_take(&errs, &o->error.err[i]);
		errs_release(&o->error);
		errs_take(&errs, err);
		rc = give_up_all(&errs);
		goto out;
	}
	word = target_word(&s.manifest, operand->nitem ? operand->item[0] : NULL, target,
	    bundle.frame);
	if (!word) {
		err_set(err, STATUS_INPUT, "name the trace to judge");
		goto out;
	}
	const char *item = word;
	const struct args_list one = { &item, 1, 0 };
	char *name = xstrndup(word, strcspn(word, "@"));
	int is_there = manifest_trace(&s.manifest, name) >= 0;
	free(name);
	if (targets_find(&s.manifest, target, &one, &targets, err)) {
		/* This work tree may not have the trace yet. */
		rc = is_there ? -1 : give_up(err, CANNOT_JUDGE);
		goto out;
	}
	if (targets.nrequest != 1 || targets.request[0].nframe != 1) {
		err_set(err, STATUS_INPUT, "--bisect judges one frame");
		goto out;
	}
	if (targets_capture(&s, &targets, 0, NULL, &result, err))
		rc = give_up(err, CANNOT_JUDGE);
	else if (result.signal)
		rc = 128 + result.signal;
	else if (result.bundle[0].status == CAPTURE_FAILED)
		rc = give_up(&result.bundle[0].err, CANNOT_JUDGE);
	else
		rc = compare(&s, &result.bundle[0], &bundle, threshold, err);
out:
	free(word);
	capture_result_release(&result);
	targets_release(&targets);
	errs_release(&errs);
	bundle_release(&bundle);
	session_close(&s);
	return rc;
}

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/output.h"
#include "cmd/session.h"
#include "cmd/targets.h"
#include "capture/capture.h"
#include "util/mem.h"
#include "util/proc.h"

static int is_current(const struct capture_result *r)
{
	for (size_t i = 0; i < r->nbundle; i++)
		if (r->bundle[i].status != CAPTURE_CURRENT)
			return 0;
	return 1;
}

/* The worst of all: what "why" says of a target as a whole. */
static const char *status_word(const struct capture_result *r)
{
	if (r->counts.failures > 0)
		return capture_status_name(CAPTURE_FAILED);
	for (size_t i = 0; i < r->nbundle; i++)
		if (r->bundle[i].status == CAPTURE_STALE)
			return capture_status_name(CAPTURE_STALE);
	return capture_status_name(is_current(r) ? CAPTURE_CURRENT : CAPTURE_RETAGGED);
}

static void print_json(const char *target, const struct capture_result *r)
{
	cJSON *json = json_start("why");
	struct reasons all = { 0 };

	if (r->counts.failures > 0)
		json_fail(json);
	cJSON_AddStringToObject(json, "target", target);
	cJSON_AddStringToObject(json, "status", status_word(r));
	for (size_t i = 0; i < r->nbundle; i++)
		reasons_merge(&all, &r->bundle[i].reasons, r->bundle[i].frame);
	cJSON_AddItemToObject(json, "reasons", reasons_to_json(&all));
	cJSON *frames = cJSON_AddArrayToObject(json, "frames");
	for (size_t i = 0; i < r->nbundle; i++) {
		const struct capture_bundle *b = &r->bundle[i];
		cJSON *frame = cJSON_CreateObject();
		if (b->frame >= 0)
			cJSON_AddNumberToObject(frame, "frame", b->frame);
		cJSON_AddStringToObject(frame, "path", b->path);
		cJSON_AddStringToObject(frame, "status", capture_status_name(b->status));
		cJSON_AddItemToObject(frame, "reasons", reasons_to_json(&b->reasons));
		if (b->err.message)
			cJSON_AddItemToObject(frame, "error", error_json(&b->err));
		cJSON_AddItemToArray(frames, frame);
	}
	json_print(json);
	reasons_release(&all);
}

/* "3,10:20": runs of three and more as ranges, as targets have them. */
static void print_frames(const int *frame, size_t n)
{
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && frame[end] == frame[end - 1] + 1;)
			end++;
		if (end - i == 2)
			end--;
		printf("%s%d", i > 0 ? "," : "", frame[i]);
		if (end - i > 2)
			printf(":%d", frame[end - 1]);
	}
}

static const char *state_of(const struct capture_bundle *b)
{
	return b->status == CAPTURE_CURRENT ? "up to date"
	    : b->status == CAPTURE_RETAGGED ? "to be retagged"
					    : "stale";
}

/* All frames of one state, and their causes: each once. */
static void print_state(const struct capture_result *r, const char *state)
{
	struct reasons all = { 0 };
	int *frame = xcalloc(r->nbundle + 1, sizeof *frame);
	const char *name = NULL;
	size_t n = 0;

	for (size_t i = 0; i < r->nbundle; i++) {
		const struct capture_bundle *b = &r->bundle[i];
		if (b->status == CAPTURE_FAILED || strcmp(state_of(b), state) != 0)
			continue;
		name = b->name;
		frame[n++] = b->frame;
		reasons_merge(&all, &b->reasons, b->frame);
	}
	if (n > 0) {
		printf("%s%s", name, frame[0] >= 0 ? "@" : "");
		if (frame[0] >= 0)
			print_frames(frame, n);
		printf(": %s\n", state);
	}
	for (size_t i = 0; i < all.nreason; i++) {
		char *text = reason_text(&all.reason[i]);
		printf("\t%s", text);
		if (all.reason[i].nof < n) {
			printf("; frame%s ", all.reason[i].nof > 1 ? "s" : "");
			print_frames(all.reason[i].of, all.reason[i].nof);
		}
		putchar('\n');
		free(text);
	}
	free(frame);
	reasons_release(&all);
}

static void print_text(const struct capture_result *r)
{
	print_state(r, "stale");
	print_state(r, "to be retagged");
	print_state(r, "up to date");
}

int cmd_why(struct options *o, const struct args_list *operand, struct err *err)
{
	static const struct target_options none = { 0 };
	struct session s = { 0 };
	struct targets targets = { 0 };
	struct capture_result result = { 0 };
	int rc = -1;

	if (operand->nitem != 1) {
		err_set(err, STATUS_INPUT,
		    "why takes one target, NAME or "
		    "NAME@FRAME; see 'stbuild why -h'");
		goto out;
	}
	if (session_open(&s, o, "why", SESSION_PLAN, err) ||
	    targets_find(&s.manifest, &none, operand, &targets, err) ||
	    proc_catch_signals(err) ||
	    targets_capture(&s, &targets, 1, NULL, &result, err))
		goto out;
	report_failures(&result);
	if (o->json)
		print_json(operand->item[0], &result);
	else if (!o->question && !o->silent)
		print_text(&result);
	if (result.signal != 0)
		rc = 128 + result.signal;
	else if (result.counts.failures > 0)
		rc = STATUS_FAILED;
	else
		rc = o->question && !is_current(&result) ? STATUS_FAILED : STATUS_OK;
out:
	capture_result_release(&result);
	targets_release(&targets);
	session_close(&s);
	return rc;
}

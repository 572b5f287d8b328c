#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/output.h"
#include "cmd/session.h"
#include "util/fs.h"
#include "util/log.h"
#include "util/proc.h"
#include "verify/picture.h"
#include "verify/replay.h"

static const char *output;

const struct args_option replay_option[] = {
	{ 'o', "output", ARGS_STRING, &output, 0, 0, "FILE.png",
	    "write the picture that was rendered" },
	OPTION_END,
};

static int worker(void *data, struct worker **out, struct err *err)
{
	return session_worker(data, out, err);
}

static int driver(void *data, const struct driver_row **out, struct err *err)
{
	return session_driver(data, out, err);
}

static int write_picture(const struct replay *r, struct err *err)
{
	const struct picture picture = { r->width, r->height, r->rgb };

	return picture_write(&picture, output, err);
}

/* unwritten: why the picture was not written, if it was to be. */
static void print_result(const struct options *o, const struct bundle *b,
    const struct replay *r, const struct err *unwritten)
{
	if (o->json) {
		cJSON *json = json_start("replay");
		if (!r->is_exact || !r->is_state_valid || unwritten->message)
			json_fail(json);
		cJSON_AddStringToObject(json, "trace", b->dir);
		cJSON_AddNumberToObject(json, "frame", r->frame);
		cJSON_AddBoolToObject(json, "exact", r->is_exact);
		cJSON_AddNumberToObject(json, "rmse", r->rmse);
		cJSON_AddBoolToObject(json, "state_valid", r->is_state_valid);
		cJSON_AddItemToObject(json, "state_difference",
		    r->state_difference ? cJSON_CreateString(r->state_difference)
					: cJSON_CreateNull());
		cJSON_AddItemToObject(json, "driver_equal",
		    r->has_driver ? cJSON_CreateBool(r->is_driver_equal)
				  : cJSON_CreateNull());
		cJSON_AddItemToObject(json, "output",
		    output && !unwritten->message ? cJSON_CreateString(output)
						  : cJSON_CreateNull());
		if (unwritten->message)
			cJSON_AddItemToObject(json, "error", error_json(unwritten));
		cJSON_AddItemToObject(json, "rules",
		    r->rules->name ? cJSON_CreateString(r->rules->name)
				   : cJSON_CreateNull());
		cJSON *list = cJSON_AddArrayToObject(json, "conventions");
		for (size_t i = 0; i < r->nunknown; i++)
			cJSON_AddItemToArray(list, cJSON_CreateString(r->unknown[i]));
		json_print(json);
		return;
	}
	if (o->silent)
		return;
	printf("%s: frame %d at %dx%d: ", b->dir, r->frame, r->width, r->height);
	if (r->is_exact)
		printf("picture bit-exact");
	else
		printf("picture differs, RMSE %.6f", r->rmse);
	printf(", state %s", r->is_state_valid ? "equal" : "differs");
	if (r->state_difference)
		printf(" (%s)", r->state_difference);
	if (r->has_driver)
		printf(", %s driver", r->is_driver_equal ? "same" : "different");
	if (r->rules->name)
		printf(", replayed by the rules of %s", r->rules->name);
	putchar('\n');
	for (int i = 0; r->rules->name && o->verbose && i < RULES; i++)
		if (rules_have(r->rules, (enum rule)i))
			printf("  %s\n", rule_text((enum rule)i));
	if (r->nunknown)
		printf("What the bundle does not tell can explain the "
		       "difference:\n");
	for (size_t i = 0; i < r->nunknown; i++)
		printf("  %s\n", r->unknown[i]);
}

int cmd_replay(struct options *o, const struct args_list *operand, struct err *err)
{
	struct session s = { 0 };
	struct bundle bundle = { 0 };
	struct replay replay = { 0 };
	struct replay_env env = { worker, driver, &s, NULL, 0 };
	struct err unwritten = ERR_INIT;
	int rc = -1;

	if (operand->nitem != 1)
		return err_set(err, STATUS_INPUT,
		    "replay takes one bundle; see 'stbuild replay -h'");
	session_bare(&s, o, "replay");
	if (proc_catch_signals(err) || bundle_open(operand->item[0], &bundle, err))
		goto out;
	/* The worker is started by it: the other program sets nothing to zero. */
	if (rules_have(rules_of(bundle.tool != NULL, bundle.cli_version),
		RULE_PLAIN_TEXT) &&
	    setenv("glsl_zero_init", "false", 0) != 0) {
		err_errno(err, STATUS_MACHINE, "cannot set the environment");
		goto out;
	}
	if (replay_run(&env, &bundle, &replay, err))
		goto out;
	/* A picture that cannot be written costs nothing of the verdict. */
	int failed = output ? write_picture(&replay, &unwritten) : 0;
	print_result(o, &bundle, &replay, &unwritten);
	if (failed)
		log_error("%s", unwritten.message);
	rc = !replay.is_exact || !replay.is_state_valid ? STATUS_FAILED
	    : failed                                    ? (int)unwritten.status
							: STATUS_OK;
out:
	err_release(&unwritten);
	if (rc != STATUS_OK && proc_signal() != 0) {
		err_release(err);
		rc = 128 + proc_signal();
	}
	replay_release(&replay);
	bundle_release(&bundle);
	session_close(&s);
	return rc;
}

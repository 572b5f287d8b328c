#include <stddef.h>
#include <stdio.h>

#include "cmd/cmd.h"
#include "cmd/output.h"
#include "cmd/session.h"
#include "store/gc.h"

static int repair;

const struct args_option fsck_option[] = {
	{ 0, "repair", ARGS_FLAG, &repair, 0, 0, NULL,
	    "remove damaged objects (they are rebuilt on demand)" },
	OPTION_END,
};

static const struct {
	const char *key, *text;
	size_t at;
} finding[] = {
	{ "objects", "objects", offsetof(struct fsck_result, nobject) },
	{ "torn", "corrupt (content does not match its hash)",
	    offsetof(struct fsck_result, ntorn) },
	{ "missing", "recorded, but missing", offsetof(struct fsck_result, nmissing) },
	{ "orphans", "not recorded", offsetof(struct fsck_result, norphan) },
	{ "bad_rows", "faults in the database", offsetof(struct fsck_result, nbad_row) },
};

static uint64_t count_of(const struct fsck_result *r, size_t i)
{
	return *(const uint64_t *)((const char *)r + finding[i].at);
}

/*
 * Beside builds, as a reader; but only who has the store alone gets a database
 * that cannot be opened, so a check that fails tries that, without waiting.
 */
static int open_store(const char *dir, struct store **out, struct err *err)
{
	if (repair)
		return store_open(dir, STORE_EXCLUSIVE, "fsck --repair", out, err);
	if (!store_open(dir, STORE_READ, "fsck", out, err))
		return 0;
	struct err other = ERR_INIT;
	int rc = store_open(dir, STORE_TRY_EXCLUSIVE, "fsck", out, &other);
	err_release(rc < 0 ? &other : err);
	return rc;
}

static void print(struct options *o, const struct fsck_result *r, int is_sound)
{
	size_t n = sizeof finding / sizeof *finding;
	if (o->json) {
		cJSON *document = json_start("fsck");
		for (size_t i = 0; i < n; i++)
			cJSON_AddNumberToObject(document, finding[i].key,
			    (double)count_of(r, i));
		cJSON_AddBoolToObject(document, "sound", is_sound);
		cJSON_AddBoolToObject(document, "repaired", !is_sound && repair);
		if (!is_sound && !repair)
			cJSON_ReplaceItemInObject(document, "ok", cJSON_CreateFalse());
		json_print(document);
		return;
	}
	if (o->silent || o->question)
		return;
	for (size_t i = 0; i < n; i++)
		if (!i || count_of(r, i))
			printf("%llu %s\n", (unsigned long long)count_of(r, i),
			    finding[i].text);
	puts(is_sound    ? "the store is sound"
		: repair ? "repaired"
			 : "the store is damaged; 'stbuild fsck --repair' removes what is"
			   " damaged");
}

int cmd_fsck(struct options *o, const struct args_list *operand, struct err *err)
{
	struct session s;
	struct store *store = NULL;
	struct fsck_result r;
	int rc = -1;
	(void)operand;
	repair = repair && !o->dry_run && !o->question;
	if (session_find(&s, o, "fsck", SESSION_READ, err) < 0 ||
	    open_store(session_store_dir(&s), &store, err) < 0 ||
	    fsck_run(store, repair, &r, err) < 0)
		goto out;
	int is_sound = !r.ntorn && !r.nmissing && !r.nbad_row;
	print(o, &r, is_sound);
	rc = is_sound || repair ? STATUS_OK : STATUS_FAILED;
out:
	store_close(store);
	session_close(&s);
	return rc;
}

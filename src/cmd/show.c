#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/output.h"
#include "cmd/session.h"
#include "util/mem.h"

struct showing {
	const char *commit;
	struct store *store;
	cJSON *contents;
	struct bundle_row *row; /* bundles of the store, in part */
	size_t nrow, cap;
};

static int take_bundle(void *data, const struct bundle_row *row)
{
	struct showing *s = data;
	s->row = array_grow(s->row, s->nrow, &s->cap, sizeof *s->row);
	struct bundle_row *copy = &s->row[s->nrow++];
	*copy = (struct bundle_row){ .path = xstrdup(row->path),
		.frame = row->frame,
		.variant = row->variant,
		.content_id = row->content_id,
		.dirty = row->dirty };
	memcpy(copy->commit, row->commit, sizeof copy->commit);
	return 0;
}

static int take_content(void *data, const struct history_row *row)
{
	struct showing *s = data;
	char hex[SHA256_HEX + 1];
	if (strcmp(row->commit, s->commit) != 0)
		return 0;
	cJSON *json = cJSON_CreateObject();
	cJSON_AddItemToArray(s->contents, json);
	cJSON_AddStringToObject(json, "trace", row->trace);
	cJSON_AddNumberToObject(json, "frame", row->frame);
	cJSON_AddStringToObject(json, "content", sha256_hex(&row->content_id, hex));
	cJSON_AddStringToObject(json, "variant", sha256_hex(&row->variant, hex));
	cJSON_AddBoolToObject(json, "dirty", row->dirty);
	/* Bundles that show it, whichever commit they were built at. */
	cJSON *bundles = cJSON_AddArrayToObject(json, "bundles");
	for (size_t i = 0; i < s->nrow; i++)
		if (s->row[i].frame == row->frame &&
		    sha256_equal(&s->row[i].content_id, &row->content_id) &&
		    sha256_equal(&s->row[i].variant, &row->variant))
			cJSON_AddItemToArray(bundles, cJSON_CreateString(s->row[i].path));
	return 0;
}

static void print_content(const cJSON *json)
{
	const cJSON *bundle;
	const char *separator = " ";
	printf("%s@%d %.8s%s",
	    cJSON_GetObjectItemCaseSensitive(json, "trace")->valuestring,
	    cJSON_GetObjectItemCaseSensitive(json, "frame")->valueint,
	    cJSON_GetObjectItemCaseSensitive(json, "content")->valuestring,
	    cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "dirty")) ? " dirty"
									  : "");
	cJSON_ArrayForEach (bundle, cJSON_GetObjectItemCaseSensitive(json, "bundles")) {
		printf("%s%s", separator, bundle->valuestring);
		separator = ", ";
	}
	putchar('\n');
}

int cmd_show(struct options *o, const struct args_list *operand, struct err *err)
{
	struct session s = { 0 };
	struct showing showing = { 0 };
	struct repo_commit commit = { 0 };
	const cJSON *item;
	cJSON *json = NULL;
	int rc = -1;

	if (session_open_history(&s, o, "show", SESSION_READ, err) ||
	    repo_resolve(s.repo, operand->nitem ? operand->item[0] : "HEAD", &commit,
		err) ||
	    session_store(&s, &showing.store, err))
		goto out;
	showing.commit = commit.id;
	json = json_start("show");
	cJSON_AddStringToObject(json, "commit", commit.id);
	cJSON_AddStringToObject(json, "describe", commit.describe);
	cJSON_AddStringToObject(json, "committed_at", commit.committed_at);
	cJSON_AddStringToObject(json, "summary", commit.summary);
	showing.contents = cJSON_AddArrayToObject(json, "contents");
	if (store_each_bundle(showing.store, take_bundle, &showing, err) ||
	    store_each_history(showing.store, NULL, -1, take_content, &showing, err))
		goto out;
	if (o->json) {
		json_print(json);
		json = NULL;
	} else {
		printf("commit %s (%s)\n%s %s\n", commit.id, commit.describe,
		    commit.committed_at, commit.summary);
		cJSON_ArrayForEach (item, showing.contents) {
			print_content(item);
		}
		if (!cJSON_GetArraySize(showing.contents))
			printf("nothing was captured at this commit\n");
	}
	rc = STATUS_OK;
out:
	cJSON_Delete(json);
	for (size_t i = 0; i < showing.nrow; i++)
		free(showing.row[i].path);
	free(showing.row);
	repo_commit_release(&commit);
	session_close(&s);
	return rc;
}

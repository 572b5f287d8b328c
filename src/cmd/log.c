#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/history.h"
#include "cmd/output.h"
#include "util/log.h"
#include "util/map.h"
#include "util/mem.h"
#include "util/proc.h"
#include "vcs/walk.h"

static long max_commits;
static int first_parent, render;

const struct args_option log_option[] = {
	{ 'n', "max-count", ARGS_INT, &max_commits, 1, 1e9, "N", "the newest N commits" },
	{ 0, "first-parent", ARGS_FLAG, &first_parent, 0, 0, NULL,
	    "follow only the first parent of merges" },
	{ 0, "render", ARGS_FLAG, &render, 0, 0, NULL,
	    "render commits that have no result yet" },
	OPTION_END,
};

/* How a commit's rendering stands against the one before. */
enum change { CHANGE_FIRST, CHANGE_NONE, CHANGE_SOME, CHANGE_UNKNOWN, CHANGE_ERROR };

static const char *const change_name[] = {
	[CHANGE_FIRST] = "first",
	[CHANGE_NONE] = "unchanged",
	[CHANGE_SOME] = "changed",
	[CHANGE_UNKNOWN] = "unknown",
	[CHANGE_ERROR] = "error",
};

struct entry {
	int class;
	char before_id[41]; /* the commit that it is compared with; or "" */
	int before;         /* its class; -1 for none */
};

struct listing {
	struct history *history;
	struct walk walk;
	struct entry *entry;     /* a commit of the walk each */
	struct map index;        /* id -> commit of the walk */
	struct rendering *class; /* a class each */
	size_t nclass;
	cJSON *commits;
};

/*
 * The nearest first parent that can be read: what a commit that cannot stands
 * between is compared with each other.
 */
static int find_before(struct listing *l, const char *parent, struct entry *e,
    struct err *err)
{
	struct history *h = l->history;

	e->before = -1;
	memcpy(e->before_id, parent, sizeof e->before_id);
	while (e->before_id[0]) {
		if (history_class(h, e->before_id, &e->before, err) < 0)
			return -1;
		if (!declarer_get(h->declarer, e->before)->fault)
			return 0;
		e->before = -1;
		if (walk_first_parent(h->session.repo, e->before_id, e->before_id, err))
			return -1;
	}
	return 0;
}

/* The class of every commit, and of what it is compared with. */
static int classify(struct listing *l, struct err *err)
{
	struct history *h = l->history;
	l->entry = xcalloc(l->walk.ncommit + 1, sizeof *l->entry);
	for (size_t i = 0; i < l->walk.ncommit; i++) {
		const struct walk_commit *c = &l->walk.commit[i];
		map_puts(&l->index, c->id, i);
		if (history_class(h, c->id, &l->entry[i].class, err) < 0 ||
		    find_before(l, c->before, &l->entry[i], err) < 0)
			return -1;
	}
	return 0;
}

/* What the entry is compared with, past commits that turned out not to compile. */
static const struct entry *compared(const struct listing *l, size_t i)
{
	const struct entry *e = &l->entry[i];

	while (e->before >= 0 && l->class[e->before].fault) {
		size_t at = map_gets(&l->index, e->before_id);
		if (at == MAP_NONE)
			break;
		e = &l->entry[at];
	}
	return e;
}

/* Draws the classes that are not known, by their newest commits. */
static int fill_in(struct listing *l, struct err *err)
{
	for (size_t i = 0; i < l->walk.ncommit; i++) {
		const struct walk_commit *c = &l->walk.commit[i];
		const struct {
			const char *id;
			int class;
		} pair[] = {
			{ c->id, l->entry[i].class },
			{ l->entry[i].before_id, l->entry[i].before },
		};
		for (int k = 0; k < 2; k++) {
			if (pair[k].class < 0)
				continue;
			struct rendering *r = &l->class[pair[k].class];
			struct rendering now;
			int is_whole = r->is_known;
			for (size_t f = 0; f < l->history->nframe; f++)
				is_whole = is_whole && r->path[f];
			if (is_whole || r->fault)
				continue;
			int rc = history_render(l->history, pair[k].id, &now, err);
			if (rc == 0) {
				rendering_release(r);
				*r = now;
			} else {
				rendering_release(&now);
				return -1;
			}
		}
	}
	return 0;
}

static enum change change_of(const struct listing *l, size_t i)
{
	int class = l->entry[i].class, before = compared(l, i)->before;
	const struct rendering *now = &l->class[class], *old;
	if (now->fault)
		return CHANGE_ERROR;
	if (before < 0)
		return CHANGE_FIRST;
	old = &l->class[before];
	if (class == before ||
	    sha256_equal(&declarer_get(l->history->declarer, class)->drawn,
		&declarer_get(l->history->declarer, before)->drawn))
		return CHANGE_NONE;
	if (!now->is_known || !old->is_known)
		return CHANGE_UNKNOWN;
	return rendering_is_equal(l->history, now, old) ? CHANGE_NONE : CHANGE_SOME;
}

static int add_commit(struct listing *l, size_t i, struct err *err)
{
	struct history *h = l->history;
	const struct entry *e = &l->entry[i];
	const struct rendering *now = &l->class[e->class];
	struct comparison c;
	struct sha256 id;
	char hex[SHA256_HEX + 1];
	enum change change = change_of(l, i);
	int before = compared(l, i)->before;

	char *summary = walk_summary(h->session.repo, l->walk.commit[i].id, err);
	if (!summary)
		return -1;
	cJSON *json = cJSON_CreateObject();
	cJSON_AddItemToArray(l->commits, json);
	cJSON_AddStringToObject(json, "commit", l->walk.commit[i].id);
	cJSON_AddStringToObject(json, "summary", summary);
	cJSON_AddStringToObject(json, "status", change_name[change]);
	if (now->is_known) {
		rendering_id(h, now, &id);
		cJSON_AddStringToObject(json, "content", sha256_hex(&id, hex));
	} else {
		cJSON_AddNullToObject(json, "content");
	}
	if (now->fault)
		cJSON_AddStringToObject(json, "error", now->fault);
	if (change == CHANGE_SOME && rendering_compare(h, &l->class[before], now, &c)) {
		cJSON_AddNumberToObject(json, "rmse", c.rmse);
		cJSON_AddNumberToObject(json, "max", c.max);
	}
	if (before >= 0 && !now->fault && !l->class[before].fault)
		cJSON_AddItemToObject(json, "changed",
		    declared_changes(declarer_get(h->declarer, before),
			declarer_get(h->declarer, e->class)));
	free(summary);
	return 0;
}

static const char *text_of(const cJSON *json, const char *name)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, name);
	return cJSON_IsString(item) ? item->valuestring : "";
}

/* As git log --oneline: one line, what matters first. */
static void print_commit(const cJSON *json, int use_color)
{
	const cJSON *item, *rmse = cJSON_GetObjectItemCaseSensitive(json, "rmse");
	const char *content = text_of(json, "content");
	const char *status = text_of(json, "status");
	const char *separator = " (";
	int is_changed = strcmp(status, "changed") == 0;

	printf("%s%.7s%s %-8.8s %s%-9s%s", use_color ? "\033[33m" : "",
	    text_of(json, "commit"), use_color ? "\033[m" : "", *content ? content : "-",
	    use_color && is_changed ? "\033[1m" : "", status,
	    use_color && is_changed ? "\033[m" : "");
	if (rmse) {
		printf("%srmse %.6f, max %d", separator, rmse->valuedouble,
		    cJSON_GetObjectItemCaseSensitive(json, "max")->valueint);
		separator = "; ";
	}
	if (strcmp(status, "unchanged") != 0)
		cJSON_ArrayForEach (item,
		    cJSON_GetObjectItemCaseSensitive(json, "changed")) {
			printf("%s%s", separator, item->valuestring);
			separator = ", ";
		}
	if (*text_of(json, "error")) {
		const char *error = text_of(json, "error");
		printf("%s%.*s", separator, (int)strcspn(error, "\n"), error);
		separator = "; ";
	}
	printf("%s%s\n", strcmp(separator, " (") ? ") " : " ", text_of(json, "summary"));
}

static void print(struct listing *l, const struct options *o)
{
	struct history *h = l->history;
	const cJSON *item;
	if (!o->json) {
		cJSON_ArrayForEach (item, l->commits) {
			print_commit(item, o->use_color);
		}
		cJSON_Delete(l->commits);
		return;
	}
	cJSON *json = json_start("log");
	cJSON_AddStringToObject(json, "trace", h->trace);
	cJSON_AddItemToObject(json, "frames",
	    cJSON_CreateIntArray(h->frame, (int)h->nframe));
	cJSON_AddItemToObject(json, "commits", l->commits);
	cJSON_AddItemToObject(json, "counts", history_counts_json(h, l->walk.ncommit));
	json_print(json);
}

int cmd_log(struct options *o, const struct args_list *operand, struct err *err)
{
	struct history h = { 0 };
	struct listing l = { .history = &h };
	struct walk_options walk = { .first_parent = first_parent,
		.max = (size_t)max_commits };
	int rc = -1;

	if (!operand->nitem)
		return err_set(err, STATUS_INPUT,
		    "name a trace, as in 'stbuild log hero@120'");
	if (operand->nitem > 1)
		walk.range = operand->item[1];
	if (history_open(&h, o, "log", render ? SESSION_BUILD : SESSION_USE, err) ||
	    proc_catch_signals(err) || walk_open(h.session.repo, &walk, &l.walk, err))
		goto out;
	l.commits = cJSON_CreateArray();
	if (l.walk.ncommit) {
		/* The newest commit that has the trace says which frames. */
		size_t i = 0;
		struct err first = ERR_INIT;
		while (i < l.walk.ncommit &&
		    history_target(&h, operand->item[0], l.walk.commit[i].id,
			i ? err : &first)) {
			if (i++)
				err_release(err);
			errs_release(&o->error);
		}
		if (i == l.walk.ncommit) {
			err_move(err, &first);
			goto out;
		}
		err_release(&first);
		if (history_hold(&h, err) || history_unhold(&h, classify(&l, err), err) ||
		    history_recall(&h, &l.class, &l.nclass, err) ||
		    (render && fill_in(&l, err)))
			goto out;
		for (size_t k = 0; k < l.walk.ncommit; k++)
			if (add_commit(&l, k, err))
				goto out;
	} else {
		h.trace = xstrdup(operand->item[0]);
	}
	if (l.walk.is_cut && !o->silent)
		log_info("this shallow clone ends here; 'git fetch "
			 "--unshallow' gets the rest");
	if (o->json && !h.declarer) {
		struct declared_request none = { .repo = h.session.repo,
			.trace = h.trace };
		h.declarer = declarer_new(&none);
	}
	print(&l, o);
	l.commits = NULL;
	rc = STATUS_OK;
out:
	cJSON_Delete(l.commits);
	for (size_t i = 0; i < l.nclass; i++)
		rendering_release(&l.class[i]);
	free(l.class);
	free(l.entry);
	map_release(&l.index);
	walk_release(&l.walk);
	history_close(&h);
	return rc;
}

#include "cmd/collect.h"

#include "util/buf.h"
#include "util/log.h"
#include "util/map.h"
#include "util/mem.h"

#define AFTER_BUILD_S 2 /* nobody minds that behind a build */

struct keeping {
	struct store *store;
	struct map listed; /* "NAME@FRAME" of the manifest */
	struct map commit; /* HEAD and tags, hex */
	int is_any_commit;
	struct map content; /* ids that were looked at */
	struct map object;  /* what stays */
	struct err *err;
	int rc;
};

static void keep_object(void *data, const struct sha256 *object)
{
	struct keeping *k = data;
	map_put(&k->object, object->byte, SHA256_SIZE, 0);
}

static int keep_content(struct keeping *k, const struct sha256 *content)
{
	if (!k->rc && map_put(&k->content, content->byte, SHA256_SIZE, 0))
		k->rc =
		    store_each_content_object(k->store, content, keep_object, k, k->err);
	return k->rc;
}

static int is_listed(const struct keeping *k, const char *trace, int frame)
{
	char *name = xasprintf("%s@%d", trace, frame);
	int is = map_gets(&k->listed, name) != MAP_NONE;
	free(name);
	return is;
}

static int see_bundle(void *data, const struct bundle_row *row)
{
	struct keeping *k = data;
	return is_listed(k, row->trace, row->frame) ? keep_content(k, &row->content_id)
						    : 0;
}

static int see_history(void *data, const struct history_row *row)
{
	struct keeping *k = data;
	if (row->dirty || !*row->commit ||
	    (!k->is_any_commit && map_gets(&k->commit, row->commit) == MAP_NONE))
		return 0;
	return keep_content(k, &row->content_id);
}

static void see_tag(void *data, const char *commit)
{
	struct keeping *k = data;
	map_puts(&k->commit, commit, 0);
}

static void list_traces(struct keeping *k, const struct manifest *m)
{
	for (size_t i = 0; i < m->ntrace; i++)
		for (size_t f = 0; f < m->trace[i].nframe; f++) {
			char *name =
			    xasprintf("%s@%d", m->trace[i].name, m->trace[i].frame[f]);
			map_puts(&k->listed, name, 0);
			free(name);
		}
}

static int list_commits(struct keeping *k, struct session *s)
{
	struct repo *repo = session_repo(s);
	struct err fault = ERR_INIT;
	char head[41];
	if (!repo) {
		k->is_any_commit = 1;
		return 0;
	}
	if (repo_head_id(repo, head, &fault) < 0 ||
	    repo_each_tag(repo, see_tag, k, &fault) < 0) {
		log_verbose("all commits count as current: %s", fault.message);
		err_release(&fault);
		k->is_any_commit = 1;
		return 0;
	}
	map_puts(&k->commit, head, 0);
	return 0;
}

static int is_kept(void *data, const struct sha256 *object)
{
	const struct keeping *k = data;
	return map_get(&k->object, object->byte, SHA256_SIZE) != MAP_NONE;
}

int collect_run(struct session *s, struct store *store, const struct gc_options *options,
    struct gc_result *out, struct err *err)
{
	struct keeping k = { .store = store,
		.listed = MAP_INIT,
		.commit = MAP_INIT,
		.content = MAP_INIT,
		.object = MAP_INIT,
		.err = err };
	struct gc_options o = *options;
	int rc = -1;
	list_traces(&k, &s->manifest);
	if (list_commits(&k, s) < 0 ||
	    store_each_bundle(store, see_bundle, &k, err) < 0 || k.rc ||
	    store_each_history(store, NULL, -1, see_history, &k, err) < 0 || k.rc)
		goto out;
	o.is_kept = is_kept;
	o.data = &k;
	rc = gc_run(store, &o, out, err);
out:
	map_release(&k.listed);
	map_release(&k.commit);
	map_release(&k.content);
	map_release(&k.object);
	return rc;
}

void collect_after_build(struct session *s)
{
	struct gc_options o = { .max_bytes = s->manifest.store_max_size,
		.max_age_s = s->manifest.store_max_age_s,
		.time_limit_s = AFTER_BUILD_S };
	struct gc_result r;
	struct store *store = NULL;
	struct err err = ERR_INIT;
	uint64_t size = 0;
	if (!o.max_bytes || !s->store)
		return;
	if (gc_size(s->store, &size, &err) < 0 || size <= o.max_bytes)
		goto out;
	session_close_store(s);
	if (store_open(session_store_dir(s), STORE_TRY_EXCLUSIVE, s->command, &store,
		&err) < 0 ||
	    collect_run(s, store, &o, &r, &err) < 0)
		goto out;
	struct buf removed = BUF_INIT;
	bytes_print(r.removed_bytes, &removed);
	if (r.nremoved)
		log_verbose("the store was larger than its max_size: %llu objects"
			    " removed, %s",
		    (unsigned long long)r.nremoved, buf_str(&removed));
	buf_release(&removed);
out:
	/* Others build, most often. */
	if (err.message)
		log_verbose("nothing was removed from the store: %s", err.message);
	err_release(&err);
	store_close(store);
}

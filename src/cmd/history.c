#include "cmd/history.h"

#include <string.h>

#include "cmd/cmd.h"
#include "cmd/output.h"
#include "cmd/targets.h"
#include "graph/encoder.h"
#include "format/bundle.h"
#include "util/log.h"
#include "util/map.h"
#include "util/mem.h"
#include "verify/picture.h"
#include "util/proc.h"

int history_open(struct history *h, struct options *o, const char *command,
    enum session_store use, struct err *err)
{
	struct store *store;
	*h = (struct history){ .nrendered = 0 };
	if (session_open_history(&h->session, o, command, use, err) < 0)
		return -1;
	return use == SESSION_BUILD ? session_store(&h->session, &store, err) : 0;
}

int history_target(struct history *h, const char *target, const char *commit,
    struct err *err)
{
	struct session *s = &h->session;
	struct errs errs = ERRS_INIT;
	struct targets targets = { 0 };
	struct target_options options = { 0 };
	struct args_list operand = { &target, 1, 0 };
	int rc = -1;

	if (session_at(s, commit, &errs) < 0) {
		errors_end(s->options, &errs, err);
		goto out;
	}
	if (targets_find(&s->manifest, &options, &operand, &targets, err))
		goto out;
	if (targets.nrequest != 1) {
		err_set(err, STATUS_INPUT,
		    "'%s' is a sound; history is kept "
		    "of traces",
		    target);
		goto out;
	}
	const struct capture_request *r = &targets.request[0];
	h->trace = xstrdup(r->name);
	h->frame = xmemdup(r->frame, r->nframe * sizeof *r->frame);
	h->nframe = r->nframe;
	struct declared_request request = { .repo = s->repo,
		.store = s->store,
		.may_write = s->use != SESSION_READ,
		.manifest = s->commit_path,
		.trace = h->trace };
	h->declarer = declarer_new(&request);
	rc = 0;
out:
	errs_release(&errs);
	targets_release(&targets);
	return rc;
}

int history_test(struct history *h, const char *test, const char *commit, struct err *err)
{
	struct session *s = &h->session;
	struct errs errs = ERRS_INIT;
	int rc = session_at(s, commit, &errs);

	if (rc < 0)
		errors_end(s->options, &errs, err);
	errs_release(&errs);
	if (rc < 0)
		return -1;
	h->test = xstrdup(test);
	struct declared_request request = { .repo = s->repo,
		.store = s->store,
		.may_write = s->use != SESSION_READ,
		.manifest = s->commit_path,
		.test = h->test };
	h->declarer = declarer_new(&request);
	return 0;
}

void history_close(struct history *h)
{
	declarer_free(h->declarer);
	free(h->trace);
	free(h->test);
	free(h->frame);
	session_close(&h->session);
	*h = (struct history){ .nrendered = 0 };
}

static int can_write(const struct history *h)
{
	return h->session.store && store_can_write(h->session.store);
}

int history_hold(struct history *h, struct err *err)
{
	return can_write(h) ? store_begin(h->session.store, err) : 0;
}

int history_unhold(struct history *h, int rc, struct err *err)
{
	if (!can_write(h))
		return rc;
	if (rc == 0)
		return store_commit(h->session.store, err);
	store_rollback(h->session.store);
	return rc;
}

int history_class(struct history *h, const char *commit, int *class, struct err *err)
{
	if (proc_signal())
		return err_set(err, STATUS_FAILED, "interrupted");
	return declarer_class(h->declarer, commit, class, err);
}

/* Renderings ------------------------------------------------------------------- */

static void rendering_init(struct rendering *r, size_t nframe)
{
	*r = (struct rendering){ .is_known = 0 };
	r->content = xcalloc(nframe + 1, sizeof *r->content);
	r->path = xcalloc(nframe + 1, sizeof *r->path);
}

void rendering_release(struct rendering *r)
{
	for (size_t i = 0; r->path && r->path[i]; i++)
		free(r->path[i]);
	free(r->path);
	free(r->content);
	free(r->fault);
	*r = (struct rendering){ .is_known = 0 };
}

int rendering_is_equal(const struct history *h, const struct rendering *a,
    const struct rendering *b)
{
	return memcmp(a->content, b->content, h->nframe * sizeof *a->content) == 0;
}

void rendering_id(const struct history *h, const struct rendering *r, struct sha256 *out)
{
	if (h->nframe == 1)
		*out = r->content[0];
	else
		sha256_of(r->content, h->nframe * sizeof *r->content, out);
}

void history_count(struct history *h, const struct capture_counts *c)
{
	counts_add(&h->counts, c);
	h->nrendered += c->nodes_drawn > 0;
}

cJSON *history_counts_json(const struct history *h, size_t ncommit)
{
	cJSON *json = cJSON_CreateObject();

	cJSON_AddNumberToObject(json, "commits", (double)ncommit);
	cJSON_AddNumberToObject(json, "classes", (double)declarer_count(h->declarer));
	cJSON_AddNumberToObject(json, "commits_read",
	    (double)declarer_reads(h->declarer));
	cJSON_AddNumberToObject(json, "commits_rendered", h->nrendered);
	cJSON_AddNumberToObject(json, "nodes_drawn", (double)h->counts.nodes_drawn);
	return json;
}

/* NAME@F,F,.. */
static char *target_text(const struct history *h)
{
	struct buf text = BUF_INIT;
	buf_addf(&text, "%s@", h->trace);
	for (size_t i = 0; i < h->nframe; i++)
		buf_addf(&text, "%s%d", i ? "," : "", h->frame[i]);
	return buf_detach(&text);
}

static int take_result(struct history *h, const struct capture_result *result,
    struct rendering *out, struct err *err)
{
	struct store *store = h->session.store;
	for (size_t i = 0; i < result->nbundle; i++) {
		const struct capture_bundle *b = &result->bundle[i];
		struct bundle_row row;
		if (b->status == CAPTURE_FAILED) {
			if (b->err.status == STATUS_MACHINE)
				return err_set(err, STATUS_MACHINE, "%s", b->err.message);
			out->fault = err_text(&b->err);
			return 0;
		}
		if (!store_bundle(store, b->path, &row))
			return err_set(err, STATUS_MACHINE, "%s is not in the store",
			    b->path);
		out->content[i] = row.content_id;
		out->path[i] = xstrdup(b->path);
		bundle_row_release(&row);
	}
	out->is_known = 1;
	return 0;
}

int history_render(struct history *h, const char *commit, struct rendering *out,
    struct err *err)
{
	struct session *s = &h->session;
	struct errs errs = ERRS_INIT;
	struct targets targets = { 0 };
	struct target_options options = { 0 };
	struct capture_result result = { 0 };
	char *text = target_text(h);
	const char *word = text;
	struct args_list operand = { &word, 1, 0 };
	struct err cause = ERR_INIT;
	int rc = -1;

	rendering_init(out, h->nframe);
	if (session_at(s, commit, &errs) < 0) {
		err_move(&cause, &errs.err[0]);
		goto fault;
	}
	if (targets_find(&s->manifest, &options, &operand, &targets, &cause) ||
	    targets_capture(s, &targets, 0, NULL, &result, &cause))
		goto fault;
	history_count(h, &result.counts);
	if (result.signal)
		err_set(err, STATUS_FAILED, "interrupted");
	else
		rc = take_result(h, &result, out, err);
	goto out;
fault:
	if (cause.status == STATUS_MACHINE) {
		err_move(err, &cause);
		err_wrap(err, "while rendering commit %.7s", commit);
		goto out;
	}
	out->fault = err_text(&cause);
	rc = 0;
out:
	capture_result_release(&result);
	targets_release(&targets);
	errs_release(&errs);
	err_release(&cause);
	free(text);
	return rc;
}

/* What is recorded --------------------------------------------------------------- */

struct recall {
	struct history *history;
	struct history_row *row;
	size_t nrow, cap;
	struct map bundle; /* content -> index of path[] */
	char **path;
	size_t npath, path_cap;
};

static int take_row(void *data, const struct history_row *row)
{
	struct recall *r = data;
	if (row->dirty || !row->commit[0])
		return 0;
	r->row = array_grow(r->row, r->nrow, &r->cap, sizeof *r->row);
	r->row[r->nrow] = *row;
	r->row[r->nrow++].trace = NULL;
	return 0;
}

static int take_bundle(void *data, const struct bundle_row *row)
{
	struct recall *r = data;
	r->path = array_grow(r->path, r->npath, &r->path_cap, sizeof *r->path);
	map_put(&r->bundle, row->content_id.byte, SHA256_SIZE, r->npath);
	r->path[r->npath++] = xstrdup(row->path);
	return 0;
}

/* The rendering of a class, made when it is new. */
static struct rendering *of_class(struct history *h, struct rendering **list, size_t *n,
    int class)
{
	if ((size_t) class >= *n) {
		size_t want = declarer_count(h->declarer);
		*list = xreallocarray(*list, want, sizeof **list);
		while (*n < want) {
			const struct declared *d = declarer_get(h->declarer, (int)*n);
			struct rendering *r = &(*list)[(*n)++];
			rendering_init(r, h->nframe);
			r->fault = xstrdup(d->fault);
		}
	}
	return &(*list)[class];
}

int history_recall(struct history *h, struct rendering **out, size_t *n, struct err *err)
{
	struct recall r = { .history = h };
	struct store *store = h->session.store;
	struct map have = MAP_INIT; /* (class, frame) */
	int rc = -1;

	*out = NULL;
	*n = 0;
	if (declarer_count(h->declarer))
		of_class(h, out, n, 0);
	if (store &&
	    (store_each_bundle(store, take_bundle, &r, err) ||
		store_each_history(store, h->trace, -1, take_row, &r, err)))
		goto out;
	/* The newest of what a class was seen with counts. */
	for (size_t i = r.nrow; i-- > 0;) {
		const struct history_row *row = &r.row[i];
		struct err lost = ERR_INIT;
		int class, known;
		size_t f = 0;
		while (f < h->nframe && h->frame[f] != row->frame)
			f++;
		if (f == h->nframe)
			continue;
		known = declarer_class(h->declarer, row->commit, &class, &lost);
		err_release(&lost);
		if (known < 0)
			continue; /* a commit that was thrown away */
		struct rendering *to = of_class(h, out, n, class);
		int key[2] = { class, row->frame };
		if (!sha256_equal(&row->variant,
			&declarer_get(h->declarer, class)->variant) ||
		    map_get(&have, key, sizeof key) != MAP_NONE)
			continue;
		map_put(&have, key, sizeof key, 1);
		to->content[f] = row->content_id;
	}
	for (size_t c = 0; c < *n; c++) {
		struct rendering *to = &(*out)[c];
		size_t nknown = 0;
		for (size_t f = 0; f < h->nframe; f++) {
			int key[2] = { (int)c, h->frame[f] };
			nknown += map_get(&have, key, sizeof key) != MAP_NONE;
		}
		to->is_known = nknown == h->nframe;
		for (size_t f = 0; f < h->nframe && to->is_known; f++) {
			size_t at = map_get(&r.bundle, to->content[f].byte, SHA256_SIZE);
			if (at == MAP_NONE)
				break;
			to->path[f] = xstrdup(r.path[at]);
		}
	}
	rc = 0;
out:
	for (size_t i = 0; i < r.npath; i++)
		free(r.path[i]);
	free(r.path);
	free(r.row);
	map_release(&r.bundle);
	map_release(&have);
	return rc;
}

/* Pictures ------------------------------------------------------------------------- */

static int read_picture(const char *path, struct picture *out, struct err *err)
{
	struct bundle bundle = { 0 };
	int rc = bundle_open(path, &bundle, err);

	if (rc == 0)
		rc = picture_of_bundle(&bundle, out, err);
	bundle_release(&bundle);
	return rc;
}

int pictures_compare(const char *bundle_a, const char *bundle_b, struct comparison *out,
    struct err *err)
{
	struct picture a = { 0 }, b = { 0 };
	int rc = -1;

	*out = (struct comparison){ .rmse = 1, .max = 255 };
	if (read_picture(bundle_a, &a, err) || read_picture(bundle_b, &b, err))
		goto out;
	if (picture_is_same_size(&a, &b))
		compare_bytes(a.rgb, b.rgb, picture_size(&a), out);
	rc = 0;
out:
	picture_release(&a);
	picture_release(&b);
	return rc;
}

int rendering_compare(const struct history *h, const struct rendering *a,
    const struct rendering *b, struct comparison *out)
{
	*out = (struct comparison){ .is_equal = 1 };
	for (size_t i = 0; i < h->nframe; i++) {
		struct comparison one = { .is_equal = 1 };
		struct err err = ERR_INIT;
		if (sha256_equal(&a->content[i], &b->content[i]))
			continue;
		if (!a->path[i] || !b->path[i])
			return 0;
		char *from = fs_join(h->session.root, a->path[i]);
		char *to = fs_join(h->session.root, b->path[i]);
		int rc = pictures_compare(from, to, &one, &err);
		if (rc)
			log_verbose("%s", err.message);
		err_release(&err);
		free(from);
		free(to);
		if (rc)
			return 0;
		out->is_equal &= one.is_equal;
		if (one.rmse > out->rmse)
			out->rmse = one.rmse;
		if (one.max > out->max)
			out->max = one.max;
	}
	return 1;
}

/* The name of a part that is another one; programs are told by their passes. */
static void add_change(void *data, const struct fact *was, const struct fact *now)
{
	const struct fact *f = now ? now : was;
	struct buf name = BUF_INIT;

	if (f->kind != FACT_PASS && f->kind != FACT_SETTINGS && f->kind != FACT_TEST)
		return;
	fact_print_name(f, &name);
	cJSON_AddItemToArray(data, cJSON_CreateString(buf_str(&name)));
	buf_release(&name);
}

cJSON *declared_changes(const struct declared *a, const struct declared *b)
{
	cJSON *list = cJSON_CreateArray();

	facts_compare(&a->facts, &b->facts, add_change, list);
	return list;
}

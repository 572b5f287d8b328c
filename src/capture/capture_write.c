#include "capture_impl.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/limits.h"
#include "format/bundle.h"
#include "format/sttf.h"
#include "util/log.h"
#include "util/mem.h"

/*
 * What bundles that are written at one time may take, by what they hold at
 * worst; one at least is always written. Without it memory would grow with the
 * number of CPUs.
 */
#define ASSEMBLY_BYTES_MAX (40u << 20)

struct assembly_job {
	struct pool_job job;
	uint64_t nbyte; /* counted in capture.assembly_bytes */
	struct runner *runner;
	struct job *bundle;
	struct assembly assembly;
};

/* Results ------------------------------------------------------------------------ */

void capture_fail_job(struct capture *c, struct job *job, const struct err *cause)
{
	struct err *err = &job->result->err;

	if (job->is_done)
		return;
	job->is_done = 1;
	job->result->status = CAPTURE_FAILED;
	err_copy(err, cause);
	c->result->counts.failures++;
	if (!c->env->keep_going)
		c->is_stopping = 1;
}

int capture_was_drawn(const struct capture *c, const struct sha256 *key)
{
	return map_get(&c->drawn, key->byte, sizeof key->byte) != MAP_NONE;
}

struct drawn_check {
	const struct capture *capture;
	const struct group *group;
	int is_drawn;
};

static void check_drawn(void *data, uint32_t node)
{
	struct drawn_check *d = data;

	d->is_drawn |= capture_was_drawn(d->capture, &d->group->keys.key[node]);
}

static void check_written(void *data, uint32_t version)
{
	struct drawn_check *d = data;

	check_drawn(data, d->group->keys.version[version].writer);
}

static void count_reused(struct capture *c, const struct group *g, int frame)
{
	for (size_t i = 0; i < g->graph.norder; i++) {
		int p = g->graph.order[i];
		if (g->graph.is_reached[p] &&
		    !capture_was_drawn(c, &g->keys.key[keys_node(&g->keys, p, frame)]))
			c->result->counts.nodes_reused++;
	}
}

static enum capture_status content_status(const struct capture *c, const struct group *g,
    const struct job *job)
{
	struct drawn_check d = { c, g, 0 };

	plan_wanted(&g->keys, job->frame, check_drawn, NULL, check_written, &d);
	if (d.is_drawn)
		return CAPTURE_BUILT;
	if (job->row.path && sha256_equal(&job->row.inputs_id, &job->inputs_id))
		return CAPTURE_RESTORED;
	return CAPTURE_ASSEMBLED;
}

static int add_history(struct capture *c, const struct group *g, const struct job *job,
    const struct sha256 *content, struct err *err)
{
	const struct git_state *git = &g->set->git;
	struct history_row row = { .trace = job->result->name,
		.frame = job->frame,
		.content_id = *content,
		.dirty = git->ndirty > 0,
		.time = (int64_t)time(NULL) };

	variant_id(&g->variant, &row.variant);
	if (git->has_head)
		memcpy(row.commit, git->head.id, sizeof row.commit);
	return store_add_history(c->env->programs.store, &row, err);
}

struct content_keys {
	struct store *store;
	const struct keys *keys;
	const struct sha256 *content;
	struct err *err;
	int rc;
};

static void add_node(void *data, uint32_t node)
{
	struct content_keys *c = data;

	if (c->rc == 0)
		c->rc =
		    store_add_content(c->store, c->content, &c->keys->key[node], c->err);
}

static void add_version(void *data, uint32_t version)
{
	struct content_keys *c = data;

	if (c->rc == 0)
		c->rc = store_add_content(c->store, c->content,
		    &c->keys->version[version].key, c->err);
}

/* Records a bundle that stands at its path. file[] stays the assembly's. */
static int record_bundle(struct capture *c, struct group *g, struct job *job,
    struct assembly *a, struct err *err)
{
	const struct git_state *git = &g->set->git;
	struct store *store = c->env->programs.store;
	struct bundle_row row = { .path = job->path,
		.trace = job->request->is_one_off ? "" : job->result->name,
		.frame = job->frame,
		.inputs_id = job->inputs_id,
		.stable_id = a->stable_id,
		.content_id = a->content_id };

	variant_id(&g->variant, &row.variant);
	if (a->is_same || job->keeps_git) {
		memcpy(row.commit, job->row.commit, sizeof row.commit);
		row.dirty = job->row.dirty;
	} else {
		if (git->has_head)
			memcpy(row.commit, git->head.id, sizeof row.commit);
		row.dirty = git->ndirty > 0;
	}
	row.file = a->is_same ? job->row.file : a->file;
	row.nfile = a->is_same ? job->row.nfile : a->nfile;
	struct content_keys keys = { store, &g->keys, &row.content_id, err, 0 };
	if (store_begin(store, err))
		return -1;
	int rc = store_add_bundle(store, &row, err);
	if (rc == 0)
		rc = group_bind_frame(g, store, job->frame, err);
	if (rc == 0)
		rc = capture_record_why(c, g, job, err);
	if (rc == 0)
		rc = add_history(c, g, job, &a->content_id, err);
	/* One-off captures may be collected: nothing says which still matter. */
	if (rc == 0 && !job->request->is_one_off) {
		plan_wanted(&g->keys, job->frame, add_node, add_node, add_version, &keys);
		rc = keys.rc;
	}
	if (rc == 0)
		return store_commit(store, err);
	store_rollback(store);
	return rc;
}

/* Retagging: trace.json alone, its git section alone. */
static int retag(struct capture *c, const struct group *g, struct job *job,
    struct err *err)
{
	char *dir = fs_join(c->env->root, job->path);
	char *path = fs_join(dir, "trace.json");
	cJSON *git = git_json(&g->set->git);
	int rc = bundle_set_git(dir, git, err);

	for (size_t i = 0; i < job->row.nfile && rc == 0; i++) {
		struct bundle_file *f = &job->row.file[i];
		if (strcmp(f->key, "trace") != 0)
			continue;
		rc = fs_hash(path, &f->sha, &f->size, err);
		if (rc == 0 && fs_stamp(path, &f->stamp))
			rc = err_errno(err, STATUS_MACHINE, "%s", path);
	}
	if (rc == 0) {
		memcpy(job->row.commit, g->set->git.head.id, sizeof job->row.commit);
		job->row.dirty = 0;
		rc = store_add_bundle(c->env->programs.store, &job->row, err);
	}
	if (rc == 0)
		rc = add_history(c, g, job, &job->row.content_id, err);
	cJSON_Delete(git);
	free(path);
	free(dir);
	return rc;
}

/* A job that needs no content: current, or retagged. */
int capture_finish_job(struct capture *c, const struct group *g, struct job *job,
    struct err *err)
{
	const struct git_state *git = &g->set->git;

	job->is_done = 1;
	if (job->is_retagged) {
		job->result->status = CAPTURE_RETAGGED;
		c->result->counts.traces_built++;
		return c->env->dry_run ? 0 : retag(c, g, job, err);
	}
	job->result->status = CAPTURE_CURRENT;
	job->result->inputs_id = job->inputs_id;
	c->result->counts.traces_current++;
	if (!c->env->dry_run && git->has_head &&
	    strcmp(git->head.id, job->row.commit) != 0)
		return add_history(c, g, job, &job->row.content_id, err);
	return 0;
}

/* Assembling ---------------------------------------------------------------------- */

static void run_assembly(struct pool_job *job)
{
	struct assembly_job *a = job->data;

	assembly_run(&a->assembly);
}

/* Bundles whose pictures rest on the same of the timeline share the text. */
static int make_sttf(struct capture *c, struct group *g, const struct job *job,
    const struct variant *v, struct err *err)
{
	const struct manifest *m = c->env->manifest;
	struct source *source;
	int rc = 0;

	if (g->sttf.data && sha256_equal(&g->sttf_timeline, &job->timeline))
		return 0;
	buf_reset(&g->sttf);
	g->sttf_timeline = job->timeline;
	for (size_t a = 0; a < m->nasset && rc == 0; a++)
		rc = capture_read_asset(c, a, err);
	if (rc != 0)
		return rc;
	source = xcalloc(m->npass, sizeof *source);
	for (size_t p = 0; p < m->npass; p++)
		source[p] = g->set->programs.program[p].source;
	rc = sttf_write(v, source, c->assets.image, &g->sttf, err);
	free(source);
	return rc;
}

/* 1 with the piece, 0 when its object is not there. */
static int find_piece(struct capture *c, const char *name, const struct sha256 *key,
    int index, struct piece *out)
{
	struct product product;

	if (!store_product(c->env->programs.store, key, index, &product))
		return 0;
	memset(out, 0, sizeof *out);
	out->name = xstrdup(name);
	out->path = object_path(c->env->programs.store, &product.object);
	out->sha = product.object;
	out->bytes = product.size;
	out->output = index;
	out->nface = 1;
	out->is_trusted =
	    map_get(&c->written, product.object.byte, SHA256_SIZE) != MAP_NONE;
	return 1;
}

static int find_picture(struct capture *c, const struct group *g, int p, int frame,
    int output, struct piece *out)
{
	const struct pass *pass = &c->env->manifest->pass[p];
	const struct sha256 *key = &g->keys.key[keys_node(&g->keys, p, frame)];

	if (!find_piece(c, pass->name, key, output, out))
		return 0;
	target_size(&g->variant, p, &out->width, &out->height);
	out->format = pass_format(pass, output);
	out->nface = pass->kind == PASS_CUBEMAP ? 6 : 1;
	out->is_output_sized = g->variant.pass[p].is_output_sized;
	return 1;
}

static int find_pieces(struct capture *c, const struct group *g, int frame,
    int with_intermediates, struct assembly *a)
{
	const struct manifest *m = c->env->manifest;
	size_t max = 0;

	for (size_t p = 0; p < m->npass; p++)
		max += 1 + (size_t)m->pass[p].nextra_output;
	a->state = xcalloc(max + g->graph.nstorage + 1, sizeof *a->state);
	a->intermediate = xcalloc(max + 1, sizeof *a->intermediate);
	if (!find_picture(c, g, m->image, frame, 0, &a->final))
		return 0;
	for (size_t p = 0; p < m->npass; p++) {
		const struct pass *pass = &m->pass[p];
		if (!g->graph.is_reached[p] || (int)p == m->image)
			continue;
		if (pass->kind != PASS_CUBEMAP &&
		    !find_picture(c, g, (int)p, frame, 0, &a->state[a->nstate++]))
			return a->nstate--, 0;
		for (int k = 0; with_intermediates && k <= pass->nextra_output; k++)
			if (!find_picture(c, g, (int)p, frame, k,
				&a->intermediate[a->nintermediate++]))
				return a->nintermediate--, 0;
	}
	for (size_t s = 0; s < g->graph.nstorage; s++) {
		uint32_t v = keys_version_after(&g->keys, (int)s, frame);
		if (g->keys.version[v].writer == NODE_NONE)
			continue;
		struct piece *piece = &a->state[a->nstate];
		if (!find_piece(c, g->graph.storage[s], &g->keys.version[v].key, 0,
			piece))
			return 0;
		piece->is_storage = 1;
		a->nstate++;
	}
	return 1;
}

/* The time that a node took; of its likes where its own is not on record. */
static int find_time(struct capture *c, const struct group *g, int p, int frame,
    uint64_t *ns)
{
	uint32_t node = keys_node(&g->keys, p, frame);
	struct node_row row;
	int w, h;

	if (store_node(c->env->programs.store, &g->keys.key[node], &row)) {
		*ns = row.gpu_ns;
		return 1;
	}
	target_size(&g->variant, p, &w, &h);
	*ns = store_cost(c->env->programs.store, &g->keys.static_part[p],
	    (uint64_t)w * (uint64_t)h);
	return *ns > 0;
}

static void find_timings(struct capture *c, const struct group *g, int frame,
    struct trace_timing *timing, size_t *n)
{
	*n = 0;
	for (size_t i = 0; i < g->graph.norder; i++) {
		int p = g->graph.order[i];
		uint64_t ns;
		if (g->graph.is_reached[p] && find_time(c, g, p, frame, &ns))
			timing[(*n)++] = (struct trace_timing){ p, ns };
	}
}

/* 1 when these are the bytes that the bundle's row has for the file. */
static int is_recorded(const struct job *job, const char *key, const struct buf *bytes)
{
	struct sha256 sha;

	sha256_of(bytes->data, bytes->len, &sha);
	for (size_t i = 0; i < job->row.nfile; i++)
		if (strcmp(job->row.file[i].key, key) == 0)
			return sha256_equal(&sha, &job->row.file[i].sha);
	return 0;
}

/*
 * The git section of a bundle whose files are put back stays as it was, unless
 * trace.json itself is one of those files. 1 when it stays.
 */
static int keep_git(struct capture *c, const struct job *job, cJSON *json)
{
	int is_kept = 0;
	char *dir = fs_join(c->env->root, job->path);
	char *path = fs_join(dir, "trace.json");
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;
	cJSON *old = NULL;

	if (fs_read(path, LIMIT_TRACE_BYTES, &text, &err) == 0 &&
	    is_recorded(job, "trace", &text) &&
	    json_parse(path, text.data, text.len, &old, &err) == 0) {
		cJSON *git = cJSON_DetachItemFromObjectCaseSensitive(old, "git");
		is_kept = git != NULL;
		if (git)
			cJSON_ReplaceItemInObjectCaseSensitive(json, "git", git);
	}
	cJSON_Delete(old);
	err_release(&err);
	buf_release(&text);
	free(path);
	free(dir);
	return is_kept;
}

/* The texts of a bundle: project.sttf, and trace.json but for its files. */
static int write_texts(struct capture *c, struct group *g, const struct job *job,
    struct assembly *a, struct err *err)
{
	struct timeline_part part;
	struct variant v = g->variant; /* shallow: another timeline */
	size_t ntiming;

	group_timeline(g, job->frame, &part);
	v.timeline = &part.timeline;
	int rc = make_sttf(c, g, job, &v, err);
	if (rc == 0) {
		struct trace_timing *timing =
		    xcalloc(g->graph.norder + 1, sizeof *timing);
		find_timings(c, g, job->frame, timing, &ntiming);
		struct trace_facts facts = { &g->keys, &v, job->frame, g->set->source_sha,
			&g->set->inputs, c->env->programs.driver, &g->set->git, timing,
			ntiming };
		a->json = trace_json(&facts);
		a->sttf = xmemdup(g->sttf.data, g->sttf.len);
		a->nsttf = g->sttf.len;
		free(timing);
	}
	timeline_part_release(&part);
	return rc;
}

/* Memory that writing a bundle takes: its largest picture, and the texts. */
static uint64_t assembly_size(const struct group *g, const struct job *job)
{
	const struct manifest *m = g->variant.manifest;
	uint64_t most = (uint64_t)g->variant.width * (uint64_t)g->variant.height *
	    10; /* RGBA, RGB, PNG */

	for (size_t p = 0; p < m->npass && job->request->include_intermediates; p++) {
		const struct pass *pass = &m->pass[p];
		int nface = pass->kind == PASS_CUBEMAP ? 6 : 1, w, h;
		if (!g->graph.is_reached[p] || (int)p == m->image)
			continue;
		target_size(&g->variant, (int)p, &w, &h);
		for (int k = 0; k <= pass->nextra_output; k++) {
			uint64_t n = (uint64_t)w * (uint64_t)h *
			    ((uint64_t)nface * format_bytes(pass_format(pass, k)) + 16 +
				6);
			most = n > most ? n : most;
		}
	}
	return most + 4 * g->sttf.len;
}

/* Starts writing a bundle whose products are all stored. 0 when some is not. */
static int start_assembly(struct runner *r, struct job *job, struct err *err)
{
	struct capture *c = r->capture;
	struct group *g = r->group;

	struct assembly_job *aj = xcalloc(1, sizeof *aj);
	struct assembly *a = &aj->assembly;
	if (!find_pieces(c, g, job->frame, job->request->include_intermediates, a)) {
		assembly_release(a);
		free(aj);
		return 0;
	}
	if (write_texts(c, g, job, a, err)) {
		assembly_release(a);
		free(aj);
		return -1;
	}
	job->keeps_git = 0;
	if (job->row.path && sha256_equal(&job->row.inputs_id, &job->inputs_id))
		job->keeps_git = keep_git(c, job, a->json);
	a->path = fs_join(c->env->root, job->path);
	a->project = xstrdup(c->env->manifest->name);
	a->width = g->variant.width;
	a->height = g->variant.height;
	a->fps = g->variant.fps;
	a->frame = job->frame;
	a->is_on_record = job->row.path != NULL;
	a->has_stable = job->is_intact && !c->env->always;
	a->stable = job->row.stable_id;
	if (!c->env->always) {
		a->old = job->row.file;
		a->nold = job->row.nfile;
	}
	aj->bundle = job;
	aj->runner = r;
	aj->job.run = run_assembly;
	aj->job.data = aj;
	aj->nbyte = assembly_size(g, job);
	c->assembly_bytes += aj->nbyte;
	job->is_under_way = 1;
	r->nassembling++;
	pool_add(c->pool, &aj->job);
	return 1;
}

/* Starts all bundles whose products have arrived, in frame order. */
int capture_assemble_ready(struct runner *r, struct err *err)
{
	struct group *g = r->group;

	if (g->needs_rekey || !g->has_plan)
		return 0;
	for (size_t i = g->first_open; i < g->njob; i++) {
		struct job *job = &g->job[i];
		uint32_t which;
		if (job->is_done || job->is_under_way) {
			g->first_open += i == g->first_open;
			continue;
		}
		if (group_frame_has_failed(g, job->frame, &which)) {
			uint32_t cause = g->plan.node[which].cause;
			size_t at = map_get(&r->capture->failed, g->keys.key[cause].byte,
			    SHA256_SIZE);
			struct err lost = ERR_INIT;
			if (at == MAP_NONE)
				err_set(&lost, STATUS_FAILED,
				    "the inputs of "
				    "pass '%s' could not be rendered",
				    g->variant.manifest
					->pass[keys_node_pass(&g->keys, which)]
					.name);
			capture_fail_job(r->capture, job,
			    at == MAP_NONE ? &lost : &r->capture->fault.err[at]);
			err_release(&lost);
			continue;
		}
		/* Frames arrive in order: what is behind this one is open, too. */
		if (!group_frame_is_stored(g, job->frame) ||
		    (r->nassembling > 0 &&
			r->capture->assembly_bytes + assembly_size(g, job) >
			    ASSEMBLY_BYTES_MAX))
			break;
		if (start_assembly(r, job, err) < 0)
			return -1;
	}
	return 0;
}

int capture_end_assembly(struct pool_job *pool_job, struct err *err)
{
	struct assembly_job *aj = pool_job->data;
	struct runner *r = aj->runner;
	struct capture *c = r->capture;
	struct job *job = aj->bundle;
	struct assembly *a = &aj->assembly;
	int rc = 0;

	r->nassembling--;
	c->assembly_bytes -= aj->nbyte;
	job->is_under_way = 0;
	if (a->ok) {
		r->nround = 0;
		job->is_done = 1;
		job->result->status =
		    a->is_same ? CAPTURE_CURRENT : content_status(c, r->group, job);
		job->result->inputs_id = job->inputs_id;
		if (a->is_same) {
			c->result->counts.traces_current++;
		} else {
			c->result->counts.traces_built++;
			count_reused(c, r->group, job->frame);
		}
		rc = record_bundle(c, r->group, job, a, err);
	} else if (a->is_torn) {
		/* The next plan finds the object missing, and draws again. */
		r->group->first_open = 0;
		log_warn("%s; it is rendered again", a->err.message);
		for (size_t i = 0; i <= a->nstate + a->nintermediate; i++) {
			const struct piece *p = i == 0 ? &a->final
			    : i <= a->nstate           ? &a->state[i - 1]
					     : &a->intermediate[i - 1 - a->nstate];
			struct buf whole = BUF_INIT;
			object_read(c->env->programs.store, &p->sha,
			    buf_reserve(&whole, p->bytes), p->bytes);
			buf_release(&whole);
		}
	} else {
		capture_fail_job(c, job, &a->err);
		if (a->err.status == STATUS_MACHINE) {
			err_move(err, &a->err);
			rc = -1;
		}
	}
	assembly_release(a);
	free(aj);
	return rc;
}

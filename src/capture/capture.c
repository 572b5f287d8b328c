#include "capture/capture.h"

#include <stdlib.h>
#include <string.h>

#include "capture_impl.h"
#include "format/bundle_write.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/proc.h"

const char *capture_status_name(enum capture_status s)
{
	static const char *const name[] = {
		[CAPTURE_CURRENT] = "current",
		[CAPTURE_RETAGGED] = "retagged",
		[CAPTURE_RESTORED] = "restored",
		[CAPTURE_ASSEMBLED] = "assembled",
		[CAPTURE_BUILT] = "built",
		[CAPTURE_FAILED] = "failed",
		[CAPTURE_STALE] = "stale",
	};

	return name[s];
}

/* Groups ------------------------------------------------------------------------- */

static char *bundle_path(const struct capture_env *env, const struct capture_request *r,
    const struct variant *v, int frame)
{
	struct sha256 id;
	char hex[SHA256_HEX + 1], *folder, *path;

	if (r->path)
		return xstrdup(r->path);
	folder = env->commit
	    ? xasprintf("target/revisions/%.12s", env->commit)
	    : xstrdup(r->is_one_off ? "target/captures" : "target/traces");
	variant_id(v, &id);
	if (r->is_one_off)
		path = xasprintf("%s/%s@%d-%.8s.sttrace", folder, r->name, frame,
		    sha256_hex(&id, hex));
	else
		path = xasprintf("%s/%s@%d.sttrace", folder, r->name, frame);
	free(folder);
	return path;
}

/* Asked for twice: once is enough. */
static int is_known(const struct capture_env *env, struct map *paths,
    const struct capture_request *r, const struct variant *v, int frame)
{
	char *path = bundle_path(env, r, v, frame);
	int is_new = map_puts(paths, path, 1);

	free(path);
	return !is_new;
}

static void add_job(const struct capture_env *env, struct group *g,
    const struct capture_request *r, int frame, struct capture_bundle *result)
{
	g->job = array_grow(g->job, g->njob, &g->job_cap, sizeof *g->job);
	struct job *job = &g->job[g->njob++];
	memset(job, 0, sizeof *job);
	job->request = r;
	job->frame = frame;
	job->path = bundle_path(env, r, &g->variant, frame);
	job->result = result;
	result->name = xstrdup(r->name);
	result->frame = frame;
	result->width = g->variant.width;
	result->height = g->variant.height;
	result->time = frame / g->variant.fps;
	result->path = xstrdup(job->path);
}

static int make_groups(struct capture *c, const struct capture_request *request,
    size_t nrequest, struct err *err)
{
	struct capture_bundle *bundle = c->result->bundle;
	struct map ids = MAP_INIT, paths = MAP_INIT;
	int rc = 0;

	c->group = xcalloc(nrequest + 1, sizeof *c->group);
	for (size_t i = 0; i < nrequest && rc == 0; i++) {
		const struct capture_request *r = &request[i];
		struct group *g = xcalloc(1, sizeof *g);
		struct sha256 id;
		if (variant_init(&g->variant, c->env->manifest, r->trace, r->options,
			err)) {
			free(g);
			rc = -1;
			break;
		}
		variant_id(&g->variant, &id);
		size_t known = map_get(&ids, id.byte, sizeof id.byte);
		if (known != MAP_NONE) {
			group_release(g);
			free(g);
			g = c->group[known];
		} else {
			map_put(&ids, id.byte, sizeof id.byte, c->ngroup);
			c->group[c->ngroup++] = g;
			rc = capture_find_set(c, &g->variant, &g->set, err);
		}
		for (size_t f = 0; f < r->nframe && rc == 0; f++)
			if (!is_known(c->env, &paths, r, &g->variant, r->frame[f]))
				add_job(c->env, g, r, r->frame[f], bundle++);
	}
	c->result->nbundle = (size_t)(bundle - c->result->bundle);
	map_release(&paths);
	map_release(&ids);
	return rc;
}

/* What a draw of each pass took before. Owned by the caller. */
static uint64_t *expected_costs(struct capture *c, const struct group *g)
{
	uint64_t *cost = xcalloc(c->env->manifest->npass + 1, sizeof *cost);

	for (size_t i = 0; i < g->graph.norder; i++) {
		int p = g->graph.order[i], w, h;
		if (!g->graph.is_reached[p])
			continue;
		target_size(&g->variant, p, &w, &h);
		cost[p] = store_cost(c->env->programs.store, &g->keys.static_part[p],
		    (uint64_t)w * (uint64_t)h);
	}
	return cost;
}

/* What a run would do: an upper bound, since aliases may shorten it. */
static void describe_group(struct capture *c, struct group *g)
{
	uint64_t *cost = expected_costs(c, g);
	uint32_t from = 0;

	capture_make_plan(c, g);
	for (size_t i = 0; i < g->njob; i++) {
		struct job *job = &g->job[i];
		if (job->is_done)
			continue;
		uint32_t to = nodes_behind(&g->keys.nodes, job->frame);
		/* What an earlier frame of the same sweep does is told there. */
		for (; from < to && from < g->plan.end; from++) {
			if (g->plan.node[from].action == ACTION_LOAD)
				job->result->nload++;
			if (g->plan.node[from].action != ACTION_DRAW)
				continue;
			job->result->ndraw++;
			job->result->expected_ns += cost[keys_node_pass(&g->keys, from)];
		}
		job->result->status = CAPTURE_STALE;
		capture_explain(c, g, job);
		c->result->counts.nodes_drawn += job->result->ndraw;
		c->result->counts.nodes_loaded += job->result->nload;
		c->result->expected_ns += job->result->expected_ns;
		c->result->counts.traces_built++;
	}
	free(cost);
}

/* What needs no content, in one transaction. */
static int finish_jobs(struct capture *c, struct group *g, struct err *err)
{
	struct store *store = c->env->programs.store;

	if (!c->env->dry_run && store_begin(store, err))
		return -1;
	for (size_t j = 0; j < g->njob; j++) {
		struct job *job = &g->job[j];
		if (!job->needs_content && capture_finish_job(c, g, job, err)) {
			if (!c->env->dry_run)
				store_rollback(store);
			return -1;
		}
		if (job->is_retagged && c->env->dry_run)
			capture_explain(c, g, job);
	}
	return c->env->dry_run ? 0 : store_commit(store, err);
}

/* Keys, and what needs no content. */
static int prepare_groups(struct capture *c, struct err *err)
{
	for (size_t i = 0; i < c->ngroup; i++) {
		struct group *g = c->group[i];
		if (g->njob == 0)
			continue;
		if (!g->set->ok) {
			for (size_t j = 0; j < g->njob; j++)
				capture_fail_job(c, &g->job[j], &g->set->errs.err[0]);
			for (size_t j = 1; j < g->set->errs.nerr; j++)
				errs_take(&c->result->more, &g->set->errs.err[j]);
			if (g->set->errs.nerr > 1)
				g->set->errs.nerr = 1;
			continue;
		}
		if (group_prepare(g, c->env, c->env->programs.driver, &c->assets, err))
			return -1;
		capture_note_driver(c, g);
		if (finish_jobs(c, g, err))
			return -1;
		if (c->env->dry_run && group_is_open(g))
			describe_group(c, g);
	}
	return 0;
}

/* What a failure or a signal kept the run from is no better than before it. */
static void describe_rest(struct capture *c)
{
	for (size_t i = 0; i < c->ngroup; i++)
		for (size_t j = 0; j < c->group[i]->njob; j++) {
			struct job *job = &c->group[i]->job[j];
			if (!job->is_done)
				job->result->status = CAPTURE_STALE;
		}
}

static void make_runners(struct capture *c)
{
	int n = c->env->jobs > 0 ? c->env->jobs : 1;

	if ((size_t)n > c->ngroup)
		n = c->ngroup > 0 ? (int)c->ngroup : 1;
	c->nrunner = n;
	c->runner = xcalloc((size_t)n, sizeof *c->runner);
	for (int i = 0; i < n; i++) {
		struct runner *r = &c->runner[i];
		r->capture = c;
		r->is_session_worker = i == 0;
	}
	c->pool = pool_new(proc_ncpu());
}

static void capture_release(struct capture *c)
{
	const struct manifest *m = c->env->manifest;

	for (int i = 0; i < c->nrunner; i++) {
		struct runner *r = &c->runner[i];
		if (r->worker && !r->is_session_worker)
			worker_close(r->worker);
		map_release(&r->program);
	}
	free(c->runner);
	if (c->pool)
		pool_free(c->pool);
	for (size_t i = 0; i < c->ngroup; i++) {
		group_release(c->group[i]);
		free(c->group[i]);
	}
	free(c->group);
	for (size_t i = 0; i < c->nset; i++)
		program_set_free(c->set[i]);
	free(c->set);
	for (size_t a = 0; c->assets.image && a < m->nasset; a++) {
		image_release(&c->assets.image[a]);
		free(c->assets.resolved[a]);
	}
	free(c->assets.info);
	free(c->assets.image);
	free(c->assets.resolved);
	map_release(&c->drawn);
	map_release(&c->looked);
	map_release(&c->written);
	map_release(&c->failed);
	map_release(&c->known_list);
	errs_release(&c->fault);
}

static void clean_place(const struct capture_env *env, const char *path)
{
	char *full = fs_join(env->root, path);

	bundle_clean_place(full);
	free(full);
}

int capture_run(const struct capture_env *env, const struct capture_request *request,
    size_t nrequest, struct capture_result *result, struct err *err)
{
	struct capture c = { .env = env, .result = result };
	int rc;

	memset(result, 0, sizeof *result);
	for (size_t i = 0; i < nrequest; i++)
		result->nbundle += request[i].nframe;
	result->bundle = xcalloc(result->nbundle + 1, sizeof *result->bundle);
	c.driver = env->programs.driver->identity;
	rc = capture_refuse_live(env->manifest, err);
	if (rc == 0)
		rc = capture_load_assets(&c, err);
	if (rc == 0)
		rc = make_groups(&c, request, nrequest, err);
	for (size_t i = 0; i < result->nbundle && rc == 0 && !env->dry_run; i++)
		clean_place(env, result->bundle[i].path);
	if (rc == 0)
		rc = prepare_groups(&c, err);
	if (rc == 0 && !env->dry_run && !c.is_stopping) {
		make_runners(&c);
		rc = capture_run_groups(&c, err);
	}
	if (!env->dry_run)
		describe_rest(&c);
	if (env->programs.ncompiled)
		result->counts.programs_compiled = (uint64_t)*env->programs.ncompiled;
	for (size_t i = 0; i < c.nset; i++)
		inputs_merge(&result->inputs, &c.set[i]->inputs);
	capture_release(&c);
	return rc;
}

void capture_result_release(struct capture_result *r)
{
	for (size_t i = 0; i < r->nbundle; i++) {
		free(r->bundle[i].name);
		free(r->bundle[i].path);
		reasons_release(&r->bundle[i].reasons);
		err_release(&r->bundle[i].err);
	}
	free(r->bundle);
	reasons_release(&r->driver);
	errs_release(&r->more);
	inputs_release(&r->inputs);
	memset(r, 0, sizeof *r);
}

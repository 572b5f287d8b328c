#include "verify/replay.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "project/image.h"
#include "render/sweep.h"
#include "format/pixel.h"
#include "capture/programs.h"
#include "format/ststate.h"
#include "format/sttf.h"
#include "util/map.h"
#include "util/mem.h"
#include "util/proc.h"
#include "verify/compare.h"
#include "verify/picture.h"

/* A wanted product, kept in memory. */
struct kept {
	struct sha256 key;
	int index;
	void *data;
	size_t n;
};

struct stage {
	const struct replay_env *env;
	const struct bundle *bundle;
	struct tree *tree;
	struct manifest manifest;
	int has_manifest;
	struct variant variant;
	struct graph graph;
	struct scene scene;
	struct asset_info *asset;
	struct image *image;
	struct programs programs;
	struct key_program *key_program;
	struct keys keys;
	struct plan plan;
	struct kept *kept;
	size_t nkept;
	struct worker *worker;
	uint32_t next_program;
	int ncompiled;
	uint64_t ndrawn;
};

static int load_project(struct stage *s, struct err *err)
{
	struct buf sttf = BUF_INIT;
	struct errs errs = ERRS_INIT;
	char *path = NULL;
	int rc = bundle_read(s->bundle, "project_sttf", &sttf, err);

	if (rc == 0)
		rc = sttf_read("project.sttf", sttf.data, sttf.len,
			s->bundle->project, &s->tree, err);
	buf_release(&sttf);
	if (rc == 0)
		rc = manifest_find(s->tree, &path, err);
	if (rc == 0 && manifest_load(s->tree, path, NULL, &s->manifest,
	    &errs)) {
		err_move(err, &errs.err[0]);
		rc = -1;
	} else if (rc == 0) {
		s->has_manifest = 1;
	}
	errs_release(&errs);
	free(path);
	return rc;
}

static int load_assets(struct stage *s, struct err *err)
{
	const struct manifest *m = &s->manifest;

	s->asset = xcalloc(m->nasset + 1, sizeof *s->asset);
	s->image = xcalloc(m->nasset + 1, sizeof *s->image);
	for (size_t a = 0; a < m->nasset; a++) {
		struct buf bytes = BUF_INIT;
		char *resolved = NULL;
		enum tree_kind kind;
		int rc = tree_lookup(s->tree, m->asset[a].path, &kind,
			&resolved, err);
		if (rc == 0)
			rc = tree_read(s->tree, resolved, LIMIT_ASSET_BYTES,
				&bytes, err);
		if (rc == 0)
			rc = image_decode(&m->asset[a], m->asset[a].path,
				bytes.data, bytes.len, &s->image[a], err);
		sha256_of(bytes.data, bytes.len, &s->asset[a].sha);
		s->asset[a].size[0] = s->image[a].width;
		s->asset[a].size[1] = s->image[a].height;
		s->asset[a].size[2] = s->image[a].depth;
		buf_release(&bytes);
		free(resolved);
		if (rc != 0)
			return -1;
	}
	return 0;
}

static int stage_worker(void *data, struct worker **out, struct err *err)
{
	struct stage *s = data;

	(void)err;
	*out = s->worker;
	return 0;
}

static int load_programs(struct stage *s, const struct driver_row *driver,
	struct err *err)
{
	const struct manifest *m = &s->manifest;
	struct inputs inputs = { 0 };
	struct program_env env = { s->tree, &inputs, NULL, driver,
		stage_worker, s, &s->next_program, &s->ncompiled };
	struct errs errs = ERRS_INIT;
	int rc = programs_load(&env, &s->variant, s->graph.is_reached,
		&s->programs, &errs);

	if (rc != 0)
		err_move(err, &errs.err[0]);
	errs_release(&errs);
	inputs_release(&inputs);
	s->key_program = xcalloc(m->npass, sizeof *s->key_program);
	for (size_t p = 0; p < m->npass; p++)
		s->key_program[p] = program_for_keys(&s->programs.program[p]);
	return rc;
}

/* Hooks: nothing is stored, everything wanted is kept in memory. */

static int has_node(void *data, const struct sha256 *key, int pass)
{
	(void)data, (void)key, (void)pass;
	return 0;
}

static int has_version(void *data, const struct sha256 *key, int storage)
{
	(void)data, (void)key, (void)storage;
	return 0;
}

static int hook_open(void *data, const struct sha256 *key, int index, size_t n)
{
	(void)data, (void)key, (void)index, (void)n;
	return -1;
}

static void hook_loaded(void *data, uint32_t node)
{
	(void)data, (void)node;
}

static int hook_take(void *data, const struct sha256 *key, int index, uint32_t node,
	struct slab *slab, struct err *err)
{
	struct stage *s = data;

	(void)node, (void)err;
	s->kept = xreallocarray(s->kept, s->nkept + 1, sizeof *s->kept);
	s->kept[s->nkept++] = (struct kept){ *key, index,
		xmemdup(slab->data, slab->size), slab->size };
	worker_slab_put(s->worker, slab);
	return 0;
}

static int is_settled(void *data, uint32_t node)
{
	(void)data, (void)node;
	return 1;
}

static int checkpoint(void *data, int t, uint64_t nbytes)
{
	(void)data, (void)t, (void)nbytes;
	return 0;
}

static int hook_drew(void *data, uint32_t node, uint64_t gpu_ns, struct err *err)
{
	struct stage *s = data;

	(void)node, (void)gpu_ns, (void)err;
	s->ndrawn++;
	return 0;
}

static int hook_program(void *data, struct worker *w, int p, uint32_t *id,
	struct err *err)
{
	struct stage *s = data;

	(void)w, (void)err;
	*id = s->programs.program[p].id;
	return 0;
}

static int hook_image(void *data, int asset, const struct image **out, struct err *err)
{
	struct stage *s = data;

	(void)err;
	*out = &s->image[asset];
	return 0;
}

static int render(struct stage *s, int frame, struct err *err)
{
	struct plan_hooks plan_hooks = { has_node, has_version, NULL, s };
	struct sweep_hooks hooks = { s, hook_open, hook_loaded, hook_take,
		is_settled, checkpoint, hook_drew, hook_program, hook_image };
	enum sweep_state state;

	plan_make(&s->keys, &frame, 1, &plan_hooks, &s->plan);
	struct sweep *sweep = sweep_new(&s->plan, s->worker, &hooks);
	while ((state = sweep_step(sweep, err)) == SWEEP_BUSY &&
	    proc_signal() == 0) {
		struct pollfd fd[2] = { { worker_fd(s->worker), POLLIN, 0 },
			{ proc_signal_fd(), POLLIN, 0 } };
		if (s->env->progress)
			s->env->progress(s->env->data, s->ndrawn,
				s->plan.ndraw);
		poll(fd, proc_signal_fd() >= 0 ? 2 : 1, 100);
	}
	sweep_free(sweep);
	if (state == SWEEP_DONE)
		return 0;
	if (state == SWEEP_BUSY)
		err_set(err, STATUS_FAILED, "interrupted");
	return -1;
}

/* Comparing ---------------------------------------------------------------------- */

static const struct kept *find_kept(const struct stage *s, const struct sha256 *key, int index)
{
	for (size_t i = 0; i < s->nkept; i++)
		if (s->kept[i].index == index &&
		    sha256_equal(&s->kept[i].key, key))
			return &s->kept[i];
	return NULL;
}

static const struct kept *find_output(const struct stage *s, int p, int frame)
{
	return find_kept(s, &s->keys.key[keys_node(&s->keys, p, frame)], 0);
}

static int compare_picture(struct stage *s, struct replay *out, struct err *err)
{
	const struct kept *final = find_output(s, s->manifest.image,
		out->frame);
	struct picture expected;
	struct comparison c;

	out->rgb = xmalloc(3 * (size_t)out->width * (size_t)out->height + 1);
	pixel_to_rgb8(FORMAT_RGBA8, final->data, out->width, out->height,
		out->rgb);
	if (picture_of_bundle(s->bundle, &expected, err))
		return -1;
	if (expected.width != out->width || expected.height != out->height) {
		err_set(err, STATUS_FAILED, "final.png is %dx%d, and "
			"trace.json says %dx%d", expected.width,
			expected.height, out->width, out->height);
		picture_release(&expected);
		return -1;
	}
	compare_bytes(expected.rgb, out->rgb, picture_size(&expected), &c);
	out->is_exact = c.is_equal;
	out->rmse = c.rmse;
	picture_release(&expected);
	return 0;
}

/* The first difference of a buffer's payload, or null. */
static char *compare_buffer(const struct stage *s, const struct state_buffer *b,
	const char *payload, int frame, char *keep)
{
	int p = manifest_pass(&s->manifest, b->name), w, h;
	const struct kept *kept = p < 0 ? NULL : find_output(s, p, frame);

	if (!kept)
		return xasprintf("buffer '%s' is not rendered", b->name);
	target_size(&s->variant, p, &w, &h);
	if (w != b->width || h != b->height)
		return xasprintf("buffer '%s' is %dx%d, recorded %dx%d",
			b->name, w, h, b->width, b->height);
	size_t n = (size_t)w * (size_t)h, i = 0;
	float *wide = xmalloc(n * 16 + 1);
	pixel_to_rgba32f(s->manifest.pass[p].format, kept->data, n, wide);
	if (keep)
		memcpy(keep + b->at, wide, n * 16);
	while (i < n && memcmp(&wide[4 * i], payload + 16 * i, 16) == 0)
		i++;
	free(wide);
	return i == n ? NULL : xasprintf("buffer '%s' differs at texel "
		"(%zu, %zu)", b->name, i % (size_t)w, i / (size_t)w);
}

static uint64_t storage_size(const struct stage *s, const char *name)
{
	for (size_t p = 0; p < s->manifest.npass; p++)
		for (size_t i = 0; i < s->manifest.pass[p].nstorage; i++)
			if (strcmp(s->manifest.pass[p].storage[i].name, name) == 0)
				return s->manifest.pass[p].storage[i].size;
	return 0;
}

static char *compare_storage(const struct stage *s, const struct state_storage *st,
	const char *payload, int frame, char *keep)
{
	int storage = graph_storage(&s->graph, st->name);

	if (storage < 0)
		return xasprintf("storage '%s' is not declared", st->name);
	uint32_t v = keys_version_after(&s->keys, storage, frame);
	const struct kept *kept = find_kept(s, &s->keys.version[v].key, 0);
	/* What nobody writes is zeros, and nowhere to be read from. */
	size_t n = kept ? kept->n : (size_t)storage_size(s, st->name), i = 0;
	if (n != st->bytes)
		return xasprintf("storage '%s' has %zu bytes, recorded %llu",
			st->name, n, (unsigned long long)st->bytes);
	if (keep && kept)
		memcpy(keep + st->at, kept->data, n);
	else if (keep)
		memset(keep + st->at, 0, n);
	while (i < n && (kept ? ((const char *)kept->data)[i] : 0) == payload[i])
		i++;
	return i == n ? NULL : xasprintf("storage '%s' differs at byte "
		"%zu", st->name, i);
}

static void keep_first(char **first, char *text)
{
	if (*first)
		free(text);
	else
		*first = text;
}

static int compare_state(struct stage *s, struct replay *out, struct err *err)
{
	struct buf file = BUF_INIT;
	struct state state = { 0 };
	char *difference = NULL;

	if (!bundle_artifact(s->bundle, "state")) {
		out->state_difference = xstrdup("there is none in the bundle");
		return 0;
	}
	if (bundle_read(s->bundle, "state", &file, err) ||
	    state_read("state.ststate", file.data, file.len, &state, err)) {
		buf_release(&file);
		return -1;
	}
	if (state.width != out->width || state.height != out->height ||
	    state.frame != out->frame)
		difference = xasprintf("its header says frame %d at %dx%d",
			state.frame, state.width, state.height);
	if (s->env->keep_state) {
		/* What is not rendered stays NaN, equal to nothing real. */
		out->state = memset(xmalloc(file.len), 0xff, file.len);
	}
	for (size_t i = 0; i < state.nbuffer && (!difference || out->state); i++)
		keep_first(&difference, compare_buffer(s, &state.buffer[i],
			file.data + state.buffer[i].at, out->frame,
			out->state));
	for (size_t i = 0; i < state.nstorage && (!difference || out->state); i++)
		keep_first(&difference, compare_storage(s, &state.storage[i],
			file.data + state.storage[i].at, out->frame,
			out->state));
	out->is_state_valid = !difference;
	out->state_difference = difference;
	state_release(&state);
	buf_release(&file);
	return 0;
}

static void compare_driver(const struct bundle *b, const struct driver_row *driver,
	struct replay *out)
{
	const cJSON *theirs = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(b->json, "driver"),
		"identity");
	char hex[SHA256_HEX + 1];

	out->has_driver = cJSON_IsString(theirs);
	out->is_driver_equal = out->has_driver && strcmp(theirs->valuestring,
		sha256_hex(&driver->identity, hex)) == 0;
}

/* Conventions ---------------------------------------------------------------------- */

/* A kind of pass that is drawn, and is read or reads at the previous frame. */
static int has_previous(const struct stage *s, enum pass_kind kind, int as_reader)
{
	const struct graph *g = &s->graph;

	for (size_t i = 0; i < g->nedge; i++) {
		const struct edge *e = &g->edge[i];
		int p = as_reader ? e->to : e->from;
		if (e->is_previous && g->is_reached[e->to] &&
		    s->manifest.pass[p].kind == kind)
			return 1;
	}
	return 0;
}

static int uses_uniform(const struct stage *s, const char *name)
{
	for (size_t p = 0; p < s->manifest.npass; p++)
		if (s->graph.is_reached[p] && reflection_uniform(
		    &s->programs.program[p].reflection, name))
			return 1;
	return 0;
}

static int reads_previous(const struct stage *s)
{
	for (size_t i = 0; i < s->graph.nedge; i++)
		if (s->graph.edge[i].is_previous &&
		    s->graph.is_reached[s->graph.edge[i].to])
			return 1;
	return 0;
}

/* ANCESTOR 41, 47, 50, 51, 57: what no replay can do, or what was undefined. */
static void list_conventions(const struct stage *s, struct replay *out)
{
	const struct {
		int applies;
		const char *text;
	} row[REPLAY_CONVENTIONS] = {
		{ 1, "the colour of a pass started at 1e20, here at 0" },
		{ uses_uniform(s, "iDate"), "iDate was the wall clock" },
		{ reads_previous(s), "at frame 0 the previous frame read as an "
			"incomplete texture, here as zeros" },
		{ has_previous(s, PASS_COMPUTE, 0), "iOutput of a compute pass "
			"that is read at the previous frame held the frame "
			"before the last, here the last" },
		{ has_previous(s, PASS_CUBEMAP, 1), "a cubemap pass switched "
			"between two frames of its inputs from face to face" },
	};

	for (size_t i = 0; i < REPLAY_CONVENTIONS; i++)
		if (row[i].applies)
			out->convention[out->nconvention++] = row[i].text;
}

static void stage_release(struct stage *s)
{
	for (size_t i = 0; i < s->nkept; i++)
		free(s->kept[i].data);
	free(s->kept);
	plan_release(&s->plan);
	keys_release(&s->keys);
	free(s->key_program);
	programs_release(&s->programs);
	graph_release(&s->graph);
	for (size_t a = 0; s->image && a < s->manifest.nasset; a++)
		image_release(&s->image[a]);
	free(s->image);
	free(s->asset);
	variant_release(&s->variant);
	if (s->has_manifest)
		manifest_release(&s->manifest);
	tree_free(s->tree);
}

int replay_run(const struct replay_env *env, const struct bundle *bundle,
	struct replay *out, struct err *err)
{
	struct stage s = { .env = env, .bundle = bundle };
	const struct driver_row *driver;
	struct errs faults = ERRS_INIT;
	int rc = -1;

	memset(out, 0, sizeof *out);
	out->frame = bundle->frame;
	out->width = bundle->width;
	out->height = bundle->height;
	out->is_foreign = !bundle->tool;
	if (bundle_verify(bundle, &faults)) {
		err_move(err, &faults.err[0]);
		goto out;
	}
	struct variant_options options = { .width = bundle->width,
		.height = bundle->height, .fps = bundle->fps };
	if (load_project(&s, err) || load_assets(&s, err) ||
	    variant_init(&s.variant, &s.manifest, NULL, &options, err) ||
	    env->worker(env->data, &s.worker, err) ||
	    env->driver(env->data, &driver, err))
		goto out;
	graph_init(&s.graph, &s.manifest);
	s.scene = (struct scene){ &s.variant, &s.graph, s.asset,
		out->is_foreign ? CONVENTIONS_ANCESTOR : CONVENTIONS_OURS };
	if (load_programs(&s, driver, err) ||
	    keys_compute(&s.scene, s.key_program, &driver->identity,
	    &bundle->frame, 1, NULL, &s.keys, err) ||
	    render(&s, bundle->frame, err) ||
	    compare_picture(&s, out, err) || compare_state(&s, out, err))
		goto out;
	compare_driver(bundle, driver, out);
	if (out->is_foreign && !(out->is_exact && out->is_state_valid))
		list_conventions(&s, out);
	rc = 0;
out:
	if (rc != 0)
		err_wrap(err, "while replaying %s", bundle->dir);
	errs_release(&faults);
	stage_release(&s);
	return rc;
}

void replay_release(struct replay *r)
{
	free(r->state_difference);
	free(r->state);
	free(r->rgb);
	memset(r, 0, sizeof *r);
}

#include "verify/replay.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

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
#include "verify/playback.h"

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
	struct playback *playback; /* by another program's rules; else null */
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
		rc = sttf_read("project.sttf", sttf.data, sttf.len, s->bundle->project,
		    &s->tree, err);
	buf_release(&sttf);
	if (rc == 0)
		rc = manifest_find(s->tree, &path, err);
	if (rc == 0 && manifest_load(s->tree, path, NULL, &s->manifest, &errs)) {
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
		int rc = tree_lookup(s->tree, m->asset[a].path, &kind, &resolved, err);
		if (rc == 0)
			rc = tree_read(s->tree, resolved, LIMIT_ASSET_BYTES, &bytes, err);
		if (rc == 0)
			rc = image_decode(&m->asset[a], m->asset[a].path, bytes.data,
			    bytes.len, &s->image[a], err);
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
	struct program_env env = { s->tree, &inputs, NULL, driver, stage_worker, s,
		&s->next_program, &s->ncompiled };
	struct errs errs = ERRS_INIT;
	int rc =
	    programs_load(&env, &s->variant, s->graph.is_reached, &s->programs, &errs);

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
	s->kept[s->nkept++] =
	    (struct kept){ *key, index, xmemdup(slab->data, slab->size), slab->size };
	worker_slab_put(s->worker, slab);
	return 0;
}

static int has_all_aliases(void *data, uint32_t node)
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
		has_all_aliases, checkpoint, hook_drew, hook_program, hook_image };
	enum sweep_state state;

	plan_make(&s->keys, &frame, 1, &plan_hooks, &s->plan);
	struct sweep *sweep = sweep_new(&s->plan, s->worker, &hooks);
	while ((state = sweep_step(sweep, err)) == SWEEP_BUSY && proc_signal() == 0) {
		struct pollfd fd[2] = { { worker_fd(s->worker), POLLIN, 0 },
			{ proc_signal_fd(), POLLIN, 0 } };
		if (s->env->progress)
			s->env->progress(s->env->data, s->ndrawn, s->plan.ndraw);
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

static const struct kept *find_kept(const struct stage *s, const struct sha256 *key,
    int index)
{
	for (size_t i = 0; i < s->nkept; i++)
		if (s->kept[i].index == index && sha256_equal(&s->kept[i].key, key))
			return &s->kept[i];
	return NULL;
}

/* Texels of a pass's first output, or null. */
static const void *find_output(const struct stage *s, int p, int frame)
{
	if (s->playback)
		return playback_output(s->playback, p);
	const struct kept *kept =
	    find_kept(s, &s->keys.key[keys_node(&s->keys, p, frame)], 0);
	return kept ? kept->data : NULL;
}

/* Null for what nobody has written, and for what nobody has. */
static const void *find_storage(const struct stage *s, int storage, int frame, size_t *n)
{
	const char *name = s->graph.storage[storage];

	*n = (size_t)s->graph.storage_size[storage];
	if (s->playback)
		return playback_storage(s->playback, name, n);
	uint32_t v = keys_version_after(&s->keys, storage, frame);
	const struct kept *kept = find_kept(s, &s->keys.version[v].key, 0);
	if (!kept)
		return NULL;
	*n = kept->n;
	return kept->data;
}

static int compare_picture(struct stage *s, struct replay *out, struct err *err)
{
	const void *final = find_output(s, s->manifest.image, out->frame);
	struct picture expected;
	struct comparison c;

	out->rgb = xmalloc(3 * (size_t)out->width * (size_t)out->height + 1);
	pixel_to_rgb8(FORMAT_RGBA8, final, out->width, out->height, out->rgb);
	if (picture_of_bundle(s->bundle, &expected, err))
		return -1;
	if (expected.width != out->width || expected.height != out->height) {
		err_set(err, STATUS_FAILED,
		    "final.png is %dx%d, but "
		    "trace.json says %dx%d",
		    expected.width, expected.height, out->width, out->height);
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
	const void *texel = p < 0 ? NULL : find_output(s, p, frame);

	if (!texel)
		return xasprintf("buffer '%s' is not rendered", b->name);
	target_size(&s->variant, p, &w, &h);
	if (w != b->width || h != b->height)
		return xasprintf("buffer '%s' is %dx%d, recorded %dx%d", b->name, w, h,
		    b->width, b->height);
	size_t n = (size_t)w * (size_t)h, i = 0;
	float *wide = xmalloc(n * 16 + 1);
	pixel_to_rgba32f(s->manifest.pass[p].format, texel, n, wide);
	if (keep)
		memcpy(keep + b->at, wide, n * 16);
	while (i < n && memcmp(&wide[4 * i], payload + 16 * i, 16) == 0)
		i++;
	free(wide);
	return i == n ? NULL
		      : xasprintf("buffer '%s' differs at texel "
				  "(%zu, %zu)",
			    b->name, i % (size_t)w, i / (size_t)w);
}

static char *compare_storage(const struct stage *s, const struct state_storage *st,
    const char *payload, int frame, char *keep)
{
	int storage = graph_storage(&s->graph, st->name);
	size_t n, i = 0;

	if (storage < 0)
		return xasprintf("storage '%s' is not declared", st->name);
	/* What nobody writes is zeros, and nowhere to be read from. */
	const char *bytes = find_storage(s, storage, frame, &n);
	if (n != st->bytes)
		return xasprintf("storage '%s' has %zu bytes, recorded %llu", st->name, n,
		    (unsigned long long)st->bytes);
	if (keep && bytes)
		memcpy(keep + st->at, bytes, n);
	else if (keep)
		memset(keep + st->at, 0, n);
	while (i < n && (bytes ? bytes[i] : 0) == payload[i])
		i++;
	return i == n ? NULL
		      : xasprintf("storage '%s' differs at byte "
				  "%zu",
			    st->name, i);
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
		out->state_difference = xstrdup("the bundle contains none");
		return 0;
	}
	if (bundle_read(s->bundle, "state", &file, err) ||
	    state_read("state.ststate", file.data, file.len, &state, err)) {
		buf_release(&file);
		return -1;
	}
	if (state.width != out->width || state.height != out->height ||
	    state.frame != out->frame)
		difference = xasprintf("its header says frame %d at %dx%d", state.frame,
		    state.width, state.height);
	if (s->env->keep_state) {
		/* What is not rendered stays NaN, equal to nothing real. */
		out->state = memset(xmalloc(file.len), 0xff, file.len);
	}
	for (size_t i = 0; i < state.nbuffer && (!difference || out->state); i++)
		keep_first(&difference,
		    compare_buffer(s, &state.buffer[i], file.data + state.buffer[i].at,
			out->frame, out->state));
	for (size_t i = 0; i < state.nstorage && (!difference || out->state); i++)
		keep_first(&difference,
		    compare_storage(s, &state.storage[i], file.data + state.storage[i].at,
			out->frame, out->state));
	out->is_state_valid = !difference;
	out->state_difference = difference;
	state_release(&state);
	buf_release(&file);
	return 0;
}

static void compare_driver(const struct bundle *b, const struct driver_row *driver,
    struct replay *out)
{
	const cJSON *theirs =
	    cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(b->json,
						 "driver"),
		"identity");
	char hex[SHA256_HEX + 1];

	out->has_driver = cJSON_IsString(theirs);
	out->is_driver_equal = out->has_driver &&
	    strcmp(theirs->valuestring, sha256_hex(&driver->identity, hex)) == 0;
}

/* By another program's rules ------------------------------------------------------- */

/*
 * When the CLI loaded the project, as far as the bundle says: project.sttf was
 * written right after the last frame was drawn.
 */
static double guess_start(const struct bundle *b)
{
	const struct artifact *a = bundle_artifact(b, "project_sttf");
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(b->json, "pass_timings"),
		    *timing;
	char *path = a ? xasprintf("%s/%s", b->dir, a->path) : NULL;
	struct stat st;
	double start = 0;

	if (path && stat(path, &st) == 0)
		start = (double)st.st_mtim.tv_sec + (double)st.st_mtim.tv_nsec * 1e-9;
	cJSON_ArrayForEach (timing, list) {
		const cJSON *ns =
		    cJSON_GetObjectItemCaseSensitive(timing, "gpu_nanoseconds");
		if (cJSON_IsNumber(ns))
			start -= ns->valuedouble * 1e-9 * (b->frame + 1);
	}
	free(path);
	return start > 0 ? start : 0;
}

static int play_back(struct stage *s, const struct replay *out, struct err *err)
{
	struct playback_env env = { &s->scene, s->tree, s->image, s->worker,
		s->env->progress, s->env->data };

	s->scene.rules = out->rules;
	s->scene.start = guess_start(s->bundle);
	return playback_run(&env, out->frame, &s->playback, err);
}

static int is_drawn_with(const struct stage *s, int p, const char *word)
{
	struct source source = { 0 };
	struct err err = ERR_INIT;
	int has_word = 0;

	if (!playback_is_drawn(s->playback, p))
		return 0;
	struct source_request request = { .path = s->manifest.pass[p].source };
	if (source_expand(s->tree, &request, NULL, &source, &err) == 0)
		has_word = strstr(source.text, word) != NULL;
	source_release(&source);
	err_release(&err);
	return has_word;
}

/* A cubemap pass that reads its own previous frame, or another pair. */
static int has_loop(const struct stage *s)
{
	for (size_t i = 0; i < s->graph.nedge; i++) {
		const struct edge *e = &s->graph.edge[i];
		if (e->is_previous && e->from == e->to &&
		    s->manifest.pass[e->to].kind == PASS_CUBEMAP &&
		    playback_is_drawn(s->playback, e->to))
			return 1;
	}
	return 0;
}

/* What no document says, so that no replay can know it. */
static void list_unknowns(const struct stage *s, struct replay *out)
{
	const struct {
		int applies;
		const char *text;
	} row[REPLAY_UNKNOWNS] = {
		{ playback_uses(s->playback, "iDate"),
		    "iDate was the wall clock "
		    "of the capture, which the bundle does not record; the "
		    "time of project.sttf's file stood in for it" },
		{ is_drawn_with(s, s->manifest.image, "discard"),
		    "the image "
		    "uses 'discard', and the driver decided what its "
		    "target contained before; here it is black" },
		{ has_loop(s),
		    "a cubemap pass reads its own target while it is "
		    "drawn, which OpenGL leaves undefined" },
		{ 1,
		    "the bundle does not record the driver that drew it; a "
		    "different one rounds differently, and fills in "
		    "different values where a shader sets none" },
	};

	for (size_t i = 0; i < REPLAY_UNKNOWNS; i++)
		if (row[i].applies)
			out->unknown[out->nunknown++] = row[i].text;
}

static void stage_release(struct stage *s)
{
	playback_free(s->playback);
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

/* By our own rules. */
static int draw_again(struct stage *s, const struct driver_row *driver, struct err *err)
{
	int frame = s->bundle->frame;

	return load_programs(s, driver, err) ||
		keys_compute(&s->scene, s->key_program, &driver->identity, &frame, 1,
		    NULL, &s->keys, err) ||
		render(s, frame, err)
	    ? -1
	    : 0;
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
	out->rules = rules_of(bundle->tool != NULL, bundle->cli_version);
	if (bundle_verify(bundle, &faults)) {
		err_move(err, &faults.err[0]);
		goto out;
	}
	struct variant_options options = { .width = bundle->width,
		.height = bundle->height,
		.fps = bundle->fps };
	if (load_project(&s, err) || load_assets(&s, err) ||
	    variant_init(&s.variant, &s.manifest, NULL, &options, err) ||
	    env->worker(env->data, &s.worker, err) ||
	    env->driver(env->data, &driver, err))
		goto out;
	graph_init(&s.graph, &s.manifest);
	s.scene = (struct scene){ &s.variant, &s.graph, s.asset, &rules_ours, 0 };
	if (out->rules->name ? play_back(&s, out, err) : draw_again(&s, driver, err))
		goto out;
	if (compare_picture(&s, out, err) || compare_state(&s, out, err))
		goto out;
	compare_driver(bundle, driver, out);
	if (s.playback && !(out->is_exact && out->is_state_valid))
		list_unknowns(&s, out);
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

#include "capture/sound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/keys.h"
#include "project/image.h"
#include "render/sound.h"
#include "format/bundle_write.h"
#include "format/wav.h"
#include "util/fs.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/proc.h"

/* What the sounds of a run share. */
struct sounds {
	const struct capture_env *env;
	struct program_env programs; /* env's, with inputs into the result */
	struct capture_result *result;
	struct variant variant;
	struct graph graph;
	struct scene scene;
	struct asset_info *asset;        /* an asset each; zero until one is asked for */
	struct image *image;             /* data null: not decoded */
	struct key_program *key_program; /* a pass each */
};

struct job {
	struct sounds *sounds;
	int pass;
	struct capture_bundle *bundle; /* borrowed, of the result */
	struct program program;
	int nsample, nchunk;
	struct sha256 static_part;
	struct sha256 key;       /* of the chunks */
	struct sha256 inputs_id; /* of the file: chunks and length */
	struct bundle_row row;   /* as recorded; path null: not */
	int is_intact;
	unsigned char *is_drawn; /* a chunk each: in this run */
	int ndrawn, ndraw;       /* chunks; ndraw: to draw in all */
};

/* The path of a sound's file, below the root. Owned by the caller. */
static char *sound_path(const struct capture_env *env, int pass)
{
	const struct manifest *m = env->manifest;
	char **stem = xcalloc(m->npass, sizeof *stem);
	size_t n = 0;

	/* The earlier ones have their stems whatever is asked for. */
	for (int p = 0; p <= pass; p++) {
		if (m->pass[p].kind != PASS_SOUND)
			continue;
		stem[n] = bundle_stem(m->pass[p].name, stem, n);
		n++;
	}
	char *path = env->commit
	    ? xasprintf("target/revisions/%.12s/%s.wav", env->commit, stem[n - 1])
	    : xasprintf("target/sounds/%s.wav", stem[n - 1]);
	while (n > 0)
		free(stem[--n]);
	free(stem);
	return path;
}

/* Inputs ----------------------------------------------------------------------- */

static int find_asset(struct sounds *s, int a, char **resolved, struct err *err)
{
	const struct asset *asset = &s->env->manifest->asset[a];
	enum tree_kind kind;

	if (tree_lookup(s->env->tree, asset->path, &kind, resolved, err))
		return -1;
	if (kind == TREE_FILE)
		return 0;
	return err_set(err, STATUS_INPUT, "asset '%s': there is no file %s", asset->name,
	    asset->path);
}

static int read_asset(struct sounds *s, int a, struct err *err)
{
	const struct asset *asset = &s->env->manifest->asset[a];
	struct image *image = &s->image[a];
	struct buf bytes = BUF_INIT;
	char *resolved = NULL;
	int rc;

	if (image->data)
		return 0;
	rc = find_asset(s, a, &resolved, err);
	if (rc == 0)
		rc = tree_read_as(s->env->tree, resolved, LIMIT_ASSET_BYTES,
		    &s->asset[a].sha, &bytes, err);
	if (rc == 0)
		rc = image_decode(asset, asset->path, bytes.data, bytes.len, image, err);
	if (rc == 0)
		memcpy(s->asset[a].size,
		    (int[3]){ image->width, image->height, image->depth },
		    sizeof s->asset[a].size);
	else
		err_wrap(err, "while reading asset '%s'", asset->name);
	buf_release(&bytes);
	free(resolved);
	return rc;
}

/* What the key asks of the inputs: hashes, and sizes where the pass does. */
static int find_inputs(struct job *job, struct err *err)
{
	struct sounds *s = job->sounds;
	const struct pass *pass = &s->env->manifest->pass[job->pass];
	int has_sizes =
	    reflection_uniform(&job->program.reflection, "iChannelResolution") != NULL;

	for (size_t i = 0; i < pass->ninput; i++) {
		const struct input_ref *in = &pass->input[i];
		char *resolved = NULL;
		int rc;
		if (in->kind == INPUT_VIDEO || in->kind == INPUT_WEBCAM) {
			err_set(err, STATUS_INPUT,
			    "pass '%s' reads a %s, "
			    "which cannot be captured reproducibly",
			    pass->name, input_kind_name(in->kind));
			err_place(err, s->env->manifest->path, in->line, in->column,
			    NULL);
			return -1;
		}
		if (in->asset < 0)
			continue;
		rc = find_asset(s, in->asset, &resolved, err);
		if (rc == 0)
			rc = tree_hash(s->env->tree, resolved, &s->asset[in->asset].sha,
			    err);
		if (rc == 0)
			inputs_add(&s->result->inputs,
			    s->env->manifest->asset[in->asset].path,
			    &s->asset[in->asset].sha);
		if (rc == 0 && has_sizes)
			rc = read_asset(s, in->asset, err);
		free(resolved);
		if (rc != 0)
			return -1;
	}
	return 0;
}

static void find_key(struct job *job)
{
	struct sounds *s = job->sounds;
	struct encoder e = { BUF_INIT };
	struct sha256 recipe;

	s->key_program[job->pass] = program_for_keys(&job->program);
	keys_of_sound(&s->scene, s->key_program, job->pass,
	    &s->env->programs.driver->identity, &job->static_part, &recipe);
	encoder_begin(&e, "sound-chunk");
	encoder_sha(&e, TAG_INPUT, &recipe);
	encoder_string(&e, TAG_DECODER, WAV_ENCODER);
	encoder_u64(&e, TAG_SIZE, SOUND_CHUNK);
	encoder_end(&e, &job->key);
	encoder_begin(&e, "sound-file");
	encoder_sha(&e, TAG_INPUT, &job->key);
	encoder_u64(&e, TAG_SIZE, (uint64_t)job->nsample);
	encoder_end(&e, &job->inputs_id);
	encoder_release(&e);
}

/* The file as it stands ----------------------------------------------------------- */

/* 1 when it is what was recorded; a new stamp costs a hash. */
static int file_is_intact(const char *path, struct bundle_file *f, int *has_new_stamp)
{
	struct fs_stamp now;
	struct stat st;
	struct sha256 sha;
	struct err err = ERR_INIT;
	int ok;

	/* A link in its place is none of ours, whatever it leads to. */
	if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return 0;
	fs_stamp_of(&st, &now);
	if (fs_stamp_equal(&now, &f->stamp))
		return 1;
	ok = now.size == f->size && fs_hash(path, &sha, NULL, &err) == 0 &&
	    sha256_equal(&sha, &f->sha);
	err_release(&err);
	f->stamp = now;
	*has_new_stamp = ok;
	return ok;
}

static int check_file(struct job *job, struct err *err)
{
	const struct capture_env *env = job->sounds->env;
	int has_new_stamp = 0;

	if (!store_bundle(env->programs.store, job->bundle->path, &job->row))
		return 0;
	if (job->row.nfile != 1)
		return 0;
	char *path = fs_join(env->root, job->bundle->path);
	job->is_intact = file_is_intact(path, &job->row.file[0], &has_new_stamp);
	free(path);
	return has_new_stamp && !env->dry_run
	    ? store_add_bundle(env->programs.store, &job->row, err)
	    : 0;
}

static void explain(const struct job *job)
{
	struct reasons *out = &job->bundle->reasons;
	char *path = fs_join(job->sounds->env->root, job->bundle->path);

	if (!job->row.path)
		reasons_add(out, REASON_NEVER, "was never captured", NULL, NULL, NULL);
	else if (!sha256_equal(&job->inputs_id, &job->row.inputs_id))
		reasons_add(out, REASON_UNKNOWN,
		    "its source, inputs or "
		    "settings changed",
		    NULL, NULL, NULL);
	else if (job->is_intact)
		reasons_add(out, REASON_FORCED, "everything is made anew (-B)", NULL,
		    NULL, NULL);
	else if (fs_exists(path))
		reasons_add(out, REASON_ALTERED, "the file was altered on disk", NULL,
		    NULL, NULL);
	else
		reasons_add(out, REASON_MISSING, "the file is missing", NULL, NULL, NULL);
	free(path);
}

/* Chunks -------------------------------------------------------------------------- */

static size_t chunk_bytes(const struct job *job, int chunk)
{
	int left = job->nsample - chunk * SOUND_CHUNK;

	return (size_t)(left < SOUND_CHUNK ? left : SOUND_CHUNK) * WAV_SAMPLE_BYTES;
}

/* 1 when the store has the chunk, or (from a longer sound) more of it. */
static int has_chunk(const struct job *job, int chunk, struct product *out)
{
	const struct capture_env *env = job->sounds->env;

	if (env->always && !job->is_drawn[chunk])
		return 0;
	return store_product(env->programs.store, &job->key, chunk, out) &&
	    out->size >= chunk_bytes(job, chunk) &&
	    out->size <= SOUND_CHUNK * WAV_SAMPLE_BYTES;
}

static void find_missing(const struct job *job, int *chunk, size_t *n)
{
	struct product product;

	*n = 0;
	for (int c = 0; c < job->nchunk; c++)
		if (!has_chunk(job, c, &product))
			chunk[(*n)++] = c;
}

static int hook_image(void *data, int asset, const struct image **out, struct err *err)
{
	struct job *job = data;

	*out = &job->sounds->image[asset];
	return read_asset(job->sounds, asset, err);
}

static int hook_take(void *data, int chunk, const float *sample, size_t n,
    struct err *err)
{
	struct job *job = data;
	const struct capture_env *env = job->sounds->env;
	struct product product = { job->key, chunk, { { 0 } }, n * WAV_SAMPLE_BYTES };
	unsigned char *pcm = xmalloc(product.size);

	wav_samples(sample, n, pcm);
	int rc = object_write(store_dir(env->programs.store), pcm, product.size,
	    &product.object, err);
	free(pcm);
	if (rc < 0 || store_add_product(env->programs.store, &product, err))
		return -1;
	job->is_drawn[chunk] = 1;
	job->ndrawn++;
	if (env->progress)
		env->progress(env->data,
		    &(struct capture_progress){ (uint64_t)job->ndrawn,
			(uint64_t)job->ndraw, 0, job->bundle->name });
	return 0;
}

static int draw(struct job *job, const int *chunk, size_t n, struct err *err)
{
	struct sounds *s = job->sounds;
	struct sound_hooks hooks = { job, hook_image, hook_take };
	struct worker *worker;
	uint64_t gpu_ns = 0;

	if (program_link(&s->programs, &s->variant, &job->program, err) ||
	    s->programs.worker(s->programs.data, &worker, err))
		return -1;
	struct sound sound = { &s->scene, job->pass, &job->program.reflection,
		job->program.id, job->nsample };
	job->ndraw = job->ndrawn + (int)n;
	if (sound_draw(worker, &sound, chunk, n, &hooks, &gpu_ns, err))
		return -1;
	if (proc_signal() != 0)
		return 0;
	uint64_t bytes = 0;
	for (size_t i = 0; i < n; i++)
		bytes += chunk_bytes(job, chunk[i]);
	return store_add_cost(s->env->programs.store, &job->static_part,
	    bytes / WAV_SAMPLE_BYTES, gpu_ns, err);
}

/* The file -------------------------------------------------------------------------- */

/* Writes all chunks: 0, 1 when one was torn or has gone, -1. */
static int write_chunks(struct job *job, struct fs_writer *w, struct sha256 *sha,
    struct err *err)
{
	struct store *store = job->sounds->env->programs.store;
	struct sha256_ctx hash;
	struct buf bytes = BUF_INIT;
	struct product product;
	int rc;

	sha256_init(&hash);
	wav_header((uint32_t)job->nsample, SOUND_RATE, &bytes);
	sha256_update(&hash, bytes.data, bytes.len);
	rc = fs_add(w, bytes.data, bytes.len, err);
	for (int c = 0; c < job->nchunk && rc == 0; c++) {
		size_t n = chunk_bytes(job, c);
		buf_reset(&bytes);
		rc = !has_chunk(job, c, &product) ||
		    !object_read(store, &product.object,
			buf_reserve(&bytes, product.size), product.size);
		if (rc != 0) {
			job->is_drawn[c] = 0;
			break;
		}
		sha256_update(&hash, bytes.data, n);
		rc = fs_add(w, bytes.data, n, err);
	}
	if (rc == 0)
		sha256_final(&hash, sha);
	sha256_ctx_release(&hash);
	buf_release(&bytes);
	return rc;
}

static int record(struct job *job, const char *path, const struct sha256 *sha,
    struct err *err)
{
	const struct capture_env *env = job->sounds->env;
	struct bundle_file file = { .key = "sound", .path = "", .sha = *sha };
	struct bundle_row row = { .path = job->bundle->path,
		.trace = job->bundle->name,
		.stable_id = *sha,
		.content_id = *sha,
		.inputs_id = job->inputs_id,
		.file = &file,
		.nfile = 1 };

	variant_id(&job->sounds->variant, &row.variant);
	if (fs_stamp(path, &file.stamp))
		return err_errno(err, STATUS_MACHINE, "%s", path);
	file.size = file.stamp.size;
	return store_add_bundle(env->programs.store, &row, err);
}

/*
 * Puts the file in its place, unless the same stands there already
 * (*is_same): 0, 1 when a chunk was torn, -1.
 */
static int write_file(struct job *job, int *is_same, struct err *err)
{
	const struct capture_env *env = job->sounds->env;
	char *path = fs_join(env->root, job->bundle->path);
	char *dir = fs_dirname(path);
	struct fs_writer w;
	struct sha256 sha;
	int rc;

	*is_same = 0;
	rc = fs_mkdirs(dir, err);
	if (rc == 0)
		rc = fs_begin(path, &w, err);
	if (rc == 0) {
		rc = write_chunks(job, &w, &sha, err);
		*is_same = rc == 0 && job->is_intact && !env->always &&
		    sha256_equal(&sha, &job->row.file[0].sha);
		if (rc != 0 || *is_same)
			fs_abandon(&w);
		else if (fs_end(&w, 1, err) || fs_sync_dir(dir, err))
			rc = -1;
	}
	if (rc == 0)
		rc = record(job, path, &sha, err);
	free(dir);
	free(path);
	return rc;
}

/* One sound -------------------------------------------------------------------------- */

static void describe(struct job *job, size_t nmissing)
{
	struct capture_bundle *b = job->bundle;
	struct capture_result *result = job->sounds->result;

	b->status = CAPTURE_STALE;
	explain(job);
	b->ndraw = nmissing > 0;
	if (nmissing > 0)
		b->expected_ns = store_cost(job->sounds->env->programs.store,
				     &job->static_part, (uint64_t)job->nsample) *
		    nmissing / (uint64_t)job->nchunk;
	result->counts.nodes_drawn += b->ndraw;
	result->counts.traces_built++;
	result->expected_ns += b->expected_ns;
}

static int make(struct job *job, struct err *err)
{
	struct capture_counts *counts = &job->sounds->result->counts;
	struct capture_bundle *b = job->bundle;
	int *chunk = xcalloc((size_t)job->nchunk, sizeof *chunk);
	int rc = 0, is_same = 0;
	size_t n;

	find_missing(job, chunk, &n);
	if (job->sounds->env->dry_run) {
		describe(job, n);
		free(chunk);
		return 0;
	}
	/* A torn chunk is a miss: it is drawn again, once. */
	for (int tries = 0; tries < 2; tries++) {
		rc = n > 0 ? draw(job, chunk, n, err) : 0;
		if (rc == 0 && proc_signal() == 0)
			rc = write_file(job, &is_same, err);
		if (rc <= 0)
			break;
		find_missing(job, chunk, &n);
	}
	free(chunk);
	counts->nodes_drawn += job->ndrawn > 0;
	if (rc > 0)
		return err_set(err, STATUS_MACHINE,
		    "objects of '%s' are damaged "
		    "as soon as they are written",
		    b->name);
	if (rc < 0 || proc_signal() != 0)
		return rc;
	if (is_same) {
		b->status = CAPTURE_CURRENT;
		b->inputs_id = job->row.inputs_id;
		counts->traces_current++;
		return 0;
	}
	b->status = job->ndrawn > 0 ? CAPTURE_BUILT
	    : job->row.path && sha256_equal(&job->row.inputs_id, &job->inputs_id)
	    ? CAPTURE_RESTORED
	    : CAPTURE_ASSEMBLED;
	counts->traces_built++;
	counts->nodes_reused += job->ndrawn == 0;
	return 0;
}

static int bring_up_to_date(struct job *job, struct err *err)
{
	struct sounds *s = job->sounds;

	if (program_load(&s->programs, &s->variant, job->pass, &job->program, err) ||
	    find_inputs(job, err))
		return -1;
	find_key(job);
	if (check_file(job, err))
		return -1;
	if (s->env->always || !job->is_intact ||
	    !sha256_equal(&job->inputs_id, &job->row.inputs_id))
		return make(job, err);
	job->bundle->status = CAPTURE_CURRENT;
	job->bundle->inputs_id = job->inputs_id;
	s->result->counts.traces_current++;
	return s->env->dry_run ? 0 : store_touch(s->env->programs.store, &job->key, err);
}

/* 0, or -1 for what ends the run. */
static int run_one(struct sounds *s, int pass, struct err *err)
{
	const struct pass *p = &s->env->manifest->pass[pass];
	struct capture_bundle *b = &s->result->bundle[s->result->nbundle];
	double length = round(p->duration * SOUND_RATE);
	struct job job = { .sounds = s,
		.pass = pass,
		.bundle = b,
		.nsample = length < 1 ? 1 : (int)length };
	int rc;

	*b = (struct capture_bundle){ .name = xasprintf("sound:%s", p->name),
		.frame = -1,
		.path = sound_path(s->env, pass) };
	s->result->nbundle++;
	job.nchunk = (job.nsample + SOUND_CHUNK - 1) / SOUND_CHUNK;
	job.is_drawn = xcalloc((size_t)job.nchunk, 1);
	rc = bring_up_to_date(&job, &b->err);
	if (rc != 0 && b->err.status == STATUS_MACHINE) {
		err_move(err, &b->err);
	} else if (rc != 0) {
		b->status = CAPTURE_FAILED;
		s->result->counts.failures++;
		rc = 0;
	} else if (proc_signal() != 0) {
		/* It is not known what it is; what was drawn is kept. */
		s->result->nbundle--;
		free(b->name);
		free(b->path);
		reasons_release(&b->reasons);
	}
	s->key_program[pass] = (struct key_program){ 0 };
	program_release(&job.program);
	bundle_row_release(&job.row);
	free(job.is_drawn);
	return rc;
}

int sound_run(const struct capture_env *env, const int *pass, size_t npass,
    struct capture_result *result, struct err *err)
{
	const struct manifest *m = env->manifest;
	struct sounds s = { .env = env, .programs = env->programs, .result = result };
	struct variant_options none = { 0 };
	int rc;

	if (variant_init(&s.variant, m, NULL, &none, err))
		return -1;
	graph_init(&s.graph, m);
	s.asset = xcalloc(m->nasset + 1, sizeof *s.asset);
	s.image = xcalloc(m->nasset + 1, sizeof *s.image);
	s.key_program = xcalloc(m->npass, sizeof *s.key_program);
	s.scene = (struct scene){ &s.variant, &s.graph, s.asset, &rules_ours, 0 };
	s.programs.inputs = &result->inputs;
	inputs_merge(&result->inputs, env->manifest_inputs);
	result->bundle = xreallocarray(result->bundle, result->nbundle + npass + 1,
	    sizeof *result->bundle);
	rc = 0;
	for (size_t i = 0; i < npass && rc == 0 && proc_signal() == 0; i++) {
		if (result->counts.failures > 0 && !env->keep_going)
			break;
		rc = run_one(&s, pass[i], err);
	}
	result->signal = proc_signal();
	if (env->programs.ncompiled)
		result->counts.programs_compiled = (uint64_t)*env->programs.ncompiled;
	for (size_t a = 0; a < m->nasset; a++)
		image_release(&s.image[a]);
	free(s.asset);
	free(s.image);
	free(s.key_program);
	graph_release(&s.graph);
	variant_release(&s.variant);
	return rc;
}

#include "capture_impl.h"

#include <stdlib.h>
#include <string.h>

#include "project/image.h"
#include "util/log.h"
#include "util/mem.h"

/* Assets ----------------------------------------------------------------------- */

int capture_read_asset(struct capture *c, size_t a, struct err *err)
{
	const struct asset *asset = &c->env->manifest->asset[a];
	struct buf bytes = BUF_INIT;
	int rc;

	if (c->assets.image[a].data)
		return 0;
	/* It may have been saved since its hash went into keys. */
	rc = tree_read_as(c->env->tree, c->assets.resolved[a], LIMIT_ASSET_BYTES,
	    &c->assets.info[a].sha, &bytes, err);
	if (rc == 0)
		rc = image_decode(asset, asset->path, bytes.data, bytes.len,
		    &c->assets.image[a], err);
	buf_release(&bytes);
	const struct image *image = &c->assets.image[a];
	if (rc == 0 && asset->kind == ASSET_VOLUME &&
	    (image->is_float || image->width != image->height ||
		image->width != image->depth))
		log_warn("asset '%s': project.sttf cannot describe a volume "
			 "that is not cubic or has floats; other programs will "
			 "reject the bundle",
		    asset->name);
	if (rc != 0)
		err_wrap(err, "while reading asset '%s'", asset->name);
	return rc;
}

/* Sizes are remembered, so that keys need no decoding. */
static int find_asset_size(struct capture *c, size_t a, struct err *err)
{
	const struct asset *asset = &c->env->manifest->asset[a];
	struct asset_info *info = &c->assets.info[a];
	struct encoder e = { BUF_INIT };
	struct buf memo = BUF_INIT;
	struct sha256 key;
	int rc = 0;

	encoder_begin(&e, "asset-size");
	encoder_sha(&e, TAG_ASSET, &info->sha);
	encoder_u64(&e, TAG_KIND, asset->kind);
	encoder_string(&e, TAG_DECODER, IMAGE_DECODER);
	encoder_end(&e, &key);
	encoder_release(&e);
	if (store_memo(c->env->programs.store, "asset-size", &key, &memo) &&
	    memo.len == 12) {
		for (int i = 0; i < 3; i++)
			info->size[i] = (int)get_u32le(memo.data + 4 * i);
	} else if (asset->kind != ASSET_VIDEO) {
		rc = capture_read_asset(c, a, err);
		buf_reset(&memo);
		if (rc == 0) {
			const struct image *image = &c->assets.image[a];
			info->size[0] = image->width;
			info->size[1] = image->height;
			info->size[2] = image->depth;
			for (int i = 0; i < 3; i++)
				buf_u32le(&memo, (uint32_t)info->size[i]);
			struct store *store = c->env->programs.store;
			if (store_can_write(store))
				rc = store_add_memo(store, "asset-size", &key, memo.data,
				    memo.len, err);
		}
	}
	buf_release(&memo);
	return rc;
}

int capture_load_assets(struct capture *c, struct err *err)
{
	const struct manifest *m = c->env->manifest;

	c->assets.info = xcalloc(m->nasset + 1, sizeof *c->assets.info);
	c->assets.image = xcalloc(m->nasset + 1, sizeof *c->assets.image);
	c->assets.resolved = xcalloc(m->nasset + 1, sizeof *c->assets.resolved);
	for (size_t a = 0; a < m->nasset; a++) {
		const struct asset *asset = &m->asset[a];
		enum tree_kind kind;
		if (asset->kind == ASSET_VIDEO)
			return err_set(err, STATUS_INPUT,
			    "asset '%s' is a "
			    "video, which has no frames to capture "
			    "reproducibly: use a texture",
			    asset->name);
		if (tree_lookup(c->env->tree, asset->path, &kind, &c->assets.resolved[a],
			err))
			return -1;
		if (kind != TREE_FILE)
			return err_set(err, STATUS_INPUT,
			    "asset '%s': there "
			    "is no file %s",
			    asset->name, asset->path);
		if (tree_hash(c->env->tree, c->assets.resolved[a], &c->assets.info[a].sha,
			err) ||
		    find_asset_size(c, a, err))
			return -1;
	}
	return 0;
}

int capture_refuse_live(const struct manifest *m, struct err *err)
{
	for (size_t p = 0; p < m->npass; p++)
		for (size_t i = 0; i < m->pass[p].ninput; i++) {
			const struct input_ref *in = &m->pass[p].input[i];
			if (in->kind != INPUT_WEBCAM)
				continue;
			err_set(err, STATUS_INPUT,
			    "pass '%s' reads the "
			    "webcam, which cannot be captured "
			    "reproducibly: use a texture",
			    m->pass[p].name);
			err_place(err, m->path, in->line, in->column, NULL);
			return -1;
		}
	return 0;
}

/* Programs ---------------------------------------------------------------------- */

void program_set_free(struct program_set *set)
{
	if (!set)
		return;
	free(set->preset);
	programs_release(&set->programs);
	free(set->key_program);
	free(set->source_sha);
	inputs_release(&set->inputs);
	git_state_release(&set->git);
	errs_release(&set->errs);
	free(set);
}

/* HEAD, and which of the inputs differ from it. */
static int compare_with_head(struct repo *repo, const struct inputs *inputs,
    struct git_state *out, struct err *err)
{
	if (repo_head(repo, &out->head, err))
		return -1;
	out->has_head = out->head.id[0] != '\0';
	for (size_t i = 0; i < inputs->ninput && out->has_head; i++) {
		int dirty = repo_is_dirty(repo, &inputs->input[i], err);
		if (dirty < 0)
			return -1;
		if (!dirty)
			continue;
		out->dirty =
		    xreallocarray(out->dirty, out->ndirty + 1, sizeof *out->dirty);
		out->dirty[out->ndirty++] = xstrdup(inputs->input[i].path);
	}
	return 0;
}

/* A repository that cannot be read costs the tag, not the capture. */
static int find_git_state(struct capture *c, const struct inputs *inputs,
    struct git_state *out, struct err *err)
{
	const struct capture_env *env = c->env;
	struct err cause = ERR_INIT;

	memset(out, 0, sizeof *out);
	if (!env->repo || c->result->has_git_fault)
		return 0;
	if (env->commit) {
		out->has_head = 1;
		return repo_resolve(env->repo, env->commit, &out->head, err);
	}
	if (compare_with_head(env->repo, inputs, out, &cause) == 0)
		return 0;
	char *text = err_text(&cause);
	log_warn("no commit is recorded: %s", text);
	free(text);
	err_release(&cause);
	git_state_release(out);
	c->result->has_git_fault = 1;
	return 0;
}

static void hash_sources(struct program_set *set, const struct manifest *m)
{
	set->source_sha = xcalloc(m->npass, sizeof *set->source_sha);
	for (size_t p = 0; p < m->npass; p++) {
		struct buf text = BUF_INIT;
		const struct program *program = &set->programs.program[p];
		if (!program->source.text)
			continue;
		shader_portable(m, (int)p, &program->source, &text);
		sha256_of(text.data, text.len, &set->source_sha[p]);
		buf_release(&text);
	}
}

/*
 * What is not drawn has a text all the same: sounds have their hash in
 * trace.json, passes that nothing leads to stand in project.sttf.
 */
static void expand_others(struct program_set *set, const struct program_env *env,
    const struct manifest *m, const int *is_reached)
{
	for (size_t p = 0; p < m->npass; p++) {
		struct err err = ERR_INIT;
		if (is_reached[p] ||
		    !program_expand(env, m, (int)p, &set->programs.program[p], &err))
			continue;
		errs_take(&set->errs, &err);
		set->ok = 0;
	}
}

static int set_load(struct capture *c, struct program_set *set, const struct variant *v,
    struct err *err)
{
	const struct manifest *m = c->env->manifest;
	struct program_env env = c->env->programs;
	struct graph graph;
	int rc;

	graph_init(&graph, m);
	inputs_merge(&set->inputs, c->env->manifest_inputs);
	env.inputs = &set->inputs;
	set->ok =
	    programs_load(&env, v, graph.is_reached, &set->programs, &set->errs) == 0;
	expand_others(set, &env, m, graph.is_reached);
	for (size_t a = 0; a < m->nasset; a++)
		inputs_add(&set->inputs, m->asset[a].path, &c->assets.info[a].sha);
	graph_release(&graph);
	set->key_program = xcalloc(m->npass, sizeof *set->key_program);
	for (size_t p = 0; p < m->npass; p++)
		set->key_program[p] = program_for_keys(&set->programs.program[p]);
	hash_sources(set, m);
	rc = inputs_check(&set->inputs, err);
	if (rc == 0)
		rc = find_git_state(c, &set->inputs, &set->git, err);
	return rc;
}

static int same_preset(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

int capture_find_set(struct capture *c, const struct variant *v, struct program_set **out,
    struct err *err)
{
	for (size_t i = 0; i < c->nset; i++)
		if (same_preset(c->set[i]->preset, v->preset)) {
			*out = c->set[i];
			return 0;
		}
	c->set = xreallocarray(c->set, c->nset + 1, sizeof *c->set);
	struct program_set *set = c->set[c->nset++] = xcalloc(1, sizeof *set);
	set->preset = xstrdup(v->preset);
	*out = set;
	return set_load(c, set, v, err);
}

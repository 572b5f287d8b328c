/* A case held to what the file of baselines accepts for this class of drivers. */
#include "suite_impl.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "util/fs.h"
#include "util/limits.h"
#include "util/mem.h"

char *suite_driver_class(const struct manifest *m, const char *renderer)
{
	/* In the order looked at: ANGLE names what it stands on. */
	static const char *const known[][2] = {
		{ "*llvmpipe*", "llvmpipe" },
		{ "*softpipe*", "softpipe" },
		{ "*SwiftShader*", "swiftshader" },
		{ "*NVIDIA*", "nvidia" },
		{ "*GeForce*", "nvidia" },
		{ "*Quadro*", "nvidia" },
		{ "*AMD*", "amd" },
		{ "*Radeon*", "amd" },
		{ "*Intel*", "intel" },
		{ "*Apple*", "apple" },
		{ "*Mali*", "mali" },
		{ "*Adreno*", "adreno" },
	};

	for (size_t i = 0; i < m->ndriver; i++)
		if (!fnmatch(m->driver[i].pattern, renderer, 0))
			return xstrdup(m->driver[i].name);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!fnmatch(known[i][0], renderer, 0))
			return xstrdup(known[i][1]);
	return xstrdup("other");
}

int suite_read_baselines(struct tree *tree, struct baselines *out, struct err *err)
{
	enum tree_kind kind;
	char *resolved = NULL;
	struct buf text = BUF_INIT;

	memset(out, 0, sizeof *out);
	int rc = tree_lookup(tree, BASELINE_FILE, &kind, &resolved, err);
	if (rc == 0 && kind != TREE_FILE && kind != TREE_ABSENT)
		rc = err_set(err, STATUS_INPUT,
		    "%s is not a file inside the "
		    "project",
		    BASELINE_FILE);
	if (rc == 0 && kind == TREE_FILE)
		rc = tree_read(tree, resolved, LIMIT_BASELINES_BYTES, &text, err);
	if (rc == 0)
		rc = baselines_read(out, BASELINE_FILE, text.data, text.len, err);
	free(resolved);
	buf_release(&text);
	return rc;
}

void suite_baseline(const struct suite_env *env, const struct suite_case *c,
    struct baseline *out)
{
	/* Only looked at. */
	*out = (struct baseline){ .test = c->test->name,
		.driver = (char *)(uintptr_t)env->driver_class,
		.frame = c->frame,
		.width = c->width,
		.height = c->height };
}

void judge_hash(const struct judged *v, struct sha256 *out)
{
	if (v->at)
		sha256_of(v->texel, picture_size(&v->picture) / 3 * 4 * sizeof *v->texel,
		    out);
	else
		sha256_of(v->picture.rgb, picture_size(&v->picture), out);
}

char *suite_baseline_path(const char *root, const struct sha256 *sha)
{
	char hex[SHA256_HEX + 1], *file, *path;

	file = xasprintf("target/baselines/%s.png", sha256_hex(sha, hex));
	path = fs_join(root, file);
	free(file);
	return path;
}

/* So that it can be shown when another picture comes. */
static int keep_picture(const struct judging *j, const struct sha256 *sha,
    struct err *err)
{
	char *path = suite_baseline_path(j->env->root, sha);
	int rc = fs_exists(path) ? 0 : picture_write(&j->self.picture, path, err);

	free(path);
	return rc;
}

/* A picture that was accepted, if it was seen here; else an empty one. */
static void recall_picture(const struct suite_env *env, const struct sha256 *sha,
    struct picture *out)
{
	char *path = suite_baseline_path(env->root, sha);
	struct err err = ERR_INIT;

	if (fs_exists(path) && picture_read(path, out, &err))
		picture_release(out);
	err_release(&err);
	free(path);
}

void judge_accepted(const struct suite_env *env, const struct suite_case *c,
    const struct judged *v, struct picture *out)
{
	struct baseline like;
	const struct baseline *item, *best = NULL;
	struct sha256 sha;
	size_t at = 0;

	suite_baseline(env, c, &like);
	judge_hash(v, &sha);
	while ((item = baselines_next(env->baselines, &like, &at)))
		if (!best || !sha256_equal(&best->sha, &sha))
			best = item;
	if (best)
		recall_picture(env, &best->sha, out);
}

void judge_encode_baseline(struct encoder *e, const struct judging *j)
{
	struct baseline like;
	const struct baseline *item;
	size_t at = 0;

	suite_baseline(j->env, j->item, &like);
	encoder_string(e, TAG_DRIVER, like.driver);
	while ((item = baselines_next(j->env->baselines, &like, &at)))
		encoder_sha(e, TAG_INPUT, &item->sha);
}

int judge_baseline(struct judging *j, struct err *err)
{
	struct suite_check *check = judge_check(j->item, "baseline");
	struct picture expected = { 0 };
	struct baseline like;
	const struct baseline *item, *last = NULL;
	struct sha256 sha;
	size_t at = 0, n = 0;
	int is_accepted = 0;

	suite_baseline(j->env, j->item, &like);
	judge_hash(&j->self, &sha);
	while ((item = baselines_next(j->env->baselines, &like, &at))) {
		is_accepted |= sha256_equal(&item->sha, &sha);
		last = item;
		n++;
	}
	if (is_accepted)
		return judge_show(j, &expected, 1, err) || keep_picture(j, &sha, err) ? -1
										      : 0;
	if (n == 0) {
		judge_fail(check,
		    "nobody has accepted a picture for drivers of "
		    "class '%s'; 'stbuild approve' does",
		    like.driver);
		check->code = SUITE_NO_BASELINE;
	} else {
		if (n == 1)
			judge_fail(check,
			    "the picture is not the one accepted "
			    "for drivers of class '%s'",
			    like.driver);
		else
			judge_fail(check,
			    "the picture is none of the %zu "
			    "accepted for drivers of class '%s'",
			    n, like.driver);
		recall_picture(j->env, &last->sha, &expected);
	}
	int rc = judge_show(j, &expected, 0, err);
	picture_release(&expected);
	return rc;
}

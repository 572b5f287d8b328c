/* The picture of a case, and what speaks for and against accepting it. */
#include "suite_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/png.h"
#include "util/mem.h"
#include "verify/compare.h"

static int is_one_colour(const struct picture *p)
{
	size_t n = picture_size(p);

	for (size_t i = 3; i < n; i++)
		if (p->rgb[i] != p->rgb[i - 3])
			return 0;
	return 1;
}

static int has_nan(const void *value, size_t n)
{
	const char *p = value;

	for (size_t i = 0; i < n; i++) {
		float v;
		memcpy(&v, p + 4 * i, 4);
		if (isnan(v))
			return 1;
	}
	return 0;
}

/* The tested pass, or for the image a buffer of the frame, that has NaN. */
static char *find_nan(const struct judged *v, const struct manifest *m, int pass)
{
	if (!judge_is_image(m, pass))
		return v->texel &&
			has_nan(v->texel,
			    4 * (size_t)v->picture.width * (size_t)v->picture.height)
		    ? xstrdup(m->pass[pass].name)
		    : NULL;
	for (size_t b = 0; b < v->state.nbuffer; b++) {
		const struct state_buffer *buffer = &v->state.buffer[b];
		if (has_nan(v->file.data + buffer->at, buffer->bytes / 4))
			return xstrdup(buffer->name);
	}
	return NULL;
}

int suite_is_other_picture(const struct suite_case *c)
{
	/* Checks that no reference has a part in. */
	static const char *const other[] = { "nan", "inf", "mean", "deterministic",
		"resolution_independent", "state_roundtrip", "pass" };

	if (c->fault.message)
		return 1;
	for (size_t i = 0; i < c->ncheck; i++) {
		const char *metric = c->check[i].metric;
		int is_other = strncmp(metric, "storage:", 8) == 0 ||
		    strncmp(metric, "gpu_ms", 6) == 0;
		for (size_t k = 0; k < sizeof other / sizeof *other; k++)
			is_other |= strcmp(metric, other[k]) == 0;
		if (!is_other && !c->check[i].is_ok)
			return 1;
	}
	return 0;
}

void suite_picture_release(struct suite_picture *p)
{
	buf_release(&p->png);
	free(p->nan);
	*p = (struct suite_picture){ .is_known = 0 };
}

static void compare_baseline(const struct suite_env *env, const struct suite_case *c,
    const struct judged *v, struct suite_picture *out)
{
	struct baseline like;
	const struct baseline *item;
	size_t at = 0;

	suite_baseline(env, c, &like);
	judge_hash(v, &out->sha);
	while ((item = baselines_next(env->baselines, &like, &at))) {
		out->is_known = 1;
		out->is_equal |= sha256_equal(&item->sha, &out->sha);
	}
}

int suite_picture(const struct suite_env *env, const struct suite *s,
    const struct suite_case *c, struct suite_picture *out, struct err *err)
{
	struct judged v = { .at = 0 };
	const struct picture *actual = &v.picture;
	struct picture expected = { 0 };
	char *why = NULL;
	int rc = -1;

	*out = (struct suite_picture){ .is_known = 0 };
	if (judged_open(env->root, c->path, &v, err) ||
	    judged_load(&v, s->manifest, c->test->pass, err))
		goto out;
	if (!actual->rgb) {
		err_set(err, STATUS_FAILED, "pass '%s' has no picture",
		    s->manifest->pass[c->test->pass].name);
		goto out;
	}
	if (c->test->baseline)
		compare_baseline(env, c, &v, out);
	if (c->test->reference &&
	    judge_read_reference(env, c->test->reference, NULL, &expected, &why, err))
		goto out;
	if (expected.rgb && picture_is_same_size(actual, &expected)) {
		struct comparison compared;
		compare_bytes(actual->rgb, expected.rgb, picture_size(actual), &compared);
		out->is_known = 1;
		out->is_equal = compared.is_equal;
		out->rmse = compared.rmse;
		out->max = compared.max;
	}
	/* Where the reference is of one colour, another one is no surprise. */
	out->is_plain =
	    is_one_colour(actual) && !(expected.rgb && is_one_colour(&expected));
	memcpy(out->rgb, actual->rgb, sizeof out->rgb);
	out->nan = find_nan(&v, s->manifest, c->test->pass);
	rc = png_encode(actual->rgb, actual->width, actual->height, &out->png, err);
out:
	picture_release(&expected);
	free(why);
	judged_close(&v);
	return rc;
}

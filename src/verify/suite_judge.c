/* One case of a test held to what the test says (stbuild.json(5)). */
#include "suite_impl.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "util/limits.h"
#include "format/pixel.h"
#include "format/png.h"
#include "util/buf.h"
#include "util/fs.h"
#include "util/mem.h"
#include "verify/compare.h"
#include "verify/metric.h"

/* Checks ----------------------------------------------------------------------- */

struct suite_check *judge_check(struct suite_case *c, const char *metric)
{
	c->check = xreallocarray(c->check, c->ncheck + 1, sizeof *c->check);
	struct suite_check *check = &c->check[c->ncheck++];
	*check = (struct suite_check){ .metric = xstrdup(metric), .is_ok = 1 };
	return check;
}

static void judge_value(struct suite_check *check, double value, double limit)
{
	check->has_value = isfinite(value);
	check->value = value;
	check->nlimit = 1;
	check->limit[0] = limit;
}

void judge_fail(struct suite_check *check, const char *fmt, ...)
{
	struct buf text = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	check->is_ok = 0;
	check->code = SUITE_MISMATCH;
	free(check->message);
	check->message = buf_detach(&text);
}

/* Views ------------------------------------------------------------------------ */

int judged_open(const char *root, const char *path, struct judged *out, struct err *err)
{
	char *full = fs_join(root, path);
	int rc = bundle_open(full, &out->bundle, err);

	free(full);
	return rc;
}

void judged_close(struct judged *v)
{
	bundle_release(&v->bundle);
	buf_release(&v->file);
	state_release(&v->state);
	picture_release(&v->picture);
	free(v->texel);
	memset(v, 0, sizeof *v);
}

/* The image has 8 bits a channel: what they stand for. */
static int load_image(struct judged *v, struct err *err)
{
	if (picture_of_bundle(&v->bundle, &v->picture, err))
		return -1;
	size_t n = picture_size(&v->picture) / 3;
	v->texel = xcalloc(n, 4 * sizeof *v->texel);
	for (size_t i = 0; i < n; i++) {
		for (size_t c = 0; c < 3; c++)
			v->texel[4 * i + c] = v->picture.rgb[3 * i + c] / 255.0f;
		v->texel[4 * i + 3] = 1;
	}
	return 0;
}

static void load_buffer(struct judged *v, const char *name)
{
	for (size_t i = 0; i < v->state.nbuffer; i++) {
		const struct state_buffer *b = &v->state.buffer[i];
		if (strcmp(b->name, name) != 0)
			continue;
		v->picture = (struct picture){
			.width = b->width,
			.height = b->height,
		};
		v->at = b->at;
		v->texel = xmemdup(v->file.data + b->at, b->bytes);
		v->picture.rgb = xmalloc(picture_size(&v->picture) + 1);
		pixel_to_rgb8(FORMAT_RGBA32F, v->texel, b->width, b->height,
		    v->picture.rgb);
	}
}

int judge_is_image(const struct manifest *m, int pass)
{
	return pass < 0 || pass == m->image;
}

int judged_load(struct judged *v, const struct manifest *m, int pass, struct err *err)
{
	if (bundle_artifact(&v->bundle, "state") &&
	    (bundle_read(&v->bundle, "state", &v->file, err) ||
		state_read("state.ststate", v->file.data, v->file.len, &v->state, err)))
		return -1;
	if (judge_is_image(m, pass))
		return load_image(v, err);
	load_buffer(v, m->pass[pass].name);
	return 0;
}

/* Raw values --------------------------------------------------------- */

struct raw {
	size_t ndiffer, first; /* values; the first that differs */
	double max;            /* difference of two numbers */
};

static int is_close(float a, float b, double tolerance)
{
	return memcmp(&a, &b, sizeof a) == 0 ||
	    (isfinite(a) && isfinite(b) && fabs((double)a - b) <= tolerance);
}

/* n values each; b need not be aligned. */
static void compare_raw(const float *a, const void *b, size_t n, double tolerance,
    struct raw *out)
{
	const char *other = b;

	*out = (struct raw){ .ndiffer = 0 };
	for (size_t i = 0; i < n; i++) {
		float v;
		memcpy(&v, other + 4 * i, 4);
		if (isfinite(a[i]) && isfinite(v) && fabs((double)a[i] - v) > out->max)
			out->max = fabs((double)a[i] - v);
		if (!is_close(a[i], v, tolerance) && out->ndiffer++ == 0)
			out->first = i;
	}
}

static void set_raw(struct suite_check *check, const struct raw *raw, int width,
    double tolerance, const char *what)
{
	size_t pixel = raw->first / 4;

	judge_value(check, raw->max, tolerance);
	if (raw->ndiffer)
		judge_fail(check,
		    "%s: %zu values differ, the first is channel %c of "
		    "pixel (%zu, %zu)",
		    what, raw->ndiffer, "rgba"[raw->first % 4], pixel % (size_t)width,
		    pixel / (size_t)width);
}

/* Pictures ------------------------------------------------------------ */

const char *const judge_picture_name[SUITE_PICTURES] = {
	[SUITE_EXPECTED] = "expected",
	[SUITE_ACTUAL] = "actual",
	[SUITE_DIFFERENCE] = "diff",
};

char *judge_picture_path(const struct judging *j, const char *what)
{
	char *file = xasprintf("%s/%s-%s.png", j->owner->folder, j->item->variant, what);
	char *path = fs_join(j->env->root, file);

	free(file);
	return path;
}

static int write_picture(const struct judging *j, const char *what,
    const struct picture *picture, struct err *err)
{
	char *path = judge_picture_path(j, what);
	int rc = picture_write(picture, path, err);

	free(path);
	return rc;
}

int judge_show(const struct judging *j, const struct picture *expected, int is_ok,
    struct err *err)
{
	const struct picture *actual = &j->self.picture;
	struct picture difference = { 0 };
	int rc = 0;

	for (size_t i = 0; i < SUITE_PICTURES && rc == 0; i++) {
		char *path = judge_picture_path(j, judge_picture_name[i]);
		rc = fs_remove(path, err);
		free(path);
	}
	if (rc != 0 || is_ok)
		return rc;
	rc = write_picture(j, "actual", actual, err);
	if (rc == 0 && expected->rgb)
		rc = write_picture(j, "expected", expected, err);
	if (rc == 0 && expected->rgb && picture_is_same_size(actual, expected)) {
		picture_difference(actual, expected, &difference);
		rc = write_picture(j, "diff", &difference, err);
		picture_release(&difference);
	}
	return rc;
}

/* The mask of a test, a byte for each pixel of its picture: null without one. */
static int read_mask(struct judging *j, uint8_t **mask, char **why, struct err *err)
{
	const struct test *test = j->item->test;
	const struct picture *actual = &j->self.picture;
	struct picture picture = { 0 };

	*mask = NULL;
	if (!test->mask)
		return 0;
	if (judge_read_reference(j->env, test->mask, &j->files, &picture, why, err))
		return -1;
	size_t n = picture_size(actual) / 3;
	if (picture.rgb && !picture_is_same_size(&picture, actual)) {
		*why =
		    xasprintf("the mask %s is %dx%d, and the picture %dx%d", test->mask,
			picture.width, picture.height, actual->width, actual->height);
	} else if (picture.rgb) {
		*mask = xcalloc(n + 1, 1);
		for (size_t i = 0; i < n; i++)
			(*mask)[i] = picture.rgb[3 * i] || picture.rgb[3 * i + 1] ||
			    picture.rgb[3 * i + 2];
	}
	picture_release(&picture);
	return 0;
}

/*
 * RMSE with its bounds: min_rmse, and max_rmse or the tolerance. The tolerance
 * stands back where another measure is limited and it is not given (as it does
 * for min_rmse beside reference_uniforms).
 */
static void judge_rmse(struct judging *j, const struct picture *expected,
    const struct metric_options *options)
{
	const struct test *test = j->item->test;
	int has_max = test->has_limit[METRIC_RMSE], has_other = 0;

	for (int i = 0; i < METRIC_COUNT; i++)
		has_other |= i != METRIC_RMSE && test->has_limit[i];
	int has_tolerance = !has_max && (test->has_tolerance || !has_other) &&
	    (test->reference || !test->has_min_rmse);
	if (!has_max && !has_tolerance && !test->has_min_rmse)
		return;
	struct suite_check *check = judge_check(j->item, "rmse");
	double value = metric_value(METRIC_RMSE, expected, &j->self.picture, options);
	double max = has_max ? test->limit[METRIC_RMSE] : test->tolerance;
	if (test->has_min_rmse)
		check->limit[check->nlimit++] = test->min_rmse;
	check->limit[check->nlimit++] = has_max || has_tolerance ? max : 1;
	check->has_value = 1;
	check->value = value;
	if (test->has_min_rmse && value < test->min_rmse)
		judge_fail(check, "the pictures are nearer than min_rmse");
	else if ((has_max || has_tolerance) && value > max)
		judge_fail(check, "the pictures differ by up to %.0f of 255",
		    metric_value(METRIC_MAX, expected, &j->self.picture, options));
}

static void judge_metric(struct judging *j, enum metric metric,
    const struct picture *expected, const struct metric_options *options)
{
	const struct metric_row *row = metric_row(metric);
	struct suite_check *check = judge_check(j->item, row->word);
	double limit = j->item->test->limit[metric];
	double value = metric_value(metric, expected, &j->self.picture, options);

	judge_value(check, value, limit);
	if (row->is_higher_better ? value < limit : value > limit)
		judge_fail(check, "the pictures differ more than %s allows", row->key);
}

static int judge_pictures(struct judging *j, const struct picture *expected,
    const char *missing, struct err *err)
{
	const struct test *test = j->item->test;
	const struct picture *actual = &j->self.picture;
	size_t first = j->item->ncheck;
	struct metric_options options = { .epsilon = test->epsilon };
	uint8_t *mask;
	char *why = NULL;
	int is_ok = 1;

	if (read_mask(j, &mask, &why, err))
		return -1;
	options.mask = mask;
	if (!expected->rgb) {
		struct suite_check *check = judge_check(j->item, "rmse");
		judge_fail(check, "%s", missing);
		if (test->reference)
			check->code = SUITE_MISSING_REFERENCE;
	} else if (!picture_is_same_size(actual, expected)) {
		judge_fail(judge_check(j->item, "rmse"),
		    "the picture is %dx%d, and the "
		    "reference %dx%d",
		    actual->width, actual->height, expected->width, expected->height);
	} else if (why) {
		judge_fail(judge_check(j->item, "mask"), "%s", why);
	} else {
		judge_rmse(j, expected, &options);
		for (int i = 0; i < METRIC_COUNT; i++)
			if (i != METRIC_RMSE && test->has_limit[i])
				judge_metric(j, (enum metric)i, expected, &options);
	}
	for (size_t i = first; i < j->item->ncheck; i++)
		is_ok &= j->item->check[i].is_ok;
	free(mask);
	free(why);
	return judge_show(j, expected, is_ok, err);
}

int judge_read_reference(const struct suite_env *env, const char *name,
    struct inputs *files, struct picture *out, char **why, struct err *err)
{
	struct buf bytes = BUF_INIT;
	struct sha256 sha;
	struct err cause = ERR_INIT;
	char *path;
	int rc = suite_file(env->tree, name, &path, &sha, err);

	*out = (struct picture){ 0 };
	if (rc == 0)
		*why = xasprintf("there is no picture %s; 'stbuild approve' "
				 "writes one",
		    name);
	if (rc == 1 &&
	    tree_read_hashed(env->tree, path, LIMIT_ASSET_BYTES, &bytes, &sha, err))
		rc = -1;
	if (rc >= 0 && files)
		inputs_add(files, name, rc == 1 ? &sha : NULL);
	if (rc == 1 && picture_decode(name, bytes.data, bytes.len, out, &cause))
		*why = err_text(&cause);
	free(path);
	err_release(&cause);
	buf_release(&bytes);
	return rc < 0 ? -1 : 0;
}

static int judge_reference(struct judging *j, struct err *err)
{
	struct picture expected;
	char *why = NULL;

	if (judge_read_reference(j->env, j->item->test->reference, &j->files, &expected,
		&why, err))
		return -1;
	int rc = judge_pictures(j, &expected, why, err);
	picture_release(&expected);
	free(why);
	return rc;
}

static int judge_other(struct judging *j, struct err *err)
{
	struct judged *v = &j->other;

	if (judged_load(v, j->suite->manifest, j->item->test->pass, err))
		return -1;
	return judge_pictures(j, &v->picture, "the pass is not drawn", err);
}

/* Numbers --------------------------------------------------------------- */

static void judge_mean(struct judging *j, size_t n)
{
	const struct test *test = j->item->test;
	struct suite_check *check = judge_check(j->item, "mean");
	double sum = 0;
	size_t nfinite = 0;

	for (size_t i = 0; i < n; i++)
		if (isfinite(j->self.texel[i])) {
			sum += j->self.texel[i];
			nfinite++;
		}
	check->nlimit = 2;
	memcpy(check->limit, test->mean_range, sizeof check->limit);
	if (nfinite == 0) {
		judge_fail(check, "no value is a finite number");
		return;
	}
	check->has_value = 1;
	check->value = sum / (double)nfinite;
	if (check->value < test->mean_range[0] || check->value > test->mean_range[1])
		judge_fail(check, "the mean of %zu values is out of its range", nfinite);
}

static int is_infinite(float v)
{
	return isinf(v) != 0;
}

static int is_nan(float v)
{
	return isnan(v) != 0;
}

static void judge_none(struct judging *j, const char *metric, size_t n,
    int (*is_bad)(float), const char *what)
{
	const struct judged *v = &j->self;
	struct suite_check *check = judge_check(j->item, metric);
	size_t nbad = 0, first = 0;

	for (size_t i = 0; i < n; i++)
		if (is_bad(v->texel[i]) && nbad++ == 0)
			first = i;
	judge_value(check, (double)nbad, 0);
	if (nbad)
		judge_fail(check,
		    "%zu values are %s, the first is channel %c of "
		    "pixel (%zu, %zu)",
		    nbad, what, "rgba"[first % 4], first / 4 % (size_t)v->picture.width,
		    first / 4 / (size_t)v->picture.width);
	else if (judge_is_image(j->suite->manifest, j->item->test->pass))
		check->message =
		    xasprintf("the image has 8 bits a channel: "
			      "this has no effect on it; set 'pass' to a buffer");
}

/* Determinism: a fresh worker renders the bundle again from frame 0. */
static int judge_again(struct judging *j, struct err *err)
{
	const struct test *test = j->item->test;
	const struct judged *v = &j->self;
	struct suite_check *check = judge_check(j->item, "deterministic");
	struct replay_env env = j->env->replay;
	struct replay again;
	size_t n = (size_t)v->picture.width * (size_t)v->picture.height;

	env.keep_state = 1;
	j->suite->nreplay++;
	/* No verdict to keep: the next time it may render. */
	if (replay_run(&env, &v->bundle, &again, err)) {
		replay_release(&again);
		return -1;
	}
	if (v->at) {
		struct raw raw;
		compare_raw(v->texel, again.state + v->at, 4 * n, test->raw_tolerance,
		    &raw);
		set_raw(check, &raw, v->picture.width, test->raw_tolerance,
		    "rendered twice");
	} else {
		struct comparison c;
		compare_bytes(v->picture.rgb, again.rgb, 3 * n, &c);
		judge_value(check, c.rmse, 0);
		if (!c.is_equal)
			judge_fail(check,
			    "rendered twice, %zu bytes of the picture "
			    "differ",
			    c.ndiffer);
	}
	for (size_t i = 0; i < test->nstorage && check->is_ok; i++)
		for (size_t k = 0; k < v->state.nstorage; k++) {
			const struct state_storage *s = &v->state.storage[k];
			if (strcmp(s->name, test->storage[i].name) == 0 &&
			    memcmp(v->file.data + s->at, again.state + s->at, s->bytes) !=
				0)
				judge_fail(check,
				    "rendered twice, storage '%s' "
				    "differs",
				    s->name);
		}
	replay_release(&again);
	return 0;
}

static int judge_independent(struct judging *j, struct err *err)
{
	const struct test *test = j->item->test;
	struct judged *base = &j->base;
	struct raw raw;

	if (judged_load(base, j->suite->manifest, test->pass, err))
		return -1;
	struct suite_check *check = judge_check(j->item, "resolution_independent");
	if (!base->texel || base->picture.width != j->self.picture.width ||
	    base->picture.height != j->self.picture.height) {
		judge_fail(check,
		    "the pass has not the same size in every "
		    "resolution");
		return 0;
	}
	compare_raw(j->self.texel, base->texel,
	    4 * (size_t)base->picture.width * (size_t)base->picture.height,
	    test->raw_tolerance, &raw);
	set_raw(check, &raw, base->picture.width, test->raw_tolerance,
	    "against the first resolution");
	return 0;
}

/* State and storage -------------------------------------------------------- */

/* A float as binary16 holds it, halves to even. */
static float as_half(float v)
{
	int exponent;

	if (!isfinite(v) || v == 0)
		return v;
	frexpf(v, &exponent);
	int step = exponent - 11 < -24 ? -24 : exponent - 11;
	float half = ldexpf(rintf(ldexpf(v, -step)), step);
	return fabsf(half) > 65504.0f ? copysignf(INFINITY, v) : half;
}

/* A texel as a target of this format gives it back. */
static void restore_texel(enum format format, const float in[4], float out[4])
{
	int n = format_channels(format);

	for (int i = 0; i < 4; i++)
		out[i] = i >= n                ? i == 3
		    : format == FORMAT_RGBA16F ? as_half(in[i])
					       : in[i];
}

static void judge_restored(struct suite_check *check, const struct judged *v,
    double tolerance)
{
	for (size_t b = 0; b < v->state.nbuffer && check->is_ok; b++) {
		const struct state_buffer *buffer = &v->state.buffer[b];
		size_t n = buffer->bytes / 16;
		float in[4], out[4];
		for (size_t i = 0; i < n && check->is_ok; i++) {
			struct raw raw;
			memcpy(in, v->file.data + buffer->at + 16 * i, 16);
			restore_texel(buffer->format, in, out);
			compare_raw(in, out, 4, tolerance, &raw);
			if (raw.max > check->value)
				check->value = raw.max;
			if (raw.ndiffer)
				judge_fail(check,
				    "texel (%zu, %zu) of '%s' changes "
				    "when restored as %s",
				    i % (size_t)buffer->width, i / (size_t)buffer->width,
				    buffer->name, format_name(buffer->format));
		}
	}
}

/* Written anew from what was read, the file must be the same, byte by byte. */
static int judge_rewritten(struct suite_check *check, struct judged *v, struct err *err)
{
	struct state again = { .version = 0 };
	struct buf file = BUF_INIT;
	int rc = state_read("state.ststate", v->file.data, v->file.len, &again, err);

	if (rc == 0) {
		free(again.header);
		again.header = NULL;
		rc = state_begin(&again, &file, err);
	}
	for (size_t i = 0; i < again.nbuffer && rc == 0; i++)
		for (size_t k = 0; k < v->state.nbuffer; k++)
			if (strcmp(v->state.buffer[k].name, again.buffer[i].name) == 0)
				buf_add(&file, v->file.data + v->state.buffer[k].at,
				    v->state.buffer[k].bytes);
	for (size_t i = 0; i < again.nstorage && rc == 0; i++)
		for (size_t k = 0; k < v->state.nstorage; k++)
			if (strcmp(v->state.storage[k].name, again.storage[i].name) == 0)
				buf_add(&file, v->file.data + v->state.storage[k].at,
				    v->state.storage[k].bytes);
	if (rc == 0 && check->is_ok &&
	    (file.len != v->file.len || memcmp(file.data, v->file.data, file.len) != 0))
		judge_fail(check, "the state file changes when it is saved again");
	state_release(&again);
	buf_release(&file);
	return rc;
}

static int judge_roundtrip(struct judging *j, struct err *err)
{
	struct judged *v = &j->self;
	double tolerance = j->item->test->raw_tolerance;
	struct suite_check *check = judge_check(j->item, "state_roundtrip");

	judge_value(check, 0, tolerance);
	if (v->file.len == 0) {
		judge_fail(check, "the bundle has no state");
		return 0;
	}
	if (v->state.frame != j->item->frame || v->state.width != v->bundle.width ||
	    v->state.height != v->bundle.height)
		judge_fail(check, "the state is of frame %d at %dx%d", v->state.frame,
		    v->state.width, v->state.height);
	judge_restored(check, v, tolerance);
	return judge_rewritten(check, v, err);
}

static int judge_fixture(struct judging *j, const struct test_storage *fixture,
    struct err *err)
{
	const struct judged *v = &j->self;
	const struct state_storage *found = NULL;
	char *metric = xasprintf("storage:%s", fixture->name);
	struct suite_check *check = judge_check(j->item, metric);
	struct buf bytes = BUF_INIT;
	struct sha256 sha;
	char *path;
	int rc = suite_file(j->env->tree, fixture->reference, &path, &sha, err);

	free(metric);
	for (size_t i = 0; i < v->state.nstorage; i++)
		if (strcmp(v->state.storage[i].name, fixture->name) == 0)
			found = &v->state.storage[i];
	if (rc == 0) {
		judge_fail(check, "there is no file %s", fixture->reference);
		check->code = SUITE_MISSING_REFERENCE;
	} else if (rc == 1 && !found)
		judge_fail(check, "no pass that is drawn writes it");
	else if (rc == 1 &&
	    tree_read_hashed(j->env->tree, path, LIMIT_ARTIFACT_BYTES, &bytes, &sha, err))
		rc = -1;
	else if (rc == 1 && bytes.len != found->bytes)
		judge_fail(check, "it has %llu bytes, and %s has %zu",
		    (unsigned long long)found->bytes, fixture->reference, bytes.len);
	if (rc >= 0)
		inputs_add(&j->files, fixture->reference, rc == 1 ? &sha : NULL);
	if (rc == 1 && found && check->is_ok) {
		const char *now = v->file.data + found->at;
		size_t first = 0, ndiffer = 0;
		for (size_t i = 0; i < bytes.len; i++)
			if (now[i] != bytes.data[i] && ndiffer++ == 0)
				first = i;
		judge_value(check, (double)ndiffer, 0);
		if (ndiffer)
			judge_fail(check,
			    "%zu bytes differ from %s, the first is "
			    "byte %zu",
			    ndiffer, fixture->reference, first);
	}
	free(path);
	buf_release(&bytes);
	return rc < 0 ? -1 : 0;
}

/* All of it ----------------------------------------------------------------------------- */

static int judge_values(struct judging *j, struct err *err)
{
	const struct test *test = j->item->test;
	size_t n = 4 * (size_t)j->self.picture.width * (size_t)j->self.picture.height;

	if (test->reference && judge_reference(j, err))
		return -1;
	if (test->baseline && judge_baseline(j, err))
		return -1;
	if (test->has_reference_set && judge_other(j, err))
		return -1;
	if (test->has_mean_range)
		judge_mean(j, n);
	if (test->assert_no_nan)
		judge_none(j, "nan", n, is_nan, "NaN");
	if (test->assert_no_inf)
		judge_none(j, "inf", n, is_infinite, "infinite");
	if (test->assert_deterministic && judge_again(j, err))
		return -1;
	if (test->assert_resolution_independent &&
	    &j->suite->item[j->item->base] != j->item && judge_independent(j, err))
		return -1;
	return 0;
}

int judge_case(struct judging *j, struct err *err)
{
	const struct test *test = j->item->test;
	const struct manifest *m = j->suite->manifest;

	if (judged_load(&j->self, m, test->pass, err))
		return -1;
	if (test->pass >= 0 && m->pass[test->pass].kind == PASS_CUBEMAP) {
		judge_fail(judge_check(j->item, "pass"),
		    "'%s' is a cubemap, which "
		    "tests cannot judge",
		    m->pass[test->pass].name);
	} else if (!j->self.texel) {
		judge_fail(judge_check(j->item, "pass"),
		    "'%s' is not drawn: the image "
		    "does not need it",
		    m->pass[test->pass].name);
	} else if (judge_values(j, err)) {
		return -1;
	}
	if (test->assert_state_roundtrip && judge_roundtrip(j, err))
		return -1;
	for (size_t i = 0; i < test->nstorage; i++)
		if (judge_fixture(j, &test->storage[i], err))
			return -1;
	return 0;
}

double judge_timing(const struct bundle *b, const char *pass)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(b->json, "pass_timings"),
		    *item;
	double sum = -1;

	cJSON_ArrayForEach (item, list) {
		const cJSON *name = cJSON_GetObjectItemCaseSensitive(item, "name");
		const cJSON *ns =
		    cJSON_GetObjectItemCaseSensitive(item, "gpu_nanoseconds");
		if (!cJSON_IsString(name) || !cJSON_IsNumber(ns) ||
		    (pass && strcmp(pass, name->valuestring) != 0))
			continue;
		sum = (sum < 0 ? 0 : sum) + ns->valuedouble / 1e6;
	}
	return sum;
}

static void judge_budget(struct judging *j, const char *pass, double limit)
{
	char *metric = pass ? xasprintf("gpu_ms:%s", pass) : xstrdup("gpu_ms");
	struct suite_check *check = judge_check(j->item, metric);
	double ms = judge_timing(&j->self.bundle, pass);

	free(metric);
	judge_value(check, ms, limit);
	if (ms < 0) {
		check->has_value = 0;
		judge_fail(check, "no time is recorded");
	} else if (ms > limit) {
		judge_fail(check, "it took longer than its budget");
	}
}

void judge_budgets(struct judging *j)
{
	const struct test *test = j->item->test;

	if (test->has_max_gpu_ms)
		judge_budget(j, NULL, test->max_gpu_ms);
	for (size_t i = 0; i < test->nbudget; i++)
		judge_budget(j, j->suite->manifest->pass[test->budget[i].pass].name,
		    test->budget[i].ms);
}

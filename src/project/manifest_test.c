/* The rules of [[test]] (stbuild.json(5)). */
#include "manifest_keys.h"

#include <string.h>

#include "util/limits.h"
#include "util/map.h"
#include "util/mem.h"

/* Frames and sizes: each frame in each size is a case. */
static void check_matrix(struct loader *l, const cJSON *item, const struct at *at,
    struct test *test)
{
	const cJSON *width = child_of(item, "width");
	const cJSON *height = child_of(item, "height");
	check_when(l, item, at, l->m->fps, &test->frame, &test->nframe);
	if ((width || height) && test->nsize) {
		fault_in(l, at, item, "resolutions",
		    "'resolutions' and '%s' "
		    "are mutually exclusive",
		    width ? "width" : "height");
	} else if (!width != !height) {
		fault_in(l, at, item, width ? "width" : "height", "%s needs %s as well",
		    width ? "width" : "height", width ? "height" : "width");
	} else if (width) {
		test->size = xcalloc(1, sizeof *test->size);
		test->size[0][0] = (int)width->valuedouble;
		test->size[0][1] = (int)height->valuedouble;
		test->nsize = 1;
	}
	size_t nframe = test->nframe ? test->nframe : 1;
	size_t nsize = test->nsize ? test->nsize : 1;
	if (nframe * nsize > LIMIT_TEST_VARIANTS)
		fault_in(l, at, item, "frames",
		    "%zu frames in %zu resolutions "
		    "are more than %d variants",
		    nframe, nsize, LIMIT_TEST_VARIANTS);
}

/* Pictures: one to compare with, and what needs one. */
static void check_reference(struct loader *l, const cJSON *item, const struct at *at,
    const struct test *test)
{
	if (test->reference && (test->nframe > 1 || test->nsize > 1))
		fault_in(l, at, item, "reference",
		    "a single reference picture "
		    "cannot serve several frames or resolutions");
	if (test->reference && test->has_reference_set)
		fault_in(l, at, item, "reference",
		    "'reference' and 'reference_uniforms' are mutually exclusive");
	if (test->baseline && (test->reference || test->has_reference_set))
		fault_in(l, at, item, "baseline",
		    "'baseline' and '%s' are "
		    "mutually exclusive",
		    test->reference ? "reference" : "reference_uniforms");
	int has_any = test->reference || test->has_reference_set;
	if (test->has_min_rmse && !has_any)
		fault_in(l, at, item, "min_rmse",
		    "needs reference or reference_uniforms");
	static const char *const key[] = {
#define METRIC(name, word, key, is_higher_better, lowest, highest, text) key,
#include "project/metric.def"
#undef METRIC
	};
	for (int i = 0; i < METRIC_COUNT; i++)
		if (test->has_limit[i] && !has_any)
			fault_in(l, at, item, key[i],
			    "needs reference or reference_uniforms");
	if (test->mask && !has_any)
		fault_in(l, at, item, "mask", "needs reference or reference_uniforms");
	if (test->epsilon && !test->has_limit[METRIC_PIXELS])
		fault_in(l, at, item, "epsilon", "needs max_pixels");
	if (test->has_min_rmse && test->has_limit[METRIC_RMSE] &&
	    test->min_rmse > test->limit[METRIC_RMSE])
		fault_in(l, at, item, "min_rmse", "min_rmse is greater than max_rmse");
}

static void check_storage_twice(struct loader *l, const cJSON *item, const struct at *at,
    const struct test *test)
{
	struct map seen = MAP_INIT;
	for (size_t i = 0; i < test->nstorage; i++)
		if (test->storage[i].name && !map_puts(&seen, test->storage[i].name, i))
			fault_in(l, at, item, "storage",
			    "storage buffer '%s' is listed twice", test->storage[i].name);
	map_release(&seen);
}

void check_test(struct loader *l, const cJSON *item, const struct at *at, void *out)
{
	struct test *test = out;
	const struct pass *pass =
	    test->pass >= 0 && l->pass_ok[test->pass] ? &l->m->pass[test->pass] : NULL;
	check_matrix(l, item, at, test);
	check_reference(l, item, at, test);
	check_storage_twice(l, item, at, test);
	if (pass && pass->kind == PASS_SOUND)
		fault_in(l, at, item, "pass", "a sound pass has no picture");
	if (test->assert_resolution_independent) {
		const char *key = "assert_resolution_independent";
		if (test->nsize < 2)
			fault_in(l, at, item, key, "needs at least two resolutions");
		if (test->pass < 0 ||
		    (pass &&
			(!pass->width ||
			    (pass->kind != PASS_BUFFER && pass->kind != PASS_COMPUTE))))
			fault_in(l, at, item, key,
			    "needs a buffer or compute "
			    "pass of a fixed size");
	}
	if (!test->reference && !test->baseline && !test->has_reference_set &&
	    !test->nstorage && !test->has_mean_range && !test->has_max_gpu_ms &&
	    !test->nbudget && !test->assert_no_nan && !test->assert_no_inf &&
	    !test->assert_deterministic && !test->assert_resolution_independent &&
	    !test->assert_state_roundtrip)
		fault(l, at, item,
		    "the test checks nothing: give it a reference, a baseline, "
		    "reference_uniforms, storage, mean_range, a budget or an "
		    "assert_");
}

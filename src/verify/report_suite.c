/* A suite's cases as those of a report. */
#include "verify/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "suite_impl.h"
#include "util/fs.h"
#include "util/mem.h"
#include "graph/reason.h"
#include "verify/metric.h"

/* How far within its limit a value is; negative beyond it, NAN: not known. */
static double margin_of(const struct suite_check *c)
{
	if (!c->has_value || c->nlimit == 0)
		return NAN;
	enum metric metric = metric_find(c->metric);
	if (metric < METRIC_COUNT && metric_row(metric)->is_higher_better)
		return c->value - c->limit[0];
	double margin = c->limit[c->nlimit - 1] - c->value;
	if (c->nlimit == 2 && c->value - c->limit[0] < margin)
		margin = c->value - c->limit[0];
	return margin;
}

static void add_limit(cJSON *json, const struct suite_check *c)
{
	if (c->nlimit == 1)
		cJSON_AddNumberToObject(json, "limit", c->limit[0]);
	else if (c->nlimit == 2)
		cJSON_AddItemToObject(json, "limit",
		    cJSON_CreateDoubleArray(c->limit, 2));
}

static void add_checks(cJSON *item, const struct suite_case *c)
{
	const struct suite_check *deciding = suite_deciding(c);
	cJSON *list = cJSON_AddArrayToObject(item, "checks");

	for (size_t i = 0; i < c->ncheck; i++) {
		const struct suite_check *check = &c->check[i];
		cJSON *json = cJSON_CreateObject();
		cJSON_AddStringToObject(json, "metric", check->metric);
		if (check->has_value)
			cJSON_AddNumberToObject(json, "value", check->value);
		add_limit(json, check);
		double margin = margin_of(check);
		if (!isnan(margin))
			cJSON_AddNumberToObject(json, "margin", margin);
		cJSON_AddBoolToObject(json, "ok", check->is_ok);
		if (check->message)
			cJSON_AddStringToObject(json, "message", check->message);
		cJSON_AddItemToArray(list, json);
	}
	if (!deciding)
		return;
	cJSON_AddStringToObject(item, "metric", deciding->metric);
	if (deciding->has_value)
		cJSON_AddNumberToObject(item, "value", deciding->value);
	add_limit(item, deciding);
	if (!deciding->is_ok && deciding->message)
		cJSON_AddStringToObject(item, "message", deciding->message);
}

static void add_reasons(cJSON *item, const struct capture_result *result,
    const char *path)
{
	cJSON *list = cJSON_AddArrayToObject(item, "reasons");

	for (size_t i = 0; i < result->nbundle; i++) {
		const struct capture_bundle *b = &result->bundle[i];
		if (strcmp(b->path, path) != 0)
			continue;
		for (size_t k = 0; k < b->reasons.nreason; k++) {
			char *text = reason_text(&b->reasons.reason[k]);
			cJSON_AddItemToArray(list, cJSON_CreateString(text));
			free(text);
		}
	}
}

/* Of two pictures, where there are no bundles: the first pixel. */
static void add_first_pixel(cJSON *item, const struct suite_case *c,
    const struct picture *expected, const struct picture *actual)
{
	if (!expected->rgb || !picture_is_same_size(expected, actual))
		return;
	for (int y = actual->height - 1; y >= 0; y--)
		for (int k = 0; k < 3 * actual->width; k++) {
			size_t at = 3 * (size_t)y * (size_t)actual->width + (size_t)k;
			if (expected->rgb[at] == actual->rgb[at])
				continue;
			const struct diff_part part = {
				.kind = DIFF_PICTURE,
				.face = -1,
				.x = k / 3,
				.y = actual->height - 1 - y,
				.channel = k % 3,
				.a = expected->rgb[at],
				.b = actual->rgb[at],
			};
			const struct diff d = {
				.a = { .is_bundle = 1, .bundle.frame = c->frame },
				.first = &part,
			};
			report_first(item, &d);
			return;
		}
}

static int show_pictures(struct report *r, cJSON *item, const struct suite_env *env,
    const struct suite *s, const struct suite_case *c, struct judged *self,
    struct err *err)
{
	struct picture expected = { 0 };
	struct judged other = { .at = 0 };
	struct diff d = { 0 };
	char *why = NULL, *a = NULL, *b = NULL;
	int rc = -1;

	if (c->reference_path) {
		a = fs_join(env->root, c->reference_path);
		b = fs_join(env->root, c->path);
		if (judged_open(env->root, c->reference_path, &other, err) ||
		    judged_load(&other, s->manifest, c->test->pass, err) ||
		    diff_open(a, b, &d, err))
			goto out;
		if (other.picture.rgb &&
		    report_picture(r, item, "expected", &other.picture, err))
			goto out;
		report_first(item, &d);
	} else if (c->test->reference) {
		if (judge_read_reference(env, c->test->reference, NULL, &expected, &why,
			err) ||
		    (expected.rgb && report_picture(r, item, "expected", &expected, err)))
			goto out;
		add_first_pixel(item, c, &expected, &self->picture);
	}
	if (c->test->baseline) {
		judge_accepted(env, c, self, &expected);
		if (expected.rgb && report_picture(r, item, "expected", &expected, err))
			goto out;
		add_first_pixel(item, c, &expected, &self->picture);
	}
	if (self->picture.rgb && report_picture(r, item, "actual", &self->picture, err))
		goto out;
	rc = report_layers(r, item, c->reference_path ? &other.bundle : NULL,
	    &self->bundle, err);
	report_made(item, &self->bundle, c->reference_path ? &other.bundle : NULL);
out:
	free(why);
	free(a);
	free(b);
	diff_close(&d);
	judged_close(&other);
	picture_release(&expected);
	return rc;
}

/* As in suite_status_name, but that a missing reference is no difference. */
static const char *status_of(const struct suite_case *c)
{
	return suite_code(c) == SUITE_MISSING_REFERENCE ? "new" : suite_status_name(c);
}

static int add_case(struct report *r, const struct suite_env *env, const struct suite *s,
    const struct suite_case *c, const struct capture_result *result, struct err *err)
{
	cJSON *item = report_case(r, c->test->name, c->variant, status_of(c));
	struct judged self = { .at = 0 };
	int rc = -1;

	add_checks(item, c);
	add_reasons(item, result, c->path);
	if (c->fault.message) {
		char *text = err_text(&c->fault);
		cJSON_AddStringToObject(item, "message", text);
		free(text);
		return 0;
	}
	if (judged_open(env->root, c->path, &self, err) == 0 &&
	    judged_load(&self, s->manifest, c->test->pass, err) == 0)
		rc = show_pictures(r, item, env, s, c, &self, err);
	judged_close(&self);
	return rc;
}

int report_suite(struct report *r, const struct suite_env *env, const struct suite *s,
    const struct capture_result *result, struct err *err)
{
	for (size_t i = 0; i < s->ncase; i++)
		if (add_case(r, env, s, &s->item[i], result, err)) {
			err_wrap(err, "while showing test '%s' at %s",
			    s->item[i].test->name, s->item[i].variant);
			return -1;
		}
	return 0;
}

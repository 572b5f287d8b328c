#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/output.h"
#include "cmd/session.h"
#include "cmd/targets.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/proc.h"
#include "verify/diff.h"
#include "verify/outputs.h"

static const char *output;
static int metrics;

const struct args_option diff_option[] = {
	{ 'o', "output", ARGS_STRING, &output, 0, 0, "DIR|FILE.png",
	    "write pictures of the difference" },
	{ 0, "metrics", ARGS_FLAG, &metrics, 0, 0, NULL,
	    "also measure PSNR, SSIM and FLIP" },
	OPTION_END,
};

/* Operands ------------------------------------------------------------------- */

/* Brings "TRACE@FRAME" up to date, at a revision or in the work tree. */
static int capture(struct options *o, const struct diff_name *name, char **path,
    struct err *err)
{
	struct session s = { 0 };
	struct targets targets = { 0 };
	struct target_options none = { 0 };
	struct capture_result result = { 0 };
	const char *item[] = { name->target };
	struct args_list operand = { item, 1, 1 };
	int rc = -1;
	if (session_open_rev(&s, o, "diff", SESSION_BUILD, name->rev, err) ||
	    targets_find(&s.manifest, &none, &operand, &targets, err) ||
	    targets_capture(&s, &targets, 0, NULL, &result, err))
		goto out;
	if (result.signal) {
		err_set(err, STATUS_FAILED, "interrupted");
	} else if (result.bundle[0].status == CAPTURE_FAILED) {
		err_move(err, &result.bundle[0].err);
	} else {
		*path = fs_join(s.root, result.bundle[0].path);
		rc = 0;
	}
out:
	capture_result_release(&result);
	targets_release(&targets);
	session_close(&s);
	return rc;
}

/* -1 when the word is a trace of the project, which lacks a frame. */
static int check_trace(struct options *o, const char *word, struct err *err)
{
	struct session s = { 0 };
	struct err lost = ERR_INIT;
	int frame = -1;
	if (session_open(&s, o, "diff", SESSION_READ, &lost) == 0) {
		int t = manifest_trace(&s.manifest, word);
		if (t >= 0)
			frame =
			    s.manifest.trace[t].nframe ? s.manifest.trace[t].frame[0] : 0;
	}
	session_close(&s);
	errs_release(&o->error);
	err_release(&lost);
	return frame < 0 ? 0
			 : err_set(err, STATUS_INPUT,
			       "'%s' is a trace: add a "
			       "frame, for example %s@%d",
			       word, word, frame);
}

/* The path that an operand stands for. */
static int resolve(struct options *o, const char *operand, char **path, struct err *err)
{
	struct diff_name name;
	int is_there = fs_exists(operand);
	if (is_there || !diff_name_parse(operand, &name)) {
		*path = xstrdup(operand);
		return is_there ? 0 : check_trace(o, operand, err);
	}
	int rc = capture(o, &name, path, err);
	if (rc)
		err_wrap(err, "for '%s'", operand);
	diff_name_release(&name);
	return rc;
}

/* Results -------------------------------------------------------------------- */

static const char *const channel[] = { "r", "g", "b", "a" };

static const char *const kind_name[] = { "output", "storage", "picture" };

static void add_string(cJSON *json, const char *key, const char *value)
{
	cJSON_AddItemToObject(json, key,
	    value ? cJSON_CreateString(value) : cJSON_CreateNull());
}

static void add_bits(cJSON *json, const char *key, uint32_t bits)
{
	char text[16];
	snprintf(text, sizeof text, "0x%08x", (unsigned)bits);
	cJSON_AddStringToObject(json, key, text);
}

static cJSON *part_json(const struct diff_part *p)
{
	cJSON *json = cJSON_CreateObject();
	cJSON_AddStringToObject(json, "kind", kind_name[p->kind]);
	add_string(json, p->kind == DIFF_STORAGE ? "storage" : "pass", p->name);
	if (p->kind != DIFF_STORAGE)
		cJSON_AddNumberToObject(json, "output", p->output);
	if (p->face >= 0)
		cJSON_AddStringToObject(json, "face", output_face(p->face));
	cJSON_AddBoolToObject(json, "equal", p->is_equal);
	cJSON_AddBoolToObject(json, "same_size", !p->is_other_size);
	if (p->is_other_size)
		return json;
	cJSON_AddNumberToObject(json,
	    p->kind == DIFF_STORAGE ? "bytes_differing" : "pixels_differing",
	    (double)p->npixel);
	if (p->kind == DIFF_STORAGE)
		return json;
	cJSON_AddNumberToObject(json, "rmse", p->rmse);
	cJSON_AddNumberToObject(json, "max", p->max);
	if (p->kind == DIFF_OUTPUT)
		cJSON_AddNumberToObject(json, "nonfinite", (double)p->nnonfinite);
	if (p->has_metrics && p->kind == DIFF_PICTURE) {
		cJSON_AddNumberToObject(json, "psnr", p->psnr);
		cJSON_AddNumberToObject(json, "ssim", p->ssim);
	}
	if (p->has_metrics)
		cJSON_AddNumberToObject(json, "flip", p->flip);
	return json;
}

static cJSON *first_json(const struct diff *d)
{
	const struct diff_part *p = d->first;
	if (!p)
		return cJSON_CreateNull();
	cJSON *json = cJSON_CreateObject();
	cJSON_AddStringToObject(json, "kind", kind_name[p->kind]);
	if (d->a.is_bundle)
		cJSON_AddNumberToObject(json, "frame", d->a.bundle.frame);
	add_string(json, p->kind == DIFF_STORAGE ? "storage" : "pass", p->name);
	if (p->is_other_size)
		return json;
	if (p->kind == DIFF_STORAGE) {
		cJSON_AddNumberToObject(json, "byte", (double)p->byte);
	} else {
		cJSON_AddNumberToObject(json, "output", p->output);
		if (p->face >= 0)
			cJSON_AddStringToObject(json, "face", output_face(p->face));
		const int pixel[] = { p->x, p->y };
		cJSON_AddItemToObject(json, "pixel", cJSON_CreateIntArray(pixel, 2));
		cJSON_AddStringToObject(json, "channel", channel[p->channel]);
	}
	/* NaN and infinities are null in JSON; bits show them. */
	cJSON_AddNumberToObject(json, "a", p->a);
	cJSON_AddNumberToObject(json, "b", p->b);
	if (p->kind == DIFF_OUTPUT) {
		add_bits(json, "a_bits", p->bits_a);
		add_bits(json, "b_bits", p->bits_b);
	}
	return json;
}

static cJSON *side_json(const struct diff_side *s, const char *operand, const char *path)
{
	cJSON *json = cJSON_CreateObject();
	cJSON_AddStringToObject(json, "operand", operand);
	cJSON_AddStringToObject(json, "path", path);
	cJSON_AddStringToObject(json, "kind", s->is_bundle ? "bundle" : "picture");
	cJSON_AddNumberToObject(json, "width", s->picture.width);
	cJSON_AddNumberToObject(json, "height", s->picture.height);
	if (s->is_bundle)
		cJSON_AddNumberToObject(json, "frame", s->bundle.frame);
	return json;
}

static void print_json(const struct diff *d, const char *const operand[2],
    char *const path[2])
{
	const struct diff_part *picture = &d->part[d->npart - 1];
	cJSON *json = json_start("diff");
	if (!d->is_equal)
		json_fail(json);
	cJSON_AddBoolToObject(json, "equal", d->is_equal);
	cJSON_AddItemToObject(json, "a", side_json(&d->a, operand[0], path[0]));
	cJSON_AddItemToObject(json, "b", side_json(&d->b, operand[1], path[1]));
	cJSON_AddItemToObject(json, "picture", part_json(picture));
	cJSON_AddItemToObject(json, "first", first_json(d));
	cJSON *list = cJSON_AddArrayToObject(json, "parts");
	for (size_t i = 0; i < d->npart; i++)
		cJSON_AddItemToArray(list, part_json(&d->part[i]));
	int are_bundles = d->a.is_bundle && d->b.is_bundle;
	cJSON *differs = cJSON_AddObjectToObject(json, "differs");
	cJSON_AddItemToObject(differs, "source",
	    are_bundles ? cJSON_CreateBool(diff_has_cause(d, "source"))
			: cJSON_CreateNull());
	cJSON_AddItemToObject(differs, "input",
	    are_bundles ? cJSON_CreateBool(diff_has_cause(d, "input"))
			: cJSON_CreateNull());
	cJSON_AddItemToObject(differs, "driver",
	    d->is_driver_known ? cJSON_CreateBool(diff_has_cause(d, "driver"))
			       : cJSON_CreateNull());
	list = cJSON_AddArrayToObject(json, "causes");
	for (size_t i = 0; i < d->ncause; i++) {
		cJSON *cause = cJSON_CreateObject();
		cJSON_AddStringToObject(cause, "kind", d->cause[i].kind);
		cJSON_AddStringToObject(cause, "name", d->cause[i].name);
		add_string(cause, "a", d->cause[i].a);
		add_string(cause, "b", d->cause[i].b);
		cJSON_AddItemToArray(list, cause);
	}
	add_string(json, "output", output);
	json_print(json);
}

static void print_name(const struct diff_part *p)
{
	if (p->kind == DIFF_STORAGE)
		printf("storage '%s'", p->name);
	else if (p->name)
		printf("pass '%s'", p->name);
	else
		printf("picture");
	if (p->kind == DIFF_OUTPUT && p->face >= 0)
		printf(" face %s", output_face(p->face));
	else if (p->kind == DIFF_OUTPUT)
		printf(" output %d", p->output);
}

static void print_part(const struct diff_part *p)
{
	printf("  ");
	print_name(p);
	if (p->is_other_size)
		printf(": sizes differ\n");
	else if (p->is_equal)
		printf(": equal\n");
	else if (p->kind == DIFF_STORAGE)
		printf(": %llu bytes\n", (unsigned long long)p->npixel);
	else if (p->kind == DIFF_PICTURE)
		printf(": %llu of %llu pixels, largest difference %.0f of 255, "
		       "RMSE %.6f\n",
		    (unsigned long long)p->npixel,
		    (unsigned long long)p->width * (unsigned long long)p->height, p->max,
		    p->rmse);
	else
		printf(": %llu of %llu pixels, largest difference %.9g, "
		       "RMSE %.9g\n",
		    (unsigned long long)p->npixel,
		    (unsigned long long)p->width * (unsigned long long)p->height, p->max,
		    p->rmse);
}

static void print_metrics(const struct diff_part *p)
{
	if (!p->has_metrics)
		return;
	if (p->kind == DIFF_PICTURE)
		printf("    PSNR %.2f dB, SSIM %.6f, FLIP %.6f\n", p->psnr, p->ssim,
		    p->flip);
	else
		printf("    HDR-FLIP %.6f\n", p->flip);
}

static void print_first(const struct diff *d)
{
	const struct diff_part *p = d->first;
	printf("first: ");
	if (d->a.is_bundle)
		printf("frame %d, ", d->a.bundle.frame);
	print_name(p);
	if (p->is_other_size)
		printf(", sizes differ");
	else if (p->kind == DIFF_STORAGE)
		printf(", byte %llu: %.0f, %.0f", (unsigned long long)p->byte, p->a,
		    p->b);
	else
		printf(", pixel (%d, %d), channel %s: %.9g, %.9g", p->x, p->y,
		    channel[p->channel], p->a, p->b);
	if (p->kind == DIFF_OUTPUT && !p->is_other_size)
		printf(" (0x%08x, 0x%08x)", (unsigned)p->bits_a, (unsigned)p->bits_b);
	putchar('\n');
}

static void print_text(const struct diff *d, const char *const operand[2])
{
	int are_bundles = d->a.is_bundle && d->b.is_bundle;
	printf("%s and %s %s\n", operand[0], operand[1],
	    d->is_equal ? "are equal" : "differ");
	for (size_t i = 0; i < d->npart && !d->is_equal; i++) {
		print_part(&d->part[i]);
		print_metrics(&d->part[i]);
	}
	if (d->first)
		print_first(d);
	for (size_t i = 0; i < d->ncause; i++)
		printf("%s differs: %s: %s, %s\n", d->cause[i].kind, d->cause[i].name,
		    d->cause[i].a ? d->cause[i].a : "none",
		    d->cause[i].b ? d->cause[i].b : "none");
	if (!d->is_equal && are_bundles && !d->ncause)
		printf("same sources and inputs%s\n",
		    d->is_driver_known ? ", same driver: rendering is not repeatable"
				       : "");
}

/* Pictures ------------------------------------------------------------------- */

static int write_pictures(const struct diff *d, struct err *err)
{
	const struct picture *a = &d->a.picture, *b = &d->b.picture;
	size_t n = strlen(output);
	int is_file = n > 4 && strcmp(output + n - 4, ".png") == 0;
	struct picture both = { 0 }, difference = { 0 };
	char *path = is_file ? xstrdup(output) : fs_join(output, "side-by-side.png");
	picture_side_by_side(a, b, &both);
	int rc = picture_write(&both, path, err);
	if (rc || is_file)
		goto out;
	free(path);
	path = fs_join(output, "difference.png");
	if (!picture_is_same_size(a, b)) {
		rc = fs_remove(path, err); /* of an earlier run */
		goto out;
	}
	picture_difference(a, b, &difference);
	rc = picture_write(&difference, path, err);
out:
	free(path);
	picture_release(&difference);
	picture_release(&both);
	return rc;
}

int cmd_diff(struct options *o, const struct args_list *operand, struct err *err)
{
	struct diff d = { 0 };
	char *path[2] = { NULL, NULL };
	int rc = -1;
	if (operand->nitem != 2)
		return err_set(err, STATUS_INPUT,
		    "diff takes two operands; see 'stbuild diff -h'");
	if (proc_catch_signals(err) || resolve(o, operand->item[0], &path[0], err) ||
	    resolve(o, operand->item[1], &path[1], err) ||
	    diff_open(path[0], path[1], &d, err) || (metrics && diff_measure(&d, err)) ||
	    (output && write_pictures(&d, err)))
		goto out;
	if (o->json)
		print_json(&d, operand->item, path);
	else if (!o->silent && !o->question)
		print_text(&d, operand->item);
	rc = d.is_equal ? STATUS_OK : STATUS_FAILED;
out:
	if (proc_signal()) {
		err_release(err);
		rc = 128 + proc_signal();
	}
	diff_close(&d);
	free(path[0]);
	free(path[1]);
	return rc;
}

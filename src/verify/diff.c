#include "verify/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/fields.h"
#include "graph/facts.h"
#include "util/fs.h"
#include "util/limits.h"
#include "util/mem.h"
#include "verify/metric.h"
#include "verify/outputs.h"

/* What both sides hold ------------------------------------------------------- */

static int load_side(struct diff_side *s, const char *path, struct err *err)
{
	int rc;
	s->is_bundle = fs_is_dir(path) || strcmp(fs_basename(path), "trace.json") == 0;
	if (s->is_bundle)
		rc = bundle_open(path, &s->bundle, err) ||
			picture_of_bundle(&s->bundle, &s->picture, err)
		    ? -1
		    : 0;
	else
		rc = picture_read(path, &s->picture, err);
	/* A side that does not verify is one that cannot be read. */
	if (rc && err->status == STATUS_FAILED)
		err->status = STATUS_INPUT;
	return rc;
}

static struct diff_part *add_part(struct diff *d, enum diff_kind kind, const char *name)
{
	d->part = array_grow(d->part, d->npart, &d->part_cap, sizeof *d->part);
	d->part[d->npart] = (struct diff_part){ .kind = kind,
		.name = xstrdup(name),
		.face = -1,
		.is_equal = 1 };
	return &d->part[d->npart++];
}

static int compare_output(struct diff *d, struct outputs *a, size_t i, struct outputs *b,
    size_t k, struct err *err)
{
	const struct output *x = &a->output[i], *y = &b->output[k];
	struct diff_part *p = add_part(d, DIFF_OUTPUT, x->pass);
	struct texel_comparison c;
	p->output = x->output;
	p->face = x->face;
	p->width = x->width;
	p->height = x->height;
	p->is_other_size = x->width != y->width || x->height != y->height;
	if (p->is_other_size) {
		p->is_equal = 0;
		return 0;
	}
	const char *u = outputs_read(a, i, err);
	const char *v = u ? outputs_read(b, k, err) : NULL;
	if (!v)
		return -1;
	compare_texels(u, v, (size_t)x->width * (size_t)x->height, &c);
	p->is_equal = c.is_equal;
	p->npixel = c.npixel;
	p->rmse = c.rmse;
	p->max = c.max;
	p->nnonfinite = c.nnonfinite;
	if (c.is_equal)
		return 0;
	float value;
	p->x = (int)(c.first / 4 % (size_t)x->width);
	p->y = (int)(c.first / 4 / (size_t)x->width);
	p->channel = (int)(c.first % 4);
	p->bits_a = get_u32le(u + 4 * c.first);
	p->bits_b = get_u32le(v + 4 * c.first);
	memcpy(&value, u + 4 * c.first, 4);
	p->a = value;
	memcpy(&value, v + 4 * c.first, 4);
	p->b = value;
	return 0;
}

static void compare_storage(struct diff *d, const struct outputs *a,
    const struct outputs *b)
{
	for (size_t i = 0; i < a->state.nstorage; i++) {
		const struct state_storage *x = &a->state.storage[i];
		size_t k = 0;
		while (k < b->state.nstorage &&
		    strcmp(b->state.storage[k].name, x->name) != 0)
			k++;
		if (k == b->state.nstorage)
			continue;
		const struct state_storage *y = &b->state.storage[k];
		struct diff_part *p = add_part(d, DIFF_STORAGE, x->name);
		p->is_other_size = x->bytes != y->bytes;
		p->is_equal = !p->is_other_size;
		const char *u = a->file.data + x->at, *v = b->file.data + y->at;
		for (size_t n = 0; !p->is_other_size && n < x->bytes; n++) {
			if (u[n] == v[n])
				continue;
			if (!p->npixel++) {
				p->byte = n;
				p->a = (unsigned char)u[n];
				p->b = (unsigned char)v[n];
			}
			p->is_equal = 0;
		}
	}
}

static int compare_outputs(struct diff *d, struct err *err)
{
	struct outputs a = { 0 }, b = { 0 };
	int rc = -1;
	if (outputs_open(&d->a.bundle, &a, err) || outputs_open(&d->b.bundle, &b, err))
		goto out;
	for (size_t i = 0; i < a.noutput; i++)
		for (size_t k = 0; k < b.noutput; k++)
			if (strcmp(a.output[i].pass, b.output[k].pass) == 0 &&
			    a.output[i].output == b.output[k].output &&
			    a.output[i].face == b.output[k].face &&
			    compare_output(d, &a, i, &b, k, err))
				goto out;
	compare_storage(d, &a, &b);
	rc = 0;
out:
	outputs_close(&b);
	outputs_close(&a);
	return rc;
}

/* The name of the image pass, as a bundle's manifest has it; or null. */
static const char *image_name(const struct bundle *b)
{
	const cJSON *pass,
	    *manifest = cJSON_GetObjectItemCaseSensitive(b->json, "resolved_manifest");
	cJSON_ArrayForEach (pass, cJSON_GetObjectItemCaseSensitive(manifest, "pass")) {
		const cJSON *kind = cJSON_GetObjectItemCaseSensitive(pass, "kind");
		const cJSON *name = cJSON_GetObjectItemCaseSensitive(pass, "name");
		if (cJSON_IsString(kind) && cJSON_IsString(name) &&
		    strcmp(kind->valuestring, "image") == 0)
			return name->valuestring;
	}
	return NULL;
}

static void compare_picture(struct diff *d)
{
	int is_file = !d->a.is_bundle || !d->b.is_bundle;
	struct diff_part *p =
	    add_part(d, DIFF_PICTURE, is_file ? NULL : image_name(&d->a.bundle));
	p->width = d->a.picture.width;
	p->height = d->a.picture.height;
	p->is_other_size = d->a.picture.width != d->b.picture.width ||
	    d->a.picture.height != d->b.picture.height;
	p->is_equal = !p->is_other_size;
	if (p->is_other_size)
		return;
	struct comparison c;
	size_t width = (size_t)p->width, n = width * (size_t)p->height;
	compare_bytes(d->a.picture.rgb, d->b.picture.rgb, n * 3, &c);
	p->is_equal = c.is_equal;
	p->rmse = c.rmse;
	p->max = c.max;
	p->npixel = compare_pixels(d->a.picture.rgb, d->b.picture.rgb, n, 3);
	if (c.is_equal)
		return;
	/* The first from where the others are counted: the bottom row. */
	size_t first = c.first;
	for (size_t y = (size_t)p->height; !is_file && y-- > 0;) {
		struct comparison row;
		size_t at = y * width * 3;
		compare_bytes(d->a.picture.rgb + at, d->b.picture.rgb + at, width * 3,
		    &row);
		if (row.is_equal)
			continue;
		first = at + row.first;
		break;
	}
	p->x = (int)(first / 3 % width);
	p->y = (int)(first / 3 / width);
	if (!is_file)
		p->y = p->height - 1 - p->y;
	p->channel = (int)(first % 3);
	p->a = d->a.picture.rgb[first];
	p->b = d->b.picture.rgb[first];
}

/* What of their making differs ------------------------------------------------ */

/* Facts of a bundle, with the values as its document spells them. */
static void add_item(struct facts *out, enum fact_kind kind, const cJSON *item,
    const char *name)
{
	struct buf text = BUF_INIT;

	if (cJSON_IsString(item))
		buf_addstr(&text, item->valuestring);
	else if (item)
		fields_print(item, FIELDS_COMPACT, &text);
	if (item)
		facts_add_bytes(out, kind, name, FACT_NONE, text.data, text.len);
	buf_release(&text);
}

static const cJSON *get(const struct bundle *b, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(b->json, key);
}

static int is_left_out(const char *path)
{
	static const char *const other[] = {
		"project", "trace", "test", "store",          /* no matter */
		"render.width", "render.height", "render.fps" /* see settings */
	};
	for (size_t i = 0; i < sizeof other / sizeof *other; i++)
		if (strcmp(path, other[i]) == 0)
			return 1;
	return 0;
}

static void add_table(const struct bundle *b, const char *key, enum fact_kind kind,
    struct facts *out)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, get(b, key))
		add_item(out, kind, item, item->string);
}

static void facts_of_bundle(const struct bundle *b, struct facts *out)
{
	static const char *const setting[] = {
		"preset",
		"width",
		"height",
		"fps",
		"frame",
	};
	static const char *const part[] = {
		"vendor",
		"renderer",
		"version",
		"identity",
	};

	add_table(b, "source_sha256", FACT_SOURCE, out);
	add_table(b, "asset_sha256", FACT_ASSET_FILE, out);
	add_table(b, "uniforms", FACT_SHOWN, out);
	for (size_t i = 0; i < sizeof setting / sizeof *setting; i++)
		add_item(out, FACT_DETAIL, get(b, setting[i]), setting[i]);
	if (get(b, "resolved_manifest"))
		facts_of_json(get(b, "resolved_manifest"), "", is_left_out, out);
	for (size_t i = 0; i < sizeof part / sizeof *part; i++)
		add_item(out, FACT_IDENTITY,
		    cJSON_GetObjectItemCaseSensitive(get(b, "driver"), part[i]), part[i]);
	add_item(out, FACT_TOOL, get(b, "tool"), "tool");
}

static const char *cause_kind(enum fact_kind kind)
{
	switch (fact_reason(kind)) {
	case REASON_SOURCE:
		return "source";
	case REASON_DRIVER:
		return "driver";
	case REASON_TOOL:
		return "tool";
	default:
		return "input";
	}
}

static void add_cause(void *data, const struct fact *a, const struct fact *b)
{
	struct diff *d = data;
	const struct fact *f = b ? b : a;
	struct buf name = BUF_INIT;

	if (d->ncause >= LIMIT_ERRORS ||
	    (f->kind == FACT_IDENTITY && !d->is_driver_other))
		return;
	if (f->kind == FACT_SETTING)
		buf_addf(&name, "manifest %s", f->subject);
	else if (f->kind == FACT_IDENTITY || f->kind == FACT_TOOL)
		buf_addstr(&name, f->subject);
	else
		fact_print_name(f, &name);
	d->cause = array_grow(d->cause, d->ncause, &d->cause_cap, sizeof *d->cause);
	d->cause[d->ncause++] = (struct diff_cause){ cause_kind(f->kind),
		buf_detach(&name), a ? xstrndup((const char *)a->bytes, a->n) : NULL,
		b ? xstrndup((const char *)b->bytes, b->n) : NULL };
}

static void compare_making(struct diff *d)
{
	struct facts a = { .is_terse = 0 }, b = { .is_terse = 0 };
	struct fact x, y;

	facts_of_bundle(&d->a.bundle, &a);
	facts_of_bundle(&d->b.bundle, &b);
	/* Without an identity, nothing says whether it is another driver. */
	d->is_driver_known = facts_get(&a, FACT_IDENTITY, "identity", FACT_NONE, &x) &&
	    facts_get(&b, FACT_IDENTITY, "identity", FACT_NONE, &y);
	d->is_driver_other = d->is_driver_known && !fact_equal(&x, &y);
	facts_compare(&a, &b, add_cause, d);
	facts_release(&a);
	facts_release(&b);
}

int diff_has_cause(const struct diff *d, const char *kind)
{
	for (size_t i = 0; i < d->ncause; i++)
		if (strcmp(d->cause[i].kind, kind) == 0)
			return 1;
	return 0;
}

/* The whole -------------------------------------------------------------------- */

int diff_open(const char *a, const char *b, struct diff *out, struct err *err)
{
	*out = (struct diff){ .is_equal = 1 };
	if (load_side(&out->a, a, err) || load_side(&out->b, b, err))
		return -1;
	if (out->a.is_bundle && out->b.is_bundle) {
		if (compare_outputs(out, err)) {
			if (err->status == STATUS_FAILED)
				err->status = STATUS_INPUT;
			return -1;
		}
		compare_making(out);
	}
	compare_picture(out);
	for (size_t i = out->npart; i-- > 0;)
		if (!out->part[i].is_equal) {
			out->is_equal = 0;
			out->first = &out->part[i];
		}
	return 0;
}

static void side_release(struct diff_side *s)
{
	if (s->is_bundle)
		bundle_release(&s->bundle);
	picture_release(&s->picture);
}

void diff_close(struct diff *d)
{
	for (size_t i = 0; i < d->npart; i++)
		free(d->part[i].name);
	free(d->part);
	for (size_t i = 0; i < d->ncause; i++) {
		free(d->cause[i].name);
		free(d->cause[i].a);
		free(d->cause[i].b);
	}
	free(d->cause);
	side_release(&d->a);
	side_release(&d->b);
	*d = (struct diff){ 0 };
}

/* Other metrics ----------------------------------------------------------------- */

static void measure_picture(const struct diff *d, struct diff_part *p)
{
	const struct picture *a = &d->a.picture, *b = &d->b.picture;
	const struct metric_options plain = { .mask = NULL };
	p->psnr = metric_value(METRIC_PSNR, a, b, &plain);
	p->ssim = metric_value(METRIC_SSIM, a, b, &plain);
	p->flip = metric_value(METRIC_FLIP, a, b, &plain);
	p->has_metrics = 1;
}

static int measure_output(struct diff_part *p, struct outputs *a, struct outputs *b,
    struct err *err)
{
	struct outputs *side[] = { a, b };
	const char *texel[2] = { NULL, NULL };
	size_t n = (size_t)p->width * (size_t)p->height;
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < side[k]->noutput; i++) {
			const struct output *o = &side[k]->output[i];
			if (strcmp(o->pass, p->name) != 0 || o->output != p->output ||
			    o->face != p->face)
				continue;
			texel[k] = outputs_read(side[k], i, err);
			if (!texel[k])
				return -1;
		}
	float *map = xcalloc(n + 1, sizeof *map);
	flip_hdr_map(texel[0], texel[1], p->width, p->height, METRIC_PPD, map);
	p->flip = 0;
	for (size_t i = 0; i < n; i++)
		p->flip += map[i];
	p->flip /= n ? (double)n : 1;
	p->has_metrics = 1;
	free(map);
	return 0;
}

int diff_measure(struct diff *d, struct err *err)
{
	struct outputs a = { 0 }, b = { 0 };
	int are_bundles = d->a.is_bundle && d->b.is_bundle, rc = -1;
	if (are_bundles &&
	    (outputs_open(&d->a.bundle, &a, err) || outputs_open(&d->b.bundle, &b, err)))
		goto out;
	for (size_t i = 0; i < d->npart; i++) {
		struct diff_part *p = &d->part[i];
		if (p->is_equal || p->is_other_size)
			continue;
		if (p->kind == DIFF_PICTURE)
			measure_picture(d, p);
		else if (p->kind == DIFF_OUTPUT && measure_output(p, &a, &b, err))
			goto out;
	}
	rc = 0;
out:
	outputs_close(&a);
	outputs_close(&b);
	return rc;
}

/* Names ------------------------------------------------------------------------ */

int diff_name_parse(const char *text, struct diff_name *out)
{
	*out = (struct diff_name){ 0 };
	/* No trace's name has a colon, and revisions may (":/fix"). */
	const char *colon = strrchr(text, ':');
	const char *target = colon ? colon + 1 : text;
	const char *at = strchr(target, '@');
	if (colon == text || !at || at == target || !at[1] ||
	    at[1 + strspn(at + 1, "0123456789")])
		return 0;
	out->rev = colon ? xstrndup(text, (size_t)(colon - text)) : NULL;
	out->target = xstrdup(target);
	return 1;
}

void diff_name_release(struct diff_name *n)
{
	free(n->rev);
	free(n->target);
	*n = (struct diff_name){ 0 };
}

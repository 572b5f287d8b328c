#include "project/variant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/limits.h"
#include "util/buf.h"
#include "util/mem.h"
#include "util/suggest.h"

/* Names of structs that begin with one. */
static const char *nearest(const char *word, const void *array, size_t n, size_t size)
{
	const char **name = xcalloc(n, sizeof *name);
	for (size_t i = 0; i < n; i++)
		memcpy(&name[i], (const char *)array + i * size, sizeof *name);
	const char *near = suggest(word, name, n);
	free(name);
	return near;
}

static int unknown_preset(const struct manifest *m, const char *name, struct err *err)
{
	const char *near = nearest(name, m->preset, m->npreset, sizeof *m->preset);
	struct buf all = BUF_INIT;
	for (size_t i = 0; i < m->npreset; i++)
		buf_addf(&all, "%s%s", i ? ", " : "", m->preset[i].name);
	err_set(err, STATUS_INPUT, "unknown preset '%s'%s%s%s (there %s %s)", name,
	    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "",
	    m->npreset ? "are:" : "are none",
	    m->npreset ? buf_str(&all) : "in the manifest");
	buf_release(&all);
	return -1;
}

/* The value of --set within the bounds of uniform i. */
static int is_in_range(const struct manifest *m, int i, const struct value *value,
    struct err *err)
{
	const struct uniform *u = &m->uniform[i];
	struct buf text = BUF_INIT;
	const char *key = uniform_beyond(u, value, &text);

	if (key)
		err_set(err, STATUS_INPUT, "--set %s: %s (uniform[%d].%s)", u->name,
		    buf_str(&text), i, key);
	buf_release(&text);
	return !key;
}

static void unknown_uniform(const struct manifest *m, const char *name, struct err *err)
{
	const char *near = nearest(name, m->uniform, m->nuniform, sizeof *m->uniform);
	struct buf all = BUF_INIT;
	for (size_t i = 0; i < m->nuniform && i < 20; i++)
		buf_addf(&all, "%s%s", i ? ", " : "there are: ", m->uniform[i].name);
	err_set(err, STATUS_INPUT, "--set: unknown uniform '%s'%s%s%s (%s%s)", name,
	    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "",
	    m->nuniform ? buf_str(&all) : "there are none in the manifest",
	    m->nuniform > 20 ? ", ..." : "");
	buf_release(&all);
}

/* NAME=VALUE of the command line. */
static int set_option(struct variant *v, const char *text, struct err *err)
{
	const struct manifest *m = v->manifest;
	const char *equals = strchr(text, '=');
	if (!equals)
		return err_set(err, STATUS_INPUT,
		    "--set '%s' is not of the form NAME=VALUE", text);
	size_t n = (size_t)(equals - text);
	while (n && (text[0] == ' ' || text[0] == '\t'))
		text++, n--;
	while (n && (text[n - 1] == ' ' || text[n - 1] == '\t'))
		n--;
	char *name = xstrndup(text, n);
	int i = manifest_uniform(m, name), result = -1;
	struct value value;
	struct err inner = ERR_INIT;
	if (i < 0) {
		unknown_uniform(m, name, err);
	} else if (value_parse(equals + 1, m->uniform[i].type, &value, &inner)) {
		err_set(err, inner.status, "--set %s: %s (uniform[%d].type)", name,
		    inner.message, i);
		err_release(&inner);
	} else if (is_in_range(m, i, &value, err)) {
		v->base[i] = value;
		v->is_set[i] = 1;
		result = 0;
	}
	free(name);
	return result;
}

static int scaled(int size, double scale)
{
	double s = round(size * scale);
	return s < 1 ? 1 : s > LIMIT_SIZE ? LIMIT_SIZE : (int)s;
}

static int in_limits(const struct variant_options *o, struct err *err)
{
	if (o->width < 0 || o->width > LIMIT_SIZE || o->height < 0 ||
	    o->height > LIMIT_SIZE)
		return err_set(err, STATUS_INPUT,
		    "--width and --height must "
		    "be from 1 to %d",
		    LIMIT_SIZE);
	if (o->fps != 0 && !(o->fps > 0 && o->fps <= LIMIT_FPS))
		return err_set(err, STATUS_INPUT,
		    "--fps must be above 0 and at most %.0f", LIMIT_FPS);
	return 0;
}

/* Sizes and work of passes, the preset's in place of their own. */
static void resolve_passes(struct variant *v, const struct preset *preset)
{
	const struct manifest *m = v->manifest;
	v->pass = xcalloc(m->npass, sizeof *v->pass);
	for (size_t i = 0; i < m->npass; i++) {
		const struct pass *pass = &m->pass[i];
		v->pass[i] = (struct variant_pass){
			.width = pass->width,
			.height = pass->height,
			.iterations = pass->iterations,
		};
		memcpy(v->pass[i].local_size, pass->local_size, sizeof pass->local_size);
	}
	for (size_t i = 0; preset && i < preset->npass; i++) {
		const struct preset_pass *p = &preset->pass[i];
		struct variant_pass *to = &v->pass[p->pass];
		if (p->width) {
			to->width = p->width;
			to->height = p->height;
		}
		if (p->iterations)
			to->iterations = p->iterations;
		if (p->local_size[0])
			memcpy(to->local_size, p->local_size, sizeof p->local_size);
	}
	for (size_t i = 0; i < m->npass; i++) {
		struct variant_pass *to = &v->pass[i];
		if (m->pass[i].kind == PASS_CUBEMAP) {
			to->width = to->height = 1024;
		} else if (!to->width) {
			to->is_output_sized = 1;
			to->width = v->width;
			to->height = v->height;
		}
	}
}

/* A field: tag, length, bytes. */
static void field(struct buf *out, const char *tag, const void *data, size_t n)
{
	buf_addstr(out, tag);
	buf_addch(out, '\0');
	buf_u64le(out, n);
	buf_add(out, data, n);
}

static void field_int(struct buf *out, const char *tag, long long v)
{
	struct buf bytes = BUF_INIT;
	buf_u64le(&bytes, (uint64_t)v);
	field(out, tag, bytes.data, bytes.len);
	buf_release(&bytes);
}

/* As text: the same on every machine. */
static void field_double(struct buf *out, const char *tag, double v)
{
	struct buf text = BUF_INIT;
	print_double(v, &text);
	field(out, tag, text.data, text.len);
	buf_release(&text);
}

static void field_value(struct buf *out, const char *tag, const char *name,
    const struct value *v)
{
	struct buf bytes = BUF_INIT;
	field(&bytes, "name", name, strlen(name));
	field_int(&bytes, "type", v->type);
	if (v->type == VALUE_INT || v->type == VALUE_BOOL)
		field_int(&bytes, "int", v->i);
	else
		for (int i = 0; i < value_components(v->type); i++)
			field_double(&bytes, "float", v->f[i]);
	field(out, tag, bytes.data, bytes.len);
	buf_release(&bytes);
}

void variant_step(const struct variant *v, const struct timeline_step *step,
    struct buf *out)
{
	const struct manifest *m = v->manifest;
	struct buf bytes = BUF_INIT;
	field_int(&bytes, "frame", step->frame);
	for (size_t i = 0; i < step->nset; i++)
		field_value(&bytes, "set", m->uniform[step->set[i].uniform].name,
		    &step->set[i].value);
	for (int i = 0; step->has_mouse && i < 4; i++)
		field_double(&bytes, "mouse", (double)step->mouse[i]);
	if (step->has_keys)
		field(&bytes, "keys", step->key, step->nkey);
	field(out, "step", bytes.data, bytes.len);
	buf_release(&bytes);
}

static void find_id(const struct variant *v, struct sha256 *out)
{
	const struct manifest *m = v->manifest;
	struct buf bytes = BUF_INIT;
	if (v->preset)
		field(&bytes, "preset", v->preset, strlen(v->preset));
	field_int(&bytes, "width", v->width);
	field_int(&bytes, "height", v->height);
	field_double(&bytes, "fps", v->fps);
	for (size_t i = 0; i < m->nuniform; i++) {
		field_value(&bytes, "uniform", m->uniform[i].name, &v->base[i]);
		field_int(&bytes, "is_set", v->is_set[i]);
	}
	for (size_t i = 0; i < v->timeline->nstep; i++)
		variant_step(v, &v->timeline->step[i], &bytes);
	sha256_of(bytes.data, bytes.len, out);
	buf_release(&bytes);
}

int variant_init(struct variant *v, const struct manifest *m, const struct trace *trace,
    const struct variant_options *options, struct err *err)
{
	static const struct variant_options none = { 0 };
	const struct variant_options *o = options ? options : &none;
	const char *name = o->preset ? o->preset : trace ? trace->preset : NULL;
	const struct preset *preset = NULL;
	*v = (struct variant){ .manifest = m };
	if (in_limits(o, err))
		return -1;
	if (name) {
		int i = manifest_preset(m, name);
		if (i < 0)
			return unknown_preset(m, name, err);
		preset = &m->preset[i];
		v->preset = xstrdup(name);
	}
	double scale = preset ? preset->render_scale : 1;
	v->width = o->width         ? o->width
	    : trace && trace->width ? trace->width
				    : scaled(m->width, scale);
	v->height = o->height        ? o->height
	    : trace && trace->height ? trace->height
				     : scaled(m->height, scale);
	v->fps = o->fps > 0 ? o->fps : trace && trace->fps > 0 ? trace->fps : m->fps;
	v->timeline = trace && trace->has_timeline ? &trace->timeline : &m->timeline;
	v->index = timeline_index_new(v->timeline, m->nuniform);
	v->base = xcalloc(m->nuniform, sizeof *v->base);
	v->is_set = xcalloc(m->nuniform, sizeof *v->is_set);
	for (size_t i = 0; i < m->nuniform; i++)
		v->base[i] = m->uniform[i].value;
	for (size_t i = 0; trace && i < trace->nset; i++)
		v->base[trace->set[i].uniform] = trace->set[i].value;
	for (size_t i = 0; i < o->nset; i++) {
		if (set_option(v, o->set[i], err)) {
			variant_release(v);
			return -1;
		}
	}
	resolve_passes(v, preset);
	find_id(v, &v->id);
	return 0;
}

void variant_release(struct variant *v)
{
	if (!v)
		return;
	free(v->preset);
	timeline_index_free(v->index);
	free(v->base);
	free(v->is_set);
	free(v->pass);
	*v = (struct variant){ 0 };
}

void variant_id(const struct variant *v, struct sha256 *out)
{
	*out = v->id;
}

void variant_values(const struct variant *v, int frame, struct value *out)
{
	for (size_t i = 0; i < v->manifest->nuniform; i++) {
		const struct value *set =
		    v->is_set[i] ? NULL : timeline_value(v->index, i, frame);
		out[i] = set ? *set : v->base[i];
	}
}

void variant_mouse(const struct variant *v, int frame, float out[4])
{
	const float *mouse = timeline_mouse(v->index, frame);
	memset(out, 0, 4 * sizeof *out);
	if (mouse)
		memcpy(out, mouse, 4 * sizeof *out);
}

void variant_keys(const struct variant *v, int frame, uint8_t out[3][256])
{
	timeline_keys(v->index, frame, out);
}

/* Days since 1970-01-01 of the Gregorian calendar, and back
 * (Howard Hinnant, "chrono-compatible low-level date algorithms"). */
static long long days_of_date(int year, int month, int day)
{
	long long y = year - (month <= 2);
	long long era = (y >= 0 ? y : y - 399) / 400;
	long long of_era = y - era * 400;
	long long of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static void date_of_days(long long days, int *year, int *month, int *day)
{
	days += 719468;
	long long era = (days >= 0 ? days : days - 146096) / 146097;
	long long d = days - era * 146097;
	long long y = (d - d / 1460 + d / 36524 - d / 146096) / 365;
	long long of_year = d - (365 * y + y / 4 - y / 100);
	long long m = (5 * of_year + 2) / 153;
	*day = (int)(of_year - (153 * m + 2) / 5) + 1;
	*month = (int)(m < 10 ? m + 3 : m - 9);
	*year = (int)(y + era * 400) + (*month <= 2);
}

void variant_date(const struct variant *v, int frame, float out[4])
{
	const struct date *d = &v->manifest->date;
	double seconds = d->hour * 3600.0 + d->minute * 60.0 + d->second + frame / v->fps;
	double days = floor(seconds / 86400);
	int year, month, day;
	date_of_days(days_of_date(d->year, d->month, d->day) + (long long)days, &year,
	    &month, &day);
	out[0] = (float)year;
	out[1] = (float)(month - 1);
	out[2] = (float)day;
	out[3] = (float)(seconds - days * 86400);
}

cJSON *variant_manifest(const struct variant *v)
{
	/* A shallow copy whose sizes are the variant's. */
	struct manifest m = *v->manifest;
	m.width = v->width;
	m.height = v->height;
	m.fps = v->fps;
	m.timeline = *v->timeline;
	m.pass = xmemdup(m.pass, m.npass * sizeof *m.pass);
	for (size_t i = 0; i < m.npass; i++) {
		struct pass *pass = &m.pass[i];
		if (pass->width) {
			pass->width = v->pass[i].width;
			pass->height = v->pass[i].height;
		} else if (!v->pass[i].is_output_sized && pass->kind != PASS_CUBEMAP) {
			pass->width = v->pass[i].width;
			pass->height = v->pass[i].height;
		}
		pass->iterations = v->pass[i].iterations;
		memcpy(pass->local_size, v->pass[i].local_size, sizeof pass->local_size);
	}
	cJSON *json = manifest_to_json(&m, MANIFEST_PROJECT);
	free(m.pass);
	return json;
}

#include "verify/outputs.h"

#include <stdlib.h>
#include <string.h>

#include "util/limits.h"
#include "util/mem.h"

static const char *const face[] = { "px", "nx", "py", "ny", "pz", "nz" };

const char *output_face(int f)
{
	return face[f];
}

static void add_output(struct outputs *o, const struct output *one)
{
	o->output = array_grow(o->output, o->noutput, &o->cap, sizeof *o->output);
	o->output[o->noutput++] = *one;
}

/* "pass:NAME:output:K:raw" or "pass:NAME:face:F:raw" of this pass. */
static int parse_key(const char *key, const char *pass, int *output, int *f)
{
	size_t n = strlen(pass);
	if (strncmp(key, "pass:", 5) != 0 || strncmp(key + 5, pass, n) != 0 ||
	    key[5 + n] != ':')
		return 0;
	const char *what = key + 6 + n;
	*output = 0;
	*f = -1;
	if (strncmp(what, "output:", 7) == 0 && what[7] >= '0' &&
	    what[7] <= '0' + LIMIT_EXTRA_OUTPUTS && strcmp(what + 8, ":raw") == 0) {
		*output = what[7] - '0';
		return 1;
	}
	for (int k = 0; k < 6 && strncmp(what, "face:", 5) == 0; k++)
		if (strncmp(what + 5, face[k], 2) == 0 && strcmp(what + 7, ":raw") == 0) {
			*f = k;
			return 1;
		}
	return 0;
}

/* Output 0 of a pass from the state, then what its artifacts add. */
static void add_pass(struct outputs *o, const char *pass, int width, int height)
{
	size_t first = o->noutput;
	for (size_t i = 0; i < first; i++)
		if (strcmp(o->output[i].pass, pass) == 0)
			return;
	for (size_t i = 0; i < o->state.nbuffer; i++) {
		const struct state_buffer *b = &o->state.buffer[i];
		if (strcmp(b->name, pass) == 0)
			add_output(o,
			    &(struct output){ xstrdup(pass), 0, -1, b->width, b->height,
				b->at, NULL });
	}
	for (size_t i = 0; i < o->bundle->nartifact; i++) {
		const struct artifact *a = &o->bundle->artifact[i];
		struct output one = { .width = width, .height = height };
		if (!parse_key(a->key, pass, &one.output, &one.face) ||
		    (!one.output && one.face < 0 && o->noutput > first &&
			o->output[first].at))
			continue;
		if (width < 1 || height < 1 ||
		    a->bytes != (uint64_t)width * (uint64_t)height * 16)
			continue; /* nobody says what shape it has */
		one.pass = xstrdup(pass);
		one.key = xstrdup(a->key);
		add_output(o, &one);
	}
}

static int size_of(const cJSON *timing, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(timing, key);
	return cJSON_IsNumber(item) && item->valuedouble >= 1 &&
		item->valuedouble <= LIMIT_SIZE
	    ? item->valueint
	    : 0;
}

static const cJSON *timing_of(const cJSON *timings, const char *pass)
{
	const cJSON *timing;

	cJSON_ArrayForEach (timing, timings) {
		const cJSON *name = cJSON_GetObjectItemCaseSensitive(timing, "name");
		if (cJSON_IsString(name) && strcmp(name->valuestring, pass) == 0)
			return timing;
	}
	return NULL;
}

int outputs_open(const struct bundle *b, struct outputs *out, struct err *err)
{
	*out = (struct outputs){ .bundle = b };
	if (bundle_artifact(b, "state") &&
	    (bundle_read(b, "state", &out->file, err) ||
		state_read("state.ststate", out->file.data, out->file.len, &out->state,
		    err))) {
		err_wrap(err, "in %s", b->dir);
		return -1;
	}
	const cJSON *timing, *key;
	const cJSON *timings = cJSON_GetObjectItemCaseSensitive(b->json, "pass_timings");
	/* All passes, in the order that a frame runs. */
	cJSON_ArrayForEach (key, cJSON_GetObjectItemCaseSensitive(b->json, "keys")) {
		timing = timing_of(timings, key->string);
		add_pass(out, key->string, size_of(timing, "width"),
		    size_of(timing, "height"));
	}
	/* The ancestor writes no keys. */
	cJSON_ArrayForEach (timing, timings) {
		const cJSON *name = cJSON_GetObjectItemCaseSensitive(timing, "name");
		if (cJSON_IsString(name))
			add_pass(out, name->valuestring, size_of(timing, "width"),
			    size_of(timing, "height"));
	}
	for (size_t i = 0; i < out->state.nbuffer; i++)
		add_pass(out, out->state.buffer[i].name, 0, 0);
	return 0;
}

void outputs_close(struct outputs *o)
{
	for (size_t i = 0; i < o->noutput; i++) {
		free(o->output[i].pass);
		free(o->output[i].key);
	}
	free(o->output);
	state_release(&o->state);
	buf_release(&o->file);
	buf_release(&o->scratch);
	*o = (struct outputs){ 0 };
}

const char *outputs_read(struct outputs *o, size_t i, struct err *err)
{
	const struct output *one = &o->output[i];
	if (one->at)
		return o->file.data + one->at;
	buf_reset(&o->scratch);
	if (bundle_read(o->bundle, one->key, &o->scratch, err)) {
		err_wrap(err, "in %s", o->bundle->dir);
		return NULL;
	}
	return o->scratch.data;
}

/* Not a number ------------------------------------------------------------- */

/* Index of the first value without finite exponent; n when there is none. */
static size_t find_nonfinite(const char *texel, size_t n)
{
	enum { BLOCK = 256 };
	uint32_t v[BLOCK];
	for (size_t i = 0; i < n; i += BLOCK) {
		size_t m = n - i < BLOCK ? n - i : BLOCK;
		uint32_t any = 0;
		memcpy(v, texel + 4 * i, 4 * m);
		for (size_t k = 0; k < m; k++)
			any |= (v[k] & 0x7f800000u) == 0x7f800000u;
		for (size_t k = 0; any && k < m; k++)
			if ((v[k] & 0x7f800000u) == 0x7f800000u)
				return i + k;
	}
	return n;
}

int nonfinite_find(const struct bundle *b, struct nonfinite *out, struct err *err)
{
	struct outputs o;
	int rc = outputs_open(b, &o, err);
	*out = (struct nonfinite){ 0 };
	for (size_t i = 0; i < o.noutput && !rc && !out->is_found; i++) {
		const struct output *one = &o.output[i];
		const char *texel = outputs_read(&o, i, err);
		size_t width = (size_t)one->width;
		size_t n = width * (size_t)one->height * 4;
		if (!texel) {
			rc = -1;
			break;
		}
		size_t at = find_nonfinite(texel, n);
		if (at == n)
			continue;
		*out = (struct nonfinite){ 1, xstrdup(one->pass), one->output, one->face,
			(int)(at / 4 % width), (int)(at / 4 / width), (int)(at % 4), 0 };
		memcpy(&out->value, texel + 4 * at, 4);
	}
	outputs_close(&o);
	return rc;
}

void nonfinite_release(struct nonfinite *n)
{
	free(n->pass);
	*n = (struct nonfinite){ 0 };
}

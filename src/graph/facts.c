#include "graph/facts.h"

#include <stdlib.h>
#include <string.h>

#include "keys_impl.h"
#include "project/image.h"
#include "glsl/shader.h"
#include "util/mem.h"

/* A pass at all frames ------------------------------------------------------- */

/* "=" and the text of a short macro, or the hash of the tokens. */
static void add_parts(const struct key_program *program, struct facts *out)
{
	static const enum fact_kind kind[] = {
		[PART_FUNCTION] = FACT_FUNCTION,
		[PART_MACRO] = FACT_MACRO,
		[PART_REST] = FACT_REST,
	};

	for (size_t i = 0; i < program->npart && !out->is_terse; i++) {
		const struct part *part = &program->part[i];
		char *text = part->text ? xasprintf("=%s", part->text) : NULL;
		facts_add(out,
		    &(struct fact){ .kind = kind[part->kind],
			.subject = part->name,
			.index = !part->is_used,
			.bytes = text ? (unsigned char *)text : part->sha.byte,
			.n = text ? strlen(text) : SHA256_SIZE,
			.file = part->file,
			.line = part->line });
		free(text);
	}
}

static int is_active(const struct key_program *program, int channel)
{
	return !program->reflection || channel_is_active(program->reflection, channel);
}

static void add_samplers(const struct pass *pass, const struct key_program *program,
    struct facts *out)
{
	for (int c = 0; c < LIMIT_CHANNELS; c++) {
		const struct input_ref *in = pass_channel(pass, c);
		if (in && is_active(program, c))
			facts_add_bytes(out, FACT_SAMPLER, "", (uint32_t)c,
			    (unsigned char[]){ (unsigned char)in->filter,
				(unsigned char)in->wrap },
			    2);
	}
}

void facts_of_static(const struct scene *scene, const struct key_program *program, int p,
    const struct sha256 *driver, struct facts *out)
{
	const struct variant *v = scene->variant;
	const struct pass *pass = &v->manifest->pass[p];
	const struct variant_pass *vp = &v->pass[p];
	struct sha256 sha;

	facts_begin(out, "static");
	facts_add_number(out, FACT_DIALECT, "", FACT_NONE, v->manifest->dialect);
	facts_add_number(out, FACT_HEADER, "", FACT_NONE, SHADER_HEADER_VERSION);
	sha256_of(buf_str(program->tokens), program->tokens->len, &sha);
	facts_add_hash(out, FACT_TOKENS, "", FACT_NONE, &sha);
	add_parts(program, out);
	facts_add_number(out, FACT_KIND, "", FACT_NONE, pass->kind);
	facts_add_size(out, FACT_OWN_SIZE, vp->is_output_sized ? 0 : vp->width,
	    vp->is_output_sized ? 0 : vp->height);
	for (int i = 0; i <= pass->nextra_output; i++)
		facts_add_number(out, FACT_FORMAT, "", (uint32_t)i, pass_format(pass, i));
	facts_add_number(out, FACT_ITERATIONS, "", FACT_NONE, (uint64_t)vp->iterations);
	if (pass->kind == PASS_COMPUTE) {
		struct buf size = BUF_INIT;
		for (int i = 0; i < 3; i++)
			buf_u32le(&size, (uint32_t)vp->local_size[i]);
		facts_add_bytes(out, FACT_LOCAL_SIZE, "", FACT_NONE, size.data, size.len);
		buf_release(&size);
	}
	add_samplers(pass, program, out);
	if (driver)
		facts_add_hash(out, FACT_DRIVER, "", FACT_NONE, driver);
}

/* A pass at one frame -------------------------------------------------------- */

static void add_uniform(const struct draw_uniform *u, struct facts *out)
{
	static const unsigned char components[] = {
		[GL_T_FLOAT] = 1,
		[GL_T_VEC2] = 2,
		[GL_T_VEC3] = 3,
		[GL_T_VEC4] = 4,
		[GL_T_OTHER] = 0,
	};
	size_t nfloat = (size_t)components[u->type] * (size_t)u->count;
	unsigned char bytes[1 + sizeof u->f];

	bytes[0] = nfloat > 0 ? 'f' : u->type == GL_T_BOOL ? 'b' : 'i';
	for (size_t i = 0; i < (nfloat > 0 ? nfloat : 1); i++) {
		uint32_t bits = (uint32_t)u->i[0];
		if (nfloat > 0)
			memcpy(&bits, &u->f[i], sizeof bits);
		for (size_t b = 0; b < 4; b++)
			bytes[1 + 4 * i + b] = (unsigned char)(bits >> 8 * b);
	}
	facts_add_bytes(out, FACT_UNIFORM, u->name, FACT_NONE, bytes,
	    1 + 4 * (nfloat > 0 ? nfloat : 1));
}

static void add_uniforms(const struct keys *k, int p, const struct moment *m,
    struct facts *out)
{
	const struct reflection *r = k->program[p].reflection;

	for (size_t i = 0; i < r->nuniform; i++) {
		struct draw_uniform u;
		if (uniform_value(m, p, &r->uniform[i], &u))
			add_uniform(&u, out);
	}
}

static void add_asset(const struct scene *scene, const struct input_ref *in, uint32_t c,
    struct facts *out)
{
	facts_add_hash(out, FACT_ASSET, "", c, &scene->asset[in->asset].sha);
	facts_add_text(out, FACT_DECODER, "", c, IMAGE_DECODER);
}

/* What is bound to a channel, as far as the manifest says. */
static void add_bound(const struct scene *scene, const struct input_ref *in, int c,
    struct facts *out)
{
	const struct manifest *m = scene->variant->manifest;
	unsigned char how[6] = { 0xff };
	struct buf what = BUF_INIT;

	if (in) {
		const struct asset *a = in->asset < 0 ? NULL : &m->asset[in->asset];
		int p = in->kind == INPUT_PASS ? in->pass : -1;
		how[0] = (unsigned char)in->kind;
		how[1] = p >= 0 && m->pass[p].kind == PASS_CUBEMAP;
		how[2] = p >= 0 ? (unsigned char)in->output : 0;
		how[3] = p >= 0 && (scene->graph->mips[p] >> in->output & 1);
		how[4] = a ? (unsigned char)a->vflip : 0;
		how[5] = a ? (unsigned char)a->channels : 0;
		buf_addch(&what, (char)in->kind);
		buf_addch(&what, (char)how[2]);
		buf_addch(&what, (char)in->is_previous);
		buf_addstr(&what, p >= 0 ? m->pass[p].name : a ? a->path : "");
	}
	facts_add_bytes(out, FACT_CHANNEL, "", (uint32_t)c, how, sizeof how);
	if (in && !out->is_terse)
		facts_add_bytes(out, FACT_BOUND, "", (uint32_t)c, what.data, what.len);
	buf_release(&what);
	if (in && in->asset >= 0)
		add_asset(scene, in, (uint32_t)c, out);
	if (in && in->kind == INPUT_MUSIC)
		facts_add_text(out, FACT_MUSIC, "", (uint32_t)c, MUSIC_TEXELS);
}

/* What the pass reads there: its key, or the shape of the zeros before frame 0. */
static void add_input(const struct keys *k, const struct input_ref *in, int t,
    struct facts *out)
{
	const struct variant *v = k->scene->variant;
	uint32_t node = keys_canonical(k, in->pass, in->is_previous ? t - 1 : t);
	unsigned char zeros[9] = { 0 };
	int w, h;

	if (node != NODE_NONE) {
		facts_add_hash(out, FACT_INPUT, "", (uint32_t)in->channel, &k->key[node]);
		return;
	}
	target_size(v, in->pass, &w, &h);
	for (int i = 0; i < 4; i++) {
		zeros[i] = (unsigned char)((unsigned)w >> 8 * i);
		zeros[4 + i] = (unsigned char)((unsigned)h >> 8 * i);
	}
	/* Where a format has no alpha, zeros read as (0, 0, 0, 1). */
	zeros[8] = (unsigned char)pass_format(&v->manifest->pass[in->pass], in->output);
	facts_add_bytes(out, FACT_INPUT, "", (uint32_t)in->channel, zeros, sizeof zeros);
}

static void add_keyboard(const struct variant *v, int channel, int t, struct facts *out)
{
	unsigned char bits[96] = { 0 };
	uint8_t key[3][256];

	variant_keys(v, t, key);
	for (int r = 0; r < 3; r++)
		for (int i = 0; i < 256; i++)
			bits[32 * r + i / 8] |= (unsigned char)(key[r][i] << i % 8);
	facts_add_bytes(out, FACT_KEYBOARD, "", (uint32_t)channel, bits, sizeof bits);
}

static void add_channels(const struct keys *k, int p, int t, struct facts *out)
{
	const struct variant *v = k->scene->variant;
	unsigned active = channels_active(k->program[p].reflection);

	for (int c = 0; c < LIMIT_CHANNELS; c++) {
		if (!(active >> c & 1))
			continue;
		const struct input_ref *in = pass_channel(&v->manifest->pass[p], c);
		if (in && (in->kind == INPUT_VIDEO || in->kind == INPUT_WEBCAM))
			BUG("a %s input reached the keys", input_kind_name(in->kind));
		add_bound(k->scene, in, c, out);
		if (in && in->kind == INPUT_PASS)
			add_input(k, in, t, out);
		if (in && in->kind == INPUT_KEYBOARD)
			add_keyboard(v, c, t, out);
	}
}

static void add_storage(const struct graph *g, uint32_t binding, int s, struct facts *out)
{
	struct buf bytes = BUF_INIT;

	buf_u64le(&bytes, g->storage_size[s]);
	buf_addstr(&bytes, g->storage[s]);
	facts_add_bytes(out, FACT_STORAGE, "", binding, bytes.data, bytes.len);
	buf_release(&bytes);
}

static void add_blocks(const struct keys *k, int p, uint32_t node, struct facts *out)
{
	const struct reflection *r = k->program[p].reflection;

	for (size_t i = 0; i < r->nblock; i++) {
		uint32_t binding = r->block[i].binding;
		int s = nodes_storage(k->scene, p, binding);
		if (s < 0)
			continue;
		add_storage(k->scene->graph, binding, s, out);
		facts_add_number(out, FACT_WRITTEN, "", binding,
		    r->block[i].is_written != 0);
		facts_add_hash(out, FACT_CONTENT, "", binding,
		    keys_found_version(k, node, s));
	}
}

static void add_history(const struct keys *k, int p, int t, struct facts *out)
{
	int distance = nodes_history(k->scene, k->program, p);

	if (distance == 0)
		return;
	uint32_t node = keys_canonical(k, p, t - distance);
	if (node == NODE_NONE)
		facts_add_bytes(out, FACT_HISTORY, "", (uint32_t)distance, "", 0);
	else
		facts_add_hash(out, FACT_HISTORY, "", (uint32_t)distance, &k->key[node]);
}

void facts_of_recipe(const struct keys *k, uint32_t node, const struct moment *m,
    struct facts *out)
{
	int p = keys_node_pass(k, node);
	int w, h;

	target_size(k->scene->variant, p, &w, &h);
	facts_begin(out, "recipe");
	facts_add_hash(out, FACT_STATIC, "", FACT_NONE, &k->static_part[p]);
	/* The target's size counts even where the source never asks for it. */
	facts_add_size(out, FACT_SIZE, w, h);
	add_uniforms(k, p, m, out);
	add_channels(k, p, m->t, out);
	add_blocks(k, p, node, out);
	add_history(k, p, m->t, out);
}

void facts_of_node(const struct keys *k, uint32_t node, struct facts *out)
{
	struct moment moment;

	moment_init(&moment, k->scene);
	moment_set(&moment, keys_node_frame(k, node));
	facts_of_recipe(k, node, &moment, out);
	moment_release(&moment);
}

void facts_of_sound(const struct keys *k, int p, const struct sha256 *static_part,
    const struct moment *m, struct facts *out)
{
	facts_begin(out, "sound");
	facts_add_hash(out, FACT_STATIC, "", FACT_NONE, static_part);
	facts_add_number(out, FACT_RATE, "", FACT_NONE, SOUND_RATE);
	add_uniforms(k, p, m, out);
	add_channels(k, p, m->t, out);
}

void facts_of_inputs(const struct scene *scene, int p, struct facts *out)
{
	const struct pass *pass = &scene->variant->manifest->pass[p];
	int w, h;

	target_size(scene->variant, p, &w, &h);
	facts_add_size(out, FACT_SIZE, w, h);
	for (int c = 0; c < LIMIT_CHANNELS; c++)
		if (pass_channel(pass, c))
			add_bound(scene, pass_channel(pass, c), c, out);
	for (size_t i = 0; i < pass->nstorage; i++)
		add_storage(scene->graph, pass->storage[i].binding,
		    graph_storage(scene->graph, pass->storage[i].name), out);
}

int fact_bound_previous(const struct fact *bound)
{
	return bound->n > 3 && bound->bytes[2] != 0;
}

char *fact_bound_pass(const struct fact *bound)
{
	if (bound->n <= 3 || bound->bytes[0] != INPUT_PASS)
		return NULL;
	return xstrndup((const char *)bound->bytes + 3, bound->n - 3);
}

/* A variant -------------------------------------------------------------------- */

static void add_value(struct facts *out, enum fact_kind kind, const char *name,
    uint32_t index, char letter, const float *f, const int *i, int n)
{
	struct buf bytes = BUF_INIT;

	buf_addch(&bytes, letter);
	for (int k = 0; k < n; k++) {
		uint32_t bits = i ? (uint32_t)*i : 0;
		if (!i)
			memcpy(&bits, &f[k], sizeof bits);
		buf_u32le(&bytes, bits);
	}
	facts_add_bytes(out, kind, name, index, bytes.data, bytes.len);
	buf_release(&bytes);
}

static void add_custom(struct facts *out, const char *name, uint32_t index,
    const struct value *v)
{
	float f[4];

	for (int i = 0; i < 4; i++)
		f[i] = (float)v->f[i];
	if (v->type == VALUE_INT || v->type == VALUE_BOOL)
		add_value(out, FACT_VALUE, name, index, v->type == VALUE_BOOL ? 'b' : 'i',
		    NULL, &v->i, 1);
	else
		add_value(out, FACT_VALUE, name, index, 'f', f, NULL,
		    value_components(v->type));
}

void facts_of_values(const struct variant *v, int frame, struct facts *out)
{
	const struct manifest *m = v->manifest;
	struct value *value = xcalloc(m->nuniform + 1, sizeof *value);

	variant_values(v, frame, value);
	for (size_t u = 0; u < m->nuniform; u++)
		add_custom(out, m->uniform[u].name, FACT_NONE, &value[u]);
	free(value);
}

static void add_step(const struct variant *v, const struct timeline_step *step,
    struct facts *out)
{
	unsigned char down[32] = { 0 };
	uint32_t frame = (uint32_t)step->frame;

	for (size_t i = 0; i < step->nset; i++)
		if (!v->is_set[step->set[i].uniform])
			add_custom(out, v->manifest->uniform[step->set[i].uniform].name,
			    frame, &step->set[i].value);
	if (step->has_mouse)
		add_value(out, FACT_MOUSE, "", frame, 'f', step->mouse, NULL, 4);
	for (size_t i = 0; step->has_keys && i < step->nkey; i++)
		down[step->key[i] / 8] |= (unsigned char)(1 << step->key[i] % 8);
	if (step->has_keys)
		facts_add_bytes(out, FACT_KEYS, "", frame, down, sizeof down);
}

void facts_of_settings(const struct variant *v, struct facts *out)
{
	static const float still[4];
	static const unsigned char none[32];
	const struct manifest *m = v->manifest;
	const struct date *d = &m->date;
	const int field[] = { d->year, d->month, d->day, d->hour, d->minute };
	struct buf date = BUF_INIT;
	uint64_t bits;

	facts_add_size(out, FACT_SIZE, v->width, v->height);
	facts_add_double(out, FACT_FPS, v->fps);
	for (size_t i = 0; i < sizeof field / sizeof *field; i++)
		buf_u32le(&date, (uint32_t)field[i]);
	memcpy(&bits, &d->second, sizeof bits);
	buf_u64le(&date, bits);
	facts_add_bytes(out, FACT_DATE, "", FACT_NONE, date.data, date.len);
	buf_release(&date);
	facts_add_text(out, FACT_PRESET_NAME, "", FACT_NONE,
	    v->preset ? v->preset : "none");
	for (size_t u = 0; u < m->nuniform; u++)
		add_custom(out, m->uniform[u].name, FACT_NONE, &v->base[u]);
	add_value(out, FACT_MOUSE, "", FACT_NONE, 'f', still, NULL, 4);
	facts_add_bytes(out, FACT_KEYS, "", FACT_NONE, none, sizeof none);
	for (size_t i = 0; i < v->timeline->nstep; i++)
		add_step(v, &v->timeline->step[i], out);
}

/* Documents ---------------------------------------------------------------------- */

void facts_of_json(const cJSON *json, const char *path, int (*skip)(const char *path),
    struct facts *out)
{
	const cJSON *item;
	size_t i = 0;

	if (skip && skip(path))
		return;
	/* A list of plain values is a value; one of tables is none. */
	if (!(cJSON_IsObject(json) && json->child) &&
	    !(cJSON_IsArray(json) && cJSON_IsObject(json->child))) {
		char *text = cJSON_PrintUnformatted(json);
		facts_add_text(out, FACT_SETTING, path, FACT_NONE, text);
		cJSON_free(text);
		return;
	}
	cJSON_ArrayForEach (item, json) {
		const cJSON *name = cJSON_GetObjectItemCaseSensitive(item, "name");
		char *deeper;
		if (cJSON_IsArray(json) && !cJSON_IsString(name))
			deeper = xasprintf("%s[%zu]", path, i);
		else
			deeper = xasprintf("%s%s%s", path, *path ? "." : "",
			    cJSON_IsArray(json) ? name->valuestring : item->string);
		facts_of_json(item, deeper, skip, out);
		free(deeper);
		i++;
	}
}

void facts_of_identity(const char *text, struct facts *out)
{
	for (const char *line = text; *line;) {
		size_t n = strcspn(line, "\n"), name = strcspn(line, " \n");
		char *subject = xstrndup(line, name);
		if (n > name)
			facts_add_bytes(out, FACT_IDENTITY, subject, FACT_NONE,
			    line + name + 1, n - name - 1);
		free(subject);
		line += n + (line[n] == '\n');
	}
}

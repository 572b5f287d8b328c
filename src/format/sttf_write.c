#include "format/sttf.h"

#include <math.h>
#include <string.h>

#include "glsl/shader.h"
#include "format/base64.h"
#include "format/fields.h"
#include "util/map.h"
#include "util/mem.h"

struct writer {
	const struct variant *v;
	const struct manifest *m;
	const struct source *source;
	const struct image *image;
	cJSON *nodes, *links;
	cJSON *asset;     /* of "stbuild": what nodes cannot say */
	struct map names; /* of nodes */
	char *is_used;    /* an asset each */
	char **feedback;  /* a pass each: its LastFrame node, or null */
	size_t nfeedback;
	char *keyboard, *music; /* nodes, or null */
	struct err *err;
};

static const char *shader_type(enum pass_kind kind)
{
	return kind == PASS_CUBEMAP ? "CubeMap"
	    : kind == PASS_COMPUTE  ? "Compute"
				    : "Image";
}

static cJSON *format_json(enum format format)
{
	return cJSON_CreateString(format_document_name(format));
}

static cJSON *add_node(struct writer *w, const char *class, const char *name)
{
	cJSON *node = cJSON_CreateObject();
	cJSON_AddItemToArray(w->nodes, node);
	cJSON_AddStringToObject(node, "class", class);
	cJSON_AddStringToObject(node, "name", name);
	map_puts(&w->names, name, 0);
	return node;
}

/* A node of our own: its name gives way to those of the project. */
static char *add_generated(struct writer *w, const char *class, const char *name,
    cJSON **out)
{
	char *unique = xstrdup(name);
	for (int k = 2; map_gets(&w->names, unique) != MAP_NONE; k++) {
		free(unique);
		unique = xasprintf("%s_%d", name, k);
	}
	*out = add_node(w, class, unique);
	return unique;
}

/* Hands a long text over without a copy. */
static void add_text(cJSON *node, const char *key, struct buf *text)
{
	cJSON *item = cJSON_CreateNull();
	item->type = cJSON_String;
	item->valuestring = buf_detach(text);
	cJSON_AddItemToObject(node, key, item);
}

static void add_data(cJSON *node, const void *data, size_t n)
{
	struct buf text = BUF_INIT;
	base64_encode(data, n, &text);
	add_text(node, "data", &text);
}

/* Texels as RGBA8; one channel reads (v, 0, 0, 1). */
static void add_rgba8(cJSON *node, const struct image *image)
{
	if (image->channels == 4) {
		add_data(node, image->data, image->ndata);
		return;
	}
	uint8_t *rgba = xcalloc(image->ndata, 4);
	for (size_t i = 0; i < image->ndata; i++) {
		rgba[i * 4] = image->data[i];
		rgba[i * 4 + 3] = 255;
	}
	add_data(node, rgba, image->ndata * 4);
	free(rgba);
}

static cJSON *asset_extras(struct writer *w, const char *name)
{
	return cJSON_AddObjectToObject(w->asset, name);
}

/*
 * A volume that is not cubic, or of floats, has no form in STTF. Its node
 * still holds its bytes, with a size that does not fit them: other readers
 * refuse it, which is better than a wrong picture.
 */
static void add_volume(struct writer *w, const char *name, const struct image *image)
{
	cJSON *node = add_node(w, "Volume", name);
	int size = image->width;
	size = image->height > size ? image->height : size;
	size = image->depth > size ? image->depth : size;
	cJSON_AddNumberToObject(node, "size", size);
	cJSON_AddNumberToObject(node, "channels", image->channels);
	add_data(node, image->data, image->ndata);
	if (image->width == size && image->height == size && image->depth == size &&
	    !image->is_float)
		return;
	cJSON *extras = asset_extras(w, name);
	cJSON_AddNumberToObject(extras, "width", image->width);
	cJSON_AddNumberToObject(extras, "height", image->height);
	cJSON_AddNumberToObject(extras, "depth", image->depth);
	cJSON_AddBoolToObject(extras, "float", image->is_float);
}

static void add_asset(struct writer *w, size_t i)
{
	const struct asset *asset = &w->m->asset[i];
	const struct image *image = &w->image[i];
	if (asset->kind == ASSET_VOLUME) {
		add_volume(w, asset->name, image);
		return;
	}
	int is_cube = asset->kind == ASSET_CUBEMAP;
	cJSON *node = add_node(w, is_cube ? "CubeMap" : "Texture", asset->name);
	if (is_cube) {
		cJSON_AddNumberToObject(node, "size", image->width);
	} else {
		cJSON_AddNumberToObject(node, "width", image->width);
		cJSON_AddNumberToObject(node, "height", image->height);
	}
	add_rgba8(node, image);
	if (image->channels == 1)
		cJSON_AddNumberToObject(asset_extras(w, asset->name), "channels", 1);
}

static void add_pass(struct writer *w, int p)
{
	const struct pass *pass = &w->m->pass[p];
	const struct variant_pass *vp = &w->v->pass[p];
	struct buf text = BUF_INIT;
	cJSON *node = add_node(w, "GLSLShader", pass->name), *list;
	shader_portable(w->m, p, &w->source[p], &text);
	add_text(node, "source", &text);
	cJSON_AddStringToObject(node, "type", shader_type(pass->kind));
	int is_sized = pass->kind == PASS_BUFFER || pass->kind == PASS_COMPUTE;
	if (is_sized && !vp->is_output_sized) {
		cJSON_AddNumberToObject(node, "width", vp->width);
		cJSON_AddNumberToObject(node, "height", vp->height);
	}
	if (is_sized && pass->format != FORMAT_RGBA32F)
		cJSON_AddItemToObject(node, "format", format_json(pass->format));
	if (pass->nextra_output) {
		list = cJSON_AddArrayToObject(node, "extraRenderFormats");
		for (int i = 0; i < pass->nextra_output; i++)
			cJSON_AddItemToArray(list, format_json(pass->extra_output[i]));
	}
	if (pass->kind == PASS_COMPUTE) {
		cJSON_AddItemToObject(node, "localSize",
		    cJSON_CreateIntArray(vp->local_size, 3));
		if (vp->iterations != 1)
			cJSON_AddNumberToObject(node, "iterations", vp->iterations);
	}
	if (!pass->nstorage)
		return;
	list = cJSON_AddArrayToObject(node, "storageBuffers");
	for (size_t i = 0; i < pass->nstorage; i++) {
		cJSON *s = cJSON_CreateObject();
		cJSON_AddItemToArray(list, s);
		cJSON_AddStringToObject(s, "name", pass->storage[i].name);
		cJSON_AddNumberToObject(s, "binding", pass->storage[i].binding);
		cJSON_AddNumberToObject(s, "size", (double)pass->storage[i].size);
	}
}

static void add_link(struct writer *w, const char *start, const char *end, int slot,
    enum filter filter, enum wrap wrap, int output)
{
	cJSON *link = cJSON_CreateObject();
	cJSON_AddItemToArray(w->links, link);
	cJSON_AddStringToObject(link, "start", start);
	cJSON_AddStringToObject(link, "end", end);
	cJSON_AddNumberToObject(link, "slot", slot);
	cJSON_AddStringToObject(link, "filter",
	    filter == FILTER_MIPMAP        ? "Mipmap"
		: filter == FILTER_NEAREST ? "Nearest"
					   : "Linear");
	cJSON_AddStringToObject(link, "wrapMode",
	    wrap == WRAP_CLAMP ? "Clamp" : "Repeat");
	if (output)
		cJSON_AddNumberToObject(link, "sourceOutput", output);
}

static const char *feedback_of(struct writer *w, int p)
{
	cJSON *node;
	if (!w->feedback[p]) {
		char name[32];
		snprintf(name, sizeof name, "__feedback_%zu", w->nfeedback++);
		w->feedback[p] = add_generated(w, "LastFrame", name, &node);
		cJSON_AddStringToObject(node, "ref", w->m->pass[p].name);
		cJSON_AddStringToObject(node, "type", shader_type(w->m->pass[p].kind));
	}
	return w->feedback[p];
}

static int add_input(struct writer *w, const struct pass *pass,
    const struct input_ref *in)
{
	const char *start = NULL;
	cJSON *node;
	switch (in->kind) {
	case INPUT_PASS:
		start = in->is_previous ? feedback_of(w, in->pass)
					: w->m->pass[in->pass].name;
		break;
	case INPUT_TEXTURE:
	case INPUT_CUBEMAP:
	case INPUT_VOLUME:
		start = w->m->asset[in->asset].name;
		break;
	case INPUT_KEYBOARD:
		if (!w->keyboard)
			w->keyboard = add_generated(w, "Keyboard", "keyboard", &node);
		start = w->keyboard;
		break;
	case INPUT_MUSIC:
		if (!w->music)
			w->music = add_generated(w, "Music", "music", &node);
		start = w->music;
		break;
	case INPUT_VIDEO:
	case INPUT_WEBCAM:
		return err_set(w->err, STATUS_INPUT,
		    "pass '%s' reads %s "
		    "input, which an STTF document cannot contain",
		    pass->name, input_kind_name(in->kind));
	}
	add_link(w, start, pass->name, in->channel, in->filter, in->wrap,
	    in->is_previous ? 0 : in->output);
	return 0;
}

/* A bool travels as Int 0 or 1. */
static cJSON *uniforms_json(const struct variant *v)
{
	static const char *const type_name[] = {
		[VALUE_FLOAT] = "Float",
		[VALUE_INT] = "Int",
		[VALUE_BOOL] = "Int",
		[VALUE_VEC2] = "Vec2",
		[VALUE_VEC3] = "Vec3",
		[VALUE_VEC4] = "Vec4",
	};
	cJSON *table = cJSON_CreateObject();
	for (size_t i = 0; i < v->manifest->nuniform; i++) {
		struct value value = v->base[i];
		cJSON *u = cJSON_AddObjectToObject(table, v->manifest->uniform[i].name);
		cJSON_AddStringToObject(u, "type", type_name[value.type]);
		if (value.type == VALUE_BOOL)
			value.type = VALUE_INT;
		cJSON_AddItemToObject(u, "value", value_to_json(&value));
	}
	return table;
}

/* The manifest's declarations with this variant's values as defaults. */
static cJSON *declarations_json(const struct variant *v)
{
	cJSON *list = cJSON_CreateArray();
	for (size_t i = 0; i < v->manifest->nuniform; i++) {
		const struct uniform *u = &v->manifest->uniform[i];
		cJSON *item = cJSON_CreateObject();
		cJSON_AddItemToArray(list, item);
		cJSON_AddStringToObject(item, "name", u->name);
		cJSON_AddStringToObject(item, "type", value_type_name(u->type));
		cJSON_AddItemToObject(item, "default", value_to_json(&v->base[i]));
		if (u->has_min)
			cJSON_AddItemToObject(item, "min", value_to_json(&u->min));
		if (u->has_max)
			cJSON_AddItemToObject(item, "max", value_to_json(&u->max));
		if (u->has_step)
			cJSON_AddNumberToObject(item, "step", u->step);
	}
	return list;
}

/* Without the values that --set overrules: they are the defaults already. */
static cJSON *timeline_json(const struct variant *v)
{
	cJSON *list = cJSON_CreateArray();
	for (size_t i = 0; v->timeline && i < v->timeline->nstep; i++) {
		const struct timeline_step *step = &v->timeline->step[i];
		cJSON *item = cJSON_CreateObject();
		cJSON_AddItemToArray(list, item);
		cJSON_AddNumberToObject(item, "frame", step->frame);
		cJSON *set = cJSON_CreateObject();
		for (size_t k = 0; k < step->nset; k++) {
			int u = step->set[k].uniform;
			if (!v->is_set[u])
				cJSON_AddItemToObject(set, v->manifest->uniform[u].name,
				    value_to_json(&step->set[k].value));
		}
		if (set->child)
			cJSON_AddItemToObject(item, "set", set);
		else
			cJSON_Delete(set);
		if (step->has_mouse)
			cJSON_AddItemToObject(item, "mouse",
			    cJSON_CreateFloatArray(step->mouse, 4));
		if (step->has_keys) {
			cJSON *keys = cJSON_AddObjectToObject(item, "keys");
			cJSON *down = cJSON_AddArrayToObject(keys, "down");
			for (size_t k = 0; k < step->nkey; k++)
				cJSON_AddItemToArray(down,
				    cJSON_CreateNumber(step->key[k]));
		}
	}
	return list;
}

/* ISO 8601, with as many digits of the second as it has. */
static void add_date(cJSON *json, const struct date *date)
{
	struct buf text = BUF_INIT;
	double whole = floor(date->second);
	buf_addf(&text, "%04d-%02d-%02dT%02d:%02d:%02d", date->year, date->month,
	    date->day, date->hour, date->minute, (int)whole);
	if (date->second > whole) {
		char fraction[16];
		int n = snprintf(fraction, sizeof fraction, "%.9f", date->second - whole);
		while (n && fraction[n - 1] == '0')
			fraction[--n] = '\0';
		/* Less than half a nanosecond, or more than the last one. */
		if (fraction[0] == '0' && fraction[2])
			buf_addstr(&text, fraction + 1);
	}
	cJSON_AddStringToObject(json, "date", buf_str(&text));
	buf_release(&text);
}

/* Takes w->asset. */
static cJSON *extras_json(struct writer *w)
{
	cJSON *json = cJSON_CreateObject();
	cJSON_AddNumberToObject(json, "format", 1);
	cJSON_AddStringToObject(json, "dialect", dialect_name(w->m->dialect));
	cJSON_AddNumberToObject(json, "width", w->v->width);
	cJSON_AddNumberToObject(json, "height", w->v->height);
	cJSON_AddNumberToObject(json, "fps", w->v->fps);
	add_date(json, &w->m->date);
	struct {
		const char *key;
		cJSON *value;
	} optional[] = {
		{ "asset", w->asset },
		{ "timeline", timeline_json(w->v) },
		{ "uniform", declarations_json(w->v) },
	};
	w->asset = NULL;
	for (int i = 0; i < 3; i++) {
		if (optional[i].value->child)
			cJSON_AddItemToObject(json, optional[i].key, optional[i].value);
		else
			cJSON_Delete(optional[i].value);
	}
	return json;
}

static void mark_used(struct writer *w)
{
	const struct manifest *m = w->m;
	for (size_t p = 0; p < m->npass; p++) {
		if (m->pass[p].kind == PASS_SOUND)
			continue;
		for (size_t i = 0; i < m->pass[p].ninput; i++)
			if (m->pass[p].input[i].asset >= 0)
				w->is_used[m->pass[p].input[i].asset] = 1;
	}
}

/* Names of the project come first, so that ours give way. */
static void add_project(struct writer *w)
{
	static const enum asset_kind order[] = {
		ASSET_TEXTURE,
		ASSET_CUBEMAP,
		ASSET_VOLUME,
	};
	for (int k = 0; k < 3; k++)
		for (size_t i = 0; i < w->m->nasset; i++)
			if (w->is_used[i] && w->m->asset[i].kind == order[k])
				add_asset(w, i);
	for (size_t p = 0; p < w->m->npass; p++)
		if (w->m->pass[p].kind != PASS_SOUND)
			add_pass(w, (int)p);
}

static int add_inputs(struct writer *w)
{
	const struct manifest *m = w->m;
	for (size_t p = 0; p < m->npass; p++) {
		if (m->pass[p].kind == PASS_SOUND)
			continue;
		for (size_t i = 0; i < m->pass[p].ninput; i++)
			if (add_input(w, &m->pass[p], &m->pass[p].input[i]) < 0)
				return -1;
	}
	cJSON *node;
	char *output = add_generated(w, "RenderOutput", "Output", &node);
	add_link(w, m->pass[m->image].name, output, 0, FILTER_LINEAR, WRAP_CLAMP, 0);
	free(output);
	return 0;
}

int sttf_write(const struct variant *v, const struct source *source,
    const struct image *image, struct buf *out, struct err *err)
{
	const struct manifest *m = v->manifest;
	cJSON *root = cJSON_CreateObject();
	struct writer w = {
		.v = v,
		.m = m,
		.source = source,
		.image = image,
		.nodes = cJSON_AddArrayToObject(root, "nodes"),
		.links = cJSON_AddArrayToObject(root, "links"),
		.asset = cJSON_CreateObject(),
		.is_used = xcalloc(m->nasset + 1, 1),
		.feedback = xcalloc(m->npass + 1, sizeof *w.feedback),
		.err = err,
	};
	cJSON *metadata = cJSON_AddObjectToObject(root, "metadata");
	cJSON_AddStringToObject(metadata, "Name", m->name);
	mark_used(&w);
	add_project(&w);
	int rc = add_inputs(&w);
	if (!rc) {
		cJSON_AddItemToObject(root, "uniforms", uniforms_json(v));
		cJSON_AddItemToObject(root, "stbuild", extras_json(&w));
		fields_print(root, FIELDS_SORTED, out);
	}
	for (size_t p = 0; p < m->npass; p++)
		free(w.feedback[p]);
	free(w.feedback);
	free(w.is_used);
	free(w.keyboard);
	free(w.music);
	map_release(&w.names);
	cJSON_Delete(w.asset);
	cJSON_Delete(root);
	return rc;
}

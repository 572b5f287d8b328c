#include "format/sttf.h"

#include <limits.h>
#include <string.h>

#include "util/limits.h"
#include "format/base64.h"
#include "format/bundle_write.h"
#include "format/fields.h"
#include "format/png.h"
#include "util/map.h"
#include "util/mem.h"

enum class {
	RENDER_OUTPUT,
	GLSL_SHADER,
	TEXTURE,
	CUBE_MAP,
	VOLUME,
	LAST_FRAME,
	KEYBOARD,
	MUSIC,
};
static const char *const class_name[] = {
	"RenderOutput",
	"GLSLShader",
	"Texture",
	"CubeMap",
	"Volume",
	"LastFrame",
	"Keyboard",
	"Music",
	NULL,
};

enum type { TYPE_IMAGE, TYPE_CUBE_MAP, TYPE_COMPUTE };
static const char *const type_name[] = {
	"Image",
	"CubeMap",
	"Compute",
	NULL,
};

static const char *const filter_names[] = {
	"Linear",
	"Nearest",
	"Mipmap",
	NULL,
};
static const char *const wrap_names[] = { "Repeat", "Clamp", NULL };
static const char *const format_names[] = {
#define FORMAT(name, word, document, ...) document,
#define TARGET(...)
#include "project/format.def"
	NULL,
};
static const char format_words[] =
#define FORMAT(name, word, document, ...) " " document
#define TARGET(...)
#include "project/format.def"
    ;
static const char *const uniform_types[] = {
	"Int",
	"Float",
	"Vec2",
	"Vec3",
	"Vec4",
	NULL,
};

struct node {
	const cJSON *json;
	const char *name;
	char *key; /* its name in the manifest; passes and assets */
	int class, type;
	int noutput;    /* of a shader: 1 + extraRenderFormats */
	unsigned slots; /* of a shader: those that are linked */
	size_t ref;     /* of a LastFrame */
	cJSON *pass;    /* of a shader: its entry, borrowed */
	cJSON *input;   /* its "input" list, borrowed; null while empty */
};

struct reader {
	const struct doc *doc;
	const cJSON *extras; /* "stbuild", or null */
	struct node *node;
	size_t nnode;
	struct map by_name; /* nodes */
	struct map key;     /* names given out in the manifest */
	char **stem;        /* file names given out */
	size_t nstem;
	size_t image; /* the shader that is the picture */
	cJSON *manifest;
	cJSON *pass, *asset; /* of the manifest */
	struct tree *tree;
	struct err *err;
};

static struct fields fields_of(const struct reader *r, const cJSON *object,
    const char *list, size_t index)
{
	struct fields f = { .doc = r->doc, .object = object, .err = r->err };
	snprintf(f.where, sizeof f.where, "%s[%zu]", list, index);
	return f;
}

static struct fields root_of(const struct reader *r)
{
	return (struct fields){ .doc = r->doc, .object = r->doc->root, .err = r->err };
}

static int need_object(const struct fields *f)
{
	if (cJSON_IsObject(f->object))
		return 0;
	return fields_fail(f, f->object, NULL, "it must be an object");
}

/* Nodes and links ---------------------------------------------------------- */

static int read_node(struct reader *r, const cJSON *c, size_t i)
{
	struct fields f = fields_of(r, c, "nodes", i);
	struct node *n = &r->node[i];
	n->json = c;
	if (need_object(&f) < 0 ||
	    fields_choice(&f, "class", 1, class_name, &n->class) < 0 ||
	    fields_string(&f, "name", 1, &n->name) < 0)
		return -1;
	if (fields_is_blank(n->name))
		return fields_fail(&f, fields_get(&f, "name", 1), "name",
		    "a node needs a name");
	if (!map_puts(&r->by_name, n->name, i))
		return fields_fail(&f, fields_get(&f, "name", 1), "name",
		    "two nodes have the name '%.64s'", n->name);
	if (n->class == GLSL_SHADER)
		return fields_choice(&f, "type", 1, type_name, &n->type);
	return 0;
}

static int read_nodes(struct reader *r)
{
	struct fields root = root_of(r);
	const cJSON *list = NULL;
	size_t n = 0, npass = 0, noutput = 0;
	if (fields_container(&root, "nodes", 1, DOC_ARRAY, &list) < 0)
		return -1;
	for (const cJSON *c = list->child; c; c = c->next)
		n++;
	if (n > LIMIT_DOCUMENT_NODES)
		return fields_fail(&root, list, "nodes",
		    "too many nodes (%zu, at most %d)", n, LIMIT_DOCUMENT_NODES);
	r->node = xcalloc(n + 1, sizeof *r->node);
	for (const cJSON *c = list->child; c; c = c->next, r->nnode++)
		if (read_node(r, c, r->nnode) < 0)
			return -1;
	for (size_t i = 0; i < n; i++) {
		npass += r->node[i].class == GLSL_SHADER;
		noutput += r->node[i].class == RENDER_OUTPUT;
	}
	if (npass > LIMIT_PASSES)
		return fields_fail(&root, list, "nodes",
		    "too many shaders (%zu, at most %d)", npass, LIMIT_PASSES);
	if (noutput != 1)
		return fields_fail(&root, list, "nodes",
		    "expected one RenderOutput node, got %zu", noutput);
	return 0;
}

/* What LastFrame nodes stand for. */
static int read_refs(struct reader *r)
{
	for (size_t i = 0; i < r->nnode; i++) {
		struct node *n = &r->node[i];
		struct fields f = fields_of(r, n->json, "nodes", i);
		const char *ref = NULL;
		long long output = 0;
		if (n->class != LAST_FRAME)
			continue;
		if (fields_string(&f, "ref", 1, &ref) < 0 ||
		    fields_choice(&f, "type", 1, type_name, &n->type) < 0 ||
		    fields_int(&f, "refOutput", 0, 0, LIMIT_EXTRA_OUTPUTS, &output) < 0)
			return -1;
		n->ref = map_gets(&r->by_name, ref);
		if (n->ref == MAP_NONE || r->node[n->ref].class != GLSL_SHADER)
			return fields_fail(&f, fields_get(&f, "ref", 1), "ref",
			    "there is no shader '%.64s'", ref);
		if ((n->type == TYPE_CUBE_MAP) != (r->node[n->ref].type == TYPE_CUBE_MAP))
			return fields_fail(&f, fields_get(&f, "type", 1), "type",
			    "the shader '%.64s' is of type %s", ref,
			    type_name[r->node[n->ref].type]);
		if (output)
			return fields_fail(&f, fields_get(&f, "refOutput", 1),
			    "refOutput",
			    "only output 0 of the last frame "
			    "can be read");
	}
	return 0;
}

struct link {
	size_t start, end;
	int slot, filter, wrap, output;
};

static int node_at(struct reader *r, const struct fields *f, const char *key, size_t *out)
{
	const char *name = NULL;
	if (fields_string(f, key, 1, &name) < 0)
		return -1;
	*out = map_gets(&r->by_name, name);
	if (*out == MAP_NONE)
		return fields_fail(f, fields_get(f, key, 1), key,
		    "there is no node '%.64s'", name);
	return 0;
}

static int read_link(struct reader *r, const struct fields *f, struct link *out)
{
	long long slot, output = 0;
	*out = (struct link){ 0 };
	if (need_object(f) < 0 || node_at(r, f, "start", &out->start) < 0 ||
	    node_at(r, f, "end", &out->end) < 0 ||
	    fields_int(f, "slot", 1, 0, LIMIT_CHANNELS - 1, &slot) < 0 ||
	    fields_choice(f, "filter", 0, filter_names, &out->filter) < 0 ||
	    fields_choice(f, "wrapMode", 0, wrap_names, &out->wrap) < 0 ||
	    fields_int(f, "sourceOutput", 0, 0, LIMIT_EXTRA_OUTPUTS, &output) < 0)
		return -1;
	out->slot = (int)slot;
	out->output = (int)output;
	const struct node *start = &r->node[out->start];
	struct node *end = &r->node[out->end];
	if (start->class == RENDER_OUTPUT)
		return fields_fail(f, fields_get(f, "start", 1), "start",
		    "'%.64s' is the output; nothing leads out of it", start->name);
	if (end->class != RENDER_OUTPUT && end->class != GLSL_SHADER)
		return fields_fail(f, fields_get(f, "end", 1), "end",
		    "'%.64s' is a %s; only shaders and the output take "
		    "links",
		    end->name, class_name[end->class]);
	if (output && (start->class != GLSL_SHADER || output >= start->noutput))
		return fields_fail(f, fields_get(f, "sourceOutput", 1), "sourceOutput",
		    "'%.64s' has no output %d", start->name, out->output);
	if (end->slots & 1u << out->slot)
		return fields_fail(f, fields_get(f, "slot", 1), "slot",
		    "slot %d of '%.64s' is linked twice", out->slot, end->name);
	end->slots |= 1u << out->slot;
	return 0;
}

/*
 * First pass over the links, for the one that leads to the output; passes are
 * made with it known.
 */
static int find_image(struct reader *r)
{
	struct fields root = root_of(r);
	const cJSON *list = NULL;
	size_t i = 0;
	r->image = MAP_NONE;
	if (fields_container(&root, "links", 1, DOC_ARRAY, &list) < 0)
		return -1;
	for (const cJSON *c = list->child; c; c = c->next, i++) {
		struct fields f = fields_of(r, c, "links", i);
		size_t start, end;
		if (need_object(&f) < 0 || node_at(r, &f, "start", &start) < 0 ||
		    node_at(r, &f, "end", &end) < 0)
			return -1;
		if (r->node[end].class != RENDER_OUTPUT)
			continue;
		if (r->image != MAP_NONE)
			return fields_fail(&f, c, NULL,
			    "a second link leads to the output");
		if (r->node[start].class != GLSL_SHADER ||
		    r->node[start].type != TYPE_IMAGE)
			return fields_fail(&f, fields_get(&f, "start", 1), "start",
			    "the output must be linked to a "
			    "shader of type Image, but '%.64s' is not one",
			    r->node[start].name);
		r->image = start;
	}
	if (r->image == MAP_NONE)
		return fields_fail(&root, list, "links", "no link leads to the output");
	return 0;
}

/* The manifest -------------------------------------------------------------- */

/*
 * Names of inputs that need no asset are taken: a node of that name gets
 * another one.
 */
static char *take_key(struct reader *r, const char *name)
{
	char *key = xstrdup(name);
	for (int k = 2; strcmp(key, "keyboard") == 0 || strcmp(key, "music") == 0 ||
	     strcmp(key, "webcam") == 0 || map_gets(&r->key, key) != MAP_NONE ||
	     (k > 2 && map_gets(&r->by_name, key) != MAP_NONE);
	     k++) {
		free(key);
		key = xasprintf("%s-%d", name, k);
	}
	map_puts(&r->key, key, 0);
	return key;
}

static char *take_path(struct reader *r, const char *folder, const char *name,
    const char *ending)
{
	char *stem = bundle_stem(name, r->stem, r->nstem);
	r->stem[r->nstem++] = stem;
	return xasprintf("%s/%s%s", folder, stem, ending);
}

/* Decodes "data", which must have n bytes. */
static int read_data(const struct fields *f, uint64_t n, struct buf *out)
{
	const char *text = NULL;
	if (fields_string(f, "data", 1, &text) < 0)
		return -1;
	const cJSON *item = fields_get(f, "data", 1);
	size_t ntext = strlen(text);
	long long size = base64_size(text, ntext);
	if (size >= 0 && (uint64_t)size != n)
		return fields_fail(f, item, "data",
		    "the data has %lld bytes, but its size calls for %llu", size,
		    (unsigned long long)n);
	if (size < 0 || base64_decode(text, ntext, out) < 0)
		return fields_fail(f, item, "data", "this is not valid base64");
	return 0;
}

/* An entry of the extras for an asset; null when there is none. */
static int asset_extras(struct reader *r, const char *name, struct fields *out,
    const cJSON **entry)
{
	struct fields f = { .doc = r->doc,
		.object = r->extras,
		.where = "stbuild",
		.err = r->err };
	const cJSON *table = NULL;
	*entry = NULL;
	if (!r->extras)
		return 0;
	if (fields_container(&f, "asset", 0, DOC_TABLE, &table) < 0)
		return -1;
	if (!table)
		return 0;
	*entry = cJSON_GetObjectItemCaseSensitive(table, name);
	*out = (struct fields){ .doc = r->doc,
		.object = *entry,
		.where = "stbuild.asset",
		.err = r->err };
	return *entry ? need_object(out) : 0;
}

static int add_asset(struct reader *r, struct node *n, const char *kind, const char *path,
    int channels)
{
	cJSON *entry = cJSON_CreateObject();
	cJSON_AddItemToArray(r->asset, entry);
	cJSON_AddStringToObject(entry, "name", n->key);
	cJSON_AddStringToObject(entry, "kind", kind);
	cJSON_AddStringToObject(entry, "path", path);
	if (channels == 1)
		cJSON_AddNumberToObject(entry, "channels", 1);
	return 0;
}

/* Six faces below each other to six beside each other. */
static uint8_t *strip_of(const char *data, size_t size)
{
	uint8_t *strip = xreallocarray(NULL, size * size, 24);
	for (size_t face = 0; face < 6; face++)
		for (size_t y = 0; y < size; y++)
			memcpy(strip + (y * 6 + face) * size * 4,
			    data + (face * size + y) * size * 4, size * 4);
	return strip;
}

static int read_picture(struct reader *r, struct node *n, const struct fields *f)
{
	long long width, height = 1, channels = 4;
	struct fields extra;
	const cJSON *entry;
	struct buf data = BUF_INIT, png = BUF_INIT;
	uint8_t *strip = NULL;
	int is_cube = n->class == CUBE_MAP, rc = -1;
	if (is_cube ? fields_int(f, "size", 1, 1, LIMIT_SIZE, &width) < 0
		    : fields_int(f, "width", 1, 1, LIMIT_SIZE, &width) < 0 ||
		    fields_int(f, "height", 1, 1, LIMIT_SIZE, &height) < 0)
		return -1;
	if (asset_extras(r, n->name, &extra, &entry) < 0 ||
	    (entry && fields_int(&extra, "channels", 0, 1, 4, &channels) < 0))
		return -1;
	if (is_cube)
		height = width * 6;
	if (read_data(f, (uint64_t)width * (uint64_t)height * 4, &data) < 0)
		goto out;
	if (is_cube)
		strip = strip_of(data.data, (size_t)width);
	if (png_encode_rgba(is_cube ? strip : (uint8_t *)data.data,
		(int)(is_cube ? height : width), (int)(is_cube ? width : height), &png,
		r->err) < 0)
		goto out;
	char *path = take_path(r, "textures", n->name, ".png");
	tree_memory_add(r->tree, path, png.data, png.len);
	rc = add_asset(r, n, is_cube ? "cubemap" : "texture", path, (int)channels);
	free(path);
out:
	free(strip);
	buf_release(&data);
	buf_release(&png);
	return rc;
}

/* The 20-byte header of volume files (sttf(5)); format 10 is float. */
static int read_volume(struct reader *r, struct node *n, const struct fields *f)
{
	long long size, channels, width, height, depth;
	struct fields extra;
	const cJSON *entry, *is_float = NULL;
	if (fields_int(f, "size", 1, 1, LIMIT_SIZE, &size) < 0 ||
	    fields_int(f, "channels", 1, 1, 4, &channels) < 0 ||
	    asset_extras(r, n->name, &extra, &entry) < 0)
		return -1;
	width = height = depth = size;
	if (entry) {
		if (fields_int(&extra, "width", 0, 1, LIMIT_SIZE, &width) < 0 ||
		    fields_int(&extra, "height", 0, 1, LIMIT_SIZE, &height) < 0 ||
		    fields_int(&extra, "depth", 0, 1, LIMIT_SIZE, &depth) < 0)
			return -1;
		is_float = fields_get(&extra, "float", 0);
	}
	if (channels != 1 && channels != 4)
		return fields_fail(f, fields_get(f, "channels", 1), "channels",
		    "a volume has 1 or 4 channels");
	struct buf data = BUF_INIT, file = BUF_INIT;
	uint64_t bytes = (uint64_t)(width * height * depth * channels) *
	    (cJSON_IsTrue(is_float) ? 4 : 1);
	int rc = read_data(f, bytes, &data);
	if (!rc) {
		buf_add(&file, "BIN", 4);
		buf_u32le(&file, (uint32_t)width);
		buf_u32le(&file, (uint32_t)height);
		buf_u32le(&file, (uint32_t)depth);
		buf_u32le(&file,
		    (uint32_t)channels | (cJSON_IsTrue(is_float) ? 10u << 16 : 0));
		buf_add(&file, data.data, data.len);
		char *path = take_path(r, "textures", n->name, ".bin");
		tree_memory_add(r->tree, path, file.data, file.len);
		rc = add_asset(r, n, "volume", path, 0);
		free(path);
	}
	buf_release(&data);
	buf_release(&file);
	return rc;
}

/* Index into format_names of one of the values a key may have. */
static int add_format(const struct fields *f, cJSON *to, const char *key)
{
	int k = 0;
	if (fields_choice(f, key, 0, format_names, &k) < 0)
		return -1;
	if (k)
		cJSON_AddStringToObject(to, key, format_name((enum format)k));
	return k;
}

static int read_extra_formats(struct node *n, const struct fields *f)
{
	const cJSON *list = NULL;
	if (fields_container(f, "extraRenderFormats", 0, DOC_ARRAY, &list) < 0)
		return -1;
	if (!list || !list->child)
		return 0;
	cJSON *out = cJSON_AddArrayToObject(n->pass, "extra_outputs");
	for (const cJSON *c = list->child; c; c = c->next) {
		int k = 0;
		while (format_names[k] &&
		    !(cJSON_IsString(c) && strcmp(c->valuestring, format_names[k]) == 0))
			k++;
		if (!format_names[k])
			return fields_fail(f, c, "extraRenderFormats",
			    "expected one of:%s", format_words);
		if (n->noutput > LIMIT_EXTRA_OUTPUTS)
			return fields_fail(f, c, "extraRenderFormats",
			    "more than %d extra outputs", LIMIT_EXTRA_OUTPUTS);
		cJSON_AddItemToArray(out,
		    cJSON_CreateString(format_name((enum format)k)));
		n->noutput++;
	}
	return 0;
}

static int read_storage(struct reader *r, struct node *n, const struct fields *f,
    size_t index)
{
	const cJSON *list = NULL;
	if (fields_container(f, "storageBuffers", 0, DOC_ARRAY, &list) < 0)
		return -1;
	if (!list || !list->child)
		return 0;
	cJSON *out = cJSON_AddArrayToObject(n->pass, "storage");
	for (const cJSON *c = list->child; c; c = c->next) {
		struct fields s = fields_of(r, c, "nodes", index);
		const char *name = NULL;
		long long binding, size;
		if (need_object(&s) < 0 || fields_string(&s, "name", 1, &name) < 0 ||
		    fields_int(&s, "binding", 1, 0, UINT32_MAX, &binding) < 0 ||
		    fields_int(&s, "size", 1, 1, 1ll << 53, &size) < 0)
			return -1;
		cJSON *entry = cJSON_CreateObject();
		cJSON_AddItemToArray(out, entry);
		cJSON_AddNumberToObject(entry, "binding", (double)binding);
		cJSON_AddStringToObject(entry, "name", name);
		cJSON_AddNumberToObject(entry, "size", (double)size);
	}
	return 0;
}

static int read_local_size(struct node *n, const struct fields *f)
{
	const cJSON *list = NULL;
	if (fields_container(f, "localSize", 0, DOC_ARRAY, &list) < 0)
		return -1;
	if (!list)
		return 0;
	cJSON *out = cJSON_AddArrayToObject(n->pass, "local_size");
	for (const cJSON *c = list->child; c; c = c->next) {
		if (doc_mark(f->doc, c)->kind != DOC_INTEGER ||
		    cJSON_GetArraySize(out) == 3)
			return fields_fail(f, c, "localSize", "expected three integers");
		cJSON_AddItemToArray(out, cJSON_CreateNumber(c->valuedouble));
	}
	return 0;
}

static const char *kind_of(const struct reader *r, size_t i)
{
	return i == r->image                   ? "image"
	    : r->node[i].type == TYPE_CUBE_MAP ? "cubemap"
	    : r->node[i].type == TYPE_COMPUTE  ? "compute"
					       : "buffer";
}

/* What a kind may have is the manifest's to say, but here is the position. */
static int check_kind(const struct reader *r, size_t i, const struct fields *f)
{
	static const char *const sized[] = {
		"width",
		"height",
		"extraRenderFormats",
	};
	static const char *const compute[] = { "iterations", "localSize" };
	const struct node *n = &r->node[i];
	int is_compute = n->type == TYPE_COMPUTE;
	if (i == r->image || n->type == TYPE_CUBE_MAP) {
		for (int k = 0; k < 3; k++) {
			const cJSON *item = fields_get(f, sized[k], 0);
			if (item && !(cJSON_IsArray(item) && !item->child))
				return fields_fail(f, item, sized[k],
				    "the %s pass '%.64s' cannot have '%s'", kind_of(r, i),
				    n->name, sized[k]);
		}
		int format = 0;
		if (fields_choice(f, "format", 0, format_names, &format) < 0)
			return -1;
		if (format)
			return fields_fail(f, fields_get(f, "format", 1), "format",
			    "the format of the %s pass '%.64s' "
			    "must be RGBA32F",
			    kind_of(r, i), n->name);
	}
	for (int k = 0; k < 2 && !is_compute; k++) {
		const cJSON *item = fields_get(f, compute[k], 0);
		if (item && !(cJSON_IsNumber(item) && item->valuedouble == 1))
			return fields_fail(f, item, compute[k],
			    "only a Compute shader can have '%s'", compute[k]);
	}
	return 0;
}

static int read_shader(struct reader *r, size_t i, const struct fields *f)
{
	struct node *n = &r->node[i];
	const char *source = NULL;
	long long width = 0, height = 0, iterations = 1;
	int is_compute = n->type == TYPE_COMPUTE;
	if (fields_string(f, "source", 1, &source) < 0 || check_kind(r, i, f) < 0 ||
	    fields_int(f, "width", is_compute, 1, LIMIT_SIZE, &width) < 0 ||
	    fields_int(f, "height", is_compute || width, 1, LIMIT_SIZE, &height) < 0 ||
	    fields_int(f, "iterations", 0, 1, LIMIT_ITERATIONS, &iterations) < 0)
		return -1;
	if (height && !width)
		return fields_fail(f, f->object, NULL, "the key 'width' is missing");
	char *path = take_path(r, "shaders", n->name, is_compute ? ".comp" : ".frag");
	tree_memory_add(r->tree, path, source, strlen(source));
	n->noutput = 1;
	n->pass = cJSON_CreateObject();
	cJSON_AddItemToArray(r->pass, n->pass);
	cJSON_AddStringToObject(n->pass, "name", n->key);
	cJSON_AddStringToObject(n->pass, "kind", kind_of(r, i));
	cJSON_AddStringToObject(n->pass, "source", path);
	free(path);
	if (width) {
		cJSON_AddNumberToObject(n->pass, "width", (double)width);
		cJSON_AddNumberToObject(n->pass, "height", (double)height);
	}
	if (add_format(f, n->pass, "format") < 0 || read_extra_formats(n, f) < 0)
		return -1;
	if (iterations != 1)
		cJSON_AddNumberToObject(n->pass, "iterations", (double)iterations);
	if (read_local_size(n, f) < 0)
		return -1;
	return read_storage(r, n, f, i);
}

static int make_entries(struct reader *r)
{
	r->stem = xcalloc(r->nnode + 1, sizeof *r->stem);
	for (size_t i = 0; i < r->nnode; i++) {
		struct node *n = &r->node[i];
		struct fields f = fields_of(r, n->json, "nodes", i);
		int rc = 0;
		if (n->class != GLSL_SHADER && n->class != TEXTURE &&
		    n->class != CUBE_MAP && n->class != VOLUME)
			continue;
		n->key = take_key(r, n->name);
		if (n->class == GLSL_SHADER)
			rc = read_shader(r, i, &f);
		else if (n->class == VOLUME)
			rc = read_volume(r, n, &f);
		else
			rc = read_picture(r, n, &f);
		if (rc < 0)
			return -1;
	}
	return 0;
}

static int add_input(struct reader *r, const struct fields *f, const struct link *link)
{
	static const char *const kind[] = {
		[GLSL_SHADER] = "pass",
		[TEXTURE] = "texture",
		[CUBE_MAP] = "cubemap",
		[VOLUME] = "volume",
		[LAST_FRAME] = "pass",
		[KEYBOARD] = "keyboard",
		[MUSIC] = "music",
	};
	const struct node *start = &r->node[link->start];
	struct node *end = &r->node[link->end];
	const char *source = start->key;
	if (start->class == LAST_FRAME) {
		if (start->ref == r->image)
			return fields_fail(f, f->object, NULL,
			    "the last frame of the final pass '%.64s' cannot "
			    "be read",
			    r->node[start->ref].name);
		source = r->node[start->ref].key;
	}
	cJSON *in = cJSON_CreateObject();
	if (!end->input)
		end->input = cJSON_AddArrayToObject(end->pass, "input");
	cJSON_AddItemToArray(end->input, in);
	cJSON_AddNumberToObject(in, "channel", link->slot);
	cJSON_AddStringToObject(in, "source", source ? source : kind[start->class]);
	cJSON_AddStringToObject(in, "kind", kind[start->class]);
	if (link->output)
		cJSON_AddNumberToObject(in, "output", link->output);
	if (start->class == LAST_FRAME)
		cJSON_AddStringToObject(in, "frame", "previous");
	cJSON_AddStringToObject(in, "filter", filter_name((enum filter)link->filter));
	cJSON_AddStringToObject(in, "wrap", wrap_name((enum wrap)link->wrap));
	return 0;
}

static int make_inputs(struct reader *r)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(r->doc->root, "links");
	size_t i = 0;
	for (const cJSON *c = list->child; c; c = c->next, i++) {
		struct fields f = fields_of(r, c, "links", i);
		struct link link;
		if (read_link(r, &f, &link) < 0)
			return -1;
		if (r->node[link.end].class == GLSL_SHADER && add_input(r, &f, &link) < 0)
			return -1;
	}
	return 0;
}

/* Uniforms ----------------------------------------------------------------- */

static int is_bool(const cJSON *declaration)
{
	const cJSON *type = cJSON_GetObjectItemCaseSensitive(declaration, "type");
	return cJSON_IsString(type) && strcmp(type->valuestring, "bool") == 0;
}

/* Its value, in the manifest's form. Null: an error was set. */
static cJSON *uniform_value(const struct fields *f, int type, int as_bool)
{
	const cJSON *value = fields_get(f, "value", 1);
	int n = type >= 2 ? type : 0, count = 0, holds = value != NULL;
	if (!value)
		return NULL;
	if (n) {
		holds = cJSON_IsArray(value);
		for (const cJSON *c = value->child; holds && c; c = c->next) {
			holds = cJSON_IsNumber(c);
			count++;
		}
		holds = holds && count == n;
	} else if (type == 0) {
		holds =
		    doc_mark(f->doc, value)->kind == DOC_INTEGER || cJSON_IsBool(value);
	} else {
		holds = cJSON_IsNumber(value);
	}
	if (!holds) {
		fields_fail(f, value, "value", "expected a value of type %s",
		    uniform_types[type]);
		return NULL;
	}
	if (as_bool)
		return cJSON_CreateBool(
		    cJSON_IsBool(value) ? cJSON_IsTrue(value) : value->valuedouble != 0);
	if (cJSON_IsBool(value))
		return cJSON_CreateNumber(cJSON_IsTrue(value));
	return cJSON_Duplicate(value, 1);
}

/*
 * Values are those of "uniforms", which any reader has; the extras add the
 * type bool, ranges, and the order.
 */
static int read_uniforms(struct reader *r)
{
	static const char *const manifest_type[] = {
		"int",
		"float",
		"vec2",
		"vec3",
		"vec4",
	};
	struct fields root = root_of(r);
	struct fields extras = { .doc = r->doc,
		.object = r->extras,
		.where = "stbuild",
		.err = r->err };
	const cJSON *table = NULL, *list = NULL;
	struct map index = MAP_INIT;
	size_t n = 0;
	int rc = -1;
	if (fields_container(&root, "uniforms", 0, DOC_TABLE, &table) < 0 ||
	    (r->extras && fields_container(&extras, "uniform", 0, DOC_ARRAY, &list) < 0))
		return -1;
	cJSON *out = cJSON_CreateArray();
	cJSON **entry = xcalloc(LIMIT_DOCUMENT_NODES, sizeof *entry);
	for (const cJSON *c = list ? list->child : NULL; c; c = c->next) {
		const cJSON *name = cJSON_GetObjectItemCaseSensitive(c, "name");
		if (n == LIMIT_DOCUMENT_NODES || !cJSON_IsObject(c) ||
		    !cJSON_IsString(name)) {
			fields_fail(&extras, c, "uniform",
			    "expected a uniform with a name, at most %d of "
			    "them",
			    LIMIT_DOCUMENT_NODES);
			goto out;
		}
		map_puts(&index, name->valuestring, n);
		entry[n] = cJSON_Duplicate(c, 1);
		cJSON_AddItemToArray(out, entry[n++]);
	}
	for (const cJSON *c = table ? table->child : NULL; c; c = c->next) {
		struct fields f = { .doc = r->doc, .object = c, .err = r->err };
		int type = 0;
		snprintf(f.where, sizeof f.where, "uniforms.%s", c->string);
		if (need_object(&f) < 0 ||
		    fields_choice(&f, "type", 1, uniform_types, &type) < 0)
			goto out;
		size_t at = map_gets(&index, c->string);
		if (at == MAP_NONE && n == LIMIT_DOCUMENT_NODES) {
			fields_fail(&f, c, NULL, "more than %d uniforms",
			    LIMIT_DOCUMENT_NODES);
			goto out;
		}
		cJSON *value =
		    uniform_value(&f, type, at != MAP_NONE && is_bool(entry[at]));
		if (!value)
			goto out;
		if (at == MAP_NONE) {
			at = n++;
			entry[at] = cJSON_CreateObject();
			cJSON_AddItemToArray(out, entry[at]);
			cJSON_AddStringToObject(entry[at], "name", c->string);
			cJSON_AddStringToObject(entry[at], "type", manifest_type[type]);
		}
		cJSON_DeleteItemFromObjectCaseSensitive(entry[at], "default");
		cJSON_AddItemToObject(entry[at], "default", value);
	}
	rc = 0;
	if (out->child) {
		cJSON_AddItemToObject(r->manifest, "uniform", out);
		out = NULL;
	}
out:
	cJSON_Delete(out);
	free(entry);
	map_release(&index);
	return rc;
}

/* The rest ----------------------------------------------------------------- */

static int read_metadata(struct reader *r, const char *fallback_name)
{
	static const struct {
		const char *from, *to;
	} row[] = {
		{ "Author", "author" },
		{ "Description", "description" },
		{ "ShaderToyURL", "source_url" },
	};
	struct fields root = root_of(r);
	const cJSON *table = NULL;
	if (fields_container(&root, "metadata", 1, DOC_TABLE, &table) < 0)
		return -1;
	for (const cJSON *c = table->child; c; c = c->next)
		if (!cJSON_IsString(c))
			return fields_fail(&root, c, "metadata",
			    "'%.64s' must be a string", c->string);
	cJSON *project = cJSON_AddObjectToObject(r->manifest, "project");
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(table, "Name");
	cJSON_AddStringToObject(project, "name",
	    item && !fields_is_blank(item->valuestring) ? item->valuestring
							: fallback_name);
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		item = cJSON_GetObjectItemCaseSensitive(table, row[i].from);
		if (item)
			cJSON_AddStringToObject(project, row[i].to, item->valuestring);
	}
	return 0;
}

/* Size, date and dialect; the manifest's loader checks what is copied. */
static int read_extras(struct reader *r)
{
	static const char *const render_keys[] = {
		"width",
		"height",
		"fps",
		"date",
	};
	struct fields root = root_of(r);
	const char *dialect = NULL;
	long long format = 1;
	if (fields_container(&root, "stbuild", 0, DOC_TABLE, &r->extras) < 0)
		return -1;
	struct fields f = { .doc = r->doc,
		.object = r->extras,
		.where = "stbuild",
		.err = r->err };
	if (r->extras &&
	    (fields_string(&f, "dialect", 0, &dialect) < 0 ||
		fields_int(&f, "format", 0, 1, 1, &format) < 0))
		return -1;
	cJSON *render = cJSON_CreateObject();
	for (int i = 0; r->extras && i < 4; i++) {
		const cJSON *item = fields_get(&f, render_keys[i], 0);
		if (item)
			cJSON_AddItemToObject(render, render_keys[i],
			    cJSON_Duplicate(item, 1));
	}
	if (render->child)
		cJSON_AddItemToObject(r->manifest, "render", render);
	else
		cJSON_Delete(render);
	cJSON *shader = cJSON_AddObjectToObject(r->manifest, "shader");
	cJSON_AddStringToObject(shader, "dialect", dialect ? dialect : "glsl");
	return 0;
}

/*
 * Prints the manifest, and loads it once: what is left to find (cycles,
 * ranges) is found before anybody relies on the project.
 */
static int finish(struct reader *r, const char *name)
{
	struct errs errs = ERRS_INIT;
	struct buf text = BUF_INIT;
	struct doc doc = { 0 };
	struct manifest m;
	fields_print(r->manifest, FIELDS_INDENTED, &text);
	int rc = json_read(name, buf_str(&text), text.len, JSON_PLAIN, &doc, r->err);
	if (!rc && manifest_from_doc(&doc, DIALECT_GLSL, &m, &errs) < 0) {
		rc = -1;
		err_move(r->err, &errs.err[0]);
		/* Positions are those of a text that nobody has seen. */
		r->err->line = r->err->column = 0;
		err_wrap(r->err, "in the project that the document describes");
	} else if (!rc) {
		manifest_release(&m);
		tree_memory_add(r->tree, "stbuild.json", text.data, text.len);
	}
	errs_release(&errs);
	doc_release(&doc);
	buf_release(&text);
	return rc;
}

static int read_document(struct reader *r, const char *fallback_name)
{
	struct fields root = root_of(r);
	if (need_object(&root) < 0)
		return -1;
	r->manifest = cJSON_CreateObject();
	cJSON_AddNumberToObject(r->manifest, "format", 1);
	if (read_metadata(r, fallback_name) < 0 || read_extras(r) < 0 ||
	    read_uniforms(r) < 0 || read_nodes(r) < 0 || read_refs(r) < 0 ||
	    find_image(r) < 0)
		return -1;
	r->asset = cJSON_AddArrayToObject(r->manifest, "asset");
	r->pass = cJSON_AddArrayToObject(r->manifest, "pass");
	if (make_entries(r) < 0 || make_inputs(r) < 0)
		return -1;
	if (!r->asset->child)
		cJSON_DeleteItemFromObjectCaseSensitive(r->manifest, "asset");
	const cJSON *timeline = cJSON_GetObjectItemCaseSensitive(r->extras, "timeline");
	if (timeline)
		cJSON_AddItemToObject(r->manifest, "timeline",
		    cJSON_Duplicate(timeline, 1));
	return 0;
}

int sttf_read(const char *name, const char *text, size_t n, const char *fallback_name,
    struct tree **out, struct err *err)
{
	struct doc doc = { 0 };
	struct reader r = { .doc = &doc, .err = err };
	int rc = -1;
	*out = NULL;
	if (n > LIMIT_DOCUMENT_BYTES) {
		err_set(err, STATUS_INPUT, "the document has more than %u bytes",
		    LIMIT_DOCUMENT_BYTES);
		err_place(err, name, 0, 0, NULL);
		return -1;
	}
	if (json_read(name, text, n, JSON_PLAIN, &doc, err) < 0)
		goto out;
	r.tree = tree_new_memory(name);
	if (read_document(&r, fallback_name) < 0 || finish(&r, name) < 0)
		goto out;
	*out = r.tree;
	r.tree = NULL;
	rc = 0;
out:
	if (r.tree)
		tree_free(r.tree);
	for (size_t i = 0; i < r.nstem; i++)
		free(r.stem[i]);
	for (size_t i = 0; i < r.nnode; i++)
		free(r.node[i].key);
	free(r.stem);
	free(r.node);
	map_release(&r.by_name);
	map_release(&r.key);
	cJSON_Delete(r.manifest);
	doc_release(&doc);
	return rc;
}

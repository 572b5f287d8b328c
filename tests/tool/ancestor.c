/*
 * ancestor BUNDLE.sttrace: reads a bundle as strictly as the ancestor's formats
 * are, with none of our readers. Prints what does not hold.
 *
 * Status 0: it all holds. 1: something does not. 2: not a bundle.
 */

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cJSON.h>

#include "util/buf.h"
#include "util/mem.h"
#include "util/sha256.h"

static const char *bundle;
static int nfault;

__attribute__((format(printf, 1, 2))) static void fault(const char *format, ...)
{
	va_list args;

	nfault++;
	fprintf(stderr, "%s: ", bundle);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

static int read_file(const char *name, struct buf *out)
{
	char *path = xasprintf("%s/%s", bundle, name);
	FILE *file = fopen(path, "rb");
	size_t n;

	free(path);
	if (!file) {
		fault("%s: %s", name, strerror(errno));
		return -1;
	}
	while ((n = fread(buf_reserve(out, 65536), 1, 65536, file)) > 0)
		out->len += n;
	buf_addstr(out, "");
	fclose(file);
	return 0;
}

/* JSON by type ---------------------------------------------------------------- */

static const cJSON *get(const cJSON *table, const char *key)
{
	const cJSON *c = cJSON_IsObject(table) ? table->child : NULL;

	while (c && strcmp(c->string, key) != 0)
		c = c->next;
	return c;
}

/* What a type is called in a list of keys. */
enum {
	STRING = 's',
	INTEGER = 'i',
	NUMBER = 'n',
	TABLE = 't',
	LIST = 'l',
	STRING_OR_NULL = '?'
};

static int is_integer(const cJSON *c)
{
	return cJSON_IsNumber(c) && c->valuedouble == floor(c->valuedouble) &&
	    fabs(c->valuedouble) <= 9007199254740992.0;
}

static int is_type(const cJSON *c, int type)
{
	switch (type) {
	case STRING:
		return cJSON_IsString(c);
	case STRING_OR_NULL:
		return cJSON_IsString(c) || cJSON_IsNull(c);
	case INTEGER:
		return is_integer(c);
	case NUMBER:
		return cJSON_IsNumber(c);
	case TABLE:
		return cJSON_IsObject(c);
	case LIST:
		return cJSON_IsArray(c);
	}
	return 0;
}

struct want {
	const char *key;
	int type;
	int is_optional;
};

/* Members of these types; is_closed: and no others. */
static int check_members(const cJSON *table, const struct want *want, size_t n,
    int is_closed, const char *where)
{
	int before = nfault;

	if (!cJSON_IsObject(table)) {
		fault("%s is no object", where);
		return -1;
	}
	for (size_t i = 0; i < n; i++) {
		const cJSON *c = get(table, want[i].key);
		if (!c && !want[i].is_optional)
			fault("%s has no '%s'", where, want[i].key);
		else if (c && !is_type(c, want[i].type))
			fault("%s.%s has another type", where, want[i].key);
	}
	for (const cJSON *c = table->child; c; c = c->next) {
		size_t i = 0;
		while (i < n && strcmp(want[i].key, c->string) != 0)
			i++;
		if (i == n && is_closed)
			fault("%s has '%s'", where, c->string);
		for (const cJSON *d = c->next; d; d = d->next)
			if (strcmp(d->string, c->string) == 0)
				fault("%s has '%s' twice", where, c->string);
	}
	return nfault == before ? 0 : -1;
}

#define MEMBERS(table, want, is_closed, where) \
	check_members(table, want, sizeof want / sizeof *want, is_closed, where)

static int in_words(const char *s, const char *words)
{
	size_t n = strlen(s);

	for (const char *w = words; n && (w = strstr(w, s)); w += n)
		if ((w == words || w[-1] == ' ') && (!w[n] || w[n] == ' '))
			return 1;
	return 0;
}

/* A word of a list, or the first of it when it may be left out. */
static const char *word_of(const cJSON *table, const char *key, const char *words,
    const char *fallback, const char *where)
{
	const cJSON *c = get(table, key);

	if (!c && fallback)
		return fallback;
	if (!cJSON_IsString(c) || !in_words(c->valuestring, words)) {
		fault("%s.%s is none of: %s", where, key, words);
		return "";
	}
	return c->valuestring;
}

static double integer_of(const cJSON *table, const char *key, double min, double max,
    double fallback, const char *where)
{
	const cJSON *c = get(table, key);

	if (!c)
		return fallback;
	if (!is_integer(c) || c->valuedouble < min || c->valuedouble > max) {
		fault("%s.%s is no integer from %.0f to %.0f", where, key, min, max);
		return fallback;
	}
	return c->valuedouble;
}

/* Keys in byte order at each level, nothing between tokens. */
static void check_compact(const cJSON *c, const char *where)
{
	for (const cJSON *a = c->child; a; a = a->next) {
		if (cJSON_IsObject(c) && a->next &&
		    strcmp(a->string, a->next->string) >= 0)
			fault("%s: '%s' stands before '%s'", where, a->string,
			    a->next->string);
		check_compact(a, where);
	}
}

/* STTF: 69 to 76 --------------------------------------------------------------- */

#define FORMATS "R32F RG32F RGBA16F RGBA32F"

static size_t base64_bytes(const char *s)
{
	size_t n = strspn(s,
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	    "0123456789+/");
	size_t pad = strspn(s + n, "=");

	return s[n + pad] || pad > 2 || (n + pad) % 4 ? SIZE_MAX
						      : (n + pad) / 4 * 3 - pad;
}

static void check_data(const cJSON *node, double bytes, const char *where)
{
	const cJSON *data = get(node, "data");

	if (!cJSON_IsString(data) || (double)base64_bytes(data->valuestring) != bytes)
		fault("%s.data is no base64 of %.0f bytes", where, bytes);
}

static const cJSON *node_named(const cJSON *root, const char *name)
{
	for (const cJSON *c = get(root, "nodes")->child; c; c = c->next)
		if (cJSON_IsString(get(c, "name")) &&
		    strcmp(get(c, "name")->valuestring, name) == 0)
			return c;
	return NULL;
}

static const char *text_of(const cJSON *node, const char *key)
{
	const cJSON *c = get(node, key);

	return cJSON_IsString(c) ? c->valuestring : "";
}

static void check_shader(const cJSON *node, const char *where)
{
	static const struct want want[] = {
		{ "class", STRING, 0 },
		{ "name", STRING, 0 },
		{ "source", STRING, 0 },
		{ "type", STRING, 0 },
		{ "width", INTEGER, 1 },
		{ "height", INTEGER, 1 },
		{ "format", STRING, 1 },
		{ "iterations", INTEGER, 1 },
		{ "localSize", LIST, 1 },
		{ "storageBuffers", LIST, 1 },
		{ "extraRenderFormats", LIST, 1 },
	};
	static const struct want storage[] = {
		{ "name", STRING, 0 },
		{ "binding", INTEGER, 0 },
		{ "size", INTEGER, 0 },
	};

	if (MEMBERS(node, want, 1, where))
		return;
	const char *type = word_of(node, "type", "Image CubeMap Compute", NULL, where);
	int is_compute = strcmp(type, "Compute") == 0;
	if (!get(node, "width") != !get(node, "height"))
		fault("%s has half a size", where);
	if (is_compute != (get(node, "localSize") != NULL))
		fault("%s: localSize is for each Compute, and only there", where);
	if (is_compute && !get(node, "width"))
		fault("%s: a Compute has a size", where);
	integer_of(node, "width", 1, 16384, 1, where);
	integer_of(node, "height", 1, 16384, 1, where);
	if (get(node, "format") &&
	    strcmp(word_of(node, "format", FORMATS, NULL, where), "RGBA32F") == 0)
		fault("%s.format is written though it is the default", where);
	if (get(node, "iterations") &&
	    (!is_compute || integer_of(node, "iterations", 2, 4096, 0, where) == 0))
		fault("%s.iterations is none to be written", where);
	double product = 1;
	int n = 0;
	for (const cJSON *c = get(node, "localSize") ? get(node, "localSize")->child
						     : NULL;
	     c; c = c->next, n++)
		product *= is_integer(c) && c->valuedouble >= 1 ? c->valuedouble : 1e9;
	if (is_compute && (n != 3 || product > 1024))
		fault("%s.localSize is no work group", where);
	n = 0;
	for (const cJSON *c = get(node, "extraRenderFormats")
		 ? get(node, "extraRenderFormats")->child
		 : NULL;
	     c; c = c->next, n++)
		if (!cJSON_IsString(c) || !in_words(c->valuestring, FORMATS))
			fault("%s.extraRenderFormats has no format", where);
	if (n > 7 || (get(node, "extraRenderFormats") && !n))
		fault("%s.extraRenderFormats has %d formats", where, n);
	for (const cJSON *c =
		 get(node, "storageBuffers") ? get(node, "storageBuffers")->child : NULL;
	     c; c = c->next) {
		MEMBERS(c, storage, 1, where);
		integer_of(c, "binding", 0, UINT32_MAX, 0, where);
		integer_of(c, "size", 1, 9007199254740992.0, 0, where);
	}
}

static void check_node(const cJSON *root, const cJSON *node, const char *where)
{
	static const struct want texture[] = {
		{ "class", STRING, 0 },
		{ "name", STRING, 0 },
		{ "width", INTEGER, 0 },
		{ "height", INTEGER, 0 },
		{ "data", STRING, 0 },
	};
	static const struct want cube[] = {
		{ "class", STRING, 0 },
		{ "name", STRING, 0 },
		{ "size", INTEGER, 0 },
		{ "data", STRING, 0 },
	};
	static const struct want volume[] = {
		{ "class", STRING, 0 },
		{ "name", STRING, 0 },
		{ "size", INTEGER, 0 },
		{ "channels", INTEGER, 0 },
		{ "data", STRING, 0 },
	};
	static const struct want last[] = {
		{ "class", STRING, 0 },
		{ "name", STRING, 0 },
		{ "ref", STRING, 0 },
		{ "type", STRING, 0 },
		{ "refOutput", INTEGER, 1 },
	};
	static const struct want bare[] = {
		{ "class", STRING, 0 },
		{ "name", STRING, 0 },
	};
	const char *class = word_of(node, "class",
	    "RenderOutput GLSLShader Texture "
	    "CubeMap Volume LastFrame Keyboard Music",
	    NULL, where);
	double size = integer_of(node, "size", 1, 16384, 0, where);

	if (strcmp(class, "GLSLShader") == 0) {
		check_shader(node, where);
	} else if (strcmp(class, "Texture") == 0) {
		if (!MEMBERS(node, texture, 1, where))
			check_data(node,
			    integer_of(node, "width", 1, 16384, 0, where) *
				integer_of(node, "height", 1, 16384, 0, where) * 4,
			    where);
	} else if (strcmp(class, "CubeMap") == 0) {
		if (!MEMBERS(node, cube, 1, where))
			check_data(node, size * size * 24, where);
	} else if (strcmp(class, "Volume") == 0) {
		double channels = integer_of(node, "channels", 1, 4, 0, where);
		if (!MEMBERS(node, volume, 1, where) && (channels == 1 || channels == 4))
			check_data(node, size * size * size * channels, where);
		else
			fault("%s.channels is %.0f", where, channels);
	} else if (strcmp(class, "LastFrame") == 0) {
		const cJSON *ref = node_named(root, text_of(node, "ref"));
		MEMBERS(node, last, 1, where);
		if (!ref || strcmp(text_of(ref, "class"), "GLSLShader") != 0 ||
		    strcmp(text_of(ref, "type"), text_of(node, "type")) != 0)
			fault("%s.ref is no shader of its type", where);
	} else {
		MEMBERS(node, bare, 1, where);
	}
}

/* Current edges only; depth is that of the document. */
static int is_cyclic(const cJSON *root, const char *name, int depth)
{
	if (depth > 64)
		return 1;
	for (const cJSON *l = get(root, "links")->child; l; l = l->next) {
		const cJSON *start = node_named(root, text_of(l, "start"));
		if (strcmp(text_of(l, "end"), name) == 0 && start &&
		    strcmp(text_of(start, "class"), "GLSLShader") == 0 &&
		    is_cyclic(root, text_of(l, "start"), depth + 1))
			return 1;
	}
	return 0;
}

static void check_links(const cJSON *root)
{
	static const struct want want[] = {
		{ "start", STRING, 0 },
		{ "end", STRING, 0 },
		{ "slot", INTEGER, 0 },
		{ "filter", STRING, 0 },
		{ "wrapMode", STRING, 0 },
		{ "sourceOutput", INTEGER, 1 },
	};
	const char *image = NULL, *output = NULL;
	size_t i = 0;

	for (const cJSON *l = get(root, "links")->child; l; l = l->next) {
		char where[64];
		snprintf(where, sizeof where, "links[%zu]", i++);
		if (MEMBERS(l, want, 1, where))
			continue;
		const cJSON *start = node_named(root, text_of(l, "start"));
		const cJSON *end = node_named(root, text_of(l, "end"));
		word_of(l, "filter", "Nearest Linear Mipmap", NULL, where);
		word_of(l, "wrapMode", "Clamp Repeat", NULL, where);
		integer_of(l, "slot", 0, 15, 0, where);
		if (!start || !end) {
			fault("%s leads from or to nothing", where);
			continue;
		}
		if (get(l, "sourceOutput")) {
			const cJSON *extra = get(start, "extraRenderFormats");
			integer_of(l, "sourceOutput", 1,
			    extra ? cJSON_GetArraySize(extra) : 0, 0, where);
		}
		for (const cJSON *m = l->next; m; m = m->next)
			if (strcmp(text_of(m, "end"), text_of(l, "end")) == 0 &&
			    get(m, "slot") &&
			    get(m, "slot")->valuedouble == get(l, "slot")->valuedouble)
				fault("%s: its slot is used twice", where);
		if (strcmp(text_of(end, "class"), "RenderOutput") == 0) {
			if (image)
				fault("%s is a second link to the output", where);
			if (l->next)
				fault("%s: the link to the output is the last", where);
			image = text_of(l, "start");
			output = text_of(end, "name");
			if (strcmp(text_of(start, "type"), "Image") != 0)
				fault("%s: the output is no Image", where);
			if (strcmp(text_of(l, "filter"), "Linear") != 0 ||
			    strcmp(text_of(l, "wrapMode"), "Clamp") != 0 ||
			    get(l, "slot")->valuedouble != 0)
				fault("%s is not Linear, Clamp, 0", where);
			if (get(start, "width") || get(start, "format") ||
			    get(start, "extraRenderFormats"))
				fault("%s: the image has a size, a format or "
				      "outputs",
				    where);
		} else if (strcmp(text_of(end, "class"), "GLSLShader") != 0) {
			fault("%s ends at a %s", where, text_of(end, "class"));
		}
	}
	if (!image) {
		fault("no link leads to the output");
		return;
	}
	if (is_cyclic(root, image, 0))
		fault("passes read each other at one frame");
	const cJSON *last = get(root, "nodes")->child;
	while (last && last->next)
		last = last->next;
	if (strcmp(text_of(last, "name"), output) != 0)
		fault("the output is not the last node");
	for (const cJSON *n = get(root, "nodes")->child; n; n = n->next)
		if (strcmp(text_of(n, "class"), "LastFrame") == 0 &&
		    strcmp(text_of(n, "ref"), image) == 0)
			fault("the last frame of the image is read");
}

/* 74: assets by kind, passes, then what is generated. */
static void check_order(const cJSON *root)
{
	static const char *const rank[] = {
		"Texture",
		"CubeMap",
		"Volume",
		"GLSLShader",
		"Keyboard Music LastFrame",
		"RenderOutput",
	};
	size_t at = 0, feedback = 0;

	for (const cJSON *n = get(root, "nodes")->child; n; n = n->next) {
		const char *class = text_of(n, "class"), *name = text_of(n, "name");
		char want[32];
		while (at < 6 && !in_words(class, rank[at]))
			at++;
		snprintf(want, sizeof want, "__feedback_%zu", feedback);
		if (at == 6)
			fault("node '%s' is out of order", name);
		else if (strcmp(class, "LastFrame") == 0 && feedback++ < 1000 &&
		    strncmp(name, want, strlen(want)) != 0)
			fault("node '%s' is not named %s", name, want);
	}
}

/* A name of the manifest's uniforms has a declaration in front of each source. */
static void check_uniforms(const cJSON *root)
{
	static const struct want want[] = {
		{ "type", STRING, 0 },
		{ "value", NUMBER, 0 },
	};
	static const char *const types[] = { "Int", "Float", "Vec2", "Vec3", "Vec4" };

	for (const cJSON *u = get(root, "uniforms") ? get(root, "uniforms")->child : NULL;
	     u; u = u->next) {
		const cJSON *value = get(u, "value");
		int type = 0, n = 0;
		while (type < 5 && strcmp(types[type], text_of(u, "type")) != 0)
			type++;
		if (type == 5) {
			fault("uniforms.%s has no type", u->string);
			continue;
		}
		if (type < 2 && MEMBERS(u, want, 1, u->string))
			continue;
		if (type == 0 && !is_integer(value))
			fault("uniforms.%s is no integer", u->string);
		for (const cJSON *c = cJSON_IsArray(value) ? value->child : NULL; c;
		     c = c->next)
			n += cJSON_IsNumber(c);
		if (type > 1 && n != type)
			fault("uniforms.%s has %d numbers", u->string, n);
		for (const cJSON *node = get(root, "nodes")->child; node;
		     node = node->next) {
			const char *source = text_of(node, "source");
			const char *line = strstr(source, "#line 1");
			const char *at = strstr(source, u->string);
			if (strcmp(text_of(node, "class"), "GLSLShader") == 0 &&
			    (!at || !line || at > line))
				fault("'%s' is not declared in front of '%s'", u->string,
				    text_of(node, "name"));
		}
	}
}

static void check_sttf(void)
{
	static const struct want want[] = {
		{ "metadata", TABLE, 0 },
		{ "nodes", LIST, 0 },
		{ "links", LIST, 0 },
		{ "uniforms", TABLE, 1 },
	};
	struct buf text = BUF_INIT;
	cJSON *root = NULL;
	size_t i = 0;

	if (read_file("project.sttf", &text))
		return;
	root = cJSON_ParseWithOpts(buf_str(&text), NULL, 1);
	if (!root || MEMBERS(root, want, 0, "project.sttf"))
		goto out;
	if (strpbrk(buf_str(&text), "\n\t\r"))
		fault("project.sttf is not compact");
	check_compact(root, "project.sttf");
	for (const cJSON *c = get(root, "metadata")->child; c; c = c->next)
		if (!cJSON_IsString(c))
			fault("metadata.%s is no string", c->string);
	if (!get(get(root, "metadata"), "Name"))
		fault("metadata has no Name");
	for (const cJSON *c = get(root, "nodes")->child; c; c = c->next, i++) {
		char where[32];
		snprintf(where, sizeof where, "nodes[%zu]", i);
		if (!*text_of(c, "name"))
			fault("%s has no name", where);
		else if (node_named(root, text_of(c, "name")) != c)
			fault("%s: its name is used twice", where);
		check_node(root, c, where);
	}
	check_links(root);
	check_order(root);
	check_uniforms(root);
out:
	if (!root)
		fault("project.sttf is no JSON");
	cJSON_Delete(root);
	buf_release(&text);
}

/* State: 62 to 67 -------------------------------------------------------------- */

static int check_format(const cJSON *header, const char *name)
{
	const cJSON *formats = get(header, "buffer_formats");

	return in_words(text_of(formats, name), "r32f rg32f rgba16f rgba32f");
}

static int count(const cJSON *c)
{
	return c ? cJSON_GetArraySize(c) : 0;
}

static double check_payload(const cJSON *header)
{
	const cJSON *buffers = get(header, "buffers");
	const cJSON *sizes = get(header, "buffer_dimensions");
	const cJSON *storage = get(header, "storage_buffers");
	double bytes = 0;

	for (const cJSON *c = buffers->child; c; c = c->next) {
		const cJSON *size = cJSON_IsString(c) ? get(sizes, c->valuestring) : NULL;
		if (!cJSON_IsString(c) || !*c->valuestring) {
			fault("a buffer of the state has no name");
			continue;
		}
		if (c->next && cJSON_IsString(c->next) &&
		    strcmp(c->valuestring, c->next->valuestring) >= 0)
			fault("buffers of the state are not sorted");
		if (!check_format(header, c->valuestring))
			fault("buffer '%s' has no format", c->valuestring);
		bytes += 16 *
		    integer_of(size ? size : header, "width", 1, 16384, 0, "state") *
		    integer_of(size ? size : header, "height", 1, 16384, 0, "state");
	}
	if (count(get(header, "buffer_formats")) != count(buffers) ||
	    count(sizes) > count(buffers))
		fault("the state has sizes or formats of other buffers");
	for (const cJSON *c = storage ? storage->child : NULL; c; c = c->next)
		bytes += integer_of(storage, c->string, 1, 9007199254740992.0, 0,
		    "storage_buffers");
	if (count(buffers) > 64 || count(storage) > 64)
		fault("the state has more than 64 buffers");
	return bytes;
}

static void check_state(const cJSON *trace)
{
	static const struct want want[] = {
		{ "format", INTEGER, 0 },
		{ "project", STRING, 0 },
		{ "width", INTEGER, 0 },
		{ "height", INTEGER, 0 },
		{ "fps", NUMBER, 0 },
		{ "time", NUMBER, 0 },
		{ "frame", INTEGER, 0 },
		{ "buffers", LIST, 0 },
		{ "buffer_dimensions", TABLE, 1 },
		{ "buffer_formats", TABLE, 1 },
		{ "storage_buffers", TABLE, 1 },
	};
	struct buf file = BUF_INIT;
	cJSON *header = NULL;

	if (read_file("state.ststate", &file))
		return;
	const unsigned char *b = (const unsigned char *)file.data;
	uint32_t n = file.len < 12
	    ? 0
	    : b[8] | (uint32_t)b[9] << 8 | (uint32_t)b[10] << 16 | (uint32_t)b[11] << 24;
	if (!n || n > 1 << 20 || n > file.len - 12 || memcmp(b, "STSTATE1", 8) != 0) {
		fault("state.ststate has no header");
		goto out;
	}
	header = cJSON_ParseWithLength(file.data + 12, n);
	if (!header || MEMBERS(header, want, 1, "state.ststate"))
		goto out;
	if (get(header, "format")->valuedouble != 4)
		fault("the state has another format than 4");
	if (!cJSON_Compare(header, get(trace, "state_header"), 1))
		fault("state_header is not that of state.ststate");
	for (int i = 8; i < 11; i++)
		if (get(header, want[i].key) && !get(header, want[i].key)->child)
			fault("'%s' of the state is empty", want[i].key);
	if (!cJSON_Compare(get(header, "frame"), get(trace, "frame"), 1) ||
	    !cJSON_Compare(get(header, "width"), get(trace, "width"), 1) ||
	    !cJSON_Compare(get(header, "height"), get(trace, "height"), 1))
		fault("the state is of another frame or size");
	double bytes = check_payload(header);
	if (bytes != (double)(file.len - 12 - n))
		fault("the state has %zu bytes of payload, not %.0f", file.len - 12 - n,
		    bytes);
out:
	if (n && !header)
		fault("the state's header is no JSON");
	cJSON_Delete(header);
	buf_release(&file);
}

/* The bundle: 77 to 80 --------------------------------------------------------- */

static const struct want trace_keys[] = {
	{ "format", INTEGER, 0 },
	{ "cli_version", STRING, 0 },
	{ "project", STRING, 0 },
	{ "preset", STRING_OR_NULL, 0 },
	{ "width", INTEGER, 0 },
	{ "height", INTEGER, 0 },
	{ "fps", NUMBER, 0 },
	{ "frame", INTEGER, 0 },
	{ "time", NUMBER, 0 },
	{ "uniforms", TABLE, 0 },
	{ "resolved_manifest", TABLE, 0 },
	{ "source_sha256", TABLE, 0 },
	{ "asset_sha256", TABLE, 0 },
	{ "pass_timings", LIST, 0 },
	{ "graph_diagnostics", LIST, 0 },
	{ "state_header", TABLE, 0 },
	{ "synchronization", TABLE, 0 },
	{ "artifacts", TABLE, 0 },
};
#define NTRACE_KEY (sizeof trace_keys / sizeof *trace_keys)

/* The ancestor's keys in its order; ours may only follow. */
static void check_trace_order(const cJSON *trace)
{
	size_t i = 0;

	for (const cJSON *c = trace->child; c && i < NTRACE_KEY; c = c->next, i++)
		if (strcmp(c->string, trace_keys[i].key) != 0)
			fault("trace.json has '%s' where '%s' stands", c->string,
			    trace_keys[i].key);
}

static void check_artifact(const cJSON *a)
{
	static const struct want want[] = {
		{ "path", STRING, 0 },
		{ "bytes", INTEGER, 0 },
		{ "sha256", STRING, 0 },
	};
	struct buf file = BUF_INIT;
	struct sha256 sha;
	char hex[SHA256_HEX + 1];
	const char *path = text_of(a, "path");
	size_t n = strlen(path);

	if (MEMBERS(a, want, 1, a->string) || read_file(path, &file))
		return;
	sha256_of(buf_str(&file), file.len, &sha);
	if ((double)file.len != get(a, "bytes")->valuedouble ||
	    strcmp(sha256_hex(&sha, hex), text_of(a, "sha256")) != 0)
		fault("%s is not as recorded", path);
	if (n > 8 && strcmp(path + n - 8, ".rgba32f") == 0 && file.len % 16)
		fault("%s has no whole texels", path);
	if (n > 4 && strcmp(path + n - 4, ".png") == 0 &&
	    (file.len < 26 || memcmp(buf_str(&file), "\x89PNG\r\n\x1a\n", 8) != 0 ||
		file.data[24] != 8 || file.data[25] != 2))
		fault("%s is no PNG of 8-bit RGB", path);
	buf_release(&file);
}

/* Numbers for a type of GLSL, or a truth value, are what uniforms have. */
static void check_trace_lists(const cJSON *trace)
{
	static const struct want timing[] = {
		{ "name", STRING, 0 },
		{ "width", INTEGER, 0 },
		{ "height", INTEGER, 0 },
		{ "gpu_nanoseconds", INTEGER, 0 },
	};
	static const struct want diagnostic[] = {
		{ "level", STRING, 0 },
		{ "code", STRING, 0 },
		{ "message", STRING, 0 },
		{ "passes", LIST, 1 },
	};
	static const struct want synchronization[] = {
		{ "runtime", STRING, 0 },
		{ "current_frame_edges", LIST, 0 },
		{ "previous_frame_edges", LIST, 0 },
		{ "storage_users", TABLE, 0 },
	};
	static const struct want edge[] = {
		{ "from", STRING, 0 },
		{ "to", STRING, 0 },
		{ "channel", INTEGER, 0 },
		{ "output", INTEGER, 0 },
	};
	static const struct want user[] = {
		{ "pass", STRING, 0 },
		{ "binding", INTEGER, 0 },
		{ "size", INTEGER, 0 },
	};
	const cJSON *sync = get(trace, "synchronization");

	for (const cJSON *c = get(trace, "pass_timings")->child; c; c = c->next)
		MEMBERS(c, timing, 1, "pass_timings[]");
	for (const cJSON *c = get(trace, "graph_diagnostics")->child; c; c = c->next)
		MEMBERS(c, diagnostic, 1, "graph_diagnostics[]");
	if (MEMBERS(sync, synchronization, 1, "synchronization"))
		return;
	for (int i = 1; i < 3; i++)
		for (const cJSON *c = get(sync, synchronization[i].key)->child; c;
		     c = c->next)
			MEMBERS(c, edge, 1, synchronization[i].key);
	for (const cJSON *s = get(sync, "storage_users")->child; s; s = s->next)
		for (const cJSON *c = s->child; c; c = c->next)
			MEMBERS(c, user, 1, "storage_users");
	static const char *const hashes[] = { "source_sha256", "asset_sha256" };
	for (int i = 0; i < 2; i++)
		for (const cJSON *c = get(trace, hashes[i])->child; c; c = c->next)
			if (!cJSON_IsString(c) || strlen(c->valuestring) != 64)
				fault("%s.%s is no hash", hashes[i], c->string);
}

static void check_trace(const cJSON *trace)
{
	static const char *const needed[] = { "project_sttf", "final_image", "state" };

	if (check_members(trace, trace_keys, NTRACE_KEY, 0, "trace.json"))
		return;
	check_trace_order(trace);
	check_trace_lists(trace);
	if (get(trace, "format")->valuedouble != 1)
		fault("trace.json has another format than 1");
	for (int i = 0; i < 3; i++)
		if (!get(get(trace, "artifacts"), needed[i]))
			fault("there is no artifact '%s'", needed[i]);
	for (const cJSON *a = get(trace, "artifacts")->child; a; a = a->next)
		check_artifact(a);
	check_sttf();
	check_state(trace);
}

int main(int argc, char **argv)
{
	struct buf text = BUF_INIT;

	if (argc != 2) {
		fprintf(stderr, "usage: ancestor BUNDLE\n");
		return 2;
	}
	bundle = argv[1];
	if (read_file("trace.json", &text))
		return 2;
	cJSON *trace = cJSON_ParseWithOpts(buf_str(&text), NULL, 1);
	buf_release(&text);
	if (!trace) {
		fault("trace.json is no JSON");
		return 2;
	}
	check_trace(trace);
	cJSON_Delete(trace);
	return nfault > 0;
}

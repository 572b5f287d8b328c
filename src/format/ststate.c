#include "format/ststate.h"

#include <limits.h>
#include <string.h>

#include "util/limits.h"
#include "format/fields.h"
#include "util/mem.h"

#define MAGIC "STSTATE1"
#define NMAGIC 8
#define START (NMAGIC + 4) /* of the header's text */

void state_release(struct state *state)
{
	for (size_t i = 0; i < state->nbuffer; i++)
		free(state->buffer[i].name);
	for (size_t i = 0; i < state->nstorage; i++)
		free(state->storage[i].name);
	free(state->buffer);
	free(state->storage);
	free(state->project);
	free(state->header);
	*state = (struct state){ 0 };
}

static int buffer_by_name(const void *a, const void *b)
{
	const struct state_buffer *x = a, *y = b;
	return strcmp(x->name, y->name);
}

static int storage_by_name(const void *a, const void *b)
{
	const struct state_storage *x = a, *y = b;
	return strcmp(x->name, y->name);
}

/* Formats of buffers; the others are those of cubemaps' faces and the image. */
static const enum format buffer_format[] = {
#define FORMAT(name, ...) FORMAT_##name,
#define TARGET(...)
#include "project/format.def"
};
static const char buffer_format_words[] =
#define FORMAT(name, word, ...) " " word
#define TARGET(...)
#include "project/format.def"
    ;
#define NFORMAT (sizeof buffer_format / sizeof buffer_format[0])

/* Sets at and bytes behind the header. Returns the length of the file. */
static int lay_out(struct state *state, size_t start, size_t *end, struct err *err)
{
	size_t at = start;
	for (size_t i = 0; i < state->nbuffer; i++) {
		struct state_buffer *b = &state->buffer[i];
		uint64_t bytes = (uint64_t)b->width * (uint64_t)b->height * 16;
		if (bytes > SIZE_MAX - at)
			goto too_large;
		b->at = at;
		b->bytes = (size_t)bytes;
		at += b->bytes;
	}
	for (size_t i = 0; i < state->nstorage; i++) {
		if (state->storage[i].bytes > SIZE_MAX - at)
			goto too_large;
		state->storage[i].at = at;
		at += (size_t)state->storage[i].bytes;
	}
	*end = at;
	return 0;
too_large:
	return err_set(err, STATUS_INPUT,
	    "a state of that size does not fit into memory");
}

/* The header in the ancestor's order of keys; empty tables are left out. */
static char *header_text(const struct state *state)
{
	cJSON *json = cJSON_CreateObject();
	cJSON_AddNumberToObject(json, "format", 4);
	cJSON_AddStringToObject(json, "project", state->project);
	cJSON_AddNumberToObject(json, "width", state->width);
	cJSON_AddNumberToObject(json, "height", state->height);
	cJSON_AddNumberToObject(json, "fps", state->fps);
	cJSON_AddNumberToObject(json, "time", state->time);
	cJSON_AddNumberToObject(json, "frame", state->frame);
	cJSON *names = cJSON_AddArrayToObject(json, "buffers");
	cJSON *sizes = cJSON_CreateObject(), *formats = cJSON_CreateObject();
	cJSON *storage = cJSON_CreateObject();
	for (size_t i = 0; i < state->nbuffer; i++) {
		const struct state_buffer *b = &state->buffer[i];
		cJSON_AddItemToArray(names, cJSON_CreateString(b->name));
		if (b->has_size) {
			cJSON *size = cJSON_AddObjectToObject(sizes, b->name);
			cJSON_AddNumberToObject(size, "width", b->width);
			cJSON_AddNumberToObject(size, "height", b->height);
		}
		cJSON_AddStringToObject(formats, b->name, format_name(b->format));
	}
	for (size_t i = 0; i < state->nstorage; i++)
		cJSON_AddNumberToObject(storage, state->storage[i].name,
		    (double)state->storage[i].bytes);
	struct {
		const char *key;
		cJSON *table;
	} optional[] = {
		{ "buffer_dimensions", sizes },
		{ "buffer_formats", formats },
		{ "storage_buffers", storage },
	};
	for (int i = 0; i < 3; i++) {
		if (optional[i].table->child)
			cJSON_AddItemToObject(json, optional[i].key, optional[i].table);
		else
			cJSON_Delete(optional[i].table);
	}
	struct buf text = BUF_INIT;
	fields_print(json, FIELDS_COMPACT, &text);
	cJSON_Delete(json);
	return buf_detach(&text);
}

int state_begin(struct state *state, struct buf *out, struct err *err)
{
	if (state->nbuffer > LIMIT_STATE_BUFFERS)
		return err_set(err, STATUS_FAILED,
		    "a state has at most %d buffers, got %zu", LIMIT_STATE_BUFFERS,
		    state->nbuffer);
	if (state->nstorage > LIMIT_STORAGE_NAMES)
		return err_set(err, STATUS_FAILED,
		    "a state has at most %d storage buffers, got %zu",
		    LIMIT_STORAGE_NAMES, state->nstorage);
	if (state->nbuffer)
		qsort(state->buffer, state->nbuffer, sizeof *state->buffer,
		    buffer_by_name);
	if (state->nstorage)
		qsort(state->storage, state->nstorage, sizeof *state->storage,
		    storage_by_name);
	free(state->header);
	state->header = header_text(state);
	state->version = 4;
	size_t n = strlen(state->header), end;
	if (n > LIMIT_STATE_HEADER)
		return err_set(err, STATUS_FAILED,
		    "the state's header has %zu bytes, more than %u", n,
		    LIMIT_STATE_HEADER);
	if (lay_out(state, START + n, &end, err) < 0)
		return -1;
	buf_add(out, MAGIC, NMAGIC);
	buf_u32le(out, (uint32_t)n);
	buf_add(out, state->header, n);
	return 0;
}

/* Reading ------------------------------------------------------------------ */

static struct state_buffer *find_buffer(struct state *s, const char *name)
{
	for (size_t i = 0; i < s->nbuffer; i++)
		if (strcmp(s->buffer[i].name, name) == 0)
			return &s->buffer[i];
	return NULL;
}

static int read_names(const struct fields *f, struct state *out)
{
	const cJSON *list = NULL;
	if (fields_container(f, "buffers", 1, DOC_ARRAY, &list) < 0)
		return -1;
	for (const cJSON *c = list->child; c; c = c->next) {
		if (!cJSON_IsString(c) || fields_is_blank(c->valuestring))
			return fields_fail(f, c, "buffers", "a buffer needs a name");
		if (find_buffer(out, c->valuestring))
			return fields_fail(f, c, "buffers",
			    "the buffer '%.64s' is listed twice", c->valuestring);
		if (out->nbuffer == LIMIT_STATE_BUFFERS)
			return fields_fail(f, c, "buffers", "more than %d buffers",
			    LIMIT_STATE_BUFFERS);
		if (!out->buffer)
			out->buffer = xcalloc(LIMIT_STATE_BUFFERS, sizeof *out->buffer);
		out->buffer[out->nbuffer++] = (struct state_buffer){
			.name = xstrdup(c->valuestring),
			.width = out->width,
			.height = out->height,
			.format = FORMAT_RGBA32F,
		};
	}
	return 0;
}

/* An optional table that came with a version. Null when absent. */
static int read_table(const struct fields *f, const char *key, int version, int since,
    const cJSON **out)
{
	*out = NULL;
	if (fields_container(f, key, 0, DOC_TABLE, out) < 0)
		return -1;
	if (*out && version < since)
		return fields_fail(f, *out, key,
		    "'%s' needs format %d, but this is format %d", key, since, version);
	return 0;
}

static int unlisted(const struct fields *f, const cJSON *c, const char *key)
{
	return fields_fail(f, c, key, "'%.64s' is not in 'buffers'", c->string);
}

static int read_sizes(const struct fields *f, struct state *out)
{
	const cJSON *table;
	if (read_table(f, "buffer_dimensions", out->version, 2, &table) < 0)
		return -1;
	for (const cJSON *c = table ? table->child : NULL; c; c = c->next) {
		struct state_buffer *b = find_buffer(out, c->string);
		if (!b)
			return unlisted(f, c, "buffer_dimensions");
		if (!cJSON_IsObject(c))
			return fields_fail(f, c, "buffer_dimensions",
			    "'%.64s' must be an object", c->string);
		struct fields size = { .doc = f->doc,
			.object = c,
			.where = "buffer_dimensions",
			.err = f->err };
		long long w, h;
		if (fields_int(&size, "width", 1, 1, LIMIT_SIZE, &w) < 0 ||
		    fields_int(&size, "height", 1, 1, LIMIT_SIZE, &h) < 0)
			return -1;
		b->width = (int)w;
		b->height = (int)h;
		b->has_size = 1;
	}
	return 0;
}

static int read_formats(const struct fields *f, struct state *out)
{
	const cJSON *table;
	size_t n = 0;
	if (read_table(f, "buffer_formats", out->version, 3, &table) < 0)
		return -1;
	for (const cJSON *c = table ? table->child : NULL; c; c = c->next) {
		struct state_buffer *b = find_buffer(out, c->string);
		if (!b)
			return unlisted(f, c, "buffer_formats");
		size_t k = 0;
		while (k < NFORMAT &&
		    !(cJSON_IsString(c) &&
			strcmp(c->valuestring, format_name(buffer_format[k])) == 0))
			k++;
		if (k == NFORMAT)
			return fields_fail(f, c, "buffer_formats",
			    "the format of '%.64s' must be one of:%s", c->string,
			    buffer_format_words);
		b->format = buffer_format[k];
		n++;
	}
	if (out->version >= 3 && n != out->nbuffer)
		return fields_fail(f, table ? table : f->object, "buffer_formats",
		    "expected a format for each of the "
		    "%zu buffers, got %zu",
		    out->nbuffer, n);
	return 0;
}

static int read_storage(const struct fields *f, struct state *out)
{
	const cJSON *table;
	if (read_table(f, "storage_buffers", out->version, 4, &table) < 0)
		return -1;
	if (!table || !table->child)
		return 0;
	struct fields entry = { .doc = f->doc,
		.object = table,
		.where = "storage_buffers",
		.err = f->err };
	out->storage = xcalloc(LIMIT_STORAGE_NAMES, sizeof *out->storage);
	for (const cJSON *c = table->child; c; c = c->next) {
		long long bytes;
		if (fields_is_blank(c->string))
			return fields_fail(f, c, "storage_buffers",
			    "a storage buffer needs a name");
		if (out->nstorage == LIMIT_STORAGE_NAMES)
			return fields_fail(f, c, "storage_buffers",
			    "more than %d storage buffers", LIMIT_STORAGE_NAMES);
		if (fields_int(&entry, c->string, 1, 1, LLONG_MAX, &bytes) < 0)
			return -1;
		out->storage[out->nstorage++] = (struct state_storage){
			.name = xstrdup(c->string),
			.bytes = (uint64_t)bytes,
		};
	}
	qsort(out->storage, out->nstorage, sizeof *out->storage, storage_by_name);
	return 0;
}

static int read_header(const struct fields *f, struct state *out)
{
	long long version, width, height, frame;
	const char *project = NULL;
	if (fields_int(f, "format", 1, 1, 4, &version) < 0 ||
	    fields_string(f, "project", 1, &project) < 0 ||
	    fields_int(f, "width", 1, 1, LIMIT_SIZE, &width) < 0 ||
	    fields_int(f, "height", 1, 1, LIMIT_SIZE, &height) < 0 ||
	    fields_number(f, "fps", 1, 0, LIMIT_FPS, &out->fps) < 0 ||
	    fields_number(f, "time", 1, 0, 1e300, &out->time) < 0 ||
	    fields_int(f, "frame", 1, 0, INT_MAX, &frame) < 0)
		return -1;
	if (out->fps == 0)
		return fields_fail(f, fields_get(f, "fps", 1), "fps",
		    "'fps' must be greater than 0");
	if (fields_is_blank(project))
		return fields_fail(f, fields_get(f, "project", 1), "project",
		    "'project' must not be blank");
	out->version = (int)version;
	out->project = xstrdup(project);
	out->width = (int)width;
	out->height = (int)height;
	out->frame = (int)frame;
	if (read_names(f, out) < 0 || read_sizes(f, out) < 0 || read_formats(f, out) < 0)
		return -1;
	return read_storage(f, out);
}

int state_read(const char *name, const void *data, size_t n, struct state *out,
    struct err *err)
{
	const char *bytes = data;
	struct doc doc = { 0 };
	int rc = -1;
	*out = (struct state){ 0 };
	if (n < START || memcmp(bytes, MAGIC, NMAGIC) != 0) {
		err_set(err, STATUS_INPUT,
		    "this is not a state: it does not start with '" MAGIC "'");
		goto out;
	}
	uint32_t nheader = get_u32le(bytes + NMAGIC);
	if (!nheader || nheader > LIMIT_STATE_HEADER || nheader > n - START) {
		err_set(err, STATUS_INPUT,
		    "the state's header cannot have %lu bytes in a file of %zu",
		    (unsigned long)nheader, n);
		goto out;
	}
	out->header = xstrndup(bytes + START, nheader);
	if (json_read(name, bytes + START, nheader, JSON_PLAIN, &doc, err) < 0)
		goto header;
	struct fields f = { .doc = &doc, .object = doc.root, .err = err };
	if (!cJSON_IsObject(doc.root)) {
		fields_fail(&f, doc.root, NULL, "it must be an object");
		goto header;
	}
	if (read_header(&f, out) < 0)
		goto header;
	size_t end;
	if (lay_out(out, START + nheader, &end, err) < 0)
		goto out;
	if (end != n) {
		err_set(err, STATUS_INPUT,
		    "the state has %zu bytes, but its "
		    "header calls for %zu",
		    n, end);
		goto out;
	}
	rc = 0;
	goto out;
header:
	/* The header is one line in the middle of a binary file. */
	err->line = err->column = 0;
	err_wrap(err, "in the state's header");
out:
	if (rc < 0) {
		err_place(err, name, 0, 0, NULL);
		state_release(out);
	}
	doc_release(&doc);
	return rc;
}

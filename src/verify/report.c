#include "verify/report.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "format/base64.h"
#include "format/png.h"
#include "util/buf.h"
#include "util/fs.h"
#include "util/limits.h"
#include "util/map.h"
#include "util/mem.h"
#include "verify/outputs.h"

/* Made from report_page.html by the Makefile. */
static const unsigned char page[] = {
#include "report_page.inc"
	0,
};

#define DATA_MARK "/*DATA*/"
#define GENERATOR "<meta name=\"generator\" content=\"stbuild\">"

struct report {
	char *dir, *data_dir;
	cJSON *json;        /* what the page reads */
	cJSON *item, *blob; /* in it */
	struct map known;   /* names of blobs: 1 */
	size_t inlined;     /* bytes of text in blob */
	int is_beside;      /* blobs go to files now */
};

/* Blobs ------------------------------------------------------------------------ */

static int write_blob(struct report *r, const char *name, const char *uri,
    struct err *err)
{
	struct buf text = BUF_INIT;
	char *file = xasprintf("%s/%s.js", r->data_dir, name);

	buf_addf(&text, "stbuildBlob(\"%s\",\"", name);
	buf_addstr(&text, uri);
	buf_addstr(&text, "\")\n");
	int rc = fs_mkdirs(r->data_dir, err);
	if (rc == 0)
		rc = fs_write(file, text.data, text.len, 0, err);
	free(file);
	buf_release(&text);
	return rc;
}

/* All that is in the page goes to files. */
static int spill(struct report *r, struct err *err)
{
	const cJSON *blob;

	r->is_beside = 1;
	cJSON_ArrayForEach (blob, r->blob)
		if (write_blob(r, blob->string, blob->valuestring, err))
			return -1;
	cJSON_DeleteItemFromObjectCaseSensitive(r->json, "blob");
	r->blob = cJSON_AddObjectToObject(r->json, "blob");
	return 0;
}

/* Adds bytes under the name that their hash gives, and the name at item. */
static int add_blob(struct report *r, cJSON *item, const char *key, const char *type,
    const void *data, size_t n, struct err *err)
{
	struct sha256 sha;
	char name[SHA256_HEX + 1];
	struct buf uri = BUF_INIT;
	int rc = 0;

	sha256_of(data, n, &sha);
	sha256_hex(&sha, name);
	name[16] = '\0';
	cJSON_AddStringToObject(item, key, name);
	if (!map_puts(&r->known, name, 1))
		return 0;
	buf_addf(&uri, "data:%s;base64,", type);
	base64_encode(data, n, &uri);
	if (r->is_beside) {
		rc = write_blob(r, name, buf_str(&uri), err);
	} else {
		cJSON_AddStringToObject(r->blob, name, buf_str(&uri));
		r->inlined += uri.len;
		if (r->inlined > LIMIT_REPORT_INLINE)
			rc = spill(r, err);
	}
	buf_release(&uri);
	return rc;
}

int report_picture(struct report *r, cJSON *item, const char *key,
    const struct picture *picture, struct err *err)
{
	struct buf png = BUF_INIT;
	int rc = png_encode(picture->rgb, picture->width, picture->height, &png, err);

	if (rc == 0)
		rc = add_blob(r, item, key, "image/png", png.data, png.len, err);
	buf_release(&png);
	return rc;
}

int report_final(struct report *r, cJSON *item, const char *key, const struct bundle *b,
    struct err *err)
{
	struct buf png = BUF_INIT;
	int rc = bundle_read(b, "final_image", &png, err);

	if (rc == 0)
		rc = add_blob(r, item, key, "image/png", png.data, png.len, err);
	buf_release(&png);
	return rc;
}

/* Layers ----------------------------------------------------------------------- */

static const struct output *find_output(const struct outputs *o,
    const struct output *like, size_t *at)
{
	for (size_t i = 0; i < o->noutput; i++) {
		const struct output *x = &o->output[i];
		*at = i;
		if (strcmp(x->pass, like->pass) == 0 && x->output == like->output &&
		    x->face == like->face && x->width == like->width &&
		    x->height == like->height)
			return x;
	}
	return NULL;
}

static int add_texels(struct report *r, cJSON *layer, const char *key, struct outputs *o,
    size_t at, struct err *err)
{
	const struct output *x = &o->output[at];
	size_t n = 16 * (size_t)x->width * (size_t)x->height;
	const char *texel = outputs_read(o, at, err);

	return texel ? add_blob(r, layer, key, "application/octet-stream", texel, n, err)
		     : -1;
}

int report_layers(struct report *r, cJSON *item, const struct bundle *expected,
    const struct bundle *actual, struct err *err)
{
	struct outputs a = { 0 }, e = { 0 };
	cJSON *list = cJSON_AddArrayToObject(item, "layers");
	int rc = -1;

	if (outputs_open(actual, &a, err) ||
	    (expected && outputs_open(expected, &e, err)))
		goto out;
	for (size_t i = 0; i < a.noutput; i++) {
		const struct output *x = &a.output[i];
		size_t at;
		if (16 * (size_t)x->width * (size_t)x->height > LIMIT_REPORT_LAYER)
			continue;
		cJSON *layer = cJSON_CreateObject();
		char *name = x->face >= 0
		    ? xasprintf("%s, face %s", x->pass, output_face(x->face))
		    : xasprintf("%s, output %d", x->pass, x->output);
		cJSON_AddStringToObject(layer, "name", name);
		cJSON_AddNumberToObject(layer, "width", x->width);
		cJSON_AddNumberToObject(layer, "height", x->height);
		cJSON_AddItemToArray(list, layer);
		free(name);
		if (add_texels(r, layer, "actual", &a, i, err) ||
		    (expected && find_output(&e, x, &at) &&
			add_texels(r, layer, "expected", &e, at, err)))
			goto out;
	}
	rc = 0;
out:
	outputs_close(&a);
	outputs_close(&e);
	return rc;
}

/* What made it ------------------------------------------------------------------- */

static void add_fact(cJSON *facts, const char *name, const char *value)
{
	cJSON *row = cJSON_CreateArray();

	if (!value)
		value = "unknown";
	cJSON_AddItemToArray(row, cJSON_CreateString(name));
	cJSON_AddItemToArray(row, cJSON_CreateString(value));
	cJSON_AddItemToArray(facts, row);
}

static const char *string_at(const cJSON *json, const char *key)
{
	return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, key));
}

static double nanoseconds_of(const struct bundle *b, const char *pass)
{
	const cJSON *row;

	cJSON_ArrayForEach (row,
	    cJSON_GetObjectItemCaseSensitive(b->json, "pass_timings")) {
		const char *name = string_at(row, "name");
		if (name && strcmp(name, pass) == 0)
			return cJSON_GetNumberValue(
			    cJSON_GetObjectItemCaseSensitive(row, "gpu_nanoseconds"));
	}
	return -1;
}

void report_made(cJSON *item, const struct bundle *b, const struct bundle *base)
{
	cJSON *timings = cJSON_AddArrayToObject(item, "timings");
	cJSON *facts = cJSON_AddArrayToObject(item, "facts");
	const cJSON *git = cJSON_GetObjectItemCaseSensitive(b->json, "git");
	const cJSON *row;

	cJSON_ArrayForEach (row,
	    cJSON_GetObjectItemCaseSensitive(b->json, "pass_timings")) {
		const char *name = string_at(row, "name");
		double ns = cJSON_GetNumberValue(
		    cJSON_GetObjectItemCaseSensitive(row, "gpu_nanoseconds"));
		if (!name || !(ns >= 0))
			continue;
		cJSON *bar = cJSON_CreateObject();
		cJSON_AddStringToObject(bar, "name", name);
		cJSON_AddNumberToObject(bar, "ms", ns / 1e6);
		double was = base ? nanoseconds_of(base, name) : -1;
		if (was >= 0)
			cJSON_AddNumberToObject(bar, "base", was / 1e6);
		cJSON_AddItemToArray(timings, bar);
	}
	char *size =
	    xasprintf("%dx%d, frame %d (%.3f s)", b->width, b->height, b->frame, b->time);
	add_fact(facts, "picture", size);
	free(size);
	add_fact(facts, "bundle", b->dir);
	if (cJSON_IsObject(git)) {
		char *commit = xasprintf("%.12s%s%s%s",
		    string_at(git, "commit") ? string_at(git, "commit") : "",
		    string_at(git, "branch") ? " on " : "",
		    string_at(git, "branch") ? string_at(git, "branch") : "",
		    cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(git, "dirty"))
			? ", with changes"
			: "");
		add_fact(facts, "commit", commit);
		free(commit);
	}
	add_fact(facts, "driver",
	    string_at(cJSON_GetObjectItemCaseSensitive(b->json, "driver"), "renderer"));
	add_fact(facts, "made by", b->cli_version);
}

void report_first(cJSON *item, const struct diff *d)
{
	const struct diff_part *p = d->first;

	if (!p)
		return;
	cJSON *json = cJSON_AddObjectToObject(item, "first");
	const struct diff_side *side = d->a.is_bundle ? &d->a : &d->b;
	if (side->is_bundle)
		cJSON_AddNumberToObject(json, "frame", side->bundle.frame);
	char *what = p->kind == DIFF_STORAGE
	    ? xasprintf("storage '%s', byte %llu", p->name, (unsigned long long)p->byte)
	    : !p->name ? xstrdup("the picture")
	    : p->face >= 0
	    ? xasprintf("pass '%s', face %s", p->name, output_face(p->face))
	    : xasprintf("pass '%s', output %d", p->name, p->output);
	cJSON_AddStringToObject(json, "what", what);
	free(what);
	if (p->is_other_size || p->kind == DIFF_STORAGE)
		return;
	cJSON_AddNumberToObject(json, "x", p->x);
	cJSON_AddNumberToObject(json, "y", p->y);
	cJSON_AddStringToObject(json, "channel",
	    (const char *const[]){ "red", "green", "blue", "alpha" }[p->channel]);
	cJSON_AddNumberToObject(json, "a", p->a);
	cJSON_AddNumberToObject(json, "b", p->b);
}

/* The page ------------------------------------------------------------------------ */

cJSON *report_case(struct report *r, const char *name, const char *variant,
    const char *status)
{
	cJSON *json = cJSON_CreateObject();

	cJSON_AddStringToObject(json, "name", name);
	cJSON_AddStringToObject(json, "variant", variant);
	cJSON_AddStringToObject(json, "status", status);
	cJSON_AddItemToArray(r->item, json);
	return json;
}

void report_meta(struct report *r, const char *text)
{
	cJSON_AddItemToArray(cJSON_GetObjectItemCaseSensitive(r->json, "meta"),
	    cJSON_CreateString(text));
}

void report_graph(struct report *r, const struct manifest *m)
{
	static const char *const kind[] = {
		[PASS_IMAGE] = "image",
		[PASS_BUFFER] = "buffer",
		[PASS_CUBEMAP] = "cubemap",
		[PASS_COMPUTE] = "compute",
		[PASS_SOUND] = "sound",
	};
	cJSON *graph = cJSON_AddObjectToObject(r->json, "graph");
	cJSON *nodes = cJSON_AddArrayToObject(graph, "nodes");
	cJSON *edges = cJSON_AddArrayToObject(graph, "edges");

	for (size_t p = 0; p < m->npass; p++) {
		const struct pass *pass = &m->pass[p];
		cJSON *node = cJSON_CreateObject();
		cJSON_AddStringToObject(node, "name", pass->name);
		cJSON_AddStringToObject(node, "kind", kind[pass->kind]);
		cJSON_AddItemToArray(nodes, node);
		for (size_t i = 0; i < pass->ninput; i++) {
			const struct input_ref *in = &pass->input[i];
			if (in->kind != INPUT_PASS)
				continue;
			cJSON *edge = cJSON_CreateObject();
			cJSON_AddStringToObject(edge, "from", m->pass[in->pass].name);
			cJSON_AddStringToObject(edge, "to", pass->name);
			cJSON_AddBoolToObject(edge, "previous", in->is_previous);
			cJSON_AddItemToArray(edges, edge);
		}
	}
}

/* An earlier report's files go; anything else is not ours to write over. */
static int clear(struct report *r, struct err *err)
{
	char *index = fs_join(r->dir, "index.html");
	struct buf old = BUF_INIT;
	DIR *dir = opendir(r->dir);
	const struct dirent *e;
	int nentry = 0, rc = 0;

	while (dir && (e = readdir(dir)))
		nentry += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	if (dir)
		closedir(dir);
	if (nentry > 0) {
		struct err cause = ERR_INIT;
		int is_ours = fs_read(index, LIMIT_REPORT_PAGE, &old, &cause) == 0 &&
		    strstr(buf_str(&old), GENERATOR) != NULL;
		err_release(&cause);
		rc = is_ours ? fs_remove(r->data_dir, err)
			     : err_set(err, STATUS_INPUT,
				   "'%s' contains something "
				   "other than a report; choose another folder",
				   r->dir);
	}
	if (rc == 0)
		rc = fs_mkdirs(r->dir, err);
	buf_release(&old);
	free(index);
	return rc;
}

int report_open(const char *dir, const char *title, struct report **out, struct err *err)
{
	struct report *r = xcalloc(1, sizeof *r);

	r->dir = xstrdup(dir);
	r->data_dir = fs_join(dir, "data");
	r->json = cJSON_CreateObject();
	cJSON_AddStringToObject(r->json, "title", title);
	cJSON_AddArrayToObject(r->json, "meta");
	r->item = cJSON_AddArrayToObject(r->json, "case");
	r->blob = cJSON_AddObjectToObject(r->json, "blob");
	*out = r;
	return clear(r, err);
}

void report_close(struct report *r)
{
	if (!r)
		return;
	cJSON_Delete(r->json);
	map_release(&r->known);
	free(r->dir);
	free(r->data_dir);
	free(r);
}

int report_finish(struct report *r, char **path, struct err *err)
{
	char *index = fs_join(r->dir, "index.html");
	char *json = cJSON_PrintUnformatted(r->json);
	const char *text = (const char *)page;
	const char *mark = strstr(text, DATA_MARK), *head = strstr(text, "<title>");
	struct buf out = BUF_INIT;

	if (!mark || !head)
		BUG("the page has no place for its data");
	buf_add(&out, text, (size_t)(head - text));
	buf_addstr(&out, GENERATOR "\n");
	buf_add(&out, head, (size_t)(mark - head));
	/* Within a script element, "<" may begin its end. */
	for (const char *p = json; *p; p++) {
		if (*p == '<')
			buf_addstr(&out, "\\u003c");
		else
			buf_addch(&out, *p);
	}
	buf_addstr(&out, mark + strlen(DATA_MARK));
	int rc = fs_write(index, out.data, out.len, 0, err);
	buf_release(&out);
	cJSON_free(json);
	if (rc == 0 && path) {
		*path = index;
		return 0;
	}
	free(index);
	return rc;
}

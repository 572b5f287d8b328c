#include "import/shadertoy.h"

#include <ctype.h>
#include <string.h>
#include <cjson/cJSON.h>

#include "project/doc.h"
#include "site.h"
#include "util/limits.h"
#include "util/log.h"
#include "util/mem.h"

/* Entities ------------------------------------------------------------------ */

static const struct entity {
	const char *text;
	char c;
} entity[] = { { "&lt;", '<' }, { "&gt;", '>' }, { "&amp;", '&' }, { "&quot;", '"' },
	{ "&#39;", '\'' }, { "&#039;", '\'' }, { "&apos;", '\'' } };

static const struct entity *entity_at(const char *p)
{
	for (size_t i = 0; i < sizeof entity / sizeof *entity; i++)
		if (strncmp(p, entity[i].text, strlen(entity[i].text)) == 0)
			return &entity[i];
	return NULL;
}

static int is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/*
 * Some exporters escape code for HTML. Such a text has entities and nothing
 * that escaping leaves none of. "a &lt; b" could be an and with a variable "lt",
 * so a text that has such a word elsewhere is left alone.
 */
static int is_escaped(const char *code)
{
	int n = 0;
	for (const char *p = code; *p; p++) {
		if (*p == '<' || *p == '>')
			return 0;
		if (*p == '&') {
			const struct entity *e = entity_at(p);
			if (!e)
				return 0;
			n++;
			p += strlen(e->text) - 1;
			continue;
		}
		if (!is_word(*p))
			continue;
		size_t len = 1;
		while (is_word(p[len]))
			len++;
		if ((len == 2 &&
			(strncmp(p, "lt", 2) == 0 || strncmp(p, "gt", 2) == 0)) ||
		    (len == 3 && strncmp(p, "amp", 3) == 0) ||
		    (len == 4 &&
			(strncmp(p, "quot", 4) == 0 || strncmp(p, "apos", 4) == 0)))
			return 0;
		p += len - 1;
	}
	return n > 0;
}

static void add_code(struct buf *out, const char *code)
{
	if (!is_escaped(code)) {
		buf_addstr(out, code);
		return;
	}
	for (const char *p = code; *p;) {
		const struct entity *e = *p == '&' ? entity_at(p) : NULL;
		buf_addch(out, e ? e->c : *p);
		p += e ? strlen(e->text) : 1;
	}
}

/* Passes -------------------------------------------------------------------- */

static const char *default_name(const struct site_pass *p, char text[16])
{
	switch (p->kind) {
	case SITE_BUFFER:
		snprintf(text, 16, "Buffer %c", 'A' + p->slot % 26);
		return text;
	case SITE_CUBEMAP:
		snprintf(text, 16, "Cube %c", 'A' + p->slot % 26);
		return text;
	case SITE_IMAGE:
		return "Image";
	case SITE_SOUND:
		return "Sound";
	case SITE_COMMON:
		return "Common";
	}
	BUG("kind %d", (int)p->kind);
}

static char *slug_of(const char *name)
{
	struct buf out = BUF_INIT;
	for (const char *p = name; *p && out.len < 64; p++) {
		if (isalnum((unsigned char)*p))
			buf_addch(&out, (char)tolower((unsigned char)*p));
		else if (out.len && out.data[out.len - 1] != '-')
			buf_addch(&out, '-');
	}
	while (out.len && out.data[out.len - 1] == '-')
		out.data[--out.len] = '\0';
	if (!out.len)
		buf_addstr(&out, "pass");
	return buf_detach(&out);
}

static int read_passes(struct site *im, const cJSON *list, struct err *err)
{
	static const char *const type[] = {
		"image",
		"buffer",
		"cubemap",
		"sound",
		"common",
	};
	int nimage = 0;
	size_t n = 0;
	const cJSON *json;
	cJSON_ArrayForEach (json, list)
		n++;
	if (n > LIMIT_PASSES)
		return err_set(err, STATUS_INPUT,
		    "too many passes (%zu, at "
		    "most %d)",
		    n, LIMIT_PASSES);
	im->pass = xcalloc(n ? n : 1, sizeof *im->pass);
	n = 0;
	cJSON_ArrayForEach (json, list) {
		const char *said = site_text(json, "type");
		size_t k = 0;
		while (
		    said && k < sizeof type / sizeof *type && strcmp(type[k], said) != 0)
			k++;
		if (!said || k == sizeof type / sizeof *type)
			return err_set(err, STATUS_INPUT,
			    "renderpass[%zu]: unknown type '%s'", n, said ? said : "");
		const char *code = cJSON_GetStringValue(site_get(json, "code"));
		if (!code)
			return err_set(err, STATUS_INPUT, "renderpass[%zu] has no code",
			    n);
		n++;
		if (k == SITE_IMAGE && nimage++) {
			log_warn("%s: ignoring the second image pass, as the "
				 "site does",
			    im->name);
			continue;
		}
		im->pass[im->npass].json = json;
		im->pass[im->npass++].kind = (enum site_kind)k;
	}
	if (!nimage)
		return err_set(err, STATUS_INPUT, "there is no image pass");
	site_give_slots(im, SITE_BUFFER);
	site_give_slots(im, SITE_CUBEMAP);
	for (size_t i = 0; i < im->npass; i++) {
		struct site_pass *p = &im->pass[i];
		char text[16];
		/* The site runs buffers in the order of the list, whatever their
		 * letters, then the cubemaps, then the image. */
		p->rank = (int)i +
		    (p->kind == SITE_BUFFER           ? 0
			    : p->kind == SITE_CUBEMAP ? LIMIT_PASSES
						      : 2 * LIMIT_PASSES);
		const char *said = site_text(p->json, "name");
		p->name = site_unique(&im->names, said ? said : default_name(p, text));
		if (p->kind == SITE_COMMON)
			continue;
		char *slug = slug_of(p->name);
		char *unique = site_unique(&im->sources, slug);
		p->source = xasprintf("shaders/%s.glsl", unique);
		free(unique);
		free(slug);
	}
	return 0;
}

static void write_sources(struct site *im, cJSON *shader)
{
	struct buf common = BUF_INIT;
	for (size_t i = 0; i < im->npass; i++) {
		const struct site_pass *p = &im->pass[i];
		struct buf code = BUF_INIT;
		add_code(&code, site_get(p->json, "code")->valuestring);
		if (p->kind == SITE_COMMON) {
			if (common.len && common.data[common.len - 1] != '\n')
				buf_addch(&common, '\n');
			buf_add(&common, buf_str(&code), code.len);
		} else {
			tree_memory_add(im->tree, p->source, buf_str(&code), code.len);
		}
		buf_release(&code);
	}
	if (common.len) {
		char *unique = site_unique(&im->sources, "common");
		char *path = xasprintf("shaders/%s.glsl", unique);
		tree_memory_add(im->tree, path, common.data, common.len);
		cJSON_AddStringToObject(shader, "common", path);
		free(path);
		free(unique);
	}
	buf_release(&common);
}

/* Document ------------------------------------------------------------------ */

/* What a list or an envelope has instead of a shader, in the site's words. */
static const char *refusal_of(const cJSON *json)
{
	static const char *const key[] = { "Error", "error" };
	for (size_t i = 0; i < sizeof key / sizeof *key; i++) {
		const cJSON *said = site_get(json, key[i]);
		if (cJSON_IsString(said))
			return *said->valuestring ? said->valuestring : "an error";
		if (site_text(said, "message"))
			return site_text(said, "message");
		if (said && !cJSON_IsNull(said) && !cJSON_IsFalse(said))
			return "an error";
	}
	return NULL;
}

/* The first of a list that is something, or null. */
static const cJSON *first_of(const char *name, const cJSON *list)
{
	const cJSON *item, *first = NULL;
	int n = 0;
	cJSON_ArrayForEach (item, list) {
		if (!cJSON_IsObject(item) && !cJSON_IsArray(item))
			continue;
		if (!n++)
			first = item;
	}
	if (n > 1)
		log_warn("%s: several shaders; using the first", name);
	return first;
}

/* The shader in whatever it is wrapped. */
static const cJSON *find_shader(const char *name, const cJSON *root, struct err *err)
{
	for (int depth = 0; depth < 4 && root; depth++) {
		if (cJSON_IsArray(root)) {
			if (!root->child) {
				err_set(err, STATUS_INPUT,
				    "the site answered with an empty list: "
				    "no such shader, or not a public one; it has no "
				    "\"renderpass\"");
				return NULL;
			}
			root = first_of(name, root);
			continue;
		}
		if (cJSON_IsArray(site_get(root, "renderpass")))
			return root;
		const char *refusal = refusal_of(root);
		if (refusal) {
			err_set(err, STATUS_INPUT,
			    "the site answered '%.200s' instead of a shader", refusal);
			return NULL;
		}
		if (cJSON_IsArray(site_get(root, "Results"))) {
			err_set(err, STATUS_INPUT,
			    "this is a list of shader "
			    "ids; export one of them");
			return NULL;
		}
		root = site_get(root, "Shader") ? site_get(root, "Shader")
						: site_get(root, "shaders");
	}
	err_set(err, STATUS_INPUT,
	    "not a Shadertoy export: it has no list "
	    "\"renderpass\"");
	return NULL;
}

static void write_project(cJSON *manifest, const cJSON *info)
{
	cJSON *project = cJSON_AddObjectToObject(manifest, "project");
	const char *name = site_text(info, "name");
	const char *author = site_text(info, "username");
	const char *description = site_text(info, "description");
	const char *id = site_text(info, "id");
	/* The site's ids have no other letters; "-1" is a shader not saved. */
	for (const char *p = id; p && *p; p++)
		if (!isalnum((unsigned char)*p)) {
			id = NULL;
			break;
		}
	cJSON_AddStringToObject(project, "name", name ? name : id ? id : "Untitled");
	if (author)
		cJSON_AddStringToObject(project, "author", author);
	if (description)
		cJSON_AddStringToObject(project, "description", description);
	if (id) {
		char *url = xasprintf("https://www.shadertoy.com/view/%s", id);
		cJSON_AddStringToObject(project, "source_url", url);
		cJSON_AddStringToObject(project, "source_id", id);
		free(url);
	}
}

static void warn_all(const struct site *im)
{
	if (im->media.missing.len)
		log_warn("%s: missing media replaced by noise: %s", im->name,
		    buf_str(&im->media.missing));
	if (im->media.unread.len)
		log_warn("%s: media that cannot be used replaced by noise: %s", im->name,
		    buf_str(&im->media.unread));
	if (im->dropped.len)
		log_warn("%s: left out: %s", im->name, buf_str(&im->dropped));
	if (im->odd.len)
		log_warn("%s: unknown sampler settings: %s", im->name, buf_str(&im->odd));
	if (im->live.len)
		log_warn("%s: live sources cannot be captured: %s", im->name,
		    buf_str(&im->live));
	if (im->unbound.len)
		log_warn("%s: left unbound: %s", im->name, buf_str(&im->unbound));
	if (im->srgb.len)
		log_warn("%s: sRGB is not decoded for %s", im->name, buf_str(&im->srgb));
}

static int build(struct site *im, const cJSON *shader, struct err *err)
{
	static const char *const kind_name[] = { "image", "buffer", "cubemap", "sound" };
	int rc = -1;
	cJSON *manifest = cJSON_CreateObject();
	cJSON *list = cJSON_CreateArray();

	cJSON_AddNumberToObject(manifest, "format", 1);
	write_project(manifest, site_get(shader, "info"));
	cJSON *dialect = cJSON_AddObjectToObject(manifest, "shader");
	cJSON_AddStringToObject(dialect, "dialect", "essl");
	if (read_passes(im, site_get(shader, "renderpass"), err) < 0)
		goto out;
	write_sources(im, dialect);
	for (size_t i = 0; i < im->npass; i++) {
		const struct site_pass *p = &im->pass[i];
		if (p->kind == SITE_COMMON)
			continue;
		cJSON *pass = cJSON_CreateObject();
		cJSON_AddItemToArray(list, pass);
		cJSON_AddStringToObject(pass, "name", p->name);
		cJSON_AddStringToObject(pass, "kind", kind_name[p->kind]);
		cJSON_AddStringToObject(pass, "source", p->source);
		cJSON *inputs = cJSON_CreateArray();
		cJSON_AddItemToObject(pass, "input", inputs);
		if (site_read_inputs(im, p, inputs, err) < 0)
			goto out;
		if (!inputs->child)
			cJSON_DeleteItemFromObject(pass, "input");
	}
	if (im->media.asset->child) {
		cJSON_AddItemToObject(manifest, "asset", im->media.asset);
		im->media.asset = NULL;
	}
	cJSON_AddItemToObject(manifest, "pass", list);
	list = NULL;
	struct buf file = BUF_INIT;
	json_write(manifest, &file);
	tree_memory_add(im->tree, "stbuild.json", file.data, file.len);
	buf_release(&file);
	rc = 0;
out:
	cJSON_Delete(list);
	cJSON_Delete(manifest);
	return rc;
}

int shadertoy_read(const char *name, const char *text, size_t n, const char *media_dir,
    struct tree **out, struct err *err)
{
	int rc = -1;
	cJSON *root = NULL;
	struct site im = { .name = name };

	*out = NULL;
	im.tree = tree_new_memory(name);
	if (site_media_open(&im.media, media_dir, im.tree, err) < 0)
		goto out;
	/* Names that mean something to the manifest. */
	map_puts(&im.names, "keyboard", 1);
	map_puts(&im.names, "music", 1);
	map_puts(&im.names, "webcam", 1);
	if (n > LIMIT_DOCUMENT_BYTES) {
		err_set(err, STATUS_INPUT, "%zu bytes exceed the limit of %u", n,
		    LIMIT_DOCUMENT_BYTES);
		goto out;
	}
	if (json_parse(name, text, n, &root, err) < 0)
		goto out;
	const cJSON *shader = find_shader(name, root, err);
	if (!shader || build(&im, shader, err) < 0)
		goto out;
	warn_all(&im);
	*out = im.tree;
	im.tree = NULL;
	rc = 0;
out:
	if (rc < 0 && !err->file)
		err_place(err, name, 0, 0, NULL);
	for (size_t i = 0; i < im.npass; i++) {
		free(im.pass[i].name);
		free(im.pass[i].source);
	}
	free(im.pass);
	map_release(&im.names);
	map_release(&im.sources);
	buf_release(&im.dropped);
	buf_release(&im.unbound);
	buf_release(&im.odd);
	buf_release(&im.live);
	buf_release(&im.srgb);
	site_media_release(&im.media);
	tree_free(im.tree);
	cJSON_Delete(root);
	return rc;
}

#include "import/import.h"

#include <string.h>
#include <strings.h>

#include "glsl/glsl.h"
#include "project/doc.h"
#include "project/image.h"
#include "util/fs.h"

static const char unknown[] = "is not a Shadertoy export, .sttf document, bundle, "
			      "manifest or shader";

static int has(const cJSON *json, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(json, key) != NULL;
}

/*
 * An export is one shader, or a list of them, with or without an envelope; what
 * the site answers instead of one is read as such, since the reader says why.
 */
static int is_shadertoy(const cJSON *json)
{
	static const char *const key[] = { "renderpass", "Shader", "shaders", "Error",
		"error", "Results" };
	if (cJSON_IsArray(json) && !json->child)
		return 1;
	if (cJSON_IsArray(json))
		json = json->child;
	for (size_t i = 0; i < sizeof key / sizeof *key; i++)
		if (has(json, key[i]))
			return 1;
	return 0;
}

static int is_manifest(const cJSON *json)
{
	return has(json, "pass") || has(json, "project") || has(json, "format");
}

static int ends_in(const char *path, const char *const ending[])
{
	const char *dot = strrchr(fs_basename(path), '.');
	for (size_t i = 0; dot && ending[i]; i++)
		if (strcasecmp(dot, ending[i]) == 0)
			return 1;
	return 0;
}

/* Whether the text defines or declares one of the site's entry points. */
static int has_entry(const struct buf *bytes)
{
	struct glsl g = { 0 };
	int found = 0;
	glsl_lex(&g, buf_str(bytes), bytes->len);
	for (size_t i = 0; i < g.ntoken && !found; i++)
		found = glsl_is(&g, i, "mainImage") || glsl_is(&g, i, "mainCubemap") ||
		    glsl_is(&g, i, "mainSound");
	glsl_release(&g);
	return found;
}

static int recognise_json(const char *path, const struct buf *bytes, enum document *out,
    struct err *err)
{
	struct doc doc = { 0 };
	int rc = 0;
	/* Comments are taken: stbuild.json may have them. */
	if (json_read(path, buf_str(bytes), bytes->len, JSON_COMMENTS, &doc, err) < 0)
		return -1;
	const cJSON *json = doc.root;
	if (has(json, "nodes") && has(json, "links"))
		*out = DOCUMENT_STTF;
	else if (has(json, "artifacts"))
		*out = DOCUMENT_BUNDLE;
	else if (is_shadertoy(json))
		*out = DOCUMENT_SHADERTOY;
	else if (has(json, "pass"))
		*out = DOCUMENT_MANIFEST;
	else
		rc = err_set(err, STATUS_INPUT, "'%s' %s", path, unknown);
	doc_release(&doc);
	return rc;
}

/* The name decides when both syntaxes fail. */
static int recognise_toml(const char *path, const struct buf *bytes, enum document *out,
    struct err *err)
{
	static const char *const toml[] = { ".toml", NULL };
	struct doc doc = { 0 };
	struct err toml_err = ERR_INIT;
	int is_named = ends_in(path, toml);
	int is_read = !toml_read(path, buf_str(bytes), bytes->len, &doc, &toml_err);
	int rc = 0;
	if (is_read && (is_named || is_manifest(doc.root))) {
		*out = DOCUMENT_MANIFEST;
	} else if (!is_read && is_named) {
		err_move(err, &toml_err);
		rc = -1;
	} else {
		rc = err_set(err, STATUS_INPUT, "'%s' %s", path, unknown);
	}
	err_release(&toml_err);
	doc_release(&doc);
	return rc;
}

int recognise(const char *path, const struct buf *bytes, enum document *out,
    struct err *err)
{
	static const char *const shader[] = { ".frag", ".glsl", ".fs", ".fsh",
		".fragment", ".shader", ".essl", NULL };
	static const char *const json[] = { ".json", ".sttf", ".sttrace", NULL };
	const char *content = image_content(buf_str(bytes), bytes->len);
	const char *text = buf_str(bytes);
	size_t start = strncmp(text, "\xef\xbb\xbf", 3) ? 0 : 3;
	start += strspn(text + start, " \t\r\n");
	if (start >= bytes->len)
		return err_set(err, STATUS_INPUT, "'%s' is empty", path);
	if (content && strcmp(content, "HTML") == 0)
		return err_set(err, STATUS_INPUT,
		    "'%s' is an HTML page, not a Shadertoy "
		    "export: save what the site's API or its export gives",
		    path);
	if (content)
		return err_set(err, STATUS_INPUT, "'%s' %s: it is %s", path, unknown,
		    content);
	int is_json = text[start] == '{' || text[start] == '[' || ends_in(path, json);
	if (!ends_in(path, shader) && is_json)
		return recognise_json(path, bytes, out, err);
	if (has_entry(bytes)) {
		*out = DOCUMENT_SHADER;
		return 0;
	}
	if (ends_in(path, shader))
		return err_set(err, STATUS_INPUT,
		    "'%s' has no mainImage: a shader begins "
		    "with 'void mainImage(out vec4 fragColor, in vec2 fragCoord)'",
		    path);
	/* A comment can stand before the brace. */
	if (text[start] == '/')
		return recognise_json(path, bytes, out, err);
	return recognise_toml(path, bytes, out, err);
}

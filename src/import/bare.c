#include "import/import.h"

#include <string.h>
#include <cjson/cJSON.h>

#include "glsl/glsl.h"
#include "glsl/source.h"
#include "project/doc.h"
#include "util/buf.h"
#include "util/fs.h"
#include "util/limits.h"
#include "util/log.h"
#include "util/mem.h"

/* What shows a cubemap, or stands beside a sound: every project has an image. */
static const char show_cubemap[] =
    "// Looks around in the cubemap.\n"
    "void mainImage(out vec4 fragColor, in vec2 fragCoord)\n"
    "{\n"
    "\tvec2 angle = fragCoord / iResolution.xy * vec2(6.2831853, 3.1415927);\n"
    "\tvec2 around = sin(angle.y) * vec2(sin(angle.x), cos(angle.x));\n"
    "\tvec3 d = vec3(around.x, -cos(angle.y), around.y);\n"
    "\tfragColor = vec4(texture(iChannel0, d).rgb, 1.0);\n"
    "}\n";
static const char show_nothing[] =
    "void mainImage(out vec4 fragColor, in vec2 fragCoord)\n"
    "{\n"
    "\tfragColor = vec4(0.0, 0.0, 0.0, 1.0);\n"
    "}\n";

/* The kind of pass that a source is, by its entry point. */
static const char *kind_of(const struct glsl *g)
{
	static const struct {
		const char *entry, *kind;
	} row[] = {
		{ "mainImage", "image" },
		{ "mainCubemap", "cubemap" },
		{ "mainSound", "sound" },
	};
	for (size_t k = 0; k < sizeof row / sizeof *row; k++)
		for (size_t i = 0; i + 1 < g->ntoken; i++)
			if (glsl_is(g, i, row[k].entry) && glsl_is(g, i + 1, "("))
				return row[k].kind;
	return "image"; /* the entry is made by a macro */
}

static void warn_unbound(const char *path, const struct glsl *g)
{
	struct buf list = BUF_INIT;
	for (int c = 0; c < LIMIT_CHANNELS; c++) {
		char name[32];
		snprintf(name, sizeof name, "iChannel%d", c);
		for (size_t i = 0; i < g->ntoken; i++) {
			if (!glsl_is(g, i, name))
				continue;
			buf_addf(&list, "%s%s", list.len ? ", " : "", name);
			break;
		}
	}
	if (list.len)
		log_warn("%s: %s: nothing is bound; add inputs to stbuild.json", path,
		    buf_str(&list));
	buf_release(&list);
}

/* Adds the shader and what it includes, with their paths. */
static int add_sources(struct tree *from, const char *base, struct tree *to,
    struct source *source, struct err *err)
{
	struct inputs inputs = { 0 };
	struct source_request request = { .path = base,
		.notes_inactive = 1,
		.macros = { 1, 300, "#define HW_PERFORMANCE 1\n" } };
	int rc = source_expand(from, &request, &inputs, source, err);
	for (size_t i = 0; i < inputs.ninput && !rc; i++) {
		struct buf bytes = BUF_INIT;
		if (inputs.input[i].is_absent)
			continue;
		rc = tree_read(from, inputs.input[i].path, LIMIT_SOURCE_BYTES, &bytes,
		    err);
		char *path = xasprintf("shaders/%s", inputs.input[i].path);
		if (!rc)
			tree_memory_add(to, path, buf_str(&bytes), bytes.len);
		free(path);
		buf_release(&bytes);
	}
	inputs_release(&inputs);
	return rc;
}

static void add_pass(cJSON *list, const char *name, const char *kind, const char *source)
{
	cJSON *pass = cJSON_CreateObject();
	cJSON_AddStringToObject(pass, "name", name);
	cJSON_AddStringToObject(pass, "kind", kind);
	cJSON_AddStringToObject(pass, "source", source);
	cJSON_AddItemToArray(list, pass);
}

/* The manifest; an image pass of ours where the shader is none. */
static void add_manifest(struct tree *to, const char *base, const char *name,
    const char *kind)
{
	struct buf text = BUF_INIT;
	cJSON *manifest = cJSON_CreateObject();
	cJSON_AddNumberToObject(manifest, "format", 1);
	cJSON *project = cJSON_AddObjectToObject(manifest, "project");
	cJSON_AddStringToObject(project, "name", name);
	cJSON *shader = cJSON_AddObjectToObject(manifest, "shader");
	cJSON_AddStringToObject(shader, "dialect", "essl");
	cJSON *list = cJSON_AddArrayToObject(manifest, "pass");
	char *source = xasprintf("shaders/%s", base);
	add_pass(list, kind, kind, source);
	if (strcmp(kind, "image") != 0) {
		int is_cubemap = strcmp(kind, "cubemap") == 0;
		const char *show = is_cubemap ? show_cubemap : show_nothing;
		const char *path = strcmp(base, "image.frag") ? "shaders/image.frag"
							      : "shaders/show.frag";
		add_pass(list, "image", "image", path);
		tree_memory_add(to, path, show, strlen(show));
		if (is_cubemap) {
			cJSON *inputs =
			    cJSON_AddArrayToObject(list->child->next, "input");
			cJSON *input = cJSON_CreateObject();
			cJSON_AddNumberToObject(input, "channel", 0);
			cJSON_AddStringToObject(input, "source", "cubemap");
			cJSON_AddItemToArray(inputs, input);
		}
	}
	json_write(manifest, &text);
	tree_memory_add(to, "stbuild.json", buf_str(&text), text.len);
	free(source);
	cJSON_Delete(manifest);
	buf_release(&text);
}

int bare_read(const char *path, const char *name, struct tree **out, struct err *err)
{
	char *dir = fs_dirname(path);
	const char *base = fs_basename(path);
	struct tree *from = NULL, *to = NULL;
	struct source source = { 0 };
	struct glsl g = { 0 };
	int rc = -1;
	*out = NULL;
	json_init();
	if (tree_open_dir(dir, NULL, &from, err) < 0)
		goto out;
	to = tree_new_memory(path);
	if (add_sources(from, base, to, &source, err) < 0)
		goto out;
	glsl_lex(&g, source.text, source.ntext);
	add_manifest(to, base, name, kind_of(&g));
	warn_unbound(path, &g);
	*out = to;
	to = NULL;
	rc = 0;
out:
	glsl_release(&g);
	source_release(&source);
	tree_free(to);
	tree_free(from);
	free(dir);
	return rc;
}

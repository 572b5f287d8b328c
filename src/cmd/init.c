#include <string.h>

#include "cmd/cmd.h"
#include "cmd/output.h"
#include "util/utf8.h"
#include "util/buf.h"
#include "util/fs.h"
#include "util/mem.h"

static const char manifest_head[] = "{\n"
				    "\t\"format\": 1,\n"
				    "\t\"project\": { \"name\": ";

/*
 * Plain JSON, so that every editor reads it. "uniform" has values for the shader,
 * declared for it: uniform float glow. One pass draws the image. "trace" is what
 * stbuild keeps up to date, in target/traces.
 */
static const char manifest_tail[] =
    " },\n"
    "\t\"render\": { \"width\": 960, \"height\": 540, \"fps\": 60 },\n"
    "\t\"uniform\": [\n"
    "\t\t{ \"name\": \"glow\", \"type\": \"float\", \"default\": 1.0,\n"
    "\t\t\t\"min\": 0.0, \"max\": 4.0 },\n"
    "\t\t{ \"name\": \"tint\", \"type\": \"vec3\", \"default\": [0.25, 0.45, 0.75] }\n"
    "\t],\n"
    "\t\"pass\": [\n"
    "\t\t{ \"name\": \"image\", \"kind\": \"image\", \"source\": \"shaders/image.frag\" }\n"
    "\t],\n"
    "\t\"trace\": [\n"
    "\t\t{ \"name\": \"hero\", \"frames\": [0, \"60:240:60\"] },\n"
    "\t\t{ \"name\": \"dim\", \"frame\": 120, \"set\": { \"glow\": 0.3 } }\n"
    "\t]\n"
    "}\n";

static const char image_frag[] =
    "// Lanterns adrift over slow water.\n"
    "\n"
    "float hash(float n)\n"
    "{\n"
    "\treturn fract(sin(n * 127.1) * 43758.5453);\n"
    "}\n"
    "\n"
    "vec3 sky(vec2 p)\n"
    "{\n"
    "\treturn mix(vec3(0.02, 0.03, 0.08), tint * 0.35, exp(-3.0 * abs(p.y)));\n"
    "}\n"
    "\n"
    "vec3 lanterns(vec2 p)\n"
    "{\n"
    "\tvec3 sum = vec3(0.0);\n"
    "\tfor (int i = 0; i < 24; i++) {\n"
    "\t\tfloat n = float(i);\n"
    "\t\tfloat far = 0.35 + 0.65 * hash(n);\n"
    "\t\tfloat rise = fract(hash(n + 31.0) + iTime * 0.02 / far);\n"
    "\t\tvec2 at = vec2((hash(n + 57.0) - 0.5) * 2.6, rise * 0.9);\n"
    "\t\tat.x += 0.06 * sin(iTime * 0.5 / far + n);\n"
    "\t\tvec2 d = (p - at) * vec2(1.25, 1.0);\n"
    "\t\tfloat lit = sin(3.14159 * rise) * (0.8 + 0.2 * sin(iTime * 3.0 + n));\n"
    "\t\tvec3 hue = mix(vec3(1.0, 0.45, 0.12), vec3(1.0, 0.75, 0.4), hash(n + 11.0));\n"
    "\t\tsum += hue * lit * 0.00035 / (far * far * dot(d, d) + 0.00012);\n"
    "\t}\n"
    "\treturn sum * glow;\n"
    "}\n"
    "\n"
    "void mainImage(out vec4 fragColor, in vec2 fragCoord)\n"
    "{\n"
    "\tvec2 p = (fragCoord - 0.5 * iResolution.xy) / iResolution.y + vec2(0.0, 0.2);\n"
    "\tvec3 color;\n"
    "\tif (p.y > 0.0) {\n"
    "\t\tcolor = sky(p) + lanterns(p);\n"
    "\t} else {\n"
    "\t\t// The same, upside down, bent by waves that shrink with distance.\n"
    "\t\tfloat depth = 0.05 / (0.02 - p.y);\n"
    "\t\tfloat wave = sin(depth * 40.0 + iTime * 2.0)\n"
    "\t\t\t+ sin(depth * 17.0 - iTime + p.x * 9.0);\n"
    "\t\tvec2 q = vec2(p.x + 0.006 * wave, -p.y * (1.4 + 0.12 * wave));\n"
    "\t\tcolor = (sky(q) + lanterns(q)) * vec3(0.45, 0.55, 0.65);\n"
    "\t}\n"
    "\tcolor = 1.0 - exp(-1.6 * color);\n"
    "\tfragColor = vec4(pow(color, vec3(0.4545)), 1.0);\n"
    "}\n";

/* The folder's name, or "project" where that says nothing. */
static char *project_name(const char *dir)
{
	char *real = realpath(dir, NULL);
	const char *base = real ? fs_basename(real) : "";
	/* A name that no JSON can hold is none. */
	int is_usable = *base && strcmp(base, "/") != 0 &&
	    utf8_invalid(base, strlen(base)) == strlen(base);
	char *name = xstrdup(is_usable ? base : "project");
	free(real);
	return name;
}

static int refuse_existing(const char *dir, struct err *err)
{
	static const char *const taken[] = { "stbuild.json", "stbuild.toml",
		"ShaderToy.toml", "shaders/image.frag" };
	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
		char *path = fs_join(dir, taken[i]);
		int exists = fs_exists(path);
		if (exists)
			err_set(err, STATUS_INPUT,
			    "'%s' already exists; "
			    "nothing was written",
			    path);
		free(path);
		if (exists)
			return -1;
	}
	return 0;
}

int cmd_init(struct options *o, const struct args_list *operand, struct err *err)
{
	if (o->dry_run)
		return err_set(err, STATUS_INPUT,
		    "init only writes files: "
		    "omit -n and -q");
	const char *dir = operand->nitem ? operand->item[0] : ".";
	char *shaders = fs_join(dir, "shaders");
	char *frag = fs_join(shaders, "image.frag");
	char *path = fs_join(dir, "stbuild.json");
	char *name = NULL, *quoted = NULL;
	struct buf text = BUF_INIT;
	cJSON *string = NULL;
	int rc = -1;
	if (refuse_existing(dir, err) < 0)
		goto out;
	if (fs_mkdirs(shaders, err) < 0)
		goto out;
	name = project_name(dir);
	string = cJSON_CreateString(name);
	quoted = cJSON_PrintUnformatted(string);
	buf_addstr(&text, manifest_head);
	buf_addstr(&text, quoted);
	buf_addstr(&text, manifest_tail);
	/* The manifest comes last: it is what makes a folder a project. */
	if (fs_write(frag, image_frag, sizeof image_frag - 1, 0, err) < 0 ||
	    fs_write(path, text.data, text.len, 0, err) < 0)
		goto out;
	if (o->json) {
		cJSON *document = json_start("init");
		cJSON_AddStringToObject(document, "project", name);
		cJSON *files = cJSON_AddArrayToObject(document, "files");
		cJSON_AddItemToArray(files, cJSON_CreateString(frag));
		cJSON_AddItemToArray(files, cJSON_CreateString(path));
		json_print(document);
	} else if (!o->silent && !o->question) {
		printf("%s\n%s\n", frag, path);
	}
	rc = STATUS_OK;
out:
	cJSON_Delete(string);
	cJSON_free(quoted);
	buf_release(&text);
	free(name);
	free(path);
	free(frag);
	free(shaders);
	return rc;
}

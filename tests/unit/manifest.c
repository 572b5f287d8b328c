#include <stdlib.h>

#include "project/manifest.h"
#include "util/buf.h"
#include "util/fs.h"
#include "util/mem.h"
#include "test.h"

/* Valid; the rows below change one thing each. */
static const char skeleton[] =
    "{\"format\": 1, \"project\": {\"name\": \"p\"},\n"
    "\"render\": {\"width\": 640, \"height\": 360, \"fps\": 30},\n"
    "\"shader\": {\"include_dirs\": [\"inc\"]},\n"
    "\"uniform\": [{\"name\": \"speed\", \"type\": \"float\", \"default\": 1,\n"
    "  \"min\": 0, \"max\": 2, \"step\": 0.5},\n"
    " {\"name\": \"count\", \"type\": \"int\", \"default\": 3},\n"
    " {\"name\": \"on\", \"type\": \"bool\", \"default\": true},\n"
    " {\"name\": \"color\", \"type\": \"vec3\", \"default\": [0, 0.5, 1]}],\n"
    "\"asset\": [{\"name\": \"tex\", \"kind\": \"texture\", \"path\": \"a.png\"}],\n"
    "\"pass\": [\n"
    " {\"name\": \"sim\", \"kind\": \"compute\", \"source\": \"s.glsl\",\n"
    "  \"width\": 64, \"height\": 32, \"local_size\": [8, 4, 1],\n"
    "  \"extra_outputs\": [\"r32f\"],\n"
    "  \"storage\": [{\"binding\": 0, \"name\": \"cells\", \"size\": 64}],\n"
    "  \"input\": [{\"channel\": 0, \"source\": \"sim\", \"frame\": \"previous\"}]},\n"
    " {\"name\": \"buf\", \"kind\": \"buffer\", \"source\": \"b.glsl\"},\n"
    " {\"name\": \"snd\", \"kind\": \"sound\", \"source\": \"n.glsl\"},\n"
    " {\"name\": \"img\", \"kind\": \"image\", \"source\": \"i.glsl\", \"input\": [\n"
    "   {\"channel\": 0, \"source\": \"buf\"},\n"
    "   {\"channel\": 1, \"source\": \"tex\"}]}],\n"
    "\"preset\": {\"half\": {\"render_scale\": 0.5, \"pass\": {\"sim\": {}}}},\n"
    "\"timeline\": [{\"frame\": 4}],\n"
    "\"trace\": [{\"name\": \"hero\", \"frames\": [1]}],\n"
    "\"test\": [{\"name\": \"t\", \"frame\": 1, \"assert_no_nan\": true}],\n"
    "\"store\": {\"max_size\": \"1GiB\"}}\n";

/* The text with the first "find" replaced. The caller's. */
static char *replaced(const char *text, const char *find, const char *with)
{
	const char *at = strstr(text, find);
	if (!at)
		BUG("no '%s' in the skeleton", find);
	return xasprintf("%.*s%s%s", (int)(at - text), text, with, at + strlen(find));
}

static int load_text(const char *text, struct manifest *m, struct errs *errs)
{
	struct doc doc;
	struct err err = ERR_INIT;
	if (json_read("f", text, strlen(text), JSON_COMMENTS, &doc, &err)) {
		errs_take(errs, &err);
		return -1;
	}
	int result = manifest_from_doc(&doc, DIALECT_ESSL, m, errs);
	doc_release(&doc);
	return result;
}

/*
 * One change, one fault: at the '@' in the replacement (which is removed), with
 * this key and this part of the message.
 */
static const struct {
	const char *find, *with, *key, *text;
} faults[] = {
	/* Types, ranges, unknown and missing keys. */
	{ "\"format\": 1", "\"format\": @2", "format", "integer 1" },
	{ "\"format\": 1, ", "@", "format", "'format' is missing" },
	{ "{\"name\": \"p\"}", "@{}", "project.name", "missing" },
	{ "{\"name\": \"p\"}", "@\"p\"", "project", "a table" },
	{ "\"p\"", "@\" \"", "project.name", "blank" },
	{ "\"width\": 640", "\"width\": @640.0", "render.width",
	    "an integer from 1 to 16384, got 640.0" },
	{ "\"width\": 640", "\"width\": @0", "render.width", "got 0" },
	{ "\"width\": 640", "\"width\": @99999", "render.width", "got 99999" },
	{ "\"width\": 640", "\"width\": @\"640\"", "render.width", "got \"640\"" },
	{ "\"width\": 640", "\"width\": @null", "render.width", "got null" },
	{ "\"width\": 640", "@\"widht\": 640", "render.widht",
	    "unknown key 'widht'; did you mean 'width'?" },
	{ "\"width\": 640", "@\"zebra\": 640", "render.zebra", "unknown key 'zebra'" },
	{ "\"fps\": 30", "\"fps\": @0", "render.fps", "above 0 and at most 1000" },
	{ "\"fps\": 30", "\"fps\": @1001", "render.fps", "got 1001" },
	{ "\"fps\": 30", "\"preview_time\": @-1", "render.preview_time", "at least 0" },
	{ "\"fps\": 30", "\"preview_time\": @1e9", "render.preview_time",
	    "beyond frame" },
	{ "\"fps\": 30", "\"date\": @\"2023-02-29\"", "render.date", "a date" },
	{ "\"fps\": 30", "\"date\": @\"2023-02-28T00:00:00+01:00\"", "render.date",
	    "UTC" },
	{ "\"fps\": 30", "\"date\": @5", "render.date", "a date" },
	{ "[\"inc\"]", "[@\"a/../b\"]", "shader.include_dirs[0]", "'..'" },
	{ "[\"inc\"]", "[@\"/b\"]", "shader.include_dirs[0]", "relative" },
	{ "[\"inc\"]", "[@\"C:\\\\b\"]", "shader.include_dirs[0]", "relative" },
	{ "[\"inc\"]", "[@\"a\\\\..\"]", "shader.include_dirs[0]", "'..'" },
	{ "[\"inc\"]", "[@\"  \"]", "shader.include_dirs[0]", "empty" },
	{ "[\"inc\"]", "@\"inc\"", "shader.include_dirs", "a list" },
	{ "\"include_dirs\": [\"inc\"]", "\"dialect\": @\"gsl\"", "shader.dialect",
	    "did you mean 'glsl'?" },
	/* Uniforms. */
	{ "\"speed\", \"type\": \"float\"", "@\"iTime\", \"type\": \"float\"",
	    "uniform[0].name", "reserved" },
	{ "\"speed\", \"type\": \"float\"", "@\"float\", \"type\": \"float\"",
	    "uniform[0].name", "a word of GLSL" },
	{ "\"speed\", \"type\": \"float\"", "@\"gl_x\", \"type\": \"float\"",
	    "uniform[0].name", "starts with gl_" },
	{ "\"speed\", \"type\": \"float\"", "@\"2x\", \"type\": \"float\"",
	    "uniform[0].name", "GLSL identifier" },
	{ "\"speed\", \"type\": \"float\"", "\"speed\", \"type\": @\"vec9\"",
	    "uniform[0].type", "not one of" },
	{ "\"default\": 1,", "\"default\": @3,", "uniform[0].default",
	    "3 is above the maximum 2" },
	{ "\"default\": 1,", "\"default\": @true,", "uniform[0].default",
	    "a number for a float" },
	{ "\"min\": 0", "\"min\": @4", "uniform[0].min", "min is greater than max" },
	{ "\"step\": 0.5", "\"step\": @0", "uniform[0].step", "above 0" },
	{ "\"count\"", "@\"speed\"", "uniform[1].name", "twice" },
	{ "\"default\": 3", "\"default\": @3.0", "uniform[1].default", "an integer" },
	{ "\"default\": 3", "\"default\": 3, \"step\": @0.5", "uniform[1].step",
	    "integer" },
	{ "\"default\": true", "\"default\": true, \"max\": @true", "uniform[2].max",
	    "a bool cannot have max" },
	{ "[0, 0.5, 1]", "@[0, 0.5]", "uniform[3].default",
	    "expected 3 numbers for a vec3, got 2" },
	{ "[0, 0.5, 1]", "[0, 0.5, @1e300]", "uniform[3].default", "3 numbers" },
	/* Assets. */
	{ "{\"name\": \"tex\"",
	    "{\"name\": @\"music\", \"kind\": \"volume\", "
	    "\"path\": \"v\"}, {\"name\": \"tex\"",
	    "asset[0].name", "reserved" },
	{ "\"a.png\"", "@\"../a.png\"", "asset[0].path", "'..'" },
	{ "\"a.png\"", "\"a.png\", \"channels\": @2", "asset[0].channels", "integer 1" },
	{ "\"a.png\"", "\"a.png\", \"vflip\": @1", "asset[0].vflip", "true or false" },
	/* Passes. */
	{ "\"name\": \"snd\"", "\"name\": @\"tex\"", "pass[2].name",
	    "already used on line 9" },
	{ "\"kind\": \"buffer\"", "\"kind\": @\"Buffer\"", "pass[1].kind",
	    "did you mean 'buffer'?" },
	{ "\"source\": \"b.glsl\"", "\"source\": \"b.glsl\", \"width\": @3",
	    "pass[1].width", "width needs height" },
	{ "\"source\": \"n.glsl\"",
	    "\"source\": \"n.glsl\", \"width\": @3, \"height\": 3", "pass[2].width",
	    "cannot have a size of its own" },
	{ "\"width\": 64, \"height\": 32, ", "", "pass[0].kind", NULL },
	{ "\"source\": \"b.glsl\"", "\"source\": \"b.glsl\", \"format\": @\"rgba8\"",
	    "pass[1].format", "not one of" },
	{ "\"source\": \"i.glsl\"", "\"source\": \"i.glsl\", \"format\": @\"r32f\"",
	    "pass[3].format", "cannot have a format of its own" },
	{ "\"source\": \"i.glsl\"",
	    "\"source\": \"i.glsl\", \"extra_outputs\": @[\"r32f\"]",
	    "pass[3].extra_outputs", "cannot have extra outputs" },
	{ "\"extra_outputs\": [\"r32f\"]", "\"extra_outputs\": [@\"r32\"]",
	    "pass[0].extra_outputs[0]", "not one of" },
	{ "\"source\": \"b.glsl\"", "\"source\": \"b.glsl\", \"duration\": @2",
	    "pass[1].duration", "only sound" },
	{ "\"source\": \"n.glsl\"", "\"source\": \"n.glsl\", \"duration\": @0",
	    "pass[2].duration", "above 0" },
	{ "\"source\": \"n.glsl\"", "\"source\": \"n.glsl\", \"duration\": @3601",
	    "pass[2].duration", "at most 3600" },
	{ "\"source\": \"b.glsl\"", "\"source\": \"b.glsl\", \"iterations\": @2",
	    "pass[1].iterations", "only compute" },
	{ "\"source\": \"b.glsl\"", "\"source\": \"b.glsl\", \"local_size\": @[1, 1, 1]",
	    "pass[1].local_size", "only compute" },
	{ "[8, 4, 1]", "@[64, 32, 1]", "pass[0].local_size", "2048 invocations" },
	{ "[8, 4, 1]", "[8, 4, @2]", "pass[0].local_size",
	    "expected the integer 1, got 2" },
	{ "[8, 4, 1]", "@[8, 4]", "pass[0].local_size", "expected 3 integers, got 2" },
	{ "\"size\": 64", "\"size\": @0", "pass[0].storage[0].size", "from 1" },
	{ "\"binding\": 0", "\"binding\": @-1", "pass[0].storage[0].binding", "from 0" },
	{ "\"storage\": [",
	    "\"storage\": @[{\"binding\": 0, \"name\": \"x\", "
	    "\"size\": 1}, ",
	    "pass[0].storage", "binding 0 is used twice" },
	{ "\"source\": \"b.glsl\"",
	    "\"source\": \"b.glsl\", \"storage\": "
	    "[{\"binding\": 0, \"name\": \"cells\", \"size\": @65}]",
	    "pass[1].storage[0].size", "64 bytes in another pass" },
	{ "\"kind\": \"buffer\"", "\"kind\": \"image\"", "pass", NULL },
	{ "\"kind\": \"image\"", "\"kind\": \"buffer\"", "pass", NULL },
	/* Inputs. */
	{ "\"source\": \"buf\"", "\"source\": @\"bif\"", "pass[3].input[0].source",
	    "did you mean 'buf'?" },
	{ "\"source\": \"buf\"", "\"source\": \"buf\", \"kind\": @\"texture\"",
	    "pass[3].input[0].kind", "of kind 'pass'" },
	{ "\"source\": \"tex\"", "\"source\": \"tex\", \"kind\": @\"cubemap\"",
	    "pass[3].input[1].kind", "of kind 'texture'" },
	{ "\"source\": \"tex\"", "\"source\": \"tex\", \"output\": @1",
	    "pass[3].input[1].output", "only passes" },
	{ "\"source\": \"tex\"", "\"source\": \"tex\", \"frame\": @\"previous\"",
	    "pass[3].input[1].frame", "only passes" },
	{ "\"channel\": 1", "\"channel\": @0", "pass[3].input[1].channel", "used twice" },
	{ "\"channel\": 1", "\"channel\": @16", "pass[3].input[1].channel",
	    "from 0 to 15" },
	{ "\"source\": \"buf\"", "\"source\": \"buf\", \"output\": @1",
	    "pass[3].input[0].output", "outputs 0 to 0" },
	{ "\"source\": \"buf\"", "\"source\": @\"snd\"", "pass[3].input[0].source",
	    "a sound pass cannot be an input" },
	{ "\"source\": \"n.glsl\"",
	    "\"source\": \"n.glsl\", \"input\": "
	    "[{\"channel\": 0, \"source\": @\"buf\"}]",
	    "pass[2].input[0].source", "cannot read other passes" },
	{ "\"source\": \"b.glsl\"",
	    "\"source\": \"b.glsl\", \"input\": "
	    "[{\"channel\": 0, \"source\": \"img\", \"frame\": @\"previous\"}]",
	    "pass[1].input[0].frame", "no previous frame to read" },
	{ "\"frame\": \"previous\"", "\"frame\": \"previous\", \"output\": @1",
	    "pass[0].input[0].output", "only output 0" },
	{ "\"source\": \"b.glsl\"",
	    "\"source\": \"b.glsl\", \"input\": "
	    "[{\"channel\": 0, \"source\": \"img\"}]",
	    "pass[3].input[0].source", "buf -> img -> buf" },
	/* Presets. */
	{ "\"render_scale\": 0.5", "\"render_scale\": @100", "preset.half.render_scale",
	    "64000 x 36000" },
	{ "\"sim\": {}", "@\"sin\": {}", "preset.half.pass.sin", "did you mean 'sim'?" },
	{ "\"sim\": {}", "\"buf\": {\"iterations\": @2}",
	    "preset.half.pass.buf.iterations", "only compute" },
	{ "\"sim\": {}", "\"img\": {\"width\": @2, \"height\": 2}",
	    "preset.half.pass.img.width", "cannot have a size of its own" },
	{ "\"half\"", "@\" \"", "preset.\" \"", "blank" },
	/* Timelines and traces. */
	{ "{\"frame\": 4}", "{\"frame\": 4}, {\"frame\": @4}", "timeline[1].frame",
	    "listed twice in the timeline" },
	{ "{\"frame\": 4}", "@{}", "timeline[0].frame", "missing" },
	{ "{\"frame\": 4}", "{\"frame\": 4, \"mouse\": @[1, 2]}", "timeline[0].mouse",
	    "expected 4 numbers for a vec4, got 2" },
	{ "{\"frame\": 4}", "{\"frame\": 4, \"keys\": {\"down\": [@\"hyper\"]}}",
	    "timeline[0].keys.down[0]", "key's name" },
	{ "{\"frame\": 4}", "{\"frame\": 4, \"keys\": {\"down\": [@256]}}",
	    "timeline[0].keys.down[0]", "0 to 255" },
	{ "{\"frame\": 4}", "{\"frame\": 4, \"set\": {@\"sped\": 1}}",
	    "timeline[0].set.sped", "did you mean 'speed'?" },
	{ "{\"frame\": 4}", "{\"frame\": 4, \"set\": {\"speed\": @2.5}}",
	    "timeline[0].set.speed", "above the maximum 2" },
	{ "{\"frame\": 4}", "{\"frame\": 4, \"set\": {\"on\": @1}}", "timeline[0].set.on",
	    "true or false" },
	{ "\"hero\"", "@\".hero\"", "trace[0].name", "not a valid trace name" },
	{ "\"hero\"", "@\"a/b\"", "trace[0].name", "not a valid trace name" },
	{ "{\"name\": \"hero\"", "{\"name\": \"hero\"}, {\"name\": @\"hero\"",
	    "trace[1].name", "already used on line" },
	{ "\"frames\": [1]", "\"frames\": [@\"5:1\"]", "trace[0].frames[0]",
	    "is not a frame number or range" },
	{ "\"frames\": [1]", "\"frames\": [@\"1:5:0\"]", "trace[0].frames[0]",
	    "is not a frame number or range" },
	{ "\"frames\": [1]", "\"frames\": [@-1]", "trace[0].frames[0]", "from 0" },
	{ "\"frames\": [1]", "\"frames\": @[]", "trace[0].frames", "at least one" },
	{ "\"frames\": [1]", "\"frames\": [@\"0:100000000\"]", "trace[0].frames[0]",
	    "more than" },
	{ "\"frames\": [1]", "\"frames\": [1], \"frame\": @1", "trace[0].frame",
	    "mutually exclusive" },
	{ "\"frames\": [1]", "\"time\": @1e30", "trace[0].time", "beyond frame" },
	{ "\"frames\": [1]", "\"preset\": @\"hall\"", "trace[0].preset",
	    "did you mean 'half'?" },
	/* Tests. */
	{ "\"frame\": 1, \"assert", "\"frames\": @[1, 1], \"assert", "test[0].frames",
	    "listed twice" },
	{ "\"frame\": 1, \"assert", "\"width\": @3, \"assert", "test[0].width",
	    "width needs height" },
	{ "\"frame\": 1, \"assert",
	    "\"resolutions\": @[[1, 2]], \"width\": 3, "
	    "\"height\": 3, \"assert",
	    "test[0].resolutions", "mutually exclusive" },
	{ "\"frame\": 1, \"assert", "\"resolutions\": [@[1, 2, 3]], \"assert",
	    "test[0].resolutions[0]", "a width and a height" },
	{ "\"frame\": 1, \"assert", "\"resolutions\": [[1, @0]], \"assert",
	    "test[0].resolutions[0][1]", "from 1" },
	{ "\"frame\": 1, \"assert",
	    "\"frames\": [1, 2], \"reference\": "
	    "@\"r.png\", \"assert",
	    "test[0].reference", "a single reference picture" },
	{ "\"frame\": 1, \"assert",
	    "\"reference\": @\"r.png\", "
	    "\"reference_uniforms\": {}, \"assert",
	    "test[0].reference", "mutually exclusive" },
	{ "\"frame\": 1, \"assert", "\"min_rmse\": @0.5, \"assert", "test[0].min_rmse",
	    "needs reference" },
	{ "\"frame\": 1, \"assert",
	    "\"reference\": \"r.png\", \"min_rmse\": "
	    "@0.5, \"max_rmse\": 0.4, \"assert",
	    "test[0].min_rmse", "greater than max_rmse" },
	{ "\"frame\": 1, \"assert", "\"tolerance\": @1.5, \"assert", "test[0].tolerance",
	    "at most 1" },
	{ "\"frame\": 1, \"assert", "\"mean_range\": @[1, 0], \"assert",
	    "test[0].mean_range", "greater than the upper" },
	{ "\"frame\": 1, \"assert", "\"pass\": @\"snd\", \"assert", "test[0].pass",
	    "no picture" },
	{ "\"frame\": 1, \"assert", "\"pass\": @\"sum\", \"assert", "test[0].pass",
	    "unknown pass" },
	{ "\"frame\": 1, \"assert", "\"max_pass_gpu_ms\": {@\"x\": 1}, \"assert",
	    "test[0].max_pass_gpu_ms.x", "unknown pass" },
	{ "\"frame\": 1, \"assert",
	    "\"max_pass_gpu_ms\": {\"sim\": @-1}, "
	    "\"assert",
	    "test[0].max_pass_gpu_ms.sim", "at least 0" },
	{ "\"frame\": 1, \"assert", "\"uniforms\": {\"count\": @1.5}, \"assert",
	    "test[0].uniforms.count", "an integer" },
	{ "\"frame\": 1, \"assert",
	    "\"storage\": [{\"name\": @\"cell\", "
	    "\"reference\": \"r\"}], \"assert",
	    "test[0].storage[0].name", "did you mean 'cells'?" },
	{ "\"assert_no_nan\": true",
	    "\"assert_resolution_independent\": @true, "
	    "\"pass\": \"sim\"",
	    "test[0].assert_resolution_independent", "two resolutions" },
	{ "\"assert_no_nan\": true",
	    "\"assert_resolution_independent\": @true, "
	    "\"resolutions\": [[1, 1], [2, 2]], \"pass\": \"buf\"",
	    "test[0].assert_resolution_independent", "fixed size" },
	{ "{\"name\": \"t\", \"frame\": 1, \"assert_no_nan\": true}",
	    "@{\"name\": \"t\", \"tolerance\": 0.1}", "test[0]", "checks nothing" },
	{ "{\"name\": \"t\"",
	    "{\"name\": \"t\", \"assert_no_inf\": true}, "
	    "{\"name\": @\"t\"",
	    "test[1].name", "already used on line" },
	/* The store. */
	{ "\"1GiB\"", "@\"1 giga\"", "store.max_size", "10GiB" },
	{ "\"1GiB\"", "@-5", "store.max_size", "number of bytes" },
	{ "\"1GiB\"", "\"1GiB\", \"max_age\": @\"3y\"", "store.max_age", "30d" },
	{ "\"1GiB\"", "\"1GiB\", \"checkpoint\": @\"never\"", "store.checkpoint",
	    "auto" },
	{ "\"1GiB\"", "\"1GiB\", \"checkpoint\": @0", "store.checkpoint", "auto" },
};

static int write_file(const char *folder, size_t i, const char *suffix, const char *text)
{
	char *path = xasprintf("%s/%03zu.%s", folder, i, suffix);
	FILE *f = fopen(path, "w");
	int is_bad = !f || fputs(text, f) < 0 || fclose(f);
	free(path);
	return is_bad;
}

/*
 * For schema.sh: "manifest DIR" writes the skeleton as 000.json, each row's
 * manifest behind it, and beside those what the loader says of them.
 */
static int write_rows(const char *folder)
{
	int is_bad = write_file(folder, 0, "json", skeleton);
	for (size_t i = 1; i <= sizeof faults / sizeof *faults && !is_bad; i++) {
		char *text = replaced(skeleton, faults[i - 1].find, faults[i - 1].with);
		char *mark = strchr(text, '@');
		if (mark)
			memmove(mark, mark + 1, strlen(mark));
		struct manifest m;
		struct errs errs = ERRS_INIT;
		if (!load_text(text, &m, &errs))
			manifest_release(&m);
		char *said = errs.nerr ? err_text(&errs.err[0]) : xstrdup("");
		is_bad = write_file(folder, i, "json", text) ||
		    write_file(folder, i, "said", said);
		errs_release(&errs);
		free(said);
		free(text);
	}
	return is_bad;
}

/* "manifest --load FILE..": for each 1 when it is taken, 0 when not. */
static int load_files(int n, char **path)
{
	for (int i = 0; i < n; i++) {
		struct buf text = BUF_INIT;
		struct err err = ERR_INIT;
		if (fs_read(path[i], 1 << 20, &text, &err))
			return 1;
		struct manifest m;
		struct errs errs = ERRS_INIT;
		int is_taken = !load_text(buf_str(&text), &m, &errs);
		printf("%d %s: %s\n", is_taken, path[i],
		    errs.nerr ? errs.err[0].message : "");
		if (is_taken)
			manifest_release(&m);
		errs_release(&errs);
		buf_release(&text);
	}
	return 0;
}

static void check_faults(void)
{
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
		char *text = replaced(skeleton, faults[i].find, faults[i].with);
		char *mark = strchr(text, '@');
		int line = 1, column = 1;
		for (const char *p = text; mark && p < mark; p++) {
			column = *p == '\n' ? 1 : column + 1;
			line += *p == '\n';
		}
		if (mark)
			memmove(mark, mark + 1, strlen(mark));
		/* A missing key is reported at its table's start. */
		if (faults[i].text && strstr(faults[i].text, "'format'"))
			line = column = 1;
		struct manifest m;
		struct errs errs = ERRS_INIT;
		if (!CHECK_INT(load_text(text, &m, &errs), -1)) {
			fprintf(stderr, "\trow %zu: %s\n", i, faults[i].with);
			manifest_release(&m);
		}
		CHECK_INT(errs.nerr, 1);
		for (size_t k = 0; k < errs.nerr; k++) {
			const struct err *err = &errs.err[k];
			int holds = CHECK_INT(err->status, STATUS_INPUT) &
			    CHECK_STR(err->file, "f") &
			    CHECK_STR(err->key, faults[i].key);
			if (mark)
				holds &= CHECK_INT(err->line, line) &
				    CHECK_INT(err->column, column);
			char *said = err_text(err);
			char *head = xasprintf("f:%d:%d: %s: ", err->line, err->column,
			    faults[i].key);
			holds &= CHECK(strncmp(said, head, strlen(head)) == 0);
			free(said);
			free(head);
			if (faults[i].text)
				holds &= CHECK(strstr(err->message, faults[i].text));
			if (!holds)
				fprintf(stderr, "\trow %zu (%s): %s\n", i, faults[i].with,
				    err->message);
		}
		errs_release(&errs);
		free(text);
	}
}

static void check_values(void)
{
	struct manifest m;
	struct errs errs = ERRS_INIT;
	if (!CHECK(!load_text(skeleton, &m, &errs))) {
		fprintf(stderr, "\t%s\n", errs.err[0].message);
		errs_release(&errs);
		return;
	}
	CHECK_STR(m.name, "p");
	CHECK_INT(m.width, 640);
	CHECK(m.fps == 30 && m.preview_time == 1);
	CHECK_INT(m.date.year, 2000);
	CHECK_INT(m.dialect, DIALECT_ESSL);
	CHECK_INT(m.image, 3);
	CHECK_INT(m.uniform[0].type, VALUE_FLOAT);
	CHECK(m.uniform[0].value.f[0] == 1 && m.uniform[0].max.f[0] == 2);
	CHECK_INT(m.uniform[1].value.i, 3);
	CHECK_INT(m.pass[0].nextra_output, 1);
	CHECK_INT(m.pass[0].extra_output[0], FORMAT_R32F);
	CHECK_INT(m.pass[0].input[0].pass, 0);
	CHECK(m.pass[0].input[0].is_previous);
	CHECK_INT(m.pass[0].storage[0].size, 64);
	CHECK_INT(m.pass[1].format, FORMAT_RGBA32F);
	CHECK_INT(m.pass[1].iterations, 1);
	CHECK_INT(m.pass[3].format, FORMAT_RGBA8);
	CHECK_INT(m.pass[3].input[1].asset, 0);
	CHECK_INT(m.pass[3].input[1].pass, -1);
	CHECK_INT(m.pass[3].input[1].kind, INPUT_TEXTURE);
	CHECK_INT(m.pass[3].input[1].wrap, WRAP_REPEAT);
	CHECK_INT(m.pass[3].line, 18);
	CHECK_INT(m.pass[3].column, 2);
	CHECK_INT(m.trace[0].frame[0], 1);
	CHECK(m.has_traces);
	CHECK_INT(m.test[0].pass, -1);
	CHECK(m.test[0].tolerance == 0.002);
	CHECK(m.store_max_size == (uint64_t)1 << 30);
	CHECK_INT(manifest_pass(&m, "snd"), 2);
	CHECK_INT(manifest_pass(&m, "tex"), -1);
	CHECK_INT(manifest_preset(&m, "half"), 0);
	manifest_release(&m);
}

/* Each gives the frames of trace "hero". */
static void check_frames(void)
{
	static const struct {
		const char *with;
		int frame[6], n;
	} row[] = {
		{ "\"frames\": [7, 3, \"3:9:3\", \"1\", \"8, 20\"]", { 1, 3, 6, 7, 8, 9 },
		    7 },
		{ "\"frame\": 12", { 12 }, 1 },
		{ "\"time\": 0.05", { 2 }, 1 }, /* 1.5 rounds away */
		{ "\"fps\": 10, \"time\": 2", { 20 }, 1 },
		{ "\"fps\": 10", { 10 }, 1 }, /* preview_time */
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		char *text = replaced(skeleton, "\"frames\": [1]", row[i].with);
		struct manifest m;
		struct errs errs = ERRS_INIT;
		if (CHECK(!load_text(text, &m, &errs))) {
			CHECK_INT(m.trace[0].nframe, row[i].n);
			for (int k = 0; k < row[i].n && k < 6; k++)
				CHECK_INT(m.trace[0].frame[k], row[i].frame[k]);
			manifest_release(&m);
		}
		errs_release(&errs);
		free(text);
	}
	char *text = replaced(skeleton,
	    "\"trace\": [{\"name\": \"hero\", \"frames\": [1]}],\n", "");
	struct manifest m;
	struct errs errs = ERRS_INIT;
	if (CHECK(!load_text(text, &m, &errs))) {
		CHECK(!m.has_traces);
		CHECK_INT(m.ntrace, 1);
		CHECK_STR(m.trace[0].name, "default");
		CHECK_INT(m.trace[0].frame[0], 30);
		manifest_release(&m);
	}
	free(text);
}

static void check_units(void)
{
	static const struct {
		const char *with;
		double size, age;
	} row[] = {
		{ "500", 500, 0 },
		{ "\"500MB\"", 5e8, 0 },
		{ "\"1.5 kib\"", 1536, 0 },
		{ "\"7\"", 7, 0 },
		{ "\"2TiB\"", 2199023255552.0, 0 },
		{ "1, \"max_age\": \"30d\"", 1, 2592000 },
		{ "1, \"max_age\": \"12h\"", 1, 43200 },
		{ "1, \"max_age\": 90", 1, 90 },
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		char *text = replaced(skeleton, "\"1GiB\"", row[i].with);
		struct manifest m;
		struct errs errs = ERRS_INIT;
		if (CHECK(!load_text(text, &m, &errs))) {
			CHECK((double)m.store_max_size == row[i].size);
			CHECK(m.store_max_age_s == row[i].age);
			manifest_release(&m);
		}
		errs_release(&errs);
		free(text);
	}
}

static void check_all_reported(void)
{
	struct buf text = BUF_INIT;
	buf_addstr(&text,
	    "{\"format\": 1, \"project\": {\"name\": \"p\"},\n"
	    "\"render\": {\"width\": 0, \"hight\": 3},\n"
	    "\"pass\": [{\"name\": \"a\", \"kind\": \"image\", \"source\": \"\\u001b\"}],\n"
	    "\"trace\": [\n");
	for (int i = 0; i < 200; i++)
		buf_addf(&text, "%s{\"name\": \"t%d\", \"preset\": \"\\u001b[1m\"}",
		    i ? ",\n" : "", i);
	buf_addstr(&text, "]}");
	struct manifest m;
	struct errs errs = ERRS_INIT;
	CHECK_INT(load_text(text.data, &m, &errs), -1);
	if (CHECK_INT(errs.nerr, 101)) {
		CHECK_STR(errs.err[0].key, "render.width");
		CHECK_STR(errs.err[1].key, "render.hight");
		CHECK_STR(errs.err[2].key, "trace[0].preset");
		CHECK_INT(errs.err[2].line, 5);
		/* Nothing that a terminal would obey. */
		CHECK_STR(errs.err[2].message, "unknown preset '?[1m'");
		CHECK_STR(errs.err[100].message, "and 102 more");
	}
	errs_release(&errs);
	buf_release(&text);
}

static void check_reserved(void)
{
	static const struct {
		const char *name;
		int glsl, essl;
	} row[] = {
		{ "iTime", 1, 1 },
		{ "iSampleRate", 1, 1 },
		{ "iChannel0", 1, 1 },
		{ "iChannel15", 1, 1 },
		{ "iChannel16", 0, 0 },
		{ "iChannel01", 0, 0 },
		{ "iOutput", 1, 1 },
		{ "iOutput7", 1, 1 },
		{ "iOutput8", 0, 0 },
		{ "iAudioBass", 1, 0 },
		{ "iMusicMeta", 1, 0 },
		{ "iCh3", 0, 1 },
		{ "iCh4", 0, 0 },
		{ "speed", 0, 0 },
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		CHECK_INT(uniform_is_reserved(row[i].name, DIALECT_GLSL), row[i].glsl);
		CHECK_INT(uniform_is_reserved(row[i].name, DIALECT_ESSL), row[i].essl);
	}
}

/* Written and loaded again it is written the same. */
static void check_written(void)
{
	static const char *const with[] = {
		"\"frames\": [1]",
		"\"frames\": [0, 2, 4, 9, 10, 30], \"preset\": \"half\", \"width\": 5,"
		" \"fps\": 29.97, \"set\": {\"color\": [1, 0.1, 0], \"on\": false},"
		" \"include_intermediates\": true, \"timeline\": []",
		"\"timeline\": [{\"frame\": 9, \"mouse\": [1, 2, -3, 0.5]},"
		" {\"frame\": 2, \"keys\": {\"down\": [\"a\", \"left\", 200,"
		" \"f12\"]}, \"set\": {\"count\": 7}},"
		" {\"frame\": 3, \"keys\": {\"down\": []}}]",
		"\"frame\": 3}], \"test\": [{\"name\": \"x\", \"frames\": [1, 2],"
		" \"resolutions\": [[9, 8], [1, 2]], \"pass\": \"sim\","
		" \"tolerance\": 0.002, \"mean_range\": [-1, 1],"
		" \"max_gpu_ms\": 0, \"max_pass_gpu_ms\": {\"sim\": 2.5},"
		" \"uniforms\": {\"speed\": 1}, \"reference_uniforms\": {},"
		" \"storage\": [{\"name\": \"cells\", \"reference\": \"c.bin\"}],"
		" \"assert_resolution_independent\": true}]}//",
	};
	for (size_t i = 0; i < sizeof with / sizeof *with; i++) {
		char *text = replaced(skeleton, "\"frames\": [1]", with[i]);
		struct manifest m;
		struct errs errs = ERRS_INIT;
		cJSON *first = NULL, *second = NULL;
		char *printed = NULL;
		if (i == 3) {
			/* What is behind it in the skeleton is cut off. */
			strstr(text, "}//")[1] = '\0';
		}
		if (CHECK(!load_text(text, &m, &errs))) {
			first = manifest_to_json(&m, MANIFEST_ALL);
			manifest_release(&m);
			printed = cJSON_Print(first);
		} else {
			fprintf(stderr, "\t%s\n", errs.err[0].message);
		}
		if (printed && CHECK(!load_text(printed, &m, &errs))) {
			second = manifest_to_json(&m, MANIFEST_ALL);
			CHECK(cJSON_Compare(first, second, 1));
			manifest_release(&m);
		}
		if (first && i == 1) {
			const cJSON *trace = cJSON_GetObjectItem(first, "trace");
			char *frames = cJSON_PrintUnformatted(
			    cJSON_GetObjectItem(trace->child, "frames"));
			CHECK_STR(frames, "[\"0:4:2\",9,10,30]");
			free(frames);
			CHECK(cJSON_GetObjectItem(trace->child, "timeline"));
			CHECK(!cJSON_GetObjectItem(trace->child, "height"));
		}
		errs_release(&errs);
		free(printed);
		free(text);
		cJSON_Delete(first);
		cJSON_Delete(second);
	}
}

static void check_sections(void)
{
	struct manifest m;
	struct errs errs = ERRS_INIT;
	if (!CHECK(!load_text(skeleton, &m, &errs)))
		return;
	cJSON *json = manifest_to_json(&m, MANIFEST_PROJECT);
	CHECK_STR(json->child->string, "format");
	CHECK(cJSON_GetObjectItem(json, "project"));
	CHECK(cJSON_GetObjectItem(json, "pass"));
	CHECK(!cJSON_GetObjectItem(json, "trace"));
	CHECK(!cJSON_GetObjectItem(json, "test"));
	CHECK(!cJSON_GetObjectItem(json, "store"));
	cJSON_Delete(json);
	manifest_release(&m);
}

/* A thousand steps and 10,000 traces: nothing in it is quadratic. */
static void check_large(void)
{
	struct buf list = BUF_INIT;
	for (int i = 0; i < 10000; i++)
		buf_addf(&list,
		    "%s{\"name\": \"t%d\", \"frames\": [%d, \"%d:%d\"],"
		    " \"set\": {\"speed\": 1}}",
		    i ? "," : "", i, i, i, i + 9);
	char *text =
	    replaced(skeleton, "{\"name\": \"hero\", \"frames\": [1]}", buf_str(&list));
	struct manifest m;
	struct errs errs = ERRS_INIT;
	if (CHECK(!load_text(text, &m, &errs))) {
		CHECK_INT(m.ntrace, 10000);
		CHECK_INT(m.trace[9999].nframe, 10);
		CHECK_INT(manifest_trace(&m, "t9998"), 9998);
		manifest_release(&m);
	}
	errs_release(&errs);
	buf_release(&list);
	free(text);
}

static void check_root(void)
{
	static const char *const text[] = {
		"[]",
		"1",
		"\"x\"",
		"{}",
		"{\"pass\": 1, \"asset\": {}, \"uniform\": \"\", \"trace\": null}",
		"{\"format\": 1, \"project\": {\"name\": \"p\"}, \"pass\": []}",
		"{\"pass\": [1, [], {}], \"asset\": [null], \"test\": [{\"pass\": \"\"}]}",
	};
	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		struct manifest m;
		struct errs errs = ERRS_INIT;
		CHECK_INT(load_text(text[i], &m, &errs), -1);
		CHECK(errs.nerr > 0);
		errs_release(&errs);
	}
}

static void check_tree(void)
{
	static const char toml[] = "format = 1\n"
				   "[project]\n"
				   "name = \"p\"\n"
				   "[[asset]]\n"
				   "name = \"tex\"\n"
				   "kind = \"texture\"\n"
				   "path = \"img\\\\a.png\"\n"
				   "[[pass]]\n"
				   "name = \"img\"\n"
				   "kind = \"image\"\n"
				   "source = \"i.glsl\"\n";
	struct tree *tree = tree_new_memory("memory");
	struct err err = ERR_INIT;
	char *path = NULL;
	CHECK(!manifest_find(tree, &path, &err));
	CHECK(!path);
	tree_memory_add(tree, "ShaderToy.toml", toml, strlen(toml));
	tree_memory_add(tree, "i.glsl", "x", 1);
	if (CHECK(!manifest_find(tree, &path, &err)))
		CHECK_STR(path, "ShaderToy.toml");
	struct inputs inputs = { 0 };
	struct manifest m;
	struct errs errs = ERRS_INIT;
	CHECK_INT(manifest_load(tree, path, &inputs, &m, &errs), -1);
	if (CHECK_INT(errs.nerr, 1)) {
		CHECK_STR(errs.err[0].key, "asset[0].path");
		CHECK_INT(errs.err[0].line, 7);
		CHECK_INT(errs.err[0].column, 8);
		CHECK_STR(errs.err[0].message, "file 'img/a.png' does not exist");
	}
	errs_release(&errs);
	inputs_release(&inputs);
	tree_memory_add(tree, "img/a.png", "y", 1);
	inputs = (struct inputs){ 0 };
	if (CHECK(!manifest_load(tree, path, &inputs, &m, &errs))) {
		struct sha256 sha;
		CHECK_INT(m.dialect, DIALECT_GLSL);
		CHECK_STR(m.path, "ShaderToy.toml");
		sha256_of(toml, strlen(toml), &sha);
		CHECK(sha256_equal(&m.sha, &sha));
		CHECK_INT(m.pass[0].line, 8);
		CHECK_INT(m.pass[0].column, 1);
		manifest_release(&m);
	}
	if (CHECK_INT(inputs.ninput, 3)) {
		CHECK_STR(inputs.input[0].path, "ShaderToy.toml");
		CHECK_STR(inputs.input[1].path, "img/a.png");
		CHECK_STR(inputs.input[2].path, "i.glsl");
	}
	inputs_release(&inputs);
	errs_release(&errs);
	err_release(&err);
	free(path);
	tree_free(tree);
}

/* Every key that the loader takes is in the schema: an odd one is refused. */
static void check_schema(void)
{
	cJSON *schema = manifest_schema();
	const cJSON *at = schema;
	static const char *const path[] = {
		"properties",
		"pass",
		"items",
		"properties",
		"input",
		"items",
		"properties",
		"channel",
		"maximum",
	};
	for (size_t i = 0; i < sizeof path / sizeof *path && CHECK(at); i++)
		at = cJSON_GetObjectItemCaseSensitive(at, path[i]);
	CHECK(at && at->valuedouble == 15);
	CHECK(cJSON_IsFalse(cJSON_GetObjectItem(schema, "additionalProperties")));
	CHECK_INT(cJSON_GetArraySize(cJSON_GetObjectItem(schema, "required")), 3);
	const cJSON *render =
	    cJSON_GetObjectItem(cJSON_GetObjectItem(cJSON_GetObjectItem(schema,
							"properties"),
				    "render"),
		"properties");
	const cJSON *width = cJSON_GetObjectItem(render, "width");
	CHECK_INT(cJSON_GetObjectItem(width, "default")->valuedouble, 1280);
	cJSON_Delete(schema);
}

int main(int argc, char **argv)
{
	if (argc == 2)
		return write_rows(argv[1]);
	if (argc > 2)
		return load_files(argc - 2, argv + 2);
	check_faults();
	check_values();
	check_frames();
	check_units();
	check_all_reported();
	check_reserved();
	check_written();
	check_sections();
	check_large();
	check_root();
	check_tree();
	check_schema();
	return test_done();
}

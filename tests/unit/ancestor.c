/*
 * ShaderToy.toml, format 1: what loads and what does not, at both ends of each
 * limit. A row changes one thing in a manifest that loads.
 */

#include <stdlib.h>

#include "project/manifest.h"
#include "util/buf.h"
#include "util/mem.h"
#include "test.h"

static const char skeleton[] = "format = 1\n"
			       "[project]\n"
			       "name = \"p\"\n"
			       "#project\n"
			       "[render]\n"
			       "#render\n"
			       "[shader]\n"
			       "#shader\n"
			       "[[uniform]]\n"
			       "name = \"gain\"\n"
			       "type = \"float\"\n"
			       "default = 1\n"
			       "#uniform\n"
			       "[[uniform]]\n"
			       "name = \"count\"\n"
			       "type = \"int\"\n"
			       "default = 3\n"
			       "#int\n"
			       "[[uniform]]\n"
			       "name = \"on\"\n"
			       "type = \"bool\"\n"
			       "default = true\n"
			       "#bool\n"
			       "[[uniform]]\n"
			       "name = \"tint\"\n"
			       "type = \"vec3\"\n"
			       "default = [0, 0.5, 1]\n"
			       "#vec3\n"
			       "[[asset]]\n"
			       "name = \"tex\"\n"
			       "kind = \"texture\"\n"
			       "path = \"a.png\"\n"
			       "[[asset]]\n"
			       "name = \"sky\"\n"
			       "kind = \"cubemap\"\n"
			       "path = \"sky.png\"\n"
			       "[[asset]]\n"
			       "name = \"film\"\n"
			       "kind = \"video\"\n"
			       "path = \"film.mp4\"\n"
			       "[[pass]]\n"
			       "name = \"sim\"\n"
			       "kind = \"compute\"\n"
			       "source = \"sim.comp\"\n"
			       "width = 64\n"
			       "height = 32\n"
			       "#sim\n"
			       "[[pass]]\n"
			       "name = \"buf\"\n"
			       "kind = \"buffer\"\n"
			       "source = \"buf.frag\"\n"
			       "#buf\n"
			       "[[pass]]\n"
			       "name = \"env\"\n"
			       "kind = \"cubemap\"\n"
			       "source = \"env.frag\"\n"
			       "#env\n"
			       "[[pass]]\n"
			       "name = \"song\"\n"
			       "kind = \"sound\"\n"
			       "source = \"song.frag\"\n"
			       "#song\n"
			       "[[pass]]\n"
			       "name = \"img\"\n"
			       "kind = \"image\"\n"
			       "source = \"img.frag\"\n"
			       "#img\n"
			       "#more\n";

#define INPUT "[[pass.input]]\nchannel = 0\n"
#define STORE "[[pass.storage]]\nbinding = 0\nname = \"s\"\n"
#define TEST "[[test]]\nname = \"t\"\n"

struct row {
	int rule;
	int loads;
	const char *find, *with;
};

static const struct row rows[] = {
	{ 0, 1, "#more", "" },
	/* Values and keys. */
	{ 1, 0, "#render", "width = 640.0" },
	{ 1, 1, "#render", "fps = 30" },
	{ 1, 0, "#project", "licence = \"x\"" },
	{ 1, 0, "#img", INPUT "source = \"tex\"\nmode = \"x\"" },
	{ 2, 0, "format = 1", "format = 2" },
	{ 2, 0, "format = 1", "format = 1.0" },
	{ 2, 0, "format = 1", "" },
	{ 3, 0, "name = \"p\"", "name = \" \"" },
	{ 3, 1, "#project",
	    "author = \"\"\ndescription = \"d\"\nsource_url = \"u\"\n"
	    "source_id = \"i\"" },
	{ 3, 0, "#project", "author = 1" },
	{ 4, 1, "#render", "width = 1\nheight = 1" },
	{ 4, 1, "#render", "width = 16384\nheight = 16384" },
	{ 4, 0, "#render", "width = 0" },
	{ 4, 0, "#render", "height = 16385" },
	{ 4, 0, "#render", "width = -1" },
	{ 4, 1, "#render", "fps = 1000" },
	{ 4, 1, "#render", "fps = 0.001" },
	{ 4, 0, "#render", "fps = 0" },
	{ 4, 0, "#render", "fps = 1000.01" },
	{ 4, 0, "#render", "fps = nan" },
	{ 4, 0, "#render", "fps = inf" },
	{ 4, 1, "#render", "preview_time = 0" },
	{ 4, 0, "#render", "preview_time = -0.5" },
	{ 4, 0, "#render", "preview_time = inf" },
	{ 5, 1, "#shader", "include_dirs = [\"lib\", \"a/b\"]" },
	{ 5, 0, "#shader", "include_dirs = [\"../lib\"]" },
	{ 5, 0, "#shader", "include_dirs = \"lib\"" },
	/* Paths. */
	{ 6, 1, "\"img.frag\"", "\"  a\\\\b/img.frag \"" },
	{ 6, 1, "\"img.frag\"", "\"a..b/..c/d..\"" },
	{ 6, 0, "\"img.frag\"", "\"\"" },
	{ 6, 0, "\"img.frag\"", "\"/img.frag\"" },
	{ 6, 0, "\"img.frag\"", "\"\\\\img.frag\"" },
	{ 6, 0, "\"img.frag\"", "\"C:img.frag\"" },
	{ 6, 0, "\"img.frag\"", "\"a/../img.frag\"" },
	{ 6, 0, "\"img.frag\"", "\"a\\\\..\\\\img.frag\"" },
	/* Uniforms. */
	{ 7, 1, "\"gain\"", "\"_Gain2\"" },
	{ 7, 0, "\"gain\"", "\"2gain\"" },
	{ 7, 0, "\"gain\"", "\"g\xc3\xa4in\"" },
	{ 7, 0, "\"gain\"", "\"\"" },
	{ 7, 0, "\"gain\"", "\"count\"" },
	{ 7, 1, "#uniform", "min = 1\nmax = 1\nstep = 0.5" },
	{ 7, 0, "#uniform", "min = 2\nmax = 1" },
	{ 7, 0, "#uniform", "min = 1.5" },
	{ 7, 0, "#uniform", "max = 0.5" },
	{ 7, 0, "#uniform", "step = 0" },
	{ 7, 0, "#uniform", "step = [1]" },
	{ 7, 0, "#uniform", "min = [0]" },
	{ 7, 0, "default = 1\n", "default = nan\n" },
	{ 7, 0, "default = 1\n", "default = inf\n" },
	{ 7, 0, "default = 1\n", "\n" },
	{ 7, 0, "default = 3", "default = 3.0" },
	{ 7, 1, "default = 3", "default = -2147483648" },
	{ 7, 0, "default = 3", "default = 2147483648" },
	{ 7, 1, "#int", "step = 2\nmin = 0\nmax = 3" },
	{ 7, 0, "#int", "step = 0.5" },
	{ 7, 0, "#int", "step = 2.0" },
	{ 7, 0, "#bool", "min = false" },
	{ 7, 0, "#bool", "max = true" },
	{ 7, 0, "#bool", "step = 1" },
	{ 7, 0, "default = true", "default = 1" },
	{ 7, 1, "#vec3", "min = [0, 0, 0]\nmax = [0, 1, 1]\nstep = 0.1" },
	{ 7, 0, "#vec3", "min = 0" },
	{ 7, 0, "#vec3", "min = [0, 0.6, 0]" },
	{ 7, 0, "#vec3", "step = [0.1, 0.1, 0.1]" },
	{ 7, 0, "[0, 0.5, 1]", "[0, 0.5]" },
	{ 8, 0, "\"gain\"", "\"iTime\"" },
	{ 8, 0, "\"gain\"", "\"iChannel15\"" },
	{ 8, 1, "\"gain\"", "\"iChannel16\"" },
	{ 8, 0, "\"gain\"", "\"iOutput7\"" },
	{ 8, 1, "\"gain\"", "\"iOutput8\"" },
	{ 8, 0, "\"gain\"", "\"iMusicStructure\"" },
	{ 8, 0, "\"gain\"", "\"iAudioSpectralCentroid\"" },
	{ 8, 1, "\"gain\"", "\"iAudio\"" },
	/* Assets and names. */
	{ 9, 0, "\"tex\"", "\"keyboard\"" },
	{ 9, 0, "\"tex\"", "\"\"" },
	{ 9, 0, "\"tex\"", "\"sky\"" },
	{ 9, 0, "\"tex\"", "\"buf\"" },
	{ 9, 1, "\"tex\"", "\"Keyboard\"" },
	{ 9, 1, "\"tex\"", "\"Buf \xc3\xa4 / #\"" },
	{ 9, 0, "\"texture\"", "\"Texture\"" },
	{ 10, 0, "name = \"buf\"", "name = \"music\"" },
	{ 10, 0, "name = \"buf\"", "name = \"webcam\"" },
	{ 10, 0, "kind = \"buffer\"", "kind = \"image\"" },
	{ 10, 0, "kind = \"image\"", "kind = \"buffer\"" },
	{ 10, 0, "kind = \"buffer\"", "kind = \"Buffer\"" },
	/* Passes. */
	{ 11, 1, "#buf", "width = 1\nheight = 16384" },
	{ 11, 0, "#buf", "width = 1\nheight = 16385" },
	{ 11, 0, "#buf", "width = 1" },
	{ 11, 0, "#buf", "height = 1" },
	{ 11, 0, "#img", "width = 1\nheight = 1" },
	{ 11, 0, "#env", "width = 1\nheight = 1" },
	{ 11, 0, "width = 64\nheight = 32", "" },
	{ 12, 1, "#buf", "format = \"r32f\"" },
	{ 12, 1, "#img", "format = \"rgba32f\"" },
	{ 12, 1, "#song", "format = \"rgba32f\"" },
	{ 12, 0, "#img", "format = \"rgba16f\"" },
	{ 12, 0, "#env", "format = \"rgba16f\"" },
	{ 12, 0, "#buf", "format = \"RGBA32F\"" },
	{ 13, 1, "#buf",
	    "extra_outputs = [\"r32f\", \"r32f\", \"r32f\", \"r32f\", "
	    "\"r32f\", \"rg32f\", \"rgba32f\"]" },
	{ 13, 0, "#buf",
	    "extra_outputs = [\"r32f\", \"r32f\", \"r32f\", \"r32f\", "
	    "\"r32f\", \"rg32f\", \"rgba32f\", \"r32f\"]" },
	{ 13, 1, "#img", "extra_outputs = []" },
	{ 13, 0, "#img", "extra_outputs = [\"r32f\"]" },
	{ 13, 0, "#env", "extra_outputs = [\"r32f\"]" },
	{ 14, 1, "#sim", "iterations = 4096" },
	{ 14, 0, "#sim", "iterations = 4097" },
	{ 14, 0, "#sim", "iterations = 0" },
	{ 14, 1, "#buf", "iterations = 1" },
	{ 14, 0, "#buf", "iterations = 2" },
	{ 15, 1, "#sim", "local_size = [32, 32, 1]" },
	{ 15, 0, "#sim", "local_size = [33, 32, 1]" },
	{ 15, 0, "#sim", "local_size = [4294967295, 4294967295, 1]" },
	{ 15, 0, "#sim", "local_size = [0, 8, 1]" },
	{ 15, 0, "#sim", "local_size = [8, 8, 2]" },
	{ 15, 0, "#sim", "local_size = [8, 8]" },
	{ 15, 0, "#buf", "local_size = [1, 1, 1]" },
	/* Storage. */
	{ 16, 1, "#sim", STORE "size = 1" },
	{ 16, 0, "#sim", STORE "size = 0" },
	{ 16, 0, "#sim", STORE },
	{ 16, 1, "#img", STORE "size = 16" },
	{ 16, 1, "#env", STORE "size = 16" },
	{ 16, 0, "#sim", STORE "size = 4\n" STORE "size = 4" },
	{ 16, 0, "#sim", "[[pass.storage]]\nbinding = -1\nname = \"s\"\nsize = 4" },
	{ 16, 1, "#sim",
	    "[[pass.storage]]\nbinding = 4294967295\nname = \"s\"\n"
	    "size = 4" },
	{ 16, 0, "#sim",
	    "[[pass.storage]]\nbinding = 4294967296\nname = \"s\"\n"
	    "size = 4" },
	{ 16, 0, "#sim", "[[pass.storage]]\nbinding = 0\nname = \" \"\nsize = 4" },
	/* Inputs; kinds are found out. */
	{ 17, 1, "#img", INPUT "source = \"tex\"" },
	{ 17, 1, "#img", INPUT "source = \"film\"" },
	{ 17, 1, "#img", INPUT "source = \"keyboard\"" },
	{ 17, 1, "#img", INPUT "source = \"music\"" },
	{ 17, 1, "#img", INPUT "source = \"webcam\"" },
	{ 17, 0, "#img", INPUT "source = \"nothing\"" },
	{ 17, 0, "#img", INPUT },
	{ 17, 0, "#img", "[[pass.input]]\nsource = \"tex\"" },
	{ 17, 1, "#img", "[[pass.input]]\nchannel = 15\nsource = \"tex\"" },
	{ 17, 0, "#img", "[[pass.input]]\nchannel = 16\nsource = \"tex\"" },
	{ 17, 0, "#img", INPUT "source = \"tex\"\n" INPUT "source = \"sky\"" },
	{ 17, 1, "#img",
	    INPUT "source = \"buf\"\nfilter = \"mipmap\"\nwrap = \"clamp\"" },
	{ 17, 0, "#img", INPUT "source = \"buf\"\nfilter = \"trilinear\"" },
	{ 17, 0, "#img", INPUT "source = \"buf\"\nwrap = \"mirror\"" },
	{ 17, 0, "#img", INPUT "source = \"buf\"\noutput = 256" },
	{ 18, 1, "#img", INPUT "source = \"sky\"\nkind = \"cubemap\"" },
	{ 18, 0, "#img", INPUT "source = \"sky\"\nkind = \"texture\"" },
	{ 18, 0, "#img", INPUT "source = \"env\"\nkind = \"cubemap\"" },
	{ 18, 1, "#img", INPUT "source = \"env\"\nkind = \"pass\"" },
	{ 18, 0, "#img", INPUT "source = \"music\"\nkind = \"keyboard\"" },
	{ 18, 0, "#img", INPUT "source = \"tex\"\nkind = \"music\"" },
	{ 19, 0, "#img", INPUT "source = \"tex\"\noutput = 1" },
	{ 19, 0, "#img", INPUT "source = \"tex\"\nframe = \"previous\"" },
	{ 19, 1, "#img", INPUT "source = \"buf\"\nframe = \"previous\"" },
	{ 19, 0, "#img", INPUT "source = \"buf\"\noutput = 1" },
	{ 20, 0, "#buf", INPUT "source = \"img\"\nframe = \"previous\"" },
	{ 20, 0, "#img", INPUT "source = \"song\"" },
	{ 20, 0, "#song", INPUT "source = \"buf\"" },
	{ 20, 1, "#song", INPUT "source = \"tex\"" },
	{ 20, 1, "#img", INPUT "source = \"env\"\nframe = \"previous\"" },
	{ 20, 1, "#env", INPUT "source = \"env\"\nframe = \"previous\"" },
	{ 21, 0, "#buf", INPUT "source = \"buf\"" },
	/* Presets. */
	{ 22, 1, "#more", "[preset.x]\nrender_scale = 0.0008" },
	{ 22, 0, "#more", "[preset.x]\nrender_scale = 0.0006" },
	{ 22, 1, "#more", "[preset.x]\nrender_scale = 12.8" },
	{ 22, 0, "#more", "[preset.x]\nrender_scale = 12.81" },
	{ 22, 0, "#more", "[preset.x]\nrender_scale = 0" },
	{ 22, 0, "#more", "[preset.x]\nrender_scale = inf" },
	{ 22, 1, "#more",
	    "[preset.\"x y\".pass.sim]\nwidth = 1\nheight = 16384\n"
	    "iterations = 4096\nlocal_size = [1024, 1, 1]" },
	{ 22, 0, "#more", "[preset.x.pass.sim]\nwidth = 1" },
	{ 22, 0, "#more", "[preset.x.pass.sim]\nwidth = 1\nheight = 16385" },
	{ 22, 0, "#more", "[preset.x.pass.sim]\niterations = 4097" },
	{ 22, 0, "#more", "[preset.x.pass.sim]\nlocal_size = [1024, 2, 1]" },
	{ 22, 0, "#more", "[preset.x.pass.nobody]\nwidth = 1\nheight = 1" },
	{ 22, 0, "#more", "[preset.x.pass.img]\nwidth = 1\nheight = 1" },
	{ 22, 0, "#more", "[preset.x.pass.buf]\niterations = 2" },
	/* Tests. */
	{ 24, 1, "#more", TEST "frame = 0\nassert_no_nan = true" },
	{ 24, 0, "#more", TEST "frame = -1\nassert_no_nan = true" },
	{ 24, 0, "#more", TEST "time = -1\nassert_no_nan = true" },
	{ 24, 0, "#more", TEST "frame = 0\ntime = 0\nassert_no_nan = true" },
	{ 24, 0, "#more", TEST "frame = 0\nframes = [1]\nassert_no_nan = true" },
	{ 24, 0, "#more", TEST "frames = [1, 1]\nassert_no_nan = true" },
	{ 24, 0, "#more", TEST "width = 4\nassert_no_nan = true" },
	{ 24, 1, "#more", TEST "width = 1\nheight = 16384\nassert_no_nan = true" },
	{ 24, 0, "#more", TEST "width = 1\nheight = 16385\nassert_no_nan = true" },
	{ 24, 0, "#more",
	    TEST "width = 1\nheight = 1\nresolutions = [[1, 1]]\n"
		 "assert_no_nan = true" },
	{ 24, 1, "#more",
	    TEST "resolutions = [[1, 1], [16384, 2]]\nassert_no_nan = true" },
	{ 24, 0, "#more", TEST "resolutions = [[1, 16385]]\nassert_no_nan = true" },
	{ 24, 0, "#more", TEST "assert_no_nan = true\n" TEST "assert_no_inf = true" },
	{ 25, 1, "#more", TEST "reference = \"r.png\"\ntolerance = 0" },
	{ 25, 1, "#more",
	    TEST "reference = \"r.png\"\ntolerance = 1\nmin_rmse = 0\n"
		 "max_rmse = 1" },
	{ 25, 0, "#more", TEST "reference = \"r.png\"\ntolerance = 1.01" },
	{ 25, 0, "#more", TEST "reference = \"r.png\"\ntolerance = -0.01" },
	{ 25, 0, "#more", TEST "reference = \"r.png\"\nframes = [1, 2]" },
	{ 25, 0, "#more", TEST "reference = \"r.png\"\nresolutions = [[1, 1], [2, 2]]" },
	{ 25, 0, "#more", TEST "reference = \"../r.png\"" },
	{ 25, 0, "#more",
	    TEST "reference = \"r.png\"\n[test.reference_uniforms]\n"
		 "gain = 1" },
	{ 25, 1, "#more",
	    TEST "max_rmse = 0.5\nframes = [1, 2]\n"
		 "[test.reference_uniforms]\ngain = 1" },
	{ 25, 0, "#more", TEST "min_rmse = 0.5\nassert_no_nan = true" },
	{ 25, 0, "#more", TEST "reference = \"r.png\"\nmin_rmse = 0.5\nmax_rmse = 0.4" },
	{ 25, 0, "#more", TEST "reference = \"r.png\"\nmax_rmse = 1.5" },
	{ 25, 1, "#more", TEST "assert_deterministic = true\nraw_tolerance = 1e6" },
	{ 25, 0, "#more", TEST "assert_deterministic = true\nraw_tolerance = -1" },
	{ 25, 1, "#more", TEST "mean_range = [0.5, 0.5]" },
	{ 25, 0, "#more", TEST "mean_range = [0.5, 0.4]" },
	{ 25, 0, "#more", TEST "mean_range = [0, inf]" },
	{ 25, 0, "#more", TEST "mean_range = [0]" },
	{ 25, 0, "#more", TEST "pass = \"song\"\nassert_no_nan = true" },
	{ 25, 1, "#more", TEST "pass = \"env\"\nassert_no_nan = true" },
	{ 25, 1, "#more",
	    TEST "pass = \"sim\"\nresolutions = [[1, 1], [2, 2]]\n"
		 "assert_resolution_independent = true" },
	{ 25, 0, "#more",
	    TEST "pass = \"buf\"\nresolutions = [[1, 1], [2, 2]]\n"
		 "assert_resolution_independent = true" },
	{ 25, 0, "#more",
	    TEST "pass = \"sim\"\nresolutions = [[1, 1]]\n"
		 "assert_resolution_independent = true" },
	{ 25, 1, "#more", TEST "max_gpu_ms = 0\n[test.max_pass_gpu_ms]\nsim = 0.5" },
	{ 25, 0, "#more", TEST "max_gpu_ms = -1" },
	{ 25, 0, "#more", TEST "[test.max_pass_gpu_ms]\nnobody = 0.5" },
	{ 25, 1, "#more",
	    TEST "assert_state_roundtrip = true\n[test.uniforms]\n"
		 "gain = 0.5\ncount = 4\non = false\ntint = [1, 1, 1]" },
	{ 25, 0, "#more", TEST "assert_no_nan = true\n[test.uniforms]\nnobody = 1" },
	/* A number is of the type that its uniform has. */
	{ 26, 1, "#more", TEST "assert_no_nan = true\n[test.uniforms]\ngain = 1" },
	{ 26, 0, "#more", TEST "assert_no_nan = true\n[test.uniforms]\ncount = 1.0" },
	{ 26, 0, "#more", TEST "assert_no_nan = true\n[test.uniforms]\non = 1" },
	{ 27, 0, "#more", TEST "frame = 1" },
	{ 27, 0, "#more", TEST "tolerance = 0.1\nassert_no_nan = false" },
	{ 27, 1, "#more", TEST "[test.reference_uniforms]\ngain = 1" },
};

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
	if (toml_read("ShaderToy.toml", text, strlen(text), &doc, &err)) {
		errs_take(errs, &err);
		return -1;
	}
	int result = manifest_from_doc(&doc, DIALECT_GLSL, m, errs);
	doc_release(&doc);
	return result;
}

static void check_rows(void)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char *text = replaced(skeleton, rows[i].find, rows[i].with);
		struct manifest m;
		struct errs errs = ERRS_INIT;
		int rc = load_text(text, &m, &errs);
		if (!CHECK_INT(rc == 0, rows[i].loads))
			fprintf(stderr, "\trule %d: %s\n\t%s\n", rows[i].rule,
			    rows[i].with, errs.nerr ? errs.err[0].message : "it loads");
		CHECK(rc == 0 || errs.nerr > 0);
		/* It is the rule that refuses, and not the reader of TOML. */
		if (rc && !CHECK(errs.nerr && errs.err[0].key))
			fprintf(stderr, "\trule %d: %s\n\t%s\n", rows[i].rule,
			    rows[i].with, errs.err[0].message);
		if (rc == 0)
			manifest_release(&m);
		errs_release(&errs);
		free(text);
	}
}

/* Counts at both ends: 1024 frames, 32 resolutions, 1024 variants of a test. */
static int load_test(int nframe, int nsize)
{
	struct buf text = BUF_INIT;
	struct manifest m;
	struct errs errs = ERRS_INIT;
	buf_addstr(&text, skeleton);
	buf_addstr(&text, TEST "assert_no_nan = true\nframes = [");
	for (int i = 0; i < nframe; i++)
		buf_addf(&text, "%d,", i);
	buf_addstr(&text, "]\n");
	if (nsize)
		buf_addstr(&text, "resolutions = [");
	for (int i = 0; i < nsize; i++)
		buf_addf(&text, "[%d, 1],", i + 1);
	buf_addstr(&text, nsize ? "]\n" : "");
	int rc = load_text(buf_str(&text), &m, &errs);
	if (rc == 0)
		manifest_release(&m);
	errs_release(&errs);
	buf_release(&text);
	return rc;
}

static void check_counts(void)
{
	CHECK_INT(load_test(1, 0), 0);
	CHECK_INT(load_test(1024, 0), 0);
	CHECK_INT(load_test(1025, 0), -1);
	CHECK_INT(load_test(32, 32), 0);
	CHECK_INT(load_test(33, 32), -1);
	CHECK_INT(load_test(1, 33), -1);
	CHECK_INT(load_test(0, 0), -1);
}

/* What nothing says has the ancestor's values. */
static void check_defaults(void)
{
	struct manifest m;
	struct errs errs = ERRS_INIT;
	char *text = replaced(skeleton, "#img",
	    INPUT "source = \"buf\"\n"
		  "[[pass.input]]\nchannel = 1\nsource = \"sky\"\n"
		  "[[pass.input]]\nchannel = 2\nsource = \"keyboard\"\n"
		  "[[pass.input]]\nchannel = 3\nsource = \"env\"");
	if (CHECK(!load_text(text, &m, &errs))) {
		const struct pass *img = &m.pass[m.image];
		CHECK_INT(m.width, 1280);
		CHECK_INT(m.height, 720);
		CHECK(m.fps == 60 && m.preview_time == 1);
		CHECK_INT(m.dialect, DIALECT_GLSL);
		CHECK_INT(m.trace[0].frame[0], 60);
		CHECK_INT(m.pass[0].iterations, 1);
		CHECK_INT(m.pass[0].local_size[0], 8);
		CHECK_INT(m.pass[0].local_size[1], 8);
		CHECK_INT(m.pass[0].local_size[2], 1);
		CHECK_INT(m.pass[1].format, FORMAT_RGBA32F);
		CHECK_INT(m.pass[1].width, 0);
		CHECK_INT(m.pass[1].nextra_output, 0);
		CHECK_INT(img->ninput, 4);
		CHECK_INT(img->input[0].kind, INPUT_PASS);
		CHECK_INT(img->input[1].kind, INPUT_CUBEMAP);
		CHECK_INT(img->input[2].kind, INPUT_KEYBOARD);
		CHECK_INT(img->input[3].kind, INPUT_PASS);
		for (int i = 0; i < 4; i++) {
			CHECK_INT(img->input[i].output, 0);
			CHECK(!img->input[i].is_previous);
			CHECK_INT(img->input[i].filter, FILTER_LINEAR);
			CHECK_INT(img->input[i].wrap, WRAP_REPEAT);
		}
		manifest_release(&m);
	}
	errs_release(&errs);
	free(text);
}

int main(void)
{
	check_rows();
	check_counts();
	check_defaults();
	return test_done();
}

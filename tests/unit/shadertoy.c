/* Exports of the Shadertoy site become projects that load. */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <jpeglib.h>

#include "project/doc.h"
#include "project/image.h"
#include "project/manifest.h"
#include "test.h"
#include "format/png.h"
#include "import/shadertoy.h"
#include "util/buf.h"
#include "util/fs.h"
#include "util/log.h"
#include "util/mem.h"

static int nwarning;       /* lines that went out */
static char warning[4096]; /* them, as far as they fit */

static void count_warning(void *data)
{
	(void)data;
	nwarning++;
}

static struct tree *read_text(const char *text, const char *media)
{
	struct err err = ERR_INIT;
	struct tree *tree = NULL;
	nwarning = 0;
	FILE *said = tmpfile();
	int old = dup(STDERR_FILENO);
	if (!CHECK(said != NULL && old >= 0 && dup2(fileno(said), STDERR_FILENO) >= 0))
		exit(1);
	int rc = shadertoy_read("x.json", text, strlen(text), media, &tree, &err);
	dup2(old, STDERR_FILENO);
	close(old);
	rewind(said);
	warning[fread(warning, 1, sizeof warning - 1, said)] = '\0';
	fclose(said);
	if (!CHECK_INT(rc, 0))
		fprintf(stderr, "\t%s\n", err.message);
	CHECK(tree != NULL);
	err_release(&err);
	return tree;
}

/* Loads what was made; every fault is a failure. */
static int load(struct tree *tree, struct manifest *m)
{
	struct errs errs = ERRS_INIT;
	int rc = manifest_load(tree, "stbuild.json", NULL, m, &errs);
	CHECK_INT(rc, 0);
	for (size_t i = 0; i < errs.nerr; i++)
		fprintf(stderr, "\t%s\n", errs.err[i].message);
	errs_release(&errs);
	return rc;
}

static char *text_at(struct tree *tree, const char *path)
{
	struct err err = ERR_INIT;
	struct buf text = BUF_INIT;
	CHECK_INT(tree_read(tree, path, 1 << 20, &text, &err), 0);
	err_release(&err);
	return buf_detach(&text);
}

static void check_refused(const char *text, const char *word, int line)
{
	struct err err = ERR_INIT;
	struct tree *tree = NULL;
	test_int(shadertoy_read("x.json", text, strlen(text), NULL, &tree, &err), -1,
	    text, __FILE__, line);
	if (!test_check(err.message && strstr(err.message, word), __FILE__, line,
		"the error has the words"))
		fprintf(stderr, "\t'%s' is not in: %s\n", word,
		    err.message ? err.message : "(none)");
	test_int(err.status, STATUS_INPUT, "status", __FILE__, line);
	test_str(err.file, "x.json", __FILE__, line);
	err_release(&err);
	tree_free(tree);
}
#define REFUSED(text, word) check_refused(text, word, __LINE__)

static const struct input_ref *input_of(const struct manifest *m, const char *pass,
    int channel)
{
	int p = manifest_pass(m, pass);
	for (size_t i = 0; p >= 0 && i < m->pass[p].ninput; i++)
		if (m->pass[p].input[i].channel == channel)
			return &m->pass[p].input[i];
	return NULL;
}

/* A read of a pass: whose, and of which frame. */
static void check_read(const struct manifest *m, const char *pass, int channel,
    const char *source, int is_previous, int line)
{
	const struct input_ref *in = input_of(m, pass, channel);
	if (!test_check(in && in->pass >= 0, __FILE__, line, "the input reads a pass"))
		return;
	test_str(m->pass[in->pass].name, source, __FILE__, line);
	test_int(in->is_previous, is_previous, "is_previous", __FILE__, line);
}
#define READS(pass, channel, source, is_previous) \
	check_read(&m, pass, channel, source, is_previous, __LINE__)

#define CODE "\"code\":\"void mainImage(out vec4 c, in vec2 p) { c = vec4(1); }\""
/* clang-format off */
#define SAMPLER(f, w, v) "\"sampler\":{\"filter\":\"" f "\",\"wrap\":\"" w \
	"\",\"vflip\":\"" v "\",\"srgb\":\"false\",\"internal\":\"byte\"}"
#define BUFFER_A "{\"channel\":0,\"ctype\":\"buffer\",\"id\":257," \
	"\"src\":\"/media/previz/buffer00.png\"," SAMPLER("nearest", "clamp", "true") "}"
#define BUFFER_B "{\"channel\":1,\"type\":\"buffer\",\"id\":\"XsXGR8\"," \
	"\"filepath\":\"/media/previz/buffer01.png\"," SAMPLER("linear", "repeat", "true") "}"
#define CUBE_A "{\"channel\":2,\"type\":\"cubemap\",\"id\":\"4dX3Rr\"," \
	"\"filepath\":\"/media/previz/cubemap00.png\"," SAMPLER("linear", "clamp", "true") "}"
/* clang-format on */

/* Buffers run in the export's order, then the cubemap, then the image. */
static void test_passes(void)
{
	struct manifest m;
	struct tree *t = read_text(
	    "{\"Shader\":{\"ver\":\"0.1\",\"info\":{\"id\":\"abCD12\","
	    "\"name\":\"Caf\\u00e9 & co\",\"username\":\"me\",\"description\":\"d\"},"
	    "\"renderpass\":["
	    "{\"type\":\"image\",\"name\":\"Image\",\"outputs\":[{\"id\":37,\"channel\":0}],"
	    "\"inputs\":[" BUFFER_A "," BUFFER_B "," CUBE_A "]," CODE "},"
	    "{\"type\":\"common\",\"name\":\"Common\",\"code\":\"#define A 1\"},"
	    "{\"type\":\"cubemap\",\"name\":\"\",\"outputs\":[],\"inputs\":[" BUFFER_B
	    "," CUBE_A
	    "],\"code\":\"void mainCubemap(out vec4 c, in vec2 p, in vec3 o, in vec3 d)"
	    " { c = vec4(d, 1); }\"},"
	    "{\"type\":\"buffer\",\"name\":\"Buf B\",\"outputs\":[{\"id\":\"XsXGR8\"}],"
	    "\"inputs\":[" BUFFER_A "," BUFFER_B "," CUBE_A "]," CODE "},"
	    "{\"type\":\"buffer\",\"outputs\":[{\"id\":257,\"channel\":0}],"
	    "\"inputs\":[" BUFFER_A "," BUFFER_B "]," CODE "},"
	    "{\"type\":\"sound\",\"inputs\":[" BUFFER_A "],\"code\":"
	    "\"vec2 mainSound(int s, float t) { return vec2(0); }\"},"
	    "{\"type\":\"common\",\"name\":\"Common\",\"code\":\"#define B 2\"}"
	    "]}}",
	    NULL);
	if (!t || load(t, &m))
		return;
	CHECK_INT(nwarning, 1); /* sound reads no pass */
	CHECK_STR(m.name, "Caf\xc3\xa9 & co");
	CHECK_STR(m.author, "me");
	CHECK_STR(m.description, "d");
	CHECK_STR(m.source_id, "abCD12");
	CHECK_STR(m.source_url, "https://www.shadertoy.com/view/abCD12");
	CHECK_INT(m.dialect, DIALECT_ESSL);
	CHECK_INT(m.npass, 5);
	CHECK_STR(m.pass[0].name, "Image");
	CHECK_STR(m.pass[1].name, "Cube A");
	CHECK_INT(m.pass[1].kind, PASS_CUBEMAP);
	CHECK_STR(m.pass[2].name, "Buf B");
	CHECK_STR(m.pass[3].name, "Buffer A");
	CHECK_STR(m.pass[4].name, "Sound");
	CHECK_INT(m.pass[4].ninput, 0);
	READS("Image", 0, "Buffer A", 0);
	READS("Image", 1, "Buf B", 0);
	READS("Image", 2, "Cube A", 0);
	READS("Cube A", 1, "Buf B", 0);
	READS("Cube A", 2, "Cube A", 1);
	READS("Buf B", 0, "Buffer A", 1);
	READS("Buf B", 1, "Buf B", 1);
	READS("Buf B", 2, "Cube A", 1);
	READS("Buffer A", 0, "Buffer A", 1);
	READS("Buffer A", 1, "Buf B", 0);
	const struct input_ref *in = input_of(&m, "Image", 0);
	CHECK(in && in->filter == FILTER_NEAREST && in->wrap == WRAP_CLAMP);
	in = input_of(&m, "Image", 1);
	CHECK(in && in->filter == FILTER_LINEAR && in->wrap == WRAP_REPEAT);
	char *text = text_at(t, m.common);
	CHECK_STR(text, "#define A 1\n#define B 2");
	free(text);
	text = text_at(t, m.pass[3].source);
	CHECK_STR(text, "void mainImage(out vec4 c, in vec2 p) { c = vec4(1); }");
	free(text);
	manifest_release(&m);
	tree_free(t);
}

#define ONE(inputs, code) \
	"{\"ver\":\"0.1\",\"info\":{\"id\":\"\",\"name\":\" \"}," \
	"\"renderpass\":[{\"type\":\"image\",\"name\":\"Image\",\"inputs\":[" inputs \
	"],\"outputs\":[]," code "}]}"

static void test_forms(void)
{
	static const char *const form[] = {
		ONE("", CODE),
		"[" ONE("", CODE) "]",
		"[{\"Shader\":" ONE("", CODE) "},{}]",
		"{\"userName\":\"x\",\"numShaders\":1,\"shaders\":[" ONE("", CODE) "]}",
	};
	for (size_t i = 0; i < sizeof form / sizeof *form; i++) {
		struct manifest m;
		struct tree *t = read_text(form[i], NULL);
		CHECK_INT(nwarning, i == 2);
		if (t && !load(t, &m)) {
			CHECK_STR(m.name, "Untitled");
			CHECK(m.source_url == NULL);
			manifest_release(&m);
		}
		tree_free(t);
	}
	REFUSED("{", "unexpected end of file");
	REFUSED("[]", "renderpass");
	REFUSED("{\"nodes\":[]}", "renderpass");
	REFUSED("7", "renderpass");
	REFUSED("{\"Error\":\"Shader not found\"}", "Shader not found");
	REFUSED("{\"renderpass\":[]}", "no image pass");
	REFUSED("{\"renderpass\":[7]}", "type ''");
	REFUSED("{\"renderpass\":[{\"type\":\"mesh\"," CODE "}]}", "type 'mesh'");
	REFUSED("{\"renderpass\":[{\"type\":\"image\"}]}", "has no code");
	REFUSED(ONE("", "\"code\":\"a\\u0000b\""), "NUL");
	REFUSED("[{\"Error\":\"Not found or private\"}]", "'Not found or private'");
	REFUSED("{\"Shader\":{\"Error\":\"no key\"}}", "'no key'");
	REFUSED("{\"error\":{\"message\":\"slow down\"}}", "'slow down'");
	REFUSED("{\"Error\":true}", "an error");
	REFUSED("[]", "empty list");
	REFUSED("{\"Shaders\":2,\"Results\":[\"a\",\"b\"]}", "shader ids");
	REFUSED("{\"Shader\":null}", "renderpass");

	struct err err = ERR_INIT;
	struct tree *t = NULL;
	CHECK_INT(shadertoy_read("x", "{}", 2, "/nowhere/at/all", &t, &err), -1);
	err_release(&err);
}

#define BUFFER(name, outputs, inputs) \
	"{\"type\":\"buffer\",\"name\":\"" name "\",\"outputs\":[" outputs \
	"],\"inputs\":[" inputs "]," CODE "}"
#define READ(channel, path) \
	"{\"channel\":" channel ",\"ctype\":\"buffer\",\"src\":\"" path "\"}"
#define PREVIZ(n) "/media/previz/buffer0" n ".png"
#define IMAGE(inputs) \
	"{\"type\":\"image\",\"name\":\"Image\",\"inputs\":[" inputs "]," CODE "}"

/* Who stands earlier is seen at this frame, itself and later ones at the last. */
static void test_order(void)
{
	static const char all[] = "{\"renderpass\":[" IMAGE(
	    READ("0", PREVIZ("0")) "," READ("1", PREVIZ("2"))) "," BUFFER("Buffer D",
	    "{\"id\":\"XdfGR8\"}",
	    READ("0", PREVIZ("0")) "," READ("1", PREVIZ("3"))) "," BUFFER("Buffer B",
	    "{\"id\":\"XsXGR8\"}",
	    READ("0", PREVIZ("3")) "," READ("1", PREVIZ("2"))) "," BUFFER("Buffer A",
	    "{\"id\":\"4dXGR8\"}",
	    READ("0", PREVIZ("1"))) "," BUFFER("Buffer C", "{\"id\":\"4sXGR8\"}",
	    READ("0", PREVIZ("0")) "," READ("1", PREVIZ("2")) "," READ("2",
		PREVIZ("1"))) "]}";
	struct manifest m;
	struct tree *t = read_text(all, NULL);
	CHECK_INT(nwarning, 0);
	if (!t || load(t, &m))
		return;
	READS("Image", 0, "Buffer A", 0);
	READS("Image", 1, "Buffer C", 0);
	READS("Buffer D", 0, "Buffer A", 1);
	READS("Buffer D", 1, "Buffer D", 1);
	READS("Buffer B", 0, "Buffer D", 0);
	READS("Buffer B", 1, "Buffer C", 1);
	READS("Buffer A", 0, "Buffer B", 0);
	READS("Buffer C", 0, "Buffer A", 0);
	READS("Buffer C", 1, "Buffer C", 1);
	READS("Buffer C", 2, "Buffer B", 0);
	manifest_release(&m);
	tree_free(t);
}

/* Names that say which buffer a pass is, where no output does. */
static void test_slots(void)
{
	static const struct {
		const char *b, *c;
	} row[] = {
		{ "buffer b", "buffer c" },
		{ "BufferB", "BufferC" },
		{ "Buf B", "Buf C" },
		{ "BufB", "bufC" },
		{ "BUFFER B", "BUFFER_C" },
		{ " Buffer B ", "Buffer-C" },
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct buf json = BUF_INIT;
		struct manifest m;
		/* C stands first, and nothing is A. */
		buf_addf(&json,
		    "{\"renderpass\":[{\"type\":\"buffer\",\"name\":\"%s\","
		    "\"inputs\":null," CODE "},{\"type\":\"buffer\",\"name\":\"%s\"," CODE
		    "},"
		    "{\"type\":\"buffer\",\"name\":\"mine\"," CODE "}," IMAGE(
			READ("0", PREVIZ("0")) "," READ("1", PREVIZ("1")) "," READ("2",
			    PREVIZ("2")) "," READ("3", "Buffer B")) "]}",
		    row[i].c, row[i].b);
		struct tree *t = read_text(buf_str(&json), NULL);
		CHECK_INT(nwarning, 0);
		if (t && !load(t, &m)) {
			READS("Image", 0, "mine", 0);
			READS("Image", 1, row[i].b, 0);
			READS("Image", 2, row[i].c, 0);
			READS("Image", 3, row[i].b, 0);
			manifest_release(&m);
		}
		tree_free(t);
		buf_release(&json);
	}
	/* An output says more than a name, wherever it stands. */
	struct manifest m;
	struct tree *t = read_text(
	    "{\"renderpass\":[" BUFFER("Buffer A", "", "") "," BUFFER("second",
		"{\"id\":\"4dXGR8\"}", "") "," IMAGE(READ("0", PREVIZ("0")) "," READ("1",
		PREVIZ("1")) ","
			     "{\"channel\":2,\"id\":\"4dXGR8\",\"type\":\"buffer\"},"
			     "{\"channel\":3,\"id\":\"XsXGR8\"}") "]}",
	    NULL);
	if (t && !load(t, &m)) {
		READS("Image", 0, "second", 0);
		READS("Image", 1, "Buffer A", 0);
		READS("Image", 2, "second", 0);
		READS("Image", 3, "Buffer A", 0);
		manifest_release(&m);
	}
	tree_free(t);
}

/* One bad input costs itself, and a word about it. */
static void test_inputs(void)
{
	static const struct {
		const char *input;
		int channel;     /* where the keyboard is then, or -1 */
		const char *why; /* null: nothing is said */
	} row[] = {
		{ "{\"channel\":\"1\",\"ctype\":\"keyboard\"}", 1, NULL },
		{ "{\"channel\":\" 2 \",\"type\":\"Keyboard\"}", 2, NULL },
		{ "{\"channel\":3.0,\"ctype\":\"keyboard\"}", 3, NULL },
		{ "{\"channel\":\"x\",\"ctype\":\"keyboard\"}", -1, "not a number" },
		{ "{\"channel\":-1,\"ctype\":\"keyboard\"}", -1, "channel -1" },
		{ "{\"channel\":4,\"ctype\":\"keyboard\"}", -1, "channel 4" },
		{ "{\"channel\":0.5,\"ctype\":\"keyboard\"}", -1, "channel 0.5" },
		{ "{\"channel\":1e99,\"ctype\":\"keyboard\"}", -1, "channel 1e+99" },
		{ "{\"channel\":\"nan\",\"ctype\":\"keyboard\"}", -1, "channel nan" },
		{ "{\"channel\":null,\"ctype\":\"keyboard\"}", -1, "without a channel" },
		{ "{\"channel\":\"\",\"ctype\":\"keyboard\"}", -1, "without a channel" },
		{ "{\"ctype\":\"keyboard\"}", -1, "without a channel" },
		{ "null", -1, "empty" },
		{ "{}", -1, "empty" },
		{ "7", -1, "not an input" },
		{ "[]", -1, "not an input" },
		{ "\"\"", -1, "not an input" },
		{ "{\"channel\":0,\"ctype\":\"\",\"src\":\"\",\"id\":\"\"}", -1,
		    "no kind" },
		{ "{\"channel\":0,\"ctype\":\"buffer\",\"src\":null}", -1,
		    "not in the export" },
		{ "{\"channel\":0,\"ctype\":\"smell\"}", -1, "'smell'" },
		{ "{\"channel\":1,\"ctype\":\"mic\"},{\"channel\":1,\"ctype\":\"keyboard\"}",
		    1, "the later one counts" },
		{ "{\"channel\":1,\"ctype\":\"keyboard\",\"sampler\":null}", 1, NULL },
		{ "{\"channel\":1,\"ctype\":\"keyboard\",\"sampler\":"
		  "{\"filter\":\"NEAREST\",\"wrap\":\"\"}}",
		    1, NULL },
		{ "{\"channel\":1,\"ctype\":\"keyboard\",\"sampler\":"
		  "{\"filter\":\"cubic\"}}",
		    1, "'cubic': linear" },
		{ "{\"channel\":1,\"ctype\":\"keyboard\",\"sampler\":"
		  "{\"wrap\":5}}",
		    1, "no text" },
		{ "{\"channel\":1,\"ctype\":\"keyboard\",\"sampler\":\"x\"}", 1, NULL },
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct buf json = BUF_INIT;
		struct manifest m;
		buf_addf(&json,
		    "{\"renderpass\":[{\"type\":\"image\",\"inputs\":["
		    "{\"channel\":0,\"ctype\":\"music\"},%s]," CODE "}]}",
		    row[i].input);
		struct tree *t = read_text(buf_str(&json), NULL);
		if (t && !load(t, &m)) {
			CHECK_INT(m.pass[0].ninput,
			    row[i].why && strstr(row[i].input, ":0,") ? 0
				: row[i].channel < 0                  ? 1
								      : 2);
			const struct input_ref *in =
			    input_of(&m, "Image", row[i].channel);
			CHECK(row[i].channel < 0 || (in && in->kind == INPUT_KEYBOARD));
			manifest_release(&m);
		}
		if (!CHECK(row[i].why ? strstr(warning, row[i].why) != NULL : !nwarning))
			fprintf(stderr, "\t%s: %s", row[i].input, warning);
		tree_free(t);
		buf_release(&json);
	}
}

#define BAYER "85a6d68622b36995ccb98a89bbb119edf167c914660e4450d313de049320005c"
#define GREY_SMALL "0a40562379b63dfb89227e6d172f39fdce9022cba76623f1054a2c83d6c0ba5d"
#define GREY_MEDIUM "0c7bf5fe9462d5bffbd11126e82908e39be3ce56220d900f633d58fb432e56f5"
#define PEBBLES "ad56fba948dfba9ae698198c109e71f118a54d209c0ea50d77ea546abad89c"

/* The site's textures of one channel, by id or by the hash in a path. */
static void test_one_channel(void)
{
	static const struct {
		const char *id, *path;
		int channels;
	} row[] = {
		{ "4dXGzn", "/media/x.png", 1 },
		{ "30", "/media/a/" BAYER ".png", 1 },
		{ "", "/media/ap/" GREY_SMALL ".png", 1 },
		{ "x", "https://h/" GREY_MEDIUM ".jpg", 1 },
		{ "x",
		    "AD56FBA948DFBA9AE698198C109E71F118A54D20"
		    "9C0EA50D77EA546ABAD89C57.PNG",
		    1 },
		{ "x", "/media/a/" PEBBLES "5.png", 0 },
		{ "x", "/media/a/" PEBBLES "58.png", 0 },
		{ "x", "/media/a/" PEBBLES "57.png", 1 },
		{ "x", "/media/a/" PEBBLES "57a.png", 0 },
		{ "XsX3Rn", "/media/a/bb.jpg", 0 },
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct buf json = BUF_INIT;
		struct manifest m;
		buf_addf(&json,
		    "{\"renderpass\":[{\"type\":\"image\",\"inputs\":[{\"channel\":0,"
		    "\"ctype\":\"texture\",\"id\":\"%s\",\"src\":\"%s\"}]," CODE "}]}",
		    row[i].id, row[i].path);
		struct tree *t = read_text(buf_str(&json), NULL);
		if (t && !load(t, &m)) {
			CHECK_INT(m.nasset ? m.asset[0].channels : -1, row[i].channels);
			manifest_release(&m);
		}
		tree_free(t);
		buf_release(&json);
	}
	/* Cubemaps and volumes are told by it where the kind is missing. */
	struct manifest m;
	struct tree *t = read_text(
	    "{\"renderpass\":[{\"type\":\"image\",\"inputs\":["
	    "{\"channel\":0,\"src\":\"/media/a/585f9546c092f53ded45332b343144396c0b2d70d9965f"
	    "585ebc172080d8aa58.jpg\"}]," CODE "}]}",
	    NULL);
	if (t && !load(t, &m)) {
		CHECK(m.nasset == 1 && m.asset[0].kind == ASSET_CUBEMAP);
		manifest_release(&m);
	}
	tree_free(t);
}

static void test_entities(void)
{
	static const struct {
		const char *json, *text;
	} row[] = {
		{ "if (a &lt; b &amp;&amp; b &gt; c) d = &quot;x&quot;; //&#39;&#039;",
		    "if (a < b && b > c) d = \"x\"; //''" },
		{ "c = a &amp; b;", "c = a & b;" },
		{ "if (a < b) c = d &lt; 1;", "if (a < b) c = d &lt; 1;" },
		{ "a = b &lt; c & d;", "a = b &lt; c & d;" },
		{ "int lt = 1; a = b &lt;", "int lt = 1; a = b &lt;" },
		{ "a = b;", "a = b;" },
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct buf json = BUF_INIT;
		buf_addstr(&json, "{\"renderpass\":[{\"type\":\"image\",\"code\":\"");
		buf_addstr(&json, row[i].json);
		buf_addstr(&json, "\"}]}");
		struct tree *t = read_text(buf_str(&json), NULL);
		if (t) {
			char *text = text_at(t, "shaders/image.glsl");
			CHECK_STR(text, row[i].text);
			free(text);
		}
		tree_free(t);
		buf_release(&json);
	}
}

/* clang-format off */
#define TEXTURE(channel, id, path, vflip) "{\"channel\":" channel ",\"type\":\"texture\"," \
	"\"id\":\"" id "\",\"filepath\":\"" path "\"," SAMPLER("mipmap", "repeat", vflip) "}"

static const struct asset *asset_of(const struct manifest *m, const char *pass,
	int channel)
{
	const struct input_ref *in = input_of(m, pass, channel);
	return CHECK(in && in->asset >= 0) ? &m->asset[in->asset] : NULL;
}

/* What is not there: stand-ins of the right kind, the same every time. */
static void test_missing(void)
{
	static const char text[] = "{\"info\":{\"name\":\"n\"},\"renderpass\":["
		"{\"type\":\"buffer\",\"name\":\"keyboard\",\"inputs\":["
		TEXTURE("0", "Xdf3zn", "/media/a/aa.png", "true") ","
		TEXTURE("1", "XsX3Rn", "/media/a/bb.jpg", "false") ","
		TEXTURE("2", "XsX3Rn", "/media/a/bb.jpg", "true") ","
		"{\"channel\":3,\"type\":\"volume\",\"id\":\"4sfGRr\","
		SAMPLER("mipmap", "repeat", "true") "}"
		"]," CODE "},"
		"{\"type\":\"buffer\",\"name\":\"Buf A\",\"inputs\":["
		"{\"channel\":0,\"id\":\"4sX3zn\",\"src\":null,\"ctype\":null,"
		SAMPLER("mipmap", "clamp", "false") "},"
		"{\"channel\":1,\"id\":\"zzzzzz\",\"src\":null,\"ctype\":null},"
		"{\"channel\":2,\"type\":\"musicstream\",\"filepath\":\"https://x/y\"},"
		"{\"channel\":3,\"type\":\"keyboard\"},"
		"{\"channel\":3,\"type\":\"mic\"}"
		"]," CODE "},"
		"{\"type\":\"image\",\"name\":\"Buf A\",\"inputs\":["
		"{\"channel\":0,\"type\":\"webcam\"},"
		"{\"channel\":1,\"type\":\"video\",\"filepath\":\"/media/a/v.webm\"},"
		"{\"channel\":2,\"type\":\"buffer\",\"id\":\"4sXGR8\","
		"\"filepath\":\"/media/previz/buffer02.png\"},"
		TEXTURE("3", "XsX3Rn", "/media/a/bb.jpg", "false")
		"]," CODE "}]}";
	struct manifest m;
	struct tree *t = read_text(text, NULL);
	/* missing, live, unbound, given twice: one line each. */
	CHECK_INT(nwarning, 4);
	if (!t || load(t, &m))
		return;
	CHECK_STR(m.pass[0].name, "keyboard-2");
	CHECK_STR(m.pass[2].name, "Buf A-2");
	CHECK(strcmp(m.pass[1].source, m.pass[2].source) != 0);
	const struct asset *a = asset_of(&m, "keyboard-2", 0);
	const struct asset *b = asset_of(&m, "keyboard-2", 1);
	const struct asset *c = asset_of(&m, "keyboard-2", 2);
	const struct asset *v = asset_of(&m, "keyboard-2", 3);
	const struct asset *cube = asset_of(&m, "Buf A", 0);
	const struct asset *webcam = asset_of(&m, "Buf A-2", 0);
	if (!a || !b || !c || !v || !cube || !webcam)
		return;
	CHECK(a->channels == 1 && a->vflip);
	CHECK(b->channels == 0 && !b->vflip && c->vflip);
	CHECK_STR(b->path, c->path);
	CHECK(asset_of(&m, "Buf A-2", 3) == b);
	CHECK(v->kind == ASSET_VOLUME && !v->vflip);
	CHECK(cube->kind == ASSET_CUBEMAP && webcam->kind == ASSET_TEXTURE);
	CHECK(!input_of(&m, "Buf A", 1) && !input_of(&m, "Buf A-2", 2));
	const struct input_ref *in = input_of(&m, "Buf A", 2);
	CHECK(in && in->kind == INPUT_MUSIC);
	in = input_of(&m, "Buf A", 3);	/* the later of two */
	CHECK(in && in->kind == INPUT_MUSIC);

	/* Each asset decodes as what it is said to be. */
	for (size_t i = 0; i < m.nasset; i++) {
		struct err err = ERR_INIT;
		struct buf file = BUF_INIT;
		struct image image = { 0 };
		CHECK_INT(tree_read(t, m.asset[i].path, 1 << 24, &file, &err), 0);
		if (!CHECK(image_decode(&m.asset[i], m.asset[i].path, file.data, file.len,
				&image, &err) == 0))
			fprintf(stderr, "\t%s\n", err.message);
		CHECK_INT(image.nface, m.asset[i].kind == ASSET_CUBEMAP ? 6 : 1);
		CHECK_INT(image.depth, m.asset[i].kind == ASSET_VOLUME ? 32 : 1);
		CHECK_INT(image.channels,
			&m.asset[i] == v || &m.asset[i] == a ? 1 : 4);
		image_release(&image);
		buf_release(&file);
		err_release(&err);
	}

	struct tree *again = read_text(text, NULL);
	const void *data, *data2;
	size_t n, n2, i = 0;
	const char *path;
	for (; (path = tree_memory_file(t, i, &data, &n)); i++) {
		CHECK_STR(tree_memory_file(again, i, &data2, &n2), path);
		CHECK(n == n2 && memcmp(data, data2, n) == 0);
	}
	CHECK_INT(i, 1 + 3 + 6);	/* v.webm and webcam are pictures, too */
	tree_free(again);
	manifest_release(&m);
	tree_free(t);
}

static void write_png(const char *dir, const char *path, int size,
	uint8_t grey)
{
	struct err err = ERR_INIT;
	struct buf file = BUF_INIT;
	size_t n = (size_t)size * (size_t)size * 4;
	uint8_t *rgba = xmalloc(n);
	memset(rgba, grey, n);
	CHECK_INT(png_encode_rgba(rgba, size, size, &file, &err), 0);
	char *full = fs_join(dir, path), *folder = fs_dirname(full);
	CHECK_INT(fs_mkdirs(folder, &err), 0);
	CHECK_INT(fs_write(full, file.data, file.len, 0, &err), 0);
	free(folder);
	free(full);
	free(rgba);
	buf_release(&file);
	err_release(&err);
}

#define CUBE "{\"channel\":1,\"type\":\"cubemap\",\"id\":\"x\",\"filepath\":" \
	"\"https://www.shadertoy.com/media/a/cube.png\"}"

/* Media is found below the folder, and only there. */
static void test_media(void)
{
	static const char text[] = ONE(TEXTURE("0", "x", "/media/a/t.png", "true") ","
		CUBE "," TEXTURE("2", "x", "/../secret.png", "true"), CODE);
	struct err err = ERR_INIT;
	struct manifest m;
	char top[] = "/tmp/stbuild-media-XXXXXX";
	if (!CHECK(mkdtemp(top) != NULL))
		return;
	char *dir = fs_join(top, "in");
	write_png(top, "secret.png", 1, 9);
	for (int layout = 0; layout < 2; layout++) {
		CHECK_INT(fs_remove(dir, &err), 0);
		const char *below = layout ? "media/a" : "a";
		for (int i = -1; i < 6; i++) {
			char *path = i < 0 ? xasprintf("%s/t.png", below) : i
				? xasprintf("%s/cube_%d.png", below, i)
				: xasprintf("%s/cube.png", below);
			write_png(dir, path, i < 0 ? 3 : 2, (uint8_t)(i < 0 ? 77 : 10 + i));
			free(path);
		}
		struct tree *t = read_text(text, dir);
		CHECK_INT(nwarning, 1);	/* the secret */
		if (!t || load(t, &m))
			continue;
		struct buf file = BUF_INIT;
		struct image image = { 0 };
		const struct asset *a = asset_of(&m, "Image", 0);
		CHECK_STR(a->path, "textures/t.png");
		CHECK_INT(tree_read(t, a->path, 1 << 20, &file, &err), 0);
		CHECK_INT(image_decode(a, a->path, file.data, file.len, &image, &err), 0);
		CHECK(image.width == 3 && image.data && image.data[0] == 77);
		image_release(&image);
		buf_reset(&file);
		a = asset_of(&m, "Image", 1);
		CHECK_INT(tree_read(t, a->path, 1 << 20, &file, &err), 0);
		CHECK_INT(image_decode(a, a->path, file.data, file.len, &image, &err), 0);
		CHECK(image.width == 2 && image.nface == 6 && image.ndata == 6 * 16);
		for (size_t i = 0; i < 6 && image.ndata == 6 * 16; i++)
			CHECK_INT(image.data[i * 16], 10 + i);
		image_release(&image);
		buf_release(&file);
		a = asset_of(&m, "Image", 2);
		CHECK(strstr(a->path, "standin") != NULL);
		manifest_release(&m);
		tree_free(t);
	}
	/* Five of six faces are none; faces of two sizes are a fault. */
	char *face = fs_join(dir, "media/a/cube_3.png");
	CHECK_INT(unlink(face), 0);
	struct tree *t = read_text(ONE(CUBE, CODE), dir);
	CHECK_INT(nwarning, 1);
	tree_free(t);
	write_png(dir, "media/a/cube_3.png", 5, 1);
	t = read_text(ONE(CUBE, CODE), dir);
	CHECK_INT(nwarning, 1);
	CHECK(strstr(warning, "cube_3.png") && strstr(warning, "5 x 5"));
	if (t && !load(t, &m)) {
		CHECK(strstr(asset_of(&m, "Image", 1)->path, "standin") != NULL);
		manifest_release(&m);
	}
	tree_free(t);
	free(face);
	free(dir);
	CHECK_INT(fs_remove(top, &err), 0);
	err_release(&err);
}
/* clang-format on */

static void write_bytes(const char *dir, const char *path, const void *data, size_t n)
{
	struct err err = ERR_INIT;
	char *full = fs_join(dir, path), *folder = fs_dirname(full);
	CHECK_INT(fs_mkdirs(folder, &err), 0);
	CHECK_INT(fs_write(full, data, n, 0, &err), 0);
	free(folder);
	free(full);
	err_release(&err);
}

/* A grey JPEG of 8 x 8. */
static void write_jpeg(const char *dir, const char *path)
{
	struct jpeg_compress_struct c;
	struct jpeg_error_mgr error;
	unsigned char *data = NULL, row[8] = { 99, 99, 99, 99, 99, 99, 99, 99 };
	unsigned long n = 0;
	c.err = jpeg_std_error(&error);
	jpeg_create_compress(&c);
	jpeg_mem_dest(&c, &data, &n);
	c.image_width = c.image_height = 8;
	c.input_components = 1;
	c.in_color_space = JCS_GRAYSCALE;
	jpeg_set_defaults(&c);
	jpeg_start_compress(&c, TRUE);
	while (c.next_scanline < c.image_height)
		jpeg_write_scanlines(&c, &(JSAMPROW){ row }, 1);
	jpeg_finish_compress(&c);
	jpeg_destroy_compress(&c);
	write_bytes(dir, path, data, n);
	free(data);
}

/* What media is, its content says; what cannot be used is stood in for. */
static void test_content(void)
{
	static const char volume[] = "BIN\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\7";
	static const struct {
		const char *kind, *file, *bytes;
		size_t n;
		const char *path, *why; /* in the project; in the warning */
	} row[] = {
		{ "texture", "photo.webp", "RIFF\0\0\0\0WEBPVP8 ", 16,
		    "textures/photo-standin.png", "photo.webp (WebP is not supported" },
		{ "texture", "photo.png", "GIF89a", 6, "textures/photo-standin.png",
		    "photo.png (GIF is not supported" },
		{ "texture", "photo.jpg",
		    "\0\0\0\x20"
		    "ftypavif",
		    12, "textures/photo-standin.png",
		    "photo.jpg (AVIF is not supported" },
		{ "texture", "photo.png", "<html>404</html>", 16,
		    "textures/photo-standin.png", "photo.png (HTML is not supported" },
		{ "texture", "photo.png", "", 0, "textures/photo-standin.png", "empty" },
		{ "texture", "photo.png", "\x89PNG\r\n\x1a\n", 8,
		    "textures/photo-standin.png", "ends early" },
		{ "texture", "photo.jpg", "what", 4, "textures/photo-standin.png",
		    "neither PNG nor JPEG" },
		{ "texture", "photo.bin", volume, 21, "textures/photo-standin.png",
		    "volume is not supported" },
		{ "texture", "photo.png", NULL, 0, "textures/photo.jpg", NULL },
		{ "texture", "photo", NULL, 0, "textures/photo.jpg", NULL },
		{ "cubemap", "photo.png", "GIF89a", 6, "textures/photo-standin.png",
		    "photo.png (GIF is not supported" },
		{ "volume", "photo.bin", volume, 21, "textures/photo.bin", NULL },
		{ "volume", "photo.bin", volume, 20, "textures/photo-standin.bin",
		    "photo.bin (" },
		{ "volume", "photo.bin", NULL, 0, "textures/photo-standin.bin",
		    "photo.bin (" },
	};
	char top[] = "/tmp/stbuild-content-XXXXXX";
	if (!CHECK(mkdtemp(top) != NULL))
		return;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct buf json = BUF_INIT;
		struct manifest m;
		struct err err = ERR_INIT;
		char *dir = fs_join(top, "in");
		if (row[i].bytes)
			write_bytes(dir, row[i].file, row[i].bytes, row[i].n);
		else
			write_jpeg(dir, row[i].file);
		buf_addf(&json,
		    "{\"renderpass\":[{\"type\":\"image\",\"inputs\":[{\"channel\":0,"
		    "\"ctype\":\"%s\",\"src\":\"/media/%s\"}]," CODE "}]}",
		    row[i].kind, row[i].file);
		struct tree *t = read_text(buf_str(&json), dir);
		if (!CHECK(row[i].why
			    ? nwarning == 1 && strstr(warning, row[i].why) != NULL
			    : !nwarning))
			fprintf(stderr, "\t%s: %s", row[i].file, warning);
		if (t && !load(t, &m)) {
			struct buf file = BUF_INIT;
			struct image image = { 0 };
			CHECK_STR(m.nasset ? m.asset[0].path : "", row[i].path);
			CHECK_INT(tree_read(t, m.asset[0].path, 1 << 24, &file, &err), 0);
			CHECK_INT(image_decode(&m.asset[0], "it", file.data, file.len,
				      &image, &err),
			    0);
			image_release(&image);
			buf_release(&file);
			manifest_release(&m);
		}
		CHECK_INT(fs_remove(dir, &err), 0);
		err_release(&err);
		free(dir);
		tree_free(t);
		buf_release(&json);
	}
	rmdir(top);
}

/* Exports that nobody here wrote, where they are at hand. */
static void test_corpus(void)
{
	const char *src = getenv("SRCDIR");
	char *top = fs_join(src ? src : ".", "../shared/corpus");
	char *dir = fs_join(top, "json");
	DIR *d = opendir(dir);
	struct dirent *e;
	int n = 0;
	if (!d)
		puts("corpus: skipped, it is not here");
	while (d && (e = readdir(d))) {
		struct err err = ERR_INIT;
		struct buf text = BUF_INIT;
		struct tree *t = NULL;
		struct manifest m;
		if (!strstr(e->d_name, ".json"))
			continue;
		char *path = fs_join(dir, e->d_name);
		CHECK_INT(fs_read(path, 1 << 24, &text, &err), 0);
		if (!CHECK(shadertoy_read(e->d_name, buf_str(&text), text.len, top, &t,
			       &err) == 0))
			fprintf(stderr, "\t%s\n", err.message);
		else if (!load(t, &m))
			manifest_release(&m);
		tree_free(t);
		free(path);
		buf_release(&text);
		err_release(&err);
		n++;
	}
	if (d) {
		closedir(d);
		CHECK(n > 0);
	}
	free(dir);
	free(top);
}

int main(void)
{
	log_set_hook(count_warning, NULL);
	test_passes();
	test_forms();
	test_order();
	test_slots();
	test_inputs();
	test_one_channel();
	test_entities();
	test_missing();
	test_media();
	test_content();
	test_corpus();
	return test_done();
}

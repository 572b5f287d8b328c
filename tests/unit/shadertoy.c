/* Exports of the Shadertoy site become projects that load. */

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

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

static int nwarning;	/* lines that went out */

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
	if (!CHECK(shadertoy_read("x.json", text, strlen(text), media, &tree, &err) == 0))
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

static const struct input_ref *input_of(const struct manifest *m,
	const char *pass, int channel)
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
#define SAMPLER(f, w, v) "\"sampler\":{\"filter\":\"" f "\",\"wrap\":\"" w \
	"\",\"vflip\":\"" v "\",\"srgb\":\"false\",\"internal\":\"byte\"}"
#define BUFFER_A "{\"channel\":0,\"ctype\":\"buffer\",\"id\":257," \
	"\"src\":\"/media/previz/buffer00.png\"," SAMPLER("nearest", "clamp", "true") "}"
#define BUFFER_B "{\"channel\":1,\"type\":\"buffer\",\"id\":\"XsXGR8\"," \
	"\"filepath\":\"/media/previz/buffer01.png\"," SAMPLER("linear", "repeat", "true") "}"
#define CUBE_A "{\"channel\":2,\"type\":\"cubemap\",\"id\":\"4dX3Rr\"," \
	"\"filepath\":\"/media/previz/cubemap00.png\"," SAMPLER("linear", "clamp", "true") "}"

/* Frames follow the site's order, not the export's. */
static void test_passes(void)
{
	struct manifest m;
	struct tree *t = read_text("{\"Shader\":{\"ver\":\"0.1\",\"info\":{\"id\":\"abCD12\","
		"\"name\":\"Caf\\u00e9 & co\",\"username\":\"me\",\"description\":\"d\"},"
		"\"renderpass\":["
		"{\"type\":\"image\",\"name\":\"Image\",\"outputs\":[{\"id\":37,\"channel\":0}],"
		"\"inputs\":[" BUFFER_A "," BUFFER_B "," CUBE_A "]," CODE "},"
		"{\"type\":\"common\",\"name\":\"Common\",\"code\":\"#define A 1\"},"
		"{\"type\":\"cubemap\",\"name\":\"\",\"outputs\":[],\"inputs\":[" BUFFER_B ","
		CUBE_A "],\"code\":\"void mainCubemap(out vec4 c, in vec2 p, in vec3 o, in vec3 d)"
		" { c = vec4(d, 1); }\"},"
		"{\"type\":\"buffer\",\"name\":\"Buf B\",\"outputs\":[{\"id\":\"XsXGR8\"}],"
		"\"inputs\":[" BUFFER_A "," BUFFER_B "," CUBE_A "]," CODE "},"
		"{\"type\":\"buffer\",\"outputs\":[{\"id\":257,\"channel\":0}],"
		"\"inputs\":[" BUFFER_A "," BUFFER_B "]," CODE "},"
		"{\"type\":\"sound\",\"inputs\":[" BUFFER_A "],\"code\":"
		"\"vec2 mainSound(int s, float t) { return vec2(0); }\"},"
		"{\"type\":\"common\",\"name\":\"Common\",\"code\":\"#define B 2\"}"
		"]}}", NULL);
	if (!t || load(t, &m))
		return;
	CHECK_INT(nwarning, 1);	/* sound reads no pass */
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
	READS("Buf B", 0, "Buffer A", 0);
	READS("Buf B", 1, "Buf B", 1);
	READS("Buf B", 2, "Cube A", 1);
	READS("Buffer A", 0, "Buffer A", 1);
	READS("Buffer A", 1, "Buf B", 1);
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

#define ONE(inputs, code) "{\"ver\":\"0.1\",\"info\":{\"id\":\"\",\"name\":\" \"}," \
	"\"renderpass\":[{\"type\":\"image\",\"name\":\"Image\",\"inputs\":[" inputs \
	"],\"outputs\":[]," code "}]}"

static void test_forms(void)
{
	static const char *const form[] = {
		ONE("", CODE),
		"[" ONE("", CODE) "]",
		"[{\"Shader\":" ONE("", CODE) "},{}]",
		"{\"userName\":\"x\",\"numShaders\":1,\"shaders\":[" ONE("", CODE) "]}"
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
	REFUSED("{", "ends in the middle");
	REFUSED("[]", "renderpass");
	REFUSED("{\"nodes\":[]}", "renderpass");
	REFUSED("7", "renderpass");
	REFUSED("{\"Error\":\"Shader not found\"}", "Shader not found");
	REFUSED("{\"renderpass\":[]}", "no image pass");
	REFUSED("{\"renderpass\":[7]}", "type ''");
	REFUSED("{\"renderpass\":[{\"type\":\"mesh\"," CODE "}]}", "type 'mesh'");
	REFUSED("{\"renderpass\":[{\"type\":\"image\"}]}", "has no code");
	REFUSED(ONE("", "\"code\":\"a\\u0000b\""), "NUL");
	REFUSED(ONE("{\"channel\":4,\"type\":\"keyboard\"}", CODE), "no channel from 0 to 3");
	REFUSED(ONE("{\"type\":\"keyboard\"}", CODE), "no channel from 0 to 3");
	REFUSED(ONE("{\"channel\":0.5,\"type\":\"keyboard\"}", CODE), "no channel");

	struct err err = ERR_INIT;
	struct tree *t = NULL;
	CHECK_INT(shadertoy_read("x", "{}", 2, "/nowhere/at/all", &t, &err), -1);
	err_release(&err);
}

static void test_entities(void)
{
	static const struct { const char *json, *text; } row[] = {
		{ "if (a &lt; b &amp;&amp; b &gt; c) d = &quot;x&quot;; //&#39;&#039;",
			"if (a < b && b > c) d = \"x\"; //''" },
		{ "c = a &amp; b;", "c = a & b;" },
		{ "if (a < b) c = d &lt; 1;", "if (a < b) c = d &lt; 1;" },
		{ "a = b &lt; c & d;", "a = b &lt; c & d;" },
		{ "int lt = 1; a = b &lt;", "int lt = 1; a = b &lt;" },
		{ "a = b;", "a = b;" }
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
	/* missing, live, unbound: one line each. */
	CHECK_INT(nwarning, 3);
	if (!t || load(t, &m))
		return;
	CHECK_STR(m.pass[0].name, "keyboard-2");
	CHECK_STR(m.pass[2].name, "Buf A-2");
	CHECK(strcmp(m.pass[1].source, m.pass[2].source));
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
		CHECK(n == n2 && !memcmp(data, data2, n));
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
	CHECK_INT(shadertoy_read("x", ONE(CUBE, CODE), strlen(ONE(CUBE, CODE)), dir, &t,
		&err), -1);
	CHECK(err.message && strstr(err.message, "cube_3.png"));
	err_release(&err);
	free(face);
	free(dir);
	CHECK_INT(fs_remove(top, &err), 0);
	err_release(&err);
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
	test_entities();
	test_missing();
	test_media();
	test_corpus();
	return test_done();
}

#include "format/sttf.h"

#include <dirent.h>

#include "format/base64.h"
#include "format/fields.h"
#include "util/fs.h"
#include "util/mem.h"

#include "test.h"

/* Reads a document; the manifest of what it became goes to m. */
static int read_text(const char *text, size_t n, struct tree **tree, struct manifest *m,
    char **message)
{
	struct err err = ERR_INIT;
	struct errs errs = ERRS_INIT;
	struct doc doc = { 0 };
	*tree = NULL;
	*m = (struct manifest){ 0 };
	if (message)
		*message = NULL;
	if (sttf_read("x.sttf", text, n, "fallback", tree, &err) < 0) {
		CHECK(err.message && err.status == STATUS_INPUT && !*tree);
		if (message)
			*message = err_text(&err);
		err_release(&err);
		return -1;
	}
	const void *data = NULL;
	size_t ndata = 0;
	const char *path = NULL;
	for (size_t i = 0; (path = tree_memory_file(*tree, i, &data, &ndata)); i++)
		if (strcmp(path, "stbuild.json") == 0)
			break;
	if (!CHECK(path != NULL))
		return -1;
	int rc = json_read("stbuild.json", data, ndata, JSON_PLAIN, &doc, &err);
	if (!rc)
		rc = manifest_from_doc(&doc, DIALECT_ESSL, m, &errs);
	CHECK_INT(rc, 0);
	err_release(&err);
	errs_release(&errs);
	doc_release(&doc);
	return rc;
}

static void done(struct tree *tree, struct manifest *m)
{
	if (!tree)
		return;
	manifest_release(m);
	tree_free(tree);
}

/* A file of the tree as a buffer; fails the test when it is not there. */
static void get_file(struct tree *tree, const char *path, struct buf *out)
{
	const void *data;
	size_t n;
	const char *p;
	buf_reset(out);
	for (size_t i = 0; (p = tree_memory_file(tree, i, &data, &n)); i++) {
		if (strcmp(p, path) == 0) {
			buf_add(out, data, n);
			return;
		}
	}
	if (!CHECK(!"the file is there"))
		fprintf(stderr, "\t%s\n", path);
}

static void test_base64(void)
{
	static const struct {
		const char *plain, *text;
	} row[] = {
		{ "", "" },
		{ "f", "Zg==" },
		{ "fo", "Zm8=" },
		{ "foo", "Zm9v" },
		{ "foob", "Zm9vYg==" },
		{ "fooba", "Zm9vYmE=" },
		{ "foobar", "Zm9vYmFy" },
		{ "\xfb\xff\xfe", "+//+" },
	};
	static const char *const bad[] = {
		"Z",
		"Zg=",
		"Z===",
		"Zg==Zg==",
		"Zm9v\n",
		"Zm 9",
		"Zm9-",
		"====",
		"Zm8==",
		"=",
	};
	struct buf out = BUF_INIT;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		size_t n = strlen(row[i].text), plain = strlen(row[i].plain);
		buf_reset(&out);
		base64_encode(row[i].plain, plain, &out);
		CHECK_STR(buf_str(&out), row[i].text);
		CHECK_INT(base64_size(row[i].text, n), plain);
		buf_reset(&out);
		CHECK_INT(base64_decode(row[i].text, n, &out), 0);
		CHECK_STR(buf_str(&out), row[i].plain);
		while (n && row[i].text[n - 1] == '=')
			n--;
		buf_reset(&out);
		CHECK_INT(base64_decode(row[i].text, n, &out), 0);
		CHECK_STR(buf_str(&out), row[i].plain);
	}
	buf_reset(&out);
	buf_addstr(&out, "kept");
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		CHECK_INT(base64_decode(bad[i], strlen(bad[i]), &out), -1);
	CHECK_STR(buf_str(&out), "kept");
	buf_release(&out);
}

/* As other writers do it: every class of node, names that are none of ours. */
static const char foreign[] =
    "{\"links\":["
    "{\"end\":\"RenderOutput\",\"filter\":\"Linear\",\"slot\":0,"
    "\"start\":\"Image\",\"wrapMode\":\"Repeat\"},"
    "{\"end\":\"Image\",\"filter\":\"Mipmap\",\"slot\":1,"
    "\"start\":\"Buffer A\",\"wrapMode\":\"Clamp\"},"
    "{\"end\":\"Image\",\"filter\":\"Nearest\",\"slot\":0,"
    "\"start\":\"Tex/1\",\"wrapMode\":\"Repeat\"},"
    "{\"end\":\"Image\",\"filter\":\"Linear\",\"slot\":2,"
    "\"start\":\"Sky\",\"wrapMode\":\"Clamp\"},"
    "{\"end\":\"Image\",\"filter\":\"Linear\",\"slot\":3,"
    "\"start\":\"Vol\",\"wrapMode\":\"Clamp\"},"
    "{\"end\":\"Buffer A\",\"filter\":\"Linear\",\"slot\":0,"
    "\"start\":\"LastFrame\",\"wrapMode\":\"Clamp\"},"
    "{\"end\":\"Buffer A\",\"filter\":\"Linear\",\"slot\":15,"
    "\"start\":\"Keys\",\"wrapMode\":\"Clamp\"},"
    "{\"end\":\"Buffer A\",\"filter\":\"Linear\",\"slot\":2,"
    "\"start\":\"Sound\",\"wrapMode\":\"Clamp\"},"
    "{\"end\":\"Buffer A\",\"filter\":\"Linear\",\"slot\":3,"
    "\"start\":\"music\",\"wrapMode\":\"Clamp\",\"sourceOutput\":1}],"
    "\"metadata\":{\"Name\":\" \",\"Author\":\"somebody\","
    "\"Description\":\"a \\\"test\\\"\",\"ShaderToyURL\":\"http://x\"},"
    "\"uniforms\":{\"speed\":{\"type\":\"Float\",\"value\":1.5},"
    "\"n\":{\"type\":\"Int\",\"value\":3},"
    "\"tint\":{\"type\":\"Vec3\",\"value\":[1,0.5,0]}},"
    "\"nodes\":[{\"class\":\"RenderOutput\",\"name\":\"RenderOutput\"},"
    "{\"class\":\"GLSLShader\",\"name\":\"Image\",\"source\":\"i\\n\","
    "\"type\":\"Image\",\"unknown\":[1]},"
    "{\"class\":\"GLSLShader\",\"name\":\"Buffer A\",\"source\":\"a\","
    "\"type\":\"Image\",\"format\":\"R32F\",\"width\":64,\"height\":32},"
    "{\"class\":\"Texture\",\"name\":\"Tex/1\",\"width\":2,\"height\":1,"
    "\"data\":\"AAECAwQFBgc=\"},"
    "{\"class\":\"CubeMap\",\"name\":\"Sky\",\"size\":1,"
    "\"data\":\"AAECAwQFBgcICQoLDA0ODxAREhMUFRYX\"},"
    "{\"class\":\"Volume\",\"name\":\"Vol\",\"size\":2,\"channels\":1,"
    "\"data\":\"AAECAwQFBgc=\"},"
    "{\"class\":\"LastFrame\",\"name\":\"LastFrame\","
    "\"ref\":\"Buffer A\",\"type\":\"Image\"},"
    "{\"class\":\"Keyboard\",\"name\":\"Keys\"},"
    "{\"class\":\"Music\",\"name\":\"Sound\"},"
    "{\"class\":\"GLSLShader\",\"name\":\"music\",\"source\":\"m\","
    "\"type\":\"Compute\",\"width\":8,\"height\":8,\"localSize\":[4,2,1],"
    "\"iterations\":3,\"extraRenderFormats\":[\"RGBA16F\"],"
    "\"storageBuffers\":[{\"name\":\"s\",\"binding\":2,\"size\":16}]},"
    "{\"class\":\"GLSLShader\",\"name\":\"Buffer?A\",\"source\":\"u\","
    "\"type\":\"CubeMap\"}]}";

static void check_input(const struct input_ref *in, int channel, enum input_kind kind,
    int pass, int asset, int is_previous, enum filter filter, enum wrap wrap)
{
	CHECK_INT(in->channel, channel);
	CHECK_INT(in->kind, kind);
	CHECK_INT(in->pass, pass);
	CHECK_INT(in->asset, asset);
	CHECK_INT(in->is_previous, is_previous);
	CHECK_INT(in->filter, filter);
	CHECK_INT(in->wrap, wrap);
}

static void test_foreign(void)
{
	struct err err = ERR_INIT;
	struct tree *tree;
	struct manifest m;
	struct buf file = BUF_INIT;
	char *message;
	if (!CHECK(!read_text(foreign, strlen(foreign), &tree, &m, &message))) {
		fprintf(stderr, "\t%s\n", message ? message : "");
		free(message);
		return;
	}
	CHECK_STR(m.name, "fallback");
	CHECK_STR(m.author, "somebody");
	CHECK_STR(m.description, "a \"test\"");
	CHECK_STR(m.source_url, "http://x");
	CHECK_INT(m.dialect, DIALECT_GLSL);
	CHECK_INT(m.nuniform, 3);
	int speed = manifest_uniform(&m, "speed");
	int tint = manifest_uniform(&m, "tint");
	if (CHECK(speed >= 0 && tint >= 0)) {
		CHECK_INT(m.uniform[speed].type, VALUE_FLOAT);
		CHECK(m.uniform[speed].value.f[0] == 1.5);
		CHECK_INT(m.uniform[tint].type, VALUE_VEC3);
		CHECK(m.uniform[tint].value.f[1] == 0.5);
	}
	if (!CHECK_INT(m.npass, 4) || !CHECK_INT(m.nasset, 3))
		goto out;
	CHECK_INT(m.image, 0);
	CHECK_STR(m.pass[0].name, "Image");
	CHECK_STR(m.pass[0].source, "shaders/Image.frag");
	CHECK_INT(m.pass[1].kind, PASS_BUFFER);
	CHECK_INT(m.pass[1].format, FORMAT_R32F);
	CHECK_INT(m.pass[1].width, 64);
	CHECK_STR(m.pass[2].name, "music-2");
	CHECK_STR(m.pass[2].source, "shaders/music.comp");
	CHECK_INT(m.pass[2].kind, PASS_COMPUTE);
	CHECK_INT(m.pass[2].iterations, 3);
	CHECK_INT(m.pass[2].local_size[1], 2);
	CHECK_INT(m.pass[2].nextra_output, 1);
	CHECK_INT(m.pass[2].extra_output[0], FORMAT_RGBA16F);
	CHECK_INT(m.pass[2].nstorage, 1);
	CHECK_INT(m.pass[2].storage[0].binding, 2);
	CHECK_INT(m.pass[3].kind, PASS_CUBEMAP);
	CHECK_STR(m.pass[3].source, "shaders/Buffer-A-2.frag");
	if (CHECK_INT(m.pass[0].ninput, 4) && CHECK_INT(m.pass[1].ninput, 4)) {
		check_input(&m.pass[0].input[0], 1, INPUT_PASS, 1, -1, 0, FILTER_MIPMAP,
		    WRAP_CLAMP);
		check_input(&m.pass[0].input[1], 0, INPUT_TEXTURE, -1, 0, 0,
		    FILTER_NEAREST, WRAP_REPEAT);
		check_input(&m.pass[0].input[2], 2, INPUT_CUBEMAP, -1, 1, 0,
		    FILTER_LINEAR, WRAP_CLAMP);
		check_input(&m.pass[0].input[3], 3, INPUT_VOLUME, -1, 2, 0, FILTER_LINEAR,
		    WRAP_CLAMP);
		check_input(&m.pass[1].input[0], 0, INPUT_PASS, 1, -1, 1, FILTER_LINEAR,
		    WRAP_CLAMP);
		check_input(&m.pass[1].input[1], 15, INPUT_KEYBOARD, -1, -1, 0,
		    FILTER_LINEAR, WRAP_CLAMP);
		check_input(&m.pass[1].input[2], 2, INPUT_MUSIC, -1, -1, 0, FILTER_LINEAR,
		    WRAP_CLAMP);
		check_input(&m.pass[1].input[3], 3, INPUT_PASS, 2, -1, 0, FILTER_LINEAR,
		    WRAP_CLAMP);
		CHECK_INT(m.pass[1].input[3].output, 1);
	}
	get_file(tree, "shaders/Image.frag", &file);
	CHECK_STR(buf_str(&file), "i\n");
	/* Pictures come back as the bytes they were. */
	for (int i = 0; i < 3; i++) {
		struct image image;
		get_file(tree, m.asset[i].path, &file);
		if (!CHECK(!image_decode(&m.asset[i], m.asset[i].path, file.data,
			file.len, &image, &err)))
			continue;
		size_t n = i == 1 ? 24 : 8;
		CHECK_INT(image.ndata, n);
		for (size_t k = 0; k < n && k < image.ndata; k++)
			CHECK_INT(image.data[k], k);
		image_release(&image);
	}
	CHECK_STR(m.asset[0].path, "textures/Tex-1.png");
	CHECK_STR(m.asset[2].path, "textures/Vol.bin");
out:
	buf_release(&file);
	done(tree, &m);
}

static char *replaced(const char *text, const char *from, const char *to)
{
	const char *p = strstr(text, from);
	if (!CHECK(p != NULL)) {
		fprintf(stderr, "\t%s\n", from);
		return xstrdup(text);
	}
	return xasprintf("%.*s%s%s", (int)(p - text), text, to, p + strlen(from));
}

static void test_refused(void)
{
	static const struct {
		const char *from, *to, *says;
	} row[] = {
		{ "\"metadata\"", "\"x\"", "metadata" },
		{ "\"nodes\"", "\"x\"", "nodes" },
		{ "\"links\"", "\"x\"", "links" },
		{ "\"somebody\"", "1", "Author" },
		{ "\"class\":\"Music\"", "\"class\":\"SoundOutput\"", "SoundOutput" },
		{ "\"class\":\"Music\"", "\"class\":\"Unknown\"", "Unknown" },
		{ "\"class\":\"Keyboard\"", "\"class\":\"Keybord\"", "is it 'Keyboard'" },
		{ "\"type\":\"Compute\"", "\"type\":\"Sound\"", "Sound" },
		{ "\"name\":\"Buffer?A\"", "\"name\":\"Buffer A\"", "two nodes" },
		{ "\"name\":\"Keys\"", "\"name\":\"\"", "needs a name" },
		{ "\"slot\":15", "\"slot\":16", "0..15" },
		{ "\"slot\":15", "\"slot\":0", "linked twice" },
		{ "\"slot\":15", "\"slot\":\"a\"", "integer" },
		{ "\"start\":\"Keys\"", "\"start\":\"Nobody\"", "no node 'Nobody'" },
		{ "\"start\":\"Keys\"", "\"start\":\"RenderOutput\"",
		    "nothing leads out" },
		{ "{\"end\":\"Buffer A\",\"filter\":\"Linear\",\"slot\":15",
		    "{\"end\":\"Keys\",\"filter\":\"Linear\",\"slot\":15", "Keyboard" },
		{ "{\"end\":\"Buffer A\",\"filter\":\"Linear\",\"slot\":15",
		    "{\"end\":\"RenderOutput\",\"filter\":\"Linear\","
		    "\"slot\":15",
		    "second link" },
		{ "\"start\":\"Image\"", "\"start\":\"Keys\"", "Image" },
		{ "\"end\":\"RenderOutput\"", "\"end\":\"Image\"", "no link leads" },
		{ "\"sourceOutput\":1", "\"sourceOutput\":2", "no output 2" },
		{ "\"ref\":\"Buffer A\"", "\"ref\":\"Keys\"", "no shader" },
		{ "\"ref\":\"Buffer A\"", "\"ref\":\"Image\"", "final pass" },
		{ "\"ref\":\"Buffer A\"",
		    "\"refOutput\":1,"
		    "\"ref\":\"Buffer A\"",
		    "last frame can be read" },
		{ "\"ref\":\"Buffer A\",\"type\":\"Image\"",
		    "\"ref\":\"Buffer A\",\"type\":\"CubeMap\"", "of type" },
		{ "\"filter\":\"Mipmap\"", "\"filter\":\"mipmap\"", "is it 'Mipmap'" },
		{ "\"format\":\"R32F\"", "\"format\":\"r32f\"", "format" },
		{ "\"width\":64,", "", "width" },
		{ "\"width\":2,", "\"width\":3,", "calls for" },
		{ "\"width\":2,", "\"width\":16385,", "16384" },
		{ "\"size\":1,\"data\":\"AA", "\"size\":1,\"data\":\"A*", "base64" },
		{ "\"channels\":1", "\"channels\":2", "1 or 4" },
		{ "\"type\":\"CubeMap\"}", "\"type\":\"CubeMap\",\"width\":4}",
		    "cannot have 'width'" },
		{ "\"type\":\"Image\",\"unknown\"",
		    "\"type\":\"Image\",\"format\":\"R32F\",\"unknown\"", "format" },
		{ "\"type\":\"Image\",\"unknown\"",
		    "\"type\":\"Image\",\"localSize\":[1,1,1],\"unknown\"", "Compute" },
		{ "\"type\":\"Compute\",\"width\":8,\"height\":8", "\"type\":\"Compute\"",
		    "width" },
		{ "\"localSize\":[4,2,1]", "\"localSize\":[4,2,1,1]", "three integers" },
		{ "\"localSize\":[4,2,1]", "\"localSize\":[64,64,1]", "invocations" },
		{ "\"iterations\":3", "\"iterations\":5000", "4096" },
		{ "\"binding\":2,\"size\":16", "\"binding\":2,\"size\":0", "size" },
		{ "\"type\":\"Vec3\"", "\"type\":\"Vec5\"", "Vec5" },
		{ "[1,0.5,0]", "[1,0.5]", "Vec3" },
		{ "\"value\":3", "\"value\":3.5", "Int" },
		{ "\"speed\":", "\"iTime\":", "iTime" },
		{ "\"speed\":", "\"a b\":", "a b" },
		/* A cycle of current frames. */
		{ "\"start\":\"LastFrame\"", "\"start\":\"Buffer A\"",
		    "reads its own current frame" },
		{ "\"nodes\":[", "\"stbuild\":{\"dialect\":\"x\"},\"nodes\":[",
		    "not one of glsl" },
		{ "\"nodes\":[", "\"stbuild\":{\"timeline\":3},\"nodes\":[",
		    "expected a list" },
		{ "\"nodes\":[", "\"stbuild\":{\"format\":2},\"nodes\":[", "format" },
		{ "\"nodes\":[",
		    "\"stbuild\":{\"asset\":{\"Vol\":1}},"
		    "\"nodes\":[",
		    "object" },
	};
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		struct tree *tree;
		struct manifest m;
		char *message;
		char *text = replaced(foreign, row[i].from, row[i].to);
		int rc = read_text(text, strlen(text), &tree, &m, &message);
		if (!CHECK(rc < 0 && strstr(message, row[i].says)))
			fprintf(stderr, "\t%s -> %s: %s\n", row[i].from, row[i].to,
			    message ? message : "read");
		done(tree, &m);
		free(message);
		free(text);
	}
	/* Positions are those of the document. */
	struct tree *tree;
	struct manifest m;
	char *message, *text = replaced(foreign, "\"nodes\":[", "\n\"nodes\":[\n");
	char *bad = replaced(text, "\"type\":\"CubeMap\"}", "\n\"type\":\"Cubemap\"}");
	CHECK_INT(read_text(bad, strlen(bad), &tree, &m, &message), -1);
	CHECK(message && strncmp(message, "x.sttf:4:8: ", 12) == 0);
	free(message);
	free(bad);
	free(text);
}

static void test_hostile(void)
{
	size_t n = strlen(foreign);
	int nread = 0;
	for (size_t i = 0; i < n; i++) {
		struct tree *tree;
		struct manifest m;
		char *cut = xstrndup(foreign, i);
		nread += !read_text(cut, i, &tree, &m, NULL);
		done(tree, &m);
		free(cut);
	}
	CHECK_INT(nread, 0);
	uint32_t seed = 11;
	for (int i = 0; i < 6000; i++) {
		struct tree *tree;
		struct manifest m;
		char *copy = xstrndup(foreign, n);
		for (int k = 0; k <= i % 2; k++) {
			seed = seed * 1664525 + 1013904223;
			copy[(seed >> 8) % n] ^= (char)(1 << (seed >> 5 & 7));
		}
		(void)read_text(copy, n, &tree, &m, NULL);
		done(tree, &m);
		free(copy);
	}
}

/* Writing ------------------------------------------------------------------ */

static const char project_text[] =
    "{\"format\": 1, \"project\": {\"name\": \"all\", \"author\": \"me\"},"
    " \"render\": {\"width\": 32, \"height\": 16, \"fps\": 29.97,"
    " \"date\": \"2021-03-04T05:06:07.25\"},"
    " \"shader\": {\"dialect\": \"essl\"},"
    " \"uniform\": ["
    "{\"name\": \"z\", \"type\": \"bool\", \"default\": true},"
    "{\"name\": \"a\", \"type\": \"float\", \"default\": 0.1, \"min\": 0,"
    " \"max\": 2, \"step\": 0.25},"
    "{\"name\": \"v\", \"type\": \"vec2\", \"default\": [1, -0.3]},"
    "{\"name\": \"i\", \"type\": \"int\", \"default\": 7}],"
    " \"asset\": ["
    "{\"name\": \"unused\", \"kind\": \"texture\", \"path\": \"u.png\"},"
    "{\"name\": \"vol\", \"kind\": \"volume\", \"path\": \"v.bin\"},"
    "{\"name\": \"float vol\", \"kind\": \"volume\", \"path\": \"f.bin\"},"
    "{\"name\": \"sky\", \"kind\": \"cubemap\", \"path\": \"s.png\"},"
    "{\"name\": \"grey\", \"kind\": \"texture\", \"path\": \"g.png\","
    " \"channels\": 1},"
    "{\"name\": \"__feedback_0\", \"kind\": \"texture\","
    " \"path\": \"t.png\"}],"
    " \"timeline\": ["
    "{\"frame\": 3, \"set\": {\"a\": 1.5, \"z\": false},"
    " \"mouse\": [1, 2.5, -1, 0], \"keys\": {\"down\": [32, 65]}},"
    "{\"frame\": 9, \"set\": {\"i\": 8}, \"keys\": {\"down\": []}}],"
    " \"pass\": ["
    "{\"name\": \"Output\", \"kind\": \"buffer\", \"source\": \"o.frag\","
    " \"width\": 8, \"height\": 4, \"format\": \"rg32f\","
    " \"extra_outputs\": [\"r32f\", \"rgba32f\"], \"input\": ["
    "{\"channel\": 0, \"source\": \"Output\", \"frame\": \"previous\","
    " \"filter\": \"nearest\"},"
    "{\"channel\": 3, \"source\": \"keyboard\", \"wrap\": \"clamp\"}]},"
    "{\"name\": \"main\", \"kind\": \"image\", \"source\": \"i.frag\","
    " \"input\": ["
    "{\"channel\": 0, \"source\": \"Output\", \"output\": 2,"
    " \"filter\": \"mipmap\", \"wrap\": \"clamp\"},"
    "{\"channel\": 1, \"source\": \"vol\"},"
    "{\"channel\": 2, \"source\": \"sky\", \"wrap\": \"clamp\"},"
    "{\"channel\": 4, \"source\": \"grey\"},"
    "{\"channel\": 5, \"source\": \"__feedback_0\"},"
    "{\"channel\": 6, \"source\": \"music\"},"
    "{\"channel\": 7, \"source\": \"cube\", \"frame\": \"previous\"},"
    "{\"channel\": 8, \"source\": \"Output\", \"frame\": \"previous\"},"
    "{\"channel\": 9, \"source\": \"float vol\"}]},"
    "{\"name\": \"cube\", \"kind\": \"cubemap\", \"source\": \"c.frag\","
    " \"input\": [{\"channel\": 0, \"source\": \"work\"}]},"
    "{\"name\": \"work\", \"kind\": \"compute\", \"source\": \"w.comp\","
    " \"width\": 4, \"height\": 4, \"iterations\": 5,"
    " \"local_size\": [4, 2, 1], \"storage\": [{\"binding\": 1,"
    " \"name\": \"cells\", \"size\": 64}]},"
    "{\"name\": \"loud\", \"kind\": \"sound\", \"source\": \"l.glsl\"}]}";

static uint8_t texel[256];

static void set_image(struct image *image, int width, int height, int depth, int nface,
    int channels, int is_float)
{
	*image = (struct image){ .width = width,
		.height = height,
		.depth = depth,
		.nface = nface,
		.channels = channels,
		.is_float = is_float,
		.data = texel,
		.ndata = (size_t)(width * height * depth * nface * channels *
		    (is_float ? 4 : 1)) };
}

static struct source source_of(char *text)
{
	return (struct source){ .text = text, .ntext = strlen(text) };
}

/* The manifest of project_text as a variant, and its images and sources. */
struct fixture {
	struct manifest m;
	struct variant v;
	struct image image[6];
	struct source source[5];
};

static int setup(struct fixture *f, const char *text)
{
	static char body[] = "#line 1\nvoid mainImage(out vec4 c, in vec2 p)"
			     " { c = vec4(a + v.x); }\n";
	struct err err = ERR_INIT;
	struct errs errs = ERRS_INIT;
	struct doc doc = { 0 };
	int rc = json_read("p", text, strlen(text), JSON_PLAIN, &doc, &err);
	*f = (struct fixture){ 0 };
	if (!rc)
		rc = manifest_from_doc(&doc, DIALECT_ESSL, &f->m, &errs);
	if (!rc)
		rc = variant_init(&f->v, &f->m, NULL, &(struct variant_options){ 0 },
		    &err);
	if (!CHECK_INT(rc, 0) && errs.nerr)
		fprintf(stderr, "\t%s\n", errs.err[0].message);
	for (size_t i = 0; i < sizeof texel; i++)
		texel[i] = (uint8_t)(i * 37);
	set_image(&f->image[0], 1, 1, 1, 1, 4, 0);
	set_image(&f->image[1], 2, 2, 2, 1, 4, 0);
	set_image(&f->image[2], 3, 2, 1, 1, 1, 1);
	set_image(&f->image[3], 2, 2, 1, 6, 4, 0);
	set_image(&f->image[4], 3, 2, 1, 1, 1, 0);
	set_image(&f->image[5], 2, 3, 1, 1, 4, 0);
	for (int i = 0; i < 5; i++)
		f->source[i] = source_of(body);
	err_release(&err);
	errs_release(&errs);
	doc_release(&doc);
	return rc;
}

static void teardown(struct fixture *f)
{
	variant_release(&f->v);
	manifest_release(&f->m);
}

static const cJSON *named(const cJSON *list, const char *name)
{
	for (const cJSON *c = list->child; c; c = c->next)
		if (strcmp(cJSON_GetObjectItem(c, "name")->valuestring, name) == 0)
			return c;
	return NULL;
}

static const char *text_of(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
	return cJSON_IsString(item) ? item->valuestring : NULL;
}

static double number_of(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
	return cJSON_IsNumber(item) ? item->valuedouble : -1;
}

static void test_written(void)
{
	/* Classes and names in the order of nodes. */
	static const char *const node[][2] = {
		{ "Texture", "grey" },
		{ "Texture", "__feedback_0" },
		{ "CubeMap", "sky" },
		{ "Volume", "vol" },
		{ "Volume", "float vol" },
		{ "GLSLShader", "Output" },
		{ "GLSLShader", "main" },
		{ "GLSLShader", "cube" },
		{ "GLSLShader", "work" },
		{ "LastFrame", "__feedback_0_2" },
		{ "Keyboard", "keyboard" },
		{ "Music", "music" },
		{ "LastFrame", "__feedback_1" },
		{ "RenderOutput", "Output_2" },
	};
	struct err err = ERR_INIT;
	struct fixture f;
	struct buf out = BUF_INIT, again = BUF_INIT;
	cJSON *json = NULL;
	if (setup(&f, project_text) < 0)
		goto out;
	CHECK(!sttf_write(&f.v, f.source, f.image, &out, &err));
	CHECK(!sttf_write(&f.v, f.source, f.image, &again, &err));
	CHECK(out.len == again.len && memcmp(out.data, again.data, out.len) == 0);
	CHECK(!strchr(buf_str(&out), '\n'));
	CHECK(!json_parse("w", buf_str(&out), out.len, &json, &err));
	/* Keys sorted. */
	buf_reset(&again);
	fields_print(json, FIELDS_SORTED, &again);
	CHECK_STR(buf_str(&again), buf_str(&out));

	const cJSON *nodes = cJSON_GetObjectItem(json, "nodes");
	size_t n = 0;
	for (const cJSON *c = nodes->child; c; c = c->next, n++) {
		if (!CHECK(n < sizeof node / sizeof node[0]))
			break;
		CHECK_STR(text_of(c, "class"), node[n][0]);
		CHECK_STR(text_of(c, "name"), node[n][1]);
	}
	CHECK_INT(n, sizeof node / sizeof node[0]);
	const cJSON *links = cJSON_GetObjectItem(json, "links");
	CHECK_INT(cJSON_GetArraySize(links), 13);
	const cJSON *last = cJSON_GetArrayItem(links, 12);
	CHECK_STR(text_of(last, "start"), "main");
	CHECK_STR(text_of(last, "end"), "Output_2");
	CHECK_STR(text_of(last, "filter"), "Linear");
	CHECK_STR(text_of(last, "wrapMode"), "Clamp");
	const cJSON *second = cJSON_GetArrayItem(links, 2);
	CHECK_STR(text_of(second, "filter"), "Mipmap");
	CHECK_INT(number_of(second, "sourceOutput"), 2);
	CHECK(!cJSON_HasObjectItem(last, "sourceOutput"));
	/* Feedback of one pass is one node. */
	CHECK_STR(text_of(cJSON_GetArrayItem(links, 0), "start"), "__feedback_0_2");
	CHECK_STR(text_of(cJSON_GetArrayItem(links, 9), "start"), "__feedback_0_2");

	const cJSON *shader = named(nodes, "main");
	CHECK_STR(text_of(shader, "type"), "Image");
	CHECK(!cJSON_HasObjectItem(shader, "width"));
	CHECK(!cJSON_HasObjectItem(shader, "format"));
	CHECK(!cJSON_HasObjectItem(shader, "localSize"));
	CHECK(strstr(text_of(shader, "source"), "uniform float a;") != NULL);
	const cJSON *work = named(nodes, "work");
	CHECK_STR(text_of(work, "type"), "Compute");
	CHECK_INT(number_of(work, "iterations"), 5);
	CHECK(!cJSON_HasObjectItem(work, "format"));
	CHECK_INT(cJSON_GetArraySize(cJSON_GetObjectItem(work, "localSize")), 3);
	/* One channel travels as RGBA8. */
	static const uint8_t grey[8] = { 0, 0, 0, 255, 37, 0, 0, 255 };
	struct buf data = BUF_INIT;
	const char *text = text_of(named(nodes, "grey"), "data");
	CHECK(!base64_decode(text, strlen(text), &data));
	CHECK(data.len == 24 && memcmp(data.data, grey, 8) == 0);
	buf_release(&data);
	const cJSON *uniforms = cJSON_GetObjectItem(json, "uniforms");
	const cJSON *z = cJSON_GetObjectItem(uniforms, "z");
	CHECK_STR(text_of(z, "type"), "Int");
	CHECK_INT(number_of(z, "value"), 1);
	const cJSON *metadata = cJSON_GetObjectItem(json, "metadata");
	CHECK_STR(text_of(metadata, "Name"), "all");
out:
	cJSON_Delete(json);
	buf_release(&out);
	buf_release(&again);
	err_release(&err);
	teardown(&f);
}

static void check_value(const struct value *got, const struct value *want)
{
	struct buf a = BUF_INIT, b = BUF_INIT;
	CHECK_INT(got->type, want->type);
	value_print(got, &a);
	value_print(want, &b);
	CHECK_STR(a.data, b.data);
	buf_release(&a);
	buf_release(&b);
}

static void check_uniform(const struct uniform *got, const struct uniform *want)
{
	CHECK_STR(got->name, want->name);
	check_value(&got->value, &want->value);
	CHECK_INT(got->has_min, want->has_min);
	CHECK_INT(got->has_step, want->has_step);
	if (want->has_max)
		check_value(&got->max, &want->max);
	CHECK(got->step == want->step);
}

static void check_pass(const struct pass *got, const struct pass *want,
    const struct manifest *gm, const struct manifest *wm)
{
	CHECK_STR(got->name, want->name);
	CHECK_INT(got->kind, want->kind);
	CHECK_INT(got->width, want->width);
	CHECK_INT(got->height, want->height);
	CHECK_INT(got->format, want->format);
	CHECK_INT(got->iterations, want->iterations);
	CHECK(memcmp(got->local_size, want->local_size, sizeof got->local_size) == 0);
	CHECK_INT(got->nextra_output, want->nextra_output);
	for (int i = 0; i < want->nextra_output; i++)
		CHECK_INT(got->extra_output[i], want->extra_output[i]);
	if (CHECK_INT(got->nstorage, want->nstorage) && want->nstorage) {
		CHECK_STR(got->storage[0].name, want->storage[0].name);
		CHECK_INT(got->storage[0].size, want->storage[0].size);
		CHECK_INT(got->storage[0].binding, want->storage[0].binding);
	}
	if (!CHECK_INT(got->ninput, want->ninput))
		return;
	for (size_t i = 0; i < want->ninput; i++) {
		const struct input_ref *a = &got->input[i];
		const struct input_ref *b = &want->input[i];
		CHECK_INT(a->channel, b->channel);
		CHECK_INT(a->kind, b->kind);
		CHECK_INT(a->output, b->output);
		CHECK_INT(a->is_previous, b->is_previous);
		CHECK_INT(a->filter, b->filter);
		CHECK_INT(a->wrap, b->wrap);
		if (b->pass >= 0)
			CHECK_STR(gm->pass[a->pass].name, wm->pass[b->pass].name);
		if (b->asset >= 0)
			CHECK_STR(gm->asset[a->asset].name, wm->asset[b->asset].name);
	}
}

static void test_round_trip(void)
{
	struct err err = ERR_INIT;
	struct fixture f;
	struct buf out = BUF_INIT, file = BUF_INIT;
	struct tree *tree = NULL;
	struct manifest m;
	char *message = NULL;
	if (setup(&f, project_text) < 0)
		goto out;
	CHECK(!sttf_write(&f.v, f.source, f.image, &out, &err));
	if (!CHECK(!read_text(buf_str(&out), out.len, &tree, &m, &message))) {
		fprintf(stderr, "\t%s\n", message);
		goto out;
	}
	CHECK_STR(m.name, "all");
	CHECK_INT(m.dialect, DIALECT_ESSL);
	CHECK_INT(m.width, 32);
	CHECK_INT(m.height, 16);
	CHECK(m.fps == f.m.fps);
	CHECK_INT(m.date.year, 2021);
	CHECK_INT(m.date.minute, 6);
	CHECK(m.date.second == 7.25);
	if (CHECK_INT(m.nuniform, 4))
		for (int i = 0; i < 4; i++)
			check_uniform(&m.uniform[i], &f.m.uniform[i]);
	if (CHECK_INT(m.npass, 4))
		for (int i = 0; i < 4; i++)
			check_pass(&m.pass[i], &f.m.pass[i], &m, &f.m);
	CHECK_INT(m.image, 1);
	if (CHECK_INT(m.timeline.nstep, 2)) {
		const struct timeline_step *s = m.timeline.step;
		CHECK_INT(s[0].frame, 3);
		CHECK_INT(s[0].nset, 2);
		CHECK(s[0].has_mouse && s[0].mouse[1] == 2.5f);
		CHECK(s[0].has_keys && s[0].nkey == 2 && s[0].key[1] == 65);
		CHECK(!s[1].has_mouse && s[1].has_keys && s[1].nkey == 0);
		CHECK_INT(s[1].frame, 9);
		CHECK_INT(s[1].nset, 1);
	}
	CHECK_INT(m.nasset, 5);
	for (size_t i = 0; i < m.nasset; i++) {
		struct image image;
		size_t want = 0;
		while (want < f.m.nasset &&
		    strcmp(f.m.asset[want].name, m.asset[i].name) != 0)
			want++;
		if (!CHECK(want > 0 && want < f.m.nasset))
			continue;
		get_file(tree, m.asset[i].path, &file);
		if (!CHECK(!image_decode(&m.asset[i], m.asset[i].path, file.data,
			file.len, &image, &err))) {
			fprintf(stderr, "\t%s\n", err.message);
			err_release(&err);
			continue;
		}
		const struct image *b = &f.image[want];
		CHECK_INT(image.width, b->width);
		CHECK_INT(image.height, b->height);
		CHECK_INT(image.depth, b->depth);
		CHECK_INT(image.nface, b->nface);
		CHECK_INT(image.channels, b->channels);
		CHECK_INT(image.is_float, b->is_float);
		CHECK(image.ndata == b->ndata &&
		    memcmp(image.data, b->data, b->ndata) == 0);
		image_release(&image);
	}
	/* The text, as other readers get it. */
	get_file(tree, "shaders/main.frag", &file);
	CHECK(strstr(buf_str(&file), "uniform vec2 v;") != NULL);
	CHECK(strstr(buf_str(&file), "void mainImage") != NULL);
out:
	done(tree, &m);
	free(message);
	buf_release(&out);
	buf_release(&file);
	err_release(&err);
	teardown(&f);
}

/* Without extras it is still a document, in desktop GLSL. */
static void test_without_extras(void)
{
	struct err err = ERR_INIT;
	struct fixture f;
	struct buf out = BUF_INIT;
	struct tree *tree = NULL;
	struct manifest m;
	cJSON *json = NULL;
	char *message = NULL;
	static const char text[] =
	    "{\"format\": 1, \"project\": {\"name\":"
	    " \"p\"}, \"uniform\": [{\"name\": \"z\", \"type\": \"bool\","
	    " \"default\": true}], \"pass\": [{\"name\": \"image\","
	    " \"kind\": \"image\", \"source\": \"i.frag\"}]}";
	if (setup(&f, text) < 0)
		goto out;
	CHECK(!sttf_write(&f.v, f.source, f.image, &out, &err));
	CHECK(!json_parse("w", buf_str(&out), out.len, &json, &err));
	cJSON_DeleteItemFromObjectCaseSensitive(json, "stbuild");
	buf_reset(&out);
	fields_print(json, FIELDS_SORTED, &out);
	if (!CHECK(!read_text(buf_str(&out), out.len, &tree, &m, &message)))
		goto out;
	CHECK_INT(m.dialect, DIALECT_GLSL);
	CHECK_INT(m.uniform[0].type, VALUE_INT);
	CHECK_INT(m.uniform[0].value.i, 1);
out:
	done(tree, &m);
	free(message);
	cJSON_Delete(json);
	buf_release(&out);
	err_release(&err);
	teardown(&f);
}

/* What other programs wrote, where it is at hand. */
static void test_corpus(void)
{
	/* The compiler was given a path that works from the build folder. */
	char *here = fs_dirname(__FILE__);
	char *dir = fs_join(here, "../../../shared/corpus/sttf");
	DIR *d = opendir(dir);
	int n = 0;
	free(here);
	if (!d) {
		printf("sttf: no corpus beside the source: that part is "
		       "skipped\n");
		free(dir);
		return;
	}
	const struct dirent *e;
	while ((e = readdir(d))) {
		struct err err = ERR_INIT;
		struct buf text = BUF_INIT;
		struct tree *tree = NULL;
		struct manifest m;
		char *message = NULL, *path;
		size_t len = strlen(e->d_name);
		if (len < 5 || strcmp(e->d_name + len - 5, ".sttf") != 0)
			continue;
		path = fs_join(dir, e->d_name);
		CHECK(!fs_read(path, 1u << 28, &text, &err));
		if (CHECK(!read_text(buf_str(&text), text.len, &tree, &m, &message)))
			CHECK(m.npass > 0 && strcmp(m.name, "fallback") != 0);
		else
			fprintf(stderr, "\t%s: %s\n", e->d_name, message);
		n++;
		done(tree, &m);
		free(message);
		free(path);
		buf_release(&text);
		err_release(&err);
	}
	closedir(d);
	free(dir);
	CHECK(n > 0);
}

int main(void)
{
	test_base64();
	test_foreign();
	test_refused();
	test_hostile();
	test_written();
	test_round_trip();
	test_without_extras();
	test_corpus();
	return test_done();
}

/* Projects read into memory load as what they were. */

#include "import/import.h"

#include <stdlib.h>

#include "project/manifest.h"
#include "test.h"
#include "util/buf.h"
#include "util/mem.h"

static void add(struct tree *t, const char *path, const char *text)
{
	tree_memory_add(t, path, text, strlen(text));
}

static const char toml[] =
    "format = 1\n"
    "[project]\nname = \"old\"\n"
    "[shader]\ninclude_dirs = [\"lib\"]\n"
    "[[asset]]\nname = \"t\"\nkind = \"texture\"\npath = \"art/t.png\"\n"
    "[[pass]]\nname = \"i\"\nkind = \"image\"\nsource = \"shaders/i.glsl\"\n"
    "[[pass.input]]\nchannel = 0\nsource = \"t\"\n"
    "[[test]]\nname = \"a\"\nreference = \"refs/there.png\"\n"
    "[[test]]\nname = \"b\"\nreference = \"refs/later.png\"\n";

static struct tree *old_project(void)
{
	struct tree *t = tree_new_memory("old");
	add(t, "ShaderToy.toml", toml);
	add(t, "shaders/i.glsl",
	    "#include \"near.glsl\"\n#include \"far.glsl\"\n"
	    "void mainImage(out vec4 c, in vec2 p) { c = vec4(near() + far()); }\n");
	add(t, "shaders/near.glsl", "float near() { return 1.0; }\n");
	add(t, "lib/far.glsl", "float far() { return 0.5; }\n");
	add(t, "lib/unused.glsl", "float unused;\n");
	add(t, "art/t.png", "bytes\n");
	add(t, "refs/there.png", "picture");
	return t;
}

static void check_kind(struct tree *t, const char *path, enum tree_kind want, int line)
{
	struct err err = ERR_INIT;
	enum tree_kind kind;
	char *resolved = NULL;
	test_int(tree_lookup(t, path, &kind, &resolved, &err), 0, path, __FILE__, line);
	test_int(kind, want, path, __FILE__, line);
	free(resolved);
	err_release(&err);
}
#define KIND(path, kind) check_kind(to, path, kind, __LINE__)

static void test_files(void)
{
	struct errs errs = ERRS_INIT;
	struct tree *from = old_project(), *to = NULL;
	CHECK_INT(project_read(from, "ShaderToy.toml", &to, &errs), 0);
	for (size_t i = 0; i < errs.nerr; i++)
		fprintf(stderr, "\t%s\n", errs.err[i].message);
	tree_free(from); /* nothing of it is needed any more */
	if (!CHECK(to != NULL))
		return;
	KIND("stbuild.json", TREE_FILE);
	KIND("ShaderToy.toml", TREE_ABSENT);
	KIND("shaders/i.glsl", TREE_FILE);
	KIND("shaders/near.glsl", TREE_FILE);
	KIND("lib/far.glsl", TREE_FILE);
	KIND("lib/unused.glsl", TREE_ABSENT);
	KIND("art/t.png", TREE_FILE);
	KIND("refs/there.png", TREE_FILE);
	KIND("refs/later.png", TREE_ABSENT);

	struct manifest m;
	CHECK_INT(manifest_load(to, "stbuild.json", NULL, &m, &errs), 0);
	CHECK_INT(errs.nerr, 0);
	CHECK_STR(m.name, "old");
	CHECK_INT(m.dialect, DIALECT_GLSL);
	CHECK_INT(m.ntest, 2);
	CHECK_STR(m.pass[0].source, "shaders/i.glsl");
	CHECK_INT(m.pass[0].ninput, 1);
	manifest_release(&m);
	tree_free(to);
	errs_release(&errs);
}

static void check_fault(const char *path, const char *text, const char *word)
{
	struct errs errs = ERRS_INIT;
	struct tree *from = old_project(), *to = NULL;
	add(from, path, text);
	CHECK_INT(project_read(from, "ShaderToy.toml", &to, &errs), -1);
	CHECK(to == NULL);
	int found = 0;
	for (size_t i = 0; i < errs.nerr; i++)
		found |= strstr(errs.err[i].message, word) != NULL;
	if (!CHECK(found))
		fprintf(stderr, "\t'%s' is in no error\n", word);
	errs_release(&errs);
	tree_free(from);
}

static void test_recognise(void)
{
	static const struct {
		const char *name, *text;
		int kind;
		const char *why;
	} row[] = {
		{ "a.json", "{\"nodes\":[],\"links\":[]}", DOCUMENT_STTF, NULL },
		{ "a.sttf", "\xef\xbb\xbf {\"nodes\":[],\"links\":[]}", DOCUMENT_STTF,
		    NULL },
		{ "a", "{\"artifacts\":{}}", DOCUMENT_BUNDLE, NULL },
		{ "a", "[{\"renderpass\":[]}]", DOCUMENT_SHADERTOY, NULL },
		{ "a", "{\"Error\":\"no\"}", DOCUMENT_SHADERTOY, NULL },
		{ "a", "[]", DOCUMENT_SHADERTOY, NULL },
		{ "a", "// c\n{\"pass\":[]}", DOCUMENT_MANIFEST, NULL },
		{ "a", "/* mainly */ {\"pass\":[]}", DOCUMENT_MANIFEST, NULL },
		{ "a.toml", "x = 1", DOCUMENT_MANIFEST, NULL },
		{ "a", "format = 1", DOCUMENT_MANIFEST, NULL },
		{ "a", "x = 1", -1, "'a' is not a Shadertoy export" },
		{ "a.toml", "x = ", -1, "a.toml" },
		{ "a.json", "{\"x\":1}", -1, "is not a Shadertoy export" },
		{ "a.json", "hello", -1, "expected a value" },
		{ "a.json", "[", -1, "ends" },
		{ "hostname", "box\n", -1, "is not a Shadertoy export" },
		{ "x.frag", "void mainImage(out vec4 c, vec2 p) {}", DOCUMENT_SHADER,
		    NULL },
		{ "x.txt", "// x\nvoid mainImage(out vec4 c, vec2 p) {}", DOCUMENT_SHADER,
		    NULL },
		{ "x", "#define M mainSound\nvec2 M(int s, float t) {}", DOCUMENT_SHADER,
		    NULL },
		{ "x.glsl", "void mainCubemap(out vec4 c, vec2 p, vec3 o, vec3 d) {}",
		    DOCUMENT_SHADER, NULL },
		{ "x.frag", "// mainImage\nvoid main() {}", -1, "has no mainImage" },
		{ "x.html", "\n<!doctype HTML><p>", -1, "is an HTML page" },
		{ "x.json", "<html>", -1, "is an HTML page" },
		{ "x.json", "\x89PNG\r\n\x1a\n", -1, "it is PNG" },
		{ "x.json", "", -1, "is empty" },
		{ "x", " \n", -1, "is empty" },
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct err err = ERR_INIT;
		struct buf bytes = BUF_INIT;
		enum document kind = DOCUMENT_STTF;
		buf_addstr(&bytes, row[i].text);
		int rc = recognise(row[i].name, &bytes, &kind, &err);
		CHECK_INT(rc, row[i].kind < 0 ? -1 : 0);
		CHECK_INT(rc < 0 ? -1 : (int)kind, row[i].kind);
		if (!CHECK(!row[i].why ||
			(err.message && err.status == STATUS_INPUT &&
			    (strstr(err.message, row[i].why) || err.file))))
			fprintf(stderr, "\t%s: %s\n", row[i].name, err.message);
		err_release(&err);
		buf_release(&bytes);
	}
}

int main(void)
{
	test_recognise();
	test_files();
	check_fault("ShaderToy.toml", "format = 1\n", "'project' is missing");
	check_fault("shaders/near.glsl", "#include \"gone.glsl\"\n", "gone.glsl");
	return test_done();
}

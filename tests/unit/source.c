#include <stdlib.h>

#include "util/limits.h"
#include "glsl/source.h"
#include "util/mem.h"
#include "test.h"

static struct tree *tree;

static void put(const char *path, const char *text)
{
	tree_memory_add(tree, path, text, strlen(text));
}

static void reset(void)
{
	tree_free(tree);
	tree = tree_new_memory("test");
}

static char *dirs[] = { "lib", "lib/more" };

static void expands(const char *path, const char *common, const char *want)
{
	struct source s;
	struct err err = ERR_INIT;
	int result = source_expand(tree, path, common, dirs, 2, NULL, &s, &err);
	if (!CHECK_INT(result, 0))
		fprintf(stderr, "\t%s\n", err.message);
	else if (CHECK_STR(s.text, want))
		CHECK_INT(s.ntext, strlen(want));
	source_release(&s);
	err_release(&err);
}

/* want: a part of "file:line:column: message". */
static void fails(const char *path, const char *want)
{
	struct source s;
	struct err err = ERR_INIT;
	if (!CHECK_INT(source_expand(tree, path, NULL, dirs, 2, NULL, &s, &err),
		-1)) {
		source_release(&s);
		return;
	}
	CHECK(!s.text && err.status == STATUS_INPUT);
	char *text = err_text(&err);
	if (!CHECK(strstr(text, want) != NULL))
		fprintf(stderr, "\tgot:  %s\n\twant: %s\n", text, want);
	free(text);
	err_release(&err);
}

static void plain(void)
{
	put("empty", "");
	put("crlf", "a\r\nb\rc\n\nd");
	put("bom", "\xef\xbb\xbf" "a\n");
	put("utf8", "// \xc3\xa9 \xf0\x9f\x98\x80\n");
	expands("empty", NULL, "#line 1 1\n");
	expands("crlf", NULL, "#line 1 1\na\nb\nc\n\nd\n");
	expands("bom", NULL, "#line 1 1\na\n");
	expands("utf8", NULL, "#line 1 1\n// \xc3\xa9 \xf0\x9f\x98\x80\n");
	expands("crlf", "bom", "#line 1 1\na\n#line 1 2\na\nb\nc\n\nd\n");
	expands("bom", "bom", "#line 1 1\na\n#line 1 1\na\n");
	put("latin1", "a\n\nb\r\nx \xe9\n");
	fails("latin1", "latin1:4:3: not UTF-8");
	put("cut", "a\n\xf0\x9f\x98");
	fails("cut", "cut:2:1: not UTF-8");
	tree_memory_add(tree, "nul", "a\nb\0c", 5);
	fails("nul", "nul:2:2: a NUL");
	fails("none", "none: no such file");
	put("lfs", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n");
	fails("lfs", "git lfs pull");
}

static void includes(void)
{
	put("x", "X\n");
	put("sub/x", "SX");
	put("lib/y", "Y\n");
	put("lib/more/z", "#include \"../y\"\n");
	put("a", "0\n#include \"x\"\n1\n");
	put("sub/b", "  #\t include\t\"x\" // why\n#include \"y\"\n#include \"../x\"\n");
	put("c", "#include \"z\"");
	put("d", "/* c */ #include \"x\"\nend\n");
	expands("a", NULL, "#line 1 1\n0\n#line 1 2\nX\n#line 3 1\n1\n");
	expands("sub/b", NULL, "#line 1 1\n  \n#line 1 2\nSX\n#line 2 1\n"
		"#line 1 3\nY\n#line 3 1\n#line 1 4\nX\n#line 4 1\n");
	expands("c", NULL, "#line 1 1\n#line 1 2\n#line 1 3\nY\n#line 2 2\n"
		"#line 2 1\n");
	expands("d", NULL, "#line 1 1\n/* c */ \n#line 1 2\nX\n#line 2 1\nend\n");
	put("twice", "#include \"x\"\n#include \"x\"\n");
	expands("twice", NULL, "#line 1 1\n#line 1 2\nX\n#line 2 1\n"
		"#line 1 2\nX\n#line 3 1\n");
	put("not", "// #include \"gone\"\n/*\n#include \"gone\"\n*/\n#includes\n"
		"#define A \\\n#include \"gone\"\n//\\\n#include \"gone\"\n"
		"int a; #include \"gone\"\n#include_next\n");
	struct source s;
	struct err err = ERR_INIT;
	CHECK_INT(source_expand(tree, "not", NULL, NULL, 0, NULL, &s, &err), 0);
	CHECK_INT(s.nfile, 2);
	source_release(&s);
}

static void branches(void)
{
	put("x", "X\n");
	put("a", "#if 0\n#include \"x\"\n#else\nB\n#endif\nC\n#if 1\n#endif\n");
	expands("a", NULL, "#line 1 1\n#if 0\n#line 1 2\nX\n#line 3 1\n#else\n"
		"#line 4 1\nB\n#endif\n#line 6 1\nC\n#if 1\n#endif\n");
	put("b", "#ifdef A\n#if B\n#include \"x\"\n#endif // c\n#elif D \\\n E\n"
		"#endif");
	expands("b", NULL, "#line 1 1\n#ifdef A\n#if B\n#line 1 2\nX\n#line 4 1\n"
		"#endif // c\n#line 5 1\n#elif D \\\n E\n#line 7 1\n#endif\n"
		"#line 8 1\n");
	put("guard", "#ifndef G\n#define G\n#include \"x\"\n#endif\n");
	put("c", "#if 0\n#include \"guard\"\n#endif\nend\n");
	expands("c", NULL, "#line 1 1\n#if 0\n#line 1 2\n#ifndef G\n#define G\n"
		"#line 1 3\nX\n#line 4 2\n#endif\n#line 5 2\n#line 3 1\n#endif\n"
		"#line 4 1\nend\n");
	put("stray", "#endif\n#else\n#include \"x\"\n#endif\n");
	expands("stray", NULL, "#line 1 1\n#endif\n#else\n#line 1 2\nX\n"
		"#line 4 1\n#endif\n");
}

static void user_lines(void)
{
	put("a", "#line 7 3\na\n  # line 8\n#line A\n#line 3+4 1\nb\n");
	expands("a", NULL, "#line 1 1\n#line 7  \na\n  # line 8\n       \n"
		"           \nb\n");
}

static void faults(void)
{
	put("a", "\n  #include \"gone\"\n");
	fails("a", "a:2:12: cannot find include \"gone\"; looked for 'gone', "
		"'lib/gone', 'lib/more/gone'");
	put("a", "#include <x>\n");
	fails("a", "a:1:10: only #include");
	put("a", "#include\n");
	fails("a", "a:1:9: #include wants");
	put("a", "#include x\n");
	fails("a", "a:1:10: #include wants");
	put("a", "#include \"x\n\"\n");
	fails("a", "a:1:10: the name of this #include has no end");
	put("a", "#include \"x\" y\n");
	fails("a", "a:1:14: text behind");
	put("a", "#include \"x\" /* y */\n");
	fails("a", "a:1:14: text behind");
	put("a", "#include \"\"\n");
	fails("a", "empty name");
	put("a", "#include \"/etc/passwd\"\n");
	fails("a", "within the project");
	put("a", "#include \"../x\"\n");
	fails("a", "a:1:10: '../x' is outside the project");
	put("a", "#include \"b/*x\"\n#include \"gone\"\n");
	fails("a", "a:1:10: \"/*\"");
	put("a", "x\n#include \"b\"\n");
	put("b", "\n#include \"sub/c\"\n");
	put("sub/c", "\n\n#include \"../a\"");
	fails("a", "sub/c:3:10: #include cycle: a -> b -> sub/c -> a");
	fails("a", "included from b:2, included from a:2");
	put("self", "#include \"self\"");
	fails("self", "self:1:10: #include cycle: self -> self");
	put("a", "#include \"bad\"\n");
	put("bad", "\n\xff");
	fails("a", "bad:2:1: not UTF-8; save the file in that encoding, "
		"included from a:1");
	struct source s;
	struct err err = ERR_INIT;
	char *missing[] = { "nothing" };
	put("a", "");
	CHECK_INT(source_expand(tree, "a", NULL, missing, 1, NULL, &s, &err), -1);
	CHECK(strstr(err.message, "'nothing' does not exist") != NULL);
	err_release(&err);
}

/* Depth 64 is the last one allowed; the pass itself is 0. */
static void nests(void)
{
	char name[16], text[32];
	for (int i = 0; i <= 64; i++) {
		snprintf(name, sizeof name, "n%d", i);
		snprintf(text, sizeof text, "#include \"n%d\"\n", i + 1);
		put(name, i < 64 ? text : "deep\n");
	}
	struct source s;
	struct err err = ERR_INIT;
	CHECK_INT(source_expand(tree, "n0", NULL, NULL, 0, NULL, &s, &err), 0);
	CHECK_INT(s.nfile, 66);
	CHECK(strstr(s.text, "deep\n") != NULL);
	source_release(&s);
	put("n64", "#include \"n65\"\n");
	put("n65", "deeper\n");
	fails("n0", "n64:1:10: includes are nested more than 64 deep");
	/* Each doubles the next: 2^30 lines, were they written out. */
	for (int i = 0; i < 30; i++) {
		snprintf(name, sizeof name, "n%d", i);
		snprintf(text, sizeof text, "#include \"n%d\"\n", i + 1);
		char *twice = xasprintf("%s%s", text, text);
		put(name, twice);
		free(twice);
	}
	put("n30", "x\n");
	fails("n0", "more than 64 MiB");
}

static const struct input *input(const struct inputs *in, const char *path)
{
	for (size_t i = 0; i < in->ninput; i++)
		if (!strcmp(in->input[i].path, path))
			return &in->input[i];
	return NULL;
}

static void notes_inputs(void)
{
	put("sub/a", "#include \"y\"\r\n#include \"y\"\n#include \"./q/../y\"\n");
	put("lib/more/y", "Y");
	put("common", "");
	struct source s;
	struct inputs in = { 0 };
	struct err err = ERR_INIT;
	CHECK_INT(source_expand(tree, "sub/a", "common", dirs, 2, &in, &s, &err),
		0);
	CHECK_INT(in.ninput, 5);
	struct sha256 sha;
	sha256_of("Y", 1, &sha);
	const struct input *y = input(&in, "lib/more/y");
	CHECK(y && !y->is_absent && sha256_equal(&y->sha, &sha));
	for (int i = 0; i < 2; i++) {
		const struct input *gone = input(&in, i ? "lib/y" : "sub/y");
		CHECK(gone && gone->is_absent);
	}
	const struct input *a = input(&in, "sub/a");
	CHECK(a && !a->is_absent && input(&in, "common"));
	CHECK_INT(s.nfile, 4);
	CHECK_STR(s.file[1], "common");
	CHECK_STR(s.file[2], "sub/a");
	CHECK_STR(s.file[3], "lib/more/y");
	inputs_release(&in);
	source_release(&s);
}

static void quotes(void)
{
	put("a", "one\n#include \"x\"\n#line 77\nfour\n");
	put("x", "X1\nX2\n");
	struct source s;
	struct err err = ERR_INIT;
	if (!CHECK(!source_expand(tree, "a", NULL, NULL, 0, NULL, &s, &err)))
		return;
	static const struct {
		int file, line;
		const char *want;
	} row[] = {
		{ 1, 1, "one" }, { 1, 4, "four" }, { 2, 1, "X1" }, { 2, 2, "X2" },
		{ 2, 3, NULL }, { 1, 5, NULL }, { 3, 1, NULL }, { 0, 1, NULL },
		{ 1, 0, NULL }
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		char *got = source_line(&s, row[i].file, row[i].line);
		CHECK_STR(got, row[i].want);
		free(got);
	}
	source_release(&s);
}

int main(void)
{
	static void (*const test[])(void) = {
		plain, includes, branches, user_lines, faults, nests, notes_inputs,
		quotes
	};
	for (size_t i = 0; i < sizeof test / sizeof *test; i++) {
		reset();
		put("lib/more/.keep", "");
		test[i]();
	}
	tree_free(tree);
	return test_done();
}

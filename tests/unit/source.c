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

static int expand(const char *path, const char *common, char *const *dir, size_t ndir,
    struct inputs *inputs, struct source *out, struct err *err)
{
	struct source_request request = { path, common, dir, ndir,
		{ 1, 300, "#define OURS 1\n" }, 0 };
	return source_expand(tree, &request, inputs, out, err);
}

static void expands(const char *path, const char *common, const char *want)
{
	struct source s;
	struct err err = ERR_INIT;
	int result = expand(path, common, dirs, 2, NULL, &s, &err);
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
	if (!CHECK_INT(expand(path, NULL, dirs, 2, NULL, &s, &err), -1)) {
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
	put("bom",
	    "\xef\xbb\xbf"
	    "a\n");
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
	expands("sub/b", NULL,
	    "#line 1 1\n  \n#line 1 2\nSX\n#line 2 1\n"
	    "#line 1 3\nY\n#line 3 1\n#line 1 4\nX\n#line 4 1\n");
	expands("c", NULL,
	    "#line 1 1\n#line 1 2\n#line 1 3\nY\n#line 2 2\n"
	    "#line 2 1\n");
	expands("d", NULL, "#line 1 1\n/* c */ \n#line 1 2\nX\n#line 2 1\nend\n");
	put("twice", "#include \"x\"\n#include \"x\"\n");
	expands("twice", NULL,
	    "#line 1 1\n#line 1 2\nX\n#line 2 1\n"
	    "#line 1 2\nX\n#line 3 1\n");
	put("not",
	    "// #include \"gone\"\n/*\n#include \"gone\"\n*/\n#includes\n"
	    "#define A \\\n#include \"gone\"\n//\\\n#include \"gone\"\n"
	    "int a; #include \"gone\"\n#include_next\n");
	struct source s;
	struct err err = ERR_INIT;
	CHECK_INT(expand("not", NULL, NULL, 0, NULL, &s, &err), 0);
	CHECK_INT(s.nfile, 2);
	source_release(&s);
}

static void branches(void)
{
	put("x", "X\n");
	put("a",
	    "#if 0\n#include \"gone\"\n#include <gone>\n#else\n"
	    "#include \"x\"\n#endif\nC\n#if 1\n#endif\n");
	expands("a", NULL,
	    "#line 1 1\n#if 0\n\n\n#else\n#line 1 2\nX\n"
	    "#line 6 1\n#endif\n#line 7 1\nC\n#if 1\n#endif\n");
	put("b",
	    "#define A 2\n#ifdef A\n#if A == 2\n#include \"x\"\n#endif // c\n"
	    "#elif D \\\n E\n#endif");
	expands("b", NULL,
	    "#line 1 1\n#define A 2\n#ifdef A\n#if A == 2\n"
	    "#line 1 2\nX\n#line 5 1\n"
	    "#endif // c\n#line 6 1\n#elif D \\\n E\n#line 8 1\n#endif\n"
	    "#line 9 1\n");
	put("stray", "#endif\n#else\n#include \"x\"\n#endif\n");
	expands("stray", NULL,
	    "#line 1 1\n#endif\n#else\n#line 1 2\nX\n"
	    "#line 4 1\n#endif\n");
	/* Macros of common, of the dialect, of what was included. */
	put("common", "#define WANTED 1\n");
	put("c",
	    "#if WANTED && OURS && GL_ES && __VERSION__ == 300\n"
	    "#include \"x\"\n#endif\n");
	expands("c", "common",
	    "#line 1 1\n#define WANTED 1\n#line 1 2\n#if WANTED "
	    "&& OURS && GL_ES && __VERSION__ == 300\n#line 1 3\nX\n#line 3 2\n"
	    "#endif\n#line 4 2\n");
	put("c",
	    "#include \"common\"\n#if WANTED\n#undef WANTED\n#else\n"
	    "#include \"gone\"\n#endif\n");
	expands("c", NULL,
	    "#line 1 1\n#line 1 2\n#define WANTED 1\n#line 2 1\n"
	    "#if WANTED\n#undef WANTED\n#else\n\n#endif\n");
	/* What preprocess finds at fault, it tells. */
	put("c", "#if NOBODY\n#include \"gone\"\n#endif\n");
	expands("c", NULL, "#line 1 1\n#if NOBODY\n\n#endif\n");
}

static void guards(void)
{
	put("g", "#ifndef G\n#define G\n#include \"h\"\nG1\n#endif\n");
	put("h", "#ifndef H\n#define H\n#include \"g\"\nH1\n#endif\n");
	expands("g", NULL,
	    "#line 1 1\n#ifndef G\n#define G\n#line 1 2\n#ifndef H\n"
	    "#define H\n#line 1 1\n#ifndef G\n#define G\n\nG1\n#endif\n"
	    "#line 6 1\n#line 4 2\nH1\n#endif\n#line 6 2\n#line 4 1\nG1\n#endif\n"
	    "#line 6 1\n");
	put("once", "#pragma once\n#include \"once\"\nO\n");
	put("a", "#include \"once\"\n#include \"once\" /*\n*/\nA\n");
	expands("a", NULL,
	    "#line 1 1\n#line 1 2\n#pragma once\n\nO\n#line 2 1\n"
	    "\n\nA\n");
	put("twice", "#if 0\n#pragma once\n#endif\nT\n");
	put("a", "#include \"twice\"\n#include \"twice\"\n");
	expands("a", NULL,
	    "#line 1 1\n#line 1 2\n#if 0\n#pragma once\n#endif\nT\n"
	    "#line 2 1\n#line 1 2\n#if 0\n#pragma once\n#endif\nT\n#line 3 1\n");
	put("endless", "#if 1\n#include \"endless\"\n#endif\n");
	fails("endless", "endless:2:10: #include cycle: endless -> endless");
	put("cond", "#define D\n#if 0\n#endif\n#include \"cond\"\n");
	fails("cond", "cond:4:10: #include cycle: cond -> cond");
}

/* A comment is a blank. */
static void comments(void)
{
	put("x", "X\n");
	put("a", "/* a */ # /* b */ include /* c */ \"x\" /* d */ // e\n1\n");
	expands("a", NULL, "#line 1 1\n/* a */ \n#line 1 2\nX\n#line 2 1\n1\n");
	put("a", "#include \"x\" /* more\n\n*/ // and\n1\n");
	expands("a", NULL, "#line 1 1\n#line 1 2\nX\n#line 4 1\n1\n");
	put("a", "#include \\\n  \"x\"\n1\n");
	expands("a", NULL, "#line 1 1\n#line 1 2\nX\n#line 3 1\n1\n");
}

/* Who copies a project wants the other branches, too. */
static void inactive_inputs(void)
{
	struct inputs in = { 0 };
	struct source s;
	struct err err = ERR_INIT;
	put("x", "X\n");
	put("a", "#if 0\n#include \"x\"\n#include \"gone\"\n#endif\n");
	struct source_request request = { .path = "a", .macros = { 1, 300, NULL } };
	for (int i = 0; i < 2; i++) {
		request.notes_inactive = i;
		CHECK(!source_expand(tree, &request, &in, &s, &err));
		size_t nfile = 0;
		for (size_t k = 0; k < in.ninput; k++)
			nfile += !in.input[k].is_absent;
		CHECK_INT(nfile, 1 + i);
		source_release(&s);
	}
	inputs_release(&in);
	err_release(&err);
}

static void user_lines(void)
{
	put("a", "#line 7 3\na\n  # line 8\n#line A\n#line 3+4 1\nb\n");
	expands("a", NULL,
	    "#line 1 1\n#line 7  \na\n  # line 8\n       \n"
	    "           \nb\n");
}

static void faults(void)
{
	put("a", "\n  #include \"gone\"\n");
	fails("a",
	    "a:2:12: cannot find include \"gone\"; looked for 'gone', "
	    "'lib/gone', 'lib/more/gone'");
	put("a", "#include <x>\n");
	fails("a", "a:1:10: only #include");
	put("a", "#include\n");
	fails("a", "a:1:9: #include wants");
	put("a", "#include x\n");
	fails("a", "a:1:10: #include wants");
	put("a", "#include \"x\n\"\n");
	fails("a", "a:1:10: the file name of this #include is not terminated");
	put("a", "#include \"x\" y\n");
	fails("a", "a:1:14: text after");
	put("a", "#include \"x\" /* y */ z\n");
	fails("a", "a:1:22: text after");
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
	fails("a",
	    "bad:2:1: not UTF-8; save the file in that encoding, "
	    "included from a:1");
	struct source s;
	struct err err = ERR_INIT;
	char *missing[] = { "nothing" };
	put("a", "");
	CHECK_INT(expand("a", NULL, missing, 1, NULL, &s, &err), -1);
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
	CHECK_INT(expand("n0", NULL, NULL, 0, NULL, &s, &err), 0);
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
		if (strcmp(in->input[i].path, path) == 0)
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
	CHECK_INT(expand("sub/a", "common", dirs, 2, &in, &s, &err), 0);
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
	if (!CHECK(!expand("a", NULL, NULL, 0, NULL, &s, &err)))
		return;
	static const struct {
		int file, line;
		const char *want;
	} row[] = {
		{ 1, 1, "one" },
		{ 1, 4, "four" },
		{ 2, 1, "X1" },
		{ 2, 2, "X2" },
		{ 2, 3, NULL },
		{ 1, 5, NULL },
		{ 3, 1, NULL },
		{ 0, 1, NULL },
		{ 1, 0, NULL },
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
		plain,
		includes,
		branches,
		guards,
		comments,
		inactive_inputs,
		user_lines,
		faults,
		nests,
		notes_inputs,
		quotes,
	};
	for (size_t i = 0; i < sizeof test / sizeof *test; i++) {
		reset();
		put("lib/more/.keep", "");
		test[i]();
	}
	tree_free(tree);
	return test_done();
}

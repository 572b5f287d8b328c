#include "glsl/part.h"

#include "util/mem.h"
#include "test.h"

static char *files[] = { (char *)"a.frag", (char *)"b.glsl" };
static struct part *part;
static size_t npart;

static void find(const char *text)
{
	struct source source = { .text = (char *)text, .ntext = strlen(text),
		.file = files, .nfile = 2 };
	struct glsl g;

	parts_free(part, npart);
	glsl_lex(&g, text, strlen(text));
	glsl_drop_unused(&g, "main");
	parts_find(&g, &source, &part, &npart);
	glsl_release(&g);
}

static const struct part *get(enum part_kind kind, const char *name)
{
	for (size_t i = 0; i < npart; i++)
		if (part[i].kind == kind && strcmp(part[i].name, name) == 0)
			return &part[i];
	return NULL;
}

static void names_parts(void)
{
	const struct part *p;

	find("#line 1 0\n#define N 4\nfloat x;\n#line 1 1\n\n"
		"float f() { return 1.; }\nfloat g() { return 2.; }\n"
		"#line 5 0\nvoid main() { f(); }\n");
	CHECK_INT(npart, 5);
	p = get(PART_MACRO, "N");
	if (CHECK(p != NULL)) {
		CHECK_STR(p->text, "4");
		CHECK_STR(p->file, "a.frag");
		CHECK_INT(p->line, 1);
	}
	p = get(PART_FUNCTION, "f");
	if (CHECK(p != NULL)) {
		CHECK_STR(p->file, "b.glsl");
		CHECK_INT(p->line, 2);
		CHECK_INT(p->is_used, 1);
	}
	p = get(PART_FUNCTION, "g");
	CHECK(p && !p->is_used);
	p = get(PART_FUNCTION, "main");
	CHECK(p && p->line == 5);
	CHECK(get(PART_REST, "") != NULL);
}

/* What does not count for keys does not change a part. */
static void hashes_tokens(void)
{
	struct sha256 before;

	find("void main() { a(1, 2); }\n");
	before = get(PART_FUNCTION, "main")->sha;
	find("\n\nvoid main ( ) {\n\ta(1, /* two */ 2);\n}\n");
	CHECK(sha256_equal(&before, &get(PART_FUNCTION, "main")->sha));
	CHECK_INT(get(PART_FUNCTION, "main")->line, 3);
	find("void main() { a(1, 3); }\n");
	CHECK(!sha256_equal(&before, &get(PART_FUNCTION, "main")->sha));
}

static void takes_anything(void)
{
	static const char *const odd[] = { "", "#", "#line 1 9\nx", "#define",
		"}}}{{", "#define F(x) x\n#define F(y) y\n", "void main() {",
		"#if 1\nvoid main() {\n#else\nvoid main() {{\n#endif\n}" };

	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
		find(odd[i]);
		for (size_t k = 0; k < npart; k++)
			CHECK(part[k].file != NULL && part[k].name != NULL);
	}
	/* A macro of two definitions has no one text. */
	find("#define F 1\n#define F 2\n");
	CHECK(get(PART_MACRO, "F") && !get(PART_MACRO, "F")->text);
}

int main(void)
{
	names_parts();
	hashes_tokens();
	takes_anything();
	parts_free(part, npart);
	return test_done();
}

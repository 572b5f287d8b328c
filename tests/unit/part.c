#include "glsl/part.h"

#include "util/mem.h"
#include "test.h"

static char *files[] = { (char *)"a.frag", (char *)"b.glsl" };
static struct part *part;
static size_t npart;

static void find(const char *text)
{
	struct source source = { .text = (char *)text,
		.ntext = strlen(text),
		.file = files,
		.nfile = 2 };
	struct preprocess_options options = { 0, 430, NULL };
	struct preprocess p;
	struct err err = ERR_INIT;

	parts_free(part, npart);
	if (preprocess(&options, text, strlen(text), &p, &err) < 0)
		err_release(&err);
	glsl_drop_unused(&p.code, "main");
	parts_find(&p, &source, &part, &npart);
	preprocess_release(&p);
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

/* Macros by who has them, functions by who calls them; one branch of each. */
static void knows_used(void)
{
	const struct part *p;

	find("#define A 1\n#define B A\n#define UNUSED B\n#define ASKED\n"
	     "#define IDLE 1\n#define HEAD(n) float n()\n"
	     "float g() { return float(IDLE); }\nHEAD(h) { return 2.; }\n"
	     "#ifdef ASKED\nvoid main()\n#else\nvoid main(int gone)\n#endif\n"
	     "{ float x = float(B); h(); }\n");
	p = get(PART_MACRO, "A");
	CHECK(p && p->is_used);
	p = get(PART_MACRO, "B");
	CHECK(p && p->is_used);
	p = get(PART_MACRO, "UNUSED");
	CHECK(p && !p->is_used);
	p = get(PART_MACRO, "ASKED");
	CHECK(p && p->is_used);
	p = get(PART_MACRO, "IDLE");
	CHECK(p && !p->is_used);
	p = get(PART_MACRO, "HEAD");
	CHECK(p && p->is_used);
	p = get(PART_FUNCTION, "g");
	CHECK(p && !p->is_used);
	p = get(PART_FUNCTION, "main");
	CHECK(p && p->is_used && p->line == 10);
	struct sha256 before = p->sha;
	find("#define ASKED\n#ifdef ASKED\nvoid main()\n#else\nvoid other()\n"
	     "#endif\n{ float x = float(B); h(); }\n");
	p = get(PART_FUNCTION, "main");
	CHECK(p && sha256_equal(&before, &p->sha));
	CHECK(!get(PART_FUNCTION, "other"));
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
	static const char *const odd[] = { "", "#", "#line 1 9\nx", "#define", "}}}{{",
		"#define F(x) x\n#define F(y) y\n", "void main() {",
		"#if 1\nvoid main() {\n#else\nvoid main() {{\n#endif\n}" };

	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
		find(odd[i]);
		for (size_t k = 0; k < npart; k++)
			CHECK(part[k].file != NULL && part[k].name != NULL);
	}
	/* A macro of two definitions has no one text. */
	find("#define F 1\n#undef F\n#define F 2\n");
	CHECK(get(PART_MACRO, "F") && !get(PART_MACRO, "F")->text);
}

int main(void)
{
	names_parts();
	knows_used();
	hashes_tokens();
	takes_anything();
	parts_free(part, npart);
	return test_done();
}

#include "glsl/lint.h"
#include "project/doc.h"
#include "test.h"
#include "util/mem.h"

static struct manifest manifest;

static void load(const char *pass)
{
	char text[1024];
	struct doc doc = { 0 };
	struct errs errs = ERRS_INIT;
	struct err err = ERR_INIT;

	snprintf(text, sizeof text, "{\"format\": 1, \"project\": "
		"{\"name\": \"t\"}, \"pass\": [{\"name\": \"i\", \"kind\": "
		"\"image\", \"source\": \"i\"}%s]}", pass);
	CHECK(json_read("t.json", text, strlen(text), JSON_PLAIN, &doc,
		&err) == 0);
	if (!CHECK(manifest_from_doc(&doc, DIALECT_GLSL, &manifest,
	    &errs) == 0))
		fprintf(stderr, "%s\n", errs.err[0].message);
	errs_release(&errs);
	err_release(&err);
	doc_release(&doc);
}

/* Lints a text as pass p; its lines start with 1. */
static void lint(int p, const char *text, struct diagnostics *d)
{
	char *file[] = { "generated text", "i" };
	char *whole = xasprintf("#line 1 1\n%s", text);
	struct source source = { whole, strlen(whole), file, 2 };

	lint_source(&manifest, p, &source, d);
	free(whole);
}

#define MAIN "void mainImage(out vec4 c, in vec2 p)"

/* "line:column code" of all findings, a space between them. */
static void expect_at(const char *text, const char *want, const char *file, int line)
{
	struct diagnostics d = { NULL, 0, 0 };
	char got[1024] = "";

	lint(0, text, &d);
	for (size_t i = 0; i < d.nitem && strlen(got) < 900; i++)
		snprintf(got + strlen(got), 100, "%s%d:%d %s", i ? " " : "",
			d.item[i].line, d.item[i].column, d.item[i].code);
	if (!test_str(got, want, file, line))
		fprintf(stderr, "\tin:   %s\n", text);
	diagnostics_release(&d);
}

#define EXPECT(text, want) expect_at(text, want, __FILE__, __LINE__)
/* A statement in the entry point; column 1 is its first. */
#define INSIDE(text, want) \
	EXPECT(MAIN " {\n" text "\nc = vec4(1.0); }\n", want)
#define OUTSIDE(text, want) \
	EXPECT(text "\n" MAIN " { c = vec4(f(1.0)); }\n", want)

static void refuses(void)
{
	INSIDE("float x = 1;", "2:11 site-refuses");
	INSIDE("float x = 1.0, y = -2;", "2:20 site-refuses");
	INSIDE("float x = 1 / 2;", "2:11 site-refuses");
	INSIDE("float x = 1., y = float(2), z = 0.;", "");
	INSIDE("int k = 1 / 2; ivec2 v = ivec2(1) * 2;", "");
	INSIDE("vec3 v = vec3(1, 2, 3) * 2;", "2:26 site-refuses");
	INSIDE("vec3 v = 2 * vec3(1);", "2:10 site-refuses");
	INSIDE("float x = 2 * 1.0;", "2:11 site-refuses");
	INSIDE("float x = sin(p.x) + 1;", "2:22 site-refuses");
	INSIDE("float x = iTime / 2;", "2:19 site-refuses");
	INSIDE("float x = iResolution.x / 2;", "2:27 site-refuses");
	INSIDE("bool b = iMouse.z > 0;", "2:21 site-refuses");
	INSIDE("int iTime = 3; int k = iTime / 2;", "");
	INSIDE("int a[2]; a[0] = 1; int k = a[0] * 2;", "");
	INSIDE("int k = int(sin(p.x)) * 2 + int(1.5) - 1;", "");
	INSIDE("vec2 v = pow(p, vec2(2)); float x = pow(p.x, 2);",
		"2:46 site-refuses");
	INSIDE("int k = max(1, 2); float x = max(p.x, 2.0);", "");
	INSIDE("float x = clamp(p.x, 0.0, 1);", "2:27 site-refuses");
	INSIDE("vec4 v = textureLod(iChannel0, p, 0);", "2:35 site-refuses");
	INSIDE("vec4 v = texture2D(iChannel0, p);", "2:10 site-refuses");
	INSIDE("float sample = 1.0;", "2:7 site-refuses");
	EXPECT("#version 430\n" MAIN " { c = vec4(1); }\n",
		"1:1 site-refuses");
	OUTSIDE("float f(float x) { return 1; }", "1:27 site-refuses");
	OUTSIDE("int f(float x) { return 1; }", "");
	/* Names of the user's own. */
	OUTSIDE("vec4 texture2D(float x) { return vec4(x); }\n"
		"float f(float x) { return texture2D(x).x; }", "");
	OUTSIDE("#define texture2D texture\n"
		"float f(float x) { return texture2D(iChannel0, vec2(x)).x; }",
		"");
	OUTSIDE("int mod(int a, int b) { return a - b; }\n"
		"float f(float x) { return float(mod(3, 2)); }", "");
	/* What is not compiled, and what nobody can know. */
	OUTSIDE("#if 0\nfloat x = 1;\n#endif\n"
		"float f(float x) { return x; }", "");
	OUTSIDE("#ifdef GL_ES\nfloat x = 1;\n#else\nfloat x = 2;\n#endif\n"
		"float f(float x) { return x; }", "");
	OUTSIDE("#define A 2\n#if A > 1\nfloat y = 1;\n#else\nfloat z = 1;\n"
		"#endif\nfloat f(float x) { return x; }", "3:11 site-refuses");
	OUTSIDE("#ifndef G\n#define G\nfloat y = 1;\n#endif\n"
		"#ifndef G\nfloat z = 1;\n#endif\n"
		"float f(float x) { return x; }", "3:11 site-refuses");
	OUTSIDE("/* float x = 1; */ // float x = 1;\n"
		"float f(float x) { return x; }", "");
}

static void finds_undefined(void)
{
	OUTSIDE("float f(float x) { if (x > 1.0) return 2.0; }",
		"1:7 undefined-value");
	OUTSIDE("float f(float x) { if (x > 1.0) return 2.0; else {"
		" return 1.0; } }", "");
	OUTSIDE("float f(float x) { for (;;) { x++; if (x > 9.0) return x; } }",
		"");
	OUTSIDE("float f(float x) { while (true) { if (x++ > 9.0) break; } }",
		"1:7 undefined-value");
	OUTSIDE("float f(float x) { switch (int(x)) { case 0: return 1.0; "
		"default: return 2.0; } }", "");
	OUTSIDE("float f(float x) { switch (int(x)) { case 0: return 1.0; "
		"case 1: return 2.0; } }", "1:7 undefined-value");
	OUTSIDE("float f(float x) { do { return x; } while (x > 1.0); }", "");
	OUTSIDE("#define R return x\nfloat f(float x) { R; }", "");
	OUTSIDE("float g(float x) { }\nfloat f(float x) { return x; }", "");
	OUTSIDE("float f(float x) {\n#ifdef GL_ES\nreturn x;\n#endif\n}", "");

	INSIDE("float x; c.x = x;", "2:16 undefined-value");
	INSIDE("float x; x = x + 1.0;", "2:14 undefined-value");
	INSIDE("float x; x += 1.0;", "2:10 undefined-value");
	INSIDE("vec2 a, v; v.x = 1.0; a = v; c.x = v.y + a.x;", "");
	INSIDE("vec3 a = p.xyy, b; a = a, b = a, b += a;", "");
	INSIDE("float t[4]; c.x = t[2];", "2:19 undefined-value");
	INSIDE("float t[4]; for (int i = 0; i < 4; i++) t[i] = 1.0;"
		" c.x = t[2];", "");
	INSIDE("float x; for (int i = 0; i < 4; i++) { if (i > 0) c += x; "
		"x = 1.0; }", "");
	INSIDE("float x; if (p.x > 1.0) x = 1.0; c.x = x;", "");
	INSIDE("float x; { float x = 1.0; c.x = x; }", "");
	INSIDE("float x; c.x = sin(x);", "2:20 undefined-value");
	INSIDE("float x; modf(p.x, x); c.x = x;", "");
	INSIDE("float t[3]; int n = t.length();", "");
	OUTSIDE("#define SET(v) v = 1.0\n"
		"float f(float x) { float y; SET(y); return y; }", "");
	OUTSIDE("void g(out float x) { x = 1.0; }\n"
		"float f(float x) { float y; g(y); return y; }", "");
	OUTSIDE("#ifdef GL_ES\nvoid g(float y,\n#else\nvoid g(out float y,\n"
		"#endif\nfloat x) { }\n"
		"float f(float x) { float y; g(y, x); return x; }", "");
	OUTSIDE("float g(float x) { return x; }\n"
		"float f(float x) { float y; return g(y); }",
		"2:38 undefined-value");

	OUTSIDE("void g(out float a, out float b) { b = 1.0; }\n"
		"float f(float x) { float y, z; g(y, z); return z; }",
		"1:18 undefined-value");
	OUTSIDE("void g(out vec3 a) { a += vec3(1.0); }\n"
		"float f(float x) { vec3 y; g(y); return y.x; }",
		"1:22 undefined-value");
	OUTSIDE("void g(inout vec3 a) { a += vec3(1.0); }\n"
		"float f(float x) { vec3 y = vec3(x); g(y); return y.x; }", "");
	EXPECT(MAIN " { discard; }\n", "");
	EXPECT(MAIN " { }\n", "1:25 undefined-value");
}

static void counts_loops(void)
{
	INSIDE("for (int i = 0; i < 65536; i++) c.x += p.x;",
		"2:1 long-loop");
	INSIDE("c = vec4(0.0); for (int i = 0; i < 65535; i++) c.x += p.x;", "");
	/* 300 x (1 + 300). */
	INSIDE("c = vec4(0.0); for (int i = 0; i < 300; i++)\n"
		"for (float j = 0.0; j < 30.0; j += 0.1) c.x += p.x;",
		"2:16 long-loop");
	INSIDE("c = vec4(0.0); for (int i = 0; i < 300; i++)\n"
		"for (int j = 0; j < int(p.x); j++) c.x += p.x;", "");
	INSIDE("c = vec4(0.0); for (int i = 0; i < 99999; i++) i += 99;", "");
	INSIDE("c = vec4(0.0); for (int i = 99999; i > 0; i--) c.x += p.x;",
		"2:16 long-loop");
	OUTSIDE("#define N 400\nconst int M = 400;\n"
		"float g(float x) { for (int i = min(iFrame, 0); i < N; ++i)\n"
		" x += 1.0; return x; }\n"
		"float f(float x) { for (int i = 0; i <= M; i++) x += g(x);\n"
		" return x; }", "5:20 long-loop");
	/* Two in a row, and one that nothing calls. */
	OUTSIDE("float g(float x) { for (int i = 0; i < 40000; i++) x++;\n"
		" return x; }\nfloat h(float x) { return g(g(x)); }\n"
		"float f(float x) { return g(x); }", "");
	OUTSIDE("float g(float x) { for (int i = 0; i < 40000; i++) x++;\n"
		" return x; }\nfloat f(float x) { return g(g(x)); }",
		"1:20 long-loop");
}

/* A file of two passes is told once; compute passes are not the site's. */
static void knows_passes(void)
{
	struct diagnostics d = { NULL, 0, 0 };
	lint(0, "float a = 1;\n" MAIN " { c = vec4(a); }\n", &d);
	lint(1, "float a = 1;\n" MAIN " { c = vec4(a); }\n", &d);
	lint(2, "float a = 1;\nvoid mainCompute(ivec2 p) { }\n", &d);
	if (CHECK(d.nitem == 1 && d.item[0].npass == 2)) {
		CHECK_STR(d.item[0].file, "i");
		CHECK_INT(d.item[0].pass[0], 0);
		CHECK_INT(d.item[0].pass[1], 1);
	}
	diagnostics_release(&d);
}

/* Broken texts are the compiler's to tell; none may upset us. */
static void survives(void)
{
	static const char *const text[] = {
		"", "#", "#if", "#elif 1\n#else\n#endif\n", "float f(",
		"float f() { if (", "float f() { for (;", "float x =",
		"void mainImage(out vec4 c) { for (int i = 0; i <", "pow(1,",
		"#define A A\nvoid mainImage() { for (int i = 0; i < A; i++) ;}",
		"float f() { return f(); } void mainImage() { f(); }",
		"void mainImage(out) { } }", "float x; x", "1 *", "* 1",
		"#define f(\nfloat f(", "void mainImage(out vec4 c) { do { } "
	};
	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		struct diagnostics d = { NULL, 0, 0 };
		lint(0, text[i], &d);
		CHECK(d.nitem < 10);
		diagnostics_release(&d);
	}
}

int main(void)
{
	load(", {\"name\": \"b\", \"kind\": \"buffer\", \"source\": \"i\"}, "
		"{\"name\": \"k\", \"kind\": \"compute\", \"source\": \"k\", "
		"\"width\": 8, \"height\": 8}");
	refuses();
	finds_undefined();
	counts_loops();
	knows_passes();
	survives();
	manifest_release(&manifest);
	return test_done();
}

#include "glsl/lint.h"
#include "test.h"
#include "util/mem.h"

static const struct lint_uniform uniform[] = {
	{ "speed", "float", 0, 0 },
	{ "rounds", "int", 1, 20 },
	{ "steps", "int", 0, 0 },
	{ "tint", "vec3", 0, 0 },
};
static struct lint_facts facts = {
	.entry = "mainImage",
	.is_site = 1,
	.is_image = 1,
	.uniform = uniform,
	.nuniform = 4,
};

/* Lints a text; its lines start with 1. */
static void lint(const char *text, struct lint_findings *f)
{
	char *file[] = { "generated text", "i" };
	char *whole = xasprintf("#line 1 1\n%s", text);
	struct source source = { whole, strlen(whole), file, 2 };

	lint_source(&facts, &source, f);
	free(whole);
}

#define MAIN "void mainImage(out vec4 c, in vec2 p)"

/* "line:column code" of all findings, a space between them. */
static void expect_at(const char *text, const char *want, const char *file, int line)
{
	struct lint_findings d = { NULL, 0, 0 };
	char got[1024] = "";

	lint(text, &d);
	for (size_t i = 0; i < d.nitem && strlen(got) < 900; i++)
		snprintf(got + strlen(got), 100, "%s%d:%d %s", i ? " " : "",
		    d.item[i].line, d.item[i].column, d.item[i].code);
	if (!test_str(got, want, file, line))
		fprintf(stderr, "\tin:   %s\n", text);
	lint_findings_release(&d);
}

#define EXPECT(text, want) expect_at(text, want, __FILE__, __LINE__)
/* A statement in the entry point; column 1 is its first. */
#define INSIDE(text, want) EXPECT(MAIN " {\n" text "\nc = vec4(1.0); }\n", want)
#define OUTSIDE(text, want) EXPECT(text "\n" MAIN " { c = vec4(f(1.0)); }\n", want)

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
	INSIDE("vec2 v = pow(p, vec2(2)); float x = pow(p.x, 2);", "2:46 site-refuses");
	INSIDE("int k = max(1, 2); float x = max(p.x, 2.0);", "");
	INSIDE("float x = clamp(p.x, 0.0, 1);", "2:27 site-refuses");
	INSIDE("vec4 v = textureLod(iChannel0, p, 0);", "2:35 site-refuses");
	INSIDE("vec4 v = texture2D(iChannel0, p);", "2:10 site-refuses");
	INSIDE("float sample = 1.0;", "2:7 site-refuses");
	EXPECT("#version 430\n" MAIN " { c = vec4(1); }\n", "1:1 site-refuses");
	OUTSIDE("float f(float x) { return 1; }", "1:27 site-refuses");
	OUTSIDE("int f(float x) { return 1; }", "");
	/* Names of the user's own. */
	OUTSIDE("vec4 texture2D(float x) { return vec4(x); }\n"
		"float f(float x) { return texture2D(x).x; }",
	    "");
	OUTSIDE("#define texture2D texture\n"
		"float f(float x) { return texture2D(iChannel0, vec2(x)).x; }",
	    "");
	OUTSIDE("int mod(int a, int b) { return a - b; }\n"
		"float f(float x) { return float(mod(3, 2)); }",
	    "1:5 site-refuses");
	/* What is not compiled, and what nobody can know. */
	OUTSIDE("#if 0\nfloat x = 1;\n#endif\n"
		"float f(float x) { return x; }",
	    "");
	/* The site has GL_ES, whatever the dialect. */
	OUTSIDE("#ifdef GL_ES\nfloat x = 1;\n#else\nfloat x = 2;\n#endif\n"
		"float f(float x) { return x; }",
	    "2:11 site-refuses");
	OUTSIDE("#define A 2\n#if A > 1\nfloat y = 1;\n#else\nfloat z = 1;\n"
		"#endif\nfloat f(float x) { return x; }",
	    "3:11 site-refuses");
	OUTSIDE("#ifndef G\n#define G\nfloat y = 1;\n#endif\n"
		"#ifndef G\nfloat z = 1;\n#endif\n"
		"float f(float x) { return x; }",
	    "3:11 site-refuses");
	OUTSIDE("/* float x = 1; */ // float x = 1;\n"
		"float f(float x) { return x; }",
	    "");
}

/* A statement each, and the column of what is refused; 0: nothing is. */
static void converts_nothing(void)
{
	static const struct {
		const char *text;
		int column;
	} row[] = {
		{ "float x = 1.; x *= 2;", 20 },
		{ "float x = 1.; x = 2;", 19 },
		{ "int i = 1; float x = p.x * i;", 28 },
		{ "int i = 1; float x = i;", 22 },
		{ "float x = iFrame * 0.1;", 11 },
		{ "int i = 1; float x = float(i) / 2.;", 0 },
		{ "uint u = 1u; uint v = u + 1;", 27 },
		{ "uint u = 1u; u += 1;", 19 },
		{ "uint u = 1;", 10 },
		{ "uint u = 1u; u = u << 1; u >>= 2;", 0 },
		{ "for (float i = 0.; i < 10; i++) ;", 24 },
		{ "for (int i = 0; i < 10; i++) ;", 0 },
		{ "float x = p.x > 1. ? 1 : 0.;", 22 },
		{ "float x = p.x > 1. ? 1. : 0.;", 0 },
		{ "int x = p.x > 1. ? 1 : 0;", 0 },
		{ "vec2 v = p + 1;", 14 },
		{ "vec2 v = p + ivec2(1);", 14 },
		{ "ivec2 v = ivec2(p) * 2 % 3; v <<= 1; v = ~v;", 0 },
		{ "vec2 v = mix(p, p, 1);", 20 },
		{ "vec2 v = max(p, 0);", 17 },
		{ "vec2 v = mod(p, 2.); v = clamp(p, 0., 1.);", 0 },
		{ "float x = abs(1);", 11 },
		{ "int x = abs(-1) + sign(2);", 0 },
		{ "c.rgb *= 2;", 10 },
		{ "c += 1;", 6 },
		{ "c /= 2.;", 0 },
		{ "vec2 v = p; v[0] = 1;", 20 },
		{ "vec2 v = p; v.x = 1.;", 0 },
		{ "mat2 m = mat2(1); m *= 2;", 24 },
		{ "mat2 m = mat2(1) * 2.; vec2 v = m * p * m; v *= m;", 0 },
		{ "float x = -5 * p.x;", 11 },
		{ "float x = (1 - p.x) * 2.;", 12 },
		{ "bool b = 1u == 1;", 16 },
		{ "bool b = p == vec2(1);", 0 },
		{ "float a[2] = float[2](1, 2.);", 23 },
		{ "struct S { float x; }; S a = S(1);", 32 },
		{ "struct S { float x; int n; } s; s.n = 1; s.x = 1;", 48 },
		{ "float x = speed * 2;", 19 },
		{ "int x = rounds * 2;", 0 },
		{ "vec3 v = tint * 2.;", 0 },
		{ "vec4 x = texture(iChannel0, p, 1);", 32 },
		{ "vec4 x = texelFetch(iChannel0, ivec2(p), 0) * 2.;", 0 },
		{ "float x = float(iFrame / 2) + iChannelTime[1];", 0 },
		/* Macros neither hide it nor make it up. */
		{ "float x = 1 MACRO;", 11 },
		{ "float x = SUM(p.x, 1);", 11 },
		{ "float x = SUM(p.x, 1.); int k = SUM(1, 2);", 0 },
		{ "float x = NUMBER * p.x;", 11 },
		{ "int x = NUMBER;", 0 },
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		char text[512], want[64] = "";
		if (row[i].column)
			snprintf(want, sizeof want, "6:%d site-refuses", row[i].column);
		snprintf(text, sizeof text,
		    "#define MACRO + 2\n"
		    "#define SUM(a, b) ((a) + (b))\n#define NUMBER 3\n" MAIN
		    "{\nc = vec4(1.0);\n%s\n}\n",
		    row[i].text);
		EXPECT(text, want);
	}
}

static void knows_the_language(void)
{
	static const struct {
		const char *text;
		int column;
	} row[] = {
		{ "float g() { return 1.; };", 25 },
		{ ";", 1 },
		{ "struct S { float x; };", 0 },
		{ "#extension GL_OES_standard_derivatives : enable", 1 },
		{ "#if 0\n#extension GL_A : enable\n#endif", 0 },
		{ "float a__b;", 7 },
		{ "float g(float __x) { return __x; }", 15 },
		{ "#define a__b 1", 0 },
		{ "out vec4 second;", 1 },
		{ "layout(location = 1) out vec4 o;", 1 },
		{ "uniform Block { vec4 b[2]; mat4 m; } block;", 0 },
		{ "layout(std140) uniform Block { vec4 b; };", 0 },
		{ "layout(std430) uniform Block { vec4 b; };", 8 },
		{ "layout(binding = 0) uniform sampler2D s;", 8 },
		{ "layout(location = 0) uniform float s;", 1 },
		{ "uniform float u = 1.;", 19 },
		{ "uniform float u;", 0 },
		{ "uniform isampler2D s;", 9 },
		{ "uniform highp isampler2D s;", 0 },
		{ "uniform sampler2D s;", 0 },
		{ "uniform float iTime;", 15 },
		{ "float g = iTime;", 11 },
		{ "float g = sin(1.), h = g;", 24 },
		{ "const float g = sin(1.); float h = g * 2.;", 0 },
		{ "const float g = iTime;", 17 },
		{ "float g = dFdx(1.);", 11 },
		{ "float h(); float g = h();", 22 },
		{ "const vec2 a[2] = vec2[2](vec2(1), vec2(2)); vec2 b = a[1];", 0 },
		{ "#define CAT(a, b) a##b\nfloat CAT(x, y);", 20 },
		{ "#define CAT(a, b) a##b", 0 },
		{ "float a[2][2];", 11 },
		{ "float[2] a[2];", 11 },
		{ "float a[2] = { 1., 2. };", 14 },
		{ "float a[];", 8 },
		{ "float a[] = float[](1., 2.);", 0 },
		{ "#if NOBODY\n#endif", 1 },
		{ "#ifdef NOBODY\n#endif", 0 },
		{ "#if defined(NOBODY) && NOBODY\n#endif", 0 },
		{ "float sample;", 7 },
		{ "float precise, buffer, noise;", 0 },
		{ "precise float x;", 1 },
		{ "uniform samplerCubeArray s;", 9 },
		{ "double d;", 1 },
		{ "const float x = 1.0lf;", 17 },
		{ "float x = 1.0f;", 0 },
		{ "float _webgl_x;", 7 },
		{ "float sin(float a, float b) { return a; }", 7 },
		{ "float saturate(float a) { return a; }", 0 },
		{ "float g() { return fma(1., 2., 3.); }", 20 },
		{ "float fma(float a) { return a; } float g() { return fma(1.); }", 0 },
		{ "float g() { return ldexp(1., 2); }", 20 },
		{ "int g() { return bitCount(3); }", 18 },
		{ "int g() { return bitfieldExtract(3, 1, 1); }", 18 },
		{ "vec4 g() { return textureGather(iChannel0, vec2(1)); }", 19 },
		{ "vec2 g() { return textureQueryLod(iChannel0, vec2(1)); }", 19 },
		{ "int g() { return textureQueryLevels(iChannel0); }", 18 },
		{ "uint g() { return packUnorm4x8(vec4(1)); }", 19 },
		{ "int g() { return gl_SampleID; }", 18 },
		{ "float g() { return gl_FragCoord.x * float(gl_MaxDrawBuffers); }", 0 },
		{ "int g() { vec3 v; return v.length(); }", 28 },
		{ "int g() { float v[2]; return v.length(); }", 0 },
		{ "float g() { float x = 1.; return x.x; }", 36 },
		{ "struct S { float x; }; S g(S a, S b, bool c) { return c ? a : b; }",
		    57 },
		{ "void g(bool c) { float a[2], b[2], d[2]; d = c ? a : b; }", 48 },
		{ "float g(float x) { const float k = x; return k; }", 36 },
		{ "precision mediump float; highp vec2 h;", 0 },
		{ "float g(float) { return 1.; } float h(vec2 p, const in int x);", 0 },
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		char text[512], want[64] = "";
		if (row[i].column)
			snprintf(want, sizeof want, "1:%d site-refuses", row[i].column);
		snprintf(text, sizeof text, "%s\n" MAIN "{ c = vec4(1.0); }\n",
		    row[i].text);
		EXPECT(text, want);
	}
	EXPECT("void mainImage(inout vec4 c, in vec2 p) { c = vec4(1.0); }\n",
	    "1:16 site-refuses");
	EXPECT("void mainImage(out vec4 c, const in vec2 p) { c = vec4(1.0); }\n",
	    "1:28 site-refuses");
	EXPECT("void mainImage(out vec4 c, vec2) { c = vec4(1.0); }\n", "");
}

static void finds_undefined(void)
{
	OUTSIDE("float f(float x) { if (x > 1.0) return 2.0; }", "1:7 undefined-value");
	OUTSIDE("float f(float x) { if (x > 1.0) return 2.0; else {"
		" return 1.0; } }",
	    "");
	OUTSIDE("float f(float x) { for (;;) { x++; if (x > 9.0) return x; } }", "");
	OUTSIDE("float f(float x) { while (true) { if (x++ > 9.0) break; } }",
	    "1:7 undefined-value");
	OUTSIDE("float f(float x) { switch (int(x)) { case 0: return 1.0; "
		"default: return 2.0; } }",
	    "");
	OUTSIDE("float f(float x) { switch (int(x)) { case 0: return 1.0; "
		"case 1: return 2.0; } }",
	    "1:7 undefined-value");
	OUTSIDE("float f(float x) { do { return x; } while (x > 1.0); }", "");
	OUTSIDE("#define R return x\nfloat f(float x) { R; }", "");
	OUTSIDE("float g(float x) { }\nfloat f(float x) { return x; }", "");
	OUTSIDE("float f(float x) {\n#ifdef GL_ES\nreturn x;\n#endif\n}",
	    "1:7 undefined-value");
	OUTSIDE("float f(float x) {\n#ifndef GL_ES\nreturn x;\n#endif\n}", "");

	INSIDE("float x; c.x = x;", "2:16 undefined-value");
	INSIDE("float x; x = x + 1.0;", "2:14 undefined-value");
	INSIDE("float x; x += 1.0;", "2:10 undefined-value");
	INSIDE("vec2 a, v; v.x = 1.0; a = v; c.x = v.y + a.x;", "");
	INSIDE("vec3 a = p.xyy, b; a = a, b = a, b += a;", "");
	INSIDE("float t[4]; c.x = t[2];", "2:19 undefined-value");
	INSIDE("float t[4]; for (int i = 0; i < 4; i++) t[i] = 1.0;"
	       " c.x = t[2];",
	    "");
	INSIDE("float x; for (int i = 0; i < 4; i++) { if (i > 0) c += x; "
	       "x = 1.0; }",
	    "");
	INSIDE("float x; if (p.x > 1.0) x = 1.0; c.x = x;", "");
	INSIDE("float x; { float x = 1.0; c.x = x; }", "");
	INSIDE("float x; c.x = sin(x);", "2:20 undefined-value");
	INSIDE("float x; modf(p.x, x); c.x = x;", "");
	INSIDE("float t[3]; int n = t.length();", "");
	OUTSIDE("#define SET(v) v = 1.0\n"
		"float f(float x) { float y; SET(y); return y; }",
	    "");
	OUTSIDE("void g(out float x) { x = 1.0; }\n"
		"float f(float x) { float y; g(y); return y; }",
	    "");
	OUTSIDE("#ifdef GL_ES\nvoid g(float y,\n#else\nvoid g(out float y,\n"
		"#endif\nfloat x) { }\n"
		"float f(float x) { float y; g(y, x); return x; }",
	    "4:18 undefined-value");
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
		"float f(float x) { vec3 y = vec3(x); g(y); return y.x; }",
	    "");
	EXPECT(MAIN " { discard; }\n", "");
	EXPECT(MAIN " { }\n", "1:25 undefined-value");
}

static void counts_loops(void)
{
	INSIDE("for (int i = 0; i < 65536; i++) c.x += p.x;", "2:1 long-loop");
	INSIDE("c = vec4(0.0); for (int i = 0; i < 65535; i++) c.x += p.x;", "");
	/* 300 x (1 + 300). */
	INSIDE("c = vec4(0.0); for (int i = 0; i < 300; i++)\n"
	       "for (float j = 0.0; j < 30.0; j += 0.1) c.x += p.x;",
	    "2:16 long-loop");
	INSIDE("c = vec4(0.0); for (int i = 0; i < 300; i++)\n"
	       "for (int j = 0; j < int(p.x); j++) c.x += p.x;",
	    "");
	INSIDE("c = vec4(0.0); for (int i = 0; i < 99999; i++) i += 99;", "");
	INSIDE("c = vec4(0.0); for (int i = 99999; i > 0; i--) c.x += p.x;",
	    "2:16 long-loop");
	OUTSIDE("#define N 400\nconst int M = 400;\n"
		"float g(float x) { for (int i = min(iFrame, 0); i < N; ++i)\n"
		" x += 1.0; return x; }\n"
		"float f(float x) { for (int i = 0; i <= M; i++) x += g(x);\n"
		" return x; }",
	    "5:20 long-loop");
	/* Sums of constants, and what grows from frame to frame. */
	OUTSIDE("#define N (300 * 2)\nconst int M = N / 2;\n"
		"float f(float x) { for (int i = 0; i < M + 1; i++)\n"
		"for (int k = 0; k < N - 1; ++k) x++; return x; }",
	    "3:20 long-loop");
	INSIDE("c = vec4(0.0); for (int i = 0; i < iFrame; i++) c.x += p.x;",
	    "2:16 long-loop");
	INSIDE("c = vec4(0.0); for (float i = 0.; i < iTime * 9.; i += .1) c.x++;",
	    "2:16 long-loop");
	INSIDE("c = vec4(0.0); for (int i = 0; i < steps; i++) c.x += p.x;",
	    "2:16 long-loop");
	INSIDE("c = vec4(0.0); for (int i = 0; i < rounds; i++) c.x += p.x;", "");
	INSIDE("c = vec4(0.0); for (int i = 0; i < rounds * 4000; i++) c.x++;",
	    "2:16 long-loop");
	INSIDE("c = vec4(0.0); for (int i = 0; i < min(iFrame, 9); i++) c.x++;", "");
	INSIDE("c = vec4(0.0); for (int i = 0; i < iFrame % 9; i++) c.x++;", "");
	INSIDE("c = vec4(0.0); for (int i = 0; i < iFrame; i++) if (c.x > 9.0) "
	       "break; else c.x++;",
	    "");
	INSIDE("c = vec4(0.0); for (int i = iFrame; i < 100; i++) c.x++;", "");
	/* Two in a row, and one that nothing calls. */
	OUTSIDE("float g(float x) { for (int i = 0; i < 40000; i++) x++;\n"
		" return x; }\nfloat h(float x) { return g(g(x)); }\n"
		"float f(float x) { return g(x); }",
	    "");
	OUTSIDE("float g(float x) { for (int i = 0; i < 40000; i++) x++;\n"
		" return x; }\nfloat f(float x) { return g(g(x)); }",
	    "1:20 long-loop");
}

/* Findings are by place; compute passes are not the site's. */
static void knows_passes(void)
{
	struct lint_findings d = { NULL, 0, 0 };
	lint("float a = 1;\n" MAIN " { c = vec4(a); }\n", &d);
	lint("float a = 1;\n" MAIN " { c = vec4(a); }\n", &d);
	facts.is_site = 0;
	lint("float b = 1;\nfloat a = 1;\n" MAIN " { c = vec4(a); }\n", &d);
	facts.is_site = 1;
	if (CHECK_INT(d.nitem, 1)) {
		CHECK_STR(d.item[0].file, "i");
		CHECK_STR(d.item[0].message,
		    "an int as value of the float 'a': "
		    "ES 3.00 does not turn int into float");
	}
	lint_findings_release(&d);
}

/* Broken texts are the compiler's to tell; none may upset us. */
static void survives(void)
{
	static const char *const text[] = { "", "#", "#if", "#elif 1\n#else\n#endif\n",
		"float f(", "float f() { if (", "float f() { for (;",
		"float x =", "void mainImage(out vec4 c) { for (int i = 0; i <", "pow(1,",
		"#define A A\nvoid mainImage() { for (int i = 0; i < A; i++) ;}",
		"float f() { return f(); } void mainImage() { f(); }",
		"void mainImage(out) { } }", "float x; x", "1 *", "* 1",
		"#define f(\nfloat f(", "void mainImage(out vec4 c) { do { } " };
	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		struct lint_findings d = { NULL, 0, 0 };
		lint(text[i], &d);
		CHECK(d.nitem < 10);
		lint_findings_release(&d);
	}
}

int main(void)
{
	refuses();
	converts_nothing();
	knows_the_language();
	finds_undefined();
	counts_loops();
	knows_passes();
	survives();
	return test_done();
}

#include <stdlib.h>

#include "glsl/preprocess.h"
#include "glsl/shader.h"
#include "glsl/shader_rewrite.h"
#include "util/mem.h"
#include "test.h"

/* Rewriting ---------------------------------------------------------------- */

enum { GLSL, ESSL, STORAGE };

static const struct shader no_shader;

/* text and extensions, with the line end that the text gets; null: any. */
static void rewrites_all(int mode, const char *text, const char *want,
    const char *extensions, const char *zeros)
{
	struct preprocess p;
	struct rewrite r;
	struct err err = ERR_INIT;
	struct preprocess_options preprocessing = { mode == ESSL,
		mode == ESSL ? 300 : 430, NULL };
	struct rewrite_options options = { mode == ESSL, mode == STORAGE };
	if (!CHECK(!preprocess(&preprocessing, text, strlen(text), &p, &err)))
		fprintf(stderr, "\t%s: %s\n", text, err.message);
	shader_rewrite(&p, &options, &r);
	if (want) {
		char *line = xasprintf("%s\n", want);
		CHECK_STR(buf_str(&r.text), line);
		free(line);
	}
	if (extensions)
		CHECK_STR(buf_str(&r.extensions), extensions);
	CHECK_STR(buf_str(&r.zeros), zeros);
	rewrite_release(&r);
	preprocess_release(&p);
	err_release(&err);
}

static void rewrites(int mode, const char *text, const char *want)
{
	rewrites_all(mode, text, want, NULL, "");
}

static void directives(void)
{
	rewrites(GLSL, "#version 300 es // x\na", "\na");
	rewrites(GLSL, "#line 1 1\na\n#line 7\nb", "\na\n\nb");
	rewrites(GLSL, "#line 1 1\n__LINE__ __FILE__\n#line 7 2\n\n__LINE__",
	    "\n1 0\n\n\n8");
	rewrites(GLSL, "#define A __LINE__\n\nA", "\n\n3");
	rewrites(GLSL, "#extension GL_X : enable\n#extension y\n#pragma z\na",
	    "\n#extension y\n#pragma z\na");
	rewrites_all(ESSL,
	    "\na;\n#extension GL_A : enable\n"
	    "#extension GL_A:enable\n#extension GL_A : require\n",
	    NULL,
	    "#line 1003 1\n#extension GL_A : enable\n"
	    "#line 1005 1\n#extension GL_A : require\n",
	    "");
	rewrites_all(ESSL,
	    "#if 0\n#extension GL_A : require\n#else\n"
	    "#extension GL_B : require\n#endif\n",
	    NULL, "#line 1004 1\n#extension GL_B : require\n", "");
	rewrites_all(ESSL,
	    "#extension GL_OES_standard_derivatives : enable\n"
	    "#extension GL_EXT_shader_texture_lod : require\n"
	    "#extension GL_EXT_frag_depth : enable\n",
	    NULL, "", "");
}

static void words(void)
{
	rewrites(GLSL, "void f() { x = shared+x.sample; } // char",
	    "void f() { x = stbw_shared+x.stbw_sample; }");
	rewrites(GLSL, "#define B buffer\n#pragma packed\nvoid f() { B = 1; }",
	    "\n#pragma packed\nvoid f() { stbw_buffer = 1; }");
	rewrites(GLSL, "precise float x; float shared;",
	    "precise float x=float(0); float stbw_shared=float(0);");
	rewrites(GLSL, "layout(packed, row_major) uniform B { float packed; };",
	    "layout(packed, row_major) uniform B { float stbw_packed; };");
	rewrites(GLSL, "dmat2 m = dmat2(1.0); float dmat3 = 1.0;",
	    "dmat2 m = dmat2(1.0); float stbw_dmat3 = 1.0;");
	rewrites(GLSL, "float dmat3(float x); void f() { y = dmat3(1.0); }",
	    "float stbw_dmat3(float x); void f() { y = stbw_dmat3(1.0); }");
	rewrites(STORAGE, "buffer B { float x; }; shared float y; float char;",
	    "buffer B { float x; }; shared float y; float stbw_char=float(0);");
	rewrites(ESSL, "float char, buffer, sample; float packed, dmat2;",
	    "float char=float(0), buffer=float(0), sample=float(0); "
	    "float stbw_packed=float(0), stbw_dmat2=float(0);");
	rewrites(GLSL, "void f() { buff\\\ner = 1; }", "void f() { stbw_buffer\n= 1; }");
	rewrites(GLSL, "int characters, a_char, samples;",
	    "int characters=int(0), a_char=int(0), samples=int(0);");
	rewrites(ESSL, "precision mediump float; lowp vec2 v = vec2(1);",
	    "precision highp float; highp vec2 v = vec2(1);");
	/* Names of the generated text. */
	rewrites(ESSL, "vec4 stb_color = vec4(1); float stb_colors = 1.;",
	    "vec4 stbw_stb_color = vec4(1); float stb_colors = 1.;");
	/* What is renamed is so in the zeros as well. */
	rewrites(GLSL,
	    "struct A { float sample[99]; }; void f(out A b)"
	    "{ }",
	    "struct A { float stbw_sample[99]; }; "
	    "void f(out A b){for(int stb_i1=0;stb_i1<99;stb_i1++)"
	    "{b.stbw_sample[stb_i1]=float(0);} }");
}

/* Functions that ES 3.00 does not have may be the user's own. */
static void own_functions(void)
{
	rewrites(ESSL,
	    "vec4 texture2D(sampler2D s, vec2 u) { return texture(s, u)"
	    "; } vec4 g() { return texture2D(iChannel0, vec2(0)); }",
	    "vec4 stbw_texture2D(sampler2D s, vec2 u) { return texture(s, u)"
	    "; } vec4 g() { return stbw_texture2D(iChannel0, vec2(0)); }");
	rewrites(ESSL,
	    "#define DEF(n) float n(float x) { return x; }\n"
	    "DEF(textureCubeLod)",
	    "\nfloat stbw_textureCubeLod ( float x ) "
	    "{ return x ; }");
	static const char *const same[] = {
		"vec4 g() { return texture2D(iChannel0, vec2(0)); }",
		"vec4 texture(float x) { return vec4(x); }",
		"float textures(float x) { return x; }",
	};
	rewrites(ESSL, same[0], same[0]);
	rewrites(ESSL, same[1], same[1]);
	rewrites(GLSL, "vec4 texture2D(float x) { return vec4(x); }",
	    "vec4 texture2D(float x) { return vec4(x); }");
}

/* Zeros -------------------------------------------------------------------- */

#define LOOP(n, body) "for(int stb_i0=0;stb_i0<" n ";stb_i0++){" body "}"

static void zeros_of_variables(void)
{
	rewrites(GLSL,
	    "void f(){ float a, b = g(1, 2), c; for (int i; i < 2; i++) mat2 m; }",
	    "void f(){ float a=float(0), b = g(1, 2), c=float(0); "
	    "for (int i=int(0); i < 2; i++) mat2 m=mat2(0); }");
	/* What is no declaration, is stored or has a value. */
	const char *same =
	    "uniform vec2 u; const int n = 2; in vec4 x; vec3 f(vec3 a, float b);\n"
	    "layout(location = 1) out vec4 o; buffer B { float m; vec2 l[]; }; float g[];\n"
	    "uniform U { float uf; } un; flat in int fi; shared float sh[3];\n"
	    "vec3 f(vec3 a, float b) { vec3(1.0); a.x = 1.0, b; if (a.x > b) return a; "
	    "return vec3(a.x ? vec2(b) : vec2(1.0)); }\n"
	    "precision highp float; void h() { const float z = 1.0; sampler2D s; "
	    "float[2] q = g; int k[2] = int[2](1, 2); }";
	rewrites(STORAGE, same, same);
	rewrites(ESSL,
	    "void f(){ lowp vec2 a; float l[N + 1], k; int[2] m; float mm[2][3]; }",
	    "void f(){ highp vec2 a=vec2(0); float l[N + 1], k=float(0);" LOOP(
		"int(l.length())", "l[stb_i0]=float(0);") " int[2] m;" LOOP("2",
		"m[stb_i0]=int(0);") " float mm[2][3];" LOOP("2",
		"for(int stb_i1=0;stb_i1<3;stb_i1++)"
		"{mm[stb_i0][stb_i1]=float(0);}") " }");
	/* A later one may read it: then by its value. */
	rewrites(ESSL, "void f() { float a[2], b = a[1]; }",
	    "void f() { float "
	    "a[2]=float[2](float(0),float(0)), b = a[1]; }");
	/* Constants, in scopes. */
	rewrites(ESSL,
	    "const int N = 2, M = N * 3 - 1; void f() { int a[M]; "
	    "const int M = 7; int b[M]; { int N; int c[N]; } }",
	    "const int N = 2, M = N * 3 - 1; void f() { int a[M];" LOOP("5",
		"a[stb_i0]=int(0);") " const int M = 7; int b[M];" LOOP("7",
		"b[stb_i0]=int(0);") " { int N=int(0); int c[N];" LOOP("int(c.length())",
		"c[stb_i0]=int(0);") " } }");
	/* Where no statement may follow. */
	rewrites(ESSL,
	    "void f() { if (x) float a; else int b; for (int i[2]; ;) ; "
	    "while (y) { bool c; } switch (z) { case 1 ? 2 : 3: float d; break; "
	    "default: int e; } do float g; while (w); }",
	    "void f() { if (x) float a=float(0); else int b=int(0); "
	    "for (int i[2]=int[2](int(0),int(0)); ;) ; "
	    "while (y) { bool c=bool(0); } switch (z) { case 1 ? 2 : 3: float "
	    "d=float(0); break; default: int e=int(0); } "
	    "do float g=float(0); while (w); }");
}

static void zeros_by_macros(void)
{
	rewrites(ESSL,
	    "#define V vec3\n#define VARS float t, d; V n\n#define L a, b\n"
	    "#define BLOCK(x) { float s; x; }\n#define P highp\n#define C ,\n"
	    "void f() { V v; VARS; float L; BLOCK(y) P float q; int i C j; }",
	    "\n\n\n\n\n\nvoid f() { vec3 v=vec3(0); float t=float(0) , "
	    "d=float(0) ; vec3 n=vec3(0) ; float a=float(0) , b=float(0) ; "
	    "{ float s=float(0) ; y ; } highp float q=float(0); "
	    "int i=int(0) , j=int(0); }");
	/* A comma in a call is in no list, whoever wrote the parenthesis. */
	rewrites(ESSL,
	    "#define CALL(f) f (\n#define END )\n"
	    "void f() { float x = CALL(mix) a, b, 0.5 END, y; }",
	    "\n\nvoid f() { float x = mix ( a, b, 0.5 ) , y=float(0); }");
	rewrites(ESSL, "#define OUT out\n#define V vec3\nvoid f(OUT V a) { }",
	    "\n\nvoid f( out vec3 a) {a=vec3(0); }");
	rewrites(ESSL,
	    "#define A\n#ifdef A\nvoid f(out float t)\n#else\n"
	    "void f(out int t)\n#endif\n{ }",
	    "\n\nvoid f(out float t)\n\n\n\n{t=float(0); }");
}

static void zeros_of_structs(void)
{
	rewrites(GLSL,
	    "struct A { float x, y[2]; }; struct B { A a; highp ivec2 c; };\n"
	    "A g; void f(B p) { B b, c = p; }",
	    "struct A { float x, y[2]; }; struct B { A a; highp ivec2 c; };\n"
	    "A g=A(float(0),float[2](float(0),float(0))); void f(B p) { "
	    "B b=B(A(float(0),float[2](float(0),float(0))),ivec2(0)), c = p; }");
	rewrites(GLSL, "struct A { float x, y[2]; }; void f() { A a; }",
	    "struct A { float x, y[2]; }; void f() { A a;a.x=float(0);"
	    "for(int stb_i1=0;stb_i1<2;stb_i1++){a.y[stb_i1]=float(0);} }");
	rewrites(GLSL, "struct A { float x; }; void f() { A a[2]; }",
	    "struct A { float x; }; void f() { A a[2];" LOOP("2",
		"a[stb_i0]=A(float(0));") " }");
	/* With its variables, without a name, in a scope, hidden. */
	rewrites(ESSL, "void f() { struct L { float f; } a[2], b; }",
	    "void f() { struct L { float f; } a[2], b=L(float(0));" LOOP("2",
		"a[stb_i0]=L(float(0));") " }");
	rewrites_all(ESSL, "struct { float f; vec2 v; } a;",
	    "struct { float f; vec2 v; } a;", NULL, "a.f=float(0);a.v=vec2(0);");
	rewrites(ESSL,
	    "struct T { int a; }; void f() { T t; struct T { bool b; }; "
	    "T u; { float T; } }",
	    "struct T { int a; }; void f() { "
	    "T t=T(int(0)); struct T { bool b; }; T u=T(bool(0)); "
	    "{ float T=float(0); } }");
	rewrites(ESSL,
	    "#if 1\nstruct S { float r; vec2 v; };\n#else\n"
	    "struct S { float r; };\n#endif\nS s;",
	    "\nstruct S { float r; "
	    "vec2 v; };\n\n\n\nS s=S(float(0),vec2(0));");
	const char *same = "struct C { sampler2D s; }; void f(C c) { C d; }";
	rewrites(GLSL, same, same);
	/* Globals that have no value of a sensible length, or size. */
	rewrites_all(GLSL, "float g[3], h[99]; struct S { float a[N]; } s;",
	    "float g[3]=float[3](float(0),float(0),float(0)), h[99]; "
	    "struct S { float a[N]; } s;",
	    NULL,
	    LOOP("99",
		"h[stb_i0]=float(0);") "for(int stb_i1=0;stb_i1<int(s.a.length());stb_i1++)"
				       "{s.a[stb_i1]=float(0);}");
}

static void zeros_of_functions(void)
{
	rewrites(GLSL, "void f(out float a, inout float b, out highp ivec2 c)\n{\nd; }",
	    "void f(out float a, inout float b, out highp ivec2 c)\n"
	    "{a=float(0);c=ivec2(0);\nd; }");
	rewrites(GLSL,
	    "struct S { float r; }; void f(out float a[2], out S b, "
	    "out float[2] c, const in float e){ }",
	    "struct S { float r; }; void f(out float a[2], out S b, "
	    "out float[2] c, const in float e){" LOOP("2",
		"a[stb_i0]=float(0);") "b=S(float(0));" LOOP("2",
		"c[stb_i0]=float(0);") " }");
	rewrites(GLSL,
	    "void f(out float a); void g(out float, int[2]){} void h(void){ g(o); }",
	    "void f(out float a); void g(out float stb_p12, int[2] stb_p17){} "
	    "void h(void){ g(o); }");
	rewrites(GLSL, "void f(out float buffer){buffer;}",
	    "void f(out float stbw_buffer){stbw_buffer=float(0);stbw_buffer;}");
	/* A call that ends without a return gives zero. */
	rewrites(GLSL, "float f() { if (x) return 1.; } int g() { return 1; }",
	    "float f() { if (x) return 1.;return float(0); } int g() "
	    "{ return 1; }");
	rewrites(GLSL,
	    "struct S { float r; }; S f() { } float[2] g() { } "
	    "void h() { }",
	    "struct S { float r; }; S f() {return S(float(0)); } "
	    "float[2] g() {return float[2](float(0),float(0)); } void h() { }");
	rewrites(GLSL, "struct S { float a[99]; }; S f() { }",
	    "struct S { float a[99]; }; S f() {S stb_r;for(int stb_i1=0;"
	    "stb_i1<99;stb_i1++){stb_r.a[stb_i1]=float(0);}return stb_r; }");
}

/* Torn and hostile texts end. */
static void zeros_of_anything(void)
{
	static const char *const torn[] = { "void f() { float a[", "float a",
		"struct A { float", "struct", "void f(", "void f() { for (", "}",
		"void f() { if", ")", "layout(", "void f() { case",
		"float a[2][2][2][2][2];", "struct A { A a; } a;",
		"void f() { struct {} a; } int[][] b;",
		"void f() { switch (x) { case 1:", "uniform B {", "float a = (" };
	for (size_t i = 0; i < sizeof torn / sizeof *torn; i++)
		rewrites_all(GLSL, torn[i], NULL, NULL, "");
	struct buf text = BUF_INIT;
	buf_addstr(&text, "struct S0 { float a, b; };");
	for (int i = 1; i < 200; i++)
		buf_addf(&text, "struct S%d { S%d a, b; int c[N]; };", i, i - 1);
	buf_addstr(&text, "S199 g; void f(out S199 a) { S199 b;");
	for (int i = 0; i < 5000; i++)
		buf_addstr(&text, "{ if (x) ");
	rewrites_all(GLSL, buf_str(&text), NULL, NULL, "");
	buf_release(&text);
}

/* Places ------------------------------------------------------------------- */

static void finds_places(void)
{
	static const char text[] = "#define V vec3\n#define F(x) V(x,\\\n 1)\n"
				   "\tV a; V b = F(c +\n  d); float e;\n";
	struct preprocess p;
	struct rewrite r;
	struct err err = ERR_INIT;
	struct preprocess_options preprocessing = { 1, 300, NULL };
	struct rewrite_options options = { 1, 0 };
	CHECK(!preprocess(&preprocessing, text, strlen(text), &p, &err));
	shader_rewrite(&p, &options, &r);
	CHECK_STR(buf_str(&r.text),
	    "\n\n\nvec3 a=vec3(0); vec3 b = vec3 ( c +\n"
	    "d , 1 ) ; float e=float(0);\n");
	static const int row[][4] = {
		/* line, column; those of the text */
		{ 4, 1, 4, 2 },
		{ 4, 6, 4, 4 },
		{ 4, 17, 4, 7 },
		{ 4, 26, 4, 13 },
		{ 4, 33, 4, 15 },
		{ 5, 1, 5, 3 },
		{ 5, 11, 5, 7 },
		{ 5, 17, 5, 13 },
		{ 5, 0, 5, 0 },
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		int line = row[i][0], column = row[i][1];
		rewrite_find_place(r.place, r.nplace, &line, &column);
		CHECK_INT(line, row[i][2]);
		CHECK_INT(column, row[i][3]);
	}
	rewrite_release(&r);
	preprocess_release(&p);
	err_release(&err);
}

/* Texts -------------------------------------------------------------------- */

static struct pass pass[2];
static struct variant_pass size[2];
static struct manifest manifest;
static struct uniform uniform[2];
static struct source source;
static const struct shader_target best = { 450, 1 }, old = { 410, 1 };

static void reset(enum pass_kind kind, enum dialect dialect)
{
	pass[0] = (struct pass){ .name = "a", .kind = kind, .source = "a.glsl" };
	pass[1] = (struct pass){ .name = "cube", .kind = PASS_CUBEMAP };
	size[0] = (struct variant_pass){ .local_size = { 8, 4, 1 } };
	manifest = (struct manifest){ .pass = pass, .npass = 2, .dialect = dialect };
}

static void load(const char *text)
{
	struct tree *tree = tree_new_memory("test");
	struct err err = ERR_INIT;
	struct source_request request = { .path = "a.glsl", .macros = { 0, 430, NULL } };
	tree_memory_add(tree, "a.glsl", text, strlen(text));
	tree_memory_add(tree, "b.glsl", "B1\nB2\n", 6);
	source_release(&source);
	if (!CHECK_INT(source_expand(tree, &request, NULL, &source, &err), 0))
		fprintf(stderr, "\t%s\n", err.message);
	err_release(&err);
	tree_free(tree);
}

static struct shader build(const char *text, const struct shader_target *target,
    const char *fault)
{
	struct variant v = { .manifest = &manifest, .pass = size };
	struct shader s;
	struct err err = ERR_INIT;
	load(text);
	int result = shader_build(&v, 0, &source, target, &s, &err);
	CHECK_INT(result, fault ? -1 : 0);
	if (fault && CHECK(err.message && err.status == STATUS_FAILED)) {
		if (!CHECK(strstr(err.message, fault) && strstr(err.message, "'a'")))
			fprintf(stderr, "\t%s\n", err.message);
	} else if (err.message) {
		fprintf(stderr, "\t%s\n", err.message);
	}
	err_release(&err);
	return s;
}

/* Words that the text has to hold, or with '!' in front must not. */
static void holds(const char *text, const char *const *want)
{
	for (; *want; want++) {
		int is_not = **want == '!';
		if (!CHECK((strstr(text, *want + is_not) != NULL) != is_not))
			fprintf(stderr, "\t%s\n\tin: %s\n", *want, text);
	}
}

#define HOLDS(text, ...) holds(text, (const char *const[]){ __VA_ARGS__, NULL })
#define IMAGE "void mainImage(out vec4 c, in vec2 p) { c = vec4(1); }\n"

/* A row of uniform.def is declared by texts, and no user's uniform has its name. */
static void has_row(const char *name, const char *declaration, int is_essl)
{
	reset(PASS_IMAGE, is_essl ? DIALECT_ESSL : DIALECT_GLSL);
	struct shader s = build(IMAGE, &best, NULL);
	HOLDS(s.stage, declaration);
	shader_release(&s);
	CHECK(uniform_is_reserved(name, manifest.dialect));
}

static void builtins(void)
{
	for (int is_essl = 0; is_essl < 2; is_essl++) {
#define UNIFORM(name, type, is_array, value, why) \
	has_row(#name, "uniform " #type " " #name, is_essl);
#define AUDIO(name, value) \
	if (!is_essl) \
		has_row(#name, "const vec4 " #name, 0);
#include "glsl/uniform.def"
#undef UNIFORM
#undef AUDIO
	}
}

static void texts(void)
{
	reset(PASS_IMAGE, DIALECT_ESSL);
	struct shader s = build(IMAGE, &best, NULL);
	CHECK(strncmp(s.stage, "#version 300 es\nprecision highp float;\n", 39) == 0);
	CHECK(strncmp(s.vertex, "#version 300 es\n", 16) == 0 && !s.is_compute);
	HOLDS(s.stage, "precision highp sampler3D;", "!#define",
	    "uniform sampler2D iChannel3;", "!iChannel4", "iChannelTime[4]", "} iCh3;",
	    "!iAudio", "!CLAMP", "!iIteration", "!layout",
	    "void mainImage(out vec4 , in vec2 );", "min(color.b, 1.0)",
	    "#line 1001 1\n\nvoid mainImage(out vec4 c, in vec2 p) {c=vec4(0);");
	/* main stands in front of what the user may redefine. */
	CHECK(strstr(s.stage, "void main()") < strstr(s.stage, "#line 1001"));
	shader_release(&s);

	/* Everything is highp. */
	s = build("#ifdef lowp\n#endif\nprecision mediump float;\nlowp vec2 v;\n" IMAGE,
	    &best, NULL);
	HOLDS(s.stage, "\nprecision highp float;\nhighp vec2 v=vec2(0);\n", "!mediump");
	shader_release(&s);

	reset(PASS_IMAGE, DIALECT_GLSL);
	s = build(IMAGE, &best, NULL);
	CHECK(strncmp(s.stage, "#version 430 core\n", 18) == 0);
	HOLDS(s.stage, "!precision", "!#define", "const vec4 iMusicMeta",
	    "iChannelResolution[16]", "sampleAudioWaveform", "!iCh0", "!iIteration");
	shader_release(&s);
	s = build(IMAGE, &old, NULL);
	CHECK(strncmp(s.stage, "#version 410 core\n", 18) == 0);
	shader_release(&s);
	s = build(IMAGE "vec4 f() { return texture2D(iChannel0, vec2(0)); }", &best,
	    NULL);
	CHECK(strncmp(s.stage, "#version 410 core\n", 18) == 0);
	CHECK(strncmp(s.vertex, "#version 410 core\n", 18) == 0);
	shader_release(&s);

	reset(PASS_BUFFER, DIALECT_ESSL);
	pass[0].nextra_output = 1;
	struct input_ref in[] = {
		{ .channel = 0, .kind = INPUT_PASS, .pass = 1 },
		{ .channel = 2, .kind = INPUT_VOLUME },
		{ .channel = 9, .kind = INPUT_KEYBOARD },
	};
	pass[0].input = in;
	pass[0].ninput = 3;
	uniform[0] = (struct uniform){ .name = "on", .type = VALUE_BOOL };
	uniform[1] = (struct uniform){ .name = "col", .type = VALUE_VEC3 };
	manifest.uniform = uniform;
	manifest.nuniform = 2;
	s = build("uniform vec3 col;\n" IMAGE, &best, NULL);
	HOLDS(s.stage, "uniform samplerCube iChannel0;", "uniform sampler2D iChannel1;",
	    "uniform sampler3D iChannel2;", "uniform sampler2D iChannel9;", "!iChannel8",
	    "iChannelTime[16]", "layout(location = 0) out vec4 stb_color",
	    "uniform bool on;\n", "!uniform bool on; uniform vec3", "!min(color",
	    "!iCh0");
	shader_release(&s);

	reset(PASS_COMPUTE, DIALECT_ESSL);
	pass[0].format = FORMAT_R32F;
	pass[0].nextra_output = 1;
	pass[0].extra_output[0] = FORMAT_RGBA16F;
	s = build("buffer B { float b; }; void mainCompute(ivec2 p) {}", &best, NULL);
	CHECK(!s.vertex && s.is_compute && !shader_is_readonly(&s, "B"));
	HOLDS(s.stage, "#version 430 core\n", "!iMusic",
	    "local_size_x = 8, local_size_y = 4, local_size_z = 1",
	    "layout(r32f, binding = 0) uniform image2D iOutput;",
	    "layout(rgba16f, binding = 1) uniform image2D iOutput1;",
	    "uniform int iIteration;", "buffer B", "lessThan(pixel");
	shader_release(&s);
	s = build("void mainCompute(ivec2 p) {}", &old, "needs OpenGL 4.3");
	s = build("void main() {}", &best, "no mainCompute");

	reset(PASS_CUBEMAP, DIALECT_ESSL);
	s = build("void mainCubemap(out vec4 c, in vec2 p, in vec3 o, in vec3 d)"
		  "{ c.x += 1.; discard; }",
	    &best, NULL);
	HOLDS(s.stage, "uniform int " SHADER_FACE, "mainCubemap(out vec4 c, in");
	CHECK(s.has_discard);
	shader_release(&s);
	const struct shader_target no_es = { 410, 0 };
	s = build("mainCubemap", &no_es, "ARB_ES3_compatibility");

	reset(PASS_SOUND, DIALECT_ESSL);
	s = build("vec2 mainSound(in int s, float t) { return vec2(t); }", &best, NULL);
	HOLDS(s.stage, "vec2 mainSound(in int , float );", SHADER_SAMPLE, SHADER_WIDTH);
	shader_release(&s);
	s = build("vec2 mainSound(float t) { return vec2(t); }", &best, NULL);
	HOLDS(s.stage, "vec2 mainSound(float );");
	shader_release(&s);

	reset(PASS_IMAGE, DIALECT_ESSL);
	struct storage storage = { 1, "B", 4 };
	pass[0].storage = &storage;
	pass[0].nstorage = 1;
	s = build("layout(std430, binding = 1) readonly buffer B { float b; };" IMAGE,
	    &best, NULL);
	HOLDS(s.stage, "#version 430 core\n", "readonly buffer B");
	CHECK(shader_is_readonly(&s, "B") && shader_is_readonly(&s, "B[0]"));
	CHECK(!shader_is_readonly(&s, "C") && !shader_is_readonly(&s, "BB"));
	shader_release(&s);
	s = build("buffer W { int w; }; readonly buffer R { int r; };"
		  "readonly restrict buffer Q { int q; } q; buffer V { int v; };"
		  "\n#if 1\nreadonly buffer D { int d; };\n#else\n"
		  "buffer D { int d; };\n#endif\n" IMAGE,
	    &best, NULL);
	CHECK(shader_is_readonly(&s, "R") && shader_is_readonly(&s, "Q"));
	CHECK(!shader_is_readonly(&s, "W") && !shader_is_readonly(&s, "V"));
	CHECK(shader_is_readonly(&s, "D"));
	shader_release(&s);
	s = build("#define readonly\nreadonly buffer R { int r; };" IMAGE, &best, NULL);
	CHECK(!shader_is_readonly(&s, "R"));
	shader_release(&s);
	s = build("#define A out vec4 c, vec2 p\nvoid mainImage(A) {}", &best, NULL);
	HOLDS(s.stage, "void mainImage(out vec4 , vec2 );");
	shader_release(&s);
}

static void ids(void)
{
	static const struct {
		const char *text;
		int is_same_tokens, is_same_program;
	} row[] = {
		{ "// comment\n" IMAGE, 1, 1 },
		{ "\n\nvoid mainImage(out vec4 c, in vec2 p)\n{ c = vec4(1); }", 1, 1 },
		{ "float unused() { return 1.0; }" IMAGE, 1, 0 },
		{ "void mainImage(out vec4 c, in vec2 p) { c = vec4(2); }", 0, 0 },
		{ IMAGE "void f() { discard; }", 1, 0 },
		{ IMAGE "int x = __LINE__;", 0, 0 },
	};
	reset(PASS_IMAGE, DIALECT_ESSL);
	struct shader base = build(IMAGE, &best, NULL);
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct shader s = build(row[i].text, &best, NULL);
		CHECK_INT(strcmp(buf_str(&s.tokens), buf_str(&base.tokens)) == 0,
		    row[i].is_same_tokens);
		CHECK_INT(sha256_equal(&s.program_id, &base.program_id),
		    row[i].is_same_program);
		CHECK(!s.has_discard);
		shader_release(&s);
	}
	/* What we declare is of the program, but not of the user's tokens. */
	uniform[0] = (struct uniform){ .name = "new", .type = VALUE_FLOAT };
	manifest.uniform = uniform;
	manifest.nuniform = 1;
	struct shader s = build(IMAGE, &best, NULL);
	CHECK_STR(buf_str(&s.tokens), buf_str(&base.tokens));
	CHECK(!sha256_equal(&s.program_id, &base.program_id));
	shader_release(&s);
	reset(PASS_IMAGE, DIALECT_GLSL);
	s = build(IMAGE, &best, NULL);
	CHECK(!sha256_equal(&s.program_id, &base.program_id));
	shader_release(&s);
	shader_release(&base);
}

static void portable(void)
{
	reset(PASS_IMAGE, DIALECT_ESSL);
	struct input_ref in = { .channel = 1, .kind = INPUT_TEXTURE };
	pass[0].input = &in;
	pass[0].ninput = 1;
	uniform[0] = (struct uniform){ .name = "on", .type = VALUE_BOOL };
	uniform[1] = (struct uniform){ .name = "own", .type = VALUE_FLOAT };
	manifest.uniform = uniform;
	manifest.nuniform = 2;
	load("#version 300 es\nuniform float own;\niChannel0 iChannel1 iChannel5\n");
	struct buf out = BUF_INIT;
	shader_portable(&manifest, 0, &source, &out);
	CHECK_STR(buf_str(&out),
	    "uniform bool on;\nuniform sampler2D iChannel0;\n"
	    "#line 1 1\n               \nuniform float own;\n"
	    "iChannel0 iChannel1 iChannel5\n");
	buf_release(&out);
}

/* Logs --------------------------------------------------------------------- */

static void logs(const char *log, const char *want)
{
	struct err err = ERR_INIT;
	CHECK_INT(shader_log(&manifest, 0, &source, &no_shader, log, &err), -1);
	CHECK_INT(err.status, STATUS_FAILED);
	char *text = err_text(&err);
	CHECK_STR(text, want);
	free(text);
	err_release(&err);
}

static void maps_logs(void)
{
	reset(PASS_IMAGE, DIALECT_ESSL);
	load("A1\n#include \"b.glsl\"\n\t A3\n");
	/* Lines: seam, A1, seam, B1, B2, seam, A3. */
	logs("0:1002(5): error: bad\n",
	    "a.glsl:1:5: pass 'a' does not compile: "
	    "bad\n    A1");
	logs("1:1005(1): error: `stbw_buffer' is bad\n0:1005(9): error: more\n"
	     "0:1007(2): warning: x\n0:1007(2): error: y\n",
	    "b.glsl:2:1: pass 'a' does not compile: `buffer' is bad\n    B2\n"
	    "a.glsl:3:2: error: y\n    A3");
	logs("0(1004) : error C1234: bad\n",
	    "b.glsl:1: pass 'a' does not compile: "
	    "error C1234: bad\n    B1");
	logs("ERROR: 0:1007: 'x' : bad\nERROR: 1 compilation errors.\n",
	    "a.glsl:3: pass 'a' does not compile: 'x' : bad\n    A3\n"
	    "ERROR: 1 compilation errors.");
	logs("WARNING: 0:1002: w\nERROR: 0:1004: e\n",
	    "b.glsl:1: pass 'a' does not compile: e\n    B1");
	/* Nothing is called ours: the names in it have a place, or the pass. */
	logs("0:7(1): error: `B2' is bad\n",
	    "b.glsl:2:1: pass 'a' does not "
	    "compile: `B2' is bad\n    B2");
	logs("error: unresolved reference to function `f'\n",
	    "a.glsl: pass 'a' does not compile\n"
	    "error: unresolved reference to function `f'");
	logs("", "a.glsl: pass 'a' does not compile; the driver does not say why");
	logs("0:99999999999(1): error: x\n0:1003(1): error: a seam\n0:9999(1): "
	     "error: behind\n0:(:\n:\x1b[31m\n",
	    "a.glsl: pass 'a' does not compile\n"
	    "0:99999999999(1): error: x\n0:1003(1): error: a seam\n0:9999(1): "
	    "error: behind\n0:(:\n: [31m");
	logs("0:1002(1): error: no match; candidates are:\n0:1002(1): error:    x\n",
	    "a.glsl:1:1: pass 'a' does not compile: no match\n    A1");
	load("A1 __LINE__\n#include \"b.glsl\"\nA3\n");
	logs("0:1005(1): error: x\n",
	    "b.glsl:2:1: pass 'a' does not compile: x\n"
	    "    B2");
	logs("0:1007(1): error: x\n",
	    "a.glsl:3:1: pass 'a' does not compile: x\n"
	    "    A3");
}

/* What a linker says has no place; the names in it have. */
static void places_names(void)
{
	reset(PASS_IMAGE, DIALECT_ESSL);
	load("int g(int);\n#include \"b.glsl\"\n"
	     "int f(int n);\nuniform float few, many[99];\n"
	     " int f(int n) { return g(f(n)); }\n"
	     "void mainImage(out vec4 c, in vec2 p) { c = vec4(f(1)); }\n");
	logs("0:0(0): error: function `int f(int)' has static recursion\n",
	    "a.glsl:5:6: pass 'a' does not compile: function `int f(int)' has "
	    "static recursion\n    int f(int n) { return g(f(n)); }");
	logs("error: unresolved reference to function `g'\n",
	    "a.glsl:5:24: "
	    "pass 'a' does not compile: unresolved reference to function "
	    "`g'\n    int f(int n) { return g(f(n)); }");
	logs("error: Too many fragment shader default uniform block components\n",
	    "a.glsl:4:1: pass 'a' does not compile: Too many fragment shader "
	    "default uniform block components\n    uniform float few, many[99];");
	logs("error: nobody knows\n",
	    "a.glsl:6:6: pass 'a' does not compile: "
	    "nobody knows\n"
	    "    void mainImage(out vec4 c, in vec2 p) { c = vec4(f(1)); }");
}

/* A first error in a line with a character that nobody sees is about that. */
static void names_characters(void)
{
	static const struct {
		const char *bytes, *name;
	} row[] = {
		{ "\xc2\xa0", "U+00A0 (no-break space)" },
		{ "\xc2\xad", "U+00AD (soft hyphen)" },
		{ "\xe2\x80\x8b", "U+200B (zero width space)" },
		{ "\xe2\x80\x9c", "U+201C (curly quote)" },
		{ "\xef\xbb\xbf", "U+FEFF (byte order mark)" },
		{ "\xef\xbc\x88",
		    "U+FF08 (full-width form) '\xef\xbc\x88': "
		    "a character that GLSL does not have; write '('" },
		{ "\xe3\x80\x80", "U+3000 (ideographic space)" },
		{ "\xc3\xa9", "U+00E9 '\xc3\xa9'" },
		{ "\x01", "U+0001 (control character)" },
		{ "@", "U+0040 '@'" },
	};
	reset(PASS_IMAGE, DIALECT_ESSL);
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		char text[256], want[256];
		struct err err = ERR_INIT;
		snprintf(text, sizeof text,
		    "/*%s*/ x;\n y%s;\n#define M%s 1\n"
		    "M z;\n",
		    row[i].bytes, row[i].bytes, row[i].bytes);
		snprintf(want, sizeof want, "pass 'a' does not compile: %s", row[i].name);
		load(text);
		/* Lines: seam, x, y, M, z. */
		CHECK_INT(shader_log(&manifest, 0, &source, &no_shader,
			      "0:1003(9): error: "
			      "unexpected end of file\n",
			      &err),
		    -1);
		CHECK_INT(strncmp(err.message, want, strlen(want)), 0);
		CHECK_INT(err.line, 2);
		CHECK_INT(err.column, 3);
		err_release(&err);
		CHECK_INT(shader_log(&manifest, 0, &source, &no_shader,
			      "0:1005(1): error: "
			      "bad\n",
			      &err),
		    -1);
		CHECK_INT(strncmp(err.message, want, strlen(want)), 0);
		CHECK_INT(err.line, 3);
		CHECK_INT(err.column, 10);
		err_release(&err);
		CHECK_INT(shader_log(&manifest, 0, &source, &no_shader,
			      "0:1002(1): error: "
			      "bad\n",
			      &err),
		    -1);
		CHECK(strstr(err.message, ": bad") != NULL);
		CHECK_INT(err.line, 1);
		err_release(&err);
	}
}

int main(void)
{
	places_names();
	names_characters();
	directives();
	words();
	own_functions();
	zeros_of_variables();
	zeros_by_macros();
	zeros_of_structs();
	zeros_of_functions();
	zeros_of_anything();
	finds_places();
	builtins();
	texts();
	ids();
	portable();
	maps_logs();
	source_release(&source);
	return test_done();
}

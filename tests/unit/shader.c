#include <stdlib.h>

#include "glsl/shader.h"
#include "glsl/shader_rewrite.h"
#include "util/mem.h"
#include "test.h"

/* Rewriting ---------------------------------------------------------------- */

enum { GLSL, ESSL, STORAGE };

/* want: the text behind; extensions: what is hoisted, or null. */
static void rewrites(int mode, const char *text, const char *want)
{
	struct glsl g;
	struct rewrite r;
	struct rewrite_options options = { mode == ESSL, mode == STORAGE,
		"mainImage" };
	glsl_lex(&g, text, strlen(text));
	shader_rewrite(&g, &options, &r);
	CHECK_STR(buf_str(&r.text), want);
	int lines = 0;
	for (const char *s = text; *s; s++)
		lines += *s == '\n';
	for (const char *s = buf_str(&r.text); *s; s++)
		lines -= *s == '\n';
	/* Of #line, that is what it says that counts. */
	if (!strstr(buf_str(&r.text), "#line"))
		CHECK_INT(lines, 0);
	rewrite_release(&r);
	glsl_release(&g);
}

static void hoists(const char *text, const char *want)
{
	struct glsl g;
	struct rewrite r;
	struct rewrite_options options = { 1, 0, "mainImage" };
	glsl_lex(&g, text, strlen(text));
	shader_rewrite(&g, &options, &r);
	CHECK_STR(buf_str(&r.extensions), want);
	rewrite_release(&r);
	glsl_release(&g);
}

static void directives(void)
{
	rewrites(GLSL, "#version 300 es // x\na", "                    \na");
	rewrites(GLSL, "# version \\\n430\na", "           \n   \na");
	rewrites(GLSL, "#line 1 1\na\n#line 7\nb", "         \na\n       \nb");
	/* Numbered through all the same, with the lines that __LINE__ means. */
	rewrites(GLSL, "#line 1 1\na\n#line 7\n__LINE__ __FILE__\n#if __LINE__\n",
		"#undef stb_line\n#define stb_line (1001)\n#line 1002 1\na\n"
		"#undef stb_line\n#define stb_line (997)\n#line 1004 1\n"
		"(__LINE__-stb_line) 0\n#if (__LINE__-stb_line)\n");
	rewrites(GLSL, "#line 1 1\n#define L a##__LINE__\n",
		"#undef stb_line\n#define stb_line (1001)\n#line 1002 1\n"
		"#define L a##__LINE__\n");
	rewrites(GLSL, "#extension GL_X : enable\n#extension y\n",
		"                        \n#extension y\n");
	hoists("\na;\n#extension GL_A : enable\n#extension GL_A:enable\n"
		"#extension GL_A : require\n",
		"#line 1003 1\n#extension GL_A : enable\n"
		"#line 1005 1\n#extension GL_A : require\n");
	hoists("#if X\n#extension GL_A : require\n#endif\n",
		"#line 1002 1\n#extension GL_A : enable\n");
	hoists("#extension GL_OES_standard_derivatives : enable\n"
		"#extension GL_EXT_shader_texture_lod : require\n"
		"#extension GL_EXT_frag_depth : enable\n", "");
	rewrites(ESSL, "#ifdef GL_OES_standard_derivatives\n#endif\n#if GL_ES\n",
		"#ifdef stbw_GL_OES_standard_derivatives\n#endif\n#if GL_ES\n");
	rewrites(GLSL, "#ifdef GL_OES_standard_derivatives\n",
		"#ifdef GL_OES_standard_derivatives\n");
}

static void parameters(void)
{
	rewrites(GLSL, "void mainImage( out vec4 c, in vec2 p ) { }",
		"void mainImage( inout vec4 c, in vec2 p ) { }");
	rewrites(GLSL, "void mainImage(highp out vec4 c, out vec2 p){}",
		"void mainImage(highp inout vec4 c, out vec2 p){}");
	rewrites(GLSL, "void mainImage(ou\\\nt vec4 c, vec2 p){}",
		"void mainImage(inout\\\n vec4 c, vec2 p){}");
	rewrites(GLSL, "#define M void mainImage(out vec4 c, vec2 p)\nM{}",
		"#define M void mainImage(inout vec4 c, vec2 p)\nM{}");
	rewrites(GLSL, "void f(out float a, inout float b, out highp ivec2 c)\n{\nd}",
		"void f(out float a, inout float b, out highp ivec2 c)\n"
		"{a=float(0);c=ivec2(0);\nd}");
	rewrites(GLSL, "void f(out float a[2], out S b, out float[2] c, out mat3x2 d,"
		"float e){", "void f(out float a[2], out S b, out float[2] c, "
		"out mat3x2 d,float e){d=mat3x2(0);");
	rewrites(GLSL, "void f(out float a); void g(out float){} h(out float a){}",
		"void f(out float a); void g(out float){} h(out float a){}");
	rewrites(GLSL, "void f(out float buffer){buffer;}",
		"void f(out float stbw_buffer){stbw_buffer=float(0);stbw_buffer;}");
	rewrites(GLSL, "out vec4 o; void f(){ g(o); }", "out vec4 o; void f(){ g(o); }");
	rewrites(GLSL, "#if A\nvoid f(out float a){\n#else\nvoid f(out int a){\n#endif\n}",
		"#if A\nvoid f(out float a){a=float(0);\n#else\n"
		"void f(out int a){a=int(0);\n#endif\n}");
}

static void words(void)
{
	rewrites(GLSL, "float char = shared+x.sample; // char",
		"float stbw_char = stbw_shared+x.stbw_sample; // char");
	rewrites(GLSL, "#define B buffer\n#pragma packed\n",
		"#define B stbw_buffer\n#pragma packed\n");
	rewrites(GLSL, "precise float x; float shared;",
		"precise float x; float stbw_shared=float(0);");
	rewrites(GLSL, "layout(packed, row_major) uniform B { float packed; };",
		"layout(packed, row_major) uniform B { float stbw_packed; };");
	rewrites(GLSL, "dmat2 m = dmat2(1.0); float dmat3 = 1.0;",
		"dmat2 m = dmat2(1.0); float stbw_dmat3 = 1.0;");
	rewrites(GLSL, "float dmat3(float x); y = dmat3(1.0);",
		"float stbw_dmat3(float x); y = stbw_dmat3(1.0);");
	rewrites(STORAGE, "buffer B { float x; }; shared float y; float char;",
		"buffer B { float x; }; shared float y; float stbw_char=float(0);");
	rewrites(STORAGE, "#define S shared\n", "#define S shared\n");
	rewrites(ESSL, "float char, buffer, sample; float packed, dmat2;",
		"float char=float(0), buffer=float(0), sample=float(0); "
		"float stbw_packed=float(0), stbw_dmat2=float(0);");
	rewrites(GLSL, "buff\\\ner = 1;", "stbw_buffer\\\n = 1;");
	rewrites(GLSL, "int characters, a_char, samples;",
		"int characters=int(0), a_char=int(0), samples=int(0);");
}

static void zeros(void)
{
	rewrites(GLSL, "void f(){ float a, b = g(1, 2), c; for (int i; i < 2; i++) mat2 m; }",
		"void f(){ float a=float(0), b = g(1, 2), c=float(0); "
		"for (int i=int(0); i < 2; i++) mat2 m; }");
	/* What is no declaration, or not of a basic type, or has a value. */
	const char *same = "uniform vec2 u; const int n = 2; in vec4 x; vec3 f(vec3 a, float b);\n"
		"layout(location = 1) out vec4 o; buffer B { float m; vec2 l[]; }; float g[3];\n"
		"vec3 f(vec3 a, float b) { vec3(1.0); return vec3(a.x ? vec2(b) : vec2(1.0)); }\n"
		"#define F float z;\nprecision highp float; void h() { F sampler2D s; "
		"float[2] q = g; }";
	rewrites(STORAGE, same, same);
	rewrites(ESSL, "void f(){ lowp vec2 a; float l[N + 1], k; int[2] m; float mm[2][2]; }",
		"void f(){ highp vec2 a=vec2(0); float l[N + 1], k=float(0);"
		"for(int stb_i=0;stb_i<int(N + 1 );stb_i++)l[stb_i]=float(0); int[2] m;"
		"for(int stb_i=0;stb_i<int(2 );stb_i++)m[stb_i]=int(0); float mm[2][2]; }");
	/* Structs, in structs, with arrays; of sizes and types that are known. */
	rewrites(GLSL, "struct A { float x, y[2]; }; struct B { A a; highp ivec2 c; };\n"
		"A g; void f(B p) { B b, c = p; }",
		"struct A { float x, y[2]; }; struct B { A a; highp ivec2 c; };\n"
		"A g=A(float(0),float[2](float(0),float(0))); void f(B p) { "
		"B b=B(A(float(0),float[2](float(0),float(0))),ivec2(0)), c = p; }");
	same = "struct A { float x[N]; }; struct C { sampler2D s; }; struct D\n{\n#if X\n"
		"float a;\n#endif\nfloat b;\n}; void f() { A a; C c; D d; }";
	rewrites(GLSL, same, same);
	rewrites(GLSL, "void f() { float a\n#if X\n, b\n#endif\n; float c; }",
		"void f() { float a\n#if X\n, b\n#endif\n; float c=float(0); }");
	/* Torn texts end. */
	rewrites(GLSL, "void f() { float a[", "void f() { float a[");
	rewrites(GLSL, "struct A { float", "struct A { float");
	rewrites(GLSL, "float a", "float a");
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
	pass[0] = (struct pass) { .name = "a", .kind = kind, .source = "a.glsl" };
	pass[1] = (struct pass) { .name = "cube", .kind = PASS_CUBEMAP };
	size[0] = (struct variant_pass) { .local_size = { 8, 4, 1 } };
	manifest = (struct manifest) { .pass = pass, .npass = 2,
		.dialect = dialect };
}

static void load(const char *text)
{
	struct tree *tree = tree_new_memory("test");
	struct err err = ERR_INIT;
	tree_memory_add(tree, "a.glsl", text, strlen(text));
	tree_memory_add(tree, "b.glsl", "B1\nB2\n", 6);
	source_release(&source);
	if (!CHECK_INT(source_expand(tree, "a.glsl", NULL, NULL, 0, NULL, &source,
		&err), 0))
		fprintf(stderr, "\t%s\n", err.message);
	err_release(&err);
	tree_free(tree);
}

static struct shader build(const char *text,
	const struct shader_target *target, const char *fault)
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

#define HOLDS(text, ...) \
	holds(text, (const char *const[]) { __VA_ARGS__, NULL })
#define IMAGE "void mainImage(out vec4 c, in vec2 p) { c = vec4(1); }\n"

static void texts(void)
{
	reset(PASS_IMAGE, DIALECT_ESSL);
	struct shader s = build(IMAGE, &best, NULL);
	CHECK(!strncmp(s.stage, "#version 300 es\nprecision highp float;\n", 39));
	CHECK(!strncmp(s.vertex, "#version 300 es\n", 16) && !s.is_compute);
	HOLDS(s.stage, "precision highp sampler3D;", "HW_PERFORMANCE 1",
		"uniform sampler2D iChannel3;", "!iChannel4", "iChannelTime[4]",
		"} iCh3;", "!iAudio", "!CLAMP", "!iIteration", "!layout",
		"void mainImage(inout vec4 color", "min(color.b, 1.0)",
		"#line 1001 1\n         \nvoid mainImage(inout vec4 c");
	/* main stands in front of what the user may redefine. */
	CHECK(strstr(s.stage, "void main()") < strstr(s.stage, "#line 1001"));
	shader_release(&s);

	/* Everything is highp, but where a macro has the word. */
	s = build("#ifdef lowp\n#endif\nprecision mediump float;\nlowp vec2 v;\n" IMAGE,
		&best, NULL);
	HOLDS(s.stage, "#ifdef lowp\n", "\nprecision highp float;\nhighp vec2 v=vec2(0);\n",
		"!mediump");
	shader_release(&s);

	reset(PASS_IMAGE, DIALECT_GLSL);
	s = build(IMAGE, &best, NULL);
	CHECK(!strncmp(s.stage, "#version 430 core\n", 18));
	HOLDS(s.stage, "!precision", "!HW_PERF", "SHADERTOY_CLAMP_OUTPUT",
		"iChannelResolution[16]", "#define iAudioSilence iMusicMeta.y",
		"sampleAudioWaveform", "!iCh0", "!iIteration");
	shader_release(&s);
	s = build(IMAGE, &old, NULL);
	CHECK(!strncmp(s.stage, "#version 410 core\n", 18));
	shader_release(&s);
	s = build(IMAGE "vec4 f() { return texture2D(iChannel0, vec2(0)); }", &best,
		NULL);
	CHECK(!strncmp(s.stage, "#version 410 core\n", 18));
	CHECK(!strncmp(s.vertex, "#version 410 core\n", 18));
	shader_release(&s);

	reset(PASS_BUFFER, DIALECT_ESSL);
	pass[0].nextra_output = 1;
	struct input_ref in[] = {
		{ .channel = 0, .kind = INPUT_PASS, .pass = 1 },
		{ .channel = 2, .kind = INPUT_VOLUME },
		{ .channel = 9, .kind = INPUT_KEYBOARD }
	};
	pass[0].input = in;
	pass[0].ninput = 3;
	uniform[0] = (struct uniform) { .name = "on", .type = VALUE_BOOL };
	uniform[1] = (struct uniform) { .name = "col", .type = VALUE_VEC3 };
	manifest.uniform = uniform;
	manifest.nuniform = 2;
	s = build("uniform vec3 col;\n" IMAGE, &best, NULL);
	HOLDS(s.stage, "uniform samplerCube iChannel0;",
		"uniform sampler2D iChannel1;", "uniform sampler3D iChannel2;",
		"uniform sampler2D iChannel9;", "!iChannel8", "iChannelTime[16]",
		"layout(location = 0) out vec4 stb_color", "uniform bool on;\n",
		"!uniform bool on; uniform vec3", "!min(color", "!iCh0");
	shader_release(&s);

	reset(PASS_COMPUTE, DIALECT_ESSL);
	pass[0].format = FORMAT_R32F;
	pass[0].nextra_output = 1;
	pass[0].extra_output[0] = FORMAT_RGBA16F;
	s = build("buffer B { float b; }; void mainCompute(ivec2 p) {}", &best, NULL);
	CHECK(!s.vertex && s.is_compute && !shader_is_readonly(&s, "B"));
	HOLDS(s.stage, "#version 430 core\n", "HW_PERFORMANCE", "!iAudio",
		"local_size_x = 8, local_size_y = 4, local_size_z = 1",
		"layout(r32f, binding = 0) uniform image2D iOutput;",
		"layout(rgba16f, binding = 1) uniform image2D iOutput1;",
		"uniform int iIteration;", "buffer B", "lessThan(pixel");
	shader_release(&s);
	s = build("void mainCompute(ivec2 p) {}", &old, "needs OpenGL 4.3");
	s = build("void main() {}", &best, "no mainCompute");

	reset(PASS_CUBEMAP, DIALECT_ESSL);
	s = build("void mainCubemap(out vec4 c, in vec2 p, in vec3 o, in vec3 d)"
		"{ c.x += 1.; discard; }", &best, NULL);
	HOLDS(s.stage, "uniform int " SHADER_FACE, "mainCubemap(inout vec4 c, in");
	CHECK(s.has_discard);
	shader_release(&s);
	const struct shader_target no_es = { 410, 0 };
	s = build("mainCubemap", &no_es, "ARB_ES3_compatibility");

	reset(PASS_SOUND, DIALECT_ESSL);
	s = build("vec2 mainSound(in int s, float t) { return vec2(t); }", &best,
		NULL);
	HOLDS(s.stage, "vec2 mainSound(int number, float time);", SHADER_SAMPLE,
		SHADER_WIDTH);
	shader_release(&s);
	s = build("vec2 mainSound(float t) { return vec2(t); }", &best, NULL);
	HOLDS(s.stage, "vec2 mainSound(float time);");
	shader_release(&s);

	reset(PASS_IMAGE, DIALECT_ESSL);
	struct storage storage = { 1, "B", 4 };
	pass[0].storage = &storage;
	pass[0].nstorage = 1;
	s = build("layout(std430, binding = 1) readonly buffer B { float b; };"
		IMAGE, &best, NULL);
	HOLDS(s.stage, "#version 430 core\n", "readonly buffer B");
	CHECK(shader_is_readonly(&s, "B") && shader_is_readonly(&s, "B[0]"));
	CHECK(!shader_is_readonly(&s, "C") && !shader_is_readonly(&s, "BB"));
	shader_release(&s);
	s = build("buffer W { int w; }; readonly buffer R { int r; };"
		"readonly restrict buffer Q { int q; } q; buffer V { int v; };"
		"\n#if 1\nreadonly buffer D { int d; };\n#else\n"
		"buffer D { int d; };\n#endif\n" IMAGE, &best, NULL);
	CHECK(shader_is_readonly(&s, "R") && shader_is_readonly(&s, "Q"));
	CHECK(!shader_is_readonly(&s, "W") && !shader_is_readonly(&s, "V"));
	CHECK(!shader_is_readonly(&s, "D"));
	shader_release(&s);
	s = build("#define readonly\nreadonly buffer R { int r; };" IMAGE, &best,
		NULL);
	CHECK(!shader_is_readonly(&s, "R"));
	shader_release(&s);
	s = build("#define A out vec4 c, vec2 p\nvoid mainImage(A) {}", &best, NULL);
	HOLDS(s.stage, "void mainImage(out vec4 color");
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
		{ IMAGE "int x = __LINE__;", 0, 0 }
	};
	reset(PASS_IMAGE, DIALECT_ESSL);
	struct shader base = build(IMAGE, &best, NULL);
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct shader s = build(row[i].text, &best, NULL);
		CHECK_INT(!strcmp(buf_str(&s.tokens), buf_str(&base.tokens)),
			row[i].is_same_tokens);
		CHECK_INT(sha256_equal(&s.program_id, &base.program_id),
			row[i].is_same_program);
		CHECK(!s.has_discard);
		shader_release(&s);
	}
	/* What we declare is of the program, but not of the user's tokens. */
	uniform[0] = (struct uniform) { .name = "new", .type = VALUE_FLOAT };
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
	uniform[0] = (struct uniform) { .name = "on", .type = VALUE_BOOL };
	uniform[1] = (struct uniform) { .name = "own", .type = VALUE_FLOAT };
	manifest.uniform = uniform;
	manifest.nuniform = 2;
	load("#version 300 es\nuniform float own;\niChannel0 iChannel1 iChannel5\n");
	struct buf out = BUF_INIT;
	shader_portable(&manifest, 0, &source, &out);
	CHECK_STR(buf_str(&out), "uniform bool on;\nuniform sampler2D iChannel0;\n"
		"#line 1 1\n               \nuniform float own;\n"
		"iChannel0 iChannel1 iChannel5\n");
	buf_release(&out);
}

/* Logs --------------------------------------------------------------------- */

static void logs(const char *log, const char *want)
{
	struct err err = ERR_INIT;
	CHECK_INT(shader_log(&manifest, 0, &source, log, &err), -1);
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
	logs("0:1002(5): error: bad\n", "a.glsl:1:5: pass 'a' does not compile: "
		"bad\n    A1");
	logs("1:1005(1): error: `stbw_buffer' is bad\n0:1005(9): error: more\n"
		"0:1007(2): warning: x\n0:1007(2): error: y\n",
		"b.glsl:2:1: pass 'a' does not compile: `buffer' is bad\n    B2\n"
		"a.glsl:3:2: error: y\n    A3");
	logs("0(1004) : error C1234: bad\n", "b.glsl:1: pass 'a' does not compile: "
		"error C1234: bad\n    B1");
	logs("ERROR: 0:1007: 'x' : bad\nERROR: 1 compilation errors.\n",
		"a.glsl:3: pass 'a' does not compile: 'x' : bad\n    A3\n"
		"ERROR: 1 compilation errors.");
	logs("WARNING: 0:1002: w\nERROR: 0:1004: e\n",
		"b.glsl:1: pass 'a' does not compile: e\n    B1");
	/* Nothing is called ours: the names in it have a place, or the pass. */
	logs("0:7(1): error: `B2' is bad\n", "b.glsl:2:1: pass 'a' does not "
		"compile: `B2' is bad\n    B2");
	logs("error: unresolved reference to function `f'\n",
		"a.glsl: pass 'a' does not compile\n"
		"error: unresolved reference to function `f'");
	logs("", "a.glsl: pass 'a' does not compile; the driver does not say why");
	logs("0:99999999999(1): error: x\n0:1003(1): error: a seam\n0:9999(1): "
		"error: behind\n0:(:\n:\x1b[31m\n", "a.glsl: pass 'a' does not compile\n"
		"0:99999999999(1): error: x\n0:1003(1): error: a seam\n0:9999(1): "
		"error: behind\n0:(:\n: [31m");
	logs("0:1002(1): error: no match; candidates are:\n0:1002(1): error:    x\n",
		"a.glsl:1:1: pass 'a' does not compile: no match\n    A1");
	load("A1 __LINE__\n#include \"b.glsl\"\nA3\n");
	logs("0:1005(1): error: x\n", "b.glsl:2:1: pass 'a' does not compile: x\n"
		"    B2");
	logs("0:1007(1): error: x\n", "a.glsl:3:1: pass 'a' does not compile: x\n"
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
	logs("error: unresolved reference to function `g'\n", "a.glsl:5:24: "
		"pass 'a' does not compile: unresolved reference to function "
		"`g'\n    int f(int n) { return g(f(n)); }");
	logs("error: Too many fragment shader default uniform block components\n",
		"a.glsl:4:1: pass 'a' does not compile: Too many fragment shader "
		"default uniform block components\n    uniform float few, many[99];");
	logs("error: nobody knows\n", "a.glsl:6:6: pass 'a' does not compile: "
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
		{ "\xef\xbc\x88", "U+FF08 (full-width form) '\xef\xbc\x88': "
			"a character that GLSL does not have; write '('" },
		{ "\xe3\x80\x80", "U+3000 (ideographic space)" },
		{ "\xc3\xa9", "U+00E9 '\xc3\xa9'" },
		{ "\x01", "U+0001 (control character)" }, { "@", "U+0040 '@'" }
	};
	reset(PASS_IMAGE, DIALECT_ESSL);
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		char text[256], want[256];
		struct err err = ERR_INIT;
		snprintf(text, sizeof text, "/*%s*/ x;\n y%s;\n#define M%s 1\n"
			"M z;\n", row[i].bytes, row[i].bytes, row[i].bytes);
		snprintf(want, sizeof want, "pass 'a' does not compile: %s",
			row[i].name);
		load(text);
		/* Lines: seam, x, y, M, z. */
		CHECK_INT(shader_log(&manifest, 0, &source, "0:1003(9): error: "
			"unexpected end of file\n", &err), -1);
		CHECK_INT(strncmp(err.message, want, strlen(want)), 0);
		CHECK_INT(err.line, 2);
		CHECK_INT(err.column, 3);
		err_release(&err);
		CHECK_INT(shader_log(&manifest, 0, &source, "0:1005(1): error: "
			"bad\n", &err), -1);
		CHECK_INT(strncmp(err.message, want, strlen(want)), 0);
		CHECK_INT(err.line, 3);
		CHECK_INT(err.column, 10);
		err_release(&err);
		CHECK_INT(shader_log(&manifest, 0, &source, "0:1002(1): error: "
			"bad\n", &err), -1);
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
	parameters();
	words();
	zeros();
	texts();
	ids();
	portable();
	maps_logs();
	source_release(&source);
	return test_done();
}

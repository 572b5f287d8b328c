#include <stdlib.h>

#include "glsl/glsl.h"
#include "util/mem.h"
#include "test.h"

/* Tokens in brackets, "#" starts and "$" ends a directive. Owned. */
static char *dump(const char *text, const char *root)
{
	struct glsl g;
	struct buf out = BUF_INIT, scratch = BUF_INIT;
	glsl_lex(&g, text, strlen(text));
	if (root)
		glsl_drop_unused(&g, root);
	for (size_t i = 0; i < g.ntoken; i++) {
		size_t n;
		const char *s = glsl_token_text(&g, i, &scratch, &n);
		if (!g.is_kept[i])
			continue;
		if (out.len)
			buf_addch(&out, ' ');
		if (g.token[i].kind == GLSL_LINE_END)
			buf_addch(&out, '$');
		buf_add(&out, s, n);
	}
	glsl_release(&g);
	buf_release(&scratch);
	return buf_detach(&out);
}

static void lexes(const char *text, const char *want)
{
	char *got = dump(text, NULL);
	CHECK_STR(got, want);
	free(got);
}

static void keeps(const char *text, const char *want)
{
	char *got = dump(text, "root");
	CHECK_STR(got, want);
	free(got);
}

static char *canonical(const char *text)
{
	struct glsl g;
	struct buf out = BUF_INIT;
	glsl_lex(&g, text, strlen(text));
	glsl_drop_unused(&g, "mainImage");
	glsl_canonical(&g, 1, &out);
	glsl_release(&g);
	return buf_detach(&out);
}

static void same(const char *a, const char *b, int want)
{
	char *x = canonical(a), *y = canonical(b);
	if (!CHECK_INT(strcmp(x, y) == 0, want))
		fprintf(stderr, "\t%s\n\t%s\n", a, b);
	free(x);
	free(y);
}

static void tokens(void)
{
	lexes("", "");
	lexes("a+ +b a++b a+++b", "a + + b a ++ b a ++ + b");
	lexes("a<<=b>>=c<<d<=e", "a <<= b >>= c << d <= e");
	lexes("a^^b&&c||d^=e!=f==g", "a ^^ b && c || d ^= e != f == g");
	lexes("1. .5 1.e-5f 0x1Fu 1e+10 3u .5.x", "1. .5 1.e-5f 0x1Fu 1e+10 3u .5.x");
	lexes("0xE+f 1e+x a.x1 v.5", "0xE + f 1e + x a . x1 v .5");
	lexes("a/b/ /c//d\ne/**/f/***/g/*/h*/i", "a / b / / c e f g i");
	lexes("a//b\\\nc\nd", "a d");
	lexes("a/\\\n/ b\nc/\\\r\n* d *\\\n/e", "a c e");
	lexes("ab\\\ncd 1\\\n2 +\\\n+", "abcd 12 ++");
	lexes("a\\b \\", "a \\ b \\");
	lexes("a /* never", "a /*");
	lexes("a/", "a /");
	lexes("#define A \\\n b // c\nd # e", "# define A b $ d # e");
	lexes("/* x */ # /* y\n */ if A /* z\n */ B\nC", "# if A B $ C");
	lexes("#", "# $");
	lexes("#\n#a##b\n", "# $ # a ## b $");
	lexes("\xff\xc3\xa9 \"a\" @$`", "\xff \xc3 \xa9 \" a \" @ $ `");
	lexes("a\rb\r\nc", "a b c");
	struct glsl g;
	const char *lines = "a\n/*\n*/b\\\n\\\nc\r\nd\re";
	glsl_lex(&g, lines, strlen(lines));
	CHECK_INT(g.ntoken, 4);
	CHECK_INT(g.token[0].line, 1);
	CHECK_INT(g.token[1].line, 3);
	CHECK_INT(g.token[2].line, 6);
	CHECK_INT(g.token[3].line, 7);
	CHECK(glsl_is(&g, 1, "bc") && !glsl_is(&g, 1, "b") && !glsl_is(&g, 9, "b"));
	glsl_release(&g);
	glsl_lex(&g, "a\0b", 3);
	CHECK_INT(g.ntoken, 3);
	glsl_release(&g);
}

static void drops(void)
{
	keeps("float a(){} void root(){}", "void root ( ) { }");
	keeps("float a(){} float b(){a();} void root(){b();}",
	    "float a ( ) { } float b ( ) { a ( ) ; } void root ( ) { b ( ) ; }");
	keeps("float a(){b();} float b(){a();} void root(){}", "void root ( ) { }");
	keeps("float a(float); float a(vec2 x){} float b();\nvoid root(){a;}",
	    "float a ( float ) ; float a ( vec2 x ) { } void root ( ) { a ; }");
	keeps("float x = a(1.); float a(float t){} float b(){}",
	    "float x = a ( 1. ) ; float a ( float t ) { }");
	keeps("#define F a()\nfloat a(){} float b(){}",
	    "# define F a ( ) $ float a ( ) { }");
	keeps("#define M(n) float n()\nM(a){} float M(b){} float c(){}",
	    "# define M ( n ) float n ( ) $ M ( a ) { } float M ( b ) { }");
	keeps("#define T float\nT a(){} float b(T x){}",
	    "# define T float $ T a ( ) { } float b ( T x ) { }");
	keeps("#define C(n) f##n()\nfloat f1(){}",
	    "# define C ( n ) f ## n ( ) $ float f1 ( ) { }");
	keeps("#define B {\nfloat a() B }", "# define B { $ float a ( ) B }");
	keeps("#define B }{\nfloat a(){}", "# define B } { $ float a ( ) { }");
	keeps("float a(){ }}", "float a ( ) { } }");
	keeps("float a(){{ }", "float a ( ) { { }");
	keeps("float a(", "float a (");
	keeps("#if X\nfloat a(){\n#else\nfloat b(){\n#endif\n}",
	    "# if X $ float a ( ) { # else $ float b ( ) { # endif $ }");
	keeps("#if X\nfloat a()\n#else\nfloat b()\n#endif\n{} float c(){}",
	    "# if X $ float a ( ) # else $ float b ( ) # endif $ { }");
	keeps("float a(){\n#if X\n} float b(){\n#endif\n}",
	    "float a ( ) { # if X $ } float b ( ) { # endif $ }");
	keeps("float a(){\n#if X\nb();\n#endif\n} float b(){}", "# if X $ # endif $");
	keeps("#if X\nfloat a(){}\n#else\nfloat b(){}\n#endif\nvoid root(){b;}",
	    "# if X $ # else $ float b ( ) { } # endif $ void root ( ) { b ; }");
	keeps("struct S{float a;}; S b(){} highp vec4[2] c(){} uniform float d;",
	    "struct S { float a ; } ; uniform float d ;");
	keeps("layout(location=1) out vec4 o; const int n = int(3); float a[int(2)];",
	    "layout ( location = 1 ) out vec4 o ; const int n = int ( 3 ) ; "
	    "float a [ int ( 2 ) ] ;");
	keeps("buffer B { float a; } b; float f(){} void root(){B;}",
	    "buffer B { float a ; } b ; void root ( ) { B ; }");
	keeps("const float x[2] = {1.,2.}; float f(){}",
	    "const float x [ 2 ] = { 1. , 2. } ;");
	keeps("float a\\\nb(){} void root(){ab();}",
	    "float ab ( ) { } void root ( ) { ab ( ) ; }");
}

#define BODY "void mainImage(out vec4 c, in vec2 p){c=f(p);}"

static void canonical_form(void)
{
	same("vec4 f(vec2 p){return p.xyxy;}" BODY,
	    "/* hi */ vec4 f ( vec2\tp )\n\n{ return p /**/. xyxy; } // x\n"
	    "float unused(int i) { return 1.0; }\n" BODY "\n",
	    1);
	same("vec4 f(vec2 p){return p.xyxy;}" BODY, "vec4 f(vec2 p){return p.yxyx;}" BODY,
	    0);
	same("float u(){return 1.;}" BODY, "float u(){return 2.;}" BODY, 1);
	same("#define u 1\nfloat u(){return 1.;}" BODY,
	    "#define u 1\nfloat u(){return 2.;}" BODY, 0);
	same("#define F (x)\n", "#define F(x)\n", 0);
	same("#define F (x)\n", "#  define F/**/(x)\n", 1);
	same("#define F(x)\n", "#define F\\\n(x)\n", 1);
	same("#define F(x) (x)\n", "#define F(x)(x)\n", 1);
	same("a+ +b", "a++b", 0);
	same("a b", "ab", 0);
	same("#if A\nb\n#endif", "#if A b\n#endif", 0);
	same("#define A b\n", "#define A \\\nb", 1);
	same("1.0", "1.00", 0);
	same("1 .0", "1.0", 0);
	same("#line 3 1\na", "\n#line 4 2\n\na", 1);
	same("a __LINE__", "a  __LINE__", 0);
	same("a __FILE__", "a\n__FILE__", 0);
	same("a __LI\\\nNE__", "a  __LI\\\nNE__", 0);
	same("a //__LINE__", "a", 1);
	same("a\xff", "a\xfe", 0);
}

static void asks(void)
{
	const char *text =
	    "uniform float a, b[3]; layout(x=c) uniform highp vec3 d;\n"
	    "#define e uniform float f;\n"
	    "uniform B { float g; } h; void y(float i) { uniform float j; }\n"
	    "uniform struct { float k; } l; float m; uniform float n\n#line 3\n;"
	    "// uniform float o;\n";
	struct glsl g;
	glsl_lex(&g, text, strlen(text));
	struct map uniform = MAP_INIT;
	glsl_uniforms(&g, &uniform);
	for (int c = 'a'; c <= 'o'; c++)
		CHECK_INT(map_get(&uniform, (char[1]){ (char)c }, 1) != MAP_NONE,
		    strchr("abdhln", c) != NULL);
	map_release(&uniform);
	CHECK(glsl_mentions(&g, "x", 0) && !glsl_mentions(&g, "o", 0));
	glsl_drop_unused(&g, "root");
	CHECK(glsl_mentions(&g, "i", 0) && !glsl_mentions(&g, "i", 1));
	CHECK(!glsl_knows_lines(&g));
	glsl_release(&g);
}

/* Hostile and large: time must stay in proportion. */
static void survives(void)
{
	static const char *const piece[] = {
		"{",
		"}",
		"(",
		"((",
		"/",
		"/*",
		"*",
		"\\\n",
		"#if\n",
		"#else\n",
		"#endif\n",
		"a",
		"a(){}",
		"float a(){}",
		"#define",
		"#",
		"##",
		"\\",
		"\r",
		"0x",
		"1e",
		".",
		"\xff",
		"\n",
		"uniform a",
		";",
		"a\\\n",
	};
	size_t npiece = sizeof piece / sizeof *piece;
	for (size_t i = 0; i < npiece; i++) {
		struct buf text = BUF_INIT, out = BUF_INIT;
		while (text.len < 300000)
			buf_addstr(&text, piece[i]);
		struct glsl g;
		glsl_lex(&g, text.data, text.len);
		glsl_drop_unused(&g, "a");
		glsl_canonical(&g, 1, &out);
		struct map uniform = MAP_INIT;
		glsl_uniforms(&g, &uniform);
		CHECK(out.len > 0 && map_gets(&uniform, "zz") == MAP_NONE);
		map_release(&uniform);
		glsl_release(&g);
		buf_release(&text);
		buf_release(&out);
	}
	unsigned seed = 1;
	for (int round = 0; round < 3000; round++) {
		struct buf text = BUF_INIT, out = BUF_INIT;
		for (int i = 0; i < 60; i++) {
			seed = seed * 1103515245u + 12345u;
			buf_addstr(&text, piece[(seed >> 16) % npiece]);
		}
		/* An exact allocation, so that a checker sees reads behind it. */
		char *copy = xmemdup(text.data, text.len);
		struct glsl g;
		glsl_lex(&g, copy, text.len);
		size_t end = 0;
		int is_ordered = 1;
		for (size_t i = 0; i < g.ntoken; i++) {
			is_ordered &= g.token[i].at >= end;
			end = g.token[i].at + g.token[i].len;
		}
		CHECK(is_ordered && end <= text.len);
		glsl_drop_unused(&g, "a");
		glsl_canonical(&g, 1, &out);
		glsl_release(&g);
		free(copy);
		buf_release(&text);
		buf_release(&out);
	}
}

int main(void)
{
	tokens();
	drops();
	canonical_form();
	asks();
	survives();
	return test_done();
}

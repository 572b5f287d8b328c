#include "glsl/preprocess.h"

#include "util/limits.h"
#include "util/mem.h"
#include "test.h"

enum { GLSL, ESSL };

static const struct preprocess_options options[] = { { 0, 430, "#define OURS 1\n" },
	{ 1, 300, "#define OURS 1\n" } };

static void gives_in(int mode, const char *text, const char *want)
{
	struct preprocess p;
	struct err err = ERR_INIT;
	if (!CHECK(!preprocess(&options[mode], text, strlen(text), &p, &err)))
		fprintf(stderr, "\t%s: %s\n", text, err.message);
	CHECK_STR(buf_str(&p.text), want);
	for (size_t i = 0; i < p.code.ntoken; i++)
		CHECK(p.origin[i] < p.raw.ntoken);
	preprocess_release(&p);
	err_release(&err);
}

/* In both dialects. */
static void gives(const char *text, const char *want)
{
	gives_in(GLSL, text, want);
	gives_in(ESSL, text, want);
}

static void fails_in(int mode, const char *text, int line, const char *want)
{
	struct preprocess p;
	struct err err = ERR_INIT;
	int at_line, column;
	if (CHECK(preprocess(&options[mode], text, strlen(text), &p, &err))) {
		CHECK_STR(err.message, want);
		preprocess_place(&p, p.fault, &at_line, &column);
		CHECK_INT(at_line, line);
	} else {
		fprintf(stderr, "\t%s\n", text);
	}
	preprocess_release(&p);
	err_release(&err);
}

static void fails(const char *text, int line, const char *want)
{
	fails_in(GLSL, text, line, want);
	fails_in(ESSL, text, line, want);
}

/* Macros ------------------------------------------------------------------- */

static void objects(void)
{
	gives("#define A 1\nA;B", "\n1 ;B");
	gives("#define A\nx A y", "\nx y");
	gives("#define A B\n#define B A\nA B", "\n\nA B");
	gives("#define A A+1\nA", "\nA + 1");
	gives("#define A 1\n#undef A\nA", "\n\nA");
	gives("#undef NEVER\nx", "\nx");
	gives("#define A 1\n#define A  1\nA", "\n\n1");
	gives("#define A a \\\n b\nA", "\n\na b");
	gives("#define A /* x */ 1 // y\nA", "\n1");
	gives("#de\\\nfine AB 1\nA\\\nB", "\n\n1");
	gives("OURS", "1");
	gives("# define A 1\n  #  define B 2\nA B", "\n\n1 2");
	gives("#\n# // nothing\nx", "\n\nx");
}

static void functions(void)
{
	gives("#define F(x) x+x\nF(1)", "\n1 + 1");
	gives("#define F(x) x\nF F (2) F\n(3) F;", "\nF 2\n3 F;");
	gives("#define F (x)\nF", "\n( x )");
	gives("#define F() y\nF() F( ) F", "\ny y F");
	gives("#define F(x) [x]\nF() F((a,b)) F(F(1))", "\n[ ] [ (a,b) ] [ [ 1 ] ]");
	gives("#define F(x,y) y x\nF(,1) F(1,) F(,)", "\n1 1");
	gives("#define F(x) x\n#define G F\nG(1) G\n(2)", "\n\n1\n2");
	gives("#define G F\n#define F(x, y) ((x) + (y))\nG(0.5,\n 0.5);",
	    "\n\n( ( 0.5 ) + (\n0.5 ) ) ;");
	gives("#define F(a) a*G\n#define G(a) F(a)\nF(2)(9)", "\n\n2 * 9 * G");
	gives("#define F(x) F(x+1)\nF(F(1))", "\nF ( F ( 1 + 1 ) + 1 )");
}

/* C11, 6.10.3.5, as far as GLSL has it. */
static void standard(void)
{
	gives("#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n"
	      "#define g f\n#define z z[0]\n#define h g(~\n#define m(a) a(w)\n"
	      "#define w 0,1\n#define t(a) a\n"
	      "f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);\n"
	      "g(x+(3,4)-w) | h 5) & m\n(f)^m(m);",
	    "\n\n\n\n\n\n\n\n\n\n"
	    "f ( 2 * ( y+1 ) ) + f ( 2 * ( f ( 2 * ( z [ 0 ] ) ) ) ) % "
	    "f ( 2 * ( 0 ) ) + t (1);\n"
	    "f ( 2 * ( 2 +(3,4)- 0 , 1 ) ) | f ( 2 * ( ~ 5 ) ) &\nf ( 2 * "
	    "( 0 , 1 ) ) ^ m ( 0 , 1 ) ;");
}

static void pasting(void)
{
	gives("#define C(a,b) a##b\nC(x,1) C(,1) C(x,) C(,) C(1,.5)", "\nx1 1 x 1.5");
	gives("#define C(a,b) a ## b\n#define AB 7\nC(A,B)", "\n\n7");
	gives("#define C(a,b) a##b\n#define A 1\nC(A,A)", "\n\nAA");
	gives("#define P x##y##z\nP", "\nxyz");
	fails("#define C(a,b) a##b\nC(+,x)", 2,
	    "'##' of '+' and 'x' does not form a token");
	fails("#define A ## x", 1, "'##' at an end of the macro 'A'");
	fails("#define A(x) x ##", 1, "'##' at an end of the macro 'A'");
}

static void builtins(void)
{
	gives("__LINE__\n\n__LINE__", "1\n\n3");
	gives("#define L __LINE__\n\nL", "\n\n3");
	gives("#line 7\n__LINE__\n#define N 20\n#line N\n__LINE__", "\n7\n\n\n20");
	gives("#line 100 3\n__LINE__", "\n100");
	gives("#if 0\n#line 50 2\n#endif\n__LINE__", "\n\n\n51");
	gives("__FILE__", "0");
	gives_in(ESSL, "__VERSION__ GL_ES GL_FRAGMENT_PRECISION_HIGH", "300 1 1");
	gives_in(GLSL, "__VERSION__ GL_ES GL_core_profile", "430 GL_ES 1");
	gives("#ifdef GL_OES_standard_derivatives\nx\n#endif\ny", "\n\n\ny");
	fails("#undef __LINE__", 1, "#undef of __LINE__, which is built in");
	fails("#define __VERSION__ 1", 1, "#define of __VERSION__, which is built in");
	fails_in(ESSL, "#undef GL_ES", 1, "#undef of GL_ES, which is built in");
	fails("#define GL_x 1", 1,
	    "#define of GL_x: names that begin with GL_ are reserved");
	fails("#define defined 1", 1, "#define of 'defined'");
}

static void faults_of_macros(void)
{
	fails("#define F(x) x\n\nF(1,2)", 3, "the macro 'F' wants 1 argument, not 2");
	fails("#define F(x,y) x\nF(1)", 2, "the macro 'F' wants 2 arguments, not 1");
	fails("#define F() x\nF(1)", 2, "the macro 'F' wants 0 arguments, not 1");
	fails("#define F(x) x\n a F(1", 2, "the call of the macro 'F' is not terminated");
	fails("#define F(x, x) x", 1, "the macro 'F' has two parameters 'x'");
	fails("#define F(x", 1,
	    "the parameters of the macro 'F' are not a list of names");
	fails("#define F(1) x", 1,
	    "the parameters of the macro 'F' are not a list of names");
	fails("#define A 1\n#define A 2", 2,
	    "the macro 'A' is defined already, as something else");
	fails("#define A(x) x\n#define A(y) y", 2,
	    "the macro 'A' is defined already, as something else");
	fails("#define 1", 1, "#define wants a name");
	fails("#undef", 1, "#undef wants a name");
}

/* Conditions --------------------------------------------------------------- */

static void holds(int mode, const char *condition, int want)
{
	char *text = xasprintf("#define ONE 1\n#define F(x) x\n#define NOTHING\n"
			       "#if %s\nyes\n#else\nno\n#endif\n",
	    condition);
	gives_in(mode, text, want ? "\n\n\n\nyes" : "\n\n\n\n\n\nno");
	free(text);
}

static void expressions(void)
{
	for (int mode = 0; mode < 2; mode++) {
		holds(mode, "1 + 2 * 3 == 7", 1);
		holds(mode, "(1 + 2) * 3 == 9", 1);
		holds(mode, "10 - 3 - 2 == 5", 1);
		holds(mode, "1 << 4 == 16 && 0x10 == 020", 1);
		holds(mode, "7 / 2 == 3 && -7 % 4 == -3", 1);
		holds(mode, "(6 & 3) == 2 && (6 | 1) == 7 && (6 ^ 3) == 5", 1);
		holds(mode, "!0 && ~0 == -1 && - -1 == 1 && +1", 1);
		holds(mode, "2 >= 2 && 2 <= 2 && !(2 > 2) && !(2 < 2) && 1 != 2", 1);
		holds(mode, "0 || 0 && 1", 0);
		holds(mode, "3u == 3", 1);
		holds(mode, "defined ONE && defined(ONE) && !defined TWO", 1);
		holds(mode, "defined(TWO) && TWO > 1", 0);
		holds(mode, "!defined TWO || 1 / 0", 1);
		holds(mode, "F(ONE) && F((0)) == 0", 1);
		holds(mode, "__VERSION__ >= 300 && __LINE__ == 4", 1);
		holds(mode, "defined __LINE__ && defined NOTHING", 1);
		holds(mode, "1 /* x */ // y", 1);
	}
	holds(GLSL, "TWO == 0 && !TWO", 1);
	fails_in(ESSL, "#if TWO\n#endif", 1,
	    "'TWO' is not defined, which GLSL ES 3.00 refuses in #if");
	fails("#if\n#endif", 1, "#if without a condition");
	fails("#if 1 +\n#endif", 1, "the condition ends too early");
	fails("#if (1\n#endif", 1, "a ')' is missing in the condition");
	fails("#if 1 2\n#endif", 1, "unexpected '2' after the condition");
	fails("#if 1.5\n#endif", 1, "'1.5' is not an integer for #if");
	fails("#if 1 / 0\n#endif", 1, "division by zero in the condition");
	fails("#if 1 << 99\n#endif", 1, "a shift by 99 in the condition");
	fails("#if defined\n#endif", 1, "'defined' wants a name");
	gives("#define D defined(OURS)\n#if D\nx\n#endif", "\n\nx");
}

static void branches(void)
{
	gives("#if 0\na\n#elif 1\nb\n#elif 1\nc\n#else\nd\n#endif\ne",
	    "\n\n\nb\n\n\n\n\n\ne");
	gives("#if 1\n#if 0\na\n#else\nb\n#endif\n#else\nc\n#endif", "\n\n\n\nb");
	gives("#if 0\n#if nonsense (\n#elif )\n#else\n#endif\n#error x\n"
	      "#unknown\n' $\n#define A 1\n#endif\nA",
	    "\n\n\n\n\n\n\n\n\n\nA");
	gives("#if 1\nx\n#elif nonsense (\n#endif", "\nx");
	gives("#ifndef A\n#define A\nx\n#endif\n#ifndef A\ny\n#endif", "\n\nx");
	gives("#ifdef OURS\nx\n#endif", "\nx");
	fails("#if 1\n#if 1\n#endif", 1, "this #if has no #endif");
	fails("x\n#endif", 2, "#endif without #if");
	fails("x\n/* y\nz", 2, "this comment has no end: '*/' is missing");
	fails("x /*", 1, "this comment has no end: '*/' is missing");
	fails("#define A /* y\nz", 1, "this comment has no end: '*/' is missing");
	fails("#if 0\n/\\\n* y *\n#endif\n", 2,
	    "this comment has no end: '*/' is missing");
	gives("x /* */ * /**/ y // /*\n/ * z", "x * y\n/ * z");
	fails("#else", 1, "#else without #if");
	fails("#if 1\n#else\n#else\n#endif", 3, "#else after #else");
	fails("#if 1\n#else\n#elif 1\n#endif", 3, "#elif after #else");
	fails("#ifdef\n#endif", 1, "#ifdef and #ifndef want a name");
	fails("\n#error it is so", 2, "#error it is so");
	fails("#include \"a\"", 1, "unknown directive #include");
}

/* What passes, what is between the parentheses of a call. */
static void directives(void)
{
	gives("#version 300 es\nx", "\nx");
	gives("#extension GL_X : enable\nx\n#pragma once\n#pragma optimize(on)\ny",
	    "#extension GL_X : enable\nx\n\n#pragma optimize(on)\ny");
	gives("#define F(x) [x]\nF(\n#if 1\na\n#else\nb\n#endif\n)z",
	    "\n[\n\na ]\n\n\n\nz");
	gives("#define F(x) [x]\nF(\n#define A 2\nA) A", "\n[\n\n2 ] 2");
	gives("a\n#if 1\n#extension GL_X : enable\n#else\n"
	      "#extension GL_Y : enable\n#endif",
	    "a\n\n#extension GL_X : enable");
}

/* Places and uses ---------------------------------------------------------- */

static void places(void)
{
	static const char text[] =
	    "#define V vec3\n#define F(x) V(x, 1)\n"
	    "void f() {\n\tV a = F(b +\n c); }\n#define UNUSED V\n";
	struct preprocess p;
	struct err err = ERR_INIT;
	CHECK(!preprocess(&options[ESSL], text, strlen(text), &p, &err));
	for (size_t i = 0; i < p.code.ntoken; i++) {
		int line, column, is_name = !glsl_is(&p.code, i, "c");
		preprocess_place(&p, p.origin[i], &line, &column);
		if (glsl_is(&p.code, i, "vec3")) {
			CHECK_INT(line, 4);
			CHECK(column == 2 || column == 8);
			CHECK(p.is_made[i]);
		}
		if (glsl_is(&p.code, i, "b") || !is_name) {
			CHECK_INT(line, is_name ? 4 : 5);
			CHECK_INT(column, is_name ? 10 : 2);
			CHECK(!p.is_made[i]);
		}
	}
	CHECK_INT(p.nmacro, 3);
	CHECK_INT(p.nuse, 3);
	for (size_t i = 0; i < p.nuse; i++)
		CHECK(strcmp(p.macro[p.use[i].macro].name, "UNUSED") != 0);
	preprocess_release(&p);
	err_release(&err);
}

/* Bombs -------------------------------------------------------------------- */

static void bombs(void)
{
	struct buf text = BUF_INIT;
	char want[80];
	snprintf(want, sizeof want, "macros expand to more than %u tokens",
	    LIMIT_MACRO_TOKENS);
	buf_addstr(&text, "#define A0 x x\n");
	for (int i = 1; i < 64; i++)
		buf_addf(&text, "#define A%d A%d A%d\n", i, i - 1, i - 1);
	buf_addstr(&text, "A63\n");
	fails(buf_str(&text), 65, want);
	buf_reset(&text);
	buf_addstr(&text, "#define F(x) x x\n");
	for (int i = 0; i < 200; i++)
		buf_addstr(&text, "F(");
	buf_addch(&text, 'y');
	for (int i = 0; i < 200; i++)
		buf_addch(&text, ')');
	fails(buf_str(&text), 2, want);
	buf_reset(&text);
	buf_addstr(&text, "#define F(x) x\n");
	for (int i = 0; i < 1000; i++)
		buf_addstr(&text, "F(");
	for (int i = 0; i < 1000; i++)
		buf_addch(&text, ')');
	snprintf(want, sizeof want, "calls of macros are nested more than %d deep",
	    LIMIT_MACRO_NESTING);
	fails(buf_str(&text), 2, want);
	buf_reset(&text);
	for (int i = 0; i < LIMIT_MACRO_BRANCHES + 1; i++)
		buf_addstr(&text, "#if 1\n");
	snprintf(want, sizeof want, "more than %d #ifs are open", LIMIT_MACRO_BRANCHES);
	fails(buf_str(&text), LIMIT_MACRO_BRANCHES + 1, want);
	buf_reset(&text);
	buf_addstr(&text, "#if ");
	for (int i = 0; i < LIMIT_MACRO_NESTING + 1; i++)
		buf_addch(&text, '(');
	snprintf(want, sizeof want, "the condition is nested more than %d deep",
	    LIMIT_MACRO_NESTING);
	fails(buf_str(&text), 1, want);
	buf_release(&text);
}

/* As it goes ---------------------------------------------------------------- */

static void runs(void)
{
	static const char text[] = "#define A 2\n#if A == 2\n#elif nonsense\n"
				   "#endif\n#ifdef A\n#undef A\n#if A\n";
	static const int active[] = { 1, 1, 0, 1, 1, 1, 0 };
	static const size_t depth[] = { 0, 1, 1, 0, 1, 1, 2 };
	struct preprocessor *pp = preprocessor_new(&options[ESSL]);
	struct glsl g;
	size_t n = 0;
	glsl_lex(&g, text, strlen(text));
	for (size_t i = 0; i < g.ntoken; i++) {
		if (g.token[i].kind != GLSL_HASH)
			continue;
		preprocessor_directive(pp, &g, i);
		CHECK_INT(preprocessor_is_active(pp), active[n]);
		CHECK_INT(preprocessor_depth(pp), depth[n]);
		n++;
	}
	CHECK_INT(n, 7);
	preprocessor_free(pp);
	glsl_release(&g);
}

int main(void)
{
	objects();
	functions();
	standard();
	pasting();
	builtins();
	faults_of_macros();
	expressions();
	branches();
	directives();
	places();
	bombs();
	runs();
	return test_done();
}

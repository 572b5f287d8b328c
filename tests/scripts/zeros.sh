#!/bin/sh
# What nothing has written is zero, whoever declared it and however; and macros
# around the entry point are the user's business. Each case is written left of
# x = 8 and not written right of it.

. "$SRCDIR/tests/lib.sh"
need_egl

# project DIALECT
project()
{
	cat >stbuild.json <<JSON
{ "format": 1, "project": { "name": "zeros" },
	"render": { "width": 16, "height": 1 }, "shader": { "dialect": "$1" },
	"pass": [ { "name": "image", "kind": "image", "source": "image.frag" } ] }
JSON
}

# shows NAME LEFT RIGHT: image.frag from stdin gives these pixels.
shows()
{
	cat >image.frag
	expect_status 0 "$STBUILD" --frame 0 -o shown.sttrace
	expect_pixel shown.sttrace/final.png 0 0 "$2 255" ||
		fail "$1: left"
	expect_pixel shown.sttrace/final.png 15 0 "$3 255" ||
		fail "$1: right"
	rm -rf shown.sttrace
}

project essl
shows 'types, declarators, qualifiers by macros' '255 255 255' '0 0 0' <<'GLSL'
#define V vec3
#define NAMES a, b
#define P highp
#define DECL(t, n) t n
#define SEMI ;
void mainImage(out vec4 c, in vec2 p)
{
	DECL(P V, v) SEMI
	float NAMES;
	if (p.x < 8.) { v.x = 1.; a = b = 1.; }
	c = vec4(v.x, a, b, 1.);
}
GLSL
shows 'statements and blocks by macros' '255 255 128' '0 0 0' <<'GLSL'
#define BLOCK(q) { float s; if (q < 8.) s = .5; c.b += s; }
#define IF(q) if (p.x < 8.) { q }
#define LOOP for (int i; i < 1; i++)
void mainImage(out vec4 c, in vec2 p)
{
	LOOP { float f; bool b; IF(f = 1.; b = true;) c.rg = vec2(f, b); }
	BLOCK(p.x)
}
GLSL
shows 'structs of everything' '255 255 255' '0 0 0' <<'GLSL'
const int N = 2;
struct In { float f[N + 1]; ivec2 i; };
struct Out { In in1, in2[N]; mat2 m; bool b; uint u; };
void mainImage(out vec4 c, in vec2 p)
{
	Out o, oo[3], other = o;
	if (p.x < 8.) { o.in2[1].f[2] = 1.; oo[2].in1.i.y = 1; other.m[1][1] = 1.; }
	c = vec4(o.in2[1].f[2] + float(o.b), oo[2].in1.i.y + int(oo[1].u),
		other.m[1][1] + other.in1.f[0], 1.);
}
GLSL
shows 'globals' '255 255 255' '0 0 0' <<'GLSL'
struct S { float f[2]; vec2 v; } s, many[99];
struct { int i; } nameless;
float big[300];
int count = 3;
void mainImage(out vec4 c, in vec2 p)
{
	if (p.x < 8.) { s.f[1] = 1.; many[98].v.y = 1.; big[299] = 1.; nameless.i = 0; }
	c = vec4(s.f[1], many[98].v.y + float(nameless.i), big[299], 1.)
		+ float(count - 3);
}
GLSL
shows 'out parameters' '255 255 255' '0 0 0' <<'GLSL'
#define OUT out
struct S { float f; vec2 a[2]; };
void f(OUT S s, OUT float q[2], bool w, OUT highp vec3, out mat2
m) { if (w) { s.a[1].y = q[1] = 1.; m[0][0] = 1.; } }
void g(inout float x) { x *= 1.; }
void mainImage(out vec4 c, in vec2 p)
{
	S s = S(.5, vec2[2](vec2(.5), vec2(.5)));
	float q[2] = float[2](.5, .5), kept = 1.;
	vec3 v;
	mat2 m = mat2(.5);
	f(s, q, p.x < 8., v, m);
	g(kept);
	c = vec4(s.a[1].y + s.f, q[1] + q[0], m[0][0] + m[1][1], kept);
}
GLSL
shows 'paths without return' '255 255 255' '0 0 0' <<'GLSL'
struct S { float f[70]; };
float a(float x) { if (x < 8.) return 1.; }
S b(float x) { S s; s.f[1] = 1.; if (x < 8.) { return s; } }
#define FN(name, type) type name(float x) { switch (int(x < 8.)) { case 1: return type(1); } }
FN(d, vec2)
void mainImage(out vec4 c, in vec2 p)
{
	c = vec4(a(p.x), b(p.x).f[1], d(p.x).y, 1.);
}
GLSL
shows 'hidden types, switches, short forms' '255 255 255' '0 0 0' <<'GLSL'
struct T { float a; };
float f() { struct T { vec2 q; }; T w; w.q.y += 0.; return w.q.y; }
void mainImage(out vec4 c, in vec2 p)
{
	T t;
	{ float T; c.a = T; }
	switch (int(p.x) / 8) {
	case 0: float x; x += 1.; c.r = x; t.a = 1.; break;
	default: int y; c.r = float(y) + t.a; }
	for (float z, e = 1.; z < e; z++) if (p.x < 8.) float unused; else c.g -= 1.;
	c.gb += 1. - step(8., p.x);
	c.g = max(c.g, 0.);
	c.b += t.a - t.a + f();
}
GLSL
shows 'a comma in a call that a macro makes' '128 255 0' '128 255 0' <<'GLSL'
#define CALL(f) f (
#define END )
struct S { vec3 a; float b; };
S make(const in vec3 q) { S v = CALL(S) q, 0.0 END, w; return v; }
void mainImage(out vec4 o, in vec2 p)
{
	float a = 0.0, b = 1.0, x = CALL(mix) a, b, 0.5 END, y;
	o = vec4(x, b, y + make(vec3(0.0)).a.x, 1.0);
}
GLSL
# The entry, by every spelling.
for head in 'void mainImage(out vec4 c, vec2 p)' \
	'void mainImage(out highp vec4 c, const in mediump vec2 p)' \
	'void mainImage(inout vec4 c, in vec2 p)' \
	'#define C out vec4
	void mainImage(C c, in vec2 p)' \
	'#define HEAD(a, b) void mainImage(out vec4 a, in vec2 b)
	HEAD(c, p)' \
	'#define Image(x) main##x
	#define mainImage_ mainImage
	void mainImage(out vec4, in vec2);
	void mainImage_(out vec4 c, in vec2 p)' \
	'#define Main void mainImage(out vec4 c, vec2 p)
	Main'; do
	printf '%s\n{ if (p.x < 8.) c.rg += vec2(1., .5); }\n' "$head" >kept.frag
	shows "$head" '255 128 0' '0 0 0' <kept.frag
done
shows 'no name for what is not read' '255 0 0' '255 0 0' <<'GLSL'
void mainImage(out vec4 o, vec2) { o = vec4(1., 0., 0., 1.); }
GLSL
shows 'supersampling by a macro' '0 255 0' '0 255 0' <<'GLSL'
#define mainImage shade(out vec4 o, vec2 u); const int AA = 2; \
	void mainImage(out vec4 o, vec2 u) { o = vec4(0.); \
	for (int k = 0; k < AA * AA; k++) { vec4 s; \
	shade(s, u + vec2(k % AA, k / AA) / float(AA)); o += s / 4.; } } \
	void shade
void mainImage(out vec4 o, vec2 u) { o.g += 1.; o.a = 1.; }
GLSL
shows 'renamed for a while' '0 255 0' '0 255 0' <<'GLSL'
#define F(x, y) ((x) + (y))
#define G F
void scene(out vec4 o, in vec2 u);
#define mainImage scene
void mainImage(out vec4 o, in vec2 u) { o = vec4(0., G(.5,
	.5), 0., 1.); }
#undef mainImage
void mainImage(out vec4 o, in vec2 u) { vec4 s; scene(s, u); o = s; }
GLSL
# Names that ES 3.00 leaves to the user, and those of the text around.
shows "one's own functions" '255 255 255' '255 255 255' <<'GLSL'
vec4 texture2D(sampler2D s, vec2 u) { return vec4(1., 0., 0., 1.); }
vec4 textureCube(vec3 d) { return vec4(0., 1., 0., 1.); }
#define LOD(name) vec4 name(sampler2D s, vec2 u, float l)
LOD(texture2DLodEXT) { return vec4(0., 0., 1., 1.); }
vec4 stb_color;
void mainImage(out vec4 c, in vec2 p)
{
	c = texture2D(iChannel0, p) + textureCube(p.xyx)
		+ texture2DLodEXT(iChannel0, p, 0.) + stb_color;
}
GLSL
project glsl
shows 'arrays of arrays' '0 0 255' '0 0 0' <<'GLSL'
struct S { float f[2][3]; };
float g[2][2];
float[2][3] h(float x) { if (x > 99.0) return S(float[2][3](float[3](1, 1, 1), float[3](1, 1, 1))).f; }
void mainImage(out vec4 c, in vec2 p)
{
	float a[2][2];
	float[2] b[3];
	S s[2];
	if (p.x < 8.0)
		a[1][0] = b[2][1] = s[1].f[1][2] = 1.0;
	c = vec4(a[0][0] + g[1][1], a[0][1] + h(p.x)[1][2],
		a[1][0] * b[2][1] * s[1].f[1][2] + s[0].f[1][2], 1.0);
}
GLSL

# What the preprocessor leaves out draws nothing, and is named by nobody.
project essl
cat >image.frag <<'GLSL'
#define USED .5
#define UNUSED 1
#define DEBUG 0
float f() { return USED; }
void mainImage(out vec4 c, in vec2 p)
{
#if DEBUG
	c = vec4(p, 0., 1.);
#else
	c = vec4(f(), float(__LINE__) / 255., 0., 1.);
#endif
}
GLSL
capture 0 1
for edit in 's/UNUSED 1/UNUSED 2/' 's/vec4(p, 0/vec4(p, 1/' \
	's/#if DEBUG/#if DEBUG \&\& USED_UP/' 's/#define UNUSED.*/#define OTHER(x) x/'; do
	edit image.frag "$edit"
	capture 0 0
done
# A line further down, __LINE__ is another number.
edit image.frag '1s/^/\n/'
capture 0 1
edit image.frag 's/USED \.5/USED .25/'
expect_status 0 "$STBUILD" why default
expect_text out 'USED'
capture 0 1

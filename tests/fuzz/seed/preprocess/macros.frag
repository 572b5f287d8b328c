#version 300 es
#extension GL_X : enable
#define A 1
#define V vec3
#define F(x, y) x##y + F(y, x) A
#define G F
#define BLOCK(q) { float s; if (q) s = A; }
#line 7 2
#if defined(A) && (A + 1) * 2 == 4 || __LINE__ > 3 // c
#pragma once
struct S { V v[2]; float f; } s, t[A + 1];
#elif 0x10 << 2 >= ~1
#error never
#else
#undef A
#endif
V f(out S s, V, float k) { V r; BLOCK(k > 0.) for (int i, j = F(1, 2); ; ) ; }
void mainImage(out vec4 c, in vec2 p) { V v[3]; float a, b[2], e = G (3,
#ifdef A
4); switch (1) { case 1: int d; }
#endif
c.x = f(s, v[0], __VERSION__.0).x; }

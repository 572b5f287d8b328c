// Neon rings that turn above the floor at y = 0.
#include "color.glsl"

const int ring_count = 3;

vec2 turn(vec2 p, float angle)
{
	float s = sin(angle), c = cos(angle);
	return vec2(c * p.x - s * p.y, s * p.x + c * p.y);
}

// Distance to ring i; its radius shrinks with i.
float ring(vec3 p, int i)
{
	float n = float(i);
	p.y -= 1.25;
	p.xz = turn(p.xz, 0.5 * iTime + 1.1 * n);
	p.xy = turn(p.xy, 0.8 + 0.35 * iTime + 0.9 * n);
	vec2 q = vec2(length(p.xz) - (1.1 - 0.3 * n), p.y);
	return length(q) - 0.022;
}

vec3 ring_color(int i)
{
	vec3 color = hue(tone + 0.31 * float(i));
	return color * color;
}

// Light of the rings along a ray. What passes close by gets a little, too.
vec3 trace_rings(vec3 from, vec3 direction, float far)
{
	vec3 light = vec3(0.0);
	float t = 0.02;
	for (int step = 0; step < 48 && t < far; step++) {
		vec3 p = from + t * direction;
		float nearest = 1e3;
		for (int i = 0; i < ring_count; i++) {
			float d = ring(p, i);
			nearest = min(nearest, d);
			light += ring_color(i) * 0.0004 / (0.0006 + d * d);
			if (d < 0.004)
				return light + 6.0 * ring_color(i) + 1.0;
		}
		t += max(0.7 * nearest, 0.01);
	}
	return light;
}

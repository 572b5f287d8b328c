// The scene, in linear light and without an upper limit. Channel 0: stone.
#include "rings.glsl"

vec3 sky(vec3 direction)
{
	float up = max(direction.y, 0.0);
	return vec3(0.012, 0.016, 0.035) * exp(-3.0 * up) * 2.0;
}

// What the rings throw on a point of the floor: a few samples of each ring.
vec3 glow_at(vec3 p)
{
	vec3 sum = vec3(0.0);
	for (int i = 0; i < ring_count; i++) {
		float d = ring(p, i);
		sum += ring_color(i) * 0.9 / (0.3 + d * d);
	}
	return sum;
}

vec3 floor_color(vec3 p, vec3 direction, float t)
{
	vec2 uv = 0.22 * p.xz;
	float height = texture(iChannel0, uv).r;
	vec2 slope = vec2(texture(iChannel0, uv + vec2(0.008, 0.0)).r,
		texture(iChannel0, uv + vec2(0.0, 0.008)).r) - height;

	// Hollows are wet: flat, dark and shining.
	float wet = smoothstep(0.52, 0.42, height);
	vec3 normal = normalize(vec3(-1.4 * slope.x, 1.0, -1.4 * slope.y));
	normal = normalize(mix(normal, vec3(0.0, 1.0, 0.0), 0.92 * wet));
	vec3 dry = vec3(0.30, 0.29, 0.31) * (0.35 + height);
	vec3 color = mix(dry, 0.25 * dry, wet) * glow_at(p) * (0.6 + 0.4 * normal.y);

	vec3 mirrored = reflect(direction, normal);
	mirrored.y = abs(mirrored.y);
	float fresnel = 0.04 + 0.96 * pow(1.0 - abs(dot(normal, direction)), 5.0);
	fresnel = mix(0.35 * fresnel, 0.25 + fresnel, wet);
	color += fresnel * (trace_rings(p, mirrored, 8.0) + sky(mirrored));
	return mix(sky(direction), color, exp(-0.012 * t * t));
}

void mainImage(out vec4 fragColor, in vec2 fragCoord)
{
	vec2 p = (2.0 * fragCoord - iResolution.xy) / iResolution.y;
	vec3 eye = vec3(0.0, 1.35, -3.9);
	eye.xz = turn(eye.xz, 0.15 * iTime);
	vec3 forward = normalize(vec3(0.0, 0.8, 0.0) - eye);
	vec3 right = normalize(cross(vec3(0.0, 1.0, 0.0), forward));
	vec3 up = cross(forward, right);
	vec3 direction = normalize(1.9 * forward + p.x * right + p.y * up);

	float t = direction.y < 0.0 ? -eye.y / direction.y : 30.0;
	vec3 color = direction.y < 0.0
		? floor_color(eye + t * direction, direction, t) : sky(direction);
	color += trace_rings(eye, direction, min(t, 12.0));
	fragColor = vec4(color, 1.0);
}

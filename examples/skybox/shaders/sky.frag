// An evening sky in all directions: a sun near the horizon, clouds, the first
// stars, and dark hills. It uses no time, so it is drawn once for all frames.

float hash(vec3 p)
{
	return fract(sin(dot(p, vec3(127.1, 311.7, 74.7))) * 43758.5453);
}

float noise(vec3 p)
{
	vec3 i = floor(p), f = fract(p);
	f = f * f * (3.0 - 2.0 * f);
	vec2 e = vec2(0.0, 1.0);
	vec4 low = vec4(hash(i), hash(i + e.yxx), hash(i + e.xyx), hash(i + e.yyx));
	vec4 high = vec4(hash(i + e.xxy), hash(i + e.yxy), hash(i + e.xyy), hash(i + e.yyy));
	vec4 z = mix(low, high, f.z);
	vec2 y = mix(z.xy, z.zw, f.y);
	return mix(y.x, y.y, f.x);
}

float clouds(vec3 d)
{
	vec3 p = vec3(d.xz / (d.y + 0.15), 0.0) * 1.4;
	float sum = 0.0, weight = 0.5;
	for (int i = 0; i < 4; i++) {
		sum += weight * noise(p);
		p = 2.1 * p + 7.0;
		weight *= 0.5;
	}
	return smoothstep(0.42, 0.75, sum) * smoothstep(0.0, 0.25, d.y);
}

void mainCubemap(out vec4 fragColor, in vec2 fragCoord, in vec3 rayOrigin, in vec3 rayDirection)
{
	vec3 d = rayDirection;
	vec3 sun = normalize(sun_direction);
	float near = max(dot(d, sun), 0.0);

	vec3 color = mix(vec3(0.95, 0.45, 0.22), vec3(0.05, 0.10, 0.28),
		pow(clamp(d.y * 1.3, 0.0, 1.0), 0.45));
	color += vec3(1.0, 0.5, 0.2) * (0.35 * pow(near, 6.0) + 0.6 * pow(near, 60.0));
	color += 14.0 * vec3(1.0, 0.8, 0.55) * smoothstep(0.9993, 0.9997, near);

	float star = step(0.9975, hash(floor(d * 160.0)));
	color += 0.5 * star * smoothstep(0.35, 0.8, d.y);

	vec3 lit = mix(vec3(0.35, 0.22, 0.32), vec3(1.3, 0.6, 0.35), pow(near, 3.0));
	color = mix(color, lit, 0.75 * clouds(d));

	float angle = atan(d.z, d.x);
	float hill = 0.05 * sin(3.0 * angle) + 0.03 * sin(7.0 * angle + 1.0)
		+ 0.015 * sin(19.0 * angle) + 0.02;
	vec3 ground = mix(vec3(0.05, 0.04, 0.07), vec3(0.25, 0.11, 0.08), pow(near, 4.0));
	color = mix(color, ground, smoothstep(hill + 0.004, hill - 0.004, d.y));
	fragColor = vec4(color, 1.0);
}

// The tubes, and the sound of the moment below them.
#include "chime.glsl"

vec3 hue(float x)
{
	return 0.55 + 0.45 * cos(6.28318 * (x + vec3(0.0, 0.33, 0.67)));
}

// A rounded box about the origin.
float tube(vec2 p, vec2 size)
{
	vec2 q = abs(p) - size + 0.03;
	return length(max(q, 0.0)) + min(max(q.x, q.y), 0.0) - 0.03;
}

float mono(float time)
{
	vec2 ears = chime(time);
	return ears.x + ears.y;
}

void mainImage(out vec4 fragColor, in vec2 fragCoord)
{
	vec2 p = (2.0 * fragCoord - iResolution.xy) / iResolution.y;
	vec3 color = mix(vec3(0.05, 0.06, 0.10), vec3(0.10, 0.07, 0.13), 0.5 + 0.5 * p.y);

	for (int i = 0; i < tube_count; i++) {
		float n = float(i), t = since(i, iTime);
		float loud = exp(-1.6 * t);
		float half_length = 0.52 - 0.05 * n;
		vec2 at = vec2((n - 2.5) * 0.42, 0.85 - half_length);
		at.x += 0.03 * loud * sin(20.0 * t) * (at.y - p.y + 0.9);
		float d = tube(p - at, vec2(0.055, half_length));
		vec3 own = hue(0.12 * n);

		float round = sqrt(max(1.0 - pow((p.x - at.x) / 0.055, 2.0), 0.0));
		vec3 metal = own * (0.15 + 0.45 * round) + 0.5 * pow(round, 16.0);
		color = mix(color, metal, smoothstep(0.006, -0.006, d));
		color += own * loud * 0.02 / (0.02 + abs(d));

		// A ring that runs out from the blow.
		float blow = length(p - at + vec2(0.0, 0.5 * half_length));
		color += own * loud * 0.6 * smoothstep(0.02, 0.0, abs(blow - 0.9 * t));
	}

	// What is heard: a few milliseconds of it, as high as it is loud.
	const float window = 0.0025, near = 1e-5;
	float time = iTime + window * p.x, sum = mono(time);
	float slope = (mono(time + near) - mono(time - near)) / (2.0 * near);
	float high = 0.08 * volume;
	float away = abs(p.y + 0.68 - high * sum) / length(vec2(1.0, high * window * slope));
	color += vec3(0.5, 0.8, 1.0) * (0.8 * smoothstep(0.014, 0.004, away) + 0.0015 / (0.01 + away));

	fragColor = vec4(sqrt(clamp(color, 0.0, 1.0)), 1.0);
}

// Plasma: a field of sines, folded into itself a few times and lit as if it
// were liquid, in slowly turning colours.

float waves(vec2 p)
{
	float sum = sin(p.x + iTime);
	sum += sin(0.7 * p.y - 0.9 * iTime);
	sum += sin(0.6 * (p.x + p.y) + 0.5 * iTime);
	sum += sin(length(p - vec2(2.0 * sin(0.3 * iTime), 1.5)) - iTime);
	return 0.25 * sum;
}

// Each fold looks at the field from a point that the last one moved.
float liquid(vec2 p)
{
	float height = waves(p);
	for (int i = 1; i < 4; i++) {
		float angle = 2.4 * height + 0.7 * float(i);
		height = waves(p + fold * vec2(cos(angle), sin(angle)) * float(i));
	}
	return height;
}

vec3 palette(float x)
{
	return 0.5 + 0.5 * cos(6.28318 * (x + phase));
}

void mainImage(out vec4 fragColor, in vec2 fragCoord)
{
	vec2 p = (2.0 * fragCoord - iResolution.xy) / iResolution.y;
	vec2 q = 3.2 * p;
	float height = liquid(q);

	const float near = 0.02;
	vec2 slope = vec2(liquid(q + vec2(near, 0.0)) - height,
		liquid(q + vec2(0.0, near)) - height) / near;
	vec3 normal = normalize(vec3(-0.55 * slope, 1.0));
	vec3 light = normalize(vec3(-0.5, 0.7, 0.8));
	float diffuse = max(dot(normal, light), 0.0);
	float shine = pow(max(reflect(-light, normal).z, 0.0), 40.0);

	vec3 color = palette(0.7 * height + 0.04 * iTime);
	color = color * color * (0.15 + 1.05 * diffuse) + 0.7 * shine;
	color *= 1.0 - 0.15 * dot(p, p);
	fragColor = vec4(sqrt(clamp(color, 0.0, 1.0)), 1.0);
}

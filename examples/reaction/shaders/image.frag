// The reaction as a lit relief: V is the height.

float height(vec2 uv)
{
	return texture(iChannel0, uv).g;
}

vec3 palette(float x)
{
	vec3 deep = vec3(0.02, 0.05, 0.13);
	vec3 middle = mix(vec3(0.05, 0.42, 0.52), vec3(0.62, 0.12, 0.30), warmth);
	vec3 bright = mix(vec3(0.95, 0.93, 0.72), vec3(1.0, 0.78, 0.45), warmth);
	vec3 color = mix(deep, middle, smoothstep(0.05, 0.45, x));
	return mix(color, bright, smoothstep(0.4, 1.0, x));
}

void mainImage(out vec4 fragColor, in vec2 fragCoord)
{
	vec2 uv = fragCoord / iResolution.xy;
	vec2 texel = 1.0 / iChannelResolution[0].xy;

	vec2 slope = vec2(height(uv + vec2(texel.x, 0.0)) - height(uv - vec2(texel.x, 0.0)),
		height(uv + vec2(0.0, texel.y)) - height(uv - vec2(0.0, texel.y)));
	vec3 normal = normalize(vec3(-4.0 * slope, 1.0));
	vec3 light = normalize(vec3(-0.6, 0.7, 0.6));
	float diffuse = max(dot(normal, light), 0.0);
	float shine = pow(max(reflect(-light, normal).z, 0.0), 32.0);

	vec3 color = palette(2.6 * height(uv)) * (0.35 + 1.1 * diffuse) * gain;
	color += 0.35 * shine * smoothstep(0.05, 0.2, height(uv));
	vec2 edge = 2.0 * uv - 1.0;
	color *= 1.0 - 0.18 * dot(edge, edge);
	fragColor = vec4(sqrt(clamp(color, 0.0, 1.0)), 1.0);
}

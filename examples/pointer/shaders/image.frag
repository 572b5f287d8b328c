// The sheet. Channel 0: ink.

float hash(vec2 p)
{
	return fract(sin(dot(p, vec2(127.1, 311.7))) * 43758.5453);
}

void mainImage(out vec4 fragColor, in vec2 fragCoord)
{
	vec2 uv = fragCoord / iResolution.xy;
	vec3 ink = texture(iChannel0, uv).rgb;
	vec3 wet = texture(iChannel0, uv, 2.0).rgb;

	vec3 paper = vec3(0.97, 0.95, 0.90) - 0.03 * hash(floor(fragCoord));
	float line = abs(fract(8.0 * uv.y) - 0.5);
	paper -= vec3(0.10, 0.06, 0.0) * smoothstep(0.04, 0.02, line);
	paper -= vec3(0.0, 0.25, 0.22) * smoothstep(0.003, 0.001, abs(uv.x - 0.12));

	vec3 color = paper * (1.0 - ink) * (1.0 - 0.25 * wet);
	vec2 edge = 2.0 * uv - 1.0;
	fragColor = vec4(color * (1.0 - 0.08 * dot(edge, edge)), 1.0);
}

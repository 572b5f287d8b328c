// Trails: brightness by how many passed, colour by how fast.

void mainImage(out vec4 fragColor, in vec2 fragCoord)
{
	vec2 light = texture(iChannel0, fragCoord / iResolution.xy).rg;
	float speed = light.g / max(light.r, 0.001);
	vec3 slow = vec3(0.10, 0.25, 0.95);
	vec3 fast = vec3(1.0, 0.45, 0.12);
	vec3 color = mix(slow, fast, smoothstep(0.8, 5.0, speed));
	color = 1.0 - exp(-0.16 * light.r * color);
	color += vec3(0.01, 0.012, 0.03);
	fragColor = vec4(pow(color, vec3(0.6)), 1.0);
}

// What was written. Channels: 0 the ink at the frame before, 1 the pen now, 2
// the pen at the frame before, 3 the keyboard: A and B choose an ink, the
// space bar wipes.

bool is_down(int key)
{
	return texelFetch(iChannel3, ivec2(key, 0), 0).r > 0.5;
}

float segment(vec2 p, vec2 a, vec2 b)
{
	vec2 along = b - a, from = p - a;
	float t = dot(from, along) / max(dot(along, along), 1e-6);
	return length(from - clamp(t, 0.0, 1.0) * along);
}

void mainImage(out vec4 fragColor, in vec2 fragCoord)
{
	vec3 ink = texelFetch(iChannel0, ivec2(fragCoord), 0).rgb;
	vec4 now = texelFetch(iChannel1, ivec2(0), 0);
	vec4 before = texelFetch(iChannel2, ivec2(0), 0);

	if (is_down(32))
		ink *= 0.8;
	if (iMouse.z > 0.0 && before != vec4(0.0)) {
		vec3 color = is_down(65) ? vec3(0.85, 0.15, 0.10)
			: is_down(66) ? vec3(0.10, 0.55, 0.35) : vec3(0.10, 0.16, 0.55);
		float speed = length(now.zw) / iResolution.y;
		float width = mix(7.0, 2.0, smoothstep(0.2, 3.0, speed));
		float covered = smoothstep(width + 0.8, width - 0.8,
			segment(fragCoord, before.xy, now.xy));
		// Ink is what the paper loses.
		ink = max(ink, covered * (1.0 - color));
	}
	fragColor = vec4(ink, 1.0);
}

// What is bright enough to bloom, without a hard edge.
#include "color.glsl"

void mainImage(out vec4 fragColor, in vec2 fragCoord)
{
	vec3 color = texture(iChannel0, fragCoord / iResolution.xy).rgb;
	float much = luma(color);
	fragColor = vec4(color * smoothstep(threshold, 2.0 * threshold, much), 1.0);
}

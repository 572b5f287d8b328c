// The scene and its bloom, developed. Channels: 0 scene, 1 blurred.
#include "color.glsl"

void mainImage(out vec4 fragColor, in vec2 fragCoord)
{
	vec2 uv = fragCoord / iResolution.xy;
	vec3 color = texture(iChannel0, uv).rgb + bloom * texture(iChannel1, uv).rgb;
	vec2 edge = 2.0 * uv - 1.0;
	color *= exposure * (1.0 - 0.2 * dot(edge, edge));
	fragColor = vec4(tonemap(color), 1.0);
}

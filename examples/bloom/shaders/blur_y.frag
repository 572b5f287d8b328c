#include "blur.glsl"

void mainImage(out vec4 fragColor, in vec2 fragCoord)
{
	fragColor = vec4(blur(iChannel0, fragCoord, vec2(0.0, 1.0)), 1.0);
}

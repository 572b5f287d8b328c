// Two channels of samples.
#include "chime.glsl"

vec2 mainSound(int samp, float time)
{
	return 0.4 * volume * chime(time);
}

// Two channels of samples; the tubes hang from left to right.
#include "chime.glsl"

vec2 mainSound(int samp, float time)
{
	vec2 sum = vec2(0.0);
	for (int i = 0; i < tube_count; i++) {
		float right = (float(i) + 0.5) / float(tube_count);
		sum += ring(i, time) * vec2(1.0 - right, right);
	}
	return 0.35 * volume * sum;
}

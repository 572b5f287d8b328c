// Wind chimes, for the ear and for the eye: who is struck when, and how it
// sounds. Six tubes, struck by turns.

const int tube_count = 6;
const float pause = 0.4;	// seconds between strikes
const int strike_count = 20;	// then the wind drops

float hash(float n)
{
	return fract(sin(n * 127.1) * 43758.5453);
}

// A pentatonic scale from A4.
float pitch(int tube)
{
	float half_tones[6] = float[6](0.0, 2.0, 5.0, 7.0, 9.0, 12.0);
	return 440.0 * exp2(half_tones[tube] / 12.0);
}

// The tube of strike n, and when that is.
int struck(int n)
{
	return int(floor(hash(float(n) + 3.0) * float(tube_count)));
}

float struck_at(int n)
{
	return pause * (float(n) + 0.5 * hash(float(n) + 17.0));
}

// Seconds since the tube was struck last; large when it was not.
float since(int tube, float time)
{
	int newest = min(int(floor(time / pause)), strike_count - 1);
	for (int n = newest; n > newest - 16 && n >= 0; n--)
		if (struck(n) == tube && struck_at(n) <= time)
			return time - struck_at(n);
	return 1e3;
}

// One blow, t seconds after it, with the partials of a free bar.
float ring(float f, float t)
{
	f *= 6.28318530718;
	return exp(-1.6 * t) * sin(f * t) + 0.4 * exp(-3.5 * t) * sin(2.756 * f * t)
		+ 0.2 * exp(-7.0 * t) * sin(5.404 * f * t);
}

// What the ears hear: all blows that still ring. The tubes hang from left to
// right, and are never quite in tune: each ear hears its own beat.
vec2 chime(float time)
{
	vec2 sum = vec2(0.0);
	int newest = min(int(floor(time / pause)), strike_count - 1);
	for (int n = newest; n > newest - 16 && n >= 0; n--) {
		float t = time - struck_at(n);
		if (t < 0.0)
			continue;
		float right = (float(struck(n)) + 0.5) / float(tube_count);
		float f = pitch(struck(n));
		sum += vec2(1.0 - right, right) * vec2(
			ring(f, t) + 0.5 * ring(1.0012 * f, t),
			ring(f, t) + 0.5 * ring(0.9991 * f, t));
	}
	return sum;
}

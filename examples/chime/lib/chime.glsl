// Wind chimes, for the ear and for the eye: who is struck when, and how it
// sounds. Six tubes, struck by turns.

const int tube_count = 6;
const float pause = 0.4;	// seconds between strikes

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
	int newest = int(floor(time / pause));
	for (int n = newest; n > newest - 16 && n >= 0; n--)
		if (struck(n) == tube && struck_at(n) <= time)
			return time - struck_at(n);
	return 1e3;
}

// A tube that rings, with the partials of a free bar.
float ring(int tube, float time)
{
	float t = since(tube, time), f = 6.28318 * pitch(tube);
	return exp(-1.6 * t) * sin(f * t) + 0.4 * exp(-3.5 * t) * sin(2.756 * f * t)
		+ 0.2 * exp(-7.0 * t) * sin(5.404 * f * t);
}

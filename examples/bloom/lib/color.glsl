// Colours, for all passes.

vec3 hue(float x)
{
	return 0.5 + 0.5 * cos(6.28318 * (x + vec3(0.0, 0.35, 0.65)));
}

float luma(vec3 color)
{
	return dot(color, vec3(0.2126, 0.7152, 0.0722));
}

// From any brightness to what a screen shows (the curve of Narkowicz).
vec3 tonemap(vec3 x)
{
	x = x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14);
	return pow(clamp(x, 0.0, 1.0), vec3(1.0 / 2.2));
}

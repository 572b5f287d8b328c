// One step of the Gray-Scott reaction: U feeds V, V eats U and decays. U is in
// red, V in green. There is more food in the middle than at the sides.

vec2 at(ivec2 p)
{
	ivec2 size = ivec2(iResolution.xy);
	return texelFetch(iChannel0, (p + size) % size, 0).rg;
}

float hash(vec2 p)
{
	return fract(sin(dot(p, vec2(127.1, 311.7))) * 43758.5453);
}

// U everywhere, and drops of V on a jittered grid.
vec2 seed(vec2 p)
{
	vec2 cell = floor(p / 14.0);
	vec2 jitter = vec2(hash(cell), hash(cell + 7.0));
	float radius = 1.0 + 2.5 * hash(cell + 31.0);
	float away = distance(p, 14.0 * cell + 14.0 * jitter);
	float v = smoothstep(radius + 1.0, radius - 1.0, away);
	return vec2(1.0 - 0.5 * v, 0.4 * v);
}

void mainImage(out vec4 fragColor, in vec2 fragCoord)
{
	ivec2 p = ivec2(fragCoord);
	vec2 here = at(p);

	// The frame before the first reads zeros; the reaction never gets there.
	if (here == vec2(0.0)) {
		fragColor = vec4(seed(fragCoord), 0.0, 1.0);
		return;
	}

	vec2 sides = at(p + ivec2(1, 0)) + at(p - ivec2(1, 0))
		+ at(p + ivec2(0, 1)) + at(p - ivec2(0, 1));
	vec2 corners = at(p + ivec2(1, 1)) + at(p - ivec2(1, 1))
		+ at(p + ivec2(1, -1)) + at(p - ivec2(1, -1));
	vec2 laplacian = 0.2 * sides + 0.05 * corners - here;

	float side = cos(6.28318 * fragCoord.x / iResolution.x);
	float food = feed - 0.011 * side;
	float eaten = here.x * here.y * here.y;
	vec2 change = vec2(spread, 0.5 * spread) * laplacian;
	change += vec2(food * (1.0 - here.x) - eaten,
		eaten - (food + decay) * here.y);
	fragColor = vec4(here + change, 0.0, 1.0);
}

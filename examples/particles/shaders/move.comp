// Moves one particle an invocation along a field without sinks, and counts it
// where it is then. iOutput keeps its position and velocity, to be looked at.

struct Cell {
	uint count;
	uint speed;	// sum, in 1/64 texels a step
};

layout(std430, binding = 0) buffer Particles {
	vec4 particle[];	// position 0..1, velocity
};
layout(std430, binding = 1) buffer Cells {
	Cell cell[];
};

const ivec2 grid = ivec2(480, 270);

float hash(vec2 p)
{
	return fract(sin(dot(p, vec2(127.1, 311.7))) * 43758.5453);
}

float noise(vec2 p)
{
	vec2 i = floor(p), f = fract(p);
	f = f * f * (3.0 - 2.0 * f);
	return mix(mix(hash(i), hash(i + vec2(1.0, 0.0)), f.x),
		mix(hash(i + vec2(0.0, 1.0)), hash(i + vec2(1.0, 1.0)), f.x), f.y);
}

float potential(vec2 p)
{
	float drift = 0.1 * iTime;
	return noise(3.0 * p + drift) + 0.5 * noise(7.0 * p - drift)
		+ 0.15 * noise(15.0 * p + 2.0 * drift);
}

// The curl of the potential.
vec2 flow(vec2 p)
{
	const float near = 0.01;
	float x = potential(p + vec2(near, 0.0)) - potential(p - vec2(near, 0.0));
	float y = potential(p + vec2(0.0, near)) - potential(p - vec2(0.0, near));
	return vec2(y, -x) / (2.0 * near);
}

void mainCompute(ivec2 p)
{
	int i = p.y * int(iResolution.x) + p.x;
	vec4 me = particle[i];

	// Storage is zero at first: then put the particle somewhere.
	if (me == vec4(0.0))
		me.xy = vec2(hash(vec2(p)), hash(vec2(p) + 91.7));

	float aspect = float(grid.x) / float(grid.y);
	me.zw = mix(me.zw, flow(me.xy * vec2(aspect, 1.0)), 0.08);
	me.xy = fract(me.xy + 0.0011 * swiftness * me.zw / vec2(aspect, 1.0) + 1.0);
	particle[i] = me;

	ivec2 at = clamp(ivec2(me.xy * vec2(grid)), ivec2(0), grid - 1);
	int c = at.y * grid.x + at.x;
	atomicAdd(cell[c].count, 1u);
	atomicAdd(cell[c].speed, uint(64.0 * min(length(me.zw), 16.0)));
	imageStore(iOutput, p, me);
}

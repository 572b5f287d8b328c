// Adds the counts to what is left of earlier frames, and clears them. Channel
// 0 is what orders this pass behind the one that counts.

struct Cell {
	uint count;
	uint speed;
};

layout(std430, binding = 1) buffer Cells {
	Cell cell[];
};

void mainCompute(ivec2 p)
{
	int i = p.y * int(iResolution.x) + p.x;
	vec4 light = imageLoad(iOutput, p);
	light *= fade;
	light.r += float(cell[i].count);
	light.g += float(cell[i].speed) / 64.0;
	imageStore(iOutput, p, light);
	cell[i] = Cell(0u, 0u);
}

// Half of a Gaussian blur: along "along", in texels of a buffer whose size is
// that of the pass which is drawn.
vec3 blur(sampler2D from, vec2 fragCoord, vec2 along)
{
	vec3 sum = vec3(0.0);
	float weights = 0.0;
	for (int i = -28; i <= 28; i++) {
		float x = float(i) / radius;
		float weight = exp(-0.5 * x * x);
		vec2 uv = (fragCoord + float(i) * along) / iResolution.xy;
		sum += weight * texture(from, uv).rgb;
		weights += weight;
	}
	return sum / weights;
}

// Chrome balls in front of the sky. Channel 0: the sky, with a mip chain that
// makes rough balls cheap.

const int ball_count = 5;

vec4 ball(int i)
{
	float n = float(i);
	float angle = 6.28318 * n / float(ball_count) + 0.3 * iTime;
	return vec4(1.5 * cos(angle), 0.35 * sin(0.7 * iTime + 2.4 * n),
		1.5 * sin(angle), 0.55);
}

// Distance to the nearest ball along a ray, or -1. which tells its number.
float hit(vec3 from, vec3 d, out int which)
{
	float nearest = -1.0;
	which = 0;
	for (int i = 0; i < ball_count; i++) {
		vec4 b = ball(i);
		vec3 to = from - b.xyz;
		float half_b = dot(to, d);
		float root = half_b * half_b - dot(to, to) + b.w * b.w;
		float t = -half_b - sqrt(max(root, 0.0));
		if (root > 0.0 && t > 0.001 && (nearest < 0.0 || t < nearest)) {
			nearest = t;
			which = i;
		}
	}
	return nearest;
}

vec3 sky(vec3 d, float level)
{
	return textureLod(iChannel0, d, level).rgb;
}

void mainImage(out vec4 fragColor, in vec2 fragCoord)
{
	vec2 p = (2.0 * fragCoord - iResolution.xy) / iResolution.y;
	float angle = 0.2 * iTime;
	vec3 from = 4.2 * vec3(sin(angle), 0.12, -cos(angle));
	vec3 forward = normalize(-from);
	vec3 right = normalize(cross(vec3(0.0, 1.0, 0.0), forward));
	vec3 up = cross(forward, right);
	vec3 d = normalize(1.7 * forward + p.x * right + p.y * up);

	vec3 tint = vec3(1.0);
	float level = 0.0;
	for (int bounce = 0; bounce < 3; bounce++) {
		int which;
		float t = hit(from, d, which);
		if (t < 0.0)
			break;
		from += t * d;
		vec3 normal = normalize(from - ball(which).xyz);
		float fresnel = pow(1.0 - max(dot(normal, -d), 0.0), 5.0);
		vec3 metal = which % 2 == 0 ? vec3(0.95) : vec3(1.0, 0.78, 0.45);
		tint *= mix(metal, vec3(1.0), fresnel);
		level = max(level, roughness * float(which));
		d = reflect(d, normal);
	}
	vec3 color = tint * sky(d, level);
	color = color / (1.0 + 0.6 * color);
	fragColor = vec4(pow(color, vec3(1.0 / 2.2)), 1.0);
}

// The pen, in a single texel: position in xy, velocity in zw. It is drawn to
// the pointer by a spring. Channel 0: the pen at the frame before.

void mainImage(out vec4 fragColor, in vec2 fragCoord)
{
	vec4 pen = texelFetch(iChannel0, ivec2(0), 0);

	// Before the first frame all is zero: start where the pointer is.
	if (pen == vec4(0.0))
		pen = vec4(iMouse.xy, 0.0, 0.0);
	vec2 pull = 90.0 * (iMouse.xy - pen.xy) - 9.0 * pen.zw;
	pen.zw += pull * iTimeDelta;
	pen.xy += pen.zw * iTimeDelta;
	fragColor = pen;
}

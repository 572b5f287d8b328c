#!/bin/sh
# Limits of tests by each measure, masks, and diff --metrics.

. "$SRCDIR/tests/lib.sh"
need_egl
unset CI

# A 32x32 picture; "off" paints a square of 4x4 with green 0.25 instead of 0.
cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	bool square = p.x < 4.0 && p.y < 4.0;
	c = vec4(p.x / 32.0, square ? off : 0.0, p.y / 32.0, 1.0);
}
GLSL
cat >sim.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p) { c = vec4(4.0 * off, p.x, 0.0, 1.0); }
GLSL
# The mask has the square black.
cat >mask.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p) { c = vec4(p.x < 4.0 && p.y < 4.0 ? 0.0 : 1.0); }
GLSL
write()
{
	cat >stbuild.json <<JSON
{
	"format": 1,
	"project": { "name": "m" },
	"render": { "width": 32, "height": 32, "fps": 10, "preview_time": 0 },
	"uniform": [ { "name": "off", "type": "float", "default": 0.25098 } ],
	"pass": [ { "name": "image", "kind": "image", "source": "${2:-image.frag}",
			"input": [ { "channel": 0, "source": "sim" } ] },
		{ "name": "sim", "kind": "buffer", "source": "sim.frag", "width": 8, "height": 8 } ],
	"test": [ { "name": "t", "reference_uniforms": { "off": 0 }, $1 } ]
}
JSON
}

write '"max_rmse": 1' mask.frag
edit image.frag 's/32.0;/32.0;/; s/vec4(p.x/vec4(texelFetch(iChannel0, ivec2(0), 0).a * p.x/'
expect_status 0 "$STBUILD" -s -o mask.sttrace default@0
cp mask.sttrace/final.png mask.png

# holds METRIC LIMIT passes, and the next value that is too strict fails.
holds()
{
	write "\"$1\": $2"
	expect_status 0 "$STBUILD" test --json
	write "\"$1\": $3"
	expect_status 1 "$STBUILD" test --json
	expect_json out 'tests[0].metric' "$4"
	expect_json out 'tests[0].limit' "$3"
}
# 16 pixels of 1024 differ by 64 in one channel.
holds max_difference 64 63 max
holds max_pixels 16 15 pixels
holds max_rmse 0.0182 0.018 rmse
# 10 log10(255^2 / (16 x 64^2 / 3072))
holds min_psnr 34.8 34.9 psnr
holds min_ssim 0.9 0.9999 ssim
holds max_flip 0.1 0.0001 flip
write '"max_pixels": 0, "epsilon": 64'
expect_status 0 "$STBUILD" test
write '"max_pixels": 0, "epsilon": 63'
expect_status 1 "$STBUILD" test
# The tolerance counts where it is given.
write '"max_difference": 64, "tolerance": 0.001'
expect_status 1 "$STBUILD" test --json
expect_json out 'tests[0].metric' rmse

# What the mask leaves out does not count; a changed mask is judged again.
write '"max_difference": 0, "mask": "mask.png"'
expect_status 0 "$STBUILD" test --json
expect_status 0 "$STBUILD" test --json
expect_json out counts.cached 1
expect_status 0 "$STBUILD" -s -o white.sttrace default@0 --set off=1 --width 16 --height 16
cp white.sttrace/final.png mask.png
expect_status 1 "$STBUILD" test --json
expect_json out 'tests[0].metric' mask
expect_json out 'tests[0].message' 'the mask mask.png is 16x16, and the picture 32x32'
rm mask.png
expect_status 1 "$STBUILD" test --json
expect_json out 'tests[0].metric' mask

# Limits need something to compare with.
for key in max_difference max_pixels min_psnr min_ssim max_flip; do
	write "\"$key\": 0"
	edit stbuild.json 's/"reference_uniforms": { "off": 0 }, /"assert_no_nan": true, /'
	expect_status 2 "$STBUILD" test
	expect_text err "$key: needs reference or reference_uniforms"
done
write '"max_flip": 2'
expect_status 2 "$STBUILD" test

# diff: the picture and the float output.
write '"max_rmse": 1'
expect_status 0 "$STBUILD" -s default@0 --include-intermediates -o a.sttrace
expect_status 0 "$STBUILD" -s default@0 --include-intermediates -o b.sttrace --set off=0
expect_status 1 "$STBUILD" diff a.sttrace b.sttrace --json
expect_no_text out flip
expect_status 1 "$STBUILD" diff --metrics a.sttrace b.sttrace --json
for value in picture.psnr picture.ssim picture.flip 'parts[0].flip'; do
	number=$("$JSONQ" out "$value") || fail "no $value"
	case $number in
	*[!0-9.]*) fail "$value is $number" ;;
	esac
done
expect_status 1 "$STBUILD" diff --metrics a.sttrace b.sttrace
expect_text out 'PSNR 34.84 dB'
expect_text out 'HDR-FLIP 0.'

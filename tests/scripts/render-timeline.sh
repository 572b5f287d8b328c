#!/bin/sh
# What changes with frames, presets and options: keys, mouse, uniforms, sizes.

. "$SRCDIR/tests/lib.sh"
need_egl

cat >values.frag <<'GLSL'
float key(int code, int row) { return texelFetch(iChannel0, ivec2(code, row), 0).r; }
void mainImage(out vec4 c, in vec2 p)
{
	int x = int(p.x);
	c = x == 0 ? iMouse
		: x == 1 ? vec4(key(65, 0), key(65, 1), key(65, 2), 1.0)
		: x == 2 ? vec4(key(32, 0), key(32, 1), key(32, 2), 1.0)
		: x == 3 ? vec4(key(37, 0), key(37, 1), key(37, 2), texelFetch(iChannel0, ivec2(65, 0), 0).a)
		: x == 4 ? vec4(f, float(i), b ? 1.0 : 0.0, iResolution.x)
		: x == 5 ? vec4(v2, v3.xy) : x == 6 ? v4 : vec4(v3, 0.0);
}
GLSL
cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p) { c = texelFetch(iChannel0, ivec2(p.x, 0), 0) / 255.0; }
GLSL
write_project()
{
	cat >stbuild.json <<JSON
{
	"format": 1, "project": { "name": "timeline" },
	"render": { "width": 8, "height": 4 },
	"shader": { "dialect": "$1" },
	"uniform": [
		{ "name": "f", "type": "float", "default": 0.5, "min": -10, "max": 10 },
		{ "name": "i", "type": "int", "default": -3 },
		{ "name": "b", "type": "bool", "default": true },
		{ "name": "v2", "type": "vec2", "default": [1, 2.5] },
		{ "name": "v3", "type": "vec3", "default": [3, 4, 5] },
		{ "name": "v4", "type": "vec4", "default": [0.1, 0.2, 1e-3, 16777217] }
	],
	"pass": [
		{ "name": "values", "kind": "buffer", "source": "values.frag", "input": [
			{ "channel": 0, "source": "keyboard" } ] },
		{ "name": "image", "kind": "image", "source": "image.frag", "input": [
			{ "channel": 0, "source": "values" } ] }
	],
	"timeline": [
		{ "frame": 1, "mouse": [3, 2, 3, 2], "keys": { "down": ["A"] } },
		{ "frame": 2, "mouse": [5, 1, 3, -2], "set": { "f": 2, "b": false } },
		{ "frame": 3, "keys": { "down": ["A", "space", 37] } },
		{ "frame": 4, "mouse": [5, 1, -3, -2], "keys": { "down": [] },
			"set": { "i": 7, "v2": [8, 9] } },
		{ "frame": 6, "keys": { "down": ["A"] }, "set": { "f": -2 } }
	],
	"preset": {
		"half": { "render_scale": 0.5 },
		"odd": { "render_scale": 0.3125, "pass": { "values": { "width": 9, "height": 3 } } }
	},
	"trace": [
		{ "name": "t", "frames": ["0:7"], "include_intermediates": true },
		{ "name": "set", "frames": [1, 2], "set": { "f": 9, "v3": [-1, 0, 1] }, "include_intermediates": true },
		{ "name": "half", "frame": 0, "preset": "half", "include_intermediates": true },
		{ "name": "odd", "frame": 0, "preset": "odd", "include_intermediates": true },
		{ "name": "won", "frame": 0, "preset": "odd", "width": 7, "include_intermediates": true }
	]
}
JSON
}
# expect_values FRAME TEXEL 'R G B A'
expect_values()
{
	expect_pixel "target/traces/t@$1.sttrace/passes/values-output-0.rgba32f" 8 "$2" 0 "$3"
}

for dialect in essl glsl; do
	write_project $dialect
	expect_status 0 "$STBUILD" t
	# Held, pressed in this frame, an odd number of presses so far.
	#          A: held pressed toggled; space
	expect_values 0 1 '0 0 0 1'
	expect_values 1 1 '1 1 1 1'
	expect_values 2 1 '1 0 1 1'
	expect_values 3 1 '1 0 1 1'
	expect_values 4 1 '0 0 1 1'
	expect_values 5 1 '0 0 1 1'
	expect_values 6 1 '1 1 0 1'
	expect_values 7 1 '1 0 0 1'
	expect_values 2 2 '0 0 0 1'
	expect_values 3 2 '1 1 1 1'
	expect_values 4 2 '0 0 1 1'
	# Alpha of a texel: 1 in ES, the key's in GLSL.
	[ $dialect = essl ] && up=1 || up=0
	expect_values 0 3 "0 0 0 $up"
	expect_values 3 3 '1 1 1 1'
	expect_values 7 3 '0 0 1 1'
	# The signs of z (down) and w (down in this frame) are the manifest's.
	expect_values 0 0 '0 0 0 0'
	expect_values 1 0 '3 2 3 2'
	expect_values 2 0 '5 1 3 -2'
	expect_values 3 0 '5 1 3 -2'
	expect_values 4 0 '5 1 -3 -2'
	expect_values 7 0 '5 1 -3 -2'
	# Uniforms from a frame on.
	expect_values 0 4 '0.5 -3 1 8'
	expect_values 1 4 '0.5 -3 1 8'
	expect_values 2 4 '2 -3 0 8'
	expect_values 4 4 '2 7 0 8'
	expect_values 6 4 '-2 7 0 8'
	expect_values 3 5 '1 2.5 3 4'
	expect_values 4 5 '8 9 3 4'
	# Floats next to what is written; 2^24 + 1 has none of its own.
	expect_values 0 6 '0.100000001 0.200000003 0.00100000005 16777216'
	expect_values 0 7 '3 4 5 0'
done

# A trace's values hold until the timeline has others, those of --set always;
# the last one wins.
expect_status 0 "$STBUILD" set
values=target/traces/set@1.sttrace/passes/values-output-0.rgba32f
expect_pixel $values 8 4 0 '9 -3 1 8'
values=target/traces/set@2.sttrace/passes/values-output-0.rgba32f
expect_pixel $values 8 4 0 '2 -3 0 8'
expect_pixel $values 8 7 0 '-1 0 1 0'
values=one.sttrace/passes/values-output-0.rgba32f
expect_status 0 "$STBUILD" set@4 -o one.sttrace --include-intermediates \
	--set f=1 --set 'v4 = 1, -2.5,3e2 ,4' --set b=on --set f=-8.25 --set i=-21474836
expect_pixel $values 8 4 0 '-8.25 -21474836 1 8'
expect_pixel $values 8 6 0 '1 -2.5 300 4'
expect_pixel $values 8 7 0 '-1 0 1 0'
expect_pixel $values 8 5 0 '8 9 -1 0'
for bad in f=11 f= f=x i=1.5 b=2 v2=1 v2=1,2,3 none=1 f; do
	expect_status 2 "$STBUILD" --frame 0 --set $bad
done

# Presets: 8 x 4 halved; 0.3125 is 2.5 x 1.25, halves away from zero, 3 x 1; a
# pass of its own size there; a width that was asked for wins.
expect_status 0 "$STBUILD" half odd won
"$PIXEL" target/traces/half@0.sttrace/final.png 3 1 >/dev/null
"$PIXEL" target/traces/half@0.sttrace/final.png 4 0 2>err && fail 'wider than 4'
expect_text err 'is 4x2'
"$PIXEL" target/traces/odd@0.sttrace/final.png 9 9 2>err && fail 'wider than 3'
expect_text err 'is 3x1'
"$PIXEL" target/traces/won@0.sttrace/final.png 9 9 2>err && fail 'wider than 7'
expect_text err 'is 7x1'
expect_pixel target/traces/half@0.sttrace/passes/values-output-0.rgba32f 4 3 1 "0 0 0 $up"
expect_pixel target/traces/odd@0.sttrace/passes/values-output-0.rgba32f 9 4 2 '0.5 -3 1 9'
expect_pixel target/traces/won@0.sttrace/passes/values-output-0.rgba32f 9 4 2 '0.5 -3 1 9'

# What a bundle holds of a timeline is what its picture rests on: nothing that
# comes later, and without feedback nothing that is over.
mkdir parts && cd parts
cat >stbuild.json <<'JSON'
{
	"format": 1,
	"project": { "name": "parts" },
	"render": { "width": 4, "height": 2 },
	"uniform": [ { "name": "k", "type": "float", "default": 0 },
		{ "name": "l", "type": "float", "default": 0 } ],
	"pass": [
		{ "name": "sum", "kind": "buffer", "source": "sum.frag", "input": [
			{ "channel": 0, "source": "sum", "frame": "previous" } ] },
		{ "name": "image", "kind": "image", "source": "image.frag",
			"input": [ { "channel": 0, "source": "sum" } ] }
	],
	"timeline": [ { "frame": 1, "set": { "k": 1 } }, { "frame": 2, "set": { "l": 2 } },
		{ "frame": 4, "set": { "k": 3 } }, { "frame": 9, "set": { "k": 5 } } ],
	"trace": [ { "name": "t", "frames": [ 0, 5, 9 ] } ]
}
JSON
cat >sum.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p) { c = texelFetch(iChannel0, ivec2(p), 0) + k / 255.0; }
GLSL
cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p) { c = texelFetch(iChannel0, ivec2(p), 0) + vec4(0, l / 255.0, 0, 0); }
GLSL
# steps FRAME N: the document and trace.json have so many.
steps()
{
	got=$("$JSONQ" "target/traces/t@$1.sttrace/project.sttf" "$document" 2>/dev/null) || got=0
	[ "$got" = "$2" ] || fail "$got steps in the document of frame $1, not $2"
	got=$("$JSONQ" "target/traces/t@$1.sttrace/trace.json" 'resolved_manifest.timeline#' 2>/dev/null) || got=0
	[ "$got" = "$2" ] || fail "$got steps in trace.json of frame $1, not $2"
}
document='stbuild.timeline#'
capture 0 13
steps 0 0
steps 5 3
steps 9 4
expect_pixel target/traces/t@5.sttrace/final.png 0 0 '9 11 9 255'
expect_status 0 "$STBUILD" replay target/traces/t@5.sttrace
# A later edit leaves earlier frames as they stand, an earlier one does not.
edit stbuild.json 's/"k": 5/"k": 7/'
capture 0 2
expect_bundles current current built
edit stbuild.json 's/"k": 3/"k": 4/'
capture 0 11
expect_bundles current built built

# Without feedback.
cat >sum.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p) { c = vec4(k / 255.0); }
GLSL
# At frame 0 it is the same; at 9 the other half, of frame 8, counts.
capture 0 5
steps 0 0
steps 5 1
steps 9 2
expect_pixel target/traces/t@5.sttrace/final.png 0 0 '4 6 4 255'
for frame in 0 5 9; do
	expect_status 0 "$STBUILD" replay "target/traces/t@$frame.sttrace"
done
edit stbuild.json 's/"k": 1 }/"k": 6 }/'
capture 0 0
expect_bundles current current current
cd ..

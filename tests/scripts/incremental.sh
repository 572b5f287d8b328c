#!/bin/sh
# Only what changed is drawn: a simulation that feeds back, and what shows it.

. "$SRCDIR/tests/lib.sh"
need_egl

# The number of frames so far, over 256; every texel the same.
write_sim()
{
	cat >sim.frag <<GLSL
void mainImage(out vec4 c, in vec2 p)
{
	c = texelFetch(iChannel0, ivec2(p), 0) + vec4($1, 0.0, 0.0, 1.0) / 256.0;
}
GLSL
}

cat >image.frag <<'GLSL'
#include "shade.glsl"
void mainImage(out vec4 c, in vec2 p)
{
	c = vec4(texelFetch(iChannel0, ivec2(0), 0).r, shade(gain), iTime / 4.0, 1.0);
}
GLSL
cat >shade.glsl <<'GLSL'
float shade(float x)
{
	return x * x;
}
GLSL

# write_manifest GAIN [MORE_UNIFORMS [MORE_TRACES [MORE]]]
write_manifest()
{
	cat >stbuild.json <<JSON
{
	"format": 1,
	"project": { "name": "incremental" },
	"render": { "width": 16, "height": 9, "fps": 60 },
	"uniform": [ { "name": "gain", "type": "float", "default": $1 }${2:-} ],
	${4:-}
	"pass": [
		{ "name": "image", "kind": "image", "source": "image.frag",
			"input": [ { "channel": 0, "source": "sim" } ] },
		{ "name": "sim", "kind": "buffer", "source": "sim.frag",
			"width": 4, "height": 4, "input": [ { "channel": 0,
			"source": "sim", "frame": "previous" } ] }
	],
	"trace": [ { "name": "hero", "frame": 120 }${3:-} ]
}
JSON
}

# Red is the frame's number + 1 times the step, blue its time.
hero=target/traces/hero@120.sttrace
write_sim 1.0
write_manifest 1.0
capture 0 122
expect_bundles built
expect_json out counts.programs_compiled 2
expect_json out counts.traces_built 1
expect_json out counts.traces_current 0
expect_json out counts.failures 0
expect_pixel $hero/final.png 3 3 '121 255 128 255'
pictures $hero >first

# Nothing.
capture 0 0
expect_bundles current
expect_json out counts \
	'{"nodes_drawn":0,"nodes_loaded":0,"nodes_reused":0,"programs_compiled":0,"traces_built":0,"traces_current":1,"failures":0}'
# No process but the one: nothing could draw or compile.
if can_strace; then
	run_strace -f -e trace=execve -o exec "$STBUILD" capture >out
	expect_equal "$(grep -c execve exec)" 1 "$(cat exec)"
fi
# A touched file is read again, and found to be the same.
touch sim.frag image.frag stbuild.json
capture 0 0
expect_bundles current

# A comment, and white space: the document changes, the picture does not.
edit shade.glsl 's/x \* x/x  *  x \/\* squared *\//'
capture 0 0
expect_bundles assembled
expect_text $hero/project.sttf squared
capture 0 0
expect_bundles current
pictures $hero >now
expect_same first now
printf '// the end\n' >>sim.frag
capture 0 0
expect_bundles assembled

# What the picture alone uses.
write_manifest 0.5
capture 0 1
expect_bundles built
expect_json out counts.programs_compiled 1
expect_json out counts.nodes_loaded 1
expect_json out counts.nodes_reused 1
expect_pixel $hero/final.png 3 3 '121 64 128 255'
write_manifest 1.0
capture 0 0
expect_bundles assembled
pictures $hero >now
expect_same first now

# The simulation: its 121 frames, and the picture once.
cp sim.frag sim.first
write_sim 2.0
capture 0 122
expect_bundles built
expect_pixel $hero/final.png 3 3 '241 255 128 255'
# And back, as after a branch was switched and switched back.
cp sim.first sim.frag
capture 0 0
expect_bundles assembled
expect_json out counts.programs_compiled 0
pictures $hero >now
expect_same first now
write_sim 2.0
capture 0 0
expect_pixel $hero/final.png 3 3 '241 255 128 255'
cp sim.first sim.frag

# What no picture shows: a uniform that nothing reads, an asset that nothing
# binds, another trace, a test.
capture 0 0
write_manifest 1.0 ', { "name": "spare", "type": "vec2", "default": [1, 2] }'
capture 0 0
expect_bundles assembled
write_manifest 1.0 ', { "name": "spare", "type": "vec2", "default": [3, 4] }'
capture 0 0
cp $hero/final.png spare.png
write_manifest 1.0 '' '' \
	'"asset": [ { "name": "t", "kind": "texture", "path": "spare.png" } ],'
capture 0 0
expect_bundles assembled
write_manifest 1.0 '' '' \
	'"test": [ { "name": "t", "frames": [0], "assert_no_nan": true } ],'
capture 0 0
write_manifest 1.0
capture 0 0
write_manifest 1.0 '' ', { "name": "same", "frame": 120 }'
capture 0 0
expect_bundles current assembled
expect_same $hero/final.png target/traces/same@120.sttrace/final.png
# A frame on the way is drawn from what is stored, the picture's part alone
# where the simulation has its state.
write_manifest 1.0 '' ', { "name": "later", "frame": 123 }'
capture 0 4
expect_bundles current built
expect_json out counts.nodes_loaded 1
expect_pixel target/traces/later@123.sttrace/final.png 3 3 '124 255 131 255'

# Another size of the output: the simulation has its own, and is shared.
write_manifest 1.0 '' ', { "name": "large", "frame": 120, "width": 32, "height": 18 }'
capture 0 1
expect_bundles current built
expect_pixel target/traces/large@120.sttrace/final.png 31 17 '121 255 128 255'
# Two at once, from nothing: the simulation is drawn once.
rm -r .stbuild target
edit stbuild.json 's/"frame": 120/"frame": 12/'
edit stbuild.json 's/"frame": 120/"frame": 12/'
capture 0 15
expect_bundles built built

# What does not vary with time is drawn once, what reads its previous frame
# twice, as that has no content at frame 0.
mkdir still && cd still
cat >stbuild.json <<'JSON'
{
	"format": 1,
	"project": { "name": "still" },
	"render": { "width": 8, "height": 8 },
	"pass": [
		{ "name": "image", "kind": "image", "source": "image.frag", "input": [
			{ "channel": 0, "source": "noise", "frame": "previous" } ] },
		{ "name": "noise", "kind": "buffer", "source": "noise.frag" }
	],
	"trace": [ { "name": "still", "frames": [ "0:3", 7 ] } ]
}
JSON
cat >noise.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = vec4(p.x / 8.0, 1.0, 0.0, 1.0);
}
GLSL
cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = texelFetch(iChannel0, ivec2(p), 0);
}
GLSL
capture 0 3
expect_bundles built built built built built
expect_pixel target/traces/still@0.sttrace/final.png 0 0 '0 0 0 255'
expect_pixel target/traces/still@1.sttrace/final.png 0 0 '16 255 0 255'
expect_same target/traces/still@1.sttrace/final.png target/traces/still@7.sttrace/final.png

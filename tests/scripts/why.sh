#!/bin/sh
# Each reason that why can give, and what status makes of it.

. "$SRCDIR/tests/lib.sh"
need_egl
SQL=$BUILDDIR/tests/tool/sql

# A simulation that feeds back and reads the keyboard, a texture, and an image
# that shows both.
cat >sim.frag <<'GLSL'
#include "step.glsl"
#define RATE 2.0
float spare(float x)
{
	return x;
}
void mainImage(out vec4 c, in vec2 p)
{
	float key = texelFetch(iChannel1, ivec2(65, 0), 0).r;
	c = fract(texelFetch(iChannel0, ivec2(p), 0) + step_by(RATE + speed + key));
}
GLSL
cat >step.glsl <<'GLSL'
vec4 step_by(float x)
{
	return vec4(x, 0.0, 0.0, 1.0) / 256.0;
}
GLSL
cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = texelFetch(iChannel0, ivec2(0), 0) * gain + texture(iChannel1, p) +
		fract(iTime + iDate.w) * 0.1;
}
GLSL

cat >stbuild.json <<'JSON'
{
	"format": 1,
	"project": { "name": "why", "author": "A" },
	"render": { "width": 16, "height": 9, "fps": 60 },
	"uniform": [
		{ "name": "gain", "type": "float", "default": 0.5 },
		{ "name": "speed", "type": "float", "default": 1.0 },
		{ "name": "idle", "type": "float", "default": 1.0 }
	],
	"asset": [
		{ "name": "noise", "kind": "texture", "path": "noise.png" },
		{ "name": "other", "kind": "texture", "path": "other.png" },
		{ "name": "loose", "kind": "texture", "path": "loose.png" }
	],
	"pass": [
		{ "name": "image", "kind": "image", "source": "image.frag", "input": [
			{ "channel": 0, "source": "sim" },
			{ "channel": 1, "source": "noise" } ] },
		{ "name": "sim", "kind": "buffer", "source": "sim.frag",
			"width": 4, "height": 4, "input": [
			{ "channel": 0, "source": "sim", "frame": "previous" },
			{ "channel": 1, "source": "keyboard" } ] }
	],
	"preset": { "low": { "pass": { "sim": { "width": 2, "height": 2 } } } },
	"timeline": [
		{ "frame": 3, "set": { "speed": 2.0 } },
		{ "frame": 4, "set": { "speed": 1.0 } }
	],
	"trace": [ { "name": "hero", "frame": 12 } ]
}
JSON

# Pictures that differ, from a project of no more than a colour.
make_pictures()
{
	mkdir paint
	cat >paint/stbuild.json <<'JSON'
{ "format": 1, "project": { "name": "paint" },
	"render": { "width": 4, "height": 4 },
	"pass": [ { "name": "image", "kind": "image", "source": "i.frag" } ],
	"trace": [ { "name": "p", "frames": [ 0, 1, 2, 3 ] } ] }
JSON
	cat >paint/i.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = vec4(float(iFrame) / 8.0, p / 4.0, 1.0);
}
GLSL
	expect_status 0 "$STBUILD" -C paint
	for i in 0 1 2 3; do
		cp paint/target/traces/p@$i.sttrace/final.png $i.png
	done
	rm -r paint
}
make_pictures
cp 0.png noise.png
cp 1.png other.png
cp 2.png loose.png

# why KIND TEXT [NREASON]: what why says first, as text and in its document.
why()
{
	expect_status 0 "$STBUILD" why hero@12
	expect_text out "	$2"
	expect_equal "$(grep -c '^	' out)" "${3:-1}" "$(cat out)"
	expect_status 0 "$STBUILD" why --json hero@12
	expect_json out target hero@12
	expect_json out 'reasons[0].kind' "$1"
	expect_json out 'reasons#' "${3:-1}"
	expect_json out 'frames#' 1
}

# Puts the project back and captures, from the store alone.
settle()
{
	cp keep/* .
	capture 0 0
}

expect_status 2 "$STBUILD" why
expect_text err 'why takes one target'
expect_status 2 "$STBUILD" why nobody
expect_text err nobody

why never-captured 'was never captured'
expect_json out status stale
capture 0 14
mkdir keep
cp ./*.frag ./*.glsl ./*.json noise.png other.png loose.png keep

# Up to date.
expect_status 0 "$STBUILD" why hero@12
expect_equal "$(cat out)" 'hero@12: up to date'
expect_status 0 "$STBUILD" why hero -q
expect_status 0 "$STBUILD" why --json hero
expect_json out status current
expect_json out 'reasons#' 0

# A uniform.
edit stbuild.json 's/"default": 0.5/"default": 0.7/'
why uniform 'uniform gain 0.5 -> 0.7 (pass image)'
expect_json out 'reasons[0].what' 'uniform gain'
expect_json out 'reasons[0].old' 0.5
expect_json out 'reasons[0].new' 0.7
expect_json out 'reasons[0].pass' image
expect_status 1 "$STBUILD" why hero -q
expect_status 0 "$STBUILD" status
# An edit is not another driver.
expect_no_text err driver
expect_equal "$(sed -n 1p out | sed 's/about.*//')" \
	'hero@12: stale: uniform gain 0.5 -> 0.7 (pass image); 1 draw, 1 load, '
expect_text out '1 of 1 trace stale; 1 draw, 1 load, about '
expect_status 0 "$STBUILD" -n --json
expect_json out 'traces[0].reason' 'uniform gain 0.5 -> 0.7 (pass image)'
expect_json out 'traces[0].reasons[0].kind' uniform
# Nothing was drawn for that, and nothing written.
capture 0 1
settle

# Behind feedback, the frame does not show what an earlier one had.
edit stbuild.json 's/"speed": 2.0/"speed": 3.0/'
why timeline 'timeline: uniform speed 2 -> 3 at frame 3 (pass sim)'
expect_json out 'reasons[0].frame' 3
expect_json out 'reasons[0].pass' sim
capture 0 14
settle
edit stbuild.json 's/"frame": 4, /"frame": 4, "keys": { "down": [65] }, /'
why timeline 'timeline: key 65 down at frame 4 (pass sim)'
settle
edit stbuild.json 's/"speed", "type": "float", "default": 1.0/"speed", "type": "float", "default": 4.0/'
why uniform 'uniform speed 1 -> 4 (pass sim)'
settle

# Sources: a function, in the file that has it; a macro; a declaration.
edit step.glsl 's/return/return 2.0 */'
why source 'step_by() in step.glsl changed (pass sim)'
expect_json out 'reasons[0].file' step.glsl
expect_json out 'reasons[0].line' 1
expect_json out 'reasons[0].what' 'step_by() in step.glsl changed'
capture 0 14
why_status=$("$STBUILD" why hero@12)
expect_equal "$why_status" 'hero@12: up to date'
settle
edit sim.frag 's/RATE 2.0/RATE 3.0/'
why source 'macro RATE in sim.frag 2.0 -> 3.0 (pass sim)'
expect_json out 'reasons[0].line' 2
settle
edit image.frag '1s/^/const float bright = 1.0; /; s/gain/gain * bright/'
why source 'top-level declarations in image.frag added (pass image)' 2
expect_text out 'mainImage() in image.frag changed'
settle
# Two paths, each with a cause.
edit step.glsl 's/return/return 2.0 */'
edit stbuild.json 's/"default": 0.5/"default": 0.7/'
why uniform 'step_by() in step.glsl changed (pass sim)' 2
settle

# What draws nothing.
edit step.glsl 's/return/return  \/* so *\//'
why comment 'only comments or white space changed in step.glsl; nothing to draw'
capture 0 0
settle
edit sim.frag 's/return x/return x + 1.0/'
why unused 'spare() in sim.frag changed, but nothing uses it; nothing to draw'
expect_json out 'reasons[0].line' 3
capture 0 0
settle
edit stbuild.json 's/"idle", "type": "float", "default": 1.0/"idle", "type": "float", "default": 2.0/'
why inactive 'uniform idle 1 -> 2; nothing to draw'
capture 0 0
settle
cp 3.png loose.png
why inactive 'texture loose.png changed, but nothing uses it; nothing to draw'
capture 0 0
settle
edit stbuild.json 's/"author": "A"/"author": "B"/'
why setting 'setting project.author "A" -> "B"; nothing to draw'
capture 0 0
settle
edit stbuild.json 's/"frame": 12 }/"frame": 12, "include_intermediates": true }/'
why intermediates 'intermediates are requested; nothing to draw'
capture 0 0
settle
# Other text, the same bytes: known once it was drawn.
edit step.glsl 's/return vec4(x,/return vec4(1.0 * x,/'
why source 'step_by() in step.glsl changed (pass sim)'
capture 0 13
settle
edit step.glsl 's/return vec4(x,/return vec4(1.0 * x,/'
why equal 'step_by() in step.glsl changed, with the same result (pass sim); nothing to draw'
settle

# Assets and what is bound.
cp 3.png noise.png
why asset 'texture noise.png changed (pass image)'
expect_json out 'reasons[0].file' noise.png
capture 0 1
settle
edit stbuild.json 's/"source": "noise"/"source": "other"/'
why channel 'channel 1 texture noise.png -> texture other.png (pass image)'
settle
edit stbuild.json 's/"source": "noise" /"source": "noise", "filter": "nearest" /'
why sampler 'sampler 1 linear, repeat -> nearest, repeat (pass image)'
settle

# Sizes, time, passes.
edit stbuild.json 's/"frame": 12 }/"frame": 12, "width": 32, "height": 18 }/'
why size 'size 16x9 -> 32x18 (pass image)'
settle
edit stbuild.json 's/"fps": 60/"fps": 30/'
why fps 'fps 60 -> 30 (pass image)'
settle
edit stbuild.json 's/"fps": 60/"fps": 60, "date": "2001-02-03T04:05:06"/'
why date 'date 2000-01-01T00:00:00 -> 2001-02-03T04:05:06 (pass image)'
settle
edit stbuild.json 's/"frame": 12 }/"frame": 12, "preset": "low" }/'
why preset 'preset none -> low (pass sim)'
settle
edit stbuild.json 's/"width": 4, "height": 4/"width": 8, "height": 4/'
why pass 'own size 4x4 -> 8x4 (pass sim)'
settle
edit stbuild.json 's/"height": 4,/"height": 4, "format": "rgba16f",/'
why pass 'format 0 rgba32f -> rgba16f (pass sim)'
settle

# What stands on disk.
final=target/traces/hero@12.sttrace/final.png
printf x >>$final
why altered 'final.png was altered on disk; nothing to draw'
expect_json out 'reasons[0].file' final.png
rm $final
why missing 'final.png is missing; nothing to draw'
rm -r target/traces/hero@12.sttrace
why missing 'the bundle is missing; nothing to draw'
capture 0 0
expect_status 0 "$STBUILD" why -B hero@12
expect_text out 'everything is made anew (-B)'

# Another driver: told once, by all, with what differs.
MESA_EXTENSION_OVERRIDE=-GL_ARB_cl_event
export MESA_EXTENSION_OVERRIDE
edit stbuild.json 's/"frame": 12 }/"frames": [ 11, 12 ] }/'
why driver 'driver: env.MESA_EXTENSION_OVERRIDE none -> -GL_ARB_cl_event'
expect_status 0 "$STBUILD" status hero@12
expect_text err 'driver: env.MESA_EXTENSION_OVERRIDE none -> -GL_ARB_cl_event'
expect_text out 'hero@12: stale: captured with a different driver; 14 draws'
edit stbuild.json 's/"default": 0.5/"default": 0.7/'
why uniform 'uniform gain 0.5 -> 0.7 (pass image)' 2
expect_json out 'reasons[1].kind' driver
cp keep/stbuild.json .
expect_status 0 "$STBUILD"
expect_equal "$(grep -c driver: err)" 1 "$(cat err)"
expect_status 0 "$STBUILD"
expect_no_text err driver:
unset MESA_EXTENSION_OVERRIDE
settle

# Of many frames, each cause once, with the frames that it concerns.
edit stbuild.json 's/"frame": 12 }/"frames": [ "0:5", 12 ] }/'
expect_status 0 "$STBUILD"
edit stbuild.json 's/"speed": 2.0/"speed": 3.0/; s/"default": 0.5/"default": 0.7/'
expect_status 0 "$STBUILD" why hero
cat >want <<'TEXT'
hero@0:5,12: stale
	uniform gain 0.5 -> 0.7 (pass image)
	timeline: uniform speed 2 -> 3 at frame 3 (pass sim); frames 3:5,12
TEXT
expect_equal "$(cat out)" "$(cat want)"
expect_status 0 "$STBUILD" why --json hero
expect_json out 'reasons#' 2
expect_json out 'reasons[1].frames[3]' 12
edit stbuild.json 's/"default": 0.7/"default": 0.5/'
expect_status 0 "$STBUILD" why hero
expect_equal "$(sed -n '1p;$p' out)" "hero@3:5,12: stale
hero@0:2: up to date"
edit stbuild.json 's/"speed": 3.0/"speed": 2.0/'
expect_status 0 "$STBUILD"
expect_status 0 "$STBUILD" why hero
expect_equal "$(cat out)" 'hero@0:5,12: up to date'
settle

# A record without account, or without one of its texts: as much as is known.
for kind in facts facts-list; do
	edit stbuild.json 's/"default": 0.5/"default": 0.7/'
	expect_status 0 "$SQL" .stbuild/stbuild.db \
		"DELETE FROM memo WHERE kind = '$kind'"
	[ "$(cat out)" -gt 0 ] || fail "no $kind"
	why inputs 'its sources, assets or settings changed'
	settle
done

# A commit that has what was captured before it.
if command -v git >/dev/null; then
	git init -q
	git add ./*.json ./*.frag ./*.glsl ./*.png
	git commit -qm one
	edit image.frag '1s/^/\n/'
	capture 0 0
	git commit -qam two
	why commit 'tagged dirty, and clean now; nothing to draw'
	expect_json out status retagged
fi

# A shader that does not compile has no reason, but a fault.
edit step.glsl 's/return/return nonsense/'
expect_status 1 "$STBUILD" why hero@12
expect_text err step.glsl:3
expect_status 1 "$STBUILD" why --json hero@12
expect_json out ok false
expect_json out status failed

#!/bin/sh
# Options of capture: what is captured, where it goes, and what is refused.

. "$SRCDIR/tests/lib.sh"
need_egl

cat >stbuild.json <<'JSON'
{
	"format": 1,
	"project": { "name": "options" },
	"render": { "width": 16, "height": 9, "fps": 10, "preview_time": 0.5 },
	"uniform": [
		{ "name": "level", "type": "float", "default": 0.0, "min": 0, "max": 1 },
		{ "name": "tint", "type": "vec2", "default": [0, 0] }
	],
	"pass": [
		{ "name": "image", "kind": "image", "source": "image.frag",
			"input": [ { "channel": 0, "source": "a" } ] },
		{ "name": "a", "kind": "buffer", "source": "a.frag" }
	],
	"preset": { "half": { "render_scale": 0.5 } },
	"trace": [
		{ "name": "hero", "frames": [ 1, "4:6:2" ] },
		{ "name": "lit", "frame": 2, "set": { "level": 1 }, "width": 8, "height": 8 }
	]
}
JSON
cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = vec4(texelFetch(iChannel0, ivec2(0), 0).r, level, tint.y, 1.0);
}
GLSL
cat >a.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = vec4(iFrame) / 255.0 + vec4(iResolution.x, 0.0, 0.0, 0.0) / 255.0;
}
GLSL

# path N: of the Nth bundle of the last capture.
path()
{
	"$JSONQ" out "traces[$1].path"
}

# All traces, one of them, one frame of one.
capture 0 8
expect_bundles built built built built
expect_equal "$(path 2)" target/traces/hero@6.sttrace
expect_json out 'traces[1].name' hero
expect_json out 'traces[1].frame' 4
expect_pixel target/traces/hero@6.sttrace/final.png 0 0 '22 0 0 255'
expect_pixel target/traces/lit@2.sttrace/final.png 0 0 '10 255 0 255'
capture 0 0 hero
expect_bundles current current current
capture 0 2 lit@3
expect_equal "$(path 0)" target/traces/lit@3.sttrace
capture 0 2 hero@5:6
expect_bundles built current
capture 0 0 hero@4:6:2 lit
expect_bundles current current current
cksum target/traces/*/* >traces

# The document of a capture.
for key in action ok traces counts git driver; do
	"$JSONQ" out $key >/dev/null || fail "no $key in $(cat out)"
done
for key in nodes_drawn nodes_loaded nodes_reused programs_compiled \
	traces_built traces_current failures; do
	"$JSONQ" out counts.$key >/dev/null || fail "no counts.$key"
done
expect_json out 'counts#' 7
for key in vendor renderer version identity; do
	"$JSONQ" out driver.$key >/dev/null || fail "no driver.$key"
done
expect_json out action capture
expect_json out ok true
expect_json out git null

# A line for each bundle that is written: status, target, time, size, place.
mkdir lines
cp stbuild.json image.frag a.frag lines
expect_status 0 "$STBUILD" -C lines hero@4 lit
expect_equal "$(cat out)" 'built hero@4 (0.400 s, 16x9): target/traces/hero@4.sttrace
built lit@2 (0.200 s, 8x8): target/traces/lit@2.sttrace'
expect_status 0 "$STBUILD" -C lines hero@4 --fps 8 -o there.sttrace
expect_text out 'assembled hero@4 (0.500 s, 16x9): '
expect_text out /there.sttrace
expect_status 0 "$STBUILD" -C lines hero@4 lit
expect_equal "$(cat out)" ''
rm -r lines

# Without a target the project's own defaults, as trace "default".
capture 0 2 --frame 9
expect_equal "$(path 0)" target/traces/default@9.sttrace
capture 0 0 --time=0.9
expect_json out 'traces[0].frame' 9
expect_bundles current
capture 0 2 --frames 9,10:12:3
expect_bundles current built
expect_equal "$(path 1)" target/traces/default@10.sttrace
# With a target, frames of that trace's variant.
capture 0 2 lit --time 0.9
expect_equal "$(path 0)" target/traces/lit@9.sttrace
expect_pixel target/traces/lit@9.sttrace/final.png 7 7 '17 255 0 255'

# Another variant is a one-off, beside the trace's bundle.
capture 0 1 hero@1 --set level=0.2
one=$(path 0)
case $one in
target/captures/hero@1-????????.sttrace) ;;
*) fail "a one-off went to $one" ;;
esac
expect_pixel "$one/final.png" 0 0 '17 51 0 255'
capture 0 0 hero@1 --set level=0.2
expect_bundles current
expect_equal "$(path 0)" "$one"
capture 0 1 hero@1 --set level=0.4 --set tint=0.5,1 --set=level=0.6
[ "$(path 0)" != "$one" ] || fail 'two variants at one path'
expect_pixel "$(path 0)/final.png" 0 0 '17 153 255 255'
capture 0 2 hero@1 --width 32 --height=8
expect_pixel "$(path 0)/final.png" 31 7 '33 0 0 255'
expect_json "$(path 0)/trace.json" width 32
expect_json "$(path 0)/trace.json" height 8
capture 0 2 hero@1 --preset half
expect_json "$(path 0)/trace.json" width 8
expect_json "$(path 0)/trace.json" preset half
capture 0 0 hero@1 --fps 20
expect_json "$(path 0)/trace.json" fps 20
expect_json "$(path 0)/trace.json" time 0.05
capture 0 2 --time 1 --fps 20
expect_json out 'traces[0].frame' 20
case $(path 0) in
target/captures/default@20-????????.sttrace) ;;
*) fail "a one-off went to $(path 0)" ;;
esac
rm -r target/traces/default@*.sttrace target/traces/lit@9.sttrace
cksum target/traces/*/* >now
expect_same traces now

# Intermediates are in the store already.
capture 0 0 hero@1 --include-intermediates
expect_bundles assembled
expect_pixel target/traces/hero@1.sttrace/passes/a-output-0.rgba32f 16 0 0 \
	'0.0666666701 0.00392156886 0.00392156886 0.00392156886'
capture 0 0 hero@1
expect_bundles assembled
[ ! -e target/traces/hero@1.sttrace/passes ] || fail 'intermediates are left'

# -o, for one frame.
capture 0 0 hero@4 -o parts/one.sttrace --include-intermediates
[ -f parts/one.sttrace/passes/a-output-0.png ] || fail 'nothing at -o'
expect_status 0 "$STBUILD" inspect parts/one.sttrace
capture 0 0 hero@4 -o parts/one.sttrace --include-intermediates
capture 0 0 hero@6 -o parts/one.sttrace/
expect_json parts/one.sttrace/trace.json frame 6
mkdir sub
capture 0 0 -C sub -o here.sttrace hero@4
[ -f sub/here.sttrace/trace.json ] || fail '-o is not relative to -C'

# refused TEXT OPTION..: status 2, with this reason, and nothing is written.
refused()
{
	text=$1
	shift
	expect_status 2 "$STBUILD" capture "$@"
	expect_text err "$text"
	expect_status 2 "$STBUILD" capture --json "$@"
	expect_json out ok false
	expect_json out action capture
}
: >file.sttrace
mkdir -p dir.sttrace
: >dir.sttrace/letters
refused "must end in .sttrace" hero@4 -o x
refused "must end in .sttrace" hero@4 -o .sttrace
refused "is a file; a bundle is a folder" hero@4 -o file.sttrace
refused "folder but not a bundle" hero@4 -o dir.sttrace
refused "exactly one frame" -o x.sttrace
refused "exactly one frame" hero -o x.sttrace
refused "did you mean 'hero'" heor
refused "did you mean 'lit'" litt@3
refused "unknown command or trace 'quite-another'" quite-another
refused "unknown command or trace 'chekc'; did you mean 'check'?" chekc
refused "'4:'" hero@4:
refused "in target 'hero@x'" hero@x
refused "mutually exclusive" hero --frame 1 --time 1
refused "omit --frame" hero@1 --frame 1
refused "takes one frame" --frame 1,2
refused "level" hero@1 --set level=2
refused "did you mean 'level'" hero@1 --set leevl=1
refused "tint" hero@1 --set tint=1
refused "NAME=VALUE" hero@1 --set level
refused "did you mean 'half'" hero@1 --preset hafl
refused "--width" hero@1 --width 0
refused "--width" hero@1 --width 20000
refused "--fps" hero@1 --fps 0
refused "--frame" hero@1 --frme 2
for left in x x.sttrace; do
	[ ! -e $left ] || fail 'a refused capture wrote something'
done
expect_equal "$(ls dir.sttrace)" letters

# -n, status and -q draw nothing and write nothing.
edit image.frag 's/tint.y/tint.x/'
cp -R target good
expect_status 0 "$STBUILD" -n --json hero
expect_json out action capture
expect_json out 'traces[0].status' stale
expect_json out 'traces[0].draws' 1
expect_json out counts.nodes_drawn 3
expect_json out counts.traces_built 3
expect_status 0 "$STBUILD" status
expect_text out 'hero@1: stale: mainImage() in image.frag changed (pass image); 1 draw, 1 load'
expect_status 0 "$STBUILD" status lit --json
expect_json out action status
expect_json out 'traces#' 1
expect_status 1 "$STBUILD" -q hero
expect_equal "$(cat out err)" ''
diff -r target good || fail 'a plan changed something'
rm -r good
capture 0 3 hero
expect_status 0 "$STBUILD" -q hero
expect_status 1 "$STBUILD" -q
expect_status 0 "$STBUILD" -n hero
expect_text out 'hero@1: current'

# -B makes it all again, though the store has it.
capture 0 6 -B hero
expect_bundles built built built
# Quiet.
expect_status 0 "$STBUILD" -s -B hero
expect_equal "$(cat out err)" ''

# A failed capture leaves the bundle there is.
cp -R target good
edit image.frag 's/level/lev el/'
capture 1 0 hero
expect_json out ok false
expect_json out counts.failures 3
expect_json out 'traces[0].status' failed
diff -r target good || fail 'a failed capture changed a bundle'
edit image.frag 's/lev el/level * 1.0/'
if [ "$(id -u)" != 0 ]; then
	chmod a-w target/traces
	expect_status 3 "$STBUILD" hero
	chmod u+w target/traces
	diff -r target good || fail 'a failed capture changed a bundle'
fi
capture 0 3 hero

# What cannot be captured reproducibly.
cp stbuild.json all.json
edit stbuild.json 's/"source": "a" }/"source": "webcam" }/'
refused webcam hero
cp all.json stbuild.json
echo none >v.mp4
edit stbuild.json 's/^	"pass"/	"asset": [ { "name": "v", "kind": "video", "path": "v.mp4" } ],\n&/'
refused "is a video" hero

# A moment stays that moment at another rate.
cp all.json stbuild.json
moment()
{
	want_frame=$1
	shift
	expect_status 0 "$STBUILD" --json "$@"
	expect_json out 'traces[0].frame' "$want_frame"
}
cat >stbuild.json <<'JSON'
{
	"format": 1,
	"project": { "name": "moments" },
	"render": { "width": 4, "height": 2, "fps": 20, "preview_time": 0.125 },
	"pass": [ { "name": "image", "kind": "image", "source": "clock.frag" } ]
}
JSON
cat >clock.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p) { c = vec4(iTime, 0, 0, 1); }
GLSL
moment 3
moment 1 --fps 8
expect_pixel "$(path 0)/final.png" 0 0 '32 0 0 255'
moment 1 -n --fps 8
moment 6 --fps 8 --frame 6
refused 'to that of frame' --fps 1000 --time 1e6
traces='{ "name": "half", "time": 0.5 }, { "name": "slow", "time": 0.5, "fps": 2 }'
traces="$traces, { \"name\": \"at\", \"frame\": 5 }, { \"name\": \"shown\" }"
edit stbuild.json "s/^	\"pass\"/	\"trace\": [ $traces ],\n&/"
moment 10 half
moment 4 half --fps 8
moment 1 slow
moment 4 slow --fps 8
moment 5 at --fps 8
moment 1 shown --fps 8
edit stbuild.json 's/"time": 0.5,/"time": 2e5,/'
refused 'beyond frame' slow --fps 1000

# A command where a target is wanted.
expect_status 2 "$STBUILD" -- capture
expect_text err "no trace named 'capture' (a command is the first operand, and not after '--')"
expect_status 2 "$STBUILD" capture test
expect_text err "no trace named 'test'"

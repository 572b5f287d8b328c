#!/bin/sh
# The pass graph as text, DOT and JSON.

. "$SRCDIR/tests/lib.sh"

mkdir s
for name in a b image lost; do
	echo 'void mainImage(out vec4 c, in vec2 p) { c = vec4(1.0); }' >s/$name.frag
done
cat >stbuild.json <<'JSON'
{
	"format": 1,
	"project": { "name": "g" },
	"pass": [
		{ "name": "image", "kind": "image", "source": "s/image.frag",
			"input": [ { "channel": 0, "source": "b" },
				{ "channel": 2, "source": "keyboard" } ] },
		{ "name": "a", "kind": "buffer", "source": "s/a.frag", "width": 64, "height": 32,
			"input": [ { "channel": 1, "source": "a", "frame": "previous",
				"filter": "nearest" } ] },
		{ "name": "b", "kind": "buffer", "source": "s/b.frag",
			"input": [ { "channel": 0, "source": "a", "wrap": "clamp" } ] },
		{ "name": "lost", "kind": "buffer", "source": "s/lost.frag" }
	]
}
JSON

expect_status 0 "$STBUILD" graph
expect_text out 'a: buffer, 64x32, rgba32f'
expect_text out '	iChannel1: a (previous frame), nearest, repeat'
expect_text out '	iChannel0: a, linear, clamp'
expect_text out 'image: image, output size, rgba8'
expect_text out 'lost: buffer, output size, rgba32f, not drawn'
expect_text err 'stbuild: warning: [unreachable-pass] '
expect_equal "$(grep -n '^a:' out | cut -d: -f1)" 1 'a is drawn first'

expect_status 0 "$STBUILD" graph --json
expect_json out ok true
expect_json out 'passes#' 4
expect_json out 'passes[3].reached' false
expect_json out 'passes[0].inputs[1].kind' keyboard
expect_json out 'edges#' 3
expect_json out 'order[0]' a
expect_json out 'order[1]' b
expect_json out 'order[2]' image
expect_json out 'diagnostics#' 1
expect_json out 'diagnostics[0].code' unreachable-pass
expect_json out 'diagnostics[0].passes[0]' lost

expect_status 0 "$STBUILD" graph --dot
expect_text out 'digraph "g" {'
expect_text out '	"pass:a" -> "pass:a" [label="iChannel1", style=dashed];'
expect_text out '	"pass:a" -> "pass:b" [label="iChannel0", style=solid];'
expect_text out '	"live:keyboard" -> "pass:image" [label="iChannel2", style=solid];'
if command -v dot >/dev/null; then
	dot -Tdot out >/dev/null || fail 'dot does not take it'
fi
expect_text out '	"pass:image" [shape=doubleoctagon, label="image"];'
expect_text out '	"pass:a" [shape=box, label="a"];'
expect_status 2 "$STBUILD" graph --dot --json
# A sound has a length and a rate, not a size and a format.
mkdir ring
cp s/image.frag ring/
echo 'vec2 mainSound(int samp, float time) { return vec2(0.0); }' >ring/tone.frag
cat >ring/stbuild.json <<'JSON'
{
	"format": 1,
	"project": { "name": "ring" },
	"pass": [
		{ "name": "image", "kind": "image", "source": "image.frag" },
		{ "name": "tone", "kind": "sound", "source": "tone.frag", "duration": 2.5 }
	]
}
JSON
expect_status 0 "$STBUILD" -C ring graph
expect_text out 'tone: sound, 2.5 s, stereo, 44100 Hz'
[ ! -e .stbuild ] || fail 'graph made a store'

#!/bin/sh
# A bundle that is made anew takes over the files that would be the same: they
# are neither encoded nor copied again, and nobody else has a name for them.
. "$SRCDIR/tests/lib.sh"
need_egl

cat > stbuild.json <<'X'
{ "format": 1, "project": { "name": "k" },
  "render": { "width": 8, "height": 4, "fps": 10 },
  "pass": [{ "name": "a", "kind": "buffer", "source": "a.frag" },
    { "name": "image", "kind": "image", "source": "i.frag",
      "input": [{ "channel": 0, "source": "a" }] }],
  "trace": [{ "name": "t", "frame": 2, "include_intermediates": true }] }
X
echo 'void mainImage(out vec4 c, in vec2 p) { c = vec4(p / 8.0, iTime, 1.0); }' > a.frag
echo 'void mainImage(out vec4 c, in vec2 p) { c = texelFetch(iChannel0, ivec2(p), 0); }' > i.frag
bundle=target/traces/t@2.sttrace

inode()
{
	# shellcheck disable=SC2012
	ls -i "$bundle/$1" | awk '{ print $1 }'
}

names()
{
	# shellcheck disable=SC2012
	ls -l "$bundle/$1" | awk '{ print $2 }'
}

# after WHAT STATUS KEPT CHANGED: lists of files.
after()
{
	for f in $3 $4; do
		inode "$f" >"before.$(basename "$f")"
	done
	expect_status 0 "$STBUILD" --json
	[ "$("$JSONQ" out 'traces[0].status')" = "$2" ] || fail "$1: status"
	for f in $3; do
		[ "$(inode "$f")" = "$(cat "before.$(basename "$f")")" ] ||
			fail "$1: $f was made again"
	done
	for f in $4; do
		[ "$(inode "$f")" != "$(cat "before.$(basename "$f")")" ] ||
			fail "$1: $f was kept"
	done
	for f in $3 $4; do
		[ "$(names "$f")" = 1 ] || fail "$1: $f has another name"
	done
	expect_status 0 "$STBUILD" inspect "$bundle"
	expect_status 0 "$STBUILD" replay "$bundle"
	expect_status 0 "$STBUILD" --json
	[ "$("$JSONQ" out counts.traces_current)" = 1 ] || fail "$1: then current"
}

expect_status 0 "$STBUILD"
all='final.png state.ststate passes/a-output-0.rgba32f passes/a-output-0.png'
echo '// a word' >> i.frag
after 'a comment' assembled "$all" 'project.sttf trace.json'
sed -i 's/c = texel/c = 0.5 * texel/' i.frag
after 'the image edited' built \
	'state.ststate passes/a-output-0.rgba32f passes/a-output-0.png' \
	'final.png project.sttf trace.json'
rm "$bundle/final.png"
inode state.ststate > before.state.ststate
expect_status 0 "$STBUILD" --json
[ "$("$JSONQ" out 'traces[0].status')" = restored ] || fail restored
[ "$(inode state.ststate)" = "$(cat before.state.ststate)" ] ||
	fail 'what was intact is kept'
# An altered file is nothing to keep.
printf 'x' | dd of="$bundle/state.ststate" bs=1 seek=9 conv=notrunc 2>/dev/null
echo '// another' >> i.frag
after 'an altered file' assembled final.png 'state.ststate project.sttf'

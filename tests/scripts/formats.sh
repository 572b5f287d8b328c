#!/bin/sh
# Each row of format.def: in the manuals and the schema, accepted or refused by
# the manifest, and the same in bundles, states and documents.

. "$SRCDIR/tests/lib.sh"

table=$SRCDIR/include/stbuild/project/format.def
rows()
{
	sed -n "s/^$1([A-Z0-9]*, \"\([a-z0-9]*\)\", \"\([A-Z0-9]*\)\", \([0-9]*\), .*/\1 \2 \3/p" "$table"
}
rows FORMAT >formats
rows TARGET >targets
[ "$(wc -l <formats)" -ge 4 ] || fail 'no formats in the table'
[ "$(cat formats targets | wc -l)" -eq "$(grep -c '^[A-Z]*(' "$table")" ] ||
	fail 'a row of the table is not read here'

# project WORD: a buffer of this format, with an extra output of it.
project()
{
	cat >stbuild.json <<JSON
{
	"format": 1,
	"project": { "name": "formats" },
	"render": { "width": 4, "height": 2 },
	"pass": [
		{ "name": "b", "kind": "buffer", "source": "b.frag", "width": 3,
			"height": 2, "format": "$1", "extra_outputs": ["$1"] },
		{ "name": "image", "kind": "image", "source": "image.frag",
			"input": [{ "channel": 0, "source": "b" }] }
	]
}
JSON
}
cat >b.frag <<'GLSL'
layout(location = 1) out vec4 extra;
void mainImage(out vec4 c, in vec2 p) { c = vec4(0.25, 0.5, 2.0, 1.0); extra = c; }
GLSL
echo 'void mainImage(out vec4 c, in vec2 p) { c = texture(iChannel0, vec2(0.5)); }' >image.frag

expect_status 0 "$STBUILD" help --schema
cp out schema
while read -r word document bytes; do
	grep -qF "\"$word\"" schema || fail "the schema lacks $word"
	grep -qw "$word" "$SRCDIR/man/stbuild.json.5" || fail "stbuild.json(5) lacks $word"
	grep -qw "$word" "$SRCDIR/man/ststate.5" || fail "ststate(5) lacks $word"
	grep -qw "$document" "$SRCDIR/man/sttf.5" || fail "sttf(5) lacks $document"
	project "$word"
	expect_status 0 "$STBUILD" graph
	expect_text out "b: buffer, 3x2, $word $word"
	[ "$bytes" -gt 0 ] || fail "$word has no bytes"
done <formats
while read -r word document bytes; do
	! grep -qF "\"$word\"" schema || fail "the schema has $word"
	grep -qw "$word" "$SRCDIR/man/stbuild.json.5" || fail "stbuild.json(5) lacks $word"
	project "$word"
	expect_status 2 "$STBUILD" graph
	expect_text err "'$word' is not one of"
done <targets

need_egl
while read -r word document bytes; do
	project "$word"
	expect_status 0 "$STBUILD" --frame 0 -o "$word.sttrace" --include-intermediates
	expect_status 0 "$STBUILD" inspect "$word.sttrace/state.ststate"
	[ "$word" = rgba32f ] || {
		expect_text "$word.sttrace/project.sttf" "\"$document\""
		expect_text out "$word"
	}
	expect_status 0 "$STBUILD" replay "$word.sttrace"
	# What was captured is a project with the same format.
	expect_status 0 "$STBUILD" import "$word.sttrace" -o "again-$word"
	expect_status 0 "$STBUILD" -C "again-$word" graph
	expect_text out "b: buffer, 3x2, $word $word"
done <formats

#!/bin/sh
# Our own cases of TOML: tests/toml/valid/*.toml with the tagged JSON they must
# give beside them; tests/toml/invalid/*.toml, each with the place and a part of
# the message in its first line: "# LINE:COLUMN: TEXT".

. "$SRCDIR/tests/lib.sh"

tagged=$BUILDDIR/tests/tool/toml-tagged
n=0
for file in "$SRCDIR"/tests/toml/valid/*.toml; do
	"$tagged" "${file%.toml}.json" <"$file" || fail "$file"
	# What is printed is the same again, through another way.
	"$tagged" <"$file" >printed.json
	"$tagged" printed.json <"$file" || fail "$file, printed"
	n=$((n + 1))
done
for file in "$SRCDIR"/tests/toml/invalid/*.toml; do
	status=0
	"$tagged" <"$file" >out 2>err || status=$?
	[ $status = 1 ] || fail "$file: status $status"
	want=$(sed -n '1s/^# //p' "$file")
	[ "$want" ] || fail "$file has no expectation"
	place=${want%%: *} text=${want#*: }
	expect_text err "stdin:$place: "
	expect_text err "$text"
	n=$((n + 1))
done
[ $n -ge 40 ] || fail "only $n cases"
# The comparison notices what differs.
printf 'a = 1\n' >doc.toml
for json in '{}' '{"a":{"type":"integer","value":"2"}}' \
	'{"a":{"type":"float","value":"1"}}' '{"a":[]}' '{"b":{},"a":{}}'; do
	printf '%s' "$json" >other.json
	status=0
	"$tagged" other.json <doc.toml 2>err || status=$?
	[ $status = 2 ] || fail "status $status for $json"
done

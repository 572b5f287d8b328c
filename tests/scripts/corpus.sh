#!/bin/sh
# Documents as people have them, from a folder beside the sources: imported,
# checked, captured, verified, replayed bit for bit, and up to date then.
# CORPUS is another folder with .sttf documents. On a software renderer the six
# faces of a cubemap pass take a minute, so that those are captured only with
# CORPUS_SLOW=1.

. "$SRCDIR/tests/lib.sh"
need_egl

corpus=${CORPUS:-$SRCDIR/../shared/corpus/sttf}
set -- "$corpus"/*.sttf
[ -e "$1" ] || skip "no documents in ${CORPUS:-../shared/corpus/sttf}"

n=0 captured=0
for file; do
	name=$(basename "$file" .sttf)
	echo "$name"
	expect_status 0 "$STBUILD" import "$file" -o "$name"
	expect_status 0 "$STBUILD" -C "$name" check
	n=$((n + 1))
	if grep -q '"kind": "cubemap", "source"' "$name/stbuild.json" && [ -z "${CORPUS_SLOW:-}" ]; then
		continue
	fi
	expect_status 0 "$STBUILD" -C "$name" --json --frames 0,10 --width 64 \
		--height 36 --include-intermediates
	drawn=$("$JSONQ" out counts.nodes_drawn)
	[ "$drawn" -ge 1 ] || fail "nothing drawn: $(cat out)"
	expect_bundles built built
	expect_status 0 "$STBUILD" inspect "$name"/target/captures/*.sttrace
	for bundle in "$name"/target/captures/*.sttrace; do
		expect_status 0 "$STBUILD" replay "$bundle" --json
		expect_json out exact true
		expect_json out state_valid true
		expect_json out driver_equal true
	done
	capture 0 0 -C "$name" --frames 0,10 --width 64 --height 36 \
		--include-intermediates
	expect_bundles current current
	expect_json out counts.nodes_loaded 0
	expect_json out counts.programs_compiled 0
	captured=$((captured + 1))
done
echo "$n documents, $captured captured"
[ $captured -gt 0 ] || fail 'no document was captured'

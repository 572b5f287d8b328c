#!/bin/sh
# Exports that nobody here wrote: each becomes a project, compiles, is captured
# at frames 0 and 10, verifies, replays exactly, and is drawn once.
#
# CORPUS_SECONDS (75): no further one is begun then, and those that were not
# are told, the largest first to be left out. CORPUS_SIZE (64x36): of pictures.

. "$SRCDIR/tests/lib.sh"
need_egl
corpus=$SRCDIR/../shared/corpus
[ -d "$corpus/json" ] || skip 'no corpus of exports beside the sources'

now()
{
	date +%s
}
end=$(($(now) + ${CORPUS_SECONDS:-75}))
size=${CORPUS_SIZE:-64x36}
done=0 left=
# Smallest first: a long source compiles long.
for file in $(find "$corpus/json" -name '*.json' -size -1024k -exec wc -c {} + |
	grep -v ' total$' | sort -n | sed 's/^ *[0-9]* //'); do
	name=${file##*/}
	name=${name%.json}
	if [ "$(now)" -ge "$end" ]; then
		left="$left $name"
		continue
	fi
	expect_status 0 "$STBUILD" import "$file" -o "$name" --media "$corpus"
	expect_status 0 "$STBUILD" -C "$name" check
	set -- -C "$name" capture --json --frames 0,10 --width "${size%x*}" --height "${size#*x}"
	expect_status 0 "$STBUILD" "$@"
	expect_json out 'traces#' 2
	expect_json out counts.failures 0
	[ "$("$JSONQ" out counts.nodes_drawn)" -ge 2 ] || fail "$name: few draws: $(cat out)"
	expect_status 0 "$STBUILD" "$@"
	expect_json out counts.nodes_drawn 0
	expect_json out counts.traces_current 2
	for bundle in "$name"/target/captures/default@*.sttrace; do
		expect_status 0 "$STBUILD" inspect --json "$bundle"
		expect_json out verified true
		# Those of frame 10 pass frame 0 on their way.
		case $bundle in
		*@10-*)
			expect_status 0 "$STBUILD" replay --json "$bundle"
			expect_json out exact true
			expect_json out state_valid true
			;;
		esac
	done
	rm -rf "$name"
	done=$((done + 1))
done
[ $done -gt 0 ] || fail "nothing was run of $corpus"
echo "$done exports${left:+; not enough time for:$left}"

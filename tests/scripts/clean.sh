#!/bin/sh
# Clean takes away what the store has on record, and nothing else.

. "$SRCDIR/tests/lib.sh"
RECORD=${JSONQ%jsonq}record

expect_status 0 "$STBUILD" init
expect_status 0 "$STBUILD" clean --json
expect_json out ok true
expect_json out 'removed#' 0
[ ! -e .stbuild ] || fail 'clean made a store'

# bundle NAME: one on record, with two artifacts.
bundle()
{
	mkdir -p "target/traces/$1.sttrace/passes"
	: >"target/traces/$1.sttrace/final.png"
	: >"target/traces/$1.sttrace/passes/a.png"
	echo '{"tool": "stbuild"}' >"target/traces/$1.sttrace/trace.json"
	"$RECORD" .stbuild "target/traces/$1.sttrace" final.png passes/a.png
}
bundle one@0
bundle two@0
printf '*\n' >target/.gitignore
mkdir -p target/traces/stranger.sttrace

expect_status 0 "$STBUILD" clean -n
expect_equal "$(cat out)" 'target/traces/one@0.sttrace
target/traces/two@0.sttrace'
[ -d target/traces/one@0.sttrace ] || fail 'clean -n removed a bundle'
expect_status 0 "$STBUILD" clean --json
expect_json out action clean
expect_json out 'removed#' 2
expect_json out 'removed[0]' target/traces/one@0.sttrace
expect_equal "$(ls target/traces)" stranger.sttrace
expect_status 0 "$STBUILD" clean --json
expect_json out 'removed#' 0

# The folders go when nothing else is in them.
rmdir target/traces/stranger.sttrace
bundle one@0
expect_status 0 "$STBUILD" clean
[ ! -e target ] || fail "target is left: $(find target)"

# Somebody's file in a bundle, a link in its place, a file in its place.
bundle kept@0
: >target/traces/kept@0.sttrace/notes.txt
bundle deep@0
: >target/traces/deep@0.sttrace/passes/notes.txt
bundle link@0
mkdir precious
mv target/traces/link@0.sttrace/* precious
rmdir target/traces/link@0.sttrace
ln -s ../../precious target/traces/link@0.sttrace
expect_status 1 "$STBUILD" clean --json
expect_json out ok false
expect_json out 'removed#' 0
expect_json out 'kept#' 3
expect_text err "keeping 'target/traces/kept@0.sttrace': it contains a foreign file, 'notes.txt'"
expect_text err "it contains a foreign file, 'passes/notes.txt'"
expect_text err "keeping 'target/traces/link@0.sttrace': it is no longer a bundle"
[ -f precious/final.png ] || fail 'clean followed a link'
rm -r target

# A record that names what is no bundle of ours.
mkdir src
: >src/final.png
"$RECORD" .stbuild src final.png
expect_status 1 "$STBUILD" clean
[ -f src/final.png ] || fail 'clean removed a folder that is no bundle'

# The store.
mkdir foreign
: >foreign/stbuild.db
: >foreign/letters
expect_status 2 "$STBUILD" --store foreign clean --store
expect_text err "'foreign' contains a foreign file, 'letters'; nothing was removed"
[ -f foreign/letters ] || fail 'clean --store removed a foreign folder'
expect_status 2 "$STBUILD" --store src clean --store
# Records of null runs, and what was left by a run that was killed.
mkdir .stbuild/runs
: >.stbuild/runs/record
expect_status 0 "$STBUILD" clean --store -n
[ -d .stbuild ] || fail 'clean --store -n removed the store'
# A question removes nothing either.
expect_status 0 "$STBUILD" clean --store -q
[ -d .stbuild ] || fail 'clean --store -q removed the store'
expect_status 0 "$STBUILD" clean --store --json
expect_json out 'removed[0]' .stbuild
[ ! -e .stbuild ] || fail 'the store is left'
expect_status 0 "$STBUILD" clean --store
expect_status 2 "$STBUILD" clean --store=x
expect_text err "takes no value"

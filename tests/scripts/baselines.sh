#!/bin/sh
# The file of baselines: what is accepted, by whom it is judged, that a class of
# drivers without one is not a silent pass, and what approve writes.

. "$SRCDIR/tests/lib.sh"
need_egl
need_tool git
unset CI GITHUB_ACTIONS

write_project()
{
	cat >stbuild.json <<JSON
{
	"format": 1,
	"project": { "name": "accepted" },
	"render": { "width": 4, "height": 2, "fps": 10 },
	"uniform": [ { "name": "level", "type": "float", "default": $1 } ],
	"pass": [
		{ "name": "image", "kind": "image", "source": "image.frag",
			"input": [ { "channel": 0, "source": "a" } ] },
		{ "name": "a", "kind": "buffer", "source": "a.frag", "width": 2, "height": 1 }
	],
	"driver": [ $2 ],
	"test": [
		{ "name": "two words", "frames": [0, 1], "resolutions": [[4, 2], [2, 2]], "baseline": true },
		{ "name": "raw", "frame": 0, "pass": "a", "baseline": true }
	]
}
JSON
}
class='{ "name": "mine", "pattern": "*" }'
cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = vec4(level, p.x < 1.0 ? 1.0 : 0.0, float(iFrame), 1.0) + 0.0 * texelFetch(iChannel0, ivec2(0), 0);
}
GLSL
echo 'void mainImage(out vec4 c, in vec2 p) { c = vec4(p.x, -2.0, 0.5, 1.0); }' >a.frag

# state STATUS CACHED 'STATUS ..' [OPTION..]: of the five cases.
state()
{
	want_status=$1 want_cached=$2 want_list=$3
	shift 3
	expect_status "$want_status" "$STBUILD" test --json "$@"
	list=
	for i in 0 1 2 3 4; do
		list="$list${list:+ }$("$JSONQ" out "tests[$i].status")"
	done
	expect_equal "$list" "$want_list" "$(cat out)"
	expect_json out counts.cached "$want_cached"
}
new='no-baseline no-baseline no-baseline no-baseline no-baseline'
passed='passed passed passed passed passed'

write_project 0.25 "$class"
state 1 0 "$new"
expect_json out ok false
expect_json out counts.no_baseline 5
expect_json out 'tests[0].code' no-baseline
expect_json out 'tests[0].message' "nobody has accepted a picture for drivers of class 'mine'; 'stbuild approve' does"
state 0 5 "$new" --allow-new
expect_status 1 "$STBUILD" test
expect_text out 'not ok 1 - two words 4x2@0'
expect_no_text out TODO
expect_text err ', 5 without a baseline'
expect_status 0 "$STBUILD" test --allow-new --junit new.xml
expect_text out 'not ok 1 - two words 4x2@0 # TODO no baseline'
expect_text new.xml 'failures="0" errors="0" skipped="5"'
expect_text new.xml '<skipped message="baseline: nobody'

git init -q .
git config user.name t
git config user.email t@example.org
printf '/out\n/err\n/new*\n/first\n/merged\n/target\n/.stbuild\n' >.gitignore
git add .
git commit -qm first
expect_status 0 "$STBUILD" approve -n -m 'the first ones'
expect_text out 'two words: would write baselines (new, 4x2@0)'
[ ! -e baselines ] || fail 'written by -n'
expect_status 0 "$STBUILD" approve -m 'the first ones'
expect_equal "$(wc -l <baselines)" 5
LC_ALL=C sort -c baselines || fail 'not sorted'
# Hashes are those of the plain bytes: (64, 255 or 0, 0) in two rows of two.
sha=$(printf '\100\377\000\100\000\000\100\377\000\100\000\000' | sha256sum | cut -d' ' -f1)
expect_text baselines "two%20words 0 2x2 mine $sha $(git rev-parse HEAD) the first ones"
sha=$(printf '\0\0\0\77\0\0\0\300\0\0\0\77\0\0\200\77\0\0\300\77\0\0\0\300\0\0\0\77\0\0\200\77' | sha256sum | cut -d' ' -f1)
expect_text baselines "raw 0 4x2 mine $sha "
state 0 0 "$passed"
state 0 5 "$passed"
expect_status 0 "$STBUILD" approve
expect_text out 'raw: baselines is unchanged'

# Another picture: what was accepted is shown beside it.
cp baselines first
write_project 0.5 "$class"
state 1 0 'failed failed failed failed passed'
expect_json out 'tests[0].code' mismatch
expect_json out 'tests[0].metric' baseline
expect_pixel target/tests/two-words/4x2@0-expected.png 0 0 '64 255 0 255'
expect_pixel target/tests/two-words/4x2@0-actual.png 0 0 '128 255 0 255'
expect_pixel target/tests/two-words/4x2@0-diff.png 0 0 '255 0 0 255'
# A page shows what was accepted, and what has no baseline as such.
expect_status 1 "$STBUILD" test --report page --json
[ "$(grep -o '"expected":"' page/index.html | wc -l)" -ge 4 ] || fail 'no expected pictures'
rm -r page
mv baselines new
expect_status 1 "$STBUILD" test --report page
expect_text page/index.html '"status":"no-baseline"'
rm -r page
mv new baselines
# Both are right from now on; then the new ones alone.
expect_status 0 "$STBUILD" approve --add -m 'either way'
expect_equal "$(wc -l <baselines)" 9
state 0 1 "$passed"
write_project 0.25 "$class"
state 0 1 "$passed"
write_project 0.5 "$class"
cp first baselines
expect_status 0 "$STBUILD" approve -m 'brighter
on purpose'
expect_equal "$(wc -l <baselines)" 5
expect_equal "$(grep -c 'brighter on purpose$' baselines)" 4

# Other classes: the first pattern that fits, or what is known of the driver.
write_project 0.5 '{ "name": "no such", "pattern": "gpu-[0-9]" }, { "name": "a b", "pattern": "*[a-zA-Z]*" }'
state 1 0 "$new"
expect_json out 'tests[4].message' "nobody has accepted a picture for drivers of class 'a b'; 'stbuild approve' does"
expect_status 0 "$STBUILD" approve -m '# and 100%'
expect_equal "$(wc -l <baselines)" 10
expect_text baselines ' a%20b '
state 0 0 "$passed"
write_project 0.5 "$class"
state 0 1 "$passed"

# Comments stay; two branches merge line by line; what is no line is named.
printf '# Ours.\n\n' | cat - baselines >new
cp new baselines
write_project 0.75 "$class"
expect_status 0 "$STBUILD" approve
expect_equal "$(head -1 baselines)" '# Ours.'
git add -A
git commit -qm both
{ cat baselines; echo "zz 0 1x1 mine $sha - x"; } >new
cp new baselines
git commit -qam zz
git checkout -qb other HEAD~1
{ head -1 baselines; echo "aa 0 1x1 mine $sha - y"; sed 1d baselines; } >new
cp new baselines
git commit -qam aa
git merge -q main >merged 2>&1 || git merge -q master >merged 2>&1 || fail "$(cat merged)"
state 0 1 "$passed"
expect_equal "$(grep -c "^[az][az] 0 1x1 mine" baselines)" 2
# wrong TEXT MESSAGE
wrong()
{
	{ head -2 first; echo "$1"; } >baselines
	expect_status 2 "$STBUILD" test --json
	expect_json out error.file baselines
	expect_json out error.line 3
	expect_text err "$2"
}
wrong '<<<<<<< HEAD' 'a merge was not ended here'
wrong 'raw 0 4x2 mine' 'a line has TEST FRAME SIZE CLASS'
wrong "raw x 4x2 mine $sha - " 'the frame is no number'
wrong "raw 0 4x mine $sha - " 'the size is not WIDTHxHEIGHT'
wrong "raw 0 4x2 mine ${sha}0 - " '64 hex digits'
wrong "raw 0 4x2 mine $sha HEAD " 'neither 40 hex digits'
wrong "r%2 0 4x2 mine $sha - " 'no escape'
rm baselines
mkdir baselines
expect_status 2 "$STBUILD" test
expect_text err 'baselines is not a file'
rmdir baselines

# A revision is judged by its own file.
git checkout -q baselines
expect_status 0 "$STBUILD" test --rev HEAD
expect_status 1 "$STBUILD" test --rev "$(git rev-list --max-parents=0 HEAD)"

#!/bin/sh
# Tests that hang, crash, need too much memory or do not compile: each is its own
# failure, with a code; the others run. And how CI is told.

. "$SRCDIR/tests/lib.sh"
need_egl
unset CI GITHUB_ACTIONS GITHUB_WORKSPACE GITHUB_STEP_SUMMARY GITLAB_CI CI_PROJECT_DIR

write_project()
{
	cat >stbuild.json <<JSON
{
	"format": 1,
	"project": { "name": "faults & more" },
	"render": { "width": 8, "height": 4, "fps": 10 },
	"uniform": [ { "name": "n", "type": "float", "default": 0 } ],
	"pass": [
		{ "name": "image", "kind": "image", "source": "image.frag",
			"input": [ { "channel": 0, "source": "a" } ] },
		{ "name": "a", "kind": "buffer", "source": "a.frag", "format": "rgba32f",
			"input": [ { "channel": 0, "source": "a", "frame": "previous" } ] }
	],
	"test": [
		{ "name": "first", "frame": 1, "pass": "a", "assert_no_nan": true }$1,
		{ "name": "last", "frame": 2, "pass": "a", "mean_range": [0, 0.5] }
	]
}
JSON
}
echo 'void mainImage(out vec4 c, in vec2 p) { c = texelFetch(iChannel0, ivec2(p), 0); }' >image.frag
# Drivers may end loops after 65535 rounds, so it is many pixels that take minutes.
cat >a.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	float s = p.x * 0.01;
	if (n > 0.5 && iFrame > 0)
		for (int i = 0; i < 60000; i++)
			s = sin(sin(sin(sin(s + 0.3) + 0.1) + p.y) + p.x);
	c = vec4(s, 0.0, 0.0, 1.0);
}
GLSL
hang='{ "name": "hangs", "frame": 1, "width": 2048, "height": 2048, "pass": "a", "assert_no_nan": true, "uniforms": { "n": 1 } }'

# fault CODE TEXT: the second of three cases has it, the others passed.
fault()
{
	expect_json out 'tests[0].status' passed
	expect_json out 'tests[1].status' error
	expect_json out 'tests[1].code' "$1"
	expect_json out 'tests[2].status' passed
	expect_json out 'tests#' 3
	expect_json out counts.errors 1
	"$JSONQ" out 'tests[1].message' >message
	expect_text message "$2"
}

write_project ",$hang"
expect_status 1 "$STBUILD" test --json --timeout 1
fault timeout "pass 'a' at frame 1 took longer than 1 s"

# Ended from outside: the renderer that draws for longest is the one that hangs.
# died SIGNAL CODE TEXT
died()
{
	"$STBUILD" test --json --timeout 60 >out 2>err &
	pid=$!
	n=0
	sleep 1
	while ! child=$(pgrep -P $pid) && [ $n -lt 100 ]; do
		sleep 0.1
		n=$((n + 1))
	done
	kill -s "$1" "$child"
	got=0
	wait $pid || got=$?
	expect_equal "$got" 1 "$(cat err)"
	fault "$2" "$3"
}
if command -v pgrep >/dev/null; then
	# AddressSanitizer makes a report of its own of this signal.
	[ "${ASAN_OPTIONS:-}" ] ||
		died SEGV crash "the renderer died (signal 11 (SIGSEGV)) in pass 'a' at frame 1"
	died KILL memory "in pass 'a' at frame 1"
fi

# 4 GiB a texture, in less than that. Memory checkers need all that there is.
write_project ',{ "name": "huge", "frame": 0, "width": 16384, "height": 16384, "assert_no_nan": true }'
case ${ASAN_OPTIONS:-} in
'')
	# shellcheck disable=SC3045 # dash and bash have it
	(ulimit -v 3500000 && expect_status 1 "$STBUILD" test --json)
	fault memory '16384 x 16384'
	fault memory "pass 'a' at frame 0"
	;;
esac

# Does not compile: then it is so for all, each with the place.
write_project ''
cp a.frag good.frag
edit a.frag 's/p.x/q.x/'
expect_status 1 "$STBUILD" test --json
expect_json out 'tests[0].code' compile
expect_json out 'tests[1].code' compile
expect_status 1 "$STBUILD" test --github
expect_text out '  code: compile'
expect_text out '::error file=a.frag,line=3,'
expect_text out 'title=first 8x4@1%3A compile::'
# In a folder of what GitHub checked out; on by itself there.
expect_status 1 env GITHUB_ACTIONS=true GITHUB_WORKSPACE="$(dirname "$(pwd)")" "$STBUILD" test
expect_text out "::error file=$(basename "$(pwd)")/a.frag,line=3,"
expect_status 1 env GITHUB_ACTIONS=true "$STBUILD" test --json
expect_json out ok false
expect_text err '::error file=a.frag'
expect_status 1 "$STBUILD" test
expect_no_text out '::error'
cp good.frag a.frag

# Pictures: none yet, and another one.
row=',{ "name": "shown: a,b 50%", "frame": 1, "reference": "ref.png" }'
write_project "$row"
expect_status 1 "$STBUILD" test --json
expect_json out 'tests[1].status' failed
expect_json out 'tests[1].code' missing-reference
expect_json out 'tests[0].code' null
expect_status 0 "$STBUILD" approve
cp a.frag good.frag
edit a.frag 's/p.x \* 0.01/p.x * 0.04/'
expect_status 1 "$STBUILD" test --json
expect_json out 'tests[1].code' mismatch
expect_json out 'tests[1].checks[0].code' mismatch
t='target/tests/shown--a-b-50/8x4@1'
for what in expected actual; do
	expect_json out "tests[1].pictures.$what" $t-$what.png
	[ -s $t-$what.png ] || fail "no $what"
done
expect_json out 'tests[1].pictures.difference' $t-diff.png
# Kept verdicts have them as well.
expect_status 1 "$STBUILD" test --json
expect_json out 'tests[1].cached' true
expect_json out 'tests[1].pictures.difference' $t-diff.png

echo before >summary.md
expect_status 1 env GITHUB_STEP_SUMMARY=summary.md "$STBUILD" test --github --junit report.xml
expect_text out '  code: mismatch'
expect_text out "  difference: \"$t-diff.png\""
line=$(grep -n '"shown' stbuild.json | cut -d: -f1)
expect_text out "::error file=stbuild.json,line=$line,title=shown%3A a%2Cb 50%25 8x4@1%3A mismatch::rmse is "
expect_text out "%0Adifference%3A $t-diff.png"
expect_text summary.md before
expect_text summary.md '2 passed, 1 failed, 0 errors'
expect_text summary.md '| shown: a,b 50% | 8x4@1 | mismatch | rmse is '
expect_text report.xml '<testsuite name="faults &amp; more" tests="3" failures="1" errors="0" skipped="0" time="'
expect_text report.xml '<failure type="mismatch" message="rmse is '
expect_text report.xml "[[ATTACHMENT|$(pwd)/$t-diff.png]]"
expect_status 1 env GITLAB_CI=true CI_PROJECT_DIR="$(dirname "$(pwd)")" "$STBUILD" test --junit gitlab.xml
expect_text gitlab.xml "[[ATTACHMENT|$(basename "$(pwd)")/$t-diff.png]]"
# One attachment a line, the difference first.
expect_equal "$(grep -c '^\[\[ATTACHMENT|.*\]\]$' report.xml)" 3
expect_equal "$(grep -n ATTACHMENT report.xml | head -1 | grep -c diff.png)" 1
if command -v xmllint >/dev/null; then
	xmllint --noout --schema "$SRCDIR/tests/junit.xsd" report.xml gitlab.xml 2>message ||
		fail "$(cat message)"
	# The schema does find faults.
	sed 's/ time="[0-9.]*"//' report.xml >wrong.xml
	! xmllint --noout --schema "$SRCDIR/tests/junit.xsd" wrong.xml 2>message ||
		fail 'the schema takes a case without a time'
fi
if command -v prove >/dev/null; then
	cat >run.sh <<E2
#!/bin/sh
exec "$STBUILD" test
E2
	chmod +x run.sh
	expect_status 1 prove -v --exec '' ./run.sh
	expect_text out 'Failed 1/3 subtests'
	cp good.frag a.frag
	expect_status 0 prove --exec '' ./run.sh
	expect_text out 'Tests=3'
fi

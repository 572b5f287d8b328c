#!/bin/sh
# Whatever ends a run, and whenever: what was finished is kept, no half bundle
# is ever seen, and the next run completes with what was missing.

. "$SRCDIR/tests/lib.sh"
need_egl
need_tool timeout
need_tool ps

# write_project FRAMES ROUNDS: a simulation and what shows it.
write_project()
{
	cat >stbuild.json <<JSON
{
	"format": 1,
	"project": { "name": "kill" },
	"render": { "width": 64, "height": 36 },
	"uniform": [ { "name": "rounds", "type": "int", "default": $2 } ],
	"pass": [
		{ "name": "image", "kind": "image", "source": "image.frag",
			"input": [ { "channel": 0, "source": "sim" } ] },
		{ "name": "sim", "kind": "buffer", "source": "sim.frag",
			"input": [ { "channel": 0, "source": "sim", "frame": "previous" } ] }
	],
	"trace": [ { "name": "t", "frames": $1 } ]
}
JSON
	cat >sim.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = texelFetch(iChannel0, ivec2(p), 0) + vec4(1.0, p, 1.0) / 64.0;
	for (int i = 0; i < rounds; i++)
		c.a = sin(c.a + c.r);
}
GLSL
	cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = texelFetch(iChannel0, ivec2(p), 0) / 4.0;
}
GLSL
}

# Every bundle that can be seen is whole.
all_whole()
{
	set -- target/traces/*.sttrace
	[ -e "$1" ] || return 0
	expect_status 0 "$STBUILD" inspect "$@"
}

# Nothing else is there: what killed processes were filling was removed.
only_bundles()
{
	find target/traces ! -path target/traces ! -path 'target/traces/t@*.sttrace*' >left
	[ ! -s left ] || fail "left behind: $(cat left)"
}

# How many draws are missing, into $planned.
plan()
{
	expect_status 0 "$STBUILD" -n --json
	planned=$("$JSONQ" out counts.nodes_drawn)
}

# start [OPTION..]: a run in the background, as $run.
start()
{
	"$STBUILD" "$@" >run.out 2>run.err </dev/null &
	run=$!
}

# wait_for FILE: that the run makes.
wait_for()
{
	tries=0
	while [ ! -e "$1" ]; do
		kill -0 $run 2>/dev/null || fail "the run ended: $(cat run.err)"
		tries=$((tries + 1))
		[ $tries -lt 600 ] || fail "no $1 after a minute"
		sleep 0.1
	done
}

# ended STATUS: of the run.
ended()
{
	got=0
	wait $run || got=$?
	expect_equal "$got" "$1" "$(cat run.err)"
}

# The worker dies.
mkdir long && cd long
write_project '[ 0, 1, 2, 1500 ]' 200
start
wait_for target/traces/t@2.sttrace
worker=$(ps -A -o pid= -o ppid= | awk -v run=$run '$2 == run { print $1; exit }')
[ "$worker" ] || fail 'no worker'
kill -9 "$worker"
ended 1
expect_text run.err 't@1500: '
grep -q "pass '[a-z]*' at frame [0-9][0-9]*" run.err ||
	fail "no pass and frame: $(cat run.err)"
expect_text run.err SIGKILL
all_whole
plan
only_bundles
expect_equal "$(echo target/traces/*)" \
	'target/traces/t@0.sttrace target/traces/t@1.sttrace target/traces/t@2.sttrace'

# Somebody ends the run: what it finished is kept.
start
wait_for .stbuild/lock
sleep 0.5
kill -TERM $run
ended 143
all_whole
before=$planned
plan
[ "$planned" -le "$before" ] || fail "$planned draws left, of $before"
got=0
timeout --preserve-status -s INT 1 "$STBUILD" >out 2>err || got=$?
expect_equal $got 130 "$(cat err)"
all_whole
plan
[ "$planned" -le "$before" ] || fail "$planned draws left, of $before"
expect_status 0 "$STBUILD" --json
expect_bundles current current current built
[ "$("$JSONQ" out counts.nodes_drawn)" -le "$planned" ] ||
	fail "more draws than $planned: $(cat out)"

# What an interrupted run did not come to is not current, now or later.
sleep 2.2
edit sim.frag 's/64.0/32.0/'
sleep 2.2
: >mark
start --json t@1500
tries=0
while [ ! "$(find .stbuild/objects -type f -newer mark)" ]; do
	tries=$((tries + 1))
	[ $tries -lt 600 ] || fail 'no state is stored after a minute'
	sleep 0.1
done
kill -TERM $run
ended 143
expect_json run.out ok false
expect_json run.out error.message 'interrupted by signal 15'
expect_json run.out 'traces#' 1
expect_json run.out 'traces[0].status' stale
expect_json run.out counts.traces_current 0
expect_status 1 "$STBUILD" -q t@1500
cd ..

# The parent dies at twenty moments of a run of many bundles.
mkdir many && cd many
write_project '[ "0:48:2" ]' 1
start_ms=$(date +%s%3N)
case $start_ms in *[!0-9]*) skip 'no GNU date' ;; esac
capture 0 74
length=$(($(date +%s%3N) - start_ms))
for dir in target/traces/*.sttrace; do
	pictures "$dir"
done >all
seed=${SEED:-1}
kills=0
while [ $kills -lt 20 ]; do
	rm -rf .stbuild target
	planned=74
	while [ $kills -lt 20 ] && [ "$planned" -gt 0 ]; do
		seed=$(((seed * 1103515245 + 12345) % 2147483648))
		ms=$((seed / 65536 % length))
		start
		sleep "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
		kill -9 $run 2>/dev/null || true
		wait $run 2>/dev/null || true
		kills=$((kills + 1))
		all_whole
		n=0
		for dir in target/traces/*.sttrace; do
			[ ! -e "$dir" ] || n=$((n + 1))
		done
		before=$planned
		plan
		[ "$planned" -le "$before" ] ||
			fail "$planned draws left, of $before before"
		# Two passes a bundle that stands, at least, need no draw.
		[ "$planned" -le $((74 - 2 * n)) ] ||
			fail "$planned draws left with $n bundles"
		done=$("$JSONQ" out counts.traces_current)
		[ "$done" -le $n ] || fail "$done bundles are current, of $n"
	done
	expect_status 0 "$STBUILD" --json
	[ "$("$JSONQ" out counts.nodes_drawn)" -le "$planned" ] ||
		fail "more draws than $planned: $(cat out)"
	for dir in target/traces/*.sttrace; do
		pictures "$dir"
	done >now
	expect_same all now
	# Nothing is left of those that were killed.
	only_bundles
done
capture 0 0
cd ..

# The disk is full: said so, and what was stored is kept.
if unshare -rm true 2>/dev/null; then
	mkdir full && cd full
	write_project '[ "0:6" ]' 1
	mkdir disk
	cat >full.sh <<'SH'
. "$SRCDIR/tests/lib.sh"
mount -t tmpfs -o size=300k none disk || exit 77
cp stbuild.json *.frag disk/
expect_status 3 "$STBUILD" -C disk
grep -q 'No space left\|disk is full' err || fail "not told: $(cat err)"
set -- disk/target/traces/*.sttrace
[ ! -e "$1" ] || expect_status 0 "$STBUILD" inspect "$@"
mount -o remount,size=100m disk
expect_status 0 "$STBUILD" -C disk --json
[ "$("$JSONQ" out counts.nodes_drawn)" -le 14 ] || fail 'too many draws'
expect_status 0 "$STBUILD" -C disk -q
SH
	got=0
	unshare -rm sh -eu full.sh >full.log 2>&1 || got=$?
	case $got in
	0|77) ;;
	*) fail "on a full disk: $(cat full.log)" ;;
	esac
	cd ..
fi

# A file may not grow: the same, not a signal.
mkdir limit && cd limit
write_project '[ 0, 1 ]' 1
got=0
(ulimit -f 16 && exec "$STBUILD") >out 2>err || got=$?
expect_equal $got 3 "$(cat err)"
expect_text err 'File too large'
all_whole
capture 0 4

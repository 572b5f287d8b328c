# For the scripts in tests/scripts: . "$SRCDIR/tests/lib.sh"
#
# A script runs in an empty folder of its own, with STBUILD (the program),
# JSONQ, SRCDIR, BUILDDIR and HOME set. It ends at the first thing that is not as
# expected.
# shellcheck shell=sh

set -eu

PIXEL=${BUILDDIR:-.}/tests/tool/pixel

fail()
{
	printf 'failed: %s\n' "$*" >&2
	exit 1
}

skip()
{
	printf 'skip: %s\n' "$*" >&2
	exit 77
}

# For scripts that draw.
need_egl()
{
	[ "$HAVE_EGL" = yes ] || skip 'no EGL'
}

need_tool()
{
	command -v "$1" >/dev/null || skip "$1 is not installed"
}

can_strace()
{
	command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null
}

# strace, without looking for leaks: that does not work under it.
run_strace()
{
	ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 strace "$@"
}

# expect_status N COMMAND...: its stdout is in ./out, its stderr in ./err.
expect_status()
{
	want=$1
	shift
	got=0
	"$@" >out 2>err </dev/null || got=$?
	[ "$got" = "$want" ] && return 0
	printf -- '--- stdout\n' >&2
	cat out >&2
	printf -- '--- stderr\n' >&2
	cat err >&2
	fail "status $got, not $want: $*"
}

# expect_text FILE TEXT: some line of the file has the text.
expect_text()
{
	grep -qF -e "$2" "$1" && return 0
	cat "$1" >&2
	fail "no '$2' in $1"
}

expect_no_text()
{
	grep -qF -e "$2" "$1" || return 0
	cat "$1" >&2
	fail "'$2' in $1"
}

# expect_json FILE PATH VALUE: see tests/tool/jsonq.c.
expect_json()
{
	value=$("$JSONQ" "$1" "$2") || fail "no $2 in $1: $(cat "$1")"
	[ "$value" = "$3" ] || fail "$2 in $1 is '$value', not '$3': $(cat "$1")"
}

expect_same()
{
	cmp "$1" "$2" || fail "$1 and $2 differ"
}

expect_equal()
{
	[ "$1" = "$2" ] || fail "'$1' is not '$2'${3:+ ($3)}"
}

# expect_pixel FILE.png X Y 'R G B A': from the top left.
# expect_pixel FILE.rgba32f WIDTH X Y 'R G B A': floats, from the bottom left.
expect_pixel()
{
	file=$1
	if [ $# = 4 ]; then
		value=$("$PIXEL" "$1" "$2" "$3") && shift 3
	else
		value=$("$PIXEL" "$1" "$2" "$3" "$4") && shift 4
	fi || fail "no pixel in $file"
	[ "$value" = "$1" ] || fail "a pixel of $file is '$value', not '$1'"
}

# capture STATUS NDRAWN [OPTION..]: runs capture, and holds it to the number of
# draws. Its document is in ./out, its messages are in ./err.
capture()
{
	want_status=$1 want_drawn=$2
	shift 2
	expect_status "$want_status" "$STBUILD" capture --json "$@"
	value=$("$JSONQ" out counts.nodes_drawn) || fail "no counts: $(cat out)"
	[ "$value" = "$want_drawn" ] ||
		fail "$value draws, not $want_drawn: $* $(cat out)"
}

# expect_bundles STATUS..: what the last capture did, in order.
expect_bundles()
{
	n=0
	for want; do
		expect_json out "traces[$n].status" "$want"
		n=$((n + 1))
	done
	expect_json out 'traces#' $n
}

# edit FILE SCRIPT: sed that must change something.
edit()
{
	sed "$2" "$1" >edit.new
	! cmp -s "$1" edit.new || fail "'$2' changes nothing in $1"
	cat edit.new >"$1"
	rm edit.new
}

# pictures DIR: hashes of what a bundle shows and keeps: all but its texts.
pictures()
{
	(cd "$1" && find . -type f ! -name trace.json ! -name project.sttf |
		LC_ALL=C sort | xargs cksum)
}

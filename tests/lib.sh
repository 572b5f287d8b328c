# For the scripts in tests/scripts: . "$SRCDIR/tests/lib.sh"
#
# A script runs in an empty folder of its own, with STBUILD (the program),
# JSONQ, SRCDIR and HOME set. It ends at the first thing that is not as
# expected.
# shellcheck shell=sh

set -eu

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

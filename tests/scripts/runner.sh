#!/bin/sh
# The runner itself: what fails, fails; nothing run is a failure.

. "$SRCDIR/tests/lib.sh"

mkdir -p src/tests/scripts src/tests/lint build
cp "$SRCDIR/tests/run" "$SRCDIR/tests/lib.sh" "$SRCDIR/tests/lsan.supp" src/tests/

run()
{
	env BUILDDIR=build SRCDIR=src COMPILE=false CI="$ci" src/tests/run "$@"
}
test_is()
{
	printf '%s\n' "$2" >"src/tests/scripts/$1.sh"
}

ci=
expect_status 1 run check
expect_text out 'no test was run'
expect_equal "$(tail -n 1 out)" '0 passed, 1 failed'

# shellcheck disable=SC2016
test_is good 'test -d "$HOME" && test "$(pwd)" = "$DIR"'
expect_status 0 run check
expect_equal "$(tail -n 1 out)" '1 passed, 0 failed'

test_is absent 'echo "skip: no EGL here"; exit 77'
test_is other 'echo "skip: no such tool"; exit 77'
expect_status 0 run check
expect_equal "$(tail -n 1 out)" '1 passed, 0 failed, 2 skipped'
ci=true
expect_status 1 run check
expect_equal "$(tail -n 1 out)" '1 passed, 1 failed, 1 skipped'
ci=

test_is silent 'exit 77'
test_is bad 'echo because of this; exit 3'
# shellcheck disable=SC2016
test_is killed 'kill -9 $$'
# shellcheck disable=SC2016
test_is report 'path=${ASAN_OPTIONS#*log_path=}; echo leak >"${path%%:*}.1"'
expect_status 1 run check
expect_equal "$(tail -n 1 out)" '1 passed, 4 failed, 2 skipped'
expect_text out 'because of this'
expect_text out 'skipped without a reason'
expect_text out '(status 3)'
expect_text out 'leak'

# A pattern chooses.
expect_status 0 run check 'script/g*'
expect_equal "$(tail -n 1 out)" '1 passed, 0 failed'
expect_status 1 run check 'script/nothing'

#!/bin/sh

cd "$SRCDIR" || exit 1
if ! command -v shellcheck >/dev/null; then
	echo 'skip: shellcheck is not installed'
	exit 77
fi
# Sourced files are checked on their own (SC1090, SC1091).
# shellcheck disable=SC2046
exec shellcheck -e SC1090,SC1091 configure tests/run \
	$(test -f .ci/run && echo .ci/run) \
	$(find tests -name '*.sh' -o -path '*/bench/run')

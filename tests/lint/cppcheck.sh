#!/bin/sh

cd "$SRCDIR" || exit 1
if ! command -v cppcheck >/dev/null; then
	echo 'skip: cppcheck is not installed'
	exit 77
fi
# arrayIndexOutOfBoundsCond takes a test's literal for every caller's string.
exec cppcheck --quiet --std=c11 --error-exitcode=1 --inline-suppr \
	--enable=warning,performance,portability --max-configs=2 \
	--suppress=missingIncludeSystem --suppress=arrayIndexOutOfBoundsCond \
	--include=tests/lint/macros.h -Iinclude/stbuild -D_XOPEN_SOURCE=700 -D__linux__ \
	'-DSTBUILD_VERSION="0"' src tests/unit tests/tool

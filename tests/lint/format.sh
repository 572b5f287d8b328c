#!/bin/sh
# The layout of C files is clang-format's, of version 14 (.clang-format).

cd "$SRCDIR" || exit 1
for format in clang-format-14 clang-format; do
	case $($format --version 2>/dev/null) in
	*'version 14.'*)
		find src include tests \( -name '*.c' -o -name '*.h' \) \
			-exec $format --dry-run -Werror {} +
		exit
		;;
	esac
done
echo 'skip: clang-format 14 is not installed'
exit 77

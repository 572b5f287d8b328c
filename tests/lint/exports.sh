#!/bin/sh
# What the program does not use is gone, and what one file alone uses is static.
# Unit tests may see inside a file; that does not keep a function alive.

cd "$SRCDIR" || exit 1

# Lines of "symbol type file" for the objects of C files.
symbols()
{
	(cd "$BUILDDIR" && for file in "$@"; do
		echo "${file%.c}.o"
	done | xargs nm -A -P) |
		sed -n 's/^\(.*\)\.o: \([A-Za-z0-9_]*\) \([A-Z]\) .*/\2 \3 \1.c/p'
}
symbols src/*/*.c >"$DIR/program"
symbols tests/unit/*.c tests/tool/*.c tests/fuzz/*.c >"$DIR/tests"

awk '
	$2 != "U" && FILENAME ~ /program$/ { home[$1] = $3 }
	$2 == "U" { used[$1 FILENAME] = 1 }
	END {
		for (name in home)
			if (name != "main" && !(name "'"$DIR/program"'" in used))
				print home[name], name, (name "'"$DIR/tests"'" in used)
	}' "$DIR/program" "$DIR/tests" | sort >"$DIR/alone"

status=0
while read -r file name tested; do
	if [ "$tested" = 0 ]; then
		echo "$file: only this file uses $name: it should be static"
		status=1
	elif [ "$(grep -cw "$name" "$file")" -lt 2 ]; then
		echo "$file: only tests call $name"
		status=1
	fi
done <"$DIR/alone"
n=$(grep -c ' U ' "$DIR/program")
[ "$n" -gt 100 ] || { echo "only $n uses were found"; status=1; }
exit $status

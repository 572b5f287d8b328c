#!/bin/sh
# No trailing white space, no line above 100 columns, a newline at the end.
# Scripts of tests hold JSON and GLSL in here-documents: 140.

cd "$SRCDIR" || exit 1
status=0
n=0
for file in configure Makefile.in .ci/run *.md $(find src include tests man \
	examples -name "*.[ch]" -o -name "*.def" -o -name "*.sh" \
	-o -name "*.[1-9]" -o -name run 2>/dev/null)
do
	test -f "$file" || continue
	n=$((n + 1))
	grep -nE '[[:space:]]+$' "$file" | sed "s|^|$file: white space at the end: |"
	! grep -qE '[[:space:]]+$' "$file" || status=1
	if [ -n "$(tail -c 1 "$file")" ]; then
		echo "$file: no newline at the end"
		status=1
	fi
	case $file in
	*.md|*.[1-9]) continue ;;
	tests/*.sh) max=140 ;;
	*) max=100 ;;
	esac
	expand "$file" | awk -v f="$file" -v max="$max" 'length > max { print f ":" NR \
		": " length " columns"; bad = 1 } END { exit bad }' || status=1
done
[ $n -gt 10 ] || { echo "only $n files were looked at"; status=1; }
exit $status

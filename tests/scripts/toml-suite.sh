#!/bin/sh
# The public toml-test suite, version 1.0.0 of the language. TOML_TEST is the
# folder that holds its files-toml-1.0.0; with Go and a network it can be had by
#
#	go mod download -json github.com/toml-lang/toml-test@v1.6.0
#
# which prints where it is ("Dir"; the folder is its tests/).

. "$SRCDIR/tests/lib.sh"

[ "${TOML_TEST:-}" ] || skip 'TOML_TEST is not set'
tagged=$BUILDDIR/tests/tool/toml-tagged
valid=0 invalid=0 bad=0
while read -r file; do
	case $file in
	valid/*.toml)
		if "$tagged" "$TOML_TEST/${file%.toml}.json" \
			<"$TOML_TEST/$file" 2>err; then
			valid=$((valid + 1))
			continue
		fi ;;
	invalid/*.toml)
		status=0
		"$tagged" <"$TOML_TEST/$file" >out 2>err || status=$?
		if [ $status = 1 ]; then
			invalid=$((invalid + 1))
			continue
		fi ;;
	*)	continue ;;
	esac
	bad=$((bad + 1))
	printf '%s: %s\n' "$file" "$(cat err)"
done <"$TOML_TEST/files-toml-1.0.0"
echo "$valid valid and $invalid invalid documents passed, $bad failed"
[ $bad = 0 ] && [ $valid -ge 150 ] && [ $invalid -ge 300 ]

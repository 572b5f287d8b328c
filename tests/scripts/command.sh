#!/bin/sh
# What all commands share: help, versions, option order, statuses, errors.

. "$SRCDIR/tests/lib.sh"

# Help.
expect_status 0 "$STBUILD" help
expect_text out 'usage: stbuild [OPTION..] [TARGET..]'
expect_text out '  check '
expect_text out '--timeout S'
cp out all
expect_status 0 "$STBUILD" -h
expect_same out all
expect_status 0 "$STBUILD" check -h
expect_text out 'usage: stbuild check [--pedantic]'
expect_text out '  --pedantic'
cp out check
expect_status 0 "$STBUILD" help check
expect_same out check
expect_status 0 "$STBUILD" -h check
expect_same out check
expect_status 0 "$STBUILD" help --json
expect_json out ok true
expect_json out 'commands[0].name' init
cp out all
expect_status 0 "$STBUILD" --json -h
expect_same out all
expect_status 0 "$STBUILD" check -h --json
expect_json out 'commands[0].name' check
expect_json out 'commands#' 1
expect_status 2 "$STBUILD" completion bash --json
expect_json out ok false
expect_status 2 "$STBUILD" help chekc
expect_text err "stbuild: unknown command 'chekc'; did you mean 'check'?"
expect_status 0 "$STBUILD" help --schema
expect_json out type object

# Every command of the list has help of its own.
"$STBUILD" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' >names
[ "$(wc -l <names)" -gt 20 ] || fail "few commands: $(cat names)"
while read -r name; do
	expect_status 0 "$STBUILD" "$name" -h
	expect_text out "usage: stbuild $name"
done <names

# Versions.
expect_status 0 "$STBUILD" version
head -1 out >first
grep -q '^stbuild [0-9][0-9.]*$' first || fail "version: $(cat first)"
cp out all
expect_status 0 "$STBUILD" --version
expect_same out all
expect_status 0 "$STBUILD" --json version
expect_json out action version
expect_equal "stbuild $("$JSONQ" out version)" "$(cat first)"
"$JSONQ" out libraries.sqlite3 >/dev/null || fail 'no version of sqlite3'

# Faults of the command line.
expect_status 2 "$STBUILD" --jsno version
expect_text err "unknown option '--jsno', did you mean '--json'?, see 'stbuild -h'"
expect_equal "$(wc -c <out)" 0
expect_status 2 "$STBUILD" version --pedantc
expect_text err "see 'stbuild version -h'"
expect_status 2 "$STBUILD" version extra
expect_text err "stbuild: unexpected operand 'extra', see 'stbuild version -h'"
expect_status 2 "$STBUILD" version --json extra
expect_json out ok false
expect_json out action version
expect_json out error.message "unexpected operand 'extra', see 'stbuild version -h'"
expect_status 2 "$STBUILD" version --bogus --json
expect_json out ok false
expect_status 2 "$STBUILD" --color=blue version
expect_text err "'blue' is not auto, always or never"
expect_status 2 "$STBUILD" --timeout=-1 version
expect_status 2 "$STBUILD" -C nowhere version
expect_text err "cannot go to folder 'nowhere'"

# Options on either side, folders one after the other, bundled letters.
mkdir -p a/b
expect_status 0 "$STBUILD" -C a -C b init
[ -f a/b/stbuild.json ] || fail 'init did not follow -C -C'
expect_status 0 "$STBUILD" graph -C a --json -C b
expect_json out project b
expect_status 0 "$STBUILD" -ksC a/b graph
expect_status 0 "$STBUILD" graph -f a/b/stbuild.json --json
expect_json out project b

# The nearest manifest above is the project, up to a repository's root.
mkdir -p a/b/deep/er a/c/.git a/c/d
expect_status 0 "$STBUILD" -C a/b/deep/er graph --json
expect_json out project b
cp a/b/stbuild.json a/
cp -R a/b/shaders a/
expect_status 0 "$STBUILD" -C a/b graph --json
expect_status 2 "$STBUILD" -C a/c/d graph
expect_text err 'no stbuild.json, stbuild.toml or ShaderToy.toml in this folder'
expect_status 2 "$STBUILD" graph -f nowhere.json
expect_text err "'nowhere.json' does not exist"
expect_status 2 "$STBUILD" graph -f a
expect_text err "'a' is a folder"

# All errors of a manifest, each with its place; the first is "error".
mkdir bad
cat >bad/stbuild.json <<'JSON'
{
	"format": 1,
	"project": { "name": "bad", "colour": 1 },
	"render": { "width": 0 },
	"pass": [ { "name": "i", "kind": "image", "source": "none.frag" } ]
}
JSON
expect_status 2 "$STBUILD" -C bad graph --json
expect_json out ok false
expect_json out action graph
expect_json out error.line 3
expect_json out error.file stbuild.json
expect_json out 'errors#' 3
expect_equal "$(grep -c '^stbuild: stbuild.json:' err)" 3 "$(cat err)"

# Output that is lost is an error, a reader that went away a quiet one.
if [ -c /dev/full ]; then
	got=0
	"$STBUILD" help >/dev/full 2>err || got=$?
	expect_equal "$got" 3
	expect_text err 'stbuild: cannot write to standard output'
fi
got=0
"$STBUILD" help >&- 2>err || got=$?
expect_equal "$got" 3
expect_text err 'stbuild: cannot write to standard output'
mkfifo pipe
(got=0; "$STBUILD" help >pipe 2>err || got=$?; echo "$got" >status) &
exec 3<pipe
exec 3<&-
wait
case $(cat status) in
0) ;;	# all had been written when the reader left
141) expect_equal "$(wc -c <err)" 0 "$(cat err)" ;;
*) fail "status $(cat status) without a reader" ;;
esac

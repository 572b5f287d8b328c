#!/bin/sh
# The manuals against the program: commands, synopses, options, keys of the
# manifest; and what the manuals show as examples is run.

. "$SRCDIR/tests/lib.sh"

need_tool mandoc
need_tool git
man=$SRCDIR/man

# The synopsis of a page, in one line.
page_synopsis()
{
	mandoc -T ascii -O width=200 "$1" | sed 's/.'"$(printf '\b')"'//g' |
		sed -n '/^SYNOPSIS$/,/^DESCRIPTION$/p' | sed '1d;$d' |
		tr -s ' \n' '  ' | sed 's/^ *//; s/ *$//'
}

# The same from what -h prints.
help_synopsis()
{
	sed '/^$/q' "$1" | sed 's/^usage://' | tr -s ' \n' '  ' |
		sed 's/^ *//; s/ *$//'
}

# Names of options in a page: those of its ".It Fl" lines.
page_options()
{
	awk '$1 == ".It" && $2 == "Fl" {
		for (i = 3; i <= NF; i++)
			if ($i != "Fl" && ($(i - 1) == "Fl" || $(i - 1) == ","))
				print "-" $i
	}' "$1" | sort
}

# Names in a section of what -h prints.
help_options()
{
	sed -n "/^$2:\$/,/^\$/p" "$1" | grep '^  *-' | awk '{
		print $1
		if ($1 ~ /,$/)
			print $2
	}' | sed 's|[[,=].*||' | sort
}

compare()
{
	[ "$1" = "$2" ] || fail "$3: the page has
$1
and the program has
$2"
}

# A page for each command that is built, and for no other.
expect_status 0 "$STBUILD" help --json
n=$("$JSONQ" out 'commands#')
[ "$n" -gt 0 ] || fail 'no commands'
i=0
while [ $i -lt "$n" ]; do
	name=$("$JSONQ" out "commands[$i].name")
	built=$("$JSONQ" out "commands[$i].is_built")
	page=$man/stbuild-$name.1
	if [ "$built" = true ]; then
		[ -f "$page" ] || fail "'$name' has no page"
	elif [ -f "$page" ]; then
		fail "'$name' has a page, but is not built"
	fi
	i=$((i + 1))
done

for page in "$man"/stbuild*.1; do
	name=${page##*/stbuild}
	name=${name%.1}
	name=${name#-}
	# shellcheck disable=SC2086
	expect_status 0 "$STBUILD" $name -h
	compare "$(page_synopsis "$page")" "$(help_synopsis out)" "$page"
	section='Options'
	[ -n "$name" ] || section='Options, before or after the command'
	compare "$(page_options "$page")" "$(help_options out "$section")" "$page"
done

# Each key of the schema is in the manual, and the other way round.
expect_status 0 "$STBUILD" help --schema
grep -o '"[a-z_]*":	{\|".schema":	{' out | tr -d '":	{' |
	grep -vx 'properties\|items\|contains\|not\|if\|then\|else' | sort -u >schema_keys
[ -s schema_keys ] || fail 'no keys in the schema'
sed -n '/^\.Sh KEYS/,/^\.Sh GLSL/p' "$man/stbuild.json.5" |
	sed -n 's/^\.It Ic //p' | tr -d ',' | tr -s ' ' '\n' >keys
sed -n '/^\.Sh KEYS/,/^\.Sh GLSL/p' "$man/stbuild.json.5" >key_text
while read -r key; do
	grep -qxF "$key" keys || grep -q "^\.Ic $key\( \|\$\)" key_text ||
		fail "stbuild.json(5) does not have '$key'"
done <schema_keys
while read -r key; do
	grep -qxF "$key" schema_keys || fail "no key '$key' in the schema"
done <keys

# The manifest that the manual shows is one.
mkdir clock
mandoc -T ascii "$man/stbuild.json.5" | sed 's/.'"$(printf '\b')"'//g' |
	sed -n '/^EXAMPLES$/,/^SEE ALSO$/p' | sed '1d;$d' >clock/stbuild.json
touch clock/trail.frag clock/image.frag
expect_status 0 "$STBUILD" -C clock graph
expect_text out 'iChannel0: trail (previous frame), nearest, repeat'

need_egl

# The examples of each page, in a repository with the example projects.
mkdir start
cp -R "$SRCDIR/examples" start/
chmod -R u+w start
find start \( -name target -o -name .stbuild \) -prune -exec rm -rf {} +
git -C start init -q
git -C start add .
git -C start commit -qm 'examples'
PATH=$(dirname "$STBUILD"):$PATH
export PATH
nrun=0
for page in "$man"/*.1; do
	sed -n 's/^\.Dl \$ //p' "$page" >commands
	[ -s commands ] || fail "$page has no examples"
	rm -rf work
	cp -R start work
	while read -r line; do
		(cd work && sh -c "$line") >out 2>err </dev/null || {
			status=$?
			cat out err >&2
			fail "status $status in $page: $line"
		}
		nrun=$((nrun + 1))
	done <commands
done
[ $nrun -gt 0 ] || fail 'no example was run'

# The day that the README shows.
# shellcheck disable=SC2016
sed -n '/^## A day/,/^## /p' "$SRCDIR/README.md" |
	sed -n '/^```sh$/,/^```$/p' | sed '1d;$d' >day.sh
expect_text day.sh 'stbuild init'
EDITOR='sed -i.orig s/24/30/'
export EDITOR
GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.com
GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@example.com
export GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
expect_status 0 sh -e day.sh
expect_text out 'picture bit-exact, state equal'

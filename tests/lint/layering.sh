#!/bin/sh
# Lower layers do not include higher ones, and each library has one folder that
# sees it.

cd "$SRCDIR" || exit 1
status=0

complain()
{
	printf '%s\n' "$2" | sed "s/^/$1: /"
	status=1
}

# Text before the colon is what a folder may include besides itself.
for rule in \
	'util' \
	'glsl util project' \
	'project util glsl' \
	'vcs util project' \
	'graph util glsl project vcs' \
	'render util glsl project vcs graph' \
	'store util glsl project vcs graph render' \
	'format util glsl project vcs graph render store' \
	'import util glsl project graph format' \
	'why util glsl project vcs graph store' \
	'capture util glsl project vcs graph render store format' \
	'verify util glsl project vcs graph render store format import capture why' \
	'cmd util glsl project vcs graph render store format import capture why verify'
do
	folder=${rule%% *}
	allowed=$(printf '%s' "$rule" | tr ' ' '|')
	bad=$(grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"[a-z]+/' \
		"src/$folder" "include/stbuild/$folder" 2>/dev/null |
		grep -vE "\"($allowed)/")
	[ -z "$bad" ] || complain "$folder may not include this" "$bad"
done
for folder in src/* include/stbuild/*; do
	case ${folder##*/} in
	util|glsl|project|vcs|graph|render|store|format|import|capture|why|verify|cmd) ;;
	*) complain 'a folder without a place among the layers' "$folder" ;;
	esac
done

# only FOLDER PATTERN: what is included by that folder alone.
only()
{
	bad=$(grep -rnE "^[[:space:]]*#[[:space:]]*include[[:space:]]*<($2)" \
		src include | grep -vE "^(src|include/stbuild)/$1/")
	[ -z "$bad" ] || complain "only $1/ may include this" "$bad"
}
only render '(epoxy|EGL|GL|GLES[0-9])/'
only store 'sqlite3\.h'
only vcs 'git2'

bad=$(grep -rnE '(^|[^A-Za-z0-9_>.])(malloc|calloc|realloc|strdup|strndup|asprintf)[[:space:]]*\(' \
	--include='*.c' --include='*.h' src include |
	grep -vE '^(src|include/stbuild)/util/')
[ -z "$bad" ] || complain 'only util/ allocates; there is xmalloc' "$bad"

[ -d src/util ] || complain 'nothing was looked at' src/util
exit $status

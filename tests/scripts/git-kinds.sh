#!/bin/sh
# Repositories that are not plain ones: filters that are programs, submodules,
# partial clones, other owners, git's environment.

. "$SRCDIR/tests/lib.sh"
need_egl
need_tool git
git config --global init.defaultBranch main

# project DIR: into a folder that is there.
project()
{
	cat >"$1/stbuild.json" <<'JSON'
{
	"format": 1,
	"project": { "name": "kinds" },
	"render": { "width": 8, "height": 8 },
	"shader": { "include_dirs": [ "lib" ] },
	"pass": [ { "name": "image", "kind": "image", "source": "image.frag" } ],
	"trace": [ { "name": "t", "frame": 0 } ]
}
JSON
	printf '#include "shade.glsl"\nvoid mainImage(out vec4 c, in vec2 p) { c = SHADE; }\n' \
		>"$1/image.frag"
	mkdir -p "$1/lib"
	echo '#define SHADE vec4(1.0, 0.5, 0.0, 1.0)' >"$1/lib/shade.glsl"
}

# dirty DIR 'FILES': the inputs of its trace that differ from HEAD.
dirty()
{
	rm -rf "$1/target"
	expect_status 0 "$STBUILD" -C "$1" --json
	files=
	for i in 0 1 2; do
		file=$("$JSONQ" "$1/target/traces/t@0.sttrace/trace.json" \
			"git.dirty_inputs[$i]" 2>/dev/null) || break
		files="$files${files:+ }$file"
	done
	expect_equal "$files" "$2" "dirty inputs in $1"
}

# A filter that is a program: its own index tells git, and us.
git init -q filtered
project filtered
git -C filtered config filter.upper.clean 'tr a-z A-Z'
git -C filtered config filter.upper.smudge 'tr A-Z a-z'
echo '*.frag filter=upper' >filtered/.gitattributes
touch -d '1 minute ago' filtered/image.frag
git -C filtered add .
git -C filtered commit -qm one
dirty filtered ''
expect_no_text err warning
echo '// more' >>filtered/image.frag
dirty filtered image.frag
expect_text err "stored through git's filter 'upper'"
expect_equal "$(grep -c warning err)" 1
expect_status 2 "$STBUILD" -C filtered --rev HEAD
expect_text err "git's filter 'upper'"
expect_status 2 "$STBUILD" -C filtered log t
expect_text err "git's filter 'upper'"
# Without a program of that name, the blob is what git checks out.
git -C filtered config --unset filter.upper.clean
git -C filtered config --unset filter.upper.smudge
git -C filtered show HEAD:image.frag >filtered/image.frag
expect_status 1 "$STBUILD" -C filtered --rev HEAD
expect_no_text err filter
git init -q encoded
project encoded
git -C encoded add .
git -C encoded commit -qm one
echo '*.glsl working-tree-encoding=UTF-16LE' >encoded/.gitattributes
git -C encoded add .gitattributes
git -C encoded commit -qm encoding
expect_status 0 "$STBUILD" -C encoded --rev HEAD~1
expect_status 2 "$STBUILD" -C encoded --rev HEAD
expect_text err 'an encoding other than UTF-16LE'
expect_status 0 "$STBUILD" -C encoded log t --json
expect_json out 'commits[0].status' error

# Submodules: as the commit pins them, whatever they have checked out.
git init -q module
mkdir module/deep
echo '#define SHADE vec4(0.0, 1.0, 0.0, 1.0)' >module/shade.glsl
git -C module add .
git -C module commit -qm one
git init -q super
project super
rm -r super/lib
git -C super -c protocol.file.allow=always submodule --quiet add "$PWD/module" lib
git -C super add .
git -C super commit -qm one
dirty super ''
echo '// changed' >>super/lib/shade.glsl
dirty super lib/shade.glsl
git -C super/lib commit -qam two
dirty super lib/shade.glsl
git -C super commit -qam two
dirty super ''
git -C super/lib checkout -q HEAD~1
dirty super lib/shade.glsl
git -C super submodule --quiet update
dirty super ''
: >super/lib/untracked.glsl
edit super/image.frag 's/shade/untracked/'
expect_status 1 "$STBUILD" -C super
git -C super checkout -q image.frag
mv super/lib/.git away
dirty super lib/shade.glsl
mv away super/lib/.git

# A partial clone: what is missing is said, with the remedy.
git init -q whole
project whole
git -C whole add .
git -C whole commit -qm one
edit whole/lib/shade.glsl 's/0.5/0.75/'
git -C whole commit -qam two
git -C whole config uploadpack.allowFilter true
git clone -q --filter=blob:none "file://$PWD/whole" partial
dirty partial ''
expect_status 3 "$STBUILD" -C partial --rev HEAD~1
expect_text err 'is not in this partial clone'
expect_text err 'git fetch --refetch'
expect_status 3 "$STBUILD" -C partial log t

# git's environment.
git clone -q whole plain
mv plain/.git elsewhere
expect_status 0 "$STBUILD" -C plain
expect_json plain/target/traces/t@0.sttrace/trace.json git null
export GIT_DIR="$PWD/elsewhere"
capture 0 0 -C plain
expect_bundles retagged
expect_json plain/target/traces/t@0.sttrace/trace.json git.commit \
	"$(git rev-parse HEAD)"
expect_status 0 "$STBUILD" -C plain log t
capture 0 0 -C plain
expect_bundles current
GIT_WORK_TREE=$PWD/plain
export GIT_WORK_TREE
dirty plain ''
echo '// changed' >>plain/image.frag
dirty plain image.frag
GIT_DIR=$PWD/nowhere
expect_status 0 "$STBUILD" -C plain -B
expect_text err 'GIT_DIR is set'
unset GIT_DIR GIT_WORK_TREE

git clone -q whole crlf
printf '[core]\n\tautocrlf = true\n' >crlf.config
for file in image.frag lib/shade.glsl stbuild.json; do
	sed 's/$/\r/' crlf/$file >with
	cat with >crlf/$file
done
dirty crlf 'stbuild.json image.frag lib/shade.glsl'
GIT_CONFIG_GLOBAL=$PWD/crlf.config dirty crlf ''

# Of another owner: safe.directory, by name, by * and by the environment.
if [ "$(id -u)" = 0 ] && chown -R 12345 crlf 2>/dev/null; then
	commit()
	{
		rm -rf crlf/target
		expect_status 0 "$STBUILD" -C crlf
		value=$("$JSONQ" crlf/target/traces/t@0.sttrace/trace.json git.commit \
			2>/dev/null) || value=
		[ "$1" = "${value:+tagged}" ] || fail "'$value' is not $1: $(cat err)"
	}
	commit ''
	expect_text err safe.directory
	for folder in "$PWD/crlf" '*' "$PWD/*"; do
		printf '[safe]\n\tdirectory = %s\n' "$folder" >safe.config
		GIT_CONFIG_GLOBAL=$PWD/safe.config commit tagged
	done
	GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*' \
		commit tagged
	printf '[safe]\n\tdirectory = *\n\tdirectory =\n' >safe.config
	GIT_CONFIG_GLOBAL=$PWD/safe.config commit ''
	git config --global safe.directory '*'
	commit tagged
	GIT_CONFIG_GLOBAL=/dev/null commit ''
fi

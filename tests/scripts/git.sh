#!/bin/sh
# The git section of traces: which commit, and whether the inputs are its own.

. "$SRCDIR/tests/lib.sh"
need_egl
need_tool git
git config --global init.defaultBranch main

write_project()
{
	mkdir -p "$1/s"
	cat >"$1/stbuild.json" <<'JSON'
{
	"format": 1,
	"project": { "name": "tagged" },
	"render": { "width": 8, "height": 8 },
	"shader": { "include_dirs": [ "inc" ] },
	"pass": [ { "name": "image", "kind": "image", "source": "s/image.frag" } ],
	"trace": [ { "name": "t", "frame": 1 } ]
}
JSON
	mkdir -p "$1/inc"
	cat >"$1/s/image.frag" <<'GLSL'
#include "shade.glsl"
void mainImage(out vec4 c, in vec2 p)
{
	c = shade();
}
GLSL
	echo 'vec4 shade() { return vec4(1.0, 0.5, 0.0, 1.0); }' >"$1/inc/shade.glsl"
	printf 'fleeting\n' >"$1/notes.txt"
}

# run NDRAWN STATUS: captures p; then "trace" has what its document says.
trace=p/target/traces/t@1.sttrace/trace.json
run()
{
	capture 0 "$1" -C p
	expect_bundles "$2"
}

# tag KEY VALUE: in the git section of the trace.
tag()
{
	expect_json $trace "git.$1" "$2"
}

# No repository.
write_project p
run 1 built
expect_json $trace git null
expect_json out git null
expect_equal "$(wc -c <err)" 0 "$(cat err)"

# One without commits: nothing to tag with.
git init -q p
run 0 current
expect_json $trace git null
rm -r p/target
run 0 restored
expect_json $trace git null

# What is not committed is dirty: all that the trace is made of, and no more.
git -C p add s stbuild.json notes.txt
git -C p commit -qm one
one=$(git -C p rev-parse HEAD)
rm -r p/target
run 0 restored
tag commit "$one"
tag branch main
tag dirty true
tag 'dirty_inputs#' 1
tag 'dirty_inputs[0]' inc/shade.glsl
tag describe "$(git -C p describe --always)"
expect_json out git.commit "$one"
expect_json out git.branch main
run 0 current

# Then it is, without a change: only the tag is written.
git -C p add inc
git -C p commit -qm two
two=$(git -C p rev-parse HEAD)
cksum p/target/traces/t@1.sttrace/[!t]* >before
expect_status 0 "$STBUILD" -C p -n
expect_text out 't@1: tagged dirty, and clean now; nothing to draw'
expect_status 1 "$STBUILD" -C p -q
tag commit "$one"
run 0 retagged
expect_json out counts.traces_built 1
tag commit "$two"
tag dirty false
tag dirty_inputs '[]'
cksum p/target/traces/t@1.sttrace/[!t]* >now
expect_same before now
expect_status 0 "$STBUILD" inspect p/target/traces/t@1.sttrace
expect_text out 'on main'
run 0 current

# A clean bundle keeps the commit that it was made at.
echo more >>p/notes.txt
git -C p commit -qam three
run 0 current
tag commit "$two"
# Files that are no inputs do not count.
echo more >>p/notes.txt
: >p/untracked
run 0 current
tag dirty false

# A change: dirty, with the file's name; committed: retagged; undone: written.
edit p/inc/shade.glsl 's/0.5/1.0/'
run 1 built
tag dirty true
tag 'dirty_inputs[0]' inc/shade.glsl
tag 'dirty_inputs#' 1
git -C p commit -qm four inc
git -C p tag -am tag v1.0
run 0 retagged
tag describe v1.0
tag dirty false
edit p/inc/shade.glsl 's/1.0, 0.0/0.5, 0.0/'
run 0 assembled
tag dirty true
tag describe v1.0
git -C p checkout -q inc
run 0 assembled
tag dirty false
# A file that appears where an include is looked for first.
cp p/inc/shade.glsl p/s/shade.glsl
run 0 assembled
tag dirty true
rm p/s/shade.glsl
run 0 assembled
tag dirty false
# An asset, and the manifest.
edit p/stbuild.json 's/"tagged"/"tagged", "author": "x"/'
run 0 assembled
tag dirty true
tag 'dirty_inputs[0]' stbuild.json
git -C p checkout -q stbuild.json
run 0 assembled

# Another branch and back; nothing to draw.
git -C p checkout -q notes.txt
git -C p checkout -qb other "$one"
mkdir -p p/inc
git -C p show "$two:inc/shade.glsl" >p/inc/shade.glsl
run 0 assembled
tag branch other
tag commit "$one"
tag dirty true
rm -r p/inc
git -C p checkout -q main
run 0 assembled
tag branch main
tag dirty false

# A detached head has no branch.
git -C p checkout -q --detach
rm -r p/target
run 0 restored
tag branch null
tag commit "$(git -C p rev-parse HEAD)"
git -C p checkout -q main

# We leave nothing for git to see.
git -C p checkout -q .
rm p/untracked
expect_equal "$(git -C p status --porcelain)" ''

# A project below the repository's root; a worktree of it.
git -C p worktree add -q ../w -b tree
capture 0 1 -C w
expect_json w/target/traces/t@1.sttrace/trace.json git.branch tree
expect_json w/target/traces/t@1.sttrace/trace.json git.dirty false
expect_equal "$(git -C w status --porcelain)" ''
git init -q deep
write_project deep/a/b
git -C deep add .
git -C deep commit -qm deep
edit deep/a/b/s/image.frag 's/shade()/shade().gbra/'
capture 0 1 -C deep/a/b
expect_json deep/a/b/target/traces/t@1.sttrace/trace.json git.dirty true
case $("$JSONQ" deep/a/b/target/traces/t@1.sttrace/trace.json 'git.dirty_inputs[0]') in
s/image.frag|a/b/s/image.frag) ;;
*) fail 'dirty inputs of a project below the root' ;;
esac
expect_equal "$(git -C deep status --porcelain)" ' M a/b/s/image.frag'

# A repository that cannot be read: one warning, and no tag.
printf '[core]\n\trepositoryformatversion = 1\n[extensions]\n\tunheardOf = true\n' >>p/.git/config
rm -r p/target
run 0 restored
expect_json $trace git null
expect_equal "$(grep -c 'stbuild: warning: ' err)" 1 "$(cat err)"
expect_text err unheard
# Nor is it forgotten by a run in which nothing changed.
run 0 current
expect_text err unheard

# Once it can be read, the bundle is tagged, and nothing drawn.
git config -f p/.git/config --unset extensions.unheardOf
git config -f p/.git/config --replace-all core.repositoryformatversion 0
expect_status 0 "$STBUILD" -C p -n
expect_text out 't@1: made without a commit, and committed now'
run 0 retagged
tag dirty false
run 0 current

# Objects that are lost cost the tag and a warning, not the capture.
edit p/inc/shade.glsl 's/0.0, 1.0/1.0, 1.0/'
mv p/.git/objects lost
mkdir p/.git/objects
run 1 built
expect_json $trace git null
expect_equal "$(grep -c 'stbuild: warning: no commit is recorded: ' err)" 1 "$(cat err)"
rm -r p/.git/objects
mv lost p/.git/objects
run 0 current
git -C p commit -qam 'shade'
run 0 retagged
tag commit "$(git -C p rev-parse HEAD)"

# Made before the first commit, and tagged by the first that has its inputs.
write_project early
git init -q early
capture 0 1 -C early
git -C early add notes.txt
git -C early commit -qm 'no inputs'
capture 0 0 -C early
expect_bundles current
git -C early add .
git -C early commit -qm all
capture 0 0 -C early
expect_bundles retagged
expect_json early/target/traces/t@1.sttrace/trace.json git.commit \
	"$(git -C early rev-parse HEAD)"
capture 0 0 -C early
expect_bundles current

# Retagging leaves all bytes but those of the section, whatever the numbers.
git init -q exact
write_project exact
cat >exact/stbuild.json <<'JSON'
{
	"format": 1,
	"project": { "name": "exact \u0007 \"git\": { }" },
	"render": { "width": 8, "height": 8, "fps": 29.97 },
	"shader": { "include_dirs": [ "inc" ] },
	"uniform": [
		{ "name": "wide", "type": "vec3", "default": [ 1e-30, 0.1, -3.4e38 ] },
		{ "name": "whole", "type": "int", "default": 2147483647 }
	],
	"pass": [
		{ "name": "sim", "kind": "buffer", "source": "s/sim.frag", "width": 3, "height": 5,
			"input": [ { "channel": 0, "source": "sim", "frame": "previous" } ] },
		{ "name": "image", "kind": "image", "source": "s/image.frag",
			"input": [ { "channel": 0, "source": "sim" } ] }
	],
	"trace": [ { "name": "t", "frame": 1, "set": { "whole": -2147483648 },
		"timeline": [ { "frame": 1, "set": { "wide": [ 0.30000001, 1e20, 5e-324 ] } } ] } ]
}
JSON
echo 'void mainImage(out vec4 c, in vec2 p) { c = texture(iChannel0, p) + wide.x; }' \
	>exact/s/sim.frag
git -C exact add .
git -C exact commit -qm one
echo 'vec4 shade() { return texture(iChannel0, vec2(0.5)) + wide.xyzx * float(whole); }' \
	>exact/inc/shade.glsl
capture 0 3 -C exact
cp exact/target/traces/t@1.sttrace/trace.json before.json
git -C exact commit -qam two
capture 0 0 -C exact
expect_bundles retagged
diff before.json exact/target/traces/t@1.sttrace/trace.json >changes || :
sed -n 's/^[<>] \t*"\([a-z_]*\)": .*/\1/p; t; s/^[<>].*/other/p' changes | sort -u >keys
printf '%s\n' commit dirty dirty_inputs >want
if grep -q describe keys; then
	printf '%s\n' commit describe dirty dirty_inputs >want
fi
grep -v committed_at keys >keys.got
expect_same want keys.got
expect_status 0 "$STBUILD" -C exact -q
# As if it had been made so.
cp exact/target/traces/t@1.sttrace/trace.json tagged.json
rm -r exact/target
capture 0 0 -C exact
expect_bundles restored
expect_same tagged.json exact/target/traces/t@1.sttrace/trace.json

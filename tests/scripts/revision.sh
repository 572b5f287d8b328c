#!/bin/sh
# Any revision is read from the repository: no checkout, and nothing of the
# repository changes.

. "$SRCDIR/tests/lib.sh"
need_tool git

GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a
GIT_COMMITTER_EMAIL=a@example.org GIT_CONFIG_GLOBAL=/dev/null
export GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME
export GIT_COMMITTER_EMAIL GIT_CONFIG_GLOBAL

write_image()
{
	mkdir -p "$1"
	cat >"$1/image.frag" <<GLSL
#include "level.glsl"
void mainImage(out vec4 c, in vec2 p)
{
	c = vec4($2, level, 0.0, 1.0);
}
GLSL
}

write_project()
{
	write_image "$1" "$2"
	echo 'const float level = 1.0;' >"$1/level.glsl"
	cat >"$1/stbuild.json" <<'JSON'
{
	"format": 1,
	"project": { "name": "revision" },
	"render": { "width": 4, "height": 2 },
	"pass": [ { "name": "image", "kind": "image", "source": "image.frag" } ],
	"trace": [ { "name": "hero", "frame": 0 } ]
}
JSON
}

# All bytes of the repository's own folder.
print_of()
{
	(cd "$1" && find . -type f -exec cksum {} + | LC_ALL=C sort | cksum)
}

git init -q -b main repo
mkdir repo/shot
write_project repo/shot 1.0
git -C repo add .
git -C repo commit -qm 'red and green'
git -C repo tag first
write_image repo/shot 0.0
git -C repo commit -qam 'green'
first=$(git -C repo rev-parse first)
before=$(print_of repo/.git)

# Without GL.
expect_status 0 "$STBUILD" -C repo/shot graph --rev first
expect_text out 'image: image'
expect_status 2 "$STBUILD" -C repo/shot graph --rev nothing
expect_text err "unknown revision 'nothing'"
expect_status 2 "$STBUILD" -C repo/shot graph --rev first:shot
expect_text err 'names contents of a commit, not a commit'
expect_status 2 "$STBUILD" -C repo/shot graph --rev first -f ../shut/stbuild.json
expect_text err "has no folder 'shut'"
expect_status 3 "$STBUILD" -C repo/shot graph --rev first -f ../../x/stbuild.json
expect_text err 'not in a git repository'
expect_equal "$before" "$(print_of repo/.git)"

# No repository, an empty one, one that cannot be opened.
mkdir plain
write_project plain 1.0
expect_status 3 "$STBUILD" -C plain graph --rev first
expect_text err 'not in a git repository'
git init -q empty
write_project empty 1.0
expect_status 2 "$STBUILD" -C empty graph --rev HEAD
expect_text err 'the repository has no commits yet'

# A manifest that is broken in the commit is told with the commit.
cp -R repo broken
cat >broken/shot/stbuild.json <<'JSON'
{ "format": 1, "pass": [ }
JSON
git -C broken commit -qam broken
git -C broken checkout -q first
expect_status 2 "$STBUILD" -C broken/shot graph --rev main
expect_text err "in commit $(git -C broken rev-parse --short=7 main)"
expect_status 0 "$STBUILD" -C broken/shot graph

# Bytes of a submodule and of LFS are not there.
cp -R repo sub
git -C sub rm -rq --cached shot/level.glsl
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 9\n' \
	1 >sub/shot/level.glsl
git -C sub add .
git -C sub commit -qm lfs
expect_status 2 "$STBUILD" -C sub/shot check --rev HEAD
expect_text err 'Git LFS pointer'
git -C sub rm -rq shot/image.frag
git -C sub update-index --add --cacheinfo "160000,$first,shot/image.frag"
git -C sub commit -qm submodule
expect_status 2 "$STBUILD" -C sub/shot check --rev HEAD
expect_text err submodule

need_egl

# The commit's picture, in a place of its own, tagged with the commit.
capture 0 1 -C repo/shot
expect_bundles built
capture 0 1 -C repo/shot --rev first
expect_bundles built
expect_json out git.commit "$first"
id=$(printf %.12s "$first")
bundle=target/revisions/$id/hero@0.sttrace
expect_json out 'traces[0].path' "$bundle"
expect_pixel "repo/shot/$bundle/final.png" 0 0 '255 255 0 255'
expect_pixel repo/shot/target/traces/hero@0.sttrace/final.png 0 0 '0 255 0 255'
expect_json "repo/shot/$bundle/trace.json" git.commit "$first"
expect_json "repo/shot/$bundle/trace.json" git.dirty false
capture 0 0 -C repo/shot --rev first
expect_bundles current
expect_status 1 "$STBUILD" -C repo/shot status -q --rev first -B
expect_status 0 "$STBUILD" -C repo/shot status -q --rev first
# What the work tree has, edited or not, does not matter.
echo 'broken' >repo/shot/image.frag
rm repo/shot/level.glsl
capture 0 0 -C repo/shot --rev HEAD
expect_bundles assembled
git -C repo checkout -q .
expect_equal '' "$(git -C repo status --porcelain)"

# Once the folder has another name, -f says which one is meant.
git -C repo mv shot shoot
git -C repo commit -qm rename
before=$(print_of repo/.git)
expect_status 2 "$STBUILD" -C repo/shoot capture --rev first
expect_text err "has no folder 'shoot'"
expect_text err '-f FILE'
capture 0 0 -C repo/shoot --rev first -f ../shot/stbuild.json
[ -f "repo/shoot/$bundle/trace.json" ] || fail 'no bundle'
expect_equal "$before" "$(print_of repo/.git)"

# A worktree, a shallow clone, a detached head, a name that is no UTF-8.
git -C repo worktree add -q ../tree first
capture 0 1 -C tree/shot --rev 'main~2'
expect_equal '' "$(git -C tree status --porcelain)"
git clone -q --depth 1 "file://$PWD/repo" shallow
expect_status 2 "$STBUILD" -C shallow/shoot capture --rev "$first"
expect_text err 'shallow clone'
odd=$(printf 'caf\351')
git init -q -b main odd
mkdir "odd/$odd"
write_project "odd/$odd" 1.0
git -C odd add .
git -C odd commit -qm odd
capture 0 1 -C "odd/$odd" --rev HEAD

# A bare repository is not written to.
git clone -q --bare repo bare.git
before=$(print_of bare.git)
expect_status 2 "$STBUILD" -C bare.git capture --rev first -f shot/stbuild.json
expect_text err '--store'
expect_status 0 "$STBUILD" -C bare.git graph --rev first -f shot/stbuild.json
capture 0 1 -C bare.git --rev first -f shot/stbuild.json --store ../store
expect_pixel "store/$bundle/final.png" 0 0 '255 255 0 255'
expect_equal "$before" "$(print_of bare.git)"

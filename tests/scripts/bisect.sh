#!/bin/sh
# A thousand commits with ten renderings: log and bisect draw next to nothing,
# find what git bisect finds, and leave the repository as it is.

. "$SRCDIR/tests/lib.sh"
need_tool git
need_egl

GIT_CONFIG_GLOBAL=/dev/null
GIT_CONFIG_NOSYSTEM=1
export GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM

# history N DRIFT BROKEN.. BAD: a stream for git fast-import. Commits 1 .. N; red
# gains 1 / 255 each DRIFT commits, BROKEN..+40 do not compile, from BAD on there
# is green. Documents change with each commit, comments with each fourth. With
# BRANCH=1 every tenth commit leaves the trunk for three that are merged again,
# and only they may turn green first.
history()
{
	awk -v n="$1" -v drift="$2" -v broken="$3" -v bad="$4" -v branch="${5:-0}" '
	function file(path, text)
	{
		printf "M 100644 inline %s\ndata %d\n%s\n", path, length(text), text
	}
	function commit(ref, i, red, green, is_broken, comment, parents)
	{
		printf "commit refs/heads/%s\nmark :%d\n", ref, i
		printf "committer A <a@example.org> %d +0000\n", 1700000000 + i * 60
		message = "commit " i
		printf "data %d\n%s\n%s", length(message), message, parents
		file("README", "number " i "\n")
		file("shot/image.frag", "// " comment "\nvoid mainImage(out vec4 c, in vec2 p)\n{\n" \
			"\tc = vec4(float(" red ") / 255.0, float(" green "), 0.0, 1.0);\n" \
			(is_broken ? "\tsomething broken here\n" : "") "}\n")
		if (i == 1)
			file("shot/stbuild.json", "{ \"format\": 1, \"project\": { \"name\": \"b\" },\n" \
				"\"render\": { \"width\": 4, \"height\": 2 },\n" \
				"\"pass\": [ { \"name\": \"image\", \"kind\": \"image\", \"source\": \"image.frag\" } ],\n" \
				"\"trace\": [ { \"name\": \"hero\", \"frame\": 0 } ] }\n")
		print ""
	}
	BEGIN {
		green = 0
		main = 0
		for (i = 1; i <= n; i++) {
			red = int((i - 1) / drift)
			is_broken = broken <= i && i < broken + 40
			comment = int(i / 4)
			on_branch = branch && i > 10 && i % 10 >= 1 && i % 10 <= 3
			if (i >= bad && (!branch || on_branch))
				side = 1
			if (!branch && i >= bad)
				green = 1
			parents = main ? "from :" main "\n" : ""
			if (on_branch) {
				parents = "from :" (i % 10 == 1 ? main : i - 1) "\n"
				if (i % 10 == 1) {
					fork = red
					old = green
				}
				commit("side", i, fork, old || side, 0, comment, parents)
				tip = i
				continue
			}
			if (tip && i % 10 == 7) {
				parents = parents "merge :" tip "\n"
				tip = 0
				green = green || side
			}
			commit("main", i, red, green, is_broken, comment, parents)
			main = i
		}
	}'
}

make_repository()
{
	name=$1
	shift
	git init -q -b main "$name"
	history "$@" | git -C "$name" fast-import --quiet
	git -C "$name" checkout -q main
}

print_of()
{
	(cd "$1" && find . -type f -exec cksum {} + | LC_ALL=C sort | cksum)
}

id_of()
{
	git -C "$1" log --all --format=%H --grep="^commit $2\$"
}

# What git bisect finds, on a copy.
git_finds()
{
	rm -rf copy
	git clone -q "$1" copy
	(
		cd copy
		git bisect start "$3" "$2" >/dev/null
		git bisect run sh -c 'grep -q broken shot/image.frag && exit 125
			! grep -q "float(1), 0.0" shot/image.frag' >bisect.out 2>&1 ||
			cat bisect.out >&2
		git rev-parse refs/bisect/bad
	)
}

# expect_bisect REPO GOOD BAD MAX_RENDERED [OPTION..]: the commit that git
# bisect finds, with at most so many commits drawn from nothing.
expect_bisect()
{
	repo=$1 good=$2 bad=$3 max=$4
	shift 4
	found=$(git_finds "$repo" "$good" "$bad")
	rm -rf "$repo/shot/.stbuild" "$repo/shot/target"
	before=$(print_of "$repo/.git")
	expect_status 0 "$STBUILD" -C "$repo/shot" bisect --json --good "$good" \
		--bad "$bad" --threshold 0.1 "$@"
	expect_json out first_bad "$found"
	n=$("$JSONQ" out counts.commits_rendered)
	[ "$n" -le "$max" ] || fail "$n commits rendered: $(cat out)"
	expect_equal "$before" "$(print_of "$repo/.git")"
	expect_equal '' "$(git -C "$repo" status --porcelain)"
}

# Linear: ten renderings, each in a hundred commits, one regression.
make_repository line 1000 100 410 801
root=$(id_of line 1)
expect_equal 1000 "$(git -C line rev-list --count main)"
expect_bisect line "$root" main 5
expect_json out first_bad "$(id_of line 801)"
expect_json out summary 'commit 801'
expect_json out 'files[1].path' shot/image.frag
expect_json out 'changed[0]' "pass 'image'"
expect_json out 'frames[0].max' 255
expect_json out counts.commits 999
bundle=$("$JSONQ" out 'frames[0].after')
expect_pixel "line/shot/$bundle/final.png" 0 0 '8 255 0 255'

# Everything is stored now.
expect_status 0 "$STBUILD" -C line/shot bisect --json --good "$root" --bad main \
	--threshold 0.1 hero
expect_json out first_bad "$(id_of line 801)"
expect_json out counts.commits_rendered 0
expect_json out counts.nodes_drawn 0
expect_json out counts.commits_read 0
expect_json out counts.programs_compiled 0
expect_status 0 "$STBUILD" -C line/shot bisect --good "$root" --bad main \
	--threshold 0.1 hero@0
expect_text out "$(id_of line 801) is the first bad commit"
expect_text out '    commit 801'
# By content the first drift is found.
expect_status 0 "$STBUILD" -C line/shot bisect --json --good "$root" --bad main
expect_json out first_bad "$(id_of line 101)"

# The regression at the end of what does not compile.
rm -rf line
make_repository line 300 30 100 140
root=$(id_of line 1)
expect_status 1 "$STBUILD" -C line/shot bisect --json --good "$root" --bad main \
	--threshold 0.1
expect_json out first_bad null
expect_json out 'suspects#' 41
expect_json out 'skipped#' 40
expect_json out 'suspects[0]' "$(id_of line 140)"

# Merges: the change is made on a branch.
make_repository merges 400 40 200 262 1
root=$(id_of merges 1)
[ "$(git -C merges rev-list --merges --count main)" -gt 30 ] || fail 'no merges'
expect_bisect merges "$root" main 6
expect_json out first_bad "$(id_of merges 262)"
# Followed by the first parent alone, it came with the merge.
expect_status 0 "$STBUILD" -C merges/shot bisect --json --good "$root" \
	--bad main --threshold 0.1 --first-parent
expect_json out first_bad "$(id_of merges 267)"

# Ends that say nothing.
expect_status 2 "$STBUILD" -C merges/shot log sound:x
expect_status 2 "$STBUILD" -C merges/shot bisect --good main --bad "$root"
expect_text err swapped
expect_status 2 "$STBUILD" -C merges/shot bisect --good main --bad main
expect_text err 'the same commit'
expect_status 2 "$STBUILD" -C merges/shot bisect --good main~1 --bad main
expect_text err "trace 'hero' does not differ"
expect_status 2 "$STBUILD" -C merges/shot bisect --good "$root" --bad main --threshold 1
expect_text err 'looks the same'
expect_status 2 "$STBUILD" -C merges/shot bisect --good "$(id_of merges 210)" --bad main
expect_text err 'the good commit'
expect_status 2 "$STBUILD" -C merges/shot bisect --good "$root"
expect_text err '--bad'

# A range: each rendering once, at its newest commit.
expect_status 0 "$STBUILD" -C merges/shot capture --json --rev main~12..main
n=$("$JSONQ" out 'traces#')
expect_json out 'traces[0].commit' "$(git -C merges rev-parse main)"
expect_equal 1 "$n" 'renderings'
rm -rf merges/shot/target merges/shot/.stbuild
expect_status 1 "$STBUILD" -C merges/shot capture --json --rev "$root..main" -s
expect_json out counts.failures 2
expect_json out 'skipped#' 0

# git bisect run, by checkouts, against a bundle that is known to be good.
rm -rf merges/shot/target merges/shot/.stbuild copy
git clone -q merges copy
capture 0 1 -C merges/shot --rev "$root" -o "$PWD/good.sttrace"
(
	cd copy
	git bisect start main "$root" >/dev/null
	git bisect run "$STBUILD" -C shot capture --bisect "../../good.sttrace" \
		--threshold 0.1 hero >../bisect.out 2>&1
)
expect_equal "$(id_of merges 262)" "$(git -C copy rev-parse refs/bisect/bad)"
git -C copy bisect reset >/dev/null 2>&1
expect_status 0 "$STBUILD" -C merges/shot inspect --json "$PWD/good.sttrace"
expect_json out 'seen#' 0
judge()
{
	expect_status "$1" "$STBUILD" -C copy/shot capture --bisect \
		"$PWD/good.sttrace" --json
}
git -C copy checkout -q "$root"
judge 0
expect_json out verdict good
git -C copy checkout -q main
judge 1
expect_json out verdict bad
git -C copy checkout -q "$(id_of merges 210)"
judge 125
echo '{' >copy/shot/stbuild.json
judge 125
rm copy/shot/stbuild.json
judge 125
git -C copy checkout -qf main
expect_status 129 "$STBUILD" -C copy/shot capture --bisect nothing.sttrace
expect_status 129 "$STBUILD" -C copy/shot capture --bisect "$PWD/good.sttrace" --nonsense
expect_status 129 "$STBUILD" -C copy/shot capture --bisect "$PWD/good.sttrace" hero@0,1
expect_status 2 "$STBUILD" -C copy/shot capture --threshold 0.1

# What was captured at a commit.
capture 0 0 -C copy/shot
main=$(git -C copy rev-parse main)
expect_status 0 "$STBUILD" -C copy/shot show --json
expect_json out commit "$main"
expect_json out 'contents[0].trace' hero
expect_json out 'contents[0].bundles[0]' target/traces/hero@0.sttrace
expect_status 0 "$STBUILD" -C copy/shot inspect --json target/traces/hero@0.sttrace
expect_json out 'seen[0].commit' "$main"

# The log knows what was captured, a class at a time, and draws the rest.
expect_status 0 "$STBUILD" -C copy/shot log hero -n 2 --json
expect_json out 'commits#' 2
expect_json out 'commits[0].status' unchanged
expect_json out 'commits[1].content' "$("$JSONQ" out 'commits[0].content')"
expect_json out counts.nodes_drawn 0
before=$(print_of copy/.git)
expect_status 0 "$STBUILD" -C copy/shot log hero "$root..main" --json --render
expect_status 0 "$STBUILD" -C copy/shot log hero "$root..main" --json --render
expect_json out counts.nodes_drawn 0
expect_status 0 "$STBUILD" -C copy/shot log hero "$root..main" --render
expect_equal 400 "$(($(wc -l <out) + 1))"
expect_text out ' error '
grep "^$(printf %.7s "$(id_of merges 262)")" out | grep -q 'changed *(rmse .*max 255' ||
	fail "commit 262: $(cat out)"
expect_equal "$before" "$(print_of copy/.git)"
expect_equal '' "$(git -C copy status --porcelain)"

# A bare repository with a store beside it, a worktree, a shallow clone.
git clone -q --bare merges bare.git
before=$(print_of bare.git)
expect_status 0 "$STBUILD" -C bare.git bisect -f shot/stbuild.json --store ../store \
	--json --good "$root" --bad main --threshold 0.1 hero
expect_json out first_bad "$(id_of merges 262)"
expect_equal "$before" "$(print_of bare.git)"
git -C merges worktree add -q --detach ../tree main
expect_status 0 "$STBUILD" -C tree/shot log hero -n 3
git clone -q --depth 5 "file://$PWD/merges" shallow
expect_status 0 "$STBUILD" -C shallow/shot log hero
expect_text err 'this shallow clone ends here'
expect_status 2 "$STBUILD" -C shallow/shot bisect --good "$root" --bad main
expect_text err 'shallow clone'

# Commits are read once, however many layouts a project had; git's settings and a
# lost memory count.
git init -q -b main layouts
i=0
while [ $i -lt 50 ]; do
	mkdir -p layouts/lib
	echo "#define N $((i % 7))" >"layouts/lib/part$i.glsl"
	printf '#include "lib/part%d.glsl"\nvoid mainImage(out vec4 c, in vec2 p) { c = vec4(float(N) / 9.0); }\n' \
		$i >layouts/image.frag
	if [ $i = 0 ]; then
		sed 's/, "frame": 0//; s/"b" }/"l" }/' six/shot/stbuild.json \
			>layouts/stbuild.json 2>/dev/null ||
			cp merges/shot/stbuild.json layouts/stbuild.json
	fi
	git -C layouts add .
	git -C layouts commit -qm $i
	i=$((i + 1))
done
expect_status 0 "$STBUILD" -C layouts
expect_status 0 "$STBUILD" -C layouts log hero --json
expect_json out counts.commits_read 50
cp out once
expect_status 0 "$STBUILD" -C layouts log hero --json
expect_json out counts.commits_read 0
sed 's/"commits_read":[0-9]*//' once >want
sed 's/"commits_read":[0-9]*//' out >now
expect_same want now
git -C layouts commit -q --allow-empty -m more
expect_status 0 "$STBUILD" -C layouts log hero --json
[ "$("$JSONQ" out counts.commits_read)" -le 1 ] || fail "read again: $(cat out)"
expect_json out 'commits#' 51
git -C layouts config core.autocrlf true
expect_status 0 "$STBUILD" -C layouts log hero -n 3 --json
[ "$("$JSONQ" out counts.commits_read)" -ge 2 ] || fail "not read again: $(cat out)"
git -C layouts config --unset core.autocrlf

# What could not be compiled, or loaded, is passed over: what follows it is
# compared with what was there before.
git init -q -b main gap
history 1 1 100 100 | git -C gap fast-import --quiet
git -C gap checkout -q main
cp gap/shot/image.frag whole.frag
echo broken >gap/shot/image.frag
git -C gap commit -qam broken
echo '{' >gap/shot/stbuild.json
git -C gap commit -qam unreadable
git -C gap checkout -q HEAD~2 shot
git -C gap commit -qam mended
edit gap/shot/image.frag 's/float(0) /float(9) /'
git -C gap commit -qam changed
for option in '' -n3 -n2; do
	expect_status 0 "$STBUILD" -C gap/shot log hero --json --render ${option:+$option}
	expect_json out 'commits[0].status' changed
	expect_json out 'commits[1].status' unchanged
	[ "$option" = -n2 ] || expect_json out 'commits[2].status' error
done
expect_status 0 "$STBUILD" -C gap/shot log hero --json
expect_json out 'commits[3].status' error
expect_json out 'commits[4].status' first

# Shallow clones: as far as they go, and a word about what lies beyond.
make_repository six 6 1 100 100
git clone -q --depth 3 "file://$PWD/six" three
before=$(print_of three/.git)
expect_status 0 "$STBUILD" -C three/shot bisect --json --good HEAD~2 --bad HEAD
expect_json out first_bad "$(id_of six 5)"
expect_status 0 "$STBUILD" -C three/shot bisect --json --good HEAD~1 --bad HEAD
expect_json out first_bad "$(id_of six 6)"
expect_json out 'files#' 2
expect_equal "$(grep -c shallow err)" 0
expect_status 0 "$STBUILD" -C three/shot log hero HEAD~1..HEAD --json
expect_json out 'commits#' 1
expect_status 0 "$STBUILD" -C three/shot log hero --json
expect_json out 'commits#' 3
expect_json out 'commits[2].status' first
expect_status 1 "$STBUILD" -C three/shot diff HEAD~2:hero@0 HEAD:hero@0
expect_status 2 "$STBUILD" -C three/shot diff HEAD~3:hero@0 HEAD:hero@0
expect_text err 'where this shallow clone ends'
expect_status 0 "$STBUILD" -C three/shot show HEAD~2
expect_status 2 "$STBUILD" -C three/shot show "$(id_of six 1)"
expect_text err unshallow
expect_equal "$before" "$(print_of three/.git)"
# Two lines that meet beyond its end; a first bad commit that may not be it.
git -C six checkout -qb arm "$(id_of six 3)"
for red in 100 101 102; do
	edit six/shot/image.frag "s/float([0-9]*)/float($red)/"
	git -C six commit -qam "arm $red"
done
git -C six checkout -q main
git -C six merge -q -s ours -m joined arm
git clone -q --depth 2 "file://$PWD/six" two
expect_status 2 "$STBUILD" -C two/shot bisect --good HEAD^1 --bad HEAD^2
expect_text err 'no commit in common in this shallow clone'
edit six/shot/image.frag 's/float([0-9]*)/float(102)/'
git -C six commit -q --amend --no-edit -a
git clone -q --depth 2 "file://$PWD/six" joined
expect_status 0 "$STBUILD" -C joined/shot bisect --json --good HEAD^1 --bad HEAD
expect_json out first_bad "$(git -C six rev-parse arm)"
expect_text err 'this shallow clone ends at'

git init -q empty
expect_status 2 "$STBUILD" -C empty log hero
expect_text err 'no commits yet'

#!/bin/sh
# Random histories with merges: bisect finds the commit that changed the picture
# and no other, and refuses what git bisect refuses. SEEDS=N tries N of them.

. "$SRCDIR/tests/lib.sh"
need_tool git
need_egl

GIT_CONFIG_GLOBAL=/dev/null
GIT_CONFIG_NOSYSTEM=1
export GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM

# history SEED KIND: a stream for git fast-import, and in ./ends "CHANGE GOOD BAD"
# as marks. Pictures are red from the change on. With KIND repair, they are black
# again from another commit on, which the good end has; with KIND broken, some
# commits do not compile.
history()
{
	awk -v seed="$1" -v kind="$2" '
	function below(n) { return int(rand() * n) }
	function file(path, text)
	{
		printf "M 100644 inline %s\ndata %d\n%s\n", path, length(text), text
	}
	# at[i, j]: commit i has j in its history
	function join(i, parent, j)
	{
		for (j = 1; j <= parent; j++)
			if ((parent, j) in at)
				at[i, j] = 1
	}
	BEGIN {
		srand(seed)
		n = 12 + below(20)
		for (i = 1; i <= n; i++) {
			at[i, i] = 1
			first[i] = i == 1 ? 0 : i - 1 - below(i > 4 ? 4 : 1)
			if (i > 4 && below(5) < 2)
				second[i] = i - 1 - below(i - 2 > 5 ? 5 : i - 2)
			if (second[i] == first[i])
				second[i] = 0
			join(i, first[i])
			join(i, second[i])
		}
		for (tries = 0; tries < 100000; tries++) {
			change = 2 + below(n - 1)
			mend = 2 + below(n - 1)
			good = 1 + below(n)
			bad = 1 + below(n)
			if (!((bad, change) in at) || (good, bad) in at)
				continue
			if (kind != "repair" && !((good, change) in at))
				break
			if (kind == "repair" && (good, change) in at &&
			    (good, mend) in at && (mend, change) in at &&
			    mend != change && !((bad, mend) in at))
				break
		}
		if (tries == 100000)
			exit 1
		print change, good, bad >"ends"
		for (i = 1; i <= n; i++) {
			printf "commit refs/heads/c%d\nmark :%d\n", i, i
			printf "committer A <a@example.org> %d +0000\n", \
				1700000000 + i * 60 - below(200)
			printf "data 1\nx\n"
			if (first[i])
				printf "from :%d\n", first[i]
			if (second[i])
				printf "merge :%d\n", second[i]
			red = (i, change) in at
			if (kind == "repair" && (i, mend) in at)
				red = 0
			broken = kind == "broken" && i != good && i != bad && below(4) == 0
			file("stbuild.json", "{ \"format\": 1, \"project\": { \"name\": \"b\" },\n" \
				"\"render\": { \"width\": 8, \"height\": 8 },\n" \
				"\"pass\": [ { \"name\": \"image\", \"kind\": \"image\", \"source\": \"image.frag\" } ],\n" \
				"\"trace\": [ { \"name\": \"hero\", \"frame\": 0 } ] }\n")
			file("image.frag", "void mainImage(out vec4 c, in vec2 p)\n{\n" \
				"\tc = vec4(" red ".0, 0.0, " i " * 0, 1.0);\n" \
				(broken ? "\tsomething broken\n" : "") "}\n")
			print ""
		}
	}'
}

# judged: what git bisect does with the same ends: the commit, or "refused", or
# "undecided". In a clone whose pictures grep can tell; step by step, as git 2.39's
# "bisect run" ends at the second of several merge bases.
judged()
{
	git -C copy checkout -q --detach "$bad"
	git -C copy bisect start "$bad" "$good" >bisect.out 2>&1 || :
	while ! grep -q 'is the first bad commit\|merge base .* is bad\|skip.*ped commits' bisect.out; do
		if grep -q broken copy/image.frag; then
			word=skip
		elif grep -q 'vec4(1' copy/image.frag; then
			word=bad
		else
			word=good
		fi
		git -C copy bisect $word >>bisect.out 2>&1 || :
	done
	if grep -q 'merge base .* is bad' bisect.out; then
		echo refused
	elif grep -q 'is the first bad commit' bisect.out; then
		sed -n 's/ is the first bad commit//p' bisect.out | sort -u
	else
		echo undecided
	fi
}

refused=0 undecided=0 found=0 bases=0
for seed in $(seq 1 "${SEEDS:-10}"); do
	for kind in plain repair broken; do
		rm -rf r copy
		history "$seed" $kind >stream || continue
		git init -q r
		git -C r fast-import --quiet <stream
		read -r change good bad <ends
		good=$(git -C r rev-parse "c$good") bad=$(git -C r rev-parse "c$bad")
		change=$(git -C r rev-parse "c$change")
		n=$(git -C r merge-base --all "$good" "$bad" | wc -l)
		[ "$n" -lt 2 ] || bases=$((bases + 1))
		git clone -q r copy 2>/dev/null
		want=$(judged)
		status=0
		"$STBUILD" -C r bisect -f stbuild.json --store ../store --json \
			--good "$good" --bad "$bad" hero >out 2>err || status=$?
		what="seed $seed, $kind, $good..$bad"
		case $want in
		refused)
			refused=$((refused + 1))
			expect_equal $status 2 "$what: $(cat err)"
			expect_text err 'merge base'
			;;
		undecided)
			# git gives up with what is left; it can be less here.
			undecided=$((undecided + 1))
			[ $status -le 1 ] || fail "$what: $(cat err)"
			;;
		*)
			found=$((found + 1))
			expect_equal $status 0 "$what: $(cat out err)"
			expect_json out first_bad "$want"
			;;
		esac
		if [ $status = 0 ]; then
			expect_json out first_bad "$change"
		elif [ $status = 1 ]; then
			expect_text out "$change"
		fi
	done
done
printf '%s found, %s refused, %s undecided, %s with several merge bases\n' \
	"$found" "$refused" "$undecided" "$bases" >&2
[ "$((found * refused * bases))" -gt 0 ] ||
	fail 'a kind of history was not met'

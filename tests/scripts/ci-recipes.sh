#!/bin/sh
# The shell lines of each recipe in stbuild-ci(7), run on a project: one that
# passes, then one with another picture.

. "$SRCDIR/tests/lib.sh"
need_egl
unset CI GITHUB_ACTIONS GITHUB_WORKSPACE GITHUB_STEP_SUMMARY GITLAB_CI CI_PROJECT_DIR
page=$SRCDIR/man/stbuild-ci.7
bin=$(pwd)/bin
mkdir bin
ln -s "$STBUILD" bin/stbuild
PATH=$bin:$PATH

# recipe SECTION: its display, without the page's escapes.
recipe()
{
	sed -n "/^\\.Ss $1\$/,/^\\.S[sh] [^$(printf %.1s "$1")]/p" "$page" |
		sed -n '/^\.Bd/,/^\.Ed/p' | sed '/^\.[BE]d/d; s/\\e/\\/g'
}
recipe GitHub | sed -n 's/^ *- run: //p' >github.lines
recipe GitLab | sed -n '/^  script:/,/^  artifacts:/s/^    - //p' >gitlab.lines
recipe Jenkins | sed -n "s/^ *sh '\\(.*\\)'\$/\\1/p" >jenkins.lines

for service in GitHub GitLab Jenkins; do
	lines=$(echo $service.lines | tr '[:upper:]' '[:lower:]')
	expect_equal "$(wc -l <"$lines")" 3 "$(cat "$lines")"
	expect_text "$lines" 'stbuild test --junit report.xml --report report'
	mkdir project
	cat >project/stbuild.json <<'JSON'
{
	"format": 1,
	"project": { "name": "recipe" },
	"render": { "width": 8, "height": 4 },
	"pass": [ { "name": "image", "kind": "image", "source": "image.frag" } ],
	"test": [ { "name": "seen", "frames": [0, 1], "baseline": true } ]
}
JSON
	echo 'void mainImage(out vec4 c, in vec2 p) { c = vec4(p / iResolution.xy, 0.5, 1.0); }' >project/image.frag
	(cd project && stbuild approve -s -m first)
	rm -r project/target
	case $service in
	GitHub) set -- GITHUB_ACTIONS=true GITHUB_WORKSPACE="$(pwd)/project" ;;
	GitLab) set -- GITLAB_CI=true CI_PROJECT_DIR="$(pwd)/project" ;;
	*) set -- ;;
	esac
	while IFS= read -r line; do
		expect_status 0 env CI=true "$@" sh -ec "cd project; $line"
	done <"$lines"
	[ -s project/report/index.html ] || fail "no report by $service"
	expect_text project/report.xml 'failures="0" errors="0"'

	edit project/image.frag 's/0.5/0.75/'
	while IFS= read -r line; do
		want=0
		case $service:$line in
		Jenkins:*) ;;
		*' test '*) want=1 ;;
		esac
		expect_status "$want" env CI=true "$@" sh -ec "cd project; $line"
		[ $service != GitHub ] || [ "$want" = 0 ] ||
			expect_text out '::error file=stbuild.json,line=6,'
	done <"$lines"
	expect_text project/report.xml 'failures="2" errors="0"'
	# The picture that is attached is there.
	path=$(sed -n 's/^\[\[ATTACHMENT|\(.*\)\]\]$/\1/p' project/report.xml | head -1)
	(cd project && [ -s "$path" ]) || fail "no $path by $service"
	case $service:$path in
	GitLab:/*|Jenkins:[!/]*) fail "$path by $service" ;;
	esac
	rm -r project
done

#!/bin/sh
# Which references approve writes: those of tests that fail, and new ones; and
# what it refuses.

. "$SRCDIR/tests/lib.sh"
need_egl
unset CI

# test NAME WIDTH [MORE]: a row of the manifest.
row()
{
	printf '{ "name": "%s", "frame": 0, "width": %s, "height": 4, "reference": "%s.png"%s }' \
		"$1" "$2" "$1" "${3:-}"
}
# Level is the blue of all pixels but the first column, which has more.
write_project()
{
	cat >stbuild.json <<JSON
{
	"format": 1,
	"project": { "name": "approval" },
	"uniform": [ { "name": "level", "type": "float", "default": $1 },
		{ "name": "poison", "type": "float", "default": ${2:-0} } ],
	"pass": [
		{ "name": "image", "kind": "image", "source": "image.frag",
			"input": [ { "channel": 0, "source": "a" } ] },
		{ "name": "a", "kind": "buffer", "source": "a.frag", "width": 2, "height": 2 }
	],
	"trace": [ { "name": "t", "frame": 0 } ],
	"test": [
		$(row loose 8 ', "tolerance": 0.1'),
		$(row strict 16),
		$(row raw 32 ', "pass": "a", "assert_no_inf": true, "tolerance": 0.1')
	]
}
JSON
}
cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = vec4(0.0, p.x < 1.0 ? 1.0 : 0.0, level, 1.0) + 0.0 * texelFetch(iChannel0, ivec2(0), 0).y;
}
GLSL
cat >a.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = vec4(p.x < 1.0 ? level : 0.0, 0.0, 0.0, 1.0);
	if (poison > 0.0)
		c.w = sqrt(-poison);
}
GLSL

# approve STATUS 'NAME STATUS ..' [OPTION..]: what happened to each reference.
approve()
{
	want_status=$1 wanted=$2
	shift 2
	expect_status "$want_status" "$STBUILD" approve --json "$@"
	fates=
	for i in 0 1 2; do
		name=$("$JSONQ" out "tests[$i].name" 2>/dev/null) || continue
		fates="$fates${fates:+ }$name $("$JSONQ" out "tests[$i].status")"
	done
	expect_equal "$fates" "$wanted"
}

write_project 0.25
approve 0 'loose stale strict stale raw stale' -n
[ ! -e loose.png ] || fail 'written by -n'
approve 0 'loose written strict written raw written'
approve 0 'loose unchanged strict unchanged raw unchanged'

# Within one's tolerance, out of another's.
write_project 0.3
cksum loose.png raw.png >before
expect_status 1 "$STBUILD" test -s
approve 0 'loose kept strict written raw kept'
cksum loose.png raw.png >now
expect_same before now
expect_status 0 "$STBUILD" test
expect_status 0 "$STBUILD" approve
expect_text out 'loose: loose.png is kept (RMSE 0.02'
expect_text out 'the test passes, --all rewrites it'
approve 0 'loose stale strict unchanged raw stale' --all -n
approve 0 'loose written' --all loose
expect_json out 'tests[0].max' 12
expect_pixel loose.png 7 0 '0 0 76 255'
# Removed, it is new; of another size, too.
rm raw.png
cp strict.png loose.png
approve 0 'loose written strict unchanged raw written'
expect_json out 'tests[0].rmse' null

# Of one colour: refused where the reference is not.
cp image.frag first.frag
echo 'void mainImage(out vec4 c, in vec2 p) { c = vec4(0.0, 0.0, level * 0.0, 1.0); }' >image.frag
cksum loose.png >before
approve 0 'loose refused strict refused raw unchanged' --all -n
approve 1 'loose refused strict refused raw unchanged'
expect_json out ok false
expect_json out 'tests[0].reason' 'the picture is of one colour, (0, 0, 0)'
cksum loose.png >now
expect_same before now
expect_status 1 "$STBUILD" approve strict
expect_text out 'strict.png is refused (RMSE '
expect_text out '--force writes it'
approve 0 'loose written strict written raw unchanged' --force
echo 'void mainImage(out vec4 c, in vec2 p) { c = vec4(1.0, 0.0, level * 0.0, 1.0); }' >image.frag
approve 0 'loose written strict written raw unchanged'
rm strict.png
approve 1 'strict refused' strict
cp first.frag image.frag
approve 0 'loose written strict written raw unchanged'

# NaN in a buffer: refused for it and for what is drawn from it.
write_project 0.9 1
approve 1 'loose refused strict refused raw refused'
expect_json out 'tests[0].reason' "pass 'a' has NaN at this frame"
expect_json out 'tests[2].reason' "pass 'a' has NaN at this frame"
approve 0 'loose written' --force loose

# What cannot be rendered: nothing is written, with --force the rest.
write_project 0.5
echo 'void mainImage(out vec4 c, in vec2 p) { c = nothing; }' >image.frag
expect_status 1 "$STBUILD" approve
expect_text err 'nothing was approved'
cp first.frag image.frag

# Asked one by one, on a terminal.
expect_status 2 "$STBUILD" approve -i
expect_text err terminal
if command -v python3 >/dev/null; then
	write_project 0.1
	cat >terminal.py <<'PY'
import os, pty, sys
answers, words = sys.argv[1], sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    os.execv(words[0], words)
text = b""
asked = 0
while True:
    try:
        part = os.read(fd, 4096)
    except OSError:
        break
    if not part:
        break
    text += part
    while text.count(b"[y,n,a,q] ") > asked:
        os.write(fd, (answers[asked] + "\n").encode())
        asked += 1
sys.stdout.write(text.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
PY
	cksum loose.png raw.png >before
	expect_status 0 python3 terminal.py nyn "$STBUILD" approve -i
	expect_text out 'loose 8x4@0: write loose.png (RMSE '
	cksum loose.png raw.png >now
	expect_same before now
	expect_pixel strict.png 15 0 '0 0 26 255'
	expect_status 0 python3 terminal.py a "$STBUILD" approve -i
	expect_pixel loose.png 7 0 '0 0 26 255'
	approve 0 'loose unchanged strict unchanged raw kept'
fi

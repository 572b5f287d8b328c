#!/bin/sh
# Errors name the file, the line and the line's text; with -k the rest goes on.

. "$SRCDIR/tests/lib.sh"
need_egl

cat >stbuild.json <<'JSON'
{
	"format": 1,
	"project": { "name": "errors" },
	"render": { "width": 16, "height": 9 },
	"shader": { "common": "common.glsl" },
	"uniform": [ { "name": "rounds", "type": "int", "default": 1 } ],
	"pass": [
		{ "name": "image", "kind": "image", "source": "image.frag",
			"input": [ { "channel": 0, "source": "a" } ] },
		{ "name": "a", "kind": "buffer", "source": "a.frag", "width": 4, "height": 4 }
	],
	"preset": { "large": { "pass": { "a": { "width": 1024, "height": 1024 } } } },
	"trace": [
		{ "name": "one", "frames": [ 0, 1 ] },
		{ "name": "heavy", "frames": [ 1, 2 ], "preset": "large",
			"set": { "rounds": 20000 } },
		{ "name": "two", "frame": 2 }
	]
}
JSON
cat >common.glsl <<'GLSL'
float common_part(float x)
{
	return x;
}
GLSL
cat >image.frag <<'GLSL'
#if 0
#include "lib/unused.glsl"
#endif
void mainImage(out vec4 c, in vec2 p)
{
	c = vec4(common_part(texelFetch(iChannel0, ivec2(0), 0).r));
}
GLSL
# At frame 1 of "heavy" it takes minutes.
cat >a.frag <<'GLSL'
/* Two
   lines. */
#include "lib/deep.glsl"
void mainImage(out vec4 c, in vec2 p)
{
	float x = p.x;
	if (iFrame == 1)
		for (int i = 0; i < rounds; i++)
			x = deep(x + float(i));
	c = vec4(1.0 + min(abs(x), 0.0));
}
GLSL
mkdir lib
# Branches that are not taken are expanded, too.
printf 'one two\nthree\n\n' >lib/unused.glsl
cat >lib/deep.glsl <<'GLSL'
#include "deeper.glsl"
float deep(float x)
{
	return deeper(x) * 0.5;
}
GLSL
cat >lib/deeper.glsl <<'GLSL'
#if 0
#include "unused.glsl"
float deeper(int x) { return nothing; }
#else
float deeper(float x)
{
	return sin(x) + cos(x * x);
}
#endif
GLSL

capture 0 6 one two
expect_pixel target/traces/one@0.sttrace/final.png 0 0 '255 255 255 255'
cp -R target good

# at_fault FILE LINE TEXT: the next capture of "one" fails for this.
at_fault()
{
	capture 1 0 one
	expect_json out 'traces[0].status' failed
	expect_json out 'traces[0].error.file' "$1"
	expect_json out 'traces[0].error.line' "$2"
	expect_text err "$1:$2:"
	expect_text err "$3"
	diff -r target good || fail 'a failed capture changed a bundle'
}
for case in \
	"image.frag|s/common_part(/common_prat(/|6|common_prat(texelFetch" \
	"a.frag|s/float x = p.x/float x = p/|6|float x = p;" \
	"common.glsl|s/return x/return y/|3|return y;" \
	"lib/deep.glsl|s/deeper(x) /deeper(x) +* /|4|return deeper(x) +*" \
	"lib/deeper.glsl|s/cos(/csc(/|7|sin(x) + csc(x * x)"; do
	IFS='|' read -r file script line text <<CASE
$case
CASE
	cp "$file" kept
	edit "$file" "$script"
	at_fault "$file" "$line" "$text"
	# Once more: it is remembered, with its place.
	at_fault "$file" "$line" "$text"
	expect_json out counts.programs_compiled 0
	# Lines and comments are no part of a program, but of its places.
	printf '\n// One line\n' | cat - "$file" >moved
	cat moved >"$file"
	at_fault "$file" $((line + 2)) "$text"
	cp kept "$file"
done
# A text that knows its lines: what it reads is the line of the file, and what
# is wrong in it has its place all the same.
cp image.frag kept
cat >image.frag <<'GLSL'
#define HERE __LINE__
#include "lib/line.glsl"
#if __LINE__ != 3
#error line 3 is another
#endif
void mainImage(out vec4 c, in vec2 p)
{
	c = vec4(common_part(texelFetch(iChannel0, ivec2(0), 0).r));
	c.rgb = vec3(HERE, deep_line(), __LINE__) / 255.0;
#line 100
	c.b = p.x > 4.0 ? float(HERE) / 255.0 : c.b;
}
GLSL
printf '\n\n\n\n\nfloat deep_line() { return float(HERE); }\n' >lib/line.glsl
expect_status 0 "$STBUILD" --frame 3 -o lines.sttrace
expect_pixel lines.sttrace/final.png 0 0 '9 6 9 255'
expect_pixel lines.sttrace/final.png 8 0 '9 6 100 255'
# The fault's FILE, text, LINE:COLUMN and message.
while IFS='|' read -r file text place message; do
	cp image.frag kept.image
	cp common.glsl kept.common
	cp lib/line.glsl kept.lines
	printf '%b\n' "$text" >>"$file"
	expect_status 1 "$STBUILD" check
	expect_text err "$file:$place: pass '"
	expect_text err "$message"
	expect_no_text err 'generated'
	mv kept.image image.frag
	mv kept.common common.glsl
	mv kept.lines lib/line.glsl
done <<'CASES'
common.glsl|float x = nope;|5:11|nope
lib/line.glsl|float x = nope;|7:11|nope
image.frag|float x = nope;|13:11|nope
common.glsl|float one() { return \302\2401.0; }|5:22|U+00A0 (no-break space)
lib/line.glsl|\n#define ONE \342\200\2131.0\nfloat one() { return ONE; }|8:13|U+200B (zero width space)
image.frag|float one() { return \357\274\2101.0); }|13:22|U+FF08 (full-width form)
lib/line.glsl|void main() { }|7:6|main
CASES
# A linker's words have no place but that of what they name.
while IFS='|' read -r file text call place message; do
	cp image.frag kept.image
	cp common.glsl kept.common
	cp lib/line.glsl kept.lines
	printf '%b\n' "$text" >>"$file"
	edit image.frag "s/HERE, deep_line/$call + HERE, deep_line/"
	expect_status 1 "$STBUILD" check
	expect_text err "$file:$place: pass 'image'"
	expect_text err "$message"
	expect_no_text err 'generated'
	mv kept.image image.frag
	mv kept.common common.glsl
	mv kept.lines lib/line.glsl
done <<'CASES'
common.glsl|\nint f(int n) { return n < 2 ? 1 : f(n - 1); }|f(3)|6:5|static recursion
lib/line.glsl|int f(int n);\nint f(int n) { return n < 2 ? 1 : f(n - 1); }|f(3)|8:5|static recursion
lib/line.glsl|float g(float x);\nfloat f(float x) { return g(x); }|int(f(3.0))|8:27|unresolved
common.glsl|uniform vec4 many[99999];\nint f() { return int(many[iFrame].x); }|f()|5:1|
CASES
mv kept image.frag
rm lib/line.glsl lines.sttrace -r
# All of them at once.
cp image.frag kept
cp a.frag kept.a
edit image.frag 's/common_part(/common_prat(/'
edit a.frag 's/float x = p.x/float x = p/'
at_fault image.frag 6 'common_prat(texelFetch'
expect_json out 'errors#' 2
expect_json out 'errors[1].file' a.frag
expect_json out error.line 6
expect_text err 'a.frag:6:'
cp kept image.frag
cp kept.a a.frag
capture 0 0 one two
expect_bundles current current current

# An include that is gone has its place; nothing is captured at all.
cp a.frag kept
edit a.frag 's/deep.glsl/dep.glsl/'
expect_status 2 "$STBUILD" --json one
expect_json out error.file a.frag
expect_json out error.line 3
expect_text err lib/dep.glsl
printf '#include "a.glsl"\n' >lib/b.glsl
printf '\n#include "b.glsl"\n' >lib/a.glsl
edit a.frag 's/dep.glsl/a.glsl/'
expect_status 2 "$STBUILD" one
expect_text err 'a.glsl'
expect_text err 'b.glsl'
cp kept a.frag
rm lib/a.glsl lib/b.glsl

# A draw that takes too long is ended, and named. Without -k the run ends
# there; what came before it is kept.
edit stbuild.json 's/"frames": \[ 0, 1 \]/"frames": [ 0, 3 ]/'
expect_status 1 "$STBUILD" --json --timeout 2
expect_json out ok false
expect_json out 'traces[0].status' current
expect_json out 'traces[1].status' built
expect_json out 'traces[2].status' failed
expect_text err "'a'"
expect_text err 'frame 1'
expect_text err heavy@1
expect_json out counts.failures "$("$JSONQ" out counts.failures)"
expect_status 0 "$STBUILD" inspect target/traces/one@3.sttrace
# With it the others are made.
rm -r target/traces/two@2.sttrace
expect_status 1 "$STBUILD" --json --timeout 2 -k
expect_json out 'traces[1].status' current
expect_json out 'traces[2].status' failed
expect_json out 'traces[3].status' built
expect_json out 'traces[4].frame' 2
case $("$JSONQ" out 'traces[4].status') in
assembled|restored) ;;
*) fail "$(cat out)" ;;
esac
expect_json out counts.failures 1
expect_text err 'frame 1'
[ ! -e target/traces/heavy@1.sttrace ] || fail 'a bundle of what failed'

# All faults of a manifest, each with its place.
cat >stbuild.json <<'JSON'
{
	"format": 1,
	"project": { "name": "errors", "authro": "x" },
	"render": { "width": "wide", "height": 20000 },
	"uniform": [ { "name": "iTime", "type": "float", "default": 1 } ],
	"pass": [
		{ "name": "image", "kind": "imag", "source": "image.frag",
			"input": [ { "channel": 16, "source": "b" } ] },
		{ "name": "image", "kind": "buffer", "source": "gone.frag" }
	],
	"trace": [ { "name": "-", "frames": [ "3:1" ] } ]
}
JSON
expect_status 2 "$STBUILD" --json
cp err all
grep -c '^stbuild: stbuild.json:[0-9]*:[0-9]*: ' all >count || true
[ "$(cat count)" -ge 9 ] || fail "few errors: $(cat all)"
expect_json out 'errors#' "$(cat count)"
expect_text all 'stbuild.json:3:'
expect_text all "'author'"
expect_text all 'stbuild.json:4:'
expect_text all iTime
expect_text all "'image'"
expect_text all 'gone.frag'
for line in 3 4 5 7 8 9 11; do
	expect_text all "stbuild: stbuild.json:$line:"
done
"$JSONQ" out 'errors[0].column' >/dev/null || fail 'no column'
"$JSONQ" out 'errors[0].key' >/dev/null || fail 'no key'

# A folder for includes that is missing, or is none, is placed in the manifest.
mkdir -p folders && cd folders
echo 'void mainImage(out vec4 c, in vec2 p) { c = vec4(1.0); }' >image.frag
cat >stbuild.json <<'JSON'
{
	"format": 1, "project": { "name": "folders" },
	"shader": {
		"include_dirs": [ "there", "gone" ] },
	"pass": [ { "name": "image", "kind": "image", "source": "image.frag" } ]
}
JSON
mkdir there
expect_status 2 "$STBUILD" check --json
expect_json out error.file stbuild.json
expect_json out error.line 4
expect_json out error.column 30
expect_json out error.key 'shader.include_dirs[1]'
expect_text err "include folder 'gone' does not exist"
echo >gone
expect_status 2 "$STBUILD"
expect_text err "include folder 'gone' is a file"
rm gone && ln -s .. gone
expect_status 2 "$STBUILD" check
expect_text err "include folder 'gone' is outside the project"
rm gone && ln -s there gone
expect_status 0 "$STBUILD" check

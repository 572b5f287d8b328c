#!/bin/sh
# A run that found nothing to do leaves a record, and the next one answers by
# it: until anything that the answer rested on is another.
. "$SRCDIR/tests/lib.sh"
need_egl

mkdir inc
cat > stbuild.json <<'X'
{ "format": 1, "project": { "name": "u" },
  "render": { "width": 8, "height": 4, "fps": 10 },
  "shader": { "include_dirs": ["inc"] },
  "pass": [{ "name": "image", "kind": "image", "source": "image.frag" }],
  "trace": [{ "name": "a", "frames": [0, 3] }] }
X
printf '#include "lib.glsl"\nvoid mainImage(out vec4 c, in vec2 p) { c = vec4(F); }\n' > image.frag
echo '#define F 0.5' > inc/lib.glsl

skipped='nothing changed since the last run'

# Young files are not trusted by their stamps: three runs make a record.
settle()
{
	expect_status 0 "$STBUILD"
	sleep 2.2
	expect_status 0 "$STBUILD"
	expect_no_text err "$skipped"
	expect_status 0 "$STBUILD" -v
	expect_text err "$skipped"
}

# differs WHAT: the record no longer holds.
differs()
{
	expect_status 0 "$STBUILD" -v
	expect_no_text err "$skipped"
	printf '%s is noticed\n' "$1"
}

settle
# No GL, no database, no source is opened.
if can_strace; then
	run_strace -f -o trace "$STBUILD" >/dev/null 2>&1
	expect_no_text trace 'stbuild.db'
	expect_no_text trace 'image.frag", O_RDONLY'
	expect_no_text trace '--worker'
fi
expect_status 0 "$STBUILD" --json
[ "$("$JSONQ" out counts.traces_current)" = 2 ] || fail 'two are current'
[ "$("$JSONQ" out 'traces[1].path')" = target/traces/a@3.sttrace ] || fail path
[ "$("$JSONQ" out 'traces[1].status')" = current ] || fail status
expect_status 0 "$STBUILD" -q
expect_status 0 "$STBUILD" -n
# Another request has a record of its own.
expect_status 0 "$STBUILD" -v a@3
expect_no_text err "$skipped"
# -B means it.
expect_status 0 "$STBUILD" -B --json
[ "$("$JSONQ" out counts.nodes_drawn)" = 1 ] || fail 'one still picture'

settle
echo '#define F 0.25' > inc/lib.glsl
differs 'an edited include'
settle
# lib.glsl is looked for beside the source first.
echo '#define F 0.75' > lib.glsl
differs 'a file where there was none'
settle
rm target/traces/a@3.sttrace/final.png
differs 'a deleted output'
settle
rm -r target/traces/a@0.sttrace
differs 'a deleted bundle'
settle
touch stbuild.json
differs 'a touched manifest'
settle
GALLIUM_SOMETHING=1 differs 'the driver environment'
for record in .stbuild/runs/*; do
	printf 'x' | dd of="$record" bs=1 seek=100 conv=notrunc 2>/dev/null
done
differs 'a damaged record'
if command -v git >/dev/null; then
	settle
	git init -q .
	git add stbuild.json image.frag inc
	git -c user.name=t -c user.email=t@t commit -qm one
	differs 'a first commit'
	settle
	git -c user.name=t -c user.email=t@t commit -qm two --allow-empty
	differs 'a new HEAD'
fi

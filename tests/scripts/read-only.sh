#!/bin/sh
# A project in a store that may not be written to: what is stale is told, and
# why; nothing is captured.
. "$SRCDIR/tests/lib.sh"
need_egl

mkdir project
cat >project/stbuild.json <<'JSON'
{ "format": 1, "project": { "name": "r" },
  "render": { "width": 8, "height": 4 },
  "pass": [ { "name": "image", "kind": "image", "source": "image.frag" } ],
  "trace": [ { "name": "t", "frames": [ 0, 3 ] } ] }
JSON
echo 'void mainImage(out vec4 c, in vec2 p) { c = vec4(iTime); }' >project/image.frag
expect_status 0 "$STBUILD" -C project
cp -R project edited
cp -R project fresh
rm -rf fresh/.stbuild fresh/target
away=$PWD

# What only looks leaves no trace, where it might as well.
list()
{
	(cd "$1" && find . -print -exec ls -ld --time-style=full-iso {} +)
}
for dir in project edited fresh; do
	list $dir >before
	"$STBUILD" -C $dir -n >/dev/null
	"$STBUILD" -C $dir -q || :
	"$STBUILD" -C $dir status >/dev/null
	"$STBUILD" -C $dir why t >/dev/null || :
	list $dir >after
	expect_same before after
done
echo 'void mainImage(out vec4 c, in vec2 p) { c = vec4(iTime, 0, 0, 1); }' >edited/image.frag

# Root may write wherever the disk lets it.
export away
cat >inside.sh <<'SH'
. "$SRCDIR/tests/lib.sh"
for dir in project edited fresh; do
	if [ "$(id -u)" = 0 ]; then
		mount -o bind "$dir" "$dir" && mount -o remount,bind,ro "$dir" ||
			exit 77
	else
		chmod -R a-w "$dir"
	fi
done
expect_status 0 "$STBUILD" -C project -q
expect_status 0 "$STBUILD" -C project status --json
expect_json out ok true
expect_json out 'traces[1].status' current
expect_status 0 "$STBUILD" -C project why t
expect_status 1 "$STBUILD" -C edited -q
expect_status 0 "$STBUILD" -C edited -n --json
expect_json out 'traces[0].status' stale
expect_json out counts.nodes_drawn 2
expect_status 3 "$STBUILD" -C edited
expect_status 0 "$STBUILD" -C fresh -n --json
expect_json out counts.nodes_drawn 2
expect_status 1 "$STBUILD" -C fresh -q
expect_status 0 "$STBUILD" -C fresh status
expect_status 0 "$STBUILD" -C fresh why t
expect_status 0 "$STBUILD" -C fresh --store "$away/store" \
	-o "$away/x.sttrace" t@3
expect_same "$away/x.sttrace/final.png" project/target/traces/t@3.sttrace/final.png
SH
got=0
if [ "$(id -u)" = 0 ]; then
	unshare -m true 2>/dev/null || skip 'no mounts'
	unshare -m sh -eu inside.sh >log 2>&1 || got=$?
else
	sh -eu inside.sh >log 2>&1 || got=$?
	chmod -R u+w project edited fresh
fi
[ $got != 77 ] || skip 'no mounts'
expect_equal $got 0 "$(cat log)"

# A link that came with the project does not lead the output elsewhere.
mkdir elsewhere
for link in target target/traces; do
	rm -rf fresh/target
	mkdir -p "fresh/$(dirname "$link")"
	ln -s "$PWD/elsewhere" "fresh/$link"
	expect_status 2 "$STBUILD" -C fresh
	expect_text err 'symbolic link'
	[ -z "$(ls -A elsewhere)" ] || fail "written through $link"
done

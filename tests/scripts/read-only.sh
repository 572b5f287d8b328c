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
echo 'void mainImage(out vec4 c, in vec2 p) { c = vec4(iTime, 0, 0, 1); }' >edited/image.frag

# Root may write wherever the disk lets it.
cat >inside.sh <<'SH'
. "$SRCDIR/tests/lib.sh"
for dir in project edited; do
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
SH
got=0
if [ "$(id -u)" = 0 ]; then
	unshare -m true 2>/dev/null || skip 'no mounts'
	unshare -m sh -eu inside.sh >log 2>&1 || got=$?
else
	sh -eu inside.sh >log 2>&1 || got=$?
	chmod -R u+w project edited
fi
[ $got != 77 ] || skip 'no mounts'
expect_equal $got 0 "$(cat log)"

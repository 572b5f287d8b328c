#!/bin/sh
# A store with one fault of each kind: found, repaired, and what was lost drawn
# again. And what stats say of it.

. "$SRCDIR/tests/lib.sh"
need_egl

cat >stbuild.json <<'JSON'
{"format": 1, "project": {"name": "fsck"},
"render": {"width": 16, "height": 8, "fps": 10},
"pass": [
{"name": "sim", "kind": "buffer", "source": "sim.frag"},
{"name": "image", "kind": "image", "source": "image.frag",
 "input": [{"channel": 0, "source": "sim"}]}],
"trace": [{"name": "hero", "frame": 0}]}
JSON
echo 'void mainImage(out vec4 c, in vec2 p) { c = vec4(p, 1.0, 0.0); }' >sim.frag
echo 'void mainImage(out vec4 c, in vec2 p) {
	c = texelFetch(iChannel0, ivec2(p), 0) / 20.0; }' >image.frag

object()
{
	find .stbuild/objects -type f -size "$1" | sed -n 1p
}

# Absent.
expect_status 0 "$STBUILD" fsck --json
expect_json out objects 0
expect_json out sound true
expect_status 0 "$STBUILD" fsck --repair
expect_status 0 "$STBUILD" stats --json
expect_json out nodes 0
expect_json out database_bytes 0
[ ! -e .stbuild ] || fail 'a store was made'
expect_status 2 "$STBUILD" fsck now
expect_status 2 "$STBUILD" stats now
(cd / && ! "$STBUILD" fsck >/dev/null 2>&1) || fail 'a store without a project'

capture 0 2
expect_status 0 "$STBUILD" fsck
expect_text out 'the store is sound'
# A picture of 4 bytes a pixel, a buffer of 16.
expect_status 0 "$STBUILD" stats --json
expect_json out nodes 2
expect_json out objects 2
expect_json out products 2
expect_json out object_bytes 2560
expect_json out product_bytes 2560
expect_json out programs 2
expect_json out bundles 1
expect_json out history 1
expect_json out aliases 0
[ "$("$JSONQ" out database_bytes)" -gt 0 ] || fail 'no database'
bytes=$(cat target/traces/*/* | wc -c)
expect_json out bundle_bytes "$((bytes))"
expect_status 0 "$STBUILD" stats
expect_text out 'objects      2, 2.5 KiB'

# Other bytes, as many as before.
torn=$(object 2048c)
chmod u+w "$torn"
printf x | dd of="$torn" conv=notrunc 2>/dev/null
# A file that was never recorded, under its right name.
mkdir -p .stbuild/objects/2d
printf x >.stbuild/objects/2d/711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881
expect_status 1 "$STBUILD" fsck --json
expect_json out ok false
expect_json out sound false
expect_json out objects 3
expect_json out torn 1
expect_json out missing 0
expect_json out orphans 1
expect_json out bad_rows 0
# Looking repairs nothing.
expect_status 1 "$STBUILD" fsck -n --repair
expect_text out '1 corrupt (content does not match its hash)'
expect_status 1 "$STBUILD" -v fsck
expect_text err "$torn"
expect_status 0 "$STBUILD" fsck --repair --json
expect_json out ok true
expect_json out torn 1
expect_json out repaired true
[ ! -e "$torn" ] || fail 'a torn object stays'
expect_status 0 "$STBUILD" fsck --json
expect_json out objects 1
rm -r target
capture 0 1
expect_status 0 "$STBUILD" fsck --json
expect_json out objects 2

# Gone.
rm -f "$(object 512c)"
expect_status 1 "$STBUILD" fsck --json
expect_json out missing 1
expect_status 0 "$STBUILD" fsck --repair
expect_text out '1 recorded, but missing'
expect_text out repaired
rm -r target
capture 0 1

# A database that is none.
head -c 100 /dev/zero | dd of=.stbuild/stbuild.db conv=notrunc 2>/dev/null
expect_status 1 "$STBUILD" fsck --json
expect_json out bad_rows 1
expect_status 3 "$STBUILD" stats
expect_text err 'stbuild fsck --repair'
expect_status 3 "$STBUILD" gc
expect_status 0 "$STBUILD" fsck --repair
[ -f .stbuild/stbuild.db.damaged ] || fail 'the damaged database is gone'
expect_status 0 "$STBUILD" fsck
rm -r target
capture 0 2

# A file without end in an object's place, recorded or not: by its size alone.
rm -rf .stbuild target
capture 0 2
torn=$(object 2048c)
rm -f "$torn"
truncate -s 256G "$torn"
mkdir -p .stbuild/objects/2d
truncate -s 256G .stbuild/objects/2d/711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881
expect_status 1 timeout 60 "$STBUILD" fsck --json
expect_json out torn 2
expect_status 0 timeout 60 "$STBUILD" fsck --repair
[ ! -e "$torn" ] || fail 'a file of 256 GiB stays'
expect_status 0 "$STBUILD" fsck

# What is no file in the place of the database's log: the next run and a repair
# put it away, and who only looks is not kept from it.
for end in wal shm journal; do
	for kind in link folder pipe; do
		path=.stbuild/stbuild.db-$end
		for command in "capture -s" "fsck --repair"; do
			rm -rf "$path" target
			case $kind in
			link) ln -s /nowhere/at-all "$path" ;;
			folder) mkdir -p "$path/inner" ;;
			pipe) mkfifo "$path" ;;
			esac
			expect_status 1 timeout 60 "$STBUILD" -q
			# shellcheck disable=SC2086
			expect_status 0 timeout 60 "$STBUILD" $command
			if [ -h "$path" ] || [ -d "$path" ] || [ -p "$path" ]; then
				fail "$command: a $kind stays as -$end"
			fi
			expect_status 0 timeout 60 "$STBUILD" -s
			expect_status 0 timeout 60 "$STBUILD" fsck
		done
	done
done

# Of a newer version: no damage, and nothing of it is touched.
printf '\0\0\0\143' | dd of=.stbuild/stbuild.db bs=1 seek=60 conv=notrunc 2>/dev/null
cksum .stbuild/stbuild.db >before
expect_status 3 "$STBUILD" fsck
expect_text err 'written by a newer stbuild'
expect_status 3 "$STBUILD" fsck --repair
cksum .stbuild/stbuild.db | cmp - before

#!/bin/sh
# Objects that cannot be read, are no files, or hold other bytes than their name
# says: each is made again, nothing that came of them is kept, and no run
# goes round in circles.
. "$SRCDIR/tests/lib.sh"
need_egl

cat > stbuild.json <<'X'
{ "format": 1, "project": { "name": "o" },
  "render": { "width": 16, "height": 8, "fps": 10 },
  "pass": [{ "name": "sim", "kind": "buffer", "source": "sim.frag",
      "input": [{ "channel": 0, "source": "sim", "frame": "previous" }] },
    { "name": "image", "kind": "image", "source": "i.frag",
      "input": [{ "channel": 0, "source": "sim" }] }],
  "trace": [{ "name": "t", "frames": [6, 9] }] }
X
echo 'void mainImage(out vec4 c, in vec2 p) {
	c = texelFetch(iChannel0, ivec2(p), 0) * 0.5 + vec4(p / 16.0, 0.1, 1.0); }' > sim.frag
echo 'void mainImage(out vec4 c, in vec2 p) { c = texelFetch(iChannel0, ivec2(p), 0) * 0.4; }' > i.frag
expect_status 0 "$STBUILD" t@6
expect_status 0 "$STBUILD" --store fresh -o want.sttrace t@9
cp -R .stbuild sound

# Each object of frame 6 is spoilt; frame 9 goes on from there.
spoil()
{
	find .stbuild/objects -type f >list
	while read -r object; do
		case $1 in
		rot)
			chmod u+w "$object"
			printf 'rot' | dd of="$object" bs=1 seek=9 conv=notrunc 2>/dev/null
			;;
		folder) rm -f "$object"; mkdir "$object"; echo x >"$object/x" ;;
		short) : >"$object.new"; mv -f "$object.new" "$object" ;;
		esac
	done <list
}

for how in rot folder short; do
	rm -rf .stbuild target
	cp -R sound .stbuild
	spoil $how
	expect_status 0 timeout 60 "$STBUILD" --json t
	for f in final.png state.ststate; do
		expect_same want.sttrace/$f target/traces/t@9.sttrace/$f
	done
	expect_status 0 "$STBUILD" inspect target/traces/t@6.sttrace
	expect_status 0 "$STBUILD" fsck
	capture 0 0
done

# Somebody may not read what another has written; root reads everything.
rm -rf .stbuild target
cp -R sound .stbuild
run=
where=.
if [ "$(id -u)" = 0 ]; then
	need_tool setpriv
	where=$(mktemp -d)
	trap 'rm -rf "$where"' EXIT
	cp -R . "$where"
	cp "$STBUILD" "$where/program"
	chmod 755 "$where"
	chown -R 65534 "$where"
	run="setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=$where"
	STBUILD=$where/program
	$run "$STBUILD" -C "$where" -n >/dev/null 2>&1 || skip 'no other user'
fi
find "$where/.stbuild/objects" -type f -exec chmod 000 {} +
# shellcheck disable=SC2086
expect_status 0 $run timeout 60 "$STBUILD" -C "$where" t
[ "$(wc -l <err)" -lt 50 ] || fail "$(wc -l <err) lines: $(head -3 err)"
expect_same want.sttrace/final.png "$where/target/traces/t@9.sttrace/final.png"

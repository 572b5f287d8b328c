#!/bin/sh
# Edits during and between runs that overlap, held to builds from nothing: of
# sources, includes, a texture, and links. EDITS says how many (10).
. "$SRCDIR/tests/lib.sh"
need_egl

mkdir project pictures
cat > project/stbuild.json <<'X'
{ "format": 1, "project": { "name": "r" },
  "render": { "width": 32, "height": 18, "fps": 10 },
  "shader": { "include_dirs": ["inc"] },
  "asset": [{ "name": "tex", "kind": "texture", "path": "t.png" }],
  "pass": [{ "name": "sim", "kind": "buffer", "source": "sim.frag",
      "input": [{ "channel": 0, "source": "sim", "frame": "previous" }] },
    { "name": "image", "kind": "image", "source": "image.frag",
      "input": [{ "channel": 0, "source": "sim" }, { "channel": 1, "source": "tex" }] }],
  "trace": [{ "name": "t", "frames": ["0:8:2"] }] }
X
mkdir project/one project/two
echo '#define V 0.2' > project/one/v.glsl
echo '#define V 0.4' > project/two/v.glsl
ln -s one project/inc

# put FILE TEXT..: as editors save, by a new file in its place.
put()
{
	file=$1
	shift
	printf '%s\n' "$@" > "$file.new"
	mv "$file.new" "$file"
}

sim()
{
	put project/sim.frag '#include "v.glsl"' "void mainImage(out vec4 c, in vec2 p) {
	c = texelFetch(iChannel0, ivec2(p), 0) * 0.5 + vec4($1, V, p / 32.0); }"
}

image()
{
	put project/image.frag "void mainImage(out vec4 c, in vec2 p) {
	float x = p.x;
	for (int i = 0; i < 3000; i++) x = sin(x * 1.1 + $1);
	c = texelFetch(iChannel0, ivec2(p), 0) * 0.3
		+ texture(iChannel1, p / 32.0) * 0.4 + vec4(x * 0.1); }"
}

# Pictures to be the texture are what a project without one draws.
for k in 1 2 3; do
	mkdir "p$k"
	cat > "p$k/stbuild.json" <<'X'
{ "format": 1, "project": { "name": "p" }, "render": { "width": 4, "height": 4 },
  "pass": [{ "name": "image", "kind": "image", "source": "i.frag" }] }
X
	echo "void mainImage(out vec4 c, in vec2 p) { c = vec4(p / 4.0, 0.3 * $k.0, 1.0); }" > "p$k/i.frag"
	expect_status 0 "$STBUILD" -C "p$k" --frame 0 -o "$k.sttrace"
	cp "p$k/$k.sttrace/final.png" "pictures/$k.png"
done

seed=${SEED:-1}
# random N: into $random, below N.
random()
{
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	random=$((seed / 65536 % $1))
}

edit_one()
{
	random 6
	what=$random
	random 3
	case $what in
	0) sim "0.$((random + 1))" ;;
	1 | 2) image "0.$((random + 1))" ;;
	3 | 4)
		cp "pictures/$((random + 1)).png" project/t.png.new
		mv project/t.png.new project/t.png
		;;
	5)
		if [ "$(readlink project/inc)" = one ]; then to=two; else to=one; fi
		ln -sfn $to project/inc
		;;
	esac
}

# A moment within a run.
nap()
{
	random 40
	sleep "0.$(printf '%02d' $random)"
}

sim 0.1
image 0.1
cp pictures/1.png project/t.png
expect_status 0 "$STBUILD" -C project
n=0
while [ $n -lt "${EDITS:-10}" ]; do
	n=$((n + 2))
	edit_one
	"$STBUILD" -C project >out.a 2>err.a & other=$!
	nap
	edit_one
	got=0
	"$STBUILD" -C project >out.b 2>err.b || got=$?
	# 1: a file changed while it was in use, and it says so.
	[ $got = 0 ] || [ $got = 1 ] || fail "status $got: $(cat err.b)"
	got=0
	wait $other || got=$?
	[ $got = 0 ] || [ $got = 1 ] || fail "status $got: $(cat err.a)"
	expect_status 0 "$STBUILD" -C project
	expect_status 0 "$STBUILD" -C project -q
	expect_status 0 "$STBUILD" inspect project/target/traces/t@*.sttrace
	rm -rf fresh
	mkdir fresh
	cp -R project/stbuild.json project/sim.frag project/image.frag \
		project/one project/two project/inc project/t.png fresh
	expect_status 0 "$STBUILD" -C fresh
	for frame in 0 2 4 6 8; do
		for f in final.png state.ststate; do
			cmp -s "fresh/target/traces/t@$frame.sttrace/$f" \
				"project/target/traces/t@$frame.sttrace/$f" ||
				fail "$f of frame $frame is wrong after $n edits (SEED=${SEED:-1})"
		done
	done
done
expect_status 0 "$STBUILD" -C project fsck

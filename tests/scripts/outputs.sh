#!/bin/sh
# What is missing or altered is put back from the store, bit for bit; what the
# store lost is drawn again, and no more than that.

. "$SRCDIR/tests/lib.sh"
need_egl

cat >stbuild.json <<'JSON'
{
	"format": 1,
	"project": { "name": "outputs" },
	"render": { "width": 16, "height": 9 },
	"pass": [
		{ "name": "image", "kind": "image", "source": "image.frag",
			"input": [ { "channel": 0, "source": "sim" } ] },
		{ "name": "sim", "kind": "buffer", "source": "sim.frag",
			"input": [ { "channel": 0, "source": "sim", "frame": "previous" } ] }
	],
	"trace": [ { "name": "a", "frames": [ 3, 5 ], "include_intermediates": true } ]
}
JSON
cat >sim.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = texelFetch(iChannel0, ivec2(p), 0) + vec4(1.0, p.x, p.y, 1.0);
}
GLSL
cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = texelFetch(iChannel0, ivec2(p), 0) / vec4(8.0, 128.0, 128.0, 8.0);
}
GLSL

all_pictures()
{
	for dir in target/traces/*.sttrace; do
		echo "$dir"
		pictures "$dir"
	done
}

capture 0 8
expect_bundles built built
expect_equal "$(ls target/traces)" 'a@3.sttrace
a@5.sttrace'
dir=target/traces/a@5.sttrace
expect_equal "$(cd "$dir" && find . -type f | LC_ALL=C sort | tr '\n' ' ')" \
	'./final.png ./passes/sim-output-0.png ./passes/sim-output-0.rgba32f ./project.sttf ./state.ststate ./trace.json '
expect_pixel $dir/passes/sim-output-0.rgba32f 16 2 8 '6 15 51 6'
expect_pixel "$dir/final.png" 2 0 '191 30 102 255'
all_pictures >first
capture 0 0
expect_bundles current current

# restored FILE..: put back, the other bundle untouched.
restored()
{
	expect_status 1 "$STBUILD" -q
	capture 0 0
	expect_bundles current restored
	all_pictures >now
	expect_same first now
	expect_status 0 "$STBUILD" inspect "$dir"
	expect_text out "written by $("$STBUILD" --version | head -n 1)"
}
for file in final.png passes/sim-output-0.png passes/sim-output-0.rgba32f \
	project.sttf state.ststate trace.json; do
	rm "$dir/$file"
	restored
	: >"$dir/$file"
	restored
	# As long as before.
	size=$(wc -c <"$dir/$file")
	head -c "$((size - 1))" "$dir/$file" >altered
	printf x >>altered
	cat altered >"$dir/$file"
	restored
done
rm -r "$dir/passes"
restored
# A folder or a link in a file's place.
rm "$dir/final.png"
mkdir "$dir/final.png"
restored
cp "$dir/final.png" elsewhere.png
rm "$dir/final.png"
ln -s ../../../elsewhere.png "$dir/final.png"
restored
[ ! -h "$dir/final.png" ] || fail 'a link was left in the place of a file'
[ -f elsewhere.png ] || fail 'a link was followed'
capture 0 0
expect_bundles current current

# The whole bundle, all of them.
rm -r "$dir"
capture 0 0
case $("$JSONQ" out 'traces[1].status') in
assembled|restored) ;;
*) fail "a removed bundle is $(cat out)" ;;
esac
rm -r target
capture 0 0
all_pictures >now
expect_same first now
[ -f target/.gitignore ] || fail 'target has no .gitignore'

# Objects gone: nothing that stands needs them.
find .stbuild/objects -type f >objects
[ "$(wc -l <objects)" -ge 4 ] || fail "few objects: $(cat objects)"
rm -r .stbuild/objects
capture 0 0
expect_bundles current current
# What does is drawn again, from the start as no state is left.
rm "$dir/final.png"
capture 0 7
expect_bundles current built
all_pictures >now
expect_same first now
capture 0 0
expect_bundles current current

# One object gone while its row stands, each in turn: what is drawn is no more
# than what the image at frame 5 needs.
rm -rf .stbuild target
capture 0 8
find .stbuild/objects -type f >objects
other=torn
while read -r object; do
	cp "$object" kept
	for fault in gone $other; do
		# What frame 4 left beside it is not drawn for its own sake.
		[ -e "$object" ] || cp kept "$object"
		case $fault in
		gone) rm "$object" ;;
		torn) head -c 5 kept >"$object" ;;
		altered)
			chmod u+w "$object"
			head -c "$(($(wc -c <kept) - 1))" kept >"$object"
			printf '\377' >>"$object"
			! cmp -s kept "$object" || continue ;;
		esac
		rm -r target
		expect_status 0 "$STBUILD" --json
		drawn=$("$JSONQ" out counts.nodes_drawn)
		[ "$drawn" -le 5 ] || fail "$drawn draws, object $fault: $(cat out err)"
		all_pictures >now
		expect_same first now
	done
	rm kept
	case $other in
	torn) other=altered ;;
	*) other=torn ;;
	esac
done <objects
capture 0 0
expect_bundles current current

# The whole store.
rm -r .stbuild
capture 0 8
all_pictures >now
expect_same first now
capture 0 0
expect_bundles current current

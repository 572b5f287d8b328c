#!/bin/sh
# Names of uniforms: the language's words are refused at their place, and what
# is not refused compiles, in both dialects and beside each kind of pass.

. "$SRCDIR/tests/lib.sh"
need_egl

sed -n 's/^WORD(\([A-Za-z0-9_]*\),.*/\1/p' "$SRCDIR/src/glsl/word.def" >words
[ "$(wc -l <words)" -gt 200 ] || fail 'few words'
cat >>words <<'WORDS'
min
max
all
sin
texture
normalize
lessThan
color
number
texel
main
mainImage
mainCubemap
gl_FragCoord
GL_ES
GL_OES_standard_derivatives
__LINE__
__VERSION__
two__underscores
stb_color
stb_face
stbw_buffer
HW_PERFORMANCE
SHADERTOY_CLAMP_OUTPUT
sampleAudioSpectrum
iCh0
iChannel0
iAudioBass
WORDS
echo 'void mainImage(out vec4 c, in vec2 p) { c = vec4(1.0); }' >image.frag
echo 'void mainCubemap(out vec4 c, in vec2 p, in vec3 o, in vec3 d) { c = vec4(d, 1.0); }' >cube.frag
echo 'void mainCompute(ivec2 p) { imageStore(iOutput, p, vec4(1.0)); }' >compute.comp
echo 'vec2 mainSound(int number, float time) { return vec2(time); }' >sound.frag

# project DIALECT WORDS PASSES: a uniform each, in lines 4 and on.
project()
{
	printf '{ "format": 1, "project": { "name": "names" },\n'
	printf '"shader": { "dialect": "%s" },\n"uniform": [\n' "$1"
	sed 's/.*/{ "name": "&", "type": "float", "default": 0.5 },/' "$2" |
		sed '$s/,$//'
	printf '],\n"pass": [\n%s\n' "$3"
	printf '{ "name": "image", "kind": "image", "source": "image.frag" } ] }\n'
}

for dialect in essl glsl; do
	for passes in '' \
		'{ "name": "a", "kind": "cubemap", "source": "cube.frag" },' \
		'{ "name": "a", "kind": "sound", "source": "sound.frag" },' \
		'{ "name": "a", "kind": "compute", "source": "compute.comp",
			"width": 8, "height": 8 },'; do
		: >taken
		cp words free
		# Errors of a manifest are told up to a limit: so in rounds.
		while
			project $dialect free "$passes" >stbuild.json
			got=0
			"$STBUILD" check --json >out 2>err || got=$?
			[ $got = 2 ]
		do
			expect_text err 'stbuild: stbuild.json:'
			# "stbuild: stbuild.json:LINE:COLUMN: uniform[N].name: 'WORD' why".
			sed -n "s/^stbuild: stbuild.json:\([0-9]*\):[0-9]*: .*'\([A-Za-z0-9_]*\)' [a-z ].*/\1 \2/p" err |
				sort -u >told
			[ -s told ] || fail "nothing is told: $(cat err)"
			while read -r line word; do
				[ "$(sed -n "$((line - 3))p" free)" = "$word" ] ||
					fail "line $line is not $word's"
				echo "$word" >>taken
			done <told
			grep -vxF -f taken words >free
		done
		expect_equal $got 0
		for word in float sample half input double min main gl_FragCoord \
			__LINE__ stb_color iChannel0; do
			grep -qx $word taken || fail "$dialect: $word is taken for a name"
		done
		for word in sin color number; do
			grep -qx $word free || fail "$dialect: $word is refused"
		done
	done
done

# Desktop GLSL alone has these.
project essl words '' >stbuild.json
printf 'buffer\nshared\n' >few
project essl few '' >stbuild.json
expect_status 0 "$STBUILD" check
project glsl few '' >stbuild.json
expect_status 2 "$STBUILD" check
expect_text err 'stbuild.json:4:'
expect_text err "'shared' is a word of GLSL 4.30"

# Names of passes, storage and assets are nobody's words.
cat >stbuild.json <<'JSON'
{ "format": 1, "project": { "name": "names" },
"pass": [
{ "name": "float", "kind": "buffer", "source": "image.frag" },
{ "name": "Buffer A", "kind": "compute", "source": "compute.comp", "width": 8, "height": 8,
  "storage": [ { "binding": 0, "name": "buffer", "size": 64 } ] },
{ "name": "gl_image", "kind": "image", "source": "image.frag" } ] }
JSON
expect_status 0 "$STBUILD" check

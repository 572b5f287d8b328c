#!/bin/sh
# Includes follow conditions: what a branch leaves out need not be there, is no
# input, and is one as soon as the condition changes.

. "$SRCDIR/tests/lib.sh"
need_egl

cat >stbuild.json <<'JSON'
{ "format": 1, "project": { "name": "includes" },
	"render": { "width": 4, "height": 1 }, "shader": { "common": "common.glsl" },
	"pass": [ { "name": "image", "kind": "image", "source": "image.frag" } ] }
JSON
echo '#define FANCY 0' >common.glsl
cat >image.frag <<'GLSL'
#if 0
#include "never.glsl"
#endif
#if FANCY && defined HW_PERFORMANCE /* as on the site */
#include "fancy.glsl" /* needs more */
#else
float shade() { return 0.5; }
#endif
#include "a.glsl" /* guarded,
and so is */
#include "b.glsl" // this
#include "once.glsl"
#include "once.glsl"
void mainImage(out vec4 c, in vec2 p) { c = vec4(shade(), a(), once(), 1.0); }
GLSL
printf '#ifndef A\n#define A\n#include "b.glsl"\nfloat a() { return b(); }\n#endif\n' >a.glsl
printf '#ifndef B\n#define B\n#include "a.glsl"\nfloat b() { return 1.0; }\n#endif\n' >b.glsl
printf '#pragma once\nfloat once() { return float(__LINE__) / 255.0; }\n' >once.glsl
capture 0 1
expect_pixel target/traces/default@60.sttrace/final.png 0 0 '128 255 2 255'
# It comes to be there, changes and goes: nobody asked.
echo 'nonsense' >fancy.glsl
capture 0 0
expect_bundles current
rm fancy.glsl
capture 0 0
expect_bundles current
# Now somebody asks.
echo '#define FANCY 1' >common.glsl
expect_status 2 "$STBUILD"
expect_text err "image.frag:5:10: cannot find include \"fancy.glsl\""
printf 'float shade() { return 1.0; }\n' >fancy.glsl
capture 0 1
expect_pixel target/traces/default@60.sttrace/final.png 0 0 '255 255 2 255'
edit fancy.glsl 's/1.0/0.0/'
capture 0 1
# A cycle that no condition ends has its place.
echo '#include "b.glsl"' >once.glsl
edit b.glsl '/^#if\|^#end/d'
edit a.glsl '/^#if\|^#end/d'
expect_status 2 "$STBUILD"
expect_text err '#include cycle: '

#!/bin/sh
# A new project is valid as it is written, and nothing is overwritten.

. "$SRCDIR/tests/lib.sh"

expect_status 0 "$STBUILD" init 'night "sky"'
expect_equal "$(cat out)" 'night "sky"/shaders/image.frag
night "sky"/stbuild.json'
expect_status 0 "$STBUILD" -C 'night "sky"' graph --json
expect_json out project 'night "sky"'
expect_json out 'order[0]' image
expect_json out 'diagnostics#' 0
# Plain JSON: no comments, as editors and other readers want it.
! grep -q '//\|/\*' 'night "sky"/stbuild.json' || fail 'init writes comments'

cp -R 'night "sky"' before
expect_status 2 "$STBUILD" init 'night "sky"'
expect_text err 'already exists; nothing was written'
diff -r before 'night "sky"' || fail 'init changed a project'

mkdir other here
: >other/ShaderToy.toml
expect_status 2 "$STBUILD" init other
expect_equal "$(ls other)" ShaderToy.toml
expect_status 0 "$STBUILD" -C here init --json
expect_json out action init
expect_json out project here
expect_json out 'files[1]' stbuild.json
expect_status 2 "$STBUILD" init a b
expect_text err "unexpected operand 'b'"

# What it draws compiles.
need_egl
expect_status 0 "$STBUILD" -C here check --pedantic

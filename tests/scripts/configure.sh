#!/bin/sh
# What configure refuses, and that it says all that is missing at once.

. "$SRCDIR/tests/lib.sh"

conf=$SRCDIR/configure
expect_status 1 "$conf" --enable-asna
expect_text err "unknown option '--enable-asna'"
expect_status 1 "$conf" --with-nothing
expect_status 1 "$conf" --prefix=here
[ ! -e Makefile ] || fail 'a Makefile was written'
expect_status 0 "$conf" --help
expect_text out --install-deps

expect_status 1 "$conf" PKG_CONFIG=false
for module in egl epoxy sqlite3 libcjson libpng libcrypto libgit2 libjpeg; do
	expect_text out " $module"
done
[ ! -e Makefile ] || fail 'a Makefile was written'

mkdir 'a blank' && cd 'a blank'
expect_status 1 "$conf"
expect_text err blank
cd ..

expect_status 0 "$conf" --prefix=/opt/x CFLAGS='-O0 -DA=1' --enable-werror
expect_text Makefile 'prefix = /opt/x'
expect_text Makefile '-Werror  -O0 -DA=1'
expect_text config.log 'checking for renameat2'
expect_text config.h STBUILD_VERSION
[ ! -e config.tmp ] || fail 'config.tmp is left'
# The same again changes no time stamp that objects depend on.
touch -t 200001010000 config.h
expect_status 0 "$conf" --prefix=/opt/x
[ -z "$(find config.h -newermt 2001-01-01)" ] || fail 'config.h was written anew'

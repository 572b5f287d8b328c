#!/bin/sh
# What is installed, and that nothing of it stays.

. "$SRCDIR/tests/lib.sh"

# The program is built; make is not to look at its parts again.
install()
{
	make -C "$BUILDDIR" -s -o stbuild -o libstbuild.a -o all \
		DESTDIR="$PWD/root" bindir=/usr/bin \
		datadir=/usr/share mandir=/usr/share/man "$@" >log 2>&1 ||
		fail "$* $(cat log)"
}

install install
expect_status 0 root/usr/bin/stbuild --version
expect_text out 'stbuild '
for page in "$SRCDIR"/man/*.[1-9]; do
	[ -f root/usr/share/man/man"${page##*.}/${page##*/}" ] ||
		fail "${page##*/} is missing"
done
doc=root/usr/share/doc/stbuild
[ -f $doc/README.md ] || fail 'README.md is missing'
for example in "$SRCDIR"/examples/*/; do
	example=$(basename "$example")
	[ -f "$doc/examples/$example/stbuild.json" ] || fail "$example is missing"
done
# What captures leave there is nobody's example.
[ -z "$(find root -name target -o -name .stbuild)" ] ||
	fail 'bundles or a store are installed'
install uninstall
[ -z "$(find root ! -type d)" ] || fail "these stay: $(find root ! -type d)"

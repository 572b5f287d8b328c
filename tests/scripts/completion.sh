#!/bin/sh
# Scripts for shells, made from the tables of commands and options.

. "$SRCDIR/tests/lib.sh"

expect_status 2 "$STBUILD" completion
expect_text err 'name a shell'
expect_status 2 "$STBUILD" completion tcsh
expect_text err "no completion for 'tcsh'"

for shell in bash zsh fish; do
	expect_status 0 "$STBUILD" completion $shell
	cp out script.$shell
	for word in inspect completion pedantic timeout media; do
		expect_text script.$shell "$word"
	done
	! command -v $shell >/dev/null || $shell -n script.$shell ||
		fail "$shell does not take its script"
done

need_tool bash
# offer WORD..: what bash offers for the last word.
offer()
{
	bash -c '. ./script.bash
		COMP_WORDS=(stbuild "$@") COMP_CWORD=$#
		_stbuild
		printf "%s\n" "${COMPREPLY[@]}"' bash "$@" | sort >reply
}

mkdir -p 'some dir'
offer che
expect_equal "$(cat reply)" check
offer check --p
expect_equal "$(cat reply)" --pedantic
offer -C x check --p
expect_equal "$(cat reply)" --pedantic
offer graph --p
expect_equal "$(cat reply)" ''
offer completion z
expect_equal "$(cat reply)" zsh
offer graph --js
expect_equal "$(cat reply)" --json
offer -C so
expect_equal "$(cat reply)" 'some dir'
offer inspect so
expect_equal "$(cat reply)" 'some dir'

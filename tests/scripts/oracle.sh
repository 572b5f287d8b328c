#!/bin/sh
# Random projects and edits, against a program that knows the rules alone:
# tests/tool/oracle.c. ORACLE_SEED is the first round's, ORACLE_ROUNDS how many.

. "$SRCDIR/tests/lib.sh"
need_egl

"$BUILDDIR/tests/tool/oracle" "$STBUILD" "${ORACLE_SEED:-1}" \
	"${ORACLE_ROUNDS:-0}" "${ORACLE_SECONDS:-20}"

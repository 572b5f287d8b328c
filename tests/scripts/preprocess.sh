#!/bin/sh
# The same tokens as from another preprocessor, glslang's: hand-written cases,
# the examples, and the folders of shaders in PREPROCESS_DIRS.

. "$SRCDIR/tests/lib.sh"
need_tool glslangValidator
EXPAND=$BUILDDIR/tests/tool/expand

# same DIALECT FILE: the file through both.
same()
{
	case $1 in
	essl) version='300 es' ;;
	*) version='430 core' ;;
	esac
	{ echo '#define HW_PERFORMANCE 1' &&
		grep -v '^[[:space:]]*#[[:space:]]*\(version\|include\)' "$2"
	} >body.frag || :
	{ echo "#version $version" && echo '#line 1' && cat body.frag; } >whole.frag
	"$EXPAND" "$1" body.frag >ours || fail "$2"
	glslangValidator -E -S frag whole.frag >theirs.frag || fail "$2"
	"$EXPAND" lex theirs.frag >theirs
	expect_same ours theirs
	nfile=$((nfile + 1))
}

nfile=0
cat >one.frag <<'GLSL'
#define OBJECT a + b
#define EMPTY
#define F(x, y) x * y + F(y, x) OBJECT
#define G F
#define SELF SELF + OTHER
#define OTHER SELF - OTHER
#define NEST(x) [x NEST]
#define CALL(x) (x)
#define NONE() none
OBJECT EMPTY F(1, 2) F (3, (4, 5)) G(6, 7) G
(8, 9) F SELF OTHER NEST(NEST(1)) NONE() NONE F(,)
F(NEST(CALL(5)), OBJECT) NEST((a, b)) NEST(
	over +
	lines) end
#undef F
F(1, 2)
#define F(z) z
F(3) __LINE__ __VERSION__ F(__LINE__)
#if defined(F) && defined OBJECT && !defined(NOTHING) && __LINE__ == 22
yes
#elif 1
no
#endif
#if (1 + 2 * 3 - 4 / 2 % 3) << 2 == 20 && ~0 < 0 || 1 / 1
yes
#else
no
#endif
#ifndef EMPTY
#if nonsense
#error no
#else
#endif
#else
/* a comment */ F(1 /* more */ + // and more
2) 1.5e-3f .5 0x1Fu a.xy+=b--c>>=1^^2
#endif
#line 100
__LINE__
GLSL
cat >two.frag <<'GLSL'
#define CAT(a, b) a##b
#define DEF(type, name) type CAT(name, _of_)##type
CAT(x, 1) CAT(CA, T)
#if UNKNOWN + 1
yes
#endif
#ifdef GL_ES
no
#endif
GLSL
same essl one.frag
same glsl one.frag
same glsl two.frag
for file in "$SRCDIR"/examples/*/*.frag "$SRCDIR"/examples/*/*/*.frag \
	"$SRCDIR"/examples/*/*.glsl "$SRCDIR"/examples/*/*/*.glsl; do
	[ ! -f "$file" ] || same glsl "$file"
done
for dir in ${PREPROCESS_DIRS:-}; do
	for file in "$dir"/*.frag "$dir"/*.glsl; do
		[ ! -f "$file" ] || same essl "$file"
	done
done
[ "$nfile" -gt 3 ] || fail "only $nfile files"
echo "$nfile files, all equal"

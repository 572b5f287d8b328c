#!/bin/sh
# Calls that fail, and kills in them, in captures, restores, checks and gc: the
# run ends with a word, and never in an abort; the next one succeeds, with the
# right pictures, and the store is sound. "make check-faults" tries each of the
# first FAULTS calls of a kind; make check a few.
. "$SRCDIR/tests/lib.sh"
need_egl
[ "$(uname -s)" = Linux ] || skip 'LD_PRELOAD and /proc are wanted'

# shellcheck disable=SC2086
(cd "$BUILDDIR" && $COMPILE -shared -fPIC -o "$PWD/tests/fault.so" \
	"$SRCDIR/tests/fault/fault.c" -ldl) >log 2>&1 || skip "no fault library: $(cat log)"
LD_PRELOAD=$(cd "$BUILDDIR" && pwd)/tests/fault.so
case $LD_PRELOAD in
*asan*) skip 'preloading goes before the sanitizer' ;;
esac

mkdir base
cat > base/stbuild.json <<'X'
{ "format": 1, "project": { "name": "f" },
  "render": { "width": 16, "height": 8, "fps": 10 },
  "pass": [{ "name": "sim", "kind": "buffer", "source": "sim.frag",
      "input": [{ "channel": 0, "source": "sim", "frame": "previous" }] },
    { "name": "image", "kind": "image", "source": "i.frag",
      "input": [{ "channel": 0, "source": "sim" }] }],
  "trace": [{ "name": "t", "frames": [0, 3] }] }
X
echo 'void mainImage(out vec4 c, in vec2 p) {
	c = texelFetch(iChannel0, ivec2(p), 0) * 0.5 + vec4(p / 16.0, 0.1, 1.0); }' > base/sim.frag
echo 'void mainImage(out vec4 c, in vec2 p) { c = texelFetch(iChannel0, ivec2(p), 0) * 0.4; }' > base/i.frag
cp -R base want

# Loaded in all runs alike: it is part of the driver's identity.
run()
{
	env LD_PRELOAD="$LD_PRELOAD" timeout 60 "$STBUILD" "$@"
}

run -s -C base >/dev/null 2>&1 || skip 'nothing runs with a library preloaded'
edit_sources()
{
	echo 'void mainImage(out vec4 c, in vec2 p) { c = texelFetch(iChannel0, ivec2(p), 0) * 0.3; }' > "$1/i.frag"
}
edit_sources want
run -s -C want

# try KIND COMMAND..: with FAULT_* set by the caller.
ntry=0
try()
{
	kind=$1
	shift
	rm -rf work
	cp -R base work
	case $kind in
	cold) rm -rf work/.stbuild work/target; edit_sources work ;;
	edit) edit_sources work ;;
	restore) edit_sources work; run -s -C work; rm -rf work/target ;;
	gc) edit_sources work; run -s -C work ;;
	esac
	what="$kind: $FAULT_CALL $FAULT_AT $FAULT_ERRNO ${FAULT_STICKY:+sticky}"
	export FAULT_CALL FAULT_AT FAULT_ERRNO
	got=0
	run -C work "$@" >out 2>err || got=$?
	# Kept loaded, and quiet.
	call=$FAULT_CALL
	unset FAULT_CALL
	case $got in
	0 | 1 | 3 | 137) ;;
	*) fail "$what: status $got: $(cat err)" ;;
	esac
	expect_no_text err 'bug at'
	got=0
	run -s -C work >out 2>err || got=$?
	[ $got = 0 ] || fail "$what: then status $got: $(cat err)"
	run -C work fsck >out 2>err || fail "$what: fsck: $(cat out err)"
	for frame in 0 3; do
		for f in final.png state.ststate; do
			cmp "want/target/traces/t@$frame.sttrace/$f" \
				"work/target/traces/t@$frame.sttrace/$f" || fail "$what: $f"
		done
	done
	run -s inspect work/target/traces/t@*.sttrace >/dev/null || fail "$what: inspect"
	FAULT_CALL=$call
	ntry=$((ntry + 1))
}

# each CALL ERRNO AT..: all kinds of runs.
each()
{
	FAULT_CALL=$1 FAULT_ERRNO=$2
	shift 2
	for FAULT_AT; do
		try "$kinds"
	done
}

kinds=edit
if [ "${FAULTS:-0}" -gt 0 ]; then
	for kinds in cold edit restore gc; do
		command=
		[ "$kinds" != gc ] || command='gc --max-size 1'
		for call in write pwrite fsync rename open mmap lstat fstat read unlink link mkdir; do
			for error in 5 28 kill; do
				n=0
				while [ $n -lt "$FAULTS" ]; do
					n=$((n + 1))
					FAULT_CALL=$call FAULT_ERRNO=$error FAULT_AT=$n
					# shellcheck disable=SC2086
					try "$kinds" $command
				done
			done
		done
	done
else
	each rename 28 1 3
	each write 5 2 9
	each pwrite 28 2
	each rename kill 2 5
	each unlink kill 1
	FAULT_STICKY=1
	export FAULT_STICKY
	each lstat 5 1 20
	each fsync 5 1
	each write 28 6
	unset FAULT_STICKY
	FAULT_CALL=unlink FAULT_ERRNO=kill FAULT_AT=2
	try gc gc --max-size 1
fi
printf '%s faults\n' "$ntry"

#!/bin/sh
# A capture that goes on from a stored frame gives, bit for bit, what one from
# frame 0 gives, and draws the frames between alone.

. "$SRCDIR/tests/lib.sh"
need_egl
here=$PWD

# resumes NAME NPASS [N N N]: the project in this folder has NPASS passes that
# are drawn at every frame, and N of them at captured frames alone (1).
half=50
resumes()
{
	all=$((2 * half))
	mkdir fresh
	cp -R ./*.frag ./*.comp ./*.glsl stbuild.json fresh 2>/dev/null || :
	expect_status 0 "$STBUILD" --json --frames $half --include-intermediates
	expect_json out counts.nodes_drawn $(((half + 1) * $2 + ${3:-1}))
	expect_status 0 "$STBUILD" --json --frames $all --include-intermediates
	expect_json out counts.nodes_drawn $((half * $2 + ${4:-1}))
	expect_status 0 "$STBUILD" -C fresh --json --frames $all --include-intermediates
	expect_json out counts.nodes_drawn $(((all + 1) * $2 + ${5:-1}))
	expect_json out counts.nodes_loaded 0
	pictures target/traces/default@$all.sttrace >one
	pictures fresh/target/traces/default@$all.sttrace >two
	[ "$(wc -l <one)" -ge 4 ] || fail "few files: $(cat one)"
	expect_same one two
	for name in state.ststate final.png; do
		expect_same target/traces/default@$all.sttrace/$name \
			fresh/target/traces/default@$all.sttrace/$name
	done
	# It is no still: frame 50 differs.
	! cmp -s target/traces/default@$half.sttrace/state.ststate \
		target/traces/default@$all.sttrace/state.ststate ||
		fail "$1: two frames have one state"
}

head='"format": 1, "project": { "name": "resume" }, "render": { "width": 8, "height": 4 },
	"store": { "checkpoint": "off" },'
cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p) { c = fract(texelFetch(iChannel0, ivec2(p), 0)); }
GLSL
project()
{
	cd "$here" && mkdir "$1" && cd "$1"
	cp ../image.frag .
	printf '{ %s "pass": [ %s,\n{ "name": "image", "kind": "image", "source": "image.frag", "input": [ %s ] } ] }\n' \
		"$head" "$2" "$3" >stbuild.json
}
self='"input": [ { "channel": 0, "source": "a", "frame": "previous" } ]'

# A chaotic map a texel: the last bit of one frame is all of another, fifty on.
project buffers '{ "name": "a", "kind": "buffer", "source": "a.frag", "input": [
	{ "channel": 0, "source": "b", "frame": "previous" } ] },
	{ "name": "b", "kind": "buffer", "source": "b.frag", "format": "rg32f", "input": [
	{ "channel": 0, "source": "a" }, { "channel": 1, "source": "b", "frame": "previous" } ] }' \
	'{ "channel": 0, "source": "b" }'
cat >a.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	float x = texelFetch(iChannel0, ivec2(p), 0).r;
	if (iFrame == 0)
		x = fract((p.x + 8.0 * p.y) * 0.6180339);
	c = vec4(3.9 * x * (1.0 - x), x, iTime, 1.0);
}
GLSL
cat >b.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = texelFetch(iChannel0, ivec2(p), 0);
	c.g = fract(c.g + 1.7 * texelFetch(iChannel1, ivec2(p.y, 0), 0).g + 0.1);
}
GLSL
resumes buffers 2

project targets '{ "name": "a", "kind": "buffer", "source": "a.frag", "extra_outputs": ["r32f", "rgba16f"], '"$self"' }' \
	'{ "channel": 0, "source": "a" }, { "channel": 1, "source": "a", "output": 1 }, { "channel": 2, "source": "a", "output": 2 }'
cat >a.frag <<'GLSL'
layout(location = 1) out vec4 one;
layout(location = 2) out vec4 two;
void mainImage(out vec4 c, in vec2 p)
{
	float x = texelFetch(iChannel0, ivec2(p), 0).r;
	if (iFrame == 0)
		x = fract((p.x + 8.0 * p.y) * 0.6180339);
	c = vec4(3.9 * x * (1.0 - x));
	one = vec4(x + 1.0);
	two = vec4(x, iTime, p);
}
GLSL
resumes targets 1

# Both halves of a pass with discard are needed: it draws over t - 2.
project kept '{ "name": "a", "kind": "buffer", "source": "a.frag", '"$self"' }' '{ "channel": 0, "source": "a" }'
cat >a.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	float x = texelFetch(iChannel0, ivec2(7.0 - p.x, p.y), 0).r;
	if (iFrame < 2)
		x = fract((p.x + 8.0 * p.y + 100.0 * float(iFrame)) * 0.6180339);
	if (iFrame > 1 && (int(p.x) + iFrame) % 3 == 0)
		discard;
	c = vec4(3.9 * x * (1.0 - x), iTime, 0.0, 1.0);
}
GLSL
resumes kept 1

# The image over what it was itself: drawn at every frame.
cat >../image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	if ((int(p.x) + iFrame) % 7 != 0)
		discard;
	c = fract(texelFetch(iChannel0, ivec2(p), 0) + iTime);
}
GLSL
project over '{ "name": "a", "kind": "buffer", "source": "a.frag", '"$self"' }' '{ "channel": 0, "source": "a" }'
cp ../buffers/a.frag .
resumes over 2 0 0 0
cp ../buffers/image.frag ..

project cube '{ "name": "a", "kind": "cubemap", "source": "a.frag", '"$self"' },
	{ "name": "b", "kind": "buffer", "source": "b.frag", "input": [ { "channel": 0, "source": "a" } ] }' \
	'{ "channel": 0, "source": "b" }'
cat >a.frag <<'GLSL'
void mainCubemap(out vec4 c, in vec2 p, in vec3 origin, in vec3 direction)
{
	float x = texture(iChannel0, direction).r;
	if (iFrame == 0)
		x = fract(direction.x * 3.0 + direction.y * 7.0 + 0.3);
	c = vec4(3.9 * x * (1.0 - x), direction);
}
GLSL
cat >b.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p) { c = texture(iChannel0, vec3(p - 3.0, 1.5)); }
GLSL
# The buffer is drawn where it is shown, as the image. Faces are large.
half=6
resumes cube 1 2 2 2
half=50

project compute '{ "name": "a", "kind": "compute", "source": "a.comp", "width": 8, "height": 4, "iterations": 2,
	"extra_outputs": ["rgba16f"],
	"storage": [ { "binding": 0, "name": "sum", "size": 64 } ] },
	{ "name": "b", "kind": "buffer", "source": "b.frag", "input": [ { "channel": 0, "source": "a" } ],
	"storage": [ { "binding": 0, "name": "sum", "size": 64 } ] }' \
	'{ "channel": 0, "source": "b" }, { "channel": 1, "source": "a", "output": 1 }'
cat >a.comp <<'GLSL'
layout(std430, binding = 0) buffer Sum { uint n; float last[8]; };
void mainCompute(ivec2 p)
{
	float x = imageLoad(iOutput, p).r;
	if (iFrame == 0 && iIteration == 0)
		x = fract(float(p.x + 8 * p.y) * 0.6180339);
	x = 3.9 * x * (1.0 - x);
	imageStore(iOutput, p, vec4(x, last[p.x], float(n % 3u), 1.0));
	imageStore(iOutput1, p, imageLoad(iOutput1, p) + vec4(x));
}
GLSL
cat >b.frag <<'GLSL'
layout(std430, binding = 0) buffer Sum { uint n; float last[8]; };
void mainImage(out vec4 c, in vec2 p)
{
	c = texelFetch(iChannel0, ivec2(p), 0);
	if (int(p.y) == 1) {
		last[int(p.x)] += c.r;
		atomicAdd(n, uint(c.r * 1000.0));
	}
}
GLSL
resumes compute 2

#!/bin/sh
# The page that shows tests, traces and what changed, in a real browser.

. "$SRCDIR/tests/lib.sh"
need_egl
need_tool git
need_tool "${CHROMIUM:=chromium}"
need_tool python3
export CHROMIUM
unset CI
browse()
{
	python3 "$SRCDIR/tests/tool/browser.py" "$@" || fail "the page $1"
}

git init -q .
git config user.name t
git config user.email t@example.org
cat >stbuild.json <<'JSON'
{
	"format": 1,
	"project": { "name": "a </script> <b>" },
	"render": { "width": 64, "height": 36, "fps": 10 },
	"uniform": [ { "name": "level", "type": "float", "default": 0.5 } ],
	"pass": [
		{ "name": "image", "kind": "image", "source": "image.frag",
			"input": [ { "channel": 0, "source": "sim", "filter": "nearest" } ] },
		{ "name": "sim", "kind": "buffer", "source": "sim.frag", "width": 8, "height": 8,
			"input": [ { "channel": 0, "source": "sim", "frame": "previous" } ] }
	],
	"trace": [
		{ "name": "hero", "frames": [0, 2, 4] },
		{ "name": "lit", "frame": 1, "set": { "level": 1 } }
	],
	"test": [
		{ "name": "bright", "frames": [1, 3], "pass": "sim", "mean_range": [0.1, 0.2] },
		{ "name": "level", "frame": 2, "reference": "level.png" },
		{ "name": "other level", "frame": 2, "reference_uniforms": { "level": 0.25 },
			"max_rmse": 0.01 }
	]
}
JSON
cat >sim.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	c = texelFetch(iChannel0, ivec2(p), 0) + vec4(0.125, 0.0, 0.0, 0.0);
}
GLSL
cat >image.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	float a = texelFetch(iChannel0, ivec2(0), 0).r;
	c = vec4(a, p.x < 20.0 && p.y < 8.0 ? level : 0.0, p.x / iResolution.x, 1.0);
}
GLSL
expect_status 0 "$STBUILD" approve level
git add . && git commit -q -m one

# Tests. The reference was approved with another picture.
edit image.frag 's/p.x < 20.0/p.x < 24.0/'
expect_status 1 "$STBUILD" test --report page
[ ! -e page/data ] || fail 'small pictures are not in the page'
browse page/index.html <<'EOS'
size 1100 800
light
expect document.title === 'a </script> <b>: tests'
expect document.documentElement.dataset.theme === 'light'
expect document.querySelectorAll('.card').length === 3
expect [...document.images].every(i => i.naturalWidth === 64 || i.naturalWidth === 8)
click [data-filter=all]
expect document.querySelectorAll('.card').length === 4
shot list.png
click #search
key l
key e
key v
expect document.querySelectorAll('.card').length === 2
run $('search').value = ''; $('search').blur(); list()
click [data-filter=failed]
run document.activeElement.blur(); mark(shown.findIndex(c => c.name === 'level'))
key Enter
expect $('view').open && stbuildView.actual && stbuildView.expected
expect $('name').textContent === 'level 64x36@2'
expect stbuildView.mode === 'slider'
run $('canvas').focus()
key d
expect stbuildView.mode === 'side'
key x
expect stbuildView.mode === 'difference' && stbuildView.difference.most === 128
key o
key .
expect Math.abs(stbuildView.amount - .52) < 1e-9
key b
expect stbuildView.blink
key s
run setAmount(0.25)
shot slider.png
key p
expect stbuildView.pointer.x === 20 && stbuildView.pointer.y === 35
expect $('values').textContent.includes('pixel (20, 0) from the bottom left')
expect /expected +96, 0, 82/.test($('values').textContent)
expect /actual +96, 128, 82/.test($('values').textContent)
expect $('facts').textContent.includes('pixel (20, 0), green: 0 \u2192 128')
expect $('facts').textContent.includes('rmse') && $('facts').textContent.includes('FAILED')
run $('layer').value = '1'; $('layer').onchange()
expect stbuildView.actual.kind === 'floats' && stbuildView.actual.width === 8
run view.x = 0; view.y = 0; view.zoom = 8; values(4, 4)
expect $('values').textContent.includes('0.375, 0, 0, 0')
key j
expect $('name').textContent === 'other level 64x36@2'
expect $('facts').textContent.includes('First difference')
key t
expect document.documentElement.dataset.theme === 'dark'
shot dark.png
key Escape
expect !$('view').open
key ?
expect $('help').open
EOS

# Too many pictures for one file: beside it, loaded when looked at.
cat >many.py <<'PY'
import json
m = json.load(open("stbuild.json"))
m["trace"] = []
m["render"].update(width=160, height=90)
m["test"] = [{"name": f"case {i}", "frame": 1, "uniforms": {"level": i / 1000},
              "mean_range": [0, 0.5 if i % 2 else 1e-9]} for i in range(500)]
m["pass"] = [{"name": "image", "kind": "image", "source": "noise.frag"}]
json.dump(m, open("many.json", "w"))
PY
cat >noise.frag <<'GLSL'
void mainImage(out vec4 c, in vec2 p)
{
	uvec2 q = uvec2(p) * uvec2(1664525u, 22695477u);
	uint n = (q.x ^ q.y ^ (q.x << 7) ^ (q.y >> 5)) * 2654435761u;
	c = vec4(fract(float(n >> 8) / 65536.0 + level), level, 0.0, 1.0);
}
GLSL
python3 many.py
expect_status 1 "$STBUILD" -f many.json test --report page
[ "$(find page/data -name '*.js' | wc -l)" -gt 300 ] || fail 'nothing is beside the page'
[ "$(wc -c <page/index.html)" -lt 1500000 ] || fail 'pictures are in the page as well'
browse page/index.html <<'EOS'
size 1100 800
expect document.querySelectorAll('.card').length > 200
expect [...document.images].slice(0, 4).every(i => i.naturalWidth === 160)
expect [...document.images].filter(i => i.naturalWidth).length < 100
run window.begun = performance.now(); filter = 'all'; list(); document.body.offsetHeight; window.took = performance.now() - begun
expect document.querySelectorAll('.card').length === 500
expect took < 2000
run scrollTo(0, document.body.scrollHeight)
expect [...document.images].at(-1).naturalWidth === 160
EOS

# Traces, with a scrubber; what was there before is replaced.
expect_status 0 "$STBUILD" report --traces -o page
[ ! -e page/data ] || fail 'pictures of the earlier report are left'
browse page/index.html <<'EOS'
size 400 800
expect document.querySelectorAll('.card').length === 2
expect document.documentElement.scrollWidth <= 400
run const range = document.querySelector('.scrub input'); range.value = 2; range.oninput()
expect document.querySelector('.scrub .small').textContent === 'frame 4'
shot phone.png
run document.activeElement.blur()
key Enter
expect stbuildView.actual && $('name').textContent === 'hero@4'
run $('canvas').focus()
key ,
expect $('name').textContent === 'hero@2'
EOS

# What changed between two commits.
git commit -q -a -m two
expect_status 0 "$STBUILD" report HEAD~1..HEAD -o page --json
expect_json out ok true
browse page/index.html <<'EOS'
expect document.querySelectorAll('.card').length === 4
expect cases.every(c => c.status === 'changed')
run show(0)
expect stbuildView.expected && stbuildView.difference.most === 128
expect $('facts').textContent.includes("pass 'image'") || $('facts').textContent.includes('the picture')
expect $('facts').textContent.includes('source')
EOS
expect_status 0 "$STBUILD" report HEAD..HEAD -o page
browse page/index.html <<'EOS'
expect cases.length === 4 && cases.every(c => c.status === 'equal')
EOS

# Nothing of others' is written over.
mkdir mine && echo text >mine/notes
expect_status 2 "$STBUILD" report -o mine
expect_text err "'mine' contains something other than a report"
expect_status 2 "$STBUILD" report HEAD
expect_status 2 "$STBUILD" report --tests HEAD~1..HEAD

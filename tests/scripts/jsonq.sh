#!/bin/sh
# The tool that the other scripts look into JSON with.

. "$SRCDIR/tests/lib.sh"

cat >doc <<'EOF'
{"ok": true, "counts": {"nodes_drawn": 12, "big": 1e300, "half": 0.5},
"traces": [{"name": "a b", "status": "built"}, null, []],
"inputs": {"a.glsl": "x", "[0]": {"y": 3}}, "git": null}
EOF
expect_json doc ok true
expect_json doc counts.nodes_drawn 12
expect_json doc counts.half 0.5
expect_json doc counts '{"nodes_drawn":12,"big":1e+300,"half":0.5}'
expect_json doc 'traces[0].name' 'a b'
expect_json doc 'traces[1]' null
expect_json doc 'traces#' 3
expect_json doc 'traces[2]#' 0
expect_json doc 'inputs["a.glsl"]' x
expect_json doc 'inputs["[0]"].y' 3
expect_json doc git null
for path in absent traces.x 'traces[3]' 'traces[-1]' 'traces[x]' ok.x ok# \
	'inputs["a.glsl' counts. 'counts.nodes_drawn.'; do
	expect_status 1 "$JSONQ" doc "$path"
	expect_equal "$(cat out)" '' "$path"
done
expect_status 2 "$JSONQ" absent ok
for text in '' '{' '{} {}' '[1] x'; do
	printf '%s' "$text" >broken
	expect_status 2 "$JSONQ" broken ok
done

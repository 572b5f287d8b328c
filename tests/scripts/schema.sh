#!/bin/sh
# The JSON Schema of the manifest, by a validator that others wrote: manifests
# with one fault (the rows of tests/unit/manifest.c) are refused, good ones are
# not.

. "$SRCDIR/tests/lib.sh"

python=python3
[ ! -x /usr/bin/python3 ] || python=/usr/bin/python3
need_tool $python
$python -W ignore -c 'from jsonschema import Draft202012Validator' 2>/dev/null ||
	skip 'python3-jsonschema is not installed'

"$STBUILD" help --schema >schema.json
mkdir rows good
"$BUILDDIR/tests/unit/manifest" rows
"$STBUILD" -C good init plain >out 2>&1 || fail "init: $(cat out)"
cat >table.py <<'PY'
import copy, glob, json, re, sys
from jsonschema import Draft202012Validator

schema = json.load(open("schema.json"))
Draft202012Validator.check_schema(schema)
validator = Draft202012Validator(schema)
bad = 0

def complain(*words):
    global bad
    bad += 1
    print(*words, file=sys.stderr)

# What JSON Schema cannot say (src/project/schema_rules.c), by the loader's words.
beyond = [
    r"expected an integer .*got [0-9]+\.0$",
    r"twice|already used|bytes in another pass",
    r"unknown (pass|preset|uniform|pass or asset|storage buffer) '",
    r"is of kind '|only passes have|outputs 0 to|sound pass|previous frame to",
    r"passes read each other|reads its own current frame",
    r"preset\.[a-z.]*: .*(only compute|a size of its own)",
    r"the scaled size|beyond frame|more than [0-9]+ frames",
    r"is greater than|above the maximum|below the minimum",
    r"'[0-9]+:[0-9]+' is not a frame number or range",
    r"\.(set|uniforms)\.[a-z]+: expected",
    r"needs a buffer or compute pass of a fixed size",
]

both, alone = 0, 0
for path in sorted(glob.glob("rows/*.json"))[1:]:
    said = open(path[:-4] + "said").read()
    if not said:
        complain("taken by the loader:", path)
    excused = any(re.search(rule, said) for rule in beyond)
    if not validator.is_valid(json.load(open(path))):
        both += 1
    elif excused:
        alone += 1
    else:
        complain("refused by the loader alone:", said)

good = ["rows/000.json"] + glob.glob("good/**/stbuild.json", recursive=True)
good += glob.glob(sys.argv[1] + "/examples/*/stbuild.json")
for path in good:
    text = re.sub(r"^\s*//.*", "", open(path).read(), flags=re.M)
    for error in validator.iter_errors(json.loads(text)):
        complain("good, and refused:", path, error.message[:300])

# One change each of the skeleton: taken (1) or refused (0).
skeleton = json.load(open("rows/000.json"))
cases = [
    (1, "render.date", "2024-02-29"), (0, "render.date", "2100-02-29"),
    (1, "render.date", "2000-02-29 23:59:59.5Z"),
    (0, "render.date", "2000-01-01T24:00"), (0, "render.date", "2000-04-31"),
    (1, "pass.0.local_size", [32, 32, 1]), (1, "pass.0.local_size", [1024, 1, 1]),
    (1, "pass.0.local_size", [3, 341, 1]), (0, "pass.0.local_size", [3, 342, 1]),
    (0, "pass.0.local_size", [33, 32, 1]), (0, "pass.0.local_size", [1, 1, 2]),
    (1, "asset.0.path", " a/..b/c..png "), (0, "asset.0.path", "a/.. "),
    (0, "asset.0.path", " c:/x"), (0, "asset.0.path", "\\x"),
    (1, "asset.0.path", "ab:c"),
    (1, "timeline.0.keys", {"down": ["A", "Left", "f12", "\\", " ", "]", 255]}),
    (0, "timeline.0.keys", {"down": ["f13"]}), (0, "timeline.0.keys", {"down": ["AA"]}),
    (1, "trace.0.frames", [1, " 2 , 3:9:2", 1]), (0, "trace.0.frames", ["1:2:0"]),
    (0, "trace.0.frames", ["1,"]), (0, "trace.0.frames", ["1:"]),
    (0, "uniform.0.name", "iAudioBass"), (0, "uniform.0.name", "stb_x"),
    (1, "uniform.0.name", "iChannel16"), (0, "uniform.0.name", "iChannel15"),
    (0, "uniform.0.name", "a__b"), (0, "uniform.0.name", "sampler2D"),
    (0, "uniform.2.min", False), (0, "uniform.2.step", 1),
    (0, "uniform.1.default", 2147483648), (1, "uniform.1.default", -2147483648),
    (0, "uniform.3.min", 0), (1, "uniform.3.min", [0, 0, 0]),
    (1, "store.max_age", "30"), (0, "store.max_age", "3y"),
    (1, "pass.1.format", "r32f"), (1, "pass.3.format", "rgba32f"),
    (1, "pass.1.iterations", 1), (1, "pass.3.extra_outputs", []),
    (0, "pass.1.height", 3), (0, "pass.3.width", 3),
    (0, "pass.3.input.0.source", "keyboard+texture"),
    (0, "preset.half.pass.sim", {"width": 3}),
    (1, "preset.half.pass.sim", {"width": 3, "height": 3}),
    (0, "preset.half.render_scale", 0), (0, "trace.0.time", 1),
    (1, "trace.0.width", 3), (0, "test.0.time", 1), (0, "test.0.height", 1),
    (0, "test.0.epsilon", 1), (1, "test.0.epsilon", 0),
    (0, "test.0.max_flip", 0.1), (0, "test.0.assert_no_nan", False),
    (0, "test.0.max_psnr", 0), (1, "$schema", "x.json"), (0, "format", 2),
    (0, "project.name", " \t"), (0, "project.author", "\0"),
]
if "iAudioBass" in json.dumps(schema):
    for dialect in "essl", "glsl":
        cases.append((dialect == "essl", "uniform.0.name", "iAudioBass:" + dialect))
        cases.append((dialect == "glsl", "uniform.0.name", "iCh0:" + dialect))
else:
    complain("the schema knows no reserved names")
cases.remove((0, "uniform.0.name", "iAudioBass"))
for want, path, value in cases:
    manifest = copy.deepcopy(skeleton)
    if path == "uniform.0.name" and ":" in value:
        value, manifest["shader"]["dialect"] = value.split(":")
    at = manifest
    keys = [int(k) if k.isdigit() else k for k in path.split(".")]
    for key in keys[:-1]:
        at = at[key]
    at[keys[-1]] = value
    if value == "keyboard+texture":
        at["source"], at["kind"] = value.split("+")
    if validator.is_valid(manifest) != bool(want):
        complain("refused:" if want else "taken:", path, value)
    open("cases/%d-%03d.json" % (want, len(glob.glob("cases/*"))), "w").write(
        json.dumps(manifest))

print(f"{both} refused by both, {alone} by the loader alone, "
      f"{len(good)} good, {len(cases)} cases, {bad} wrong")
sys.exit(bad > 0 or both < 80)
PY
mkdir cases
$python -W ignore table.py "$SRCDIR" >out 2>err || fail "$(cat out err)"

# The loader agrees on each of the cases.
"$BUILDDIR/tests/unit/manifest" --load cases/*.json >verdicts ||
	fail 'the loader did not read all cases'
sed -n 's|^\([01]\) cases/\([01]\)-.*|\1 \2 &|p' verdicts |
	while read -r got want line; do
		[ "$got" = "$want" ] || fail "the loader: $line"
	done

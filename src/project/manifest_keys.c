#include "manifest_keys.h"

#include <math.h>

#include "util/limits.h"

#define TO(type, field) .to = offsetof(struct type, field)
#define LIST(type, field, n) \
	.to = offsetof(struct type, field), .count = offsetof(struct type, n)
#define HAS(type, field) .has = offsetof(struct type, field)
#define SIZE .min = 1, .max = LIMIT_SIZE
#define NO_LIMIT .min = -HUGE_VAL, .max = HUGE_VAL
#define FROM_ZERO .min = 0, .max = HUGE_VAL
#define UNIT .min = 0, .max = 1
#define WORDS(list) .word = list, .nword = sizeof list / sizeof *list
#define ROWS(rows) .key = rows, .nkey = sizeof rows / sizeof *rows

static const char *const dialects[] = { "glsl", "essl" };
static const char *const types[] = {
	"float",
	"int",
	"bool",
	"vec2",
	"vec3",
	"vec4",
};
static const char *const asset_kinds[] = {
	"texture",
	"cubemap",
	"volume",
	"video",
};
static const char *const pass_kinds[] = {
	"image",
	"buffer",
	"cubemap",
	"compute",
	"sound",
};
static const char *const formats[] = {
#define FORMAT(name, word, ...) word,
#define TARGET(...)
#include "project/format.def"
};
static const char *const input_kinds[] = {
	"pass",
	"texture",
	"cubemap",
	"volume",
	"keyboard",
	"music",
	"video",
	"webcam",
};
static const char *const frames_of_input[] = { "current", "previous" };
static const char *const filters[] = { "linear", "nearest", "mipmap" };
static const char *const wraps[] = { "repeat", "clamp" };

static const struct key project_keys[] = {
	{ "name", KEY_NAME, "Name of the project.", TO(manifest, name),
	    .flags = KEY_REQUIRED },
	{ "author", KEY_TEXT, "Who made it.", TO(manifest, author) },
	{ "description", KEY_TEXT, "What it shows.", TO(manifest, description) },
	{ "source_url", KEY_TEXT, "Where it came from.", TO(manifest, source_url) },
	{ "source_id", KEY_TEXT, "Its name there.", TO(manifest, source_id) },
};
static const struct table project_table = { ROWS(project_keys) };

static const struct key render_keys[] = {
	{ "width", KEY_INT, "Width of the output, pixels.", TO(manifest, width), SIZE },
	{ "height", KEY_INT, "Height of the output, pixels.", TO(manifest, height),
	    SIZE },
	{ "fps", KEY_NUMBER, "Frames a second; time is frame / fps.", TO(manifest, fps),
	    .flags = KEY_ABOVE, .max = LIMIT_FPS },
	{ "preview_time", KEY_NUMBER,
	    "Time in seconds that is captured when no frame is named.",
	    TO(manifest, preview_time), FROM_ZERO },
	{ "date", KEY_DATE, "What iDate starts from: ISO 8601, UTC.",
	    TO(manifest, date) },
};
static const struct table render_table = {
	ROWS(render_keys),
	.check = check_render,
};

static const struct key shader_keys[] = {
	{ "include_dirs", KEY_PATHS, "Folders searched by #include.",
	    LIST(manifest, include_dir, ninclude_dir), .max = 1024 },
	{ "common", KEY_FILE, "A file put in front of every pass.",
	    TO(manifest, common) },
	{ "dialect", KEY_WORD, "essl: GLSL ES 3.00, as in a browser. glsl: desktop GLSL.",
	    TO(manifest, dialect), .flags = KEY_ALWAYS, WORDS(dialects) },
};
static const struct table shader_table = { ROWS(shader_keys) };

static const struct key uniform_keys[] = {
	{ "name", KEY_UNIFORM_NAME, "As the shaders spell it.", TO(uniform, name),
	    .flags = KEY_REQUIRED },
	{ "type", KEY_WORD, "GLSL type.", TO(uniform, type), .flags = KEY_REQUIRED,
	    WORDS(types) },
	{ "default", KEY_VALUE, "Value when nothing else sets it.", TO(uniform, value),
	    .flags = KEY_REQUIRED },
	{ "min", KEY_VALUE, "Least value, by component.", TO(uniform, min),
	    HAS(uniform, has_min) },
	{ "max", KEY_VALUE, "Greatest value, by component.", TO(uniform, max),
	    HAS(uniform, has_max) },
	{ "step", KEY_NUMBER, "Step of a slider.", TO(uniform, step),
	    HAS(uniform, has_step), .flags = KEY_ABOVE, .max = HUGE_VAL },
};
static const struct uniform uniform_defaults = { 0 };
static const struct table uniform_table = {
	ROWS(uniform_keys),
	sizeof(struct uniform),
	&uniform_defaults,
	0,
	check_uniform,
};

static const struct key asset_keys[] = {
	{ "name", KEY_NODE_NAME, "Name that inputs use.", TO(asset, name),
	    .flags = KEY_REQUIRED },
	{ "kind", KEY_WORD, "What the file contains.", TO(asset, kind),
	    .flags = KEY_REQUIRED, WORDS(asset_kinds) },
	{ "path", KEY_FILE, "The file.", TO(asset, path), .flags = KEY_REQUIRED },
	{ "vflip", KEY_BOOL, "Turn the rows at upload.", TO(asset, vflip) },
	{ "channels", KEY_INT, "1: keep red alone, read (v,0,0,1).", TO(asset, channels),
	    .min = 1, .max = 1 },
};
static const struct asset asset_defaults = { 0 };
static const struct table asset_table = {
	ROWS(asset_keys),
	sizeof(struct asset),
	&asset_defaults,
	0,
	check_asset,
};

static const struct key storage_keys[] = {
	{ "binding", KEY_U32, "Binding of the block.", TO(storage, binding),
	    .flags = KEY_REQUIRED, .max = UINT32_MAX },
	{ "name", KEY_NAME, "Name shared by passes.", TO(storage, name),
	    .flags = KEY_REQUIRED },
	{ "size", KEY_U64, "Size in bytes.", TO(storage, size), .flags = KEY_REQUIRED,
	    .min = 1, .max = 9007199254740992.0 },
};
static const struct storage storage_defaults = { 0 };
static const struct table storage_table = {
	ROWS(storage_keys),
	sizeof(struct storage),
	&storage_defaults,
	0,
	check_storage,
};

static const struct key input_keys[] = {
	{ "channel", KEY_INT, "N of iChannelN.", TO(input_ref, channel),
	    .flags = KEY_REQUIRED, .min = 0, .max = LIMIT_CHANNELS - 1 },
	{ "source", KEY_SOURCE, "A pass, an asset, keyboard, music or webcam.",
	    TO(input_ref, pass), .flags = KEY_REQUIRED },
	{ "kind", KEY_WORD, "What the source is; found out when not given.",
	    .to = KEY_NOWHERE, WORDS(input_kinds) },
	{ "output", KEY_INT, "Which output of the pass.", TO(input_ref, output), .min = 0,
	    .max = 255 },
	{ "frame", KEY_WORD, "This frame's output, or the one before.",
	    TO(input_ref, is_previous), WORDS(frames_of_input) },
	{ "filter", KEY_WORD, "How texels are mixed.", TO(input_ref, filter),
	    WORDS(filters) },
	{ "wrap", KEY_WORD, "What is beyond the edge.", TO(input_ref, wrap),
	    WORDS(wraps) },
};
static const struct input_ref input_defaults = { .pass = -1, .asset = -1 };
static const struct table input_table = {
	ROWS(input_keys),
	sizeof(struct input_ref),
	&input_defaults,
	offsetof(struct input_ref, line),
	check_input,
};

static const struct key pass_keys[] = {
	{ "name", KEY_NODE_NAME, "Name that inputs use.", TO(pass, name),
	    .flags = KEY_REQUIRED },
	{ "kind", KEY_WORD, "What it draws; one pass is the image.", TO(pass, kind),
	    .flags = KEY_REQUIRED, WORDS(pass_kinds) },
	{ "source", KEY_FILE, "The GLSL file.", TO(pass, source), .flags = KEY_REQUIRED },
	{ "width", KEY_INT, "Fixed width; without, the output's.", TO(pass, width),
	    SIZE },
	{ "height", KEY_INT, "Fixed height; without, the output's.", TO(pass, height),
	    SIZE },
	{ "format", KEY_WORD, "Texel format of its output.", TO(pass, format),
	    WORDS(formats) },
	{ "extra_outputs", KEY_FORMATS, "Formats of outputs 1 to 7.",
	    TO(pass, extra_output), .max = LIMIT_EXTRA_OUTPUTS, WORDS(formats) },
	{ "iterations", KEY_INT, "Dispatches a frame.", TO(pass, iterations), .min = 1,
	    .max = LIMIT_ITERATIONS },
	{ "local_size", KEY_TRIPLE, "Work group size.", TO(pass, local_size) },
	{ "duration", KEY_NUMBER, "Length of a sound, seconds.", TO(pass, duration),
	    .flags = KEY_ABOVE, .max = LIMIT_SOUND_S },
	{ "storage", KEY_TABLES, "Shader storage buffers.", LIST(pass, storage, nstorage),
	    .max = LIMIT_STORAGE_NAMES, .table = &storage_table },
	{ "input", KEY_TABLES, "What its channels read.", LIST(pass, input, ninput),
	    .max = 1024, .table = &input_table },
};
static const struct pass pass_defaults = {
	.iterations = 1,
	.local_size = { 8, 8, 1 },
	.duration = 180,
};
static const struct table pass_table = {
	ROWS(pass_keys),
	sizeof(struct pass),
	&pass_defaults,
	offsetof(struct pass, line),
	check_pass,
};

static const struct key preset_pass_keys[] = {
	{ "width", KEY_INT, "Width instead of the pass's.", TO(preset_pass, width),
	    SIZE },
	{ "height", KEY_INT, "Height instead of the pass's.", TO(preset_pass, height),
	    SIZE },
	{ "iterations", KEY_INT, "Dispatches a frame.", TO(preset_pass, iterations),
	    .min = 1, .max = LIMIT_ITERATIONS },
	{ "local_size", KEY_TRIPLE, "Work group size.", TO(preset_pass, local_size) },
};
static const struct preset_pass preset_pass_defaults = { 0 };
static const struct table preset_pass_table = {
	ROWS(preset_pass_keys),
	sizeof(struct preset_pass),
	&preset_pass_defaults,
	0,
	check_preset_pass,
};

static const struct key preset_keys[] = {
	{ "render_scale", KEY_NUMBER, "Factor on the output's size.",
	    TO(preset, render_scale), HAS(preset, has_render_scale), .flags = KEY_ABOVE,
	    .max = HUGE_VAL },
	{ "pass", KEY_PRESET_PASSES, "What changes in passes, by name.",
	    LIST(preset, pass, npass), .max = LIMIT_PASSES, .table = &preset_pass_table },
};
static const struct preset preset_defaults = { .render_scale = 1 };
static const struct table preset_table = {
	ROWS(preset_keys),
	sizeof(struct preset),
	&preset_defaults,
	0,
	check_preset,
};

static const struct key keys_keys[] = {
	{ "down", KEY_KEYS, "Keys that are down: codes 0 to 255, or names (A, left, f1).",
	    LIST(timeline_step, key, nkey), .flags = KEY_REQUIRED, .max = 256 },
};
static const struct table keys_table = { ROWS(keys_keys) };

static const struct key step_keys[] = {
	{ "frame", KEY_INT, "The values hold from this frame on.",
	    TO(timeline_step, frame), .flags = KEY_REQUIRED, .min = 0,
	    .max = LIMIT_FRAME },
	{ "set", KEY_SET, "Values of uniforms.", LIST(timeline_step, set, nset) },
	{ "mouse", KEY_MOUSE, "iMouse.", TO(timeline_step, mouse),
	    HAS(timeline_step, has_mouse) },
	{ "keys", KEY_TABLE, "The keyboard.", HAS(timeline_step, has_keys),
	    .table = &keys_table },
};
static const struct timeline_step step_defaults = { 0 };
static const struct table step_table = {
	ROWS(step_keys),
	sizeof(struct timeline_step),
	&step_defaults,
	0,
	NULL,
};

static const struct key trace_keys[] = {
	{ "name", KEY_TRACE_NAME, "Name of the target and its bundles.", TO(trace, name),
	    .flags = KEY_REQUIRED },
	{ "preset", KEY_PRESET, "A preset to render with.", TO(trace, preset) },
	{ "width", KEY_INT, "Width instead of render's.", TO(trace, width), SIZE },
	{ "height", KEY_INT, "Height instead of render's.", TO(trace, height), SIZE },
	{ "fps", KEY_NUMBER, "Frames a second instead of render's.", TO(trace, fps),
	    .flags = KEY_ABOVE, .max = LIMIT_FPS },
	{ "frames", KEY_FRAMES, "Frames to capture: numbers and \"A:B:STEP\" ranges.",
	    LIST(trace, frame, nframe) },
	{ "frame", KEY_INT, "The one frame to capture.", .to = KEY_NOWHERE, .min = 0,
	    .max = LIMIT_FRAME },
	{ "time", KEY_NUMBER, "The time to capture, seconds.", .to = KEY_NOWHERE,
	    FROM_ZERO },
	{ "set", KEY_SET, "Values of uniforms.", LIST(trace, set, nset) },
	{ "timeline", KEY_TABLES, "Used instead of the project's.",
	    LIST(trace, timeline.step, timeline.nstep), HAS(trace, has_timeline),
	    .max = 1000000, .table = &step_table },
	{ "include_intermediates", KEY_BOOL, "Put the passes' pictures into the bundle.",
	    TO(trace, include_intermediates) },
};
static const struct trace trace_defaults = { 0 };
static const struct table trace_table = {
	ROWS(trace_keys),
	sizeof(struct trace),
	&trace_defaults,
	offsetof(struct trace, line),
	check_trace,
};

static const struct key test_storage_keys[] = {
	{ "name", KEY_STORAGE, "A storage buffer of a pass.", TO(test_storage, name),
	    .flags = KEY_REQUIRED },
	{ "reference", KEY_PATH, "File with the bytes it must hold.",
	    TO(test_storage, reference), .flags = KEY_REQUIRED },
};
static const struct test_storage test_storage_defaults = { 0 };
static const struct table test_storage_table = {
	ROWS(test_storage_keys),
	sizeof(struct test_storage),
	&test_storage_defaults,
	0,
	NULL,
};

static const struct key test_keys[] = {
	{ "name", KEY_TEST_NAME, "Name of the test.", TO(test, name),
	    .flags = KEY_REQUIRED },
	{ "frame", KEY_INT, "The one frame to look at.", .to = KEY_NOWHERE, .min = 0,
	    .max = LIMIT_FRAME },
	{ "time", KEY_NUMBER, "The time to look at, seconds.", .to = KEY_NOWHERE,
	    FROM_ZERO },
	{ "frames", KEY_FRAMES, "Frames to look at, each a variant.",
	    LIST(test, frame, nframe), .max = LIMIT_TEST_FRAMES },
	{ "width", KEY_INT, "Width instead of render's.", .to = KEY_NOWHERE, SIZE },
	{ "height", KEY_INT, "Height instead of render's.", .to = KEY_NOWHERE, SIZE },
	{ "resolutions", KEY_RESOLUTIONS, "Sizes, each a variant.",
	    LIST(test, size, nsize), .max = LIMIT_TEST_RESOLUTIONS },
	{ "pass", KEY_PASS, "The pass to look at; without, the image.", TO(test, pass) },
	{ "reference", KEY_PATH, "Picture to compare with.", TO(test, reference) },
	{ "baseline", KEY_BOOL, "The file 'baselines' has what is accepted.",
	    TO(test, baseline) },
	{ "tolerance", KEY_NUMBER, "Greatest RMSE that passes.", TO(test, tolerance),
	    HAS(test, has_tolerance), UNIT },
	{ "min_rmse", KEY_NUMBER, "The pictures must differ this much.",
	    TO(test, min_rmse), HAS(test, has_min_rmse), UNIT },
#define METRIC(name, word, key, is_higher_better, lowest, highest, text) \
	{ key, KEY_NUMBER, text, TO(test, limit[METRIC_##name]), \
		HAS(test, has_limit[METRIC_##name]), .min = lowest, .max = highest },
#include "project/metric.def"
#undef METRIC
	{ "epsilon", KEY_INT, "Differences of a byte that max_pixels ignores.",
	    TO(test, epsilon), .min = 0, .max = 255 },
	{ "mask", KEY_PATH, "Picture whose black pixels do not count.", TO(test, mask) },
	{ "raw_tolerance", KEY_NUMBER,
	    "Greatest difference of floats that count as equal.", TO(test, raw_tolerance),
	    FROM_ZERO },
	{ "mean_range", KEY_RANGE, "Where the mean of all values must be.",
	    TO(test, mean_range), HAS(test, has_mean_range) },
	{ "assert_no_nan", KEY_BOOL, "No value is NaN.", TO(test, assert_no_nan) },
	{ "assert_no_inf", KEY_BOOL, "No value is infinite.", TO(test, assert_no_inf) },
	{ "assert_deterministic", KEY_BOOL, "Two runs give the same.",
	    TO(test, assert_deterministic) },
	{ "assert_resolution_independent", KEY_BOOL, "All resolutions give the same.",
	    TO(test, assert_resolution_independent) },
	{ "assert_state_roundtrip", KEY_BOOL, "State saved and restored is the same.",
	    TO(test, assert_state_roundtrip) },
	{ "max_gpu_ms", KEY_NUMBER, "Budget of a frame, milliseconds.",
	    TO(test, max_gpu_ms), HAS(test, has_max_gpu_ms), FROM_ZERO },
	{ "max_pass_gpu_ms", KEY_BUDGETS, "Budgets by pass, milliseconds.",
	    LIST(test, budget, nbudget) },
	{ "uniforms", KEY_SET, "Values of uniforms.", LIST(test, set, nset) },
	{ "reference_uniforms", KEY_SET, "Compare with a render with these values.",
	    LIST(test, reference_set, nreference_set), HAS(test, has_reference_set) },
	{ "storage", KEY_TABLES, "Storage buffers to compare.",
	    LIST(test, storage, nstorage), .max = LIMIT_STORAGE_NAMES,
	    .table = &test_storage_table },
};
static const struct test test_defaults = { .pass = -1, .tolerance = 0.002 };
static const struct table test_table = {
	ROWS(test_keys),
	sizeof(struct test),
	&test_defaults,
	offsetof(struct test, line),
	check_test,
};

static const struct key driver_keys[] = {
	{ "name", KEY_NAME, "Name of the class.", TO(driver_class, name),
	    .flags = KEY_REQUIRED },
	{ "pattern", KEY_NAME, "What GL_RENDERER is like: *, ? and [..].",
	    TO(driver_class, pattern), .flags = KEY_REQUIRED },
};
static const struct driver_class driver_defaults = { 0 };
static const struct table driver_table = {
	ROWS(driver_keys),
	sizeof(struct driver_class),
	&driver_defaults,
	0,
	NULL,
};

static const struct key store_keys[] = {
	{ "max_size", KEY_BYTES, "Size that gc keeps the store below.",
	    TO(manifest, store_max_size) },
	{ "max_age", KEY_AGE, "Age at which gc removes unused objects.",
	    TO(manifest, store_max_age_s) },
	{ "checkpoint", KEY_CHECKPOINT,
	    "When state is stored: auto, off, or every N frames.",
	    TO(manifest, checkpoint) },
	{ "remote", KEY_TEXT, "A store to share.", TO(manifest, store_remote) },
};
static const struct table store_table = { ROWS(store_keys) };

/* In the order of loading: what refers to names comes behind them. */
static const struct key root_keys[] = {
	{ "$schema", KEY_TEXT, "For editors: a JSON Schema of this file.",
	    .to = KEY_NOWHERE },
	{ "format", KEY_INT, "Version of the format.", .to = KEY_NOWHERE,
	    .flags = KEY_REQUIRED, .min = 1, .max = 1 },
	{ "project", KEY_TABLE, "What it is.", .flags = KEY_REQUIRED,
	    .table = &project_table, .section = MANIFEST_PROJECT },
	{ "render", KEY_TABLE,
	    "What is rendered unless a trace or the command "
	    "line says otherwise.",
	    .table = &render_table },
	{ "shader", KEY_TABLE, "How sources are read.", .table = &shader_table },
	{ "uniform", KEY_TABLES, "Uniforms of the project's own.",
	    LIST(manifest, uniform, nuniform), .max = 4096, .table = &uniform_table },
	{ "asset", KEY_TABLES, "Pictures, cubemaps, volumes.",
	    LIST(manifest, asset, nasset), .max = 4096, .table = &asset_table },
	{ "pass", KEY_TABLES, "The GLSL programs.", LIST(manifest, pass, npass),
	    .flags = KEY_REQUIRED, .max = LIMIT_PASSES, .table = &pass_table },
	{ "preset", KEY_PRESETS, "Named changes of size and work.",
	    LIST(manifest, preset, npreset), .max = 4096, .table = &preset_table },
	{ "timeline", KEY_TABLES, "Uniforms and input over time.",
	    LIST(manifest, timeline.step, timeline.nstep), .max = 1000000,
	    .table = &step_table },
	{ "trace", KEY_TABLES, "What stbuild captures.", LIST(manifest, trace, ntrace),
	    HAS(manifest, has_traces), .max = LIMIT_TRACES, .table = &trace_table,
	    .section = MANIFEST_TRACES },
	{ "test", KEY_TABLES, "The regression suite.", LIST(manifest, test, ntest),
	    .max = 100000, .table = &test_table, .section = MANIFEST_TESTS },
	{ "driver", KEY_TABLES, "Classes of drivers that share baselines.",
	    LIST(manifest, driver, ndriver), .max = 256, .table = &driver_table,
	    .section = MANIFEST_TESTS },
	{ "store", KEY_TABLE, "The store of finished work.", .table = &store_table,
	    .section = MANIFEST_STORE },
};

const struct manifest manifest_defaults = {
	.width = 1280,
	.height = 720,
	.fps = 60,
	.preview_time = 1,
	.date = { 2000, 1, 1, 0, 0, 0 },
	.dialect = DIALECT_ESSL,
	.image = -1,
	.store_max_size = (uint64_t)10 << 30,
};

const struct table manifest_root = {
	ROWS(root_keys),
	sizeof(struct manifest),
	&manifest_defaults,
	0,
	NULL,
};

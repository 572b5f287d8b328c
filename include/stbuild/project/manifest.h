#ifndef STBUILD_PROJECT_MANIFEST_H
#define STBUILD_PROJECT_MANIFEST_H

/*
 * The manifest, format 1: stbuild.json, stbuild.toml, ShaderToy.toml. One
 * schema, one loader over struct doc; stbuild.json(5) is its manual. Indices
 * between passes and assets are resolved here, so nothing behind this module
 * looks up names.
 */

#include <stddef.h>
#include <stdint.h>

#include "project/doc.h"
#include "util/tree.h"
#include "project/value.h"
#include "util/err.h"
#include "util/sha256.h"

struct buf;

enum dialect { DIALECT_GLSL, DIALECT_ESSL };

enum pass_kind {
	PASS_IMAGE,
	PASS_BUFFER,
	PASS_CUBEMAP,
	PASS_COMPUTE,
	PASS_SOUND,
};

/* Texel formats of outputs. RGBA8 is the image's target alone. */
enum format {
#define FORMAT(name, ...) FORMAT_##name,
#include "project/format.def"
};

enum asset_kind { ASSET_TEXTURE, ASSET_CUBEMAP, ASSET_VOLUME, ASSET_VIDEO };

enum input_kind {
	INPUT_PASS,
	INPUT_TEXTURE,
	INPUT_CUBEMAP,
	INPUT_VOLUME,
	INPUT_KEYBOARD,
	INPUT_MUSIC,
	INPUT_VIDEO,
	INPUT_WEBCAM,
};

enum filter { FILTER_LINEAR, FILTER_NEAREST, FILTER_MIPMAP };
enum wrap { WRAP_REPEAT, WRAP_CLAMP };

struct uniform {
	char *name;
	enum value_type type;
	struct value value; /* the default */
	int has_min, has_max, has_step;
	struct value min, max;
	double step;
};

struct asset {
	char *name;
	enum asset_kind kind;
	char *path;   /* relative to the root */
	int vflip;    /* rows turned at upload */
	int channels; /* 0: the file's; 1: reads (v,0,0,1) */
};

struct storage {
	uint32_t binding;
	char *name;
	uint64_t size; /* bytes, > 0 */
};

struct input_ref {
	int channel; /* 0..15 */
	enum input_kind kind;
	int pass, asset; /* index, or -1 */
	int output;      /* of the pass, from 0 */
	int is_previous;
	enum filter filter;
	enum wrap wrap;
	int line, column; /* in the manifest */
};

struct pass {
	char *name;
	enum pass_kind kind;
	char *source;       /* path relative to the root */
	int width, height;  /* 0: the output's size */
	enum format format; /* RGBA16F for cubemap, RGBA8 for image */
	enum format extra_output[7];
	int nextra_output;
	int iterations;
	int local_size[3];
	double duration; /* of a sound, seconds */
	struct storage *storage;
	size_t nstorage;
	struct input_ref *input; /* in manifest order */
	size_t ninput;
	int line, column; /* in the manifest */
};

struct preset_pass {
	int pass;          /* index */
	int width, height; /* 0: not set */
	int iterations;    /* 0: not set */
	int local_size[3]; /* [0] == 0: not set */
};

struct preset {
	char *name;
	double render_scale; /* 1 when not given */
	int has_render_scale;
	struct preset_pass *pass;
	size_t npass;
};

struct assignment {  /* of a "set" table */
	int uniform; /* index */
	struct value value;
};

struct timeline_step { /* values from this frame on */
	int frame;
	struct assignment *set;
	size_t nset;
	int has_mouse, has_keys;
	float mouse[4]; /* as iMouse reads */
	uint8_t *key;   /* key codes that are down, 0..255 */
	size_t nkey;
};

struct timeline { /* steps sorted by frame, none twice */
	struct timeline_step *step;
	size_t nstep;
};

struct trace {
	char *name;
	int *frame; /* ascending, none twice, at least one */
	size_t nframe;
	int has_time;      /* frame[0] is that moment at its fps */
	double time;       /* seconds */
	char *preset;      /* or null */
	int width, height; /* 0: not set */
	double fps;        /* 0: not set */
	struct assignment *set;
	size_t nset;
	int has_timeline; /* its own replaces the project's */
	struct timeline timeline;
	int include_intermediates;
	int line, column;
};

struct test_storage {
	char *name;
	char *reference;
};

struct test_budget {
	int pass;
	double ms;
};

/* The rows of metric.def. */
enum metric {
#define METRIC(name, word, key, is_higher_better, lowest, highest, text) METRIC_##name,
#include "project/metric.def"
#undef METRIC
	METRIC_COUNT,
};

struct test {
	char *name;
	int *frame; /* sorted; from frame, time or frames; none: preview_time */
	size_t nframe;
	int (*size)[2]; /* in manifest order; none: the render size */
	size_t nsize;
	int pass;        /* index, or -1: the image */
	char *reference; /* path, or null */
	int baseline;    /* the file of baselines decides */
	double tolerance;
	int has_tolerance, has_min_rmse;
	double min_rmse;
	int has_limit[METRIC_COUNT];
	double limit[METRIC_COUNT];
	int epsilon; /* bytes that count as equal: METRIC_PIXELS */
	char *mask;  /* picture of what counts: path, or null */
	double raw_tolerance;
	int has_mean_range;
	double mean_range[2];
	int assert_no_nan, assert_no_inf, assert_deterministic;
	int assert_resolution_independent, assert_state_roundtrip;
	int has_max_gpu_ms;
	double max_gpu_ms;
	struct test_budget *budget;
	size_t nbudget;
	struct assignment *set, *reference_set;
	size_t nset, nreference_set;
	int has_reference_set;
	struct test_storage *storage;
	size_t nstorage;
	int line, column;
};

struct driver_class { /* of baselines */
	char *name;
	char *pattern; /* for fnmatch, over GL_RENDERER */
};

enum checkpoint_mode { CHECKPOINT_AUTO, CHECKPOINT_OFF, CHECKPOINT_EVERY };

struct date {                 /* UTC */
	int year, month, day; /* month 1..12 */
	int hour, minute;
	double second;
};

struct manifest {
	char *path;        /* file name relative to the root */
	struct sha256 sha; /* of its bytes; zero when not from a file */
	char *name, *author, *description, *source_url, *source_id;
	int width, height;
	double fps, preview_time;
	struct date date;
	char **include_dir;
	size_t ninclude_dir;
	char *common; /* path or null */
	enum dialect dialect;
	struct uniform *uniform;
	size_t nuniform;
	struct asset *asset;
	size_t nasset;
	struct pass *pass;
	size_t npass;
	int image; /* index of the image pass */
	struct preset *preset;
	size_t npreset;
	struct timeline timeline;
	struct trace *trace; /* at least one: "default" when none is written */
	size_t ntrace;
	int has_traces; /* some were written */
	struct test *test;
	size_t ntest;
	struct driver_class *driver; /* the first that fits counts */
	size_t ndriver;
	uint64_t store_max_size; /* bytes; 10 GiB */
	double store_max_age_s;  /* 0: no limit */
	enum checkpoint_mode checkpoint;
	int checkpoint_every;
	char *store_remote; /* or null */
};

/*
 * Finds the manifest in one folder of a tree, in this order: stbuild.json,
 * stbuild.toml, ShaderToy.toml. *path is null when there is none. Warns with
 * the names of those passed over.
 */
int manifest_find(struct tree *tree, char **path, struct err *err) WARN_UNUSED;

/*
 * Loads and validates tree's file at path (which decides the syntax by its
 * ending). All faults are collected. On success *out is the caller's. The
 * manifest and every path it names are noted in inputs (may be null): sources
 * and assets that are missing are faults.
 */
int manifest_load(struct tree *tree, const char *path, struct inputs *inputs,
    struct manifest *out, struct errs *errs) WARN_UNUSED;
/* The same from a document that was read already. Files are not looked at. */
int manifest_from_doc(const struct doc *doc, enum dialect default_dialect,
    struct manifest *out, struct errs *errs) WARN_UNUSED;
void manifest_release(struct manifest *m);

/*
 * The manifest as JSON, defaults left out. Sections "trace", "test", "store",
 * "project" are included as asked. Loading it gives the same manifest.
 */
enum manifest_sections {
	MANIFEST_PROJECT = 1,
	MANIFEST_TRACES = 2,
	MANIFEST_TESTS = 4,
	MANIFEST_STORE = 8,
	MANIFEST_ALL = 15,
};
cJSON *manifest_to_json(const struct manifest *m, unsigned sections);

/* JSON Schema (draft 2020-12) from the loader's own tables. */
cJSON *manifest_schema(void);

/* Index by name, or -1. */
int manifest_pass(const struct manifest *m, const char *name);
int manifest_uniform(const struct manifest *m, const char *name);
/*
 * "min" or "max" when a value is beyond that of its uniform, with "3 is above the
 * maximum 1" appended to text; null within the range.
 */
const char *uniform_beyond(const struct uniform *u, const struct value *v,
    struct buf *text);
int manifest_trace(const struct manifest *m, const char *name);
int manifest_preset(const struct manifest *m, const char *name);

/* Enum names as the manifest spells them ("rgba32f", "buffer", "nearest"). */
const char *format_name(enum format f);
const char *format_document_name(enum format f); /* as STTF does: "RGBA32F" */
const char *pass_kind_name(enum pass_kind k);
const char *asset_kind_name(enum asset_kind k);
const char *input_kind_name(enum input_kind k);
const char *filter_name(enum filter f);
const char *wrap_name(enum wrap w);
const char *dialect_name(enum dialect d);
/* Format of a pass's output, from 0. */
enum format pass_format(const struct pass *pass, int output);
/* Bytes of a texel, and channels stored. */
size_t format_bytes(enum format f);
int format_channels(enum format f);

/*
 * 1 for a name that the GLSL around a pass needs ("iTime"). The audio words are
 * taken in glsl only, iCh0..3 in essl only.
 */
int uniform_is_reserved(const char *name, enum dialect dialect);

/* The i-th of the names that are reserved, but for numbered ones; then null. */
const char *uniform_builtin(size_t i);

/*
 * A frame list of the command line and the manifest: numbers and A:B:STEP
 * ranges (both ends included), comma-separated. Ascending, none twice.
 * Appends to *frame.
 */
int frames_parse(const char *text, int **frame, size_t *nframe,
    struct err *err) WARN_UNUSED;
/* round(time x fps), halves away from zero. */
int frame_of_time(double time, double fps);

#endif

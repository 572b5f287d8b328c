#ifndef STBUILD_PROJECT_VARIANT_H
#define STBUILD_PROJECT_VARIANT_H

/*
 * A manifest with everything decided that one render is parameterised by:
 * preset, size, fps, uniform values, timeline. What is not asked for comes
 * from the trace, then the preset, then the manifest.
 */

#include "project/manifest.h"
#include "project/timeline.h"
#include "util/buf.h"
#include "util/sha256.h"

struct variant_options { /* of the command line; zeroed: none */
	const char *preset;
	int width, height;      /* 0: not given */
	double fps;             /* 0: not given */
	const char *const *set; /* "NAME=VALUE"; the last one wins */
	size_t nset;
};

struct variant_pass {
	int width, height; /* of its target, resolved */
	int is_output_sized;
	int iterations;
	int local_size[3];
};

struct variant {
	const struct manifest *manifest; /* borrowed */
	char *preset;                    /* or null */
	int width, height;
	double fps;
	struct value *base; /* a uniform each: default, then trace.set */
	int *is_set;        /* a uniform each: given by --set, beats the timeline */
	const struct timeline *timeline; /* borrowed from the manifest */
	struct timeline_index *index;    /* of the timeline */
	struct variant_pass *pass;       /* a pass each */
	struct sha256 id;
};

/* trace may be null: the project's own defaults. */
int variant_init(struct variant *v, const struct manifest *m, const struct trace *trace,
    const struct variant_options *options, struct err *err) WARN_UNUSED;
void variant_release(struct variant *v);
/* One hash over all that makes a variant, for names and for sharing sweeps. */
void variant_id(const struct variant *v, struct sha256 *out);

/* A step of the timeline as bytes, for hashes. */
void variant_step(const struct variant *v, const struct timeline_step *step,
    struct buf *out);

/* Custom uniforms at a frame: out has room for manifest->nuniform values. */
void variant_values(const struct variant *v, int frame, struct value *out);
/* iMouse at a frame. */
void variant_mouse(const struct variant *v, int frame, float out[4]);
/*
 * The three rows of the keyboard at a frame: held, pressed (went down at this
 * frame), toggled (odd number of presses so far). 0 or 1 a key.
 */
void variant_keys(const struct variant *v, int frame, uint8_t out[3][256]);
/* iDate: year, month 0..11, day, seconds of the day; at render.date + time. */
void variant_date(const struct variant *v, int frame, float out[4]);
/*
 * The manifest with the preset applied and the variant's timeline, presets
 * still in it: resolved_manifest.
 */
cJSON *variant_manifest(const struct variant *v);

#endif

#ifndef STBUILD_GRAPH_BUILTIN_H
#define STBUILD_GRAPH_BUILTIN_H

/*
 * Values of uniforms at a frame: the builtin ones are
 * rows of glsl/uniform.def; custom ones come from the variant. Keys and
 * draws both ask here, so they cannot disagree.
 */

#include "graph/graph.h"
#include "graph/reason.h"
#include "graph/rules.h"
#include "glsl/reflection.h"
#include "project/variant.h"
#include "util/sha256.h"

#define SOUND_RATE 44100 /* iSampleRate, and that of what is written */

struct asset_info {        /* an asset each */
	struct sha256 sha; /* of the file's bytes */
	int size[3];       /* decoded: width, height, depth of a face */
};

struct scene { /* what stays the same over a variant's frames */
	const struct variant *variant;
	const struct graph *graph;
	const struct asset_info *asset;
	const struct rules *rules; /* null: ours */
	double start;              /* RULE_LOCAL_DATE: seconds since 1970 at frame 0 */
};

struct moment { /* one frame of a scene */
	const struct scene *scene;
	int t;
	float time;
	struct value *value; /* custom uniforms at t */
	float mouse[4], date[4];
};

void moment_init(struct moment *m, const struct scene *scene);
/* Moves to frame t: cheap when t is the next one. */
void moment_set(struct moment *m, int t);
void moment_release(struct moment *m);

/*
 * The value of active uniform u in pass p. 1, or 0 for what has no value of
 * its own (samplers, images) or what is set per draw (iIteration, stb_face,
 * stb_sample, stb_width). out->name is borrowed from u.
 */
int uniform_value(const struct moment *m, int p, const struct active_uniform *u,
    struct draw_uniform *out);

/* What makes a builtin uniform have another value at the same frame. */
enum reason_kind uniform_reason(const char *name);

/* Size of a pass's target, whatever its kind. */
void target_size(const struct variant *v, int p, int *width, int *height);

/*
 * Texels of keyboard (256 x 3) and music (512 x 2), RGBA8, bottom row
 * first as GL takes them: rows and their meaning are those of stbuild.json(5).
 */
#define MUSIC_TEXELS "silence-1" /* changes when those of music do */
void keyboard_texels(const struct variant *v, int t, uint8_t out[3 * 256 * 4]);
void music_texels(const struct variant *v, uint8_t out[2 * 512 * 4]);

/* The input bound to a channel of a pass, or null. */
const struct input_ref *pass_channel(const struct pass *pass, int channel);
/* 1 when the reflection uses the sampler of a channel (iChannelN or iChN). */
int channel_is_active(const struct reflection *r, int channel);
/* The same of all channels: bit N. */
unsigned channels_active(const struct reflection *r);

#endif

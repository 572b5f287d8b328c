#ifndef STBUILD_GLSL_SHADER_H
#define STBUILD_GLSL_SHADER_H

/*
 * What the compiler sees of a pass: version, precision, uniforms,
 * main() calling a forward-declared entry point, then the user's text. Text
 * only; GL is render/'s.
 *
 * The texts declare, beside the user's uniforms:
 *
 *	iResolution iTime iTimeDelta iFrameRate iFrame iMouse iDate iSampleRate
 *	iChannelTime iChannelResolution (4 elements in ES unless a channel
 *		beyond 3 is bound, else 16)
 *	iChannel0..3, and higher ones that are bound: texture unit N each
 *	iIteration in compute passes (in other desktop passes if they name it)
 *	iOutput, iOutput1..7 in compute passes: image unit N each
 *	iChN.sampler, .size, .time, .loaded (N 0..3) in an ES image pass: unit N,
 *		iChannelResolution[N], iChannelTime[N], 1 when bound
 *
 * and names of our own, which the draw has to set where a text has them:
 *
 *	int stb_face	cubemap: 0..5, the face that is drawn (+X -X +Y -Y +Z -Z)
 *	int stb_sample	sound: number of the target's first sample
 *	int stb_width	sound: width of the target
 *
 * A sound pass draws into an rg32f target: its texel (x, y), row 0 the bottom
 * one, is sample stb_sample + y * stb_width + x, at that / iSampleRate seconds;
 * r is left, g is right.
 */

#include "glsl/glsl.h"
#include "project/manifest.h"
#include "glsl/part.h"
#include "glsl/source.h"
#include "project/variant.h"

/* Changes whenever generated text or rewriting does: part of every key. */
#define SHADER_HEADER_VERSION 5

#define SHADER_FACE "stb_face"
#define SHADER_SAMPLE "stb_sample"
#define SHADER_WIDTH "stb_width"

/* What of the context decides about texts. */
struct shader_target {
	int gl_version; /* 450, 430, 410 */
	int has_es3;    /* ARB_ES3_compatibility, or GL >= 4.3 */
};

struct rewrite_place;

struct shader {
	char *vertex;                /* null for compute */
	char *stage;                 /* fragment or compute text */
	struct rewrite_place *place; /* of its part of the user's: for shader_log */
	size_t nplace;
	int is_compute;
	struct sha256 program_id; /* tokens of all of the above */
	struct buf tokens; /* canonical tokens of the user's text that count for S(p):
				   preprocessed, without functions that nothing calls */
	struct part *part; /* of the user's text */
	size_t npart;
	int has_discard;     /* in kept tokens */
	struct map readonly; /* names of storage blocks; 1 when certainly so */
};

/*
 * Builds the texts of pass p. Fails (STATUS_FAILED, naming the pass) where the
 * context has no way: compute or storage below 430, essl without ES3; where
 * the source has no entry point; and for faults of preprocessing, with their
 * place.
 */
int shader_build(const struct variant *v, int p, const struct source *source,
    const struct shader_target *target, struct shader *out, struct err *err) WARN_UNUSED;
/*
 * The texts as the shadertoy CLI 2.5 would have them: nothing is renamed or
 * set to zero. There are no tokens and no id, as nothing of it is kept.
 */
void shader_plain(const struct variant *v, int p, const struct source *source,
    struct shader *out);
void shader_release(struct shader *s);
/*
 * The source of pass p with its includes, as its dialect's macros decide
 * (source_expand). notes_inactive as there.
 */
int shader_expand(struct tree *tree, const struct manifest *m, int p, int notes_inactive,
    struct inputs *inputs, struct source *out, struct err *err) WARN_UNUSED;
/* "mainImage" and its like. */
const char *shader_entry(enum pass_kind kind);
/* 1 when a storage block, by the name GL has for it, is certainly readonly. */
int shader_is_readonly(const struct shader *s, const char *block);

/*
 * The text for project.sttf and source_sha256: custom uniform declarations in
 * front, unbound channels it names declared. #version
 * lines are left out: its reader writes its own.
 */
void shader_portable(const struct manifest *m, int p, const struct source *source,
    struct buf *out);

/*
 * Maps a driver's log to the user's files: each "S:LINE" of the known forms
 * (Mesa "0:12(5): error", NVIDIA "0(12) : error", AMD/Apple "ERROR: 0:12:")
 * becomes "file:line", followed by that line of the source; what has no place,
 * as a linker's words, gets that of the names in it. Sets the place of err to
 * the first error. The message names the pass. Returns -1.
 */
int shader_log(const struct manifest *m, int p, const struct source *source,
    const struct shader *shader, const char *log, struct err *err);
/*
 * Makes err, the message of a fault in the text of source, one like those:
 * about a pass that does not compile, with file, line and the line itself.
 * Returns -1.
 */
int shader_fault(const struct manifest *m, int p, const struct source *source,
    int text_line, int column, struct err *err);

#endif

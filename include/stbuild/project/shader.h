#ifndef STBUILD_PROJECT_SHADER_H
#define STBUILD_PROJECT_SHADER_H

/*
 * What the compiler sees of a pass (DESIGN 3): version, precision, uniforms,
 * main() calling a forward-declared entry point, then the user's text. Text
 * only; GL is render/'s.
 */

#include "project/glsl.h"
#include "project/manifest.h"
#include "project/source.h"
#include "project/variant.h"

/* Changes whenever generated text or rewriting does: part of every key. */
#define SHADER_HEADER_VERSION 1

/* What of the context decides about texts. */
struct shader_target {
	int gl_version;		/* 450, 430, 410 */
	int has_es3;		/* ARB_ES3_compatibility, or GL >= 4.3 */
};

struct shader {
	char *vertex;		/* null for compute */
	char *stage;		/* fragment or compute text */
	int is_compute;
	struct sha256 program_id;	/* tokens of all of the above */
	struct buf tokens;	/* canonical tokens of the user's text that count for S(p) */
	int has_discard;	/* in kept tokens */
	int writes_storage_maybe;	/* has storage blocks that are not readonly */
};

/*
 * Builds the texts of pass p. Fails (STATUS_FAILED, naming the pass) where the
 * context has no way: compute or storage below 430, essl without ES3.
 */
int shader_build(const struct variant *v, int p, const struct source *source,
	const struct shader_target *target, struct shader *out,
	struct err *err) WARN_UNUSED;
void shader_release(struct shader *s);

/*
 * The text for project.sttf and source_sha256: custom uniform declarations in
 * front, unbound channels it names declared (ANCESTOR decision 2).
 */
void shader_portable(const struct manifest *m, int p,
	const struct source *source, struct buf *out);

/*
 * Maps a driver's log to the user's files: each "S:LINE" of the known forms
 * (Mesa "0:12(5): error", NVIDIA "0(12) : error", AMD/Apple "ERROR: 0:12:")
 * becomes "file:line", followed by that line of the source. Sets the place of
 * err to the first error. The message names the pass.
 */
void shader_log(const struct manifest *m, int p, const struct source *source,
	const char *log, struct err *err);

#endif

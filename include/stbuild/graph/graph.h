#ifndef STBUILD_GRAPH_GRAPH_H
#define STBUILD_GRAPH_GRAPH_H

/*
 * The passes of a manifest as a graph: who reads whom, in which order a frame
 * runs, and what reaches the image. By the manifest alone; what programs
 * really use is for keys.
 */

#include <stdarg.h>
#include <stddef.h>

#include "glsl/lint.h"
#include "project/manifest.h"

struct edge {
	int from, to; /* pass indices; "to" reads "from" */
	int channel, output;
	int is_previous;
};

struct graph {
	const struct manifest *manifest; /* borrowed */
	struct edge *edge;
	size_t nedge;
	int *order; /* passes (no sound) in the order a frame runs:
				   topological over current edges, ties by
				   manifest order */
	size_t norder;
	int *position;            /* a pass each: index in order[], -1 for sound */
	int *is_reached;          /* a pass each: reaches the image by edges or
				   shared storage */
	int *has_previous_reader; /* a pass each: some reached pass reads it */
	unsigned *mips;           /* a pass each: bit k when a reached consumer
				   samples output k with "mipmap" */
	char **storage;           /* names of storage buffers, in manifest order */
	uint64_t *storage_size;
	size_t nstorage;
};

/* m is valid: it has no current-frame cycle. */
void graph_init(struct graph *g, const struct manifest *m);
void graph_release(struct graph *g);
/* Index of a storage name, or -1. */
int graph_storage(const struct graph *g, const char *name);

/* Diagnostics -------------------------------------------------------------- */

enum diagnostic_level { DIAGNOSTIC_WARNING, DIAGNOSTIC_ERROR };

struct diagnostic {
	enum diagnostic_level level;
	const char *code; /* "unreachable-pass" */
	char *message;
	int *pass; /* passes it is about, in order */
	size_t npass;
	char *file;       /* where, or null */
	int line, column; /* from 1; 0 when not known */
};

struct diagnostics {
	struct diagnostic *item;
	size_t nitem, cap;
};

/*
 * unreachable-pass, unused-asset, viewport-sized-feedback,
 * unordered-shared-storage. (Cycles are manifest errors; unused-uniform needs
 * sources: diagnose_uniforms.)
 */
void graph_diagnose(const struct graph *g, struct diagnostics *out);
/* unused-uniform: used[] is a uniform each. */
void diagnose_uniforms(const struct manifest *m, const int *used,
    struct diagnostics *out);
/* Adds a warning without place; code is borrowed. Returns its index. */
__attribute__((format(printf, 3, 4))) size_t diagnostics_add(struct diagnostics *d,
    const char *code, const char *fmt, ...);
/* Adds a pass to those that an item is about. */
void diagnostics_about(struct diagnostics *d, size_t item, int pass);
void diagnostics_release(struct diagnostics *d);

/* What lint has to know of a manifest: its uniforms, owned by the caller ... */
struct lint_uniform *lint_uniforms(const struct manifest *m);
/* ... and of pass p. uniform is borrowed. */
void lint_facts_of(const struct manifest *m, int p, const struct lint_uniform *uniform,
    struct lint_facts *out);

#endif

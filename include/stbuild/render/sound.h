#ifndef STBUILD_RENDER_SOUND_H
#define STBUILD_RENDER_SOUND_H

/*
 * Samples of a sound pass, drawn a chunk at a time: SOUND_CHUNK samples are the
 * texels of one rg32f target, from its bottom row on, so memory does not grow
 * with the length. Sample n is the same however many are drawn, and in which
 * order: it gets n and the float nearest to n, divided by 44100 in float. (The
 * site adds, in float, where its chunk starts and the place in the chunk; both
 * know the time to about a sample at 180 s, n is always exact.)
 */

#include <stddef.h>

#include "graph/builtin.h"
#include "project/image.h"
#include "render/worker.h"

#define SOUND_WIDTH 512
#define SOUND_CHUNK (512 * SOUND_WIDTH) /* samples: 5.9 s, as on the site */

struct sound_hooks {
	void *data;
	/* Decoded asset, borrowed. */
	int (*image)(void *data, int asset, const struct image **out, struct err *err);
	/* n pairs (left, right) of a chunk: those below the length. */
	int (
	    *take)(void *data, int chunk, const float *sample, size_t n, struct err *err);
};

struct sound { /* all borrowed */
	const struct scene *scene;
	int pass;
	const struct reflection *reflection;
	uint32_t program; /* in the worker */
	int nsample;      /* the length */
};

/*
 * Draws the chunks listed. gpu_ns is what they took in all. A signal ends it
 * early, with 0: the caller looks at proc_signal(). The worker is idle before
 * (events that wait are thrown away), and afterwards unless it died.
 */
int sound_draw(struct worker *w, const struct sound *sound, const int *chunk,
    size_t nchunk, const struct sound_hooks *hooks, uint64_t *gpu_ns,
    struct err *err) WARN_UNUSED;

#endif

#ifndef STBUILD_VERIFY_PLAYBACK_H
#define STBUILD_VERIFY_PLAYBACK_H

/*
 * Draws a project from frame 0 by the rules of the shadertoy CLI (graph/rules.h),
 * frame after frame, and gives what it left. Nothing is stored or reused: its
 * targets live on from frame to frame, and what a pass finds there is part of
 * the rules.
 */

#include "graph/builtin.h"
#include "project/image.h"
#include "render/worker.h"
#include "util/tree.h"

struct playback;

struct playback_env {
	const struct scene *scene; /* scene->graph may be of our rules */
	struct tree *tree;
	const struct image *image; /* an asset each */
	struct worker *worker;
	/* May be null: after each frame. */
	void (*progress)(void *data, uint64_t ndone, uint64_t ntotal);
	void *data;
};

/*
 * What env names is borrowed. To be freed whatever happens. STATUS_FAILED for a
 * source that does not compile.
 */
int playback_run(const struct playback_env *env, int frame, struct playback **out,
    struct err *err) WARN_UNUSED;
void playback_free(struct playback *pb);

/* 1 when pass p was drawn. */
int playback_is_drawn(const struct playback *pb, int p);
/* Output 0 of pass p in its own format (the image: RGBA8); null: not drawn. */
const void *playback_output(const struct playback *pb, int p);
/* Bytes of a storage buffer; null when no drawn pass has it. */
const void *playback_storage(const struct playback *pb, const char *name, size_t *n);
/* 1 when an active uniform of a drawn pass has this name. */
int playback_uses(const struct playback *pb, const char *uniform);

#endif

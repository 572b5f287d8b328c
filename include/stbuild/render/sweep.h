#ifndef STBUILD_RENDER_SWEEP_H
#define STBUILD_RENDER_SWEEP_H

/*
 * Executes a plan on a worker, in frame order, in one sweep: loads what draws
 * need just before they need it, draws, and reads back what is wanted. A
 * texture lives from its draw or load to its last use. A sweep never blocks:
 * sweep_step does what can be done now, so that several sweeps can share one
 * thread.
 */

#include "graph/plan.h"
#include "project/image.h"
#include "render/worker.h"

struct sweep;

struct sweep_hooks {
	void *data;
	/*
	 * A file that begins with the n bytes of a stored product, which the
	 * sweep closes: a descriptor, or -1 for a miss (the sweep then ends
	 * with SWEEP_MISS and the caller plans again).
	 */
	int (*open)(void *data, const struct sha256 *key, int index, size_t n);
	/* A node is on its way to the GPU from the store. */
	void (*loaded)(void *data, uint32_t node);
	/*
	 * A product has arrived: wanted, or of a checkpoint. The slab is the caller's until it puts
	 * it back (worker_slab_put).
	 */
	int (*take)(void *data, const struct sha256 *key, int index, uint32_t node,
	    struct slab *slab, struct err *err);
	/*
	 * 1 when the sweep may go on behind a wanted node that is drawn and
	 * being read: 0 while what arrives may change the plan.
	 */
	int (*has_all_aliases)(void *data, uint32_t node);
	/*
	 * Frame t is drawn: 1 to read back all that later frames need of it,
	 * nbytes in all, beside what is wanted (a checkpoint).
	 */
	int (*checkpoint)(void *data, int t, uint64_t nbytes);
	/* A node was drawn. */
	int (*drew)(void *data, uint32_t node, uint64_t gpu_ns, struct err *err);
	/* Loads pass p's program into the worker, if it is not; gives its id. */
	int (
	    *program)(void *data, struct worker *w, int p, uint32_t *id, struct err *err);
	/* Decoded asset, borrowed. */
	int (*image)(void *data, int asset, const struct image **out, struct err *err);
};

enum sweep_state {
	SWEEP_BUSY,  /* waits for the worker, or for slabs to come back */
	SWEEP_DONE,  /* all was drawn and has arrived */
	SWEEP_MISS,  /* a stored product was missing or torn */
	SWEEP_FAILED /* err; sweep_fault names the node */
};

struct sweep *sweep_new(const struct plan *plan, struct worker *worker,
    const struct sweep_hooks *hooks);
void sweep_free(struct sweep *s);
/*
 * Draws nothing more, and reads back what is drawn and was still to be used;
 * the sweep is done when all that has arrived.
 */
void sweep_stop(struct sweep *s);
/* Issues what can be issued and handles events that wait; never blocks. */
enum sweep_state sweep_step(struct sweep *s, struct err *err);
/* The node at fault after SWEEP_FAILED, or NODE_NONE. */
uint32_t sweep_fault(const struct sweep *s);

#endif

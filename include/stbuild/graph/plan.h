#ifndef STBUILD_GRAPH_PLAN_H
#define STBUILD_GRAPH_PLAN_H

/*
 * The smallest set of draws that brings what is wanted into the store: walks
 * back from the wanted nodes; what the store holds is loaded (when something
 * that is drawn needs it) or just counted; the rest is drawn.
 */

#include "graph/keys.h"

enum action {
	ACTION_NONE,  /* not needed */
	ACTION_REUSE, /* wanted, and in the store */
	ACTION_LOAD,  /* needed by a draw, and in the store */
	ACTION_DRAW,
};

struct plan_node {
	unsigned char action;
	unsigned char is_wanted; /* must be in the store at the end */
	unsigned char is_half;   /* is wanted if it is drawn at all */
	unsigned char is_used;   /* a draw reads it */
	unsigned char is_failed;
	uint32_t cause;    /* is_failed: the node that failed itself */
	uint32_t last_use; /* node that reads it last, if is_used */
};

struct plan_version {
	unsigned char action; /* DRAW: its writer is drawn */
	unsigned char is_wanted, is_used;
	uint32_t last_use;
};

struct plan_hooks {
	/* 1 when all outputs of the node's key are in the store. */
	int (*has_node)(void *data, const struct sha256 *key, int pass);
	int (*has_version)(void *data, const struct sha256 *key, int storage);
	/* 1 when the node can not be drawn any more (it failed before). */
	int (*is_failed)(void *data, const struct sha256 *key, int pass);
	void *data;
};

struct plan {
	const struct keys *keys; /* borrowed */
	struct plan_node *node;  /* a node each; set for canonical ones */
	struct plan_version *version;
	size_t ndraw, nload, nreuse, nfailed;
	uint32_t end; /* behind the last node with something to do */
};

/*
 * Plans for the captured frames (ascending). What is stored at a captured
 * frame: every reached pass's outputs, and every storage buffer of a reached
 * pass that was written; and the other half of each pair (nodes_is_pair), which
 * is no reason to draw: it is stored where something else needs it drawn.
 */
void plan_make(const struct keys *keys, const int *frame, size_t nframe,
    const struct plan_hooks *hooks, struct plan *out);
void plan_release(struct plan *p);

/*
 * Calls back for what is stored at a captured frame, by canonical node; for
 * other halves too, unless each_half is null.
 */
void plan_wanted(const struct keys *keys, int frame,
    void (*each_node)(void *data, uint32_t node),
    void (*each_half)(void *data, uint32_t node),
    void (*each_version)(void *data, uint32_t version), void *data);

#endif

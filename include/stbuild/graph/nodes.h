#ifndef STBUILD_GRAPH_NODES_H
#define STBUILD_GRAPH_NODES_H

/*
 * Which nodes matter for some wanted frames: those frames' own, and whatever
 * they rest on. A pass behind feedback needs all frames back to 0; one without
 * needs none but those it is asked for, so that the number of nodes follows
 * what is read and not the number of the frame.
 *
 * Nodes are numbered by frame, then by the order that a frame runs in, so that
 * a smaller number runs earlier.
 */

#include <stddef.h>
#include <stdint.h>

#include "graph/builtin.h"
#include "util/err.h"

struct key_program;

#define NODE_NONE ((uint32_t)-1) /* no node: zeros */

struct node_span { /* the nodes of one frame */
	int frame;
	uint32_t first;
};

struct nodes {
	const struct graph *graph; /* borrowed */
	uint32_t n;
	int *frame;            /* a node each */
	unsigned short *place; /* a node each: index in graph->order */
	struct node_span *row; /* by frame; one more behind them begins at n */
	size_t nrow;
};

/*
 * Lists what the wanted frames (ascending) need: every reached pass there, the
 * other half of each pair (nodes_is_pair), and all they take. -1 when that is
 * more than can be planned at once.
 */
int nodes_list(const struct scene *scene, const struct key_program *program,
    const int *frame, size_t nframe, struct nodes *out, struct err *err) WARN_UNUSED;
void nodes_release(struct nodes *n);

/* The node of pass p at frame t, or NODE_NONE where it does not matter. */
uint32_t nodes_find(const struct nodes *n, int p, int t);
/* The first node behind frame t. */
uint32_t nodes_behind(const struct nodes *n, int t);

/* Frames back to the picture a pass draws over; 0 when it draws over none. */
int nodes_history(const struct scene *scene, const struct key_program *program, int p);
/* 1 when the picture before the last is kept beside it. */
int nodes_is_pair(const struct scene *scene, const struct key_program *program, int p);
/* The manifest's storage at a binding of a pass: index of the graph, or -1. */
int nodes_storage(const struct scene *scene, int p, uint32_t binding);

#endif

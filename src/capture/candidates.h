#ifndef STBUILD_CAPTURE_CANDIDATES_H
#define STBUILD_CAPTURE_CANDIDATES_H

/*
 * Alias candidates: an edit that changes no pixel is found out here. A node
 * whose products are those of an earlier node at the same place becomes its
 * alias, and what reads it is planned again with the earlier key.
 */

#include "capture_impl.h"

/* What two nodes of a pass must share to be compared; yours. */
char *candidates_shape(const struct group *g, int p);
/*
 * Compares the node with its candidates, once all that the plan wants of it
 * has arrived; called whenever something of it has. An alias that others read
 * sets the group's needs_rekey.
 */
int candidates_judge(struct runner *r, uint32_t node, struct err *err) WARN_UNUSED;
/*
 * sweep_hooks.has_all_aliases of a runner (data): 0 while a candidate may still
 * change what is planned behind the node.
 */
int candidates_are_known(void *data, uint32_t node);

#endif

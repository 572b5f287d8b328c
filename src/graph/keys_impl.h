#ifndef STBUILD_GRAPH_KEYS_IMPL_H
#define STBUILD_GRAPH_KEYS_IMPL_H

/* Private to keys: what facts of a node ask of the others. */

#include "graph/keys.h"

/* Canonical node of (p, t), or NODE_NONE before frame 0. */
uint32_t keys_canonical(const struct keys *k, int p, int t);
/* Key of the content that a node finds in a storage buffer. */
const struct sha256 *keys_found_version(const struct keys *k, uint32_t node, int storage);

#endif

#ifndef STBUILD_CAPTURE_PRODUCTS_H
#define STBUILD_CAPTURE_PRODUCTS_H

/*
 * The way of a product's bytes: a slab of the worker is taken
 * (product_take), a thread writes the object, and product_collect puts the
 * slab back and records the row. Loaded objects whose hash is not known to be
 * right are checked beside the draws (product_check_later); rows of a runner
 * are held back until all its checks have ended, and are dropped when one of
 * them found an object rotten.
 */

#include "capture_impl.h"

/* sweep_hooks.take of a runner (data): sends a slab on its way. */
int product_take(void *data, const struct sha256 *key, int index, uint32_t node,
    struct slab *slab, struct err *err) WARN_UNUSED;
/*
 * The row of a node that was drawn: its place, and the time it took. shape is
 * that of candidates_shape, or "" for a node that is nobody's candidate.
 */
int product_record_node(struct runner *r, uint32_t node, const char *shape,
    struct err *err) WARN_UNUSED;
/*
 * The bytes behind fd are used from now on; it stays the caller's. 0, or -1
 * when they had to be checked at once and are not what their name says.
 */
int product_check_later(struct runner *r, int fd,
    const struct product *product) WARN_UNUSED;
/*
 * Ends finished jobs in one transaction: bytes that are stored, hashes that
 * are checked, bundles that are written. With wait, until none is left.
 */
int product_collect(struct capture *c, int wait, struct err *err) WARN_UNUSED;

#endif

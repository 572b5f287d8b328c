#ifndef STBUILD_RENDER_UPLOAD_H
#define STBUILD_RENDER_UPLOAD_H

/*
 * What passes read that no pass has drawn, on its way to the GPU: assets, and
 * the texels of keyboard and music. Both get a mip chain.
 */

#include <stdint.h>

#include "project/image.h"
#include "render/worker.h"

/* Beside 0 and -1: no slab is free. Collect events, then try again. */
#define UPLOAD_BLOCKED 1

/* RGBA8 texels, bottom row first. is_new: texture id is to be made. */
int upload_texels(struct worker *w, uint32_t id, int is_new, int width, int height,
    const void *texel, struct err *err) WARN_UNUSED;
/* Makes texture id of a decoded asset. */
int upload_image(struct worker *w, uint32_t id, const struct asset *asset,
    const struct image *image, struct err *err) WARN_UNUSED;
/* How an input is sampled. */
enum texture_kind input_texture_kind(const struct manifest *m,
    const struct input_ref *in);

#endif

#include "render/upload.h"

#include <string.h>

#include "util/mem.h"

static int upload(struct worker *w, uint32_t id, int is_new,
    const struct texture_desc *desc, const void *texel, struct err *err)
{
	size_t n = texture_bytes(desc);
	struct slab *slab = worker_slab(w, n, err);

	if (!slab)
		return err->message ? -1 : UPLOAD_BLOCKED;
	memcpy(slab->data, texel, n);
	if ((is_new && worker_texture_new(w, id, desc, err)) ||
	    worker_texture_upload(w, id, slab, err))
		return -1;
	return worker_texture_mips(w, id, err);
}

int upload_texels(struct worker *w, uint32_t id, int is_new, int width, int height,
    const void *texel, struct err *err)
{
	struct texture_desc desc = { .kind = TEXTURE_2D,
		.width = width,
		.height = height,
		.depth = 1,
		.texel = TEXEL_RGBA8,
		.has_mips = 1 };

	return upload(w, id, is_new, &desc, texel, err);
}

int upload_image(struct worker *w, uint32_t id, const struct asset *asset,
    const struct image *image, struct err *err)
{
	struct texture_desc desc = { .kind = asset->kind == ASSET_VOLUME ? TEXTURE_3D
		    : image->nface == 6                                  ? TEXTURE_CUBE
									 : TEXTURE_2D,
		.width = image->width,
		.height = image->height,
		.depth = image->depth,
		.texel = image->channels == 1
		    ? (image->is_float ? TEXEL_R32F : TEXEL_R8)
		    : (image->is_float ? TEXEL_RGBA32F : TEXEL_RGBA8),
		.has_mips = 1,
		.is_red_only = image->channels == 1 };

	if (texture_bytes(&desc) != image->ndata)
		BUG("asset '%s': %zu bytes decoded, %zu expected", asset->name,
		    image->ndata, texture_bytes(&desc));
	return upload(w, id, 1, &desc, image->data, err);
}

enum texture_kind input_texture_kind(const struct manifest *m, const struct input_ref *in)
{
	if (in->kind == INPUT_CUBEMAP ||
	    (in->kind == INPUT_PASS && m->pass[in->pass].kind == PASS_CUBEMAP))
		return TEXTURE_CUBE;
	return in->kind == INPUT_VOLUME ? TEXTURE_3D : TEXTURE_2D;
}

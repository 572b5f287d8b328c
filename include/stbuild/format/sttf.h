#ifndef STBUILD_FORMAT_STTF_H
#define STBUILD_FORMAT_STTF_H

/*
 * project.sttf (sttf(5)): one self-contained JSON document. What an
 * STTF reader needs beyond format 1 (dialect, date, timeline, kinds and ranges
 * of uniforms, one-channel textures) travels under the key "stbuild", which
 * others ignore.
 */

#include "project/image.h"
#include "glsl/source.h"
#include "project/variant.h"
#include "util/buf.h"
#include "util/err.h"

/*
 * Writes a variant. source[] and image[] are a pass and an asset each; an
 * asset no pass uses is left out, as are sound passes.
 */
int sttf_write(const struct variant *v, const struct source *source,
    const struct image *image, struct buf *out, struct err *err) WARN_UNUSED;

/*
 * Reads a document into a project in memory: "stbuild.json", shaders/ and
 * textures/ (PNG, strips, volumes), ready to be loaded or written to disk.
 * Loading and rendering it gives what the document's writer drew. name is for
 * messages; fallback_name names the project if the document does not.
 */
int sttf_read(const char *name, const char *text, size_t n, const char *fallback_name,
    struct tree **out, struct err *err) WARN_UNUSED;

#endif

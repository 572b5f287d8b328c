#ifndef STBUILD_RENDER_STAMP_H
#define STBUILD_RENDER_STAMP_H

/*
 * The driver stamp stands for the driver identity without GL.
 * While it is unchanged, the context would be the same.
 */

#include <stddef.h>

#include "util/sha256.h"

struct buf;

/*
 * Canonical text of: each mapped file (path, size, mtime, inode), listings of
 * glvnd's vendor folders, /dev/dri and /dev/nvidia*, kernel driver version and
 * PCI ids where there are, CPU model and features, the loader's cache, Mesa's
 * files of options, the environment that drivers read, and the device option.
 * Its hash is the stamp.
 */
void stamp_text(char *const *mapped, size_t nmapped, const char *device, struct buf *out);
void stamp_of(char *const *mapped, size_t nmapped, const char *device,
    struct sha256 *out);

#endif

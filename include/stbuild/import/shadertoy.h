#ifndef STBUILD_IMPORT_SHADERTOY_H
#define STBUILD_IMPORT_SHADERTOY_H

/*
 * Exports of the Shadertoy site as projects. Forms that are read: the API's
 * {"Shader": {ver, info, renderpass}}, the bare object, a list of them (what the
 * site itself sends) and {"shaders": [..]} (a profile's "export all"); of
 * several shaders the first is taken, with a warning. Inputs in either
 * spelling: src, ctype or filepath, type.
 */

#include <stddef.h>

#include "util/tree.h"
#include "util/err.h"

/*
 * Reads an export into a project in memory: stbuild.json (dialect essl),
 * shaders/ and textures/, ready to be loaded or written to disk. name is for
 * messages. Media is looked up below media_dir (null: nowhere) by the path that
 * the export has, with and without its "/media"; a cubemap's six files become a
 * strip. What is missing gets a stand-in of its kind, and all of it one warning;
 * so does what is there and is neither PNG nor JPEG (a volume, for a volume).
 *
 * On the site buffers run in the order of the list, whatever their letters, then
 * the cubemap, then the image: who reads what ran before it in the frame reads
 * the current frame, else the previous. What an input refers to is found by the
 * ids of outputs, by the site's paths and ids, and by the names "Buffer A",
 * "buf b". An input that is none (null, empty, without a channel from 0 to 3) is
 * left out; of two for one channel the later counts. Music in all forms and the
 * microphone become "music" (silence); videos and the webcam get a still
 * picture. An input whose kind is not known, or whose buffer is not in the
 * export, stays unbound. Each of these is warned about.
 */
int shadertoy_read(const char *name, const char *text, size_t n, const char *media_dir,
    struct tree **out, struct err *err) WARN_UNUSED;

#endif

#ifndef STBUILD_CAPTURE_SOUND_H
#define STBUILD_CAPTURE_SOUND_H

/*
 * Brings the WAV files of sound passes up to date: target/sounds/STEM.wav, each
 * a target "sound:NAME" of its own.
 *
 * A sound is what the project's own defaults give at frame 0. Its chunks
 * (render/sound.h) are products in the store as 16-bit samples, by a key that
 * the length is not part of: what was drawn is kept when a run is interrupted
 * or the sound gets longer or shorter. The file is recorded as a bundle of one
 * file, "".
 */

#include <stddef.h>

#include "capture/capture.h"
#include "util/err.h"

/*
 * The same contract as capture_run, for sound passes. Adds to a result that was
 * zeroed or has been through a capture; bundles have frame -1. counts: a sound
 * is one node, drawn when some of it was.
 */
int sound_run(const struct capture_env *env, const int *pass, size_t npass,
    struct capture_result *result, struct err *err) WARN_UNUSED;

#endif

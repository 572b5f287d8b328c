#ifndef STBUILD_FORMAT_WAV_H
#define STBUILD_FORMAT_WAV_H

/*
 * RIFF WAVE files of 16-bit stereo PCM, the canonical 44 bytes in front:
 *
 *	"RIFF", u32 size of what follows, "WAVE",
 *	"fmt ", u32 16, u16 1 (PCM), u16 2 channels, u32 rate, u32 bytes a
 *	second, u16 4 bytes a sample, u16 16 bits,
 *	"data", u32 size, then i16 left, i16 right for each sample,
 *
 * all little-endian (Multimedia Programming Interface and Data Specifications
 * 1.0, IBM and Microsoft 1991, "WAVE").
 */

#include <stddef.h>
#include <stdint.h>

#include "util/buf.h"

/* Changes when the bytes of the same samples may: part of keys. */
#define WAV_ENCODER "stbuild-wav-1"

#define WAV_HEADER_BYTES 44
#define WAV_SAMPLE_BYTES 4 /* of one left and one right */

/* Appends the header of a file of n samples, n x 4 below 2^32 - 36. */
void wav_header(uint32_t n, uint32_t rate, struct buf *out);
/*
 * n pairs (left, right) to PCM: clamped to -1..1, round(v x 32767), halves away
 * from zero; what is not finite is 0.
 */
void wav_samples(const float *sample, size_t n, unsigned char *out);

#endif

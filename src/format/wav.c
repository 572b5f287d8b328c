#include "format/wav.h"

#include <math.h>

void wav_header(uint32_t n, uint32_t rate, struct buf *out)
{
	uint32_t bytes = n * WAV_SAMPLE_BYTES;

	buf_add(out, "RIFF", 4);
	buf_u32le(out, WAV_HEADER_BYTES - 8 + bytes);
	buf_add(out, "WAVEfmt ", 8);
	buf_u32le(out, 16);
	buf_u32le(out, 2 << 16 | 1);
	buf_u32le(out, rate);
	buf_u32le(out, rate * WAV_SAMPLE_BYTES);
	buf_u32le(out, 16 << 16 | WAV_SAMPLE_BYTES);
	buf_add(out, "data", 4);
	buf_u32le(out, bytes);
}

void wav_samples(const float *sample, size_t n, unsigned char *out)
{
	for (size_t i = 0; i < 2 * n; i++) {
		double v = sample[i];
		if (!isfinite(v))
			v = 0;
		v = v < -1 ? -1 : v > 1 ? 1 : v;
		/* The product is exact: 24 and 15 bits. */
		unsigned level = (unsigned)lround(v * 32767);
		out[2 * i] = (unsigned char)level;
		out[2 * i + 1] = (unsigned char)(level >> 8);
	}
}

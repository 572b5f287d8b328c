/* WAV files to the byte. */

#include "format/wav.h"

#include <math.h>

#include "test.h"

static void test_header(void)
{
	static const unsigned char want[] = {
		'R',
		'I',
		'F',
		'F',
		0x30,
		0,
		0,
		0,
		'W',
		'A',
		'V',
		'E',
		'f',
		'm',
		't',
		' ',
		16,
		0,
		0,
		0,
		1,
		0,
		2,
		0,
		0x44,
		0xac,
		0,
		0,
		0x10,
		0xb1,
		2,
		0,
		4,
		0,
		16,
		0,
		'd',
		'a',
		't',
		'a',
		12,
		0,
		0,
		0,
	};
	struct buf out = BUF_INIT;

	wav_header(3, 44100, &out);
	CHECK_INT(out.len, WAV_HEADER_BYTES);
	CHECK(out.len == sizeof want && memcmp(out.data, want, sizeof want) == 0);
	buf_reset(&out);
	/* An hour, the longest. */
	wav_header(3600 * 44100, 44100, &out);
	CHECK_INT(get_u32le(out.data + 4), 635040036);
	CHECK_INT(get_u32le(out.data + 40), 635040000);
	buf_release(&out);
}

static int level(float v)
{
	unsigned char out[WAV_SAMPLE_BYTES];
	const float pair[2] = { v, -0.25f };
	int n;

	wav_samples(pair, 1, out);
	/* round(-8191.75) */
	CHECK_INT(out[2] | out[3] << 8, 0x10000 - 8192);
	n = out[0] | out[1] << 8;
	return n < 0x8000 ? n : n - 0x10000;
}

static void test_samples(void)
{
	CHECK_INT(level(0), 0);
	CHECK_INT(level(1), 32767);
	CHECK_INT(level(-1), -32767);
	CHECK_INT(level(0.25f), 8192);
	/* 16383.5, halves away from zero */
	CHECK_INT(level(0.5f), 16384);
	CHECK_INT(level(-0.5f), -16384);
	CHECK_INT(level(nextafterf(0.5f, 0)), 16383);
	CHECK_INT(level(1.5f), 32767);
	CHECK_INT(level(-1e30f), -32767);
	CHECK_INT(level(NAN), 0);
	CHECK_INT(level(INFINITY), 0);
	CHECK_INT(level(-INFINITY), 0);
	CHECK_INT(level(1e-40f), 0);
}

static void test_order(void)
{
	const float pair[] = { 1, 0, -1, 0.25f };
	static const unsigned char want[] = {
		0xff,
		0x7f,
		0,
		0,
		0x01,
		0x80,
		0x00,
		0x20,
	};
	unsigned char out[sizeof want];

	wav_samples(pair, 2, out);
	CHECK(memcmp(out, want, sizeof want) == 0);
}

int main(void)
{
	test_header();
	test_samples();
	test_order();
	return test_done();
}

#include "graph/encoder.h"

#include <string.h>

/* Field: u32 tag, u64 length, bytes; little-endian. */
void encoder_bytes(struct encoder *e, enum key_tag tag, const void *data, size_t n)
{
	buf_u32le(&e->bytes, (uint32_t)tag);
	buf_u64le(&e->bytes, n);
	buf_add(&e->bytes, data, n);
}

void encoder_begin(struct encoder *e, const char *what)
{
	buf_reset(&e->bytes);
	encoder_u64(e, TAG_KEY_VERSION, KEY_VERSION);
	encoder_string(e, TAG_WHAT, what);
}

void encoder_string(struct encoder *e, enum key_tag tag, const char *s)
{
	encoder_bytes(e, tag, s, strlen(s));
}

void encoder_u64(struct encoder *e, enum key_tag tag, uint64_t v)
{
	unsigned char le[8];

	for (int i = 0; i < 8; i++)
		le[i] = (unsigned char)(v >> 8 * i);
	encoder_bytes(e, tag, le, sizeof le);
}

void encoder_sha(struct encoder *e, enum key_tag tag, const struct sha256 *sha)
{
	encoder_bytes(e, tag, sha->byte, sizeof sha->byte);
}

void encoder_end(struct encoder *e, struct sha256 *out)
{
	sha256_of(e->bytes.data, e->bytes.len, out);
}

void encoder_release(struct encoder *e)
{
	buf_release(&e->bytes);
}

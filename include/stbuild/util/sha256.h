#ifndef STBUILD_UTIL_SHA256_H
#define STBUILD_UTIL_SHA256_H

/* SHA-256 (FIPS 180-4), by libcrypto. */

#include <stddef.h>

#define SHA256_SIZE 32
#define SHA256_HEX 64

struct sha256 {
	unsigned char byte[SHA256_SIZE];
};

/* A running hash. Zeroed is not started; final and release end it. */
struct sha256_ctx {
	void *md; /* EVP_MD_CTX */
};

void sha256_init(struct sha256_ctx *ctx);
void sha256_update(struct sha256_ctx *ctx, const void *data, size_t n);
void sha256_final(struct sha256_ctx *ctx, struct sha256 *out);
void sha256_ctx_release(struct sha256_ctx *ctx);

/* Hash of one run of bytes. */
void sha256_of(const void *data, size_t n, struct sha256 *out);

/* hex has room for 64 digits and the NUL. Returns hex. */
char *sha256_hex(const struct sha256 *sha, char hex[SHA256_HEX + 1]);
/* 64 lower-case hex digits, no more. 0, or -1 for anything else. */
int sha256_parse(const char *hex, struct sha256 *out);
int sha256_equal(const struct sha256 *a, const struct sha256 *b);
int sha256_is_zero(const struct sha256 *sha);

#endif

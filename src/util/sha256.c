#include "util/sha256.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <openssl/evp.h>

#include "util/mem.h"

/*
 * libcrypto's SHA-256 fails where memory is gone, or where a policy of the
 * system took it away: nothing can be done without, so it ends like xmalloc.
 */
static void give_up(void)
{
	fprintf(stderr,
	    "stbuild: libcrypto gives no SHA-256 (out of memory, or"
	    " not allowed by this system's settings of OpenSSL)\n");
	_Exit(3);
}

void sha256_init(struct sha256_ctx *ctx)
{
	ctx->md = EVP_MD_CTX_new();
	if (!ctx->md || EVP_DigestInit_ex(ctx->md, EVP_sha256(), NULL) != 1)
		give_up();
}

void sha256_update(struct sha256_ctx *ctx, const void *data, size_t n)
{
	if (EVP_DigestUpdate(ctx->md, data, n) != 1)
		give_up();
}

void sha256_final(struct sha256_ctx *ctx, struct sha256 *out)
{
	if (EVP_DigestFinal_ex(ctx->md, out->byte, NULL) != 1)
		give_up();
	sha256_ctx_release(ctx);
}

void sha256_ctx_release(struct sha256_ctx *ctx)
{
	if (!ctx)
		return;
	EVP_MD_CTX_free(ctx->md);
	ctx->md = NULL;
}

void sha256_of(const void *data, size_t n, struct sha256 *out)
{
	struct sha256_ctx ctx;
	sha256_init(&ctx);
	sha256_update(&ctx, data, n);
	sha256_final(&ctx, out);
}

char *sha256_hex(const struct sha256 *sha, char hex[SHA256_HEX + 1])
{
	static const char digit[] = "0123456789abcdef";
	for (int i = 0; i < SHA256_SIZE; i++) {
		hex[2 * i] = digit[sha->byte[i] >> 4];
		hex[2 * i + 1] = digit[sha->byte[i] & 15];
	}
	hex[SHA256_HEX] = '\0';
	return hex;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int sha256_parse(const char *hex, struct sha256 *out)
{
	struct sha256 sha;
	for (int i = 0; i < SHA256_SIZE; i++) {
		int high = hex_value(hex[2 * i]);
		int low = high < 0 ? -1 : hex_value(hex[2 * i + 1]);
		if (low < 0)
			return -1;
		sha.byte[i] = (unsigned char)(high << 4 | low);
	}
	if (hex[SHA256_HEX])
		return -1;
	*out = sha;
	return 0;
}

int sha256_equal(const struct sha256 *a, const struct sha256 *b)
{
	return memcmp(a->byte, b->byte, SHA256_SIZE) == 0;
}

int sha256_is_zero(const struct sha256 *sha)
{
	static const struct sha256 zero;
	return sha256_equal(sha, &zero);
}

#include "util/sha256.h"
#include "util/mem.h"
#include "test.h"

static void check_hash(const char *text, const char *want)
{
	struct sha256 sha;
	char hex[SHA256_HEX + 1];
	sha256_of(text, strlen(text), &sha);
	CHECK_STR(sha256_hex(&sha, hex), want);
}

/* Examples of FIPS 180-2, appendix B, and the empty message. */
static void knows_the_examples(void)
{
	check_hash("",
	    "e3b0c44298fc1c149afbf4c8996fb924"
	    "27ae41e4649b934ca495991b7852b855");
	check_hash("abc",
	    "ba7816bf8f01cfea414140de5dae2223"
	    "b00361a396177a9cb410ff61f20015ad");
	check_hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
	    "248d6a61d20638b8e5c026930c3e6039"
	    "a33ce45964ff2167f6ecedd419db06c1");
}

static void streams(void)
{
	struct sha256 whole, parts;
	char text[1000];
	memset(text, 'a', sizeof text);
	sha256_of(text, sizeof text, &whole);
	struct sha256_ctx ctx;
	sha256_init(&ctx);
	for (size_t i = 0; i < sizeof text; i += 8)
		sha256_update(&ctx, text + i, 8);
	sha256_update(&ctx, NULL, 0);
	sha256_final(&ctx, &parts);
	CHECK(sha256_equal(&whole, &parts));
	sha256_init(&ctx);
	sha256_ctx_release(&ctx);
	sha256_ctx_release(&ctx);
	sha256_ctx_release(NULL);
	CHECK(!ctx.md);
}

static void parses(void)
{
	struct sha256 sha, back;
	char hex[SHA256_HEX + 2];
	sha256_of("x", 1, &sha);
	sha256_hex(&sha, hex);
	memset(&back, 0, sizeof back);
	CHECK(sha256_is_zero(&back));
	CHECK_INT(sha256_parse(hex, &back), 0);
	CHECK(sha256_equal(&sha, &back));
	CHECK(!sha256_is_zero(&back));
	hex[SHA256_HEX] = '0';
	hex[SHA256_HEX + 1] = '\0';
	CHECK_INT(sha256_parse(hex, &back), -1);
	hex[SHA256_HEX - 1] = '\0';
	CHECK_INT(sha256_parse(hex, &back), -1);
	CHECK_INT(sha256_parse("", &back), -1);
	sha256_hex(&sha, hex);
	hex[10] = 'A';
	CHECK_INT(sha256_parse(hex, &back), -1);
	CHECK(sha256_equal(&sha, &back));
}

int main(void)
{
	knows_the_examples();
	streams();
	parses();
	return test_done();
}

#include "util/buf.h"
#include "util/mem.h"
#include "test.h"

static void grows(void)
{
	struct buf b = BUF_INIT;
	CHECK_STR(buf_str(&b), "");
	for (int i = 0; i < 1000; i++)
		buf_addf(&b, "%03d,", i);
	CHECK_INT(b.len, 4000);
	CHECK(strncmp(buf_str(&b) + 3996, "999,", 5) == 0);
	buf_reset(&b);
	CHECK_INT(b.len, 0);
	CHECK_STR(buf_str(&b), "");
	buf_add(&b, "a\0b", 3);
	CHECK_INT(b.len, 3);
	CHECK_INT(b.data[3], 0);
	buf_add(&b, NULL, 0);
	CHECK_INT(b.len, 3);
	buf_release(&b);
	CHECK(!b.data && !b.len && !b.cap);
}

/* A text of exactly the room that is left still gets its NUL. */
static void formats_at_every_length(void)
{
	for (int n = 0; n < 200; n++) {
		struct buf b = BUF_INIT;
		buf_addstr(&b, "x");
		buf_addf(&b, "%*s", n, "");
		CHECK_INT(b.len, n + 1);
		CHECK_INT(strlen(b.data), n + 1);
		buf_release(&b);
	}
}

static void integers(void)
{
	struct buf b = BUF_INIT;
	buf_u32le(&b, 0x80706050);
	buf_u64le(&b, 0xf0e0d0c0b0a09080);
	CHECK_INT(b.len, 12);
	CHECK_INT((unsigned char)b.data[0], 0x50);
	CHECK_INT((unsigned char)b.data[11], 0xf0);
	CHECK(get_u32le(b.data) == 0x80706050);
	CHECK(get_u64le(b.data + 4) == 0xf0e0d0c0b0a09080);
	buf_release(&b);
}

static void detaches(void)
{
	struct buf b = BUF_INIT;
	char *s = buf_detach(&b);
	CHECK_STR(s, "");
	free(s);
	buf_addstr(&b, "text");
	buf_addch(&b, '!');
	s = buf_detach(&b);
	CHECK_STR(s, "text!");
	CHECK(!b.data);
	free(s);
}

static void tames(void)
{
	struct buf b = BUF_INIT;
	buf_tame(&b);
	buf_addstr(&b,
	    "a\033[2J\t\x7f\n\xc2\x9b"
	    "31m \xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x98\x80");
	buf_tame(&b);
	CHECK_STR(b.data, "a?[2J\t?\n??31m \xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x98\x80");
	buf_release(&b);
}

int main(void)
{
	grows();
	formats_at_every_length();
	integers();
	detaches();
	tames();
	return test_done();
}

/*
 * main() of the fuzzers: NAME.c here has LLVMFuzzerTestOneInput (libFuzzer's
 * interface), seed/NAME/ has its seeds. Every seed is tried as it is, then with
 * random changes, until FUZZ_SECONDS are over, and at least 200 times. What was
 * tried last is in ./input when the process dies.
 */

#include <dirent.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/buf.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/proc.h"

#define SEED_MAX (1 << 20)
#define ROUNDS_MIN 200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* xorshift64*: the same inputs at every run. */
static uint64_t state = 88172645463325252;

static size_t below(size_t n)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return n ? (size_t)((state * 2685821657736338717) >> 32) % n : 0;
}

static void try(const struct buf *input)
{
	struct err err = ERR_INIT;
	if (fs_write("input", buf_str(input), input->len, 0, &err) < 0) {
		fprintf(stderr, "%s\n", err.message);
		exit(1);
	}
	/* Of exact size, so that reading past the end is seen. */
	uint8_t *copy = xmemdup(buf_str(input), input->len);
	LLVMFuzzerTestOneInput(copy, input->len);
	free(copy);
}

static void change(struct buf *b, const struct buf *other)
{
	static const char token[] = "\"'[]{}().,:=#-+0919eE\\/*\n\t\0\x7f\x80\xff";
	size_t at = below(b->len + 1);
	size_t n = below(b->len - at + 1);
	switch (below(6)) {
	case 0: /* cut the end */
		b->len = at;
		break;
	case 1: /* take out */
		memmove(b->data + at, b->data + at + n, b->len - at - n);
		b->len -= n;
		break;
	case 2: /* change a bit */
		if (at < b->len)
			b->data[at] = (char)(b->data[at] ^ 1 << below(8));
		break;
	case 3: /* put something there that means something */
		if (at < b->len)
			b->data[at] = token[below(sizeof token)];
		break;
	case 4: /* repeat */
		if (b->len + n <= SEED_MAX) {
			buf_reserve(b, n);
			memmove(b->data + at + n, b->data + at, b->len - at);
			b->len += n;
		}
		break;
	default: /* go on as another seed does */
		b->len = at;
		at = below(other->len + 1);
		if (b->len + other->len - at <= SEED_MAX)
			buf_add(b, buf_str(other) + at, other->len - at);
	}
	buf_add(b, NULL, 0);
}

int main(int argc, char *argv[])
{
	const char *seconds = getenv("FUZZ_SECONDS");
	long long until = proc_now_ns() + (seconds ? atoll(seconds) : 0) * 1000000000;
	DIR *dir = argc == 2 ? opendir(argv[1]) : NULL;
	if (!dir) {
		fprintf(stderr, "usage: %s FOLDER-WITH-SEEDS\n", argv[0]);
		return 2;
	}
	struct buf *seed = NULL;
	size_t nseed = 0, cap = 0;
	const struct dirent *d;
	struct err err = ERR_INIT;
	while ((d = readdir(dir))) {
		if (d->d_name[0] == '.')
			continue;
		char *path = fs_join(argv[1], d->d_name);
		seed = array_grow(seed, nseed, &cap, sizeof *seed);
		seed[nseed] = (struct buf)BUF_INIT;
		if (fs_read(path, SEED_MAX, &seed[nseed], &err) < 0) {
			fprintf(stderr, "%s\n", err.message);
			return 1;
		}
		free(path);
		try(&seed[nseed++]);
	}
	closedir(dir);
	if (!nseed) {
		fprintf(stderr, "no seeds in %s\n", argv[1]);
		return 1;
	}
	unsigned long rounds = 0;
	struct buf input = BUF_INIT;
	for (; rounds < ROUNDS_MIN || proc_now_ns() < until; rounds++) {
		const struct buf *from = &seed[rounds % nseed];
		buf_reset(&input);
		buf_add(&input, buf_str(from), from->len);
		for (size_t n = 1 + below(8); n; n--)
			change(&input, &seed[below(nseed)]);
		try(&input);
	}
	printf("%zu seeds, %lu changed inputs\n", nseed, rounds);
	buf_release(&input);
	for (size_t i = 0; i < nseed; i++)
		buf_release(&seed[i]);
	free(seed);
	return 0;
}

#include "vcs/walk.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "util/mem.h"

/*
 * Sets of classes are bit sets, one a commit: with more classes than this
 * several share a bit, and the split is only nearly the best.
 */
#define BITS_MAX 8192

void bisect_init(struct bisect *b, const struct walk *walk, const int *class,
    size_t nclass)
{
	*b = (struct bisect){ .walk = walk, .class = class, .nclass = nclass };
	b->verdict = xcalloc(nclass + 1, 1);
	b->is_suspect = xcalloc(walk->ncommit + 1, 1);
	memset(b->is_suspect, 1, walk->ncommit);
	b->nsuspect = walk->ncommit;
	if (walk->ncommit)
		b->verdict[class[0]] = VERDICT_BAD;
}

void bisect_release(struct bisect *b)
{
	free(b->verdict);
	free(b->is_suspect);
	*b = (struct bisect){ 0 };
}

static enum verdict verdict_of(const struct bisect *b, size_t i)
{
	return (enum verdict)b->verdict[b->class[i]];
}

/* Whatever is behind a good commit is good. */
static void drop_good(struct bisect *b)
{
	const struct walk *w = b->walk;
	unsigned char *is_good = xcalloc(w->ncommit + 1, 1);
	for (size_t i = 0; i < w->ncommit; i++) {
		const struct walk_commit *c = &w->commit[i];
		if (b->is_suspect[i] && verdict_of(b, i) == VERDICT_GOOD)
			is_good[i] = 1;
		if (!is_good[i])
			continue;
		b->is_suspect[i] = 0;
		for (size_t k = 0; k < c->nparent; k++)
			is_good[w->parent[c->parent + k]] = 1;
	}
	free(is_good);
}

/* With an earlier bad commit, only what is behind it may be the first. */
static void move_bad(struct bisect *b, size_t bad)
{
	const struct walk *w = b->walk;
	unsigned char *is_behind = xcalloc(w->ncommit + 1, 1);
	is_behind[bad] = 1;
	for (size_t i = bad; i < w->ncommit; i++)
		for (size_t k = 0; is_behind[i] && k < w->commit[i].nparent; k++)
			is_behind[w->parent[w->commit[i].parent + k]] = 1;
	for (size_t i = 0; i < w->ncommit; i++)
		b->is_suspect[i] &= is_behind[i];
	b->bad = (int)bad;
	free(is_behind);
}

void bisect_judge(struct bisect *b, int class, enum verdict verdict)
{
	size_t n = b->walk->ncommit;
	if (b->class[b->bad] == class)
		return;
	b->verdict[class] = (unsigned char)verdict;
	b->nskip = verdict == VERDICT_SKIP ? b->nskip + 1 : 0;
	drop_good(b);
	for (size_t i = n; i-- > 0;)
		if (b->is_suspect[i] && verdict_of(b, i) == VERDICT_BAD &&
		    (int)i != b->bad)
			move_bad(b, i);
	b->nsuspect = 0;
	for (size_t i = 0; i < n; i++)
		b->nsuspect += b->is_suspect[i];
}

static int is_open(const struct bisect *b, size_t i)
{
	return b->is_suspect[i] && verdict_of(b, i) == VERDICT_NONE;
}

/* Numbers the classes that are open: *bit is a class each, -1 for others. */
static size_t number_classes(const struct bisect *b, int **bit)
{
	size_t n = 0;
	int *number = *bit = xcalloc(b->nclass + 1, sizeof **bit);
	for (size_t i = 0; i < b->nclass; i++)
		number[i] = -1;
	for (size_t i = 0; i < b->walk->ncommit; i++)
		if (is_open(b, i) && number[b->class[i]] < 0)
			number[b->class[i]] = (int)n++;
	return n;
}

int bisect_left(const struct bisect *b)
{
	int *bit, left = 0;
	size_t n = number_classes(b, &bit);
	free(bit);
	while (n >> left)
		left++;
	return left;
}

static int count_bits(const uint64_t *set, size_t nword)
{
	int n = 0;
	for (size_t i = 0; i < nword; i++)
		for (uint64_t word = set[i]; word; word &= word - 1)
			n++;
	return n;
}

/* How well each open commit splits the rest; 0 for the others. */
static int *measure(const struct bisect *b, const int *bit, size_t nclass)
{
	const struct walk *w = b->walk;
	size_t nbit = nclass < BITS_MAX ? nclass : BITS_MAX;
	size_t nword = (nbit + 63) / 64;
	int *distance = xcalloc(w->ncommit + 1, sizeof *distance);
	uint64_t *set = xcalloc(w->ncommit * nword + 1, sizeof *set);
	for (size_t i = w->ncommit; i-- > 0;) {
		uint64_t *own = set + i * nword;
		const struct walk_commit *c = &w->commit[i];
		if (!b->is_suspect[i])
			continue;
		for (size_t k = 0; k < c->nparent; k++) {
			const uint64_t *from =
			    set + (size_t)w->parent[c->parent + k] * nword;
			for (size_t word = 0; word < nword; word++)
				own[word] |= from[word];
		}
		if (!is_open(b, i))
			continue;
		size_t at = (size_t)bit[b->class[i]] * nbit / nclass;
		own[at / 64] |= (uint64_t)1 << at % 64;
		int behind = count_bits(own, nword);
		int before = (int)nbit + 1 - behind;
		distance[i] = behind < before ? behind : before;
	}
	free(set);
	return distance;
}

/*
 * After a skip the best split is often next to it and cannot be judged either:
 * as git does, some are tried that are farther away the longer that lasts.
 */
static int skip_away(const struct bisect *b, const int *distance)
{
	size_t n = 0;
	int max = 0, best = -1;
	for (size_t i = 0; i < b->walk->ncommit; i++) {
		n += distance[i] > 0;
		max = distance[i] > max ? distance[i] : max;
	}
	double fraction = b->nskip * 0.6180339887498949;
	size_t at = (size_t)((double)n * pow(fraction - floor(fraction), 1.5));
	for (int d = max; d > 0; d--)
		for (size_t i = 0; i < b->walk->ncommit; i++) {
			if (distance[i] != d)
				continue;
			best = (int)i;
			if (at-- == 0)
				return best;
		}
	return best;
}

int bisect_next(struct bisect *b)
{
	int *bit, best = -1;
	size_t nclass = number_classes(b, &bit);
	if (nclass) {
		int *distance = measure(b, bit, nclass);
		for (size_t i = 0; i < b->walk->ncommit; i++)
			if (distance[i] > 0 && (best < 0 || distance[i] > distance[best]))
				best = (int)i;
		if (b->nskip)
			best = skip_away(b, distance);
		free(distance);
	}
	free(bit);
	return best;
}

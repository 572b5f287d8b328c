#include "util/suggest.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

/* Longer words are no typing errors, and would cost quadratic time. */
#define WORD_MAX 64

static int min(int a, int b)
{
	return a < b ? a : b;
}

static int replace_cost(char a, char b)
{
	if (a == b)
		return 0;
	return tolower((unsigned char)a) == tolower((unsigned char)b) ? 1 : 2;
}

/* Optimal string alignment, in halves of an edit. */
static int distance(const char *a, int alen, const char *b, int blen)
{
	int row[3][WORD_MAX + 1]; /* the rows i - 2, i - 1 and i */
	for (int j = 0; j <= blen; j++)
		row[0][j] = 2 * j;
	for (int i = 1; i <= alen; i++) {
		int *now = row[i % 3];
		const int *above = row[(i + 2) % 3];
		const int *twice = row[(i + 1) % 3];
		now[0] = 2 * i;
		for (int j = 1; j <= blen; j++) {
			int d = above[j - 1] + replace_cost(a[i - 1], b[j - 1]);
			d = min(d, min(above[j], now[j - 1]) + 2);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				d = min(d, twice[j - 2] + 2);
			now[j] = d;
		}
	}
	return row[alen % 3][blen];
}

const char *suggest(const char *word, const char *const *candidate, size_t n)
{
	size_t len = strlen(word);
	if (len > WORD_MAX)
		return NULL;
	int limit = len < 3 ? 2 : (int)(2 * len / 3);
	const char *best = NULL;
	int best_distance = INT_MAX;
	for (size_t i = 0; i < n; i++) {
		if (!candidate[i])
			continue;
		size_t clen = strlen(candidate[i]);
		if (clen > WORD_MAX)
			continue;
		int d = distance(word, (int)len, candidate[i], (int)clen);
		if (d <= limit && d < best_distance) {
			best_distance = d;
			best = candidate[i];
		}
	}
	return best;
}

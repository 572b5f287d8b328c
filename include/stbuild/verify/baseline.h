#ifndef STBUILD_VERIFY_BASELINE_H
#define STBUILD_VERIFY_BASELINE_H

/*
 * The file "baselines": which results of a test somebody has accepted, by the
 * class of the driver that made them (stbuild-baselines(5)). A line an
 * acceptance, seven fields with one blank between them:
 *
 *	TEST FRAME SIZE CLASS SHA256 COMMIT REASON
 *
 * Lines stand in the order of their bytes, none twice, so that version control
 * merges them one by one. In TEST and CLASS all bytes up to the blank, '%', DEL
 * and, at the start, '#' are written %XX. COMMIT is 40 hex digits or "-"; the
 * reason is the rest of the line, and may be empty. Empty lines, and those that
 * start with '#', are comments; writing keeps them, at the top.
 */

#include <stddef.h>

#include "util/buf.h"
#include "util/err.h"
#include "util/sha256.h"

#define BASELINE_FILE "baselines" /* beside the manifest */

struct baseline {
	char *test, *driver; /* the class of the driver */
	int frame, width, height;
	struct sha256 sha;
	char commit[41]; /* "" when it was not in a repository */
	char *reason;
};

struct baselines {
	struct baseline *item;
	size_t nitem, cap;
	struct buf comment; /* whole lines */
};

/*
 * Appends what n bytes of a file hold; file is its name, for messages. A line
 * that is none, a file beyond LIMIT_BASELINES_BYTES, and marks of a merge that
 * was not ended are STATUS_INPUT with their line.
 */
int baselines_read(struct baselines *b, const char *file, const char *text, size_t n,
    struct err *err) WARN_UNUSED;
/* The file, lines sorted, none twice. */
void baselines_print(const struct baselines *b, struct buf *out);
/* Copies the item in. */
void baselines_add(struct baselines *b, const struct baseline *item);
/* Takes out what is of this test, frame, size and class; how many. */
size_t baselines_remove(struct baselines *b, const struct baseline *like);
/* The next of this test, frame, size and class from *at on; null at the end. */
const struct baseline *baselines_next(const struct baselines *b,
    const struct baseline *like, size_t *at);
void baselines_release(struct baselines *b);

#endif

#ifndef STBUILD_VERIFY_OUTPUTS_H
#define STBUILD_VERIFY_OUTPUTS_H

/*
 * What the passes of a bundle hold, as RGBA32F, in the order of drawing: output
 * 0 from the state, the rest from the intermediates where it has some. The
 * image is not among them: it is final.png.
 */

#include <stddef.h>

#include "format/bundle.h"
#include "format/ststate.h"
#include "util/buf.h"
#include "util/err.h"

struct output {
	char *pass;
	int output;
	int face; /* 0..5 (px nx py ny pz nz), or -1 */
	int width, height;
	size_t at; /* in the state's file; 0: an artifact */
	char *key; /* of the artifact, or null */
};

struct outputs {
	const struct bundle *bundle; /* borrowed */
	struct output *output;
	size_t noutput, cap;
	struct buf file; /* state.ststate, empty without */
	struct state state;
	struct buf scratch;
};

int outputs_open(const struct bundle *b, struct outputs *out,
    struct err *err) WARN_UNUSED;
void outputs_close(struct outputs *o);
/*
 * The texels of output i, bottom row first, 16 bytes each and not aligned;
 * borrowed until the next call. Null when they cannot be read.
 */
const char *outputs_read(struct outputs *o, size_t i, struct err *err) WARN_UNUSED;
/* "px" for 0, and so on. */
const char *output_face(int face);

/* The first value of a bundle that is no number. */
struct nonfinite {
	int is_found;
	char *pass;
	int output, face;
	int x, y;    /* of its pixel, from the bottom left */
	int channel; /* 0..3 */
	float value;
};

int nonfinite_find(const struct bundle *b, struct nonfinite *out,
    struct err *err) WARN_UNUSED;
void nonfinite_release(struct nonfinite *n);

#endif

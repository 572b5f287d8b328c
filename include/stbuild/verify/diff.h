#ifndef STBUILD_VERIFY_DIFF_H
#define STBUILD_VERIFY_DIFF_H

/*
 * Two bundles, or two pictures, or one of each: whether they are equal, by how
 * much they differ, where first, and what of their making differs. Bundles are
 * compared by bits in the order of drawing: each pass's output in the state and
 * the intermediates, storage buffers, then the picture. What one of them does
 * not have (intermediates, say) is left out.
 */

#include <stddef.h>
#include <stdint.h>

#include "format/bundle.h"
#include "util/err.h"
#include "verify/compare.h"
#include "verify/picture.h"

/* One thing that both have. */
enum diff_kind { DIFF_OUTPUT, DIFF_STORAGE, DIFF_PICTURE };
struct diff_part {
	enum diff_kind kind;
	char *name;       /* pass or storage buffer; null: a plain picture */
	int output, face; /* OUTPUT; face -1 for none */
	int is_equal;
	int is_other_size;   /* then nothing below is known */
	int width, height;   /* STORAGE: 0 */
	uint64_t npixel;     /* that differ; STORAGE: bytes */
	double rmse;         /* PICTURE: of 0..1; OUTPUT: of the values */
	double max;          /* PICTURE: 0..255; STORAGE: 0 */
	uint64_t nnonfinite; /* OUTPUT: values with NaN or infinity */
	int has_metrics;     /* diff_measure: PICTURE, and OUTPUT's flip */
	double psnr, ssim;
	double flip; /* OUTPUT: HDR-FLIP */
	/* The first that differs. */
	int x, y;                /* from the bottom left; of a file, the top left */
	int channel;             /* 0..3 */
	uint64_t byte;           /* STORAGE: its offset */
	double a, b;             /* values: PICTURE and STORAGE 0..255 */
	uint32_t bits_a, bits_b; /* OUTPUT: as IEEE 754 */
};

/* Something of the making that differs. */
struct diff_cause {
	const char *kind; /* "source", "input", "driver", "tool" */
	char *name;       /* "pass 'a'", "uniform 'speed'", "width" */
	char *a, *b;      /* values, or hashes; null: not there */
};

struct diff_side {
	int is_bundle;
	struct bundle bundle;
	struct picture picture;
};

struct diff {
	struct diff_side a, b;
	int is_equal;
	struct diff_part *part; /* in order; those that are equal too */
	size_t npart, part_cap;
	const struct diff_part *first; /* borrowed; null: none differs */
	struct diff_cause *cause;      /* of two bundles */
	size_t ncause, cause_cap;
	int is_driver_known; /* both bundles say what drew them */
	int is_driver_other; /* and it is not the same */
};

/* Each is a bundle's folder, its trace.json, a PNG or a JPEG. */
int diff_open(const char *a, const char *b, struct diff *out,
    struct err *err) WARN_UNUSED;
void diff_close(struct diff *d);
/* Fills in the other metrics of parts that differ; takes a while. */
int diff_measure(struct diff *d, struct err *err) WARN_UNUSED;
/* Whether a cause of this kind was found. */
int diff_has_cause(const struct diff *d, const char *kind);

/* What an operand names that is no path: "REV:TRACE@FRAME", "TRACE@FRAME". */
struct diff_name {
	char *rev;    /* or null: the work tree */
	char *target; /* "TRACE@FRAME" */
};
/* 0 when it is neither: no frame, an empty part. */
int diff_name_parse(const char *text, struct diff_name *out);
void diff_name_release(struct diff_name *n);

#endif

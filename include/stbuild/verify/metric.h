#ifndef STBUILD_VERIFY_METRIC_H
#define STBUILD_VERIFY_METRIC_H

/*
 * How far one picture is from another, by the measures that tools for pictures
 * agree on. stbuild-metrics(7) has the formulas.
 *
 * Pictures are 8-bit RGB of one size. A mask has a byte for each pixel, and a
 * pixel counts where it is not 0; a null mask counts all. Without any pixel that
 * counts, pictures are equal.
 */

#include <stddef.h>
#include <stdint.h>

#include "project/manifest.h"
#include "verify/picture.h"

struct metric_row {
	const char *word;       /* in reports: "rmse" */
	const char *key;        /* of a test: "max_rmse" */
	int is_higher_better;   /* psnr, ssim */
	double lowest, highest; /* what a limit may be */
};

const struct metric_row *metric_row(enum metric metric);
/* METRIC_COUNT when there is none of that name. */
enum metric metric_find(const char *word);

struct metric_options {
	const uint8_t *mask; /* or null */
	int epsilon;         /* METRIC_PIXELS: 0..255 */
	double ppd;          /* FLIP: pixels per degree; 0: METRIC_PPD */
};

/* A 0.7 m wide display of 3,840 pixels seen from 0.7 m, as FLIP's authors do. */
#define METRIC_PPD 67.0206432765823

/*
 * PSNR of equal pictures is infinity. The time is linear in the pixels; FLIP
 * takes some 40 times that of the others.
 */
double metric_value(enum metric metric, const struct picture *reference,
    const struct picture *test, const struct metric_options *options);

/*
 * FLIP of each pixel, 0..1; map has width x height values. Reference and test
 * may be swapped for LDR.
 */
void flip_map(const struct picture *reference, const struct picture *test, double ppd,
    float *map);
/*
 * HDR-FLIP of linear RGB from RGBA32F texels, 16 bytes each and not aligned:
 * the largest FLIP over a range of exposures that the reference decides. What is
 * no number or negative counts as 0.
 */
void flip_hdr_map(const void *reference, const void *test, int width, int height,
    double ppd, float *map);

#endif

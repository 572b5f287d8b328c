#include "verify/metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

static const struct metric_row row[] = {
#define METRIC(name, word, key, is_higher_better, lowest, highest, text) \
	{ word, key, is_higher_better, lowest, highest },
#include "project/metric.def"
#undef METRIC
};

const struct metric_row *metric_row(enum metric metric)
{
	return &row[metric];
}

enum metric metric_find(const char *word)
{
	int i = 0;

	while (i < METRIC_COUNT && strcmp(row[i].word, word) != 0)
		i++;
	return (enum metric)i;
}

/* Bytes --------------------------------------------------------------------------- */

struct sums {
	uint64_t npixel;  /* that count */
	uint64_t squares; /* of byte differences */
	uint64_t nover;   /* pixels over epsilon */
	int max;
};

static struct sums add_up(const struct picture *a, const struct picture *b,
    const uint8_t *mask, int epsilon)
{
	struct sums s = { 0 };
	size_t n = picture_size(a) / 3;

	for (size_t i = 0; i < n; i++) {
		int most = 0;
		if (mask && !mask[i])
			continue;
		s.npixel++;
		for (size_t c = 3 * i; c < 3 * i + 3; c++) {
			int d = abs(a->rgb[c] - b->rgb[c]);
			s.squares += (uint64_t)(d * d);
			if (d > most)
				most = d;
		}
		s.nover += most > epsilon;
		if (most > s.max)
			s.max = most;
	}
	return s;
}

static double mean_square(const struct sums *s)
{
	return s->npixel ? (double)s->squares / (3 * (double)s->npixel) : 0;
}

/*
 * SSIM: Wang, Bovik, Sheikh, Simoncelli, "Image quality assessment: from error
 * visibility to structural similarity", IEEE Transactions on Image Processing
 * 13(4), 2004: on luma (BT.601), a Gaussian window of 11x11 with sigma 1.5, K1
 * 0.01, K2 0.03, L 255. ------------------------------------------------------- */

enum { SSIM_RADIUS = 5 };

/* Beyond an edge the picture is mirrored, the edge pixel included. */
static int mirror(int at, int n)
{
	while (at < 0 || at >= n)
		at = at < 0 ? -1 - at : 2 * n - 1 - at;
	return at;
}

static void blur(const double *kernel, const double *in, int width, int height,
    double *scratch, double *out)
{
	for (int y = 0; y < height; y++)
		for (int x = 0; x < width; x++) {
			double sum = 0;
			for (int k = -SSIM_RADIUS; k <= SSIM_RADIUS; k++)
				sum += kernel[k + SSIM_RADIUS] *
				    in[(size_t)y * (size_t)width +
					(size_t)mirror(x + k, width)];
			scratch[(size_t)y * (size_t)width + (size_t)x] = sum;
		}
	for (int y = 0; y < height; y++)
		for (int x = 0; x < width; x++) {
			double sum = 0;
			for (int k = -SSIM_RADIUS; k <= SSIM_RADIUS; k++)
				sum += kernel[k + SSIM_RADIUS] *
				    scratch[(size_t)mirror(y + k, height) *
					    (size_t)width +
					(size_t)x];
			out[(size_t)y * (size_t)width + (size_t)x] = sum;
		}
}

static double luma(const uint8_t *rgb)
{
	return 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2];
}

static double ssim(const struct picture *a, const struct picture *b, const uint8_t *mask)
{
	int w = a->width, h = a->height;
	size_t n = picture_size(a) / 3, ncounted = 0;
	double kernel[2 * SSIM_RADIUS + 1], sum = 0;
	double *plane = xcalloc(n, 11 * sizeof *plane);
	double *x = plane, *y = x + n, *part = y + n, *scratch = plane + 10 * n;
	const double c1 = 0.01 * 255 * 0.01 * 255, c2 = 0.03 * 255 * 0.03 * 255;

	for (int k = -SSIM_RADIUS; k <= SSIM_RADIUS; k++)
		sum += kernel[k + SSIM_RADIUS] = exp(-k * k / (2 * 1.5 * 1.5));
	for (int k = 0; k <= 2 * SSIM_RADIUS; k++)
		kernel[k] /= sum;
	/* Means of x, y, xx, yy, xy, in part[3..7]. */
	double *product = part;
	for (size_t i = 0; i < n; i++) {
		x[i] = luma(a->rgb + 3 * i);
		y[i] = luma(b->rgb + 3 * i);
	}
	double *mean = plane + 3 * n;
	blur(kernel, x, w, h, scratch, mean);
	blur(kernel, y, w, h, scratch, mean + n);
	for (int k = 0; k < 3; k++) {
		const double *u = k == 1 ? y : x, *v = k == 0 ? x : y;
		for (size_t i = 0; i < n; i++)
			product[i] = u[i] * v[i];
		blur(kernel, product, w, h, scratch, mean + (size_t)(2 + k) * n);
	}
	/* Windows within the picture, where there are any. */
	int edge_x = w > 2 * SSIM_RADIUS ? SSIM_RADIUS : 0;
	int edge_y = h > 2 * SSIM_RADIUS ? SSIM_RADIUS : 0;
	sum = 0;
	for (int row_y = edge_y; row_y < h - edge_y; row_y++)
		for (int col = edge_x; col < w - edge_x; col++) {
			size_t i = (size_t)row_y * (size_t)w + (size_t)col;
			if (mask && !mask[i])
				continue;
			double mx = mean[i], my = mean[n + i];
			double vx = mean[2 * n + i] - mx * mx;
			double vy = mean[3 * n + i] - my * my;
			double vxy = mean[4 * n + i] - mx * my;
			sum += (2 * mx * my + c1) * (2 * vxy + c2) /
			    ((mx * mx + my * my + c1) * (vx + vy + c2));
			ncounted++;
		}
	free(plane);
	return ncounted ? sum / (double)ncounted : 1;
}

static double flip(const struct picture *a, const struct picture *b,
    const struct metric_options *options)
{
	size_t n = picture_size(a) / 3, ncounted = 0;
	float *map = xcalloc(n + 1, sizeof *map);
	double sum = 0;

	flip_map(a, b, options->ppd > 0 ? options->ppd : METRIC_PPD, map);
	for (size_t i = 0; i < n; i++) {
		if (options->mask && !options->mask[i])
			continue;
		sum += map[i];
		ncounted++;
	}
	free(map);
	return ncounted ? sum / (double)ncounted : 0;
}

double metric_value(enum metric metric, const struct picture *reference,
    const struct picture *test, const struct metric_options *options)
{
	if (metric == METRIC_SSIM)
		return ssim(reference, test, options->mask);
	if (metric == METRIC_FLIP)
		return flip(reference, test, options);

	struct sums s = add_up(reference, test, options->mask, options->epsilon);
	switch (metric) {
	case METRIC_RMSE:
		return sqrt(mean_square(&s)) / 255;
	case METRIC_MAX:
		return s.max;
	case METRIC_PIXELS:
		return (double)s.nover;
	case METRIC_PSNR:
		return s.squares == 0 ? HUGE_VAL
				      : 10 * log10(255.0 * 255 / mean_square(&s));
	default:
		return 0;
	}
}

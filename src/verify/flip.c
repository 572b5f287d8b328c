/*
 * FLIP, the difference that a person sees when two pictures alternate: Andersson,
 * Nilsson, Akenine-Moller, Oskarsson, Astrom, Fairchild, "FLIP: A Difference
 * Evaluator for Alternating Images", HPG 2020; for high dynamic range Andersson,
 * Nilsson, Shirley, Akenine-Moller, "Visualizing Errors in Rendered High Dynamic
 * Range Images", Eurographics 2021. Constants are theirs.
 *
 * All filters are sums of products of one-dimensional ones, and applied so.
 */
#include "verify/metric.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#define PI 3.14159265358979323846

struct size {
	int width, height;
	size_t n; /* pixels */
};

/* Planes of n values; three of them are a picture in some colour space. */
struct colour {
	float *c[3];
};

static struct colour colour_new(size_t n)
{
	float *all = xcalloc(n + 1, 3 * sizeof *all);

	return (struct colour){ { all, all + n, all + 2 * n } };
}

static void colour_free(struct colour *c)
{
	free(c->c[0]);
	*c = (struct colour){ { NULL } };
}

/* Colour spaces ---------------------------------------------------------------- */

static const double white[3] = { 0.950428545, 1, 1.088900371 }; /* D65 */

static double linear_of_srgb(double v)
{
	return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static void xyz_of_rgb(const double rgb[3], double xyz[3])
{
	xyz[0] = (10135552 * rgb[0] + 8788810 * rgb[1] + 4435075 * rgb[2]) / 24577794;
	xyz[1] = (2613072 * rgb[0] + 8788810 * rgb[1] + 887015 * rgb[2]) / 12288897;
	xyz[2] = (1425312 * rgb[0] + 8788810 * rgb[1] + 70074185 * rgb[2]) / 73733382;
}

static void rgb_of_xyz(const double xyz[3], double rgb[3])
{
	rgb[0] = 3.241003275 * xyz[0] - 1.537398934 * xyz[1] - 0.498615861 * xyz[2];
	rgb[1] = -0.969224334 * xyz[0] + 1.875930071 * xyz[1] + 0.041554224 * xyz[2];
	rgb[2] = 0.055639423 * xyz[0] - 0.204011202 * xyz[1] + 1.057148933 * xyz[2];
}

/* A linear colour as YCxCz, CIELAB without its cube roots. */
static void ycxcz_of_rgb(const double rgb[3], double out[3])
{
	double xyz[3];

	xyz_of_rgb(rgb, xyz);
	double x = xyz[0] / white[0], y = xyz[1] / white[1], z = xyz[2] / white[2];
	out[0] = 116 * y - 16;
	out[1] = 500 * (x - y);
	out[2] = 200 * (y - z);
}

static void rgb_of_ycxcz(const double in[3], double rgb[3])
{
	double y = (in[0] + 16) / 116;
	double xyz[3] = {
		(in[1] / 500 + y) * white[0],
		y * white[1],
		(y - in[2] / 200) * white[2],
	};

	rgb_of_xyz(xyz, rgb);
}

static double lab_curve(double v)
{
	const double delta = 6.0 / 29;

	return v > delta * delta * delta ? cbrt(v) : v / (3 * delta * delta) + 4.0 / 29;
}

/* CIELAB with chroma scaled by lightness (the Hunt effect). */
static void hunt_lab_of_rgb(const double rgb[3], double out[3])
{
	double xyz[3];

	xyz_of_rgb(rgb, xyz);
	double x = lab_curve(xyz[0] / white[0]), y = lab_curve(xyz[1] / white[1]);
	double z = lab_curve(xyz[2] / white[2]);
	out[0] = 116 * y - 16;
	out[1] = 0.01 * out[0] * 500 * (x - y);
	out[2] = 0.01 * out[0] * 200 * (y - z);
}

static double hyab(const double a[3], const double b[3])
{
	return fabs(a[0] - b[0]) + hypot(a[1] - b[1], a[2] - b[2]);
}

/* Filters ---------------------------------------------------------------------- */

/* 2 x radius + 1 weights, by which a row or a column is summed. */
struct kernel {
	int radius;
	double *weight;
};

static struct kernel kernel_new(int radius)
{
	return (struct kernel){ radius, xcalloc(2 * (size_t)radius + 1, sizeof(double)) };
}

static int clamp(int v, int n)
{
	return v < 0 ? 0 : v >= n ? n - 1 : v;
}

/* out += by * (columns over rows of in); scratch has n values. */
static void convolve(const struct size *s, const float *in, const struct kernel *row,
    const struct kernel *column, double by, float *scratch, float *out)
{
	size_t w = (size_t)s->width;

	for (int y = 0; y < s->height; y++)
		for (int x = 0; x < s->width; x++) {
			const float *line = in + (size_t)y * w;
			double sum = 0;
			for (int k = -row->radius; k <= row->radius; k++)
				sum += row->weight[k + row->radius] *
				    line[clamp(x + k, s->width)];
			scratch[(size_t)y * w + (size_t)x] = (float)sum;
		}
	for (int y = 0; y < s->height; y++)
		for (int x = 0; x < s->width; x++) {
			double sum = 0;
			for (int k = -column->radius; k <= column->radius; k++)
				sum += column->weight[k + column->radius] *
				    scratch[(size_t)clamp(y + k, s->height) * w +
					(size_t)x];
			out[(size_t)y * w + (size_t)x] += (float)(by * sum);
		}
}

/*
 * Contrast sensitivity of the three opponent channels: Gaussians a * sqrt(pi / b)
 * exp(-pi^2 x^2 / b), x in degrees, normalised together (HPG 2020, table 1).
 */
struct gaussian {
	double a, b;
};
static const struct gaussian sensitivity[3][2] = {
	{ { 1, 0.0047 }, { 0, 1 } },
	{ { 1, 0.0053 }, { 0, 1 } },
	{ { 34.1, 0.04 }, { 13.5, 0.025 } },
};

static double fill_gaussian(struct kernel *k, double b, double ppd)
{
	double sum = 0;

	for (int i = -k->radius; i <= k->radius; i++) {
		double x = i / ppd;
		sum += k->weight[i + k->radius] = exp(-PI * PI * x * x / b);
	}
	return sum;
}

static void filter_spatially(const struct size *s, const struct colour *in, double ppd,
    struct colour *out)
{
	int radius = (int)ceil(3 * sqrt(0.04 / (2 * PI * PI)) * ppd);
	struct kernel k = kernel_new(radius);
	float *scratch = xcalloc(s->n + 1, sizeof *scratch);

	for (int c = 0; c < 3; c++) {
		double scale[2], total = 0;
		for (int g = 0; g < 2; g++) {
			const struct gaussian *of = &sensitivity[c][g];
			double sum = fill_gaussian(&k, of->b, ppd);
			scale[g] = of->a * sqrt(PI / of->b);
			total += scale[g] * sum * sum;
		}
		for (int g = 0; g < 2; g++) {
			if (scale[g] == 0)
				continue;
			fill_gaussian(&k, sensitivity[c][g].b, ppd);
			convolve(s, in->c[c], &k, &k, scale[g] / total, scratch,
			    out->c[c]);
		}
	}
	free(scratch);
	free(k.weight);
}

/* Colour differences -------------------------------------------------------------- */

enum { REFERENCE, TEST };
#define COLOUR_EXPONENT 0.7
#define COLOUR_KNEE 0.4        /* of the largest difference ... */
#define COLOUR_KNEE_VALUE 0.95 /* ... is mapped to this */
#define FEATURE_EXPONENT 0.5

static double largest_colour_difference(void)
{
	double green[3], blue[3];

	hunt_lab_of_rgb((const double[]){ 0, 1, 0 }, green);
	hunt_lab_of_rgb((const double[]){ 0, 0, 1 }, blue);
	return pow(hyab(green, blue), COLOUR_EXPONENT);
}

static void seen_colour(const struct colour *filtered, size_t i, double lab[3])
{
	const double ycxcz[3] = { filtered->c[0][i], filtered->c[1][i],
		filtered->c[2][i] };
	double rgb[3];

	rgb_of_ycxcz(ycxcz, rgb);
	for (int c = 0; c < 3; c++)
		rgb[c] = rgb[c] < 0 ? 0 : rgb[c] > 1 ? 1 : rgb[c];
	hunt_lab_of_rgb(rgb, lab);
}

static void compare_colours(const struct size *s, const struct colour opponent[2],
    double ppd, float *out)
{
	struct colour filtered[2];
	double most = largest_colour_difference(), knee = COLOUR_KNEE * most;

	for (int k = 0; k < 2; k++) {
		filtered[k] = colour_new(s->n);
		filter_spatially(s, &opponent[k], ppd, &filtered[k]);
	}
	for (size_t i = 0; i < s->n; i++) {
		double a[3], b[3];
		seen_colour(&filtered[REFERENCE], i, a);
		seen_colour(&filtered[TEST], i, b);
		double d = pow(hyab(a, b), COLOUR_EXPONENT);
		out[i] = (float)(d < knee ? COLOUR_KNEE_VALUE / knee * d
					  : COLOUR_KNEE_VALUE +
			    (d - knee) / (most - knee) * (1 - COLOUR_KNEE_VALUE));
	}
	colour_free(&filtered[REFERENCE]);
	colour_free(&filtered[TEST]);
}

/* Features -------------------------------------------------------------------- */

/* First or second derivative of a Gaussian, positive and negative sum 1 each. */
static void fill_feature(struct kernel *k, double sigma, int is_point)
{
	double sum[2] = { 0, 0 };

	for (int i = -k->radius; i <= k->radius; i++) {
		double g = exp(-i * i / (2 * sigma * sigma));
		double v = is_point ? (i * i / (sigma * sigma) - 1) * g : -i * g;
		k->weight[i + k->radius] = v;
		sum[v > 0] += fabs(v);
	}
	for (int i = 0; i <= 2 * k->radius; i++)
		k->weight[i] /= sum[k->weight[i] > 0];
}

/* Strength of edges or points of a grey picture; out is zeros. */
static void find_features(const struct size *s, const float *grey, double sigma,
    int is_point, float *out)
{
	struct kernel feature = kernel_new((int)ceil(3 * sigma));
	struct kernel smooth = kernel_new(feature.radius);
	float *scratch = xcalloc(s->n + 1, 3 * sizeof *scratch);
	float *dx = scratch + s->n, *dy = dx + s->n;
	double sum = 0;

	fill_feature(&feature, sigma, is_point);
	for (int i = -smooth.radius; i <= smooth.radius; i++)
		sum += smooth.weight[i + smooth.radius] =
		    exp(-i * i / (2 * sigma * sigma));
	convolve(s, grey, &feature, &smooth, 1 / sum, scratch, dx);
	convolve(s, grey, &smooth, &feature, 1 / sum, scratch, dy);
	for (size_t i = 0; i < s->n; i++)
		out[i] = hypotf(dx[i], dy[i]);
	free(scratch);
	free(feature.weight);
	free(smooth.weight);
}

/* Colour differences in map become FLIP. */
static void add_features(const struct size *s, const struct colour opponent[2],
    double ppd, float *map)
{
	const double sigma = 0.5 * 0.082 * ppd; /* of detectors 0.082 degrees wide */
	float *grey = xcalloc(s->n + 1, 5 * sizeof *grey);

	for (int k = 0; k < 2; k++) {
		for (size_t i = 0; i < s->n; i++)
			grey[i] = (opponent[k].c[0][i] + 16) / 116;
		for (int kind = 0; kind < 2; kind++)
			find_features(s, grey, sigma, kind,
			    grey + (size_t)(1 + 2 * k + kind) * s->n);
	}
	for (size_t i = 0; i < s->n; i++) {
		double edge = fabs(grey[s->n + i] - grey[3 * s->n + i]);
		double point = fabs(grey[2 * s->n + i] - grey[4 * s->n + i]);
		double d = pow((edge > point ? edge : point) / sqrt(2), FEATURE_EXPONENT);
		map[i] = (float)pow(map[i], 1 - (d < 1 ? d : 1));
	}
	free(grey);
}

/* Of linear colours 0..1, in opponent colours. */
static void flip_opponent(const struct size *s, const struct colour opponent[2],
    double ppd, float *map)
{
	compare_colours(s, opponent, ppd, map);
	add_features(s, opponent, ppd, map);
}

void flip_map(const struct picture *reference, const struct picture *test, double ppd,
    float *map)
{
	const struct picture *picture[] = { reference, test };
	struct size s = { reference->width, reference->height,
		picture_size(reference) / 3 };
	struct colour opponent[2];
	double linear[256];

	for (int v = 0; v < 256; v++)
		linear[v] = linear_of_srgb(v / 255.0);
	for (int k = 0; k < 2; k++) {
		opponent[k] = colour_new(s.n);
		for (size_t i = 0; i < s.n; i++) {
			const uint8_t *at = picture[k]->rgb + 3 * i;
			const double rgb[3] = { linear[at[0]], linear[at[1]],
				linear[at[2]] };
			double out[3];
			ycxcz_of_rgb(rgb, out);
			for (int c = 0; c < 3; c++)
				opponent[k].c[c][i] = (float)out[c];
		}
	}
	flip_opponent(&s, opponent, ppd, map);
	colour_free(&opponent[REFERENCE]);
	colour_free(&opponent[TEST]);
}

/* High dynamic range -------------------------------------------------------------- */

/* Narkowicz's fit of the ACES tone curve, with the exposure of 0.6 in it. */
static const double aces[6] = {
	0.6 * 0.6 * 2.51,
	0.6 * 0.03,
	0,
	0.6 * 0.6 * 2.43,
	0.6 * 0.59,
	0.14,
};
#define TONE_WHITE 0.85 /* what the brightest is mapped to at first */

static double tone(double v)
{
	double t = ((aces[0] * v + aces[1]) * v + aces[2]) /
	    ((aces[3] * v + aces[4]) * v + aces[5]);

	return t < 0 ? 0 : t > 1 ? 1 : t;
}

static void read_colour(const void *texel, size_t i, double rgb[3])
{
	float v[3];

	memcpy(v, (const char *)texel + 16 * i, sizeof v);
	for (int c = 0; c < 3; c++)
		rgb[c] = v[c] > 0 ? (v[c] < FLT_MAX ? v[c] : FLT_MAX) : 0;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The exposures, in stops, between which the reference is neither white nor dark. */
static void find_exposures(const void *texel, size_t n, double *start, double *stop)
{
	double a = TONE_WHITE * aces[3] - aces[0];
	double b = TONE_WHITE * aces[4] - aces[1];
	double c = TONE_WHITE * aces[5] - aces[2];
	double brightest = (-b - sqrt(b * b - 4 * a * c)) / (2 * a);
	double *y = xcalloc(n + 1, sizeof *y);

	for (size_t i = 0; i < n; i++) {
		double rgb[3];
		read_colour(texel, i, rgb);
		y[i] = 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
	}
	qsort(y, n, sizeof *y, compare_doubles);
	double median = n == 0 ? 0 : n % 2 ? y[n / 2] : (y[n / 2 - 1] + y[n / 2]) / 2;
	double max = n ? y[n - 1] : 0;
	*start = log2(brightest / fmax(max, FLT_EPSILON));
	*stop = log2(brightest / fmax(median, FLT_EPSILON));
	free(y);
}

void flip_hdr_map(const void *reference, const void *test, int width, int height,
    double ppd, float *map)
{
	const void *texel[] = { reference, test };
	struct size s = { width, height, (size_t)width * (size_t)height };
	struct colour opponent[2] = { colour_new(s.n), colour_new(s.n) };
	float *one = xcalloc(s.n + 1, sizeof *one);
	double start, stop;

	find_exposures(reference, s.n, &start, &stop);
	int n = (int)fmax(2, ceil(stop - start));
	memset(map, 0, s.n * sizeof *map);
	for (int e = 0; e < n; e++) {
		double by = exp2(start + (stop - start) * e / (n - 1));
		for (int k = 0; k < 2; k++)
			for (size_t i = 0; i < s.n; i++) {
				double rgb[3], out[3];
				read_colour(texel[k], i, rgb);
				for (int c = 0; c < 3; c++)
					rgb[c] = tone(by * rgb[c]);
				ycxcz_of_rgb(rgb, out);
				for (int c = 0; c < 3; c++)
					opponent[k].c[c][i] = (float)out[c];
			}
		flip_opponent(&s, opponent, ppd, one);
		for (size_t i = 0; i < s.n; i++)
			if (one[i] > map[i])
				map[i] = one[i];
	}
	free(one);
	colour_free(&opponent[REFERENCE]);
	colour_free(&opponent[TEST]);
}

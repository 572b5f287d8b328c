/*
 * Measures against the values of other programs for the same pictures: PSNR and
 * SSIM of scikit-image 0.26, FLIP of its authors' flip-evaluator 1.7.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "verify/metric.h"

enum { W = 48, H = 32 };

static void paint(uint8_t *rgb, int is_changed)
{
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++) {
			int r = (x * 5 + y * 3) % 256, g = x * y * 2 % 256;
			int b = (x / 8 + y / 8) % 2 * 200;
			int dx = x - 30, dy = y - 12;
			if (is_changed && dx * dx + dy * dy < 40) {
				r = r + 60 > 255 ? 255 : r + 60;
				b = 20;
			}
			if (is_changed && x % 7 == 0)
				g = (g + 13) % 256;
			uint8_t *at = rgb + 3 * (y * W + x);
			at[0] = (uint8_t)r;
			at[1] = (uint8_t)g;
			at[2] = (uint8_t)b;
		}
}

static uint8_t pixel[2][3 * W * H];
static const struct picture a = { W, H, pixel[0] }, b = { W, H, pixel[1] };

static int is_near(double value, double wanted, double within)
{
	int ok = fabs(value - wanted) <= within;

	if (!ok)
		fprintf(stderr, "%.9g, not %.9g\n", value, wanted);
	return ok;
}

static double measure(enum metric metric, const struct metric_options *o)
{
	return metric_value(metric, &a, &b, o);
}

static void has_the_values_of_others(void)
{
	const struct metric_options plain = { 0 }, coarse = { .ppd = 30 };

	CHECK(is_near(measure(METRIC_PSNR, &plain), 20.123726776552946, 1e-9));
	CHECK(is_near(measure(METRIC_RMSE, &plain), 0.09858564023328961, 1e-12));
	CHECK(measure(METRIC_MAX, &plain) == 243);
	CHECK(measure(METRIC_PIXELS, &plain) == 327);
	CHECK(is_near(measure(METRIC_SSIM, &plain), 0.9410513228440567, 1e-9));
	CHECK(is_near(measure(METRIC_FLIP, &plain), 0.15430037677288055, 1e-5));
	CHECK(is_near(measure(METRIC_FLIP, &coarse), 0.1424926072359085, 1e-5));

	float map[W * H];
	flip_map(&a, &b, METRIC_PPD, map);
	CHECK(is_near(map[5 * W + 10], 0.01406919, 1e-5));
	CHECK(is_near(map[12 * W + 30], 0.7407832, 1e-5));
}

static void has_the_values_of_others_for_light(void)
{
	float texel[2][4 * W * H], map[W * H];
	double sum = 0;

	for (int k = 0; k < 2; k++)
		for (int i = 0; i < W * H; i++)
			for (int c = 0; c < 4; c++) {
				float v = c < 3 ? pixel[k][3 * i + c] / 255.0f : 1;
				texel[k][4 * i + c] = v * v * 16;
			}
	flip_hdr_map(texel[0], texel[1], W, H, METRIC_PPD, map);
	for (int i = 0; i < W * H; i++)
		sum += map[i];
	CHECK(is_near(sum / (W * H), 0.15090200304985046, 1e-5));
	CHECK(is_near(map[5 * W + 10], 0.03863351, 1e-5));
	CHECK(is_near(map[12 * W + 30], 0.649956, 1e-5));
	/* What is no number counts as black. */
	texel[1][0] = NAN;
	texel[1][1] = -1;
	texel[1][2] = INFINITY;
	flip_hdr_map(texel[0], texel[1], W, H, METRIC_PPD, map);
	for (int i = 0; i < W * H; i++)
		CHECK(map[i] >= 0 && map[i] <= 1);
}

static void equal_pictures_are_equal(void)
{
	static const double wanted[METRIC_COUNT] = {
		[METRIC_PSNR] = HUGE_VAL,
		[METRIC_SSIM] = 1,
	};
	const struct metric_options plain = { 0 };

	for (int m = 0; m < METRIC_COUNT; m++)
		CHECK(metric_value((enum metric)m, &a, &a, &plain) == wanted[m]);
}

static void counts_what_the_mask_shows(void)
{
	uint8_t mask[W * H] = { 0 };
	struct metric_options o = { .mask = mask };

	/* Nothing counts: equal. */
	CHECK(measure(METRIC_RMSE, &o) == 0 && measure(METRIC_FLIP, &o) == 0);
	CHECK(measure(METRIC_SSIM, &o) == 1);
	CHECK(measure(METRIC_PSNR, &o) == HUGE_VAL);
	/* One pixel, whose green differs by 13. */
	mask[20 * W + 7] = 1;
	CHECK(measure(METRIC_MAX, &o) == 13 && measure(METRIC_PIXELS, &o) == 1);
	CHECK(is_near(measure(METRIC_RMSE, &o), 13 / sqrt(3) / 255, 1e-12));
	o.epsilon = 13;
	CHECK(measure(METRIC_PIXELS, &o) == 0);
	memset(mask, 1, sizeof mask);
	o.epsilon = 12;
	CHECK(measure(METRIC_PIXELS, &o) == 327);
	o.epsilon = 255;
	CHECK(measure(METRIC_PIXELS, &o) == 0);
}

static void small_pictures_have_values(void)
{
	uint8_t one[3] = { 255, 0, 0 }, two[3] = { 0, 0, 255 };
	const struct picture p = { 1, 1, one }, q = { 1, 1, two };
	const struct metric_options plain = { 0 };

	CHECK(metric_value(METRIC_FLIP, &p, &q, &plain) > 0.5);
	CHECK(metric_value(METRIC_SSIM, &p, &q, &plain) < 1);
	CHECK(metric_value(METRIC_MAX, &p, &q, &plain) == 255);
}

static void names_are_found(void)
{
	for (int m = 0; m < METRIC_COUNT; m++)
		CHECK((int)metric_find(metric_row((enum metric)m)->word) == m);
	CHECK(metric_find("nearness") == METRIC_COUNT);
}

int main(void)
{
	paint(pixel[0], 0);
	paint(pixel[1], 1);
	has_the_values_of_others();
	has_the_values_of_others_for_light();
	equal_pictures_are_equal();
	counts_what_the_mask_shows();
	small_pictures_have_values();
	names_are_found();
	return test_done();
}

#include "why/account.h"

#include <stdlib.h>

#include "util/mem.h"
#include "test.h"

/* Accounts of a project of two passes: "image" shows "sim", which feeds back. */
struct texts {
	int frame;
	const char *variant, *driver, *tool;
	const char *sim_key, *sim_fixed, *sim_recipe;
	const char *image_key, *image_fixed, *image_recipe;
};

#define FIXED "tokens: aa\nfunction step: 0000000000000001\tsim.frag\n" \
	"own size: none\niterations: 1\nsampler 0: linear, repeat\ndriver: d\n"

static const struct texts plain = {
	.frame = 600, .driver = "gl.version 4.5 Mesa 22.3.6\nlib.a 1\n",
	.tool = "1",
	.variant = "size: 640x360\nfps: 60\npreset: none\nuniform gain: 0.5\n"
		"mouse: 0, 0, 0, 0\nkeys: \nstep 300 uniform gain: 0.7\n"
		"step 301 uniform gain: 0.5\n",
	.sim_key = "1", .sim_fixed = FIXED,
	.sim_recipe = "size: 640x360\nuniform gain: 0.5\n"
		"channel 0: pass 'sim' output 0 previous\t1\n"
		"storage 2: 'st' of 64 bytes, written\t1\n",
	.image_key = "1", .image_fixed = "tokens: bb\nown size: none\n",
	.image_recipe = "size: 640x360\nchannel 1: pass 'sim' output 0\t1\n",
};

static void fill(const struct texts *t, struct account *a)
{
	*a = (struct account){ .frame = t->frame, .tool = xstrdup(t->tool),
		.driver = xstrdup(t->driver), .variant = xstrdup(t->variant),
		.settings = xstrdup("{}"), .files = xstrdup("") };
	a->pass = xcalloc(2, sizeof *a->pass);
	a->npass = 2;
	a->pass[0] = (struct account_pass){ .name = xstrdup("sim"),
		.key = xstrdup(t->sim_key), .fixed = xstrdup(t->sim_fixed),
		.recipe = xstrdup(t->sim_recipe) };
	a->pass[1] = (struct account_pass){ .name = xstrdup("image"),
		.key = xstrdup(t->image_key), .fixed = xstrdup(t->image_fixed),
		.recipe = xstrdup(t->image_recipe) };
}

/* All reasons as text, a line each, must be want. */
static void expect(const struct texts *was, const struct texts *now, const char *want)
{
	struct account a, b;
	struct reasons reasons = { 0 };
	struct buf all = BUF_INIT;

	fill(was, &a);
	fill(now, &b);
	account_compare(&a, &b, &reasons);
	for (size_t i = 0; i < reasons.nreason; i++) {
		char *text = reason_text(&reasons.reason[i]);
		buf_addf(&all, "%s\n", text);
		free(text);
	}
	CHECK_STR(buf_str(&all), want);
	buf_release(&all);
	reasons_release(&reasons);
	account_release(&a);
	account_release(&b);
}

/* What makes the keys of both passes others, as feedback does. */
static struct texts other_keys(void)
{
	struct texts t = plain;

	t.sim_key = t.image_key = "2";
	t.sim_recipe = "size: 640x360\nuniform gain: 0.5\n"
		"channel 0: pass 'sim' output 0 previous\t2\n"
		"storage 2: 'st' of 64 bytes, written\t2\n";
	t.image_recipe = "size: 640x360\nchannel 1: pass 'sim' output 0\t2\n";
	return t;
}

static void follows_feedback(void)
{
	struct texts t = other_keys();

	expect(&plain, &plain, "");
	t.variant = "size: 640x360\nfps: 60\npreset: none\nuniform gain: 0.5\n"
		"mouse: 0, 0, 0, 0\nkeys: \nstep 300 uniform gain: 0.9\n"
		"step 301 uniform gain: 0.5\n";
	expect(&plain, &t, "timeline: uniform gain 0.7 -> 0.9 at frame 300, "
		"used by sim\n");
	/* A step that is gone leaves what was before it. */
	t.variant = "size: 640x360\nuniform gain: 0.5\n";
	expect(&plain, &t, "timeline: uniform gain 0.7 -> 0.5 at frame 300, "
		"used by sim\n");
	t.variant = "size: 640x360\nuniform gain: 0.25\n"
		"step 300 uniform gain: 0.7\nstep 301 uniform gain: 0.5\n";
	expect(&plain, &t, "uniform gain 0.5 -> 0.25, used by sim\n");
	/* Behind the frame, nothing counts. */
	t = plain;
	t.variant = "size: 640x360\nfps: 60\npreset: none\nuniform gain: 0.5\n"
		"mouse: 0, 0, 0, 0\nkeys: \nstep 300 uniform gain: 0.7\n"
		"step 301 uniform gain: 0.5\nstep 601 uniform gain: 0.9\n";
	expect(&plain, &t, "");
}

static void names_fields(void)
{
	struct texts t = other_keys();

	t.sim_fixed = "tokens: ab\n"
		"function step: 0000000000000002\tsim.frag\nown size: none\n"
		"iterations: 1\nsampler 0: linear, repeat\ndriver: d\n";
	expect(&plain, &t, "sim.frag: function step() changed, used by sim\n");
	t.sim_fixed = "tokens: ab\n"
		"function step: 0000000000000001\tsim.frag\nown size: none\n"
		"iterations: 1\nsampler 0: linear, repeat\ndriver: d\n";
	expect(&plain, &t, "the order of its text changed, used by sim\n");
	t.sim_fixed = "tokens: aa\nfunction step: 0000000000000001\tsim.frag\n"
		"own size: none\niterations: 4\nsampler 0: nearest, repeat\n"
		"driver: d\n";
	expect(&plain, &t, "iterations 1 -> 4, used by sim\n"
		"sampler 0 linear, repeat -> nearest, repeat, used by sim\n");
	t = other_keys();
	t.sim_recipe = "size: 640x360\nuniform gain: 0.5\n"
		"channel 0: pass 'sim' output 0 previous\t2\n"
		"storage 2: 'st' of 128 bytes, written\t2\n";
	expect(&plain, &t, "storage 2 'st' of 64 bytes, written -> 'st' of 128 "
		"bytes, written, used by sim\n");
	/* One cause, two passes: once. */
	t = other_keys();
	t.variant = "size: 1280x720\nuniform gain: 0.5\n"
		"step 300 uniform gain: 0.7\nstep 301 uniform gain: 0.5\n";
	t.sim_recipe = "size: 1280x720\nuniform gain: 0.5\n"
		"channel 0: pass 'sim' output 0 previous\t2\n"
		"storage 2: 'st' of 64 bytes, written\t2\n";
	t.image_recipe = "size: 1280x720\nchannel 1: pass 'sim' output 0\t2\n";
	expect(&plain, &t, "size 640x360 -> 1280x720, used by image, sim\n");
}

/* A buffer that another pass wrote, at any frame before. */
static void follows_storage(void)
{
	struct texts was = plain, now = other_keys();

	was.image_recipe = "size: 640x360\nstorage 5: 'st' of 64 bytes\t1\n";
	now.image_recipe = "size: 640x360\nstorage 5: 'st' of 64 bytes\t2\n";
	now.sim_fixed = "tokens: ab\n"
		"function step: 0000000000000002\tsim.frag\nown size: none\n"
		"iterations: 1\nsampler 0: linear, repeat\ndriver: d\n";
	expect(&was, &now, "sim.frag: function step() changed, used by sim\n");
}

static void names_drivers(void)
{
	struct texts t = other_keys();

	t.driver = "gl.version 4.5 Mesa 23.1.0\nlib.a 2\n";
	expect(&plain, &t, "driver: Mesa 22.3.6 -> 23.1.0\n");
	t.driver = "gl.version 4.5 Mesa 22.3.6\nlib.a 2\n";
	expect(&plain, &t, "driver: lib.a 1 -> 2\n");
	t.driver = "gl.version 4.5 Mesa 22.3.6\nenv.LP_X 1\nlib.a 1\n";
	expect(&plain, &t, "driver: env.LP_X none -> 1\n");
	t = plain;
	t.tool = "2";
	expect(&plain, &t, "stbuild 1 -> 2\n");
}

/* Texts from a damaged store: no crash, and an end. */
static void takes_anything(void)
{
	static const char *const odd[] = { "", ": \n", "\t\n\n", "step : 1\n",
		"channel 0: pass '\nchannel 0: pass 'x' output \t1\n",
		"history 99999999999: frames back\t1\n", "storage 2: \t9\n",
		"step 99999999999 uniform gain: 1\nuniform gain: 2\n",
		"step -5 keys: 1 2\nkeys: 3\nchannel 0: keyboard, held 3\n" };

	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
		for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
			struct texts t = other_keys();
			struct account a, b;
			struct reasons reasons = { 0 };
			t.sim_recipe = t.image_recipe = t.variant = odd[i];
			t.sim_fixed = t.driver = odd[k];
			fill(&plain, &a);
			fill(&t, &b);
			account_compare(&a, &b, &reasons);
			account_compare(&b, &a, &reasons);
			CHECK(reasons.nreason > 0);
			reasons_release(&reasons);
			account_release(&a);
			account_release(&b);
		}
}

int main(void)
{
	follows_feedback();
	names_fields();
	follows_storage();
	names_drivers();
	takes_anything();
	return test_done();
}

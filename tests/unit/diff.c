#include "verify/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "format/bundle_write.h"
#include "format/png.h"
#include "format/ststate.h"
#include "util/fs.h"
#include "util/mem.h"
#include "verify/outputs.h"

static char root[] = "/tmp/stbuild-diff-XXXXXX";

static char *at(const char *name)
{
	return fs_join(root, name);
}

/* Frame 3 at 2x2: buffer "a" (2x2), storage "s", an extra output and a face. */
struct made {
	float a[16], extra[16], face[16];
	unsigned char s[4], rgb[12];
	const char *source, *speed, *identity;
	int has_intermediates;
};

static const struct made plain = { .source = "11",
	.speed = "1",
	.identity = "d",
	.has_intermediates = 1 };

static void write_bundle(const char *name, const struct made *m)
{
	struct err err = ERR_INIT;
	struct bundle_writer w;
	struct buf state_file = BUF_INIT, png = BUF_INIT;
	struct state state = { .version = 4,
		.project = xstrdup("p"),
		.width = 2,
		.height = 2,
		.fps = 60,
		.time = 0.05,
		.frame = 3 };
	state.buffer = xcalloc(1, sizeof *state.buffer);
	state.buffer[state.nbuffer++] = (struct state_buffer){ .name = xstrdup("a"),
		.width = 2,
		.height = 2,
		.format = FORMAT_RGBA32F };
	state.storage = xcalloc(1, sizeof *state.storage);
	state.storage[state.nstorage++] =
	    (struct state_storage){ .name = xstrdup("s"), .bytes = 4 };
	char
	    *path = at(name),
	    *text = xasprintf(
		"{\"format\": 1, "
		"\"cli_version\": \"0\", \"project\": \"p\", \"preset\": null, "
		"\"width\": 2, \"height\": 2, \"fps\": 60, \"frame\": 3, "
		"\"time\": 0.05, \"uniforms\": {\"speed\": %s}, "
		"\"resolved_manifest\": {\"project\": {\"name\": \"%s\"}, "
		"\"pass\": [{\"name\": \"i\", \"kind\": \"image\", "
		"\"input\": [{\"filter\": \"%s\"}]}]}, "
		"\"source_sha256\": {\"a\": \"%s\"}, \"asset_sha256\": {}, "
		"\"pass_timings\": [{\"name\": \"a\", \"width\": 2, "
		"\"height\": 2, \"gpu_nanoseconds\": 0}, {\"name\": \"i\", \"width\": 2, "
		"\"height\": 2, \"gpu_nanoseconds\": 0}], \"graph_diagnostics\": [], "
		"\"state_header\": {}, \"synchronization\": {}, \"git\": null, "
		"\"driver\": {\"identity\": \"%s\"}}",
		m->speed, m->source, m->speed, m->source, m->identity);
	cJSON *json = cJSON_Parse(text);
	CHECK(json != NULL);
	CHECK(!bundle_begin(path, 0, &w, &err));
	CHECK(!state_begin(&state, &state_file, &err));
	buf_add(&state_file, m->a, sizeof m->a);
	buf_add(&state_file, m->s, sizeof m->s);
	CHECK(!bundle_add(&w, "state", "state.ststate", state_file.data, state_file.len,
	    &err));
	CHECK(!png_encode(m->rgb, 2, 2, &png, &err));
	CHECK(!bundle_add(&w, "final_image", "final.png", png.data, png.len, &err));
	if (m->has_intermediates) {
		CHECK(!bundle_add(&w, "pass:a:output:0:raw", "passes/a0", m->a,
		    sizeof m->a, &err));
		CHECK(!bundle_add(&w, "pass:a:output:1:raw", "passes/a1", m->extra,
		    sizeof m->extra, &err));
		CHECK(!bundle_add(&w, "pass:a:face:py:raw", "passes/apy", m->face,
		    sizeof m->face, &err));
	}
	CHECK(!bundle_finish(&w, json, NULL, NULL, &err));
	cJSON_Delete(json);
	state_release(&state);
	buf_release(&state_file);
	buf_release(&png);
	free(text);
	free(path);
}

static void open_both(struct diff *d, const struct made *a, const struct made *b)
{
	struct err err = ERR_INIT;
	char *x = at("a.sttrace"), *y = at("b.sttrace");
	write_bundle("a.sttrace", a);
	write_bundle("b.sttrace", b);
	if (!CHECK(!diff_open(x, y, d, &err)))
		fprintf(stderr, "%s\n", err.message);
	free(x);
	free(y);
}

static void finds_first(void)
{
	struct made b = plain;
	struct diff d;

	open_both(&d, &plain, &b);
	CHECK(d.is_equal && !d.first && !d.ncause);
	/* Output 0 once, though state and intermediates have it. */
	CHECK_INT(d.npart, 5);
	diff_close(&d);

	/* The picture alone: bottom row first, so (1, 0) is the last pixel. */
	b.rgb[10] = 51;
	b.rgb[0] = 10;
	open_both(&d, &plain, &b);
	if (CHECK(!d.is_equal && d.first && d.first->kind == DIFF_PICTURE)) {
		CHECK_STR(d.first->name, "i");
		CHECK(d.first->x == 1 && d.first->y == 0);
		CHECK_INT(d.first->channel, 1);
		CHECK(d.first->a == 0 && d.first->b == 51);
		CHECK_INT(d.first->npixel, 2);
		CHECK(d.first->max == 51);
		CHECK(fabs(d.first->rmse - sqrt((51 * 51 + 100) / 12.0) / 255) < 1e-12);
	}
	diff_close(&d);

	b.s[2] = 7;
	open_both(&d, &plain, &b);
	if (CHECK(d.first && d.first->kind == DIFF_STORAGE)) {
		CHECK_STR(d.first->name, "s");
		CHECK(d.first->byte == 2 && d.first->b == 7);
		CHECK_INT(d.first->npixel, 1);
	}
	diff_close(&d);

	b.face[4 + 3] = -0.5f;
	open_both(&d, &plain, &b);
	if (CHECK(d.first && d.first->kind == DIFF_OUTPUT))
		CHECK_INT(d.first->face, 2);
	diff_close(&d);

	b.extra[8 + 2] = 2.0f;
	b.extra[12] = NAN;
	open_both(&d, &plain, &b);
	if (CHECK(d.first && d.first->output == 1 && d.first->face == -1)) {
		CHECK(d.first->x == 0 && d.first->y == 1);
		CHECK_INT(d.first->channel, 2);
		CHECK(d.first->a == 0 && d.first->b == 2);
		CHECK_INT(d.first->bits_b, 0x40000000);
		CHECK_INT(d.first->npixel, 2);
		CHECK_INT(d.first->nnonfinite, 1);
		CHECK(d.first->max == 2 && d.first->rmse == 0.5);
	}
	diff_close(&d);

	/* Bits count: -0 is not 0. */
	b.a[5] = -0.0f;
	open_both(&d, &plain, &b);
	if (CHECK(d.first && d.first->output == 0)) {
		CHECK(d.first->x == 1 && d.first->y == 0);
		CHECK_INT(d.first->bits_b, 0x80000000);
		CHECK(d.first->max == 0 && d.first->npixel == 1);
	}
	diff_close(&d);

	/* What one side lacks is no difference. */
	b = plain;
	b.has_intermediates = 0;
	b.extra[0] = 1;
	open_both(&d, &plain, &b);
	CHECK(d.is_equal);
	CHECK_INT(d.npart, 3);
	diff_close(&d);
}

static void finds_causes(void)
{
	struct made b = plain;
	struct diff d;

	b.source = "22";
	open_both(&d, &plain, &b);
	CHECK(d.is_equal && d.is_driver_known);
	if (CHECK_INT(d.ncause, 1)) {
		CHECK_STR(d.cause[0].kind, "source");
		CHECK_STR(d.cause[0].name, "pass 'a'");
		CHECK_STR(d.cause[0].a, "11");
		CHECK_STR(d.cause[0].b, "22");
	}
	diff_close(&d);

	b.source = plain.source;
	b.speed = "2.5";
	b.identity = "e";
	open_both(&d, &plain, &b);
	if (CHECK_INT(d.ncause, 3)) {
		CHECK_STR(d.cause[0].name, "uniform 'speed'");
		CHECK_STR(d.cause[0].b, "2.5");
		CHECK_STR(d.cause[1].name, "manifest pass.i.input[0].filter");
		CHECK_STR(d.cause[1].kind, "input");
		CHECK_STR(d.cause[2].kind, "driver");
	}
	CHECK(diff_has_cause(&d, "input") && diff_has_cause(&d, "driver"));
	CHECK(!diff_has_cause(&d, "source"));
	diff_close(&d);
}

static void compares_files(void)
{
	struct err err = ERR_INIT;
	struct diff d;
	struct buf png = BUF_INIT;
	const uint8_t wide[] = { 0, 0, 0, 0, 0, 0, 0, 0, 100, 0, 0, 0, 0, 0, 0, 0, 50,
		0 };
	struct picture both;
	char *bundle = at("a.sttrace"), *file = at("f.png"), *other = at("g.png");

	/* A picture and a bundle, from the top left. */
	CHECK(!png_encode(wide + 6, 2, 2, &png, &err));
	CHECK(!fs_write(file, png.data, png.len, 0, &err));
	write_bundle("a.sttrace", &plain);
	CHECK(!diff_open(bundle, file, &d, &err));
	CHECK(!d.is_equal && d.npart == 1 && !d.ncause);
	CHECK(d.first && !d.first->name && d.first->x == 0 && d.first->y == 0 &&
	    d.first->channel == 2);
	/* Amplified so that 100 is white; 50 is half of it. */
	CHECK(picture_difference(&d.a.picture, &d.b.picture, &both) == 2.55);
	CHECK(both.rgb[2] == 255 && both.rgb[10] == 128 && both.rgb[0] == 0);
	picture_release(&both);
	picture_side_by_side(&d.a.picture, &d.b.picture, &both);
	CHECK(both.width == 6 && both.height == 2);
	CHECK(both.rgb[2] == 0 && both.rgb[6 + 2] == 100 && both.rgb[12 + 2] == 255);
	picture_release(&both);
	diff_close(&d);

	/* Other sizes have no difference to show. */
	buf_reset(&png);
	CHECK(!png_encode(wide, 2, 3, &png, &err));
	CHECK(!fs_write(other, png.data, png.len, 0, &err));
	CHECK(!diff_open(file, other, &d, &err));
	CHECK(!d.is_equal && d.first && d.first->is_other_size);
	picture_side_by_side(&d.a.picture, &d.b.picture, &both);
	CHECK(both.width == 4 && both.height == 3);
	picture_release(&both);
	diff_close(&d);

	CHECK(!diff_open(other, other, &d, &err) && d.is_equal);
	CHECK(picture_difference(&d.a.picture, &d.b.picture, &both) == 0);
	picture_release(&both);
	diff_close(&d);

	/* What cannot be read, or is not what it says. */
	CHECK(diff_open(file, "/nowhere.png", &d, &err) == -1);
	CHECK_INT(err.status, STATUS_INPUT);
	diff_close(&d);
	CHECK(!fs_write(other, "text", 4, 0, &err));
	CHECK(diff_open(other, file, &d, &err) == -1);
	CHECK_INT(err.status, STATUS_INPUT);
	diff_close(&d);
	free(other);
	other = at("a.sttrace/state.ststate");
	CHECK(!fs_write(other, "text", 4, 0, &err));
	CHECK(diff_open(bundle, bundle, &d, &err) == -1);
	CHECK_INT(err.status, STATUS_INPUT);
	diff_close(&d);
	err_release(&err);
	buf_release(&png);
	free(bundle);
	free(file);
	free(other);
}

static void finds_nonfinite(void)
{
	struct err err = ERR_INIT;
	struct made m = plain;
	struct bundle b;
	struct nonfinite n;
	char *path = at("n.sttrace");

	write_bundle("n.sttrace", &m);
	CHECK(!bundle_open(path, &b, &err) && !nonfinite_find(&b, &n, &err));
	CHECK(!n.is_found);
	nonfinite_release(&n);
	bundle_release(&b);

	m.extra[6] = -INFINITY;
	write_bundle("n.sttrace", &m);
	CHECK(!bundle_open(path, &b, &err) && !nonfinite_find(&b, &n, &err));
	CHECK(n.is_found && n.output == 1 && n.x == 1 && n.y == 0);
	CHECK_INT(n.channel, 2);
	nonfinite_release(&n);
	bundle_release(&b);

	m.a[15] = NAN;
	m.a[14] = 3.4e38f;
	write_bundle("n.sttrace", &m);
	CHECK(!bundle_open(path, &b, &err) && !nonfinite_find(&b, &n, &err));
	CHECK(n.is_found && n.output == 0 && n.x == 1 && n.y == 1);
	CHECK_STR(n.pass, "a");
	CHECK(n.channel == 3 && isnan(n.value));
	nonfinite_release(&n);
	bundle_release(&b);
	free(path);
}

static void expect_name(const char *text, const char *rev, const char *target)
{
	struct diff_name n;
	CHECK_INT(diff_name_parse(text, &n), target != NULL);
	CHECK_STR(n.rev, rev);
	CHECK_STR(n.target, target);
	diff_name_release(&n);
}

static void parses_names(void)
{
	expect_name("main:hero@120", "main", "hero@120");
	expect_name("hero@0", NULL, "hero@0");
	expect_name("HEAD@{1}:hero@7", "HEAD@{1}", "hero@7");
	expect_name(":/fix: all:hero@7", ":/fix: all", "hero@7");
	expect_name("main:hero", NULL, NULL);
	expect_name("main:hero@1:2", NULL, NULL);
	expect_name("main:@1", NULL, NULL);
	expect_name(":hero@1", NULL, NULL);
	expect_name("hero@", NULL, NULL);
	expect_name("", NULL, NULL);
}

int main(void)
{
	struct err err = ERR_INIT;
	if (!CHECK(mkdtemp(root) != NULL))
		return test_done();
	finds_first();
	finds_causes();
	compares_files();
	finds_nonfinite();
	parses_names();
	CHECK(!fs_remove(root, &err));
	return test_done();
}

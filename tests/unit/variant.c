#include <stdlib.h>

#include "project/variant.h"
#include "test.h"

static const char text[] =
    "{\"format\": 1, \"project\": {\"name\": \"p\"},\n"
    "\"render\": {\"width\": 101, \"height\": 51, \"fps\": 10,\n"
    "  \"date\": \"2023-12-31T23:59:58.5Z\"},\n"
    "\"uniform\": [\n"
    "  {\"name\": \"a\", \"type\": \"float\", \"default\": 1, \"max\": 9},\n"
    "  {\"name\": \"b\", \"type\": \"int\", \"default\": 2, \"min\": 0},\n"
    "  {\"name\": \"c\", \"type\": \"vec2\", \"default\": [0, 0], \"max\": [1, 5]}],\n"
    "\"pass\": [\n"
    "  {\"name\": \"sim\", \"kind\": \"compute\", \"source\": \"s\",\n"
    "   \"width\": 8, \"height\": 4},\n"
    "  {\"name\": \"cube\", \"kind\": \"cubemap\", \"source\": \"s\"},\n"
    "  {\"name\": \"buf\", \"kind\": \"buffer\", \"source\": \"s\"},\n"
    "  {\"name\": \"img\", \"kind\": \"image\", \"source\": \"s\"}],\n"
    "\"preset\": {\"half\": {\"render_scale\": 0.5, \"pass\": {\n"
    "    \"sim\": {\"width\": 16, \"height\": 2, \"iterations\": 3,\n"
    "      \"local_size\": [4, 4, 1]},\n"
    "    \"buf\": {\"width\": 7, \"height\": 9}}},\n"
    "  \"tiny\": {\"render_scale\": 0.1}},\n"
    "\"timeline\": [{\"frame\": 10, \"set\": {\"a\": 5, \"b\": 6}}],\n"
    "\"trace\": [{\"name\": \"plain\"},\n"
    "  {\"name\": \"full\", \"preset\": \"half\", \"width\": 30, \"fps\": 25,\n"
    "   \"set\": {\"a\": 3},\n"
    "   \"timeline\": [\n"
    "    {\"frame\": 2, \"keys\": {\"down\": [\"A\", \"left\"]}, \"mouse\": [1, 2, 3, -4]},\n"
    "    {\"frame\": 4, \"keys\": {\"down\": [\"left\"]}},\n"
    "    {\"frame\": 5, \"set\": {\"a\": 4}},\n"
    "    {\"frame\": 6, \"keys\": {\"down\": [\"A\", \"left\"]},\n"
    "     \"mouse\": [0, 0, 0, 0]}]}]}\n";

static struct manifest m;

static struct variant variant_of(const char *trace, const struct variant_options *options)
{
	struct variant v = { 0 };
	struct err err = ERR_INIT;
	int i = trace ? manifest_trace(&m, trace) : -1;
	if (!CHECK(!variant_init(&v, &m, i < 0 ? NULL : &m.trace[i], options, &err)))
		fprintf(stderr, "\t%s\n", err.message);
	err_release(&err);
	return v;
}

static void check_sizes(void)
{
	static const struct {
		const char *trace;
		struct variant_options o;
		int width, height;
		double fps;
	} row[] = {
		{ NULL, { 0 }, 101, 51, 10 },
		{ "plain", { 0 }, 101, 51, 10 },
		/* 50.5 and 25.5 round away from zero. */
		{ "plain", { .preset = "half" }, 51, 26, 10 },
		{ "plain", { .preset = "tiny" }, 10, 5, 10 },
		{ "plain", { .width = 7 }, 7, 51, 10 },
		{ "plain", { .preset = "half", .height = 9 }, 51, 9, 10 },
		{ "full", { 0 }, 30, 26, 25 },
		{ "full", { .preset = "tiny" }, 30, 5, 25 },
		{ "full", { .width = 5, .fps = 60 }, 5, 26, 60 },
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct variant v = variant_of(row[i].trace, &row[i].o);
		CHECK_INT(v.width, row[i].width);
		CHECK_INT(v.height, row[i].height);
		CHECK(v.fps == row[i].fps);
		variant_release(&v);
	}
	struct variant v = variant_of("full", NULL);
	CHECK_STR(v.preset, "half");
	CHECK_INT(v.pass[0].width, 16);
	CHECK_INT(v.pass[0].height, 2);
	CHECK_INT(v.pass[0].iterations, 3);
	CHECK_INT(v.pass[0].local_size[0], 4);
	CHECK_INT(v.pass[1].width, 1024);
	CHECK(!v.pass[1].is_output_sized);
	CHECK_INT(v.pass[2].width, 7);
	CHECK(!v.pass[2].is_output_sized);
	CHECK_INT(v.pass[3].width, 30);
	CHECK(v.pass[3].is_output_sized);
	variant_release(&v);
	v = variant_of("plain", NULL);
	CHECK_INT(v.pass[0].width, 8);
	CHECK_INT(v.pass[0].local_size[0], 8);
	CHECK_INT(v.pass[2].width, 101);
	CHECK(v.pass[2].is_output_sized);
	variant_release(&v);
}

static void check_uniforms(void)
{
	struct value value[3];
	struct variant v = variant_of("plain", NULL);
	variant_values(&v, 9, value);
	CHECK(value[0].f[0] == 1 && value[1].i == 2);
	variant_values(&v, 10, value);
	CHECK(value[0].f[0] == 5 && value[1].i == 6);
	variant_release(&v);
	/* The trace's timeline replaces the project's; its set beats defaults. */
	v = variant_of("full", NULL);
	variant_values(&v, 4, value);
	CHECK(value[0].f[0] == 3);
	variant_values(&v, 10, value);
	CHECK(value[0].f[0] == 4 && value[1].i == 2);
	variant_release(&v);
	/* --set beats all, the last one counts. */
	const char *const set[] = { "a=7", " b = -0 ", "a = 8", "c=1, 5" };
	struct variant_options o = { .set = set, .nset = 4 };
	v = variant_of("full", &o);
	variant_values(&v, 10, value);
	CHECK(value[0].f[0] == 8 && value[1].i == 0 && value[2].f[1] == 5);
	variant_release(&v);
}

static void check_refused(void)
{
	static const struct {
		const char *set, *preset, *text;
		int width;
	} row[] = {
		{ "a", NULL, "NAME=VALUE", 0 },
		{ "aa=1", NULL,
		    "unknown uniform 'aa'; did you mean 'a'? (there are: a, b", 0 },
		{ "a=9.5", NULL, "--set a: 9.5 is above the maximum 9 (uniform[0].max)",
		    0 },
		{ "b=-1", NULL, "--set b: -1 is below the minimum 0 (uniform[1].min)",
		    0 },
		{ "c=0,6", NULL, "--set c: 6 is above the maximum 5 (uniform[2].max)",
		    0 },
		{ "b=1.5", NULL, "an integer for an int, got '1.5' (uniform[1].type)",
		    0 },
		{ "a=nan", NULL, "a number for a float", 0 },
		{ NULL, "hal", "unknown preset 'hal'; did you mean 'half'?", 0 },
		{ NULL, "zzz", "there are: half, tiny", 0 },
		{ NULL, NULL, "1 to 16384", 16385 },
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct variant v;
		struct err err = ERR_INIT;
		struct variant_options o = {
			.preset = row[i].preset,
			.width = row[i].width,
			.set = &row[i].set,
			.nset = row[i].set != NULL,
		};
		if (!CHECK_INT(variant_init(&v, &m, NULL, &o, &err), -1)) {
			variant_release(&v);
			continue;
		}
		CHECK_INT(err.status, STATUS_INPUT);
		if (!CHECK(strstr(err.message, row[i].text)))
			fprintf(stderr, "\t%s\n", err.message);
		err_release(&err);
	}
}

static void check_input(void)
{
	struct variant v = variant_of("full", NULL);
	/* Frame: held A, pressed A, toggled A, held left, toggled left. */
	static const int row[][6] = {
		{ 0, 0, 0, 0, 0, 0 },
		{ 1, 0, 0, 0, 0, 0 },
		{ 2, 1, 1, 1, 1, 1 },
		{ 3, 1, 0, 1, 1, 1 },
		{ 4, 0, 0, 1, 1, 1 },
		{ 5, 0, 0, 1, 1, 1 },
		{ 6, 1, 1, 0, 1, 1 },
		{ 7, 1, 0, 0, 1, 1 },
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		uint8_t key[3][256];
		variant_keys(&v, row[i][0], key);
		CHECK_INT(key[0]['A'], row[i][1]);
		CHECK_INT(key[1]['A'], row[i][2]);
		CHECK_INT(key[2]['A'], row[i][3]);
		CHECK_INT(key[0][37], row[i][4]);
		CHECK_INT(key[2][37], row[i][5]);
		CHECK_INT(key[1][37], row[i][0] == 2);
		CHECK_INT(key[0]['B'] + key[1]['B'] + key[2]['B'], 0);
	}
	float mouse[4];
	variant_mouse(&v, 1, mouse);
	CHECK(mouse[0] == 0 && mouse[3] == 0);
	variant_mouse(&v, 5, mouse);
	CHECK(mouse[0] == 1 && mouse[3] == -4);
	variant_mouse(&v, 6, mouse);
	CHECK(mouse[0] == 0 && mouse[3] == 0);
	variant_release(&v);
}

static void check_date(void)
{
	struct variant v = variant_of(NULL, NULL);
	float date[4];
	variant_date(&v, 0, date);
	CHECK(date[0] == 2023 && date[1] == 11 && date[2] == 31);
	CHECK(date[3] == 86398.5f);
	variant_date(&v, 15, date);
	CHECK(date[0] == 2024 && date[1] == 0 && date[2] == 1 && date[3] == 0);
	/* 60 days on: 2024 has a 29 February. */
	variant_date(&v, 15 + 59 * 864000, date);
	CHECK(date[1] == 1 && date[2] == 29);
	variant_date(&v, 15 + 60 * 864000, date);
	CHECK(date[1] == 2 && date[2] == 1);
	variant_release(&v);
}

static void check_id(void)
{
	static const char *const set[] = { "a=1" };
	static const struct variant_options o[] = {
		{ 0 },
		{ .width = 100 },
		{ .height = 101 },
		{ .fps = 11 },
		{ .preset = "half" },
		{ .set = set, .nset = 1 },
	};
	enum { N = sizeof o / sizeof *o };
	struct sha256 id[N + 1];
	for (int i = 0; i <= N; i++) {
		struct variant v =
		    variant_of(i < N ? "plain" : "full", i < N ? &o[i] : NULL);
		variant_id(&v, &id[i]);
		variant_release(&v);
		for (int k = 0; k < i; k++)
			CHECK(!sha256_equal(&id[k], &id[i]));
	}
	struct variant v = variant_of(NULL, NULL);
	struct sha256 same;
	variant_id(&v, &same);
	CHECK(sha256_equal(&same, &id[0]));
	variant_release(&v);
}

static double number_at(const cJSON *json, const char *table, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, table);
	if (cJSON_IsArray(item))
		item = item->child;
	item = cJSON_GetObjectItemCaseSensitive(item, key);
	return item ? item->valuedouble : -1;
}

static void check_manifest(void)
{
	struct variant v = variant_of("full", NULL);
	cJSON *json = variant_manifest(&v);
	CHECK(number_at(json, "render", "width") == 30);
	CHECK(number_at(json, "render", "height") == 26);
	CHECK(number_at(json, "render", "fps") == 25);
	CHECK(number_at(json, "pass", "width") == 16);
	CHECK(number_at(json, "pass", "iterations") == 3);
	CHECK(cJSON_GetObjectItem(json, "preset"));
	CHECK(cJSON_GetObjectItem(json, "project"));
	CHECK(!cJSON_GetObjectItem(json, "trace"));
	cJSON_Delete(json);
	/* The manifest itself is as it was. */
	CHECK_INT(m.pass[0].width, 8);
	variant_release(&v);
}

int main(void)
{
	struct doc doc;
	struct err err = ERR_INIT;
	struct errs errs = ERRS_INIT;
	if (!CHECK(!json_read("f", text, strlen(text), JSON_PLAIN, &doc, &err)))
		return test_done();
	if (CHECK(!manifest_from_doc(&doc, DIALECT_ESSL, &m, &errs))) {
		check_sizes();
		check_uniforms();
		check_refused();
		check_input();
		check_date();
		check_id();
		check_manifest();
	} else {
		fprintf(stderr, "\t%s\n", errs.err[0].message);
	}
	manifest_release(&m);
	doc_release(&doc);
	errs_release(&errs);
	return test_done();
}

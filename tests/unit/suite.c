/* Selection, cases and reports of a suite; judging is in tests/scripts/test.sh. */
#include "test.h"

#include "project/manifest.h"
#include "util/buf.h"
#include "util/mem.h"
#include "verify/suite.h"

static const char text[] =
    "{ \"format\": 1, \"project\": { \"name\": \"<&\\\">\" },\n"
    "\"render\": { \"width\": 10, \"height\": 6, \"fps\": 4,\n"
    "	\"preview_time\": 0.6 },\n"
    "\"uniform\": [ { \"name\": \"v\", \"type\": \"vec2\",\n"
    "	\"default\": [0, 0] } ],\n"
    "\"pass\": [ { \"name\": \"image\", \"kind\": \"image\",\n"
    "	\"source\": \"a\" } ],\n"
    "\"test\": [\n"
    "{ \"name\": \"a b\", \"frames\": [7, 2], \"resolutions\":\n"
    "	[[4, 3], [2, 1]], \"assert_no_nan\": true },\n"
    "{ \"name\": \"a/b\", \"uniforms\": { \"v\": [1, 0.5] },\n"
    "	\"reference_uniforms\": { \"v\": [0.25, 2] } },\n"
    "{ \"name\": \"c #1\", \"time\": 1, \"mean_range\": [0, 1] } ] }";

static int load(struct manifest *out)
{
	struct tree *tree = tree_new_memory("memory");
	struct errs errs = ERRS_INIT;

	tree_memory_add(tree, "stbuild.json", text, sizeof text - 1);
	tree_memory_add(tree, "a", "", 0);
	int rc = manifest_load(tree, "stbuild.json", NULL, out, &errs);
	for (size_t i = 0; i < errs.nerr; i++)
		fprintf(stderr, "%s\n", errs.err[i].message);
	errs_release(&errs);
	tree_free(tree);
	return rc;
}

static void cases(const struct manifest *m)
{
	static const char *const variant[] = { "4x3@2", "2x1@2", "4x3@7", "2x1@7",
		"10x6@2", "10x6@4" };
	struct suite s;
	struct err err = ERR_INIT;

	CHECK(suite_open(m, NULL, 0, 0, "t", &s, &err) == 0);
	CHECK_INT(s.ncase, 6);
	CHECK_INT(s.nrequest, 7);
	for (size_t i = 0; i < s.ncase && i < 6; i++)
		CHECK_STR(s.item[i].variant, variant[i]);
	CHECK_INT(s.item[0].base, 0);
	CHECK_INT(s.item[1].base, 0);
	CHECK_INT(s.item[2].base, 2);
	CHECK_INT(s.item[3].base, 2);
	/* Two names that clean to one stem. */
	CHECK_STR(s.item[0].path, "t/a-b/4x3@2.sttrace");
	CHECK_STR(s.item[4].path, "t/a-b-2/10x6@2.sttrace");
	CHECK_STR(s.item[4].reference_path, "t/a-b-2/10x6@2-reference.sttrace");
	CHECK_STR(s.request[0].name, "test:a b");
	CHECK_INT(s.request[1].options->width, 2);
	CHECK_INT(s.request[4].options->width, 0);
	CHECK_INT(s.request[4].options->nset, 1);
	CHECK_STR(s.request[4].options->set[0], "v=1, 0.5");
	CHECK_STR(s.request[5].options->set[0], "v=0.25, 2");
	CHECK_STR(s.request[5].path, "t/a-b-2/10x6@2-reference.sttrace");
	suite_close(&s);
}

static size_t selected(const struct manifest *m, const char *name, int is_exact)
{
	struct suite s;
	struct err err = ERR_INIT;
	size_t n = 0;

	if (suite_open(m, &name, 1, is_exact, "t", &s, &err) == 0)
		n = s.ncase;
	else
		CHECK_INT(err.status, STATUS_INPUT);
	err_release(&err);
	suite_close(&s);
	return n;
}

static void selection(const struct manifest *m)
{
	CHECK_INT(selected(m, "b", 0), 5);
	CHECK_INT(selected(m, "b", 1), 0);
	CHECK_INT(selected(m, "a/b", 1), 1);
	CHECK_INT(selected(m, "", 0), 6);
	CHECK_INT(selected(m, "d", 0), 0);
}

static void reports(const struct manifest *m)
{
	const char *name = "c";
	struct suite s;
	struct err err = ERR_INIT;
	struct buf out = BUF_INIT;

	CHECK(suite_open(m, &name, 1, 0, "t", &s, &err) == 0);
	struct suite_case *c = &s.item[0];
	c->check = xcalloc(2, sizeof *c->check);
	c->ncheck = 2;
	c->check[0] = (struct suite_check){ .metric = xstrdup("nan"),
		.is_ok = 1,
		.has_value = 1,
		.nlimit = 1,
		.message = xstrdup("a note") };
	c->check[1] = (struct suite_check){ .metric = xstrdup("mean"),
		.code = SUITE_MISMATCH,
		.has_value = 1,
		.value = 1.5,
		.nlimit = 2,
		.limit = { 0, 1 },
		.message = xstrdup("\"<\n") };
	CHECK(suite_deciding(c) == &c->check[1]);
	suite_tap(&s, 0, &out);
	CHECK_STR(buf_str(&out),
	    "TAP version 13\n1..1\n"
	    "not ok 1 - c \\#1 10x6@4\n  ---\n  code: mismatch\n  metric: \"mean\"\n"
	    "  value: 1.5\n  limit: [0, 1]\n  message: \"\\\"<\\n\"\n  ...\n"
	    "# nan: a note\n");
	buf_reset(&out);
	suite_junit(&s, "/p", 0, &out);
	CHECK(strstr(buf_str(&out),
		  "<testsuite name=\"&lt;&amp;&quot;&gt;\" "
		  "tests=\"1\" failures=\"1\" errors=\"0\" "
		  "skipped=\"0\" time=\"0.000000\">") != NULL);
	CHECK(strstr(buf_str(&out),
		  "<failure type=\"mismatch\" message=\"mean is 1.5, limit "
		  "[0, 1]: &quot;&lt;&#10;\"/>") != NULL);
	buf_reset(&out);
	/* What cannot be judged is an error, whatever was held to. */
	err_set(&c->fault, STATUS_FAILED, "lost");
	suite_tap(&s, 0, &out);
	CHECK(strstr(buf_str(&out), "  message: \"lost\"\n") != NULL);
	buf_reset(&out);
	suite_junit(&s, "/p", 0, &out);
	CHECK(strstr(buf_str(&out), "failures=\"0\" errors=\"1\"") != NULL);
	CHECK(strstr(buf_str(&out), "<error type=\"error\" message=\"lost\"/>") != NULL);
	buf_release(&out);
	suite_close(&s);
}

int main(void)
{
	struct manifest m;

	if (CHECK(load(&m) == 0)) {
		cases(&m);
		selection(&m);
		reports(&m);
		manifest_release(&m);
	}
	return test_done();
}

#include "graph/graph.h"
#include "project/doc.h"
#include "test.h"

static struct manifest manifest;
static struct graph graph;

/* Loads a manifest's passes (and more) around one image pass. */
static void load(const char *rest)
{
	char text[8192];
	struct doc doc = { 0 };
	struct errs errs = ERRS_INIT;
	struct err err = ERR_INIT;

	snprintf(text, sizeof text, "{\"format\": 1, \"project\": {\"name\": \"t\"}, %s}",
	    rest);
	CHECK(json_read("t.json", text, strlen(text), JSON_PLAIN, &doc, &err) == 0);
	if (!CHECK(manifest_from_doc(&doc, DIALECT_ESSL, &manifest, &errs) == 0))
		fprintf(stderr, "%s\n", errs.err[0].message);
	graph_init(&graph, &manifest);
	errs_release(&errs);
	err_release(&err);
	doc_release(&doc);
}

static void unload(void)
{
	graph_release(&graph);
	manifest_release(&manifest);
}

static void check_order(const char *want)
{
	char got[256] = "";

	for (size_t i = 0; i < graph.norder; i++) {
		strcat(got, manifest.pass[graph.order[i]].name);
		strcat(got, " ");
	}
	CHECK_STR(got, want);
}

/* Topological over current edges; ties by manifest order. */
static void orders_passes(void)
{
	load("\"pass\": ["
	     "{\"name\": \"i\", \"kind\": \"image\", \"source\": \"i\","
	     " \"input\": [{\"channel\": 0, \"source\": \"b\"}]},"
	     "{\"name\": \"a\", \"kind\": \"buffer\", \"source\": \"a\"},"
	     "{\"name\": \"b\", \"kind\": \"buffer\", \"source\": \"b\","
	     " \"input\": [{\"channel\": 0, \"source\": \"a\"},"
	     "  {\"channel\": 1, \"source\": \"b\", \"frame\": \"previous\"}]},"
	     "{\"name\": \"s\", \"kind\": \"sound\", \"source\": \"s\"},"
	     "{\"name\": \"u\", \"kind\": \"buffer\", \"source\": \"u\"}]");
	check_order("a b i u ");
	CHECK_INT(graph.position[3], -1);
	CHECK(graph.is_reached[0] && graph.is_reached[1] && graph.is_reached[2]);
	CHECK(!graph.is_reached[3] && !graph.is_reached[4]);
	CHECK_INT(graph.has_previous_reader[2], 1);
	CHECK_INT(graph.has_previous_reader[1], 0);
	unload();
}

/* A previous-only pass runs where the manifest puts it. */
static void orders_previous_passes(void)
{
	load("\"pass\": ["
	     "{\"name\": \"i\", \"kind\": \"image\", \"source\": \"i\","
	     " \"input\": [{\"channel\": 0, \"source\": \"p\","
	     "  \"frame\": \"previous\"}]},"
	     "{\"name\": \"p\", \"kind\": \"buffer\", \"source\": \"p\"}]");
	check_order("i p ");
	CHECK_INT(graph.is_reached[1], 1);
	unload();
}

static void reaches_by_storage(void)
{
	load("\"pass\": ["
	     "{\"name\": \"c\", \"kind\": \"compute\", \"source\": \"c\","
	     " \"width\": 8, \"height\": 8, \"storage\": [{\"binding\": 0,"
	     " \"name\": \"s\", \"size\": 64}], \"input\": [{\"channel\": 0,"
	     " \"source\": \"d\"}]},"
	     "{\"name\": \"d\", \"kind\": \"buffer\", \"source\": \"d\"},"
	     "{\"name\": \"i\", \"kind\": \"image\", \"source\": \"i\","
	     " \"storage\": [{\"binding\": 3, \"name\": \"s\","
	     " \"size\": 64}]}]");
	CHECK(graph.is_reached[0] && graph.is_reached[1]);
	CHECK_INT(graph.nstorage, 1);
	CHECK_INT(graph_storage(&graph, "s"), 0);
	CHECK_INT(graph_storage(&graph, "t"), -1);
	CHECK_INT(graph.storage_size[0], 64);
	unload();
}

/* Only what a reached consumer asks for gets a chain. */
static void finds_mips(void)
{
	load("\"pass\": ["
	     "{\"name\": \"a\", \"kind\": \"buffer\", \"source\": \"a\","
	     " \"extra_outputs\": [\"r32f\"]},"
	     "{\"name\": \"i\", \"kind\": \"image\", \"source\": \"i\","
	     " \"input\": [{\"channel\": 0, \"source\": \"a\","
	     "  \"output\": 1, \"filter\": \"mipmap\"}]},"
	     "{\"name\": \"u\", \"kind\": \"buffer\", \"source\": \"u\","
	     " \"input\": [{\"channel\": 0, \"source\": \"a\","
	     "  \"filter\": \"mipmap\"}]}]");
	CHECK_INT(graph.mips[0], 2);
	unload();
}

static int has_code(const struct diagnostics *d, const char *code, int pass)
{
	for (size_t i = 0; i < d->nitem; i++)
		if (strcmp(d->item[i].code, code) == 0)
			return pass < 0 ||
			    (d->item[i].npass > 0 && d->item[i].pass[0] == pass);
	return 0;
}

static void diagnoses(void)
{
	struct diagnostics d = { NULL, 0, 0 };

	load("\"asset\": [{\"name\": \"x\", \"kind\": \"texture\","
	     " \"path\": \"x.png\"}], \"uniform\": [{\"name\": \"g\","
	     " \"type\": \"float\", \"default\": 0}], \"pass\": ["
	     "{\"name\": \"a\", \"kind\": \"buffer\", \"source\": \"a\","
	     " \"storage\": [{\"binding\": 0, \"name\": \"s\","
	     "  \"size\": 4}], \"input\": [{\"channel\": 0,"
	     "  \"source\": \"a\", \"frame\": \"previous\"}]},"
	     "{\"name\": \"b\", \"kind\": \"buffer\", \"source\": \"b\","
	     " \"storage\": [{\"binding\": 0, \"name\": \"s\","
	     "  \"size\": 4}]},"
	     "{\"name\": \"i\", \"kind\": \"image\", \"source\": \"i\","
	     " \"input\": [{\"channel\": 0, \"source\": \"a\"}]},"
	     "{\"name\": \"u\", \"kind\": \"buffer\", \"source\": \"u\"}]");
	graph_diagnose(&graph, &d);
	CHECK_INT(d.nitem, 4);
	CHECK(has_code(&d, "unreachable-pass", 3));
	CHECK(has_code(&d, "unused-asset", -1));
	CHECK(has_code(&d, "viewport-sized-feedback", 0));
	CHECK(has_code(&d, "unordered-shared-storage", 0));
	diagnose_uniforms(&manifest, (int[]){ 0 }, &d);
	CHECK(has_code(&d, "unused-uniform", -1));
	diagnostics_release(&d);
	unload();
}

int main(void)
{
	orders_passes();
	orders_previous_passes();
	reaches_by_storage();
	finds_mips();
	diagnoses();
	return test_done();
}

#include "graph/facts.h"
#include "graph/keys.h"
#include "graph/plan.h"
#include "project/doc.h"
#include "util/mem.h"
#include "test.h"

/*
 * A project whose programs are described by hand: "sim" feeds back, "tex"
 * reads an asset and keeps what discard leaves, "image" reads both, the
 * keyboard and a storage buffer that "comp" writes.
 */
#define PASSES \
	"\"pass\": [" \
	"{\"name\": \"sim\", \"kind\": \"buffer\", \"source\": \"s\"," \
	" \"width\": 8, \"height\": 4%s, \"input\": [{\"channel\": 0," \
	" \"source\": \"sim\", \"frame\": \"previous\"%s}]}," \
	"{\"name\": \"tex\", \"kind\": \"buffer\", \"source\": \"t\"," \
	" \"input\": [{\"channel\": 1, \"source\": \"pic\"}]}," \
	"{\"name\": \"comp\", \"kind\": \"compute\", \"source\": \"c\"," \
	" \"width\": 8, \"height\": 8%s, \"storage\": [{\"binding\": 2," \
	" \"name\": \"%s\", \"size\": %d}]}," \
	"{\"name\": \"image\", \"kind\": \"image\", \"source\": \"i\"," \
	" \"storage\": [{\"binding\": 5, \"name\": \"%s\", \"size\": %d}]," \
	" \"input\": [{\"channel\": 0, \"source\": \"sim\"%s}," \
	" {\"channel\": 1, \"source\": \"tex\"}," \
	" {\"channel\": 2, \"source\": \"keyboard\"}," \
	" {\"channel\": 3, \"source\": \"%s\"}]}]"

enum { SIM, TEX, COMP, IMAGE, NPASS };

struct fixture {
	const char *sim_extra, *sim_input, *comp_extra, *storage_name;
	const char *image_input, *spare, *more;
	int storage_size, height, width;
	double fps;
	const char *set;
	const char *dialect;
	char asset_byte, driver_byte;
	const char *token[NPASS];
	int tex_discards, image_discards;
	int image_uses_frame, sim_uses_keys;
};

static const struct fixture plain = {
	.sim_extra = "",
	.sim_input = "",
	.comp_extra = "",
	.storage_name = "st",
	.image_input = "",
	.spare = "pic",
	.more = "",
	.storage_size = 64,
	.width = 16,
	.height = 8,
	.fps = 10,
	.set = "gain=0.5",
	.dialect = "essl",
	.asset_byte = 1,
	.driver_byte = 1,
	.token = { "s", "t", "c", "i" },
};

static struct active_uniform sim_uniform[] = {
	{ (char *)"iChannel0", GL_T_SAMPLER_2D, 1 },
	{ (char *)"speed", GL_T_FLOAT, 1 },
};
static struct active_uniform tex_uniform[] = {
	{ (char *)"iChannel1", GL_T_SAMPLER_2D, 1 },
};
static struct active_uniform image_uniform[] = {
	{ (char *)"gain", GL_T_FLOAT, 1 },
	{ (char *)"iChannel0", GL_T_SAMPLER_2D, 1 },
	{ (char *)"iChannel1", GL_T_SAMPLER_2D, 1 },
	{ (char *)"iChannel2", GL_T_SAMPLER_2D, 1 },
	{ (char *)"iFrame", GL_T_INT, 1 },
};
static struct active_block comp_block[] = { { (char *)"B", 2, 1 } };
static struct active_block image_block[] = { { (char *)"B", 5, 0 } };

struct world {
	struct manifest manifest;
	struct variant variant;
	struct graph graph;
	struct scene scene;
	struct asset_info asset[2];
	struct reflection reflection[NPASS];
	struct buf tokens[NPASS];
	struct key_program program[NPASS];
	struct sha256 driver;
	struct keys keys;
};

static void build_manifest(const struct fixture *f, struct world *w)
{
	struct doc doc = { 0 };
	struct errs errs = ERRS_INIT;
	struct err err = ERR_INIT;
	struct buf text = BUF_INIT;

	buf_addf(&text,
	    "{\"format\": 1, \"project\": {\"name\": \"t\"}, "
	    "\"shader\": {\"dialect\": \"%s\"}, \"uniform\": [{\"name\": "
	    "\"gain\", \"type\": \"float\", \"default\": 0.5}, {\"name\": "
	    "\"speed\", \"type\": \"float\", \"default\": 1}], "
	    "\"asset\": [{\"name\": \"pic\", \"kind\": \"texture\", "
	    "\"path\": \"p.png\"}, {\"name\": \"pic2\", \"kind\": "
	    "\"texture\", \"path\": \"q.png\"}]%s, ",
	    f->dialect, f->more);
	buf_addf(&text, PASSES "}", f->sim_extra, f->sim_input, f->comp_extra,
	    f->storage_name, f->storage_size, f->storage_name, f->storage_size,
	    f->image_input, f->spare);
	if (!CHECK(
		json_read("t.json", text.data, text.len, JSON_PLAIN, &doc, &err) == 0 &&
		manifest_from_doc(&doc, DIALECT_ESSL, &w->manifest, &errs) == 0))
		fprintf(stderr, "%s\n%s\n",
		    err.message ? err.message : errs.err[0].message, text.data);
	buf_release(&text);
	errs_release(&errs);
	doc_release(&doc);
}

static void build(const struct fixture *f, struct world *w)
{
	struct err err = ERR_INIT;
	struct variant_options options = { .width = f->width,
		.height = f->height,
		.fps = f->fps,
		.set = &f->set,
		.nset = f->set ? 1 : 0 };

	memset(w, 0, sizeof *w);
	build_manifest(f, w);
	CHECK(variant_init(&w->variant, &w->manifest, NULL, &options, &err) == 0);
	graph_init(&w->graph, &w->manifest);
	for (int a = 0; a < 2; a++)
		w->asset[a] = (struct asset_info){ .size = { 4, 4, 1 } };
	w->asset[0].sha.byte[0] = (unsigned char)f->asset_byte;
	w->driver.byte[0] = (unsigned char)f->driver_byte;
	w->scene = (struct scene){ &w->variant, &w->graph, w->asset, &rules_ours, 0 };
	w->reflection[SIM] = (struct reflection){ sim_uniform, 2, NULL, 0 };
	w->reflection[TEX] = (struct reflection){ tex_uniform, 1, NULL, 0 };
	w->reflection[COMP] = (struct reflection){ NULL, 0, comp_block, 1 };
	w->reflection[IMAGE] = (struct reflection){ image_uniform,
		f->image_uses_frame ? 5 : 4, image_block, 1 };
	for (int p = 0; p < NPASS; p++) {
		buf_addstr(&w->tokens[p], f->token[p]);
		w->program[p] = (struct key_program){ .tokens = &w->tokens[p],
			.reflection = &w->reflection[p] };
	}
	w->program[TEX].has_discard = f->tex_discards;
	w->program[IMAGE].has_discard = f->image_discards;
	CHECK(keys_compute(&w->scene, w->program, &w->driver, (int[]){ 0, 1, 2, 3, 4, 5 },
		  6, NULL, &w->keys, &err) == 0);
	err_release(&err);
}

static void tear_down(struct world *w)
{
	keys_release(&w->keys);
	graph_release(&w->graph);
	variant_release(&w->variant);
	manifest_release(&w->manifest);
	for (int p = 0; p < NPASS; p++)
		buf_release(&w->tokens[p]);
}

static struct sha256 key_at(const struct world *w, int p, int t)
{
	return w->keys.key[keys_node(&w->keys, p, t)];
}

static void declared_implies_keys(const struct fixture *f, const char *what);

/* Which passes' keys differ at frame 3: a letter each. */
static void check_change(const char *what, const struct fixture *f, const char *want)
{
	struct world a, b;
	char got[NPASS + 1] = "";
	size_t n = 0;

	build(&plain, &a);
	build(f, &b);
	for (int p = 0; p < NPASS; p++) {
		struct sha256 x = key_at(&a, p, 3), y = key_at(&b, p, 3);
		if (!sha256_equal(&x, &y))
			got[n++] = "stci"[p];
	}
	if (!CHECK_STR(got, want))
		fprintf(stderr, "\tafter: %s\n", what);
	if (*want && a.driver.byte[0] == b.driver.byte[0] && !f->tex_discards &&
	    !f->image_discards && !f->image_uses_frame)
		declared_implies_keys(f, what);
	tear_down(&a);
	tear_down(&b);
}

#define CHANGE(want, ...) \
	do { \
		struct fixture f = plain; \
		f.__VA_ARGS__; \
		check_change(#__VA_ARGS__, &f, want); \
	} while (0)

/* Each field of S and R alone changes the key of who has it, and of readers. */
static void every_field_counts(void)
{
	CHANGE("", width = plain.width);
	CHANGE("stci", dialect = "glsl");
	CHANGE("stci", driver_byte = 2);
	CHANGE("si", token[SIM] = "s2");
	CHANGE("ti", token[TEX] = "t2");
	CHANGE("ci", token[COMP] = "c2");
	CHANGE("i", token[IMAGE] = "i2");
	CHANGE("si", sim_extra = ", \"format\": \"rgba16f\"");
	CHANGE("si", sim_extra = ", \"extra_outputs\": [\"r32f\"]");
	CHANGE("si", sim_input = ", \"filter\": \"nearest\"");
	CHANGE("si", sim_input = ", \"wrap\": \"clamp\"");
	CHANGE("i", image_input = ", \"wrap\": \"clamp\"");
	/* A chain on sim is seen by both of its readers. */
	CHANGE("si", image_input = ", \"filter\": \"mipmap\"");
	CHANGE("ci", comp_extra = ", \"iterations\": 2");
	CHANGE("ci", comp_extra = ", \"local_size\": [4, 4, 1]");
	CHANGE("ci", storage_name = "other");
	CHANGE("ci", storage_size = 128);
	CHANGE("i", set = "gain=0.75");
	CHANGE("si", set = "speed=2");
	CHANGE("ti", asset_byte = 2);
	/* sim and comp have sizes of their own. */
	CHANGE("ti", width = 32);
	CHANGE("ti", tex_discards = 1);
	CHANGE("i", image_discards = 1);
	CHANGE("i", image_uses_frame = 1);
	CHANGE("i",
	    more = ", \"timeline\": [{\"frame\": 3, \"keys\": "
		   "{\"down\": [65]}}]");
	CHANGE("i", set = NULL,
	    f.more = ", \"timeline\": [{\"frame\": 2, "
		     "\"set\": {\"gain\": 0.25}}]");
}

/* What does not count. */
static void the_rest_does_not(void)
{
	CHANGE("", spare = "pic2"); /* bound, not active */
	CHANGE("", fps = 20);       /* nobody asks for time */
	CHANGE("",
	    more = ", \"timeline\": [{\"frame\": 4, \"set\": "
		   "{\"speed\": 9}}]"); /* later than frame 3 */
	CHANGE("", more = ", \"trace\": [{\"name\": \"x\", \"frame\": 9}]");
}

static int is_same(const struct world *w, int p, int t, int u)
{
	struct sha256 a = key_at(w, p, t), b = key_at(w, p, u);

	return sha256_equal(&a, &b);
}

/* A program without anything that varies has one key, and one node. */
static void folds_what_does_not_vary(void)
{
	struct world w;

	build(&plain, &w);
	CHECK(is_same(&w, TEX, 0, 5));
	CHECK_INT(w.keys.canon[keys_node(&w.keys, TEX, 5)], keys_node(&w.keys, TEX, 0));
	CHECK(!is_same(&w, SIM, 3, 4));
	CHECK(!is_same(&w, COMP, 3, 4));
	tear_down(&w);
}

/* Nodes that nothing asks for have no keys, and are in nobody's way. */
static void lists_what_matters(void)
{
	struct world w;
	struct keys keys;
	struct err err = ERR_INIT;
	int frame[] = { 2, 5 };

	build(&plain, &w);
	CHECK(keys_compute(&w.scene, w.program, &w.driver, frame, 2, NULL, &keys, &err) ==
	    0);
	/* sim and comp from 0 on, tex and image where they are asked for. */
	CHECK_INT(keys.nodes.n, 6 + 6 + 2 + 2);
	CHECK_INT(keys_node(&keys, TEX, 3), NODE_NONE);
	CHECK_INT(keys_node(&keys, IMAGE, 1), NODE_NONE);
	CHECK_INT(nodes_behind(&keys.nodes, 5), keys.nodes.n);
	for (uint32_t n = 0; n < keys.nodes.n; n++) {
		int p = keys_node_pass(&keys, n), t = keys_node_frame(&keys, n);
		struct sha256 all = key_at(&w, p, t);
		CHECK_INT(keys_node(&keys, p, t), n);
		CHECK(sha256_equal(&all, &keys.key[n]));
	}
	keys_release(&keys);
	tear_down(&w);
}

static struct sha256 alias_from, alias_to;

static int one_alias(void *data, const struct sha256 *key, struct sha256 *earlier)
{
	(void)data;
	if (!sha256_equal(key, &alias_from))
		return 0;
	*earlier = alias_to;
	return 1;
}

static int is_stored(void *data, const struct sha256 *key)
{
	return data && sha256_equal(data, key);
}

/* An alias changes the keys behind it, but none that something is stored under. */
static void plain_keys_bind(void)
{
	struct world w;
	struct keys keys;
	struct err err = ERR_INIT;
	int frame[] = { 5 };

	build(&plain, &w);
	alias_from = key_at(&w, SIM, 1);
	memset(&alias_to, 7, sizeof alias_to);
	for (int kept = 0; kept < 2; kept++) {
		struct sha256 at_3 = key_at(&w, SIM, 3);
		struct key_hooks hooks = { one_alias, is_stored, kept ? &at_3 : NULL };
		CHECK(keys_compute(&w.scene, w.program, &w.driver, frame, 1, &hooks,
			  &keys, &err) == 0);
		for (int t = 0; t < 6; t++) {
			uint32_t n = keys_node(&keys, SIM, t);
			struct sha256 was = key_at(&w, SIM, t);
			CHECK(sha256_equal(keys_plain(&keys, n), &was));
			CHECK_INT(sha256_equal(&keys.key[n], &was),
			    t == 0 || (kept && t >= 3));
		}
		keys_release(&keys);
	}
	tear_down(&w);
}

/* With discard, even and odd frames go their own ways from zeros. */
static void folds_history_by_two(void)
{
	struct fixture f = plain;
	struct world w;

	f.tex_discards = 1;
	build(&f, &w);
	CHECK(is_same(&w, TEX, 0, 1));
	CHECK(!is_same(&w, TEX, 1, 2));
	CHECK(is_same(&w, TEX, 2, 3));
	CHECK_INT(keys_history(&w.keys, keys_node(&w.keys, TEX, 1)), NODE_NONE);
	CHECK_INT(keys_history(&w.keys, keys_node(&w.keys, TEX, 3)),
	    keys_node(&w.keys, TEX, 0));
	tear_down(&w);
}

static void versions_advance(void)
{
	struct world w;

	build(&plain, &w);
	uint32_t first = keys_version_after(&w.keys, 0, 0);
	uint32_t second = keys_version_after(&w.keys, 0, 1);
	CHECK(first != second);
	CHECK_INT(w.keys.version[second].writer, keys_node(&w.keys, COMP, 1));
	CHECK_INT(w.keys.version[0].writer, NODE_NONE);
	tear_down(&w);
}

static int shows(const struct facts *list, enum fact_kind kind, const char *subject,
    uint32_t index, const char *want)
{
	struct buf text = BUF_INIT;
	struct fact f;
	int ok = facts_get(list, kind, subject, index, &f);

	if (ok)
		fact_print_value(&f, &text);
	ok = CHECK_STR(buf_str(&text), want);
	buf_release(&text);
	return ok;
}

/* What is remembered, with all that only names things, hashes to the key. */
static void remembers_what_was_hashed(void)
{
	struct world w;
	struct facts list = { 0 };
	struct sha256 sha, key;

	build(&plain, &w);
	for (int p = 0; p < NPASS; p++) {
		facts_of_node(&w.keys, keys_node(&w.keys, p, 2), &list);
		facts_hash(&list, FACT_IS_KEY, &sha);
		key = key_at(&w, p, 2);
		CHECK(sha256_equal(&sha, &key));
		facts_of_static(&w.scene, &w.program[p], p, &w.driver, &list);
		facts_hash(&list, FACT_IS_KEY, &sha);
		CHECK(sha256_equal(&sha, &w.keys.static_part[p]));
	}
	facts_of_node(&w.keys, keys_node(&w.keys, IMAGE, 2), &list);
	shows(&list, FACT_UNIFORM, "gain", FACT_NONE, "0.5");
	shows(&list, FACT_BOUND, "", 2, "keyboard");
	shows(&list, FACT_BOUND, "", 0, "pass 'sim' output 0");
	shows(&list, FACT_STORAGE, "", 5, "'st' of 64 bytes");
	facts_of_static(&w.scene, &w.program[SIM], SIM, &w.driver, &list);
	shows(&list, FACT_OWN_SIZE, "", FACT_NONE, "8x4");
	shows(&list, FACT_SAMPLER, "", 0, "linear, repeat");
	facts_release(&list);
	tear_down(&w);
}

/* The declared facts of all passes, and of the settings. */
static void declared_key(const struct fixture *f, struct sha256 *out)
{
	struct world w;
	struct facts list = { 0 }, all = { 0 };

	build(f, &w);
	for (int p = 0; p < NPASS; p++) {
		struct key_program program = { .tokens = &w.tokens[p] };
		facts_of_static(&w.scene, &program, p, NULL, &list);
		facts_of_inputs(&w.scene, p, &list);
		facts_append(&all, &list);
	}
	facts_of_settings(&w.variant, &all);
	facts_hash(&all, FACT_IS_DECLARED, out);
	facts_release(&list);
	facts_release(&all);
	tear_down(&w);
}

/* Whatever changes a key, the driver apart, makes another class of commits. */
static void declared_implies_keys(const struct fixture *f, const char *what)
{
	struct sha256 a, b;

	declared_key(&plain, &a);
	declared_key(f, &b);
	if (!CHECK(!sha256_equal(&a, &b)))
		fprintf(stderr, "\tafter: %s\n", what);
}

/* Plans -------------------------------------------------------------------- */

static int stored[NPASS][6];
static struct world *planned;

static int has_node(void *data, const struct sha256 *key, int pass)
{
	(void)data;
	for (int t = 0; t < 6; t++) {
		struct sha256 k = key_at(planned, pass, t);
		if (stored[pass][t] && sha256_equal(&k, key))
			return 1;
	}
	return 0;
}

static int has_version(void *data, const struct sha256 *key, int storage)
{
	(void)data, (void)storage;
	for (int t = 0; t < 6; t++)
		if (stored[COMP][t] &&
		    sha256_equal(&planned->keys
				      .version[keys_version_after(&planned->keys, 0, t)]
				      .key,
			key))
			return 1;
	return 0;
}

static int image_failed;

static int is_failed(void *data, const struct sha256 *key, int pass)
{
	(void)data, (void)key;
	return image_failed && pass == SIM;
}

static void check_plan(struct world *w, const int *frame, size_t n, size_t ndraw,
    size_t nload, size_t nreuse)
{
	struct plan_hooks hooks = { has_node, has_version, is_failed, NULL };
	struct plan plan;

	planned = w;
	plan_make(&w->keys, frame, n, &hooks, &plan);
	CHECK_INT(plan.ndraw, ndraw);
	CHECK_INT(plan.nload, nload);
	CHECK_INT(plan.nreuse, nreuse);
	plan_release(&plan);
}

static void plans(void)
{
	struct world w;
	struct fixture f = plain;

	f.image_uses_frame = 1;
	build(&f, &w);
	memset(stored, 0, sizeof stored);
	/* sim and comp 0..3, tex once, image at 3. */
	check_plan(&w, (int[]){ 3 }, 1, 4 + 1 + 4 + 1, 0, 0);
	/* Two frames in one sweep share what comes before. */
	check_plan(&w, (int[]){ 1, 3 }, 2, 4 + 1 + 4 + 2, 0, 0);
	/* The image alone is missing: its inputs are loaded. */
	stored[SIM][3] = stored[SIM][2] = stored[TEX][3] = 1;
	stored[COMP][3] = 1;
	check_plan(&w, (int[]){ 3 }, 1, 1, 2, 2);
	/* Further on from the stored frame; comp's own is needed as history. */
	check_plan(&w, (int[]){ 5 }, 1, 2 + 2 + 1, 3, 0);
	/* Nothing is missing. */
	stored[IMAGE][3] = 1;
	check_plan(&w, (int[]){ 3 }, 1, 0, 0, 5);
	tear_down(&w);
}

static void failures_spread(void)
{
	struct plan_hooks hooks = { has_node, has_version, is_failed, NULL };
	struct world w;
	struct plan plan;

	build(&plain, &w);
	memset(stored, 0, sizeof stored);
	planned = &w;
	image_failed = 1;
	plan_make(&w.keys, (int[]){ 1 }, 1, &hooks, &plan);
	CHECK(plan.node[keys_node(&w.keys, SIM, 1)].is_failed);
	CHECK(plan.node[keys_node(&w.keys, IMAGE, 1)].is_failed);
	CHECK(!plan.node[keys_node(&w.keys, COMP, 1)].is_failed);
	CHECK_INT(plan.node[keys_node(&w.keys, IMAGE, 1)].cause,
	    keys_node(&w.keys, SIM, 1));
	image_failed = 0;
	plan_release(&plan);
	tear_down(&w);
}

int main(void)
{
	every_field_counts();
	the_rest_does_not();
	folds_what_does_not_vary();
	lists_what_matters();
	plain_keys_bind();
	folds_history_by_two();
	versions_advance();
	remembers_what_was_hashed();
	plans();
	failures_spread();
	return test_done();
}

#include "graph/record.h"
#include "graph/facts.h"
#include "why/compare.h"

#include <stdlib.h>

#include "util/map.h"
#include "util/mem.h"
#include "test.h"

/*
 * Accounts of a project of two passes: "image" shows "sim", which feeds back.
 * Changes are made to a copy; then everything is written and read again.
 */
enum { SIM, IMAGE };

static void set_value(struct facts *list, const char *name, uint32_t frame, float v)
{
	unsigned char bytes[5] = { 'f' };
	uint32_t bits;

	memcpy(&bits, &v, sizeof bits);
	for (int i = 0; i < 4; i++)
		bytes[1 + i] = (unsigned char)(bits >> 8 * i);
	facts_add_bytes(list, frame == FACT_NONE && !*name ? FACT_MOUSE : FACT_VALUE,
	    name, frame, bytes, sizeof bytes);
}

static void add_uniform(struct facts *list, const char *name, float v)
{
	struct facts one = { 0 };
	struct fact f;
	size_t at = 0;

	set_value(&one, name, FACT_NONE, v);
	facts_next(&one, &at, &f);
	facts_add_bytes(list, FACT_UNIFORM, name, FACT_NONE, f.bytes, f.n);
	facts_release(&one);
}

static void add_bound(struct facts *list, uint32_t channel, int is_previous,
    const char *pass)
{
	struct buf b = BUF_INIT;

	buf_addch(&b, INPUT_PASS);
	buf_addch(&b, 0);
	buf_addch(&b, (char)is_previous);
	buf_addstr(&b, pass);
	facts_add_bytes(list, FACT_BOUND, "", channel, b.data, b.len);
	buf_release(&b);
}

static void add_storage(struct facts *list, uint32_t binding, unsigned size,
    int is_written, const char *content)
{
	struct buf b = BUF_INIT;

	buf_u64le(&b, size);
	buf_addstr(&b, "st");
	facts_add_bytes(list, FACT_STORAGE, "", binding, b.data, b.len);
	facts_add_number(list, FACT_WRITTEN, "", binding, (uint64_t)is_written);
	facts_add_text(list, FACT_CONTENT, "", binding, content);
	buf_release(&b);
}

/* What may differ from the plain record. */
struct change {
	const char *key, *tokens, *step, *tool, *driver, *version;
	unsigned iterations, storage;
	int filter, width;
	float gain, gain_300; /* 0: no step */
	int later;            /* a step behind the frame */
	int image_reads_storage;
};

static const struct change plain = { "1", "aa", "one", "1", "1", "22.3.6", 1, 64,
	FILTER_LINEAR, 640, 0.5f, 0.7f, 0, 0 };

static void fill(const struct change *c, struct record *a)
{
	struct facts *f;
	char *version = xasprintf("4.5 Mesa %s", c->version);

	*a = (struct record){ .frame = 600 };
	facts_add_text(&a->driver, FACT_IDENTITY, "gl.version", FACT_NONE, version);
	facts_add_text(&a->driver, FACT_IDENTITY, "lib.a", FACT_NONE, c->driver);
	free(version);
	f = &a->settings;
	facts_add_text(f, FACT_TOOL, "", FACT_NONE, c->tool);
	facts_add_size(f, FACT_SIZE, c->width, 360);
	set_value(f, "gain", FACT_NONE, c->gain);
	if (c->gain_300 != 0) {
		set_value(f, "gain", 300, c->gain_300);
		set_value(f, "gain", 301, 0.5f);
	}
	if (c->later)
		set_value(f, "gain", 601, 0.9f);
	a->pass = xcalloc(2, sizeof *a->pass);
	a->npass = 2;
	a->pass[SIM].name = xstrdup("sim");
	a->pass[IMAGE].name = xstrdup("image");
	for (int p = 0; p < 2; p++)
		sha256_of(c->key, strlen(c->key), &a->pass[p].key);
	f = &a->pass[SIM].fixed;
	facts_add_text(f, FACT_TOKENS, "", FACT_NONE, c->tokens);
	facts_add(f,
	    &(struct fact){ FACT_FUNCTION, "step", 0, (const unsigned char *)c->step,
		strlen(c->step), "sim.frag", 7 });
	facts_add_size(f, FACT_OWN_SIZE, 0, 0);
	facts_add_number(f, FACT_ITERATIONS, "", FACT_NONE, c->iterations);
	facts_add_bytes(f, FACT_SAMPLER, "", 0,
	    (unsigned char[]){ (unsigned char)c->filter, WRAP_REPEAT }, 2);
	facts_add_text(&a->pass[IMAGE].fixed, FACT_TOKENS, "", FACT_NONE, "bb");
	facts_add_size(&a->pass[IMAGE].fixed, FACT_OWN_SIZE, 0, 0);
	f = &a->pass[SIM].recipe;
	facts_add_size(f, FACT_SIZE, c->width, 360);
	add_uniform(f, "gain", 0.5f);
	add_bound(f, 0, 1, "sim");
	facts_add_text(f, FACT_INPUT, "", 0, c->key);
	add_storage(f, 2, c->storage, 1, c->key);
	f = &a->pass[IMAGE].recipe;
	facts_add_size(f, FACT_SIZE, c->width, 360);
	if (c->image_reads_storage) {
		add_storage(f, 5, 64, 0, c->key);
	} else {
		add_bound(f, 1, 0, "sim");
		facts_add_text(f, FACT_INPUT, "", 1, c->key);
	}
}

static char *reasons_text(const struct reasons *reasons)
{
	struct buf all = BUF_INIT;

	for (size_t i = 0; i < reasons->nreason; i++) {
		char *text = reason_text(&reasons->reason[i]);
		buf_addf(&all, "%s\n", text);
		free(text);
	}
	return buf_detach(&all);
}

/* All reasons as text, a line each, must be want. */
static void expect(const struct change *was, const struct change *now, const char *want)
{
	struct record a, b;
	struct reasons reasons = { 0 };

	fill(was, &a);
	fill(now, &b);
	record_compare(&a, &b, &reasons);
	char *text = reasons_text(&reasons);
	CHECK_STR(text, want);
	free(text);
	reasons_release(&reasons);
	record_release(&a);
	record_release(&b);
}

#define EXPECT(want, ...) \
	do { \
		struct change c = plain; \
		c.key = "2"; \
		c.__VA_ARGS__; \
		expect(&plain, &c, want); \
	} while (0)

static void follows_feedback(void)
{
	EXPECT("", key = "1");
	EXPECT("timeline: uniform gain 0.7 -> 0.9 at frame 300 (pass sim)\n",
	    gain_300 = 0.9f);
	/* A step that is gone leaves what was before it. */
	EXPECT("timeline: uniform gain 0.7 -> 0.5 at frame 300 (pass sim)\n",
	    gain_300 = 0);
	EXPECT("uniform gain 0.5 -> 0.25 (pass sim)\n", gain = 0.25f);
	/* Behind the frame, nothing counts. */
	EXPECT("uniform gain none -> 0.9\n", key = "1", c.later = 1);
}

static void names_fields(void)
{
	EXPECT("step() in sim.frag changed (pass sim)\n", tokens = "ab", c.step = "two");
	EXPECT("the text of sim.frag was reordered (pass sim)\n", tokens = "ab");
	EXPECT("iterations 1 -> 4 (pass sim)\n"
	       "sampler 0 linear, repeat -> nearest, repeat (pass sim)\n",
	    iterations = 4, c.filter = FILTER_NEAREST);
	EXPECT("storage 2 'st' of 64 bytes -> 'st' of 128 bytes (pass sim)\n",
	    storage = 128);
	/* One cause, two passes: once. */
	EXPECT("size 640x360 -> 1280x360 (passes image, sim)\n", width = 1280);
}

/* A buffer that another pass wrote, at any frame before. */
static void follows_storage(void)
{
	struct change was = plain, now = plain;

	was.image_reads_storage = now.image_reads_storage = 1;
	now.key = "2";
	now.tokens = "ab";
	now.step = "two";
	expect(&was, &now, "step() in sim.frag changed (pass sim)\n");
}

static void names_drivers(void)
{
	EXPECT("driver: Mesa 22.3.6 -> 23.1.0\n", version = "23.1.0", c.driver = "2");
	EXPECT("driver: lib.a 1 -> 2\n", driver = "2");
	EXPECT("stbuild 1 -> 2\n", key = "1", c.tool = "2");
}

/* Every row of the table ------------------------------------------------------- */

/* One fact of a kind in the list of a record where it belongs. */
static void place(struct record *a, enum fact_kind kind, unsigned char byte)
{
	unsigned char bytes[40] = { 'f' };
	int is_fixed = kind < FACT_STATIC, is_setting = kind >= FACT_FPS;
	struct fact f = { kind, "x", 0, bytes, 33, "x.frag", 3 };
	struct facts *list;

	if (kind == FACT_TOOL || kind == FACT_SIZE || kind == FACT_PRESET_NAME ||
	    kind == FACT_FPS || kind == FACT_DATE)
		f.subject = "", f.index = FACT_NONE;
	/* All forms see the last bytes they have. */
	memset(bytes + 1, byte, sizeof bytes - 1);
	*a = (struct record){ .frame = 1 };
	list = kind == FACT_IDENTITY ? &a->driver
	    : kind == FACT_FILE      ? &a->files
	    : is_setting             ? &a->settings
				     : NULL;
	if (list && kind != FACT_FILE && kind != FACT_IDENTITY) {
		facts_add(list, &f);
		return;
	}
	a->pass = xcalloc(1, sizeof *a->pass);
	a->npass = 1;
	a->pass[0].name = xstrdup("image");
	if (!list) {
		a->pass[0].key.byte[0] = byte;
		list = is_fixed ? &a->pass[0].fixed : &a->pass[0].recipe;
	}
	/* Parts of a source count where the tokens differ. */
	if (f.file[0] && (fact_flags(kind) & FACT_IS_PLACED))
		facts_add_bytes(&a->pass[0].fixed, FACT_TOKENS, "", FACT_NONE, &byte, 1);
	facts_add(list, &f);
}

/* Changed alone it changes the key, and the class, and is named. */
static void check_row(enum fact_kind kind)
{
	struct facts list[2] = { { .is_terse = 0 }, { .is_terse = 0 } };
	struct record record[2];
	struct reasons reasons = { 0 };
	struct buf name = BUF_INIT;
	int is_same[2];

	for (int i = 0; i < 2; i++) {
		unsigned char byte = (unsigned char)(1 + i);
		facts_begin(&list[i], "row");
		facts_add_bytes(&list[i], kind, "x", 0, &byte, 1);
		place(&record[i], kind, byte);
	}
	for (int i = 0; i < 2; i++) {
		struct sha256 a, b;
		enum fact_flags flag = i ? FACT_IS_DECLARED : FACT_IS_KEY;
		facts_hash(&list[0], flag, &a);
		facts_hash(&list[1], flag, &b);
		is_same[i] = sha256_equal(&a, &b);
		CHECK_INT(!is_same[i], (fact_flags(kind) & flag) != 0);
	}
	fact_print_name(&(struct fact){ .kind = kind, .subject = "x" }, &name);
	CHECK(name.len > 0);
	record_compare(&record[0], &record[1], &reasons);
	if (!CHECK(reasons.nreason > 0))
		fprintf(stderr, "\tno reason for row '%s'\n", buf_str(&name));
	buf_release(&name);
	for (int i = 0; i < 2; i++) {
		facts_release(&list[i]);
		record_release(&record[i]);
	}
	reasons_release(&reasons);
}

static void every_row_counts(void)
{
	struct map tags = MAP_INIT;

	for (int kind = 0; kind < NFACT; kind++) {
		struct facts list = { .is_terse = 0 };
		facts_add_bytes(&list, (enum fact_kind)kind, "", 0, "", 0);
		/* No tag is given twice. */
		CHECK(map_put(&tags, list.bytes.data, 4, 1));
		facts_release(&list);
		check_row((enum fact_kind)kind);
	}
	map_release(&tags);
}

/* Lists from a damaged store: no crash, and an end. */
static void takes_anything(void)
{
	struct change other = plain;
	struct record a, b;

	other.key = "2";
	for (size_t cut = 0; cut < 400; cut += 7) {
		struct reasons reasons = { 0 };
		fill(&plain, &a);
		fill(&other, &b);
		for (int p = 0; p < 2; p++) {
			struct buf *bytes = &b.pass[p].recipe.bytes;
			if (cut < bytes->len)
				bytes->data[cut] ^= 0x55;
			if (cut < b.pass[p].fixed.bytes.len)
				b.pass[p].fixed.bytes.len = cut;
		}
		if (cut < b.settings.bytes.len)
			b.settings.bytes.data[cut] ^= (char)0x80;
		record_compare(&a, &b, &reasons);
		record_compare(&b, &a, &reasons);
		CHECK(reasons.nreason > 0);
		reasons_release(&reasons);
		record_release(&a);
		record_release(&b);
	}
}

int main(void)
{
	follows_feedback();
	names_fields();
	follows_storage();
	names_drivers();
	every_row_counts();
	takes_anything();
	return test_done();
}

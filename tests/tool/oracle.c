/*
 * Random projects and random edits, against an oracle.
 *
 *	oracle STBUILD SEED ROUNDS SECONDS
 *
 * A round is a project and a few edits, all from one seed. After each edit the
 * program under test captures the project where it stands, and once more from
 * nothing: pictures, state and intermediates have to be equal byte for byte.
 * And it must have drawn as often as the oracle says, which knows nothing of
 * the program but its rules: it works out what each shader paints in whole
 * numbers, writes each recipe as a text, and remembers which recipes' bytes
 * are in the store, under the hash that names the file there.
 *
 * The shaders paint their even columns with one number and their odd ones with
 * another, below 251: exact in every format.
 *
 * Runs ROUNDS rounds, or for ROUNDS 0 as many as start within SECONDS.
 */

#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/buf.h"
#include "util/fs.h"
#include "util/map.h"
#include "util/mem.h"
#include "util/sha256.h"

#define NPASS 5
#define NCHANNEL 2
#define NOUTPUT 3
#define NTRACE 3
#define NFRAME 24 /* more than any trace asks for */
#define NODES (NFRAME * NPASS)
#define NONE (-1)

/* The project ------------------------------------------------------------------ */

enum { IMAGE, BUFFER, CUBEMAP, COMPUTE };
static const char *const kind_name[] = { "image", "buffer", "cubemap", "compute" };
enum { RGBA32F, R32F, RG32F, RGBA16F, RGBA8 };
static const char *const format_text[] = { "rgba32f", "r32f", "rg32f", "rgba16f" };
static const char *const filter_text[] = { "linear", "nearest", "mipmap" };
enum { STORAGE_NONE, STORAGE_READ, STORAGE_WRITE, STORAGE_IDLE };

struct input {
	int source; /* pass, or NONE */
	int is_previous, output, filter, wrap;
	int is_read; /* the shader looks at it, bound or not */
};

struct pass {
	int kind, rank;    /* current edges lead from lower ranks to higher */
	int width, height; /* 0: the output's */
	int format[NOUTPUT], noutput;
	int iterations;
	struct input input[NCHANNEL];
	int constant, uniform; /* 0, 1 or NONE */
	int uses_frame, uses_size, accumulates;
	int hole; /* columns it leaves out: 0, 1, or NONE */
	int storage;
	/* What makes no difference to what is painted. */
	int style, comment, spaces, unused;
};

struct trace {
	int is_on, width, height, has_set, set, intermediates;
	int frame[3], nframe;
};

struct project {
	struct pass pass[NPASS]; /* 0 is the image */
	int npass;
	int uniform[2];
	int step_frame, step_value, has_step; /* timeline: of uniform 0 */
	struct trace trace[NTRACE];
	int checkpoint;  /* -1 auto, 0 off, or every so many frames */
	int test, spare; /* of no consequence */
};

static uint64_t seed;

static int under(int n)
{
	uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (int)((z ^ z >> 31) % (uint64_t)n);
}

static int chance(int percent)
{
	return under(100) < percent;
}

static int is_array_of_one(const struct pass *p)
{
	return p->kind == CUBEMAP;
}

static void new_input(const struct project *pr, int p, struct input *in)
{
	const struct pass *pass = &pr->pass[p];

	*in = (struct input){ .source = NONE, .is_read = chance(85) };
	if (chance(25))
		return;
	in->source = under(pr->npass);
	/* The image has no previous frame to read. */
	if (in->source == 0 && pr->pass[0].rank >= pass->rank)
		in->source = pr->npass > 1 && p != 0 ? p : NONE;
	if (in->source == NONE)
		return;
	in->is_previous =
	    pr->pass[in->source].rank >= pass->rank || (in->source != 0 && chance(30));
	in->output = in->is_previous ? 0 : under(pr->pass[in->source].noutput);
	in->filter = under(3);
	in->wrap = under(2);
}

static void new_pass(struct project *pr, int p, int with_cubemap)
{
	struct pass *pass = &pr->pass[p];

	pass->kind = p == 0          ? IMAGE
	    : with_cubemap && p == 1 ? CUBEMAP
	    : chance(30)             ? COMPUTE
				     : BUFFER;
	if (p > 0 && pass->kind != CUBEMAP && (pass->kind == COMPUTE || chance(50))) {
		pass->width = 2 + 2 * under(4);
		pass->height = 1 + under(4);
	}
	pass->noutput = pass->kind == BUFFER || pass->kind == COMPUTE
	    ? 1 + (chance(30) ? 1 + under(NOUTPUT - 1) : 0)
	    : 1;
	for (int k = 0; k < NOUTPUT; k++)
		pass->format[k] = pass->kind == IMAGE ? RGBA8
		    : pass->kind == CUBEMAP           ? RGBA16F
						      : under(4);
	pass->iterations = pass->kind == COMPUTE ? 1 + under(3) : 1;
	pass->constant = under(100);
	pass->uniform = chance(40) ? under(2) : NONE;
	pass->uses_frame = chance(40);
	pass->uses_size = chance(30);
	pass->accumulates = pass->kind == COMPUTE && chance(50);
	pass->hole = pass->kind != CUBEMAP && chance(25) ? under(2) : NONE;
	pass->storage = STORAGE_NONE;
}

static void new_frames(struct trace *t)
{
	t->nframe = 1 + under(3);
	t->frame[0] = under(8);
	for (int i = 1; i < t->nframe; i++)
		t->frame[i] = t->frame[i - 1] + 1 + under(6);
}

static void new_project(struct project *pr)
{
	int with_cubemap = chance(4), with_storage = chance(45);

	memset(pr, 0, sizeof *pr);
	pr->npass = 1 + under(NPASS);
	for (int p = 0; p < pr->npass; p++)
		pr->pass[p].rank = p == 0 ? 50 + under(60) : under(100);
	for (int p = 0; p < pr->npass; p++)
		new_pass(pr, p, with_cubemap);
	for (int p = 0; p < pr->npass; p++)
		for (int c = 0; c < NCHANNEL; c++)
			new_input(pr, p, &pr->pass[p].input[c]);
	for (int p = 0; p < pr->npass; p++)
		if (with_storage && pr->pass[p].kind != CUBEMAP && chance(60))
			pr->pass[p].storage = 1 + under(3);
	pr->uniform[0] = under(10);
	pr->uniform[1] = under(10);
	pr->checkpoint = chance(20) ? -1 : chance(50) ? 0 : 1 + under(4);
	for (int i = 0; i < NTRACE; i++) {
		struct trace *t = &pr->trace[i];
		t->is_on = i == 0 || chance(40);
		new_frames(t);
		if (with_cubemap)
			t->nframe = 1, t->frame[0] %= 3;
		t->intermediates = !with_cubemap && chance(40);
		t->width = chance(50) ? 8 : 4;
		t->height = 4;
		t->has_set = chance(20);
		t->set = under(3);
	}
	if (with_cubemap)
		for (int i = 1; i < NTRACE; i++)
			pr->trace[i].is_on = 0;
	pr->has_step = chance(30);
	pr->step_frame = 1 + under(10);
	pr->step_value = 20 + under(10);
}

/*
 * Another kind of project: a simulation that traces share, and behind it one
 * that each trace has of its own by a uniform.
 */
static void make_chain(struct project *pr)
{
	memset(pr->pass, 0, sizeof pr->pass);
	pr->npass = 3;
	for (int p = 0; p < pr->npass; p++) {
		struct pass *pass = &pr->pass[p];
		new_pass(pr, p, 0);
		pass->rank = p == 0 ? 100 : p;
		for (int c = 0; c < NCHANNEL; c++)
			pass->input[c] = (struct input){ .source = NONE };
		pass->input[0] = (struct input){ .source = p == 0 ? 2 : p,
			.is_previous = p > 0,
			.filter = 1,
			.is_read = 1 };
		if (p > 0)
			pass->width = pass->height = 4;
		pass->uniform = p == 2 ? 1 : NONE;
		pass->uses_size = 0;
	}
	pr->pass[2].input[1] = (struct input){ .source = 1, .filter = 1, .is_read = 1 };
	if (pr->pass[1].kind == COMPUTE && chance(50))
		pr->pass[1].storage = STORAGE_WRITE;
	for (int i = 0; i < NTRACE; i++) {
		struct trace *t = &pr->trace[i];
		new_frames(t);
		t->is_on = i < 2 || chance(50);
		t->has_set = i > 0;
		t->set = i;
	}
}

/* Texts --------------------------------------------------------------------------- */

static void write_reads(const struct project *pr, const struct pass *p, struct buf *b)
{
	for (int c = 0; c < NCHANNEL; c++) {
		const struct input *in = &p->input[c];
		if (!in->is_read)
			continue;
		if (in->source != NONE && pr->pass[in->source].kind == CUBEMAP)
			buf_addf(b,
			    "\tv += %d * int(textureLod(iChannel%d, "
			    "vec3(1.0, 0.3, 0.2), 0.0).r + 0.5);\n",
			    3 + 2 * c, c);
		else
			buf_addf(b,
			    "\tv += %d * int(texelFetch(iChannel%d, "
			    "ivec2(x, 0), 0).r%s + 0.5);\n",
			    3 + 2 * c, c,
			    in->source != NONE && pr->pass[in->source].kind == IMAGE
				? " * 255.0"
				: "");
	}
}

/* The text that counts: is_bare leaves out what does not. */
static void write_shader(const struct project *pr, const struct pass *p, int is_bare,
    struct buf *b)
{
	if (!is_bare)
		buf_addf(b, "// comment %d\n", p->comment);
	if (p->storage == STORAGE_READ || p->storage == STORAGE_WRITE)
		buf_addf(b, "layout(std430, binding = 1)%s buffer Data { int n; };\n",
		    p->storage == STORAGE_READ ? " readonly" : "");
	for (int k = 1; k < p->noutput && p->kind == BUFFER; k++)
		buf_addf(b, "layout(location = %d) out vec4 o%d;\n", k, k);
	if (!is_bare && p->unused)
		buf_addf(b, "float unused(float a) { return a * %d.0; }\n", p->unused);
	buf_addstr(b,
	    p->kind == COMPUTE       ? "void mainCompute(ivec2 p)\n{\n"
		: p->kind == CUBEMAP ? "void mainCubemap(out vec4 c, in vec2 p, "
				       "in vec3 from, in vec3 to)\n{\n"
				     : "void mainImage(out vec4 c, in vec2 p)\n{\n");
	if (is_array_of_one(p))
		buf_addstr(b, "\tint x = 0;\n");
	else
		buf_addstr(b, "\tint x = int(p.x) & 1;\n");
	if (p->hole != NONE)
		buf_addf(b, "\tif (x == %d) %s;\n", p->hole,
		    p->kind == COMPUTE ? "return" : "discard");
	for (int i = 0; i < p->spaces && !is_bare; i++)
		buf_addstr(b, i % 2 ? "\n" : "\t ");
	if (p->style == 0)
		buf_addf(b, "\tint v = %d;\n", p->constant);
	else
		buf_addf(b, "\tint v = %d + %d;\n", p->constant - p->style, p->style);
	if (p->uniform != NONE)
		buf_addf(b, "\tv += int(u%d + 0.5);\n", p->uniform);
	if (p->uses_frame)
		buf_addstr(b, "\tv += 5 * iFrame;\n");
	if (p->uses_size)
		buf_addstr(b, "\tv += int(iResolution.x + 0.5);\n");
	if (p->storage == STORAGE_READ)
		buf_addstr(b, "\tv += n;\n");
	write_reads(pr, p, b);
	if (p->accumulates)
		buf_addstr(b, "\tv += 2 * int(imageLoad(iOutput, p).r + 0.5);\n");
	buf_addstr(b, "\tv = v % 251;\n");
	if (p->storage == STORAGE_WRITE)
		buf_addstr(b,
		    "\tif (int(p.x) == 0 && int(p.y) == 0) "
		    "n = (3 * n + v) % 251;\n");
	for (int k = 0; k < p->noutput; k++) {
		const char *scale = p->kind == IMAGE ? " / 255.0" : "";
		if (p->kind == COMPUTE)
			buf_addf(b, "\timageStore(iOutput%.*d, p, ", k > 0, k);
		else if (k == 0)
			buf_addstr(b, "\tc = ");
		else
			buf_addf(b, "\to%d = ", k);
		buf_addf(b, "vec4(float((v + %d) %% 251)%s, 1.0, 0.0, 1.0)%s;\n", 17 * k,
		    scale, p->kind == COMPUTE ? ")" : "");
	}
	buf_addstr(b, "}\n");
}

static void write_inputs(const struct pass *p, struct buf *b)
{
	const char *comma = "";

	buf_addstr(b, ", \"input\": [");
	for (int c = 0; c < NCHANNEL; c++) {
		const struct input *in = &p->input[c];
		if (in->source == NONE)
			continue;
		buf_addf(b,
		    "%s { \"channel\": %d, \"source\": \"p%d\", \"output\": %d, "
		    "\"frame\": \"%s\", \"filter\": \"%s\", \"wrap\": \"%s\" }",
		    comma, c, in->source, in->output,
		    in->is_previous ? "previous" : "current", filter_text[in->filter],
		    in->wrap ? "clamp" : "repeat");
		comma = ",";
	}
	buf_addstr(b, " ]");
}

static void write_pass(const struct project *pr, int p, struct buf *b)
{
	const struct pass *pass = &pr->pass[p];

	buf_addf(b, "{ \"name\": \"p%d\", \"kind\": \"%s\", \"source\": \"p%d.glsl\"", p,
	    kind_name[pass->kind], p);
	if (pass->width)
		buf_addf(b, ", \"width\": %d, \"height\": %d", pass->width, pass->height);
	if (pass->kind == BUFFER || pass->kind == COMPUTE) {
		buf_addf(b, ", \"format\": \"%s\"", format_text[pass->format[0]]);
		if (pass->noutput > 1)
			buf_addstr(b, ", \"extra_outputs\": [");
		for (int k = 1; k < pass->noutput; k++)
			buf_addf(b, "\"%s\"%s", format_text[pass->format[k]],
			    k + 1 < pass->noutput ? ", " : "]");
	}
	if (pass->kind == COMPUTE)
		buf_addf(b, ", \"iterations\": %d", pass->iterations);
	if (pass->storage)
		buf_addstr(b,
		    ", \"storage\": [ { \"binding\": 1, \"name\": \"s\", "
		    "\"size\": 16 } ]");
	write_inputs(pass, b);
	buf_addstr(b, " }");
}

/* All of the manifest but traces, tests and the store's settings. */
static void write_body(const struct project *pr, struct buf *b)
{
	buf_addf(b,
	    "\"uniform\": [ { \"name\": \"u0\", \"type\": \"float\", "
	    "\"default\": %d }, { \"name\": \"u1\", \"type\": \"float\", "
	    "\"default\": %d }",
	    pr->uniform[0], pr->uniform[1]);
	for (int i = 0; i < pr->spare; i++)
		buf_addf(b,
		    ", { \"name\": \"spare%d\", \"type\": \"vec2\", "
		    "\"default\": [0, %d] }",
		    i, i);
	buf_addstr(b, " ],\n\"pass\": [\n");
	for (int p = 0; p < pr->npass; p++) {
		write_pass(pr, p, b);
		buf_addstr(b, p + 1 < pr->npass ? ",\n" : " ],\n");
	}
	if (pr->has_step)
		buf_addf(b,
		    "\"timeline\": [ { \"frame\": %d, \"set\": { \"u0\": %d } } "
		    "],\n",
		    pr->step_frame, pr->step_value);
}

static void write_manifest(const struct project *pr, struct buf *b)
{
	const char *comma = "";

	buf_addstr(b,
	    "{ \"format\": 1, \"project\": { \"name\": \"oracle\" },\n"
	    "\"render\": { \"width\": 8, \"height\": 4, \"fps\": 60 },\n");
	write_body(pr, b);
	if (pr->checkpoint <= 0)
		buf_addf(b, "\"store\": { \"checkpoint\": \"%s\" },\n",
		    pr->checkpoint ? "auto" : "off");
	else
		buf_addf(b, "\"store\": { \"checkpoint\": %d },\n", pr->checkpoint);
	if (pr->test)
		buf_addstr(b,
		    "\"test\": [ { \"name\": \"t\", \"frames\": [0], "
		    "\"assert_no_nan\": true } ],\n");
	buf_addstr(b, "\"trace\": [");
	for (int i = 0; i < NTRACE; i++) {
		const struct trace *t = &pr->trace[i];
		if (!t->is_on)
			continue;
		buf_addf(b,
		    "%s { \"name\": \"t%d\", \"width\": %d, \"height\": %d, "
		    "\"include_intermediates\": %s, \"frames\": [",
		    comma, i, t->width, t->height, t->intermediates ? "true" : "false");
		for (int f = 0; f < t->nframe; f++)
			buf_addf(b, "%s%d", f ? ", " : "", t->frame[f]);
		buf_addstr(b, "]");
		if (t->has_set)
			buf_addf(b, ", \"set\": { \"u1\": %d }", t->set);
		buf_addstr(b, " }");
		comma = ",\n";
	}
	buf_addstr(b, " ] }\n");
}

/* Files ------------------------------------------------------------------------------ */

static int failures;

__attribute__((format(printf, 1, 2))) static void complain(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	failures++;
}

static void must(int rc, struct err *err)
{
	if (rc == 0)
		return;
	fprintf(stderr, "oracle: %s\n", err->message);
	exit(2);
}

/* Only what differs is written, so that other files keep their stamps. */
static void put_file(const char *dir, const char *name, const struct buf *b)
{
	struct err err = ERR_INIT;
	struct buf old = BUF_INIT;
	char *path = fs_join(dir, name);

	if (!fs_exists(path) || fs_read(path, 1 << 20, &old, &err) || old.len != b->len ||
	    memcmp(old.data, b->data, b->len) != 0)
		must(fs_write(path, b->data, b->len, 0, &err), &err);
	err_release(&err);
	buf_release(&old);
	free(path);
}

static void put_project(const struct project *pr, const char *dir)
{
	struct buf b = BUF_INIT;
	char name[32];

	write_manifest(pr, &b);
	put_file(dir, "stbuild.json", &b);
	for (int p = 0; p < pr->npass; p++) {
		buf_reset(&b);
		write_shader(pr, &pr->pass[p], 0, &b);
		snprintf(name, sizeof name, "p%d.glsl", p);
		put_file(dir, name, &b);
	}
	buf_release(&b);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Files below a folder, by name. Owned by the caller. */
static void list_files(const char *dir, const char *below, char ***out, size_t *n,
    size_t *cap)
{
	char *full = fs_join(dir, below);
	DIR *d = opendir(full);
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		if (entry->d_name[0] == '.')
			continue;
		char *name =
		    *below ? fs_join(below, entry->d_name) : xstrdup(entry->d_name);
		char *path = fs_join(dir, name);
		if (fs_is_dir(path)) {
			list_files(dir, name, out, n, cap);
			free(name);
		} else {
			*out = array_grow(*out, *n, cap, sizeof **out);
			(*out)[(*n)++] = name;
		}
		free(path);
	}
	if (d)
		closedir(d);
	free(full);
}

static void free_list(char **list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(list[i]);
	free(list);
}

/* The oracle -------------------------------------------------------------------------- */

/* Texts by number: equal ones have the same. */
static struct map texts;

static int number_of(struct buf *text)
{
	size_t known = map_get(&texts, text->data, text->len);

	if (known == MAP_NONE) {
		known = texts.nentry;
		map_put(&texts, text->data, text->len, known);
	}
	buf_release(text);
	return (int)known;
}

/* What the store has, as the oracle believes. */
static struct map objects;  /* hash -> 1, or 0 once deleted */
static struct map products; /* "recipe/output" -> index in objects */
static struct map aliases;  /* recipe -> recipe */
static struct map recorded; /* recipe -> index in row[] */
static struct map bundles;  /* path -> what it was made of; -1 not intact */
struct row {
	int recipe, pass, frame, shape;
	uint64_t seen;
};
static struct row *row;
static size_t nrow, row_cap;
static uint64_t now_seen;
static int has_deleted;      /* objects, in this round */
static int is_ambiguous;     /* a choice was the program's: no counts any more */
static int with_always;      /* -B */
static struct map drawn_now; /* recipes drawn in this run */

static size_t product_of(int recipe, int output)
{
	char name[64];

	snprintf(name, sizeof name, "%d/%d", recipe, output);
	size_t at = map_gets(&products, name);
	return at != MAP_NONE && objects.entry[at].value ? at : MAP_NONE;
}

static void add_product(int recipe, int output, const struct sha256 *sha)
{
	char name[64];

	map_put(&objects, sha->byte, SHA256_SIZE, 1);
	for (size_t i = 0; i < objects.nentry; i++)
		if (memcmp(objects.entry[i].key, sha->byte, SHA256_SIZE) == 0) {
			snprintf(name, sizeof name, "%d/%d", recipe, output);
			map_puts(&products, name, i);
		}
}

static int alias_of(int recipe)
{
	size_t at = map_get(&aliases, &recipe, sizeof recipe);

	return at == MAP_NONE ? recipe : (int)at;
}

struct picture {
	int value[NOUTPUT][2];
	int is_drawn[2];
};

/* One variant of the project, up to its last frame. */
struct world {
	const struct project *pr;
	int width, height, value[NFRAME][2]; /* uniforms */
	int order[NPASS], position[NPASS], is_reached[NPASS];
	int has_previous_reader[NPASS], mips[NPASS];
	int nframe, nnode;
	/* Truth: what is painted, whatever the recipes. */
	struct picture picture[NODES];
	int storage[NODES]; /* behind each node */
	/* Recipes. */
	int recipe[NODES], same[NODES]; /* same: the first equal node */
	int plain[NODES];               /* of the recipes without aliases */
	int plain_found[NODES], plain_end[NFRAME];
	int found[NODES], written[NODES]; /* versions of the buffer */
	int writer_found[NODES];          /* nodes, or NONE */
	int version_end[NFRAME], writer_end[NFRAME];
	int maker_end[NFRAME]; /* the writer itself, not its first equal */
	int is_drawn[NODES];   /* in this run; of the first equal nodes */
	int is_planned[NODES], is_wanted[NODES], is_half[NODES];
	int version_is_wanted[NODES]; /* that a node writes */
};

static int node_of(const struct world *w, int p, int t)
{
	return t < 0 ? NONE : t * w->pr->npass + w->position[p];
}

static int pass_of(const struct world *w, int node)
{
	return w->order[node % w->pr->npass];
}

static void size_of(const struct world *w, int p, int *width, int *height)
{
	const struct pass *pass = &w->pr->pass[p];

	*width = pass->kind == CUBEMAP ? 1024 : pass->width ? pass->width : w->width;
	*height = pass->kind == CUBEMAP ? 1024 : pass->height ? pass->height : w->height;
}

static void find_order(struct world *w)
{
	const struct project *pr = w->pr;
	int is_out[NPASS] = { 0 };

	for (int n = 0; n < pr->npass; n++)
		for (int p = 0; p < pr->npass; p++) {
			int waits = is_out[p];
			for (int c = 0; c < NCHANNEL; c++) {
				const struct input *in = &pr->pass[p].input[c];
				waits |= in->source != NONE && !in->is_previous &&
				    !is_out[in->source];
			}
			if (waits)
				continue;
			is_out[p] = 1;
			w->order[n] = p;
			w->position[p] = n;
			break;
		}
}

static void find_reached(struct world *w)
{
	const struct project *pr = w->pr;

	w->is_reached[0] = 1;
	for (int i = 0; i < pr->npass; i++)
		for (int p = 0; p < pr->npass; p++) {
			if (!w->is_reached[p])
				continue;
			for (int c = 0; c < NCHANNEL; c++)
				if (pr->pass[p].input[c].source != NONE)
					w->is_reached[pr->pass[p].input[c].source] = 1;
			for (int q = 0; q < pr->npass; q++)
				if (pr->pass[p].storage && pr->pass[q].storage)
					w->is_reached[q] = 1;
		}
	for (int p = 0; p < pr->npass; p++)
		for (int c = 0; c < NCHANNEL && w->is_reached[p]; c++) {
			const struct input *in = &pr->pass[p].input[c];
			if (in->source == NONE)
				continue;
			if (in->is_previous)
				w->has_previous_reader[in->source] = 1;
			if (in->filter == 2)
				w->mips[in->source] |= 1 << in->output;
		}
}

/* How far back the picture is that a pass draws over; 0: over none. */
static int history_of(const struct pass *p)
{
	if (p->kind == COMPUTE)
		return 1;
	return p->hole == NONE ? 0 : p->kind == IMAGE ? 1 : 2;
}

static void paint(struct world *w, int p, int t)
{
	static const struct picture black;
	const struct pass *pass = &w->pr->pass[p];
	int n = node_of(w, p, t), width, height;
	int back = history_of(pass) ? node_of(w, p, t - history_of(pass)) : NONE;
	struct picture now = back == NONE ? black : w->picture[back];
	int s = n == 0 ? 0 : w->storage[n - 1];

	size_of(w, p, &width, &height);
	for (int i = 0; i < pass->iterations && w->is_reached[p]; i++)
		for (int x = 0; x < 2; x++) {
			if (x == pass->hole)
				continue;
			int v = pass->constant;
			if (pass->uniform != NONE)
				v += w->value[t][pass->uniform];
			v += pass->uses_frame ? 5 * t : 0;
			v += pass->uses_size ? width : 0;
			v += pass->storage == STORAGE_READ ? s : 0;
			for (int c = 0; c < NCHANNEL; c++) {
				const struct input *in = &pass->input[c];
				int from = in->source == NONE
				    ? NONE
				    : node_of(w, in->source, in->is_previous ? t - 1 : t);
				if (in->is_read && from != NONE)
					v += (3 + 2 * c) *
					    w->picture[from]
						.value[in->output]
						      [is_array_of_one(pass) ? 0 : x];
			}
			v += pass->accumulates ? 2 * now.value[0][x] : 0;
			v %= 251;
			if (pass->storage == STORAGE_WRITE && x == 0)
				s = (3 * s + v) % 251;
			for (int k = 0; k < pass->noutput; k++)
				now.value[k][x] = (v + 17 * k) % 251;
			now.is_drawn[x] = 1;
		}
	w->picture[n] = now;
	w->storage[n] = s;
}

static void world_init(struct world *w, const struct project *pr, const struct trace *t,
    int nframe)
{
	memset(w, 0, sizeof *w);
	w->pr = pr;
	w->width = t->width;
	w->height = t->height;
	w->nframe = nframe;
	w->nnode = nframe * pr->npass;
	for (int f = 0; f < nframe; f++) {
		w->value[f][0] =
		    pr->has_step && f >= pr->step_frame ? pr->step_value : pr->uniform[0];
		w->value[f][1] = t->has_set ? t->set : pr->uniform[1];
	}
	find_order(w);
	find_reached(w);
	for (int n = 0; n < w->nnode; n++)
		paint(w, pass_of(w, n), n / pr->npass);
}

/* Bytes ------------------------------------------------------------------------------- */

static void add_number(struct buf *b, int format, float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof bits);
	if (format == RGBA8) {
		buf_addch(b, (char)(int)v);
	} else if (format == RGBA16F) {
		uint32_t half =
		    v == 0 ? 0 : ((bits >> 23) - 112) << 10 | (bits >> 13 & 0x3ff);
		buf_addch(b, (char)(half & 0xff));
		buf_addch(b, (char)(half >> 8));
	} else {
		buf_u32le(b, bits);
	}
}

static void hash_output(const struct world *w, int n, int k, struct sha256 *out)
{
	int p = pass_of(w, n), width, height;
	const struct pass *pass = &w->pr->pass[p];
	int format = pass->format[k];
	int nchannel = format == R32F ? 1 : format == RG32F ? 2 : 4;
	struct buf row_bytes = BUF_INIT, all = BUF_INIT;

	size_of(w, p, &width, &height);
	for (int x = 0; x < width; x++) {
		float on = w->picture[n].is_drawn[x & 1] ? format == RGBA8 ? 255.0f : 1.0f
							 : 0.0f;
		float texel[4] = { (float)w->picture[n].value[k][x & 1], on, 0, on };
		for (int c = 0; c < nchannel; c++)
			add_number(&row_bytes, format, texel[c]);
	}
	for (int y = 0; y < height * (pass->kind == CUBEMAP ? 6 : 1); y++)
		buf_add(&all, row_bytes.data, row_bytes.len);
	sha256_of(all.data, all.len, out);
	buf_release(&all);
	buf_release(&row_bytes);
}

static void hash_storage(int value, struct sha256 *out)
{
	unsigned char bytes[16] = { (unsigned char)value };

	sha256_of(bytes, sizeof bytes, out);
}

/* Recipes ------------------------------------------------------------------------------- */

static void write_shape(const struct world *w, int p, struct buf *b)
{
	const struct pass *pass = &w->pr->pass[p];
	int width, height;

	size_of(w, p, &width, &height);
	buf_addf(b, "%dx%d %d", width, height, pass->kind);
	for (int k = 0; k < pass->noutput; k++)
		buf_addf(b, " %d", pass->format[k]);
}

static void write_static(const struct world *w, int p, struct buf *b)
{
	const struct pass *pass = &w->pr->pass[p];

	write_shader(w->pr, pass, 1, b);
	buf_addf(b, "|%d %dx%d %d", pass->kind, pass->width, pass->height,
	    pass->iterations);
	for (int k = 0; k < pass->noutput; k++)
		buf_addf(b, " f%d", pass->format[k]);
	for (int c = 0; c < NCHANNEL; c++)
		if (pass->input[c].is_read && pass->input[c].source != NONE)
			buf_addf(b, " c%d %d %d", c, pass->input[c].filter,
			    pass->input[c].wrap);
}

static void write_channel(const struct world *w, const struct input *in, int t,
    const int *recipe, struct buf *b)
{
	const struct pass *source = &w->pr->pass[in->source];
	int from = node_of(w, in->source, in->is_previous ? t - 1 : t);
	int width, height;

	buf_addf(b, " cube%d output%d mips%d", source->kind == CUBEMAP, in->output,
	    w->mips[in->source] >> in->output & 1);
	size_of(w, in->source, &width, &height);
	if (from == NONE)
		buf_addf(b, " zeros %dx%d format %d", width, height,
		    source->format[in->output]);
	else
		buf_addf(b, " %d", recipe[from]);
}

/* The recipe of a node over recipes and versions of its inputs. */
static int write_recipe(const struct world *w, int n, const int *recipe, const int *found)
{
	int p = pass_of(w, n), t = n / w->pr->npass, width, height;
	const struct pass *pass = &w->pr->pass[p];
	struct buf b = BUF_INIT;

	write_static(w, p, &b);
	size_of(w, p, &width, &height);
	buf_addf(&b, "|%dx%d", width, height);
	if (pass->uniform != NONE)
		buf_addf(&b, " u%d=%d", pass->uniform, w->value[t][pass->uniform]);
	if (pass->uses_frame)
		buf_addf(&b, " frame=%d", t);
	for (int c = 0; c < NCHANNEL; c++) {
		if (!pass->input[c].is_read)
			continue;
		buf_addf(&b, " channel%d", c);
		if (pass->input[c].source == NONE)
			buf_addstr(&b, " unbound");
		else
			write_channel(w, &pass->input[c], t, recipe, &b);
	}
	if (pass->storage == STORAGE_READ || pass->storage == STORAGE_WRITE)
		buf_addf(&b, " storage %d", found[n]);
	if (history_of(pass)) {
		int back = node_of(w, p, t - history_of(pass));
		buf_addf(&b, " over %d", back == NONE ? NONE : recipe[back]);
	}
	return number_of(&b);
}

static int version_number(const char *how, int recipe)
{
	struct buf b = BUF_INIT;

	buf_addf(&b, "version %s %d", how, recipe);
	return number_of(&b);
}

/*
 * What is stored under a recipe stays there: the recipe without aliases is
 * bound to it, and an alias that is found later changes nothing.
 */
static int find_recipe(const struct world *w, int n)
{
	int recipe = write_recipe(w, n, w->recipe, w->found), plain = w->plain[n];

	if (plain == recipe)
		return alias_of(recipe);
	if (alias_of(plain) != plain || product_of(plain, 0) != MAP_NONE ||
	    (w->pr->pass[pass_of(w, n)].storage == STORAGE_WRITE &&
		product_of(version_number("after", plain), 0) != MAP_NONE))
		return alias_of(plain);
	return alias_of(recipe);
}

static void find_recipes(struct world *w)
{
	int version = version_number("zeros", 0), writer = NONE;
	int plain_version = version, maker = NONE;

	for (int n = 0; n < w->nnode; n++) {
		int p = pass_of(w, n);
		w->found[n] = version;
		w->plain_found[n] = plain_version;
		w->plain[n] = NONE;
		w->writer_found[n] = writer;
		w->recipe[n] = NONE;
		w->same[n] = n;
		if (w->is_reached[p]) {
			w->plain[n] = write_recipe(w, n, w->plain, w->plain_found);
			w->recipe[n] = find_recipe(w, n);
			for (int o = 0; o < n && w->same[n] == n; o++)
				/* One texture has mips, or has none. */
				if (w->recipe[o] == w->recipe[n] &&
				    w->mips[pass_of(w, o)] == w->mips[p])
					w->same[n] = w->same[o];
			if (w->pr->pass[p].storage == STORAGE_WRITE) {
				version = version_number("after", w->recipe[n]);
				plain_version = version_number("after", w->plain[n]);
				writer = w->same[n];
				maker = n;
			}
		}
		w->written[n] = version;
		w->version_end[n / w->pr->npass] = version;
		w->plain_end[n / w->pr->npass] = plain_version;
		w->writer_end[n / w->pr->npass] = writer;
		w->maker_end[n / w->pr->npass] = maker;
	}
}

/* The smallest set of draws ----------------------------------------------------------------- */

static int was_drawn_now(int recipe)
{
	return map_get(&drawn_now, &recipe, sizeof recipe) != MAP_NONE;
}

static int node_is_stored(const struct world *w, int n)
{
	if (with_always && !was_drawn_now(w->recipe[n]))
		return 0;
	for (int k = 0; k < w->pr->pass[pass_of(w, n)].noutput; k++)
		if (product_of(w->recipe[n], k) == MAP_NONE)
			return 0;
	return 1;
}

static int version_is_stored(const struct world *w, int version, int writer)
{
	if (with_always && !was_drawn_now(w->recipe[writer]))
		return 0;
	return product_of(version, 0) != MAP_NONE;
}

static void plan_draw(struct world *w, int n);

static void plan_node(struct world *w, int n)
{
	if (n == NONE)
		return;
	n = w->same[n];
	if (!w->is_drawn[n] && !node_is_stored(w, n))
		plan_draw(w, n);
}

static void plan_version(struct world *w, int version, int writer)
{
	if (writer != NONE && !w->is_drawn[writer] &&
	    !version_is_stored(w, version, writer))
		plan_draw(w, writer);
}

/* Calls each with what a draw takes: a node, or the storage it finds. */
static void each_taken(struct world *w, int n, void (*node)(struct world *w, int from),
    void (*version)(struct world *w, int version, int writer))
{
	int p = pass_of(w, n), t = n / w->pr->npass;
	const struct pass *pass = &w->pr->pass[p];

	for (int c = 0; c < NCHANNEL; c++) {
		const struct input *in = &pass->input[c];
		if (in->is_read && in->source != NONE)
			node(w, node_of(w, in->source, in->is_previous ? t - 1 : t));
	}
	if (history_of(pass))
		node(w, node_of(w, p, t - history_of(pass)));
	if (pass->storage == STORAGE_READ || pass->storage == STORAGE_WRITE)
		version(w, w->found[n], w->writer_found[n]);
}

static void plan_draw(struct world *w, int n)
{
	if (w->is_planned[n])
		return;
	w->is_planned[n] = 1;
	each_taken(w, n, plan_node, plan_version);
}

/* 1 when the picture before the last is kept, too. */
static int is_pair(const struct world *w, int p)
{
	const struct pass *pass = &w->pr->pass[p];

	return w->has_previous_reader[p] || (pass->hole != NONE && pass->kind == BUFFER);
}

static void plan(struct world *w, const int *is_asked)
{
	memset(w->is_planned, 0, sizeof w->is_planned);
	memset(w->is_wanted, 0, sizeof w->is_wanted);
	memset(w->is_half, 0, sizeof w->is_half);
	memset(w->version_is_wanted, 0, sizeof w->version_is_wanted);
	for (int t = 0; t < w->nframe; t++) {
		if (!is_asked[t])
			continue;
		for (int p = 0; p < w->pr->npass; p++) {
			if (!w->is_reached[p])
				continue;
			w->is_wanted[w->same[node_of(w, p, t)]] = 1;
			if (t > 0 && is_pair(w, p))
				w->is_half[w->same[node_of(w, p, t - 1)]] = 1;
		}
		if (w->writer_end[t] != NONE) {
			w->version_is_wanted[w->writer_end[t]] = 1;
			plan_version(w, w->version_end[t], w->writer_end[t]);
		}
	}
	for (int n = 0; n < w->nnode; n++)
		if (w->is_wanted[n])
			plan_node(w, n);
	/* The other half is no reason to draw; it is stored if it is drawn. */
	for (int n = 0; n < w->nnode; n++)
		w->is_wanted[n] |= w->is_half[n] && w->is_planned[n];
}

static void bind(const struct world *w, int n)
{
	if (w->plain[n] != w->recipe[n] && alias_of(w->plain[n]) == w->plain[n])
		map_put(&aliases, &w->plain[n], sizeof w->plain[n], (size_t)w->recipe[n]);
}

static void bind_like(const struct world *w, int n)
{
	for (int m = n; m < w->nnode; m++)
		if (w->same[m] == n && w->plain[m] != NONE)
			bind(w, m);
}

static void store_node(struct world *w, int n)
{
	struct sha256 sha;

	bind_like(w, n);
	for (int k = 0; k < w->pr->pass[pass_of(w, n)].noutput; k++) {
		hash_output(w, n, k, &sha);
		add_product(w->recipe[n], k, &sha);
	}
}

static void store_version(struct world *w, int n)
{
	struct sha256 sha;

	bind_like(w, n);
	hash_storage(w->storage[n], &sha);
	add_product(w->written[n], 0, &sha);
}

static int live_node[NODES], live_version[NODES];

static void mark_node(struct world *w, int n)
{
	if (n != NONE)
		live_node[w->same[n]] = 1;
}

static void mark_version(struct world *w, int version, int writer)
{
	(void)w;
	(void)version;
	if (writer != NONE)
		live_version[writer] = 1;
}

/* Stores what was drawn and planned draws take: a checkpoint. */
static void store_live(struct world *w)
{
	memset(live_node, 0, sizeof live_node);
	memset(live_version, 0, sizeof live_version);
	for (int n = 0; n < w->nnode; n++)
		if (w->is_planned[n] && !w->is_drawn[n])
			each_taken(w, n, mark_node, mark_version);
	for (int n = 0; n < w->nnode; n++) {
		if (live_node[n] && w->is_drawn[n])
			store_node(w, n);
		if (live_version[n] && w->is_drawn[n])
			store_version(w, n);
	}
}

/* 1 when some recipe has this pass's recipes in it. */
static int is_taken(const struct world *w, int p)
{
	const struct pass *pass = &w->pr->pass[p];
	int taken = history_of(pass) > 0 || pass->storage == STORAGE_WRITE;

	for (int q = 0; q < w->pr->npass; q++)
		for (int c = 0; c < NCHANNEL && w->is_reached[q]; c++)
			taken |= w->pr->pass[q].input[c].is_read &&
			    w->pr->pass[q].input[c].source == p;
	return taken;
}

/* The earlier recipe, at the same place, whose bytes a drawn node has. */
static int find_twin(const struct world *w, int n)
{
	int p = pass_of(w, n), twin = NONE;
	const struct pass *pass = &w->pr->pass[p];
	struct buf shape = BUF_INIT;
	uint64_t seen = 0;

	write_shape(w, p, &shape);
	int shape_number = number_of(&shape);
	for (size_t i = 0; i < nrow; i++) {
		int other = alias_of(row[i].recipe), is_same = 1;
		if (row[i].pass != p || row[i].frame != n / w->pr->npass ||
		    row[i].shape != shape_number || row[i].recipe == w->recipe[n] ||
		    other == w->recipe[n])
			continue;
		for (int k = 0; k < pass->noutput; k++) {
			size_t theirs = product_of(other, k);
			is_same &=
			    theirs != MAP_NONE && theirs == product_of(w->recipe[n], k);
		}
		if (pass->storage == STORAGE_WRITE) {
			size_t theirs = product_of(version_number("after", other), 0);
			is_same &=
			    theirs != MAP_NONE && theirs == product_of(w->written[n], 0);
		}
		/* Of several the last used, by the second: anyone. */
		is_ambiguous |= is_same && twin != NONE && twin != other;
		if (is_same && row[i].seen > seen) {
			seen = row[i].seen;
			twin = other;
		}
	}
	return twin;
}

static void record_row(const struct world *w, int n)
{
	struct buf shape = BUF_INIT;
	int recipe = w->recipe[n];
	size_t at = map_get(&recorded, &recipe, sizeof recipe);

	write_shape(w, pass_of(w, n), &shape);
	if (at == MAP_NONE) {
		row = array_grow(row, nrow, &row_cap, sizeof *row);
		map_put(&recorded, &recipe, sizeof recipe, at = nrow++);
	}
	row[at] = (struct row){ recipe, pass_of(w, n), n / w->pr->npass,
		number_of(&shape), ++now_seen };
}

/* Draws a node, and all that follows from it. 1 when other recipes change. */
static int draw(struct world *w, int n)
{
	int recipe = w->recipe[n], twin;

	w->is_drawn[n] = 1;
	map_put(&drawn_now, &recipe, sizeof recipe, 1);
	if (w->version_is_wanted[n])
		store_version(w, n);
	if (!w->is_wanted[n])
		return 0;
	store_node(w, n);
	record_row(w, n);
	twin = find_twin(w, n);
	if (twin == NONE)
		return 0;
	map_put(&aliases, &recipe, sizeof recipe, (size_t)twin);
	map_put(&aliases, &w->plain[n], sizeof recipe, (size_t)twin);
	map_put(&drawn_now, &twin, sizeof twin, 1);
	if (!is_taken(w, pass_of(w, n))) {
		for (int m = n; m < w->nnode; m++)
			if (w->same[m] == n)
				w->recipe[m] = twin;
		return 0;
	}
	/* All is planned anew, and what the sweep held is stored. */
	store_live(w);
	return 1;
}

/* What decides a bundle, as one number. */
static int bundle_number(const struct world *w, const struct trace *t, int frame)
{
	struct buf b = BUF_INIT;
	struct project in_force = *w->pr;

	/* What comes later is nothing to it. */
	in_force.has_step &= in_force.step_frame <= frame;
	write_body(&in_force, &b);
	/* Sources of all passes are in the document, reached or not. */
	for (int p = 0; p < w->pr->npass; p++)
		write_shader(w->pr, &w->pr->pass[p], 0, &b);
	buf_addf(&b, "|%d %dx%d %d %d %d", frame, t->width, t->height, t->intermediates,
	    w->value[frame][0], w->value[frame][1]);
	for (int p = 0; p < w->pr->npass; p++)
		buf_addf(&b, " %d", w->plain[node_of(w, p, frame)]);
	buf_addf(&b, " %d", w->plain_end[frame]);
	return number_of(&b);
}

/* A bundle is written: all that stands behind it is bound. */
static void bind_frame(const struct world *w, int t)
{
	for (int p = 0; p < w->pr->npass; p++) {
		if (!w->is_reached[p])
			continue;
		bind(w, node_of(w, p, t));
		if (t > 0 && is_pair(w, p))
			bind(w, node_of(w, p, t - 1));
	}
	if (w->maker_end[t] != NONE)
		bind(w, w->maker_end[t]);
}

static void bundle_name(int trace, int frame, char out[64])
{
	snprintf(out, 64, "t%d@%d", trace, frame);
}

/* What a trace sets to the default is as good as not set. */
static int same_variant(const struct project *pr, const struct trace *a,
    const struct trace *b)
{
	int x = a->has_set ? a->set : pr->uniform[1];
	int y = b->has_set ? b->set : pr->uniform[1];

	return a->width == b->width && a->height == b->height && x == y;
}

/* Marks the frames whose bundles are not what is on record. */
static int find_asked(const struct project *pr, const struct world *w, const int *is_in,
    int is_asked[NFRAME])
{
	int n = 0;

	memset(is_asked, 0, NFRAME * sizeof *is_asked);
	for (int i = 0; i < NTRACE; i++)
		for (int f = 0; is_in[i] && f < pr->trace[i].nframe; f++) {
			int t = pr->trace[i].frame[f];
			char name[64];
			bundle_name(i, t, name);
			if (!with_always &&
			    map_gets(&bundles, name) ==
				(size_t)bundle_number(w, &pr->trace[i], t))
				continue;
			is_asked[t] = 1;
			n++;
		}
	return n;
}

/* Runs the traces of one variant; returns the number of draws. */
static int run_variant(const struct project *pr, const int *is_in, const struct trace *t)
{
	static struct world w;
	int is_asked[NFRAME], is_captured[NFRAME] = { 0 };
	int last = 0, ndraw = 0, ended = 0;

	for (int i = 0; i < NTRACE; i++)
		for (int f = 0; is_in[i] && f < pr->trace[i].nframe; f++) {
			is_captured[pr->trace[i].frame[f]] = 1;
			if (pr->trace[i].frame[f] > last)
				last = pr->trace[i].frame[f];
		}
	world_init(&w, pr, t, last + 1);
	find_recipes(&w);
	if (!find_asked(pr, &w, is_in, is_asked))
		return 0;
	plan(&w, is_asked);
	for (;;) {
		int n = 0;
		while (n < w.nnode && (!w.is_planned[n] || w.is_drawn[n]))
			n++;
		if (n == w.nnode)
			break;
		for (; ended < n / pr->npass; ended++)
			if (pr->checkpoint > 0 && ended > 0 &&
			    ended % pr->checkpoint == 0 && !is_captured[ended])
				store_live(&w);
		ndraw++;
		if (draw(&w, n)) {
			find_recipes(&w);
			if (!find_asked(pr, &w, is_in, is_asked))
				break;
			plan(&w, is_asked);
		}
	}
	for (int t = 0; t < w.nframe; t++)
		if (is_asked[t])
			bind_frame(&w, t);
	for (int i = 0; i < NTRACE; i++)
		for (int f = 0; is_in[i] && f < pr->trace[i].nframe; f++) {
			char name[64];
			bundle_name(i, pr->trace[i].frame[f], name);
			map_puts(&bundles, name,
			    (size_t)bundle_number(&w, &pr->trace[i],
				pr->trace[i].frame[f]));
		}
	return ndraw;
}

static int oracle_run(const struct project *pr)
{
	int is_done[NTRACE] = { 0 }, ndraw = 0;

	map_release(&drawn_now);
	for (int i = 0; i < NTRACE; i++) {
		int is_in[NTRACE] = { 0 };
		if (!pr->trace[i].is_on || is_done[i])
			continue;
		for (int j = i; j < NTRACE; j++)
			if (pr->trace[j].is_on &&
			    same_variant(pr, &pr->trace[i], &pr->trace[j]))
				is_in[j] = is_done[j] = 1;
		ndraw += run_variant(pr, is_in, &pr->trace[i]);
	}
	return ndraw;
}

static void oracle_forget(void)
{
	map_release(&texts);
	map_release(&objects);
	map_release(&products);
	map_release(&aliases);
	map_release(&recorded);
	map_release(&bundles);
	map_release(&drawn_now);
	nrow = 0;
	is_ambiguous = has_deleted = 0;
}

/* The program under test --------------------------------------------------------------------- */

static const char *stbuild;

/* Runs capture in a folder; draws, or -1. Status 3 at the first run ends all. */
static int capture(const char *dir, const char *option)
{
	char *command = xasprintf("exec '%s' -C '%s' capture --json %s >'%s.out' "
				  "2>'%s.err' </dev/null",
	    stbuild, dir, option, dir, dir);
	char *out = xasprintf("%s.out", dir);
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;
	int status = system(command), ndraw = -1;

	must(fs_read(out, 1 << 24, &text, &err), &err);
	cJSON *json = cJSON_Parse(buf_str(&text));
	const cJSON *counts = cJSON_GetObjectItem(json, "counts");
	const cJSON *n = cJSON_GetObjectItem(counts, "nodes_drawn");
	if (status == 0 && n)
		ndraw = n->valueint;
	else
		complain("capture in %s ended with %d: %s", dir, status, buf_str(&text));
	cJSON_Delete(json);
	buf_release(&text);
	free(command);
	free(out);
	return ndraw;
}

/* What a capture has left is current. */
static void expect_quiet(const char *dir)
{
	char *command = xasprintf("exec '%s' -C '%s' -q >'%s.out' 2>&1 "
				  "</dev/null",
	    stbuild, dir, dir);
	int status = system(command);

	if (status != 0)
		complain("after a capture, -q ended with %d", status);
	free(command);
}

static void compare_bundles(const struct project *pr)
{
	for (int i = 0; i < NTRACE; i++)
		for (int f = 0; pr->trace[i].is_on && f < pr->trace[i].nframe; f++) {
			char name[64], **a = NULL, **b = NULL;
			size_t na = 0, nb = 0, acap = 0, bcap = 0;
			bundle_name(i, pr->trace[i].frame[f], name);
			char *now = xasprintf("now/target/traces/%s.sttrace", name);
			char *anew = xasprintf("anew/target/traces/%s.sttrace", name);
			list_files(now, "", &a, &na, &acap);
			list_files(anew, "", &b, &nb, &bcap);
			if (na)
				qsort(a, na, sizeof *a, compare_names);
			if (nb)
				qsort(b, nb, sizeof *b, compare_names);
			if (na != nb || na == 0)
				complain("%s has %zu files, not %zu", name, na, nb);
			for (size_t k = 0; k < na && na == nb; k++) {
				struct sha256 x, y;
				struct err err = ERR_INIT;
				char *p = fs_join(now, a[k]), *q = fs_join(anew, b[k]);
				must(fs_hash(p, &x, NULL, &err), &err);
				must(fs_hash(q, &y, NULL, &err), &err);
				if (strcmp(a[k], "trace.json") != 0 &&
				    (strcmp(a[k], b[k]) != 0 || !sha256_equal(&x, &y)))
					complain("%s: %s differs", name, a[k]);
				free(p);
				free(q);
			}
			free_list(a, na);
			free_list(b, nb);
			free(now);
			free(anew);
		}
}

/* What the oracle believes to be in the store has to be there. */
static void check_objects(void)
{
	for (size_t i = 0; i < objects.nentry; i++) {
		struct sha256 sha;
		char hex[SHA256_HEX + 1];
		memcpy(sha.byte, objects.entry[i].key, SHA256_SIZE);
		sha256_hex(&sha, hex);
		char *path = xasprintf("now/.stbuild/objects/%.2s/%s", hex, hex + 2);
		if (fs_exists(path) != (int)objects.entry[i].value)
			complain("object %s is %s", hex,
			    fs_exists(path) ? "there" : "missing");
		free(path);
	}
}

/* Edits -------------------------------------------------------------------------------------- */

static void delete_objects(void)
{
	has_deleted = 1;
	char **file = NULL;
	size_t n = 0, cap = 0;
	int count = 1 + under(4);

	list_files("now/.stbuild/objects", "", &file, &n, &cap);
	if (n)
		qsort(file, n, sizeof *file, compare_names);
	for (int i = 0; i < count && n > 0; i++) {
		const char *name = file[under((int)n)];
		char *path = fs_join("now/.stbuild/objects", name);
		unlink(path);
		free(path);
		for (size_t k = 0; k < objects.nentry; k++) {
			struct sha256 sha;
			char hex[SHA256_HEX + 1];
			memcpy(sha.byte, objects.entry[k].key, SHA256_SIZE);
			sha256_hex(&sha, hex);
			if (strncmp(hex, name, 2) == 0 && strcmp(hex + 2, name + 3) == 0)
				objects.entry[k].value = 0;
		}
	}
	free_list(file, n);
}

static void delete_bundles(const struct project *pr)
{
	for (int i = 0; i < NTRACE; i++)
		for (int f = 0; pr->trace[i].is_on && f < pr->trace[i].nframe; f++) {
			struct err err = ERR_INIT;
			char name[64];
			if (!chance(60))
				continue;
			bundle_name(i, pr->trace[i].frame[f], name);
			char *path = xasprintf("now/target/traces/%s.sttrace%s", name,
			    chance(50) ? "" : "/final.png");
			must(fs_remove(path, &err), &err);
			map_puts(&bundles, name, (size_t)-2);
			free(path);
		}
}

/* Inputs may have become impossible: of outputs that are gone, or of a cycle. */
static void mend(struct project *pr)
{
	for (int p = 0; p < pr->npass; p++)
		for (int c = 0; c < NCHANNEL; c++) {
			struct input *in = &pr->pass[p].input[c];
			if (in->source >= pr->npass)
				in->source = NONE;
			if (in->source != NONE &&
			    in->output >= pr->pass[in->source].noutput)
				in->output = 0;
		}
}

static const char *edit(struct project *pr, const char **option)
{
	struct pass *p = &pr->pass[under(pr->npass)];
	struct input *in = &p->input[under(NCHANNEL)];
	struct trace *t = &pr->trace[under(NTRACE)];
	int has_cubemap = pr->npass > 1 && pr->pass[1].kind == CUBEMAP;

	switch (under(25)) {
	case 0:
		p->comment++;
		return "a comment";
	case 1:
		p->spaces++;
		return "white space";
	case 2:
		p->unused++;
		return "an unused function";
	case 3:
	case 4:
		p->constant = under(100);
		return "a constant";
	case 5:
	case 6:
	case 7:
		p->style++;
		return "another text for the same";
	case 8:
		pr->uniform[under(2)] = under(10);
		return "a uniform's default";
	case 9:
	case 10:
		new_input(pr, (int)(p - pr->pass), in);
		return "an input";
	case 11:
		in->filter = under(3);
		return "a filter";
	case 12:
		in->wrap = !in->wrap;
		return "a wrap";
	case 13:
		if (p->kind != IMAGE && p->kind != CUBEMAP)
			p->format[under(p->noutput)] = under(4);
		return "a format";
	case 14:
		if (p->kind != IMAGE && p->kind != CUBEMAP) {
			p->width = p->width && p->kind == BUFFER ? 0 : 2 + 2 * under(4);
			p->height = p->width ? 1 + under(4) : 0;
		}
		return "a pass's size";
	case 15:
		if (!has_cubemap)
			new_frames(t);
		return "a trace's frames";
	case 16:
		pr->has_step = 1;
		pr->step_frame = 1 + under(10);
		return "the timeline";
	case 17:
		delete_objects();
		return "objects deleted";
	case 18:
		delete_bundles(pr);
		return "bundles deleted";
	case 19:
		if (t != pr->trace && !has_cubemap)
			t->is_on = !t->is_on;
		return "a trace more or less";
	case 20:
		p->iterations = p->kind == COMPUTE ? 1 + under(3) : 1;
		p->uses_frame = !p->uses_frame;
		return "the use of iFrame";
	case 21:
		if (p->kind != CUBEMAP)
			p->hole = p->hole == NONE ? under(2) : NONE;
		return "a hole";
	case 22:
		if (!has_cubemap)
			t->intermediates = !t->intermediates;
		return "intermediates";
	case 23:
		pr->test = !pr->test;
		pr->spare = !pr->spare;
		return "a test and a uniform that nobody uses";
	default:
		*option = "-B";
		return "everything anew";
	}
}

static void remake_dir(const char *dir)
{
	struct err err = ERR_INIT;

	must(fs_remove(dir, &err), &err);
	must(fs_mkdirs(dir, &err), &err);
}

/* Captures both ways, and judges. */
static void check(const struct project *pr, const char *option, int counts_are_known)
{
	remake_dir("anew");
	put_project(pr, "now");
	put_project(pr, "anew");
	with_always = strcmp(option, "-B") == 0;
	int want = oracle_run(pr);
	int got = capture("now", option);
	if (got < 0 || capture("anew", "") < 0)
		return;
	counts_are_known &= !is_ambiguous;
	if (counts_are_known && got != want)
		complain("%d draws, not %d", got, want);
	if (!has_deleted)
		expect_quiet("now");
	/*
	 * Once more: nothing is left to do. But an alias that a later variant
	 * finds may lead an earlier one to objects that were deleted.
	 */
	with_always = 0;
	want = oracle_run(pr);
	got = capture("now", "");
	counts_are_known &= !is_ambiguous;
	if (counts_are_known && (got != want || (want != 0 && !has_deleted)))
		complain("%d draws when nothing changed, %d by the oracle", got, want);
	if (counts_are_known)
		check_objects();
	compare_bundles(pr);
}

static void show_manifest(const struct project *pr)
{
	struct buf b = BUF_INIT;

	write_manifest(pr, &b);
	fprintf(stderr, "%s", buf_str(&b));
	buf_release(&b);
}

static int round_of(uint64_t number, int is_verbose)
{
	struct project version[12];
	int n = 0;

	seed = number;
	oracle_forget();
	remake_dir("now");
	new_project(&version[n++]);
	if (number % 4 == 0)
		make_chain(&version[0]);
	int is_known = version[0].checkpoint >= 0;
	int nedit = version[0].npass > 1 && version[0].pass[1].kind == CUBEMAP ? 3 : 10;
	const char *what = "at first";
	for (int i = 0; i <= nedit; i++) {
		const char *option = chance(25) ? "-j 2" : "";
		struct project *pr = &version[n - 1];
		if (i > 0) {
			version[n] = version[n - 1];
			pr = &version[n];
			if (n > 1 && chance(25)) {
				*pr = version[under(n)];
				what = "an earlier version";
			} else {
				what = edit(pr, &option);
				mend(pr);
			}
			n++;
		}
		if (is_verbose)
			fprintf(stderr, "%d: %s\n", i, what);
		check(pr, option, is_known);
		if (failures > 0) {
			fprintf(stderr, "edit %d, %s: ORACLE_SEED=%llu ORACLE_ROUNDS=1\n",
			    i, what, (unsigned long long)number);
			show_manifest(pr);
			return -1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 5) {
		fprintf(stderr, "usage: oracle STBUILD SEED ROUNDS SECONDS\n");
		return 2;
	}
	stbuild = argv[1];
	uint64_t first = strtoull(argv[2], NULL, 10);
	long rounds = strtol(argv[3], NULL, 10), n = 0;
	time_t end = time(NULL) + strtol(argv[4], NULL, 10);
	int rc = 0;
	while (rc == 0 && (rounds > 0 ? n < rounds : n == 0 || time(NULL) < end))
		rc = round_of(first + (uint64_t)n++, rounds == 1);
	oracle_forget();
	free(row);
	printf("%ld rounds\n", n);
	return rc != 0;
}

#include "graph/keys.h"

#include <stdlib.h>
#include <string.h>

#include "project/image.h"
#include "glsl/shader.h"
#include "util/mem.h"

uint32_t keys_node(const struct keys *k, int p, int t)
{
	return nodes_find(&k->nodes, p, t);
}

int keys_node_pass(const struct keys *k, uint32_t node)
{
	return k->nodes.graph->order[k->nodes.place[node]];
}

int keys_node_frame(const struct keys *k, uint32_t node)
{
	return k->nodes.frame[node];
}

uint32_t keys_version_after(const struct keys *k, int storage, int t)
{
	size_t node = nodes_behind(&k->nodes, t);

	return k->found[node * k->nodes.graph->nstorage + (size_t)storage];
}

const struct sha256 *keys_plain(const struct keys *k, uint32_t node)
{
	return k->plain ? &k->plain[node] : &k->key[node];
}

const struct sha256 *keys_plain_version(const struct keys *k, uint32_t version)
{
	return k->plain ? &k->plain_version[version] :
		&k->version[version].key;
}

/* Canonical node of (p, t), or NODE_NONE before frame 0. */
static uint32_t canonical(const struct keys *k, int p, int t)
{
	uint32_t node = keys_node(k, p, t);

	if (node == NODE_NONE && t >= 0)
		BUG("a node that nobody was said to need");
	return node == NODE_NONE || !k->canon ? node : k->canon[node];
}

/* Frames back to the picture a pass draws over; 0 when it draws over none. */
static int history_distance(const struct keys *k, int p)
{
	return nodes_history(k->scene, k->program, p);
}

uint32_t keys_history(const struct keys *k, uint32_t node)
{
	int p = keys_node_pass(k, node);
	int distance = history_distance(k, p);

	if (distance == 0)
		return NODE_NONE;
	return canonical(k, p, keys_node_frame(k, node) - distance);
}

/* Static part ---------------------------------------------------------------- */

#define SHORT 16	/* digits of a hash in texts */

static const char *short_hex(const struct sha256 *sha, char hex[SHA256_HEX + 1])
{
	sha256_hex(sha, hex);
	hex[SHORT] = '\0';
	return hex;
}

static void say_parts(struct encoder *e, const struct key_program *program)
{
	static const char *const kind[] = {
		[PART_FUNCTION] = "function ",
		[PART_MACRO] = "macro ",
		[PART_REST] = "declarations",
	};
	struct sha256 sha;
	char hex[SHA256_HEX + 1];

	if (!e->text)
		return;
	sha256_of(buf_str(program->tokens), program->tokens->len, &sha);
	encoder_say(e, "tokens: %s", short_hex(&sha, hex));
	for (size_t i = 0; i < program->npart; i++) {
		const struct part *part = &program->part[i];
		encoder_say(e, "%s%s%s: %s\t%s", part->is_used ? "" : "unused ",
			kind[part->kind], part->name, part->text ? part->text :
			short_hex(&part->sha, hex), part->file);
	}
}

static void encode_static(struct encoder *e, const struct keys *k, int p,
	const struct sha256 *driver)
{
	const struct variant *v = k->scene->variant;
	const struct pass *pass = &v->manifest->pass[p];
	const struct key_program *program = &k->program[p];
	const struct variant_pass *vp = &v->pass[p];
	char hex[SHA256_HEX + 1];

	encoder_begin(e, "static");
	encoder_u64(e, TAG_DIALECT, v->manifest->dialect);
	encoder_say(e, "dialect: %s", dialect_name(v->manifest->dialect));
	encoder_u64(e, TAG_HEADER_VERSION, SHADER_HEADER_VERSION);
	encoder_say(e, "header: %d", SHADER_HEADER_VERSION);
	encoder_bytes(e, TAG_TOKENS, program->tokens->data,
		program->tokens->len);
	say_parts(e, program);
	encoder_u64(e, TAG_KIND, pass->kind);
	encoder_say(e, "kind: %s", pass_kind_name(pass->kind));
	encoder_u64(e, TAG_OWN_SIZE, vp->is_output_sized ? 0 :
		(uint64_t)vp->width << 32 | (uint64_t)vp->height);
	if (vp->is_output_sized)
		encoder_say(e, "own size: none");
	else
		encoder_say(e, "own size: %dx%d", vp->width, vp->height);
	encoder_u64(e, TAG_FORMAT, pass->format);
	encoder_say(e, "format 0: %s", format_name(pass->format));
	for (int i = 0; i < pass->nextra_output; i++) {
		encoder_u64(e, TAG_FORMAT, pass->extra_output[i]);
		encoder_say(e, "format %d: %s", i + 1,
			format_name(pass->extra_output[i]));
	}
	encoder_u64(e, TAG_ITERATIONS, (uint64_t)vp->iterations);
	encoder_say(e, "iterations: %d", vp->iterations);
	if (pass->kind == PASS_COMPUTE) {
		for (int i = 0; i < 3; i++)
			encoder_u64(e, TAG_LOCAL_SIZE,
				(uint64_t)vp->local_size[i]);
		encoder_say(e, "local size: %dx%dx%d", vp->local_size[0],
			vp->local_size[1], vp->local_size[2]);
	}
	for (int c = 0; c < LIMIT_CHANNELS; c++) {
		const struct input_ref *in = pass_channel(pass, c);
		if (!in || !channel_is_active(program->reflection, c))
			continue;
		encoder_u64(e, TAG_CHANNEL, (uint64_t)c);
		encoder_u64(e, TAG_SAMPLER,
			(uint64_t)in->filter << 8 | (uint64_t)in->wrap);
		encoder_say(e, "sampler %d: %s, %s", c, filter_name(in->filter),
			wrap_name(in->wrap));
	}
	encoder_sha(e, TAG_DRIVER, driver);
	encoder_say(e, "driver: %s", short_hex(driver, hex));
}

/* Recipe --------------------------------------------------------------------- */

static void say_uniform(struct encoder *e, const struct draw_uniform *u, size_t nfloat)
{
	struct buf text = BUF_INIT;

	if (!e->text)
		return;
	if (u->type == GL_T_INT || u->type == GL_T_BOOL || u->type == GL_T_UINT)
		buf_addf(&text, " %d", u->i[0]);
	else
		for (size_t i = 0; i < nfloat; i++) {
			buf_addch(&text, ' ');
			print_float(u->f[i], &text);
		}
	encoder_say(e, "uniform %s:%s", u->name, buf_str(&text));
	buf_release(&text);
}

static void encode_uniforms(struct encoder *e, const struct keys *k, int p,
	const struct moment *m)
{
	static const unsigned char components[] = {
		[GL_T_FLOAT] = 1, [GL_T_VEC2] = 2, [GL_T_VEC3] = 3,
		[GL_T_VEC4] = 4,
		[GL_T_OTHER] = 0,
	};
	const struct reflection *r = k->program[p].reflection;

	for (size_t i = 0; i < r->nuniform; i++) {
		struct draw_uniform u;
		if (!uniform_value(m, p, &r->uniform[i], &u))
			continue;
		encoder_string(e, TAG_UNIFORM, u.name);
		encoder_u64(e, TAG_KIND, u.type);
		size_t nfloat = (size_t)components[u.type] * (size_t)u.count;
		if (nfloat > 0)
			encoder_bytes(e, TAG_VALUE, u.f,
				nfloat * sizeof u.f[0]);
		else
			encoder_bytes(e, TAG_VALUE, u.i, sizeof u.i);
		say_uniform(e, &u, nfloat);
	}
}

static void encode_pass_input(struct encoder *e, const struct keys *k,
	const struct input_ref *in, int t)
{
	const struct manifest *m = k->scene->variant->manifest;
	const struct graph *g = k->scene->graph;
	uint32_t node = canonical(k, in->pass, in->is_previous ? t - 1 : t);
	int has_mips = g->mips[in->pass] >> in->output & 1;
	char hex[SHA256_HEX + 1] = "zeros";

	encoder_u64(e, TAG_OUTPUT, (uint64_t)in->output);
	encoder_u64(e, TAG_MIPS, (uint64_t)has_mips);
	if (node == NODE_NONE) {
		int w, h;
		target_size(k->scene->variant, in->pass, &w, &h);
		encoder_u64(e, TAG_ZERO, (uint64_t)w << 32 | (uint64_t)h);
		/* Where a format has no alpha, zeros read as (0, 0, 0, 1). */
		encoder_u64(e, TAG_FORMAT,
			pass_format(&m->pass[in->pass], in->output));
	} else {
		encoder_sha(e, TAG_INPUT, &k->key[node]);
		short_hex(&k->key[node], hex);
	}
	encoder_say(e, "channel %d: pass '%s' output %d%s%s\t%s", in->channel,
		m->pass[in->pass].name, in->output,
		in->is_previous ? " previous" : "", has_mips ? " mipmaps" : "",
		hex);
}

static void encode_asset(struct encoder *e, const struct keys *k,
	const struct input_ref *in)
{
	const struct asset *a = &k->scene->variant->manifest->asset[in->asset];
	const struct sha256 *sha = &k->scene->asset[in->asset].sha;
	char hex[SHA256_HEX + 1];

	encoder_sha(e, TAG_ASSET, sha);
	encoder_u64(e, TAG_KIND, a->kind);
	encoder_u64(e, TAG_OUTPUT, (uint64_t)a->vflip << 8 |
		(uint64_t)a->channels);
	encoder_string(e, TAG_DECODER, IMAGE_DECODER);
	encoder_say(e, "channel %d: %s %s%s%s\t%s", in->channel,
		asset_kind_name(a->kind), a->path, a->vflip ? ", vflip" : "",
		a->channels == 1 ? ", one channel" : "", short_hex(sha, hex));
	encoder_say(e, "decoder: %s", IMAGE_DECODER);
}

static void say_keys(struct encoder *e, int channel, const struct variant *v, int t)
{
	static const char *const row[] = { ", held", ", pressed", ", toggled" };
	uint8_t key[3][256];

	if (!e->text)
		return;
	variant_keys(v, t, key);
	struct buf text = BUF_INIT;
	for (int r = 0; r < 3; r++)
		for (int i = 0, n = 0; i < 256; i++)
			if (key[r][i])
				buf_addf(&text, "%s %d", n++ ? "" : row[r], i);
	encoder_say(e, "channel %d: keyboard%s", channel, buf_str(&text));
	buf_release(&text);
}

static void encode_channel(struct encoder *e, const struct keys *k, int p, int channel,
	int t)
{
	const struct variant *v = k->scene->variant;
	const struct input_ref *in =
		pass_channel(&v->manifest->pass[p], channel);
	uint8_t texel[3 * 256 * 4 + 2 * 512 * 4];

	encoder_u64(e, TAG_CHANNEL, (uint64_t)channel);
	if (!in) {
		encoder_u64(e, TAG_UNBOUND, 0);
		encoder_say(e, "channel %d: unbound", channel);
		return;
	}
	encoder_u64(e, TAG_KIND, in->kind);
	switch (in->kind) {
	case INPUT_PASS:
		/* sampler type: 2D, or cube for a cubemap pass */
		encoder_u64(e, TAG_SAMPLER,
			v->manifest->pass[in->pass].kind == PASS_CUBEMAP);
		encode_pass_input(e, k, in, t);
		break;
	case INPUT_TEXTURE:
	case INPUT_CUBEMAP:
	case INPUT_VOLUME:
		encode_asset(e, k, in);
		break;
	case INPUT_KEYBOARD:
		keyboard_texels(v, t, texel);
		encoder_bytes(e, TAG_TEXELS, texel, 3 * 256 * 4);
		say_keys(e, channel, v, t);
		break;
	case INPUT_MUSIC:
		music_texels(v, texel);
		encoder_bytes(e, TAG_TEXELS, texel, 2 * 512 * 4);
		encoder_say(e, "channel %d: music (silence)", channel);
		break;
	case INPUT_VIDEO:
	case INPUT_WEBCAM:
		BUG("a %s input reached the keys", input_kind_name(in->kind));
	}
}

/* The manifest's storage at a binding of a pass: index of the graph, or -1. */
static int block_storage(const struct keys *k, int p, const struct active_block *b)
{
	return nodes_storage(k->scene, p, b->binding);
}

/* Key of the content that a node finds in a storage buffer. */
static const struct sha256 *found_version(const struct keys *k, uint32_t node, int s)
{
	uint32_t v = k->found[node * k->scene->graph->nstorage + (size_t)s];

	return k->found_key ? &k->found_key[v] : &k->version[v].key;
}

static void encode_storage(struct encoder *e, const struct keys *k, int p, uint32_t node)
{
	const struct graph *g = k->scene->graph;
	const struct reflection *r = k->program[p].reflection;
	char hex[SHA256_HEX + 1];

	for (size_t i = 0; i < r->nblock; i++) {
		int s = block_storage(k, p, &r->block[i]);
		if (s < 0)
			continue;
		const struct sha256 *version = found_version(k, node, s);
		encoder_u64(e, TAG_STORAGE, r->block[i].binding);
		encoder_string(e, TAG_NAME, g->storage[s]);
		encoder_u64(e, TAG_SIZE, g->storage_size[s]);
		encoder_sha(e, TAG_INPUT, version);
		encoder_say(e, "storage %u: '%s' of %llu bytes%s\t%s",
			(unsigned)r->block[i].binding, g->storage[s],
			(unsigned long long)g->storage_size[s],
			r->block[i].is_written ? ", written" : "",
			short_hex(version, hex));
	}
}

static void encode_history(struct encoder *e, const struct keys *k, int p, int t)
{
	int distance = history_distance(k, p);
	char hex[SHA256_HEX + 1];

	if (distance == 0)
		return;
	uint32_t node = canonical(k, p, t - distance);
	encoder_u64(e, TAG_HISTORY, (uint64_t)distance);
	if (node == NODE_NONE) {
		encoder_u64(e, TAG_ZERO, 0);
		encoder_say(e, "history %d: frames back\tzeros", distance);
	} else {
		encoder_sha(e, TAG_INPUT, &k->key[node]);
		encoder_say(e, "history %d: frames back\t%s", distance,
			short_hex(&k->key[node], hex));
	}
}

static void encode_recipe(struct encoder *e, const struct keys *k, uint32_t node,
	const struct moment *m)
{
	int p = keys_node_pass(k, node);
	int w, h;
	char hex[SHA256_HEX + 1];

	target_size(k->scene->variant, p, &w, &h);
	encoder_begin(e, "recipe");
	encoder_sha(e, TAG_STATIC, &k->static_part[p]);
	encoder_say(e, "static: %s", short_hex(&k->static_part[p], hex));
	/* The target's size counts even where the source never asks for it. */
	encoder_u64(e, TAG_SIZE, (uint64_t)w << 32 | (uint64_t)h);
	encoder_say(e, "size: %dx%d", w, h);
	encode_uniforms(e, k, p, m);
	for (int c = 0; c < LIMIT_CHANNELS; c++)
		if (channel_is_active(k->program[p].reflection, c))
			encode_channel(e, k, p, c, m->t);
	encode_storage(e, k, p, node);
	encode_history(e, k, p, m->t);
}

/* All nodes ------------------------------------------------------------------- */

/* Open addressing over node numbers, by the first bytes of their keys. */
struct table {
	uint32_t *slot;		/* node + 1; 0 empty */
	size_t nslot;		/* a power of two */
};

static uint32_t table_fold(struct table *t, const struct keys *k, uint32_t node)
{
	const unsigned *mips = k->scene->graph->mips;
	size_t at;

	memcpy(&at, k->key[node].byte, sizeof at);
	for (at &= t->nslot - 1; t->slot[at] != 0; at = (at + 1) & (t->nslot - 1)) {
		uint32_t other = t->slot[at] - 1;
		if (!sha256_equal(&k->key[other], &k->key[node]) ||
		    mips[keys_node_pass(k, other)] !=
		    mips[keys_node_pass(k, node)])
			continue;
		k->next_same[node] = k->next_same[other];
		k->next_same[other] = node;
		return other;
	}
	t->slot[at] = node + 1;
	return node;
}

static void add_version(struct keys *k, int storage, const struct sha256 *key,
	const struct sha256 *plain, uint32_t writer, uint32_t maker)
{
	if (k->plain) {
		k->plain_version = array_grow(k->plain_version, k->nversion,
			&k->plain_cap, sizeof *k->plain_version);
		k->plain_version[k->nversion] = *plain;
	}
	k->version = array_grow(k->version, k->nversion, &k->version_cap,
		sizeof *k->version);
	k->version[k->nversion++] = (struct version){ *key, storage, writer,
		maker };
}

static void first_versions(struct keys *k, struct encoder *e)
{
	const struct graph *g = k->scene->graph;

	for (size_t s = 0; s < g->nstorage; s++) {
		struct sha256 key;
		encoder_begin(e, "storage-zero");
		encoder_string(e, TAG_NAME, g->storage[s]);
		encoder_u64(e, TAG_SIZE, g->storage_size[s]);
		encoder_end(e, &key);
		k->found[s] = (uint32_t)k->nversion;
		add_version(k, (int)s, &key, &key, NODE_NONE, NODE_NONE);
	}
}

static void encode_version(struct encoder *e, const struct sha256 *node,
	const char *storage, struct sha256 *out)
{
	encoder_begin(e, "storage");
	encoder_sha(e, TAG_INPUT, node);
	encoder_string(e, TAG_NAME, storage);
	encoder_end(e, out);
}

void keys_version_key(const struct sha256 *node, const char *storage,
	struct sha256 *out)
{
	struct encoder e = { BUF_INIT, NULL };

	encode_version(&e, node, storage, out);
	encoder_release(&e);
}

/* The versions the next node finds: those of this one, or what it wrote. */
static void next_versions(struct keys *k, struct encoder *e, uint32_t node)
{
	const struct graph *g = k->scene->graph;
	int p = keys_node_pass(k, node);
	const struct reflection *r = k->program[p].reflection;
	uint32_t *now = &k->found[(size_t)node * g->nstorage];
	uint32_t *next = now + g->nstorage;

	if (g->nstorage == 0)
		return;
	memcpy(next, now, g->nstorage * sizeof *next);
	for (size_t i = 0; i < r->nblock; i++) {
		struct sha256 key, plain;
		int s = block_storage(k, p, &r->block[i]);
		if (s < 0 || !r->block[i].is_written || next[s] != now[s])
			continue;
		encode_version(e, &k->key[node], g->storage[s], &key);
		if (k->plain)
			encode_version(e, &k->plain[node], g->storage[s],
				&plain);
		next[s] = (uint32_t)k->nversion;
		add_version(k, s, &key, &plain, k->canon[node], node);
	}
}

/* Passes whose nodes are read, drawn over, or leave something in storage. */
static int *find_taken(const struct keys *k)
{
	const struct graph *g = k->scene->graph;
	int *taken = xcalloc(k->scene->variant->manifest->npass + 1,
		sizeof *taken);

	for (size_t i = 0; i < g->nedge; i++)
		taken[g->edge[i].from] |= g->is_reached[g->edge[i].to] &&
			channel_is_active(k->program[g->edge[i].to].reflection,
			g->edge[i].channel);
	for (size_t i = 0; i < g->norder; i++) {
		int p = g->order[i];
		if (!g->is_reached[p])
			continue;
		const struct reflection *r = k->program[p].reflection;
		taken[p] |= history_distance(k, p) > 0;
		for (size_t b = 0; b < r->nblock; b++)
			taken[p] |= r->block[b].is_written &&
				block_storage(k, p, &r->block[b]) >= 0;
	}
	return taken;
}

/* From here on, plain keys are others than keys. */
static void split_plain(struct keys *k)
{
	if (k->plain)
		return;
	k->plain = xmemdup(k->key, (k->nodes.n + 1) * sizeof *k->key);
	for (size_t v = 0; v < k->nversion; v++) {
		k->plain_version = array_grow(k->plain_version, v,
			&k->plain_cap, sizeof *k->plain_version);
		k->plain_version[v] = k->version[v].key;
	}
}

/* 1 when anything that a node makes is stored under its plain key. */
static int is_stored_plain(struct keys *k, struct encoder *e, uint32_t node,
	const struct key_hooks *hooks)
{
	int p = keys_node_pass(k, node);
	const struct reflection *r = k->program[p].reflection;

	if (hooks->is_stored(hooks->data, &k->plain[node]))
		return 1;
	for (size_t i = 0; i < r->nblock; i++) {
		struct sha256 key;
		int s = block_storage(k, p, &r->block[i]);
		if (s < 0 || !r->block[i].is_written)
			continue;
		encode_version(e, &k->plain[node], k->scene->graph->storage[s],
			&key);
		if (hooks->is_stored(hooks->data, &key))
			return 1;
	}
	return 0;
}

/* The plain key: the same recipe with the plain keys of what it takes. */
static void find_plain(struct keys *k, struct encoder *e, uint32_t node,
	const struct moment *m)
{
	struct keys view = *k;

	view.key = k->plain;
	view.canon = NULL;
	view.version = NULL;
	view.plain = NULL;
	view.found_key = k->plain_version;
	encode_recipe(e, &view, node, m);
	encoder_end(e, &k->plain[node]);
}

/*
 * The key of a node. What it is bound to counts first, then what is stored
 * under its plain key: neither changes when further aliases are found.
 */
static void find_key(struct keys *k, struct encoder *e, uint32_t node,
	const struct moment *m, const struct key_hooks *hooks)
{
	struct sha256 earlier;

	encode_recipe(e, k, node, m);
	encoder_end(e, &k->key[node]);
	if (k->plain)
		find_plain(k, e, node, m);
	if (!hooks || !hooks->alias)
		return;
	if (k->plain && !sha256_equal(&k->plain[node], &k->key[node])) {
		if (hooks->alias(hooks->data, &k->plain[node], &earlier)) {
			k->key[node] = earlier;
			return;
		}
		if (is_stored_plain(k, e, node, hooks)) {
			k->key[node] = k->plain[node];
			return;
		}
	}
	if (!hooks->alias(hooks->data, &k->key[node], &earlier))
		return;
	split_plain(k);
	k->key[node] = earlier;
}

static void make_room(struct keys *k, struct table *table)
{
	size_t nnode = k->nodes.n;

	while (table->nslot < 2 * nnode)
		table->nslot *= 2;
	table->slot = xcalloc(table->nslot, sizeof *table->slot);
	k->static_part = xcalloc(k->scene->variant->manifest->npass,
		sizeof *k->static_part);
	k->key = xcalloc(nnode + 1, sizeof *k->key);
	k->canon = xcalloc(nnode + 1, sizeof *k->canon);
	k->next_same = xcalloc(nnode + 1, sizeof *k->next_same);
	memset(k->next_same, 0xff, (nnode + 1) * sizeof *k->next_same);
	k->found = xcalloc((nnode + 1) * k->scene->graph->nstorage + 1,
		sizeof *k->found);
}

int keys_compute(const struct scene *scene, const struct key_program *program,
	const struct sha256 *driver, const int *frame, size_t nframe,
	const struct key_hooks *hooks, struct keys *out, struct err *err)
{
	const struct graph *g = scene->graph;
	struct encoder e = { BUF_INIT, NULL };
	struct moment moment;
	struct table table = { NULL, 64 };

	memset(out, 0, sizeof *out);
	out->scene = scene;
	out->program = program;
	if (nodes_list(scene, program, frame, nframe, &out->nodes, err))
		return -1;
	make_room(out, &table);
	out->is_taken = find_taken(out);
	for (size_t i = 0; i < g->norder; i++) {
		int p = g->order[i];
		if (!g->is_reached[p])
			continue;
		encode_static(&e, out, p, driver);
		encoder_end(&e, &out->static_part[p]);
	}
	first_versions(out, &e);
	moment_init(&moment, scene);
	for (uint32_t node = 0; node < out->nodes.n; node++) {
		moment_set(&moment, keys_node_frame(out, node));
		find_key(out, &e, node, &moment, hooks);
		out->canon[node] = table_fold(&table, out, node);
		next_versions(out, &e, node);
	}
	moment_release(&moment);
	encoder_release(&e);
	free(table.slot);
	return 0;
}

void keys_release(struct keys *k)
{
	nodes_release(&k->nodes);
	free(k->static_part);
	free(k->key);
	free(k->plain);
	free(k->plain_version);
	free(k->canon);
	free(k->next_same);
	free(k->is_taken);
	free(k->version);
	free(k->found);
	memset(k, 0, sizeof *k);
}

int keys_is_taken(const struct keys *k, uint32_t node)
{
	for (node = k->canon[node]; node != NODE_NONE; node = k->next_same[node])
		if (k->is_taken[keys_node_pass(k, node)])
			return 1;
	return 0;
}

void keys_replace(struct keys *k, uint32_t node, const struct sha256 *key)
{
	if (keys_is_taken(k, node))
		BUG("a new key for a node that others hold");
	split_plain(k);
	for (; node != NODE_NONE; node = k->next_same[node])
		k->key[node] = *key;
}

size_t keys_takes(const struct keys *k, uint32_t node, struct take out[TAKE_MAX])
{
	const struct graph *g = k->scene->graph;
	int p = keys_node_pass(k, node), t = keys_node_frame(k, node);
	const struct pass *pass = &k->scene->variant->manifest->pass[p];
	const struct reflection *r = k->program[p].reflection;
	size_t n = 0;

	for (size_t i = 0; i < pass->ninput; i++) {
		const struct input_ref *in = &pass->input[i];
		if (in->kind != INPUT_PASS ||
		    !channel_is_active(r, in->channel))
			continue;
		out[n++] = (struct take){ .kind = TAKE_CHANNEL, .input = in,
			.node = canonical(k, in->pass,
				in->is_previous ? t - 1 : t) };
	}
	if (history_distance(k, p) > 0)
		out[n++] = (struct take){ .kind = TAKE_HISTORY,
			.node = keys_history(k, node) };
	for (size_t i = 0; i < r->nblock && i < LIMIT_STORAGE_NAMES; i++) {
		int s = block_storage(k, p, &r->block[i]);
		if (s < 0)
			continue;
		uint32_t *found = &k->found[(size_t)node * g->nstorage];
		uint32_t now = found[s], next = found[g->nstorage + (size_t)s];
		out[n++] = (struct take){ .kind = TAKE_STORAGE,
			.node = k->version[now].writer, .version = now,
			.block = &r->block[i], .is_written = next != now,
			.next_version = next };
	}
	return n;
}

void keys_explain(const struct keys *k, uint32_t node, struct buf *text,
	struct sha256 *out)
{
	struct encoder e = { BUF_INIT, text };
	struct moment moment;

	moment_init(&moment, k->scene);
	moment_set(&moment, keys_node_frame(k, node));
	encode_recipe(&e, k, node, &moment);
	encoder_end(&e, out);
	moment_release(&moment);
	encoder_release(&e);
}

void keys_of_sound(const struct scene *scene,
	const struct key_program *program, int p, const struct sha256 *driver,
	struct buf *text, struct sha256 *static_part, struct sha256 *out)
{
	struct keys k = { .scene = scene, .program = program };
	struct encoder e = { BUF_INIT, NULL };
	struct moment moment;
	char hex[SHA256_HEX + 1];

	encode_static(&e, &k, p, driver);
	encoder_end(&e, static_part);
	e.text = text;
	moment_init(&moment, scene);
	encoder_begin(&e, "sound");
	encoder_sha(&e, TAG_STATIC, static_part);
	encoder_say(&e, "static: %s", short_hex(static_part, hex));
	encoder_u64(&e, TAG_VALUE, SOUND_RATE);
	encode_uniforms(&e, &k, p, &moment);
	for (int c = 0; c < LIMIT_CHANNELS; c++)
		if (channel_is_active(program[p].reflection, c))
			encode_channel(&e, &k, p, c, moment.t);
	encoder_end(&e, out);
	moment_release(&moment);
	encoder_release(&e);
}

void keys_explain_static(const struct keys *k, int p, const struct sha256 *driver,
	struct buf *text, struct sha256 *out)
{
	struct encoder e = { BUF_INIT, text };

	encode_static(&e, k, p, driver);
	encoder_end(&e, out);
	encoder_release(&e);
}

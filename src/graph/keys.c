#include "graph/keys.h"

#include <stdlib.h>
#include <string.h>

#include "graph/facts.h"
#include "keys_impl.h"
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
	return k->plain ? &k->plain_version[version] : &k->version[version].key;
}

/* Canonical node of (p, t), or NODE_NONE before frame 0. */
uint32_t keys_canonical(const struct keys *k, int p, int t)
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
	return keys_canonical(k, p, keys_node_frame(k, node) - distance);
}

/* The manifest's storage at a binding of a pass: index of the graph, or -1. */
static int block_storage(const struct keys *k, int p, const struct active_block *b)
{
	return nodes_storage(k->scene, p, b->binding);
}

/* Key of the content that a node finds in a storage buffer. */
const struct sha256 *keys_found_version(const struct keys *k, uint32_t node, int s)
{
	uint32_t v = k->found[node * k->scene->graph->nstorage + (size_t)s];

	return k->found_key ? &k->found_key[v] : &k->version[v].key;
}

/* All nodes ------------------------------------------------------------------- */

/* Open addressing over node numbers, by the first bytes of their keys. */
struct table {
	uint32_t *slot; /* node + 1; 0 empty */
	size_t nslot;   /* a power of two */
};

static uint32_t table_fold(struct table *t, const struct keys *k, uint32_t node)
{
	const unsigned *mips = k->scene->graph->mips;
	size_t at;

	memcpy(&at, k->key[node].byte, sizeof at);
	for (at &= t->nslot - 1; t->slot[at] != 0; at = (at + 1) & (t->nslot - 1)) {
		uint32_t other = t->slot[at] - 1;
		if (!sha256_equal(&k->key[other], &k->key[node]) ||
		    mips[keys_node_pass(k, other)] != mips[keys_node_pass(k, node)])
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
	k->version =
	    array_grow(k->version, k->nversion, &k->version_cap, sizeof *k->version);
	k->version[k->nversion++] = (struct version){ *key, storage, writer, maker };
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

void keys_version_key(const struct sha256 *node, const char *storage, struct sha256 *out)
{
	struct encoder e = { BUF_INIT };

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
			encode_version(e, &k->plain[node], g->storage[s], &plain);
		next[s] = (uint32_t)k->nversion;
		add_version(k, s, &key, &plain, k->canon[node], node);
	}
}

/* Passes whose nodes are read, drawn over, or leave something in storage. */
static int *find_read(const struct keys *k)
{
	const struct graph *g = k->scene->graph;
	int *is_read = xcalloc(k->scene->variant->manifest->npass + 1, sizeof *is_read);

	for (size_t i = 0; i < g->nedge; i++)
		is_read[g->edge[i].from] |= g->is_reached[g->edge[i].to] &&
		    channel_is_active(k->program[g->edge[i].to].reflection,
			g->edge[i].channel);
	for (size_t i = 0; i < g->norder; i++) {
		int p = g->order[i];
		if (!g->is_reached[p])
			continue;
		const struct reflection *r = k->program[p].reflection;
		is_read[p] |= history_distance(k, p) > 0;
		for (size_t b = 0; b < r->nblock; b++)
			is_read[p] |= r->block[b].is_written &&
			    block_storage(k, p, &r->block[b]) >= 0;
	}
	return is_read;
}

/* From here on, plain keys are others than keys. */
static void split_plain(struct keys *k)
{
	if (k->plain)
		return;
	k->plain = xmemdup(k->key, (k->nodes.n + 1) * sizeof *k->key);
	for (size_t v = 0; v < k->nversion; v++) {
		k->plain_version = array_grow(k->plain_version, v, &k->plain_cap,
		    sizeof *k->plain_version);
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
		encode_version(e, &k->plain[node], k->scene->graph->storage[s], &key);
		if (hooks->is_stored(hooks->data, &key))
			return 1;
	}
	return 0;
}

/* The plain key: the same recipe with the plain keys of what it takes. */
static void find_plain(struct keys *k, struct facts *list, uint32_t node,
    const struct moment *m)
{
	struct keys view = *k;

	view.key = k->plain;
	view.canon = NULL;
	view.version = NULL;
	view.plain = NULL;
	view.found_key = k->plain_version;
	facts_of_recipe(&view, node, m, list);
	facts_hash(list, FACT_IS_KEY, &k->plain[node]);
}

/*
 * The key of a node. What it is bound to counts first, then what is stored
 * under its plain key: neither changes when further aliases are found.
 */
static void find_key(struct keys *k, struct facts *list, struct encoder *e, uint32_t node,
    const struct moment *m, const struct key_hooks *hooks)
{
	struct sha256 earlier;

	facts_of_recipe(k, node, m, list);
	facts_hash(list, FACT_IS_KEY, &k->key[node]);
	if (k->plain)
		find_plain(k, list, node, m);
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
	k->static_part =
	    xcalloc(k->scene->variant->manifest->npass, sizeof *k->static_part);
	k->key = xcalloc(nnode + 1, sizeof *k->key);
	k->canon = xcalloc(nnode + 1, sizeof *k->canon);
	k->next_same = xcalloc(nnode + 1, sizeof *k->next_same);
	memset(k->next_same, 0xff, (nnode + 1) * sizeof *k->next_same);
	k->found = xcalloc((nnode + 1) * k->scene->graph->nstorage + 1, sizeof *k->found);
}

int keys_compute(const struct scene *scene, const struct key_program *program,
    const struct sha256 *driver, const int *frame, size_t nframe,
    const struct key_hooks *hooks, struct keys *out, struct err *err)
{
	const struct graph *g = scene->graph;
	struct encoder e = { BUF_INIT };
	struct facts list = { .is_terse = 1 };
	struct moment moment;
	struct table table = { NULL, 64 };

	memset(out, 0, sizeof *out);
	out->scene = scene;
	out->program = program;
	if (nodes_list(scene, program, frame, nframe, &out->nodes, err))
		return -1;
	make_room(out, &table);
	out->is_read = find_read(out);
	for (size_t i = 0; i < g->norder; i++) {
		int p = g->order[i];
		if (!g->is_reached[p])
			continue;
		facts_of_static(scene, &program[p], p, driver, &list);
		facts_hash(&list, FACT_IS_KEY, &out->static_part[p]);
	}
	first_versions(out, &e);
	moment_init(&moment, scene);
	for (uint32_t node = 0; node < out->nodes.n; node++) {
		moment_set(&moment, keys_node_frame(out, node));
		find_key(out, &list, &e, node, &moment, hooks);
		out->canon[node] = table_fold(&table, out, node);
		next_versions(out, &e, node);
	}
	moment_release(&moment);
	facts_release(&list);
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
	free(k->is_read);
	free(k->version);
	free(k->found);
	memset(k, 0, sizeof *k);
}

int keys_is_read(const struct keys *k, uint32_t node)
{
	for (node = k->canon[node]; node != NODE_NONE; node = k->next_same[node])
		if (k->is_read[keys_node_pass(k, node)])
			return 1;
	return 0;
}

void keys_replace(struct keys *k, uint32_t node, const struct sha256 *key)
{
	if (keys_is_read(k, node))
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
		if (in->kind != INPUT_PASS || !channel_is_active(r, in->channel))
			continue;
		out[n++] = (struct take){ .kind = TAKE_CHANNEL,
			.input = in,
			.node =
			    keys_canonical(k, in->pass, in->is_previous ? t - 1 : t) };
	}
	if (history_distance(k, p) > 0)
		out[n++] =
		    (struct take){ .kind = TAKE_HISTORY, .node = keys_history(k, node) };
	for (size_t i = 0; i < r->nblock && i < LIMIT_STORAGE_NAMES; i++) {
		int s = block_storage(k, p, &r->block[i]);
		if (s < 0)
			continue;
		uint32_t *found = &k->found[(size_t)node * g->nstorage];
		uint32_t now = found[s], next = found[g->nstorage + (size_t)s];
		out[n++] = (struct take){ .kind = TAKE_STORAGE,
			.node = k->version[now].writer,
			.version = now,
			.block = &r->block[i],
			.is_written = next != now,
			.next_version = next };
	}
	return n;
}

void keys_of_sound(const struct scene *scene, const struct key_program *program, int p,
    const struct sha256 *driver, struct sha256 *static_part, struct sha256 *out)
{
	struct keys k = { .scene = scene, .program = program };
	struct facts list = { .is_terse = 1 };
	struct moment moment;

	facts_of_static(scene, &program[p], p, driver, &list);
	facts_hash(&list, FACT_IS_KEY, static_part);
	moment_init(&moment, scene);
	facts_of_sound(&k, p, static_part, &moment, &list);
	facts_hash(&list, FACT_IS_KEY, out);
	moment_release(&moment);
	facts_release(&list);
}

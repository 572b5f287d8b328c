#include "render/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "render/upload.h"
#include "util/mem.h"

/*
 * Draws sent and not yet reported. Enough to keep the GPU busy; few enough
 * that a time limit on one draw is not spent waiting behind others.
 */
#define DRAWS_MAX 32

struct slot { /* a pass's textures, holding one node or free */
	uint32_t texture[1 + LIMIT_EXTRA_OUTPUTS];
	uint32_t node; /* that it holds; NODE_NONE for zeros */
	int is_free;
};

struct buffer_slot { /* a storage buffer, holding one version or free */
	uint32_t buffer;
	int storage;
	uint32_t version; /* that it holds */
	int is_free;
};

struct pass_slots {
	struct slot *slot;
	size_t nslot;
	struct texture_desc desc[1 + LIMIT_EXTRA_OUTPUTS];
	int noutput;
	size_t zero; /* slot + 1 that holds zeros, 0 none */
};

struct pending_read {
	struct sha256 key;
	int index;
	uint32_t node;
	int is_free;
};

struct sweep {
	const struct plan *plan;
	const struct keys *keys;
	const struct scene *scene;
	struct worker *worker;
	struct sweep_hooks hooks;
	struct moment moment;
	struct pass_slots *pass; /* a pass each */
	uint32_t *slot_of;       /* a node each: slot + 1, 0 not resident */
	struct buffer_slot *buffer;
	size_t nbuffer;
	uint32_t *buffer_of;      /* a version each: buffer + 1 */
	uint32_t *asset;          /* an asset each: texture, 0 not loaded */
	uint32_t keyboard, music; /* textures, 0 none */
	uint8_t keyboard_texel[3 * 256 * 4];
	uint32_t next_id;

	uint32_t node;             /* the next to run */
	int is_drawn;              /* node was drawn, reads remain */
	int nread;                 /* of its reads issued */
	uint32_t queue[DRAWS_MAX]; /* nodes drawn and not reported: a ring */
	unsigned head, nqueue;
	struct pending_read *read;
	size_t nread_slot, nreading;
	unsigned char *is_read; /* a node each: outputs are in the store,
					   or on their way */
	unsigned char *is_version_read;
	struct pending_read *saving; /* of a checkpoint, to be issued */
	size_t nsaving, saving_cap;
	uint32_t checkpointed; /* the frame before this node was asked about */
	uint32_t fault;
	struct err cause; /* of ending FAILED */
	int is_stopping;
	int is_listed;           /* what lives at the stop is in saving */
	enum sweep_state ending; /* once all that is under way arrived */
	enum sweep_state ended;  /* sticks, BUSY until then */
};

/* Results of the steps below, beside 0 for done and -1 for an error. */
enum { STEP_BLOCKED = UPLOAD_BLOCKED, STEP_MISS };

static void describe_pass(struct sweep *s, int p)
{
	const struct pass *pass = &s->scene->variant->manifest->pass[p];
	struct pass_slots *ps = &s->pass[p];
	int w, h;

	target_size(s->scene->variant, p, &w, &h);
	ps->noutput = 1 + pass->nextra_output;
	for (int k = 0; k < ps->noutput; k++)
		ps->desc[k] = (struct texture_desc){
			.kind = pass->kind == PASS_CUBEMAP ? TEXTURE_CUBE : TEXTURE_2D,
			.width = w,
			.height = h,
			.depth = 1,
			.texel = (enum texel)pass_format(pass, k),
			.has_mips = s->scene->graph->mips[p] >> k & 1,
		};
}

struct sweep *sweep_new(const struct plan *plan, struct worker *worker,
    const struct sweep_hooks *hooks)
{
	struct sweep *s = xcalloc(1, sizeof *s);
	const struct keys *k = plan->keys;
	const struct manifest *m = k->scene->variant->manifest;

	s->plan = plan;
	s->keys = k;
	s->scene = k->scene;
	s->worker = worker;
	s->hooks = *hooks;
	s->fault = NODE_NONE;
	s->ended = SWEEP_BUSY;
	s->ending = SWEEP_DONE;
	s->is_read = xcalloc(plan->end + 1, 1);
	s->is_version_read = xcalloc(k->nversion + 1, 1);
	s->pass = xcalloc(m->npass, sizeof *s->pass);
	s->slot_of = xcalloc(plan->end + 1, sizeof *s->slot_of);
	s->buffer_of = xcalloc(k->nversion + 1, sizeof *s->buffer_of);
	s->asset = xcalloc(m->nasset + 1, sizeof *s->asset);
	for (size_t p = 0; p < m->npass; p++)
		describe_pass(s, (int)p);
	moment_init(&s->moment, s->scene);
	return s;
}

/* Everything dies with the worker; a living one gets its textures back. */
static void free_objects(struct sweep *s)
{
	const struct manifest *m = s->scene->variant->manifest;
	struct err err = ERR_INIT;
	int rc = 0;

	for (size_t p = 0; p < m->npass && rc == 0; p++)
		for (size_t i = 0; i < s->pass[p].nslot && rc == 0; i++)
			for (int k = 0; k < s->pass[p].noutput && rc == 0; k++)
				rc = worker_texture_free(s->worker,
				    s->pass[p].slot[i].texture[k], &err);
	for (size_t i = 0; i < s->nbuffer && rc == 0; i++)
		rc = worker_buffer_free(s->worker, s->buffer[i].buffer, &err);
	for (size_t a = 0; a < m->nasset && rc == 0; a++)
		if (s->asset[a])
			rc = worker_texture_free(s->worker, s->asset[a], &err);
	if (rc == 0 && s->keyboard)
		rc = worker_texture_free(s->worker, s->keyboard, &err);
	if (rc == 0 && s->music)
		rc = worker_texture_free(s->worker, s->music, &err);
	err_release(&err);
}

void sweep_free(struct sweep *s)
{
	if (!s)
		return;
	if (!worker_is_dead(s->worker))
		free_objects(s);
	for (size_t p = 0; p < s->scene->variant->manifest->npass; p++)
		free(s->pass[p].slot);
	moment_release(&s->moment);
	free(s->pass);
	free(s->slot_of);
	free(s->buffer);
	free(s->buffer_of);
	free(s->asset);
	free(s->read);
	free(s->saving);
	free(s->is_read);
	free(s->is_version_read);
	err_release(&s->cause);
	free(s);
}

uint32_t sweep_fault(const struct sweep *s)
{
	return s->fault;
}

/* Textures and buffers ------------------------------------------------------- */

/* A free slot of the pass, made when there is none. Contents are whatever. */
static int take_slot(struct sweep *s, int p, size_t *out, int *is_new, struct err *err)
{
	struct pass_slots *ps = &s->pass[p];

	*is_new = 0;
	for (size_t i = 0; i < ps->nslot; i++)
		if (ps->slot[i].is_free) {
			ps->slot[i].is_free = 0;
			ps->slot[i].node = NODE_NONE;
			*out = i;
			return 0;
		}
	ps->slot = xreallocarray(ps->slot, ps->nslot + 1, sizeof *ps->slot);
	struct slot *slot = &ps->slot[ps->nslot];
	memset(slot, 0, sizeof *slot);
	slot->node = NODE_NONE;
	for (int k = 0; k < ps->noutput; k++) {
		slot->texture[k] = ++s->next_id;
		if (worker_texture_new(s->worker, slot->texture[k], &ps->desc[k], err))
			return -1;
	}
	*out = ps->nslot++;
	*is_new = 1;
	return 0;
}

static int take_clear_slot(struct sweep *s, int p, size_t *out, struct err *err)
{
	int is_new;

	if (take_slot(s, p, out, &is_new, err))
		return -1;
	for (int k = 0; k < s->pass[p].noutput && !is_new; k++)
		if (worker_texture_clear(s->worker, s->pass[p].slot[*out].texture[k],
			err))
			return -1;
	return 0;
}

static int take_buffer(struct sweep *s, int storage, int is_zeroed, size_t *out,
    struct err *err)
{
	for (size_t i = 0; i < s->nbuffer; i++)
		if (s->buffer[i].is_free && s->buffer[i].storage == storage) {
			s->buffer[i].is_free = 0;
			*out = i;
			return is_zeroed
			    ? worker_buffer_clear(s->worker, s->buffer[i].buffer, err)
			    : 0;
		}
	s->buffer = xreallocarray(s->buffer, s->nbuffer + 1, sizeof *s->buffer);
	s->buffer[s->nbuffer] =
	    (struct buffer_slot){ (uint32_t)s->nbuffer + 1, storage, 0, 0 };
	if (worker_buffer_new(s->worker, (uint32_t)s->nbuffer + 1,
		s->scene->graph->storage_size[storage], err))
		return -1;
	*out = s->nbuffer++;
	return 0;
}

static struct slot *slot_of(struct sweep *s, uint32_t node)
{
	if (s->slot_of[node] == 0)
		return NULL;
	return &s->pass[keys_node_pass(s->keys, node)].slot[s->slot_of[node] - 1];
}

static void hold_node(struct sweep *s, uint32_t node, size_t slot)
{
	s->slot_of[node] = (uint32_t)slot + 1;
	slot_of(s, node)->node = node;
}

static void hold_version(struct sweep *s, uint32_t version, size_t buffer)
{
	s->buffer_of[version] = (uint32_t)buffer + 1;
	s->buffer[buffer].version = version;
}

static void drop_node(struct sweep *s, uint32_t node)
{
	struct slot *slot = slot_of(s, node);

	if (slot)
		slot->is_free = 1;
	s->slot_of[node] = 0;
}

static void drop_version(struct sweep *s, uint32_t version)
{
	if (s->buffer_of[version] != 0)
		s->buffer[s->buffer_of[version] - 1].is_free = 1;
	s->buffer_of[version] = 0;
}

/*
 * Makes a stored node resident. After a miss the sweep ends, so that what was
 * uploaded of the node is never read.
 */
static int load_node(struct sweep *s, uint32_t node, struct err *err)
{
	int p = keys_node_pass(s->keys, node), is_new;
	struct pass_slots *ps = &s->pass[p];
	size_t at;

	if (s->slot_of[node] != 0)
		return 0;
	if (take_slot(s, p, &at, &is_new, err))
		return -1;
	for (int k = 0; k < ps->noutput; k++) {
		uint32_t texture = ps->slot[at].texture[k];
		size_t n = texture_bytes(&ps->desc[k]);
		int fd = s->hooks.open(s->hooks.data, &s->keys->key[node], k, n);
		if (fd < 0)
			return STEP_MISS;
		struct slab *slab = worker_file_slab(s->worker, fd, n, err);
		if (!slab || worker_texture_upload(s->worker, texture, slab, err))
			return -1;
		if (ps->desc[k].has_mips && worker_texture_mips(s->worker, texture, err))
			return -1;
	}
	hold_node(s, node, at);
	s->hooks.loaded(s->hooks.data, node);
	return 0;
}

static int load_version(struct sweep *s, uint32_t v, struct err *err)
{
	const struct version *version = &s->keys->version[v];
	uint64_t size = s->scene->graph->storage_size[version->storage];
	size_t at;

	if (s->buffer_of[v] != 0)
		return 0;
	if (version->writer == NODE_NONE) {
		if (take_buffer(s, version->storage, 1, &at, err))
			return -1;
		hold_version(s, v, at);
		return 0;
	}
	int fd = s->hooks.open(s->hooks.data, &version->key, 0, size);
	if (fd < 0)
		return STEP_MISS;
	struct slab *slab = worker_file_slab(s->worker, fd, size, err);
	if (!slab)
		return -1;
	if (take_buffer(s, version->storage, 0, &at, err) ||
	    worker_buffer_upload(s->worker, s->buffer[at].buffer, slab, size, err)) {
		return -1;
	}
	hold_version(s, v, at);
	return 0;
}

/* A texture of raw texels, made once and filled anew when they change. */
static int load_texels(struct sweep *s, uint32_t *texture, int width, int height,
    const void *texel, struct err *err)
{
	uint32_t id = *texture != 0 ? *texture : s->next_id + 1;
	int rc = upload_texels(s->worker, id, *texture == 0, width, height, texel, err);

	if (rc == 0 && *texture == 0)
		*texture = ++s->next_id;
	return rc;
}

static int load_asset(struct sweep *s, int a, struct err *err)
{
	const struct image *image;

	if (s->asset[a] != 0)
		return 0;
	if (s->hooks.image(s->hooks.data, a, &image, err))
		return -1;
	int rc = upload_image(s->worker, s->next_id + 1,
	    &s->scene->variant->manifest->asset[a], image, err);
	if (rc == 0)
		s->asset[a] = ++s->next_id;
	return rc;
}

/* Makes the zeros that a pass's readers find before frame 0. */
static int load_zeros(struct sweep *s, int p, struct err *err)
{
	size_t at;

	if (s->pass[p].zero != 0)
		return 0;
	if (take_clear_slot(s, p, &at, err))
		return -1;
	for (int k = 0; k < s->pass[p].noutput; k++)
		if (s->pass[p].desc[k].has_mips &&
		    worker_texture_mips(s->worker, s->pass[p].slot[at].texture[k], err))
			return -1;
	s->pass[p].zero = at + 1;
	return 0;
}

/* Draws ------------------------------------------------------------------------ */

/* Makes everything resident that the node reads. */
static int load_inputs(struct sweep *s, uint32_t node, const struct take *take,
    size_t ntake, struct err *err)
{
	const struct variant *v = s->scene->variant;
	int p = keys_node_pass(s->keys, node), rc = 0;
	const struct pass *pass = &v->manifest->pass[p];
	const struct reflection *r = s->keys->program[p].reflection;

	for (size_t i = 0; i < ntake && rc == 0; i++) {
		if (take[i].kind == TAKE_STORAGE)
			rc = load_version(s, take[i].version, err);
		else if (take[i].node != NODE_NONE)
			rc = load_node(s, take[i].node, err);
		else if (take[i].kind == TAKE_CHANNEL)
			rc = load_zeros(s, take[i].input->pass, err);
	}
	for (size_t i = 0; i < pass->ninput && rc == 0; i++) {
		const struct input_ref *in = &pass->input[i];
		uint8_t texel[2 * 512 * 4];
		if (!channel_is_active(r, in->channel))
			continue;
		if (in->asset >= 0) {
			rc = load_asset(s, in->asset, err);
		} else if (in->kind == INPUT_KEYBOARD) {
			keyboard_texels(v, s->moment.t, texel);
			if (s->keyboard &&
			    memcmp(texel, s->keyboard_texel, sizeof s->keyboard_texel) ==
				0)
				continue;
			rc = load_texels(s, &s->keyboard, 256, 3, texel, err);
			if (rc == 0)
				memcpy(s->keyboard_texel, texel,
				    sizeof s->keyboard_texel);
		} else if (in->kind == INPUT_MUSIC && !s->music) {
			music_texels(v, texel);
			rc = load_texels(s, &s->music, 512, 2, texel, err);
		}
	}
	return rc;
}

static uint32_t channel_texture(struct sweep *s, const struct input_ref *in,
    const struct take *take, size_t ntake)
{
	if (in->asset >= 0)
		return s->asset[in->asset];
	if (in->kind == INPUT_KEYBOARD)
		return s->keyboard;
	if (in->kind == INPUT_MUSIC)
		return s->music;
	for (size_t i = 0; i < ntake; i++) {
		if (take[i].kind != TAKE_CHANNEL || take[i].input != in)
			continue;
		if (take[i].node == NODE_NONE)
			return s->pass[in->pass]
			    .slot[s->pass[in->pass].zero - 1]
			    .texture[in->output];
		return slot_of(s, take[i].node)->texture[in->output];
	}
	return 0;
}

/*
 * The slot a node is drawn into: for a pass with history, one that holds it:
 * the history's own slot when nobody reads it any more, else a copy.
 */
static int take_target(struct sweep *s, uint32_t node, const struct take *take,
    size_t ntake, size_t *out, struct err *err)
{
	int p = keys_node_pass(s->keys, node), is_new;
	uint32_t history = NODE_NONE;
	int has_history = 0, is_read = 0;

	for (size_t i = 0; i < ntake; i++)
		if (take[i].kind == TAKE_HISTORY) {
			has_history = 1;
			history = take[i].node;
		}
	if (!has_history)
		return take_slot(s, p, out, &is_new, err);
	if (history == NODE_NONE)
		return take_clear_slot(s, p, out, err);
	for (size_t i = 0; i < ntake; i++)
		is_read |= take[i].kind == TAKE_CHANNEL && take[i].node == history;
	/* Passes that are alike may share a node; each has textures of its own. */
	if (s->plan->node[history].last_use == node && !is_read &&
	    keys_node_pass(s->keys, history) == p) {
		*out = s->slot_of[history] - 1;
		s->slot_of[history] = 0;
		return 0;
	}
	if (take_slot(s, p, out, &is_new, err))
		return -1;
	for (int k = 0; k < s->pass[p].noutput; k++)
		if (worker_texture_copy(s->worker, s->pass[p].slot[*out].texture[k],
			slot_of(s, history)->texture[k], err))
			return -1;
	return 0;
}

/* The buffer a written block works on becomes the next version's. */
static int take_storage(struct sweep *s, uint32_t node, const struct take *take,
    struct err *err)
{
	const struct plan_version *now = &s->plan->version[take->version];
	uint32_t held = s->buffer_of[take->version];
	size_t at;

	/* Bound twice, it is written in one place. */
	if (!take->is_written || s->buffer_of[take->next_version] != 0)
		return 0;
	if (now->last_use == node) {
		s->buffer_of[take->version] = 0;
		hold_version(s, take->next_version, held - 1);
		return 0;
	}
	int storage = s->keys->version[take->version].storage;
	if (take_buffer(s, storage, 0, &at, err) ||
	    worker_buffer_copy(s->worker, s->buffer[at].buffer,
		s->buffer[held - 1].buffer, s->scene->graph->storage_size[storage], err))
		return -1;
	hold_version(s, take->next_version, at);
	return 0;
}

static int send_draw(struct sweep *s, uint32_t node, const struct take *take,
    size_t ntake, size_t target, struct err *err)
{
	const struct variant *v = s->scene->variant;
	int p = keys_node_pass(s->keys, node);
	const struct pass *pass = &v->manifest->pass[p];
	const struct reflection *r = s->keys->program[p].reflection;
	struct draw_storage storage[LIMIT_STORAGE_NAMES];
	struct draw draw = { .tag = node };
	int rc;

	if (s->hooks.program(s->hooks.data, s->worker, p, &draw.program, err))
		return -1;
	draw.is_compute = pass->kind == PASS_COMPUTE;
	draw.is_cube = pass->kind == PASS_CUBEMAP;
	target_size(v, p, &draw.width, &draw.height);
	draw.ntarget = s->pass[p].noutput;
	memcpy(draw.target, s->pass[p].slot[target].texture, sizeof draw.target);
	draw.iterations = v->pass[p].iterations;
	if (draw.is_compute) {
		const int *local = v->pass[p].local_size;
		draw.groups[0] = (draw.width + local[0] - 1) / local[0];
		draw.groups[1] = (draw.height + local[1] - 1) / local[1];
	}
	for (int c = 0; c < LIMIT_CHANNELS; c++) {
		const struct input_ref *in = pass_channel(pass, c);
		if (!channel_is_active(r, c))
			continue;
		struct draw_input *input = &draw.input[draw.ninput++];
		input->channel = c;
		if (!in)
			continue;
		input->texture = channel_texture(s, in, take, ntake);
		input->kind = input_texture_kind(v->manifest, in);
		input->filter = in->filter;
		input->wrap = in->wrap;
	}
	for (size_t i = 0; i < ntake; i++) {
		if (take[i].kind != TAKE_STORAGE)
			continue;
		uint32_t version =
		    take[i].is_written ? take[i].next_version : take[i].version;
		struct buffer_slot *b = &s->buffer[s->buffer_of[version] - 1];
		storage[draw.nstorage++] = (struct draw_storage){ take[i].block->binding,
			b->buffer, s->scene->graph->storage_size[b->storage] };
	}
	draw.storage = storage;
	struct draw_uniform *uniform = xcalloc(r->nuniform + 1, sizeof *uniform);
	for (size_t i = 0; i < r->nuniform; i++)
		draw.nuniform += (size_t)uniform_value(&s->moment, p, &r->uniform[i],
		    &uniform[draw.nuniform]);
	draw.uniform = uniform;
	char *label = xasprintf("pass '%s' at frame %d", pass->name, s->moment.t);
	rc = worker_draw(s->worker, &draw, label, err);
	free(label);
	free(uniform);
	return rc;
}

static int draw_node(struct sweep *s, uint32_t node, struct err *err)
{
	struct take take[TAKE_MAX];
	size_t ntake = keys_takes(s->keys, node, take), target;
	int p = keys_node_pass(s->keys, node);
	struct pass_slots *ps = &s->pass[p];

	moment_set(&s->moment, keys_node_frame(s->keys, node));
	int rc = load_inputs(s, node, take, ntake, err);
	if (rc != 0)
		return rc;
	if (take_target(s, node, take, ntake, &target, err)) {
		s->fault = node;
		return -1;
	}
	for (size_t i = 0; i < ntake; i++)
		if (take[i].kind == TAKE_STORAGE && take_storage(s, node, &take[i], err))
			return -1;
	s->fault = node;
	if (send_draw(s, node, take, ntake, target, err))
		return -1;
	s->fault = NODE_NONE;
	hold_node(s, node, target);
	s->queue[(s->head + s->nqueue++) % DRAWS_MAX] = node;
	for (int k = 0; k < ps->noutput; k++)
		if (ps->desc[k].has_mips &&
		    worker_texture_mips(s->worker, ps->slot[target].texture[k], err))
			return -1;
	for (size_t i = 0; i < ntake; i++) {
		if (take[i].kind == TAKE_STORAGE) {
			if (s->plan->version[take[i].version].last_use == node)
				drop_version(s, take[i].version);
		} else if (take[i].node != NODE_NONE &&
		    s->plan->node[take[i].node].last_use == node) {
			drop_node(s, take[i].node);
		}
	}
	return 0;
}

/* Reads ------------------------------------------------------------------------- */

static size_t new_read(struct sweep *s, const struct sha256 *key, int index,
    uint32_t node)
{
	size_t i = 0;

	while (i < s->nread_slot && !s->read[i].is_free)
		i++;
	if (i == s->nread_slot) {
		s->read = xreallocarray(s->read, ++s->nread_slot, sizeof *s->read);
	}
	s->read[i] = (struct pending_read){ *key, index, node, 0 };
	s->nreading++;
	return i;
}

/* Reads back what is wanted of a node that was drawn: outputs, then buffers. */
static int read_node(struct sweep *s, uint32_t node, struct err *err)
{
	int p = keys_node_pass(s->keys, node), at = 0;
	struct pass_slots *ps = &s->pass[p];
	struct take take[TAKE_MAX];

	if (s->plan->node[node].is_wanted) {
		for (; at < ps->noutput; at++) {
			if (at < s->nread)
				continue;
			struct slab *slab =
			    worker_slab(s->worker, texture_bytes(&ps->desc[at]), err);
			if (!slab)
				return err->message ? -1 : STEP_BLOCKED;
			if (worker_texture_read(s->worker, slot_of(s, node)->texture[at],
				slab, new_read(s, &s->keys->key[node], at, node), err))
				return -1;
			s->nread = at + 1;
		}
		s->is_read[node] = 1;
	}
	size_t ntake = keys_takes(s->keys, node, take);
	for (size_t i = 0; i < ntake; i++) {
		if (take[i].kind != TAKE_STORAGE || !take[i].is_written)
			continue;
		uint32_t v = take[i].next_version;
		const struct plan_version *pv = &s->plan->version[v];
		if (at++ < s->nread)
			continue;
		if (pv->is_wanted && !s->is_version_read[v] &&
		    pv->action == ACTION_DRAW) {
			int storage = s->keys->version[v].storage;
			uint64_t size = s->scene->graph->storage_size[storage];
			struct slab *slab = worker_slab(s->worker, size, err);
			if (!slab)
				return err->message ? -1 : STEP_BLOCKED;
			if (worker_buffer_read(s->worker,
				s->buffer[s->buffer_of[v] - 1].buffer, slab, size,
				new_read(s, &s->keys->version[v].key, 0, node), err))
				return -1;
			s->is_version_read[v] = 1;
		}
		s->nread = at;
		if (!pv->is_used)
			drop_version(s, v);
	}
	if (!s->plan->node[node].is_used)
		drop_node(s, node);
	return 0;
}

/* The zeros before frame 0 are read by frame 0 alone. */
static void drop_zeros(struct sweep *s)
{
	for (size_t p = 0; p < s->scene->variant->manifest->npass; p++)
		if (s->pass[p].zero != 0) {
			s->pass[p].slot[s->pass[p].zero - 1].is_free = 1;
			s->pass[p].zero = 0;
		}
}

/* Checkpoints ------------------------------------------------------------------- */

static void save(struct sweep *s, const struct sha256 *key, int index, uint32_t node)
{
	s->saving = array_grow(s->saving, s->nsaving, &s->saving_cap, sizeof *s->saving);
	s->saving[s->nsaving++] = (struct pending_read){ *key, index, node, 0 };
}

static uint64_t list_slot(struct sweep *s, const struct pass_slots *ps,
    const struct slot *slot)
{
	uint64_t nbytes = 0;

	if (slot->is_free || slot->node == NODE_NONE || s->is_read[slot->node] ||
	    s->plan->node[slot->node].action != ACTION_DRAW)
		return 0;
	for (int i = 0; i < ps->noutput; i++) {
		save(s, &s->keys->key[slot->node], i, slot->node);
		nbytes += texture_bytes(&ps->desc[i]);
	}
	return nbytes;
}

/*
 * What is resident behind a frame is what later frames need: each texture and
 * buffer lives to its last use. Lists what of it is not in the store.
 */
static uint64_t list_live(struct sweep *s)
{
	const struct keys *k = s->keys;
	uint64_t nbytes = 0;

	s->nsaving = 0;
	for (size_t p = 0; p < s->scene->variant->manifest->npass; p++)
		for (size_t i = 0; i < s->pass[p].nslot; i++)
			nbytes += list_slot(s, &s->pass[p], &s->pass[p].slot[i]);
	for (size_t i = 0; i < s->nbuffer; i++) {
		const struct buffer_slot *b = &s->buffer[i];
		const struct version *version = &k->version[b->version];
		if (b->is_free || s->is_version_read[b->version] ||
		    version->writer == NODE_NONE ||
		    s->plan->version[b->version].action != ACTION_DRAW)
			continue;
		save(s, &version->key, -1 - (int)b->version, version->writer);
		nbytes += s->scene->graph->storage_size[b->storage];
	}
	return nbytes;
}

/* Issues the reads of a checkpoint, last first. Buffers have index -1 - v. */
static int save_live(struct sweep *s, struct err *err)
{
	while (s->nsaving > 0) {
		const struct pending_read r = s->saving[s->nsaving - 1];
		int p = keys_node_pass(s->keys, r.node);
		uint64_t n = r.index >= 0
		    ? texture_bytes(&s->pass[p].desc[r.index])
		    : s->scene->graph
			  ->storage_size[s->keys->version[-1 - r.index].storage];
		struct slab *slab = worker_slab(s->worker, n, err);
		if (!slab)
			return err->message ? -1 : STEP_BLOCKED;
		int rc = r.index >= 0
		    ? worker_texture_read(s->worker, slot_of(s, r.node)->texture[r.index],
			  slab, new_read(s, &r.key, r.index, r.node), err)
		    : worker_buffer_read(s->worker,
			  s->buffer[s->buffer_of[-1 - r.index] - 1].buffer, slab, n,
			  new_read(s, &r.key, 0, r.node), err);
		if (rc != 0)
			return -1;
		if (r.index >= 0)
			s->is_read[r.node] = 1;
		else
			s->is_version_read[-1 - r.index] = 1;
		s->nsaving--;
	}
	return 0;
}

/* Between two frames, once: asks, and lists what has to be read. */
static void end_frame(struct sweep *s)
{
	if (s->node == 0 || s->node == s->checkpointed)
		return;
	int done = keys_node_frame(s->keys, s->node - 1);
	if (keys_node_frame(s->keys, s->node) == done)
		return;
	s->checkpointed = s->node;
	if (done == 0)
		drop_zeros(s);
	uint64_t nbytes = list_live(s);
	if (nbytes > 0 && !s->hooks.checkpoint(s->hooks.data, done, nbytes))
		s->nsaving = 0;
}

/* Events ------------------------------------------------------------------------ */

static int handle_events(struct sweep *s, struct err *err)
{
	struct worker_event event;

	for (;;) {
		if (worker_event(s->worker, 0, &event, err))
			return -1;
		switch (event.kind) {
		case WORKER_NONE:
			return 0;
		case WORKER_DREW:
			s->head = (s->head + 1) % DRAWS_MAX;
			s->nqueue--;
			if (s->hooks.drew(s->hooks.data, (uint32_t)event.tag,
				event.gpu_ns, err))
				return -1;
			break;
		case WORKER_READ: {
			struct pending_read *read = &s->read[event.tag];
			read->is_free = 1;
			s->nreading--;
			if (s->hooks.take(s->hooks.data, &read->key, read->index,
				read->node, event.slab, err))
				return -1;
			break;
		}
		case WORKER_UPLOADED:
			worker_slab_put(s->worker, event.slab);
			break;
		}
	}
}

static int advance(struct sweep *s, struct err *err)
{
	while (s->node < s->plan->end && (!s->is_stopping || s->is_drawn)) {
		const struct plan_node *n = &s->plan->node[s->node];
		end_frame(s);
		int rc = save_live(s, err);
		if (rc != 0)
			return rc;
		if (n->action == ACTION_DRAW && !n->is_failed) {
			if (!s->is_drawn) {
				if (s->nqueue == DRAWS_MAX)
					return STEP_BLOCKED;
				rc = draw_node(s, s->node, err);
				if (rc != 0)
					return rc;
				s->is_drawn = 1;
				s->nread = 0;
			}
			rc = read_node(s, s->node, err);
			if (rc != 0)
				return rc;
			if (n->is_wanted && !s->is_stopping &&
			    !s->hooks.has_all_aliases(s->hooks.data, s->node))
				return STEP_BLOCKED;
		}
		s->is_drawn = 0;
		s->node++;
	}
	if (!s->is_stopping)
		return 0;
	/* What is drawn and still needed must not be drawn again. */
	if (!s->is_listed && s->nsaving == 0)
		list_live(s);
	s->is_listed = 1;
	return save_live(s, err);
}

void sweep_stop(struct sweep *s)
{
	s->is_stopping = 1;
}

/*
 * Finds what a dead worker was at: the oldest draw that it did not report, or
 * the oldest that was not read back. What it did report is taken first. Else
 * the fault stays what was being sent, as a program that was compiled for it.
 */
static void find_fault(struct sweep *s)
{
	struct err late = ERR_INIT;

	while (handle_events(s, &late) == 0)
		;
	err_release(&late);
	if (s->nqueue > 0) {
		s->fault = s->queue[s->head];
		return;
	}
	if (s->fault != NODE_NONE)
		return;
	for (size_t i = 0; i < s->nread_slot; i++)
		if (!s->read[i].is_free &&
		    (s->fault == NODE_NONE || s->read[i].node < s->fault))
			s->fault = s->read[i].node;
}

enum sweep_state sweep_step(struct sweep *s, struct err *err)
{
	if (s->ended != SWEEP_BUSY)
		return s->ended;
	int rc = handle_events(s, err);
	if (rc == 0)
		rc = advance(s, err);
	if (rc == STEP_MISS) {
		/* Events of this sweep must not reach the next one. */
		s->ending = SWEEP_MISS;
		s->is_stopping = 1;
		rc = advance(s, err);
	}
	if (rc >= 0 && worker_flush(s->worker, err))
		rc = -1;
	if (rc < 0 && worker_is_dead(s->worker)) {
		find_fault(s);
		return s->ended = SWEEP_FAILED;
	}
	if (rc < 0) {
		/* Nor those of one that fails while the worker lives. */
		if (s->ending != SWEEP_FAILED)
			err_move(&s->cause, err);
		err_release(err);
		s->ending = SWEEP_FAILED;
		s->is_stopping = s->is_listed = 1;
		s->is_drawn = 0;
		s->nsaving = 0;
		rc = 0;
	}
	if (rc != 0 || s->nqueue > 0 || s->nreading > 0)
		return SWEEP_BUSY;
	err_move(err, &s->cause);
	return s->ended = s->ending;
}

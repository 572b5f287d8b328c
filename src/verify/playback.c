#include "verify/playback.h"

#include <stdlib.h>
#include <string.h>

#include "glsl/shader.h"
#include "render/upload.h"
#include "util/mem.h"
#include "util/proc.h"

/* One of a pass's targets, with all its outputs. */
struct target {
	uint32_t texture[1 + LIMIT_EXTRA_OUTPUTS];
	int is_allocated;   /* something was drawn there, or it is a cubemap */
	unsigned has_chain; /* bit k: mips of output k were made once */
};

struct channel {
	const struct input_ref *in;
	uint32_t texture; /* of an asset, the keyboard, music; 0: a pass */
	unsigned nbound;  /* how often it was bound: pairs are swapped each time */
};

struct stage { /* a pass */
	int is_drawn;
	uint32_t program;
	struct reflection reflection;
	struct target target[2]; /* the second where it has a pair */
	int is_pair;
	unsigned ndrawn;         /* targets are swapped each time */
	struct channel *channel; /* an input each */
	void *output;            /* read back */
};

struct playback {
	struct playback_env env;
	const struct manifest *m;
	struct stage *stage;
	int *order;
	size_t norder;
	struct moment moment;
	uint32_t next_id;
	uint32_t *asset;  /* textures, 0 not loaded */
	uint32_t *buffer; /* a storage name of the graph each, 0 none */
	void **storage;   /* read back */
	int has_error;    /* GL's, that nobody has asked for yet */
};

/* Order ------------------------------------------------------------------------ */

/* Depth-first over inputs; what is read at the previous frame waits its turn. */
static void visit(struct playback *pb, int p, int *later, size_t *nlater, int *is_seen)
{
	const struct pass *pass = &pb->m->pass[p];

	if (is_seen[p])
		return;
	is_seen[p] = 1;
	for (size_t i = 0; i < pass->ninput; i++) {
		int q = pass->input[i].pass;
		if (pass->input[i].kind != INPUT_PASS)
			continue;
		if (!pass->input[i].is_previous)
			visit(pb, q, later, nlater, is_seen);
		else if (!pb->stage[q].is_pair)
			later[(*nlater)++] = q;
		if (pass->input[i].is_previous)
			pb->stage[q].is_pair = 1;
	}
	pb->stage[p].is_drawn = 1;
	pb->order[pb->norder++] = p;
}

static void find_order(struct playback *pb)
{
	size_t n = pb->m->npass, nlater = 0;
	int *later = xcalloc(n + 1, sizeof *later);
	int *is_seen = xcalloc(n + 1, sizeof *is_seen);

	pb->order = xcalloc(n + 1, sizeof *pb->order);
	visit(pb, pb->m->image, later, &nlater, is_seen);
	for (size_t i = 0; i < nlater; i++)
		visit(pb, later[i], later, &nlater, is_seen);
	free(later);
	free(is_seen);
}

/* Making ----------------------------------------------------------------------- */

static int collect(struct playback *pb, struct err *err)
{
	struct worker_event e;

	do {
		if (worker_event(pb->env.worker, 1, &e, err))
			return -1;
		if (e.kind == WORKER_UPLOADED)
			worker_slab_put(pb->env.worker, e.slab);
		if (proc_signal() != 0)
			return err_set(err, STATUS_FAILED, "interrupted");
	} while (e.kind != WORKER_NONE);
	return 0;
}

static int compile(struct playback *pb, int p, struct err *err)
{
	const struct pass *pass = &pb->m->pass[p];
	struct stage *s = &pb->stage[p];
	struct source source = { 0 };
	struct shader shader = { 0 };
	struct compile_result result = { 0 };
	char *label = xasprintf("pass '%s'", pass->name);
	/* The document's sources are whole: they include nothing. */
	struct source_request request = { .path = pass->source };
	int rc = source_expand(pb->env.tree, &request, NULL, &source, err);

	if (rc == 0) {
		shader_plain(pb->env.scene->variant, p, &source, &shader);
		s->program = (uint32_t)p + 1;
		rc = worker_compile(pb->env.worker, s->program, label, shader.vertex,
		    shader.stage, &result, err);
	}
	if (rc == 0 && !result.ok) {
		shader_log(pb->m, p, &source, &shader, result.log ? result.log : "", err);
		rc = -1;
	} else if (rc == 0) {
		s->reflection = result.reflection;
		memset(&result.reflection, 0, sizeof result.reflection);
	}
	compile_result_release(&result);
	shader_release(&shader);
	source_release(&source);
	free(label);
	return rc;
}

static int make_targets(struct playback *pb, int p, struct err *err)
{
	const struct pass *pass = &pb->m->pass[p];
	struct stage *s = &pb->stage[p];
	struct texture_desc desc = { .kind = TEXTURE_2D, .depth = 1 };

	if (pass->kind == PASS_CUBEMAP)
		desc.kind = TEXTURE_CUBE;
	target_size(pb->env.scene->variant, p, &desc.width, &desc.height);
	for (int half = 0; half <= s->is_pair; half++) {
		s->target[half].is_allocated = pass->kind == PASS_CUBEMAP;
		for (int k = 0; k <= pass->nextra_output; k++) {
			desc.texel = (enum texel)pass_format(pass, k);
			desc.has_mips = pb->env.scene->graph->mips[p] >> k & 1;
			s->target[half].texture[k] = ++pb->next_id;
			if (worker_texture_new(pb->env.worker, pb->next_id, &desc, err))
				return -1;
		}
	}
	return 0;
}

static int load_texture(struct playback *pb, const struct input_ref *in, uint32_t id,
    struct err *err)
{
	const struct variant *v = pb->env.scene->variant;
	struct worker *w = pb->env.worker;
	uint8_t texel[2 * 512 * 4];

	if (in->asset >= 0)
		return upload_image(w, id, &pb->m->asset[in->asset],
		    &pb->env.image[in->asset], err);
	if (in->kind == INPUT_KEYBOARD) {
		keyboard_texels(v, 0, texel);
		return upload_texels(w, id, 1, 256, 3, texel, err);
	}
	music_texels(v, texel);
	return upload_texels(w, id, 1, 512, 2, texel, err);
}

/* Textures that are not drawn: one an asset, keyboard and music one a reader. */
static int make_channels(struct playback *pb, int p, struct err *err)
{
	const struct pass *pass = &pb->m->pass[p];
	struct stage *s = &pb->stage[p];

	s->channel = xcalloc(pass->ninput + 1, sizeof *s->channel);
	for (size_t i = 0; i < pass->ninput; i++) {
		const struct input_ref *in = &pass->input[i];
		uint32_t *id =
		    in->asset >= 0 ? &pb->asset[in->asset] : &s->channel[i].texture;
		int rc = UPLOAD_BLOCKED;
		s->channel[i].in = in;
		if (in->kind == INPUT_PASS)
			continue;
		while (*id == 0 && rc == UPLOAD_BLOCKED) {
			rc = load_texture(pb, in, pb->next_id + 1, err);
			if (rc < 0 || (rc > 0 && collect(pb, err)))
				return -1;
		}
		if (*id == 0)
			*id = ++pb->next_id;
		s->channel[i].texture = *id;
	}
	return 0;
}

static int make_storage(struct playback *pb, int p, struct err *err)
{
	const struct graph *g = pb->env.scene->graph;
	const struct pass *pass = &pb->m->pass[p];

	for (size_t i = 0; i < pass->nstorage; i++) {
		int s = graph_storage(g, pass->storage[i].name);
		if (pb->buffer[s] != 0)
			continue;
		pb->buffer[s] = (uint32_t)s + 1;
		if (worker_buffer_new(pb->env.worker, pb->buffer[s], g->storage_size[s],
			err))
			return -1;
	}
	return 0;
}

/* Drawing ---------------------------------------------------------------------- */

/* Which target the n-th use gets, from 0: the second comes first. */
static struct target *half(struct stage *s, unsigned n)
{
	return &s->target[s->is_pair ? (n + 1) % 2 : 0];
}

/*
 * Binds an input as the CLI does: a pair is swapped, a chain is made anew, and
 * in fragment passes an error that GL has kept costs the sampler.
 */
static int bind_channel(struct playback *pb, struct channel *c, int is_compute,
    struct draw_input *out, struct err *err)
{
	const struct input_ref *in = c->in;
	unsigned chain = 1;
	struct target *from = NULL;

	out->channel = in->channel;
	out->kind = input_texture_kind(pb->m, in);
	out->filter = in->filter;
	out->wrap = in->wrap;
	out->texture = c->texture;
	if (in->kind == INPUT_PASS) {
		struct stage *source = &pb->stage[in->pass];
		/* The reader of the previous frame begins with the other one. */
		from = half(source, c->nbound++ + (unsigned)in->is_previous);
		out->texture = from->is_allocated ? from->texture[in->output] : 0;
		chain = from->has_chain >> in->output & 1;
	}
	if (pb->has_error && !is_compute) {
		pb->has_error = 0;
		out->has_no_sampler = 1;
		/* Without a chain the defaults make it incomplete. */
		if (!chain || in->kind == INPUT_KEYBOARD || in->kind == INPUT_MUSIC)
			out->texture = 0;
		return 0;
	}
	if (in->filter != FILTER_MIPMAP || !from)
		return 0;
	if (!from->is_allocated) {
		pb->has_error = 1;
		return 0;
	}
	from->has_chain |= 1u << in->output;
	return worker_texture_mips(pb->env.worker, out->texture, err);
}

static size_t fill_storage(struct playback *pb, int p, struct draw_storage *out)
{
	const struct graph *g = pb->env.scene->graph;
	const struct pass *pass = &pb->m->pass[p];

	for (size_t i = 0; i < pass->nstorage; i++) {
		int s = graph_storage(g, pass->storage[i].name);
		out[i] = (struct draw_storage){ pass->storage[i].binding, pb->buffer[s],
			g->storage_size[s] };
	}
	return pass->nstorage;
}

static int send(struct playback *pb, int p, struct draw *draw, struct err *err)
{
	const struct pass *pass = &pb->m->pass[p];
	struct stage *s = &pb->stage[p];
	const struct reflection *r = &s->reflection;

	draw->ninput = 0;
	for (size_t i = 0; i < pass->ninput; i++) {
		struct draw_input *in = &draw->input[draw->ninput];
		if (!channel_is_active(r, pass->input[i].channel))
			continue;
		memset(in, 0, sizeof *in);
		if (bind_channel(pb, &s->channel[i], draw->is_compute, in, err))
			return -1;
		draw->ninput++;
	}
	char *label = xasprintf("pass '%s' at frame %d", pass->name, pb->moment.t);
	int rc = worker_draw(pb->env.worker, draw, label, err);
	free(label);
	return rc;
}

static int draw_pass(struct playback *pb, int p, struct err *err)
{
	const struct variant *v = pb->env.scene->variant;
	const struct pass *pass = &pb->m->pass[p];
	struct stage *s = &pb->stage[p];
	struct target *to = half(s, s->ndrawn++);
	struct draw_storage storage[LIMIT_STORAGE_NAMES];
	struct draw draw = { .tag = (uint64_t)p,
		.program = s->program,
		.is_compute = pass->kind == PASS_COMPUTE,
		.is_cube = pass->kind == PASS_CUBEMAP,
		.ntarget = 1 + pass->nextra_output,
		.is_edged = 1,
		.is_fan = 1,
		.may_loop = 1,
		.iterations = v->pass[p].iterations,
		.storage = storage };
	struct draw_uniform *uniform =
	    xcalloc(s->reflection.nuniform + 1, sizeof *uniform);
	int rc = 0;

	target_size(v, p, &draw.width, &draw.height);
	memcpy(draw.target, to->texture, sizeof draw.target);
	for (int i = 0; draw.is_compute && i < 2; i++) {
		int local = v->pass[p].local_size[i];
		draw.groups[i] = ((i ? draw.height : draw.width) + local - 1) / local;
	}
	draw.nstorage = fill_storage(pb, p, storage);
	for (size_t i = 0; i < s->reflection.nuniform; i++)
		draw.nuniform += (size_t)uniform_value(&pb->moment, p,
		    &s->reflection.uniform[i], &uniform[draw.nuniform]);
	draw.uniform = uniform;
	to->is_allocated = 1;
	if (pass->kind == PASS_IMAGE)
		rc = worker_texture_clear(pb->env.worker, to->texture[0], err);
	for (int face = draw.is_cube; face <= 6 * draw.is_cube && rc == 0; face++) {
		draw.face = face;
		rc = send(pb, p, &draw, err);
	}
	free(uniform);
	return rc;
}

/* Reading ---------------------------------------------------------------------- */

/* What is read comes as it is asked for: one after the other. */
static int take_read(struct playback *pb, struct slab *slab, size_t n, void **out,
    struct err *err)
{
	struct worker_event e;

	do {
		if (worker_event(pb->env.worker, 1, &e, err))
			return -1;
		if (e.kind == WORKER_NONE)
			return err_set(err, STATUS_FAILED, "interrupted");
		if (e.kind == WORKER_UPLOADED)
			worker_slab_put(pb->env.worker, e.slab);
	} while (e.kind != WORKER_READ);
	*out = xmemdup(slab->data, n);
	worker_slab_put(pb->env.worker, slab);
	return 0;
}

static int read_all(struct playback *pb, struct err *err)
{
	const struct graph *g = pb->env.scene->graph;
	struct worker *w = pb->env.worker;

	for (size_t i = 0; i < pb->norder; i++) {
		int p = pb->order[i], width, height;
		struct stage *s = &pb->stage[p];
		if (pb->m->pass[p].kind == PASS_CUBEMAP)
			continue;
		target_size(pb->env.scene->variant, p, &width, &height);
		size_t n =
		    (size_t)width * (size_t)height * format_bytes(pb->m->pass[p].format);
		struct slab *slab = worker_slab(w, n, err);
		if (!slab ||
		    worker_texture_read(w, half(s, s->ndrawn - 1)->texture[0], slab, 0,
			err) ||
		    take_read(pb, slab, n, &s->output, err))
			return -1;
	}
	for (size_t i = 0; i < g->nstorage; i++) {
		if (pb->buffer[i] == 0)
			continue;
		struct slab *slab = worker_slab(w, g->storage_size[i], err);
		if (!slab ||
		    worker_buffer_read(w, pb->buffer[i], slab, g->storage_size[i], 0,
			err) ||
		    take_read(pb, slab, g->storage_size[i], &pb->storage[i], err))
			return -1;
	}
	return 0;
}

int playback_run(const struct playback_env *env, int frame, struct playback **out,
    struct err *err)
{
	struct playback *pb = xcalloc(1, sizeof *pb);
	const struct manifest *m = env->scene->variant->manifest;

	*out = pb;
	*pb = (struct playback){ .env = *env, .m = m };
	pb->stage = xcalloc(m->npass, sizeof *pb->stage);
	pb->asset = xcalloc(m->nasset + 1, sizeof *pb->asset);
	pb->buffer = xcalloc(env->scene->graph->nstorage + 1, sizeof *pb->buffer);
	pb->storage = xcalloc(env->scene->graph->nstorage + 1, sizeof *pb->storage);
	moment_init(&pb->moment, env->scene);
	find_order(pb);
	for (size_t i = 0; i < pb->norder; i++) {
		int p = pb->order[i];
		if (compile(pb, p, err) || make_targets(pb, p, err) ||
		    make_channels(pb, p, err) || make_storage(pb, p, err))
			return -1;
	}
	for (int t = 0; t <= frame; t++) {
		moment_set(&pb->moment, t);
		for (size_t i = 0; i < pb->norder; i++)
			if (draw_pass(pb, pb->order[i], err))
				return -1;
		if (collect(pb, err))
			return -1;
		if (env->progress)
			env->progress(env->data, (uint64_t)t + 1, (uint64_t)frame + 1);
	}
	return read_all(pb, err);
}

void playback_free(struct playback *pb)
{
	if (!pb)
		return;
	for (size_t p = 0; p < pb->m->npass; p++) {
		free(pb->stage[p].channel);
		free(pb->stage[p].output);
		reflection_release(&pb->stage[p].reflection);
	}
	for (size_t i = 0; i < pb->env.scene->graph->nstorage; i++)
		free(pb->storage[i]);
	moment_release(&pb->moment);
	free(pb->stage);
	free(pb->order);
	free(pb->asset);
	free(pb->buffer);
	free(pb->storage);
	free(pb);
}

int playback_is_drawn(const struct playback *pb, int p)
{
	return pb->stage[p].is_drawn;
}

const void *playback_output(const struct playback *pb, int p)
{
	return pb->stage[p].output;
}

const void *playback_storage(const struct playback *pb, const char *name, size_t *n)
{
	int s = graph_storage(pb->env.scene->graph, name);

	if (s < 0 || !pb->storage[s])
		return NULL;
	*n = (size_t)pb->env.scene->graph->storage_size[s];
	return pb->storage[s];
}

int playback_uses(const struct playback *pb, const char *uniform)
{
	for (size_t p = 0; p < pb->m->npass; p++)
		if (pb->stage[p].is_drawn &&
		    reflection_uniform(&pb->stage[p].reflection, uniform))
			return 1;
	return 0;
}

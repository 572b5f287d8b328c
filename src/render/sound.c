#include "render/sound.h"

#include <stdlib.h>
#include <string.h>

#include "glsl/shader.h"
#include "render/upload.h"
#include "util/mem.h"
#include "util/proc.h"

#define CHUNKS_AHEAD 2 /* drawn while the parent works on earlier ones */
#define TARGET 1       /* id of the texture; the channels' come behind it */

struct drawing {
	struct worker *worker;
	const struct sound *sound;
	const struct sound_hooks *hooks;
	const struct pass *pass;
	int nflying;                      /* chunks sent and not taken */
	uint32_t texture[LIMIT_CHANNELS]; /* 0: none */
	uint64_t gpu_ns;
};

static int chunk_samples(const struct sound *s, int chunk)
{
	int left = s->nsample - chunk * SOUND_CHUNK;

	return left < SOUND_CHUNK ? left : SOUND_CHUNK;
}

/* Waits for one event. 1, 0 when none will come (or a signal has), -1. */
static int take_event(struct drawing *d, struct err *err)
{
	struct worker_event event;
	int rc = 0;

	if (worker_event(d->worker, 1, &event, err))
		return -1;
	switch (event.kind) {
	case WORKER_NONE:
		return 0;
	case WORKER_DREW:
		d->gpu_ns += event.gpu_ns;
		return 1;
	case WORKER_READ:
		if (d->nflying > 0) {
			int chunk = (int)event.tag;
			d->nflying--;
			rc = d->hooks->take(d->hooks->data, chunk, event.slab->data,
			    (size_t)chunk_samples(d->sound, chunk), err);
		}
		break;
	case WORKER_UPLOADED:
		break;
	}
	worker_slab_put(d->worker, event.slab);
	return rc == 0 ? 1 : -1;
}

/* Until nothing is outstanding. */
static int drain(struct drawing *d, struct err *err)
{
	int rc;

	do
		rc = take_event(d, err);
	while (rc > 0);
	return rc;
}

/* One channel's texture: 0, UPLOAD_BLOCKED, -1. */
static int load_channel(struct drawing *d, const struct input_ref *in, uint32_t id,
    struct err *err)
{
	const struct variant *v = d->sound->scene->variant;
	const struct image *image;
	uint8_t texel[3 * 256 * 4 + 2 * 512 * 4];

	switch (in->kind) {
	case INPUT_TEXTURE:
	case INPUT_CUBEMAP:
	case INPUT_VOLUME:
		if (d->hooks->image(d->hooks->data, in->asset, &image, err))
			return -1;
		return upload_image(d->worker, id, &v->manifest->asset[in->asset], image,
		    err);
	case INPUT_KEYBOARD:
		keyboard_texels(v, 0, texel);
		return upload_texels(d->worker, id, 1, 256, 3, texel, err);
	case INPUT_MUSIC:
		music_texels(v, texel);
		return upload_texels(d->worker, id, 1, 512, 2, texel, err);
	case INPUT_PASS:
	case INPUT_VIDEO:
	case INPUT_WEBCAM:
		break;
	}
	BUG("a sound pass reads a %s", input_kind_name(in->kind));
}

static int load_channels(struct drawing *d, struct err *err)
{
	for (int c = 0; c < LIMIT_CHANNELS; c++) {
		const struct input_ref *in = pass_channel(d->pass, c);
		uint32_t id = TARGET + 1 + (uint32_t)c;
		int rc;
		if (!in || !channel_is_active(d->sound->reflection, c))
			continue;
		while ((rc = load_channel(d, in, id, err)) == UPLOAD_BLOCKED)
			if ((rc = take_event(d, err)) <= 0)
				return rc;
		if (rc < 0)
			return -1;
		d->texture[c] = id;
	}
	return 0;
}

/* Sends a chunk's draw and its read. 0 as well when a signal came between. */
static int send_chunk(struct drawing *d, int chunk, struct err *err)
{
	const struct sound *s = d->sound;
	const struct reflection *r = s->reflection;
	int first = chunk * SOUND_CHUNK, n = chunk_samples(s, chunk), rc;
	struct draw draw = { .tag = (uint64_t)chunk,
		.program = s->program,
		.width = SOUND_WIDTH,
		.height = (n + SOUND_WIDTH - 1) / SOUND_WIDTH,
		.target = { TARGET },
		.ntarget = 1,
		.iterations = 1 };
	struct slab *slab;
	struct moment moment;

	while (!(slab = worker_slab(d->worker, SOUND_CHUNK * 2 * sizeof(float), err)))
		if (err->message || (rc = take_event(d, err)) < 0)
			return -1;
		else if (rc == 0)
			return 0;
	for (int c = 0; c < LIMIT_CHANNELS; c++) {
		const struct input_ref *in = pass_channel(d->pass, c);
		if (!channel_is_active(r, c))
			continue;
		struct draw_input *input = &draw.input[draw.ninput++];
		input->channel = c;
		if (!in)
			continue;
		input->texture = d->texture[c];
		input->kind = input_texture_kind(s->scene->variant->manifest, in);
		input->filter = in->filter;
		input->wrap = in->wrap;
	}
	struct draw_uniform *uniform = xcalloc(r->nuniform + 2, sizeof *uniform);
	moment_init(&moment, s->scene);
	for (size_t i = 0; i < r->nuniform; i++)
		draw.nuniform += (size_t)uniform_value(&moment, s->pass, &r->uniform[i],
		    &uniform[draw.nuniform]);
	moment_release(&moment);
	uniform[draw.nuniform++] = (struct draw_uniform){ .name = SHADER_SAMPLE,
		.type = GL_T_INT,
		.count = 1,
		.i = { first } };
	uniform[draw.nuniform++] = (struct draw_uniform){ .name = SHADER_WIDTH,
		.type = GL_T_INT,
		.count = 1,
		.i = { SOUND_WIDTH } };
	draw.uniform = uniform;
	char *label = xasprintf("pass '%s' at sample %d", d->pass->name, first);
	rc = worker_draw(d->worker, &draw, label, err);
	free(label);
	free(uniform);
	if (rc == 0)
		rc = worker_texture_read(d->worker, TARGET, slab, (uint64_t)chunk, err);
	d->nflying++;
	return rc;
}

static int free_textures(struct drawing *d, struct err *err)
{
	if (worker_texture_free(d->worker, TARGET, err))
		return -1;
	for (int c = 0; c < LIMIT_CHANNELS; c++)
		if (d->texture[c] != 0 &&
		    worker_texture_free(d->worker, d->texture[c], err))
			return -1;
	return worker_flush(d->worker, err);
}

int sound_draw(struct worker *w, const struct sound *sound, const int *chunk,
    size_t nchunk, const struct sound_hooks *hooks, uint64_t *gpu_ns, struct err *err)
{
	struct drawing d = { .worker = w,
		.sound = sound,
		.hooks = hooks,
		.pass = &sound->scene->variant->manifest->pass[sound->pass] };
	struct texture_desc desc = { .kind = TEXTURE_2D,
		.width = SOUND_WIDTH,
		.height = SOUND_CHUNK / SOUND_WIDTH,
		.depth = 1,
		.texel = TEXEL_RG32F };

	if (drain(&d, err) || worker_texture_new(w, TARGET, &desc, err) ||
	    load_channels(&d, err))
		return -1;
	d.gpu_ns = 0;
	for (size_t i = 0; i < nchunk && proc_signal() == 0; i++) {
		while (d.nflying >= CHUNKS_AHEAD) {
			int rc = take_event(&d, err);
			if (rc < 0)
				return -1;
			if (rc == 0)
				break;
		}
		if (proc_signal() == 0 && send_chunk(&d, chunk[i], err))
			return -1;
	}
	if (drain(&d, err) || free_textures(&d, err))
		return -1;
	*gpu_ns = d.gpu_ns;
	return 0;
}

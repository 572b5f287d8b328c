#include "graph/builtin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/limits.h"
#include "util/mem.h"

#define CUBE_SIZE 1024 /* of a cubemap pass's faces, as on the site */

void moment_init(struct moment *m, const struct scene *scene)
{
	memset(m, 0, sizeof *m);
	m->scene = scene;
	m->value = xcalloc(scene->variant->manifest->nuniform + 1, sizeof *m->value);
	m->t = -1;
	moment_set(m, 0);
}

/* The ancestor holds fps as a float, too. */
static float frame_step(const struct scene *scene)
{
	if (rules_have(scene->rules, RULE_SUMMED_TIME))
		return 1 / (float)scene->variant->fps;
	return (float)(1 / scene->variant->fps);
}

/* The ancestor adds 1/fps in float at each step from frame 0. */
static float running_time(const struct moment *m, int t)
{
	float step = frame_step(m->scene);
	float time = t > m->t && m->t >= 0 ? m->time : 0;

	for (int i = t > m->t && m->t >= 0 ? m->t : 0; i < t; i++)
		time += step;
	return time;
}

/* Year, month from 1, day, whole seconds of the day. */
static void local_date(double seconds, float out[4])
{
	time_t whole = (time_t)floor(seconds);
	struct tm tm = { 0 };

	localtime_r(&whole, &tm);
	out[0] = (float)(tm.tm_year + 1900);
	out[1] = (float)(tm.tm_mon + 1);
	out[2] = (float)tm.tm_mday;
	out[3] = (float)(tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec);
}

void moment_set(struct moment *m, int t)
{
	const struct variant *v = m->scene->variant;

	if (t == m->t)
		return;
	if (rules_have(m->scene->rules, RULE_SUMMED_TIME))
		m->time = running_time(m, t);
	else
		m->time = (float)((double)t / v->fps);
	m->t = t;
	variant_values(v, t, m->value);
	variant_mouse(v, t, m->mouse);
	if (rules_have(m->scene->rules, RULE_RELEASED_MOUSE))
		memcpy(m->mouse, (float[4]){ 0, 0, -1, -1 }, sizeof m->mouse);
	if (rules_have(m->scene->rules, RULE_LOCAL_DATE))
		local_date(m->scene->start + (double)m->time, m->date);
	else
		variant_date(v, t, m->date);
}

void moment_release(struct moment *m)
{
	free(m->value);
	memset(m, 0, sizeof *m);
}

void target_size(const struct variant *v, int p, int *width, int *height)
{
	int is_cube = v->manifest->pass[p].kind == PASS_CUBEMAP;

	*width = is_cube ? CUBE_SIZE : v->pass[p].width;
	*height = is_cube ? CUBE_SIZE : v->pass[p].height;
}

const struct input_ref *pass_channel(const struct pass *pass, int channel)
{
	for (size_t i = 0; i < pass->ninput; i++)
		if (pass->input[i].channel == channel)
			return &pass->input[i];
	return NULL;
}

unsigned channels_active(const struct reflection *r)
{
	unsigned channels = 0;

	/* "iChannel12", or "iCh2.sampler" */
	for (size_t i = 0; i < r->nuniform; i++) {
		const char *name = r->uniform[i].name, *end = ".sampler";
		unsigned n = 0;
		if (strncmp(name, "iCh", 3) != 0)
			continue;
		name += 3;
		if (strncmp(name, "annel", 5) == 0) {
			name += 5;
			end = "";
		}
		if (*name < '0' || *name > '9')
			continue;
		for (; *name >= '0' && *name <= '9' && n < LIMIT_CHANNELS; name++)
			n = 10 * n + (unsigned)(*name - '0');
		if (n < LIMIT_CHANNELS && strcmp(name, end) == 0)
			channels |= 1u << n;
	}
	return channels;
}

int channel_is_active(const struct reflection *r, int channel)
{
	return channels_active(r) >> channel & 1;
}

/* iChannelResolution[channel]: 0, 0, 0 where unbound or a static cubemap. */
static void channel_resolution(const struct scene *scene, int p, int channel,
    float out[3])
{
	const struct manifest *m = scene->variant->manifest;
	const struct input_ref *in = pass_channel(&m->pass[p], channel);
	int w = 0, h = 0, d = 0;

	if (in)
		switch (in->kind) {
		case INPUT_PASS:
			target_size(scene->variant, in->pass, &w, &h);
			d = 1;
			break;
		case INPUT_TEXTURE:
		case INPUT_VOLUME:
			w = scene->asset[in->asset].size[0];
			h = scene->asset[in->asset].size[1];
			d = scene->asset[in->asset].size[2];
			break;
		case INPUT_KEYBOARD:
			w = 256, h = 3, d = 1;
			break;
		case INPUT_MUSIC:
			w = 512, h = 2, d = 1;
			break;
		case INPUT_CUBEMAP:
			if (rules_have(scene->rules, RULE_CUBEMAP_SIZES)) {
				w = scene->asset[in->asset].size[0];
				h = scene->asset[in->asset].size[1];
				d = 1;
			}
			break;
		case INPUT_VIDEO:
		case INPUT_WEBCAM:
			break;
		}
	out[0] = (float)w;
	out[1] = (float)h;
	out[2] = (float)d;
}

static void value_resolution(const struct moment *m, int p, struct draw_uniform *out)
{
	int w, h;

	target_size(m->scene->variant, p, &w, &h);
	out->f[0] = (float)w;
	out->f[1] = (float)h;
	out->f[2] = !rules_have(m->scene->rules, RULE_FLAT_RESOLUTION);
}

static void value_time(const struct moment *m, int p, struct draw_uniform *out)
{
	(void)p;
	out->f[0] = m->time;
}

static void value_time_delta(const struct moment *m, int p, struct draw_uniform *out)
{
	(void)p;
	if (m->t > 0 || !rules_have(m->scene->rules, RULE_NO_FIRST_DELTA))
		out->f[0] = frame_step(m->scene);
}

static void value_frame_rate(const struct moment *m, int p, struct draw_uniform *out)
{
	(void)p;
	if (m->t > 0 || !rules_have(m->scene->rules, RULE_NO_FIRST_DELTA))
		out->f[0] = (float)m->scene->variant->fps;
}

static void value_frame(const struct moment *m, int p, struct draw_uniform *out)
{
	(void)p;
	if (out->type == GL_T_INT)
		out->i[0] = m->t;
	else
		out->f[0] = (float)m->t;
}

static void value_mouse(const struct moment *m, int p, struct draw_uniform *out)
{
	(void)p;
	memcpy(out->f, m->mouse, sizeof m->mouse);
}

static void value_date(const struct moment *m, int p, struct draw_uniform *out)
{
	(void)p;
	memcpy(out->f, m->date, sizeof m->date);
}

static void value_sample_rate(const struct moment *m, int p, struct draw_uniform *out)
{
	(void)m;
	(void)p;
	out->f[0] = SOUND_RATE;
}

/*
 * A sound's clock runs, heard or not: shaders use it as theirs. The ancestor's
 * ran wherever something was bound.
 */
static float channel_time(const struct moment *m, int p, int channel)
{
	const struct pass *pass = &m->scene->variant->manifest->pass[p];
	const struct input_ref *in = pass_channel(pass, channel);
	int is_running = in &&
	    (in->kind == INPUT_MUSIC ||
		rules_have(m->scene->rules, RULE_ALL_CHANNEL_TIMES));

	return is_running ? m->time : 0;
}

static void value_channel_time(const struct moment *m, int p, struct draw_uniform *out)
{
	for (int c = 0; c < out->count; c++)
		out->f[c] = channel_time(m, p, c);
}

static void value_channel_resolution(const struct moment *m, int p,
    struct draw_uniform *out)
{
	for (int c = 0; c < out->count; c++)
		channel_resolution(m->scene, p, c, &out->f[3 * c]);
}

/* The synthetic silence: all zero ... */
static void value_music(const struct moment *m, int p, struct draw_uniform *out)
{
	(void)m;
	(void)p;
	memset(out->f, 0, sizeof out->f);
}

/* ... but iAudioSilence, the second of (available, silence, sample rate). */
static void value_music_meta(const struct moment *m, int p, struct draw_uniform *out)
{
	value_music(m, p, out);
	out->f[1] = 1;
}

static const struct {
	const char *name;
	void (*value)(const struct moment *m, int p, struct draw_uniform *out);
	enum reason_kind reason;
} builtin[] = {
#define UNIFORM(name, type, is_array, function, why) { #name, function, REASON_##why },
#define AUDIO(name, function) { #name, function, REASON_UNIFORM },
#include "glsl/uniform.def"
#undef UNIFORM
#undef AUDIO
};

/* iCh0..3 (essl): the site's struct of a channel. 1 when name is one. */
static int channel_member(const struct moment *m, int p, const char *name,
    struct draw_uniform *out)
{
	const struct manifest *mf = m->scene->variant->manifest;

	if (strncmp(name, "iCh", 3) != 0 || name[3] < '0' || name[3] > '3' ||
	    name[4] != '.')
		return 0;
	int c = name[3] - '0';
	const struct input_ref *in = pass_channel(&mf->pass[p], c);
	if (strcmp(name + 5, "size") == 0)
		channel_resolution(m->scene, p, c, out->f);
	else if (strcmp(name + 5, "time") == 0)
		out->f[0] = channel_time(m, p, c);
	else if (strcmp(name + 5, "loaded") == 0)
		out->i[0] = in != NULL;
	else
		return 0;
	return 1;
}

enum reason_kind uniform_reason(const char *name)
{
	if (strncmp(name, "iCh", 3) == 0 && name[3] && name[4] == '.')
		return strcmp(name + 5, "size") == 0 ? REASON_SIZE
		    : strcmp(name + 5, "time") == 0  ? REASON_FPS
						     : REASON_UNIFORM;
	for (size_t i = 0; i < sizeof builtin / sizeof *builtin; i++)
		if (strcmp(builtin[i].name, name) == 0)
			return builtin[i].reason;
	return REASON_UNIFORM;
}

static void custom_value(const struct value *value, struct draw_uniform *out)
{
	int n = value_components(value->type);

	out->i[0] = value->i;
	for (int i = 0; i < n; i++)
		out->f[i] = (float)value->f[i];
}

int uniform_value(const struct moment *m, int p, const struct active_uniform *u,
    struct draw_uniform *out)
{
	static const int components[] = {
		[GL_T_FLOAT] = 1,
		[GL_T_VEC2] = 2,
		[GL_T_VEC3] = 3,
		[GL_T_VEC4] = 4,
		[GL_T_INT] = 1,
		[GL_T_BOOL] = 1,
		[GL_T_UINT] = 1,
		[GL_T_OTHER] = 0,
	};

	if (u->type == GL_T_SAMPLER_2D || u->type == GL_T_SAMPLER_3D ||
	    u->type == GL_T_SAMPLER_CUBE || u->type == GL_T_IMAGE_2D)
		return 0;
	if (components[u->type] == 0 || u->count * components[u->type] > 64)
		return 0;
	memset(out, 0, sizeof *out);
	out->name = u->name;
	out->type = u->type;
	out->count = u->count;
	for (size_t i = 0; i < sizeof builtin / sizeof *builtin; i++)
		if (strcmp(builtin[i].name, u->name) == 0) {
			builtin[i].value(m, p, out);
			return 1;
		}
	if (channel_member(m, p, u->name, out))
		return 1;
	int custom = manifest_uniform(m->scene->variant->manifest, u->name);
	if (custom < 0)
		return 0;
	custom_value(&m->value[custom], out);
	return 1;
}

void keyboard_texels(const struct variant *v, int t, uint8_t out[3 * 256 * 4])
{
	uint8_t key[3][256];
	int is_essl = v->manifest->dialect == DIALECT_ESSL;

	variant_keys(v, t, key);
	for (int row = 0; row < 3; row++)
		for (int k = 0; k < 256; k++) {
			uint8_t *texel = &out[(row * 256 + k) * 4];
			uint8_t on = key[row][k] ? 255 : 0;
			texel[0] = on;
			texel[1] = texel[2] = is_essl ? 0 : on;
			texel[3] = is_essl ? 255 : on;
		}
}

void music_texels(const struct variant *v, uint8_t out[2 * 512 * 4])
{
	int is_essl = v->manifest->dialect == DIALECT_ESSL;

	for (int row = 0; row < 2; row++)
		for (int i = 0; i < 512; i++) {
			uint8_t *texel = &out[(row * 512 + i) * 4];
			uint8_t level = row == 0 ? 0 : 128;
			texel[0] = level;
			texel[1] = texel[2] = is_essl ? 0 : level;
			texel[3] = 255;
		}
}

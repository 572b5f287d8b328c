#include "project/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/buf.h"
#include "util/mem.h"

const char *format_name(enum format f)
{
	static const char *const name[] = {
#define FORMAT(name, word, ...) word,
#include "project/format.def"
	};
	return name[f];
}

const char *format_document_name(enum format f)
{
	static const char *const name[] = {
#define FORMAT(name, word, document, ...) document,
#include "project/format.def"
	};
	return name[f];
}

size_t format_bytes(enum format f)
{
	static const size_t bytes[] = {
#define FORMAT(name, word, document, bytes, ...) bytes,
#include "project/format.def"
	};
	return bytes[f];
}

int format_channels(enum format f)
{
	static const int channels[] = {
#define FORMAT(name, word, document, bytes, channels, ...) channels,
#include "project/format.def"
	};
	return channels[f];
}

const char *pass_kind_name(enum pass_kind k)
{
	static const char *const name[] = {
		"image",
		"buffer",
		"cubemap",
		"compute",
		"sound",
	};
	return name[k];
}

const char *asset_kind_name(enum asset_kind k)
{
	static const char *const name[] = {
		"texture",
		"cubemap",
		"volume",
		"video",
	};
	return name[k];
}

const char *input_kind_name(enum input_kind k)
{
	static const char *const name[] = {
		"pass",
		"texture",
		"cubemap",
		"volume",
		"keyboard",
		"music",
		"video",
		"webcam",
	};
	return name[k];
}

const char *filter_name(enum filter f)
{
	static const char *const name[] = { "linear", "nearest", "mipmap" };
	return name[f];
}

const char *wrap_name(enum wrap w)
{
	return w == WRAP_CLAMP ? "clamp" : "repeat";
}

const char *dialect_name(enum dialect d)
{
	return d == DIALECT_ESSL ? "essl" : "glsl";
}

static int is_one_of(const char *name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(name, list[i]) == 0)
			return 1;
	return 0;
}

/* "iChannel7": the prefix and a number without leading zeros. */
static int is_numbered(const char *name, const char *prefix, int first, int last)
{
	size_t n = strlen(prefix);
	if (strncmp(name, prefix, n) != 0)
		return 0;
	for (int i = first; i <= last; i++) {
		char number[16];
		snprintf(number, sizeof number, "%d", i);
		if (strcmp(name + n, number) == 0)
			return 1;
	}
	return 0;
}

static const char *const builtin[] = {
#define UNIFORM(name, type, is_array, value, why) #name,
#define AUDIO(name, value)
#include "glsl/uniform.def"
#undef UNIFORM
#undef AUDIO
	"iIteration",
	"iOutput",
};

/* Of desktop GLSL alone. */
static const char *const audio[] = {
#define UNIFORM(name, type, is_array, value, why)
#define AUDIO(name, value) #name,
#include "glsl/uniform.def"
#undef UNIFORM
#undef AUDIO
	"iAudioLoudness",
	"iAudioBass",
	"iAudioMid",
	"iAudioTreble",
	"iAudioOnset",
	"iAudioKick",
	"iAudioSnare",
	"iAudioHihat",
	"iAudioBpm",
	"iAudioBeatPhase",
	"iAudioBeatConfidence",
	"iAudioBeatStrength",
	"iAudioStereoWidth",
	"iAudioStereoBalance",
	"iAudioStereoCorrelation",
	"iAudioEnergyTrend",
	"iAudioDrop",
	"iAudioSectionChange",
	"iAudioSpectralCentroid",
	"iAudioSpectralFlux",
	"iAudioAvailable",
	"iAudioSilence",
	"iAudioSampleRate",
};

enum {
	nbuiltin = sizeof builtin / sizeof *builtin,
	naudio = sizeof audio / sizeof *audio,
};

int uniform_is_reserved(const char *name, enum dialect dialect)
{
	if (is_one_of(name, builtin, nbuiltin) || is_numbered(name, "iChannel", 0, 15) ||
	    is_numbered(name, "iOutput", 1, 7))
		return 1;
	if (dialect == DIALECT_ESSL)
		return is_numbered(name, "iCh", 0, 3);
	return is_one_of(name, audio, naudio);
}

const char *uniform_builtin(size_t i)
{
	if (i < nbuiltin)
		return builtin[i];
	return i - nbuiltin < naudio ? audio[i - nbuiltin] : NULL;
}

int manifest_pass(const struct manifest *m, const char *name)
{
	for (size_t i = 0; i < m->npass; i++)
		if (strcmp(m->pass[i].name, name) == 0)
			return (int)i;
	return -1;
}

int manifest_uniform(const struct manifest *m, const char *name)
{
	for (size_t i = 0; i < m->nuniform; i++)
		if (strcmp(m->uniform[i].name, name) == 0)
			return (int)i;
	return -1;
}

int manifest_trace(const struct manifest *m, const char *name)
{
	for (size_t i = 0; i < m->ntrace; i++)
		if (strcmp(m->trace[i].name, name) == 0)
			return (int)i;
	return -1;
}

int manifest_preset(const struct manifest *m, const char *name)
{
	for (size_t i = 0; i < m->npreset; i++)
		if (strcmp(m->preset[i].name, name) == 0)
			return (int)i;
	return -1;
}

static void release_timeline(struct timeline *timeline)
{
	for (size_t i = 0; i < timeline->nstep; i++) {
		free(timeline->step[i].set);
		free(timeline->step[i].key);
	}
	free(timeline->step);
}

static void release_passes(struct manifest *m)
{
	for (size_t i = 0; i < m->npass; i++) {
		struct pass *pass = &m->pass[i];
		free(pass->name);
		free(pass->source);
		for (size_t k = 0; k < pass->nstorage; k++)
			free(pass->storage[k].name);
		free(pass->storage);
		free(pass->input);
	}
	free(m->pass);
	for (size_t i = 0; i < m->npreset; i++) {
		free(m->preset[i].name);
		free(m->preset[i].pass);
	}
	free(m->preset);
}

static void release_tests(struct manifest *m)
{
	for (size_t i = 0; i < m->ntest; i++) {
		struct test *test = &m->test[i];
		free(test->name);
		free(test->frame);
		free(test->size);
		free(test->reference);
		free(test->mask);
		free(test->budget);
		free(test->set);
		free(test->reference_set);
		for (size_t k = 0; k < test->nstorage; k++) {
			free(test->storage[k].name);
			free(test->storage[k].reference);
		}
		free(test->storage);
	}
	free(m->test);
	for (size_t i = 0; i < m->ndriver; i++) {
		free(m->driver[i].name);
		free(m->driver[i].pattern);
	}
	free(m->driver);
}

void manifest_release(struct manifest *m)
{
	if (!m)
		return;
	free(m->path);
	free(m->name);
	free(m->author);
	free(m->description);
	free(m->source_url);
	free(m->source_id);
	for (size_t i = 0; i < m->ninclude_dir; i++)
		free(m->include_dir[i]);
	free(m->include_dir);
	free(m->common);
	for (size_t i = 0; i < m->nuniform; i++)
		free(m->uniform[i].name);
	free(m->uniform);
	for (size_t i = 0; i < m->nasset; i++) {
		free(m->asset[i].name);
		free(m->asset[i].path);
	}
	free(m->asset);
	release_passes(m);
	release_timeline(&m->timeline);
	for (size_t i = 0; i < m->ntrace; i++) {
		free(m->trace[i].name);
		free(m->trace[i].frame);
		free(m->trace[i].preset);
		free(m->trace[i].set);
		release_timeline(&m->trace[i].timeline);
	}
	free(m->trace);
	release_tests(m);
	free(m->store_remote);
	*m = (struct manifest){ 0 };
}

const char *uniform_beyond(const struct uniform *u, const struct value *v,
    struct buf *text)
{
	for (int i = 0; i < value_components(v->type); i++) {
		int is_int = v->type == VALUE_INT;
		double x = is_int ? v->i : v->f[i];
		double min = is_int ? u->min.i : u->min.f[i];
		double max = is_int ? u->max.i : u->max.f[i];
		int is_low = u->has_min && x < min;
		if (!is_low && !(u->has_max && x > max))
			continue;
		print_double(x, text);
		buf_addstr(text,
		    is_low ? " is below the minimum " : " is above the maximum ");
		print_double(is_low ? min : max, text);
		return is_low ? "min" : "max";
	}
	return NULL;
}

#include "site.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "util/limits.h"
#include "util/mem.h"

#define NCHANNEL 4 /* the site's */

const cJSON *site_get(const cJSON *object, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(object, key);
}

const char *site_text(const cJSON *object, const char *key)
{
	const char *s = cJSON_GetStringValue(site_get(object, key));
	return s && s[strspn(s, " \t\r\n")] ? s : NULL;
}

/* Ids are texts in most exports and numbers in some. Owned; or null. */
static char *site_id(const cJSON *object)
{
	const cJSON *id = site_get(object, "id");
	if (cJSON_IsString(id) && *id->valuestring)
		return xstrdup(id->valuestring);
	if (cJSON_IsNumber(id))
		return xasprintf("%.17g", id->valuedouble);
	return NULL;
}

static const char *either(const cJSON *object, const char *key, const char *other)
{
	const char *s = site_text(object, key);
	return s ? s : site_text(object, other);
}

/* "true" and true. */
static int flag_of(const cJSON *object, const char *key)
{
	const cJSON *item = site_get(object, key);
	return cJSON_IsTrue(item) ||
	    (cJSON_IsString(item) && strcasecmp(item->valuestring, "true") == 0);
}

/* Slots --------------------------------------------------------------------- */

/* Number in a path like "/media/previz/buffer02.png", or -1. */
static int previz_slot(const char *path, const char *word)
{
	const char *p = path ? strstr(path, "/previz/") : NULL;
	if (!p)
		return -1;
	p += strlen("/previz/");
	size_t n = strlen(word);
	if (strncmp(p, word, n) != 0 || !isdigit((unsigned char)p[n]) ||
	    !isdigit((unsigned char)p[n + 1]) || p[n + 2] != '.')
		return -1;
	return (p[n] - '0') * 10 + p[n + 1] - '0';
}

static const char *word_of(enum site_kind kind)
{
	return kind == SITE_BUFFER ? "buffer" : "cubemap";
}

/* "Buf A", "buffer b", "BufferC", "Cube A", "Cubemap_A": the letter's, or -1. */
static int named_slot(const char *name, enum site_kind kind)
{
	const char *whole = word_of(kind);
	size_t n = kind == SITE_BUFFER ? 3 : 4; /* Buf, Cube */
	if (!name)
		return -1;
	name += strspn(name, " \t");
	if (strncasecmp(name, whole, strlen(whole)) == 0)
		n = strlen(whole);
	else if (strncasecmp(name, whole, n) != 0)
		return -1;
	name += n;
	name += strspn(name, " \t_-");
	int letter = tolower((unsigned char)*name);
	if (letter < 'a' || letter > 'd' || name[1 + strspn(name + 1, " \t")])
		return -1;
	return letter - 'a';
}

static int stock_slot(const char *id, enum site_kind kind)
{
	const struct site_stock *known = site_find_stock(id, NULL);
	return known ? previz_slot(known->path, word_of(kind)) : -1;
}

static int output_slot(const cJSON *json, enum site_kind kind)
{
	int slot = -1;
	const cJSON *output;
	cJSON_ArrayForEach (output, site_get(json, "outputs")) {
		char *id = site_id(output);
		slot = stock_slot(id, kind);
		free(id);
		if (slot >= 0)
			break;
	}
	return slot;
}

void site_give_slots(struct site *s, enum site_kind kind)
{
	unsigned char taken[LIMIT_PASSES + 100] = { 0 };
	for (size_t i = 0; i < s->npass; i++)
		if (s->pass[i].kind == kind)
			s->pass[i].slot = -1;
	/* An output's id says more than a name, and a name more than the order. */
	for (int by = 0; by < 3; by++) {
		for (size_t i = 0; i < s->npass; i++) {
			struct site_pass *p = &s->pass[i];
			int slot = 0;
			if (p->kind != kind || p->slot >= 0)
				continue;
			if (by == 0)
				slot = output_slot(p->json, kind);
			else if (by == 1)
				slot = named_slot(site_text(p->json, "name"), kind);
			while (by == 2 && taken[slot])
				slot++;
			if (slot >= 0 && !taken[slot]) {
				taken[slot] = 1;
				p->slot = slot;
			}
		}
	}
}

/* The pass whose output an input is, or null. */
static const struct site_pass *find_source(const struct site *s, const char *id,
    const char *path)
{
	for (size_t i = 0; id && i < s->npass; i++) {
		const struct site_pass *p = &s->pass[i];
		const cJSON *output;
		if (p->kind != SITE_BUFFER && p->kind != SITE_CUBEMAP)
			continue;
		cJSON_ArrayForEach (output, site_get(p->json, "outputs")) {
			char *other = site_id(output);
			int is_it = other && strcmp(other, id) == 0;
			free(other);
			if (is_it)
				return p;
		}
	}
	for (size_t i = 0; i < s->npass; i++) {
		const struct site_pass *p = &s->pass[i];
		if (p->kind != SITE_BUFFER && p->kind != SITE_CUBEMAP)
			continue;
		int slot = previz_slot(path, word_of(p->kind));
		if (slot < 0)
			slot = named_slot(path, p->kind);
		if (slot < 0)
			slot = stock_slot(id, p->kind);
		if (slot >= 0 && slot == p->slot)
			return p;
	}
	return NULL;
}

/* Inputs -------------------------------------------------------------------- */

static const char *guess_kind(const char *path)
{
	static const struct {
		const char *ending, *kind;
	} row[] = {
		{ ".bin", "volume" },
		{ ".mp3", "music" },
		{ ".ogg", "music" },
		{ ".webm", "video" },
		{ ".ogv", "video" },
		{ ".mp4", "video" },
		{ ".jpg", "texture" },
		{ ".jpeg", "texture" },
		{ ".png", "texture" },
		{ ".webp", "texture" },
		{ ".gif", "texture" },
		{ ".avif", "texture" },
		{ ".heic", "texture" },
		{ ".bmp", "texture" },
		{ ".tga", "texture" },
		{ ".svg", "texture" },
	};
	if (!path)
		return NULL;
	if (previz_slot(path, "buffer") >= 0)
		return "buffer";
	if (previz_slot(path, "cubemap") >= 0)
		return "cubemap";
	size_t n = strlen(path);
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		size_t k = strlen(row[i].ending);
		if (n > k && strcasecmp(path + n - k, row[i].ending) == 0)
			return row[i].kind;
	}
	return NULL;
}

__attribute__((format(printf, 4, 5))) static void note(struct buf *list,
    const struct site_pass *pass, int channel, const char *fmt, ...)
{
	va_list ap;
	buf_addf(list, "%siChannel%d of '%s'", list->len ? ", " : "", channel,
	    pass->name);
	va_start(ap, fmt);
	buf_vaddf(list, fmt, ap);
	va_end(ap);
}

/* What the sampler says for a key, if it is one of the words; else its default. */
static const char *sampler_word(struct site *s, const struct site_pass *pass, int channel,
    const cJSON *sampler, const char *key, const char *const word[],
    const char *otherwise)
{
	const cJSON *said = site_get(sampler, key);
	const char *text = cJSON_GetStringValue(said);
	if (!said || cJSON_IsNull(said) || (text && !*text))
		return otherwise;
	for (size_t i = 0; text && word[i]; i++)
		if (strcasecmp(text, word[i]) == 0)
			return word[i];
	note(&s->odd, pass, channel, " (%s '%.40s': %s)", key, text ? text : "no text",
	    otherwise);
	return otherwise;
}

static void add_sampler(struct site *s, const struct site_pass *pass, int channel,
    cJSON *input, const cJSON *sampler, const char *kind)
{
	static const char *const filter[] = { "nearest", "linear", "mipmap", NULL };
	static const char *const wrap[] = { "clamp", "repeat", NULL };
	/* The defaults are as the site sets them up. */
	int is_picture = strcmp(kind, "texture") == 0 || strcmp(kind, "volume") == 0;
	int is_mipmap = is_picture || strcmp(kind, "cubemap") == 0;
	cJSON_AddStringToObject(input, "filter",
	    sampler_word(s, pass, channel, sampler, "filter", filter,
		is_mipmap ? "mipmap" : "linear"));
	cJSON_AddStringToObject(input, "wrap",
	    sampler_word(s, pass, channel, sampler, "wrap", wrap,
		is_picture ? "repeat" : "clamp"));
}

struct reading { /* of one input */
	const cJSON *sampler;
	const char *id, *path, *kind;
	int channels;
	/* For the manifest; source stays null for what is not bound. */
	const char *source, *as, *frame;
};

/* A picture, cubemap or volume; live ones are stood in for. */
static int read_media(struct site *s, const struct site_pass *pass, int channel,
    struct reading *r, struct err *err)
{
	int is_live = strcmp(r->kind, "video") == 0 || strcmp(r->kind, "webcam") == 0;
	enum asset_kind asset = strcmp(r->kind, "cubemap") == 0 ? ASSET_CUBEMAP
	    : strcmp(r->kind, "volume") == 0                    ? ASSET_VOLUME
								: ASSET_TEXTURE;
	const char *path = r->path ? r->path : is_live || !r->id ? r->kind : r->id;
	int vflip = 0;
	if (is_live) {
		note(&s->live, pass, channel, " (%s: a still picture)", r->kind);
	} else {
		/* The site turns pictures only. */
		vflip = asset != ASSET_VOLUME && flag_of(r->sampler, "vflip");
		if (flag_of(r->sampler, "srgb"))
			note(&s->srgb, pass, channel, "%s", "");
	}
	r->as = asset == ASSET_TEXTURE ? "texture" : r->kind;
	return site_media_asset(&s->media, asset, path, vflip,
	    asset == ASSET_TEXTURE && !is_live ? r->channels : 0, is_live, &s->names,
	    &r->source, err);
}

static int read_source(struct site *s, const struct site_pass *pass, int channel,
    struct reading *r, struct err *err)
{
	static const char *const sounds[] = { "music", "musicstream", "soundcloud", "mic",
		"microphone" };
	static const char *const media[] = { "texture", "cubemap", "volume", "video",
		"webcam" };
	if (!r->kind) {
		note(&s->unbound, pass, channel, " (the export gives no kind)");
		return 0;
	}
	int is_cube = strcmp(r->kind, "cubemap") == 0;
	if (is_cube || strcmp(r->kind, "buffer") == 0) {
		const struct site_pass *p = find_source(s, r->id, r->path);
		if (p && pass->kind == SITE_SOUND) {
			note(&s->unbound, pass, channel, " (sound reads no pass)");
			return 0;
		}
		if (p) {
			r->source = p->name;
			r->as = "pass";
			r->frame = p->rank < pass->rank ? "current" : "previous";
			return 0;
		}
		if (!is_cube) {
			note(&s->unbound, pass, channel,
			    " (its buffer is not in the export)");
			return 0;
		}
	}
	if (strcmp(r->kind, "keyboard") == 0) {
		r->source = r->as = "keyboard";
		return 0;
	}
	for (size_t i = 0; i < sizeof sounds / sizeof *sounds; i++)
		if (strcmp(r->kind, sounds[i]) == 0) {
			r->source = r->as = "music";
			if (strncmp(r->kind, "mic", 3) == 0)
				note(&s->live, pass, channel, " (microphone: silence)");
			return 0;
		}
	for (size_t i = 0; i < sizeof media / sizeof *media; i++)
		if (strcmp(r->kind, media[i]) == 0)
			return read_media(s, pass, channel, r, err);
	note(&s->unbound, pass, channel, " (unknown kind '%.40s')", r->kind);
	return 0;
}

/* *out is null for an input that stays unbound. */
static int read_input(struct site *s, const struct site_pass *pass, const cJSON *json,
    int channel, cJSON **out, struct err *err)
{
	int rc = -1;
	char *id = site_id(json);
	struct reading r = { .sampler = site_get(json, "sampler"),
		.id = id,
		.path = either(json, "filepath", "src"),
		.kind = either(json, "type", "ctype") };
	const struct site_stock *known = site_find_stock(id, r.path);
	char *kind = NULL;

	*out = NULL;
	const struct site_stock *by_path = site_find_stock(NULL, r.path);
	if (by_path)
		r.channels = by_path->channels;
	if (known) {
		r.channels |= known->channels;
		if (!r.path)
			r.path = known->path;
		if (!r.kind)
			r.kind = known->kind;
	}
	if (!r.kind)
		r.kind = guess_kind(r.path);
	if (r.kind) {
		kind = xstrdup(r.kind);
		for (char *p = kind; *p; p++)
			*p = (char)tolower((unsigned char)*p);
		r.kind = kind;
	}
	if (read_source(s, pass, channel, &r, err) < 0)
		goto out;
	if (r.source) {
		*out = cJSON_CreateObject();
		cJSON_AddNumberToObject(*out, "channel", channel);
		cJSON_AddStringToObject(*out, "source", r.source);
		cJSON_AddStringToObject(*out, "kind", r.as);
		if (r.frame && strcmp(r.frame, "previous") == 0)
			cJSON_AddStringToObject(*out, "frame", r.frame);
		add_sampler(s, pass, channel, *out, r.sampler, r.kind);
	}
	rc = 0;
out:
	free(kind);
	free(id);
	return rc;
}

/* 0 to 3, written as a number or as a text; or -1, and why is told. */
static int channel_of(struct site *s, const struct site_pass *pass, int place,
    const cJSON *input)
{
	const cJSON *channel = site_get(input, "channel");
	const char *why = "it is not an input";
	double n = -1;
	if (cJSON_IsObject(input) && input->child) {
		char *end = NULL;
		why = "without a channel";
		if (cJSON_IsNumber(channel)) {
			n = channel->valuedouble;
			why = NULL;
		} else if (site_text(input, "channel")) {
			n = strtod(channel->valuestring, &end);
			why = end[strspn(end, " \t\r\n")] ? "its channel is "
							    "not a number"
							  : NULL;
		}
	} else if (cJSON_IsNull(input) || cJSON_IsObject(input)) {
		why = "it is empty";
	}
	if (!why && n >= 0 && n < NCHANNEL && n == floor(n))
		return (int)n;
	buf_addf(&s->dropped, "%sinput %d of '%s' (", s->dropped.len ? ", " : "", place,
	    pass->name);
	if (why)
		buf_addf(&s->dropped, "%s)", why);
	else
		buf_addf(&s->dropped, "channel %.6g, the site has 0 to %d)", n,
		    NCHANNEL - 1);
	return -1;
}

int site_read_inputs(struct site *s, const struct site_pass *pass, cJSON *list,
    struct err *err)
{
	const cJSON *by_channel[NCHANNEL] = { NULL };
	const cJSON *json;
	int place = 0;
	cJSON_ArrayForEach (json, site_get(pass->json, "inputs")) {
		int channel = channel_of(s, pass, place++, json);
		if (channel < 0)
			continue;
		/* The later one counts, as on the site. */
		if (by_channel[channel])
			note(&s->dropped, pass, channel,
			    " (given twice; the "
			    "later one counts)");
		by_channel[channel] = json;
	}
	for (int i = 0; i < NCHANNEL; i++) {
		cJSON *input;
		if (!by_channel[i])
			continue;
		if (read_input(s, pass, by_channel[i], i, &input, err) < 0)
			return -1;
		if (input)
			cJSON_AddItemToArray(list, input);
	}
	return 0;
}

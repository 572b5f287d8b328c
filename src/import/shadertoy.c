#include "import/shadertoy.h"

#include <ctype.h>
#include <string.h>
#include <cjson/cJSON.h>

#include "project/doc.h"
#include "util/limits.h"
#include "site_media.h"
#include "util/log.h"
#include "util/mem.h"

#define NCHANNEL 4	/* the site's */

enum kind { IMAGE, BUFFER, CUBEMAP, SOUND, COMMON };

struct site_pass {
	const cJSON *json;
	enum kind kind;
	int slot;		/* of buffers: 0 is A; of cubemaps: 0 is Cube A */
	int rank;		/* order within a frame */
	char *name;		/* in the manifest */
	char *source;		/* path in the project */
};

struct import {
	const char *name;	/* of the document, for messages */
	struct tree *tree;
	struct site_media media;
	struct site_pass *pass;
	size_t npass;
	struct map names;	/* of passes and assets */
	struct map sources;	/* paths, lower case */
	struct buf unbound, live, srgb;	/* for warnings: "iChannel0 of Image (why)" */
};

/* What the site's own media is, for exports that leave the kind out. */
static const struct stock {
	const char *id, *kind, *path;
} stock[] = {
	{ "4dXGRr", "keyboard", "/presets/tex00.jpg" },
	{ "4dXGR8", "buffer", "/media/previz/buffer00.png" },
	{ "XsXGR8", "buffer", "/media/previz/buffer01.png" },
	{ "4sXGR8", "buffer", "/media/previz/buffer02.png" },
	{ "XdfGR8", "buffer", "/media/previz/buffer03.png" },
	{ "4dX3Rr", "cubemap", "/media/previz/cubemap00.png" },
	{ "XsX3zn", "cubemap",
		"/media/a/94284d43be78f00eb6b298e6d78656a1b34e2b91b34940d02f1ca8b22310e8a0.png" },
	{ "4sX3zn", "cubemap",
		"/media/a/0681c014f6c88c356cf9c0394ffe015acc94ec1474924855f45d22c3e70b5785.png" },
	{ "XdX3zn", "cubemap",
		"/media/a/488bd40303a2e2b9a71987e48c66ef41f5e937174bf316d3ed0e86410784b919.jpg" },
	{ "4dX3zn", "cubemap", "4dX3zn" },
	{ "XsfGzn", "cubemap", "XsfGzn" },
	{ "4sfGzn", "cubemap", "4sfGzn" },
	{ "4sfGRr", "volume",
		"/media/a/27012b4eadd0c3ce12498b867058e4f717ce79e10a99568cca461682d84a4b04.bin" },
	{ "XdX3Rr", "volume",
		"/media/a/aea6b99da1d53055107966b59ac5444fc8bc7b3ce2d0bbb6a4a3cbae1d97f3aa.bin" }
};

/* Stock textures that the site uploads with one channel. */
static const char *const one_channel[] = { "Xdf3zn", "4sf3Rn", "4dXGzn", "4sf3Rr" };

static const cJSON *get(const cJSON *object, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(object, key);
}

/* A text that is there and is not blank; or null. */
static const char *text_of(const cJSON *object, const char *key)
{
	const char *s = cJSON_GetStringValue(get(object, key));
	return s && s[strspn(s, " \t\r\n")] ? s : NULL;
}

static const char *either(const cJSON *object, const char *key,
	const char *other)
{
	const char *s = text_of(object, key);
	return s ? s : text_of(object, other);
}

/* "true" and true. */
static int flag_of(const cJSON *object, const char *key)
{
	const cJSON *item = get(object, key);
	return cJSON_IsTrue(item) || (cJSON_IsString(item)
		&& !strcmp(item->valuestring, "true"));
}

/* Ids are texts in most exports and numbers in some. Owned by the caller. */
static char *id_of(const cJSON *object)
{
	const cJSON *id = get(object, "id");
	if (cJSON_IsString(id) && *id->valuestring)
		return xstrdup(id->valuestring);
	if (cJSON_IsNumber(id))
		return xasprintf("%.17g", id->valuedouble);
	return NULL;
}

static const struct stock *find_stock(const char *id)
{
	for (size_t i = 0; id && i < sizeof stock / sizeof *stock; i++)
		if (!strcmp(stock[i].id, id))
			return &stock[i];
	return NULL;
}

/* Number in a path like "/media/previz/buffer02.png", or -1. */
static int previz_slot(const char *path, const char *word)
{
	const char *p = path ? strstr(path, "/previz/") : NULL;
	if (!p)
		return -1;
	p += strlen("/previz/");
	size_t n = strlen(word);
	if (strncmp(p, word, n) || !isdigit((unsigned char)p[n])
			|| !isdigit((unsigned char)p[n + 1]) || p[n + 2] != '.')
		return -1;
	return (p[n] - '0') * 10 + p[n + 1] - '0';
}

/* Entities ------------------------------------------------------------------ */

static const struct entity {
	const char *text;
	char c;
} entity[] = {
	{ "&lt;", '<' }, { "&gt;", '>' }, { "&amp;", '&' }, { "&quot;", '"' },
	{ "&#39;", '\'' }, { "&#039;", '\'' }, { "&apos;", '\'' }
};

static const struct entity *entity_at(const char *p)
{
	for (size_t i = 0; i < sizeof entity / sizeof *entity; i++)
		if (!strncmp(p, entity[i].text, strlen(entity[i].text)))
			return &entity[i];
	return NULL;
}

static int is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/*
 * Some exporters escape code for HTML. Such a text has entities and nothing
 * that escaping leaves none of. "a &lt; b" could be an and with a variable "lt",
 * so a text that has such a word elsewhere is left alone.
 */
static int is_escaped(const char *code)
{
	int n = 0;
	for (const char *p = code; *p; p++) {
		if (*p == '<' || *p == '>')
			return 0;
		if (*p == '&') {
			const struct entity *e = entity_at(p);
			if (!e)
				return 0;
			n++;
			p += strlen(e->text) - 1;
			continue;
		}
		if (!is_word(*p))
			continue;
		size_t len = 1;
		while (is_word(p[len]))
			len++;
		if ((len == 2 && (!strncmp(p, "lt", 2) || !strncmp(p, "gt", 2)))
				|| (len == 3 && !strncmp(p, "amp", 3))
				|| (len == 4 && (!strncmp(p, "quot", 4) || !strncmp(p, "apos", 4))))
			return 0;
		p += len - 1;
	}
	return n > 0;
}

static void add_code(struct buf *out, const char *code)
{
	if (!is_escaped(code)) {
		buf_addstr(out, code);
		return;
	}
	for (const char *p = code; *p;) {
		const struct entity *e = *p == '&' ? entity_at(p) : NULL;
		buf_addch(out, e ? e->c : *p);
		p += e ? strlen(e->text) : 1;
	}
}

/* Passes -------------------------------------------------------------------- */

static const char *default_name(const struct site_pass *p, char text[16])
{
	switch (p->kind) {
	case BUFFER:
		snprintf(text, 16, "Buffer %c", 'A' + p->slot % 26);
		return text;
	case CUBEMAP:
		snprintf(text, 16, "Cube %c", 'A' + p->slot % 26);
		return text;
	case IMAGE: return "Image";
	case SOUND: return "Sound";
	case COMMON: return "Common";
	}
	BUG("kind %d", (int)p->kind);
}

/* The slot that an export says: by output's id, or by name ("Buf A"). */
static int said_slot(const cJSON *json, const char *word)
{
	char *id = id_of(cJSON_GetArrayItem(get(json, "outputs"), 0));
	const struct stock *known = find_stock(id);
	free(id);
	int slot = known ? previz_slot(known->path, word) : -1;
	const char *name = text_of(json, "name");
	size_t n = name ? strlen(name) : 0;
	if (slot < 0 && n > 2 && name[n - 2] == ' ' && name[n - 1] >= 'A'
			&& name[n - 1] <= 'D' && !strncmp(name, word[0] == 'b' ? "Buf" : "Cub", 3))
		slot = name[n - 1] - 'A';
	return slot;
}

/* Gives buffers, or cubemaps, their slots: first those that say theirs. */
static void give_slots(struct import *im, enum kind kind, const char *word)
{
	unsigned char taken[LIMIT_PASSES + 100] = { 0 };
	for (size_t i = 0; i < im->npass; i++) {
		struct site_pass *p = &im->pass[i];
		if (p->kind != kind)
			continue;
		p->slot = said_slot(p->json, word);
		if (p->slot >= 0 && taken[p->slot]++)
			p->slot = -1;
	}
	for (size_t i = 0; i < im->npass; i++) {
		struct site_pass *p = &im->pass[i];
		if (p->kind != kind || p->slot >= 0)
			continue;
		p->slot = 0;
		while (taken[p->slot])
			p->slot++;
		taken[p->slot] = 1;
	}
}

static char *slug_of(const char *name)
{
	struct buf out = BUF_INIT;
	for (const char *p = name; *p && out.len < 64; p++) {
		if (isalnum((unsigned char)*p))
			buf_addch(&out, (char)tolower((unsigned char)*p));
		else if (out.len && out.data[out.len - 1] != '-')
			buf_addch(&out, '-');
	}
	while (out.len && out.data[out.len - 1] == '-')
		out.data[--out.len] = '\0';
	if (!out.len)
		buf_addstr(&out, "pass");
	return buf_detach(&out);
}

static int read_passes(struct import *im, const cJSON *list, struct err *err)
{
	static const char *const type[] = {
		"image", "buffer", "cubemap", "sound", "common"
	};
	int nimage = 0;
	size_t n = 0;
	const cJSON *json;
	cJSON_ArrayForEach(json, list)
		n++;
	if (n > LIMIT_PASSES)
		return err_set(err, STATUS_INPUT, "%zu passes, the limit is %d", n,
			LIMIT_PASSES);
	im->pass = xcalloc(n ? n : 1, sizeof *im->pass);
	n = 0;
	cJSON_ArrayForEach(json, list) {
		const char *said = text_of(json, "type");
		size_t k = 0;
		while (said && k < sizeof type / sizeof *type && strcmp(type[k], said))
			k++;
		if (!said || k == sizeof type / sizeof *type)
			return err_set(err, STATUS_INPUT,
				"renderpass[%zu]: type '%s' is none that the site has", n,
				said ? said : "");
		const char *code = cJSON_GetStringValue(get(json, "code"));
		if (!code)
			return err_set(err, STATUS_INPUT, "renderpass[%zu] has no code", n);
		n++;
		if (k == IMAGE && nimage++) {
			log_warn("%s: the second image pass is left out, as on the site", im->name);
			continue;
		}
		im->pass[im->npass].json = json;
		im->pass[im->npass++].kind = (enum kind)k;
	}
	if (!nimage)
		return err_set(err, STATUS_INPUT, "there is no image pass");
	give_slots(im, BUFFER, "buffer");
	give_slots(im, CUBEMAP, "cubemap");
	for (size_t i = 0; i < im->npass; i++) {
		struct site_pass *p = &im->pass[i];
		char text[16];
		p->rank = p->kind == BUFFER ? p->slot : p->kind == CUBEMAP
			? 1000 + p->slot : 10000;
		const char *said = text_of(p->json, "name");
		p->name = site_unique(&im->names, said ? said : default_name(p, text));
		if (p->kind == COMMON)
			continue;
		char *slug = slug_of(p->name);
		char *unique = site_unique(&im->sources, slug);
		p->source = xasprintf("shaders/%s.glsl", unique);
		free(unique);
		free(slug);
	}
	return 0;
}

static void write_sources(struct import *im, cJSON *shader)
{
	struct buf common = BUF_INIT;
	for (size_t i = 0; i < im->npass; i++) {
		const struct site_pass *p = &im->pass[i];
		struct buf code = BUF_INIT;
		add_code(&code, get(p->json, "code")->valuestring);
		if (p->kind == COMMON) {
			if (common.len && common.data[common.len - 1] != '\n')
				buf_addch(&common, '\n');
			buf_add(&common, buf_str(&code), code.len);
		} else {
			tree_memory_add(im->tree, p->source, buf_str(&code), code.len);
		}
		buf_release(&code);
	}
	if (common.len) {
		char *unique = site_unique(&im->sources, "common");
		char *path = xasprintf("shaders/%s.glsl", unique);
		tree_memory_add(im->tree, path, common.data, common.len);
		cJSON_AddStringToObject(shader, "common", path);
		free(path);
		free(unique);
	}
	buf_release(&common);
}

/* Inputs -------------------------------------------------------------------- */

static const char *guess_kind(const char *path)
{
	static const struct { const char *ending, *kind; } row[] = {
		{ ".bin", "volume" }, { ".mp3", "music" }, { ".ogg", "music" },
		{ ".webm", "video" }, { ".ogv", "video" }, { ".mp4", "video" },
		{ ".jpg", "texture" }, { ".jpeg", "texture" }, { ".png", "texture" }
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
		if (n > k && !strcmp(path + n - k, row[i].ending))
			return row[i].kind;
	}
	return NULL;
}

/* The pass whose output an input is, or null. */
static const struct site_pass *find_source(const struct import *im,
	const char *id, const char *path)
{
	int buffer = previz_slot(path, "buffer"), cube = previz_slot(path, "cubemap");
	for (size_t i = 0; id && i < im->npass; i++) {
		const struct site_pass *p = &im->pass[i];
		const cJSON *output;
		if (p->kind != BUFFER && p->kind != CUBEMAP)
			continue;
		cJSON_ArrayForEach(output, get(p->json, "outputs")) {
			char *other = id_of(output);
			int is_it = other && !strcmp(other, id);
			free(other);
			if (is_it)
				return p;
		}
	}
	for (size_t i = 0; i < im->npass; i++) {
		const struct site_pass *p = &im->pass[i];
		if ((p->kind == BUFFER && buffer >= 0 && p->slot == buffer)
				|| (p->kind == CUBEMAP && cube >= 0 && p->slot == cube))
			return p;
	}
	return NULL;
}

__attribute__((format(printf, 4, 5)))
static void note(struct buf *list, const struct site_pass *pass, int channel,
	const char *fmt, ...)
{
	va_list ap;
	buf_addf(list, "%siChannel%d of '%s'", list->len ? ", " : "", channel, pass->name);
	va_start(ap, fmt);
	buf_vaddf(list, fmt, ap);
	va_end(ap);
}

static void add_sampler(cJSON *input, const cJSON *sampler, const char *kind)
{
	int is_picture = !strcmp(kind, "texture") || !strcmp(kind, "volume");
	const char *filter = text_of(sampler, "filter");
	const char *wrap = text_of(sampler, "wrap");
	if (!filter)	/* as the site sets them up */
		filter = is_picture || !strcmp(kind, "cubemap") ? "mipmap" : "linear";
	if (!wrap)
		wrap = is_picture ? "repeat" : "clamp";
	cJSON_AddStringToObject(input, "filter", !strcmp(filter, "nearest")
		|| !strcmp(filter, "mipmap") ? filter : "linear");
	cJSON_AddStringToObject(input, "wrap", !strcmp(wrap, "clamp") ? "clamp" : "repeat");
}

/* *out is null for an input that stays unbound. */
static int read_input(struct import *im, const struct site_pass *pass,
	const cJSON *json, int channel, cJSON **out, struct err *err)
{
	int rc = -1;
	char *id = id_of(json);
	const struct stock *known = find_stock(id);
	const char *path = either(json, "filepath", "src");
	const char *kind = either(json, "type", "ctype");
	const cJSON *sampler = get(json, "sampler");
	const char *source = NULL, *as = NULL, *frame = NULL;

	*out = NULL;
	if (!path && known)
		path = known->path;
	if (!kind)
		kind = known ? known->kind : guess_kind(path);
	if (!kind) {
		note(&im->unbound, pass, channel, " (the export says no kind)");
		rc = 0;
		goto out;
	}
	if (!strcmp(kind, "buffer") || (!strcmp(kind, "cubemap") && find_source(im, id, path))) {
		const struct site_pass *p = find_source(im, id, path);
		if (!p || pass->kind == SOUND) {
			note(&im->unbound, pass, channel, p ? " (sound reads no pass)"
				: " (its buffer is not in the export)");
			rc = 0;
			goto out;
		}
		source = p->name;
		as = "pass";
		frame = p->rank < pass->rank ? "current" : "previous";
	} else if (!strcmp(kind, "keyboard")) {
		source = as = "keyboard";
	} else if (!strcmp(kind, "music") || !strcmp(kind, "musicstream")
			|| !strcmp(kind, "soundcloud") || !strcmp(kind, "mic")
			|| !strcmp(kind, "microphone")) {
		source = as = "music";
		if (!strncmp(kind, "mic", 3))
			note(&im->live, pass, channel, " (microphone: silence)");
	} else if (!strcmp(kind, "texture") || !strcmp(kind, "cubemap")
			|| !strcmp(kind, "volume")) {
		enum asset_kind asset = kind[0] == 't' ? ASSET_TEXTURE : kind[0] == 'c'
			? ASSET_CUBEMAP : ASSET_VOLUME;
		int channels = 0;
		for (size_t i = 0; id && i < sizeof one_channel / sizeof *one_channel; i++)
			if (asset == ASSET_TEXTURE && !strcmp(id, one_channel[i]))
				channels = 1;
		if (!path)
			path = id ? id : kind;
		if (flag_of(sampler, "srgb"))
			note(&im->srgb, pass, channel, "%s", "");
		/* The site turns pictures only. */
		int vflip = asset != ASSET_VOLUME && flag_of(sampler, "vflip");
		if (site_media_asset(&im->media, asset, path, vflip, channels, 0,
				&im->names, &source, err) < 0)
			goto out;
		as = kind;
	} else if (!strcmp(kind, "video") || !strcmp(kind, "webcam")) {
		if (site_media_asset(&im->media, ASSET_TEXTURE, path ? path : kind, 0, 0, 1,
				&im->names, &source, err) < 0)
			goto out;
		as = "texture";
		note(&im->live, pass, channel, " (%s: a still picture)", kind);
	} else {
		note(&im->unbound, pass, channel, " (kind '%s' is not known)", kind);
		rc = 0;
		goto out;
	}
	cJSON *input = cJSON_CreateObject();
	cJSON_AddNumberToObject(input, "channel", channel);
	cJSON_AddStringToObject(input, "source", source);
	cJSON_AddStringToObject(input, "kind", as);
	if (frame && !strcmp(frame, "previous"))
		cJSON_AddStringToObject(input, "frame", frame);
	add_sampler(input, sampler, kind);
	*out = input;
	rc = 0;
out:
	free(id);
	return rc;
}

/* A channel that is given twice has the later input, as on the site. */
static int read_inputs(struct import *im, const struct site_pass *pass,
	cJSON *list, struct err *err)
{
	const cJSON *by_channel[NCHANNEL] = { NULL };
	const cJSON *json;
	cJSON_ArrayForEach(json, get(pass->json, "inputs")) {
		const cJSON *channel = get(json, "channel");
		if (!cJSON_IsNumber(channel) || channel->valuedouble < 0
				|| channel->valuedouble >= NCHANNEL
				|| channel->valuedouble != (int)channel->valuedouble)
			return err_set(err, STATUS_INPUT,
				"an input of pass '%s' has no channel from 0 to %d", pass->name,
				NCHANNEL - 1);
		by_channel[(int)channel->valuedouble] = json;
	}
	for (int i = 0; i < NCHANNEL; i++) {
		cJSON *input;
		if (!by_channel[i])
			continue;
		if (read_input(im, pass, by_channel[i], i, &input, err) < 0)
			return -1;
		if (input)
			cJSON_AddItemToArray(list, input);
	}
	return 0;
}

/* Document ------------------------------------------------------------------ */

/* The shader in whatever it is wrapped. */
static const cJSON *find_shader(const char *name, const cJSON *root,
	struct err *err)
{
	for (int depth = 0; depth < 4 && root; depth++) {
		if (cJSON_IsArray(root)) {
			if (root->child && root->child->next)
				log_warn("%s: of several shaders, the first is taken", name);
			root = root->child;
			continue;
		}
		if (cJSON_IsArray(get(root, "renderpass")))
			return root;
		const char *refusal = text_of(root, "Error");
		if (refusal) {
			err_set(err, STATUS_INPUT, "the site answered '%s' instead of a shader",
				refusal);
			return NULL;
		}
		root = get(root, "Shader") ? get(root, "Shader") : get(root, "shaders");
	}
	err_set(err, STATUS_INPUT, "no Shadertoy export: it has no list \"renderpass\"");
	return NULL;
}

static void write_project(cJSON *manifest, const cJSON *info)
{
	cJSON *project = cJSON_AddObjectToObject(manifest, "project");
	const char *name = text_of(info, "name");
	const char *author = text_of(info, "username");
	const char *description = text_of(info, "description");
	const char *id = text_of(info, "id");
	/* The site's ids have no other letters; "-1" is a shader not saved. */
	for (const char *p = id; p && *p; p++)
		if (!isalnum((unsigned char)*p)) {
			id = NULL;
			break;
		}
	cJSON_AddStringToObject(project, "name", name ? name : id ? id : "Untitled");
	if (author)
		cJSON_AddStringToObject(project, "author", author);
	if (description)
		cJSON_AddStringToObject(project, "description", description);
	if (id) {
		char *url = xasprintf("https://www.shadertoy.com/view/%s", id);
		cJSON_AddStringToObject(project, "source_url", url);
		cJSON_AddStringToObject(project, "source_id", id);
		free(url);
	}
}

static void warn_all(const struct import *im)
{
	if (im->media.missing.len)
		log_warn("%s: media not found, noise stands in for it: %s", im->name,
			buf_str(&im->media.missing));
	if (im->live.len)
		log_warn("%s: live sources cannot be captured: %s", im->name,
			buf_str(&im->live));
	if (im->unbound.len)
		log_warn("%s: left unbound: %s", im->name, buf_str(&im->unbound));
	if (im->srgb.len)
		log_warn("%s: sRGB decoding is not done for %s", im->name, buf_str(&im->srgb));
}

static int build(struct import *im, const cJSON *shader, struct err *err)
{
	static const char *const kind_name[] = { "image", "buffer", "cubemap", "sound" };
	int rc = -1;
	cJSON *manifest = cJSON_CreateObject();
	cJSON *list = cJSON_CreateArray();

	cJSON_AddNumberToObject(manifest, "format", 1);
	write_project(manifest, get(shader, "info"));
	cJSON *dialect = cJSON_AddObjectToObject(manifest, "shader");
	cJSON_AddStringToObject(dialect, "dialect", "essl");
	if (read_passes(im, get(shader, "renderpass"), err) < 0)
		goto out;
	write_sources(im, dialect);
	for (size_t i = 0; i < im->npass; i++) {
		const struct site_pass *p = &im->pass[i];
		if (p->kind == COMMON)
			continue;
		cJSON *pass = cJSON_CreateObject();
		cJSON_AddItemToArray(list, pass);
		cJSON_AddStringToObject(pass, "name", p->name);
		cJSON_AddStringToObject(pass, "kind", kind_name[p->kind]);
		cJSON_AddStringToObject(pass, "source", p->source);
		cJSON *inputs = cJSON_CreateArray();
		cJSON_AddItemToObject(pass, "input", inputs);
		if (read_inputs(im, p, inputs, err) < 0)
			goto out;
		if (!inputs->child)
			cJSON_DeleteItemFromObject(pass, "input");
	}
	if (im->media.asset->child) {
		cJSON_AddItemToObject(manifest, "asset", im->media.asset);
		im->media.asset = NULL;
	}
	cJSON_AddItemToObject(manifest, "pass", list);
	list = NULL;
	char *text = cJSON_Print(manifest);
	if (!text) {
		err_set(err, STATUS_MACHINE, "cannot print the manifest");
		goto out;
	}
	struct buf file = BUF_INIT;
	buf_addstr(&file, text);
	buf_addch(&file, '\n');
	tree_memory_add(im->tree, "stbuild.json", file.data, file.len);
	buf_release(&file);
	cJSON_free(text);
	rc = 0;
out:
	cJSON_Delete(list);
	cJSON_Delete(manifest);
	return rc;
}

int shadertoy_read(const char *name, const char *text, size_t n,
	const char *media_dir, struct tree **out, struct err *err)
{
	int rc = -1;
	cJSON *root = NULL;
	struct import im = { .name = name };

	*out = NULL;
	im.tree = tree_new_memory(name);
	if (site_media_open(&im.media, media_dir, im.tree, err) < 0)
		goto out;
	/* Names that mean something to the manifest. */
	map_puts(&im.names, "keyboard", 1);
	map_puts(&im.names, "music", 1);
	map_puts(&im.names, "webcam", 1);
	if (n > LIMIT_DOCUMENT_BYTES) {
		err_set(err, STATUS_INPUT, "%zu bytes, the limit is %u", n,
			LIMIT_DOCUMENT_BYTES);
		goto out;
	}
	if (json_parse(name, text, n, &root, err) < 0)
		goto out;
	const cJSON *shader = find_shader(name, root, err);
	if (!shader || build(&im, shader, err) < 0)
		goto out;
	warn_all(&im);
	*out = im.tree;
	im.tree = NULL;
	rc = 0;
out:
	if (rc < 0 && !err->file)
		err_place(err, name, 0, 0, NULL);
	for (size_t i = 0; i < im.npass; i++) {
		free(im.pass[i].name);
		free(im.pass[i].source);
	}
	free(im.pass);
	map_release(&im.names);
	map_release(&im.sources);
	buf_release(&im.unbound);
	buf_release(&im.live);
	buf_release(&im.srgb);
	site_media_release(&im.media);
	tree_free(im.tree);
	cJSON_Delete(root);
	return rc;
}

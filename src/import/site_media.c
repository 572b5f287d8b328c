#include "site_media.h"

#include <ctype.h>
#include <string.h>

#include "project/image.h"
#include "util/limits.h"
#include "format/png.h"
#include "util/fs.h"
#include "util/mem.h"

#define NOISE_SIZE 256  /* most of the site's textures have 256 to 1024 */
#define NOISE_FACE 64   /* the site's smaller cubemaps */
#define NOISE_VOLUME 32 /* both of the site's volumes */
#define MAX_STEM 24

/* The site's grey volume; the other one has four channels. */
static const char grey_volume[] = "27012b4eadd0c3ce12498b867058e4f7";

char *site_unique(struct map *names, const char *text)
{
	char *name = xstrdup(text);
	for (int n = 2; map_gets(names, name) != MAP_NONE; n++) {
		free(name);
		name = xasprintf("%s-%d", text, n);
	}
	map_puts(names, name, 1);
	return name;
}

int site_media_open(struct site_media *m, const char *dir, struct tree *out,
    struct err *err)
{
	*m = (struct site_media){ .out = out };
	if (dir && tree_open_dir(dir, NULL, &m->folder, err) < 0)
		return err_wrap(err, "while looking for media");
	m->asset = cJSON_CreateArray();
	return 0;
}

void site_media_release(struct site_media *m)
{
	tree_free(m->folder);
	cJSON_Delete(m->asset);
	for (size_t i = 0; i < m->npath; i++)
		free(m->path[i]);
	free(m->path);
	map_release(&m->known);
	map_release(&m->file);
	buf_release(&m->missing);
	buf_release(&m->unread);
	*m = (struct site_media){ 0 };
}

/* SplitMix64 (Steele, Lea, Flood 2014): the same noise wherever it is made. */
static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static int noise_png(uint64_t seed, int width, int height, struct buf *out,
    struct err *err)
{
	size_t n = (size_t)width * (size_t)height;
	uint8_t *rgba = xmalloc(n * 4);
	for (size_t i = 0; i < n; i++) {
		uint64_t bits = next(&seed);
		rgba[4 * i] = (uint8_t)bits;
		rgba[4 * i + 1] = (uint8_t)(bits >> 8);
		rgba[4 * i + 2] = (uint8_t)(bits >> 16);
		rgba[4 * i + 3] = 255;
	}
	int rc = png_encode_rgba(rgba, width, height, out, err);
	free(rgba);
	return rc;
}

/*
 * A volume file (sttf(5)): four bytes, x, y, z,
 * channels | layout << 8 | format << 16.
 */
static void noise_volume(uint64_t seed, int channels, struct buf *out)
{
	buf_add(out, "BIN", 4);
	for (int i = 0; i < 3; i++)
		buf_u32le(out, NOISE_VOLUME);
	buf_u32le(out, (uint32_t)channels);
	size_t n = (size_t)NOISE_VOLUME * NOISE_VOLUME * NOISE_VOLUME * (size_t)channels;
	for (size_t i = 0; i < n; i++)
		buf_addch(out, (char)next(&seed));
}

static int stand_in(enum asset_kind kind, const char *path, struct buf *out,
    struct err *err)
{
	struct sha256 sha;
	sha256_of(path, strlen(path), &sha);
	uint64_t seed = get_u64le(sha.byte);
	switch (kind) {
	case ASSET_CUBEMAP:
		return noise_png(seed, 6 * NOISE_FACE, NOISE_FACE, out, err);
	case ASSET_VOLUME:
		noise_volume(seed, strstr(path, grey_volume) ? 1 : 4, out);
		return 0;
	default:
		return noise_png(seed, NOISE_SIZE, NOISE_SIZE, out, err);
	}
}

/*
 * Reads what the export calls path: below the folder, with and without the
 * first part of its name, or by its last part alone. 1 when it is there.
 */
static int find_media(struct site_media *m, const char *path, struct buf *out,
    struct err *err)
{
	const char *media = strstr(path, "/media/"); /* behind a host, too */
	const char *try[] = {
		media ? media + 1 : path + strspn(path, "/"),
		media ? media + strlen("/media/") : NULL,
		fs_basename(path),
	};
	if (!m->folder)
		return 0;
	for (size_t i = 0; i < sizeof try / sizeof *try; i++) {
		enum tree_kind kind;
		char *resolved;
		if (!try[i] || !*try[i])
			continue;
		if (tree_lookup(m->folder, try[i], &kind, &resolved, err) < 0)
			return -1;
		if (kind == TREE_FILE) {
			int rc =
			    tree_read(m->folder, resolved, LIMIT_ASSET_BYTES, out, err);
			free(resolved);
			return rc < 0 ? -1 : 1;
		}
		free(resolved);
	}
	return 0;
}

/* Whether a file is what the kind wants, by decoding it. */
static int is_usable(enum asset_kind kind, const char *path, const struct buf *file,
    struct err *err)
{
	struct asset asset = { .kind = kind };
	struct image image = { 0 };
	int rc = image_decode(&asset, fs_basename(path), buf_str(file), file->len, &image,
	    err);
	image_release(&image);
	return rc;
}

/* "a.webp (WebP: only PNG and JPEG can be used)", or why else not. */
static void note_unread(struct site_media *m, const char *path, enum asset_kind kind,
    const struct buf *file, struct err *err)
{
	const char *content = file->len ? image_content(buf_str(file), file->len) : NULL;
	int is_format = content && strcmp(content, "PNG") != 0 && strcmp(content, "JPEG");
	buf_addf(&m->unread, "%s%s (", m->unread.len ? ", " : "", path);
	if (is_format && kind != ASSET_VOLUME && strcmp(content, "empty") != 0)
		buf_addf(&m->unread, "%s is not supported, PNG and JPEG are)", content);
	else
		buf_addf(&m->unread, "%s)", err->message);
	err_release(err);
}

/* Puts a face beside those before it; 0, or -1 when it does not fit. */
static int add_face(uint8_t **strip, int *size, int i, const char *name,
    const struct buf *file, struct err *err)
{
	int width, height;
	uint8_t *face = NULL;
	if (image_decode_rgba8(fs_basename(name), buf_str(file), file->len, &width,
		&height, &face, err) < 0)
		return -1;
	if (width != height || width > LIMIT_SIZE || (i && width != *size)) {
		free(face);
		return err_set(err, STATUS_INPUT,
		    "'%s' is %d x %d: the six faces of a "
		    "cubemap are squares of one size",
		    fs_basename(name), width, height);
	}
	*size = width;
	size_t row = (size_t)width * 4;
	if (!*strip)
		*strip = xcalloc((size_t)width * 6, row);
	for (size_t y = 0; y < (size_t)width; y++)
		memcpy(*strip + (y * 6 + (size_t)i) * row, face + y * row, row);
	free(face);
	return 0;
}

/*
 * Six files to one strip: 1 when all are there, 0 when not; -1 when one is no
 * face, whose bytes are left in out.
 */
static int find_cubemap(struct site_media *m, const char *path, struct buf *out,
    struct err *err)
{
	int rc = -1, size = 0;
	struct buf file = BUF_INIT;
	uint8_t *strip = NULL;
	const char *ext = strrchr(path, '.');
	size_t nstem = ext && !strchr(ext, '/') ? (size_t)(ext - path) : strlen(path);

	for (int i = 0; i < 6; i++) {
		char *name = i ? xasprintf("%.*s_%d%s", (int)nstem, path, i, path + nstem)
			       : xstrdup(path);
		buf_reset(&file);
		int found = find_media(m, name, &file, err);
		if (found > 0 && add_face(&strip, &size, i, name, &file, err) < 0) {
			buf_add(out, buf_str(&file), file.len);
			found = -1;
		}
		free(name);
		if (found <= 0) {
			rc = found;
			goto out;
		}
	}
	rc = png_encode_rgba(strip, size * 6, size, out, err) < 0 ? -1 : 1;
out:
	free(strip);
	buf_release(&file);
	return rc;
}

/* Last part of a path without its ending, of safe letters, not too long. */
static char *stem_of(const char *path)
{
	const char *base = fs_basename(path);
	struct buf out = BUF_INIT;
	for (const char *p = base; *p && *p != '.' && *p != '?' && out.len < MAX_STEM;
	     p++)
		if (isalnum((unsigned char)*p) || *p == '-' || *p == '_')
			buf_addch(&out, *p);
	if (!out.len)
		buf_addstr(&out, "media");
	/* A hash is known by its first digits. */
	if (out.len == MAX_STEM)
		out.data[12] = '\0';
	return buf_detach(&out);
}

/* The ending as the decoder knows it. */
static const char *ending_of(enum asset_kind kind, const struct buf *file)
{
	if (kind == ASSET_VOLUME)
		return ".bin";
	return file->len > 2 && memcmp(file->data, "\xff\xd8\xff", 3) == 0 ? ".jpg"
									   : ".png";
}

/* Path in the project of the file for a (kind, path). */
static int add_file(struct site_media *m, enum asset_kind kind, const char *path,
    int is_live, const char **out, struct err *err)
{
	int rc = -1;
	struct buf file = BUF_INIT;
	char *key = xasprintf("%d %s", (int)kind, path);
	size_t i = map_gets(&m->file, key);
	if (i != MAP_NONE) {
		*out = m->path[i];
		rc = 0;
		goto out;
	}
	int found = is_live         ? 0
	    : kind == ASSET_CUBEMAP ? find_cubemap(m, path, &file, err)
				    : find_media(m, path, &file, err);
	if (found > 0 && kind != ASSET_CUBEMAP && is_usable(kind, path, &file, err) < 0)
		found = -1;
	if (found < 0)
		note_unread(m, path, kind, &file, err);
	else if (!found && !is_live)
		buf_addf(&m->missing, "%s%s", m->missing.len ? ", " : "", path);
	if (found <= 0) {
		found = 0;
		buf_reset(&file);
		if (stand_in(kind, path, &file, err) < 0)
			goto out;
	}
	char *stem = stem_of(path);
	char *name = NULL;
	for (int n = 1; !name; n++) {
		char suffix[16] = "";
		if (n > 1)
			snprintf(suffix, sizeof suffix, "-%d", n);
		name = xasprintf("textures/%s%s%s%s", stem, found ? "" : "-standin",
		    suffix, ending_of(kind, &file));
		enum tree_kind there;
		char *resolved;
		if (tree_lookup(m->out, name, &there, &resolved, err) < 0) {
			free(name);
			free(stem);
			goto out;
		}
		free(resolved);
		if (there != TREE_ABSENT) {
			free(name);
			name = NULL;
		}
	}
	free(stem);
	tree_memory_add(m->out, name, file.data, file.len);
	m->path = array_grow(m->path, m->npath, &m->cap, sizeof *m->path);
	map_puts(&m->file, key, m->npath);
	m->path[m->npath++] = name;
	*out = name;
	rc = 0;
out:
	free(key);
	buf_release(&file);
	return rc;
}

static const char *kind_word(enum asset_kind kind)
{
	return kind == ASSET_CUBEMAP ? "cubemap"
	    : kind == ASSET_VOLUME   ? "volume"
				     : "texture";
}

int site_media_asset(struct site_media *m, enum asset_kind kind, const char *path,
    int vflip, int channels, int is_live, struct map *names, const char **name,
    struct err *err)
{
	const char *file;
	char *key = xasprintf("%d %d %d %s", (int)kind, vflip, channels, path);
	size_t i = map_gets(&m->known, key);
	if (i != MAP_NONE) {
		free(key);
		*name =
		    cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(m->asset, (int)i),
			"name")
			->valuestring;
		return 0;
	}
	if (add_file(m, kind, path, is_live, &file, err) < 0) {
		free(key);
		return -1;
	}
	map_puts(&m->known, key, (size_t)cJSON_GetArraySize(m->asset));
	free(key);

	char *stem = stem_of(path);
	char *wish = xasprintf("%s-%s", kind_word(kind), stem);
	char *chosen = site_unique(names, wish);
	cJSON *asset = cJSON_CreateObject();
	cJSON *item = cJSON_AddStringToObject(asset, "name", chosen);
	cJSON_AddStringToObject(asset, "kind", kind_word(kind));
	cJSON_AddStringToObject(asset, "path", file);
	if (vflip)
		cJSON_AddTrueToObject(asset, "vflip");
	if (channels)
		cJSON_AddNumberToObject(asset, "channels", channels);
	cJSON_AddItemToArray(m->asset, asset);
	*name = item->valuestring;
	free(chosen);
	free(wish);
	free(stem);
	return 0;
}

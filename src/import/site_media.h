#ifndef STBUILD_IMPORT_SITE_MEDIA_H
#define STBUILD_IMPORT_SITE_MEDIA_H

/*
 * Media that a Shadertoy export names, as assets of a project in memory: found
 * below a folder, or replaced by something of the same kind and a sensible
 * size, the same at every import.
 */

#include <cjson/cJSON.h>

#include "project/manifest.h"
#include "util/tree.h"
#include "util/buf.h"
#include "util/err.h"
#include "util/map.h"

struct site_media {
	struct tree *folder; /* or null: nothing is there */
	struct tree *out;    /* borrowed: where files go */
	cJSON *asset;        /* the manifest's list, owned until taken */
	struct map known;    /* kind, path, flip, channels -> asset's index */
	struct map file;     /* kind, path -> index of path[] */
	char **path;         /* in the project */
	size_t npath, cap;
	struct buf missing; /* for the warning */
	struct buf unread;  /* the same, with why: "/a/b.webp (WebP ...)" */
};

/* dir may be null. */
int site_media_open(struct site_media *m, const char *dir, struct tree *out,
    struct err *err) WARN_UNUSED;
void site_media_release(struct site_media *m);

/*
 * Name of the asset for what the export calls path ("/media/a/HASH.jpg"; of a
 * cubemap the first of six files, the others being HASH_1.jpg .. HASH_5.jpg).
 * One asset a (file, vflip, channels). names holds all names in use; borrowed
 * result. is_live: nothing is looked for, and nothing is reported missing.
 * What is there and is nothing that the kind can be, by its content, is stood
 * in for, too. A file's ending is that of its content.
 */
int site_media_asset(struct site_media *m, enum asset_kind kind, const char *path,
    int vflip, int channels, int is_live, struct map *names, const char **name,
    struct err *err) WARN_UNUSED;

/* Makes text unique in names, with "-2" and so on, and adds it. */
char *site_unique(struct map *names, const char *text);

#endif

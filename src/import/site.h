#ifndef STBUILD_IMPORT_SITE_H
#define STBUILD_IMPORT_SITE_H

/* Exports of the site, inside the importer: passes, and what they read. */

#include <cjson/cJSON.h>

#include "site_media.h"
#include "util/buf.h"
#include "util/err.h"
#include "util/map.h"

enum site_kind { SITE_IMAGE, SITE_BUFFER, SITE_CUBEMAP, SITE_SOUND, SITE_COMMON };

struct site_pass {
	const cJSON *json;
	enum site_kind kind;
	int slot;     /* of buffers: 0 is A; of cubemaps: 0 is Cube A */
	int rank;     /* order within a frame */
	char *name;   /* in the manifest */
	char *source; /* path in the project */
};

struct site {
	const char *name; /* of the document, for messages */
	struct tree *tree;
	struct site_media media;
	struct site_pass *pass;
	size_t npass;
	struct map names;   /* of passes and assets */
	struct map sources; /* paths, lower case */
	/* For warnings: "iChannel0 of 'Image' (why)", and so on. */
	struct buf dropped, unbound, live, srgb, odd;
};

/* What the site's own media is, for exports that leave things out. */
struct site_stock {
	const char *id; /* or null: only the path is known */
	const char *kind, *path;
	int channels; /* 1: uploaded with one */
};
/* By id, or by the hash in a path; either may be null. Or null. */
const struct site_stock *site_find_stock(const char *id, const char *path);

/* Members of the export's objects ------------------------------------------- */

const cJSON *site_get(const cJSON *object, const char *key);
/* A text that is there and is not blank; or null. */
const char *site_text(const cJSON *object, const char *key);

/* Slots: buffers A to D, and cubemaps ----------------------------------------- */

/* Gives buffers, or cubemaps, their slots: first those that say theirs. */
void site_give_slots(struct site *s, enum site_kind kind);

/* Inputs --------------------------------------------------------------------- */

/*
 * Adds the inputs of a pass, one a channel, to the manifest's list. What is no
 * input is left out, with a note; so is what cannot be bound.
 */
int site_read_inputs(struct site *s, const struct site_pass *pass, cJSON *list,
    struct err *err) WARN_UNUSED;

#endif

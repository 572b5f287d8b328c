#ifndef STBUILD_GRAPH_KEYS_H
#define STBUILD_GRAPH_KEYS_H

/*
 * Recipe keys of the nodes that some frames of a variant rest on.
 * Nodes with equal keys are one: each has a canonical node, the first with its
 * key, and everything behind this module speaks of canonical nodes.
 *
 * Nodes of passes that share a program and inputs are one only if both have
 * mip chains on the same outputs, or neither: their texture has them, or not.
 *
 * A node has two keys. Its plain key is the recipe with the plain keys of its
 * inputs: it knows of no alias and never changes. Its key is what products are
 * stored under: the recipe with its inputs' keys, where those are aliases of
 * earlier ones; so that work done under other recipes is found. Since aliases
 * are found one by one, that alone would change with each: what is stored is
 * bound to its plain key (an alias as well), and found by it first.
 */

#include <stddef.h>
#include <stdint.h>

#include "graph/builtin.h"
#include "graph/encoder.h"
#include "graph/graph.h"
#include "graph/nodes.h"
#include "util/limits.h"
#include "util/sha256.h"

/* What keys need to know of a compiled pass. */
struct key_program {
	const struct buf *tokens; /* project/shader.h */
	int has_discard;
	const struct reflection *reflection;
	const struct part *part; /* project/part.h: for texts only */
	size_t npart;
};

struct key_hooks {
	/* 1 and *earlier when the key is an alias; may be null. */
	int (*alias)(void *data, const struct sha256 *key, struct sha256 *earlier);
	/* 1 when something is stored under the key of a node or a version. */
	int (*is_stored)(void *data, const struct sha256 *key);
	void *data;
};

/* One storage buffer's content between two writes. */
struct version {
	struct sha256 key;
	int storage;     /* index in graph->storage */
	uint32_t writer; /* canonical node that produces it; NODE_NONE: zeros */
	uint32_t maker;  /* the node itself, canonical or not */
};

struct keys {
	const struct scene *scene;         /* borrowed */
	const struct key_program *program; /* borrowed; a pass each */
	struct nodes nodes;
	struct sha256 *static_part; /* a pass each */
	struct sha256 *key;         /* a node each: after aliases */
	struct sha256 *plain;       /* a node each: without any; null: all the same */
	uint32_t *canon;            /* a node each: the first with its key and mips */
	uint32_t *next_same;        /* a node each: a list behind each canonical one */
	int *is_read;               /* a pass each: keys may hold keys of its nodes */
	struct version *version;
	struct sha256 *plain_version; /* a version each; null with plain */
	size_t nversion, version_cap, plain_cap;
	/* (node x nstorage): version a node finds; and after the last node. */
	uint32_t *found;
	const struct sha256 *found_key; /* keys.c's own: null */
};

/*
 * Keys of what the frames (ascending) rest on: nodes.h. -1 when that is more
 * than can be planned at once.
 */
int keys_compute(const struct scene *scene, const struct key_program *program,
    const struct sha256 *driver, const int *frame, size_t nframe,
    const struct key_hooks *hooks, struct keys *out, struct err *err) WARN_UNUSED;
void keys_release(struct keys *k);

/* Node number of pass p at frame t; NODE_NONE for t < 0, or not listed. */
uint32_t keys_node(const struct keys *k, int p, int t);
int keys_node_pass(const struct keys *k, uint32_t node);
int keys_node_frame(const struct keys *k, uint32_t node);
/* The node's key without any alias. */
const struct sha256 *keys_plain(const struct keys *k, uint32_t node);
const struct sha256 *keys_plain_version(const struct keys *k, uint32_t version);
/* Version of a storage buffer behind frame t, one of those asked for. */
uint32_t keys_version_after(const struct keys *k, int storage, int t);

/* What a node takes, each by canonical node; for plans, sweeps and texts. */
enum take_kind { TAKE_CHANNEL, TAKE_HISTORY, TAKE_STORAGE };
struct take {
	enum take_kind kind;
	const struct input_ref *input; /* CHANNEL from a pass */
	uint32_t node;                 /* canonical, or NODE_NONE: zeros */
	uint32_t version;              /* STORAGE */
	const struct active_block *block;
	int is_written; /* STORAGE: makes a new version */
	uint32_t next_version;
};
#define TAKE_MAX (LIMIT_CHANNELS + 1 + LIMIT_STORAGE_NAMES)
/* Fills out with what node takes when it is drawn; returns how many. */
size_t keys_takes(const struct keys *k, uint32_t node, struct take out[TAKE_MAX]);
/*
 * Another key for a canonical node and its likes, once it is known to be an
 * alias; of a pass that is not read, so that no other key changes.
 */
void keys_replace(struct keys *k, uint32_t node, const struct sha256 *key);
/* 1 when keys may hold the key of the node, or of one that is the same. */
int keys_is_read(const struct keys *k, uint32_t node);
/* The node whose picture a node draws over, by the rules of history. */
uint32_t keys_history(const struct keys *k, uint32_t node);

/* Key of the content that a node with this key leaves in a storage buffer. */
void keys_version_key(const struct sha256 *node, const char *storage, struct sha256 *out);

/*
 * The key of sound pass p, which is in no frame: static part, active uniforms
 * and inputs at frame 0, sample rate; not its length. program is one a pass, of
 * which p's is looked at.
 */
void keys_of_sound(const struct scene *scene, const struct key_program *program, int p,
    const struct sha256 *driver, struct sha256 *static_part, struct sha256 *out);

#endif

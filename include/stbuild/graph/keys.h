#ifndef STBUILD_GRAPH_KEYS_H
#define STBUILD_GRAPH_KEYS_H

/*
 * Recipe keys of all nodes of a variant up to a frame (DESIGN 4). Nodes with
 * equal keys are one: each (frame, pass) has a canonical node, the first with
 * its key, and everything behind this module speaks of canonical nodes.
 *
 * Nodes of passes that share a program and inputs are one only if both have
 * mip chains on the same outputs, or neither: their texture has them, or not.
 *
 * Nodes are numbered frame x norder + position, so that a smaller number runs
 * earlier.
 */

#include <stddef.h>
#include <stdint.h>

#include "graph/builtin.h"
#include "graph/encoder.h"
#include "graph/graph.h"
#include "util/limits.h"
#include "util/sha256.h"

/* What keys need to know of a compiled pass. */
struct key_program {
	const struct buf *tokens;	/* project/shader.h */
	int has_discard;
	const struct reflection *reflection;
	const struct part *part;	/* project/part.h: for texts only */
	size_t npart;
};

struct key_hooks {
	/* 1 and *earlier when the key is an alias; may be null. */
	int (*alias)(void *data, const struct sha256 *key,
		struct sha256 *earlier);
	void *data;
};

#define NODE_NONE ((uint32_t)-1)	/* no node: zeros */

/* One storage buffer's content between two writes. */
struct version {
	struct sha256 key;
	int storage;		/* index in graph->storage */
	uint32_t writer;	/* canonical node that produces it; NODE_NONE: zeros */
};

struct keys {
	const struct scene *scene;	/* borrowed */
	const struct key_program *program;	/* borrowed; a pass each */
	int nframe;		/* frames 0 .. nframe - 1 */
	int norder;
	struct sha256 *static_part;	/* a pass each */
	struct sha256 *key;	/* a node each: after aliases */
	uint32_t *canon;	/* a node each: the first with its key and mips */
	uint32_t *next_same;	/* a node each: a list behind each canonical one */
	int *is_taken;		/* a pass each: keys may hold keys of its nodes */
	struct version *version;
	size_t nversion, version_cap;
	/* (node x nstorage): version a node finds; and after the last node. */
	uint32_t *found;
};

/* 0, or -1 when memory for so many frames would pass limits. */
int keys_compute(const struct scene *scene, const struct key_program *program,
	const struct sha256 *driver, int nframe, const struct key_hooks *hooks,
	struct keys *out, struct err *err) WARN_UNUSED;
void keys_release(struct keys *k);

/* Node number of pass p at frame t; NODE_NONE for t < 0. */
uint32_t keys_node(const struct keys *k, int p, int t);
int keys_node_pass(const struct keys *k, uint32_t node);
int keys_node_frame(const struct keys *k, uint32_t node);
/* Version of a storage buffer behind frame t (t >= 0). */
uint32_t keys_version_after(const struct keys *k, int storage, int t);

/* What a node takes, each by canonical node; for plans, sweeps and texts. */
enum take_kind { TAKE_CHANNEL, TAKE_HISTORY, TAKE_STORAGE };
struct take {
	enum take_kind kind;
	const struct input_ref *input;	/* CHANNEL from a pass */
	uint32_t node;			/* canonical, or NODE_NONE: zeros */
	uint32_t version;		/* STORAGE */
	const struct active_block *block;
	int is_written;			/* STORAGE: makes a new version */
	uint32_t next_version;
};
#define TAKE_MAX (LIMIT_CHANNELS + 1 + LIMIT_STORAGE_NAMES)
/* Fills out with what node takes when it is drawn; returns how many. */
size_t keys_takes(const struct keys *k, uint32_t node,
	struct take out[TAKE_MAX]);
/*
 * Another key for a canonical node and its likes, once it is known to be an
 * alias; of a pass that is not taken, so that no other key changes.
 */
void keys_replace(struct keys *k, uint32_t node, const struct sha256 *key);
/* 1 when keys may hold the key of the node, or of one that is the same. */
int keys_is_taken(const struct keys *k, uint32_t node);
/* The node whose picture a node draws over, by the rules of history. */
uint32_t keys_history(const struct keys *k, uint32_t node);

/* Key of the content that a node with this key leaves in a storage buffer. */
void keys_version_key(const struct sha256 *node, const char *storage,
	struct sha256 *out);

/*
 * The key of sound pass p, which is in no frame: static part, active uniforms
 * and inputs at frame 0, sample rate; not its length. program is one a pass, of
 * which p's is looked at. text as in keys_explain, or null.
 */
void keys_of_sound(const struct scene *scene,
	const struct key_program *program, int p, const struct sha256 *driver,
	struct buf *text, struct sha256 *static_part, struct sha256 *out);

/*
 * Encodes the recipe of a node once more with a text beside it: a line a field,
 *
 *	FIELD: VALUE
 *	FIELD: VALUE <tab> HASH
 *
 * where the hash is that of what comes from elsewhere (the key of a pass's
 * output, an asset's bytes, a storage buffer's version). Hashes are cut to 16
 * digits. The hash in *out is that of the node.
 */
void keys_explain(const struct keys *k, uint32_t node, struct buf *text,
	struct sha256 *out);
/*
 * The same of a pass's static part. Parts of its source (project/part.h) are
 * lines as well, with their file behind the tab; what the key does not see is
 * in fields that begin with "unused".
 */
void keys_explain_static(const struct keys *k, int p,
	const struct sha256 *driver, struct buf *text, struct sha256 *out);

#endif

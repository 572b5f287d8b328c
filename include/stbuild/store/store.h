#ifndef STBUILD_STORE_STORE_H
#define STBUILD_STORE_STORE_H

/*
 * The store: .stbuild/ in the project's root. Objects are files
 * named by their SHA-256; everything else is rows in stbuild.db. A row whose
 * object is gone, or a torn object, is a miss and never an error. Only the
 * main thread calls these functions, but for object_write.
 *
 * Keys are SHA-256 hashes of recipes (graph/key.h); a product is one output
 * of a node, or the content of a storage buffer at one version.
 */

#include <stddef.h>
#include <stdint.h>

#include "util/tree.h"
#include "util/err.h"
#include "util/fs.h"
#include "util/sha256.h"

struct buf;
struct store;

enum store_mode {
	STORE_READ,  /* no lock; an absent store reads as empty */
	STORE_BUILD, /* created when absent; shared lock */
	/*
	 * gc, fsck --repair, clean --store. An absent store reads as empty, and
	 * with a warning one whose database is damaged.
	 */
	STORE_EXCLUSIVE,
	STORE_TRY_EXCLUSIVE /* the same, but fails at once when others build */
};

/*
 * Opens the store in dir. Waiting for the lock says for whom (pid, host,
 * command) through the log; a signal caught by util/proc.h ends the wait. An
 * older database is upgraded in a transaction after a copy (for STORE_READ it
 * reads as empty), a newer one is refused (STATUS_MACHINE). The lock belongs to
 * the process, so a process has one store at most that is not STORE_READ.
 * What adds rows fails in a store opened for reading.
 */
int store_open(const char *dir, enum store_mode mode, const char *command,
    struct store **out, struct err *err) WARN_UNUSED;
void store_close(struct store *s);
/*
 * Removes the whole store, which is open exclusively; only store_close may
 * follow. It goes out of its place at once: killed midway, this leaves no half
 * of a store.
 */
int store_remove(struct store *s, struct err *err) WARN_UNUSED;
/* 0 for STORE_READ: what adds rows would fail. */
int store_can_write(const struct store *s);
const char *store_dir(const struct store *s);
/*
 * For units that belong together; nests by counting. commit ends a level also
 * when it fails. After the rollback of an inner level the outer commit fails
 * and nothing is written. Keep it short: other builders wait at store_begin.
 */
int store_begin(struct store *s, struct err *err) WARN_UNUSED;
int store_commit(struct store *s, struct err *err) WARN_UNUSED;
void store_rollback(struct store *s);
/*
 * Between these, look-ups share one view and one lock of the database, which
 * makes thousands of them cheap; nothing is written meanwhile.
 */
void store_hold(struct store *s);
void store_unhold(struct store *s);

/* Objects ---------------------------------------------------------------- */

/*
 * Writes bytes as an object below the store folder (tmp, then rename), and
 * gives its name: 0, 1 when a file of that name and size stands there already
 * (which nobody has looked into), or -1. Any thread.
 */
int object_write(const char *store_dir, const void *data, size_t n, struct sha256 *out,
    struct err *err) WARN_UNUSED;
/* 1 when the object's file stands and has that size (one stat). */
int object_has(const struct store *s, const struct sha256 *sha, uint64_t size);
/*
 * Reads all bytes of an object into data (n bytes), and checks its hash: 1 on
 * success, 0 when missing, torn or unreadable (it is then removed, with a
 * warning). Bytes rot under an unchanged stamp: no stamp spares the hash.
 */
int object_read(struct store *s, const struct sha256 *sha, void *data, size_t n);
/*
 * Opens an object's file of n bytes to read: a descriptor, or -1 when it is
 * missing or unreadable. *is_whole is 1 when its hash was checked since the
 * store was opened; else whoever uses the bytes has to do so before anything
 * that came of them is recorded: object_hash on any thread, its result to
 * object_checked.
 */
int object_open(struct store *s, const struct sha256 *sha, uint64_t n, int *is_whole);
/* 1 when the n bytes of the file have that hash. fd's place is not moved. */
int object_hash(int fd, const struct sha256 *sha, uint64_t n);
/* A torn one is removed, with a warning. */
void object_checked(struct store *s, const struct sha256 *sha, int is_whole);
/* objects/ab/...: owned by the caller. */
char *object_path(const struct store *s, const struct sha256 *sha);

/* Nodes and products ------------------------------------------------------ */

struct product {
	struct sha256 key; /* recipe key, or version of a storage buffer */
	int index;         /* output; 0 for storage */
	struct sha256 object;
	uint64_t size;
};

struct node_row {
	struct sha256 key;
	const char *pass; /* name */
	int frame;
	const char *shape; /* sizes and formats of its products, as text */
	int width, height;
	uint64_t gpu_ns; /* of its draw */
	uint64_t bytes;  /* of its outputs */
};

/*
 * 1 and *out when the product is recorded and its object stands (stat'ed),
 * else 0. Aliases are the caller's business.
 */
int store_product(struct store *s, const struct sha256 *key, int index,
    struct product *out);
/* Records products and nodes; idempotent. Objects were written before. */
int store_add_product(struct store *s, const struct product *p,
    struct err *err) WARN_UNUSED;
int store_add_node(struct store *s, const struct node_row *node,
    struct err *err) WARN_UNUSED;
/*
 * 1 when the node was drawn before; gpu_ns of it. out->pass and shape are the
 * store's, until the next call.
 */
int store_node(struct store *s, const struct sha256 *key, struct node_row *out);
/*
 * Earlier nodes of the same pass, frame and shape with other keys, the last
 * used first: whose bytes a new node may turn out to have. Returns how many of
 * max were found.
 */
size_t store_candidates(struct store *s, const struct node_row *node, struct sha256 *out,
    size_t max);
/*
 * Median of the recorded GPU times of a pass's static part at a size in
 * pixels; 0 when nothing is known.
 */
int store_add_cost(struct store *s, const struct sha256 *static_part, uint64_t npixel,
    uint64_t gpu_ns, struct err *err) WARN_UNUSED;
uint64_t store_cost(struct store *s, const struct sha256 *static_part, uint64_t npixel);
/* The earlier key that a recipe key stands for, 1; or 0. */
int store_alias(struct store *s, const struct sha256 *key, struct sha256 *out);
int store_add_alias(struct store *s, const struct sha256 *key,
    const struct sha256 *earlier, struct err *err) WARN_UNUSED;
/*
 * Marks a key's objects as used by the running build, for gc. What is looked
 * up is marked anyhow. Written at the next commit, at most once a day.
 */
int store_touch(struct store *s, const struct sha256 *key, struct err *err) WARN_UNUSED;

/* Programs and drivers ---------------------------------------------------- */

struct program_row {
	struct sha256 program_id;
	struct sha256 driver; /* identity */
	int ok;
	char *log;        /* owned */
	void *reflection; /* reflection_encode's form; owned */
	size_t nreflection;
};

/* 1 when known. *out is the caller's. */
int store_program(struct store *s, const struct sha256 *program_id,
    const struct sha256 *driver, struct program_row *out);
int store_add_program(struct store *s, const struct program_row *row,
    struct err *err) WARN_UNUSED;
void program_row_release(struct program_row *row);

struct driver_row {
	struct sha256 identity;
	char *identity_text;
	char *vendor, *renderer, *version, *glsl_version, *device;
	int gl_version, has_es3, is_software;
	int max_texture_size, max_storage_bindings;
	uint64_t max_storage_bytes;
	char *mapped;        /* paths, one a line */
	struct sha256 stamp; /* render/stamp.h, over the paths and option */
	char *option;        /* --device as given, "" for none */
};

/* The newest driver seen with that --device option: 1, or 0. */
int store_driver(struct store *s, const char *option, struct driver_row *out);
int store_add_driver(struct store *s, const struct driver_row *row,
    struct err *err) WARN_UNUSED;
void driver_row_release(struct driver_row *row);

/* Files ------------------------------------------------------------------- */

/*
 * Hash cache over the store's stat table (trusted when both stamps
 * were older than 2 s at hashing time). Rows are written at store_close or
 * store_commit, in one go. Valid while the store is open.
 */
const struct tree_cache *store_stat_cache(struct store *s);

/* Git blob id (20 bytes) with its filters -> SHA-256 of the bytes: 1 or 0. */
int store_blob(struct store *s, const unsigned char oid[20], struct sha256 *out);
int store_add_blob(struct store *s, const unsigned char oid[20], const struct sha256 *sha,
    struct err *err) WARN_UNUSED;

/* Bundles and history ----------------------------------------------------- */

struct bundle_file {
	char *key;  /* artifact key of trace.json; "trace" for trace.json */
	char *path; /* relative to the bundle; "": itself, a lone file */
	uint64_t size;
	struct sha256 sha;
	struct sha256 origin;  /* what it was made from, and how */
	struct fs_stamp stamp; /* taken after the bundle is in its place */
	int is_intact;         /* not stored: for whoever has looked */
};

struct bundle_row {
	char *path;  /* relative to the project's root, or absolute */
	char *trace; /* trace name, "sound:NAME", "" for one-off captures */
	int frame;
	struct sha256 variant;
	struct sha256 stable_id;  /* trace/bundle.h: rewritten when it differs */
	struct sha256 content_id; /* pictures, state, intermediates */
	struct sha256 inputs_id;  /* over all that decides the content */
	char commit[41];          /* hex; "" when none */
	int dirty;
	struct bundle_file *file;
	size_t nfile;
};

int store_bundle(struct store *s, const char *path, struct bundle_row *out);
int store_add_bundle(struct store *s, const struct bundle_row *row,
    struct err *err) WARN_UNUSED;
int store_remove_bundle(struct store *s, const char *path, struct err *err) WARN_UNUSED;
void bundle_row_release(struct bundle_row *row);
/*
 * Calls each(data, row) for all recorded bundles, by path; stops on non-0.
 * each may add rows and remove the bundle it was given.
 */
int store_each_bundle(struct store *s,
    int (*each)(void *data, const struct bundle_row *row), void *data,
    struct err *err) WARN_UNUSED;

/* A content seen at a commit ("" outside git): kept for ever. */
struct history_row {
	char *trace;
	int frame;
	struct sha256 variant;
	struct sha256 content_id;
	char commit[41];
	int dirty;
	int64_t time; /* seconds since 1970 */
};
int store_add_history(struct store *s, const struct history_row *row,
    struct err *err) WARN_UNUSED;
/* All rows of a trace (null: of all; frame -1: all frames), oldest first. */
int store_each_history(struct store *s, const char *trace, int frame,
    int (*each)(void *data, const struct history_row *row), void *data,
    struct err *err) WARN_UNUSED;

/*
 * Remembers that the bundles of a content were written from a key's products.
 * The objects of contents that matter are what gc must keep. Calls each for
 * those that still stand.
 */
int store_add_content(struct store *s, const struct sha256 *content_id,
    const struct sha256 *key, struct err *err) WARN_UNUSED;
int store_each_content_object(struct store *s, const struct sha256 *content_id,
    void (*each)(void *data, const struct sha256 *object), void *data,
    struct err *err) WARN_UNUSED;

/*
 * Named blobs for whatever recomputes cheaply: digests of runs that changed
 * nothing, the key text last used by a trace (for why). 1 and the bytes
 * appended, or 0.
 */
int store_memo(struct store *s, const char *kind, const struct sha256 *key,
    struct buf *out);
int store_add_memo(struct store *s, const char *kind, const struct sha256 *key,
    const void *data, size_t n, struct err *err) WARN_UNUSED;

/* Numbers for stats --------------------------------------------------------- */

struct store_stats {
	uint64_t nnode, nproduct, nobject, object_bytes;
	uint64_t db_bytes; /* with its log */
	uint64_t nprogram, nbundle, nhistory, nalias;
	uint64_t product_bytes; /* of objects that are products */
};
int store_stats(struct store *s, struct store_stats *out, struct err *err) WARN_UNUSED;

#endif

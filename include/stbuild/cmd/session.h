#ifndef STBUILD_CMD_SESSION_H
#define STBUILD_CMD_SESSION_H

/*
 * A project as commands see it: where it is, its manifest, and on demand its
 * store, repository, driver and worker. What is not asked for is not opened.
 */

#include "cmd/options.h"
#include "project/manifest.h"
#include "util/tree.h"
#include "project/variant.h"
#include "render/worker.h"
#include "store/store.h"
#include "capture/programs.h"
#include "util/err.h"
#include "vcs/repo.h"

/* What a command may do about the store. */
enum session_store {
	SESSION_READ, /* read it, without lock; absent: an empty one */
	SESSION_USE,  /* write to it if it is there, else have none */
	SESSION_PLAN, /* as READ: what only reports writes nothing */
	SESSION_BUILD /* create it when it is first asked for */
};

struct session {
	struct options *options; /* borrowed */
	const char *command;     /* for whoever waits for our lock */
	enum session_store use;
	/* From the current folder: ".", "..", or the folder of -f. */
	char *root;
	char *path;        /* the manifest's, from root; or null */
	char commit[41];   /* whose files are read; "" for the work tree's */
	char *commit_path; /* manifest by -f, looked for in commits; or null */
	struct tree *tree; /* the files below root */
	struct manifest manifest;
	int has_manifest;
	struct inputs inputs; /* of the load, then of the commands */
	/* The rest is behind the functions below. */
	char *store_dir;
	struct tree_cache cache;
	struct repo_cache blob_cache;
	struct store *store;
	struct repo *repo;
	int repo_was_tried;
	int has_repo_fault; /* there is one that cannot be opened */
	struct worker *worker;
	struct driver_row driver;
	int has_driver;
	int driver_changed;
	uint32_t next_program;
	int programs_compiled;
};

/*
 * Finds the project: -f, or the nearest folder with a manifest, from the
 * current one up to the repository's root (stbuild(1)), and opens
 * its tree. No manifest is read. s needs no initialisation.
 */
int session_find(struct session *s, struct options *o, const char *command,
    enum session_store use, struct err *err) WARN_UNUSED;
/* Then loads the manifest. All its errors are reported. */
int session_load(struct session *s, struct err *err) WARN_UNUSED;
/* Both. */
int session_open(struct session *s, struct options *o, const char *command,
    enum session_store use, struct err *err) WARN_UNUSED;
/*
 * The same for a revision: the manifest and all files are those of the commit.
 * rev null is session_open. The project's folder is that of the work tree, or
 * as -f says, which may then name a file that only the commit has. In a bare
 * repository --store is wanted where anything is written, and s->root is then
 * the store.
 */
int session_open_rev(struct session *s, struct options *o, const char *command,
    enum session_store use, const char *rev, struct err *err) WARN_UNUSED;
/*
 * The project's folder and the repository alone, for commands that go from
 * commit to commit with session_at. *s is without tree and manifest.
 */
int session_open_history(struct session *s, struct options *o, const char *command,
    enum session_store use, struct err *err) WARN_UNUSED;
/*
 * Goes to another commit (40 hex digits): tree, manifest and inputs are its,
 * all else stays. All errors are in errs; the session is then at no commit.
 */
int session_at(struct session *s, const char *commit, struct errs *errs) WARN_UNUSED;
/* Without a project or a store: for what needs a worker only. */
void session_bare(struct session *s, struct options *o, const char *command);
/* Removes what killed processes left in the project's own folders. */
void session_clean(const struct session *s);
/* Takes a zeroed one, and one whose opening failed. */
void session_close(struct session *s);

/*
 * The store (borrowed), opened as the session's "use" says: null for
 * SESSION_USE where there is none.
 */
int session_store(struct session *s, struct store **out, struct err *err) WARN_UNUSED;
/* Closes it; what it was lent to may not be used any more. */
void session_close_store(struct session *s);
/* Where it is, or would be. */
const char *session_store_dir(const struct session *s);
/*
 * The repository, borrowed; null when there is none, or (after one warning)
 * when it cannot be opened.
 */
struct repo *session_repo(struct session *s);

/*
 * A worker whose context is made, started when first asked for and again after
 * the last one has died. Its driver is recorded in the store.
 */
int session_worker(struct session *s, struct worker **out, struct err *err) WARN_UNUSED;
/* What to start further workers with. */
void session_worker_options(const struct session *s, struct worker_options *out);
/*
 * The driver that a worker has or would have (borrowed): from the record when
 * its stamp still holds, without GL, else from a worker. Should a worker then
 * prove the record wrong, s->driver_changed is set and the driver is the new
 * one: keys made before are void.
 */
int session_driver(struct session *s, const struct driver_row **out,
    struct err *err) WARN_UNUSED;

/*
 * Fills in what programs are made with: the session's tree, inputs, store,
 * driver and, on demand, worker.
 */
int session_programs(struct session *s, struct program_env *out,
    struct err *err) WARN_UNUSED;

#endif

#ifndef STBUILD_TRACE_CAPTURE_IMPL_H
#define STBUILD_TRACE_CAPTURE_IMPL_H

/*
 * Private to captures. capture.c makes groups of requests and decides what is
 * current; capture_inputs.c reads assets, programs and git's state;
 * capture_run.c plans and runs sweeps; candidates.c finds aliases; products.c
 * brings bytes to the store; capture_write.c writes bundles and records
 * them; capture_why.c records what they came from.
 */

#include "group.h"
#include "render/sweep.h"
#include "capture/assembly.h"
#include "util/map.h"
#include "util/pool.h"

/* A worker and the group it renders. */
struct runner {
	struct capture *capture;
	struct worker *worker; /* null: not started */
	int is_session_worker;
	struct group *group; /* null: idle */
	struct sweep *sweep;
	int nstoring; /* products on their way to the store */
	int nassembling;
	int nmiss;              /* times that a stored product was not there */
	int nround;             /* plans since a bundle was last finished */
	int nverifying;         /* loaded objects whose hash is being checked */
	int has_rotten;         /* one of them was not what its name says */
	struct store_job *held; /* stored, and not recorded until they are */
	uint64_t unsaved_ns;    /* of draws since state was last stored */
	struct map program;     /* by program id: its number in the worker */
};

struct capture {
	const struct capture_env *env;
	struct capture_result *result;
	struct sha256 driver; /* identity that keys were made with */
	struct asset_set assets;
	struct program_set **set;
	size_t nset;
	struct group **group; /* in request order */
	size_t ngroup;
	size_t next_group; /* the first that was not started */
	struct runner *runner;
	int nrunner;
	struct pool *pool;
	uint64_t assembly_bytes; /* what the bundles being written may take */
	size_t ncollected;       /* times that finished jobs were taken */
	struct map drawn;        /* keys drawn in this run */
	struct map looked;       /* passes whose loops were looked at */
	struct map written;      /* objects whose files this run made */
	uint64_t nalias;         /* found in this run */
	int is_waiting;          /* the next group, until another is done */
	struct map known_list;   /* hashes of lists stored in this run */
	struct map failed;       /* keys that cannot be: index in fault */
	struct errs fault;
	uint64_t ndraw_planned;
	long long progress_at;
	int is_stopping; /* a target failed without keep_going */
	int driver_changed;
};

/* capture_inputs.c */
int capture_refuse_live(const struct manifest *m, struct err *err) WARN_UNUSED;
/* Hashes all assets and finds their sizes. */
int capture_load_assets(struct capture *c, struct err *err) WARN_UNUSED;
/* Decodes asset a, unless it is. */
int capture_read_asset(struct capture *c, size_t a, struct err *err) WARN_UNUSED;
/* The programs for a variant's preset: made once a preset. */
int capture_find_set(struct capture *c, const struct variant *v, struct program_set **out,
    struct err *err) WARN_UNUSED;
void program_set_free(struct program_set *set);

/* capture_write.c */
void capture_fail_job(struct capture *c, struct job *job, const struct err *cause);
int capture_was_drawn(const struct capture *c, const struct sha256 *key);
/* A job that needs no content: current, or retagged. */
int capture_finish_job(struct capture *c, const struct group *g, struct job *job,
    struct err *err) WARN_UNUSED;
/* Starts all bundles whose products have arrived, in frame order. */
int capture_assemble_ready(struct runner *r, struct err *err) WARN_UNUSED;
/* What follows an assembly on the main thread. */
int capture_end_assembly(struct pool_job *job, struct err *err) WARN_UNUSED;

/* capture_why.c */
/* Records what decided the content of a bundle that is recorded now. */
int capture_record_why(struct capture *c, struct group *g, const struct job *job,
    struct err *err) WARN_UNUSED;
/* Finds the reasons of a job that is not current. */
void capture_explain(struct capture *c, struct group *g, struct job *job);
/* Finds out whether a stale bundle was made with another driver. */
void capture_note_driver(struct capture *c, struct group *g);

/* capture_run.c */
void capture_make_plan(struct capture *c, struct group *g);
/* Runs all groups until they are done, one fails, or a signal comes. */
int capture_run_groups(struct capture *c, struct err *err) WARN_UNUSED;

/*
 * Warns once a pass when a draw of it at frame t is certain to have more
 * iterations of loops than the driver runs (llvmpipe leaves the rest out).
 */
void capture_report_loops(struct capture *c, const struct group *g, int p, int t,
    int is_captured);

#endif

#ifndef STBUILD_TRACE_GROUP_H
#define STBUILD_TRACE_GROUP_H

/*
 * Private to captures: all bundles of one variant, which share keys, plan and
 * sweep; and what groups of one preset share, their programs.
 */

#include "graph/plan.h"
#include "project/image.h"
#include "graph/record.h"
#include "capture/capture.h"
#include "capture/programs.h"
#include "format/trace_json.h"
#include "util/map.h"

/* The programs of one preset, and what was read for them. */
struct program_set {
	char *preset; /* or null */
	struct programs programs;
	struct key_program *key_program; /* a pass each */
	struct sha256 *source_sha;       /* a pass each: portable text */
	struct inputs inputs;            /* manifest, sources, assets, absent probes */
	struct git_state git;
	struct errs errs; /* why it is not ok */
	int ok;
};

/* The project's assets: hashed at first, decoded when somebody draws. */
struct asset_set {
	struct asset_info *info; /* an asset each */
	struct image *image;     /* data null: not decoded */
	char **resolved;         /* path within the tree */
};

/* What is up with one bundle. */
struct job {
	struct capture_bundle *result; /* borrowed, of the capture's result */
	const struct capture_request *request;
	int frame;
	char *path;              /* as recorded: below the root, or as -o says */
	struct sha256 timeline;  /* hash over what it holds of that */
	struct sha256 inputs_id; /* hash over all that decides its content */
	struct bundle_row row;   /* as recorded; path null: not */
	int is_intact;           /* recorded, and every file as recorded */
	int keeps_git;           /* its files are put back under its old tag */
	int needs_content;       /* is not current: to be assembled */
	int is_retagged;
	int is_under_way; /* its assembly runs */
	int is_done;
};

/*
 * Whether a node that was drawn may have the bytes of an earlier one. While it
 * is open, nothing that reads the node is drawn: an alias may spare it.
 */
enum alias_search {
	ALIAS_SEARCH_UNKNOWN,
	ALIAS_SEARCH_NONE,
	ALIAS_SEARCH_OPEN,
	ALIAS_SEARCH_CLOSED,
};

struct group {
	struct variant variant;
	struct graph graph;
	struct scene scene;
	struct program_set *set; /* borrowed */
	struct keys keys;
	struct plan plan;
	struct job *job; /* by frame, once prepared */
	size_t njob, job_cap;
	size_t first_open;                /* of job: those before are done or under way */
	struct buf sttf;                  /* project.sttf, made when first needed */
	struct sha256 sttf_timeline;      /* of the job that it was made for */
	int reach;                        /* frames that a picture looks back; -1: to 0 */
	unsigned char *is_stored;         /* a node each: all its outputs, in this run */
	unsigned char *noutput_stored;    /* a node each */
	unsigned char *is_version_stored; /* a version each */
	uint64_t *gpu_ns;                 /* a node each: of its draw in this run */
	unsigned char *alias_search;      /* a node each: enum alias_search */
	int needs_rekey;                  /* an alias was found that changes keys */
	uint64_t nalias;                  /* aliases of the run that keys are made with */
	struct record record;             /* zeroed, or what its jobs have in common */
	int has_keys, has_plan;
};

void group_release(struct group *g);
/* What of the timeline the pictures at a frame rest on. */
void group_timeline(const struct group *g, int frame, struct timeline_part *out);
/*
 * Appends the manifest's leaves as far as they count for all bundles of a
 * variant: without the timeline.
 */
void group_settings(const struct variant *v, struct facts *out);

/*
 * Computes keys up to the last frame, each job's inputs_id, and which jobs
 * need something. all do with env->always.
 */
int group_prepare(struct group *g, const struct capture_env *env,
    const struct driver_row *driver, const struct asset_set *assets,
    struct err *err) WARN_UNUSED;

/* The same again, once an alias was found. */
int group_rekey(struct group *g, const struct capture_env *env,
    const struct driver_row *driver, struct err *err) WARN_UNUSED;
/*
 * Binds what is stored to its plain keys (graph/keys.h), so that it is found
 * whatever aliases come: all that is stored at a frame, or a node and those
 * with its key.
 */
int group_bind_frame(struct group *g, struct store *store, int frame,
    struct err *err) WARN_UNUSED;
int group_bind_like(struct group *g, struct store *store, uint32_t node,
    struct err *err) WARN_UNUSED;
/* 1 while some job is not done. */
int group_is_open(const struct group *g);
/* Frames of the jobs that wait for content, ascending; *frame is the caller's. */
size_t group_frames(const struct group *g, int **frame);

/* 1 when every product wanted at the frame is in the store. */
int group_frame_is_stored(const struct group *g, int frame);
/* 1 when a node wanted at the frame cannot be drawn; *which is it. */
int group_frame_has_failed(const struct group *g, int frame, uint32_t *which);

#endif

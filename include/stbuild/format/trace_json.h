#ifndef STBUILD_FORMAT_TRACE_JSON_H
#define STBUILD_FORMAT_TRACE_JSON_H

/*
 * What trace.json says (sttrace(5)), but for state_header, which is
 * null, and artifacts, which come with the files.
 */

#include <cjson/cJSON.h>

#include "graph/keys.h"
#include "store/store.h"
#include "util/sha256.h"
#include "vcs/repo.h"

struct trace_timing { /* a reached pass each, in execution order */
	int pass;
	uint64_t gpu_ns;
};

/* Where the inputs stand against HEAD. */
struct git_state {
	int has_head;
	struct repo_commit head;
	char **dirty; /* paths of inputs that differ, in order */
	size_t ndirty;
};
void git_state_release(struct git_state *g);
/* The "git" section; null (the JSON value) without a commit. */
cJSON *git_json(const struct git_state *git);

struct trace_facts { /* all borrowed */
	const struct keys *keys;
	const struct variant *variant; /* with the timeline that is to be told */
	int frame;
	const struct sha256 *source_sha; /* a pass each, portable text */
	const struct inputs *inputs;
	const struct driver_row *driver;
	const struct git_state *git;
	const struct trace_timing *timing;
	size_t ntiming;
};

/* Owned by the caller. */
cJSON *trace_json(const struct trace_facts *facts);

#endif

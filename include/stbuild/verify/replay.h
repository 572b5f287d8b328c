#ifndef STBUILD_VERIFY_REPLAY_H
#define STBUILD_VERIFY_REPLAY_H

/*
 * Renders a bundle's frame again from its project.sttf alone and compares:
 * the picture byte by byte, the state buffer by buffer. A bundle that the
 * shadertoy CLI wrote is drawn by that program's rules (graph/rules.h).
 */

#include <stdint.h>

#include "graph/rules.h"
#include "store/store.h"
#include "format/bundle.h"
#include "util/buf.h"
#include "util/err.h"

struct worker;

/* Things that a replay by another program's rules cannot know. */
#define REPLAY_UNKNOWNS 4

struct replay_env {
	/* A living worker and its driver; called when it comes to rendering. */
	int (*worker)(void *data, struct worker **out, struct err *err);
	int (*driver)(void *data, const struct driver_row **out, struct err *err);
	void *data;
	/* May be null. */
	void (*progress)(void *data, uint64_t ndone, uint64_t ntotal);
	int keep_state;
};

struct replay {
	int frame, width, height;
	int is_exact; /* RGB of final.png equal */
	double rmse;
	int is_state_valid;     /* header and every payload equal */
	char *state_difference; /* "buffer 'a' texel 3,7"; null when valid */
	int has_driver;         /* the bundle says what drew it */
	int is_driver_equal;
	const struct rules *rules; /* it was replayed by; rules->name null: ours */
	/*
	 * Of a bundle of another program that differs: what its document cannot
	 * tell, so that it can be why. Static strings.
	 */
	const char *unknown[REPLAY_UNKNOWNS];
	size_t nunknown;
	uint8_t *rgb; /* what was rendered, top row first */
	/*
	 * With keep_state: the payloads that were rendered, at the offsets that
	 * they have in the bundle's state file.
	 */
	char *state;
};

/*
 * STATUS_INPUT for a bundle that cannot be read, STATUS_FAILED for one that
 * does not verify or render.
 */
int replay_run(const struct replay_env *env, const struct bundle *bundle,
    struct replay *out, struct err *err) WARN_UNUSED;
void replay_release(struct replay *r);

#endif

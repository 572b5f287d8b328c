#ifndef STBUILD_CAPTURE_PROGRAMS_H
#define STBUILD_CAPTURE_PROGRAMS_H

/*
 * A variant's programs: sources expanded, texts built, and what each program
 * uses, from the store's memory where program and driver are known, else by
 * compiling it in a worker.
 */

#include <stdint.h>

#include "graph/keys.h"
#include "glsl/reflection.h"
#include "glsl/shader.h"
#include "glsl/source.h"
#include "project/variant.h"
#include "render/worker.h"
#include "store/store.h"
#include "util/err.h"

/* What programs are made with. All borrowed. */
struct program_env {
	struct tree *tree;
	struct inputs *inputs; /* files and probes are added; may be null */
	struct store *store;   /* or null: no memory */
	const struct driver_row *driver;
	/* A living worker, started when it must be. */
	int (*worker)(void *data, struct worker **out, struct err *err);
	void *data;
	uint32_t *next_program; /* ids in the worker, counted up from 1 */
	int *ncompiled;         /* programs linked: counts.programs_compiled */
};

struct program {
	int pass; /* index in the manifest */
	struct source source;
	struct shader shader;
	struct reflection reflection;
	int ok; /* all of the above is there */
	/* In the worker; 0: not there. Reset it when the worker has died. */
	uint32_t id;
	uint64_t worker; /* serial of the worker that has it */
};

/*
 * Makes the program of pass p. STATUS_INPUT for sources, STATUS_FAILED for a
 * shader that does not compile (remembered as well; the error has the user's
 * file and line, and quotes it), other errors of worker and store as they are.
 * *out is to be released whatever happens: after a failed compile it has
 * source and shader.
 */
int program_load(const struct program_env *env, const struct variant *v, int p,
    struct program *out, struct err *err) WARN_UNUSED;
/* The first step of it: the source alone. */
int program_expand(const struct program_env *env, const struct manifest *m, int p,
    struct program *out, struct err *err) WARN_UNUSED;
/* Makes sure that the worker has it: compiles it where id is 0. */
int program_link(const struct program_env *env, const struct variant *v,
    struct program *program, struct err *err) WARN_UNUSED;
void program_release(struct program *p);
/* What keys need of it; borrows from p. */
struct key_program program_for_keys(const struct program *p);

struct programs {
	struct program *program; /* one a pass of the manifest */
	size_t nprogram;
};

/*
 * Makes the programs of all passes for which is_wanted is true (null: all).
 * Goes on after a pass that fails, as long as a worker can be had; every
 * failure is in errs, and -1 is then returned. To be released whatever happens.
 */
int programs_load(const struct program_env *env, const struct variant *v,
    const int *is_wanted, struct programs *out, struct errs *errs) WARN_UNUSED;
void programs_release(struct programs *p);

#endif

#ifndef STBUILD_RENDER_PROGRAM_H
#define STBUILD_RENDER_PROGRAM_H

/* Linked programs of the worker and what they use. */

#include "util/limits.h"
#include "render/gl.h"
#include "render/worker.h"
#include "util/map.h"

struct program_uniform {
	GLint location;
	enum gl_type type;
	int count;
};

struct program {
	GLuint name;
	int is_compute;
	int was_drawn;      /* drivers translate more at the first draw */
	struct map by_name; /* index into uniform */
	struct program_uniform *uniform;
	size_t nuniform, uniform_cap;
	struct {
		int is_used;
		enum texture_kind kind; /* of the sampler */
	} channel[LIMIT_CHANNELS];
	GLint iteration; /* location of iIteration, or -1 */
	GLint face;      /* location of stb_face, or -1 */
	uint32_t *block; /* bindings of active shader storage */
	size_t nblock;
};

struct program *program_get(struct gl *gl, uint32_t id, struct err *err);
/*
 * Compiles and links. vertex is null for compute; texts end at their length.
 * A text at fault is out->ok == 0 with the driver's log and no program; -1 is
 * trouble of GL itself.
 */
int program_new(struct gl *gl, uint32_t id, const char *vertex, size_t nvertex,
    const char *stage, size_t nstage, struct compile_result *out,
    struct err *err) WARN_UNUSED;
void program_free(struct gl *gl, uint32_t id);

/* Sets a uniform of the program in use; unknown names and other types are left. */
void program_set(const struct program *p, const struct draw_uniform *u);

#endif

#ifndef STBUILD_RENDER_WORKER_H
#define STBUILD_RENDER_WORKER_H

/*
 * The parent's side of the process that owns EGL. The worker decides nothing:
 * it executes a command stream (compile, create, upload, draw, read) in order
 * and reports. Objects are named by small integers that the parent chooses;
 * bulk bytes travel through shared memory (slabs). Commands return at once;
 * what they did comes back as events. Once the worker has died, or a draw or
 * compile passed the time limit, every call fails and worker_death says how.
 *
 * Wire format: render/stream.h. Worker process: render/serve.h.
 */

#include <stddef.h>
#include <stdint.h>

#include "util/limits.h"
#include "project/manifest.h"
#include "glsl/reflection.h"
#include "util/err.h"
#include "util/sha256.h"

struct worker;

struct worker_options {
	const char
	    *device;      /* "software", a number; null: STBUILD_DEVICE, else the best */
	double timeout_s; /* on one draw or compile; 0: none */
	/* Of shared memory in flight; one is always given. 0: 48 MiB */
	uint64_t max_slab_bytes;
	int use_pbo; /* read back through pixel buffers on software GL too (tests) */
};

/* What the context is: the driver's identity and the limits that matter. */
struct gl_info {
	char *vendor, *renderer, *version, *glsl_version; /* GL strings */
	char *device;   /* how the display was made, in words */
	int gl_version; /* 450, 430 or 410 */
	int has_es3;
	int is_software;
	int max_texture_size, max_storage_bindings, max_image_units;
	uint64_t max_storage_bytes;
	/*
	 * Canonical text of all that must be equal for bit-exact reuse: GL
	 * strings, build ids of mapped driver libraries, CPU features for
	 * software GL, settings in the environment, robustness and zero-init
	 * mode. One "name value" a line, sorted, so that two can be compared.
	 */
	char *identity_text;
	struct sha256 identity; /* of identity_text */
	/* Files the worker had mapped, for the stamp: paths, owned. */
	char **mapped;
	size_t nmapped;
};

/* Starts a worker and waits for its context. STATUS_MACHINE when none. */
int worker_open(const struct worker_options *options, struct worker **out,
    struct err *err) WARN_UNUSED;
/* Slabs go with it: nobody may use their bytes any more. */
void worker_close(struct worker *w);
/* Borrowed until worker_close. */
const struct gl_info *worker_info(const struct worker *w);
void gl_info_release(struct gl_info *info);

/* Programs --------------------------------------------------------------- */

struct compile_result {
	int ok;
	char *log; /* the driver's, unmapped; "" when silent */
	struct reflection reflection;
	uint64_t compile_ns;
};

/*
 * Compiles and links under the given id and waits for it. vertex is null for
 * compute. label is for messages ("pass 'a'"). -1 only when the worker died;
 * a shader that does not compile is result->ok == 0.
 */
int worker_compile(struct worker *w, uint32_t program, const char *label,
    const char *vertex, const char *stage, struct compile_result *out,
    struct err *err) WARN_UNUSED;
void compile_result_release(struct compile_result *r);

/* Textures and buffers ---------------------------------------------------- */

enum texture_kind { TEXTURE_2D, TEXTURE_3D, TEXTURE_CUBE };

struct texture_desc {
	enum texture_kind kind;
	int width, height, depth; /* of level 0 (a face for CUBE) */
	/* Texel format: one of enum format, or for assets u8/f32 x 1/4 channels. */
	enum texel {
#define FORMAT(name, ...) TEXEL_##name = FORMAT_##name,
#include "project/format.def"
		TEXEL_R8
	} texel;
	int has_mips; /* room for the whole chain */
	/* Reads (r, 0, 0, 1): GL's own rule for one channel. */
	int is_red_only;
};

/* Bytes of level 0, all faces and slices, rows packed. */
size_t texture_bytes(const struct texture_desc *desc);

/* A piece of shared memory. data is mapped in the parent. */
struct slab {
	uint32_t id;
	void *data;
	size_t size;       /* as asked for */
	struct slab *next; /* the worker's */
};

/*
 * A slab of at least n bytes; old ones are used again. Null without an error
 * (err->message stays null) when max_slab_bytes are out: the caller then
 * collects events, puts their slabs back and asks again. One slab is always
 * given when none is out, however large. Null with an error otherwise.
 */
struct slab *worker_slab(struct worker *w, size_t n, struct err *err);
/*
 * The first n bytes of an open file as a slab to upload from, which costs no
 * copy: data is null here. Always given; the descriptor is the worker's.
 */
struct slab *worker_file_slab(struct worker *w, int fd, size_t n, struct err *err);
void worker_slab_put(struct worker *w, struct slab *slab);

/* Contents are zero at first (all faces, slices, levels). */
int worker_texture_new(struct worker *w, uint32_t id, const struct texture_desc *desc,
    struct err *err) WARN_UNUSED;
/*
 * Fills level 0 from the slab (all faces in order, then slices, rows bottom
 * first as GL takes them). An event WORKER_UPLOADED gives the slab back.
 */
int worker_texture_upload(struct worker *w, uint32_t id, struct slab *slab,
    struct err *err) WARN_UNUSED;
int worker_texture_clear(struct worker *w, uint32_t id, struct err *err) WARN_UNUSED;
/* Level 0 of src over dst, which has the same description. */
int worker_texture_copy(struct worker *w, uint32_t dst, uint32_t src,
    struct err *err) WARN_UNUSED;
/* Rebuilds the mip chain from level 0. */
int worker_texture_mips(struct worker *w, uint32_t id, struct err *err) WARN_UNUSED;
int worker_texture_free(struct worker *w, uint32_t id, struct err *err) WARN_UNUSED;

/* Shader storage; zero at first. Buffer ids are a name space of their own. */
int worker_buffer_new(struct worker *w, uint32_t id, uint64_t size,
    struct err *err) WARN_UNUSED;
int worker_buffer_upload(struct worker *w, uint32_t id, struct slab *slab, uint64_t size,
    struct err *err) WARN_UNUSED;
int worker_buffer_clear(struct worker *w, uint32_t id, struct err *err) WARN_UNUSED;
int worker_buffer_copy(struct worker *w, uint32_t dst, uint32_t src, uint64_t size,
    struct err *err) WARN_UNUSED;
int worker_buffer_free(struct worker *w, uint32_t id, struct err *err) WARN_UNUSED;

/* Draws -------------------------------------------------------------------- */

struct draw_input {
	int channel;      /* iChannelN, texture unit N */
	uint32_t texture; /* 0: unbound: a 1x1 (0,0,0,1) */
	enum texture_kind kind;
	enum filter filter;
	enum wrap wrap;
	int has_no_sampler; /* GL's defaults: nearest, mipmaps, repeat */
};

struct draw_storage {
	uint32_t binding;
	uint32_t buffer;
	uint64_t size;
};

struct draw {
	uint64_t tag; /* comes back in the event */
	uint32_t program;
	int is_compute;
	int width, height;  /* viewport or domain */
	uint32_t target[8]; /* textures: attachments, or iOutputK images */
	int ntarget;
	int is_cube;    /* six faces of target[0], one draw each */
	int face;       /* of a cube: 0 all, else 1 + the one to draw */
	int is_edged;   /* no filtering across the edges of cubes */
	int is_fan;     /* four vertices, a fan; else a triangle's three */
	int may_loop;   /* inputs may be targets: the driver's affair */
	int iterations; /* compute dispatches, iIteration 0.. */
	int groups[2];  /* compute */
	struct draw_input input[LIMIT_CHANNELS];
	int ninput;
	const struct draw_uniform *uniform;
	size_t nuniform;
	const struct draw_storage *storage;
	size_t nstorage;
};

/* label: "pass 'a' at frame 57", for a death or a time-out. */
int worker_draw(struct worker *w, const struct draw *draw, const char *label,
    struct err *err) WARN_UNUSED;

/*
 * Reads level 0 (all faces, slices) into the slab, asynchronously, in the
 * texture's own format with its own bits, rows bottom first. Event WORKER_READ.
 */
int worker_texture_read(struct worker *w, uint32_t id, struct slab *slab, uint64_t tag,
    struct err *err) WARN_UNUSED;
int worker_buffer_read(struct worker *w, uint32_t id, struct slab *slab, uint64_t size,
    uint64_t tag, struct err *err) WARN_UNUSED;

/* Events ------------------------------------------------------------------- */

enum worker_event_kind {
	WORKER_NONE,
	WORKER_DREW,    /* tag, gpu_ns */
	WORKER_READ,    /* tag, slab: bytes are there */
	WORKER_UPLOADED /* slab may be used again */
};

struct worker_event {
	enum worker_event_kind kind;
	uint64_t tag;
	uint64_t gpu_ns; /* of the draw, by timer query, else by the clock */
	struct slab *slab;
};

/*
 * The next event; WORKER_NONE when none is waiting (or, with wait, when
 * nothing is outstanding or a signal was caught, see proc_signal). -1 once the
 * worker died and the events from before are taken: err is STATUS_FAILED and
 * names the oldest unfinished command: "pass 'a' at frame 57 took longer than
 * 10 s", "the renderer died (signal 11 (SIGSEGV)) in pass 'a' at frame 57". A
 * worker without memory or context is STATUS_MACHINE.
 */
int worker_event(struct worker *w, int wait, struct worker_event *out,
    struct err *err) WARN_UNUSED;
/* Readable when events may wait; for poll(). */
int worker_fd(const struct worker *w);
/* Sends what is buffered. worker_event with wait does so itself. */
int worker_flush(struct worker *w, struct err *err) WARN_UNUSED;
/* 1 once the worker is of no use any more. */
int worker_is_dead(const struct worker *w);
/* From 1, another one for each worker that this process started. */
uint64_t worker_serial(const struct worker *w);

#endif

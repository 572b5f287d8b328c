#include "render/worker.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "render/stream.h"
#include "util/fs.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/proc.h"

#define MILLION 1000000ll
#define START_TIMEOUT_S 60.0 /* drivers may read much from slow disks */
#define QUIT_TIMEOUT_MS 10000
#define MAX_STEP_NS (1000 * MILLION) /* of the clock; see watch */
#define MAX_UNSENT (4u << 20)        /* bytes of commands */
#define MAX_PENDING 512              /* commands without their event */
#define SLAB_MIN 65536
#define DEFAULT_SLAB_BYTES (48ull << 20) /* memory is to stay within textures + 64 MiB */

/* A command that comes back as an event, in the order sent. */
struct pending {
	enum stream_type event;
	char *label;       /* owned; "pass 'a' at frame 57" */
	uint64_t position; /* in the stream, of its end */
	uint64_t tag;
};

struct shared {
	struct slab slab; /* first: callers hold this part */
	size_t size;      /* mapped; of a file: 0 here */
	int is_out;       /* with the caller or the worker */
	int is_file;      /* the worker alone has it mapped, to read */
};

struct worker {
	pid_t pid;
	uint64_t serial;
	struct stream stream;
	struct gl_info info;
	int is_ready;
	double timeout_s;

	struct pending *pending; /* a queue from pending_at on */
	size_t npending, pending_at, pending_cap;
	size_t nupload;       /* uploads without their event */
	long long watched_ns; /* for how long the oldest was watched */
	long long watched_at;

	struct worker_event *event; /* a queue from event_at on */
	size_t nevent, event_at, event_cap;
	struct compile_result *compiling; /* where the result goes */
	int is_compiled;

	struct shared **shared; /* by slab id; null where closed */
	size_t nshared, shared_cap;
	uint64_t shared_bytes, max_shared_bytes;
	size_t nout; /* slabs out */

	struct buf log; /* of the start */
	struct err death;
	int is_dead;
};

/* Death -------------------------------------------------------------------- */

static const struct pending *oldest(const struct worker *w)
{
	return w->pending_at < w->npending ? &w->pending[w->pending_at] : NULL;
}

static int dead(const struct worker *w, struct err *err)
{
	return err_copy(err, &w->death);
}

/* Ends the process for a reason that is set already. */
static void end_process(struct worker *w)
{
	w->is_dead = 1;
	proc_kill(w->pid);
	w->pid = -1;
}

/*
 * Kernels that run out of memory send SIGKILL, and nobody else does to a
 * renderer; our own allocations end it with STATUS_MACHINE (util/mem.h).
 */
static int is_out_of_memory(const char *how)
{
	return strstr(how, "SIGKILL") || strcmp(how, "exit status 3") == 0;
}

/* The other end is gone; how it went is in the exit status. */
static void note_exit(struct worker *w)
{
	const struct pending *p = oldest(w);
	char *how = proc_wait(w->pid);
	w->pid = -1;
	w->is_dead = 1;
	if (!w->is_ready) {
		err_set(&w->death, STATUS_MACHINE,
		    "the renderer died (%s) while it started; its log: %s", how,
		    w->log.len ? w->log.data : "empty");
	} else {
		err_set(&w->death, STATUS_FAILED, "the renderer died (%s) %s%s", how,
		    !p                            ? "between draws"
			: p->event == EV_COMPILED ? "while "
						  : "in ",
		    p ? p->label : "");
		w->death.kind = is_out_of_memory(how) ? ERR_MEMORY : ERR_CRASH;
	}
	free(how);
}

static double time_limit(const struct worker *w)
{
	if (!w->is_ready)
		return START_TIMEOUT_S;
	return w->timeout_s;
}

/* The oldest command is on its way to or in the worker. */
static int is_ticking(const struct worker *w)
{
	const struct pending *p = oldest(w);
	return !w->is_ready || (p && p->position <= w->stream.sent);
}

static void restart_clock(struct worker *w)
{
	w->watched_ns = 0;
	w->watched_at = proc_now_ns();
}

/*
 * Counts the time for which the oldest command was seen unfinished, in steps:
 * a process that was stopped for an hour has not waited for an hour. Call it
 * when every event that is there was read.
 */
static void watch(struct worker *w)
{
	long long now = proc_now_ns(), step = now - w->watched_at;
	w->watched_at = now;
	double limit = time_limit(w);
	if (!is_ticking(w))
		return;
	w->watched_ns += step < MAX_STEP_NS ? step : MAX_STEP_NS;
	if (limit <= 0 || (double)w->watched_ns * 1e-9 <= limit || w->is_dead)
		return;
	if (!w->is_ready)
		err_set(&w->death, STATUS_MACHINE,
		    "the renderer did not start within %g s; its log: %s", limit,
		    w->log.len ? w->log.data : "empty");
	else
		err_set(&w->death, STATUS_FAILED, "%s took longer than %g s",
		    oldest(w)->label, limit);
	w->death.kind = w->is_ready ? ERR_TIMEOUT : ERR_OTHER;
	end_process(w);
}

/* Events ------------------------------------------------------------------- */

static void push_event(struct worker *w, const struct worker_event *e)
{
	if (w->event_at && w->event_at == w->nevent)
		w->event_at = w->nevent = 0;
	w->event = array_grow(w->event, w->nevent, &w->event_cap, sizeof *w->event);
	w->event[w->nevent++] = *e;
}

static void push_pending(struct worker *w, enum stream_type event, uint64_t tag,
    char *label)
{
	if (w->pending_at && w->pending_at * 2 >= w->npending) {
		size_t n = w->npending - w->pending_at;
		memmove(w->pending, w->pending + w->pending_at, n * sizeof *w->pending);
		w->npending = n;
		w->pending_at = 0;
	}
	if (w->pending_at == w->npending)
		restart_clock(w);
	w->pending =
	    array_grow(w->pending, w->npending, &w->pending_cap, sizeof *w->pending);
	w->pending[w->npending++] = (struct pending){
		.event = event,
		.tag = tag,
		.label = label,
		.position = stream_written(&w->stream),
	};
}

/* The event answers the oldest command. */
static int pop_pending(struct worker *w, uint32_t event, uint64_t tag, struct err *err)
{
	const struct pending *p = oldest(w);
	if (!p || p->event != event || p->tag != tag)
		return err_set(err, STATUS_FAILED,
		    "the renderer's stream is broken (event %lu out of order)",
		    (unsigned long)event);
	free(w->pending[w->pending_at++].label);
	restart_clock(w);
	return 0;
}

static struct slab *slab_by_id(struct worker *w, uint32_t id, struct err *err)
{
	if (id < w->nshared && w->shared[id] && w->shared[id]->is_out)
		return &w->shared[id]->slab;
	err_set(err, STATUS_FAILED, "the renderer's stream is broken (slab %lu)",
	    (unsigned long)id);
	return NULL;
}

static int take_fatal(struct worker *w, struct message *m, struct err *err)
{
	uint32_t status = message_u32(m), kind = message_u32(m);
	const char *text = message_str(m, NULL);
	if (message_end(m, err) < 0)
		return -1;
	err_set(&w->death,
	    status == STATUS_MACHINE || status == STATUS_INPUT ? (enum status)status
							       : STATUS_FAILED,
	    "%s", text);
	w->death.kind =
	    kind == ERR_MEMORY || kind == ERR_CRASH ? (enum err_kind)kind : ERR_OTHER;
	return 0;
}

static int take_event(struct worker *w, struct message *m, struct err *err)
{
	struct worker_event e = { .kind = WORKER_NONE };
	switch (m->type) {
	case EV_LOG: {
		const char *line = message_str(m, NULL);
		if (message_end(m, err) < 0)
			return -1;
		log_verbose("renderer: %s", line);
		if (!w->is_ready && w->log.len < 65536)
			buf_addf(&w->log, "%s%s", w->log.len ? "; " : "", line);
		return 0;
	}
	case EV_READY:
		if (w->is_ready)
			break;
		if (message_info(m, &w->info, err) < 0)
			return -1;
		w->is_ready = 1;
		return 0;
	case EV_COMPILED: {
		uint32_t program = message_u32(m);
		if (pop_pending(w, EV_COMPILED, program, err) < 0 || !w->compiling)
			break;
		if (message_result(m, w->compiling, err) < 0)
			return -1;
		w->is_compiled = 1;
		return 0;
	}
	case EV_DREW:
		e.kind = WORKER_DREW;
		e.tag = message_u64(m);
		e.gpu_ns = message_u64(m);
		if (message_end(m, err) < 0 || pop_pending(w, EV_DREW, e.tag, err) < 0)
			return -1;
		push_event(w, &e);
		return 0;
	case EV_READ:
		e.kind = WORKER_READ;
		e.tag = message_u64(m);
		e.slab = slab_by_id(w, message_u32(m), err);
		if (!e.slab || message_end(m, err) < 0 ||
		    pop_pending(w, EV_READ, e.tag, err) < 0)
			return -1;
		push_event(w, &e);
		return 0;
	case EV_UPLOADED:
		e.kind = WORKER_UPLOADED;
		e.slab = slab_by_id(w, message_u32(m), err);
		if (!e.slab || message_end(m, err) < 0)
			return -1;
		if (!w->nupload)
			break;
		w->nupload--;
		push_event(w, &e);
		return 0;
	case EV_FATAL:
		return take_fatal(w, m, err);
	default:
		break;
	}
	return err_set(err, STATUS_FAILED, "the renderer's stream is broken (event %lu)",
	    (unsigned long)m->type);
}

/*
 * Sends and receives what can be, waiting at most wait_ms for something to
 * happen. What goes wrong is the worker's death.
 */
static void pump(struct worker *w, int wait_ms)
{
	struct err err = ERR_INIT;
	if (w->is_dead)
		return;
	/* When the other end is gone, what it said last may still be read. */
	int is_open = stream_send(&w->stream, &err) == 0;
	err_release(&err);
	struct pollfd p[2] = {
		{ .fd = w->stream.fd,
		    .events = (short)(POLLIN |
			(is_open && stream_unsent(&w->stream) ? POLLOUT : 0)) },
		{ .fd = proc_signal_fd(), .events = POLLIN },
	};
	if (wait_ms)
		(void)poll(p, proc_signal() ? 1 : 2, wait_ms);
	int rc;
	while ((rc = stream_recv(&w->stream, &err)) == 1) {
		struct message m;
		while ((rc = stream_next(&w->stream, &m, &err)) == 1)
			if ((rc = take_event(w, &m, &err)) < 0)
				break;
		if (rc < 0)
			break;
	}
	if (rc < 0) {
		err_move(&w->death, &err);
		end_process(w);
	} else if (w->death.message) {
		/* It said so itself; how it ends is of no interest any more. */
		if (oldest(w) && w->is_ready)
			err_wrap(&w->death, "while working on %s", oldest(w)->label);
		end_process(w);
	} else if (w->stream.is_eof) {
		note_exit(w);
	} else {
		watch(w);
	}
	err_release(&err);
}

static int step_ms(const struct worker *w)
{
	double limit = time_limit(w);
	if (limit <= 0 || !is_ticking(w))
		return 1000;
	double left = limit * 1e3 - (double)w->watched_ns * 1e-6 + 1;
	return left < 1 ? 1 : left > 1000 ? 1000 : (int)left;
}

int worker_event(struct worker *w, int wait, struct worker_event *out, struct err *err)
{
	int ms = 0;
	for (;;) {
		if (w->event_at == w->nevent)
			pump(w, ms);
		if (w->event_at < w->nevent) {
			*out = w->event[w->event_at++];
			return 0;
		}
		*out = (struct worker_event){ .kind = WORKER_NONE };
		if (w->is_dead)
			return dead(w, err);
		int is_idle = !oldest(w) && !w->nupload;
		if (!wait || is_idle || proc_signal())
			return 0;
		ms = step_ms(w);
	}
}

int worker_fd(const struct worker *w)
{
	return w->stream.fd;
}

int worker_flush(struct worker *w, struct err *err)
{
	while (!w->is_dead && stream_unsent(&w->stream) && !proc_signal())
		pump(w, stream_unsent(&w->stream) ? step_ms(w) : 0);
	return w->is_dead ? dead(w, err) : 0;
}

int worker_is_dead(const struct worker *w)
{
	return w->is_dead;
}

uint64_t worker_serial(const struct worker *w)
{
	return w->serial;
}

/* Life --------------------------------------------------------------------- */

int worker_open(const struct worker_options *options, struct worker **out,
    struct err *err)
{
	const char *device = options->device ? options->device : getenv("STBUILD_DEVICE");
	const char *const argv[] = { proc_self(), "--worker", NULL };
	int fd = -1;
	struct worker *w = xcalloc(1, sizeof *w);
	static uint64_t serial;
	w->serial = ++serial;
	w->pid = -1;
	w->stream.fd = -1;
	w->timeout_s = options->timeout_s;
	w->max_shared_bytes =
	    options->max_slab_bytes ? options->max_slab_bytes : DEFAULT_SLAB_BYTES;
	*out = NULL;
	if (proc_spawn(argv, &w->pid, &fd, err) < 0)
		goto fail;
	if (stream_open(&w->stream, fd, err) < 0)
		goto fail;
	stream_begin(&w->stream, CMD_HELLO);
	stream_u32(&w->stream, STREAM_VERSION);
	stream_str(&w->stream, device);
	stream_u32(&w->stream, (uint32_t) !!options->use_pbo);
	stream_end(&w->stream);
	restart_clock(w);
	while (!w->is_ready && !w->is_dead) {
		pump(w, step_ms(w));
		if (proc_signal() && !w->is_ready && !w->is_dead) {
			err_set(&w->death, STATUS_FAILED, "interrupted by signal %d",
			    proc_signal());
			end_process(w);
		}
	}
	if (w->is_dead) {
		dead(w, err);
		goto fail;
	}
	buf_release(&w->log);
	restart_clock(w);
	*out = w;
	return 0;
fail:
	worker_close(w);
	return -1;
}

/* A worker without work ends by itself, in good order. */
static void say_goodbye(struct worker *w)
{
	if (w->is_dead || !w->is_ready || oldest(w) || w->nupload)
		return;
	stream_begin(&w->stream, CMD_QUIT);
	stream_end(&w->stream);
	struct err err = ERR_INIT;
	long long end = proc_now_ns() + QUIT_TIMEOUT_MS * MILLION;
	while (!w->stream.is_eof && proc_now_ns() < end) {
		int rc = stream_send(&w->stream, &err);
		struct pollfd p = {
			.fd = w->stream.fd,
			.events = (short)(POLLIN |
			    (!rc && stream_unsent(&w->stream) ? POLLOUT : 0)),
		};
		(void)poll(&p, 1, 100);
		if (stream_recv(&w->stream, &err) < 0)
			break;
		buf_reset(&w->stream.in);
		w->stream.in_at = 0;
	}
	if (w->stream.is_eof) {
		free(proc_wait(w->pid));
		w->pid = -1;
	}
	err_release(&err);
}

void worker_close(struct worker *w)
{
	if (!w)
		return;
	say_goodbye(w);
	proc_kill(w->pid);
	stream_close(&w->stream);
	while (w->pending_at < w->npending)
		free(w->pending[w->pending_at++].label);
	for (size_t i = 0; i < w->nshared; i++) {
		if (w->shared[i]) {
			if (!w->shared[i]->is_file)
				munmap(w->shared[i]->slab.data, w->shared[i]->size);
			free(w->shared[i]);
		}
	}
	free(w->pending);
	free(w->event);
	free(w->shared);
	gl_info_release(&w->info);
	buf_release(&w->log);
	err_release(&w->death);
	free(w);
}

const struct gl_info *worker_info(const struct worker *w)
{
	return &w->info;
}

void gl_info_release(struct gl_info *info)
{
	for (size_t i = 0; i < info->nmapped; i++)
		free(info->mapped[i]);
	free(info->mapped);
	free(info->vendor);
	free(info->renderer);
	free(info->version);
	free(info->glsl_version);
	free(info->device);
	free(info->identity_text);
	*info = (struct gl_info){ 0 };
}

void compile_result_release(struct compile_result *r)
{
	free(r->log);
	reflection_release(&r->reflection);
	*r = (struct compile_result){ 0 };
}

/* Commands ----------------------------------------------------------------- */

static int begin(struct worker *w, enum stream_type type, struct err *err)
{
	if (w->is_dead)
		return dead(w, err);
	stream_begin(&w->stream, type);
	return 0;
}

/* What needs no answer goes with the next command that does. */
static int end_quiet(struct worker *w, struct err *err)
{
	stream_end(&w->stream);
	while (!w->is_dead && stream_unsent(&w->stream) > MAX_UNSENT && !proc_signal())
		pump(w, step_ms(w));
	return w->is_dead ? dead(w, err) : 0;
}

/* Sends at once, so that the GPU has work while the parent has. */
static int end_now(struct worker *w, struct err *err)
{
	struct err ignore = ERR_INIT;
	if (stream_send(&w->stream, &ignore) < 0)
		pump(w, 0);
	err_release(&ignore);
	while (!w->is_dead && !proc_signal() &&
	    (stream_unsent(&w->stream) > MAX_UNSENT ||
		w->npending - w->pending_at > MAX_PENDING))
		pump(w, step_ms(w));
	return w->is_dead ? dead(w, err) : 0;
}

int worker_compile(struct worker *w, uint32_t program, const char *label,
    const char *vertex, const char *stage, struct compile_result *out, struct err *err)
{
	*out = (struct compile_result){ 0 };
	if (strlen(stage) > LIMIT_EXPANDED_BYTES ||
	    (vertex && strlen(vertex) > LIMIT_EXPANDED_BYTES)) {
		out->log =
		    xasprintf("%s is larger than %u bytes", label, LIMIT_EXPANDED_BYTES);
		return 0;
	}
	if (begin(w, CMD_COMPILE, err) < 0)
		return -1;
	stream_u32(&w->stream, program);
	stream_u32(&w->stream, vertex != NULL);
	stream_str(&w->stream, vertex);
	stream_str(&w->stream, stage);
	stream_end(&w->stream);
	push_pending(w, EV_COMPILED, program, xasprintf("compiling %s", label));
	w->compiling = out;
	w->is_compiled = 0;
	while (!w->is_compiled && !w->is_dead) {
		pump(w, step_ms(w));
		if (proc_signal() && !w->is_compiled && !w->is_dead) {
			/* The answer would come to a caller that is gone. */
			err_set(&w->death, STATUS_FAILED, "interrupted by signal %d",
			    proc_signal());
			end_process(w);
		}
	}
	w->compiling = NULL;
	if (w->is_compiled)
		return 0;
	compile_result_release(out);
	return dead(w, err);
}

static void send_quiet(struct worker *w, enum stream_type type, uint32_t id)
{
	if (w->is_dead)
		return;
	stream_begin(&w->stream, type);
	stream_u32(&w->stream, id);
	stream_end(&w->stream);
}

/* Slabs: sizes in steps of an eighth, so that few are enough. */
static size_t slab_class(size_t n)
{
	size_t step = SLAB_MIN / 8;
	while (step * 16 < n && step < SIZE_MAX / 32)
		step *= 2;
	return n <= SLAB_MIN ? SLAB_MIN : (n + step - 1) / step * step;
}

static void drop_shared(struct worker *w, size_t id)
{
	struct shared *s = w->shared[id];
	send_quiet(w, CMD_SLAB_FREE, (uint32_t)id);
	w->shared_bytes -= s->size;
	if (!s->is_file)
		munmap(s->slab.data, s->size);
	free(s);
	w->shared[id] = NULL;
}

/* The smallest free one that is not much too large. */
static struct shared *find_shared(struct worker *w, size_t n)
{
	struct shared *best = NULL;
	for (size_t i = 0; i < w->nshared; i++) {
		struct shared *s = w->shared[i];
		if (s && !s->is_file && !s->is_out && s->size >= n &&
		    s->size / 2 <= slab_class(n) && (!best || s->size < best->size))
			best = s;
	}
	return best;
}

/* Sends the descriptor, which is then the stream's, under a free id. */
static struct shared *add_shared(struct worker *w, int fd, size_t size)
{
	size_t id = 0;
	while (id < w->nshared && w->shared[id])
		id++;
	if (id == w->nshared) {
		w->shared =
		    array_grow(w->shared, w->nshared, &w->shared_cap, sizeof *w->shared);
		w->nshared++;
	}
	struct shared *s = xcalloc(1, sizeof *s);
	s->slab.id = (uint32_t)id;
	w->shared[id] = s;
	stream_begin(&w->stream, CMD_SLAB);
	stream_pass_fd(&w->stream, fd);
	stream_u32(&w->stream, (uint32_t)id);
	stream_u64(&w->stream, size);
	stream_end(&w->stream);
	return s;
}

static struct shared *make_shared(struct worker *w, size_t n, struct err *err)
{
	size_t size = slab_class(n);
	int fd = fs_shm(size, err);
	if (fd < 0)
		return NULL;
	void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (data == MAP_FAILED) {
		err_errno(err, STATUS_MACHINE, "cannot map %zu bytes of shared memory",
		    size);
		close(fd);
		return NULL;
	}
	struct shared *s = add_shared(w, fd, size);
	s->slab.data = data;
	s->size = size;
	w->shared_bytes += size;
	return s;
}

struct slab *worker_file_slab(struct worker *w, int fd, size_t n, struct err *err)
{
	if (w->is_dead) {
		close(fd);
		dead(w, err);
		return NULL;
	}
	struct shared *s = add_shared(w, fd, n);
	s->is_file = s->is_out = 1;
	s->slab.size = n;
	w->nout++;
	return &s->slab;
}

struct slab *worker_slab(struct worker *w, size_t n, struct err *err)
{
	if (w->is_dead) {
		dead(w, err);
		return NULL;
	}
	if (!n || n > SIZE_MAX / 32)
		BUG("a slab of %zu bytes", n);
	struct shared *s = find_shared(w, n);
	if (!s) {
		uint64_t want = slab_class(n);
		/* Room is made of free ones of other sizes first. */
		for (size_t i = 0;
		     i < w->nshared && w->shared_bytes + want > w->max_shared_bytes; i++)
			if (w->shared[i] && !w->shared[i]->is_out)
				drop_shared(w, i);
		if (w->nout &&
		    (w->shared_bytes + want > w->max_shared_bytes ||
			w->nout >= STREAM_MAX_ID / 2))
			return NULL;
		s = make_shared(w, n, err);
		if (!s)
			return NULL;
	}
	s->is_out = 1;
	s->slab.size = n;
	w->nout++;
	return &s->slab;
}

void worker_slab_put(struct worker *w, struct slab *slab)
{
	if (!slab)
		return;
	struct shared *s = slab->id < w->nshared ? w->shared[slab->id] : NULL;
	if (!s || &s->slab != slab || !s->is_out)
		BUG("slab %lu was put back twice", (unsigned long)slab->id);
	s->is_out = 0;
	w->nout--;
	if (s->is_file)
		drop_shared(w, slab->id);
}

int worker_texture_new(struct worker *w, uint32_t id, const struct texture_desc *desc,
    struct err *err)
{
	int max = w->info.max_texture_size;
	if (desc->kind == TEXTURE_2D && (desc->width > max || desc->height > max))
		return err_set(err, STATUS_MACHINE,
		    "%d x %d does not fit this OpenGL's limit of %d", desc->width,
		    desc->height, max);
	if (begin(w, CMD_TEXTURE_NEW, err) < 0)
		return -1;
	stream_u32(&w->stream, id);
	stream_put_desc(&w->stream, desc);
	return end_quiet(w, err);
}

static int end_upload(struct worker *w, struct err *err)
{
	stream_end(&w->stream);
	w->nupload++;
	return end_now(w, err);
}

int worker_texture_upload(struct worker *w, uint32_t id, struct slab *slab,
    struct err *err)
{
	if (begin(w, CMD_TEXTURE_UPLOAD, err) < 0)
		return -1;
	stream_u32(&w->stream, id);
	stream_u32(&w->stream, slab->id);
	return end_upload(w, err);
}

static int one_id(struct worker *w, enum stream_type type, uint32_t id, struct err *err)
{
	if (begin(w, type, err) < 0)
		return -1;
	stream_u32(&w->stream, id);
	return end_quiet(w, err);
}

int worker_texture_clear(struct worker *w, uint32_t id, struct err *err)
{
	return one_id(w, CMD_TEXTURE_CLEAR, id, err);
}

int worker_texture_mips(struct worker *w, uint32_t id, struct err *err)
{
	return one_id(w, CMD_TEXTURE_MIPS, id, err);
}

int worker_texture_free(struct worker *w, uint32_t id, struct err *err)
{
	return one_id(w, CMD_TEXTURE_FREE, id, err);
}

int worker_texture_copy(struct worker *w, uint32_t dst, uint32_t src, struct err *err)
{
	if (begin(w, CMD_TEXTURE_COPY, err) < 0)
		return -1;
	stream_u32(&w->stream, dst);
	stream_u32(&w->stream, src);
	return end_quiet(w, err);
}

int worker_buffer_new(struct worker *w, uint32_t id, uint64_t size, struct err *err)
{
	if (!size || size > w->info.max_storage_bytes)
		return err_set(err, STATUS_MACHINE,
		    "shader storage of %llu bytes does not fit this OpenGL's limit of %llu",
		    (unsigned long long)size,
		    (unsigned long long)w->info.max_storage_bytes);
	if (begin(w, CMD_BUFFER_NEW, err) < 0)
		return -1;
	stream_u32(&w->stream, id);
	stream_u64(&w->stream, size);
	return end_quiet(w, err);
}

int worker_buffer_upload(struct worker *w, uint32_t id, struct slab *slab, uint64_t size,
    struct err *err)
{
	if (begin(w, CMD_BUFFER_UPLOAD, err) < 0)
		return -1;
	stream_u32(&w->stream, id);
	stream_u32(&w->stream, slab->id);
	stream_u64(&w->stream, size);
	return end_upload(w, err);
}

int worker_buffer_clear(struct worker *w, uint32_t id, struct err *err)
{
	return one_id(w, CMD_BUFFER_CLEAR, id, err);
}

int worker_buffer_copy(struct worker *w, uint32_t dst, uint32_t src, uint64_t size,
    struct err *err)
{
	if (begin(w, CMD_BUFFER_COPY, err) < 0)
		return -1;
	stream_u32(&w->stream, dst);
	stream_u32(&w->stream, src);
	stream_u64(&w->stream, size);
	return end_quiet(w, err);
}

int worker_buffer_free(struct worker *w, uint32_t id, struct err *err)
{
	return one_id(w, CMD_BUFFER_FREE, id, err);
}

int worker_draw(struct worker *w, const struct draw *draw, const char *label,
    struct err *err)
{
	if (begin(w, CMD_DRAW, err) < 0)
		return -1;
	stream_put_draw(&w->stream, draw, label);
	stream_end(&w->stream);
	push_pending(w, EV_DREW, draw->tag, xstrdup(label));
	return end_now(w, err);
}

int worker_texture_read(struct worker *w, uint32_t id, struct slab *slab, uint64_t tag,
    struct err *err)
{
	if (begin(w, CMD_TEXTURE_READ, err) < 0)
		return -1;
	stream_u32(&w->stream, id);
	stream_u32(&w->stream, slab->id);
	stream_u64(&w->stream, tag);
	stream_end(&w->stream);
	push_pending(w, EV_READ, tag, xstrdup("a read-back"));
	return end_now(w, err);
}

int worker_buffer_read(struct worker *w, uint32_t id, struct slab *slab, uint64_t size,
    uint64_t tag, struct err *err)
{
	if (begin(w, CMD_BUFFER_READ, err) < 0)
		return -1;
	stream_u32(&w->stream, id);
	stream_u32(&w->stream, slab->id);
	stream_u64(&w->stream, size);
	stream_u64(&w->stream, tag);
	stream_end(&w->stream);
	push_pending(w, EV_READ, tag, xstrdup("a read-back of shader storage"));
	return end_now(w, err);
}

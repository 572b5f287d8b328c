#include "render/flight.h"

#include <string.h>

#include "util/mem.h"
#include "util/proc.h"

#define SECOND 1000000000ull

void flight_init(struct flight *f, struct gl *gl, struct stream *stream, int use_pbo)
{
	*f = (struct flight){ .gl = gl, .stream = stream, .use_pbo = use_pbo };
	if (gl->has_timer)
		glGenQueries(FLIGHT_MAX, f->query);
}

void flight_release(struct flight *f)
{
	if (!f->gl)
		return;
	for (unsigned i = 0; i < f->n; i++)
		glDeleteSync(f->item[(f->first + i) % FLIGHT_MAX].fence);
	for (int i = 0; i < FLIGHT_MAX_READS; i++)
		if (f->pbo[i].name)
			glDeleteBuffers(1, &f->pbo[i].name);
	if (f->gl->has_timer)
		glDeleteQueries(FLIGHT_MAX, f->query);
	*f = (struct flight){ 0 };
}

static int fetch(struct flight *f, const struct flight_item *it, struct err *err)
{
	glBindBuffer(GL_PIXEL_PACK_BUFFER, f->pbo[it->pbo].name);
	const void *from =
	    glMapBufferRange(GL_PIXEL_PACK_BUFFER, 0, (GLsizeiptr)it->n, GL_MAP_READ_BIT);
	GLboolean is_whole = GL_FALSE;
	if (from) {
		memcpy(it->to, from, it->n);
		is_whole = glUnmapBuffer(GL_PIXEL_PACK_BUFFER);
	}
	glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
	f->pbo[it->pbo].is_busy = 0;
	f->read_bytes -= it->n;
	if (gl_check(f->gl, err, "fetch", "a read-back of %zu bytes", it->n) < 0)
		return -1;
	if (!is_whole)
		return err_set(err, STATUS_FAILED, "the driver lost a read-back");
	return 0;
}

/*
 * The time of the oldest draw, finished just now. Some drivers' timers run
 * from the machine's start in their first query: what cannot be is replaced by
 * the time between two fences.
 */
static uint64_t draw_time(struct flight *f, const struct flight_item *it)
{
	long long now = proc_now_ns();
	long long since = it->start_ns > f->retired_ns ? it->start_ns : f->retired_ns;
	GLuint64 ns = 0;
	f->retired_ns = now;
	if (it->has_query)
		glGetQueryObjectui64v(f->query[f->first], GL_QUERY_RESULT, &ns);
	return ns && ns <= (GLuint64)(now - it->start_ns) ? ns : (uint64_t)(now - since);
}

static int retire(struct flight *f, struct err *err)
{
	struct flight_item *it = &f->item[f->first];
	glDeleteSync(it->fence);
	it->fence = NULL;
	if (it->pbo >= 0) {
		if (fetch(f, it, err) < 0)
			return -1;
		stream_begin(f->stream, EV_READ);
		stream_u64(f->stream, it->tag);
		stream_u32(f->stream, it->slab);
		stream_end(f->stream);
	} else {
		stream_begin(f->stream, EV_DREW);
		stream_u64(f->stream, it->tag);
		stream_u64(f->stream, draw_time(f, it));
		stream_end(f->stream);
	}
	f->first = (f->first + 1) % FLIGHT_MAX;
	f->n--;
	return 0;
}

/* 1: the oldest is finished; 0: it is not. */
static int wait_oldest(struct flight *f, uint64_t wait_ns, struct err *err)
{
	GLenum r = glClientWaitSync(f->item[f->first].fence,
	    wait_ns ? GL_SYNC_FLUSH_COMMANDS_BIT : 0, wait_ns);
	if (r == GL_WAIT_FAILED) {
		if (!gl_check(f->gl, err, "glClientWaitSync", "a fence"))
			err_set(err, STATUS_FAILED, "glClientWaitSync failed");
		return -1;
	}
	return r != GL_TIMEOUT_EXPIRED;
}

int flight_poll(struct flight *f, uint64_t wait_ns, struct err *err)
{
	while (f->n) {
		int rc = wait_oldest(f, wait_ns, err);
		if (rc <= 0)
			return rc;
		if (retire(f, err) < 0)
			return -1;
		wait_ns = 0;
	}
	return 0;
}

/* Each finished one is told at once: the parent's clock runs a draw. */
static int wait_one(struct flight *f, struct err *err)
{
	int rc = 0;
	while (!rc)
		if ((rc = wait_oldest(f, SECOND, err)) < 0)
			return -1;
	if (retire(f, err) < 0)
		return -1;
	return stream_send(f->stream, err);
}

int flight_drain(struct flight *f, struct err *err)
{
	while (f->n)
		if (wait_one(f, err) < 0)
			return -1;
	return 0;
}

static struct flight_item *next_item(struct flight *f)
{
	return &f->item[(f->first + f->n) % FLIGHT_MAX];
}

static int push(struct flight *f, struct err *err)
{
	struct flight_item *it = next_item(f);
	it->fence = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
	if (!it->fence)
		return gl_check(f->gl, err, "glFenceSync", "a fence") < 0
		    ? -1
		    : err_set(err, STATUS_MACHINE, "glFenceSync failed");
	f->n++;
	return 0;
}

int flight_begin(struct flight *f, int use_query, struct err *err)
{
	while (f->n == FLIGHT_MAX)
		if (wait_one(f, err) < 0)
			return -1;
	f->start_ns = proc_now_ns();
	f->has_query = use_query && f->gl->has_timer;
	if (f->has_query)
		glBeginQuery(GL_TIME_ELAPSED, f->query[(f->first + f->n) % FLIGHT_MAX]);
	return 0;
}

int flight_end(struct flight *f, uint64_t tag, struct err *err)
{
	if (f->has_query)
		glEndQuery(GL_TIME_ELAPSED);
	*next_item(f) = (struct flight_item){
		.tag = tag,
		.has_query = f->has_query,
		.pbo = -1,
		.start_ns = f->start_ns,
	};
	return push(f, err);
}

/* A free pack buffer of at least n bytes, bound; its index in *out. */
static int take_pbo(struct flight *f, size_t n, int *out, struct err *err)
{
	for (;;) {
		int best = -1;
		for (int i = 0; i < FLIGHT_MAX_READS; i++) {
			/* One of the right size, else any. */
			if (f->pbo[i].is_busy)
				continue;
			if (best < 0 ||
			    (f->pbo[i].size >= n &&
				(f->pbo[best].size < n ||
				    f->pbo[i].size < f->pbo[best].size)))
				best = i;
		}
		int fits = !f->read_bytes || f->read_bytes + n <= FLIGHT_MAX_READ_BYTES;
		if (best >= 0 && fits && f->n < FLIGHT_MAX) {
			*out = best;
			break;
		}
		if (wait_one(f, err) < 0)
			return -1;
	}
	if (!f->pbo[*out].name)
		glGenBuffers(1, &f->pbo[*out].name);
	glBindBuffer(GL_PIXEL_PACK_BUFFER, f->pbo[*out].name);
	if (f->pbo[*out].size < n || f->pbo[*out].size / 4 > n) {
		glBufferData(GL_PIXEL_PACK_BUFFER, (GLsizeiptr)n, NULL, GL_STREAM_READ);
		f->pbo[*out].size = n;
	}
	return 0;
}

static int read_done(struct flight *f, uint32_t slab, uint64_t tag, struct err *err)
{
	/* It waited for the GPU: what came before is finished, and told first. */
	if (flight_drain(f, err) < 0)
		return -1;
	stream_begin(f->stream, EV_READ);
	stream_u64(f->stream, tag);
	stream_u32(f->stream, slab);
	stream_end(f->stream);
	return 0;
}

static int read_pushed(struct flight *f, int pbo, uint32_t slab, void *to, size_t n,
    uint64_t tag, struct err *err)
{
	glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
	*next_item(f) = (struct flight_item){
		.tag = tag,
		.pbo = pbo,
		.slab = slab,
		.to = to,
		.n = n,
	};
	f->pbo[pbo].is_busy = 1;
	f->read_bytes += n;
	return push(f, err);
}

int flight_read_texture(struct flight *f, const struct texture *t, uint32_t slab,
    void *to, uint64_t tag, struct err *err)
{
	size_t n = texture_bytes(&t->desc);
	char *words = texture_words(&t->desc);
	int pbo = -1, rc = -1;
	if (!f->use_pbo) {
		if (flight_drain(f, err) < 0)
			goto out;
		texture_get_image(t, to);
	} else {
		if (take_pbo(f, n, &pbo, err) < 0)
			goto out;
		texture_get_image(t, NULL);
	}
	if (gl_check(f->gl, err, "glGetTexImage", "%s", words) < 0)
		goto out;
	rc = f->use_pbo ? read_pushed(f, pbo, slab, to, n, tag, err)
			: read_done(f, slab, tag, err);
out:
	free(words);
	return rc;
}

int flight_read_buffer(struct flight *f, const struct buffer *b, uint32_t slab, void *to,
    uint64_t n, uint64_t tag, struct err *err)
{
	int pbo = -1;
	if (!f->use_pbo) {
		if (flight_drain(f, err) < 0)
			return -1;
		glBindBuffer(GL_COPY_READ_BUFFER, b->name);
		glGetBufferSubData(GL_COPY_READ_BUFFER, 0, (GLsizeiptr)n, to);
	} else {
		if (take_pbo(f, (size_t)n, &pbo, err) < 0)
			return -1;
		glBindBuffer(GL_COPY_READ_BUFFER, b->name);
		glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_PIXEL_PACK_BUFFER, 0, 0,
		    (GLsizeiptr)n);
	}
	if (gl_check(f->gl, err, "flight_read_buffer", "shader storage of %llu bytes",
		(unsigned long long)n) < 0)
		return -1;
	return f->use_pbo ? read_pushed(f, pbo, slab, to, (size_t)n, tag, err)
			  : read_done(f, slab, tag, err);
}

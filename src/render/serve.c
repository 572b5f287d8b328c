#include "render/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "render/buffer.h"
#include "render/draw.h"
#include "render/egl.h"
#include "render/flight.h"
#include "render/gl.h"
#include "render/identity.h"
#include "render/program.h"
#include "render/stream.h"
#include "render/texture.h"
#include "util/mem.h"

#define GPU_WAIT_NS 2000000    /* between looks at the socket */
#define MAX_BACKLOG (1u << 20) /* events that the parent did not take yet */

struct mapping {
	void *data;
	size_t size;
	int is_readonly; /* a file of the store */
};

struct server {
	struct stream stream;
	struct egl egl;
	struct gl gl;
	struct flight flight;
	struct draw_room room;
	struct mapping *slab; /* by id */
	size_t nslab;
	struct buf messages; /* the driver's, on their way out */
	int is_open;         /* the context is there */
	int is_quitting;
};

/*
 * The main thread may be deep inside the driver when the parent dies; nobody
 * waits for the result any more.
 */
static void *watch_parent(void *arg)
{
	struct pollfd p = { .fd = *(int *)arg };
	for (;;) {
		p.revents = 0;
		if (poll(&p, 1, -1) > 0 && p.revents & (POLLHUP | POLLERR | POLLNVAL))
			_exit(0);
	}
	return NULL;
}

static int start_watch(int *fd, struct err *err)
{
	pthread_t thread;
	int rc = pthread_create(&thread, NULL, watch_parent, fd);
	if (rc)
		return err_set(err, STATUS_MACHINE, "cannot start a thread: %s",
		    strerror(rc));
	pthread_detach(thread);
	return 0;
}

/* Sends all of it, waiting for the parent to take it. */
static int send_all(struct server *s, struct err *err)
{
	for (;;) {
		if (stream_send(&s->stream, err) < 0)
			return -1;
		if (!stream_unsent(&s->stream))
			return 0;
		struct pollfd p = { .fd = s->stream.fd, .events = POLLOUT };
		(void)poll(&p, 1, -1);
	}
}

static void put_log(struct server *s, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		if (n) {
			stream_begin(&s->stream, EV_LOG);
			stream_text(&s->stream, text, n);
			stream_end(&s->stream);
		}
		text += n + (text[n] == '\n');
	}
}

/* Slabs -------------------------------------------------------------------- */

static int slab_open(struct server *s, uint32_t id, uint64_t size, struct err *err)
{
	int fd = stream_take_fd(&s->stream);
	struct stat st;
	int rc = -1;
	if (id >= STREAM_MAX_ID || fd < 0 || fstat(fd, &st) < 0 || !size ||
	    size > SIZE_MAX || st.st_size < 0 || (uint64_t)st.st_size < size) {
		err_set(err, STATUS_FAILED, "the renderer got a broken slab");
		goto out;
	}
	if (id >= s->nslab) {
		size_t n = (size_t)id * 2 + 16;
		s->slab = xreallocarray(s->slab, n, sizeof *s->slab);
		while (s->nslab < n)
			s->slab[s->nslab++] = (struct mapping){ 0 };
	}
	if (s->slab[id].data) {
		err_set(err, STATUS_FAILED, "the renderer got slab %lu twice",
		    (unsigned long)id);
		goto out;
	}
	int is_readonly = 0;
	void *data = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (data == MAP_FAILED && errno == EACCES) {
		is_readonly = 1;
		data = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0);
	}
	if (data == MAP_FAILED) {
		err_errno(err, STATUS_MACHINE, "cannot map %llu bytes of shared memory",
		    (unsigned long long)size);
		goto out;
	}
	s->slab[id] = (struct mapping){ data, (size_t)size, is_readonly };
	rc = 0;
out:
	if (fd >= 0)
		close(fd);
	return rc;
}

static void slab_close(struct server *s, uint32_t id)
{
	if (id < s->nslab && s->slab[id].data) {
		munmap(s->slab[id].data, s->slab[id].size);
		s->slab[id] = (struct mapping){ 0 };
	}
}

/* The slab's bytes when it has n of them, and they may be written where asked. */
static void *slab_data(struct server *s, uint32_t id, uint64_t n, int to_write,
    struct err *err)
{
	if (id < s->nslab && s->slab[id].data && n <= s->slab[id].size &&
	    !(to_write && s->slab[id].is_readonly))
		return s->slab[id].data;
	err_set(err, STATUS_FAILED, "the renderer has no slab %lu of %llu bytes",
	    (unsigned long)id, (unsigned long long)n);
	return NULL;
}

/* Commands ----------------------------------------------------------------- */

static int do_compile(struct server *s, struct message *m, struct err *err)
{
	uint32_t id = message_u32(m), has_vertex = message_u32(m);
	size_t nvertex, nstage;
	const char *vertex = message_str(m, &nvertex);
	const char *stage = message_str(m, &nstage);
	if (message_end(m, err) < 0)
		return -1;
	if (id >= STREAM_MAX_ID)
		return err_set(err, STATUS_FAILED, "program number %lu",
		    (unsigned long)id);
	/* Compilers take their time, and the clock must not be that of a draw. */
	if (flight_drain(&s->flight, err) < 0)
		return -1;
	struct compile_result result;
	int rc = program_new(&s->gl, id, has_vertex ? vertex : NULL, nvertex, stage,
	    nstage, &result, err);
	if (!rc) {
		stream_begin(&s->stream, EV_COMPILED);
		stream_put_result(&s->stream, id, &result);
		stream_end(&s->stream);
	}
	compile_result_release(&result);
	return rc;
}

static void put_uploaded(struct server *s, uint32_t slab)
{
	stream_begin(&s->stream, EV_UPLOADED);
	stream_u32(&s->stream, slab);
	stream_end(&s->stream);
}

static int do_texture(struct server *s, struct message *m, struct err *err)
{
	struct gl *gl = &s->gl;
	uint32_t id = message_u32(m), other;
	struct texture_desc desc;
	struct texture *t;
	void *data;
	switch (m->type) {
	case CMD_TEXTURE_NEW:
		if (message_desc(m, &desc, err) < 0)
			return -1;
		if (!id || id >= STREAM_MAX_ID)
			return err_set(err, STATUS_FAILED, "texture number %lu",
			    (unsigned long)id);
		return texture_new(gl, id, &desc, err);
	case CMD_TEXTURE_UPLOAD:
		other = message_u32(m);
		if (message_end(m, err) < 0 || !(t = texture_get(gl, id, err)) ||
		    !(data = slab_data(s, other, texture_bytes(&t->desc), 0, err)))
			return -1;
		if (texture_upload(gl, id, data, s->slab[other].size, err) < 0)
			return -1;
		put_uploaded(s, other);
		return 0;
	case CMD_TEXTURE_COPY:
		other = message_u32(m);
		return message_end(m, err) < 0 ? -1 : texture_copy(gl, id, other, err);
	case CMD_TEXTURE_READ: {
		other = message_u32(m);
		uint64_t tag = message_u64(m);
		if (message_end(m, err) < 0 || !(t = texture_get(gl, id, err)) ||
		    !(data = slab_data(s, other, texture_bytes(&t->desc), 1, err)))
			return -1;
		return flight_read_texture(&s->flight, t, other, data, tag, err);
	}
	default:
		break;
	}
	if (message_end(m, err) < 0)
		return -1;
	if (m->type == CMD_TEXTURE_CLEAR)
		return texture_clear(gl, id, err);
	if (m->type == CMD_TEXTURE_MIPS)
		return texture_mips(gl, id, err);
	texture_free(gl, id);
	return gl_check(gl, err, "texture_free", "texture %lu", (unsigned long)id);
}

static int do_buffer(struct server *s, struct message *m, struct err *err)
{
	struct gl *gl = &s->gl;
	uint32_t id = message_u32(m), other;
	uint64_t size;
	struct buffer *b;
	void *data;
	switch (m->type) {
	case CMD_BUFFER_NEW:
		size = message_u64(m);
		if (message_end(m, err) < 0)
			return -1;
		if (id >= STREAM_MAX_ID)
			return err_set(err, STATUS_FAILED, "buffer number %lu",
			    (unsigned long)id);
		return buffer_new(gl, id, size, err);
	case CMD_BUFFER_UPLOAD:
		other = message_u32(m);
		size = message_u64(m);
		if (message_end(m, err) < 0 ||
		    !(data = slab_data(s, other, size, 0, err)) ||
		    buffer_upload(gl, id, data, size, err) < 0)
			return -1;
		put_uploaded(s, other);
		return 0;
	case CMD_BUFFER_COPY:
		other = message_u32(m);
		size = message_u64(m);
		return message_end(m, err) < 0 ? -1
					       : buffer_copy(gl, id, other, size, err);
	case CMD_BUFFER_READ: {
		other = message_u32(m);
		size = message_u64(m);
		uint64_t tag = message_u64(m);
		if (message_end(m, err) < 0 || !(b = buffer_get(gl, id, err)) ||
		    !(data = slab_data(s, other, size, 1, err)))
			return -1;
		if (size > b->size)
			return err_set(err, STATUS_FAILED,
			    "a read past the "
			    "end of a buffer");
		return flight_read_buffer(&s->flight, b, other, data, size, tag, err);
	}
	default:
		break;
	}
	if (message_end(m, err) < 0)
		return -1;
	if (m->type == CMD_BUFFER_CLEAR)
		return buffer_clear(gl, id, err);
	buffer_free(gl, id);
	return gl_check(gl, err, "buffer_free", "buffer %lu", (unsigned long)id);
}

static int command(struct server *s, struct message *m, struct err *err)
{
	uint32_t id;
	uint64_t size;
	struct draw draw;
	const char *label;
	switch (m->type) {
	case CMD_QUIT:
		s->is_quitting = 1;
		return message_end(m, err);
	case CMD_SLAB:
		id = message_u32(m);
		size = message_u64(m);
		return message_end(m, err) < 0 ? -1 : slab_open(s, id, size, err);
	case CMD_SLAB_FREE:
		id = message_u32(m);
		if (message_end(m, err) < 0)
			return -1;
		slab_close(s, id);
		return 0;
	case CMD_COMPILE:
		return do_compile(s, m, err);
	case CMD_TEXTURE_NEW:
	case CMD_TEXTURE_UPLOAD:
	case CMD_TEXTURE_CLEAR:
	case CMD_TEXTURE_COPY:
	case CMD_TEXTURE_MIPS:
	case CMD_TEXTURE_FREE:
	case CMD_TEXTURE_READ:
		return do_texture(s, m, err);
	case CMD_BUFFER_NEW:
	case CMD_BUFFER_UPLOAD:
	case CMD_BUFFER_CLEAR:
	case CMD_BUFFER_COPY:
	case CMD_BUFFER_FREE:
	case CMD_BUFFER_READ:
		return do_buffer(s, m, err);
	case CMD_DRAW:
		if (message_draw(m, &s->room, &draw, &label, err) < 0)
			return -1;
		return draw_run(&s->gl, &s->flight, &draw, label, err);
	default:
		return err_set(err, STATUS_FAILED,
		    "the renderer's stream is broken (message %lu)",
		    (unsigned long)m->type);
	}
}

/* The loop ----------------------------------------------------------------- */

static int after_command(struct server *s, struct err *err)
{
	gl_take_messages(&s->messages);
	if (s->messages.len) {
		put_log(s, s->messages.data);
		buf_reset(&s->messages);
	}
	if (flight_poll(&s->flight, 0, err) < 0 || stream_send(&s->stream, err) < 0)
		return -1;
	return stream_unsent(&s->stream) > MAX_BACKLOG ? send_all(s, err) : 0;
}

/* Waits for bytes, while the GPU and the socket move on. */
static int wait_for_more(struct server *s, struct err *err)
{
	for (;;) {
		if (stream_send(&s->stream, err) < 0)
			return -1;
		struct pollfd p = {
			.fd = s->stream.fd,
			.events =
			    (short)(POLLIN | (stream_unsent(&s->stream) ? POLLOUT : 0)),
		};
		(void)poll(&p, 1, s->flight.n ? 0 : -1);
		if (p.revents & (POLLIN | POLLHUP | POLLERR))
			return stream_recv(&s->stream, err) < 0 ? -1 : 0;
		if (flight_poll(&s->flight, GPU_WAIT_NS, err) < 0)
			return -1;
	}
}

static int next_message(struct server *s, struct message *m, struct err *err)
{
	int rc;
	while (!(rc = stream_next(&s->stream, m, err))) {
		if (s->stream.is_eof) {
			s->is_quitting = 1;
			return 0;
		}
		if (wait_for_more(s, err) < 0)
			return -1;
	}
	return rc;
}

/* Opening ------------------------------------------------------------------ */

static char *gl_string(GLenum name)
{
	const char *s = (const char *)glGetString(name);
	return xstrdup(s ? s : "");
}

static int take_identity(struct server *s, struct gl_info *info,
    const struct lines *before, struct lines *line, struct err *err)
{
	struct lines after = { 0 };
	identity_maps(&after);
	if (identity_libraries(before, &after, line, err) < 0) {
		lines_release(&after);
		return -1;
	}
	info->mapped = after.line;
	info->nmapped = after.nline;
	if (info->is_software)
		identity_cpu(line);
	GLint flags = 0;
	glGetIntegerv(GL_CONTEXT_FLAGS, &flags);
	lines_take(line, xasprintf("gl.vendor %s", info->vendor));
	lines_take(line, xasprintf("gl.renderer %s", info->renderer));
	lines_take(line, xasprintf("gl.version %s", info->version));
	lines_take(line, xasprintf("gl.glsl %s", info->glsl_version));
	lines_take(line,
	    xasprintf("gl.context %d flags 0x%x", info->gl_version, (unsigned)flags));
	lines_take(line, xasprintf("gl.robust %d", s->egl.is_robust));
	const char *zero = getenv("glsl_zero_init");
	lines_take(line, xasprintf("gl.zero-init %s", zero ? zero : "no"));
	lines_sort(line);
	struct buf text = BUF_INIT;
	for (size_t i = 0; i < line->nline; i++)
		buf_addf(&text, "%s\n", line->line[i]);
	info->identity_text = buf_detach(&text);
	return 0;
}

static int open_context(struct server *s, struct err *err)
{
	struct lines before = { 0 }, line = { 0 };
	struct gl_info info = { 0 };
	struct message m;
	int rc = -1;
	identity_maps(&before);
	/* As the user set it; what we add below is the same everywhere. */
	identity_environment(&line);
	identity_options(&line);
	if (next_message(s, &m, err) < 0 || s->is_quitting)
		goto out;
	uint32_t version = message_u32(&m);
	const char *device = message_str(&m, NULL);
	uint32_t use_pbo = message_u32(&m);
	if (message_end(&m, err) < 0)
		goto out;
	if (m.type != CMD_HELLO || version != STREAM_VERSION) {
		err_set(err, STATUS_FAILED,
		    "the renderer is not of this program's version");
		goto out;
	}
	/*
	 * Locals start at zero, as in browsers: Mesa's driconf option, which other
	 * drivers ignore. Mesa would remark on it on stderr at each start.
	 */
	if (setenv("glsl_zero_init", "true", 0) < 0 ||
	    setenv("MESA_DEBUG", "silent", 0) < 0) {
		err_errno(err, STATUS_MACHINE, "cannot set the environment");
		goto out;
	}
	int opened = egl_open(&s->egl, *device ? device : NULL, err);
	put_log(s, buf_str(&s->egl.log));
	if (opened < 0)
		goto out;
	s->is_open = 1;
	if (gl_init(&s->gl, s->egl.is_robust, err) < 0)
		goto out;
	info.vendor = gl_string(GL_VENDOR);
	info.renderer = gl_string(GL_RENDERER);
	info.version = gl_string(GL_VERSION);
	info.glsl_version = gl_string(GL_SHADING_LANGUAGE_VERSION);
	info.device = xstrdup(buf_str(&s->egl.device));
	info.gl_version = s->gl.version;
	info.has_es3 = s->gl.has_es3;
	info.is_software = s->gl.is_software =
	    s->egl.is_software_device || renderer_is_software(info.renderer);
	info.max_texture_size = s->gl.max_texture_size;
	info.max_storage_bindings = s->gl.max_storage_bindings;
	info.max_image_units = s->gl.max_image_units;
	info.max_storage_bytes = s->gl.max_storage_bytes;
	if (take_identity(s, &info, &before, &line, err) < 0)
		goto out;
	flight_init(&s->flight, &s->gl, &s->stream, use_pbo || !s->gl.is_software);
	stream_begin(&s->stream, EV_READY);
	stream_put_info(&s->stream, &info);
	stream_end(&s->stream);
	rc = send_all(s, err);
out:
	gl_info_release(&info);
	lines_release(&before);
	lines_release(&line);
	return rc;
}

static void close_all(struct server *s)
{
	if (s->is_open) {
		flight_release(&s->flight);
		gl_release(&s->gl);
		egl_close(&s->egl);
	}
	for (size_t i = 0; i < s->nslab; i++)
		slab_close(s, (uint32_t)i);
	free(s->slab);
	draw_room_release(&s->room);
	buf_release(&s->messages);
	buf_release(&s->egl.device);
	buf_release(&s->egl.log);
}

int serve(int fd)
{
	struct server s = { 0 };
	struct err err = ERR_INIT;
	struct message m;
	int rc = -1, status = 0;
	/* A terminal's signals reach both; the parent decides what they mean. */
	static const int ignored[] = { SIGINT, SIGHUP, SIGQUIT, SIGPIPE };
	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
		signal(ignored[i], SIG_IGN);
	/* The thread outlives this function when it is the main one's last act. */
	static int watched;
	watched = fd;
	(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	if (stream_open(&s.stream, fd, &err) < 0 || start_watch(&watched, &err) < 0 ||
	    open_context(&s, &err) < 0)
		goto out;
	while (!s.is_quitting) {
		if (next_message(&s, &m, &err) < 0)
			goto out;
		if (s.is_quitting)
			break;
		if (command(&s, &m, &err) < 0 || after_command(&s, &err) < 0)
			goto out;
	}
	rc = 0;
out:
	if (rc < 0 && err.message) {
		struct err ignore = ERR_INIT;
		status = err.status;
		stream_begin(&s.stream, EV_FATAL);
		stream_u32(&s.stream, (uint32_t)err.status);
		stream_u32(&s.stream, (uint32_t)err.kind);
		stream_str(&s.stream, err.message);
		stream_end(&s.stream);
		if (send_all(&s, &ignore) < 0)
			status = STATUS_MACHINE;
		err_release(&ignore);
	}
	close_all(&s);
	/* The descriptor stays open: its end is the sign that we are gone. */
	s.stream.fd = -1;
	stream_close(&s.stream);
	err_release(&err);
	return status;
}

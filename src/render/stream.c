#include "render/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "util/mem.h"

#define HEADER 8
#define CHUNK 65536

/* Reading ------------------------------------------------------------------ */

static const unsigned char *message_take(struct message *m, size_t n)
{
	if (m->is_bad || n > m->n) {
		m->is_bad = 1;
		return NULL;
	}
	const unsigned char *p = m->p;
	m->p += n;
	m->n -= n;
	return p;
}

uint32_t message_u32(struct message *m)
{
	const unsigned char *p = message_take(m, 4);
	return p ? get_u32le(p) : 0;
}

uint64_t message_u64(struct message *m)
{
	const unsigned char *p = message_take(m, 8);
	return p ? get_u64le(p) : 0;
}

const char *message_str(struct message *m, size_t *len)
{
	size_t n = message_u32(m);
	const unsigned char *p = message_take(m, n);
	const unsigned char *nul = message_take(m, 1);
	if (!p || !nul || *nul) {
		m->is_bad = 1;
		n = 0;
		p = (const unsigned char *)"";
	}
	if (len)
		*len = n;
	return (const char *)p;
}

int message_end(const struct message *m, struct err *err)
{
	if (m->is_bad || m->n)
		return err_set(err, STATUS_FAILED,
		    "the renderer's stream is broken (message %u)", m->type);
	return 0;
}

/* A count or enum that must be below a limit. */
static uint32_t message_below(struct message *m, uint32_t limit)
{
	uint32_t v = message_u32(m);
	if (v >= limit) {
		m->is_bad = 1;
		return 0;
	}
	return v;
}

/* The socket --------------------------------------------------------------- */

int stream_open(struct stream *s, int fd, struct err *err)
{
	*s = (struct stream){ .fd = fd };
	int flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return err_errno(err, STATUS_MACHINE,
		    "cannot set up the renderer's socket");
	return 0;
}

void stream_close(struct stream *s)
{
	for (size_t i = s->pass_at; i < s->npass; i++)
		close(s->pass[i].fd);
	for (int i = 0; i < s->ngot; i++)
		close(s->got[i]);
	if (s->fd > 0)
		close(s->fd);
	free(s->pass);
	buf_release(&s->in);
	buf_release(&s->out);
	*s = (struct stream){ .fd = -1 };
}

void stream_begin(struct stream *s, enum stream_type type)
{
	s->begin = s->out.len;
	buf_u32le(&s->out, type);
	buf_u32le(&s->out, 0);
}

void stream_u32(struct stream *s, uint32_t v)
{
	buf_u32le(&s->out, v);
}

void stream_u64(struct stream *s, uint64_t v)
{
	buf_u64le(&s->out, v);
}

void stream_text(struct stream *s, const char *text, size_t n)
{
	if (n >= STREAM_MAX_MESSAGE)
		BUG("a string of %zu bytes in a message", n);
	buf_u32le(&s->out, (uint32_t)n);
	if (n)
		buf_add(&s->out, text, n);
	buf_addch(&s->out, '\0');
}

void stream_str(struct stream *s, const char *text)
{
	stream_text(s, text, text ? strlen(text) : 0);
}

void stream_pass_fd(struct stream *s, int fd)
{
	s->pass = array_grow(s->pass, s->npass, &s->pass_cap, sizeof *s->pass);
	s->pass[s->npass++] = (struct stream_fd){
		.at = s->sent + (s->begin - s->out_at),
		.fd = fd,
	};
}

void stream_end(struct stream *s)
{
	size_t n = s->out.len - s->begin - HEADER;
	if (n > STREAM_MAX_MESSAGE)
		BUG("a message of %zu bytes", n);
	unsigned char *p = (unsigned char *)s->out.data + s->begin + 4;
	for (int i = 0; i < 4; i++)
		p[i] = (unsigned char)(n >> 8 * i);
}

uint64_t stream_written(const struct stream *s)
{
	return s->sent + stream_unsent(s);
}

size_t stream_unsent(const struct stream *s)
{
	return s->out.len - s->out_at;
}

/* The other end died of what it was given, or the machine is at its end. */
static enum status status_of(int error)
{
	return error == EPIPE || error == ECONNRESET ? STATUS_FAILED : STATUS_MACHINE;
}

int stream_send(struct stream *s, struct err *err)
{
	while (stream_unsent(s)) {
		struct iovec iov = {
			.iov_base = s->out.data + s->out_at,
			.iov_len = stream_unsent(s),
		};
		struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
		union {
			struct cmsghdr align;
			char room[CMSG_SPACE(sizeof(int))];
		} control;
		int passes = 0;
		if (s->pass_at < s->npass && s->pass[s->pass_at].at == s->sent) {
			memset(&control, 0, sizeof control);
			msg.msg_control = &control;
			msg.msg_controllen = sizeof control.room;
			struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
			c->cmsg_level = SOL_SOCKET;
			c->cmsg_type = SCM_RIGHTS;
			c->cmsg_len = CMSG_LEN(sizeof(int));
			memcpy(CMSG_DATA(c), &s->pass[s->pass_at].fd, sizeof(int));
			passes = 1;
		}
		/* One descriptor a call: stop short of the next one's byte. */
		size_t next = s->pass_at + (size_t)passes;
		if (next < s->npass && s->pass[next].at - s->sent < iov.iov_len)
			iov.iov_len = (size_t)(s->pass[next].at - s->sent);
		ssize_t n = sendmsg(s->fd, &msg, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			break;
		if (n < 0)
			return err_errno(err, status_of(errno),
			    "cannot write to the renderer's socket");
		s->out_at += (size_t)n;
		s->sent += (uint64_t)n;
		if (passes)
			close(s->pass[s->pass_at++].fd);
	}
	if (s->pass_at == s->npass)
		s->pass_at = s->npass = 0;
	if (!stream_unsent(s)) {
		buf_reset(&s->out);
		s->out_at = 0;
	} else if (s->out_at >= CHUNK && s->out_at >= s->out.len / 2) {
		memmove(s->out.data, s->out.data + s->out_at, stream_unsent(s));
		s->out.len -= s->out_at;
		s->out_at = 0;
	}
	return 0;
}

static int take_rights(struct stream *s, struct msghdr *msg, struct err *err)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < n; i++) {
			int fd;
			memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
			(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
			if (s->ngot == (int)(sizeof s->got / sizeof *s->got)) {
				close(fd);
				return err_set(err, STATUS_FAILED,
				    "the renderer's stream is broken (descriptors)");
			}
			s->got[s->ngot++] = fd;
		}
	}
	if (msg->msg_flags & MSG_CTRUNC)
		return err_set(err, STATUS_MACHINE,
		    "a descriptor was lost: the limit of open files is too low");
	return 0;
}

int stream_recv(struct stream *s, struct err *err)
{
	if (s->in_at == s->in.len) {
		buf_reset(&s->in);
		s->in_at = 0;
	} else if (s->in_at) {
		memmove(s->in.data, s->in.data + s->in_at, s->in.len - s->in_at);
		s->in.len -= s->in_at;
		s->in_at = 0;
	}
	size_t had = s->in.len;
	/* Let what is complete be worked on before more is taken. */
	while (!s->is_eof && s->in.len - had < 16 * CHUNK) {
		struct iovec iov = {
			.iov_base = buf_reserve(&s->in, CHUNK),
			.iov_len = CHUNK,
		};
		union {
			struct cmsghdr align;
			char room[CMSG_SPACE(4 * sizeof(int))];
		} control;
		struct msghdr msg = {
			.msg_iov = &iov,
			.msg_iovlen = 1,
			.msg_control = &control,
			.msg_controllen = sizeof control.room,
		};
		ssize_t n = recvmsg(s->fd, &msg, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			break;
		if (n < 0 && errno != ECONNRESET)
			return err_errno(err, status_of(errno),
			    "cannot read from the renderer's socket");
		if (n <= 0) {
			s->is_eof = 1;
			break;
		}
		s->in.len += (size_t)n;
		s->in.data[s->in.len] = '\0';
		if (take_rights(s, &msg, err) < 0)
			return -1;
		if (s->ngot)
			break; /* before the next ones come */
	}
	return s->in.len > had;
}

int stream_next(struct stream *s, struct message *out, struct err *err)
{
	size_t have = s->in.len - s->in_at;
	if (have < HEADER)
		return 0;
	const unsigned char *p = (const unsigned char *)s->in.data + s->in_at;
	uint32_t n = get_u32le(p + 4);
	if (n > STREAM_MAX_MESSAGE)
		return err_set(err, STATUS_FAILED,
		    "the renderer's stream is broken (a message of %lu bytes)",
		    (unsigned long)n);
	if (have - HEADER < n)
		return 0;
	*out = (struct message){ .type = get_u32le(p), .p = p + HEADER, .n = n };
	s->in_at += HEADER + n;
	return 1;
}

int stream_take_fd(struct stream *s)
{
	if (!s->ngot)
		return -1;
	int fd = s->got[0];
	s->ngot--;
	memmove(s->got, s->got + 1, (size_t)s->ngot * sizeof *s->got);
	return fd;
}

/* Draws -------------------------------------------------------------------- */

void draw_room_release(struct draw_room *room)
{
	free(room->uniform);
	*room = (struct draw_room){ 0 };
}

/* Floats and ints of a uniform of this type; 0 where it cannot be set. */
static int gl_type_components(enum gl_type type)
{
	switch (type) {
	case GL_T_FLOAT:
	case GL_T_INT:
	case GL_T_BOOL:
	case GL_T_UINT:
		return 1;
	case GL_T_VEC2:
		return 2;
	case GL_T_VEC3:
		return 3;
	case GL_T_VEC4:
		return 4;
	default:
		return 0;
	}
}

static int is_integer(enum gl_type type)
{
	return type == GL_T_INT || type == GL_T_BOOL || type == GL_T_UINT;
}

/*
 * u64 tag; u32 program, is_compute, width, height, is_cube, iterations,
 * groups[2]; u32 n, targets; u32 n, inputs of u32 channel, texture, kind,
 * filter, wrap; u32 n, storage of u32 binding, buffer, u64 size; u32 n,
 * uniforms of str name, u32 type, count, then count x components values of 32
 * bits; str label.
 */
void stream_put_draw(struct stream *s, const struct draw *d, const char *label)
{
	if (d->ntarget < 0 || d->ntarget > 8 || d->ninput < 0 ||
	    d->ninput > LIMIT_CHANNELS || d->nstorage > LIMIT_STORAGE_NAMES ||
	    d->nuniform > STREAM_MAX_UNIFORMS)
		BUG("a draw with impossible counts");
	stream_u64(s, d->tag);
	stream_u32(s, d->program);
	stream_u32(s, !!d->is_compute);
	stream_u32(s, (uint32_t)d->width);
	stream_u32(s, (uint32_t)d->height);
	stream_u32(s, !!d->is_cube);
	stream_u32(s, (uint32_t)d->face);
	stream_u32(s, !!d->is_edged);
	stream_u32(s, !!d->is_fan);
	stream_u32(s, !!d->may_loop);
	stream_u32(s, (uint32_t)d->iterations);
	stream_u32(s, (uint32_t)d->groups[0]);
	stream_u32(s, (uint32_t)d->groups[1]);
	stream_u32(s, (uint32_t)d->ntarget);
	for (int i = 0; i < d->ntarget; i++)
		stream_u32(s, d->target[i]);
	stream_u32(s, (uint32_t)d->ninput);
	for (int i = 0; i < d->ninput; i++) {
		const struct draw_input *in = &d->input[i];
		stream_u32(s, (uint32_t)in->channel);
		stream_u32(s, in->texture);
		stream_u32(s, in->kind);
		stream_u32(s, in->filter);
		stream_u32(s, in->wrap);
		stream_u32(s, !!in->has_no_sampler);
	}
	stream_u32(s, (uint32_t)d->nstorage);
	for (size_t i = 0; i < d->nstorage; i++) {
		stream_u32(s, d->storage[i].binding);
		stream_u32(s, d->storage[i].buffer);
		stream_u64(s, d->storage[i].size);
	}
	stream_u32(s, (uint32_t)d->nuniform);
	for (size_t i = 0; i < d->nuniform; i++) {
		const struct draw_uniform *u = &d->uniform[i];
		int n = u->count * gl_type_components(u->type);
		if (u->count < 0 || n > (is_integer(u->type) ? 4 : 64))
			BUG("uniform '%s' has too many values", u->name);
		stream_str(s, u->name);
		stream_u32(s, u->type);
		stream_u32(s, (uint32_t)u->count);
		for (int k = 0; k < n; k++) {
			uint32_t bits;
			if (is_integer(u->type))
				bits = (uint32_t)u->i[k];
			else
				memcpy(&bits, &u->f[k], sizeof bits);
			stream_u32(s, bits);
		}
	}
	stream_str(s, label);
}

static void message_uniform(struct message *m, struct draw_uniform *u)
{
	u->name = message_str(m, NULL);
	u->type = (enum gl_type)message_below(m, GL_T_OTHER + 1);
	u->count = (int)message_below(m, 65);
	int n = u->count * gl_type_components(u->type);
	if (n > (is_integer(u->type) ? 4 : 64)) {
		m->is_bad = 1;
		return;
	}
	for (int k = 0; k < n; k++) {
		uint32_t bits = message_u32(m);
		if (is_integer(u->type))
			memcpy(&u->i[k], &bits, sizeof bits);
		else
			memcpy(&u->f[k], &bits, sizeof bits);
	}
}

int message_draw(struct message *m, struct draw_room *room, struct draw *out,
    const char **label, struct err *err)
{
	memset(out, 0, sizeof *out);
	out->tag = message_u64(m);
	out->program = message_below(m, STREAM_MAX_ID);
	out->is_compute = (int)message_below(m, 2);
	out->width = (int)message_below(m, LIMIT_SIZE + 1);
	out->height = (int)message_below(m, LIMIT_SIZE + 1);
	out->is_cube = (int)message_below(m, 2);
	out->face = (int)message_below(m, 7);
	out->is_edged = (int)message_below(m, 2);
	out->is_fan = (int)message_below(m, 2);
	out->may_loop = (int)message_below(m, 2);
	out->iterations = (int)message_below(m, LIMIT_ITERATIONS + 1);
	out->groups[0] = (int)message_below(m, LIMIT_SIZE + 1);
	out->groups[1] = (int)message_below(m, LIMIT_SIZE + 1);
	out->ntarget = (int)message_below(m, 9);
	for (int i = 0; i < out->ntarget; i++)
		out->target[i] = message_below(m, STREAM_MAX_ID);
	out->ninput = (int)message_below(m, LIMIT_CHANNELS + 1);
	for (int i = 0; i < out->ninput; i++) {
		struct draw_input *in = &out->input[i];
		in->channel = (int)message_below(m, LIMIT_CHANNELS);
		in->texture = message_below(m, STREAM_MAX_ID);
		in->kind = (enum texture_kind)message_below(m, TEXTURE_CUBE + 1);
		in->filter = (enum filter)message_below(m, FILTER_MIPMAP + 1);
		in->wrap = (enum wrap)message_below(m, WRAP_CLAMP + 1);
		in->has_no_sampler = (int)message_below(m, 2);
	}
	out->nstorage = message_below(m, LIMIT_STORAGE_NAMES + 1);
	for (size_t i = 0; i < out->nstorage; i++) {
		room->storage[i].binding = message_u32(m);
		room->storage[i].buffer = message_below(m, STREAM_MAX_ID);
		room->storage[i].size = message_u64(m);
	}
	out->nuniform = message_below(m, STREAM_MAX_UNIFORMS + 1);
	if (out->nuniform > room->cap) {
		room->uniform =
		    xreallocarray(room->uniform, out->nuniform, sizeof *room->uniform);
		room->cap = out->nuniform;
	}
	for (size_t i = 0; i < out->nuniform && !m->is_bad; i++)
		message_uniform(m, &room->uniform[i]);
	out->storage = room->storage;
	out->uniform = room->uniform;
	*label = message_str(m, NULL);
	return message_end(m, err);
}

/* Descriptions ------------------------------------------------------------- */

void stream_put_desc(struct stream *s, const struct texture_desc *desc)
{
	stream_u32(s, desc->kind);
	stream_u32(s, (uint32_t)desc->width);
	stream_u32(s, (uint32_t)desc->height);
	stream_u32(s, (uint32_t)desc->depth);
	stream_u32(s, desc->texel);
	stream_u32(s, !!desc->has_mips);
	stream_u32(s, !!desc->is_red_only);
}

int message_desc(struct message *m, struct texture_desc *out, struct err *err)
{
	out->kind = (enum texture_kind)message_below(m, TEXTURE_CUBE + 1);
	out->width = (int)message_below(m, LIMIT_SIZE + 1);
	out->height = (int)message_below(m, LIMIT_SIZE + 1);
	out->depth = (int)message_below(m, LIMIT_SIZE + 1);
	out->texel = (enum texel)message_below(m, TEXEL_R8 + 1);
	out->has_mips = (int)message_below(m, 2);
	out->is_red_only = (int)message_below(m, 2);
	return message_end(m, err);
}

void stream_put_info(struct stream *s, const struct gl_info *info)
{
	stream_str(s, info->vendor);
	stream_str(s, info->renderer);
	stream_str(s, info->version);
	stream_str(s, info->glsl_version);
	stream_str(s, info->device);
	stream_u32(s, (uint32_t)info->gl_version);
	stream_u32(s, (uint32_t)info->has_es3);
	stream_u32(s, (uint32_t)info->is_software);
	stream_u32(s, (uint32_t)info->max_texture_size);
	stream_u32(s, (uint32_t)info->max_storage_bindings);
	stream_u32(s, (uint32_t)info->max_image_units);
	stream_u64(s, info->max_storage_bytes);
	stream_str(s, info->identity_text);
	stream_u32(s, (uint32_t)info->nmapped);
	for (size_t i = 0; i < info->nmapped; i++)
		stream_str(s, info->mapped[i]);
}

int message_info(struct message *m, struct gl_info *out, struct err *err)
{
	*out = (struct gl_info){ 0 };
	out->vendor = xstrdup(message_str(m, NULL));
	out->renderer = xstrdup(message_str(m, NULL));
	out->version = xstrdup(message_str(m, NULL));
	out->glsl_version = xstrdup(message_str(m, NULL));
	out->device = xstrdup(message_str(m, NULL));
	out->gl_version = (int)message_u32(m);
	out->has_es3 = (int)message_below(m, 2);
	out->is_software = (int)message_below(m, 2);
	out->max_texture_size = (int)message_below(m, 1u << 30);
	out->max_storage_bindings = (int)message_below(m, 1u << 30);
	out->max_image_units = (int)message_below(m, 1u << 30);
	out->max_storage_bytes = message_u64(m);
	out->identity_text = xstrdup(message_str(m, NULL));
	sha256_of(out->identity_text, strlen(out->identity_text), &out->identity);
	size_t n = message_u32(m);
	/* Each takes five bytes at least. */
	if (n > m->n / 5)
		m->is_bad = 1;
	else
		out->mapped = xcalloc(n ? n : 1, sizeof *out->mapped);
	while (!m->is_bad && out->nmapped < n)
		out->mapped[out->nmapped++] = xstrdup(message_str(m, NULL));
	return message_end(m, err);
}

void stream_put_result(struct stream *s, uint32_t program, const struct compile_result *r)
{
	stream_u32(s, program);
	stream_u32(s, (uint32_t)r->ok);
	stream_str(s, r->log);
	stream_u64(s, r->compile_ns);
	stream_u32(s, (uint32_t)r->reflection.nuniform);
	for (size_t i = 0; i < r->reflection.nuniform; i++) {
		const struct active_uniform *u = &r->reflection.uniform[i];
		stream_str(s, u->name);
		stream_u32(s, u->type);
		stream_u32(s, (uint32_t)u->count);
	}
	stream_u32(s, (uint32_t)r->reflection.nblock);
	for (size_t i = 0; i < r->reflection.nblock; i++) {
		const struct active_block *b = &r->reflection.block[i];
		stream_str(s, b->name);
		stream_u32(s, b->binding);
		stream_u32(s, (uint32_t)b->is_written);
	}
}

int message_result(struct message *m, struct compile_result *out, struct err *err)
{
	*out = (struct compile_result){ 0 };
	out->ok = (int)message_below(m, 2);
	out->log = xstrdup(message_str(m, NULL));
	out->compile_ns = message_u64(m);
	struct reflection *r = &out->reflection;
	size_t n = message_u32(m);
	if (n > m->n / 13)
		m->is_bad = 1;
	else
		r->uniform = xcalloc(n ? n : 1, sizeof *r->uniform);
	while (!m->is_bad && r->nuniform < n) {
		struct active_uniform *u = &r->uniform[r->nuniform++];
		u->name = xstrdup(message_str(m, NULL));
		u->type = (enum gl_type)message_below(m, GL_T_OTHER + 1);
		u->count = (int)message_below(m, 1u << 30);
	}
	n = message_u32(m);
	if (n > m->n / 13)
		m->is_bad = 1;
	else
		r->block = xcalloc(n ? n : 1, sizeof *r->block);
	while (!m->is_bad && r->nblock < n) {
		struct active_block *b = &r->block[r->nblock++];
		b->name = xstrdup(message_str(m, NULL));
		b->binding = message_u32(m);
		b->is_written = (int)message_below(m, 2);
	}
	return message_end(m, err);
}

#include "glsl/reflection.h"

#include <stdlib.h>
#include <string.h>

#include "util/buf.h"
#include "util/mem.h"

#define REFLECTION_MAX 4096 /* entries a list; GL's own limits are below */

void reflection_release(struct reflection *r)
{
	for (size_t i = 0; i < r->nuniform; i++)
		free(r->uniform[i].name);
	for (size_t i = 0; i < r->nblock; i++)
		free(r->block[i].name);
	free(r->uniform);
	free(r->block);
	memset(r, 0, sizeof *r);
}

const struct active_uniform *reflection_uniform(const struct reflection *r,
    const char *name)
{
	size_t lo = 0, hi = r->nuniform;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = strcmp(name, r->uniform[mid].name);
		if (c == 0)
			return &r->uniform[mid];
		if (c < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}

/*
 * Form: u32 count of uniforms, each u32 type, u32 count, u32 length, name;
 * u32 count of blocks, each u32 binding, u32 is_written, u32 length, name.
 * Little-endian.
 */
void reflection_encode(const struct reflection *r, struct buf *out)
{
	buf_u32le(out, (uint32_t)r->nuniform);
	for (size_t i = 0; i < r->nuniform; i++) {
		const struct active_uniform *u = &r->uniform[i];
		buf_u32le(out, u->type);
		buf_u32le(out, (uint32_t)u->count);
		buf_u32le(out, (uint32_t)strlen(u->name));
		buf_addstr(out, u->name);
	}
	buf_u32le(out, (uint32_t)r->nblock);
	for (size_t i = 0; i < r->nblock; i++) {
		const struct active_block *b = &r->block[i];
		buf_u32le(out, b->binding);
		buf_u32le(out, b->is_written != 0);
		buf_u32le(out, (uint32_t)strlen(b->name));
		buf_addstr(out, b->name);
	}
}

struct cursor {
	const unsigned char *p;
	size_t left;
	int bad;
};

static uint32_t take_u32(struct cursor *c)
{
	if (c->left < 4) {
		c->bad = 1;
		return 0;
	}
	uint32_t v = get_u32le(c->p);
	c->p += 4;
	c->left -= 4;
	return v;
}

static char *take_name(struct cursor *c)
{
	uint32_t n = take_u32(c);

	if (c->bad || n > c->left || memchr(c->p, 0, n)) {
		c->bad = 1;
		return xstrdup("");
	}
	char *name = xstrndup((const char *)c->p, n);
	c->p += n;
	c->left -= n;
	return name;
}

int reflection_decode(const void *data, size_t n, struct reflection *out, struct err *err)
{
	struct cursor c = { data, n, 0 };

	memset(out, 0, sizeof *out);
	uint32_t nuniform = take_u32(&c);
	if (nuniform > REFLECTION_MAX)
		c.bad = 1;
	for (uint32_t i = 0; i < nuniform && !c.bad; i++) {
		out->uniform = xreallocarray(out->uniform, i + 1, sizeof *out->uniform);
		struct active_uniform *u = &out->uniform[i];
		u->type = (enum gl_type)take_u32(&c);
		u->count = (int)take_u32(&c);
		u->name = take_name(&c);
		out->nuniform = i + 1;
		if (u->type > GL_T_OTHER || u->count < 1)
			c.bad = 1;
	}
	uint32_t nblock = take_u32(&c);
	if (nblock > REFLECTION_MAX)
		c.bad = 1;
	for (uint32_t i = 0; i < nblock && !c.bad; i++) {
		out->block = xreallocarray(out->block, i + 1, sizeof *out->block);
		struct active_block *b = &out->block[i];
		b->binding = take_u32(&c);
		b->is_written = take_u32(&c) != 0;
		b->name = take_name(&c);
		out->nblock = i + 1;
	}
	if (c.bad || c.left != 0) {
		reflection_release(out);
		return err_set(err, STATUS_MACHINE,
		    "the recorded reflection of a program is damaged");
	}
	return 0;
}

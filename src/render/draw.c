#include "render/draw.h"

#include "render/buffer.h"
#include "render/program.h"
#include "render/texture.h"

/* Each channel that the program uses: its input, else (0,0,0,1). */
static int bind_inputs(struct gl *gl, const struct program *p, const struct draw *draw,
    struct err *err)
{
	for (int c = 0; c < LIMIT_CHANNELS; c++) {
		if (!p->channel[c].is_used)
			continue;
		enum texture_kind kind = p->channel[c].kind;
		GLuint name = gl->unbound[kind], sampler = gl->sampler[0][0];
		for (int i = 0; i < draw->ninput; i++) {
			const struct draw_input *in = &draw->input[i];
			if (in->channel != c || !in->texture)
				continue;
			struct texture *t = texture_get(gl, in->texture, err);
			if (!t)
				return -1;
			for (int k = 0;
			     !draw->is_compute && !draw->may_loop && k < draw->ntarget;
			     k++)
				if (draw->target[k] == in->texture)
					return err_set(err, STATUS_FAILED,
					    "iChannel%d is a target of its own draw", c);
			/* A sampler of another kind than the source's reads black. */
			if (t->desc.kind == kind)
				name = t->name;
			sampler =
			    in->has_no_sampler ? 0 : gl->sampler[in->filter][in->wrap];
		}
		glActiveTexture(GL_TEXTURE0 + (GLenum)c);
		glBindTexture(texture_bind_point(kind), name);
		glBindSampler((GLuint)c, sampler);
	}
	return 0;
}

/* Blocks without storage must not see that of an earlier draw. */
static int bind_storage(struct gl *gl, const struct program *p, const struct draw *draw,
    struct err *err)
{
	for (size_t i = 0; i < p->nblock; i++)
		glBindBufferBase(GL_SHADER_STORAGE_BUFFER, p->block[i], 0);
	for (size_t i = 0; i < draw->nstorage; i++) {
		const struct draw_storage *s = &draw->storage[i];
		struct buffer *b = buffer_get(gl, s->buffer, err);
		if (!b)
			return -1;
		if (!s->size || s->size > b->size ||
		    s->binding >= (uint32_t)gl->max_storage_bindings)
			return err_set(err, STATUS_MACHINE,
			    "storage binding %lu of %llu bytes cannot be: %d bindings",
			    (unsigned long)s->binding, (unsigned long long)s->size,
			    gl->max_storage_bindings);
		glBindBufferRange(GL_SHADER_STORAGE_BUFFER, s->binding, b->name, 0,
		    (GLsizeiptr)s->size);
	}
	return 0;
}

/* Of one face; 0 otherwise. */
static int bind_target(struct gl *gl, const struct draw *draw, int face, struct err *err)
{
	GLuint fb;
	if (texture_framebuffer(gl, draw->target, draw->ntarget, face, &fb, err) < 0)
		return -1;
	glBindFramebuffer(GL_FRAMEBUFFER, fb);
	return 0;
}

static int run_fragment(struct gl *gl, const struct program *p, const struct draw *draw,
    struct err *err)
{
	glViewport(0, 0, draw->width, draw->height);
	int first = draw->face > 0 ? draw->face - 1 : 0;
	int last = draw->face > 0 ? first : draw->is_cube ? 5 : 0;
	for (int face = first; face <= last; face++) {
		if (face > first && bind_target(gl, draw, face, err) < 0)
			return -1;
		if (draw->is_cube && p->face >= 0)
			glUniform1i(p->face, face);
		glDrawArrays(draw->is_fan ? GL_TRIANGLE_FAN : GL_TRIANGLES, 0,
		    draw->is_fan ? 4 : 3);
		/* The next face reads what this one wrote, as would another draw. */
		if (p->nblock)
			glMemoryBarrier(
			    GL_SHADER_STORAGE_BARRIER_BIT | GL_BUFFER_UPDATE_BARRIER_BIT);
	}
	return 0;
}

static int run_compute(struct gl *gl, const struct program *p, const struct draw *draw,
    struct err *err)
{
	if (draw->ntarget > gl->max_image_units)
		return err_set(err, STATUS_MACHINE,
		    "%d outputs, but this OpenGL has %d image units", draw->ntarget,
		    gl->max_image_units);
	for (int i = 0; i < draw->ntarget; i++) {
		struct texture *t = texture_get(gl, draw->target[i], err);
		if (!t)
			return -1;
		glBindImageTexture((GLuint)i, t->name, 0, GL_FALSE, 0, GL_READ_WRITE,
		    texel_format(t->desc.texel)->internal);
	}
	for (int i = 0; i < draw->iterations; i++) {
		if (p->iteration >= 0)
			glUniform1i(p->iteration, i);
		glDispatchCompute((GLuint)draw->groups[0], (GLuint)draw->groups[1], 1);
		glMemoryBarrier(GL_SHADER_IMAGE_ACCESS_BARRIER_BIT |
		    GL_SHADER_STORAGE_BARRIER_BIT | GL_TEXTURE_FETCH_BARRIER_BIT);
	}
	/* For what may come next: reads, copies, mips, draws. */
	glMemoryBarrier(GL_TEXTURE_UPDATE_BARRIER_BIT | GL_BUFFER_UPDATE_BARRIER_BIT |
	    GL_FRAMEBUFFER_BARRIER_BIT | GL_PIXEL_BUFFER_BARRIER_BIT);
	return 0;
}

/*
 * Translation happens in the call of a program's first draw, and software GL
 * computes in the call of a dispatch.
 */
static int may_block(struct gl *gl, const struct program *p)
{
	return !p->was_drawn || (p->is_compute && gl->is_software);
}

int draw_run(struct gl *gl, struct flight *f, const struct draw *draw, const char *label,
    struct err *err)
{
	struct program *p = program_get(gl, draw->program, err);
	if (!p)
		return -1;
	if (p->is_compute != draw->is_compute || draw->ntarget > gl->max_draw_buffers)
		return err_set(err, STATUS_FAILED, "program %lu cannot make this draw",
		    (unsigned long)draw->program);
	if (may_block(gl, p) && flight_drain(f, err) < 0)
		return -1;
	p->was_drawn = 1;

	/* llvmpipe's timer stands still in compute. */
	int use_query = !draw->is_compute || !gl->is_software;
	gl_push_group(gl, label);
	glUseProgram(p->name);
	for (size_t i = 0; i < draw->nuniform; i++)
		program_set(p, &draw->uniform[i]);
	int rc = -1;
	if (bind_inputs(gl, p, draw, err) < 0 || bind_storage(gl, p, draw, err) < 0 ||
	    (!draw->is_compute &&
		bind_target(gl, draw, draw->face > 0 ? draw->face - 1 : 0, err) < 0) ||
	    flight_begin(f, use_query, err) < 0)
		goto out;
	if (draw->is_edged)
		glDisable(GL_TEXTURE_CUBE_MAP_SEAMLESS);
	rc = draw->is_compute ? run_compute(gl, p, draw, err)
			      : run_fragment(gl, p, draw, err);
	if (draw->is_edged)
		glEnable(GL_TEXTURE_CUBE_MAP_SEAMLESS);
	if (flight_end(f, draw->tag, err) < 0)
		rc = -1;
	if (!rc)
		rc = gl_check(gl, err, "draw_run", "%s", label);
out:
	gl_pop_group(gl);
	return rc;
}

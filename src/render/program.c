#include "render/program.h"

#include <ctype.h>
#include <string.h>

#include "render/stream.h"
#include "util/buf.h"
#include "util/mem.h"
#include "util/proc.h"

struct program *program_get(struct gl *gl, uint32_t id, struct err *err)
{
	if (id < gl->nprogram && gl->program[id])
		return gl->program[id];
	err_set(err, STATUS_FAILED, "the renderer has no program %lu", (unsigned long)id);
	return NULL;
}

/* Compilers' logs are bounded; the first errors are those that matter. */
static void add_log(struct buf *log, const char *text, size_t n)
{
	if (log->len >= STREAM_MAX_LOG)
		return;
	if (n > STREAM_MAX_LOG - log->len)
		n = STREAM_MAX_LOG - log->len;
	n = strnlen(text, n);
	if (!n)
		return;
	buf_add(log, text, n);
	if (text[n - 1] != '\n')
		buf_addch(log, '\n');
}

/* Returns the shader, or 0 when it does not compile. */
static GLuint compile(GLenum kind, const char *text, size_t n, struct buf *log)
{
	GLuint shader = glCreateShader(kind);
	GLint length = (GLint)n, ok = 0, nlog = 0;
	glShaderSource(shader, 1, &text, &length);
	glCompileShader(shader);
	glGetShaderiv(shader, GL_COMPILE_STATUS, &ok);
	glGetShaderiv(shader, GL_INFO_LOG_LENGTH, &nlog);
	if (nlog > 1) {
		char *info = xcalloc((size_t)nlog + 1, 1);
		glGetShaderInfoLog(shader, nlog, NULL, info);
		add_log(log, info, (size_t)nlog);
		free(info);
	}
	if (ok)
		return shader;
	glDeleteShader(shader);
	return 0;
}

static int link_program(GLuint program, struct buf *log)
{
	GLint ok = 0, nlog = 0;
	glLinkProgram(program);
	glGetProgramiv(program, GL_LINK_STATUS, &ok);
	glGetProgramiv(program, GL_INFO_LOG_LENGTH, &nlog);
	if (nlog > 1) {
		char *info = xcalloc((size_t)nlog + 1, 1);
		glGetProgramInfoLog(program, nlog, NULL, info);
		add_log(log, info, (size_t)nlog);
		free(info);
	}
	return ok;
}

static enum gl_type type_of(GLenum type)
{
	switch (type) {
	case GL_FLOAT:
		return GL_T_FLOAT;
	case GL_FLOAT_VEC2:
		return GL_T_VEC2;
	case GL_FLOAT_VEC3:
		return GL_T_VEC3;
	case GL_FLOAT_VEC4:
		return GL_T_VEC4;
	case GL_INT:
		return GL_T_INT;
	case GL_BOOL:
		return GL_T_BOOL;
	case GL_UNSIGNED_INT:
		return GL_T_UINT;
	case GL_SAMPLER_2D:
		return GL_T_SAMPLER_2D;
	case GL_SAMPLER_3D:
		return GL_T_SAMPLER_3D;
	case GL_SAMPLER_CUBE:
		return GL_T_SAMPLER_CUBE;
	case GL_IMAGE_2D:
		return GL_T_IMAGE_2D;
	default:
		return GL_T_OTHER;
	}
}

/* N of "iChannelN" and of the site's "iChN.sampler", or -1. */
static int channel_of(const char *name)
{
	size_t n = strncmp(name, "iChannel", 8) == 0 ? 8
	    : strncmp(name, "iCh", 3) == 0           ? 3
						     : 0;
	if (!n || !isdigit((unsigned char)name[n]))
		return -1;
	char *end;
	long channel = strtol(name + n, &end, 10);
	if (channel >= LIMIT_CHANNELS || strcmp(end, n == 8 ? "" : ".sampler") != 0)
		return -1;
	return (int)channel;
}

static void take_sampler(struct gl *gl, struct program *p, const char *name,
    enum gl_type type, GLint location)
{
	int n = channel_of(name);
	if (n < 0 || n >= gl->max_units)
		return;
	p->channel[n].is_used = 1;
	p->channel[n].kind = type == GL_T_SAMPLER_3D ? TEXTURE_3D
	    : type == GL_T_SAMPLER_CUBE              ? TEXTURE_CUBE
						     : TEXTURE_2D;
	glUniform1i(location, n);
}

static void take_uniforms(struct gl *gl, struct program *p, struct reflection *r)
{
	GLint n = 0, longest = 0;
	glGetProgramiv(p->name, GL_ACTIVE_UNIFORMS, &n);
	glGetProgramiv(p->name, GL_ACTIVE_UNIFORM_MAX_LENGTH, &longest);
	char *name = xcalloc((size_t)longest + 1, 1);
	size_t cap = 0;
	for (GLint i = 0; i < n; i++) {
		GLint count = 0;
		GLenum gl_type = 0;
		glGetActiveUniform(p->name, (GLuint)i, longest + 1, NULL, &count,
		    &gl_type, name);
		/* Members of blocks and built-in ones have none. */
		GLint location = glGetUniformLocation(p->name, name);
		if (location < 0)
			continue;
		size_t len = strlen(name);
		if (len > 3 && strcmp(name + len - 3, "[0]") == 0)
			name[len - 3] = '\0';
		enum gl_type type = type_of(gl_type);
		if (strcmp(name, "iIteration") == 0)
			p->iteration = location;
		else if (strcmp(name, "stb_face") == 0)
			p->face = location;
		if (type == GL_T_SAMPLER_2D || type == GL_T_SAMPLER_3D ||
		    type == GL_T_SAMPLER_CUBE)
			take_sampler(gl, p, name, type, location);
		map_puts(&p->by_name, name, p->nuniform);
		p->uniform = array_grow(p->uniform, p->nuniform, &p->uniform_cap,
		    sizeof *p->uniform);
		p->uniform[p->nuniform++] = (struct program_uniform){
			.location = location,
			.type = type,
			.count = count,
		};
		r->uniform =
		    array_grow(r->uniform, r->nuniform, &cap, sizeof *r->uniform);
		r->uniform[r->nuniform++] = (struct active_uniform){
			.name = xstrdup(name),
			.type = type,
			.count = count,
		};
	}
	free(name);
}

static void take_blocks(struct program *p, struct reflection *r)
{
	GLint n = 0, longest = 0;
	glGetProgramInterfaceiv(p->name, GL_SHADER_STORAGE_BLOCK, GL_ACTIVE_RESOURCES,
	    &n);
	if (n <= 0)
		return;
	glGetProgramInterfaceiv(p->name, GL_SHADER_STORAGE_BLOCK, GL_MAX_NAME_LENGTH,
	    &longest);
	char *name = xcalloc((size_t)longest + 1, 1);
	p->block = xcalloc((size_t)n, sizeof *p->block);
	r->block = xcalloc((size_t)n, sizeof *r->block);
	for (GLint i = 0; i < n; i++) {
		static const GLenum property = GL_BUFFER_BINDING;
		GLint binding = 0;
		glGetProgramResourceName(p->name, GL_SHADER_STORAGE_BLOCK, (GLuint)i,
		    longest + 1, NULL, name);
		glGetProgramResourceiv(p->name, GL_SHADER_STORAGE_BLOCK, (GLuint)i, 1,
		    &property, 1, NULL, &binding);
		p->block[p->nblock++] = (uint32_t)binding;
		/* GL does not name readonly blocks; the source does (glsl/). */
		r->block[r->nblock++] = (struct active_block){
			.name = xstrdup(name),
			.binding = (uint32_t)binding,
			.is_written = 1,
		};
	}
	free(name);
}

static int by_uniform_name(const void *a, const void *b)
{
	return strcmp(((const struct active_uniform *)a)->name,
	    ((const struct active_uniform *)b)->name);
}

static int by_block_name(const void *a, const void *b)
{
	return strcmp(((const struct active_block *)a)->name,
	    ((const struct active_block *)b)->name);
}

int program_new(struct gl *gl, uint32_t id, const char *vertex, size_t nvertex,
    const char *stage, size_t nstage, struct compile_result *out, struct err *err)
{
	*out = (struct compile_result){ 0 };
	struct buf log = BUF_INIT;
	GLuint shader[2] = { 0 }, name = 0;
	long long start = proc_now_ns();
	program_free(gl, id);
	if (!vertex && !gl->has_compute) {
		buf_addstr(&log, "compute needs OpenGL 4.3, this context has less\n");
		goto out;
	}
	if (vertex && !(shader[0] = compile(GL_VERTEX_SHADER, vertex, nvertex, &log)))
		goto out;
	if (!(shader[1] = compile(vertex ? GL_FRAGMENT_SHADER : GL_COMPUTE_SHADER, stage,
		  nstage, &log)))
		goto out;
	name = glCreateProgram();
	for (int i = 0; i < 2; i++)
		if (shader[i])
			glAttachShader(name, shader[i]);
	if (!link_program(name, &log))
		goto out;

	struct program *p = xcalloc(1, sizeof *p);
	p->name = name;
	p->is_compute = !vertex;
	p->iteration = p->face = -1;
	gl->program = gl_room(gl->program, &gl->nprogram, id);
	gl->program[id] = p;
	name = 0;
	glUseProgram(p->name);
	take_uniforms(gl, p, &out->reflection);
	if (gl->has_compute)
		take_blocks(p, &out->reflection);
	struct reflection *r = &out->reflection;
	if (r->nuniform)
		qsort(r->uniform, r->nuniform, sizeof *r->uniform, by_uniform_name);
	if (r->nblock)
		qsort(r->block, r->nblock, sizeof *r->block, by_block_name);
	out->ok = 1;
out:
	/* Deleting one that is attached only marks it. */
	for (int i = 0; i < 2; i++)
		if (shader[i])
			glDeleteShader(shader[i]);
	if (name)
		glDeleteProgram(name);
	out->log = buf_detach(&log);
	out->compile_ns = (uint64_t)(proc_now_ns() - start);
	return gl_check(gl, err, "program_new", "program %lu", (unsigned long)id);
}

void program_free(struct gl *gl, uint32_t id)
{
	if (id >= gl->nprogram || !gl->program[id])
		return;
	struct program *p = gl->program[id];
	glUseProgram(0);
	glDeleteProgram(p->name);
	map_release(&p->by_name);
	free(p->uniform);
	free(p->block);
	free(p);
	gl->program[id] = NULL;
}

void program_set(const struct program *p, const struct draw_uniform *u)
{
	size_t i = map_gets(&p->by_name, u->name);
	if (i == MAP_NONE)
		return;
	const struct program_uniform *to = &p->uniform[i];
	int is_bool = to->type == GL_T_BOOL && u->type == GL_T_INT;
	if (to->type != u->type && !is_bool)
		return;
	int n = u->count < to->count ? u->count : to->count;
	switch (u->type) {
	case GL_T_FLOAT:
		glUniform1fv(to->location, n, u->f);
		break;
	case GL_T_VEC2:
		glUniform2fv(to->location, n, u->f);
		break;
	case GL_T_VEC3:
		glUniform3fv(to->location, n, u->f);
		break;
	case GL_T_VEC4:
		glUniform4fv(to->location, n, u->f);
		break;
	case GL_T_INT:
	case GL_T_BOOL:
		glUniform1iv(to->location, n, u->i);
		break;
	case GL_T_UINT: {
		GLuint v[4];
		memcpy(v, u->i, sizeof v);
		glUniform1uiv(to->location, n, v);
		break;
	}
	default:
		break;
	}
}

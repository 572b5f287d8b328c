#include "render/gl.h"

#include <pthread.h>
#include <stdarg.h>
#include <string.h>

#include "util/limits.h"
#include "render/buffer.h"
#include "render/program.h"
#include "render/stream.h"
#include "render/texture.h"
#include "util/buf.h"
#include "util/mem.h"

/* Drivers may call back on any thread; a flood is cut off. */
static pthread_mutex_t message_lock = PTHREAD_MUTEX_INITIALIZER;
static char message_text[8192];
static size_t message_len;

static void GLAPIENTRY on_message(GLenum source, GLenum type, GLuint id, GLenum severity,
    GLsizei length, const GLchar *text, const void *data)
{
	(void)type;
	(void)id;
	(void)data;
	/* Compilers' messages come back as logs, with the user's lines. */
	if (severity != GL_DEBUG_SEVERITY_HIGH ||
	    source == GL_DEBUG_SOURCE_SHADER_COMPILER)
		return;
	size_t n = length >= 0 ? (size_t)length : strlen(text);
	pthread_mutex_lock(&message_lock);
	if (n < sizeof message_text - message_len - 1) {
		memcpy(message_text + message_len, text, n);
		message_len += n;
		if (n && text[n - 1] != '\n')
			message_text[message_len++] = '\n';
	}
	pthread_mutex_unlock(&message_lock);
}

void gl_take_messages(struct buf *out)
{
	pthread_mutex_lock(&message_lock);
	buf_add(out, message_text, message_len);
	message_len = 0;
	pthread_mutex_unlock(&message_lock);
}

static int get(GLenum name)
{
	GLint v = 0;
	glGetIntegerv(name, &v);
	return v;
}

static int has(const char *extension)
{
	GLint n = get(GL_NUM_EXTENSIONS);
	for (GLint i = 0; i < n; i++) {
		const char *e = (const char *)glGetStringi(GL_EXTENSIONS, (GLuint)i);
		if (e && strcmp(e, extension) == 0)
			return 1;
	}
	return 0;
}

static void make_samplers(struct gl *gl)
{
	static const GLint min[] = {
		[FILTER_LINEAR] = GL_LINEAR,
		[FILTER_NEAREST] = GL_NEAREST,
		[FILTER_MIPMAP] = GL_LINEAR_MIPMAP_LINEAR,
	};
	static const GLint wrap[] = {
		[WRAP_REPEAT] = GL_REPEAT,
		[WRAP_CLAMP] = GL_CLAMP_TO_EDGE,
	};
	glGenSamplers(6, &gl->sampler[0][0]);
	for (int f = 0; f < 3; f++) {
		for (int w = 0; w < 2; w++) {
			GLuint s = gl->sampler[f][w];
			glSamplerParameteri(s, GL_TEXTURE_MIN_FILTER, min[f]);
			glSamplerParameteri(s, GL_TEXTURE_MAG_FILTER,
			    f == FILTER_NEAREST ? GL_NEAREST : GL_LINEAR);
			glSamplerParameteri(s, GL_TEXTURE_WRAP_S, wrap[w]);
			glSamplerParameteri(s, GL_TEXTURE_WRAP_T, wrap[w]);
			glSamplerParameteri(s, GL_TEXTURE_WRAP_R, wrap[w]);
		}
	}
}

static void make_unbound(struct gl *gl)
{
	static const unsigned char black[4] = { 0, 0, 0, 255 };
	glGenTextures(3, gl->unbound);
	glBindTexture(GL_TEXTURE_2D, gl->unbound[TEXTURE_2D]);
	glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, 1, 1);
	glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, black);
	glBindTexture(GL_TEXTURE_3D, gl->unbound[TEXTURE_3D]);
	glTexStorage3D(GL_TEXTURE_3D, 1, GL_RGBA8, 1, 1, 1);
	glTexSubImage3D(GL_TEXTURE_3D, 0, 0, 0, 0, 1, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE,
	    black);
	glBindTexture(GL_TEXTURE_CUBE_MAP, gl->unbound[TEXTURE_CUBE]);
	glTexStorage2D(GL_TEXTURE_CUBE_MAP, 1, GL_RGBA8, 1, 1);
	for (GLenum face = 0; face < 6; face++)
		glTexSubImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, 0, 0, 0, 1, 1,
		    GL_RGBA, GL_UNSIGNED_BYTE, black);
}

int gl_init(struct gl *gl, int is_robust, struct err *err)
{
	*gl = (struct gl){ 0 };
	int version = get(GL_MAJOR_VERSION) * 100 + get(GL_MINOR_VERSION) * 10;
	gl->version = version >= 450 ? 450 : version >= 430 ? 430 : 410;
	if (version < 410)
		return err_set(err, STATUS_MACHINE,
		    "the driver made a context of OpenGL %d.%d, not 4.1", version / 100,
		    version / 10 % 10);
	int v43 = version >= 430, v44 = version >= 440;
	if (version < 420 && !has("GL_ARB_texture_storage"))
		return err_set(err, STATUS_MACHINE,
		    "OpenGL %d.%d without GL_ARB_texture_storage", version / 100,
		    version / 10 % 10);
	gl->has_es3 = v43 || has("GL_ARB_ES3_compatibility");
	gl->has_compute = v43;
	gl->has_clear_texture = v44 || has("GL_ARB_clear_texture");
	gl->has_clear_buffer = v43 || has("GL_ARB_clear_buffer_object");
	gl->has_copy_image = v43 || has("GL_ARB_copy_image");
	gl->has_debug = v43 || has("GL_KHR_debug");
	gl->has_reset_status = is_robust && version >= 450;
	GLint bits = 0;
	glGetQueryiv(GL_TIME_ELAPSED, GL_QUERY_COUNTER_BITS, &bits);
	gl->has_timer = bits > 0;

	gl->max_texture_size = get(GL_MAX_TEXTURE_SIZE);
	gl->max_3d_size = get(GL_MAX_3D_TEXTURE_SIZE);
	gl->max_cube_size = get(GL_MAX_CUBE_MAP_TEXTURE_SIZE);
	gl->max_draw_buffers = get(GL_MAX_DRAW_BUFFERS);
	gl->max_units = get(GL_MAX_TEXTURE_IMAGE_UNITS);
	/* A pass may be as large as its viewport only. */
	GLint viewport[2] = { 0 };
	glGetIntegerv(GL_MAX_VIEWPORT_DIMS, viewport);
	for (int i = 0; i < 2; i++)
		if (viewport[i] < gl->max_texture_size)
			gl->max_texture_size = viewport[i];
	if (v43) {
		gl->max_storage_bindings = get(GL_MAX_SHADER_STORAGE_BUFFER_BINDINGS);
		gl->max_image_units = get(GL_MAX_IMAGE_UNITS);
		GLint64 bytes = 0;
		glGetInteger64v(GL_MAX_SHADER_STORAGE_BLOCK_SIZE, &bytes);
		gl->max_storage_bytes = bytes > 0 ? (uint64_t)bytes : 0;
	}

	if (gl->has_debug) {
		glEnable(GL_DEBUG_OUTPUT);
		glDebugMessageCallback(on_message, NULL);
	}
	glPixelStorei(GL_PACK_ALIGNMENT, 1);
	glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
	glDisable(GL_DITHER);
	glDisable(GL_BLEND);
	glDisable(GL_DEPTH_TEST);
	glDisable(GL_CULL_FACE);
	glDisable(GL_FRAMEBUFFER_SRGB);
	glDisable(GL_MULTISAMPLE);
	glEnable(GL_TEXTURE_CUBE_MAP_SEAMLESS);
	glClampColor(GL_CLAMP_READ_COLOR, GL_FALSE);
	glGenVertexArrays(1, &gl->vao);
	glBindVertexArray(gl->vao);
	make_samplers(gl);
	make_unbound(gl);
	return gl_check(gl, err, "gl_init", "the context");
}

void gl_release(struct gl *gl)
{
	for (size_t i = 0; i < gl->nprogram; i++)
		program_free(gl, (uint32_t)i);
	for (size_t i = 0; i < gl->ntexture; i++)
		texture_free(gl, (uint32_t)i);
	for (size_t i = 0; i < gl->nbuffer; i++)
		buffer_free(gl, (uint32_t)i);
	free(gl->program);
	free(gl->texture);
	free(gl->buffer);
	if (gl->vao) {
		glDeleteVertexArrays(1, &gl->vao);
		glDeleteSamplers(6, &gl->sampler[0][0]);
		glDeleteTextures(3, gl->unbound);
	}
	*gl = (struct gl){ 0 };
}

static const char *error_name(GLenum code)
{
	switch (code) {
	case GL_INVALID_ENUM:
		return "GL_INVALID_ENUM";
	case GL_INVALID_VALUE:
		return "GL_INVALID_VALUE";
	case GL_INVALID_OPERATION:
		return "GL_INVALID_OPERATION";
	case GL_INVALID_FRAMEBUFFER_OPERATION:
		return "GL_INVALID_FRAMEBUFFER_OPERATION";
	case GL_OUT_OF_MEMORY:
		return "GL_OUT_OF_MEMORY";
	case GL_CONTEXT_LOST:
		return "GL_CONTEXT_LOST";
	default:
		return "an unknown GL error";
	}
}

static const char *reset_words(struct gl *gl)
{
	if (!gl->has_reset_status)
		return "";
	switch (glGetGraphicsResetStatus()) {
	case GL_GUILTY_CONTEXT_RESET:
		return ": the GPU was reset because of what was drawn here";
	case GL_INNOCENT_CONTEXT_RESET:
		return ": the GPU was reset because of another program";
	case GL_UNKNOWN_CONTEXT_RESET:
		return ": the GPU was reset";
	default:
		return "";
	}
}

int gl_check(struct gl *gl, struct err *err, const char *function, const char *fmt, ...)
{
	GLenum first = glGetError();
	if (first == GL_NO_ERROR)
		return 0;
	/* Distributed errors: take them all, but no lost context forever. */
	for (int i = 0; i < 16 && first != GL_CONTEXT_LOST; i++) {
		GLenum code = glGetError();
		if (code == GL_NO_ERROR)
			break;
		if (code == GL_OUT_OF_MEMORY || code == GL_CONTEXT_LOST)
			first = code;
	}
	va_list ap;
	va_start(ap, fmt);
	struct buf what = BUF_INIT;
	buf_vaddf(&what, fmt, ap);
	va_end(ap);
	if (first == GL_OUT_OF_MEMORY) {
		err_set(err, STATUS_MACHINE, "the GPU is out of memory for %s (%s)",
		    buf_str(&what), function);
		err->kind = ERR_MEMORY;
	} else if (first == GL_CONTEXT_LOST) {
		err_set(err, STATUS_FAILED, "the OpenGL context was lost at %s (%s)%s",
		    buf_str(&what), function, reset_words(gl));
		err->kind = ERR_CRASH;
	} else {
		err_set(err, STATUS_FAILED, "%s in %s for %s", error_name(first),
		    function, buf_str(&what));
	}
	buf_release(&what);
	return -1;
}

void gl_push_group(struct gl *gl, const char *label)
{
	if (!gl->has_debug)
		return;
	size_t n = strlen(label);
	/* GL_MAX_DEBUG_MESSAGE_LENGTH is at least 1. */
	glPushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 0, (GLsizei)(n < 128 ? n : 128),
	    label);
}

void gl_pop_group(struct gl *gl)
{
	if (gl->has_debug)
		glPopDebugGroup();
}

void *gl_room(void *table, size_t *n, uint32_t id)
{
	/* All pointers to structs are alike (C11 6.2.5). */
	struct object **item = table;
	if (id < *n)
		return table;
	if (id >= STREAM_MAX_ID)
		BUG("object number %lu", (unsigned long)id);
	size_t want = id < 32 ? 64 : ((size_t)id + 1) * 2;
	item = xreallocarray(item, want, sizeof *item);
	while (*n < want)
		item[(*n)++] = NULL;
	return item;
}

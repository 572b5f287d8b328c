/*
 * What any program would have to do, and nothing else: the draws, read-backs,
 * PNGs, files and fsyncs of a capture, straight in GL. No code of stbuild is
 * used here.
 *
 *   floor cold DIR WIDTH HEIGHT FRAMES EVERY  four passes, captured every so often
 *   floor image DIR WIDTH HEIGHT              one pass over two textures, once
 *   floor stat FILE                           lstat() of each path in FILE
 *
 * The sources of the passes are DIR/{a,b,c,image}.frag; output goes to DIR/out.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <epoxy/egl.h>
#include <epoxy/gl.h>
#include <png.h>

enum { A, B, C, IMAGE, NPASS };
static const char *const name[NPASS] = { "a", "b", "c", "image" };

static int width, height;
static const char *dir;

static void die(const char *what)
{
	fprintf(stderr, "floor: %s\n", what);
	exit(1);
}

static char *read_text(const char *path)
{
	FILE *f = fopen(path, "rb");
	if (!f)
		die(path);
	char *text = calloc(1, 1 << 16);
	if (!text || fread(text, 1, (1 << 16) - 1, f) == 0)
		die(path);
	fclose(f);
	return text;
}

static void write_file(const char *path, const void *data, size_t n, int is_synced)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	const char *p = data;
	if (fd < 0)
		die(path);
	while (n > 0) {
		ssize_t k = write(fd, p, n);
		if (k <= 0)
			die(path);
		p += k;
		n -= (size_t)k;
	}
	if (is_synced && fsync(fd))
		die(path);
	close(fd);
}

static void start_gl(void)
{
	static const EGLint wanted[] = { EGL_CONTEXT_MAJOR_VERSION, 4,
		EGL_CONTEXT_MINOR_VERSION, 5, EGL_CONTEXT_OPENGL_PROFILE_MASK,
		EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE };
	PFNEGLGETPLATFORMDISPLAYEXTPROC get =
	    (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress(
		"eglGetPlatformDisplayEXT");
	EGLDisplay dpy = get(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
	if (!eglInitialize(dpy, NULL, NULL) || !eglBindAPI(EGL_OPENGL_API))
		die("no EGL");
	EGLContext ctx = eglCreateContext(dpy, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, wanted);
	if (!ctx || !eglMakeCurrent(dpy, EGL_NO_SURFACE, EGL_NO_SURFACE, ctx))
		die("no context");
	GLuint vao;
	glGenVertexArrays(1, &vao);
	glBindVertexArray(vao);
	glPixelStorei(GL_PACK_ALIGNMENT, 1);
	glClampColor(GL_CLAMP_READ_COLOR, GL_FALSE);
}

static GLuint shader(GLenum kind, const char *text)
{
	GLint ok;
	GLuint s = glCreateShader(kind);
	glShaderSource(s, 1, &text, NULL);
	glCompileShader(s);
	glGetShaderiv(s, GL_COMPILE_STATUS, &ok);
	if (!ok) {
		char log[4096];
		glGetShaderInfoLog(s, sizeof log, NULL, log);
		die(log);
	}
	return s;
}

static GLuint program(int pass)
{
	static const char vertex[] = "#version 450 core\nvoid main() {"
				     " gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0,"
				     " gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0); }\n";
	char path[512];
	snprintf(path, sizeof path, "%s/%s.frag", dir, name[pass]);
	char *user = read_text(path), *text = malloc(1 << 17);
	if (!text)
		die("memory");
	snprintf(text, 1 << 17,
	    "#version 450 core\n"
	    "layout(location = 0) out vec4 stb_color;\n"
	    "uniform vec3 iResolution; uniform float iTime;"
	    " uniform int iFrame;\n"
	    "uniform sampler2D iChannel0, iChannel1;\n"
	    "void mainImage(out vec4, in vec2);\nvoid main() {"
	    " vec4 c = vec4(0.0); mainImage(c, gl_FragCoord.xy);"
	    " stb_color = %s; }\n%s",
	    pass == IMAGE ? "vec4(clamp(c.rgb, 0.0, 1.0), 1.0)" : "c", user);
	GLuint p = glCreateProgram();
	glAttachShader(p, shader(GL_VERTEX_SHADER, vertex));
	glAttachShader(p, shader(GL_FRAGMENT_SHADER, text));
	glLinkProgram(p);
	glUseProgram(p);
	glUniform3f(glGetUniformLocation(p, "iResolution"), (float)width, (float)height,
	    1);
	glUniform1i(glGetUniformLocation(p, "iChannel0"), 0);
	glUniform1i(glGetUniformLocation(p, "iChannel1"), 1);
	free(text);
	free(user);
	return p;
}

static GLuint target(int is_image, GLuint *fbo)
{
	GLuint t;
	glGenTextures(1, &t);
	glBindTexture(GL_TEXTURE_2D, t);
	glTexStorage2D(GL_TEXTURE_2D, 1, is_image ? GL_RGBA8 : GL_RGBA32F, width, height);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
	glGenFramebuffers(1, fbo);
	glBindFramebuffer(GL_FRAMEBUFFER, *fbo);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, t, 0);
	glClearColor(0, 0, 0, 0);
	glClear(GL_COLOR_BUFFER_BIT);
	return t;
}

static void draw(GLuint p, GLuint fbo, GLuint t0, GLuint t1, int frame)
{
	glBindFramebuffer(GL_FRAMEBUFFER, fbo);
	glViewport(0, 0, width, height);
	glUseProgram(p);
	glUniform1f(glGetUniformLocation(p, "iTime"), (float)frame / 60);
	glUniform1i(glGetUniformLocation(p, "iFrame"), frame);
	glActiveTexture(GL_TEXTURE0);
	glBindTexture(GL_TEXTURE_2D, t0);
	glActiveTexture(GL_TEXTURE1);
	glBindTexture(GL_TEXTURE_2D, t1);
	glDrawArrays(GL_TRIANGLES, 0, 3);
}

/* Starts a read-back into a buffer object. */
static GLuint start_read(GLuint fbo, int is_image, size_t n)
{
	GLuint pbo;
	glGenBuffers(1, &pbo);
	glBindBuffer(GL_PIXEL_PACK_BUFFER, pbo);
	glBufferData(GL_PIXEL_PACK_BUFFER, (GLsizeiptr)n, NULL, GL_STREAM_READ);
	glBindFramebuffer(GL_READ_FRAMEBUFFER, fbo);
	glReadPixels(0, 0, width, height, GL_RGBA, is_image ? GL_UNSIGNED_BYTE : GL_FLOAT,
	    NULL);
	return pbo;
}

static void *end_read(GLuint pbo, size_t n)
{
	void *copy = malloc(n);
	glBindBuffer(GL_PIXEL_PACK_BUFFER, pbo);
	void *p =
	    glMapBufferRange(GL_PIXEL_PACK_BUFFER, 0, (GLsizeiptr)n, GL_MAP_READ_BIT);
	if (!copy || !p)
		die("read-back");
	memcpy(copy, p, n);
	glUnmapBuffer(GL_PIXEL_PACK_BUFFER);
	glDeleteBuffers(1, &pbo);
	return copy;
}

static void write_png(const char *path, const unsigned char *rgba)
{
	FILE *f = fopen(path, "wb");
	png_structp png =
	    png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	png_infop info = png_create_info_struct(png);
	unsigned char *row = malloc((size_t)width * 3);
	if (!f || !info || !row || setjmp(png_jmpbuf(png)))
		die(path);
	png_init_io(png, f);
	png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, 8,
	    PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
	    PNG_FILTER_TYPE_DEFAULT);
	png_set_compression_level(png, 1);
	png_write_info(png, info);
	for (int y = height - 1; y >= 0; y--) {
		for (int x = 0; x < width; x++)
			memcpy(row + 3 * x,
			    rgba + 4 * ((size_t)y * (size_t)width + (size_t)x), 3);
		png_write_row(png, row);
	}
	png_write_end(png, NULL);
	png_destroy_write_struct(&png, &info);
	free(row);
	fflush(f);
	fsync(fileno(f));
	fclose(f);
}

static void cold(int nframe, int every)
{
	size_t n = (size_t)width * (size_t)height;
	GLuint p[NPASS], t[NPASS], fbo[NPASS], other, other_fbo;
	char path[512];
	start_gl();
	for (int i = 0; i < NPASS; i++) {
		p[i] = program(i);
		t[i] = target(i == IMAGE, &fbo[i]);
	}
	other = target(0, &other_fbo);
	for (int f = 0; f < nframe; f++) {
		/* a reads itself: two textures by turns. */
		GLuint swap = t[A], swap_fbo = fbo[A];
		t[A] = other, fbo[A] = other_fbo;
		other = swap, other_fbo = swap_fbo;
		draw(p[A], fbo[A], other, 0, f);
		draw(p[B], fbo[B], t[A], 0, f);
		draw(p[C], fbo[C], t[B], 0, f);
		draw(p[IMAGE], fbo[IMAGE], t[C], t[A], f);
		glFlush();
		if (f % every)
			continue;
		GLuint read[5];
		GLuint from[5] = { fbo[A], other_fbo, fbo[B], fbo[C], fbo[IMAGE] };
		for (int i = 0; i < 5; i++)
			read[i] = start_read(from[i], i == 4, i == 4 ? n * 4 : n * 16);
		snprintf(path, sizeof path, "%s/out/state%d", dir, f);
		int state = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
		for (int i = 0; i < 5; i++) {
			size_t bytes = i == 4 ? n * 4 : n * 16;
			void *data = end_read(read[i], bytes);
			snprintf(path, sizeof path, "%s/out/object%d-%d", dir, f, i);
			write_file(path, data, bytes, 0);
			snprintf(path, sizeof path, "%s/out/final%d.png", dir, f);
			if (i == 4)
				write_png(path, data);
			else if (i != 1 && write(state, data, bytes) != (ssize_t)bytes)
				die("state");
			free(data);
		}
		fsync(state);
		close(state);
		snprintf(path, sizeof path, "%s/out/trace%d.json", dir, f);
		write_file(path, path, sizeof path, 1);
		snprintf(path, sizeof path, "%s/out/project%d.sttf", dir, f);
		write_file(path, path, sizeof path, 1);
	}
	glFinish();
}

static void image(void)
{
	size_t n = (size_t)width * (size_t)height;
	GLuint fbo, scratch;
	char path[512];
	start_gl();
	GLuint p = program(IMAGE);
	GLuint t0 = target(0, &scratch), t1 = target(0, &scratch);
	target(1, &fbo);
	draw(p, fbo, t0, t1, 600);
	unsigned char *rgba = malloc(n * 4);
	if (!rgba)
		die("memory");
	glBindFramebuffer(GL_READ_FRAMEBUFFER, fbo);
	glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, rgba);
	snprintf(path, sizeof path, "%s/out/final.png", dir);
	write_png(path, rgba);
	free(rgba);
}

static void stats(const char *list)
{
	FILE *f = fopen(list, "r");
	char path[4096];
	unsigned long long sum = 0;
	struct stat st;
	while (f && fgets(path, sizeof path, f)) {
		path[strcspn(path, "\n")] = '\0';
		if (lstat(path, &st))
			die(path);
		sum += (unsigned long long)st.st_size;
	}
	if (!f || sum == 0)
		die("nothing to stat");
	fclose(f);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		die("usage: floor cold|image|stat ...");
	dir = argv[2];
	if (argc >= 5) {
		width = atoi(argv[3]);
		height = atoi(argv[4]);
	}
	if (strcmp(argv[1], "cold") == 0 && argc == 7)
		cold(atoi(argv[5]), atoi(argv[6]));
	else if (strcmp(argv[1], "image") == 0 && argc == 5)
		image();
	else if (strcmp(argv[1], "stat") == 0)
		stats(argv[2]);
	else
		die("usage: floor cold|image|stat ...");
	/* Mesa's threads end with the process. */
	fflush(NULL);
	_exit(0);
}

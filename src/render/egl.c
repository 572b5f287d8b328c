#include "render/egl.h"

#include <limits.h>
#include <string.h>

#include <epoxy/gl.h>

#include "util/mem.h"

#define MAX_DEVICES 64

/* Entry points outside of EGL 1.4: libepoxy would abort on a missing one. */
struct platform {
	PFNEGLGETPLATFORMDISPLAYEXTPROC get_display;
	PFNEGLQUERYDEVICESEXTPROC query_devices;
	PFNEGLQUERYDEVICESTRINGEXTPROC query_device_string;
	int has_device, has_surfaceless;
	EGLDeviceEXT device[MAX_DEVICES];
	int is_software[MAX_DEVICES];
	EGLint ndevice;
};

/* 1 when the blank-separated list has the whole word. list may be null. */
static int has_word(const char *list, const char *word)
{
	size_t n = strlen(word);
	while (list && *list) {
		list += strspn(list, " ");
		size_t len = strcspn(list, " ");
		if (len == n && memcmp(list, word, n) == 0)
			return 1;
		list += len;
	}
	return 0;
}

/* "EGL_BAD_ALLOC" for an EGL error code. */
static const char *egl_error_name(EGLint code)
{
	switch (code) {
	case EGL_SUCCESS:
		return "EGL_SUCCESS";
	case EGL_NOT_INITIALIZED:
		return "EGL_NOT_INITIALIZED";
	case EGL_BAD_ACCESS:
		return "EGL_BAD_ACCESS";
	case EGL_BAD_ALLOC:
		return "EGL_BAD_ALLOC";
	case EGL_BAD_ATTRIBUTE:
		return "EGL_BAD_ATTRIBUTE";
	case EGL_BAD_CONFIG:
		return "EGL_BAD_CONFIG";
	case EGL_BAD_CONTEXT:
		return "EGL_BAD_CONTEXT";
	case EGL_BAD_CURRENT_SURFACE:
		return "EGL_BAD_CURRENT_SURFACE";
	case EGL_BAD_DISPLAY:
		return "EGL_BAD_DISPLAY";
	case EGL_BAD_MATCH:
		return "EGL_BAD_MATCH";
	case EGL_BAD_NATIVE_PIXMAP:
		return "EGL_BAD_NATIVE_PIXMAP";
	case EGL_BAD_NATIVE_WINDOW:
		return "EGL_BAD_NATIVE_WINDOW";
	case EGL_BAD_PARAMETER:
		return "EGL_BAD_PARAMETER";
	case EGL_BAD_SURFACE:
		return "EGL_BAD_SURFACE";
	case EGL_CONTEXT_LOST:
		return "EGL_CONTEXT_LOST";
	case EGL_BAD_DEVICE_EXT:
		return "EGL_BAD_DEVICE_EXT";
	default:
		return "an unknown EGL error";
	}
}

int renderer_is_software(const char *renderer)
{
	static const char *const name[] = {
		"llvmpipe",
		"softpipe",
		"swrast",
		"SWR",
		"lavapipe",
		"SwiftShader",
		"Software Rasterizer",
		"Software Renderer",
		"GDI Generic",
	};
	for (size_t i = 0; renderer && i < sizeof name / sizeof *name; i++)
		if (strstr(renderer, name[i]))
			return 1;
	return 0;
}

/* What libEGL has to say goes to the log, not to stderr. */
static struct buf *debug_log;

static void EGLAPIENTRY on_debug(EGLenum error, const char *command, EGLint type,
    EGLLabelKHR thread, EGLLabelKHR object, const char *message)
{
	(void)type;
	(void)thread;
	(void)object;
	if (debug_log && debug_log->len < 65536)
		buf_addf(debug_log, "libEGL: %s: %s%s%s\n", command ? command : "?",
		    egl_error_name((EGLint)error), message ? ": " : "",
		    message ? message : "");
}

static void platform_init(struct platform *p, struct buf *log)
{
	*p = (struct platform){ 0 };
	const char *ext = eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
	if (!ext) {
		/* EGL 1.4 without client extensions: an error, but no fault. */
		(void)eglGetError();
		buf_addstr(log, "libEGL has no client extensions\n");
		return;
	}
	buf_addf(log, "client extensions: %s\n", ext);
	if (has_word(ext, "EGL_KHR_debug")) {
		PFNEGLDEBUGMESSAGECONTROLKHRPROC control =
		    (PFNEGLDEBUGMESSAGECONTROLKHRPROC)eglGetProcAddress(
			"eglDebugMessageControlKHR");
		static const EGLAttrib attrib[] = {
			EGL_DEBUG_MSG_CRITICAL_KHR,
			EGL_TRUE,
			EGL_DEBUG_MSG_ERROR_KHR,
			EGL_TRUE,
			EGL_DEBUG_MSG_WARN_KHR,
			EGL_TRUE,
			EGL_NONE,
		};
		if (control)
			control(on_debug, attrib);
	}
	if (has_word(ext, "EGL_EXT_platform_base"))
		p->get_display = (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress(
		    "eglGetPlatformDisplayEXT");
	p->has_surfaceless =
	    p->get_display && has_word(ext, "EGL_MESA_platform_surfaceless");
	p->has_device = p->get_display && has_word(ext, "EGL_EXT_platform_device");
	int has_base = has_word(ext, "EGL_EXT_device_base");
	if (!p->has_device || !(has_base || has_word(ext, "EGL_EXT_device_enumeration")))
		return;
	p->query_devices =
	    (PFNEGLQUERYDEVICESEXTPROC)eglGetProcAddress("eglQueryDevicesEXT");
	if (has_base || has_word(ext, "EGL_EXT_device_query"))
		p->query_device_string =
		    (PFNEGLQUERYDEVICESTRINGEXTPROC)eglGetProcAddress(
			"eglQueryDeviceStringEXT");
	if (!p->query_devices)
		return;
	if (!p->query_devices(MAX_DEVICES, p->device, &p->ndevice)) {
		buf_addf(log, "eglQueryDevicesEXT: %s\n", egl_error_name(eglGetError()));
		p->ndevice = 0;
	}
	for (EGLint i = 0; i < p->ndevice; i++) {
		const char *dext = p->query_device_string
		    ? p->query_device_string(p->device[i], EGL_EXTENSIONS)
		    : NULL;
		p->is_software[i] = has_word(dext, "EGL_MESA_device_software");
		buf_addf(log, "EGL device %d%s: %s\n", (int)i,
		    p->is_software[i] ? " (software)" : "", dext ? dext : "");
	}
}

/* "EGL device 0 (/dev/dri/card0)". */
static char *device_words(const struct platform *p, EGLint i)
{
	const char *dext = p->query_device_string
	    ? p->query_device_string(p->device[i], EGL_EXTENSIONS)
	    : NULL;
	const char *file = NULL;
	if (has_word(dext, "EGL_EXT_device_drm"))
		file = p->query_device_string(p->device[i], EGL_DRM_DEVICE_FILE_EXT);
	if (p->is_software[i])
		file = "software";
	return file ? xasprintf("EGL device %d (%s)", (int)i, file)
		    : xasprintf("EGL device %d", (int)i);
}

static EGLConfig choose_config(EGLDisplay dpy, int needs_pbuffer, int *ok)
{
	EGLint attrib[] = {
		EGL_RENDERABLE_TYPE,
		EGL_OPENGL_BIT,
		EGL_SURFACE_TYPE,
		needs_pbuffer ? EGL_PBUFFER_BIT : 0,
		EGL_NONE,
	};
	EGLConfig config = NULL;
	EGLint n = 0;
	*ok = eglChooseConfig(dpy, attrib, &config, 1, &n) && n > 0;
	return config;
}

/* 4.5, 4.3, 4.1; each robust, then plain. */
static int make_context(struct egl *egl, EGLDisplay dpy, EGLConfig config,
    const char *what)
{
	static const int version[][2] = { { 4, 5 }, { 4, 3 }, { 4, 1 } };
	for (size_t i = 0; i < 6; i++) {
		int major = version[i / 2][0], minor = version[i / 2][1];
		int is_robust = i % 2 == 0;
		EGLint attrib[] = {
			EGL_CONTEXT_MAJOR_VERSION_KHR,
			major,
			EGL_CONTEXT_MINOR_VERSION_KHR,
			minor,
			EGL_CONTEXT_OPENGL_PROFILE_MASK_KHR,
			EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT_KHR,
			is_robust ? EGL_CONTEXT_FLAGS_KHR : EGL_NONE,
			EGL_CONTEXT_OPENGL_ROBUST_ACCESS_BIT_KHR,
			EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY_KHR,
			EGL_LOSE_CONTEXT_ON_RESET_KHR,
			EGL_NONE,
		};
		EGLContext c = eglCreateContext(dpy, config, EGL_NO_CONTEXT, attrib);
		buf_addf(&egl->log, "%s: OpenGL %d.%d core%s: %s\n", what, major, minor,
		    is_robust ? ", robust" : "",
		    c != EGL_NO_CONTEXT ? "yes" : egl_error_name(eglGetError()));
		if (c == EGL_NO_CONTEXT)
			continue;
		egl->context = c;
		egl->is_robust = is_robust;
		return 0;
	}
	return -1;
}

static int try_display(struct egl *egl, EGLDisplay dpy, const char *what)
{
	struct buf *log = &egl->log;
	EGLint major, minor;
	if (dpy == EGL_NO_DISPLAY) {
		buf_addf(log, "%s: no display: %s\n", what,
		    egl_error_name(eglGetError()));
		return -1;
	}
	if (!eglInitialize(dpy, &major, &minor)) {
		buf_addf(log, "%s: eglInitialize: %s\n", what,
		    egl_error_name(eglGetError()));
		return -1;
	}
	const char *ext = eglQueryString(dpy, EGL_EXTENSIONS);
	const char *vendor = eglQueryString(dpy, EGL_VENDOR);
	buf_addf(log, "%s: EGL %d.%d, %s\n%s: extensions: %s\n", what, (int)major,
	    (int)minor, vendor ? vendor : "?", what, ext ? ext : "");
	if (!has_word(ext, "EGL_KHR_create_context") && (major < 1 || minor < 5)) {
		buf_addf(log, "%s: no EGL_KHR_create_context\n", what);
		goto fail;
	}
	if (!eglBindAPI(EGL_OPENGL_API)) {
		buf_addf(log, "%s: no desktop OpenGL: %s\n", what,
		    egl_error_name(eglGetError()));
		goto fail;
	}
	int is_surfaceless = has_word(ext, "EGL_KHR_surfaceless_context");
	int ok = 0;
	EGLConfig config = choose_config(dpy, !is_surfaceless, &ok);
	if (!ok && is_surfaceless &&
	    (has_word(ext, "EGL_KHR_no_config_context") ||
		has_word(ext, "EGL_MESA_configless_context")))
		config = EGL_NO_CONFIG_KHR;
	else if (!ok) {
		buf_addf(log, "%s: no config for OpenGL\n", what);
		goto fail;
	}
	if (make_context(egl, dpy, config, what) < 0)
		goto fail;
	if (!is_surfaceless) {
		static const EGLint size[] = { EGL_WIDTH, 1, EGL_HEIGHT, 1, EGL_NONE };
		egl->surface = eglCreatePbufferSurface(dpy, config, size);
		if (egl->surface == EGL_NO_SURFACE) {
			buf_addf(log, "%s: eglCreatePbufferSurface: %s\n", what,
			    egl_error_name(eglGetError()));
			goto fail;
		}
	}
	if (!eglMakeCurrent(dpy, egl->surface, egl->surface, egl->context)) {
		buf_addf(log, "%s: eglMakeCurrent: %s\n", what,
		    egl_error_name(eglGetError()));
		goto fail;
	}
	egl->display = dpy;
	egl->is_mesa = vendor && strstr(vendor, "Mesa");
	buf_reset(&egl->device);
	buf_addstr(&egl->device, what);
	buf_addf(log, "taken: %s, %s\n", what, (const char *)glGetString(GL_RENDERER));
	return 0;
fail:
	if (egl->surface != EGL_NO_SURFACE)
		eglDestroySurface(dpy, egl->surface);
	if (egl->context != EGL_NO_CONTEXT)
		eglDestroyContext(dpy, egl->context);
	egl->surface = EGL_NO_SURFACE;
	egl->context = EGL_NO_CONTEXT;
	eglTerminate(dpy);
	return -1;
}

static int try_device(struct egl *egl, const struct platform *p, EGLint i)
{
	char *what = device_words(p, i);
	int rc = try_display(egl,
	    p->get_display(EGL_PLATFORM_DEVICE_EXT, p->device[i], NULL), what);
	if (!rc)
		egl->is_software_device = p->is_software[i];
	free(what);
	return rc;
}

static int try_surfaceless(struct egl *egl, const struct platform *p)
{
	if (!p->has_surfaceless)
		return -1;
	return try_display(egl,
	    p->get_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL),
	    "surfaceless platform");
}

static int try_devices(struct egl *egl, const struct platform *p, int is_software)
{
	for (EGLint i = 0; i < p->ndevice; i++)
		if (!!p->is_software[i] == is_software && !try_device(egl, p, i))
			return 0;
	return -1;
}

static int try_default(struct egl *egl)
{
	return try_display(egl, eglGetDisplay(EGL_DEFAULT_DISPLAY), "default display");
}

/* Drops a context that turned out to be hardware. */
static int must_be_software(struct egl *egl)
{
	if (renderer_is_software((const char *)glGetString(GL_RENDERER)))
		return 0;
	buf_addf(&egl->log, "%s: skipped, it is not a software renderer\n",
	    buf_str(&egl->device));
	EGLDisplay dpy = egl->display;
	egl_close(egl);
	egl->display = EGL_NO_DISPLAY;
	eglTerminate(dpy);
	return -1;
}

static int open_software(struct egl *egl, const struct platform *p)
{
	if (!try_devices(egl, p, 1))
		return 0;
	if (!try_surfaceless(egl, p) && !must_be_software(egl))
		return 0;
	return !try_default(egl) && !must_be_software(egl) ? 0 : -1;
}

static int fail(struct egl *egl, const char *what, struct err *err)
{
	/* The message has what was tried; lists of extensions are for the log. */
	struct buf tried = BUF_INIT;
	const char *line = buf_str(&egl->log);
	while (*line) {
		int n = (int)strcspn(line, "\n");
		char *text = xstrndup(line, (size_t)n);
		if (!strstr(text, "xtensions: "))
			buf_addf(&tried, "%s%s", tried.len ? "; " : "", text);
		free(text);
		line += n + (line[n] == '\n');
	}
	err_set(err, STATUS_MACHINE, "%s (%s)", what,
	    tried.len ? tried.data : "libEGL offers nothing to try");
	buf_release(&tried);
	return -1;
}

int egl_open(struct egl *egl, const char *device, struct err *err)
{
	*egl = (struct egl){
		.display = EGL_NO_DISPLAY,
		.context = EGL_NO_CONTEXT,
		.surface = EGL_NO_SURFACE,
	};
	int rc = -1;
	debug_log = &egl->log;
	struct platform p;
	platform_init(&p, &egl->log);
	if (device && strcmp(device, "software") == 0) {
		if (open_software(egl, &p) < 0)
			fail(egl, "no software OpenGL 4.1", err);
		else
			rc = 0;
		goto out;
	}
	if (device) {
		char *end;
		long n = strtol(device, &end, 10);
		if (*end || end == device || n < 0) {
			err_set(err, STATUS_INPUT,
			    "device '%s' is neither a number nor 'software'", device);
			goto out;
		}
		if (n >= p.ndevice) {
			err_set(err, STATUS_MACHINE,
			    "there is no EGL device %ld; this machine has "
			    "%d",
			    n, (int)p.ndevice);
			goto out;
		}
		rc = try_device(egl, &p, (EGLint)n);
		if (rc < 0) {
			char *what = xasprintf("no OpenGL 4.1 on EGL device %ld", n);
			fail(egl, what, err);
			free(what);
		}
		goto out;
	}
	if (!try_devices(egl, &p, 0) || !try_surfaceless(egl, &p) ||
	    !try_devices(egl, &p, 1) || !try_default(egl))
		rc = 0;
	else
		fail(egl,
		    "no usable OpenGL (EGL) driver found; on Debian: apt-get install "
		    "libegl1 libegl-mesa0 libgl1-mesa-dri",
		    err);
out:
	debug_log = NULL;
	return rc;
}

void egl_close(struct egl *egl)
{
	if (egl->display == EGL_NO_DISPLAY)
		return;
	eglMakeCurrent(egl->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
	if (egl->surface != EGL_NO_SURFACE)
		eglDestroySurface(egl->display, egl->surface);
	if (egl->context != EGL_NO_CONTEXT)
		eglDestroyContext(egl->display, egl->context);
	egl->surface = EGL_NO_SURFACE;
	egl->context = EGL_NO_CONTEXT;
}

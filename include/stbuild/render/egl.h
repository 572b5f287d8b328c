#ifndef STBUILD_RENDER_EGL_H
#define STBUILD_RENDER_EGL_H

/*
 * An OpenGL core context without any window system. Tried in this order until
 * one gives at least OpenGL 4.1: hardware devices
 * (EGL_EXT_device_enumeration, those without EGL_MESA_device_software), the
 * surfaceless platform, a software device, the default display. On each: 4.5,
 * 4.3, 4.1, with robust access where offered, then without.
 */

#include <epoxy/egl.h>

#include "util/buf.h"
#include "util/err.h"

struct egl {
	EGLDisplay display;
	EGLContext context;
	EGLSurface surface;     /* 1x1 pbuffer, or EGL_NO_SURFACE */
	struct buf device;      /* what was taken, in words */
	struct buf log;         /* what was tried and how it went, a line each */
	int is_software_device; /* the device says so itself */
	int is_robust;          /* robust access was granted */
	int is_mesa;            /* EGL_VENDOR says so; for the log alone */
};

/*
 * device: "software", a number in the order of eglQueryDevicesEXT, or null for
 * the best. Makes the context current. STATUS_MACHINE with the whole log when
 * there is none, STATUS_INPUT for a device that is no number. The log is there
 * in both cases.
 */
int egl_open(struct egl *egl, const char *device, struct err *err) WARN_UNUSED;
/*
 * Ends the context. The display stays open until exit: drivers unload
 * themselves at eglTerminate, which leaves leak checkers without names.
 */
void egl_close(struct egl *egl);

/* 1 for renderer strings of software GL. */
int renderer_is_software(const char *renderer);

#endif

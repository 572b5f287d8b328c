#ifndef STBUILD_UTIL_ERR_H
#define STBUILD_UTIL_ERR_H

/*
 * What went wrong, for the person who has to mend it. A function that can fail
 * for outside reasons returns 0 or -1 and takes a struct err last. The cause
 * is set where it is found; callers add what they were doing with err_wrap,
 * from the inside out: "while rendering pass 'a' at frame 57".
 */

#include <stdarg.h>
#include <stddef.h>

/* Exit statuses: stbuild(1), EXIT STATUS. */
enum status {
	STATUS_OK = 0,
	STATUS_FAILED = 1,  /* a target failed, pictures differ, stale */
	STATUS_INPUT = 2,   /* command line, manifest, input documents */
	STATUS_MACHINE = 3, /* no EGL, lock, disk, memory */
	/* Under --bisect, as git bisect run reads them. */
	STATUS_BISECT_SKIP = 125, /* cannot be judged */
	STATUS_BISECT_STOP = 129  /* command line, machine */
};

/* What a report tells a shader's faults apart by. */
enum err_kind {
	ERR_OTHER,
	ERR_COMPILE, /* it does not compile or link */
	ERR_TIMEOUT, /* it took longer than it may */
	ERR_CRASH,   /* it took the driver down */
	ERR_MEMORY   /* it needs more memory than there is */
};

struct err {
	char *message;      /* owned; null while there is no error */
	enum status status; /* what the process exits with */
	char *file;         /* owned; file at fault, or null */
	int line, column;   /* from 1; 0 when not known */
	char *key;          /* owned; key path ("pass[1].source"), or null */
	enum err_kind kind; /* set behind the cause; err_set clears it */
};

#define ERR_INIT \
	{ \
		NULL, STATUS_OK, NULL, 0, 0, NULL, ERR_OTHER \
	}
#define WARN_UNUSED __attribute__((warn_unused_result))

/* Sets the cause. An error that is set already is replaced. Returns -1. */
__attribute__((format(printf, 3, 4))) int err_set(struct err *err, enum status status,
    const char *fmt, ...);
/* The same with strerror(errno) after the text. Returns -1. */
__attribute__((format(printf, 3, 4))) int err_errno(struct err *err, enum status status,
    const char *fmt, ...);
/* Adds the place. file and key are copied, null leaves what is there. */
void err_place(struct err *err, const char *file, int line, int column, const char *key);
/* Adds ", <text>" to the message. Returns -1. */
__attribute__((format(printf, 2, 3))) int err_wrap(struct err *err, const char *fmt, ...);
/* dst becomes the same as src, which stays. Returns -1. */
int err_copy(struct err *dst, const struct err *src);
/* Moves src into dst; src is empty afterwards. */
void err_move(struct err *dst, struct err *src);
void err_release(struct err *err);

/* "file:line:column: key: message" (what is known of it), owned by the caller. */
char *err_text(const struct err *err);

/* Several errors, in the order found: what a manifest load reports. */
struct errs {
	struct err *err;
	size_t nerr, cap;
};
#define ERRS_INIT \
	{ \
		NULL, 0, 0 \
	}

/* Appends an error with its place. */
__attribute__((format(printf, 7, 8))) void errs_add(struct errs *errs, enum status status,
    const char *file, int line, int column, const char *key, const char *fmt, ...);
/* Moves one error to the end of the list. */
void errs_take(struct errs *errs, struct err *err);
void errs_release(struct errs *errs);

#endif

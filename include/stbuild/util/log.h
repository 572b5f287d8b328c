#ifndef STBUILD_UTIL_LOG_H
#define STBUILD_UTIL_LOG_H

/*
 * The one way to stderr. Modules report through it, commands set its level;
 * a progress bar registers itself to be wiped before a line is written.
 */

enum log_level {
	LOG_QUIET, /* -q: warnings only */
	LOG_NORMAL,
	LOG_VERBOSE /* -v */
};

void log_set_level(enum log_level level);
/* Called before each line goes out; null for none. */
void log_set_hook(void (*before_line)(void *), void *data);

__attribute__((format(printf, 1, 2))) void log_warn(const char *fmt,
    ...); /* "stbuild: warning: ..." always */
__attribute__((format(printf, 1, 2))) void log_info(const char *fmt,
    ...); /* at LOG_NORMAL and above */
__attribute__((format(printf, 1, 2))) void log_verbose(const char *fmt,
    ...); /* at LOG_VERBOSE */
/* "stbuild: ..." whatever the level. */
__attribute__((format(printf, 1, 2))) void log_error(const char *fmt, ...);

#endif

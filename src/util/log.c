#include "util/log.h"

#include <stdarg.h>
#include <unistd.h>

#include "util/buf.h"

static enum log_level the_level = LOG_NORMAL;
static void (*the_hook)(void *);
static void *the_hook_data;

void log_set_level(enum log_level level)
{
	the_level = level;
}

void log_set_hook(void (*before_line)(void *), void *data)
{
	the_hook = before_line;
	the_hook_data = data;
}

/* One write a line, so that lines of several processes do not mix. */
__attribute__((format(printf, 2, 0))) static void line(const char *prefix,
    const char *fmt, va_list ap)
{
	struct buf text = BUF_INIT;
	buf_addstr(&text, prefix);
	buf_vaddf(&text, fmt, ap);
	buf_tame(&text);
	buf_addch(&text, '\n');
	if (the_hook)
		the_hook(the_hook_data);
	for (size_t done = 0; done < text.len;) {
		ssize_t n = write(STDERR_FILENO, text.data + done, text.len - done);
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	buf_release(&text);
}

void log_warn(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	line("stbuild: warning: ", fmt, ap);
	va_end(ap);
}

void log_info(const char *fmt, ...)
{
	if (the_level < LOG_NORMAL)
		return;
	va_list ap;
	va_start(ap, fmt);
	line("", fmt, ap);
	va_end(ap);
}

void log_verbose(const char *fmt, ...)
{
	if (the_level < LOG_VERBOSE)
		return;
	va_list ap;
	va_start(ap, fmt);
	line("", fmt, ap);
	va_end(ap);
}

void log_error(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	line("stbuild: ", fmt, ap);
	va_end(ap);
}

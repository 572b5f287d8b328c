#include "util/err.h"

#include <errno.h>
#include <string.h>

#include "util/buf.h"
#include "util/mem.h"

__attribute__((format(printf, 3, 0))) static void set(struct err *err, enum status status,
    const char *fmt, va_list ap)
{
	/* The arguments may point into the error that is replaced. */
	struct buf text = BUF_INIT;
	buf_vaddf(&text, fmt, ap);
	err_release(err);
	err->message = buf_detach(&text);
	err->status = status;
}

int err_set(struct err *err, enum status status, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	set(err, status, fmt, ap);
	va_end(ap);
	return -1;
}

int err_errno(struct err *err, enum status status, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;
	va_start(ap, fmt);
	set(err, status, fmt, ap);
	va_end(ap);
	char *text = xasprintf("%s: %s", err->message, strerror(saved));
	free(err->message);
	err->message = text;
	errno = saved;
	return -1;
}

void err_place(struct err *err, const char *file, int line, int column, const char *key)
{
	if (file) {
		char *copy = xstrdup(file);
		free(err->file);
		err->file = copy;
	}
	if (line > 0) {
		err->line = line;
		err->column = column > 0 ? column : 0;
	}
	if (key) {
		char *copy = xstrdup(key);
		free(err->key);
		err->key = copy;
	}
}

int err_wrap(struct err *err, const char *fmt, ...)
{
	if (!err->message)
		BUG("err_wrap(\"%s\") without an error", fmt);
	struct buf text = BUF_INIT;
	buf_addf(&text, "%s, ", err->message);
	va_list ap;
	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	free(err->message);
	err->message = buf_detach(&text);
	return -1;
}

int err_copy(struct err *dst, const struct err *src)
{
	if (dst == src)
		return -1;
	err_set(dst, src->status, "%s", src->message);
	err_place(dst, src->file, src->line, src->column, src->key);
	dst->kind = src->kind;
	return -1;
}

void err_move(struct err *dst, struct err *src)
{
	if (dst == src)
		return;
	err_release(dst);
	*dst = *src;
	*src = (struct err)ERR_INIT;
}

void err_release(struct err *err)
{
	if (!err)
		return;
	free(err->message);
	free(err->file);
	free(err->key);
	*err = (struct err)ERR_INIT;
}

char *err_text(const struct err *err)
{
	struct buf text = BUF_INIT;
	if (err->file) {
		buf_addf(&text, "%s:", err->file);
		if (err->line)
			buf_addf(&text, "%d:", err->line);
		if (err->line && err->column)
			buf_addf(&text, "%d:", err->column);
		buf_addch(&text, ' ');
	}
	if (err->key)
		buf_addf(&text, "%s: ", err->key);
	buf_addstr(&text, err->message ? err->message : "no error");
	return buf_detach(&text);
}

void errs_add(struct errs *errs, enum status status, const char *file, int line,
    int column, const char *key, const char *fmt, ...)
{
	struct err err = ERR_INIT;
	va_list ap;
	va_start(ap, fmt);
	set(&err, status, fmt, ap);
	va_end(ap);
	err_place(&err, file, line, column, key);
	errs_take(errs, &err);
}

void errs_take(struct errs *errs, struct err *err)
{
	errs->err = array_grow(errs->err, errs->nerr, &errs->cap, sizeof *errs->err);
	errs->err[errs->nerr++] = *err;
	*err = (struct err)ERR_INIT;
}

void errs_release(struct errs *errs)
{
	if (!errs)
		return;
	for (size_t i = 0; i < errs->nerr; i++)
		err_release(&errs->err[i]);
	free(errs->err);
	*errs = (struct errs)ERRS_INIT;
}

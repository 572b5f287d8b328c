/*
 * A library for LD_PRELOAD that makes a call fail, or ends the process there.
 *
 *	FAULT_CALL	write pwrite fsync rename open mmap lstat fstat read unlink
 *			link mkdir; "open" is openat, too
 *	FAULT_AT	the N-th call of that kind of this process, from 1
 *	FAULT_ERRNO	a number, or "kill"
 *	FAULT_STICKY	set: the later ones as well
 *	FAULT_PATH	set: only calls with a path that has this text
 *	FAULT_WORKER	set: in the renderer; else in its parent
 *
 * Without FAULT_CALL it does nothing, and is then as good as not there: it is
 * kept loaded by the runs before and after, since LD_PRELOAD is part of the
 * driver's identity.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *call, *text;
static long at;
static int error, is_sticky, is_kill;
static atomic_long count;

__attribute__((constructor)) static void start(void)
{
	char line[4096] = "";
	int fd = open("/proc/self/cmdline", O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, line, sizeof line - 1);
	if (fd >= 0)
		close(fd);
	int is_worker = n > 0 && memmem(line, (size_t)n, "--worker", 8) != NULL;
	const char *number = getenv("FAULT_ERRNO"), *place = getenv("FAULT_AT");
	if (is_worker != (getenv("FAULT_WORKER") != NULL))
		return;
	is_kill = number && strcmp(number, "kill") == 0;
	error = number ? atoi(number) : EIO;
	at = place ? atol(place) : 1;
	is_sticky = getenv("FAULT_STICKY") != NULL;
	text = getenv("FAULT_PATH");
	call = getenv("FAULT_CALL");
}

/* 1 when this call is to fail; errno is set. */
static int is_due(const char *name, const char *path)
{
	if (!call || strcmp(call, name) != 0 || (text && (!path || !strstr(path, text))))
		return 0;
	long n = ++count;
	if (n < at || (n > at && !is_sticky))
		return 0;
	if (is_kill)
		kill(getpid(), SIGKILL);
	errno = error;
	return 1;
}

#define NEXT(name) \
	static __typeof__(name) *next; \
	if (!next) \
	*(void **)&next = dlsym(RTLD_NEXT, #name)

ssize_t write(int fd, const void *data, size_t n)
{
	NEXT(write);
	return is_due("write", NULL) ? -1 : next(fd, data, n);
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t to)
{
	NEXT(pwrite);
	return is_due("pwrite", NULL) ? -1 : next(fd, data, n, to);
}

ssize_t pwrite64(int fd, const void *data, size_t n, off64_t to)
{
	NEXT(pwrite64);
	return is_due("pwrite", NULL) ? -1 : next(fd, data, n, to);
}

ssize_t read(int fd, void *data, size_t n)
{
	NEXT(read);
	return is_due("read", NULL) ? -1 : next(fd, data, n);
}

int fsync(int fd)
{
	NEXT(fsync);
	return is_due("fsync", NULL) ? -1 : next(fd);
}

int rename(const char *from, const char *to)
{
	NEXT(rename);
	return is_due("rename", to) ? -1 : next(from, to);
}

int renameat2(int from, const char *a, int to, const char *b, unsigned flags)
{
	NEXT(renameat2);
	return is_due("rename", b) ? -1 : next(from, a, to, b, flags);
}

int link(const char *from, const char *to)
{
	NEXT(link);
	return is_due("link", to) ? -1 : next(from, to);
}

int unlink(const char *path)
{
	NEXT(unlink);
	return is_due("unlink", path) ? -1 : next(path);
}

int unlinkat(int dir, const char *path, int flags)
{
	NEXT(unlinkat);
	return is_due("unlink", path) ? -1 : next(dir, path, flags);
}

int mkdir(const char *path, mode_t mode)
{
	NEXT(mkdir);
	return is_due("mkdir", path) ? -1 : next(path, mode);
}

int lstat(const char *path, struct stat *st)
{
	NEXT(lstat);
	return is_due("lstat", path) ? -1 : next(path, st);
}

int fstat(int fd, struct stat *st)
{
	NEXT(fstat);
	return is_due("fstat", NULL) ? -1 : next(fd, st);
}

void *mmap(void *to, size_t n, int prot, int flags, int fd, off_t from)
{
	NEXT(mmap);
	return is_due("mmap", NULL) ? MAP_FAILED : next(to, n, prot, flags, fd, from);
}

#define OPEN(name) \
	int name(const char *path, int flags, ...) \
	{ \
		va_list ap; \
		va_start(ap, flags); \
		mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0; \
		va_end(ap); \
		NEXT(name); \
		return is_due("open", path) ? -1 : next(path, flags, mode); \
	}
OPEN(open)
OPEN(open64)

int openat(int dir, const char *path, int flags, ...)
{
	va_list ap;
	va_start(ap, flags);
	mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	NEXT(openat);
	return is_due("open", path) ? -1 : next(dir, path, flags, mode);
}

#include "config.h"

#if defined(HAVE_RENAMEAT2) || defined(HAVE_MEMFD) || defined(HAVE_FICLONE)
#define _GNU_SOURCE /* for these calls only */
#endif

#include "util/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef HAVE_FICLONE
#include <sys/ioctl.h>
#include <linux/fs.h>
#endif

#include "util/buf.h"
#include "util/mem.h"
#include "util/sha256.h"

#define CHUNK (64 * 1024)
#define REMOVE_DEPTH 128 /* one descriptor a level */

char *fs_join(const char *a, const char *b)
{
	if (b[0] == '/' || !a[0] || strcmp(a, ".") == 0)
		return xstrdup(b);
	return xasprintf(a[strlen(a) - 1] == '/' ? "%s%s" : "%s/%s", a, b);
}

char *fs_dirname(const char *path)
{
	size_t n = strlen(path);
	while (n > 1 && path[n - 1] == '/')
		n--;
	while (n && path[n - 1] != '/')
		n--;
	while (n > 1 && path[n - 1] == '/')
		n--;
	return n ? xstrndup(path, n) : xstrdup(".");
}

const char *fs_basename(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

int fs_exists(const char *path)
{
	struct stat st;
	return !stat(path, &st);
}

int fs_is_dir(const char *path)
{
	struct stat st;
	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

int fs_stamp(const char *path, struct fs_stamp *out)
{
	struct stat st;
	if (stat(path, &st) < 0)
		return -1;
	fs_stamp_of(&st, out);
	return 0;
}

static int64_t time_ns(const struct timespec *t)
{
	return (int64_t)((uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec);
}

void fs_stamp_of(const struct stat *st, struct fs_stamp *out)
{
	*out = (struct fs_stamp){
		.dev = (uint64_t)st->st_dev,
		.ino = (uint64_t)st->st_ino,
		.size = (uint64_t)st->st_size,
		.mtime_ns = time_ns(&st->st_mtim),
		.ctime_ns = time_ns(&st->st_ctim),
	};
}

int fs_stamp_equal(const struct fs_stamp *a, const struct fs_stamp *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	    a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns;
}

static int open_failed(const char *path, struct err *err)
{
	int is_input = errno == ENOENT || errno == ENOTDIR || errno == ELOOP ||
	    errno == ENAMETOOLONG;
	err_errno(err, is_input ? STATUS_INPUT : STATUS_MACHINE, "cannot read '%s'",
	    path);
	err_place(err, path, 0, 0, NULL);
	return -1;
}

/* A regular file for reading; a pipe in its place does not block us. */
static int open_file(const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	if (fd < 0)
		return open_failed(path, err);
	if (fstat(fd, &st) < 0) {
		open_failed(path, err);
	} else if (!S_ISREG(st.st_mode)) {
		err_set(err, STATUS_INPUT, "cannot read '%s': %s", path,
		    S_ISDIR(st.st_mode) ? "it is a folder" : "it is not a regular file");
		err_place(err, path, 0, 0, NULL);
	} else {
		return fd;
	}
	close(fd);
	return -1;
}

static ssize_t read_some(int fd, void *to, size_t n)
{
	ssize_t got;
	do
		got = read(fd, to, n);
	while (got < 0 && errno == EINTR);
	return got;
}

static int write_all(int fd, const char *data, size_t n)
{
	while (n) {
		ssize_t done = write(fd, data, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		data += done;
		n -= (size_t)done;
	}
	return 0;
}

int fs_read(const char *path, size_t max, struct buf *buf, struct err *err)
{
	size_t start = buf->len;
	int rc = -1;
	int fd = open_file(path, err);
	if (fd < 0)
		return -1;
	struct stat st;
	if (!fstat(fd, &st) && st.st_size > 0 && (uintmax_t)st.st_size <= max)
		buf_reserve(buf, (size_t)st.st_size + CHUNK / 16);
	for (;;) {
		/* The size is only a hint: files in /proc have none. */
		size_t total = buf->len - start;
		size_t room = buf->cap > buf->len ? buf->cap - buf->len - 1 : 0;
		if (room < CHUNK / 16)
			room = CHUNK;
		if (room > max - total)
			room = max - total + 1; /* one more shows the excess */
		ssize_t n = read_some(fd, buf_reserve(buf, room), room);
		if (n < 0) {
			open_failed(path, err);
			goto out;
		}
		if ((size_t)n > max - total) {
			err_set(err, STATUS_INPUT,
			    "'%s' has more than %zu bytes, the limit", path, max);
			err_place(err, path, 0, 0, NULL);
			goto out;
		}
		buf->len += (size_t)n;
		if (!n)
			break;
	}
	rc = 0;
out:
	if (rc < 0)
		buf->len = start;
	buf->data[buf->len] = '\0';
	close(fd);
	return rc;
}

int fs_hash(const char *path, struct sha256 *out, uint64_t *size, struct err *err)
{
	int fd = open_file(path, err);
	if (fd < 0)
		return -1;
	struct sha256_ctx ctx;
	sha256_init(&ctx);
	char *chunk = xmalloc(CHUNK);
	uint64_t total = 0;
	ssize_t n;
	while ((n = read_some(fd, chunk, CHUNK)) > 0) {
		sha256_update(&ctx, chunk, (size_t)n);
		total += (uint64_t)n;
	}
	if (n < 0) {
		open_failed(path, err);
	} else {
		sha256_final(&ctx, out);
		if (size)
			*size = total;
	}
	sha256_ctx_release(&ctx);
	free(chunk);
	close(fd);
	return n < 0 ? -1 : 0;
}

/* A name beside path that no other thread or process of ours uses. */
static char *aside_name(const char *path)
{
	static atomic_uint counter;
	char *dir = fs_dirname(path);
	char *name = xasprintf(".stbuild-%ld-%u.tmp", (long)getpid(),
	    atomic_fetch_add(&counter, 1));
	char *aside = fs_join(dir, name);
	free(dir);
	free(name);
	return aside;
}

/* Creates a file beside path. *aside is its name, the caller's. */
static int open_aside(const char *path, char **aside, struct err *err)
{
	/* What a killed process of the same number left behind is in the way. */
	for (int tries = 0; tries < 1000; tries++) {
		*aside = aside_name(path);
		int fd = open(*aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0)
			return fd;
		int error = errno;
		free(*aside);
		*aside = NULL;
		errno = error;
		if (errno != EEXIST)
			break;
	}
	return err_errno(err, STATUS_MACHINE, "cannot write '%s'", path);
}

/*
 * Ends what open_aside began: closes fd and, when failed is 0, renames the file
 * to path. errno has the reason when failed is not.
 */
static int close_aside(int fd, char *aside, const char *path, int failed, int durable,
    struct err *err)
{
	if (!failed && durable)
		failed = fsync(fd);
	int error = errno;
	/* Network file systems report a full disk here. */
	if (close(fd) < 0 && !failed) {
		failed = 1;
		error = errno;
	}
	if (!failed && rename(aside, path) < 0) {
		failed = 1;
		error = errno;
	}
	if (failed) {
		unlink(aside);
		errno = error;
		err_errno(err, STATUS_MACHINE, "cannot write '%s'", path);
	}
	free(aside);
	return failed ? -1 : 0;
}

int fs_write(const char *path, const void *data, size_t n, int durable, struct err *err)
{
	char *aside;
	int fd = open_aside(path, &aside, err);
	if (fd < 0)
		return -1;
	return close_aside(fd, aside, path, write_all(fd, data, n), durable, err);
}

int fs_begin(const char *path, struct fs_writer *out, struct err *err)
{
	out->fd = open_aside(path, &out->aside, err);
	if (out->fd < 0)
		return -1;
	out->path = xstrdup(path);
	return 0;
}

int fs_add(struct fs_writer *w, const void *data, size_t n, struct err *err)
{
	if (write_all(w->fd, data, n) == 0)
		return 0;
	return err_errno(err, STATUS_MACHINE, "cannot write '%s'", w->path);
}

int fs_end(struct fs_writer *w, int durable, struct err *err)
{
	int rc = close_aside(w->fd, w->aside, w->path, 0, durable, err);
	free(w->path);
	*w = (struct fs_writer){ -1, NULL, NULL };
	return rc;
}

void fs_abandon(struct fs_writer *w)
{
	close(w->fd);
	unlink(w->aside);
	free(w->aside);
	free(w->path);
	*w = (struct fs_writer){ -1, NULL, NULL };
}

/* 0 when "to" now shares the bytes of "from". */
static int clone_bytes(int from, int to)
{
#ifdef HAVE_FICLONE
	return ioctl(to, FICLONE, from);
#else
	(void)from;
	(void)to;
	return -1;
#endif
}

int fs_copy(const char *from, const char *to, int durable, struct err *err)
{
	int in = open_file(from, err);
	if (in < 0)
		return -1;
	char *aside;
	int out = open_aside(to, &aside, err);
	if (out < 0) {
		close(in);
		return -1;
	}
	int is_read = 1, failed = 0;
	if (clone_bytes(in, out) < 0) {
		char *chunk = xmalloc(CHUNK);
		ssize_t n;
		while ((n = read_some(in, chunk, CHUNK)) > 0 && !failed)
			failed = write_all(out, chunk, (size_t)n);
		is_read = n >= 0;
		int error = errno;
		free(chunk);
		errno = error;
	}
	int error = errno;
	close(in);
	errno = error;
	int rc = close_aside(out, aside, to, failed || !is_read, durable, err);
	if (!is_read) {
		errno = error;
		rc = open_failed(from, err);
	}
	return rc;
}

int fs_mkdirs(const char *path, struct err *err)
{
	char *part = xstrdup(path);
	int rc = 0;
	for (char *p = part; *p && !rc;) {
		p += strspn(p, "/");
		p += strcspn(p, "/");
		char end = *p;
		*p = '\0';
		/* mkdir may also fail with EROFS where the folder exists. */
		if (mkdir(part, 0777) < 0) {
			int error = errno;
			if (!fs_is_dir(part)) {
				errno = error == EEXIST ? ENOTDIR : error;
				rc = err_errno(err, STATUS_MACHINE,
				    "cannot create the folder '%s'", part);
			}
		}
		*p = end;
	}
	free(part);
	return rc;
}

/* Removes what the open folder holds. 0, or -1 and errno. Closes fd. */
static int empty_dir(int fd, int depth)
{
	DIR *dir = fdopendir(fd);
	if (!dir) {
		int error = errno;
		close(fd);
		errno = error;
		return -1;
	}
	int rc = 0, error = 0;
	for (;;) {
		errno = 0;
		const struct dirent *d = readdir(dir);
		if (!d) {
			rc = errno ? -1 : 0;
			error = errno;
			break;
		}
		const char *name = d->d_name;
		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
			continue;
		struct stat st;
		rc = fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW);
		if (!rc && S_ISDIR(st.st_mode)) {
			errno = EMFILE;
			int sub = depth
			    ? openat(fd, name,
				  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
			    : -1;
			rc = sub < 0 ? -1 : empty_dir(sub, depth - 1);
			if (!rc)
				rc = unlinkat(fd, name, AT_REMOVEDIR);
		} else if (!rc) {
			rc = unlinkat(fd, name, 0);
		}
		if (rc < 0 && errno != ENOENT) {
			error = errno;
			break;
		}
	}
	closedir(dir);
	errno = error;
	return rc;
}

int fs_remove(const char *path, struct err *err)
{
	struct stat st;
	int rc = lstat(path, &st);
	if (!rc && S_ISDIR(st.st_mode)) {
		int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		rc = fd < 0 ? -1 : empty_dir(fd, REMOVE_DEPTH);
		if (!rc)
			rc = rmdir(path);
	} else if (!rc) {
		rc = unlink(path);
	}
	if (rc < 0 && errno != ENOENT)
		return err_errno(err, STATUS_MACHINE, "cannot remove '%s'", path);
	return 0;
}

int fs_set_aside(const char *path, char **aside, struct err *err)
{
	struct stat st;
	/* A link is moved itself, whatever its end. */
	char *bare = xstrdup(path);
	for (size_t n = strlen(bare); n > 1 && bare[n - 1] == '/'; n--)
		bare[n - 1] = '\0';
	do
		*aside = aside_name(bare);
	while (lstat(*aside, &st) == 0 && (free(*aside), 1));
	int rc = rename(bare, *aside);
	if (rc < 0) {
		err_errno(err, STATUS_MACHINE, "cannot remove '%s'", path);
		free(*aside);
		*aside = NULL;
	}
	free(bare);
	return rc;
}

/* 0 when the two have changed places at once; else -1 and errno. */
static int swap(const char *a, const char *b)
{
#ifdef HAVE_RENAMEAT2
	return renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE);
#else
	(void)a;
	(void)b;
	errno = ENOSYS;
	return -1;
#endif
}

int fs_exchange(const char *from, const char *to, struct err *err)
{
	struct stat st;
	if (lstat(to, &st) < 0) {
		if (errno == ENOENT && !rename(from, to))
			return 0;
		return err_errno(err, STATUS_MACHINE, "cannot put '%s' in place", to);
	}
	if (!swap(from, to))
		return fs_remove(from, err);
	if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP)
		return err_errno(err, STATUS_MACHINE, "cannot put '%s' in place", to);

	char *aside = aside_name(to);
	int rc = rename(to, aside);
	if (!rc) {
		rc = rename(from, to);
		int error = errno;
		if (rc && rename(aside, to) < 0)
			error = errno;
		errno = error;
	}
	if (rc)
		err_errno(err, STATUS_MACHINE, "cannot put '%s' in place", to);
	else
		rc = fs_remove(aside, err);
	free(aside);
	return rc;
}

int fs_sync_dir(const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = fd < 0 ? -1 : fsync(fd);
	if (rc < 0 && fd >= 0 &&
	    (errno == EINVAL || errno == ENOTSUP || errno == EBADF || errno == EROFS))
		rc = 0;
	if (rc < 0)
		err_errno(err, STATUS_MACHINE, "cannot sync the folder '%s'", path);
	if (fd >= 0)
		close(fd);
	return rc;
}

static int open_unlinked(void)
{
	const char *dir = getenv("TMPDIR");
	char *name = fs_join(dir && *dir ? dir : "/tmp", "stbuild-XXXXXX");
	int fd = mkstemp(name);
	int error = errno;
	if (fd >= 0) {
		unlink(name);
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	}
	free(name);
	errno = error;
	return fd;
}

int fs_shm(size_t size, struct err *err)
{
	int fd = -1, is_file = 0;
	errno = EFBIG;
	if (size <= INT64_MAX) {
#ifdef HAVE_MEMFD
		fd = memfd_create("stbuild", MFD_CLOEXEC);
#endif
		if (fd < 0) {
			fd = open_unlinked();
			is_file = 1;
		}
	}
	if (fd < 0)
		return err_errno(err, STATUS_MACHINE, "cannot share %zu bytes of memory",
		    size);
	int failed = ftruncate(fd, (off_t)size) < 0 ? errno : 0;
	/* A full disk must show here, not as a SIGBUS later. */
	if (!failed && is_file && size)
		failed = posix_fallocate(fd, 0, (off_t)size);
	if (failed) {
		close(fd);
		errno = failed;
		return err_errno(err, STATUS_MACHINE, "cannot share %zu bytes of memory",
		    size);
	}
	return fd;
}

#include "store/db.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/log.h"
#include "util/mem.h"

static char *path_of(const char *dir, const struct sha256 *sha)
{
	char hex[SHA256_HEX + 1];
	sha256_hex(sha, hex);
	return xasprintf("%s/objects/%.2s/%s", dir, hex, hex + 2);
}

char *object_path(const struct store *s, const struct sha256 *sha)
{
	return path_of(s->dir, sha);
}

static int stands(const char *path, uint64_t size)
{
	struct stat st;
	return !lstat(path, &st) && S_ISREG(st.st_mode) && (uint64_t)st.st_size == size;
}

int object_is_lost(const struct store *s, const struct sha256 *sha)
{
	return map_get(&s->checked, sha->byte, SHA256_SIZE) == 0;
}

int object_has(const struct store *s, const struct sha256 *sha, uint64_t size)
{
	if (object_is_lost(s, sha))
		return 0;
	char *path = path_of(s->dir, sha);
	/* Where one cannot be read others may be as bad. */
	int has = stands(path, size) && (!s->nunread || access(path, R_OK) == 0);
	free(path);
	return has;
}

/* The folder that holds path, in a store whose folder exists. */
static int make_parent(const char *path)
{
	char *parent = fs_dirname(path), *objects = fs_dirname(parent);
	int rc = mkdir(objects, 0777) < 0 && errno != EEXIST ? -1 : 0;
	if (!rc && mkdir(parent, 0777) < 0 && errno != EEXIST)
		rc = -1;
	int error = errno;
	free(parent);
	free(objects);
	errno = error;
	return rc;
}

/* 1 when path is of that size and can be opened. */
static int is_readable(const char *path, uint64_t size)
{
	if (!stands(path, size))
		return 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* The rename of a new object, also over what has no business there. */
static int put_in_place(const char *tmp, const char *path)
{
	struct err err = ERR_INIT;
	int rc = rename(tmp, path);
	if (rc < 0 && errno == ENOENT && !make_parent(path))
		rc = rename(tmp, path);
	if (rc < 0 && (errno == EISDIR || errno == ENOTEMPTY || errno == EEXIST) &&
	    fs_remove(path, &err) == 0)
		rc = rename(tmp, path);
	int error = errno;
	err_release(&err);
	errno = error;
	return rc;
}

/* A new file in tmp/. *path is the caller's. */
static int open_tmp(const char *dir, char **path)
{
	static atomic_uint counter;
	int fd = -1;
	*path = NULL;
	/* Another host may use the same number; a killed process did. */
	for (int tries = 0; fd < 0 && tries < 1000; tries++) {
		free(*path);
		*path = xasprintf("%s/tmp/%ld-%u", dir, (long)getpid(),
		    atomic_fetch_add(&counter, 1));
		/* Nobody is to change it; removing and copying still work. */
		fd = open(*path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
		if (fd < 0 && errno == ENOENT) {
			char *tmp = fs_dirname(*path);
			int rc = mkdir(tmp, 0777);
			int error = errno;
			free(tmp);
			errno = error;
			if (rc < 0 && errno != EEXIST)
				break;
		} else if (fd < 0 && errno != EEXIST) {
			break;
		}
	}
	return fd;
}

int object_write(const char *store_dir, const void *data, size_t n, struct sha256 *out,
    struct err *err)
{
	sha256_of(data, n, out);
	char *tmp = NULL, *path = path_of(store_dir, out);
	int rc = 0;
	if (is_readable(path, n)) {
		rc = 1;
		goto out;
	}
	int fd = open_tmp(store_dir, &tmp);
	if (fd < 0) {
		rc = err_errno(err, STATUS_MACHINE, "cannot write '%s'", tmp);
		goto out;
	}
	for (size_t done = 0; done < n && !rc;) {
		ssize_t k = write(fd, (const char *)data + done, n - done);
		if (k >= 0)
			done += (size_t)k;
		else if (errno != EINTR)
			rc = -1;
	}
	int error = errno;
	if (close(fd) < 0 && !rc) {
		rc = -1;
		error = errno;
	}
	errno = error;
	if (!rc)
		rc = put_in_place(tmp, path);
	if (rc < 0) {
		error = errno;
		unlink(tmp);
		errno = error;
		err_errno(err, STATUS_MACHINE, "cannot write '%s'", path);
	}
out:
	free(tmp);
	free(path);
	return rc;
}

/* The file at path has n bytes, and they go to data. */
static int read_exactly(int fd, char *data, size_t n)
{
	struct stat st;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (uintmax_t)st.st_size != n)
		return 0;
	for (size_t done = 0; done < n;) {
		ssize_t k = read(fd, data + done, n - done);
		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return 0;
		done += (size_t)k;
	}
	return 1;
}

/* What is wrong with the machine for now says nothing about the file. */
static int is_passing(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM || error == EINTR ||
	    error == EAGAIN;
}

/*
 * Out of the way, so that it is made again. What can be neither read nor
 * removed is a miss as long as the store is open.
 */
static void discard(struct store *s, const struct sha256 *sha, const char *path,
    const char *what)
{
	struct err err = ERR_INIT;
	s->nunread++;
	int is_gone = fs_remove(path, &err) == 0;
	if (!object_is_lost(s, sha))
		log_warn("'%s' %s; it is %s", path, what,
		    is_gone ? "removed and made again" : "taken as not stored");
	map_put(&s->checked, sha->byte, SHA256_SIZE, (size_t)is_gone);
	err_release(&err);
}

static int open_object(struct store *s, const struct sha256 *sha, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd >= 0 || errno == ENOENT)
		return fd;
	char *what = xasprintf("cannot be read (%s)", strerror(errno));
	if (is_passing(errno)) {
		log_warn("'%s' %s; taken as not stored", path, what);
		map_put(&s->checked, sha->byte, SHA256_SIZE, 0);
		s->nunread++;
	} else {
		discard(s, sha, path, what);
	}
	free(what);
	return -1;
}

int object_hash(int fd, const struct sha256 *sha, uint64_t n)
{
	enum { CHUNK = 256 * 1024 };
	struct sha256_ctx ctx;
	struct sha256 got;
	char *chunk = xmalloc(CHUNK);
	uint64_t done = 0;
	ssize_t k = 1;
	sha256_init(&ctx);
	while (done < n && k > 0) {
		k = pread(fd, chunk, n - done < CHUNK ? (size_t)(n - done) : CHUNK,
		    (off_t)done);
		if (k > 0) {
			sha256_update(&ctx, chunk, (size_t)k);
			done += (uint64_t)k;
		} else if (k < 0 && errno == EINTR) {
			k = 1;
		}
	}
	sha256_final(&ctx, &got);
	free(chunk);
	return done == n && sha256_equal(&got, sha);
}

void object_checked(struct store *s, const struct sha256 *sha, int is_whole)
{
	char *path = path_of(s->dir, sha);
	if (is_whole)
		map_put(&s->checked, sha->byte, SHA256_SIZE, 1);
	else
		discard(s, sha, path, "is damaged");
	free(path);
}

int object_open(struct store *s, const struct sha256 *sha, uint64_t n, int *is_whole)
{
	char *path = path_of(s->dir, sha);
	struct stat st;
	int fd = open_object(s, sha, path);
	*is_whole = map_get(&s->checked, sha->byte, SHA256_SIZE) == 1;
	if (fd >= 0 &&
	    (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (uintmax_t)st.st_size != n)) {
		close(fd);
		fd = -1;
	}
	free(path);
	return fd;
}

int object_read(struct store *s, const struct sha256 *sha, void *data, size_t n)
{
	struct sha256 got;
	struct stat st;
	char *path = path_of(s->dir, sha);
	int rc = 0;
	int fd = open_object(s, sha, path);
	if (fd >= 0 && read_exactly(fd, data, n)) {
		sha256_of(data, n, &got);
		rc = sha256_equal(&got, sha);
	}
	/* It may be whole and n wrong. */
	if (rc)
		map_put(&s->checked, sha->byte, SHA256_SIZE, 1);
	else if (fd >= 0 &&
	    (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (uintmax_t)st.st_size == n ||
		!object_hash(fd, sha, (uint64_t)st.st_size)))
		discard(s, sha, path, "is damaged");
	if (fd >= 0)
		close(fd);
	free(path);
	return rc;
}

int objects_walk(struct store *s,
    int (*each)(void *data, const char *path, const struct sha256 *sha, uint64_t size,
	struct err *err),
    void *data, struct err *err)
{
	int rc = 0;
	for (unsigned i = 0; i < 256 && !rc; i++) {
		char *folder = xasprintf("%s/objects/%02x", s->dir, i);
		DIR *dir = opendir(folder);
		const struct dirent *d;
		if (!dir && errno != ENOENT)
			rc = err_errno(err, STATUS_MACHINE, "cannot read the folder '%s'",
			    folder);
		while (dir && !rc && (d = readdir(dir))) {
			struct stat st;
			struct sha256 sha;
			char *hex = xasprintf("%02x%s", i, d->d_name);
			char *path = fs_join(folder, d->d_name);
			if (!sha256_parse(hex, &sha) && !lstat(path, &st) &&
			    S_ISREG(st.st_mode))
				rc = each(data, path, &sha, (uint64_t)st.st_size, err);
			free(hex);
			free(path);
		}
		if (dir)
			closedir(dir);
		free(folder);
	}
	return rc;
}

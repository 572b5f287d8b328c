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
#include "util/proc.h"

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
	return !lstat(path, &st) && S_ISREG(st.st_mode)
		&& (uint64_t)st.st_size == size;
}

int object_has(const struct store *s, const struct sha256 *sha, uint64_t size)
{
	char *path = path_of(s->dir, sha);
	int has = stands(path, size);
	free(path);
	return has;
}

/* The folder that holds path, in a store whose folder exists. */
static int make_parent(const char *path)
{
	char *parent = fs_dirname(path), *objects = fs_dirname(parent);
	int ret = mkdir(objects, 0777) < 0 && errno != EEXIST ? -1 : 0;
	if (!ret && mkdir(parent, 0777) < 0 && errno != EEXIST)
		ret = -1;
	int error = errno;
	free(parent);
	free(objects);
	errno = error;
	return ret;
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
			int ret = mkdir(tmp, 0777);
			int error = errno;
			free(tmp);
			errno = error;
			if (ret < 0 && errno != EEXIST)
				break;
		} else if (fd < 0 && errno != EEXIST) {
			break;
		}
	}
	return fd;
}

int object_write(const char *store_dir, const void *data, size_t n,
	struct sha256 *out, struct err *err)
{
	sha256_of(data, n, out);
	char *tmp = NULL, *path = path_of(store_dir, out);
	int ret = 0;
	if (stands(path, n)) {
		ret = 1;
		goto out;
	}
	int fd = open_tmp(store_dir, &tmp);
	if (fd < 0) {
		ret = err_errno(err, STATUS_MACHINE, "cannot write '%s'",
			tmp);
		goto out;
	}
	for (size_t done = 0; done < n && !ret;) {
		ssize_t k = write(fd, (const char *)data + done, n - done);
		if (k >= 0)
			done += (size_t)k;
		else if (errno != EINTR)
			ret = -1;
	}
	int error = errno;
	if (close(fd) < 0 && !ret) {
		ret = -1;
		error = errno;
	}
	errno = error;
	if (!ret) {
		ret = rename(tmp, path);
		if (ret < 0 && errno == ENOENT && !make_parent(path))
			ret = rename(tmp, path);
	}
	if (ret < 0) {
		error = errno;
		unlink(tmp);
		errno = error;
		err_errno(err, STATUS_MACHINE, "cannot write '%s'", path);
	}
out:
	free(tmp);
	free(path);
	return ret;
}

/* The file at path has n bytes, and they go to data. */
static int read_exactly(int fd, char *data, size_t n)
{
	struct stat st;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)
		|| (uintmax_t)st.st_size != n)
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

/*
 * The stamp under which an object's hash is remembered. Objects are not synced:
 * after a power failure a file may have its size and times and not its bytes.
 * So what was seen counts only until the system starts again.
 */
static int trust_stamp(int fd, struct fs_stamp *out)
{
	static uint64_t boot;
	struct stat st;
	if (!boot)
		boot = proc_boot_id();
	if (!boot || fstat(fd, &st) < 0)
		return -1;
	fs_stamp_of(&st, out);
	out->dev ^= boot;
	return 0;
}

/* 1 when the open file is known to hold what its name says. */
static int is_trusted(struct store *s, int fd, const struct sha256 *sha,
	struct fs_stamp *stamp)
{
	const struct tree_cache *cache = store_stat_cache(s);
	struct sha256 got;
	return trust_stamp(fd, stamp) == 0
		&& cache->get(cache->data, stamp, &got) == 0
		&& sha256_equal(&got, sha);
}

static void remember(struct store *s, int fd, const struct sha256 *sha)
{
	const struct tree_cache *cache = store_stat_cache(s);
	struct fs_stamp stamp;
	if (trust_stamp(fd, &stamp) == 0)
		cache->put(cache->data, &stamp, sha);
}

/* 1 when the bytes are those of the name; a hash is spared where one is known. */
static int is_whole(struct store *s, int fd, const struct sha256 *sha,
	const void *data, size_t n)
{
	struct fs_stamp stamp;
	struct sha256 got;
	if (is_trusted(s, fd, sha, &stamp))
		return 1;
	sha256_of(data, n, &got);
	if (!sha256_equal(&got, sha))
		return 0;
	remember(s, fd, sha);
	return 1;
}

int object_open(struct store *s, const struct sha256 *sha, uint64_t n)
{
	struct err err = ERR_INIT;
	struct fs_stamp stamp;
	struct sha256 got;
	uint64_t size;
	char *path = path_of(s->dir, sha);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	int ok = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)
		&& (uintmax_t)st.st_size == n;
	if (ok && !is_trusted(s, fd, sha, &stamp)) {
		ok = fs_hash(path, &got, &size, &err) == 0;
		if (ok && !(size == n && sha256_equal(&got, sha))) {
			log_warn("'%s' is damaged; it is removed and made again",
				path);
			unlink(path);
			ok = 0;
		}
		if (ok)
			remember(s, fd, sha);
		err_release(&err);
	}
	if (fd >= 0 && !ok)
		close(fd);
	free(path);
	return ok ? fd : -1;
}

int object_read(struct store *s, const struct sha256 *sha, void *data,
	size_t n)
{
	struct err err = ERR_INIT;
	struct sha256 got;
	char *path = path_of(s->dir, sha);
	int ret = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0) {
		if (errno == ENOENT)
			goto out;
		log_warn("cannot read '%s': %s; taken as not stored", path,
			strerror(errno));
		goto out;
	}
	if (read_exactly(fd, data, n))
		ret = is_whole(s, fd, sha, data, n);
	close(fd);
	/* It may be whole and n wrong, or the disk may have failed. */
	if (!ret && !fs_hash(path, &got, NULL, &err)
		&& !sha256_equal(&got, sha)) {
		log_warn("'%s' is damaged; it is removed and made again", path);
		unlink(path);
	} else if (err.message) {
		log_warn("%s; taken as not stored", err.message);
	}
	err_release(&err);
out:
	free(path);
	return ret;
}

int objects_walk(struct store *s, int (*each)(void *data, const char *path,
	const struct sha256 *sha, uint64_t size, struct err *err), void *data,
	struct err *err)
{
	int ret = 0;
	for (unsigned i = 0; i < 256 && !ret; i++) {
		char *folder = xasprintf("%s/objects/%02x", s->dir, i);
		DIR *dir = opendir(folder);
		const struct dirent *d;
		if (!dir && errno != ENOENT)
			ret = err_errno(err, STATUS_MACHINE,
				"cannot read the folder '%s'", folder);
		while (dir && !ret && (d = readdir(dir))) {
			struct stat st;
			struct sha256 sha;
			char *hex = xasprintf("%02x%s", i, d->d_name);
			char *path = fs_join(folder, d->d_name);
			if (!sha256_parse(hex, &sha) && !lstat(path, &st)
				&& S_ISREG(st.st_mode))
				ret = each(data, path, &sha, (uint64_t)st.st_size, err);
			free(hex);
			free(path);
		}
		if (dir)
			closedir(dir);
		free(folder);
	}
	return ret;
}

#include "format/bundle_write.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "format/fields.h"
#include "util/buf.h"
#include "util/folder.h"
#include "util/fs.h"
#include "util/log.h"
#include "util/mem.h"

#define NSTEM 200 /* file names end at 255 bytes */
#define ASIDE ".stbuild-%ld-%u.sttrace.tmp"

struct bundle_stream {
	struct bundle_writer *writer;
	char *key, *path;
	int fd;
	struct sha256_ctx hash;
	uint64_t bytes;
};

static int is_bundle(const char *dir)
{
	struct stat st;
	char *file = fs_join(dir, "trace.json");
	int found = !lstat(file, &st) && S_ISREG(st.st_mode);
	free(file);
	return found;
}

static int is_empty(const char *path)
{
	DIR *dir = opendir(path);
	if (!dir)
		return 0;
	const struct dirent *d;
	int n = 0;
	while (!n && (d = readdir(dir)))
		n += strcmp(d->d_name, ".") && strcmp(d->d_name, "..");
	closedir(dir);
	return !n;
}

int bundle_check_place(const char *path, int is_on_record, struct err *err)
{
	struct stat st;
	if (lstat(path, &st) < 0) {
		if (errno == ENOENT)
			return 0;
		return err_errno(err, STATUS_MACHINE, "cannot write '%s'", path);
	}
	if (!S_ISDIR(st.st_mode))
		err_set(err, STATUS_INPUT, "'%s' is %s; a bundle is a folder", path,
		    S_ISLNK(st.st_mode) ? "a symbolic link" : "a file");
	else if (is_on_record || is_bundle(path) || is_empty(path))
		return 0;
	else
		err_set(err, STATUS_INPUT,
		    "'%s' is a folder but not a bundle "
		    "(it has no trace.json); it is left alone",
		    path);
	err_place(err, path, 0, 0, NULL);
	return -1;
}

/* 1 when this folder is another than last time; bundles begin on threads. */
static int is_another(const struct stat *st)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static dev_t dev;
	static ino_t ino;
	pthread_mutex_lock(&lock);
	int another = st->st_dev != dev || st->st_ino != ino;
	dev = st->st_dev;
	ino = st->st_ino;
	pthread_mutex_unlock(&lock);
	return another;
}

void bundle_clean_place(const char *path)
{
	struct stat st;
	char *parent = fs_dirname(path);
	/* A folder of thousands of bundles is looked through once. */
	if (stat(parent, &st) == 0 && is_another(&st))
		folder_clean(parent);
	free(parent);
}

int bundle_begin(const char *path, int is_on_record, struct bundle_writer *out,
    struct err *err)
{
	static atomic_uint serial;
	char *parent = NULL;
	int rc = -1;
	*out = (struct bundle_writer){ .is_on_record = is_on_record, .claim = -1 };
	out->path = xstrdup(path);
	for (size_t n = strlen(path); n > 1 && out->path[n - 1] == '/'; n--)
		out->path[n - 1] = '\0';
	parent = fs_dirname(out->path);
	if (bundle_check_place(out->path, is_on_record, err) < 0 ||
	    fs_mkdirs(parent, err) < 0)
		goto out;
	bundle_clean_place(out->path);
	for (int tries = 0; tries < 1000 && rc < 0; tries++) {
		char name[64];
		snprintf(name, sizeof name, ASIDE, (long)getpid(),
		    atomic_fetch_add(&serial, 1));
		char *aside = fs_join(parent, name);
		/* An earlier process of our number may have left one. */
		rc = mkdir(aside, 0777);
		if (!rc) {
			out->aside = aside;
			out->claim = folder_claim(aside);
			break;
		}
		int error = errno;
		free(aside);
		errno = error;
		if (error != EEXIST)
			break;
	}
	if (rc < 0)
		err_errno(err, STATUS_MACHINE, "cannot create a folder next to '%s'",
		    out->path);
out:
	if (rc < 0)
		bundle_abandon(out);
	free(parent);
	return rc;
}

static void release_writer(struct bundle_writer *w)
{
	artifacts_release(w->artifact, w->nartifact);
	free(w->path);
	free(w->aside);
	if (w->claim >= 0)
		close(w->claim);
	*w = (struct bundle_writer){ .claim = -1 };
}

void bundle_abandon(struct bundle_writer *w)
{
	struct err err = ERR_INIT;
	if (w->aside && fs_remove(w->aside, &err) < 0)
		log_warn("%s", err.message);
	err_release(&err);
	release_writer(w);
}

static void record(struct bundle_writer *w, const char *key, const char *path,
    uint64_t bytes, const struct sha256 *sha)
{
	w->artifact = array_grow(w->artifact, w->nartifact, &w->cap, sizeof *w->artifact);
	w->artifact[w->nartifact++] = (struct artifact){
		.key = xstrdup(key),
		.path = xstrdup(path),
		.bytes = bytes,
		.sha = *sha,
	};
}

/* Where an artifact is written; its folder exists then. Null on failure. */
static char *place(const struct bundle_writer *w, const char *key, const char *path,
    struct err *err)
{
	if (!artifact_is_inside(path))
		BUG("the artifact path '%s'", path);
	for (size_t i = 0; i < w->nartifact; i++)
		if (strcmp(w->artifact[i].key, key) == 0 ||
		    strcmp(w->artifact[i].path, path) == 0)
			BUG("the artifact '%s' at '%s' twice", key, path);
	char *full = fs_join(w->aside, path);
	if (strchr(path, '/')) {
		char *dir = fs_dirname(full);
		int rc = fs_mkdirs(dir, err);
		free(dir);
		if (rc < 0) {
			free(full);
			return NULL;
		}
	}
	return full;
}

int bundle_begin_file(struct bundle_writer *w, const char *key, const char *path,
    struct bundle_stream **out, struct err *err)
{
	*out = NULL;
	char *full = place(w, key, path, err);
	if (!full)
		return -1;
	int fd = open(full, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		err_errno(err, STATUS_MACHINE, "cannot write '%s'", full);
	free(full);
	if (fd < 0)
		return -1;
	struct bundle_stream *s = xcalloc(1, sizeof *s);
	s->writer = w;
	s->key = xstrdup(key);
	s->path = xstrdup(path);
	s->fd = fd;
	sha256_init(&s->hash);
	*out = s;
	return 0;
}

int bundle_write(struct bundle_stream *s, const void *data, size_t n, struct err *err)
{
	const char *p = data;
	sha256_update(&s->hash, data, n);
	s->bytes += n;
	while (n) {
		ssize_t done = write(s->fd, p, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return err_errno(err, STATUS_MACHINE,
			    "cannot write '%s' of the bundle '%s'", s->path,
			    s->writer->path);
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

int bundle_end_file(struct bundle_stream *s, struct err *err)
{
	struct sha256 sha;
	/* Network file systems report a full disk here. */
	int rc = close(s->fd);
	if (rc < 0)
		err_errno(err, STATUS_MACHINE, "cannot write '%s' of the bundle '%s'",
		    s->path, s->writer->path);
	sha256_final(&s->hash, &sha);
	if (!rc)
		record(s->writer, s->key, s->path, s->bytes, &sha);
	sha256_ctx_release(&s->hash);
	free(s->key);
	free(s->path);
	free(s);
	return rc;
}

int bundle_add(struct bundle_writer *w, const char *key, const char *path,
    const void *data, size_t n, struct err *err)
{
	struct bundle_stream *s;
	if (bundle_begin_file(w, key, path, &s, err) < 0)
		return -1;
	int rc = bundle_write(s, data, n, err);
	struct err second = ERR_INIT;
	if (bundle_end_file(s, rc < 0 ? &second : err) < 0)
		rc = -1;
	err_release(&second);
	return rc;
}

int bundle_add_copy(struct bundle_writer *w, const char *key, const char *path,
    const char *from, const struct sha256 *sha, uint64_t bytes, struct err *err)
{
	struct stat st;
	char *full = place(w, key, path, err);
	if (!full)
		return -1;
	int rc = fs_copy(from, full, 0, err);
	if (!rc && (stat(full, &st) < 0 || (uint64_t)st.st_size != bytes))
		rc = err_set(err, STATUS_FAILED, "'%s' no longer has its %llu bytes",
		    from, (unsigned long long)bytes);
	if (!rc)
		record(w, key, path, bytes, sha);
	free(full);
	return rc;
}

/*
 * By a hard link: the old bundle goes when the new one takes its place, so the
 * file has two names only until then. Another run may put its own bundle there
 * at any moment: what was linked has to be the very file that was judged. (The
 * link itself changes its ctime.)
 */
int bundle_keep(struct bundle_writer *w, const char *key, const char *path,
    const char *old_path, const struct sha256 *sha, const struct fs_stamp *stamp)
{
	struct err err = ERR_INIT;
	char *full = place(w, key, path, &err);
	char *old = fs_join(w->path, old_path);
	struct stat st;
	struct fs_stamp now;
	int ok = 0, is_linked = 0;

	if (full && lstat(old, &st) == 0 && S_ISREG(st.st_mode)) {
		fs_stamp_of(&st, &now);
		is_linked = fs_stamp_equal(&now, stamp) && link(old, full) == 0;
	}
	if (is_linked && lstat(full, &st) == 0) {
		fs_stamp_of(&st, &now);
		now.ctime_ns = stamp->ctime_ns;
		ok = fs_stamp_equal(&now, stamp);
	}
	if (is_linked && !ok)
		unlink(full);
	if (ok)
		record(w, key, path, stamp->size, sha);
	err_release(&err);
	free(full);
	free(old);
	return ok;
}

static int sync_file(const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, STATUS_MACHINE, "cannot read '%s'", path);
	int rc = fsync(fd);
	/* EINVAL: a file system without fsync. */
	if (rc < 0 && errno == EINVAL)
		rc = 0;
	if (rc < 0)
		err_errno(err, STATUS_MACHINE, "cannot write '%s'", path);
	close(fd);
	return rc;
}

/*
 * Files are synced together at the end, when the kernel has had time to write
 * most of them, and each folder below once.
 */
static int sync_all(const struct bundle_writer *w, struct err *err)
{
	char *last = NULL;
	int rc = 0;
	for (size_t i = 0; i < w->nartifact && !rc; i++) {
		char *full = fs_join(w->aside, w->artifact[i].path);
		char *dir = fs_dirname(full);
		rc = sync_file(full, err);
		if (!rc && strcmp(dir, w->aside) != 0 &&
		    (!last || strcmp(dir, last) != 0))
			rc = fs_sync_dir(dir, err);
		free(full);
		free(last);
		last = dir;
	}
	free(last);
	return rc;
}

static cJSON *artifacts_json(const struct artifact *artifact, size_t n)
{
	cJSON *table = cJSON_CreateObject();
	for (size_t i = 0; i < n; i++) {
		char hex[SHA256_HEX + 1];
		cJSON *a = cJSON_AddObjectToObject(table, artifact[i].key);
		cJSON_AddStringToObject(a, "path", artifact[i].path);
		cJSON_AddNumberToObject(a, "bytes", (double)artifact[i].bytes);
		cJSON_AddStringToObject(a, "sha256", sha256_hex(&artifact[i].sha, hex));
	}
	return table;
}

/* Behind "synchronization", where format 1 has it; ours follow. */
static void add_artifacts(cJSON *json, cJSON *table)
{
	cJSON_DeleteItemFromObjectCaseSensitive(json, "artifacts");
	const cJSON *sync = cJSON_GetObjectItemCaseSensitive(json, "synchronization");
	cJSON *behind = cJSON_CreateArray();
	while (sync && sync->next)
		cJSON_AddItemToArray(behind,
		    cJSON_DetachItemViaPointer(json, sync->next));
	cJSON_AddItemToObject(json, "artifacts", table);
	while (behind->child)
		cJSON_AddItemToArray(json,
		    cJSON_DetachItemViaPointer(behind, behind->child));
	cJSON_Delete(behind);
}

int bundle_finish(struct bundle_writer *w, cJSON *json,
    int (*note)(void *data, struct err *err), void *data, struct err *err)
{
	struct buf text = BUF_INIT;
	int lock = -1;
	char *name = fs_join(w->aside, "trace.json");
	char *parent = fs_dirname(w->path);
	int rc = -1;
	add_artifacts(json, artifacts_json(w->artifact, w->nartifact));
	fields_print(json, FIELDS_INDENTED, &text);
	if (sync_all(w, err) < 0 || fs_write(name, text.data, text.len, 1, err) < 0 ||
	    fs_sync_dir(w->aside, err) < 0)
		goto out;
	lock = folder_lock(parent);
	if (bundle_check_place(w->path, w->is_on_record, err) < 0 ||
	    fs_exchange(w->aside, w->path, err) < 0)
		goto out;
	free(w->aside);
	w->aside = NULL;
	rc = note ? note(data, err) : 0;
	if (rc == 0)
		rc = fs_sync_dir(parent, err);
out:
	if (lock >= 0)
		close(lock);
	if (rc < 0) {
		err_wrap(err, "while writing the bundle '%s'", w->path);
		bundle_abandon(w);
	} else {
		release_writer(w);
	}
	buf_release(&text);
	free(name);
	free(parent);
	return rc;
}

char *bundle_stem(const char *pass_name, char *const *taken, size_t ntaken)
{
	struct buf stem = BUF_INIT;
	for (const unsigned char *p = (const unsigned char *)pass_name; *p; p++) {
		int is_kept = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
		    (*p >= '0' && *p <= '9') || *p == '_' || *p == '-';
		/* A character is replaced once, not once a byte. */
		if ((*p & 0xc0) == 0x80)
			continue;
		if (stem.len < NSTEM && (stem.len || (is_kept && *p != '-')))
			buf_addch(&stem, is_kept ? (char)*p : '-');
	}
	while (stem.len && stem.data[stem.len - 1] == '-')
		stem.data[--stem.len] = '\0';
	if (!stem.len)
		buf_addstr(&stem, "pass");
	size_t n = stem.len;
	for (unsigned k = 2;; k++) {
		size_t i = 0;
		while (i < ntaken && strcmp(taken[i], stem.data) != 0)
			i++;
		if (i == ntaken)
			return buf_detach(&stem);
		stem.len = n;
		buf_addf(&stem, "-%u", k);
	}
}

#include "format/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "util/limits.h"
#include "format/fields.h"
#include "util/buf.h"
#include "util/fs.h"
#include "util/mem.h"

#define CHUNK (64 * 1024)

void artifacts_release(struct artifact *artifact, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(artifact[i].key);
		free(artifact[i].path);
	}
	free(artifact);
}

int artifact_is_inside(const char *path)
{
	for (const char *p = path;; p++) {
		size_t n = strcspn(p, "/");
		if (!n || (n == 1 && p[0] == '.') ||
		    (n == 2 && p[0] == '.' && p[1] == '.'))
			return 0;
		p += n;
		if (!*p)
			return 1;
	}
}
/* Reading ------------------------------------------------------------------ */

/*
 * A regular file below an open folder; no part of the path may be a link.
 * Returns the descriptor, or -1 with the reason in errno (0: not a file).
 */
static int open_inside(int dir, const char *path)
{
	char *part = xstrdup(path);
	int at = dir, fd = -1, error = 0;
	for (char *p = part;;) {
		size_t n = strcspn(p, "/");
		int is_last = !p[n];
		p[n] = '\0';
		fd = openat(at, p,
		    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK |
			(is_last ? 0 : O_DIRECTORY));
		error = errno;
		if (at != dir)
			close(at);
		if (fd < 0 || is_last)
			break;
		at = fd;
		p += n + 1;
	}
	free(part);
	struct stat st;
	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		fd = -1;
		error = 0;
	}
	errno = error;
	return fd;
}

static int open_failed(const char *path, struct err *err)
{
	if (!errno)
		return err_set(err, STATUS_FAILED, "'%s' is not a file", path);
	if (errno == ELOOP)
		return err_set(err, STATUS_FAILED, "'%s' leads through a symbolic link",
		    path);
	return err_errno(err,
	    errno == ENOENT || errno == ENOTDIR ? STATUS_FAILED : STATUS_MACHINE,
	    "cannot read '%s'", path);
}

static int open_dir(const char *dir, struct err *err)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		err_errno(err, STATUS_INPUT, "cannot open the bundle '%s'", dir);
	return fd;
}

/* Feeds a file to a hash, a buffer, or both; n is what it should have. */
static int read_through(int fd, const char *path, uint64_t n, struct sha256_ctx *hash,
    struct buf *out, struct err *err)
{
	char *chunk = xmalloc(CHUNK);
	uint64_t total = 0;
	ssize_t got;
	for (;;) {
		got = read(fd, chunk, CHUNK);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		total += (uint64_t)got;
		if (total > n)
			break;
		if (hash)
			sha256_update(hash, chunk, (size_t)got);
		if (out)
			buf_add(out, chunk, (size_t)got);
	}
	if (got < 0)
		err_errno(err, STATUS_MACHINE, "cannot read '%s'", path);
	else if (total != n)
		err_set(err, STATUS_FAILED, "'%s' changed its size while it was read",
		    path);
	free(chunk);
	return got < 0 || total != n ? -1 : 0;
}

/* Size first, then the bytes, then their hash. out may be null. */
static int check_artifact(int dir, const struct artifact *a, struct buf *out,
    struct err *err)
{
	struct sha256_ctx hash = { 0 };
	struct sha256 sha;
	struct stat st;
	int rc = -1;
	int fd = open_inside(dir, a->path);
	if (fd < 0)
		return open_failed(a->path, err);
	if (fstat(fd, &st) < 0) {
		err_errno(err, STATUS_MACHINE, "cannot read '%s'", a->path);
		goto out;
	}
	if ((uint64_t)st.st_size != a->bytes) {
		err_set(err, STATUS_FAILED,
		    "'%s' has %llu bytes, but "
		    "trace.json says %llu",
		    a->path, (unsigned long long)st.st_size,
		    (unsigned long long)a->bytes);
		goto out;
	}
	if (out) {
		if (a->bytes > LIMIT_ARTIFACT_BYTES) {
			err_set(err, STATUS_INPUT,
			    "'%s' has more than %llu bytes, the limit", a->path,
			    (unsigned long long)LIMIT_ARTIFACT_BYTES);
			goto out;
		}
		buf_reserve(out, (size_t)a->bytes);
	}
	sha256_init(&hash);
	if (read_through(fd, a->path, a->bytes, &hash, out, err) < 0)
		goto out;
	sha256_final(&hash, &sha);
	if (!sha256_equal(&sha, &a->sha)) {
		err_set(err, STATUS_FAILED,
		    "'%s' does not have the SHA-256 that trace.json says", a->path);
		goto out;
	}
	rc = 0;
out:
	sha256_ctx_release(&hash);
	close(fd);
	return rc;
}

static int read_artifacts(const struct fields *root, struct bundle *out)
{
	const cJSON *table = NULL;
	size_t cap = 0;
	if (fields_container(root, "artifacts", 1, DOC_TABLE, &table) < 0)
		return -1;
	struct fields f = { .doc = root->doc, .err = root->err };
	for (const cJSON *c = table->child; c; c = c->next) {
		const char *path = NULL, *hex = NULL;
		long long bytes;
		struct sha256 sha;
		snprintf(f.where, sizeof f.where, "artifacts.%s", c->string);
		f.object = c;
		if (!cJSON_IsObject(c))
			return fields_fail(&f, c, NULL, "it must be an object");
		if (fields_string(&f, "path", 1, &path) < 0 ||
		    fields_string(&f, "sha256", 1, &hex) < 0 ||
		    fields_int(&f, "bytes", 1, 0, LLONG_MAX, &bytes) < 0)
			return -1;
		if (!artifact_is_inside(path))
			return fields_fail(&f, fields_get(&f, "path", 1), "path",
			    "'%.200s' leads out of the bundle", path);
		if (sha256_parse(hex, &sha) < 0)
			return fields_fail(&f, fields_get(&f, "sha256", 1), "sha256",
			    "expected 64 hexadecimal digits");
		out->artifact = array_grow(out->artifact, out->nartifact, &cap,
		    sizeof *out->artifact);
		out->artifact[out->nartifact++] = (struct artifact){
			.key = xstrdup(c->string),
			.path = xstrdup(path),
			.bytes = (uint64_t)bytes,
			.sha = sha,
		};
	}
	return 0;
}

/* A table whose values are all strings. */
static int check_strings(const struct fields *f, const char *key, int needed)
{
	const cJSON *table = NULL;
	if (fields_container(f, key, needed, DOC_TABLE, &table) < 0)
		return -1;
	for (const cJSON *c = table ? table->child : NULL; c; c = c->next)
		if (!cJSON_IsString(c))
			return fields_fail(f, c, key, "'%.64s' must be a string",
			    c->string);
	return 0;
}

/* Calls check for each object of a list. */
static int check_list(const struct fields *root, const char *key,
    int (*check)(const struct fields *f))
{
	const cJSON *list = NULL;
	size_t i = 0;
	if (fields_container(root, key, 1, DOC_ARRAY, &list) < 0)
		return -1;
	struct fields f = { .doc = root->doc, .err = root->err };
	for (const cJSON *c = list->child; c; c = c->next, i++) {
		snprintf(f.where, sizeof f.where, "%s[%zu]", key, i);
		f.object = c;
		if (!cJSON_IsObject(c))
			return fields_fail(&f, c, NULL, "it must be an object");
		if (check(&f) < 0)
			return -1;
	}
	return 0;
}

static int check_timing(const struct fields *f)
{
	const char *name;
	long long size;
	double ns;
	if (fields_string(f, "name", 1, &name) < 0 ||
	    fields_int(f, "width", 1, 0, INT_MAX, &size) < 0 ||
	    fields_int(f, "height", 1, 0, INT_MAX, &size) < 0)
		return -1;
	return fields_number(f, "gpu_nanoseconds", 1, 0, 1e18, &ns);
}

static int check_diagnostic(const struct fields *f)
{
	const char *s;
	if (fields_string(f, "level", 1, &s) < 0 || fields_string(f, "code", 1, &s) < 0)
		return -1;
	return fields_string(f, "message", 1, &s);
}

static int read_trace(const struct fields *f, struct bundle *out)
{
	static const char *const table[] = {
		"uniforms",
		"resolved_manifest",
		"synchronization",
	};
	long long format, width, height, frame;
	const cJSON *item = NULL;
	if (fields_int(f, "format", 1, 1, 1, &format) < 0 ||
	    fields_string(f, "cli_version", 1, &out->cli_version) < 0 ||
	    fields_string(f, "project", 1, &out->project) < 0 ||
	    fields_int(f, "width", 1, 1, LIMIT_SIZE, &width) < 0 ||
	    fields_int(f, "height", 1, 1, LIMIT_SIZE, &height) < 0 ||
	    fields_int(f, "frame", 1, 0, INT_MAX, &frame) < 0 ||
	    fields_number(f, "fps", 1, 0, LIMIT_FPS, &out->fps) < 0 ||
	    fields_number(f, "time", 1, 0, 1e300, &out->time) < 0)
		return -1;
	if (out->fps == 0)
		return fields_fail(f, fields_get(f, "fps", 1), "fps",
		    "'fps' must be greater than 0");
	item = fields_get(f, "preset", 0);
	if (item && !cJSON_IsNull(item) &&
	    fields_string(f, "preset", 1, &out->preset) < 0)
		return -1;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		if (fields_container(f, table[i], 1, DOC_TABLE, &item) < 0)
			return -1;
	/* A writer whose snapshot failed has none. */
	item = fields_get(f, "state_header", 1);
	if (!item ||
	    (!cJSON_IsNull(item) &&
		fields_container(f, "state_header", 1, DOC_TABLE, &item) < 0))
		return -1;
	if (check_strings(f, "source_sha256", 1) < 0 ||
	    check_strings(f, "asset_sha256", 1) < 0 || check_strings(f, "keys", 0) < 0 ||
	    check_strings(f, "inputs", 0) < 0 ||
	    check_list(f, "pass_timings", check_timing) < 0 ||
	    check_list(f, "graph_diagnostics", check_diagnostic) < 0)
		return -1;
	out->width = (int)width;
	out->height = (int)height;
	out->frame = (int)frame;
	out->tool = fields_get(f, "tool", 0);
	return read_artifacts(f, out);
}

/* Reads trace.json of the bundle at a path; *dir is the folder. */
static int read_document(const char *path, char **out_dir, struct doc *doc,
    struct err *err)
{
	struct buf text = BUF_INIT;
	struct stat st;
	char *name = NULL;
	int dir = -1, fd = -1, rc = -1;
	*out_dir = NULL;
	if (fs_is_dir(path)) {
		*out_dir = xstrdup(path);
	} else if (strcmp(fs_basename(path), "trace.json") == 0) {
		*out_dir = fs_dirname(path);
	} else if (fs_exists(path)) {
		err_set(err, STATUS_INPUT,
		    "'%s' is neither a .sttrace folder nor its trace.json", path);
		goto out;
	} else {
		err_errno(err, STATUS_INPUT, "cannot open the bundle '%s'", path);
		goto out;
	}
	name = fs_join(*out_dir, "trace.json");
	dir = open_dir(*out_dir, err);
	if (dir < 0)
		goto out;
	fd = open_inside(dir, "trace.json");
	if (fd < 0 || fstat(fd, &st) < 0) {
		open_failed(name, err);
		err->status = STATUS_INPUT;
		goto out;
	}
	if (st.st_size > (off_t)LIMIT_TRACE_BYTES) {
		err_set(err, STATUS_INPUT, "'%s' has more than %u bytes, the limit", name,
		    LIMIT_TRACE_BYTES);
		goto out;
	}
	if (read_through(fd, name, (uint64_t)st.st_size, NULL, &text, err) < 0 ||
	    json_read(name, buf_str(&text), text.len, JSON_PLAIN, doc, err) < 0)
		goto out;
	if (!cJSON_IsObject(doc->root)) {
		struct fields f = { .doc = doc, .object = doc->root, .err = err };
		fields_fail(&f, doc->root, NULL, "it must be an object");
		goto out;
	}
	rc = 0;
out:
	buf_release(&text);
	free(name);
	if (fd >= 0)
		close(fd);
	if (dir >= 0)
		close(dir);
	return rc;
}

int bundle_open(const char *path, struct bundle *out, struct err *err)
{
	struct doc doc = { 0 };
	int rc = -1;
	*out = (struct bundle){ 0 };
	if (read_document(path, &out->dir, &doc, err) < 0)
		goto out;
	struct fields f = { .doc = &doc, .object = doc.root, .err = err };
	if (read_trace(&f, out) < 0)
		goto out;
	out->json = doc.root;
	doc.root = NULL;
	rc = 0;
out:
	if (rc < 0)
		bundle_release(out);
	doc_release(&doc);
	return rc;
}

/* Length of the JSON value at p, which has been read without a fault. */
static size_t value_length(const char *p)
{
	size_t n = 0;
	int depth = 0, is_string = 0;
	for (;; n++) {
		if (is_string) {
			n += p[n] == '\\';
			is_string = p[n] != '"';
			if (!is_string && !depth)
				return n + 1;
		} else if (p[n] == '"') {
			is_string = 1;
		} else if (p[n] == '{' || p[n] == '[') {
			depth++;
		} else if (p[n] == '}' || p[n] == ']') {
			if (!depth)
				return n;
			if (!--depth)
				return n + 1;
		} else if (!depth && strchr(", \t\r\n", p[n])) {
			return n;
		}
	}
}

int bundle_set_git(const char *path, const cJSON *git, struct err *err)
{
	struct doc doc = { 0 };
	struct buf section = BUF_INIT, text = BUF_INIT;
	char *dir = NULL, *name = NULL;
	int rc = read_document(path, &dir, &doc, err);
	if (rc < 0)
		goto out;
	const cJSON *old = cJSON_GetObjectItemCaseSensitive(doc.root, "git");
	name = fs_join(dir, "trace.json");
	if (!old) {
		rc = err_set(err, STATUS_INPUT, "'%s' has no git section", name);
		goto out;
	}
	size_t at = doc_mark(&doc, old)->raw;
	size_t end = at + value_length(doc.text + at);
	fields_print(git, FIELDS_INDENTED, &section);
	buf_add(&text, doc.text, at);
	for (size_t i = 0; i + 1 < section.len; i++) {
		buf_addch(&text, section.data[i]);
		if (section.data[i] == '\n')
			buf_addch(&text, '\t'); /* it is one level down */
	}
	buf_add(&text, doc.text + end, doc.ntext - end);
	rc = fs_write(name, text.data, text.len, 1, err);
out:
	buf_release(&section);
	buf_release(&text);
	doc_release(&doc);
	free(name);
	free(dir);
	return rc;
}

void bundle_release(struct bundle *b)
{
	artifacts_release(b->artifact, b->nartifact);
	cJSON_Delete(b->json);
	free(b->dir);
	*b = (struct bundle){ 0 };
}

const struct artifact *bundle_artifact(const struct bundle *b, const char *key)
{
	for (size_t i = 0; i < b->nartifact; i++)
		if (strcmp(b->artifact[i].key, key) == 0)
			return &b->artifact[i];
	return NULL;
}

int bundle_verify(const struct bundle *b, struct errs *errs)
{
	struct err err = ERR_INIT;
	size_t start = errs->nerr;
	int dir = open_dir(b->dir, &err);
	if (dir < 0) {
		errs_take(errs, &err);
		return -1;
	}
	for (size_t i = 0; i < b->nartifact; i++) {
		if (check_artifact(dir, &b->artifact[i], NULL, &err) == 0)
			continue;
		err_wrap(&err, "in the bundle '%s'", b->dir);
		err_place(&err, NULL, 0, 0, b->artifact[i].key);
		errs_take(errs, &err);
	}
	close(dir);
	return errs->nerr > start ? -1 : 0;
}

int bundle_read(const struct bundle *b, const char *key, struct buf *out, struct err *err)
{
	const struct artifact *a = bundle_artifact(b, key);
	if (!a)
		return err_set(err, STATUS_INPUT, "the bundle '%s' has no artifact '%s'",
		    b->dir, key);
	size_t start = out->len;
	int dir = open_dir(b->dir, err);
	if (dir < 0)
		return -1;
	int rc = check_artifact(dir, a, out, err);
	close(dir);
	if (rc < 0) {
		err_wrap(err, "in the bundle '%s'", b->dir);
		out->len = start;
		if (out->data)
			out->data[start] = '\0';
	}
	return rc;
}
/* Ids ---------------------------------------------------------------------- */

static void hash_count(struct sha256_ctx *h, char tag, uint64_t n)
{
	unsigned char b[9] = { (unsigned char)tag };
	for (int i = 0; i < 8; i++)
		b[i + 1] = (unsigned char)(n >> i * 8);
	sha256_update(h, b, sizeof b);
}

static void hash_string(struct sha256_ctx *h, const char *s)
{
	size_t n = strlen(s);
	hash_count(h, 's', n);
	sha256_update(h, s, n);
}

static int by_key(const void *a, const void *b)
{
	const cJSON *const *x = a, *const *y = b;
	return strcmp((*x)->string, (*y)->string);
}

static const char *const trace_skip[] = {
	"artifacts",
	"git",
	"pass_timings",
	NULL,
};
static const char *const manifest_skip[] = {
	"trace",
	"test",
	"store",
	"project",
	NULL,
};

static int is_listed(const char *key, const char *const *list)
{
	for (; list && *list; list++)
		if (strcmp(key, *list) == 0)
			return 1;
	return 0;
}

/* Independent of the order of keys, and of how numbers are written. */
static void hash_json(struct sha256_ctx *h, const cJSON *json, const char *const *skip)
{
	if (cJSON_IsObject(json)) {
		const cJSON **item = NULL;
		size_t n = 0, cap = 0;
		for (const cJSON *c = json->child; c; c = c->next) {
			if (is_listed(c->string, skip))
				continue;
			item = array_grow(item, n, &cap, sizeof *item);
			item[n++] = c;
		}
		if (n)
			qsort(item, n, sizeof *item, by_key);
		hash_count(h, 'o', n);
		for (size_t i = 0; i < n; i++) {
			hash_string(h, item[i]->string);
			hash_json(h, item[i],
			    skip == trace_skip &&
				    strcmp(item[i]->string, "resolved_manifest") == 0
				? manifest_skip
				: NULL);
		}
		free(item);
	} else if (cJSON_IsArray(json)) {
		uint64_t n = 0;
		for (const cJSON *c = json->child; c; c = c->next)
			n++;
		hash_count(h, 'a', n);
		for (const cJSON *c = json->child; c; c = c->next)
			hash_json(h, c, NULL);
	} else if (cJSON_IsString(json)) {
		hash_string(h, json->valuestring);
	} else if (cJSON_IsNumber(json)) {
		/* -0 and 0 are one number. */
		double v = json->valuedouble == 0 ? 0 : json->valuedouble;
		uint64_t bits;
		memcpy(&bits, &v, sizeof bits);
		hash_count(h, 'n', bits);
	} else {
		hash_count(h,
		    cJSON_IsTrue(json)        ? 't'
			: cJSON_IsFalse(json) ? 'f'
					      : '0',
		    0);
	}
}

static int by_artifact_key(const void *a, const void *b)
{
	const struct artifact *const *x = a, *const *y = b;
	return strcmp((*x)->key, (*y)->key);
}

/* All of them, in the order of keys, but for one key. */
static void hash_artifacts(struct sha256_ctx *h, const struct artifact *artifact,
    size_t nartifact, const char *skip)
{
	const struct artifact **sorted = xcalloc(nartifact + 1, sizeof *sorted);
	size_t n = 0;
	for (size_t i = 0; i < nartifact; i++)
		if (!skip || strcmp(artifact[i].key, skip) != 0)
			sorted[n++] = &artifact[i];
	qsort(sorted, n, sizeof *sorted, by_artifact_key);
	hash_count(h, 'A', n);
	for (size_t i = 0; i < n; i++) {
		hash_string(h, sorted[i]->key);
		hash_string(h, sorted[i]->path);
		hash_count(h, 'b', sorted[i]->bytes);
		sha256_update(h, sorted[i]->sha.byte, SHA256_SIZE);
	}
	free(sorted);
}

void bundle_stable_id(const cJSON *json, const struct artifact *artifact,
    size_t nartifact, struct sha256 *out)
{
	struct sha256_ctx h = { 0 };
	sha256_init(&h);
	hash_string(&h, "stbuild bundle stable 1");
	hash_artifacts(&h, artifact, nartifact, NULL);
	hash_json(&h, json, trace_skip);
	sha256_final(&h, out);
	sha256_ctx_release(&h);
}

void bundle_content_id(const struct artifact *artifact, size_t nartifact,
    struct sha256 *out)
{
	struct sha256_ctx h = { 0 };
	sha256_init(&h);
	hash_string(&h, "stbuild bundle content 1");
	hash_artifacts(&h, artifact, nartifact, "project_sttf");
	sha256_final(&h, out);
	sha256_ctx_release(&h);
}

#include "capture/unchanged.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/limits.h"
#include "render/stamp.h"
#include "util/buf.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/pool.h"
#include "util/proc.h"
#include "vcs/repo.h"

/*
 * Form: magic, SHA-256 of the rest, then HEAD's id (41 bytes), the driver's
 * stamp (32), u32 count of mapped files and their paths, u32 count of inputs
 * (u8 enum record_kind, path, stamp), u32 count of outputs (path, stamp), u32 count
 * of bundles (name, u32 frame, path). A string is u32 length, bytes, NUL; a
 * stamp five u64. Little-endian.
 */
static const char magic[8] = "STBRUN2\n";

enum record_kind {
	RECORD_FILE,
	RECORD_ABSENT, /* not even a link that leads nowhere */
	RECORD_LINK    /* on the way to a file: the stamp is its own */
};

#define YOUNG_NS INT64_C(2000000000) /* younger stamps are not trusted */
#define THREAD_OUTPUTS 2000          /* from here on, threads are worth their start */
#define RECORD_MAX (256u << 20)

static char *record_path(const struct unchanged_request *r)
{
	char hex[SHA256_HEX + 1];

	return xasprintf("%s/runs/%s", r->store_dir, sha256_hex(&r->id, hex));
}

/* Reading ------------------------------------------------------------------------ */

struct cursor {
	const char *p;
	size_t left;
	int is_bad;
};

static const char *take(struct cursor *c, size_t n)
{
	const char *p = c->p;

	if (c->is_bad || n > c->left) {
		c->is_bad = 1;
		return NULL;
	}
	c->p += n;
	c->left -= n;
	return p;
}

static uint32_t take_u32(struct cursor *c)
{
	const char *p = take(c, 4);

	return p ? get_u32le(p) : 0;
}

static const char *take_string(struct cursor *c)
{
	uint32_t n = take_u32(c);
	const char *p = take(c, (size_t)n + 1);

	if (p && p[n] == '\0')
		return p;
	c->is_bad = 1;
	return "";
}

static void take_stamp(struct cursor *c, struct fs_stamp *out)
{
	const char *p = take(c, 40);

	memset(out, 0, sizeof *out);
	if (!p)
		return;
	out->dev = get_u64le(p);
	out->ino = get_u64le(p + 8);
	out->size = get_u64le(p + 16);
	out->mtime_ns = (int64_t)get_u64le(p + 24);
	out->ctime_ns = (int64_t)get_u64le(p + 32);
}

/* The path below the root, in scratch when it has to be joined. */
static const char *below(const char *root, const char *path, struct buf *scratch)
{
	if (path[0] == '/' || strcmp(root, ".") == 0)
		return path;
	buf_reset(scratch);
	buf_addstr(scratch, root);
	buf_addch(scratch, '/');
	buf_addstr(scratch, path);
	return buf_str(scratch);
}

static int driver_holds(struct cursor *c, const char *device)
{
	const char *recorded = take(c, SHA256_SIZE);
	uint32_t n = take_u32(c);
	struct sha256 stamp;

	if (c->is_bad || n > c->left / 5)
		return 0;
	char **mapped = xcalloc((size_t)n + 1, sizeof *mapped);
	for (uint32_t i = 0; i < n; i++)
		mapped[i] = (char *)take_string(c);
	if (!c->is_bad)
		stamp_of(mapped, n, device, &stamp);
	free(mapped);
	return !c->is_bad && memcmp(stamp.byte, recorded, SHA256_SIZE) == 0;
}

/* What is to be seen at a path, by the kind of its entry: 0 or -1. */
static int look_at(enum record_kind kind, const char *path, struct fs_stamp *out)
{
	struct stat st;

	if ((kind == RECORD_FILE ? stat(path, &st) : lstat(path, &st)) != 0)
		return -1;
	fs_stamp_of(&st, out);
	return kind == RECORD_LINK && !S_ISLNK(st.st_mode) ? -1 : 0;
}

static int inputs_hold(struct cursor *c, const char *root)
{
	struct buf scratch = BUF_INIT;
	uint32_t n = take_u32(c);
	int ok = 1;

	for (uint32_t i = 0; i < n && ok; i++) {
		const char *kind = take(c, 1);
		const char *path = take_string(c);
		struct fs_stamp then, now;
		take_stamp(c, &then);
		if (c->is_bad)
			break;
		int is_there = look_at((enum record_kind) * kind,
				   below(root, path, &scratch), &now) == 0;
		ok = *kind == RECORD_ABSENT ? !is_there
					    : is_there && fs_stamp_equal(&then, &now);
	}
	buf_release(&scratch);
	return ok && !c->is_bad;
}

struct output {
	const char *path;
	struct fs_stamp stamp;
};

/* A run of outputs for one thread. */
struct chunk {
	struct pool_job job;
	const struct output *output;
	size_t n;
	const char *root;
	int holds;
};

static void check_chunk(struct pool_job *job)
{
	struct chunk *c = job->data;
	struct buf scratch = BUF_INIT;

	c->holds = 1;
	for (size_t i = 0; i < c->n && c->holds; i++) {
		struct fs_stamp now;
		struct stat st;
		c->holds = lstat(below(c->root, c->output[i].path, &scratch), &st) == 0 &&
		    S_ISREG(st.st_mode);
		if (c->holds) {
			fs_stamp_of(&st, &now);
			c->holds = fs_stamp_equal(&c->output[i].stamp, &now);
		}
	}
	buf_release(&scratch);
}

/* Few are looked at here; many by as many threads as there are processors. */
static int check_outputs(const struct output *output, size_t n, const char *root)
{
	int nchunk = n > THREAD_OUTPUTS ? proc_ncpu() : 1;
	struct chunk *chunk = xcalloc((size_t)nchunk, sizeof *chunk);
	struct pool *pool = nchunk > 1 ? pool_new(nchunk - 1) : NULL;
	int holds = 1;

	for (int i = 0; i < nchunk; i++) {
		size_t from = n * (size_t)i / (size_t)nchunk;
		size_t to = n * (size_t)(i + 1) / (size_t)nchunk;
		chunk[i] = (struct chunk){ { check_chunk, &chunk[i], NULL },
			output + from, to - from, root, 0 };
		if (i > 0)
			pool_add(pool, &chunk[i].job);
	}
	check_chunk(&chunk[0].job);
	if (pool)
		pool_free(pool);
	for (int i = 0; i < nchunk; i++)
		holds &= chunk[i].holds;
	free(chunk);
	return holds;
}

static int outputs_hold(struct cursor *c, const char *root)
{
	uint32_t n = take_u32(c);

	if (c->is_bad || n > c->left / 45)
		return 0;
	struct output *output = xcalloc((size_t)n + 1, sizeof *output);
	for (uint32_t i = 0; i < n && !c->is_bad; i++) {
		output[i].path = take_string(c);
		take_stamp(c, &output[i].stamp);
	}
	int ok = !c->is_bad && check_outputs(output, n, root);
	free(output);
	return ok;
}

static int take_bundles(struct cursor *c, struct capture_result *result)
{
	uint32_t n = take_u32(c);

	if (c->is_bad || n > c->left / 12)
		return 0;
	result->bundle = xcalloc((size_t)n + 1, sizeof *result->bundle);
	for (; result->nbundle < n && !c->is_bad; result->nbundle++) {
		struct capture_bundle *b = &result->bundle[result->nbundle];
		b->name = xstrdup(take_string(c));
		b->frame = (int)take_u32(c);
		b->path = xstrdup(take_string(c));
		b->status = CAPTURE_CURRENT;
	}
	result->counts.traces_current = n;
	return !c->is_bad && c->left == 0;
}

/* The record's bytes behind its hash, which must be right. */
static int open_record(const struct unchanged_request *r, struct buf *file,
    struct cursor *c)
{
	char *path = record_path(r);
	struct err err = ERR_INIT;
	struct sha256 sha;
	size_t head = sizeof magic + SHA256_SIZE;
	int ok = fs_exists(path) && fs_read(path, RECORD_MAX, file, &err) == 0;

	free(path);
	err_release(&err);
	if (!ok || file->len < head || memcmp(file->data, magic, sizeof magic) != 0)
		return 0;
	sha256_of(file->data + head, file->len - head, &sha);
	*c = (struct cursor){ file->data + head, file->len - head, 0 };
	return memcmp(sha.byte, file->data + sizeof magic, SHA256_SIZE) == 0;
}

int unchanged_check(const struct unchanged_request *r, struct capture_result *result)
{
	struct buf file = BUF_INIT;
	struct cursor c;
	char head[41] = "";

	memset(result, 0, sizeof *result);
	int ok = open_record(r, &file, &c);
	if (ok) {
		const char *recorded = take(&c, sizeof head);
		repo_peek_id(r->root, head);
		ok = recorded && strncmp(recorded, head, sizeof head) == 0 &&
		    driver_holds(&c, r->device) && inputs_hold(&c, r->root) &&
		    outputs_hold(&c, r->root) && take_bundles(&c, result);
	}
	if (!ok)
		capture_result_release(result);
	buf_release(&file);
	return ok;
}

/* Writing ------------------------------------------------------------------------- */

static void add_string(struct buf *out, const char *s)
{
	size_t n = strlen(s);

	buf_u32le(out, (uint32_t)n);
	buf_add(out, s, n + 1);
}

static void add_stamp(struct buf *out, const struct fs_stamp *s)
{
	buf_u64le(out, s->dev);
	buf_u64le(out, s->ino);
	buf_u64le(out, s->size);
	buf_u64le(out, (uint64_t)s->mtime_ns);
	buf_u64le(out, (uint64_t)s->ctime_ns);
}

static int is_young(const struct fs_stamp *s, int64_t now_ns)
{
	return s->mtime_ns > now_ns - YOUNG_NS || s->ctime_ns > now_ns - YOUNG_NS;
}

static void add_driver(struct buf *out, const struct driver_row *driver)
{
	struct buf list = BUF_INIT;
	uint32_t n = 0;

	buf_add(out, driver->stamp.byte, SHA256_SIZE);
	for (const char *p = driver->mapped; p && *p;) {
		size_t len = strcspn(p, "\n");
		buf_u32le(&list, (uint32_t)len);
		buf_add(&list, p, len);
		buf_addch(&list, '\0');
		n++;
		p += len + (p[len] == '\n');
	}
	buf_u32le(out, n);
	buf_add(out, list.data, list.len);
	buf_release(&list);
}

/* The entries of inputs as they are made. */
struct entries {
	const char *root;
	const struct tree_cache *cache;
	int64_t started_ns;
	struct buf list;
	uint32_t n;
	struct map seen; /* prefixes of paths */
	int ok;
};

static void add_entry(struct entries *e, enum record_kind kind, const char *path,
    const struct fs_stamp *stamp)
{
	buf_addch(&e->list, (char)kind);
	add_string(&e->list, path);
	add_stamp(&e->list, stamp);
	e->n++;
	e->ok &= kind == RECORD_ABSENT || !is_young(stamp, e->started_ns);
}

#define LINKS_MAX 40 /* a way, as in the kernel */

/* The links on the way along a path, and on the ways that they lead. */
static void add_links(struct entries *e, const char *path, int depth)
{
	char *part = xstrdup(path);

	for (char *p = part; *p && e->ok && depth < LINKS_MAX;) {
		struct fs_stamp stamp;
		char to[4096];
		p += strspn(p, "/");
		p += strcspn(p, "/");
		char end = *p;
		*p = '\0';
		char *full = fs_join(e->root, part);
		int is_new = map_puts(&e->seen, part, 1);
		if (is_new && look_at(RECORD_LINK, full, &stamp) == 0) {
			add_entry(e, RECORD_LINK, part, &stamp);
			ssize_t n = readlink(full, to, sizeof to - 1);
			to[n > 0 ? n : 0] = '\0';
			char *dir = fs_dirname(part);
			char *next = fs_join(dir, to);
			e->ok &= n > 0;
			add_links(e, next, depth + 1);
			free(next);
			free(dir);
		}
		free(full);
		*p = end;
	}
	free(part);
}

/* 1 when a stamp is that of the bytes that the run took the file for. */
static int is_what_was_read(const struct entries *e, const struct fs_stamp *stamp,
    const struct sha256 *sha)
{
	struct sha256 known;

	return e->cache->get(e->cache->data, stamp, &known) == 0 &&
	    sha256_equal(&known, sha);
}

static void add_input(struct entries *e, const struct input *in)
{
	enum record_kind kind = in->is_absent ? RECORD_ABSENT : RECORD_FILE;
	char *full = fs_join(e->root, in->path);
	struct fs_stamp now = { 0 };
	int is_there = look_at(kind, full, &now) == 0;

	e->ok &= is_there == !in->is_absent &&
	    (!is_there || is_what_was_read(e, &now, &in->sha));
	add_links(e, in->path, 0);
	add_entry(e, kind, in->path, &now);
	free(full);
}

/* What was spelt with "..": its links, and whether a file stands there. */
static void add_probe(struct entries *e, const char *path)
{
	char *full = fs_join(e->root, path);
	struct fs_stamp now = { 0 };
	int is_there = look_at(RECORD_FILE, full, &now) == 0;

	add_links(e, path, 0);
	if (!is_there)
		e->ok &= look_at(RECORD_ABSENT, full, &now) != 0;
	if (!is_there || !fs_is_dir(full))
		add_entry(e, is_there ? RECORD_FILE : RECORD_ABSENT, path, &now);
	free(full);
}

static int add_inputs(struct buf *out, const char *root, struct store *store,
    const struct inputs *inputs, int64_t started_ns)
{
	struct entries e = { root, store_stat_cache(store), started_ns, BUF_INIT, 0,
		MAP_INIT, !inputs->changed };

	for (size_t i = 0; i < inputs->ninput && e.ok; i++)
		add_input(&e, &inputs->input[i]);
	for (size_t i = 0; i < inputs->nprobe && e.ok; i++)
		add_probe(&e, inputs->probe[i]);
	buf_u32le(out, e.n);
	buf_add(out, e.list.data, e.list.len);
	map_release(&e.seen);
	buf_release(&e.list);
	return e.ok;
}

/* Every recorded file of every bundle, with the stamp it was judged by. */
static int add_outputs(struct buf *out, struct store *store,
    const struct capture_result *result, int64_t started_ns)
{
	struct buf list = BUF_INIT;
	uint32_t n = 0;
	int ok = 1;

	for (size_t b = 0; b < result->nbundle && ok; b++) {
		struct bundle_row row;
		if (!store_bundle(store, result->bundle[b].path, &row)) {
			ok = 0;
			break;
		}
		/* Another run may have written it anew since. */
		ok = sha256_equal(&row.inputs_id, &result->bundle[b].inputs_id);
		for (size_t f = 0; f < row.nfile && ok; f++) {
			char *path = *row.file[f].path == '\0'
			    ? xstrdup(row.path)
			    : fs_join(row.path, row.file[f].path);
			ok = !is_young(&row.file[f].stamp, started_ns);
			add_string(&list, path);
			add_stamp(&list, &row.file[f].stamp);
			n++;
			free(path);
		}
		bundle_row_release(&row);
	}
	buf_u32le(out, n);
	buf_add(out, list.data, list.len);
	buf_release(&list);
	return ok;
}

void unchanged_record(const struct unchanged_request *r, struct store *store,
    const struct driver_row *driver, const char head[41], int64_t started_ns,
    const struct inputs *inputs, const struct capture_result *result)
{
	struct buf body = BUF_INIT, file = BUF_INIT;
	struct err err = ERR_INIT;
	struct sha256 sha;
	char id[41] = "";

	/* A run that was interrupted may not have looked at everything. */
	if (result->signal != 0)
		return;
	for (size_t b = 0; b < result->nbundle; b++)
		if (result->bundle[b].status != CAPTURE_CURRENT)
			return;
	repo_peek_id(r->root, id);
	if (strncmp(id, head, sizeof id) != 0)
		return;
	memcpy(id, head, sizeof id);
	buf_add(&body, id, sizeof id);
	add_driver(&body, driver);
	if (!add_inputs(&body, r->root, store, inputs, started_ns) ||
	    !add_outputs(&body, store, result, started_ns))
		goto out;
	buf_u32le(&body, (uint32_t)result->nbundle);
	for (size_t b = 0; b < result->nbundle; b++) {
		add_string(&body, result->bundle[b].name);
		buf_u32le(&body, (uint32_t)result->bundle[b].frame);
		add_string(&body, result->bundle[b].path);
	}
	sha256_of(body.data, body.len, &sha);
	buf_add(&file, magic, sizeof magic);
	buf_add(&file, sha.byte, SHA256_SIZE);
	buf_add(&file, body.data, body.len);
	char *dir = fs_join(r->store_dir, "runs");
	char *path = record_path(r);
	if (fs_mkdirs(dir, &err) == 0 &&
	    fs_write(path, file.data, file.len, 0, &err) == 0)
		err_release(&err);
	free(path);
	free(dir);
out:
	err_release(&err);
	buf_release(&body);
	buf_release(&file);
}

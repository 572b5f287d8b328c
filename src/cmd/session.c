#include "cmd/session.h"

#include <string.h>
#include <unistd.h>

#include "render/stamp.h"
#include "util/buf.h"
#include "util/folder.h"
#include "util/fs.h"
#include "util/log.h"
#include "util/mem.h"

/* The store's hash cache, which may not be open yet, as the tree wants it. */
static int cached_hash(void *data, const struct fs_stamp *stamp, struct sha256 *out)
{
	struct session *s = data;
	if (!s->store)
		return -1;
	const struct tree_cache *cache = store_stat_cache(s->store);
	return cache && cache->get ? cache->get(cache->data, stamp, out) : -1;
}

static void cache_hash(void *data, const struct fs_stamp *stamp, const struct sha256 *sha)
{
	struct session *s = data;
	if (!s->store)
		return;
	const struct tree_cache *cache = store_stat_cache(s->store);
	if (cache && cache->put)
		cache->put(cache->data, stamp, sha);
}

static int open_tree(struct session *s, struct err *err)
{
	s->cache = (struct tree_cache){ cached_hash, cache_hash, s };
	return tree_open_dir(s->root, &s->cache, &s->tree, err);
}

static int is_same_folder(const char *a, const char *b)
{
	struct stat sa, sb;
	return !stat(a, &sa) && !stat(b, &sb) && sa.st_dev == sb.st_dev &&
	    sa.st_ino == sb.st_ino;
}

/* A repository's root: ".git" is a file in worktrees, and bare ones have none. */
static int is_repository(const char *dir)
{
	char *git = fs_join(dir, ".git");
	char *head = fs_join(dir, "HEAD");
	char *objects = fs_join(dir, "objects");
	int is_it = fs_exists(git) || (fs_exists(head) && fs_is_dir(objects));
	free(git);
	free(head);
	free(objects);
	return is_it;
}

static char *parent_of(const char *dir)
{
	return strcmp(dir, ".") ? xasprintf("%s/..", dir) : xstrdup("..");
}

/* Looks in the current folder, then upwards. */
static int search(struct session *s, struct err *err)
{
	s->root = xstrdup(".");
	for (;;) {
		if (open_tree(s, err) < 0 || manifest_find(s->tree, &s->path, err) < 0)
			return -1;
		if (s->path)
			return 0;
		char *parent = parent_of(s->root);
		int is_last = is_repository(s->root) || is_same_folder(s->root, parent);
		if (is_last) {
			free(parent);
			return err_set(err, STATUS_INPUT,
			    "no stbuild.json, "
			    "stbuild.toml or ShaderToy.toml in this folder "
			    "or above; 'stbuild init' writes one");
		}
		tree_free(s->tree);
		s->tree = NULL;
		free(s->root);
		s->root = parent;
	}
}

static void start(struct session *s, struct options *o, const char *command,
    enum session_store use)
{
	memset(s, 0, sizeof *s);
	s->options = o;
	s->command = command;
	s->use = use;
}

void session_bare(struct session *s, struct options *o, const char *command)
{
	start(s, o, command, SESSION_USE);
	s->store_dir = xstrdup("");
}

int session_find(struct session *s, struct options *o, const char *command,
    enum session_store use, struct err *err)
{
	start(s, o, command, use);
	if (o->file) {
		if (fs_is_dir(o->file))
			return err_set(err, STATUS_INPUT,
			    "'%s' is a folder, "
			    "not a manifest (use -C to go there)",
			    o->file);
		if (!fs_exists(o->file))
			return err_set(err, STATUS_INPUT, "manifest '%s' does not exist",
			    o->file);
		s->root = fs_dirname(o->file);
		s->path = xstrdup(fs_basename(o->file));
		if (open_tree(s, err) < 0)
			return -1;
	} else if (search(s, err) < 0) {
		return -1;
	}
	s->store_dir = o->store ? xstrdup(o->store) : fs_join(s->root, ".stbuild");
	return 0;
}

int session_open(struct session *s, struct options *o, const char *command,
    enum session_store use, struct err *err)
{
	return session_find(s, o, command, use, err) < 0 ? -1 : session_load(s, err);
}

int session_load(struct session *s, struct err *err)
{
	/* An existing store saves the hashing; a new one waits for success. */
	struct store *store;
	if (fs_exists(s->store_dir) && session_store(s, &store, err) < 0)
		return -1;
	struct errs errs = ERRS_INIT;
	if (manifest_load(s->tree, s->path, &s->inputs, &s->manifest, &errs) < 0)
		return errors_end(s->options, &errs, err);
	s->has_manifest = 1;
	errs_release(&errs);
	return 0;
}

/* The hash cache for blobs of commits. */
static int cached_blob(void *data, const unsigned char oid[20], struct sha256 *out)
{
	struct session *s = data;
	return s->store && store_blob(s->store, oid, out) ? 0 : -1;
}

static void cache_blob(void *data, const unsigned char oid[20], const struct sha256 *sha)
{
	struct session *s = data;
	struct err err = ERR_INIT;
	if (s->store && store_can_write(s->store) &&
	    store_add_blob(s->store, oid, sha, &err) < 0)
		log_verbose("%s", err.message);
	err_release(&err);
}

/* What is of one commit, or of the work tree. */
static void leave(struct session *s)
{
	if (s->has_manifest)
		manifest_release(&s->manifest);
	s->has_manifest = 0;
	inputs_release(&s->inputs);
	s->inputs = (struct inputs){ 0 };
	tree_free(s->tree);
	s->tree = NULL;
	free(s->path);
	s->path = NULL;
	s->commit[0] = '\0';
}

/* The nearest folder above that is there; *rest is what was left away. */
static char *existing_folder(const char *dir, char **rest)
{
	char *at = xstrdup(dir);
	*rest = xstrdup("");
	while (!fs_is_dir(at)) {
		char *up = fs_dirname(at);
		char *longer =
		    **rest ? fs_join(fs_basename(at), *rest) : xstrdup(fs_basename(at));
		free(*rest);
		*rest = longer;
		free(at);
		at = up;
	}
	return at;
}

/* A bare repository is not ours to write to. */
static int leave_bare(struct session *s, struct err *err)
{
	const struct options *o = s->options;
	if (repo_workdir(s->repo))
		return 0;
	if (!o->store && s->use >= SESSION_PLAN)
		return err_set(err, STATUS_INPUT,
		    "a bare git repository has "
		    "no place for a store; name one with --store DIR");
	if (o->store) {
		free(s->root);
		s->root = xstrdup(o->store);
	}
	return 0;
}

int session_open_history(struct session *s, struct options *o, const char *command,
    enum session_store use, struct err *err)
{
	char *at = NULL, *rest = NULL, *dir = NULL;
	int rc = -1;

	start(s, o, command, use);
	if (o->file) {
		dir = fs_dirname(o->file);
		at = existing_folder(dir, &rest);
		s->commit_path = xstrdup(fs_basename(o->file));
	}
	if (at && !*rest) {
		s->root = xstrdup(at);
	} else if (search(s, err) < 0) {
		/* The work tree has no project (now), or is none. */
		if (err->status != STATUS_INPUT)
			goto out;
		err_release(err);
		free(s->root);
		s->root = xstrdup(at ? at : ".");
	}
	leave(s);
	s->store_dir = o->store ? xstrdup(o->store) : fs_join(s->root, ".stbuild");
	s->repo_was_tried = 1;
	s->blob_cache = (struct repo_cache){ cached_blob, cache_blob, s };
	if (repo_open(at ? at : s->root, &s->blob_cache, &s->repo, err) < 0) {
		err->status = STATUS_MACHINE;
		goto out;
	}
	if (!s->repo) {
		err_set(err, STATUS_MACHINE,
		    "not in a git repository, so "
		    "revisions are unavailable");
		goto out;
	}
	if (rest && *rest && repo_enter(s->repo, rest, err) < 0)
		goto out;
	rc = leave_bare(s, err);
	/* Hashes of blobs are remembered where there is a store. */
	struct store *store;
	if (rc == 0 && fs_exists(s->store_dir))
		rc = session_store(s, &store, err);
out:
	free(at);
	free(dir);
	free(rest);
	return rc;
}

int session_at(struct session *s, const char *commit, struct errs *errs)
{
	struct err err = ERR_INIT;

	leave(s);
	if (repo_tree(s->repo, commit, &s->tree, &err) < 0) {
		err_wrap(&err,
		    "the project may have had a different name "
		    "then: name the manifest of the commit with -f FILE");
		goto fail;
	}
	if (s->commit_path)
		s->path = xstrdup(s->commit_path);
	else if (manifest_find(s->tree, &s->path, &err) < 0)
		goto fail;
	if (!s->path) {
		err_set(&err, STATUS_INPUT,
		    "%s has no manifest in the "
		    "project's folder; name one with -f FILE",
		    s->tree->name);
		goto fail;
	}
	size_t before = errs->nerr;
	if (manifest_load(s->tree, s->path, &s->inputs, &s->manifest, errs) < 0) {
		for (size_t i = before; i < errs->nerr; i++)
			err_wrap(&errs->err[i], "in %s", s->tree->name);
		leave(s);
		return -1;
	}
	s->has_manifest = 1;
	memcpy(s->commit, commit, sizeof s->commit);
	return 0;
fail:
	errs_take(errs, &err);
	leave(s);
	return -1;
}

int session_open_rev(struct session *s, struct options *o, const char *command,
    enum session_store use, const char *rev, struct err *err)
{
	struct repo_commit commit = { 0 };
	struct errs errs = ERRS_INIT;
	int rc = -1;

	if (!rev)
		return session_open(s, o, command, use, err);
	if (session_open_history(s, o, command, use, err) < 0 ||
	    repo_resolve(s->repo, rev, &commit, err) < 0)
		goto out;
	if (session_at(s, commit.id, &errs) < 0) {
		errors_end(o, &errs, err);
		goto out;
	}
	rc = 0;
out:
	errs_release(&errs);
	repo_commit_release(&commit);
	return rc;
}

void session_clean(const struct session *s)
{
	static const char *const folder[] = { ".", "target", "target/traces",
		"target/captures", "target/sounds" };
	for (size_t i = 0; i < sizeof folder / sizeof *folder; i++) {
		char *path = fs_join(s->root, folder[i]);
		folder_clean(path);
		free(path);
	}
}

void session_close(struct session *s)
{
	if (!s)
		return;
	worker_close(s->worker);
	driver_row_release(&s->driver);
	leave(s);
	repo_close(s->repo);
	store_close(s->store);
	free(s->store_dir);
	free(s->commit_path);
	free(s->root);
	memset(s, 0, sizeof *s);
}

void session_close_store(struct session *s)
{
	store_close(s->store);
	s->store = NULL;
}

const char *session_store_dir(const struct session *s)
{
	return s->store_dir;
}

int session_store(struct session *s, struct store **out, struct err *err)
{
	*out = s->store;
	if (s->store || (s->use == SESSION_USE && !fs_exists(s->store_dir)))
		return 0;
	int may_write = s->use == SESSION_USE || s->use == SESSION_BUILD;
	if (store_open(s->store_dir, may_write ? STORE_BUILD : STORE_READ, s->command,
		&s->store, err) < 0)
		return -1;
	*out = s->store;
	return 0;
}

struct repo *session_repo(struct session *s)
{
	struct err err = ERR_INIT;
	if (s->repo || s->repo_was_tried)
		return s->repo;
	s->repo_was_tried = 1;
	s->blob_cache = (struct repo_cache){ cached_blob, cache_blob, s };
	if (repo_open(s->root, &s->blob_cache, &s->repo, &err) < 0) {
		char *text = err_text(&err);
		log_warn("no commit is recorded: %s", text);
		free(text);
		s->repo = NULL;
		s->has_repo_fault = 1;
	}
	err_release(&err);
	return s->repo;
}

/* "" stands for no option in the store's rows. */
static const char *device_option(const struct session *s)
{
	return s->options->device ? s->options->device : "";
}

void session_worker_options(const struct session *s, struct worker_options *out)
{
	*out = (struct worker_options){
		.device = s->options->device,
		.timeout_s = s->options->timeout_s,
	};
}

static void driver_from_info(const struct session *s, const struct gl_info *info,
    struct driver_row *out)
{
	struct buf mapped = BUF_INIT;
	for (size_t i = 0; i < info->nmapped; i++)
		buf_addf(&mapped, "%s\n", info->mapped[i]);
	*out = (struct driver_row){
		.identity = info->identity,
		.identity_text = xstrdup(info->identity_text),
		.vendor = xstrdup(info->vendor),
		.renderer = xstrdup(info->renderer),
		.version = xstrdup(info->version),
		.glsl_version = xstrdup(info->glsl_version),
		.device = xstrdup(info->device),
		.gl_version = info->gl_version,
		.has_es3 = info->has_es3,
		.is_software = info->is_software,
		.max_texture_size = info->max_texture_size,
		.max_storage_bindings = info->max_storage_bindings,
		.max_storage_bytes = info->max_storage_bytes,
		.mapped = buf_detach(&mapped),
		.option = xstrdup(device_option(s)),
	};
	stamp_of(info->mapped, info->nmapped, s->options->device, &out->stamp);
}

/* 1 when what the record's stamp stands for is as it was. */
static int stamp_holds(const struct session *s, const struct driver_row *row)
{
	char *list = xstrdup(row->mapped ? row->mapped : "");
	char **mapped = NULL, *save = NULL;
	size_t n = 0, cap = 0;
	struct sha256 stamp;
	for (char *path = strtok_r(list, "\n", &save); path;
	     path = strtok_r(NULL, "\n", &save)) {
		mapped = array_grow(mapped, n, &cap, sizeof *mapped);
		mapped[n++] = path;
	}
	stamp_of(mapped, n, s->options->device, &stamp);
	free(mapped);
	free(list);
	return sha256_equal(&stamp, &row->stamp);
}

int session_worker(struct session *s, struct worker **out, struct err *err)
{
	if (s->worker && worker_is_dead(s->worker)) {
		worker_close(s->worker);
		s->worker = NULL;
	}
	*out = s->worker;
	if (s->worker)
		return 0;
	struct worker_options options;
	session_worker_options(s, &options);
	if (worker_open(&options, &s->worker, err) < 0)
		return -1;

	struct driver_row row;
	driver_from_info(s, worker_info(s->worker), &row);
	if (s->has_driver && !sha256_equal(&row.identity, &s->driver.identity)) {
		log_verbose("the driver differs from the recorded one");
		s->driver_changed = 1;
	}
	driver_row_release(&s->driver);
	s->driver = row;
	s->has_driver = 1;
	struct store *store = NULL;
	if (s->use != SESSION_READ && session_store(s, &store, err) < 0)
		return -1;
	if (store && store_can_write(store) &&
	    store_add_driver(store, &s->driver, err) < 0)
		return -1;
	*out = s->worker;
	return 0;
}

int session_driver(struct session *s, const struct driver_row **out, struct err *err)
{
	struct worker *worker;
	struct store *store = NULL;
	*out = &s->driver;
	if (s->has_driver)
		return 0;
	if (fs_exists(s->store_dir) && session_store(s, &store, err) < 0)
		return -1;
	if (store && store_driver(store, device_option(s), &s->driver)) {
		if (stamp_holds(s, &s->driver)) {
			s->has_driver = 1;
			return 0;
		}
		driver_row_release(&s->driver);
		memset(&s->driver, 0, sizeof s->driver);
	}
	return session_worker(s, &worker, err);
}

static int worker_on_demand(void *data, struct worker **out, struct err *err)
{
	struct session *s = data;
	if (session_worker(s, out, err) < 0)
		return -1;
	if (s->driver_changed)
		return err_set(err, STATUS_MACHINE,
		    "the GL driver changed "
		    "while it was in use; the new one is now recorded: run "
		    "the command again");
	return 0;
}

int session_programs(struct session *s, struct program_env *out, struct err *err)
{
	const struct driver_row *driver;
	struct store *store;
	if (session_driver(s, &driver, err) < 0 || session_store(s, &store, err) < 0)
		return -1;
	*out = (struct program_env){
		.tree = s->tree,
		.inputs = &s->inputs,
		.store = store,
		.driver = driver,
		.worker = worker_on_demand,
		.data = s,
		.next_program = &s->next_program,
		.ncompiled = &s->programs_compiled,
	};
	return 0;
}

#include "repo_impl.h"

#include <string.h>

#include "util/buf.h"
#include "util/mem.h"

#define MAX_LINKS 40         /* Linux's own number */
#define MAX_LINK_TARGET 4096 /* PATH_MAX of Linux */
#define MAX_LFS_POINTER \
	1024 /* the specification of Git LFS: "must be less than 1024 bytes" */

int view_fail(struct err *err, enum status status, const char *fmt, ...)
{
	const git_error *last = git_error_last();
	struct buf text = BUF_INIT;
	va_list ap;
	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	err_set(err, status, "%s: %s", buf_str(&text),
	    last && last->message ? last->message : "no reason given");
	buf_release(&text);
	return -1;
}

/* Remembers a folder by its path from the top. */
static int add_folder(struct view *v, const char *path, size_t n, const git_oid *id,
    git_tree **out, struct err *err)
{
	size_t i = map_get(&v->folder, path, n);
	if (i == MAP_NONE) {
		git_tree *tree;
		if (git_tree_lookup(&tree, v->git, repo_replaced(v->repo, id)) < 0) {
			repo_missing(v->repo, err, "tree", id);
			return err_wrap(err, "in folder '%.*s' of commit %.7s", (int)n,
			    path, git_oid_tostr_s(&v->commit));
		}
		v->tree = array_grow(v->tree, v->ntree, &v->cap, sizeof *v->tree);
		i = v->ntree++;
		v->tree[i] = tree;
		map_put(&v->folder, path, n, i);
	}
	*out = v->tree[i];
	return 0;
}

static git_tree *seen_folder(const struct view *v, const char *path, size_t n)
{
	size_t i = map_get(&v->folder, path, n);
	if (i == MAP_NONE)
		BUG("folder '%.*s' was not seen", (int)n, path);
	return v->tree[i];
}

int view_open(struct repo *r, const git_oid *id, struct view **out, struct err *err)
{
	int rc = -1;
	const char *prefix = r->prefix;
	struct commit_info commit = { .nparent = 0 };
	struct view *v = xcalloc(1, sizeof *v);
	v->repo = r;
	v->git = r->bare;
	v->cache = r->cache;
	v->commit = *id;
	v->prefix = xstrdup(prefix);

	if (repo_read_commit(r, id, &commit, err) < 0)
		goto out;
	git_tree *tree;
	if (add_folder(v, "", 0, &commit.tree, &tree, err) < 0)
		goto out;
	v->has_root = 1;
	for (const char *p = prefix; *p && v->has_root;) {
		size_t n = strcspn(p, "/");
		char *name = xstrndup(p, n);
		const git_tree_entry *entry = git_tree_entry_byname(tree, name);
		free(name);
		p += n;
		if (!entry || git_tree_entry_type(entry) != GIT_OBJECT_TREE)
			v->has_root = 0;
		else if (add_folder(v, prefix, (size_t)(p - prefix),
			     git_tree_entry_id(entry), &tree, err) < 0)
			goto out;
		p += *p == '/';
	}
	*out = v;
	v = NULL;
	rc = 0;
out:
	view_free(v);
	commit_info_release(&commit);
	return rc;
}

void view_free(struct view *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->ntree; i++)
		git_tree_free(v->tree[i]);
	free(v->tree);
	map_release(&v->folder);
	free(v->prefix);
	free(v->what);
	free(v);
}

void view_entry_release(struct view_entry *e)
{
	free(e->path);
	free(e->rest);
	*e = (struct view_entry){ 0 };
}

/* Size of a blob without unpacking it. */
static int blob_size(struct view *v, const git_oid *id, size_t *size, struct err *err)
{
	git_odb *odb;
	git_object_t type;
	if (git_repository_odb(&odb, v->git) < 0)
		return view_fail(err, STATUS_MACHINE, "cannot open git's objects");
	int rc = git_odb_read_header(size, &type, odb, repo_replaced(v->repo, id));
	git_odb_free(odb);
	return rc < 0 ? repo_missing(v->repo, err, "blob", id) : 0;
}

static int load_blob(struct view *v, const git_oid *id, git_blob **out, struct err *err)
{
	return git_blob_lookup(out, v->git, repo_replaced(v->repo, id)) < 0
	    ? repo_missing(v->repo, err, "blob", id)
	    : 0;
}

/*
 * The target of a link; *out is null when it is none that a path could be.
 */
static int read_link(struct view *v, const git_oid *id, char **out, struct err *err)
{
	size_t size;
	*out = NULL;
	if (blob_size(v, id, &size, err) < 0)
		return -1;
	if (!size || size > MAX_LINK_TARGET)
		return 0;
	git_blob *blob;
	if (load_blob(v, id, &blob, err) < 0)
		return -1;
	const char *data = git_blob_rawcontent(blob);
	if (!memchr(data, '\0', size))
		*out = xstrndup(data, size);
	git_blob_free(blob);
	return 0;
}

static int is_below(const char *prefix, const struct buf *path)
{
	size_t n = strlen(prefix);
	return !n ||
	    (path->len >= n && memcmp(path->data, prefix, n) == 0 &&
		(path->len == n || path->data[n] == '/'));
}

/* Where a walk through a commit's folders stands. */
struct find {
	struct view *v;
	struct view_entry *out;
	struct buf at;    /* from the top */
	char *rest;       /* what is still to walk, owned */
	char *p;          /* in it */
	git_tree *folder; /* at "at" */
	int nlink;
	int is_file, ends_in_link;
};

/* What a step says: go on, the answer is in out, or nothing is there. */
enum { FIND_ON, FIND_DONE, FIND_ABSENT };

static int find_other(struct find *f, const char *what)
{
	f->out->kind = TREE_OTHER;
	f->out->what = what;
	return FIND_DONE;
}

static int find_outside(struct find *f)
{
	f->out->kind = TREE_OUTSIDE;
	return FIND_DONE;
}

static int go_up(struct find *f)
{
	if (!f->at.len)
		return find_outside(f);
	while (f->at.len && f->at.data[f->at.len - 1] != '/')
		f->at.len--;
	f->at.len -= f->at.len > 0;
	f->at.data[f->at.len] = '\0';
	f->folder = seen_folder(f->v, f->at.data, f->at.len);
	git_oid_cpy(&f->out->id, git_tree_id(f->folder));
	return FIND_ON;
}

/* next: what follows the link in the path; null when it is the last. */
static int follow_link(struct find *f, const char *next, struct err *err)
{
	char *target;

	if (read_link(f->v, &f->out->id, &target, err) < 0)
		return -1;
	if (!target || ++f->nlink > MAX_LINKS) {
		free(target);
		return find_other(f, "a symbolic link that leads nowhere");
	}
	if (*target == '/') {
		free(target);
		return find_outside(f);
	}
	f->ends_in_link |= !next;
	char *joined = next ? xasprintf("%s/%s", target, next) : xstrdup(target);
	free(target);
	free(f->rest);
	f->p = f->rest = joined;
	git_oid_cpy(&f->out->id, git_tree_id(f->folder));
	return FIND_ON;
}

/* One name of the path, n bytes at f->p. */
static int find_step(struct find *f, size_t n, struct err *err)
{
	char *name = f->p, *next = name + n + (name[n] == '/');
	int is_last = !name[n];

	if (f->is_file)
		return FIND_ABSENT; /* a path through a file, or "file/" */
	f->p = next;
	if (!n || (n == 1 && name[0] == '.'))
		return FIND_ON;
	if (n == 2 && name[0] == '.' && name[1] == '.')
		return go_up(f);
	name[n] = '\0';
	const git_tree_entry *entry = git_tree_entry_byname(f->folder, name);
	if (!entry)
		return FIND_ABSENT;
	git_oid_cpy(&f->out->id, git_tree_entry_id(entry));
	git_object_t type = git_tree_entry_type(entry);
	if (type == GIT_OBJECT_COMMIT) {
		f->out->path =
		    f->at.len ? xasprintf("%s/%s", buf_str(&f->at), name) : xstrdup(name);
		f->out->rest = xstrdup(is_last ? "" : next);
		return find_other(f,
		    "a submodule or in one; its files are in "
		    "another repository");
	}
	if (git_tree_entry_filemode(entry) == GIT_FILEMODE_LINK)
		return follow_link(f, is_last ? NULL : next, err);
	if (f->at.len)
		buf_addch(&f->at, '/');
	buf_addstr(&f->at, name);
	if (type == GIT_OBJECT_TREE)
		return add_folder(f->v, f->at.data, f->at.len, &f->out->id, &f->folder,
			   err) < 0
		    ? -1
		    : FIND_ON;
	f->is_file = 1;
	return is_last ? FIND_ON : FIND_ABSENT;
}

int view_find(struct view *v, const char *path, struct view_entry *out, struct err *err)
{
	struct find f = { .v = v, .out = out, .at = BUF_INIT };
	int rc = FIND_ON;

	*out = (struct view_entry){ .kind = TREE_ABSENT };
	if (!v->has_root)
		return 0;
	if (*path == '/') {
		out->kind = TREE_OUTSIDE;
		return 0;
	}
	buf_addstr(&f.at, v->prefix);
	f.p = f.rest = xstrdup(path);
	f.folder = seen_folder(v, f.at.data, f.at.len);
	git_oid_cpy(&out->id, git_tree_id(f.folder));
	while (rc == FIND_ON && *f.p)
		rc = find_step(&f, strcspn(f.p, "/"), err);
	if (rc == FIND_ABSENT && f.ends_in_link)
		find_other(&f, "a symbolic link that leads nowhere");
	if (rc == FIND_ON && !is_below(v->prefix, &f.at)) {
		find_outside(&f);
	} else if (rc == FIND_ON) {
		out->kind = f.is_file ? TREE_FILE : TREE_FOLDER;
		out->path = xstrdup(buf_str(&f.at));
	}
	buf_release(&f.at);
	free(f.rest);
	return rc < 0 ? -1 : 0;
}

int view_lfs(struct view *v, const struct view_entry *e, struct sha256 *out,
    struct err *err)
{
	static const char *const version[] = {
		"version https://git-lfs.github.com/spec/v1\n",
		"version https://hawser.github.com/spec/v1\n",
	};
	size_t size;
	if (blob_size(v, &e->id, &size, err) < 0)
		return -1;
	if (size < strlen(version[1]) || size >= MAX_LFS_POINTER)
		return 0;
	git_blob *blob;
	if (load_blob(v, &e->id, &blob, err) < 0)
		return -1;
	char *text = xstrndup(git_blob_rawcontent(blob), size);
	git_blob_free(blob);
	int is_lfs = 0;
	for (size_t i = 0; i < sizeof version / sizeof *version; i++)
		is_lfs |= strncmp(text, version[i], strlen(version[i])) == 0;
	const char *oid = is_lfs ? strstr(text, "\noid sha256:") : NULL;
	char hex[SHA256_HEX + 1] = "";
	if (oid)
		snprintf(hex, sizeof hex, "%s", oid + strlen("\noid sha256:"));
	is_lfs = oid && !sha256_parse(hex, out);
	free(text);
	return is_lfs;
}

/* Null when nothing stands between the blob and a checkout's bytes. */
static int load_filters(struct view *v, const char *path, git_filter_list **out,
    struct err *err)
{
	git_filter_options opts = {
		.version = GIT_FILTER_OPTIONS_VERSION,
		.flags = GIT_FILTER_ALLOW_UNSAFE | GIT_FILTER_ATTRIBUTES_FROM_COMMIT,
		.attr_commit_id = v->commit,
	};
	*out = NULL;
	if (git_filter_list_load_ext(out, v->git, NULL, path, GIT_FILTER_TO_WORKTREE,
		&opts) < 0)
		return view_fail(err, STATUS_MACHINE,
		    "cannot read the git attributes of '%s'", path);
	return 0;
}

static int filter_blob(const git_oid *id, git_blob *blob, git_filter_list *filters,
    git_buf *out, struct err *err)
{
	if (git_filter_list_apply_to_blob(out, filters, blob) < 0)
		return view_fail(err, STATUS_MACHINE, "cannot filter blob %s",
		    git_oid_tostr_s(id));
	return 0;
}

const char *view_filter(struct view *v, const char *path)
{
	static const char *attribute[] = { "filter", "working-tree-encoding" };
	static const char *const part[] = { "clean", "smudge", "process" };
	git_attr_options opts = {
		.version = GIT_ATTR_OPTIONS_VERSION,
		.flags = GIT_ATTR_CHECK_INCLUDE_COMMIT,
		.attr_commit_id = v->commit,
	};
	const char *value[2], *set;
	git_config *config;
	free(v->what);
	v->what = NULL;
	if (git_attr_get_many_ext(value, v->git, &opts, path, 2, attribute) < 0)
		return NULL;
	if (git_attr_value(value[1]) == GIT_ATTR_VALUE_STRING)
		v->what =
		    xasprintf("stored in an encoding other than %s, "
			      "which is not converted here (check the commit out and "
			      "capture there)",
			value[1]);
	/* A blob of LFS that is no pointer is what git takes as it is. */
	if (v->what || git_attr_value(value[0]) != GIT_ATTR_VALUE_STRING ||
	    strcmp(value[0], "lfs") == 0)
		return v->what;
	/* Without a program of that name git has no filter either. */
	if (git_repository_config_snapshot(&config, v->git) < 0)
		return NULL;
	for (size_t i = 0; i < 3 && !v->what; i++) {
		char *name = xasprintf("filter.%s.%s", value[0], part[i]);
		if (git_config_get_string(&set, config, name) == 0 && *set)
			v->what =
			    xasprintf("stored through git's filter '%s', "
				      "and filters that are programs are not run here "
				      "(check the commit out and capture there)",
				value[0]);
		free(name);
	}
	git_config_free(config);
	return v->what;
}

int view_read(struct view *v, const struct view_entry *e, size_t max, struct buf *out,
    struct err *err)
{
	int rc = -1;
	git_blob *blob = NULL;
	git_filter_list *filters = NULL;
	git_buf filtered = GIT_BUF_INIT;
	size_t size;

	if (blob_size(v, &e->id, &size, err) < 0)
		goto out;
	if (size > max)
		goto too_large;
	if (load_blob(v, &e->id, &blob, err) < 0 ||
	    load_filters(v, e->path, &filters, err) < 0)
		goto out;
	if (!filters) {
		buf_add(out, git_blob_rawcontent(blob), size);
	} else {
		if (filter_blob(&e->id, blob, filters, &filtered, err) < 0)
			goto out;
		if (filtered.size > max)
			goto too_large;
		buf_add(out, filtered.ptr, filtered.size);
	}
	rc = 0;
	goto out;
too_large:
	err_set(err, STATUS_INPUT, "'%s' is larger than the limit of %zu bytes", e->path,
	    max);
out:
	git_buf_dispose(&filtered);
	git_filter_list_free(filters);
	git_blob_free(blob);
	return rc;
}

int view_hash_raw(struct view *v, const git_oid *id, struct sha256 *out, struct err *err)
{
	if (v->cache && v->cache->get && !v->cache->get(v->cache->data, id->id, out))
		return 0;
	git_blob *blob;
	if (load_blob(v, id, &blob, err) < 0)
		return -1;
	sha256_of(git_blob_rawcontent(blob), (size_t)git_blob_rawsize(blob), out);
	git_blob_free(blob);
	if (v->cache && v->cache->put)
		v->cache->put(v->cache->data, id->id, out);
	return 0;
}

/*
 * A filtered blob is remembered under a made-up id, as the same blob may be
 * filtered otherwise at another path or commit: the hash of its id and of all
 * that libgit2's two filters (crlf, ident) look at.
 */
static int filtered_key(struct view *v, const struct view_entry *e, unsigned char key[20],
    struct err *err)
{
	static const char *attribute[] = { "text", "crlf", "eol", "ident" };
	static const char *const option[] = { "core.autocrlf", "core.eol" };
	enum { NATTRIBUTE = sizeof attribute / sizeof *attribute };
	const char *value[NATTRIBUTE];
	git_attr_options opts = {
		.version = GIT_ATTR_OPTIONS_VERSION,
		.flags = GIT_ATTR_CHECK_INCLUDE_COMMIT,
		.attr_commit_id = v->commit,
	};
	if (git_attr_get_many_ext(value, v->git, &opts, e->path, NATTRIBUTE, attribute) <
	    0)
		return view_fail(err, STATUS_MACHINE,
		    "cannot read the git attributes of '%s'", e->path);
	git_config *config;
	if (git_repository_config_snapshot(&config, v->git) < 0)
		return view_fail(err, STATUS_MACHINE, "cannot read git's configuration");

	struct buf text = BUF_INIT;
	buf_addstr(&text, "filtered 1\n");
	buf_add(&text, e->id.id, GIT_OID_RAWSZ);
	for (size_t i = 0; i < NATTRIBUTE; i++) {
		git_attr_value_t kind = git_attr_value(value[i]);
		buf_addf(&text, "\n%s %d %s", attribute[i], (int)kind,
		    kind == GIT_ATTR_VALUE_STRING ? value[i] : "");
	}
	for (size_t i = 0; i < sizeof option / sizeof *option; i++) {
		const char *set;
		if (git_config_get_string(&set, config, option[i]) < 0)
			set = "";
		buf_addf(&text, "\n%s %s", option[i], set);
	}
	struct sha256 sha;
	sha256_of(text.data, text.len, &sha);
	memcpy(key, sha.byte, 20);
	buf_release(&text);
	git_config_free(config);
	return 0;
}

int view_hash(struct view *v, const struct view_entry *e, struct sha256 *out,
    int *is_filtered, struct err *err)
{
	int rc = -1;
	unsigned char key[20];
	git_blob *blob = NULL;
	git_filter_list *filters = NULL;
	git_buf filtered = GIT_BUF_INIT;

	if (load_filters(v, e->path, &filters, err) < 0)
		goto out;
	if (is_filtered)
		*is_filtered = !!filters;
	if (!filters) {
		rc = view_hash_raw(v, &e->id, out, err);
		goto out;
	}
	if (filtered_key(v, e, key, err) < 0)
		goto out;
	if (v->cache && v->cache->get && !v->cache->get(v->cache->data, key, out)) {
		rc = 0;
		goto out;
	}
	if (load_blob(v, &e->id, &blob, err) < 0 ||
	    filter_blob(&e->id, blob, filters, &filtered, err) < 0)
		goto out;
	sha256_of(filtered.ptr, filtered.size, out);
	if (v->cache && v->cache->put)
		v->cache->put(v->cache->data, key, out);
	rc = 0;
out:
	git_buf_dispose(&filtered);
	git_filter_list_free(filters);
	git_blob_free(blob);
	return rc;
}

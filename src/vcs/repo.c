#include "vcs/repo.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <git2/sys/repository.h>

#include "util/buf.h"
#include "util/fs.h"
#include "util/mem.h"
#include "repo_impl.h"

struct commit_tree {
	struct tree tree;
	struct view *view;
};

/* What libgit2 1.5 does not know but need not: none changes how we read. */
static const char *extension[] = {
	"worktreeconfig",
	"preciousobjects",
	"relativeworktrees",
	"partialclone",
};

static void note_head(struct repo *r, const git_oid *id);

static int start(struct err *err)
{
	if (git_libgit2_init() < 0)
		return view_fail(err, STATUS_MACHINE, "cannot start libgit2");
	if (git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, extension,
		sizeof extension / sizeof *extension) < 0) {
		view_fail(err, STATUS_MACHINE, "cannot set up libgit2");
		git_libgit2_shutdown();
		return -1;
	}
	repo_set_search_paths();
	return 0;
}

/*
 * The folder that git would want in safe.directory, as git itself names it:
 * the top of the work tree, or the bare repository.
 */
static char *owned_folder(const char *root)
{
	git_buf found = GIT_BUF_INIT;
	if (git_repository_discover(&found, root, 0, NULL) < 0)
		return xstrdup(root);
	size_t n = found.size;
	while (n > 1 && found.ptr[n - 1] == '/')
		n--;
	if (n > 5 && memcmp(found.ptr + n - 5, "/.git", 5) == 0)
		n -= 5;
	char *folder = xstrndup(found.ptr, n);
	git_buf_dispose(&found);
	return folder;
}

static int explain_open(const char *root, int code, struct err *err)
{
	static const char unknown[] = "unsupported extension name extensions.";
	const git_error *last = git_error_last();
	const char *text = last && last->message ? last->message : "";
	const char *name = strstr(text, unknown);

	if (code == GIT_EOWNER) {
		char *folder = owned_folder(root);
		err_set(err, STATUS_MACHINE,
		    "the git repository at '%s' belongs to another user; if you trust it:"
		    " git config --global --add safe.directory '%s'",
		    folder, folder);
		free(folder);
		return -1;
	}
	if (name)
		name += strlen(unknown);
	if (name && strncmp(name, "objectformat", 12) == 0)
		return err_set(err, STATUS_MACHINE,
		    "the git repository of '%s' uses SHA-256 ids, which libgit2 cannot"
		    " read; a clone in the SHA-1 format can be used",
		    root);
	if (name && strncmp(name, "refstorage", 10) == 0)
		return err_set(err, STATUS_MACHINE,
		    "the git repository of '%s' keeps its refs in a format that libgit2"
		    " cannot read; 'git refs migrate --ref-format=files' changes it",
		    root);
	if (name)
		return err_set(err, STATUS_MACHINE,
		    "the git repository of '%s' uses the extension '%s', which libgit2"
		    " does not know; see 'extensions.%s' in git-config(1) for how to do"
		    " without it",
		    root, name, name);
	return view_fail(err, STATUS_MACHINE, "cannot open the git repository of '%s'",
	    root);
}

/*
 * Nothing was found. A .git file that leads nowhere, as of a worktree whose
 * repository was moved, deserves a word all the same.
 */
static int explain_absent(const char *root, struct err *err)
{
	int rc = 0;
	if (getenv("GIT_DIR"))
		return err_set(err, STATUS_MACHINE,
		    "GIT_DIR is set, and '%s' is "
		    "not a git repository",
		    getenv("GIT_DIR"));
	char *folder = xstrdup(root);
	while (!rc) {
		struct stat st;
		char *file = fs_join(folder, ".git");
		if (!lstat(file, &st) && S_ISREG(st.st_mode))
			rc = err_set(err, STATUS_MACHINE,
			    "'%s' does not lead to a git repository; 'git "
			    "worktree repair' in the main work tree "
			    "repairs a worktree that was moved",
			    file);
		free(file);
		char *parent = fs_dirname(folder);
		int is_top = strcmp(parent, folder) == 0;
		free(folder);
		folder = parent;
		if (is_top)
			break;
	}
	free(folder);
	return rc;
}

/*
 * Where the project's root is in the repository: null when it is not in its
 * work tree. A bare repository, given itself or by a .git in the root, is a
 * project whose root is the top of its commits.
 */
static char *find_prefix(const char *root, git_repository *git, const char *workdir)
{
	if (workdir) {
		size_t n = strlen(workdir);
		if (strcmp(workdir, "/") == 0)
			return xstrdup(root + 1);
		if (strncmp(root, workdir, n) != 0 || (root[n] && root[n] != '/'))
			return NULL;
		return xstrdup(root[n] ? root + n + 1 : "");
	}
	char *gitdir = realpath(git_repository_path(git), NULL);
	char *dot = fs_join(root, ".git");
	int is_it = (gitdir && strcmp(gitdir, root) == 0) || fs_exists(dot);
	free(gitdir);
	free(dot);
	return is_it ? xstrdup("") : NULL;
}

/*
 * Whether there can be one: a ".git" here or above, or the inside of a bare
 * repository. To ask libgit2 takes 5 to 15 ms, for the certificates that it
 * starts with.
 */
static int may_have_repository(const char *root)
{
	char *head = fs_join(root, "HEAD"), *objects = fs_join(root, "objects");
	int found = fs_exists(head) && fs_is_dir(objects);
	char *folder = xstrdup(root);
	while (!found) {
		struct stat st;
		char *git = fs_join(folder, ".git");
		found = !lstat(git, &st);
		free(git);
		char *parent = fs_dirname(folder);
		int is_top = strcmp(parent, folder) == 0;
		free(folder);
		folder = parent;
		if (is_top)
			break;
	}
	free(folder);
	free(objects);
	free(head);
	return found;
}

/* Opens it; *is_trusted when another's is only by a rule that libgit2 lacks. */
static int open_git(const char *root, int has_env, git_repository **out, int *is_trusted)
{
	int code = repo_open_git(root, has_env, out);
	/* libgit2 1.5 looks for safe.directory and takes its absence for ours. */
	if (code == GIT_ENOTFOUND && git_error_last() &&
	    strstr(git_error_last()->message, "safe.directory"))
		code = GIT_EOWNER;
	if (code != GIT_EOWNER)
		return code;
	char *folder = owned_folder(root);
	*is_trusted = repo_is_trusted(folder);
	free(folder);
	if (*is_trusted) {
		git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
		code = repo_open_git(root, has_env, out);
		git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 1);
	}
	return code;
}

int repo_open(const char *project_root, const struct repo_cache *cache, struct repo **out,
    struct err *err)
{
	return repo_open_at(project_root, 1, cache, out, err);
}

int repo_open_at(const char *project_root, int has_env, const struct repo_cache *cache,
    struct repo **out, struct err *err)
{
	int rc = -1;
	git_index *none = NULL;
	struct repo *r = NULL;

	*out = NULL;
	char *root = realpath(project_root, NULL);
	if (!root)
		return err_errno(err, STATUS_INPUT, "cannot open '%s'", project_root);
	if (!(has_env && getenv("GIT_DIR")) && !may_have_repository(root)) {
		free(root);
		return 0;
	}
	if (start(err) < 0) {
		free(root);
		return -1;
	}
	r = xcalloc(1, sizeof *r); /* from here on repo_close balances start */
	r->cache = cache;
	int is_trusted = 0;
	int code = open_git(root, has_env, &r->git, &is_trusted);
	if (code == GIT_ENOTFOUND) {
		rc = explain_absent(root, err);
		goto out;
	}
	if (code < 0) {
		explain_open(root, code, err);
		goto out;
	}
	if (git_repository_workdir(r->git)) {
		r->workdir = realpath(git_repository_workdir(r->git), NULL);
		if (!r->workdir) {
			err_errno(err, STATUS_MACHINE, "cannot open the work tree '%s'",
			    git_repository_workdir(r->git));
			goto out;
		}
	}
	r->prefix = find_prefix(root, r->git, r->workdir);
	if (!r->prefix) {
		rc = 0;
		goto out;
	}
	git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, !is_trusted);
	code = git_repository_open_bare(&r->bare, git_repository_commondir(r->git));
	git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 1);
	if (code < 0 || repo_add_config(r->git) < 0 || repo_add_config(r->bare) < 0 ||
	    git_index_new(&none) < 0 || git_repository_set_index(r->bare, none) < 0) {
		explain_open(root, GIT_ERROR, err);
		goto out;
	}
	repo_load_grafts(r);
	*out = r;
	r = NULL;
	rc = 0;
out:
	git_index_free(none);
	repo_close(r);
	free(root);
	return rc;
}

void repo_close(struct repo *r)
{
	if (!r)
		return;
	view_free(r->head);
	view_free(r->recent);
	repo_close_submodules(r);
	git_odb_free(r->odb);
	map_release(&r->shallow);
	map_release(&r->replaced);
	free(r->replacement);
	git_repository_free(r->bare);
	git_repository_free(r->git);
	free(r->workdir);
	free(r->prefix);
	free(r);
	git_libgit2_shutdown();
}

int repo_enter(struct repo *r, const char *folder, struct err *err)
{
	char *joined = fs_join(r->prefix, folder);
	char *prefix = path_normalise(joined);

	free(joined);
	if (*folder == '/' || strncmp(prefix, "../", 3) == 0 ||
	    strcmp(prefix, "..") == 0) {
		free(prefix);
		return err_set(err, STATUS_INPUT, "'%s' is outside the git repository",
		    folder);
	}
	free(r->prefix);
	r->prefix = prefix;
	note_head(r, NULL);
	r->has_head = 0;
	view_free(r->recent);
	r->recent = NULL;
	return 0;
}

const char *repo_workdir(const struct repo *r)
{
	return r->workdir;
}

/* Length of the UTF-8 sequence (RFC 3629) at s, 0 when it is none. */
static size_t utf8_length(const unsigned char *s)
{
	static const struct {
		unsigned char low, high, first, last;
		size_t n;
	} row[] = {
		{ 0x00, 0x7f, 0, 0, 1 },
		{ 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 },
		{ 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 },
		{ 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 },
		{ 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		if (s[0] < row[i].low || s[0] > row[i].high)
			continue;
		if (row[i].n > 1 && (s[1] < row[i].first || s[1] > row[i].last))
			return 0;
		for (size_t k = 2; k < row[i].n; k++)
			if (s[k] < 0x80 || s[k] > 0xbf)
				return 0;
		return row[i].n;
	}
	return 0;
}

char *repo_clean_text(const char *text)
{
	struct buf out = BUF_INIT;
	for (const unsigned char *s = (const unsigned char *)text; *s;) {
		size_t n = utf8_length(s);
		if (n)
			buf_add(&out, s, n);
		else
			buf_addstr(&out, "\xef\xbf\xbd"); /* U+FFFD */
		s += n ? n : 1;
	}
	return buf_detach(&out);
}

char *repo_iso8601(git_time_t seconds, int offset)
{
	struct tm tm;
	time_t local = (time_t)(seconds + (git_time_t)offset * 60);
	if (offset <= -24 * 60 || offset >= 24 * 60 || !gmtime_r(&local, &tm) ||
	    tm.tm_year < -1900 || tm.tm_year > 9999 - 1900)
		return xstrdup("1970-01-01T00:00:00+00:00"); /* as git takes bad dates */
	int minutes = abs(offset);
	return xasprintf("%04d-%02d-%02dT%02d:%02d:%02d%c%02d:%02d", tm.tm_year + 1900,
	    tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
	    offset < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

/* As "git describe --tags --always"; the short id where history is cut off. */
static char *describe(git_commit *commit)
{
	char *out = NULL;
	git_describe_result *result = NULL;
	git_buf text = GIT_BUF_INIT;
	git_describe_options opts = {
		.version = GIT_DESCRIBE_OPTIONS_VERSION,
		.max_candidates_tags = GIT_DESCRIBE_DEFAULT_MAX_CANDIDATES_TAGS,
		.describe_strategy = GIT_DESCRIBE_TAGS,
		.show_commit_oid_as_fallback = 1,
	};
	git_describe_format_options format = {
		.version = GIT_DESCRIBE_FORMAT_OPTIONS_VERSION,
		.abbreviated_size = GIT_DESCRIBE_DEFAULT_ABBREVIATED_SIZE,
	};
	if (git_describe_commit(&result, (git_object *)commit, &opts) == 0 &&
	    git_describe_format(&text, result, &format) == 0)
		out = repo_clean_text(text.ptr);
	git_buf_dispose(&text);
	git_describe_result_free(result);
	if (out)
		return out;
	if (git_object_short_id(&text, (git_object *)commit) == 0)
		out = xstrdup(text.ptr);
	else
		out = xstrndup(git_oid_tostr_s(git_commit_id(commit)), 7);
	git_buf_dispose(&text);
	return out;
}

/* id differs from the commit's own when it was replaced. */
static void fill_commit(const git_oid *id, git_commit *commit, struct repo_commit *out)
{
	const git_signature *who = git_commit_committer(commit);
	const char *summary = git_commit_summary(commit);
	git_oid_tostr(out->id, sizeof out->id, id);
	out->describe = describe(commit);
	out->committed_at = repo_iso8601(who->when.time, who->when.offset);
	out->summary = repo_clean_text(summary ? summary : "");
}

void repo_commit_release(struct repo_commit *c)
{
	if (!c)
		return;
	free(c->describe);
	free(c->branch);
	free(c->committed_at);
	free(c->summary);
	*c = (struct repo_commit){ 0 };
}

/*
 * The commit that HEAD is at: 1, or 0 without commits. *ref (may be null) is
 * what HEAD resolves to, if anything.
 */
int repo_find_head(struct repo *r, git_oid *id, git_reference **ref, struct err *err)
{
	git_reference *head = NULL;
	git_object *commit = NULL;
	if (ref)
		*ref = NULL;
	int code = git_repository_head(&head, r->git);
	if (code == GIT_EUNBORNBRANCH)
		return 0;
	if (code < 0)
		return view_fail(err, STATUS_MACHINE, "cannot read git's HEAD");
	if (git_reference_peel(&commit, head, GIT_OBJECT_COMMIT) < 0) {
		git_reference_free(head);
		return view_fail(err, STATUS_MACHINE, "git's HEAD is at no commit");
	}
	git_oid_cpy(id, git_object_id(commit));
	git_object_free(commit);
	if (ref)
		*ref = head;
	else
		git_reference_free(head);
	return 1;
}

/* Drops what is known of HEAD's files when it moved. */
static void note_head(struct repo *r, const git_oid *id)
{
	if (r->head && id && git_oid_equal(&r->head->commit, id))
		return;
	view_free(r->head);
	r->head = NULL;
	r->has_head = !id;
}

int repo_head_id(struct repo *r, char id[41], struct err *err)
{
	git_oid oid;
	int found = repo_find_head(r, &oid, NULL, err);
	if (found < 0)
		return -1;
	id[0] = '\0';
	if (found)
		git_oid_tostr(id, 41, &oid);
	note_head(r, found ? &oid : NULL);
	return 0;
}

int repo_head(struct repo *r, struct repo_commit *out, struct err *err)
{
	static const char heads[] = "refs/heads/";
	int rc = -1;
	git_oid id;
	git_reference *ref = NULL;
	git_commit *commit = NULL;
	const char *name = NULL;

	*out = (struct repo_commit){ 0 };
	int found = repo_find_head(r, &id, &ref, err);
	if (found < 0)
		goto out;
	note_head(r, found ? &id : NULL);
	if (found) {
		name = git_reference_name(ref);
		if (repo_lookup_commit(r, &id, &commit, err) < 0)
			goto out;
		fill_commit(&id, commit, out);
	} else {
		if (git_reference_lookup(&ref, r->git, "HEAD") < 0) {
			view_fail(err, STATUS_MACHINE, "cannot read git's HEAD");
			goto out;
		}
		name = git_reference_symbolic_target(ref);
	}
	if (name && strncmp(name, heads, strlen(heads)) == 0)
		out->branch = repo_clean_text(name + strlen(heads));
	rc = 0;
out:
	git_commit_free(commit);
	git_reference_free(ref);
	return rc;
}

int repo_resolve(struct repo *r, const char *rev, struct repo_commit *out,
    struct err *err)
{
	git_oid id;
	git_commit *commit;

	*out = (struct repo_commit){ 0 };
	if (repo_find_commit(r, rev, &id, err) < 0 ||
	    repo_lookup_commit(r, &id, &commit, err) < 0)
		return -1;
	fill_commit(&id, commit, out);
	git_commit_free(commit);
	return 0;
}

struct tag_walk {
	struct repo *repo;
	void (*each)(void *data, const char *commit);
	void *data;
};

static int visit_tag(const char *name, git_oid *id, void *data)
{
	struct tag_walk *walk = data;
	git_object *object = NULL, *commit = NULL;
	char hex[GIT_OID_HEXSZ + 1];

	(void)name;
	if (git_object_lookup(&object, walk->repo->git, id, GIT_OBJECT_ANY) == 0 &&
	    git_object_peel(&commit, object, GIT_OBJECT_COMMIT) == 0)
		walk->each(walk->data,
		    git_oid_tostr(hex, sizeof hex, git_object_id(commit)));
	git_object_free(commit);
	git_object_free(object);
	return 0;
}

int repo_each_tag(struct repo *r, void (*each)(void *data, const char *commit),
    void *data, struct err *err)
{
	struct tag_walk walk = { r, each, data };

	if (git_tag_foreach(r->git, visit_tag, &walk) < 0)
		return view_fail(err, STATUS_MACHINE, "cannot read git's tags");
	return 0;
}

int repo_parse_id(const char *commit_id, git_oid *out, struct err *err)
{
	if (strlen(commit_id) != GIT_OID_HEXSZ || git_oid_fromstr(out, commit_id) < 0)
		return err_set(err, STATUS_INPUT, "'%s' is not a commit id", commit_id);
	return 0;
}

int repo_parse_hex(const char *commit_id, unsigned char id[20], struct err *err)
{
	git_oid oid;
	if (repo_parse_id(commit_id, &oid, err) < 0)
		return -1;
	memcpy(id, oid.id, 20);
	return 0;
}

static struct view *view_of(struct tree *tree)
{
	return ((struct commit_tree *)tree)->view;
}

/* view_find, where an LFS pointer is no file. */
static int find(struct tree *tree, const char *path, struct view_entry *e,
    struct err *err)
{
	struct sha256 sha;
	if (view_find(view_of(tree), path, e, err) < 0)
		return -1;
	if (e->kind != TREE_FILE)
		return 0;
	int is_lfs = view_lfs(view_of(tree), e, &sha, err);
	if (is_lfs < 0) {
		view_entry_release(e);
		return -1;
	}
	if (is_lfs) {
		e->kind = TREE_OTHER;
		e->what =
		    "a Git LFS pointer; the bytes it stands for are not in the commit"
		    " (check the commit out where 'git lfs' is installed and capture there)";
		return 0;
	}
	const char *what = view_filter(view_of(tree), e->path);
	if (what) {
		e->kind = TREE_OTHER;
		e->what = what;
	}
	return 0;
}

static int commit_lookup(struct tree *tree, const char *path, enum tree_kind *kind,
    char **resolved, struct err *err)
{
	struct view_entry e;
	*resolved = NULL;
	if (find(tree, path, &e, err) < 0)
		return -1;
	*kind = e.kind;
	if (e.kind == TREE_OTHER) {
		*resolved = xstrdup(e.what);
	} else if (e.kind == TREE_FILE || e.kind == TREE_FOLDER) {
		size_t n = strlen(view_of(tree)->prefix);
		*resolved = xstrdup(e.path + n + (n && e.path[n] == '/'));
	}
	view_entry_release(&e);
	return 0;
}

/* A file's entry, or an error that says what else the path is. */
static int find_file(struct tree *tree, const char *path, struct view_entry *e,
    struct err *err)
{
	if (find(tree, path, e, err) < 0)
		return -1;
	const char *what = e->what;
	switch (e->kind) {
	case TREE_FILE:
		return 0;
	case TREE_ABSENT:
		err_set(err, STATUS_INPUT, "%s has no '%s'", tree->name, path);
		break;
	case TREE_FOLDER:
		what = "a folder";
		/* fallthrough */
	case TREE_OTHER:
		err_set(err, STATUS_INPUT, "'%s' in %s is %s", path, tree->name, what);
		break;
	case TREE_OUTSIDE:
		err_set(err, STATUS_INPUT, "'%s' in %s leads out of the project", path,
		    tree->name);
		break;
	}
	view_entry_release(e);
	return -1;
}

static int commit_read(struct tree *tree, const char *resolved, size_t max,
    struct buf *out, struct err *err)
{
	struct view_entry e;
	if (find_file(tree, resolved, &e, err) < 0)
		return -1;
	int rc = view_read(view_of(tree), &e, max, out, err);
	view_entry_release(&e);
	return rc;
}

static int commit_hash(struct tree *tree, const char *resolved, struct sha256 *out,
    struct err *err)
{
	struct view_entry e;
	if (find_file(tree, resolved, &e, err) < 0)
		return -1;
	int rc = view_hash(view_of(tree), &e, out, NULL, err);
	view_entry_release(&e);
	return rc;
}

static void commit_free(struct tree *tree)
{
	view_free(view_of(tree));
	free(tree->name);
	free(tree);
}

static const struct tree_ops commit_ops = {
	commit_lookup,
	commit_read,
	commit_hash,
	commit_free,
};

int repo_tree(struct repo *r, const char *commit_id, struct tree **out, struct err *err)
{
	git_oid id;
	struct view *view;
	*out = NULL;
	if (repo_parse_id(commit_id, &id, err) < 0 || view_open(r, &id, &view, err) < 0)
		return -1;
	if (!view->has_root) {
		err_set(err, STATUS_INPUT, "commit %.7s has no folder '%s'", commit_id,
		    r->prefix);
		view_free(view);
		return -1;
	}
	struct commit_tree *t = xcalloc(1, sizeof *t);
	t->tree.ops = &commit_ops;
	t->tree.name = xasprintf("commit %.7s", commit_id);
	t->view = view;
	*out = &t->tree;
	return 0;
}

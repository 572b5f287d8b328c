#include "vcs/paths.h"

#include <string.h>

#include "repo_impl.h"
#include "util/buf.h"
#include "util/map.h"
#include "util/mem.h"

/* A part of a path. */
struct part {
	char *name;
	char *path;    /* from the project's root; null above it */
	int is_wanted; /* a path ends here */
	size_t *child; /* indices of part[] */
	size_t nchild, cap;
	struct map known; /* id of a folder here -> index of hash[] */
};

struct paths {
	struct repo *repo;
	struct part *part; /* [0] is the repository's top */
	size_t npart, cap;
	struct sha256 *hash; /* of folders met before */
	size_t nhash, hash_cap;
	struct sha256 settings;    /* what else decides about bytes */
	struct commit_info commit; /* the last */
};

/* Which filters are programs: their files cannot be read here. */
static void hash_filters(struct repo *r, struct buf *text)
{
	git_config *config;
	git_config_iterator *all;
	git_config_entry *entry;
	if (git_repository_config_snapshot(&config, r->bare) < 0)
		return;
	if (git_config_iterator_glob_new(&all, config, "^filter\\..*") == 0) {
		while (git_config_next(&entry, all) == 0)
			buf_addf(text, "%s\n", entry->name);
		git_config_iterator_free(all);
	}
	git_config_free(config);
}

/* What of git's settings stands between a blob and its bytes (view.c). */
static void add_settings(struct repo *r, struct buf *text)
{
	static const char *const option[] = { "core.autocrlf", "core.eol" };
	git_config *config;
	if (git_repository_config_snapshot(&config, r->git) == 0) {
		for (size_t i = 0; i < sizeof option / sizeof *option; i++) {
			const char *value;
			if (git_config_get_string(&value, config, option[i]) < 0)
				value = "";
			buf_addf(text, "%s=%s\n", option[i], value);
		}
		git_config_free(config);
	}
	hash_filters(r, text);
	buf_addf(text, "prefix %s\n", r->prefix);
	for (size_t i = 0; i < r->replaced.nentry; i++) {
		buf_add(text, r->replaced.entry[i].key, GIT_OID_RAWSZ);
		buf_add(text, r->replacement[i].id, GIT_OID_RAWSZ);
	}
}

void paths_settings(struct repo *r, struct sha256 *out)
{
	struct buf text = BUF_INIT;
	add_settings(r, &text);
	sha256_of(text.data, text.len, out);
	buf_release(&text);
}

static void hash_settings(struct paths *p)
{
	struct buf text = BUF_INIT;
	add_settings(p->repo, &text);
	for (size_t i = 0; i < p->npart; i++)
		buf_addf(&text, "%d %s\n", p->part[i].is_wanted,
		    p->part[i].path ? p->part[i].path : "");
	sha256_of(text.data, text.len, &p->settings);
	buf_release(&text);
}

static size_t add_part(struct paths *p, size_t parent, const char *name, size_t n,
    const char *path)
{
	for (size_t i = 0; i < p->part[parent].nchild; i++) {
		size_t c = p->part[parent].child[i];
		if (strncmp(p->part[c].name, name, n) == 0 && !p->part[c].name[n])
			return c;
	}
	p->part = array_grow(p->part, p->npart, &p->cap, sizeof *p->part);
	size_t at = p->npart++;
	p->part[at] = (struct part){ .name = xstrndup(name, n),
		.path = path ? xstrdup(path) : NULL };
	struct part *up = &p->part[parent];
	up->child = array_grow(up->child, up->nchild, &up->cap, sizeof *up->child);
	up->child[up->nchild++] = at;
	return at;
}

/* Adds a path below a part; the last part's index. */
static size_t add_path(struct paths *p, size_t at, const char *path, int is_project)
{
	for (const char *s = path; *s;) {
		size_t n = strcspn(s, "/");
		char *here = xstrndup(path, (size_t)(s + n - path));
		at = add_part(p, at, s, n, is_project ? here : NULL);
		free(here);
		s += n;
		s += *s == '/';
	}
	return at;
}

struct paths *paths_new(struct repo *r, const char *const *path, size_t npath)
{
	struct paths *p = xcalloc(1, sizeof *p);
	p->repo = r;
	p->part = array_grow(p->part, 0, &p->cap, sizeof *p->part);
	p->part[p->npart++] = (struct part){ .name = xstrdup("") };
	size_t root = add_path(p, 0, r->prefix, 0);
	for (size_t i = 0; i < npath; i++) {
		if (strncmp(path[i], "..", 2) == 0)
			continue;
		size_t at = add_path(p, root, path[i], 1);
		p->part[at].is_wanted = 1;
	}
	/* Attributes of each folder on the way decide about filters. */
	size_t n = p->npart;
	for (size_t i = 0; i < n; i++) {
		if (!p->part[i].nchild)
			continue;
		size_t at = add_part(p, i, ".gitattributes", 14, NULL);
		p->part[at].is_wanted = 1;
	}
	hash_settings(p);
	return p;
}

void paths_free(struct paths *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->npart; i++) {
		free(p->part[i].name);
		free(p->part[i].path);
		free(p->part[i].child);
		map_release(&p->part[i].known);
	}
	free(p->part);
	free(p->hash);
	commit_info_release(&p->commit);
	free(p);
}

struct hashing {
	struct paths *paths;
	const git_oid *commit;
	int has_link; /* what was met depends on more than the folder */
	struct err *err;
};

/* A link on the way: whatever is wanted behind it is looked up as readers do. */
static int hash_linked(struct hashing *h, size_t at, struct buf *out)
{
	struct paths *p = h->paths;
	struct repo *r = p->repo;
	struct view_entry e;
	h->has_link = 1;
	if (p->part[at].is_wanted && p->part[at].path) {
		if (!r->recent || !git_oid_equal(&r->recent->commit, h->commit)) {
			view_free(r->recent);
			r->recent = NULL;
			if (view_open(r, h->commit, &r->recent, h->err) < 0)
				return -1;
		}
		if (view_find(r->recent, p->part[at].path, &e, h->err) < 0)
			return -1;
		buf_addf(out, "link %d %s ", (int)e.kind, e.path ? e.path : "");
		buf_add(out, e.id.id, GIT_OID_RAWSZ);
		view_entry_release(&e);
	}
	for (size_t i = 0; i < p->part[at].nchild; i++)
		if (hash_linked(h, p->part[at].child[i], out) < 0)
			return -1;
	return 0;
}

static int hash_folder(struct hashing *h, size_t at, const git_oid *id,
    struct sha256 *out)
{
	struct paths *p = h->paths;
	git_tree *tree;
	struct buf text = BUF_INIT;
	int rc = -1, outer = h->has_link;
	size_t known = map_get(&p->part[at].known, id->id, GIT_OID_RAWSZ);
	if (known != MAP_NONE) {
		*out = p->hash[known];
		return 0;
	}
	h->has_link = 0;
	if (git_tree_lookup(&tree, p->repo->bare, repo_replaced(p->repo, id)) < 0) {
		repo_missing(p->repo, h->err, "tree", id);
		return err_wrap(h->err, "in commit %.7s", git_oid_tostr_s(h->commit));
	}
	for (size_t i = 0; i < p->part[at].nchild; i++) {
		size_t c = p->part[at].child[i];
		const git_tree_entry *e = git_tree_entry_byname(tree, p->part[c].name);
		buf_addf(&text, "%zu ", i);
		if (!e)
			continue;
		git_object_t type = git_tree_entry_type(e);
		if (git_tree_entry_filemode(e) == GIT_FILEMODE_LINK) {
			if (hash_linked(h, c, &text) < 0)
				goto out;
			buf_addstr(&text, "link ");
			buf_add(&text, git_tree_entry_id(e)->id, GIT_OID_RAWSZ);
			continue;
		}
		buf_addf(&text, "%d ", (int)type);
		if (p->part[c].is_wanted)
			buf_add(&text, git_tree_entry_id(e)->id, GIT_OID_RAWSZ);
		if (type == GIT_OBJECT_TREE && p->part[c].nchild) {
			struct sha256 sub;
			if (hash_folder(h, c, git_tree_entry_id(e), &sub) < 0)
				goto out;
			buf_add(&text, sub.byte, sizeof sub.byte);
		}
	}
	sha256_of(text.data, text.len, out);
	if (!h->has_link) {
		p->hash = array_grow(p->hash, p->nhash, &p->hash_cap, sizeof *p->hash);
		map_put(&p->part[at].known, id->id, GIT_OID_RAWSZ, p->nhash);
		p->hash[p->nhash++] = *out;
	}
	rc = 0;
out:
	h->has_link |= outer;
	git_tree_free(tree);
	buf_release(&text);
	return rc;
}

int paths_hash(struct paths *p, const char *commit_id, struct sha256 *out,
    struct err *err)
{
	git_oid id;
	struct sha256 pair[2] = { p->settings };
	struct buf text = BUF_INIT;
	if (repo_parse_id(commit_id, &id, err) < 0 ||
	    repo_read_commit(p->repo, &id, &p->commit, err) < 0)
		return -1;
	struct hashing h = { p, &id, 0, err };
	int rc = hash_folder(&h, 0, &p->commit.tree, &pair[1]);
	buf_add(&text, pair, sizeof pair);
	if (p->part[0].is_wanted)
		buf_add(&text, p->commit.tree.id, GIT_OID_RAWSZ);
	sha256_of(text.data, text.len, out);
	buf_release(&text);
	return rc;
}

#include "util/tree.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "util/buf.h"
#include "util/mem.h"

int tree_lookup(struct tree *tree, const char *path, enum tree_kind *kind,
    char **resolved, struct err *err)
{
	*resolved = NULL;
	return tree->ops->lookup(tree, path, kind, resolved, err);
}

int tree_read(struct tree *tree, const char *resolved, size_t max, struct buf *out,
    struct err *err)
{
	return tree->ops->read(tree, resolved, max, out, err);
}

int tree_hash(struct tree *tree, const char *resolved, struct sha256 *out,
    struct err *err)
{
	return tree->ops->hash(tree, resolved, out, err);
}

static int has_changed(const char *path, struct err *err)
{
	err_set(err, STATUS_FAILED,
	    "'%s' was changed while it was in use; "
	    "run stbuild again",
	    path);
	err_place(err, path, 0, 0, NULL);
	return -1;
}

int tree_read_as(struct tree *tree, const char *resolved, size_t max,
    const struct sha256 *sha, struct buf *out, struct err *err)
{
	struct sha256 got;
	if (tree_read_hashed(tree, resolved, max, out, &got, err))
		return -1;
	return sha256_equal(&got, sha) ? 0 : has_changed(resolved, err);
}

void tree_free(struct tree *tree)
{
	if (tree)
		tree->ops->free(tree);
}

/* Work tree ---------------------------------------------------------------- */

struct dir_tree {
	struct tree tree;
	char *root; /* absolute, links resolved, no slash at the end */
	const struct tree_cache *cache; /* or null */
};

static char *dir_path(const struct dir_tree *t, const char *path)
{
	return xasprintf("%s/%s", t->root, path);
}

static int dir_lookup(struct tree *tree, const char *path, enum tree_kind *kind,
    char **resolved, struct err *err)
{
	struct dir_tree *t = (struct dir_tree *)tree;
	if (path[0] == '/') {
		*kind = TREE_OUTSIDE;
		return 0;
	}
	int result = -1;
	char *full = dir_path(t, path);
	char *real = realpath(full, NULL);
	struct stat st;
	if (!real) {
		switch (errno) {
		case ENOENT:
			*kind = lstat(full, &st) == 0 && S_ISLNK(st.st_mode)
			    ? TREE_OTHER
			    : TREE_ABSENT;
			break;
		case ENOTDIR:
		case ENAMETOOLONG:
			*kind = TREE_ABSENT;
			break;
		case ELOOP:
			*kind = TREE_OTHER;
			break;
		default:
			err_errno(err, STATUS_MACHINE, "cannot look at '%s'", full);
			goto out;
		}
		result = 0;
		goto out;
	}
	size_t nroot = strlen(t->root);
	if (strncmp(real, t->root, nroot) != 0 || (real[nroot] && real[nroot] != '/')) {
		*kind = TREE_OUTSIDE;
	} else if (stat(real, &st)) {
		err_errno(err, STATUS_MACHINE, "cannot look at '%s'", full);
		goto out;
	} else if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) {
		*kind = S_ISREG(st.st_mode) ? TREE_FILE : TREE_FOLDER;
		*resolved = xstrdup(real + nroot + strspn(real + nroot, "/"));
	} else {
		*kind = TREE_OTHER;
	}
	result = 0;
out:
	free(real);
	free(full);
	return result;
}

static int dir_read(struct tree *tree, const char *resolved, size_t max, struct buf *out,
    struct err *err)
{
	char *full = dir_path((struct dir_tree *)tree, resolved);
	int result = fs_read(full, max, out, err);
	free(full);
	return result;
}

static int dir_hash(struct tree *tree, const char *resolved, struct sha256 *out,
    struct err *err)
{
	struct dir_tree *t = (struct dir_tree *)tree;
	char *full = dir_path(t, resolved);
	struct fs_stamp before, after;
	int is_stamped = t->cache && !fs_stamp(full, &before);
	int result = 0;
	if (is_stamped && t->cache->get && !t->cache->get(t->cache->data, &before, out))
		goto out;
	result = fs_hash(full, out, NULL, err);
	if (!result && is_stamped && t->cache->put && !fs_stamp(full, &after) &&
	    fs_stamp_equal(&before, &after))
		t->cache->put(t->cache->data, &after, out);
out:
	free(full);
	return result;
}

/* The hash of what was read is remembered like one that was asked for. */
static int dir_read_hashed(struct dir_tree *t, const char *resolved, size_t max,
    struct buf *out, struct sha256 *sha, struct err *err)
{
	char *full = dir_path(t, resolved);
	size_t start = out->len;
	struct fs_stamp before, after;
	int is_stamped = t->cache && t->cache->put && !fs_stamp(full, &before);
	int result = fs_read(full, max, out, err);
	if (!result) {
		sha256_of(out->data + start, out->len - start, sha);
		if (is_stamped && !fs_stamp(full, &after) &&
		    fs_stamp_equal(&before, &after))
			t->cache->put(t->cache->data, &after, sha);
	}
	free(full);
	return result;
}

static void dir_free(struct tree *tree)
{
	struct dir_tree *t = (struct dir_tree *)tree;
	free(t->tree.name);
	free(t->root);
	free(t);
}

static const struct tree_ops dir_ops = {
	dir_lookup,
	dir_read,
	dir_hash,
	dir_free,
};

int tree_open_dir(const char *root, const struct tree_cache *cache, struct tree **out,
    struct err *err)
{
	*out = NULL;
	char *real = realpath(root, NULL);
	if (!real)
		return err_errno(err, STATUS_INPUT, "cannot open folder '%s'", root);
	if (!fs_is_dir(real)) {
		free(real);
		return err_set(err, STATUS_INPUT, "'%s' is not a folder", root);
	}
	struct dir_tree *t = xcalloc(1, sizeof *t);
	t->tree.ops = &dir_ops;
	t->tree.name = xstrdup(root);
	t->cache = cache;
	/* xstrdup'ed, and "/" becomes "", so that joining never doubles it. */
	t->root = xstrdup(strcmp(real, "/") ? real : "");
	free(real);
	*out = &t->tree;
	return 0;
}

int tree_read_hashed(struct tree *tree, const char *resolved, size_t max, struct buf *out,
    struct sha256 *sha, struct err *err)
{
	size_t start = out->len;
	if (tree->ops == &dir_ops)
		return dir_read_hashed((struct dir_tree *)tree, resolved, max, out, sha,
		    err);
	if (tree_read(tree, resolved, max, out, err))
		return -1;
	sha256_of(buf_str(out) + start, out->len - start, sha);
	return 0;
}

/* Memory ------------------------------------------------------------------- */

struct memory_file {
	char *path;
	void *data;
	size_t n;
};

struct memory_tree {
	struct tree tree;
	struct memory_file *file;
	size_t nfile, cap;
	struct map index;  /* path to index of file[] */
	struct map folder; /* every folder above a file */
};

static struct memory_file *memory_find(struct memory_tree *t, const char *resolved)
{
	size_t i = map_gets(&t->index, resolved);
	return i == MAP_NONE ? NULL : &t->file[i];
}

static int memory_lookup(struct tree *tree, const char *path, enum tree_kind *kind,
    char **resolved, struct err *err)
{
	(void)err;
	struct memory_tree *t = (struct memory_tree *)tree;
	char *clean = path_normalise(path);
	if (clean[0] == '/' || strcmp(clean, "..") == 0 || strncmp(clean, "../", 3) == 0)
		*kind = TREE_OUTSIDE;
	else if (memory_find(t, clean))
		*kind = TREE_FILE;
	else if (!clean[0] || map_gets(&t->folder, clean) != MAP_NONE)
		*kind = TREE_FOLDER;
	else
		*kind = TREE_ABSENT;
	if (*kind == TREE_FILE || *kind == TREE_FOLDER)
		*resolved = clean;
	else
		free(clean);
	return 0;
}

static int memory_read(struct tree *tree, const char *resolved, size_t max,
    struct buf *out, struct err *err)
{
	struct memory_file *f = memory_find((struct memory_tree *)tree, resolved);
	if (!f)
		return err_set(err, STATUS_INPUT, "%s has no file '%s'", tree->name,
		    resolved);
	if (f->n > max)
		return err_set(err, STATUS_INPUT,
		    "'%s' has %zu bytes, more than the limit of %zu", resolved, f->n,
		    max);
	buf_add(out, f->data, f->n);
	return 0;
}

static int memory_hash(struct tree *tree, const char *resolved, struct sha256 *out,
    struct err *err)
{
	struct memory_file *f = memory_find((struct memory_tree *)tree, resolved);
	if (!f)
		return err_set(err, STATUS_INPUT, "%s has no file '%s'", tree->name,
		    resolved);
	sha256_of(f->data, f->n, out);
	return 0;
}

static void memory_free(struct tree *tree)
{
	struct memory_tree *t = (struct memory_tree *)tree;
	for (size_t i = 0; i < t->nfile; i++) {
		free(t->file[i].path);
		free(t->file[i].data);
	}
	free(t->file);
	map_release(&t->index);
	map_release(&t->folder);
	free(t->tree.name);
	free(t);
}

static const struct tree_ops memory_ops = {
	memory_lookup,
	memory_read,
	memory_hash,
	memory_free,
};

static struct memory_tree *memory_tree(struct tree *tree)
{
	if (tree->ops != &memory_ops)
		BUG("not a tree in memory: %s", tree->name);
	return (struct memory_tree *)tree;
}

struct tree *tree_new_memory(const char *name)
{
	struct memory_tree *t = xcalloc(1, sizeof *t);
	t->tree.ops = &memory_ops;
	t->tree.name = xstrdup(name);
	return &t->tree;
}

void tree_memory_add(struct tree *tree, const char *path, const void *data, size_t n)
{
	struct memory_tree *t = memory_tree(tree);
	char *clean = path_normalise(path);
	struct memory_file *f = memory_find(t, clean);
	if (f) {
		free(clean);
	} else {
		t->file = array_grow(t->file, t->nfile, &t->cap, sizeof *t->file);
		f = &t->file[t->nfile];
		*f = (struct memory_file){ clean, NULL, 0 };
		map_puts(&t->index, clean, t->nfile++);
		for (char *slash = strchr(clean, '/'); slash;
		     slash = strchr(slash + 1, '/'))
			map_put(&t->folder, clean, (size_t)(slash - clean), 1);
	}
	void *copy = xmemdup(data, n);
	free(f->data);
	f->data = copy;
	f->n = n;
}

const char *tree_memory_file(const struct tree *tree, size_t i, const void **data,
    size_t *n)
{
	const struct memory_tree *t = (const struct memory_tree *)tree;
	if (tree->ops != &memory_ops)
		BUG("not a tree in memory: %s", tree->name);
	if (i >= t->nfile)
		return NULL;
	*data = t->file[i].data;
	*n = t->file[i].n;
	return t->file[i].path;
}

/* Inputs ------------------------------------------------------------------- */

void inputs_add(struct inputs *inputs, const char *path, const struct sha256 *sha_or_null)
{
	if (!inputs)
		return;
	char *clean = path_normalise(path);
	size_t known = map_gets(&inputs->index, clean);
	if (known != MAP_NONE) {
		const struct input *first = &inputs->input[known];
		int is_same = first->is_absent == !sha_or_null &&
		    (!sha_or_null || sha256_equal(&first->sha, sha_or_null));
		if (!is_same && !inputs->changed)
			inputs->changed = clean;
		else
			free(clean);
		return;
	}
	map_puts(&inputs->index, clean, inputs->ninput);
	inputs->input = array_grow(inputs->input, inputs->ninput, &inputs->cap,
	    sizeof *inputs->input);
	struct input *in = &inputs->input[inputs->ninput++];
	*in = (struct input){ .path = clean, .is_absent = !sha_or_null };
	if (sha_or_null)
		in->sha = *sha_or_null;
}

void inputs_add_probe(struct inputs *inputs, const char *path)
{
	if (!inputs || map_gets(&inputs->probe_index, path) != MAP_NONE)
		return;
	map_puts(&inputs->probe_index, path, 1);
	inputs->probe = array_grow(inputs->probe, inputs->nprobe, &inputs->probe_cap,
	    sizeof *inputs->probe);
	inputs->probe[inputs->nprobe++] = xstrdup(path);
}

void inputs_merge(struct inputs *to, const struct inputs *from)
{
	for (size_t i = 0; i < from->ninput; i++)
		inputs_add(to, from->input[i].path,
		    from->input[i].is_absent ? NULL : &from->input[i].sha);
	for (size_t i = 0; i < from->nprobe; i++)
		inputs_add_probe(to, from->probe[i]);
	if (from->changed && !to->changed)
		to->changed = xstrdup(from->changed);
}

int inputs_check(const struct inputs *inputs, struct err *err)
{
	return inputs->changed ? has_changed(inputs->changed, err) : 0;
}

void inputs_release(struct inputs *inputs)
{
	if (!inputs)
		return;
	for (size_t i = 0; i < inputs->ninput; i++)
		free(inputs->input[i].path);
	for (size_t i = 0; i < inputs->nprobe; i++)
		free(inputs->probe[i]);
	free(inputs->probe);
	free(inputs->changed);
	free(inputs->input);
	map_release(&inputs->index);
	map_release(&inputs->probe_index);
	*inputs = (struct inputs){ 0 };
}

char *path_normalise(const char *path)
{
	char *out = xmalloc(strlen(path) + 1);
	size_t root = path[0] == '/';
	size_t n = 0;
	if (root)
		out[n++] = '/';
	size_t floor = n; /* what ".." cannot take away */
	while (*path) {
		size_t part = strcspn(path, "/");
		if (part == 2 && path[0] == '.' && path[1] == '.' && n > floor) {
			while (n > floor && out[n - 1] != '/')
				n--;
			if (n > floor)
				n--;
		} else if (part == 2 && path[0] == '.' && path[1] == '.' && root) {
			/* "/.." is "/" */
		} else if (part && !(part == 1 && path[0] == '.')) {
			if (n > root)
				out[n++] = '/';
			memcpy(out + n, path, part);
			n += part;
			if (part == 2 && path[0] == '.' && path[1] == '.')
				floor = n;
		}
		path += part;
		path += *path == '/';
	}
	out[n] = '\0';
	return out;
}

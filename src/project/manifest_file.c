/* The manifest as a file of a tree: found, read, its files looked at. */
#include "manifest_keys.h"

#include <stdlib.h>
#include <string.h>

#include "util/limits.h"
#include "util/buf.h"
#include "util/fs.h"
#include "util/log.h"
#include "util/mem.h"

int manifest_find(struct tree *tree, char **path, struct err *err)
{
	static const char *const name[] = {
		"stbuild.json",
		"stbuild.toml",
		"ShaderToy.toml",
	};
	char *found = NULL;
	for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
		enum tree_kind kind;
		char *resolved = NULL;
		if (tree_lookup(tree, name[i], &kind, &resolved, err)) {
			free(found);
			return -1;
		}
		free(resolved);
		if (kind == TREE_ABSENT)
			continue;
		if (found)
			log_warn("using %s; ignoring %s", found, name[i]);
		else
			found = xstrdup(name[i]);
	}
	*path = found;
	return 0;
}

static const char *why_no_file(enum tree_kind kind)
{
	switch (kind) {
	case TREE_ABSENT:
		return "does not exist";
	case TREE_FILE:
		return "is a file";
	case TREE_FOLDER:
		return "is a folder";
	case TREE_OUTSIDE:
		return "is outside the project once links are resolved";
	default:
		return "is not a regular file";
	}
}

struct looker {
	struct tree *tree;
	struct inputs *inputs; /* or null */
	struct map seen;       /* paths that were fine */
};

/* Notes a file or folder of the manifest; STATUS_INPUT when it is none. */
static int look(void *data, const char *path, int is_folder, struct err *err)
{
	struct looker *looker = data;
	enum tree_kind kind;
	char *resolved = NULL, *normal = NULL;
	const char *what = is_folder ? "include folder" : "file";
	struct sha256 sha;
	int result = -1;
	if (!is_folder && map_gets(&looker->seen, path) != MAP_NONE)
		return 0;
	if (tree_lookup(looker->tree, path, &kind, &resolved, err))
		goto out;
	normal = path_normalise(path);
	if (is_folder && kind == TREE_FOLDER) {
		result = 0;
		goto out;
	}
	if (is_folder || kind != TREE_FILE) {
		if (kind == TREE_ABSENT && looker->inputs)
			inputs_add(looker->inputs, normal, NULL);
		if (kind == TREE_OTHER && resolved)
			err_set(err, STATUS_INPUT, "%s '%s' is %s", what, path, resolved);
		else
			err_set(err, STATUS_INPUT, "%s '%s' %s", what, path,
			    why_no_file(kind));
		goto out;
	}
	if (looker->inputs) {
		if (tree_hash(looker->tree, resolved, &sha, err))
			goto out;
		inputs_add(looker->inputs, normal, &sha);
	}
	map_puts(&looker->seen, path, 0);
	result = 0;
out:
	free(resolved);
	free(normal);
	return result;
}

/* Reads the bytes of the manifest. */
static int read_bytes(struct tree *tree, const char *path, struct buf *out,
    struct sha256 *sha, struct err *err)
{
	enum tree_kind kind;
	char *resolved = NULL;
	int result = tree_lookup(tree, path, &kind, &resolved, err);
	if (!result && kind != TREE_FILE) {
		result = err_set(err, STATUS_INPUT, "manifest '%s' in %s %s", path,
		    tree->name, why_no_file(kind));
		err_place(err, path, 0, 0, NULL);
	} else if (!result) {
		result =
		    tree_read_hashed(tree, resolved, LIMIT_MANIFEST_BYTES, out, sha, err);
	}
	free(resolved);
	return result;
}

static int ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);
	return n >= m && strcmp(s + n - m, end) == 0;
}

int manifest_load(struct tree *tree, const char *path, struct inputs *inputs,
    struct manifest *out, struct errs *errs)
{
	struct buf text = BUF_INIT;
	struct doc doc = { 0 };
	struct err err = ERR_INIT;
	struct looker looker = { tree, inputs, MAP_INIT };
	char *normal = path_normalise(path);
	struct sha256 sha;
	int result = -1;
	if (read_bytes(tree, path, &text, &sha, &err)) {
		errs_take(errs, &err);
		goto out;
	}
	if (inputs)
		inputs_add(inputs, normal, &sha);
	if (strspn(buf_str(&text), " \t\r\n") == text.len) {
		errs_add(errs, STATUS_INPUT, path, 1, 1, NULL,
		    "unexpected end of file (the manifest is empty)");
		goto out;
	}
	if (ends_with(path, ".toml")
		? toml_read(path, buf_str(&text), text.len, &doc, &err)
		: json_read(path, buf_str(&text), text.len, JSON_COMMENTS, &doc, &err)) {
		errs_take(errs, &err);
		goto out;
	}
	struct loader l = {
		.doc = &doc,
		.errs = errs,
		.look = look,
		.look_data = &looker,
	};
	result = manifest_load_doc(&l,
	    strcmp(fs_basename(path), "ShaderToy.toml") == 0 ? DIALECT_GLSL
							     : DIALECT_ESSL,
	    out);
	if (!result)
		out->sha = sha;
out:
	map_release(&looker.seen);
	doc_release(&doc);
	buf_release(&text);
	free(normal);
	return result;
}

#include "import/import.h"

#include <string.h>
#include <cjson/cJSON.h>

#include "util/limits.h"
#include "project/doc.h"
#include "project/manifest.h"
#include "glsl/shader.h"
#include "util/buf.h"
#include "util/mem.h"

/* Copies a file, by the path that names it; one that is not there is left. */
static int copy(struct tree *from, const char *path, struct tree *to, struct err *err)
{
	int rc = -1;
	enum tree_kind kind;
	char *resolved = NULL;
	struct buf bytes = BUF_INIT;
	if (tree_lookup(from, path, &kind, &resolved, err) < 0)
		goto out;
	if (kind == TREE_FILE) {
		if (tree_read(from, resolved, LIMIT_ASSET_BYTES, &bytes, err) < 0)
			goto out;
		tree_memory_add(to, path, buf_str(&bytes), bytes.len);
	}
	rc = 0;
out:
	buf_release(&bytes);
	free(resolved);
	return rc;
}

static int copy_all(struct tree *from, const struct manifest *m,
    const struct inputs *inputs, struct tree *to, struct err *err)
{
	for (size_t i = 0; i < inputs->ninput; i++)
		if (!inputs->input[i].is_absent &&
		    strcmp(inputs->input[i].path, m->path) != 0 &&
		    copy(from, inputs->input[i].path, to, err) < 0)
			return -1;
	for (size_t i = 0; i < m->ntest; i++) {
		const struct test *t = &m->test[i];
		if (t->reference && copy(from, t->reference, to, err) < 0)
			return -1;
		for (size_t k = 0; k < t->nstorage; k++)
			if (copy(from, t->storage[k].reference, to, err) < 0)
				return -1;
	}
	return 0;
}

/* Folders that nothing was included from do not come along: not their names. */
static int drop_empty_dirs(struct manifest *m, struct tree *to, struct err *err)
{
	size_t n = 0;
	for (size_t i = 0; i < m->ninclude_dir; i++) {
		enum tree_kind kind;
		char *resolved = NULL;
		if (tree_lookup(to, m->include_dir[i], &kind, &resolved, err) < 0)
			return -1;
		free(resolved);
		char *dir = m->include_dir[i];
		m->include_dir[i] = NULL;
		if (kind == TREE_FOLDER)
			m->include_dir[n++] = dir;
		else
			free(dir);
	}
	m->ninclude_dir = n;
	return 0;
}

int project_read(struct tree *from, const char *path, struct tree **out,
    struct errs *errs)
{
	int rc = -1, failed = 0;
	struct err err = ERR_INIT;
	struct inputs inputs = { 0 };
	struct manifest m;
	struct tree *to = NULL;
	cJSON *json = NULL;
	struct buf text = BUF_INIT;

	*out = NULL;
	if (manifest_load(from, path, &inputs, &m, errs) < 0) {
		inputs_release(&inputs);
		return -1;
	}
	/* Includes become inputs, too. */
	for (size_t i = 0; i < m.npass; i++) {
		struct source source = { 0 };
		if (shader_expand(from, &m, (int)i, 1, &inputs, &source, &err) < 0) {
			errs_take(errs, &err);
			failed = 1;
		}
		source_release(&source);
	}
	if (failed)
		goto out;
	to = tree_new_memory(from->name);
	/* Files first: the manifest is ours, whatever else has its name. */
	if (copy_all(from, &m, &inputs, to, &err) < 0 ||
	    drop_empty_dirs(&m, to, &err) < 0) {
		errs_take(errs, &err);
		goto out;
	}
	json = manifest_to_json(&m, MANIFEST_ALL);
	json_write(json, &text);
	tree_memory_add(to, "stbuild.json", buf_str(&text), text.len);
	*out = to;
	to = NULL;
	rc = 0;
out:
	buf_release(&text);
	cJSON_Delete(json);
	tree_free(to);
	manifest_release(&m);
	inputs_release(&inputs);
	err_release(&err);
	return rc;
}

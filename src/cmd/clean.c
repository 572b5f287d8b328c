#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/output.h"
#include "cmd/session.h"
#include "format/bundle.h"
#include "util/buf.h"
#include "util/fs.h"
#include "util/log.h"
#include "util/mem.h"

static int whole_store;

const struct args_option clean_option[] = {
	{ 0, "store", ARGS_FLAG, &whole_store, 0, 0, NULL,
	    "remove the store, and no bundle" },
	OPTION_END,
};

/* Names in a folder but "." and "..", sorted by nothing. Owned. */
struct names {
	char **name;
	size_t nname, cap;
};

static void names_release(struct names *n)
{
	for (size_t i = 0; i < n->nname; i++)
		free(n->name[i]);
	free(n->name);
	*n = (struct names){ NULL, 0, 0 };
}

static int names_read(const char *dir, struct names *out, struct err *err)
{
	DIR *d = opendir(dir);
	if (!d)
		return err_errno(err, STATUS_MACHINE, "cannot list '%s'", dir);
	struct dirent *e;
	while ((e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		out->name =
		    array_grow(out->name, out->nname, &out->cap, sizeof *out->name);
		out->name[out->nname++] = xstrdup(e->d_name);
	}
	closedir(d);
	return 0;
}

static int is_link(const char *path)
{
	struct stat st;
	return !lstat(path, &st) && S_ISLNK(st.st_mode);
}

static int is_recorded(const struct bundle_row *row, const char *path)
{
	for (size_t i = 0; i < row->nfile; i++)
		if (strcmp(row->file[i].path, path) == 0)
			return 1;
	return strcmp(path, "trace.json") == 0;
}

/*
 * 1 when everything below prefix in the bundle is a file that the row has, at
 * most one folder deep; else 0 with the stranger's path, owned by the caller.
 */
static int is_all_ours(const struct bundle_row *row, const char *dir, const char *prefix,
    char **stranger, struct err *err)
{
	struct names names = { NULL, 0, 0 };
	char *here = *prefix ? fs_join(dir, prefix) : xstrdup(dir);
	int ours = names_read(here, &names, err) < 0 ? -1 : 1;
	free(here);
	for (size_t i = 0; i < names.nname && ours == 1; i++) {
		char *path =
		    *prefix ? fs_join(prefix, names.name[i]) : xstrdup(names.name[i]);
		char *full = fs_join(dir, path);
		if (!is_link(full) && fs_is_dir(full) && !*prefix)
			ours = is_all_ours(row, dir, path, stranger, err);
		else if (!is_recorded(row, path))
			ours = 0;
		if (!ours && !*stranger)
			*stranger = xstrdup(path);
		free(full);
		free(path);
	}
	names_release(&names);
	return ours;
}

struct cleaning {
	struct session *s;
	struct bundle_row *row; /* copies of what clean needs */
	size_t nrow, cap;
	cJSON *removed, *kept;
	int nkept;
};

static int copy_row(void *data, const struct bundle_row *row)
{
	struct cleaning *c = data;
	c->row = array_grow(c->row, c->nrow, &c->cap, sizeof *c->row);
	struct bundle_row *copy = &c->row[c->nrow++];
	*copy = (struct bundle_row){ .path = xstrdup(row->path) };
	copy->file = xcalloc(row->nfile, sizeof *copy->file);
	copy->nfile = row->nfile;
	for (size_t i = 0; i < row->nfile; i++) {
		copy->file[i].key = xstrdup(row->file[i].key);
		copy->file[i].path = xstrdup(row->file[i].path);
		copy->file[i].sha = row->file[i].sha;
	}
	return 0;
}

/* A sound's row is of one file, the path itself. */
static int is_lone_file(const struct bundle_row *row)
{
	return row->nfile == 1 && !*row->file[0].path;
}

/* The same as below, of a lone file. */
static char *reason_to_keep_file(const struct bundle_row *row, const char *path)
{
	struct err err = ERR_INIT;
	struct sha256 sha;
	char *reason = NULL;
	if (is_link(path) || fs_is_dir(path))
		reason = xstrdup("it is no longer a file");
	else if (fs_hash(path, &sha, NULL, &err) < 0)
		reason = xstrdup(err.message);
	else if (!sha256_equal(&sha, &row->file[0].sha))
		reason = xstrdup("it was changed after it was written");
	err_release(&err);
	return reason;
}

/* Why a recorded folder is not removed, owned; null when it may be. */
static char *reason_to_keep(const struct bundle_row *row, const char *path)
{
	static const char suffix[] = ".sttrace";
	size_t n = strlen(path);
	char *stranger = NULL, *reason = NULL;
	struct err err = ERR_INIT;
	struct bundle b = { 0 };
	if (n < sizeof suffix || strcmp(path + n - strlen(suffix), suffix) != 0 ||
	    is_link(path) || !fs_is_dir(path))
		return xstrdup("it is no longer a bundle");
	int ours = is_all_ours(row, path, "", &stranger, &err);
	if (ours < 0)
		reason = xstrdup(err.message);
	else if (!ours)
		reason = xasprintf("it contains a foreign file, '%s'", stranger);
	else if (!bundle_open(path, &b, &err) && !b.tool)
		reason = xstrdup("it was written by another program");
	bundle_release(&b);
	err_release(&err);
	free(stranger);
	return reason;
}

static int clean_bundle(struct cleaning *c, const struct bundle_row *row,
    struct store *store, struct err *err)
{
	const struct options *o = c->s->options;
	char *path = fs_join(c->s->root, row->path);
	char *reason = NULL, *aside = NULL;
	int rc = -1;
	if (fs_exists(path) || is_link(path)) {
		reason = is_lone_file(row) ? reason_to_keep_file(row, path)
					   : reason_to_keep(row, path);
		if (reason) {
			log_warn("keeping '%s': %s", path, reason);
			c->nkept++;
			cJSON_AddItemToArray(c->kept, cJSON_CreateString(path));
			rc = 0;
			goto out;
		}
		/* As a whole first: half a bundle never stands at its path. */
		if (!o->dry_run && fs_set_aside(path, &aside, err) < 0)
			goto out;
		cJSON_AddItemToArray(c->removed, cJSON_CreateString(path));
		if (!o->json && !o->silent && !o->question)
			printf("%s\n", path);
	}
	rc = o->dry_run ? 0 : store_remove_bundle(store, row->path, err);
	if (aside && rc == 0)
		rc = fs_remove(aside, err);
out:
	free(aside);
	free(reason);
	free(path);
	return rc;
}

/* Folders that captures make, once nothing of ours or others is in them. */
static void remove_empty(const char *root)
{
	static const char *const folder[] = { "target/traces", "target/captures",
		"target/sounds" };
	for (size_t i = 0; i < sizeof folder / sizeof *folder; i++) {
		char *path = fs_join(root, folder[i]);
		rmdir(path);
		free(path);
	}
	char *target = fs_join(root, "target");
	char *ignore = fs_join(target, ".gitignore");
	struct names names = { NULL, 0, 0 };
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;
	if (!is_link(target) && fs_is_dir(target) && !names_read(target, &names, &err) &&
	    names.nname == 1 && strcmp(names.name[0], ".gitignore") == 0 &&
	    !is_link(ignore) && !fs_read(ignore, 2, &text, &err) &&
	    strcmp(buf_str(&text), "*\n") == 0 && !unlink(ignore))
		rmdir(target);
	err_release(&err);
	buf_release(&text);
	names_release(&names);
	free(ignore);
	free(target);
}

static int clean_bundles(struct session *s, struct err *err)
{
	struct cleaning c = { .s = s,
		.removed = cJSON_CreateArray(),
		.kept = cJSON_CreateArray() };
	struct store *store;
	int rc = -1;
	if (session_store(s, &store, err) < 0)
		goto out;
	if (store && store_each_bundle(store, copy_row, &c, err) < 0)
		goto out;
	for (size_t i = 0; i < c.nrow; i++)
		if (clean_bundle(&c, &c.row[i], store, err) < 0)
			goto out;
	if (!s->options->dry_run)
		remove_empty(s->root);
	if (s->options->json) {
		cJSON *document = json_start("clean");
		cJSON_AddItemToObject(document, "removed", c.removed);
		cJSON_AddItemToObject(document, "kept", c.kept);
		c.removed = c.kept = NULL;
		if (c.nkept)
			cJSON_ReplaceItemInObject(document, "ok", cJSON_CreateFalse());
		json_print(document);
	}
	rc = c.nkept ? STATUS_FAILED : STATUS_OK;
out:
	for (size_t i = 0; i < c.nrow; i++)
		bundle_row_release(&c.row[i]);
	free(c.row);
	cJSON_Delete(c.removed);
	cJSON_Delete(c.kept);
	return rc;
}

/* 0, or -1 when the folder has what no store has. */
static int is_store(const char *dir, struct err *err)
{
	struct names names = { NULL, 0, 0 };
	int has_db = 0, rc = -1;
	if (is_link(dir)) {
		err_set(err, STATUS_INPUT, "'%s' is a symbolic link; remove it yourself",
		    dir);
		goto out;
	}
	if (names_read(dir, &names, err) < 0)
		goto out;
	for (size_t i = 0; i < names.nname; i++) {
		const char *name = names.name[i];
		int is_db = strncmp(name, "stbuild.db", 10) == 0;
		has_db |= is_db;
		if (is_db || strcmp(name, "objects") == 0 || strcmp(name, "tmp") == 0 ||
		    strcmp(name, "runs") == 0 || strcmp(name, "lock") == 0 ||
		    strcmp(name, ".gitignore") == 0)
			continue;
		err_set(err, STATUS_INPUT,
		    "'%s' contains a foreign file, "
		    "'%s'; nothing was removed",
		    dir, name);
		goto out;
	}
	if (has_db)
		rc = 0;
	else
		err_set(err, STATUS_INPUT, "'%s' is not a store", dir);
out:
	names_release(&names);
	return rc;
}

static int clean_store(struct session *s, struct err *err)
{
	const struct options *o = s->options;
	const char *dir = session_store_dir(s);
	int exists = fs_exists(dir) || is_link(dir);
	struct store *store = NULL;
	int rc = -1;
	if (exists) {
		if (is_store(dir, err) < 0)
			goto out;
		/* Under the lock: nobody builds with what goes away. */
		if (store_open(dir, STORE_EXCLUSIVE, "clean", &store, err) < 0)
			goto out;
		if (!o->dry_run && store_remove(store, err) < 0)
			goto out;
		if (!o->json && !o->silent && !o->question)
			printf("%s\n", dir);
	}
	if (o->json) {
		cJSON *document = json_start("clean");
		cJSON *removed = cJSON_AddArrayToObject(document, "removed");
		if (exists)
			cJSON_AddItemToArray(removed, cJSON_CreateString(dir));
		cJSON_AddArrayToObject(document, "kept");
		json_print(document);
	}
	rc = STATUS_OK;
out:
	store_close(store);
	return rc;
}

int cmd_clean(struct options *o, const struct args_list *operand, struct err *err)
{
	(void)operand;
	struct session s;
	int rc = -1;
	if (session_find(&s, o, "clean", SESSION_USE, err) < 0)
		goto out;
	rc = whole_store ? clean_store(&s, err) : clean_bundles(&s, err);
out:
	session_close(&s);
	return rc;
}

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/output.h"
#include "cmd/session.h"
#include "project/doc.h"
#include "util/limits.h"
#include "format/bundle.h"
#include "import/import.h"
#include "import/shadertoy.h"
#include "format/sttf.h"
#include "util/buf.h"
#include "util/fs.h"
#include "util/log.h"
#include "util/mem.h"

static const char *output, *media;

const struct args_option import_option[] = {
	{ 'o', "output", ARGS_STRING, &output, 0, 0, "DIR",
	    "the new project, absent or empty [the document's name]" },
	{ 0, "media", ARGS_STRING, &media, 0, 0, "DIR",
	    "where the textures of Shadertoy exports are" },
	OPTION_END,
};

static const char *document_name(enum document kind)
{
	switch (kind) {
	case DOCUMENT_STTF:
		return "sttf";
	case DOCUMENT_SHADERTOY:
		return "shadertoy";
	case DOCUMENT_MANIFEST:
		return "manifest";
	case DOCUMENT_BUNDLE:
		return "sttrace";
	case DOCUMENT_SHADER:
		return "shader";
	}
	BUG("document kind %d", (int)kind);
}

/* Reading --------------------------------------------------------------------- */

/* A file name's stem, for documents that have no name of their own. */
static char *stem_of(const char *path)
{
	size_t n = strlen(path);
	while (n > 1 && path[n - 1] == '/')
		n--;
	char *whole = xstrndup(path, n);
	const char *base = fs_basename(whole);
	const char *dot = strrchr(base, '.');
	char *stem =
	    dot && dot > base ? xstrndup(base, (size_t)(dot - base)) : xstrdup(base);
	free(whole);
	return stem;
}

static int read_bundle(const char *path, int *frame, struct tree **out, struct err *err)
{
	struct bundle b = { 0 };
	struct buf text = BUF_INIT;
	int rc = -1;
	if (bundle_open(path, &b, err) < 0 ||
	    bundle_read(&b, "project_sttf", &text, err) < 0)
		goto out;
	rc = sttf_read("project.sttf", buf_str(&text), text.len,
	    b.project ? b.project : "project", out, err);
	if (rc < 0)
		err_wrap(err, "in '%s'", b.dir);
	*frame = b.frame;
out:
	buf_release(&text);
	bundle_release(&b);
	return rc;
}

static int read_manifest(const char *path, struct options *o, struct tree **out,
    struct err *err)
{
	char *dir = fs_dirname(path);
	struct tree *from = NULL;
	struct errs errs = ERRS_INIT;
	int rc = -1;
	if (tree_open_dir(dir, NULL, &from, err) < 0)
		goto out;
	rc = project_read(from, fs_basename(path), out, &errs);
	if (rc < 0)
		errors_end(o, &errs, err);
out:
	errs_release(&errs);
	tree_free(from);
	free(dir);
	return rc;
}

/* *frame gets that of a bundle. */
static int read_document(const char *path, struct options *o, enum document *kind,
    int *frame, struct tree **out, struct err *err)
{
	struct buf bytes = BUF_INIT;
	char *stem = stem_of(path);
	int rc = -1;
	*kind = DOCUMENT_BUNDLE;
	if (fs_is_dir(path)) {
		rc = read_bundle(path, frame, out, err);
		goto out;
	}
	if (fs_read(path, LIMIT_DOCUMENT_BYTES, &bytes, err) < 0 ||
	    recognise(path, &bytes, kind, err) < 0)
		goto out;
	switch (*kind) {
	case DOCUMENT_STTF:
		rc = sttf_read(path, buf_str(&bytes), bytes.len, stem, out, err);
		break;
	case DOCUMENT_SHADERTOY:
		rc = shadertoy_read(path, buf_str(&bytes), bytes.len, media, out, err);
		break;
	case DOCUMENT_MANIFEST:
		rc = read_manifest(path, o, out, err);
		break;
	case DOCUMENT_BUNDLE:
		rc = read_bundle(path, frame, out, err);
		break;
	case DOCUMENT_SHADER:
		rc = bare_read(path, stem, out, err);
		break;
	}
out:
	free(stem);
	buf_release(&bytes);
	return rc;
}

/* The manifest ----------------------------------------------------------------- */

static cJSON *take_manifest(const struct tree *tree)
{
	const void *data = NULL;
	size_t n = 0;
	const char *path;
	for (size_t i = 0; (path = tree_memory_file(tree, i, &data, &n)); i++)
		if (strcmp(path, "stbuild.json") == 0)
			break;
	cJSON *json = path ? cJSON_ParseWithLength(data, n) : NULL;
	if (!json)
		BUG("an imported project without a manifest");
	return json;
}

static void put_manifest(struct tree *tree, cJSON *json)
{
	struct buf text = BUF_INIT;
	json_write(json, &text);
	tree_memory_add(tree, "stbuild.json", buf_str(&text), text.len);
	buf_release(&text);
	cJSON_Delete(json);
}

/*
 * A project without traces gets the one that it has anyway, for people to see
 * and change; that of a bundle is at its frame.
 */
static void add_trace(struct tree *tree, const struct manifest *m, int frame)
{
	cJSON *json = take_manifest(tree);
	if (!cJSON_GetObjectItemCaseSensitive(json, "trace")) {
		cJSON *trace = cJSON_CreateObject();
		cJSON_AddStringToObject(trace, "name", "default");
		if (frame >= 0)
			cJSON_AddNumberToObject(trace, "frame", frame);
		else
			cJSON_AddNumberToObject(trace, "time", m->preview_time);
		cJSON_AddItemToArray(cJSON_AddArrayToObject(json, "trace"), trace);
	}
	put_manifest(tree, json);
}

/* Dialect ---------------------------------------------------------------------- */

/* How many passes do not compile; the first error is in err. -1: no machine. */
static int count_failures(const struct program_env *env, const struct manifest *m,
    struct errs *errs, struct err *err)
{
	struct variant_options options = { 0 };
	struct variant v = { 0 };
	int n = -1;
	if (variant_init(&v, m, NULL, &options, err) < 0)
		goto out;
	n = 0;
	for (size_t i = 0; i < m->npass && n >= 0; i++) {
		struct program p = { 0 };
		if (program_load(env, &v, (int)i, &p, err) < 0) {
			if (err->status == STATUS_MACHINE) {
				n = -1;
			} else {
				n++;
				errs_take(errs, err);
			}
		}
		program_release(&p);
	}
out:
	variant_release(&v);
	return n;
}

static void set_dialect(struct tree *tree, enum dialect dialect)
{
	cJSON *json = take_manifest(tree);
	cJSON *shader = cJSON_GetObjectItemCaseSensitive(json, "shader");
	if (!shader)
		shader = cJSON_AddObjectToObject(json, "shader");
	cJSON_DeleteItemFromObjectCaseSensitive(shader, "dialect");
	cJSON_AddStringToObject(shader, "dialect", dialect_name(dialect));
	put_manifest(tree, json);
}

/*
 * The site compiles ES 3.00; some shaders compile only as desktop GLSL, which
 * lenient drivers let pass. What fits more passes is taken. Without GL the
 * dialect stays as it is.
 */
static int choose_dialect(struct options *o, struct tree *tree, struct manifest *m,
    struct err *err)
{
	struct session s;
	struct program_env env;
	struct errs essl = ERRS_INIT, glsl = ERRS_INIT;
	int rc = -1;
	session_bare(&s, o, "import");
	if (session_programs(&s, &env, err) < 0)
		goto no_machine;
	env.tree = tree;
	env.inputs = NULL;
	m->dialect = DIALECT_ESSL;
	int nessl = count_failures(&env, m, &essl, err);
	int nglsl = 0;
	if (nessl > 0) {
		m->dialect = DIALECT_GLSL;
		nglsl = count_failures(&env, m, &glsl, err);
	}
	if (nessl < 0 || nglsl < 0)
		goto no_machine;
	m->dialect = nglsl < nessl ? DIALECT_GLSL : DIALECT_ESSL;
	if (m->dialect == DIALECT_GLSL) {
		set_dialect(tree, DIALECT_GLSL);
		log_info("chose desktop GLSL: a pass does not compile as GLSL ES");
	}
	struct errs *left = m->dialect == DIALECT_GLSL ? &glsl : &essl;
	for (size_t i = 0; i < left->nerr; i++)
		log_warn("%s", left->err[i].message);
	rc = 0;
	goto out;
no_machine:
	if (err->status == STATUS_MACHINE) {
		log_warn("no shader was compiled, the dialect is a guess: %s",
		    err->message);
		err_release(err);
		m->dialect = DIALECT_ESSL;
		rc = 0;
	}
out:
	errs_release(&essl);
	errs_release(&glsl);
	session_close(&s);
	return rc;
}

/* Writing ------------------------------------------------------------------------ */

/* "My Shader!" -> "my-shader": a name for a folder. */
static char *folder_name(const char *name)
{
	struct buf out = BUF_INIT;
	for (; *name && out.len < 64; name++) {
		unsigned char c = (unsigned char)*name;
		if (isalnum(c) && c < 128)
			buf_addch(&out, (char)tolower(c));
		else if (out.len && out.data[out.len - 1] != '-')
			buf_addch(&out, '-');
	}
	while (out.len && out.data[out.len - 1] == '-')
		out.data[--out.len] = '\0';
	if (!out.len)
		buf_addstr(&out, "project");
	return buf_detach(&out);
}

/* 0 when a project may be put there. */
static int is_free(const char *dir, struct err *err)
{
	struct stat st;
	if (lstat(dir, &st) < 0)
		return errno == ENOENT
		    ? 0
		    : err_errno(err, STATUS_MACHINE, "cannot look at '%s'", dir);
	if (!S_ISDIR(st.st_mode))
		return err_set(err, STATUS_INPUT, "'%s' exists and is not a folder", dir);
	DIR *d = opendir(dir);
	if (!d)
		return err_errno(err, STATUS_MACHINE, "cannot list '%s'", dir);
	int n = 0;
	while (readdir(d))
		n++;
	closedir(d);
	if (n > 2)
		return err_set(err, STATUS_INPUT,
		    "'%s' is not empty; "
		    "choose another folder with -o",
		    dir);
	return 0;
}

static int write_file(const char *dir, const char *path, const void *data, size_t n,
    struct err *err)
{
	/* Readers make these names; a bad one must not leave the folder. */
	char *normal = path_normalise(path);
	int is_bad = normal[0] == '/' || !normal[0] || strcmp(normal, "..") == 0 ||
	    strncmp(normal, "../", 3) == 0;
	char *full = fs_join(dir, normal);
	char *parent = fs_dirname(full);
	int rc = -1;
	if (is_bad)
		err_set(err, STATUS_INPUT,
		    "the document names a file '%s' "
		    "outside the project",
		    path);
	else if (!fs_mkdirs(parent, err))
		rc = fs_write(full, data, n, 0, err);
	free(parent);
	free(full);
	free(normal);
	return rc;
}

/* Moves all that is in one folder into another, the manifest last. */
static int move_into(const char *from, const char *to, struct err *err)
{
	DIR *d = opendir(from);
	if (!d)
		return err_errno(err, STATUS_MACHINE, "cannot list '%s'", from);
	int rc = 0;
	for (int last = 0; last < 2 && !rc; last++) {
		struct dirent *e;
		rewinddir(d);
		while (!rc && (e = readdir(d))) {
			if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
			    last != (strcmp(e->d_name, "stbuild.json") == 0))
				continue;
			char *old = fs_join(from, e->d_name);
			char *new = fs_join(to, e->d_name);
			if (rename(old, new) < 0)
				rc = err_errno(err, STATUS_MACHINE, "cannot write '%s'",
				    new);
			free(old);
			free(new);
		}
	}
	closedir(d);
	return rc;
}

/*
 * Writes all files aside first: a project is there whole or not at all. An
 * empty folder that exists is filled, since somebody may be in it.
 */
static int write_project(struct tree *tree, const char *dir, struct err *err)
{
	size_t n = strlen(dir);
	while (n > 1 && dir[n - 1] == '/')
		n--;
	char *target = xstrndup(dir, n);
	char *parent = fs_dirname(target);
	int exists = fs_exists(target);
	char *aside =
	    xasprintf("%s/.stbuild-import.%ld", exists ? target : parent, (long)getpid());
	const void *data;
	const char *path;
	size_t size;
	int rc = -1;
	if (fs_mkdirs(aside, err) < 0)
		goto out;
	for (size_t i = 0; (path = tree_memory_file(tree, i, &data, &size)); i++)
		if (write_file(aside, path, data, size, err) < 0)
			goto out;
	if (exists)
		rc = move_into(aside, target, err);
	else if (!rename(aside, target))
		rc = 0;
	else
		err_errno(err, STATUS_MACHINE, "cannot put the project at '%s'", target);
out:
	if (rc < 0 || exists) {
		struct err left = ERR_INIT;
		if (fs_remove(aside, &left) < 0)
			log_warn("'%s' is left behind: %s", aside, left.message);
		err_release(&left);
	}
	free(aside);
	free(parent);
	free(target);
	return rc;
}

static void report(const struct options *o, enum document kind, const struct manifest *m,
    const char *dir, struct tree *tree)
{
	const void *data;
	const char *path;
	size_t n;
	if (!o->json) {
		if (!o->silent && !o->question)
			printf("%s\n", dir);
		return;
	}
	cJSON *document = json_start("import");
	cJSON_AddStringToObject(document, "path", dir);
	cJSON_AddStringToObject(document, "kind", document_name(kind));
	cJSON_AddStringToObject(document, "project", m->name);
	cJSON_AddStringToObject(document, "dialect", dialect_name(m->dialect));
	cJSON *files = cJSON_AddArrayToObject(document, "files");
	for (size_t i = 0; (path = tree_memory_file(tree, i, &data, &n)); i++)
		cJSON_AddItemToArray(files, cJSON_CreateString(path));
	json_print(document);
}

int cmd_import(struct options *o, const struct args_list *operand, struct err *err)
{
	struct tree *tree = NULL;
	struct manifest m = { 0 };
	struct errs errs = ERRS_INIT;
	enum document kind;
	char *dir = NULL;
	int loaded = 0, frame = -1, rc = -1;
	if (!operand->nitem)
		return err_set(err, STATUS_INPUT, "name a file to import");
	if (o->dry_run)
		return err_set(err, STATUS_INPUT,
		    "import only writes files: "
		    "omit -n and -q");
	if (output && is_free(output, err) < 0)
		return -1;
	if (read_document(operand->item[0], o, &kind, &frame, &tree, err) < 0)
		goto out;
	if (manifest_load(tree, "stbuild.json", NULL, &m, &errs) < 0) {
		errors_end(o, &errs, err);
		goto out;
	}
	loaded = 1;
	dir = output ? xstrdup(output) : folder_name(m.name);
	if (is_free(dir, err) < 0)
		goto out;
	add_trace(tree, &m, frame);
	if ((kind == DOCUMENT_SHADERTOY || kind == DOCUMENT_SHADER) &&
	    choose_dialect(o, tree, &m, err) < 0)
		goto out;
	if (write_project(tree, dir, err) < 0)
		goto out;
	report(o, kind, &m, dir, tree);
	rc = STATUS_OK;
out:
	if (loaded)
		manifest_release(&m);
	errs_release(&errs);
	tree_free(tree);
	free(dir);
	return rc;
}

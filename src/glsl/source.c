#include "glsl/source.h"

#include <string.h>

#include "glsl/glsl.h"
#include "util/limits.h"
#include "util/utf8.h"
#include "util/fs.h"
#include "util/map.h"
#include "util/mem.h"

/* A directive that expansion has to look at. */
enum mark_kind {
	MARK_INCLUDE,
	MARK_IF,
	MARK_ELSE,
	MARK_ENDIF,
	MARK_LINE,
	MARK_ONCE,
	MARK_OTHER
};

struct mark {
	enum mark_kind kind;
	size_t at, word, end; /* "#", end of its name, end of the directive */
	int line, next_line;  /* of "#"; of what follows */
	size_t hash;          /* token of "#" */
};

struct file {              /* read once, used as often as included */
	char *path;        /* resolved */
	struct sha256 sha; /* of its bytes */
	struct buf text;
	struct mark *mark;
	size_t nmark, cap;
	struct glsl g; /* of text */
	int nopen;     /* how often it is being expanded */
	size_t depth;  /* of conditions where that began last */
	int is_once;   /* it said so */
};

struct expansion {
	struct tree *tree;
	const struct source_request *request;
	struct preprocessor *macros;
	char **resolved_dir;
	struct inputs *inputs;
	struct file **file; /* source number - 1 */
	size_t nfile, cap;
	struct map index; /* resolved path to index of file[] */
	struct map probe; /* path to index of file[] + 1, 0 absent */
	struct file *open[LIMIT_INCLUDE_DEPTH + 1];
	int depth;    /* of open[] */
	int nbranch;  /* #ifs that are open */
	int has_seam; /* within the outermost of them */
	struct buf out;
};

/* Files -------------------------------------------------------------------- */

/* Bytes as read into clean text: UTF-8, lines end with LF, the last one too. */
static int clean(struct file *f, const struct buf *raw, struct err *err)
{
	const char *s = buf_str(raw), *end = s + raw->len;
	size_t valid = utf8_invalid(s, raw->len);
	const char *nul = memchr(s, '\0', valid);
	const char *stop = nul ? nul : s + valid;
	if (end - s >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0)
		s += 3;
	const char *line_at = s;
	int line = 1;
	char *to = buf_reserve(&f->text, raw->len + 1);
	for (; s < stop; line_at = s) {
		size_t n = 0;
		while (s + n < stop && s[n] != '\r' && s[n] != '\n')
			n++;
		memcpy(to, s, n);
		to += n;
		s += n;
		if (s == stop)
			break;
		s += *s == '\r' && s + 1 < stop && s[1] == '\n' ? 2 : 1;
		*to++ = '\n';
		line++;
	}
	if (stop < end) {
		err_set(err, STATUS_INPUT, "%s",
		    nul ? "a NUL byte; this is not a text file"
			: "not UTF-8; save the file in that encoding");
		err_place(err, f->path, line, (int)(stop - line_at) + 1, NULL);
		return -1;
	}
	if (to > f->text.data && to[-1] != '\n')
		*to++ = '\n';
	*to = '\0';
	f->text.len = (size_t)(to - f->text.data);
	return 0;
}

static void find_marks(struct file *f)
{
	static const struct {
		const char *word;
		enum mark_kind kind;
	} kinds[] = {
		{ "include", MARK_INCLUDE },
		{ "line", MARK_LINE },
		{ "if", MARK_IF },
		{ "ifdef", MARK_IF },
		{ "ifndef", MARK_IF },
		{ "else", MARK_ELSE },
		{ "elif", MARK_ELSE },
		{ "endif", MARK_ENDIF },
	};
	struct glsl *g = &f->g;
	glsl_lex(g, buf_str(&f->text), f->text.len);
	for (size_t i = 0; i < g->ntoken; i++) {
		if (g->token[i].kind != GLSL_HASH)
			continue;
		size_t k = 0, nkind = sizeof kinds / sizeof *kinds;
		while (k < nkind && !glsl_is(g, i + 1, kinds[k].word))
			k++;
		enum mark_kind kind = k < nkind ? kinds[k].kind
		    : glsl_is(g, i + 1, "pragma") && glsl_is(g, i + 2, "once")
		    ? MARK_ONCE
		    : MARK_OTHER;
		const struct glsl_token *word = &g->token[i + 1];
		size_t last = i + 1;
		while (g->token[last].kind != GLSL_LINE_END)
			last++;
		f->mark = array_grow(f->mark, f->nmark, &f->cap, sizeof *f->mark);
		f->mark[f->nmark++] = (struct mark){
			kind,
			g->token[i].at,
			word->at + word->len,
			g->token[last].at,
			(int)g->token[i].line,
			(int)g->token[last].line + 1,
			i,
		};
	}
}

static void file_free(struct file *f)
{
	if (!f)
		return;
	free(f->path);
	glsl_release(&f->g);
	buf_release(&f->text);
	free(f->mark);
	free(f);
}

/* The file at a resolved path, read or remembered. Its number is index + 1. */
static int load(struct expansion *e, const char *resolved, const char *probed,
    size_t *index, struct err *err)
{
	*index = map_gets(&e->index, resolved);
	if (*index != MAP_NONE) {
		inputs_add(e->inputs, probed, &e->file[*index]->sha);
		return 0;
	}
	int result = -1;
	struct buf raw = BUF_INIT;
	struct file *f = xcalloc(1, sizeof *f);
	f->path = xstrdup(resolved);
	if (tree_read_hashed(e->tree, resolved, LIMIT_SOURCE_BYTES, &raw, &f->sha, err)) {
		err_place(err, resolved, 0, 0, NULL);
		goto out;
	}
	inputs_add(e->inputs, probed, &f->sha);
	static const char lfs[] = "version https://git-lfs.github.com/spec/";
	if (strncmp(buf_str(&raw), lfs, sizeof lfs - 1) == 0) {
		err_set(err, STATUS_INPUT,
		    "a Git LFS pointer; fetch the file itself with 'git lfs pull'");
		err_place(err, resolved, 0, 0, NULL);
		goto out;
	}
	if (clean(f, &raw, err))
		goto out;
	find_marks(f);
	*index = e->nfile;
	map_puts(&e->index, resolved, *index);
	e->file = array_grow(e->file, e->nfile, &e->cap, sizeof *e->file);
	e->file[e->nfile++] = f;
	f = NULL;
	result = 0;
out:
	file_free(f);
	buf_release(&raw);
	return result;
}

/*
 * Looks at one place. *number is the source number of the file there, 0 when
 * nothing is.
 */
static int probe(struct expansion *e, const char *path, size_t *number, struct err *err)
{
	*number = map_gets(&e->probe, path);
	if (*number != MAP_NONE)
		return 0;
	*number = 0;
	int result = -1;
	enum tree_kind kind;
	char *resolved = NULL;
	if (strstr(path, "../"))
		inputs_add_probe(e->inputs, path);
	if (tree_lookup(e->tree, path, &kind, &resolved, err))
		return -1;
	if (kind == TREE_OUTSIDE) {
		err_set(err, STATUS_INPUT, "'%s' is outside the project", path);
		goto out;
	}
	if (kind == TREE_OTHER) {
		err_set(err, STATUS_INPUT, "'%s' is %s", path,
		    resolved ? resolved : "not a readable file");
		goto out;
	}
	if (kind == TREE_FILE) {
		/* Behind a link, "x/.." is not what its spelling says. */
		const char *name = strstr(path, "/../") ? resolved : path;
		size_t index;
		if (load(e, resolved, name, &index, err))
			goto out;
		*number = index + 1;
	} else {
		char *normal = path_normalise(path);
		if (strcmp(normal, "..") != 0 && strncmp(normal, "../", 3) != 0)
			inputs_add(e->inputs, normal, NULL);
		free(normal);
	}
	map_puts(&e->probe, path, *number);
	result = 0;
out:
	free(resolved);
	return result;
}

/* Expansion ---------------------------------------------------------------- */

static int column_of(const struct file *f, size_t at)
{
	size_t start = at;
	while (start && f->text.data[start - 1] != '\n')
		start--;
	return (int)(at - start) + 1;
}

static int include_fault(const struct file *f, const struct mark *m, const char *at,
    const char *text, struct err *err)
{
	err_set(err, STATUS_INPUT, "%s", text);
	err_place(err, f->path, m->line, column_of(f, (size_t)(at - f->text.data)), NULL);
	return -1;
}

/* Behind blanks and comments; the directive ends at end. */
static const char *skip_blanks(const char *s, const char *end)
{
	while (s < end) {
		const char *close;
		if (*s == ' ' || (*s >= '\t' && *s <= '\f'))
			s++;
		else if (*s == '\\' && s + 1 < end && s[1] == '\n')
			s += 2;
		else if (*s == '/' && s + 1 < end && s[1] == '/')
			s = end;
		else if (*s == '/' && s + 1 < end && s[1] == '*')
			s = (close = strstr(s + 2, "*/")) && close < end ? close + 2
									 : end;
		else
			break;
	}
	return s;
}

/* The name between the quotes, owned by the caller; null for a fault. */
static char *include_name(const struct file *f, const struct mark *m, const char **quote,
    struct err *err)
{
	const char *s = f->text.data + m->word;
	const char *end = f->text.data + m->end;
	s = skip_blanks(s, end);
	const char *line_end = s + strcspn(s, "\n");
	if (*s == '<') {
		include_fault(f, m, s,
		    "only #include \"name\" is known, <name> is "
		    "not",
		    err);
		return NULL;
	}
	if (*s != '"') {
		include_fault(f, m, s, "#include wants a \"name\"", err);
		return NULL;
	}
	*quote = s;
	const char *name = s + 1;
	const char *close = memchr(name, '"', (size_t)(line_end - name));
	if (!close) {
		include_fault(f, m, s,
		    "the file name of this #include is not "
		    "terminated",
		    err);
		return NULL;
	}
	char *copy = xstrndup(name, (size_t)(close - name));
	const char *fault = !*copy ? "#include of an empty name"
	    : *copy == '/'         ? "#include wants a path within the project"
	    /* To everybody else a comment starts there. */
	    : strstr(copy, "/*") ? "\"/*\" in the name of an #include"
				 : NULL;
	const char *rest = skip_blanks(close + 1, end);
	if (!fault && rest < end) {
		fault = "text after #include";
		s = rest;
	}
	if (!fault)
		return copy;
	include_fault(f, m, s, fault, err);
	free(copy);
	return NULL;
}

static int is_dotted(const char *name)
{
	for (const char *s = name; (s = strstr(s, "..")); s += 2)
		if ((s == name || s[-1] == '/') && (!s[2] || s[2] == '/'))
			return 1;
	return 0;
}

/* The file that an include in f names: its own folder, then include_dirs. */
static int find_include(struct expansion *e, const struct file *f, const char *name,
    size_t *number, struct err *err)
{
	struct buf looked = BUF_INIT;
	*number = 0;
	int result = 0;
	for (size_t i = 0; i <= e->request->ninclude_dir && !*number && !result; i++) {
		char *dir = i == 0
		    ? fs_dirname(f->path)
		    : xstrdup(is_dotted(name) ? e->resolved_dir[i - 1]
					      : e->request->include_dir[i - 1]);
		char *path = fs_join(dir, name);
		result = probe(e, path, number, err);
		buf_addf(&looked, "%s'%s'", i ? ", " : "", path);
		free(path);
		free(dir);
	}
	if (!result && !*number)
		result = err_set(err, STATUS_INPUT,
		    "cannot find include \"%s\"; looked for %s", name, buf_str(&looked));
	buf_release(&looked);
	return result;
}

static int fault_of_cycle(const struct expansion *e, const struct file *f,
    struct err *err)
{
	struct buf text = BUF_INIT;
	int i = e->depth - 1;
	while (e->open[i] != f)
		i--;
	for (; i < e->depth; i++)
		buf_addf(&text, "%s -> ", e->open[i]->path);
	err_set(err, STATUS_INPUT, "#include cycle: %s%s", buf_str(&text), f->path);
	buf_release(&text);
	return -1;
}

/* An include that is not to be: lines stay where they are. */
static void add_empty(struct expansion *e, const struct mark *m)
{
	for (int line = m->line; line < m->next_line; line++)
		buf_addch(&e->out, '\n');
}

/* One in a branch that is not taken, for who wants the file all the same. */
static void note_inactive(struct expansion *e, const struct file *f, const struct mark *m)
{
	struct err err = ERR_INIT;
	const char *quote;
	size_t number;
	char *name = include_name(f, m, &quote, &err);
	if (name && find_include(e, f, name, &number, &err))
		number = 0; /* not there: nobody asked for it */
	free(name);
	err_release(&err);
}

static int expand(struct expansion *e, size_t number, struct err *err);

static int expand_include(struct expansion *e, const struct file *f, const struct mark *m,
    size_t self, struct err *err)
{
	const char *quote;
	char *name = include_name(f, m, &quote, err);
	if (!name)
		return -1;
	int result = -1;
	int column = column_of(f, (size_t)(quote - f->text.data));
	size_t number;
	if (find_include(e, f, name, &number, err))
		goto fault;
	const struct file *included = e->file[number - 1];
	if (included->is_once) {
		add_empty(e, m);
		result = 0;
		goto out;
	}
	/* Only a condition on the way can end it. */
	int is_deep = e->depth > LIMIT_INCLUDE_DEPTH;
	if (included->nopen &&
	    (is_deep || included->depth == preprocessor_depth(e->macros))) {
		fault_of_cycle(e, included, err);
		goto fault;
	}
	if (is_deep) {
		err_set(err, STATUS_INPUT, "includes are nested more than %d deep",
		    LIMIT_INCLUDE_DEPTH);
		goto fault;
	}
	if (e->nbranch)
		e->has_seam = 1;
	if (e->out.len && e->out.data[e->out.len - 1] != '\n')
		buf_addch(&e->out, '\n');
	if (expand(e, number, err))
		goto fault;
	buf_addf(&e->out, "#line %d %zu\n", m->next_line, self);
	result = 0;
	goto out;
fault:
	/* The way down to it from the pass, without the middle of a long one. */
	if (!err->file)
		err_place(err, f->path, m->line, column, NULL);
	else if (e->depth <= 3)
		err_wrap(err, "included from %s:%d", f->path, m->line);
out:
	free(name);
	return result;
}

/* A #line of the user's: its line number stays, anything else goes. */
static void blank_line_directive(struct expansion *e, const struct file *f,
    const struct mark *m)
{
	size_t from = e->out.len;
	buf_add(&e->out, f->text.data + m->at, m->end - m->at);
	char *s = e->out.data + from;
	char *number = s + (m->word - m->at);
	number += strspn(number, " \t");
	size_t n = strspn(number, "0123456789");
	int is_plain = n && n < 8 && strspn(number, " \t0123456789") == strlen(number);
	for (char *c = is_plain ? number + n : s; *c; c++)
		if (*c != '\n')
			*c = ' ';
}

/*
 * What stands in the text for the directive, and what it means. *at is where
 * the text goes on.
 */
static int expand_mark(struct expansion *e, struct file *f, const struct mark *m,
    size_t number, size_t *at, struct err *err)
{
	size_t behind = m->end + (m->end < f->text.len);
	*at = m->at;
	if (m->kind == MARK_INCLUDE) {
		*at = behind;
		if (preprocessor_is_active(e->macros))
			return expand_include(e, f, m, number, err);
		if (e->request->notes_inactive)
			note_inactive(e, f, m);
		add_empty(e, m);
		return 0;
	}
	preprocessor_directive(e->macros, &f->g, m->hash);
	switch (m->kind) {
	case MARK_LINE:
		blank_line_directive(e, f, m);
		*at = m->end;
		break;
	case MARK_ONCE:
		f->is_once |= preprocessor_is_active(e->macros);
		break;
	case MARK_IF:
		e->nbranch++;
		break;
	case MARK_ELSE:
	case MARK_ENDIF:
		if (m->kind == MARK_ENDIF && e->nbranch)
			e->nbranch--;
		if (!e->has_seam)
			break;
		buf_add(&e->out, f->text.data + *at, behind - *at);
		buf_addf(&e->out, "#line %d %zu\n", m->next_line, number);
		*at = behind;
		if (!e->nbranch)
			e->has_seam = 0;
		break;
	case MARK_INCLUDE:
	case MARK_OTHER:
		break;
	}
	return 0;
}

static int expand(struct expansion *e, size_t number, struct err *err)
{
	struct file *f = e->file[number - 1];
	size_t at = 0, depth = f->depth;
	int result = -1;
	f->nopen++;
	f->depth = preprocessor_depth(e->macros);
	e->open[e->depth++] = f;
	buf_addf(&e->out, "#line 1 %zu\n", number);
	for (size_t i = 0; i < f->nmark; i++) {
		buf_add(&e->out, f->text.data + at, f->mark[i].at - at);
		if (expand_mark(e, f, &f->mark[i], number, &at, err))
			goto out;
		if (e->out.len > LIMIT_EXPANDED_BYTES)
			break;
	}
	buf_add(&e->out, buf_str(&f->text) + at, f->text.len - at);
	if (e->out.len > LIMIT_EXPANDED_BYTES) {
		err_set(err, STATUS_INPUT, "with its includes this is more than %u MiB",
		    LIMIT_EXPANDED_BYTES >> 20);
		err_place(err, e->open[0]->path, 0, 0, NULL);
		goto out;
	}
	result = 0;
out:
	f->nopen--;
	f->depth = depth;
	e->depth--;
	return result;
}

/* A file of the manifest: the pass's own, or common. */
static int expand_root(struct expansion *e, const char *path, struct err *err)
{
	size_t number;
	if (probe(e, path, &number, err)) {
		if (!err->file)
			err_place(err, path, 0, 0, NULL);
		return -1;
	}
	if (!number) {
		err_set(err, STATUS_INPUT, "no such file in %s", e->tree->name);
		err_place(err, path, 0, 0, NULL);
		return -1;
	}
	e->nbranch = e->has_seam = 0;
	return expand(e, number, err);
}

static int resolve_dirs(struct expansion *e, struct err *err)
{
	const struct source_request *r = e->request;
	e->resolved_dir = xcalloc(r->ninclude_dir + 1, sizeof *e->resolved_dir);
	for (size_t i = 0; i < r->ninclude_dir; i++) {
		enum tree_kind kind;
		if (tree_lookup(e->tree, r->include_dir[i], &kind, &e->resolved_dir[i],
			err))
			return -1;
		if (kind != TREE_FOLDER)
			return err_set(err, STATUS_INPUT, "include folder '%s' %s",
			    r->include_dir[i],
			    kind == TREE_ABSENT        ? "does not exist"
				: kind == TREE_OUTSIDE ? "is outside the project"
						       : "is not a folder");
	}
	return 0;
}

int source_expand(struct tree *tree, const struct source_request *request,
    struct inputs *inputs, struct source *out, struct err *err)
{
	struct expansion e = {
		.tree = tree,
		.request = request,
		.inputs = inputs,
		.macros = preprocessor_new(&request->macros),
	};
	*out = (struct source){ 0 };
	int result = -1;
	if (resolve_dirs(&e, err) ||
	    (request->common && expand_root(&e, request->common, err)) ||
	    expand_root(&e, request->path, err))
		goto out;
	out->ntext = e.out.len;
	out->text = buf_detach(&e.out);
	out->nfile = e.nfile + 1;
	out->file = xcalloc(out->nfile, sizeof *out->file);
	out->file[0] = xstrdup("generated text");
	for (size_t i = 0; i < e.nfile; i++)
		out->file[i + 1] = xstrdup(e.file[i]->path);
	result = 0;
out:
	preprocessor_free(e.macros);
	for (size_t i = 0; i < e.nfile; i++)
		file_free(e.file[i]);
	free(e.file);
	for (size_t i = 0; e.resolved_dir && i < request->ninclude_dir; i++)
		free(e.resolved_dir[i]);
	free(e.resolved_dir);
	map_release(&e.index);
	map_release(&e.probe);
	buf_release(&e.out);
	return result;
}

void source_release(struct source *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nfile; i++)
		free(s->file[i]);
	free(s->file);
	free(s->text);
	*s = (struct source){ 0 };
}

/* "#line N S" of ours, as expand writes it. */
static int is_seam(const char *s, int *line, int *file)
{
	if (strncmp(s, "#line ", 6) != 0)
		return 0;
	char *end;
	unsigned long n = strtoul(s + 6, &end, 10);
	if (end == s + 6 || *end != ' ' || end[1] < '0' || end[1] > '9')
		return 0;
	unsigned long number = strtoul(end + 1, &end, 10);
	if (*end != '\n')
		return 0;
	*line = (int)n;
	*file = (int)number;
	return 1;
}

/* A walk over the expanded text that knows where each line is from. */
struct walk {
	const char *at, *next; /* this line, the one behind it */
	int text_line, file, line;
	int is_seam;
};

static int walk_next(struct walk *w)
{
	w->at = w->next;
	if (!*w->at)
		return 0;
	size_t n = strcspn(w->at, "\n");
	w->next = w->at + n + (w->at[n] != '\0');
	w->text_line++;
	if (!w->is_seam)
		w->line++;
	w->is_seam = is_seam(w->at, &w->line, &w->file);
	return 1;
}

int source_place(const struct source *source, int text_line, int *file, int *line)
{
	struct walk w = { .next = source->text ? source->text : "" };
	while (walk_next(&w)) {
		if (w.text_line != text_line || w.is_seam)
			continue;
		*file = w.file;
		*line = w.line;
		return 0;
	}
	return -1;
}

char *source_line(const struct source *source, int file, int line)
{
	struct walk w = { .next = source->text ? source->text : "" };
	while (walk_next(&w))
		if (!w.is_seam && w.file == file && w.line == line)
			return xstrndup(w.at, strcspn(w.at, "\n"));
	return NULL;
}

#include "capture_impl.h"

#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "why/account.h"
#include "util/mem.h"

/*
 * The record of an account is a memo "account" by the bundle's path. It has what
 * is the frame's own, and the hash of its shape, which the bundles of a variant
 * share; that has the hashes of the longer texts. Shapes and texts are memos
 * "account-text". So 10,000 frames cost some hundred bytes each.
 *
 *	shape: HASH
 *	frame: 120
 *	intermediates: 0
 *	@KEY			for each pass of the shape, in order; then, where its
 *	~N HASH			recipe is not that of frame 0: line N has that hash,
 *	=N LINE			or is another line; or, where there are fewer lines or
 *	+LINE			more, all of them
 */
#define TEXT_MAX (1 << 20)	/* a longer text is not kept: causes are named less well */
#define RECORD_MAX (64 << 10)

/* Making -------------------------------------------------------------------------- */

static void add_step(const struct manifest *m, const struct variant *v,
	const struct timeline_step *step, struct buf *out)
{
	for (size_t i = 0; i < step->nset; i++) {
		if (v->is_set[step->set[i].uniform])
			continue;
		buf_addf(out, "step %d uniform %s: ", step->frame,
			m->uniform[step->set[i].uniform].name);
		value_print(&step->set[i].value, out);
		buf_addch(out, '\n');
	}
	if (step->has_mouse) {
		buf_addf(out, "step %d mouse: ", step->frame);
		for (int i = 0; i < 4; i++) {
			buf_addstr(out, i ? ", " : "");
			print_float(step->mouse[i], out);
		}
		buf_addch(out, '\n');
	}
	if (step->has_keys) {
		buf_addf(out, "step %d keys: ", step->frame);
		uint8_t down[256] = { 0 };
		for (size_t i = 0; i < step->nkey; i++)
			down[step->key[i]] = 1;
		for (int k = 0, n = 0; k < 256; k++)
			if (down[k])
				buf_addf(out, "%s%d", n++ ? " " : "", k);
		buf_addch(out, '\n');
	}
}

static char *variant_text(const struct variant *v)
{
	const struct manifest *m = v->manifest;
	const struct date *d = &m->date;
	struct buf out = BUF_INIT;

	buf_addf(&out, "size: %dx%d\nfps: ", v->width, v->height);
	print_double(v->fps, &out);
	buf_addf(&out, "\ndate: %04d-%02d-%02dT%02d:%02d:", d->year, d->month,
		d->day, d->hour, d->minute);
	print_double(d->second, &out);
	buf_addf(&out, "\npreset: %s\n", v->preset ? v->preset : "none");
	for (size_t u = 0; u < m->nuniform; u++) {
		buf_addf(&out, "uniform %s: ", m->uniform[u].name);
		value_print(&v->base[u], &out);
		buf_addch(&out, '\n');
	}
	buf_addstr(&out, "mouse: 0, 0, 0, 0\nkeys: \n");
	for (size_t i = 0; i < v->timeline->nstep; i++)
		add_step(m, v, &v->timeline->step[i], &out);
	return buf_detach(&out);
}

static const struct asset *asset_of(const struct manifest *m, const char *path)
{
	for (size_t a = 0; a < m->nasset; a++)
		if (strcmp(m->asset[a].path, path) == 0)
			return &m->asset[a];
	return NULL;
}

static char *files_text(const struct group *g)
{
	const struct manifest *m = g->variant.manifest;
	const struct inputs *inputs = &g->set->inputs;
	struct buf out = BUF_INIT;
	char hex[SHA256_HEX + 1];

	for (size_t i = 0; i < inputs->ninput; i++) {
		const struct input *in = &inputs->input[i];
		const struct asset *asset = asset_of(m, in->path);
		if (in->is_absent || strcmp(in->path, m->path) == 0 ||
		    strchr(in->path, '\n'))
			continue;
		buf_addf(&out, "%s %s: %.16s\t%s\n", asset ?
			asset_kind_name(asset->kind) : "source", in->path,
			sha256_hex(&in->sha, hex), in->path);
	}
	return buf_detach(&out);
}

static char *line_of(const char *s)
{
	char *line = xstrdup(s);

	for (char *p = line; *p; p++)
		if (*p == '\n')
			*p = ' ';
	return line;
}

static char *identity_text(const struct capture *c)
{
	const char *text = c->env->programs.driver->identity_text;

	return xstrdup(text ? text : "");
}

static char *explain(const struct group *g, int p, int frame)
{
	struct buf text = BUF_INIT;
	struct sha256 sha;

	keys_explain(&g->keys, keys_node(&g->keys, p, frame), &text, &sha);
	return buf_detach(&text);
}

/* The first frame whose node of the pass matters. */
static int first_frame(const struct group *g, int p)
{
	uint32_t node = 0;

	while (keys_node_pass(&g->keys, node) != p)
		node++;
	return keys_node_frame(&g->keys, node);
}

/* What all bundles of a group have in common: made once. */
static void make_common(struct capture *c, struct group *g)
{
	struct account *a = &g->account;
	const struct graph *graph = &g->graph;
	struct sha256 sha;

	if (a->tool)
		return;
	a->tool = xstrdup(STBUILD_VERSION);
	a->driver = identity_text(c);
	a->settings = group_settings(&g->variant);
	a->variant = variant_text(&g->variant);
	a->files = files_text(g);
	a->pass = xcalloc(graph->norder + 1, sizeof *a->pass);
	for (size_t i = 0; i < graph->norder; i++) {
		int p = graph->order[i];
		struct buf text = BUF_INIT;
		if (!graph->is_reached[p])
			continue;
		keys_explain_static(&g->keys, p, &c->driver, &text, &sha);
		a->pass[a->npass++] = (struct account_pass){
			.name = line_of(g->variant.manifest->pass[p].name),
			.fixed = buf_detach(&text),
			.base = explain(g, p, first_frame(g, p)),
			.part = g->set->key_program[p].part,
			.npart = g->set->key_program[p].npart };
	}
}

/* The group's account, with what is a job's own. Borrowed until the next. */
static const struct account *make_account(struct capture *c, struct group *g,
	const struct job *job)
{
	struct account *a = &g->account;
	const struct graph *graph = &g->graph;
	char hex[SHA256_HEX + 1];
	size_t n = 0;

	make_common(c, g);
	a->frame = job->frame;
	a->has_intermediates = job->request->include_intermediates;
	for (size_t i = 0; i < graph->norder; i++) {
		int p = graph->order[i];
		uint32_t node = keys_node(&g->keys, p, job->frame);
		if (!graph->is_reached[p])
			continue;
		struct account_pass *pass = &a->pass[n++];
		free(pass->key);
		free(pass->recipe);
		pass->recipe = explain(g, p, job->frame);
		pass->key = xstrndup(sha256_hex(&g->keys.key[node], hex), 16);
	}
	return a;
}

/* Records --------------------------------------------------------------------------- */

static void path_key(const struct job *job, struct sha256 *out)
{
	sha256_of(job->path, strlen(job->path), out);
}

/* Writes "NAME: HASH" of a text, and the text unless it is known to be stored. */
static int add_text(struct capture *c, const char *name, const char *text,
	struct buf *record, struct err *err)
{
	struct sha256 sha;
	char hex[SHA256_HEX + 1];
	size_t n = strlen(text);

	sha256_of(text, n, &sha);
	buf_addf(record, "%s: %s\n", name, sha256_hex(&sha, hex));
	if (n > TEXT_MAX || !map_put(&c->known_text, sha.byte, SHA256_SIZE, 1))
		return 0;
	return store_add_memo(c->env->programs.store, "account-text", &sha,
		text, n, err);
}

static size_t line_length(const char *line)
{
	size_t n = strcspn(line, "\n");

	return n + (line[n] == '\n');
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; *text; text += line_length(text))
		n++;
	return n;
}

/* Where a line's hash is, or its end. */
static size_t tail_of(const char *line, size_t n)
{
	const char *tab = memchr(line, '\t', n);

	return tab ? (size_t)(tab - line) + 1 : n;
}

/* Writes what makes the recipe out of the base. */
static void add_difference(const char *base, const char *recipe, struct buf *out)
{
	int is_alike = count_lines(base) == count_lines(recipe);

	for (int i = 0; *recipe; i++) {
		size_t n = line_length(recipe);
		size_t was = is_alike ? line_length(base) : 0;
		size_t tail = tail_of(recipe, n);
		if (!is_alike)
			buf_addch(out, '+');
		if (!is_alike)
			buf_add(out, recipe, n);
		else if (n == was && memcmp(base, recipe, n) == 0)
			;
		else if (tail < n && tail == tail_of(base, was) &&
		    memcmp(base, recipe, tail) == 0) {
			buf_addf(out, "~%d ", i);
			buf_add(out, recipe + tail, n - tail);
		} else {
			buf_addf(out, "=%d ", i);
			buf_add(out, recipe, n);
		}
		recipe += n;
		base += was;
	}
}

/* The recipe that a base and its differences give. Owned by the caller. */
static char *apply_difference(const char *base, const char *difference)
{
	struct buf out = BUF_INIT;

	if (*difference == '+') {
		for (; *difference; difference += line_length(difference))
			buf_add(&out, difference + 1,
				line_length(difference) - 1);
		return buf_detach(&out);
	}
	for (long i = 0; *base; i++) {
		size_t n = line_length(base);
		size_t whole = line_length(difference);
		size_t number = whole > 0 ?
			strspn(difference + 1, "0123456789") : 0;
		if (number > 0 && difference[number + 1] == ' ' &&
		    strtol(difference + 1, NULL, 10) == i) {
			const char *text = difference + number + 2;
			if (*difference == '~')
				buf_add(&out, base, tail_of(base, n));
			buf_add(&out, text, whole - (size_t)(text - difference));
			difference += whole;
		} else {
			buf_add(&out, base, n);
		}
		base += n;
	}
	return buf_detach(&out);
}

/* What the bundles of a group share, with the texts it names. */
static int add_shape(struct capture *c, const struct account *a, struct buf *record,
	struct err *err)
{
	struct buf shape = BUF_INIT;
	int rc;

	buf_addf(&shape, "tool: %s\n", a->tool);
	rc = add_text(c, "driver", a->driver, &shape, err) ||
		add_text(c, "settings", a->settings, &shape, err) ||
		add_text(c, "variant", a->variant, &shape, err) ||
		add_text(c, "files", a->files, &shape, err) ? -1 : 0;
	for (size_t i = 0; i < a->npass && rc == 0; i++) {
		const struct account_pass *pass = &a->pass[i];
		buf_addf(&shape, "pass: %s\n", pass->name);
		rc = add_text(c, "fixed", pass->fixed, &shape, err);
		for (const char *line = pass->base; *line; ) {
			size_t n = line_length(line);
			buf_addch(&shape, '\t');
			buf_add(&shape, line, n);
			line += n;
		}
	}
	if (rc == 0)
		rc = add_text(c, "shape", buf_str(&shape), record, err);
	buf_release(&shape);
	return rc;
}

int capture_record_why(struct capture *c, struct group *g, const struct job *job,
	struct err *err)
{
	const struct account *a = make_account(c, g, job);
	struct buf record = BUF_INIT;
	struct sha256 key;
	int rc = add_shape(c, a, &record, err);

	buf_addf(&record, "frame: %d\nintermediates: %d\n", a->frame,
		a->has_intermediates);
	for (size_t i = 0; i < a->npass; i++) {
		buf_addf(&record, "@%s\n", a->pass[i].key);
		add_difference(a->pass[i].base, a->pass[i].recipe, &record);
	}
	path_key(job, &key);
	if (rc == 0 && record.len <= RECORD_MAX)
		rc = store_add_memo(c->env->programs.store, "account", &key,
			record.data, record.len, err);
	buf_release(&record);
	return rc;
}

/* The text of a hash, owned by the caller; null when it is lost. */
static char *find_text(struct capture *c, const char *hex)
{
	struct buf text = BUF_INIT;
	struct sha256 sha, now;

	if (sha256_parse(hex, &sha))
		return NULL;
	if (!store_memo(c->env->programs.store, "account-text", &sha, &text)) {
		buf_release(&text);
		return NULL;
	}
	sha256_of(buf_str(&text), text.len, &now);
	if (!sha256_equal(&sha, &now)) {
		buf_release(&text);
		return NULL;
	}
	return buf_detach(&text);
}

static void take_text(struct capture *c, const char *hex, char **out)
{
	free(*out);
	*out = find_text(c, hex);
}

static void read_shape_field(struct capture *c, const char *name, const char *value,
	struct account *a)
{
	if (strcmp(name, "pass") == 0) {
		a->pass = array_grow(a->pass, a->npass, &a->cap,
			sizeof *a->pass);
		a->pass[a->npass++] = (struct account_pass){
			.name = xstrdup(value), .key = xstrdup("") };
	} else if (a->npass > 0 && strcmp(name, "fixed") == 0) {
		take_text(c, value, &a->pass[a->npass - 1].fixed);
	} else if (strcmp(name, "tool") == 0) {
		free(a->tool);
		a->tool = xstrdup(value);
	} else if (strcmp(name, "driver") == 0) {
		take_text(c, value, &a->driver);
	} else if (strcmp(name, "settings") == 0) {
		take_text(c, value, &a->settings);
	} else if (strcmp(name, "variant") == 0) {
		take_text(c, value, &a->variant);
	} else if (strcmp(name, "files") == 0) {
		take_text(c, value, &a->files);
	}
}

/* Splits "NAME: VALUE" in place; null when it is no such line. */
static char *value_of(char *line)
{
	char *colon = strstr(line, ": ");

	if (!colon)
		return NULL;
	*colon = '\0';
	return colon + 2;
}

static void read_shape(struct capture *c, char *text, struct account *a)
{
	struct buf base = BUF_INIT;

	for (char *line = text, *next; ; line = next) {
		size_t n = strcspn(line, "\n");
		int is_end = *line == '\0';
		next = line + n + (line[n] == '\n');
		if (*line == '\t') {
			buf_add(&base, line + 1, n);
			continue;
		}
		line[n] = '\0';
		/* The pass before is whole. */
		if (a->npass > 0 && !a->pass[a->npass - 1].base &&
		    (is_end || strncmp(line, "pass: ", 6) == 0))
			a->pass[a->npass - 1].base = buf_detach(&base);
		if (is_end)
			break;
		char *value = value_of(line);
		if (value)
			read_shape_field(c, line, value, a);
	}
	buf_release(&base);
}

/* The differences of pass number i are over. */
static void end_pass(struct account *a, size_t i, struct buf *difference)
{
	if (i < a->npass && !a->pass[i].recipe)
		a->pass[i].recipe = apply_difference(a->pass[i].base,
			buf_str(difference));
	buf_reset(difference);
}

/* 1 with the account of the bundle as it was recorded; to be released anyway. */
static int find_account(struct capture *c, const struct job *job, struct account *a)
{
	struct buf record = BUF_INIT, difference = BUF_INIT;
	struct sha256 key;
	size_t npass = 0;

	memset(a, 0, sizeof *a);
	path_key(job, &key);
	store_memo(c->env->programs.store, "account", &key, &record);
	buf_addch(&record, '\n');
	for (char *line = record.data, *next; *line; line = next) {
		size_t n = strcspn(line, "\n");
		next = line + n + (line[n] == '\n');
		if (*line == '~' || *line == '=' || *line == '+') {
			buf_add(&difference, line, n + 1);
			continue;
		}
		line[n] = '\0';
		char *value = value_of(line), *shape = NULL;
		if (*line == '@') {
			end_pass(a, npass - 1, &difference);
			if (npass < a->npass) {
				free(a->pass[npass].key);
				a->pass[npass].key = xstrdup(line + 1);
			}
			npass++;
		} else if (value && strcmp(line, "shape") == 0 &&
		    a->npass == 0 && (shape = find_text(c, value))) {
			read_shape(c, shape, a);
		} else if (value && strcmp(line, "frame") == 0) {
			a->frame = atoi(value);
		} else if (value && strcmp(line, "intermediates") == 0) {
			a->has_intermediates = atoi(value);
		}
		free(shape);
	}
	end_pass(a, npass - 1, &difference);
	int is_whole = a->npass > 0 && npass == a->npass && a->tool &&
		a->driver && a->variant;
	for (size_t i = 0; i < a->npass; i++)
		is_whole &= a->pass[i].fixed && a->pass[i].recipe;
	buf_release(&difference);
	buf_release(&record);
	return is_whole;
}

/* Explaining --------------------------------------------------------------------------- */

/* Files of the bundle that are not as they were recorded. */
static void explain_outputs(struct capture *c, const struct job *job, struct reasons *out)
{
	char *dir = fs_join(c->env->root, job->path);

	if (!fs_exists(dir))
		reasons_add(out, REASON_MISSING, "the bundle is missing", NULL,
			NULL, NULL);
	for (size_t i = 0; i < job->row.nfile && fs_exists(dir); i++) {
		const struct bundle_file *f = &job->row.file[i];
		char *path = fs_join(dir, f->path), *what;
		struct sha256 sha;
		struct err err = ERR_INIT;
		if (!fs_exists(path)) {
			what = xasprintf("%s is missing", f->path);
			reasons_add_at(out, REASON_MISSING, what, NULL, NULL,
				NULL, f->path, 0, -1);
			free(what);
		} else if (fs_hash(path, &sha, NULL, &err) ||
		    !sha256_equal(&sha, &f->sha)) {
			what = xasprintf("%s was altered on disk", f->path);
			reasons_add_at(out, REASON_ALTERED, what, NULL, NULL,
				NULL, f->path, 0, -1);
			free(what);
		}
		err_release(&err);
		free(path);
	}
	free(dir);
}

void capture_explain(struct capture *c, struct group *g, struct job *job)
{
	struct reasons *out = &job->result->reasons;
	struct account was;

	if (!job->row.path) {
		reasons_add(out, REASON_NEVER, "was never captured", NULL,
			NULL, NULL);
		return;
	}
	if (job->is_retagged) {
		reasons_add(out, REASON_COMMIT, job->row.dirty ?
			"tagged dirty, and clean now" :
			"made without a commit, and committed now",
			NULL, NULL, NULL);
		return;
	}
	if (!sha256_equal(&job->inputs_id, &job->row.inputs_id)) {
		if (find_account(c, job, &was))
			account_compare(&was, make_account(c, g, job), out);
		account_release(&was);
		if (out->nreason == 0)
			reasons_add(out, REASON_UNKNOWN, "its sources, assets "
				"or settings changed", NULL, NULL, NULL);
	}
	if (!job->is_intact)
		explain_outputs(c, job, out);
	if (out->nreason == 0 && c->env->always)
		reasons_add(out, REASON_FORCED, "everything is made anew (-B)",
			NULL, NULL, NULL);
}

void capture_note_driver(struct capture *c, struct group *g)
{
	struct reasons *out = &c->result->driver;
	struct account was;

	if (out->nreason > 0)
		return;
	for (size_t i = 0; i < g->njob; i++) {
		const struct job *job = &g->job[i];
		if (!job->row.path || sha256_equal(&job->inputs_id,
		    &job->row.inputs_id))
			continue;
		char *now = identity_text(c);
		if (find_account(c, job, &was) && strcmp(was.driver, now) != 0)
			account_compare_drivers(was.driver, now, out);
		free(now);
		account_release(&was);
		return;
	}
}

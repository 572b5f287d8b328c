/*
 * From a document to a struct manifest, by the tables of manifest_keys.c. The
 * kinds with a syntax of their own are in manifest_kinds.c.
 */
#include "manifest_keys.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "glsl/word.h"
#include "util/limits.h"
#include "util/utf8.h"
#include "util/buf.h"
#include "util/mem.h"
#include "util/suggest.h"

/* Kinds: numbers and words. */

static int *int_at(void *out, const struct key *key)
{
	return member(out, key->to);
}

static void load_int(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	long long v;
	if (!load_integer(l, at, item, (long long)key->min, (long long)key->max, &v) &&
	    key->to != KEY_NOWHERE)
		*int_at(out, key) = (int)v;
}

static void load_u32(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	long long v;
	if (!load_integer(l, at, item, (long long)key->min, (long long)key->max, &v))
		*(uint32_t *)member(out, key->to) = (uint32_t)v;
}

static void load_u64(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	long long v;
	if (!load_integer(l, at, item, (long long)key->min, (long long)key->max, &v))
		*(uint64_t *)member(out, key->to) = (uint64_t)v;
}

static void load_double(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	double v;
	if (!load_number(l, at, item, key->min, key->max, key->flags & KEY_ABOVE, &v) &&
	    key->to != KEY_NOWHERE)
		*(double *)member(out, key->to) = v;
}

static void load_bool(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	if (!cJSON_IsBool(item))
		expected(l, at, item, "true or false");
	else
		*int_at(out, key) = cJSON_IsTrue(item);
}

static int word_index(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at)
{
	const char *text = load_text(l, at, item);
	if (!text)
		return -1;
	struct buf all = BUF_INIT;
	int found = -1;
	for (int i = 0; i < key->nword && found < 0; i++) {
		if (strcmp(text, key->word[i]) == 0)
			found = i;
		buf_addf(&all, "%s%s", i ? ", " : "", key->word[i]);
	}
	if (found < 0) {
		const char *near = suggest(text, key->word, (size_t)key->nword);
		fault(l, at, item, "'%s' is not one of %s%s%s%s", text, buf_str(&all),
		    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	}
	buf_release(&all);
	return found;
}

static void load_word(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	int i = word_index(l, key, item, at);
	if (i >= 0 && key->to != KEY_NOWHERE)
		*int_at(out, key) = i;
}

static void load_formats(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	struct pass *pass = out;
	size_t n;
	if (load_list(l, at, item, key->max, &n))
		return;
	int i = 0;
	for (const cJSON *c = item->child; c; c = c->next, i++) {
		struct at here = { at, NULL, (size_t)i };
		int format = word_index(l, key, c, &here);
		if (format >= 0)
			pass->extra_output[i] = (enum format)format;
	}
	pass->nextra_output = i;
}

static void load_triple(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	int *size = int_at(out, key);
	long long v[3], product = 1;
	int i = 0;
	size_t n;
	if (load_list(l, at, item, HUGE_VAL, &n))
		return;
	if (n != 3) {
		fault(l, at, item, "expected 3 integers, got %zu", n);
		return;
	}
	for (const cJSON *c = item->child; c; c = c->next, i++) {
		if (load_integer(l, at, c, 1, i == 2 ? 1 : LIMIT_LOCAL_INVOCATIONS,
			&v[i]))
			return;
		product *= v[i];
	}
	if (product > LIMIT_LOCAL_INVOCATIONS) {
		fault(l, at, item, "%lld invocations exceed the limit of %d", product,
		    LIMIT_LOCAL_INVOCATIONS);
		return;
	}
	for (i = 0; i < 3; i++)
		size[i] = (int)v[i];
}

static void load_range(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	double v[2];
	int i = 0;
	size_t n;
	if (load_list(l, at, item, HUGE_VAL, &n))
		return;
	if (n != 2) {
		fault(l, at, item, "expected 2 numbers, got %zu", n);
		return;
	}
	for (const cJSON *c = item->child; c; c = c->next, i++) {
		if (load_number(l, at, c, -HUGE_VAL, HUGE_VAL, 0, &v[i]))
			return;
	}
	if (v[0] > v[1])
		fault(l, at, item, "the lower bound is greater than the upper one");
	else
		memcpy(member(out, key->to), v, sizeof v);
}

/* Kinds: texts. */

static void put_text(void *out, const struct key *key, const char *text)
{
	char **to = member(out, key->to);
	*to = xstrdup(text);
}

static void load_string(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	const char *text = load_text(l, at, item);
	if (text && key->to != KEY_NOWHERE)
		put_text(out, key, text);
}

static const char *load_nonblank(struct loader *l, const cJSON *item, const struct at *at)
{
	const char *text = load_text(l, at, item);
	if (text && !text[strspn(text, " \t\r\n")]) {
		fault(l, at, item, "a name cannot be blank");
		return NULL;
	}
	return text;
}

static void load_name(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	const char *text = load_nonblank(l, item, at);
	if (text)
		put_text(out, key, text);
}

/* Takes the name; map leads from names to lines. */
static void load_unique(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out, struct map *map, const char *text)
{
	size_t line = map_gets(map, text);
	put_text(out, key, text);
	if (line != MAP_NONE)
		fault(l, at, item, "name '%s' is already used on line %zu", text, line);
	else
		map_puts(map, text, (size_t)doc_mark(l->doc, item)->line);
}

static void load_node_name(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	const char *text = load_nonblank(l, item, at);
	if (!text)
		return;
	if (strcmp(text, "keyboard") == 0 || strcmp(text, "music") == 0 ||
	    strcmp(text, "webcam") == 0)
		fault(l, at, item,
		    "'%s' is reserved for the input "
		    "device",
		    text);
	else
		load_unique(l, key, item, at, out, &l->name, text);
}

static void load_uniform_name(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	const char *text = load_text(l, at, item);
	if (!text)
		return;
	size_t n = strspn(text,
	    "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
	if (!n || text[n] || isdigit((unsigned char)*text)) {
		fault(l, at, item, "'%s' is not a GLSL identifier", text);
		return;
	}
	const char *why =
	    word_fault(text, l->m->dialect == DIALECT_ESSL ? WORD_IN_ESSL : WORD_IN_GLSL);
	if (why) {
		fault(l, at, item, "'%s' %s", text, why);
		return;
	}
	if (uniform_is_reserved(text, l->m->dialect)) {
		fault(l, at, item, "'%s' is reserved for a builtin", text);
		return;
	}
	const struct uniform *u = out;
	if (map_gets(&l->uniform, text) == MAP_NONE)
		map_puts(&l->uniform, text, (size_t)(u - l->m->uniform));
	else
		fault(l, at, item, "uniform '%s' is declared twice", text);
	put_text(out, key, text);
}

static void load_trace_name(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	const char *text = load_text(l, at, item);
	if (!text)
		return;
	size_t n = strspn(text,
	    "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
	if (!n || n > 64 || text[n] || !isalnum((unsigned char)*text))
		fault(l, at, item,
		    "'%.70s' is not a valid trace name (1-64 of "
		    "A-Z a-z 0-9 . _ -, starting with a letter or digit)",
		    text);
	else
		load_unique(l, key, item, at, out, &l->trace, text);
}

static void load_test_name(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	const char *text = load_nonblank(l, item, at);
	if (text)
		load_unique(l, key, item, at, out, &l->test, text);
}

/* A relative path inside the project. The caller's, or null after a fault. */
static char *load_path_text(struct loader *l, const cJSON *item, const struct at *at)
{
	const char *text = load_text(l, at, item);
	if (!text)
		return NULL;
	text += strspn(text, " \t\r\n");
	size_t n = strlen(text);
	while (n && strchr(" \t\r\n", text[n - 1]))
		n--;
	char *path = xstrndup(text, n);
	for (char *p = path; *p; p++)
		if (*p == '\\')
			*p = '/';
	const char *why = NULL;
	if (!*path)
		why = "a path cannot be empty";
	else if (*path == '/' || (isalpha((unsigned char)*path) && path[1] == ':'))
		why = "the path must be relative to the project";
	for (const char *p = path; !why && p; p = strchr(p, '/')) {
		p += *p == '/';
		if (p[0] == '.' && p[1] == '.' && (!p[2] || p[2] == '/'))
			why = "the path must not contain '..'";
	}
	if (!why)
		return path;
	fault(l, at, item, "%s", why);
	free(path);
	return NULL;
}

static void load_path(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	char **to = member(out, key->to);
	*to = load_path_text(l, item, at);
}

/* A file, or a folder, must be there; path may be null: it was a fault. */
static void look_at(struct loader *l, const cJSON *item, const struct at *at,
    const char *path, int is_folder)
{
	struct err err = ERR_INIT;
	if (!path || !l->look || !l->look(l->look_data, path, is_folder, &err))
		return;
	if (err.status == STATUS_INPUT) {
		fault(l, at, item, "%s", err.message);
	} else {
		/* A disk that fails is no fault of the manifest. */
		l->nfault++;
		errs_take(l->errs, &err);
	}
	err_release(&err);
}

static void load_file(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	load_path(l, key, item, at, out);
	look_at(l, item, at, *(char **)member(out, key->to), 0);
}

/* Folders. */
static void load_paths(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	size_t n, i = 0;
	if (load_list(l, at, item, key->max, &n) || !n)
		return;
	char **path = xcalloc(n, sizeof *path);
	for (const cJSON *c = item->child; c; c = c->next, i++) {
		struct at here = { at, NULL, i };
		path[i] = load_path_text(l, c, &here);
		look_at(l, c, &here, path[i], 1);
	}
	memcpy(member(out, key->to), &path, sizeof path);
	*(size_t *)member(out, key->count) = n;
}

/* Kinds: references. */

static void load_pass(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	const char *text = load_text(l, at, item);
	if (text)
		*int_at(out, key) = load_pass_name(l, at, item, 0, text);
}

static void load_preset(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	const char *text = load_text(l, at, item);
	if (!text)
		return;
	if (map_gets(&l->preset, text) == MAP_NONE)
		unknown(l, at, item, 0, "preset", text, l->preset.entry, l->preset.nentry,
		    sizeof *l->preset.entry);
	put_text(out, key, text);
}

static void load_storage(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	const char *text = load_text(l, at, item);
	if (!text)
		return;
	if (map_gets(&l->storage, text) == MAP_NONE)
		unknown(l, at, item, 0, "storage buffer", text, l->storage.entry,
		    l->storage.nentry, sizeof *l->storage.entry);
	put_text(out, key, text);
}

static void load_source(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	static const enum input_kind of_asset[] = {
		INPUT_TEXTURE,
		INPUT_CUBEMAP,
		INPUT_VOLUME,
		INPUT_VIDEO,
	};
	(void)key;
	struct input_ref *input = out;
	const char *text = load_text(l, at, item);
	if (!text)
		return;
	size_t asset = map_gets(&l->asset, text);
	size_t pass = map_gets(&l->pass, text);
	if (strcmp(text, "keyboard") == 0) {
		input->kind = INPUT_KEYBOARD;
	} else if (strcmp(text, "music") == 0) {
		input->kind = INPUT_MUSIC;
	} else if (strcmp(text, "webcam") == 0) {
		input->kind = INPUT_WEBCAM;
	} else if (asset != MAP_NONE) {
		input->asset = (int)asset;
		if (asset < l->m->nasset)
			input->kind = of_asset[l->m->asset[asset].kind];
	} else if (pass != MAP_NONE) {
		input->pass = (int)pass;
		input->kind = INPUT_PASS;
	} else {
		static const char *const device[] = {
			"keyboard",
			"music",
			"webcam",
		};
		struct map all = MAP_INIT;
		for (size_t i = 0; i < l->pass.nentry; i++)
			map_puts(&all, l->pass.entry[i].key, 0);
		for (size_t i = 0; i < l->asset.nentry; i++)
			map_puts(&all, l->asset.entry[i].key, 0);
		for (int i = 0; i < 3; i++)
			map_puts(&all, device[i], 0);
		unknown(l, at, item, 0, "pass or asset", text, all.entry, all.nentry,
		    sizeof *all.entry);
		map_release(&all);
	}
}

/* Kinds: tables. */

static void start(const struct table *table, void *out)
{
	memcpy(out, table->defaults, table->size);
}

static void set_place(struct loader *l, const struct table *table, const cJSON *item,
    void *out)
{
	if (!table->place)
		return;
	const struct doc_mark *mark = doc_mark(l->doc, item);
	int place[2] = { mark->line, mark->column };
	memcpy(member(out, table->place), place, sizeof place);
}

static void load_table(struct loader *l, const struct table *table, const cJSON *item,
    const struct at *at, void *out);

static void load_subtable(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	load_table(l, key->table, item, at, out);
}

static void load_tables(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	size_t n, i = 0;
	if (load_list(l, at, item, key->max, &n) || !n)
		return;
	char *array = xcalloc(n, key->table->size);
	memcpy(member(out, key->to), &array, sizeof array);
	*(size_t *)member(out, key->count) = n;
	for (i = 0; i < n; i++)
		start(key->table, array + i * key->table->size);
	i = 0;
	for (const cJSON *c = item->child; c; c = c->next, i++) {
		struct at here = { at, NULL, i };
		void *element = array + i * key->table->size;
		set_place(l, key->table, c, element);
		load_table(l, key->table, c, &here, element);
	}
}

/* A table of tables: element(i) is told its key. */
static void load_named(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out,
    int (*set_name)(struct loader *, const struct at *, const cJSON *, void *))
{
	size_t n = 0, i = 0;
	if (!cJSON_IsObject(item)) {
		expected(l, at, item, "a table");
		return;
	}
	for (const cJSON *c = item->child; c; c = c->next)
		n++;
	if (!n)
		return;
	if ((double)n > key->max) {
		fault(l, at, item, "too many entries (%zu, at most %.0f)", n, key->max);
		return;
	}
	char *array = xcalloc(n, key->table->size);
	memcpy(member(out, key->to), &array, sizeof array);
	*(size_t *)member(out, key->count) = n;
	for (i = 0; i < n; i++)
		start(key->table, array + i * key->table->size);
	i = 0;
	for (const cJSON *c = item->child; c; c = c->next, i++) {
		struct at here = { at, c->string, 0 };
		void *element = array + i * key->table->size;
		if (!set_name(l, &here, c, element))
			load_table(l, key->table, c, &here, element);
	}
}

static int set_preset_name(struct loader *l, const struct at *at, const cJSON *item,
    void *out)
{
	struct preset *preset = out;
	const char *name = item->string;
	if (utf8_has_nul(name) || !name[strspn(name, " \t\r\n")]) {
		fault_key(l, at, item, "a name cannot be blank");
		return -1;
	}
	preset->name = xstrdup(name);
	map_puts(&l->preset, name, (size_t)(preset - l->m->preset));
	return 0;
}

static void load_presets(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	load_named(l, key, item, at, out, set_preset_name);
}

static int set_pass_name(struct loader *l, const struct at *at, const cJSON *item,
    void *out)
{
	struct preset_pass *pass = out;
	pass->pass = load_pass_name(l, at, item, 1, item->string);
	return pass->pass < 0 ? -1 : 0;
}

static void load_preset_passes(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	load_named(l, key, item, at, out, set_pass_name);
}

/* By key_kind; null: read by a check. */
static load_function *const load_kind[KEY_KINDS] = {
	[KEY_INT] = load_int,
	[KEY_U32] = load_u32,
	[KEY_U64] = load_u64,
	[KEY_NUMBER] = load_double,
	[KEY_BOOL] = load_bool,
	[KEY_TEXT] = load_string,
	[KEY_NAME] = load_name,
	[KEY_NODE_NAME] = load_node_name,
	[KEY_UNIFORM_NAME] = load_uniform_name,
	[KEY_TRACE_NAME] = load_trace_name,
	[KEY_TEST_NAME] = load_test_name,
	[KEY_WORD] = load_word,
	[KEY_PATH] = load_path,
	[KEY_FILE] = load_file,
	[KEY_PATHS] = load_paths,
	[KEY_FORMATS] = load_formats,
	[KEY_TRIPLE] = load_triple,
	[KEY_RANGE] = load_range,
	[KEY_SET] = load_set,
	[KEY_TABLE] = load_subtable,
	[KEY_TABLES] = load_tables,
	[KEY_PRESETS] = load_presets,
	[KEY_PRESET_PASSES] = load_preset_passes,
	[KEY_FRAMES] = load_frames,
	[KEY_RESOLUTIONS] = load_resolutions,
	[KEY_SOURCE] = load_source,
	[KEY_PASS] = load_pass,
	[KEY_PRESET] = load_preset,
	[KEY_STORAGE] = load_storage,
	[KEY_BUDGETS] = load_budgets,
	[KEY_DATE] = load_date,
	[KEY_BYTES] = load_bytes,
	[KEY_AGE] = load_age,
	[KEY_CHECKPOINT] = load_checkpoint,
	[KEY_MOUSE] = load_mouse,
	[KEY_KEYS] = load_keys,
};

static const struct key *find_key(const struct table *table, const char *name)
{
	for (int i = 0; i < table->nkey; i++)
		if (strcmp(table->key[i].name, name) == 0)
			return &table->key[i];
	return NULL;
}

/* Tables within have rules of their own: their faults are not ours. */
static int holds_tables(enum key_kind kind)
{
	return kind == KEY_TABLE || kind == KEY_TABLES || kind == KEY_PRESETS ||
	    kind == KEY_PRESET_PASSES;
}

static void load_table(struct loader *l, const struct table *table, const cJSON *item,
    const struct at *at, void *out)
{
	enum { MOST = 32 };
	const cJSON *child[MOST] = { NULL };
	if (table->nkey > MOST)
		BUG("more than %d keys in a table", MOST);
	if (!cJSON_IsObject(item)) {
		expected(l, at, item, "a table");
		return;
	}
	for (const cJSON *c = item->child; c; c = c->next) {
		const struct key *key = find_key(table, c->string);
		struct at here = { at, c->string, 0 };
		if (key)
			child[key - table->key] = c;
		else
			unknown(l, &here, c, 1, "key", c->string, table->key,
			    (size_t)table->nkey, sizeof *table->key);
	}
	/* A key too many does not make the others wrong. */
	size_t before = l->nfault, inner = 0;
	for (int i = 0; i < table->nkey; i++) {
		const struct key *key = &table->key[i];
		struct at here = { at, key->name, 0 };
		if (!child[i]) {
			if (key->flags & KEY_REQUIRED)
				fault(l, &here, item, "key '%s' is missing", key->name);
			continue;
		}
		if (key->has)
			*(int *)member(out, key->has) = 1;
		size_t faults = l->nfault;
		if (load_kind[key->kind])
			load_kind[key->kind](l, key, child[i], &here, out);
		if (holds_tables(key->kind))
			inner += l->nfault - faults;
	}
	if (table->check && l->nfault - inner == before)
		table->check(l, item, at, out);
}

/* Passes refer to passes further down, so their names come first. */
static void collect_names(const cJSON *root, const char *list, struct map *map)
{
	const cJSON *array = child_of(root, list);
	size_t i = 0;
	if (!cJSON_IsArray(array))
		return;
	for (const cJSON *c = array->child; c; c = c->next, i++) {
		const cJSON *name = cJSON_IsObject(c) ? child_of(c, "name") : NULL;
		if (name && cJSON_IsString(name) &&
		    map_gets(map, name->valuestring) == MAP_NONE)
			map_puts(map, name->valuestring, i);
	}
}

static size_t length(const cJSON *root, const char *list)
{
	const cJSON *array = child_of(root, list);
	size_t n = 0;
	for (const cJSON *c = array ? array->child : NULL; c; c = c->next)
		n++;
	return n;
}

/* By place in the file; n is small. */
static void sort_faults(struct err *err, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct err moved = err[i];
		size_t k = i;
		for (; k &&
		     (err[k - 1].line > moved.line ||
			 (err[k - 1].line == moved.line &&
			     err[k - 1].column > moved.column));
		     k--)
			err[k] = err[k - 1];
		err[k] = moved;
	}
}

static void release_loader(struct loader *l)
{
	map_release(&l->pass);
	map_release(&l->asset);
	map_release(&l->uniform);
	map_release(&l->preset);
	map_release(&l->name);
	map_release(&l->trace);
	map_release(&l->test);
	map_release(&l->storage);
	free(l->pass_ok);
	free(l->asset_ok);
	free(l->uniform_ok);
}

int manifest_load_doc(struct loader *l, enum dialect default_dialect,
    struct manifest *out)
{
	const cJSON *root = l->doc->root;
	*out = manifest_defaults;
	out->dialect = default_dialect;
	out->path = xstrdup(l->doc->name);
	l->m = out;
	size_t before = l->errs->nerr;
	if (!cJSON_IsObject(root)) {
		expected(l, NULL, root, "a table at the top");
	} else {
		collect_names(root, "pass", &l->pass);
		collect_names(root, "asset", &l->asset);
		l->pass_ok = xcalloc(length(root, "pass"), 1);
		l->asset_ok = xcalloc(length(root, "asset"), 1);
		l->uniform_ok = xcalloc(length(root, "uniform"), 1);
		load_table(l, &manifest_root, root, NULL, out);
		check_root(l, root, NULL, out);
	}
	if (l->errs->nerr > before)
		sort_faults(l->errs->err + before, l->errs->nerr - before);
	if (l->nfault > LIMIT_ERRORS)
		errs_add(l->errs, STATUS_INPUT, l->doc->name, 0, 0, NULL, "and %zu more",
		    l->nfault - LIMIT_ERRORS);
	release_loader(l);
	if (l->nfault) {
		manifest_release(out);
		return -1;
	}
	return 0;
}

int manifest_from_doc(const struct doc *doc, enum dialect default_dialect,
    struct manifest *out, struct errs *errs)
{
	struct loader l = { .doc = doc, .errs = errs };
	return manifest_load_doc(&l, default_dialect, out);
}

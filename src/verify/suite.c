#include "verify/suite.h"

#include <stdlib.h>
#include <string.h>

#include "graph/encoder.h"
#include "suite_impl.h"
#include "format/bundle_write.h"
#include "util/buf.h"
#include "util/mem.h"
#include "util/proc.h"
#include "util/suggest.h"
#include "verify/metric.h"

/* Changes when the same bytes may be judged otherwise. */
#define VERDICT_VERSION 2

/* Selection ------------------------------------------------------------------ */

static int matches(const struct test *test, const char *const *name, size_t n,
    int is_exact)
{
	for (size_t i = 0; i < n; i++)
		if (is_exact ? strcmp(test->name, name[i]) == 0
			     : strstr(test->name, name[i]) != NULL)
			return 1;
	return n == 0;
}

static int check_names(const struct manifest *m, const char *const *name, size_t n,
    int is_exact, struct err *err)
{
	int rc = 0;

	if (m->ntest == 0)
		return err_set(err, STATUS_INPUT,
		    "%s has no tests: nothing "
		    "would be run",
		    m->path ? m->path : "the manifest");
	for (size_t i = 0; i < n && rc == 0; i++) {
		const char **known = xcalloc(m->ntest, sizeof *known);
		int is_there = 0;
		for (size_t t = 0; t < m->ntest; t++) {
			known[t] = m->test[t].name;
			is_there |= matches(&m->test[t], &name[i], 1, is_exact);
		}
		const char *near = suggest(name[i], known, m->ntest);
		if (!is_there)
			rc = err_set(err, STATUS_INPUT,
			    "no test has '%s' in "
			    "its name%s%s%s",
			    name[i], near ? "; did you mean '" : "", near ? near : "",
			    near ? "'?" : "");
		free(known);
	}
	return rc;
}

static char **set_texts(const struct manifest *m, const struct assignment *set, size_t n)
{
	char **out = xcalloc(n + 1, sizeof *out);

	for (size_t i = 0; i < n; i++) {
		struct buf text = BUF_INIT;
		buf_addf(&text, "%s=", m->uniform[set[i].uniform].name);
		value_print(&set[i].value, &text);
		out[i] = buf_detach(&text);
	}
	return out;
}

static void free_texts(char **text)
{
	for (size_t i = 0; text && text[i]; i++)
		free(text[i]);
	free(text);
}

static void add_request(struct suite *s, const struct suite_test *t, struct suite_case *c,
    int is_reference)
{
	struct variant_options *o = &c->option[is_reference];
	const struct test *test = c->test;

	if (test->nsize) {
		o->width = c->width;
		o->height = c->height;
	}
	o->set = (const char *const *)(is_reference ? t->reference_set : t->set);
	o->nset = is_reference ? test->nreference_set : test->nset;
	s->request[s->nrequest++] = (struct capture_request){ .name = t->name,
		.frame = &c->frame,
		.nframe = 1,
		.options = o,
		.is_one_off = 1,
		.path = is_reference ? c->reference_path : c->path };
}

static size_t count_cases(const struct test *t)
{
	return (t->nframe ? t->nframe : 1) * (t->nsize ? t->nsize : 1);
}

/* Frames in order, in each the sizes in order. */
static void add_cases(struct suite *s, size_t owner)
{
	const struct suite_test *t = &s->test[owner];
	const struct test *test = t->test;
	const struct manifest *m = s->manifest;
	size_t nframe = test->nframe ? test->nframe : 1;
	size_t nsize = test->nsize ? test->nsize : 1;

	for (size_t i = 0; i < nframe * nsize; i++) {
		struct suite_case *c = &s->item[s->ncase];
		size_t k = i % nsize;
		*c = (struct suite_case){ .test = test,
			.owner = owner,
			.base = s->ncase - k,
			.frame = test->nframe ? test->frame[i / nsize]
					      : frame_of_time(m->preview_time, m->fps),
			.width = test->nsize ? test->size[k][0] : m->width,
			.height = test->nsize ? test->size[k][1] : m->height };
		c->variant = xasprintf("%dx%d@%d", c->width, c->height, c->frame);
		c->path = xasprintf("%s/%s.sttrace", t->folder, c->variant);
		add_request(s, t, c, 0);
		if (test->has_reference_set) {
			c->reference_path =
			    xasprintf("%s/%s-reference.sttrace", t->folder, c->variant);
			add_request(s, t, c, 1);
		}
		s->ncase++;
	}
}

static void add_test(struct suite *s, const struct test *test, const cJSON *json,
    const char *folder, char **stem)
{
	const struct manifest *m = s->manifest;
	struct suite_test *t = &s->test[s->ntest];
	char *text = cJSON_PrintUnformatted(json);

	stem[s->ntest] = bundle_stem(test->name, stem, s->ntest);
	*t = (struct suite_test){ .test = test,
		.name = xasprintf("test:%s", test->name),
		.folder = xasprintf("%s/%s", folder, stem[s->ntest]),
		.text = xstrdup(text),
		.set = set_texts(m, test->set, test->nset),
		.reference_set =
		    set_texts(m, test->reference_set, test->nreference_set) };
	cJSON_free(text);
	s->ntest++;
}

int suite_open(const struct manifest *m, const char *const *name, size_t n, int is_exact,
    const char *folder, struct suite *out, struct err *err)
{
	size_t ncase = 0;

	*out = (struct suite){ .manifest = m };
	if (check_names(m, name, n, is_exact, err))
		return -1;
	cJSON *all = manifest_to_json(m, MANIFEST_TESTS);
	const cJSON *json = cJSON_GetObjectItemCaseSensitive(all, "test");
	char **stem = xcalloc(m->ntest, sizeof *stem);
	out->test = xcalloc(m->ntest, sizeof *out->test);
	json = json ? json->child : NULL;
	for (size_t i = 0; i < m->ntest; i++, json = json->next) {
		/* Stems do not depend on what is selected. */
		add_test(out, &m->test[i], json, folder, stem);
		if (matches(&m->test[i], name, n, is_exact))
			ncase += count_cases(&m->test[i]);
	}
	for (size_t i = 0; i < m->ntest; i++)
		free(stem[i]);
	free(stem);
	cJSON_Delete(all);
	out->item = xcalloc(ncase, sizeof *out->item);
	out->request = xcalloc(2 * ncase, sizeof *out->request);
	for (size_t i = 0; i < m->ntest; i++)
		if (matches(&m->test[i], name, n, is_exact))
			add_cases(out, i);
	return 0;
}

static void check_release(struct suite_case *c)
{
	for (size_t i = 0; i < c->ncheck; i++) {
		free(c->check[i].metric);
		free(c->check[i].message);
	}
	free(c->check);
	c->check = NULL;
	c->ncheck = 0;
}

void suite_close(struct suite *s)
{
	for (size_t i = 0; i < s->ncase; i++) {
		check_release(&s->item[i]);
		err_release(&s->item[i].fault);
		for (int k = 0; k < SUITE_PICTURES; k++)
			free(s->item[i].picture[k]);
		free(s->item[i].variant);
		free(s->item[i].path);
		free(s->item[i].reference_path);
	}
	for (size_t i = 0; i < s->ntest; i++) {
		free(s->test[i].name);
		free(s->test[i].folder);
		free(s->test[i].text);
		free_texts(s->test[i].set);
		free_texts(s->test[i].reference_set);
	}
	free(s->test);
	free(s->item);
	free(s->request);
	*s = (struct suite){ .manifest = NULL };
}

/* Kept verdicts ---------------------------------------------------------------- */

int suite_file(struct tree *tree, const char *path, char **resolved, struct sha256 *sha,
    struct err *err)
{
	enum tree_kind kind;

	*resolved = NULL;
	if (tree_lookup(tree, path, &kind, resolved, err))
		return -1;
	if (kind != TREE_FILE) {
		free(*resolved);
		*resolved = NULL;
		return 0;
	}
	return tree_hash(tree, *resolved, sha, err) ? -1 : 1;
}

static void encode_artifact(struct encoder *e, const struct judged *v, const char *key)
{
	const struct artifact *a = bundle_artifact(&v->bundle, key);

	if (a)
		encoder_sha(e, TAG_OBJECT, &a->sha);
	else
		encoder_string(e, TAG_ZERO, key);
}

static int encode_file(struct encoder *e, struct judging *j, const char *path,
    struct err *err)
{
	struct sha256 sha;
	char *resolved;
	int rc = suite_file(j->env->tree, path, &resolved, &sha, err);

	if (rc >= 0)
		inputs_add(&j->files, path, rc == 1 ? &sha : NULL);
	if (rc == 1)
		encoder_sha(e, TAG_INPUT, &sha);
	else
		encoder_string(e, TAG_UNBOUND, path);
	free(resolved);
	return rc < 0 ? -1 : 0;
}

static int find_key(struct judging *j, struct sha256 *out, struct err *err)
{
	const struct test *test = j->item->test;
	struct encoder e = { BUF_INIT };
	int rc = 0;

	encoder_begin(&e, "verdict");
	encoder_u64(&e, TAG_OBJECT, VERDICT_VERSION);
	encoder_string(&e, TAG_VALUE, j->owner->text);
	encoder_string(&e, TAG_SIZE, j->item->variant);
	encode_artifact(&e, &j->self, "final_image");
	encode_artifact(&e, &j->self, "state");
	if (j->item->reference_path) {
		encode_artifact(&e, &j->other, "final_image");
		encode_artifact(&e, &j->other, "state");
	}
	if (test->assert_resolution_independent)
		encode_artifact(&e, &j->base, "state");
	if (test->assert_deterministic) {
		encode_artifact(&e, &j->self, "project_sttf");
		encoder_sha(&e, TAG_DRIVER, j->env->driver);
	}
	if (test->baseline)
		judge_encode_baseline(&e, j);
	if (test->reference)
		rc = encode_file(&e, j, test->reference, err);
	if (rc == 0 && test->mask)
		rc = encode_file(&e, j, test->mask, err);
	for (size_t i = 0; i < test->nstorage && rc == 0; i++)
		rc = encode_file(&e, j, test->storage[i].reference, err);
	encoder_end(&e, out);
	encoder_release(&e);
	return rc;
}

/* c may be null: nothing was held to anything. */
void suite_add_check(cJSON *json, const struct suite_check *c)
{
	cJSON_AddItemToObject(json, "metric",
	    c ? cJSON_CreateString(c->metric) : cJSON_CreateNull());
	cJSON_AddItemToObject(json, "value",
	    c && c->has_value ? cJSON_CreateNumber(c->value) : cJSON_CreateNull());
	cJSON_AddItemToObject(json, "limit",
	    c && c->nlimit == 2       ? cJSON_CreateDoubleArray(c->limit, 2)
		: c && c->nlimit == 1 ? cJSON_CreateNumber(c->limit[0])
				      : cJSON_CreateNull());
	if (c && c->message)
		cJSON_AddStringToObject(json, "message", c->message);
}

static cJSON *check_json(const struct suite_check *c)
{
	cJSON *json = cJSON_CreateObject();

	cJSON_AddStringToObject(json, "status", c->is_ok ? "passed" : "failed");
	if (!c->is_ok)
		cJSON_AddStringToObject(json, "code", suite_code_name(c->code));
	suite_add_check(json, c);
	return json;
}

/* The same, read back: 0, or -1 for anything that we did not write. */
static int check_from_json(const cJSON *json, struct suite_check *out)
{
	const cJSON *metric = cJSON_GetObjectItemCaseSensitive(json, "metric");
	const cJSON *status = cJSON_GetObjectItemCaseSensitive(json, "status");
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(json, "value");
	const cJSON *limit = cJSON_GetObjectItemCaseSensitive(json, "limit");
	const cJSON *message = cJSON_GetObjectItemCaseSensitive(json, "message");

	const char *code =
	    cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "code"));

	if (!cJSON_IsString(metric) || !cJSON_IsString(status))
		return -1;
	*out = (struct suite_check){ .metric = xstrdup(metric->valuestring),
		.is_ok = strcmp(status->valuestring, "passed") == 0,
		.has_value = cJSON_IsNumber(value),
		.value = cJSON_IsNumber(value) ? value->valuedouble : 0,
		.message = xstrdup(cJSON_GetStringValue(message)) };
	for (int i = SUITE_PASSED + 1; code && i <= SUITE_ERROR; i++)
		if (strcmp(code, suite_code_name((enum suite_code)i)) == 0)
			out->code = (enum suite_code)i;
	if (!out->is_ok && out->code == SUITE_PASSED)
		out->code = SUITE_MISMATCH;
	if (cJSON_IsNumber(limit))
		out->limit[out->nlimit++] = limit->valuedouble;
	for (const cJSON *n = cJSON_IsArray(limit) ? limit->child : NULL;
	     n && out->nlimit < 2; n = n->next)
		out->limit[out->nlimit++] = n->valuedouble;
	return 0;
}

cJSON *suite_checks_json(const struct suite_case *c)
{
	cJSON *list = cJSON_CreateArray();

	for (size_t i = 0; i < c->ncheck; i++)
		cJSON_AddItemToArray(list, check_json(&c->check[i]));
	return list;
}

static int all_pass(const struct suite_case *c)
{
	for (size_t i = 0; i < c->ncheck; i++)
		if (!c->check[i].is_ok)
			return 0;
	return 1;
}

/* 1 when a verdict was kept, and the pictures of a failure still stand. */
static int recall(const struct judging *j, const struct sha256 *key)
{
	struct suite_case *c = j->item;
	struct buf text = BUF_INIT;
	int ok = store_memo(j->env->store, "verdict", key, &text);
	cJSON *list = ok ? cJSON_Parse(buf_str(&text)) : NULL;

	buf_release(&text);
	ok = cJSON_IsArray(list);
	for (const cJSON *item = ok ? list->child : NULL; item && ok; item = item->next) {
		struct suite_check check;
		ok = check_from_json(item, &check) == 0;
		if (!ok)
			break;
		c->check = xreallocarray(c->check, c->ncheck + 1, sizeof *c->check);
		c->check[c->ncheck++] = check;
		if (!check.is_ok &&
		    (strcmp(check.metric, "baseline") == 0 ||
			metric_find(check.metric) < METRIC_COUNT)) {
			char *actual = judge_picture_path(j, "actual");
			ok = fs_exists(actual);
			free(actual);
		}
	}
	cJSON_Delete(list);
	if (!ok)
		check_release(c);
	return ok;
}

static int keep(const struct judging *j, const struct sha256 *key, struct err *err)
{
	cJSON *list = suite_checks_json(j->item);
	char *text = cJSON_PrintUnformatted(list);
	int rc = store_add_memo(j->env->store, "verdict", key, text, strlen(text), err);

	cJSON_free(text);
	cJSON_Delete(list);
	return rc;
}

/* Judging ------------------------------------------------------------------------ */

static int open_views(struct judging *j, struct err *err)
{
	const struct suite_case *c = j->item;
	const char *root = j->env->root;
	const struct suite_case *base = &j->suite->item[c->base];

	if (judged_open(root, c->path, &j->self, err) ||
	    (c->reference_path && judged_open(root, c->reference_path, &j->other, err)))
		return -1;
	return c->test->assert_resolution_independent
	    ? judged_open(root, base->path, &j->base, err)
	    : 0;
}

/* Pictures of a failure that stand beside its bundle, and the time it took. */
static void note_pictures(struct judging *j)
{
	struct suite_case *c = j->item;

	for (int k = 0; k < SUITE_PICTURES && !c->is_ok; k++) {
		char *path = judge_picture_path(j, judge_picture_name[k]);
		if (fs_exists(path))
			c->picture[k] = xasprintf("%s/%s-%s.png", j->owner->folder,
			    c->variant, judge_picture_name[k]);
		free(path);
	}
}

/* Errors of the machine end the run, others are the case's. */
static int judge(struct judging *j, struct err *err)
{
	struct sha256 key;
	struct suite_case *c = j->item;
	long long begun = proc_now_ns();

	if (open_views(j, err) || find_key(j, &key, err))
		return -1;
	c->is_cached = !j->env->always && recall(j, &key);
	/* A verdict over other bytes than the key's is none. */
	if (!c->is_cached &&
	    (judge_case(j, err) || inputs_check(&j->files, err) || keep(j, &key, err)))
		return -1;
	judge_budgets(j);
	c->is_ok = all_pass(c);
	note_pictures(j);
	double drawn_ms = judge_timing(&j->self.bundle, NULL);
	c->seconds =
	    (double)(proc_now_ns() - begun) * 1e-9 + (drawn_ms > 0 ? drawn_ms * 1e-3 : 0);
	return 0;
}

/* Captures that failed, of the bundles that a case needs. */
static int take_fault(struct suite_case *c, const char *path,
    const struct capture_result *result, const struct map *at)
{
	size_t i = path ? map_gets(at, path) : MAP_NONE;

	if (i == MAP_NONE || result->bundle[i].status != CAPTURE_FAILED)
		return 0;
	const struct err *e = &result->bundle[i].err;
	err_copy(&c->fault, e);
	return 1;
}

int suite_judge(const struct suite_env *env, struct suite *s,
    const struct capture_result *result, struct err *err)
{
	struct map at = MAP_INIT;
	int rc = 0;

	for (size_t i = 0; i < result->nbundle; i++)
		map_puts(&at, result->bundle[i].path, i);
	for (size_t i = 0; i < s->ncase && rc == 0; i++) {
		struct suite_case *c = &s->item[i];
		struct judging j = { .env = env,
			.suite = s,
			.item = c,
			.owner = &s->test[c->owner] };
		if (take_fault(c, c->path, result, &at) ||
		    take_fault(c, c->reference_path, result, &at) ||
		    (c->test->assert_resolution_independent &&
			take_fault(c, s->item[c->base].path, result, &at)))
			continue;
		if (proc_signal())
			rc = err_set(err, STATUS_FAILED, "interrupted");
		else if (judge(&j, &c->fault) && c->fault.status == STATUS_MACHINE) {
			err_move(err, &c->fault);
			rc = err_wrap(err, "while judging test '%s' at %s", c->test->name,
			    c->variant);
		}
		inputs_release(&j.files);
		judged_close(&j.self);
		judged_close(&j.other);
		judged_close(&j.base);
	}
	map_release(&at);
	return rc;
}

/* What a suite's run is told as: JSON, TAP 13, JUnit XML. */
#include "suite_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "project/value.h"
#include "util/buf.h"
#include "util/fs.h"
#include "util/mem.h"

/* What a case comes to --------------------------------------------------------- */

const struct suite_check *suite_deciding(const struct suite_case *c)
{
	for (size_t i = 0; i < c->ncheck; i++)
		if (!c->check[i].is_ok && c->check[i].code != SUITE_NO_BASELINE)
			return &c->check[i];
	for (size_t i = 0; i < c->ncheck; i++)
		if (!c->check[i].is_ok)
			return &c->check[i];
	return c->ncheck ? &c->check[0] : NULL;
}

const char *suite_code_name(enum suite_code code)
{
	static const char *const name[] = {
		[SUITE_MISMATCH] = "mismatch",
		[SUITE_MISSING_REFERENCE] = "missing-reference",
		[SUITE_NO_BASELINE] = "no-baseline",
		[SUITE_COMPILE] = "compile",
		[SUITE_TIMEOUT] = "timeout",
		[SUITE_CRASH] = "crash",
		[SUITE_MEMORY] = "memory",
		[SUITE_ERROR] = "error",
	};

	return name[code];
}

enum suite_code suite_code(const struct suite_case *c)
{
	static const enum suite_code of_kind[] = {
		[ERR_OTHER] = SUITE_ERROR,
		[ERR_COMPILE] = SUITE_COMPILE,
		[ERR_TIMEOUT] = SUITE_TIMEOUT,
		[ERR_CRASH] = SUITE_CRASH,
		[ERR_MEMORY] = SUITE_MEMORY,
	};

	if (c->fault.message)
		return of_kind[c->fault.kind];
	return c->is_ok ? SUITE_PASSED : suite_deciding(c)->code;
}

const char *suite_status_name(const struct suite_case *c)
{
	enum suite_code code = suite_code(c);

	return c->fault.message         ? "error"
	    : code == SUITE_PASSED      ? "passed"
	    : code == SUITE_NO_BASELINE ? "no-baseline"
					: "failed";
}

static const char *const picture_key[SUITE_PICTURES] = {
	[SUITE_EXPECTED] = "expected",
	[SUITE_ACTUAL] = "actual",
	[SUITE_DIFFERENCE] = "difference",
};

/* JSON -------------------------------------------------------------------------- */

static cJSON *case_json(const struct suite_case *c)
{
	cJSON *json = cJSON_CreateObject();
	const char *code = suite_code_name(suite_code(c));

	cJSON_AddStringToObject(json, "name", c->test->name);
	cJSON_AddStringToObject(json, "variant", c->variant);
	cJSON_AddStringToObject(json, "status", suite_status_name(c));
	cJSON_AddItemToObject(json, "code",
	    code ? cJSON_CreateString(code) : cJSON_CreateNull());
	suite_add_check(json, suite_deciding(c));
	cJSON_AddBoolToObject(json, "cached", c->is_cached);
	cJSON_AddNumberToObject(json, "seconds", c->seconds);
	if (c->fault.message)
		cJSON_AddStringToObject(json, "message", c->fault.message);
	cJSON_AddStringToObject(json, "path", c->path);
	cJSON *pictures = cJSON_AddObjectToObject(json, "pictures");
	for (int k = 0; k < SUITE_PICTURES; k++)
		if (c->picture[k])
			cJSON_AddStringToObject(pictures, picture_key[k], c->picture[k]);
	cJSON_AddItemToObject(json, "checks", suite_checks_json(c));
	return json;
}

cJSON *suite_json(const struct suite *s)
{
	cJSON *list = cJSON_CreateArray();

	for (size_t i = 0; i < s->ncase; i++)
		cJSON_AddItemToArray(list, case_json(&s->item[i]));
	return list;
}

/* TAP --------------------------------------------------------------------------- */

static void print_limit(const struct suite_check *c, struct buf *out)
{
	if (c->nlimit == 2)
		buf_addch(out, '[');
	for (int i = 0; i < c->nlimit; i++) {
		if (i)
			buf_addstr(out, ", ");
		print_double(c->limit[i], out);
	}
	if (c->nlimit == 2)
		buf_addch(out, ']');
}

/* A JSON string is a YAML string. */
static void print_quoted(const char *text, struct buf *out)
{
	cJSON *json = cJSON_CreateString(text);
	char *quoted = cJSON_PrintUnformatted(json);

	buf_addstr(out, quoted);
	cJSON_free(quoted);
	cJSON_Delete(json);
}

static void tap_failure(const struct suite_case *c, struct buf *out)
{
	const struct suite_check *d = suite_deciding(c);

	buf_addf(out, "  ---\n  code: %s\n", suite_code_name(suite_code(c)));
	if (c->fault.message) {
		char *text = err_text(&c->fault);
		buf_addstr(out, "  message: ");
		print_quoted(text, out);
		free(text);
	} else {
		buf_addf(out, "  metric: ");
		print_quoted(d->metric, out);
		if (d->has_value) {
			buf_addstr(out, "\n  value: ");
			print_double(d->value, out);
		}
		if (d->nlimit) {
			buf_addstr(out, "\n  limit: ");
			print_limit(d, out);
		}
		if (d->message) {
			buf_addstr(out, "\n  message: ");
			print_quoted(d->message, out);
		}
	}
	for (int k = 0; k < SUITE_PICTURES; k++)
		if (c->picture[k]) {
			buf_addf(out, "\n  %s: ", picture_key[k]);
			print_quoted(c->picture[k], out);
		}
	buf_addstr(out, "\n  ...\n");
}

/* Notes of what passes, once a test. */
static void tap_notes(const struct suite *s, size_t at, struct buf *out)
{
	const struct suite_case *c = &s->item[at];

	if (at > 0 && s->item[at - 1].test == c->test)
		return;
	for (size_t i = 0; i < c->ncheck; i++)
		if (c->check[i].is_ok && c->check[i].message)
			buf_addf(out, "# %s: %s\n", c->check[i].metric,
			    c->check[i].message);
}

/* A description has no line ends, and no '#' that starts a directive. */
static void tap_name(const char *name, struct buf *out)
{
	for (const char *p = name; *p; p++) {
		if (*p == '#' || *p == '\\')
			buf_addch(out, '\\');
		buf_addch(out, (unsigned char)*p < ' ' ? ' ' : *p);
	}
}

void suite_tap(const struct suite *s, int allow_new, struct buf *out)
{
	buf_addf(out, "TAP version 13\n1..%zu\n", s->ncase);
	for (size_t i = 0; i < s->ncase; i++) {
		const struct suite_case *c = &s->item[i];
		int is_ok = !c->fault.message && c->is_ok;
		buf_addf(out, "%sok %zu - ", is_ok ? "" : "not ", i + 1);
		tap_name(c->test->name, out);
		buf_addf(out, " %s%s\n", c->variant,
		    allow_new && !is_ok && suite_code(c) == SUITE_NO_BASELINE
			? " # TODO no baseline"
			: "");
		if (!is_ok)
			tap_failure(c, out);
		tap_notes(s, i, out);
	}
}

/* JUnit ------------------------------------------------------------------------- */

/* XML 1.0 has no control characters but tab and line ends. */
static void xml_text(const char *text, struct buf *out)
{
	for (const char *p = text; *p; p++) {
		unsigned char c = (unsigned char)*p;
		if (c == '&')
			buf_addstr(out, "&amp;");
		else if (c == '<')
			buf_addstr(out, "&lt;");
		else if (c == '>')
			buf_addstr(out, "&gt;");
		else if (c == '"')
			buf_addstr(out, "&quot;");
		else if (c == '\n' || c == '\t')
			buf_addf(out, "&#%d;", c);
		else
			buf_addch(out, c < ' ' || c == 0x7f ? '?' : (char)c);
	}
}

char *suite_explain(const struct suite_case *c)
{
	const struct suite_check *d = suite_deciding(c);
	struct buf out = BUF_INIT;

	if (c->fault.message)
		return err_text(&c->fault);
	buf_addstr(&out, d->metric);
	if (d->has_value) {
		buf_addstr(&out, " is ");
		print_double(d->value, &out);
	}
	if (d->nlimit) {
		buf_addstr(&out, ", limit ");
		print_limit(d, &out);
	}
	if (d->message)
		buf_addf(&out, ": %s", d->message);
	return buf_detach(&out);
}

/*
 * GitLab wants paths below CI_PROJECT_DIR and shows the first; Jenkins wants
 * absolute ones, each on a line of its own.
 */
static void junit_attachments(const struct suite_case *c, const char *root,
    struct buf *out)
{
	static const int order[] = { SUITE_DIFFERENCE, SUITE_ACTUAL, SUITE_EXPECTED };
	const char *gitlab = getenv("GITLAB_CI") ? getenv("CI_PROJECT_DIR") : NULL;
	size_t n = gitlab ? strlen(gitlab) : 0;

	if (!c->picture[SUITE_ACTUAL])
		return;
	buf_addstr(out, "    <system-out>\n");
	for (int k = 0; k < SUITE_PICTURES; k++) {
		const char *picture = c->picture[order[k]];
		char *path = picture ? fs_join(root, picture) : NULL;
		const char *shown = path;
		if (path && n > 0 && strncmp(path, gitlab, n) == 0 && path[n] == '/')
			shown = path + n + 1;
		if (path) {
			buf_addstr(out, "[[ATTACHMENT|");
			xml_text(shown, out);
			buf_addstr(out, "]]\n");
		}
		free(path);
	}
	buf_addstr(out, "    </system-out>\n");
}

static void junit_case(const struct suite_case *c, const char *root, int is_skipped,
    struct buf *out)
{
	enum suite_code code = suite_code(c);

	buf_addstr(out, "  <testcase classname=\"");
	xml_text(c->test->name, out);
	buf_addf(out, "\" name=\"%s\" time=\"%.6f\"", c->variant, c->seconds);
	if (code == SUITE_PASSED) {
		buf_addstr(out, "/>\n");
		return;
	}
	char *text = suite_explain(c);
	if (is_skipped)
		buf_addstr(out, ">\n    <skipped message=\"");
	else
		buf_addf(out, ">\n    <%s type=\"%s\" message=\"",
		    c->fault.message ? "error" : "failure", suite_code_name(code));
	xml_text(text, out);
	buf_addstr(out, "\"/>\n");
	junit_attachments(c, root, out);
	buf_addstr(out, "  </testcase>\n");
	free(text);
}

static int is_skipped(const struct suite_case *c, int allow_new)
{
	return allow_new && suite_code(c) == SUITE_NO_BASELINE;
}

void suite_junit(const struct suite *s, const char *root, int allow_new, struct buf *out)
{
	size_t nfailed = 0, nerror = 0, nskipped = 0;
	double seconds = 0;

	for (size_t i = 0; i < s->ncase; i++) {
		nerror += s->item[i].fault.message != NULL;
		nfailed += !s->item[i].fault.message && !s->item[i].is_ok;
		nskipped += is_skipped(&s->item[i], allow_new);
		seconds += s->item[i].seconds;
	}
	buf_addstr(out,
	    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	    "<testsuite name=\"");
	xml_text(s->manifest->name, out);
	buf_addf(out,
	    "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
	    "skipped=\"%zu\" time=\"%.6f\">\n",
	    s->ncase, nfailed - nskipped, nerror, nskipped, seconds);
	for (size_t i = 0; i < s->ncase; i++)
		junit_case(&s->item[i], root, is_skipped(&s->item[i], allow_new), out);
	buf_addstr(out, "</testsuite>\n");
}

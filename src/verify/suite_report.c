/* What a suite's run is told as: TAP 13, JUnit XML. */
#include "verify/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "project/value.h"
#include "util/buf.h"
#include "util/mem.h"

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

	buf_addstr(out, "  ---\n");
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

void suite_tap(const struct suite *s, struct buf *out)
{
	buf_addf(out, "TAP version 13\n1..%zu\n", s->ncase);
	for (size_t i = 0; i < s->ncase; i++) {
		const struct suite_case *c = &s->item[i];
		int is_ok = !c->fault.message && c->is_ok;
		buf_addf(out, "%sok %zu - ", is_ok ? "" : "not ", i + 1);
		tap_name(c->test->name, out);
		buf_addf(out, " %s\n", c->variant);
		if (!is_ok)
			tap_failure(c, out);
		tap_notes(s, i, out);
	}
}

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

static void junit_case(const struct suite_case *c, struct buf *out)
{
	const struct suite_check *d = suite_deciding(c);

	buf_addstr(out, "  <testcase classname=\"");
	xml_text(c->test->name, out);
	buf_addf(out, "\" name=\"%s\"", c->variant);
	if (!c->fault.message && c->is_ok) {
		buf_addstr(out, "/>\n");
		return;
	}
	buf_addf(out, ">\n    <%s message=\"", c->fault.message ? "error" :
		"failure");
	if (c->fault.message) {
		char *text = err_text(&c->fault);
		xml_text(text, out);
		free(text);
	} else {
		xml_text(d->metric, out);
		if (d->has_value) {
			buf_addstr(out, " is ");
			print_double(d->value, out);
		}
		if (d->nlimit) {
			buf_addstr(out, ", limit ");
			print_limit(d, out);
		}
		if (d->message) {
			buf_addstr(out, ": ");
			xml_text(d->message, out);
		}
	}
	buf_addstr(out, "\"/>\n  </testcase>\n");
}

void suite_junit(const struct suite *s, struct buf *out)
{
	size_t nfailed = 0, nerror = 0;

	for (size_t i = 0; i < s->ncase; i++) {
		nerror += s->item[i].fault.message != NULL;
		nfailed += !s->item[i].fault.message && !s->item[i].is_ok;
	}
	buf_addstr(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuite name=\"");
	xml_text(s->manifest->name, out);
	buf_addf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n",
		s->ncase, nfailed, nerror);
	for (size_t i = 0; i < s->ncase; i++)
		junit_case(&s->item[i], out);
	buf_addstr(out, "</testsuite>\n");
}

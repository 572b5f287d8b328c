/*
 * A run as GitHub shows it: workflow commands, which become notes at lines of a
 * pull request's files, and a summary in Markdown on the run's page.
 */
#include "suite_impl.h"

#include <stdlib.h>
#include <string.h>

#include "util/buf.h"
#include "util/mem.h"

/* GitHub takes a summary of 1 MiB, and shows ten notes of a kind a step. */
#define SUMMARY_ROWS 500

/* Of a command's text, and of one of its properties. */
static void command_text(const char *text, int is_property, struct buf *out)
{
	for (const char *p = text; *p; p++)
		if (*p == '%' || *p == '\r' || *p == '\n' ||
		    (is_property && (*p == ':' || *p == ',')))
			buf_addf(out, "%%%02X", (unsigned char)*p);
		else
			buf_addch(out, *p);
}

/* The place of a fault is in a source, that of a failure in the manifest. */
static void annotation(const struct suite *s, const struct suite_case *c,
    const char *prefix, struct buf *out)
{
	const struct err *e = &c->fault;
	const char *file = e->message && e->file ? e->file : s->manifest->path;
	int line = e->message && e->file ? e->line : c->test->line;
	char *text = e->message ? xstrdup(e->message) : suite_explain(c);

	buf_addstr(out, "::error file=");
	command_text(prefix, 1, out);
	command_text(file ? file : "", 1, out);
	if (line > 0)
		buf_addf(out, ",line=%d", line);
	if (e->message && e->file && e->line > 0 && e->column > 0)
		buf_addf(out, ",col=%d", e->column);
	buf_addstr(out, ",title=");
	command_text(c->test->name, 1, out);
	buf_addf(out, " %s%%3A %s::", c->variant, suite_code_name(suite_code(c)));
	command_text(text, 0, out);
	if (c->picture[SUITE_DIFFERENCE]) {
		buf_addstr(out, "%0Adifference%3A ");
		command_text(prefix, 0, out);
		command_text(c->picture[SUITE_DIFFERENCE], 0, out);
	}
	buf_addch(out, '\n');
	free(text);
}

void suite_annotations(const struct suite *s, const char *prefix, struct buf *out)
{
	for (size_t i = 0; i < s->ncase; i++)
		if (suite_code(&s->item[i]) != SUITE_PASSED)
			annotation(s, &s->item[i], prefix, out);
}

/* In a cell of a table: no markup, no end of line. */
static void cell(const char *text, struct buf *out)
{
	for (const char *p = text; *p; p++) {
		if (*p == '<' || *p == '&')
			buf_addstr(out, *p == '<' ? "&lt;" : "&amp;");
		else if (*p && strchr("\\`*_{}[]()#+!|~>", *p))
			buf_addf(out, "\\%c", *p);
		else
			buf_addch(out, (unsigned char)*p < ' ' ? ' ' : *p);
	}
}

static void row(const struct suite_case *c, const char *prefix, struct buf *out)
{
	char *text = suite_explain(c);

	buf_addstr(out, "| ");
	cell(c->test->name, out);
	buf_addf(out, " | %s | %s | ", c->variant, suite_code_name(suite_code(c)));
	cell(text, out);
	buf_addstr(out, " | ");
	if (c->picture[SUITE_DIFFERENCE] || c->picture[SUITE_ACTUAL]) {
		cell(prefix, out);
		cell(c->picture[c->picture[SUITE_DIFFERENCE] ? SUITE_DIFFERENCE
							     : SUITE_ACTUAL],
		    out);
	}
	buf_addstr(out, " |\n");
	free(text);
}

void suite_summary(const struct suite *s, const char *prefix, struct buf *out)
{
	size_t count[4] = { 0 }, nbad = 0;

	for (size_t i = 0; i < s->ncase; i++) {
		const struct suite_case *c = &s->item[i];
		enum suite_code code = suite_code(c);
		count[code == SUITE_PASSED          ? 0
			: c->fault.message          ? 2
			: code == SUITE_NO_BASELINE ? 3
						    : 1]++;
	}
	buf_addstr(out, "### Shader tests: ");
	cell(s->manifest->name, out);
	buf_addf(out,
	    "\n\n%zu passed, %zu failed, %zu errors, %zu without a "
	    "baseline\n",
	    count[0], count[1], count[2], count[3]);
	for (size_t i = 0; i < s->ncase; i++) {
		if (suite_code(&s->item[i]) == SUITE_PASSED)
			continue;
		if (nbad == 0)
			buf_addstr(out,
			    "\n| test | variant | code | what | "
			    "picture |\n|---|---|---|---|---|\n");
		if (nbad++ < SUMMARY_ROWS)
			row(&s->item[i], prefix, out);
	}
	if (nbad > SUMMARY_ROWS)
		buf_addf(out, "\n%zu more are not shown.\n", nbad - SUMMARY_ROWS);
	buf_addch(out, '\n');
}

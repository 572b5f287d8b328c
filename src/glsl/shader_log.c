#include "glsl/shader.h"

#include <string.h>

#include "glsl/shader_rewrite.h"
#include "util/mem.h"

#define MAX_LINES 20	/* of a log; what follows is mostly the first one's doing */

/* One line of a log. */
struct report {
	int file, line, column;	/* column 0: not told */
	int is_error;
	const char *text;	/* behind the place */
	size_t ntext;
};

/* Digits at *s as a number that fits an int; -1 when there are none. */
static int take_number(const char **s)
{
	size_t n = strspn(*s, "0123456789");
	if (!n || n > 9)
		return -1;
	int value = (int)strtol(*s, NULL, 10);
	*s += n;
	return value;
}

static int take(const char **s, const char *word)
{
	size_t n = strlen(word);
	if (strncmp(*s, word, n))
		return 0;
	*s += n;
	return 1;
}

/* 0 when the line tells a place in one of the known forms, else -1. */
static int parse(const char *s, const char *end, struct report *r)
{
	*r = (struct report) { .is_error = 1 };
	int has_level = take(&s, "ERROR: ");
	if (!has_level && take(&s, "WARNING: ")) {
		has_level = 1;
		r->is_error = 0;
	}
	if ((r->file = take_number(&s)) < 0)
		return -1;
	if (take(&s, ":")) {
		if ((r->line = take_number(&s)) < 0)
			return -1;
		if (take(&s, "(")
			&& ((r->column = take_number(&s)) < 0 || !take(&s, ")")))
			return -1;
		if (!take(&s, ":"))
			return -1;
	} else if (take(&s, "(")) {
		if ((r->line = take_number(&s)) < 0 || !take(&s, ")"))
			return -1;
		s += strspn(s, " ");
		if (!take(&s, ":"))
			return -1;
	} else {
		return -1;
	}
	s += strspn(s, " ");
	if (s > end)
		return -1;
	if (!has_level) {
		if (take(&s, "error: "))
			r->is_error = 1;
		else if (!strncmp(s, "warning", 7) || !strncmp(s, "note", 4)
			|| !strncmp(s, "info", 4))
			r->is_error = 0;
	}
	static const char list[] = "; candidates are:";	/* left out */
	size_t nlist = sizeof list - 1;
	r->text = s;
	r->ntext = (size_t)(end - s);
	if (r->ntext >= nlist && !memcmp(end - nlist, list, nlist))
		r->ntext -= nlist;
	return 0;
}

/*
 * From the driver's numbers to the user's. A text that knows its lines was
 * compiled with its seams; then a source number of 0 is Mesa's forgetfulness,
 * and the pass's own file the best guess.
 */
static int locate(const struct manifest *m, int p, const struct source *source,
	int knows_lines, struct report *r)
{
	if (!knows_lines) {
		if (r->line > REWRITE_LINE_BASE)
			return source_place(source, r->line - REWRITE_LINE_BASE,
				&r->file, &r->line);
		r->file = 0;
		return 0;
	}
	if (!r->file && source->nfile > 1) {
		r->file = 1;
		for (size_t i = 1; i < source->nfile; i++)
			if (!strcmp(source->file[i], m->pass[p].source))
				r->file = (int)i;
	}
	return (size_t)r->file < source->nfile ? 0 : -1;
}

/* Driver's words, with names as the user wrote them and no control bytes. */
static void add_words(struct buf *out, const char *s, size_t n)
{
	static const char prefix[] = REWRITE_PREFIX;
	for (size_t i = 0; i < n; i++) {
		if (n - i >= sizeof prefix - 1
			&& !memcmp(s + i, prefix, sizeof prefix - 1)) {
			i += sizeof prefix - 2;
			continue;
		}
		unsigned char c = (unsigned char)s[i];
		buf_addch(out, c < ' ' || c == 0x7f ? ' ' : s[i]);
	}
}

static void add_quote(struct buf *out, const struct source *source,
	const struct report *r)
{
	char *line = source_line(source, r->file, r->line);
	if (!line)
		return;
	size_t skip = strspn(line, " \t"), n = strlen(line + skip);
	buf_addstr(out, "\n    ");
	if (n > 200) {	/* minified sources are one line */
		n = 200;
		while (n && ((unsigned char)line[skip + n] & 0xc0) == 0x80)
			n--;
	}
	add_words(out, line + skip, n);
	free(line);
}

int shader_log(const struct manifest *m, int p, const struct source *source,
	const char *log, struct err *err)
{
	struct buf text = BUF_INIT;
	struct report first = { 0 }, last = { .file = -1 }, r;
	int nline = 0, nleft = 0, has_first = 0;
	buf_addf(&text, "pass '%s' does not compile", m->pass[p].name);
	size_t head = text.len;
	struct glsl g;
	glsl_lex(&g, source->text, source->ntext);
	int knows_lines = glsl_knows_lines(&g);
	glsl_release(&g);
	for (const char *s = log; *s; ) {
		size_t n = strcspn(s, "\r\n");
		const char *end = s + n;
		int is_placed = !parse(s, end, &r)
			&& !locate(m, p, source, knows_lines, &r);
		/* The first error of a line says what is to be said about it. */
		int is_same = is_placed && r.file == last.file
			&& r.line == last.line;
		if (is_placed && r.is_error)
			last = r;
		if (is_placed && (!r.is_error || is_same)) {
			s = end + strspn(end, "\r\n");
			continue;
		}
		if (is_placed && r.is_error && !has_first) {
			/* Its place is told apart, so its words come first. */
			struct buf words = BUF_INIT;
			has_first = 1;
			first = r;
			buf_add(&words, text.data, head);
			buf_addstr(&words, ": ");
			add_words(&words, r.text, r.ntext);
			add_quote(&words, source, &r);
			buf_add(&words, text.data + head, text.len - head);
			buf_release(&text);
			text = words;
		} else if (nline >= MAX_LINES) {
			nleft += n > 0;
		} else if (n) {
			nline++;
			buf_addch(&text, '\n');
			if (is_placed) {
				buf_addf(&text, "%s:%d:", source->file[r.file], r.line);
				if (r.column)
					buf_addf(&text, "%d:", r.column);
				buf_addstr(&text, " error: ");
				add_words(&text, r.text, r.ntext);
				add_quote(&text, source, &r);
			} else {
				add_words(&text, s, n);
			}
		}
		s = end + strspn(end, "\r\n");
	}
	if (nleft)
		buf_addf(&text, "\n(%d more lines)", nleft);
	if (text.len == head)
		buf_addstr(&text, "; the driver does not say why");
	err_set(err, STATUS_FAILED, "%s", buf_str(&text));
	if (has_first)
		err_place(err, source->file[first.file], first.line, first.column,
			NULL);
	else
		err_place(err, m->pass[p].source, 0, 0, NULL);
	buf_release(&text);
	return -1;
}

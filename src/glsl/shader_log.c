#include "glsl/shader.h"

#include <string.h>

#include "glsl/shader_rewrite.h"
#include "shader_place.h"
#include "util/mem.h"

#define MAX_LINES 20 /* of a log; what follows is mostly the first one's doing */

/* One line of a log. */
struct report {
	int file, line, column; /* column 0: not told */
	int is_error;
	const char *text; /* behind the place */
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
	if (strncmp(*s, word, n) != 0)
		return 0;
	*s += n;
	return 1;
}

/* 0 when the line names a place in one of the known forms, else -1. */
static int parse(const char *s, const char *end, struct report *r)
{
	*r = (struct report){ .is_error = 1 };
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
		if (take(&s, "(") &&
		    ((r->column = take_number(&s)) < 0 || !take(&s, ")")))
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
		else if (strncmp(s, "warning", 7) == 0 || strncmp(s, "note", 4) == 0 ||
		    strncmp(s, "info", 4) == 0)
			r->is_error = 0;
	}
	static const char list[] = "; candidates are:"; /* left out */
	size_t nlist = sizeof list - 1;
	r->text = s;
	r->ntext = (size_t)(end - s);
	if (r->ntext >= nlist && memcmp(end - nlist, list, nlist) == 0)
		r->ntext -= nlist;
	return 0;
}

/* Reading a log, and what is read so far. */
struct reading {
	const struct source *source;
	const struct shader *shader;
	const char *entry;
	struct glsl g; /* the user's text */
	struct buf text;
	size_t head; /* bytes of the text's first words */
	struct report first, last;
	int nline, nleft;
	int has_first;
};

/*
 * From the driver's numbers to the user's. What is placed in no line of the
 * user's, as a linker's words, is placed by the names that it has.
 */
static int locate(const struct reading *in, struct report *r)
{
	struct place place;
	if (r->line > REWRITE_LINE_BASE) {
		int line = r->line - REWRITE_LINE_BASE;
		rewrite_find_place(in->shader->place, in->shader->nplace, &line,
		    &r->column);
		return source_place(in->source, line, &r->file, &r->line);
	}
	if (place_of_message(&in->g, in->source, in->entry, r->text, r->ntext, &place))
		return -1;
	r->file = place.file;
	r->line = place.line;
	r->column = place.column;
	return 0;
}

/* A linker's "error: WORDS", as Mesa has it. */
static int parse_unplaced(const char *s, const char *end, struct report *r)
{
	*r = (struct report){ .is_error = 1 };
	if (!take(&s, "error: ") || s >= end)
		return -1;
	r->text = s;
	r->ntext = (size_t)(end - s);
	return 0;
}

/* Driver's words, with names as the user wrote them and no control bytes. */
static void add_words(struct buf *out, const char *s, size_t n)
{
	static const char prefix[] = REWRITE_PREFIX;
	for (size_t i = 0; i < n; i++) {
		if (n - i >= sizeof prefix - 1 &&
		    memcmp(s + i, prefix, sizeof prefix - 1) == 0) {
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
	if (n > 200) { /* minified sources are one line */
		n = 200;
		while (n && ((unsigned char)line[skip + n] & 0xc0) == 0x80)
			n--;
	}
	add_words(out, line + skip, n);
	free(line);
}

/* The first error's place is told apart, so its words come first. */
static void add_first(struct reading *in, const struct report *r)
{
	struct buf words = BUF_INIT;
	in->has_first = 1;
	in->first = *r;
	buf_add(&words, in->text.data, in->head);
	buf_addstr(&words, ": ");
	add_words(&words, r->text, r->ntext);
	add_quote(&words, in->source, r);
	buf_add(&words, in->text.data + in->head, in->text.len - in->head);
	buf_release(&in->text);
	in->text = words;
}

static void add_line(struct reading *in, const struct report *r, const char *line,
    size_t n)
{
	if (in->nline >= MAX_LINES) {
		in->nleft += n > 0;
		return;
	}
	if (!n)
		return;
	in->nline++;
	buf_addch(&in->text, '\n');
	if (!r) {
		add_words(&in->text, line, n);
		return;
	}
	buf_addf(&in->text, "%s:%d:", in->source->file[r->file], r->line);
	if (r->column)
		buf_addf(&in->text, "%d:", r->column);
	buf_addstr(&in->text, " error: ");
	add_words(&in->text, r->text, r->ntext);
	add_quote(&in->text, in->source, r);
}

/* One line of the log, of n bytes. */
static void read_line(struct reading *in, const char *s, size_t n)
{
	struct report r;
	int is_placed = !parse(s, s + n, &r) || !parse_unplaced(s, s + n, &r);
	int text_line = r.line - REWRITE_LINE_BASE;
	is_placed = is_placed && !locate(in, &r);
	/* The first error of a line says what is to be said about it. */
	int is_same = is_placed && r.file == in->last.file && r.line == in->last.line;
	if (is_placed && r.is_error)
		in->last = r;
	if (is_placed && (!r.is_error || is_same))
		return;
	if (!is_placed || in->has_first) {
		add_line(in, is_placed ? &r : NULL, s, n);
		return;
	}
	/* Nobody sees in the line that is shown what is wrong with it. */
	struct buf odd = BUF_INIT;
	struct place place;
	if (text_line > 0 &&
	    !place_of_odd_character(&in->g, in->source, text_line, &place, &odd))
		r = (struct report){ place.file, place.line, place.column, 1, odd.data,
			odd.len };
	add_first(in, &r);
	buf_release(&odd);
}

int shader_fault(const struct manifest *m, int p, const struct source *source,
    int text_line, int column, struct err *err)
{
	struct report r = { .column = column };
	struct buf text = BUF_INIT;
	buf_addf(&text, "pass '%s' does not compile: %s", m->pass[p].name, err->message);
	int is_placed = !source_place(source, text_line, &r.file, &r.line);
	if (is_placed)
		add_quote(&text, source, &r);
	err_set(err, STATUS_FAILED, "%s", buf_str(&text));
	err->kind = ERR_COMPILE;
	if (is_placed)
		err_place(err, source->file[r.file], r.line, r.column, NULL);
	else
		err_place(err, m->pass[p].source, 0, 0, NULL);
	buf_release(&text);
	return -1;
}

int shader_log(const struct manifest *m, int p, const struct source *source,
    const struct shader *shader, const char *log, struct err *err)
{
	struct reading in = { .source = source,
		.shader = shader,
		.last = { .file = -1 },
		.entry = shader_entry(m->pass[p].kind) };
	buf_addf(&in.text, "pass '%s' does not compile", m->pass[p].name);
	in.head = in.text.len;
	glsl_lex(&in.g, source->text, source->ntext);
	for (const char *s = log; *s;) {
		size_t n = strcspn(s, "\r\n");
		read_line(&in, s, n);
		s += n;
		s += strspn(s, "\r\n");
	}
	if (in.nleft)
		buf_addf(&in.text, "\n(%d more lines)", in.nleft);
	if (in.text.len == in.head)
		buf_addstr(&in.text, "; the driver does not say why");
	err_set(err, STATUS_FAILED, "%s", buf_str(&in.text));
	err->kind = ERR_COMPILE;
	if (in.has_first)
		err_place(err, source->file[in.first.file], in.first.line,
		    in.first.column, NULL);
	else
		err_place(err, m->pass[p].source, 0, 0, NULL);
	glsl_release(&in.g);
	buf_release(&in.text);
	return -1;
}

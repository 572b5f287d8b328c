#include "verify/baseline.h"

#include <stdlib.h>
#include <string.h>

#include "util/limits.h"
#include "util/mem.h"

/* Reading ---------------------------------------------------------------------- */

/* The field at *p up to a blank, which is passed; the rest for is_last. */
static int take_field(const char **p, const char *end, int is_last, const char **field,
    size_t *n)
{
	const char *blank = is_last ? NULL : memchr(*p, ' ', (size_t)(end - *p));

	if (!is_last && !blank)
		return -1;
	*field = *p;
	*n = (size_t)((is_last ? end : blank) - *p);
	*p = is_last ? end : blank + 1;
	return 0;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Null for an empty name, and escapes that are none or need not be. */
static char *read_name(const char *text, size_t n)
{
	struct buf out = BUF_INIT;

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text[i];
		if (c == '%') {
			int high = i + 2 < n ? hex_digit(text[i + 1]) : -1;
			int low = i + 2 < n ? hex_digit(text[i + 2]) : -1;
			if (i + 3 == n) {
				high = hex_digit(text[i + 1]);
				low = hex_digit(text[i + 2]);
			}
			c = high < 0 || low < 0 ? 0 : (unsigned char)(16 * high + low);
			i += 2;
		} else if (c <= ' ' || c == 0x7f) {
			c = 0;
		}
		if (c == 0) {
			buf_release(&out);
			return NULL;
		}
		buf_addch(&out, (char)c);
	}
	return out.len ? buf_detach(&out) : NULL;
}

/* Digits alone, without a zero before them. */
static int read_number(const char *text, size_t n, int max)
{
	long value = 0;

	if (n == 0 || n > 9 || (n > 1 && text[0] == '0'))
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -1;
		value = 10 * value + (text[i] - '0');
	}
	return value <= max ? (int)value : -1;
}

static int read_commit(const char *text, size_t n, char out[41])
{
	out[0] = '\0';
	if (n == 1 && text[0] == '-')
		return 0;
	if (n != 40)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (!strchr("0123456789abcdef", text[i]) || !text[i])
			return -1;
	memcpy(out, text, 40);
	out[40] = '\0';
	return 0;
}

/* Null, or what is wrong with the line. */
static const char *read_line(const char *p, const char *end, struct baseline *out)
{
	const char *field[7];
	size_t n[7];
	char hex[SHA256_HEX + 1];

	for (int i = 0; i < 7; i++)
		if (take_field(&p, end, i == 6, &field[i], &n[i]))
			return "a line has TEST FRAME SIZE CLASS SHA256 COMMIT "
			       "REASON, with one blank between them";
	out->test = read_name(field[0], n[0]);
	out->driver = read_name(field[3], n[3]);
	out->frame = read_number(field[1], n[1], LIMIT_FRAME);
	const char *cross = memchr(field[2], 'x', n[2]);
	size_t nwidth = cross ? (size_t)(cross - field[2]) : 0;
	out->width = cross ? read_number(field[2], nwidth, LIMIT_SIZE) : -1;
	out->height = cross ? read_number(cross + 1, n[2] - nwidth - 1, LIMIT_SIZE) : -1;
	if (!out->test || !out->driver)
		return "a name is empty, or has a '%' that is no escape";
	if (out->frame < 0)
		return "the frame is no number";
	if (out->width < 1 || out->height < 1)
		return "the size is not WIDTHxHEIGHT";
	if (n[4] != SHA256_HEX)
		return "the hash is not 64 hex digits";
	memcpy(hex, field[4], SHA256_HEX);
	hex[SHA256_HEX] = '\0';
	if (strspn(hex, "0123456789abcdef") != SHA256_HEX || sha256_parse(hex, &out->sha))
		return "the hash is not 64 hex digits, in lower case";
	if (read_commit(field[5], n[5], out->commit))
		return "the commit is neither 40 hex digits nor '-'";
	if (memchr(field[6], '\0', n[6]))
		return "the reason has a byte 0";
	out->reason = xstrndup(field[6], n[6]);
	return NULL;
}

static void baseline_release(struct baseline *b)
{
	free(b->test);
	free(b->driver);
	free(b->reason);
}

static int is_merge_mark(const char *p, size_t n)
{
	return n >= 7 &&
	    (memcmp(p, "<<<<<<<", 7) == 0 || memcmp(p, "=======", 7) == 0 ||
		memcmp(p, ">>>>>>>", 7) == 0 || memcmp(p, "|||||||", 7) == 0);
}

int baselines_read(struct baselines *b, const char *file, const char *text, size_t n,
    struct err *err)
{
	int line = 0;

	if (n > LIMIT_BASELINES_BYTES) {
		err_set(err, STATUS_INPUT, "%s is larger than %u bytes", file,
		    LIMIT_BASELINES_BYTES);
		return -1;
	}
	for (const char *p = text, *end = text + n; p < end;) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		const char *stop = newline ? newline : end;
		size_t len = (size_t)(stop - p);
		struct baseline item = { .frame = 0 };
		const char *what = NULL;
		line++;
		while (len > 0 && p[len - 1] == '\r')
			len--;
		if (len > LIMIT_BASELINES_LINE)
			what = "the line is too long";
		else if (is_merge_mark(p, len))
			what = "a merge was not ended here; keep the lines of "
			       "both sides";
		else if (len > 0 && p[0] != '#')
			what = read_line(p, p + len, &item);
		if (what) {
			baseline_release(&item);
			err_set(err, STATUS_INPUT, "%s", what);
			err_place(err, file, line, 1, NULL);
			return -1;
		}
		if (item.test) {
			b->item = array_grow(b->item, b->nitem, &b->cap, sizeof *b->item);
			b->item[b->nitem++] = item;
		} else if (len > 0) {
			buf_add(&b->comment, p, len);
			buf_addch(&b->comment, '\n');
		}
		p = newline ? newline + 1 : end;
	}
	return 0;
}

/* Writing ---------------------------------------------------------------------- */

static void print_name(const char *name, struct buf *out)
{
	for (const char *p = name; *p; p++) {
		unsigned char c = (unsigned char)*p;
		/* So that no line looks like a mark of a merge. */
		int is_first = p == name && strchr("#<=>|", *p);
		if (c <= ' ' || c == '%' || c == 0x7f || is_first)
			buf_addf(out, "%%%02X", c);
		else
			buf_addch(out, *p);
	}
}

static char *print_line(const struct baseline *b)
{
	struct buf out = BUF_INIT;
	char hex[SHA256_HEX + 1];

	print_name(b->test, &out);
	buf_addf(&out, " %d %dx%d ", b->frame, b->width, b->height);
	print_name(b->driver, &out);
	buf_addf(&out, " %s %s ", sha256_hex(&b->sha, hex),
	    b->commit[0] ? b->commit : "-");
	/* One line, whatever was given. */
	for (const char *p = b->reason ? b->reason : ""; *p; p++)
		buf_addch(&out, (unsigned char)*p < ' ' ? ' ' : *p);
	return buf_detach(&out);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void baselines_print(const struct baselines *b, struct buf *out)
{
	char **line = xcalloc(b->nitem + 1, sizeof *line);

	for (size_t i = 0; i < b->nitem; i++)
		line[i] = print_line(&b->item[i]);
	qsort(line, b->nitem, sizeof *line, compare_lines);
	buf_add(out, b->comment.data, b->comment.len);
	for (size_t i = 0; i < b->nitem; i++)
		if (i == 0 || strcmp(line[i - 1], line[i]) != 0)
			buf_addf(out, "%s\n", line[i]);
	for (size_t i = 0; i < b->nitem; i++)
		free(line[i]);
	free(line);
}

/* The list --------------------------------------------------------------------- */

static int is_alike(const struct baseline *a, const struct baseline *b)
{
	return a->frame == b->frame && a->width == b->width && a->height == b->height &&
	    strcmp(a->test, b->test) == 0 && strcmp(a->driver, b->driver) == 0;
}

void baselines_add(struct baselines *b, const struct baseline *item)
{
	b->item = array_grow(b->item, b->nitem, &b->cap, sizeof *b->item);
	struct baseline *copy = &b->item[b->nitem++];
	*copy = *item;
	copy->test = xstrdup(item->test);
	copy->driver = xstrdup(item->driver);
	copy->reason = xstrdup(item->reason ? item->reason : "");
}

size_t baselines_remove(struct baselines *b, const struct baseline *like)
{
	size_t n = 0, nitem = b->nitem;

	for (size_t i = 0; i < nitem; i++)
		if (is_alike(&b->item[i], like))
			baseline_release(&b->item[i]);
		else
			b->item[n++] = b->item[i];
	b->nitem = n;
	return nitem - n;
}

const struct baseline *baselines_next(const struct baselines *b,
    const struct baseline *like, size_t *at)
{
	while (*at < b->nitem) {
		const struct baseline *item = &b->item[(*at)++];
		if (is_alike(item, like))
			return item;
	}
	return NULL;
}

void baselines_release(struct baselines *b)
{
	for (size_t i = 0; i < b->nitem; i++)
		baseline_release(&b->item[i]);
	free(b->item);
	buf_release(&b->comment);
	memset(b, 0, sizeof *b);
}

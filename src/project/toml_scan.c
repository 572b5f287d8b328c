#include "toml_scan.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/utf8.h"
#include "util/buf.h"
#include "util/mem.h"

/* At another place of this line. */
static int fault_at(struct toml_scan *s, size_t at, const char *message)
{
	err_set(s->err, STATUS_INPUT, "%s", message);
	err_place(s->err, s->name, s->line, (int)(at - s->line_start) + 1, NULL);
	return -1;
}

int toml_fault(struct toml_scan *s, const char *message)
{
	return fault_at(s, s->at, message);
}

int toml_peek(const struct toml_scan *s)
{
	return s->at < s->n ? (unsigned char)s->text[s->at] : -1;
}

int toml_column(const struct toml_scan *s)
{
	return (int)(s->at - s->line_start) + 1;
}

void toml_blanks(struct toml_scan *s)
{
	while (toml_peek(s) == ' ' || toml_peek(s) == '\t')
		s->at++;
}

int toml_newline(struct toml_scan *s)
{
	size_t n = 0;
	if (toml_peek(s) == '\n')
		n = 1;
	else if (s->n - s->at >= 2 && memcmp(s->text + s->at, "\r\n", 2) == 0)
		n = 2;
	else
		return 0;
	s->at += n;
	s->line++;
	s->line_start = s->at;
	return 1;
}

static int is_control(int c)
{
	return (c >= 0 && c < 0x20 && c != '\t') || c == 0x7f;
}

int toml_comment(struct toml_scan *s)
{
	for (s->at++; s->at < s->n; s->at++) {
		int c = toml_peek(s);
		if (c == '\n' ||
		    (c == '\r' && s->at + 1 < s->n && s->text[s->at + 1] == '\n'))
			break;
		if (is_control(c))
			return toml_fault(s, "a control character in a comment");
	}
	return 0;
}

int toml_space(struct toml_scan *s)
{
	for (;;) {
		toml_blanks(s);
		if (toml_peek(s) == '#') {
			if (toml_comment(s))
				return -1;
		} else if (!toml_newline(s)) {
			return 0;
		}
	}
}

static int hex_escape(struct toml_scan *s, int digits, struct buf *out)
{
	size_t start = s->at - 2;
	unsigned long code = 0;
	for (int i = 0; i < digits; i++, s->at++) {
		int c = toml_peek(s);
		if (c < 0 || !isxdigit(c))
			return fault_at(s, start,
			    digits == 4 ? "\\u needs four hexadecimal digits"
					: "\\U needs eight hexadecimal digits");
		code = code << 4 |
		    (unsigned long)(isdigit(c) ? c - '0' : tolower(c) - 'a' + 10);
	}
	if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return fault_at(s, start, "the escape is not a Unicode scalar value");
	utf8_add(out, code);
	return 0;
}

/* Behind the backslash. */
static int escape(struct toml_scan *s, int is_multi, struct buf *out)
{
	static const char from[] = "btnfr\"\\", to[] = "\b\t\n\f\r\"\\";
	int c = toml_peek(s);
	const char *found = c > 0 ? strchr(from, c) : NULL;
	if (found) {
		buf_addch(out, to[found - from]);
		s->at++;
		return 0;
	}
	if (c == 'u' || c == 'U') {
		s->at++;
		return hex_escape(s, c == 'u' ? 4 : 8, out);
	}
	/* A backslash at the end of a line eats the white space behind it. */
	size_t before = s->at;
	if (is_multi) {
		toml_blanks(s);
		if (toml_newline(s)) {
			do
				toml_blanks(s);
			while (toml_newline(s));
			return 0;
		}
	}
	return fault_at(s, before - 1, "unknown escape in a string");
}

/* Quotes in a row ahead, at most 5: what a multi-line string can end with. */
static int count_quotes(const struct toml_scan *s, int quote)
{
	int n = 0;
	while (n < 5 && s->at + (size_t)n < s->n && s->text[s->at + (size_t)n] == quote)
		n++;
	return n;
}

static int multi_line(struct toml_scan *s, int quote, struct buf *out)
{
	s->at += 3;
	toml_newline(s);
	for (;;) {
		int c = toml_peek(s);
		int quotes = c == quote ? count_quotes(s, quote) : 0;
		if (quotes) {
			int inside = quotes >= 3 ? quotes - 3 : quotes;
			buf_add(out, s->text + s->at, (size_t)inside);
			s->at += (size_t)quotes;
			if (quotes >= 3)
				return 0;
		} else if (toml_newline(s)) {
			buf_addch(out, '\n');
		} else if (c < 0) {
			return toml_fault(s, "unterminated string");
		} else if (is_control(c)) {
			return toml_fault(s,
			    "a control character in a string must "
			    "be written as an escape");
		} else {
			s->at++;
			if (c != '\\' || quote == '\'')
				buf_addch(out, (char)c);
			else if (escape(s, 1, out))
				return -1;
		}
	}
}

int toml_string(struct toml_scan *s, int is_key, struct buf *out)
{
	int quote = toml_peek(s);
	if (count_quotes(s, quote) >= 3) {
		if (is_key)
			return toml_fault(s, "a key cannot be a multi-line string");
		return multi_line(s, quote, out);
	}
	for (s->at++;;) {
		int c = toml_peek(s);
		if (c == '\n' || c < 0)
			return toml_fault(s, "unterminated string");
		if (is_control(c))
			return toml_fault(s,
			    "a control character in a string must "
			    "be written as an escape");
		s->at++;
		if (c == quote)
			return 0;
		if (c != '\\' || quote == '\'')
			buf_addch(out, (char)c);
		else if (escape(s, 0, out))
			return -1;
	}
}

/* Digits of a base with single underscores between them. Moves *p; 0 for none. */
static int digits(const char **p, const char *set)
{
	const char *start = *p;
	while (**p && strchr(set, **p)) {
		++*p;
		if (**p == '_' && (*p)[1] && strchr(set, (*p)[1]))
			++*p;
	}
	return *p != start;
}

static const char decimal[] = "0123456789";

/* Tells what a token is by its grammar; -1: no number. */
static int number_kind(const char *token, enum doc_kind *kind)
{
	const char *p = token;
	*kind = DOC_INTEGER;
	if (p[0] == '0' && p[1] && strchr("xob", p[1])) {
		const char *set = p[1] == 'x' ? "0123456789abcdefABCDEF"
		    : p[1] == 'o'             ? "01234567"
					      : "01";
		p += 2;
		return digits(&p, set) && !*p ? 0 : -1;
	}
	p += *p == '+' || *p == '-';
	if (strcmp(p, "inf") == 0 || strcmp(p, "nan") == 0) {
		*kind = DOC_FLOAT;
		return 0;
	}
	if (*p == '0')
		p++;
	else if (!digits(&p, decimal))
		return -1;
	if (*p == '.') {
		*kind = DOC_FLOAT;
		p++;
		if (!digits(&p, decimal))
			return -1;
	}
	if (*p == 'e' || *p == 'E') {
		*kind = DOC_FLOAT;
		p++;
		p += *p == '+' || *p == '-';
		if (!digits(&p, decimal))
			return -1;
	}
	return *p ? -1 : 0;
}

static void set_number(cJSON *item, double v)
{
	item->type = cJSON_Number;
	/* The helper also makes an int of it, which a NaN has none of. */
	if (isnan(v))
		item->valuedouble = v;
	else
		cJSON_SetNumberHelper(item, v);
}

static int number(struct toml_scan *s, size_t start, char *token, cJSON *item,
    enum doc_kind *kind)
{
	if (number_kind(token, kind))
		return fault_at(s, start, "expected a value");
	char *to = token;
	for (const char *p = token; *p; p++)
		if (*p != '_')
			*to++ = *p;
	*to = '\0';
	if (*kind == DOC_FLOAT) {
		double v = strtod(token, NULL);
		if (isinf(v) && !strstr(token, "inf"))
			return fault_at(s, start, "the float is too large");
		set_number(item, v);
		return 0;
	}
	int base = token[0] != '0' ? 10
	    : token[1] == 'x'      ? 16
	    : token[1] == 'o'      ? 8
	    : token[1] == 'b'      ? 2
				   : 10;
	errno = 0;
	long long v = strtoll(base == 10 ? token : token + 2, NULL, base);
	if (errno == ERANGE)
		return fault_at(s, start, "the integer does not fit in 64 bits");
	set_number(item, (double)v);
	return 0;
}

static int in_range(const char *s, size_t n, int min, int max)
{
	int v = 0;
	for (size_t i = 0; i < n; i++) {
		if (!isdigit((unsigned char)s[i]))
			return 0;
		v = v * 10 + s[i] - '0';
	}
	return v >= min && v <= max;
}

/* YYYY-MM-DD; 0 when it is none. */
static int is_date(const char *s)
{
	static const int days[] = {
		31,
		29,
		31,
		30,
		31,
		30,
		31,
		31,
		30,
		31,
		30,
		31,
	};
	if (!in_range(s, 4, 0, 9999) || s[4] != '-' || !in_range(s + 5, 2, 1, 12) ||
	    s[7] != '-')
		return 0;
	int year = atoi(s), month = (s[5] - '0') * 10 + s[6] - '0';
	int is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	return in_range(s + 8, 2, 1, days[month - 1] - (month == 2 && !is_leap));
}

/* HH:MM:SS and a fraction; what follows, or null. */
static const char *behind_time(const char *s)
{
	if (!in_range(s, 2, 0, 23) || s[2] != ':' || !in_range(s + 3, 2, 0, 59) ||
	    s[5] != ':' || !in_range(s + 6, 2, 0, 60))
		return NULL;
	s += 8;
	if (*s != '.')
		return s;
	size_t n = strspn(s + 1, decimal);
	return n ? s + 1 + n : NULL;
}

static int is_offset(const char *s)
{
	if (strcmp(s, "Z") == 0 || strcmp(s, "z") == 0)
		return 1;
	return (*s == '+' || *s == '-') && in_range(s + 1, 2, 0, 23) && s[3] == ':' &&
	    in_range(s + 4, 2, 0, 59) && !s[6];
}

static int is_date_time(const char *s)
{
	size_t n = strlen(s);
	if (n >= 3 && s[2] == ':') {
		s = behind_time(s);
		return s && !*s;
	}
	if (n < 10 || !is_date(s))
		return 0;
	s += 10;
	if (!*s)
		return 1;
	if (!strchr("Tt ", *s) || strlen(s) < 9)
		return 0;
	s = behind_time(s + 1);
	return s && (!*s || is_offset(s));
}

/* Bytes up to what ends a scalar. */
static size_t token_length(const struct toml_scan *s)
{
	size_t n = 0;
	while (s->at + n < s->n && !strchr(" \t\r\n,]}#=", s->text[s->at + n]))
		n++;
	/* A blank may stand for the T of a date with time. */
	const char *p = s->text + s->at;
	if (n == 10 && p[4] == '-' && s->n - s->at > 11 && p[10] == ' ' &&
	    isdigit((unsigned char)p[11]))
		for (n = 11; s->at + n < s->n && !strchr(" \t\r\n,]}#=", p[n]); n++)
			;
	return n;
}

int toml_scalar(struct toml_scan *s, cJSON *item, enum doc_kind *kind)
{
	size_t start = s->at, n = token_length(s);
	char *token = xstrndup(s->text + start, n);
	int result = 0;
	s->at += n;
	if (strcmp(token, "true") == 0 || strcmp(token, "false") == 0) {
		*kind = DOC_BOOL;
		item->type = *token == 't' ? cJSON_True : cJSON_False;
		item->valueint = *token == 't';
	} else if (n > 4 && isdigit((unsigned char)*token) &&
	    (token[4] == '-' || token[2] == ':')) {
		*kind = DOC_DATE;
		item->type = cJSON_String;
		item->valuestring = xstrdup(token);
		if (!is_date_time(token))
			result = fault_at(s, start, "not a date or time");
	} else {
		result = number(s, start, token, item, kind);
	}
	free(token);
	return result;
}

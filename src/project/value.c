#include "project/value.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cjson/cJSON.h>

#include "project/doc.h"
#include "util/buf.h"
#include "util/mem.h"

static const char *const type_name[] = {
	"float",
	"int",
	"bool",
	"vec2",
	"vec3",
	"vec4",
};

const char *value_type_name(enum value_type type)
{
	return type_name[type];
}

int value_components(enum value_type type)
{
	return type < VALUE_VEC2 ? 1 : (int)type - VALUE_VEC2 + 2;
}

/* GL takes floats: a double beyond them is as infinite as an inf. */
static int is_number(double v)
{
	return isfinite(v) && fabs(v) <= 3.4028234663852886e38;
}

/* Decimal only: strtod's hexadecimal, "inf" and "nan" are not meant. */
static int parse_number(const char *s, double *out)
{
	if (!*s || strspn(s, "+-.0123456789eE") != strlen(s))
		return -1;
	char *end;
	*out = strtod(s, &end);
	return *end || !is_number(*out) ? -1 : 0;
}

static int parse_bool(const char *s, int *out)
{
	static const char *const word[2][3] = {
		{ "false", "0", "off" },
		{ "true", "1", "on" },
	};
	for (int value = 0; value < 2; value++)
		for (int i = 0; i < 3; i++)
			if (strcmp(s, word[value][i]) == 0) {
				*out = value;
				return 0;
			}
	return -1;
}

static int parse_int(const char *s, int *out)
{
	size_t sign = *s == '-' || *s == '+';
	if (!s[sign] || strspn(s + sign, "0123456789") != strlen(s + sign))
		return -1;
	errno = 0;
	long v = strtol(s, NULL, 10);
	if (errno || v < INT_MIN || v > INT_MAX)
		return -1;
	*out = (int)v;
	return 0;
}

/* A copy without blanks at either end. */
static char *trimmed(const char *s, size_t n)
{
	while (n && isspace((unsigned char)*s))
		s++, n--;
	while (n && isspace((unsigned char)s[n - 1]))
		n--;
	return xstrndup(s, n);
}

static int parse_components(const char *text, int n, double *out)
{
	for (int i = 0; i < n; i++) {
		size_t len = i + 1 < n ? strcspn(text, ",") : strlen(text);
		if (i + 1 < n && !text[len])
			return -1;
		char *part = trimmed(text, len);
		int bad = parse_number(part, &out[i]);
		free(part);
		if (bad)
			return -1;
		text += len + 1;
	}
	return 0;
}

static int expected(enum value_type type, const char *got, struct err *err)
{
	static const char *const shape[] = {
		"a number",
		"an integer",
		"true or false",
		"2 numbers",
		"3 numbers",
		"4 numbers",
	};
	return err_set(err, STATUS_INPUT, "expected %s for %s %s, got %s", shape[type],
	    type == VALUE_INT ? "an" : "a", type_name[type], got);
}

int value_parse(const char *text, enum value_type type, struct value *out,
    struct err *err)
{
	char *s = trimmed(text, strlen(text));
	struct value v = { .type = type };
	int bad;
	if (type == VALUE_BOOL)
		bad = parse_bool(s, &v.i);
	else if (type == VALUE_INT)
		bad = parse_int(s, &v.i);
	else
		bad = parse_components(s, value_components(type), v.f);
	if (bad) {
		char *quoted = xasprintf("'%s'", s);
		expected(type, quoted, err);
		free(quoted);
	} else {
		*out = v;
	}
	free(s);
	return bad ? -1 : 0;
}

static int is_vector(const cJSON *json, int n, double *out)
{
	if (!cJSON_IsArray(json))
		return 0;
	int i = 0;
	for (const cJSON *c = json->child; c; c = c->next, i++) {
		if (i == n || !cJSON_IsNumber(c) || !is_number(c->valuedouble))
			return 0;
		out[i] = c->valuedouble;
	}
	return i == n;
}

int value_from_json(const cJSON *json, enum value_type type, struct value *out,
    struct err *err)
{
	struct value v = { .type = type };
	int fits = 0;
	double number = cJSON_IsNumber(json) ? json->valuedouble : NAN;
	if (type == VALUE_BOOL) {
		fits = cJSON_IsBool(json);
		v.i = cJSON_IsTrue(json);
	} else if (type == VALUE_INT) {
		fits = number == floor(number) && number >= INT_MIN && number <= INT_MAX;
		v.i = fits ? (int)number : 0;
	} else if (type == VALUE_FLOAT) {
		fits = is_number(number);
		v.f[0] = number;
	} else {
		fits = is_vector(json, value_components(type), v.f);
	}
	if (!fits)
		return expected(type, "something else", err);
	*out = v;
	return 0;
}

cJSON *value_to_json(const struct value *value)
{
	json_init();
	switch (value->type) {
	case VALUE_BOOL:
		return cJSON_CreateBool(value->i);
	case VALUE_INT:
		return cJSON_CreateNumber(value->i);
	case VALUE_FLOAT:
		return cJSON_CreateNumber(value->f[0]);
	default:
		return cJSON_CreateDoubleArray(value->f, value_components(value->type));
	}
}

void value_print(const struct value *value, struct buf *out)
{
	if (value->type == VALUE_BOOL) {
		buf_addstr(out, value->i ? "true" : "false");
		return;
	}
	if (value->type == VALUE_INT) {
		buf_addf(out, "%d", value->i);
		return;
	}
	for (int i = 0; i < value_components(value->type); i++) {
		if (i)
			buf_addstr(out, ", ");
		print_float((float)value->f[i], out);
	}
}

/* %g says 1e+03 where 1000 is as exact; such numbers are written out. */
static int is_short(const char *text, double v, double most)
{
	return !strchr(text, 'e') || !(fabs(v) >= 1e-4 && fabs(v) < most);
}

void print_float(float v, struct buf *out)
{
	char text[32];
	for (int digits = 1; digits <= 9; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, (double)v);
		if (strtof(text, NULL) == v && is_short(text, (double)v, 1e8))
			break;
	}
	buf_addstr(out, text);
}

void print_double(double v, struct buf *out)
{
	char text[32];
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, v);
		if (strtod(text, NULL) == v && is_short(text, v, 1e16))
			break;
	}
	buf_addstr(out, text);
}

/* What stands behind a number: upper case, in the table's terms. */
struct unit {
	const char *name;
	double factor;
};

static int parse_quantity(const char *s, const struct unit *unit, double max, double *out)
{
	size_t ndigit = strspn(s, "0123456789.");
	char *end;
	if (!isdigit((unsigned char)*s))
		return -1;
	double v = strtod(s, &end);
	if (end != s + ndigit)
		return -1;
	while (*end == ' ')
		end++;
	for (; unit->name; unit++) {
		const char *a = end, *b = unit->name;
		while (*a && toupper((unsigned char)*a) == *b)
			a++, b++;
		if (*a || *b)
			continue;
		if (v * unit->factor > max)
			return -1;
		*out = v * unit->factor;
		return 0;
	}
	return -1;
}

int bytes_parse(const char *text, uint64_t *out)
{
	static const struct unit unit[] = {
		{ "", 1 },
		{ "B", 1 },
		{ "KB", 1e3 },
		{ "MB", 1e6 },
		{ "GB", 1e9 },
		{ "TB", 1e12 },
		{ "KIB", 1024.0 },
		{ "MIB", 1048576.0 },
		{ "GIB", 1073741824.0 },
		{ "TIB", 1099511627776.0 },
		{ NULL, 0 },
	};
	double v;
	if (parse_quantity(text, unit, 9007199254740992.0, &v))
		return -1;
	*out = (uint64_t)v;
	return 0;
}

int age_parse(const char *text, double *out)
{
	static const struct unit unit[] = {
		{ "", 1 },
		{ "S", 1 },
		{ "M", 60 },
		{ "H", 3600 },
		{ "D", 86400 },
		{ "W", 604800 },
		{ NULL, 0 },
	};
	return parse_quantity(text, unit, 1e12, out);
}

void bytes_print(uint64_t n, struct buf *out)
{
	static const char *const unit[] = { "KiB", "MiB", "GiB", "TiB", "PiB" };
	double v = (double)n / 1024;
	int i = 0;
	if (n < 1024) {
		buf_addf(out, "%d byte%s", (int)n, n == 1 ? "" : "s");
		return;
	}
	/* What would be rounded to 1024.0 is 1.0 of the next. */
	while (v >= 1023.95 && i < 4) {
		v /= 1024;
		i++;
	}
	buf_addf(out, "%.1f %s", v, unit[i]);
}

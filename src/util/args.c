#include "util/args.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "util/buf.h"
#include "util/mem.h"
#include "util/suggest.h"

static int is_end(const struct args_option *o)
{
	return !o->letter && !o->name;
}

static void list_add(struct args_list *list, const char *item)
{
	list->item = array_grow(list->item, list->nitem, &list->cap, sizeof *list->item);
	list->item[list->nitem++] = item;
}

void args_list_release(struct args_list *list)
{
	if (!list)
		return;
	free(list->item);
	*list = (struct args_list){ NULL, 0, 0 };
}

static int is_digits(const char *s)
{
	return *s && strspn(s, "0123456789") == strlen(s);
}

static int is_bounded(const struct args_option *o)
{
	return o->min < 0 || o->min > 0 || o->max < 0 || o->max > 0;
}

/* shown is the option as the user wrote it. */
static int set_int(const struct args_option *o, const char *shown, const char *value,
    struct err *err)
{
	if (!is_digits(value + (*value == '-')))
		return err_set(err, STATUS_INPUT,
		    "option '%s': '%s' is not a whole number", shown, value);
	errno = 0;
	long n = strtol(value, NULL, 10);
	if (is_bounded(o) && (errno || (double)n < o->min || (double)n > o->max))
		return err_set(err, STATUS_INPUT, "%s: %s is out of range (%.0f to %.0f)",
		    shown, value, o->min, o->max);
	if (errno)
		return err_set(err, STATUS_INPUT, "%s: %s is out of range", shown, value);
	*(long *)o->to = n;
	return 0;
}

static int set_number(const struct args_option *o, const char *shown, const char *value,
    struct err *err)
{
	char *end;
	double n = strtod(value, &end);
	/* strtod also knows "inf", "nan", "0x1" and leading space. */
	if (!*value || *end || strspn(value, "0123456789+-.eE") != strlen(value))
		return err_set(err, STATUS_INPUT, "option '%s': '%s' is not a number",
		    shown, value);
	if (!isfinite(n))
		return err_set(err, STATUS_INPUT, "%s: %s is out of range", shown, value);
	if (is_bounded(o) && (n < o->min || n > o->max))
		return err_set(err, STATUS_INPUT, "%s: %s is out of range (%g to %g)",
		    shown, value, o->min, o->max);
	*(double *)o->to = n;
	return 0;
}

static int set_value(const struct args_option *o, const char *shown, const char *value,
    struct err *err)
{
	switch (o->kind) {
	case ARGS_FLAG:
		break;
	case ARGS_STRING:
		*(const char **)o->to = value;
		return 0;
	case ARGS_LIST:
		list_add(o->to, value);
		return 0;
	case ARGS_INT:
	case ARGS_OPTINT:
		return set_int(o, shown, value, err);
	case ARGS_NUMBER:
		return set_number(o, shown, value, err);
	}
	BUG("option '%s' has no value to set", shown);
}

static int missing_value(const struct args_option *o, const char *shown, struct err *err)
{
	return err_set(err, STATUS_INPUT, "option '%s' needs a value (%s)", shown,
	    o->metavar ? o->metavar : "VALUE");
}

static int unknown_option(const char *name, size_t len,
    const struct args_option *const *table, size_t ntable, struct err *err)
{
	const char **candidate = NULL;
	size_t n = 0, cap = 0;
	for (size_t t = 0; t < ntable; t++)
		for (const struct args_option *o = table[t]; !is_end(o); o++) {
			candidate = array_grow(candidate, n, &cap, sizeof *candidate);
			candidate[n++] = o->name;
		}
	char *word = xstrndup(name, len);
	const char *near = suggest(word, candidate, n);
	if (near)
		err_set(err, STATUS_INPUT, "unknown option '--%s', did you mean '--%s'?",
		    word, near);
	else
		err_set(err, STATUS_INPUT, "unknown option '--%s'", word);
	free(word);
	free(candidate);
	return -1;
}

/* argv[*i] is "--name" or "--name=value"; *i moves on when the value is next. */
static int parse_long(int argc, char *const argv[], int *i,
    const struct args_option *const *table, size_t ntable, struct err *err)
{
	const char *name = argv[*i] + 2;
	size_t len = strcspn(name, "=");
	const char *value = name[len] ? name + len + 1 : NULL;
	const struct args_option *o = NULL;
	for (size_t t = 0; t < ntable && !o; t++)
		for (const struct args_option *row = table[t]; !is_end(row); row++)
			if (row->name && strlen(row->name) == len &&
			    strncmp(row->name, name, len) == 0) {
				o = row;
				break;
			}
	if (!o)
		return unknown_option(name, len, table, ntable, err);

	char *shown = xasprintf("--%s", o->name);
	const char *next = *i + 1 < argc ? argv[*i + 1] : NULL;
	int rc = 0;
	if (o->kind == ARGS_FLAG) {
		if (value)
			rc = err_set(err, STATUS_INPUT, "option '%s' takes no value",
			    shown);
		else
			++*(int *)o->to;
	} else if (value) {
		rc = set_value(o, shown, value, err);
	} else if (o->kind == ARGS_OPTINT && !(next && is_digits(next))) {
		*(long *)o->to = 0;
	} else if (next) {
		++*i;
		rc = set_value(o, shown, next, err);
	} else {
		rc = missing_value(o, shown, err);
	}
	free(shown);
	return rc;
}

static const struct args_option *find_letter(char letter,
    const struct args_option *const *table, size_t ntable)
{
	for (size_t t = 0; t < ntable; t++)
		for (const struct args_option *o = table[t]; !is_end(o); o++)
			if (o->letter == letter)
				return o;
	return NULL;
}

/* argv[*i] is "-x", "-xyz" or "-xVALUE"; *i moves on when the value is next. */
static int parse_letters(int argc, char *const argv[], int *i,
    const struct args_option *const *table, size_t ntable, struct err *err)
{
	const char *word = argv[*i];
	for (const char *p = word + 1; *p; p++) {
		const struct args_option *o = find_letter(*p, table, ntable);
		char shown[3] = { '-', *p, '\0' };
		if (!o && isprint((unsigned char)*p))
			return err_set(err, STATUS_INPUT,
			    word[2] ? "unknown option '%s' in '%s'"
				    : "unknown option '%s'",
			    shown, word);
		if (!o)
			return err_set(err, STATUS_INPUT, "unknown option '%s'", word);
		if (o->kind == ARGS_FLAG) {
			++*(int *)o->to;
			continue;
		}
		const char *next = *i + 1 < argc ? argv[*i + 1] : NULL;
		if (o->kind == ARGS_OPTINT) {
			if (p[1] && !is_digits(p + 1)) {
				*(long *)o->to = 0;
				continue;
			}
			if (!p[1] && !(next && is_digits(next))) {
				*(long *)o->to = 0;
				return 0;
			}
		}
		if (p[1])
			return set_value(o, shown, p + 1, err);
		if (!next)
			return missing_value(o, shown, err);
		++*i;
		return set_value(o, shown, next, err);
	}
	return 0;
}

int args_parse(int argc, char *const argv[], const struct args_option *const *table,
    size_t ntable, struct args_list *operands, struct err *err)
{
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i];
		if (strcmp(word, "--") == 0) {
			while (++i < argc)
				list_add(operands, argv[i]);
		} else if (strncmp(word, "--", 2) == 0) {
			if (parse_long(argc, argv, &i, table, ntable, err) < 0)
				return -1;
		} else if (word[0] == '-' && word[1]) {
			if (parse_letters(argc, argv, &i, table, ntable, err) < 0)
				return -1;
		} else {
			list_add(operands, word);
		}
	}
	return 0;
}

static void describe(const struct args_option *o, struct buf *out)
{
	const char *metavar = o->kind == ARGS_FLAG ? NULL
	    : o->metavar                           ? o->metavar
						   : "VALUE";
	int is_optional = o->kind == ARGS_OPTINT;
	buf_reset(out);
	if (o->letter)
		buf_addf(out, "-%c", o->letter);
	else
		buf_addstr(out, "    ");
	if (o->name)
		buf_addf(out, "%s--%s", o->letter ? ", " : "", o->name);
	if (metavar)
		buf_addf(out, is_optional ? " [%s]" : " %s", metavar);
}

void args_print(const struct args_option *table)
{
	struct buf left = BUF_INIT;
	size_t width = 0;
	for (const struct args_option *o = table; !is_end(o); o++) {
		describe(o, &left);
		if (left.len > width)
			width = left.len;
	}
	for (const struct args_option *o = table; !is_end(o); o++) {
		describe(o, &left);
		printf("  %-*s  %s\n", (int)width, buf_str(&left),
		    o->help ? o->help : "");
	}
	buf_release(&left);
}

/* The kinds of keys that have a syntax of their own. */
#include "manifest_keys.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/limits.h"
#include "util/buf.h"
#include "util/mem.h"

void load_frames(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	size_t n = 0, i = 0;
	int *frame = NULL;
	if (load_list(l, at, item, HUGE_VAL, &n))
		return;
	n = 0;
	for (const cJSON *c = item->child; c; c = c->next, i++) {
		struct at here = { at, NULL, i };
		long long v;
		if (cJSON_IsString(c)) {
			struct err err = ERR_INIT;
			if (frames_add_text(&frame, &n, c->valuestring, &err))
				fault(l, &here, c, "%s", err.message);
			err_release(&err);
		} else if (!load_integer(l, &here, c, 0, LIMIT_FRAME, &v)) {
			frames_add(&frame, &n, (int)v, (int)v, 1);
		}
		if (n > LIMIT_FRAME_LIST || l->nframe + n > LIMIT_FRAMES_IN_ALL) {
			fault(l, at, item,
			    "too many frames in the manifest's "
			    "lists");
			break;
		}
	}
	size_t before = n;
	frames_sort(frame, &n);
	if (!item->child)
		fault(l, at, item, "expected at least one frame");
	else if (key->max > 0 && n != before)
		fault(l, at, item, "a frame is listed twice");
	else if (key->max > 0 && (double)n > key->max)
		fault(l, at, item, "too many frames (%zu, at most %.0f)", n, key->max);
	l->nframe += n;
	memcpy(member(out, key->to), &frame, sizeof frame);
	*(size_t *)member(out, key->count) = n;
}

void load_resolutions(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	size_t n, i = 0;
	if (load_list(l, at, item, key->max, &n))
		return;
	if (!n) {
		fault(l, at, item, "expected at least one pair of numbers");
		return;
	}
	int(*size)[2] = xcalloc(n, sizeof *size);
	memcpy(member(out, key->to), &size, sizeof size);
	*(size_t *)member(out, key->count) = n;
	for (const cJSON *c = item->child; c; c = c->next, i++) {
		struct at here = { at, NULL, i };
		size_t two, k = 0;
		long long v;
		if (load_list(l, &here, c, HUGE_VAL, &two))
			continue;
		if (two != 2) {
			fault(l, &here, c,
			    "expected a width and a height, "
			    "got %zu numbers",
			    two);
			continue;
		}
		for (const cJSON *x = c->child; x; x = x->next, k++) {
			struct at deep = { &here, NULL, k };
			if (!load_integer(l, &deep, x, 1, LIMIT_SIZE, &v))
				size[i][k] = (int)v;
		}
	}
}

static int two_digits(const char *s)
{
	return isdigit((unsigned char)s[0]) && isdigit((unsigned char)s[1])
	    ? (s[0] - '0') * 10 + s[1] - '0'
	    : -1;
}

static int days_in_month(int year, int month)
{
	static const int days[] = {
		31,
		28,
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
	int is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	return days[month - 1] + (month == 2 && is_leap);
}

/*
 * "2000-01-02T03:04:05.5Z" and what TOML allows beside it:
 * YYYY-MM-DD, then perhaps T or a blank, HH:MM, perhaps :SS, perhaps .FFF,
 * perhaps Z or +00:00.
 */
static int date_parse(const char *s, struct date *out)
{
	struct date d = { 0 };
	int high = two_digits(s);
	if (high < 0 || (d.year = two_digits(s + 2)) < 0 || s[4] != '-')
		return -1;
	d.year += high * 100;
	if ((d.month = two_digits(s + 5)) < 1 || d.month > 12 || s[7] != '-')
		return -1;
	if ((d.day = two_digits(s + 8)) < 1 || d.day > days_in_month(d.year, d.month))
		return -1;
	s += 10;
	if (*s) {
		if (!strchr("Tt ", *s) || (d.hour = two_digits(s + 1)) < 0 ||
		    d.hour > 23 || s[3] != ':' || (d.minute = two_digits(s + 4)) < 0 ||
		    d.minute > 59)
			return -1;
		s += 6;
		int second = 0;
		if (*s == ':') {
			if ((second = two_digits(s + 1)) < 0 || second > 59)
				return -1;
			d.second = second;
			s += 3;
			if (*s == '.') {
				size_t n = strspn(s + 1, "0123456789");
				if (!n)
					return -1;
				d.second += strtod(s, NULL);
				s += 1 + n;
			}
		}
		if (strcmp(s, "") != 0 && strcmp(s, "Z") != 0 && strcmp(s, "z") != 0 &&
		    strcmp(s, "+00:00") != 0 && strcmp(s, "-00:00") != 0)
			return -1;
	}
	*out = d;
	return 0;
}

void load_date(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	if (!cJSON_IsString(item) || date_parse(item->valuestring, member(out, key->to)))
		expected(l, at, item,
		    "a date and time in UTC such as 2000-01-01T00:00:00Z");
}

void load_bytes(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	uint64_t *to = member(out, key->to);
	if (kind_of(l, item) == DOC_INTEGER && item->valuedouble >= 0 &&
	    item->valuedouble <= 9007199254740992.0)
		*to = (uint64_t)item->valuedouble;
	else if (!cJSON_IsString(item) || bytes_parse(item->valuestring, to))
		expected(l, at, item, "a number of bytes, or a string such as \"10GiB\"");
}

void load_age(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	double *to = member(out, key->to);
	if (kind_of(l, item) == DOC_INTEGER && item->valuedouble >= 0 &&
	    item->valuedouble <= 1e12)
		*to = item->valuedouble;
	else if (!cJSON_IsString(item) || age_parse(item->valuestring, to))
		expected(l, at, item, "a number of seconds, or a string such as \"30d\"");
}

void load_checkpoint(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	struct manifest *m = out;
	(void)key;
	if (cJSON_IsString(item) && strcmp(item->valuestring, "auto") == 0) {
		m->checkpoint = CHECKPOINT_AUTO;
	} else if (cJSON_IsString(item) && strcmp(item->valuestring, "off") == 0) {
		m->checkpoint = CHECKPOINT_OFF;
	} else if (kind_of(l, item) == DOC_INTEGER && item->valuedouble >= 1 &&
	    item->valuedouble <= LIMIT_FRAME) {
		m->checkpoint = CHECKPOINT_EVERY;
		m->checkpoint_every = (int)item->valuedouble;
	} else {
		expected(l, at, item, "\"auto\", \"off\" or a number of frames");
	}
}

void load_mouse(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	struct value v;
	if (load_value(l, at, item, VALUE_VEC4, &v))
		return;
	float *mouse = member(out, key->to);
	for (int i = 0; i < 4; i++)
		mouse[i] = (float)v.f[i];
}

static const struct {
	const char *name;
	int code;
} known[] = {
	{ "backspace", 8 },
	{ "tab", 9 },
	{ "enter", 13 },
	{ "return", 13 },
	{ "shift", 16 },
	{ "ctrl", 17 },
	{ "control", 17 },
	{ "alt", 18 },
	{ "pause", 19 },
	{ "capslock", 20 },
	{ "esc", 27 },
	{ "escape", 27 },
	{ "space", 32 },
	{ "pageup", 33 },
	{ "pagedown", 34 },
	{ "end", 35 },
	{ "home", 36 },
	{ "left", 37 },
	{ "up", 38 },
	{ "right", 39 },
	{ "down", 40 },
	{ "insert", 45 },
	{ "delete", 46 },
	{ " ", 32 },
	{ ";", 186 },
	{ "=", 187 },
	{ ",", 188 },
	{ "-", 189 },
	{ ".", 190 },
	{ "/", 191 },
	{ "`", 192 },
	{ "[", 219 },
	{ "\\", 220 },
	{ "]", 221 },
	{ "'", 222 },
};

const char *key_name(size_t i)
{
	return i < sizeof known / sizeof *known ? known[i].name : NULL;
}

/* KeyboardEvent.keyCode of a key's name, or -1. */
static int key_code(const char *name)
{
	char lower[16];
	size_t n = strlen(name);
	if (n >= sizeof lower)
		return -1;
	for (size_t i = 0; i <= n; i++)
		lower[i] = (char)tolower((unsigned char)name[i]);
	if (n == 1 && isalnum((unsigned char)*name))
		return toupper((unsigned char)*name);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(lower, known[i].name) == 0)
			return known[i].code;
	for (int i = 1; i <= 12; i++) {
		char f[16];
		snprintf(f, sizeof f, "f%d", i);
		if (strcmp(lower, f) == 0)
			return 111 + i;
	}
	return -1;
}

void load_keys(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	size_t n, i = 0;
	if (load_list(l, at, item, key->max, &n) || !n)
		return;
	uint8_t *code = xcalloc(n, sizeof *code);
	memcpy(member(out, key->to), &code, sizeof code);
	*(size_t *)member(out, key->count) = n;
	for (const cJSON *c = item->child; c; c = c->next, i++) {
		struct at here = { at, NULL, i };
		int v = -1;
		if (cJSON_IsString(c))
			v = key_code(c->valuestring);
		else if (kind_of(l, c) == DOC_INTEGER && c->valuedouble >= 0 &&
		    c->valuedouble <= 255)
			v = (int)c->valuedouble;
		if (v < 0)
			expected(l, &here, c,
			    "a key code from 0 to 255 or a "
			    "key's name such as \"A\", \"left\", \"f1\"");
		else
			code[i] = (uint8_t)v;
	}
}

void load_budgets(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	size_t n = 0;
	if (!cJSON_IsObject(item)) {
		expected(l, at, item, "a table");
		return;
	}
	for (const cJSON *c = item->child; c; c = c->next)
		n++;
	if (!n)
		return;
	struct test_budget *budget = xcalloc(n, sizeof *budget);
	memcpy(member(out, key->to), &budget, sizeof budget);
	*(size_t *)member(out, key->count) = n;
	for (const cJSON *c = item->child; c; c = c->next, budget++) {
		struct at here = { at, c->string, 0 };
		budget->pass = load_pass_name(l, &here, c, 1, c->string);
		load_number(l, &here, c, 0, HUGE_VAL, 0, &budget->ms);
	}
}

void load_set(struct loader *l, const struct key *key, const cJSON *item,
    const struct at *at, void *out)
{
	size_t n = 0;
	if (!cJSON_IsObject(item)) {
		expected(l, at, item, "a table");
		return;
	}
	for (const cJSON *c = item->child; c; c = c->next)
		n++;
	if (!n)
		return;
	struct assignment *set = xcalloc(n, sizeof *set);
	memcpy(member(out, key->to), &set, sizeof set);
	*(size_t *)member(out, key->count) = n;
	for (const cJSON *c = item->child; c; c = c->next, set++) {
		struct at here = { at, c->string, 0 };
		size_t i = map_gets(&l->uniform, c->string);
		if (i == MAP_NONE) {
			unknown(l, &here, c, 1, "uniform", c->string, l->uniform.entry,
			    l->uniform.nentry, sizeof *l->uniform.entry);
			continue;
		}
		const struct uniform *u = &l->m->uniform[i];
		set->uniform = (int)i;
		if (l->uniform_ok[i] && !load_value(l, &here, c, u->type, &set->value))
			check_range(l, &here, c, u, &set->value);
	}
}

enum format pass_format(const struct pass *pass, int output)
{
	return output == 0 ? pass->format : pass->extra_output[output - 1];
}

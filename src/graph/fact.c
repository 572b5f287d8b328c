#include "graph/fact.h"

#include <stdlib.h>
#include <string.h>

#include "project/manifest.h"
#include "project/value.h"
#include "util/map.h"
#include "util/mem.h"

#define HEAD 16 /* bytes before the subject */

/* The table ------------------------------------------------------------------ */

typedef void print_form(const struct fact *fact, struct buf *out);

static print_form print_number, print_number_double, print_dialect, print_hash,
    print_pass_kind, print_size, print_format, print_sampler, print_part, print_value,
    print_channel, print_bound, print_text, print_keyboard, print_storage, print_date,
    print_keys;

static const struct row {
	uint32_t tag;
	const char *label;
	print_form *print;
	enum reason_kind reason;
	unsigned flags;
} rows[] = {
#define KEY FACT_IS_KEY
#define DECLARED FACT_IS_DECLARED
#define FOLLOWED FACT_IS_FOLLOWED
#define PLACED FACT_IS_PLACED
#define PRESET FACT_IS_PRESET
#define FACT(name, tag, label, form, why, flags) \
	[FACT_##name] = { tag, label, print_##form, REASON_##why, flags },
#include "graph/fact.def"
#undef FACT
#undef KEY
#undef DECLARED
#undef FOLLOWED
#undef PLACED
#undef PRESET
};

enum reason_kind fact_reason(enum fact_kind kind)
{
	return rows[kind].reason;
}

unsigned fact_flags(enum fact_kind kind)
{
	return rows[kind].flags;
}

static int kind_of(uint32_t tag, enum fact_kind *out)
{
	for (int i = 0; i < NFACT; i++)
		if (rows[i].tag == tag) {
			*out = (enum fact_kind)i;
			return 1;
		}
	return 0;
}

/* Lists ---------------------------------------------------------------------- */

void facts_begin(struct facts *list, const char *what)
{
	buf_reset(&list->bytes);
	facts_add_number(list, FACT_LIST, what, FACT_NONE, KEY_VERSION);
}

void facts_add(struct facts *list, const struct fact *f)
{
	struct buf *b = &list->bytes;
	size_t n = strlen(f->subject);

	if (list->is_terse && !(rows[f->kind].flags & FACT_IS_KEY))
		return;
	buf_u32le(b, rows[f->kind].tag);
	buf_u32le(b, f->index);
	buf_u32le(b, (uint32_t)n);
	buf_u32le(b, (uint32_t)f->n);
	buf_add(b, f->subject, n + 1);
	buf_add(b, f->bytes, f->n);
	if (!(rows[f->kind].flags & FACT_IS_PLACED))
		return;
	n = strlen(f->file);
	buf_u32le(b, (uint32_t)f->line);
	buf_u32le(b, (uint32_t)n);
	buf_add(b, f->file, n + 1);
}

void facts_add_bytes(struct facts *list, enum fact_kind kind, const char *subject,
    uint32_t index, const void *bytes, size_t n)
{
	facts_add(list, &(struct fact){ kind, subject, index, bytes, n, "", 0 });
}

void facts_add_number(struct facts *list, enum fact_kind kind, const char *subject,
    uint32_t index, uint64_t v)
{
	unsigned char le[8];

	for (int i = 0; i < 8; i++)
		le[i] = (unsigned char)(v >> 8 * i);
	facts_add_bytes(list, kind, subject, index, le, sizeof le);
}

void facts_add_text(struct facts *list, enum fact_kind kind, const char *subject,
    uint32_t index, const char *text)
{
	facts_add_bytes(list, kind, subject, index, text, strlen(text));
}

void facts_add_hash(struct facts *list, enum fact_kind kind, const char *subject,
    uint32_t index, const struct sha256 *sha)
{
	facts_add_bytes(list, kind, subject, index, sha->byte, SHA256_SIZE);
}

void facts_add_size(struct facts *list, enum fact_kind kind, int width, int height)
{
	facts_add_number(list, kind, "", FACT_NONE,
	    (uint64_t)width << 32 | (uint64_t)height);
}

void facts_add_double(struct facts *list, enum fact_kind kind, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof bits);
	facts_add_number(list, kind, "", FACT_NONE, bits);
}

void facts_append(struct facts *list, const struct facts *more)
{
	buf_add(&list->bytes, more->bytes.data, more->bytes.len);
}

void facts_release(struct facts *list)
{
	buf_release(&list->bytes);
}

/* A string of that length and its NUL, or null. */
static const char *take_string(const unsigned char **p, size_t *left, size_t n)
{
	const char *s = (const char *)*p;

	if (*left <= n || s[n] != '\0' || memchr(s, '\0', n))
		return NULL;
	*p += n + 1;
	*left -= n + 1;
	return s;
}

int facts_next(const struct facts *list, size_t *at, struct fact *out)
{
	const unsigned char *p = (const unsigned char *)list->bytes.data + *at;
	size_t left = list->bytes.len - *at;

	if (left < HEAD || !kind_of(get_u32le(p), &out->kind))
		return 0;
	out->index = get_u32le(p + 4);
	size_t nsubject = get_u32le(p + 8);
	out->n = get_u32le(p + 12);
	p += HEAD;
	left -= HEAD;
	out->subject = take_string(&p, &left, nsubject);
	if (!out->subject || left < out->n)
		return 0;
	out->bytes = p;
	p += out->n;
	left -= out->n;
	out->file = "";
	out->line = 0;
	if (rows[out->kind].flags & FACT_IS_PLACED) {
		if (left < 8)
			return 0;
		out->line = (int)(get_u32le(p) & 0x7fffffff);
		size_t nfile = get_u32le(p + 4);
		p += 8;
		left -= 8;
		out->file = take_string(&p, &left, nfile);
		if (!out->file)
			return 0;
	}
	*at = list->bytes.len - left;
	return 1;
}

static int is_like(const struct fact *a, const struct fact *b)
{
	return a->kind == b->kind && a->index == b->index &&
	    strcmp(a->subject, b->subject) == 0 && strcmp(a->file, b->file) == 0;
}

int fact_equal(const struct fact *a, const struct fact *b)
{
	return a->n == b->n && memcmp(a->bytes, b->bytes, a->n) == 0;
}

int facts_find(const struct facts *list, const struct fact *like, struct fact *out)
{
	struct fact f;

	for (size_t at = 0; facts_next(list, &at, &f);)
		if (is_like(&f, like)) {
			*out = f;
			return 1;
		}
	return 0;
}

int facts_get(const struct facts *list, enum fact_kind kind, const char *subject,
    uint32_t index, struct fact *out)
{
	struct fact like = { kind, subject, index, NULL, 0, "", 0 };

	return facts_find(list, &like, out);
}

void facts_hash(const struct facts *list, enum fact_flags flag, struct sha256 *out)
{
	struct facts kept = { 0 };
	struct fact f;

	if (list->is_terse && flag == FACT_IS_KEY) {
		sha256_of(list->bytes.data, list->bytes.len, out);
		return;
	}
	for (size_t at = 0; facts_next(list, &at, &f);)
		if (rows[f.kind].flags & flag)
			facts_add(&kept, &f);
	sha256_of(buf_str(&kept.bytes), kept.bytes.len, out);
	facts_release(&kept);
}

/* Comparing -------------------------------------------------------------------- */

/* Where the facts of a list stand, by what they are known by. */
static void index_facts(const struct facts *list, struct map *index)
{
	struct buf key = BUF_INIT;
	struct fact f;

	for (size_t at = 0, start = 0; facts_next(list, &at, &f); start = at) {
		buf_reset(&key);
		buf_u32le(&key, (uint32_t)f.kind);
		buf_u32le(&key, f.index);
		buf_add(&key, f.subject, strlen(f.subject) + 1);
		buf_addstr(&key, f.file);
		map_put(index, key.data, key.len, start);
	}
	buf_release(&key);
}

static int find_indexed(const struct facts *list, const struct map *index,
    const struct fact *like, struct buf *key, struct fact *out)
{
	buf_reset(key);
	buf_u32le(key, (uint32_t)like->kind);
	buf_u32le(key, like->index);
	buf_add(key, like->subject, strlen(like->subject) + 1);
	buf_addstr(key, like->file);
	size_t at = map_get(index, key->data, key->len);
	return at != MAP_NONE && facts_next(list, &at, out);
}

void facts_compare(const struct facts *was, const struct facts *now, facts_differ *each,
    void *data)
{
	struct map in_was = MAP_INIT, in_now = MAP_INIT;
	struct buf key = BUF_INIT;
	struct fact f, other;

	index_facts(was, &in_was);
	index_facts(now, &in_now);
	for (size_t at = 0; facts_next(now, &at, &f);)
		if (!find_indexed(was, &in_was, &f, &key, &other))
			each(data, NULL, &f);
		else if (!fact_equal(&f, &other))
			each(data, &other, &f);
	for (size_t at = 0; facts_next(was, &at, &f);)
		if (!find_indexed(now, &in_now, &f, &key, &other))
			each(data, &f, NULL);
	buf_release(&key);
	map_release(&in_was);
	map_release(&in_now);
}

/* Printing ----------------------------------------------------------------------- */

uint64_t fact_number(const struct fact *f)
{
	return f->n == 8 ? get_u64le(f->bytes) : 0;
}

void fact_print_name(const struct fact *f, struct buf *out)
{
	for (const char *p = rows[f->kind].label; *p; p++)
		if (*p == '%' && p[1] == 'i') {
			buf_addf(out, "%u", (unsigned)f->index);
			p++;
		} else if (*p == '%' && p[1] == 's') {
			buf_addstr(out, f->subject);
			p++;
		} else {
			buf_addch(out, *p);
		}
}

void fact_print_value(const struct fact *f, struct buf *out)
{
	size_t start = out->len;

	rows[f->kind].print(f, out);
	/* A name with a line end in it is no second line. */
	for (size_t i = start; i < out->len; i++)
		if ((unsigned char)out->data[i] < ' ')
			out->data[i] = ' ';
}

static void print_number(const struct fact *f, struct buf *out)
{
	buf_addf(out, "%llu", (unsigned long long)fact_number(f));
}

static void print_number_double(const struct fact *f, struct buf *out)
{
	uint64_t bits = fact_number(f);
	double v;

	memcpy(&v, &bits, sizeof v);
	print_double(v, out);
}

/* Of a name that one of the manifest's enums has. */
static void print_enum(const struct fact *f, unsigned n, const char *(*name)(int),
    struct buf *out)
{
	uint64_t v = fact_number(f);

	buf_addstr(out, v < n ? name((int)v) : "?");
}

static const char *name_dialect(int v)
{
	return dialect_name((enum dialect)v);
}

static const char *name_pass_kind(int v)
{
	return pass_kind_name((enum pass_kind)v);
}

static const char *name_format(int v)
{
	return format_name((enum format)v);
}

static void print_dialect(const struct fact *f, struct buf *out)
{
	print_enum(f, DIALECT_ESSL + 1, name_dialect, out);
}

static void print_pass_kind(const struct fact *f, struct buf *out)
{
	print_enum(f, PASS_SOUND + 1, name_pass_kind, out);
}

static void print_format(const struct fact *f, struct buf *out)
{
	print_enum(f, FORMAT_RGBA8 + 1, name_format, out);
}

static void print_hash(const struct fact *f, struct buf *out)
{
	for (size_t i = 0; i < f->n && i < 8; i++)
		buf_addf(out, "%02x", f->bytes[i]);
	if (f->n == 0)
		buf_addstr(out, "zeros");
}

/* One number of width and height, or three of four bytes. */
static void print_size(const struct fact *f, struct buf *out)
{
	uint64_t v = fact_number(f);

	if (f->n == 12)
		buf_addf(out, "%ux%ux%u", (unsigned)get_u32le(f->bytes),
		    (unsigned)get_u32le(f->bytes + 4), (unsigned)get_u32le(f->bytes + 8));
	else if (v == 0)
		buf_addstr(out, "none");
	else
		buf_addf(out, "%ux%u", (unsigned)(v >> 32), (unsigned)(v & 0xffffffff));
}

static void print_sampler(const struct fact *f, struct buf *out)
{
	if (f->n == 2 && f->bytes[0] <= FILTER_MIPMAP && f->bytes[1] <= WRAP_CLAMP)
		buf_addf(out, "%s, %s", filter_name((enum filter)f->bytes[0]),
		    wrap_name((enum wrap)f->bytes[1]));
}

static void print_text(const struct fact *f, struct buf *out)
{
	buf_add(out, f->bytes, f->n);
}

/* A short macro's text behind "=", or nothing to show. */
static void print_part(const struct fact *f, struct buf *out)
{
	if (f->n > 0 && f->bytes[0] == '=')
		buf_add(out, f->bytes + 1, f->n - 1);
}

/* A letter of the type, then four bytes each. */
static void print_value(const struct fact *f, struct buf *out)
{
	for (size_t at = 1; at + 4 <= f->n; at += 4) {
		uint32_t bits = get_u32le(f->bytes + at);
		float v;
		memcpy(&v, &bits, sizeof v);
		buf_addstr(out, at > 1 ? ", " : "");
		if (f->bytes[0] == 'f')
			print_float(v, out);
		else if (f->bytes[0] == 'b')
			buf_addstr(out, bits ? "true" : "false");
		else
			buf_addf(out, "%d", (int)bits);
	}
}

static const char *bound_name(const struct fact *f)
{
	if (f->n < 1 || f->bytes[0] > INPUT_WEBCAM)
		return "unbound";
	return input_kind_name((enum input_kind)f->bytes[0]);
}

/* Kind, is a cube, output, has mipmaps, vflip, channels: a byte each. */
static void print_channel(const struct fact *f, struct buf *out)
{
	buf_addstr(out, bound_name(f));
	if (f->n != 6)
		return;
	if (f->bytes[0] == INPUT_PASS)
		buf_addf(out, " output %d%s%s", f->bytes[2],
		    f->bytes[1] ? " cubemap" : "", f->bytes[3] ? " mipmaps" : "");
	else
		buf_addf(out, "%s%s", f->bytes[4] ? ", vflip" : "",
		    f->bytes[5] == 1 ? ", one channel" : "");
}

/* Kind, output, is previous: a byte each; then the pass's name, or a path. */
static void print_bound(const struct fact *f, struct buf *out)
{
	const char *name = (const char *)f->bytes + 3;

	buf_addstr(out, bound_name(f));
	if (f->n <= 3)
		return;
	if (f->bytes[0] == INPUT_PASS)
		buf_addf(out, " '%.*s' output %d%s", (int)(f->n - 3), name, f->bytes[1],
		    f->bytes[2] ? " previous" : "");
	else
		buf_addf(out, " %.*s", (int)(f->n - 3), name);
}

static void print_bits(const unsigned char *bits, struct buf *out)
{
	for (int k = 0, n = 0; k < 256; k++)
		if (bits[k / 8] >> k % 8 & 1)
			buf_addf(out, "%s%d", n++ ? " " : "", k);
}

static void print_keys(const struct fact *f, struct buf *out)
{
	if (f->n == 32)
		print_bits(f->bytes, out);
}

static void print_keyboard(const struct fact *f, struct buf *out)
{
	static const char *const row[] = { "held ", ", pressed ", ", toggled " };

	for (size_t r = 0; r < 3 && f->n == 96; r++) {
		buf_addstr(out, row[r]);
		print_bits(f->bytes + 32 * r, out);
	}
}

/* Its size, then its name. */
static void print_storage(const struct fact *f, struct buf *out)
{
	if (f->n >= 8)
		buf_addf(out, "'%.*s' of %llu bytes", (int)(f->n - 8),
		    (const char *)f->bytes + 8, (unsigned long long)get_u64le(f->bytes));
}

/* Five numbers of four bytes, and the seconds as bits of a double. */
static void print_date(const struct fact *f, struct buf *out)
{
	const unsigned char *p = f->bytes;
	uint64_t bits;
	double second;

	if (f->n != 28)
		return;
	bits = get_u64le(p + 20);
	memcpy(&second, &bits, sizeof second);
	buf_addf(out, "%04u-%02u-%02uT%02u:%02u:", (unsigned)get_u32le(p),
	    (unsigned)get_u32le(p + 4), (unsigned)get_u32le(p + 8),
	    (unsigned)get_u32le(p + 12), (unsigned)get_u32le(p + 16));
	if (second >= 0 && second < 10)
		buf_addch(out, '0');
	print_double(second, out);
}

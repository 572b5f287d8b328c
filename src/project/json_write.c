#include "project/doc.h"

#include <string.h>

#include "util/buf.h"
#include "util/mem.h"

#define WIDTH 120 /* of a line, a tab being TAB */
#define TAB 4

static void put_scalar(const cJSON *item, struct buf *out)
{
	char *text = cJSON_PrintUnformatted(item);
	if (!text)
		BUG("a value that cannot be printed");
	buf_addstr(out, text);
	cJSON_free(text);
}

static void put_key(const cJSON *item, struct buf *out)
{
	if (!item->string)
		return;
	cJSON *key = cJSON_CreateString(item->string);
	put_scalar(key, out);
	cJSON_Delete(key);
	buf_addstr(out, ": ");
}

static int is_container(const cJSON *item)
{
	return cJSON_IsObject(item) || cJSON_IsArray(item);
}

/* { "a": 1, "b": [1, 2] }, as far as limit bytes go: 0 when that is too long. */
static int put_inline(const cJSON *item, size_t limit, struct buf *out)
{
	int is_object = cJSON_IsObject(item);
	if (!is_container(item)) {
		put_scalar(item, out);
		return out->len <= limit;
	}
	buf_addstr(out, is_object ? item->child ? "{ " : "{" : "[");
	for (const cJSON *child = item->child; child; child = child->next) {
		put_key(child, out);
		if (!put_inline(child, limit, out))
			return 0;
		if (child->next)
			buf_addstr(out, ", ");
	}
	buf_addstr(out, is_object ? item->child ? " }" : "}" : "]");
	return out->len <= limit;
}

static void put_lines(const cJSON *item, int depth, struct buf *out)
{
	/* The first level is always a line an entry. */
	int is_top = depth == 0 ||
	    (depth == 1 && cJSON_IsArray(item) && item->child &&
		is_container(item->child));
	size_t used =
	    (size_t)depth * TAB + (item->string ? strlen(item->string) + 4 : 0) + 1;
	struct buf line = BUF_INIT;
	int fits = !is_top && used < WIDTH && put_inline(item, WIDTH - used, &line);
	put_key(item, out);
	if (fits || !is_container(item)) {
		buf_reset(&line);
		put_inline(item, (size_t)-1, &line);
		buf_add(out, buf_str(&line), line.len);
		buf_release(&line);
		return;
	}
	buf_release(&line);
	buf_addch(out, cJSON_IsObject(item) ? '{' : '[');
	for (const cJSON *child = item->child; child; child = child->next) {
		buf_addch(out, '\n');
		for (int i = 0; i <= depth; i++)
			buf_addch(out, '\t');
		put_lines(child, depth + 1, out);
		if (child->next)
			buf_addch(out, ',');
	}
	buf_addch(out, '\n');
	for (int i = 0; i < depth; i++)
		buf_addch(out, '\t');
	buf_addch(out, cJSON_IsObject(item) ? '}' : ']');
}

void json_write(const cJSON *root, struct buf *out)
{
	put_lines(root, 0, out);
	buf_addch(out, '\n');
}

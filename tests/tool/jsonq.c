/*
 * jsonq FILE PATH: prints what a JSON document has at a path.
 *
 *	jsonq out 'counts.nodes_drawn'	a member of a member
 *	jsonq out 'traces[0].status'	an element, from 0
 *	jsonq out 'inputs["a.glsl"]'	a name with dots in it
 *	jsonq out 'traces#'		how many elements or members
 *
 * Strings are printed as they are, all else as JSON. FILE "-" is stdin. Status
 * 1: nothing is there; 2: the file is not one JSON document.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <cJSON.h>

#include "util/buf.h"
#include "util/mem.h"

static const cJSON *member(const cJSON *at, const char *name, size_t len)
{
	if (!cJSON_IsObject(at))
		return NULL;
	for (at = at->child; at; at = at->next)
		if (strlen(at->string) == len && strncmp(at->string, name, len) == 0)
			return at;
	return NULL;
}

/* One step of the path; *path moves behind it. */
static const cJSON *step(const cJSON *at, const char **path)
{
	const char *p = *path;
	if (p[0] == '[' && p[1] == '"') {
		const char *end = strstr(p + 2, "\"]");
		if (!end)
			return NULL;
		*path = end + 2;
		return member(at, p + 2, (size_t)(end - p - 2));
	}
	if (p[0] == '[') {
		char *end;
		long i = strtol(p + 1, &end, 10);
		if (end == p + 1 || *end != ']' || i < 0 || !cJSON_IsArray(at))
			return NULL;
		*path = end + 1;
		for (at = at->child; at && i; i--)
			at = at->next;
		return at;
	}
	p += *p == '.';
	size_t len = strcspn(p, ".[#");
	*path = p + len;
	return len ? member(at, p, len) : NULL;
}

static int print(const cJSON *at, int is_count)
{
	if (is_count) {
		if (!cJSON_IsArray(at) && !cJSON_IsObject(at))
			return 1;
		int n = 0;
		for (at = at->child; at; at = at->next)
			n++;
		printf("%d\n", n);
	} else if (cJSON_IsString(at)) {
		puts(at->valuestring);
	} else {
		char *text = cJSON_PrintUnformatted(at);
		puts(text ? text : "");
		cJSON_free(text);
	}
	return 0;
}

int main(int argc, char *argv[])
{
	if (argc != 3) {
		fprintf(stderr, "usage: jsonq FILE PATH\n");
		return 2;
	}
	FILE *file = strcmp(argv[1], "-") ? fopen(argv[1], "r") : stdin;
	if (!file) {
		fprintf(stderr, "jsonq: %s: %s\n", argv[1], strerror(errno));
		return 2;
	}
	struct buf text = BUF_INIT;
	size_t n;
	while ((n = fread(buf_reserve(&text, 65536), 1, 65536, file)) > 0)
		text.len += n;
	buf_addstr(&text, "");
	if (file != stdin)
		fclose(file);

	int rc = 2;
	/* One document, and nothing behind it. */
	cJSON *root = cJSON_ParseWithLengthOpts(buf_str(&text), text.len + 1, NULL, 1);
	if (!root || strlen(buf_str(&text)) != text.len) {
		fprintf(stderr, "jsonq: %s is not one JSON document\n", argv[1]);
		goto out;
	}
	const cJSON *at = root;
	const char *path = argv[2];
	while (at && *path && strcmp(path, "#") != 0)
		at = step(at, &path);
	rc = at ? print(at, *path == '#') : 1;
	if (rc)
		fprintf(stderr, "jsonq: nothing at '%s'\n", argv[2]);
out:
	cJSON_Delete(root);
	buf_release(&text);
	return rc;
}

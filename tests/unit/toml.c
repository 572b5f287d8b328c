/* What tests/toml cannot see: where things stood, and exact integers. */
#include <math.h>

#include "project/doc.h"
#include "util/utf8.h"
#include "util/buf.h"
#include "test.h"

static const char text[] = "# a comment\n"
			   "int = 0x7fff_ffff_ffff_ffff\n"
			   "  a . b = [1, 'x',\n"
			   "\t2024-01-02]\n"
			   "[t.u] # a table\n"
			   "\"k\" = { v = -1.5e3 }\n"
			   "[[list]]\n"
			   "[[list]]\n"
			   "x = \"\"\"\n"
			   "two\"\"\"\n"
			   "y = true\n"
			   "[t]\n"
			   "z = nan\n";

static const struct {
	const char *path[4], *raw;
	enum doc_kind kind;
	int line, column, key_line, key_column;
} row[] = {
	{ { "int" }, "0x7fff_ffff_ffff_ffff", DOC_INTEGER, 2, 7, 2, 1 },
	{ { "a" }, "a", DOC_TABLE, 3, 3, 3, 3 },
	{ { "a", "b" }, "[", DOC_ARRAY, 3, 11, 3, 7 },
	{ { "a", "b", "0" }, "1", DOC_INTEGER, 3, 12, 0, 0 },
	{ { "a", "b", "1" }, "'x'", DOC_STRING, 3, 15, 0, 0 },
	{ { "a", "b", "2" }, "2024-01-02", DOC_DATE, 4, 2, 0, 0 },
	{ { "t", "u" }, "[", DOC_TABLE, 5, 1, 5, 4 },
	{ { "t", "u", "k" }, "{", DOC_TABLE, 6, 7, 6, 1 },
	{ { "t", "u", "k", "v" }, "-1.5e3", DOC_FLOAT, 6, 13, 6, 9 },
	{ { "list" }, "[", DOC_ARRAY, 7, 1, 7, 3 },
	{ { "list", "0" }, "[", DOC_TABLE, 7, 1, 0, 0 },
	{ { "list", "1" }, "[", DOC_TABLE, 8, 1, 0, 0 },
	{ { "list", "1", "x" }, "\"\"\"\ntwo\"\"\"", DOC_STRING, 9, 5, 9, 1 },
	{ { "list", "1", "y" }, "true", DOC_BOOL, 11, 5, 11, 1 },
	/* Made by [t.u], defined by [t]. */
	{ { "t" }, "[", DOC_TABLE, 12, 1, 12, 2 },
	{ { "t", "z" }, "nan", DOC_FLOAT, 13, 5, 13, 1 },
};

static const cJSON *find(const cJSON *item, const char *const *path)
{
	for (int i = 0; i < 4 && path[i] && item; i++)
		item = cJSON_IsArray(item)
		    ? cJSON_GetArrayItem(item, path[i][0] - '0')
		    : cJSON_GetObjectItemCaseSensitive(item, path[i]);
	return item;
}

static void check_marks(void)
{
	struct doc doc;
	struct err err = ERR_INIT;
	if (!CHECK(!toml_read("f", text, strlen(text), &doc, &err))) {
		fprintf(stderr, "\t%d:%d: %s\n", err.line, err.column, err.message);
		err_release(&err);
		return;
	}
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		const cJSON *item = find(doc.root, row[i].path);
		if (!CHECK(item)) {
			fprintf(stderr, "\trow %zu\n", i);
			continue;
		}
		const struct doc_mark *mark = doc_mark(&doc, item);
		int holds = CHECK_INT(mark->kind, row[i].kind) &
		    CHECK_INT(mark->line, row[i].line) &
		    CHECK_INT(mark->column, row[i].column) &
		    CHECK_INT(mark->key_line, row[i].key_line) &
		    CHECK_INT(mark->key_column, row[i].key_column) &
		    CHECK_INT(mark->nraw, strlen(row[i].raw));
		holds &=
		    CHECK(strncmp(doc.text + mark->raw, row[i].raw, mark->nraw) == 0);
		if (!holds)
			fprintf(stderr, "\trow %zu\n", i);
	}
	CHECK_INT(doc_integer(&doc, find(doc.root, row[0].path)), 9223372036854775807);
	CHECK(isnan(find(doc.root, row[15].path)->valuedouble));
	CHECK_STR(find(doc.root, row[5].path)->valuestring, "2024-01-02");
	doc_release(&doc);
}

static void check_nul(void)
{
	static const char nul[] = "\"a\\u0000\" = \"\\U00000000b\"";
	struct doc doc;
	struct err err = ERR_INIT;
	if (!CHECK(!toml_read("f", nul, strlen(nul), &doc, &err)))
		return;
	CHECK_STR(doc.root->child->string, "a\xc0\x80");
	CHECK_STR(doc.root->child->valuestring,
	    "\xc0\x80"
	    "b");
	CHECK(utf8_has_nul(doc.root->child->string));
	doc_release(&doc);
}

/* 20,000 tables and keys: nothing in it is quadratic. */
static void check_large(void)
{
	struct buf large = BUF_INIT;
	struct doc doc;
	struct err err = ERR_INIT;
	for (int i = 0; i < 20000; i++)
		buf_addf(&large, "k%d = %d\n", i, i);
	for (int i = 0; i < 20000; i++)
		buf_addf(&large, "[[list]]\n[list.t%d]\nx.y = 1\n", i);
	if (CHECK(!toml_read("f", large.data, large.len, &doc, &err))) {
		CHECK_INT(doc.nmark, 1 + 20000 + 1 + 4 * 20000);
		doc_release(&doc);
	}
	buf_release(&large);
}

int main(void)
{
	check_marks();
	check_nul();
	check_large();
	return test_done();
}

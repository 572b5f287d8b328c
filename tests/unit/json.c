
#include "project/doc.h"
#include "util/utf8.h"
#include "util/buf.h"
#include "test.h"

static void check_refused(void)
{
	static const struct {
		const char *text;
		size_t n; /* 0: strlen */
		int line, column;
	} row[] = {
		{ "", 0, 1, 1 },
		{ "{", 0, 1, 2 },
		{ "[1,]", 0, 1, 4 },
		{ "{\"a\":1,}", 0, 1, 8 },
		{ "{\"a\":1\n\"b\":2}", 0, 2, 1 },
		{ "{\"a\":1,\n  \"a\":2}", 0, 2, 3 },
		{ "{a:1}", 0, 1, 2 },
		{ "[01]", 0, 1, 3 },
		{ "[1.]", 0, 1, 4 },
		{ "[.5]", 0, 1, 2 },
		{ "[+1]", 0, 1, 2 },
		{ "[1e]", 0, 1, 4 },
		{ "[-]", 0, 1, 3 },
		{ "[1e999]", 0, 1, 2 },
		{ "[NaN]", 0, 1, 2 },
		{ "[tru]", 0, 1, 2 },
		{ "[\"\t\"]", 0, 1, 3 },
		{ "[\"\\x\"]", 0, 1, 4 },
		{ "[\"\\u12g4\"]", 0, 1, 7 },
		{ "[\"\\ud800\"]", 0, 1, 3 },
		{ "[\"\\udc00\"]", 0, 1, 3 },
		{ "[\"\\u0000\"]", 0, 1, 3 },
		{ "[\"abc", 0, 1, 6 },
		{ "[\"a\0b\"]", 7, 1, 4 },
		{ "[\"\xff\"]", 0, 1, 3 },
		{ "[\"\xc0\x80\"]", 0, 1, 3 },
		{ "[\"\xed\xa0\x80\"]", 0, 1, 3 },
		{ "[\"\xf4\x90\x80\x80\"]", 0, 1, 3 },
		{ "1 2", 0, 1, 3 },
		{ "[1] // x", 0, 1, 5 },
		{ "\xef\xbb\xbf[,", 0, 1, 2 },
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct doc doc;
		cJSON *tree;
		struct err err = ERR_INIT;
		size_t n = row[i].n ? row[i].n : strlen(row[i].text);
		int bad = json_read("f", row[i].text, n, JSON_PLAIN, &doc, &err);
		if (!CHECK_INT(bad, -1)) {
			fprintf(stderr, "\t%s\n", row[i].text);
			doc_release(&doc);
			continue;
		}
		CHECK_INT(err.status, STATUS_INPUT);
		CHECK_STR(err.file, "f");
		if (!CHECK_INT(err.line, row[i].line) ||
		    !CHECK_INT(err.column, row[i].column))
			fprintf(stderr, "\t%s: %s\n", row[i].text, err.message);
		CHECK_INT(json_parse("f", row[i].text, n, &tree, &err), -1);
		err_release(&err);
	}
}

static void check_nesting(void)
{
	for (int depth = 64; depth <= 65; depth++) {
		struct buf text = BUF_INIT;
		for (int i = 0; i < depth; i++)
			buf_addch(&text, '[');
		for (int i = 0; i < depth; i++)
			buf_addch(&text, ']');
		struct err err = ERR_INIT;
		cJSON *tree = NULL;
		CHECK_INT(json_parse("f", text.data, text.len, &tree, &err),
		    depth == 64 ? 0 : -1);
		cJSON_Delete(tree);
		err_release(&err);
		buf_release(&text);
	}
}

/* Positions, kinds and raw tokens, through comments. */
static void check_marks(void)
{
	static const char text[] =
	    "// a comment\n"
	    "{ /* another,\n"
	    "two lines */ \"int\" :\n"
	    "   12, \"url\": \"http://x/*y*/\", \"big\": 9223372036854775807,\n"
	    "\t\"bigger\": 9223372036854775808, \"f\": -0.0,\n"
	    "\t\"list\": [true, null, {}] } // end";
	struct doc doc;
	struct err err = ERR_INIT;
	if (!CHECK(!json_read("f", text, strlen(text), JSON_COMMENTS, &doc, &err))) {
		fprintf(stderr, "\t%s\n", err.message);
		err_release(&err);
		return;
	}
	static const struct {
		const char *key, *raw;
		enum doc_kind kind;
		int line, column, key_line, key_column;
	} row[] = {
		{ "int", "12", DOC_INTEGER, 4, 4, 3, 14 },
		{ "url", "\"http://x/*y*/\"", DOC_STRING, 4, 15, 4, 8 },
		{ "big", "9223372036854775807", DOC_INTEGER, 4, 39, 4, 32 },
		{ "bigger", "9223372036854775808", DOC_FLOAT, 5, 12, 5, 2 },
		{ "f", "-0.0", DOC_FLOAT, 5, 38, 5, 33 },
		{ "list", "[", DOC_ARRAY, 6, 10, 6, 2 },
	};
	CHECK_INT(doc.nmark, 10);
	const struct doc_mark *root = doc_mark(&doc, doc.root);
	CHECK_INT(root->kind, DOC_TABLE);
	CHECK_INT(root->line, 2);
	CHECK_INT(root->key_line, 0);
	const cJSON *item = doc.root->child;
	for (size_t i = 0; i < sizeof row / sizeof *row && CHECK(item); i++) {
		const struct doc_mark *mark = doc_mark(&doc, item);
		CHECK_STR(item->string, row[i].key);
		CHECK_INT(mark->kind, row[i].kind);
		CHECK_INT(mark->line, row[i].line);
		CHECK_INT(mark->column, row[i].column);
		CHECK_INT(mark->key_line, row[i].key_line);
		CHECK_INT(mark->key_column, row[i].key_column);
		CHECK_INT(mark->nraw, strlen(row[i].raw));
		CHECK(strncmp(doc.text + mark->raw, row[i].raw, mark->nraw) == 0);
		if (i == 2)
			CHECK_INT(doc_integer(&doc, item), 9223372036854775807);
		item = item->next;
	}
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(doc.root, "list");
	CHECK_INT(doc_mark(&doc, list->child)->kind, DOC_BOOL);
	CHECK_INT(doc_mark(&doc, list->child)->key_line, 0);
	CHECK_INT(doc_mark(&doc, list->child->next)->kind, DOC_NULL);
	CHECK_STR(cJSON_GetObjectItemCaseSensitive(doc.root, "url")->valuestring,
	    "http://x/*y*/");
	doc_release(&doc);
}

static void check_strings(void)
{
	static const char text[] =
	    "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\", \"\\u00e9\\u20ac\\ud83d\\ude00x\", \"\"]";
	cJSON *tree;
	struct err err = ERR_INIT;
	if (!CHECK(!json_parse("f", text, strlen(text), &tree, &err)))
		return;
	CHECK_STR(tree->child->valuestring, "\"\\/\b\f\n\r\t");
	CHECK_STR(tree->child->next->valuestring,
	    "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80x");
	CHECK_STR(tree->child->next->next->valuestring, "");
	cJSON_Delete(tree);
}

/* More keys than are searched one by one. */
static void check_many_keys(void)
{
	for (int twice = 0; twice < 2; twice++) {
		struct buf text = BUF_INIT;
		buf_addch(&text, '{');
		for (int i = 0; i < 50000; i++)
			buf_addf(&text, "\"k%d\": %d,\n", i, i);
		buf_addf(&text, "\"k%d\": 0}", twice ? 7 : 50000);
		cJSON *tree = NULL;
		struct err err = ERR_INIT;
		CHECK_INT(json_parse("f", text.data, text.len, &tree, &err),
		    twice ? -1 : 0);
		if (twice) {
			CHECK_INT(err.line, 50001);
			CHECK_STR(err.key, "k7");
		}
		cJSON_Delete(tree);
		err_release(&err);
		buf_release(&text);
	}
}

static void check_utf8(void)
{
	struct buf text = BUF_INIT;
	utf8_add(&text, 0);
	CHECK_STR(buf_str(&text), "\xc0\x80");
	CHECK(utf8_has_nul(buf_str(&text)));
	buf_reset(&text);
	static const unsigned long code[] = {
		1,
		0x7f,
		0x80,
		0x7ff,
		0x800,
		0xd7ff,
		0xe000,
		0xffff,
		0x10000,
		0x10ffff,
	};
	for (size_t i = 0; i < sizeof code / sizeof *code; i++)
		utf8_add(&text, code[i]);
	CHECK_INT(text.len, 1 + 1 + 2 + 2 + 3 + 3 + 3 + 3 + 4 + 4);
	CHECK_INT(utf8_invalid(text.data, text.len), text.len);
	CHECK_INT(utf8_invalid(text.data, text.len - 1), text.len - 4);
	CHECK(!utf8_has_nul(buf_str(&text)));
	buf_release(&text);
}

static void check_written(void)
{
	static const char text[] =
	    "{\n"
	    "\t\"a\": 1,\n"
	    "\t\"empty\": {},\n"
	    "\t\"none\": [],\n"
	    "\t\"numbers\": [1, -2.5, 1e+300],\n"
	    "\t\"o\": { \"x \\\"\": [[], { \"deep\": null }], \"t\": true },\n"
	    "\t\"list\": [\n"
	    "\t\t{ \"name\": \"one\" },\n"
	    "\t\t[2]\n"
	    "\t],\n"
	    "\t\"long\": {\n"
	    "\t\t\"b\": \"01234567890123456789012345678901234567890123456789"
	    "01234567890123456789012345678901234567890123456789"
	    "01234567890123456789\",\n"
	    "\t\t\"c\": [\"\\n\\t\", \"\xc3\xa9\"]\n"
	    "\t}\n"
	    "}\n";
	cJSON *tree = NULL;
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;
	if (!CHECK_INT(json_parse("f", text, strlen(text), &tree, &err), 0))
		fprintf(stderr, "\t%s\n", err.message);
	json_write(tree, &out);
	CHECK_STR(buf_str(&out), text);
	cJSON_Delete(tree);
	buf_release(&out);
	err_release(&err);
}

int main(void)
{
	check_written();
	check_refused();
	check_nesting();
	check_marks();
	check_strings();
	check_many_keys();
	check_utf8();
	return test_done();
}

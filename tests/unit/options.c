#include "cmd/options.h"

#include <string.h>

#include "test.h"

/* The first operand of "stbuild WORD.." as text; null when there is none. */
static const char *first(const char *a, const char *b, const char *c, const char *d)
{
	char *argv[] = { "stbuild", (char *)a, (char *)b, (char *)c, (char *)d, NULL };
	int argc = 1;
	while (argc < 5 && argv[argc])
		argc++;
	static struct options o;
	struct args_option table[OPTIONS_ROWS];
	options_init(&o);
	options_table(&o, table);
	int at = options_first_operand(argc, argv, table, NULL);
	return at ? argv[at] : NULL;
}

static void finds_the_command(void)
{
	CHECK_STR(first("check", NULL, NULL, NULL), "check");
	CHECK_STR(first("-C", "dir", "check", NULL), "check");
	CHECK_STR(first("-Cdir", "check", NULL, NULL), "check");
	CHECK_STR(first("-kqf", "dir", "check", NULL), "check");
	CHECK_STR(first("--file=x", "check", NULL, NULL), "check");
	CHECK_STR(first("--file", "x", "check", NULL), "check");
	CHECK_STR(first("--json", "check", NULL, NULL), "check");
	CHECK_STR(first("-j", "check", NULL, NULL), "check");
	CHECK_STR(first("-j", "4", "check", NULL), "check");
	CHECK_STR(first("-j4", "check", "b", NULL), "check");
	CHECK_STR(first("-jk", "check", "b", NULL), "check");
	CHECK_STR(first("-", "check", NULL, NULL), "-");
}

static void stops_where_it_cannot_tell(void)
{
	CHECK(!first("--", "check", NULL, NULL));
	CHECK(!first("--frame", "3", "check", NULL));
	CHECK(!first("-o", "check", NULL, NULL));
	CHECK(!first("-C", NULL, NULL, NULL));
	CHECK(!first("-k", NULL, NULL, NULL));
	CHECK(!first(NULL, NULL, NULL, NULL));
}

static void last_error_ends_the_command(void)
{
	struct options o;
	struct errs errs = ERRS_INIT;
	struct err err = ERR_INIT;
	options_init(&o);
	errs_add(&errs, STATUS_INPUT, "a", 1, 2, NULL, "one");
	errs_add(&errs, STATUS_FAILED, "b", 3, 4, NULL, "two");
	CHECK(errors_end(&o, &errs, &err) == -1);
	CHECK(errs.nerr == 0);
	CHECK(o.error.nerr == 1);
	CHECK_STR(o.error.err[0].message, "one");
	CHECK_STR(err.message, "two");
	CHECK(err.status == STATUS_FAILED);
	err_release(&err);
	options_release(&o);
}

static void table_has_its_end(void)
{
	struct options o;
	struct args_option table[OPTIONS_ROWS];
	options_init(&o);
	options_table(&o, table);
	for (int i = 0; i < OPTIONS_ROWS; i++)
		CHECK((table[i].letter || table[i].name) == (i < OPTIONS_ROWS - 1));
}

int main(void)
{
	finds_the_command();
	stops_where_it_cannot_tell();
	last_error_ends_the_command();
	table_has_its_end();
	return test_done();
}

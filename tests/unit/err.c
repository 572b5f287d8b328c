#include <errno.h>

#include "util/err.h"
#include "util/mem.h"
#include "test.h"

static void builds_from_the_inside_out(void)
{
	struct err err = ERR_INIT;
	CHECK_INT(err_set(&err, STATUS_FAILED, "cannot draw %d", 7), -1);
	CHECK_INT(err_wrap(&err, "while rendering pass '%s'", "a"), -1);
	CHECK_STR(err.message, "cannot draw 7, while rendering pass 'a'");
	CHECK_INT(err.status, STATUS_FAILED);
	/* The new message may quote the old one. */
	err_set(&err, STATUS_INPUT, "<%s>", err.message);
	CHECK_STR(err.message, "<cannot draw 7, while rendering pass 'a'>");
	errno = ENOENT;
	err_errno(&err, STATUS_MACHINE, "cannot open 'x'");
	CHECK_STR(err.message, "cannot open 'x': No such file or directory");
	CHECK_INT(errno, ENOENT);
	err_release(&err);
	CHECK(!err.message && err.status == STATUS_OK);
	err_release(NULL);
}

static void check_text(const struct err *err, const char *want)
{
	char *text = err_text(err);
	CHECK_STR(text, want);
	free(text);
}

static void says_what_is_known_of_the_place(void)
{
	struct err err = ERR_INIT;
	err_set(&err, STATUS_INPUT, "bad");
	check_text(&err, "bad");
	err_place(&err, "a.toml", 0, 0, NULL);
	check_text(&err, "a.toml: bad");
	err_place(&err, NULL, 3, 0, "pass[1].source");
	check_text(&err, "a.toml:3: pass[1].source: bad");
	err_place(&err, NULL, 4, 9, NULL);
	check_text(&err, "a.toml:4:9: pass[1].source: bad");
	err_place(&err, err.file, 0, 0, err.key);
	check_text(&err, "a.toml:4:9: pass[1].source: bad");
	CHECK_STR(err.key, "pass[1].source");
	err_release(&err);
}

static void lists(void)
{
	struct errs errs = ERRS_INIT;
	for (int i = 0; i < 20; i++)
		errs_add(&errs, STATUS_INPUT, "f", i + 1, 1, "k", "error %d", i);
	struct err err = ERR_INIT, moved = ERR_INIT;
	err_set(&err, STATUS_MACHINE, "last");
	err_move(&moved, &err);
	CHECK(!err.message);
	err_move(&moved, &moved);
	CHECK_STR(moved.message, "last");
	errs_take(&errs, &moved);
	CHECK(!moved.message);
	if (CHECK_INT(errs.nerr, 21)) {
		check_text(&errs.err[19], "f:20:1: k: error 19");
		check_text(&errs.err[20], "last");
	}
	errs_release(&errs);
	CHECK_INT(errs.nerr, 0);
}

int main(void)
{
	builds_from_the_inside_out();
	says_what_is_known_of_the_place();
	lists();
	return test_done();
}

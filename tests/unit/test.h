#ifndef STBUILD_TEST_H
#define STBUILD_TEST_H

/*
 * A unit test is a program: CHECKs that fail are printed and counted, main
 * ends with "return test_done();". A run without any CHECK fails as well.
 */

#include <stdio.h>
#include <string.h>

static int test_checks, test_failures;

/* Returns whether it held, so that what depends on it can be left out. */
static inline int test_check(int holds, const char *file, int line, const char *text)
{
	test_checks++;
	if (!holds) {
		test_failures++;
		fprintf(stderr, "%s:%d: failed: %s\n", file, line, text);
	}
	return holds;
}

static inline int test_str(const char *got, const char *want, const char *file, int line)
{
	int holds = got && want ? strcmp(got, want) == 0 : got == want;
	if (!test_check(holds, file, line, "strings are equal"))
		fprintf(stderr, "\tgot:  %s\n\twant: %s\n", got ? got : "(null)",
		    want ? want : "(null)");
	return holds;
}

static inline int test_int(long long got, long long want, const char *text,
    const char *file, int line)
{
	if (!test_check(got == want, file, line, text))
		fprintf(stderr, "\tgot:  %lld\n\twant: %lld\n", got, want);
	return got == want;
}

#define CHECK(x) test_check(!!(x), __FILE__, __LINE__, #x)
#define CHECK_STR(got, want) test_str(got, want, __FILE__, __LINE__)
#define CHECK_INT(got, want) \
	test_int((long long)(got), (long long)(want), #got " == " #want, __FILE__, \
	    __LINE__)

static inline int test_done(void)
{
	if (!test_checks)
		fprintf(stderr, "nothing was checked\n");
	return test_failures || !test_checks;
}

/* For "return test_skip("no EGL");" in main: tests/run shows the reason. */
static inline int test_skip(const char *reason)
{
	fprintf(stderr, "skip: %s\n", reason);
	return 77;
}

#endif

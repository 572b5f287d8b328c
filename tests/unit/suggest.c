#include "util/suggest.h"
#include "test.h"

static const char *near(const char *word)
{
	static const char *const candidate[] = {
		"width",
		NULL,
		"height",
		"source",
		"format",
		"fps",
		"iterations",
	};
	return suggest(word, candidate, sizeof candidate / sizeof *candidate);
}

int main(void)
{
	CHECK_STR(near("widht"), "width");
	CHECK_STR(near("Width"), "width");
	CHECK_STR(near("heigt"), "height");
	CHECK_STR(near("soruce"), "source");
	CHECK_STR(near("iteration"), "iterations");
	CHECK_STR(near("FPS"), NULL); /* three halves, one is allowed */
	CHECK_STR(near("Fps"), "fps");
	CHECK_STR(near("FpS"), "fps");
	CHECK_STR(near("colour"), NULL);
	CHECK_STR(near(""), NULL);
	CHECK_STR(near("wdht"), NULL); /* two edits in four letters */
	char word[100];
	memset(word, 'x', sizeof word);
	word[99] = '\0';
	CHECK_STR(near(word), NULL);
	word[64] = '\0';
	CHECK_STR(near(word), NULL);
	static const char *const one[] = { "a" };
	CHECK_STR(suggest("", one, 1), "a");
	CHECK_STR(suggest("b", one, 1), "a");
	CHECK_STR(suggest("bc", one, 1), NULL);
	CHECK_STR(suggest("x", NULL, 0), NULL);
	return test_done();
}

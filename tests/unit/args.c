#include "util/args.h"
#include "util/mem.h"
#include "test.h"

static struct {
	int keep, quiet;
	const char *dir;
	struct args_list set;
	long frame, jobs;
	double fps;
} got;

static const struct args_option global[] = {
	{ 'k', "keep-going", ARGS_FLAG, &got.keep, 0, 0, NULL, "go on" },
	{ 'q', NULL, ARGS_FLAG, &got.quiet, 0, 0, NULL, "ask only" },
	{ 'C', "directory", ARGS_STRING, &got.dir, 0, 0, "DIR", "go there" },
	{ 'j', "jobs", ARGS_OPTINT, &got.jobs, 1, 64, "N", "workers" },
	{ 0 },
};

static const struct args_option command[] = {
	{ 0, "set", ARGS_LIST, &got.set, 0, 0, "N=V", "set a uniform" },
	{ 0, "frame", ARGS_INT, &got.frame, 0, 1e9, "N", "the frame" },
	{ 'r', "fps", ARGS_NUMBER, &got.fps, 0.001, 1000, "R", "the rate" },
	{ 0, "offset", ARGS_INT, &got.frame, 0, 0, "N", "unbounded" },
	{ 0 },
};

static struct args_list operand;
static struct err err;

static void forget(void)
{
	args_list_release(&got.set);
	args_list_release(&operand);
	err_release(&err);
	memset(&got, 0, sizeof got);
	got.jobs = -1;
}

/* Parses a command line, given as words with a blank between them. */
static int parse(const char *line)
{
	static char words[256];
	char *argv[32] = { (char[]){ "stbuild" } };
	int argc = 1;
	forget();
	strcpy(words, line);
	for (char *w = strtok(words, " "); w; w = strtok(NULL, " "))
		argv[argc++] = w;
	const struct args_option *table[] = { global, command };
	return args_parse(argc, argv, table, 2, &operand, &err);
}

static void check_refused(const char *line, const char *want)
{
	CHECK_INT(parse(line), -1);
	CHECK_STR(err.message, want);
	CHECK_INT(err.status, STATUS_INPUT);
}

static void accepts(void)
{
	CHECK_INT(parse("a -kq --set x=1 b --set=y=2 -C dir -- -k --frame"), 0);
	CHECK_INT(got.keep, 1);
	CHECK_INT(got.quiet, 1);
	CHECK_STR(got.dir, "dir");
	if (CHECK_INT(got.set.nitem, 2)) {
		CHECK_STR(got.set.item[0], "x=1");
		CHECK_STR(got.set.item[1], "y=2");
	}
	if (CHECK_INT(operand.nitem, 4)) {
		CHECK_STR(operand.item[1], "b");
		CHECK_STR(operand.item[2], "-k");
		CHECK_STR(operand.item[3], "--frame");
	}
	CHECK_INT(parse("-kk --keep-going -Cone -C two - -r29.97"), 0);
	CHECK_INT(got.keep, 3);
	CHECK_STR(got.dir, "two");
	CHECK_STR(operand.item[0], "-");
	CHECK(got.fps > 29.96 && got.fps < 29.98);
	CHECK_INT(parse("--directory= --frame=12 --fps=1e2"), 0);
	CHECK_STR(got.dir, "");
	CHECK_INT(got.frame, 12);
	CHECK(got.fps > 99.9 && got.fps < 100.1);
	CHECK_INT(parse("--offset -5"), 0);
	CHECK_INT(got.frame, -5);
	CHECK_INT(parse(""), 0);
	CHECK_INT(operand.nitem, 0);
}

static void optional_values(void)
{
	CHECK_INT(parse("-j"), 0);
	CHECK_INT(got.jobs, 0);
	CHECK_INT(parse("-j 4 x"), 0);
	CHECK_INT(got.jobs, 4);
	CHECK_INT(operand.nitem, 1);
	CHECK_INT(parse("-j4"), 0);
	CHECK_INT(got.jobs, 4);
	CHECK_INT(parse("-j target"), 0);
	CHECK_INT(got.jobs, 0);
	CHECK_INT(operand.nitem, 1);
	CHECK_INT(parse("-kjq"), 0);
	CHECK_INT(got.jobs, 0);
	CHECK_INT(got.quiet, 1);
	CHECK_INT(parse("--jobs=7 --jobs"), 0);
	CHECK_INT(got.jobs, 0);
	CHECK_INT(parse("--jobs 7"), 0);
	CHECK_INT(got.jobs, 7);
	check_refused("-j 65", "-j: 65 is out of range (1 to 64)");
	check_refused("--jobs=x", "option '--jobs': 'x' is not a whole number");
}

static void refuses(void)
{
	check_refused("--fraem 1",
	    "unknown option '--fraem', "
	    "did you mean '--frame'?");
	check_refused("--zzzzzz=1", "unknown option '--zzzzzz'");
	check_refused("-x", "unknown option '-x'");
	check_refused("-kx", "unknown option '-x' in '-kx'");
	check_refused("--keep-going=1", "option '--keep-going' takes no value");
	check_refused("--frame", "option '--frame' needs a value (N)");
	check_refused("-C", "option '-C' needs a value (DIR)");
	check_refused("--frame=", "option '--frame': '' is not a whole number");
	check_refused("--frame 1x", "option '--frame': '1x' is not a whole number");
	check_refused("--frame -1", "--frame: -1 is out of range (0 to 1000000000)");
	check_refused("--frame 99999999999999999999",
	    "--frame: 99999999999999999999 is out of range (0 to 1000000000)");
	check_refused("--offset 99999999999999999999",
	    "--offset: 99999999999999999999 is out of range");
	check_refused("--fps nan", "option '--fps': 'nan' is not a number");
	check_refused("--fps 0x10", "option '--fps': '0x10' is not a number");
	check_refused("--fps 1e999", "--fps: 1e999 is out of range");
	check_refused("-r 0", "-r: 0 is out of range (0.001 to 1000)");
}

int main(void)
{
	accepts();
	optional_values();
	refuses();
	forget();
	return test_done();
}

/* Command lines, one word a line. */

#include <stdint.h>
#include <string.h>

#include "util/args.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int flag = 0;
	const char *string = NULL;
	struct args_list list = { NULL, 0, 0 }, operand = { NULL, 0, 0 };
	long whole = 0, jobs = 0;
	double number = 0;
	const struct args_option row[] = {
		{ 'k', "keep-going", ARGS_FLAG, &flag, 0, 0, NULL, "" },
		{ 'C', "directory", ARGS_STRING, &string, 0, 0, "DIR", "" },
		{ 'j', "jobs", ARGS_OPTINT, &jobs, 1, 64, "N", "" },
		{ 0, "set", ARGS_LIST, &list, 0, 0, "N=V", "" },
		{ 'f', "frame", ARGS_INT, &whole, -5, 1e9, "N", "" },
		{ 0, "fps", ARGS_NUMBER, &number, 0.5, 1000, "R", "" },
		{ 0 },
	};
	const struct args_option *const table[] = { row };
	char *text = xstrndup((const char *)data, size);
	char **argv = xcalloc(size + 2, sizeof *argv);
	int argc = 1;
	for (char *p = text; p; argc++) {
		argv[argc] = p;
		p = strchr(p, '\n');
		if (p)
			*p++ = '\0';
	}
	struct err err = ERR_INIT;
	int rc = args_parse(argc, argv, table, 1, &operand, &err);
	if ((rc < 0) != (err.message != NULL))
		BUG("status %d, message %s", rc, err.message);
	if (!rc && (whole < -5 || jobs > 64 || !(number >= 0 && number <= 1000)))
		BUG("a bound was passed");
	err_release(&err);
	args_list_release(&list);
	args_list_release(&operand);
	free(argv);
	free(text);
	return 0;
}

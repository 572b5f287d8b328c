#include "cmd/options.h"

#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "util/mem.h"
#include "util/proc.h"

/* A hung draw must not hang a build server; no sane draw takes this long. */
#define DEFAULT_TIMEOUT_S 300

void options_init(struct options *o)
{
	memset(o, 0, sizeof *o);
	o->jobs = 1;
	o->timeout_s = DEFAULT_TIMEOUT_S;
	o->color_word = "auto";
}

void options_release(struct options *o)
{
	args_list_release(&o->folder);
	errs_release(&o->error);
}

void options_table(struct options *o, struct args_option *table)
{
	const struct args_option row[OPTIONS_ROWS] = {
		{ 'C', NULL, ARGS_LIST, &o->folder, 0, 0, "DIR", "go to DIR first" },
		{ 'f', "file", ARGS_STRING, &o->file, 0, 0, "FILE",
		    "the manifest; its folder is the project" },
		{ 'j', "jobs", ARGS_OPTINT, &o->jobs, 0, 1024, "N",
		    "render up to N variants in parallel (no N: one per CPU)" },
		{ 'k', "keep-going", ARGS_FLAG, &o->keep_going, 0, 0, NULL,
		    "keep going after a failure" },
		{ 'n', "dry-run", ARGS_FLAG, &o->dry_run, 0, 0, NULL,
		    "print what would be done, and why" },
		{ 'q', "question", ARGS_FLAG, &o->question, 0, 0, NULL,
		    "print nothing; status 1 if anything is stale" },
		{ 's', "silent", ARGS_FLAG, &o->silent, 0, 0, NULL,
		    "print errors and warnings only" },
		{ 'B', "always-make", ARGS_FLAG, &o->always, 0, 0, NULL,
		    "treat everything as stale" },
		{ 'v', "verbose", ARGS_FLAG, &o->verbose, 0, 0, NULL,
		    "print more about what is done" },
		{ 0, "json", ARGS_FLAG, &o->json, 0, 0, NULL,
		    "one JSON document on stdout" },
		{ 0, "color", ARGS_STRING, &o->color_word, 0, 0, "WHEN",
		    "auto, always or never" },
		{ 0, "store", ARGS_STRING, &o->store, 0, 0, "DIR",
		    "the store, instead of .stbuild in the project" },
		{ 0, "timeout", ARGS_NUMBER, &o->timeout_s, 0, 86400, "S",
		    "seconds for one draw or compile; 0: no limit [300]" },
		{ 0, "device", ARGS_STRING, &o->device, 0, 0, "D",
		    "'software', or the number of a device" },
		{ 'h', "help", ARGS_FLAG, &o->help, 0, 0, NULL, "show this" },
		{ 0, "version", ARGS_FLAG, &o->version, 0, 0, NULL, "show versions" },
		{ 0, NULL, ARGS_FLAG, NULL, 0, 0, NULL, NULL },
	};
	memcpy(table, row, sizeof row);
}

/* An empty variable is as good as none. */
static const char *environment(const char *name)
{
	const char *value = getenv(name);
	return value && *value ? value : NULL;
}

int options_finish(struct options *o, struct err *err)
{
	if (strcmp(o->color_word, "always") == 0)
		o->use_color = 1;
	else if (strcmp(o->color_word, "never") == 0)
		o->use_color = 0;
	else if (strcmp(o->color_word, "auto") == 0)
		o->use_color = isatty(STDOUT_FILENO) && !environment("NO_COLOR");
	else
		return err_set(err, STATUS_INPUT,
		    "--color: '%s' is not auto, "
		    "always or never",
		    o->color_word);
	/* A question changes nothing, whatever is asked. */
	if (o->question)
		o->dry_run = o->silent = 1;
	if (!o->jobs)
		o->jobs = proc_ncpu();
	if (!o->store)
		o->store = environment("STBUILD_STORE");
	if (!o->device)
		o->device = environment("STBUILD_DEVICE");
	for (size_t i = 0; i < o->folder.nitem; i++)
		if (chdir(o->folder.item[i]) < 0)
			return err_errno(err, STATUS_INPUT, "cannot go to folder '%s'",
			    o->folder.item[i]);
	return 0;
}

static int takes_next(const struct args_option *row, const char *next)
{
	if (row->kind == ARGS_FLAG)
		return 0;
	if (row->kind == ARGS_OPTINT)
		return next && *next && strspn(next, "0123456789") == strlen(next);
	return 1;
}

static const struct args_option *find_row(const struct args_option *row, char letter,
    const char *name, size_t n)
{
	for (; row->letter || row->name; row++)
		if (letter ? row->letter == letter
			   : row->name && strlen(row->name) == n &&
			    memcmp(row->name, name, n) == 0)
			return row;
	return NULL;
}

/* The row of the table, else that of the first command that has one. */
static const struct args_option *find_any(const struct args_option *table,
    const struct command *command, char letter, const char *name, size_t n)
{
	const struct args_option *row = find_row(table, letter, name, n);

	for (; !row && command && command->name; command++)
		if (command->option)
			row = find_row(command->option, letter, name, n);
	return row;
}

int options_first_operand(int argc, char *const argv[], const struct args_option *table,
    const struct command *command)
{
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i];
		const char *next = i + 1 < argc ? argv[i + 1] : NULL;
		if (word[0] != '-' || !word[1])
			return i;
		if (word[1] == '-') {
			size_t n = strcspn(word + 2, "=");
			const struct args_option *row =
			    find_any(table, command, 0, word + 2, n);
			if (!row)
				return 0;
			i += !word[2 + n] && takes_next(row, next);
			continue;
		}
		for (const char *p = word + 1; *p; p++) {
			const struct args_option *row =
			    find_any(table, command, *p, "", 0);
			if (!row)
				return 0;
			if (row->kind == ARGS_FLAG ||
			    (row->kind == ARGS_OPTINT && p[1] &&
				!strchr("0123456789", p[1])))
				continue;
			i += !p[1] && takes_next(row, next);
			break;
		}
	}
	return 0;
}

int errors_end(struct options *o, struct errs *errs, struct err *err)
{
	if (!errs->nerr)
		BUG("no errors to end with");
	for (size_t i = 0; i + 1 < errs->nerr; i++)
		errs_take(&o->error, &errs->err[i]);
	err_move(err, &errs->err[errs->nerr - 1]);
	errs_release(errs);
	return -1;
}

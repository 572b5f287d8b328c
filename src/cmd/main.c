#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/output.h"
#include "render/serve.h"
#include "util/buf.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/proc.h"

/* In the order that help shows. */
const struct command command[] = {
	{ "init", "[DIR]", "start a project", 1, NULL, cmd_init },
	{ "import", "FILE [-o DIR] [--media DIR]",
	    "turn a Shadertoy export, .sttf or .sttrace into a project", 1, import_option,
	    cmd_import },
	{ "check", "[--pedantic] [--rev REV]", "validate, compile and lint the project",
	    0, check_option, cmd_check },
	{ "graph", "[--dot|--json] [--rev REV]", "show the pass graph", 0, graph_option,
	    cmd_graph },
	{ "capture", "[OPTION..] [TARGET..]", "bring traces up to date", -1,
	    capture_option, cmd_capture },
	{ "status", "[--rev REV] [TARGET..]", "show what is stale and what it will cost",
	    -1, status_option, cmd_status },
	{ "why", "TARGET", "show the exact change that made a target stale", 1, NULL,
	    cmd_why },
	{ "inspect", "PATH..", "verify and describe bundles and documents", -1, NULL,
	    cmd_inspect },
	{ "replay", "PATH [-o FILE.png]", "render a bundle again and compare bit for bit",
	    1, replay_option, cmd_replay },
	{ "diff", "[--metrics] [-o DIR|FILE.png] A B",
	    "compare bundles, pictures or revisions", 2, diff_option, cmd_diff },
	{ "test",
	    "[--allow-new] [--github] [--junit FILE] [--report DIR] [--rev REV] "
	    "[--bisect] [NAME..]",
	    "run the regression suite", -1, test_option, cmd_test },
	{ "approve", "[--all] [--force] [--add] [-m REASON] [-i] [NAME..]",
	    "take new pictures as the reference", -1, approve_option, cmd_approve },
	{ "log", "TRACE[@FRAMES] [A..B] [OPTION..]",
	    "show the history of a trace over commits", 2, log_option, cmd_log },
	{ "show", "[REV]", "show what the store has for a commit", 1, NULL, cmd_show },
	{ "bisect", "--good REV --bad REV [OPTION..] [TARGET]",
	    "find the commit that changed a rendering", 1, bisect_option, cmd_bisect },
	{ "report", "[--traces | --tests | A..B] [-o DIR]",
	    "write a page that shows traces, tests or what changed", 1, report_option,
	    cmd_report },
	{ "stats", "", "show numbers about the store", 0, NULL, cmd_stats },
	{ "gc", "[--max-size S] [--max-age T]", "remove what the store no longer needs",
	    0, gc_option, cmd_gc },
	{ "fsck", "[--repair]", "check the store", 0, fsck_option, cmd_fsck },
	{ "clean", "[--store]", "remove recorded bundles, or the store", 0, clean_option,
	    cmd_clean },
	{ "completion", "bash|zsh|fish", "print a completion script", 1, NULL,
	    cmd_completion },
	{ "help", "[--schema] [COMMAND]", "show help", 1, help_option, cmd_help },
	{ "version", "", "show versions", 0, NULL, cmd_version },
	{ NULL, NULL, NULL, 0, NULL, NULL },
};

const struct command *command_find(const char *name)
{
	for (const struct command *c = command; c->name; c++)
		if (strcmp(c->name, name) == 0)
			return c;
	return NULL;
}

/* Prints what ended the command, and all found before. Returns the status. */
static int fail(struct options *o, const char *action, struct err *err)
{
	enum status worst = STATUS_OK;
	errs_take(&o->error, err);
	for (size_t i = 0; i < o->error.nerr; i++) {
		struct err *e = &o->error.err[i];
		char *text = err_text(e);
		log_error("%s", text);
		free(text);
		if (e->status > worst)
			worst = e->status;
	}
	if (o->json) {
		cJSON *document = json_start(action);
		json_add_errors(document, &o->error);
		json_print(document);
	}
	return worst;
}

/* Output that could not be written is a failure, even when found at the end. */
static int close_stdout(int status)
{
	int failed = ferror(stdout);
	errno = 0;
	if (!fflush(stdout) && !failed)
		return status;
	if (errno == EPIPE)
		return 128 + SIGPIPE;
	log_error("cannot write to standard output%s%s", errno ? ": " : "",
	    errno ? strerror(errno) : "");
	return STATUS_MACHINE;
}

/* Does what argv says. Sets *action to the command's name. */
static int run(int argc, char **argv, struct options *o, const char **action,
    struct err *err)
{
	struct args_option global[OPTIONS_ROWS];
	options_table(o, global);
	int at = options_first_operand(argc, argv, global, NULL);
	const struct command *c = at ? command_find(argv[at]) : NULL;
	/* Behind an option of its own it is the command all the same. */
	if (!at) {
		at = options_first_operand(argc, argv, global, command);
		c = at ? command_find(argv[at]) : NULL;
	}
	int is_named = c != NULL;
	if (!is_named)
		c = command_find("capture");
	*action = c->name;

	/*
	 * What stands before the command's name is of all commands first; behind
	 * it the command's own options come first ("clean --store").
	 */
	struct args_list operand = { NULL, 0, 0 };
	static const struct args_option none[] = { OPTION_END };
	const struct args_option *own[] = { c->option ? c->option : none, global };
	const struct args_option *all[] = { global, own[0] };
	int start = is_named ? at : 0;
	int status = args_parse(start, argv, all, 2, &operand, err);
	if (!status)
		status = args_parse(argc - start, argv + start, own, 2, &operand, err);
	if (status < 0) {
		if (is_named)
			err_wrap(err, "see 'stbuild %s -h'", c->name);
		else
			err_wrap(err, "see 'stbuild -h'");
		goto out;
	}
	if (o->verbose)
		log_set_level(LOG_VERBOSE);
	else if (o->silent || o->question)
		log_set_level(LOG_QUIET);
	status = options_finish(o, err);
	if (status < 0)
		goto out;
	if (o->help && o->json) {
		const char *name[] = { c->name };
		const struct args_list one = { name, (size_t)is_named, 1 };
		*action = "help";
		status = cmd_help(o, &one, err);
	} else if (o->help) {
		command_help(is_named ? c : NULL);
	} else if (o->version) {
		*action = "version";
		status = cmd_version(o, &operand, err);
	} else if (c->max_operand >= 0 && operand.nitem > (size_t)c->max_operand) {
		status = err_set(err, STATUS_INPUT,
		    "unexpected operand '%s', "
		    "see 'stbuild %s -h'",
		    operand.item[c->max_operand], c->name);
	} else {
		status = c->run(o, &operand, err);
	}
out:
	args_list_release(&operand);
	return status;
}

/*
 * When stdout is closed, puts something there that cannot be written to:
 * no file that we open may take its place, and losing output is an error.
 */
static void guard_stdout(void)
{
	if (fcntl(STDOUT_FILENO, F_GETFD) >= 0)
		return;
	int fd = open("/dev/null", O_RDONLY);
	if (fd >= 0 && fd != STDOUT_FILENO) {
		dup2(fd, STDOUT_FILENO);
		close(fd);
	}
}

static int is_judging(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
		if (strcmp(argv[i], "--bisect") == 0 ||
		    strncmp(argv[i], "--bisect=", 9) == 0)
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	guard_stdout();
	proc_init(argv[0] ? argv[0] : "stbuild");
	/* A reader that went away is a failed write, ours to report. */
	signal(SIGPIPE, SIG_IGN);
	/* As is a file that may not grow ("ulimit -f"). */
	signal(SIGXFSZ, SIG_IGN);
	if (argc > 1 && strcmp(argv[1], "--worker") == 0)
		return serve(3);

	struct options o;
	struct err err = ERR_INIT;
	const char *action = "capture";
	options_init(&o);
	int status = run(argc, argv, &o, &action, &err);
	if (status < 0) {
		/* Parsing may have ended before it came to --json. */
		for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
			o.json |= strcmp(argv[i], "--json") == 0;
		status = fail(&o, action, &err);
		/* Under git bisect run 2 would be taken for a verdict. */
		if (is_judging(argc, argv))
			status = o.cannot_judge ? STATUS_BISECT_SKIP : STATUS_BISECT_STOP;
	}
	if (proc_signal())
		status = 128 + proc_signal();
	status = close_stdout(status);
	err_release(&err);
	options_release(&o);
	return status;
}

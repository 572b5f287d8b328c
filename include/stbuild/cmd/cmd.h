#ifndef STBUILD_CMD_CMD_H
#define STBUILD_CMD_CMD_H

/*
 * Commands. To add one called "frob":
 *
 *  1. src/cmd/frob.c has cmd_frob() and, if it takes options of its own,
 *     frob_option[], a table that ends with OPTION_END; the rows point at
 *     static variables of that file.
 *  2. Declare both below.
 *  3. Add a row to command[] in src/cmd/main.c. Help, completion and the check
 *     of operand counts come from that row.
 *  4. man/stbuild-frob.1 has the same synopsis, and tests/scripts/frob.sh
 *     asserts statuses, messages and --json.
 *
 * A command prints its results on stdout (with --json one document, see
 * cmd/output.h) and everything else through util/log.h. It returns an exit
 * status, or -1 with err set, which main prints. Several errors at once, as of
 * a manifest, go through errors_end.
 */

#include "cmd/options.h"
#include "util/args.h"
#include "util/err.h"

struct command {
	const char *name;
	const char *synopsis;             /* what follows the name; a line each, or "" */
	const char *summary;              /* for lists: lower case, no full stop */
	int max_operand;                  /* -1: any number */
	const struct args_option *option; /* its own; null: none */
	int (*run)(struct options *o, const struct args_list *operand, struct err *err);
};

#define OPTION_END \
	{ \
		0, NULL, ARGS_FLAG, NULL, 0, 0, NULL, NULL \
	}

/* Ends with a row without name. */
extern const struct command command[];
/* Null when there is none of that name. */
const struct command *command_find(const char *name);
/* What -h prints, on stdout; null: of stbuild as a whole. */
void command_help(const struct command *c);

int cmd_approve(struct options *o, const struct args_list *operand, struct err *err);
int cmd_bisect(struct options *o, const struct args_list *operand, struct err *err);
int cmd_capture(struct options *o, const struct args_list *operand, struct err *err);
int cmd_check(struct options *o, const struct args_list *operand, struct err *err);
int cmd_clean(struct options *o, const struct args_list *operand, struct err *err);
int cmd_completion(struct options *o, const struct args_list *operand, struct err *err);
int cmd_diff(struct options *o, const struct args_list *operand, struct err *err);
int cmd_fsck(struct options *o, const struct args_list *operand, struct err *err);
int cmd_gc(struct options *o, const struct args_list *operand, struct err *err);
int cmd_graph(struct options *o, const struct args_list *operand, struct err *err);
int cmd_help(struct options *o, const struct args_list *operand, struct err *err);
int cmd_import(struct options *o, const struct args_list *operand, struct err *err);
int cmd_init(struct options *o, const struct args_list *operand, struct err *err);
int cmd_inspect(struct options *o, const struct args_list *operand, struct err *err);
int cmd_log(struct options *o, const struct args_list *operand, struct err *err);
int cmd_replay(struct options *o, const struct args_list *operand, struct err *err);
int cmd_report(struct options *o, const struct args_list *operand, struct err *err);
int cmd_show(struct options *o, const struct args_list *operand, struct err *err);
int cmd_stats(struct options *o, const struct args_list *operand, struct err *err);
int cmd_status(struct options *o, const struct args_list *operand, struct err *err);
int cmd_test(struct options *o, const struct args_list *operand, struct err *err);
int cmd_version(struct options *o, const struct args_list *operand, struct err *err);
int cmd_why(struct options *o, const struct args_list *operand, struct err *err);

extern const struct args_option approve_option[];
extern const struct args_option bisect_option[];
extern const struct args_option capture_option[];
extern const struct args_option check_option[];
extern const struct args_option clean_option[];
extern const struct args_option diff_option[];
extern const struct args_option fsck_option[];
extern const struct args_option gc_option[];
extern const struct args_option graph_option[];
extern const struct args_option help_option[];
extern const struct args_option import_option[];
extern const struct args_option log_option[];
extern const struct args_option replay_option[];
extern const struct args_option report_option[];
extern const struct args_option status_option[];
extern const struct args_option test_option[];

#endif

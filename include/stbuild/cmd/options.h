#ifndef STBUILD_CMD_OPTIONS_H
#define STBUILD_CMD_OPTIONS_H

/*
 * Options that every command takes: make's letters with make's meaning, and
 * ours (stbuild(1)).
 */

#include "util/args.h"
#include "util/err.h"

struct options {
	struct args_list folder; /* -C: gone to one after the other */
	const char *file;        /* -f, or null */
	long jobs;               /* -j: at least 1 */
	int keep_going;          /* -k */
	int dry_run;             /* -n */
	int question;            /* -q: no output, status 1 when stale */
	int silent;              /* -s */
	int always;              /* -B: nothing counts as up to date */
	int verbose;             /* -v, counts up */
	int json;
	const char *color_word;
	int use_color;      /* of stdout, decided */
	const char *store;  /* --store or STBUILD_STORE, or null */
	const char *device; /* --device or STBUILD_DEVICE, or null */
	double timeout_s;   /* on one draw or compile; 0: none */
	int help, version;
	int cannot_judge; /* test --bisect: the project does not load */
	/* Found before the one that ends the command: see errors_end. */
	struct errs error;
};

/* Rows of the table below, and its end. */
#define OPTIONS_ROWS 17

void options_init(struct options *o);
void options_release(struct options *o);
/* The global rows, pointing into o. table has OPTIONS_ROWS elements. */
void options_table(struct options *o, struct args_option *table);
/* Decides what is left open after parsing; -C is done here. */
int options_finish(struct options *o, struct err *err) WARN_UNUSED;

/*
 * Index in argv of the first word that is no option of the table, or of a
 * command in a list that ends without a name (or is null), and no value of
 * one; 0 when there is none, or a "--" or an unknown option comes first.
 */
struct command;
int options_first_operand(int argc, char *const argv[], const struct args_option *table,
    const struct command *command);

/*
 * Ends a command with a list of errors, one at least: all are printed by main,
 * in order, and the worst decides the exit status. errs is empty afterwards.
 * Returns -1.
 */
int errors_end(struct options *o, struct errs *errs, struct err *err);

#endif

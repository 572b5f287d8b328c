#ifndef STBUILD_CMD_JUDGE_H
#define STBUILD_CMD_JUDGE_H

#include "cmd/options.h"
#include "util/args.h"

struct target_options;

/*
 * What capture does for --bisect: judges the work tree against a bundle. Returns
 * 0 good, 1 bad, 125 cannot judge, 129 for git bisect to stop; -1 as always.
 */
int capture_judge(struct options *o, const struct args_list *operand,
    const struct target_options *target, const char *reference, double threshold,
    struct err *err) WARN_UNUSED;

#endif

#ifndef STBUILD_CMD_RANGE_H
#define STBUILD_CMD_RANGE_H

#include "cmd/options.h"
#include "util/args.h"

struct target_options;

/*
 * What capture does for --rev A..B: each distinct rendering of a range once, at
 * its newest commit.
 */
int capture_range(struct options *o, const struct args_list *operand,
    const struct target_options *target, const char *range, struct err *err) WARN_UNUSED;

#endif

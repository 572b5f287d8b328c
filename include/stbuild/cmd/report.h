#ifndef STBUILD_CMD_REPORT_H
#define STBUILD_CMD_REPORT_H

#include "util/err.h"

struct testing;

/* Writes a page that shows what was judged to the folder dir. */
int report_tests(struct testing *t, const char *dir, struct err *err) WARN_UNUSED;

#endif

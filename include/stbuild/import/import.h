#ifndef STBUILD_IMPORT_IMPORT_H
#define STBUILD_IMPORT_IMPORT_H

/* Projects that have a manifest, ShaderToy.toml or ours, as projects in memory. */

#include "util/tree.h"
#include "util/err.h"

/*
 * Reads the project whose manifest is path in tree from: *out gets it as
 * stbuild.json, with all that was a default of the old syntax said (dialect),
 * and every file it names: sources and what they include, assets, and of the
 * tests' references those that are there. All faults are collected.
 */
int project_read(struct tree *from, const char *path, struct tree **out,
	struct errs *errs) WARN_UNUSED;

#endif

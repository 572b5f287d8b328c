#ifndef STBUILD_IMPORT_IMPORT_H
#define STBUILD_IMPORT_IMPORT_H

/* Documents told apart; those of our own kind, as projects in memory. */

#include "util/buf.h"
#include "util/tree.h"
#include "util/err.h"

enum document {
	DOCUMENT_STTF,
	DOCUMENT_SHADERTOY,
	DOCUMENT_MANIFEST,
	DOCUMENT_BUNDLE,
	DOCUMENT_SHADER /* a GLSL source with one of the site's entry points */
};

/*
 * What a file is, by its content; the name decides where that says nothing.
 * path is for messages, which say what the file is instead of one of these.
 */
int recognise(const char *path, const struct buf *bytes, enum document *out,
    struct err *err) WARN_UNUSED;

/*
 * A project of the shader at path: its pass is an image, a cubemap (with an
 * image that shows it) or a sound (with a black image), by its entry point. What
 * it includes from below its folder comes along. Channels that it reads are
 * warned about, since nothing says what to bind.
 */
int bare_read(const char *path, const char *name, struct tree **out,
    struct err *err) WARN_UNUSED;

/*
 * Reads the project whose manifest is path in tree from: *out gets it as
 * stbuild.json, with all that was a default of the old syntax said (dialect),
 * and every file it names: sources and what they include, assets, and of the
 * tests' references those that are there. All faults are collected.
 */
int project_read(struct tree *from, const char *path, struct tree **out,
    struct errs *errs) WARN_UNUSED;

#endif

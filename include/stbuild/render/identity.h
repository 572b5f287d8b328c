#ifndef STBUILD_RENDER_IDENTITY_H
#define STBUILD_RENDER_IDENTITY_H

/*
 * What a driver is made of besides its GL strings: libraries, processor,
 * environment. Shared by the identity (the worker's) and the stamp
 * (the parent's).
 */

#include <stddef.h>

#include "util/buf.h"
#include "util/err.h"

/* Lines of text, owned. */
struct lines {
	char **line;
	size_t nline, cap;
};
void lines_release(struct lines *lines);
/* Takes text over. */
void lines_take(struct lines *lines, char *text);
void lines_sort(struct lines *lines);
/* Paths of a folder's entries that start with prefix, in no order. */
void lines_folder(const char *dir, const char *prefix, struct lines *out);

/*
 * Paths of the files that this process has mapped as code, each once, without
 * the program itself: /proc/self/maps. Empty where the system has none.
 */
void identity_maps(struct lines *out);

/*
 * "lib.NAME BUILDID" of each path in after that is not in before, and of the
 * C library's libm, which constant folding goes through. A file without a
 * NT_GNU_BUILD_ID is named by the hash of its bytes. One that is there and
 * cannot be read is an error: it says nothing about the driver.
 */
int identity_libraries(const struct lines *before, const struct lines *after,
    struct lines *out, struct err *err) WARN_UNUSED;

/*
 * "cpu.model NAME" and "cpu.features HASH": what decides over the code that a
 * software renderer makes. Of x86's flags only those of the instruction set
 * count, as kernels add others.
 */
void identity_cpu(struct lines *out);

/*
 * "env.NAME VALUE" of each variable that drivers may read: in doubt one counts,
 * stbuild(1) has the rules.
 */
void identity_environment(struct lines *out);
/* 1 for the name (n bytes) of such a variable. */
int identity_reads(const char *name, size_t n);

/*
 * Files of options that Mesa reads, in its order, whether they are there or
 * not; and "options HASH" of what they hold.
 */
void identity_option_files(struct lines *out);
void identity_options(struct lines *out);

/* The build id of an ELF file in hex, or null. Owned by the caller. */
char *elf_build_id(const char *path);

#endif

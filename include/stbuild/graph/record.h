#ifndef STBUILD_GRAPH_RECORD_H
#define STBUILD_GRAPH_RECORD_H

/*
 * What decided a bundle's content, as lists of facts. One is kept for each
 * recorded bundle; a later one beside it shows what changed, and in which pass,
 * file and line (why/compare.h).
 */

#include <stddef.h>

#include "graph/fact.h"

struct record_pass {
	char *name;
	struct sha256 key;   /* of its node */
	struct facts fixed;  /* facts_of_static */
	struct facts recipe; /* facts_of_node */
	struct facts base;   /* of an earlier frame: records keep what differs */
};

struct record {
	int frame;
	int has_intermediates;
	struct facts driver;      /* its identity */
	struct facts settings;    /* tool, variant, and the manifest's leaves */
	struct facts files;       /* hashes of sources and assets */
	struct record_pass *pass; /* those that reach the image, which is last */
	size_t npass, cap;
};

void record_release(struct record *a);

#endif

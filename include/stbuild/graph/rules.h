#ifndef STBUILD_GRAPH_RULES_H
#define STBUILD_GRAPH_RULES_H

/*
 * Whose rules a frame is drawn by. Ours are the site's; bundles written by the
 * shadertoy CLI are replayed by the rules of that program, where they differ:
 * a row each of rules.def.
 */

enum rule {
#define RULE(name, text) RULE_##name,
#include "graph/rules.def"
#undef RULE
	RULES,
};

struct rules {
	const char *name; /* "shadertoy 2.5"; null: ours */
	unsigned has;     /* bit RULE_x */
};

extern const struct rules rules_ours;

static inline int rules_have(const struct rules *r, enum rule rule)
{
	return r && r->has >> rule & 1;
}

/* The rule as a sentence. */
const char *rule_text(enum rule rule);
/* Those of a bundle's writer: null tool and version "2.x" is the CLI. */
const struct rules *rules_of(int has_tool, const char *cli_version);

#endif

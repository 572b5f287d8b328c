#include "graph/rules.h"

#include <stddef.h>
#include <string.h>

const struct rules rules_ours = { NULL, 0 };
static const struct rules rules_shadertoy = { "shadertoy 2.5", (1u << RULES) - 1 };

const char *rule_text(enum rule rule)
{
	static const char *const text[] = {
#define RULE(name, text) text,
#include "graph/rules.def"
#undef RULE
	};
	return text[rule];
}

const struct rules *rules_of(int has_tool, const char *cli_version)
{
	int is_theirs = !has_tool && cli_version && strncmp(cli_version, "2.", 2) == 0;

	return is_theirs ? &rules_shadertoy : &rules_ours;
}

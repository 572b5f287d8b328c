#include <string.h>

#include "glsl/word.h"
#include "lint_types.h"
#include "util/mem.h"

/*
 * What the site, that is GLSL ES 3.00 in a browser, refuses: words, directives,
 * and what types tell (lint_types.h).
 */

/* Words -------------------------------------------------------------------- */

static int was_reported(struct typing *t, const char *s, size_t n)
{
	return !map_put(&t->seen_word, s, n, 1);
}

/* "sample" is told where it stands first; "precise float x" where it works. */
static void find_word(struct typing *t, size_t i)
{
	struct lint *l = t->l;
	const char *s = l->code.text + l->code.token[i].at;
	size_t n = l->code.token[i].len, w = word_find(s, n);
	if ((n > 6 && strncmp(s, "webgl_", 6) == 0) ||
	    (n > 7 && strncmp(s, "_webgl_", 7) == 0)) {
		if (!was_reported(t, s, n))
			lint_add(l, "site-refuses", i,
			    "'%.*s': WebGL keeps names "
			    "that begin with webgl_",
			    (int)n, s);
		return;
	}
	if (w == nword || words[w].essl == WORD_KEYWORD)
		return;
	if (words[w].essl == WORD_RESERVED) {
		if (!was_reported(t, s, n))
			lint_add(l, "site-refuses", i,
			    "'%.*s' is a reserved "
			    "word of ES 3.00",
			    (int)n, s);
		return;
	}
	struct type type;
	/* Free: a name, unless what follows makes it a word of desktop GLSL. */
	int is_used = words[w].glsl == WORD_KEYWORD &&
	    !(i && typing_of_word(t, i - 1, &type)) &&
	    (lint_is_word(l, i + 1) ||
		(words[w].role == WORD_TYPE && lint_is(l, i + 1, "(") && i &&
		    !lint_is(l, i - 1, ".")));
	if (is_used && !was_reported(t, s, n))
		lint_add(l, "site-refuses", i, "ES 3.00 has no '%.*s'", (int)n, s);
}

/* Directives --------------------------------------------------------------- */

static void find_directives(struct lint *l)
{
	const struct glsl *g = &l->pp.raw;
	for (size_t i = 0; i < g->ntoken; i++) {
		if (g->token[i].kind != GLSL_HASH || !l->pp.is_active[i])
			continue;
		if (glsl_is(g, i + 1, "version"))
			lint_add_raw(l, "site-refuses", i,
			    "the site supplies "
			    "#version, and rejects a second one");
		else if (glsl_is(g, i + 1, "extension"))
			lint_add_raw(l, "site-refuses", i,
			    "ES 3.00 accepts "
			    "#extension only before all code, and the site "
			    "puts its own code first");
	}
}

/* Macros that ES 3.00 cannot expand, where they are called. */
static void find_pastes(struct lint *l)
{
	const struct glsl *g = &l->pp.raw;
	for (size_t u = 0; u < l->pp.nuse; u++) {
		size_t raw = l->pp.macro[l->pp.use[u].macro].raw;
		if (raw == PREPROCESS_NONE)
			continue;
		for (; g->token[raw].kind != GLSL_LINE_END; raw++)
			if (glsl_is(g, raw, "##")) {
				lint_add_raw(l, "site-refuses", raw, "ES 3.00 has no ##");
				break;
			}
	}
}

void lint_site(struct lint *l)
{
	struct typing t;
	typing_init(&t, l);
	find_directives(l);
	find_pastes(l);
	for (size_t i = 0; i < l->code.ntoken; i++)
		if (lint_is_word(l, i))
			find_word(&t, i);
	typing_check(&t);
	typing_release(&t);
}

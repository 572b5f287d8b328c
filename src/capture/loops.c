#include <stdlib.h>
#include <string.h>

#include "capture_impl.h"
#include "util/log.h"
#include "util/mem.h"

#define SETTLED ((size_t)1 << 32) /* beyond all frames */

void capture_report_loops(struct capture *c, const struct group *g, int p, int t,
    int is_captured)
{
	const struct manifest *m = g->variant.manifest;
	const char *renderer = c->env->programs.driver->renderer;

	if (!renderer || !strstr(renderer, "llvmpipe"))
		return;
	/* What varies is looked at again, but not for each frame between. */
	size_t last = map_gets(&c->looked, m->pass[p].name);
	if (last != MAP_NONE &&
	    (last == SETTLED || (!is_captured && (size_t)t < 2 * last + 1)))
		return;
	struct lint_uniform *uniform = lint_uniforms(m);
	struct value *value = xcalloc(m->nuniform + 1, sizeof *value);
	double *number = xcalloc(m->nuniform + 1, sizeof *number);
	struct lint_findings where = { NULL, 0, 0 };
	struct lint_facts facts;
	int w, h, varies;
	lint_facts_of(m, p, uniform, &facts);
	variant_values(&g->variant, t, value);
	for (size_t u = 0; u < m->nuniform; u++)
		number[u] = value[u].type == VALUE_INT ? value[u].i : value[u].f[0];
	target_size(&g->variant, p, &w, &h);
	struct lint_moment moment = { t, t / g->variant.fps, w, h, number };
	double n = lint_iterations(&facts, &g->set->programs.program[p].source, &moment,
	    &varies, &where);
	if (n > LINT_LOOP_BUDGET && where.nitem)
		log_warn("%s:%d:%d: pass '%s' at frame %d: its loops run %.0f "
			 "iterations per pixel; llvmpipe runs %d and skips the "
			 "others",
		    where.item[0].file, where.item[0].line, where.item[0].column,
		    m->pass[p].name, t, n, LINT_LOOP_BUDGET);
	map_puts(&c->looked, m->pass[p].name,
	    n > LINT_LOOP_BUDGET || !varies ? SETTLED : (size_t)t);
	lint_findings_release(&where);
	free(number);
	free(value);
	free(uniform);
}

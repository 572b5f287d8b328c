#include "graph/graph.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "glsl/shader.h"
#include "util/buf.h"
#include "util/mem.h"

__attribute__((format(printf, 3, 0))) static size_t add_message(struct diagnostics *d,
    const char *code, const char *fmt, va_list ap)
{
	struct buf text = BUF_INIT;

	buf_vaddf(&text, fmt, ap);
	d->item = array_grow(d->item, d->nitem, &d->cap, sizeof *d->item);
	d->item[d->nitem] = (struct diagnostic){ .level = DIAGNOSTIC_WARNING,
		.code = code,
		.message = buf_detach(&text) };
	return d->nitem++;
}

size_t diagnostics_add(struct diagnostics *d, const char *code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	size_t item = add_message(d, code, fmt, ap);
	va_end(ap);
	return item;
}

void diagnostics_about(struct diagnostics *d, size_t item, int pass)
{
	struct diagnostic *i = &d->item[item];

	i->pass = xreallocarray(i->pass, i->npass + 1, sizeof *i->pass);
	i->pass[i->npass++] = pass;
}

static void find_unreachable(const struct graph *g, struct diagnostics *out)
{
	const struct manifest *m = g->manifest;

	for (size_t p = 0; p < m->npass; p++) {
		if (g->is_reached[p] || m->pass[p].kind == PASS_SOUND)
			continue;
		diagnostics_add(out, "unreachable-pass",
		    "pass '%s' does not reach the image, and is not drawn",
		    m->pass[p].name);
		diagnostics_about(out, out->nitem - 1, (int)p);
	}
}

static void find_unused_assets(const struct graph *g, struct diagnostics *out)
{
	const struct manifest *m = g->manifest;
	int *is_used = xcalloc(m->nasset + 1, sizeof *is_used);

	for (size_t p = 0; p < m->npass; p++)
		for (size_t i = 0; i < m->pass[p].ninput; i++)
			if (m->pass[p].input[i].asset >= 0)
				is_used[m->pass[p].input[i].asset] = 1;
	for (size_t a = 0; a < m->nasset; a++)
		if (!is_used[a])
			diagnostics_add(out, "unused-asset",
			    "asset '%s' is not an input of any pass", m->asset[a].name);
	free(is_used);
}

static void find_viewport_feedback(const struct graph *g, struct diagnostics *out)
{
	const struct manifest *m = g->manifest;

	for (size_t p = 0; p < m->npass; p++) {
		const struct pass *pass = &m->pass[p];
		if (pass->width > 0 ||
		    (pass->kind != PASS_BUFFER && pass->kind != PASS_COMPUTE))
			continue;
		size_t i = 0;
		while (i < g->nedge &&
		    !(g->edge[i].from == (int)p && g->edge[i].is_previous))
			i++;
		if (i == g->nedge)
			continue;
		diagnostics_add(out, "viewport-sized-feedback",
		    "pass '%s' reads its previous frame at output size, so its "
		    "result depends on the capture size; give it width and height",
		    pass->name);
		diagnostics_about(out, out->nitem - 1, (int)p);
	}
}

/* reach[a x npass + b]: b runs after a by a path of current-frame edges. */
static unsigned char *current_paths(const struct graph *g)
{
	size_t n = g->manifest->npass;
	unsigned char *reach = xcalloc(n * n, 1);

	for (size_t i = g->norder; i-- > 0;) {
		size_t p = (size_t)g->order[i];
		for (size_t e = 0; e < g->nedge; e++) {
			if (g->edge[e].is_previous || g->edge[e].from != (int)p)
				continue;
			size_t to = (size_t)g->edge[e].to;
			reach[p * n + to] = 1;
			for (size_t q = 0; q < n; q++)
				reach[p * n + q] |= reach[to * n + q];
		}
	}
	return reach;
}

static void find_unordered_storage(const struct graph *g, struct diagnostics *out)
{
	const struct manifest *m = g->manifest;
	size_t n = m->npass;
	unsigned char *reach = current_paths(g);

	for (size_t s = 0; s < g->nstorage; s++)
		for (size_t a = 0; a < n; a++)
			for (size_t b = a + 1; b < n; b++) {
				int in_a = 0, in_b = 0;
				for (size_t i = 0; i < m->pass[a].nstorage; i++)
					in_a |= strcmp(m->pass[a].storage[i].name,
						    g->storage[s]) == 0;
				for (size_t i = 0; i < m->pass[b].nstorage; i++)
					in_b |= strcmp(m->pass[b].storage[i].name,
						    g->storage[s]) == 0;
				if (!in_a || !in_b || reach[a * n + b] ||
				    reach[b * n + a])
					continue;
				diagnostics_add(out, "unordered-shared-storage",
				    "passes '%s' and '%s' share storage "
				    "'%s', and no current-frame input "
				    "orders them",
				    m->pass[a].name, m->pass[b].name, g->storage[s]);
				diagnostics_about(out, out->nitem - 1, (int)a);
				diagnostics_about(out, out->nitem - 1, (int)b);
			}
	free(reach);
}

void graph_diagnose(const struct graph *g, struct diagnostics *out)
{
	find_unreachable(g, out);
	find_unused_assets(g, out);
	find_viewport_feedback(g, out);
	find_unordered_storage(g, out);
}

void diagnose_uniforms(const struct manifest *m, const int *used, struct diagnostics *out)
{
	for (size_t u = 0; u < m->nuniform; u++)
		if (!used[u])
			diagnostics_add(out, "unused-uniform",
			    "uniform '%s' is not used by any pass", m->uniform[u].name);
}

void diagnostics_release(struct diagnostics *d)
{
	for (size_t i = 0; i < d->nitem; i++) {
		free(d->item[i].message);
		free(d->item[i].pass);
		free(d->item[i].file);
	}
	free(d->item);
	memset(d, 0, sizeof *d);
}

struct lint_uniform *lint_uniforms(const struct manifest *m)
{
	struct lint_uniform *out = xcalloc(m->nuniform + 1, sizeof *out);

	for (size_t i = 0; i < m->nuniform; i++) {
		const struct uniform *u = &m->uniform[i];
		out[i] = (struct lint_uniform){ u->name, value_type_name(u->type),
			u->has_max, u->type == VALUE_INT ? u->max.i : u->max.f[0] };
	}
	return out;
}

void lint_facts_of(const struct manifest *m, int p, const struct lint_uniform *uniform,
    struct lint_facts *out)
{
	const struct pass *pass = &m->pass[p];
	/* The site has neither compute passes nor storage. */
	int is_site = pass->kind != PASS_COMPUTE && !pass->nstorage;

	*out = (struct lint_facts){ .entry = shader_entry(pass->kind),
		.is_site = is_site,
		.is_essl = is_site && m->dialect == DIALECT_ESSL,
		.is_image = pass->kind == PASS_IMAGE,
		.uniform = uniform,
		.nuniform = m->nuniform };
}

#include "graph/graph.h"

#include <string.h>

#include "cmd/cmd.h"
#include "cmd/output.h"
#include "cmd/session.h"
#include "graph/builtin.h"
#include "util/buf.h"
#include "util/mem.h"

static int dot;
static const char *rev;

const struct args_option graph_option[] = {
	{ 0, "dot", ARGS_FLAG, &dot, 0, 0, NULL,
	    "print Graphviz input; previous-frame edges are dashed" },
	{ 0, "rev", ARGS_STRING, &rev, 0, 0, "REV",
	    "use the files of a revision, without a checkout" },
	OPTION_END,
};

static char *size_text(const struct pass *pass)
{
	if (pass->kind == PASS_CUBEMAP)
		return xstrdup("6 x 1024x1024");
	if (!pass->width)
		return xstrdup("output size");
	return xasprintf("%dx%d", pass->width, pass->height);
}

/* What an input reads, in words. */
static const char *input_name(const struct manifest *m, const struct input_ref *in)
{
	if (in->pass >= 0)
		return m->pass[in->pass].name;
	if (in->asset >= 0)
		return m->asset[in->asset].name;
	return input_kind_name(in->kind);
}

static void print_pass(const struct graph *g, int p)
{
	const struct manifest *m = g->manifest;
	const struct pass *pass = &m->pass[p];
	printf("%s: %s, ", pass->name, pass_kind_name(pass->kind));
	if (pass->kind == PASS_SOUND) {
		printf("%g s, stereo, %d Hz", pass->duration, SOUND_RATE);
	} else {
		char *size = size_text(pass);
		printf("%s, %s", size, format_name(pass->format));
		free(size);
	}
	for (int i = 0; i < pass->nextra_output; i++)
		printf(" %s", format_name(pass->extra_output[i]));
	if (pass->iterations > 1)
		printf(", %d iterations", pass->iterations);
	if (pass->kind != PASS_SOUND && !g->is_reached[p])
		printf(", not drawn");
	printf("\n");
	for (size_t i = 0; i < pass->ninput; i++) {
		const struct input_ref *in = &pass->input[i];
		printf("\tiChannel%d: %s", in->channel, input_name(m, in));
		if (in->output)
			printf(" output %d", in->output);
		printf("%s, %s, %s\n", in->is_previous ? " (previous frame)" : "",
		    filter_name(in->filter), wrap_name(in->wrap));
	}
	for (size_t i = 0; i < pass->nstorage; i++)
		printf("\tstorage %u: %s, %llu bytes\n",
		    (unsigned)pass->storage[i].binding, pass->storage[i].name,
		    (unsigned long long)pass->storage[i].size);
}

static void print_text(const struct graph *g)
{
	const struct manifest *m = g->manifest;
	for (size_t i = 0; i < g->norder; i++)
		print_pass(g, g->order[i]);
	for (size_t p = 0; p < m->npass; p++)
		if (g->position[p] < 0)
			print_pass(g, (int)p);
}

/* A quoted DOT id or label. */
static void dot_string(const char *prefix, const char *text)
{
	printf("\"%s", prefix);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		putchar(*text == '\n' ? ' ' : *text);
	}
	putchar('"');
}

static void dot_node(const char *prefix, const char *name, const char *shape)
{
	printf("\t");
	dot_string(prefix, name);
	printf(" [shape=%s, label=", shape);
	dot_string("", name);
	printf("];\n");
}

static void dot_edge(const char *prefix, const char *from, const char *to,
    const char *label, const char *style)
{
	printf("\t");
	dot_string(prefix, from);
	printf(" -> ");
	dot_string("pass:", to);
	printf(" [label=");
	dot_string("", label);
	printf(", style=%s];\n", style);
}

static void print_dot(const struct graph *g)
{
	const struct manifest *m = g->manifest;
	printf("digraph ");
	dot_string("", m->name);
	printf(" {\n\trankdir=LR;\n");
	for (size_t p = 0; p < m->npass; p++)
		dot_node("pass:", m->pass[p].name,
		    m->pass[p].kind == PASS_IMAGE ? "doubleoctagon" : "box");
	for (size_t a = 0; a < m->nasset; a++)
		dot_node("asset:", m->asset[a].name, "note");
	for (size_t s = 0; s < g->nstorage; s++)
		dot_node("storage:", g->storage[s], "diamond");
	int has_live[INPUT_WEBCAM + 1] = { 0 };
	for (size_t p = 0; p < m->npass; p++)
		for (size_t i = 0; i < m->pass[p].ninput; i++) {
			const struct input_ref *in = &m->pass[p].input[i];
			if (in->pass >= 0 || in->asset >= 0 || has_live[in->kind]++)
				continue;
			dot_node("live:", input_kind_name(in->kind), "ellipse");
		}
	for (size_t p = 0; p < m->npass; p++) {
		const struct pass *pass = &m->pass[p];
		for (size_t i = 0; i < pass->ninput; i++) {
			const struct input_ref *in = &pass->input[i];
			char *label = in->output ? xasprintf("iChannel%d, "
							     "output %d",
						       in->channel, in->output)
						 : xasprintf("iChannel%d", in->channel);
			dot_edge(in->pass >= 0   ? "pass:"
				: in->asset >= 0 ? "asset:"
						 : "live:",
			    input_name(m, in), pass->name, label,
			    in->is_previous ? "dashed" : "solid");
			free(label);
		}
		for (size_t i = 0; i < pass->nstorage; i++) {
			char *label =
			    xasprintf("binding %u", (unsigned)pass->storage[i].binding);
			dot_edge("storage:", pass->storage[i].name, pass->name, label,
			    "solid, dir=both");
			free(label);
		}
	}
	printf("}\n");
}

static cJSON *pass_to_json(const struct graph *g, int p)
{
	const struct manifest *m = g->manifest;
	const struct pass *pass = &m->pass[p];
	cJSON *json = cJSON_CreateObject();
	cJSON_AddStringToObject(json, "name", pass->name);
	cJSON_AddStringToObject(json, "kind", pass_kind_name(pass->kind));
	cJSON_AddStringToObject(json, "source", pass->source);
	if (pass->width) {
		cJSON_AddNumberToObject(json, "width", pass->width);
		cJSON_AddNumberToObject(json, "height", pass->height);
	}
	cJSON_AddBoolToObject(json, "reached",
	    pass->kind != PASS_SOUND && g->is_reached[p]);
	cJSON *inputs = cJSON_AddArrayToObject(json, "inputs");
	for (size_t i = 0; i < pass->ninput; i++) {
		const struct input_ref *in = &pass->input[i];
		cJSON *item = cJSON_CreateObject();
		cJSON_AddNumberToObject(item, "channel", in->channel);
		cJSON_AddStringToObject(item, "source", input_name(m, in));
		cJSON_AddStringToObject(item, "kind", input_kind_name(in->kind));
		cJSON_AddNumberToObject(item, "output", in->output);
		cJSON_AddStringToObject(item, "frame",
		    in->is_previous ? "previous" : "current");
		cJSON_AddStringToObject(item, "filter", filter_name(in->filter));
		cJSON_AddStringToObject(item, "wrap", wrap_name(in->wrap));
		cJSON_AddItemToArray(inputs, item);
	}
	cJSON *storage = cJSON_AddArrayToObject(json, "storage");
	for (size_t i = 0; i < pass->nstorage; i++) {
		cJSON *item = cJSON_CreateObject();
		cJSON_AddStringToObject(item, "name", pass->storage[i].name);
		cJSON_AddNumberToObject(item, "binding", pass->storage[i].binding);
		cJSON_AddNumberToObject(item, "size", (double)pass->storage[i].size);
		cJSON_AddItemToArray(storage, item);
	}
	return json;
}

static cJSON *edge_to_json(const struct manifest *m, const struct edge *e)
{
	cJSON *json = cJSON_CreateObject();
	cJSON_AddStringToObject(json, "from", m->pass[e->from].name);
	cJSON_AddStringToObject(json, "to", m->pass[e->to].name);
	cJSON_AddNumberToObject(json, "channel", e->channel);
	cJSON_AddNumberToObject(json, "output", e->output);
	cJSON_AddStringToObject(json, "frame", e->is_previous ? "previous" : "current");
	return json;
}

static void print_json(const struct graph *g, const struct diagnostics *d)
{
	const struct manifest *m = g->manifest;
	cJSON *document = json_start("graph");
	cJSON_AddStringToObject(document, "project", m->name);
	cJSON *list = cJSON_AddArrayToObject(document, "passes");
	for (size_t p = 0; p < m->npass; p++)
		cJSON_AddItemToArray(list, pass_to_json(g, (int)p));
	list = cJSON_AddArrayToObject(document, "edges");
	for (size_t i = 0; i < g->nedge; i++)
		cJSON_AddItemToArray(list, edge_to_json(m, &g->edge[i]));
	list = cJSON_AddArrayToObject(document, "order");
	for (size_t i = 0; i < g->norder; i++)
		cJSON_AddItemToArray(list, cJSON_CreateString(m->pass[g->order[i]].name));
	cJSON_AddItemToObject(document, "diagnostics", diagnostics_to_json(m, d));
	json_print(document);
}

int cmd_graph(struct options *o, const struct args_list *operand, struct err *err)
{
	(void)operand;
	struct session s;
	struct graph g = { 0 };
	struct diagnostics d = { 0 };
	int rc = -1;
	if (dot && o->json)
		return err_set(err, STATUS_INPUT,
		    "--dot and --json are mutually exclusive");
	if (session_open_rev(&s, o, "graph", SESSION_READ, rev, err) < 0)
		goto out;
	graph_init(&g, &s.manifest);
	graph_diagnose(&g, &d);
	diagnostics_print(&d);
	if (dot)
		print_dot(&g);
	else if (o->json)
		print_json(&g, &d);
	else
		print_text(&g);
	rc = STATUS_OK;
out:
	diagnostics_release(&d);
	graph_release(&g);
	session_close(&s);
	return rc;
}

#include "format/trace_json.h"

#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "util/mem.h"

void git_state_release(struct git_state *g)
{
	repo_commit_release(&g->head);
	for (size_t i = 0; i < g->ndirty; i++)
		free(g->dirty[i]);
	free(g->dirty);
	memset(g, 0, sizeof *g);
}

static cJSON *string_or_null(const char *s)
{
	return s ? cJSON_CreateString(s) : cJSON_CreateNull();
}

static void add_sha(cJSON *object, const char *name, const struct sha256 *sha)
{
	char hex[SHA256_HEX + 1];

	cJSON_AddStringToObject(object, name, sha256_hex(sha, hex));
}

cJSON *git_json(const struct git_state *git)
{
	if (!git || !git->has_head)
		return cJSON_CreateNull();
	cJSON *json = cJSON_CreateObject();
	cJSON_AddStringToObject(json, "commit", git->head.id);
	cJSON_AddItemToObject(json, "describe", string_or_null(git->head.describe));
	cJSON_AddItemToObject(json, "branch", string_or_null(git->head.branch));
	cJSON_AddItemToObject(json, "committed_at",
	    string_or_null(git->head.committed_at));
	cJSON_AddBoolToObject(json, "dirty", git->ndirty > 0);
	cJSON *dirty = cJSON_AddArrayToObject(json, "dirty_inputs");
	for (size_t i = 0; i < git->ndirty; i++)
		cJSON_AddItemToArray(dirty, cJSON_CreateString(git->dirty[i]));
	return json;
}

static cJSON *uniforms_json(const struct keys *k, int frame)
{
	const struct variant *v = k->scene->variant;
	const struct manifest *m = v->manifest;
	struct value *value = xcalloc(m->nuniform + 1, sizeof *value);
	cJSON *json = cJSON_CreateObject();

	variant_values(v, frame, value);
	for (size_t u = 0; u < m->nuniform; u++)
		cJSON_AddItemToObject(json, m->uniform[u].name, value_to_json(&value[u]));
	free(value);
	return json;
}

static cJSON *timings_json(const struct trace_facts *f)
{
	const struct variant *v = f->keys->scene->variant;
	cJSON *json = cJSON_CreateArray();

	for (size_t i = 0; i < f->ntiming; i++) {
		int p = f->timing[i].pass, w, h;
		cJSON *t = cJSON_CreateObject();
		target_size(v, p, &w, &h);
		cJSON_AddStringToObject(t, "name", v->manifest->pass[p].name);
		cJSON_AddNumberToObject(t, "width", w);
		cJSON_AddNumberToObject(t, "height", h);
		cJSON_AddNumberToObject(t, "gpu_nanoseconds",
		    (double)f->timing[i].gpu_ns);
		cJSON_AddItemToArray(json, t);
	}
	return json;
}

static cJSON *diagnostics_json(const struct graph *g)
{
	struct diagnostics d = { NULL, 0, 0 };
	cJSON *json = cJSON_CreateArray();

	graph_diagnose(g, &d);
	for (size_t i = 0; i < d.nitem; i++) {
		cJSON *item = cJSON_CreateObject();
		cJSON_AddStringToObject(item, "level",
		    d.item[i].level == DIAGNOSTIC_ERROR ? "error" : "warning");
		cJSON_AddStringToObject(item, "code", d.item[i].code);
		cJSON_AddStringToObject(item, "message", d.item[i].message);
		if (d.item[i].npass > 0) {
			cJSON *passes = cJSON_AddArrayToObject(item, "passes");
			for (size_t p = 0; p < d.item[i].npass; p++)
				cJSON_AddItemToArray(passes,
				    cJSON_CreateString(
					g->manifest->pass[d.item[i].pass[p]].name));
		}
		cJSON_AddItemToArray(json, item);
	}
	diagnostics_release(&d);
	return json;
}

static cJSON *edges_json(const struct graph *g, int is_previous)
{
	const struct manifest *m = g->manifest;
	cJSON *json = cJSON_CreateArray();

	for (size_t i = 0; i < g->nedge; i++) {
		const struct edge *e = &g->edge[i];
		if (e->is_previous != is_previous)
			continue;
		cJSON *edge = cJSON_CreateObject();
		cJSON_AddStringToObject(edge, "from", m->pass[e->from].name);
		cJSON_AddStringToObject(edge, "to", m->pass[e->to].name);
		cJSON_AddNumberToObject(edge, "channel", e->channel);
		cJSON_AddNumberToObject(edge, "output", e->output);
		cJSON_AddItemToArray(json, edge);
	}
	return json;
}

static cJSON *synchronization_json(const struct graph *g)
{
	const struct manifest *m = g->manifest;
	cJSON *json = cJSON_CreateObject();

	cJSON_AddStringToObject(json, "runtime", "opengl");
	cJSON_AddItemToObject(json, "current_frame_edges", edges_json(g, 0));
	cJSON_AddItemToObject(json, "previous_frame_edges", edges_json(g, 1));
	cJSON *users = cJSON_AddObjectToObject(json, "storage_users");
	for (size_t s = 0; s < g->nstorage; s++) {
		cJSON *list = cJSON_AddArrayToObject(users, g->storage[s]);
		for (size_t p = 0; p < m->npass; p++)
			for (size_t i = 0; i < m->pass[p].nstorage; i++) {
				const struct storage *st = &m->pass[p].storage[i];
				if (strcmp(st->name, g->storage[s]) != 0)
					continue;
				cJSON *user = cJSON_CreateObject();
				cJSON_AddStringToObject(user, "pass", m->pass[p].name);
				cJSON_AddNumberToObject(user, "binding", st->binding);
				cJSON_AddNumberToObject(user, "size", (double)st->size);
				cJSON_AddItemToArray(list, user);
			}
	}
	return json;
}

static void add_hashes(cJSON *json, const struct trace_facts *f)
{
	const struct scene *scene = f->keys->scene;
	const struct manifest *m = scene->variant->manifest;

	cJSON *sources = cJSON_AddObjectToObject(json, "source_sha256");
	for (size_t p = 0; p < m->npass; p++)
		if (!sha256_is_zero(&f->source_sha[p]))
			add_sha(sources, m->pass[p].name, &f->source_sha[p]);
	cJSON *assets = cJSON_AddObjectToObject(json, "asset_sha256");
	for (size_t a = 0; a < m->nasset; a++)
		add_sha(assets, m->asset[a].name, &scene->asset[a].sha);
}

static void add_ours(cJSON *json, const struct trace_facts *f)
{
	const struct scene *scene = f->keys->scene;
	const struct manifest *m = scene->variant->manifest;

	cJSON_AddItemToObject(json, "git", git_json(f->git));
	cJSON *driver = cJSON_AddObjectToObject(json, "driver");
	cJSON_AddStringToObject(driver, "vendor", f->driver->vendor);
	cJSON_AddStringToObject(driver, "renderer", f->driver->renderer);
	cJSON_AddStringToObject(driver, "version", f->driver->version);
	add_sha(driver, "identity", &f->driver->identity);
	cJSON *keys = cJSON_AddObjectToObject(json, "keys");
	for (size_t i = 0; i < scene->graph->norder; i++) {
		int p = scene->graph->order[i];
		if (scene->graph->is_reached[p])
			add_sha(keys, m->pass[p].name,
			    keys_plain(f->keys, keys_node(f->keys, p, f->frame)));
	}
	cJSON *inputs = cJSON_AddObjectToObject(json, "inputs");
	for (size_t i = 0; i < f->inputs->ninput; i++)
		if (!f->inputs->input[i].is_absent)
			add_sha(inputs, f->inputs->input[i].path,
			    &f->inputs->input[i].sha);
	cJSON *tool = cJSON_AddObjectToObject(json, "tool");
	cJSON_AddStringToObject(tool, "name", "stbuild");
	cJSON_AddStringToObject(tool, "version", STBUILD_VERSION);
}

cJSON *trace_json(const struct trace_facts *f)
{
	const struct variant *v = f->variant;
	const struct graph *g = f->keys->scene->graph;

	json_init();
	cJSON *json = cJSON_CreateObject();
	cJSON_AddNumberToObject(json, "format", 1);
	cJSON_AddStringToObject(json, "cli_version", STBUILD_VERSION);
	cJSON_AddStringToObject(json, "project", v->manifest->name);
	cJSON_AddItemToObject(json, "preset", string_or_null(v->preset));
	cJSON_AddNumberToObject(json, "width", v->width);
	cJSON_AddNumberToObject(json, "height", v->height);
	cJSON_AddNumberToObject(json, "fps", v->fps);
	cJSON_AddNumberToObject(json, "frame", f->frame);
	cJSON_AddNumberToObject(json, "time", (double)f->frame / v->fps);
	cJSON_AddItemToObject(json, "uniforms", uniforms_json(f->keys, f->frame));
	cJSON_AddItemToObject(json, "resolved_manifest", variant_manifest(v));
	add_hashes(json, f);
	cJSON_AddItemToObject(json, "pass_timings", timings_json(f));
	cJSON_AddItemToObject(json, "graph_diagnostics", diagnostics_json(g));
	/* Its place; the header comes with the file. */
	cJSON_AddNullToObject(json, "state_header");
	cJSON_AddItemToObject(json, "synchronization", synchronization_json(g));
	add_ours(json, f);
	return json;
}

#ifndef STBUILD_GRAPH_FACTS_H
#define STBUILD_GRAPH_FACTS_H

/*
 * The lists of facts that decide results (graph/fact.h). Where a driver or a
 * reflection is null, only what is known without them is told, and everything
 * declared counts as active: so that equal declared facts imply equal keys.
 */

#include <cjson/cJSON.h>

#include "graph/fact.h"
#include "graph/keys.h"

/*
 * Of pass p at all frames. With terse lists parts of its source are left out;
 * they are no part of the key.
 */
void facts_of_static(const struct scene *scene, const struct key_program *program, int p,
    const struct sha256 *driver, struct facts *out);
/* Appends what a pass has bound and shares, by the manifest alone. */
void facts_of_inputs(const struct scene *scene, int p, struct facts *out);
/*
 * Of a node. m is at its frame. The hash of its KEY facts is the node's key
 * before aliases.
 */
void facts_of_recipe(const struct keys *keys, uint32_t node, const struct moment *m,
    struct facts *out);
/* The same for one node. */
void facts_of_node(const struct keys *keys, uint32_t node, struct facts *out);
/* Of a sound pass, which is in no frame: keys_of_sound. */
void facts_of_sound(const struct keys *keys, int p, const struct sha256 *static_part,
    const struct moment *m, struct facts *out);
/* Appends what a variant sets: size, fps, date, preset, values over time. */
void facts_of_settings(const struct variant *v, struct facts *out);
/* Appends the values of custom uniforms at one frame. */
void facts_of_values(const struct variant *v, int frame, struct facts *out);
/*
 * Appends a fact for each leaf of a JSON document. Names are joined by dots;
 * items of lists go by their "name", or by number: "pass.sim.input[0].filter".
 * Paths that skip is true for are left out; it may be null.
 */
void facts_of_json(const cJSON *json, const char *path, int (*skip)(const char *path),
    struct facts *out);
/* Appends a driver's identity: lines "NAME VALUE" (render/identity.h). */
void facts_of_identity(const char *text, struct facts *out);

/* How a bound channel's fact names what is bound: a pass, or -1. */
int fact_bound_previous(const struct fact *bound);
/* The pass's name in it: owned by the caller; null when it is no pass. */
char *fact_bound_pass(const struct fact *bound);

#endif

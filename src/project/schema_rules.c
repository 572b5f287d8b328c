/*
 * What the checks of the tables say of keys beside each other, in JSON Schema
 * (draft 2020-12). What it cannot say, because it compares no two values of a
 * document and follows no name:
 *
 * - 640.0 for an integer (to JSON Schema it is one);
 * - names that are used twice in tables that differ elsewhere, bindings too;
 * - names that must be those of something (source, pass, preset, set), and what
 *   follows from the kind of that (kinds of inputs, number of outputs, cycles,
 *   types of the values in set);
 * - min above max, a default outside of them, mean_range turned round, ranges of
 *   frames that run backwards, sizes of storage that differ between passes;
 * - products: sizes scaled by a preset, frames by resolutions, time by fps;
 * - words of one dialect where the manifest does not say which it is.
 */
#include "schema_impl.h"

#include <string.h>

#include "glsl/word.h"
#include "util/limits.h"
#include "util/mem.h"

/* One subschema a row, with ' for ". */
/* Laid out as JSON. */
/* clang-format off */
static const struct {
	void (*check)(struct loader *l, const cJSON *item, const struct at *at,
		void *out);
	const char *text;
} rules[] = {
#define UNIFORM_TYPE(type, value, step) \
	{ check_uniform, "{'if': {'properties': {'type': {'const': '" type "'}}, " \
		"'required': ['type']}, 'then': {'properties': {'default': " value \
		", 'min': " value ", 'max': " value step "}}}" }
#define VECTOR(n) "{'type': 'array', 'minItems': " n ", 'maxItems': " n "}"
	UNIFORM_TYPE("float", "{'type': 'number'}", ""),
	UNIFORM_TYPE("int", "{'type': 'integer', 'minimum': -2147483648, "
		"'maximum': 2147483647}", ", 'step': {'type': 'integer'}"),
	UNIFORM_TYPE("vec2", VECTOR("2"), ""),
	UNIFORM_TYPE("vec3", VECTOR("3"), ""),
	UNIFORM_TYPE("vec4", VECTOR("4"), ""),
	{ check_uniform, "{'if': {'properties': {'type': {'const': 'bool'}}, "
		"'required': ['type']}, 'then': {'properties': {'default': "
		"{'type': 'boolean'}, 'min': false, 'max': false, "
		"'step': false}}}" },
#undef UNIFORM_TYPE
#undef VECTOR

	{ check_pass, "{'dependentRequired': {'width': ['height'], "
		"'height': ['width']}}" },
	{ check_pass, "{'if': {'properties': {'kind': {'enum': ['image', "
		"'cubemap', 'sound']}}, 'required': ['kind']}, 'then': "
		"{'properties': {'width': false, 'height': false, 'format': "
		"{'const': 'rgba32f'}, 'extra_outputs': {'maxItems': 0}}}}" },
	{ check_pass, "{'if': {'properties': {'kind': {'const': 'compute'}}, "
		"'required': ['kind']}, 'then': {'required': ['width', "
		"'height']}, 'else': {'properties': {'iterations': "
		"{'const': 1}, 'local_size': false}}}" },
	{ check_pass, "{'if': {'properties': {'kind': {'const': 'sound'}}, "
		"'required': ['kind']}, 'then': {'properties': {'input': "
		"{'items': {'properties': {'kind': {'not': {'const': 'pass'}}, "
		"'frame': {'const': 'current'}}}}}}, "
		"'else': {'properties': {'duration': false}}}" },

	{ check_input, "{'if': {'properties': {'frame': {'const': "
		"'previous'}}, 'required': ['frame']}, 'then': "
		"{'properties': {'output': {'const': 0}}}}" },
	{ check_input, "{'if': {'anyOf': [{'properties': {'kind': {'not': "
		"{'const': 'pass'}}}, 'required': ['kind']}, {'properties': "
		"{'source': {'enum': ['keyboard', 'music', 'webcam']}}}]}, "
		"'then': {'properties': {'output': {'const': 0}, 'frame': "
		"{'const': 'current'}}}}" },
#define DEVICE(name) \
	{ check_input, "{'if': {'properties': {'source': {'const': '" name "'}}}, " \
		"'then': {'properties': {'kind': {'const': '" name "'}}}, 'else': " \
		"{'properties': {'kind': {'not': {'const': '" name "'}}}}}" }
	DEVICE("keyboard"),
	DEVICE("music"),
	DEVICE("webcam"),
#undef DEVICE

	{ check_preset_pass, "{'dependentRequired': {'width': ['height'], "
		"'height': ['width']}}" },

#define ONE_OF_FRAMES(check) \
	{ check, "{'dependentSchemas': {'frame': {'properties': {'frames': false, " \
		"'time': false}}, 'time': {'properties': {'frames': false}}}}" }
	ONE_OF_FRAMES(check_trace),
	ONE_OF_FRAMES(check_test),
#undef ONE_OF_FRAMES

	{ check_test, "{'dependentRequired': {'width': ['height'], "
		"'height': ['width']}, 'dependentSchemas': {'resolutions': "
		"{'properties': {'width': false, 'height': false}}}}" },
	{ check_test, "{'dependentSchemas': {'reference': {'properties': "
		"{'reference_uniforms': false, 'frames': {'maxItems': 1}, "
		"'resolutions': {'maxItems': 1}}}}}" },
	{ check_test, "{'if': {'properties': {'baseline': {'const': true}}, "
		"'required': ['baseline']}, 'then': {'properties': "
		"{'reference': false, 'reference_uniforms': false}}}" },
	{ check_test, "{'if': {'properties': {'epsilon': {'minimum': 1}}, "
		"'required': ['epsilon']}, 'then': {'required': "
		"['max_pixels']}}" },
	{ check_test, "{'if': {'properties': {'assert_resolution_independent': "
		"{'const': true}}, 'required': "
		"['assert_resolution_independent']}, 'then': {'required': "
		"['resolutions', 'pass'], 'properties': {'resolutions': "
		"{'minItems': 2}}}}" },
#define WITH_PICTURE(key) \
	{ check_test, "{'if': {'required': ['" key "']}, 'then': {'anyOf': " \
		"[{'required': ['reference']}, " \
		"{'required': ['reference_uniforms']}]}}" }
	WITH_PICTURE("min_rmse"),
	WITH_PICTURE("mask"),
#define METRIC(name, word, key, is_higher_better, lowest, highest, text) \
	WITH_PICTURE(key),
#include "project/metric.def"
#undef METRIC
#undef WITH_PICTURE
#define ASSERTED(key) \
	"{'required': ['" key "'], 'properties': {'" key "': {'const': true}}}"
	{ check_test, "{'anyOf': [{'required': ['reference']}, "
		"{'required': ['reference_uniforms']}, {'required': "
		"['storage'], 'properties': {'storage': {'minItems': 1}}}, "
		"{'required': ['mean_range']}, {'required': ['max_gpu_ms']}, "
		"{'required': ['max_pass_gpu_ms'], 'properties': "
		"{'max_pass_gpu_ms': {'minProperties': 1}}}, "
		ASSERTED("baseline") ", "
		ASSERTED("assert_no_nan") ", " ASSERTED("assert_no_inf") ", "
		ASSERTED("assert_deterministic") ", "
		ASSERTED("assert_resolution_independent") ", "
		ASSERTED("assert_state_roundtrip") "]}" },
#undef ASSERTED

	{ check_root, "{'properties': {'pass': {'contains': {'properties': "
		"{'kind': {'const': 'image'}}, 'required': ['kind']}, "
		"'maxContains': 1}}}" },
};
/* clang-format on */

static cJSON *parse(const char *rule)
{
	char *text = xstrdup(rule);
	for (char *p = text; *p; p++)
		if (*p == '\'')
			*p = '"';
	cJSON *json = cJSON_Parse(text);
	if (!json)
		BUG("a rule of the schema is no JSON: %s", rule);
	free(text);
	return json;
}

/* No channel twice: of each at most one input. */
static void add_channels(cJSON *all)
{
	for (int i = 0; i < LIMIT_CHANNELS; i++) {
		char *text =
		    xasprintf("{'properties': {'input': {'contains': "
			      "{'properties': {'channel': {'const': %d}}, 'required': "
			      "['channel']}, 'minContains': 0, 'maxContains': 1}}}",
			i);
		cJSON_AddItemToArray(all, parse(text));
		free(text);
	}
}

/* As many buffer and compute passes as a state file takes. */
static void add_buffers(cJSON *all)
{
	char *text =
	    xasprintf("{'properties': {'pass': {'contains': "
		      "{'properties': {'kind': {'enum': ['buffer', 'compute']}}, "
		      "'required': ['kind']}, 'minContains': 0, "
		      "'maxContains': %d}}}",
		LIMIT_STATE_BUFFERS);
	cJSON_AddItemToArray(all, parse(text));
	free(text);
}

static int is_refused(const char *name, enum dialect dialect)
{
	return uniform_is_reserved(name, dialect) ||
	    word_fault(name, dialect == DIALECT_ESSL ? WORD_IN_ESSL : WORD_IN_GLSL);
}

/* A name into the list of those that both dialects refuse, or one alone. */
static void sort_name(const char *name, cJSON *const list[3])
{
	int essl = is_refused(name, DIALECT_ESSL);
	int glsl = is_refused(name, DIALECT_GLSL);
	if (essl || glsl)
		cJSON_AddItemToArray(list[essl && glsl ? 0
					     : essl    ? 1
						       : 2],
		    cJSON_CreateString(name));
}

static void sort_names(cJSON *const list[3])
{
	static const struct {
		const char *head;
		int last;
	} numbered[] = { { "iChannel", 15 }, { "iOutput", 7 }, { "iCh", 3 } };
	for (size_t i = 0; i < nword; i++)
		sort_name(words[i].text, list);
	for (size_t i = 0; word_generated(i); i++)
		sort_name(word_generated(i), list);
	for (size_t i = 0; uniform_builtin(i); i++)
		sort_name(uniform_builtin(i), list);
	for (size_t i = 0; i < sizeof numbered / sizeof *numbered; i++)
		for (int k = 0; k <= numbered[i].last; k++) {
			char *name = xasprintf("%s%d", numbered[i].head, k);
			sort_name(name, list);
			free(name);
		}
}

/* {"uniform": {"items": {"properties": {"name": {"not": {"enum": list}}}}}} */
static cJSON *not_as_names(cJSON *list)
{
	cJSON *json = parse("{'properties': {'uniform': {'items': {'properties': "
			    "{'name': {'not': {}}}}}}}");
	static const char *const path[] = {
		"properties",
		"uniform",
		"items",
		"properties",
		"name",
		"not",
	};
	cJSON *at = json;
	for (size_t i = 0; i < sizeof path / sizeof *path; i++)
		at = cJSON_GetObjectItemCaseSensitive(at, path[i]);
	cJSON_AddItemToObject(at, "enum", list);
	return json;
}

static void add_names(cJSON *all)
{
	cJSON *list[3];
	static const char *const dialect[] = { NULL, "essl", "glsl" };
	for (int i = 0; i < 3; i++)
		list[i] = cJSON_CreateArray();
	sort_names(list);
	cJSON_AddItemToArray(all, not_as_names(list[0]));
	for (int i = 1; i < 3; i++) {
		char *text =
		    xasprintf("{'if': {'properties': {'shader': "
			      "{'properties': {'dialect': {'const': '%s'}}, "
			      "'required': ['dialect']}}, 'required': ['shader']}}",
			dialect[i]);
		cJSON *json = parse(text);
		cJSON_AddItemToObject(json, "then", not_as_names(list[i]));
		cJSON_AddItemToArray(all, json);
		free(text);
	}
}

void schema_add_rules(cJSON *json, const struct table *table)
{
	cJSON *all = cJSON_CreateArray();
	int is_root = table == &manifest_root;
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (rules[i].check == (is_root ? check_root : table->check))
			cJSON_AddItemToArray(all, parse(rules[i].text));
	if (table->check == check_pass)
		add_channels(all);
	if (is_root) {
		add_buffers(all);
		add_names(all);
	}
	if (all->child)
		cJSON_AddItemToObject(json, "allOf", all);
	else
		cJSON_Delete(all);
}

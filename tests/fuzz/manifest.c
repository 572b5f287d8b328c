/*
 * Manifests, as JSON and as TOML. What loads is written, must load again and is
 * then written the same; its variants are made.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "project/manifest.h"
#include "project/variant.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void make_variants(const struct manifest *m)
{
	struct value *value = xcalloc(m->nuniform, sizeof *value);
	for (size_t i = 0; i < m->ntrace && i < 16; i++) {
		struct variant v;
		struct err err = ERR_INIT;
		struct sha256 id;
		uint8_t key[3][256];
		float four[4];
		if (variant_init(&v, m, &m->trace[i], NULL, &err))
			BUG("%s", err.message);
		variant_id(&v, &id);
		variant_values(&v, m->trace[i].frame[0], value);
		variant_keys(&v, m->trace[i].frame[0], key);
		variant_mouse(&v, m->trace[i].frame[0], four);
		variant_date(&v, m->trace[i].frame[0], four);
		if (!(four[1] >= 0 && four[1] < 12 && four[2] >= 1 && four[2] < 32 &&
			four[3] >= 0 && four[3] <= 86400))
			BUG("month %g day %g second %g", (double)four[1], (double)four[2],
			    (double)four[3]);
		cJSON_Delete(variant_manifest(&v));
		variant_release(&v);
	}
	free(value);
}

static char *written(const struct manifest *m)
{
	cJSON *json = manifest_to_json(m, MANIFEST_ALL);
	char *text = cJSON_PrintUnformatted(json);
	cJSON_Delete(json);
	return text;
}

/* Takes the document. */
static void load(struct doc *doc)
{
	struct manifest m, again;
	struct errs errs = ERRS_INIT;
	if (!manifest_from_doc(doc, DIALECT_GLSL, &m, &errs)) {
		struct doc copy;
		struct err err = ERR_INIT;
		make_variants(&m);
		char *text = written(&m);
		if (json_read("again", text, strlen(text), JSON_PLAIN, &copy, &err))
			BUG("%s in %s", err.message, text);
		if (manifest_from_doc(&copy, DIALECT_ESSL, &again, &errs))
			BUG("%s: %s in %s", errs.err[0].key, errs.err[0].message, text);
		char *twice = written(&again);
		if (strcmp(text, twice) != 0)
			BUG("written as %s, then as %s", text, twice);
		free(text);
		free(twice);
		manifest_release(&again);
		manifest_release(&m);
		doc_release(&copy);
	} else if (!errs.nerr) {
		BUG("refused without a reason");
	}
	errs_release(&errs);
	doc_release(doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct doc doc;
	struct err err = ERR_INIT;
	if (!json_read("input", (const char *)data, size, JSON_COMMENTS, &doc, &err))
		load(&doc);
	err_release(&err);
	if (!toml_read("input", (const char *)data, size, &doc, &err))
		load(&doc);
	err_release(&err);
	return 0;
}

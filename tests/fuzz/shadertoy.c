/* Exports of the Shadertoy site: what is read loads as a manifest. */

#include <stdint.h>

#include "project/manifest.h"
#include "import/shadertoy.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = ERR_INIT;
	struct errs errs = ERRS_INIT;
	struct tree *tree = NULL;
	struct manifest m;
	char *text = xstrndup((const char *)data, size);
	int rc = shadertoy_read("export.json", text, size, NULL, &tree, &err);
	if ((rc < 0) != (err.message != NULL) || (rc < 0) != (tree == NULL))
		BUG("status %d, message %s", rc, err.message);
	if (!rc) {
		if (manifest_load(tree, "stbuild.json", NULL, &m, &errs) < 0)
			BUG("what was made does not load: %s", errs.err[0].message);
		manifest_release(&m);
	}
	errs_release(&errs);
	err_release(&err);
	tree_free(tree);
	free(text);
	return 0;
}

/* Lint of any text: findings have places within it. */

#include <stdint.h>
#include <string.h>

#include "glsl/lint.h"
#include "project/doc.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char manifest_text[] =
	"{\"format\": 1, \"project\": {\"name\": \"t\"}, \"pass\": [{\"name\": "
	"\"i\", \"kind\": \"image\", \"source\": \"i\"}]}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct doc doc = { 0 };
	struct manifest m;
	struct errs errs = ERRS_INIT;
	struct err err = ERR_INIT;
	struct diagnostics d = { NULL, 0, 0 };
	if (json_read("t.json", manifest_text, strlen(manifest_text),
		JSON_PLAIN, &doc, &err) < 0
		|| manifest_from_doc(&doc, DIALECT_GLSL, &m, &errs))
		BUG("the manifest does not load");
	char *file[] = { "generated text", "i" };
	char *text = xstrndup((const char *)data, size);
	char *whole = xasprintf("#line 1 1\n%s", text);
	struct source source = { whole, strlen(whole), file, 2 };
	lint_source(&m, 0, &source, &d);
	for (size_t i = 0; i < d.nitem; i++)
		if (d.item[i].line < 1 || d.item[i].column < 1
			|| d.item[i].npass != 1)
			BUG("a finding without place");
	diagnostics_release(&d);
	manifest_release(&m);
	doc_release(&doc);
	errs_release(&errs);
	free(whole);
	free(text);
	return 0;
}

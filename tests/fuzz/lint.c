/* Lint of any text: findings have places within it. */

#include <stdint.h>
#include <string.h>

#include "glsl/lint.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lint_findings d = { NULL, 0, 0 };
	struct lint_facts facts = { .entry = "mainImage", .is_site = 1, .is_image = 1 };
	char *file[] = { "generated text", "i" };
	char *text = xstrndup((const char *)data, size);
	char *whole = xasprintf("#line 1 1\n%s", text);
	struct source source = { whole, strlen(whole), file, 2 };
	lint_source(&facts, &source, &d);
	for (size_t i = 0; i < d.nitem; i++)
		if (d.item[i].line < 1 || d.item[i].column < 1)
			BUG("a finding without place");
	lint_findings_release(&d);
	free(whole);
	free(text);
	return 0;
}

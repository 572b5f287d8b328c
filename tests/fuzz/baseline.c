/* The file of baselines: what is read is written and read again as the same. */

#include <stdint.h>
#include <string.h>

#include "util/mem.h"
#include "verify/baseline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct baselines a = { 0 }, b = { 0 };
	struct buf first = BUF_INIT, second = BUF_INIT;
	struct err err = ERR_INIT;

	if (baselines_read(&a, "f", (const char *)data, size, &err)) {
		if (!err.message || !err.file || err.line < 1)
			BUG("a fault without its place");
		goto out;
	}
	baselines_print(&a, &first);
	if (baselines_read(&b, "g", first.data, first.len, &err))
		BUG("%s: %s", buf_str(&first), err.message);
	baselines_print(&b, &second);
	if (first.len != second.len ||
	    (first.len && memcmp(first.data, second.data, first.len) != 0))
		BUG("written otherwise: %s", buf_str(&second));
out:
	baselines_release(&a);
	baselines_release(&b);
	buf_release(&first);
	buf_release(&second);
	err_release(&err);
	return 0;
}

/*
 * record STORE BUNDLE FILE...: enters a bundle with its files into a store,
 * as a capture would, for tests of what is done with recorded bundles.
 */

#include <stdio.h>
#include <string.h>

#include "store/store.h"
#include "util/mem.h"

int main(int argc, char **argv)
{
	struct err err = ERR_INIT;
	struct store *store = NULL;
	if (argc < 3) {
		fprintf(stderr, "usage: record STORE BUNDLE FILE...\n");
		return 2;
	}
	struct bundle_row row = {
		.path = argv[2],
		.trace = "t",
		.file = xcalloc((size_t)argc, sizeof *row.file),
	};
	for (int i = 3; i < argc; i++)
		row.file[row.nfile++] = (struct bundle_file){
			.key = argv[i],
			.path = argv[i],
		};
	int failed = store_open(argv[1], STORE_BUILD, "record", &store, &err) ||
	    store_add_bundle(store, &row, &err);
	if (failed)
		fprintf(stderr, "record: %s\n", err.message);
	store_close(store);
	free(row.file);
	err_release(&err);
	return failed;
}

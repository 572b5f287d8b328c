#include "graph/record.h"

#include <stdlib.h>

void record_release(struct record *a)
{
	for (size_t i = 0; i < a->npass; i++) {
		free(a->pass[i].name);
		facts_release(&a->pass[i].fixed);
		facts_release(&a->pass[i].recipe);
		facts_release(&a->pass[i].base);
	}
	free(a->pass);
	facts_release(&a->driver);
	facts_release(&a->settings);
	facts_release(&a->files);
	*a = (struct record){ .npass = 0 };
}

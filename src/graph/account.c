#include "graph/account.h"

#include <stdlib.h>

void account_release(struct account *a)
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
	*a = (struct account){ .npass = 0 };
}

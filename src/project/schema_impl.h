#ifndef STBUILD_PROJECT_SCHEMA_IMPL_H
#define STBUILD_PROJECT_SCHEMA_IMPL_H

#include "manifest_keys.h"

/* Adds "allOf" with the rules that span keys of the table, if there are any. */
void schema_add_rules(cJSON *json, const struct table *table);

#endif

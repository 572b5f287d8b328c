#ifndef STBUILD_WHY_COMPARE_H
#define STBUILD_WHY_COMPARE_H

/* What two records of a bundle say of the change between them. */

#include "graph/record.h"
#include "graph/reason.h"

/*
 * Why the bundle of a record is not what another record would give: the
 * first things that differ on each path back from the image, and no more than
 * one reason for one cause. What only makes files be written anew is told when
 * there is nothing else. None when the records are equal.
 */
void record_compare(const struct record *was, const struct record *now,
    struct reasons *out);
/* What differs between two drivers' identities. */
void record_compare_drivers(const struct facts *was, const struct facts *now,
    struct reasons *out);

#endif

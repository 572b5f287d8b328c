#ifndef STBUILD_WHY_COMPARE_H
#define STBUILD_WHY_COMPARE_H

/* What two accounts of a bundle say of the change between them. */

#include "graph/account.h"
#include "graph/reason.h"

/*
 * Why the bundle of an account is not what another account would give: the
 * first things that differ on each path back from the image, and no more than
 * one reason for one cause. What only makes files be written anew is told when
 * there is nothing else. None when the accounts are equal.
 */
void account_compare(const struct account *was, const struct account *now,
	struct reasons *out);
/* What differs between two drivers' identities. */
void account_compare_drivers(const struct facts *was, const struct facts *now,
	struct reasons *out);

#endif

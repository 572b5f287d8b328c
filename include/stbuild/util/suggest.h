#ifndef STBUILD_UTIL_SUGGEST_H
#define STBUILD_UTIL_SUGGEST_H

#include <stddef.h>

/*
 * The candidate nearest to word by edit distance (insert, delete, replace,
 * swap of neighbours; case counts half), or null when none is near: at most
 * one third of the word's length, and at least 1. candidate[] may hold nulls.
 */
const char *suggest(const char *word, const char *const *candidate, size_t n);

#endif

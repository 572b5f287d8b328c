#ifndef STBUILD_PROJECT_VALUE_H
#define STBUILD_PROJECT_VALUE_H

/* Values of uniforms: the types of the manifest and their text and JSON. */

#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

struct cJSON;
struct buf;

enum value_type {
	VALUE_FLOAT,
	VALUE_INT,
	VALUE_BOOL,
	VALUE_VEC2,
	VALUE_VEC3,
	VALUE_VEC4,
};

struct value {
	enum value_type type;
	double f[4]; /* floats; GL gets (float)f */
	int i;       /* INT, and BOOL as 0 or 1 */
};

/* "float", "vec2": as GLSL and the manifest spell it. */
const char *value_type_name(enum value_type type);
/* 1..4 */
int value_components(enum value_type type);

/*
 * From a command line: blanks trimmed, true/1/on and false/0/off, vectors
 * comma-separated. Only finite numbers. STATUS_INPUT otherwise.
 */
int value_parse(const char *text, enum value_type type, struct value *out,
    struct err *err) WARN_UNUSED;
/* From JSON: a number, a bool, or an array of as many numbers as components. */
int value_from_json(const struct cJSON *json, enum value_type type, struct value *out,
    struct err *err) WARN_UNUSED;
/* Owned by the caller. */
struct cJSON *value_to_json(const struct value *value);
/* "0.5", "true", "1, 0.5, 0": shortest digits that give the float back. */
void value_print(const struct value *value, struct buf *out);

/*
 * "10GiB", "500 MB", "1024": bytes, at most 2^53. "30d", "2w", "90": seconds.
 * 0, or -1 when it is no such thing. Letters of either case.
 */
int bytes_parse(const char *text, uint64_t *out);
int age_parse(const char *text, double *out);
/* "0 bytes", "3.4 MiB". */
void bytes_print(uint64_t n, struct buf *out);

/* Shortest decimal digits that read back as the same float or double. */
void print_float(float v, struct buf *out);
void print_double(double v, struct buf *out);

#endif

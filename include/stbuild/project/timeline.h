#ifndef STBUILD_PROJECT_TIMELINE_H
#define STBUILD_PROJECT_TIMELINE_H

/*
 * Timelines by frame. What is in force at a frame is found by bisection, so
 * that N steps over N frames cost no N x N.
 */

#include <stddef.h>
#include <stdint.h>

#include "project/manifest.h"

struct timeline_index;
/* Both arguments of it are borrowed. */
struct timeline_index *timeline_index_new(const struct timeline *t, size_t nuniform);
void timeline_index_free(struct timeline_index *x);

/* What the timeline sets uniform u to at a frame, or null: nothing yet. */
const struct value *timeline_value(const struct timeline_index *x, size_t u, int frame);
/* The mouse as last said, or null. */
const float *timeline_mouse(const struct timeline_index *x, int frame);
/* As variant_keys. */
void timeline_keys(const struct timeline_index *x, int frame, uint8_t out[3][256]);

/*
 * The part of a timeline that frames from .. to are drawn with: what is in
 * force at "from" as one step, and what follows up to "to". All steps with
 * keys stay, as toggled keys count all presses.
 */
struct timeline_part {
	struct timeline timeline;   /* its steps borrow from the whole */
	struct assignment *set;     /* of the step that was made, or null */
	struct timeline_step *step; /* timeline's, where they were made */
};
void timeline_cut(const struct timeline *t, size_t nuniform, int from, int to,
    struct timeline_part *out);
void timeline_part_release(struct timeline_part *p);

#endif

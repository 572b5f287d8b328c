#ifndef STBUILD_RENDER_DRAW_H
#define STBUILD_RENDER_DRAW_H

/*
 * Draws and dispatches of the worker.
 *
 * A draw is three vertices without attributes: the vertex text makes the
 * triangle that covers the viewport from gl_VertexID. Nothing is cleared, so
 * a pixel that is discarded keeps what the target held. What the worker sets
 * beside the uniforms of the draw: iChannelN = N; "int stb_face" = 0..5 (+X -X
 * +Y -Y +Z -Z) in a draw with is_cube; "int iIteration" = 0.. in each dispatch
 * of a compute draw. Image iOutputK is expected at unit K.
 */

#include "render/flight.h"
#include "render/gl.h"
#include "render/worker.h"

/*
 * Executes one draw and puts it in flight. Waits for what came before where
 * the driver may hold up the call itself: so that a draw that takes too long
 * is the oldest one unfinished.
 */
int draw_run(struct gl *gl, struct flight *f, const struct draw *draw, const char *label,
    struct err *err) WARN_UNUSED;

#endif

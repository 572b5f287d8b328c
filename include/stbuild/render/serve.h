#ifndef STBUILD_RENDER_SERVE_H
#define STBUILD_RENDER_SERVE_H

/*
 * The worker process: makes a context, then executes commands from descriptor
 * fd until it closes. Returns the exit status. Started as "stbuild
 * --worker" by worker_open.
 */
int serve(int fd);

#endif

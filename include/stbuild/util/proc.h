#ifndef STBUILD_UTIL_PROC_H
#define STBUILD_UTIL_PROC_H

/* This process, its signals, and its children. */

#include <stdint.h>
#include <sys/types.h>

#include "util/err.h"

/* Remembers argv[0]; call first in main. */
void proc_init(const char *argv0);
/* Path of the running program, to start it again. Borrowed. */
const char *proc_self(void);

/*
 * Starts argv[0] with a stream socket pair between parent and child; the
 * child's end is descriptor 3. stdin and stdout are /dev/null, stderr is
 * kept. *fd is the parent's end, close-on-exec.
 */
int proc_spawn(const char *const argv[], pid_t *pid, int *fd,
    struct err *err) WARN_UNUSED;
/* Kills (SIGKILL) and reaps a child; pid <= 0 is ignored. */
void proc_kill(pid_t pid);
/* Waits for the end of a child; "exit status 3", "signal 11 (SIGSEGV)". */
char *proc_wait(pid_t pid);

/*
 * Catches SIGINT, SIGTERM and SIGHUP through a self-pipe. The descriptor is
 * readable once one came; proc_signal says which (0: none yet).
 */
int proc_catch_signals(struct err *err) WARN_UNUSED;
int proc_signal_fd(void);
int proc_signal(void);

/* Number of processors in use, at least 1. */
int proc_ncpu(void);
/* Monotonic nanoseconds. */
long long proc_now_ns(void);

#endif

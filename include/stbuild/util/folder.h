#ifndef STBUILD_UTIL_FOLDER_H
#define STBUILD_UTIL_FOLDER_H

/*
 * Folders that several processes write to. Locks are the kernel's (flock on
 * the folder itself): they end with their process, and leave no file behind.
 * Any thread.
 */

/*
 * Waits for the folder's exclusive lock: a descriptor to close, or -1 where the
 * file system has no such locks (then nobody waits). Who waits long says so; a
 * signal caught by proc.h ends the wait with -1.
 */
int folder_lock(const char *path);
/* The same for a folder that is nobody's yet, at once. */
int folder_claim(const char *path);
/*
 * Removes what killed processes left in a folder: ".stbuild-PID-N.tmp" and
 * ".stbuild-PID-N.sttrace.tmp". What a running process of that number holds,
 * or may be writing, stays.
 */
void folder_clean(const char *path);

#endif

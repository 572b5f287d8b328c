#ifndef STBUILD_UTIL_POOL_H
#define STBUILD_UTIL_POOL_H

/*
 * A few threads that take bytes and give bytes: hashing, encoding, file
 * writing beside the draws. Jobs start in the order added; each runs on some
 * thread and must touch nothing but its own data. Finished jobs are collected
 * by the owner's thread.
 */

struct pool;

struct pool_job {
	void (*run)(struct pool_job *job); /* on a thread */
	void *data;                        /* the owner's */
	struct pool_job *next;             /* the pool's */
};

/* n threads, at least 1. */
struct pool *pool_new(int n);
/* Waits for all jobs, then ends the threads. */
void pool_free(struct pool *pool);
/* job is the caller's until it comes back from pool_take. */
void pool_add(struct pool *pool, struct pool_job *job);
/* A finished job, or null. With wait, null only when none is under way. */
struct pool_job *pool_take(struct pool *pool, int wait);
/*
 * A descriptor that is readable while finished jobs wait; for poll(). The
 * pool's own.
 */
int pool_fd(const struct pool *pool);

#endif

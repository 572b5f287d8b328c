#include "util/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "util/mem.h"

struct queue {
	struct pool_job *first, *last;
};

struct pool {
	pthread_mutex_t lock;    /* guards all that changes */
	pthread_cond_t work;     /* todo has a job, or the end came */
	pthread_cond_t finished; /* done has a job */
	struct queue todo, done;
	int npending; /* added and not taken */
	int is_ending;
	int pipe[2];  /* holds one byte while done has jobs */
	int has_byte; /* it does; else whoever polls finds out later */
	pthread_t *thread;
	int nthread;
};

static void put(struct queue *q, struct pool_job *job)
{
	job->next = NULL;
	if (q->last)
		q->last->next = job;
	else
		q->first = job;
	q->last = job;
}

static struct pool_job *get(struct queue *q)
{
	struct pool_job *job = q->first;
	if (!job)
		return NULL;
	q->first = job->next;
	if (!q->first)
		q->last = NULL;
	job->next = NULL;
	return job;
}

/* With the lock held. */
static void finish(struct pool *pool, struct pool_job *job)
{
	if (!pool->done.first) {
		ssize_t n;
		do
			n = write(pool->pipe[1], "", 1);
		while (n < 0 && errno == EINTR);
		pool->has_byte = n == 1;
	}
	put(&pool->done, job);
	pthread_cond_signal(&pool->finished);
}

static void *run_jobs(void *arg)
{
	struct pool *pool = arg;
	pthread_mutex_lock(&pool->lock);
	for (;;) {
		struct pool_job *job = get(&pool->todo);
		if (job) {
			pthread_mutex_unlock(&pool->lock);
			job->run(job);
			pthread_mutex_lock(&pool->lock);
			finish(pool, job);
		} else if (pool->is_ending) {
			break;
		} else {
			pthread_cond_wait(&pool->work, &pool->lock);
		}
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

struct pool *pool_new(int n)
{
	struct pool *pool = xcalloc(1, sizeof *pool);
	if (pipe(pool->pipe) < 0) {
		fprintf(stderr, "stbuild: cannot start threads: %s\n", strerror(errno));
		_Exit(3);
	}
	fcntl(pool->pipe[0], F_SETFD, FD_CLOEXEC);
	fcntl(pool->pipe[1], F_SETFD, FD_CLOEXEC);
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->work, NULL);
	pthread_cond_init(&pool->finished, NULL);
	if (n < 1)
		n = 1;
	pool->thread = xcalloc((size_t)n, sizeof *pool->thread);

	/* Signals are the main thread's. */
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	while (pool->nthread < n &&
	    !pthread_create(&pool->thread[pool->nthread], NULL, run_jobs, pool))
		pool->nthread++;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return pool;
}

void pool_free(struct pool *pool)
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->is_ending = 1;
	pthread_cond_broadcast(&pool->work);
	pthread_mutex_unlock(&pool->lock);
	for (int i = 0; i < pool->nthread; i++)
		pthread_join(pool->thread[i], NULL);
	pthread_cond_destroy(&pool->finished);
	pthread_cond_destroy(&pool->work);
	pthread_mutex_destroy(&pool->lock);
	close(pool->pipe[0]);
	close(pool->pipe[1]);
	free(pool->thread);
	free(pool);
}

void pool_add(struct pool *pool, struct pool_job *job)
{
	int is_threaded = pool->nthread > 0;
	if (!is_threaded) /* the system gave us none: do it here */
		job->run(job);
	pthread_mutex_lock(&pool->lock);
	pool->npending++;
	if (is_threaded) {
		put(&pool->todo, job);
		pthread_cond_signal(&pool->work);
	} else {
		finish(pool, job);
	}
	pthread_mutex_unlock(&pool->lock);
}

struct pool_job *pool_take(struct pool *pool, int wait)
{
	pthread_mutex_lock(&pool->lock);
	while (wait && pool->npending && !pool->done.first)
		pthread_cond_wait(&pool->finished, &pool->lock);
	struct pool_job *job = get(&pool->done);
	if (job) {
		pool->npending--;
		if (!pool->done.first && pool->has_byte) {
			char byte;
			while (read(pool->pipe[0], &byte, 1) < 0 && errno == EINTR)
				;
			pool->has_byte = 0;
		}
	}
	pthread_mutex_unlock(&pool->lock);
	return job;
}

int pool_fd(const struct pool *pool)
{
	return pool->pipe[0];
}

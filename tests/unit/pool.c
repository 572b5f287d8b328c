#include <poll.h>

#include "util/mem.h"
#include "util/pool.h"
#include "test.h"

#define NJOB 200

struct work {
	struct pool_job job;
	unsigned long in, out;
};

static void square(struct pool_job *job)
{
	struct work *work = job->data;
	work->out = work->in * work->in;
}

static int is_readable(const struct pool *pool, int timeout_ms)
{
	struct pollfd p = { pool_fd(pool), POLLIN, 0 };
	return poll(&p, 1, timeout_ms) == 1 && p.revents & POLLIN;
}

static void add_all(struct pool *pool, struct work *work)
{
	for (unsigned long i = 0; i < NJOB; i++) {
		work[i] = (struct work){ { square, &work[i], NULL }, i, 0 };
		pool_add(pool, &work[i].job);
	}
}

static void runs_all(int nthread)
{
	struct work *work = xcalloc(NJOB, sizeof *work);
	struct pool *pool = pool_new(nthread);
	CHECK(!pool_take(pool, 0));
	CHECK(!pool_take(pool, 1));
	add_all(pool, work);
	int n = 0, right = 0;
	struct pool_job *job;
	while ((job = pool_take(pool, 1))) {
		const struct work *done = job->data;
		n++;
		right += done->out == done->in * done->in;
		/* One thread keeps the order. */
		if (nthread < 2 && (int)done->in != n - 1)
			right = -NJOB;
	}
	CHECK_INT(n, NJOB);
	CHECK_INT(right, NJOB);
	CHECK(!pool_take(pool, 1));
	CHECK(!is_readable(pool, 0));
	pool_free(pool);
	free(work);
}

static void wakes_poll(void)
{
	struct work *work = xcalloc(NJOB, sizeof *work);
	struct pool *pool = pool_new(2);
	CHECK(!is_readable(pool, 0));
	add_all(pool, work);
	int n = 0;
	while (n < NJOB) {
		if (!CHECK(is_readable(pool, 10000)))
			break;
		while (pool_take(pool, 0))
			n++;
	}
	CHECK_INT(n, NJOB);
	CHECK(!is_readable(pool, 0));
	pool_free(pool);
	free(work);
}

static void free_waits(void)
{
	struct work *work = xcalloc(NJOB, sizeof *work);
	struct pool *pool = pool_new(3);
	add_all(pool, work);
	pool_free(pool);
	int right = 0;
	for (unsigned long i = 0; i < NJOB; i++)
		right += work[i].out == i * i;
	CHECK_INT(right, NJOB);
	free(work);
	pool_free(NULL);
}

int main(void)
{
	runs_all(0);
	runs_all(1);
	runs_all(4);
	wakes_poll();
	free_waits();
	return test_done();
}

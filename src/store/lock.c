#include "store/db.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/log.h"
#include "util/mem.h"
#include "util/proc.h"

/*
 * Byte 0 of the lock file is the lock, shared or exclusive. Byte 1 is held by
 * who waits for the exclusive lock, so that a stream of builders cannot keep
 * it out for ever. Behind them are records of who holds byte 0: "pid host
 * command", padded with NULs; a record is valid while its first byte is locked,
 * so what a killed process wrote means nothing.
 */
#define MAIN_BYTE 0
#define PENDING_BYTE 1
#define RECORD_SIZE 256
#define NRECORD 64
#define POLL_MS 50
#define BUSY_MS 5
#define BUSY_LOG_NS 2000000000LL /* and as often */

static int lock_byte(int fd, off_t at, short type)
{
	struct flock l = { .l_type = type,
		.l_whence = SEEK_SET,
		.l_start = at,
		.l_len = 1 };
	int rc;
	do
		rc = fcntl(fd, F_SETLK, &l);
	while (rc < 0 && errno == EINTR);
	return rc;
}

static off_t record_at(int i)
{
	return (off_t)RECORD_SIZE * (i + 1);
}

int lock_open(const char *path, int *fd, struct err *err)
{
	*fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (*fd < 0)
		return err_errno(err, STATUS_MACHINE, "cannot open '%s'", path);
	return 0;
}

/* Says who we are. Without it others only wait for "another process". */
static void write_record(int fd, const char *command)
{
	char host[64] = "", record[RECORD_SIZE] = "";
	if (gethostname(host, sizeof host - 1) < 0 || !host[0])
		strcpy(host, "?");
	snprintf(record, sizeof record, "%ld %s %s", (long)getpid(), host, command);
	for (int i = 0; i < NRECORD; i++) {
		if (lock_byte(fd, record_at(i), F_WRLCK) < 0)
			continue;
		if (pwrite(fd, record, sizeof record, record_at(i)) < 0)
			lock_byte(fd, record_at(i), F_UNLCK);
		return;
	}
}

/* "pid 123 on HOST: stbuild capture" of somebody who holds the lock. */
static char *holder(int fd)
{
	for (int i = 0; i < NRECORD; i++) {
		struct flock l = { .l_type = F_WRLCK,
			.l_whence = SEEK_SET,
			.l_start = record_at(i),
			.l_len = 1 };
		char record[RECORD_SIZE + 1] = "", host[RECORD_SIZE];
		long pid;
		int at = 0;
		if (fcntl(fd, F_GETLK, &l) < 0 || l.l_type == F_UNLCK)
			continue;
		if (pread(fd, record, RECORD_SIZE, record_at(i)) < 0)
			break;
		/* Anybody may have written to the file. */
		for (char *c = record; *c; c++)
			if ((unsigned char)*c < ' ' || *c == 127)
				*c = '?';
		if (sscanf(record, "%ld %255s %n", &pid, host, &at) == 2 && at)
			return xasprintf("pid %ld on %s: %s", pid, host, record + at);
	}
	return xstrdup("another process");
}

static int try_lock(int fd, int is_exclusive)
{
	short type = is_exclusive ? F_WRLCK : F_RDLCK;
	if (lock_byte(fd, PENDING_BYTE, type) < 0)
		return -1;
	int rc = lock_byte(fd, MAIN_BYTE, type);
	int error = errno;
	/* Who waits for the exclusive lock keeps the place in the queue. */
	if (!rc || !is_exclusive)
		lock_byte(fd, PENDING_BYTE, F_UNLCK);
	errno = error;
	return rc;
}

int lock_take(int fd, const char *path, int is_exclusive, int is_try, const char *command,
    struct err *err)
{
	char *said = NULL;
	int rc = 0;
	while (!rc && try_lock(fd, is_exclusive) < 0) {
		if (errno != EACCES && errno != EAGAIN) {
			rc = err_errno(err, STATUS_MACHINE, "cannot lock '%s'", path);
			break;
		}
		char *who = holder(fd);
		if (is_try) {
			rc = err_set(err, STATUS_MACHINE, "the store is in use by %s",
			    who);
		} else if (proc_signal()) {
			rc = err_set(err, STATUS_MACHINE, "stopped while waiting for %s",
			    who);
		} else {
			if (!said || strcmp(said, who) != 0)
				log_info("stbuild: waiting for %s", who);
			free(said);
			said = who;
			who = NULL;
			struct pollfd p = { .fd = proc_signal_fd(), .events = POLLIN };
			poll(&p, 1, POLL_MS);
		}
		free(who);
	}
	free(said);
	if (rc < 0)
		lock_byte(fd, PENDING_BYTE, F_UNLCK);
	else
		write_record(fd, command);
	return rc;
}

void lock_share(int fd)
{
	lock_byte(fd, MAIN_BYTE, F_RDLCK);
}

void lock_drop(int fd)
{
	struct flock l = { .l_type = F_UNLCK, .l_whence = SEEK_SET };
	fcntl(fd, F_SETLK, &l);
}

int lock_busy(void *data, int ntry)
{
	struct store *s = data;
	long long now = proc_now_ns();
	if (proc_signal())
		return 0;
	if (!ntry)
		s->busy_since = s->busy_logged = now;
	if (now - s->busy_logged > BUSY_LOG_NS) {
		char *who =
		    s->lock_fd >= 0 ? holder(s->lock_fd) : xstrdup("another process");
		if (s->busy_logged == s->busy_since)
			log_info("stbuild: waiting for the database, which is being"
				 " written to; it is in use by %s",
			    who);
		s->busy_logged = now + 3600 * 1000000000LL;
		free(who);
	}
	struct pollfd p = { .fd = proc_signal_fd(), .events = POLLIN };
	poll(&p, 1, BUSY_MS);
	return 1;
}

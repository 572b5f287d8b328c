#include "util/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "util/err.h"
#include "util/fs.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/proc.h"

#define POLL_MS 5
#define QUIET_NS 1000000000LL /* waits are told from here on */
#define CLAIM_S 10            /* from a folder's making to its claim */
#define WRITE_S 3600          /* no lone file is written for longer */

static int open_folder(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int try_lock(int fd)
{
	int rc;
	do
		rc = flock(fd, LOCK_EX | LOCK_NB);
	while (rc < 0 && errno == EINTR);
	return rc;
}

int folder_lock(const char *path)
{
	/* The user's own folder may be a link. */
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long long start = proc_now_ns();
	int has_logged = 0;
	while (fd >= 0 && try_lock(fd) < 0) {
		if (errno != EWOULDBLOCK || proc_signal()) {
			close(fd);
			return -1;
		}
		if (!has_logged && proc_now_ns() - start > QUIET_NS) {
			log_info("stbuild: waiting for another stbuild that"
				 " writes in '%s'",
			    path);
			has_logged = 1;
		}
		poll(NULL, 0, POLL_MS);
	}
	return fd;
}

int folder_claim(const char *path)
{
	int fd = open_folder(path);
	if (fd >= 0 && try_lock(fd) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* 1 when the name is one of ours; the number of its process. */
static int is_aside(const char *name, long *pid)
{
	static const char *const form[] = {
		".stbuild-%ld-%u.tmp",
		".stbuild-%ld-%u.sttrace.tmp",
	};
	for (size_t i = 0; i < sizeof form / sizeof *form; i++) {
		unsigned serial;
		char same[80];
		if (sscanf(name, form[i], pid, &serial) != 2 || *pid <= 0 ||
		    *pid > INT_MAX)
			continue;
		snprintf(same, sizeof same, form[i], *pid, serial);
		if (strcmp(same, name) == 0)
			return 1;
	}
	return 0;
}

/*
 * 1 when nobody is at work on it. A process of its number may be another one
 * by now: numbers come again, in containers soon.
 */
static int is_left(const char *path, long pid)
{
	struct stat st;
	if (kill((pid_t)pid, 0) < 0 && errno == ESRCH)
		return 1;
	if (lstat(path, &st) < 0)
		return 0;
	time_t age = time(NULL) - st.st_ctime;
	if (!S_ISDIR(st.st_mode))
		return age > WRITE_S;
	if (age <= CLAIM_S)
		return 0;
	int fd = folder_claim(path);
	if (fd < 0)
		return 0;
	close(fd);
	return 1;
}

void folder_clean(const char *path)
{
	DIR *dir = opendir(path);
	if (!dir)
		return;
	for (const struct dirent *d; (d = readdir(dir));) {
		long pid;
		if (!is_aside(d->d_name, &pid))
			continue;
		struct err err = ERR_INIT;
		char *full = fs_join(path, d->d_name);
		if (is_left(full, pid) && fs_remove(full, &err) < 0)
			log_verbose("%s", err.message);
		err_release(&err);
		free(full);
	}
	closedir(dir);
}

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/mem.h"
#include "util/proc.h"
#include "test.h"

/* What the children do: this program again, with the part's name. */
static int child(const char *part)
{
	char byte;
	if (strcmp(part, "echo") == 0) {
		while (read(3, &byte, 1) == 1)
			if (write(3, &byte, 1) != 1)
				return 9;
		return 7;
	}
	if (strcmp(part, "null") == 0) {
		/* stdin is empty, stdout is open, nothing is open above 3. */
		int ok = read(0, &byte, 1) == 0 && write(1, "x", 1) == 1;
		for (int fd = 4; fd < 64 && ok; fd++)
			ok = fcntl(fd, F_GETFD) < 0 && errno == EBADF;
		return ok ? 0 : 1;
	}
	if (strcmp(part, "crash") == 0) {
		signal(SIGSEGV, SIG_DFL);
		raise(SIGSEGV);
	}
	if (strcmp(part, "hang") == 0)
		for (;;)
			pause();
	return 99;
}

static void check_end(pid_t pid, const char *want)
{
	char *text = proc_wait(pid);
	CHECK_STR(text, want);
	free(text);
}

static pid_t start(const char *part, int *fd)
{
	struct err err = ERR_INIT;
	const char *argv[] = { proc_self(), part, NULL };
	pid_t pid = -1;
	if (!CHECK_INT(proc_spawn(argv, &pid, fd, &err), 0)) {
		fprintf(stderr, "\t%s\n", err.message);
		exit(1);
	}
	return pid;
}

static void spawns(void)
{
	int fd;
	pid_t pid = start("echo", &fd);
	char text[6] = "";
	CHECK_INT(write(fd, "hello", 5), 5);
	size_t n = 0;
	while (n < 5) {
		ssize_t got = read(fd, text + n, 5 - n);
		if (!CHECK(got > 0))
			break;
		n += (size_t)got;
	}
	CHECK_STR(text, "hello");
	CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
	check_end(pid, "exit status 7");

	pid = start("null", &fd);
	check_end(pid, "exit status 0");
	close(fd);
	pid = start("crash", &fd);
	check_end(pid, "signal 11 (SIGSEGV)");
	close(fd);
}

static void kills(void)
{
	int fd;
	char byte;
	pid_t pid = start("hang", &fd);
	proc_kill(pid);
	CHECK_INT(read(fd, &byte, 1), 0);
	CHECK_INT(waitpid(pid, NULL, 0), -1);
	close(fd);
	proc_kill(0);
	proc_kill(-1);
}

static void says_why_nothing_starts(void)
{
	struct err err = ERR_INIT;
	const char *argv[] = { "/nonexistent/program", NULL };
	pid_t pid;
	int fd;
	CHECK_INT(proc_spawn(argv, &pid, &fd, &err), -1);
	CHECK_STR(err.message,
	    "cannot start '/nonexistent/program': "
	    "No such file or directory");
	CHECK_INT(err.status, STATUS_MACHINE);
	err_release(&err);
	CHECK_INT(waitpid(-1, NULL, 0), -1);
}

static void catches_signals(void)
{
	struct err err = ERR_INIT;
	signal(SIGHUP, SIG_IGN);
	if (!CHECK_INT(proc_catch_signals(&err), 0))
		return;
	struct pollfd p = { proc_signal_fd(), POLLIN, 0 };
	raise(SIGHUP);
	CHECK_INT(poll(&p, 1, 0), 0);
	CHECK_INT(proc_signal(), 0);
	raise(SIGTERM);
	CHECK_INT(poll(&p, 1, 1000), 1);
	CHECK_INT(proc_signal(), SIGTERM);
	raise(SIGINT);
	CHECK_INT(proc_signal(), SIGTERM);
}

int main(int argc, char *argv[])
{
	proc_init(argv[0]);
	if (argc > 1)
		return child(argv[1]);
	/* What we inherit, as from make's job server, is not spawn's leak. */
	for (int fd = 4; fd < 64; fd++)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	spawns();
	kills();
	says_why_nothing_starts();
	catches_signals();
	CHECK(proc_ncpu() >= 1);
	long long before = proc_now_ns();
	CHECK(proc_now_ns() >= before && before > 0);
	return test_done();
}

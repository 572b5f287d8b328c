#include "util/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/mem.h"

/* Of fixed size, so that nothing is left to free at exit. */
static char self[4096];
static int signal_pipe[2] = { -1, -1 };
static volatile sig_atomic_t caught;

/* Where the shell found a program of this name. */
static void find_in_path(const char *name)
{
	const char *path = getenv("PATH");
	while (path && *path) {
		size_t len = strcspn(path, ":");
		int n = snprintf(self, sizeof self, "%.*s/%s", len ? (int)len : 1,
		    len ? path : ".", name);
		if (n > 0 && (size_t)n < sizeof self && !access(self, X_OK))
			return;
		path += len + (path[len] == ':');
	}
	self[0] = '\0';
}

void proc_init(const char *argv0)
{
	/* A file opened as descriptor 2 would receive our messages. */
	int fd;
	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= 2);
	if (fd > 2)
		close(fd);

	/* This name stays right after a rebuild has replaced the program. */
	static const char proc_exe[] = "/proc/self/exe";
	if (!access(proc_exe, X_OK)) {
		memcpy(self, proc_exe, sizeof proc_exe);
	} else if (strchr(argv0, '/')) {
		/* Absolute, because -C changes the folder. */
		char *path = realpath(argv0, NULL);
		if (path && strlen(path) < sizeof self)
			strcpy(self, path);
		free(path);
	} else {
		find_in_path(argv0);
	}
}

const char *proc_self(void)
{
	return self;
}

static int cloexec_pair(int pair[2], int is_socket)
{
	int failed = is_socket ? socketpair(AF_UNIX, SOCK_STREAM, 0, pair) : pipe(pair);
	if (failed) {
		pair[0] = pair[1] = -1;
		return -1;
	}
	fcntl(pair[0], F_SETFD, FD_CLOEXEC);
	fcntl(pair[1], F_SETFD, FD_CLOEXEC);
	return 0;
}

static void close_pair(int pair[2])
{
	for (int i = 0; i < 2; i++)
		if (pair[i] >= 0)
			close(pair[i]);
}

/* Between fork and exec; only what is safe in a signal handler. */
__attribute__((noreturn)) static void run_child(const char *const argv[], int socket,
    int report)
{
	/* Out of the way of 0, 1 and 3. */
	int moved = fcntl(report, F_DUPFD_CLOEXEC, 10);
	if (moved >= 0)
		report = moved;
	socket = fcntl(socket, F_DUPFD_CLOEXEC, 10);
	int null = open("/dev/null", O_RDWR);
	if (moved >= 0 && socket >= 0 && null >= 0 && dup2(null, 0) == 0 &&
	    dup2(null, 1) == 1 && dup2(socket, 3) == 3) {
		if (null > 3)
			close(null);
		sigset_t none;
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		signal(SIGPIPE, SIG_DFL);
		/* exec does not change the strings; its type is historical. */
		union {
			const char *const *in;
			char *const *out;
		} args = { argv };
		execv(argv[0], args.out);
	}
	int error = errno;
	if (write(report, &error, sizeof error) < 0)
		_exit(126);
	_exit(127);
}

int proc_spawn(const char *const argv[], pid_t *pid, int *fd, struct err *err)
{
	int stream[2] = { -1, -1 }, report[2] = { -1, -1 };
	int rc = -1;
	pid_t child = -1;
	if (cloexec_pair(stream, 1) < 0 || cloexec_pair(report, 0) < 0 ||
	    (child = fork()) < 0) {
		err_errno(err, STATUS_MACHINE, "cannot start '%s'", argv[0]);
		goto out;
	}
	if (!child)
		run_child(argv, stream[1], report[1]);

	/* The end of file here says that exec went well. */
	close(report[1]);
	report[1] = -1;
	int error;
	ssize_t n;
	do
		n = read(report[0], &error, sizeof error);
	while (n < 0 && errno == EINTR);
	if (n) {
		errno = n == sizeof error ? error : EIO;
		err_errno(err, STATUS_MACHINE, "cannot start '%s'", argv[0]);
		proc_kill(child);
		goto out;
	}
	*pid = child;
	*fd = stream[0];
	stream[0] = -1;
	rc = 0;
out:
	close_pair(stream);
	close_pair(report);
	return rc;
}

static int reap(pid_t pid, int *status)
{
	pid_t got;
	do
		got = waitpid(pid, status, 0);
	while (got < 0 && errno == EINTR);
	return got == pid ? 0 : -1;
}

void proc_kill(pid_t pid)
{
	if (pid <= 0)
		return;
	int status;
	kill(pid, SIGKILL);
	reap(pid, &status);
}

char *proc_wait(pid_t pid)
{
	static const struct {
		int number;
		const char *name;
	} names[] = {
		{ SIGABRT, "SIGABRT" },
		{ SIGALRM, "SIGALRM" },
		{ SIGBUS, "SIGBUS" },
		{ SIGFPE, "SIGFPE" },
		{ SIGHUP, "SIGHUP" },
		{ SIGILL, "SIGILL" },
		{ SIGINT, "SIGINT" },
		{ SIGKILL, "SIGKILL" },
		{ SIGPIPE, "SIGPIPE" },
		{ SIGQUIT, "SIGQUIT" },
		{ SIGSEGV, "SIGSEGV" },
		{ SIGSYS, "SIGSYS" },
		{ SIGTERM, "SIGTERM" },
		{ SIGTRAP, "SIGTRAP" },
		{ SIGXCPU, "SIGXCPU" },
		{ SIGXFSZ, "SIGXFSZ" },
	};
	int status;
	if (reap(pid, &status) < 0)
		return xasprintf("no such child (%s)", strerror(errno));
	if (WIFEXITED(status))
		return xasprintf("exit status %d", WEXITSTATUS(status));
	int number = WTERMSIG(status);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].number == number)
			return xasprintf("signal %d (%s)", number, names[i].name);
	return xasprintf("signal %d", number);
}

static void on_signal(int number)
{
	int saved = errno;
	if (!caught)
		caught = number;
	/* Not blocking; when the pipe is full it is readable as well. */
	ssize_t n = write(signal_pipe[1], "", 1);
	(void)n;
	errno = saved;
}

int proc_catch_signals(struct err *err)
{
	static const int number[] = { SIGINT, SIGTERM, SIGHUP };
	if (signal_pipe[0] < 0 && cloexec_pair(signal_pipe, 0) < 0)
		return err_errno(err, STATUS_MACHINE, "cannot catch signals");
	fcntl(signal_pipe[0], F_SETFL, O_NONBLOCK);
	fcntl(signal_pipe[1], F_SETFL, O_NONBLOCK);
	for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
		struct sigaction action, old;
		/* What nohup or a shell in the background ignores stays so. */
		if (sigaction(number[i], NULL, &old) < 0)
			return err_errno(err, STATUS_MACHINE, "cannot catch signals");
		if (old.sa_handler == SIG_IGN)
			continue;
		memset(&action, 0, sizeof action);
		action.sa_handler = on_signal;
		sigemptyset(&action.sa_mask);
		/* A second one kills at once, if ending takes too long. */
		action.sa_flags = SA_RESTART | (int)SA_RESETHAND;
		if (sigaction(number[i], &action, NULL) < 0)
			return err_errno(err, STATUS_MACHINE, "cannot catch signals");
	}
	return 0;
}

int proc_signal_fd(void)
{
	return signal_pipe[0];
}

int proc_signal(void)
{
	return caught;
}

int proc_ncpu(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	return n < 1 ? 1 : n > 1024 ? 1024 : (int)n;
}

long long proc_now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

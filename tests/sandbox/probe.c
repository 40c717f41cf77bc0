/* SPDX-License-Identifier: MIT */
/*
 * A preloaded library that attempts, from within the program, what an exploit might do, when the
 * first code file is opened: decoding has begun by then.  PROBE_REPORT names a file that gets a
 * line for each attempt: its name and "done" or the error.  In the folder PROBE_OUTSIDE nothing may
 * change.
 *
 * PROBE_WITHOUT=files, calls or both: a system without Landlock, seccomp or either.
 * PROBE_SERVER: attempt when the serving process waits for requests.
 * PROBE_KEEPER: attempt only requests to the process that creates the files.
 * PROBE_ABI: the version of Landlock, if the system has a newer one.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/landlock.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static int report = -1; /* file descriptor */
static char outside[256];
static bool no_files, no_calls;
static long version; /* of Landlock; 0: the system's */

__attribute__((constructor)) static void init(void)
{
	const char *path = getenv("PROBE_REPORT"), *folder = getenv("PROBE_OUTSIDE"),
		   *without = getenv("PROBE_WITHOUT");

	/* Opened at once: the program may give up this right. */
	report = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
	snprintf(outside, sizeof(outside), "%s", folder ? folder : "");
	version = getenv("PROBE_ABI") ? atol(getenv("PROBE_ABI")) : 0;
	no_files = without && strcmp(without, "calls") != 0;
	no_calls = without && strcmp(without, "files") != 0;
	unsetenv("LD_PRELOAD"); /* child programs do not probe again */
}

static void print_result(const char *name, bool done)
{
	char line[100];
	int length = snprintf(line, sizeof(line), "%s: %s\n", name,
			      done ? "done" : strerrorname_np(errno));

	/* Not dprintf(): it calls lseek(). */
	if (write(report, line, (size_t)length) != length)
		abort();
}

static const char *in(const char *folder, const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static bool can_open(const char *path, int flags)
{
	int fd = openat(AT_FDCWD, path, flags | O_CLOEXEC, 0666);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Attempts on a readable file. */
static void try_descriptors(void)
{
	int fd = open(in(outside, "kept"), O_RDONLY | O_CLOEXEC);

	print_result("change a mode by descriptor", fd >= 0 && fchmod(fd, 0666) == 0);
	print_result("set an attribute by descriptor",
		     fd >= 0 && fsetxattr(fd, "user.probe", "x", 1, 0) == 0);
	print_result("set an owner of signals", fcntl(0, F_SETOWN, getppid()) == 0);
	print_result("set a signal", fcntl(0, F_SETSIG, SIGUSR1) == 0);
	print_result("ask for signals", fcntl(0, F_SETFL, O_ASYNC) == 0);
	if (fd >= 0)
		close(fd);
}

/* As struct request of src/sandbox/keeper.c. */
struct request {
	uint32_t operation;
	char path[PATH_MAX], other[PATH_MAX];
};

/* Send a request to the process that creates the files, over the descriptor `socket`. */
static bool can_ask(int socket, uint32_t operation, const char *path, const char *to)
{
	static struct request request;
	int errnum = EIO;
	struct iovec data = { &errnum, sizeof(errnum) };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };

	request.operation = operation;
	snprintf(request.path, sizeof(request.path), "%s", path);
	snprintf(request.other, sizeof(request.other), "%s", to);
	if (sendto(socket, &request, sizeof(request), 0, NULL, 0) != (ssize_t)sizeof(request) ||
	    recvmsg(socket, &message, 0) < 0)
		return false;
	errno = errnum;
	return errnum == 0;
}

/* The sandbox allows sending to one descriptor only; a byte is no request. */
static void try_keeper(void)
{
	char kept[300], temporary[300], doomed[300];
	int socket = 3;

	snprintf(kept, sizeof(kept), "%s/kept", outside);
	snprintf(doomed, sizeof(doomed), "%s/doomed", outside);
	snprintf(temporary, sizeof(temporary), "%s/kept.%d.0.tmp", outside, (int)getpid());
	while (socket < 100 && sendto(socket, "x", 1, MSG_DONTWAIT, NULL, 0) < 0)
		socket++;
	print_result("find the keeper", socket < 100);
	print_result("ask for a file", can_ask(socket, 0, temporary, ""));
	print_result("ask for a file beside the output",
		     can_ask(socket, 0, getenv("PROBE_BESIDE"), ""));
	print_result("ask for a nameless file", can_ask(socket, 1, outside, ""));
	print_result("ask to move", can_ask(socket, 2, doomed, kept));
	print_result("ask to remove", can_ask(socket, 3, doomed, ""));
	print_result("ask to mark", can_ask(socket, 4, kept, "user.probe"));
	print_result("ask for a file of the cache",
		     can_ask(socket, 5, "0123456789abcdef0123456789abcdef", ""));
	print_result("ask for another thing", can_ask(socket, 77, kept, ""));
}

static void try_files(void)
{
	char parent[64];

	print_result("truncate by opening", can_open(in(outside, "kept"), O_RDONLY | O_TRUNC));
	print_result("make a nameless file", can_open("/tmp", O_TMPFILE | O_RDWR));
	print_result("hard link", link(in(outside, "kept"), "/tmp/probe-linked") == 0);
	print_result("set an attribute",
		     setxattr(in(outside, "kept"), "user.probe", "x", 1, 0) == 0);
	print_result("change the times", utimensat(AT_FDCWD, in(outside, "kept"), NULL, 0) == 0);
	print_result("make a fifo", mknod(in(outside, "fifo"), S_IFIFO | 0666, 0) == 0);
	print_result("create beside the output",
		     can_open(getenv("PROBE_BESIDE"), O_WRONLY | O_CREAT));
	try_descriptors();

	print_result("create", can_open(in(outside, "new"), O_WRONLY | O_CREAT));
	print_result("create in the working directory", can_open("probe-new", O_WRONLY | O_CREAT));
	print_result("write", can_open(in(outside, "kept"), O_WRONLY));
	print_result("truncate", truncate(in(outside, "kept"), 0) == 0);
	print_result("rename", rename(in(outside, "old"), "/tmp/probe-renamed") == 0);
	print_result("remove", unlink(in(outside, "doomed")) == 0);
	print_result("make a directory", mkdir(in(outside, "folder"), 0777) == 0);
	print_result("link", symlink("kept", in(outside, "link")) == 0);
	print_result("change the mode", chmod(in(outside, "kept"), 0666) == 0);
	print_result("read", can_open(in(outside, "kept"), O_RDONLY));
	snprintf(parent, sizeof(parent), "/proc/%d/mem", (int)getppid());
	print_result("read another's memory", can_open(parent, O_RDONLY));
}

static bool can_fork(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return pid > 0 && waitpid(pid, NULL, 0) == pid;
}

static bool can_map_code(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return page != MAP_FAILED && mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0;
}

static bool can_socket(int family)
{
	int fd = socket(family, SOCK_STREAM, 0);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void try_calls(void)
{
	char byte;
	struct iovec here = { &byte, 1 }, there = { &byte, 1 };
	sigset_t child;

	print_result("fork", can_fork());
	print_result("socket", can_socket(AF_INET));
	print_result("local socket", can_socket(AF_UNIX));
	print_result("signal", kill(getppid(), 0) == 0);
	print_result("make code", can_map_code());
	print_result("map code",
		     mmap(NULL, 4096, PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
	print_result("read a process",
		     process_vm_readv(getppid(), &here, 1, &there, 1, 0) == 1 || errno == EFAULT);
	print_result("leave the namespace", syscall(SYS_unshare, 0) == 0);
	print_result("type on the terminal", ioctl(0, TIOCSTI, "x") == 0 || errno == ENOTTY);
	print_result("other process's limits", prlimit(getppid(), RLIMIT_NOFILE, NULL, NULL) == 0);
	print_result("a ring of requests", syscall(SYS_io_uring_setup, 0, NULL) >= 0 ||
						   errno == EFAULT || errno == EINVAL);
	print_result("handle a fault", syscall(SYS_userfaultfd, 1) >= 0);
	print_result("trace events",
		     syscall(SYS_perf_event_open, NULL, 0, 0, 0, 0) >= 0 || errno == EFAULT);
	/* A traced process stops at each signal, also at one that it ignores: the keeper's end. */
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	print_result("be traced", ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
}

static void try_all(void)
{
	char *const words[] = { (char *)"sh", (char *)"-c", (char *)"echo exec: done >&99", NULL };

	if (getenv("PROBE_KEEPER")) {
		try_keeper();
		return;
	}
	try_files();
	try_calls();
	dup2(report, 99);
	if (getenv("PROBE_EXEC")) {
		execv("/bin/sh", words);
		print_result("exec", false);
	}
}

int open(const char *path, int flags, ...)
{
	static int (*next)(const char *, int, ...);
	static int probed;
	size_t length = strlen(path);
	va_list args;
	mode_t mode;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "open");
	va_start(args, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
	va_end(args);
	/* The sandbox also opens its allowed paths, with O_PATH. */
	if (report >= 0 && !(flags & O_PATH) && length > 7 &&
	    !strcmp(path + length - 7, "/sample") &&
	    !__atomic_exchange_n(&probed, 1, __ATOMIC_SEQ_CST))
		try_all();
	return next(path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));

/* libmicrohttpd waits here. */
int select(int count, fd_set *reads, fd_set *writes, fd_set *others, struct timeval *limit)
{
	static int (*next)(int, fd_set *, fd_set *, fd_set *, struct timeval *);
	static bool probed;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "select");
	if (report >= 0 && getenv("PROBE_SERVER") && !probed) {
		probed = true;
		try_all();
	}
	return next(count, reads, writes, others, limit);
}

/* ---- A system without ---------------------------------------------------- */

long syscall(long number, ...)
{
	static long (*next)(long, ...);
	long words[6];
	va_list args;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	va_start(args, number);
	for (int i = 0; i < 6; i++)
		words[i] = va_arg(args, long);
	va_end(args);
	if (version && number == SYS_landlock_create_ruleset &&
	    words[2] == LANDLOCK_CREATE_RULESET_VERSION)
		return next(number, words[0], words[1], words[2]) < version ? -1 : version;
	if ((no_files && number == SYS_landlock_create_ruleset) ||
	    (no_calls && number == SYS_seccomp)) {
		errno = ENOSYS;
		return -1;
	}
	return next(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

int prctl(int option, ...)
{
	static int (*next)(int, ...);
	unsigned long words[4];
	va_list args;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "prctl");
	va_start(args, option);
	for (int i = 0; i < 4; i++)
		words[i] = va_arg(args, unsigned long);
	va_end(args);
	if (no_calls && option == PR_SET_SECCOMP) {
		errno = EINVAL;
		return -1;
	}
	return next(option, words[0], words[1], words[2], words[3]);
}

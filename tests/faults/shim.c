/* SPDX-License-Identifier: MIT */
/*
 * A preloaded library that makes one kind of call fail.  FAULT=KIND:NUMBER names the kind and its
 * first failing call, counted from 1; a `+` after the number makes all later ones fail too.
 *
 *	malloc   any allocation: no memory
 *	read     EIO
 *	write    ENOSPC
 *	quota    EDQUOT, of write()
 *	mmap     ENOMEM, of files
 *	shrink   a file becomes empty right after it was mapped
 *	halve    half a file is gone right after it was mapped
 *	thread   pthread_create(): EAGAIN
 *	open     EMFILE, of open()
 *	memfd    EMFILE, of memfd_create()
 *	dup      EMFILE, of dup() and dup2()
 *	recvmsg  a passed descriptor is cut off, as by the kernel at EMFILE
 *	sendmsg  EMFILE, of a message with a descriptor
 *	fork     EAGAIN
 *	pipe     EMFILE, of pipe2() and socketpair()
 *
 * FAULT_COUNT names a file for the number of calls of the kind.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum kind {
	NONE,
	MALLOC,
	READ,
	WRITE,
	QUOTA,
	MMAP,
	SHRINK,
	HALVE,
	THREAD,
	OPEN,
	MEMFD,
	DUP,
	RECVMSG,
	SENDMSG,
	FORK,
	PIPE
};

static struct {
	enum kind kind;
	unsigned long number, count;
	bool later;
	int report; /* file descriptor */
} fault;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

__attribute__((constructor)) static void init(void)
{
	static const char *const kinds[] = { "",        "malloc",  "read",   "write",
					     "quota",   "mmap",    "shrink", "halve",
					     "thread",  "open",    "memfd",  "dup",
					     "recvmsg", "sendmsg", "fork",   "pipe" };
	const char *text = getenv("FAULT"), *colon = text ? strchr(text, ':') : NULL;
	const char *path = getenv("FAULT_COUNT");
	char *end;

	/* Opened at once: the program may give up this right. */
	fault.report = path ? creat(path, 0666) : -1;
	if (!colon)
		return;
	fault.number = strtoul(colon + 1, &end, 10);
	fault.later = *end == '+';
	for (unsigned i = 1; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strncmp(text, kinds[i], (size_t)(colon - text)) == 0)
			fault.kind = (enum kind)i;
}

__attribute__((destructor)) static void report(void)
{
	ssize_t written = 0;

	fault.kind = NONE;
	if (fault.report >= 0)
		written = dprintf(fault.report, "%lu\n", fault.count);
	(void)written;
}

static bool fails(enum kind kind)
{
	unsigned long number;

	if (fault.kind != kind)
		return false;
	number = __atomic_add_fetch(&fault.count, 1, __ATOMIC_RELAXED);
	return number == fault.number || (fault.later && number > fault.number);
}

static void *no_memory(void)
{
	errno = ENOMEM;
	return NULL;
}

void *malloc(size_t size)
{
	return fails(MALLOC) ? no_memory() : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails(MALLOC) ? no_memory() : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
	return fails(MALLOC) ? no_memory() : __libc_realloc(memory, size);
}

void *reallocarray(void *memory, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes) || fails(MALLOC))
		return no_memory();
	return __libc_realloc(memory, bytes);
}

ssize_t read(int fd, void *bytes, size_t size)
{
	static ssize_t (*next)(int, void *, size_t);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "read");
	if (!fails(READ))
		return next(fd, bytes, size);
	errno = EIO;
	return -1;
}

ssize_t write(int fd, const void *bytes, size_t size)
{
	static ssize_t (*next)(int, const void *, size_t);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "write");
	if (fails(WRITE))
		errno = ENOSPC;
	else if (fails(QUOTA))
		errno = EDQUOT;
	else
		return next(fd, bytes, size);
	return -1;
}

/* The file may be open read-only. */
static void cut(int fd, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (truncate(path, (off_t)size) < 0)
		perror("shim: cannot truncate");
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
	static void *(*next)(void *, size_t, int, int, int, off_t);
	void *mapped;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "mmap");
	if (fd >= 0 && fails(MMAP)) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	mapped = next(address, size, protection, flags, fd, offset);
	if (fd >= 0 && fails(SHRINK))
		cut(fd, 0);
	if (fd >= 0 && fails(HALVE))
		cut(fd, size / 2);
	return mapped;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
		   void *context)
{
	static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
	return fails(THREAD) ? EAGAIN : next(thread, attributes, run, context);
}

int open(const char *path, int flags, ...)
{
	static int (*next)(const char *, int, ...);
	va_list args;
	mode_t mode;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "open");
	va_start(args, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
	va_end(args);
	if (!fails(OPEN))
		return next(path, flags, mode);
	errno = EMFILE;
	return -1;
}

/* open() with variable flags under _FORTIFY_SOURCE. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags) __attribute__((alias("__open_2")));

int __open_2(const char *path, int flags)
{
	return open(path, flags);
}

/* The program's calls: files are 64-bit (AC_SYS_LARGEFILE changes nothing on x86-64). */
int open64(const char *path, int flags, ...) __attribute__((alias("open")));
void *mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset)
	__attribute__((alias("mmap")));

int memfd_create(const char *name, unsigned flags)
{
	static int (*next)(const char *, unsigned);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "memfd_create");
	if (!fails(MEMFD))
		return next(name, flags);
	errno = EMFILE;
	return -1;
}

int dup(int fd)
{
	static int (*next)(int);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "dup");
	if (!fails(DUP))
		return next(fd);
	errno = EMFILE;
	return -1;
}

int dup2(int fd, int to)
{
	static int (*next)(int, int);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "dup2");
	if (!fails(DUP))
		return next(fd, to);
	errno = EMFILE;
	return -1;
}

ssize_t recvmsg(int socket, struct msghdr *message, int flags)
{
	static ssize_t (*next)(int, struct msghdr *, int);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "recvmsg");
	if (fails(RECVMSG))
		message->msg_controllen = 0;
	return next(socket, message, flags);
}

ssize_t sendmsg(int socket, const struct msghdr *message, int flags)
{
	static ssize_t (*next)(int, const struct msghdr *, int);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "sendmsg");
	if (!message->msg_controllen || !fails(SENDMSG))
		return next(socket, message, flags);
	errno = EMFILE;
	return -1;
}

pid_t fork(void)
{
	static pid_t (*next)(void);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "fork");
	if (!fails(FORK))
		return next();
	errno = EAGAIN;
	return -1;
}

int pipe2(int ends[2], int flags)
{
	static int (*next)(int *, int);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "pipe2");
	if (!fails(PIPE))
		return next(ends, flags);
	errno = EMFILE;
	return -1;
}

int socketpair(int domain, int type, int protocol, int ends[2])
{
	static int (*next)(int, int, int, int *);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "socketpair");
	if (!fails(PIPE))
		return next(domain, type, protocol, ends);
	errno = EMFILE;
	return -1;
}

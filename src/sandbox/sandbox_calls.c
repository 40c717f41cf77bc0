/* SPDX-License-Identifier: MIT */
/*
 * The seccomp half of the sandbox: filters of the system calls that the program and its
 * libraries make.  All other calls fail with ENOSYS, for which libraries have fallbacks, as on an
 * older kernel.
 *
 * libseccomp would need a thousand allocations, and crashes when one fails (2.5.4).  The filter's
 * language: the kernel's Documentation/userspace-api/seccomp_filter.rst.
 */
#include "src/sandbox/sandbox.h"

#ifdef __x86_64__

#include <assert.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

/* The kernel accepts at most 4096. */
#define FILTER_MOST 1024

/* Above all numbers of calls. */
#define CALLS_END 512

struct call_filter {
	struct sock_filter code[FILTER_MOST];
	unsigned short used;
	bool allowed[CALLS_END + 1]; /* calls that need no condition */
};

/* A call that is allowed if an argument has these bits under the mask. */
struct call_condition {
	uint16_t call;
	uint8_t argument; /* its index; the low 32 bits are compared */
	uint32_t mask, value;
};

/* The whole argument. */
#define CALL_WORD UINT32_MAX

static void append(struct call_filter *filter, const struct sock_filter *code, size_t count)
{
	assert(filter->used + count <= FILTER_MOST);
	memcpy(filter->code + filter->used, code, count * sizeof(*code));
	filter->used += (unsigned short)count;
}

#define LOAD(offset)   BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(offset))
#define LOAD_CALL      LOAD(offsetof(struct seccomp_data, nr))
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, (action))
#define DENY           (SECCOMP_RET_ERRNO | ENOSYS)
/* If the loaded number is not `value`, skip the next `count` instructions. */
#define SKIP_UNLESS(value, count) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (count))

/* Allow these calls. */
static void allow(struct call_filter *filter, const uint16_t *calls, size_t count)
{
	for (size_t i = 0; i < count; i++)
		filter->allowed[calls[i]] = true;
}

/*
 * Search for a call's number between bounds: from bounds[0] calls are allowed, from bounds[1] they
 * are not, and so on.
 */
static void append_search(struct call_filter *filter, const uint16_t *bounds, size_t first,
			  size_t end)
{
	size_t middle = (first + end) / 2, at = filter->used;
	struct sock_filter code = RETURN(first % 2 ? SECCOMP_RET_ALLOW : DENY);

	append(filter, &code, 1);
	if (first == end)
		return;
	append_search(filter, bounds, first, middle);
	assert(filter->used - at - 1 <= UINT8_MAX);
	filter->code[at] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, bounds[middle],
							(uint8_t)(filter->used - at - 1), 0);
	append_search(filter, bounds, middle + 1, end);
}

/*
 * Return for allowed calls, and continue for others.  The kernel runs a new filter once for each
 * call's number, which takes half a millisecond if the filter compares one number after the other.
 */
static void append_allowed(struct call_filter *filter, const bool allowed[CALLS_END + 1])
{
	uint16_t bounds[CALLS_END + 1];
	size_t count = 0, begin = filter->used;

	for (uint16_t call = 0; call <= CALLS_END; call++)
		if (allowed[call] != (count % 2 != 0))
			bounds[count++] = call;
	append_search(filter, bounds, 0, count);
	for (size_t i = begin; i < filter->used; i++)
		if (filter->code[i].code == (BPF_RET | BPF_K) && filter->code[i].k == DENY)
			filter->code[i] = (struct sock_filter)BPF_STMT(
				BPF_JMP | BPF_JA, (uint32_t)(filter->used - i - 1));
}

/* Allow calls by their arguments; one of several conditions for a call must hold. */
static void allow_if(struct call_filter *filter, const struct call_condition *conditions,
		     size_t count)
{
	for (const struct call_condition *one = conditions; one < conditions + count; one++) {
		const struct sock_filter code[] = {
			SKIP_UNLESS(one->call, 5),
			LOAD(offsetof(struct seccomp_data, args) +
			     one->argument * sizeof(uint64_t)),
			BPF_STMT(BPF_ALU | BPF_AND | BPF_K, one->mask),
			SKIP_UNLESS(one->value, 1),
			RETURN(SECCOMP_RET_ALLOW),
			LOAD_CALL,
		};

		append(filter, code, COUNT_OF(code));
	}
}

/* ---- A conversion, or a tool that it starts ------------------------------- */

/* Linux 5.17; the C library names its memory by it. */
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

/* clang-format off */
static const uint16_t own_calls[] = {
	/* Files: calls that read them, and calls that write to descriptors. */
	SYS_access, SYS_close, SYS_close_range, SYS_copy_file_range, SYS_dup, SYS_dup2, SYS_dup3,
	SYS_faccessat, SYS_faccessat2, SYS_fadvise64, SYS_fallocate, SYS_fdatasync, SYS_fgetxattr,
	SYS_flock, SYS_fstat, SYS_fstatfs, SYS_fsync, SYS_ftruncate, SYS_getcwd, SYS_getdents,
	SYS_getdents64, SYS_getxattr, SYS_lgetxattr, SYS_lseek, SYS_lstat,
	SYS_newfstatat, SYS_pipe2, SYS_poll, SYS_ppoll, SYS_pread64, SYS_preadv, SYS_pselect6,
	SYS_pwrite64, SYS_pwritev, SYS_read, SYS_readahead, SYS_readlink, SYS_readlinkat, SYS_readv,
	SYS_select, SYS_sendfile, SYS_stat, SYS_statfs, SYS_statx, SYS_umask, SYS_write, SYS_writev,
	/* Memory. */
	SYS_brk, SYS_madvise, SYS_membarrier, SYS_mincore, SYS_mlock, SYS_mlock2, SYS_mremap,
	SYS_msync, SYS_munlock, SYS_munmap,
	/* Threads, signals and time. */
	SYS_clock_getres, SYS_clock_gettime, SYS_clock_nanosleep, SYS_exit, SYS_exit_group,
	SYS_futex, SYS_get_robust_list, SYS_getcpu, SYS_getitimer, SYS_gettid, SYS_gettimeofday,
	SYS_nanosleep, SYS_restart_syscall, SYS_rseq, SYS_rt_sigaction, SYS_rt_sigpending,
	SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigsuspend, SYS_rt_sigtimedwait,
	SYS_sched_get_priority_max, SYS_sched_get_priority_min, SYS_sched_getaffinity,
	SYS_sched_getattr, SYS_sched_getparam, SYS_sched_getscheduler, SYS_sched_yield,
	SYS_set_robust_list, SYS_set_tid_address, SYS_setitimer, SYS_sigaltstack, SYS_time,
	SYS_timer_create, SYS_timer_settime, SYS_times,
	/* Identity of the process. */
	SYS_arch_prctl, SYS_capget, SYS_getegid, SYS_geteuid, SYS_getgid, SYS_getgroups,
	SYS_getpgid, SYS_getpgrp, SYS_getpid, SYS_getppid, SYS_getpriority, SYS_getrandom,
	SYS_getresgid, SYS_getresuid, SYS_getrlimit, SYS_getrusage, SYS_getsid, SYS_getuid,
	SYS_sysinfo, SYS_uname
};
/* clang-format on */

/* For the client of debuginfod servers: sockets, and the files in its cache. */
static const uint16_t network_calls[] = {
	SYS_accept4,    SYS_bind,        SYS_connect,     SYS_creat,      SYS_epoll_create1,
	SYS_epoll_ctl,  SYS_epoll_pwait, SYS_epoll_wait,  SYS_eventfd2,   SYS_fchmod,
	SYS_futimesat,  SYS_getpeername, SYS_getsockname, SYS_getsockopt, SYS_link,
	SYS_linkat,     SYS_listen,      SYS_mkdir,       SYS_mkdirat,    SYS_mmap,
	SYS_mprotect,   SYS_open,        SYS_openat,      SYS_openat2,    SYS_pipe,
	SYS_recvfrom,   SYS_recvmmsg,    SYS_recvmsg,     SYS_rename,     SYS_renameat,
	SYS_renameat2,  SYS_rmdir,       SYS_sendmmsg,    SYS_sendmsg,    SYS_sendto,
	SYS_setsockopt, SYS_shutdown,    SYS_socket,      SYS_socketpair, SYS_unlink,
	SYS_unlinkat,   SYS_utime,       SYS_utimensat,   SYS_utimes,
};

static const struct call_condition conditions[] = {
	/* Threads, not processes; a filter cannot read the flags of clone3(). */
	{ SYS_clone, 0, CLONE_THREAD, CLONE_THREAD },
	{ SYS_prlimit64, 0, CALL_WORD, 0 },
	{ SYS_prctl, 0, CALL_WORD, PR_SET_NAME },
	{ SYS_prctl, 0, CALL_WORD, PR_SET_VMA },
	/* No owner of signals. */
	{ SYS_fcntl, 1, CALL_WORD, F_DUPFD },
	{ SYS_fcntl, 1, CALL_WORD, F_DUPFD_CLOEXEC },
	{ SYS_fcntl, 1, CALL_WORD, F_GETFD },
	{ SYS_fcntl, 1, CALL_WORD, F_SETFD },
	{ SYS_fcntl, 1, CALL_WORD, F_GETFL },
	/* isatty() and the size of a terminal; non-blocking sockets. */
	{ SYS_ioctl, 1, CALL_WORD, TCGETS },
	{ SYS_ioctl, 1, CALL_WORD, TIOCGWINSZ },
	{ SYS_ioctl, 1, CALL_WORD, FIONREAD },
	{ SYS_ioctl, 1, CALL_WORD, FIONBIO },
};

/* Flags of open() that change a file: O_TMPFILE has the bit of O_DIRECTORY, too. */
#define CHANGES (O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY))

static void allow_conversion(struct call_filter *filter, const struct options *options)
{
	const uint32_t keeper = (uint32_t)keeper_socket();
	const struct call_condition own[] = {
		{ SYS_sendto, 0, CALL_WORD, keeper },
		{ SYS_recvmsg, 0, CALL_WORD, keeper },
		{ SYS_shutdown, 0, CALL_WORD, keeper },
		/* Non-blocking sockets. */
		{ SYS_fcntl, 1, CALL_WORD, options->debuginfod ? F_SETFL : F_GETFL },
	};

	allow_if(filter, own, COUNT_OF(own));
	if (options->debuginfod)
		allow(filter, network_calls, COUNT_OF(network_calls));
}

/* `devices`: files may be opened for writing, if that does not change them. */
static void allow_reading(struct call_filter *filter, bool devices)
{
	const uint32_t changes = devices ? CHANGES : CHANGES | O_ACCMODE;
	const struct call_condition opens[] = { { SYS_open, 1, changes, 0 },
						{ SYS_openat, 2, changes, 0 } };

	allow_if(filter, opens, COUNT_OF(opens));
	allow_if(filter, conditions, COUNT_OF(conditions));
	allow(filter, own_calls, COUNT_OF(own_calls));
}

/* ---- A server ------------------------------------------------------------ */

/*
 * A server accepts connections at an open socket, reads requests, and sends the open file: this
 * needs messages, memory, time and exit.
 */
static const uint16_t server_calls[] = {
	SYS_accept4,       SYS_pselect6,       SYS_recvfrom,    SYS_select,   SYS_sendfile,
	SYS_sendmsg,       SYS_sendto,         SYS_setsockopt,  SYS_shutdown, SYS_close,
	SYS_fstat,         SYS_newfstatat,     SYS_pread64,     SYS_write,    SYS_brk,
	SYS_clock_gettime, SYS_exit,           SYS_exit_group,  SYS_futex,    SYS_getpid,
	SYS_gettid,        SYS_madvise,        SYS_mremap,      SYS_munmap,   SYS_restart_syscall,
	SYS_rt_sigaction,  SYS_rt_sigprocmask, SYS_rt_sigreturn
};

/* ---- All ----------------------------------------------------------------- */

static void allow_process(struct call_filter *filter, enum sandbox_process process,
			  const struct options *options)
{
	static const uint16_t start[] = { SYS_execve, SYS_mmap, SYS_mprotect };

	switch (process) {
	case SANDBOX_CONVERSION:
		allow_reading(filter, sandbox_opens_devices(options));
		allow_conversion(filter, options);
		break;
	case SANDBOX_TOOL:
		allow_reading(filter, false);
		allow(filter, start, COUNT_OF(start));
		break;
	case SANDBOX_SERVER:
		allow(filter, server_calls, COUNT_OF(server_calls));
	}
}

const char *sandbox_enter_calls(enum sandbox_process process, const struct options *options)
{
	/* Calls of another architecture, such as of 32 bits, have other numbers. */
	static const struct sock_filter begin[] = {
		LOAD(offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
		RETURN(DENY),
		LOAD_CALL,
	};
	static const struct sock_filter end[] = { RETURN(DENY) };
	const struct call_condition all[] = {
		/* No new code. */
		{ SYS_mmap, 2, PROT_EXEC, 0 },
		{ SYS_mprotect, 2, PROT_EXEC, 0 },
		/* For abort() and raise(). */
		{ SYS_tgkill, 0, CALL_WORD, (uint32_t)getpid() },
	};
	struct call_filter filter = { .used = 0 }, conditional = { .used = 0 };
	struct sock_fprog program = { .filter = filter.code };

	allow_process(&conditional, process, options);
	allow_if(&conditional, all, COUNT_OF(all));
	append(&filter, begin, COUNT_OF(begin));
	append_allowed(&filter, conditional.allowed);
	append(&filter, conditional.code, conditional.used);
	append(&filter, end, COUNT_OF(end));
	program.len = filter.used;
	/* SPEC_ALLOW keeps speculation on, for speed; before Linux 4.17 the flag is unknown. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	    (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW,
		     &program) == 0 ||
	     prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0))
		return NULL;
	return "the system has no filters of system calls";
}

#else

const char *sandbox_enter_calls(enum sandbox_process process, const struct options *options)
{
	(void)process;
	(void)options;
	return "there is no filter of system calls for this processor";
}

#endif

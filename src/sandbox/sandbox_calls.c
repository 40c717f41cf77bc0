/* SPDX-License-Identifier: MIT */
/*
 * The seccomp half of the sandbox: the system calls that the program and its libraries
 * make in a conversion.
 */
#include "src/sandbox/sandbox.h"

#ifdef __x86_64__

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "src/sandbox/call_filter.h"
#include "src/sandbox/keeper.h"

/* Linux 5.17; the C library names its memory by it. */
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

/* Files: calls that read them, and calls that write to descriptors. */
static const uint16_t file_calls[] = {
	SYS_access,     SYS_close,        SYS_close_range, SYS_copy_file_range,
	SYS_dup,        SYS_dup2,         SYS_dup3,        SYS_faccessat,
	SYS_faccessat2, SYS_fadvise64,    SYS_fallocate,   SYS_fdatasync,
	SYS_fgetxattr,  SYS_flock,        SYS_fstat,       SYS_fstatfs,
	SYS_fsync,      SYS_ftruncate,    SYS_getcwd,      SYS_getdents,
	SYS_getdents64, SYS_getxattr,     SYS_lgetxattr,   SYS_lseek,
	SYS_lstat,      SYS_memfd_create, SYS_newfstatat,  SYS_pipe2,
	SYS_poll,       SYS_ppoll,        SYS_pread64,     SYS_preadv,
	SYS_pselect6,   SYS_pwrite64,     SYS_pwritev,     SYS_read,
	SYS_readahead,  SYS_readlink,     SYS_readlinkat,  SYS_readv,
	SYS_select,     SYS_sendfile,     SYS_stat,        SYS_statfs,
	SYS_statx,      SYS_umask,        SYS_write,       SYS_writev
};

/* Memory. */
static const uint16_t memory_calls[] = { SYS_brk,     SYS_madvise, SYS_membarrier, SYS_mincore,
					 SYS_mlock,   SYS_mlock2,  SYS_mremap,     SYS_msync,
					 SYS_munlock, SYS_munmap };

/* Threads, signals and time. */
/* clang-format off */
static const uint16_t thread_calls[] = {
	SYS_clock_getres, SYS_clock_gettime, SYS_clock_nanosleep, SYS_exit, SYS_exit_group,
	SYS_futex, SYS_get_robust_list, SYS_getcpu, SYS_getitimer, SYS_gettid, SYS_gettimeofday,
	SYS_nanosleep, SYS_restart_syscall, SYS_rseq, SYS_rt_sigaction, SYS_rt_sigpending,
	SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigsuspend, SYS_rt_sigtimedwait,
	SYS_sched_get_priority_max, SYS_sched_get_priority_min, SYS_sched_getaffinity,
	SYS_sched_getattr, SYS_sched_getparam, SYS_sched_getscheduler, SYS_sched_yield,
	SYS_set_robust_list, SYS_set_tid_address, SYS_setitimer, SYS_sigaltstack, SYS_time,
	SYS_timer_create, SYS_timer_settime, SYS_times
};
/* clang-format on */

/* Identity of the process. */
static const uint16_t identity_calls[] = {
	SYS_arch_prctl,  SYS_capget,    SYS_getegid,   SYS_geteuid,   SYS_getgid,
	SYS_getgroups,   SYS_getpgid,   SYS_getpgrp,   SYS_getpid,    SYS_getppid,
	SYS_getpriority, SYS_getrandom, SYS_getresgid, SYS_getresuid, SYS_getrlimit,
	SYS_getrusage,   SYS_getsid,    SYS_getuid,    SYS_sysinfo,   SYS_uname
};

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
	/* No new code. */
	{ SYS_mmap, 2, PROT_EXEC, 0 },
	{ SYS_mprotect, 2, PROT_EXEC, 0 },
	/* isatty() and the size of a terminal; non-blocking sockets. */
	{ SYS_ioctl, 1, CALL_WORD, TCGETS },
	{ SYS_ioctl, 1, CALL_WORD, TIOCGWINSZ },
	{ SYS_ioctl, 1, CALL_WORD, FIONREAD },
	{ SYS_ioctl, 1, CALL_WORD, FIONBIO },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Flags of open() that change a file: O_TMPFILE has the bit of O_DIRECTORY, too. */
#define CHANGES (O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY))

/* Conditions that depend on the run. */
static void allow_own(struct call_filter *filter, const struct options *options)
{
	const uint32_t changes = sandbox_opens_devices(options) ? CHANGES : CHANGES | O_ACCMODE;
	const uint32_t keeper = (uint32_t)keeper_socket();
	const struct call_condition own[] = {
		{ SYS_open, 1, changes, 0 },
		{ SYS_openat, 2, changes, 0 },
		{ SYS_sendto, 0, CALL_WORD, keeper },
		{ SYS_recvmsg, 0, CALL_WORD, keeper },
		{ SYS_shutdown, 0, CALL_WORD, keeper },
		/* Sockets that do not wait. */
		{ SYS_fcntl, 1, CALL_WORD, options->debuginfod ? F_SETFL : F_GETFL },
		/* For abort() and raise(). */
		{ SYS_tgkill, 0, CALL_WORD, (uint32_t)getpid() },
	};

	call_filter_allow_if(filter, own, COUNT(own));
}

const char *sandbox_enter_calls(const struct options *options)
{
	struct call_filter filter;

	call_filter_init(&filter);
	if (options->debuginfod)
		call_filter_allow(&filter, network_calls, COUNT(network_calls));
	call_filter_allow(&filter, file_calls, COUNT(file_calls));
	call_filter_allow(&filter, memory_calls, COUNT(memory_calls));
	call_filter_allow(&filter, thread_calls, COUNT(thread_calls));
	call_filter_allow(&filter, identity_calls, COUNT(identity_calls));
	allow_own(&filter, options);
	call_filter_allow_if(&filter, conditions, COUNT(conditions));
	return call_filter_enter(&filter);
}

#else

const char *sandbox_enter_calls(const struct options *options)
{
	(void)options;
	return "there is no filter of system calls for this processor";
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The seccomp half of the sandbox: a filter of system calls.  It allows the calls
 * that the program and its libraries make in a conversion.  All others fail with
 * ENOSYS, for which libraries have fallbacks, as of an older kernel.
 *
 * libseccomp would need a thousand allocations, and crashes when one fails
 * (2.5.4).  The filter's language: the kernel's
 * Documentation/userspace-api/seccomp_filter.rst.
 */
#include "src/sandbox/sandbox.h"

#ifdef __x86_64__

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "src/sandbox/keeper.h"

/* Linux 5.17; the C library names its memory by it. */
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

/* Files: what reads them, and what writes to descriptors. */
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
static const uint16_t thread_calls[] = {
	SYS_clock_getres,
	SYS_clock_gettime,
	SYS_clock_nanosleep,
	SYS_exit,
	SYS_exit_group,
	SYS_futex,
	SYS_get_robust_list,
	SYS_getcpu,
	SYS_getitimer,
	SYS_gettid,
	SYS_gettimeofday,
	SYS_nanosleep,
	SYS_restart_syscall,
	SYS_rseq,
	SYS_rt_sigaction,
	SYS_rt_sigpending,
	SYS_rt_sigprocmask,
	SYS_rt_sigreturn,
	SYS_rt_sigsuspend,
	SYS_rt_sigtimedwait,
	SYS_sched_get_priority_max,
	SYS_sched_get_priority_min,
	SYS_sched_getaffinity,
	SYS_sched_getattr,
	SYS_sched_getparam,
	SYS_sched_getscheduler,
	SYS_sched_yield,
	SYS_set_robust_list,
	SYS_set_tid_address,
	SYS_setitimer,
	SYS_sigaltstack,
	SYS_time,
	SYS_timer_create,
	SYS_timer_settime,
	SYS_times,
};

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

/* A call that is allowed if an argument has these bits under the mask. */
struct condition {
	uint16_t call;
	uint8_t argument; /* its index; the low 32 bits are compared */
	uint32_t mask, value;
};

#define WORD UINT32_MAX

static const struct condition conditions[] = {
	/* Threads, not processes; a filter cannot read the flags of clone3(). */
	{ SYS_clone, 0, CLONE_THREAD, CLONE_THREAD },
	{ SYS_prlimit64, 0, WORD, 0 },
	{ SYS_prctl, 0, WORD, PR_SET_NAME },
	{ SYS_prctl, 0, WORD, PR_SET_VMA },
	/* No owner of signals. */
	{ SYS_fcntl, 1, WORD, F_DUPFD },
	{ SYS_fcntl, 1, WORD, F_DUPFD_CLOEXEC },
	{ SYS_fcntl, 1, WORD, F_GETFD },
	{ SYS_fcntl, 1, WORD, F_SETFD },
	{ SYS_fcntl, 1, WORD, F_GETFL },
	/* No new code. */
	{ SYS_mmap, 2, PROT_EXEC, 0 },
	{ SYS_mprotect, 2, PROT_EXEC, 0 },
	/* isatty() and the size of a terminal; non-blocking sockets. */
	{ SYS_ioctl, 1, WORD, TCGETS },
	{ SYS_ioctl, 1, WORD, TIOCGWINSZ },
	{ SYS_ioctl, 1, WORD, FIONREAD },
	{ SYS_ioctl, 1, WORD, FIONBIO },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define OWN_COUNT    7 /* of allow_own() */
#define INSTRUCTIONS_MAX                                                                           \
	(6 * (COUNT(conditions) + OWN_COUNT) +                                                     \
	 2 * (COUNT(file_calls) + COUNT(memory_calls) + COUNT(thread_calls) +                      \
	      COUNT(identity_calls) + COUNT(network_calls)) +                                      \
	 8)

/* A program of struct sock_filter. */
struct filter {
	struct sock_filter code[INSTRUCTIONS_MAX];
	unsigned short used;
};

static void emit_instruction(struct filter *filter, uint16_t code, uint32_t operand)
{
	filter->code[filter->used++] = (struct sock_filter)BPF_STMT(code, operand);
}

/* If the accumulator is not `value`, skip the next `skip` instructions. */
static void emit_unless_skip(struct filter *filter, uint32_t value, uint8_t skip)
{
	filter->code[filter->used++] =
		(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip);
}

static void emit_load(struct filter *filter, size_t offset)
{
	emit_instruction(filter, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset);
}

static void allow_calls(struct filter *filter, const uint16_t *calls, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		emit_unless_skip(filter, calls[i], 1);
		emit_instruction(filter, BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
}

static void allow_if(struct filter *filter, const struct condition *condition)
{
	emit_unless_skip(filter, condition->call, 5);
	emit_load(filter,
		  offsetof(struct seccomp_data, args) + condition->argument * sizeof(uint64_t));
	emit_instruction(filter, BPF_ALU | BPF_AND | BPF_K, condition->mask);
	emit_unless_skip(filter, condition->value, 1);
	emit_instruction(filter, BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	emit_load(filter, offsetof(struct seccomp_data, nr));
}

/* Flags of open() that change a file: O_TMPFILE has the bit of O_DIRECTORY, too. */
#define CHANGES (O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY))

/* Conditions that depend on the run. */
static void allow_own(struct filter *filter, const struct options *options)
{
	const uint32_t changes = sandbox_opens_devices(options) ? CHANGES : CHANGES | O_ACCMODE;
	const uint32_t keeper = (uint32_t)keeper_socket();
	const struct condition own[] = {
		{ SYS_open, 1, changes, 0 },
		{ SYS_openat, 2, changes, 0 },
		{ SYS_sendto, 0, WORD, keeper },
		{ SYS_recvmsg, 0, WORD, keeper },
		{ SYS_shutdown, 0, WORD, keeper },
		/* Sockets that do not wait. */
		{ SYS_fcntl, 1, WORD, options->debuginfod ? F_SETFL : F_GETFL },
		/* For abort() and raise(). */
		{ SYS_tgkill, 0, WORD, (uint32_t)getpid() },
	};

	_Static_assert(COUNT(own) == OWN_COUNT, "the filter has room for them");
	for (size_t i = 0; i < COUNT(own); i++)
		allow_if(filter, &own[i]);
}

/* Refuse calls of other architectures, such as of 32 bits: their numbers differ. */
static void make_filter(struct filter *filter, const struct options *options)
{
	emit_load(filter, offsetof(struct seccomp_data, arch));
	emit_unless_skip(filter, AUDIT_ARCH_X86_64, 1);
	/* For another architecture its constant stays loaded, which is no number of a call. */
	emit_load(filter, offsetof(struct seccomp_data, nr));
	if (options->debuginfod)
		allow_calls(filter, network_calls, COUNT(network_calls));
	allow_calls(filter, file_calls, COUNT(file_calls));
	allow_calls(filter, memory_calls, COUNT(memory_calls));
	allow_calls(filter, thread_calls, COUNT(thread_calls));
	allow_calls(filter, identity_calls, COUNT(identity_calls));
	allow_own(filter, options);
	for (size_t i = 0; i < COUNT(conditions); i++)
		allow_if(filter, &conditions[i]);
	emit_instruction(filter, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
}

const char *sandbox_enter_calls(const struct options *options)
{
	struct filter filter = { .used = 0 };
	struct sock_fprog program = { .filter = filter.code };

	make_filter(&filter, options);
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

const char *sandbox_enter_calls(const struct options *options)
{
	(void)options;
	return "there is no filter of system calls for this processor";
}

#endif

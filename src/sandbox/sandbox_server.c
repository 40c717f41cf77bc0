/* SPDX-License-Identifier: MIT */
/*
 * The rights of the process that serves a trace: it accepts connections at a socket that is
 * open already, reads requests, and sends the open file.  No file, no connection of its own,
 * no process: an attack on the port reaches no further.
 */
#include "src/sandbox/sandbox.h"

#ifdef __x86_64__

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/sandbox/call_filter.h"

/* For connections; the file, messages and open descriptors; memory, time and the end. */
static const uint16_t server_calls[] = {
	SYS_accept4,       SYS_pselect6,       SYS_recvfrom,    SYS_select,   SYS_sendfile,
	SYS_sendmsg,       SYS_sendto,         SYS_setsockopt,  SYS_shutdown, SYS_close,
	SYS_fstat,         SYS_newfstatat,     SYS_pread64,     SYS_write,    SYS_brk,
	SYS_clock_gettime, SYS_exit,           SYS_exit_group,  SYS_futex,    SYS_getpid,
	SYS_gettid,        SYS_madvise,        SYS_mremap,      SYS_munmap,   SYS_restart_syscall,
	SYS_rt_sigaction,  SYS_rt_sigprocmask, SYS_rt_sigreturn
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const char *sandbox_enter_server_calls(void)
{
	const struct call_condition conditions[] = {
		/* No new code. */
		{ SYS_mmap, 2, PROT_EXEC, 0 },
		{ SYS_mprotect, 2, PROT_EXEC, 0 },
		/* For abort() and raise(). */
		{ SYS_tgkill, 0, CALL_WORD, (uint32_t)getpid() },
	};
	struct call_filter filter;

	call_filter_init(&filter);
	call_filter_allow(&filter, server_calls, COUNT(server_calls));
	call_filter_allow_if(&filter, conditions, COUNT(conditions));
	return call_filter_enter(&filter);
}

#else

const char *sandbox_enter_server_calls(void)
{
	return "there is no filter of system calls for this processor";
}

#endif

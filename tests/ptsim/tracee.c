/* SPDX-License-Identifier: MIT */
#include "tests/ptsim/tracee.h"

#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPTIONS                                                                                    \
	(PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC |     \
	 PTRACE_O_EXITKILL)

static void run_command(char *const *command, bool as_is)
{
	char path[] = "PATH=/usr/local/bin:/usr/bin:/bin", home[] = "HOME=/";
	char *const environment[] = { path, home, NULL };

	if (!as_is)
		personality(ADDR_NO_RANDOMIZE);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
		fprintf(stderr, "ptsim: cannot trace %s: %m; allow ptrace(2) here\n", command[0]);
		_exit(127);
	}
	raise(SIGSTOP);
	execvpe(command[0], command, as_is ? environ : environment);
	fprintf(stderr, "ptsim: cannot run %s: %m\n", command[0]);
	_exit(127);
}

/* Each step switches to the thread and back: on one CPU this costs a third. */
static void share_cpu(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();

	if (cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET((unsigned)cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

pid_t tracee_start(char *const *command, bool as_is)
{
	pid_t pid, stopped;
	int status;

	share_cpu();
	pid = fork();

	if (pid == 0)
		run_command(command, as_is);
	if (pid < 0)
		return -1;
	do { /* a tick comes first if other programs keep the child from the CPU */
		stopped = waitpid(pid, &status, 0);
	} while (stopped < 0 && errno == EINTR);
	if (stopped != pid || !WIFSTOPPED(status))
		return -1;
	if (ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)(uintptr_t)OPTIONS) != 0)
		return -1;
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	return tracee_poll(pid, true, false).event == TRACEE_EXECED ? pid : -1;
}

void tracee_set_random(pid_t tid)
{
	uint64_t pair[2] = { 0 };
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/auxv", tid);
	file = fopen(path, "re");
	while (file && pair[0] != AT_RANDOM && fread(pair, sizeof(pair), 1, file) == 1)
		;
	for (int i = 0; pair[0] == AT_RANDOM && i < 2; i++)
		tracee_write_word(tid, pair[1] + 8 * i, UINT64_C(0x0123456789abcd00), 8);
	if (file)
		fclose(file);
}

void tracee_step(pid_t tid, int signal)
{
	/* It fails if the thread was killed; the next poll reports that. */
	ptrace(PTRACE_SINGLESTEP, tid, NULL, (void *)(uintptr_t)signal);
}

/* The kernel reports the entry to a handler by a trap whose code is SIGTRAP itself. */
static enum tracee_event trap_kind(pid_t tid, bool delivered)
{
	siginfo_t info;

	if (delivered && ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) == 0 &&
	    info.si_code == SIGTRAP)
		return TRACEE_HANDLER;
	return TRACEE_STEPPED;
}

static struct tracee_stop stop_at_event(pid_t tid, int event)
{
	struct tracee_stop stop = { .event = TRACEE_STEPPED };
	unsigned long message = 0;

	ptrace(PTRACE_GETEVENTMSG, tid, NULL, &message);
	switch (event) {
	case PTRACE_EVENT_CLONE:
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
		stop.event = TRACEE_CLONED;
		stop.child = (pid_t)message;
		break;
	case PTRACE_EVENT_EXEC:
		stop.event = TRACEE_EXECED;
		stop.child = (pid_t)message;
		break;
	}
	return stop;
}

/* Returns the thread's state of proc(5), 0 if it is gone. */
static char thread_state(pid_t tid)
{
	char path[64], line[256], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	/* number, name in parentheses, state */
	if (fgets(line, sizeof(line), file) && strrchr(line, ')'))
		sscanf(strrchr(line, ')'), ") %c", &state);
	fclose(file);
	return state;
}

struct tracee_stop tracee_poll(pid_t tid, bool wait, bool delivered)
{
	struct tracee_stop stop = { .event = TRACEE_RUNNING };
	int status;
	pid_t found;

	do {
		found = waitpid(tid, &status, __WALL | (wait ? 0 : WNOHANG));
	} while (found < 0 && errno == EINTR && thread_state(tid) != 'Z');
	if (found == 0 || (found < 0 && errno == EINTR))
		return stop;
	stop.event = found < 0 ? TRACEE_GONE : TRACEE_ENDED;
	if (found < 0 || !WIFSTOPPED(status))
		return stop;
	if (status >> 16)
		return stop_at_event(tid, status >> 16);
	stop.signal = WSTOPSIG(status);
	stop.event = stop.signal == SIGTRAP ? trap_kind(tid, delivered) : TRACEE_SIGNAL;
	return stop;
}

bool tracee_run_to(pid_t tid, uint64_t address, const long *known, struct tracee_stop *stop)
{
	void *place = (void *)(uintptr_t)address;
	long word;

	errno = 0;
	word = known ? *known : ptrace(PTRACE_PEEKTEXT, tid, place, NULL);
	if (errno || ptrace(PTRACE_POKETEXT, tid, place, (void *)((word & ~0xffL) | 0xcc)) != 0)
		return false;
	ptrace(PTRACE_CONT, tid, NULL, NULL);
	*stop = tracee_poll(tid, true, false);
	/* After another thread's exec the address belongs to another program. */
	if (stop->event == TRACEE_STEPPED || stop->event == TRACEE_SIGNAL)
		ptrace(PTRACE_POKETEXT, tid, place, (void *)word);
	return true;
}

bool tracee_runs(pid_t tid)
{
	return thread_state(tid) == 'R';
}

bool tracee_set_registers(pid_t tid, const struct user_regs_struct *registers)
{
	return ptrace(PTRACE_SETREGS, tid, NULL, (void *)(uintptr_t)registers) == 0;
}

bool tracee_registers(pid_t tid, struct user_regs_struct *registers)
{
	return ptrace(PTRACE_GETREGS, tid, NULL, registers) == 0;
}

size_t tracee_read(pid_t tid, uint64_t address, uint8_t *bytes, size_t size)
{
	struct iovec local = { bytes, size };
	struct iovec remote = { (void *)(uintptr_t)address, size };
	ssize_t count = process_vm_readv(tid, &local, 1, &remote, 1, 0);

	/* At a mapping's end only a part is readable. */
	while (count <= 0 && size > 1) {
		local.iov_len = remote.iov_len = --size;
		count = process_vm_readv(tid, &local, 1, &remote, 1, 0);
	}
	return count > 0 ? (size_t)count : 0;
}

bool tracee_read_word(pid_t tid, uint64_t address, uint64_t *word, size_t size)
{
	struct iovec local = { word, size };
	struct iovec remote = { (void *)(uintptr_t)address, size };

	return process_vm_readv(tid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

bool tracee_write_word(pid_t tid, uint64_t address, uint64_t word, size_t size)
{
	struct iovec local = { &word, size };
	struct iovec remote = { (void *)(uintptr_t)address, size };

	return process_vm_writev(tid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

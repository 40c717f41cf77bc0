/* SPDX-License-Identifier: MIT */
/* Handlers of signals, of exit() and of a lack of memory; the flag of SIGINT. */
#include "base/io/interrupt.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io/output.h"
#include "base/message.h"

atomic_int interrupt_flag;

static volatile sig_atomic_t allowed;
static const char *volatile said;
static volatile size_t said_length;

static void on_signal(int number)
{
	int before = errno; /* the interrupted code may be about to read it */
	ssize_t ignored;

	if (number == SIGINT && allowed && !atomic_exchange(&interrupt_flag, 1)) {
		ignored = said_length ? write(STDERR_FILENO, said, said_length) : 0;
		(void)ignored;
		errno = before;
		return;
	}
	output_remove_unfinished();
	signal(number, SIG_DFL);
	/* As glibc's raise(); musl's calls tkill(), which the sandbox refuses. */
	syscall(SYS_tgkill, getpid(), gettid(), number);
}

void output_obey_closed_pipe(const struct error *err)
{
	if (err->kind != ERROR_NO_READER)
		return;
	output_drop();
	on_signal(SIGPIPE);
}

void output_watch_signals(void)
{
	/* Signals from outside, except SIGKILL, whose default action ends the process. */
	static const int signals[] = { SIGHUP,  SIGINT,  SIGQUIT,   SIGALRM, SIGTERM,
				       SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF, SIGXCPU };

	output_track_unfinished();
	for (size_t i = 0; i < COUNT_OF(signals); i++) {
		if (signal(signals[i], on_signal) == SIG_IGN)
			signal(signals[i], SIG_IGN);
	}
	alloc_fail_hook = output_remove_unfinished;
	atexit(output_remove_unfinished);
}

/* Returns whether a file is mapped at the address; its path in `path` (proc(5), maps). */
static bool find_mapped(uintptr_t address, char path[PATH_MAX])
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[PATH_MAX + 100];
	uintptr_t begin, end;

	path[0] = 0;
	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &begin, &end) == 2 && address >= begin &&
		    address < end)
			sscanf(line, "%*[^/]%4095[^\n]", path);
	return path[0];
}

/*
 * An access to a mapped file raises the signal.  The thread holds no lock of the C library then, so
 * the handler may call its functions.
 */
static void on_fault(int number, siginfo_t *info, void *context)
{
	static char path[PATH_MAX];
	struct error err = { 0 };

	(void)context;
	if (!find_mapped((uintptr_t)info->si_addr, path)) {
		signal(number, SIG_DFL);
		return; /* the access faults again, with the default action */
	}
	error_set(&err, ERROR_SYSTEM, "%s: became shorter while it was read, or cannot be read",
		  path);
	message_error(&err);
	output_remove_unfinished();
	_exit(EXIT_FAILURE);
}

void fault_watch(void)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };

	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, NULL);
}

void interrupt_allow(bool quiet)
{
	/* A terminal has "^C", and perhaps the progress bar, on the line. */
	static const char message[] = "\nptrace2ftf: interrupted: writing the output so far; "
				      "interrupt again to stop at once\n";
	struct sigaction action;

	said = message + !isatty(STDERR_FILENO);
	said_length = quiet ? 0 : strlen((const char *)said);
	allowed = 1;
	/* A blocked read must end, because input may never arrive. */
	if (sigaction(SIGINT, NULL, &action) == 0) {
		action.sa_flags &= ~SA_RESTART;
		sigaction(SIGINT, &action, NULL);
	}
}

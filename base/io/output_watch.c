/* SPDX-License-Identifier: MIT */
/* Handlers of signals, of exit() and of a lack of memory. */
#include "base/io/output_watch.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/io/output.h"

bool (*volatile output_interrupt_hook)(void);

static void on_signal(int number)
{
	int before = errno; /* the interrupted code may be about to read it */

	if (number == SIGINT && output_interrupt_hook && output_interrupt_hook()) {
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
	/* Those whose default action ends a process from outside, but for SIGKILL. */
	static const int signals[] = { SIGHUP,  SIGINT,  SIGQUIT,   SIGALRM, SIGTERM,
				       SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF, SIGXCPU };

	output_track_unfinished();
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		if (signal(signals[i], on_signal) == SIG_IGN)
			signal(signals[i], SIG_IGN);
	}
	alloc_fail_hook = output_remove_unfinished;
	atexit(output_remove_unfinished);
}

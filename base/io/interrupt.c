/* SPDX-License-Identifier: MIT */
/* The flag of SIGINT, set in output's signal handler. */
#include "base/io/interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/io/output_watch.h"

atomic_int interrupt_flag;

static volatile sig_atomic_t allowed;
static const char *volatile said;
static volatile size_t said_length;

/* Returns whether the SIGINT is a request. */
static bool interrupt_take(void)
{
	ssize_t ignored;

	if (!allowed || atomic_exchange(&interrupt_flag, 1))
		return false;
	if (said_length) {
		ignored = write(STDERR_FILENO, said, said_length);
		(void)ignored;
	}
	return true;
}

void interrupt_allow(const char *message)
{
	struct sigaction action;

	said = message;
	said_length = message ? strlen(message) : 0;
	allowed = 1;
	output_interrupt_hook = interrupt_take;
	/* A read that waits for input must end, since the input may never come. */
	if (sigaction(SIGINT, NULL, &action) == 0) {
		action.sa_flags &= ~SA_RESTART;
		sigaction(SIGINT, &action, NULL);
	}
}

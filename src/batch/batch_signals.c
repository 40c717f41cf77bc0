/* SPDX-License-Identifier: MIT */
/* Passes signals on to the processes of conversions. */
#include "src/batch/batch_signals.h"

#include <signal.h>

/* Read by the signal handler; the processes change only while signals are blocked. */
static volatile sig_atomic_t stopped; /* the signal; 0: none */
static struct batch_process *watched; /* borrowed */
static volatile size_t watched_count;

/* A terminal sends its signals to all processes; forward those of other senders. */
static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	stopped = number;
	for (size_t i = 0; info->si_code <= 0 && i < watched_count; i++)
		if (watched[i].pid > 0)
			kill(watched[i].pid, number);
}

void batch_signals_watch(struct batch_process *processes, size_t count)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	/* Without SA_RESTART, so that wait4() returns. */
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO }, old;

	watched = processes;
	watched_count = count;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
}

int batch_signals_end(void)
{
	watched_count = 0;
	return stopped;
}

int batch_signals_last(void)
{
	return stopped;
}

int batch_signals_start(struct batch_process *process, const struct batch_run *run,
			const struct batch_job *job, struct error *err)
{
	struct batch_process started;
	sigset_t all, usual;
	int status;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &usual);
	status = batch_process_start(&started, run, job, err);
	if (status == 0)
		*process = started;
	sigprocmask(SIG_SETMASK, &usual, NULL);
	return status;
}

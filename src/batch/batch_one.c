/* SPDX-License-Identifier: MIT */
/* The life of a single process of a conversion. */
#include "src/batch/batch_one.h"

#include <errno.h>
#include <sys/wait.h>

#include "base/io/output_watch.h"
#include "src/batch/batch_signals.h"

/* Returns an exit status, and the report of a process that has ended. */
static int end_process(struct batch_process *process, int status, json_t **report)
{
	struct batch_end end = { 0 };
	int stopped = batch_signals_end();

	if (stopped)
		return 128 + stopped;
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_INTERRUPTED)
		return EXIT_INTERRUPTED;
	batch_process_finish(process, status, &end);
	*report = end.report;
	return end.status;
}

int batch_one_run(const struct batch_run *run, const struct batch_job *job, json_t **report,
		  struct error *err)
{
	struct batch_process process = { 0 };
	int status = 0;
	pid_t ended;

	*report = NULL;
	batch_signals_watch(&process, 1);
	if (batch_signals_start(&process, run, job, err) < 0) {
		batch_signals_end();
		return EXIT_FAILED;
	}
	do
		ended = waitpid(process.pid, &status, 0);
	while (ended < 0 && errno == EINTR);
	status = end_process(&process, status, report);
	output_watch_signals();
	return status;
}

/* SPDX-License-Identifier: MIT */
/* Run perf record. */
#include "src/record/record.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/formats/text/json_print.h"
#include "src/report/progress.h"
#include "src/report/report.h"

/* Returns whether a file's content is not that of `before`: perf replaces a file, or leaves it. */
static bool is_new(const char *path, const struct stat *before)
{
	struct stat now;

	return stat(path, &now) == 0 &&
	       (now.st_ino != before->st_ino || now.st_mtim.tv_sec != before->st_mtim.tv_sec ||
		now.st_mtim.tv_nsec != before->st_mtim.tv_nsec);
}

/* Interval of saving code, in ns; longer if that would take over 1/SAVE_PAUSES of the time. */
#define SAVE_INTERVAL UINT64_C(10000000)
#define SAVE_PAUSES   20

/* A run of perf.  Its program is traced for `code`, `calls` or `incidents`; NULL: not wanted. */
struct perf_run {
	pid_t perf;
	bool traced;
	struct code_file_writer *code; /* saves the code that the program generates */
	const char *attach;            /* options.attach: save their code, too */
	uint64_t next_save;            /* ns of CLOCK_MONOTONIC */
	struct call_watch *calls;      /* calls of --snapshot-at */
	struct incidents *incidents;   /* of --slow='F>T' */
	bool of_program, started;      /* calls are in perf's program; they are watched already */
};

/* Save the code that perf's children and the attached processes have now. */
static void save_code(struct perf_run *run)
{
	uint64_t begin = progress_now(), taken;

	code_file_add_children(run->code, run->perf);
	for (const char *at = run->attach; at && *at;) {
		char *end;
		pid_t pid = (pid_t)strtol(at, &end, 10);

		code_file_add(run->code, pid);
		code_file_add_children(run->code, pid);
		at = end + strspn(end, ",");
	}
	taken = SAVE_PAUSES * (progress_now() - begin);
	run->next_save = begin + MAX(taken, SAVE_INTERVAL);
}

static void interrupt_wait(int signal)
{
	(void)signal;
}

/* Signals interrupt waitpid(), for the code to be saved at intervals. */
static void begin_intervals(void)
{
	const struct sigaction action = { .sa_handler = interrupt_wait };
	const struct timeval interval = { .tv_usec = SAVE_INTERVAL / 1000 };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &(struct itimerval){ interval, interval }, NULL);
}

static void say_unwatched(bool slow, const struct error *err)
{
	message_print_error("cannot watch calls for --%s: %s; leave it out%s\n",
			    slow ? "slow" : "snapshot-at", err->text,
			    slow ? "" : ", and press Ctrl-C");
}

/* perf starts its program when it is ready to record. */
static void start_calls(struct perf_run *run, pid_t program)
{
	pid_t watched = run->of_program ? program : atoi(run->attach ?: "");
	struct error err = { 0 };

	run->started = true;
	if (run->incidents) {
		run->incidents->perf = run->perf;
		slow_watch_open(&run->incidents->watch, watched, &err);
	} else if (!run->of_program || call_watch_open(run->calls, program, &err) == 0) {
		call_watch_start(run->calls, run->perf);
	}
	if (err.kind == ERROR_NONE)
		return;
	say_unwatched(run->incidents, &err);
	kill(program, SIGKILL);
}

/* A recording of a slow call has the code up to its snapshot. */
static void read_slow(struct perf_run *run, bool all)
{
	if (!incidents_read(run->incidents, all))
		return;
	if (run->code)
		save_code(run);
	incidents_keep(run->incidents, run->code);
}

/*
 * A stop of perf or of the program that it started.  The program stops at its exec, at its end, for
 * its code to be saved, and for signals, which it gets; its children are not traced, because
 * tracing disables set-user-ID programs like sudo(8), nor are its other threads.
 */
static void pass_stop(struct perf_run *run, pid_t pid, int status)
{
	int event = status >> 16, signal = WSTOPSIG(status);
	bool stays = event == PTRACE_EVENT_STOP && signal != SIGTRAP;

	if (event == PTRACE_EVENT_STOP && pid != run->perf)
		ptrace(PTRACE_SETOPTIONS, pid, NULL,
		       (void *)(PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC));
	if (event == PTRACE_EVENT_EXEC && (run->calls || run->incidents) && !run->started)
		start_calls(run, pid);
	if (event == PTRACE_EVENT_EXIT && pid != run->perf && run->code)
		code_file_add(run->code, pid);
	/* perf hears of it before it hears of the program's end. */
	if (event == PTRACE_EVENT_EXIT && pid != run->perf && run->incidents)
		read_slow(run, true);
	ptrace(stays ? PTRACE_LISTEN : PTRACE_CONT, pid, NULL, (void *)(long)(event ? 0 : signal));
}

/* Wait for perf to end. Returns its status. */
static int watch(struct perf_run *run)
{
	int status = 0;
	pid_t perf = run->perf, pid;

	if (run->code || run->incidents)
		begin_intervals();
	do {
		if (run->code && progress_now() >= run->next_save)
			save_code(run);
		if (run->incidents)
			read_slow(run, false);
		pid = waitpid(run->traced ? -1 : perf, &status, run->traced ? __WALL : 0);
		if (pid > 0 && WIFSTOPPED(status))
			pass_stop(run, pid, status);
		else if (pid > 0 && run->incidents && pid == run->incidents->worker)
			incidents_reap(run->incidents);
	} while ((pid < 0 && errno == EINTR) || (pid > 0 && (pid != perf || WIFSTOPPED(status))));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void say_not_started(void)
{
	message_print_error("cannot start perf: %s\n", strerror(errno));
}

/* In the child: execute the command once the parent traces it and has closed the gate. */
static void start(char **words, const int gate[2], const struct incidents *incidents)
{
	char byte;

	close(gate[1]);
	while (read(gate[0], &byte, 1) < 0 && errno == EINTR)
		;
	if (incidents)
		dup2(incidents->control[0], PERF_CONTROL);
	/* SIGINT ends the recording; SIGPIPE and SIGXFSZ are for the program. */
	signal(SIGINT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	execvp(words[0], words);
	say_not_started();
	_exit(EXIT_FAILED);
}

/* perf may not be traced if its file has capabilities. */
static void trace(struct perf_run *run)
{
	struct error err = { 0 };

	run->traced = ((run->code && run->of_program) || run->calls || run->incidents) &&
		      ptrace(PTRACE_SEIZE, run->perf, NULL,
			     (void *)(PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK)) == 0;
	if ((run->calls || run->incidents) && !run->traced) {
		error_set_system(&err, errno, "perf may not be traced");
		say_unwatched(run->incidents, &err);
		kill(run->perf, SIGKILL);
		run->calls = NULL;
		run->incidents = NULL;
	}
}

/* perf ends its program with SIGTERM, and then itself with the last signal either got. */
static int status_of(int status, bool ended_by_signal)
{
	bool signalled = status == 128 + SIGINT || status == 128 + SIGTERM;

	return ended_by_signal && signalled ? EXIT_WHOLE : status;
}

static int end_calls(struct call_watch *calls, const struct options *options, int status)
{
	if (call_watch_end(calls))
		return status_of(status, true);
	message_print_warning("'%s' was not called; the snapshot was taken at the end\n",
			      options->snapshot_at);
	return status ? status : EXIT_WITH_GAPS;
}

static int end_slow(struct perf_run *run, int status)
{
	status = status_of(status, run->incidents->ended || !run->of_program);
	run->incidents->ended = true; /* no snapshot for the last calls */
	read_slow(run, true);
	return incidents_end(run->incidents, run->code) || status ? status : EXIT_WITH_GAPS;
}

/* Calls that take snapshots. */
struct watched {
	struct call_watch calls;
	struct incidents incidents;
};

/*
 * Returns the status of the command, or EXIT_FAILED with a message if it cannot be started. `code`
 * NULL: save no code.
 */
static int run(char **words, const struct options *options, struct watched *watched,
	       struct code_file_writer *code)
{
	void (*interrupt)(int) = signal(SIGINT, SIG_IGN);
	struct perf_run run = { .code = code,
				.attach = options->attach,
				.calls = options->snapshot_at ? &watched->calls : NULL,
				.incidents = options->snapshots ? &watched->incidents : NULL,
				.of_program = options->program };
	int gate[2] = { -1, -1 }, status = EXIT_FAILED;

	run.perf = pipe2(gate, O_CLOEXEC) < 0 ? -1 : fork();
	if (run.perf == 0)
		start(words, gate, run.incidents);
	if (run.perf < 0)
		say_not_started();
	else
		trace(&run);
	close(gate[0]);
	close(gate[1]);
	if (run.incidents) /* perf ends, if a service's manager ends all processes */
		signal(SIGTERM, SIG_IGN);
	if (run.perf > 0)
		status = watch(&run);
	if (run.perf > 0 && code)
		save_code(&run);
	signal(SIGINT, interrupt);
	if (run.started && run.incidents)
		return end_slow(&run, status);
	return run.started ? end_calls(&watched->calls, options, status)
			   : status_of(status, !options->program);
}

/* The clock of Intel PT. */
static uint64_t read_ticks(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return 0;
#endif
}

/* run() in a separate process, whose end leaves processes that outlive the program untraced. */
static int run_and_save(char **words, const struct options *options, struct watched *watched,
			const struct stat *before)
{
	void (*interrupt)(int) = signal(SIGINT, SIG_IGN);
	struct code_file_writer code;
	int status;
	pid_t pid;

	code_file_begin(&code, options->input);
	code.ticks = read_ticks;
	pid = fork();
	if (pid == 0) {
		status = run(words, options, watched, options->no_code ? NULL : &code);
		if (!options->no_code && is_new(options->input, before)) {
			code_file_retire(options->input, before->st_ino);
			code_file_end(&code);
		}
		_exit(status);
	}
	code_file_end(&code);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	signal(SIGINT, interrupt);
	if (pid < 0)
		return run(words, options, watched, NULL);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Report obstacles to watching calls before perf starts, if they can be foreseen. */
static bool prepare_calls(struct watched *watched, const struct options *options)
{
	struct call_watch *calls = &watched->calls;
	struct error err = { 0 };
	char file[PATH_MAX];

	perf_command_file(options, file);
	if (options->snapshots)
		incidents_prepare(&watched->incidents, options, &err);
	else if (options->snapshot_at &&
		 function_place_find(&calls->function, file, options->snapshot_at, &err) == 0 &&
		 !options->program)
		call_watch_open(calls, atoi(options->attach), &err);
	if (err.kind != ERROR_NONE)
		say_unwatched(options->snapshots, &err);
	return err.kind == ERROR_NONE;
}

/* Print what a recording needs. Returns EXIT_FAILED if something is missing. */
static int print_needs(const struct options *options)
{
	const bool as_json = options->json && strcmp(options->json, "-") == 0;
	json_t *needs = recorder_needs(NULL), *need;
	json_t *answer = ALLOC_CHECKED(json_pack("{s: o}", "needs", needs));
	int status = EXIT_WHOLE;
	size_t i;

	json_array_foreach(needs, i, need)
	{
		bool missing =
			strcmp(json_string_value(json_object_get(need, "state")), "missing") == 0;

		if (missing)
			status = EXIT_FAILED;
		if (!as_json)
			json_print(
				stdout, need, 0,
				"{need:-12} {state:-8} {found}\n{remedy?}                      {remedy}\n{?}");
	}
	if (as_json)
		json_dumpf(answer, stdout, REPORT_JSON_FLAGS);
	json_decref(answer);
	return fflush(stdout) == 0 ? status : EXIT_FAILED;
}

bool record_run(const struct options *options, int *status)
{
	struct watched watched = { 0 };
	struct stat before = { 0 };
	char **words;
	bool possible;

	if (options->check) {
		*status = print_needs(options);
		return false;
	}
	stat(options->input, &before);
	words = perf_command_make(options);
	if (options->dry_run) {
		perf_command_print(words, stdout);
		perf_command_free(words);
		*status = fflush(stdout) == 0 ? EXIT_WHOLE : EXIT_FAILED;
		return false;
	}
	*status = EXIT_FAILED;
	possible = recorder_check(options) && prepare_calls(&watched, options);
	if (possible && !options->quiet) {
		fputs("ptrace2ftf: ", stderr);
		perf_command_print(words, stderr);
	}
	if (possible)
		*status = options->no_code && !options->snapshots
				  ? run(words, options, &watched, NULL)
				  : run_and_save(words, options, &watched, &before);
	perf_command_free(words);
	if (!possible || options->snapshots)
		return false;
	if (is_new(options->input, &before)) {
		if (options->no_code)
			code_file_retire(options->input, before.st_ino);
		return true;
	}
	message_print_error("cannot convert: perf did not write %s (exit status %d)\n",
			    options->input, *status);
	*status = *status ? *status : EXIT_FAILED;
	return false;
}

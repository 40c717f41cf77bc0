/* SPDX-License-Identifier: MIT */
/* Run perf record. */
#include "src/record/record.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/message.h"
#include "src/record/code_file.h"
#include "src/record/obstacles.h"
#include "src/record/perf_command.h"

/* Identifies what a path leads to: perf replaces the file, or leaves it. */
struct file_version {
	ino_t inode;
	struct timespec changed;
};

static struct file_version version_of(const char *path)
{
	struct stat status = { 0 };

	if (stat(path, &status) < 0)
		return (struct file_version){ 0 };
	return (struct file_version){ status.st_ino, status.st_mtim };
}

static bool is_new(const char *path, struct file_version before)
{
	struct file_version now = version_of(path);

	return now.inode &&
	       (now.inode != before.inode || now.changed.tv_sec != before.changed.tv_sec ||
		now.changed.tv_nsec != before.changed.tv_nsec);
}

/*
 * A stop of perf or of the program that it started.  The program stops at its end, for its code to
 * be saved, and for signals, which it gets; its children are not traced, nor its other threads.
 */
static void pass_stop(pid_t perf, pid_t pid, int status, struct code_file_writer *code)
{
	int event = status >> 16, signal = WSTOPSIG(status);
	bool stays = event == PTRACE_EVENT_STOP && signal != SIGTRAP;

	if (event == PTRACE_EVENT_STOP && pid != perf)
		ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)PTRACE_O_TRACEEXIT);
	if (event == PTRACE_EVENT_EXIT && pid != perf)
		code_file_add(code, pid);
	ptrace(stays ? PTRACE_LISTEN : PTRACE_CONT, pid, NULL, (void *)(long)(event ? 0 : signal));
}

/* Wait for the end of perf.  Returns its status; with `code`, saves what its program makes. */
static int watch(pid_t perf, struct code_file_writer *code)
{
	int status = 0;
	pid_t pid;

	do {
		pid = waitpid(code ? -1 : perf, &status, code ? __WALL : 0);
		if (pid > 0 && WIFSTOPPED(status))
			pass_stop(perf, pid, status, code);
	} while ((pid < 0 && errno == EINTR) || (pid > 0 && (pid != perf || WIFSTOPPED(status))));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void say_not_started(void)
{
	message_begin_error(stderr);
	fprintf(stderr, "cannot start perf: %s\n", strerror(errno));
}

/* In the child: become the command when the parent traces it, and has closed the gate. */
static void start(char **words, const int gate[2])
{
	char byte;

	close(gate[1]);
	while (read(gate[0], &byte, 1) < 0 && errno == EINTR)
		;
	/* SIGINT ends the recording, SIGPIPE and SIGXFSZ are the program's. */
	signal(SIGINT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	execvp(words[0], words);
	say_not_started();
	_exit(EXIT_FAILED);
}

/*
 * Returns the status of the command; EXIT_FAILED with a message if it cannot be started.  NULL for
 * `code`: no code is saved.
 */
static int run(char **words, struct code_file_writer *code)
{
	void (*interrupt)(int) = signal(SIGINT, SIG_IGN);
	int gate[2] = { -1, -1 }, status = EXIT_FAILED;
	pid_t pid = pipe2(gate, O_CLOEXEC) < 0 ? -1 : fork();

	if (pid == 0)
		start(words, gate);
	if (pid < 0)
		say_not_started();
	/* perf with capabilities of its file may not be traced. */
	if (pid > 0 && code &&
	    ptrace(PTRACE_SEIZE, pid, NULL, (void *)(PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK)) < 0)
		code = NULL;
	close(gate[0]);
	close(gate[1]);
	if (pid > 0)
		status = watch(pid, code);
	signal(SIGINT, interrupt);
	return status;
}

/*
 * The same, by a process of its own, with whose end those that are left behind are traced no more:
 * save the code that the processes make.
 */
static int run_and_save(char **words, const struct options *options)
{
	void (*interrupt)(int) = signal(SIGINT, SIG_IGN);
	struct code_file_writer code;
	int status;
	pid_t pid;

	code_file_begin(&code, options->input);
	pid = fork();
	if (pid == 0) {
		status = run(words, options->program ? &code : NULL);
		for (const char *at = options->attach; at && *at;) {
			char *end;

			code_file_add(&code, (pid_t)strtol(at, &end, 10));
			at = end + strspn(end, ",");
		}
		code_file_end(&code);
		_exit(status);
	}
	code_file_end(&code);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	signal(SIGINT, interrupt);
	if (pid < 0)
		return run(words, NULL);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

enum record_result record_run(const struct options *options, int *status)
{
	struct recorder recorder;
	struct file_version before = version_of(options->input);
	char **words;
	bool possible;

	recorder_look(&recorder);
	words = perf_command_make(options, &recorder.caps, recorder_buffer(&recorder));
	if (options->dry_run) {
		perf_command_print(words, stdout);
		perf_command_free(words);
		*status = fflush(stdout) == 0 ? EXIT_WHOLE : EXIT_FAILED;
		return RECORD_ENDED;
	}
	possible = recorder_check(&recorder, options, stderr);
	if (possible && !options->quiet) {
		fputs("ptrace2ftf: ", stderr);
		perf_command_print(words, stderr);
	}
	if (!possible)
		*status = EXIT_FAILED;
	else
		*status = options->no_code ? run(words, NULL) : run_and_save(words, options);
	perf_command_free(words);
	if (!possible)
		return RECORD_ENDED;
	if (is_new(options->input, before))
		return RECORD_DONE;
	message_begin_error(stderr);
	fprintf(stderr, "cannot convert: perf has written no %s (its status: %d)\n", options->input,
		*status);
	*status = *status ? *status : EXIT_FAILED;
	return RECORD_ENDED;
}

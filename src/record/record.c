/* SPDX-License-Identifier: MIT */
/* Run perf record. */
#include "src/record/record.h"

#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/message.h"
#include "src/record/obstacles.h"
#include "src/record/perf_command.h"

extern char **environ;

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

/* Returns the status of the command; EXIT_FAILED with a message if it cannot be started. */
static int run(char **words)
{
	void (*interrupt)(int) = signal(SIGINT, SIG_IGN);
	posix_spawnattr_t attributes;
	sigset_t defaults;
	pid_t pid, ended;
	int status = 0, failure;

	/* SIGINT ends the recording, SIGPIPE and SIGXFSZ are the program's. */
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGINT);
	sigaddset(&defaults, SIGPIPE);
	sigaddset(&defaults, SIGXFSZ);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	failure = posix_spawnp(&pid, words[0], NULL, &attributes, words, environ);
	posix_spawnattr_destroy(&attributes);
	if (failure) {
		message_begin_error(stderr);
		fprintf(stderr, "cannot start perf: %s\n", strerror(failure));
		status = EXIT_FAILED;
	} else {
		do
			ended = waitpid(pid, &status, 0);
		while (ended < 0 && errno == EINTR);
		status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
	signal(SIGINT, interrupt);
	return status;
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
	*status = possible ? run(words) : EXIT_FAILED;
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

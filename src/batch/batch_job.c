/* SPDX-License-Identifier: MIT */
#include "src/batch/batch_job.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io/output.h"
#include "base/io/output_path.h"
#include "src/batch/batch_stamp.h"
#include "src/formats/output_format.h"

#define PREFIX "ptrace2ftf: "

/* ---- In the process ------------------------------------------------------ */

static enum exit_status fail(json_t *told, const struct error *err)
{
	fprintf(stderr, PREFIX "%s\n", err->text);
	json_object_set_new(told, "error", batch_line_text(err->text));
	return EXIT_FAILED;
}

static bool is_same_file(const char *left, const char *right)
{
	struct stat a, b;

	return stat(left, &a) == 0 && stat(right, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static enum exit_status skip(const struct options *options, json_t *told)
{
	if (!options->quiet)
		fprintf(stderr, PREFIX "%s is up to date\n", options->output);
	json_object_set_new(told, "skipped", json_true());
	return EXIT_WHOLE;
}

/* What was written carries the stamp and would be taken for the whole. */
static enum exit_status give_up(const struct options *options, json_t *told)
{
	struct error err = { 0 };

	unlink(options->output);
	error_set(&err, ERROR_SYSTEM,
		  "interrupted: %s is not kept, or it would be taken for the "
		  "whole",
		  options->output);
	return fail(told, &err);
}

static enum exit_status convert_stamped(const struct batch_run *run, struct options *options,
					json_t *told)
{
	struct error err = { 0 };
	struct stamp stamp;
	int stamped = stamp_make(&stamp, options, &err);
	enum exit_status status;

	if (stamped < 0)
		return fail(told, &err);
	if (stamped && options->skip_existing &&
	    stamp_is_on(&stamp, options->format, options->output))
		return skip(options, told);
	options->stamp = stamped ? stamp.text : NULL;
	status = run->convert(options, told);
	if (status == EXIT_INTERRUPTED)
		return give_up(options, told);
	if (status != EXIT_FAILED && stamped && !options->format->is_trace &&
	    stamp_put(&stamp, options->output) < 0 && options->skip_existing && !options->quiet)
		fprintf(stderr,
			PREFIX "%s cannot be marked as done here (%s): --skip-existing "
			       "will make it again\n",
			options->output, strerror(errno));
	return status;
}

static enum exit_status convert(const struct batch_run *run, const struct batch_job *job,
				json_t *told)
{
	struct options options = *run->options;
	struct error err = { 0 };

	options.inputs = job->inputs;
	options.input = job->inputs[0];
	options.input_count = job->input_count;
	options.output = job->output;
	options.threads = options.threads ? options.threads : run->threads;
	if (options.json_lines && !options.json)
		options.json = "";
	if (!job->output || strcmp(job->output, "-") == 0)
		return run->convert(&options, told);
	if (is_same_file(job->output, job->inputs[0])) {
		error_set(&err, ERROR_FORMAT, "%s is the input: not overwritten", job->output);
		return fail(told, &err);
	}
	if (options_is_batch(run->options) && output_path_make_parents(job->output, &err) < 0)
		return fail(told, &err);
	/* A split output has other names. */
	if (run->stamped && !options.select.split.unit)
		return convert_stamped(run, &options, told);
	return run->convert(&options, told);
}

/* The process's own life: what it prints and tells goes to the files in memory. */
static _Noreturn void live(const struct batch_process *process, const struct batch_run *run)
{
	json_t *told = json_object();
	enum exit_status status;
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	output_watch_signals();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (process->messages >= 0)
		dup2(process->messages, STDERR_FILENO);
	status = convert(run, process->job, told);
	json_dumpfd(told, process->told, 0);
	json_decref(told);
	exit(status);
}

/* ---- In the parent ------------------------------------------------------- */

static void close_files(struct batch_process *process)
{
	if (process->messages >= 0)
		close(process->messages);
	if (process->told >= 0)
		close(process->told);
	process->messages = process->told = -1;
}

int batch_process_start(struct batch_process *process, const struct batch_run *run,
			const struct batch_job *job, struct error *err)
{
	*process = (struct batch_process){ .job = job, .messages = -1 };
	process->told = memfd_create("told", MFD_CLOEXEC);
	if (run->keep_messages)
		process->messages = memfd_create("messages", MFD_CLOEXEC);
	clock_gettime(CLOCK_MONOTONIC, &process->begin);
	fflush(NULL); /* or the child would write it again */
	if (process->told >= 0 && (process->messages >= 0 || !run->keep_messages))
		process->pid = fork();
	else
		process->pid = -1;
	if (process->pid == 0)
		live(process, run);
	if (process->pid > 0)
		return 0;
	process->pid = 0;
	error_set_system(err, errno, "%s: cannot start a process", job->inputs[0]);
	close_files(process);
	return -1;
}

/* "ptrace2ftf: text" becomes "ptrace2ftf: INPUT: text", unless it begins so. */
static void print_message(const char *line, const char *input)
{
	size_t length = strlen(input);
	const char *text = line + strlen(PREFIX);

	if (strncmp(line, PREFIX, strlen(PREFIX)) != 0 ||
	    (strncmp(text, input, length) == 0 && strchr(":/ ", text[length]))) {
		fputs(line, stderr);
		return;
	}
	fputs(PREFIX, stderr);
	for (; *input; input++)
		putc((unsigned char)*input < 0x20 || *input == 0x7f ? '?' : *input, stderr);
	fprintf(stderr, ": %s", text);
}

/* `last` gets the last line; the caller releases it. */
static void print_messages(const struct batch_process *process, char **last)
{
	int copy = dup(process->messages);
	FILE *in = copy >= 0 ? fdopen(copy, "r") : NULL;
	char *line = NULL;
	size_t room = 0;

	if (!in)
		return;
	rewind(in);
	while (getline(&line, &room, in) > 0) {
		print_message(line, process->job->inputs[0]);
		free(*last);
		*last = line;
		line = NULL;
	}
	free(line);
	fclose(in);
}

/* Returns what the process told, owned by the caller; an empty object if it told nothing. */
static json_t *take_told(const struct batch_process *process)
{
	json_t *told = NULL;

	if (lseek(process->told, 0, SEEK_SET) == 0)
		told = json_loadfd(process->told, 0, NULL);
	return told ? told : json_object();
}

/* A process that failed without telling why, for want of memory: its last message tells. */
static void note_cause(const char *last, json_t *told)
{
	const char *text = last && strncmp(last, PREFIX, strlen(PREFIX)) == 0
				   ? last + strlen(PREFIX)
				   : "failed without a message";
	char *line = strndup(text, strcspn(text, "\n"));

	if (line && !json_object_get(told, "error"))
		json_object_set_new(told, "error", batch_line_text(line));
	free(line);
}

static void note_signal(const struct batch_process *process, struct batch_end *end, json_t *told)
{
	struct error err = { 0 };

	error_set(&err, ERROR_SYSTEM, "%s: its process was ended by signal %d (%s)%s",
		  process->job->inputs[0], end->signal, strsignal(end->signal),
		  end->signal == SIGKILL ? ": perhaps for want of memory" : "");
	end->status = fail(told, &err);
	if (process->job->output)
		output_remove_left(process->job->output, process->pid);
}

void batch_process_finish(struct batch_process *process, int status, struct batch_end *end)
{
	struct timespec now;
	json_t *told = take_told(process);
	char *last = NULL;

	clock_gettime(CLOCK_MONOTONIC, &now);
	end->seconds = (double)(now.tv_sec - process->begin.tv_sec) +
		       (double)(now.tv_nsec - process->begin.tv_nsec) / 1e9;
	end->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	end->status = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
	end->told = told;
	if (process->messages >= 0)
		print_messages(process, &last);
	if (end->signal)
		note_signal(process, end, told);
	if (end->status != EXIT_WHOLE && end->status != EXIT_WITH_GAPS) {
		end->status = EXIT_FAILED;
		note_cause(last, told);
	}
	free(last);
	close_files(process);
	process->pid = 0;
}

/* SPDX-License-Identifier: MIT */
/* One process of a batch: runs a conversion in the child, and handles its end in the parent. */
#include "src/batch/batch.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io/file_makers.h"
#include "base/io/interrupt.h"
#include "base/io/output_path.h"
#include "src/formats/output_format.h"
#include "src/report/progress.h"

#define PREFIX "ptrace2ftf: "

/* ---- The child ----------------------------------------------------------- */

static enum exit_status fail_job(json_t *report, const struct error *err)
{
	message_error(err);
	json_object_set_new(report, "error", batch_line_text(err->text));
	return EXIT_FAILED;
}

static enum exit_status convert_stamped(const struct batch_run *run, struct options *options,
					json_t *report)
{
	struct error err = { 0 };
	struct stamp stamp;
	int stamped = stamp_make(&stamp, options, &err);
	enum exit_status status;

	if (stamped < 0)
		return fail_job(report, &err);
	if (stamped && options->skip_existing &&
	    stamp_is_on(&stamp, options->format, options->output)) {
		if (!options->quiet)
			fprintf(stderr, PREFIX "%s is up to date\n", options->output);
		json_object_set_new(report, "skipped", json_true());
		return EXIT_WHOLE;
	}
	options->stamp = stamped ? stamp.text : NULL;
	status = run->convert(options, report);
	if (status == EXIT_INTERRUPTED) {
		/* Its stamp says that it is complete. */
		file_make(FILE_REMOVE, options->output, NULL);
		error_set(&err, ERROR_SYSTEM, "interrupted: deleted the incomplete %s",
			  options->output);
		return fail_job(report, &err);
	}
	if (status != EXIT_FAILED && stamped && !options->format->is_trace &&
	    stamp_set_attribute(&stamp, options->output) < 0 && options->skip_existing &&
	    !options->quiet)
		fprintf(stderr,
			PREFIX "cannot set the attribute of %s: %s; --skip-existing will convert "
			       "again\n",
			options->output, strerror(errno));
	return status;
}

/* The parent writes the answer, and does not know which files of code this process read. */
static bool was_read(const char *path)
{
	return path && strcmp(path, "-") != 0 && file_use_check(path, NULL) < 0;
}

static const struct options *options_of(const struct batch_run *run, const struct batch_job *job)
{
	return job->options ? job->options : run->options;
}

static enum exit_status convert_job(const struct batch_run *run, const struct batch_job *job,
				    json_t *report)
{
	struct options options = *options_of(run, job);
	struct error err = { 0 };

	if (job->closed)
		close(job->closed);
	if (job->printed && temp_file_become_output(job->printed, &err) < 0)
		return fail_job(report, &err);
	if (options.input) { /* else overlays only */
		options.inputs = job->inputs;
		options.input = job->inputs[0];
		options.input_count = job->input_count;
	}
	options.output = job->output;
	options.of_several = run->keep_messages;
	options.threads = options.threads ? options.threads : run->threads;
	if (options.json_lines && !options.json)
		options.json = "";
	if (!job->output || strcmp(job->output, "-") == 0)
		return run->convert(&options, report);
	if (options_is_batch(run->options) && output_path_make_parents(job->output, &err) < 0)
		return fail_job(report, &err);
	/* The parts of a split output have other names. */
	if (run->stamped && !options.select.split.unit)
		return convert_stamped(run, &options, report);
	return run->convert(&options, report);
}

/*
 * SIGALRM ends the process, after its handler has removed the temporary file, whatever the
 * process is doing.
 */
static void limit_time(uint64_t ns)
{
	struct itimerval timer = { .it_value = { .tv_sec = (time_t)(ns / NS_PER_S),
						 .tv_usec = (suseconds_t)(ns % NS_PER_S / 1000) } };

	if (ns && ns < 1000)
		timer.it_value.tv_usec = 1;
	setitimer(ITIMER_REAL, &timer, NULL);
}

/* Write the report through a stream: json_dumpfd() would write it in pieces of a few bytes. */
static bool write_report(const struct batch_process *process, const json_t *report)
{
	FILE *out = fdopen(process->report, "w");
	bool written = out && json_dumpf(report, out, 0) == 0;

	return out && fclose(out) == 0 && written;
}

/* ---- The parent ---------------------------------------------------------- */

static void close_files(struct batch_process *process)
{
	if (process->messages >= 0)
		close(process->messages);
	if (process->report >= 0)
		close(process->report);
	process->messages = process->report = -1;
}

int batch_process_start(struct batch_process *process, const struct batch_run *run,
			const struct batch_job *job, struct error *err)
{
	sigset_t all, usual;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &usual); /* until the handler knows the process */
	*process = (struct batch_process){ .job = job, .messages = -1, .report = -1 };
	process->report = memfd_create("report", MFD_CLOEXEC);
	if (run->keep_messages)
		process->messages = memfd_create("messages", MFD_CLOEXEC);
	process->start = progress_now();
	fflush(NULL); /* otherwise the child would write the buffers again */
	if (process->report >= 0 && (process->messages >= 0 || !run->keep_messages))
		process->pid = fork();
	else
		process->pid = -1;
	if (process->pid == 0) {
		const struct options *answer = process->job->answer;
		json_t *report = json_object();
		enum exit_status status;
		sigset_t none;

		/* The child's main(): messages and report go to the files in memory. */
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		output_watch_signals();
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		limit_time(options_of(run, process->job)->timeout);
		if (process->messages >= 0) {
			/* The parent reads them, and prints them with its own colours. */
			message_color(MESSAGE_COLOR_NEVER);
			dup2(process->messages, STDERR_FILENO);
		}
		status = convert_job(run, process->job, report);
		if (answer && was_read(answer->output))
			json_object_set_new(report, "read_output", json_true());
		if (answer && was_read(answer->json))
			json_object_set_new(report, "read_json", json_true());
		if (!write_report(process, report))
			status = EXIT_FAILED;
		json_decref(report);
		exit(status);
	}
	if (process->pid < 0) {
		process->pid = 0;
		error_set_system(err, errno, "%s: cannot start a process", job->inputs[0]);
		close_files(process);
	}
	sigprocmask(SIG_SETMASK, &usual, NULL);
	return process->pid ? 0 : -1;
}

/* Print "ptrace2ftf: text" as "ptrace2ftf: INPUT: text", unless the text begins with INPUT. */
static void print_message(const char *line, const char *input)
{
	size_t length = strlen(input);
	const char *text = line + strlen(PREFIX);

	if (!starts_with(line, PREFIX) ||
	    (starts_with(text, input) && strchr(":/ ", text[length]))) {
		fputs(line, stderr);
		return;
	}
	message_print_error("%s: ", input);
	fputs(text, stderr);
}

/* Print and close the messages.  `last` gets the last line, owned by the caller. */
static void print_messages(struct batch_process *process, char **last)
{
	FILE *in = ALLOC_CHECKED(fdopen(process->messages, "r"));
	char *line = NULL;
	size_t room = 0;

	process->messages = -1; /* the stream closes it */
	rewind(in);
	while (getline(&line, &room, in) > 0) {
		print_message(line, process->job->inputs[0]);
		free(*last);
		*last = line;
		line = NULL;
	}
	if (!feof(in))
		alloc_fail(room);
	free(line);
	fclose(in);
}

/*
 * Read the report of the process, owned by the caller; without a report the process has failed,
 * whatever its status.
 */
static void read_report(struct batch_process *process, struct batch_end *end)
{
	bool done = end->status == EXIT_WHOLE || end->status == EXIT_WITH_GAPS;
	struct error err = { 0 };
	FILE *in = ALLOC_CHECKED(fdopen(process->report, "r"));

	process->report = -1; /* the stream closes it */
	rewind(in);
	end->report = json_loadf(in, 0, NULL); /* json_loadfd() would read byte by byte */
	fclose(in);
	if (end->report)
		return;
	end->report = json_object();
	if (!done)
		return;
	error_set(&err, ERROR_SYSTEM, "%s: its process wrote no report", process->job->inputs[0]);
	end->status = fail_job(end->report, &err);
}

void batch_process_finish(struct batch_process *process, int status, struct batch_end *end)
{
	char *last = NULL;

	end->seconds = (double)(progress_now() - process->start) / NS_PER_S;
	end->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	end->status = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
	read_report(process, end);
	if (json_object_get(end->report, "read_output"))
		file_use_read(process->job->answer->output);
	if (json_object_get(end->report, "read_json"))
		file_use_read(process->job->answer->json);
	if (process->messages >= 0)
		print_messages(process, &last);
	if (end->signal) {
		struct error err = { 0 };

		if (end->signal == SIGALRM)
			error_set(&err, ERROR_LIMIT, "%s: took longer than --timeout allows",
				  process->job->inputs[0]);
		else
			error_set(&err, ERROR_SYSTEM,
				  "%s: its process was ended by signal %d (%s)%s",
				  process->job->inputs[0], end->signal, strsignal(end->signal),
				  end->signal == SIGKILL ? ": perhaps for lack of memory" : "");
		end->status = fail_job(end->report, &err);
		if (end->signal == SIGALRM)
			json_object_set_new(end->report, "timed_out", json_true());
		if (process->job->output)
			output_remove_left(process->job->output, process->pid);
	}
	if (end->status != EXIT_WHOLE && end->status != EXIT_WITH_GAPS) {
		const char *text;
		char *line;

		end->status = EXIT_FAILED;
		/* Without an error in the report (for lack of memory), the last message is the
		 * error. */
		text = last && starts_with(last, PREFIX) ? last + strlen(PREFIX)
							 : "failed without a message";
		line = ALLOC_CHECKED(strndup(text, strcspn(text, "\n")));
		if (!json_object_get(end->report, "error"))
			json_object_set_new(end->report, "error", batch_line_text(line));
		free(line);
	}
	free(last);
	close_files(process);
	process->pid = 0;
}

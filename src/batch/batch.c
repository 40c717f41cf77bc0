/* SPDX-License-Identifier: MIT */
/* Run a batch, and report the results of its jobs. */
#include "src/batch/batch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io/output_path.h"
#include "base/utf8.h"
#include "src/sandbox/sandbox.h"

#define LINE_VERSION 1

json_t *batch_line_text(const char *text)
{
	json_t *string = json_string(text);
	char *safe, *at;

	if (string)
		return string;
	safe = at = alloc_zeroed(1, strlen(text) * 4 + 1);
	for (size_t size; *text; text += size ? size : 1) {
		size = *text == '\\' ? 0 : utf8_character(text, strlen(text));
		if (size)
			at = mempcpy(at, text, size);
		else
			at += sprintf(at, "\\x%02x", (unsigned char)*text);
	}
	string = json_string(safe);
	free(safe);
	return string;
}

static double seconds_of(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

json_t *batch_line_make(const struct batch_job *job, const struct batch_end *end)
{
	const struct rusage *usage = &end->usage;
	json_t *inputs = job->input_count > 1 ? json_array() : NULL, *line;

	for (int i = 0; inputs && i < job->input_count; i++)
		json_array_append_new(inputs, batch_line_text(job->inputs[i]));
	line = json_pack("{si so so* so si so* sf sf sI}", "version", LINE_VERSION, "input",
			 batch_line_text(job->inputs[0]), "inputs", inputs, "output",
			 job->output ? batch_line_text(job->output) : json_null(), "status",
			 end->status, "signal", end->signal ? json_integer(end->signal) : NULL,
			 "seconds", end->seconds, "cpu_seconds",
			 seconds_of(usage->ru_utime) + seconds_of(usage->ru_stime), "peak_bytes",
			 (json_int_t)usage->ru_maxrss * 1024 /* KiB: getrusage(2) */);
	if (end->report)
		json_object_update(line, end->report);
	return line;
}

struct batch {
	const struct options *options; /* borrowed */
	struct batch_plan plan;
	size_t whole, gaps, failed, skipped; /* finished jobs */
	bool lines_failed;                   /* --json-lines could not be written */
};

/* ---- Finished jobs ------------------------------------------------------- */

/* Count a job and write its line. */
static void add_finished(void *context, const struct batch_job *job, const struct batch_end *end)
{
	struct batch *batch = context;
	const char *path = batch->options->json_lines;
	struct error err = { 0 };
	json_t *line;
	char *text;
	int fd;
	size_t size;
	ssize_t done = -1;

	batch->whole += end->status == EXIT_WHOLE;
	batch->gaps += end->status == EXIT_WITH_GAPS;
	batch->failed += end->status != EXIT_WHOLE && end->status != EXIT_WITH_GAPS;
	batch->skipped += json_is_true(json_object_get(end->report, "skipped"));
	if (!path)
		return;
	line = batch_line_make(job, end);
	/*
	 * Append the object to the file at `path` ("-": standard output) as one line, by one
	 * write(), so that lines of several programs do not mix.
	 */
	text = ALLOC_CHECKED(json_dumps(line, JSON_COMPACT | JSON_PRESERVE_ORDER |
						      JSON_REAL_PRECISION(9) | JSON_ENSURE_ASCII));
	fd = strcmp(path, "-") == 0 ? dup(STDOUT_FILENO)
				    : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	size = strlen(text);
	text[size] = '\n'; /* instead of the NUL */
	if (fd >= 0)
		done = write(fd, text, size + 1);
	free(text);
	if (done != (ssize_t)size + 1) {
		error_set_system(&err, done < 0 ? errno : ENOSPC, "%s: cannot write",
				 strcmp(path, "-") == 0 ? "standard output" : path);
		if (!batch->lines_failed)
			message_error(&err);
		batch->lines_failed = true;
	}
	if (fd >= 0)
		close(fd);
	json_decref(line);
}

bool batch_wanted(const struct options *options)
{
	return options->input &&
	       (options->json_lines || options->skip_existing || options_is_batch(options));
}

/*
 * Refuse to append --json-lines to a file with other content, which was named by mistake.  Returns
 * 0; -1 with err filled.
 */
static int check_lines(const char *path, struct error *err)
{
	struct stat status;
	char first = '{';
	int fd;

	if (output_path_check(path, err) < 0 ||
	    file_use_write(path, "--json-lines", FILE_APPENDED, err) < 0)
		return -1;
	if (strcmp(path, "-") == 0 || stat(path, &status) < 0 || !S_ISREG(status.st_mode))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, &first, 1) < 0)
		first = '{';
	if (fd >= 0)
		close(fd);
	return first == '{'
		       ? 0
		       : error_set(err, ERROR_SYSTEM,
				   "cannot write to %s: it has other content than lines of JSON",
				   path);
}

/* No output may overwrite another one, or an input of any job. */
static int check_outputs(const struct batch_plan *plan, const struct options *options,
			 struct error *err)
{
	bool several = options_is_batch(options);

	for (size_t i = 0; i < plan->count; i++) {
		const struct batch_job *job = &plan->jobs[i];

		if (job->output &&
		    file_use_write(job->output, several ? job->inputs[0] : "--output",
				   FILE_REPLACED, err) < 0)
			return -1;
	}
	return 0;
}

int batch_run(const struct options *options, batch_convert_fn *convert)
{
	struct batch batch = { .options = options };
	struct batch_loop loop = { .run = { .options = options, .convert = convert },
				   .finished = add_finished,
				   .context = &batch };
	struct error err = { 0 };
	int stopped;

	/* Registered once, not for each input. */
	file_roles_read(options);
	if (input_paths_check(options, &err) < 0 ||
	    (options->json_lines && check_lines(options->json_lines, &err) < 0)) {
		message_error(&err);
		return EXIT_FAILED;
	}
	if (batch_plan_make(&batch.plan, options, &err) < 0 ||
	    check_outputs(&batch.plan, options, &err) < 0) {
		message_error(&err);
		batch_plan_release(&batch.plan);
		return EXIT_USAGE;
	}
	loop.run.keep_messages = batch.plan.count > 1;
	loop.run.stamped = options_is_batch(options) || options->skip_existing;
	loop.plan = &batch.plan;
	stopped = batch_loop_run(&loop);
	if (!options->quiet && batch.plan.count > 1) {
		fprintf(stderr, "ptrace2ftf: %zu files: %zu whole", batch.plan.count, batch.whole);
		if (batch.skipped)
			fprintf(stderr, " (%zu of them already up to date)", batch.skipped);
		if (batch.gaps)
			fprintf(stderr, ", %zu with gaps or warnings", batch.gaps);
		if (batch.failed)
			fprintf(stderr, ", %zu failed", batch.failed);
		if (loop.begun < batch.plan.count)
			fprintf(stderr, ", %zu not begun", batch.plan.count - loop.begun);
		putc('\n', stderr);
	}
	batch_plan_release(&batch.plan);
	return stopped ? 128 + stopped : batch.lines_failed ? EXIT_FAILED : loop.worst;
}

/* ---- Answers ------------------------------------------------------------- */

/* Write JSON or, if that is NULL, the text that `print` prints. */
static int write_answer(const char *path, uint64_t most, const json_t *json, batch_print_fn *print,
			void *context, struct error *err)
{
	struct output output;
	FILE *out = output_open_text(&output, path, most, err);

	if (!out)
		return -1;
	if (json) {
		json_dumpf(json, out, JSON_INDENT(1) | JSON_ENSURE_ASCII);
		putc('\n', out);
	} else {
		print(context, out);
	}
	fclose(out); /* a write error shows in the output */
	return output_close(&output, err);
}

int batch_answer_write(const struct options *options, const json_t *summary, const json_t *answer,
		       batch_print_fn *print, void *context, struct error *err)
{
	const char *path = options->output ? options->output : "-";

	/* Without a keeper, a file that is not whole would stay if this process is killed. */
	if (options->sandbox != SANDBOX_OFF)
		keeper_start(options);
	if (options->json &&
	    write_answer(options->json, options->max_output, summary, NULL, NULL, err) < 0)
		return -1;
	return write_answer(path, options->max_output, options->json_answer ? answer : NULL, print,
			    context, err);
}

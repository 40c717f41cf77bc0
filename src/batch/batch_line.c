/* SPDX-License-Identifier: MIT */
/* Lines of --json-lines. */
#include "src/batch/batch_line.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_VERSION 1

json_t *batch_line_text(const char *text)
{
	json_t *string = json_string(text);
	char *safe, *at;

	if (string)
		return string;
	safe = at = alloc_zeroed(1, strlen(text) * 4 + 1);
	for (; *text; text++) {
		if ((*text & 0x80) || *text == '\\')
			at += sprintf(at, "\\x%02x", (unsigned char)*text);
		else
			*at++ = *text;
	}
	string = json_string(safe);
	free(safe);
	return string;
}

static double seconds_of(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void add_inputs(json_t *line, const struct batch_job *job)
{
	json_t *inputs = json_array();

	for (int i = 0; i < job->input_count; i++)
		json_array_append_new(inputs, batch_line_text(job->inputs[i]));
	json_object_set_new(line, "inputs", inputs);
}

json_t *batch_line_make(const struct batch_job *job, const struct batch_end *end)
{
	json_t *line = json_object();

	json_object_set_new(line, "version", json_integer(LINE_VERSION));
	json_object_set_new(line, "input", batch_line_text(job->inputs[0]));
	if (job->input_count > 1)
		add_inputs(line, job);
	json_object_set_new(line, "output",
			    job->output ? batch_line_text(job->output) : json_null());
	json_object_set_new(line, "status", json_integer(end->status));
	if (end->signal)
		json_object_set_new(line, "signal", json_integer(end->signal));
	json_object_set_new(line, "seconds", json_real(end->seconds));
	json_object_set_new(
		line, "cpu_seconds",
		json_real(seconds_of(end->usage.ru_utime) + seconds_of(end->usage.ru_stime)));
	/* ru_maxrss is in KiB: getrusage(2). */
	json_object_set_new(line, "peak_bytes",
			    json_integer((json_int_t)end->usage.ru_maxrss * 1024));
	if (end->report)
		json_object_update(line, end->report);
	return line;
}

/* Returns whether the file has something else than lines of JSON. */
static bool has_other_content(const char *path)
{
	struct stat status;
	int fd = stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size
			 ? open(path, O_RDONLY | O_CLOEXEC)
			 : -1;
	char first = '{';
	bool other;

	other = fd >= 0 && read(fd, &first, 1) == 1 && first != '{';
	if (fd >= 0)
		close(fd);
	return other;
}

int batch_line_check(const char *path, struct error *err)
{
	if (strcmp(path, "-") != 0 && has_other_content(path))
		return error_set(err, ERROR_SYSTEM,
				 "cannot write to %s: it has other content than lines of JSON",
				 path);
	return 0;
}

int batch_line_write(const json_t *line, const char *path, struct error *err)
{
	char *text = json_dumps(line, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(6));
	int fd = strcmp(path, "-") == 0
			 ? dup(STDOUT_FILENO)
			 : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	size_t size = text ? strlen(text) : 0;
	ssize_t done = -1;

	if (!text)
		alloc_fail(size);
	text[size] = '\n'; /* in place of the NUL */
	if (fd >= 0)
		done = write(fd, text, size + 1);
	free(text);
	if (done != (ssize_t)size + 1)
		error_set_system(err, done < 0 ? errno : ENOSPC, "%s: cannot write",
				 strcmp(path, "-") == 0 ? "standard output" : path);
	if (fd >= 0)
		close(fd);
	return done == (ssize_t)size + 1 ? 0 : -1;
}

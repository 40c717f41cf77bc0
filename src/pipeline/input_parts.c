/* SPDX-License-Identifier: MIT */
/* Asks the files themselves whether they are parts of one recording. */
#include "src/pipeline/input_parts.h"

#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"
#include "decoder/perf_data/perf_file.h"
#include "src/sandbox/sandbox.h"

static bool prove(const struct options *options)
{
	struct perf_file file;
	struct sandbox sandbox;
	struct error err = { 0 };
	struct diag diag;

	diag_init(&diag);
	if (sandbox_enter(&sandbox, options, &err) < 0 ||
	    perf_file_open(&file, options->input, &diag, &err) < 0)
		return false;
	for (int i = 1; i < options->input_count; i++)
		if (perf_file_append(&file, options->inputs[i], &diag, &err) < 0)
			return false;
	return !file.unproven;
}

bool input_parts_are_one(const struct options *options)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(prove(options) ? EXIT_WHOLE : EXIT_FAILED);
	while (child > 0 && waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_WHOLE;
}

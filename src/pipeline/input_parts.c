/* SPDX-License-Identifier: MIT */
/* Check whether the input files prove to be parts of one recording. */
#include "src/pipeline/input_parts.h"

#include <sys/wait.h>
#include <unistd.h>

#include "base/printable.h"
#include "decoder/perf_data/perf_file.h"
#include "src/sandbox/sandbox.h"

/* Print the reason, which may be a wrong order of the parts. Returns false. */
static bool say_apart(const struct options *options, char *reason)
{
	char *advice = strchr(reason, ';');

	if (options->quiet || options->command == COMMAND_LIST)
		return false;
	if (advice)
		*advice = 0;
	fputs("ptrace2ftf: each recording gets its own output: ", stderr);
	printable_print(reason, stderr);
	fputs("; --join treats them as parts of one\n", stderr);
	return false;
}

static bool prove(const struct options *options)
{
	char unproven[] = "a host name, command line, clock or time is missing";
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
			return say_apart(options, err.text);
	return !file.unproven || say_apart(options, unproven);
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

/* SPDX-License-Identifier: MIT */
#include "tests/support/perf_script_calls.h"

#include <errno.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/tables/name.h"
#include "src/callstack/callstack.h"
#include "src/formats/output_format.h"
#include "src/perf_script/perf_script.h"

static void print_line(void *context, const char *line, size_t length)
{
	format_calls.input_line(context, line, length);
}

static void print_end(void *context, bool newer)
{
	format_calls.input_end(context, newer);
}

int perf_script_print_calls(FILE *in, FILE *out,
			    struct callstack_machine *(*open)(const struct callstack_options *),
			    enum trace_mode mode, struct diag *diag, struct error *err)
{
	struct name_table names;
	struct arena arena;
	const struct format_request request = { .text = out };
	struct format_output *calls = output_format_open(&format_calls, &request);
	struct callstack_options stacks = {
		.mode = mode, .sink = &calls->sink, .names = &names, .diag = diag
	};
	struct perf_script_options script = {
		.names = &names,
		.arena = &arena,
		.diag = diag,
		.demangle = DEMANGLE_PERF,
		.name_addresses = open == callstack_magic_trace_open,
		.context = calls,
		.echo = print_line,
		.input_end = print_end,
	};
	struct callstack_machine *machine;
	int status;

	name_table_init(&names);
	arena = (struct arena){ 0 };
	machine = open(&stacks);
	calls->machine = script.machine = machine;
	status = perf_script_convert(in, &script, NULL, err);
	callstack_machine_close(machine);
	free(calls);
	name_table_release(&names);
	arena_release(&arena);
	if (fflush(out) || ferror(out))
		status = error_set_system(err, errno, "cannot write the text");
	return status;
}

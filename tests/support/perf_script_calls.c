/* SPDX-License-Identifier: MIT */
#include "tests/support/perf_script_calls.h"

#include <errno.h>

#include "base/arena.h"
#include "base/name.h"
#include "src/formats/format_calls.h"
#include "src/perf_script/perf_script.h"

int perf_script_print_calls(FILE *in, FILE *out,
			    struct callstack_machine *(*open)(const struct callstack_options *),
			    enum trace_mode mode, struct diag *diag, struct error *err)
{
	struct name_table names;
	struct arena arena;
	struct format_calls calls;
	struct callstack_options stacks = {
		.mode = mode, .sink = &calls.sink, .names = &names, .diag = diag
	};
	struct perf_script_options script = {
		.names = &names,
		.arena = &arena,
		.diag = diag,
		.context = &calls,
		.echo = format_calls_echo,
		.input_end = format_calls_input_end,
	};
	struct callstack_machine *machine;
	int status;

	name_table_init(&names);
	arena_init(&arena);
	format_calls_init(&calls, out);
	machine = open(&stacks);
	calls.machine = script.machine = machine;
	status = perf_script_convert(in, &script, NULL, err);
	callstack_machine_close(machine);
	name_table_release(&names);
	arena_release(&arena);
	if (fflush(out) || ferror(out))
		status = error_set_system(err, errno, "cannot write the text");
	return status;
}
